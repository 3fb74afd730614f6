/* SPDX-License-Identifier: MIT
 *
 * The search for an order, and the caller: limits in seconds, clocks that fail, and how often the stop hook is called
 * and obeyed.
 */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "tests/elimination/graphs.h"

/* A clock that advances by `tick` seconds at each reading, once goes back at `back_at`, and fails from `fails_at`
 * on. */
static struct {
    int on;
    double tick, now, back_at, fails_at;
} made_up;

static void make_up_clock(double tick, double back_at, double fails_at) {
    made_up.on = 1;
    made_up.now = 1e6;
    made_up.tick = tick;
    made_up.back_at = 1e6 + back_at;
    made_up.fails_at = 1e6 + fails_at;
}

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* The caller: how often its hook was called, and when it requests a stop. A search that does not end by itself is
 * stopped late. */
static struct {
    int asked, stop_at;
    double until; /* a request to stop from then on, too */
    pthread_t thread;
    int foreign;
} caller_asked;

/* The clock given to the library: the machine's, or the simulated one. */
static double clock_of_caller(void *user) {
    (void)user;
    if (!pthread_equal(caller_asked.thread, pthread_self())) caller_asked.foreign = 1;
    if (!made_up.on) return seconds();
    made_up.now += made_up.tick;
    if (made_up.now >= made_up.fails_at) return nan("");
    if (made_up.now >= made_up.back_at) {
        made_up.now -= 3600;
        made_up.back_at = HUGE_VAL;
    }
    return made_up.now;
}

static int stop(void *user) {
    (void)user;
    if (!pthread_equal(caller_asked.thread, pthread_self())) caller_asked.foreign = 1;
    return ++caller_asked.asked >= caller_asked.stop_at || seconds() > caller_asked.until;
}

static gpuopt_context *stopping_context(int32_t use, int at) {
    gpuopt_context_desc how = test_context_desc(NULL);
    gpuopt_context *context;
    how.stop = stop;
    how.seconds = clock_of_caller;
    how.threads = use;
    caller_asked.asked = caller_asked.foreign = 0;
    caller_asked.stop_at = at;
    caller_asked.until = HUGE_VAL;
    caller_asked.thread = pthread_self();
    assert_int_equal(gpuopt_context_create(&how, &context), GPUOPT_OK);
    return context;
}

/* A limit in seconds, measured by the caller's clock on the caller's thread, with or without a stop hook. */
static void time_limit(void **state) {
    int32_t order[GRAPH_MOST], other[GRAPH_MOST], use;
    model m = graph_grid(30);
    gpuopt_elimination_desc desc = model_desc(&m);
    gpuopt_elimination_order_search search = GPUOPT_INIT(gpuopt_elimination_order_search);
    (void)state;
    made_up.on = 0; /* even where a test before this one has failed */
    caller_asked.thread = pthread_self();
    caller_asked.foreign = 0;
    for (use = 1; use <= 4; use += 3) {
        gpuopt_context_desc how = test_context_desc(NULL);
        gpuopt_context *context;
        double start = seconds(), taken;
        how.threads = use;
        how.seconds = clock_of_caller;
        assert_int_equal(gpuopt_context_create(&how, &context), GPUOPT_OK);
        desc.order_search = &search;
        search.work = 0;
        search.seconds = 0.5;
        order_search(context, &desc, order);
        taken = seconds() - start;
        assert_true(taken > 0.4 && taken < 10); /* the machine may be busy */
        search.work = 100000;                   /* ends first */
        search.seconds = 1e9;
        order_search(context, &desc, order);
        search.seconds = 0;
        order_search(context, &desc, other);
        assert_memory_equal(order, other, sizeof(int32_t) * (size_t)m.variables);
        assert_int_equal(caller_asked.foreign, 0);
        gpuopt_context_destroy(context);
    }
    model_free(&m);
}

