/* SPDX-License-Identifier: MIT
 *
 * Infinities, tolerances, the named settings, and the rounding of single precision.
 */
#include <math.h>
#include <string.h>

#include "tests/propagate/model.h"

/* ---- Infinities ---- */

/* Bounds at infinity, beyond it and just below it, with the default infinity and one of the caller. */
static void infinite_bounds(void **state) {
    static const struct infinity_case {
        double infinity, low[3], high[3];
    } cases[2] = {{0, {-1e20, -1e30, -9.9e19}, {1e20, INFINITY, 9.9e19}},
                  {1e10, {-1e10, -2e10, -9e9}, {1e10, 2e10, 9e9}}};
    static const double low[3] = {-9e9, -2e10, -9e9}, high[3] = {1e10, 5, 1e10}, at[3] = {1e10, -2e10, -9e9};
    model_host *h = *state;
    gpuopt_propagator *p;
    double lb[3], ub[3];
    int k;
    for (k = 0; k < 2; k++) {
        h->desc.infinity = cases[k].infinity;
        h->desc.lb = cases[k].low;
        h->desc.ub = cases[k].high;
        p = problem_create(h->context, &h->desc);
        problem_bounds(p, lb, ub);
        assert_true(lb[0] == -INFINITY && lb[1] == -INFINITY && lb[2] == cases[k].low[2]);
        assert_true(ub[0] == INFINITY && ub[1] == INFINITY && ub[2] == cases[k].high[2]);
        if (k == 1) {
            assert_int_equal(gpuopt_propagator_set_bounds(p, GPUOPT_HOST, 0, NULL, low, high), GPUOPT_OK);
            problem_bounds(p, lb, ub);
            assert_true(lb[0] == -9e9 && ub[1] == 5 && ub[2] == INFINITY);
            assert_int_equal(gpuopt_propagator_set_bounds(p, GPUOPT_HOST, 0, NULL, at, NULL), GPUOPT_ERROR_ARGUMENT);
        }
        gpuopt_propagator_destroy(p);
    }
}

/* The upper bound of x >= 0 from  a x <= side  with the given infinity. */
static void infinite_sides_and_candidates(void **state) {
    static const struct candidate_case {
        double infinity, a, side, ub;
    } cases[] = {
        {0, 1, 2e10, 2e10},  {1e10, 1, 2e10, INFINITY},   /* the side is infinite */
        {1e10, 1, 5e9, 5e9}, {1e10, 0.25, 5e9, INFINITY}, /* x <= 2e10 is infinite */
        {1e10, 0.25, 2, 8},
    };
    model_host *h = *state;
    size_t k;
    for (k = 0; k < sizeof cases / sizeof *cases; k++) {
        mip m = model_one_column(0, INFINITY, -INFINITY, cases[k].side);
        gpuopt_propagator_desc desc = mip_propagator_desc(&m);
        double lb, ub;
        ((double *)m.matrix.value)[0] = cases[k].a;
        desc.infinity = cases[k].infinity;
        problem_run(h->context, &desc, 5, &lb, &ub);
        assert_true(lb == 0 && ub == cases[k].ub);
        mip_free(&m);
    }
}

/* x <= 1.9999995 and x >= -1.9999995 give an integer column the candidates 2 and -2, infinite here. */
static void check_rounding_to_infinity(gpuopt_context *context, gpuopt_propagator_desc desc) {
    gpuopt_propagator_info info;
    double lb, ub;
    desc.infinity = 2;
    info = problem_run(context, &desc, 5, &lb, &ub);
    assert_true(info.outcome == GPUOPT_CONVERGED && info.rounds == 1 && info.changed == 0);
    assert_true(lb == -INFINITY && ub == INFINITY);
}

static mip nearly_two(void) {
    mip m = model_one_column(-INFINITY, INFINITY, -1.9999995, 1.9999995);
    m.integer[0] = 1;
    return m;
}
MODEL_VARIANTS_TEST(rounding_to_infinity, nearly_two())

