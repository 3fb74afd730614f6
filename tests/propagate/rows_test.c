/* SPDX-License-Identifier: MIT
 *
 * Row reports: activities, infinite terms and status against values worked out by hand.
 */
#include <math.h>
#include <stdlib.h>

#include "tests/propagate/model.h"

enum { LHS = GPUOPT_ROW_LHS_REDUNDANT, RHS = GPUOPT_ROW_RHS_REDUNDANT, BAD = GPUOPT_ROW_INFEASIBLE };

/* x0 in [0, 2], x1 in [-1, 3], x2 <= 4, x3 >= 1; the coefficients of a row, and the expected report. */
static const struct reported_row {
    double a[4], lhs, rhs, min, max;
    int min_infinite, max_infinite, status;
} reported[] = {
    {{2, -1, 0, 0}, -INFINITY, 10, -3, 5, 0, 0, LHS | RHS},
    {{1, 1, 0, 0}, 0, 3, -1, 5, 0, 0, 0},
    {{0, 0, 1, 1}, 5, 6, 1, 4, 1, 1, 0},
    {{1, 0, -1, 0}, -10, 100, -4, 2, 0, 1, LHS},
    {{0, 0, 0, 3}, -INFINITY, 1e20, 3, 0, 0, 1, LHS | RHS}, /* free */
    {{0, 0, 0, 0}, -1, 1, 0, 0, 0, 0, LHS | RHS},           /* empty */
    {{0, 0, 0, 0}, 1, 2, 0, 0, 0, 0, BAD | RHS},            /* empty, and 0 >= 1 */
    {{1, 0, 0, 0}, 3, 4, 0, 2, 0, 0, BAD | RHS},
    {{0, 1, 0, 0}, -INFINITY, -2, -1, 3, 0, 0, BAD | LHS},
    {{0, 1, 0, 0}, 1, 3 - 5e-7, -1, 3, 0, 0, RHS},        /* within the tolerance */
    {{1, 0, 0, 0}, 2 + 5e-7, INFINITY, 0, 2, 0, 0, RHS},  /* infeasible, but within the tolerance */
    {{0, 0, 1, -1}, -INFINITY, 3, 0, 3, 2, 0, LHS | RHS}, /* no finite term in the least activity */
    {{2, 1, 0.5, 0}, -INFINITY, 8, -1, 9, 1, 0, LHS},
};
enum { REPORTED = sizeof reported / sizeof *reported };

static void row_reports(void **state) {
    gpuopt_context *context = test_context(NULL);
    mip m = problem_new(4, REPORTED, 4 * REPORTED);
    double min[REPORTED], max[REPORTED];
    int32_t min_infinite[REPORTED], max_infinite[REPORTED];
    uint8_t status[REPORTED];
    gpuopt_propagator_desc desc;
    gpuopt_propagator *p;
    gpuopt_propagator_row_report report;
    int i, j, left_out;
    (void)state;
    problem_col(&m, 0, 0, 2, 0);
    problem_col(&m, 1, -1, 3, 0);
    problem_col(&m, 2, -INFINITY, 4, 0);
    problem_col(&m, 3, 1, INFINITY, 0);
    for (i = 0; i < REPORTED; i++) {
        problem_row(&m, reported[i].lhs, reported[i].rhs);
        for (j = 0; j < 4; j++)
            if (reported[i].a[j] != 0) problem_entry(&m, j, reported[i].a[j]);
    }
    desc = mip_propagator_desc(&m);
    p = problem_create(context, &desc);
    for (left_out = -1; left_out < 5; left_out++) { /* each array is left out once */
        gpuopt_desc_init(&report, sizeof report);
        for (i = 0; i < REPORTED; i++) min[i] = max[i] = 77, min_infinite[i] = max_infinite[i] = status[i] = 77;
        if (left_out != 0) report.min_activity = min;
        if (left_out != 1) report.max_activity = max;
        if (left_out != 2) report.min_infinite = min_infinite;
        if (left_out != 3) report.max_infinite = max_infinite;
        if (left_out != 4) report.status = status;
        assert_int_equal(gpuopt_propagator_get_rows(p, GPUOPT_HOST, &report), GPUOPT_OK);
        for (i = 0; i < REPORTED; i++) {
            const struct reported_row *want = &reported[i];
            if (min[i] != (left_out == 0 ? 77 : want->min) || max[i] != (left_out == 1 ? 77 : want->max) ||
                min_infinite[i] != (left_out == 2 ? 77 : want->min_infinite) ||
                max_infinite[i] != (left_out == 3 ? 77 : want->max_infinite) ||
                status[i] != (left_out == 4 ? 77 : want->status))
                fail_msg("row %d: activity %g..%g, infinite %d, %d, status %d", i, min[i], max[i], min_infinite[i],
                         max_infinite[i], status[i]);
        }
    }
    gpuopt_propagator_destroy(p);
    mip_free(&m);
    gpuopt_context_destroy(context);
}

/* Reports use the current bounds: after x0 <= 3, x1 in [1, 4], x2 <= 3, and after the caller has set others. */
static void check_row_reports_follow_the_bounds(gpuopt_context *context, gpuopt_propagator_desc desc) {
    static const int32_t col = 0;
    static const double low = -2, high = 0;
    double min[2], max[2];
    uint8_t status[2];
    gpuopt_propagator *p = problem_create(context, &desc);
    gpuopt_propagator_row_report report;
    gpuopt_desc_init(&report, sizeof report);
    report.min_activity = min;
    report.max_activity = max;
    report.status = status;
    problem_round(p, 10);
    assert_int_equal(gpuopt_propagator_get_rows(p, GPUOPT_HOST, &report), GPUOPT_OK);
    assert_true(min[0] == 1 && max[0] == 7 && min[1] == -2 && max[1] == 4);
    assert_true(status[0] == LHS && status[1] == RHS); /* sides that the rows do not have */
    assert_int_equal(gpuopt_propagator_set_bounds(p, GPUOPT_HOST, 1, &col, &low, &high), GPUOPT_OK);
    assert_int_equal(gpuopt_propagator_get_rows(p, GPUOPT_HOST, &report), GPUOPT_OK);
    assert_true(min[0] == -1 && max[0] == 4 && min[1] == -2 && max[1] == 4);
    assert_true(status[0] == (LHS | RHS) && status[1] == RHS);
    gpuopt_propagator_destroy(p);
}

MODEL_VARIANTS_TEST(row_reports_follow_the_bounds, model_small())

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(row_reports),
    cmocka_unit_test(row_reports_follow_the_bounds),
};
TEST_MAIN(tests)
