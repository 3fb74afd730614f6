/* SPDX-License-Identifier: MIT
 *
 * Solves with the basis, and rows of the tableau, in the caller's units. The caller's basis matrix has columns of A
 * and, for the activity of row i, -e_i. The scaled basis matrix is R B D, with the scales R of rows and D of basic
 * variables.
 */
#ifndef GPUOPT_IMPL_SIMPLEX_API_BASIS_SOLVES_H
#define GPUOPT_IMPL_SIMPLEX_API_BASIS_SOLVES_H

#include "handle.h"

/* The scaled variable is the caller's variable divided by this, except for the scale common to all variables. */
static double gpuopt__simplex_unit(const gpuopt_simplex *s, int32_t variable) {
    return variable < s->lp.cols ? s->lp.col_scale[variable] : -1 / s->lp.row_scale[variable - s->lp.cols];
}

/* Makes the inverse of the present basis and head available: iterations may have changed them. */
static gpuopt_status gpuopt__simplex_present_inverse(gpuopt_simplex *s) {
    if (s->stale == GPUOPT__SIMPLEX_STALE_INVERSE) return gpuopt__simplex_fresh_to_read(s);
    return gpuopt__simplex_pull(s);
}

static gpuopt_status gpuopt__simplex_check_solves(const gpuopt_simplex *s, const char *call, gpuopt_memory_space where,
                                                  int64_t count, const void *array) {
    gpuopt_status status = gpuopt__check_where(s->context, call, where);
    if (!status && (count < 0 || (count > 0 && !array)))
        status = gpuopt__refuse(s->context, GPUOPT_ERROR_ARGUMENT, call, "an array is NULL or count negative");
    return status;
}

static gpuopt_status gpuopt__simplex_get_basic_variables(gpuopt_simplex *simplex, const char *call,
                                                         gpuopt_memory_space where, int32_t *head) {
    gpuopt_status status = gpuopt__simplex_check_solves(simplex, call, where, 1, head);
    if (!status) status = gpuopt__simplex_present_inverse(simplex);
    if (status) return status;
    return gpuopt__deliver(simplex->context, where, head, simplex->v.head,
                           sizeof(int32_t) * (uint64_t)simplex->lp.rows);
}

GPUOPT_API gpuopt_status gpuopt_simplex_get_basic_variables(gpuopt_simplex *simplex, gpuopt_memory_space where,
                                                            int32_t *head) {
    GPUOPT__SIMPLEX_CALL(gpuopt__simplex_get_basic_variables(simplex, call, where, head), where, head != NULL);
}

/* Solves for one right-hand side, in by_row. */
static gpuopt_status gpuopt__simplex_solve_one(gpuopt_simplex *s, int transposed) {
    double *x = s->by_row;
    int32_t i;
    gpuopt_status status;
    for (i = 0; i < s->lp.rows; i++) x[i] *= transposed ? gpuopt__simplex_unit(s, s->v.head[i]) : s->lp.row_scale[i];
    status = transposed ? gpuopt__simplex_backend_of(s)->btran(s->engine, x)
                        : gpuopt__simplex_backend_of(s)->ftran(s->engine, x);
    for (i = 0; i < s->lp.rows; i++) x[i] *= transposed ? s->lp.row_scale[i] : gpuopt__simplex_unit(s, s->v.head[i]);
    return status;
}

static gpuopt_status gpuopt__simplex_solve_all(gpuopt_simplex *s, const char *call, gpuopt_memory_space where,
                                               int64_t count, double *x, int transposed) {
    gpuopt_status status = gpuopt__simplex_check_solves(s, call, where, count, x);
    uint64_t bytes;
    int64_t k;
    if (!status) status = gpuopt__simplex_present_inverse(s);
    if (status) return status;
    bytes = sizeof(double) * (uint64_t)s->lp.rows;
    for (k = 0; k < count && !status; k++) {
        double *one = x + k * s->lp.rows;
        const void *found = NULL;
        status = gpuopt__fetch(s->context, where, one, bytes, s->by_row, &found);
        if (status) break;
        if (where == GPUOPT_HOST) memcpy(s->by_row, one, (size_t)bytes);
        status = gpuopt__simplex_solve_one(s, transposed);
        if (!status) status = gpuopt__deliver(s->context, where, one, s->by_row, bytes);
    }
    return status;
}

