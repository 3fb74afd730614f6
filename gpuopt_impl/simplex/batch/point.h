/* SPDX-License-Identifier: MIT
 *
 * Batches of small linear programs: the point and the duals of a basis, from the original data. The tableau contains
 * B^-1: the column of B^-1 for row i is the tableau's column of the slack of row i, or a unit vector if the slack is
 * basic.
 */
#ifndef GPUOPT_IMPL_SIMPLEX_BATCH_POINT_H
#define GPUOPT_IMPL_SIMPLEX_BATCH_POINT_H

#include "step.h"

/* ---- Products with the inverse ---- */

/* Entry i of B^-1 r, for r [rows]. */
GPUOPT__SIMPLEX_BATCH double gpuopt__simplex_batch_ftran(const gpuopt__simplex_batch_work *w, const double *r,
                                                         int32_t i) {
    const double *const line = w->table + (int64_t)i * w->pitch;
    double sum = w->head[i] >= w->cols ? r[w->head[i] - w->cols] : 0;
    int32_t j;
    for (j = 0; j < w->cols; j++)
        if (w->slot[j] >= w->cols) sum = gpuopt__add(sum, gpuopt__mul(line[j], r[w->slot[j] - w->cols]));
    return sum;
}

/* Adds B^-T r, for r [rows] by position, to y + y_low, in the caller's units. */
GPUOPT__SIMPLEX_BATCH void gpuopt__simplex_batch_add_btran(const gpuopt__simplex_batch_work *w, const double *r) {
    const int32_t rows = w->rows, cols = w->cols;
    int32_t i, j;
    GPUOPT__SIMPLEX_BATCH_EACH(j, cols + rows) { /* each row's slack is in one slot or position */
        const int32_t variable = j < cols ? w->slot[j] : w->head[j - cols];
        const int32_t row = variable - cols;
        double sum = 0, error, y;
        if (row < 0) continue;
        if (j < cols)
            for (i = 0; i < rows; i++) sum = gpuopt__add(sum, gpuopt__mul(r[i], w->table[(int64_t)i * w->pitch + j]));
        else sum = r[j - cols];
        y = gpuopt__two_sum(w->y[row], gpuopt__mul(sum, w->unit[variable]), &error);
        w->y[row] = gpuopt__two_sum(y, gpuopt__add(error, w->y_low[row]), &w->y_low[row]);
    }
    gpuopt__simplex_batch_sync();
}

/* ---- On the original data, in twice the working precision ---- */

/* The activity of row i at point + low (NULL: 0). Only the first lane of the calling group gets the result. */
GPUOPT__SIMPLEX_BATCH gpuopt__simplex_sum gpuopt__simplex_batch_activity(const gpuopt__simplex_batch_set *set,
                                                                         int32_t k, int32_t i, const double *point,
                                                                         const double *low) {
    const int32_t first = set->row_start[i], count = set->row_start[i + 1] - first;
    gpuopt__simplex_sum total;
    int32_t e;
    GPUOPT__SIMPLEX_BATCH_SUM(
        total, e, count,
        gpuopt__simplex_add_product(sum, gpuopt__simplex_batch_entry(set, k, set->row_at[first + e]),
                                    point[set->row_col[first + e]], low ? low[set->row_col[first + e]] : 0));
    return total;
}

/* The cost of a variable minus its column times y + y_low. *error_sum as in arith/step.h. */
GPUOPT__SIMPLEX_BATCH double gpuopt__simplex_batch_reduced(const gpuopt__simplex_batch_set *set,
                                                           const gpuopt__simplex_batch_work *w, int32_t k,
                                                           int32_t variable, double cost, double *error_sum) {
    gpuopt__simplex_sum sum = {0, 0, 0};
    int32_t e;
    if (variable < set->cols)
        for (e = set->col_start[variable]; e < set->col_start[variable + 1]; e++) {
            const int32_t row = set->col_row[e];
            gpuopt__simplex_add_product(&sum, gpuopt__simplex_batch_entry(set, k, set->col_at[e]), w->y[row],
                                        w->y_low[row]);
        }
    else gpuopt__simplex_add(&sum, w->y[variable - set->cols], w->y_low[variable - set->cols], 0);
    gpuopt__simplex_add(&sum, -cost, 0, 0);
    *error_sum = sum.error_sum;
    return -gpuopt__simplex_total(&sum);
}

