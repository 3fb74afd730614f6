/* SPDX-License-Identifier: MIT
 *
 * Levels, the changes of bounds in them, and the way back. Random walks are compared with a twin that has no trail and
 * was never pushed; a small model is checked by hand.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/propagate/tree_walk.h"

/* ---- Random walks ---- */

static void walks(gpuopt_context *context, gpuopt_propagator_mode mode, gpuopt_propagator_precision precision, int rows,
                  const walk_options *options) {
    long walked = 0, explained = 0, premises = 0, infeasible = 0, lowest = 0, full = 0, refused = 0;
    int seed, data, k;
    for (data = 0; data < WALK_DATA; data++)
        for (seed = 1; seed <= test_times(16, 3); seed++) {
            walk *w = walk_begin(context, (uint64_t)seed, data, mode, precision, options);
            for (k = 0; k < 150; k++) walk_any(w, rows);
            walked++;
            explained += w->explained;
            premises += w->premises;
            infeasible += w->infeasible;
            lowest += w->lowest;
            full += w->full;
            refused += w->refused;
            walk_end(w);
        }
    assert_true(explained > 10 * walked && premises > explained / 2 && infeasible > 3);
    assert_true(mode == GPUOPT_MODE_GAUSS_SEIDEL || !options->check_rows || lowest > 100);
    assert_true(!options->trail_capacity || (full > 3 && refused > 3));
}

static void check_walk_through_bounds(gpuopt_context *context, gpuopt_propagator_mode mode,
                                      gpuopt_propagator_precision precision) {
    const walk_options options = {.check_rows = 8};
    walks(context, mode, precision, 0, &options);
}
TREE_TEST(walk_through_bounds)

static void check_walk_through_rows(gpuopt_context *context, gpuopt_propagator_mode mode,
                                    gpuopt_propagator_precision precision) {
    const walk_options options = {.check_rows = 8};
    walks(context, mode, precision, 1, &options);
}
TREE_TEST(walk_through_rows)

static void check_walk_with_a_round_limit(gpuopt_context *context, gpuopt_propagator_mode mode,
                                          gpuopt_propagator_precision precision) {
    const walk_options options = {.round_limit = 3};
    walks(context, mode, precision, 1, &options);
}
TREE_TEST(walk_with_a_round_limit)

/* JACOBI alone: tree_full_test.c checks sweeps on a full trail on small models. */
static void check_walk_on_a_short_trail(gpuopt_context *context, gpuopt_propagator_mode mode,
                                        gpuopt_propagator_precision precision) {
    const walk_options options = {.trail_capacity = 40};
    if (mode == GPUOPT_MODE_JACOBI) walks(context, mode, precision, 1, &options);
}
TREE_TEST(walk_on_a_short_trail)

/* ---- States at the start of a level, and actions in it ---- */

/* A column with crossing bounds; all columns far from the point; and so on. */
static void cross(walk *w) {
    const int32_t col = 4;
    const double lb = w->x[4] + 1, ub = w->x[4] - 1;
    walk_set_bounds(w, 1, &col, &lb, &ub, 0, 0);
}

static void violate(walk *w) {
    int32_t col[WALK_COLS], j;
    double at[WALK_COLS];
    for (j = 0; j < WALK_COLS; j++) col[j] = j, at[j] = w->x[j] + (j % 2 ? 90 : -70);
    walk_set_bounds(w, WALK_COLS, col, at, at, 0, 0);
}

static void tighten(walk *w) {
    const int32_t col[3] = {1, 2, 8};
    const double at[3] = {w->x[1], w->x[2], w->x[8]};
    walk_set_bounds(w, 3, col, at, at, 0, 0);
}

static void loosen(walk *w) {
    const int32_t col[2] = {3, 2};
    const double lb[2] = {w->x[3] - 50, w->x[2] - 60}, ub[2] = {w->x[3] + 70, w->x[2] + 40};
    walk_set_bounds(w, 2, col, lb, ub, 0, 0);
}

static void set_sides(walk *w) {
    const int32_t name[2] = {7, 2};
    const double lhs[2] = {-INFINITY, -400}, rhs[2] = {1000, 400};
    walk_set_sides(w, 2, name, lhs, rhs);
}

