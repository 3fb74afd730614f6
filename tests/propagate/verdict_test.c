/* SPDX-License-Identifier: MIT
 *
 * Verdicts agree between JACOBI, SEQUENTIAL, every order of the rows, and a fresh handle with the bounds found. This
 * also holds for bounds that cross by about the tolerance, with large coefficients that make this visible. The
 * exception are changes that least_change holds back. INFEASIBLE is true, by exact rational arithmetic (GMP).
 */
#include <gmp.h>
#include <math.h>

#include "tests/propagate/model.h"

enum { MOST = 6, ROUNDS = 3000 };

typedef struct found {
    gpuopt_propagator_info info;
    double lb[MOST], ub[MOST];
} found;

static found run(gpuopt_context *context, const gpuopt_propagator_desc *desc) {
    found f;
    f.info = problem_run(context, desc, ROUNDS, f.lb, f.ub);
    return f;
}

/* A fresh handle with the bounds found: the same verdict. At a fixpoint no bound moves, and all are shown as before. */
static int fresh_agrees(gpuopt_context *context, gpuopt_propagator_desc desc, const found *f) {
    found again;
    int32_t j;
    desc.lb = f->lb;
    desc.ub = f->ub;
    again = run(context, &desc);
    if (again.info.outcome != f->info.outcome) return 0;
    if (f->info.outcome == GPUOPT_INFEASIBLE) return 1;
    for (j = 0; j < desc.matrix.cols; j++)
        if (again.lb[j] < f->lb[j] || again.lb[j] > f->lb[j] || again.ub[j] < f->ub[j] || again.ub[j] > f->ub[j])
            return 0;
    return again.info.changed == 0;
}

/* ---- Rows of one column that cross within the tolerance ---- */

static void check_crossing(gpuopt_context *context, gpuopt_propagator_desc desc) {
    static const double high[2] = {10, 1};
    int k;
    for (k = 0; k < 2; k++) {
        found f;
        desc.ub = &high[k];
        f = run(context, &desc);
        assert_int_equal(f.info.outcome, GPUOPT_INFEASIBLE);
        assert_true(fresh_agrees(context, desc, &f));
    }
}

/* 1e6 x >= 1000000.9 and x <= 1: bounds that cross by 9e-7, and a row that x = 1 violates by 0.9. */
static mip crossing(int swapped) {
    static const double a[2] = {1e6, 1}, b[2] = {1, 1e6}, lhs[2] = {1000000.9, -INFINITY},
                        low[2] = {-INFINITY, 1000000.9}, rhs[2] = {INFINITY, 1}, high[2] = {1, INFINITY};
    return swapped ? model_dense(2, 1, b, low, high, 0, 10, 0) : model_dense(2, 1, a, lhs, rhs, 0, 10, 0);
}

static void crossing_seen_by_a_large_coefficient(void **state) {
    (void)state;
    model_for_variants(check_crossing, crossing(0));
    model_for_variants(check_crossing, crossing(1));
}

/* ---- Random models ---- */

static double pick(uint64_t *seed, const double *table, int count) {
    return table[test_random_int(seed, 0, count - 1)];
}

/* One to three columns; the rows are near x = p for a point p, off by up to some multiple of the tolerance. The sums at
 * p are exact. Otherwise the error of a rounded sum could decide, which least_change lets pass in one order only. */
static mip near_crossing(uint64_t *seed, int large) {
    static const double size[] = {1, 1, 1, 3, 0.125, 0x1p-7, 0x1p-10, 1e3, 1e6, 7e5},
                        off[] = {0, 0, 1.3e-7, 4.7e-7, 8.9e-7, 1.17e-6, 2.9e-6, 0.5};
    int32_t cols = (int32_t)test_random_int(seed, 1, 3), rows = (int32_t)test_random_int(seed, 2, MOST), i, j;
    mip m = problem_new(cols, rows, (int64_t)rows * cols);
    double p[3];
    for (j = 0; j < cols; j++) {
        int kind = (int)test_random_int(seed, 0, 9);
        p[j] = (double)test_random_int(seed, -3, 3) + (test_random_int(seed, 0, 1) ? 0 : 0.125);
        problem_col(&m, j, kind == 0 ? p[j] : floor(p[j]) - 1, kind == 0 ? p[j] : ceil(p[j]) + (kind < 4 ? 0 : 2),
                    kind == 1);
    }
    for (i = 0; i < rows; i++) {
        double sum = 0, scale = 0, side;
        int entries = 0, sides = (int)test_random_int(seed, 0, 4);
        problem_row(&m, -INFINITY, INFINITY);
        for (j = 0; j < cols; j++) {
            double a = pick(seed, size, large ? 10 : 6) * (test_random_int(seed, 0, 1) ? 1 : -1);
            if (cols > 1 && test_random_int(seed, 0, 1)) continue;
            problem_entry(&m, j, a);
            sum += a * p[j];
            scale = fmax(scale, fabs(a));
            entries++;
        }
        if (entries == 0) continue;
        side = sum +
               pick(seed, off, 8) * (test_random_int(seed, 0, 1) ? scale : 1) * (test_random_int(seed, 0, 1) ? 1 : -1);
        if (sides != 0) m.rhs[i] = side;
        if (sides != 1 && sides != 2) m.lhs[i] = side;
    }
    return m;
}

