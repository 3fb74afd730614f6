/* SPDX-License-Identifier: MIT
 *
 * Propagation: the public calls. They check their arguments here, once for all backends, and pass valid ones on.
 */
#ifndef GPUOPT_IMPL_PROPAGATE_CALLS_H
#define GPUOPT_IMPL_PROPAGATE_CALLS_H

#include "../common/matrix.h"
#include "backend.h"

GPUOPT_API gpuopt_status gpuopt_propagator_desc_tune(gpuopt_propagator_desc *desc,
                                                     gpuopt_propagator_settings settings) {
    if (!desc || desc->struct_size < offsetof(gpuopt_propagator_desc, round_limit)) return GPUOPT_ERROR_ARGUMENT;
    switch (settings) {
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
    if (desc->struct_size >= offsetof(gpuopt_propagator_desc, relative_integers) + sizeof desc->relative_integers)
        desc->relative_integers = settings == GPUOPT_SETTINGS_HIGHS ? GPUOPT_OFF : GPUOPT_DEFAULT;
    desc->infinity = 1e20;
    desc->feasibility_tolerance = desc->integrality_tolerance = 1e-6;
    return GPUOPT_OK;
}

/* ---- Checks ---- */

static gpuopt_status gpuopt__propagator_check_options(const gpuopt_context *context, const char *call,
                                                      const gpuopt_propagator_desc *d) {
    const gpuopt__range range[] = {
        {"infinity", d->infinity, 1, HUGE_VAL},
        {"feasibility_tolerance", d->feasibility_tolerance, 0, 0.1},
        {"integrality_tolerance", d->integrality_tolerance, 0, 0.49},
        {"least_change", d->least_change, 0, 1e9},
        {"least_change_relative", d->least_change_relative, 0, 1},
        {"huge_value", d->huge_value, 1, 1e100},
        {"round_limit", (double)d->round_limit, 1, INT32_MAX},
    };
    const gpuopt__choice choice[] = {
        {"precision", (int64_t)d->precision, GPUOPT_PRECISION_FP32},
        {"mode", (int64_t)d->mode, GPUOPT_MODE_SEQUENTIAL},
        {"driver", (int64_t)d->driver, GPUOPT_DRIVER_GRAPH},
        {"marking", (int64_t)d->marking, GPUOPT_OFF},
        {"relative_integers", (int64_t)d->relative_integers, GPUOPT_OFF},
    };
    gpuopt_status status = gpuopt__check_choices(context, call, choice, sizeof choice / sizeof *choice);
    if (!status) status = gpuopt__check_ranges(context, call, range, sizeof range / sizeof *range);
    if (!status && d->mode == GPUOPT_MODE_SEQUENTIAL && d->marking == GPUOPT_OFF)
        return gpuopt__refuse(context, GPUOPT_ERROR_UNSUPPORTED, call, "SEQUENTIAL needs marking");
    return status;
}

static void gpuopt__propagator_fill_rules(gpuopt__propagator_rules *rules, const gpuopt_propagator_desc *d) {
    int any_integer = 0;
    int32_t j;
    rules->infinity = d->infinity > 0 ? d->infinity : 1e20;
    rules->feasibility = d->feasibility_tolerance > 0 ? d->feasibility_tolerance : 1e-6;
    rules->integrality = d->integrality_tolerance > 0 ? d->integrality_tolerance : 1e-6;
    rules->least_change = d->least_change > 0 ? d->least_change : 1e-9;
    rules->least_change_relative = d->least_change_relative;
    rules->relative_integers = d->relative_integers != GPUOPT_OFF;
    rules->huge = d->huge_value > 0 ? d->huge_value : 1e100;
    rules->single = d->precision == GPUOPT_PRECISION_FP32;
    for (j = 0; j < d->matrix.cols && !any_integer; j++) any_integer = d->integer && d->integer[j];
    gpuopt__propagator_rules_derive(rules, any_integer);
}

/* Bytes of host memory that gpuopt__propagator_check_model takes and releases. */
static uint64_t gpuopt__propagator_check_bytes(const gpuopt_matrix *matrix) {
    return sizeof(int32_t) * ((uint64_t)gpuopt__matrix_width(matrix) + 1);
}

/* Fills model from the host's descriptor, with the defaults filled in and the matrix by rows. Whatever it returns,
 * gpuopt__propagator_model_end() must follow. */
static gpuopt_status gpuopt__propagator_check_model(gpuopt_context *context, const char *call,
                                                    const gpuopt_propagator_desc *desc,
                                                    gpuopt__propagator_model *model) {
    gpuopt_propagator_desc *d = &model->desc;
    gpuopt__propagator_rules *rules = &model->rules;
    gpuopt_matrix given;
    void *seen;
    int fp32;
    gpuopt_status status;
    memset(model, 0, sizeof *model);
    status =
        gpuopt__check_struct(context, call, context->desc.backend->propagator, desc, desc->struct_size, d, sizeof *d);
    if (!status) status = gpuopt__propagator_check_options(context, call, d);
    if (!status) status = gpuopt__check_matrix_shape(context, call, &d->matrix);
    if (status) return status;
    if (d->matrix.cols > 0 && (!d->lb || !d->ub))
        return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "lb or ub is NULL");
    fp32 = d->precision == GPUOPT_PRECISION_FP32;
    status = gpuopt__allocate(context, GPUOPT_HOST, gpuopt__propagator_check_bytes(&d->matrix), &seen);
    if (status) return status;
    status = gpuopt__check_matrix(context, call, &d->matrix, fp32 ? FLT_MIN : GPUOPT__LEAST_DOUBLE,
                                  fp32 ? FLT_MAX : DBL_MAX, (int32_t *)seen, &model->val_single);
    gpuopt__release(context, GPUOPT_HOST, seen);
    if (status) return status;
    gpuopt__propagator_fill_rules(rules, d);
    status = gpuopt__check_pairs(context, call, "lhs", "rhs", d->matrix.rows, d->lhs, d->rhs, rules->infinity, 0);
    if (!status)
        status = gpuopt__check_pairs(context, call, "lb", "ub", d->matrix.cols, d->lb, d->ub, rules->infinity, 1);
    if (!status && fp32 && !model->val_single)
        gpuopt__log(context, 1, "%s: FP32 rounds coefficients that single precision cannot hold", call);
    given = d->matrix;
    if (!status) status = gpuopt__matrix_in(context, &given, GPUOPT_LAYOUT_CSR, &d->matrix, &model->transposed);
    if (!status) model->nonzeros = d->matrix.start[d->matrix.rows];
    return status;
}

