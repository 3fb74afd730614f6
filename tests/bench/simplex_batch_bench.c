/* SPDX-License-Identifier: MIT
 *
 * Times many small linear programs of one shape, from create to their answers in host memory, and CLP for comparison:
 *     simplex_batch_bench [LIST] [KIND:ROWS:COLS:COPIES ...] [--repeat N] [--clp N] [--write FILE]
 * LIST: cpu, cpu:THREADS, cuda, separated by commas (cpu). KIND: packing (max c'x, A x <= b, all positive, dense; the
 * slack basis is feasible), mixed (dense, signs mixed, equations, ranges and boxes, feasible by construction), sparse
 * (as mixed, with one pattern of a fifth of the entries). Without shapes: the shapes of `standard` below. repeat: runs,
 * after one that is not counted (3); medians count. clp: this many programs, evenly spaced, are solved by CLP's dual
 * method on one core, too (200). write: the programs of the last shape, for highs_batch.py.
 * A line for each backend:
 *     create, load, iterate, get   seconds; load from host memory, get: outcome, objective, x and duals
 *     resident                     (cuda) load from device memory, and iterate
 *     total                        create to get, and programs a second
 *     pivots                       of all of them together, and how many had which outcome
 * and then, with CLP, its seconds for as many programs, and the largest difference of an objective, relative to max(1,
 * |objective|), and how many outcomes differ. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <coin/Clp_C_Interface.h>
#ifdef TEST_WITH_CUDA
#include <cuda_runtime_api.h>
#endif

#include "gpuopt/batch.h"
#include "tests/bench/bench.h"

static const char *const standard[] = {"packing:50:100:10000", "mixed:50:100:10000",   "sparse:50:100:10000",
                                       "mixed:20:30:50000",    "packing:128:180:2000", "mixed:256:256:500",
                                       "mixed:512:512:64"};

typedef struct options {
    const char *backends, *write;
    int64_t repeat, clp;
} options;

/* The programs of a shape, and their results. */
typedef struct work {
    const char *name;
    int32_t rows, cols, copies;
    int64_t nonzeros;
    int64_t *start;
    int32_t *index;
    double *value, *cost, *lhs, *rhs, *lb, *ub;
    int maximize;
    double *objective, *x, *dual;
    int32_t *outcome;
} work;

