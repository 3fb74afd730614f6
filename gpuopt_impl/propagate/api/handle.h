/* SPDX-License-Identifier: MIT
 *
 * Propagation: the public calls. They check their arguments here, once for all backends.
 */
#ifndef GPUOPT_IMPL_PROPAGATE_API_HANDLE_H
#define GPUOPT_IMPL_PROPAGATE_API_HANDLE_H

#include "../check/model.h"

GPUOPT_API gpuopt_status gpuopt_propagator_tolerances_tune(gpuopt_propagator_tolerances *tolerances,
                                                           gpuopt_propagator_settings settings) {
    gpuopt_propagator_tolerances t;
    if (!GPUOPT__HAS_SIZE(NULL, NULL, gpuopt_propagator_tolerances, tolerances)) return GPUOPT_ERROR_ARGUMENT;
    memset(&t, 0, sizeof t);
    t.feasibility = t.integrality = 1e-6;
    t.least_change = 1e-9;
    switch (settings) {
    case GPUOPT_SETTINGS_PAPER: break;
    case GPUOPT_SETTINGS_SCIP: t.least_change_relative = 0.05, t.huge_value = 1e15; break;
    case GPUOPT_SETTINGS_HIGHS:
        t.least_change = 1e-3, t.least_change_relative = 0.3, t.relative_integers = GPUOPT_OFF;
        break;
    case GPUOPT_SETTINGS_PAPILO: t.least_change = 1e-3, t.huge_value = 1e8; break;
    default: return GPUOPT_ERROR_ARGUMENT;
    }
    gpuopt__copy_out(tolerances, tolerances->struct_size, &t, sizeof t);
    return GPUOPT_OK;
}

/* ---- Calls ---- */

/* The temporary host memory of _create on the CPU side: to check and tidy the matrix, then to keep it tidied and by
 * rows. */
static void gpuopt__propagator_plan_host(const gpuopt_matrix *given, const gpuopt__tidied *tidied, int taken_as_it_is,
                                         gpuopt_memory_plan *plan) {
    const uint64_t copy = tidied->memory ? gpuopt__tidy_bytes(given) : 0,
                   check = copy + gpuopt__propagator_check_bytes(given);
    if (taken_as_it_is && !tidied->memory) return;
    plan->create_bytes += copy + (taken_as_it_is ? 0 : gpuopt__matrix_in_bytes(&tidied->matrix, GPUOPT_LAYOUT_CSR));
    if (plan->host_bytes + plan->create_bytes < check) plan->create_bytes = check - plan->host_bytes;
}

/* A backend that checks the numbers itself has tried the given matrix. It finds zeros before it makes the handle, but
 * duplicates only during that. */
static gpuopt_status gpuopt__propagator_plan_first_try(gpuopt_context *context, const gpuopt_matrix *given,
                                                       const gpuopt__propagator_model *model,
                                                       gpuopt_memory_plan *plan) {
    gpuopt__propagator_model first = *model;
    gpuopt_memory_plan tried;
    uint64_t peak;
    int64_t k;
    gpuopt_status status;
    memset(&tried, 0, sizeof tried);
    memset(&first.tidied, 0, sizeof first.tidied);
    first.transposed = NULL;
    first.desc.matrix = *given;
    first.nonzeros = given->start[gpuopt__matrix_lines(given)];
    first.val_single = 1;
    for (k = 0; k < first.nonzeros; k++) first.val_single &= (double)(float)given->value[k] == given->value[k];
    status = gpuopt__propagator_to_rows(context, &first);
    if (!status) status = context->desc.backend->propagator->plan(context, &first, &tried);
    gpuopt__propagator_model_end(context, &first);
    peak = tried.create_device_bytes + (model->tidied.zeros == 0 ? tried.device_bytes : 0);
    if (plan->device_bytes + plan->create_device_bytes < peak) plan->create_device_bytes = peak - plan->device_bytes;
    return status;
}