/* For any growing distance between readings of the clock, the search ends when its time is up. */
static void late_looks(void **state) {
    gpuopt_context *context = stopping_context(1, 100000);
    int32_t order[GRAPH_MOST], length, k;
    (void)state;
    for (length = 6; length <= 12; length += 3) {
        model m = graph_grid(length);
        gpuopt_elimination_desc desc = model_desc(&m);
        gpuopt_elimination_order_search search = GPUOPT_INIT(gpuopt_elimination_order_search);
        for (k = 0; k < 60; k++) {
            make_up_clock(0.01 * pow(1.14, k), HUGE_VAL, HUGE_VAL);
            caller_asked.asked = 0;
            desc.order_search = &search;
            search.seconds = 1;
            order_search(context, &desc, order);
            if (caller_asked.asked > 200)
                fail_msg("looks %g s apart: asked %d times", made_up.tick, caller_asked.asked);
        }
        model_free(&m);
    }
    made_up.on = 0;
    gpuopt_context_destroy(context);
}

/* A clock that goes back ends the search at any place, and so does one that fails. */
static void broken_clocks(void **state) {
    gpuopt_context *context = stopping_context(1, 100000);
    int32_t order[GRAPH_MOST], k;
    model m = graph_grid(6);
    gpuopt_elimination_desc desc = model_desc(&m);
    gpuopt_elimination_order_search search = GPUOPT_INIT(gpuopt_elimination_order_search);
    (void)state;
    for (k = 0; k < 300; k++) {
        double at = 0.015 + 0.01 * (k / 2); /* after the look when the search begins */
        make_up_clock(0.01, k % 2 ? at : HUGE_VAL, k % 2 ? HUGE_VAL : at);
        caller_asked.asked = 0;
        desc.order_search = &search;
        search.seconds = 1;
        order_search(context, &desc, order);
        if (caller_asked.asked > k + 5) fail_msg("clock %d: asked %d times", (int)k, caller_asked.asked);
    }
    made_up.on = 0;
    model_free(&m);
    gpuopt_context_destroy(context);
}

/* A caller with an OpenMP runtime that gives one thread for four requested, as within a parallel region: each chain has
 * its time. */
static void few_threads(void **state) {
    gpuopt_context *context = stopping_context(4, 200000);
    int32_t order[GRAPH_MOST];
    model m = graph_grid(12);
    gpuopt_elimination_desc desc = model_desc(&m);
    gpuopt_elimination_order_search search = GPUOPT_INIT(gpuopt_elimination_order_search);
    double start;
    int levels = 0;
    (void)state;
    (void)levels;
    made_up.on = 0;
    desc.order_search = &search;
    search.seconds = 0.3;
    start = seconds();
#ifdef _OPENMP
    levels = omp_get_max_active_levels();
    omp_set_max_active_levels(1); /* nested regions have one thread */
#pragma omp parallel num_threads(2)
#pragma omp master
#endif
    order_search(context, &desc, order);
#ifdef _OPENMP
    omp_set_max_active_levels(levels);
#endif
    if (seconds() - start > 10) fail_msg("%g s", seconds() - start);
    assert_int_equal(caller_asked.foreign, 0);
    model_free(&m);
    gpuopt_context_destroy(context);
}

/* Many cliques, over which 64 sweeps would take most of the time: the hook is called in proportion to the work. */
static void work_of_sweeps(void **state) {
    enum { HALF = 64 };
    gpuopt_context *context = stopping_context(1, INT32_MAX);
    int32_t order[2 * HALF], k;
    model m = graph_model(2 * HALF, NULL);
    gpuopt_elimination_desc desc;
    gpuopt_elimination_order_search search = GPUOPT_INIT(gpuopt_elimination_order_search);
    (void)state;
    for (k = 0; k < HALF * HALF; k++) {
        int32_t edge[2] = {k / HALF, HALF + k % HALF};
        graph_add(&m, 2, edge);
    }
    desc = model_desc(&m);
    desc.order_search = &search;
    search.work = 100000;
    order_search(context, &desc, order);
    if (caller_asked.asked > 200)
        fail_msg("asked %d times", caller_asked.asked); /* 29; 1040 if sweeps were not limited */
    model_free(&m);
    gpuopt_context_destroy(context);
}

