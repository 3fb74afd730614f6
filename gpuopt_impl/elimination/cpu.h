/* SPDX-License-Identifier: MIT
 *
 * The CPU backend of elimination: a job is cut into units (a piece of a tile, of one copy) that threads share out; then
 * the value phase, bounds, and the table of its functions.
 */
#ifndef GPUOPT_IMPL_ELIMINATION_CPU_H
#define GPUOPT_IMPL_ELIMINATION_CPU_H

#include "backend.h"
#include "cpu_rows.h"

#ifdef _OPENMP
#include <omp.h>
#endif

typedef struct gpuopt__elimination_cpu {
    gpuopt_elimination head;
    void *store;                          /* [plan.store] */
    uint64_t *counts;                     /* [plan.counts] */
    uint32_t *decision;                   /* [plan.decisions] */
    gpuopt__elimination_total *total;     /* [copies] */
    gpuopt__elimination_cpu_shape *shape; /* [plan.most_operands] of the present job */
    gpuopt__elimination_cpu_room *room;   /* [threads] */
    int32_t threads;
} gpuopt__elimination_cpu;

/* A job that is being run. */
typedef struct gpuopt__elimination_cpu_work {
    const gpuopt__elimination_job *job;
    const gpuopt__elimination_cpu_lanes *lanes;
    gpuopt__elimination_cpu_pieces pieces;
} gpuopt__elimination_cpu_work;

/* Adds where a unit begins in each operand to at [operands], and returns where it begins in the message. Only digits
 * of the tile and of the slower entries count, not those of the rows and within the piece. *rows: the rows that the
 * tile has. */
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

/* Resets the sums of a row to zero, and its counts to one. */
static void gpuopt__elimination_cpu_begin_sums(const gpuopt__elimination_cpu_room *room,
                                               const gpuopt__elimination_cpu_extent *x, size_t bytes, int counted,
                                               int which) {
    int32_t k;
    memset(room->sum[which], 0, bytes);
    for (k = 0; counted && k < x->entries; k++) room->factor[which][k] = 1;
}

/* Adds operands from .. to - 1 for one value of the eliminated variable and one row of the tile. */
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

/* Sets the decisions of entries from .. from + n - 1 of a message; all were 0. Pieces of different threads may share
 * words. decision: the copy's. */
static void gpuopt__elimination_cpu_store_decisions(uint32_t *decision, int32_t bits, int64_t from,
                                                    const uint32_t *chosen, int32_t n) {
    const int64_t per_word = 32 / bits;
    int32_t i = 0;
    while (i < n) {
        uint32_t *to = decision + (from + i) / per_word, word = 0;
        int64_t place = (from + i) % per_word;
        for (; i < n && place < per_word; place++, i++) word |= chosen[i] << (int32_t)(place * bits);
#ifdef _OPENMP
#pragma omp atomic update
#endif
        *to |= word;
    }
}

/* Merges the sums for one value of the eliminated variable into the best so far. */
static void gpuopt__elimination_cpu_end_value(const gpuopt__elimination_plan *plan,
                                              const gpuopt__elimination_cpu_work *w,
                                              const gpuopt__elimination_cpu_room *room, int32_t n, int32_t row,
                                              int32_t value) {
    const int first = value == 0;
    size_t padded = (size_t)gpuopt__elimination_cpu_padded(n), at = (size_t)row * padded;
    char *best = room->best + at * (size_t)w->lanes->bytes;
    if (w->job->decision_bits) w->lanes->choose(best, room->chosen, room->sum[1], value, plan->forbidden, n);
    else if (plan->semiring == GPUOPT_SEMIRING_MIN_COUNT)
        w->lanes->count(best, room->count + at, room->sum[1], room->factor[1], first, plan->forbidden, n);
    else if (plan->semiring == GPUOPT_SEMIRING_LOG_SUM_EXP)
        gpuopt__elimination_cpu_add_exponentials(w->job->maximum, (double *)(void *)best, room->high + at,
                                                 (const double *)(const void *)room->sum[1], first, n);
    else w->lanes->least(best, room->sum[1], first, plan->forbidden, (int32_t)padded);
}

/* Stores a finished row of the message. */
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