/* Computes all reduced costs into z and error_sum, with the true costs or with costs 0. */
GPUOPT__SIMPLEX_BATCH void gpuopt__simplex_batch_reduce(const gpuopt__simplex_batch_set *set,
                                                        const gpuopt__simplex_batch_work *w, int32_t k, int costs) {
    int32_t v;
    GPUOPT__SIMPLEX_BATCH_EACH(v, w->rows + w->cols)
    w->z[v] = gpuopt__simplex_batch_reduced(
        set, w, k, v, costs && v < w->cols ? gpuopt__simplex_batch_cost(set, k, v) : 0, &w->error_sum[v]);
    gpuopt__simplex_batch_sync();
}

/* ---- The point ---- */

/* Writes the values of all variables to point, in the caller's units. */
GPUOPT__SIMPLEX_BATCH void gpuopt__simplex_batch_scatter(const gpuopt__simplex_batch_work *w) {
    int32_t i, j;
    GPUOPT__SIMPLEX_BATCH_EACH(i, w->rows) w->point[w->head[i]] = w->xb[i] / w->unit[w->head[i]];
    GPUOPT__SIMPLEX_BATCH_EACH(j, w->cols) w->point[w->slot[j]] = w->xn[j] / w->unit[w->slot[j]];
    gpuopt__simplex_batch_sync();
}

/* Moves nonbasic variables to their true bounds. Basic variables follow: first by the tableau, then corrected by the
 * residual of A x + s = 0 in the original data. Banned candidates may enter again. */
GPUOPT__SIMPLEX_BATCH_LARGE void gpuopt__simplex_batch_true_point(const gpuopt__simplex_batch_set *set,
                                                                  const gpuopt__simplex_batch_work *w, int32_t k) {
    const int32_t rows = w->rows, cols = w->cols;
    int32_t i, j;
    gpuopt__simplex_batch_sync();
    GPUOPT__SIMPLEX_BATCH_EACH(j, cols) {
        const int upper = (w->state[j] & 3) == GPUOPT__SIMPLEX_MAY_DECREASE;
        double l, u;
        gpuopt__simplex_batch_scaled_bounds(set, w, k, w->slot[j], &l, &u);
        w->ln[j] = l, w->un[j] = u;
        w->xn[j] = u < HUGE_VAL && (upper || l == -HUGE_VAL) ? u : l > -HUGE_VAL ? l : 0;
        w->state[j] = (uint8_t)((l < u && w->xn[j] < u ? GPUOPT__SIMPLEX_MAY_INCREASE : 0) |
                                (l < u && w->xn[j] > l ? GPUOPT__SIMPLEX_MAY_DECREASE : 0));
    }
    gpuopt__simplex_batch_sync();
    GPUOPT__SIMPLEX_BATCH_EACH(i, rows) {
        const double *const line = w->table + (int64_t)i * w->pitch;
        double sum = 0;
        gpuopt__simplex_batch_scaled_bounds(set, w, k, w->head[i], &w->lb[i], &w->ub[i]);
        for (j = 0; j < cols; j++)
            if (w->xn[j] != 0) sum = gpuopt__sub(sum, gpuopt__mul(line[j], w->xn[j]));
        w->xb[i] = sum;
    }
    gpuopt__simplex_batch_scatter(w);
    GPUOPT__SIMPLEX_BATCH_EACH_GROUP(i, rows) {
        gpuopt__simplex_sum sum = gpuopt__simplex_batch_activity(set, k, i, w->point, NULL);
        gpuopt__simplex_add(&sum, w->point[cols + i], 0, 0);
        if (GPUOPT__SIMPLEX_BATCH_FIRST_LANE) w->part[i] = -gpuopt__mul(gpuopt__simplex_total(&sum), w->unit[cols + i]);
    }
    gpuopt__simplex_batch_sync();
    GPUOPT__SIMPLEX_BATCH_EACH(i, rows) w->xb[i] = gpuopt__add(w->xb[i], gpuopt__simplex_batch_ftran(w, w->part, i));
    gpuopt__simplex_batch_scatter(w);
}

