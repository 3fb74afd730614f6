/* SPDX-License-Identifier: MIT
 *
 * Batches of small linear programs: proofs of INFEASIBLE and UNBOUNDED, on the original data. As in verdict/proof.h,
 * sums are taken in twice the working precision with a bound on their error. A column without a bound counts as bounded
 * by 1e24.
 */
#ifndef GPUOPT_IMPL_SIMPLEX_BATCH_PROOF_H
#define GPUOPT_IMPL_SIMPLEX_BATCH_PROOF_H

#include "dual.h"
#include "point.h"

#define GPUOPT__SIMPLEX_BATCH_REACH 1e24 /* as GPUOPT__SIMPLEX_REACH and _FAR */
#define GPUOPT__SIMPLEX_BATCH_FAR 1e18

/* The power of two that scales x > 0 to between 1 and 2. */
GPUOPT__SIMPLEX_BATCH double gpuopt__simplex_batch_to_unit(double x) {
    return x > 0 ? ldexp(1.0, 1 - gpuopt__simplex_batch_exponent(x)) : 1;
}

/* The largest |value| over all threads. */
GPUOPT__SIMPLEX_BATCH double gpuopt__simplex_batch_largest(const gpuopt__simplex_batch_work *w, const double *value,
                                                           int32_t count) {
    gpuopt__simplex_batch_best most = {0, -1};
    int32_t i;
    GPUOPT__SIMPLEX_BATCH_EACH(i, count) gpuopt__simplex_batch_better(&most, fabs(value[i]), i);
    most = gpuopt__simplex_batch_best_of(w->exchange, 3, most);
    gpuopt__simplex_batch_sync();
    return most.key;
}

/* Returns published[place], which the first thread has set, to all threads. */
GPUOPT__SIMPLEX_BATCH double gpuopt__simplex_batch_publish(const gpuopt__simplex_batch_work *w, int place) {
    double value;
    gpuopt__simplex_batch_sync();
    value = w->published[place];
    gpuopt__simplex_batch_sync();
    return value;
}

/* ---- INFEASIBLE ---- */

/* Adds a variable's share to the least value of the sum of reduced costs times values, and to the slack for errors. */
GPUOPT__SIMPLEX_BATCH void gpuopt__simplex_batch_least_term(const gpuopt__simplex_batch_set *set,
                                                            const gpuopt__simplex_batch_work *w, int32_t k, int32_t v,
                                                            gpuopt__simplex_sum *sum, double *slack) {
    const int32_t row = v - w->cols;
    double l, u, error;
    gpuopt__simplex_batch_bounds(set, k, v, &l, &u);
    if (row >= 0) {
        gpuopt__simplex_bound_row(sum, w->y[row], w->y_low[row], l, u);
        return;
    }
    if (w->z[v] == 0 && w->error_sum[v] == 0) return;
    error = gpuopt__simplex_error(w->z[v], w->error_sum[v], set->col_start[v + 1] - set->col_start[v] + 1);
    gpuopt__simplex_bound_column(sum, slack, w->z[v], error, gpuopt__max(l, -GPUOPT__SIMPLEX_BATCH_REACH),
                                 gpuopt__min(u, GPUOPT__SIMPLEX_BATCH_REACH));
}

/* Adds only the share of the slack for errors, as a sum. */
GPUOPT__SIMPLEX_BATCH void gpuopt__simplex_batch_slack_term(const gpuopt__simplex_batch_set *set,
                                                            const gpuopt__simplex_batch_work *w, int32_t k, int32_t v,
                                                            gpuopt__simplex_sum *sum) {
    gpuopt__simplex_sum none = {0, 0, 0};
    double slack = 0;
    gpuopt__simplex_batch_least_term(set, w, k, v, &none, &slack);
    gpuopt__simplex_add(sum, slack, 0, 0);
}

/* The least value, over all points within the bounds, of the sum of reduced costs times values, for y + y_low and costs
 * 0. The sum is 0 at every solution, so a positive least value is a proof, whatever rounding has done. */
GPUOPT__SIMPLEX_BATCH_LARGE double gpuopt__simplex_batch_least(const gpuopt__simplex_batch_set *set,
                                                               const gpuopt__simplex_batch_work *w, int32_t k) {
    const int32_t rows = w->rows, cols = w->cols;
    double l, u, unused = 0;
    int32_t i, v;
    GPUOPT__SIMPLEX_BATCH_EACH(i, rows) { /* no multiplier for infinite sides */
        gpuopt__simplex_batch_bounds(set, k, cols + i, &l, &u);
        if (fabs(w->y[i] < 0 ? l : u) == HUGE_VAL) w->y[i] = w->y_low[i] = 0;
    }
    gpuopt__simplex_batch_sync();
    gpuopt__simplex_batch_reduce(set, w, k, 0);
    if (GPUOPT__SIMPLEX_BATCH_FIRST_GROUP) {
        gpuopt__simplex_sum total, slack;
        GPUOPT__SIMPLEX_BATCH_SUM(slack, v, cols, gpuopt__simplex_batch_slack_term(set, w, k, v, sum));
        GPUOPT__SIMPLEX_BATCH_SUM(total, v, cols + rows, gpuopt__simplex_batch_least_term(set, w, k, v, sum, &unused));
        if (GPUOPT__SIMPLEX_BATCH_ONCE)
            w->published[0] = gpuopt__simplex_bound_of(&total, gpuopt__mul(gpuopt__simplex_total(&slack), 1 + 0x1p-20),
                                                       (int64_t)rows + cols);
    }
    return gpuopt__simplex_batch_publish(w, 0);
}

