/* SPDX-License-Identifier: MIT
 *
 * Propagation on the CPU: Jacobi rounds over a queue of marked rows, on one or several threads, and sequential sweeps
 * (Algorithm 1 of the paper).
 *
 * A Jacobi round reads `bounds`, improves `next` and lists each side of a column that it moves. Then it copies these
 * sides from `next` to `bounds` and marks the rows of their columns. So neither the order of rows nor the number of
 * threads matters.
 */
#ifndef GPUOPT_IMPL_PROPAGATE_CPU_ROUNDS_H
#define GPUOPT_IMPL_PROPAGATE_CPU_ROUNDS_H

#include "backend.h"

typedef struct gpuopt__propagator_cpu {
    gpuopt_propagator head;
    int threads, sequential;
    int64_t *start;     /* [rows + 1] */
    int32_t *col;       /* [nonzeros] */
    void *val;          /* [nonzeros], double or float */
    double *lhs, *rhs;  /* [rows] */
    uint8_t *kind;      /* [cols]: integer, fixed by the host */
    void *bounds;       /* [cols][2], double or float: (lb, ub) */
    void *next;         /* the bounds that a Jacobi round writes; equal to `bounds` between rounds; else NULL */
    int64_t *col_start; /* [cols + 1]; without marking this and the next three are NULL */
    int32_t *col_row;   /* [nonzeros]: the rows of each column */
    uint8_t *marked;    /* [rows] */
    uint32_t *queue;    /* [rows]: the marked rows; NULL with SEQUENTIAL */
    int64_t queued;
    int all_marked;    /* the next round evaluates every row, whatever the queue holds */
    uint32_t *changed; /* [2 cols]: 2 * col + (1 for ub), for each side that this round has moved */
    int64_t changed_count;
    int64_t rounds_since_set;
    int32_t infeasible_row, infeasible_col; /* what proves infeasibility at present; -1: nothing */
    gpuopt_propagator_info info;            /* of the last _round */
} gpuopt__propagator_cpu;

static int gpuopt__propagator_cpu_is_infeasible(const gpuopt__propagator_cpu *p) {
    return p->infeasible_row >= 0 || p->infeasible_col >= 0;
}

/* ---- Lists that several threads append to ---- */

/* Items that a thread collects before it appends them, so that it seldom updates the list's length, which all threads
 * share. */
typedef struct gpuopt__propagator_cpu_batch {
    uint32_t item[64];
    uint32_t count;
} gpuopt__propagator_cpu_batch;

static void gpuopt__propagator_cpu_flush(gpuopt__propagator_cpu_batch *batch, uint32_t *list, int64_t *length) {
    int64_t at;
    if (batch->count == 0) return;
#ifdef _OPENMP
    at = __atomic_fetch_add(length, (int64_t)batch->count, __ATOMIC_RELAXED);
#else
    at = *length;
    *length += batch->count;
#endif
    memcpy(list + at, batch->item, sizeof(uint32_t) * batch->count);
    batch->count = 0;
}

static void gpuopt__propagator_cpu_append(gpuopt__propagator_cpu_batch *batch, uint32_t item, uint32_t *list,
                                          int64_t *length) {
    if (batch->count == sizeof batch->item / sizeof *batch->item) gpuopt__propagator_cpu_flush(batch, list, length);
    batch->item[batch->count++] = item;
}

/* ---- Marking ---- */

/* Marks a row; returns whether it was unmarked before. */
static int gpuopt__propagator_cpu_set_mark(uint8_t *mark, int shared) {
#ifdef _OPENMP
    if (shared) return !__atomic_load_n(mark, __ATOMIC_RELAXED) && !__atomic_exchange_n(mark, 1, __ATOMIC_RELAXED);
#endif
    (void)shared;
    if (*mark) return 0;
    *mark = 1;
    return 1;
}

