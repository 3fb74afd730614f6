/* SPDX-License-Identifier: MIT
 *
 * The simplex method above the engines: bounds and tolerances of the present stage, basic solution and duals from the
 * original data, phases, and what follows when an engine finds nothing more to do.
 */
#ifndef GPUOPT_IMPL_SIMPLEX_CONTROL_H
#define GPUOPT_IMPL_SIMPLEX_CONTROL_H

#include "evidence.h"
#include "reinvert.h"

static const gpuopt__simplex_backend *gpuopt__simplex_backend_of(const gpuopt_simplex *s) {
    return s->context->desc.backend->simplex;
}

/* ---- Stages ---- */

/* Bounds of variables that are not fixed move out by 1 to 2 millionths: ties, and with them stalling, become
 * improbable, while an optimal basis mostly stays one. */
static void gpuopt__simplex_enter_stage(gpuopt_simplex *s, gpuopt__simplex_stage stage) {
    int32_t j, both = s->lp.rows + s->lp.cols;
    s->stage = stage;
    s->stale = s->stale ? s->stale : 1;
    s->escalation = 0;
    s->relapses = stage == GPUOPT__SIMPLEX_STAGE_FINAL ? s->relapses : 0;
    for (j = 0; j < both; j++) {
        double l = s->lower[j], u = s->upper[j];
        if (stage == GPUOPT__SIMPLEX_STAGE_PERTURBED && l < u) {
            uint64_t k = 2 * (uint64_t)j;
            l -= 1e-6 * (1 + gpuopt__random(s->desc.seed, k)) * gpuopt__max(1, fabs(l));
            u += 1e-6 * (1 + gpuopt__random(s->desc.seed, k + 1)) * gpuopt__max(1, fabs(u));
        }
        s->work_lower[j] = l;
        s->work_upper[j] = u;
    }
}

/* A bound that gives way by the tolerance of the ratio test may, put back, move basic variables by more than that: the
 * method would go from phase 2 to phase 1 and back for ever. Every fourth time what counts as feasible grows tenfold,
 * to at most 1e6 times the host's tolerance, while the ratio test's stays. */
enum { GPUOPT__SIMPLEX_RELAPSES = 4, GPUOPT__SIMPLEX_MOST_RELAPSES = 6 * GPUOPT__SIMPLEX_RELAPSES };

static double gpuopt__simplex_wider(const gpuopt_simplex *s) {
    static const double wider[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6};
    return wider[s->relapses / GPUOPT__SIMPLEX_RELAPSES];
}

/* By so many relapses at once; the log hears of every tenfold. */
static void gpuopt__simplex_relapse(gpuopt_simplex *s, int32_t by) {
    int32_t before = s->relapses;
    s->relapses = before + by < GPUOPT__SIMPLEX_MOST_RELAPSES ? before + by : GPUOPT__SIMPLEX_MOST_RELAPSES;
    if (s->relapses / GPUOPT__SIMPLEX_RELAPSES > before / GPUOPT__SIMPLEX_RELAPSES)
        gpuopt__log(s->context, 1, "simplex: cannot hold the tolerances here; %g times as large from now on",
                    gpuopt__simplex_wider(s));
}

static gpuopt__simplex_rules gpuopt__simplex_rules_now(const gpuopt_simplex *s) {
    /* By escalation: candidates that only tiny pivots block are tried again, in the end with whatever is no
     * rounding. */
    static const double loosened[] = {1, 1, 1e-3, 1e-6};
    gpuopt__simplex_rules rules;
    double finer = s->stage == GPUOPT__SIMPLEX_STAGE_POLISH ? 1e-3 : 1;
    memset(&rules, 0, sizeof rules);
    rules.primal = s->desc.primal_tolerance * finer * gpuopt__simplex_wider(s);
    rules.dual = s->desc.dual_tolerance * finer * gpuopt__simplex_wider(s);
    rules.pivot = rules.pivot_relative = s->desc.pivot_tolerance * loosened[s->escalation];
    rules.zero = 1e-9; /* HiGHS: the pivot tolerance of fresh factors */
    rules.pricing = (int)s->desc.pricing;
    rules.harris = s->desc.primal_tolerance * finer;
    if (s->desc.ratio == GPUOPT_RATIO_TEXTBOOK) rules.harris = 0;
    if (s->desc.ratio == GPUOPT_RATIO_EXPAND) { /* from a half to the whole tolerance in 10000 iterations */
        rules.expand = 0.5 * rules.harris / 10000;
        rules.harris = 0.5 * rules.harris + rules.expand * (s->since_refresh % 10000);
    }
    return rules;
}

