/* SPDX-License-Identifier: MIT
 *
 * Times batches of children of one basis: the linear relaxation of each model is solved, and then both sides of its
 * fractional integer columns, in one call:
 *     simplex_children_bench MODEL... [--backend LIST] [--limit N] [--capacity N] [--copies N] [--repeat N] [--check N]
 *         [--bases FOLDER] [--parents N]
 * LIST: cpu, cpu:THREADS, cuda, separated by commas (cpu). limit: iterations of a child (1000). room: pivots after
 * which a child's inverse is made again (never). copies: most children (1000). repeat: runs, after one that is not
 * counted (3); the median counts. check: so many children, evenly spaced, are solved by a single handle on the CPU,
 * too. bases: where the roots' optimal bases are kept between runs, as NAME.basis; one that is there is loaded and
 * checked instead of a solve.
 * parents: then as many children (copies) of N parents, in one call, and as many of the root alone, whose columns are
 * tried again and again. Parents come from random dives of up to 12 decisions below the root.
 * A line for all children, then for 24 and for 1 of them:
 *     children, pivots  of all of them together, and of the child that takes the most
 *     seconds           of the call, reports in host memory; us a child; thousands of pivots a second
 *     sum               of the objectives of those that are OPTIMAL, and how many had which outcome
 * With --check: the largest difference of an objective, relative to max(1, |objective|), how many outcomes differ, and
 * how many pivots the single handles did beside those of the batch. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gpuopt/search.h"
#include "examples/io/mip.h"
#include "tests/bench/bench.h"

enum { MOST_COPIES = 65536 };

typedef struct options {
    const char *backend, *bases;
    int64_t limit, capacity, copies, repeat, check, parents;
} options;

/* What a batch is asked about, and what it says. */
typedef struct work {
    int32_t count, *col, *outcome, *iterations;
    double *objective, *bound;
} work;

static void *capacity(size_t count, size_t size) {
    void *memory = calloc(count + 1, size);
    if (!memory) fprintf(stderr, "simplex_children_bench: no memory\n"), exit(EXIT_FAILED);
    return memory;
}

/* ---- Roots ---- */

static void name_of_basis(const char *folder, const char *model, char *name, size_t size) {
    const char *base = strrchr(model, '/');
    snprintf(name, size, "%s/%s.basis", folder, base ? base + 1 : model);
}

/* Loads a basis that an earlier run has kept. Returns whether there was one. */
static int load_basis(gpuopt_simplex *root, const char *name, size_t both) {
    uint8_t *status = (uint8_t *)capacity(both, 1);
    FILE *file = fopen(name, "rb");
    int loaded = file && fread(status, 1, both, file) == both &&
                 gpuopt_simplex_set_basis(root, GPUOPT_HOST, status) == GPUOPT_OK;
    if (file) fclose(file);
    free(status);
    return loaded;
}

static int keep_basis(gpuopt_simplex *root, const char *name, size_t both) {
    uint8_t *status = (uint8_t *)capacity(both, 1);
    FILE *file = fopen(name, "wb");
    int kept = file && gpuopt_simplex_get_basis(root, GPUOPT_HOST, status) == GPUOPT_OK &&
               fwrite(status, 1, both, file) == both;
    if (close_written(file, name)) kept = 0;
    free(status);
    return kept ? 0 : -1;
}

/* The relaxation at its optimum; NULL after a message. */
static gpuopt_simplex *solve_root(const machine *on, const char *model, const mip *m, const options *o) {
    const size_t both = (size_t)m->columns.rows + (size_t)m->columns.cols;
    gpuopt_simplex_desc desc = mip_simplex_desc(m);
    gpuopt_simplex_info info = GPUOPT_INIT(gpuopt_simplex_info);
    gpuopt_simplex *root = NULL;
    char name[1024] = "";
    double begin = now();
    int loaded;
    gpuopt_status status;
    desc.method = GPUOPT_METHOD_REVISED;
    desc.algorithm = on->cuda ? GPUOPT_ALGORITHM_PRIMAL : GPUOPT_ALGORITHM_DUAL;
    if (o->bases) name_of_basis(o->bases, model, name, sizeof name);
    status = gpuopt_simplex_create(on->context, &desc, NULL, &root);
    if (status) return failed(on, model, "create", status), NULL;
    loaded = o->bases && load_basis(root, name, both);
    status = gpuopt_simplex_iterate(root, 100000000, &info);
    if (!status && info.outcome == GPUOPT_OPTIMAL) {
        printf("%s: %d rows, %d columns, root %.10g by %s after %lld iterations%s, %.2f s\n", model,
               (int)m->columns.rows, (int)m->columns.cols, info.objective, on->name, (long long)info.iterations,
               loaded ? " from a kept basis" : "", now() - begin);
        if (!o->bases || loaded || keep_basis(root, name, both) == 0) return root;
    } else if (!status) fprintf(stderr, "%s: the relaxation is %s\n", model, gpuopt_outcome_string(info.outcome));
    else failed(on, model, "iterate", status);
    gpuopt_simplex_destroy(root);
    return NULL;
}

