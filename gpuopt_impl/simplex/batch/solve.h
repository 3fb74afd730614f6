/* SPDX-License-Identifier: MIT
 *
 * Batches of small linear programs: from a program's data to its verdict, by the simplex method on a dense tableau.
 *
 * If the first basis is not feasible, the dual method (dual.h) runs first. Then the primal method runs, with
 * devex pricing, Harris' ratio test and bound flips. Its phase 1 minimises the sum of infeasibilities. Every conclusion
 * is first recomputed on the original data. When the primal method stalls, bounds of basic variables are perturbed,
 * which moves no point. After several perturbations Bland's rule takes over.
 */
#ifndef GPUOPT_IMPL_SIMPLEX_BATCH_SOLVE_H
#define GPUOPT_IMPL_SIMPLEX_BATCH_SOLVE_H

#include "proof.h"

enum {
    GPUOPT__SIMPLEX_BATCH_IDLE = 30,      /* iterations without a step until bounds are perturbed */
    GPUOPT__SIMPLEX_BATCH_BLAND = 6,      /* perturbations until Bland's rule takes over */
    GPUOPT__SIMPLEX_BATCH_REBUILDES = 40, /* most rebuilds per call and program */
    GPUOPT__SIMPLEX_CHILDREN_REFACTOR = 6 /* rebuilds until the tableau is recomputed */
};

/* The state of the method, known to all threads. */
typedef struct gpuopt__simplex_batch_run {
    int32_t k;
    int phase;     /* 1: some basic variable is outside its bounds */
    int primal;    /* the primal method does phase 1 */
    int priced;    /* the dual method's prices are computed */
    int fresh;     /* point and duals belong to the true bounds and were computed on the original data */
    int bans;      /* number of candidates banned for a small pivot */
    int perturbed; /* some bounds are perturbed */
    int strict;    /* price even reduced costs much smaller than the tolerance */
    int32_t rebuilds, iterations, idle, level;
} gpuopt__simplex_batch_run;

/* ---- The tableau of a basis ---- */

/* The slack basis: position i gets the slack of row i, slot j gets column j. */
GPUOPT__SIMPLEX_BATCH void gpuopt__simplex_batch_slack_basis(const gpuopt__simplex_batch_set *set,
                                                             const gpuopt__simplex_batch_work *w, int32_t k) {
    int32_t i, j;
    GPUOPT__SIMPLEX_BATCH_EACH(i, w->rows) w->head[i] = w->cols + i;
    GPUOPT__SIMPLEX_BATCH_EACH(j, w->cols) {
        w->slot[j] = j;
        w->d[j] = gpuopt__simplex_batch_cost(set, k, j) / w->unit[j];
        w->weight[j] = 1;
        w->state[j] = 0;
    }
    gpuopt__simplex_batch_sync();
}

/* Brings the columns that are basic by `status` into the basis, each with the largest remaining pivot. A column with
 * too small a pivot stays nonbasic. Then moves nonbasic variables to the bounds in `status`. */
GPUOPT__SIMPLEX_BATCH_LARGE void gpuopt__simplex_children_refactor(const gpuopt__simplex_batch_set *set,
                                                                   const gpuopt__simplex_batch_work *w, int32_t k) {
    const int32_t rows = w->rows, cols = w->cols;
    const uint8_t *const status = set->status + (int64_t)k * (rows + cols);
    int32_t q, i, j;
    gpuopt__simplex_batch_load(set, w, k);
    gpuopt__simplex_batch_slack_basis(set, w, k);
    for (q = 0; q < cols; q++) {
        gpuopt__simplex_batch_best best = {0, -1};
        double reduced, pivot;
        int32_t p;
        if (status[q] != GPUOPT_VARIABLE_BASIC) continue;
        reduced = w->d[q];
        GPUOPT__SIMPLEX_BATCH_EACH(i, rows) {
            w->alpha[i] = w->table[(int64_t)i * w->pitch + q];
            if (w->head[i] >= cols && status[w->head[i]] != GPUOPT_VARIABLE_BASIC && fabs(w->alpha[i]) >= set->pivot)
                gpuopt__simplex_batch_better(&best, fabs(w->alpha[i]), i);
        }
        best = gpuopt__simplex_batch_best_of(w->exchange, 3, best);
        p = best.index;
        if (p < 0) {
            gpuopt__simplex_batch_sync();
            continue;
        }
        pivot = w->alpha[p];
        gpuopt__simplex_batch_take_row(w, p, q, pivot);
        gpuopt__simplex_batch_update_table(w, p, q, reduced);
        if (GPUOPT__SIMPLEX_BATCH_ONCE) w->slot[q] = w->head[p], w->head[p] = q;
        gpuopt__simplex_batch_sync();
    }
    GPUOPT__SIMPLEX_BATCH_EACH(j, cols) { /* a slack is minus its row */
        const int to_upper = status[w->slot[j]] == GPUOPT_VARIABLE_AT_UPPER;
        const int to_lower = status[w->slot[j]] == GPUOPT_VARIABLE_AT_LOWER;
        if (w->slot[j] < cols ? to_upper : to_lower) w->state[j] = GPUOPT__SIMPLEX_MAY_DECREASE;
    }
    gpuopt__simplex_batch_sync();
}

