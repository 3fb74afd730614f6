/* SPDX-License-Identifier: MIT
 *
 * Tolerances for the rounding of data: sums, bounds and integers so large that their doubles are not exact.
 */
#include <gmp.h>
#include <math.h>

#include "tests/propagate/model.h"

/* 1e20 x - 1e20 y <= -1e5 with x = y: the sum of the terms' sizes is 2e20, of which the row misses less than 2^-47. */
static void check_huge_sums(gpuopt_context *context, gpuopt_propagator_desc desc) {
    const double near = -1e5, far = -1e7;
    double lb[2], ub[2];
    desc.rhs = &near;
    assert_int_equal(problem_run(context, &desc, 5, lb, ub).outcome, GPUOPT_CONVERGED);
    desc.rhs = &far;
    assert_int_equal(problem_run(context, &desc, 5, lb, ub).outcome, GPUOPT_INFEASIBLE);
}

static mip opposed(void) {
    static const double a[2] = {1e20, -1e20}, lhs = -INFINITY, rhs = -1e5;
    return model_dense(1, 2, a, &lhs, &rhs, 1, 1, 0);
}
MODEL_VARIANTS_TEST(huge_sums, opposed())

/* Bounds around 1e12 that cross: by 2^-10, which is less than 2^-47 of them, and by 1/4. */
static void check_huge_bounds(gpuopt_context *context, gpuopt_propagator_desc desc) {
    const double near = 1e12 + 0x1p-10, far = 1e12 + 0.25;
    double lb, ub;
    desc.lb = &near;
    assert_int_equal(problem_run(context, &desc, 5, &lb, &ub).outcome, GPUOPT_CONVERGED);
    desc.lb = &far;
    assert_int_equal(problem_run(context, &desc, 5, &lb, &ub).outcome, GPUOPT_INFEASIBLE);
}
MODEL_VARIANTS_TEST(huge_bounds, model_one_column(0, 1e12, -INFINITY, 2e12))

/* a x <= side for an integer column, where a is no double: side / a may be below the intended integer. The bound is
 * that integer if side / a is within 1e-6 of it or, above 1e9, within 2^-50 of its size. */
static void large_integers_are_rounded_with_their_size(void **state) {
    gpuopt_context *context = test_context(NULL);
    uint64_t seed = 60;
    int trial, below = 0, trials = test_few() ? 20 : test_times(20000, 200);
    mpq_t quotient, slack, x;
    (void)state;
    mpq_inits(quotient, slack, x, NULL);
    for (trial = 0; trial < trials; trial++) {
        double a = (double)test_random_int(&seed, 1, 99) / 10, want;
        double side = a * (double)test_random_int(&seed, INT64_C(10000000000), INT64_C(99999999999)), lb, ub;
        mip m = model_one_column(0, 1e15, -INFINITY, side);
        gpuopt_propagator_desc desc = mip_propagator_desc(&m);
        mpz_t floor;
        m.integer[0] = 1;
        if (trial % 2) m.rhs[0] = side = nextafter(side, 0); /* more than one unit in the last place */
        ((double *)m.matrix.value)[0] = a;
        desc.integer = m.integer;
        problem_run(context, &desc, 5, &lb, &ub);
        mpq_set_d(quotient, side);
        mpq_set_d(x, a);
        mpq_div(quotient, quotient, x);
        mpq_set_d(slack, 0x1p-50);
        mpq_mul(slack, slack, quotient);
        mpz_init(floor);
        mpz_fdiv_q(floor, mpq_numref(quotient), mpq_denref(quotient));
        want = mpz_get_d(floor);
        mpq_add(quotient, quotient, slack);
        mpz_fdiv_q(floor, mpq_numref(quotient), mpq_denref(quotient));
        below += want < mpz_get_d(floor);
        want = mpz_get_d(floor);
        if (ub < want || ub > want)
            fail_msg("trial %d: %.17g x <= %.17g gives %.17g, not %.17g", trial, a, side, ub, want);
        mpz_clear(floor);
        mip_free(&m);
    }
    assert_true(below > 0);
    mpq_clears(quotient, slack, x, NULL);
    gpuopt_context_destroy(context);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(huge_sums),
    cmocka_unit_test(huge_bounds),
    cmocka_unit_test(large_integers_are_rounded_with_their_size),
};
TEST_MAIN(tests)