/* 9.9999999e19 is finite, but single precision rounds it outwards to 1.00000002e20: the caller's bounds and a row's. */
static void check_single_precision_rounds_to_infinity(gpuopt_context *context, gpuopt_propagator_desc desc) {
    const double low = -9.9999999e19, high = 9.9999999e19, none = -INFINITY, any = INFINITY;
    gpuopt_propagator *p;
    desc.precision = GPUOPT_PRECISION_FP32;
    p = problem_create(context, &desc);
    model_check_bounds(p, 1, &none, &any);
    assert_int_equal(gpuopt_propagator_set_bounds(p, GPUOPT_HOST, 0, NULL, &low, &high), GPUOPT_OK);
    model_check_bounds(p, 1, &none, &any);
    assert_int_equal(problem_round(p, 5).changed, 0);
    model_check_bounds(p, 1, &none, &any);
    gpuopt_propagator_destroy(p);
}
MODEL_VARIANTS_TEST(single_precision_rounds_to_infinity,
                    model_one_column(-9.9999999e19, 9.9999999e19, -9.9999999e19, 9.9999999e19))

/* ---- Tolerances and precision ---- */

/* x <= 1 and x >= 1 + 5e-7 are within the tolerance of 1e-6, not within one of 1e-7. */
static void check_bounds_that_met_within_the_tolerance(gpuopt_context *context, gpuopt_propagator_desc desc) {
    const gpuopt_propagator_tolerances strict = {.struct_size = sizeof strict, .feasibility = 1e-7};
    const double low = 2 + 5e-7, high = 2;
    gpuopt_propagator *p = problem_create(context, &desc);
    double lb, ub;
    assert_int_equal(problem_round(p, 10).outcome, GPUOPT_CONVERGED);
    problem_bounds(p, &lb, &ub);
    assert_true(lb == 1 && ub == 1);
    assert_int_equal(gpuopt_propagator_set_bounds(p, GPUOPT_HOST, 0, NULL, &low, &high), GPUOPT_OK);
    problem_bounds(p, &lb, &ub);
    assert_true(lb == 2 && ub == 2);
    gpuopt_propagator_destroy(p);
    desc.tolerances = &strict;
    assert_int_equal(problem_run(context, &desc, 10, &lb, &ub).outcome, GPUOPT_INFEASIBLE);
}

static mip nearly_met(void) {
    static const double a[2] = {1, 1}, lhs[2] = {-INFINITY, 1 + 5e-7}, rhs[2] = {1, INFINITY};
    return model_dense(2, 1, a, lhs, rhs, 0, 10, 0);
}
MODEL_VARIANTS_TEST(bounds_that_met_within_the_tolerance, nearly_met())

/* x >= 2 + 5e-7 and x <= 2 have met within the tolerance, so the caller sees a lower bound of 2. Terms of at least 1
 * are infinite here, so that no activity shows that the row  x <= 1  cannot hold; instead the column's bounds cross.
 * Only the upper bound moves, and the lower bound is then returned in its stored form. */
static void check_lower_bound_behind_the_upper_one(gpuopt_context *context, gpuopt_propagator_desc desc) {
    const gpuopt_propagator_tolerances infinite = {.struct_size = sizeof infinite, .huge_value = 1};
    gpuopt_propagator *p;
    gpuopt_propagator_info info;
    double lb, ub;
    desc.tolerances = &infinite;
    p = problem_create(context, &desc);
    problem_bounds(p, &lb, &ub);
    assert_true(lb == 2 && ub == 2);
    info = problem_round(p, 10);
    assert_int_equal(info.outcome, GPUOPT_INFEASIBLE);
    assert_true(info.rounds == 1 && info.changed == 1 && info.infeasible_row == -1 && info.infeasible_col == 0);
    problem_bounds(p, &lb, &ub);
    assert_true(lb == 2 + 5e-7 && ub == 1);
    gpuopt_propagator_destroy(p);
}
MODEL_VARIANTS_TEST(lower_bound_behind_the_upper_one, model_one_column(2 + 5e-7, 2, -INFINITY, 1))

/* 0.1 lies between 0.1f and the float below it. */
static void single_precision_rounds_outwards(void **state) {
    gpuopt_context *context = test_context(NULL);
    const double bound = 0.1, minus = -0.1;
    mip m = model_one_column(0.1, 0.1, -INFINITY, INFINITY);
    gpuopt_propagator_desc desc = mip_propagator_desc(&m);
    gpuopt_propagator *p;
    double lb, ub;
    (void)state;
    desc.precision = GPUOPT_PRECISION_FP32;
    p = problem_create(context, &desc);
    problem_bounds(p, &lb, &ub);
    assert_true(lb == nextafterf(0.1f, 0) && ub == 0.1f);
    assert_int_equal(gpuopt_propagator_set_bounds(p, GPUOPT_HOST, 0, NULL, &minus, &bound), GPUOPT_OK);
    problem_bounds(p, &lb, &ub);
    assert_true(lb == -0.1f && ub == 0.1f);
    gpuopt_propagator_destroy(p);
    mip_free(&m);
    gpuopt_context_destroy(context);
}