/* Writes the basis to `status`. */
GPUOPT__SIMPLEX_BATCH void gpuopt__simplex_batch_publish_basis(const gpuopt__simplex_batch_set *set,
                                                               const gpuopt__simplex_batch_work *w, int32_t k) {
    uint8_t *const status = set->status + (int64_t)k * (w->rows + w->cols);
    int32_t i, j;
    gpuopt__simplex_batch_sync();
    GPUOPT__SIMPLEX_BATCH_EACH(i, w->rows) status[w->head[i]] = GPUOPT_VARIABLE_BASIC;
    GPUOPT__SIMPLEX_BATCH_EACH(j, w->cols) {
        const int32_t v = w->slot[j];
        const int state = w->state[j] & 3, mirrored = v >= w->cols;
        int upper = state == GPUOPT__SIMPLEX_MAY_DECREASE;
        double l, u;
        gpuopt__simplex_batch_bounds(set, k, v, &l, &u);
        if (l == -HUGE_VAL && u < HUGE_VAL) upper = 1;
        status[v] = (uint8_t)(l == -HUGE_VAL && u == HUGE_VAL ? GPUOPT_VARIABLE_AT_ZERO
                              : upper != mirrored             ? GPUOPT_VARIABLE_AT_UPPER
                                                              : GPUOPT_VARIABLE_AT_LOWER);
    }
    gpuopt__simplex_batch_sync();
}

/* ---- Bounds ---- */

GPUOPT__SIMPLEX_BATCH int gpuopt__simplex_batch_find_phase(const gpuopt__simplex_batch_set *set,
                                                           const gpuopt__simplex_batch_work *w) {
    int outside = 0;
    int32_t i;
    GPUOPT__SIMPLEX_BATCH_EACH(i, w->rows) outside |= gpuopt__simplex_batch_sign(set, w, i);
    return gpuopt__simplex_batch_any(outside) ? 1 : 2;
}

/* Restores the true bounds, and measures the present basis on the original data. Returns 0 after too many rebuilds. */
GPUOPT__SIMPLEX_BATCH_LARGE int gpuopt__simplex_batch_rebuild(const gpuopt__simplex_batch_set *set,
                                                              const gpuopt__simplex_batch_work *w,
                                                              gpuopt__simplex_batch_run *r) {
    r->fresh = 0;
    if (++r->rebuilds > GPUOPT__SIMPLEX_BATCH_REBUILDES) return 0;
    if (r->rebuilds % GPUOPT__SIMPLEX_CHILDREN_REFACTOR == 0) {
        gpuopt__simplex_batch_publish_basis(set, w, r->k);
        gpuopt__simplex_children_refactor(set, w, r->k);
    }
    gpuopt__simplex_batch_true_point(set, w, r->k);
    gpuopt__simplex_batch_true_duals(set, w, r->k);
    r->phase = gpuopt__simplex_batch_find_phase(set, w);
    r->fresh = 1;
    r->bans = r->perturbed = r->priced = 0;
    return 1;
}