/* ---- The duals ---- */

/* Writes the error of the basic variables' reduced costs to part, scaled. They should be `sign` times the unit, or 0.
 * Returns the largest error. */
GPUOPT__SIMPLEX_BATCH double gpuopt__simplex_batch_wrong_basic(const gpuopt__simplex_batch_set *set,
                                                               const gpuopt__simplex_batch_work *w, int32_t k,
                                                               int by_sign) {
    gpuopt__simplex_batch_best most = {0, -1};
    int32_t i;
    GPUOPT__SIMPLEX_BATCH_EACH(i, w->rows) {
        const int32_t v = w->head[i];
        const double cost = by_sign         ? gpuopt__mul(w->sign[i], w->unit[v])
                            : v < set->cols ? gpuopt__simplex_batch_cost(set, k, v)
                                            : 0;
        double error_sum;
        w->part[i] = gpuopt__simplex_batch_reduced(set, w, k, v, cost, &error_sum) / w->unit[v];
        gpuopt__simplex_batch_better(&most, fabs(w->part[i]), i);
    }
    most = gpuopt__simplex_batch_best_of(w->exchange, 3, most);
    gpuopt__simplex_batch_sync();
    return most.key;
}

/* y of the true costs: from the tableau's reduced costs, then corrected on the original data. Writes all reduced costs
 * to z, and the nonbasic variables' to d. */
GPUOPT__SIMPLEX_BATCH_LARGE void gpuopt__simplex_batch_true_duals(const gpuopt__simplex_batch_set *set,
                                                                  const gpuopt__simplex_batch_work *w, int32_t k) {
    const int32_t cols = w->cols;
    int32_t i, j;
    GPUOPT__SIMPLEX_BATCH_EACH(i, w->rows)
    if (w->head[i] >= cols) w->y[w->head[i] - cols] = w->y_low[w->head[i] - cols] = 0;
    GPUOPT__SIMPLEX_BATCH_EACH(j, cols)
    if (w->slot[j] >= cols) {
        w->y[w->slot[j] - cols] = -gpuopt__mul(w->d[j], w->unit[w->slot[j]]);
        w->y_low[w->slot[j] - cols] = 0;
    }
    gpuopt__simplex_batch_sync();
    if (gpuopt__simplex_batch_wrong_basic(set, w, k, 0) > 0) gpuopt__simplex_batch_add_btran(w, w->part);
    gpuopt__simplex_batch_reduce(set, w, k, 1);
    GPUOPT__SIMPLEX_BATCH_EACH(j, cols) w->d[j] = w->z[w->slot[j]] / w->unit[w->slot[j]];
    gpuopt__simplex_batch_sync();
}

/* ---- Whether they are an optimum ---- */

/* How far x is outside, in units of max(1, |bound|). */
GPUOPT__SIMPLEX_BATCH double gpuopt__simplex_batch_beyond(double x, double l, double u) {
    if (x < l) return gpuopt__sub(l, x) / gpuopt__max(1, fabs(l));
    return x > u ? gpuopt__sub(x, u) / gpuopt__max(1, fabs(u)) : x <= u ? 0 : HUGE_VAL;
}

/* Whether point, with the activities of its columns, is within the tolerance. */
GPUOPT__SIMPLEX_BATCH_LARGE int gpuopt__simplex_batch_feasible(const gpuopt__simplex_batch_set *set,
                                                               const gpuopt__simplex_batch_work *w, int32_t k) {
    const int32_t cols = w->cols;
    int wrong = 0;
    double l, u;
    int32_t i, j;
    GPUOPT__SIMPLEX_BATCH_EACH(j, cols) {
        gpuopt__simplex_batch_bounds(set, k, j, &l, &u);
        wrong |= !(gpuopt__simplex_batch_beyond(w->point[j], l, u) <= set->primal) || !(fabs(w->point[j]) < HUGE_VAL);
    }
    GPUOPT__SIMPLEX_BATCH_EACH_GROUP(i, w->rows) {
        const gpuopt__simplex_sum sum = gpuopt__simplex_batch_activity(set, k, i, w->point, NULL);
        gpuopt__simplex_batch_bounds(set, k, cols + i, &l, &u);
        if (GPUOPT__SIMPLEX_BATCH_FIRST_LANE)
            wrong |= !(gpuopt__simplex_batch_beyond(-gpuopt__simplex_total(&sum), l, u) <= set->primal);
    }
    return !gpuopt__simplex_batch_any(wrong);
}

