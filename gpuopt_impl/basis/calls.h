/* SPDX-License-Identifier: MIT
 *
 * Basis inverse: the public calls. They check their arguments and call the backend.
 */
#ifndef GPUOPT_IMPL_BASIS_CALLS_H
#define GPUOPT_IMPL_BASIS_CALLS_H

#include "../common/tidy_matrix.h"
#include "load.h"

/* ---- Checks ---- */

/* Checks the caller's descriptor and copies it to d with the default tolerance. The backend has K's default. */
static gpuopt_status gpuopt__basis_check_desc(const gpuopt_context *context, const char *call,
                                              const gpuopt_basis_desc *desc, gpuopt_basis_desc *d) {
    gpuopt_status status;
    memset(d, 0, sizeof *d);
    status = GPUOPT__CHECK_STRUCT(context, call, context->desc.backend->basis, gpuopt_basis_desc, desc, d);
    if (status) return status;
    if (d->m < 0 || d->m > 1 << 28) return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "m is not in 0..2^28");
    {
        const gpuopt__choice technique = {"technique", (int64_t)d->technique, GPUOPT_TECHNIQUE_ELEMENT_PROPOSED};
        const gpuopt__range range[] = {{"deferred_updates", (double)d->deferred_updates, 1, 256},
                                       {"pivot_tolerance", d->pivot_tolerance, 0, 1 - DBL_EPSILON}};
        status = gpuopt__check_choices(context, call, &technique, 1);
        if (!status) status = gpuopt__check_ranges(context, call, range, sizeof range / sizeof *range);
    }
    if (d->pivot_tolerance == 0) d->pivot_tolerance = 1e-11;
    return status;
}

/* Checks that a matrix is m x m, and checks its starts. */
static gpuopt_status gpuopt__basis_check_shape(const gpuopt_basis *basis, const char *call,
                                               const gpuopt_matrix *columns) {
    if (columns->rows != basis->m || columns->cols != basis->m)
        return gpuopt__refuse(basis->context, GPUOPT_ERROR_ARGUMENT, call, "columns is not m x m");
    return gpuopt__check_matrix_shape(basis->context, call, columns);
}

/* Checks the entries of a matrix, and tidies them if needed. The caller must end *tidied in every case. */
static gpuopt_status gpuopt__basis_tidy(gpuopt_basis *basis, const char *call, const gpuopt_matrix *columns,
                                        gpuopt__tidied *tidied) {
    gpuopt_status status =
        gpuopt__tidy_matrix(basis->context, call, columns, GPUOPT__LEAST_DOUBLE, DBL_MAX, basis->mark, NULL, tidied);
    gpuopt__basis_clear_marks(basis);
    return status;
}

/* Checks a vector that a call reads: not NULL and, in host memory, finite. */
static gpuopt_status gpuopt__basis_check_vector(const gpuopt_basis *basis, const char *call, const char *name,
                                                gpuopt_memory_space where, const double *vector) {
    gpuopt_status status = gpuopt__check_where(basis->context, call, where);
    if (status) return status;
    if (!vector && basis->m > 0) {
        gpuopt__log(basis->context, 0, "%s: %s is NULL", call, name);
        return GPUOPT_ERROR_ARGUMENT;
    }
    return where == GPUOPT_HOST ? gpuopt__check_finite(basis->context, call, name, basis->m, vector) : GPUOPT_OK;
}

static gpuopt_status gpuopt__basis_check_position(const gpuopt_basis *basis, const char *call, int32_t position) {
    if (position >= 0 && position < basis->m) return GPUOPT_OK;
    gpuopt__log(basis->context, 0, "%s: position %d is not in 0..%d", call, (int)position, (int)basis->m - 1);
    return GPUOPT_ERROR_ARGUMENT;
}

/* ---- Life ---- */

static const gpuopt__basis_backend *gpuopt__basis_of(const gpuopt_basis *basis) {
    return basis->context->desc.backend->basis;
}