/* ---- Basic solution and duals ---- */

/* x of the nonbasic variables where their status says, with a bound that is infinite giving way to the other. */
static void gpuopt__simplex_place_nonbasic(gpuopt_simplex *s) {
    gpuopt__simplex_vectors *v = &s->v;
    int32_t i, j;
    for (j = 0; j < s->lp.cols; j++) {
        int32_t variable = v->slot[j];
        double l = s->work_lower[variable], u = s->work_upper[variable];
        int upper = u < HUGE_VAL && (s->status[variable] == GPUOPT_VARIABLE_AT_UPPER || l == -HUGE_VAL);
        v->ln[j] = l;
        v->un[j] = u;
        v->xn[j] = upper ? u : l > -HUGE_VAL ? l : 0;
        v->state[j] = l == u ? 0 : upper ? GPUOPT__SIMPLEX_MAY_DECREASE : GPUOPT__SIMPLEX_MAY_INCREASE;
        if (l == -HUGE_VAL && u == HUGE_VAL) v->state[j] = GPUOPT__SIMPLEX_MAY_INCREASE | GPUOPT__SIMPLEX_MAY_DECREASE;
        s->status[variable] = (uint8_t)(v->state[j] == 3 ? GPUOPT_VARIABLE_AT_ZERO
                                        : upper          ? GPUOPT_VARIABLE_AT_UPPER
                                                         : GPUOPT_VARIABLE_AT_LOWER);
        s->x[variable] = v->xn[j];
    }
    for (i = 0; i < s->lp.rows; i++) {
        v->lb[i] = s->work_lower[v->head[i]];
        v->ub[i] = s->work_upper[v->head[i]];
        s->x[v->head[i]] = v->xb[i];
    }
}

/* Corrections end where they no longer halve the residual, or change no component by more than rounding. At least one
 * is made: a residual that is small beside the largest component may be large beside others. */
enum { GPUOPT__SIMPLEX_REFINEMENTS = 8 };

static int gpuopt__simplex_refined(int round, double size, double before, double change) {
    return size == 0 || (round > 0 && (size > 0.5 * before || change <= 1e-15));
}

/* *to += by; the largest change of all, relative where the component is above 1. */
static void gpuopt__simplex_correct(double by, double *to, double *change) {
    *to += by;
    *change = gpuopt__max(*change, fabs(by) / gpuopt__max(1, fabs(*to)));
}

/* x of the basic variables from A x + s = 0. *good: the last correction was small, for every one of them. */
static gpuopt_status gpuopt__simplex_solve_x(gpuopt_simplex *s, double *x, int *good) {
    const gpuopt__simplex_backend *engine = gpuopt__simplex_backend_of(s);
    double before = HUGE_VAL, change = 0;
    int32_t i, round;
    gpuopt_status status = GPUOPT_OK;
    for (round = 0; round <= GPUOPT__SIMPLEX_REFINEMENTS && !status; round++) {
        double size;
        status = engine->residual(s->engine, x, s->residual);
        if (status) return status;
        size = gpuopt__simplex_largest(s->lp.rows, s->residual);
        *good = change <= 1e-9;
        if (gpuopt__simplex_refined(round, size, before, change) || round == GPUOPT__SIMPLEX_REFINEMENTS)
            return GPUOPT_OK;
        before = size;
        memcpy(s->by_row, s->residual, sizeof(double) * (size_t)s->lp.rows);
        status = engine->ftran(s->engine, s->by_row);
        for (i = 0, change = 0; i < s->lp.rows; i++) gpuopt__simplex_correct(s->by_row[i], x + s->v.head[i], &change);
    }
    return status;
}

