/* SPDX-License-Identifier: MIT
 *
 * Steps of a load that both backends share: scaling B and ordering its columns.
 *
 * Rows and then columns of B are scaled by powers of two, so that their largest entries are in [1/2, 1). One tolerance
 * then separates small pivots from rounding errors, whatever units the caller uses. Columns with a single entry are
 * pivoted on first, since such a pivot scales one row and changes nothing else. The other columns are eliminated one
 * after the other, in the order of their numbers of entries, fewest first.
 */
#ifndef GPUOPT_IMPL_BASIS_LOAD_H
#define GPUOPT_IMPL_BASIS_LOAD_H

#include "../common/matrix.h"
#include "../common/numerics.h"
#include "backend.h"

/* The order of elimination. Arrays [m] in host memory, used only during a load. */
typedef struct gpuopt__basis_order {
    int32_t *entries; /* of a column */
    int32_t *only;    /* row of the entry of a column with a single entry; other columns: any row */
    int32_t *column;  /* the columns that need elimination, in order */
    int32_t *row_of;  /* the pivot row of a column; -1: none yet */
    int32_t *col_of;  /* the pivot column of a row; -1: none yet */
    int32_t left;     /* number of columns that need elimination */
} gpuopt__basis_order;

static inline void gpuopt__basis_order_cut(gpuopt__arena *arena, gpuopt__basis_order *order, int32_t m) {
    order->entries = (int32_t *)gpuopt__cut(arena, m, sizeof(int32_t));
    order->only = (int32_t *)gpuopt__cut(arena, m, sizeof(int32_t));
    order->column = (int32_t *)gpuopt__cut(arena, m, sizeof(int32_t));
    order->row_of = (int32_t *)gpuopt__cut(arena, m, sizeof(int32_t));
    order->col_of = (int32_t *)gpuopt__cut(arena, m, sizeof(int32_t));
}

/* Fills the other members from `entries` and `only`. Returns -1, or a column without entries. */
static inline int32_t gpuopt__basis_order_fill(gpuopt__basis_order *order, int32_t m) {
    int32_t j, i, at;
    int32_t *begin = order->row_of; /* scratch: where columns with 1, 2, .. m entries begin in `column` */
    for (j = 0; j < m; j++)
        if (order->entries[j] == 0) return j;
    memset(begin, 0, sizeof(int32_t) * (size_t)m);
    for (j = 0; j < m; j++) begin[order->entries[j] - 1]++;
    for (i = 0, at = 0; i < m; i++) {
        int32_t count = begin[i];
        begin[i] = at;
        at += count;
    }
    for (j = 0; j < m; j++) order->column[begin[order->entries[j] - 1]++] = j;
    for (i = 0; i < m; i++) order->row_of[i] = order->col_of[i] = -1;
    for (at = 0, order->left = 0; at < m; at++) {
        j = order->column[at];
        if (order->entries[j] == 1 && order->col_of[order->only[j]] < 0) {
            order->row_of[j] = order->only[j];
            order->col_of[order->only[j]] = j;
        } else {
            order->column[order->left++] = j;
        }
    }
    return -1;
}

/* ---- Scaling ---- */

/* The exponent e of a finite value other than 0, as by frexp: |value| is in [2^(e-1), 2^e). */
GPUOPT_HD int32_t gpuopt__basis_exponent(double value) {
    uint64_t bits;
    int32_t e;
    memcpy(&bits, &value, sizeof bits);
    e = (int32_t)(bits >> 52 & 0x7FF);
    if (e > 0) return e - 1022;
    for (e = -1022, bits &= UINT64_MAX >> 12; bits < (uint64_t)1 << 52; bits *= 2) e--; /* subnormal */
    return e + 1;
}

/* Scales of B, on the CPU. */
typedef struct gpuopt__basis_scales {
    int32_t *row, *col; /* [m]: entry (i, j) is scaled by 2^-(row[i] + col[j]) */
    double *pivot;      /* [m]: scaled pivot on a column with a single entry, by its row; 1 for other rows */
} gpuopt__basis_scales;

/* Entry (i, j) of the scaled matrix. */
static inline double gpuopt__basis_scaled(const gpuopt__basis_scales *scales, int32_t i, int32_t j, double value) {
    return ldexp(value, -(scales->row[i] + scales->col[j]));
}

/* Finds the exponents of the largest entries; a row without entries gets 0. Every column must have an entry. */
static inline void gpuopt__basis_find_scales(gpuopt__basis_scales *scales, const gpuopt__basis_order *order,
                                             const gpuopt_matrix *columns) {
    int32_t i, j, m = columns->cols;
    int64_t k;
    for (i = 0; i < m; i++) scales->row[i] = INT32_MIN;
    for (k = 0; k < columns->start[m]; k++) {
        int32_t e = gpuopt__basis_exponent(columns->value[k]);
        if (e > scales->row[columns->index[k]]) scales->row[columns->index[k]] = e;
    }
    for (i = 0; i < m; i++)
        if (scales->row[i] == INT32_MIN) scales->row[i] = 0;
    for (j = 0; j < m; j++) {
        scales->col[j] = INT32_MIN;
        for (k = columns->start[j]; k < columns->start[j + 1]; k++) {
            int32_t e = gpuopt__basis_exponent(columns->value[k]) - scales->row[columns->index[k]];
            if (e > scales->col[j]) scales->col[j] = e;
        }
    }
    for (i = 0; i < m; i++) {
        j = order->col_of[i];
        scales->pivot[i] = j < 0 ? 1 : gpuopt__basis_scaled(scales, i, j, columns->value[columns->start[j]]);
    }
}

/* Entry (i, j) of the matrix after the pivots on columns with a single entry, where elimination begins. */
static inline double gpuopt__basis_entry(const gpuopt__basis_scales *scales, const gpuopt__basis_order *order,
                                         int32_t i, int32_t j, double value) {
    if (order->row_of[j] >= 0) return 1 / scales->pivot[i];
    return gpuopt__basis_scaled(scales, i, j, value) / scales->pivot[i];
}

/* ---- The head ---- */

/* Cuts the host arrays of every backend's handle. Called twice, to measure and to assign, like gpuopt__cut. */
static inline void gpuopt__basis_cut(gpuopt__arena *arena, gpuopt_basis *head, gpuopt__basis_order *order) {
    head->mark = (int32_t *)gpuopt__cut(arena, head->m, sizeof(int32_t));
    head->row = (int32_t *)gpuopt__cut(arena, head->m, sizeof(int32_t));
    head->work = (double *)gpuopt__cut(arena, head->m, sizeof(double));
    gpuopt__basis_order_cut(arena, order, head->m);
}

static inline void gpuopt__basis_clear_marks(gpuopt_basis *basis) {
    int32_t i;
    for (i = 0; i < basis->m; i++) basis->mark[i] = -1;
}

/* Checks the entries of a matrix of checked shape. UNTIDY: it must be tidied. */
static inline gpuopt_status gpuopt__basis_check_entries(gpuopt_basis *basis, const char *call,
                                                        const gpuopt_matrix *columns) {
    gpuopt_status status =
        gpuopt__check_entries(basis->context, call, columns, GPUOPT__LEAST_DOUBLE, DBL_MAX, basis->mark, NULL);
    gpuopt__basis_clear_marks(basis);
    return status;
}

/* Component i of the vector e that _get_drift uses: 1 or -1, by the top bit of a multiplicative hash. */
GPUOPT_HD double gpuopt__basis_drift_sign(int32_t i) { return ((uint32_t)i * 2654435769u) >> 31 ? -1 : 1; }

#endif /* GPUOPT_IMPL_BASIS_LOAD_H */