static gpuopt_status gpuopt__basis_write_plan(gpuopt_context *context, const char *call, const gpuopt_basis_desc *desc,
                                              gpuopt_memory_plan *plan) {
    gpuopt_basis_desc d;
    gpuopt_status status = gpuopt__basis_check_desc(context, call, desc, &d);
    return status ? status : context->desc.backend->basis->plan(context, &d, plan);
}

static gpuopt_status gpuopt__basis_create_handle(gpuopt_context *context, const char *call,
                                                 const gpuopt_basis_desc *desc, gpuopt_basis **basis) {
    gpuopt_basis_desc d;
    gpuopt_status status = gpuopt__basis_check_desc(context, call, desc, &d);
    if (!status && !basis) status = gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "basis and plan are NULL");
    return status ? status : context->desc.backend->basis->create(context, &d, basis);
}

GPUOPT_API gpuopt_status gpuopt_basis_create(gpuopt_context *context, const gpuopt_basis_desc *desc,
                                             gpuopt_memory_plan *plan, gpuopt_basis **basis) {
    GPUOPT__CALL_CREATES(gpuopt_basis, context, context, plan, gpuopt__basis_write_plan(context, call, desc, &planned),
                         basis, gpuopt__basis_create_handle(context, call, desc, basis));
}

GPUOPT_API void gpuopt_basis_destroy(gpuopt_basis *basis) {
    GPUOPT__CALL_DESTROYS(gpuopt_basis, basis, basis->context, gpuopt__basis_of(basis)->destroy(basis));
}

static gpuopt_status gpuopt__basis_load(gpuopt_basis *basis, const char *call, const gpuopt_matrix *columns) {
    gpuopt__tidied tidied;
    gpuopt_status status = GPUOPT_OK;
    if (columns) status = gpuopt__basis_check_shape(basis, call, columns);
    if (!status) status = gpuopt__basis_of(basis)->load(basis, columns);
    if (status == GPUOPT__UNTIDY) {
        status = gpuopt__basis_tidy(basis, call, columns, &tidied);
        if (!status) status = gpuopt__basis_of(basis)->load(basis, &tidied.matrix);
        gpuopt__tidied_end(basis->context, call, &tidied);
    }
    if (!status) basis->has_pivot_column = 0;
    return gpuopt__settled(basis->context, call, status);
}

GPUOPT_API gpuopt_status gpuopt_basis_load(gpuopt_basis *basis, const gpuopt_matrix *columns) {
    GPUOPT__CALL(basis, basis->context, gpuopt__basis_load(basis, call, columns));
}

/* ---- FTRAN and BTRAN ---- */

/* Checks a vector that a call writes: not NULL unless optional. */
static gpuopt_status gpuopt__basis_check_result(const gpuopt_basis *basis, const char *call, gpuopt_memory_space where,
                                                const double *result, int optional) {
    gpuopt_status status = gpuopt__check_where(basis->context, call, where);
    if (status) return status;
    if (!result && !optional && basis->m > 0)
        return gpuopt__refuse(basis->context, GPUOPT_ERROR_ARGUMENT, call, "the result is NULL");
    return GPUOPT_OK;
}

/* Checks a sparse column: distinct rows in range, and values that are finite and not 0. */
static gpuopt_status gpuopt__basis_check_sparse(gpuopt_basis *basis, const char *call, int32_t count,
                                                const int32_t *row, const double *val) {
    int32_t k;
    gpuopt_status status = gpuopt__check_line(basis->context, call, GPUOPT_LAYOUT_CSC, 0, 0, count, row, val, basis->m,
                                              GPUOPT__LEAST_DOUBLE, DBL_MAX, 0, basis->mark, NULL);
    if (status) gpuopt__basis_clear_marks(basis);
    else
        for (k = 0; k < count; k++) basis->mark[row[k]] = -1;
    return status;
}