/* y of phase 1: the products of the rows of B^-1 with the signs. */
GPUOPT__SIMPLEX_BATCH void gpuopt__simplex_batch_infeasible_duals(const gpuopt__simplex_batch_work *w) {
    int32_t i;
    GPUOPT__SIMPLEX_BATCH_EACH(i, w->rows) w->y[i] = w->y_low[i] = 0;
    gpuopt__simplex_batch_sync();
    gpuopt__simplex_batch_add_btran(w, w->sign);
    GPUOPT__SIMPLEX_BATCH_EACH(i, w->rows) w->y_low[i] = 0;
    gpuopt__simplex_batch_sync();
}

/* Shifts the reduced costs of basic columns with one finite bound so that they use this bound. Then rounding cannot
 * change their sign. */
GPUOPT__SIMPLEX_BATCH void gpuopt__simplex_batch_shift_duals(const gpuopt__simplex_batch_work *w, double shift) {
    int32_t i;
    GPUOPT__SIMPLEX_BATCH_EACH(i, w->rows) {
        const int lower = w->lb[i] > -HUGE_VAL, upper = w->ub[i] < HUGE_VAL;
        w->part[i] = w->head[i] < w->cols && lower != upper && w->sign[i] == 0 ? lower ? -shift : shift : 0;
    }
    gpuopt__simplex_batch_sync();
    gpuopt__simplex_batch_add_btran(w, w->part);
}

/* Whether the present signs prove that no point is feasible. Tries four times:
 *
 *     1. with y unchanged
 *     2. with a shift
 *     3. in twice the precision, because columns without a bound do not tolerate the shift
 *     4. in twice the precision with a shift */
GPUOPT__SIMPLEX_BATCH_LARGE int gpuopt__simplex_batch_prove_infeasible(const gpuopt__simplex_batch_set *set,
                                                                       const gpuopt__simplex_batch_work *w, int32_t k) {
    double size, scale;
    int attempt, round, proven = 0;
    int32_t i;
    for (attempt = 0; attempt < 4 && !proven; attempt++) {
        double before = HUGE_VAL;
        gpuopt__simplex_batch_infeasible_duals(w);
        size = gpuopt__simplex_batch_largest(w, w->y, w->rows);
        if (attempt == 1) gpuopt__simplex_batch_shift_duals(w, gpuopt__mul(1e-12, size));
        for (round = 0; round < 6 && attempt >= 2; round++) {
            const double most = gpuopt__simplex_batch_wrong_basic(set, w, k, 1);
            if (most == 0 || most > gpuopt__mul(0.5, before)) break;
            gpuopt__simplex_batch_add_btran(w, w->part);
            before = most;
        }
        if (attempt == 3) gpuopt__simplex_batch_shift_duals(w, gpuopt__mul(1e-25, size));
        if (attempt == 1) {
            GPUOPT__SIMPLEX_BATCH_EACH(i, w->rows) w->y_low[i] = 0;
            gpuopt__simplex_batch_sync();
        }
        proven = gpuopt__simplex_batch_least(set, w, k) > 0;
    }
    scale = -gpuopt__simplex_batch_to_unit(gpuopt__simplex_batch_largest(w, w->y, w->rows));
    GPUOPT__SIMPLEX_BATCH_EACH(i, w->rows) {
        set->farkas[(int64_t)k * w->rows + i] = proven && w->y[i] != 0 ? gpuopt__mul(w->y[i], scale) : 0;
        set->farkas_low[(int64_t)k * w->rows + i] = proven && w->y_low[i] != 0 ? gpuopt__mul(w->y_low[i], scale) : 0;
    }
    return proven;
}

/* ---- UNBOUNDED ---- */

