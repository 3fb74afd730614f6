/* SPDX-License-Identifier: MIT
 *
 * Several linear programs at once, of very different sizes: handles of one context with alternating iterations, and
 * contexts of several threads. Each must reach the optimum that CLP finds for it alone.
 */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>

#include "tests/simplex/answer.h"
#include "tests/simplex/clp.h"

typedef struct program {
    mip model;
    double optimum;
} program;

/* max c'x with A x <= b, all positive: its optimum is finite, and 0 is feasible. */
static program packing(uint64_t seed, int32_t rows, int32_t cols) {
    double *a = malloc(sizeof *a * (size_t)rows * (size_t)cols), *cost = malloc(sizeof *cost * (size_t)cols);
    double *rhs = malloc(sizeof *rhs * (size_t)rows);
    program p;
    int32_t k;
    for (k = 0; k < rows * cols; k++) a[k] = (double)test_random_int(&seed, 1, 9);
    for (k = 0; k < cols; k++) cost[k] = (double)test_random_int(&seed, 1, 99);
    for (k = 0; k < rows; k++) rhs[k] = (double)test_random_int(&seed, cols, 2 * cols);
    p.model = model_of(rows, cols, a, cost, NULL, rhs, NULL, NULL);
    p.model.maximize = 1;
    assert_int_equal(clp_solve(&p.model, &p.optimum), GPUOPT_OPTIMAL);
    free(a);
    free(cost);
    free(rhs);
    return p;
}

/* NULL if all went well. Thread-safe, as cmocka's assertions are not. */
static const char *iterate_all(gpuopt_context *context, const program *const *programs, int count,
                               gpuopt_simplex_method method) {
    gpuopt_simplex *simplex[8] = {NULL};
    const char *fault = NULL;
    int k, open = count;
    for (k = 0; k < count && !fault; k++) {
        gpuopt_simplex_desc desc = tableau_desc(&programs[k]->model);
        desc.method = method;
        if (gpuopt_simplex_create(context, &desc, NULL, &simplex[k])) fault = "create";
    }
    while (open > 0 && !fault) {
        for (k = open = 0; k < count && !fault; k++) {
            gpuopt_simplex_info info;
            gpuopt_desc_init(&info, sizeof info);
            if (gpuopt_simplex_iterate(simplex[k], 17, &info)) fault = "iterate";
            else if (info.outcome == GPUOPT_MORE) open++;
            else if (info.outcome != GPUOPT_OPTIMAL) fault = "the outcome";
            else if (!(fabs(info.objective - programs[k]->optimum) <= 1e-8 * fabs(programs[k]->optimum)))
                fault = "the optimum";
        }
    }
    for (k = 0; k < count; k++) gpuopt_simplex_destroy(simplex[k]);
    return fault;
}

static const gpuopt_simplex_method methods[] = {GPUOPT_METHOD_TABLEAU, GPUOPT_METHOD_REVISED};

/* Columns. The emulated GPU is slow, and has three multiprocessors' shared memory. */
static int32_t many(int32_t columns) { return test_few() ? columns / 20 : columns; }

static void sizes_in_any_order(void **state) {
    static const int orders[][4] = {{0, 1, 2, 3}, {3, 2, 1, 0}};
    program p[] = {packing(1, 64, many(17000)), packing(2, 4, 4), packing(3, 150, 100), packing(4, 1, many(900))};
    gpuopt_context *context = test_context(NULL);
    size_t order, method;
    int k;
    (void)state;
    for (order = 0; order < sizeof orders / sizeof *orders; order++)
        for (method = 0; method < 2; method++) {
            const program *chosen[4];
            const char *fault;
            for (k = 0; k < 4; k++) chosen[k] = &p[orders[order][k]];
            fault = iterate_all(context, chosen, 4, methods[method]);
            if (fault) fail_msg("order %d, method %d: %s", (int)order, (int)method, fault);
        }
    gpuopt_context_destroy(context);
    for (k = 0; k < 4; k++) mip_free(&p[k].model);
}

typedef struct worker {
    pthread_t thread;
    gpuopt_context *context;
    const program *programs;
    int first;
    const char *fault;
} worker;

static void *work(void *argument) {
    worker *w = (worker *)argument;
    int k;
    for (k = 0; k < test_times(5, 5) && !w->fault; k++) {
        const program *two[2] = {&w->programs[(w->first + k) % 6], &w->programs[(w->first + 5 * k + 1) % 6]};
        w->fault = iterate_all(w->context, two, 2, methods[(w->first + k) % 2]);
    }
    return NULL;
}

static void contexts_of_several_threads(void **state) {
    program p[] = {packing(5, 32, many(6000)), packing(6, 5, 3),    packing(7, 80, 150),
                   packing(8, 1, many(700)),   packing(9, 120, 40), packing(10, 20, many(1500))};
    worker workers[8];
    int count, k;
    (void)state;
    for (count = 2; count <= 8; count *= 2) {
        for (k = 0; k < count; k++) {
            workers[k].context = test_context(NULL);
            workers[k].programs = p;
            workers[k].first = k;
            workers[k].fault = NULL;
        }
        for (k = 0; k < count; k++) assert_int_equal(pthread_create(&workers[k].thread, NULL, work, &workers[k]), 0);
        for (k = 0; k < count; k++) assert_int_equal(pthread_join(workers[k].thread, NULL), 0);
        for (k = 0; k < count; k++) {
            if (workers[k].fault) fail_msg("thread %d of %d: %s", k, count, workers[k].fault);
            gpuopt_context_destroy(workers[k].context);
        }
    }
    for (k = 0; k < 6; k++) mip_free(&p[k].model);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(sizes_in_any_order),
    cmocka_unit_test(contexts_of_several_threads),
};
TEST_MAIN(tests)
