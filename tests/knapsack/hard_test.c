/* SPDX-License-Identifier: MIT
 *
 * Special cases: trivial problems, numbers near 2^63, ties, incumbents and claims from the caller, calls after the end.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/knapsack/models.h"

static gpuopt_knapsack_info solve(const model *m, int64_t optimum) {
    gpuopt_context *context = test_context(NULL);
    gpuopt_knapsack_info info = {0};
    int search, reduce;
    for (search = 0; search < 3; search++)
        for (reduce = 0; reduce < 2; reduce++) {
            gpuopt_knapsack_desc desc = model_desc(m);
            gpuopt_knapsack *knapsack;
            desc.search = (gpuopt_knapsack_search)search;
            desc.reduction = reduce ? GPUOPT_ON : GPUOPT_OFF;
            knapsack = model_create(context, &desc);
            info = model_finish(knapsack, m, optimum);
            gpuopt_knapsack_destroy(knapsack);
        }
    gpuopt_context_destroy(context);
    return info;
}

static model small(int32_t items, int64_t capacity, const int64_t (*item)[2]) {
    model m;
    int32_t j;
    memset(&m, 0, sizeof m);
    m.items = items;
    m.capacity = capacity;
    for (j = 0; j < items; j++) m.profit[j] = item[j][0], m.weight[j] = item[j][1];
    return m;
}

static void trivial(void **state) {
    static const int64_t items[][2] = {{5, 3}, {4, 2}, {0, 0}, {7, 0}, {0, 4}, {9, 100}, {4, 2}};
    model m = small(7, 7, items);
    (void)state;
    solve(&m, 20); /* all but the heavy one and the worthless one */
    m.capacity = 0;
    solve(&m, 7);
    m.capacity = 1000;
    solve(&m, 29);
    m.capacity = 4;
    solve(&m, 15);
    m.items = 0;
    solve(&m, 0);
    m.items = 1, m.capacity = 3;
    solve(&m, 5);
    m.capacity = 2;
    solve(&m, 0);
}

/* Sums of weights, sums of profits and products exceed 64 bits. */
static void large_numbers(void **state) {
    static const int64_t beyond[][2] = {{4000000000000000000, 4000000000000000000},
                                        {3000000000000000000, 3000000000000000001},
                                        {1000000000000000000, 5000000000000000000}};
    static const int64_t heavy[][2] = {{3, INT64_MAX}, {2, INT64_MAX - 1}, {2, 1}, {1, INT64_MAX}, {1, INT64_MAX}};
    static const int64_t rich[][2] = {{INT64_MAX, 5}, {INT64_MAX - 1, 5}, {INT64_MAX, 6}, {INT64_MAX - 1, 4}};
    static const int64_t middle[][2] = {{3000000019, 3000000001}, {2999999999, 2999999929}, {3000000000, 3000000037}};
    model m = small(3, 9000000000000000000, beyond);
    gpuopt_context *context;
    gpuopt_knapsack *knapsack = NULL;
    gpuopt_knapsack_desc desc;
    test_host host;
    (void)state;
    solve(&m, 7000000000000000000);
    m = small(5, INT64_MAX, heavy);
    solve(&m, 4);
    m = small(3, 6000000000, middle);
    solve(&m, 6000000018); /* the first and the second weigh 5999999930 */
    m = small(4, 9, rich); /* two of them have more than 2^63 - 1 */
    context = test_context(&host);
    desc = model_desc(&m);
    assert_int_equal(gpuopt_knapsack_create(context, &desc, NULL, &knapsack), GPUOPT_ERROR_NUMERIC);
    assert_true(knapsack == NULL && strstr(host.error, "2^63"));
    desc.capacity = 4;
    assert_int_equal(gpuopt_knapsack_create(context, &desc, NULL, &knapsack), GPUOPT_OK);
    m.capacity = 4;
    model_finish(knapsack, &m, INT64_MAX - 1);
    gpuopt_knapsack_destroy(knapsack);
    gpuopt_context_destroy(context);
    assert_int_equal(host.live, 0);
}

static void ties(void **state) {
    model m;
    int32_t j;
    (void)state;
    memset(&m, 0, sizeof m);
    m.items = 16; /* the paper's tree has every subset */
    m.capacity = 3 * 8 + 1;
    for (j = 0; j < m.items; j++) m.weight[j] = 3, m.profit[j] = 5;
    assert_true(solve(&m, 40).dual_bound == 40);
}

/* ---- Incumbents ---- */

