/* SPDX-License-Identifier: MIT
 *
 * The calls of a tree search: refusals with a reason and without a change, and structs of other versions.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/propagate/tree.h"

/* ---- Refusals ---- */

static gpuopt_status add(gpuopt_propagator *p, gpuopt_matrix rows, const double *lhs, const double *rhs) {
    int32_t row[4];
    return gpuopt_propagator_add_rows(p, &rows, lhs, rhs, row);
}

/* One faulty call after another on a handle with 3 columns, the matrix's rows 0 and 1, the added row 2, one level, and
 * `changes` changes. Returns its status, or 1 after the last. *want: the expected status. */
static int bad_call(int which, gpuopt_propagator *p, int64_t changes, gpuopt_status *want) {
    static const int64_t start[3] = {0, 1, 3}, falling[3] = {0, 2, 1}, shifted[3] = {1, 1, 3};
    static const int32_t index[3] = {0, 1, 2}, beyond[3] = {0, 1, 3}, below[3] = {0, -1, 1}, twice[3] = {0, 1, 1};
    static const int32_t row[3] = {2, 2, 2}, of_matrix[2] = {2, 1}, missing[2] = {2, 3}, negative[2] = {2, -1};
    static const double value[3] = {1, 2, 3}, zero[3] = {1, 0, 3}, nan[3] = {1, NAN, 3}, inf[3] = {1, INFINITY, 3};
    static const double low[2] = {0, 0}, high[2] = {5, 5}, nans[2] = {0, NAN}, up[2] = {0, INFINITY}, six[2] = {0, 6};
    const gpuopt_matrix good = {2, 3, start, index, value, GPUOPT_LAYOUT_CSR};
    gpuopt_matrix m = good;
    gpuopt_propagator_changes c = GPUOPT_INIT(gpuopt_propagator_changes);
    gpuopt_propagator_reason r = GPUOPT_INIT(gpuopt_propagator_reason);
    gpuopt_propagator_trail t = {0};
    gpuopt_propagator *fork = NULL;
    *want = GPUOPT_ERROR_ARGUMENT;
    switch (which) {
    case 0: return gpuopt_propagator_pop(p, 2);
    case 1: return gpuopt_propagator_pop(p, -1);
    case 2: return gpuopt_propagator_pop(p, INT32_MAX);
    case 3: return gpuopt_propagator_get_trail(p, NULL);
    case 4: return gpuopt_propagator_get_trail(p, &t); /* without struct_size */
    case 5: return gpuopt_propagator_get_changes(p, GPUOPT_HOST, changes + 1, &c);
    case 6: return gpuopt_propagator_get_changes(p, GPUOPT_HOST, -1, &c);
    case 7: return gpuopt_propagator_get_changes(p, GPUOPT_HOST, 0, NULL);
    case 8: return c.struct_size = 0, gpuopt_propagator_get_changes(p, GPUOPT_HOST, 0, &c);
    case 9: return c.capacity = -1, gpuopt_propagator_get_changes(p, GPUOPT_HOST, 0, &c);
    case 10: return gpuopt_propagator_get_changes(p, (gpuopt_memory_space)2, 0, &c);
    case 11: return gpuopt_propagator_explain(p, changes, &r);
    case 12: return gpuopt_propagator_explain(p, -2, &r);
    case 13: return gpuopt_propagator_explain(p, 0, NULL);
    case 14: return r.struct_size = 0, gpuopt_propagator_explain(p, 0, &r);
    case 15: return r.capacity = -1, gpuopt_propagator_explain(p, 0, &r);
    case 16: return *want = GPUOPT_ERROR_STATE, gpuopt_propagator_explain(p, -1, &r);
    case 17: return gpuopt_propagator_add_rows(p, NULL, low, high, NULL);
    case 18: return m.cols = 2, add(p, m, low, high);
    case 19: return m.cols = 4, add(p, m, low, high);
    case 20: return m.rows = -1, add(p, m, low, high);
    case 21: return m.start = NULL, add(p, m, low, high);
    case 22: return m.start = falling, add(p, m, low, high);
    case 23: return m.start = shifted, add(p, m, low, high);
    case 24: return m.index = NULL, add(p, m, low, high);
    case 25: return m.index = beyond, add(p, m, low, high);
    case 26: return m.index = below, add(p, m, low, high);
    case 27: return m.index = twice, add(p, m, low, high);
    case 28: return m.value = NULL, add(p, m, low, high);
    case 29: return m.value = zero, add(p, m, low, high);
    case 30: return m.value = nan, add(p, m, low, high);
    case 31: return m.value = inf, add(p, m, low, high);
    case 32: return m.layout = (gpuopt_layout)2, add(p, m, low, high);
    case 33: return add(p, m, nans, high);
    case 34: return add(p, m, low, nans);
    case 35: return add(p, m, six, high);
    case 36: return add(p, m, up, up);
    case 37: return gpuopt_propagator_remove_rows(p, 2, row); /* twice */
    case 38: return gpuopt_propagator_remove_rows(p, 2, of_matrix);
    case 39: return gpuopt_propagator_remove_rows(p, 2, missing);
    case 40: return gpuopt_propagator_remove_rows(p, 2, negative);
    case 41: return gpuopt_propagator_remove_rows(p, -1, row);
    case 42: return gpuopt_propagator_remove_rows(p, 1, NULL);
    case 43: return gpuopt_propagator_set_sides(p, GPUOPT_HOST, 2, missing, low, high);
    case 44: return gpuopt_propagator_clone(p, NULL, NULL, &fork);
    case 45: return gpuopt_propagator_clone(p, NULL, NULL, NULL);
    default: return 1;
    }
}

