/* SPDX-License-Identifier: MIT
 *
 * The CPU backend of elimination: the handle, the value phase, bounds, and the table of its functions.
 */
#ifndef GPUOPT_IMPL_ELIMINATION_CPU_HANDLE_H
#define GPUOPT_IMPL_ELIMINATION_CPU_HANDLE_H

#include "jobs.h"

/* ---- The handle ---- */

static uint64_t gpuopt__elimination_cpu_cut(const gpuopt_context *context, const gpuopt__elimination_plan *plan,
                                            void *memory, gpuopt__elimination_cpu *e) {
    gpuopt__arena arena;
    gpuopt__elimination_cpu_scratch scratch;
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
    e->scratch = (gpuopt__elimination_cpu_scratch *)gpuopt__cut(&arena, e->threads, sizeof *e->scratch);
    for (t = 0; t < e->threads; t++) {
        gpuopt__elimination_cpu_cut_scratch(plan, &arena, &scratch);
        if (memory) e->scratch[t] = scratch;
    }
    return arena.used;
}

static gpuopt_status gpuopt__elimination_cpu_free_bytes(const gpuopt_context *context, uint64_t *bytes) {
    (void)context;
    *bytes = UINT64_MAX;
    return GPUOPT_OK;
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

static void *gpuopt__elimination_cpu_place(gpuopt_elimination *e, int32_t table, uint64_t **count) {
    const gpuopt__elimination_table *t = &e->plan.table[table];
    *count = t->count_at < 0 ? NULL : ((gpuopt__elimination_cpu *)e)->counts + t->count_at;
    return gpuopt__elimination_cpu_cost(e, t->at);
}

static gpuopt_status gpuopt__elimination_cpu_loaded(gpuopt_elimination *e) {
    (void)e;
    return GPUOPT_OK;
}

static gpuopt_status gpuopt__elimination_cpu_condition(gpuopt_elimination *e, const int64_t *offset) {
    (void)e; /* the plan's arrays are read */
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

/* The decision for a variable. */
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

/* The bounds of all values of a variable for one partial assignment. Returns whether the assignment has a bad value. */
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

static gpuopt_status gpuopt__elimination_cpu_bounds(gpuopt_elimination *elimination, gpuopt_memory_space where,
                                                    const gpuopt__elimination_lookup *q, int64_t *bad) {
    const gpuopt__elimination_cpu *e = (const gpuopt__elimination_cpu *)elimination;
    int64_t row, first = INT64_MAX;
    (void)where;
#ifdef GPUOPT__OPENMP
#pragma omp parallel for schedule(static) reduction(min                          \
                                                    : first)                     \
    num_threads(gpuopt__team(e->head.context, e->threads)) if (e->threads > 1 && \
                                                               q->count >= GPUOPT__ELIMINATION_CPU_LOOKUPS_FROM)
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

#endif /* GPUOPT_IMPL_ELIMINATION_CPU_HANDLE_H */
