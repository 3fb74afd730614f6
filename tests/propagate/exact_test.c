/* SPDX-License-Identifier: MIT
 *
 * One round on rows of random magnitudes, signs, infinities and cancellations, against exact rational arithmetic (GMP).
 * Each bound must agree with the exact one within the least change, relative to its size. It may be looser only if the
 * exact residual is too small, relative to its terms, for twice the double precision.
 */
#include <gmp.h>
#include <math.h>
#include <stdlib.h>

#include "tests/propagate/problem.h"

enum { COLS = 12, TRIALS = 20000 };

static const double infinite = 1e20;

/* A small integer, a decimal, a power of ten of a wide range, or a number next to 1e9. */
static double draw(uint64_t *seed, int wide) {
    double sign = test_random_int(seed, 0, 1) ? 1 : -1;
    switch (test_random_int(seed, 0, wide ? 4 : 1)) {
    case 0: return sign * (double)test_random_int(seed, 1, 9);
    case 1: return sign * (double)test_random_int(seed, 1, 999) / 1000;
    case 2: return sign * pow(10, (double)test_random_int(seed, -8, 17));
    case 3: return sign * (1e9 + (double)test_random_int(seed, 0, 3));
    default: return sign * (double)test_random_int(seed, 1, 1000000) * pow(10, (double)test_random_int(seed, -3, 8));
    }
}

static mip draw_row(uint64_t *seed, int wide) {
    mip m = problem_new(COLS, 1, COLS);
    int used = (int)test_random_int(seed, 1, COLS), j;
    double lhs = -infinite, rhs = infinite;
    for (j = 0; j < COLS; j++) {
        double a = draw(seed, wide), b = draw(seed, wide), low = fmin(a, b), high = fmax(a, b);
        int kind = (int)test_random_int(seed, 0, 9);
        if (kind == 0) low = -infinite;
        if (kind == 1) high = infinite;
        if (kind == 2) low = -infinite, high = infinite;
        if (kind <= 4 && kind >= 3) high = low; /* fixed, so that large terms may cancel */
        problem_col(&m, j, low, high,
                    test_random_int(seed, 0, 3) == 0 && kind > 4 && floor(low) == low && floor(high) == high);
    }
    switch (test_random_int(seed, 0, 3)) {
    case 0: lhs = draw(seed, wide); break;
    case 1: lhs = rhs = draw(seed, wide); break;
    default: rhs = draw(seed, wide); break;
    }
    problem_row(&m, lhs, rhs);
    for (j = 0; j < used; j++)
        problem_entry(&m, j, j > 0 && test_random_int(seed, 0, 4) == 0 ? -m.matrix.value[j - 1] : draw(seed, wide));
    return m;
}

/* The sum of the least (sign > 0) or greatest terms of all columns but `skip`, and the sum of their magnitudes. Returns
 * the count of infinite terms. */
static int exact_sum(const mip *m, int skip, int sign, mpq_t sum, mpq_t magnitude) {
    int infinities = 0;
    mpq_t a, b;
    int64_t k;
    mpq_inits(a, b, NULL);
    mpq_set_ui(sum, 0, 1);
    mpq_set_ui(magnitude, 0, 1);
    for (k = 0; k < m->matrix.start[1]; k++) {
        int j = m->matrix.index[k];
        double bound = (m->matrix.value[k] > 0) == (sign > 0) ? m->lb[j] : m->ub[j];
        if (j == skip) continue;
        if (fabs(bound) >= infinite) {
            infinities++;
            continue;
        }
        mpq_set_d(a, m->matrix.value[k]);
        mpq_set_d(b, bound);
        mpq_mul(a, a, b);
        mpq_add(sum, sum, a);
        mpq_abs(a, a);
        mpq_add(magnitude, magnitude, a);
    }
    mpq_clears(a, b, NULL);
    return infinities;
}

/* (side - sum) / a, rounded to double; *error: its error if the terms have relative errors of 2^-100. */
static double exact_candidate(double side, mpq_t sum, mpq_t magnitude, double a, double *error) {
    mpq_t x, y;
    double candidate;
    mpq_inits(x, y, NULL);
    mpq_set_d(x, side);
    mpq_sub(x, x, sum);
    mpq_set_d(y, a);
    mpq_div(x, x, y);
    candidate = mpq_get_d(x);
    mpq_div(x, magnitude, y);
    *error = fabs(mpq_get_d(x)) * 0x1p-100;
    mpq_clears(x, y, NULL);
    return candidate;
}

static void print_row(const mip *m, int trial) {
    int64_t k;
    printf("trial %d: row in [%.17g, %.17g]\n", trial, m->lhs[0], m->rhs[0]);
    for (k = 0; k < m->matrix.start[1]; k++) {
        int j = m->matrix.index[k];
        printf("%+.17g x%d in [%.17g, %.17g]%s\n", m->matrix.value[k], j, m->lb[j], m->ub[j],
               m->integer[j] ? " integer" : "");
    }
}

