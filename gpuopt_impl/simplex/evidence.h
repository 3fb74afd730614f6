/* SPDX-License-Identifier: MIT
 *
 * What the host can check on its own data: violations of x and of the duals, the Farkas vector, the ray. Scales are
 * powers of two, so that scaled numbers times scales are the host's numbers.
 */
#ifndef GPUOPT_IMPL_SIMPLEX_EVIDENCE_H
#define GPUOPT_IMPL_SIMPLEX_EVIDENCE_H

#include "model.h"

/* The host's x, row activity, reduced cost and dual of a minimisation, from the scaled ones. */
static double gpuopt__simplex_unscaled_x(const gpuopt_simplex *s, int32_t col, double x) {
    return x * (s->lp.col_scale[col] / s->primal_scale);
}

/* ... A x = -(s + residual), the latter being -(A x + s). */
static double gpuopt__simplex_unscaled_activity(const gpuopt_simplex *s, int32_t row, double logical, double residual) {
    return -(logical + residual) / (s->lp.row_scale[row] * s->primal_scale);
}

static double gpuopt__simplex_unscaled_reduced_cost(const gpuopt_simplex *s, int32_t col, double d) {
    return d / (s->lp.col_scale[col] * s->cost_scale);
}

static double gpuopt__simplex_unscaled_dual(const gpuopt_simplex *s, int32_t row, double y) {
    return y * (s->lp.row_scale[row] / s->cost_scale);
}

static double gpuopt__simplex_beyond(double x, double l, double u) { return gpuopt__max(0, gpuopt__max(l - x, x - u)); }

/* How far column or row `variable`, at its value in x, is out of its true bounds, in the host's units. */
static double gpuopt__simplex_outside(const gpuopt_simplex *s, int32_t variable) {
    int32_t i = variable - s->lp.cols;
    double beyond;
    if (i < 0) {
        beyond = gpuopt__simplex_beyond(s->x[variable], s->lower[variable], s->upper[variable]);
        return gpuopt__simplex_unscaled_x(s, variable, beyond);
    }
    beyond = gpuopt__simplex_beyond(s->x[variable] + s->residual[i], s->lower[variable], s->upper[variable]);
    return beyond / (s->lp.row_scale[i] * s->primal_scale);
}

/* Right after a refresh. Reduced costs of the phase that it is in; those of phase 1 say nothing about the host's. */
static void gpuopt__simplex_violations(gpuopt_simplex *s) {
    int32_t j, rows = s->lp.rows, cols = s->lp.cols;
    s->primal_violation = s->dual_violation = 0;
    for (j = 0; j < cols + rows; j++) {
        double d = s->reduced[j], wrong;
        s->primal_violation = gpuopt__max(s->primal_violation, gpuopt__simplex_outside(s, j));
        if (s->lower[j] == s->upper[j]) continue;
        wrong = s->status[j] == GPUOPT_VARIABLE_AT_LOWER   ? gpuopt__max(0, -d)
                : s->status[j] == GPUOPT_VARIABLE_AT_UPPER ? gpuopt__max(0, d)
                                                           : fabs(d);
        wrong = j < cols ? gpuopt__simplex_unscaled_reduced_cost(s, j, wrong)
                         : gpuopt__simplex_unscaled_dual(s, j - cols, wrong);
        s->dual_violation = gpuopt__max(s->dual_violation, wrong);
    }
    if (s->phase == 1) s->dual_violation = -1;
}

