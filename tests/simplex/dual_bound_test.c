/* SPDX-License-Identifier: MIT
 *
 * The dual simplex method: bounds and cutoffs, against the exact optimum in rationals.
 */
#include <math.h>

#include "gpuopt/search.h"
#include "tests/simplex/changes.h"
#include "tests/simplex/dual_ways.h"
#include "tests/simplex/exact.h"

static void must(gpuopt_status status) { assert_int_equal(status, GPUOPT_OK); }

/* Whether the bound claims at most as much as the exact answer allows. */
static int bound_holds(const mip *m, const exact_answer *e, double bound) {
    double sign = m->maximize ? -1 : 1;
    if (e->outcome == GPUOPT_INFEASIBLE) return 1;
    if (e->outcome == GPUOPT_UNBOUNDED) return sign * bound < -1e15;
    return sign * bound <= sign * e->objective;
}

/* After every single iteration, and at the end, where it meets the objective. */
static void bounds_against_rationals(void **state) {
    gpuopt_context *context = test_context(NULL);
    uint64_t seed = 9;
    int model, finite = 0, infeasible = 0;
    (void)state;
    for (model = 0; model < test_times(600, 600); model++) {
        mip m = changes_model(&seed, (int32_t)test_random_int(&seed, 1, 7), (int32_t)test_random_int(&seed, 1, 9));
        gpuopt_simplex_desc desc = tableau_desc(&m);
        exact_answer e = exact_solve(&m, NULL);
        gpuopt_simplex_info info = GPUOPT_INIT(gpuopt_simplex_info);
        gpuopt_simplex *simplex;
        double bound;
        dual_set(&desc, model % DUAL_WAYS);
        if (model % 5 == 0) desc.algorithm = GPUOPT_ALGORITHM_PRIMAL;
        simplex = simplex_create(context, &desc);
        while (info.outcome == GPUOPT_MORE) {
            must(gpuopt_simplex_get_bound(simplex, &bound));
            if (!bound_holds(&m, &e, bound))
                fail_msg("model %d: the bound %.17g, not %.17g", model, bound, e.objective);
            finite += fabs(bound) < 1e9;
            info = simplex_iterate(simplex, 1);
        }
        must(gpuopt_simplex_get_bound(simplex, &bound));
        assert_int_equal(info.outcome, e.outcome);
        if (e.outcome == GPUOPT_OPTIMAL) {
            assert_true(bound_holds(&m, &e, bound));
            if (fabs(bound - e.objective) > 1e-6 * fmax(1, fabs(e.objective)))
                fail_msg("model %d: the bound %.17g of the optimum %.17g", model, bound, e.objective);
        }
        if (e.outcome == GPUOPT_INFEASIBLE) {
            infeasible++;
            assert_true(bound == (m.maximize ? -HUGE_VAL : HUGE_VAL));
        }
        gpuopt_simplex_destroy(simplex);
        mip_free(&m);
    }
    assert_true(finite > test_times(500, 500) && infeasible > test_times(50, 20));
    gpuopt_context_destroy(context);
}

/* CUTOFF only if the exact optimum is at the cutoff or beyond; and if the cutoff is well within, mostly. */
static void cutoffs_against_rationals(void **state) {
    gpuopt_context *context = test_context(NULL);
    uint64_t seed = 13;
    int model, cut = 0, solved = 0, again = 0;
    (void)state;
    for (model = 0; model < test_times(2000, 2000); model++) {
        mip m = changes_model(&seed, (int32_t)test_random_int(&seed, 1, 8), (int32_t)test_random_int(&seed, 1, 8));
        gpuopt_simplex_desc desc = tableau_desc(&m);
        exact_answer e = exact_solve(&m, NULL);
        double sign = m.maximize ? -1 : 1, cutoff, bound;
        gpuopt_simplex *simplex;
        gpuopt_simplex_info info;
        if (e.outcome != GPUOPT_OPTIMAL) {
            mip_free(&m);
            continue;
        }
        dual_set(&desc, model % DUAL_WAYS);
        desc.offset = model % 3;
        e.objective += desc.offset;
        simplex = simplex_create(context, &desc);
        cutoff = e.objective + sign * (double)test_random_int(&seed, -20, 3) / 2;
        must(gpuopt_simplex_set_cutoff(simplex, cutoff));
        info = simplex_iterate(simplex, 100000);
        if (info.outcome == GPUOPT_CUTOFF) {
            cut++;
            if (sign * e.objective < sign * cutoff)
                fail_msg("model %d: %g is not beyond %g", model, e.objective, cutoff);
            must(gpuopt_simplex_get_bound(simplex, &bound));
            assert_true(sign * bound >= sign * cutoff);
            if (model % 2) must(gpuopt_simplex_set_cutoff(simplex, sign * HUGE_VAL));
            else must(gpuopt_simplex_set_cutoff(simplex, e.objective + sign));
            assert_int_equal(simplex_info(simplex).outcome, GPUOPT_MORE);
            info = simplex_iterate(simplex, 100000);
            again++;
        } else if (sign * e.objective >= sign * cutoff) solved++;
        assert_int_equal(info.outcome, GPUOPT_OPTIMAL);
        assert_true(fabs(info.objective - e.objective) <= 1e-9 * fmax(1, fabs(e.objective)));
        gpuopt_simplex_destroy(simplex);
        mip_free(&m);
    }
    print_message("%d cut off, %d solved although they could have been\n", cut, solved);
    assert_true(cut > test_times(100, 100) && again > test_times(100, 100));
    gpuopt_context_destroy(context);
}