/* y and reduced costs for a cost vector: those of basic variables become 0. */
static gpuopt_status gpuopt__simplex_solve_duals(gpuopt_simplex *s, const double *cost, int *good) {
    const gpuopt__simplex_backend *engine = gpuopt__simplex_backend_of(s);
    double before = HUGE_VAL, change = 0;
    int32_t i, round;
    gpuopt_status status = GPUOPT_OK;
    memset(s->y, 0, sizeof(double) * (size_t)s->lp.rows);
    for (round = 0; round <= GPUOPT__SIMPLEX_REFINEMENTS && !status; round++) {
        double size;
        status = engine->reduce(s->engine, cost, s->y, s->reduced);
        if (status) return status;
        for (i = 0; i < s->lp.rows; i++) s->by_row[i] = s->reduced[s->v.head[i]];
        size = gpuopt__simplex_largest(s->lp.rows, s->by_row);
        *good = round <= 1 || change <= 1e-9; /* the first correction is the solution itself */
        if (gpuopt__simplex_refined(round, size, before, change) || round == GPUOPT__SIMPLEX_REFINEMENTS)
            return GPUOPT_OK;
        before = size;
        status = engine->btran(s->engine, s->by_row);
        for (i = 0, change = 0; i < s->lp.rows; i++) gpuopt__simplex_correct(s->by_row[i], s->y + i, &change);
    }
    return status;
}

/* Chooses the phase, and fills phase_cost with its cost. */
static void gpuopt__simplex_choose_phase(gpuopt_simplex *s) {
    double tolerance = gpuopt__simplex_rules_now(s).primal;
    int32_t i;
    s->phase = 2;
    memset(s->phase_cost, 0, sizeof(double) * ((size_t)s->lp.rows + (size_t)s->lp.cols));
    for (i = 0; i < s->lp.rows; i++) {
        int outside = gpuopt__simplex_infeasible(s->v.xb[i], s->v.lb[i], s->v.ub[i], tolerance);
        s->phase_cost[s->v.head[i]] = outside;
        if (outside) s->phase = 1;
    }
    if (s->phase == 2) memcpy(s->phase_cost, s->cost, sizeof(double) * ((size_t)s->lp.rows + (size_t)s->lp.cols));
}

/* Everything from the original data; the inverse too where s->stale is 2, or where the corrections do not get near
 * rounding with it. */
static gpuopt_status gpuopt__simplex_refresh(gpuopt_simplex *s) {
    const gpuopt__simplex_backend *engine = gpuopt__simplex_backend_of(s);
    int reinvert = s->stale == 2, good_x, good_y = 0;
    int32_t i, j, singular;
    int phase = s->phase;
    gpuopt_status status = GPUOPT_OK;
    s->refreshes++;
    for (;;) {
        if (reinvert) {
            status = gpuopt__simplex_reinvert(s, &singular);
            if (!status && singular > 0) {
                s->weights_of = 0; /* another basis */
                gpuopt__log(s->context, 1, "simplex: the basis is singular; %d columns leave it", (int)singular);
            }
        }
        gpuopt__simplex_place_nonbasic(s);
        if (!status) status = engine->push(s->engine);
        if (!status) status = gpuopt__simplex_solve_x(s, s->x, &good_x);
        if (status) return status;
        for (i = 0; i < s->lp.rows; i++) s->v.xb[i] = s->x[s->v.head[i]];
        gpuopt__simplex_choose_phase(s);
        if (good_x || reinvert) status = gpuopt__simplex_solve_duals(s, s->phase_cost, &good_y);
        if (status) return status;
        if ((good_x && good_y) || reinvert) break;
        reinvert = 1;
    }
    for (j = 0; j < s->lp.cols; j++) s->v.d[j] = s->reduced[s->v.slot[j]];
    if (s->started && s->stage != GPUOPT__SIMPLEX_STAGE_PERTURBED && phase == 2 && s->phase == 1)
        gpuopt__simplex_relapse(s, 1);
    s->stale = 0;
    s->since_refresh = 0;
    gpuopt__simplex_violations(s);
    return engine->push(s->engine);
}

