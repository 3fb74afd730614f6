/* SPDX-License-Identifier: MIT
 *
 * Violations of x and of the duals that callers can check on their own data. Scales are powers of two, so unscaling is
 * exact. The present point is x + x_low, and y + y_low, in twice the working precision.
 */
#ifndef GPUOPT_IMPL_SIMPLEX_REBUILD_CERTIFICATE_MARGINS_H
#define GPUOPT_IMPL_SIMPLEX_REBUILD_CERTIFICATE_MARGINS_H

#include "../model/handle.h"

/* From scaled numbers to the caller's x, row activity, reduced cost and dual (of a minimisation). */
static double gpuopt__simplex_unscaled_x(const gpuopt_simplex *s, int32_t col, double x) {
    return x * (s->lp.col_scale[col] / s->primal_scale);
}

static double gpuopt__simplex_unscaled_row(const gpuopt_simplex *s, int32_t row, double activity) {
    return activity / (s->lp.row_scale[row] * s->primal_scale);
}

/* A x = -(s + residual), since residual = -(A x + s). */
static double gpuopt__simplex_unscaled_activity(const gpuopt_simplex *s, int32_t row, double logical, double residual) {
    return -gpuopt__simplex_unscaled_row(s, row, logical + residual);
}

static double gpuopt__simplex_unscaled_reduced_cost(const gpuopt_simplex *s, int32_t col, double d) {
    return d / (s->lp.col_scale[col] * s->cost_scale);
}

static double gpuopt__simplex_unscaled_dual(const gpuopt_simplex *s, int32_t row, double y) {
    return y * (s->lp.row_scale[row] / s->cost_scale);
}

static double gpuopt__simplex_unscaled_value(const gpuopt_simplex *s, int32_t variable, double value) {
    int32_t row = variable - s->lp.cols;
    return row < 0 ? gpuopt__simplex_unscaled_x(s, variable, value) : gpuopt__simplex_unscaled_row(s, row, value);
}

/* ---- Violations ---- */

/* How far x + low is below l or above u; 0 if between. */
static double gpuopt__simplex_beyond(double x, double low, double l, double u) {
    return gpuopt__max(0, gpuopt__max((l - x) - low, (x - u) + low));
}

/* How far a variable is outside its true bounds, in the caller's units: the rounded x of a column, or a row's activity
 * at the rounded x. */
static double gpuopt__simplex_outside(const gpuopt_simplex *s, int32_t variable) {
    double low = variable < s->lp.cols ? 0 : s->residual[variable - s->lp.cols];
    double beyond = gpuopt__simplex_beyond(s->x[variable], low, s->lower[variable], s->upper[variable]);
    return gpuopt__simplex_unscaled_value(s, variable, beyond);
}

/* The tolerance that a variable's bounds need at x + x_low, or at the row's activity there: the violation in units of
 * max(1, |bound|). */
static double gpuopt__simplex_primal_reached(const gpuopt_simplex *s, int32_t variable) {
    double x = s->x[variable], low = s->x_low[variable], l = s->lower[variable], u = s->upper[variable], beyond, bound;
    if (variable >= s->lp.cols) low += s->gap[variable - s->lp.cols];
    beyond = gpuopt__simplex_beyond(x, low, l, u);
    if (beyond == 0) return 0;
    bound = fabs(gpuopt__simplex_unscaled_value(s, variable, x < l || (x == l && low < 0) ? l : u));
    return gpuopt__simplex_unscaled_value(s, variable, beyond) / gpuopt__max(1, bound);
}

/* Call right after a rebuild. The reduced costs belong to the present phase, so in phase 1 they are unrelated to the
 * caller's objective. */
static void gpuopt__simplex_violations(gpuopt_simplex *s) {
    int32_t j, rows = s->lp.rows, cols = s->lp.cols;
    s->found.primal_violation = s->found.dual_violation = s->found.primal_reached = s->found.dual_reached = 0;
    s->refining.least_unit = 1;
    for (j = 0; j < cols + rows; j++) {
        double d = s->reduced[j], wrong, unit = 1;
        s->found.primal_violation = gpuopt__max(s->found.primal_violation, gpuopt__simplex_outside(s, j));
        s->found.primal_reached = gpuopt__max(s->found.primal_reached, gpuopt__simplex_primal_reached(s, j));
        if (s->lower[j] == s->upper[j]) continue;
        wrong = s->status[j] == GPUOPT_VARIABLE_AT_LOWER   ? gpuopt__max(0, -d)
                : s->status[j] == GPUOPT_VARIABLE_AT_UPPER ? gpuopt__max(0, d)
                                                           : fabs(d);
        if (j < cols) {
            unit = gpuopt__max(1, fabs(gpuopt__simplex_unscaled_reduced_cost(s, j, s->cost[j])));
            wrong = gpuopt__simplex_unscaled_reduced_cost(s, j, wrong);
            s->refining.least_unit =
                gpuopt__min(s->refining.least_unit, unit / gpuopt__simplex_unscaled_reduced_cost(s, j, 1));
        } else {
            wrong = gpuopt__simplex_unscaled_dual(s, j - cols, wrong);
            s->refining.least_unit =
                gpuopt__min(s->refining.least_unit, 1 / gpuopt__simplex_unscaled_dual(s, j - cols, 1));
        }
        s->found.dual_violation = gpuopt__max(s->found.dual_violation, wrong);
        s->found.dual_reached = gpuopt__max(s->found.dual_reached, wrong / unit);
    }
    if (s->phase == 1) s->found.dual_violation = s->found.dual_reached = -1;
}

/* The caller's objective, from the objective of the scaled minimisation without offset. */
static double gpuopt__simplex_caller_objective(const gpuopt_simplex *s, gpuopt__simplex_sum sum) {
    double scale = s->cost_scale * s->primal_scale;
    if (s->desc.maximize) scale = -scale;
    sum.hi /= scale, sum.lo /= scale;
    gpuopt__simplex_add(&sum, s->desc.offset, 0, 0);
    return gpuopt__simplex_total(&sum);
}

/* The caller's objective of x + x_low, and the sum of infeasibilities. */
static void gpuopt__simplex_objective(const gpuopt_simplex *s, double *objective, double *infeasibility) {
    gpuopt__simplex_sum sum = {0, 0, 0};
    int32_t j, rows = s->lp.rows, cols = s->lp.cols;
    *infeasibility = 0;
    for (j = 0; j < cols; j++) gpuopt__simplex_add_product(&sum, s->cost[j], s->x[j], s->x_low[j]);
    for (j = 0; j < cols + rows; j++) *infeasibility += gpuopt__simplex_outside(s, j);
    *objective = gpuopt__simplex_caller_objective(s, sum);
}

#endif /* GPUOPT_IMPL_SIMPLEX_REBUILD_CERTIFICATE_MARGINS_H */
