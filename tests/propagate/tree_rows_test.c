/* SPDX-License-Identifier: MIT
 *
 * Rows that are added to a model in use and removed again. (Random walks with such rows are in tree_test.c.)
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/propagate/tree.h"

/* ---- Like rows of the matrix ---- */

/* A model without rows, to which the small model's rows are added, by rows and by columns, behaves like the small
 * model. */
static void check_added_to_nothing(gpuopt_context *context, gpuopt_propagator_mode mode,
                                   gpuopt_propagator_precision precision) {
    static const int64_t no_rows[1] = {0};
    mip m = model_small();
    gpuopt_propagator_desc desc = tree_desc(&m, mode, precision), plain = desc;
    const gpuopt_spare spare = {.struct_size = sizeof spare, .rows = 2, .nonzeros = 4};
    gpuopt_propagator *twin;
    int columns, trail;
    assert_int_equal(mip_columns(&m), 0);
    plain.trail_capacity = 0;
    plain.spare = NULL;
    twin = problem_create(context, &plain);
    problem_round(twin, 1);
    desc.matrix = (gpuopt_matrix){0, 3, no_rows, NULL, NULL, GPUOPT_LAYOUT_CSR};
    desc.lhs = desc.rhs = NULL;
    desc.spare = &spare;
    for (columns = 0; columns < 2; columns++)
        for (trail = 0; trail < 2; trail++) { /* rows can be added without a trail, too */
            gpuopt_propagator *p;
            int32_t row[2] = {-1, -1};
            desc.trail_capacity = trail ? 20 : 0;
            p = problem_create(context, &desc);
            assert_int_equal(problem_round(p, 5).outcome, GPUOPT_CONVERGED);
            assert_int_equal(gpuopt_propagator_add_rows(p, columns ? &m.columns : &m.matrix, m.lhs, m.rhs, row),
                             GPUOPT_OK);
            assert_true(row[0] == 0 && row[1] == 1);
            problem_round(p, 1);
            model_check_same_bounds(p, twin, 3);
            assert_int_equal(problem_round(p, 10).outcome, GPUOPT_CONVERGED);
            model_check_bounds(p, 3, model_small_lb, model_small_ub);
            gpuopt_propagator_destroy(p);
        }
    gpuopt_propagator_destroy(twin);
    mip_free(&m);
}
TREE_TEST(added_to_nothing)

/* Sides NULL, rows without entries, no rows at all. */
static void check_special_rows(gpuopt_context *context, gpuopt_propagator_mode mode,
                               gpuopt_propagator_precision precision) {
    static const int64_t start[3] = {0, 0, 1};
    static const int32_t index[1] = {2};
    static const double value[1] = {2}, lhs[2] = {-1, -INFINITY}, rhs[2] = {1, 5}, bad_lhs[2] = {1, -INFINITY};
    const gpuopt_matrix rows = {2, 3, start, index, value, GPUOPT_LAYOUT_CSR},
                        none = {0, 3, start, NULL, NULL, GPUOPT_LAYOUT_CSR};
    mip m = model_small();
    gpuopt_propagator_desc desc = tree_desc(&m, mode, precision);
    gpuopt_propagator *p = problem_create(context, &desc);
    gpuopt_propagator_info info;
    int32_t row[2];
    double ub[3];
    model_check_fixpoint(p);
    assert_int_equal(gpuopt_propagator_add_rows(p, &none, NULL, NULL, NULL), GPUOPT_OK);
    assert_int_equal(gpuopt_propagator_add_rows(p, &rows, NULL, NULL, NULL), GPUOPT_OK); /* free rows */
    info = problem_round(p, 10);
    assert_int_equal(info.outcome, GPUOPT_CONVERGED);
    assert_int_equal(info.changed, 0);
    assert_int_equal(gpuopt_propagator_add_rows(p, &rows, lhs, rhs, row), GPUOPT_OK); /* 2 x2 <= 5 */
    assert_true(row[0] >= 2 && row[1] >= 2 && row[0] != row[1]);
    assert_int_equal(problem_round(p, 10).outcome, GPUOPT_CONVERGED);
    problem_bounds(p, NULL, ub);
    assert_true(ub[2] == 2.5);
    assert_int_equal(gpuopt_propagator_add_rows(p, &rows, bad_lhs, rhs, row), GPUOPT_OK); /* 1 <= 0 */
    info = problem_round(p, 10);
    assert_int_equal(info.outcome, GPUOPT_INFEASIBLE);
    assert_int_equal(info.infeasible_row, row[0]);
    assert_int_equal(gpuopt_propagator_remove_rows(p, 1, row), GPUOPT_OK);
    assert_int_equal(problem_round(p, 10).outcome, GPUOPT_CONVERGED);
    assert_int_equal(gpuopt_propagator_remove_rows(p, 0, NULL), GPUOPT_OK);
    gpuopt_propagator_destroy(p);
    mip_free(&m);
}
TREE_TEST(special_rows)

