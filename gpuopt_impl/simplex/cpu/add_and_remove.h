/* SPDX-License-Identifier: MIT
 *
 * The simplex engine of the CPU: adds and removes rows and columns.
 *
 * A new row's slack is basic, so the inverse gets a border. With the entries r_B of the basic columns in the new row,
 * (B, 0; r_B, 1)^-1 is (B^-1, 0; -r_B B^-1, 1). Removing a row with a basic slack removes its row and column of the
 * inverse. The tableau changes likewise. A sparse inverse gets new factors at its next use.
 */
#ifndef GPUOPT_IMPL_SIMPLEX_CPU_ADD_AND_REMOVE_H
#define GPUOPT_IMPL_SIMPLEX_CPU_ADD_AND_REMOVE_H

#include "engine.h"
#include "../model/edit.h"

static gpuopt__simplex_lines gpuopt__simplex_cpu_lines(const gpuopt__simplex_cpu *s, int by_rows) {
    gpuopt__simplex_lines rows = {s->row_start, s->row_col, s->row_val, s->lp->rows};
    gpuopt__simplex_lines cols = {s->col_start, s->col_row, s->col_val, s->lp->cols};
    return by_rows ? rows : cols;
}

/* ---- New lines, behind the present ones ---- */

static gpuopt_status gpuopt__simplex_cpu_offer(void *engine, int by_rows, int scaling, const gpuopt_matrix *m,
                                               int *exact) {
    gpuopt__simplex_cpu *s = (gpuopt__simplex_cpu *)engine;
    gpuopt__simplex_lines to = gpuopt__simplex_cpu_lines(s, by_rows);
    gpuopt__simplex_take_lines(&to, by_rows, scaling, m, by_rows ? s->lp->col_scale : s->lp->row_scale,
                               by_rows ? s->lp->row_scale : s->lp->col_scale, exact);
    return GPUOPT_OK;
}

/* Widens the stored matrix to more rows; new rows are 0. */
static void gpuopt__simplex_cpu_widen(gpuopt__deferred *d, int32_t rows) {
    int32_t j, old_rows = d->rows;
    d->rows = rows;
    for (j = d->cols - 1; j >= 0; j--) {
        double *to = gpuopt__deferred_stored(d, j);
        memmove(to, d->matrix + (int64_t)j * old_rows, sizeof(double) * (size_t)old_rows);
        memset(to + old_rows, 0, sizeof(double) * (size_t)(rows - old_rows));
    }
}

/* The new position's row of B^-1 N, and its weight for the dual method: the norm of the row of B^-1. */
static void gpuopt__simplex_cpu_border(gpuopt__simplex_cpu *s, int32_t row, int32_t rows) {
    gpuopt__deferred *inverse = &s->inverse;
    double *border = s->row, norm = 1;
    int32_t i, j, cols = s->lp->cols;
    int64_t e;
    memset(s->by_col, 0, sizeof(double) * (size_t)cols);
    memset(s->multiplier, 0, sizeof(double) * (size_t)rows);
    for (e = s->row_start[row]; e < s->row_start[row + 1]; e++) s->by_col[s->row_col[e]] = s->row_val[e];
    for (i = 0; i < s->lp->rows; i++)
        if (s->v->head[i] < cols) s->multiplier[i] = s->by_col[s->v->head[i]];
    if (s->revised && s->weighs == (int)GPUOPT_DUAL_PRICING_STEEPEST_EDGE + 1) {
        memcpy(s->rho, s->multiplier, sizeof(double) * (size_t)s->lp->rows);
        gpuopt__simplex_sparse_btran(&s->sparse, s->rho);
        norm += gpuopt__dot(s->lp->rows, s->rho, s->rho);
    } else if (!s->revised) gpuopt__deferred_transposed_times(inverse, s->multiplier, border);
    for (j = 0; j < inverse->cols; j++) {
        double entry = (s->v->slot[j] < cols ? s->by_col[s->v->slot[j]] : 0) - border[j];
        gpuopt__deferred_stored(inverse, j)[row] = entry;
        if (s->v->slot[j] >= cols) norm += entry * entry;
    }
    s->dual_weight[row] = s->weighs == (int)GPUOPT_DUAL_PRICING_STEEPEST_EDGE + 1 ? norm : 1;
}

