/* SPDX-License-Identifier: MIT
 *
 * The search for an order. The result is an order, and costs as much as the estimate reports. On small graphs it is as
 * good as the best of all orders, found by dynamic programming over sets of variables. Grids of known treewidth. The
 * same order with any number of threads. A caller without memory; about its clock and its stop hook: order_host_test.c.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/elimination/graphs.h"

enum { SMALL = 11 };

static double judged(const order_cost *c) { return log2(c->rows) + log2(c->largest); }

/* ---- All orders ---- */

/* The neighbours of v once `gone` has been eliminated: the variables that it reaches through `gone`. */
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
        model m = graph_draw(&seed, n, (int32_t)test_random_int(&seed, 0, 3 * n), 0);
        gpuopt_elimination_desc desc;
        gpuopt_elimination_order_search search = GPUOPT_INIT(gpuopt_elimination_order_search);
        double best;
        order_cost c;
        for (j = 0; j < n && mixed; j++) m.domain[j] = sizes[test_random_int(&seed, 0, 4)];
        desc = model_desc(&m);
        best = best_of_all(&m, &width);
        desc.order_search = &search;
        search.work = 200000;
        c = order_search(context, &desc, order);
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
    /* A small vertex in a clique goes before a larger one with more neighbours, which is not always best. */
    assert_true(same >= times * 3 / 4 && worst < 4);
    gpuopt_context_destroy(context);
}

/* A grid of variables with 64 values, with a binary variable on each edge. The grid's variables go last, not first.
 * They are then the variables of a graph that is searched by itself. */