/* Relaxes bounds of basic variables at random by 1 to 2 millionths; no value changes. */
GPUOPT__SIMPLEX_BATCH_LARGE void gpuopt__simplex_batch_perturb(const gpuopt__simplex_batch_set *set,
                                                               const gpuopt__simplex_batch_work *w,
                                                               gpuopt__simplex_batch_run *r) {
    int32_t i;
    GPUOPT__SIMPLEX_BATCH_EACH(i, w->rows) {
        const int32_t v = w->head[i];
        const uint64_t place = 2 * (uint64_t)v, seed = (uint64_t)r->level << 32;
        const double l = w->lb[i], u = w->ub[i];
        if (l == u) continue;
        w->lb[i] = gpuopt__sub(l, gpuopt__simplex_batch_slack(1e-6 * (1 + gpuopt__random(seed, place)), w->unit[v], l));
        w->ub[i] =
            gpuopt__add(u, gpuopt__simplex_batch_slack(1e-6 * (1 + gpuopt__random(seed, place + 1)), w->unit[v], u));
    }
    r->phase = gpuopt__simplex_batch_find_phase(set, w);
    r->level++;
    r->idle = 0;
    r->perturbed = 1;
    r->fresh = 0;
}

/* ---- Iterating ---- */

GPUOPT__SIMPLEX_BATCH void gpuopt__simplex_batch_ban(const gpuopt__simplex_batch_work *w, gpuopt__simplex_batch_run *r,
                                                     int32_t slot) {
    if (GPUOPT__SIMPLEX_BATCH_ONCE) w->state[slot] |= GPUOPT__SIMPLEX_BANNED;
    r->bans++;
    gpuopt__simplex_batch_sync();
}

/* Called with no candidate left and everything fresh. Returns a verdict, or MORE. */
GPUOPT__SIMPLEX_BATCH int gpuopt__simplex_batch_conclude(const gpuopt__simplex_batch_set *set,
                                                         const gpuopt__simplex_batch_work *w,
                                                         gpuopt__simplex_batch_run *r) {
    if (r->phase == 1) return gpuopt__simplex_batch_prove_infeasible(set, w, r->k) ? GPUOPT_INFEASIBLE : GPUOPT_MORE;
    if (!gpuopt__simplex_batch_feasible(set, w, r->k) || !gpuopt__simplex_batch_dual_feasible(set, w, r->k))
        return GPUOPT_MORE;
    if (gpuopt__simplex_batch_objectives_agree(set, w, r->k)) return GPUOPT_OPTIMAL;
    return r->strict++ ? GPUOPT_IMPRECISE : GPUOPT_MORE;
}

/* Phase 1 by the dual method: one iteration. Returns an outcome; MORE: continue, perhaps with the primal method; LIMIT:
 * a pivot exists, but `most` iterations are done. */
GPUOPT__SIMPLEX_BATCH_LARGE int gpuopt__simplex_batch_dual_iteration(const gpuopt__simplex_batch_set *set,
                                                                     const gpuopt__simplex_batch_work *w,
                                                                     gpuopt__simplex_batch_run *r, int32_t most) {
    double step;
    int32_t p, q;
    if (!r->priced) {
        r->priced = 1;
        if (!gpuopt__simplex_batch_begin_dual(set, w)) {
            r->phase = 2, r->primal = 1, r->fresh = 0;
            return GPUOPT_MORE;
        }
    }
    p = gpuopt__simplex_batch_leaving(w);
    q = p < 0 ? -2 : gpuopt__simplex_batch_dual_ratio_test(set, w, p);
    if (q >= 0) {
        r->fresh = 0;
        if (r->iterations >= most) return GPUOPT_LIMIT;
        r->phase = gpuopt__simplex_batch_dual_pivot(set, w, p, q, &step) ? 1 : 2;
        r->iterations++;
        r->idle = step > 1e-13 ? 0 : r->idle + 1;
        if (r->phase == 2) r->primal = 1, r->idle = 0;
        else if (r->idle >= GPUOPT__SIMPLEX_BATCH_WAVER) {
            gpuopt__simplex_batch_perturb_prices(w, r->iterations);
            r->idle = 0;
        }
        return GPUOPT_MORE;
    }
    if (!r->fresh) return gpuopt__simplex_batch_rebuild(set, w, r) ? GPUOPT_MORE : GPUOPT_IMPRECISE;
    if (q == -1) { /* by this row alone */
        int32_t i;
        GPUOPT__SIMPLEX_BATCH_EACH(i, w->rows)
        if (i != p) w->sign[i] = 0;
        gpuopt__simplex_batch_sync();
        r->fresh = 0; /* point was used as scratch */
        if (gpuopt__simplex_batch_prove_infeasible(set, w, r->k)) return GPUOPT_INFEASIBLE;
    }
    r->primal = 1;
    r->fresh = 0;
    gpuopt__simplex_batch_sync();
    r->phase = gpuopt__simplex_batch_find_phase(set, w);
    return GPUOPT_MORE;
}