/* Before the inverse or tableau changes its size: applies pivots, and drops norms of another basis. */
static void gpuopt__simplex_cpu_settle(gpuopt__simplex_cpu *s) {
    if (!s->revised) gpuopt__deferred_apply(&s->inverse, gpuopt__team(s->context, s->threads));
    memset(s->norm, 0, sizeof(double) * ((size_t)s->lp->rows + (size_t)s->lp->cols));
    s->version++;
}

static gpuopt_status gpuopt__simplex_cpu_accept(void *engine, int by_rows, int32_t count) {
    gpuopt__simplex_cpu *s = (gpuopt__simplex_cpu *)engine;
    gpuopt__simplex_lines from = gpuopt__simplex_cpu_lines(s, by_rows), to = gpuopt__simplex_cpu_lines(s, !by_rows);
    int32_t k, rows = s->lp->rows;
    int64_t e;
    gpuopt_status status = by_rows ? gpuopt__simplex_cpu_ready(s) : GPUOPT_OK; /* for the border */
    if (status) return status;
    gpuopt__simplex_cpu_settle(s);
    if (by_rows) {
        gpuopt__simplex_cpu_widen(&s->inverse, rows + count);
        for (k = 0; k < count; k++) gpuopt__simplex_cpu_border(s, rows + k, rows + count);
        s->sparse.lost = 1;
    }
    for (k = 0; k < count && !by_rows && !s->revised; k++) {
        double *x = gpuopt__deferred_stored(&s->inverse, from.count + k);
        memset(x, 0, sizeof(double) * (size_t)rows);
        for (e = from.start[from.count + k]; e < from.start[from.count + k + 1]; e++) x[from.index[e]] = from.value[e];
        gpuopt__simplex_cpu_ftran(s, x);
    }
    if (!by_rows && !s->revised) s->inverse.cols += count;
    if (!by_rows) s->split.cols = s->split.end += count;
    gpuopt__simplex_insert_lines(&from, count, &to, by_rows ? s->list : s->changed);
    return GPUOPT_OK;
}

/* ---- Removing lines ---- */

/* Whether the position's variable is the slack of a removed row. */
static int gpuopt__simplex_cpu_goes(const gpuopt__simplex_cpu *s, int32_t position, const int32_t *to) {
    int32_t row = s->v->head[position] - s->lp->cols;
    return row >= 0 && to[row] < 0;
}

static gpuopt_status gpuopt__simplex_cpu_drop(void *engine, int by_rows, const int32_t *to) {
    gpuopt__simplex_cpu *s = (gpuopt__simplex_cpu *)engine;
    gpuopt__simplex_lines lines = gpuopt__simplex_cpu_lines(s, by_rows),
                          across = gpuopt__simplex_cpu_lines(s, !by_rows);
    gpuopt__deferred *d = &s->inverse;
    double *next = d->matrix;
    int32_t i, j, rows = 0, cols = 0;
    gpuopt__simplex_cpu_settle(s);
    gpuopt__simplex_take_out_lines(&lines, &across, to);
    for (j = 0; !by_rows && j < lines.count; j++) s->split.cols = s->split.end -= to[j] < 0;
    if (!by_rows && s->revised) return GPUOPT_OK;
    for (j = 0; j < d->cols; j++) {
        const double *column = gpuopt__deferred_stored(d, j);
        const int32_t variable = s->v->slot[j];
        if (!by_rows && variable < s->lp->cols && to[variable] < 0) continue;
        for (i = 0; i < d->rows; i++)
            if (!by_rows || !gpuopt__simplex_cpu_goes(s, i, to)) *next++ = column[i];
        cols++;
    }
    for (i = 0; i < d->rows; i++)
        if (!by_rows || !gpuopt__simplex_cpu_goes(s, i, to)) s->dual_weight[rows++] = s->dual_weight[i];
    d->rows = rows;
    d->cols = cols;
    s->sparse.lost = s->revised;
    return GPUOPT_OK;
}

#endif /* GPUOPT_IMPL_SIMPLEX_CPU_ADD_AND_REMOVE_H */