/* The integer columns that are fractional at the root, at most half of `most`. */
static int find_fractional(const machine *on, const char *model, gpuopt_simplex *root, const mip *m, int64_t most,
                           work *w, double *x) {
    int32_t j;
    gpuopt_status status = gpuopt_simplex_get_solution(
        root, GPUOPT_HOST, &(gpuopt_simplex_solution){.struct_size = sizeof(gpuopt_simplex_solution), .x = x});
    if (status) return failed(on, model, "get_solution", status);
    for (j = 0, w->count = 0; j < m->columns.cols && 2 * (w->count + 1) <= most; j++)
        if (m->integer[j] && x[j] - floor(x[j]) > 1e-6 && x[j] - floor(x[j]) < 1 - 1e-6) w->col[w->count++] = j;
    return 0;
}

/* ---- Batches ---- */

/* Runs the children of the first `columns` columns, or one child, as a batch of its own. Returns 0, or -1 after a
 * message. */
static int run_batch(const machine *on, const char *model, gpuopt_simplex *root, const options *o, work *w,
                     int32_t columns, int one, const mip *m, const double *x) {
    gpuopt_simplex_children_desc desc = GPUOPT_INIT(gpuopt_simplex_children_desc);
    gpuopt_simplex_child_report report = GPUOPT_INIT(gpuopt_simplex_child_report);
    gpuopt_simplex_child_list single = GPUOPT_INIT(gpuopt_simplex_child_list);
    gpuopt_simplex_children *batch = NULL;
    const int64_t start[] = {0, 1};
    const int32_t children = one ? 1 : 2 * columns;
    const double down = floor(x[w->col[0]]), lb = m->lb[w->col[0]];
    double taken[MOST_REPEATS], sum = 0, seconds;
    int64_t pivots = 0;
    int32_t k, most = 0, outcomes[GPUOPT_CUTOFF + 1] = {0};
    gpuopt_status status;
    desc.batch_size = children;
    desc.pivots = (int32_t)(o->capacity > 0 ? o->capacity : o->limit);
    if (o->capacity > 0) desc.on_pivot_limit = GPUOPT_ON_PIVOT_LIMIT_REFACTOR;
    single.count = 1;
    single.start = start;
    single.col = w->col;
    single.lb = &lb;
    single.ub = &down;
    report.outcome = w->outcome;
    report.iterations = w->iterations;
    report.objective = w->objective;
    report.bound = w->bound;
    status = gpuopt_simplex_children_create(root, &desc, NULL, &batch);
    if (status) return failed(on, model, "batch_create", status);
    for (k = -1; k < o->repeat && !status; k++) {
        double begin = now();
        status = one ? gpuopt_simplex_children_run(batch, GPUOPT_HOST, &single, o->limit, &report)
                     : gpuopt_simplex_children_strong_branch(batch, GPUOPT_HOST, columns, NULL, w->col, NULL, o->limit,
                                                             &report);
        if (k >= 0) taken[k] = now() - begin;
    }
    gpuopt_simplex_children_destroy(batch);
    if (status) return failed(on, model, "batch_run", status);
    seconds = median(taken, (int)o->repeat);
    for (k = 0; k < children; k++) {
        pivots += w->iterations[k];
        if (w->iterations[k] > most) most = w->iterations[k];
        outcomes[w->outcome[k]]++;
        if (w->outcome[k] == GPUOPT_OPTIMAL) sum += w->objective[k];
    }
    printf("  %s: %d children, %lld pivots, at most %d, %.6f s, %.2f us a child, %.1f thousand pivots/s, sum %.12g;",
           on->name, (int)children, (long long)pivots, (int)most, seconds, 1e6 * seconds / children,
           1e-3 * (double)pivots / seconds, sum);
    for (k = 0; k <= GPUOPT_CUTOFF; k++)
        if (outcomes[k]) printf(" %d %s", (int)outcomes[k], gpuopt_outcome_string((gpuopt_outcome)k));
    printf("\n");
    fflush(stdout);
    return 0;
}