static void add_row(walk *w) {
    const int32_t index[3] = {3, 0, 11};
    const double value[3] = {1, -2, 1}, activity = w->x[3] - 2 * w->x[0] + w->x[11];
    walk_add_row(w, 3, index, value, activity - 1, activity + 1);
}

/* Prepares the state of this name; returns 0 if it does not exist. */
static int prepare(walk *w, int which) {
    switch (which) {
    case 0: return 1; /* before the first round */
    case 1: walk_round(w, 1); return 1;
    case 2: walk_round(w, MODEL_MANY); return 1;
    case 3: walk_round(w, MODEL_MANY), cross(w); return 1;
    case 4: walk_round(w, MODEL_MANY), cross(w), walk_round(w, 1); return 1;
    case 5: violate(w), walk_round(w, 1); return 1;
    case 6: walk_round(w, 1), tighten(w), walk_round(w, 1); return 1;
    case 7: add_row(w), walk_round(w, 1); return 1;
    default: return 0;
    }
}

static int in_the_level(walk *w, int which) {
    switch (which) {
    case 0: return 1;
    case 1: tighten(w); return 1;
    case 2: tighten(w), walk_round(w, 1); return 1;
    case 3: tighten(w), walk_round(w, MODEL_MANY); return 1;
    case 4: loosen(w), walk_round(w, MODEL_MANY); return 1;
    case 5: violate(w), walk_round(w, MODEL_MANY); return 1;
    case 6: cross(w), walk_round(w, 1); return 1;
    case 7: set_sides(w), walk_round(w, 2); return 1;
    case 8: add_row(w), walk_round(w, MODEL_MANY); return 1;
    case 9: add_row(w), tighten(w), walk_round(w, 1), walk_remove_row(w, MODEL_ROWS + w->added_count - 1); return 1;
    case 10:
        tighten(w), walk_round(w, 1), walk_push(w), loosen(w), walk_push(w), set_sides(w), walk_round(w, 1);
        return 1;
    default: return 0;
    }
}

static void check_back_to_any_state(gpuopt_context *context, gpuopt_propagator_mode mode,
                                    gpuopt_propagator_precision precision) {
    int before, level, more;
    for (before = 0, more = 1; more; before++)
        for (level = 0;; level++) {
            walk *w = walk_begin(context, 3, WALK_DECIMALS, mode, precision, NULL);
            gpuopt_propagator_info info;
            int in;
            more = prepare(w, before);
            info = w->info;
            walk_push(w);
            in = more && in_the_level(w, level);
            walk_pop(w, w->levels);
            if (w->outcome == GPUOPT_INFEASIBLE) w->info = info, walk_explain(w, -1);
            walk_round(w, 1);
            walk_round(w, MODEL_MANY);
            walk_end(w);
            if (!in) break;
        }
}
TREE_TEST(back_to_any_state)

/* As many levels as fit, without a change between them, and nearly all back at once. */
static void check_levels(gpuopt_context *context, gpuopt_propagator_mode mode, gpuopt_propagator_precision precision) {
    enum { LEVELS = 1000 };
    mip m = model_small();
    gpuopt_propagator_desc desc = tree_desc(&m, mode, precision);
    gpuopt_propagator *p;
    int64_t start = -5;
    int k;
    desc.trail_capacity = LEVELS;
    p = problem_create(context, &desc);
    problem_round(p, 1);
    for (k = 0; k < LEVELS - 1; k++) assert_int_equal(tree_push(p), 4);
    tree_set_one(p, 0, 1, 2);
    assert_int_equal(tree_push(p), 5);
    assert_int_equal(gpuopt_propagator_push(p, &start), GPUOPT_ERROR_MEMORY);
    assert_int_equal(start, -5);
    assert_int_equal(tree_trail(p).levels, LEVELS);
    assert_int_equal(tree_trail(p).level_start, 5);
    tree_pop(p, LEVELS - 1);
    assert_int_equal(tree_trail(p).levels, 1);
    assert_int_equal(tree_trail(p).changes, 4);
    assert_int_equal(tree_trail(p).level_start, 4);
    tree_pop(p, 0);
    tree_pop(p, 1);
    assert_int_equal(problem_round(p, 10).outcome, GPUOPT_CONVERGED);
    model_check_bounds(p, 3, model_small_lb, model_small_ub);
    gpuopt_propagator_destroy(p);
    mip_free(&m);
}
TREE_TEST(levels)