/* Whether no reduced cost in z has the wrong sign by more than the tolerance. */
GPUOPT__SIMPLEX_BATCH_LARGE int gpuopt__simplex_batch_dual_feasible(const gpuopt__simplex_batch_set *set,
                                                                    const gpuopt__simplex_batch_work *w, int32_t k) {
    const int32_t cols = w->cols;
    int wrong = 0;
    int32_t v;
    GPUOPT__SIMPLEX_BATCH_EACH(v, cols + w->rows) {
        const int32_t variable = v < cols ? w->slot[v] : w->head[v - cols];
        const int state = v < cols ? w->state[v] & 3 : 3; /* basic: neither sign */
        const double z = w->z[variable],
                     size = variable < cols ? gpuopt__max(1, fabs(gpuopt__simplex_batch_cost(set, k, variable))) : 1;
        const double by =
            gpuopt__max(state & GPUOPT__SIMPLEX_MAY_INCREASE ? -z : 0, state & GPUOPT__SIMPLEX_MAY_DECREASE ? z : 0);
        double l, u;
        gpuopt__simplex_batch_bounds(set, k, variable, &l, &u);
        wrong |= (l < u && by > gpuopt__mul(set->dual, size)) || !(fabs(z) < HUGE_VAL);
    }
    return !gpuopt__simplex_batch_any(wrong);
}

/* What variable v adds to the difference of the two objectives: its reduced cost in z times its distance from the bound
 * that the reduced cost's sign chooses. An infinite bound adds nothing: the cost may be off by the reduced cost. */
GPUOPT__SIMPLEX_BATCH void gpuopt__simplex_batch_gap_term(const gpuopt__simplex_batch_set *set,
                                                          const gpuopt__simplex_batch_work *w, int32_t k, int32_t v,
                                                          gpuopt__simplex_sum *sum) {
    double l, u, bound;
    gpuopt__simplex_batch_bounds(set, k, v, &l, &u);
    bound = w->z[v] > 0 ? l : u;
    if (fabs(bound) < HUGE_VAL) gpuopt__simplex_add_product(sum, w->z[v], gpuopt__sub(w->point[v], bound), 0);
}

/* Whether the primal and the dual objective differ by at most the dual tolerance. */
GPUOPT__SIMPLEX_BATCH_LARGE int gpuopt__simplex_batch_objectives_agree(const gpuopt__simplex_batch_set *set,
                                                                       const gpuopt__simplex_batch_work *w, int32_t k) {
    int apart = 0;
    int32_t v;
    if (GPUOPT__SIMPLEX_BATCH_FIRST_GROUP) {
        gpuopt__simplex_sum gap, objective;
        GPUOPT__SIMPLEX_BATCH_SUM(gap, v, w->cols + w->rows, gpuopt__simplex_batch_gap_term(set, w, k, v, sum));
        GPUOPT__SIMPLEX_BATCH_SUM(
            objective, v, w->cols,
            gpuopt__simplex_add_product(sum, gpuopt__simplex_batch_cost(set, k, v), w->point[v], 0));
        if (GPUOPT__SIMPLEX_BATCH_ONCE)
            apart = !(fabs(gpuopt__simplex_total(&gap)) <=
                      gpuopt__mul(set->dual, gpuopt__max(1, fabs(gpuopt__simplex_total(&objective)))));
    }
    return !gpuopt__simplex_batch_any(apart);
}

#endif /* GPUOPT_IMPL_SIMPLEX_BATCH_POINT_H */
