/* SPDX-License-Identifier: MIT
 *
 * Memory: it comes from the caller's allocator, the plan is exact, it may run out, and steps allocate nothing. Device
 * memory is supported by the CUDA backend only.
 */
#include <stdlib.h>
#include <string.h>

#include "gpuopt/search.h"
#include "tests/basis/basis.h"

static gpuopt_basis_desc desc_of(int32_t m, int technique, int32_t deferred) {
    gpuopt_basis_desc desc;
    gpuopt_desc_init(&desc, sizeof desc);
    desc.m = m;
    desc.technique = (gpuopt_basis_technique)technique;
    desc.deferred_updates = deferred;
    return desc;
}

static void check_plan(test_host *host, gpuopt_context *context, const gpuopt_basis_desc *desc) {
    gpuopt_memory_plan plan;
    TEST_PLANNED(basis, host, context, desc, &plan);
}

static void plan_is_exact(void **state) {
    static const int32_t sizes[] = {0, 1, 17, 300}, k[] = {0, 1, 256};
    test_host host;
    gpuopt_context *context = test_context(&host);
    int technique, s;
    (void)state;
    for (technique = GPUOPT_TECHNIQUE_DEFERRED; technique <= GPUOPT_TECHNIQUE_ELEMENT_PROPOSED; technique++)
        for (s = 0; s < 12; s++) {
            gpuopt_basis_desc desc = desc_of(sizes[s / 3], technique, k[s % 3]);
            check_plan(&host, context, &desc);
        }
    gpuopt_context_destroy(context);
    assert_int_equal(host.live, 0);
}

/* Makes all calls that may allocate, stops at the first that fails, and cleans up. of: the matrix to load. */
static gpuopt_status whole_life(const gpuopt_context_desc *context_desc, const void *of) {
    const gpuopt_basis_desc desc = desc_of(20, GPUOPT_TECHNIQUE_DEFERRED, 0);
    gpuopt_context *context = NULL;
    gpuopt_basis *basis = NULL;
    gpuopt_memory_plan plan;
    gpuopt_status status = gpuopt_context_create(context_desc, &context);
    if (status) return status;
    gpuopt_desc_init(&plan, sizeof plan);
    status = gpuopt_basis_create(context, &desc, &plan, NULL);
    if (!status) {
        basis = (gpuopt_basis *)&plan;
        status = gpuopt_basis_create(context, &desc, NULL, &basis);
        if (status) assert_null(basis);
    }
    if (!status) status = gpuopt_basis_load(basis, of);
    gpuopt_basis_destroy(basis);
    gpuopt_context_destroy(context);
    return status;
}

static void memory_may_run_out(void **state) {
    basis_model b = basis_draw(BASIS_DENSE, 20, 1);
    const gpuopt_matrix columns = basis_columns(&b);
    (void)state;
    /* The context and the handle; on CUDA also the context's state and its page-locked slots, and device memory. */
    assert_int_equal(test_runs_out(whole_life, &columns), test_on("cuda") ? 5 : 2);
    basis_free(&b);
}