/* Marks a row and, for Jacobi rounds, queues it. (A sequential sweep scans the marks.) */
static void gpuopt__propagator_cpu_mark_row(gpuopt__propagator_cpu *p, int32_t row,
                                            gpuopt__propagator_cpu_batch *batch) {
    if (gpuopt__propagator_cpu_set_mark(&p->marked[row], p->threads > 1) && p->queue)
        gpuopt__propagator_cpu_append(batch, (uint32_t)row, p->queue, &p->queued);
}

static void gpuopt__propagator_cpu_mark_column(gpuopt__propagator_cpu *p, int32_t col,
                                               gpuopt__propagator_cpu_batch *batch) {
    int64_t k;
    for (k = p->col_start[col]; k < p->col_start[col + 1]; k++)
        gpuopt__propagator_cpu_mark_row(p, p->col_row[k], batch);
}

/* After a round that has proven infeasibility: leaves in the queue only the rows that have, and puts those of a full
 * pass there, so that they are evaluated again after the next change. They have kept their marks. */
static void gpuopt__propagator_cpu_keep_infeasible(gpuopt__propagator_cpu *p, int64_t count) {
    int64_t k, kept = 0;
    for (k = 0; k < count; k++) {
        uint32_t row = p->all_marked ? (uint32_t)k : p->queue[k];
        if (p->marked[row]) p->queue[kept++] = row;
    }
    p->queued = kept;
}

static void gpuopt__propagator_cpu_mark_all(gpuopt__propagator_cpu *p) {
    p->all_marked = 1;
    p->queued = 0;
    if (p->marked) memset(p->marked, p->sequential, (size_t)p->head.rows);
}

/* Merges the lanes by halves. Lanes from `used` on are empty and are left out: merging them would change nothing. */
static gpuopt__propagator_activities gpuopt__propagator_cpu_merge_lanes(gpuopt__propagator_activities *lane, int lanes,
                                                                        int used) {
    int half, i;
    if (used == 0) return gpuopt__propagator_activities_start();
    for (half = lanes / 2; half > 0; half /= 2)
        for (i = 0; i < half && i + half < used; i++) gpuopt__propagator_activities_merge(&lane[i], &lane[i + half]);
    return lane[0];
}

/* The same of pairs; lanes that are not used are 0. */
static gpuopt__pair gpuopt__propagator_cpu_merge_pairs(gpuopt__pair *lane) {
    int half, i;
    for (half = GPUOPT__PROPAGATOR_LANES / 2; half > 0; half /= 2)
        for (i = 0; i < half; i++) lane[i] = gpuopt__pair_add(lane[i], lane[i + half]);
    return lane[0];
}

#define GPUOPT__PROPAGATOR_REAL double
#define GPUOPT__PROPAGATOR_NAME(x) gpuopt__propagator_cpu_##x##_double
#include "cpu_rows.h"
#undef GPUOPT__PROPAGATOR_REAL
#undef GPUOPT__PROPAGATOR_NAME
#define GPUOPT__PROPAGATOR_REAL float
#define GPUOPT__PROPAGATOR_NAME(x) gpuopt__propagator_cpu_##x##_float
#include "cpu_rows.h"
#undef GPUOPT__PROPAGATOR_REAL
#undef GPUOPT__PROPAGATOR_NAME

