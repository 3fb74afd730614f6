/* SPDX-License-Identifier: MIT
 *
 * Messages on the CPU: a job is cut into units (a piece of a tile, of one copy), and threads share the units.
 */
#ifndef GPUOPT_IMPL_ELIMINATION_CPU_JOBS_H
#define GPUOPT_IMPL_ELIMINATION_CPU_JOBS_H

#include "../backend.h"
#include "rows.h"

#ifdef GPUOPT__OPENMP
#include <omp.h>
#endif

typedef struct gpuopt__elimination_cpu {
    gpuopt_elimination head;
    void *store;                              /* [plan.store] */
    uint64_t *counts;                         /* [plan.counts] */
    uint32_t *decision;                       /* [plan.decisions] */
    gpuopt__elimination_total *total;         /* [copies] */
    gpuopt__elimination_cpu_shape *shape;     /* [plan.most_operands] of the present job */
    gpuopt__elimination_cpu_scratch *scratch; /* [threads] */
    int32_t threads;
} gpuopt__elimination_cpu;

/* A job in progress. */
typedef struct gpuopt__elimination_cpu_work {
    const gpuopt__elimination_job *job;
    const gpuopt__elimination_cpu_lanes *lanes;
    gpuopt__elimination_cpu_pieces pieces;
} gpuopt__elimination_cpu_work;

/* Adds the start of a unit in each operand to at [operands], and returns its start in the message. Only digits of the
 * tile and of the slower entries count; digits of the rows and within the piece do not. *rows: the tile's number of
 * rows. */
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
        if (j == digits) continue; /* a row of one entry has no digit to cut */
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

/* Resets the sums of a row to zero, and its counts to one. */
static void gpuopt__elimination_cpu_begin_sums(const gpuopt__elimination_cpu_scratch *scratch,
                                               const gpuopt__elimination_cpu_extent *x, size_t bytes, int counted,
                                               int which) {
    int32_t k;
    memset(scratch->sum[which], 0, bytes);
    for (k = 0; counted && k < x->entries; k++) scratch->factor[which][k] = 1;
}

/* Adds operands from .. to - 1 for one value of the eliminated variable and one row of the tile. */
static void gpuopt__elimination_cpu_add_operands(const gpuopt__elimination_cpu *e,
                                                 const gpuopt__elimination_cpu_work *w,
                                                 const gpuopt__elimination_cpu_scratch *scratch,
                                                 const gpuopt__elimination_cpu_extent *x, int32_t from, int32_t to,
                                                 int32_t value, int32_t row, int which) {
    const gpuopt__elimination_plan *plan = &e->head.plan;
    const gpuopt__elimination_operand *operand = plan->operand + w->job->operand;
    for (; from < to; from++) {
        const gpuopt__elimination_operand *o = &operand[from];
        int64_t at = scratch->at[from] + value * o->value_stride + e->shape[from].row[row];
        w->lanes->add(&e->shape[from], x, scratch->sum[which],
                      (const char *)e->store + (o->at + at) * gpuopt__elimination_cost_bytes(plan), plan->forbidden);
        if (o->count_at >= 0)
            gpuopt__elimination_cpu_multiply_counts(&e->shape[from], x, scratch->factor[which],
                                                    e->counts + o->count_at + at, 0);
    }
}

/* Sets the decisions of entries from .. from + n - 1 of a message, all 0 before. Pieces of different threads may share
 * words. decision: the decisions of the copy. */
static void gpuopt__elimination_cpu_store_decisions(uint32_t *decision, int32_t bits, int64_t from,
                                                    const uint32_t *chosen, int32_t n) {
    const int64_t per_word = 32 / bits;
    int32_t i = 0;
    while (i < n) {
        uint32_t *to = decision + (from + i) / per_word, word = 0;
        int64_t place = (from + i) % per_word;
        for (; i < n && place < per_word; place++, i++) word |= chosen[i] << (int32_t)(place * bits);
#ifdef GPUOPT__OPENMP
#pragma omp atomic update
#endif
        *to |= word;
    }
}

/* Merges the sums for one value of the eliminated variable into the best so far. */
static void gpuopt__elimination_cpu_end_value(const gpuopt__elimination_plan *plan,
                                              const gpuopt__elimination_cpu_work *w,
                                              const gpuopt__elimination_cpu_scratch *scratch, int32_t n, int32_t row,
                                              int32_t value) {
    const int first = value == 0;
    size_t padded = (size_t)gpuopt__elimination_cpu_padded(n), at = (size_t)row * padded;
    char *best = scratch->best + at * (size_t)w->lanes->bytes;
    if (w->job->decision_bits) w->lanes->choose(best, scratch->chosen, scratch->sum[1], value, plan->forbidden, n);
    else if (plan->semiring == GPUOPT_SEMIRING_MIN_COUNT)
        w->lanes->count(best, scratch->count + at, scratch->sum[1], scratch->factor[1], first, plan->forbidden, n);
    else if (plan->semiring == GPUOPT_SEMIRING_LOG_SUM_EXP)
        gpuopt__elimination_cpu_add_exponentials(w->job->maximum, (double *)(void *)best, scratch->high + at,
                                                 (const double *)(const void *)scratch->sum[1], first, n);
    else w->lanes->least(best, scratch->sum[1], first, plan->forbidden, (int32_t)padded);
}

