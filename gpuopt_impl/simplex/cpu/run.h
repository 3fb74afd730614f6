/* SPDX-License-Identifier: MIT
 *
 * Simplex iterations on the CPU: pricing, ratio test, pivots, flips.
 */
#ifndef GPUOPT_IMPL_SIMPLEX_CPU_RUN_H
#define GPUOPT_IMPL_SIMPLEX_CPU_RUN_H

#include "engine.h"

/* Replaces this rank's best candidate by the best of all ranks. */
static void gpuopt__simplex_cpu_price_all(gpuopt__simplex_cpu *s, gpuopt__simplex_run_report *report) {
    const gpuopt__simplex_vectors *v = s->v;
    const int32_t q = report->entering;
    const gpuopt__simplex_pivot_candidate own = {
        report->score, q < 0 ? 0 : v->d[q], q < 0 ? 0 : v->weight[q], q, 0, 0, 0, 0};
    gpuopt__simplex_pivot_candidate best;
    gpuopt__simplex_split_choose(&s->split, &own, &best);
    report->entering = (int32_t)best.slot;
    report->score = best.score;
    if (best.slot < 0) return;
    v->d[best.slot] = best.d;
    v->weight[best.slot] = best.weight;
}

static void gpuopt__simplex_cpu_price(gpuopt__simplex_cpu *s, const gpuopt__simplex_run *run,
                                      gpuopt__simplex_run_report *report) {
    const gpuopt__simplex_vectors *v = s->v;
    int32_t j;
    report->entering = -1;
    report->score = 0;
    for (j = s->split.first; j < s->split.end; j++) {
        double score = gpuopt__simplex_score(v->d[j], v->weight[j], v->state[j], run->rules.dual);
        if (score > report->score) report->score = score, report->entering = j;
    }
    if (s->split.ranks > 1) gpuopt__simplex_cpu_price_all(s, report);
    if (report->entering < 0) return;
    report->reduced_cost = v->d[report->entering];
    report->direction = report->reduced_cost < 0 ? 1 : -1;
}

/* ---- Ratio test; the pivot column is in alpha ---- */

static gpuopt__simplex_ratio_winner gpuopt__simplex_cpu_group(const gpuopt__simplex_cpu *s,
                                                              const gpuopt__simplex_run *run, double sigma,
                                                              double harris, int32_t from, int32_t to) {
    const gpuopt__simplex_vectors *v = s->v;
    gpuopt__simplex_ratio_winner winner = {HUGE_VAL, 0, 0, -1};
    double limit = HUGE_VAL, size = 0;
    int32_t i;
    for (i = from; i < to; i++) {
        double a = sigma * s->alpha[i],
               bound = gpuopt__simplex_blocking_bound(v->xb[i], v->lb[i], v->ub[i], a, &run->rules);
        if (fabs(bound) < HUGE_VAL)
            limit = gpuopt__min(
                limit, gpuopt__simplex_step_to(v->xb[i], bound, 1 / a, gpuopt__simplex_slack_of(harris, bound)));
    }
    limit = gpuopt__max(limit, 0);
    winner.limit = limit;
    for (i = from; i < to && limit < HUGE_VAL; i++) {
        double a = sigma * s->alpha[i],
               bound = gpuopt__simplex_blocking_bound(v->xb[i], v->lb[i], v->ub[i], a, &run->rules), step;
        if (fabs(a) <= size || !(fabs(bound) < HUGE_VAL)) continue;
        step = gpuopt__simplex_step_to(v->xb[i], bound, 1 / a, 0);
        if (step > limit) continue;
        size = fabs(a);
        winner.step = step;
        winner.index = i;
    }
    winner.size = (float)size;
    return winner;
}