/* ---- Checking ---- */

/* The same children by a handle on the CPU, from the same basis. */
static int check(const machine *on, const machine *cpu, const char *model, gpuopt_simplex *root, const mip *m,
                 const options *o, const work *w, const double *x) {
    const int32_t children = 2 * w->count;
    const int64_t most = o->check < children ? o->check : children;
    gpuopt_simplex_desc desc = mip_simplex_desc(m);
    gpuopt_simplex *single = NULL;
    uint8_t *basis = (uint8_t *)capacity((size_t)m->columns.rows + (size_t)m->columns.cols, 1);
    double worst = 0, short_of = 0;
    int64_t n, others = 0, pivots = 0, of_batch = 0;
    gpuopt_status status;
    desc.method = GPUOPT_METHOD_REVISED;
    desc.algorithm = GPUOPT_ALGORITHM_AUTO;
    status = gpuopt_simplex_get_basis(root, GPUOPT_HOST, basis);
    if (!status) status = gpuopt_simplex_create(cpu->context, &desc, NULL, &single);
    if (!status) status = gpuopt_simplex_set_basis(single, GPUOPT_HOST, basis);
    for (n = 0; n < most && !status; n++) {
        gpuopt_simplex_info info = GPUOPT_INIT(gpuopt_simplex_info), before = GPUOPT_INIT(gpuopt_simplex_info);
        const int32_t k = (int32_t)(n * children / most), j = w->col[k / 2];
        const double down = floor(x[j]), up = down + 1;
        status = gpuopt_simplex_set_bounds(single, GPUOPT_HOST, 1, &j, k % 2 ? &up : NULL, k % 2 ? NULL : &down);
        if (!status) status = gpuopt_simplex_get_info(single, &before);
        if (!status) status = gpuopt_simplex_iterate(single, 100000000, &info);
        if (!status) status = gpuopt_simplex_set_bounds(single, GPUOPT_HOST, 1, &j, &m->lb[j], &m->ub[j]);
        if (!status) status = gpuopt_simplex_set_basis(single, GPUOPT_HOST, basis);
        if (status) break;
        pivots += info.iterations - before.iterations;
        of_batch += w->iterations[k];
        if ((int32_t)info.outcome != w->outcome[k]) others++;
        else if (info.outcome == GPUOPT_OPTIMAL) {
            const double size = fmax(1, fabs(info.objective)), sign = m->maximize ? -1 : 1;
            worst = fmax(worst, fabs(info.objective - w->objective[k]) / size);
            short_of = fmax(short_of, sign * (info.objective - w->bound[k]) / size);
            if (sign * w->bound[k] > sign * info.objective + 1e-9 * size) others++;
        }
    }
    gpuopt_simplex_destroy(single);
    free(basis);
    if (status) return failed(on, model, "checking", status);
    printf("  check of %lld: objectives differ by up to %.2g, bounds are short by up to %.2g, %lld outcomes or bounds "
           "are other ones; pivots %lld, of single handles %lld\n",
           (long long)most, worst, short_of, (long long)others, (long long)of_batch, (long long)pivots);
    fflush(stdout);
    return 0;
}

/* ---- Several parents ---- */

/* Parents, and the children of all of them: col and value are of strong branching. */
typedef struct family {
    gpuopt_simplex_root_list list;
    uint8_t *basis;
    double *lb, *ub, *value;
    int32_t *root, *col, count; /* of columns */
} family;

