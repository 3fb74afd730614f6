/* SPDX-License-Identifier: MIT
 *
 * The search for an order: what it returns is an order, costs what the estimate says, and is as good as the best of all
 * orders of small graphs, which dynamic programming over sets of variables finds. Grids, whose treewidth is known. The
 * same order with any number of threads. A host without memory, or without patience.
 */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "tests/elimination/model.h"
#include "tests/support/orders.h"
#include "tests/support/support.h"

enum { SMALL = 11, MOST = 1100 };

/* ---- Graphs ---- */

static model graph_model(int32_t variables, const int32_t *domain) {
    return model_make(GPUOPT_COST_INT64, GPUOPT_SEMIRING_MIN_SUM, variables, domain);
}

static void add_scope(model *m, int32_t arity, const int32_t *scope) {
    model_add(m, arity, scope, 0)->default_cost = 1;
}

/* Functions over two or three variables. */
static model draw_graph(uint64_t *seed, int32_t variables, int32_t functions, int32_t values) {
    int32_t domain[MOST], permutation[MOST], k;
    model m;
    for (k = 0; k < variables; k++) domain[k] = values ? (int32_t)test_random_int(seed, 1, values) : 2;
    m = graph_model(variables, domain);
    for (k = 0; k < functions; k++) {
        draw_permutation(seed, variables, permutation);
        add_scope(&m, test_random_int(seed, 0, 4) && variables > 2 ? 2 : variables > 2 ? 3 : variables, permutation);
    }
    return m;
}

static model grid(int32_t length) {
    model m = graph_model(length * length, NULL);
    int32_t k;
    for (k = 0; k < length * length; k++) {
        int32_t right[2] = {k, k + 1}, below[2] = {k, k + length};
        if (k % length < length - 1) add_scope(&m, 2, right);
        if (k / length < length - 1) add_scope(&m, 2, below);
    }
    return m;
}

/* ---- What an order costs ---- */

static double judged(const order_cost *c) { return log2(c->rows) + log2(c->largest); }

static order_cost search(gpuopt_context *context, const gpuopt_elimination_desc *desc, int32_t *order) {
    order_cost c;
    if (gpuopt_elimination_order(context, desc, order, NULL, NULL)) fail_msg("%s", gpuopt_context_last_error(context));
    c = order_cost_of(desc, order);
    assert_true(c.width >= 0); /* it is an order */
    return c;
}

/* ---- All orders ---- */

/* The neighbours of v once `gone` has been eliminated: those that it reaches through it. */
static uint32_t reached(const uint32_t *edges, int32_t variables, uint32_t gone, int32_t v) {
    uint32_t seen = (uint32_t)1 << v, border = seen, found = 0;
    while (border) {
        uint32_t next = 0;
        int32_t k;
        for (k = 0; k < variables; k++)
            if (border >> k & 1) next |= edges[k];
        next &= ~seen;
        seen |= next;
        found |= next & ~gone;
        border = next & gone;
    }
    return found;
}

/* The least of log2(rows) + log2(largest message) over all orders, and the least width. For each limit on the largest
 * message, the fewest rows, by dynamic programming over the sets of variables that are eliminated first (Bodlaender,
 * Fomin, Koster, Kratsch, Thilikos: On exact algorithms for treewidth, 2012). Domain sizes are powers of two. */
static double best_of_all(const model *m, int32_t *width) {
    static double rows[1 << SMALL];
    static int32_t narrow[1 << SMALL]; /* the least width to eliminate a set */
    uint32_t edges[SMALL] = {0}, set;
    double best = HUGE_VAL;
    int32_t f, i, j, bits[SMALL], limit, next, n = m->variables, all = (1 << n) - 1;
    for (i = 0; i < n; i++) bits[i] = (int32_t)log2(m->domain[i]);
    for (f = 0; f < m->functions; f++)
        for (i = 0; i < m->function[f].arity; i++)
            for (j = 0; j < m->function[f].arity; j++)
                if (i != j) edges[m->function[f].scope[i]] |= (uint32_t)1 << m->function[f].scope[j];
    for (limit = 0; limit < INT32_MAX; limit = next) {
        next = INT32_MAX; /* the smallest message that was too large */
        rows[0] = narrow[0] = 0;
        for (set = 1; set < (uint32_t)1 << n; set++) {
            rows[set] = HUGE_VAL;
            narrow[set] = n;
            for (i = 0; i < n; i++) {
                uint32_t before = set & ~((uint32_t)1 << i), around;
                int32_t count = 0, message = 0;
                if (before == set || !(rows[before] < HUGE_VAL)) continue;
                for (around = reached(edges, n, before, i), j = 0; j < n; j++)
                    if (around >> j & 1) count++, message += bits[j];
                if (message > limit) {
                    if (message < next) next = message;
                    continue;
                }
                if (rows[before] + ldexp(1, message + bits[i]) < rows[set])
                    rows[set] = rows[before] + ldexp(1, message + bits[i]);
                if (count < narrow[before]) count = narrow[before];
                if (count < narrow[set]) narrow[set] = count;
            }
        }
        *width = narrow[all]; /* of the last limit, which excludes nothing */
        if (log2(rows[all]) + limit < best) best = log2(rows[all]) + limit;
    }
    return best;
}