/* Computes all rows of one piece of one tile, for one copy. Operands that all rows share are added up once. */
static void gpuopt__elimination_cpu_run_unit(const gpuopt__elimination_cpu *e, const gpuopt__elimination_cpu_work *w,
                                             int64_t unit, const gpuopt__elimination_cpu_room *room) {
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
    for (k = 0; k < 2; k++) x.room[k] = room->repeated[k];
    bytes = (size_t)gpuopt__elimination_cpu_padded(x.entries) * (size_t)w->lanes->bytes;
    for (k = 0; k < job->operands; k++) {
        const gpuopt__elimination_operand *o = &plan->operand[job->operand + k];
        room->at[k] = copy * o->copy_stride;
        if (o->condition >= 0) room->at[k] += plan->offset[copy * plan->condition_rows + o->condition];
    }
    target = gpuopt__elimination_cpu_unit_at(e, w, tile, piece, room->at, &rows);
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
            gpuopt__elimination_cpu_end_value(plan, w, room, x.entries, r, v);
        }
    }
    if (job->decision_bits) /* tiles have one row */
        gpuopt__elimination_cpu_store_decisions(
            e->decision + job->decision + copy * gpuopt__elimination_decision_words(job->entries, job->decision_bits),
            job->decision_bits, target, room->chosen, x.entries);
    for (r = 0; r < rows && !job->decision_bits; r++)
        gpuopt__elimination_cpu_store_row(e, w, room, x.entries, r,
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
#ifdef _OPENMP
#pragma omp parallel for schedule(static)                                                                      \
    num_threads(e->threads) if (e->threads > 1 && (double)plan->copies * (double)job->entries * job->values >= \
                                                      GPUOPT__ELIMINATION_CPU_THREADED_FROM)
#endif
    for (u = 0; u < all; u++) {
        const gpuopt__elimination_cpu_room *room = e->room;
        gpuopt__environment_scope scope;
        gpuopt__environment_enter(&scope);
#ifdef _OPENMP
        room += omp_get_thread_num();
#endif
        gpuopt__elimination_cpu_run_unit(e, &work, u, room);
        gpuopt__environment_leave(&scope);
    }
}

/* ---- The handle ---- */

static uint64_t gpuopt__elimination_cpu_cut(const gpuopt_context *context, const gpuopt__elimination_plan *plan,
                                            void *memory, gpuopt__elimination_cpu *e) {
    gpuopt__arena arena;
    gpuopt__elimination_cpu_room room;
    int32_t t;
    arena.base = (char *)memory;
    arena.used = 0;
    e->threads = context->desc.threads;
    gpuopt__cut(&arena, 1, sizeof *e);
    e->store = gpuopt__cut(&arena, plan->store, (size_t)gpuopt__elimination_cost_bytes(plan));
    e->counts = (uint64_t *)gpuopt__cut(&arena, plan->counts, sizeof(uint64_t));
    e->decision = (uint32_t *)gpuopt__cut(&arena, plan->decisions, sizeof *e->decision);
    e->total = (gpuopt__elimination_total *)gpuopt__cut(&arena, plan->copies, sizeof *e->total);
    e->shape = (gpuopt__elimination_cpu_shape *)gpuopt__cut(&arena, (int64_t)plan->most_operands + 1, sizeof *e->shape);
    e->room = (gpuopt__elimination_cpu_room *)gpuopt__cut(&arena, e->threads, sizeof *e->room);
    for (t = 0; t < e->threads; t++) {
        gpuopt__elimination_cpu_cut_room(plan, &arena, &room);
        if (memory) e->room[t] = room;
    }
    return arena.used;
}

static uint64_t gpuopt__elimination_cpu_free_bytes(const gpuopt_context *context) {
    (void)context;
    return UINT64_MAX;
}

static void gpuopt__elimination_cpu_plan(const gpuopt_context *context, const gpuopt__elimination_plan *plan,
                                         gpuopt_memory_plan *memory) {
    gpuopt__elimination_cpu e;
    memory->host_bytes += gpuopt__elimination_cpu_cut(context, plan, NULL, &e);
}

static gpuopt_status gpuopt__elimination_cpu_create(gpuopt_context *context, const gpuopt__elimination_plan *plan,
                                                    gpuopt_elimination **elimination) {
    gpuopt__elimination_cpu draft;
    void *memory;
    uint64_t bytes;
    gpuopt_status status;
    memset(&draft, 0, sizeof draft);
    bytes = gpuopt__elimination_cpu_cut(context, plan, NULL, &draft);
    status = gpuopt__allocate(context, GPUOPT_HOST, bytes, &memory);
    if (status) return status;
    gpuopt__elimination_cpu_cut(context, plan, memory, &draft);
    draft.head.context = context;
    *(gpuopt__elimination_cpu *)memory = draft;
    *elimination = &((gpuopt__elimination_cpu *)memory)->head;
    return GPUOPT_OK;
}