/* Each variable of a path shares a function with each of the next three. Returns the seconds of a search. inwards: they
 * are numbered from both ends, so that two at a time can be eliminated first, and then their neighbours. */
static double path_seconds(gpuopt_context *context, int inwards) {
    const int32_t length = test_few() ? 2000 : 8000;
    model m = graph_model(length, NULL);
    gpuopt_elimination_desc desc;
    int32_t *order = malloc(sizeof *order * (size_t)length), k, step;
    double start;
    assert_non_null(order);
    for (k = 0; k < length; k++)
        for (step = 1; step <= 3 && k + step < length; step++) {
            int32_t edge[2] = {k, k + step}, end;
            for (end = 0; end < 2 && inwards; end++) /* 0, 2, 4, ... 5, 3, 1, turned round */
                edge[end] = length - 1 - (edge[end] < length / 2 ? 2 * edge[end] : 2 * (length - edge[end]) - 1);
            graph_add(&m, 2, edge);
        }
    desc = model_desc(&m);
    start = seconds();
    assert_int_equal(gpuopt_elimination_order(context, &desc, order, NULL, NULL), GPUOPT_OK);
    start = seconds() - start;
    free(order);
    model_free(&m);
    return start;
}

/* How the variables are numbered does not make the search slow. */
static void numbering(void **state) {
    gpuopt_context *context = test_context(NULL);
    double along = path_seconds(context, 0), inwards = path_seconds(context, 1);
    (void)state;
    if (inwards > 0.5 + 20 * along) fail_msg("%g s, along the path %g s", inwards, along);
    gpuopt_context_destroy(context);
}

/* A greedy run stops in the middle, except for the first, which provides the first order. */
static void greedy_runs(void **state) {
    gpuopt_context *context = stopping_context(1, INT32_MAX);
    uint64_t seed = 4;
    int32_t first[GRAPH_MOST], order[GRAPH_MOST];
    model m = graph_draw(&seed, 1000, 1500, 0);
    gpuopt_elimination_desc desc = model_desc(&m);
    gpuopt_elimination_order_search search = GPUOPT_INIT(gpuopt_elimination_order_search);
    (void)state;
    desc.order_search = &search;
    search.heuristic = GPUOPT_HEURISTIC_MIN_FILL;
    order_search(context, &desc, first);
    search.restarts = 2;
    order_search(context, &desc, order);
    assert_true(caller_asked.asked > 5);
    caller_asked.asked = 0;
    caller_asked.stop_at = 3; /* early in the second run */
    order_search(context, &desc, order);
    assert_int_equal(caller_asked.asked, 3);
    assert_memory_equal(first, order, sizeof(int32_t) * 1000);
    model_free(&m);
    gpuopt_context_destroy(context);
}

/* The stop hook is called on the caller's thread, and not again after its request to stop. */
static void stopped(void **state) {
    int32_t order[GRAPH_MOST], times, use;
    model m = graph_grid(20);
    gpuopt_elimination_desc desc = model_desc(&m);
    gpuopt_elimination_order_search search = GPUOPT_INIT(gpuopt_elimination_order_search);
    (void)state;
    desc.order_search = &search;
    search.work = (int64_t)1 << 60; /* for ever */
    for (use = 1; use <= 4; use += 3) {
        gpuopt_context *context = stopping_context(use, 1);
        for (times = 1; times < (test_few() ? 20 : 200); times = times * 3 + 1) {
            caller_asked.asked = 0;
            caller_asked.stop_at = times;
            order_search(context, &desc, order);
            assert_int_equal(caller_asked.asked, times);
            assert_int_equal(caller_asked.foreign, 0);
        }
        gpuopt_context_destroy(context);
    }
    model_free(&m);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(numbering),     cmocka_unit_test(time_limit),  cmocka_unit_test(late_looks),
    cmocka_unit_test(broken_clocks), cmocka_unit_test(few_threads), cmocka_unit_test(work_of_sweeps),
    cmocka_unit_test(greedy_runs),   cmocka_unit_test(stopped),
};
TEST_MAIN(tests)
