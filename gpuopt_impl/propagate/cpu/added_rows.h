/* SPDX-License-Identifier: MIT
 *
 * Propagation on the CPU: rows that the caller adds and removes. Their entries follow one another in an array, and the
 * entries of a column are linked. Removed rows leave holes, which are closed when the array is full.
 */
#ifndef GPUOPT_IMPL_PROPAGATE_CPU_ADDED_ROWS_H
#define GPUOPT_IMPL_PROPAGATE_CPU_ADDED_ROWS_H

#include "typed.h"

static void gpuopt__propagator_added_clear(gpuopt__propagator_added *added, int32_t cols) {
    int32_t col;
    added->rows = added->used = added->live = 0;
    added->free_row = -1;
    for (col = 0; added->head && col < cols; col++) added->head[col] = -1;
}

/* After a change by the caller: forgets the verdict (the rows that led to it are still marked), and finds the lowest
 * column with crossing bounds. lowest: the lowest such column among the columns just set, or cols. */
static void gpuopt__propagator_cpu_reopen(gpuopt__propagator_cpu *p, int32_t lowest) {
    int32_t before = p->infeasible_col;
    p->infeasible_row = p->infeasible_col = -1;
    p->rounds_since_set = 0;
    if (p->crossed == 0) return;
    for (lowest = before < 0 ? lowest : 0; lowest < p->head.cols; lowest++) {
        double lb, ub;
        GPUOPT__PROPAGATOR_TYPED(p, load_bounds, (p, lowest, &lb, &ub));
        if (gpuopt__propagator_crossed(&p->head.rules, lb, ub)) break;
    }
    p->infeasible_col = lowest;
}

/* Changes the sides and numbers of a row. All data kept for the row are invalid, and it must be evaluated at all
 * levels. */
static void gpuopt__propagator_cpu_alter_row(gpuopt__propagator_cpu *p, int32_t row, double lhs, double rhs) {
    int32_t level;
    for (level = 0; level < p->levels; level++) { /* the row's mark leads to the same proof again */
        p->level[level].infeasible_row = -1;
        p->level[level].rounds_since_set = 0;
    }
    p->lhs[row] = gpuopt__propagator_normal_low(&p->head.rules, lhs);
    p->rhs[row] = gpuopt__propagator_normal_high(&p->head.rules, rhs);
    if (p->altered) p->altered[row] = p->changes;
    if (!p->kept) return; /* without marking all rows are evaluated anyway */
    p->kept[row].epoch = 0;
    gpuopt__propagator_cpu_mark_row(p, row, -1);
}

static void gpuopt__propagator_added_link(gpuopt__propagator_added *added, int32_t e) {
    int32_t *head = &added->head[added->col[e]];
    added->previous[e] = -1;
    added->next[e] = *head;
    if (*head >= 0) added->previous[*head] = e;
    *head = e;
}

static void gpuopt__propagator_added_unlink(gpuopt__propagator_added *added, int32_t e) {
    int32_t next = added->next[e], previous = added->previous[e];
    if (next >= 0) added->previous[next] = previous;
    if (previous >= 0) added->next[previous] = next;
    else added->head[added->col[e]] = next;
}

/* Closes the holes of removed rows. */
static void gpuopt__propagator_cpu_close_holes(gpuopt__propagator_cpu *p) {
    gpuopt__propagator_added *added = &p->added;
    int32_t from, to = 0;
    for (from = 0; from < added->used; from++) {
        int32_t row = added->row[from];
        if (row < 0) continue;
        if (from == added->first[row - p->head.rows]) added->first[row - p->head.rows] = to;
        if (from != to) {
            gpuopt__propagator_added_unlink(added, from);
            added->row[to] = row;
            added->col[to] = added->col[from];
            gpuopt__propagator_cpu_copy_stored(p, added->val, to, added->val, from);
            gpuopt__propagator_added_link(added, to);
        }
        to++;
    }
    added->used = to;
}

static int gpuopt__propagator_cpu_has_row(const gpuopt_propagator *propagator, int32_t row) {
    const gpuopt__propagator_added *added = &((const gpuopt__propagator_cpu *)propagator)->added;
    int32_t slot = row - propagator->rows;
    return slot < 0 || (slot < added->rows && added->length[slot] >= 0);
}

