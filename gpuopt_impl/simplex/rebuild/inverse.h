/* SPDX-License-Identifier: MIT
 *
 * Refactoring. The basic columns are pivoted in, one after the other, starting from the slack basis. The order keeps
 * the triangular part of the basis triangular. (An engine with sparse factors factors all columns at once, in its own
 * order.)
 */
#ifndef GPUOPT_IMPL_SIMPLEX_REBUILD_INVERSE_H
#define GPUOPT_IMPL_SIMPLEX_REBUILD_INVERSE_H

#include "../model/handle.h"

static gpuopt_status gpuopt__simplex_need_pattern(gpuopt_simplex *s) {
    return s->pattern.col_start ? GPUOPT_OK : gpuopt__simplex_backend_of(s)->pattern(s->engine, &s->pattern);
}

static void gpuopt__simplex_order_place(gpuopt_simplex *s, int32_t *placed, int32_t col, int32_t row) {
    s->refactoring.wanted[*placed] = row;
    s->refactoring.order[(*placed)++] = col;
    s->refactoring.col_count[col] = -1;
    if (row >= 0) s->refactoring.open[row] = 0;
}

/* Column singletons: columns with one entry in the open rows. Each closes its row, which may make further columns
 * singletons. Entries in closed rows do not matter, since their elimination is exact. */
static void gpuopt__simplex_order_by_columns(gpuopt_simplex *s, int32_t *placed) {
    const gpuopt__simplex_pattern *in = &s->pattern;
    int32_t j, head = 0, tail = 0;
    int64_t e;
    for (j = 0; j < s->lp.cols; j++)
        if (s->refactoring.col_count[j] == 1) s->queue[tail++] = j;
    while (head < tail) {
        int32_t col = s->queue[head++];
        if (s->refactoring.col_count[col] != 1) continue; /* another column has taken its row */
        for (e = in->col_start[col]; !s->refactoring.open[in->col_row[e]];) e++;
        j = in->col_row[e];
        gpuopt__simplex_order_place(s, placed, col, j);
        for (e = in->row_start[j]; e < in->row_start[j + 1]; e++)
            if (s->refactoring.col_count[in->row_col[e]] > 0 && --s->refactoring.col_count[in->row_col[e]] == 1)
                s->queue[tail++] = in->row_col[e];
    }
}

/* Row singletons: open rows with an entry in only one remaining column. Pivoting there changes no other column. */
static void gpuopt__simplex_order_by_rows(gpuopt_simplex *s, int32_t *placed) {
    const gpuopt__simplex_pattern *in = &s->pattern;
    int32_t i, j, head = 0, tail = 0;
    int64_t e;
    memset(s->refactoring.row_count, 0, sizeof(int32_t) * (size_t)s->lp.rows);
    for (j = 0; j < s->lp.cols; j++)
        for (e = in->col_start[j]; s->refactoring.col_count[j] > 0 && e < in->col_start[j + 1]; e++)
            s->refactoring.row_count[in->col_row[e]]++;
    for (i = 0; i < s->lp.rows; i++)
        if (s->refactoring.open[i] && s->refactoring.row_count[i] == 1) s->queue[tail++] = i;
    while (head < tail) {
        int32_t row = s->queue[head++];
        if (!s->refactoring.open[row] || s->refactoring.row_count[row] != 1) continue;
        for (e = in->row_start[row]; s->refactoring.col_count[in->row_col[e]] <= 0;) e++;
        j = in->row_col[e];
        gpuopt__simplex_order_place(s, placed, j, row);
        for (e = in->col_start[j]; e < in->col_start[j + 1]; e++)
            if (--s->refactoring.row_count[in->col_row[e]] == 1 && s->refactoring.open[in->col_row[e]])
                s->queue[tail++] = in->col_row[e];
    }
}

/* Fills order and wanted with the basic columns of status, and `open` with the rows that they must fill. Returns the
 * number of basic columns. */
