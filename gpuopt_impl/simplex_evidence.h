/* SPDX-License-Identifier: MIT
 *
 * What the host can check on its own data: violations of x and of the duals, the Farkas vector, the ray. Scales are
 * powers of two, so that scaled numbers times scales are the host's numbers.
 */
#ifndef GPUOPT_IMPL_SIMPLEX_EVIDENCE_H
#define GPUOPT_IMPL_SIMPLEX_EVIDENCE_H

#include "simplex_model.h"

/* The host's x, row activity, reduced cost and dual of a minimisation, from the scaled ones. */
static double gpuopt__unscaled_x(const gpuopt_simplex *s, int32_t col, double x) {
    return x * (s->col_scale[col] / s->primal_scale);
}

/* ... A x = -(s + residual), the latter being -(A x + s). */
static double gpuopt__unscaled_activity(const gpuopt_simplex *s, int32_t row, double logical, double residual) {
    return -(logical + residual) / (s->row_scale[row] * s->primal_scale);
}

static double gpuopt__unscaled_reduced_cost(const gpuopt_simplex *s, int32_t col, double d) {
    return d / (s->col_scale[col] * s->cost_scale);
}

static double gpuopt__unscaled_dual(const gpuopt_simplex *s, int32_t row, double y) {
    return y * (s->row_scale[row] / s->cost_scale);
}

static double gpuopt__beyond(double x, double l, double u) { return gpuopt__max(0, gpuopt__max(l - x, x - u)); }

/* How far column or row `variable`, at its value in x, is out of its true bounds, in the host's units. */
static double gpuopt__simplex_outside(const gpuopt_simplex *s, int32_t variable) {
    int32_t i = variable - s->lp.cols;
    double beyond;
    if (i < 0) {
        beyond = gpuopt__beyond(s->x[variable], s->lower[variable], s->upper[variable]);
        return gpuopt__unscaled_x(s, variable, beyond);
    }
    beyond = gpuopt__beyond(s->x[variable] + s->residual[i], s->lower[variable], s->upper[variable]);
    return beyond / (s->row_scale[i] * s->primal_scale);
}

/* Right after a refresh. Reduced costs of the phase that it is in; those of phase 1 say nothing about the host's. */
static void gpuopt__simplex_violations(gpuopt_simplex *s) {
    int32_t j, rows = s->lp.rows, cols = s->lp.cols;
    s->primal_violation = s->dual_violation = 0;
    for (j = 0; j < cols + rows; j++) {
        double d = s->reduced[j], wrong;
        s->primal_violation = gpuopt__max(s->primal_violation, gpuopt__simplex_outside(s, j));
        if (s->lower[j] == s->upper[j]) continue;
        wrong = s->status[j] == GPUOPT_AT_LOWER   ? gpuopt__max(0, -d)
                : s->status[j] == GPUOPT_AT_UPPER ? gpuopt__max(0, d)
                                                  : fabs(d);
        wrong = j < cols ? gpuopt__unscaled_reduced_cost(s, j, wrong) : gpuopt__unscaled_dual(s, j - cols, wrong);
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

/* The range of sum z_j x_j over the bounds, and the largest |z_j| of those terms that would have to be infinite: they are
 * left out, being rounding. */
typedef struct gpuopt__range {
    double least, most, least_residual, most_residual;
} gpuopt__range;

static void gpuopt__range_add(gpuopt__range *range, double z, double l, double u) {
    double low = z > 0 ? l : u, high = z > 0 ? u : l;
    if (z == 0) return;
    if (fabs(low) < HUGE_VAL) range->least += z * low;
    else range->least_residual = gpuopt__max(range->least_residual, fabs(z));
    if (fabs(high) < HUGE_VAL) range->most += z * high;
    else range->most_residual = gpuopt__max(range->most_residual, fabs(z));
}

/* From the duals of phase 1, y'(A x + s) = 0 for every x: the sum over all variables of their reduced costs times their
 * values, which are those of the rows of [A I]'y, cannot be 0 within the bounds. Sign as gpuopt.h defines it. */
static void gpuopt__simplex_farkas(gpuopt_simplex *s) {
    gpuopt__range range = {0, 0, 0, 0};
    int32_t i, j, rows = s->lp.rows, cols = s->lp.cols;
    double largest = 0, sign, gap, residual;
    for (j = 0; j < cols; j++) { /* basic columns have the phase's cost: take it out of the reduced cost again */
        double z = s->phase_cost[j] - s->reduced[j];
        gpuopt__range_add(&range, z, s->lower[j], s->upper[j]);
    }
    for (i = 0; i < rows; i++) gpuopt__range_add(&range, s->y[i], s->lower[cols + i], s->upper[cols + i]);
    gap = gpuopt__max(range.least, -range.most);
    sign = range.least >= -range.most ? 1 : -1;
    residual = sign > 0 ? range.least_residual : range.most_residual;
    for (i = 0; i < rows; i++) largest = gpuopt__max(largest, fabs(s->y[i]));
    if (largest == 0) largest = 1;
    for (i = 0; i < rows; i++) s->farkas[i] = sign * s->y[i] / largest * s->row_scale[i];
    s->margin = gap / largest / s->primal_scale;
    s->certificate_residual = residual / largest;
}

/* ---- Ray ---- */

/* direction: scaled, [cols + rows]. */
static void gpuopt__simplex_ray(gpuopt_simplex *s, const double *direction) {
    int32_t i, j, rows = s->lp.rows, cols = s->lp.cols;
    double largest = 0, gain = 0;
    for (j = 0; j < cols; j++) {
        s->ray[j] = direction[j] * s->col_scale[j];
        largest = gpuopt__max(largest, fabs(s->ray[j]));
    }
    s->certificate_residual = 0;
    for (j = 0; j < cols + rows; j++) {
        double move = direction[j], wrong = 0;
        if (j >= cols) move += s->residual[j - cols];
        if (move > 0 && s->upper[j] < HUGE_VAL) wrong = move;
        if (move < 0 && s->lower[j] > -HUGE_VAL) wrong = -move;
        wrong = j < cols ? wrong * s->col_scale[j] : wrong / s->row_scale[j - cols];
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