/* ---- Named settings ---- */

static void check_tuned(gpuopt_propagator_settings settings, double least, double relative, double huge) {
    gpuopt_propagator_tolerances t, want;
    memset(&t, 0x5A, sizeof t);
    t.struct_size = sizeof t;
    want = t;
    assert_int_equal(gpuopt_propagator_tolerances_tune(&t, settings), GPUOPT_OK);
    assert_true(t.huge_value == huge || (huge == 1e100 && t.huge_value == 0)); /* 0: the default, 1e100 */
    want.feasibility = want.integrality = 1e-6;
    want.least_change = least;
    want.least_change_relative = relative;
    want.huge_value = t.huge_value;
    want.relative_integers = settings == GPUOPT_SETTINGS_HIGHS ? GPUOPT_OFF : GPUOPT_DEFAULT;
    assert_memory_equal(&t, &want, offsetof(gpuopt_propagator_tolerances, relative_integers));
    assert_int_equal(t.relative_integers, want.relative_integers);
}

static void settings_are_as_documented(void **state) {
    static const gpuopt_propagator_settings refused[3] = {(gpuopt_propagator_settings)4, (gpuopt_propagator_settings)-1,
                                                          GPUOPT_SETTINGS_PAPER};
    int k;
    (void)state;
    check_tuned(GPUOPT_SETTINGS_PAPER, 1e-9, 0, 1e100);
    check_tuned(GPUOPT_SETTINGS_SCIP, 1e-9, 0.05, 1e15);
    check_tuned(GPUOPT_SETTINGS_HIGHS, 1e-3, 0.3, 1e100);
    check_tuned(GPUOPT_SETTINGS_PAPILO, 1e-3, 0, 1e8);
    for (k = 0; k < 3; k++) {
        gpuopt_propagator_tolerances t, kept;
        gpuopt_desc_init(&t, sizeof t);
        if (k == 2) t.struct_size = 8; /* valid settings, but the struct is too short */
        kept = t;
        assert_int_equal(gpuopt_propagator_tolerances_tune(&t, refused[k]), GPUOPT_ERROR_ARGUMENT);
        assert_memory_equal(&t, &kept, sizeof t);
    }
}

/* Whether x in [0, 100] is tightened to x <= rhs. */
static void settings_stop_small_steps(void **state) {
    static const struct step_case {
        gpuopt_propagator_settings settings;
        double rhs;
        int tightens;
    } cases[] = {
        {GPUOPT_SETTINGS_PAPER, 97, 1},
        {GPUOPT_SETTINGS_SCIP, 97, 0}, /* 3% */
        {GPUOPT_SETTINGS_SCIP, 94, 1}, /* 6% */
        {GPUOPT_SETTINGS_HIGHS, 71, 0},
        {GPUOPT_SETTINGS_HIGHS, 69, 1},
        {GPUOPT_SETTINGS_PAPILO, 99.5, 1},
        {GPUOPT_SETTINGS_PAPER, 100 - 0x1p-11, 1}, /* 0.0005 */
        {GPUOPT_SETTINGS_PAPILO, 100 - 0x1p-11, 0},
    };
    model_host *h = *state;
    size_t k;
    for (k = 0; k < sizeof cases / sizeof *cases; k++) {
        mip m = model_one_column(0, 100, -INFINITY, cases[k].rhs);
        gpuopt_propagator_desc desc = mip_propagator_desc(&m);
        gpuopt_propagator_tolerances tolerances = GPUOPT_INIT(gpuopt_propagator_tolerances);
        double lb, ub;
        desc.tolerances = &tolerances;
        assert_int_equal(gpuopt_propagator_tolerances_tune(&tolerances, cases[k].settings), GPUOPT_OK);
        assert_int_equal(problem_run(h->context, &desc, 5, &lb, &ub).outcome, GPUOPT_CONVERGED);
        assert_true(lb == 0 && ub == (cases[k].tightens ? cases[k].rhs : 100));
        mip_free(&m);
    }
}

/* The bound of an integer column moves by a unit as soon as its candidate gains the integrality tolerance, for any
 * least change: 10 x <= 8 fixes a binary column at 0. One row, one integer column. */