static void gpuopt__simplex_cpu_ratio(gpuopt__simplex_cpu *s, const gpuopt__simplex_run *run,
                                      gpuopt__simplex_run_report *report) {
    const gpuopt__simplex_vectors *v = s->v;
    int32_t from, q = report->entering, rows = s->lp->rows, group = gpuopt__simplex_ratio_group(rows), pass;
    double sigma = report->direction, harris = gpuopt__simplex_harris_now(&run->rules, report->pivots + report->flips);
    gpuopt__simplex_ratio_winner best = {0, 0, 0, -1};
    double limit = HUGE_VAL;
    for (pass = 0; pass < 2; pass++) /* first the limit over all groups, then the best winner within it */
        for (from = 0; from < rows; from += group) {
            int32_t to = rows - from < group ? rows : from + group;
            gpuopt__simplex_ratio_winner winner;
            if (pass == 0)
                winner = s->winners[from / group] = gpuopt__simplex_cpu_group(s, run, sigma, harris, from, to);
            else winner = s->winners[from / group];
            if (pass == 0 && winner.limit < limit) limit = winner.limit;
            if (pass == 1 && winner.step <= limit && winner.size > best.size) best = winner;
        }
    report->largest = gpuopt__simplex_largest(rows, s->alpha);
    if (best.index < 0) gpuopt__simplex_choose_leaving(&run->rules, v->un[q] - v->ln[q], -1, 0, 0, 0, 0, 0, report);
    else
        gpuopt__simplex_choose_leaving(&run->rules, v->un[q] - v->ln[q], best.index, best.step, v->xb[best.index],
                                       v->lb[best.index], v->ub[best.index], s->alpha[best.index], report);
}

/* ---- Moving ---- */

/* Moves the basic variables. In phase 1 a variable that becomes feasible or infeasible changes its cost, and so the
 * reduced costs. */
static void gpuopt__simplex_cpu_move(gpuopt__simplex_cpu *s, const gpuopt__simplex_run *run,
                                     const gpuopt__simplex_run_report *report) {
    gpuopt__simplex_vectors *v = s->v;
    double sigma = report->direction, change = 0;
    int32_t i, j, count = 0, rows = s->lp->rows, q = report->entering;
    for (i = 0; i < rows; i++) {
        int before, after;
        if (s->alpha[i] == 0) continue;
        before = gpuopt__simplex_infeasible(v->xb[i], v->lb[i], v->ub[i], run->rules.primal);
        v->xb[i] -= report->step * (sigma * s->alpha[i]);
        after = i == report->leaving ? 0 : gpuopt__simplex_infeasible(v->xb[i], v->lb[i], v->ub[i], run->rules.primal);
        if (after == before) continue;
        s->infeasible += (after != 0) - (before != 0);
        s->multiplier[i] = after - before;
        s->changed[count++] = i;
        change += s->multiplier[i] * s->alpha[i];
    }
    if (run->phase != 1 || count == 0) return;
    gpuopt__simplex_cpu_combine(s, count);
    s->combined[q] = change; /* the same number, but consistent with alpha */
    for (j = s->split.first; j < s->split.end; j++) v->d[j] -= s->combined[j];
    if (!gpuopt__simplex_split_has(&s->split, q)) v->d[q] -= change;
}

static void gpuopt__simplex_cpu_exchange(gpuopt__simplex_cpu *s, const gpuopt__simplex_run_report *report) {
    gpuopt__simplex_vectors *v = s->v;
    int32_t p = report->leaving, q = report->entering, entered = v->slot[q];
    double x = v->xb[p], l = v->lb[p], u = v->ub[p];
    v->state[q] = (uint8_t)gpuopt__simplex_make_nonbasic(report->to_upper, &x, &l, &u);
    v->slot[q] = v->head[p];
    v->head[p] = entered;
    v->xb[p] = v->xn[q] + report->direction * report->step;
    v->lb[p] = v->ln[q];
    v->ub[p] = v->un[q];
    v->xn[q] = x;
    v->ln[q] = l;
    v->un[q] = u;
}

/* Exact steepest edge: 1 + the squared norms of the columns of B^-1 N, in this rank's slots. */
static void gpuopt__simplex_cpu_norms(gpuopt__simplex_cpu *s, const double *ratio, int32_t q) {
    gpuopt__simplex_vectors *v = s->v;
    int32_t j;
    for (j = s->split.first; j < s->split.end; j++) {
        const double *column = gpuopt__deferred_stored(&s->inverse, j - s->split.first);
        if (!ratio || ratio[j] != 0 || j == q) v->weight[j] = 1 + gpuopt__dot(s->lp->rows, column, column);
    }
}

