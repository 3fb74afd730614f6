/* SPDX-License-Identifier: MIT
 *
 * How certain an optimum is, from the strongest to the weakest:
 *
 *     EXACT      exact.h proves that the basis is optimal in exact arithmetic.
 *     ROUNDING   The reported doubles solve a program with data that differ from the caller's by rounding. Every
 *                condition on sides, bounds and reduced costs is violated by at most 2^-44 times the sum of its terms'
 *                sizes (Oettli and Prager 1964). The gap between the objectives is within the tolerance, and so is the
 *                change of the objective that the violations may cause (objective_impact.h).
 *     TOLERANCE  The gap is within the tolerance. For bases of up to 162 rows the possible change of the objective is,
 *                too. On larger bases the iterations in extended precision are too few to reach this.
 */
#ifndef GPUOPT_IMPL_SIMPLEX_VERDICT_CERTAINTY_H
#define GPUOPT_IMPL_SIMPLEX_VERDICT_CERTAINTY_H

#include "tidy.h"
#include "objective_impact.h"

/* The largest relative violation that counts as rounding. */
#define GPUOPT__SIMPLEX_ROUNDING 0x1p-44

/* The distance of the reported point from an exact optimum of some nearby program. */
typedef struct gpuopt__simplex_misfit {
    double share; /* the largest violation divided by the sum of its terms' sizes */
    double gap;   /* primal objective minus dual objective, in the caller's units */
} gpuopt__simplex_misfit;

/* The reported doubles, scaled: x [cols + rows], clipped to the bounds, without slacks, and y [rows]. A value that
 * underflows in the caller's units counts as reported. */
static void gpuopt__simplex_reported(const gpuopt_simplex *s, double *x, double *y) {
    int32_t i, j, rows = s->lp.rows, cols = s->lp.cols;
    for (j = 0; j < cols; j++) {
        double reported = gpuopt__simplex_unscaled_x(s, j, s->x[j]) / gpuopt__simplex_unscaled_x(s, j, 1);
        x[j] = gpuopt__max(s->lower[j], gpuopt__min(reported, s->upper[j]));
    }
    memset(x + cols, 0, sizeof(double) * (size_t)rows);
    for (i = 0; i < rows; i++) {
        double reported = gpuopt__simplex_unscaled_dual(s, i, s->y[i]) / gpuopt__simplex_unscaled_dual(s, i, 1);
        y[i] = s->status[cols + i] == GPUOPT_VARIABLE_BASIC ? 0 : reported;
    }
}

/* The value that a row's slack should have: the bound that its dual's sign chooses, or else the violated bound, or else
 * its own value -(A x). If a dual chooses an infinite side, *share becomes infinite. */
static double gpuopt__simplex_target(const gpuopt_simplex *s, int32_t row, double own, double y, double *share) {
    double l = s->lower[s->lp.cols + row], u = s->upper[s->lp.cols + row], named = y < 0 ? l : u;
    if (y == 0) return gpuopt__max(l, gpuopt__min(own, u));
    if (fabs(named) < HUGE_VAL) return named;
    *share = HUGE_VAL;
    return own;
}

/* The rows' part of the misfit. x becomes the point with its targets. missed [rows]: distances from the targets. size
 * [rows]: sizes of the terms. */
static gpuopt_status gpuopt__simplex_misfit_of_rows(gpuopt_simplex *s, double *x, const double *y, double *missed,
                                                    const double *size, gpuopt__simplex_misfit *m,
                                                    gpuopt__simplex_sum *gap) {
    const gpuopt__simplex_backend *backend = gpuopt__simplex_backend_of(s);
    int32_t i, rows = s->lp.rows, cols = s->lp.cols;
    int safe = gpuopt__simplex_safe(s, cols, x);
    gpuopt_status status = backend->residual(s->engine, x, NULL, missed, NULL);
    for (i = 0; i < rows && !status; i++) {
        double l = s->lower[cols + i], u = s->upper[cols + i];
        x[cols + i] = gpuopt__simplex_target(s, i, missed[i], y[i], &m->share);
        s->by_row[i] = y[i] == 0 && missed[i] > l && missed[i] < u; /* strictly between its sides */
    }
    if (!status) status = backend->residual(s->engine, x, NULL, missed, s->error_sum);
    for (i = 0; i < rows && !status; i++) {
        double error = gpuopt__simplex_off(missed[i], s->error_sum[i], cols, safe);
        if (s->by_row[i] != 0) continue;
        m->share = gpuopt__max(m->share, gpuopt__simplex_share(fabs(missed[i]) + error, size[i]));
        gpuopt__simplex_add_product(gap, -y[i], missed[i], 0);
    }
    return status;
}

