/* SPDX-License-Identifier: MIT
 *
 * Propagation on the CPU: Jacobi rounds over a queue of marked rows, on one or several threads, and sequential sweeps
 * (Algorithm 1 of the paper).
 *
 * A Jacobi round reads `bounds`, improves `next` and lists each bound that it moves. Then it copies these bounds from
 * `next` to `bounds` and marks the rows of their columns. So neither the order of rows nor the number of threads
 * matters.
 */
#ifndef GPUOPT_IMPL_PROPAGATE_CPU_ROUNDS_H
#define GPUOPT_IMPL_PROPAGATE_CPU_ROUNDS_H

#include "typed.h"

/* From this many nonzeros on several threads pay: one thread takes a few times as long as starting them. */
enum { GPUOPT__PROPAGATOR_SHARED_FROM = 20000 };

/* The results of a thread in its part of a round's step. */
typedef struct gpuopt__propagator_cpu_found {
    int32_t infeasible_row, infeasible_col; /* INT32_MAX: none */
    int64_t evaluated;                      /* nonzeros of the rows evaluated */
    int64_t crossed;                        /* columns with newly crossing bounds, less columns that no longer cross */
    double shrinkage;                       /* the largest of the moves */
} gpuopt__propagator_cpu_found;

/* The work of a step on items from .. to - 1. */
typedef void gpuopt__propagator_cpu_work(gpuopt__propagator_cpu *p, int64_t from, int64_t to,
                                         gpuopt__propagator_cpu_batch *batch, gpuopt__propagator_cpu_found *found);

/* Makes a step on all of its items; a thread takes `piece` items at a time, and appends to `list`. A single thread does
 * not use OpenMP, since the first use takes longer than all rounds of a small model. */
static void gpuopt__propagator_cpu_by_pieces(gpuopt__propagator_cpu *p, gpuopt__propagator_cpu_work *work,
                                             int64_t count, int64_t piece, uint32_t *list, int64_t *length,
                                             gpuopt__propagator_cpu_found *found) {
    if (!p->shared) {
        gpuopt__propagator_cpu_batch batch;
        batch.count = 0;
        work(p, 0, count, &batch, found);
        gpuopt__propagator_cpu_flush(&batch, list, length);
    }
#ifdef GPUOPT__OPENMP
    else {
        int32_t row = INT32_MAX, col = INT32_MAX;
        int64_t evaluated = 0, crossed = 0, from;
        double shrinkage = 0;
#pragma omp parallel num_threads(gpuopt__team(p->head.context, p->threads)) reduction(min : row, col) \
    reduction(+ : evaluated, crossed) reduction(max : shrinkage)
        {
            gpuopt__propagator_cpu_batch batch;
            gpuopt__propagator_cpu_found mine = {INT32_MAX, INT32_MAX, 0, 0, 0};
            gpuopt__environment_scope scope;
            gpuopt__environment_enter(&scope);
            batch.count = 0;
#pragma omp for schedule(dynamic, 1)
            for (from = 0; from < count; from += piece)
                work(p, from, from + piece < count ? from + piece : count, &batch, &mine);
            gpuopt__propagator_cpu_flush(&batch, list, length);
            row = mine.infeasible_row;
            col = mine.infeasible_col;
            evaluated = mine.evaluated;
            crossed = mine.crossed;
            shrinkage = mine.shrinkage;
            gpuopt__environment_leave(&scope);
        }
        if (row < found->infeasible_row) found->infeasible_row = row;
        if (col < found->infeasible_col) found->infeasible_col = col;
        found->evaluated += evaluated;
        found->crossed += crossed;
        found->shrinkage = gpuopt__max(found->shrinkage, shrinkage);
    }
#else
    (void)piece;
#endif
}

/* ---- Rows ---- */

static int32_t gpuopt__propagator_cpu_row_at(const gpuopt__propagator_cpu *p, int64_t k) {
    return p->all_marked ? (int32_t)k : (int32_t)p->queue[k];
}