static void gpuopt__simplex_cpu_pivot(gpuopt__simplex_cpu *s, const gpuopt__simplex_run *run,
                                      gpuopt__simplex_run_report *report) {
    gpuopt__simplex_vectors *v = s->v;
    gpuopt_simplex_pricing pricing = (gpuopt_simplex_pricing)run->rules.pricing;
    int32_t j, q = report->entering, cols = s->lp->cols;
    double pivot = report->pivot, step, weight = v->weight[q], norm = 1;
    int exact = pricing == GPUOPT_PRICING_STEEPEST_EDGE;
    gpuopt__simplex_cpu_move(s, run, report);
    if (exact && s->revised) { /* alpha' B^-1 N, for the recursion of the norms */
        norm = 1 + gpuopt__dot(s->lp->rows, s->alpha, s->alpha);
        memcpy(s->rho, s->alpha, sizeof(double) * (size_t)s->lp->rows);
        gpuopt__simplex_sparse_btran(&s->sparse, s->rho);
        gpuopt__simplex_cpu_price_out(s, s->rho, s->combined);
    }
    gpuopt__simplex_cpu_row(s, report->leaving);
    if (s->revised && gpuopt__simplex_pivots_differ(pivot, s->row[q])) report->end = GPUOPT__SIMPLEX_END_DRIFTED;
    step = v->d[q] / pivot;
    for (j = s->split.first; j < s->split.end; j++) {
        double ratio = s->row[j] / pivot;
        if (ratio == 0 || j == q) continue;
        v->d[j] -= step * s->row[j];
        if (pricing == GPUOPT_PRICING_DEVEX) v->weight[j] = gpuopt__simplex_devex(v->weight[j], ratio, weight);
        else if (exact && s->revised)
            v->weight[j] = gpuopt__simplex_steepest(v->weight[j], ratio, s->combined[j], norm);
    }
    v->d[q] = -step;
    if (pricing == GPUOPT_PRICING_DEVEX) v->weight[q] = gpuopt__max(weight / (pivot * pivot), 1);
    else if (exact && s->revised) v->weight[q] = gpuopt__max(norm / (pivot * pivot), 1 + 1 / (pivot * pivot));
    for (j = 0; pricing == GPUOPT_PRICING_DEVEX && gpuopt__simplex_devex_worn(weight) && j < cols; j++)
        v->weight[j] = 1;
    gpuopt__simplex_cpu_append(s, report->leaving, q);
    s->weighs = 0;
    if (exact && !s->revised) gpuopt__simplex_cpu_norms(s, s->row, q);
    gpuopt__simplex_cpu_exchange(s, report);
    report->pivots++;
}

static void gpuopt__simplex_cpu_flip(gpuopt__simplex_cpu *s, const gpuopt__simplex_run *run,
                                     gpuopt__simplex_run_report *report) {
    gpuopt__simplex_vectors *v = s->v;
    int32_t q = report->entering;
    gpuopt__simplex_cpu_move(s, run, report);
    v->xn[q] = report->direction > 0 ? v->un[q] : v->ln[q];
    v->state[q] = report->direction > 0 ? GPUOPT__SIMPLEX_MAY_DECREASE : GPUOPT__SIMPLEX_MAY_INCREASE;
    report->flips++;
}

/* ---- The loop ---- */

/* During a run, pivots up to this size count as 0, and the control then repairs the basis. */
#define GPUOPT__SIMPLEX_CPU_SINGULAR 1e-14

/* Factors the basis for a run. Returns 0 without factors, or if the basis is singular; the report shows which. */
static int gpuopt__simplex_cpu_begins(gpuopt__simplex_cpu *s, gpuopt__simplex_run_report *report,
                                      gpuopt_status *status) {
    int32_t singular;
    memset(report, 0, sizeof *report);
    report->entering = report->leaving = -1;
    *status = gpuopt__simplex_cpu_renew(s, GPUOPT__SIMPLEX_CPU_SINGULAR, &singular);
    if (singular > 0) report->end = GPUOPT__SIMPLEX_END_DRIFTED;
    return !*status && singular <= 0;
}

/* The same after an iteration. If memory is short, the next run fails before it changes anything. */
static int gpuopt__simplex_cpu_goes_on(gpuopt__simplex_cpu *s, gpuopt__simplex_run_report *report) {
    int32_t singular;
    const gpuopt_status status = gpuopt__simplex_cpu_renew(s, GPUOPT__SIMPLEX_CPU_SINGULAR, &singular);
    if (singular > 0) report->end = GPUOPT__SIMPLEX_END_DRIFTED;
    return !status && singular <= 0;
}

static void gpuopt__simplex_cpu_start_weights(gpuopt__simplex_cpu *s, const gpuopt__simplex_run *run) {
    int32_t j;
    if (!run->reset_weights) return;
    if (run->rules.pricing != GPUOPT_PRICING_STEEPEST_EDGE)
        for (j = 0; j < s->lp->cols; j++) s->v->weight[j] = 1;
    else if (!s->revised) gpuopt__simplex_cpu_norms(s, NULL, 0);
    else
        for (j = 0; j < s->lp->cols; j++) {
            gpuopt__simplex_cpu_column(s, j);
            s->v->weight[j] = 1 + gpuopt__dot(s->lp->rows, s->alpha, s->alpha);
        }
}