static void small_between_large(void **state) {
    enum { LENGTH = 6, LARGE = LENGTH * LENGTH, SMALLS = 2 * LENGTH * (LENGTH - 1) };
    gpuopt_context *context = test_context(NULL);
    int32_t domain[LARGE + SMALLS], scope[LARGE][4], count[LARGE] = {0}, order[LARGE + SMALLS], rest[SMALLS], k, end;
    model m, of_smalls = graph_model(SMALLS, NULL);
    gpuopt_elimination_desc desc;
    gpuopt_elimination_order_search search = GPUOPT_INIT(gpuopt_elimination_order_search);
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
            graph_add(&m, 2, edge);
            scope[edge[0]][count[edge[0]]++] = small;
        }
        small++;
    }
    assert_int_equal(small, SMALLS);
    for (k = 0; k < LARGE; k++) graph_add(&of_smalls, count[k], scope[k]);
    desc = model_desc(&of_smalls);
    desc.order_search = &search;
    search.work = 300000;
    order_search(context, &desc, rest);
    for (k = 0; k < LARGE + SMALLS; k++) order[k] = k < LARGE ? k : LARGE + rest[k - LARGE];
    desc = model_desc(&m);
    by_hand = order_cost_of(&desc, order);
    desc.order_search = &search;
    search.work = 1000000;
    found = order_search(context, &desc, order);
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
    int32_t order[GRAPH_MOST], length;
    (void)state;
    for (length = 2; length <= 12; length += 2) {
        model m = graph_grid(length);
        gpuopt_elimination_desc desc = model_desc(&m);
        gpuopt_elimination_order_search search = GPUOPT_INIT(gpuopt_elimination_order_search);
        order_cost c;
        desc.order_search = &search;
        search.work = 400000;
        c = order_search(context, &desc, order);
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
        int32_t n = (int32_t)test_random_int(&seed, 1, 60), order[GRAPH_MOST], other[GRAPH_MOST], h;
        model m = graph_draw(&seed, n, (int32_t)test_random_int(&seed, 0, 2 * n), k % 3 ? 5 : 0);
        gpuopt_elimination_desc desc = model_desc(&m);
        gpuopt_elimination_order_search search = GPUOPT_INIT(gpuopt_elimination_order_search);
        gpuopt_elimination_estimate e = GPUOPT_INIT(gpuopt_elimination_estimate);
        order_cost c, none, greedy, plain = {0, HUGE_VAL, HUGE_VAL, HUGE_VAL};
        desc.order_search = &search;
        search.restarts = 1;
        desc.policy = GPUOPT_POLICY_EXACT;
        for (h = GPUOPT_HEURISTIC_MIN_FILL; h <= GPUOPT_HEURISTIC_MIN_DEGREE; h++) { /* the one being improved */
            search.heuristic = (gpuopt_elimination_heuristic)h;
            greedy = order_search(context, &desc, other);
            if (greedy.rows < plain.rows || (greedy.rows == plain.rows && greedy.entries < plain.entries))
                plain = greedy;
        }
        search.heuristic = GPUOPT_HEURISTIC_BEST;
        c = order_search(context, &desc, order);
        if (k % 2) { /* a budget makes nothing worse */
            none = c;
            search.work = (int64_t)1 << test_random_int(&seed, 0, 18);
            c = order_search(context, &desc, order);
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
        int32_t order[3][GRAPH_MOST], t;
        model m = k == 0 ? graph_grid(9) : graph_draw(&seed, 80, k == 1 ? 120 : 200, k == 1 ? 4 : 0);
        for (t = 0; t < 3; t++) {
            gpuopt_elimination_desc desc = model_desc(&m);
            gpuopt_elimination_order_search search = GPUOPT_INIT(gpuopt_elimination_order_search);
            gpuopt_context_desc how = test_context_desc(NULL);
            gpuopt_context *context;
            how.threads = t == 0 ? 1 : t == 1 ? 4 : 3;
            assert_int_equal(gpuopt_context_create(&how, &context), GPUOPT_OK);
            desc.order_search = &search;
            search.work = 300000;
            search.seed = 77;
            order_search(context, &desc, order[t]);
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
    int32_t order[GRAPH_MOST];
    model m = graph_draw(&seed, 120, 180, 0);
    gpuopt_elimination_desc desc = model_desc(&m);
    gpuopt_elimination_order_search search = GPUOPT_INIT(gpuopt_elimination_order_search);
    order_cost little, much;
    (void)state;
    little = order_search(context, &desc, order);
    desc.order_search = &search;
    search.work = 4000000;
    much = order_search(context, &desc, order);
    printf("log2 of rows and of the largest message: %.2f, %.0f; with a budget %.2f, %.0f\n", log2(little.rows),
           log2(little.largest), log2(much.rows), log2(much.largest));
    assert_true(judged(&much) < judged(&little));
    model_free(&m);
    gpuopt_context_destroy(context);
}

/* If the caller sets no restarts, greedy runs are repeated only for a large elimination. */
static void restarts(void **state) {
    gpuopt_context *context = test_context(NULL);
    int32_t order[3][GRAPH_MOST], k, length;
    (void)state;
    for (length = 12; length <= 30; length += 18) {
        model m = graph_grid(length);
        gpuopt_elimination_desc desc = model_desc(&m);
        gpuopt_elimination_order_search search = GPUOPT_INIT(gpuopt_elimination_order_search);
        order_cost cost[3];
        size_t bytes = sizeof(int32_t) * (size_t)m.variables;
        desc.order_search = &search;
        search.heuristic = GPUOPT_HEURISTIC_MIN_FILL;
        for (k = 0; k < 3; k++) {
            static const int32_t runs[3] = {1, 8, 0};
            search.restarts = runs[k];
            cost[k] = order_search(context, &desc, order[k]);
        }
        assert_memory_not_equal(order[0], order[1], bytes);
        assert_memory_equal(order[2], order[length == 30], bytes);
        assert_true((cost[0].rows > ldexp(m.variables, 29)) == (length == 30));
        model_free(&m);
    }
    gpuopt_context_destroy(context);
}

static void no_memory(void **state) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    uint64_t seed = 21;
    int32_t order[GRAPH_MOST], again[GRAPH_MOST], k;
    model m = graph_draw(&seed, 30, 50, 4);
    gpuopt_elimination_desc desc = model_desc(&m);
    gpuopt_elimination_order_search search = GPUOPT_INIT(gpuopt_elimination_order_search);
    const long live = host.live;
    long failed = 0;
    gpuopt_status status;
    (void)state;
    desc.order_search = &search;
    search.work = 1000000;
    order_search(context, &desc, order);
    do {
        for (k = 0; k < GRAPH_MOST; k++) again[k] = -7;
        host.fail_at = host.allocations + ++failed;
        status = gpuopt_elimination_order(context, &desc, again, NULL, NULL);
        assert_int_equal(host.live, live);
        if (status) {
            assert_int_equal(status, GPUOPT_ERROR_MEMORY);
            for (k = 0; k < GRAPH_MOST; k++) assert_int_equal(again[k], -7);
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
    cmocka_unit_test(grids),       cmocka_unit_test(estimates),
    cmocka_unit_test(threads),     cmocka_unit_test(more_work),
    cmocka_unit_test(restarts),    cmocka_unit_test(no_memory),
};
TEST_MAIN(tests)
