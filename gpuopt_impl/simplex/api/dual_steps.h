/* SPDX-License-Identifier: MIT
 *
 * The calls for one part of an iteration of the dual method: pricing, ratio test, pivot.
 */
#ifndef GPUOPT_IMPL_SIMPLEX_API_DUAL_STEPS_H
#define GPUOPT_IMPL_SIMPLEX_API_DUAL_STEPS_H

#include "primal_steps.h"

/* Whether there is a verdict that further iterations of the dual method could not change. */
static int gpuopt__simplex_dual_is_over(const gpuopt_simplex *s) {
    return s->verdict != GPUOPT_MORE && s->verdict != GPUOPT_CUTOFF && s->verdict != GPUOPT_LIMIT;
}

/* Makes x and dual feasible reduced costs, with shifted costs if necessary, and pulls the vectors to host memory. */
static gpuopt_status gpuopt__simplex_dual_ready(gpuopt_simplex *s, const char *call) {
    gpuopt_status status = gpuopt__simplex_backend_of(s)->pull(s->engine);
    if (status) return status;
    if (s->dual_method.state == GPUOPT__SIMPLEX_DUAL_ON && !s->stale && s->dual_method.priced) return GPUOPT_OK;
    if (s->dual_method.state == GPUOPT__SIMPLEX_DUAL_OFF) s->dual_method.state = GPUOPT__SIMPLEX_DUAL_TRY;
    s->dual_method.by_caller = 1;
    status = gpuopt__simplex_dual_rebuild(s);
    s->dual_method.by_caller = 0;
    if (!status && s->dual_method.state == GPUOPT__SIMPLEX_DUAL_OFF)
        return gpuopt__refuse(s->context, GPUOPT_ERROR_NUMERIC, call, "the basis is too close to a singular one");
    return status;
}

/* The checks of all parts. fits: the struct to fill has a valid size; if not, a message is already logged. */
static gpuopt_status gpuopt__simplex_dual_check(const gpuopt_simplex *s, const char *call, int fits) {
    if (!fits) return GPUOPT_ERROR_ARGUMENT;
    if (s->desc.algorithm != GPUOPT_ALGORITHM_PRIMAL) return GPUOPT_OK;
    return gpuopt__refuse(s->context, GPUOPT_ERROR_STATE, call, "the handle's algorithm is PRIMAL");
}

/* Runs a part for a given leaving variable, which must be outside its bounds. run->leaving is its position. */
static gpuopt_status gpuopt__simplex_dual_from(gpuopt_simplex *s, const char *call, gpuopt__simplex_run_part part,
                                               int32_t leaving, gpuopt__simplex_dual_run *run) {
    int32_t i;
    gpuopt_status status = gpuopt__simplex_refuse_crossing(s, call);
    if (!status && gpuopt__simplex_dual_is_over(s))
        status = gpuopt__refuse(s->context, GPUOPT_ERROR_STATE, call, "there is a verdict already, see the outcome");
    if (!status) status = gpuopt__simplex_dual_ready(s, call);
    if (status) return status;
    gpuopt__simplex_dual_prepare(s, part, run);
    i = run->leaving = gpuopt__simplex_find(s->v.head, s->lp.rows, leaving);
    if (i >= 0 && gpuopt__simplex_excess(s->v.xb[i], s->v.lb[i], s->v.ub[i], run->rules.primal) != 0) return GPUOPT_OK;
    gpuopt__log(s->context, 0, "%s: variable %d is not basic, or within its bounds", call, (int)leaving);
    return GPUOPT_ERROR_ARGUMENT;
}

static gpuopt_status gpuopt__simplex_dual_price(gpuopt_simplex *s, const char *call,
                                                gpuopt_simplex_dual_leaving *leaving) {
    gpuopt__simplex_dual_run run;
    gpuopt__simplex_run_report report;
    gpuopt_simplex_dual_leaving result;
    gpuopt_status status;
    status =
        gpuopt__simplex_dual_check(s, call, GPUOPT__HAS_SIZE(s->context, call, gpuopt_simplex_dual_leaving, leaving));
    if (status) return status;
    memset(&result, 0, sizeof result);
    result.variable = -1;
    if (s->crossing < 0 && !gpuopt__simplex_dual_is_over(s)) {
        status = gpuopt__simplex_dual_ready(s, call);
        if (status) return status;
        gpuopt__simplex_dual_prepare(s, GPUOPT__SIMPLEX_RUN_PRICE, &run);
        status = gpuopt__simplex_backend_of(s)->dual_run(s->engine, &run, &report);
        if (status) return status;
        if (report.end == GPUOPT__SIMPLEX_END_LIMIT) {
            int32_t i = report.leaving;
            result.variable = s->v.head[i];
            result.to_upper = report.to_upper != gpuopt__simplex_is_logical(s, result.variable);
            result.infeasibility = fabs(gpuopt__simplex_excess(s->v.xb[i], s->v.lb[i], s->v.ub[i], run.rules.primal));
            result.score = report.score;
        }
    }
    gpuopt__copy_out(leaving, leaving->struct_size, &result, sizeof result);
    return GPUOPT_OK;
}