static void gpuopt__propagator_model_end(gpuopt_context *context, gpuopt__propagator_model *model) {
    gpuopt__release(context, GPUOPT_HOST, model->transposed);
}

/* ---- Calls ---- */

GPUOPT_API gpuopt_status gpuopt_propagator_plan(gpuopt_context *context, const gpuopt_propagator_desc *desc,
                                                gpuopt_memory_plan *plan) {
    gpuopt__propagator_model model;
    gpuopt_memory_plan result;
    gpuopt_status status;
    GPUOPT__COMPUTES(gpuopt_propagator_plan(context, desc, plan));
    if (!context) return GPUOPT_ERROR_ARGUMENT;
    if (!desc || !GPUOPT__HAS_SIZE(plan))
        return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, "gpuopt_propagator_plan",
                              desc ? "plan is NULL or has no struct_size" : "desc is NULL");
    status = gpuopt__propagator_check_model(context, "gpuopt_propagator_plan", desc, &model);
    memset(&result, 0, sizeof result);
    if (!status) status = context->desc.backend->propagator->plan(context, &model, &result);
    gpuopt__propagator_model_end(context, &model);
    if (status) return status;
    result.create_bytes += gpuopt__matrix_in_bytes(&desc->matrix, GPUOPT_LAYOUT_CSR);
    if (result.create_bytes < gpuopt__propagator_check_bytes(&desc->matrix))
        result.create_bytes = gpuopt__propagator_check_bytes(&desc->matrix);
    gpuopt__copy_out(plan, plan->struct_size, &result, sizeof result);
    return GPUOPT_OK;
}

GPUOPT_API gpuopt_status gpuopt_propagator_create(gpuopt_context *context, const gpuopt_propagator_desc *desc,
                                                  gpuopt_propagator **propagator) {
    gpuopt__propagator_model model;
    gpuopt_status status;
    GPUOPT__COMPUTES(gpuopt_propagator_create(context, desc, propagator));
    if (propagator) *propagator = NULL;
    if (!context) return GPUOPT_ERROR_ARGUMENT;
    if (!propagator || !desc)
        return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, "gpuopt_propagator_create", "desc or propagator is NULL");
    status = gpuopt__propagator_check_model(context, "gpuopt_propagator_create", desc, &model);
    if (!status) status = context->desc.backend->propagator->create(context, &model, propagator);
    gpuopt__propagator_model_end(context, &model);
    return status;
}

