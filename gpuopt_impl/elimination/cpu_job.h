/* SPDX-License-Identifier: MIT
 *
 * Elimination on the CPU: jobs, cut into tiles and these into pieces, which threads share out.
 */
#ifndef GPUOPT_IMPL_ELIMINATION_CPU_JOB_H
#define GPUOPT_IMPL_ELIMINATION_CPU_JOB_H

#include "handle.h"
#include "rows.h"

#ifdef _OPENMP
#include <omp.h>
#endif

/* One thread's arrays, entries padded to whole chunks: of all rows of a tile, then of one. */
typedef struct gpuopt__elimination_cpu_room {
    char *best;      /* [rows][entries] sums, the least over all values so far */
    uint64_t *count; /* [rows][entries] MIN_COUNT: of best */
    double *high;    /* [rows][entries] LOG_SUM_EXP: largest exponents; best is the sum */
    char *sum[2];    /* [entries] of a value: of what all rows share, and of one row */
    uint64_t *factor[2];
    void *repeated[2]; /* [entries] stored costs or counts */
    int64_t *at;       /* [operands] entry where the tile's piece begins */
} gpuopt__elimination_cpu_room;

typedef struct gpuopt__elimination_cpu {
    gpuopt_elimination head;
    void *store;                          /* [plan.store] */
    uint64_t *counts;                     /* [plan.counts] */
    gpuopt__elimination_total *total;     /* [copies] */
    gpuopt__elimination_cpu_shape *shape; /* [plan.most_operands] of the present job */
    gpuopt__elimination_cpu_room *room;   /* [threads] */
    int32_t threads;
} gpuopt__elimination_cpu;

/* Jobs with fewer joined rows than this are not worth waking threads. */
#define GPUOPT__ELIMINATION_CPU_THREADED_FROM 65536

/* A job on its way. */
typedef struct gpuopt__elimination_cpu_work {
    const gpuopt__elimination_job *job;
    const gpuopt__elimination_cpu_lanes *lanes;
    gpuopt__elimination_cpu_pieces pieces;
} gpuopt__elimination_cpu_work;

/* Cuts a thread's room out of the arena, for every job of a plan. */
static void gpuopt__elimination_cpu_cut_room(const gpuopt__elimination_plan *plan, gpuopt__arena *arena,
                                             gpuopt__elimination_cpu_room *room) {
    int counted = plan->semiring == GPUOPT_SEMIRING_MIN_COUNT, logs = plan->semiring == GPUOPT_SEMIRING_LOG_SUM_EXP;
    int32_t entries = gpuopt__elimination_cpu_padded(plan->most_entries < GPUOPT__ELIMINATION_CPU_PIECE_MOST
                                                         ? plan->most_entries
                                                         : GPUOPT__ELIMINATION_CPU_PIECE_MOST);
    size_t bytes = plan->bits < 64 ? sizeof(uint32_t) : sizeof(uint64_t),
           all = (size_t)plan->most_rows * (size_t)entries;
    int64_t first = all * bytes < GPUOPT__ELIMINATION_CPU_PIECE_BYTES ? (int64_t)(all * bytes)
                                                                      : GPUOPT__ELIMINATION_CPU_PIECE_BYTES;
    int64_t second = all * sizeof(uint64_t) < GPUOPT__ELIMINATION_CPU_PIECE_BYTES
                         ? (int64_t)all
                         : GPUOPT__ELIMINATION_CPU_PIECE_BYTES / 8;
    int k;
    room->best = (char *)gpuopt__cut(arena, first, 1);
    room->count = (uint64_t *)gpuopt__cut(arena, counted ? second : 0, sizeof(uint64_t));
    room->high = (double *)gpuopt__cut(arena, logs ? second : 0, sizeof(double));
    for (k = 0; k < 2; k++) {
        room->sum[k] = (char *)gpuopt__cut(arena, entries, bytes);
        room->factor[k] = (uint64_t *)gpuopt__cut(arena, counted ? entries : 0, sizeof(uint64_t));
    }
    for (k = 0; k < 2; k++)
        room->repeated[k] =
            gpuopt__cut(arena, entries, counted ? sizeof(uint64_t) : (size_t)gpuopt__elimination_cost_bytes(plan));
    room->at = (int64_t *)gpuopt__cut(arena, plan->most_operands, sizeof(int64_t));
}

/* Where a unit begins, [digits] that are not of its rows or of its piece's faster entries, added to at [operands] and
 * to the return value, the message's. *rows of the tile there are. */
