/* SPDX-License-Identifier: MIT
 *
 * Linear programs: the public calls for plan, life, iterating and infos. Each checks its arguments and leaves the work
 * to simplex/control.h.
 */
#ifndef GPUOPT_IMPL_SIMPLEX_CALLS_H
#define GPUOPT_IMPL_SIMPLEX_CALLS_H

#include "check.h"
#include "control.h"

static void gpuopt__simplex_set_shape(gpuopt_simplex *s) {
    memset(&s->shape, 0, sizeof s->shape);
    s->shape.rows = s->desc.matrix.rows;
    s->shape.cols = s->desc.matrix.cols;
    s->shape.nonzeros = gpuopt__simplex_nonzeros(&s->desc);
    s->shape.method = s->desc.method;
    s->shape.pricing = s->desc.pricing;
    s->shape.deferred_pivots = s->desc.deferred_pivots;
}

/* Temporary memory for the values of a dense matrix. */
static uint64_t gpuopt__simplex_packed_bytes(const gpuopt_simplex *s) {
    return s->desc.matrix.start ? 0 : sizeof(double) * (uint64_t)s->shape.nonzeros;
}

GPUOPT_API gpuopt_status gpuopt_simplex_plan(gpuopt_context *context, const gpuopt_simplex_desc *desc,
                                             gpuopt_memory_plan *plan) {
    static const char call[] = "gpuopt_simplex_plan";
    gpuopt_simplex draft;
    gpuopt_memory_plan result;
    gpuopt__arena arena = {NULL, 0};
    gpuopt_status status;
    void *transposed;
    GPUOPT__COMPUTES(gpuopt_simplex_plan(context, desc, plan));
    if (!context) return GPUOPT_ERROR_ARGUMENT;
    if (!desc || !GPUOPT__HAS_SIZE(plan))
        return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "desc or plan is NULL, or has no struct_size");
    memset(&draft, 0, sizeof draft);
    memset(&result, 0, sizeof result);
    status = gpuopt__simplex_check(context, call, desc, &draft.desc, &transposed);
    if (!status) {
        gpuopt__simplex_set_shape(&draft);
        status = context->desc.backend->simplex->plan(context, &draft.shape, &result);
    }
    gpuopt__release(context, GPUOPT_HOST, transposed);
    if (status) return status;
    gpuopt__cut(&arena, 1, sizeof draft);
    gpuopt__simplex_cut(&arena, &draft);
    result.host_bytes += arena.used;
    result.create_bytes += gpuopt__matrix_in_bytes(&desc->matrix, GPUOPT_LAYOUT_CSC);
    if (result.create_bytes < gpuopt__simplex_check_bytes(desc))
        result.create_bytes = gpuopt__simplex_check_bytes(desc);
    if (result.create_bytes < gpuopt__simplex_packed_bytes(&draft))
        result.create_bytes = gpuopt__simplex_packed_bytes(&draft);
    gpuopt__copy_out(plan, plan->struct_size, &result, sizeof result);
    return GPUOPT_OK;
}

/* Fills the handle with the scaled model at the slack basis, and makes the engine. The host's arrays are not read again
 * afterwards. packed: room for the values of a dense matrix. */
static gpuopt_status gpuopt__simplex_fill(gpuopt_simplex *s, double *packed) {
    const gpuopt__simplex_backend *backend = gpuopt__simplex_backend_of(s);
    gpuopt_status status;
    int32_t i, j;
    gpuopt__simplex_copy_columns(&s->lp, &s->desc, packed);
    gpuopt__simplex_scale(s);
    gpuopt__simplex_row_largest(s);
    gpuopt__simplex_fill_bounds(s, &s->desc);
    gpuopt__simplex_find_crossing(s, &s->desc);
    for (i = 0; i < s->lp.rows; i++) {
        s->v.head[i] = s->lp.cols + i;
        s->v.xb[i] = 0;
        s->status[s->lp.cols + i] = GPUOPT_VARIABLE_BASIC;
    }
    for (j = 0; j < s->lp.cols; j++) {
        s->v.slot[j] = j;
        s->v.weight[j] = 1;
        s->v.d[j] = 0;
        s->status[j] = GPUOPT_VARIABLE_AT_LOWER;
    }
    gpuopt__simplex_enter_stage(s, GPUOPT__SIMPLEX_STAGE_EXACT);
    s->primal_violation = s->dual_violation = -1;
    s->stale = 1;
    gpuopt__simplex_place_nonbasic(s);
    status = backend->create(s->context, &s->shape, &s->lp, &s->v, &s->engine);
    s->lp.val = NULL;
    if (!status) status = backend->reset(s->engine);
    return status ? status : backend->push(s->engine);
}

