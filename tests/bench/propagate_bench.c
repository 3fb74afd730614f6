/* SPDX-License-Identifier: MIT
 *
 * Times propagation to the fixpoint on every backend and driver, and single rounds that change nothing.
 *     propagate_bench [--only VARIANT,...] [--threads N] [--repeat N] MODEL...      MODEL: FILE.mps or gen:NAME
 * VARIANT: "cpu", "cuda cooperative", ...: see the table below.
 * Prints a line for each variant. Gnz/s: nonzeros of A times rounds over the time of the call, with or without marking,
 * for comparison with codes that evaluate every row in every round. The median of N handles, each with one call, its
 * first, without their creation. quiet: a full pass that changes nothing; its TB/s: the bytes that it must read (A,
 * sides and bounds once) over its time. create: the first handle, which also loads the kernels, and the median of the
 * later ones. On a GPU also the time of copying the model's unchanged arrays from pageable host memory to the device.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "examples/io/mip.h"
#include "tests/support/backends.h"

#ifdef TEST_WITH_CUDA
#include <cuda_runtime_api.h>
#endif

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void report(void *user, int level, const char *message) {
    (void)user;
    if (level == 0) fprintf(stderr, "gpuopt: %s\n", message);
}

typedef struct variant {
    const char *name;
    const char *backend; /* a name of test_backend() */
    gpuopt_propagator_mode mode;
    gpuopt_propagator_driver driver;
    gpuopt_switch marking;
    gpuopt_propagator_precision precision;
} variant;

static const variant variants[] = {
    {"cpu gauss-seidel", "cpu", GPUOPT_MODE_GAUSS_SEIDEL, GPUOPT_DRIVER_AUTO, GPUOPT_DEFAULT, GPUOPT_PRECISION_FP64},
    {"cpu jacobi", "cpu", GPUOPT_MODE_JACOBI, GPUOPT_DRIVER_AUTO, GPUOPT_DEFAULT, GPUOPT_PRECISION_FP64},
    {"cpu jacobi threads", "cpu-threads", GPUOPT_MODE_JACOBI, GPUOPT_DRIVER_AUTO, GPUOPT_DEFAULT,
     GPUOPT_PRECISION_FP64},
    {"cuda", "cuda", GPUOPT_MODE_JACOBI, GPUOPT_DRIVER_AUTO, GPUOPT_DEFAULT, GPUOPT_PRECISION_FP64},
    {"cuda host", "cuda", GPUOPT_MODE_JACOBI, GPUOPT_DRIVER_HOST, GPUOPT_OFF, GPUOPT_PRECISION_FP64},
    {"cuda graph", "cuda", GPUOPT_MODE_JACOBI, GPUOPT_DRIVER_GRAPH, GPUOPT_OFF, GPUOPT_PRECISION_FP64},
    {"cuda cooperative", "cuda", GPUOPT_MODE_JACOBI, GPUOPT_DRIVER_COOPERATIVE, GPUOPT_OFF, GPUOPT_PRECISION_FP64},
    {"cuda graph marking", "cuda", GPUOPT_MODE_JACOBI, GPUOPT_DRIVER_GRAPH, GPUOPT_ON, GPUOPT_PRECISION_FP64},
    {"cuda fp32", "cuda", GPUOPT_MODE_JACOBI, GPUOPT_DRIVER_AUTO, GPUOPT_OFF, GPUOPT_PRECISION_FP32},
};

/* Whether the name is in the comma-separated list; an empty list contains all names. */
static int listed(const char *name, const char *list) {
    size_t length = strlen(name);
    const char *at = list;
    if (!*list) return 1;
    while ((at = strstr(at, name)) != NULL) {
        if ((at == list || at[-1] == ',') && (at[length] == 0 || at[length] == ',')) return 1;
        at += length;
    }
    return 0;
}

static int holds_in_single(const gpuopt_matrix *a) {
    int64_t k;
    for (k = 0; k < a->start[a->rows]; k++)
        if ((double)(float)a->value[k] != a->value[k]) return 0;
    return 1;
}

/* Seconds for copying the descriptor's arrays to the device, the median of `repeat` times; 0 without a GPU. */
static double copy_time(const gpuopt_propagator_desc *desc, int repeat) {
#ifdef TEST_WITH_CUDA
    const gpuopt_matrix *a = &desc->matrix;
    size_t rows = (size_t)a->rows, cols = (size_t)a->cols, nonzeros = (size_t)a->start[a->rows], used = 0;
    const struct {
        const void *data;
        size_t bytes;
    } array[] = {
        {a->start, 8 * (rows + 1)}, {a->index, 4 * nonzeros}, {a->value, 8 * nonzeros}, {desc->lhs, 8 * rows},
        {desc->rhs, 8 * rows},      {desc->lb, 8 * cols},     {desc->ub, 8 * cols},     {desc->integer, cols},
    };
    enum { ARRAYS = sizeof array / sizeof *array };
    double times[64];
    char *device;
    int k, i;
    for (i = 0; i < ARRAYS; i++) used += (array[i].bytes + 255) & ~(size_t)255;
    if (cudaMalloc((void **)&device, used)) return 0;
    for (k = 0; k < repeat; k++) {
        double start = now();
        for (i = 0, used = 0; i < ARRAYS; used += (array[i].bytes + 255) & ~(size_t)255, i++)
            if (array[i].data) cudaMemcpyAsync(device + used, array[i].data, array[i].bytes, cudaMemcpyHostToDevice, 0);
        cudaStreamSynchronize(0);
        times[k] = now() - start;
    }
    cudaFree(device);
    qsort(times, (size_t)repeat, sizeof *times, ascending);
    return times[repeat / 2];
#else
    (void)desc, (void)repeat;
    return 0;
#endif
}