/* Does one iteration, or a part of one. Returns 0 if the run has ended. */
static int gpuopt__simplex_cpu_step(gpuopt__simplex_cpu *s, const gpuopt__simplex_run *run,
                                    gpuopt__simplex_run_report *report) {
    gpuopt__simplex_vectors *v = s->v;
    report->flip = run->part == GPUOPT__SIMPLEX_RUN_FLIP;
    report->leaving = -1;
    report->entering = run->entering;
    report->direction = run->direction;
    if (gpuopt__simplex_chooses(run->part)) {
        if (run->phase == 1 && s->infeasible == 0) report->end = GPUOPT__SIMPLEX_END_FEASIBLE;
        else gpuopt__simplex_cpu_price(s, run, report);
        if (s->split.status) return 0;
        if (report->end == GPUOPT__SIMPLEX_END_LIMIT && report->entering < 0)
            report->end = GPUOPT__SIMPLEX_END_NO_ENTERING;
        if (report->end != GPUOPT__SIMPLEX_END_LIMIT || run->part == GPUOPT__SIMPLEX_RUN_PRICE) return 0;
    }
    gpuopt__simplex_cpu_column(s, report->entering);
    if (s->split.status) return 0;
    if (run->part == GPUOPT__SIMPLEX_RUN_FLIP) report->step = v->un[report->entering] - v->ln[report->entering];
    else if (run->part == GPUOPT__SIMPLEX_RUN_PIVOT) {
        gpuopt__simplex_given_leaving(run, v->xb[run->leaving], v->lb[run->leaving], v->ub[run->leaving],
                                      s->alpha[run->leaving], report);
        report->largest = gpuopt__simplex_largest(s->lp->rows, s->alpha);
    } else gpuopt__simplex_cpu_ratio(s, run, report);
    if (run->part == GPUOPT__SIMPLEX_RUN_RATIO) return 0;
    if (report->flip) {
        gpuopt__simplex_cpu_flip(s, run, report);
        return 1;
    }
    if (report->leaving < 0) {
        report->end = GPUOPT__SIMPLEX_END_NO_LEAVING;
        return 0;
    }
    if (!gpuopt__simplex_safe_pivot(&run->rules, report->pivot, report->largest)) {
        if (run->part == GPUOPT__SIMPLEX_RUN_PIVOT) report->end = GPUOPT__SIMPLEX_END_UNSAFE;
        v->state[report->entering] |= run->part == GPUOPT__SIMPLEX_RUN_PIVOT ? 0 : GPUOPT__SIMPLEX_BANNED;
        report->bans++;
        return run->part != GPUOPT__SIMPLEX_RUN_PIVOT;
    }
    gpuopt__simplex_cpu_pivot(s, run, report);
    return report->end == GPUOPT__SIMPLEX_END_LIMIT;
}

static gpuopt_status gpuopt__simplex_cpu_run(void *engine, const gpuopt__simplex_run *run,
                                             gpuopt__simplex_run_report *report) {
    gpuopt__simplex_cpu *s = (gpuopt__simplex_cpu *)engine;
    const gpuopt__simplex_vectors *v = s->v;
    int32_t i;
    gpuopt_status status;
    const int begins = gpuopt__simplex_cpu_begins(s, report, &status);
    if (status) return status;
    gpuopt__simplex_cpu_start_weights(s, run);
    s->infeasible = 0;
    for (i = 0; i < s->lp->rows; i++)
        s->infeasible += gpuopt__simplex_infeasible(v->xb[i], v->lb[i], v->ub[i], run->rules.primal) != 0;
    while (begins && gpuopt__simplex_cpu_step(s, run, report) && gpuopt__simplex_cpu_goes_on(s, report) &&
           report->pivots + report->flips < run->most)
        continue;
    report->infeasible = s->infeasible;
    if (run->reset_weights || report->pivots + report->flips > 0) {
        const gpuopt__simplex_by_slot arrays[] = {{v->d, sizeof *v->d}, {v->weight, sizeof *v->weight}};
        gpuopt__simplex_split_gather(&s->split, 2, arrays);
    }
    return s->split.status;
}

#endif /* GPUOPT_IMPL_SIMPLEX_CPU_RUN_H */