GPUOPT_API gpuopt_status gpuopt_simplex_dual_price(gpuopt_simplex *simplex, gpuopt_simplex_dual_leaving *leaving) {
    GPUOPT__CALL(simplex, simplex->context, gpuopt__simplex_dual_price(simplex, call, leaving));
}

static gpuopt_status gpuopt__simplex_dual_ratio_test(gpuopt_simplex *simplex, const char *call, int32_t leaving,
                                                     gpuopt_simplex_dual_entering *entering) {
    gpuopt__simplex_dual_run run;
    gpuopt__simplex_run_report report;
    gpuopt_simplex_dual_entering result;
    gpuopt_status status = gpuopt__simplex_dual_check(
        simplex, call, GPUOPT__HAS_SIZE(simplex->context, call, gpuopt_simplex_dual_entering, entering));
    if (!status) status = gpuopt__simplex_dual_from(simplex, call, GPUOPT__SIMPLEX_RUN_RATIO, leaving, &run);
    if (!status) status = gpuopt__simplex_backend_of(simplex)->dual_run(simplex->engine, &run, &report);
    if (status) return status;
    memset(&result, 0, sizeof result);
    result.variable = -1;
    result.step = HUGE_VAL;
    if (report.end == GPUOPT__SIMPLEX_END_LIMIT) {
        result.unsafe = fabs(report.pivot) < run.rules.pivot;
        if (!result.unsafe) result.variable = simplex->v.slot[report.entering];
        result.flips = report.flips;
        result.step = report.step;
        result.pivot = report.pivot;
    }
    gpuopt__copy_out(entering, entering->struct_size, &result, sizeof result);
    return GPUOPT_OK;
}

GPUOPT_API gpuopt_status gpuopt_simplex_dual_ratio_test(gpuopt_simplex *simplex, int32_t leaving,
                                                        gpuopt_simplex_dual_entering *entering) {
    GPUOPT__CALL(simplex, simplex->context, gpuopt__simplex_dual_ratio_test(simplex, call, leaving, entering));
}

/* Pivots. If the pivot elements from the row and from the column differ, tries again with a fresh inverse. */
static gpuopt_status gpuopt__simplex_dual_move(gpuopt_simplex *s, const char *call, int32_t leaving, int32_t entering) {
    gpuopt__simplex_dual_run run;
    gpuopt__simplex_run_report report;
    int again;
    for (again = 0; again < 2; again++) {
        gpuopt_status status = gpuopt__simplex_dual_from(s, call, GPUOPT__SIMPLEX_RUN_PIVOT, leaving, &run);
        if (status) return again && status == GPUOPT_ERROR_ARGUMENT ? GPUOPT_ERROR_NUMERIC : status;
        run.entering = gpuopt__simplex_nonbasic_slot(s, call, entering);
        if (run.entering < 0) return again ? GPUOPT_ERROR_NUMERIC : GPUOPT_ERROR_ARGUMENT;
        status = gpuopt__simplex_backend_of(s)->dual_run(s->engine, &run, &report);
        if (status) return status;
        if (report.end != GPUOPT__SIMPLEX_END_DRIFTED) break;
        s->stale = GPUOPT__SIMPLEX_STALE_INVERSE;
        if (report.pivots > 0) break; /* the pivot is done, but its basis needs repair */
    }
    if (report.end == GPUOPT__SIMPLEX_END_NO_ENTERING)
        return gpuopt__refuse(s->context, GPUOPT_ERROR_ARGUMENT, call,
                              "`entering` cannot enter: its entry in the pivot row is 0 or has the wrong sign");
    if (report.pivots == 0) {
        gpuopt__log(s->context, 0, "%s: the pivot %g is too small, or not known well enough", call, report.pivot);
        return GPUOPT_ERROR_NUMERIC;
    }
    gpuopt__simplex_dual_count(s, &report);
    s->verdict = GPUOPT_MORE;
    s->cycle.at = s->cycle.next = 0;
    if (s->since_rebuild >= s->desc.rebuild_pivots) s->stale = GPUOPT__SIMPLEX_STALE_POINT;
    return s->stale ? gpuopt__simplex_pull(s) : GPUOPT_OK;
}

static gpuopt_status gpuopt__simplex_dual_pivot(gpuopt_simplex *simplex, const char *call, int32_t leaving,
                                                int32_t entering, gpuopt_simplex_info *info) {
    gpuopt_status status = gpuopt__simplex_check_info(simplex, call, info);
    if (!status) status = gpuopt__simplex_dual_check(simplex, call, 1);
    if (!status) status = gpuopt__simplex_dual_move(simplex, call, leaving, entering);
    return status ? status : gpuopt__simplex_finish(simplex, GPUOPT_OK, info);
}

GPUOPT_API gpuopt_status gpuopt_simplex_dual_pivot(gpuopt_simplex *simplex, int32_t leaving, int32_t entering,
                                                   gpuopt_simplex_info *info) {
    GPUOPT__CALL(simplex, simplex->context, gpuopt__simplex_dual_pivot(simplex, call, leaving, entering, info));
}

#endif /* GPUOPT_IMPL_SIMPLEX_API_DUAL_STEPS_H */