static void measure(const char *model_name, const mip *model, const variant *v, gpuopt_context *context, int repeat) {
    gpuopt_propagator_desc desc = mip_propagator_desc(model);
    gpuopt_propagator *p = NULL;
    gpuopt_propagator_info info;
    gpuopt_status status = GPUOPT_OK;
    double nonzeros = (double)model->matrix.start[model->matrix.rows], times[65], creates[65], create[2] = {0, 0};
    double quiet, start, made, spent;
    int k, runs = 0, quiet_rounds, is_cuda = strcmp(v->backend, "cuda") == 0;
    size_t real = v->precision == GPUOPT_PRECISION_FP32 ? 4 : 8,
           coefficient = real == 4 || (is_cuda && holds_in_single(&model->matrix)) ? 4 : 8;
    double bytes =
        nonzeros * (double)(coefficient + 4) + 16.0 * model->matrix.rows + 2.0 * (double)real * model->matrix.cols;
    desc.mode = v->mode;
    desc.driver = v->driver;
    desc.marking = v->marking;
    desc.precision = v->precision;
    gpuopt_desc_init(&info, sizeof info);
    /* Each repetition has a separate handle. A handle that has seen the bounds before has settled rows that _set_bounds
     * does not concern, and would have nothing to evaluate. */
    for (k = 0; k <= repeat && !status; k++) {
        gpuopt_propagator_destroy(p);
        p = NULL;
        start = now();
        status = gpuopt_propagator_create(context, &desc, NULL, &p);
        made = now() - start;
        if (k == 0) create[0] = made;
        if (status) break;
        gpuopt_context_wait(context);
        start = now();
        status = gpuopt_propagator_round(p, 1000, &info);
        spent = now() - start;
        if (status) break;
        if (k > 0 || (made + spent) * repeat > 30) { /* the first one loads the kernels, unless one run is enough */
            creates[runs] = made;
            times[runs++] = spent;
        }
        if ((made + spent) * repeat > 30) break;
    }
    if (status) {
        printf("%-28s %-25s %s\n", model_name, v->name, gpuopt_status_string(status));
        gpuopt_propagator_destroy(p);
        return;
    }
    qsort(creates, (size_t)runs, sizeof *creates, ascending);
    create[1] = creates[runs / 2];
    qsort(times, (size_t)runs, sizeof *times, ascending);
    /* Rounds that change nothing, enqueued together. Only without marking, since otherwise they evaluate no rows. */
    quiet_rounds = v->marking == GPUOPT_OFF ? (nonzeros > 1e7 ? 20 : 200) : 0;
    start = now();
    for (int r = 0; r < quiet_rounds; r++) gpuopt_propagator_round(p, 1, NULL);
    gpuopt_context_wait(context);
    quiet = quiet_rounds ? (now() - start) / quiet_rounds : 0;
    printf("%-28s %-25s %5d rounds %-10s %10.3f ms %9.2f us/round %8.3f Gnz/s", model_name, v->name, (int)info.rounds,
           gpuopt_outcome_string(info.outcome), 1e3 * times[runs / 2],
           1e6 * times[runs / 2] / (info.rounds ? info.rounds : 1), nonzeros * info.rounds / times[runs / 2] * 1e-9);
    if (quiet_rounds && info.outcome == GPUOPT_CONVERGED)
        printf("  quiet %9.2f us %7.2f Gnz/s %5.2f TB/s", 1e6 * quiet, nonzeros / quiet * 1e-9, bytes / quiet * 1e-12);
    printf("  create %.3f ms, first %.3f ms", 1e3 * create[1], 1e3 * create[0]);
    if (is_cuda) printf(", copy %.3f ms", 1e3 * copy_time(&desc, repeat));
    printf("\n");
    fflush(stdout);
    gpuopt_propagator_destroy(p);
}

int main(int argc, char **argv) {
    int first = 1, threads = 2, repeat = 5, i;
    const char *only = "";
    size_t v;
    for (; first < argc && argv[first][0] == '-'; first++) {
        if (strcmp(argv[first], "--only") == 0 && first + 1 < argc) only = argv[++first];
        else if (strcmp(argv[first], "--threads") == 0 && first + 1 < argc) threads = atoi(argv[++first]);
        else if (strcmp(argv[first], "--repeat") == 0 && first + 1 < argc) repeat = atoi(argv[++first]);
    }
    if (repeat < 1 || repeat > 64) repeat = 5;
    for (i = first; i < argc; i++) {
        mip model;
        char error[512];
        const char *name = strrchr(argv[i], '/') ? strrchr(argv[i], '/') + 1 : argv[i];
        if (mip_load(argv[i], &model, error, sizeof error)) {
            fprintf(stderr, "%s\n", error);
            return 2;
        }
        printf("%s: %d rows, %d columns, %lld nonzeros\n", name, (int)model.matrix.rows, (int)model.matrix.cols,
               (long long)model.matrix.start[model.matrix.rows]);
        for (v = 0; v < sizeof variants / sizeof *variants; v++) {
            gpuopt_context_desc desc;
            gpuopt_context *context;
            if (!listed(variants[v].name, only)) continue;
            if (!test_backend(variants[v].backend, threads, &desc)) continue; /* built without CUDA */
            desc.log = report;
            if (gpuopt_context_create(&desc, &context)) continue;
            measure(name, &model, &variants[v], context, repeat);
            gpuopt_context_destroy(context);
        }
        mip_free(&model);
    }
    return 0;
}
