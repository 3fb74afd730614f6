/* SPDX-License-Identifier: MIT
 *
 * Propagation: the public calls. Arguments are checked here, for every backend, so that a backend sees only good ones.
 */
#ifndef GPUOPT_IMPL_PROPAGATE_H
#define GPUOPT_IMPL_PROPAGATE_H

#include "../common/checks.h"
#include "backend.h"

GPUOPT_API gpuopt_status gpuopt_propagator_desc_tune(gpuopt_propagator_desc *desc,
                                                     gpuopt_propagator_settings settings) {
    if (!desc || desc->struct_size < offsetof(gpuopt_propagator_desc, round_limit)) return GPUOPT_ERROR_ARGUMENT;
    switch (settings) { /* least change: absolute, relative; huge value */
    case GPUOPT_SETTINGS_PAPER: desc->least_change = 1e-9, desc->least_change_relative = 0, desc->huge_value = 0; break;
    case GPUOPT_SETTINGS_SCIP:
        desc->least_change = 1e-9, desc->least_change_relative = 0.05, desc->huge_value = 1e15;
        break;
    case GPUOPT_SETTINGS_HIGHS:
        desc->least_change = 1e-3, desc->least_change_relative = 0.3, desc->huge_value = 0;
        break;
    case GPUOPT_SETTINGS_PAPILO:
        desc->least_change = 1e-3, desc->least_change_relative = 0, desc->huge_value = 1e8;
        break;
    default: return GPUOPT_ERROR_ARGUMENT;
    }
    desc->infinity = 1e20;
    desc->feasibility_tolerance = desc->integrality_tolerance = 1e-6;
    return GPUOPT_OK;
}

/* ---- Checks ---- */

/* 0: a good pair of sides or bounds; else what is wrong with it. */
static const char *gpuopt__pair_fault(double low, double high, double infinity) {
    if (!(low < infinity)) return "is not below infinity";
    if (!(high > -infinity)) return "is not above -infinity";
    return NULL;
}

static gpuopt_status gpuopt__check_pairs(const gpuopt_context *context, const char *call, const char *low_name,
                                         const char *high_name, int64_t count, const double *low, const double *high,
                                         double infinity) {
    int64_t k;
    for (k = 0; k < count; k++) {
        const char *fault = gpuopt__pair_fault(low ? low[k] : 0, high ? high[k] : 0, infinity);
        if (fault) {
            int first = low && !(low[k] < infinity);
            gpuopt__log(context, 0, "%s: %s[%lld] = %g %s", call, first ? low_name : high_name, (long long)k,
                        first ? low[k] : high[k], fault);
            return GPUOPT_ERROR_ARGUMENT;
        }
    }
    return GPUOPT_OK;
}

static gpuopt_status gpuopt__check_sides(const gpuopt_context *context, const char *call, int64_t count,
                                         const double *lhs, const double *rhs, double infinity) {
    int64_t k;
    gpuopt_status status = gpuopt__check_pairs(context, call, "lhs", "rhs", count, lhs, rhs, infinity);
    for (k = 0; !status && lhs && rhs && k < count; k++)
        if (lhs[k] > rhs[k]) {
            gpuopt__log(context, 0, "%s: lhs[%lld] = %g exceeds rhs = %g", call, (long long)k, lhs[k], rhs[k]);
            status = GPUOPT_ERROR_ARGUMENT;
        }
    return status;
}

static gpuopt_status gpuopt__check_indices(const gpuopt_context *context, const char *call, int64_t count,
                                           const int32_t *index, int32_t end) {
    int64_t k;
    for (k = 0; k < count; k++)
        if (index[k] < 0 || index[k] >= end) {
            gpuopt__log(context, 0, "%s: index [%lld] = %d is not in 0..%d", call, (long long)k, (int)index[k],
                        (int)end - 1);
            return GPUOPT_ERROR_ARGUMENT;
        }
    return GPUOPT_OK;
}

