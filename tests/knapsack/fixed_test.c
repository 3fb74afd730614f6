/* SPDX-License-Identifier: MIT
 *
 * Items fixed by the lists of groups of items. They are fixed as in every solution that is better than the incumbent,
 * as trying all solutions shows. With any multiplier, and with profits so large that bounds are rounded.
 */
#define GPUOPT__KNAPSACK_GROUP_STATES 64

#include <stdlib.h>

#include "tests/knapsack/models.h"

#include "gpuopt.h"
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wunused-function"
#endif
#include "gpuopt_impl/knapsack/strengthen/weight_classes_reduce.h"

#include "tests/knapsack/lists.h"

enum { MOST = 12 };

/* Fills in the lists' decision for each item, for solutions of more profit than `lower`. */
static void choose(const model *m, int32_t groups, int64_t within, int64_t lambda, int64_t lower, uint8_t *choice) {
    gpuopt__knapsack_grouping g;
    gpuopt__knapsack_view view;
    void *memory = lists_make(m, groups, within, lambda, lower, &view, &g);
    assert_true(gpuopt__knapsack_group_choose(&g, choice));
    free(memory);
}

/* The weight and profit of some items. */
static int64_t add_up(const model *m, uint32_t some, int64_t *profit) {
    int64_t weight = 0;
    int32_t j;
    for (*profit = 0, j = 0; j < m->items; j++)
        if (some >> j & 1) weight += m->weight[j], *profit += m->profit[j];
    return weight;
}

/* Checks the choices against all solutions of more profit than the optimum less `slack`. Returns how many items are
 * fixed. */
static int check(const model *m, int32_t groups, int64_t within, int64_t lambda, int64_t slack) {
    static int64_t profit[1 << MOST];
    uint8_t choice[MOST];
    const uint32_t all = (uint32_t)1 << m->items;
    int64_t optimum = 0;
    uint32_t some;
    int32_t j;
    int fixed = 0;
    for (some = 0; some < all; some++) {
        if (add_up(m, some, &profit[some]) > m->capacity) profit[some] = -1;
        if (profit[some] > optimum) optimum = profit[some];
    }
    choose(m, groups, within, lambda, optimum - slack, choice);
    for (some = 0; some < all; some++)
        for (j = 0; j < m->items && profit[some] > optimum - slack; j++)
            assert_true(choice[j] == 2 || choice[j] == (some >> j & 1));
    for (j = 0; j < m->items; j++) fixed += choice[j] != 2;
    return fixed;
}

/* Two or three groups; the last has the most items. */
static model in_groups(int32_t items, int groups, int64_t width, uint64_t *random) {
    model m;
    int32_t j;
    memset(&m, 0, sizeof m);
    m.items = items;
    for (j = 0; j < items; j++) {
        const int group = j < 2 * (groups - 1) ? j / 2 : groups - 1;
        m.weight[j] = (int64_t)200 * (groups - group) + test_random_int(random, 0, width);
        m.capacity += m.weight[j];
    }
    m.capacity = m.capacity * test_random_int(random, 2, 8) / 10;
    return m;
}

static void small_profits(void **state) {
    uint64_t random = 101;
    int k, fixed = 0;
    (void)state;
    for (k = 0; k < 4000; k++) {
        const int groups = 2 + k % 2;
        const int64_t noise = 1 + k % 41;
        model m = in_groups(6 + k % 7, groups, k % 9, &random);
        int32_t j;
        for (j = 0; j < m.items; j++) m.profit[j] = m.weight[j] + test_random_int(&random, 0, noise);
        model_sort(&m);
        fixed += check(&m, groups, 60, k % 3 ? test_random_int(&random, 0, 1300) : 0, 1 + k % 2);
    }
    assert_true(fixed > 2000);
}

/* Profits are the same for each unit of weight, or nearly so, and so large that rounding a bound counts. */
static void large_profits(void **state) {
    uint64_t random = 103;
    int64_t profit;
    int k, fixed = 0;
    (void)state;
    for (k = 0; k < 20000; k++) {
        model m = in_groups(5 + k % 5, 2, 1 + k % 60, &random);
        int64_t each = 0;
        int32_t j;
        for (j = 0; j < m.items; j++) each += m.weight[j] + 1;
        each = ((int64_t)1 << 48) / each; /* all values together are less than 2^58 */
        for (j = 0; j < m.items; j++)
            m.profit[j] = m.weight[j] * each + (k % 4 ? 0 : test_random_int(&random, 0, each));
        if (k % 3) m.capacity = add_up(&m, (uint32_t)test_random_int(&random, 1, (1 << m.items) - 1), &profit);
        model_sort(&m);
        fixed += check(&m, 2, 60, 0, 1 + k % 2);
    }
    assert_true(fixed > 2000);
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(small_profits), cmocka_unit_test(large_profits)};

TEST_MAIN(tests)