/* ---- Numbers and capacity ---- */

static int32_t add_bound(gpuopt_propagator *p, int length, double most) {
    static const int32_t index[6] = {0, 1, 2, 3, 4, 5};
    static const double value[6] = {1, 1, 1, 1, 1, 1};
    return tree_add(p, 6, length, index, value, -INFINITY, most);
}

/* The same, which must not fit; nothing may change. */
static void refuse_bound(gpuopt_propagator *p, int length, int32_t rows) {
    static const int64_t start[3][3] = {{0, 1, 2}, {0, 1, 3}, {0, 3, 6}};
    static const int32_t index[6] = {0, 1, 2, 3, 4, 5};
    static const double value[6] = {1, 1, 1, 1, 1, 1}, zero[2] = {0, 0};
    const int64_t one[2] = {0, length};
    const gpuopt_matrix m = {rows, 6, rows == 1 ? one : start[length / 2 - 1], index, value, GPUOPT_LAYOUT_CSR};
    gpuopt_propagator_info info;
    int32_t row[2] = {-7, -7};
    assert_int_equal(gpuopt_propagator_add_rows(p, &m, zero, zero, row), GPUOPT_ERROR_MEMORY);
    assert_true(row[0] == -7 && row[1] == -7);
    info = problem_round(p, 10);
    assert_int_equal(info.outcome, GPUOPT_CONVERGED);
    assert_int_equal(info.changed, 0);
}

static mip six_columns(void) {
    static const double zeros[6] = {0, 0, 0, 0, 0, 1}, lhs[1] = {-INFINITY}, rhs[1] = {100};
    return model_dense(1, 6, zeros, lhs, rhs, 0, 100, 0);
}

