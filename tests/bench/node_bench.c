/* SPDX-License-Identifier: MIT
 *
 * The cost of a node of branch and bound on one core: a propagator with a trail, in both modes, beside a plain work
 * list (work_list.h).
 *     node_bench [--repeat N] [--seconds N] MODEL...      MODEL: FILE.mps, gen:NAME, or a folder of .mps files
 * A line for each model:
 *   probe     one binary column is set: push, set, round to the fixpoint, read the changes, pop; the work list
 *             likewise. 500 columns at random, both ways.
 *   dive      20 dives of up to 60 nodes: random integer columns, half of the rest of each domain; then all the way
 *   back.
 *   after     how much longer the first call after an infeasible node takes than after a feasible one: siblings of
 *             nodes in the dives, the mean of at most 20.
 *   disagree  nodes with different verdicts: between the work list and either mode, between the modes; number of nodes.
 *   left out  probes and dives' last nodes that end without a fixpoint, after 1000 rounds or a million rows.
 * and at the end the geometric mean of each column of ratios, the greatest, and the greatest of `after`. Times are in
 * us a node, ratios in times of the work list's. The engines take turns with few nodes at a time, N times (9), less
 * often if a model would take more than N seconds (5). The least time of each counts.
 */
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpuopt/search.h"
#include "examples/common.h"
#include "tests/bench/node_table.h"
#include "tests/bench/work_list.h"
#include "tests/support/support.h"

enum { PROBES = 1000, BLOCK = 20, DIVES = 20, DEPTH = 60, ROUNDS = 1000, WORK_LIST_ROWS = 1000000 };
static const gpuopt_propagator_mode mode_of[] = {GPUOPT_MODE_JACOBI, GPUOPT_MODE_GAUSS_SEIDEL};

/* One of the three engines: a propagator with an array for its changes, or the work list. */
typedef struct engine {
    gpuopt_propagator *propagator;
    gpuopt_propagator_changes changes;
    work_list *peer;
    int64_t base; /* of the work list's changes */
} engine;

typedef struct decision {
    int32_t col;
    double lb, ub;
} decision;

typedef struct dive {
    decision node[DEPTH];
    int nodes, infeasible; /* infeasible: the last node is, by the verdict of one engine */
} dive;

/* A model, its root, and the measurements. */
typedef struct bench {
    mip model;
    engine engine[ENGINES];
    double *lb, *ub; /* [cols] at the root's fixpoint */
    int32_t *col;    /* columns to branch on: the integer columns or, if there are none, all */
    int cols;
    uint64_t random;
    decision probe[PROBES];
    dive dive[DIVES];
    int repeat;
    double seconds;
    node_figures found;
} bench;

static void check(gpuopt_status status, const char *call) {
    if (!status) return;
    fprintf(stderr, "%s: %s\n", call, gpuopt_status_string(status));
    exit(3);
}

/* ---- A node, by each engine ---- */

/* Goes down to a node. */
static gpuopt_outcome down(engine *e, const decision *d) {
    gpuopt_propagator_info info = GPUOPT_INIT(gpuopt_propagator_info);
    int64_t start;
    if (e->peer) {
        if (work_list_lb(e->peer)[d->col] != d->lb) work_list_set(e->peer, d->col, 0, d->lb);
        if (work_list_ub(e->peer)[d->col] != d->ub) work_list_set(e->peer, d->col, 1, d->ub);
        return work_list_run(e->peer, WORK_LIST_ROWS);
    }
    check(gpuopt_propagator_push(e->propagator, &start), "push");
    check(gpuopt_propagator_set_bounds(e->propagator, GPUOPT_HOST, 1, &d->col, &d->lb, &d->ub), "set_bounds");
    check(gpuopt_propagator_round(e->propagator, ROUNDS, &info), "round");
    if (info.outcome == GPUOPT_FULL) check(GPUOPT_ERROR_MEMORY, "the trail");
    check(gpuopt_propagator_get_changes(e->propagator, GPUOPT_HOST, start, &e->changes), "get_changes");
    return info.outcome;
}

/* Goes up `levels` nodes; the work list always goes back to its base. */
static void up(engine *e, int levels) {
    if (e->peer) work_list_undo(e->peer, e->base);
    else check(gpuopt_propagator_pop(e->propagator, levels), "pop");
}

/* ---- What is measured ---- */