/* A claim above the upper bound is refuted, and does not raise the bound. */
static void claims(void **state) {
    static const int64_t beyond[] = {1, 1000000, INT64_MAX};
    gpuopt_context *context = test_context(NULL);
    uint64_t random = 31;
    int k;
    (void)state;
    for (k = 0; k < test_times(300, 300); k++) {
        model m = model_random(k % MODEL_CLASSES, 16, 60, &random);
        int64_t optimum = model_optimum(&m), upper, claim = beyond[k % 3];
        gpuopt_knapsack_desc desc = model_desc(&m);
        gpuopt_knapsack *knapsack;
        gpuopt_knapsack_info info;
        desc.reduction = k & 1 ? GPUOPT_OFF : GPUOPT_ON;
        desc.search = k & 2 ? GPUOPT_SEARCH_BREADTH : GPUOPT_SEARCH_DOMINANCE;
        knapsack = model_create(context, &desc);
        gpuopt_desc_init(&info, sizeof info);
        assert_int_equal(gpuopt_knapsack_expand(knapsack, 0, k % 7 ? k % 7 : 0, &info), GPUOPT_OK);
        upper = info.dual_bound;
        if (claim < INT64_MAX) claim += upper;
        assert_int_equal(gpuopt_knapsack_set_incumbent(knapsack, GPUOPT_HOST, claim, NULL), GPUOPT_OK);
        assert_int_equal(gpuopt_knapsack_get_info(knapsack, &info), GPUOPT_OK);
        assert_true(info.dual_bound <= upper && info.dual_bound >= optimum);
        assert_int_equal(gpuopt_knapsack_expand(knapsack, 0, 0, &info), GPUOPT_OK);
        assert_true(info.outcome == GPUOPT_INFEASIBLE && info.dual_bound <= upper && info.dual_bound >= optimum);
        assert_true(info.primal_bound <= optimum && model_check_items(knapsack, &m) == info.primal_bound);
        gpuopt_knapsack_destroy(knapsack);
    }
    gpuopt_context_destroy(context);
}

static void incumbents(void **state) {
    gpuopt_context *context = test_context(NULL);
    uint64_t random = 99;
    int k;
    (void)state;
    for (k = 0; k < test_times(300, 300); k++) {
        model m = model_random(k % MODEL_CLASSES, 16, 60, &random);
        int64_t optimum = model_optimum(&m), claim = optimum + k % 5 - 2;
        gpuopt_knapsack_desc desc = model_desc(&m);
        gpuopt_knapsack *knapsack, *other;
        gpuopt_knapsack_info info;
        int64_t taken[MODEL_MOST];
        desc.reduction = k & 1 ? GPUOPT_OFF : GPUOPT_ON;
        desc.search = k & 2 ? GPUOPT_SEARCH_BREADTH : GPUOPT_SEARCH_DOMINANCE;
        knapsack = model_create(context, &desc);
        gpuopt_desc_init(&info, sizeof info);
        if (claim >= 0) assert_int_equal(gpuopt_knapsack_set_incumbent(knapsack, GPUOPT_HOST, claim, NULL), GPUOPT_OK);
        assert_int_equal(gpuopt_knapsack_expand(knapsack, 0, 0, &info), GPUOPT_OK);
        if (claim <= optimum) model_finish(knapsack, &m, optimum);
        else assert_true(info.outcome == GPUOPT_INFEASIBLE && model_check_items(knapsack, &m) == info.primal_bound);
        /* Its items become the incumbent of another search. */
        assert_int_equal(gpuopt_knapsack_get_items(knapsack, GPUOPT_HOST, taken, NULL, NULL), GPUOPT_OK);
        assert_int_equal(gpuopt_knapsack_get_info(knapsack, &info), GPUOPT_OK);
        other = model_create(context, &desc);
        assert_int_equal(gpuopt_knapsack_expand(other, 0, 3, NULL), GPUOPT_OK);
        assert_int_equal(gpuopt_knapsack_set_incumbent(other, GPUOPT_HOST, info.primal_bound, taken), GPUOPT_OK);
        assert_true(model_check_items(other, &m) >= info.primal_bound);
        model_finish(other, &m, optimum);
        gpuopt_knapsack_destroy(other);
        gpuopt_knapsack_destroy(knapsack);
    }
    gpuopt_context_destroy(context);
}

/* ---- After the end ---- */

