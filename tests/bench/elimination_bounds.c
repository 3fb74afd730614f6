/* SPDX-License-Identifier: MIT
 *
 * Look-ups of bounds for many partial assignments at once: the table `bounds` of elimination_bench.
 */
#include <stdlib.h>
#include <string.h>
#ifdef TEST_WITH_CUDA
#include <cuda_runtime_api.h>
#endif

#include "gpuopt/search.h"
#include "examples/io/graphical.h"
#include "tests/bench/elimination_bench.h"
#include "tests/support/support.h"

/* The goal: look-ups a second on an H200, a look-up being the bound of one value for one partial assignment. */
static const double goal = 1e8;
enum { ASSIGNMENTS = 1 << 18 };

static const struct looked_up {
    const char *model;
    int32_t z;
} looked_up[] = {
    {"spot5/42b.wcsp", 10}, {"spot5/408b.wcsp", 10}, {"celar/CELAR6-SUB0.wcsp", 4}, {"random:60:4:0.08:1", 9}};

typedef struct queries {
    gpuopt_elimination *elimination;
    const graphical_model *model;
    int32_t *value;
    int64_t *bound;        /* [ASSIGNMENTS][most values] */
    int32_t *device_value; /* NULL: no device */
    int64_t *device_bound;
} queries;

/* Seconds of a look-up; negative: it failed. */
static double look_up(const queries *q, gpuopt_memory_space where, int32_t variable, int increase) {
    const double start = now();
    const int device = where == GPUOPT_DEVICE;
    const gpuopt_status status =
        gpuopt_elimination_get_bounds(q->elimination, where, 0, variable, increase, ASSIGNMENTS,
                                      device ? q->device_value : q->value, device ? q->device_bound : q->bound, NULL);
    return status ? -1 : now() - start;
}

/* The copy in host memory of the bounds. */
static int fetch(const queries *q, gpuopt_memory_space where, int32_t values) {
#ifdef TEST_WITH_CUDA
    if (where == GPUOPT_DEVICE)
        return cudaMemcpy(q->bound, q->device_bound, sizeof *q->bound * ASSIGNMENTS * (size_t)values,
                          cudaMemcpyDeviceToHost) != cudaSuccess;
#endif
    (void)q;
    (void)where;
    (void)values;
    return 0;
}

/* Whether each bound equals the bound of the previous variable plus its increase. */
static int add_up(const queries *q, gpuopt_memory_space where, int32_t variable, int32_t above) {
    const int32_t *domain = q->model->domain;
    const size_t cells = ASSIGNMENTS * (size_t)domain[variable];
    int64_t *before = malloc(sizeof *before * ASSIGNMENTS), *rise = malloc(sizeof *rise * cells), i, v;
    int good = before && rise && look_up(q, where, above, 0) >= 0 && !fetch(q, where, domain[above]);
    for (i = 0; good && i < ASSIGNMENTS; i++)
        before[i] = q->bound[i * domain[above] + q->value[i * q->model->variables + above]];
    good = good && look_up(q, where, variable, 1) >= 0 && !fetch(q, where, domain[variable]);
    if (good) memcpy(rise, q->bound, sizeof *rise * cells);
    good = good && look_up(q, where, variable, 0) >= 0 && !fetch(q, where, domain[variable]);
    for (i = 0; good && i < ASSIGNMENTS; i++)
        for (v = 0; good && v < domain[variable]; v++) {
            const int64_t bound = q->bound[i * domain[variable] + v], more = rise[i * domain[variable] + v];
            good = before[i] == INT64_MAX || more == INT64_MAX ? bound == INT64_MAX
                                                               : bound == INT64_MAX || bound == before[i] + more;
        }
    free(before);
    free(rise);
    return good;
}

static int bounds_row(const queries *q, const machine *on, const options *o, const struct looked_up *what,
                      gpuopt_memory_space where, int32_t variable, int32_t above) {
    const int32_t values = q->model->domain[variable];
    int increase, k, bad = !add_up(q, where, variable, above);
    printf("| %s | %d | %s, %s | %d |", what->model, (int)what->z, on->name, where == GPUOPT_HOST ? "host" : "device",
           (int)values);
    for (increase = 0; increase < 2; increase++) {
        double seconds[MOST_REPEATS], middle;
        for (k = 0; k < (int)o->repeat; k++) {
            seconds[k] = look_up(q, where, variable, increase);
            bad |= seconds[k] < 0;
        }
        middle = median(seconds, (int)o->repeat);
        printf(" %.3g | %.3g |", ASSIGNMENTS / middle, ASSIGNMENTS * (double)values / middle);
        if (increase && on->cuda) printf(" %s |", ASSIGNMENTS * (double)values / middle >= goal ? "met" : "**missed**");
        else if (increase) printf(" |");
    }
    printf(" %s |\n", bad ? "WRONG" : "ok");
    fflush(stdout);
    return bad ? -1 : 0;
}