static void best_orders_of(gpuopt_context *context, int mixed, int32_t *same, int32_t *narrow, double *worst,
                           int32_t times) {
    static const int32_t sizes[5] = {2, 2, 4, 16, 64};
    uint64_t seed = 11;
    int32_t k, j;
    *same = *narrow = 0;
    *worst = 0;
    for (k = 0; k < times; k++) {
        int32_t n = (int32_t)test_random_int(&seed, 1, SMALL), order[SMALL], width;
        model m = draw_graph(&seed, n, (int32_t)test_random_int(&seed, 0, 3 * n), 0);
        gpuopt_elimination_desc desc;
        double best;
        order_cost c;
        for (j = 0; j < n && mixed; j++) m.domain[j] = sizes[test_random_int(&seed, 0, 4)];
        desc = model_desc(&m);
        best = best_of_all(&m, &width);
        desc.order_work = 200000;
        c = search(context, &desc, order);
        assert_true(c.width >= width && judged(&c) >= best - 1e-9);
        *narrow += c.width == width;
        *same += judged(&c) <= best + 1e-9;
        if (judged(&c) - best > *worst) *worst = judged(&c) - best;
        model_free(&m);
    }
    printf("%s domains: %d of %d orders are the best there are, %d have the treewidth; the others are by up to 2^%.1f "
           "worse\n",
           mixed ? "mixed" : "binary", (int)*same, (int)times, (int)*narrow, *worst);
}

static void best_orders(void **state) {
    int32_t same, narrow, times = (int32_t)test_times(60, 10);
    double worst;
    gpuopt_context *context = test_context(NULL);
    (void)state;
    best_orders_of(context, 0, &same, &narrow, &worst, times);
    assert_true(same >= times - times / 20 && narrow >= times - times / 10);
    best_orders_of(context, 1, &same, &narrow, &worst, times);
    /* A small vertex in a clique goes before a larger one that has more neighbours, which is not always best. */
    assert_true(same >= times * 3 / 4 && worst < 4);
    gpuopt_context_destroy(context);
}

/* A grid of variables with 64 values, with a binary variable on each edge: these go last, not first. They are then the
 * variables of a graph that is searched by itself. */
static void small_between_large(void **state) {
    enum { LENGTH = 6, LARGE = LENGTH * LENGTH, SMALLS = 2 * LENGTH * (LENGTH - 1) };
    gpuopt_context *context = test_context(NULL);
    int32_t domain[LARGE + SMALLS], scope[LARGE][4], count[LARGE] = {0}, order[LARGE + SMALLS], rest[SMALLS], k, end;
    model m, of_smalls = graph_model(SMALLS, NULL);
    gpuopt_elimination_desc desc;
    order_cost found, by_hand;
    int32_t small = 0;
    (void)state;
    for (k = 0; k < LARGE + SMALLS; k++) domain[k] = k < LARGE ? 64 : 2;
    m = graph_model(LARGE + SMALLS, domain);
    for (k = 0; k < 2 * LARGE; k++) {
        int32_t from = k / 2, to = k % 2 ? from + LENGTH : from + 1;
        if (k % 2 ? to >= LARGE : to % LENGTH == 0) continue;
        for (end = 0; end < 2; end++) {
            int32_t edge[2] = {end ? to : from, LARGE + small};
            add_scope(&m, 2, edge);
            scope[edge[0]][count[edge[0]]++] = small;
        }
        small++;
    }
    assert_int_equal(small, SMALLS);
    for (k = 0; k < LARGE; k++) add_scope(&of_smalls, count[k], scope[k]);
    desc = model_desc(&of_smalls);
    desc.order_work = 300000;
    search(context, &desc, rest);
    for (k = 0; k < LARGE + SMALLS; k++) order[k] = k < LARGE ? k : LARGE + rest[k - LARGE];
    desc = model_desc(&m);
    by_hand = order_cost_of(&desc, order);
    desc.order_work = 1000000;
    found = search(context, &desc, order);
    printf("log2 of rows and of the largest message: %.2f, %.0f; by hand %.2f, %.0f\n", log2(found.rows),
           log2(found.largest), log2(by_hand.rows), log2(by_hand.largest));
    assert_true(found.largest <= by_hand.largest && judged(&found) <= judged(&by_hand) + 0.1);
    model_free(&m);
    model_free(&of_smalls);
    gpuopt_context_destroy(context);
}