static void gpuopt__elimination_cpu_destroy(gpuopt_elimination *e) { gpuopt__release(e->context, GPUOPT_HOST, e); }

static char *gpuopt__elimination_cpu_cost(const gpuopt_elimination *e, int64_t at) {
    return (char *)((const gpuopt__elimination_cpu *)e)->store + at * gpuopt__elimination_cost_bytes(&e->plan);
}

static gpuopt_status gpuopt__elimination_cpu_load(gpuopt_elimination *e, int32_t table, const void *cost,
                                                  const uint64_t *count) {
    const gpuopt__elimination_table *t = &e->plan.table[table];
    memcpy(gpuopt__elimination_cpu_cost(e, t->at), cost,
           (size_t)(t->entries * gpuopt__elimination_cost_bytes(&e->plan)));
    if (count)
        memcpy(((gpuopt__elimination_cpu *)e)->counts + t->count_at, count, sizeof(uint64_t) * (size_t)t->entries);
    return GPUOPT_OK;
}

static gpuopt_status gpuopt__elimination_cpu_loaded(gpuopt_elimination *e) {
    (void)e;
    return GPUOPT_OK;
}

static gpuopt_status gpuopt__elimination_cpu_condition(gpuopt_elimination *e, const int64_t *offset) {
    (void)e; /* the plan's own are read */
    (void)offset;
    return GPUOPT_OK;
}

static gpuopt_status gpuopt__elimination_cpu_run(gpuopt_elimination *e, const int32_t *list, int32_t from, int32_t to) {
    for (; from < to; from++) gpuopt__elimination_cpu_run_job((gpuopt__elimination_cpu *)e, &e->plan.job[list[from]]);
    return GPUOPT_OK;
}

/* ---- Results ---- */

static double gpuopt__elimination_cpu_value(const gpuopt_elimination *e, int64_t at) {
    return ((const double *)((const gpuopt__elimination_cpu *)e)->store)[at];
}

/* Adds one entry of a table to a total. */
static void gpuopt__elimination_cpu_add(const gpuopt_elimination *e, const gpuopt__elimination_table *t, int64_t at,
                                        gpuopt__elimination_total *total) {
    const gpuopt__elimination_cpu *own = (const gpuopt__elimination_cpu *)e;
    if (e->plan.type == GPUOPT_COST_DOUBLE)
        total->value = gpuopt__add(total->value, gpuopt__elimination_cpu_value(e, at));
    else
        total->cost = gpuopt__elimination_clamped_sum(
            total->cost, gpuopt__elimination_stored_cost(own->store, e->plan.bits, at), e->plan.forbidden);
    if (t->count_at >= 0)
        total->count = gpuopt__elimination_count_product(total->count, own->counts[t->count_at + at - t->at]);
}

static gpuopt_status gpuopt__elimination_cpu_finish(gpuopt_elimination *e, int64_t slice) {
    gpuopt__elimination_plan *plan = &e->plan;
    gpuopt__elimination_total *total = ((gpuopt__elimination_cpu *)e)->total;
    int32_t copy, k;
    for (copy = 0; copy < plan->copies; copy++) {
        gpuopt__elimination_total one = {0, 1, 0, 0};
        one.slice = slice;
        for (k = 0; k < plan->roots; k++) {
            const gpuopt__elimination_table *t = &plan->table[plan->root[k]];
            int64_t at = t->at + (t->source == -1 ? 0 : copy * t->entries);
            if (t->condition >= 0) at += plan->offset[(int64_t)copy * plan->condition_rows + t->condition];
            gpuopt__elimination_cpu_add(e, t, at, &one);
        }
        if (slice == 0) total[copy] = one;
        else gpuopt__elimination_add_slice(plan->type, plan->semiring, &total[copy], &one);
    }
    return GPUOPT_OK;
}

static gpuopt_status gpuopt__elimination_cpu_total(gpuopt_elimination *e, int32_t copy,
                                                   gpuopt__elimination_total *total) {
    *total = ((gpuopt__elimination_cpu *)e)->total[copy];
    return GPUOPT_OK;
}

/* The sum of the tables of a position, for given values of all their variables. */
static void gpuopt__elimination_cpu_bucket_total(const gpuopt_elimination *e, int32_t copy,
                                                 const gpuopt__elimination_bucket *bucket, const int32_t *value,
                                                 gpuopt__elimination_total *total) {
    const gpuopt__elimination_plan *plan = &e->plan;
    int32_t k;
    for (k = 0; k < bucket->inputs; k++) {
        const gpuopt__elimination_table *t = &plan->table[plan->input[bucket->input + k]];
        gpuopt__elimination_cpu_add(e, t, gpuopt__elimination_table_entry(t, plan->scope, plan->stride, value, copy),
                                    total);
    }
}

