/* SPDX-License-Identifier: MIT
 *
 * Basis inverse: the public calls. Arguments are checked here, for every backend, so that a backend sees only good
 * ones.
 */
#ifndef GPUOPT_IMPL_BASIS_H
#define GPUOPT_IMPL_BASIS_H

#include "load.h"
#include "../common/checks.h"

/* ---- Checks ---- */

/* Fills d from the host's descriptor, with the tolerance's default in; K is for the backend to choose. */
static gpuopt_status gpuopt__check_basis_desc(const gpuopt_context *context, const char *call,
                                              const gpuopt_basis_desc *desc, gpuopt_basis_desc *d) {
    memset(d, 0, sizeof *d);
    if (!gpuopt__copy_in(d, sizeof *d, desc, desc->struct_size))
        return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call,
                              "struct_size is wrong, or a member that this version does not know is set");
    if (d->m < 0 || d->m > 1 << 28) return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "m is not in 0..2^28");
    if ((unsigned)d->technique > GPUOPT_BASIS_ELEMENT_PROPOSED)
        return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "technique is unknown");
    if (d->deferred_updates < 0 || d->deferred_updates > 256)
        return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "deferred_updates is not in 0..256");
    if (!(d->pivot_tolerance >= 0 && d->pivot_tolerance < 1))
        return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "pivot_tolerance is not in [0, 1)");
    if (d->pivot_tolerance == 0) d->pivot_tolerance = 1e-11;
    return GPUOPT_OK;
}

/* The entries of one column: rows in range and distinct, values finite and not 0. mark[i] is the last column that row i
 * was seen in, -1 between calls. */
static gpuopt_status gpuopt__check_column(const gpuopt_basis *basis, const char *call, int32_t column, int64_t count,
                                          const int32_t *row, const double *val) {
    int64_t k;
    for (k = 0; k < count; k++) {
        const char *fault = NULL;
        if (row[k] < 0 || row[k] >= basis->m) fault = "row out of range";
        else if (basis->mark[row[k]] == column) fault = "row comes twice";
        else if (!(fabs(val[k]) < HUGE_VAL) || val[k] == 0) fault = "value is zero or not finite";
        if (fault) {
            gpuopt__log(basis->context, 0, "%s: column %d, entry %lld (row %d, %g): %s", call, (int)column,
                        (long long)k, (int)row[k], val[k], fault);
            return GPUOPT_ERROR_ARGUMENT;
        }
        basis->mark[row[k]] = column;
    }
    return GPUOPT_OK;
}

static gpuopt_status gpuopt__check_columns(gpuopt_basis *basis, const char *call, const gpuopt_csc *columns) {
    gpuopt_status status = GPUOPT_OK;
    int32_t j;
    if (columns->rows != basis->m || columns->cols != basis->m)
        return gpuopt__refuse(basis->context, GPUOPT_ERROR_ARGUMENT, call, "columns are not m x m");
    if (!columns->start || columns->start[0] != 0)
        return gpuopt__refuse(basis->context, GPUOPT_ERROR_ARGUMENT, call, "start is NULL, or start[0] is not 0");
    for (j = 0; j < basis->m; j++)
        if (columns->start[j + 1] < columns->start[j]) {
            gpuopt__log(basis->context, 0, "%s: start[%d] = %lld is less than the start before it", call, (int)j + 1,
                        (long long)columns->start[j + 1]);
            return GPUOPT_ERROR_ARGUMENT;
        }
    if (columns->start[basis->m] > 0 && (!columns->row || !columns->val))
        return gpuopt__refuse(basis->context, GPUOPT_ERROR_ARGUMENT, call, "row or val is NULL");
    for (j = 0; j < basis->m && !status; j++)
        status = gpuopt__check_column(basis, call, j, columns->start[j + 1] - columns->start[j],
                                      columns->row + columns->start[j], columns->val + columns->start[j]);
    gpuopt__basis_clear_marks(basis);
    return status;
}

/* A vector of the host's: there, and finite. */
static gpuopt_status gpuopt__check_vector(const gpuopt_basis *basis, const char *call, const char *name,
                                          gpuopt_memory where, const double *vector) {
    int32_t i;
    if (!gpuopt__is_memory(where))
        return gpuopt__refuse(basis->context, GPUOPT_ERROR_ARGUMENT, call, "where is neither HOST nor DEVICE");
    if (!vector && basis->m > 0) {
        gpuopt__log(basis->context, 0, "%s: %s is NULL", call, name);
        return GPUOPT_ERROR_ARGUMENT;
    }
    for (i = 0; where == GPUOPT_HOST && i < basis->m; i++)
        if (!(fabs(vector[i]) < HUGE_VAL)) {
            gpuopt__log(basis->context, 0, "%s: %s[%d] = %g is not finite", call, name, (int)i, vector[i]);
            return GPUOPT_ERROR_ARGUMENT;
        }
    return GPUOPT_OK;
}

