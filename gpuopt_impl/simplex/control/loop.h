/* SPDX-License-Identifier: MIT
 *
 * The simplex method above the backend: the loop of runs, and what to do when a run of iterations ends. This file
 * comes first in this folder; dual.h has the dual method's part.
 *
 * The control has two states: the dual method's, and the stage of the primal method, which iterates while the former is
 * OFF. A call ends with a verdict, or stays where it is with MORE.
 *
 *     dual method   OFF <----> TRY ----> ON     TRY: decide at the present basis
 *                    ^                   |
 *                    +-------------------+      ON: at most until the basis is primal feasible
 *
 *     stage         followed by             when
 *     NEW           EXACT                   the primal method begins, or the dual method has done its part
 *     EXACT         PERTURBED               it begins with another basis than an optimal one, or goes in circles
 *                   REFINED                 optimal, or no proof of another verdict
 *     PERTURBED     EXACT                   optimal, infeasible or unbounded with the relaxed bounds
 *                   PERTURBED               it goes in circles
 *     REFINED       EXTENDED                it does not end in time, or refuses pivots
 *                   FINAL                   no feasible point in the doubles, or too many rows for EXTENDED
 *     EXTENDED      UNREFINED               it does not end, although it has enough iterations
 *                   FINAL                   like REFINED
 *     FINAL         PERTURBED               it goes in circles
 *     UNREFINED     PERTURBED               likewise
 *
 * Besides, the caller's changes lead from any later stage to EXACT. Each stage may be followed by NEW, if the handle
 * becomes another basis for children. rebuild/rules.h has bounds and tolerances of a stage. While the dual method is
 * ON, the stage is NEW or EXACT.
 *
 * These members are not states. Each has a value in several of them:
 *
 *     stale         what the next iteration must recompute first: a change in any state sets it
 *     phase         of the present point, which a pivot may change; 0: the reduced costs belong to none
 *     escalation    how often refused pivots were tried again in the present stage
 *     relapses      how often the tolerances could not be met; kept by FINAL and UNREFINED
 *     empty         a fact about the model, known until it changes
 *     boxing        the dual method's bounds are a box. A call that fails may leave it, in TRY or ON
 *     boxed         ON: its phase 1 is over or not wanted
 *     priced        the reduced costs are the dual method's; parts of an iteration ask for it after it is OFF
 */
#ifndef GPUOPT_IMPL_SIMPLEX_CONTROL_LOOP_H
#define GPUOPT_IMPL_SIMPLEX_CONTROL_LOOP_H

#include "../verdict/certainty.h"
#include "dual.h"
#include "../ranks/agree.h"

/* ---- Conclusions ---- */

/* info shows how far the present point is from an optimum. */
static gpuopt_status gpuopt__simplex_give_up(gpuopt_simplex *s, const char *why) {
    gpuopt__log(s->context, 1, "simplex: imprecise: %s", why);
    s->verdict = GPUOPT_IMPRECISE;
    return GPUOPT_OK;
}

/* Called if the engine cannot settle the stage REFINED. Iterations in extended precision may settle it, unless the
 * doubles have no feasible point. If there are too many rows for enough such iterations, an answer within the
 * tolerances must do. If the iterations cannot settle it either, there is no answer. */
static gpuopt_status gpuopt__simplex_extend_precision(gpuopt_simplex *s) {
    int32_t most = gpuopt__simplex_extended_most(s);
    const int fresh = s->since_rebuild == 0 && !s->stale && s->found.primal_reached <= s->desc.primal_tolerance;
    gpuopt_status status = s->since_rebuild > 0 ? gpuopt__simplex_pull(s) : GPUOPT_OK;
    if (!status && fresh && s->stage == GPUOPT__SIMPLEX_STAGE_REFINED && most > 0)
        status = gpuopt__simplex_find_empty(s);
    if (fresh && s->empty) gpuopt__simplex_enter_stage(s, GPUOPT__SIMPLEX_STAGE_FINAL);
    else if (s->stage == GPUOPT__SIMPLEX_STAGE_REFINED && most > 0) {
        gpuopt__simplex_enter_stage(s, GPUOPT__SIMPLEX_STAGE_EXTENDED);
        s->refining.extended_left = most - 1;
        s->stale = GPUOPT__SIMPLEX_STALE_INVERSE;
    } else if (most == GPUOPT__SIMPLEX_EXTENDED_ALL) gpuopt__simplex_enter_stage(s, GPUOPT__SIMPLEX_STAGE_UNREFINED);
    else gpuopt__simplex_enter_stage(s, GPUOPT__SIMPLEX_STAGE_FINAL);
    return status;
}

