/* SPDX-License-Identifier: MIT
 *
 * The order of the items, on which Dantzig's bound is based. It is compared with a sort by exact products. Ratios
 * differ by powers of ten or by less than doubles can distinguish, many are equal, and there are few items to more than
 * are merged.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/knapsack/models.h"

__extension__ typedef __int128 wide;

typedef struct pair {
    int64_t weight, profit;
} pair;

static int by_ratio(const void *a, const void *b) {
    const pair *x = a, *y = b;
    const wide left = (wide)x->profit * y->weight, right = (wide)y->profit * x->weight;
    return left > right ? -1 : left < right;
}

static int64_t dantzig(pair *item, int32_t items, int64_t residual) {
    int64_t bound = 0;
    int32_t j;
    qsort(item, (size_t)items, sizeof *item, by_ratio);
    for (j = 0; j < items && item[j].weight <= residual; j++) residual -= item[j].weight, bound += item[j].profit;
    return j < items ? bound + (int64_t)((wide)residual * item[j].profit / item[j].weight) : bound;
}

static void draw_pair(uint64_t *seed, int kind, pair *p) {
    static const int64_t base[] = {(int64_t)1 << 45, (int64_t)1 << 30};
    p->weight = test_random_int(seed, 1, 1000000);
    switch (kind) {
    case 0: p->profit = test_random_int(seed, 1, 1000000); break;
    case 1: p->profit = p->weight + 100000; break;
    case 2: p->weight = test_random_int(seed, 1, 4), p->profit = test_random_int(seed, 1, 4); break;
    case 3: /* from 1e-9 to 1e9 */
        p->weight = (int64_t)1 << test_random_int(seed, 0, 30);
        p->profit = (int64_t)1 << test_random_int(seed, 0, 30);
        break;
    default: /* all ratios are 1, or as good as */
        p->weight = base[kind - 4] + test_random_int(seed, 0, kind == 4 ? 3 : 1000000);
        p->profit = base[kind - 4] + test_random_int(seed, 0, kind == 4 ? 3 : 1000000);
    }
}

static void bounds(void **state) {
    static const int32_t sizes[] = {1, 2, 7, 100, 511, 512, 513, 3000, 20000};
    gpuopt_context *context = test_context(NULL);
    uint64_t seed = 1;
    size_t size;
    int kind;
    (void)state;
    for (size = 0; size < sizeof sizes / sizeof *sizes; size++)
        for (kind = 0; kind < 6; kind++) {
            const int32_t items = sizes[size];
            pair *item = malloc(sizeof *item * (size_t)items);
            int64_t *weight = malloc(sizeof *weight * (size_t)items), *profit = malloc(sizeof *profit * (size_t)items);
            gpuopt_knapsack_desc desc = GPUOPT_INIT(gpuopt_knapsack_desc);
            gpuopt_knapsack_info info = GPUOPT_INIT(gpuopt_knapsack_info);
            gpuopt_knapsack *knapsack;
            int64_t sum = 0, part;
            int32_t j;
            for (j = 0; j < items; j++) {
                draw_pair(&seed, kind, &item[j]);
                weight[j] = item[j].weight;
                profit[j] = item[j].profit;
                sum += weight[j];
            }
            weight[0] = item[0].weight = profit[0] = item[0].profit =
                1; /* no common divisor, which would round bounds */
            for (part = 2; part <= 5; part++) {
                desc.items = items;
                desc.weight = weight;
                desc.profit = profit;
                desc.capacity = 1 + sum / part;
                desc.reduction = GPUOPT_OFF;
                desc.pool = 1;
                for (j = 0; j < items; j++) /* others are settled before items are sorted */
                    if (weight[j] > desc.capacity) break;
                if (j < items) continue;
                knapsack = model_create(context, &desc);
                assert_int_equal(gpuopt_knapsack_get_info(knapsack, &info), GPUOPT_OK);
                assert_true(info.outcome != GPUOPT_MORE || info.dual_bound == dantzig(item, items, desc.capacity));
                assert_true(info.primal_bound <= info.dual_bound &&
                            info.dual_bound <= dantzig(item, items, desc.capacity));
                gpuopt_knapsack_destroy(knapsack);
            }
            free(profit);
            free(weight);
            free(item);
        }
    gpuopt_context_destroy(context);
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(bounds)};

TEST_MAIN(tests)
