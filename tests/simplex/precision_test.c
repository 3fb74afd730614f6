/* SPDX-License-Identifier: MIT
 *
 * Tiny models in which the last bits of a verdict matter, against exact rationals. They have a bound violated through a
 * coefficient of 1e-11, margins in which all roundings have the same direction, or an objective that is the difference
 * of large numbers.
 */
#include <math.h>
#include <stdio.h>

#include "tests/simplex/answer.h"
#include "tests/simplex/exact.h"

/* x + 1e-11 y >= x's only value, and y < 0: the row is violated by 6e-13, which is negligible beside x. A basis with y
 * at 0 meets the row instead, and has y outside its bounds by 0.06. */
static void no_optimum_outside_of_a_bound(void **state) {
    static const double a[] = {1, 1e-11}, cost[] = {1, 1}, fixed[] = {1e6, 1e8};
    gpuopt_context *context = test_context(NULL);
    int k, variant;
    (void)state;
    for (k = 0; k < 2; k++) {
        double lb[] = {fixed[k], -0.07}, ub[] = {fixed[k], -0.06};
        mip m = model_of(1, 2, a, cost, &fixed[k], NULL, lb, ub);
        assert_int_equal(exact_solve(&m, NULL).outcome, GPUOPT_INFEASIBLE);
        for (variant = 0; variant < VARIANTS; variant++) {
            gpuopt_simplex_desc desc = tableau_desc(&m);
            gpuopt_simplex *simplex;
            gpuopt_outcome outcome;
            double x[2], low[2];
            variant_set(&desc, variant);
            simplex = simplex_create(context, &desc);
            outcome = simplex_iterate(simplex, INT64_MAX).outcome;
            assert_true(outcome == GPUOPT_OPTIMAL || outcome == GPUOPT_INFEASIBLE || outcome == GPUOPT_IMPRECISE);
            assert_int_equal(gpuopt_simplex_get_solution(
                                 simplex, GPUOPT_HOST,
                                 &(gpuopt_simplex_solution){.struct_size = sizeof(gpuopt_simplex_solution), .x = x}),
                             GPUOPT_OK);
            assert_int_equal(
                gpuopt_simplex_get_solution(
                    simplex, GPUOPT_HOST,
                    &(gpuopt_simplex_solution){.struct_size = sizeof(gpuopt_simplex_solution), .x_low = low}),
                GPUOPT_OK);
            if (outcome == GPUOPT_OPTIMAL && !(exact_primal_reached(&m, x, low) <= 1e-9))
                fail_msg("%s: OPTIMAL at y = %.17g", variant_name(&desc), x[1]);
            gpuopt_simplex_destroy(simplex);
        }
        mip_free(&m);
    }
    gpuopt_context_destroy(context);
}

/* Solves a model of two rows that is INFEASIBLE, and returns 1 if the proof's margin is at least the info's. basis:
 * where to begin; may be NULL. *twice counts the proofs with multipliers that have low words. */
static int margin_holds(gpuopt_context *context, const mip *m, const uint8_t *basis, int *twice) {
    gpuopt_simplex_desc desc = tableau_desc(m);
    gpuopt_simplex *simplex = simplex_create(context, &desc);
    gpuopt_simplex_info info;
    double y[2], low[2];
    if (basis) assert_int_equal(gpuopt_simplex_set_basis(simplex, GPUOPT_HOST, basis), GPUOPT_OK);
    info = simplex_iterate(simplex, INT64_MAX);
    assert_int_equal(info.outcome, GPUOPT_INFEASIBLE);
    assert_true(info.certificate_margin > 0);
    assert_int_equal(
        gpuopt_simplex_get_proof(simplex, GPUOPT_HOST,
                                 &(gpuopt_simplex_proof){.struct_size = sizeof(gpuopt_simplex_proof), .farkas = y}),
        GPUOPT_OK);
    assert_int_equal(gpuopt_simplex_get_proof(
                         simplex, GPUOPT_HOST,
                         &(gpuopt_simplex_proof){.struct_size = sizeof(gpuopt_simplex_proof), .farkas_low = low}),
                     GPUOPT_OK);
    *twice += low[0] != 0 || low[1] != 0;
    gpuopt_simplex_destroy(simplex);
    return exact_farkas_margin(m, y, low, 1e24) >= info.certificate_margin;
}

/* n x >= 0 and 8 x + w <= -1 - k 2^-52, where w is a number of up to 2^-53 in size: the multipliers are 1 and n/8, and
 * the margin is n/8 (1 + k 2^-52 + w). The residual of the second row rounds w away. Then its product with n/8 is
 * rounded; for some k both roundings have the same direction. */