/* Called without a proof at the caller's tolerances. First refines the model. If that was tried before, increases the
 * tolerances up to their limit: the method may reach a basis that is good enough for a proof. */
static gpuopt_status gpuopt__simplex_unproven(gpuopt_simplex *s, const char *why) {
    if (s->stage == GPUOPT__SIMPLEX_STAGE_EXACT) gpuopt__simplex_enter_stage(s, GPUOPT__SIMPLEX_STAGE_REFINED);
    else if (gpuopt__simplex_is_refined(s)) return gpuopt__simplex_extend_precision(s);
    else if (s->relapses < GPUOPT__SIMPLEX_MOST_RELAPSES) {
        gpuopt__simplex_relapse(s, GPUOPT__SIMPLEX_RELAPSES);
        gpuopt__simplex_mark_stale(s);
    } else return gpuopt__simplex_give_up(s, why);
    return GPUOPT_OK;
}

/* Iterations in extended precision remove every error that their arithmetic can detect. Any remaining error above a
 * thousandth of the tolerances is then undetectable, and could move a variable far. */
static int gpuopt__simplex_within_tolerances(const gpuopt_simplex *s) {
    double share = s->stage == GPUOPT__SIMPLEX_STAGE_EXTENDED ? 1e-3 : 1;
    return s->found.primal_reached <= share * s->desc.primal_tolerance &&
           s->found.dual_reached <= share * s->desc.dual_tolerance && s->refining.primal < s->desc.primal_tolerance &&
           s->refining.dual < s->desc.dual_tolerance;
}

/* Whether the present point is an optimum, and how certain. In the stage REFINED, iterations in extended precision must
 * have nothing left to improve. */
static gpuopt_status gpuopt__simplex_is_optimal(gpuopt_simplex *s, int *is) {
    gpuopt_status status;
    *is = gpuopt__simplex_within_tolerances(s) &&
          (!gpuopt__simplex_is_refined(s) || s->by_tolerance || gpuopt__simplex_is_exact(s));
    if (!*is) return GPUOPT_OK;
    status = gpuopt__simplex_find_certainty(s);
    *is = s->found.certainty != GPUOPT_CERTAINTY_NONE;
    return status;
}

static gpuopt_status gpuopt__simplex_conclude_optimal(gpuopt_simplex *s) {
    gpuopt_status status;
    int is = 0;
    if (s->by_tolerance && s->stage == GPUOPT__SIMPLEX_STAGE_EXACT) {
        status = gpuopt__simplex_is_optimal(s, &is);
        if (is) s->verdict = GPUOPT_OPTIMAL;
        if (status || is) return status;
    }
    if (s->stage < GPUOPT__SIMPLEX_STAGE_REFINED) {
        gpuopt__simplex_enter_stage(s, s->stage == GPUOPT__SIMPLEX_STAGE_PERTURBED ? GPUOPT__SIMPLEX_STAGE_EXACT
                                                                                   : GPUOPT__SIMPLEX_STAGE_REFINED);
        return GPUOPT_OK;
    }
    if (s->stage == GPUOPT__SIMPLEX_STAGE_UNREFINED && !s->empty) {
        status = gpuopt__simplex_find_empty(s);
        if (status) return status;
        if (!s->empty) return gpuopt__simplex_give_up(s, "the optimum is not known to more than the tolerances");
    }
    status = gpuopt__simplex_is_optimal(s, &is);
    if (status) return status;
    if (is) s->verdict = GPUOPT_OPTIMAL;
    else if (gpuopt__simplex_is_refined(s)) return gpuopt__simplex_extend_precision(s);
    else if (gpuopt__simplex_within_tolerances(s))
        return gpuopt__simplex_give_up(s, "violations within the tolerances may move the objective by more");
    else return gpuopt__simplex_give_up(s, "optimal, but not within the tolerances");
    return GPUOPT_OK;
}

