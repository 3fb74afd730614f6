/* SPDX-License-Identifier: MIT
 *
 * Batches of small knapsacks against dynamic programming (over weights, with several copies of an item) and, for large
 * numbers, all solutions; limits; strides; the same bits as on one thread of the CPU.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/knapsack/draws.h"

/* The most profit with items j and later, of all solutions. */
static wide optimum_of_all(const draw *d, int32_t k, int32_t j, wide residual) {
    wide best = 0, copy;
    if (j == d->items) return 0;
    for (copy = 0; copy <= draw_copies(d, k, j) && copy * draw_weight(d, k, j) <= residual; copy++) {
        const wide profit =
            copy * draw_profit(d, k, j) + optimum_of_all(d, k, j + 1, residual - copy * draw_weight(d, k, j));
        if (profit > best) best = profit;
    }
    return best;
}

/* Stopped by the limit: a solution, and a bound. */
static void check_cut(const draw *d, const reply *s, int32_t k, int64_t optimum) {
    assert_true(s->outcome[k] == GPUOPT_LIMIT && s->nodes[k] == d->p.node_limit);
    assert_true(s->lower[k] <= optimum && optimum <= s->upper[k]);
    draw_check_solution(d, s, k);
}

/* ---- Answers ---- */

/* Knapsacks of all classes, with up to 1, 3, 6 or 9 copies of an item, and with ITEMS items or fewer. */
static void optimal(void **state) {
    gpuopt_context *context = test_context(NULL);
    reply *s = reply_new();
    uint64_t seed = 1;
    int round, total = 0, solved = 0;
    (void)state;
    for (round = 0; round < test_times(40, 10); round++) {
        const int32_t items = round % 3 == 0 ? 1 + round % 20 : round % 3 == 1 ? 30 : ITEMS;
        const int32_t count = test_few() ? 24 : COUNT;
        draw *d = draw_random(&seed, count, items, items, round % 2 ? 60 : 200, round % 4 == 0 ? 1 : round % 4 * 3);
        int32_t k;
        if (round % 4 == 0 && round % 8) d->p.copies_max = NULL;
        d->p.node_limit = test_emulated() ? 1000 : 20000;
        draw_run(context, d, s);
        for (k = 0; k < count; k++, total++) {
            const int64_t optimum = draw_optimum(d, k);
            if (s->outcome[k] == GPUOPT_OPTIMAL) draw_check_solved(d, s, k, optimum), solved++;
            else check_cut(d, s, k, optimum);
        }
        draw_free(d);
    }
    assert_true(solved * 10 > total * 7); /* multiples of two items are too hard */
    free(s);
    gpuopt_context_destroy(context);
}

/* Numbers of all sizes, up to 2^63 - 1. */
static void large_numbers(void **state) {
    gpuopt_context *context = test_context(NULL);
    reply *s = reply_new();
    uint64_t seed = 2;
    int round, solved = 0, refused = 0;
    (void)state;
    for (round = 0; round < test_times(600, 300); round++) {
        const int32_t items = 1 + round % 6;
        draw *d = draw_new(1, items, items);
        gpuopt_knapsack_batch *batch = draw_batch(context, items, 1);
        const int shift = (int)test_random_int(&seed, 0, 62);
        wide sum = 0, profits = 0, of_use;
        int32_t j;
        gpuopt_status status;
        for (j = 0; j < items; j++) {
            d->weight[j] = test_random_int(&seed, 0, INT64_MAX >> shift);
            d->profit[j] = round % 3 ? test_random_int(&seed, 0, INT64_MAX >> test_random_int(&seed, 0, 62))
                                     : d->weight[j] / items + (round % 2);
            d->upper[j] = (int32_t)test_random_int(&seed, 0, 3);
            sum += (wide)d->weight[j] * d->upper[j];
        }
        d->capacity[0] = sum / 2 > INT64_MAX ? INT64_MAX - round % 5 : (int64_t)(sum / 2);
        for (j = 0; j < items; j++) {
            of_use = d->weight[j] == 0 ? 3 : d->capacity[0] / d->weight[j];
            profits += d->profit[j] * (of_use < d->upper[j] ? of_use : d->upper[j]);
        }
        status = gpuopt_knapsack_batch_run(batch, GPUOPT_HOST, &d->p, &s->r);
        assert_int_equal(status, profits > INT64_MAX ? GPUOPT_ERROR_NUMERIC : GPUOPT_OK);
        if (!status) draw_check_solved(d, s, 0, optimum_of_all(d, 0, 0, d->capacity[0]));
        solved += !status;
        refused += status != GPUOPT_OK;
        gpuopt_knapsack_batch_destroy(batch);
        draw_free(d);
    }
    assert_true(solved > round / 3 && (refused > 0 || test_few()));
    free(s);
    gpuopt_context_destroy(context);
}

