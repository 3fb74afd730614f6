/* SPDX-License-Identifier: MIT
 *
 * The calls for one part of an iteration: price, ratio test, pivot, flip.
 */
#ifndef GPUOPT_IMPL_SIMPLEX_API_PRIMAL_STEPS_H
#define GPUOPT_IMPL_SIMPLEX_API_PRIMAL_STEPS_H

#include "handle.h"

/* Callers number variables as in the header. Internally a row's slack is minus its activity, so directions and
 * bounds are reversed for slacks. */
static int gpuopt__simplex_is_logical(const gpuopt_simplex *s, int32_t variable) { return variable >= s->lp.cols; }

static int gpuopt__simplex_turned(const gpuopt_simplex *s, int32_t variable, int direction) {
    return gpuopt__simplex_is_logical(s, variable) ? -direction : direction;
}

static int32_t gpuopt__simplex_find(const int32_t *list, int32_t count, int32_t value) {
    int32_t k;
    for (k = 0; k < count; k++)
        if (list[k] == value) return k;
    return -1;
}

/* Whether the parts first need a rebuild. After the dual method the reduced costs belong to no primal phase. */
static int gpuopt__simplex_due(const gpuopt_simplex *s) { return s->stale || s->dual_method.priced; }

/* Makes reduced costs of the present phase, and pulls the engine's vectors to host memory. */
static gpuopt_status gpuopt__simplex_ready(gpuopt_simplex *s) {
    if (!gpuopt__simplex_due(s)) return GPUOPT_OK;
    gpuopt__simplex_mark_stale(s);
    return gpuopt__simplex_fresh(s);
}

/* Whether the run ended at once because the engine has no factors of the basis. Nothing has moved. Marks the basis for
 * repair; the part then runs once more, perhaps with other slots and positions. */
static int gpuopt__simplex_lacks_factors(gpuopt_simplex *s, const gpuopt__simplex_run_report *report) {
    if (report->end != GPUOPT__SIMPLEX_END_DRIFTED || report->pivots + report->flips > 0) return 0;
    s->stale = GPUOPT__SIMPLEX_STALE_INVERSE;
    return 1;
}

/* Called if repairing the basis did not help. */
static gpuopt_status gpuopt__simplex_refuse_singular(const gpuopt_simplex *s, const char *call) {
    return gpuopt__refuse(s->context, GPUOPT_ERROR_NUMERIC, call, "the basis is too close to a singular one");
}

/* Refuses to iterate while bounds cross. */
static gpuopt_status gpuopt__simplex_refuse_crossing(const gpuopt_simplex *s, const char *call) {
    if (s->crossing < 0) return GPUOPT_OK;
    gpuopt__log(s->context, 0, "%s: the bounds of column %d cross", call, (int)s->crossing);
    return GPUOPT_ERROR_STATE;
}

/* The slot of a nonbasic variable. -1: it is basic, and a message is logged. */
static int32_t gpuopt__simplex_nonbasic_slot(const gpuopt_simplex *s, const char *call, int32_t variable) {
    int32_t slot = gpuopt__simplex_find(s->v.slot, s->lp.cols, variable);
    if (slot < 0) gpuopt__log(s->context, 0, "%s: variable %d is not nonbasic", call, (int)variable);
    return slot;
}

/* ---- The entering variable ---- */

/* Makes variables that iterating has banned until the next rebuild candidates for the caller. */
static gpuopt_status gpuopt__simplex_lift_bans(gpuopt_simplex *s) {
    int32_t j, banned = 0;
    for (j = 0; j < s->lp.cols; j++) {
        banned += (s->v.state[j] & GPUOPT__SIMPLEX_BANNED) != 0;
        s->v.state[j] &= (uint8_t)~GPUOPT__SIMPLEX_BANNED;
    }
    return banned ? gpuopt__simplex_backend_of(s)->push(s->engine) : GPUOPT_OK;
}

/* Finds the entering slot: report->entering; -1: none. */
static gpuopt_status gpuopt__simplex_find_entering(gpuopt_simplex *s, const char *call, gpuopt__simplex_run *run,
                                                   gpuopt__simplex_run_report *report) {
    int tries;
    memset(report, 0, sizeof *report);
    report->entering = -1;
    if (s->crossing >= 0) return GPUOPT_OK;
    for (tries = 0; tries < 2; tries++) {
        gpuopt_status status = gpuopt__simplex_backend_of(s)->pull(s->engine);
        if (!status) status = gpuopt__simplex_ready(s);
        if (!status) status = gpuopt__simplex_lift_bans(s);
        if (status) return status;
        gpuopt__simplex_prepare(s, GPUOPT__SIMPLEX_RUN_PRICE, run);
        status = gpuopt__simplex_engage(s, run, report);
        if (status || !gpuopt__simplex_lacks_factors(s, report)) return status;
    }
    return gpuopt__simplex_refuse_singular(s, call);
}