/* seen [cols]: scratch for finding a column that comes twice in a row. */
static gpuopt_status gpuopt__check_matrix(const gpuopt_context *context, const char *call, const gpuopt_csr *a,
                                          gpuopt_precision precision, int32_t *seen, int *single) {
    int32_t i, j;
    int64_t k;
    if (a->start[0] != 0) {
        gpuopt__log(context, 0, "%s: start[0] = %lld is not 0", call, (long long)a->start[0]);
        return GPUOPT_ERROR_ARGUMENT;
    }
    for (i = 0; i < a->rows; i++)
        if (a->start[i + 1] < a->start[i]) {
            gpuopt__log(context, 0, "%s: start[%d] = %lld is less than the start before it", call, (int)i + 1,
                        (long long)a->start[i + 1]);
            return GPUOPT_ERROR_ARGUMENT;
        }
    if (a->start[a->rows] > 0 && (!a->col || !a->val)) {
        gpuopt__log(context, 0, "%s: col or val is NULL", call);
        return GPUOPT_ERROR_ARGUMENT;
    }
    for (j = 0; j < a->cols; j++) seen[j] = -1;
    *single = 1;
    for (i = 0; i < a->rows; i++)
        for (k = a->start[i]; k < a->start[i + 1]; k++) {
            double size = fabs(a->val[k]);
            int representable =
                precision == GPUOPT_FP64 ? size > 0 && size < HUGE_VAL : size >= FLT_MIN && size <= FLT_MAX;
            j = a->col[k];
            if (j < 0 || j >= a->cols || seen[j] == i || !representable) {
                if (j < 0 || j >= a->cols)
                    gpuopt__log(context, 0, "%s: row %d: col[%lld] = %d is not in 0..%d", call, (int)i, (long long)k,
                                (int)j, (int)a->cols - 1);
                else if (seen[j] == i)
                    gpuopt__log(context, 0, "%s: row %d: column %d comes twice", call, (int)i, (int)j);
                else
                    gpuopt__log(context, 0, "%s: row %d: val[%lld] = %g is zero or not finite in this precision", call,
                                (int)i, (long long)k, a->val[k]);
                return GPUOPT_ERROR_ARGUMENT;
            }
            seen[j] = i;
            *single &= size <= FLT_MAX && (double)(float)a->val[k] == a->val[k];
        }
    return GPUOPT_OK;
}

static gpuopt_status gpuopt__check_tolerances(const gpuopt_context *context, const char *call,
                                              const gpuopt_propagator_desc *d) {
    const struct {
        const char *name;
        double value, least, most; /* 0 is always allowed */
    } range[] = {
        {"infinity", d->infinity, 1, HUGE_VAL},
        {"feasibility_tolerance", d->feasibility_tolerance, 0, 0.1},
        {"integrality_tolerance", d->integrality_tolerance, 0, 0.49},
        {"least_change", d->least_change, 0, 1e9},
        {"least_change_relative", d->least_change_relative, 0, 1},
        {"huge_value", d->huge_value, 1, 1e100},
    };
    size_t k;
    for (k = 0; k < sizeof range / sizeof *range; k++)
        if (range[k].value != 0 && !(range[k].value >= range[k].least && range[k].value <= range[k].most)) {
            gpuopt__log(context, 0, "%s: %s = %g is neither 0 nor in [%g, %g]", call, range[k].name, range[k].value,
                        range[k].least, range[k].most);
            return GPUOPT_ERROR_ARGUMENT;
        }
    return GPUOPT_OK;
}