static gpuopt_status gpuopt__propagator_cpu_add_rows(gpuopt_propagator *propagator, const gpuopt_matrix *rows,
                                                     const double *lhs, const double *rhs, int32_t *row) {
    gpuopt__propagator_cpu *p = (gpuopt__propagator_cpu *)propagator;
    gpuopt__propagator_added *added = &p->added;
    int64_t entries = rows->start[rows->rows], k;
    int32_t i, slot, spare = p->head.spare_rows - added->rows;
    for (slot = added->free_row; slot >= 0 && spare < rows->rows; slot = added->next_free[slot]) spare++;
    if (spare < rows->rows || entries > p->head.spare_nonzeros - added->live)
        return gpuopt__refuse(p->head.context, GPUOPT_ERROR_MEMORY, "gpuopt_propagator_add_rows",
                              spare < rows->rows ? "more rows than desc->spare->rows"
                                                 : "more entries than desc->spare->nonzeros");
    if (entries > p->head.spare_nonzeros - added->used) gpuopt__propagator_cpu_close_holes(p);
    for (i = 0; i < rows->rows; i++) {
        int64_t first = rows->start[i];
        slot = added->free_row;
        if (slot >= 0) added->free_row = added->next_free[slot];
        else slot = added->rows++;
        added->first[slot] = added->used;
        added->length[slot] = (int32_t)(rows->start[i + 1] - first);
        for (k = first; k < rows->start[i + 1]; k++) {
            int32_t e = added->used++;
            added->col[e] = rows->index[k];
            added->row[e] = p->head.rows + slot;
            gpuopt__propagator_added_link(added, e);
        }
        if (p->head.rules.single)
            gpuopt__propagator_cpu_store_values_float((float *)added->val + added->first[slot], rows->value + first,
                                                      added->length[slot]);
        else
            gpuopt__propagator_cpu_store_values_double((double *)added->val + added->first[slot], rows->value + first,
                                                       added->length[slot]);
        gpuopt__propagator_cpu_alter_row(p, p->head.rows + slot, lhs ? lhs[i] : -HUGE_VAL, rhs ? rhs[i] : HUGE_VAL);
        if (row) row[i] = p->head.rows + slot;
    }
    added->live += (int32_t)entries;
    gpuopt__propagator_cpu_reopen(p, p->head.cols);
    return GPUOPT_OK;
}

static gpuopt_status gpuopt__propagator_cpu_remove_rows(gpuopt_propagator *propagator, int64_t count,
                                                        const int32_t *row) {
    gpuopt__propagator_cpu *p = (gpuopt__propagator_cpu *)propagator;
    gpuopt__propagator_added *added = &p->added;
    int64_t k;
    for (k = 0; k < count; k++) { /* a repeated row is found by a length below 0 */
        int32_t *length = &added->length[row[k] - p->head.rows];
        if (*length < 0) break;
        *length = -2 - *length;
    }
    if (k < count) {
        gpuopt__log(p->head.context, 0, "gpuopt_propagator_remove_rows: row %d is repeated", (int)row[k]);
        while (k-- > 0) added->length[row[k] - p->head.rows] = -2 - added->length[row[k] - p->head.rows];
        return GPUOPT_ERROR_ARGUMENT;
    }
    for (k = 0; k < count; k++) {
        int32_t slot = row[k] - p->head.rows, e;
        added->length[slot] = -2 - added->length[slot];
        for (e = added->first[slot]; e < added->first[slot] + added->length[slot]; e++) {
            gpuopt__propagator_added_unlink(added, e);
            added->row[e] = -1;
        }
        added->live -= added->length[slot];
        added->length[slot] = -1;
        added->next_free[slot] = added->free_row;
        added->free_row = slot;
        gpuopt__propagator_cpu_alter_row(p, row[k], -HUGE_VAL, HUGE_VAL);
    }
    gpuopt__propagator_cpu_reopen(p, p->head.cols);
    return GPUOPT_OK;
}

#endif /* GPUOPT_IMPL_PROPAGATE_CPU_ADDED_ROWS_H */