/* Looks up what was decided for a variable. */
static int32_t gpuopt__elimination_cpu_decided(const gpuopt_elimination *e, int32_t copy, int32_t position,
                                               const int32_t *value) {
    const gpuopt__elimination_plan *plan = &e->plan;
    const gpuopt__elimination_table *t = &plan->table[plan->bucket[plan->first_bucket[position]].message];
    int64_t entry;
    if (!t->decision_bits) return 0;
    entry = gpuopt__elimination_table_entry(t, plan->scope, plan->stride, value, 0) - t->at;
    return gpuopt__elimination_decision(((const gpuopt__elimination_cpu *)e)->decision + t->decision +
                                            copy * gpuopt__elimination_decision_words(t->entries, t->decision_bits),
                                        t->decision_bits, entry);
}

static gpuopt_status gpuopt__elimination_cpu_assign(gpuopt_elimination *e, int32_t copy, int32_t from, int32_t to,
                                                    int32_t *value, gpuopt__elimination_total *cost) {
    const gpuopt__elimination_plan *plan = &e->plan;
    int32_t p, b, v, k;
    for (p = to - 1; p >= from; p--) {
        int32_t variable = plan->order[p], best = 0;
        gpuopt__elimination_total least = {0, 1, 0, 0};
        if (plan->decides) {
            value[variable] = gpuopt__elimination_cpu_decided(e, copy, p, value);
            continue;
        }
        for (v = 0; v < plan->domain[variable]; v++) {
            gpuopt__elimination_total one = {0, 1, 0, 0};
            value[variable] = v;
            for (b = plan->first_bucket[p]; b < plan->first_bucket[p + 1]; b++)
                gpuopt__elimination_cpu_bucket_total(e, copy, &plan->bucket[b], value, &one);
            if (v == 0 || (plan->type == GPUOPT_COST_DOUBLE ? one.value < least.value : one.cost < least.cost)) {
                least = one;
                best = v;
            }
        }
        value[variable] = best;
    }
    memset(cost, 0, sizeof *cost);
    for (k = 0; k < plan->first_message && from == 0; k++)
        gpuopt__elimination_cpu_add(
            e, &plan->table[k],
            gpuopt__elimination_table_entry(&plan->table[k], plan->scope, plan->stride, value, copy), cost);
    return GPUOPT_OK;
}

/* sum[v] += cost[at + v * step], up to the limit. */
#define GPUOPT__ELIMINATION_ADD_COSTS(type) \
    for (v = 0; v < values; v++)            \
    sum[v] = gpuopt__elimination_clamped_sum(sum[v], ((const type *)store)[at + v * step], plan->forbidden)

static void gpuopt__elimination_cpu_add_costs(const gpuopt__elimination_plan *plan, const void *store, int64_t at,
                                              int64_t step, int32_t values, uint64_t *sum) {
    int32_t v;
    if (plan->bits == 8) GPUOPT__ELIMINATION_ADD_COSTS(uint8_t);
    else if (plan->bits == 16) GPUOPT__ELIMINATION_ADD_COSTS(uint16_t);
    else if (plan->bits == 32) GPUOPT__ELIMINATION_ADD_COSTS(uint32_t);
    else GPUOPT__ELIMINATION_ADD_COSTS(uint64_t);
}

#undef GPUOPT__ELIMINATION_ADD_COSTS