/* Marsaglia's xorshift. */
static uint64_t random_bits(uint64_t *seed) {
    *seed ^= *seed << 13, *seed ^= *seed >> 7, *seed ^= *seed << 17;
    return *seed >> 11;
}
static double fraction_of(double x) { return x - floor(x); }
static int is_fractional(double x) { return fraction_of(x) > 1e-6 && fraction_of(x) < 1 - 1e-6; }

/* Goes from the handle's optimum down by some decisions, as long as there are points; x, basis, lb and ub are those of
 * the last node. */
static gpuopt_status dive(gpuopt_simplex *lp, const mip *m, uint64_t *seed, double *x, uint8_t *basis, double *lb,
                          double *ub) {
    const int32_t cols = m->columns.cols;
    const gpuopt_simplex_solution solution = {.struct_size = sizeof solution, .x = x};
    double low = 0, high = 0;
    int32_t last = -1;
    int depth = 1 + (int)(random_bits(seed) % 12);
    gpuopt_status status = gpuopt_simplex_set_bounds(lp, GPUOPT_HOST, cols, NULL, m->lb, m->ub);
    memcpy(lb, m->lb, sizeof *lb * (size_t)cols);
    memcpy(ub, m->ub, sizeof *ub * (size_t)cols);
    for (; !status; depth--) {
        gpuopt_simplex_info info = GPUOPT_INIT(gpuopt_simplex_info);
        int32_t j, tried, from = (int32_t)(random_bits(seed) % (uint64_t)cols);
        status = gpuopt_simplex_iterate(lp, 100000000, &info);
        if (!status && info.outcome != GPUOPT_OPTIMAL && last >= 0) lb[last] = low, ub[last] = high; /* as before it */
        if (status || info.outcome != GPUOPT_OPTIMAL) break;
        status = gpuopt_simplex_get_solution(lp, GPUOPT_HOST, &solution);
        if (!status) status = gpuopt_simplex_get_basis(lp, GPUOPT_HOST, basis);
        for (tried = 0, j = from; tried < cols && !(m->integer[j] && is_fractional(x[j])); tried++) j = (j + 1) % cols;
        if (status || depth == 0 || tried == cols) break;
        last = j, low = lb[j], high = ub[j];
        if (random_bits(seed) % 2) lb[j] = floor(x[j]) + 1;
        else ub[j] = floor(x[j]);
        status = gpuopt_simplex_set_bounds(lp, GPUOPT_HOST, 1, &j, &lb[j], &ub[j]);
    }
    return status;
}

/* The parents, by a handle on the CPU. */
static gpuopt_status make_family(gpuopt_simplex *lp, const mip *m, const options *o, family *f) {
    const size_t cols = (size_t)m->columns.cols, both = cols + (size_t)m->columns.rows, parents = (size_t)o->parents;
    const int32_t each = (int32_t)(o->copies / 2 / o->parents);
    double *x = (double *)capacity(cols, sizeof *x);
    uint64_t seed = 7;
    size_t k;
    gpuopt_status status = GPUOPT_OK;
    for (k = 0; k < parents && !status; k++) {
        int32_t j = 0, n, begin = f->count;
        size_t tried;
        status = dive(lp, m, &seed, x, f->basis + k * both, f->lb + k * cols, f->ub + k * cols);
        for (tried = 0; tried < cols && f->count - begin < each; tried++, j++)
            if (m->integer[j] && is_fractional(x[j])) f->col[f->count] = j, f->value[f->count++] = x[j];
        for (n = begin; begin < f->count && n < begin + each; n++) { /* the same ones again, if there are too few */
            f->root[n] = (int32_t)k;
            if (n >= f->count)
                f->col[n] = f->col[n - (f->count - begin)], f->value[n] = f->value[n - (f->count - begin)];
        }
        f->count = n;
    }
    free(x);
    return status;
}