/* Iterates until there is a verdict, or until the limit (MORE). */
GPUOPT__SIMPLEX_BATCH_LARGE int gpuopt__simplex_batch_iterate(const gpuopt__simplex_batch_set *set,
                                                              const gpuopt__simplex_batch_work *w,
                                                              gpuopt__simplex_batch_run *r, int32_t most) {
    const int32_t cap = 100 * (w->rows + w->cols) + 10000;
    const int32_t dual_cap = 3 * (w->rows + w->cols) + 200;
    for (;;) {
        if (r->phase == 1 && !r->primal) {
            const int outcome = gpuopt__simplex_batch_dual_iteration(set, w, r, most);
            if (outcome == GPUOPT_LIMIT) return GPUOPT_MORE;
            if (outcome != GPUOPT_MORE) return outcome;
            if (r->iterations >= dual_cap) r->primal = 1;
            continue;
        }
        const int bland = r->level >= GPUOPT__SIMPLEX_BATCH_BLAND && r->idle >= GPUOPT__SIMPLEX_BATCH_IDLE;
        const gpuopt__simplex_batch_best best = gpuopt__simplex_batch_price(set, w, r->phase, bland, r->strict);
        gpuopt__simplex_batch_entering e;
        double d, step = 0;
        int outside;
        int32_t p;
        if (best.index < 0) {
            if (r->fresh && r->bans == 0) {
                const int outcome = gpuopt__simplex_batch_conclude(set, w, r);
                if (outcome != GPUOPT_MORE) return outcome;
            }
            if (!gpuopt__simplex_batch_rebuild(set, w, r)) return GPUOPT_IMPRECISE;
            continue;
        }
        if (r->iterations >= most) return GPUOPT_MORE;
        if (r->iterations >= cap) return GPUOPT_IMPRECISE;
        d = r->phase == 1 ? w->price[best.index] : w->d[best.index];
        e.slot = best.index;
        e.direction = d < 0 ? 1 : -1;
        e.reduced = w->d[e.slot], e.weight = w->weight[e.slot];
        e.x = w->xn[e.slot], e.l = w->ln[e.slot], e.u = w->un[e.slot];
        p = gpuopt__simplex_batch_ratio_test(set, w, e.slot, e.direction, bland);
        if (p >= 0) { /* the entering variable's own range may be shorter */
            const double a = e.direction > 0 ? w->alpha[p] : -w->alpha[p];
            step = gpuopt__max(0, gpuopt__simplex_step_to(w->xb[p], gpuopt__simplex_batch_blocking(w, p, a), 1 / a, 0));
        }
        if (gpuopt__sub(e.u, e.l) < HUGE_VAL && (p == -1 || (p >= 0 && gpuopt__sub(e.u, e.l) <= step))) {
            gpuopt__simplex_batch_sync(); /* all threads have read the winner's row */
            outside = gpuopt__simplex_batch_flip(set, w, &e);
            step = gpuopt__sub(e.u, e.l);
        } else if (p >= 0) {
            outside = gpuopt__simplex_batch_pivot(set, w, &e, p, &step);
        } else if (p == -1 && r->phase == 2 && !r->fresh) {
            if (!gpuopt__simplex_batch_rebuild(set, w, r)) return GPUOPT_IMPRECISE;
            continue;
        } else if (p == -1 && r->phase == 2 && gpuopt__simplex_batch_feasible(set, w, r->k) &&
                   gpuopt__simplex_batch_prove_unbounded(set, w, r->k, e.slot, e.direction)) {
            return GPUOPT_UNBOUNDED;
        } else {
            gpuopt__simplex_batch_ban(w, r, e.slot);
            continue;
        }
        r->phase = outside ? 1 : 2;
        r->fresh = 0;
        r->iterations++;
        r->idle = gpuopt__mul(step, fabs(d)) > 1e-13 ? 0 : r->idle + 1;
        if (r->idle >= GPUOPT__SIMPLEX_BATCH_IDLE && r->level < GPUOPT__SIMPLEX_BATCH_BLAND)
            gpuopt__simplex_batch_perturb(set, w, r);
    }
}

/* ---- A program ---- */

