/* SPDX-License-Identifier: MIT
 *
 * Knapsacks with several copies of items, against dynamic programming over copies. Every search, pools from the
 * smallest up, in one call and level by level; nodes that are packed, dealt and kept.
 */
#include <stdlib.h>
#include <string.h>

#include "gpuopt/search.h"
#include "tests/knapsack/bounded.h"

enum { MODELS = 60 /* of each class */, ALIKE = 200 };

/* Solves it, `levels` levels a call (0: in one call). */
static gpuopt_knapsack_info solve(gpuopt_context *context, const gpuopt_knapsack_desc *desc, const bounded *b,
                                  int64_t optimum, int32_t levels) {
    gpuopt_knapsack *knapsack = model_create(context, desc);
    gpuopt_knapsack_info info;
    int64_t copies[MODEL_MOST + 1];
    gpuopt_desc_init(&info, sizeof info);
    do {
        assert_int_equal(gpuopt_knapsack_expand(knapsack, 0, levels, &info), GPUOPT_OK);
        assert_true(info.primal_bound <= optimum && info.dual_bound >= optimum);
        if (levels) assert_true(bounded_check(knapsack, b, copies) <= optimum);
    } while (info.outcome == GPUOPT_MORE);
    if (info.outcome == GPUOPT_OPTIMAL) {
        assert_true(info.primal_bound == optimum && info.dual_bound == optimum);
        assert_true(bounded_check(knapsack, b, copies) == optimum);
    } else {
        assert_true(info.outcome == GPUOPT_LIMIT && desc->node_limit > 0);
    }
    gpuopt_knapsack_destroy(knapsack);
    return info;
}

static void every_search(void **state) {
    gpuopt_context *context = test_context(NULL);
    uint64_t random = 11;
    int k, search;
    (void)state;
    for (k = 0; k < MODELS * MODEL_CLASSES; k++) {
        const bounded b = bounded_random(k % MODEL_CLASSES, (int32_t)test_random_int(&random, 1, 7),
                                         k % MODEL_CLASSES == 6 ? 4 : 40, 1 + k % 9, &random);
        const int64_t optimum = bounded_optimum(&b);
        for (search = 0; search < 3; search++) {
            gpuopt_knapsack_desc desc = bounded_desc(&b);
            desc.search = (gpuopt_knapsack_search)search;
            desc.reduction = k & 1 ? GPUOPT_OFF : GPUOPT_ON;
            desc.pool = k & 2 ? 1 : 1 << 16;
            desc.node_limit = search || k & 2 ? 200000 : 0;
            solve(context, &desc, &b, optimum, k & 4 ? 0 : 1 + k % 3);
        }
    }
    gpuopt_context_destroy(context);
}

/* Long enough for surrogate problems and bounds from the number of pieces. */
static void more_items(void **state) {
    gpuopt_context *context = test_context(NULL);
    uint64_t random = 12;
    int64_t long_ones = 0;
    int k;
    (void)state;
    for (k = 0; k < 3 * MODEL_CLASSES; k++) {
        const bounded b = bounded_random(k % MODEL_CLASSES, 40, k % MODEL_CLASSES == 6 ? 3 : 60, 10, &random);
        gpuopt_knapsack_desc desc = bounded_desc(&b);
        gpuopt_knapsack_info info;
        desc.reduction = k < MODEL_CLASSES ? GPUOPT_OFF : GPUOPT_ON;
        info = solve(context, &desc, &b, bounded_optimum(&b), 0);
        assert_true(info.free_items > 40 || desc.reduction == GPUOPT_ON);
        if (info.expanded > 4 * 64) long_ones++;
    }
    assert_true(long_ones > 5);
    gpuopt_context_destroy(context);
}

/* Strongly correlated items are easy by bounds from the number of copies. The answer is compared with the model that
 * has an item for each copy, and no copies. */
static void strong_ones(void **state) {
    gpuopt_context *context = test_context(NULL);
    uint64_t random = 16;
    int k;
    (void)state;
    for (k = 0; k < 6; k++) {
        bounded b;
        static int64_t weight[10 * 300], profit[10 * 300];
        gpuopt_knapsack_desc desc;
        gpuopt_knapsack *each;
        gpuopt_knapsack_info info;
        int32_t j, n = 0;
        int64_t x, sum = 0;
        memset(&b, 0, sizeof b);
        b.m = model_random(k % 2 ? 4 : 2, 300, 10000, &random);
        for (j = 0; j < b.m.items; j++) {
            b.upper[j] = test_random_int(&random, 5, 10);
            sum += b.upper[j] * b.m.weight[j];
            for (x = 0; x < b.upper[j]; x++, n++) weight[n] = b.m.weight[j], profit[n] = b.m.profit[j];
        }
        b.m.capacity = sum / 2;
        desc = bounded_desc(&b);
        desc.items = n;
        desc.weight = weight;
        desc.profit = profit;
        desc.copies_max = NULL;
        each = model_create(context, &desc);
        gpuopt_desc_init(&info, sizeof info);
        assert_int_equal(gpuopt_knapsack_expand(each, 0, 0, &info), GPUOPT_OK);
        assert_int_equal(info.outcome, GPUOPT_OPTIMAL);
        gpuopt_knapsack_destroy(each);
        desc = bounded_desc(&b);
        desc.node_limit = k % 2 ? 0 : 200000; /* millions, if pieces are counted */
        info = solve(context, &desc, &b, info.primal_bound, 0);
        assert_int_equal(info.outcome, GPUOPT_OPTIMAL);
    }
    gpuopt_context_destroy(context);
}

