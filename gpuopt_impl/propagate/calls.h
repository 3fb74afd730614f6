/* SPDX-License-Identifier: MIT
 *
 * Propagation: the public calls. They check their arguments here, once for all backends, and pass valid ones on.
 */
#ifndef GPUOPT_IMPL_PROPAGATE_CALLS_H
#define GPUOPT_IMPL_PROPAGATE_CALLS_H

#include "check.h"

GPUOPT_API gpuopt_status gpuopt_propagator_desc_tune(gpuopt_propagator_desc *desc,
                                                     gpuopt_propagator_settings settings) {
    if (!GPUOPT__HAS_SIZE(NULL, NULL, gpuopt_propagator_desc, desc)) return GPUOPT_ERROR_ARGUMENT;
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
    desc->relative_integers = settings == GPUOPT_SETTINGS_HIGHS ? GPUOPT_OFF : GPUOPT_DEFAULT;
    desc->infinity = 1e20;
    desc->feasibility_tolerance = desc->integrality_tolerance = 1e-6;
    return GPUOPT_OK;
}

/* ---- Calls ---- */

static gpuopt_status gpuopt__propagator_write_plan(gpuopt_context *context, const gpuopt_propagator_desc *desc,
                                                   gpuopt_memory_plan *plan) {
    gpuopt__propagator_model model;
    gpuopt_memory_plan result;
    int taken_as_it_is = 0;
    gpuopt_status status;
    GPUOPT__COMPUTES(gpuopt__propagator_write_plan(context, desc, plan));
    if (!desc) return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, "gpuopt_propagator_create", "desc is NULL");
    if (!GPUOPT__HAS_SIZE(context, "gpuopt_propagator_create", gpuopt_memory_plan, plan)) return GPUOPT_ERROR_ARGUMENT;
    status = gpuopt__propagator_check_desc(context, "gpuopt_propagator_create", desc, &model);
    if (!status) taken_as_it_is = gpuopt__propagator_leaves_numbers(context, &model);
    if (!status) status = gpuopt__propagator_check_numbers(context, &model);
    if (!status) status = gpuopt__propagator_to_rows(context, &model);
    memset(&result, 0, sizeof result);
    if (!status) status = context->desc.backend->propagator->plan(context, &model, &result);
    gpuopt__propagator_model_end(context, &model);
    if (status) return status;
    if (!taken_as_it_is) {
        result.create_bytes += gpuopt__matrix_in_bytes(&desc->matrix, GPUOPT_LAYOUT_CSR);
        if (result.create_bytes < gpuopt__propagator_check_bytes(&desc->matrix))
            result.create_bytes = gpuopt__propagator_check_bytes(&desc->matrix);
    }
    gpuopt__copy_out(plan, plan->struct_size, &result, sizeof result);
    return GPUOPT_OK;
}

static gpuopt_status gpuopt__propagator_create_handle(gpuopt_context *context, const gpuopt_propagator_desc *desc,
                                                      gpuopt_propagator **propagator) {
    gpuopt__propagator_model model;
    gpuopt_status status;
    GPUOPT__COMPUTES(gpuopt__propagator_create_handle(context, desc, propagator));
    if (!propagator || !desc)
        return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, "gpuopt_propagator_create",
                              desc ? "propagator and plan are NULL" : "desc is NULL");
    status = gpuopt__propagator_check_desc(context, "gpuopt_propagator_create", desc, &model);
    if (!status && !gpuopt__propagator_leaves_numbers(context, &model)) {
        status = gpuopt__propagator_check_numbers(context, &model);
        if (!status) status = gpuopt__propagator_to_rows(context, &model);
    }
    if (!status) status = context->desc.backend->propagator->create(context, &model, propagator);
    gpuopt__propagator_model_end(context, &model);
    return status;
}

GPUOPT_API gpuopt_status gpuopt_propagator_create(gpuopt_context *context, const gpuopt_propagator_desc *desc,
                                                  gpuopt_memory_plan *plan, gpuopt_propagator **propagator) {
    GPUOPT__CREATES(gpuopt_propagator, context, context, propagator);
    gpuopt_status status = plan ? gpuopt__propagator_write_plan(context, desc, plan) : GPUOPT_OK;
    return status || (plan && !propagator) ? status : gpuopt__propagator_create_handle(context, desc, propagator);
}