/* The misfit of a column with x between l and u and reduced cost z, accurate to `error`. A reduced cost that is 0 up to
 * rounding is free in the nearby program. */
static void gpuopt__simplex_misfit_of_column(double x, double l, double u, double z, double error, double size,
                                             gpuopt__simplex_misfit *m, gpuopt__simplex_sum *gap) {
    double wrong = x == l ? gpuopt__max(0, -z) : x == u ? gpuopt__max(0, z) : fabs(z), share, named = z > 0 ? l : u;
    if (l == u || wrong == 0) return;
    share = gpuopt__simplex_share(wrong + error, size);
    m->share = gpuopt__max(m->share, share);
    if (share <= GPUOPT__SIMPLEX_ROUNDING || fabs(named) == HUGE_VAL) return;
    gpuopt__simplex_add_product(gap, z, x, 0);
    gpuopt__simplex_add_product(gap, -z, named, 0);
}

static gpuopt_status gpuopt__simplex_misfit_of(gpuopt_simplex *s, gpuopt__simplex_misfit *m) {
    const gpuopt__simplex_backend *backend = gpuopt__simplex_backend_of(s);
    double *x = s->scratch_low, *z = s->scratch, *y = s->farkas, *of_rows = s->dual, *of_cols = s->ray;
    gpuopt__simplex_sum gap = {0, 0, 0};
    int32_t j;
    int safe;
    gpuopt_status status;
    m->share = 0;
    gpuopt__simplex_reported(s, x, y);
    safe = gpuopt__simplex_safe(s, s->lp.rows, y);
    status = backend->sizes(s->engine, x, y, of_rows, of_cols);
    if (!status) status = gpuopt__simplex_misfit_of_rows(s, x, y, s->farkas_low, of_rows, m, &gap);
    if (!status) status = backend->reduce(s->engine, s->cost, y, NULL, z, s->error_sum);
    for (j = 0; j < s->lp.cols && !status; j++)
        gpuopt__simplex_misfit_of_column(x[j], s->lower[j], s->upper[j], z[j],
                                         gpuopt__simplex_off(z[j], s->error_sum[j], s->lp.rows, safe),
                                         fabs(s->cost[j]) + of_cols[j], m, &gap);
    m->gap = fabs(gpuopt__simplex_total(&gap)) / (s->cost_scale * s->primal_scale);
    return status;
}

/* Logs once that the caller's numbers have no feasible point, although the tolerance admits one. */
static void gpuopt__simplex_found_empty(gpuopt_simplex *s) {
    if (!s->logged_empty)
        gpuopt__log(s->context, 2, "simplex: no point satisfies the data exactly; the nearest one misses by %g",
                    s->found.primal_reached);
    s->empty = s->logged_empty = 1;
}

/* Sets s->empty if one row proves that the doubles have no feasible point. Tries rows of basic variables outside their
 * bounds. Such proofs exist for equations that are dependent except for the rounding of their sides. Afterwards the
 * phase's costs are the costs of phase 2. */
static gpuopt_status gpuopt__simplex_find_empty(gpuopt_simplex *s) {
    enum { MOST = 32 }; /* most rows to try */
    const gpuopt__simplex_stale stale = s->stale;
    int32_t i, tried = 0;
    int proven = 0;
    gpuopt_status status = GPUOPT_OK;
    for (i = 0; i < s->lp.rows && tried < MOST && !status && !proven; i++) {
        const int32_t k = s->v.head[i];
        if (gpuopt__simplex_beyond(s->x[k], s->x_low[k], s->lower[k], s->upper[k]) == 0) continue;
        tried++;
        status = gpuopt__simplex_prove_by_row(
            s, i, gpuopt__simplex_above(s->x[k], s->x_low[k], s->lower[k]) < 0 ? -1 : 1, &proven);
    }
    memcpy(s->phase_cost, s->cost, sizeof(double) * ((size_t)s->lp.rows + (size_t)s->lp.cols));
    s->stale = stale;
    if (!status && proven) gpuopt__simplex_found_empty(s);
    return status;
}

