/* SPDX-License-Identifier: MIT
 *
 * Adds rows and columns to a handle, within its spare capacity, and removes them. The basis and its inverse stay valid:
 *
 *     a new row         its slack becomes basic
 *     a removed row     its slack must be basic: if it is not, a pivot makes it so
 *     a new column      becomes nonbasic
 *     a removed column  must be nonbasic: if it is not, a pivot makes it so
 *
 * Later rows and columns move down in their numbers.
 */
#ifndef GPUOPT_IMPL_SIMPLEX_API_ADD_AND_REMOVE_H
#define GPUOPT_IMPL_SIMPLEX_API_ADD_AND_REMOVE_H

#include "../../common/deferred.h"
#include "change.h"
#include "basis_solves.h"

/* ---- Weights of exact steepest edge ---- */

/* Adds sign times the squares of a position's row of B^-1 N to the norms of the columns. */
static gpuopt_status gpuopt__simplex_weigh_row(gpuopt_simplex *s, int32_t position, double sign) {
    int32_t j;
    gpuopt_status status;
    if (s->desc.pricing != GPUOPT_PRICING_STEEPEST_EDGE || s->weights_of == 0) return GPUOPT_OK;
    status = gpuopt__simplex_table_row(s, position, s->scratch);
    for (j = 0; j < s->lp.cols && !status; j++) {
        double entry = s->scratch[s->v.slot[j]];
        s->v.weight[j] = gpuopt__max(1, s->v.weight[j] + sign * entry * entry);
    }
    return status;
}

static gpuopt_status gpuopt__simplex_weigh_slot(gpuopt_simplex *s, int32_t slot) {
    gpuopt_status status;
    s->v.weight[slot] = 1;
    if (s->desc.pricing != GPUOPT_PRICING_STEEPEST_EDGE || s->weights_of == 0) return GPUOPT_OK;
    status = gpuopt__simplex_backend_of(s)->column(s->engine, slot, s->by_row);
    s->v.weight[slot] = 1 + gpuopt__dot(s->lp.rows, s->by_row, s->by_row);
    return status;
}

/* ---- Numbers ---- */

/* The data of variables that outlive a rebuild. */
enum { GPUOPT__SIMPLEX_KEPT_OF_VARIABLES = 7 };
static void gpuopt__simplex_kept_of_variables(gpuopt_simplex *s, double *kept[GPUOPT__SIMPLEX_KEPT_OF_VARIABLES]) {
    double *const list[] = {s->cost, s->lower, s->upper, s->work_lower, s->work_upper, s->x, s->x_low};
    memcpy(kept, list, sizeof list);
}

/* Adds `by` to the slacks' numbers, for new columns. */
static void gpuopt__simplex_shift_logicals(gpuopt_simplex *s, int32_t by) {
    double *kept[GPUOPT__SIMPLEX_KEPT_OF_VARIABLES];
    const int32_t cols = s->lp.cols;
    const size_t rows = (size_t)s->lp.rows;
    int32_t i, k;
    gpuopt__simplex_kept_of_variables(s, kept);
    for (k = 0; k < GPUOPT__SIMPLEX_KEPT_OF_VARIABLES; k++)
        memmove(kept[k] + cols + by, kept[k] + cols, sizeof(double) * rows);
    memmove(s->status + cols + by, s->status + cols, rows);
    for (i = 0; i < s->lp.rows; i++)
        if (s->v.head[i] >= cols) s->v.head[i] += by;
    for (i = 0; i < cols; i++)
        if (s->v.slot[i] >= cols) s->v.slot[i] += by;
}

/* Renumbers the variables to to[], which ascends; -1: the variable is removed. */
static void gpuopt__simplex_renumber(gpuopt_simplex *s, const int32_t *to, int32_t first, int32_t count) {
    double *kept[GPUOPT__SIMPLEX_KEPT_OF_VARIABLES];
    const int32_t both = s->lp.cols + s->lp.rows;
    int32_t j, k, next, gone = 0;
    gpuopt__simplex_kept_of_variables(s, kept);
    for (j = 0; j < both; j++) {
        int goes = j >= first && j < first + count && to[j - first] < 0;
        gone += goes;
        if (goes || gone == 0) continue;
        for (k = 0; k < GPUOPT__SIMPLEX_KEPT_OF_VARIABLES; k++) kept[k][j - gone] = kept[k][j];
        s->status[j - gone] = s->status[j];
    }
    for (k = 0; k < 2; k++) {
        int32_t *list = k == 0 ? s->v.head : s->v.slot, length = k == 0 ? s->lp.rows : s->lp.cols;
        next = 0;
        for (j = 0; j < length; j++) {
            int32_t variable = list[j];
            if (variable >= first + count) variable -= gone;
            else if (variable >= first && to[variable - first] < 0) continue;
            else if (variable >= first) variable = first + to[variable - first];
            if (k == 1) s->v.weight[next] = s->v.weight[j];
            list[next++] = variable;
        }
    }
}

