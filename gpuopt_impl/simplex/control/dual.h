/* SPDX-License-Identifier: MIT
 *
 * The dual simplex method above the engine: when it iterates, its costs, and how it ends. It leads to a primal feasible
 * basis, or proves that there is none. The primal method then does the remaining iterations with the true costs. It
 * also takes over what the dual method cannot settle.
 */
#ifndef GPUOPT_IMPL_SIMPLEX_CONTROL_DUAL_H
#define GPUOPT_IMPL_SIMPLEX_CONTROL_DUAL_H

#include "../verdict/bound.h"
#include "../arith/dual_step.h"

/* ---- Phase 1 ----
 * From a basis that is not dual feasible, DUAL first solves a program with the same rows and costs. Its bounds are a
 * box: 0 for each finite bound, else 1 or -1, and 1000 either way for free variables. Every basis of it is dual
 * feasible once variables have flipped, and 0 is a feasible point. If its optimum is 0, the optimal basis is dual
 * feasible for the true bounds (Koberstein and Suhl 2007). The box exists only while iterating. */

static void gpuopt__simplex_set_box(gpuopt_simplex *s, int boxing) {
    int32_t j, both = s->lp.rows + s->lp.cols;
    s->dual_method.boxing = boxing;
    for (j = 0; j < both; j++) gpuopt__simplex_work_bounds(s, j);
    gpuopt__simplex_place_nonbasic(s);
}

/* Removes the box. done: phase 1 has ended as well as it could. */
static void gpuopt__simplex_unbox(gpuopt_simplex *s, int done) {
    gpuopt__simplex_set_box(s, 0);
    s->dual_method.boxed = done;
    s->dual_method.priced = 0;
    s->since_rebuild = 0;
    gpuopt__simplex_mark_stale(s);
}

/* After the caller has changed the model or the basis. */
static void gpuopt__simplex_dual_again(gpuopt_simplex *s) {
    int primal = s->desc.algorithm == GPUOPT_ALGORITHM_PRIMAL;
    s->dual_method.state = primal ? GPUOPT__SIMPLEX_DUAL_OFF : GPUOPT__SIMPLEX_DUAL_TRY;
}

/* Hands over to the primal method. If the reduced costs are nearly right already, that refines at once. */
static gpuopt_status gpuopt__simplex_dual_leave(gpuopt_simplex *s, int done) {
    gpuopt_status status = s->since_rebuild > 0 ? gpuopt__simplex_pull(s) : GPUOPT_OK;
    int nearly = done && s->dual_method.shifted <= s->desc.dual_tolerance;
    if (s->dual_method.boxing) gpuopt__simplex_unbox(s, 1);
    s->dual_method.state = GPUOPT__SIMPLEX_DUAL_OFF;
    gpuopt__simplex_mark_stale(s);
    s->phase = 0;
    s->weights_of = 0;
    if (done && s->stage == GPUOPT__SIMPLEX_STAGE_NEW) gpuopt__simplex_enter_stage(s, GPUOPT__SIMPLEX_STAGE_EXACT);
    if (nearly) gpuopt__simplex_enter_stage(s, GPUOPT__SIMPLEX_STAGE_REFINED);
    return status;
}

/* ---- Costs ---- */

/* What the nonbasic variables need to be dual feasible: 0: nothing, 1: flips, 2: cost shifts above the tolerance. */
static int gpuopt__simplex_dual_needs(const gpuopt_simplex *s) {
    int32_t j;
    int needs = 0;
    for (j = 0; j < s->lp.cols && needs < 2; j++) {
        int32_t variable = s->v.slot[j];
        int boxed = s->work_lower[variable] > -HUGE_VAL && s->work_upper[variable] < HUGE_VAL;
        if (gpuopt__simplex_dual_wrong(s->reduced[variable], s->v.state[j], s->desc.dual_tolerance))
            needs = boxed ? 1 : 2;
    }
    return needs;
}

/* Makes the nonbasic variables dual feasible: variables with two bounds flip, others get shifted costs. Returns the
 * number of flips. */
