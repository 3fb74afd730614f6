/* SPDX-License-Identifier: MIT
 *
 * Propagation on the CPU: levels, what changed, and why.
 */
#ifndef GPUOPT_IMPL_PROPAGATE_CPU_TRAIL_H
#define GPUOPT_IMPL_PROPAGATE_CPU_TRAIL_H

#include "cpu_typed.h"

/* ---- Back ---- */

/* Takes changes back until so many are left. */
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

/* ---- What changed ---- */

static gpuopt_status gpuopt__propagator_cpu_get_trail(gpuopt_propagator *propagator, gpuopt_propagator_trail *trail) {
    const gpuopt__propagator_cpu *p = (const gpuopt__propagator_cpu *)propagator;
    trail->levels = p->levels;
    trail->changes = p->changes;
    trail->level_start = p->levels > 0 ? p->level[p->levels - 1].start : 0;
    return GPUOPT_OK;
}

static gpuopt_status gpuopt__propagator_cpu_get_changes(gpuopt_propagator *propagator, gpuopt_memory where,
                                                        int64_t from, gpuopt_propagator_changes *changes) {
    const gpuopt__propagator_cpu *p = (const gpuopt__propagator_cpu *)propagator;
    int64_t k;
    (void)where; /* host memory: the public calls refuse any other */
    if (from > p->changes)
        return gpuopt__refuse(p->head.context, GPUOPT_ERROR_ARGUMENT, "gpuopt_propagator_get_changes",
                              "from is beyond the end of the trail");
    changes->count = p->changes - from;
    for (k = 0; k < changes->count && k < changes->capacity; k++) {
        const gpuopt__propagator_change *c = &p->trail[from + k];
        if (changes->col) changes->col[k] = (int32_t)(c->side >> 1);
        if (changes->upper) changes->upper[k] = c->side & 1;
        if (changes->old_bound) changes->old_bound[k] = c->old_bound;
        if (changes->new_bound) changes->new_bound[k] = c->new_bound;
        if (changes->row) changes->row[k] = c->row >= 0 ? c->row : -1;
    }
    return GPUOPT_OK;
}

/* ---- Why ---- */

/* A bound of an entry's column, as a row saw it: the latest of the changes at positions below `seen`. */
typedef struct gpuopt__propagator_seen {
    double bound, first; /* then, and at level 0 */
    int32_t at;          /* position of the change; -1: there was none */
} gpuopt__propagator_seen;

static gpuopt__propagator_seen gpuopt__propagator_cpu_seen(const gpuopt__propagator_cpu *p, uint32_t side,
                                                           int32_t seen) {
    gpuopt__propagator_seen result;
    int32_t at = p->last[side];
    result.bound = gpuopt__propagator_cpu_stored(p, p->bounds, side);
    for (; at >= seen; at = p->trail[at].previous) result.bound = p->trail[at].old_bound;
    result.at = at;
    result.first = result.bound;
    for (; at >= 0; at = p->trail[at].previous) result.first = p->trail[at].old_bound;
    return result;
}

/* Why sum s of a row (0: the rhs limits it; 1: the lhs, negated), without the term of column `but` (-1: none), is at
 * least what it is. */
typedef struct gpuopt__propagator_why {
    int32_t row, but, seen;
    int s;
    double spare; /* as much less would be enough; below 0: not even that is */
} gpuopt__propagator_why;

/* The row's coefficient in sum s, and the side of the column that the sum takes. */
static double gpuopt__propagator_cpu_term(const gpuopt__propagator_cpu *p, const gpuopt__propagator_why *why, int64_t k,
                                          uint32_t *side) {
    int added = why->row >= p->head.rows;
    int64_t at = k + (added ? p->added.first[why->row - p->head.rows] : p->matrix.start[why->row]);
    double a = gpuopt__propagator_cpu_stored(p, added ? p->added.val : p->matrix.val, at), c = why->s ? -a : a;
    *side = 2 * (uint32_t)(added ? p->added.col : p->matrix.col)[at] + (c < 0);
    return c;
}

/* What the sum has to spare over `needed`, rounded down. */
static double gpuopt__propagator_cpu_spare(const gpuopt__propagator_cpu *p, const gpuopt__propagator_why *why,
                                           double needed, double needed_low) {
    double hi = 0, lo = 0, size = fabs(needed), spare;
    int64_t k, length = gpuopt__propagator_cpu_row_length(p, why->row);
    for (k = 0; k < length; k++) {
        uint32_t side;
        double c = gpuopt__propagator_cpu_term(p, why, k, &side), bound, term;
        if ((int32_t)(side >> 1) == why->but) continue;
        bound = gpuopt__propagator_cpu_seen(p, side, why->seen).bound;
        term = gpuopt__mul(c, bound);
        if (!(fabs(term) < HUGE_VAL)) return -HUGE_VAL;
        size += fabs(term);
        gpuopt__accumulate(&hi, &lo, term, gpuopt__mul_error(c, bound, term));
    }
    gpuopt__accumulate(&hi, &lo, -needed, -needed_low);
    spare = gpuopt__add(hi, lo);
    return spare - (fabs(spare) * 0x1p-50 + (double)(length + 8) * 0x1p-98 * size + 0x1p-1000);
}

