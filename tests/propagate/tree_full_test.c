/* SPDX-License-Identifier: MIT
 *
 * A trail that is full. Rounds stop with FULL, and calls that set bounds are refused. Bounds are as before the change
 * that did not fit, and the search continues after a pop or a commit. (Random walks on a short trail are in
 * tree_test.c.)
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/propagate/tree.h"

static gpuopt_propagator *create(gpuopt_context *context, const mip *m, gpuopt_propagator_mode mode,
                                 gpuopt_propagator_precision precision, int64_t capacity) {
    gpuopt_propagator_desc desc = tree_desc(m, mode, precision);
    desc.trail_capacity = capacity;
    return problem_create(context, &desc);
}

static void check_info(gpuopt_propagator_info info, gpuopt_outcome outcome, int rounds, int64_t changed) {
    assert_int_equal(info.outcome, outcome);
    assert_int_equal(info.rounds, rounds);
    assert_int_equal(info.changed, changed);
}

/* With every capacity: the changes of the model equal a long trail's, as far as they fit. The small model moves 4 and 2
 * bounds in JACOBI rounds; sweeps, which stop at any bound, move 4 and 1. */
static void check_rounds_stop(gpuopt_context *context, gpuopt_propagator_mode mode,
                              gpuopt_propagator_precision precision) {
    static const int64_t jacobi[] = {0, 4, 6}, sequential[] = {0, 1, 2, 3, 4, 5};
    const int sweeps = mode == GPUOPT_MODE_GAUSS_SEIDEL, parts = sweeps ? 6 : 3;
    const int64_t *part = sweeps ? sequential : jacobi;
    mip m = model_small();
    gpuopt_propagator *whole = create(context, &m, mode, precision, 100);
    int64_t capacity, count;
    tree_change *all;
    problem_round(whole, 10);
    all = tree_changes(whole, 0, &count);
    assert_int_equal(count, part[parts - 1]);
    for (capacity = 1; capacity <= count; capacity++) {
        gpuopt_propagator *p = create(context, &m, mode, precision, capacity);
        gpuopt_propagator_info info = problem_round(p, 10);
        double lb[3] = {0, 0, 0}, ub[3] = {10, 10, 10};
        int64_t k, fits = 0;
        int again;
        for (k = 0; k < parts && part[k] <= capacity; k++) fits = part[k];
        assert_int_equal(info.outcome, fits < count ? GPUOPT_FULL : GPUOPT_CONVERGED);
        assert_int_equal(info.changed, fits);
        for (again = 0; again < 2; again++) {
            assert_int_equal(tree_trail(p).changes, fits);
            for (k = 0; k < fits; k++) (all[k].upper ? ub : lb)[all[k].col] = all[k].new_bound;
            model_check_bounds(p, 3, lb, ub);
            if (fits < count) check_info(problem_round(p, 10), GPUOPT_FULL, 0, 0);
        }
        /* With an empty trail every part fits that is not longer; then the rest does. */
        for (k = 0; k < 5; k++) {
            assert_int_equal(gpuopt_propagator_commit(p), GPUOPT_OK);
            assert_int_equal(tree_trail(p).changes, 0);
            info = problem_round(p, 10);
        }
        if (capacity >= (sweeps ? 1 : 4)) {
            assert_int_equal(info.outcome, GPUOPT_CONVERGED);
            model_check_bounds(p, 3, model_small_lb, model_small_ub);
        } else assert_int_equal(info.outcome, GPUOPT_FULL);
        gpuopt_propagator_destroy(p);
    }
    free(all);
    gpuopt_propagator_destroy(whole);
    mip_free(&m);
}
TREE_TEST(rounds_stop)