GPUOPT_API gpuopt_status gpuopt_simplex_ftran(gpuopt_simplex *simplex, gpuopt_memory_space where, int64_t count,
                                              double *x) {
    GPUOPT__SIMPLEX_CALL(gpuopt__simplex_solve_all(simplex, call, where, count, x, 0), where, count,
                         gpuopt__simplex_array_fingerprint(where, x, count, sizeof(double) * (size_t)simplex->lp.rows));
}

GPUOPT_API gpuopt_status gpuopt_simplex_btran(gpuopt_simplex *simplex, gpuopt_memory_space where, int64_t count,
                                              double *y) {
    GPUOPT__SIMPLEX_CALL(gpuopt__simplex_solve_all(simplex, call, where, count, y, 1), where, count,
                         gpuopt__simplex_array_fingerprint(where, y, count, sizeof(double) * (size_t)simplex->lp.rows));
}

/* row [cols + rows] = a position's row of B^-1 [A I], scaled. It is computed as minus the reduced costs of y. */
static gpuopt_status gpuopt__simplex_table_row(gpuopt_simplex *s, int32_t position, double *row) {
    const gpuopt__simplex_backend *backend = gpuopt__simplex_backend_of(s);
    int32_t j, both = s->lp.cols + s->lp.rows;
    gpuopt_status status;
    memset(s->by_row, 0, sizeof(double) * (size_t)s->lp.rows);
    memset(s->scratch_low, 0, sizeof(double) * (size_t)both);
    s->by_row[position] = 1;
    status = backend->btran(s->engine, s->by_row);
    if (!status) status = backend->reduce(s->engine, s->scratch_low, s->by_row, NULL, row, NULL);
    for (j = 0; j < both && !status; j++) row[j] = -row[j];
    return status;
}

static gpuopt_status gpuopt__simplex_get_tableau_rows(gpuopt_simplex *s, const char *call, gpuopt_memory_space where,
                                                      int64_t count, const int32_t *position, double *rows) {
    gpuopt_status status = gpuopt__simplex_check_solves(s, call, where, count, rows);
    int32_t j, both;
    int64_t k;
    if (!status && count > 0 && !position)
        status = gpuopt__refuse(s->context, GPUOPT_ERROR_ARGUMENT, call, "position is NULL");
    if (!status) status = gpuopt__check_indices(s->context, call, "position", count, position, s->lp.rows);
    if (!status) status = gpuopt__simplex_present_inverse(s);
    if (status) return status;
    both = s->lp.cols + s->lp.rows;
    for (k = 0; k < count && !status; k++) {
        double scale = gpuopt__simplex_unit(s, s->v.head[position[k]]);
        status = gpuopt__simplex_table_row(s, position[k], s->scratch);
        for (j = 0; j < both && !status; j++) s->scratch[j] *= scale / gpuopt__simplex_unit(s, j);
        if (!status)
            status = gpuopt__deliver(s->context, where, rows + k * both, s->scratch, sizeof(double) * (uint64_t)both);
    }
    return status;
}

GPUOPT_API gpuopt_status gpuopt_simplex_get_tableau_rows(gpuopt_simplex *simplex, gpuopt_memory_space where,
                                                         int64_t count, const int32_t *position, double *rows) {
    GPUOPT__SIMPLEX_CALL(gpuopt__simplex_get_tableau_rows(simplex, call, where, count, position, rows), where, count,
                         rows != NULL,
                         gpuopt__simplex_array_fingerprint(GPUOPT_HOST, position, count, sizeof(int32_t)));
}

#endif /* GPUOPT_IMPL_SIMPLEX_API_BASIS_SOLVES_H */
