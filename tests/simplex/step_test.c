/* SPDX-License-Identifier: MIT
 *
 * Decisions of an iteration that only show in results after much rounding. They concern pivots that are too small or
 * have two different values, a variable that has passed its bound, and the position of a column when the inverse is
 * recomputed. Also the norms of dual steepest edge. Both backends use these functions.
 */
#include <math.h>

#include "gpuopt_impl/simplex/arith/dual_step.h"
#include "tests/support/support.h"

/* A pivot of p divides its row by p. So an error of 2^-53 of the largest entry becomes about largest / p 2^-53: 1e-9 if
 * the pivot is 1e-7 of the largest. */
static void small_pivots_are_unsafe(void **state) {
    gpuopt__simplex_rules rules = {1e-9, 1e-9, 1e-7, 1e-7, 1e-9, 0, 0, 0};
    (void)state;
    assert_true(gpuopt__simplex_safe_pivot(&rules, 1, 1) && gpuopt__simplex_safe_pivot(&rules, -1, 1));
    assert_true(gpuopt__simplex_safe_pivot(&rules, 2e-7, 1) && gpuopt__simplex_safe_pivot(&rules, 1, 9e6));
    assert_false(gpuopt__simplex_safe_pivot(&rules, 9e-8, 9e-8)); /* by itself */
    assert_false(gpuopt__simplex_safe_pivot(&rules, -1, 2e7));    /* beside its column */
}

/* Rounding of a well-conditioned inverse is far below a millionth; a tenth is a digit. */
static void drift_is_seen(void **state) {
    (void)state;
    assert_false(gpuopt__simplex_pivots_differ(1, 1) || gpuopt__simplex_pivots_differ(1, 1 + 1e-9));
    assert_false(gpuopt__simplex_pivots_differ(-1e8, -1e8 + 1));
    assert_true(gpuopt__simplex_pivots_differ(1, 1 + 1e-5) && gpuopt__simplex_pivots_differ(1, 1 - 1e-5));
    assert_true(gpuopt__simplex_pivots_differ(1e8, 1e8 + 1e3) && gpuopt__simplex_pivots_differ(1e-5, -1e-5));
    assert_true(gpuopt__simplex_pivots_differ(1, NAN) && gpuopt__simplex_pivots_differ(NAN, 1));
}

/* A step back to a bound that has been passed would make the objective worse; the bound gives way instead. */
static void passed_bounds_give_way(void **state) {
    double x = 5 + 1e-10, l = 1, u = 5;
    (void)state;
    assert_int_equal(gpuopt__simplex_make_nonbasic(1, &x, &l, &u), GPUOPT__SIMPLEX_MAY_DECREASE);
    assert_true(x == 5 + 1e-10 && u == x && l == 1);
    x = 4.5, u = 5;
    assert_int_equal(gpuopt__simplex_make_nonbasic(1, &x, &l, &u), GPUOPT__SIMPLEX_MAY_DECREASE);
    assert_true(x == 5 && u == 5);
    x = 1 - 1e-10;
    assert_int_equal(gpuopt__simplex_make_nonbasic(0, &x, &l, &u), GPUOPT__SIMPLEX_MAY_INCREASE);
    assert_true(x == 1 - 1e-10 && l == x && u == 5);
    x = 2, l = 1;
    assert_int_equal(gpuopt__simplex_make_nonbasic(0, &x, &l, &u), GPUOPT__SIMPLEX_MAY_INCREASE);
    assert_true(x == 1 && l == 1);
    x = 5, l = 5;
    assert_int_equal(gpuopt__simplex_make_nonbasic(1, &x, &l, &u), 0); /* fixed */
}

/* Sparsity does not justify a pivot of less than a thousandth, and the rest of a dependent column is rounding. */
static void reinversion_takes_sound_pivots(void **state) {
    (void)state;
    assert_int_equal(gpuopt__simplex_entry_position(3, 1, 1, -1, 0, 1e-9), 3);
    assert_int_equal(gpuopt__simplex_entry_position(3, 1, 1, 7, -0.5, 1e-9), 7);
    assert_int_equal(gpuopt__simplex_entry_position(3, 1, 1, 7, 1e-4, 1e-9), 3);
    assert_int_equal(gpuopt__simplex_entry_position(3, 1, 1, 7, 0, 1e-9), 3);
    assert_int_equal(gpuopt__simplex_entry_position(-1, 0, 1, -1, 0, 1e-9), -1);
    assert_int_equal(gpuopt__simplex_entry_position(3, 1e-12, 1e-12, -1, 0, 1e-9), -1); /* too small by itself */
    assert_int_equal(gpuopt__simplex_entry_position(3, 1, 1e12, -1, 0, 1e-9), -1);      /* beside its column */
    assert_int_equal(gpuopt__simplex_entry_position(3, 1e-12, 1e-12, -1, 0, 1e-14),
                     3); /* an extended-precision refactoring */
    assert_int_equal(gpuopt__simplex_entry_position(3, NAN, 1, -1, 0, 1e-9), -1);
}

/* The recursion of dual steepest edge against the norm of the row after the pivot. */
static void dual_steepest_edge(void **state) {
    static const double row[][3] = {{1, -2, 3}, {0.5, 4, -1}, {-3, 0, 2}};
    static const double ratios[] = {-2, -0.25, 0, 0.5, 3};
    size_t i, p, r, k;
    (void)state;
    for (i = 0; i < 3; i++)
        for (p = 0; p < 3; p++)
            for (r = 0; r < 5 && i != p; r++) {
                double norm = 0, tau = 0, pivot_norm = 0, after = 0;
                for (k = 0; k < 3; k++) {
                    double moved = row[i][k] - ratios[r] * row[p][k];
                    norm += row[i][k] * row[i][k];
                    tau += row[i][k] * row[p][k];
                    pivot_norm += row[p][k] * row[p][k];
                    after += moved * moved;
                }
                assert_true(fabs(gpuopt__simplex_dual_steepest(norm, ratios[r], tau, pivot_norm) - after) <=
                            1e-12 * after);
            }
    assert_true(gpuopt__simplex_dual_steepest(1, 1, 1, 1) == 1e-4);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(dual_steepest_edge),
    cmocka_unit_test(small_pivots_are_unsafe),
    cmocka_unit_test(drift_is_seen),
    cmocka_unit_test(passed_bounds_give_way),
    cmocka_unit_test(reinversion_takes_sound_pivots),
};
TEST_MAIN(tests)
