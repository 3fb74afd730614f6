/* SPDX-License-Identifier: MIT
 *
 * Memory: it comes from the caller's allocator, is planned exactly, and may run out. Steps allocate none. It is not
 * shared with the caller's arrays or other contexts; and only the CUDA backend uses device memory.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/propagate/model.h"

/* All calls that may allocate. Stops at the first one that fails, and cleans up. */
static gpuopt_status whole_life(const gpuopt_context_desc *context_desc, const void *of) {
    const gpuopt_propagator_desc *desc = of;
    gpuopt_context *context = (gpuopt_context *)&context_desc;
    gpuopt_propagator *p = NULL;
    gpuopt_memory_plan plan;
    gpuopt_propagator_row_report report;
    double activity[2];
    gpuopt_status status = gpuopt_context_create(context_desc, &context);
    if (status) {
        assert_null(context);
        return status;
    }
    gpuopt_desc_init(&plan, sizeof plan);
    gpuopt_desc_init(&report, sizeof report);
    report.min_activity = activity;
    status = gpuopt_propagator_create(context, desc, &plan, NULL);
    if (!status) {
        p = (gpuopt_propagator *)&plan;
        status = gpuopt_propagator_create(context, desc, NULL, &p);
        if (status) assert_null(p);
    }
    if (!status) status = gpuopt_propagator_round(p, 10, NULL);
    if (!status) status = gpuopt_propagator_get_rows(p, GPUOPT_HOST, &report);
    gpuopt_propagator_destroy(p);
    gpuopt_context_destroy(context);
    return status;
}

static void memory_may_run_out(void **state) {
    model_host *h = *state;
    /* context, its state on CUDA, plan or create, handle */
    assert_true(test_runs_out(whole_life, &h->desc) >= (test_on("cuda") ? 4 : 3));
}

static void check_plan(test_host *host, gpuopt_context *context, const gpuopt_propagator_desc *desc) {
    gpuopt_memory_plan plan;
    TEST_PLANNED(propagator, host, context, desc, &plan);
    assert_true((plan.create_device_bytes > 0) == test_on("cuda"));
}

/* For every variant in both precisions. */
static void check_plans(model_host *h, gpuopt_propagator_desc desc) {
    size_t variants, v;
    const problem_variant *variant = problem_variants(&variants);
    int precision;
    for (precision = GPUOPT_PRECISION_FP64; precision <= GPUOPT_PRECISION_FP32; precision++)
        for (v = 0; v < variants; v++) {
            desc.precision = (gpuopt_propagator_precision)precision;
            problem_apply(&variant[v], &desc);
            check_plan(&h->host, h->context, &desc);
        }
}

static void plan_is_exact(void **state) {
    static const char *const generated[] = {"rand,300,200,12,7", "skew,100,2000,40,3", "twolines"};
    static const int64_t no_rows[1] = {0};
    gpuopt_propagator_desc desc;
    int g;
    for (g = 0; g < 3; g++) {
        char error[128] = "";
        mip m;
        if (mip_generate(generated[g], &m, error, sizeof error)) fail_msg("%s: %s", generated[g], error);
        desc = mip_propagator_desc(&m);
        check_plans(*state, desc);
        assert_int_equal(mip_columns(&m), 0);
        desc.matrix = m.columns;
        check_plans(*state, desc);
        mip_free(&m);
    }
    desc = GPUOPT_INIT(gpuopt_propagator_desc);
    desc.matrix.start = no_rows;
    check_plans(*state, desc);
    desc.matrix.layout = GPUOPT_LAYOUT_CSC;
    check_plans(*state, desc);
}

static void steps_allocate_nothing(void **state) {
    static const int32_t index[2] = {1, 0};
    static const double low[2] = {0, 0}, high[2] = {9, 8};
    double lb[3], ub[3];
    uint8_t status[2];
    gpuopt_propagator_info info;
    gpuopt_propagator_row_report report;
    size_t variants, v;
    const problem_variant *variant = problem_variants(&variants);
    model_host *h = *state;
    gpuopt_desc_init(&info, sizeof info);
    gpuopt_desc_init(&report, sizeof report);
    report.status = status;
    for (v = 0; v < variants; v++) {
        gpuopt_propagator *p;
        long allocations;
        problem_apply(&variant[v], &h->desc);
        p = problem_create(h->context, &h->desc);
        allocations = h->host.allocations;
        assert_int_equal(gpuopt_propagator_round(p, 2, &info), GPUOPT_OK);
        assert_int_equal(gpuopt_propagator_round(p, 5, NULL), GPUOPT_OK);
        assert_int_equal(gpuopt_propagator_get_info(p, &info), GPUOPT_OK);
        assert_int_equal(gpuopt_propagator_get_bounds(p, GPUOPT_HOST, 0, NULL, lb, ub), GPUOPT_OK);
        assert_int_equal(gpuopt_propagator_set_bounds(p, GPUOPT_HOST, 0, NULL, h->desc.lb, h->desc.ub), GPUOPT_OK);
        assert_int_equal(gpuopt_propagator_set_bounds(p, GPUOPT_HOST, 2, index, low, high), GPUOPT_OK);
        assert_int_equal(gpuopt_propagator_get_bounds(p, GPUOPT_HOST, 2, index, lb, ub), GPUOPT_OK);
        assert_int_equal(gpuopt_propagator_set_sides(p, GPUOPT_HOST, 2, index, low, high), GPUOPT_OK);
        assert_int_equal(gpuopt_propagator_get_rows(p, GPUOPT_HOST, &report), GPUOPT_OK);
        assert_int_equal(gpuopt_propagator_round(p, 5, &info), GPUOPT_OK);
        assert_int_equal(gpuopt_context_wait(h->context), GPUOPT_OK);
        assert_int_equal(h->host.allocations, allocations);
        gpuopt_propagator_destroy(p);
    }
}