static void gpuopt__propagator_cpu_evaluate_rows(gpuopt__propagator_cpu *p, int64_t from, int64_t to,
                                                 gpuopt__propagator_cpu_batch *batch,
                                                 gpuopt__propagator_cpu_found *found) {
    int64_t k;
    for (k = from; k < to; k++) {
        int32_t row = gpuopt__propagator_cpu_row_at(p, k);
        if (p->marked) p->marked[row] = 0; /* infeasible rows are marked again */
        found->evaluated += gpuopt__propagator_cpu_row_length(p, row);
        GPUOPT__PROPAGATOR_TYPED(p, jacobi_row, (p, row, batch, &found->infeasible_row));
    }
}

#ifdef GPUOPT__OPENMP
static void gpuopt__propagator_cpu_attribute_rows(gpuopt__propagator_cpu *p, int64_t from, int64_t to,
                                                  gpuopt__propagator_cpu_batch *batch,
                                                  gpuopt__propagator_cpu_found *found) {
    int64_t k;
    (void)batch, (void)found;
    for (k = from; k < to; k++) {
        int32_t row = gpuopt__propagator_cpu_row_at(p, k);
        if (p->marked[row] != GPUOPT__PROPAGATOR_TO_ATTRIBUTE) continue;
        p->marked[row] = 0;
        GPUOPT__PROPAGATOR_TYPED(p, attribute_row, (p, row));
    }
}
#endif

/* After a round that has proven infeasibility: leaves in the queue only the rows with a proof, and queues such rows of
 * a full pass. They are then evaluated again after the next change; they have kept their marks. */
static void gpuopt__propagator_cpu_keep_infeasible(gpuopt__propagator_cpu *p, int64_t count) {
    int64_t k, kept = 0;
    for (k = 0; k < count; k++) {
        int32_t row = gpuopt__propagator_cpu_row_at(p, k);
        if (!p->marked[row]) continue;
        if (p->all_marked && p->since) p->since[row] = p->changes;
        p->queue[kept++] = (uint32_t)row;
    }
    p->queued = kept;
}

/* ---- Bounds ---- */

/* The entries of the columns that this round has moved. */
static int64_t gpuopt__propagator_cpu_changed_weight(const gpuopt__propagator_cpu *p) {
    int64_t k, weight = 0;
    for (k = 0; k < p->changed_count; k++) {
        int64_t col = p->changed[k] >> 1;
        weight += p->matrix.col_start[col + 1] - p->matrix.col_start[col];
    }
    return weight;
}

/* Sorts the sides that a round has moved: by bytes, from the lowest. */
static void gpuopt__propagator_cpu_sort_changed(gpuopt__propagator_cpu *p) {
    uint32_t *from = p->changed, *to = p->sorted, most = 2 * (uint32_t)p->head.cols - 1;
    int64_t n = p->changed_count, k;
    int shift;
    if (n <= 32) {
        for (k = 1; k < n; k++) {
            uint32_t side = from[k];
            int64_t at = k;
            for (; at > 0 && from[at - 1] > side; at--) from[at] = from[at - 1];
            from[at] = side;
        }
        return;
    }
    for (shift = 0; shift < 32 && most >> shift; shift += 8) {
        int64_t count[257] = {0};
        uint32_t *other = from;
        for (k = 0; k < n; k++) count[(from[k] >> shift & 255) + 1]++;
        for (k = 0; k < 256; k++) count[k + 1] += count[k];
        for (k = 0; k < n; k++) to[count[from[k] >> shift & 255]++] = from[k];
        from = to;
        to = other;
    }
    p->changed = from;
    p->sorted = to;
}