/* Calls the function gpuopt__propagator_cpu_<name> of cpu_rows.h for this handle's storage type. */
#define GPUOPT__PROPAGATOR_TYPED(p, name, arguments)                          \
    ((p)->head.rules.single ? gpuopt__propagator_cpu_##name##_float arguments \
                            : gpuopt__propagator_cpu_##name##_double arguments)

/* ---- Rounds ---- */

/* What a thread has found in its part of a round's step. */
typedef struct gpuopt__propagator_cpu_found {
    int32_t infeasible_row, infeasible_col; /* INT32_MAX: none */
    int64_t evaluated;                      /* nonzeros of the rows evaluated */
    int64_t weight;                         /* nonzeros of the columns that moved */
} gpuopt__propagator_cpu_found;

/* The work of a step on items from .. to - 1. */
typedef void gpuopt__propagator_cpu_work(gpuopt__propagator_cpu *p, int64_t from, int64_t to,
                                         gpuopt__propagator_cpu_batch *batch, gpuopt__propagator_cpu_found *found);

/* Does a step's work on all of its items; a thread takes `piece` items at a time, and what it appends goes to `list`.
 * A single thread does not use OpenMP, whose first use takes longer than all rounds of a small model. */
static void gpuopt__propagator_cpu_by_pieces(gpuopt__propagator_cpu *p, gpuopt__propagator_cpu_work *work,
                                             int64_t count, int64_t piece, uint32_t *list, int64_t *length,
                                             gpuopt__propagator_cpu_found *found) {
    if (p->threads == 1) {
        gpuopt__propagator_cpu_batch batch;
        batch.count = 0;
        work(p, 0, count, &batch, found);
        gpuopt__propagator_cpu_flush(&batch, list, length);
    }
#ifdef _OPENMP
    else {
        int32_t row = INT32_MAX, col = INT32_MAX;
        int64_t evaluated = 0, weight = 0, from;
#pragma omp parallel num_threads(p->threads) reduction(min : row, col) reduction(+ : evaluated, weight)
        {
            gpuopt__propagator_cpu_batch batch;
            gpuopt__propagator_cpu_found mine = {INT32_MAX, INT32_MAX, 0, 0};
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
            weight = mine.weight;
            gpuopt__environment_leave(&scope);
        }
        if (row < found->infeasible_row) found->infeasible_row = row;
        if (col < found->infeasible_col) found->infeasible_col = col;
        found->evaluated += evaluated;
        found->weight += weight;
    }
#else
    (void)piece;
#endif
}

static void gpuopt__propagator_cpu_evaluate_rows(gpuopt__propagator_cpu *p, int64_t from, int64_t to,
                                                 gpuopt__propagator_cpu_batch *batch,
                                                 gpuopt__propagator_cpu_found *found) {
    int full = p->all_marked;
    int64_t k;
    for (k = from; k < to; k++) {
        int32_t row = full ? (int32_t)k : (int32_t)p->queue[k];
        if (p->marked) p->marked[row] = 0; /* in a full pass, too: infeasible rows keep their marks */
        found->evaluated += p->start[row + 1] - p->start[row];
        GPUOPT__PROPAGATOR_TYPED(p, jacobi_row, (p, row, batch, &found->infeasible_row));
    }
}

static void gpuopt__propagator_cpu_settle_sides(gpuopt__propagator_cpu *p, int64_t from, int64_t to,
                                                gpuopt__propagator_cpu_batch *batch,
                                                gpuopt__propagator_cpu_found *found) {
    int64_t k;
    (void)batch;
    for (k = from; k < to; k++) {
        int32_t col = (int32_t)(p->changed[k] >> 1);
        int crossed = GPUOPT__PROPAGATOR_TYPED(p, jacobi_settle, (p, p->changed[k]));
        if (crossed && col < found->infeasible_col) found->infeasible_col = col;
        if (p->marked) found->weight += p->col_start[col + 1] - p->col_start[col];
    }
}

static void gpuopt__propagator_cpu_mark_changed(gpuopt__propagator_cpu *p, int64_t from, int64_t to,
                                                gpuopt__propagator_cpu_batch *batch,
                                                gpuopt__propagator_cpu_found *found) {
    int64_t k;
    (void)found;
    for (k = from; k < to; k++) gpuopt__propagator_cpu_mark_column(p, (int32_t)(p->changed[k] >> 1), batch);
}

static void gpuopt__propagator_cpu_jacobi_round(gpuopt__propagator_cpu *p) {
    int64_t rows = p->all_marked ? p->head.rows : p->queued, count = rows,
            piece = count / (16 * (int64_t)p->threads) + 1;
    gpuopt__propagator_cpu_found found = {INT32_MAX, INT32_MAX, 0, 0};
    p->changed_count = 0;
    gpuopt__propagator_cpu_by_pieces(p, gpuopt__propagator_cpu_evaluate_rows, count, piece < 256 ? piece : 256,
                                     p->changed, &p->changed_count, &found);
    count = p->changed_count;
    gpuopt__propagator_cpu_by_pieces(p, gpuopt__propagator_cpu_settle_sides, count, count / p->threads + 1, NULL, NULL,
                                     &found);
    p->info.nonzeros += found.evaluated;
    p->info.changed += count;
    if (found.infeasible_row != INT32_MAX) p->infeasible_row = found.infeasible_row;
    if (found.infeasible_col != INT32_MAX) p->infeasible_col = found.infeasible_col;
    if (p->marked && found.infeasible_row != INT32_MAX) gpuopt__propagator_cpu_keep_infeasible(p, rows);
    else p->queued = 0;
    p->all_marked = !p->marked || found.weight > p->head.nonzeros / 4; /* many marks cost more than they save */
    if (!p->all_marked)
        gpuopt__propagator_cpu_by_pieces(p, gpuopt__propagator_cpu_mark_changed, count, 64, p->queue, &p->queued,
                                         &found);
}

static void gpuopt__propagator_cpu_sequential_round(gpuopt__propagator_cpu *p) {
    int32_t row = 0, rows = p->head.rows;
    p->all_marked = 0;
    for (;;) {
        uint64_t eight;
        while (row + 8 <= rows && (memcpy(&eight, p->marked + row, 8), eight == 0)) row += 8;
        while (row < rows && !p->marked[row]) row++;
        if (row == rows) return;
        p->marked[row] = 0;
        p->info.nonzeros += p->start[row + 1] - p->start[row];
        if (!GPUOPT__PROPAGATOR_TYPED(p, sequential_row, (p, row))) return;
        row++;
    }
}

static gpuopt_status gpuopt__propagator_cpu_round(gpuopt_propagator *propagator, int32_t rounds,
                                                  gpuopt_propagator_info *result) {
    gpuopt__propagator_cpu *p = (gpuopt__propagator_cpu *)propagator;
    gpuopt_propagator_info *info = &p->info;
    int64_t limit = p->head.round_limit > 0 ? p->head.round_limit : INT64_MAX;
    int64_t changed = -1;
    info->rounds = 0;
    info->changed = info->nonzeros = 0;
    while (info->rounds < rounds && p->rounds_since_set < limit && info->changed != changed &&
           !gpuopt__propagator_cpu_is_infeasible(p)) {
        if (info->rounds > 0 && gpuopt__asked_to_stop(p->head.context)) break;
        changed = info->changed;
        if (p->sequential) gpuopt__propagator_cpu_sequential_round(p);
        else gpuopt__propagator_cpu_jacobi_round(p);
        info->rounds++;
        p->rounds_since_set++;
    }
    info->infeasible_row = p->infeasible_row;
    info->infeasible_col = p->infeasible_col;
    info->outcome = gpuopt__propagator_cpu_is_infeasible(p) ? GPUOPT_INFEASIBLE
                    : info->changed == changed              ? GPUOPT_CONVERGED
                    : p->rounds_since_set >= limit          ? GPUOPT_LIMIT
                                                            : GPUOPT_MORE;
    if (result) *result = *info;
    return GPUOPT_OK;
}

static gpuopt_status gpuopt__propagator_cpu_get_info(gpuopt_propagator *propagator, gpuopt_propagator_info *info) {
    *info = ((gpuopt__propagator_cpu *)propagator)->info;
    return GPUOPT_OK;
}

#endif /* GPUOPT_IMPL_PROPAGATE_CPU_ROUNDS_H */