/* Stores a finished row of the message. */
static void gpuopt__elimination_cpu_store_row(const gpuopt__elimination_cpu *e, const gpuopt__elimination_cpu_work *w,
                                              const gpuopt__elimination_cpu_scratch *scratch, int32_t n, int32_t row,
                                              int64_t to) {
    const gpuopt__elimination_plan *plan = &e->head.plan;
    size_t at = (size_t)row * (size_t)gpuopt__elimination_cpu_padded(n);
    const char *best = scratch->best + at * (size_t)w->lanes->bytes;
    char *message = (char *)e->store + (w->job->at + to) * gpuopt__elimination_cost_bytes(plan);
    if (plan->semiring == GPUOPT_SEMIRING_LOG_SUM_EXP)
        gpuopt__elimination_cpu_store_logarithms(w->job->maximum, (double *)(void *)message,
                                                 (const double *)(const void *)best, scratch->high + at, n);
    else w->lanes->store(message, best, n);
    if (w->job->count_at >= 0)
        memcpy(e->counts + w->job->count_at + to, scratch->count + at, sizeof(uint64_t) * (size_t)n);
}

/* Computes all rows of one piece of one tile, for one copy. Adds up operands shared by all rows once. */
static void gpuopt__elimination_cpu_run_unit(const gpuopt__elimination_cpu *e, const gpuopt__elimination_cpu_work *w,
                                             int64_t unit, const gpuopt__elimination_cpu_scratch *scratch) {
    const gpuopt__elimination_plan *plan = &e->head.plan;
    const gpuopt__elimination_job *job = w->job;
    const gpuopt__elimination_cpu_pieces *p = &w->pieces;
    int64_t piece = unit % p->count, tile = unit / p->count % job->tiles, copy = unit / p->count / job->tiles, target;
    int32_t left = p->size - (int32_t)(piece % p->cuts) * p->step, rows, v, r, k;
    int shared = job->rows > 1 && job->varying < job->operands;
    int counted = plan->semiring == GPUOPT_SEMIRING_MIN_COUNT && !job->decision_bits;
    gpuopt__elimination_cpu_extent x;
    size_t bytes;
    x.step = left < p->step ? left : p->step;
    x.entries = x.step * p->inner;
    for (k = 0; k < 2; k++) x.repeated[k] = scratch->repeated[k];
    bytes = (size_t)gpuopt__elimination_cpu_padded(x.entries) * (size_t)w->lanes->bytes;
    for (k = 0; k < job->operands; k++) {
        const gpuopt__elimination_operand *o = &plan->operand[job->operand + k];
        scratch->at[k] = copy * o->copy_stride;
        if (o->condition >= 0) scratch->at[k] += plan->offset[copy * plan->condition_rows + o->condition];
    }
    target = gpuopt__elimination_cpu_unit_at(e, w, tile, piece, scratch->at, &rows);
    for (v = 0; v < job->values; v++) {
        if (shared) {
            gpuopt__elimination_cpu_begin_sums(scratch, &x, bytes, counted, 0);
            gpuopt__elimination_cpu_add_operands(e, w, scratch, &x, job->varying, job->operands, v, 0, 0);
        }
        for (r = 0; r < rows; r++) {
            if (!shared) gpuopt__elimination_cpu_begin_sums(scratch, &x, bytes, counted, 1);
            else {
                memcpy(scratch->sum[1], scratch->sum[0], bytes);
                if (counted) memcpy(scratch->factor[1], scratch->factor[0], sizeof(uint64_t) * (size_t)x.entries);
            }
            gpuopt__elimination_cpu_add_operands(e, w, scratch, &x, 0, shared ? job->varying : job->operands, v, r, 1);
            gpuopt__elimination_cpu_end_value(plan, w, scratch, x.entries, r, v);
        }
    }
    if (job->decision_bits) /* tiles have one row */
        gpuopt__elimination_cpu_store_decisions(
            e->decision + job->decision + copy * gpuopt__elimination_decision_words(job->entries, job->decision_bits),
            job->decision_bits, target, scratch->chosen, x.entries);
    for (r = 0; r < rows && !job->decision_bits; r++)
        gpuopt__elimination_cpu_store_row(e, w, scratch, x.entries, r,
                                          copy * job->copy_stride + target + e->shape[job->operands].row[r]);
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
    if (job->decision_bits)
        memset(e->decision + job->decision, 0,
               sizeof *e->decision * (size_t)plan->copies *
                   (size_t)gpuopt__elimination_decision_words(job->entries, job->decision_bits));
#ifdef GPUOPT__OPENMP
#pragma omp parallel for schedule(static) num_threads(gpuopt__team(                                                  \
    e->head.context, e->threads)) if (e->threads > 1 && (double)plan->copies * (double)job->entries * job->values >= \
                                                            GPUOPT__ELIMINATION_CPU_THREADED_FROM)
#endif
    for (u = 0; u < all; u++) {
        const gpuopt__elimination_cpu_scratch *scratch = e->scratch;
        gpuopt__environment_scope scope;
        gpuopt__environment_enter(&scope);
#ifdef GPUOPT__OPENMP
        scratch += omp_get_thread_num();
#endif
        gpuopt__elimination_cpu_run_unit(e, &work, u, scratch);
        gpuopt__environment_leave(&scope);
    }
}

#endif /* GPUOPT_IMPL_ELIMINATION_CPU_JOBS_H */