static gpuopt_status gpuopt__basis_ftran_sparse(gpuopt_basis *basis, const char *call, gpuopt_memory_space where,
                                                int32_t count, const int32_t *row, const double *val, double *x) {
    const void *rows = NULL, *values = NULL;
    gpuopt_status status;
    if (count < 0 || count > basis->m) {
        gpuopt__log(basis->context, 0, "%s: count = %d is not in 0..%d", call, (int)count, (int)basis->m);
        return GPUOPT_ERROR_ARGUMENT;
    }
    status = gpuopt__basis_check_result(basis, call, where, x, 1);
    if (status) return status;
    if (count > 0 && !val) return gpuopt__refuse(basis->context, GPUOPT_ERROR_ARGUMENT, call, "rhs is NULL");
    /* A kernel would use the rows as indices, so rows in device memory are checked on the CPU first. */
    status = gpuopt__fetch(basis->context, where, row, sizeof *row * (size_t)count, basis->row, &rows);
    if (!status) status = gpuopt__fetch(basis->context, where, val, sizeof *val * (size_t)count, basis->work, &values);
    if (!status) status = gpuopt__basis_check_sparse(basis, call, count, (const int32_t *)rows, (const double *)values);
    if (!status)
        status = gpuopt__basis_of(basis)->ftran_sparse(basis, where, count, (const int32_t *)rows,
                                                       (const double *)values, x);
    return status;
}

static gpuopt_status gpuopt__basis_ftran(gpuopt_basis *basis, const char *call, gpuopt_memory_space where,
                                         int32_t count, const int32_t *row, const double *rhs, double *x) {
    gpuopt_status status;
    if (row) status = gpuopt__basis_ftran_sparse(basis, call, where, count, row, rhs, x);
    else if (count != 0 && count != basis->m)
        status =
            gpuopt__refuse(basis->context, GPUOPT_ERROR_ARGUMENT, call, "row is NULL, and count is neither 0 nor m");
    else {
        status = gpuopt__basis_check_vector(basis, call, "rhs", where, rhs);
        if (!status) status = gpuopt__basis_of(basis)->ftran(basis, where, rhs, x);
    }
    if (!status) basis->has_pivot_column = 1;
    return status;
}

GPUOPT_API gpuopt_status gpuopt_basis_ftran(gpuopt_basis *basis, gpuopt_memory_space where, int32_t count,
                                            const int32_t *row, const double *rhs, double *x) {
    GPUOPT__CALL(basis, basis->context, gpuopt__basis_ftran(basis, call, where, count, row, rhs, x));
}

static gpuopt_status gpuopt__basis_btran(gpuopt_basis *basis, const char *call, gpuopt_memory_space where,
                                         int32_t position, const double *c, double *y) {
    gpuopt_status status;
    if (position != -1 && c)
        return gpuopt__refuse(basis->context, GPUOPT_ERROR_ARGUMENT, call, "c is given, and position is not -1");
    status = position != -1 ? gpuopt__basis_check_position(basis, call, position)
                            : gpuopt__basis_check_vector(basis, call, "c", where, c);
    if (!status) status = gpuopt__basis_check_result(basis, call, where, y, 0);
    if (status) return status;
    return position != -1 ? gpuopt__basis_of(basis)->btran_unit(basis, where, position, y)
                          : gpuopt__basis_of(basis)->btran(basis, where, c, y);
}

GPUOPT_API gpuopt_status gpuopt_basis_btran(gpuopt_basis *basis, gpuopt_memory_space where, int32_t position,
                                            const double *c, double *y) {
    GPUOPT__CALL(basis, basis->context, gpuopt__basis_btran(basis, call, where, position, c, y));
}

/* ---- Updates and reports ---- */