static gpuopt_simplex_candidate gpuopt__simplex_candidate(const gpuopt_simplex *s, int32_t slot, double d,
                                                          double score) {
    gpuopt_simplex_candidate c;
    c.variable = s->v.slot[slot];
    c.direction = gpuopt__simplex_turned(s, c.variable, d < 0 ? 1 : -1);
    c.reduced_cost = gpuopt__simplex_is_logical(s, c.variable) ? -d : d;
    c.score = score;
    return c;
}

static gpuopt_status gpuopt__simplex_price(gpuopt_simplex *simplex, const char *call,
                                           gpuopt_simplex_entering *entering) {
    gpuopt__simplex_run run;
    gpuopt__simplex_run_report report;
    gpuopt_simplex_entering result;
    gpuopt_status status;
    if (!GPUOPT__HAS_SIZE(simplex->context, call, gpuopt_simplex_entering, entering)) return GPUOPT_ERROR_ARGUMENT;
    status = gpuopt__simplex_find_entering(simplex, call, &run, &report);
    if (status) return status;
    memset(&result, 0, sizeof result);
    result.variable = -1;
    if (report.entering >= 0) {
        gpuopt_simplex_candidate best =
            gpuopt__simplex_candidate(simplex, report.entering, report.reduced_cost, report.score);
        result.variable = best.variable;
        result.direction = best.direction;
        result.reduced_cost = best.reduced_cost;
        result.score = best.score;
    }
    gpuopt__copy_out(entering, entering->struct_size, &result, sizeof result);
    return GPUOPT_OK;
}

GPUOPT_API gpuopt_status gpuopt_simplex_price(gpuopt_simplex *simplex, gpuopt_simplex_entering *entering) {
    GPUOPT__SIMPLEX_CALL(gpuopt__simplex_price(simplex, call, entering),
                         GPUOPT__HAS_SIZE(NULL, NULL, gpuopt_simplex_entering, entering));
}

/* Inserts a candidate into the list, behind candidates with scores at least as large. The list holds up to `most`. */
static void gpuopt__simplex_rank(gpuopt_simplex_candidate *list, int32_t most, int32_t *count,
                                 gpuopt_simplex_candidate one) {
    int32_t at = *count;
    if (at == most && one.score <= list[at - 1].score) return;
    if (at < most) (*count)++;
    else at--;
    for (; at > 0 && list[at - 1].score < one.score; at--) list[at] = list[at - 1];
    list[at] = one;
}

static gpuopt_status gpuopt__simplex_candidates(gpuopt_simplex *simplex, const char *call, int32_t count,
                                                gpuopt_simplex_candidate *candidates, int32_t *found) {
    gpuopt__simplex_run run;
    gpuopt__simplex_run_report report;
    gpuopt_status status;
    int32_t j, listed = 1;
    if (!candidates || !found || count < 1)
        return gpuopt__refuse(simplex->context, GPUOPT_ERROR_ARGUMENT, call,
                              count < 1 ? "count is less than 1" : "candidates or found is NULL");
    status = gpuopt__simplex_find_entering(simplex, call, &run, &report);
    if (!status) status = gpuopt__simplex_backend_of(simplex)->pull(simplex->engine); /* weights may have restarted */
    if (status) return status;
    if (report.entering < 0) {
        *found = 0;
        return GPUOPT_OK;
    }
    candidates[0] = gpuopt__simplex_candidate(simplex, report.entering, report.reduced_cost, report.score);
    for (j = 0; j < simplex->lp.cols; j++) {
        double d = simplex->v.d[j],
               score = gpuopt__simplex_score(d, simplex->v.weight[j], simplex->v.state[j], run.rules.dual);
        if (score > 0 && j != report.entering)
            gpuopt__simplex_rank(candidates, count, &listed, gpuopt__simplex_candidate(simplex, j, d, score));
    }
    *found = listed;
    return GPUOPT_OK;
}

GPUOPT_API gpuopt_status gpuopt_simplex_candidates(gpuopt_simplex *simplex, int32_t count,
                                                   gpuopt_simplex_candidate *candidates, int32_t *found) {
    GPUOPT__SIMPLEX_CALL(gpuopt__simplex_candidates(simplex, call, count, candidates, found), count, candidates != NULL,
                         found != NULL);
}

/* ---- The leaving variable, and the step ----
 * If a rebuild is due, arguments are checked twice. The check before it saves the rebuild of a call with bad arguments.
 * The check after it is needed because a rebuild may move variables to other slots and positions, and repair a basis
 * that has become singular. */