static gpuopt_status gpuopt__check_position(const gpuopt_basis *basis, const char *call, int32_t position) {
    if (position >= 0 && position < basis->m) return GPUOPT_OK;
    gpuopt__log(basis->context, 0, "%s: position %d is not in 0..%d", call, (int)position, (int)basis->m - 1);
    return GPUOPT_ERROR_ARGUMENT;
}

/* ---- Life ---- */

static const gpuopt__basis_backend *gpuopt__basis_of(const gpuopt_basis *basis) {
    return basis->context->desc.backend->basis;
}

GPUOPT_API gpuopt_status gpuopt_basis_plan(gpuopt_context *context, const gpuopt_basis_desc *desc,
                                           gpuopt_memory_plan *plan) {
    static const char call[] = "gpuopt_basis_plan";
    gpuopt_basis_desc d;
    gpuopt_memory_plan result;
    gpuopt_status status;
    if (!context) return GPUOPT_ERROR_ARGUMENT;
    if (!desc || !GPUOPT__HAS_SIZE(plan))
        return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call,
                              desc ? "plan is NULL or has no struct_size" : "desc is NULL");
    memset(&result, 0, sizeof result);
    status = gpuopt__check_basis_desc(context, call, desc, &d);
    if (!status) status = context->desc.backend->basis->plan(context, &d, &result);
    if (!status) gpuopt__copy_out(plan, plan->struct_size, &result, sizeof result);
    return status;
}

GPUOPT_API gpuopt_status gpuopt_basis_create(gpuopt_context *context, const gpuopt_basis_desc *desc,
                                             gpuopt_basis **basis) {
    static const char call[] = "gpuopt_basis_create";
    gpuopt_basis_desc d;
    gpuopt_status status;
    if (basis) *basis = NULL;
    if (!context) return GPUOPT_ERROR_ARGUMENT;
    if (!basis || !desc) return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "desc or basis is NULL");
    status = gpuopt__check_basis_desc(context, call, desc, &d);
    return status ? status : context->desc.backend->basis->create(context, &d, basis);
}

GPUOPT_API void gpuopt_basis_destroy(gpuopt_basis *basis) {
    if (basis) gpuopt__basis_of(basis)->destroy(basis);
}

GPUOPT_API gpuopt_status gpuopt_basis_load(gpuopt_basis *basis, const gpuopt_csc *columns) {
    gpuopt_status status = GPUOPT_OK;
    if (!basis) return GPUOPT_ERROR_ARGUMENT;
    if (columns) status = gpuopt__check_columns(basis, "gpuopt_basis_load", columns);
    if (!status) status = gpuopt__basis_of(basis)->load(basis, columns);
    if (!status) basis->has_pivot_column = 0;
    return status;
}

/* ---- FTRAN and BTRAN ---- */

/* A vector that is to be filled; without one only where `optional`. */
static gpuopt_status gpuopt__check_result(const gpuopt_basis *basis, const char *call, gpuopt_memory where,
                                          const double *result, int optional) {
    if (!gpuopt__is_memory(where))
        return gpuopt__refuse(basis->context, GPUOPT_ERROR_ARGUMENT, call, "where is neither HOST nor DEVICE");
    if (!result && !optional && basis->m > 0)
        return gpuopt__refuse(basis->context, GPUOPT_ERROR_ARGUMENT, call, "the result is NULL");
    return GPUOPT_OK;
}

GPUOPT_API gpuopt_status gpuopt_basis_ftran(gpuopt_basis *basis, gpuopt_memory where, const double *rhs, double *x) {
    gpuopt_status status;
    if (!basis) return GPUOPT_ERROR_ARGUMENT;
    status = gpuopt__check_vector(basis, "gpuopt_basis_ftran", "rhs", where, rhs);
    if (!status) status = gpuopt__basis_of(basis)->ftran(basis, where, rhs, x);
    if (!status) basis->has_pivot_column = 1;
    return status;
}

GPUOPT_API gpuopt_status gpuopt_basis_btran(gpuopt_basis *basis, gpuopt_memory where, const double *c, double *y) {
    gpuopt_status status;
    if (!basis) return GPUOPT_ERROR_ARGUMENT;
    status = gpuopt__check_vector(basis, "gpuopt_basis_btran", "c", where, c);
    if (!status) status = gpuopt__check_result(basis, "gpuopt_basis_btran", where, y, 0);
    return status ? status : gpuopt__basis_of(basis)->btran(basis, where, c, y);
}

GPUOPT_API gpuopt_status gpuopt_basis_ftran_sparse(gpuopt_basis *basis, int32_t count, const int32_t *row,
                                                   const double *val, gpuopt_memory where, double *x) {
    static const char call[] = "gpuopt_basis_ftran_sparse";
    gpuopt_status status;
    int32_t k;
    if (!basis) return GPUOPT_ERROR_ARGUMENT;
    if (count < 0 || (count > 0 && (!row || !val)))
        return gpuopt__refuse(basis->context, GPUOPT_ERROR_ARGUMENT, call, "count is negative, or row or val is NULL");
    status = gpuopt__check_result(basis, call, where, x, 1);
    if (status) return status;
    status = gpuopt__check_column(basis, call, 0, count, row, val);
    if (status) gpuopt__basis_clear_marks(basis);
    else
        for (k = 0; k < count; k++) basis->mark[row[k]] = -1;
    if (!status) status = gpuopt__basis_of(basis)->ftran_sparse(basis, count, row, val, where, x);
    if (!status) basis->has_pivot_column = 1;
    return status;
}

