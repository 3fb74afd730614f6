/* SPDX-License-Identifier: MIT
 *
 * Proofs of INFEASIBLE and UNBOUNDED. Every sum is computed in twice the working precision, with a bound on its error.
 * A proof counts only if it holds for all errors within these bounds. An infinite bound of a column counts as 1e24, so
 * a coefficient that is 0 up to rounding is an ordinary term and leaves no gap.
 */
#ifndef GPUOPT_IMPL_SIMPLEX_VERDICT_PROOF_H
#define GPUOPT_IMPL_SIMPLEX_VERDICT_PROOF_H

#include "../rebuild/point.h"

static int64_t gpuopt__simplex_terms(const gpuopt_simplex *s, int32_t variable) {
    int32_t row = variable - s->lp.cols;
    return row < 0 ? s->pattern.col_start[variable + 1] - s->pattern.col_start[variable]
                   : s->pattern.row_start[row + 1] - s->pattern.row_start[row];
}

/* No model in doubles is meant to have solutions with columns of this size. */
#define GPUOPT__SIMPLEX_REACH 1e24
/* An objective of this size is as good as unbounded. */
#define GPUOPT__SIMPLEX_FAR 1e18

/* The same bound for the scaled column. */
static double gpuopt__simplex_reach(const gpuopt_simplex *s, int32_t col) {
    return GPUOPT__SIMPLEX_REACH / gpuopt__simplex_unscaled_x(s, col, 1);
}

/* The power of two that scales x > 0 to between 1 and 2. */
static double gpuopt__simplex_to_unit(double x) {
    int exponent;
    frexp(x, &exponent);
    return ldexp(1.0, 1 - exponent);
}

/* ---- INFEASIBLE ---- */

/* With z = [A I]'y the sum of z_j times the value of variable j is y'(A x + s) = 0 for every x. Let b be the point with
 * each variable at its upper bound if z_j > 0, else at its lower bound. The sum is largest at b, within the bounds. If
 * its value at b is negative, y is a proof.
 *
 * If the sign of z_j is uncertain, or the bound infinite, b has the variable anywhere. The most that it could add is
 * then added to `slack`, and `slack` to the value. The value at b is summed in two ways: y'([A I]b) is good if few z_j
 * are 0, and z'b if many are. farkas + farkas_low is y, scaled. */

/* Chooses b by z, of a reduction with costs 0. *direct: z'b; *off: a bound on the error of z'b. */
static void gpuopt__simplex_farkas_point(gpuopt_simplex *s, const double *z, double *b, double *slack,
                                         gpuopt__simplex_sum *direct, double *off) {
    int32_t j, rows = s->lp.rows, cols = s->lp.cols;
    for (j = 0; j < cols + rows; j++) {
        double up = -z[j], bound = up > 0 ? s->upper[j] : s->lower[j], l = s->lower[j], u = s->upper[j];
        double error = j < cols ? gpuopt__simplex_error(up, s->error_sum[j], gpuopt__simplex_terms(s, j)) : 0;
        if (fabs(bound) < HUGE_VAL && fabs(up) > error) b[j] = bound;
        else {
            b[j] = fabs(l) < HUGE_VAL ? l : fabs(u) < HUGE_VAL ? u : 0;
            if (j < cols && (l == -HUGE_VAL || u == HUGE_VAL))
                s->found.certificate_residual =
                    gpuopt__max(s->found.certificate_residual, fabs(up) / s->lp.col_scale[j]);
            if (j < cols) {
                l = gpuopt__max(l, -gpuopt__simplex_reach(s, j)), u = gpuopt__min(u, gpuopt__simplex_reach(s, j));
                *slack += (fabs(up) + error) * gpuopt__max(u - b[j], b[j] - l);
            }
        }
        if (j < cols) gpuopt__simplex_add_product(direct, b[j], up, 0);
        else gpuopt__simplex_add_product(direct, b[j], s->farkas[j - cols], s->farkas_low[j - cols]);
        *off += error * fabs(b[j]);
    }
}

/* An upper bound on the sum and its error. */
static double gpuopt__simplex_at_most(const gpuopt__simplex_sum *sum, double off, int64_t terms) {
    double total = gpuopt__simplex_total(sum);
    off += gpuopt__simplex_error(total, sum->error_sum, terms);
    return total + (off + fabs(total) * 0x1p-53) * (1 + 0x1p-20); /* this sum is also rounded */
}

