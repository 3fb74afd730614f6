/* SPDX-License-Identifier: MIT
 *
 * Batches of small linear programs: one iteration of the primal simplex method with bounded variables on a tableau.
 * Each of its five steps ends with a barrier of the team: price, Harris' limit, the pivot, the pivot row, and the
 * exchange.
 */
#ifndef GPUOPT_IMPL_SIMPLEX_BATCH_STEP_H
#define GPUOPT_IMPL_SIMPLEX_BATCH_STEP_H

#include "model.h"

/* How far x of a variable with this unit may be beyond a bound, in the caller's numbers and in the scaled ones. */
GPUOPT__SIMPLEX_BATCH double gpuopt__simplex_batch_slack(double tolerance, double unit, double bound) {
    return gpuopt__mul(tolerance, gpuopt__max(gpuopt__min(unit, 1), fabs(bound)));
}

/* -1 below the lower bound, 1 above the upper one, else 0. */
GPUOPT__SIMPLEX_BATCH int gpuopt__simplex_batch_outside(double x, double l, double u, double tolerance, double unit) {
    if (x < l) return x < gpuopt__sub(l, gpuopt__simplex_batch_slack(tolerance, unit, l)) ? -1 : 0;
    return x > u && x > gpuopt__add(u, gpuopt__simplex_batch_slack(tolerance, unit, u)) ? 1 : 0;
}

/* Iterations use half of the caller's tolerances, so that rounding does not decide a verdict. */
GPUOPT__SIMPLEX_BATCH double gpuopt__simplex_batch_within(double tolerance) { return gpuopt__mul(0.5, tolerance); }

/* Finds the basic variables outside their bounds. Returns whether any is: phase 1. */
GPUOPT__SIMPLEX_BATCH int gpuopt__simplex_batch_sign(const gpuopt__simplex_batch_set *set,
                                                     const gpuopt__simplex_batch_work *w, int32_t i) {
    const int sign = gpuopt__simplex_batch_outside(w->xb[i], w->lb[i], w->ub[i],
                                                   gpuopt__simplex_batch_within(set->primal), w->unit[w->head[i]]);
    w->sign[i] = sign;
    return sign != 0;
}

/* ---- The entering variable ---- */

/* Reduced costs of phase 1: the cost of a basic variable outside its bounds is its sign. Sums run down the rows. */
GPUOPT__SIMPLEX_BATCH void gpuopt__simplex_batch_price_infeasible(const gpuopt__simplex_batch_work *w) {
    const int32_t rows = w->rows, cols = w->cols, pitch = w->pitch;
    int32_t i, j;
#ifdef __CUDACC__ /* a thread's sum stays in a register */
    GPUOPT__SIMPLEX_BATCH_EACH(j, cols) {
        double sum = 0;
        for (i = 0; i < rows; i++)
            if (w->sign[i] != 0) sum = gpuopt__sub(sum, gpuopt__mul(w->sign[i], w->table[(int64_t)i * pitch + j]));
        w->price[j] = sum;
    }
#else /* the same sums, through memory in its order */
    memset(w->price, 0, sizeof(double) * (size_t)cols);
    for (i = 0; i < rows; i++)
        for (j = 0; w->sign[i] != 0 && j < cols; j++)
            w->price[j] = gpuopt__sub(w->price[j], gpuopt__mul(w->sign[i], w->table[(int64_t)i * pitch + j]));
#endif
}

GPUOPT__SIMPLEX_BATCH gpuopt__simplex_batch_best gpuopt__simplex_batch_price(const gpuopt__simplex_batch_set *set,
                                                                             const gpuopt__simplex_batch_work *w,
                                                                             int phase, int bland, int strict) {
    const double dual = gpuopt__mul(gpuopt__simplex_batch_within(set->dual), strict ? 0x1p-13 : 1), *const d =
                                                                                                        phase == 1
                                                                                                            ? w->price
                                                                                                            : w->d;
    gpuopt__simplex_batch_best best = {0, -1};
    int32_t j;
    if (phase == 1) gpuopt__simplex_batch_price_infeasible(w);
    GPUOPT__SIMPLEX_BATCH_EACH(j, w->cols) {
        const double tolerance = phase == 1 ? dual : gpuopt__mul(dual, w->unit_dual[w->slot[j]]);
        const double score = gpuopt__simplex_score(d[j], w->weight[j], w->state[j], tolerance);
        if (score > 0) gpuopt__simplex_batch_better(&best, bland ? -(double)w->slot[j] : score, j);
    }
    return gpuopt__simplex_batch_best_of(w->exchange, 0, best);
}

/* ---- The leaving variable ---- */

/* The bound that stops a basic variable moving by -a per unit of the entering one, as in arith/. Infinite: none. */
GPUOPT__SIMPLEX_BATCH double gpuopt__simplex_batch_blocking(const gpuopt__simplex_batch_work *w, int32_t i, double a) {
    const int outside = (int)w->sign[i];
    if (fabs(a) <= 1e-9) return HUGE_VAL; /* as gpuopt__simplex_rules_now */
    if (a > 0) return outside > 0 ? w->ub[i] : outside < 0 ? HUGE_VAL : w->lb[i];
    return outside < 0 ? w->lb[i] : outside > 0 ? HUGE_VAL : w->ub[i];
}