static gpuopt_status gpuopt__simplex_ratio_arguments(gpuopt_simplex *s, const char *call, int32_t entering,
                                                     int direction, gpuopt__simplex_run *run) {
    gpuopt__simplex_prepare(s, GPUOPT__SIMPLEX_RUN_RATIO, run);
    run->entering = gpuopt__simplex_nonbasic_slot(s, call, entering);
    if (run->entering < 0) return GPUOPT_ERROR_ARGUMENT;
    run->direction = gpuopt__simplex_turned(s, entering, direction);
    if (s->v.state[run->entering] & (run->direction > 0 ? GPUOPT__SIMPLEX_MAY_INCREASE : GPUOPT__SIMPLEX_MAY_DECREASE))
        return GPUOPT_OK;
    return gpuopt__refuse(s->context, GPUOPT_ERROR_ARGUMENT, call,
                          "the entering variable is at its bound in that direction");
}

static gpuopt_status gpuopt__simplex_ratio_test(gpuopt_simplex *simplex, const char *call, int32_t entering,
                                                int32_t direction, gpuopt_simplex_leaving *leaving) {
    gpuopt__simplex_run run;
    gpuopt__simplex_run_report report;
    gpuopt_simplex_leaving result;
    gpuopt_status status;
    int tries;
    if (!GPUOPT__HAS_SIZE(simplex->context, call, gpuopt_simplex_leaving, leaving)) return GPUOPT_ERROR_ARGUMENT;
    if (direction != 1 && direction != -1)
        return gpuopt__refuse(simplex->context, GPUOPT_ERROR_ARGUMENT, call, "direction is neither 1 nor -1");
    status = gpuopt__simplex_refuse_crossing(simplex, call);
    if (!status) status = gpuopt__simplex_backend_of(simplex)->pull(simplex->engine);
    if (!status) status = gpuopt__simplex_ratio_arguments(simplex, call, entering, direction, &run);
    for (tries = 0; !status; tries++) {
        if (tries == 2) return gpuopt__simplex_refuse_singular(simplex, call);
        if (gpuopt__simplex_due(simplex)) {
            status = gpuopt__simplex_ready(simplex);
            if (!status) status = gpuopt__simplex_ratio_arguments(simplex, call, entering, direction, &run);
        }
        if (!status) status = gpuopt__simplex_engage(simplex, &run, &report);
        if (!status && !gpuopt__simplex_lacks_factors(simplex, &report)) break;
    }
    if (status) return status;
    memset(&result, 0, sizeof result);
    result.variable = -1;
    result.flip = report.flip;
    result.step = report.step;
    if (report.leaving >= 0) {
        result.pivot = report.pivot;
        result.unsafe = !gpuopt__simplex_safe_pivot(&run.rules, report.pivot, report.largest);
        if (!result.unsafe) result.variable = simplex->v.head[report.leaving];
        if (!result.unsafe) result.to_upper = report.to_upper != gpuopt__simplex_is_logical(simplex, result.variable);
    }
    gpuopt__copy_out(leaving, leaving->struct_size, &result, sizeof result);
    return GPUOPT_OK;
}

GPUOPT_API gpuopt_status gpuopt_simplex_ratio_test(gpuopt_simplex *simplex, int32_t entering, int32_t direction,
                                                   gpuopt_simplex_leaving *leaving) {
    GPUOPT__SIMPLEX_CALL(gpuopt__simplex_ratio_test(simplex, call, entering, direction, leaving), entering, direction,
                         GPUOPT__HAS_SIZE(NULL, NULL, gpuopt_simplex_leaving, leaving));
}

/* Does one pivot or flip that the caller has chosen, unless it must run again. A variable that becomes infeasible
 * changes the costs of phase 1, so the reduced costs become stale. */
static gpuopt_status gpuopt__simplex_do(gpuopt_simplex *s, const char *call, const gpuopt__simplex_run *run,
                                        gpuopt_simplex_info *info, int *again) {
    gpuopt__simplex_run_report report;
    double x = s->v.xn[run->entering], l = s->v.ln[run->entering], u = s->v.un[run->entering];
    gpuopt_status status = gpuopt__simplex_engage(s, run, &report);
    *again = !status && gpuopt__simplex_lacks_factors(s, &report);
    if (status || *again) return status;
    if (report.end == GPUOPT__SIMPLEX_END_UNSAFE) {
        gpuopt__log(s->context, 0, "%s: the pivot %g is too small beside the column's largest entry, %g", call,
                    report.pivot, report.largest);
        return GPUOPT_ERROR_NUMERIC;
    }
    gpuopt__simplex_count(s, &report);
    gpuopt__simplex_start_over(s);
    if (report.end == GPUOPT__SIMPLEX_END_DRIFTED) s->stale = GPUOPT__SIMPLEX_STALE_INVERSE;
    else if ((s->phase == 2 && report.infeasible > 0) || s->since_rebuild >= s->desc.rebuild_pivots)
        s->stale = GPUOPT__SIMPLEX_STALE_POINT;
    /* The engine has counted variables that were basic before. The entering variable may have left its bounds, too. */
    x += report.direction * report.step;
    if (gpuopt__simplex_infeasible(x, l, u, run->rules.primal)) {
        report.infeasible++;
        gpuopt__simplex_mark_stale(s);
    }
    if (report.infeasible > 0) s->phase = 1;
    return gpuopt__simplex_finish(s, s->stale ? gpuopt__simplex_pull(s) : GPUOPT_OK, info);
}