/* If the relaxed bounds admit no point, the true bounds admit none either, but give the better certificate. A model
 * that lacks a feasible point by less than the tolerance is feasible. */
static gpuopt_status gpuopt__simplex_conclude_infeasible(gpuopt_simplex *s) {
    int proven;
    gpuopt_status status;
    if (s->stage == GPUOPT__SIMPLEX_STAGE_PERTURBED) {
        gpuopt__simplex_enter_stage(s, GPUOPT__SIMPLEX_STAGE_EXACT);
        return GPUOPT_OK;
    }
    status = gpuopt__simplex_prove_infeasible(s, &proven);
    if (status) return status;
    if (!proven) return gpuopt__simplex_unproven(s, "neither a feasible point nor a proof that there is none");
    if (gpuopt__simplex_is_refined(s) && s->found.primal_reached <= s->desc.primal_tolerance) {
        gpuopt__simplex_found_empty(s);
        gpuopt__simplex_enter_stage(s, GPUOPT__SIMPLEX_STAGE_FINAL);
    } else s->verdict = GPUOPT_INFEASIBLE;
    return GPUOPT_OK;
}

/* Whether the reduced cost of the variable in the slot may come from rounding of the caller's costs. The terms of its
 * sum are then larger by 2^45 or more. */
static int gpuopt__simplex_gains_by_rounding(const gpuopt_simplex *s, int32_t slot) {
    double terms = fabs(s->cost[s->v.slot[slot]]) + gpuopt__simplex_largest(s->lp.rows, s->y);
    return fabs(s->v.d[slot]) <= 0x1p-45 * terms;
}

static gpuopt_status gpuopt__simplex_conclude_unbounded(gpuopt_simplex *s, int32_t slot, int direction) {
    int proven;
    gpuopt_status status;
    if (s->stage == GPUOPT__SIMPLEX_STAGE_PERTURBED) {
        gpuopt__simplex_enter_stage(s, GPUOPT__SIMPLEX_STAGE_EXACT);
        return GPUOPT_OK;
    }
    status = gpuopt__simplex_prove_unbounded(s, slot, direction, &proven);
    if (status) return status;
    if (!proven && s->stage == GPUOPT__SIMPLEX_STAGE_EXTENDED && gpuopt__simplex_gains_by_rounding(s, slot) &&
        gpuopt__simplex_within_tolerances(s)) {
        status = gpuopt__simplex_find_certainty(s);
        if (s->found.certainty != GPUOPT_CERTAINTY_NONE) s->verdict = GPUOPT_OPTIMAL;
        if (status || s->found.certainty != GPUOPT_CERTAINTY_NONE) return status;
    }
    if (!proven || s->found.primal_reached > s->desc.primal_tolerance)
        return gpuopt__simplex_unproven(s, "neither an optimum nor a proof that the objective is unbounded");
    s->verdict = GPUOPT_UNBOUNDED;
    return GPUOPT_OK;
}

/* A run has ended because no variable can enter or none leaves. A verdict needs x and duals just recomputed from the
 * original data. Candidates refused for small pivots must also have been tried again: first with a fresh inverse, then
 * with smaller pivot tolerances. */
static gpuopt_status gpuopt__simplex_conclude(gpuopt_simplex *s, const gpuopt__simplex_run_report *report) {
    int refused = report->bans > 0 || (report->end == GPUOPT__SIMPLEX_END_NO_LEAVING && s->phase == 1);
    if (s->since_rebuild > 0) {
        gpuopt_status status = gpuopt__simplex_pull(s);
        s->stale = GPUOPT__SIMPLEX_STALE_POINT;
        /* The next stage recomputes everything anyway. */
        if (!status && s->stage == GPUOPT__SIMPLEX_STAGE_PERTURBED && s->phase == 2 &&
            report->end == GPUOPT__SIMPLEX_END_NO_ENTERING)
            return gpuopt__simplex_conclude_optimal(s);
        return status;
    }
    if (refused && gpuopt__simplex_is_refined(s)) return gpuopt__simplex_extend_precision(s);
    if (refused && s->escalation < 3) {
        s->escalation++;
        s->stale = GPUOPT__SIMPLEX_STALE_INVERSE;
        return gpuopt__simplex_pull(s);
    }
    if (report->end == GPUOPT__SIMPLEX_END_NO_LEAVING && s->phase == 2)
        return gpuopt__simplex_conclude_unbounded(s, report->entering, report->direction);
    return s->phase == 2 ? gpuopt__simplex_conclude_optimal(s) : gpuopt__simplex_conclude_infeasible(s);
}

