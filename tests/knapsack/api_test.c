/* SPDX-License-Identifier: MIT
 *
 * The general contract: refusals, which change nothing; the state before the first step; memory; structs of other
 * versions.
 */
#include <string.h>

#include "tests/knapsack/models.h"

static void refused(void **state) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    uint64_t random = 4;
    model m = model_random(2, 30, 100, &random);
    gpuopt_knapsack_desc good = model_desc(&m), d;
    gpuopt_knapsack *knapsack = NULL;
    gpuopt_memory_plan plan;
    gpuopt_knapsack_info info;
    int64_t taken[MODEL_MOST];
    long live;
    int j;
    (void)state;
    gpuopt_desc_init(&plan, sizeof plan);
    for (j = 0; j < MODEL_MOST; j++) taken[j] = 1;
#define REFUSED(change, words)                                                                     \
    d = good, change;                                                                              \
    assert_int_equal(gpuopt_knapsack_create(context, &d, NULL, &knapsack), GPUOPT_ERROR_ARGUMENT); \
    assert_true(knapsack == NULL && strstr(host.error, words));                                    \
    assert_int_equal(gpuopt_knapsack_create(context, &d, &plan, NULL), GPUOPT_ERROR_ARGUMENT);     \
    assert_true(strstr(host.error, words) && plan.host_bytes == 0)
    REFUSED(d.items = -1, "items");
    REFUSED(d.items = (1 << 30) + 1, "items");
    REFUSED(d.weight = NULL, "weight");
    REFUSED(d.profit = NULL, "profit");
    REFUSED(d.capacity = -1, "capacity");
    REFUSED(d.search = (gpuopt_knapsack_search)3, "search");
    REFUSED(d.on_pool_full = (gpuopt_knapsack_on_pool_full)2, "on_pool_full");
    REFUSED(d.pool = -1, "pool");
    REFUSED(d.pool = ((int64_t)1 << 40) + 1, "pool");
    REFUSED(d.node_limit = -1, "node_limit");
    REFUSED(d.reduction = (gpuopt_switch)3, "reduction");
    REFUSED(d.hybrid_threshold = -1, "hybrid_threshold");
    REFUSED(d.struct_size = 0, "struct_size");
    m.weight[7] = -1;
    REFUSED(d.capacity = 9, "weight of item 7");
    m.weight[7] = 1, m.profit[8] = INT64_MIN;
    REFUSED(d.capacity = 9, "profit of item 8");
    m.profit[8] = 1;
    live = host.live;
    assert_int_equal(gpuopt_knapsack_create(context, &good, NULL, NULL), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_knapsack_create(context, NULL, NULL, &knapsack), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_knapsack_create(context, &good, NULL, NULL), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(host.live, live);
    gpuopt_knapsack_destroy(NULL);
    knapsack = model_create(context, &good);
    memset(&info, 0, sizeof info);
    assert_int_equal(gpuopt_knapsack_get_info(knapsack, &info), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_knapsack_expand(knapsack, 0, 0, &info), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_knapsack_expand(knapsack, -1, 0, NULL), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_knapsack_expand(knapsack, 0, -1, NULL), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_knapsack_set_incumbent(knapsack, GPUOPT_HOST, -1, NULL), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_knapsack_set_incumbent(knapsack, GPUOPT_HOST, 5, taken), GPUOPT_ERROR_ARGUMENT);
    assert_true(strstr(host.error, "heavy") != NULL);
    memset(taken, 0, sizeof taken);
    assert_int_equal(gpuopt_knapsack_set_incumbent(knapsack, GPUOPT_HOST, 5, taken), GPUOPT_ERROR_ARGUMENT);
    assert_true(strstr(host.error, "another profit") != NULL);
    assert_int_equal(gpuopt_knapsack_pack(knapsack, -2, 0, NULL, 0, NULL), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_knapsack_unpack(knapsack, "GPUM", 4, 0), GPUOPT_ERROR_ARGUMENT);
    model_finish(knapsack, &m, model_optimum(&m));
    gpuopt_knapsack_destroy(knapsack);
    gpuopt_context_destroy(context);
    assert_int_equal(host.live, 0);
}

/* Item sets in device memory are refused by a backend without device memory, without changes. device_test.c covers the
 * CUDA backend. */
static void where(void **state) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    uint64_t random = 5;
    model m = model_random(2, 30, 100, &random);
    gpuopt_knapsack_desc desc = model_desc(&m);
    gpuopt_knapsack *knapsack = model_create(context, &desc);
    gpuopt_knapsack_info before, after;
    int64_t taken[MODEL_MOST];
    int64_t profit = -7, weight = -7;
    (void)state;
    gpuopt_desc_init(&before, sizeof before);
    gpuopt_desc_init(&after, sizeof after);
    memset(taken, 0, sizeof taken);
    assert_int_equal(gpuopt_knapsack_get_info(knapsack, &before), GPUOPT_OK);