/* Enters the sides that a round has improved into the trail, which is long enough for them. */
static void gpuopt__propagator_cpu_record_changed(gpuopt__propagator_cpu *p, int32_t seen) {
    int64_t k;
    gpuopt__propagator_cpu_sort_changed(p);
    for (k = 0; k < p->changed_count; k++) {
        uint32_t side = p->changed[k];
        gpuopt__propagator_cpu_record(p, side, gpuopt__propagator_cpu_stored(p, p->bounds, side),
                                      gpuopt__propagator_cpu_stored(p, p->next, side), p->reason[side], seen);
    }
}

/* The shrinkage of a bound that a round has moved, before `bounds` moves, too. */
static double gpuopt__propagator_cpu_side_shrinkage(const gpuopt__propagator_cpu *p, uint32_t side) {
    return gpuopt__propagator_shrinkage((int)(side & 1), gpuopt__propagator_cpu_stored(p, p->bounds, side),
                                        gpuopt__propagator_cpu_stored(p, p->next, side),
                                        gpuopt__propagator_cpu_stored(p, p->next, side ^ 1));
}

/* Moves the bounds that a round has improved. touch: also mark their rows. */
static void gpuopt__propagator_cpu_settle(gpuopt__propagator_cpu *p, int touch, gpuopt__propagator_cpu_found *found) {
    int64_t k;
    for (k = 0; k < p->changed_count; k++) {
        uint32_t side = p->changed[k];
        double value = gpuopt__propagator_cpu_stored(p, p->next, side);
        int32_t col = (int32_t)(side >> 1);
        found->shrinkage = gpuopt__max(found->shrinkage, gpuopt__propagator_cpu_side_shrinkage(p, side));
        if (GPUOPT__PROPAGATOR_TYPED(p, move, (p, side, value, touch, p->changes)) && col < found->infeasible_col)
            found->infeasible_col = col;
    }
}

#ifdef GPUOPT__OPENMP
/* The same by several threads, in two steps. First: find the columns that cross now, and how far bounds move. */
static void gpuopt__propagator_cpu_find_crossed(gpuopt__propagator_cpu *p, int64_t from, int64_t to,
                                                gpuopt__propagator_cpu_batch *batch,
                                                gpuopt__propagator_cpu_found *found) {
    int64_t k;
    (void)batch;
    for (k = from; k < to; k++) {
        uint32_t side = p->changed[k], low = side & ~(uint32_t)1, high = side | 1;
        double old_ub = gpuopt__propagator_cpu_stored(p, p->bounds, high),
               ub = gpuopt__propagator_cpu_stored(p, p->next, high);
        found->shrinkage = gpuopt__max(found->shrinkage, gpuopt__propagator_cpu_side_shrinkage(p, side));
        if (side == low && ub < old_ub) continue; /* once for each column: with its upper bound */
        if (!gpuopt__propagator_crossed(&p->head.rules, gpuopt__propagator_cpu_stored(p, p->next, low), ub)) continue;
        if ((int32_t)(side >> 1) < found->infeasible_col) found->infeasible_col = (int32_t)(side >> 1);
        found->crossed +=
            !gpuopt__propagator_crossed(&p->head.rules, gpuopt__propagator_cpu_stored(p, p->bounds, low), old_ub);
    }
}

/* Then the bounds move, and rows are marked; these no longer have kept data. */
static void gpuopt__propagator_cpu_settle_shared(gpuopt__propagator_cpu *p, int64_t from, int64_t to,
                                                 gpuopt__propagator_cpu_batch *batch,
                                                 gpuopt__propagator_cpu_found *found) {
    int64_t k, at;
    (void)found;
    for (k = from; k < to; k++) {
        uint32_t side = p->changed[k];
        int32_t col = (int32_t)(side >> 1), e;
        gpuopt__propagator_cpu_copy_stored(p, p->bounds, side, p->next, side);
        if (p->all_marked) continue;
        for (at = p->matrix.col_start[col]; at < p->matrix.col_start[col + 1]; at++)
            gpuopt__propagator_cpu_mark_shared(p, p->matrix.col_row[at], batch);
        for (e = p->added.head ? p->added.head[col] : -1; e >= 0; e = p->added.next[e])
            gpuopt__propagator_cpu_mark_shared(p, p->added.row[e], batch);
    }
}
#endif