/* Crossing bounds need no iteration: they prove infeasibility. */
static gpuopt_status gpuopt__simplex_conclude_crossing(gpuopt_simplex *s) {
    gpuopt_status status = gpuopt__simplex_fresh_to_read(s);
    if (status) return status;
    memset(s->farkas, 0, sizeof(double) * (size_t)s->lp.rows);
    memset(s->farkas_low, 0, sizeof(double) * (size_t)s->lp.rows);
    s->found.margin = s->crossing_size;
    s->found.certificate_residual = 0;
    s->verdict = GPUOPT_INFEASIBLE;
    return GPUOPT_OK;
}

/* After a change by the caller. Revisiting a basis does not count as a cycle, and methods abandoned at another basis
 * are tried again. */
static void gpuopt__simplex_start_over(gpuopt_simplex *s) {
    s->cycle.at = s->cycle.next = 0;
    s->cycle.hasty = s->cycle.found = 0;
    gpuopt__simplex_dual_again(s);
    if (s->stage > GPUOPT__SIMPLEX_STAGE_EXACT) gpuopt__simplex_enter_stage(s, GPUOPT__SIMPLEX_STAGE_EXACT);
}

/* The point is another one: nonbasic variables are at the bounds of their statuses, and nothing is known about it. */
static gpuopt_status gpuopt__simplex_move_point(gpuopt_simplex *s) {
    gpuopt__simplex_start_over(s);
    gpuopt__simplex_place_nonbasic(s);
    gpuopt__simplex_center(s);
    s->verdict = GPUOPT_MORE, s->phase = 0;
    gpuopt__simplex_mark_stale(s);
    s->since_rebuild = 0;
    s->escalation = s->relapses = 0;
    return gpuopt__simplex_backend_of(s)->push(s->engine);
}

/* After a basis was set and inverted. */
static gpuopt_status gpuopt__simplex_rebase(gpuopt_simplex *s) {
    int32_t i;
    for (i = 0; i < s->lp.rows; i++) s->x[s->v.head[i]] = s->x_low[s->v.head[i]] = 0;
    s->stale = GPUOPT__SIMPLEX_STALE_POINT;
    s->weights_of = 0;
    return gpuopt__simplex_move_point(s);
}

/* After a change of the model: keeps the present basis and weights. */
static gpuopt_status gpuopt__simplex_changed(gpuopt_simplex *s) {
    s->empty = 0;
    return gpuopt__simplex_move_point(s);
}

/* ---- Iterating ---- */

static void gpuopt__simplex_prepare(gpuopt_simplex *s, gpuopt__simplex_run_part part, gpuopt__simplex_run *run) {
    memset(run, 0, sizeof *run);
    run->part = part;
    run->rules = gpuopt__simplex_rules_now(s);
    run->phase = s->phase;
    run->most = 1;
    run->entering = run->leaving = -1;
    /* Exact norms stay valid in the other phase. Devex starts a new reference framework. */
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
    s->since_rebuild += report->pivots + report->flips;
    if (report->pivots + report->flips > 0) s->verdict = GPUOPT_MORE;
    if (s->phase == 1 && report->infeasible == 0) { /* end of phase 1: the reduced costs still belong to phase 1 */
        s->phase = 2;
        gpuopt__simplex_mark_stale(s);
    }
}

/* Successive rebuilds without progress between them also count as a cycle, because the inverse drifts with every pivot.
 * A cycle is broken by relaxing the bounds again. After MOST_CYCLES cycles, iterating ends. */
enum { GPUOPT__SIMPLEX_MOST_HASTY = 100, GPUOPT__SIMPLEX_MOST_CYCLES = 6 };