static void steps_allocate_nothing(void **state) {
    enum { M = 30 };
    test_host host;
    gpuopt_context *context = test_context(&host);
    int technique, k;
    (void)state;
    for (technique = GPUOPT_TECHNIQUE_DEFERRED; technique <= GPUOPT_TECHNIQUE_ELEMENT_PROPOSED; technique++) {
        gpuopt_basis *basis = basis_create(context, M, (gpuopt_basis_technique)technique, 4);
        basis_model b = basis_draw(BASIS_DENSE, M, 9);
        gpuopt_matrix columns = basis_columns(&b);
        gpuopt_basis_drift drift;
        gpuopt_basis_info info;
        uint64_t seed = 1;
        double x[M] = {1}, inverse[M * M];
        long allocations = host.allocations;
        gpuopt_desc_init(&drift, sizeof drift);
        gpuopt_desc_init(&info, sizeof info);
        assert_int_equal(gpuopt_basis_load(basis, &columns), GPUOPT_OK);
        for (k = 0; k < 6; k++) basis_enqueue_random(basis, &b, M, &seed);
        columns = basis_columns(&b);
        assert_int_equal(gpuopt_basis_get_drift(basis, &columns, 1, &drift), GPUOPT_OK);
        assert_int_equal(gpuopt_basis_btran(basis, GPUOPT_HOST, -1, x, x), GPUOPT_OK);
        assert_int_equal(gpuopt_basis_btran(basis, GPUOPT_HOST, 3, NULL, x), GPUOPT_OK);
        assert_int_equal(gpuopt_basis_ftran(basis, GPUOPT_HOST, 0, NULL, b.entry + 3 * M, x), GPUOPT_OK);
        assert_int_equal(gpuopt_basis_update(basis, GPUOPT_HOST, 3, NULL, &info), GPUOPT_OK);
        assert_int_equal(gpuopt_basis_get_inverse(basis, GPUOPT_HOST, inverse), GPUOPT_OK);
        assert_int_equal(gpuopt_basis_load(basis, NULL), GPUOPT_OK);
        assert_int_equal(host.allocations, allocations);
        gpuopt_basis_destroy(basis);
        basis_free(&b);
    }
    gpuopt_context_destroy(context);
}

/* A load copies its columns: the caller may change them afterwards. */
static void input_is_copied(void **state) {
    enum { M = 25 };
    gpuopt_context *context = test_context(NULL);
    gpuopt_basis *basis = basis_create(context, M, GPUOPT_TECHNIQUE_DEFERRED, 0);
    basis_model b = basis_draw(BASIS_SPARSE, M, 10);
    gpuopt_matrix columns = basis_columns(&b);
    (void)state;
    assert_int_equal(gpuopt_basis_load(basis, &columns), GPUOPT_OK);
    memset(b.start, 0xFF, sizeof *b.start * (M + 1));
    memset(b.row, 0xFF, sizeof *b.row * M * M);
    memset(b.val, 0xFF, sizeof *b.val * M * M);
    basis_check(basis, &b, 8);
    basis_free(&b);
    gpuopt_basis_destroy(basis);
    gpuopt_context_destroy(context);
}

static void check_unsupported(test_host *host, gpuopt_status status) {
    assert_int_equal(status, GPUOPT_ERROR_UNSUPPORTED);
    assert_true(host->error[0]);
    host->error[0] = 0;
}

/* Without device memory, all calls refuse arrays in it. */
static void device_memory(void **state) {
    enum { M = 3 };
    test_host host;
    gpuopt_context *context = test_context(&host);
    gpuopt_basis *basis = basis_create(context, M, GPUOPT_TECHNIQUE_DEFERRED, 0);
    double x[M * M] = {1, 2, 3};
    int32_t row[1] = {0};
    (void)state;
    if (!test_on("cuda")) {
        check_unsupported(&host, gpuopt_basis_ftran(basis, GPUOPT_DEVICE, 0, NULL, x, x));
        check_unsupported(&host, gpuopt_basis_btran(basis, GPUOPT_DEVICE, -1, x, x));
        check_unsupported(&host, gpuopt_basis_ftran(basis, GPUOPT_DEVICE, 1, row, x, x));
        check_unsupported(&host, gpuopt_basis_btran(basis, GPUOPT_DEVICE, 0, NULL, x));
        check_unsupported(&host, gpuopt_basis_update(basis, GPUOPT_DEVICE, 0, x, NULL));
        check_unsupported(&host, gpuopt_basis_ftran(basis, GPUOPT_DEVICE, 0, NULL, x, NULL));
        check_unsupported(&host, gpuopt_basis_get_inverse(basis, GPUOPT_DEVICE, x));
        assert_true(x[0] == 1 && x[1] == 2 && x[2] == 3);
        assert_int_equal(basis_info(basis).updates, 0);
    }
    gpuopt_basis_destroy(basis);
    gpuopt_context_destroy(context);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(plan_is_exact),   cmocka_unit_test(memory_may_run_out), cmocka_unit_test(steps_allocate_nothing),
    cmocka_unit_test(input_is_copied), cmocka_unit_test(device_memory),
};
TEST_MAIN(tests)