/* 1e-8 x + 1e-8 y <= 1.5e-8 is violated by less than the tolerance at x = y = 1. It still moves a bound, but of no
 * column that the caller has fixed. So exactly the fixed columns must be restored. */
static void check_fixed_columns(gpuopt_context *context, gpuopt_propagator_mode mode,
                                gpuopt_propagator_precision precision) {
    static const double a[4] = {1, 0, 1e-8, 1e-8}, lhs[2] = {1, -INFINITY}, rhs[2] = {1, 1.5e-8};
    mip m = model_dense(2, 2, a, lhs, rhs, 0, 10, 0);
    gpuopt_propagator_desc desc = tree_desc(&m, mode, precision);
    gpuopt_propagator *p = problem_create(context, &desc);
    int again;
    assert_int_equal(problem_round(p, 10).outcome, GPUOPT_CONVERGED); /* x = 1 by its row, y <= 0.5 */
    for (again = 0; again < 2; again++) {
        tree_push(p);
        tree_set(p, 1, 1, 1);
        assert_int_equal(problem_round(p, 10).infeasible_col, 0); /* x <= 0.5 */
        tree_pop(p, 1);
        tree_push(p);
        tree_set(p, 0, 1, 1); /* where it is */
        tree_set(p, 1, 1, 1);
        assert_int_equal(problem_round(p, 10).outcome, GPUOPT_CONVERGED);
        tree_push(p);
        tree_set(p, 0, 0, 2);
        tree_set(p, 1, 0, 0.25);
        assert_int_equal(problem_round(p, 10).outcome, GPUOPT_CONVERGED);
        tree_pop(p, 1);
        assert_int_equal(problem_round(p, 10).outcome, GPUOPT_CONVERGED); /* both are fixed again */
        tree_set(p, 0, 0, 1);                                             /* so that the second row is evaluated */
        tree_set(p, 0, 1, 1);
        assert_int_equal(problem_round(p, 10).outcome, GPUOPT_CONVERGED);
        tree_push(p);
        tree_set(p, 1, 0, 0.25);
        tree_pop(p, 1);
        tree_set(p, 0, 0.5, 1);
        tree_set(p, 0, 1, 1);
        assert_int_equal(problem_round(p, 10).outcome, GPUOPT_CONVERGED);
        tree_pop(p, 1);
    }
    gpuopt_propagator_destroy(p);
    mip_free(&m);
}
TREE_TEST(fixed_columns)

/* ---- Changes, by hand ---- */

static void check_change(tree_change c, int32_t col, int upper, double old_bound, double new_bound, int32_t row) {
    assert_int_equal(c.col, col);
    assert_int_equal(c.upper, upper);
    assert_true(c.old_bound == old_bound && c.new_bound == new_bound);
    assert_int_equal(c.row, row);
}