/* ---- Arguments ---- */

static gpuopt_status gpuopt__simplex_can_grow(const gpuopt_simplex *s, const char *call) {
    const gpuopt_status status =
        gpuopt__ranks_refuse(s->context, call, s->desc.group, "rows and columns of a tableau that a group shares stay");
    if (status) return status;
    if (s->shape.grows || !gpuopt__simplex_backend_of(s)->drops_with_spare) return GPUOPT_OK;
    return gpuopt__refuse(s->context, GPUOPT_ERROR_UNSUPPORTED, call,
                          "with this backend a handle needs spare rows, columns or nonzeros from create on");
}

/* Checks the matrix of new lines, and that they fit. The caller must end *tidied in every case. */
static gpuopt_status gpuopt__simplex_check_lines(const gpuopt_simplex *s, const char *call, int by_rows,
                                                 const gpuopt_matrix *m, gpuopt__tidied *tidied) {
    const int32_t across = by_rows ? s->lp.cols : s->lp.rows,
                  spare = by_rows ? s->shape.rows - s->lp.rows : s->shape.cols - s->lp.cols;
    int32_t count;
    gpuopt_status status;
    memset(tidied, 0, sizeof *tidied);
    if (!m) return gpuopt__refuse(s->context, GPUOPT_ERROR_ARGUMENT, call, "the matrix is NULL");
    status = gpuopt__check_matrix_shape(s->context, call, m);
    if (status) return status;
    count = by_rows ? m->rows : m->cols;
    if ((by_rows ? m->cols : m->rows) != across) {
        gpuopt__log(s->context, 0, "%s: the matrix has %d %s, the handle %d", call, (int)(by_rows ? m->cols : m->rows),
                    by_rows ? "columns" : "rows", (int)across);
        return GPUOPT_ERROR_ARGUMENT;
    }
    if (count <= spare)
        status = gpuopt__tidy_matrix(s->context, call, m, GPUOPT__LEAST_DOUBLE, DBL_MAX, s->queue, NULL, tidied);
    if (status) return status;
    if (count > spare || tidied->matrix.start[gpuopt__matrix_lines(m)] > s->shape.nonzeros - s->lp.nonzeros) {
        gpuopt__log(s->context, 0, "%s: too little spare capacity: %d more %s, and %lld more nonzeros fit", call,
                    (int)spare, by_rows ? "rows" : "columns", (long long)(s->shape.nonzeros - s->lp.nonzeros));
        return GPUOPT_ERROR_MEMORY;
    }
    return GPUOPT_OK;
}

/* Fills s->queue with the new numbers of the rows or columns, -1 for listed ones. *left: how many remain. */
static gpuopt_status gpuopt__simplex_check_gone(gpuopt_simplex *s, const char *call, int64_t count, const int32_t *list,
                                                int by_rows, int32_t *left) {
    const int32_t lines = by_rows ? s->lp.rows : s->lp.cols;
    const char *name = by_rows ? "row" : "col";
    int64_t k;
    int32_t j;
    gpuopt_status status;
    if (count < 0 || (count > 0 && !list))
        return gpuopt__refuse(s->context, GPUOPT_ERROR_ARGUMENT, call, "count is negative, or the list is NULL");
    status = gpuopt__check_indices(s->context, call, name, count, list, lines);
    if (status) return status;
    memset(s->queue, 0, sizeof(int32_t) * (size_t)lines);
    for (k = 0; k < count; k++) {
        if (s->queue[list[k]] < 0) {
            gpuopt__log(s->context, 0, "%s: %s %d is repeated", call, name, (int)list[k]);
            return GPUOPT_ERROR_ARGUMENT;
        }
        s->queue[list[k]] = -1;
    }
    *left = 0;
    for (j = 0; j < lines; j++)
        if (s->queue[j] == 0) s->queue[j] = (*left)++;
    return GPUOPT_OK;
}