/* The treewidth of a square grid is the length of its side (Bodlaender: A partial k-arboretum, 1998). */
static void grids(void **state) {
    gpuopt_context *context = test_context(NULL);
    int32_t order[MOST], length;
    (void)state;
    for (length = 2; length <= 12; length += 2) {
        model m = grid(length);
        gpuopt_elimination_desc desc = model_desc(&m);
        order_cost c;
        desc.order_work = 400000;
        c = search(context, &desc, order);
        if (c.width != length) fail_msg("grid %d: width %d", (int)length, (int)c.width);
        model_free(&m);
    }
    gpuopt_context_destroy(context);
}

/* ---- What holds for every order ---- */

static void estimates(void **state) {
    uint64_t seed = 3;
    int k, times = test_times(60, 10);
    gpuopt_context *context = test_context(NULL);
    (void)state;
    for (k = 0; k < times; k++) {
        int32_t n = (int32_t)test_random_int(&seed, 1, 60), order[MOST], other[MOST], h;
        model m = draw_graph(&seed, n, (int32_t)test_random_int(&seed, 0, 2 * n), k % 3 ? 5 : 0);
        gpuopt_elimination_desc desc = model_desc(&m);
        gpuopt_elimination_estimate e = GPUOPT_INIT(gpuopt_elimination_estimate);
        order_cost c, none, greedy, plain = {0, HUGE_VAL, HUGE_VAL, HUGE_VAL};
        desc.restarts = 1;
        desc.policy = GPUOPT_POLICY_EXACT;
        for (h = GPUOPT_HEURISTIC_MIN_FILL; h <= GPUOPT_HEURISTIC_MIN_DEGREE; h++) { /* the one that is improved */
            desc.heuristic = (gpuopt_elimination_heuristic)h;
            greedy = search(context, &desc, other);
            if (greedy.rows < plain.rows || (greedy.rows == plain.rows && greedy.entries < plain.entries))
                plain = greedy;
        }
        desc.heuristic = GPUOPT_HEURISTIC_BEST;
        c = search(context, &desc, order);
        if (k % 2) { /* a budget makes nothing worse */
            none = c;
            desc.order_work = (int64_t)1 << test_random_int(&seed, 0, 18);
            c = search(context, &desc, order);
            assert_true(judged(&c) <= judged(&none) + 0.01);
        }
        assert_true(judged(&c) <= judged(&plain) + 0.01); /* logarithms in the search are rounded */
        desc.order = order;
        desc.order_count = n;
        if (gpuopt_elimination_order(context, &desc, NULL, NULL, &e)) { /* too large for any machine */
            assert_true(c.largest > 0x1p40);
        } else {
            assert_true(e.largest == c.largest && e.width <= c.width);
            assert_true(e.entries == c.entries);
        }
        model_free(&m);
    }
    gpuopt_context_destroy(context);
}

static void threads(void **state) {
    uint64_t seed = 5;
    int k;
    (void)state;
    for (k = 0; k < 3; k++) {
        int32_t order[3][MOST], t;
        model m = k == 0 ? grid(9) : draw_graph(&seed, 80, k == 1 ? 120 : 200, k == 1 ? 4 : 0);
        for (t = 0; t < 3; t++) {
            gpuopt_elimination_desc desc = model_desc(&m);
            gpuopt_context_desc how = test_context_desc(NULL);
            gpuopt_context *context;
            how.threads = t == 0 ? 1 : t == 1 ? 4 : 3;
            assert_int_equal(gpuopt_context_create(&how, &context), GPUOPT_OK);
            desc.order_work = 300000;
            desc.seed = 77;
            search(context, &desc, order[t]);
            assert_memory_equal(order[0], order[t], sizeof(int32_t) * (size_t)m.variables);
            gpuopt_context_destroy(context);
        }
        model_free(&m);
    }
}