static void integers_move_by_units(void **state) {
    static const struct integer_case {
        gpuopt_propagator_settings settings;
        gpuopt_propagator_precision precision;
        double a, rhs, lb, ub, integrality, expected;
    } cases[] = {
        {GPUOPT_SETTINGS_PAPER, GPUOPT_PRECISION_FP64, 10, 8, 0, 1, 0, 0},
        {GPUOPT_SETTINGS_HIGHS, GPUOPT_PRECISION_FP64, 10, 8, 0, 1, 0, 0},
        {GPUOPT_SETTINGS_SCIP, GPUOPT_PRECISION_FP64, 100, 96, 0, 1, 0, 0},
        {GPUOPT_SETTINGS_PAPILO, GPUOPT_PRECISION_FP64, 1, 0.9995, 0, 1, 0, 0},
        {GPUOPT_SETTINGS_PAPILO, GPUOPT_PRECISION_FP64, 1, 4.9995, -INFINITY, 5, 0, 4},
        {GPUOPT_SETTINGS_PAPER, GPUOPT_PRECISION_FP32, 1, 100 - 5e-6, 0, 100, 0, 99},
        {GPUOPT_SETTINGS_PAPER, GPUOPT_PRECISION_FP64, 1, 100 - 5e-6, 0, 100, 0, 99},
        {GPUOPT_SETTINGS_PAPER, GPUOPT_PRECISION_FP64, 1, 100 - 5e-7, 0, 100, 0, 100}, /* within the tolerance */
        {GPUOPT_SETTINGS_PAPER, GPUOPT_PRECISION_FP64, 1, 1 - 5e-10, 0, 1, 1e-12, 0},
        {GPUOPT_SETTINGS_HIGHS, GPUOPT_PRECISION_FP64, 1, 90.5, 0, 100, 0, 90}, /* 30% are for continuous columns */
        {GPUOPT_SETTINGS_HIGHS, GPUOPT_PRECISION_FP64, 1, 99, 0, 100, 0, 99},
        {GPUOPT_SETTINGS_SCIP, GPUOPT_PRECISION_FP64, 1, 96, 0, 100, 0, 100}, /* 5% are for all */
        {GPUOPT_SETTINGS_SCIP, GPUOPT_PRECISION_FP64, 1, 94, 0, 100, 0, 94},
    };
    static const double no_side = -INFINITY;
    model_host *h = *state;
    size_t k;
    for (k = 0; k < sizeof cases / sizeof *cases; k++) {
        mip m = model_dense(1, 1, &cases[k].a, &no_side, &cases[k].rhs, cases[k].lb, cases[k].ub, 1);
        gpuopt_propagator_desc desc = mip_propagator_desc(&m);
        gpuopt_propagator_tolerances tolerances = GPUOPT_INIT(gpuopt_propagator_tolerances);
        double lb, ub;
        desc.precision = cases[k].precision;
        desc.tolerances = &tolerances;
        assert_int_equal(gpuopt_propagator_tolerances_tune(&tolerances, cases[k].settings), GPUOPT_OK);
        if (cases[k].integrality > 0) tolerances.integrality = cases[k].integrality;
        problem_run(h->context, &desc, 9, &lb, &ub);
        if (ub < cases[k].expected || ub > cases[k].expected)
            fail_msg("case %zu: upper bound %.17g, expected %g", k, ub, cases[k].expected);
        mip_free(&m);
    }
}

/* The caller's bounds of an integer column are rounded wherever they are set, with the tolerance of a candidate. An
 * integer of any size stays unchanged. */
