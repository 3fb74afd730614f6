/* SPDX-License-Identifier: MIT
 *
 * Linear programs: the public calls to plan, create, destroy, iterate and read infos. Each checks its arguments and
 * leaves the work to control/loop.h.
 */
#ifndef GPUOPT_IMPL_SIMPLEX_API_HANDLE_H
#define GPUOPT_IMPL_SIMPLEX_API_HANDLE_H

#include "../model/check.h"
#include "../control/loop.h"
#include "../ranks/column_split.h"

/* Sizes and plan of a draft's engine; nonzeros: of its matrix. */
static gpuopt_status gpuopt__simplex_size(gpuopt_simplex *draft, int64_t nonzeros, gpuopt_memory_plan *plan) {
    gpuopt__simplex_shape *shape = &draft->shape;
    gpuopt__simplex_options *d = &draft->desc;
    memset(plan, 0, sizeof *plan);
    d->method = gpuopt__simplex_choose_method(draft->context, d, nonzeros);
    draft->lp.rows = d->matrix.rows;
    draft->lp.cols = d->matrix.cols;
    draft->lp.nonzeros = nonzeros;
    shape->rows = draft->lp.rows + d->spare_rows;
    shape->cols = draft->lp.cols + d->spare_cols;
    shape->nonzeros = nonzeros + d->spare_nonzeros;
    shape->grows = d->spare_rows > 0 || d->spare_cols > 0 || d->spare_nonzeros > 0;
    shape->method = d->method;
    shape->pricing = d->pricing;
    shape->deferred_pivots = d->deferred_pivots;
    return draft->context->desc.backend->simplex->plan(draft->context, shape, plan);
}

static gpuopt_status gpuopt__simplex_draft(gpuopt_context *context, const char *call, const gpuopt_simplex_desc *desc,
                                           gpuopt_simplex *draft, gpuopt_memory_plan *plan) {
    gpuopt_group_info ranks;
    int64_t nonzeros = 0;
    gpuopt_status status, of_group;
    memset(draft, 0, sizeof *draft);
    memset(plan, 0, sizeof *plan);
    draft->context = context;
    status = gpuopt__simplex_check(context, call, desc, &draft->desc, &nonzeros);
    of_group = gpuopt__ranks_of(context, call, &draft->desc.group, &ranks);
    if (status || of_group) return status ? status : of_group;
    gpuopt__simplex_join(&draft->shape, &ranks);
    return gpuopt__simplex_size(draft, nonzeros, plan);
}

/* Checks the entries of a draft's sparse matrix. If they must be tidied, the draft then refers to a tidied copy. */
static gpuopt_status gpuopt__simplex_tidy_draft(gpuopt_simplex *draft, const char *call, gpuopt__tidied *tidied,
                                                gpuopt_memory_plan *plan) {
    gpuopt_matrix *m = &draft->desc.matrix;
    void *seen;
    gpuopt_status status;
    if (!m->start) return GPUOPT_OK;
    status =
        gpuopt__allocate(draft->context, GPUOPT_HOST, sizeof(int32_t) * ((uint64_t)gpuopt__matrix_width(m) + 1), &seen);
    if (status) return status;
    status = gpuopt__tidy_matrix(draft->context, call, m, GPUOPT__LEAST_DOUBLE, DBL_MAX, (int32_t *)seen, NULL, tidied);
    gpuopt__release(draft->context, GPUOPT_HOST, seen);
    if (status || !tidied->memory) return status;
    *m = tidied->matrix;
    return gpuopt__simplex_size(draft, m->start[gpuopt__matrix_lines(m)], plan);
}

/* Adds temporary memory of _create for an untidy matrix: the copy, and the engine made before the fault is found. */
static void gpuopt__simplex_plan_tidying(const gpuopt__simplex_backend *backend, const gpuopt_matrix *given,
                                         const gpuopt_memory_plan *first, gpuopt_memory_plan *plan) {
    plan->create_bytes += gpuopt__tidy_bytes(given);
    if (!backend->checks_entries) return;
    if (plan->host_bytes + plan->create_bytes < first->host_bytes)
        plan->create_bytes = first->host_bytes - plan->host_bytes;
    if (plan->device_bytes < first->device_bytes) plan->create_device_bytes = first->device_bytes - plan->device_bytes;
}