static void ended(void **state) {
    gpuopt_context *context = test_context(NULL);
    uint64_t random = 21;
    int k;
    (void)state;
    for (k = 0; k < test_times(60, 60); k++) {
        model m = model_random(k % MODEL_CLASSES, 30, 60, &random);
        int64_t optimum = model_optimum(&m), profit, weight;
        gpuopt_knapsack_desc desc = model_desc(&m);
        gpuopt_knapsack *knapsack;
        gpuopt_knapsack_info info, after;
        int64_t taken[MODEL_MOST], again[MODEL_MOST], none[MODEL_MOST] = {0};
        knapsack = model_create(context, &desc);
        info = model_finish(knapsack, &m, optimum);
        assert_true(info.pool == 1 << 20); /* the default */
        gpuopt_desc_init(&after, sizeof after);
        assert_int_equal(gpuopt_knapsack_get_items(knapsack, GPUOPT_HOST, taken, &profit, &weight), GPUOPT_OK);
        assert_int_equal(gpuopt_knapsack_expand(knapsack, 1000, 3, NULL), GPUOPT_OK);
        assert_int_equal(gpuopt_knapsack_expand(knapsack, 0, 0, NULL), GPUOPT_OK);
        assert_int_equal(gpuopt_knapsack_set_incumbent(knapsack, GPUOPT_HOST, optimum, taken), GPUOPT_OK);
        assert_int_equal(gpuopt_knapsack_set_incumbent(knapsack, GPUOPT_HOST, optimum, NULL), GPUOPT_OK);
        assert_int_equal(gpuopt_knapsack_set_incumbent(knapsack, GPUOPT_HOST, 0, none), GPUOPT_OK);
        assert_int_equal(gpuopt_knapsack_get_info(knapsack, &after), GPUOPT_OK);
        assert_memory_equal(&after, &info, sizeof info);
        assert_int_equal(gpuopt_knapsack_get_items(knapsack, GPUOPT_HOST, again, NULL, NULL), GPUOPT_OK);
        assert_memory_equal(again, taken, (size_t)m.items * sizeof *taken);
        /* A false claim, after the end. */
        assert_int_equal(gpuopt_knapsack_set_incumbent(knapsack, GPUOPT_HOST, optimum + 1, NULL), GPUOPT_OK);
        assert_int_equal(gpuopt_knapsack_get_info(knapsack, &after), GPUOPT_OK);
        assert_true(after.outcome == GPUOPT_INFEASIBLE && after.primal_bound == optimum && after.dual_bound == optimum);
        gpuopt_knapsack_destroy(knapsack);
    }
    gpuopt_context_destroy(context);
}

/* ---- Numbers of items ---- */

enum { HALF = 14 };

static int compare_sums(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The largest sum of weights within the capacity, of all sums of one half with all of the other. */
static int64_t largest_sum(const model *m) {
    enum { SUMS = 1 << HALF };
    static int64_t sum[2][SUMS];
    int64_t best = 0;
    int half, i, j;
    for (half = 0; half < 2; half++) {
        for (i = 1; i < SUMS; i++) {
            for (j = 0; !(i >> j & 1); j++) {}
            sum[half][i] = sum[half][i & (i - 1)] + m->weight[half * HALF + j];
        }
        qsort(sum[half], SUMS, sizeof **sum, compare_sums);
    }
    for (i = 0, j = SUMS - 1; i < SUMS; i++) {
        while (j >= 0 && sum[0][i] + sum[1][j] > m->capacity) j--;
        if (j >= 0 && sum[0][i] + sum[1][j] > best) best = sum[0][i] + sum[1][j];
    }
    return best;
}

/* Profits equal to weights that are nearly alike. No better solution has more items than fit, nor fewer, and the search
 * is long enough for bounds from the number of items. */
static void one_number_of_items(void **state) {
    gpuopt_context *context = test_context(NULL);
    uint64_t random = 31;
    int trial, j;
    (void)state;
    for (trial = 0; trial < test_times(12, 12); trial++) {
        model m;
        gpuopt_knapsack_desc desc;
        gpuopt_knapsack *knapsack;
        gpuopt_knapsack_info info;
        m.items = 2 * HALF;
        m.capacity = 0;
        for (j = 0; j < m.items; j++) {
            m.profit[j] = m.weight[j] = 1000000000 + test_random_int(&random, 0, 1000000);
            if (j % 2) m.capacity += m.weight[j];
        }
        m.capacity += test_random_int(&random, -1000, 1000);
        desc = model_desc(&m);
        knapsack = model_create(context, &desc);
        info = model_finish(knapsack, &m, largest_sum(&m));
        assert_true(info.expanded > 64 * m.items);
        gpuopt_knapsack_destroy(knapsack);
    }
    gpuopt_context_destroy(context);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(one_number_of_items),
    cmocka_unit_test(trivial),
    cmocka_unit_test(large_numbers),
    cmocka_unit_test(ties),
    cmocka_unit_test(incumbents),
    cmocka_unit_test(claims),
    cmocka_unit_test(ended),
};

TEST_MAIN(tests)
