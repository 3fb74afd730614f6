/* SPDX-License-Identifier: MIT
 *
 * Memory comes from the caller's allocator, is planned exactly, may run out, and is not allocated by steps. Only the
 * CUDA backend uses device memory.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/simplex/answer.h"

static void check_plan(test_host *host, gpuopt_context *context, const gpuopt_simplex_desc *desc) {
    gpuopt_memory_plan plan;
    TEST_PLANNED(simplex, host, context, desc, &plan);
    assert_int_equal(plan.create_bytes, 0); /* create takes nothing that it does not keep */
}

static double *dense_of(const mip *m) {
    double *dense = calloc((size_t)m->columns.rows * (size_t)m->columns.cols + 1, sizeof *dense);
    int32_t j;
    int64_t e;
    for (j = 0; j < m->columns.cols; j++)
        for (e = m->columns.start[j]; e < m->columns.start[j + 1]; e++)
            dense[(int64_t)j * m->columns.rows + m->columns.index[e]] = m->columns.value[e];
    return dense;
}

static void plan_is_exact(void **state) {
    static const char *const models[] = {"shah:1:1", "shah:50:1", "meyer:20:300:0.1:1", "plant:300:40:0.05:1"};
    static const int32_t deferred[] = {0, 1, 16, 256};
    test_host host;
    gpuopt_context *context = test_context(&host);
    gpuopt_simplex_desc desc;
    gpuopt_simplex_rules rules;
    int model, way, k;
    (void)state;
    gpuopt_desc_init(&desc, sizeof desc);
    check_plan(&host, context, &desc); /* nothing in it */
    for (model = 0; model < 4; model++) {
        mip m = model_load(models[model]);
        double *dense = dense_of(&m);
        assert_int_equal(mip_rows(&m), 0);
        for (way = 0; way < 6; way++)
            for (k = 0; k < 4; k++) {
                desc = tableau_desc(&m);
                variant_set(&desc, way);
                rules = rules_of(&desc);
                desc.rules = &rules;
                rules.deferred_pivots = deferred[k];
                check_plan(&host, context, &desc);
                desc.matrix = m.matrix;
                check_plan(&host, context, &desc);
                desc.matrix.start = NULL;
                desc.dense = dense;
                check_plan(&host, context, &desc);
            }
        free(dense);
        mip_free(&m);
    }
    gpuopt_context_destroy(context);
    assert_int_equal(host.live, 0);
}

/* All calls that may allocate; stops at the first that fails, and cleans up. */
static gpuopt_status whole_life(const gpuopt_context_desc *context_desc, const void *of) {
    const gpuopt_simplex_desc *desc = of;
    gpuopt_context *context = NULL;
    gpuopt_simplex *simplex = NULL;
    gpuopt_memory_plan plan;
    gpuopt_status status = gpuopt_context_create(context_desc, &context);
    if (status) return status;
    gpuopt_desc_init(&plan, sizeof plan);
    status = gpuopt_simplex_create(context, desc, &plan, NULL);
    if (!status) {
        simplex = (gpuopt_simplex *)&plan;
        status = gpuopt_simplex_create(context, desc, NULL, &simplex);
        if (status) assert_null(simplex);
    }
    if (!status) status = gpuopt_simplex_iterate(simplex, 100000, NULL);
    gpuopt_simplex_destroy(simplex);
    gpuopt_context_destroy(context);
    return status;
}

static void run_out(const gpuopt_simplex_desc *desc) {
    assert_true(test_runs_out(whole_life, desc) >= 3); /* at least the context, the handle and its engine */
}

static void memory_may_run_out(void **state) {
    mip m = model_load("plant:20:30:0.3:1");
    double *dense = dense_of(&m);
    int way;
    (void)state;
    assert_int_equal(mip_rows(&m), 0);
    for (way = 0; way < 6; way++) {
        gpuopt_simplex_desc desc = tableau_desc(&m);
        variant_set(&desc, way);
        run_out(&desc);
        desc.matrix = m.matrix;
        run_out(&desc);
        desc.matrix.start = NULL;
        desc.dense = dense;
        run_out(&desc);
    }
    free(dense);
    mip_free(&m);
}