/* warns: whether this is the last step that may log warnings. */
static gpuopt_status gpuopt__simplex_write_plan(gpuopt_context *context, const char *call,
                                                const gpuopt_simplex_desc *desc, gpuopt_memory_plan *plan, int warns) {
    gpuopt_simplex draft;
    gpuopt_memory_plan first;
    gpuopt__tidied tidied;
    gpuopt__arena arena = {NULL, 0};
    gpuopt_status status = gpuopt__simplex_draft(context, call, desc, &draft, plan);
    memset(&tidied, 0, sizeof tidied);
    first = *plan;
    if (!status) status = gpuopt__simplex_tidy_draft(&draft, call, &tidied, plan);
    if (!status && tidied.memory)
        gpuopt__simplex_plan_tidying(context->desc.backend->simplex, &desc->matrix, &first, plan);
    if (!status && warns) gpuopt__warn_of_tidied(context, call, &tidied);
    gpuopt__tidied_release(context, &tidied);
    if (status) return status;
    gpuopt__cut(&arena, 1, sizeof draft);
    gpuopt__simplex_cut(&arena, &draft);
    plan->host_bytes += arena.used;
    return GPUOPT_OK;
}

/* Whether unscaling the scaled numbers gives the caller's numbers. */
static int gpuopt__simplex_scaled_exactly(const gpuopt_simplex *s) {
    const gpuopt__simplex_lp *lp = &s->lp;
    const gpuopt__simplex_options *d = &s->desc;
    double sign = d->maximize ? -1 : 1;
    int32_t i, j;
    for (j = 0; j < lp->cols; j++) {
        double by = lp->col_scale[j];
        if (!gpuopt__simplex_moderate(by) || s->cost[j] / s->cost_scale / by != (d->cost ? sign * d->cost[j] : 0) ||
            s->lower[j] / s->primal_scale * by != gpuopt__simplex_side(d->lb, j, 0, d->infinity) ||
            s->upper[j] / s->primal_scale * by != gpuopt__simplex_side(d->ub, j, HUGE_VAL, d->infinity))
            return 0;
    }
    for (i = 0; i < lp->rows; i++) {
        double by = lp->row_scale[i];
        if (!gpuopt__simplex_moderate(by) ||
            -(s->lower[lp->cols + i] / s->primal_scale / by) !=
                gpuopt__simplex_side(d->rhs, i, HUGE_VAL, d->infinity) ||
            -(s->upper[lp->cols + i] / s->primal_scale / by) != gpuopt__simplex_side(d->lhs, i, -HUGE_VAL, d->infinity))
            return 0;
    }
    return 1;
}

/* Makes the engine, and fills the handle with the scaled model at the slack basis. Afterwards the caller's arrays are
 * no longer read. */
static gpuopt_status gpuopt__simplex_fill(gpuopt_simplex *s) {
    const gpuopt__simplex_backend *backend = gpuopt__simplex_backend_of(s);
    int32_t i, j;
    gpuopt_status status = backend->create(s->context, &s->shape, &s->desc, &s->lp, &s->v, &s->moderate, &s->engine);
    if (status) return status;
    gpuopt__simplex_fill_bounds(s, &s->desc);
    if (!s->moderate || !gpuopt__simplex_scaled_exactly(s)) {
        gpuopt__log(s->context, 1, "gpuopt_simplex_create: scaled numbers would overflow or underflow: scaling is off");
        s->desc.scaling = GPUOPT_OFF;
        gpuopt__simplex_no_scales(&s->lp);
        gpuopt__simplex_fill_bounds(s, &s->desc);
    }
    status = backend->scale(s->engine);
    if (status) return status;
    gpuopt__simplex_find_crossing(s);
    for (i = 0; i < s->lp.rows; i++) {
        s->v.head[i] = s->lp.cols + i;
        s->x[s->lp.cols + i] = s->x_low[s->lp.cols + i] = 0;
        s->status[s->lp.cols + i] = GPUOPT_VARIABLE_BASIC;
    }
    for (j = 0; j < s->lp.cols; j++) {
        s->v.slot[j] = j;
        s->v.weight[j] = 1;
        s->v.d[j] = 0;
        s->status[j] = GPUOPT_VARIABLE_AT_LOWER;
    }
    gpuopt__simplex_enter_stage(s, GPUOPT__SIMPLEX_STAGE_NEW);
    gpuopt__simplex_dual_again(s);
    s->dual_method.cutoff = HUGE_VAL;
    s->dual_method.limit = s->desc.maximize ? -HUGE_VAL : HUGE_VAL;
    s->found.primal_violation = s->found.dual_violation = s->found.primal_reached = s->found.dual_reached = -1;
    s->stale = GPUOPT__SIMPLEX_STALE_POINT;
    gpuopt__simplex_place_nonbasic(s);
    gpuopt__simplex_center(s);
    status = backend->reset(s->engine);
    return status ? status : backend->push(s->engine);
}

static void gpuopt__simplex_release(gpuopt_simplex *s) {
    gpuopt_context *context;
    if (!s) return;
    context = s->context;
    if (s->engine) context->desc.backend->simplex->destroy(context, s->engine);
    gpuopt__release(context, GPUOPT_HOST, s);
}