static void check_capacity(gpuopt_context *context, gpuopt_propagator_mode mode,
                           gpuopt_propagator_precision precision) {
    mip m = six_columns();
    gpuopt_propagator_desc desc = tree_desc(&m, mode, precision);
    const gpuopt_spare spare = {.struct_size = sizeof spare, .rows = 3, .nonzeros = 12};
    gpuopt_propagator *p;
    const double none = -INFINITY, all = INFINITY;
    int32_t row[3], again;
    double ub[6];
    int turn;
    desc.spare = &spare;
    p = problem_create(context, &desc);
    for (turn = 0; turn < 5; turn++) {
        double most = 90 - 10 * turn;
        row[0] = add_bound(p, 4, most);
        row[1] = add_bound(p, 4, 1000);
        row[2] = add_bound(p, 2, most - 1);
        assert_true(row[0] != row[1] && row[1] != row[2] && row[0] != row[2]);
        for (again = 0; again < 3; again++) assert_in_range(row[again], 1, 3);
        assert_int_equal(problem_round(p, 10).outcome, GPUOPT_CONVERGED);
        problem_bounds(p, NULL, ub);
        assert_true(ub[0] == most - 1 && ub[1] == most - 1 && ub[2] == most && ub[3] == most && ub[4] == 100);
        refuse_bound(p, 1, 1); /* no row left */
        refuse_bound(p, 0, 1);
        assert_int_equal(gpuopt_propagator_remove_rows(p, 1, &row[1]), GPUOPT_OK);
        refuse_bound(p, 2, 2); /* one is */
        /* Six entries are left, which do not lie together; seven are not. */
        again = add_bound(p, 6, most - 3);
        assert_int_equal(again, row[1]);
        assert_int_equal(problem_round(p, 10).outcome, GPUOPT_CONVERGED);
        problem_bounds(p, NULL, ub);
        for (again = 0; again < 6; again++) assert_true(ub[again] == most - 3);
        /* Moved or not, the other rows are still there. */
        assert_int_equal(gpuopt_propagator_set_sides(p, GPUOPT_HOST, 1, &row[1], &none, &all), GPUOPT_OK);
        tree_push(p);
        tree_set(p, 0, most - 40, 100);
        assert_int_equal(problem_round(p, 10).outcome, GPUOPT_CONVERGED);
        problem_bounds(p, NULL, ub);
        assert_true(ub[1] == 39 && ub[2] == 40 && ub[3] == 40 && ub[4] == most - 3);
        tree_pop(p, 1);
        assert_int_equal(gpuopt_propagator_remove_rows(p, 1, &row[0]), GPUOPT_OK);
        refuse_bound(p, 5, 1); /* four entries left */
        row[0] = add_bound(p, 4, 1000);
        assert_int_equal(gpuopt_propagator_remove_rows(p, 3, row), GPUOPT_OK);
        for (again = 0; again < 6; again++) tree_set(p, again, 0, 100);
        assert_int_equal(problem_round(p, 10).outcome, GPUOPT_CONVERGED);
        problem_bounds(p, NULL, ub);
        for (again = 0; again < 6; again++) assert_true(ub[again] == 100);
        assert_int_equal(gpuopt_propagator_commit(p), GPUOPT_OK);
    }
    gpuopt_propagator_destroy(p);
    mip_free(&m);
}
TREE_TEST(capacity)

/* ---- Sides, bounds and reports of added rows ---- */

/* x0 + x1 + x2 <= a decreasing cutoff, in levels that are pushed and popped. */
static void check_cutoff(gpuopt_context *context, gpuopt_propagator_mode mode, gpuopt_propagator_precision precision) {
    static const int32_t index[3] = {0, 1, 2};
    static const double value[3] = {1, 1, 1};
    mip m = model_small();
    gpuopt_propagator_desc desc = tree_desc(&m, mode, precision);
    gpuopt_propagator *p = problem_create(context, &desc);
    const double none = -INFINITY;
    int32_t row = tree_add(p, 3, 3, index, value, none, 100);
    double cutoff, ub[3], lb[3];
    assert_int_equal(row, 2);
    assert_int_equal(problem_round(p, 10).outcome, GPUOPT_CONVERGED);
    for (cutoff = 6; cutoff > 1; cutoff -= 0.5) {
        tree_push(p);
        tree_set_one(p, 2, 0, 0.5); /* so x1 >= 1.5 */
        assert_int_equal(gpuopt_propagator_set_sides(p, GPUOPT_HOST, 1, &row, &none, &cutoff), GPUOPT_OK);
        if (cutoff < 2) {
            assert_int_equal(problem_round(p, 10).outcome, GPUOPT_INFEASIBLE);
            tree_pop(p, 1);
            continue;
        }
        assert_int_equal(problem_round(p, 10).outcome, GPUOPT_CONVERGED);
        problem_bounds(p, lb, ub);
        assert_true(lb[1] == 1.5 && ub[0] == fmin(2.5, cutoff - 2));
        tree_pop(p, 1);
        assert_int_equal(problem_round(p, 10).outcome, GPUOPT_CONVERGED); /* the new side counts at level 0, too */
        problem_bounds(p, lb, ub);
        assert_true(lb[1] == 1 && ub[0] == fmin(3, cutoff - 1));
    }
    gpuopt_propagator_destroy(p);
    mip_free(&m);
}
TREE_TEST(cutoff)