static int bounds_rows(const graphical_model *m, const machine *on, const options *o, const struct looked_up *what) {
    gpuopt_elimination_desc desc = GPUOPT_INIT(gpuopt_elimination_desc);
    gpuopt_elimination_order_search search = GPUOPT_INIT(gpuopt_elimination_order_search);
    queries q = {NULL, m, NULL, NULL, NULL, NULL};
    const size_t cells = ASSIGNMENTS * (size_t)m->max_domain, rows = ASSIGNMENTS * (size_t)m->variables;
    int32_t *order = malloc(sizeof *order * (size_t)m->variables), middle = m->variables / 2, k;
    uint64_t seed = 1;
    gpuopt_status status;
    int bad = 0;
    desc.variables = m->variables;
    desc.domain = m->domain;
    desc.functions = m->functions;
    desc.function = m->function;
    desc.top = m->top;
    desc.policy = GPUOPT_POLICY_MINI_BUCKET;
    desc.z = what->z;
    desc.order_search = &search;
    search.heuristic = GPUOPT_HEURISTIC_MIN_FILL;
    q.value = malloc(sizeof *q.value * rows);
    q.bound = malloc(sizeof *q.bound * cells);
    if (!order || !q.value || !q.bound) return -1;
    for (size_t i = 0; i < rows; i++)
        q.value[i] = (int32_t)test_random_int(&seed, 0, m->domain[i % (size_t)m->variables] - 1);
    status = gpuopt_elimination_order(on->context, &desc, order, NULL, NULL);
    desc.order = order;
    desc.order_count = m->variables;
    if (!status) status = gpuopt_elimination_create(on->context, &desc, NULL, &q.elimination);
    if (!status) status = gpuopt_elimination_step(q.elimination, INT32_MAX, NULL);
    if (status) bad = failed(on, what->model, "an elimination", status);
    for (k = middle; k > 0 && m->domain[order[middle]] < m->max_domain; k--) middle = k; /* one of the largest */
    if (!bad) bad = bounds_row(&q, on, o, what, GPUOPT_HOST, order[middle], order[middle + 1]);
#ifdef TEST_WITH_CUDA
    if (!bad && on->cuda) {
        bad = cudaMalloc((void **)&q.device_value, sizeof *q.value * rows) != cudaSuccess ||
              cudaMalloc((void **)&q.device_bound, sizeof *q.bound * cells) != cudaSuccess ||
              cudaMemcpy(q.device_value, q.value, sizeof *q.value * rows, cudaMemcpyHostToDevice) != cudaSuccess ||
              bounds_row(&q, on, o, what, GPUOPT_DEVICE, order[middle], order[middle + 1]);
        cudaFree(q.device_value);
        cudaFree(q.device_bound);
    }
#endif
    gpuopt_elimination_destroy(q.elimination);
    free(order);
    free(q.value);
    free(q.bound);
    return bad ? -1 : 0;
}

int bounds_table(const machine *machines, int count, const options *o) {
    const char *data = getenv("GPUOPT_TEST_DATA");
    int which, k, bad = 0;
    printf("\nBounds, %d random partial assignments a call: how many of these a second, and how many bounds, one for "
           "each value of a variable in the middle of the order; whole, and what they rise by. Goal: %g of the latter "
           "on a GPU.\n\n"
           "| model | z | backend, arrays | values | whole: assignments | bounds | rise: assignments | bounds | goal | "
           "answer |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
           ASSIGNMENTS, goal);
    for (which = 0; which < (int)(sizeof looked_up / sizeof *looked_up); which++) {
        const char *model = looked_up[which].model;
        char path[2 * NAME], error[512];
        graphical_model m;
        int generated = strncmp(model, "random:", 7) == 0;
        snprintf(path, sizeof path, "%s%s%s", generated ? "" : data ? data : ".", generated ? "" : "/wcsp/", model);
        if (graphical_load(path, 0, &m, error, sizeof error)) {
            fprintf(stderr, "%s\n", error);
            bad = 1;
            continue;
        }
        for (k = 0; k < count; k++) bad |= bounds_rows(&m, &machines[k], o, &looked_up[which]);
        graphical_free(&m);
    }
    return bad ? -1 : 0;
}