/* status and x of all variables from the engine's vectors. */
static gpuopt_status gpuopt__simplex_pull(gpuopt_simplex *s) {
    gpuopt_status status = gpuopt__simplex_backend_of(s)->pull(s->engine);
    int32_t i, j;
    for (i = 0; i < s->lp.rows && !status; i++) {
        s->status[s->v.head[i]] = GPUOPT_VARIABLE_BASIC;
        s->x[s->v.head[i]] = s->v.xb[i];
    }
    for (j = 0; j < s->lp.cols && !status; j++) {
        int state = s->v.state[j] & 3;
        s->x[s->v.slot[j]] = s->v.xn[j];
        s->status[s->v.slot[j]] = (uint8_t)(state == 3                              ? GPUOPT_VARIABLE_AT_ZERO
                                            : state == GPUOPT__SIMPLEX_MAY_DECREASE ? GPUOPT_VARIABLE_AT_UPPER
                                                                                    : GPUOPT_VARIABLE_AT_LOWER);
    }
    return status;
}

/* ---- Verdicts ---- */

/* The bounds stay, the tolerances shrink; what was computed holds, unless the phase is another one by them. */
static void gpuopt__simplex_polish(gpuopt_simplex *s) {
    double tolerance;
    int32_t i;
    s->stage = GPUOPT__SIMPLEX_STAGE_POLISH;
    s->escalation = 0;
    s->polish_end = s->iterations + 100 + s->lp.rows / 2;
    tolerance = gpuopt__simplex_rules_now(s).primal;
    for (i = 0; i < s->lp.rows && !s->stale; i++)
        s->stale = gpuopt__simplex_infeasible(s->v.xb[i], s->v.lb[i], s->v.ub[i], tolerance) != 0;
}

static gpuopt_status gpuopt__simplex_conclude_optimal(gpuopt_simplex *s) {
    if (s->stage == GPUOPT__SIMPLEX_STAGE_PERTURBED) gpuopt__simplex_enter_stage(s, GPUOPT__SIMPLEX_STAGE_EXACT);
    else if (s->stage == GPUOPT__SIMPLEX_STAGE_EXACT) gpuopt__simplex_polish(s);
    else s->verdict = GPUOPT_OPTIMAL;
    return GPUOPT_OK;
}

static int gpuopt__simplex_proven(const gpuopt_simplex *s) {
    return s->margin > 1e-12 && s->certificate_residual <= 1e-9 && s->margin > 1e3 * s->certificate_residual;
}

/* A certificate that proves nothing says that the tolerances are out of reach: they grow, as far as they may. */
static gpuopt_status gpuopt__simplex_unproven(gpuopt_simplex *s, const char *what) {
    if (s->relapses < GPUOPT__SIMPLEX_MOST_RELAPSES) {
        gpuopt__simplex_relapse(s, GPUOPT__SIMPLEX_RELAPSES);
        return GPUOPT_OK;
    }
    gpuopt__log(s->context, 0, "simplex: neither %s within 1e6 times the tolerances nor proven not to be", what);
    return GPUOPT_ERROR_NUMERIC;
}

/* The relaxed bounds have no solution either, but the true ones make the better certificate. */
static gpuopt_status gpuopt__simplex_conclude_infeasible(gpuopt_simplex *s) {
    if (s->stage == GPUOPT__SIMPLEX_STAGE_PERTURBED) {
        gpuopt__simplex_enter_stage(s, GPUOPT__SIMPLEX_STAGE_EXACT);
        return GPUOPT_OK;
    }
    if (s->stage == GPUOPT__SIMPLEX_STAGE_POLISH) {
        gpuopt__simplex_enter_stage(s, GPUOPT__SIMPLEX_STAGE_FINAL);
        return GPUOPT_OK;
    }
    gpuopt__simplex_farkas(s);
    if (gpuopt__simplex_proven(s)) {
        s->verdict = GPUOPT_INFEASIBLE;
        return GPUOPT_OK;
    }
    s->stale = 1;
    return gpuopt__simplex_unproven(s, "feasible");
}