/* Fills model from the host's descriptor, with the defaults in. */
static gpuopt_status gpuopt__check_model(gpuopt_context *context, const char *call, const gpuopt_propagator_desc *desc,
                                         gpuopt__propagator_model *model) {
    gpuopt_propagator_desc *d = &model->desc;
    gpuopt__rules *rules = &model->rules;
    const char *fault = NULL;
    int any_integer = 0;
    int32_t j;
    void *seen;
    gpuopt_status status;
    memset(model, 0, sizeof *model);
    if (!gpuopt__copy_in(d, sizeof *d, desc, desc->struct_size))
        fault = "struct_size is wrong, or a member that this version does not know is set";
    else if (d->matrix.rows < 0 || d->matrix.cols < 0) fault = "rows or cols is negative";
    else if (!d->matrix.start) fault = "matrix.start is NULL";
    else if (d->matrix.cols > 0 && (!d->lb || !d->ub)) fault = "lb or ub is NULL";
    else if (d->round_limit < 0) fault = "round_limit is negative";
    else if ((unsigned)d->precision > GPUOPT_FP32 || (unsigned)d->mode > GPUOPT_SEQUENTIAL ||
             (unsigned)d->driver > GPUOPT_DRIVER_GRAPH || (unsigned)d->marking > GPUOPT_MARKING_OFF)
        fault = "precision, mode, driver or marking is unknown";
    if (fault) return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, fault);
    if (d->matrix.cols > INT32_MAX - 64 || d->matrix.rows > INT32_MAX - 64) /* room for padding */
        return gpuopt__refuse(context, GPUOPT_ERROR_UNSUPPORTED, call, "rows or cols is within 64 of 2^31");
    if (d->mode == GPUOPT_SEQUENTIAL && d->marking == GPUOPT_MARKING_OFF)
        return gpuopt__refuse(context, GPUOPT_ERROR_UNSUPPORTED, call, "SEQUENTIAL needs marking");
    status = gpuopt__check_tolerances(context, call, d);
    if (status) return status;
    rules->infinity = d->infinity > 0 ? d->infinity : 1e20;
    rules->feasibility = d->feasibility_tolerance > 0 ? d->feasibility_tolerance : 1e-6;
    rules->integrality = d->integrality_tolerance > 0 ? d->integrality_tolerance : 1e-6;
    rules->least_change = d->least_change > 0 ? d->least_change : 1e-9;
    rules->least_change_relative = d->least_change_relative;
    rules->huge = d->huge_value > 0 ? d->huge_value : 1e100;
    rules->single = d->precision == GPUOPT_FP32;
    for (j = 0; j < d->matrix.cols && !any_integer; j++) any_integer = d->integer && d->integer[j];
    gpuopt__rules_derive(rules, any_integer);
    status = gpuopt__allocate(context, GPUOPT_HOST, sizeof(int32_t) * ((uint64_t)d->matrix.cols + 1), &seen);
    if (status) return status;
    status = gpuopt__check_matrix(context, call, &d->matrix, d->precision, (int32_t *)seen, &model->val_single);
    gpuopt__release(context, GPUOPT_HOST, seen);
    if (!status) status = gpuopt__check_sides(context, call, d->matrix.rows, d->lhs, d->rhs, rules->infinity);
    if (!status) status = gpuopt__check_pairs(context, call, "lb", "ub", d->matrix.cols, d->lb, d->ub, rules->infinity);
    model->nonzeros = d->matrix.start[d->matrix.rows];
    if (!status && rules->single && !model->val_single)
        gpuopt__log(context, 1, "%s: FP32 rounds coefficients that single precision cannot hold", call);
    return status;
}

/* ---- Calls ---- */

GPUOPT_API gpuopt_status gpuopt_propagator_plan(gpuopt_context *context, const gpuopt_propagator_desc *desc,
                                                gpuopt_memory_plan *plan) {
    gpuopt__propagator_model model;
    gpuopt_memory_plan result;
    gpuopt_status status;
    if (!context) return GPUOPT_ERROR_ARGUMENT;
    if (!desc || !GPUOPT__HAS_SIZE(plan))
        return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, "gpuopt_propagator_plan",
                              desc ? "plan is NULL or has no struct_size" : "desc is NULL");
    status = gpuopt__check_model(context, "gpuopt_propagator_plan", desc, &model);
    memset(&result, 0, sizeof result);
    if (!status) status = context->desc.backend->propagator->plan(context, &model, &result);
    if (status) return status;
    if (result.create_bytes < sizeof(int32_t) * ((uint64_t)model.desc.matrix.cols + 1)) /* the check's own scratch */
        result.create_bytes = sizeof(int32_t) * ((uint64_t)model.desc.matrix.cols + 1);
    gpuopt__copy_out(plan, plan->struct_size, &result, sizeof result);
    return GPUOPT_OK;
}