GPUOPT_API void gpuopt_propagator_destroy(gpuopt_propagator *propagator) {
    GPUOPT__DESTROYS(gpuopt_propagator, propagator, propagator->context);
    propagator->context->desc.backend->propagator->destroy(propagator);
}

/* The table of a handle's backend. */
static const gpuopt__propagator_backend *gpuopt__propagator_of(const gpuopt_propagator *propagator) {
    return propagator->context->desc.backend->propagator;
}

GPUOPT_API gpuopt_status gpuopt_propagator_round(gpuopt_propagator *propagator, int32_t rounds,
                                                 gpuopt_propagator_info *info) {
    GPUOPT__ENTERS(propagator, propagator->context);
    static const char call[] = "gpuopt_propagator_round";
    gpuopt_propagator_info result;
    gpuopt_status status;
    GPUOPT__COMPUTES(gpuopt_propagator_round(propagator, rounds, info));
    if (rounds < 1) return gpuopt__refuse(propagator->context, GPUOPT_ERROR_ARGUMENT, call, "rounds is less than 1");
    if (info && !GPUOPT__HAS_SIZE(propagator->context, call, gpuopt_propagator_info, info))
        return GPUOPT_ERROR_ARGUMENT;
    memset(&result, 0, sizeof result);
    propagator->version++;
    status = (gpuopt__propagator_of(propagator)->round)(propagator, rounds, info ? &result : NULL);
    if (!status && info) gpuopt__copy_out(info, info->struct_size, &result, sizeof result);
    return status;
}

GPUOPT_API gpuopt_status gpuopt_propagator_get_info(gpuopt_propagator *propagator, gpuopt_propagator_info *info) {
    GPUOPT__ENTERS(propagator, propagator->context);
    gpuopt_propagator_info result;
    gpuopt_status status;
    static const char call[] = "gpuopt_propagator_get_info";
    if (!GPUOPT__HAS_SIZE(propagator->context, call, gpuopt_propagator_info, info)) return GPUOPT_ERROR_ARGUMENT;
    memset(&result, 0, sizeof result);
    status = gpuopt__propagator_of(propagator)->get_info(propagator, &result);
    if (!status) gpuopt__copy_out(info, info->struct_size, &result, sizeof result);
    return status;
}

/* The checks that all four calls on bounds share. */
/* col NULL: all columns; *count is then their number. */
static gpuopt_status gpuopt__propagator_check_bounds_call(const gpuopt_propagator *propagator, const char *call,
                                                          gpuopt_memory_space where, int64_t *count,
                                                          const int32_t *col) {
    gpuopt_status status;
    if (*count < 0 || (!col && *count != 0 && *count != propagator->cols))
        return gpuopt__refuse(propagator->context, GPUOPT_ERROR_ARGUMENT, call,
                              *count < 0 ? "count is negative"
                                         : "col is NULL, and count is neither 0 nor the number of columns");
    status = gpuopt__check_where(propagator->context, call, where);
    if (!status && col && where == GPUOPT_HOST)
        status = gpuopt__check_indices(propagator->context, call, "col", *count, col, propagator->cols);
    if (!col) *count = propagator->cols;
    return status;
}

GPUOPT_API gpuopt_status gpuopt_propagator_get_bounds(gpuopt_propagator *propagator, gpuopt_memory_space where,
                                                      int64_t count, const int32_t *col, double *lb, double *ub) {
    GPUOPT__ENTERS(propagator, propagator->context);
    GPUOPT__COMPUTES(gpuopt_propagator_get_bounds(propagator, where, count, col, lb, ub));
    gpuopt_status status =
        gpuopt__propagator_check_bounds_call(propagator, "gpuopt_propagator_get_bounds", where, &count, col);
    if (status || count == 0) return status;
    return gpuopt__propagator_of(propagator)->get_bounds(propagator, where, count, col, lb, ub);
}

GPUOPT_API gpuopt_status gpuopt_propagator_set_bounds(gpuopt_propagator *propagator, gpuopt_memory_space where,
                                                      int64_t count, const int32_t *col, const double *lb,
                                                      const double *ub) {
    GPUOPT__ENTERS(propagator, propagator->context);
    static const char call[] = "gpuopt_propagator_set_bounds";
    GPUOPT__COMPUTES(gpuopt_propagator_set_bounds(propagator, where, count, col, lb, ub));
    gpuopt_status status = gpuopt__propagator_check_bounds_call(propagator, call, where, &count, col);
    if (!status && where == GPUOPT_HOST)
        status =
            gpuopt__check_pairs(propagator->context, call, "lb", "ub", count, lb, ub, propagator->rules.infinity, 1);
    if (status || count == 0 || (!lb && !ub)) return status;
    propagator->version++;
    return gpuopt__propagator_of(propagator)->set_bounds(propagator, where, count, col, lb, ub);
}