/* warns: whether no other warning follows. */
static gpuopt_status gpuopt__propagator_write_plan(gpuopt_context *context, const char *call,
                                                   const gpuopt_propagator_desc *desc, gpuopt_memory_plan *plan,
                                                   int warns) {
    gpuopt__propagator_model model;
    int taken_as_it_is = 0;
    gpuopt_status status = gpuopt__propagator_check_desc(context, call, desc, &model);
    if (!status) taken_as_it_is = gpuopt__propagator_leaves_numbers(context, &model);
    if (!status) status = gpuopt__propagator_check_numbers(context, &model);
    if (!status) status = gpuopt__propagator_to_rows(context, &model);
    if (!status) status = context->desc.backend->propagator->plan(context, &model, plan);
    if (!status) gpuopt__propagator_plan_host(&desc->matrix, &model.tidied, taken_as_it_is, plan);
    if (!status && taken_as_it_is && model.tidied.memory)
        status = gpuopt__propagator_plan_first_try(context, &desc->matrix, &model, plan);
    if (!status && warns) gpuopt__propagator_warn(context, &model);
    gpuopt__propagator_model_end(context, &model);
    return status;
}

static gpuopt_status gpuopt__propagator_create_handle(gpuopt_context *context, const char *call,
                                                      const gpuopt_propagator_desc *desc,
                                                      gpuopt_propagator **propagator) {
    gpuopt__propagator_model model;
    gpuopt_status status = gpuopt__propagator_check_desc(context, call, desc, &model);
    if (!status && !propagator)
        status = gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "propagator and plan are NULL");
    if (!status && !gpuopt__propagator_leaves_numbers(context, &model)) {
        status = gpuopt__propagator_check_numbers(context, &model);
        if (!status) status = gpuopt__propagator_to_rows(context, &model);
    }
    if (!status) status = context->desc.backend->propagator->create(context, &model, propagator);
    if (status == GPUOPT__UNTIDY) {
        status = gpuopt__propagator_check_numbers(context, &model);
        if (!status)
            status = model.tidied.memory ? context->desc.backend->propagator->create(context, &model, propagator)
                                         : GPUOPT__UNTIDY;
    }
    if (!status) gpuopt__propagator_warn(context, &model);
    gpuopt__propagator_model_end(context, &model);
    return gpuopt__settled(context, model.call, status);
}

GPUOPT_API gpuopt_status gpuopt_propagator_create(gpuopt_context *context, const gpuopt_propagator_desc *desc,
                                                  gpuopt_memory_plan *plan, gpuopt_propagator **propagator) {
    GPUOPT__CALL_CREATES(gpuopt_propagator, context, context, plan,
                         gpuopt__propagator_write_plan(context, call, desc, &planned, !propagator), propagator,
                         gpuopt__propagator_create_handle(context, call, desc, propagator));
}

/* The table of a handle's backend. */
static const gpuopt__propagator_backend *gpuopt__propagator_of(const gpuopt_propagator *propagator) {
    return propagator->context->desc.backend->propagator;
}

GPUOPT_API void gpuopt_propagator_destroy(gpuopt_propagator *propagator) {
    GPUOPT__CALL_DESTROYS(gpuopt_propagator, propagator, propagator->context,
                          gpuopt__propagator_of(propagator)->destroy(propagator));
}

static gpuopt_status gpuopt__propagator_round(gpuopt_propagator *propagator, const char *call, int32_t rounds,
                                              gpuopt_propagator_info *info) {
    if (rounds < 1) return gpuopt__refuse(propagator->context, GPUOPT_ERROR_ARGUMENT, call, "rounds is less than 1");
    propagator->version++;
    return (gpuopt__propagator_of(propagator)->round)(propagator, rounds, info);
}

GPUOPT_API gpuopt_status gpuopt_propagator_round(gpuopt_propagator *propagator, int32_t rounds,
                                                 gpuopt_propagator_info *info) {
    GPUOPT__CALL_MAY_FILL(propagator, propagator->context, gpuopt_propagator_info, info,
                          gpuopt__propagator_round(propagator, call, rounds, filled));
}

