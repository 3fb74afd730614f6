/* SPDX-License-Identifier: MIT
 *
 * Knapsacks with many equal items, which the search takes as bundles, against dynamic programming. Every search, with
 * copies of items, with more of them than fit; the number of remaining levels; nodes passed to another handle.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/knapsack/bounded.h"

#define LARGE ((int64_t)1 << 53)

enum { MODELS = 150, TYPES = 24 };

/* Items of `types` types, at most `most` of each, in any order. Weights have the same few divisors, so that some types
 * have the same profit per weight. Items are worth `gain` more than they weigh if gain is 0 or more, else anything. */
static model of_types(int32_t types, int32_t most, int64_t gain, uint64_t *random) {
    model m;
    int32_t j, k;
    memset(&m, 0, sizeof m);
    for (j = 0; j < types; j++) {
        const int64_t weight = test_random_int(random, 1, 12) * test_random_int(random, 1, 4),
                      profit = gain >= 0 ? weight + gain : test_random_int(random, 1, 40);
        const int64_t count = test_random_int(random, 1, most);
        for (k = 0; k < count && m.items < MODEL_MOST; k++) {
            m.weight[m.items] = weight;
            m.profit[m.items++] = profit;
        }
    }
    for (j = m.items - 1; j > 0; j--) {
        const int32_t other = (int32_t)test_random_int(random, 0, j);
        const int64_t weight = m.weight[j], profit = m.profit[j];
        m.weight[j] = m.weight[other], m.profit[j] = m.profit[other];
        m.weight[other] = weight, m.profit[other] = profit;
    }
    for (j = 0; j < m.items; j++) m.capacity += m.weight[j];
    m.capacity = test_random_int(random, 1, 4) == 1 ? test_random_int(random, 1, 60)
                                                    : m.capacity * test_random_int(random, 1, 9) / 10 + 1;
    return m;
}

/* Makes a handle, and expands it to the end. */
static gpuopt_knapsack_info solve(gpuopt_context *context, const gpuopt_knapsack_desc *desc, const model *m,
                                  int64_t optimum) {
    gpuopt_knapsack *knapsack = model_create(context, desc);
    const gpuopt_knapsack_info info = model_finish(knapsack, m, optimum);
    gpuopt_knapsack_destroy(knapsack);
    return info;
}

static void every_search(void **state) {
    gpuopt_context *context = test_context(NULL);
    uint64_t random = 31;
    int k, search;
    (void)state;
    for (k = 0; k < MODELS; k++) {
        const model m = of_types(1 + k % TYPES, k % 2 ? 4 : 30, k % 3 - 1, &random);
        const int64_t optimum = model_optimum(&m);
        for (search = 0; search < 3; search++) {
            gpuopt_knapsack_desc desc = model_desc(&m);
            desc.search = (gpuopt_knapsack_search)search;
            desc.reduction = GPUOPT_ON;
            desc.pool = k & 4 ? 1 : 0;
            if (search > 0 && m.items > 30) continue;
            solve(context, &desc, &m, optimum);
        }
    }
    gpuopt_context_destroy(context);
}

/* Equal items of several copies each: a bundle has the copies of all of them, which bounds count. */
static void with_copies(void **state) {
    gpuopt_context *context = test_context(NULL);
    uint64_t random = 32;
    int64_t copies[MODEL_MOST + 1];
    int k, long_ones = 0;
    (void)state;
    for (k = 0; k < MODELS; k++) {
        bounded b;
        int64_t optimum;
        int32_t j;
        gpuopt_knapsack_desc desc;
        gpuopt_knapsack_info info;
        gpuopt_knapsack *knapsack;
        memset(&b, 0, sizeof b);
        for (j = 0; j < 12; j++) { /* nearly alike, so that the search is long; each three times */
            b.m.weight[j] = 200 + test_random_int(&random, -4, 4);
            b.m.profit[j] = b.m.weight[j] + (test_random_int(&random, 0, 1) ? 3 : -3);
        }
        b.m.items = 36;
        for (j = 0; j < b.m.items; j++) {
            b.m.weight[j] = b.m.weight[j % 12];
            b.m.profit[j] = b.m.profit[j % 12];
            b.upper[j] = test_random_int(&random, 0, 5);
            b.m.capacity += b.m.weight[j] * b.upper[j];
        }
        b.m.capacity = b.m.capacity * test_random_int(&random, 1, 9) / 10 + 1;
        optimum = bounded_optimum(&b);
        desc = bounded_desc(&b);
        knapsack = model_create(context, &desc);
        gpuopt_desc_init(&info, sizeof info);
        assert_int_equal(gpuopt_knapsack_expand(knapsack, 0, 0, &info), GPUOPT_OK);
        assert_int_equal(info.outcome, GPUOPT_OPTIMAL);
        assert_true(info.primal_bound == optimum && bounded_check(knapsack, &b, copies) == optimum);
        if (info.expanded > 4 * (int64_t)info.free_items) long_ones++;
        gpuopt_knapsack_destroy(knapsack);
    }
    assert_true(long_ones > 10);
    gpuopt_context_destroy(context);
}