/* ---- Adding ---- */

/* Scales a caller's value for a new line. Sets *exact to 0 if scaling rounds it. */
static double gpuopt__simplex_new_value(const double *list, int32_t k, double otherwise, double infinity, double scale,
                                        int *exact) {
    return gpuopt__simplex_scaled(gpuopt__simplex_side(list, k, otherwise, infinity), scale, exact);
}

/* Values of the offered lines, written behind the present variables. Values of new columns move later. */
static gpuopt_status gpuopt__simplex_new_values(gpuopt_simplex *s, const char *call, int by_rows, int32_t count,
                                                const double *cost, const double *low, const double *high, int set) {
    int32_t k, at = by_rows ? s->lp.cols + s->lp.rows : s->lp.cols;
    for (k = 0; k < count; k++) {
        const double infinity = s->desc.infinity;
        const double by =
            by_rows ? -(s->lp.row_scale[s->lp.rows + k] * s->primal_scale) : s->primal_scale / s->lp.col_scale[at + k];
        const double costs =
            by_rows ? 1 : (s->desc.maximize ? -s->cost_scale : s->cost_scale) * s->lp.col_scale[at + k];
        int exact = 1;
        double l = gpuopt__simplex_new_value(low, k, by_rows ? -HUGE_VAL : 0, infinity, by, &exact);
        double u = gpuopt__simplex_new_value(high, k, HUGE_VAL, infinity, by, &exact);
        double c = cost ? gpuopt__simplex_scaled(cost[k], costs, &exact) : 0;
        if (!exact) return gpuopt__simplex_inexact(s, call, k);
        if (!set) continue;
        s->lower[at + k] = by_rows ? u : l;
        s->upper[at + k] = by_rows ? l : u;
        s->cost[at + k] = c;
        s->x[at + k] = s->x_low[at + k] = 0;
        s->status[at + k] = (uint8_t)(by_rows ? GPUOPT_VARIABLE_BASIC : GPUOPT_VARIABLE_AT_LOWER);
        gpuopt__simplex_work_bounds(s, at + k);
    }
    return GPUOPT_OK;
}

static gpuopt_status gpuopt__simplex_grow(gpuopt_simplex *s, const char *call, int by_rows, const gpuopt_matrix *m,
                                          const double *cost, const double *low, const double *high) {
    const gpuopt__simplex_backend *backend = gpuopt__simplex_backend_of(s);
    const int32_t count = by_rows ? m->rows : m->cols;
    int32_t k;
    int exact;
    gpuopt_status status;
    if (count == 0) return GPUOPT_OK;
    status = backend->offer(s->engine, by_rows, s->desc.scaling != GPUOPT_OFF, m, &exact);
    if (!status && !exact)
        status = gpuopt__refuse(s->context, GPUOPT_ERROR_NUMERIC, call,
                                "an entry of the matrix would overflow or lose digits when scaled");
    if (!status) status = gpuopt__simplex_new_values(s, call, by_rows, count, cost, low, high, 0);
    if (!status) status = gpuopt__simplex_present_inverse(s);
    if (!status) status = backend->accept(s->engine, by_rows, count);
    if (status) return status;
    s->models++;
    if (!by_rows) gpuopt__simplex_shift_logicals(s, count);
    status = gpuopt__simplex_new_values(s, call, by_rows, count, cost, low, high, 1);
    s->lp.nonzeros += m->start[gpuopt__matrix_lines(m)];
    for (k = 0; k < count; k++)
        if (by_rows) s->v.head[s->lp.rows + k] = s->lp.cols + s->lp.rows + k;
        else s->v.slot[s->lp.cols + k] = s->lp.cols + k;
    if (by_rows) s->lp.rows += count;
    else s->lp.cols += count;
    status = status ? status : backend->push(s->engine);
    for (k = 0; k < count && !status; k++)
        status = by_rows ? gpuopt__simplex_weigh_row(s, s->lp.rows - count + k, 1)
                         : gpuopt__simplex_weigh_slot(s, s->lp.cols - count + k);
    if (status == GPUOPT_ERROR_MEMORY) { /* the lines are in place: the next run resets the weights */
        s->weights_of = 0;
        status = GPUOPT_OK;
    }
    gpuopt__simplex_find_crossing(s);
    return status ? status : gpuopt__simplex_changed(s);
}