static void check_refused(gpuopt_context *context, gpuopt_propagator_mode mode, gpuopt_propagator_precision precision) {
    enum { CALLS = 46 };
    static const int32_t index[2] = {0, 2};
    static const double value[2] = {1, 1};
    mip m = model_small();
    gpuopt_propagator_desc desc = tree_desc(&m, mode, precision);
    int which, status = GPUOPT_OK;
    (void)context;
    for (which = 0; status != 1; which++) {
        test_host host;
        gpuopt_context *watched = test_strict_context(&host);
        gpuopt_propagator *p[2];
        int k;
        for (k = 0; k < 2; k++) {
            gpuopt_status want = GPUOPT_OK;
            p[k] = problem_create(watched, &desc);
            assert_int_equal(tree_add(p[k], 3, 2, index, value, -INFINITY, 8), 2);
            tree_push(p[k]);
            problem_round(p[k], 1);
            if (k == 0) continue;
            host.error[0] = 0;
            status = bad_call(which, p[k], tree_trail(p[k]).changes, &want);
            if (status != 1 && (status != (int)want || (!host.error[0] && which < CALLS - 2)))
                fail_msg("bad call %d: %s, '%s'", which, gpuopt_status_string((gpuopt_status)status), host.error);
        }
        assert_int_equal(tree_trail(p[1]).changes, tree_trail(p[0]).changes);
        assert_int_equal(tree_trail(p[1]).levels, 1);
        model_check_same_bounds(p[1], p[0], 3);
        model_check_same_info(problem_round(p[1], 10), problem_round(p[0], 10));
        model_check_same_bounds(p[1], p[0], 3);
        for (k = 0; k < 2; k++) gpuopt_propagator_destroy(p[k]);
        gpuopt_context_destroy(watched);
        assert_int_equal(host.live, 0);
    }
    assert_int_equal(which, CALLS + 1);
    mip_free(&m);
}
TREE_TEST(refused)

static void null_handles(void **state) {
    const gpuopt_status bad = GPUOPT_ERROR_ARGUMENT;
    gpuopt_context *context = test_context(NULL);
    mip m = model_small();
    gpuopt_propagator_desc desc = tree_desc(&m, GPUOPT_MODE_JACOBI, GPUOPT_PRECISION_FP64);
    gpuopt_propagator *p = problem_create(context, &desc), *fork = p;
    gpuopt_propagator_changes c = GPUOPT_INIT(gpuopt_propagator_changes);
    gpuopt_propagator_reason r = GPUOPT_INIT(gpuopt_propagator_reason);
    gpuopt_propagator_trail t = GPUOPT_INIT(gpuopt_propagator_trail);
    gpuopt_memory_plan plan = GPUOPT_INIT(gpuopt_memory_plan), sizeless = {0};
    int64_t start = -5;
    int32_t row = 0;
    (void)state;
    assert_int_equal(gpuopt_propagator_push(NULL, &start), bad);
    assert_int_equal(start, -5);
    assert_int_equal(gpuopt_propagator_pop(NULL, 0), bad);
    assert_int_equal(gpuopt_propagator_commit(NULL), bad);
    assert_int_equal(gpuopt_propagator_get_trail(NULL, &t), bad);
    assert_int_equal(gpuopt_propagator_get_changes(NULL, GPUOPT_HOST, 0, &c), bad);
    assert_int_equal(gpuopt_propagator_explain(NULL, 0, &r), bad);
    assert_int_equal(gpuopt_propagator_add_rows(NULL, &m.matrix, m.lhs, m.rhs, NULL), bad);
    assert_int_equal(gpuopt_propagator_remove_rows(NULL, 1, &row), bad);
    assert_int_equal(gpuopt_propagator_clone(NULL, context, NULL, &fork), bad);
    assert_null(fork);
    fork = p;
    assert_int_equal(gpuopt_propagator_clone(p, NULL, NULL, &fork), bad);
    assert_null(fork);
    assert_int_equal(gpuopt_propagator_clone(p, context, NULL, NULL), bad);
    assert_int_equal(gpuopt_propagator_clone(NULL, context, &plan, NULL), bad);
    assert_int_equal(gpuopt_propagator_clone(p, NULL, &plan, NULL), bad);
    assert_int_equal(gpuopt_propagator_clone(p, context, NULL, NULL), bad);
    assert_int_equal(gpuopt_propagator_clone(p, context, &sizeless, NULL), bad);
    assert_int_equal(gpuopt_propagator_push(p, NULL), GPUOPT_OK); /* start may be NULL */
    model_check_fixpoint(p);
    gpuopt_propagator_destroy(p);
    gpuopt_context_destroy(context);
    mip_free(&m);
}