/* The same rows in another order. */
static mip shuffled(const mip *m, uint64_t *seed) {
    mip s = problem_new(m->matrix.cols, m->matrix.rows, m->matrix.start[m->matrix.rows]);
    int32_t order[MOST], i, j;
    for (i = 0; i < m->matrix.rows; i++) {
        j = (int32_t)test_random_int(seed, 0, i);
        order[i] = order[j];
        order[j] = i;
    }
    for (j = 0; j < m->matrix.cols; j++) problem_col(&s, j, m->lb[j], m->ub[j], m->integer[j]);
    for (i = 0; i < m->matrix.rows; i++) {
        int64_t k;
        problem_row(&s, m->lhs[order[i]], m->rhs[order[i]]);
        for (k = m->matrix.start[order[i]]; k < m->matrix.start[order[i] + 1]; k++)
            problem_entry(&s, m->matrix.index[k], m->matrix.value[k]);
    }
    return s;
}

/* ---- What is exactly true ---- */

/* Propagates in rationals, without tolerances, all finite bounds; integer columns are rounded. Returns whether that
 * proves that no point satisfies the model exactly, within `rounds` rounds. */
static int exactly_infeasible(const mip *m, int rounds) {
    mpq_t bound[MOST][2], sum, x;
    int32_t i, j;
    int round, infeasible = 0, side;
    int64_t k, l;
    mpq_inits(sum, x, NULL);
    for (j = 0; j < m->matrix.cols; j++) {
        mpq_inits(bound[j][0], bound[j][1], NULL);
        mpq_set_d(bound[j][0], m->lb[j]);
        mpq_set_d(bound[j][1], m->ub[j]);
    }
    for (round = 0; round < rounds && !infeasible; round++)
        for (i = 0; i < m->matrix.rows && !infeasible; i++)
            for (side = 0; side < 2; side++) {
                if (isinf(side ? m->rhs[i] : m->lhs[i])) continue;
                for (k = m->matrix.start[i]; k < m->matrix.start[i + 1]; k++) {
                    int upper = (m->matrix.value[k] > 0) == (side == 1);
                    mpq_t *to = bound[m->matrix.index[k]];
                    mpq_set_d(sum, side ? m->rhs[i] : m->lhs[i]);
                    for (l = m->matrix.start[i]; l < m->matrix.start[i + 1]; l++) {
                        if (l == k) continue;
                        mpq_set_d(x, m->matrix.value[l]);
                        mpq_mul(x, x, bound[m->matrix.index[l]][(m->matrix.value[l] > 0) != (side == 1)]);
                        mpq_sub(sum, sum, x);
                    }
                    mpq_set_d(x, m->matrix.value[k]);
                    mpq_div(sum, sum, x);
                    if (m->integer[m->matrix.index[k]]) {
                        if (upper) mpz_fdiv_q(mpq_numref(sum), mpq_numref(sum), mpq_denref(sum));
                        else mpz_cdiv_q(mpq_numref(sum), mpq_numref(sum), mpq_denref(sum));
                        mpz_set_ui(mpq_denref(sum), 1);
                    }
                    if (upper ? mpq_cmp(sum, to[1]) < 0 : mpq_cmp(sum, to[0]) > 0) mpq_set(to[upper], sum);
                    infeasible |= mpq_cmp(to[0], to[1]) > 0;
                }
            }
    for (j = 0; j < m->matrix.cols; j++) mpq_clears(bound[j][0], bound[j][1], NULL);
    mpq_clears(sum, x, NULL);
    return infeasible;
}

/* ---- Agreement ---- */