GPUOPT_API gpuopt_status gpuopt_propagator_get_info(gpuopt_propagator *propagator, gpuopt_propagator_info *info) {
    GPUOPT__CALL_FILLS(propagator, propagator->context, gpuopt_propagator_info, info,
                       gpuopt__propagator_of(propagator)->get_info(propagator, &filled));
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

static gpuopt_status gpuopt__propagator_get_bounds(gpuopt_propagator *propagator, const char *call,
                                                   gpuopt_memory_space where, int64_t count, const int32_t *col,
                                                   double *lb, double *ub) {
    gpuopt_status status = gpuopt__propagator_check_bounds_call(propagator, call, where, &count, col);
    if (status || count == 0) return status;
    return gpuopt__propagator_of(propagator)->get_bounds(propagator, where, count, col, lb, ub);
}

GPUOPT_API gpuopt_status gpuopt_propagator_get_bounds(gpuopt_propagator *propagator, gpuopt_memory_space where,
                                                      int64_t count, const int32_t *col, double *lb, double *ub) {
    GPUOPT__CALL(propagator, propagator->context,
                 gpuopt__propagator_get_bounds(propagator, call, where, count, col, lb, ub));
}

static gpuopt_status gpuopt__propagator_set_bounds(gpuopt_propagator *propagator, const char *call,
                                                   gpuopt_memory_space where, int64_t count, const int32_t *col,
                                                   const double *lb, const double *ub) {
    gpuopt_status status = gpuopt__propagator_check_bounds_call(propagator, call, where, &count, col);
    if (!status && where == GPUOPT_HOST)
        status =
            gpuopt__check_pairs(propagator->context, call, "lb", "ub", count, lb, ub, propagator->rules.infinity, 1);
    if (status || count == 0 || (!lb && !ub)) return status;
    propagator->version++;
    return gpuopt__propagator_of(propagator)->set_bounds(propagator, where, count, col, lb, ub);
}

GPUOPT_API gpuopt_status gpuopt_propagator_set_bounds(gpuopt_propagator *propagator, gpuopt_memory_space where,
                                                      int64_t count, const int32_t *col, const double *lb,
                                                      const double *ub) {
    GPUOPT__CALL(propagator, propagator->context,
                 gpuopt__propagator_set_bounds(propagator, call, where, count, col, lb, ub));
}

/* Checks numbers of rows, of the matrix or added; only of added rows if `added`. */
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

static gpuopt_status gpuopt__propagator_set_sides(gpuopt_propagator *propagator, const char *call,
                                                  gpuopt_memory_space where, int64_t count, const int32_t *row,
                                                  const double *lhs, const double *rhs) {
    gpuopt_status status;
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

GPUOPT_API gpuopt_status gpuopt_propagator_set_sides(gpuopt_propagator *propagator, gpuopt_memory_space where,
                                                     int64_t count, const int32_t *row, const double *lhs,
                                                     const double *rhs) {
    GPUOPT__CALL(propagator, propagator->context,
                 gpuopt__propagator_set_sides(propagator, call, where, count, row, lhs, rhs));
}

static gpuopt_status gpuopt__propagator_get_rows(gpuopt_propagator *propagator, const char *call,
                                                 gpuopt_memory_space where,
                                                 const gpuopt_propagator_row_report *report) {
    gpuopt_propagator_row_report wanted;
    gpuopt_status status;
    memset(&wanted, 0, sizeof wanted);
    if (!GPUOPT__COPY_IN(propagator->context, call, gpuopt_propagator_row_report, &wanted, report))
        return GPUOPT_ERROR_ARGUMENT;
    status = gpuopt__check_where(propagator->context, call, where);
    if (status) return status;
    return gpuopt__propagator_of(propagator)->get_rows(propagator, where, &wanted);
}

GPUOPT_API gpuopt_status gpuopt_propagator_get_rows(gpuopt_propagator *propagator, gpuopt_memory_space where,
                                                    const gpuopt_propagator_row_report *report) {
    GPUOPT__CALL(propagator, propagator->context, gpuopt__propagator_get_rows(propagator, call, where, report));
}

static gpuopt_status gpuopt__propagator_device_view(gpuopt_propagator *propagator, const char *call,
                                                    gpuopt_device_view *view) {
    gpuopt_status status = gpuopt__check_where(propagator->context, call, GPUOPT_DEVICE);
    return status ? status : gpuopt__propagator_of(propagator)->device_view(propagator, view);
}

GPUOPT_API gpuopt_status gpuopt_propagator_device_view(gpuopt_propagator *propagator, gpuopt_device_view *view) {
    GPUOPT__CALL_FILLS(propagator, propagator->context, gpuopt_device_view, view,
                       gpuopt__propagator_device_view(propagator, call, &filled));
}

#endif /* GPUOPT_IMPL_PROPAGATE_API_HANDLE_H */