enum { EACH = 63, BUNDLES = 6 }; /* equal items of a type: 1, 2, 4, ..., 32 of them */

/* The optimum of a model with EACH items of each of its first `types` types, which are `apart` from one another.
 * Dynamic programming takes a tenth of the time, since any number of a type is a sum of some of its bundles. */
static int64_t optimum_by_bundles(const model *m, int32_t types, int32_t apart) {
    model b;
    int32_t type, k;
    memset(&b, 0, sizeof b);
    b.capacity = m->capacity;
    for (type = 0; type < types; type++)
        for (k = 0; k < BUNDLES; k++) {
            b.weight[b.items] = m->weight[type * apart] << k;
            b.profit[b.items++] = m->profit[type * apart] << k;
        }
    return model_optimum(&b);
}

/* A level for each bundle: u equal items are about log2 u. And fewer nodes than without. */
static void levels(void **state) {
    gpuopt_context *context = test_context(NULL);
    uint64_t random = 33;
    int64_t with = 0, without = 0;
    int k, many = 0;
    (void)state;
    for (k = 0; k < 40; k++) {
        model m;
        int32_t j, type;
        int64_t optimum;
        gpuopt_knapsack_desc desc;
        gpuopt_knapsack_info info;
        memset(&m, 0, sizeof m);
        for (type = 0; type < 8; type++) {
            const int64_t weight = test_random_int(&random, 300, 1000),
                          profit = weight + test_random_int(&random, 0, 9);
            for (j = 0; j < EACH; j++) m.weight[m.items] = weight, m.profit[m.items++] = profit;
        }
        for (j = 0; j < m.items; j++) m.capacity += m.weight[j];
        m.capacity = m.capacity / 2 + k;
        optimum = optimum_by_bundles(&m, 8, EACH);
        desc = model_desc(&m);
        desc.reduction = GPUOPT_OFF;
        info = solve(context, &desc, &m, optimum);
        assert_int_equal(info.free_items, m.items);
        without += info.expanded;
        desc.reduction = GPUOPT_ON;
        info = solve(context, &desc, &m, optimum);
        assert_true(info.free_items <= 8 * BUNDLES);
        if (info.free_items > 6) many++;
        with += info.expanded;
    }
    assert_true(many > 10);
    assert_true(10 * with < without);
    gpuopt_context_destroy(context);
}

/* The same if all items have the same profit per weight, and equal items are not neighbours. */
static void mixed_levels(void **state) {
    gpuopt_context *context = test_context(NULL);
    uint64_t random = 36;
    int k, many = 0;
    (void)state;
    for (k = 0; k < 40; k++) {
        model m;
        int32_t j;
        gpuopt_knapsack_desc desc;
        gpuopt_knapsack_info info;
        memset(&m, 0, sizeof m);
        m.items = 8 * EACH;
        for (j = 0; j < m.items; j++) {
            m.weight[j] = j < 8 ? test_random_int(&random, 300, 1000) : m.weight[j % 8];
            m.profit[j] = 3 * m.weight[j];
            m.capacity += m.weight[j] / 2;
        }
        desc = model_desc(&m);
        info = solve(context, &desc, &m, optimum_by_bundles(&m, 8, 1));
        assert_true(info.free_items <= 8 * BUNDLES);
        if (info.free_items > 6) many++;
    }
    assert_true(many > 10);
    gpuopt_context_destroy(context);
}

/* Far more equal items than fit. Half of the models have weights so large that twice the capacity does not fit 64 bits;
 * amounts below LARGE are then too small to matter. */
static void more_than_fit(void **state) {
    gpuopt_context *context = test_context(NULL);
    uint64_t random = 37;
    int k, searched = 0;
    (void)state;
    for (k = 0; k < MODELS; k++) {
        model m;
        int32_t j;
        int64_t optimum;
        gpuopt_knapsack_desc desc;
        memset(&m, 0, sizeof m);
        m.items = 12 * 40;
        for (j = 0; j < m.items; j++) {
            m.weight[j] = j < 12 ? test_random_int(&random, 50, 99) : m.weight[j % 12];
            m.profit[j] = j < 12 ? m.weight[j] + test_random_int(&random, 0, 3) : m.profit[j % 12];
        }
        m.capacity = test_random_int(&random, 100, 600);
        optimum = model_optimum(&m);
        if (k % 2) {
            for (j = 0; j < m.items; j++) m.weight[j] = LARGE * m.weight[j] + j % 12;
            m.capacity = LARGE * m.capacity + LARGE - 1;
        }
        desc = model_desc(&m);
        if (solve(context, &desc, &m, optimum).expanded > 0) searched++;
    }
    assert_true(searched > MODELS / 4);
    gpuopt_context_destroy(context);
}