/* Runs all variants on both orders of the rows. Returns the verdict, or MORE if bounds move on and on. */
static gpuopt_outcome agreed(gpuopt_context *context, const mip *order[2], double least_change, int trial) {
    size_t variants, v;
    const problem_variant *variant = problem_variants(&variants);
    const gpuopt_propagator_tolerances tolerances = {.struct_size = sizeof tolerances, .least_change = least_change};
    gpuopt_outcome first = GPUOPT_MORE;
    int k;
    for (v = 0; v < variants; v++)
        for (k = 0; k < 2; k++) {
            gpuopt_propagator_desc desc = mip_propagator_desc(order[k]);
            found f;
            desc.tolerances = &tolerances;
            problem_apply(&variant[v], &desc);
            f = run(context, &desc);
            if (f.info.outcome == GPUOPT_MORE) return GPUOPT_MORE;
            if (v == 0 && k == 0) first = f.info.outcome;
            if (f.info.outcome != first)
                fail_msg("trial %d, %s, order %d: %s instead of %s", trial, variant[v].name, k,
                         gpuopt_outcome_string(f.info.outcome), gpuopt_outcome_string(first));
            if (!fresh_agrees(context, desc, &f))
                fail_msg("trial %d, %s, order %d: a fresh handle disagrees with %s", trial, variant[v].name, k,
                         gpuopt_outcome_string(first));
        }
    return first;
}

static void check_agreement(int large, double least_change, int count) {
    gpuopt_context *context = test_context(NULL);
    uint64_t seed = 70;
    int trial, infeasible = 0, endless = 0;
    for (trial = 0; trial < count; trial++) {
        mip m = near_crossing(&seed, large), s = shuffled(&m, &seed);
        const mip *order[2] = {&m, &s};
        gpuopt_outcome verdict = agreed(context, order, least_change, trial);
        infeasible += verdict == GPUOPT_INFEASIBLE;
        endless += verdict == GPUOPT_MORE;
        if (verdict == GPUOPT_INFEASIBLE && !exactly_infeasible(&m, 20000)) fail_msg("trial %d is feasible", trial);
        mip_free(&s);
        mip_free(&m);
    }
    assert_true(infeasible > count / 10 && infeasible < count - count / 10 && endless <= count / 100);
    gpuopt_context_destroy(context);
}

static void all_orders_agree(void **state) {
    (void)state;
    check_agreement(0, 0, test_times(8000, 100));
}

static void large_coefficients_agree(void **state) {
    (void)state;
    check_agreement(1, 1e-15, test_times(8000, 100));
}

/* ---- Fixed columns ---- */

/* x = 1, y = 2 miss 0.01 x + 1000 y <= 2000.0099999 by 1e-7: feasible, although x would have to be 0.99999. */
static void check_fixed_columns_stay(gpuopt_context *context, gpuopt_propagator_desc desc) {
    gpuopt_propagator *p = problem_create(context, &desc);
    const double low[2] = {1, 2}, high[2] = {1, 2}, wide = 3;
    const int32_t col = 0;
    gpuopt_propagator_info info = problem_round(p, ROUNDS);
    assert_true(info.outcome == GPUOPT_CONVERGED && info.rounds == 1 && info.changed == 0);
    model_check_bounds(p, 2, low, high);
    /* No longer fixed: its bounds would cross by more than the tolerance. */
    assert_int_equal(gpuopt_propagator_set_bounds(p, GPUOPT_HOST, 1, &col, NULL, &wide), GPUOPT_OK);
    info = problem_round(p, ROUNDS);
    assert_true(info.outcome == GPUOPT_INFEASIBLE && info.infeasible_row == -1 && info.infeasible_col == 0);
    /* And fixed again. */
    assert_int_equal(gpuopt_propagator_set_bounds(p, GPUOPT_HOST, 1, &col, &low[0], &high[0]), GPUOPT_OK);
    assert_int_equal(problem_round(p, ROUNDS).outcome, GPUOPT_CONVERGED);
    model_check_bounds(p, 2, low, high);
    gpuopt_propagator_destroy(p);
}

static mip nearly_met(void) {
    static const double a[2] = {0.01, 1000}, lhs = -INFINITY, rhs = 2000.0099999;
    mip m = model_dense(1, 2, a, &lhs, &rhs, 1, 1, 0);
    m.lb[1] = m.ub[1] = 2;
    return m;
}
MODEL_VARIANTS_TEST(fixed_columns_stay, nearly_met())