static int32_t gpuopt__simplex_order(gpuopt_simplex *s) {
    const gpuopt__simplex_lp *lp = &s->lp;
    const gpuopt__simplex_pattern *in = &s->pattern;
    int32_t i, j, length, placed = 0, longest = 0;
    int64_t e;
    for (i = 0; i < lp->rows; i++) s->refactoring.open[i] = s->status[lp->cols + i] != GPUOPT_VARIABLE_BASIC;
    for (j = 0; j < lp->cols; j++) {
        s->refactoring.col_count[j] = s->status[j] == GPUOPT_VARIABLE_BASIC ? 0 : -1;
        if (s->refactoring.col_count[j] < 0) continue;
        for (e = in->col_start[j]; e < in->col_start[j + 1]; e++)
            s->refactoring.col_count[j] += s->refactoring.open[in->col_row[e]];
    }
    gpuopt__simplex_order_by_columns(s, &placed);
    gpuopt__simplex_order_by_rows(s, &placed);
    for (j = 0; j < lp->cols; j++)
        longest = s->refactoring.col_count[j] > longest ? s->refactoring.col_count[j] : longest;
    for (length = 0; length <= longest; length++) /* the remaining columns, sparse ones first */
        for (j = 0; j < lp->cols; j++)
            if (s->refactoring.col_count[j] == length) gpuopt__simplex_order_place(s, &placed, j, -1);
    for (i = 0; i < lp->rows; i++) s->refactoring.open[i] = s->status[lp->cols + i] != GPUOPT_VARIABLE_BASIC;
    return placed;
}

/* Moves columns in order[0 .. count - 1] without a position to the front. Returns their number. */
static int32_t gpuopt__simplex_keep_refused(gpuopt_simplex *s, int32_t count) {
    int32_t k, kept = 0;
    for (k = 0; k < count; k++) {
        int32_t col = s->refactoring.order[k], row = s->refactoring.position[k];
        if (row >= 0) {
            s->v.head[row] = col;
            s->v.slot[col] = s->lp.cols + row;
            continue;
        }
        s->refactoring.wanted[kept] = -1;
        s->refactoring.order[kept++] = col;
    }
    return kept;
}

/* Fills head and slots from status, in ascending order, if there is no inverse. */
static void gpuopt__simplex_head_from_status(gpuopt_simplex *s) {
    int32_t variable, position = 0, slot = 0;
    for (variable = 0; variable < s->lp.cols + s->lp.rows; variable++)
        if (s->status[variable] == GPUOPT_VARIABLE_BASIC) s->v.head[position++] = variable;
        else s->v.slot[slot++] = variable;
}

/* Builds the engine's matrix, head and slots for the basis in status. *singular: columns left out because they depend
 * on others, listed in order. Slacks stay basic in their place, and status is changed to match. */
static gpuopt_status gpuopt__simplex_reinvert(gpuopt_simplex *s, int32_t *singular) {
    const gpuopt__simplex_backend *backend = gpuopt__simplex_backend_of(s);
    int32_t i, j, k, count, pass;
    gpuopt_status status = gpuopt__simplex_need_pattern(s);
    if (status) return status;
    count = gpuopt__simplex_order(s);
    s->refactorizations++;
    for (j = 0; j < s->lp.cols; j++)
        s->phase_cost[s->v.slot[j]] = s->v.weight[j]; /* weights stay with their variables */
    for (i = 0; i < s->lp.rows; i++) s->phase_cost[s->v.head[i]] = 1;
    status = backend->reset(s->engine);
    for (i = 0; i < s->lp.rows; i++) s->v.head[i] = s->lp.cols + i;
    for (j = 0; j < s->lp.cols; j++) s->v.slot[j] = j;
    for (pass = 0; pass < 2 && count > 0 && !status; pass++) {
        double least = pass > 0 && s->stage == GPUOPT__SIMPLEX_STAGE_EXTENDED ? 1e-14 : 1e-9;
        status = backend->enter(s->engine, count, s->refactoring.order, s->refactoring.wanted, least,
                                s->refactoring.open, s->refactoring.position);
        if (!status) count = gpuopt__simplex_keep_refused(s, count);
    }
    if (status) gpuopt__simplex_head_from_status(s);
    for (j = 0; j < s->lp.cols; j++) s->v.weight[j] = s->phase_cost[s->v.slot[j]];
    if (status) {
        s->stale = GPUOPT__SIMPLEX_STALE_INVERSE;
        s->since_rebuild = 0; /* status and x are up to date with the engine */
        return status;
    }
    for (k = 0; k < count; k++) s->status[s->refactoring.order[k]] = GPUOPT_VARIABLE_AT_LOWER;
    for (i = 0; i < s->lp.rows; i++)
        if (s->refactoring.open[i]) s->status[s->lp.cols + i] = GPUOPT_VARIABLE_BASIC;
    *singular = count;
    return status;
}

#endif /* GPUOPT_IMPL_SIMPLEX_REBUILD_INVERSE_H */