/* Items that are nearly alike. The best solutions have one copy more than the greedy one, or just enough to beat it.
 * Bounds from the number of copies decide before the search finds them. */
static void alike(void **state) {
    gpuopt_context *context = test_context(NULL);
    uint64_t random = 17;
    int k, long_ones = 0;
    (void)state;
    for (k = 0; k < ALIKE; k++) {
        const int64_t range = test_random_int(&random, 0, 1) ? 60 : 200;
        int64_t sum = 0, optimum;
        gpuopt_knapsack_desc desc;
        gpuopt_knapsack_info info;
        bounded b;
        int32_t j;
        memset(&b, 0, sizeof b);
        b.m.items = (int32_t)test_random_int(&random, 16, 40);
        for (j = 0; j < b.m.items; j++) {
            if (k % 2) { /* inversely strongly correlated */
                b.m.profit[j] = range + test_random_int(&random, 0, range / 4);
                b.m.weight[j] = b.m.profit[j] + range / 10;
            } else {
                b.m.weight[j] = range + test_random_int(&random, -4, 4);
                b.m.profit[j] = b.m.weight[j] + (test_random_int(&random, 0, 1) ? 3 : -3);
            }
            b.upper[j] = test_random_int(&random, 3, 12);
            sum += b.upper[j] * b.m.weight[j];
        }
        b.m.capacity = sum * test_random_int(&random, 1, 9) / 10 + test_random_int(&random, 0, 3);
        desc = bounded_desc(&b);
        desc.node_limit = 1000000;
        optimum = bounded_optimum(&b);
        info = solve(context, &desc, &b, optimum, 0);
        if (info.expanded > 4 * (int64_t)info.free_items) long_ones++;
    }
    assert_true(long_ones > ALIKE / 2);
    gpuopt_context_destroy(context);
}

/* Two handles share the nodes; both have the same pieces. */
static void shared(void **state) {
    gpuopt_context *context = test_context(NULL);
    uint64_t random = 13, size;
    int k;
    (void)state;
    for (k = 0; k < 4 * MODEL_CLASSES; k++) {
        const bounded b = bounded_random(k % MODEL_CLASSES, 12, k % MODEL_CLASSES == 6 ? 3 : 60, 10, &random);
        const int64_t optimum = bounded_optimum(&b);
        gpuopt_knapsack_desc desc = bounded_desc(&b);
        gpuopt_knapsack *one, *two;
        gpuopt_knapsack_info i, other;
        int64_t copies[MODEL_MOST + 1];
        unsigned char *bytes;
        gpuopt_desc_init(&i, sizeof i);
        gpuopt_desc_init(&other, sizeof other);
        desc.reduction = GPUOPT_OFF;
        one = model_create(context, &desc);
        two = model_create(context, &desc);
        assert_int_equal(gpuopt_knapsack_expand(one, 0, 6, &i), GPUOPT_OK);
        if (k & 1) { /* dealt by bytes */
            free(model_pack(two, -1, 1, &size));
            assert_int_equal(gpuopt_knapsack_split(one, 2, NULL, 0, &size), GPUOPT_OK);
            bytes = malloc(size);
            assert_non_null(bytes);
            assert_int_equal(gpuopt_knapsack_split(one, 2, bytes, size, &size), GPUOPT_OK);
            assert_int_equal(gpuopt_knapsack_unpack(two, bytes, size, 0), GPUOPT_OK);
            free(bytes);
        } else { /* each keeps its own */
            assert_int_equal(gpuopt_knapsack_expand(two, 0, 6, &other), GPUOPT_OK);
            assert_int_equal(gpuopt_knapsack_take_share(one, 0, 2), GPUOPT_OK);
            assert_int_equal(gpuopt_knapsack_take_share(two, 1, 2), GPUOPT_OK);
        }
        assert_int_equal(gpuopt_knapsack_expand(one, 0, 0, &i), GPUOPT_OK);
        assert_int_equal(gpuopt_knapsack_expand(two, 0, 0, &other), GPUOPT_OK);
        assert_true(i.primal_bound <= optimum && other.primal_bound <= optimum &&
                    (i.primal_bound == optimum || other.primal_bound == optimum));
        assert_true(bounded_check(one, &b, copies) == i.primal_bound &&
                    bounded_check(two, &b, copies) == other.primal_bound);
        /* A checkpoint of a search at its end holds the solution, and passes it to a fresh handle. */
        bytes = model_pack(i.primal_bound == optimum ? one : two, -1, 0, &size);
        gpuopt_knapsack_destroy(one);
        one = model_create(context, &desc);
        assert_int_equal(gpuopt_knapsack_unpack(one, bytes, size, 0), GPUOPT_OK);
        assert_true(bounded_check(one, &b, copies) == optimum);
        free(bytes);
        gpuopt_knapsack_destroy(one);
        gpuopt_knapsack_destroy(two);
    }
    gpuopt_context_destroy(context);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(every_search), cmocka_unit_test(more_items), cmocka_unit_test(strong_ones),
    cmocka_unit_test(alike),        cmocka_unit_test(shared),
};

TEST_MAIN(tests)
