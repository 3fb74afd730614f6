/* SPDX-License-Identifier: MIT
 *
 * The simplex method above the backend: what to do when a run of iterations ends, and the loop of runs.
 */
#ifndef GPUOPT_IMPL_SIMPLEX_CONTROL_H
#define GPUOPT_IMPL_SIMPLEX_CONTROL_H

#include "refresh.h"

/* ---- Conclusions ---- */

/* Polishing keeps the bounds and shrinks the tolerances. Everything computed stays valid, unless some variable is
 * infeasible by the smaller tolerance. */
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

/* If a certificate proves nothing, the tolerances are out of reach: they grow, up to their limit. */
static gpuopt_status gpuopt__simplex_unproven(gpuopt_simplex *s, const char *what) {
    if (s->relapses < GPUOPT__SIMPLEX_MOST_RELAPSES) {
        gpuopt__simplex_relapse(s, GPUOPT__SIMPLEX_RELAPSES);
        return GPUOPT_OK;
    }
    gpuopt__log(s->context, 0, "simplex: neither %s within 1e6 times the tolerances nor proven otherwise", what);
    return GPUOPT_ERROR_NUMERIC;
}

/* If the relaxed bounds admit no point, neither do the true ones; but these give the better certificate. */
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

/* The ray is the direction in which the entering variable moves the others. */
static gpuopt_status gpuopt__simplex_conclude_unbounded(gpuopt_simplex *s, const gpuopt__simplex_run_report *report) {
    int32_t j, both = s->lp.rows + s->lp.cols;
    int good;
    gpuopt_status status;
    if (s->stage == GPUOPT__SIMPLEX_STAGE_PERTURBED ||
        s->stage == GPUOPT__SIMPLEX_STAGE_POLISH) { /* while polishing it is rounding */
        gpuopt__simplex_enter_stage(s, s->stage == GPUOPT__SIMPLEX_STAGE_POLISH ? GPUOPT__SIMPLEX_STAGE_FINAL
                                                                                : GPUOPT__SIMPLEX_STAGE_EXACT);
        return GPUOPT_OK;
    }
    for (j = 0; j < both; j++) s->phase_cost[j] = 0; /* scratch: the direction, with A d + d_s = 0 */
    s->phase_cost[s->v.slot[report->entering]] = report->direction;
    status = gpuopt__simplex_solve_x(s, s->phase_cost, &good);
    if (status) return status;
    gpuopt__simplex_ray(s, s->phase_cost);
    s->stale = 1; /* residual was overwritten */
    if (!gpuopt__simplex_proven(s)) return gpuopt__simplex_unproven(s, "bounded");
    s->verdict = GPUOPT_UNBOUNDED;
    return GPUOPT_OK;
}

/* A run has ended because no variable can enter or none leaves. A verdict requires x and duals just recomputed from the
 * original data, and that candidates refused for small pivots have been tried again, first with a fresh inverse, then
 * with smaller pivot tolerances. */
static gpuopt_status gpuopt__simplex_conclude(gpuopt_simplex *s, const gpuopt__simplex_run_report *report) {
    int refused = report->bans > 0 || (report->end == GPUOPT__SIMPLEX_END_NO_LEAVING && s->phase == 1);
    if (s->since_refresh > 0) {
        gpuopt_status status = gpuopt__simplex_pull(s);
        s->stale = 1;
        /* The next stage recomputes everything anyway. */
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

/* Bounds that cross need no iteration, and are their own evidence. */
static gpuopt_status gpuopt__simplex_conclude_crossing(gpuopt_simplex *s) {
    gpuopt_status status = gpuopt__simplex_fresh_to_read(s);
    if (status) return status;
    memset(s->farkas, 0, sizeof(double) * (size_t)s->lp.rows);
    s->margin = s->crossing_size;
    s->certificate_residual = 0;
    s->verdict = GPUOPT_INFEASIBLE;
    return GPUOPT_OK;
}

/* After a basis was set and inverted: all nonbasic variables go to the bounds that their statuses say. */
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
    /* Exact norms stay valid in the other phase; devex starts a new reference framework. */
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
    if (s->phase == 1 &&
        report->infeasible == 0) { /* the end of phase 1: the reduced costs are still those of phase 1 */
        s->phase = 2;
        s->stale = s->stale ? s->stale : 1;
    }
}

/* If the arithmetic is not up to a model, its inverse may drift with every pivot. After this many refreshes in a
 * row without progress in between, iterating ends with an error status. */
enum { GPUOPT__SIMPLEX_MOST_HASTY = 500 };

static gpuopt_status gpuopt__simplex_some_iterations(gpuopt_simplex *s, int64_t most) {
    gpuopt__simplex_run run;
    gpuopt__simplex_run_report report;
    gpuopt_status status;
    if (s->stale) s->hasty = s->since_refresh < 10 ? s->hasty + 1 : 0;
    if (s->hasty > GPUOPT__SIMPLEX_MOST_HASTY) {
        gpuopt__log(s->context, 0,
                    "simplex: no progress: %d refreshes in a row with fewer than 10 iterations in between",
                    (int)s->hasty);
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

/* Runs of the engine until there is a verdict, `most` iterations are done, or the host asks to stop. */
static gpuopt_status gpuopt__simplex_iterate(gpuopt_simplex *s, int64_t most) {
    int64_t target = most < INT64_MAX - s->iterations ? s->iterations + most : INT64_MAX;
    gpuopt_status status = GPUOPT_OK;
    int stopped = 0;
    if (s->crossing >= 0) return gpuopt__simplex_conclude_crossing(s);
    if (!s->started)
        gpuopt__simplex_enter_stage(s, s->desc.perturbation == GPUOPT_OFF ? GPUOPT__SIMPLEX_STAGE_EXACT
                                                                          : GPUOPT__SIMPLEX_STAGE_PERTURBED);
    s->started = 1;
    if (s->desc.iteration_limit && target > s->desc.iteration_limit) target = s->desc.iteration_limit;
    while (!status && s->verdict == GPUOPT_MORE && s->iterations < target && !stopped) {
        status = gpuopt__simplex_some_iterations(s, target - s->iterations);
        if (!status && s->verdict == GPUOPT_MORE && s->iterations < target) stopped = gpuopt__asked_to_stop(s->context);
    }
    if (!status && s->verdict == GPUOPT_MORE && s->desc.iteration_limit && s->iterations >= s->desc.iteration_limit)
        s->verdict = GPUOPT_LIMIT;
    return status;
}

#endif /* GPUOPT_IMPL_SIMPLEX_CONTROL_H */