/* The entering variable's slot and direction make the ray. */
static gpuopt_status gpuopt__simplex_conclude_unbounded(gpuopt_simplex *s, const gpuopt__simplex_run_report *report) {
    int32_t j, both = s->lp.rows + s->lp.cols;
    int good;
    gpuopt_status status;
    if (s->stage == GPUOPT__SIMPLEX_STAGE_PERTURBED ||
        s->stage == GPUOPT__SIMPLEX_STAGE_POLISH) { /* what polish finds is rounding */
        gpuopt__simplex_enter_stage(s, s->stage == GPUOPT__SIMPLEX_STAGE_POLISH ? GPUOPT__SIMPLEX_STAGE_FINAL
                                                                                : GPUOPT__SIMPLEX_STAGE_EXACT);
        return GPUOPT_OK;
    }
    for (j = 0; j < both; j++) s->phase_cost[j] = 0; /* scratch: the direction, A d + d_s = 0 */
    s->phase_cost[s->v.slot[report->entering]] = report->direction;
    status = gpuopt__simplex_solve_x(s, s->phase_cost, &good);
    if (status) return status;
    gpuopt__simplex_ray(s, s->phase_cost);
    s->stale = 1; /* residual was overwritten */
    if (!gpuopt__simplex_proven(s)) return gpuopt__simplex_unproven(s, "bounded");
    s->verdict = GPUOPT_UNBOUNDED;
    return GPUOPT_OK;
}

/* What an engine that found nothing more to do means. A verdict needs x and duals fresh from the original data, and
 * candidates with too small a pivot looked at again, first with a fresh inverse, then with a smaller tolerance. */
static gpuopt_status gpuopt__simplex_conclude(gpuopt_simplex *s, const gpuopt__simplex_run_report *report) {
    int refused = report->bans > 0 || (report->end == GPUOPT__SIMPLEX_END_NO_LEAVING && s->phase == 1);
    if (s->since_refresh > 0) {
        gpuopt_status status = gpuopt__simplex_pull(s);
        s->stale = 1;
        /* The next stage looks at everything afresh anyway. */
        if (!status && s->stage == GPUOPT__SIMPLEX_STAGE_PERTURBED && s->phase == 2 &&
            report->end == GPUOPT__SIMPLEX_END_NO_ENTERING)
            return gpuopt__simplex_conclude_optimal(s);
        return status;
    }
    if (refused && s->escalation < 3) {
        s->escalation++;
        s->stale = 2;
        return gpuopt__simplex_pull(s);
    }
    if (report->end == GPUOPT__SIMPLEX_END_NO_LEAVING && s->phase == 2)
        return gpuopt__simplex_conclude_unbounded(s, report);
    return s->phase == 2 ? gpuopt__simplex_conclude_optimal(s) : gpuopt__simplex_conclude_infeasible(s);
}

/* A new basis, with its inverse, instead of the one that iterations led to: every nonbasic variable goes where its
 * status says. */
static gpuopt_status gpuopt__simplex_rebase(gpuopt_simplex *s) {
    int32_t i;
    for (i = 0; i < s->lp.rows; i++) s->v.xb[i] = 0;
    gpuopt__simplex_place_nonbasic(s);
    if (s->stage > GPUOPT__SIMPLEX_STAGE_EXACT) s->stage = GPUOPT__SIMPLEX_STAGE_EXACT;
    s->verdict = GPUOPT_MORE;
    s->phase = 0;
    s->stale = 1;
    s->weights_of = 0;
    s->since_refresh = 0;
    s->escalation = s->relapses = s->hasty = 0;
    return gpuopt__simplex_backend_of(s)->push(s->engine);
}

/* ---- Iterating ---- */

static void gpuopt__simplex_prepare(gpuopt_simplex *s, gpuopt__simplex_run_part part, gpuopt__simplex_run *run) {
    memset(run, 0, sizeof *run);
    run->part = part;
    run->rules = gpuopt__simplex_rules_now(s);
    run->phase = s->phase;
    run->most = 1;
    run->entering = run->leaving = -1;
    /* Norms stay norms; devex starts a new reference framework. */
    run->reset_weights =
        s->weights_of != s->phase && !(s->weights_of && s->desc.pricing == GPUOPT_PRICING_STEEPEST_EDGE);
}