/* ---- Rounds ---- */

/* The trail is too short for the round's moves: restores the state before the round. */
static void gpuopt__propagator_cpu_withdraw(gpuopt__propagator_cpu *p, int64_t rows) {
    int64_t k;
    for (k = 0; k < p->changed_count; k++) {
        uint32_t side = p->changed[k];
        gpuopt__propagator_cpu_copy_stored(p, p->next, side, p->bounds, side);
    }
    p->changed_count = 0;
    for (k = 0; k < rows; k++) p->marked[gpuopt__propagator_cpu_row_at(p, k)] = 0;
    for (k = 0; k < p->queued; k++) p->marked[p->queue[k]] = GPUOPT__PROPAGATOR_MARKED;
    gpuopt__propagator_cpu_forget_rows(p); /* the rows' reach assumes that the bounds have moved */
    p->full = 1;
}

/* Before a round: whether several threads pay for its rows; and which of these rows _pop must mark again. */
static void gpuopt__propagator_cpu_begin_round(gpuopt__propagator_cpu *p) {
    int64_t k, nonzeros = p->all_marked ? p->head.nonzeros : 0, enough = GPUOPT__PROPAGATOR_SHARED_FROM;
    for (k = 0; k < p->queued && p->threads > 1 && nonzeros < enough; k++)
        nonzeros += gpuopt__propagator_cpu_row_length(p, (int32_t)p->queue[k]);
    p->shared = p->threads > 1 && nonzeros >= enough;
    for (k = 0; k < p->queued && p->levels > 0; k++) gpuopt__propagator_cpu_take_mark(p, (int32_t)p->queue[k]);
}

static void gpuopt__propagator_cpu_jacobi_round(gpuopt__propagator_cpu *p) {
    gpuopt__propagator_cpu_found found = {INT32_MAX, INT32_MAX, 0, 0, 0};
    int32_t seen = p->changes;
    int64_t rows, piece, weight;
    gpuopt__propagator_cpu_begin_round(p);
    rows = p->all_marked ? gpuopt__propagator_cpu_rows(p) : p->queued;
    piece = rows / (16 * (int64_t)p->threads) + 1;
    if (piece > 256) piece = 256;
    p->changed_count = 0;
    if (!p->all_marked) p->none_kept = 0;
    gpuopt__propagator_cpu_by_pieces(p, gpuopt__propagator_cpu_evaluate_rows, rows, piece, p->changed,
                                     &p->changed_count, &found);
    if (p->trail && p->changed_count > p->head.trail_capacity - p->changes) {
        gpuopt__propagator_cpu_withdraw(p, rows);
        return;
    }
#ifdef GPUOPT__OPENMP
    if (p->shared && p->reason) {
        int64_t k;
        for (k = 0; k < p->changed_count; k++) p->reason[p->changed[k]] = INT32_MAX;
        gpuopt__propagator_cpu_by_pieces(p, gpuopt__propagator_cpu_attribute_rows, rows, piece, NULL, NULL, &found);
    }
#endif
    p->info.nonzeros += found.evaluated;
    p->info.changed += p->changed_count;
    if (found.infeasible_row != INT32_MAX) p->infeasible_row = found.infeasible_row;
    if (p->marked && found.infeasible_row != INT32_MAX) gpuopt__propagator_cpu_keep_infeasible(p, rows);
    else p->queued = 0;
    weight = p->marked ? gpuopt__propagator_cpu_changed_weight(p) : p->changed_count;
    p->all_marked = !p->marked || weight > p->head.nonzeros / 2; /* many marks cost more than they save */
    if (p->all_marked) gpuopt__propagator_cpu_forget_rows(p);
    if (p->trail) gpuopt__propagator_cpu_record_changed(p, seen);
    p->shared = p->threads > 1 && weight >= GPUOPT__PROPAGATOR_SHARED_FROM;
#ifdef GPUOPT__OPENMP
    if (p->shared) {
        gpuopt__propagator_cpu_by_pieces(p, gpuopt__propagator_cpu_find_crossed, p->changed_count, 1024, NULL, NULL,
                                         &found);
        p->crossed += (int32_t)found.crossed;
        gpuopt__propagator_cpu_by_pieces(p, gpuopt__propagator_cpu_settle_shared, p->changed_count, 64, p->queue,
                                         &p->queued, &found);
    }
#endif
    if (!p->shared) gpuopt__propagator_cpu_settle(p, !p->all_marked, &found);
    if (found.infeasible_col != INT32_MAX) p->infeasible_col = found.infeasible_col;
    p->shrinkage = found.shrinkage;
}