static int32_t gpuopt__simplex_dual_correct(gpuopt_simplex *s) {
    int32_t j, flips = 0;
    for (j = 0; j < s->lp.cols; j++) {
        int32_t variable = s->v.slot[j];
        int boxed = s->work_lower[variable] > -HUGE_VAL && s->work_upper[variable] < HUGE_VAL;
        double d = s->reduced[variable], tolerance = boxed ? s->desc.dual_tolerance : 0;
        if (!gpuopt__simplex_dual_wrong(d, s->v.state[j], 0)) continue;
        if (gpuopt__simplex_dual_wrong(d, s->v.state[j], tolerance) && boxed) {
            s->status[variable] = (uint8_t)(d < 0 ? GPUOPT_VARIABLE_AT_UPPER : GPUOPT_VARIABLE_AT_LOWER);
            flips++;
            continue;
        }
        s->dual_cost[variable] -= d;
        s->reduced[variable] = 0;
        s->dual_method.shifted = gpuopt__max(s->dual_method.shifted, fabs(d));
    }
    return flips;
}

/* Moves the reduced costs of nonbasic variables away from 0 at random, which makes ties unlikely. */
static void gpuopt__simplex_dual_perturb(gpuopt_simplex *s) {
    static const double sizes[] = {5e-7, 5e-6, 5e-5, 5e-4};
    double size = sizes[s->dual_method.perturbed < 3 ? s->dual_method.perturbed : 3];
    uint64_t seed = s->desc.seed + (uint64_t)s->dual_method.perturbed;
    int32_t j;
    for (j = 0; j < s->lp.cols; j++) {
        int32_t variable = s->v.slot[j];
        int state = s->v.state[j] & 3;
        double by = size * (1 + gpuopt__random(seed, (uint64_t)variable)) * (1 + fabs(s->cost[variable]));
        if (state == 0 || state == 3) continue;
        s->dual_cost[variable] += state == GPUOPT__SIMPLEX_MAY_INCREASE ? by : -by;
        s->dual_method.shifted = gpuopt__max(s->dual_method.shifted, by);
    }
    s->dual_method.perturbed++;
    gpuopt__simplex_mark_stale(s);
}

/* ---- Rebuilding ---- */

/* Whether a basic variable is outside its bounds. */
static int gpuopt__simplex_dual_outside(const gpuopt_simplex *s) {
    double tolerance = gpuopt__simplex_rules_now(s).primal;
    int32_t i;
    for (i = 0; i < s->lp.rows; i++) {
        int32_t k = s->v.head[i];
        if (gpuopt__simplex_infeasible(s->x[k], s->work_lower[k], s->work_upper[k], tolerance)) return 1;
    }
    return 0;
}

/* Computes x and the reduced costs of dual_cost with the present inverse. *leave: AUTO prefers the primal method. */
static gpuopt_status gpuopt__simplex_dual_solve(gpuopt_simplex *s, int *leave, int *good) {
    const gpuopt__simplex_backend *backend = gpuopt__simplex_backend_of(s);
    int choose = s->dual_method.state == GPUOPT__SIMPLEX_DUAL_TRY && s->desc.algorithm == GPUOPT_ALGORITHM_AUTO &&
                 !s->dual_method.by_caller;
    int good_x, needs;
    double noise;
    gpuopt_status status;
    gpuopt__simplex_place_nonbasic(s);
    status = backend->push(s->engine);
    if (!status)
        status = gpuopt__simplex_solve_duals(s, gpuopt__simplex_present_duals(s), s->dual_cost, GPUOPT__SIMPLEX_ROUGH,
                                             good, &noise);
    if (status || !*good) return status;
    needs = gpuopt__simplex_dual_needs(s);
    *leave = choose && needs == 2;
    if (*leave) return GPUOPT_OK;
    if (needs == 2 && !s->dual_method.boxed && !s->dual_method.by_caller) gpuopt__simplex_set_box(s, 1);
    if (choose && needs == 1) { /* a flip may make a feasible point infeasible */
        status = gpuopt__simplex_solve_x(s, s->x, s->x_low, GPUOPT__SIMPLEX_ROUGH, &good_x, &noise);
        *leave = !status && !gpuopt__simplex_dual_outside(s);
        if (status || *leave) return status;
    }
    if (gpuopt__simplex_dual_correct(s) > 0) {
        gpuopt__simplex_place_nonbasic(s);
        status = backend->push(s->engine);
    }
    if (!status) status = gpuopt__simplex_solve_x(s, s->x, s->x_low, GPUOPT__SIMPLEX_ROUGH, &good_x, &noise);
    *good = good_x;
    *leave = choose && !gpuopt__simplex_dual_outside(s);
    return status;
}