/* More work finds no worse order of a graph that takes some. */
static void more_work(void **state) {
    uint64_t seed = 9;
    gpuopt_context *context = test_context(NULL);
    int32_t order[MOST];
    model m = draw_graph(&seed, 120, 180, 0);
    gpuopt_elimination_desc desc = model_desc(&m);
    order_cost little, much;
    (void)state;
    little = search(context, &desc, order);
    desc.order_work = 4000000;
    much = search(context, &desc, order);
    printf("log2 of rows and of the largest message: %.2f, %.0f; with a budget %.2f, %.0f\n", log2(little.rows),
           log2(little.largest), log2(much.rows), log2(much.largest));
    assert_true(judged(&much) < judged(&little));
    model_free(&m);
    gpuopt_context_destroy(context);
}

/* ---- Time, and hosts that interfere ---- */

/* A clock that goes on by `tick` seconds whenever it is read, once goes back at `back_at`, and fails from `fails_at`
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

/* The host: how often it was asked, and when it says stop. A search that does not end by itself is stopped late. */
static struct {
    int asked, stop_at;
    double until; /* it says stop from then on, too */
    pthread_t thread;
    int foreign;
} host_asked;

/* The clock that the library is given: the machine's, or the one made up. */
static double clock_of_host(void *user) {
    (void)user;
    if (!pthread_equal(host_asked.thread, pthread_self())) host_asked.foreign = 1;
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
    if (!pthread_equal(host_asked.thread, pthread_self())) host_asked.foreign = 1;
    return ++host_asked.asked >= host_asked.stop_at || seconds() > host_asked.until;
}

static gpuopt_context *stopping_context(int32_t use, int at) {
    gpuopt_context_desc how = test_context_desc(NULL);
    gpuopt_context *context;
    how.stop = stop;
    how.seconds = clock_of_host;
    how.threads = use;
    host_asked.asked = host_asked.foreign = 0;
    host_asked.stop_at = at;
    host_asked.until = HUGE_VAL;
    host_asked.thread = pthread_self();
    assert_int_equal(gpuopt_context_create(&how, &context), GPUOPT_OK);
    return context;
}

/* A limit in seconds, which the host's clock measures, on the host's thread, whether it has a stop hook or not. */
static void time_limit(void **state) {
    int32_t order[MOST], other[MOST], use;
    model m = grid(30);
    gpuopt_elimination_desc desc = model_desc(&m);
    (void)state;
    made_up.on = 0; /* even where a test before this one has failed */
    host_asked.thread = pthread_self();
    host_asked.foreign = 0;
    for (use = 1; use <= 4; use += 3) {
        gpuopt_context_desc how = test_context_desc(NULL);
        gpuopt_context *context;
        double start = seconds(), taken;
        how.threads = use;
        how.seconds = clock_of_host;
        assert_int_equal(gpuopt_context_create(&how, &context), GPUOPT_OK);
        desc.order_work = 0;
        desc.order_seconds = 0.5;
        search(context, &desc, order);
        taken = seconds() - start;
        assert_true(taken > 0.4 && taken < 10); /* the machine may be busy */
        desc.order_work = 100000;               /* ends first */
        desc.order_seconds = 1e9;
        search(context, &desc, order);
        desc.order_seconds = 0;
        search(context, &desc, other);
        assert_memory_equal(order, other, sizeof(int32_t) * (size_t)m.variables);
        assert_int_equal(host_asked.foreign, 0);
        gpuopt_context_destroy(context);
    }
    model_free(&m);
}

/* However much later each look at the clock is than the one before, the search ends when its time is up. */
static void late_looks(void **state) {
    gpuopt_context *context = stopping_context(1, 100000);
    int32_t order[MOST], length, k;
    (void)state;
    for (length = 6; length <= 12; length += 3) {
        model m = grid(length);
        gpuopt_elimination_desc desc = model_desc(&m);
        for (k = 0; k < 60; k++) {
            make_up_clock(0.01 * pow(1.14, k), HUGE_VAL, HUGE_VAL);
            host_asked.asked = 0;
            desc.order_seconds = 1;
            search(context, &desc, order);
            if (host_asked.asked > 200) fail_msg("looks %g s apart: asked %d times", made_up.tick, host_asked.asked);
        }
        model_free(&m);
    }
    made_up.on = 0;
    gpuopt_context_destroy(context);
}