/* The binaries at random, both ways. */
static void choose_probes(bench *b) {
    int32_t *binary = malloc(sizeof *binary * ((size_t)b->cols + 1)), j;
    int count = 0, k;
    if (!binary) exit(3);
    for (k = 0; b->model.integer && k < b->cols; k++) {
        j = b->col[k];
        if (b->model.integer[j] && b->lb[j] == 0 && b->ub[j] == 1) binary[count++] = j;
    }
    for (k = 0; k < count && b->found.probes < PROBES; k++) {
        int other = (int)test_random_int(&b->random, k, count - 1);
        j = binary[other], binary[other] = binary[k];
        b->probe[b->found.probes++] = (decision){j, 0, 0};
        b->probe[b->found.probes++] = (decision){j, 1, 1};
    }
    free(binary);
}

/* A random column that is not fixed, and a half of its domain. Returns 0 if none is found. */
static int choose_decision(bench *b, decision *d) {
    const double *lb = work_list_lb(b->engine[PEER].peer), *ub = work_list_ub(b->engine[PEER].peer);
    int tries;
    for (tries = 0; b->cols && tries < 200; tries++) {
        int32_t j = b->col[test_random_int(&b->random, 0, b->cols - 1)];
        double l = lb[j], u = ub[j];
        if (!(u - l > 0.5)) continue;
        if (isinf(l) && isinf(u)) u = 0;
        else if (test_random_int(&b->random, 0, 1))
            l = isinf(l) ? u : isinf(u) || u - l < 2 ? l + 1 : ceil((l + u) / 2);
        else u = isinf(u) ? l : isinf(l) || u - l < 2 ? u - 1 : floor((l + u) / 2);
        *d = (decision){j, l, u};
        return 1;
    }
    return 0;
}

/* Goes down with all engines. Returns INFEASIBLE if any reports it, else MORE if one is not at a fixpoint. */
static gpuopt_outcome compare(bench *b, const decision *d) {
    gpuopt_outcome found[ENGINES];
    int e, more = 0, infeasible = 0;
    for (e = 0; e < ENGINES; e++) {
        found[e] = down(&b->engine[e], d);
        infeasible += found[e] == GPUOPT_INFEASIBLE;
        more |= found[e] != GPUOPT_INFEASIBLE && found[e] != GPUOPT_CONVERGED;
    }
    if (more) return GPUOPT_MORE;
    b->found.disagree_peer += infeasible == 1 || infeasible == 2;
    b->found.disagree_modes += found[JACOBI] != found[GAUSS_SEIDEL];
    return infeasible ? GPUOPT_INFEASIBLE : GPUOPT_CONVERGED;
}

static void choose_dives(bench *b) {
    int k, e;
    for (k = 0; k < DIVES; k++) {
        dive *d = &b->dive[k];
        gpuopt_outcome found = GPUOPT_CONVERGED;
        memset(d, 0, sizeof *d);
        work_list_sum(b->engine[PEER].peer);
        while (found == GPUOPT_CONVERGED && d->nodes < DEPTH && choose_decision(b, &d->node[d->nodes]))
            found = compare(b, &d->node[d->nodes++]);
        for (e = 0; e < ENGINES; e++) up(&b->engine[e], d->nodes);
        d->infeasible = found == GPUOPT_INFEASIBLE;
        d->nodes -= found == GPUOPT_MORE;
        b->found.unfinished += found == GPUOPT_MORE;
        b->found.nodes += d->nodes;
    }
}

/* ---- Times ---- */

/* The least time of each engine for some probes, or for one dive, added to us. */
static void time_block(bench *b, int repeat, const decision *node, int nodes, int together, double *us) {
    double least[ENGINES] = {1e30, 1e30, 1e30};
    int r, e, k;
    for (r = 0; r < repeat; r++)
        for (e = 0; e < ENGINES; e++) {
            double start = now();
            for (k = 0; k < nodes; k++) {
                down(&b->engine[e], &node[k]);
                if (!together) up(&b->engine[e], 1);
            }
            if (together) up(&b->engine[e], nodes);
            least[e] = fmin(least[e], now() - start);
        }
    for (e = 0; e < ENGINES; e++) us[e] += 1e6 * least[e];
}

/* How often the rest of a table may be measured, if each time takes as long as `took`. */
static int times_left(const bench *b, double seconds, double took, int parts) {
    double times = seconds / (took * parts + 1e-9);
    return times < 1 ? 1 : times < b->repeat ? (int)times : b->repeat;
}