static void margin_of_one_product(void **state) {
    static const uint8_t basis[] = {GPUOPT_VARIABLE_BASIC, GPUOPT_VARIABLE_AT_LOWER, GPUOPT_VARIABLE_BASIC,
                                    GPUOPT_VARIABLE_AT_UPPER};
    gpuopt_context *context = test_context(NULL);
    int n, k, tenths, twice = 0;
    (void)state;
    for (n = 9; n <= 15; n++)
        for (k = 0; k < 16; k++)
            for (tenths = -9; tenths <= 9; tenths += test_few() ? 6 : 1) {
                double w = tenths * 0x1p-53 / 10, a[] = {n, 0, 8, 1}, lb[] = {-no_bound, w}, ub[] = {no_bound, w};
                double lhs[] = {0, -no_bound}, rhs[] = {no_bound, -1 - k * 0x1p-52};
                mip m = model_of(2, 2, a, NULL, lhs, rhs, lb, ub);
                if (!margin_holds(context, &m, basis, &twice)) fail_msg("n = %d, k = %d, w = %.17g", n, k, w);
                mip_free(&m);
            }
    assert_int_equal(twice, 0);
    gpuopt_context_destroy(context);
}

/* 35 (x + w) <= 35 and 34 (x + w) >= 42.5 with w near 2^30: a multiplier is 35/34 or 34/35, which needs a low word. The
 * margin is the difference of two terms that are larger by 10^9; each has a rounded multiplier and a rounded factor. */
static void margin_of_large_terms(void **state) {
    static const double a[] = {35, 35, 34, 34}, lhs[] = {-1e20, 42.5}, rhs[] = {35, 1e20};
    int models = test_times(3000, 50), k, twice = 0;
    gpuopt_context *context = test_context(NULL);
    uint64_t seed = 1;
    (void)state;
    for (k = 0; k < models; k++) {
        double w = ldexp(1 + test_random(&seed) / 20, 30), lb[] = {-no_bound, w}, ub[] = {no_bound, w};
        mip m = model_of(2, 2, a, NULL, lhs, rhs, lb, ub);
        if (!margin_holds(context, &m, NULL, &twice)) fail_msg("w = %.17g", w);
        mip_free(&m);
    }
    assert_int_equal(twice, models);
    gpuopt_context_destroy(context);
}

/* Minimise 3 x - 1e-10 z - 1e9 where 3 x = 1e9 and z <= 1. A cost of 1e-10 is within the tolerance, so z only enters in
 * the refinement. 3 times the double nearest x, less 1e9, is -6e-8; the objective uses x in twice the precision, also
 * after the iteration that moves z and before the next rebuild. */
static void objective_in_refinement(void **state) {
    static const double a[] = {3, 0, 0, 1}, cost[] = {3, -1e-10}, lb[] = {-1e20, 0}, lhs[] = {1e9, -1e20},
                        rhs[] = {1e9, 1};
    gpuopt_context *context = test_context(NULL);
    mip m = model_of(2, 2, a, cost, lhs, rhs, lb, NULL);
    int variant;
    (void)state;
    for (variant = 0; variant < VARIANTS; variant++) {
        gpuopt_simplex_desc desc = tableau_desc(&m);
        gpuopt_simplex_rules rules;
        gpuopt_simplex *simplex;
        gpuopt_simplex_info info;
        int on_the_way = 0;
        variant_set(&desc, variant);
        rules = rules_of(&desc);
        desc.rules = &rules;
        rules.scaling = GPUOPT_OFF; /* of costs, with which z enters earlier */
        desc.offset = -1e9;
        simplex = simplex_create(context, &desc);
        do {
            info = simplex_iterate(simplex, 1);
            if (info.iterations == 2 && !(fabs(info.objective - cost[1]) <= 1e-19))
                fail_msg("%s, %s: %.17g", variant_name(&desc), gpuopt_outcome_string(info.outcome), info.objective);
            on_the_way += info.iterations == 2 && info.outcome == GPUOPT_MORE;
        } while (info.outcome == GPUOPT_MORE);
        assert_int_equal(info.outcome, GPUOPT_OPTIMAL);
        assert_true(on_the_way > 0);
        gpuopt_simplex_destroy(simplex);
    }
    mip_free(&m);
    gpuopt_context_destroy(context);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(no_optimum_outside_of_a_bound),
    cmocka_unit_test(margin_of_one_product),
    cmocka_unit_test(margin_of_large_terms),
    cmocka_unit_test(objective_in_refinement),
};
TEST_MAIN(tests)