/* Strongly correlated items are easy by bounds from the number of items, in which a bundle counts all of its items. The
 * optimum is computed for the types with as many copies. */
static void strong_ones(void **state) {
    enum { TYPE = 200, SAME = 15 };
    gpuopt_context *context = test_context(NULL);
    uint64_t random = 38;
    int k;
    (void)state;
    for (k = 0; k < 4; k++) {
        static int64_t weight[TYPE * SAME], profit[TYPE * SAME], upper[TYPE];
        gpuopt_knapsack_desc desc;
        gpuopt_knapsack_info items, types;
        gpuopt_knapsack *knapsack;
        int32_t j;
        gpuopt_desc_init(&desc, sizeof desc);
        gpuopt_desc_init(&items, sizeof items);
        gpuopt_desc_init(&types, sizeof types);
        desc.capacity = k;
        for (j = 0; j < TYPE * SAME; j++) {
            weight[j] = j < TYPE ? test_random_int(&random, 1, 10000) : weight[j % TYPE];
            profit[j] = weight[j] + 1000;
            upper[j % TYPE] = SAME;
            desc.capacity += weight[j] / 2;
        }
        desc.items = TYPE * SAME;
        desc.weight = weight;
        desc.profit = profit;
        desc.node_limit = 200000; /* millions, if bundles are counted */
        knapsack = model_create(context, &desc);
        assert_int_equal(gpuopt_knapsack_expand(knapsack, 0, 0, &items), GPUOPT_OK);
        gpuopt_knapsack_destroy(knapsack);
        desc.items = TYPE;
        desc.copies_max = upper;
        knapsack = model_create(context, &desc);
        assert_int_equal(gpuopt_knapsack_expand(knapsack, 0, 0, &types), GPUOPT_OK);
        gpuopt_knapsack_destroy(knapsack);
        assert_true(items.outcome == GPUOPT_OPTIMAL && types.outcome == GPUOPT_OPTIMAL);
        assert_true(items.primal_bound == types.primal_bound);
    }
    gpuopt_context_destroy(context);
}

/* Half of the nodes go to another handle of the same items, as bytes. */
static void shared(void **state) {
    gpuopt_context *context = test_context(NULL);
    uint64_t random = 34, size;
    int k, some = 0;
    (void)state;
    for (k = 0; k < MODELS; k++) {
        const model m = of_types(TYPES, 12, k % 3 - 1, &random);
        const int64_t optimum = model_optimum(&m);
        const gpuopt_knapsack_desc desc = model_desc(&m);
        gpuopt_knapsack *one = model_create(context, &desc), *two = model_create(context, &desc);
        gpuopt_knapsack_info i, other;
        unsigned char *bytes;
        gpuopt_desc_init(&i, sizeof i);
        gpuopt_desc_init(&other, sizeof other);
        assert_int_equal(gpuopt_knapsack_expand(one, 0, 5, &i), GPUOPT_OK);
        some += i.alive > 1;
        free(model_pack(two, -1, 1, &size));
        bytes = model_pack(one, i.alive / 2, 1, &size);
        assert_int_equal(gpuopt_knapsack_unpack(two, bytes, size, 0), GPUOPT_OK);
        free(bytes);
        assert_int_equal(gpuopt_knapsack_expand(one, 0, 0, &i), GPUOPT_OK);
        assert_int_equal(gpuopt_knapsack_expand(two, 0, 0, &other), GPUOPT_OK);
        assert_true(i.primal_bound <= optimum && other.primal_bound <= optimum &&
                    (i.primal_bound == optimum || other.primal_bound == optimum));
        assert_true(model_check_items(one, &m) == i.primal_bound && model_check_items(two, &m) == other.primal_bound);
        gpuopt_knapsack_destroy(one);
        gpuopt_knapsack_destroy(two);
    }
    assert_true(some > 10);
    gpuopt_context_destroy(context);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(every_search), cmocka_unit_test(with_copies),   cmocka_unit_test(levels),
    cmocka_unit_test(mixed_levels), cmocka_unit_test(more_than_fit), cmocka_unit_test(strong_ones),
    cmocka_unit_test(shared),
};

TEST_MAIN(tests)