/* Bounds implied by a removed row stay, and cannot be explained any more. */
static void check_removed(gpuopt_context *context, gpuopt_propagator_mode mode, gpuopt_propagator_precision precision) {
    static const int32_t index[2] = {0, 2};
    static const double value[2] = {1, 1};
    mip m = model_small();
    gpuopt_propagator_desc desc = tree_desc(&m, mode, precision);
    gpuopt_propagator *p = problem_create(context, &desc);
    gpuopt_propagator_reason reason;
    tree_change *c;
    int64_t count, k, found = 0;
    int32_t row;
    double ub[3];
    assert_int_equal(problem_round(p, 10).outcome, GPUOPT_CONVERGED);
    row = tree_add(p, 3, 2, index, value, -INFINITY, 1);
    assert_int_equal(problem_round(p, 10).outcome, GPUOPT_CONVERGED);
    assert_int_equal(gpuopt_propagator_remove_rows(p, 1, &row), GPUOPT_OK);
    assert_int_equal(problem_round(p, 10).outcome, GPUOPT_CONVERGED);
    problem_bounds(p, NULL, ub);
    assert_true(ub[0] == 1 && ub[2] == 1);
    c = tree_changes(p, 0, &count);
    for (k = 0; k < count; k++) {
        gpuopt_status status = tree_explain(p, k, &reason, NULL, 0);
        found += c[k].row == row;
        assert_int_equal(status, c[k].row == row ? GPUOPT_ERROR_STATE : GPUOPT_OK);
    }
    assert_int_equal(found, 2);
    assert_int_equal(tree_add(p, 3, 2, index, value, -INFINITY, 1), row); /* another row of that number */
    for (k = 0; k < count; k++)
        assert_int_equal(tree_explain(p, k, &reason, NULL, 0), c[k].row == row ? GPUOPT_ERROR_STATE : GPUOPT_OK);
    free(c);
    gpuopt_propagator_destroy(p);
    mip_free(&m);
}
TREE_TEST(removed)

/* Reports cover all numbers that a row may have; a number without a row counts as a row without entries. */
static void check_reports(gpuopt_context *context, gpuopt_propagator_mode mode, gpuopt_propagator_precision precision) {
    static const int32_t index[2] = {0, 2};
    static const double value[2] = {2, -1};
    enum { ROWS = 2, SPARE = 3 };
    mip m = model_small();
    gpuopt_propagator_desc desc = tree_desc(&m, mode, precision);
    const gpuopt_spare spare = {.struct_size = sizeof spare, .rows = SPARE, .nonzeros = TREE_NONZEROS};
    gpuopt_propagator *p;
    double least[ROWS + SPARE], most[ROWS + SPARE];
    int32_t row, none;
    uint8_t status[ROWS + SPARE];
    gpuopt_propagator_row_report report = {.struct_size = sizeof report, .min_activity = least};
    report.max_activity = most;
    report.status = status;
    desc.spare = &spare;
    p = problem_create(context, &desc);
    none = tree_add(p, 3, 2, index, value, -INFINITY, 5);
    row = tree_add(p, 3, 2, index, value, -20, 5); /* 2 x0 - x2 */
    assert_int_equal(gpuopt_propagator_remove_rows(p, 1, &none), GPUOPT_OK);
    assert_int_equal(gpuopt_propagator_get_rows(p, GPUOPT_HOST, &report), GPUOPT_OK);
    assert_true(least[row] == -10 && most[row] == 20 && least[0] == 0 && most[0] == 20);
    assert_int_equal(status[row], GPUOPT_ROW_LHS_REDUNDANT);
    assert_true(least[none] == 0 && most[none] == 0 && status[none] == GPUOPT_ROW_REDUNDANT);
    tree_set(p, 0, 8, 10);
    assert_int_equal(gpuopt_propagator_get_rows(p, GPUOPT_HOST, &report), GPUOPT_OK);
    assert_true(least[row] == 6 && status[row] == (GPUOPT_ROW_LHS_REDUNDANT | GPUOPT_ROW_INFEASIBLE));
    gpuopt_propagator_destroy(p);
    mip_free(&m);
}
TREE_TEST(reports)

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(reports),  cmocka_unit_test(added_to_nothing), cmocka_unit_test(special_rows),
    cmocka_unit_test(capacity), cmocka_unit_test(cutoff),           cmocka_unit_test(removed),
};
TEST_MAIN(tests)