/* Counts the premises and, if there is room for all of them, writes them. */
static void gpuopt__propagator_cpu_premises(const gpuopt__propagator_cpu *p, gpuopt__propagator_why why,
                                            gpuopt_propagator_reason *reason) {
    int64_t k, length = gpuopt__propagator_cpu_row_length(p, why.row);
    for (k = 0; k < length; k++) {
        uint32_t side;
        double c = gpuopt__propagator_cpu_term(p, &why, k, &side), loss;
        gpuopt__propagator_seen seen;
        if ((int32_t)(side >> 1) == why.but) continue;
        seen = gpuopt__propagator_cpu_seen(p, side, why.seen);
        if (seen.at < 0) continue;
        loss = gpuopt__mul(c, gpuopt__sub(seen.bound, seen.first)) * (1 + 0x1p-50) + 0x1p-1000; /* rounded up */
        if (c > 0 ? seen.bound <= seen.first : seen.bound >= seen.first) continue;
        if (loss < why.spare) {
            why.spare = (why.spare - loss) * (1 - 0x1p-50);
            continue;
        }
        if (reason->premises && reason->count < reason->capacity) reason->premises[reason->count] = seen.at;
        reason->count++;
    }
}

/* Puts positions into ascending order. */
static void gpuopt__propagator_cpu_sort_positions(int64_t *position, int64_t count) {
    int64_t root, end, k;
    for (root = count / 2, end = count; end > 1;) { /* a heap of the first `end` */
        int64_t value;
        if (root > 0) value = position[--root];
        else value = position[--end], position[end] = position[0];
        for (k = root; 2 * k + 1 < end;) {
            int64_t child = 2 * k + 1;
            if (child + 1 < end && position[child + 1] > position[child]) child++;
            if (position[child] <= value) break;
            position[k] = position[child];
            k = child;
        }
        position[k] = value;
    }
}

static gpuopt_status gpuopt__propagator_cpu_explain_change(const gpuopt__propagator_cpu *p, int32_t at,
                                                           gpuopt_propagator_reason *reason) {
    const gpuopt__propagator_change *c = &p->trail[at];
    int upper = (int)(c->side & 1);
    double v = c->new_bound, a, product;
    gpuopt__propagator_why why;
    uint32_t side;
    int64_t k;
    reason->col = (int32_t)(c->side >> 1);
    reason->row = c->row >= 0 ? c->row : -1;
    if (c->row < 0) return GPUOPT_OK;
    if (at < p->altered[c->row])
        return gpuopt__refuse(p->head.context, GPUOPT_ERROR_STATE, "gpuopt_propagator_explain",
                              "the row was changed or removed since");
    why.row = c->row;
    why.but = reason->col;
    why.seen = c->seen;
    why.s = 0;
    for (k = 0; a = gpuopt__propagator_cpu_term(p, &why, k, &side), (int32_t)(side >> 1) != why.but; k++) {}
    if ((a > 0) != upper) why.s = 1, a = -a; /* in the sum, c x <= side - the rest gives an upper bound if c > 0 */
    if (p->kind[why.but] & GPUOPT__PROPAGATOR_INTEGER) v = gpuopt__add(v, upper ? 1 : -1);
    product = gpuopt__mul(a, v); /* needed: the rest above (integer) or at least (continuous) side - a v */
    {
        double low, high = gpuopt__two_sum(why.s ? -p->lhs[why.row] : p->rhs[why.row], -product, &low);
        why.spare = gpuopt__propagator_cpu_spare(p, &why, high, gpuopt__sub(low, gpuopt__mul_error(a, v, product)));
    }
    gpuopt__propagator_cpu_premises(p, why, reason);
    return GPUOPT_OK;
}

static void gpuopt__propagator_cpu_explain_row(const gpuopt__propagator_cpu *p, gpuopt_propagator_reason *reason) {
    gpuopt__propagator_why why[2];
    int s;
    reason->row = p->infeasible_row;
    for (s = 0; s < 2; s++) {
        double side = s ? -p->lhs[reason->row] : p->rhs[reason->row];
        why[s].row = reason->row;
        why[s].but = -1;
        why[s].seen = p->changes;
        why[s].s = s;
        why[s].spare = side < HUGE_VAL ? gpuopt__propagator_cpu_spare(p, &why[s], side, 0) : -HUGE_VAL;
    }
    gpuopt__propagator_cpu_premises(p, why[why[1].spare > why[0].spare], reason);
}

static gpuopt_status gpuopt__propagator_cpu_explain(gpuopt_propagator *propagator, int64_t change,
                                                    gpuopt_propagator_reason *reason) {
    const gpuopt__propagator_cpu *p = (const gpuopt__propagator_cpu *)propagator;
    gpuopt_status status = GPUOPT_OK;
    reason->count = 0;
    reason->row = reason->col = -1;
    if (change >= p->changes)
        return gpuopt__refuse(p->head.context, GPUOPT_ERROR_ARGUMENT, "gpuopt_propagator_explain",
                              "there is no such change");
    if (change < 0 && !gpuopt__propagator_cpu_is_infeasible(p))
        return gpuopt__refuse(p->head.context, GPUOPT_ERROR_STATE, "gpuopt_propagator_explain",
                              "nothing has proven infeasibility");
    if (change >= 0) {
        status = gpuopt__propagator_cpu_explain_change(p, (int32_t)change, reason);
    } else if (p->infeasible_row >= 0) {
        gpuopt__propagator_cpu_explain_row(p, reason);
    } else {
        uint32_t upper;
        reason->col = p->infeasible_col;
        for (upper = 0; upper < 2; upper++) {
            int32_t at = p->last[2 * (uint32_t)reason->col + upper];
            if (at < 0) continue;
            if (reason->premises && reason->count < reason->capacity) reason->premises[reason->count] = at;
            reason->count++;
        }
    }
    if (reason->premises && reason->count <= reason->capacity)
        gpuopt__propagator_cpu_sort_positions(reason->premises, reason->count);
    return status;
}

#endif /* GPUOPT_IMPL_PROPAGATE_CPU_TRAIL_H */