/* The bounds of all values of a variable for one partial assignment. Returns whether one of its values is bad. */
static int gpuopt__elimination_cpu_bound_row(const gpuopt__elimination_cpu *e, const gpuopt__elimination_lookup *q,
                                             int64_t row) {
    const gpuopt__elimination_plan *plan = &e->head.plan;
    const int doubles = plan->type == GPUOPT_COST_DOUBLE;
    const int32_t values = plan->domain[q->variable], *value = q->value + row * plan->variables;
    const int32_t first = plan->first_bucket[q->position], end = plan->first_bucket[q->position + 1];
    const int64_t *offset = plan->offset + (int64_t)q->copy * plan->condition_rows;
    uint64_t *sum = doubles ? NULL : (uint64_t *)(q->bound + row * values);
    double *real = doubles ? q->bound_value + row * values : NULL;
    gpuopt__elimination_total common = {0, 1, 0, 0};
    int32_t b, k, v;
    int bad = 0;
    for (k = 0; k < (q->increase ? end - first : plan->tables); k++) {
        const gpuopt__elimination_table *t = &plan->table[q->increase ? plan->bucket[first + k].message : k];
        if (!gpuopt__elimination_is_common(t, q->position, q->increase)) continue;
        gpuopt__elimination_cpu_add(&e->head, t,
                                    gpuopt__elimination_partial_entry(t, plan->scope, plan->stride, plan->domain,
                                                                      offset, value, q->copy, t->fixed, &bad),
                                    &common);
    }
    if (doubles) memset(real, 0, sizeof *real * (size_t)values);
    else memset(sum, 0, sizeof *sum * (size_t)values);
    for (b = first; b < end; b++)
        for (k = 0; k < plan->bucket[b].inputs; k++) {
            const gpuopt__elimination_table *t = &plan->table[plan->input[plan->bucket[b].input + k]];
            const int64_t step = plan->stride[t->scope + t->fixed]; /* of the variable itself */
            const int64_t at = gpuopt__elimination_partial_entry(t, plan->scope, plan->stride, plan->domain, offset,
                                                                 value, q->copy, t->fixed + 1, &bad);
            if (!doubles) gpuopt__elimination_cpu_add_costs(plan, e->store, at, step, values, sum);
            for (v = 0; doubles && v < values; v++)
                real[v] = gpuopt__add(real[v], ((const double *)e->store)[at + v * step]);
        }
    for (v = 0; v < values; v++)
        if (doubles) real[v] = gpuopt__elimination_bound_value(q, real[v], common.value, plan->sign);
        else
            q->bound[row * values + v] =
                gpuopt__elimination_bound_cost(q, sum[v], common.cost, plan->forbidden, plan->sign);
    return bad;
}

static gpuopt_status gpuopt__elimination_cpu_bounds(gpuopt_elimination *elimination, gpuopt_memory where,
                                                    const gpuopt__elimination_lookup *q, int64_t *bad) {
    const gpuopt__elimination_cpu *e = (const gpuopt__elimination_cpu *)elimination;
    int64_t row, first = INT64_MAX;
    (void)where;
#ifdef _OPENMP
#pragma omp parallel for schedule(static) reduction(min      \
                                                    : first) \
    num_threads(e->threads) if (e->threads > 1 && q->count >= GPUOPT__ELIMINATION_CPU_LOOKUPS_FROM)
#endif
    for (row = 0; row < q->count; row++) {
        gpuopt__environment_scope scope;
        gpuopt__environment_enter(&scope);
        if (gpuopt__elimination_cpu_bound_row(e, q, row) && row < first) first = row;
        gpuopt__environment_leave(&scope);
    }
    *bad = first;
    return GPUOPT_OK;
}

static gpuopt_status gpuopt__elimination_cpu_read(gpuopt_elimination *e, int32_t table, int32_t copy, int64_t first,
                                                  int64_t count, void *cost, uint64_t *counts) {
    const gpuopt__elimination_table *t = &e->plan.table[table];
    int64_t from = copy * t->entries + first;
    if (cost)
        memcpy(cost, gpuopt__elimination_cpu_cost(e, t->at + from),
               (size_t)(count * gpuopt__elimination_cost_bytes(&e->plan)));
    if (counts)
        memcpy(counts, ((gpuopt__elimination_cpu *)e)->counts + t->count_at + from, sizeof(uint64_t) * (size_t)count);
    return GPUOPT_OK;
}

static gpuopt_status gpuopt__elimination_cpu_view(gpuopt_elimination *e, int32_t table, int32_t copy,
                                                  const void **view) {
    (void)e;
    (void)table;
    (void)copy;
    (void)view;
    return GPUOPT_ERROR_UNSUPPORTED;
}

static const struct gpuopt__elimination_backend gpuopt__elimination_cpu_table = {
    gpuopt__elimination_cpu_plan,   gpuopt__elimination_cpu_create,     gpuopt__elimination_cpu_destroy,
    gpuopt__elimination_cpu_run,    gpuopt__elimination_cpu_finish,     gpuopt__elimination_cpu_total,
    gpuopt__elimination_cpu_load,   gpuopt__elimination_cpu_loaded,     gpuopt__elimination_cpu_condition,
    gpuopt__elimination_cpu_assign, gpuopt__elimination_cpu_bounds,     gpuopt__elimination_cpu_read,
    gpuopt__elimination_cpu_view,   gpuopt__elimination_cpu_free_bytes, 0};

#endif /* GPUOPT_IMPL_ELIMINATION_CPU_H */