/* Objective of x in the host's sense, and the sum of infeasibilities. */
static void gpuopt__simplex_objective(const gpuopt_simplex *s, double *objective, double *infeasibility) {
    double hi = 0, lo = 0, scale = s->cost_scale * s->primal_scale;
    int32_t j, rows = s->lp.rows, cols = s->lp.cols;
    *infeasibility = 0;
    for (j = 0; j < cols; j++) {
        double product = s->cost[j] * s->x[j];
        gpuopt__accumulate(&hi, &lo, product, gpuopt__mul_error(s->cost[j], s->x[j], product));
    }
    for (j = 0; j < cols + rows; j++) *infeasibility += gpuopt__simplex_outside(s, j);
    hi = hi / scale, lo = lo / scale;
    if (s->desc.maximize) hi = -hi, lo = -lo;
    gpuopt__accumulate(&hi, &lo, s->desc.offset, 0);
    *objective = hi + lo;
}

/* ---- Farkas ---- */

/* From the duals of phase 1, y'(A x + s) = 0 for every x: the sum over all variables of their entries z of [A I]'y
 * times their values is 0. At the end of phase 1 those that are too large or at an upper bound have z >= 0, those that
 * are too small or at a lower bound z <= 0, so that within the bounds the sum is negative: minus y is the proof. Terms
 * that would have to be infinite are rounding, and left out. */
static void gpuopt__simplex_farkas(gpuopt_simplex *s) {
    const gpuopt__simplex_lp *lp = &s->lp;
    double size = 0, largest = 0, most = 0, residual = 0; /* max |y_i a_ij|, max |y_i|: of the host's */
    int32_t i, j;
    for (i = 0; i < lp->rows; i++) {
        double y = fabs(s->y[i]) * lp->row_scale[i];
        largest = gpuopt__max(largest, y);
        size = gpuopt__max(size, y * s->row_largest[i]);
    }
    if (largest == 0) largest = 1;
    if (size == 0) size = largest;
    for (j = 0; j < lp->cols + lp->rows; j++) {
        int row = j >= lp->cols; /* basic columns have the phase's cost: take it out of the reduced cost again */
        double z = row ? s->y[j - lp->cols] : s->phase_cost[j] - s->reduced[j];
        double bound = z > 0 ? s->upper[j] : s->lower[j];
        if (z == 0) continue;
        if (fabs(bound) < HUGE_VAL) most += z * bound;
        else if (row) residual = gpuopt__max(residual, fabs(z) * s->lp.row_scale[j - lp->cols] / largest);
        else residual = gpuopt__max(residual, fabs(z) / s->lp.col_scale[j] / size);
    }
    for (i = 0; i < lp->rows; i++) s->farkas[i] = s->y[i] == 0 ? 0 : -s->y[i] * s->lp.row_scale[i] / largest;
    s->margin = -most / s->primal_scale / size;
    s->certificate_residual = residual;
}

/* ---- Ray ---- */

/* direction: scaled, [cols + rows]. */
static void gpuopt__simplex_ray(gpuopt_simplex *s, const double *direction) {
    int32_t i, j, rows = s->lp.rows, cols = s->lp.cols;
    double largest = 0, gain = 0;
    for (j = 0; j < cols; j++) {
        s->ray[j] = direction[j] * s->lp.col_scale[j];
        largest = gpuopt__max(largest, fabs(s->ray[j]));
    }
    s->certificate_residual = 0;
    for (j = 0; j < cols + rows; j++) {
        double move = direction[j], wrong = 0;
        if (j >= cols) move += s->residual[j - cols];
        if (move > 0 && s->upper[j] < HUGE_VAL) wrong = move;
        if (move < 0 && s->lower[j] > -HUGE_VAL) wrong = -move;
        wrong = j < cols ? wrong * s->lp.col_scale[j] : wrong / s->lp.row_scale[j - cols];
        s->certificate_residual = gpuopt__max(s->certificate_residual, wrong / largest);
    }
    for (j = 0; j < cols; j++) {
        gain -= s->cost[j] * direction[j];
        s->ray[j] /= largest;
    }
    for (i = 0; i < cols; i++)
        if (s->ray[i] == 0) s->ray[i] = 0; /* no -0 */
    s->margin = gain / s->cost_scale / largest;
}

#endif /* GPUOPT_IMPL_SIMPLEX_EVIDENCE_H */