/* Recomputes x and the duals for the dual method. */
static gpuopt_status gpuopt__simplex_dual_rebuild(gpuopt_simplex *s) {
    const gpuopt__simplex_backend *backend = gpuopt__simplex_backend_of(s);
    int refactors, good = 0, leave = 0;
    int32_t j;
    gpuopt_status status = GPUOPT_OK;
    if (s->dual_method.state == GPUOPT__SIMPLEX_DUAL_TRY) {
        if (gpuopt__simplex_program(s) != GPUOPT__SIMPLEX_STAGE_EXACT) gpuopt__simplex_enter_exact(s);
        memcpy(s->dual_cost, s->cost, sizeof(double) * ((size_t)s->lp.rows + (size_t)s->lp.cols));
        s->dual_method.boxed = s->desc.algorithm != GPUOPT_ALGORITHM_DUAL || s->dual_method.by_caller;
        s->dual_method.shifted = s->dual_method.short_of = s->dual_method.perturbed = s->dual_method.drifted = 0;
    }
    refactors = s->stale == GPUOPT__SIMPLEX_STALE_INVERSE;
    s->rebuilds++;
    s->dual_method.priced = 0;
    for (;;) {
        if (refactors) status = gpuopt__simplex_repair(s);
        if (!status) status = gpuopt__simplex_dual_solve(s, &leave, &good);
        if (status) return status;
        if (leave || good || refactors) break;
        refactors = 1;
    }
    if (leave || !good) return gpuopt__simplex_dual_leave(s, 0);
    memcpy(s->gap, s->by_row, sizeof(double) * (size_t)s->lp.rows);
    status = backend->residual(s->engine, s->x, NULL, s->residual, NULL);
    gpuopt__simplex_center(s);
    for (j = 0; j < s->lp.cols; j++) s->v.d[j] = s->reduced[s->v.slot[j]];
    s->dual_method.state = GPUOPT__SIMPLEX_DUAL_ON;
    s->dual_method.priced = 1;
    s->phase = 1;
    s->stale = GPUOPT__SIMPLEX_FRESH;
    s->since_rebuild = 0;
    gpuopt__simplex_violations(s);
    return status ? status : backend->push(s->engine);
}

/* ---- Conclusions ---- */

/* No variable can enter for the leaving variable in this position. Its row proves infeasibility, like the duals of
 * phase 1 that count only its own infeasibility. */
static gpuopt_status gpuopt__simplex_dual_conclude_ray(gpuopt_simplex *s, const gpuopt__simplex_run_report *report) {
    double noise;
    int good, proven;
    gpuopt_status status;
    s->dual_method.priced = 0;
    memset(s->phase_cost, 0, sizeof(double) * ((size_t)s->lp.rows + (size_t)s->lp.cols));
    s->phase_cost[s->v.head[report->leaving]] = report->direction;
    status = gpuopt__simplex_solve_duals(s, gpuopt__simplex_present_duals(s), s->phase_cost, 0, &good, &noise);
    if (!status) status = gpuopt__simplex_prove_infeasible(s, &proven);
    if (status) return status;
    if (!proven || s->found.primal_reached <= s->desc.primal_tolerance) return gpuopt__simplex_dual_leave(s, 0);
    s->stale = GPUOPT__SIMPLEX_STALE_POINT; /* for a caller that continues by single parts */
    s->verdict = GPUOPT_INFEASIBLE;
    return GPUOPT_OK;
}

/* The bound that the present basis proves must also reach the cutoff. */
static gpuopt_status gpuopt__simplex_dual_conclude_cutoff(gpuopt_simplex *s) {
    double bound;
    gpuopt_status status = gpuopt__simplex_pull(s);
    if (!status) status = gpuopt__simplex_caller_bound(s, &bound);
    if (status) return status;
    if (gpuopt__simplex_bound_reaches(bound, s->dual_method.limit, s->desc.maximize)) s->verdict = GPUOPT_CUTOFF;
    else s->dual_method.short_of++;
    return GPUOPT_OK;
}

