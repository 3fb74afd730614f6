/* SPDX-License-Identifier: MIT
 *
 * The lists of groups of items, alone and with capacity for few states, so that they are shortened repeatedly: with any
 * multiplier they bound the result of a dynamic program.
 */
#define GPUOPT__KNAPSACK_GROUP_STATES 6

#include <stdlib.h>

#include "tests/knapsack/models.h"

#include "gpuopt.h"
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wunused-function"
#endif
#include "gpuopt_impl/knapsack/strengthen/weight_classes.h"

#include "tests/knapsack/lists.h"

/* The bound, if the lists keep all solutions better than `lower`; in 1 / SCALE of profit. */
static int64_t bound(const model *m, int32_t groups, int64_t within, int64_t lambda, int64_t lower) {
    gpuopt__knapsack_grouping g;
    gpuopt__knapsack_view view;
    const gpuopt__knapsack_group_state *list;
    int64_t most = INT64_MIN;
    int32_t s, at;
    void *memory = lists_make(m, groups, within, lambda, lower, &view, &g);
    list = gpuopt__knapsack_group_list(&g, groups - 1);
    for (s = 0, at = g.fills; s < g.length[groups - 1]; s++) {
        const int64_t value = list[s].value + gpuopt__knapsack_group_fill(&g, m->capacity - list[s].weight, &at);
        assert_true(s == 0 || list[s].weight > list[s - 1].weight);
        if (value > most) most = value;
    }
    assert_true(s <= GPUOPT__KNAPSACK_GROUP_STATES);
    free(memory);
    return most == INT64_MIN ? most : most + lambda * m->capacity;
}

static void true_bounds(void **state) {
    uint64_t random = 97;
    int k, i;
    (void)state;
    for (k = 0; k < test_times(2000, 2000); k++) {
        const int32_t groups = 2 + k % 4;
        model m;
        int64_t optimum;
        int32_t j;
        memset(&m, 0, sizeof m);
        m.items = groups * (int32_t)test_random_int(&random, 2, 8);
        for (j = 0; j < m.items; j++) {
            const int64_t share = 1000 >> (j % groups);
            m.weight[j] = share + test_random_int(&random, 1, 20);
            m.profit[j] = share / (1 + k % 2) + test_random_int(&random, 1, 20);
        }
        m.capacity = test_random_int(&random, 1000, 5000);
        model_sort(&m);
        optimum = model_optimum(&m);
        for (i = 0; i < 4; i++) {
            const int64_t lambda = i * test_random_int(&random, 0, 700);
            assert_true(bound(&m, groups, 25, lambda, optimum - 1) >= GPUOPT__KNAPSACK_GROUP_SCALE * optimum);
            assert_true(bound(&m, groups, 25, lambda, optimum / 2) >= GPUOPT__KNAPSACK_GROUP_SCALE * optimum);
        }
    }
}

/* Groups are found where they are, and only there. */
static void finds(void **state) {
    static model m;
    gpuopt__knapsack_view view;
    int32_t order[MODEL_MOST], spare[MODEL_MOST], j;
    int64_t gap[MODEL_MOST], within;
    uint64_t random = 101;
    int k;
    (void)state;
    for (k = 0; k < 300; k++) {
        const int32_t groups = 2 + k % 63;
        memset(&view, 0, sizeof view);
        m.items = MODEL_MOST - k;
        for (j = 0; j < m.items; j++)
            m.weight[j] = 1 + 20000 * (int64_t)(j % groups) + test_random_int(&random, 0, 99) + (k % 2 ? 7 : 0);
        view.table.weight = m.weight;
        view.last = m.items;
        within = -1;
        j = gpuopt__knapsack_group_find(&view, order, spare, gap, &within);
        assert_int_equal(j, groups <= m.items / 4 ? groups : 0);
        assert_true(j == 0 || (within >= 0 && within < 100));
        for (j = 0; j < m.items; j++) m.weight[j] = test_random_int(&random, 1, 1000000);
        assert_int_equal(gpuopt__knapsack_group_find(&view, order, spare, gap, &within), 0);
        for (j = 0; j < m.items; j++) m.weight[j] = 5;
        assert_int_equal(gpuopt__knapsack_group_find(&view, order, spare, gap, &within), 0);
    }
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(true_bounds), cmocka_unit_test(finds)};

TEST_MAIN(tests)