/* Makes the handle of a draft. If this fails, *made is the incomplete handle. */
static gpuopt_status gpuopt__simplex_make(const gpuopt_simplex *draft, gpuopt_simplex **made) {
    gpuopt__arena arena = {NULL, 0};
    gpuopt_simplex measured = *draft, *s;
    gpuopt_status status;
    gpuopt__cut(&arena, 1, sizeof measured);
    gpuopt__simplex_cut(&arena, &measured);
    status = gpuopt__take_block(draft->context, GPUOPT_HOST, &arena);
    if (status) return status;
    s = *made = (gpuopt_simplex *)gpuopt__cut(&arena, 1, sizeof measured);
    *s = *draft;
    gpuopt__simplex_cut(&arena, s);
    return gpuopt__simplex_fill(s);
}

/* The same for a draft with a matrix that may be untidy. */
static gpuopt_status gpuopt__simplex_make_tidy(gpuopt_simplex *draft, const char *call, gpuopt__tidied *tidied,
                                               gpuopt_memory_plan *plan, gpuopt_simplex **made) {
    gpuopt_status status = GPUOPT_OK;
    if (!gpuopt__simplex_backend_of(draft)->checks_entries)
        status = gpuopt__simplex_tidy_draft(draft, call, tidied, plan);
    if (!status) status = gpuopt__simplex_make(draft, made);
    if (status != GPUOPT__UNTIDY) return status;
    gpuopt__simplex_release(*made);
    *made = NULL;
    status = gpuopt__simplex_tidy_draft(draft, call, tidied, plan);
    if (!status) status = tidied->memory ? gpuopt__simplex_make(draft, made) : GPUOPT__UNTIDY;
    return gpuopt__settled(draft->context, call, status);
}

static gpuopt_status gpuopt__simplex_create_handle(gpuopt_context *context, const char *call,
                                                   const gpuopt_simplex_desc *desc, gpuopt_simplex **simplex) {
    gpuopt_simplex draft, *s = NULL;
    gpuopt_memory_plan plan;
    gpuopt__tidied tidied;
    gpuopt_status status;
    memset(&tidied, 0, sizeof tidied);
    status = gpuopt__simplex_draft(context, call, desc, &draft, &plan);
    if (!simplex) status = gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "simplex and plan are NULL");
    if (!status) status = gpuopt__simplex_make_tidy(&draft, call, &tidied, &plan, &s);
    status = gpuopt__simplex_agree_made(&draft, call, status, s);
    if (!status && s->shape.ranks > 1 && context->desc.backend->simplex->connect)
        status = context->desc.backend->simplex->connect(s->engine);
    if (!status) *simplex = s;
    else gpuopt__simplex_release(s);
    gpuopt__tidied_end(context, call, &tidied);
    return status;
}

GPUOPT_API gpuopt_status gpuopt_simplex_create(gpuopt_context *context, const gpuopt_simplex_desc *desc,
                                               gpuopt_memory_plan *plan, gpuopt_simplex **simplex) {
    GPUOPT__CALL_CREATES(gpuopt_simplex, context, context, plan,
                         gpuopt__simplex_write_plan(context, call, desc, &planned, !simplex), simplex,
                         gpuopt__simplex_create_handle(context, call, desc, simplex));
}

GPUOPT_API void gpuopt_simplex_destroy(gpuopt_simplex *simplex) {
    GPUOPT__CALL_DESTROYS(gpuopt_simplex, simplex, simplex->context, gpuopt__simplex_release(simplex));
}

/* ---- Infos, iterating ---- */

static gpuopt_status gpuopt__simplex_overflowed(const gpuopt_simplex *s, const char *what) {
    gpuopt__log(s->context, 0, "simplex: %s is beyond the range of double", what);
    return GPUOPT_ERROR_NUMERIC;
}

static gpuopt_status gpuopt__simplex_report(const gpuopt_simplex *s, gpuopt_simplex_info *info) {
    gpuopt_simplex_info result;
    memset(&result, 0, sizeof result);
    result.outcome = s->verdict;
    result.method = s->shape.method;
    result.algorithm = s->desc.algorithm;
    result.phase = s->phase;
    result.iterations = s->iterations;
    result.flips = s->flips;
    result.rebuilds = s->rebuilds;
    result.refactorizations = s->refactorizations;
    result.deferred_pivots = s->shape.deferred_pivots;
    gpuopt__simplex_objective(s, &result.objective, &result.infeasibility);
    result.primal_violation = s->found.primal_violation;
    result.dual_violation = s->found.dual_violation;
    result.primal_reached = s->found.primal_reached;
    result.dual_reached = s->found.dual_reached;
    if (s->verdict == GPUOPT_INFEASIBLE || s->verdict == GPUOPT_UNBOUNDED) {
        result.certificate_margin = s->found.margin;
        result.certificate_residual = s->found.certificate_residual;
    }
    result.crossing = s->crossing;
    result.dual_iterations = s->dual_method.iterations;
    result.certainty = s->verdict == GPUOPT_OPTIMAL ? s->found.certainty : GPUOPT_CERTAINTY_NONE;
    result.backward_error = s->verdict == GPUOPT_OPTIMAL ? s->found.backward_error : -1;
    if (!(fabs(result.objective) < HUGE_VAL && result.infeasibility < HUGE_VAL))
        return gpuopt__simplex_overflowed(s, "the objective or the sum of infeasibilities");
    if (!(result.primal_violation < HUGE_VAL && result.dual_violation < HUGE_VAL))
        return gpuopt__simplex_overflowed(s, "a violation");
    gpuopt__copy_out(info, info->struct_size, &result, sizeof result);
    return GPUOPT_OK;
}