/* Numbers of rows, of the matrix or added; only the latter if `added`. */
static gpuopt_status gpuopt__propagator_check_rows(const gpuopt_propagator *propagator, const char *call, int64_t count,
                                                   const int32_t *row, int added) {
    gpuopt_status status =
        gpuopt__check_indices(propagator->context, call, "row", count, row, propagator->rows + propagator->spare_rows);
    int64_t k;
    if (status || (propagator->spare_rows == 0 && !added)) return status;
    for (k = 0; k < count; k++)
        if (row[k] < propagator->rows ? added : !gpuopt__propagator_of(propagator)->has_row(propagator, row[k])) {
            gpuopt__log(propagator->context, 0, "%s: row[%lld] = %d is not the number of %s", call, (long long)k,
                        (int)row[k], added ? "an added row" : "a row");
            return GPUOPT_ERROR_ARGUMENT;
        }
    return GPUOPT_OK;
}

GPUOPT_API gpuopt_status gpuopt_propagator_set_sides(gpuopt_propagator *propagator, gpuopt_memory_space where,
                                                     int64_t count, const int32_t *row, const double *lhs,
                                                     const double *rhs) {
    GPUOPT__ENTERS(propagator, propagator->context);
    static const char call[] = "gpuopt_propagator_set_sides";
    gpuopt_status status;
    GPUOPT__COMPUTES(gpuopt_propagator_set_sides(propagator, where, count, row, lhs, rhs));
    if (count < 0 || (count > 0 && (!row || !lhs || !rhs)))
        return gpuopt__refuse(propagator->context, GPUOPT_ERROR_ARGUMENT, call, "an array is NULL or count negative");
    status = gpuopt__check_where(propagator->context, call, where);
    if (!status && where == GPUOPT_HOST) status = gpuopt__propagator_check_rows(propagator, call, count, row, 0);
    if (!status && where == GPUOPT_HOST)
        status = gpuopt__check_pairs(propagator->context, call, "lhs", "rhs", count, lhs, rhs,
                                     propagator->rules.infinity, 0);
    if (status || count == 0) return status;
    propagator->version++;
    return gpuopt__propagator_of(propagator)->set_sides(propagator, where, count, row, lhs, rhs);
}

GPUOPT_API gpuopt_status gpuopt_propagator_get_rows(gpuopt_propagator *propagator, gpuopt_memory_space where,
                                                    const gpuopt_propagator_row_report *report) {
    GPUOPT__ENTERS(propagator, propagator->context);
    static const char call[] = "gpuopt_propagator_get_rows";
    gpuopt_propagator_row_report wanted;
    gpuopt_status status;
    GPUOPT__COMPUTES(gpuopt_propagator_get_rows(propagator, where, report));
    memset(&wanted, 0, sizeof wanted);
    if (!GPUOPT__COPY_IN(propagator->context, call, gpuopt_propagator_row_report, &wanted, report))
        return GPUOPT_ERROR_ARGUMENT;
    status = gpuopt__check_where(propagator->context, call, where);
    if (status) return status;
    return gpuopt__propagator_of(propagator)->get_rows(propagator, where, &wanted);
}

GPUOPT_API gpuopt_status gpuopt_propagator_device_view(gpuopt_propagator *propagator, gpuopt_device_view *view) {
    GPUOPT__ENTERS(propagator, propagator->context);
    static const char call[] = "gpuopt_propagator_device_view";
    gpuopt_device_view result;
    gpuopt_status status;
    if (!GPUOPT__HAS_SIZE(propagator->context, call, gpuopt_device_view, view)) return GPUOPT_ERROR_ARGUMENT;
    memset(&result, 0, sizeof result);
    status = gpuopt__check_where(propagator->context, call, GPUOPT_DEVICE);
    if (!status) status = gpuopt__propagator_of(propagator)->device_view(propagator, &result);
    if (!status) gpuopt__copy_out(view, view->struct_size, &result, sizeof result);
    return status;
}

#endif /* GPUOPT_IMPL_PROPAGATE_CALLS_H */