/* See model_small. */
static void check_changes_of_a_small_model(gpuopt_context *context, gpuopt_propagator_mode mode,
                                           gpuopt_propagator_precision precision) {
    const int jacobi = mode == GPUOPT_MODE_JACOBI, first = jacobi ? 6 : 5;
    mip m = model_small();
    gpuopt_propagator_desc desc = tree_desc(&m, mode, precision);
    gpuopt_propagator *p = problem_create(context, &desc);
    int64_t count;
    tree_change *c = tree_changes(p, 0, &count);
    assert_int_equal(count, 0);
    assert_null(c);
    assert_int_equal(problem_round(p, 10).outcome, GPUOPT_CONVERGED);
    tree_push(p);
    tree_set(p, 2, 2, INFINITY); /* the upper bound has been at 3 */
    problem_round(p, 1);
    c = tree_changes(p, 0, &count);
    assert_int_equal(count, first + 4);
    if (jacobi) {
        check_change(c[0], 0, 1, 10, 4, 0);
        check_change(c[1], 1, 0, 0, 1, 1);
        check_change(c[2], 1, 1, 10, 4, 0);
        check_change(c[3], 2, 1, 10, 9, 1);
        check_change(c[4], 0, 1, 4, 3, 0);
        check_change(c[5], 2, 1, 9, 3, 1);
    } else { /* the later row sees the earlier one's result */
        check_change(c[0], 0, 1, 10, 4, 0);
        check_change(c[1], 1, 1, 10, 4, 0);
        check_change(c[2], 1, 0, 0, 1, 1);
        check_change(c[3], 2, 1, 10, 3, 1);
        check_change(c[4], 0, 1, 4, 3, 0);
    }
    check_change(c[first], 2, 0, 0, 2, -1);
    check_change(c[first + 1], 2, 1, 3, INFINITY, -1);
    check_change(c[first + 2], 1, 0, 1, 3, 1);
    check_change(c[first + 3], 2, 1, INFINITY, 3, 1);
    free(c);
    gpuopt_propagator_destroy(p);
    mip_free(&m);
}
TREE_TEST(changes_of_a_small_model)

/* Any capacity, any arrays: exactly as many changes are written, and all are counted. */
static void check_parts_of_the_changes(gpuopt_context *context, gpuopt_propagator_mode mode,
                                       gpuopt_propagator_precision precision) {
    mip m = model_small();
    gpuopt_propagator_desc desc = tree_desc(&m, mode, precision);
    gpuopt_propagator *p = problem_create(context, &desc);
    tree_change *all;
    int64_t count, from, capacity, k;
    int left_out;
    problem_round(p, 10);
    all = tree_changes(p, 0, &count);
    for (from = 0; from <= count; from++)
        for (capacity = 0; capacity <= count + 1; capacity++)
            for (left_out = 0; left_out < 6; left_out++) {
                int32_t col[8], row[8];
                uint8_t upper[8];
                double old_bound[8], new_bound[8];
                gpuopt_propagator_changes c = {sizeof c, capacity, -1, col, upper, old_bound, new_bound, row};
                memset(col, 0x55, sizeof col);
                memset(row, 0x55, sizeof row);
                memset(upper, 0x55, sizeof upper);
                memset(old_bound, 0x55, sizeof old_bound);
                memset(new_bound, 0x55, sizeof new_bound);
                if (left_out == 0) c.col = NULL;
                if (left_out == 1) c.upper = NULL;
                if (left_out == 2) c.old_bound = NULL;
                if (left_out == 3) c.new_bound = NULL;
                if (left_out == 4) c.row = NULL;
                assert_int_equal(gpuopt_propagator_get_changes(p, GPUOPT_HOST, from, &c), GPUOPT_OK);
                assert_int_equal(c.count, count - from);
                assert_int_equal(c.capacity, capacity);
                for (k = 0; k < 8; k++) {
                    int written = k < capacity && k < count - from;
                    const tree_change want = all[written ? from + k : 0];
                    const int32_t paint = 0x55555555;
                    assert_int_equal(col[k], written && c.col ? want.col : paint);
                    assert_int_equal(row[k], written && c.row ? want.row : paint);
                    assert_int_equal(upper[k], written && c.upper ? want.upper : 0x55);
                    assert_true((old_bound[k] == want.old_bound) == (written && c.old_bound));
                    assert_true((new_bound[k] == want.new_bound) == (written && c.new_bound));
                }
            }
    free(all);
    gpuopt_propagator_destroy(p);
    mip_free(&m);
}
TREE_TEST(parts_of_the_changes)

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(walk_through_bounds),
    cmocka_unit_test(walk_through_rows),
    cmocka_unit_test(walk_with_a_round_limit),
    cmocka_unit_test(walk_on_a_short_trail),
    cmocka_unit_test(back_to_any_state),
    cmocka_unit_test(fixed_columns),
    cmocka_unit_test(levels),
    cmocka_unit_test(changes_of_a_small_model),
    cmocka_unit_test(parts_of_the_changes),
};
TEST_MAIN(tests)
