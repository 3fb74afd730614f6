/* SPDX-License-Identifier: MIT
 *
 * Device memory that a context retains for its next handles (keep_device_bytes). On the emulated GPU, allocations from
 * the driver are counted; otherwise only the answers are checked.
 */
#include <string.h>

#include "tests/elimination/handle.h"
#include "tests/support/backends.h"

/* A message of DOMAIN^6 entries of 8 bits, 64 MB: more than a context retained before the caller could choose. */
enum { DOMAIN = 20, VARIABLES = 7 };

static model draw(void) {
    int32_t domain[VARIABLES], k, j;
    model m;
    for (k = 0; k < VARIABLES; k++) domain[k] = DOMAIN;
    domain[0] = 2;
    m = model_make(GPUOPT_COST_INT64, GPUOPT_SEMIRING_MIN_SUM, VARIABLES, domain);
    for (k = 1; k < VARIABLES; k++) {
        const int32_t scope[2] = {0, k};
        gpuopt_elimination_function *f = model_add(&m, 2, scope, -1);
        for (j = 0; j < 2 * DOMAIN; j++) model_set(&m, f, j, j % 3);
    }
    return m;
}

static gpuopt_context *keeping(uint64_t bytes) {
    gpuopt_context_desc desc;
    gpuopt_context *context;
    assert_true(test_backend(test_backend_name, 2, &desc));
    desc.keep_device_bytes = bytes;
    assert_int_equal(gpuopt_context_create(&desc, &context), GPUOPT_OK);
    return context;
}

/* Plans, creates and destroys the handle; returns how often device memory was allocated from the driver. */
static long taken_by_handle(gpuopt_context *context, const gpuopt_elimination_desc *desc) {
    const long before = test_driver_allocations();
    gpuopt_elimination_estimate estimate;
    gpuopt_elimination *elimination;
    gpuopt_desc_init(&estimate, sizeof estimate);
    assert_int_equal(gpuopt_elimination_order(context, desc, NULL, NULL, &estimate), GPUOPT_OK);
    assert_int_equal(estimate.policy, GPUOPT_POLICY_EXACT);
    assert_int_equal(gpuopt_elimination_create(context, desc, NULL, &elimination), GPUOPT_OK);
    gpuopt_elimination_destroy(elimination);
    assert_int_equal(gpuopt_context_wait(context), GPUOPT_OK);
    return test_driver_allocations() - before;
}

static gpuopt_elimination_desc whole(const model *m) {
    static const int32_t order[1] = {0};
    gpuopt_elimination_desc desc = model_desc(m);
    desc.order = order;
    desc.order_count = 1;
    return desc;
}

/* By default, and with all of it, the second handle of a size allocates nothing from the driver; with 1 byte it
 * does. */
static void second_handle(void **state) {
    static const uint64_t keep[] = {0, UINT64_MAX, 1, 1 << 20};
    model m = draw();
    gpuopt_elimination_desc desc = whole(&m);
    int k, again;
    (void)state;
    for (k = 0; k < 4; k++) {
        gpuopt_context *context = keeping(keep[k]);
        const long first = taken_by_handle(context, &desc);
        if (test_emulated()) assert_true(first > 0);
        for (again = 0; again < 3; again++) {
            const long taken = taken_by_handle(context, &desc);
            if (test_emulated()) assert_int_equal(taken > 0, k >= 2);
        }
        gpuopt_context_destroy(context);
    }
    model_free(&m);
}

/* Retained memory is free for this context's plans, so that successive handles may take more than half of the device.
 * It is free for others once the context is destroyed, or at once if the caller sets so. */
static void held_memory_is_free(void **state) {
    gpuopt_context *one, *other;
    gpuopt_elimination *elimination;
    gpuopt_elimination_desc desc;
    model m;
    (void)state;
    if (!test_emulated()) skip(); /* the device has 2 GiB */
    m = draw();
    desc = whole(&m);
    desc.policy = GPUOPT_POLICY_EXACT;
    desc.batch_size = 20; /* 1.28 GB */
    one = keeping(UINT64_MAX);
    taken_by_handle(one, &desc);
    assert_int_equal(taken_by_handle(one, &desc), 0);
    other = keeping(1);
    assert_int_not_equal(gpuopt_elimination_create(other, &desc, NULL, &elimination), GPUOPT_OK);
    desc.batch_size = 25; /* more than is held */
    assert_true(taken_by_handle(one, &desc) > 0);
    gpuopt_context_destroy(one);
    assert_true(taken_by_handle(other, &desc) > 0);
    one = keeping(0);
    assert_true(taken_by_handle(one, &desc) > 0); /* the other one has given all back */
    gpuopt_context_destroy(one);
    gpuopt_context_destroy(other);
    model_free(&m);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(second_handle),
    cmocka_unit_test(held_memory_is_free),
};
TEST_MAIN(tests)