static int64_t gpuopt__elimination_cpu_unit_at(const gpuopt__elimination_cpu *e, const gpuopt__elimination_cpu_work *w,
                                               int64_t tile, int64_t piece, int64_t *at, int32_t *rows) {
    const gpuopt__elimination_plan *plan = &e->head.plan;
    const gpuopt__elimination_job *job = w->job;
    int32_t digits = job->tile_digits + job->row_digits + job->entry_digits, j, k;
    const int64_t *size = plan->digit + job->size, *stride = plan->digit + job->stride;
    int64_t value = piece % w->pieces.cuts * w->pieces.step, rest = piece / w->pieces.cuts, target = 0;
    *rows = job->rows;
    for (j = job->tile_digits + job->row_digits + w->pieces.digits; j >= 0; j--) {
        if (j < job->tile_digits + job->row_digits && j >= job->tile_digits) continue;
        if (j == job->tile_digits - 1) rest = tile;
        if (j == digits) continue; /* a row of one entry: there is no digit that is cut */
        if (j < job->tile_digits + job->row_digits + w->pieces.digits) {
            value = rest % size[j];
            rest /= size[j];
        }
        if (j == job->tile_digits - 1 && job->row_total && job->row_total - value * job->rows < job->rows)
            *rows = (int32_t)(job->row_total - value * job->rows);
        for (k = 0; k < job->operands; k++) at[k] += value * stride[(int64_t)k * digits + j];
        target += value * stride[(int64_t)job->operands * digits + j];
    }
    return target;
}

/* Nothing added up yet. */
static void gpuopt__elimination_cpu_begin_sums(const gpuopt__elimination_cpu_room *room,
                                               const gpuopt__elimination_cpu_extent *x, size_t bytes, int counted,
                                               int which) {
    int32_t k;
    memset(room->sum[which], 0, bytes);
    for (k = 0; counted && k < x->entries; k++) room->factor[which][k] = 1;
}

/* Adds operands from .. to - 1, of a value and a row of the tile. */
static void gpuopt__elimination_cpu_add_operands(const gpuopt__elimination_cpu *e,
                                                 const gpuopt__elimination_cpu_work *w,
                                                 const gpuopt__elimination_cpu_room *room,
                                                 const gpuopt__elimination_cpu_extent *x, int32_t from, int32_t to,
                                                 int32_t value, int32_t row, int which) {
    const gpuopt__elimination_plan *plan = &e->head.plan;
    const gpuopt__elimination_operand *operand = plan->operand + w->job->operand;
    for (; from < to; from++) {
        const gpuopt__elimination_operand *o = &operand[from];
        int64_t at = room->at[from] + value * o->value_stride + e->shape[from].row[row];
        w->lanes->add(&e->shape[from], x, room->sum[which],
                      (const char *)e->store + (o->at + at) * gpuopt__elimination_cost_bytes(plan), plan->forbidden);
        if (o->count_at >= 0)
            gpuopt__elimination_cpu_multiply_counts(&e->shape[from], x, room->factor[which],
                                                    e->counts + o->count_at + at, 0);
    }
}

/* One value's sums over a row into the best so far. */
static void gpuopt__elimination_cpu_end_value(const gpuopt__elimination_plan *plan,
                                              const gpuopt__elimination_cpu_work *w,
                                              const gpuopt__elimination_cpu_room *room, int32_t n, int32_t row,
                                              int first) {
    size_t padded = (size_t)gpuopt__elimination_cpu_padded(n), at = (size_t)row * padded;
    char *best = room->best + at * (size_t)w->lanes->bytes;
    if (plan->semiring == GPUOPT_SEMIRING_MIN_COUNT)
        w->lanes->count(best, room->count + at, room->sum[1], room->factor[1], first, plan->forbidden, n);
    else if (plan->semiring == GPUOPT_SEMIRING_LOG_SUM_EXP)
        gpuopt__elimination_cpu_add_exponentials(w->job->maximum, (double *)(void *)best, room->high + at,
                                                 (const double *)(const void *)room->sum[1], first, n);
    else w->lanes->least(best, room->sum[1], first, plan->forbidden, (int32_t)padded);
}

/* A finished row into the message, where it begins. */
static void gpuopt__elimination_cpu_store_row(const gpuopt__elimination_cpu *e, const gpuopt__elimination_cpu_work *w,
                                              const gpuopt__elimination_cpu_room *room, int32_t n, int32_t row,
                                              int64_t to) {
    const gpuopt__elimination_plan *plan = &e->head.plan;
    size_t at = (size_t)row * (size_t)gpuopt__elimination_cpu_padded(n);
    const char *best = room->best + at * (size_t)w->lanes->bytes;
    char *message = (char *)e->store + (w->job->at + to) * gpuopt__elimination_cost_bytes(plan);
    if (plan->semiring == GPUOPT_SEMIRING_LOG_SUM_EXP)
        gpuopt__elimination_cpu_store_logarithms(w->job->maximum, (double *)(void *)message,
                                                 (const double *)(const void *)best, room->high + at, n);
    else w->lanes->store(message, best, n);
    if (w->job->count_at >= 0)
        memcpy(e->counts + w->job->count_at + to, room->count + at, sizeof(uint64_t) * (size_t)n);
}