static void must(gpuopt_status status) { assert_int_equal(status, GPUOPT_OK); }

static void steps_allocate_nothing(void **state) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    mip m = model_load("plant:30:40:0.3:1");
    int variant;
    (void)state;
    for (variant = 0; variant < VARIANTS; variant++) {
        gpuopt_simplex_desc desc = tableau_desc(&m);
        gpuopt_simplex *simplex;
        gpuopt_simplex_entering e;
        gpuopt_simplex_leaving l;
        uint8_t basis[70];
        long allocations;
        answer a;
        variant_set(&desc, variant);
        gpuopt_desc_init(&e, sizeof e);
        gpuopt_desc_init(&l, sizeof l);
        simplex = simplex_create(context, &desc);
        allocations = host.allocations;
        must(gpuopt_simplex_price(simplex, &e));
        must(gpuopt_simplex_ratio_test(simplex, e.variable, e.direction, &l));
        if (l.flip) must(gpuopt_simplex_flip(simplex, e.variable, NULL));
        else must(gpuopt_simplex_pivot(simplex, e.variable, l.variable, l.to_upper, NULL));
        simplex_iterate(simplex, 5);
        must(gpuopt_simplex_get_basis(simplex, GPUOPT_HOST, basis));
        must(gpuopt_simplex_rebuild(simplex, 1, NULL));
        assert_int_equal(simplex_iterate(simplex, 100000).outcome, GPUOPT_OPTIMAL);
        a = answer_get(simplex, &m);
        answer_free(&a);
        assert_int_equal(host.allocations, allocations);
        gpuopt_simplex_destroy(simplex);
    }
    mip_free(&m);
    gpuopt_context_destroy(context);
}

/* Changes of the caller's arrays after create have no effect. */
static void input_is_copied(void **state) {
    gpuopt_context *context = test_context(NULL);
    int way;
    (void)state;
    for (way = 0; way < 12; way++) {
        mip m = model_load("plant:25:35:0.3:2");
        size_t rows = sizeof(double) * (size_t)m.columns.rows, cols = sizeof(double) * (size_t)m.columns.cols;
        size_t count = (size_t)mip_nonzeros(&m);
        double *dense = dense_of(&m), optimum = m.optimum;
        gpuopt_simplex_desc desc = tableau_desc(&m);
        gpuopt_simplex *simplex;
        gpuopt_simplex_info info;
        variant_set(&desc, way % 6);
        if (way >= 6) {
            desc.matrix.start = NULL;
            desc.dense = dense;
        }
        simplex = simplex_create(context, &desc);
        memset((void *)m.columns.start, 0xFF, cols);
        memset((void *)m.columns.index, 0xFF, count * sizeof(int32_t));
        memset((void *)m.columns.value, 0xFF, count * sizeof(double));
        memset(dense, 0xFF, rows / sizeof(double) * cols);
        memset(m.cost, 0xFF, cols);
        memset(m.lb, 0xFF, cols);
        memset(m.ub, 0xFF, cols);
        memset(m.lhs, 0xFF, rows);
        memset(m.rhs, 0xFF, rows);
        info = simplex_iterate(simplex, 100000);
        assert_int_equal(info.outcome, GPUOPT_OPTIMAL);
        assert_true(fabs(info.objective - optimum) <= 1e-9 * fmax(1, fabs(optimum)));
        gpuopt_simplex_destroy(simplex);
        free(dense);
        mip_free(&m);
    }
    gpuopt_context_destroy(context);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(plan_is_exact),
    cmocka_unit_test(memory_may_run_out),
    cmocka_unit_test(steps_allocate_nothing),
    cmocka_unit_test(input_is_copied),
};
TEST_MAIN(tests)