#define BAD_WHERE(place, status, words)                                                            \
    assert_int_equal(gpuopt_knapsack_set_incumbent(knapsack, place, 0, taken), status);            \
    assert_int_equal(gpuopt_knapsack_set_incumbent(knapsack, place, 1000000, NULL), status);       \
    assert_int_equal(gpuopt_knapsack_get_items(knapsack, place, taken, &profit, &weight), status); \
    assert_true(strstr(host.error, "gpuopt_knapsack_get_items") && strstr(host.error, words))
    BAD_WHERE((gpuopt_memory_space)2, GPUOPT_ERROR_ARGUMENT, "where");
    if (!test_on("cuda")) {
        BAD_WHERE(GPUOPT_DEVICE, GPUOPT_ERROR_UNSUPPORTED, "no device memory");
    }
    assert_true(profit == -7 && weight == -7 && taken[0] == 0);
    assert_int_equal(gpuopt_knapsack_get_info(knapsack, &after), GPUOPT_OK);
    assert_memory_equal(&before, &after, sizeof before);
    model_finish(knapsack, &m, model_optimum(&m));
    gpuopt_knapsack_destroy(knapsack);
    gpuopt_context_destroy(context);
}

/* Before the first step: MORE, unless _create has proven its first solution optimal. */
static void before_the_first_step(void **state) {
    gpuopt_context *context = test_context(NULL);
    uint64_t random = 19;
    int k, settled = 0;
    (void)state;
    for (k = 0; k < 30 * MODEL_CLASSES; k++) {
        model m = model_random(k % MODEL_CLASSES, 12, 40, &random);
        int64_t optimum = model_optimum(&m);
        gpuopt_knapsack_desc desc = model_desc(&m);
        gpuopt_knapsack *knapsack = model_create(context, &desc);
        gpuopt_knapsack_info info;
        gpuopt_desc_init(&info, sizeof info);
        assert_int_equal(gpuopt_knapsack_get_info(knapsack, &info), GPUOPT_OK);
        assert_int_equal(info.outcome, info.alive > 0 ? GPUOPT_MORE : GPUOPT_OPTIMAL);
        assert_true(info.expanded == 0 && info.steps == 0 && info.alive == (info.level == 0));
        assert_true(info.primal_bound <= optimum && info.dual_bound >= optimum &&
                    model_check_items(knapsack, &m) == info.primal_bound);
        if (info.outcome == GPUOPT_OPTIMAL) assert_true(info.primal_bound == optimum && info.dual_bound == optimum);
        settled += info.outcome == GPUOPT_OPTIMAL;
        gpuopt_knapsack_destroy(knapsack);
    }
    assert_true(settled > 10 && settled < 30 * MODEL_CLASSES - 10);
    gpuopt_context_destroy(context);
}

/* The plan is exact, a search allocates nothing, and any allocation of _create may fail. */
static void memory(void **state) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    uint64_t random = 4, before[2];
    model m = model_random(2, 30, 100, &random);
    gpuopt_knapsack_desc desc = model_desc(&m);
    gpuopt_knapsack *knapsack = NULL;
    gpuopt_memory_plan plan;
    long count, k, live = host.live;
    (void)state;
    desc.pool = 12345;
    gpuopt_desc_init(&plan, sizeof plan);
    assert_int_equal(gpuopt_knapsack_create(context, &desc, &plan, NULL), GPUOPT_OK);
    assert_true(host.live == live);
    before[0] = host.bytes[0], before[1] = host.bytes[1];
    host.peak[0] = host.bytes[0];
    count = host.allocations;
    knapsack = model_create(context, &desc);
    assert_true(host.bytes[0] - before[0] == plan.host_bytes && host.bytes[1] - before[1] == plan.device_bytes);
    assert_true(host.peak[0] - before[0] == plan.host_bytes + plan.create_bytes);
    count = host.allocations - count;
    k = host.allocations;
    model_finish(knapsack, &m, model_optimum(&m));
    assert_true(host.allocations == k);
    gpuopt_knapsack_destroy(knapsack);
    for (k = 1; k <= count; k++) {
        host.fail_at = host.allocations + k;
        assert_int_equal(gpuopt_knapsack_create(context, &desc, NULL, &knapsack), GPUOPT_ERROR_MEMORY);
        assert_true(knapsack == NULL && host.live == live);
    }
    gpuopt_context_destroy(context);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(refused),
    cmocka_unit_test(where),
    cmocka_unit_test(before_the_first_step),
    cmocka_unit_test(memory),
};

TEST_MAIN(tests)
