/* SPDX-License-Identifier: MIT
 *
 * Iterations of the dual simplex method on the CPU: the choice of the leaving variable, the ratio test with bound
 * flips, and the pivot.
 */
#ifndef GPUOPT_IMPL_SIMPLEX_CPU_DUAL_H
#define GPUOPT_IMPL_SIMPLEX_CPU_DUAL_H

#include "save_inverse.h"
#include "run.h"
#include "../arith/dual_step.h"

/* ---- Pricing ---- */

/* Whether the last computed norms belong to this basis and stay valid: callers that branch often return to a basis. */
static int gpuopt__simplex_cpu_weights_known(gpuopt__simplex_cpu *s) {
    int32_t i, rows = s->lp->rows;
    for (i = 0; i < rows; i++)
        if (s->norm[s->v->head[i]] == 0) return 0;
    for (i = 0; i < rows; i++) s->dual_weight[i] = s->norm[s->v->head[i]];
    return 1;
}

/* Weights for the present basis, if there are none: squared norms of the rows of B^-1, or ones. A tableau contains the
 * columns of B^-1 for nonbasic slacks; for basic slacks they are unit vectors. */
static void gpuopt__simplex_cpu_weigh(gpuopt__simplex_cpu *s, gpuopt_simplex_dual_pricing pricing) {
    gpuopt__deferred *inverse = &s->inverse;
    int steepest = pricing == GPUOPT_DUAL_PRICING_STEEPEST_EDGE;
    int32_t i, j, rows = s->lp->rows, cols = s->lp->cols;
    if (s->weighs == (int)pricing + 1) return;
    s->weighs = (int)pricing + 1;
    if (steepest && gpuopt__simplex_cpu_weights_known(s)) return;
    for (i = 0; i < rows; i++) s->dual_weight[i] = !steepest || (!s->revised && s->v->head[i] >= cols);
    if (!steepest) return;
    for (i = 0; i < rows && s->revised; i++) {
        memset(s->tau, 0, sizeof(double) * (size_t)rows);
        s->tau[i] = 1;
        if (!s->sparse.slack) gpuopt__simplex_sparse_btran(&s->sparse, s->tau);
        s->dual_weight[i] = s->sparse.slack ? 1 : gpuopt__dot(rows, s->tau, s->tau);
    }
    s->version += inverse->count > 0;
    if (!s->revised) gpuopt__deferred_apply(inverse, gpuopt__team(s->context, s->threads));
    for (j = 0; j < inverse->cols; j++) {
        const double *column = gpuopt__deferred_stored(inverse, j);
        if (s->v->slot[j] < cols) continue;
        GPUOPT__SIMD
        for (i = 0; i < rows; i++) s->dual_weight[i] += column[i] * column[i];
    }
    memset(s->norm, 0, sizeof(double) * ((size_t)rows + (size_t)cols));
    for (i = 0; i < rows; i++) s->norm[s->v->head[i]] = s->dual_weight[i];
}

/* The position of the leaving variable; *excess: how far it is outside its bounds. -1: all are feasible or refused. */
static int32_t gpuopt__simplex_cpu_dual_price(const gpuopt__simplex_cpu *s, const gpuopt__simplex_dual_run *run,
                                              double *excess) {
    const gpuopt__simplex_vectors *v = s->v;
    double best = 0;
    int32_t i, p = -1;
    for (i = 0; i < s->lp->rows; i++) {
        double by = gpuopt__simplex_excess(v->xb[i], v->lb[i], v->ub[i], run->rules.primal);
        if (by == 0 || s->refused[i] || by * by <= best * s->dual_weight[i]) continue;
        best = by * by / s->dual_weight[i];
        *excess = by;
        p = i;
    }
    return p;
}

/* ---- Ratio test; the pivot row is in row ---- */

