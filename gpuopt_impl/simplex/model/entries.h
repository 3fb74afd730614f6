/* SPDX-License-Identifier: MIT
 *
 * The entries of the caller's matrix: checks them, and stores them by columns.
 */
#ifndef GPUOPT_IMPL_SIMPLEX_MODEL_ENTRIES_H
#define GPUOPT_IMPL_SIMPLEX_MODEL_ENTRIES_H

#include "../../common/tidy_matrix.h"
#include "scaling.h"

/* Checks a dense matrix, and counts the entries that are not 0. */
static inline gpuopt_status gpuopt__simplex_check_dense(const gpuopt_context *context, const char *call,
                                                        const gpuopt__simplex_options *desc, int64_t *nonzeros) {
    int64_t k, size = (int64_t)desc->matrix.rows * desc->matrix.cols, count = 0, strange = 0;
    *nonzeros = 0;
    if (size == 0) return GPUOPT_OK;
    if (!desc->dense) return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "matrix.start and dense are NULL");
    for (k = 0; k < size; k++) {
        strange += !(fabs(desc->dense[k]) < HUGE_VAL);
        count += desc->dense[k] != 0;
    }
    *nonzeros = count;
    return strange ? gpuopt__check_finite(context, call, "dense", size, desc->dense) : GPUOPT_OK;
}

/* Stores a checked matrix of any layout by columns. */
static inline void gpuopt__simplex_fill_columns(const gpuopt__simplex_options *desc, int64_t *col_start,
                                                int32_t *col_row, double *col_val) {
    const gpuopt_matrix *m = &desc->matrix;
    int32_t i, j;
    int64_t e = 0;
    if (m->start && m->layout == GPUOPT_LAYOUT_CSR) {
        gpuopt__transpose(m->rows, m->cols, m->start, m->index, m->value, col_start, col_row, col_val, NULL);
    } else if (m->start) {
        memcpy(col_start, m->start, sizeof(int64_t) * ((size_t)m->cols + 1));
        if (m->start[m->cols] == 0) return;
        memcpy(col_row, m->index, sizeof(int32_t) * (size_t)m->start[m->cols]);
        memcpy(col_val, m->value, sizeof(double) * (size_t)m->start[m->cols]);
    } else {
        for (j = 0; j < m->cols; j++) {
            const double *column = desc->dense + (int64_t)j * m->rows;
            col_start[j] = e;
            for (i = 0; i < m->rows; i++) {
                if (column[i] == 0) continue;
                col_row[e] = i;
                col_val[e++] = column[i];
            }
        }
        col_start[m->cols] = e;
    }
}

/* Stores a checked matrix by rows, from its columns. */
static inline void gpuopt__simplex_fill_rows(const gpuopt__simplex_options *desc, const int64_t *col_start,
                                             const int32_t *col_row, const double *col_val, int64_t *row_start,
                                             int32_t *row_col, double *row_val) {
    const gpuopt_matrix *m = &desc->matrix;
    if (!m->start || m->layout == GPUOPT_LAYOUT_CSC) {
        gpuopt__transpose(m->cols, m->rows, col_start, col_row, col_val, row_start, row_col, row_val, NULL);
        return;
    }
    memcpy(row_start, m->start, sizeof(int64_t) * ((size_t)m->rows + 1));
    if (m->start[m->rows] == 0) return;
    memcpy(row_col, m->index, sizeof(int32_t) * (size_t)m->start[m->rows]);
    memcpy(row_val, m->value, sizeof(double) * (size_t)m->start[m->rows]);
}

#endif /* GPUOPT_IMPL_SIMPLEX_MODEL_ENTRIES_H */