/* Ends a call that fills an info. */
static gpuopt_status gpuopt__simplex_finish(gpuopt_simplex *s, gpuopt_status status, gpuopt_simplex_info *info) {
    if (!status && info && s->since_rebuild > 0) status = gpuopt__simplex_pull(s);
    return status || !info ? status : gpuopt__simplex_report(s, info);
}

static gpuopt_status gpuopt__simplex_check_info(const gpuopt_simplex *simplex, const char *call,
                                                const gpuopt_simplex_info *info) {
    if (info && !GPUOPT__HAS_SIZE(simplex->context, call, gpuopt_simplex_info, info)) return GPUOPT_ERROR_ARGUMENT;
    return GPUOPT_OK;
}

static gpuopt_status gpuopt__simplex_get_info(gpuopt_simplex *simplex, const char *call, gpuopt_simplex_info *info) {
    gpuopt_status status = gpuopt__simplex_check_info(simplex, call, info);
    if (!status && !info) return gpuopt__refuse(simplex->context, GPUOPT_ERROR_ARGUMENT, call, "info is NULL");
    if (!status && simplex->phase == 0) status = gpuopt__simplex_fresh_to_read(simplex);
    return status ? status : gpuopt__simplex_finish(simplex, GPUOPT_OK, info);
}

GPUOPT_API gpuopt_status gpuopt_simplex_get_info(gpuopt_simplex *simplex, gpuopt_simplex_info *info) {
    GPUOPT__SIMPLEX_CALL(gpuopt__simplex_get_info(simplex, call, info), gpuopt__simplex_info_fingerprint(info));
}

static gpuopt_status gpuopt__simplex_call_iterate(gpuopt_simplex *simplex, const char *call, int64_t iterations,
                                                  gpuopt_simplex_info *info) {
    gpuopt_status status = gpuopt__simplex_check_info(simplex, call, info);
    if (status) return status;
    if (iterations < 1)
        return gpuopt__refuse(simplex->context, GPUOPT_ERROR_ARGUMENT, call, "iterations is less than 1");
    status = gpuopt__simplex_iterate(simplex, iterations);
    if (!status && simplex->verdict == GPUOPT_OPTIMAL && !gpuopt__simplex_representable(simplex)) {
        simplex->verdict = GPUOPT_MORE;
        status = gpuopt__simplex_overflowed(simplex, "a number of the optimum");
    }
    return gpuopt__simplex_finish(simplex, status, info);
}

GPUOPT_API gpuopt_status gpuopt_simplex_iterate(gpuopt_simplex *simplex, int64_t iterations,
                                                gpuopt_simplex_info *info) {
    GPUOPT__SIMPLEX_CALL(gpuopt__simplex_call_iterate(simplex, call, iterations, info), iterations,
                         gpuopt__simplex_info_fingerprint(info));
}

static gpuopt_status gpuopt__simplex_call_rebuild(gpuopt_simplex *simplex, const char *call, int refactor,
                                                  gpuopt_simplex_info *info) {
    gpuopt_status status = gpuopt__simplex_check_info(simplex, call, info);
    if (status) return status;
    status = gpuopt__simplex_pull(simplex);
    if (simplex->stage == GPUOPT__SIMPLEX_STAGE_PERTURBED) gpuopt__simplex_enter_exact(simplex);
    simplex->stale = refactor ? GPUOPT__SIMPLEX_STALE_INVERSE : GPUOPT__SIMPLEX_STALE_POINT;
    if (!status) status = gpuopt__simplex_rebuild(simplex);
    return gpuopt__simplex_finish(simplex, status, info);
}

GPUOPT_API gpuopt_status gpuopt_simplex_rebuild(gpuopt_simplex *simplex, int refactor, gpuopt_simplex_info *info) {
    GPUOPT__SIMPLEX_CALL(gpuopt__simplex_call_rebuild(simplex, call, refactor, info), refactor != 0,
                         gpuopt__simplex_info_fingerprint(info));
}

#endif /* GPUOPT_IMPL_SIMPLEX_API_HANDLE_H */