/* Returns the leaving position; -1: nothing blocks; -2: no pivot is large enough. Leaves the pivot column in alpha. */
GPUOPT__SIMPLEX_BATCH int32_t gpuopt__simplex_batch_ratio_test(const gpuopt__simplex_batch_set *set,
                                                               const gpuopt__simplex_batch_work *w, int32_t entering,
                                                               int direction, int bland) {
    const double tolerance = bland ? 0 : gpuopt__simplex_batch_within(gpuopt__simplex_batch_within(set->primal));
    gpuopt__simplex_batch_best first = {0, -1}, best = {0, -1};
    int32_t i;
    GPUOPT__SIMPLEX_BATCH_EACH(i, w->rows) {
        const double entry = w->table[(int64_t)i * w->pitch + entering], a = direction > 0 ? entry : -entry;
        const double bound = gpuopt__simplex_batch_blocking(w, i, a);
        w->alpha[i] = entry;
        if (fabs(bound) < HUGE_VAL) {
            const double slack = gpuopt__simplex_batch_slack(tolerance, w->unit[w->head[i]], bound);
            gpuopt__simplex_batch_better(&first, -gpuopt__simplex_step_to(w->xb[i], bound, 1 / a, slack), i);
        }
    }
    first = gpuopt__simplex_batch_best_of(w->exchange, 1, first);
    if (first.index < 0) return -1;
    GPUOPT__SIMPLEX_BATCH_EACH(i, w->rows) {
        const double a = direction > 0 ? w->alpha[i] : -w->alpha[i], bound = gpuopt__simplex_batch_blocking(w, i, a);
        if (!(fabs(bound) < HUGE_VAL) || !(fabs(a) >= set->pivot)) continue;
        if (gpuopt__simplex_step_to(w->xb[i], bound, 1 / a, 0) <= gpuopt__max(0, -first.key))
            gpuopt__simplex_batch_better(&best, bland ? -(double)w->head[i] : fabs(a), i);
    }
    best = gpuopt__simplex_batch_best_of(w->exchange, 2, best);
    return best.index < 0 ? -2 : best.index;
}

/* ---- The exchange ---- */

/* Writes the pivot row divided by the pivot, with 1 / pivot in the entering slot. Every other row of the new tableau is
 * the old row, with 0 in the pivot column, minus its entry of that column times this row. */
GPUOPT__SIMPLEX_BATCH void gpuopt__simplex_batch_take_row(const gpuopt__simplex_batch_work *w, int32_t p, int32_t q,
                                                          double pivot) {
    int32_t j;
    GPUOPT__SIMPLEX_BATCH_EACH(j, w->cols) w->row[j] = (j == q ? 1 : w->table[(int64_t)p * w->pitch + j]) / pivot;
    gpuopt__simplex_batch_sync();
}

#ifndef GPUOPT__SIMPLEX_BATCH_ROWS_ABREAST
#define GPUOPT__SIMPLEX_BATCH_ROWS_ABREAST 4 /* rows that a GPU thread loads before it stores any */
#endif

GPUOPT__SIMPLEX_BATCH void gpuopt__simplex_batch_update_table(const gpuopt__simplex_batch_work *w, int32_t p, int32_t q,
                                                              double reduced) {
    const int32_t rows = w->rows, cols = w->cols, pitch = w->pitch;
    const double *const row = w->row, *const alpha = w->alpha;
    double *const table = w->table;
    int32_t i, j;
#ifdef __CUDACC__ /* a thread's entry of the row stays in a register */
    const int32_t groups = gpuopt__simplex_batch_groups();
    GPUOPT__SIMPLEX_BATCH_EACH_LANE(j, cols) {
        const double entry = row[j];
        for (i = gpuopt__simplex_batch_group(); i < rows; i += GPUOPT__SIMPLEX_BATCH_ROWS_ABREAST * groups) {
            double factor[GPUOPT__SIMPLEX_BATCH_ROWS_ABREAST], old[GPUOPT__SIMPLEX_BATCH_ROWS_ABREAST];
#pragma unroll
            for (int e = 0; e < GPUOPT__SIMPLEX_BATCH_ROWS_ABREAST; e++) {
                const int32_t at = i + e * groups;
                factor[e] = at < rows ? alpha[at] : 0;
                old[e] = factor[e] != 0 ? table[(int64_t)at * pitch + j] : 0;
            }
#pragma unroll
            for (int e = 0; e < GPUOPT__SIMPLEX_BATCH_ROWS_ABREAST; e++) {
                const int32_t at = i + e * groups;
                if (factor[e] != 0)
                    table[(int64_t)at * pitch + j] =
                        at == p ? entry : gpuopt__sub(j == q ? 0 : old[e], gpuopt__mul(factor[e], entry));
            }
        }
    }
#else /* the same, through memory in its order */
    for (i = 0; i < rows; i++) {
        const double factor = alpha[i];
        double *const line = table + (int64_t)i * pitch;
        if (factor == 0) continue;
        line[q] = 0;
        if (i == p) memcpy(line, row, sizeof *row * (size_t)cols);
        else
            for (j = 0; j < cols; j++) line[j] = gpuopt__sub(line[j], gpuopt__mul(factor, row[j]));
    }
#endif
    GPUOPT__SIMPLEX_BATCH_EACH(j, cols) w->d[j] = gpuopt__sub(j == q ? 0 : w->d[j], gpuopt__mul(reduced, row[j]));
}