/* Writes the direction of the variable in a slot to z + low, in twice the precision. */
GPUOPT__SIMPLEX_BATCH void gpuopt__simplex_batch_direction(const gpuopt__simplex_batch_set *set,
                                                           const gpuopt__simplex_batch_work *w, int32_t k, int32_t slot,
                                                           int direction) {
    const int32_t rows = w->rows, cols = w->cols;
    double before = HUGE_VAL, most;
    int32_t i, j;
    int round;
    GPUOPT__SIMPLEX_BATCH_EACH(i, rows + cols) w->low[i] = w->z[i] = 0;
    gpuopt__simplex_batch_sync();
    GPUOPT__SIMPLEX_BATCH_EACH(i, rows)
    w->z[w->head[i]] = (direction > 0 ? -w->alpha[i] : w->alpha[i]) / w->unit[w->head[i]];
    GPUOPT__SIMPLEX_BATCH_EACH(j, cols)
    if (j == slot) w->z[w->slot[j]] = direction / w->unit[w->slot[j]];
    gpuopt__simplex_batch_sync();
    for (round = 0; round < 6; round++) {
        GPUOPT__SIMPLEX_BATCH_EACH_GROUP(i, rows) {
            gpuopt__simplex_sum sum = gpuopt__simplex_batch_activity(set, k, i, w->z, w->low);
            gpuopt__simplex_add(&sum, w->z[cols + i], w->low[cols + i], 0);
            if (GPUOPT__SIMPLEX_BATCH_FIRST_LANE)
                w->part[i] = -gpuopt__mul(gpuopt__simplex_total(&sum), w->unit[cols + i]);
        }
        gpuopt__simplex_batch_sync();
        most = gpuopt__simplex_batch_largest(w, w->part, rows);
        if (most == 0 || most > gpuopt__mul(0.5, before)) return;
        before = most;
        GPUOPT__SIMPLEX_BATCH_EACH(i, rows) {
            const int32_t v = w->head[i];
            double error;
            const double z = gpuopt__two_sum(w->z[v], gpuopt__simplex_batch_ftran(w, w->part, i) / w->unit[v], &error);
            w->z[v] = gpuopt__two_sum(z, gpuopt__add(error, w->low[v]), &w->low[v]);
        }
        gpuopt__simplex_batch_sync();
    }
}

/* Whether the objective gains 1e18 along the direction of a slot before rounding could move a row beyond its sides by
 * more than the tolerance. The pivot column is in alpha. */
GPUOPT__SIMPLEX_BATCH_LARGE int gpuopt__simplex_batch_prove_unbounded(const gpuopt__simplex_batch_set *set,
                                                                      const gpuopt__simplex_batch_work *w, int32_t k,
                                                                      int32_t slot, int direction) {
    const int32_t rows = w->rows, cols = w->cols;
    gpuopt__simplex_batch_best most = {0, -1};
    double l, u, gain, scale;
    int proven;
    int32_t i, j;
    gpuopt__simplex_batch_direction(set, w, k, slot, direction);
    GPUOPT__SIMPLEX_BATCH_EACH(j, cols) { /* a movement towards a bound is rounding; if not, the rows show it */
        gpuopt__simplex_batch_bounds(set, k, j, &l, &u);
        if ((w->z[j] > 0 && u < HUGE_VAL) || (w->z[j] < 0 && l > -HUGE_VAL)) w->z[j] = w->low[j] = 0;
    }
    gpuopt__simplex_batch_sync();
    scale = gpuopt__simplex_batch_to_unit(gpuopt__simplex_batch_largest(w, w->z, cols));
    if (GPUOPT__SIMPLEX_BATCH_FIRST_GROUP) {
        gpuopt__simplex_sum total;
        GPUOPT__SIMPLEX_BATCH_SUM(
            total, j, cols,
            gpuopt__simplex_add_product(sum, -gpuopt__simplex_batch_cost(set, k, j), w->z[j], w->low[j]));
        if (GPUOPT__SIMPLEX_BATCH_ONCE) {
            gain = gpuopt__simplex_total(&total);
            w->published[1] = gain - gpuopt__simplex_error(gain, total.error_sum, cols);
        }
    }
    gain = gpuopt__simplex_batch_publish(w, 1);
    GPUOPT__SIMPLEX_BATCH_EACH_GROUP(i, rows) {
        const gpuopt__simplex_sum sum = gpuopt__simplex_batch_activity(set, k, i, w->z, w->low);
        const double move = gpuopt__simplex_total(&sum),
                     error = gpuopt__simplex_error(move, sum.error_sum, set->row_start[i + 1] - set->row_start[i]);
        gpuopt__simplex_batch_bounds(set, k, cols + i, &l, &u);
        if (GPUOPT__SIMPLEX_BATCH_FIRST_LANE && (move != 0 || sum.error_sum != 0))
            gpuopt__simplex_batch_better(
                &most, gpuopt__max(l > -HUGE_VAL ? move + error : 0, u < HUGE_VAL ? error - move : 0), i);
    }
    most = gpuopt__simplex_batch_best_of(w->exchange, 3, most);
    gpuopt__simplex_batch_sync();
    proven = gain > 0 && gpuopt__max(0, most.key) * (GPUOPT__SIMPLEX_BATCH_FAR / gain) <= set->primal;
    GPUOPT__SIMPLEX_BATCH_EACH(j, cols) {
        set->ray[(int64_t)k * cols + j] = proven && w->z[j] != 0 ? gpuopt__mul(w->z[j], scale) : 0;
        set->ray_low[(int64_t)k * cols + j] = proven && w->low[j] != 0 ? gpuopt__mul(w->low[j], scale) : 0;
    }
    return proven;
}

#endif /* GPUOPT_IMPL_SIMPLEX_BATCH_PROOF_H */