/* Moves the entry at `at` of a heap of slots down, with the smallest key on top. */
static void gpuopt__simplex_sift(int32_t *heap, int32_t count, int32_t at, const double *key) {
    int32_t moved = heap[at], child;
    for (child = 2 * at + 1; child < count; child = 2 * at + 1) {
        if (child + 1 < count && key[heap[child + 1]] < key[heap[child]]) child++;
        if (key[moved] <= key[heap[child]]) break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = moved;
}

/* The slots of the ratio test, in s->list. The dual step passes the slots from `rest` on, the last one first: their
 * variables move to their other bounds. */
typedef struct gpuopt__simplex_dual_ratio {
    int32_t total, rest; /* entries of the list; slots that are not passed come first */
    int32_t entering;    /* slot, -1: none */
    double size;         /* absolute value of its entry in the pivot row */
} gpuopt__simplex_dual_ratio;

/* Lists the slots with reduced costs that reach 0 when the row times sigma is subtracted from them, as a heap. Their
 * keys, in combined, are the steps at which they reach 0. */
static int32_t gpuopt__simplex_cpu_dual_list(gpuopt__simplex_cpu *s, const gpuopt__simplex_dual_run *run,
                                             double sigma) {
    const gpuopt__simplex_vectors *v = s->v;
    double *key = s->combined, zero = run->rules.zero;
    int32_t j, count = 0;
    for (j = 0; j < s->lp->cols; j++) {
        double a = sigma * s->row[j];
        if (!((a > zero && v->state[j] & GPUOPT__SIMPLEX_MAY_INCREASE) ||
              (a < -zero && v->state[j] & GPUOPT__SIMPLEX_MAY_DECREASE)))
            continue;
        key[j] = gpuopt__max(0, v->d[j] / a);
        s->list[count++] = j;
    }
    for (j = count / 2 - 1; j >= 0; j--) gpuopt__simplex_sift(s->list, count, j, key);
    return count;
}

/* Harris' test among the slots not passed: the largest entry that blocks within the tolerance. If it is small, takes
 * back the last passed slot with a larger entry. */
static void gpuopt__simplex_cpu_dual_choose(gpuopt__simplex_cpu *s, const gpuopt__simplex_dual_run *run,
                                            gpuopt__simplex_dual_ratio *r) {
    const gpuopt__simplex_vectors *v = s->v;
    const double good = 1e-4, *key = s->combined;
    double limit = HUGE_VAL;
    int32_t k, chosen = -1;
    for (k = 0; k < r->rest; k++) {
        int32_t j = s->list[k];
        limit = gpuopt__min(limit, (fabs(v->d[j]) + run->rules.dual) / fabs(s->row[j]));
    }
    r->size = 0;
    for (k = 0; k < r->rest; k++) {
        int32_t j = s->list[k];
        if (key[j] <= limit && fabs(s->row[j]) > r->size) r->size = fabs(s->row[j]), chosen = k;
    }
    for (k = r->rest; k < r->total && r->size < good; k++) {
        double size = fabs(s->row[s->list[k]]);
        if (size >= good || size > 10 * r->size) r->size = size, chosen = k, r->rest = k + 1;
    }
    r->entering = chosen < 0 ? -1 : s->list[chosen];
}

/* The long-step rule. The slope of the dual objective is the infeasibility, and passed variables flip. */
static void gpuopt__simplex_cpu_dual_ratio(gpuopt__simplex_cpu *s, const gpuopt__simplex_dual_run *run, double excess,
                                           gpuopt__simplex_dual_ratio *r) {
    const gpuopt__simplex_vectors *v = s->v;
    const double slope = fabs(excess), least = run->rules.primal * gpuopt__max(1, slope);
    const gpuopt__simplex_slope budget = gpuopt__simplex_slope_of(slope, least, s->lp->cols);
    uint64_t taken = 0;
    r->rest = r->total = gpuopt__simplex_cpu_dual_list(s, run, excess > 0 ? 1 : -1);
    r->entering = -1;
    r->size = 0;
    while (r->rest > 0) {
        int32_t j = s->list[0];
        taken += gpuopt__simplex_slope_units(&budget, s->row[j], v->un[j] - v->ln[j]);
        if (taken >= budget.slack) break;
        s->list[0] = s->list[--r->rest];
        s->list[r->rest] = j;
        gpuopt__simplex_sift(s->list, r->rest, 0, s->combined);
    }
    if (r->rest > 0) gpuopt__simplex_cpu_dual_choose(s, run, r);
}

/* The same for an entering variable that the caller has chosen; no variable is passed. */
static void gpuopt__simplex_cpu_dual_given(const gpuopt__simplex_cpu *s, int32_t slot, gpuopt__simplex_dual_ratio *r) {
    int32_t k;
    r->rest = r->total;
    r->entering = -1;
    for (k = 0; k < r->total; k++)
        if (s->list[k] == slot) r->entering = slot, r->size = fabs(s->row[slot]);
}

/* Whether the variable at k of the list flips, because the step goes beyond its break point. */
static int gpuopt__simplex_cpu_dual_passes(const gpuopt__simplex_cpu *s, const gpuopt__simplex_dual_ratio *r,
                                           int32_t k) {
    return s->list[k] != r->entering && s->combined[s->list[k]] < s->combined[r->entering];
}

/* ---- Moving ---- */

/* Flips the passed variables, and moves the basic variables accordingly. */
static int32_t gpuopt__simplex_cpu_dual_flips(gpuopt__simplex_cpu *s, const gpuopt__simplex_dual_ratio *r) {
    gpuopt__simplex_vectors *v = s->v;
    int32_t k, flips = 0, rows = s->lp->rows, cols = s->lp->cols;
    int64_t e;
    for (k = r->rest; k < r->total; k++) {
        int32_t j = s->list[k], variable = v->slot[j];
        int up = v->state[j] == GPUOPT__SIMPLEX_MAY_INCREASE;
        double by = up ? v->un[j] - v->ln[j] : v->ln[j] - v->un[j];
        if (!gpuopt__simplex_cpu_dual_passes(s, r, k)) continue;
        if (flips++ == 0)
            memset(s->revised ? s->moved : s->by_col, 0, sizeof(double) * (size_t)(s->revised ? rows : cols));
        v->xn[j] = up ? v->un[j] : v->ln[j];
        v->state[j] = up ? GPUOPT__SIMPLEX_MAY_DECREASE : GPUOPT__SIMPLEX_MAY_INCREASE;
        if (!s->revised) s->by_col[j] = by;
        else if (variable >= cols) s->moved[variable - cols] += by;
        else
            for (e = s->col_start[variable]; e < s->col_start[variable + 1]; e++)
                s->moved[s->col_row[e]] += s->col_val[e] * by;
    }
    if (flips == 0) return 0;
    if (s->revised) gpuopt__simplex_sparse_ftran(&s->sparse, s->moved);
    else gpuopt__deferred_times(&s->inverse, s->by_col, s->multiplier);
    gpuopt__axpy(rows, -1, s->revised ? s->moved : s->multiplier, v->xb);
    return flips;
}

/* Sets a reduced cost of the wrong sign to 0 by a shift of its cost. */
static void gpuopt__simplex_cpu_dual_shift(gpuopt__simplex_cpu *s, const gpuopt__simplex_dual_run *run, int32_t slot,
                                           gpuopt__simplex_run_report *report) {
    gpuopt__simplex_vectors *v = s->v;
    double d = v->d[slot];
    if (!gpuopt__simplex_dual_wrong(d, v->state[slot], 0)) return;
    report->shifted = gpuopt__max(report->shifted, fabs(d));
    run->cost[v->slot[slot]] -= d;
    v->d[slot] = 0;
}

/* Updates the weights after the pivot with its column in alpha. rho: the row of B^-1. */
static void gpuopt__simplex_cpu_dual_weights(gpuopt__simplex_cpu *s, gpuopt_simplex_dual_pricing pricing, int32_t p) {
    double pivot = s->alpha[p], norm = s->dual_weight[p], *weight = s->dual_weight;
    int32_t i, rows = s->lp->rows;
    if (pricing == GPUOPT_DUAL_PRICING_STEEPEST_EDGE) {
        norm = gpuopt__dot(rows, s->rho, s->rho);
        memcpy(s->tau, s->rho, sizeof(double) * (size_t)rows);
        gpuopt__simplex_cpu_ftran(s, s->tau);
        for (i = 0; i < rows; i++)
            if (s->alpha[i] != 0)
                weight[i] = gpuopt__simplex_dual_steepest(weight[i], s->alpha[i] / pivot, s->tau[i], norm);
        weight[p] = gpuopt__max(norm / (pivot * pivot), 1e-4);
    } else if (pricing == GPUOPT_DUAL_PRICING_DEVEX) {
        for (i = 0; i < rows; i++)
            if (s->alpha[i] != 0) weight[i] = gpuopt__simplex_devex(weight[i], s->alpha[i] / pivot, norm);
        weight[p] = gpuopt__max(norm / (pivot * pivot), 1);
        for (i = 0; gpuopt__simplex_devex_worn(norm) && i < rows; i++) weight[i] = 1;
    }
}

/* Computes a position's row of B^-1. A tableau stores only rows of B^-1 N. */
static void gpuopt__simplex_cpu_rho(gpuopt__simplex_cpu *s, int32_t position) {
    int32_t j, cols = s->lp->cols;
    if (s->revised) return;
    memset(s->rho, 0, sizeof(double) * (size_t)s->lp->rows);
    for (j = 0; j < cols; j++)
        if (s->v->slot[j] >= cols) s->rho[s->v->slot[j] - cols] = s->row[j];
    if (s->v->head[position] >= cols) s->rho[s->v->head[position] - cols] = 1;
}

/* Pivots on row p. The entering variable's column is in alpha. */
static void gpuopt__simplex_cpu_dual_pivot(gpuopt__simplex_cpu *s, const gpuopt__simplex_dual_run *run, int32_t p,
                                           const gpuopt__simplex_dual_ratio *r, gpuopt__simplex_run_report *report) {
    gpuopt__simplex_vectors *v = s->v;
    int32_t j, k, q = r->entering;
    double pivot = s->alpha[p], theta, step;
    report->flips += gpuopt__simplex_cpu_dual_flips(s, r);
    gpuopt__simplex_cpu_dual_shift(s, run, q, report);
    theta = v->d[q] / pivot;
    for (j = 0; j < s->lp->cols; j++) v->d[j] -= theta * s->row[j];
    v->d[q] = 0;
    for (k = 0; k < r->total; k++) gpuopt__simplex_cpu_dual_shift(s, run, s->list[k], report);
    v->d[q] = -theta;
    step = (v->xb[p] - (report->to_upper ? v->ub[p] : v->lb[p])) / pivot;
    gpuopt__axpy(s->lp->rows, -step, s->alpha, v->xb);
    gpuopt__simplex_cpu_dual_weights(s, run->pricing, p);
    gpuopt__simplex_cpu_append(s, p, q);
    report->leaving = p;
    report->entering = q;
    report->direction = step < 0 ? -1 : 1;
    report->step = fabs(step);
    v->xb[p] = report->to_upper ? v->ub[p] : v->lb[p];
    gpuopt__simplex_cpu_exchange(s, report);
    report->pivots++;
}

/* ---- The loop ---- */

/* Does one iteration or a part of one, or refuses a row. Returns 0 if the run has ended. */
static int gpuopt__simplex_cpu_dual_step(gpuopt__simplex_cpu *s, const gpuopt__simplex_dual_run *run,
                                         gpuopt__simplex_run_report *report) {
    gpuopt__simplex_dual_ratio r;
    double excess = 0;
    int chooses = gpuopt__simplex_chooses(run->part);
    int32_t k, p = chooses ? gpuopt__simplex_cpu_dual_price(s, run, &excess) : run->leaving;
    if (p < 0) {
        report->end = GPUOPT__SIMPLEX_END_FEASIBLE;
        return 0;
    }
    if (!chooses) excess = gpuopt__simplex_excess(s->v->xb[p], s->v->lb[p], s->v->ub[p], run->rules.primal);
    report->leaving = p;
    report->direction = excess > 0 ? 1 : -1;
    report->to_upper = excess > 0;
    report->score = excess * excess / s->dual_weight[p];
    if (run->part == GPUOPT__SIMPLEX_RUN_PRICE) return 0;
    gpuopt__simplex_cpu_row(s, p);
    gpuopt__simplex_cpu_rho(s, p);
    gpuopt__simplex_cpu_dual_ratio(s, run, excess, &r);
    if (run->part == GPUOPT__SIMPLEX_RUN_PIVOT && r.entering != run->entering)
        gpuopt__simplex_cpu_dual_given(s, run->entering, &r);
    report->entering = r.entering;
    if (r.entering < 0) {
        report->end = GPUOPT__SIMPLEX_END_NO_ENTERING;
        return 0;
    }
    if (run->part != GPUOPT__SIMPLEX_RUN_ITERATE) report->pivot = s->row[r.entering];
    if (run->part == GPUOPT__SIMPLEX_RUN_RATIO) {
        report->step = s->combined[r.entering];
        for (k = r.rest; k < r.total; k++) report->flips += gpuopt__simplex_cpu_dual_passes(s, &r, k);
        return 0;
    }
    if (r.size < run->rules.pivot && run->part == GPUOPT__SIMPLEX_RUN_PIVOT) {
        report->end = GPUOPT__SIMPLEX_END_UNSAFE;
        return 0;
    }
    if (r.size < run->rules.pivot) {
        s->refused[p] = 1;
        report->bans++;
        return 1;
    }
    gpuopt__simplex_cpu_column(s, r.entering);
    if (!(fabs(s->alpha[p] - s->row[r.entering]) <= 1e-6 * r.size)) {
        report->end = GPUOPT__SIMPLEX_END_DRIFTED;
        return 0;
    }
    report->idle = s->combined[r.entering] * r.size <= run->rules.dual ? report->idle + 1 : 0;
    gpuopt__simplex_cpu_dual_pivot(s, run, p, &r, report);
    if (report->idle >= GPUOPT__SIMPLEX_STALL) report->end = GPUOPT__SIMPLEX_END_STALLED;
    return report->end == GPUOPT__SIMPLEX_END_LIMIT;
}

static int gpuopt__simplex_cpu_cut_off(const gpuopt__simplex_cpu *s, double cutoff) {
    return cutoff < HUGE_VAL && gpuopt__dot(s->lp->cols, s->v->d, s->v->xn) >= cutoff;
}

static gpuopt_status gpuopt__simplex_cpu_dual_run(void *engine, const gpuopt__simplex_dual_run *run,
                                                  gpuopt__simplex_run_report *report) {
    gpuopt__simplex_cpu *s = (gpuopt__simplex_cpu *)engine;
    gpuopt_status status;
    if (!gpuopt__simplex_cpu_begins(s, report, &status)) return status;
    memset(s->refused, 0, (size_t)s->lp->rows);
    gpuopt__simplex_cpu_weigh(s, run->pricing);
    do {
        if (gpuopt__simplex_cpu_cut_off(s, run->cutoff)) report->end = GPUOPT__SIMPLEX_END_CUTOFF;
    } while (report->end == GPUOPT__SIMPLEX_END_LIMIT && report->pivots < run->most &&
             gpuopt__simplex_cpu_dual_step(s, run, report) && gpuopt__simplex_cpu_goes_on(s, report));
    return GPUOPT_OK;
}

#endif /* GPUOPT_IMPL_SIMPLEX_CPU_DUAL_H */