static gpuopt_status gpuopt__simplex_leave_circle(gpuopt_simplex *s) {
    s->cycle.hasty = 0;
    if (gpuopt__simplex_is_refined(s)) return gpuopt__simplex_extend_precision(s);
    if (++s->cycle.found > GPUOPT__SIMPLEX_MOST_CYCLES)
        return gpuopt__simplex_give_up(s, "the method goes round in circles");
    gpuopt__simplex_enter_stage(s, GPUOPT__SIMPLEX_STAGE_PERTURBED);
    s->weights_of = 0;
    return GPUOPT_OK;
}

/* An iteration in extended precision instead of a run of the engine. */
static gpuopt_status gpuopt__simplex_iterate_extended(gpuopt_simplex *s) {
    gpuopt__simplex_extended c = {-1, -1, 0, 0, 0};
    int done;
    gpuopt_status status = GPUOPT_OK;
    if (s->refining.extended_left > 0) {
        s->refining.extended_left--;
        status = gpuopt__simplex_extended_iteration(s, &c, &done);
        if (status || done > 0) return status;
        if (done == 0)
            return s->phase == 2 ? gpuopt__simplex_conclude_optimal(s) : gpuopt__simplex_conclude_infeasible(s);
        if (s->phase == 2) return gpuopt__simplex_conclude_unbounded(s, c.slot, c.direction);
    }
    return gpuopt__simplex_extend_precision(s);
}

/* Before the first iteration: relaxes the bounds, unless the caller has set a basis that is already optimal. */
static gpuopt_status gpuopt__simplex_start(gpuopt_simplex *s) {
    int32_t i = 0;
    gpuopt__simplex_enter_stage(s, GPUOPT__SIMPLEX_STAGE_EXACT);
    if (s->desc.perturbation == GPUOPT_OFF) return GPUOPT_OK;
    while (i < s->lp.rows && s->v.head[i] >= s->lp.cols) i++;
    if (i < s->lp.rows) { /* not the slack basis */
        gpuopt_status status = gpuopt__simplex_rebuild(s);
        if (status || gpuopt__simplex_within_tolerances(s)) return status;
    }
    gpuopt__simplex_enter_stage(s, GPUOPT__SIMPLEX_STAGE_PERTURBED);
    return GPUOPT_OK;
}

static gpuopt_status gpuopt__simplex_some_iterations(gpuopt_simplex *s, int64_t most) {
    gpuopt__simplex_run run;
    gpuopt__simplex_run_report report;
    gpuopt_status status = GPUOPT_OK;
    if (s->dual_method.state != GPUOPT__SIMPLEX_DUAL_OFF) return gpuopt__simplex_dual_iterations(s, most);
    if (s->stage == GPUOPT__SIMPLEX_STAGE_NEW) status = gpuopt__simplex_start(s);
    if (status) return status;
    if (s->stale) {
        int32_t few = s->desc.rebuild_pivots < 10 ? s->desc.rebuild_pivots : 10;
        s->cycle.hasty = s->stage != GPUOPT__SIMPLEX_STAGE_EXTENDED && s->since_rebuild < few ? s->cycle.hasty + 1 : 0;
        status = gpuopt__simplex_rebuild(s);
        if (!status && (gpuopt__simplex_was_here(s) || s->cycle.hasty > GPUOPT__SIMPLEX_MOST_HASTY))
            status = gpuopt__simplex_leave_circle(s);
    }
    if (status || s->stale || s->verdict != GPUOPT_MORE) return status;
    if (s->stage == GPUOPT__SIMPLEX_STAGE_EXTENDED) return gpuopt__simplex_iterate_extended(s);
    gpuopt__simplex_prepare(s, GPUOPT__SIMPLEX_RUN_ITERATE, &run);
    run.most = s->desc.rebuild_pivots - s->since_rebuild;
    if (s->desc.ratio == GPUOPT_RATIO_EXPAND && run.most > 10000 - s->since_rebuild % 10000)
        run.most = 10000 - s->since_rebuild % 10000;
    if (s->stage == GPUOPT__SIMPLEX_STAGE_REFINED && run.most > s->refining.end - s->iterations)
        run.most = (int32_t)gpuopt__max(1, (double)(s->refining.end - s->iterations));
    if (run.most > most) run.most = (int32_t)most;
    status = gpuopt__simplex_engage(s, &run, &report);
    if (status) return status;
    gpuopt__simplex_count(s, &report);
    if (s->stage == GPUOPT__SIMPLEX_STAGE_REFINED && s->iterations >= s->refining.end)
        return gpuopt__simplex_extend_precision(s);
    else if (report.end == GPUOPT__SIMPLEX_END_NO_ENTERING || report.end == GPUOPT__SIMPLEX_END_NO_LEAVING)
        return gpuopt__simplex_conclude(s, &report);
    if (report.end == GPUOPT__SIMPLEX_END_DRIFTED) s->stale = GPUOPT__SIMPLEX_STALE_INVERSE;
    else if (report.end == GPUOPT__SIMPLEX_END_FEASIBLE || s->since_rebuild >= s->desc.rebuild_pivots)
        s->stale = GPUOPT__SIMPLEX_STALE_POINT;
    return s->stale ? gpuopt__simplex_pull(s) : GPUOPT_OK;
}