static gpuopt_status gpuopt__simplex_add_rows(gpuopt_simplex *simplex, const char *call, const gpuopt_matrix *rows,
                                              const double *lhs, const double *rhs) {
    gpuopt__tidied tidied;
    gpuopt_status status = gpuopt__simplex_can_grow(simplex, call);
    if (status) return status;
    status = gpuopt__simplex_check_lines(simplex, call, 1, rows, &tidied);
    if (!status)
        status =
            gpuopt__check_pairs(simplex->context, call, "lhs", "rhs", rows->rows, lhs, rhs, simplex->desc.infinity, 0);
    if (!status) status = gpuopt__simplex_grow(simplex, call, 1, &tidied.matrix, NULL, lhs, rhs);
    gpuopt__tidied_end(simplex->context, call, &tidied);
    return status;
}

GPUOPT_API gpuopt_status gpuopt_simplex_add_rows(gpuopt_simplex *simplex, const gpuopt_matrix *rows, const double *lhs,
                                                 const double *rhs) {
    GPUOPT__CALL(simplex, simplex->context, gpuopt__simplex_add_rows(simplex, call, rows, lhs, rhs));
}

static gpuopt_status gpuopt__simplex_add_cols(gpuopt_simplex *simplex, const char *call, const gpuopt_matrix *cols,
                                              const double *cost, const double *lb, const double *ub) {
    gpuopt__tidied tidied;
    gpuopt_status status = gpuopt__simplex_can_grow(simplex, call);
    if (status) return status;
    status = gpuopt__simplex_check_lines(simplex, call, 0, cols, &tidied);
    if (!status) status = gpuopt__check_finite(simplex->context, call, "cost", cols->cols, cost);
    if (!status)
        status = gpuopt__check_pairs(simplex->context, call, "lb", "ub", cols->cols, lb, ub, simplex->desc.infinity, 1);
    if (!status) status = gpuopt__simplex_grow(simplex, call, 0, &tidied.matrix, cost, lb, ub);
    gpuopt__tidied_end(simplex->context, call, &tidied);
    return status;
}

GPUOPT_API gpuopt_status gpuopt_simplex_add_cols(gpuopt_simplex *simplex, const gpuopt_matrix *cols, const double *cost,
                                                 const double *lb, const double *ub) {
    GPUOPT__CALL(simplex, simplex->context, gpuopt__simplex_add_cols(simplex, call, cols, cost, lb, ub));
}

/* ---- Removing ---- */

/* Pivots the variable in a slot into a position. If the pivot is too small for the inverse, the next rebuild recomputes
 * the inverse and repairs the basis. */
static gpuopt_status gpuopt__simplex_swap(gpuopt_simplex *s, int32_t slot, int32_t position) {
    const int32_t enters = s->v.slot[slot], leaves = s->v.head[position];
    const double x = s->x[leaves];
    int32_t wanted = position, found = -1;
    gpuopt_status status;
    memset(s->refactoring.open, 0, (size_t)s->lp.rows);
    s->refactoring.open[position] = 1;
    status = gpuopt__simplex_backend_of(s)->exchange(s->engine, 1, &slot, &wanted, 1e-9, s->refactoring.open, &found);
    if (status) return status;
    if (found < 0) s->stale = GPUOPT__SIMPLEX_STALE_INVERSE;
    s->v.head[position] = enters;
    s->v.slot[slot] = leaves;
    s->status[enters] = GPUOPT_VARIABLE_BASIC;
    s->status[leaves] = (uint8_t)(s->work_upper[leaves] - x < x - s->work_lower[leaves] ? GPUOPT_VARIABLE_AT_UPPER
                                                                                        : GPUOPT_VARIABLE_AT_LOWER);
    s->weights_of = 0;
    return gpuopt__simplex_backend_of(s)->push(s->engine);
}