GPUOPT_API void gpuopt_propagator_destroy(gpuopt_propagator *propagator) {
    if (propagator) propagator->context->desc.backend->propagator->destroy(propagator);
}

/* The table of a handle's backend. */
static const gpuopt__propagator_backend *gpuopt__propagator_of(const gpuopt_propagator *propagator) {
    return propagator->context->desc.backend->propagator;
}

GPUOPT_API gpuopt_status gpuopt_propagator_round(gpuopt_propagator *propagator, int32_t rounds,
                                                 gpuopt_propagator_info *info) {
    gpuopt_propagator_info result;
    gpuopt_status status;
    GPUOPT__COMPUTES(gpuopt_propagator_round(propagator, rounds, info));
    if (!propagator) return GPUOPT_ERROR_ARGUMENT;
    if (rounds < 1 || (info && !GPUOPT__HAS_SIZE(info)))
        return gpuopt__refuse(propagator->context, GPUOPT_ERROR_ARGUMENT, "gpuopt_propagator_round",
                              rounds < 1 ? "rounds is less than 1" : "info has no struct_size");
    memset(&result, 0, sizeof result);
    status = gpuopt__propagator_of(propagator)->round(propagator, rounds, info ? &result : NULL);
    if (!status && info) gpuopt__copy_out(info, info->struct_size, &result, sizeof result);
    return status;
}

GPUOPT_API gpuopt_status gpuopt_propagator_get_info(gpuopt_propagator *propagator, gpuopt_propagator_info *info) {
    gpuopt_propagator_info result;
    gpuopt_status status;
    static const char call[] = "gpuopt_propagator_get_info";
    if (!propagator) return GPUOPT_ERROR_ARGUMENT;
    if (!GPUOPT__HAS_SIZE(info))
        return gpuopt__refuse(propagator->context, GPUOPT_ERROR_ARGUMENT, call, "info is NULL or has no struct_size");
    memset(&result, 0, sizeof result);
    status = gpuopt__propagator_of(propagator)->get_info(propagator, &result);
    if (!status) gpuopt__copy_out(info, info->struct_size, &result, sizeof result);
    return status;
}

/* The checks that all four calls on bounds share. */
static gpuopt_status gpuopt__propagator_check_bounds_call(const gpuopt_propagator *propagator, const char *call,
                                                          gpuopt_memory where, int64_t count, int some,
                                                          const int32_t *col) {
    gpuopt_status status;
    if (!propagator) return GPUOPT_ERROR_ARGUMENT;
    if (count < 0 || (some && count > 0 && !col))
        return gpuopt__refuse(propagator->context, GPUOPT_ERROR_ARGUMENT, call,
                              count < 0 ? "count is negative" : "col is NULL");
    status = gpuopt__check_where(propagator->context, call, where);
    if (!status && some && where == GPUOPT_HOST)
        status = gpuopt__check_indices(propagator->context, call, "col", count, col, propagator->cols);
    return status;
}

static gpuopt_status gpuopt__propagator_set_checked_bounds(gpuopt_propagator *propagator, const char *call,
                                                           gpuopt_memory where, int64_t count, int some,
                                                           const int32_t *col, const double *lb, const double *ub) {
    gpuopt_status status = gpuopt__propagator_check_bounds_call(propagator, call, where, count, some, col);
    if (!status && where == GPUOPT_HOST)
        status =
            gpuopt__check_pairs(propagator->context, call, "lb", "ub", count, lb, ub, propagator->rules.infinity, 1);
    if (status || count == 0 || (!lb && !ub)) return status;
    return gpuopt__propagator_of(propagator)->set_bounds(propagator, where, count, some ? col : NULL, lb, ub);
}

GPUOPT_API gpuopt_status gpuopt_propagator_get_bounds(gpuopt_propagator *propagator, gpuopt_memory where, double *lb,
                                                      double *ub) {
    GPUOPT__COMPUTES(gpuopt_propagator_get_bounds(propagator, where, lb, ub));
    gpuopt_status status =
        gpuopt__propagator_check_bounds_call(propagator, "gpuopt_propagator_get_bounds", where, 0, 0, NULL);
    return status ? status
                  : gpuopt__propagator_of(propagator)->get_bounds(propagator, where, propagator->cols, NULL, lb, ub);
}

GPUOPT_API gpuopt_status gpuopt_propagator_set_bounds(gpuopt_propagator *propagator, gpuopt_memory where,
                                                      const double *lb, const double *ub) {
    GPUOPT__COMPUTES(gpuopt_propagator_set_bounds(propagator, where, lb, ub));
    return gpuopt__propagator_set_checked_bounds(propagator, "gpuopt_propagator_set_bounds", where,
                                                 propagator ? propagator->cols : 0, 0, NULL, lb, ub);
}