static void check_setting_is_refused(gpuopt_context *context, gpuopt_propagator_mode mode,
                                     gpuopt_propagator_precision precision) {
    static const int32_t col[3] = {2, 0, 1};
    static const double lb[3] = {1, 2, 3}, ub[3] = {9, 8, 7}, old_lb[3] = {0, 0, 0}, old_ub[3] = {10, 10, 10};
    static const double after[3] = {10, 10, 8};
    mip m = model_small();
    gpuopt_propagator *p = create(context, &m, mode, precision, 5);
    int again;
    tree_push(p);
    for (again = 0; again < 2; again++) { /* six changes, as a list and as all */
        assert_int_equal(gpuopt_propagator_set_bounds(p, GPUOPT_HOST, 3, col, lb, ub), GPUOPT_ERROR_MEMORY);
        assert_string_equal(gpuopt_context_last_error(context),
                            "gpuopt_propagator_set_bounds: the trail is too short for these changes");
        model_check_bounds(p, 3, old_lb, old_ub);
        assert_int_equal(gpuopt_propagator_set_bounds(p, GPUOPT_HOST, 0, NULL, lb, ub), GPUOPT_ERROR_MEMORY);
        assert_string_equal(gpuopt_context_last_error(context),
                            "gpuopt_propagator_set_bounds: the trail is too short for these changes");
        model_check_bounds(p, 3, old_lb, old_ub);
        assert_int_equal(tree_trail(p).changes, 0);
    }
    tree_set_one(p, 2, 1, 9);
    tree_set_one(p, 2, 1, 8);
    model_check_bounds(p, 3, old_lb, after);
    tree_set_one(p, 2, 1, 9);
    tree_set_one(p, 2, 1, 8);
    tree_set_one(p, 2, 1, 7);
    assert_int_equal(gpuopt_propagator_set_bounds(p, GPUOPT_HOST, 1, col, NULL, ub), GPUOPT_ERROR_MEMORY);
    assert_int_equal(tree_trail(p).changes, 5);
    assert_int_equal(problem_round(p, 3).outcome, GPUOPT_FULL);
    tree_pop(p, 1);
    model_check_bounds(p, 3, old_lb, old_ub);
    tree_push(p);
    tree_set_one(p, 0, 1, 10); /* no change */
    assert_int_equal(gpuopt_propagator_set_bounds(p, GPUOPT_HOST, 2, col, lb, ub), GPUOPT_OK);
    assert_int_equal(tree_trail(p).changes, 4);
    tree_pop(p, 1);
    problem_round(p, 1);
    assert_int_equal(gpuopt_propagator_commit(p), GPUOPT_OK);
    assert_int_equal(problem_round(p, 10).outcome, GPUOPT_CONVERGED);
    model_check_bounds(p, 3, model_small_lb, model_small_ub);
    gpuopt_propagator_destroy(p);
    mip_free(&m);
}
TREE_TEST(setting_is_refused)

/* A round that did not fit leaves no trace in any later one, wherever the trail ends. The fixpoint after repeated
 * commits equals the fixpoint of a handle without a trail. */
static void check_nothing_is_left(gpuopt_context *context, gpuopt_propagator_mode mode,
                                  gpuopt_propagator_precision precision) {
    double x[MODEL_COLS];
    int64_t capacity;
    int full = 0;
    for (capacity = 4; capacity < 130; capacity += 7) {
        mip m = model_random((uint64_t)capacity, x);
        gpuopt_propagator_desc desc = tree_desc(&m, mode, precision), plain = mip_propagator_desc(&m);
        gpuopt_propagator *p, *twin;
        gpuopt_propagator_info info, want;
        int rounds = 0, k = 0;
        plain.mode = mode;
        plain.precision = precision;
        desc.trail_capacity = capacity;
        p = problem_create(context, &desc);
        twin = problem_create(context, &plain);
        want = problem_round(twin, MODEL_MANY);
        do {
            info = problem_round(p, MODEL_MANY);
            rounds += info.rounds;
            full += info.outcome == GPUOPT_FULL;
            assert_int_equal(gpuopt_propagator_commit(p), GPUOPT_OK);
        } while (info.outcome == GPUOPT_FULL && info.changed > 0 && ++k < 200);
        if (info.outcome != GPUOPT_FULL) { /* else a single round has more changes than the trail can hold */
            assert_int_equal(info.outcome, want.outcome);
            if (mode == GPUOPT_MODE_JACOBI) {
                assert_int_equal(rounds, want.rounds);
                model_check_same_bounds(p, twin, MODEL_COLS);
            }
        }
        gpuopt_propagator_destroy(p);
        gpuopt_propagator_destroy(twin);
        mip_free(&m);
    }
    assert_true(full > 5);
}
TREE_TEST(nothing_is_left)

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(rounds_stop),
    cmocka_unit_test(setting_is_refused),
    cmocka_unit_test(nothing_is_left),
};
TEST_MAIN(tests)