/* Makes the nonbasic slack in the slot basic, at its column's largest entry. Avoids positions of rows to be removed. */
static gpuopt_status gpuopt__simplex_free_row(gpuopt_simplex *s, int32_t slot) {
    int32_t i, position = -1;
    gpuopt_status status = gpuopt__simplex_backend_of(s)->column(s->engine, slot, s->by_row);
    for (i = 0; i < s->lp.rows && !status; i++) {
        int32_t row = s->v.head[i] - s->lp.cols;
        if (row >= 0 && s->queue[row] < 0) continue;
        if (position < 0 || fabs(s->by_row[i]) > fabs(s->by_row[position])) position = i;
    }
    return status ? status : gpuopt__simplex_swap(s, slot, position);
}

/* Makes the basic column in the position nonbasic: another variable that remains takes its place. */
static gpuopt_status gpuopt__simplex_free_col(gpuopt_simplex *s, int32_t position) {
    int32_t j, slot = -1;
    gpuopt_status status = gpuopt__simplex_table_row(s, position, s->scratch);
    for (j = 0; j < s->lp.cols && !status; j++) {
        int32_t variable = s->v.slot[j];
        if (variable < s->lp.cols && s->queue[variable] < 0) continue;
        if (slot < 0 || fabs(s->scratch[variable]) > fabs(s->scratch[s->v.slot[slot]])) slot = j;
    }
    return status ? status : gpuopt__simplex_swap(s, slot, position);
}

static gpuopt_status gpuopt__simplex_shrink(gpuopt_simplex *s, const char *call, int by_rows, int64_t count,
                                            const int32_t *list) {
    const gpuopt__simplex_backend *backend = gpuopt__simplex_backend_of(s);
    const int32_t lines = by_rows ? s->lp.rows : s->lp.cols, first = by_rows ? s->lp.cols : 0;
    double *scale = by_rows ? s->lp.row_scale : s->lp.col_scale;
    int32_t k, left;
    gpuopt_status status = gpuopt__simplex_can_grow(s, call);
    if (!status) status = gpuopt__simplex_check_gone(s, call, count, list, by_rows, &left);
    if (status || count == 0) return status;
    status = gpuopt__simplex_need_pattern(s);
    if (!status) status = gpuopt__simplex_present_inverse(s);
    if (!status) status = gpuopt__simplex_check_gone(s, call, count, list, by_rows, &left); /* s->queue was in use */
    for (k = 0; k < (by_rows ? s->lp.cols : s->lp.rows) && !status; k++) {
        int32_t line = (by_rows ? s->v.slot[k] : s->v.head[k]) - first;
        if (line < 0 || line >= lines || s->queue[line] >= 0) continue;
        status = by_rows ? gpuopt__simplex_free_row(s, k) : gpuopt__simplex_free_col(s, k);
    }
    for (k = 0; k < s->lp.rows && by_rows && !status; k++)
        if (s->v.head[k] >= first && s->queue[s->v.head[k] - first] < 0) status = gpuopt__simplex_weigh_row(s, k, -1);
    if (!status) status = backend->drop(s->engine, by_rows, s->queue);
    if (status == GPUOPT_ERROR_MEMORY) { /* pivots may have happened */
        s->weights_of = 0;
        gpuopt__simplex_changed(s);
    }
    if (status) return status;
    s->models++;
    gpuopt__simplex_renumber(s, s->queue, first, lines);
    for (k = 0; k < lines; k++)
        if (s->queue[k] >= 0) scale[s->queue[k]] = scale[k];
    if (by_rows) s->lp.rows = left;
    else s->lp.cols = left;
    s->lp.nonzeros = s->pattern.row_start[s->lp.rows];
    gpuopt__simplex_find_crossing(s);
    return gpuopt__simplex_changed(s);
}

GPUOPT_API gpuopt_status gpuopt_simplex_remove_rows(gpuopt_simplex *simplex, int64_t count, const int32_t *row) {
    GPUOPT__CALL(simplex, simplex->context, gpuopt__simplex_shrink(simplex, call, 1, count, row));
}

GPUOPT_API gpuopt_status gpuopt_simplex_remove_cols(gpuopt_simplex *simplex, int64_t count, const int32_t *col) {
    GPUOPT__CALL(simplex, simplex->context, gpuopt__simplex_shrink(simplex, call, 0, count, col));
}

#endif /* GPUOPT_IMPL_SIMPLEX_API_ADD_AND_REMOVE_H */