/* A clock that goes back ends the search, wherever it is then, and so does one that fails. */
static void broken_clocks(void **state) {
    gpuopt_context *context = stopping_context(1, 100000);
    int32_t order[MOST], k;
    model m = grid(6);
    gpuopt_elimination_desc desc = model_desc(&m);
    (void)state;
    for (k = 0; k < 300; k++) {
        double at = 0.015 + 0.01 * (k / 2); /* after the look when the search begins */
        make_up_clock(0.01, k % 2 ? at : HUGE_VAL, k % 2 ? HUGE_VAL : at);
        host_asked.asked = 0;
        desc.order_seconds = 1;
        search(context, &desc, order);
        if (host_asked.asked > k + 5) fail_msg("clock %d: asked %d times", (int)k, host_asked.asked);
    }
    made_up.on = 0;
    model_free(&m);
    gpuopt_context_destroy(context);
}

/* A host whose OpenMP gives one thread where four are asked for, as within a parallel region: each chain has its time. */
static void few_threads(void **state) {
    gpuopt_context *context = stopping_context(4, 200000);
    int32_t order[MOST];
    model m = grid(12);
    gpuopt_elimination_desc desc = model_desc(&m);
    double start;
    int levels = 0;
    (void)state;
    (void)levels;
    made_up.on = 0;
    desc.order_seconds = 0.3;
    start = seconds();
#ifdef _OPENMP
    levels = omp_get_max_active_levels();
    omp_set_max_active_levels(1); /* what is nested has one thread */
#pragma omp parallel num_threads(2)
#pragma omp master
#endif
    search(context, &desc, order);
#ifdef _OPENMP
    omp_set_max_active_levels(levels);
#endif
    if (seconds() - start > 10) fail_msg("%g s", seconds() - start);
    assert_int_equal(host_asked.foreign, 0);
    model_free(&m);
    gpuopt_context_destroy(context);
}

/* Many cliques, over which 64 sweeps would take most of the time: the host is asked as often as work is done. */
static void work_of_sweeps(void **state) {
    enum { HALF = 64 };
    gpuopt_context *context = stopping_context(1, INT32_MAX);
    int32_t order[2 * HALF], k;
    model m = graph_model(2 * HALF, NULL);
    gpuopt_elimination_desc desc;
    (void)state;
    for (k = 0; k < HALF * HALF; k++) {
        int32_t edge[2] = {k / HALF, HALF + k % HALF};
        add_scope(&m, 2, edge);
    }
    desc = model_desc(&m);
    desc.order_work = 100000;
    search(context, &desc, order);
    if (host_asked.asked > 200) fail_msg("asked %d times", host_asked.asked); /* 29; 1040 if sweeps were not limited */
    model_free(&m);
    gpuopt_context_destroy(context);
}

/* Each variable of a path is in a function with each of the next three. Seconds of a search; inwards: they are numbered
 * from both ends, so that two at a time can be eliminated first, and then the ones before them. */