static gpuopt_status gpuopt__simplex_dual_conclude(gpuopt_simplex *s, const gpuopt__simplex_run_report *report) {
    int fresh = s->since_rebuild == 0, moved = report->pivots > 0;
    s->dual_method.drifted = moved ? 0 : s->dual_method.drifted + 1;
    if (report->end == GPUOPT__SIMPLEX_END_CUTOFF) return gpuopt__simplex_dual_conclude_cutoff(s);
    if (s->dual_method.boxing && ((report->end == GPUOPT__SIMPLEX_END_FEASIBLE && report->bans == 0) ||
                                  (report->end == GPUOPT__SIMPLEX_END_NO_ENTERING && fresh))) {
        gpuopt_status status = gpuopt__simplex_pull(s);
        gpuopt__simplex_unbox(s, 1);
        return status;
    }
    if (report->end == GPUOPT__SIMPLEX_END_FEASIBLE && report->bans == 0) return gpuopt__simplex_dual_leave(s, 1);
    if (report->end == GPUOPT__SIMPLEX_END_NO_ENTERING && fresh) return gpuopt__simplex_dual_conclude_ray(s, report);
    if (s->dual_method.drifted > 2) return gpuopt__simplex_dual_leave(s, 0);
    if (report->end == GPUOPT__SIMPLEX_END_LIMIT && s->since_rebuild < s->desc.rebuild_pivots) return GPUOPT_OK;
    s->stale = report->bans > 0 || report->end == GPUOPT__SIMPLEX_END_DRIFTED ? GPUOPT__SIMPLEX_STALE_INVERSE
                                                                              : GPUOPT__SIMPLEX_STALE_POINT;
    if (report->end == GPUOPT__SIMPLEX_END_STALLED) gpuopt__simplex_dual_perturb(s);
    return gpuopt__simplex_pull(s);
}

/* ---- Iterating ---- */

/* After this many perturbations or cycles the primal method takes over. */
enum { GPUOPT__SIMPLEX_DUAL_PERTURBATIONS = 20 };

/* Prepares a run of the engine: one part, without a cutoff. */
static void gpuopt__simplex_dual_prepare(gpuopt_simplex *s, gpuopt__simplex_run_part part,
                                         gpuopt__simplex_dual_run *run) {
    run->part = part;
    run->rules = gpuopt__simplex_rules_now(s);
    run->pricing = s->desc.dual_pricing;
    run->most = 1;
    run->leaving = run->entering = -1;
    run->cutoff = HUGE_VAL;
    run->cost = s->dual_cost;
}

static void gpuopt__simplex_dual_count(gpuopt_simplex *s, const gpuopt__simplex_run_report *report) {
    if (report->pivots > 0) s->weights_of = 0; /* the primal pricing's weights now belong to other variables */
    s->iterations += report->pivots;
    s->dual_method.iterations += report->pivots;
    s->since_rebuild += report->pivots;
    s->dual_method.shifted = gpuopt__max(s->dual_method.shifted, report->shifted);
}

static gpuopt_status gpuopt__simplex_dual_iterations(gpuopt_simplex *s, int64_t most) {
    gpuopt__simplex_dual_run run;
    gpuopt__simplex_run_report report;
    gpuopt_status status = GPUOPT_OK;
    if (s->dual_method.state == GPUOPT__SIMPLEX_DUAL_TRY || s->stale || !s->dual_method.priced) {
        if (s->since_rebuild > 0) status = gpuopt__simplex_pull(s);
        if (!status) status = gpuopt__simplex_dual_rebuild(s);
        if (status || s->dual_method.state == GPUOPT__SIMPLEX_DUAL_OFF) return status;
        if (gpuopt__simplex_was_here(s)) gpuopt__simplex_dual_perturb(s);
        if (s->dual_method.perturbed > GPUOPT__SIMPLEX_DUAL_PERTURBATIONS) return gpuopt__simplex_dual_leave(s, 0);
        if (s->stale) return GPUOPT_OK;
    }
    gpuopt__simplex_dual_prepare(s, GPUOPT__SIMPLEX_RUN_ITERATE, &run);
    run.most = s->desc.rebuild_pivots - s->since_rebuild;
    if (run.most > most) run.most = (int32_t)most;
    run.cutoff =
        s->dual_method.boxing ? HUGE_VAL : gpuopt__simplex_cutoff_after(s->dual_method.cutoff, s->dual_method.short_of);
    status = gpuopt__simplex_backend_of(s)->dual_run(s->engine, &run, &report);
    if (status) return status;
    gpuopt__simplex_dual_count(s, &report);
    return gpuopt__simplex_dual_conclude(s, &report);
}

#endif /* GPUOPT_IMPL_SIMPLEX_CONTROL_DUAL_H */