/* Writes the results. */
GPUOPT__SIMPLEX_BATCH_LARGE void gpuopt__simplex_batch_report(const gpuopt__simplex_batch_set *set,
                                                              const gpuopt__simplex_batch_work *w,
                                                              const gpuopt__simplex_batch_run *r, int outcome,
                                                              int32_t before) {
    const int32_t k = r->k, rows = w->rows, cols = w->cols;
    int32_t i, j;
    gpuopt__simplex_batch_publish_basis(set, w, k);
    if (outcome == GPUOPT_MORE && set->limit > 0 && before + r->iterations >= set->limit) outcome = GPUOPT_LIMIT;
    GPUOPT__SIMPLEX_BATCH_EACH(j, cols) {
        set->x[(int64_t)k * cols + j] = w->point[j];
        if (outcome != GPUOPT_UNBOUNDED) set->ray[(int64_t)k * cols + j] = set->ray_low[(int64_t)k * cols + j] = 0;
    }
    GPUOPT__SIMPLEX_BATCH_EACH(i, rows) {
        const int64_t at = (int64_t)k * rows + i;
        const double y = set->maximize ? -w->y[i] : w->y[i];
        set->dual_y[at] = outcome == GPUOPT_INFEASIBLE || outcome == GPUOPT_UNBOUNDED || y == 0 ? 0 : y;
        if (outcome != GPUOPT_INFEASIBLE) set->farkas[at] = set->farkas_low[at] = 0;
    }
    if (GPUOPT__SIMPLEX_BATCH_FIRST_GROUP) {
        gpuopt__simplex_sum total;
        gpuopt__simplex_batch_progress *const to = &set->progress[k];
        GPUOPT__SIMPLEX_BATCH_SUM(
            total, j, cols, gpuopt__simplex_add_product(sum, gpuopt__simplex_batch_cost(set, k, j), w->point[j], 0));
        if (GPUOPT__SIMPLEX_BATCH_ONCE) {
            const double objective = gpuopt__simplex_total(&total);
            set->objective[k] = objective == 0 || !set->maximize ? objective : -objective;
            to->outcome = outcome;
            to->iterations = before + r->iterations;
            to->primal = r->primal;
            to->idle = r->idle;
            to->level = r->level;
        }
    }
    gpuopt__simplex_batch_sync();
}

/* Whether some column's bounds cross. */
GPUOPT__SIMPLEX_BATCH int gpuopt__simplex_batch_crossing(const gpuopt__simplex_batch_set *set, int32_t k) {
    int crossing = 0;
    int32_t j;
    GPUOPT__SIMPLEX_BATCH_EACH(j, set->cols) {
        double l, u;
        gpuopt__simplex_batch_bounds(set, k, j, &l, &u);
        crossing |= l > u;
    }
    return gpuopt__simplex_batch_any(crossing);
}

/* Works on program k, which has no verdict yet, for at most set->most iterations. */
GPUOPT__SIMPLEX_BATCH_LARGE void gpuopt__simplex_batch_solve(const gpuopt__simplex_batch_set *set,
                                                             const gpuopt__simplex_batch_work *w, int32_t k) {
    const gpuopt__simplex_batch_progress from = set->progress[k];
    const int32_t left = set->limit > 0 ? set->limit - from.iterations : INT32_MAX;
    const int crossing = gpuopt__simplex_batch_crossing(set, k);
    gpuopt__simplex_batch_run r;
    int outcome = GPUOPT_INFEASIBLE;
    int32_t i;
    r.k = k;
    r.rebuilds = r.iterations = r.strict = 0;
    r.primal = from.primal;
    r.idle = from.idle, r.level = from.level;
    if (from.iterations > 0) gpuopt__simplex_children_refactor(set, w, k);
    else {
        gpuopt__simplex_batch_load(set, w, k);
        gpuopt__simplex_batch_slack_basis(set, w, k);
    }
    gpuopt__simplex_batch_rebuild(set, w, &r);
    if (!crossing) outcome = gpuopt__simplex_batch_iterate(set, w, &r, set->most < left ? set->most : left);
    else {
        GPUOPT__SIMPLEX_BATCH_EACH(i, w->rows)
        set->farkas[(int64_t)k * w->rows + i] = set->farkas_low[(int64_t)k * w->rows + i] = 0;
    }
    if (!r.fresh) {
        r.rebuilds = 0;
        gpuopt__simplex_batch_rebuild(set, w, &r);
    }
    gpuopt__simplex_batch_report(set, w, &r, outcome, from.iterations);
}

#endif /* GPUOPT_IMPL_SIMPLEX_BATCH_SOLVE_H */