static gpuopt_status gpuopt__basis_update(gpuopt_basis *basis, const char *call, gpuopt_memory_space where,
                                          int32_t position, const double *alpha, gpuopt_basis_info *info) {
    gpuopt_status status = gpuopt__check_where(basis->context, call, where);
    if (!status) status = gpuopt__basis_check_position(basis, call, position);
    if (!status && alpha) status = gpuopt__basis_check_vector(basis, call, "alpha", where, alpha);
    if (status) return status;
    if (!info && alpha && where == GPUOPT_HOST)
        return gpuopt__refuse(basis->context, GPUOPT_ERROR_ARGUMENT, call,
                              "without info, alpha must be NULL or in device memory");
    if (!alpha && !basis->has_pivot_column)
        return gpuopt__refuse(basis->context, GPUOPT_ERROR_STATE, call,
                              "alpha is NULL, and there was no FTRAN since the latest load or update");
    status = gpuopt__basis_of(basis)->update(basis, where, position, alpha, info);
    if (status) return status;
    basis->has_pivot_column = 0;
    return GPUOPT_OK;
}

GPUOPT_API gpuopt_status gpuopt_basis_update(gpuopt_basis *basis, gpuopt_memory_space where, int32_t position,
                                             const double *alpha, gpuopt_basis_info *info) {
    GPUOPT__CALL_MAY_FILL(basis, basis->context, gpuopt_basis_info, info,
                          gpuopt__basis_update(basis, call, where, position, alpha, filled));
}

GPUOPT_API gpuopt_status gpuopt_basis_get_info(gpuopt_basis *basis, gpuopt_basis_info *info) {
    GPUOPT__CALL_FILLS(basis, basis->context, gpuopt_basis_info, info,
                       gpuopt__basis_of(basis)->get_info(basis, &filled));
}

static gpuopt_status gpuopt__basis_get_drift(gpuopt_basis *basis, const char *call, const gpuopt_matrix *columns,
                                             int exact, gpuopt_basis_drift *drift) {
    gpuopt_matrix by_columns;
    gpuopt__tidied tidied;
    gpuopt_status status;
    void *transposed = NULL;
    int32_t j;
    int64_t k;
    if (!columns) return gpuopt__refuse(basis->context, GPUOPT_ERROR_ARGUMENT, call, "columns is NULL");
    status = gpuopt__basis_check_shape(basis, call, columns);
    if (status) return status;
    status = gpuopt__basis_tidy(basis, call, columns, &tidied);
    if (!status)
        status = gpuopt__matrix_in(basis->context, &tidied.matrix, GPUOPT_LAYOUT_CSC, &by_columns, &transposed);
    if (status) {
        gpuopt__tidied_end(basis->context, call, &tidied);
        return status;
    }
    memset(basis->work, 0, sizeof(double) * (size_t)basis->m);
    for (j = 0; j < basis->m; j++)
        for (k = by_columns.start[j]; k < by_columns.start[j + 1]; k++)
            basis->work[by_columns.index[k]] += gpuopt__basis_drift_sign(j) * by_columns.value[k];
    drift->norm = -1;
    status = gpuopt__basis_of(basis)->get_drift(basis, &by_columns, basis->work, exact, drift);
    gpuopt__release(basis->context, GPUOPT_HOST, transposed);
    gpuopt__tidied_end(basis->context, call, &tidied);
    return status;
}

GPUOPT_API gpuopt_status gpuopt_basis_get_drift(gpuopt_basis *basis, const gpuopt_matrix *columns, int exact,
                                                gpuopt_basis_drift *drift) {
    GPUOPT__CALL_FILLS(basis, basis->context, gpuopt_basis_drift, drift,
                       gpuopt__basis_get_drift(basis, call, columns, exact, &filled));
}

static gpuopt_status gpuopt__basis_get_inverse(gpuopt_basis *basis, const char *call, gpuopt_memory_space where,
                                               double *inverse) {
    gpuopt_status status = gpuopt__basis_check_result(basis, call, where, inverse, 0);
    return status ? status : gpuopt__basis_of(basis)->get_inverse(basis, where, inverse);
}

GPUOPT_API gpuopt_status gpuopt_basis_get_inverse(gpuopt_basis *basis, gpuopt_memory_space where, double *inverse) {
    GPUOPT__CALL(basis, basis->context, gpuopt__basis_get_inverse(basis, call, where, inverse));
}

#endif /* GPUOPT_IMPL_BASIS_CALLS_H */
