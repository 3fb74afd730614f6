/* SPDX-License-Identifier: MIT
 *
 * The filter may pass rows without effect, but must never reject a row that proves infeasibility or moves a bound,
 * under any settings. Otherwise backends, which filter in different orders, would not return the same bits. Tests the
 * arithmetic that both backends share.
 */
#include <math.h>
#include <stdlib.h>

#include "gpuopt_impl/propagate/arith/row.h"
#include "tests/support/support.h"

enum { MOST = 12 };

typedef struct row {
    int length;
    double a[MOST], lb[MOST], ub[MOST], lhs, rhs;
    int integer[MOST];
} row;

/* Sizes of many kinds: integers, decimals, tiny and large numbers, thirds. */
static double draw_size(uint64_t *seed, int wide) {
    switch (test_random_int(seed, 0, wide ? 7 : 3)) {
    case 0: return (double)test_random_int(seed, 1, 9);
    case 1: return (double)test_random_int(seed, 1, 1000) * 0.1;
    case 2: return (double)test_random_int(seed, 1, 100) * 1e-3;
    case 3: return (double)test_random_int(seed, 1, 16);
    case 4: return (double)test_random_int(seed, 1, 1000) * 1e5;
    case 5: return (double)test_random_int(seed, 1, 1000) * 1e-9;
    case 6: return (double)test_random_int(seed, 1, 7) * 1e12;
    default: return (double)test_random_int(seed, 1, 9) / 3;
    }
}

/* Columns of all kinds, some with bounds that cross within the tolerance; sides at and near the values from which the
 * row begins to act. */
static row draw_row(uint64_t *seed, int kinds, int single, double huge) {
    static const double part[] = {0,   1,   0.5,  0.01, 1e-9, 0.999,  1 - 1e-9, 1 + 1e-9,
                                  0.3, 0.7, 0.05, 0.95, 1e-4, 0.9999, 5e-6,     1 - 5e-6};
    row r;
    int k, wide = (int)test_random_int(seed, 0, 1);
    double min = 0, max = 0;
    r.length = (int)test_random_int(seed, 1, MOST);
    for (k = 0; k < r.length; k++) {
        double size = draw_size(seed, wide), low, high;
        int kind = (int)test_random_int(seed, 0, 15);
        r.integer[k] = kinds > 0 && test_random_int(seed, 0, 1);
        r.a[k] = draw_size(seed, wide) * (test_random_int(seed, 0, 1) ? 1 : -1);
        r.lb[k] = kind % 3 ? -size : size;
        r.ub[k] = r.lb[k] + (kind < 12 ? draw_size(seed, wide) : -1e-7 * (double)test_random_int(seed, 0, 9));
        if (kind == 13 && huge < 1e20) r.a[k] = huge / r.lb[k]; /* one of the two terms may be beyond it */
        if (r.integer[k] && kinds < 2) r.lb[k] = floor(r.lb[k]), r.ub[k] = ceil(r.ub[k]);
        if (single) r.a[k] = (float)r.a[k], r.lb[k] = (float)r.lb[k], r.ub[k] = (float)r.ub[k];
        low = r.lb[k], high = r.ub[k];
        min += r.a[k] * (r.a[k] > 0 ? low : high);
        max += r.a[k] * (r.a[k] > 0 ? high : low);
        if (test_random_int(seed, 0, 15) == 0) r.lb[k] = -HUGE_VAL;
        if (test_random_int(seed, 0, 15) == 0) r.ub[k] = HUGE_VAL;
    }
    r.rhs = min + (max - min) * part[test_random_int(seed, 0, 15)];
    r.lhs = max - (max - min) * part[test_random_int(seed, 0, 15)];
    if (test_random_int(seed, 0, 2) == 0) r.lhs = -HUGE_VAL;
    else if (test_random_int(seed, 0, 2) == 0 || r.lhs > r.rhs) r.rhs = HUGE_VAL;
    return r;
}

/* Adds in reverse order, since any order is allowed. 16: the least `steps` that a backend passes for such rows. */
static int filter_passes(const row *r, const gpuopt__propagator_rules *rules) {
    gpuopt__propagator_filter f = gpuopt__propagator_filter_start();
    int k;
    for (k = r->length - 1; k >= 0; k--)
        gpuopt__propagator_filter_add(&f, rules, rules->single && !r->integer[k], r->a[k], r->lb[k], r->ub[k]);
    return gpuopt__propagator_filter_passes(&f, rules, r->lhs, r->rhs, 16);
}

