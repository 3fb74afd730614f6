/* SPDX-License-Identifier: MIT */
#include <float.h>
#include <gmp.h>
#include <math.h>

#include "tests/simplex/exact.h"

static void add_product(mpq_t sum, mpq_t z, double value) {
    mpq_t term;
    mpq_init(term);
    mpq_set_d(term, value);
    mpq_mul(term, term, z);
    mpq_add(sum, sum, term);
    mpq_clear(term);
}

/* sum += (value + low) * by. */
static void add_twice(mpq_t sum, double value, double low, double by) {
    mpq_t factor;
    mpq_init(factor);
    mpq_set_d(factor, by);
    add_product(sum, factor, value);
    add_product(sum, factor, low);
    mpq_clear(factor);
}

/* The value of variable k at the point x + low: a column's, or of row k - cols of A. */
static void value_at(mpq_t value, const mip *model, int32_t k, const double *x, const double *low) {
    const gpuopt_matrix *m = &model->columns;
    int32_t j;
    int64_t e;
    mpq_set_ui(value, 0, 1);
    for (j = 0; j < m->cols; j++)
        for (e = m->start[j]; e < m->start[j + 1]; e++)
            if (m->cols + m->index[e] == k) add_twice(value, x[j], low[j], m->value[e]);
    if (k < m->cols) add_twice(value, x[k], low[k], 1);
}

static double lower_of(const mip *model, int32_t k) {
    return k < model->columns.cols ? model->lb[k] : model->lhs[k - model->columns.cols];
}

static double upper_of(const mip *model, int32_t k) {
    return k < model->columns.cols ? model->ub[k] : model->rhs[k - model->columns.cols];
}

/* At least 0, rounded once, so that 0 is 0. */
static double positive(mpq_t value) {
    double rounded = mpq_get_d(value);
    return mpq_sgn(value) <= 0 ? 0 : rounded > 0 ? rounded : DBL_TRUE_MIN;
}

/* Adds the least value of z x for x between two bounds. */
static void add_least(mpq_t sum, mpq_t z, double low, double high, double reach) {
    double at = mpq_sgn(z) > 0 ? low : high;
    if (mpq_sgn(z)) add_product(sum, z, fabs(at) < 1e20 ? at : at < 0 ? -reach : reach);
}

double exact_farkas_margin(const mip *model, const double *y, const double *low, double reach) {
    int32_t i, j;
    int64_t k;
    double margin;
    int refused = 0;
    mpq_t sum, z;
    mpq_inits(sum, z, NULL);
    for (j = 0; j < model->columns.cols; j++) {
        mpq_set_ui(z, 0, 1);
        for (k = model->columns.start[j]; k < model->columns.start[j + 1]; k++) {
            i = model->columns.index[k];
            add_twice(z, y[i], low ? low[i] : 0, model->columns.value[k]);
        }
        add_least(sum, z, model->lb[j], model->ub[j], reach);
    }
    for (i = 0; i < model->columns.rows; i++) {
        mpq_set_ui(z, 0, 1);
        add_twice(z, y[i], low ? low[i] : 0, -1);
        if (mpq_sgn(z) && fabs(mpq_sgn(z) > 0 ? model->lhs[i] : model->rhs[i]) >= 1e20) refused = 1;
        else add_least(sum, z, model->lhs[i], model->rhs[i], reach);
    }
    margin = refused ? -HUGE_VAL : mpq_get_d(sum);
    if (!refused && margin == 0) margin = mpq_sgn(sum) * DBL_TRUE_MIN;
    mpq_clears(sum, z, NULL);
    return margin;
}

/* ---- Rays ---- */

double exact_ray_gain(const mip *model, const double *ray, const double *low) {
    double gain;
    int32_t j;
    mpq_t sum;
    mpq_init(sum);
    for (j = 0; model->cost && j < model->columns.cols; j++)
        add_twice(sum, ray[j], low[j], model->maximize ? model->cost[j] : -model->cost[j]);
    gain = mpq_get_d(sum);
    mpq_clear(sum);
    return gain;
}

double exact_ray_wrong(const mip *model, const double *ray, const double *low) {
    double most = 0;
    int32_t k, cols = model->columns.cols;
    mpq_t move;
    mpq_init(move);
    for (k = 0; k < cols + model->columns.rows; k++) {
        value_at(move, model, k, ray, low);
        if (mpq_sgn(move) == 0 || (mpq_sgn(move) > 0 ? upper_of(model, k) >= 1e20 : lower_of(model, k) <= -1e20))
            continue;
        mpq_abs(move, move);
        most = fmax(most, k < cols ? HUGE_VAL : positive(move));
    }
    mpq_clear(move);
    return most;
}

/* ---- Optima ---- */

/* How far value is outside, in units of max(1, |bound|). */
static double outside(mpq_t value, double low, double high) {
    double beyond = 0;
    mpq_t gap;
    mpq_init(gap);
    if (low > -1e20) {
        mpq_set_d(gap, low);
        mpq_sub(gap, gap, value);
        beyond = positive(gap) / fmax(1, fabs(low));
    }
    if (high < 1e20) {
        mpq_set_d(gap, high);
        mpq_sub(gap, value, gap);
        beyond = fmax(beyond, positive(gap) / fmax(1, fabs(high)));
    }
    mpq_clear(gap);
    return beyond;
}

double exact_primal_reached(const mip *model, const double *x, const double *low) {
    double most = 0;
    int32_t k;
    mpq_t value;
    mpq_init(value);
    for (k = 0; k < model->columns.cols + model->columns.rows; k++) {
        value_at(value, model, k, x, low);
        most = fmax(most, outside(value, lower_of(model, k), upper_of(model, k)));
    }
    mpq_clear(value);
    return most;
}

/* Of a minimisation: at a lower bound it is at least 0. */
static double wrong(mpq_t reduced, uint8_t status, double low, double high) {
    if (low == high) return 0;
    if ((status == GPUOPT_VARIABLE_AT_LOWER && mpq_sgn(reduced) > 0) ||
        (status == GPUOPT_VARIABLE_AT_UPPER && mpq_sgn(reduced) < 0))
        return 0;
    mpq_abs(reduced, reduced);
    return positive(reduced);
}

double exact_dual_reached(const mip *model, const double *y, const double *low, const uint8_t *basis) {
    double most = 0, sign = model->maximize ? -1 : 1;
    int32_t i, j, cols = model->columns.cols;
    int64_t k;
    mpq_t reduced;
    mpq_init(reduced);
    for (j = 0; j < cols; j++) {
        double cost = model->cost ? model->cost[j] : 0;
        mpq_set_d(reduced, sign * cost);
        for (k = model->columns.start[j]; k < model->columns.start[j + 1]; k++) {
            i = model->columns.index[k];
            add_twice(reduced, y[i], low[i], -sign * model->columns.value[k]);
        }
        most = fmax(most, wrong(reduced, basis[j], model->lb[j], model->ub[j]) / fmax(1, fabs(cost)));
    }
    for (i = 0; i < model->columns.rows; i++) {
        mpq_set_ui(reduced, 0, 1);
        add_twice(reduced, y[i], low[i], sign);
        most = fmax(most, wrong(reduced, basis[cols + i], model->lhs[i], model->rhs[i]));
    }
    mpq_clear(reduced);
    return most;
}