/* Updates the devex weights. worn: resets all of them. */
GPUOPT__SIMPLEX_BATCH void gpuopt__simplex_batch_update_weights(const gpuopt__simplex_batch_work *w, int32_t q,
                                                                double pivot, double entering) {
    const int worn = gpuopt__simplex_devex_worn(entering);
    int32_t j;
    GPUOPT__SIMPLEX_BATCH_EACH(j, w->cols) {
        if (worn) w->weight[j] = 1;
        else if (j == q) w->weight[j] = gpuopt__max(1, entering / gpuopt__mul(pivot, pivot));
        else w->weight[j] = gpuopt__simplex_devex(w->weight[j], w->row[j], entering);
    }
}

/* The entering variable, as all threads read it before anything changes. */
typedef struct gpuopt__simplex_batch_entering {
    int32_t slot;
    int direction;
    double reduced, weight, x, l, u; /* reduced cost in phase 2 */
} gpuopt__simplex_batch_entering;

/* Pivots: the variable in position p leaves. Returns whether some basic variable is outside its bounds afterwards.
 * *step: step of the entering variable. */
GPUOPT__SIMPLEX_BATCH int gpuopt__simplex_batch_pivot(const gpuopt__simplex_batch_set *set,
                                                      const gpuopt__simplex_batch_work *w,
                                                      const gpuopt__simplex_batch_entering *e, int32_t p,
                                                      double *step) {
    const int32_t q = e->slot, leaving = w->head[p], entering = w->slot[q];
    const double pivot = w->alpha[p], a = e->direction > 0 ? pivot : -pivot;
    const double bound = gpuopt__simplex_batch_blocking(w, p, a);
    const double by = gpuopt__max(0, gpuopt__simplex_step_to(w->xb[p], bound, 1 / a, 0));
    const double move = e->direction > 0 ? by : -by;
    double x = w->xb[p], l = w->lb[p], u = w->ub[p];
    const int to_upper = bound == u && (l != u || a < 0);
    int outside = 0;
    int32_t i;
    gpuopt__simplex_batch_take_row(w, p, q, pivot);
    gpuopt__simplex_batch_update_table(w, p, q, e->reduced);
    gpuopt__simplex_batch_update_weights(w, q, pivot, e->weight);
    x = gpuopt__sub(x, gpuopt__mul(pivot, move));
    GPUOPT__SIMPLEX_BATCH_EACH(i, w->rows) {
        if (i == p) {
            w->state[q] = (uint8_t)gpuopt__simplex_make_nonbasic(to_upper, &x, &l, &u);
            w->xn[q] = x, w->ln[q] = l, w->un[q] = u;
            w->slot[q] = leaving;
            w->head[p] = entering;
            w->xb[p] = gpuopt__add(e->x, move), w->lb[p] = e->l, w->ub[p] = e->u;
        } else w->xb[i] = gpuopt__sub(w->xb[i], gpuopt__mul(w->alpha[i], move));
        outside |= gpuopt__simplex_batch_sign(set, w, i);
    }
    *step = by;
    return gpuopt__simplex_batch_any(outside);
}

/* Moves the entering variable to its other bound. */
GPUOPT__SIMPLEX_BATCH int gpuopt__simplex_batch_flip(const gpuopt__simplex_batch_set *set,
                                                     const gpuopt__simplex_batch_work *w,
                                                     const gpuopt__simplex_batch_entering *e) {
    const double range = gpuopt__sub(e->u, e->l), move = e->direction > 0 ? range : -range;
    int outside = 0;
    int32_t i;
    if (GPUOPT__SIMPLEX_BATCH_ONCE) {
        w->xn[e->slot] = e->direction > 0 ? e->u : e->l;
        w->state[e->slot] = (uint8_t)(e->direction > 0 ? GPUOPT__SIMPLEX_MAY_DECREASE : GPUOPT__SIMPLEX_MAY_INCREASE);
    }
    GPUOPT__SIMPLEX_BATCH_EACH(i, w->rows) {
        w->xb[i] = gpuopt__sub(w->xb[i], gpuopt__mul(w->alpha[i], move));
        outside |= gpuopt__simplex_batch_sign(set, w, i);
    }
    return gpuopt__simplex_batch_any(outside);
}

#endif /* GPUOPT_IMPL_SIMPLEX_BATCH_STEP_H */
