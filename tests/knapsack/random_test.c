/* SPDX-License-Identifier: MIT
 *
 * Small problems of every class against dynamic programming: every search, pools from the smallest up, in one call and
 * level by level, with and without reduction. The item sets are checked, too.
 */
#include <string.h>

#include "tests/knapsack/models.h"

enum { MODELS = 1000 }; /* of each class; 12,000 altogether */

/* Relations that the counts of a search must satisfy. */
static void check_counts(const gpuopt_knapsack_info *info) {
    assert_true(info->expanded >= 0 && info->pruned >= 0 && info->dominated >= 0);
    /* Every node is dropped or expanded, and an expanded one has at most two children. */
    assert_true(info->pruned + info->dominated <= 2 * info->expanded + 1);
    assert_true(info->peak <= info->pool);
}

static gpuopt_knapsack_info solve(gpuopt_context *context, const gpuopt_knapsack_desc *desc, const model *m,
                                  int64_t optimum, int32_t levels) {
    gpuopt_knapsack *knapsack = model_create(context, desc);
    gpuopt_knapsack_info info, last;
    gpuopt_desc_init(&info, sizeof info);
    assert_int_equal(gpuopt_knapsack_get_info(knapsack, &info), GPUOPT_OK);
    while (levels > 0 && info.outcome == GPUOPT_MORE) {
        last = info;
        assert_int_equal(gpuopt_knapsack_expand(knapsack, 0, levels, &info), GPUOPT_OK);
        assert_true(info.primal_bound >= last.primal_bound && info.dual_bound <= last.dual_bound &&
                    info.primal_bound <= optimum);
        assert_true(info.dual_bound >= optimum && info.steps <= last.steps + levels);
        check_counts(&info);
    }
    info = model_finish(knapsack, m, optimum);
    check_counts(&info);
    gpuopt_knapsack_destroy(knapsack);
    return info;
}

static void run_class(int kind) {
    gpuopt_context *context = test_context(NULL);
    uint64_t state = 77 + (uint64_t)kind;
    int k;
    for (k = 0; k < test_times(MODELS, MODELS); k++) {
        model m = model_random(kind, (int32_t)test_random_int(&state, 1, 18), test_random_int(&state, 3, 200), &state);
        int64_t optimum = model_optimum(&m);
        gpuopt_knapsack_info whole, other;
        gpuopt_knapsack_desc desc = model_desc(&m);
        int search, pool;
        for (search = 0; search < 3; search++) {
            desc = model_desc(&m);
            desc.search = (gpuopt_knapsack_search)search;
            desc.reduction = k & 1 ? GPUOPT_OFF : GPUOPT_ON;
            desc.pool = 1 << 16;
            whole = solve(context, &desc, &m, optimum, 0);
            other = solve(context, &desc, &m, optimum, 1 + k % 3);
            assert_memory_equal(&whole, &other, sizeof whole); /* the same, however it is divided between calls */
            for (pool = 1; pool <= 4096; pool *= pool < 64 ? 4 : 8) {
                desc.pool = pool;
                other = solve(context, &desc, &m, optimum, pool & 1 ? 0 : 1);
                if (other.slices == 0) assert_true(other.expanded == whole.expanded && other.pruned == whole.pruned);
            }
        }
    }
    gpuopt_context_destroy(context);
}

#define CLASS(name, kind)            \
    static void name(void **state) { \
        (void)state;                 \
        run_class(kind);             \
    }
CLASS(uncorrelated, 0)
CLASS(weakly_correlated, 1)
CLASS(strongly_correlated, 2)
CLASS(inverse_strongly_correlated, 3)
CLASS(almost_strongly_correlated, 4)
CLASS(subset_sum, 5)
CLASS(similar_weights, 6)
CLASS(span, 7)
CLASS(multiple_strongly_correlated, 8)
CLASS(profit_ceiling, 9)
CLASS(circle, 10)
CLASS(anything, 11)

/* More items than the 32 decisions that a node stores, so that items are recovered in several rounds. */
static void more_items(void **state) {
    gpuopt_context *context = test_context(NULL);
    uint64_t random = 5;
    int k, search;
    (void)state;
    for (k = 0; k < test_times(40, 40) * MODEL_CLASSES; k++) {
        model m = model_random(k % MODEL_CLASSES, 64, 30, &random);
        int64_t optimum = model_optimum(&m);
        for (search = 0; search < 2; search++) {
            gpuopt_knapsack_desc desc = model_desc(&m);
            gpuopt_knapsack *knapsack;
            gpuopt_knapsack_info info;
            desc.search = (gpuopt_knapsack_search)search;
            desc.reduction = k & 8 ? GPUOPT_OFF : GPUOPT_ON;
            desc.pool = k & 16 ? 1 : 20000;
            desc.node_limit =
                search || k & 16 ? 100000 : 0; /* the paper's tree, and the tree with a tiny pool, may be too large */
            knapsack = model_create(context, &desc);
            gpuopt_desc_init(&info, sizeof info);
            assert_int_equal(gpuopt_knapsack_expand(knapsack, 0, 40, &info), GPUOPT_OK);
            assert_true(model_check_items(knapsack, &m) >= info.primal_bound); /* during the search */
            assert_int_equal(gpuopt_knapsack_expand(knapsack, 0, 0, &info), GPUOPT_OK);
            if (info.outcome == GPUOPT_LIMIT) {
                assert_true(info.expanded >= 100000 && info.primal_bound <= optimum && info.dual_bound >= optimum);
                assert_true(model_check_items(knapsack, &m) >= info.primal_bound);
            } else {
                model_finish(knapsack, &m, optimum);
            }
            gpuopt_knapsack_destroy(knapsack);
        }
    }
    gpuopt_context_destroy(context);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(uncorrelated),
    cmocka_unit_test(weakly_correlated),
    cmocka_unit_test(strongly_correlated),
    cmocka_unit_test(inverse_strongly_correlated),
    cmocka_unit_test(almost_strongly_correlated),
    cmocka_unit_test(subset_sum),
    cmocka_unit_test(similar_weights),
    cmocka_unit_test(span),
    cmocka_unit_test(multiple_strongly_correlated),
    cmocka_unit_test(profit_ceiling),
    cmocka_unit_test(circle),
    cmocka_unit_test(anything),
    cmocka_unit_test(more_items),
};

TEST_MAIN(tests)