/* *most: an upper bound on the largest value. */
static gpuopt_status gpuopt__simplex_farkas_most(gpuopt_simplex *s, double *most) {
    const gpuopt__simplex_backend *backend = gpuopt__simplex_backend_of(s);
    double *z = s->scratch, *b = s->scratch_low, *y = s->farkas, *low = s->farkas_low, slack = 0, off = 0;
    gpuopt__simplex_sum sum = {0, 0, 0}, direct = {0, 0, 0};
    int32_t i, rows = s->lp.rows, cols = s->lp.cols;
    gpuopt_status status;
    for (i = 0; i < rows; i++) /* no multiplier for infinite sides */
        if (fabs(y[i] > 0 ? s->upper[cols + i] : s->lower[cols + i]) == HUGE_VAL) y[i] = low[i] = 0;
    memset(b, 0, sizeof(double) * ((size_t)rows + (size_t)cols));
    status = backend->reduce(s->engine, b, y, low, z, s->error_sum);
    if (status) return status;
    s->found.certificate_residual = 0;
    gpuopt__simplex_farkas_point(s, z, b, &slack, &direct, &off);
    *most = gpuopt__simplex_at_most(&direct, slack + off, (int64_t)rows + cols);
    if (*most < 0) return GPUOPT_OK;
    status = backend->residual(s->engine, b, NULL, s->by_row, s->error_sum);
    if (status) return status;
    for (i = 0; i < rows; i++) {
        double t = s->by_row[i];
        gpuopt__simplex_add_product(&sum, t, -y[i], -low[i]);
        slack +=
            fabs(y[i]) * gpuopt__simplex_error(t, s->error_sum[i], gpuopt__simplex_terms(s, cols + i)) * (1 + 0x1p-50);
    }
    *most = gpuopt__min(*most, gpuopt__simplex_at_most(&sum, slack, rows));
    return GPUOPT_OK;
}

/* Unscales y to the caller's units, with its largest entry between 1 and 2. */
static void gpuopt__simplex_farkas_unscale(gpuopt_simplex *s, double most) {
    double largest = 0, scale;
    int32_t i;
    for (i = 0; i < s->lp.rows; i++) largest = gpuopt__max(largest, fabs(s->farkas[i]) * s->lp.row_scale[i]);
    scale = gpuopt__simplex_to_unit(largest);
    for (i = 0; i < s->lp.rows; i++) {
        double factor = -s->lp.row_scale[i] * scale;
        s->farkas[i] = s->farkas[i] == 0 ? 0 : s->farkas[i] * factor;
        s->farkas_low[i] = s->farkas_low[i] == 0 ? 0 : s->farkas_low[i] * factor;
    }
    s->found.margin = -most * scale / s->primal_scale;
    s->found.certificate_residual *= scale;
}

/* Computes duals y for which z of each basic variable is the phase's cost. Exception: where that is 0 and a column has
 * one finite bound, z is +-shift, with the sign that uses this bound. Then rounding cannot change the sign. */
static gpuopt_status gpuopt__simplex_shifted_duals(gpuopt_simplex *s, double shift) {
    gpuopt__simplex_duals to = {s->farkas, s->farkas_low, s->scratch};
    double noise, *cost = s->scratch_low;
    int32_t i;
    int good;
    memcpy(cost, s->phase_cost, sizeof(double) * ((size_t)s->lp.rows + (size_t)s->lp.cols));
    for (i = 0; i < s->lp.rows; i++) {
        int32_t j = s->v.head[i];
        int lower = s->lower[j] > -HUGE_VAL, upper = s->upper[j] < HUGE_VAL;
        if (j < s->lp.cols && cost[j] == 0 && lower != upper) cost[j] = lower ? -shift : shift;
    }
    return gpuopt__simplex_solve_duals(s, to, cost, 1, &good, &noise);
}

/* Whether the duals of phase 1 prove that the model is infeasible. Tries doubles before twice the precision, and the
 * duals themselves before shifted ones. */
static gpuopt_status gpuopt__simplex_prove_infeasible(gpuopt_simplex *s, int *proven) {
    size_t bytes = sizeof(double) * (size_t)s->lp.rows;
    double most = 0, largest = gpuopt__simplex_largest(s->lp.rows, s->y);
    int attempt;
    gpuopt_status status = gpuopt__simplex_need_pattern(s);
    *proven = 0;
    for (attempt = 0; attempt < 4 && !status && !*proven; attempt++) {
        int twice = attempt / 2;
        status = gpuopt__simplex_shifted_duals(s, attempt % 2 == 0 ? 0 : largest * (twice ? 1e-25 : 1e-12));
        if (!twice) memset(s->farkas_low, 0, bytes);
        if (!status) status = gpuopt__simplex_farkas_most(s, &most);
        *proven = !status && most < 0;
    }
    if (*proven) gpuopt__simplex_farkas_unscale(s, most);
    return status;
}