/* x >= 1 + 5e-7 and x <= 1 are shown as x = 1. Setting one side leaves the other as it was shown. */
static void check_bounds_that_met_stay_as_shown(gpuopt_context *context, gpuopt_propagator_desc desc) {
    gpuopt_propagator *p = problem_create(context, &desc);
    const int32_t col = 0;
    const double high = 7, low = -2;
    double lb, ub;
    assert_int_equal(problem_round(p, ROUNDS).outcome, GPUOPT_CONVERGED);
    problem_bounds(p, &lb, &ub);
    assert_true(lb == 1 && ub == 1);
    assert_int_equal(gpuopt_propagator_set_bounds(p, GPUOPT_HOST, 1, &col, NULL, &high), GPUOPT_OK);
    problem_bounds(p, &lb, &ub);
    assert_true(lb == 1 && ub == 7);
    assert_int_equal(problem_round(p, ROUNDS).outcome, GPUOPT_CONVERGED);
    assert_int_equal(gpuopt_propagator_set_bounds(p, GPUOPT_HOST, 1, &col, &low, NULL), GPUOPT_OK);
    problem_bounds(p, &lb, &ub);
    assert_true(lb == -2 && ub == 1);
    gpuopt_propagator_destroy(p);
}

static mip met(void) {
    static const double a[2] = {1, 1}, lhs[2] = {-INFINITY, 1 + 5e-7}, rhs[2] = {1, INFINITY};
    return model_dense(2, 1, a, lhs, rhs, 0, 10, 0);
}
MODEL_VARIANTS_TEST(bounds_that_met_stay_as_shown, met())

/* ---- Rows at the tolerance ---- */

/* x in [1, 2] and tolerance 2^-20: sides that are missed by just that, and by more. */
static void check_status_at_the_tolerance(gpuopt_context *context, gpuopt_propagator_desc desc) {
    static const double tolerance = 0x1p-20, more = 0x1.00001p-20;
    double lhs[4] = {1 + tolerance, 1 + more, -INFINITY, -INFINITY},
           rhs[4] = {INFINITY, INFINITY, 2 - tolerance, 2 - more};
    static const uint8_t want[4] = {GPUOPT_ROW_REDUNDANT, GPUOPT_ROW_RHS_REDUNDANT, GPUOPT_ROW_REDUNDANT,
                                    GPUOPT_ROW_LHS_REDUNDANT};
    double low[4] = {2 + tolerance, 2 + more, -INFINITY, -INFINITY},
           high[4] = {INFINITY, INFINITY, 1 - tolerance, 1 - more};
    const gpuopt_propagator_tolerances tolerances = {.struct_size = sizeof tolerances, .feasibility = tolerance};
    gpuopt_propagator_row_report report;
    gpuopt_propagator *p;
    uint8_t status[4];
    int i;
    desc.tolerances = &tolerances;
    desc.lhs = lhs;
    desc.rhs = rhs;
    gpuopt_desc_init(&report, sizeof report);
    report.status = status;
    p = problem_create(context, &desc);
    assert_int_equal(gpuopt_propagator_get_rows(p, GPUOPT_HOST, &report), GPUOPT_OK);
    for (i = 0; i < 4; i++) assert_int_equal(status[i], want[i]);
    gpuopt_propagator_destroy(p);
    desc.lhs = low;
    desc.rhs = high;
    p = problem_create(context, &desc);
    assert_int_equal(gpuopt_propagator_get_rows(p, GPUOPT_HOST, &report), GPUOPT_OK);
    for (i = 0; i < 4; i++) assert_int_equal(status[i] & GPUOPT_ROW_INFEASIBLE, i % 2 ? GPUOPT_ROW_INFEASIBLE : 0);
    gpuopt_propagator_destroy(p);
}

static mip four_rows(void) {
    static const double a[4] = {1, 1, 1, 1}, lhs[4] = {0, 0, 0, 0}, rhs[4] = {9, 9, 9, 9};
    return model_dense(4, 1, a, lhs, rhs, 1, 2, 0);
}
MODEL_VARIANTS_TEST(status_at_the_tolerance, four_rows())

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(crossing_seen_by_a_large_coefficient),
    cmocka_unit_test(all_orders_agree),
    cmocka_unit_test(large_coefficients_agree),
    cmocka_unit_test(fixed_columns_stay),
    cmocka_unit_test(bounds_that_met_stay_as_shown),
    cmocka_unit_test(status_at_the_tolerance),
};
TEST_MAIN(tests)
