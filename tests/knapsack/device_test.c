/* SPDX-License-Identifier: MIT
 *
 * Item sets in device memory, which only the CUDA backend has, for handles with their nodes in host memory and for
 * handles with their nodes on the device.
 */
#include <string.h>

#include "tests/knapsack/models.h"

static int64_t *device_numbers(int32_t count) {
    int64_t painted[MODEL_MOST + 1];
    const size_t bytes = ((size_t)count + 1) * sizeof *painted;
    int64_t *memory = test_device_allocate(bytes);
    int32_t j;
    for (j = 0; j <= count; j++) painted[j] = 9;
    test_device_copy(memory, painted, bytes);
    return memory;
}

/* The items of a solved handle are the same in device and in host memory. */
static void check_items(gpuopt_knapsack *knapsack, const model *m, int64_t optimum, int64_t *device, int64_t *host) {
    int64_t copied[MODEL_MOST + 1];
    int64_t profit = -1, weight = -1, sum = 0, j;
    assert_int_equal(gpuopt_knapsack_get_items(knapsack, GPUOPT_HOST, host, NULL, NULL), GPUOPT_OK);
    assert_int_equal(gpuopt_knapsack_get_items(knapsack, GPUOPT_DEVICE, device, &profit, &weight), GPUOPT_OK);
    test_device_copy(copied, device, ((size_t)m->items + 1) * sizeof *copied);
    assert_memory_equal(copied, host, (size_t)m->items * sizeof *copied);
    assert_int_equal(copied[m->items], 9);
    for (j = 0; j < m->items; j++) sum += copied[j] * m->weight[j];
    assert_true(profit == optimum && weight == sum);
    assert_int_equal(gpuopt_knapsack_get_items(knapsack, GPUOPT_DEVICE, NULL, &profit, NULL), GPUOPT_OK);
    assert_true(profit == optimum);
}

/* The optimal items in device memory become the incumbent of another handle; wrong items are refused. */
static void check_incumbent(gpuopt_knapsack *knapsack, const model *m, int64_t optimum, int64_t *device) {
    gpuopt_knapsack_info before, after;
    int64_t all[MODEL_MOST], sum = 0, j;
    gpuopt_desc_init(&before, sizeof before);
    gpuopt_desc_init(&after, sizeof after);
    assert_int_equal(gpuopt_knapsack_get_info(knapsack, &before), GPUOPT_OK);
    assert_int_equal(gpuopt_knapsack_set_incumbent(knapsack, GPUOPT_DEVICE, optimum + 1, device),
                     GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_knapsack_get_info(knapsack, &after), GPUOPT_OK);
    assert_memory_equal(&before, &after, sizeof before);
    assert_int_equal(gpuopt_knapsack_set_incumbent(knapsack, GPUOPT_DEVICE, optimum, device), GPUOPT_OK);
    assert_int_equal(gpuopt_knapsack_get_info(knapsack, &after), GPUOPT_OK);
    assert_true(after.primal_bound == optimum);
    for (j = 0; j < m->items; j++) all[j] = 1, sum += m->weight[j];
    test_device_copy(device, all, (size_t)m->items * sizeof *all);
    if (sum > m->capacity)
        assert_int_equal(gpuopt_knapsack_set_incumbent(knapsack, GPUOPT_DEVICE, optimum, device),
                         GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_knapsack_set_incumbent(knapsack, GPUOPT_DEVICE, optimum, NULL), GPUOPT_OK);
    model_finish(knapsack, m, optimum);
}

static void items_in_device_memory(void **state) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    uint64_t random = 73;
    int k;
    (void)state;
    for (k = 0; k < 10 * MODEL_CLASSES; k++) {
        /* The smallest pools take exponentially many nodes. */
        model m = model_random(k % MODEL_CLASSES, k & 1 ? 30 : 60, 200, &random);
        int64_t optimum = model_optimum(&m);
        gpuopt_knapsack_desc desc = model_desc(&m);
        int64_t *device = device_numbers(m.items), taken[MODEL_MOST];
        gpuopt_knapsack *one, *two;
        long allocations;
        desc.pool = k & 1 ? 1 : 0; /* 1: all nodes stay in host memory */
        one = model_create(context, &desc);
        two = model_create(context, &desc);
        allocations = host.allocations;
        model_finish(one, &m, optimum);
        check_items(one, &m, optimum, device, taken);
        check_incumbent(two, &m, optimum, device);
        assert_true(host.allocations == allocations);
        gpuopt_knapsack_destroy(two);
        gpuopt_knapsack_destroy(one);
        test_device_release(device);
    }
    gpuopt_context_destroy(context);
    assert_int_equal(host.live, 0);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(items_in_device_memory),
};

TEST_MAIN(tests)
