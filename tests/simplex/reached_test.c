/* SPDX-License-Identifier: MIT
 *
 * The tolerances that a point reaches, primal_reached and dual_reached, against their definition, in long double from
 * the results of _get_solution and _get_basis. Bounds and costs are large, so that their units matter.
 */
#include <math.h>

#include "tests/simplex/answer.h"

enum { ROWS = 6, COLS = 8 };

static mip draw(uint64_t *seed) {
    double a[ROWS * COLS], cost[COLS], lb[COLS], ub[COLS], lhs[ROWS], rhs[ROWS];
    int i, j;
    mip m;
    for (i = 0; i < ROWS * COLS; i++) a[i] = (double)test_random_int(seed, -4, 4);
    for (i = 0; i < COLS; i++) {
        cost[i] = (double)test_random_int(seed, -5000, 5000);
        lb[i] = (double)test_random_int(seed, -3000, 3000);
        ub[i] = lb[i] + (double)test_random_int(seed, 0, 2000);
    }
    for (i = 0; i < ROWS; i++) {
        lhs[i] = -(double)test_random_int(seed, 0, 4000);
        rhs[i] = (double)test_random_int(seed, 0, 4000);
        for (j = 0; j < COLS; j++) { /* the middle of the box is a solution */
            lhs[i] += a[i * COLS + j] * (lb[j] + ub[j]) / 2;
            rhs[i] += a[i * COLS + j] * (lb[j] + ub[j]) / 2;
        }
    }
    m = model_of(ROWS, COLS, a, cost, lhs, rhs, lb, ub);
    m.maximize = (int)test_random_int(seed, 0, 1);
    return m;
}

/* By how much the value is outside, in units of max(1, |bound|). */
static long double outside(long double value, double low, double high) {
    if (value < low) return (low - value) / fmaxl(1, fabsl(low));
    return value > high ? (value - high) / fmaxl(1, fabsl(high)) : 0;
}

/* The size of a reduced cost, of a minimisation, with the wrong sign for the status. */
static long double wrong(long double d, uint8_t status, double low, double high) {
    if (!(low < high)) return 0;
    if (status == GPUOPT_VARIABLE_AT_LOWER) return fmaxl(0, -d);
    return status == GPUOPT_VARIABLE_AT_UPPER ? fmaxl(0, d) : fabsl(d);
}

static void near(const char *what, int trial, double found, long double want) {
    if (!(fabsl(found - want) <= 1e-6L * want + 1e-13L))
        fail_msg("trial %d: %s %.17g, not %.17Lg", trial, what, found, want);
}

static void check(gpuopt_simplex *simplex, const mip *m, int trial, int *phases, int *larger) {
    double x_low[COLS], dual_low[ROWS];
    long double primal = 0, dual = 0, activity[ROWS] = {0}, y[ROWS], sign = m->maximize ? -1 : 1;
    answer a = answer_get(simplex, m);
    int32_t j;
    int64_t k;
    assert_int_equal(gpuopt_simplex_get_solution(
                         simplex, GPUOPT_HOST,
                         &(gpuopt_simplex_solution){
                             .struct_size = sizeof(gpuopt_simplex_solution), .x_low = x_low, .dual_low = dual_low}),
                     GPUOPT_OK);
    for (j = 0; j < ROWS; j++) y[j] = sign * ((long double)a.dual[j] + dual_low[j]);
    for (j = 0; j < COLS; j++) {
        long double x = (long double)a.x[j] + x_low[j], d = sign * m->cost[j];
        for (k = m->columns.start[j]; k < m->columns.start[j + 1]; k++) {
            activity[m->columns.index[k]] += m->columns.value[k] * x;
            d -= m->columns.value[k] * y[m->columns.index[k]];
        }
        primal = fmaxl(primal, outside(x, m->lb[j], m->ub[j]));
        dual = fmaxl(dual, wrong(d, a.basis[j], m->lb[j], m->ub[j]) / fmaxl(1, fabsl(m->cost[j])));
    }
    for (j = 0; j < ROWS; j++) {
        primal = fmaxl(primal, outside(activity[j], m->lhs[j], m->rhs[j]));
        dual = fmaxl(dual, wrong(y[j], a.basis[COLS + j], m->lhs[j], m->rhs[j]));
    }
    near("primal_reached", trial, a.info.primal_reached, primal);
    if (a.info.phase == 2) near("dual_reached", trial, a.info.dual_reached, dual);
    else assert_true(a.info.dual_reached < 0 && a.info.dual_violation < 0);
    phases[a.info.phase - 1]++;
    *larger += a.info.primal_violation > 2 * a.info.primal_reached && a.info.dual_violation > 2 * a.info.dual_reached;
    answer_free(&a);
}

/* After every few iterations: with perturbation, x is outside of its bounds also in phase 2. */
static void reached_as_defined(void **state) {
    gpuopt_context *context = test_context(NULL);
    int trials = test_times(600, 30), trial, k, phases[2] = {0, 0}, larger = 0;
    uint64_t seed = 17;
    (void)state;
    for (trial = 0; trial < trials; trial++) {
        mip m = draw(&seed);
        gpuopt_simplex_desc desc = tableau_desc(&m);
        gpuopt_simplex_rules rules;
        gpuopt_simplex *simplex;
        variant_set(&desc, trial % VARIANTS);
        rules = rules_of(&desc);
        desc.rules = &rules;
        if (trial % 3 == 0) rules.scaling = GPUOPT_OFF;
        simplex = simplex_create(context, &desc);
        for (k = 0; k < 8; k++) {
            gpuopt_outcome outcome = simplex_iterate(simplex, 2).outcome;
            if (outcome != GPUOPT_MORE && outcome != GPUOPT_OPTIMAL) break;
            assert_int_equal(gpuopt_simplex_rebuild(simplex, 0, NULL), GPUOPT_OK);
            check(simplex, &m, trial, phases, &larger);
        }
        gpuopt_simplex_destroy(simplex);
        mip_free(&m);
    }
    assert_true(phases[0] > trials / 2 && phases[1] > trials / 2 && larger > trials / 10);
    gpuopt_context_destroy(context);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(reached_as_defined),
};
TEST_MAIN(tests)