/* GPUOPT_DEBUG: whether the states above fit together, and each has followed one that it may follow. */
static gpuopt_status gpuopt__simplex_check_states(const gpuopt_simplex *s) {
#ifdef GPUOPT_DEBUG
    const gpuopt__simplex_dual_method *dual = &s->dual_method;
    const int refined = gpuopt__simplex_is_refined(s), final = s->stage >= GPUOPT__SIMPLEX_STAGE_FINAL;
    const char *wrong = NULL;
    if (s->misstep) wrong = "a stage has followed one that it may not follow";
    else if (dual->state != GPUOPT__SIMPLEX_DUAL_OFF && (refined || final))
        wrong = "the dual method is in a late stage";
    else if (dual->state == GPUOPT__SIMPLEX_DUAL_ON && s->stage == GPUOPT__SIMPLEX_STAGE_PERTURBED)
        wrong = "the dual method iterates with relaxed bounds";
    else if (dual->state == GPUOPT__SIMPLEX_DUAL_OFF && dual->boxing) wrong = "the primal method is in the box";
    else if (refined && (s->escalation > 0 || s->relapses > 0)) wrong = "a tolerance of a refined stage has grown";
    else if (s->phase < 0 || s->phase > 2) wrong = "the phase is out of range";
    if (wrong) return gpuopt__refuse(s->context, GPUOPT_ERROR_STATE, "gpuopt_simplex_iterate", wrong);
#endif
    (void)s;
    return GPUOPT_OK;
}

/* Runs the engine until there is a verdict, `most` iterations are done, or the caller asks to stop. */
static gpuopt_status gpuopt__simplex_iterate(gpuopt_simplex *s, int64_t most) {
    int64_t target = most < INT64_MAX - s->iterations ? s->iterations + most : INT64_MAX;
    gpuopt_status status = GPUOPT_OK;
    int stopped = 0;
    if (s->crossing >= 0) return gpuopt__simplex_conclude_crossing(s);
    if (s->desc.iteration_limit && target > s->desc.iteration_limit) target = s->desc.iteration_limit;
    while (!status && s->verdict == GPUOPT_MORE && s->iterations < target && !stopped) {
        status = gpuopt__simplex_some_iterations(s, target - s->iterations);
        if (!status) status = gpuopt__simplex_check_states(s);
        if (!status && s->verdict == GPUOPT_MORE && s->iterations < target)
            status = gpuopt__simplex_asked_to_stop(s, &stopped);
    }
    if (!status && s->dual_method.boxing) {
        status = gpuopt__simplex_pull(s);
        gpuopt__simplex_unbox(s, 0);
        if (!status) status = gpuopt__simplex_fresh_to_read(s);
    }
    if (!status && s->verdict == GPUOPT_MORE && s->desc.iteration_limit && s->iterations >= s->desc.iteration_limit)
        s->verdict = GPUOPT_LIMIT;
    return status;
}

#endif /* GPUOPT_IMPL_SIMPLEX_CONTROL_LOOP_H */