GPUOPT_API gpuopt_status gpuopt_basis_btran_unit(gpuopt_basis *basis, int32_t position, gpuopt_memory where,
                                                 double *y) {
    gpuopt_status status;
    if (!basis) return GPUOPT_ERROR_ARGUMENT;
    status = gpuopt__check_position(basis, "gpuopt_basis_btran_unit", position);
    if (!status) status = gpuopt__check_result(basis, "gpuopt_basis_btran_unit", where, y, 0);
    return status ? status : gpuopt__basis_of(basis)->btran_unit(basis, position, where, y);
}

/* ---- Updates and reports ---- */

GPUOPT_API gpuopt_status gpuopt_basis_update(gpuopt_basis *basis, int32_t position, gpuopt_memory where,
                                             const double *alpha, gpuopt_basis_info *info) {
    static const char call[] = "gpuopt_basis_update";
    gpuopt_basis_info result;
    gpuopt_status status;
    if (!basis) return GPUOPT_ERROR_ARGUMENT;
    if (info && !GPUOPT__HAS_SIZE(info))
        return gpuopt__refuse(basis->context, GPUOPT_ERROR_ARGUMENT, call, "info has no struct_size");
    status = gpuopt__check_position(basis, call, position);
    if (!status && alpha) status = gpuopt__check_vector(basis, call, "alpha", where, alpha);
    if (status) return status;
    if (!info && alpha && where == GPUOPT_HOST)
        return gpuopt__refuse(basis->context, GPUOPT_ERROR_ARGUMENT, call,
                              "an update without info takes no alpha in host memory");
    if (!alpha && !basis->has_pivot_column)
        return gpuopt__refuse(basis->context, GPUOPT_ERROR_STATE, call,
                              "alpha is NULL, and there was no FTRAN since the last load or update");
    memset(&result, 0, sizeof result);
    status = gpuopt__basis_of(basis)->update(basis, position, where, alpha, info ? &result : NULL);
    if (status) return status;
    basis->has_pivot_column = 0;
    if (info) gpuopt__copy_out(info, info->struct_size, &result, sizeof result);
    return GPUOPT_OK;
}

GPUOPT_API gpuopt_status gpuopt_basis_get_info(gpuopt_basis *basis, gpuopt_basis_info *info) {
    gpuopt_basis_info result;
    gpuopt_status status;
    if (!basis) return GPUOPT_ERROR_ARGUMENT;
    if (!GPUOPT__HAS_SIZE(info))
        return gpuopt__refuse(basis->context, GPUOPT_ERROR_ARGUMENT, "gpuopt_basis_get_info",
                              "info is NULL or has no struct_size");
    memset(&result, 0, sizeof result);
    status = gpuopt__basis_of(basis)->get_info(basis, &result);
    if (!status) gpuopt__copy_out(info, info->struct_size, &result, sizeof result);
    return status;
}

GPUOPT_API gpuopt_status gpuopt_basis_get_drift(gpuopt_basis *basis, const gpuopt_csc *columns, int exact,
                                                gpuopt_basis_drift *drift) {
    static const char call[] = "gpuopt_basis_get_drift";
    gpuopt_basis_drift result;
    gpuopt_status status;
    int32_t j;
    int64_t k;
    if (!basis) return GPUOPT_ERROR_ARGUMENT;
    if (!columns || !GPUOPT__HAS_SIZE(drift))
        return gpuopt__refuse(basis->context, GPUOPT_ERROR_ARGUMENT, call,
                              columns ? "drift is NULL or has no struct_size" : "columns is NULL");
    status = gpuopt__check_columns(basis, call, columns);
    if (status) return status;
    memset(basis->work, 0, sizeof(double) * (size_t)basis->m);
    for (j = 0; j < basis->m; j++)
        for (k = columns->start[j]; k < columns->start[j + 1]; k++)
            basis->work[columns->row[k]] += gpuopt__drift_sign(j) * columns->val[k];
    memset(&result, 0, sizeof result);
    result.norm = -1;
    status = gpuopt__basis_of(basis)->get_drift(basis, columns, basis->work, exact, &result);
    if (!status) gpuopt__copy_out(drift, drift->struct_size, &result, sizeof result);
    return status;
}

GPUOPT_API gpuopt_status gpuopt_basis_get_inverse(gpuopt_basis *basis, gpuopt_memory where, double *inverse) {
    gpuopt_status status;
    if (!basis) return GPUOPT_ERROR_ARGUMENT;
    status = gpuopt__check_result(basis, "gpuopt_basis_get_inverse", where, inverse, 0);
    return status ? status : gpuopt__basis_of(basis)->get_inverse(basis, where, inverse);
}

#endif /* GPUOPT_IMPL_BASIS_H */