static void time_probes(bench *b) {
    double start = now(), took;
    int k, e, repeat, timed = 0;
    for (k = 0; k < b->found.probes; k += BLOCK) {
        int nodes = b->found.probes - k < BLOCK ? b->found.probes - k : BLOCK, i, good = 0;
        decision *block = &b->probe[k];
        work_list_sum(b->engine[PEER].peer);
        took = now();
        for (i = 0; i < nodes; i++) {
            if (compare(b, &block[i]) != GPUOPT_MORE) block[good++] = block[i];
            for (e = 0; e < ENGINES; e++) up(&b->engine[e], 1);
        }
        took = now() - took;
        b->found.unfinished += nodes - good;
        timed += good;
        repeat = times_left(b, b->seconds / 2 - (now() - start), took, (b->found.probes - k + BLOCK - 1) / BLOCK);
        time_block(b, repeat, block, good, 0, b->found.probe_us);
    }
    b->found.probes = timed;
    for (e = 0; e < ENGINES; e++) b->found.probe_us[e] /= timed ? timed : 1;
}

static void time_dives(bench *b) {
    double start = now(), took;
    int k, e, repeat;
    choose_dives(b);
    took = (now() - start) / DIVES;
    start = now();
    for (k = 0; k < DIVES; k++) {
        if (!b->dive[k].nodes) continue;
        repeat = times_left(b, b->seconds / 2 - (now() - start), took, DIVES - k);
        time_block(b, repeat, b->dive[k].node, b->dive[k].nodes, 1, b->found.dive_us);
    }
    for (e = 0; e < ENGINES; e++) b->found.dive_us[e] /= b->found.nodes ? b->found.nodes : 1;
}

/* How much longer it takes to go to a node right after `infeasible` has been left than after `other`: least times of
 * each, in turn. */
static double time_after(const bench *b, engine *e, const decision *infeasible, const decision *other,
                         const decision *node) {
    const decision *before[2];
    double least[2] = {1e30, 1e30}, start;
    int r, which;
    before[0] = infeasible, before[1] = other;
    for (r = 0; r < 2 * b->repeat; r++)
        for (which = 0; which < 2; which++) {
            down(e, before[which]);
            up(e, 1);
            start = now();
            down(e, node);
            least[which] = fmin(least[which], now() - start);
            up(e, 1);
        }
    return 1e6 * (least[0] - least[1]);
}

/* The other half of the last column of a dive. */
static decision sibling_of(const decision *last, double lb, double ub) {
    return last->lb > lb ? (decision){last->col, lb, last->lb - 1} : (decision){last->col, last->ub + 1, ub};
}

static int feasible(engine *e, const decision *d) {
    gpuopt_outcome found = down(e, d);
    up(e, 1);
    return found == GPUOPT_CONVERGED;
}

/* The end of a dive: the last node's sibling, after the infeasible node and after another node that is feasible. */
static void time_after_infeasible(bench *b) {
    int k, e, i;
    for (k = 0; k < DIVES; k++) {
        const dive *d = &b->dive[k];
        const decision *last = &d->node[d->nodes - 1];
        decision sibling, other = {0, 0, 0};
        int usable;
        if (!d->infeasible) continue;
        for (e = 0; e < ENGINES; e++)
            for (i = 0; i + 1 < d->nodes; i++) down(&b->engine[e], &d->node[i]);
        sibling = sibling_of(last, work_list_lb(b->engine[PEER].peer)[last->col],
                             work_list_ub(b->engine[PEER].peer)[last->col]);
        usable = choose_decision(b, &other) && other.col != last->col;
        for (e = 0; usable && e < PEER; e++)
            usable =
                !feasible(&b->engine[e], last) && feasible(&b->engine[e], &sibling) && feasible(&b->engine[e], &other);
        for (e = 0; usable && e < PEER; e++)
            b->found.after_us[e] += time_after(b, &b->engine[e], last, &other, &sibling);
        b->found.afters += usable;
        for (e = 0; e < ENGINES; e++) up(&b->engine[e], d->nodes - 1);
    }
    for (e = 0; e < PEER; e++) b->found.after_us[e] /= b->found.afters ? b->found.afters : 1;
}

/* ---- A model ---- */

static void *array(size_t count, size_t size) {
    void *made = malloc((count + 1) * size);
    if (!made) exit(3);
    return made;
}

static void open_propagator(bench *b, gpuopt_context *context, int e) {
    gpuopt_propagator_desc desc = mip_propagator_desc(&b->model);
    gpuopt_propagator_changes *c = &b->engine[e].changes;
    size_t capacity = 4 * (size_t)desc.matrix.cols + 1000;
    desc.mode = mode_of[e];
    desc.trail_capacity = 40 * (int64_t)desc.matrix.cols + 1000000;
    check(gpuopt_propagator_create(context, &desc, NULL, &b->engine[e].propagator), "create");
    *c = GPUOPT_INIT(gpuopt_propagator_changes);
    c->capacity = (int64_t)capacity;
    c->col = array(capacity, sizeof *c->col);
    c->upper = array(capacity, sizeof *c->upper);
    c->new_bound = array(capacity, sizeof *c->new_bound);
}

