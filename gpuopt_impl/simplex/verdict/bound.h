/* SPDX-License-Identifier: MIT
 *
 * A bound on the objective from the duals of the present basis. Any duals give a bound: the least sum of reduced costs
 * times values within the bounds. It is computed in twice the working precision, less everything that rounding could
 * have added (Neumaier and Shcherbina 2004). An infinite bound of a column counts as 1e24, as in proof.h.
 */
#ifndef GPUOPT_IMPL_SIMPLEX_VERDICT_BOUND_H
#define GPUOPT_IMPL_SIMPLEX_VERDICT_BOUND_H

#include "../arith/bound_step.h"
#include "proof.h"

/* Computes duals of the true costs at the present basis, in s->dual. A basic column with one finite bound gets a
 * reduced cost near 0 instead of 0, with the sign that uses this bound. Then rounding cannot change the sign. */
static gpuopt_status gpuopt__simplex_bound_duals(gpuopt_simplex *s) {
    gpuopt__simplex_duals to = {s->dual, s->dual_low, s->scratch};
    double noise, *cost = s->scratch_low, shift = 1e-32 * gpuopt__max(1, gpuopt__simplex_largest(s->lp.cols, s->cost));
    int32_t i;
    int good;
    gpuopt_status status;
    memcpy(cost, s->cost, sizeof(double) * ((size_t)s->lp.rows + (size_t)s->lp.cols));
    status = gpuopt__simplex_solve_duals(s, to, cost, 1, &good, &noise);
    if (status) return status;
    for (i = 0; i < s->lp.rows; i++) s->by_row[i] = 0;
    for (i = 0; i < s->lp.rows; i++) {
        int32_t j = s->v.head[i];
        int lower = s->lower[j] > -HUGE_VAL, upper = s->upper[j] < HUGE_VAL;
        if (j < s->lp.cols && lower != upper) s->by_row[i] = lower ? -shift : shift;
    }
    status = gpuopt__simplex_backend_of(s)->btran(s->engine, s->by_row);
    for (i = 0; i < s->lp.rows && !status; i++)
        s->dual[i] = gpuopt__two_sum(s->dual[i], s->dual_low[i] + s->by_row[i], &s->dual_low[i]);
    return status;
}

/* The bound for the scaled minimisation, without offset. */
static gpuopt_status gpuopt__simplex_bound(gpuopt_simplex *s, double *bound) {
    const gpuopt__simplex_backend *backend = gpuopt__simplex_backend_of(s);
    double *z = s->scratch, *y = s->dual, slack = 0;
    gpuopt__simplex_sum sum = {0, 0, 0};
    int32_t i, j, rows = s->lp.rows, cols = s->lp.cols;
    gpuopt_status status = gpuopt__simplex_need_pattern(s);
    if (!status) status = gpuopt__simplex_bound_duals(s);
    for (i = 0; i < rows; i++) /* the reduced cost of a slack is -y, and 0 towards an infinite side */
        if (fabs(y[i] < 0 ? s->lower[cols + i] : s->upper[cols + i]) == HUGE_VAL) y[i] = s->dual_low[i] = 0;
    if (!status) status = backend->reduce(s->engine, s->cost, y, s->dual_low, z, s->error_sum);
    if (status) return status;
    for (j = 0; j < cols + rows; j++) {
        double l = s->lower[j], u = s->upper[j];
        if (j >= cols) gpuopt__simplex_bound_row(&sum, y[j - cols], s->dual_low[j - cols], l, u);
        if (j >= cols || (z[j] == 0 && s->error_sum[j] == 0)) continue;
        l = gpuopt__max(l, -gpuopt__simplex_reach(s, j)), u = gpuopt__min(u, gpuopt__simplex_reach(s, j));
        gpuopt__simplex_bound_column(
            &sum, &slack, z[j], gpuopt__simplex_error(z[j], s->error_sum[j], gpuopt__simplex_terms(s, j) + 1), l, u);
    }
    *bound = gpuopt__simplex_bound_of(&sum, slack, (int64_t)rows + cols);
    return GPUOPT_OK;
}

static double gpuopt__simplex_caller_bound_of(const gpuopt_simplex *s, double scaled) {
    return gpuopt__simplex_bound_of_caller(scaled, s->cost_scale * s->primal_scale, s->desc.offset, s->desc.maximize);
}

static gpuopt_status gpuopt__simplex_caller_bound(gpuopt_simplex *s, double *bound) {
    double scaled = 0;
    gpuopt_status status = gpuopt__simplex_bound(s, &scaled);
    *bound = gpuopt__simplex_caller_bound_of(s, scaled);
    return status;
}

#endif /* GPUOPT_IMPL_SIMPLEX_VERDICT_BOUND_H */
