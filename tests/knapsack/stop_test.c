/* SPDX-License-Identifier: MIT
 *
 * The stop hook: a search stopped after every step, or after some steps, ends with the same counts and items as one
 * without stops. Every call makes at least one step; recovering items is not interrupted. Optima are compared with
 * dynamic programming.
 */
#include <string.h>

#include "tests/knapsack/generated.h"

/* State of the hook. */
typedef struct asker {
    int64_t asked, stopped;
    int64_t every; /* stops the call at every n-th call of the hook; 0: never */
} asker;

static int stop(void *user) {
    asker *a = user;
    a->asked++;
    if (a->every == 0 || a->asked % a->every != 0) return 0;
    a->stopped++;
    return 1;
}

static gpuopt_context *asking_context(asker *a) {
    gpuopt_context_desc desc = test_context_desc(NULL);
    gpuopt_context *context = NULL;
    desc.user = a;
    desc.stop = stop;
    assert_int_equal(gpuopt_context_create(&desc, &context), GPUOPT_OK);
    return context;
}

/* Expands until the outcome is not MORE. Each call makes progress. */
static gpuopt_knapsack_info finish_in_pieces(gpuopt_knapsack *knapsack, asker *a) {
    gpuopt_knapsack_info info, last;
    gpuopt_desc_init(&info, sizeof info);
    assert_int_equal(gpuopt_knapsack_get_info(knapsack, &info), GPUOPT_OK);
    while (info.outcome == GPUOPT_MORE) {
        int64_t stopped = a->stopped;
        last = info;
        assert_int_equal(gpuopt_knapsack_expand(knapsack, 0, 0, &info), GPUOPT_OK);
        if (info.outcome == GPUOPT_MORE) assert_true(a->stopped == stopped + 1 && info.steps > last.steps);
    }
    return info;
}

/* Solves a model with and without interruptions. Returns how often the search was stopped. */
static int64_t compare(const model *m, const gpuopt_knapsack_desc *desc, int64_t optimum, int64_t every) {
    asker asker = {0, 0, every};
    gpuopt_context *plain = test_context(NULL), *asking = asking_context(&asker);
    gpuopt_knapsack *one = model_create(plain, desc), *two = model_create(asking, desc);
    gpuopt_knapsack_info whole, pieces;
    int64_t taken[2][MODEL_MOST], asked;
    gpuopt_desc_init(&whole, sizeof whole);
    assert_int_equal(gpuopt_knapsack_expand(one, 0, 0, &whole), GPUOPT_OK);
    pieces = finish_in_pieces(two, &asker);
    assert_memory_equal(&whole, &pieces, offsetof(gpuopt_knapsack_info, free_items) + sizeof whole.free_items);
    assert_true(whole.primal_bound <= optimum && whole.dual_bound >= optimum);
    if (whole.outcome == GPUOPT_OPTIMAL) assert_true(whole.primal_bound == optimum);
    assert_true(asker.asked >= whole.steps); /* once per step */
    asked = asker.asked;
    assert_true(model_check_items(two, m) >= whole.primal_bound);
    assert_true(asker.asked == asked);
    assert_int_equal(gpuopt_knapsack_get_items(one, GPUOPT_HOST, taken[0], NULL, NULL), GPUOPT_OK);
    assert_int_equal(gpuopt_knapsack_get_items(two, GPUOPT_HOST, taken[1], NULL, NULL), GPUOPT_OK);
    assert_memory_equal(taken[0], taken[1], (size_t)m->items * sizeof **taken);
    gpuopt_knapsack_destroy(two);
    gpuopt_knapsack_destroy(one);
    gpuopt_context_destroy(asking);
    gpuopt_context_destroy(plain);
    return asker.stopped;
}

static void small_models(void **state) {
    uint64_t random = 61;
    int64_t stopped = 0;
    int k;
    (void)state;
    for (k = 0; k < test_times(20, 20) * MODEL_CLASSES; k++) {
        model m = model_random(k % MODEL_CLASSES, 16, 60, &random);
        gpuopt_knapsack_desc desc = model_desc(&m);
        desc.search = (gpuopt_knapsack_search)(k % 3);
        desc.reduction = GPUOPT_OFF;
        desc.pool = k & 4 ? 1 : 1 << 16;
        desc.on_pool_full = k & 8 ? GPUOPT_ON_POOL_FULL_STOP : GPUOPT_ON_POOL_FULL_DEPTH_FIRST;
        stopped += compare(&m, &desc, model_optimum(&m), 1 + k % 4);
    }
    assert_true(stopped > 200);
}

/* Long searches, with slices, completions, cardinality bounds, and lists on the device. */
static void long_searches(void **state) {
    static const struct {
        const char *name;
        gpuopt_knapsack_search search;
        int64_t pool;
    } run[] = {{"circle:100:100000:3", GPUOPT_SEARCH_DOMINANCE, 700},
               {"circle:300:10000:1", GPUOPT_SEARCH_DOMINANCE, 200000},
               {"strong:100:10000:2", GPUOPT_SEARCH_DOMINANCE, 5000},
               {"multiple-strong:300:10000:2", GPUOPT_SEARCH_DOMINANCE, 1 << 20},
               {"paper:200:3", GPUOPT_SEARCH_BREADTH, 40000},
               {"paper:200:3", GPUOPT_SEARCH_HYBRID, 40000}};
    size_t k;
    (void)state;
    for (k = 0; k < sizeof run / sizeof *run; k++) {
        model m = model_generated("%s", run[k].name);
        gpuopt_knapsack_desc desc = model_desc(&m);
        int64_t optimum = model_optimum(&m);
        desc.search = run[k].search;
        desc.pool = run[k].pool;
        desc.node_limit = 300000;
        assert_true(compare(&m, &desc, optimum, 1) > 30);
        assert_true(compare(&m, &desc, optimum, 7) > 4);
        assert_true(compare(&m, &desc, optimum, 0) == 0);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(small_models),
    cmocka_unit_test(long_searches),
};

TEST_MAIN(tests)