GPUOPT_API gpuopt_status gpuopt_propagator_create(gpuopt_context *context, const gpuopt_propagator_desc *desc,
                                                  gpuopt_propagator **propagator) {
    gpuopt__propagator_model model;
    gpuopt_status status;
    if (propagator) *propagator = NULL;
    if (!context) return GPUOPT_ERROR_ARGUMENT;
    if (!propagator || !desc)
        return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, "gpuopt_propagator_create", "desc or propagator is NULL");
    status = gpuopt__check_model(context, "gpuopt_propagator_create", desc, &model);
    return status ? status : context->desc.backend->propagator->create(context, &model, propagator);
}

GPUOPT_API void gpuopt_propagator_destroy(gpuopt_propagator *propagator) {
    if (propagator) propagator->context->desc.backend->propagator->destroy(propagator);
}

/* The table of a handle's backend. */
static const gpuopt__propagator_backend *gpuopt__propagator_of(const gpuopt_propagator *propagator) {
    return propagator->context->desc.backend->propagator;
}

GPUOPT_API gpuopt_status gpuopt_propagator_round(gpuopt_propagator *propagator, int32_t rounds,
                                                 gpuopt_propagation *info) {
    gpuopt_propagation result;
    gpuopt_status status;
    if (!propagator) return GPUOPT_ERROR_ARGUMENT;
    if (rounds < 1 || (info && !GPUOPT__HAS_SIZE(info)))
        return gpuopt__refuse(propagator->context, GPUOPT_ERROR_ARGUMENT, "gpuopt_propagator_round",
                              rounds < 1 ? "rounds is less than 1" : "info has no struct_size");
    memset(&result, 0, sizeof result);
    status = gpuopt__propagator_of(propagator)->round(propagator, rounds, info ? &result : NULL);
    if (status) return status;
    propagator->called = 1;
    if (info) gpuopt__copy_out(info, info->struct_size, &result, sizeof result);
    return GPUOPT_OK;
}

GPUOPT_API gpuopt_status gpuopt_propagator_get_info(gpuopt_propagator *propagator, gpuopt_propagation *info) {
    gpuopt_propagation result;
    gpuopt_status status;
    static const char call[] = "gpuopt_propagator_get_info";
    if (!propagator) return GPUOPT_ERROR_ARGUMENT;
    if (!GPUOPT__HAS_SIZE(info))
        return gpuopt__refuse(propagator->context, GPUOPT_ERROR_ARGUMENT, call, "info is NULL or has no struct_size");
    if (!propagator->called)
        return gpuopt__refuse(propagator->context, GPUOPT_ERROR_STATE, call, "there was no round yet");
    memset(&result, 0, sizeof result);
    status = gpuopt__propagator_of(propagator)->get_info(propagator, &result);
    if (!status) gpuopt__copy_out(info, info->struct_size, &result, sizeof result);
    return status;
}

/* What all four calls on bounds ask of their arguments. */
static gpuopt_status gpuopt__check_bounds_call(const gpuopt_propagator *propagator, const char *call,
                                               gpuopt_memory where, int64_t count, int some, const int32_t *col) {
    if (!propagator) return GPUOPT_ERROR_ARGUMENT;
    if (!gpuopt__is_memory(where) || count < 0 || (some && count > 0 && !col))
        return gpuopt__refuse(propagator->context, GPUOPT_ERROR_ARGUMENT, call,
                              count < 0                   ? "count is negative"
                              : !gpuopt__is_memory(where) ? "where is neither HOST nor DEVICE"
                                                          : "col is NULL");
    return some && where == GPUOPT_HOST ? gpuopt__check_indices(propagator->context, call, count, col, propagator->cols)
                                        : GPUOPT_OK;
}

static gpuopt_status gpuopt__set_bounds(gpuopt_propagator *propagator, const char *call, gpuopt_memory where,
                                        int64_t count, int some, const int32_t *col, const double *lb,
                                        const double *ub) {
    gpuopt_status status = gpuopt__check_bounds_call(propagator, call, where, count, some, col);
    if (!status && where == GPUOPT_HOST)
        status = gpuopt__check_pairs(propagator->context, call, "lb", "ub", count, lb, ub, propagator->rules.infinity);
    if (status || count == 0 || (!lb && !ub)) return status;
    return gpuopt__propagator_of(propagator)->set_bounds(propagator, where, count, some ? col : NULL, lb, ub);
}