/* An integer model that takes some dual pivots to its optimum: covering and packing rows of columns with bounds. */
static mip covering(uint64_t *seed) {
    enum { ROWS = 8, COLS = 12 };
    double value[ROWS * COLS], cost[COLS], lhs[ROWS], rhs[ROWS], ub[COLS];
    int k;
    for (k = 0; k < ROWS * COLS; k++) value[k] = test_random_int(seed, 0, 1) ? (double)test_random_int(seed, 1, 9) : 0;
    for (k = 0; k < COLS; k++)
        cost[k] = (double)test_random_int(seed, 1, 12), ub[k] = (double)test_random_int(seed, 2, 6);
    for (k = 0; k < ROWS; k++) {
        lhs[k] = k % 2 ? (double)test_random_int(seed, 10, 30) : -INFINITY;
        rhs[k] = k % 2 ? INFINITY : (double)test_random_int(seed, 60, 120);
    }
    return model_of(ROWS, COLS, value, cost, lhs, rhs, NULL, ub);
}

/* A cutoff next to a bound that occurs on the way, or next to the nearest integer. There the engine's objective and its
 * proven part may be on different sides: the method stops there, or slightly later. */
static void cutoffs_on_the_way(void **state) {
    enum { MOST = 100 };
    gpuopt_context *context = test_context(NULL);
    uint64_t seed = 5;
    int model, cut = 0;
    (void)state;
    for (model = 0; model < test_times(2000, 2000); model++) {
        mip m = covering(&seed);
        gpuopt_simplex_desc desc = tableau_desc(&m);
        gpuopt_simplex *stepped, *simplex;
        double bound[MOST], cutoff, most = -HUGE_VAL;
        int steps = 0, k;
        dual_set(&desc, model % DUAL_WAYS);
        stepped = simplex_create(context, &desc);
        do must(gpuopt_simplex_get_bound(stepped, &bound[steps++]));
        while (steps < MOST && simplex_iterate(stepped, 1).outcome == GPUOPT_MORE);
        if (steps > 2 && simplex_info(stepped).outcome == GPUOPT_OPTIMAL) {
            cutoff = bound[test_random_int(&seed, 1, steps - 2)];
            cutoff += 1e-12 * fabs(cutoff);
            if (model % 2) cutoff = floor(cutoff + 0.5);
            for (k = 1; k < steps; k++) most = fmax(most, bound[k]);
            if (most >= cutoff && cutoff < simplex_info(stepped).objective - 0.4) { /* not within the last pivot */
                cut++;
                simplex = simplex_create(context, &desc);
                must(gpuopt_simplex_set_cutoff(simplex, cutoff));
                if (simplex_iterate(simplex, 1000).outcome != GPUOPT_CUTOFF)
                    fail_msg("model %d, %s: no cutoff at %.17g, of a bound of %.17g", model, dual_name(&desc), cutoff,
                             most);
                gpuopt_simplex_destroy(simplex);
            }
        }
        gpuopt_simplex_destroy(stepped);
        mip_free(&m);
    }
    assert_true(cut > test_times(500, 500));
    gpuopt_context_destroy(context);
}

/* min 1000 x - 1000 y, x - y = 1, x, y >= 0 without upper bounds: 1000 everywhere, and one reduced cost is 0. */
static void degenerate_duals(void **state) {
    gpuopt_context *context = test_context(NULL);
    const double value[2] = {1, -1}, cost[2] = {1000, -1000}, side[1] = {1};
    int way;
    (void)state;
    for (way = 0; way < DUAL_WAYS; way++) {
        mip m = model_of(1, 2, value, cost, side, side, NULL, NULL);
        gpuopt_simplex_desc desc = tableau_desc(&m);
        gpuopt_simplex *simplex;
        double bound;
        dual_set(&desc, way);
        simplex = simplex_create(context, &desc);
        assert_int_equal(simplex_iterate(simplex, 100).outcome, GPUOPT_OPTIMAL);
        must(gpuopt_simplex_get_bound(simplex, &bound));
        assert_true(bound <= 1000 && bound > 1000 - 1e-3);
        gpuopt_simplex_destroy(simplex);
        mip_free(&m);
    }
    gpuopt_context_destroy(context);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(bounds_against_rationals),
    cmocka_unit_test(cutoffs_against_rationals),
    cmocka_unit_test(cutoffs_on_the_way),
    cmocka_unit_test(degenerate_duals),
};
TEST_MAIN(tests)