/* How far the violations may move the objective. If the doubles have no feasible point, there is no exact optimum that
 * violations could hide. */
static gpuopt_status gpuopt__simplex_real_impact(gpuopt_simplex *s, double most, double *impact) {
    gpuopt_status status = GPUOPT_OK;
    *impact = 0;
    if (s->empty || s->by_tolerance) return GPUOPT_OK;
    status = gpuopt__simplex_objective_impact(s, impact);
    if (status || *impact <= most) return status;
    status = gpuopt__simplex_find_empty(s);
    if (s->empty) *impact = 0;
    return status;
}

static int gpuopt__simplex_reached_tolerances(const gpuopt_simplex *s) {
    return s->found.primal_reached <= s->desc.primal_tolerance && s->found.dual_reached <= s->desc.dual_tolerance;
}

/* Restores tidied values: recomputes the point from the basis. A dual that is tiny next to other duals may be large
 * next to the costs of its columns. */
static gpuopt_status gpuopt__simplex_untidy(gpuopt_simplex *s) {
    const int64_t rebuilds = s->rebuilds;
    gpuopt_status status = gpuopt__simplex_rebuild_to(s, GPUOPT__SIMPLEX_TWICE);
    s->rebuilds = rebuilds;
    return status;
}

/* The certainty of the present point as an optimum that satisfies the caller's tolerances. NONE: it is not one. Call
 * right after a rebuild in twice the precision. The effect of violations is computed before tiny values become 0. */
static gpuopt_status gpuopt__simplex_find_certainty(gpuopt_simplex *s) {
    gpuopt__simplex_misfit m = {0, 0};
    double impact = 0, objective, infeasibility, most;
    int exact = 0, settled = gpuopt__simplex_extended_most(s) == GPUOPT__SIMPLEX_EXTENDED_ALL, tidied = 0;
    gpuopt_status status = gpuopt__simplex_prove_optimal(s, &exact);
    gpuopt__simplex_objective(s, &objective, &infeasibility);
    most = s->desc.dual_tolerance * gpuopt__max(1, fabs(objective));
    if (!status && !exact && settled) status = gpuopt__simplex_real_impact(s, most, &impact);
    if (!status) status = gpuopt__simplex_misfit_of(s, &m);
    if (!status && m.share > GPUOPT__SIMPLEX_ROUNDING) status = gpuopt__simplex_tidy(s, &tidied);
    if (!status && tidied && !gpuopt__simplex_reached_tolerances(s)) status = gpuopt__simplex_untidy(s);
    if (!status && tidied) status = gpuopt__simplex_prove_optimal(s, &exact);
    if (!status && tidied) status = gpuopt__simplex_misfit_of(s, &m);
    if (!status && !exact && !settled && m.share <= GPUOPT__SIMPLEX_ROUNDING)
        status = gpuopt__simplex_real_impact(s, most, &impact);
    s->found.backward_error = m.share;
    s->found.certainty = GPUOPT_CERTAINTY_NONE;
    if (exact) s->found.certainty = GPUOPT_CERTAINTY_EXACT;
    else if (!(m.gap <= most) || (settled && !(impact <= most))) return status;
    else if (m.share <= GPUOPT__SIMPLEX_ROUNDING && impact <= most) s->found.certainty = GPUOPT_CERTAINTY_ROUNDING;
    else s->found.certainty = GPUOPT_CERTAINTY_TOLERANCE;
    return status;
}

/* Whether all numbers of an optimum are finite. Comparisons with NaN would have proven nothing. */
static int gpuopt__simplex_representable(const gpuopt_simplex *s) {
    double objective, infeasibility;
    int32_t j;
    for (j = 0; j < s->lp.rows + s->lp.cols; j++)
        if (!(fabs(s->x[j]) < HUGE_VAL && fabs(s->reduced[j]) < HUGE_VAL)) return 0;
    gpuopt__simplex_objective(s, &objective, &infeasibility);
    return fabs(objective) < HUGE_VAL && infeasibility < HUGE_VAL && s->found.primal_violation < HUGE_VAL &&
           s->found.dual_violation < HUGE_VAL;
}

#endif /* GPUOPT_IMPL_SIMPLEX_VERDICT_CERTAINTY_H */