/* The same with the row of one basic variable, below its lower bound (outside: -1) or above its upper bound (1). The
 * duals of the present phase must be recomputed afterwards. */
static gpuopt_status gpuopt__simplex_prove_by_row(gpuopt_simplex *s, int32_t position, int outside, int *proven) {
    memset(s->phase_cost, 0, sizeof(double) * ((size_t)s->lp.rows + (size_t)s->lp.cols));
    s->phase_cost[s->v.head[position]] = outside;
    gpuopt__simplex_mark_stale(s);
    return gpuopt__simplex_prove_infeasible(s, proven);
}

/* ---- UNBOUNDED ---- */

/* Whether the variable has a finite bound in the direction of `move`. */
static int gpuopt__simplex_stopped(const gpuopt_simplex *s, int32_t variable, double move) {
    return (move > 0 && s->upper[variable] < HUGE_VAL) || (move < 0 && s->lower[variable] > -HUGE_VAL);
}

/* Whether the direction of the variable in `slot` is a proof. It is if the objective gains 1e20 along it before
 * rounding could move a row beyond its sides by more than the tolerance. */
static gpuopt_status gpuopt__simplex_prove_unbounded(gpuopt_simplex *s, int32_t slot, int direction, int *proven) {
    const gpuopt__simplex_backend *backend = gpuopt__simplex_backend_of(s);
    double *d = s->scratch, *low = s->scratch_low, largest = 0, scale, gain, noise;
    size_t bytes = sizeof(double) * ((size_t)s->lp.rows + (size_t)s->lp.cols);
    gpuopt__simplex_sum sum = {0, 0, 0};
    int32_t i, j, rows = s->lp.rows, cols = s->lp.cols;
    int good;
    gpuopt_status status;
    *proven = 0;
    status = gpuopt__simplex_need_pattern(s);
    if (status) return status;
    memset(d, 0, bytes);
    memset(low, 0, bytes);
    d[s->v.slot[slot]] = direction;
    status = gpuopt__simplex_solve_x(s, d, low, 1, &good, &noise);
    if (status) return status;
    for (j = 0; j < cols; j++) { /* a movement towards a bound is rounding; if not, the rows show it */
        if (gpuopt__simplex_stopped(s, j, d[j])) d[j] = low[j] = 0;
        largest = gpuopt__max(largest, fabs(gpuopt__simplex_unscaled_x(s, j, d[j])) * s->primal_scale);
        gpuopt__simplex_add_product(&sum, -s->cost[j], d[j], low[j]);
    }
    memset(d + cols, 0, sizeof(double) * (size_t)rows);
    memset(low + cols, 0, sizeof(double) * (size_t)rows);
    status = backend->residual(s->engine, d, low, s->by_row, s->error_sum);
    if (status || largest == 0) return status;
    gain = gpuopt__simplex_total(&sum);
    gain -= gpuopt__simplex_error(gain, sum.error_sum, cols);
    scale = gpuopt__simplex_to_unit(largest);
    s->found.certificate_residual = 0;
    for (i = 0; i < rows; i++) { /* the slack moves by the residual */
        double move = s->by_row[i],
               error = gpuopt__simplex_error(move, s->error_sum[i], gpuopt__simplex_terms(s, cols + i));
        double wrong = 0;
        if (move == 0 && s->error_sum[i] == 0) continue;
        if (gpuopt__simplex_stopped(s, cols + i, move) && fabs(move) > 8 * noise + 0x1p10 * error) return GPUOPT_OK;
        if (gpuopt__simplex_stopped(s, cols + i, 1)) wrong = gpuopt__max(wrong, move + error);
        if (gpuopt__simplex_stopped(s, cols + i, -1)) wrong = gpuopt__max(wrong, error - move);
        s->found.certificate_residual =
            gpuopt__max(s->found.certificate_residual, wrong * scale / gpuopt__max(1, s->lp.row_scale[i]));
    }
    s->found.margin = gain * scale / s->cost_scale;
    *proven = s->found.margin > 0 &&
              s->found.certificate_residual * (GPUOPT__SIMPLEX_FAR / s->found.margin) <= s->desc.primal_tolerance;
    for (j = 0; j < cols; j++) {
        s->ray[j] = d[j] == 0 ? 0 : d[j] * s->lp.col_scale[j] * scale;
        s->ray_low[j] = low[j] == 0 ? 0 : low[j] * s->lp.col_scale[j] * scale;
    }
    return GPUOPT_OK;
}

#endif /* GPUOPT_IMPL_SIMPLEX_VERDICT_PROOF_H */
