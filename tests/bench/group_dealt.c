/* SPDX-License-Identifier: MIT
 *
 * For group_bench: batches of independent pieces that are dealt to ranks: children of one basis (strong branching on
 * the first columns), many small linear programs, and probing.
 */
#include <stdlib.h>
#include <string.h>

#include "gpuopt/batch.h"
#include "tests/bench/group_bench.h"

/* The kinds of --dealt, and how a name of each continues. */
enum { CHILDREN, PROGRAMS, PROBING, KINDS };
static const char *const kinds[] = {"children:", "programs:", "probing:"};
enum { ROWS = 50, COLS = 100, MOST_CHILDREN = 4096 };

static uint64_t seen(uint64_t hash, const void *bytes, size_t size) {
    const unsigned char *b = (const unsigned char *)bytes;
    size_t k;
    for (k = 0; k < size; k++) hash = (hash ^ b[k]) * 0x100000001b3u;
    return hash;
}

/* Times a call on all ranks, and notes its status on failure. */
static void time_calls(member *m, gpuopt_status (*call)(void *of), void *of) {
    double taken[MOST_REPEATS];
    int k, repeat = (int)m->job->o->repeat;
    for (k = -1; k < repeat && !m->failed; k++) {
        double start = begin(m);
        gpuopt_status status = call(of);
        if (status) m->failed = 1, failed(&m->machine, "dealt", "run", status);
        taken[k < 0 ? 0 : k] = ended(m, start);
    }
    if (m->rank == 0 && !m->failed) m->job->run = median(taken, repeat);
}

/* ---- Children ---- */

typedef struct children_run {
    gpuopt_simplex_children *batch;
    int32_t count, *col;
    gpuopt_simplex_child_report report;
} children_run;

static gpuopt_status branch(void *of) {
    children_run *c = (children_run *)of;
    return gpuopt_simplex_children_strong_branch(c->batch, GPUOPT_HOST, c->count, NULL, c->col, NULL, 200, &c->report);
}

static void run_children(member *m) {
    gpuopt_simplex_desc model = mip_simplex_desc(m->job->model);
    gpuopt_simplex_children_desc desc = GPUOPT_INIT(gpuopt_simplex_children_desc);
    gpuopt_simplex *root = NULL;
    children_run c;
    int32_t k;
    gpuopt_status status;
    memset(&c, 0, sizeof c);
    c.report.struct_size = sizeof c.report;
    c.count = m->job->model->matrix.cols < MOST_CHILDREN / 2 ? m->job->model->matrix.cols : MOST_CHILDREN / 2;
    desc.batch_size = 2 * c.count;
    desc.group = m->group;
    c.col = (int32_t *)work_memory((size_t)c.count, sizeof *c.col);
    for (k = 0; k < c.count; k++) c.col[k] = k;
    c.report.outcome = (int32_t *)work_memory(2 * (size_t)c.count, sizeof(int32_t));
    c.report.bound = (double *)work_memory(2 * (size_t)c.count, sizeof(double));
    model.method = GPUOPT_METHOD_REVISED;
    model.algorithm = GPUOPT_ALGORITHM_PRIMAL;
    status = gpuopt_simplex_create(m->context, &model, NULL, &root);
    if (!status) status = gpuopt_simplex_iterate(root, INT64_MAX, NULL);
    if (!status) status = gpuopt_simplex_children_create(root, &desc, NULL, &c.batch);
    if (status) m->failed = 1, failed(&m->machine, "children", "create", status);
    time_calls(m, branch, &c);
    if (m->rank == 0 && !m->failed)
        m->job->seen = seen(seen(7, c.report.outcome, sizeof(int32_t) * 2 * (size_t)c.count), c.report.bound,
                            sizeof(double) * 2 * (size_t)c.count);
    gpuopt_simplex_children_destroy(c.batch);
    gpuopt_simplex_destroy(root);
    free(c.col), free(c.report.outcome), free(c.report.bound);
}

/* ---- Programs ---- */

typedef struct programs_run {
    gpuopt_simplex_batch *batch;
    gpuopt_simplex_programs programs;
    gpuopt_simplex_batch_report report;
} programs_run;

/* From the caller's data to the solutions. */
static gpuopt_status solve(void *of) {
    programs_run *p = (programs_run *)of;
    gpuopt_status status = gpuopt_simplex_batch_load(p->batch, GPUOPT_HOST, &p->programs);
    if (!status) status = gpuopt_simplex_batch_iterate(p->batch, INT64_MAX, NULL);
    return status ? status : gpuopt_simplex_batch_get(p->batch, GPUOPT_HOST, 0, p->programs.count, &p->report);
}