/* Solves all children of the family, or as many of the root. Returns the seconds of a call, or NAN after a message. */
static double run_family(const machine *on, const char *model, gpuopt_simplex *root, const options *o, const family *f,
                         work *w, int alone) {
    gpuopt_simplex_children_desc desc = GPUOPT_INIT(gpuopt_simplex_children_desc);
    gpuopt_simplex_child_report report = GPUOPT_INIT(gpuopt_simplex_child_report);
    gpuopt_simplex_children *batch = NULL;
    double taken[MOST_REPEATS], setting[MOST_REPEATS], seconds;
    int64_t pivots = 0;
    int32_t k;
    gpuopt_status status;
    desc.batch_size = 2 * f->count;
    desc.roots = alone ? 0 : f->list.count;
    desc.pivots = (int32_t)(o->capacity > 0 ? o->capacity : o->limit);
    if (o->capacity > 0) desc.on_pivot_limit = GPUOPT_ON_PIVOT_LIMIT_REFACTOR;
    report.outcome = w->outcome, report.iterations = w->iterations;
    report.objective = w->objective, report.bound = w->bound;
    status = gpuopt_simplex_children_create(root, &desc, NULL, &batch);
    for (k = -1; k < o->repeat && !status; k++) {
        double begin = now(), set;
        if (!alone) status = gpuopt_simplex_children_set_roots(batch, GPUOPT_HOST, &f->list);
        set = now();
        if (!status)
            status = gpuopt_simplex_children_strong_branch(batch, GPUOPT_HOST, f->count, alone ? NULL : f->root, f->col,
                                                           f->value, o->limit, &report);
        if (k >= 0) taken[k] = now() - begin, setting[k] = set - begin;
    }
    gpuopt_simplex_children_destroy(batch);
    if (status) return failed(on, model, "several parents", status), (double)NAN;
    seconds = median(taken, (int)o->repeat);
    for (k = 0; k < 2 * f->count; k++) pivots += w->iterations[k];
    printf("  %s: %d parents, %d children, %lld pivots, %.6f s, of these %.6f s for the roots, %.2f us a child, "
           "%.2f us a pivot\n",
           on->name, alone ? 1 : (int)f->list.count, 2 * (int)f->count, (long long)pivots, seconds,
           median(setting, (int)o->repeat), 1e6 * seconds / (2 * f->count), 1e6 * seconds / fmax(1, (double)pivots));
    fflush(stdout);
    return seconds;
}

/* The parents' children beside as many of the root, whose fractional columns are w's. */
static int measure_parents(const machine *on, const machine *cpu, const char *model, gpuopt_simplex *root, const mip *m,
                           const options *o, work *w, const double *x) {
    const size_t cols = (size_t)m->columns.cols, both = cols + (size_t)m->columns.rows, parents = (size_t)o->parents,
                 most = (size_t)o->copies;
    gpuopt_simplex_desc desc = mip_simplex_desc(m);
    gpuopt_simplex *lp = NULL;
    double several = NAN, one = NAN;
    family f = {GPUOPT_INIT(gpuopt_simplex_root_list), (uint8_t *)capacity(parents * both, 1),
                (double *)capacity(parents * cols, 8), (double *)capacity(parents * cols, 8),
                (double *)capacity(most, 8),           (int32_t *)capacity(most, 4),
                (int32_t *)capacity(most, 4),          0};
    int32_t k;
    gpuopt_status status;
    desc.method = GPUOPT_METHOD_REVISED;
    desc.algorithm = GPUOPT_ALGORITHM_DUAL;
    status = gpuopt_simplex_get_basis(root, GPUOPT_HOST, f.basis);
    if (!status) status = gpuopt_simplex_create(cpu->context, &desc, NULL, &lp);
    if (!status) status = gpuopt_simplex_set_basis(lp, GPUOPT_HOST, f.basis);
    if (!status) status = make_family(lp, m, o, &f);
    gpuopt_simplex_destroy(lp);
    f.list.count = (int32_t)o->parents, f.list.basis = f.basis, f.list.lb = f.lb, f.list.ub = f.ub;
    if (status) failed(on, model, "making parents", status);
    else if (f.count > 0) {
        several = run_family(on, model, root, o, &f, w, 0);
        for (k = 0; k < f.count; k++) f.col[k] = w->col[k % w->count], f.value[k] = x[f.col[k]];
        one = run_family(on, model, root, o, &f, w, 1);
        printf("  a child of %d parents takes %.2f times as long as one of the root\n", (int)o->parents, several / one);
    }
    free(f.basis), free(f.lb), free(f.ub), free(f.value), free(f.root), free(f.col);
    return several > 0 && one > 0 ? 0 : -1;
}