static void check_host_bounds_are_rounded(gpuopt_context *context, gpuopt_propagator_desc desc) {
    static const struct host_case {
        double lb, ub, want_lb, want_ub;
    } cases[] = {
        {0.5, 2.7, 1, 2},
        {-2.7, -0.5, -2, -1},
        {2.0000005, 2.9999995, 2, 3},
        {2.00001, 2.99999, 3, 2},
        {-0.25, 0.25, 0, 0},
        {-INFINITY, 7.5, -INFINITY, 7},
        {-0.5, INFINITY, 0, INFINITY},
        {-1e16, 1e16, -1e16, 1e16},
        {0x1p40 + 0.5, 0x1p40 + 1.5, 0x1p40 + 1, 0x1p40 + 1},
    };
    const int32_t col = 0;
    size_t k;
    for (k = 0; k < sizeof cases / sizeof *cases; k++) {
        gpuopt_propagator *p;
        const double any = -3;
        int crossed = cases[k].want_lb > cases[k].want_ub, way;
        desc.lb = &cases[k].lb;
        desc.ub = &cases[k].ub;
        p = problem_create(context, &desc);
        for (way = 0; way < 4; way++) {
            if (way == 1)
                assert_int_equal(gpuopt_propagator_set_bounds(p, GPUOPT_HOST, 0, NULL, desc.lb, desc.ub), GPUOPT_OK);
            if (way == 2)
                assert_int_equal(gpuopt_propagator_set_bounds(p, GPUOPT_HOST, 1, &col, desc.lb, desc.ub), GPUOPT_OK);
            if (way == 3) {
                assert_int_equal(gpuopt_propagator_set_bounds(p, GPUOPT_HOST, 1, &col, NULL, desc.ub), GPUOPT_OK);
                assert_int_equal(gpuopt_propagator_set_bounds(p, GPUOPT_HOST, 1, &col, desc.lb, NULL), GPUOPT_OK);
            }
            model_check_bounds(p, 1, &cases[k].want_lb, &cases[k].want_ub);
            assert_int_equal(problem_round(p, 5).outcome, crossed ? GPUOPT_INFEASIBLE : GPUOPT_CONVERGED);
            model_check_bounds(p, 1, &cases[k].want_lb, &cases[k].want_ub);
            assert_int_equal(gpuopt_propagator_set_bounds(p, GPUOPT_HOST, 0, NULL, &any, NULL), GPUOPT_OK);
        }
        gpuopt_propagator_destroy(p);
    }
}

static mip one_integer(void) {
    mip m = model_one_column(0, 1, -INFINITY, INFINITY);
    m.integer[0] = 1;
    return m;
}
MODEL_VARIANTS_TEST(host_bounds_are_rounded, one_integer())

/* y - x <= 5 with x <= 2e8 gives y <= 2e8 + 5, unless the term -2e8 counts as infinite. */
static void settings_make_large_terms_infinite(void **state) {
    static const double a[2] = {-1, 1}, lhs = -INFINITY, rhs = 5;
    mip m = model_dense(1, 2, a, &lhs, &rhs, 0, 1e9, 0);
    gpuopt_propagator_desc desc = mip_propagator_desc(&m);
    gpuopt_propagator_tolerances tolerances = GPUOPT_INIT(gpuopt_propagator_tolerances);
    model_host *h = *state;
    gpuopt_propagator_row_report report;
    gpuopt_propagator *p;
    double lb[2], ub[2];
    int32_t infinite = -1;
    m.ub[0] = 2e8;
    problem_run(h->context, &desc, 5, lb, ub);
    assert_true(ub[0] == 2e8 && ub[1] == 200000005.0);
    assert_int_equal(gpuopt_propagator_tolerances_tune(&tolerances, GPUOPT_SETTINGS_PAPILO), GPUOPT_OK);
    desc.tolerances = &tolerances;
    problem_run(h->context, &desc, 5, lb, ub);
    assert_true(ub[0] == 2e8 && ub[1] == 1e9);
    gpuopt_desc_init(&report, sizeof report);
    report.min_infinite = &infinite;
    p = problem_create(h->context, &desc);
    assert_int_equal(gpuopt_propagator_get_rows(p, GPUOPT_HOST, &report), GPUOPT_OK);
    assert_int_equal(infinite, 1);
    gpuopt_propagator_destroy(p);
    mip_free(&m);
}

static const struct CMUnitTest tests[] = {
    MODEL_TEST(infinite_bounds),
    MODEL_TEST(infinite_sides_and_candidates),
    cmocka_unit_test(rounding_to_infinity),
    cmocka_unit_test(single_precision_rounds_to_infinity),
    cmocka_unit_test(bounds_that_met_within_the_tolerance),
    cmocka_unit_test(lower_bound_behind_the_upper_one),
    cmocka_unit_test(single_precision_rounds_outwards),
    cmocka_unit_test(settings_are_as_documented),
    MODEL_TEST(settings_stop_small_steps),
    MODEL_TEST(integers_move_by_units),
    cmocka_unit_test(host_bounds_are_rounded),
    MODEL_TEST(settings_make_large_terms_infinite),
};
TEST_MAIN(tests)