GPUOPT_API gpuopt_status gpuopt_propagator_get_bounds(gpuopt_propagator *propagator, gpuopt_memory where, double *lb,
                                                      double *ub) {
    gpuopt_status status = gpuopt__check_bounds_call(propagator, "gpuopt_propagator_get_bounds", where, 0, 0, NULL);
    return status ? status
                  : gpuopt__propagator_of(propagator)->get_bounds(propagator, where, propagator->cols, NULL, lb, ub);
}

GPUOPT_API gpuopt_status gpuopt_propagator_set_bounds(gpuopt_propagator *propagator, gpuopt_memory where,
                                                      const double *lb, const double *ub) {
    return gpuopt__set_bounds(propagator, "gpuopt_propagator_set_bounds", where, propagator ? propagator->cols : 0, 0,
                              NULL, lb, ub);
}

GPUOPT_API gpuopt_status gpuopt_propagator_get_some_bounds(gpuopt_propagator *propagator, gpuopt_memory where,
                                                           int64_t count, const int32_t *col, double *lb, double *ub) {
    gpuopt_status status =
        gpuopt__check_bounds_call(propagator, "gpuopt_propagator_get_some_bounds", where, count, 1, col);
    if (status || count == 0) return status;
    return gpuopt__propagator_of(propagator)->get_bounds(propagator, where, count, col, lb, ub);
}

GPUOPT_API gpuopt_status gpuopt_propagator_set_some_bounds(gpuopt_propagator *propagator, gpuopt_memory where,
                                                           int64_t count, const int32_t *col, const double *lb,
                                                           const double *ub) {
    return gpuopt__set_bounds(propagator, "gpuopt_propagator_set_some_bounds", where, count, 1, col, lb, ub);
}

GPUOPT_API gpuopt_status gpuopt_propagator_set_some_sides(gpuopt_propagator *propagator, int64_t count,
                                                          const int32_t *row, const double *lhs, const double *rhs) {
    static const char call[] = "gpuopt_propagator_set_some_sides";
    gpuopt_status status;
    if (!propagator) return GPUOPT_ERROR_ARGUMENT;
    if (count < 0 || (count > 0 && (!row || !lhs || !rhs)))
        return gpuopt__refuse(propagator->context, GPUOPT_ERROR_ARGUMENT, call, "an array is NULL or count negative");
    status = gpuopt__check_indices(propagator->context, call, count, row, propagator->rows);
    if (!status) status = gpuopt__check_sides(propagator->context, call, count, lhs, rhs, propagator->rules.infinity);
    return status || count == 0 ? status
                                : gpuopt__propagator_of(propagator)->set_sides(propagator, count, row, lhs, rhs);
}

GPUOPT_API gpuopt_status gpuopt_propagator_get_rows(gpuopt_propagator *propagator, gpuopt_memory where,
                                                    const gpuopt_row_report *report) {
    gpuopt_row_report wanted;
    memset(&wanted, 0, sizeof wanted);
    if (!propagator) return GPUOPT_ERROR_ARGUMENT;
    if (!report || !gpuopt__copy_in(&wanted, sizeof wanted, report, report->struct_size) || !gpuopt__is_memory(where))
        return gpuopt__refuse(propagator->context, GPUOPT_ERROR_ARGUMENT, "gpuopt_propagator_get_rows",
                              "bad report or where");
    return gpuopt__propagator_of(propagator)->get_rows(propagator, where, &wanted);
}

GPUOPT_API gpuopt_status gpuopt_propagator_device_view(gpuopt_propagator *propagator, gpuopt_bounds_view *view) {
    gpuopt_bounds_view result;
    gpuopt_status status;
    if (!propagator) return GPUOPT_ERROR_ARGUMENT;
    if (!GPUOPT__HAS_SIZE(view))
        return gpuopt__refuse(propagator->context, GPUOPT_ERROR_ARGUMENT, "gpuopt_propagator_device_view",
                              "view is NULL or has no struct_size");
    memset(&result, 0, sizeof result);
    status = gpuopt__propagator_of(propagator)->device_view(propagator, &result);
    if (!status) gpuopt__copy_out(view, view->struct_size, &result, sizeof result);
    return status;
}

#endif /* GPUOPT_IMPL_PROPAGATE_H */
