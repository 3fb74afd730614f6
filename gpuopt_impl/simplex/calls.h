/* SPDX-License-Identifier: MIT
 *
 * Linear programs: the public calls. Arguments are checked here, then simplex/control.h and the backend's engine work.
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

/* Bytes that the values of a dense matrix take while it is read. */
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

/* Everything as at the slack basis, and the engine; the host's arrays are read for the last time. packed: room for the
 * values of a dense matrix. */
static gpuopt_status gpuopt__simplex_fill(gpuopt_simplex *s, double *packed) {
    const gpuopt__simplex_backend *engine = gpuopt__simplex_backend_of(s);
    gpuopt_status status;
    int32_t i, j;
    gpuopt__simplex_copy_columns(&s->lp, &s->desc, packed);
    gpuopt__simplex_scale(s);
    gpuopt__simplex_row_largest(s);
    gpuopt__simplex_fill_bounds(s, &s->desc);
    for (i = 0; i < s->lp.rows; i++) {
        s->v.head[i] = s->lp.cols + i;
        s->v.xb[i] = 0;
        s->status[s->lp.cols + i] = GPUOPT_VARIABLE_BASIC;
    }
    for (j = 0; j < s->lp.cols; j++) {
        s->v.slot[j] = j;
        s->v.weight[j] = 1;
        s->status[j] = GPUOPT_VARIABLE_AT_LOWER;
    }
    gpuopt__simplex_enter_stage(s, GPUOPT__SIMPLEX_STAGE_EXACT);
    s->primal_violation = s->dual_violation = -1;
    s->stale = 1;
    status = engine->create(s->context, &s->shape, &s->lp, &s->v, &s->engine);
    s->lp.val = NULL;
    return status ? status : engine->reset(s->engine);
}

GPUOPT_API gpuopt_status gpuopt_simplex_create(gpuopt_context *context, const gpuopt_simplex_desc *desc,
                                               gpuopt_simplex **simplex) {
    static const char call[] = "gpuopt_simplex_create";
    gpuopt_simplex draft, *s;
    gpuopt_memory_plan plan;
    gpuopt__arena arena = {NULL, 0};
    gpuopt_status status;
    void *memory, *packed = NULL, *transposed;
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

/* ---- What the handle says ---- */

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
    gpuopt__copy_out(info, info->struct_size, &result, sizeof result);
}

/* The end of a call that has an info to fill. */
static gpuopt_status gpuopt__simplex_finish(gpuopt_simplex *s, gpuopt_status status, gpuopt_simplex_info *info) {
    if (!status && info && s->since_refresh > 0) status = gpuopt__simplex_pull(s);
    if (!status && info) gpuopt__simplex_tell(s, info);
    return status;
}

/* A refresh where something has moved or changed since the last. */
static gpuopt_status gpuopt__simplex_fresh(gpuopt_simplex *s) {
    gpuopt_status status = GPUOPT_OK;
    if (s->since_refresh > 0) {
        status = gpuopt__simplex_pull(s);
        if (!s->stale) s->stale = 1;
    }
    return status || !s->stale ? status : gpuopt__simplex_refresh(s);
}

static gpuopt_status gpuopt__simplex_check_info(const gpuopt_simplex *simplex, const char *call,
                                                const gpuopt_simplex_info *info) {
    if (!simplex) return GPUOPT_ERROR_ARGUMENT;
    if (info && !GPUOPT__HAS_SIZE(info))
        return gpuopt__refuse(simplex->context, GPUOPT_ERROR_ARGUMENT, call, "info has no struct_size");
    return GPUOPT_OK;
}

GPUOPT_API gpuopt_status gpuopt_simplex_get_info(gpuopt_simplex *simplex, gpuopt_simplex_info *info) {
    static const char call[] = "gpuopt_simplex_get_info";
    gpuopt_status status = gpuopt__simplex_check_info(simplex, call, info);
    if (!status && !info) return gpuopt__refuse(simplex->context, GPUOPT_ERROR_ARGUMENT, call, "info is NULL");
    if (!status && simplex->phase == 0) status = gpuopt__simplex_fresh(simplex);
    return status ? status : gpuopt__simplex_finish(simplex, GPUOPT_OK, info);
}