/* _create copies the arrays: later changes to them by the caller have no effect. */
static void input_is_copied(void **state) {
    mip m = model_small();
    gpuopt_propagator_desc desc = mip_propagator_desc(&m);
    gpuopt_propagator *p = problem_create(((model_host *)*state)->context, &desc);
    memset((void *)m.matrix.start, 0xFF, sizeof *m.matrix.start * 3);
    memset((void *)m.matrix.index, 0xFF, sizeof *m.matrix.index * 4);
    memset((void *)m.matrix.value, 0xFF, sizeof *m.matrix.value * 4);
    memset(m.lhs, 0xFF, sizeof *m.lhs * 2);
    memset(m.rhs, 0xFF, sizeof *m.rhs * 2);
    memset(m.lb, 0xFF, sizeof *m.lb * 3);
    memset(m.ub, 0xFF, sizeof *m.ub * 3);
    memset(m.integer, 0xFF, 3);
    memset(&desc, 0xFF, sizeof desc);
    mip_free(&m);
    model_check_fixpoint(p);
    gpuopt_propagator_destroy(p);
}

static void contexts_are_independent(void **state) {
    model_host *h = *state;
    test_host other;
    gpuopt_context *context = test_context(&other);
    gpuopt_propagator *here = problem_create(h->context, &h->desc), *there = problem_create(context, &h->desc), *none;
    gpuopt_propagator_info info;
    gpuopt_desc_init(&info, sizeof info);
    ((double *)h->model.matrix.value)[0] = NAN;
    assert_int_equal(gpuopt_propagator_create(context, &h->desc, NULL, &none), GPUOPT_ERROR_ARGUMENT);
    assert_true(other.error[0] && !h->host.error[0]);
    problem_round(there, 1);
    gpuopt_propagator_destroy(there);
    gpuopt_context_destroy(context);
    assert_int_equal(other.live, 0);
    assert_true(h->host.live > 0);
    other.error[0] = 0;
    model_check_fixpoint(here); /* three rounds: the round in the other context has no effect here */
    assert_int_equal(gpuopt_propagator_round(here, 0, &info), GPUOPT_ERROR_ARGUMENT);
    assert_true(!other.error[0] && h->host.error[0]);
    gpuopt_propagator_destroy(here);
}

static void check_unsupported(model_host *h, gpuopt_status status) {
    assert_int_equal(status, GPUOPT_ERROR_UNSUPPORTED);
    assert_true(h->host.error[0]);
    h->host.error[0] = 0;
}

/* Only the CUDA backend has it. */
static void device_memory(void **state) {
    static const double ones[3] = {1, 1, 1}, twos[3] = {2, 2, 2};
    static const int32_t col[1] = {0};
    double lb[3] = {1, 1, 1}, ub[3] = {2, 2, 2};
    model_host *h = *state;
    gpuopt_propagator *p = problem_create(h->context, &h->desc);
    gpuopt_device_view view;
    gpuopt_propagator_row_report report;
    gpuopt_desc_init(&view, sizeof view);
    gpuopt_desc_init(&report, sizeof report);
    report.min_activity = ub;
    if (test_on("cuda")) {
        assert_int_equal(gpuopt_propagator_device_view(p, &view), GPUOPT_OK);
        assert_non_null(view.data);
        assert_int_equal(view.type, GPUOPT_TYPE_FP64);
    } else {
        check_unsupported(h, gpuopt_propagator_get_bounds(p, GPUOPT_DEVICE, 0, NULL, lb, ub));
        check_unsupported(h, gpuopt_propagator_set_bounds(p, GPUOPT_DEVICE, 0, NULL, lb, ub));
        check_unsupported(h, gpuopt_propagator_get_bounds(p, GPUOPT_DEVICE, 1, col, lb, ub));
        check_unsupported(h, gpuopt_propagator_set_bounds(p, GPUOPT_DEVICE, 1, col, lb, ub));
        check_unsupported(h, gpuopt_propagator_set_sides(p, GPUOPT_DEVICE, 1, col, lb, ub));
        check_unsupported(h, gpuopt_propagator_get_rows(p, GPUOPT_DEVICE, &report));
        check_unsupported(h, gpuopt_propagator_device_view(p, &view));
        assert_memory_equal(lb, ones, sizeof lb);
        assert_memory_equal(ub, twos, sizeof ub);
        assert_null(view.data);
    }
    model_check_fixpoint(p);
    gpuopt_propagator_destroy(p);
}

static const struct CMUnitTest tests[] = {
    MODEL_TEST(memory_may_run_out),       MODEL_TEST(plan_is_exact),
    MODEL_TEST(steps_allocate_nothing),   MODEL_TEST(input_is_copied),
    MODEL_TEST(contexts_are_independent), MODEL_TEST(device_memory),
};
TEST_MAIN(tests)