/* Whether the exact part finds the row infeasible or moves a bound. A side that does not reach an entry must not move
 * its column. (With infinite terms in its activity the side implies nothing.) */
static int acts(const row *r, const gpuopt__propagator_rules *rules) {
    gpuopt__propagator_activities s = gpuopt__propagator_activities_start();
    gpuopt__propagator_row exact;
    int k, side, moved = 0, infeasible;
    double bound, least = 0, greatest = 0;
    for (k = 0; k < r->length; k++) {
        int up = r->a[k] > 0;
        gpuopt__propagator_activities_add(&s, rules, r->a[k], r->lb[k], r->ub[k]);
        least += gpuopt__propagator_term_size(rules, r->a[k], up ? r->lb[k] : r->ub[k]);
        greatest += gpuopt__propagator_term_size(rules, r->a[k], up ? r->ub[k] : r->lb[k]);
    }
    exact = gpuopt__propagator_row_make(&s, rules, r->lhs, r->rhs, r->length);
    infeasible = gpuopt__propagator_limit_violated(&exact.limit[0], rules, r->rhs, least) ||
                 gpuopt__propagator_limit_violated(&exact.limit[1], rules, r->lhs, greatest);
    assert_true(exact.violated || !infeasible);
    for (k = 0; k < r->length && !infeasible; k++) {
        int sides = gpuopt__propagator_reaching_sides(&exact, rules, r->a[k], r->lb[k], r->ub[k]);
        for (side = 0; side < 2; side++) {
            int reached = sides >> side & 1, move = 0;
            if (reached || exact.limit[side].slack < HUGE_VAL)
                move = gpuopt__propagator_tighten(&exact.limit[side], rules, side ? -r->a[k] : r->a[k], r->lb[k],
                                                  r->ub[k], r->integer[k], &bound);
            if (move && !reached) fail_msg("a side that does not reach entry %d moves its column", k);
            moved |= move;
        }
    }
    return infeasible || moved;
}

/* kinds: 0: continuous columns; 1: also integer columns; 2: also integer columns with fractional bounds. */
static void check(double least_change, double relative, double huge, double integrality, int kinds, int single) {
    gpuopt__propagator_rules rules = {.infinity = 1e20,
                                      .feasibility = 1e-6,
                                      .integrality = integrality,
                                      .least_change = least_change,
                                      .least_change_relative = relative,
                                      .huge = huge,
                                      .single = single};
    uint64_t seed = 1;
    long trial, acting = 0, passed = 0;
    const long trials = test_few() ? 10000 : 100000;
    gpuopt__propagator_rules_derive(&rules, kinds > 0);
    for (trial = 0; trial < trials; trial++) {
        row r = draw_row(&seed, kinds, single, huge);
        int act = acts(&r, &rules), pass = filter_passes(&r, &rules);
        if (act && !pass)
            fail_msg("least change %g + %g, huge %g, kinds %d, single %d: row %ld acts, and does not pass",
                     least_change, relative, huge, kinds, single, trial);
        acting += act;
        passed += pass;
    }
    assert_true(acting > trials / 5 && passed < trials); /* otherwise the test would be empty */
}

static void no_acting_row_is_rejected(void **state) {
    int kinds, single;
    (void)state;
    for (kinds = 0; kinds < 3; kinds++)
        for (single = 0; single < 2; single++) {
            check(1e-9, 0, 1e100, 1e-6, kinds, single);   /* the paper */
            check(1e-9, 0.05, 1e15, 1e-6, kinds, single); /* SCIP */
            check(1e-3, 0.3, 1e100, 1e-6, kinds, single); /* HiGHS */
            check(1e-3, 0, 1e8, 1e-6, kinds, single);     /* PaPILO */
            check(1e-2, 0, 1e6, 1e-6, kinds, single);     /* terms around the huge value */
            check(1e-9, 0, 1e100, 1e-12, kinds, single);  /* a tolerance below the least change */
        }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(no_acting_row_is_rejected),
};
TEST_MAIN(tests)