/* max c x, A x <= b, 0 <= x <= 1, with positive numbers. */
static void run_programs(member *m) {
    const size_t count = (size_t)m->job->decisions, values = count * ROWS * COLS;
    gpuopt_simplex_batch_desc desc = GPUOPT_INIT(gpuopt_simplex_batch_desc);
    double *value = (double *)work_memory(values, sizeof *value),
           *cost = (double *)work_memory(count * COLS, sizeof *cost),
           *rhs = (double *)work_memory(count * ROWS, sizeof *rhs), *ub = (double *)work_memory(COLS, sizeof *ub),
           *x = (double *)work_memory(count * COLS, sizeof *x);
    uint64_t number = 1;
    programs_run p;
    size_t k;
    gpuopt_status status;
    memset(&p, 0, sizeof p);
#define DRAWN ((double)((number = number * 6364136223846793005u + 1442695040888963407u) >> 40) / 16777216)
    for (k = 0; k < values; k++) value[k] = 1 + DRAWN;
    for (k = 0; k < count * COLS; k++) cost[k] = 1 + DRAWN;
    for (k = 0; k < count * ROWS; k++) rhs[k] = 20 + 10 * DRAWN;
    for (k = 0; k < COLS; k++) ub[k] = 1;
    desc.batch_size = (int32_t)count;
    desc.rows = ROWS, desc.cols = COLS;
    desc.shared = GPUOPT_SHARED_UB;
    desc.maximize = 1;
    desc.group = m->group;
    p.programs.struct_size = sizeof p.programs;
    p.programs.count = (int32_t)count;
    p.programs.value = value, p.programs.cost = cost, p.programs.rhs = rhs, p.programs.ub = ub;
    p.report.struct_size = sizeof p.report;
    p.report.x = x;
    status = gpuopt_simplex_batch_create(m->context, &desc, NULL, &p.batch);
    if (status) m->failed = 1, failed(&m->machine, "programs", "create", status);
    time_calls(m, solve, &p);
    if (m->rank == 0 && !m->failed) m->job->seen = seen(7, x, sizeof *x * count * COLS);
    gpuopt_simplex_batch_destroy(p.batch);
    free(value), free(cost), free(rhs), free(ub), free(x);
}

/* ---- Probing ---- */

typedef struct probing_run {
    gpuopt_propagator_probe *probe;
    gpuopt_propagator_probe_info info;
} probing_run;

static gpuopt_status probe_all(void *of) {
    probing_run *p = (probing_run *)of;
    return gpuopt_propagator_probe_run(p->probe, 0, NULL, 1000, &p->info);
}

static void run_probing(member *m) {
    gpuopt_propagator_desc model = mip_propagator_desc(m->job->model);
    gpuopt_propagator_probe_desc desc = GPUOPT_INIT(gpuopt_propagator_probe_desc);
    gpuopt_propagator *base = NULL;
    probing_run p;
    gpuopt_status status;
    memset(&p, 0, sizeof p);
    p.info.struct_size = sizeof p.info;
    model.marking = GPUOPT_ON;
    desc.group = m->group;
    status = gpuopt_propagator_create(m->context, &model, NULL, &base);
    if (!status) status = gpuopt_propagator_round(base, 10000, NULL);
    if (!status) status = gpuopt_propagator_probe_create(base, &desc, NULL, &p.probe);
    if (status) m->failed = 1, failed(&m->machine, "probing", "create", status);
    time_calls(m, probe_all, &p);
    if (m->rank == 0) m->job->seen = seen(7, &p.info, sizeof p.info);
    gpuopt_propagator_probe_destroy(p.probe);
    gpuopt_propagator_destroy(base);
}

/* ---- The table ---- */

int measure_dealt(const options *o, const char *name) {
    static void (*const work[])(member *) = {run_children, run_programs, run_probing};
    const char *at = o->ranks, *rest = NULL;
    char word[NAME];
    int64_t number = 0;
    double run = 0;
    uint64_t same = 0;
    int kind, result = 0;
    job j;
    mip m;
    memset(&j, 0, sizeof j);
    for (kind = 0; kind < KINDS && strncmp(name, kinds[kind], strlen(kinds[kind])) != 0; kind++) continue;
    if (kind < KINDS) rest = name + strlen(kinds[kind]);
    if (!rest || (kind == PROGRAMS ? !whole_number(rest, 65536, &number) : work_load(rest, &m))) {
        fprintf(stderr, "group_bench: %s is not children:MODEL, programs:COUNT or probing:MODEL\n", name);
        return EXIT_BAD_INPUT;
    }
    j.o = o;
    j.work = work[kind];
    j.model = kind == PROGRAMS ? NULL : &m;
    j.decisions = (int32_t)number;
    for (; !result && next_word(&at, word) && whole_number(word, MOST_RANKS, &number);) {
        j.ranks = (int)number;
        if (run_job(&j)) result = EXIT_FAILED;
        if (result) break;
        if (run == 0) run = j.run, same = j.seen;
        printf("| %s | %d | %.3f | %.2f | %s |\n", name, j.ranks, 1e3 * j.run, run / j.run,
               j.seen == same ? "yes" : "NO");
        fflush(stdout);
        if (j.seen != same) result = EXIT_FAILED;
    }
    if (kind != PROGRAMS) mip_free(&m);
    return result;
}