/* Without a trail: its calls are refused, rows and forks work. */
static void check_no_trail(gpuopt_context *context, gpuopt_propagator_mode mode,
                           gpuopt_propagator_precision precision) {
    const gpuopt_status no = GPUOPT_ERROR_STATE;
    mip m = model_small();
    gpuopt_propagator_desc desc = tree_desc(&m, mode, precision);
    gpuopt_propagator_changes c = GPUOPT_INIT(gpuopt_propagator_changes);
    gpuopt_propagator_reason r = GPUOPT_INIT(gpuopt_propagator_reason);
    gpuopt_propagator *p, *fork;
    int64_t start = -5;
    desc.trail_capacity = 0;
    p = problem_create(context, &desc);
    assert_int_equal(gpuopt_propagator_push(p, &start), no);
    assert_int_equal(start, -5);
    assert_true(gpuopt_propagator_pop(p, 1) < 0); /* there is no level either */
    assert_int_equal(gpuopt_propagator_commit(p), no);
    assert_int_equal(gpuopt_propagator_get_changes(p, GPUOPT_HOST, 0, &c), no);
    assert_int_equal(gpuopt_propagator_explain(p, 0, &r), no);
    assert_int_equal(tree_trail(p).levels, 0);
    assert_int_equal(tree_trail(p).changes, 0);
    assert_int_equal(gpuopt_propagator_clone(p, context, NULL, &fork), GPUOPT_OK);
    assert_int_equal(gpuopt_propagator_push(fork, &start), no);
    model_check_fixpoint(fork);
    model_check_fixpoint(p);
    gpuopt_propagator_destroy(fork);
    gpuopt_propagator_destroy(p);
    mip_free(&m);
}
TREE_TEST(no_trail)

static void create_refuses(void **state) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    mip m = model_small();
    const gpuopt_propagator_desc good = tree_desc(&m, GPUOPT_MODE_JACOBI, GPUOPT_PRECISION_FP64);
    int fault;
    (void)state;
    for (fault = 0; fault < 8; fault++) {
        static const char *const named[] = {"trail_capacity",
                                            "desc->spare->rows",
                                            "desc->spare->nonzeros",
                                            "desc->spare->cols",
                                            "gpuopt_spare: struct_size",
                                            "marking",
                                            "marking",
                                            "rows"};
        gpuopt_propagator_desc desc = good;
        gpuopt_spare spare = *good.spare;
        gpuopt_propagator *p = (gpuopt_propagator *)&desc;
        gpuopt_memory_plan plan = GPUOPT_INIT(gpuopt_memory_plan);
        gpuopt_status status, planned;
        desc.spare = &spare;
        if (fault == 0) desc.trail_capacity = -1;
        if (fault == 1) spare.rows = -1;
        if (fault == 2) spare.nonzeros = -1;
        if (fault == 3) spare.cols = 1;
        if (fault == 4) spare.struct_size = 0;
        if (fault == 5 || fault == 6) desc.marking = GPUOPT_OFF;
        if (fault == 5) desc.spare = NULL;
        if (fault == 6) desc.trail_capacity = 0;
        if (fault == 7) spare.rows = INT32_MAX; /* with the matrix's, more rows than there can be */
        host.error[0] = 0;
        planned = gpuopt_propagator_create(context, &desc, &plan, NULL);
        status = gpuopt_propagator_create(context, &desc, NULL, &p);
        assert_int_equal(planned, status);
        assert_null(p);
        assert_non_null(strstr(host.error, named[fault]));
        assert_int_equal(status, fault < 5 ? GPUOPT_ERROR_ARGUMENT : GPUOPT_ERROR_UNSUPPORTED);
    }
    gpuopt_context_destroy(context);
    assert_int_equal(host.live, 0);
    mip_free(&m);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(refused),
    cmocka_unit_test(null_handles),
    cmocka_unit_test(no_trail),
    cmocka_unit_test(create_refuses),
};
TEST_MAIN(tests)