static double path_seconds(gpuopt_context *context, int inwards) {
    enum { LENGTH = 8000 };
    model m = graph_model(LENGTH, NULL);
    gpuopt_elimination_desc desc;
    int32_t *order = malloc(sizeof *order * LENGTH), k, step;
    double start;
    assert_non_null(order);
    for (k = 0; k < LENGTH; k++)
        for (step = 1; step <= 3 && k + step < LENGTH; step++) {
            int32_t edge[2] = {k, k + step}, end;
            for (end = 0; end < 2 && inwards; end++) /* 0, 2, 4, ... 5, 3, 1, turned round */
                edge[end] = LENGTH - 1 - (edge[end] < LENGTH / 2 ? 2 * edge[end] : 2 * (LENGTH - edge[end]) - 1);
            add_scope(&m, 2, edge);
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

/* Where the caller does not say, greedy runs are repeated only if the elimination is large. */
static void restarts(void **state) {
    gpuopt_context *context = test_context(NULL);
    int32_t order[3][MOST], k, length;
    (void)state;
    for (length = 12; length <= 30; length += 18) {
        model m = grid(length);
        gpuopt_elimination_desc desc = model_desc(&m);
        order_cost cost[3];
        size_t bytes = sizeof(int32_t) * (size_t)m.variables;
        desc.heuristic = GPUOPT_HEURISTIC_MIN_FILL;
        for (k = 0; k < 3; k++) {
            static const int32_t runs[3] = {1, 8, 0};
            desc.restarts = runs[k];
            cost[k] = search(context, &desc, order[k]);
        }
        assert_memory_not_equal(order[0], order[1], bytes);
        assert_memory_equal(order[2], order[length == 30], bytes);
        assert_true((cost[0].rows > ldexp(m.variables, 29)) == (length == 30));
        model_free(&m);
    }
    gpuopt_context_destroy(context);
}

/* A greedy run stops in the middle, except for the first, without which there is no order. */
static void greedy_runs(void **state) {
    gpuopt_context *context = stopping_context(1, INT32_MAX);
    uint64_t seed = 4;
    int32_t first[MOST], order[MOST];
    model m = draw_graph(&seed, 1000, 1500, 0);
    gpuopt_elimination_desc desc = model_desc(&m);
    (void)state;
    desc.heuristic = GPUOPT_HEURISTIC_MIN_FILL;
    search(context, &desc, first);
    desc.restarts = 2;
    search(context, &desc, order);
    assert_true(host_asked.asked > 5);
    host_asked.asked = 0;
    host_asked.stop_at = 3; /* early in the second run */
    search(context, &desc, order);
    assert_int_equal(host_asked.asked, 3);
    assert_memory_equal(first, order, sizeof(int32_t) * 1000);
    model_free(&m);
    gpuopt_context_destroy(context);
}

/* The host is asked on its own thread, and not again once it has said stop. */
static void stopped(void **state) {
    int32_t order[MOST], times, use;
    model m = grid(20);
    gpuopt_elimination_desc desc = model_desc(&m);
    (void)state;
    desc.order_work = (int64_t)1 << 60; /* for ever */
    for (use = 1; use <= 4; use += 3) {
        gpuopt_context *context = stopping_context(use, 1);
        for (times = 1; times < 200; times = times * 3 + 1) {
            host_asked.asked = 0;
            host_asked.stop_at = times;
            search(context, &desc, order);
            assert_int_equal(host_asked.asked, times);
            assert_int_equal(host_asked.foreign, 0);
        }
        gpuopt_context_destroy(context);
    }
    model_free(&m);
}

static void no_memory(void **state) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    uint64_t seed = 21;
    int32_t order[MOST], again[MOST], k;
    model m = draw_graph(&seed, 30, 50, 4);
    gpuopt_elimination_desc desc = model_desc(&m);
    const long live = host.live;
    long failed = 0;
    gpuopt_status status;
    (void)state;
    desc.order_work = 1000000;
    search(context, &desc, order);
    do {
        for (k = 0; k < MOST; k++) again[k] = -7;
        host.fail_at = host.allocations + ++failed;
        status = gpuopt_elimination_order(context, &desc, again, NULL, NULL);
        assert_int_equal(host.live, live);
        if (status) {
            assert_int_equal(status, GPUOPT_ERROR_MEMORY);
            for (k = 0; k < MOST; k++) assert_int_equal(again[k], -7);
        }
    } while (status);
    host.fail_at = 0;
    assert_true(failed > 10);
    assert_memory_equal(order, again, sizeof(int32_t) * (size_t)m.variables);
    gpuopt_context_destroy(context);
    assert_int_equal(host.live, 0);
    model_free(&m);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(best_orders), cmocka_unit_test(small_between_large),
    cmocka_unit_test(numbering),   cmocka_unit_test(grids),
    cmocka_unit_test(estimates),   cmocka_unit_test(threads),
    cmocka_unit_test(more_work),   cmocka_unit_test(time_limit),
    cmocka_unit_test(late_looks),  cmocka_unit_test(broken_clocks),
    cmocka_unit_test(few_threads), cmocka_unit_test(work_of_sweeps),
    cmocka_unit_test(greedy_runs), cmocka_unit_test(stopped),
    cmocka_unit_test(no_memory),   cmocka_unit_test(restarts),
};
TEST_MAIN(tests)
