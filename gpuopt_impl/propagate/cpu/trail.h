/* SPDX-License-Identifier: MIT
 *
 * Propagation on the CPU: levels, changes, and reasons.
 */
#ifndef GPUOPT_IMPL_PROPAGATE_CPU_TRAIL_H
#define GPUOPT_IMPL_PROPAGATE_CPU_TRAIL_H

#include "typed.h"

/* ---- Undo ---- */

/* Undoes changes until `changes` remain. */
static void gpuopt__propagator_cpu_undo(gpuopt__propagator_cpu *p, int32_t changes) {
    while (p->changes > changes) {
        const gpuopt__propagator_change *c = &p->trail[--p->changes];
        p->last[c->side] = c->previous;
        if (c->row < 0) {
            uint8_t *kind = &p->kind[c->side >> 1];
            *kind = (uint8_t)((*kind & GPUOPT__PROPAGATOR_INTEGER) |
                              (c->row == GPUOPT__PROPAGATOR_HOST_OF_FIXED ? GPUOPT__PROPAGATOR_FIXED : 0));
        }
        GPUOPT__PROPAGATOR_TYPED(p, move, (p, c->side, c->old_bound, 1, GPUOPT__PROPAGATOR_NO_MARKS));
    }
}

static gpuopt_status gpuopt__propagator_cpu_push(gpuopt_propagator *propagator, int64_t *start) {
    gpuopt__propagator_cpu *p = (gpuopt__propagator_cpu *)propagator;
    gpuopt__propagator_level *level;
    if (p->levels == p->head.trail_capacity)
        return gpuopt__refuse(p->head.context, GPUOPT_ERROR_MEMORY, "gpuopt_propagator_push",
                              "there are as many levels as trail_capacity");
    level = &p->level[p->levels++];
    level->start = p->changes;
    level->due_start = p->due_count;
    level->infeasible_row = p->infeasible_row;
    level->infeasible_col = p->infeasible_col;
    level->all_marked = p->all_marked;
    level->rounds_since_set = p->rounds_since_set;
    if (start) *start = p->changes;
    return GPUOPT_OK;
}

static gpuopt_status gpuopt__propagator_cpu_pop(gpuopt_propagator *propagator, int32_t levels) {
    gpuopt__propagator_cpu *p = (gpuopt__propagator_cpu *)propagator;
    const gpuopt__propagator_level *level;
    if (levels > p->levels)
        return gpuopt__refuse(p->head.context, GPUOPT_ERROR_ARGUMENT, "gpuopt_propagator_pop",
                              "there are not so many levels");
    if (levels == 0) return GPUOPT_OK;
    level = &p->level[p->levels -= levels];
    gpuopt__propagator_cpu_undo(p, level->start);
    gpuopt__propagator_cpu_unmark(p, level->start);
    while (p->due_count > level->due_start) gpuopt__propagator_cpu_mark_row(p, p->due[--p->due_count], -1);
    p->infeasible_row = level->infeasible_row;
    p->infeasible_col = level->infeasible_col;
    p->all_marked = level->all_marked;
    p->rounds_since_set = level->rounds_since_set;
    return GPUOPT_OK;
}

static gpuopt_status gpuopt__propagator_cpu_keep(gpuopt_propagator *propagator) {
    gpuopt__propagator_cpu *p = (gpuopt__propagator_cpu *)propagator;
    int64_t k;
    int32_t row;
    while (p->changes > 0) p->last[p->trail[--p->changes].side] = -1;
    p->levels = p->due_count = 0;
    for (k = 0; k < p->queued; k++) p->since[p->queue[k]] = -1;
    for (row = p->sequential ? gpuopt__propagator_sweep_next(p, 0) : -1; row >= 0;
         row = gpuopt__propagator_sweep_next(p, row + 1))
        p->since[row] = -1;
    return GPUOPT_OK;
}

/* ---- Changes ---- */

static gpuopt_status gpuopt__propagator_cpu_get_trail(gpuopt_propagator *propagator, gpuopt_propagator_trail *trail) {
    const gpuopt__propagator_cpu *p = (const gpuopt__propagator_cpu *)propagator;
    trail->levels = p->levels;
    trail->changes = p->changes;
    trail->level_start = p->levels > 0 ? p->level[p->levels - 1].start : 0;
    return GPUOPT_OK;
}

static gpuopt_status gpuopt__propagator_cpu_get_changes(gpuopt_propagator *propagator, gpuopt_memory_space where,
                                                        int64_t from, gpuopt_propagator_changes *changes) {
    const gpuopt__propagator_cpu *p = (const gpuopt__propagator_cpu *)propagator;
    (void)where; /* host memory: the public calls refuse any other */
    return gpuopt__propagator_write_changes(p->head.context, p->trail, p->changes, from, changes);
}

/* ---- Reasons ---- */

static gpuopt_status gpuopt__propagator_cpu_open_row(gpuopt__propagator_evidence *e, int32_t row) {
    const gpuopt__propagator_cpu *p = (const gpuopt__propagator_cpu *)e->owner;
    int added = row >= p->head.rows;
    int64_t first = added ? p->added.first[row - p->head.rows] : p->matrix.start[row];
    const char *val = (const char *)(added ? p->added.val : p->matrix.val);
    e->altered = p->altered[row];
    e->col = (added ? p->added.col : p->matrix.col) + first;
    e->val = val + (size_t)first * (p->head.rules.single ? sizeof(float) : sizeof(double));
    e->length = gpuopt__propagator_cpu_row_length(p, row);
    e->lhs = p->lhs[row];
    e->rhs = p->rhs[row];
    return GPUOPT_OK;
}

static gpuopt_status gpuopt__propagator_cpu_explain(gpuopt_propagator *propagator, int64_t change,
                                                    gpuopt_propagator_reason *reason) {
    gpuopt__propagator_cpu *p = (gpuopt__propagator_cpu *)propagator;
    gpuopt__propagator_evidence e;
    memset(&e, 0, sizeof e);
    e.context = p->head.context;
    e.trail = p->trail;
    e.changes = p->changes;
    e.last = p->last;
    e.infeasible_row = p->infeasible_row;
    e.infeasible_col = p->infeasible_col;
    e.open_row = gpuopt__propagator_cpu_open_row;
    e.owner = p;
    e.bounds = p->bounds;
    e.kind = p->kind;
    e.single = p->head.rules.single;
    return gpuopt__propagator_explain(&e, change, reason);
}

#endif /* GPUOPT_IMPL_PROPAGATE_CPU_TRAIL_H */