/* Takes all engines to the fixpoint of the first. Returns 0 if the root is infeasible. */
static int open_root(bench *b, gpuopt_context *context) {
    gpuopt_propagator_info info = GPUOPT_INIT(gpuopt_propagator_info);
    int e, j, n = b->model.matrix.cols;
    b->lb = array((size_t)n, sizeof *b->lb);
    b->ub = array((size_t)n, sizeof *b->ub);
    b->col = array((size_t)n, sizeof *b->col);
    for (e = 0; e < PEER; e++) {
        gpuopt_propagator *p;
        open_propagator(b, context, e);
        p = b->engine[e].propagator;
        if (e > 0) check(gpuopt_propagator_set_bounds(p, GPUOPT_HOST, 0, NULL, b->lb, b->ub), "set_bounds");
        check(gpuopt_propagator_round(p, ROUNDS, &info), "round");
        if (info.outcome == GPUOPT_INFEASIBLE) return 0;
        check(gpuopt_propagator_commit(p), "keep");
        check(gpuopt_propagator_get_bounds(p, GPUOPT_HOST, 0, NULL, b->lb, b->ub), "get_bounds");
    }
    b->engine[PEER].peer = work_list_create(&b->model, b->lb, b->ub);
    if (!b->engine[PEER].peer) exit(3);
    for (j = 0; j < n; j++)
        if (b->model.integer && b->model.integer[j]) b->col[b->cols++] = j;
    if (!b->cols)
        for (j = 0; j < n; j++) b->col[b->cols++] = j;
    return 1;
}

static void close_bench(bench *b) {
    int e;
    for (e = 0; e < ENGINES; e++) {
        gpuopt_propagator_destroy(b->engine[e].propagator);
        work_list_destroy(b->engine[e].peer);
        free(b->engine[e].changes.col);
        free(b->engine[e].changes.upper);
        free(b->engine[e].changes.new_bound);
    }
    free(b->lb);
    free(b->ub);
    free(b->col);
    mip_free(&b->model);
}

/* ---- Models ---- */

static int measure(const char *path, const bench *options, gpuopt_context *context, node_totals *totals) {
    bench *b = array(1, sizeof *b);
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    char error[512];
    *b = *options;
    if (mip_load(path, &b->model, error, sizeof error) || mip_rows(&b->model)) {
        fprintf(stderr, "%s\n", error);
        free(b);
        return 2;
    }
    if (open_root(b, context)) {
        choose_probes(b);
        time_probes(b);
        time_dives(b);
        time_after_infeasible(b);
        node_print(name, &b->model, &b->found, totals);
    } else {
        printf("%-28s infeasible at the root\n", name);
    }
    close_bench(b);
    free(b);
    return 0;
}

static int is_model(const struct dirent *file) {
    size_t length = strlen(file->d_name);
    return length > 4 && strcmp(file->d_name + length - 4, ".mps") == 0;
}

/* A model, or the models of a folder. */
static int measure_all(const char *path, const bench *options, gpuopt_context *context, node_totals *totals) {
    struct dirent **file;
    int count = scandir(path, &file, is_model, alphasort), k, result = 0;
    if (count < 0) return measure(path, options, context, totals);
    for (k = 0; k < count; k++) {
        char name[4096];
        snprintf(name, sizeof name, "%s/%s", path, file[k]->d_name);
        result |= measure(name, options, context, totals);
        free(file[k]);
    }
    free(file);
    return result;
}

int main(int argc, char **argv) {
    bench options;
    node_totals totals;
    log_printer printer = {argv[0], 0};
    gpuopt_context *context;
    const char *backend;
    int64_t number;
    int k = 1, result = 0;
    memset(&options, 0, sizeof options);
    memset(&totals, 0, sizeof totals);
    options.repeat = 9;
    options.seconds = 5;
    options.random = 7;
    for (; k + 1 < argc && argv[k][0] == '-' && whole_number(argv[k + 1], 1000, &number); k += 2) {
        if (strcmp(argv[k], "--repeat") == 0) options.repeat = (int)number;
        else if (strcmp(argv[k], "--seconds") == 0) options.seconds = (double)number;
        else break;
    }
    check(open_context("cpu", 0, 1, &printer, &context, &backend), "context");
    node_print_head();
    for (; k < argc; k++) result |= measure_all(argv[k], &options, context, &totals);
    node_print_totals(&totals);
    gpuopt_context_destroy(context);
    return result;
}