static void check_row(const mip *m, const double *lb, const double *ub, const gpuopt_propagator_info *info, int trial) {
    mpq_t min, max, size;
    double want_lb[COLS], want_ub[COLS], excess;
    int unsure[COLS] = {0}, j, infeasible = 0, near = 0;
    int64_t k;
    mpq_inits(min, max, size, NULL);
    if (exact_sum(m, -1, 1, min, size) == 0 && m->rhs[0] < infinite) {
        excess = -exact_candidate(m->rhs[0], min, size, 1, &want_lb[0]);
        infeasible |= excess > 1e-6;
        near |= excess > 0.9e-6 && excess < 1e-6 + 1e-13 * mpq_get_d(size) + 1e-13 * fabs(m->rhs[0]);
    }
    if (exact_sum(m, -1, -1, max, size) == 0 && m->lhs[0] > -infinite) {
        excess = exact_candidate(m->lhs[0], max, size, 1, &want_lb[0]);
        infeasible |= excess > 1e-6;
        near |= excess > 0.9e-6 && excess < 1e-6 + 1e-13 * mpq_get_d(size) + 1e-13 * fabs(m->lhs[0]);
    }
    for (j = 0; j < COLS; j++) want_lb[j] = m->lb[j], want_ub[j] = m->ub[j];
    for (k = 0; k < m->matrix.start[1] && !infeasible; k++) {
        double a = m->matrix.value[k], c, error;
        int upper, side;
        j = m->matrix.index[k];
        for (side = 0; side < 2; side++) {
            if (side == 0 ? m->rhs[0] >= infinite : m->lhs[0] <= -infinite) continue;
            if (exact_sum(m, j, side == 0 ? 1 : -1, min, size)) continue;
            c = exact_candidate(side == 0 ? m->rhs[0] : m->lhs[0], min, size, a, &error);
            if (fabs(c) >= infinite) continue;
            unsure[j] |= error > 1e-12 * fmax(1, fabs(c)) || fabs(c) > 0.999 * infinite;
            upper = (a > 0) == (side == 0);
            if (upper && m->lb[j] > -infinite && c < m->lb[j]) c = m->lb[j]; /* within the row's tolerance, see above */
            if (!upper && m->ub[j] < infinite && c > m->ub[j]) c = m->ub[j];
            if (m->integer[j]) {
                double near_integer = c - floor(c);
                if (fabs(near_integer - 1e-6) < 1e-8 || fabs(near_integer - (1 - 1e-6)) < 1e-8 || fabs(c) > 1e8)
                    unsure[j] = 1;
                c = upper ? floor(c + 1e-6) : ceil(c - 1e-6);
            }
            if (upper && c < want_ub[j]) want_ub[j] = c;
            if (!upper && c > want_lb[j]) want_lb[j] = c;
        }
    }
    for (j = 0; j < COLS && !infeasible; j++) {
        infeasible |= want_lb[j] > want_ub[j] + 1e-6; /* the sides, or rounding an integer column, leave no value */
        near |= unsure[j];
    }
    if (!near && (info->outcome == GPUOPT_INFEASIBLE) != infeasible) {
        print_row(m, trial);
        fail_msg("trial %d: outcome %s, exactly %s", trial, gpuopt_outcome_string(info->outcome),
                 infeasible ? "infeasible" : "not");
    }
    for (j = 0; j < COLS && !infeasible && !near; j++) {
        double lb_scale = fmax(1, fabs(want_lb[j])), ub_scale = fmax(1, fabs(want_ub[j]));
        int ub_valid = want_ub[j] >= infinite ? ub[j] > 0.999 * infinite : ub[j] >= want_ub[j] - 2e-9 * ub_scale;
        int lb_valid = want_lb[j] <= -infinite ? lb[j] < -0.999 * infinite : lb[j] <= want_lb[j] + 2e-9 * lb_scale;
        int tight = (want_ub[j] >= infinite || ub[j] <= want_ub[j] + 2e-9 * ub_scale) &&
                    (want_lb[j] <= -infinite || lb[j] >= want_lb[j] - 2e-9 * lb_scale);
        if (ub_valid && lb_valid && (tight || unsure[j])) continue;
        print_row(m, trial);
        fail_msg("trial %d: column %d in [%.17g, %.17g], exactly [%.17g, %.17g]", trial, j, lb[j], ub[j], want_lb[j],
                 want_ub[j]);
    }
    mpq_clears(min, max, size, NULL);
}

static void run_trials(int wide) {
    gpuopt_context *context = test_context(NULL);
    uint64_t seed = 20 + (uint64_t)wide;
    size_t variants;
    const problem_variant *variant = problem_variants(&variants);
    const int trials = test_emulated() ? TRIALS / 8 : TRIALS;
    int trial;
    for (trial = 0; trial < trials; trial++) {
        mip m = draw_row(&seed, wide);
        gpuopt_propagator_desc desc = mip_propagator_desc(&m);
        gpuopt_propagator_info info;
        double lb[COLS], ub[COLS];
        problem_apply(&variant[(size_t)trial % variants], &desc);
        if (desc.mode == GPUOPT_MODE_GAUSS_SEIDEL)
            desc.mode = GPUOPT_MODE_JACOBI; /* a sweep may evaluate the only row again */
        info = problem_run(context, &desc, 1, lb, ub);
        check_row(&m, lb, ub, &info, trial);
        mip_free(&m);
    }
    gpuopt_context_destroy(context);
}

static void ordinary_rows(void **state) {
    (void)state;
    run_trials(0);
}

static void rows_of_all_magnitudes(void **state) {
    (void)state;
    run_trials(1);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(ordinary_rows),
    cmocka_unit_test(rows_of_all_magnitudes),
};
TEST_MAIN(tests)