GPUOPT_API gpuopt_status gpuopt_simplex_iterate(gpuopt_simplex *simplex, int64_t iterations,
                                                gpuopt_simplex_info *info) {
    static const char call[] = "gpuopt_simplex_iterate";
    gpuopt_status status = gpuopt__simplex_check_info(simplex, call, info);
    if (status) return status;
    if (iterations < 1)
        return gpuopt__refuse(simplex->context, GPUOPT_ERROR_ARGUMENT, call, "iterations is less than 1");
    return gpuopt__simplex_finish(simplex, gpuopt__simplex_iterate(simplex, iterations), info);
}

GPUOPT_API gpuopt_status gpuopt_simplex_refresh(gpuopt_simplex *simplex, int reinvert, gpuopt_simplex_info *info) {
    gpuopt_status status = gpuopt__simplex_check_info(simplex, "gpuopt_simplex_refresh", info);
    if (status) return status;
    status = gpuopt__simplex_pull(simplex);
    if (simplex->stage == GPUOPT__SIMPLEX_STAGE_PERTURBED)
        gpuopt__simplex_enter_stage(simplex, GPUOPT__SIMPLEX_STAGE_EXACT);
    simplex->stale = reinvert ? 2 : 1;
    if (!status) status = gpuopt__simplex_refresh(simplex);
    return gpuopt__simplex_finish(simplex, status, info);
}

/* ---- Basis and solution ---- */

/* A logical is minus the row's activity: its lower bound is the row's right-hand side. */
static uint8_t gpuopt__simplex_mirrored(uint8_t status) {
    return status == GPUOPT_VARIABLE_AT_LOWER   ? (uint8_t)GPUOPT_VARIABLE_AT_UPPER
           : status == GPUOPT_VARIABLE_AT_UPPER ? (uint8_t)GPUOPT_VARIABLE_AT_LOWER
                                                : status;
}

GPUOPT_API gpuopt_status gpuopt_simplex_get_basis(gpuopt_simplex *simplex, uint8_t *status) {
    gpuopt_status result;
    int32_t j;
    if (!simplex) return GPUOPT_ERROR_ARGUMENT;
    if (!status)
        return gpuopt__refuse(simplex->context, GPUOPT_ERROR_ARGUMENT, "gpuopt_simplex_get_basis", "status is NULL");
    result = gpuopt__simplex_pull(simplex);
    for (j = 0; j < simplex->lp.cols && !result; j++) status[j] = simplex->status[j];
    for (; j < simplex->lp.cols + simplex->lp.rows && !result; j++)
        status[j] = gpuopt__simplex_mirrored(simplex->status[j]);
    return result;
}

GPUOPT_API gpuopt_status gpuopt_simplex_set_basis(gpuopt_simplex *simplex, const uint8_t *status) {
    static const char call[] = "gpuopt_simplex_set_basis";
    gpuopt_status result;
    int32_t j, both, basic = 0, singular = 0, named;
    gpuopt_simplex before;
    if (!simplex) return GPUOPT_ERROR_ARGUMENT;
    if (!status) return gpuopt__refuse(simplex->context, GPUOPT_ERROR_ARGUMENT, call, "status is NULL");
    before = *simplex;
    both = simplex->lp.cols + simplex->lp.rows;
    for (j = 0; j < both; j++) {
        if (status[j] > GPUOPT_VARIABLE_AT_ZERO) {
            gpuopt__log(simplex->context, 0, "%s: status[%d] = %d is unknown", call, (int)j, (int)status[j]);
            return GPUOPT_ERROR_ARGUMENT;
        }
        basic += status[j] == GPUOPT_VARIABLE_BASIC;
    }
    if (basic != simplex->lp.rows) {
        gpuopt__log(simplex->context, 0, "%s: %d variables are basic, not %d", call, (int)basic, (int)simplex->lp.rows);
        return GPUOPT_ERROR_ARGUMENT;
    }
    result = gpuopt__simplex_pull(simplex);
    if (result) return result;
    memcpy(simplex->old_status, simplex->status, (size_t)both);
    for (j = 0; j < both; j++)
        simplex->status[j] = j < simplex->lp.cols ? status[j] : gpuopt__simplex_mirrored(status[j]);
    result = gpuopt__simplex_reinvert(simplex, &singular);
    named = singular > 0 ? simplex->order[0] : -1;
    if (!result && singular > 0) {
        int32_t again = 0;
        gpuopt__log(simplex->context, 0, "%s: singular: column %d depends on the other basic variables", call,
                    (int)named);
        memcpy(simplex->status, simplex->old_status, (size_t)both);
        result = gpuopt__simplex_reinvert(simplex, &again);
        if (again > 0) before.verdict = GPUOPT_MORE; /* the old basis was no better */
    }
    if (!result) result = gpuopt__simplex_rebase(simplex);
    if (singular > 0) {
        simplex->verdict = before.verdict;
        simplex->stage = before.stage;
        simplex->reinversions = before.reinversions;
        simplex->refreshes = before.refreshes;
    }
    return result ? result : singular > 0 ? GPUOPT_ERROR_NUMERIC : GPUOPT_OK;
}