GPUOPT_API gpuopt_status gpuopt_simplex_create(gpuopt_context *context, const gpuopt_simplex_desc *desc,
                                               gpuopt_simplex **simplex) {
    static const char call[] = "gpuopt_simplex_create";
    gpuopt_simplex draft, *s;
    gpuopt_memory_plan plan;
    gpuopt__arena arena = {NULL, 0};
    gpuopt_status status;
    void *memory, *packed = NULL, *transposed;
    GPUOPT__COMPUTES(gpuopt_simplex_create(context, desc, simplex));
    if (simplex) *simplex = NULL;
    if (!context) return GPUOPT_ERROR_ARGUMENT;
    if (!desc || !simplex) return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "desc or simplex is NULL");
    memset(&draft, 0, sizeof draft);
    memset(&plan, 0, sizeof plan);
    status = gpuopt__simplex_check(context, call, desc, &draft.desc, &transposed);
    if (!status) {
        draft.context = context;
        gpuopt__simplex_set_shape(&draft);
        status = context->desc.backend->simplex->plan(context, &draft.shape, &plan);
        gpuopt__cut(&arena, 1, sizeof draft);
        gpuopt__simplex_cut(&arena, &draft);
    }
    if (!status) status = gpuopt__allocate(context, GPUOPT_HOST, arena.used, &memory);
    if (status) {
        gpuopt__release(context, GPUOPT_HOST, transposed);
        return status;
    }
    arena.base = (char *)memory;
    arena.used = 0;
    s = (gpuopt_simplex *)gpuopt__cut(&arena, 1, sizeof draft);
    *s = draft;
    gpuopt__simplex_cut(&arena, s);
    if (gpuopt__simplex_packed_bytes(s))
        status = gpuopt__allocate(context, GPUOPT_HOST, gpuopt__simplex_packed_bytes(s), &packed);
    if (!status) status = gpuopt__simplex_fill(s, (double *)packed);
    gpuopt__release(context, GPUOPT_HOST, packed);
    gpuopt__release(context, GPUOPT_HOST, transposed);
    if (!status) *simplex = s;
    else gpuopt_simplex_destroy(s);
    return status;
}

GPUOPT_API void gpuopt_simplex_destroy(gpuopt_simplex *simplex) {
    gpuopt_context *context;
    if (!simplex) return;
    context = simplex->context;
    if (simplex->engine) context->desc.backend->simplex->destroy(context, simplex->engine);
    gpuopt__release(context, GPUOPT_HOST, simplex);
}

/* ---- Infos, iterating ---- */

static void gpuopt__simplex_tell(const gpuopt_simplex *s, gpuopt_simplex_info *info) {
    gpuopt_simplex_info result;
    memset(&result, 0, sizeof result);
    result.outcome = s->verdict;
    result.phase = s->phase;
    result.iterations = s->iterations;
    result.flips = s->flips;
    result.refreshes = s->refreshes;
    result.reinversions = s->reinversions;
    result.deferred_pivots = s->shape.deferred_pivots;
    gpuopt__simplex_objective(s, &result.objective, &result.infeasibility);
    result.primal_violation = s->primal_violation;
    result.dual_violation = s->dual_violation;
    if (s->verdict == GPUOPT_INFEASIBLE || s->verdict == GPUOPT_UNBOUNDED) {
        result.certificate_margin = s->margin;
        result.certificate_residual = s->certificate_residual;
    }
    result.crossing = s->crossing;
    gpuopt__copy_out(info, info->struct_size, &result, sizeof result);
}

/* The end of a call that has an info to fill. */
static gpuopt_status gpuopt__simplex_finish(gpuopt_simplex *s, gpuopt_status status, gpuopt_simplex_info *info) {
    if (!status && info && s->since_refresh > 0) status = gpuopt__simplex_pull(s);
    if (!status && info) gpuopt__simplex_tell(s, info);
    return status;
}

static gpuopt_status gpuopt__simplex_check_info(const gpuopt_simplex *simplex, const char *call,
                                                const gpuopt_simplex_info *info) {
    if (!simplex) return GPUOPT_ERROR_ARGUMENT;
    if (info && !GPUOPT__HAS_SIZE(info))
        return gpuopt__refuse(simplex->context, GPUOPT_ERROR_ARGUMENT, call, "info has no struct_size");
    return GPUOPT_OK;
}

GPUOPT_API gpuopt_status gpuopt_simplex_get_info(gpuopt_simplex *simplex, gpuopt_simplex_info *info) {
    GPUOPT__COMPUTES(gpuopt_simplex_get_info(simplex, info));
    static const char call[] = "gpuopt_simplex_get_info";
    gpuopt_status status = gpuopt__simplex_check_info(simplex, call, info);
    if (!status && !info) return gpuopt__refuse(simplex->context, GPUOPT_ERROR_ARGUMENT, call, "info is NULL");
    if (!status && simplex->phase == 0) status = gpuopt__simplex_fresh_to_read(simplex);
    return status ? status : gpuopt__simplex_finish(simplex, GPUOPT_OK, info);
}

GPUOPT_API gpuopt_status gpuopt_simplex_iterate(gpuopt_simplex *simplex, int64_t iterations,
                                                gpuopt_simplex_info *info) {
    GPUOPT__COMPUTES(gpuopt_simplex_iterate(simplex, iterations, info));
    static const char call[] = "gpuopt_simplex_iterate";
    gpuopt_status status = gpuopt__simplex_check_info(simplex, call, info);
    if (status) return status;
    if (iterations < 1)
        return gpuopt__refuse(simplex->context, GPUOPT_ERROR_ARGUMENT, call, "iterations is less than 1");
    return gpuopt__simplex_finish(simplex, gpuopt__simplex_iterate(simplex, iterations), info);
}

GPUOPT_API gpuopt_status gpuopt_simplex_refresh(gpuopt_simplex *simplex, int reinvert, gpuopt_simplex_info *info) {
    GPUOPT__COMPUTES(gpuopt_simplex_refresh(simplex, reinvert, info));
    gpuopt_status status = gpuopt__simplex_check_info(simplex, "gpuopt_simplex_refresh", info);
    if (status) return status;
    status = gpuopt__simplex_pull(simplex);
    if (simplex->stage == GPUOPT__SIMPLEX_STAGE_PERTURBED)
        gpuopt__simplex_enter_stage(simplex, GPUOPT__SIMPLEX_STAGE_EXACT);
    simplex->stale = reinvert ? 2 : 1;
    if (!status) status = gpuopt__simplex_refresh(simplex);
    return gpuopt__simplex_finish(simplex, status, info);
}

#endif /* GPUOPT_IMPL_SIMPLEX_CALLS_H */