static gpuopt_status gpuopt__simplex_engage(gpuopt_simplex *s, const gpuopt__simplex_run *run,
                                            gpuopt__simplex_run_report *report) {
    gpuopt_status status = gpuopt__simplex_backend_of(s)->run(s->engine, run, report);
    if (!status) s->weights_of = run->phase;
    return status;
}

static void gpuopt__simplex_count(gpuopt_simplex *s, const gpuopt__simplex_run_report *report) {
    s->iterations += report->pivots + report->flips;
    s->flips += report->flips;
    s->since_refresh += report->pivots + report->flips;
    if (report->pivots + report->flips > 0) s->verdict = GPUOPT_MORE;
    if (s->phase == 1 && report->infeasible == 0) { /* the end of phase 1: reduced costs are those of the other */
        s->phase = 2;
        s->stale = s->stale ? s->stale : 1;
    }
}

/* A model that the arithmetic is not up to may have its inverse drift with every pivot: that ends with a status. */
enum { GPUOPT__SIMPLEX_MOST_HASTY = 500 };

static gpuopt_status gpuopt__simplex_some_iterations(gpuopt_simplex *s, int64_t most) {
    gpuopt__simplex_run run;
    gpuopt__simplex_run_report report;
    gpuopt_status status;
    if (s->stale) s->hasty = s->since_refresh < 10 ? s->hasty + 1 : 0;
    if (s->hasty > GPUOPT__SIMPLEX_MOST_HASTY) {
        gpuopt__log(s->context, 0, "simplex: no progress: %d refreshes, none after 10 iterations", (int)s->hasty);
        return GPUOPT_ERROR_NUMERIC;
    }
    status = s->stale ? gpuopt__simplex_refresh(s) : GPUOPT_OK;
    if (status) return status;
    gpuopt__simplex_prepare(s, GPUOPT__SIMPLEX_RUN_ITERATE, &run);
    run.most = s->desc.refresh_pivots - s->since_refresh;
    if (s->desc.ratio == GPUOPT_RATIO_EXPAND && run.most > 10000 - s->since_refresh % 10000)
        run.most = 10000 - s->since_refresh % 10000;
    if (run.most > most) run.most = (int32_t)most;
    status = gpuopt__simplex_engage(s, &run, &report);
    if (status) return status;
    gpuopt__simplex_count(s, &report);
    if (s->stage == GPUOPT__SIMPLEX_STAGE_POLISH && s->iterations >= s->polish_end)
        gpuopt__simplex_enter_stage(s, GPUOPT__SIMPLEX_STAGE_FINAL);
    else if (report.end == GPUOPT__SIMPLEX_END_NO_ENTERING || report.end == GPUOPT__SIMPLEX_END_NO_LEAVING)
        return gpuopt__simplex_conclude(s, &report);
    if (report.end == GPUOPT__SIMPLEX_END_DRIFTED) s->stale = 2;
    else if (report.end == GPUOPT__SIMPLEX_END_FEASIBLE || s->since_refresh >= s->desc.refresh_pivots) s->stale = 1;
    return s->stale ? gpuopt__simplex_pull(s) : GPUOPT_OK;
}

static gpuopt_status gpuopt__simplex_iterate(gpuopt_simplex *s, int64_t most) {
    int64_t target = most < INT64_MAX - s->iterations ? s->iterations + most : INT64_MAX;
    gpuopt_status status = GPUOPT_OK;
    if (!s->started)
        gpuopt__simplex_enter_stage(s, s->desc.perturbation == GPUOPT_OFF ? GPUOPT__SIMPLEX_STAGE_EXACT
                                                                          : GPUOPT__SIMPLEX_STAGE_PERTURBED);
    s->started = 1;
    if (s->desc.iteration_limit && target > s->desc.iteration_limit) target = s->desc.iteration_limit;
    while (!status && s->verdict == GPUOPT_MORE && s->iterations < target)
        status = gpuopt__simplex_some_iterations(s, target - s->iterations);
    if (!status && s->verdict == GPUOPT_MORE && s->desc.iteration_limit && s->iterations >= s->desc.iteration_limit)
        s->verdict = GPUOPT_LIMIT;
    return status;
}

#endif /* GPUOPT_IMPL_SIMPLEX_CONTROL_H */
