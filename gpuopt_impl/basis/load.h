/* SPDX-License-Identifier: MIT
 *
 * What both backends do with the columns of B before they invert it. Rows and then columns of B are scaled by powers
 * of two so that their largest entries are in [1/2, 1): one tolerance then tells a pivot that is small from one that is
 * a rounding error, whatever units the host uses. Pivots on columns with a single entry come first, since such a pivot
 * scales one row and changes nothing else. The other columns are eliminated one after the other, those with the fewest
 * entries first.
 */
#ifndef GPUOPT_IMPL_BASIS_LOAD_H
#define GPUOPT_IMPL_BASIS_LOAD_H

#include "../common/numerics.h"
#include "backend.h"

/* How columns are to be eliminated. Arrays [m] each, in host memory; used during a load only. */
typedef struct gpuopt__basis_load_plan {
    int32_t *order;                 /* the columns that need elimination, in order */
    int32_t *row_of;                /* the pivot row of a column; -1: none yet */
    int32_t *col_of;                /* the column that a row is the pivot row of; -1: none yet */
    int32_t *row_scale, *col_scale; /* entry (i, j) is scaled by 2^-(row_scale[i] + col_scale[j]) */
    double *row_pivot;              /* the scaled pivot of a row whose column has a single entry; 1 for other rows */
    int32_t left;                   /* columns that need elimination */
} gpuopt__basis_load_plan;

static inline void gpuopt__basis_load_plan_cut(gpuopt__arena *arena, gpuopt__basis_load_plan *plan, int32_t m) {
    plan->order = (int32_t *)gpuopt__cut(arena, m, sizeof(int32_t));
    plan->row_of = (int32_t *)gpuopt__cut(arena, m, sizeof(int32_t));
    plan->col_of = (int32_t *)gpuopt__cut(arena, m, sizeof(int32_t));
    plan->row_scale = (int32_t *)gpuopt__cut(arena, m, sizeof(int32_t));
    plan->col_scale = (int32_t *)gpuopt__cut(arena, m, sizeof(int32_t));
    plan->row_pivot = (double *)gpuopt__cut(arena, m, sizeof(double));
}

/* Entry (i, j) of the scaled matrix. */
static inline double gpuopt__basis_scaled(const gpuopt__basis_load_plan *plan, int32_t i, int32_t j, double value) {
    return ldexp(value, -(plan->row_scale[i] + plan->col_scale[j]));
}

/* Finds the exponents of the largest entries; a row or column without entries gets 0. */
static inline void gpuopt__basis_load_plan_scale(gpuopt__basis_load_plan *plan, const gpuopt_matrix *columns) {
    int32_t j, e, m = columns->cols;
    int64_t k;
    memset(plan->col_scale, 0, sizeof(int32_t) * (size_t)m);
    for (j = 0; j < m; j++) plan->row_scale[j] = INT32_MIN;
    for (k = 0; k < columns->start[m]; k++) {
        (void)frexp(columns->value[k], &e);
        if (e > plan->row_scale[columns->index[k]]) plan->row_scale[columns->index[k]] = e;
    }
    for (j = 0; j < m; j++)
        if (plan->row_scale[j] == INT32_MIN) plan->row_scale[j] = 0;
    for (j = 0; j < m; j++) {
        int32_t most = INT32_MIN;
        for (k = columns->start[j]; k < columns->start[j + 1]; k++) {
            (void)frexp(columns->value[k], &e);
            e -= plan->row_scale[columns->index[k]];
            if (e > most) most = e;
        }
        if (most != INT32_MIN) plan->col_scale[j] = most;
    }
}

/* Makes the plan for columns, which are checked and m x m. Returns -1, or a column without entries. */
static inline int32_t gpuopt__basis_load_plan_fill(gpuopt__basis_load_plan *plan, const gpuopt_matrix *columns) {
    int32_t j, i, at, m = columns->cols;
    int32_t *begin = plan->row_of; /* as scratch: where in `order` the columns with 1, 2, .. m entries begin */
    for (j = 0; j < m; j++)
        if (columns->start[j + 1] == columns->start[j]) return j;
    gpuopt__basis_load_plan_scale(plan, columns);
    memset(begin, 0, sizeof(int32_t) * (size_t)m);
    for (j = 0; j < m; j++) begin[columns->start[j + 1] - columns->start[j] - 1]++;
    for (i = 0, at = 0; i < m; i++) {
        int32_t count = begin[i];
        begin[i] = at;
        at += count;
    }
    for (j = 0; j < m; j++) plan->order[begin[columns->start[j + 1] - columns->start[j] - 1]++] = j;
    for (i = 0; i < m; i++) {
        plan->row_of[i] = plan->col_of[i] = -1;
        plan->row_pivot[i] = 1;
    }
    for (at = 0, plan->left = 0; at < m; at++) {
        j = plan->order[at];
        if (columns->start[j + 1] - columns->start[j] == 1) {
            int64_t k = columns->start[j];
            i = columns->index[k];
            if (plan->col_of[i] < 0) {
                plan->row_of[j] = i;
                plan->col_of[i] = j;
                plan->row_pivot[i] = gpuopt__basis_scaled(plan, i, j, columns->value[k]);
                continue;
            }
        }
        plan->order[plan->left++] = j;
    }
    return -1;
}

/* Entry (i, j) of the matrix that elimination begins with, after the pivots on columns with a single entry. */
static inline double gpuopt__basis_entry(const gpuopt__basis_load_plan *plan, int32_t i, int32_t j, double value) {
    if (plan->row_of[j] >= 0) return 1 / plan->row_pivot[i];
    return gpuopt__basis_scaled(plan, i, j, value) / plan->row_pivot[i];
}

/* ---- The head ---- */

/* Cuts the host arrays that every backend's handle has. Called twice, to measure and to assign, like gpuopt__cut. */
static inline void gpuopt__basis_cut(gpuopt__arena *arena, gpuopt_basis *head, gpuopt__basis_load_plan *plan) {
    head->mark = (int32_t *)gpuopt__cut(arena, head->m, sizeof(int32_t));
    head->row = (int32_t *)gpuopt__cut(arena, head->m, sizeof(int32_t));
    head->work = (double *)gpuopt__cut(arena, head->m, sizeof(double));
    gpuopt__basis_load_plan_cut(arena, plan, head->m);
}

static inline void gpuopt__basis_clear_marks(gpuopt_basis *basis) {
    int32_t i;
    for (i = 0; i < basis->m; i++) basis->mark[i] = -1;
}

/* Component i of the vector e that _get_drift uses: 1 or -1, by the top bit of a multiplicative hash. */
GPUOPT_HD double gpuopt__basis_drift_sign(int32_t i) { return ((uint32_t)i * 2654435769u) >> 31 ? -1 : 1; }

#endif /* GPUOPT_IMPL_BASIS_LOAD_H */