static void gpuopt__propagator_cpu_sequential_round(gpuopt__propagator_cpu *p) {
    int32_t row = -1;
    if (!p->all_marked) p->none_kept = 0;
    for (;;) {
        row = p->all_marked ? row + 1 : gpuopt__propagator_sweep_next(p, row + 1);
        if (row < 0 || row == gpuopt__propagator_cpu_rows(p)) break;
        if (gpuopt__propagator_sweep_has(p, row)) gpuopt__propagator_cpu_take_mark(p, row);
        p->info.nonzeros += gpuopt__propagator_cpu_row_length(p, row);
        if (!GPUOPT__PROPAGATOR_TYPED(p, sequential_row, (p, row))) return; /* a full sweep begins again */
    }
    p->all_marked = 0;
}

static gpuopt_status gpuopt__propagator_cpu_round(gpuopt_propagator *propagator, int32_t rounds,
                                                  gpuopt_propagator_info *result) {
    gpuopt__propagator_cpu *p = (gpuopt__propagator_cpu *)propagator;
    gpuopt_propagator_info *info = &p->info;
    int64_t limit = p->head.round_limit > 0 ? p->head.round_limit : INT64_MAX;
    int64_t changed = -1;
    info->rounds = 0;
    info->changed = info->nonzeros = 0;
    p->full = 0;
    while (info->rounds < rounds && p->rounds_since_set < limit && info->changed != changed &&
           !gpuopt__propagator_cpu_is_infeasible(p) && !p->full) {
        if (info->rounds > 0 && gpuopt__asked_to_stop(p->head.context)) break;
        changed = info->changed;
        p->shrinkage = 0;
        if (p->sequential) gpuopt__propagator_cpu_sequential_round(p);
        else gpuopt__propagator_cpu_jacobi_round(p);
        info->rounds += !p->full;
        p->rounds_since_set += !p->full;
    }
    info->infeasible_row = p->infeasible_row;
    info->infeasible_col = p->infeasible_col;
    info->outcome = gpuopt__propagator_cpu_is_infeasible(p) ? GPUOPT_INFEASIBLE
                    : p->full                               ? GPUOPT_FULL
                    : info->changed == changed              ? GPUOPT_CONVERGED
                    : p->rounds_since_set >= limit          ? GPUOPT_LIMIT
                                                            : GPUOPT_MORE;
    info->shrinkage =
        info->rounds > 0 && (info->outcome == GPUOPT_MORE || info->outcome == GPUOPT_LIMIT) ? p->shrinkage : 0;
    if (result) *result = *info;
    return GPUOPT_OK;
}

static gpuopt_status gpuopt__propagator_cpu_get_info(gpuopt_propagator *propagator, gpuopt_propagator_info *info) {
    *info = ((gpuopt__propagator_cpu *)propagator)->info;
    return GPUOPT_OK;
}

#endif /* GPUOPT_IMPL_PROPAGATE_CPU_ROUNDS_H */