/* Knapsacks without a decision to make. */
static void trivial(void **state) {
    static const int64_t weight[3][3] = {{5, 6, 7}, {0, 0, 0}, {2, 3, 9}},
                         profit[3][3] = {{1, 2, 3}, {4, 0, 7}, {0, -5, 3}};
    static const int64_t capacity[3] = {4, 0, 8}, optimum[3] = {0, 18, 0};
    static const int32_t upper[3] = {1, 9, 2};
    gpuopt_context *context = test_context(NULL);
    gpuopt_knapsack_batch *batch = draw_batch(context, 3, 5);
    gpuopt_knapsack_problems p = GPUOPT_INIT(gpuopt_knapsack_problems);
    reply *s = reply_new();
    int k;
    (void)state;
    assert_int_equal(gpuopt_knapsack_batch_run(batch, GPUOPT_HOST, &p, &s->r), GPUOPT_OK); /* none */
    p.weight = weight[0];
    p.profit = profit[0];
    p.capacity = capacity;
    p.copies_max = upper;
    p.count = 3;
    p.weight_stride = p.profit_stride = 3;
    p.capacity_stride = 1;
    assert_int_equal(gpuopt_knapsack_batch_run(batch, GPUOPT_HOST, &p, NULL), GPUOPT_OK);
    assert_int_equal(gpuopt_knapsack_batch_run(batch, GPUOPT_HOST, &p, &s->r), GPUOPT_OK);
    for (k = 0; k < 3; k++) {
        assert_int_equal(s->outcome[k], GPUOPT_OPTIMAL);
        assert_true(s->lower[k] == optimum[k] && s->upper[k] == optimum[k] && s->nodes[k] == 0);
    }
    assert_true(s->taken[3] == 1 && s->taken[4] == 0 && s->taken[5] == 2);
    assert_int_equal(s->outcome[3], 0x55555555); /* is of no knapsack */
    free(s);
    gpuopt_knapsack_batch_destroy(batch);
    gpuopt_context_destroy(context);
}

/* An interrupted search has a solution and a bound on both sides of the optimum, and counts its nodes. */
static void limits(void **state) {
    gpuopt_context *context = test_context(NULL);
    reply *s = reply_new();
    uint64_t seed = 3;
    draw *d = draw_random(&seed, COUNT, ITEMS, ITEMS, 300, 3);
    int64_t *optimum = malloc(sizeof *optimum * COUNT), *before = malloc(sizeof *before * COUNT);
    int32_t k, cut = 0, between = 0;
    int64_t limit;
    (void)state;
    for (k = 0; k < COUNT; k++) optimum[k] = draw_optimum(d, k), before[k] = INT64_MAX;
    for (limit = 1; limit <= 4096; limit = limit * 3 + 1) {
        d->p.node_limit = limit;
        draw_run(context, d, s);
        for (k = 0; k < COUNT; k++) {
            if (s->outcome[k] == GPUOPT_OPTIMAL) draw_check_solved(d, s, k, optimum[k]);
            else check_cut(d, s, k, optimum[k]);
            assert_true(s->upper[k] <= before[k]);
            cut += s->outcome[k] == GPUOPT_LIMIT;
            if (limit > 1) between += s->outcome[k] == GPUOPT_LIMIT && s->upper[k] < before[k];
            before[k] = s->upper[k];
        }
    }
    assert_true(cut > 50 && between > 5); /* the bound falls during the search */
    free(before);
    free(optimum);
    draw_free(d);
    free(s);
    gpuopt_context_destroy(context);
}

/* Shared arrays, and longer strides, are the same knapsacks. */
static void strides(void **state) {
    gpuopt_context *context = test_context(NULL);
    reply *one = reply_new(), *other = reply_new();
    uint64_t seed = 4;
    draw *d = draw_random(&seed, 24, 20, 33, 100, 4), *shared = draw_new(24, 20, 20);
    int32_t k, j, kind;
    (void)state;
    for (kind = 0; kind < 16; kind++) { /* a bit for each array that all have in common */
        d->p.weight_stride = kind & 1 ? 0 : 33;
        d->p.profit_stride = kind & 2 ? 0 : 33;
        d->p.copies_max_stride = kind & 4 ? 0 : 33;
        d->p.capacity_stride = kind & 8 ? 0 : 1;
        for (k = 0; k < 24; k++) {
            for (j = 0; j < 20; j++) {
                shared->weight[k * 20 + j] = draw_weight(d, k, j);
                shared->profit[k * 20 + j] = draw_profit(d, k, j);
                shared->upper[k * 20 + j] = (int32_t)draw_copies(d, k, j);
            }
            shared->capacity[k] = draw_capacity(d, k);
        }
        draw_run(context, d, one);
        draw_run(context, shared, other);
        assert_true(reply_same(one, other, 24, 20));
    }
    draw_free(shared);
    draw_free(d);
    free(other);
    free(one);
    gpuopt_context_destroy(context);
}

/* The backend under test agrees with one thread of the CPU, node for node. */
static void same_bits(void **state) {
    gpuopt_context *context = test_context(NULL), *plain = test_plain_context();
    reply *one = reply_new(), *other = reply_new();
    uint64_t seed = 5;
    int round;
    (void)state;
    for (round = 0; round < test_times(12, 4); round++) {
        const int32_t count = round % 2 ? COUNT : 7;
        draw *d = draw_random(&seed, count, ITEMS, ITEMS, 1 << (8 + round % 12), 1 + round % 5);
        d->p.node_limit = test_few() ? 300 : 2000;
        draw_run(context, d, one);
        draw_run(plain, d, other);
        assert_true(reply_same(one, other, count, ITEMS));
        draw_free(d);
    }
    free(other);
    free(one);
    gpuopt_context_destroy(plain);
    gpuopt_context_destroy(context);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(optimal), cmocka_unit_test(large_numbers), cmocka_unit_test(trivial),
    cmocka_unit_test(limits),  cmocka_unit_test(strides),       cmocka_unit_test(same_bits),
};

TEST_MAIN(tests)