GPUOPT_API gpuopt_status gpuopt_simplex_get_solution(gpuopt_simplex *simplex, double *x, double *reduced_cost,
                                                     double *activity, double *dual) {
    gpuopt_simplex *s = simplex;
    gpuopt_status status;
    double sign;
    int32_t i, j, cols;
    int good;
    if (!s) return GPUOPT_ERROR_ARGUMENT;
    status = gpuopt__simplex_fresh(s);
    if (!status && s->phase == 1 && (reduced_cost || dual)) { /* the duals at hand are those of the infeasibilities */
        status = gpuopt__simplex_solve_duals(s, s->cost, &good);
        s->stale = 1;
    }
    if (status) return status;
    sign = s->desc.maximize ? -1 : 1;
    cols = s->lp.cols;
    for (j = 0; j < cols; j++) {
        if (x) x[j] = gpuopt__simplex_unscaled_x(s, j, s->x[j]);
        if (reduced_cost)
            reduced_cost[j] = s->status[j] == GPUOPT_VARIABLE_BASIC
                                  ? 0
                                  : sign * gpuopt__simplex_unscaled_reduced_cost(s, j, s->reduced[j]);
    }
    for (i = 0; i < s->lp.rows; i++) {
        if (activity) activity[i] = gpuopt__simplex_unscaled_activity(s, i, s->x[cols + i], s->residual[i]);
        if (dual)
            dual[i] =
                s->status[cols + i] == GPUOPT_VARIABLE_BASIC ? 0 : sign * gpuopt__simplex_unscaled_dual(s, i, s->y[i]);
    }
    return GPUOPT_OK;
}

/* The evidence of one verdict, or STATE. */
static gpuopt_status gpuopt__simplex_copy_evidence(const gpuopt_simplex *s, const char *call, gpuopt_outcome of,
                                                   const double *from, int32_t count, double *to) {
    if (!s) return GPUOPT_ERROR_ARGUMENT;
    if (!to) return gpuopt__refuse(s->context, GPUOPT_ERROR_ARGUMENT, call, "the array is NULL");
    if (s->verdict != of) return gpuopt__refuse(s->context, GPUOPT_ERROR_STATE, call, "the verdict is another one");
    memcpy(to, from, sizeof(double) * (size_t)count);
    return GPUOPT_OK;
}

GPUOPT_API gpuopt_status gpuopt_simplex_get_farkas(gpuopt_simplex *simplex, double *y) {
    return gpuopt__simplex_copy_evidence(simplex, "gpuopt_simplex_get_farkas", GPUOPT_INFEASIBLE,
                                         simplex ? simplex->farkas : NULL, simplex ? simplex->lp.rows : 0, y);
}

GPUOPT_API gpuopt_status gpuopt_simplex_get_ray(gpuopt_simplex *simplex, double *ray) {
    return gpuopt__simplex_copy_evidence(simplex, "gpuopt_simplex_get_ray", GPUOPT_UNBOUNDED,
                                         simplex ? simplex->ray : NULL, simplex ? simplex->lp.cols : 0, ray);
}

#endif /* GPUOPT_IMPL_SIMPLEX_CALLS_H */