GPUOPT_API gpuopt_status gpuopt_propagator_get_some_bounds(gpuopt_propagator *propagator, gpuopt_memory where,
                                                           int64_t count, const int32_t *col, double *lb, double *ub) {
    GPUOPT__COMPUTES(gpuopt_propagator_get_some_bounds(propagator, where, count, col, lb, ub));
    gpuopt_status status =
        gpuopt__propagator_check_bounds_call(propagator, "gpuopt_propagator_get_some_bounds", where, count, 1, col);
    if (status || count == 0) return status;
    return gpuopt__propagator_of(propagator)->get_bounds(propagator, where, count, col, lb, ub);
}

GPUOPT_API gpuopt_status gpuopt_propagator_set_some_bounds(gpuopt_propagator *propagator, gpuopt_memory where,
                                                           int64_t count, const int32_t *col, const double *lb,
                                                           const double *ub) {
    GPUOPT__COMPUTES(gpuopt_propagator_set_some_bounds(propagator, where, count, col, lb, ub));
    return gpuopt__propagator_set_checked_bounds(propagator, "gpuopt_propagator_set_some_bounds", where, count, 1, col,
                                                 lb, ub);
}

GPUOPT_API gpuopt_status gpuopt_propagator_set_some_sides(gpuopt_propagator *propagator, gpuopt_memory where,
                                                          int64_t count, const int32_t *row, const double *lhs,
                                                          const double *rhs) {
    static const char call[] = "gpuopt_propagator_set_some_sides";
    gpuopt_status status;
    GPUOPT__COMPUTES(gpuopt_propagator_set_some_sides(propagator, where, count, row, lhs, rhs));
    if (!propagator) return GPUOPT_ERROR_ARGUMENT;
    if (count < 0 || (count > 0 && (!row || !lhs || !rhs)))
        return gpuopt__refuse(propagator->context, GPUOPT_ERROR_ARGUMENT, call, "an array is NULL or count negative");
    status = gpuopt__check_where(propagator->context, call, where);
    if (!status && where == GPUOPT_HOST)
        status = gpuopt__check_indices(propagator->context, call, "row", count, row, propagator->rows);
    if (!status && where == GPUOPT_HOST)
        status = gpuopt__check_pairs(propagator->context, call, "lhs", "rhs", count, lhs, rhs,
                                     propagator->rules.infinity, 0);
    if (status || count == 0) return status;
    return gpuopt__propagator_of(propagator)->set_sides(propagator, where, count, row, lhs, rhs);
}

GPUOPT_API gpuopt_status gpuopt_propagator_get_rows(gpuopt_propagator *propagator, gpuopt_memory where,
                                                    const gpuopt_propagator_row_report *report) {
    static const char call[] = "gpuopt_propagator_get_rows";
    gpuopt_propagator_row_report wanted;
    gpuopt_status status;
    GPUOPT__COMPUTES(gpuopt_propagator_get_rows(propagator, where, report));
    memset(&wanted, 0, sizeof wanted);
    if (!propagator) return GPUOPT_ERROR_ARGUMENT;
    if (!report || !gpuopt__copy_in(&wanted, sizeof wanted, report, report->struct_size))
        return gpuopt__refuse(propagator->context, GPUOPT_ERROR_ARGUMENT, call, "report is NULL or has a wrong size");
    status = gpuopt__check_where(propagator->context, call, where);
    if (status) return status;
    return gpuopt__propagator_of(propagator)->get_rows(propagator, where, &wanted);
}

GPUOPT_API gpuopt_status gpuopt_propagator_device_view(gpuopt_propagator *propagator, gpuopt_device_view *view) {
    static const char call[] = "gpuopt_propagator_device_view";
    gpuopt_device_view result;
    gpuopt_status status;
    if (!propagator) return GPUOPT_ERROR_ARGUMENT;
    if (!GPUOPT__HAS_SIZE(view))
        return gpuopt__refuse(propagator->context, GPUOPT_ERROR_ARGUMENT, call, "view is NULL or has no struct_size");
    memset(&result, 0, sizeof result);
    status = gpuopt__check_where(propagator->context, call, GPUOPT_DEVICE);
    if (!status) status = gpuopt__propagator_of(propagator)->device_view(propagator, &result);
    if (!status) gpuopt__copy_out(view, view->struct_size, &result, sizeof result);
    return status;
}

#endif /* GPUOPT_IMPL_PROPAGATE_CALLS_H */