static double draw(uint64_t *seed) {
    uint64_t z = (*seed += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static void *allocate(int64_t count, size_t size) {
    void *memory = calloc((size_t)count + 1, size);
    if (memory) return memory;
    fprintf(stderr, "simplex_batch_bench: out of memory\n");
    exit(EXIT_FAILED);
}

/* ---- Programs ---- */

static void draw_packing(work *w, int32_t k, uint64_t *seed) {
    double *a = w->value + k * w->nonzeros;
    int64_t e;
    int32_t i, j;
    for (e = 0; e < w->nonzeros; e++) a[e] = draw(seed);
    for (i = 0; i < w->rows; i++) {
        w->lhs[(int64_t)k * w->rows + i] = -HUGE_VAL;
        w->rhs[(int64_t)k * w->rows + i] = 0.25 * w->cols * (1 + draw(seed));
    }
    for (j = 0; j < w->cols; j++) {
        w->cost[(int64_t)k * w->cols + j] = 0.5 + draw(seed);
        w->ub[(int64_t)k * w->cols + j] = HUGE_VAL;
    }
}

static void draw_mixed(work *w, int32_t k, uint64_t *seed, double *x) {
    double *a = w->value + k * w->nonzeros;
    int64_t e;
    int32_t i, j;
    for (j = 0; j < w->cols; j++) {
        const int boxed = draw(seed) < 0.5;
        x[j] = boxed ? draw(seed) : 2 * draw(seed);
        w->ub[(int64_t)k * w->cols + j] = boxed ? 1 : 10;
        w->cost[(int64_t)k * w->cols + j] = draw(seed) - 0.4;
    }
    for (i = 0; i < w->rows; i++) {
        const double kind = draw(seed);
        double activity = 0;
        for (e = w->start[i]; e < w->start[i + 1]; e++) {
            a[e] = 2 * draw(seed) - 1;
            activity += a[e] * x[w->index[e]];
        }
        w->lhs[(int64_t)k * w->rows + i] = kind < 0.4 ? -HUGE_VAL : kind < 0.6 ? activity : activity - draw(seed);
        w->rhs[(int64_t)k * w->rows + i] = kind < 0.4   ? activity + draw(seed)
                                           : kind < 0.6 ? activity
                                                        : activity + draw(seed);
    }
}

static work draw_work(const char *name, const char *kind, int32_t rows, int32_t cols, int32_t copies) {
    const int sparse = strcmp(kind, "sparse") == 0, packing = strcmp(kind, "packing") == 0;
    uint64_t seed = 1;
    double *x = (double *)allocate(cols, sizeof(double));
    int32_t i, j, k;
    work w;
    memset(&w, 0, sizeof w);
    w.name = name;
    w.rows = rows, w.cols = cols, w.copies = copies;
    w.maximize = packing;
    w.start = (int64_t *)allocate(rows + 1, sizeof *w.start);
    w.index = (int32_t *)allocate((int64_t)rows * cols, sizeof *w.index);
    for (i = 0; i < rows; i++) {
        for (j = 0; j < cols; j++)
            if (!sparse || draw(&seed) < 0.2) w.index[w.nonzeros++] = j;
        w.start[i + 1] = w.nonzeros;
    }
    w.value = (double *)allocate(copies * w.nonzeros, sizeof(double));
    w.cost = (double *)allocate((int64_t)copies * cols, sizeof(double));
    w.lb = (double *)allocate(cols, sizeof(double));
    w.ub = (double *)allocate((int64_t)copies * cols, sizeof(double));
    w.lhs = (double *)allocate((int64_t)copies * rows, sizeof(double));
    w.rhs = (double *)allocate((int64_t)copies * rows, sizeof(double));
    w.objective = (double *)allocate(copies, sizeof(double));
    w.outcome = (int32_t *)allocate(copies, sizeof *w.outcome);
    w.x = (double *)allocate((int64_t)copies * cols, sizeof(double));
    w.dual = (double *)allocate((int64_t)copies * rows, sizeof(double));
    for (k = 0; k < copies; k++) {
        if (packing) draw_packing(&w, k, &seed);
        else draw_mixed(&w, k, &seed, x);
    }
    free(x);
    return w;
}

static void free_work(work *w) {
    free(w->start), free(w->index), free(w->value), free(w->cost), free(w->lb), free(w->ub), free(w->lhs);
    free(w->rhs), free(w->objective), free(w->outcome), free(w->x), free(w->dual);
}

/* int32 rows, cols, copies, maximize; int64 nonzeros; start, index, value, cost, lb (one for all), ub, lhs, rhs. */
static int write_work(const work *w, const char *name) {
    const int32_t head[] = {w->rows, w->cols, w->copies, w->maximize};
    const size_t rows = (size_t)w->rows, cols = (size_t)w->cols, copies = (size_t)w->copies,
                 nonzeros = (size_t)w->nonzeros;
    FILE *file = fopen(name, "wb");
    int good = file && fwrite(head, sizeof *head, 4, file) == 4 && fwrite(&w->nonzeros, 8, 1, file) == 1 &&
               fwrite(w->start, 8, rows + 1, file) == rows + 1 && fwrite(w->index, 4, nonzeros, file) == nonzeros &&
               fwrite(w->value, 8, copies * nonzeros, file) == copies * nonzeros &&
               fwrite(w->cost, 8, copies * cols, file) == copies * cols && fwrite(w->lb, 8, cols, file) == cols &&
               fwrite(w->ub, 8, copies * cols, file) == copies * cols &&
               fwrite(w->lhs, 8, copies * rows, file) == copies * rows &&
               fwrite(w->rhs, 8, copies * rows, file) == copies * rows;
    if (file && fclose(file)) good = 0;
    if (!good) fprintf(stderr, "simplex_batch_bench: %s cannot be written\n", name);
    return good ? 0 : -1;
}

/* ---- The library ---- */

static gpuopt_simplex_programs programs_of(const work *w) {
    gpuopt_simplex_programs p = GPUOPT_INIT(gpuopt_simplex_programs);
    p.count = w->copies;
    p.value = w->value, p.cost = w->cost, p.lhs = w->lhs, p.rhs = w->rhs, p.lb = w->lb, p.ub = w->ub;
    return p;
}

/* Seconds of loading from device memory and iterating; 0: not measured. */
static double run_resident(const machine *on, const work *w, gpuopt_simplex_batch *batch) {
    double seconds = 0;
#ifdef TEST_WITH_CUDA
    gpuopt_simplex_programs p = programs_of(w);
    const double **const array[] = {&p.value, &p.cost, &p.lhs, &p.rhs, &p.lb, &p.ub};
    const int64_t length[] = {w->copies * w->nonzeros,
                              (int64_t)w->copies * w->cols,
                              (int64_t)w->copies * w->rows,
                              (int64_t)w->copies * w->rows,
                              w->cols,
                              (int64_t)w->copies * w->cols};
    void *block[6] = {NULL};
    int k, good = on->cuda;
    for (k = 0; k < 6 && good; k++) {
        good = !cudaMalloc(&block[k], sizeof(double) * (size_t)length[k] + 1) &&
               !cudaMemcpy(block[k], *array[k], sizeof(double) * (size_t)length[k], cudaMemcpyHostToDevice);
        *array[k] = (const double *)block[k];
    }
    if (good) {
        const double begin = now();
        good = !gpuopt_simplex_batch_load(batch, GPUOPT_DEVICE, &p) &&
               !gpuopt_simplex_batch_iterate(batch, INT64_MAX, NULL);
        if (good) seconds = now() - begin;
    }
    for (k = 0; k < 6; k++)
        if (block[k]) cudaFree(block[k]);
#else
    (void)on, (void)w, (void)batch;
#endif
    return seconds;
}

static int run(const machine *on, work *w, const options *o) {
    gpuopt_simplex_batch_desc desc = GPUOPT_INIT(gpuopt_simplex_batch_desc);
    gpuopt_simplex_batch_info info = GPUOPT_INIT(gpuopt_simplex_batch_info);
    gpuopt_simplex_batch_report report = GPUOPT_INIT(gpuopt_simplex_batch_report);
    const gpuopt_simplex_programs p = programs_of(w);
    const int dense = w->nonzeros == (int64_t)w->rows * w->cols;
    double taken[5][MOST_REPEATS], resident[MOST_REPEATS], total;
    int k, part;
    desc.batch_size = w->copies;
    desc.rows = w->rows, desc.cols = w->cols;
    if (!dense) desc.start = w->start, desc.index = w->index;
    desc.shared = GPUOPT_SHARED_LB;
    desc.maximize = w->maximize;
    report.outcome = w->outcome, report.objective = w->objective, report.x = w->x, report.dual = w->dual;
    for (k = -1; k < o->repeat; k++) {
        gpuopt_simplex_batch *batch = NULL;
        double at[5];
        gpuopt_status status;
        at[0] = now();
        status = gpuopt_simplex_batch_create(on->context, &desc, NULL, &batch);
        at[1] = now();
        if (!status) status = gpuopt_simplex_batch_load(batch, GPUOPT_HOST, &p);
        at[2] = now();
        if (!status) status = gpuopt_simplex_batch_iterate(batch, INT64_MAX, &info);
        at[3] = now();
        if (!status) status = gpuopt_simplex_batch_get(batch, GPUOPT_HOST, 0, w->copies, &report);
        at[4] = now();
        if (status) {
            gpuopt_simplex_batch_destroy(batch);
            return failed(on, w->name, "batch", status);
        }
        for (part = 0; part < 4 && k >= 0; part++) taken[part][k] = at[part + 1] - at[part];
        if (k >= 0) taken[4][k] = at[4] - at[0];
        total = run_resident(on, w, batch);
        if (k >= 0) resident[k] = total;
        gpuopt_simplex_batch_destroy(batch);
    }
    total = median(taken[4], (int)o->repeat);
    printf("%s: create %.4f, load %.4f, iterate %.4f, get %.4f, resident %.4f, total %.4f s, %.0f programs/s, %lld "
           "pivots; %d optimal, %d infeasible, %d unbounded, %d imprecise\n",
           on->name, median(taken[0], (int)o->repeat), median(taken[1], (int)o->repeat),
           median(taken[2], (int)o->repeat), median(taken[3], (int)o->repeat), median(resident, (int)o->repeat), total,
           w->copies / total, (long long)info.iterations, (int)info.optimal, (int)info.infeasible, (int)info.unbounded,
           (int)info.imprecise);
    return 0;
}

/* ---- CLP ---- */

/* Program k by rows, as columns; start has cols + 1 places. */
static void to_columns(const work *w, int32_t k, int *start, int *row, double *value) {
    int32_t i, j;
    int64_t e;
    memset(start, 0, sizeof *start * ((size_t)w->cols + 1));
    for (e = 0; e < w->nonzeros; e++) start[w->index[e] + 1]++;
    for (j = 0; j < w->cols; j++) start[j + 1] += start[j];
    for (i = 0; i < w->rows; i++)
        for (e = w->start[i]; e < w->start[i + 1]; e++) {
            row[start[w->index[e]]] = i;
            value[start[w->index[e]]++] = w->value[k * w->nonzeros + e];
        }
    for (j = w->cols; j > 0; j--) start[j] = start[j - 1];
    start[0] = 0;
}

static void run_clp(const work *w, const options *o) {
    const int32_t some = o->clp < w->copies ? (int32_t)o->clp : w->copies;
    int *start = (int *)allocate(w->cols + 1, sizeof *start), *row = (int *)allocate(w->nonzeros, sizeof *row);
    double *value = (double *)allocate(w->nonzeros, sizeof *value), seconds = 0, most = 0;
    int32_t n, differ = 0;
    int64_t iterations = 0;
    for (n = 0; n < some; n++) {
        const int32_t k = (int32_t)((int64_t)n * w->copies / some);
        Clp_Simplex *solver = Clp_newModel();
        double begin, objective;
        int status;
        to_columns(w, k, start, row, value);
        Clp_setLogLevel(solver, 0);
        begin = now();
        Clp_loadProblem(solver, w->cols, w->rows, start, row, value, w->lb, w->ub + (int64_t)k * w->cols,
                        w->cost + (int64_t)k * w->cols, w->lhs + (int64_t)k * w->rows, w->rhs + (int64_t)k * w->rows);
        Clp_setOptimizationDirection(solver, w->maximize ? -1 : 1);
        Clp_dual(solver, 0);
        seconds += now() - begin;
        status = Clp_status(solver);
        objective = Clp_getObjValue(solver);
        iterations += Clp_numberIterations(solver);
        if ((status == 0) != (w->outcome[k] == GPUOPT_OPTIMAL)) differ++;
        else if (status == 0) most = fmax(most, fabs(objective - w->objective[k]) / fmax(1, fabs(objective)));
        Clp_deleteModel(solver);
    }
    if (some > 0)
        printf("CLP, one core: %.3f s for %d, so %.3f s for all, %.0f iterations each; objectives differ by %.1e, %d "
               "outcomes differ\n",
               seconds, (int)some, seconds / some * w->copies, (double)iterations / some, most, (int)differ);
    free(start), free(row), free(value);
}

/* ---- The command line ---- */

static int run_shape(const machine *machines, int count, const char *name, const options *o) {
    char kind[16];
    int rows, cols, copies, k, result = 0;
    work w;
    if (sscanf(name, "%15[a-z]:%d:%d:%d", kind, &rows, &cols, &copies) != 4 || rows < 1 || cols < 1 || copies < 1 ||
        (strcmp(kind, "packing") != 0 && strcmp(kind, "mixed") != 0 && strcmp(kind, "sparse") != 0)) {
        fprintf(stderr, "simplex_batch_bench: %s is no KIND:ROWS:COLS:COPIES\n", name);
        return -1;
    }
    w = draw_work(name, kind, rows, cols, copies);
    printf("== %s, %lld entries each\n", name, (long long)w.nonzeros);
    for (k = 0; k < count && !result; k++) result = run(&machines[k], &w, o);
    if (!result) run_clp(&w, o);
    if (!result && o->write) result = write_work(&w, o->write);
    free_work(&w);
    fflush(stdout);
    return result;
}

int main(int argc, char **argv) {
    machine machines[MOST_MACHINES];
    char name[MOST_MACHINES][NAME];
    options o = {"cpu", NULL, 3, 200};
    const char *shape[64];
    int shapes = 0, k, count, result = 0;
    for (k = 1; k < argc; k++) {
        const int more = k + 1 < argc;
        if (strcmp(argv[k], "--repeat") == 0 && more && whole_number(argv[k + 1], MOST_REPEATS, &o.repeat)) k++;
        else if (strcmp(argv[k], "--clp") == 0 && more && strcmp(argv[k + 1], "0") == 0) o.clp = 0, k++;
        else if (strcmp(argv[k], "--clp") == 0 && more && whole_number(argv[k + 1], 65536, &o.clp)) k++;
        else if (strcmp(argv[k], "--write") == 0 && more) o.write = argv[++k];
        else if (strstr(argv[k], "cpu") == argv[k] || strcmp(argv[k], "cuda") == 0) o.backends = argv[k];
        else if (argv[k][0] != '-' && shapes < 64) shape[shapes++] = argv[k];
        else {
            fprintf(stderr, "usage: simplex_batch_bench [LIST] [KIND:ROWS:COLS:COPIES ...] [--repeat N] [--clp N] "
                            "[--write FILE]\n");
            return EXIT_BAD_INPUT;
        }
    }
    count = open_machines("simplex_batch_bench", o.backends, machines, name);
    if (count < 0) return EXIT_FAILED;
    for (k = 0; k < shapes && !result; k++) result = run_shape(machines, count, shape[k], &o);
    for (k = 0; shapes == 0 && k < (int)(sizeof standard / sizeof *standard) && !result; k++)
        result = run_shape(machines, count, standard[k], &o);
    close_machines(machines, count);
    return result ? EXIT_FAILED : finish_output(0);
}