/* All rows of one piece of one tile, for one copy. What the rows share is added up once. */
static void gpuopt__elimination_cpu_run_unit(const gpuopt__elimination_cpu *e, const gpuopt__elimination_cpu_work *w,
                                             int64_t unit, const gpuopt__elimination_cpu_room *room) {
    const gpuopt__elimination_plan *plan = &e->head.plan;
    const gpuopt__elimination_job *job = w->job;
    const gpuopt__elimination_cpu_pieces *p = &w->pieces;
    int64_t piece = unit % p->count, tile = unit / p->count % job->tiles, copy = unit / p->count / job->tiles, target;
    int32_t left = p->size - (int32_t)(piece % p->cuts) * p->step, rows, v, r, k;
    int shared = job->rows > 1 && job->varying < job->operands;
    int counted = plan->semiring == GPUOPT_SEMIRING_MIN_COUNT;
    gpuopt__elimination_cpu_extent x;
    size_t bytes;
    x.step = left < p->step ? left : p->step;
    x.entries = x.step * p->inner;
    for (k = 0; k < 2; k++) x.room[k] = room->repeated[k];
    bytes = (size_t)gpuopt__elimination_cpu_padded(x.entries) * (size_t)w->lanes->bytes;
    for (k = 0; k < job->operands; k++) {
        const gpuopt__elimination_operand *o = &plan->operand[job->operand + k];
        room->at[k] = copy * o->copy_stride;
        if (o->condition >= 0) room->at[k] += plan->offset[copy * plan->condition_rows + o->condition];
    }
    target = copy * job->copy_stride + gpuopt__elimination_cpu_unit_at(e, w, tile, piece, room->at, &rows);
    for (v = 0; v < job->values; v++) {
        if (shared) {
            gpuopt__elimination_cpu_begin_sums(room, &x, bytes, counted, 0);
            gpuopt__elimination_cpu_add_operands(e, w, room, &x, job->varying, job->operands, v, 0, 0);
        }
        for (r = 0; r < rows; r++) {
            if (!shared) gpuopt__elimination_cpu_begin_sums(room, &x, bytes, counted, 1);
            else {
                memcpy(room->sum[1], room->sum[0], bytes);
                if (counted) memcpy(room->factor[1], room->factor[0], sizeof(uint64_t) * (size_t)x.entries);
            }
            gpuopt__elimination_cpu_add_operands(e, w, room, &x, 0, shared ? job->varying : job->operands, v, r, 1);
            gpuopt__elimination_cpu_end_value(plan, w, room, x.entries, r, v == 0);
        }
    }
    for (r = 0; r < rows; r++)
        gpuopt__elimination_cpu_store_row(e, w, room, x.entries, r, target + e->shape[job->operands].row[r]);
}

static void gpuopt__elimination_cpu_run_job(gpuopt__elimination_cpu *e, const gpuopt__elimination_job *job) {
    const gpuopt__elimination_plan *plan = &e->head.plan;
    int32_t digits = job->tile_digits + job->row_digits + job->entry_digits, k;
    int second = plan->semiring == GPUOPT_SEMIRING_MIN_COUNT || plan->semiring == GPUOPT_SEMIRING_LOG_SUM_EXP;
    gpuopt__elimination_cpu_work work;
    int64_t u, all;
    work.job = job;
    work.lanes = gpuopt__elimination_cpu_lanes_of(plan, job->operands);
    gpuopt__elimination_cpu_cut_pieces(plan, job, (size_t)work.lanes->bytes + (second ? sizeof(uint64_t) : 0),
                                       &work.pieces);
    for (k = 0; k <= job->operands; k++) /* the message's last */
        gpuopt__elimination_cpu_shape_of(plan, job, &work.pieces, plan->digit + job->stride + (int64_t)k * digits,
                                         &e->shape[k]);
    all = plan->copies * job->tiles * work.pieces.count;
#ifdef _OPENMP
#pragma omp parallel for schedule(static)                                                                      \
    num_threads(e->threads) if (e->threads > 1 && (double)plan->copies * (double)job->entries * job->values >= \
                                                      GPUOPT__ELIMINATION_CPU_THREADED_FROM)
#endif
    for (u = 0; u < all; u++) {
        const gpuopt__elimination_cpu_room *room = e->room;
#ifdef _OPENMP
        room += omp_get_thread_num();
#endif
        gpuopt__elimination_cpu_run_unit(e, &work, u, room);
    }
}

#endif /* GPUOPT_IMPL_ELIMINATION_CPU_JOB_H */