static gpuopt_status gpuopt__simplex_pivot_arguments(gpuopt_simplex *s, const char *call, int32_t leaving, int to_upper,
                                                     gpuopt__simplex_run *run) {
    run->leaving = gpuopt__simplex_find(s->v.head, s->lp.rows, leaving);
    if (run->leaving < 0) gpuopt__log(s->context, 0, "%s: variable %d is not basic", call, (int)leaving);
    if (run->entering < 0 || run->leaving < 0) return GPUOPT_ERROR_ARGUMENT;
    run->to_upper = (to_upper != 0) != gpuopt__simplex_is_logical(s, leaving);
    if (fabs(run->to_upper ? s->v.ub[run->leaving] : s->v.lb[run->leaving]) < HUGE_VAL) return GPUOPT_OK;
    return gpuopt__refuse(s->context, GPUOPT_ERROR_ARGUMENT, call,
                          "the bound of `leaving` that to_upper names is infinite");
}

static gpuopt_status gpuopt__simplex_flip_arguments(gpuopt_simplex *s, const char *call, gpuopt__simplex_run *run) {
    if (run->entering < 0) return GPUOPT_ERROR_ARGUMENT;
    if (!(s->v.un[run->entering] - s->v.ln[run->entering] < HUGE_VAL) || (s->v.state[run->entering] & 3) == 0)
        return gpuopt__refuse(s->context, GPUOPT_ERROR_ARGUMENT, call,
                              "the variable does not have two different finite bounds");
    run->direction = s->v.state[run->entering] & GPUOPT__SIMPLEX_MAY_INCREASE ? 1 : -1;
    return GPUOPT_OK;
}

/* The caller's pivot, or its flip, without `leaving`. Checks it before anything changes, and again after values had to
 * be recomputed. */
static gpuopt_status gpuopt__simplex_move(gpuopt_simplex *s, const char *call, gpuopt__simplex_run_part part,
                                          int32_t entering, int32_t leaving, int to_upper, gpuopt_simplex_info *info) {
    int tries = 0, again;
    gpuopt_status status = gpuopt__simplex_check_info(s, call, info);
    if (!status) status = gpuopt__simplex_refuse_crossing(s, call);
    if (!status) status = gpuopt__simplex_backend_of(s)->pull(s->engine);
    while (!status) {
        gpuopt__simplex_run run;
        gpuopt__simplex_prepare(s, part, &run);
        run.entering = gpuopt__simplex_nonbasic_slot(s, call, entering);
        status = part == GPUOPT__SIMPLEX_RUN_FLIP ? gpuopt__simplex_flip_arguments(s, call, &run)
                                                  : gpuopt__simplex_pivot_arguments(s, call, leaving, to_upper, &run);
        if (!status && !gpuopt__simplex_due(s)) {
            if (tries++ == 2) return gpuopt__simplex_refuse_singular(s, call);
            status = gpuopt__simplex_do(s, call, &run, info, &again);
            if (status || !again) return status;
        }
        if (!status) status = gpuopt__simplex_ready(s);
    }
    return status;
}

GPUOPT_API gpuopt_status gpuopt_simplex_pivot(gpuopt_simplex *simplex, int32_t entering, int32_t leaving, int to_upper,
                                              gpuopt_simplex_info *info) {
    GPUOPT__SIMPLEX_CALL(
        gpuopt__simplex_move(simplex, call, GPUOPT__SIMPLEX_RUN_PIVOT, entering, leaving, to_upper, info), entering,
        leaving, to_upper != 0, gpuopt__simplex_info_fingerprint(info));
}

GPUOPT_API gpuopt_status gpuopt_simplex_flip(gpuopt_simplex *simplex, int32_t variable, gpuopt_simplex_info *info) {
    GPUOPT__SIMPLEX_CALL(gpuopt__simplex_move(simplex, call, GPUOPT__SIMPLEX_RUN_FLIP, variable, -1, 0, info), variable,
                         gpuopt__simplex_info_fingerprint(info));
}

#endif /* GPUOPT_IMPL_SIMPLEX_API_PRIMAL_STEPS_H */