static int measure(const machine *on, const machine *cpu, const char *model, const mip *m, const options *o) {
    const size_t most = (size_t)o->copies, cols = (size_t)m->columns.cols;
    work w = {0,
              (int32_t *)capacity(most, 4),
              (int32_t *)capacity(most, 4),
              (int32_t *)capacity(most, 4),
              (double *)capacity(most, 8),
              (double *)capacity(most, 8)};
    double *x = (double *)capacity(cols, sizeof *x);
    gpuopt_simplex *root = solve_root(on, model, m, o);
    int result = root ? find_fractional(on, model, root, m, o->copies, &w, x) : -1;
    if (result == 0 && w.count == 0) printf("  no column is fractional\n");
    else if (result == 0) {
        result = run_batch(on, model, root, o, &w, w.count, 0, m, x);
        if (result == 0 && o->check > 0) result = check(on, cpu, model, root, m, o, &w, x);
        if (result == 0 && w.count > 12) result = run_batch(on, model, root, o, &w, 12, 0, m, x);
        if (result == 0) result = run_batch(on, model, root, o, &w, 1, 1, m, x);
        if (result == 0 && o->parents > 0) result = measure_parents(on, cpu, model, root, m, o, &w, x);
    }
    gpuopt_simplex_destroy(root);
    free(w.col), free(w.outcome), free(w.iterations), free(w.objective), free(w.bound), free(x);
    return result;
}

/* ---- Command line ---- */

static int usage(void) {
    fprintf(
        stderr,
        "usage: simplex_children_bench MODEL... [--backend LIST] [--limit N] [--capacity N] [--copies N] [--repeat N] "
        "[--check N] [--bases FOLDER] [--parents N]\n");
    return EXIT_BAD_INPUT;
}

int main(int argc, char **argv) {
    options o = {"cpu", NULL, 1000, 0, 1000, 3, 0, 0};
    machine machines[MOST_MACHINES], cpu[MOST_MACHINES];
    char name[MOST_MACHINES][NAME], name_of_cpu[MOST_MACHINES][NAME], error[512];
    int k, n, count, models = 0, result = 0;
    for (k = 1; k < argc; k++) {
        const char *word = argv[k], *value = k + 1 < argc ? argv[k + 1] : "";
        int good = 1;
        if (strncmp(word, "--", 2) != 0) {
            argv[models++] = argv[k]; /* those before k have been read */
            continue;
        }
        k++;
        if (strcmp(word, "--backend") == 0) o.backend = value;
        else if (strcmp(word, "--bases") == 0) o.bases = value;
        else if (strcmp(word, "--limit") == 0) good = whole_number(value, 65536, &o.limit);
        else if (strcmp(word, "--capacity") == 0) good = whole_number(value, 65536, &o.capacity);
        else if (strcmp(word, "--copies") == 0) good = whole_number(value, MOST_COPIES, &o.copies);
        else if (strcmp(word, "--repeat") == 0) good = whole_number(value, MOST_REPEATS, &o.repeat);
        else if (strcmp(word, "--parents") == 0) good = whole_number(value, MOST_COPIES / 2, &o.parents);
        else if (strcmp(word, "--check") == 0) good = whole_number(value, MOST_COPIES, &o.check);
        else good = 0;
        if (!good) return usage();
    }
    if (models == 0 || o.copies < 2 || o.copies < 2 * o.parents) return usage();
    if (open_machines("simplex_children_bench", "cpu", cpu, name_of_cpu) < 0) return EXIT_FAILED;
    count = open_machines("simplex_children_bench", o.backend, machines, name);
    for (k = 0; k < models && count > 0; k++) {
        mip m;
        if (mip_load(argv[k], &m, error, sizeof error) || mip_columns(&m)) {
            fprintf(stderr, "%s: %s\n", argv[k], error);
            result = EXIT_BAD_INPUT;
            continue;
        }
        for (n = 0; n < count; n++)
            if (measure(&machines[n], cpu, argv[k], &m, &o)) result = EXIT_FAILED;
        mip_free(&m);
    }
    if (count > 0) close_machines(machines, count);
    close_machines(cpu, 1);
    return finish_output(count > 0 ? result : EXIT_FAILED);
}
