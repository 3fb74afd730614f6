/* SPDX-License-Identifier: MIT
 *
 * Multiple-choice knapsacks on the CPU: a long step is divided into parts, one for each thread. Each part writes its
 * states to its own piece of the list, and the pieces are then moved together. If a part does not fit its piece, all
 * parts are computed again, since the places of their states are known by then.
 */
#ifndef GPUOPT_IMPL_KNAPSACK_CPU_MULTIPLE_CHOICE_H
#define GPUOPT_IMPL_KNAPSACK_CPU_MULTIPLE_CHOICE_H

#include "../multiple_choice/handle.h"

enum { GPUOPT__KNAPSACK_CHOICE_ALONE = 1 << 15 }; /* new states up to which one thread is faster than several */

typedef struct gpuopt__knapsack_choice_cpu {
    gpuopt__knapsack_choice_cursor *heap; /* [threads * most of a class] */
    gpuopt__knapsack_choice_found *found; /* [threads] */
    int64_t *to;                          /* [threads] start of a part's states */
    int threads;
} gpuopt__knapsack_choice_cpu;

static uint64_t gpuopt__knapsack_choice_cpu_cut(const gpuopt_context *context, int64_t most, void *memory,
                                                gpuopt__knapsack_choice_cpu *c) {
    gpuopt__arena arena;
    arena.base = (char *)memory;
    arena.used = 0;
    gpuopt__cut(&arena, 1, sizeof *c);
    c->threads = context->desc.threads;
    c->heap = (gpuopt__knapsack_choice_cursor *)gpuopt__cut(&arena, c->threads * most, sizeof *c->heap);
    c->found = (gpuopt__knapsack_choice_found *)gpuopt__cut(&arena, c->threads, sizeof *c->found);
    c->to = (int64_t *)gpuopt__cut(&arena, c->threads, sizeof *c->to);
    return arena.used;
}

static void gpuopt__knapsack_choice_cpu_plan(const gpuopt_context *context, int64_t limit, int64_t most,
                                             gpuopt_memory_plan *plan) {
    gpuopt__knapsack_choice_cpu draft;
    (void)limit;
    plan->host_bytes += gpuopt__knapsack_choice_cpu_cut(context, most, NULL, &draft);
}

static gpuopt_status gpuopt__knapsack_choice_cpu_create(gpuopt_knapsack_multiple_choice *k) {
    gpuopt__knapsack_choice_cpu draft;
    gpuopt_status status = gpuopt__allocate(
        k->context, GPUOPT_HOST, gpuopt__knapsack_choice_cpu_cut(k->context, k->most, NULL, &draft), &k->engine);
    if (!status)
        gpuopt__knapsack_choice_cpu_cut(k->context, k->most, k->engine, (gpuopt__knapsack_choice_cpu *)k->engine);
    return status;
}

static void gpuopt__knapsack_choice_cpu_destroy(gpuopt_knapsack_multiple_choice *k) {
    gpuopt__release(k->context, GPUOPT_HOST, k->engine);
}

static void gpuopt__knapsack_choice_cpu_grow(gpuopt_knapsack_multiple_choice *k, int64_t limit) {
    (void)k;
    (void)limit;
}

static int64_t gpuopt__knapsack_choice_cpu_begin(const gpuopt__knapsack_choice_merge *m, int p, int parts) {
    gpuopt__knapsack_choice_range r = gpuopt__knapsack_choice_range_of(m, p, parts);
    while (r.low < r.high) {
        const int64_t middle = gpuopt__knapsack_choice_range_middle(&r);
        int64_t lighter = 0;
        int32_t j;
        for (j = 0; j < m->options; j++) lighter += gpuopt__knapsack_choice_lighter_states(m, j, middle);
        gpuopt__knapsack_choice_range_halve(&r, lighter);
    }
    return r.low;
}

/* All parts of a step. capacity: of a piece, checked at its end; -1: enough for all. */
static void gpuopt__knapsack_choice_cpu_parts(const gpuopt_knapsack_multiple_choice *k,
                                              const gpuopt__knapsack_choice_merge *m, int64_t capacity) {
    const gpuopt__knapsack_choice_cpu *c = (const gpuopt__knapsack_choice_cpu *)k->engine;
    int p;
#ifdef GPUOPT__OPENMP
#pragma omp parallel for num_threads(gpuopt__team(k->context, c->threads)) schedule(static, 1)
#endif
    for (p = 0; p < c->threads; p++) {
        const int64_t begin = gpuopt__knapsack_choice_cpu_begin(m, p, c->threads),
                      end = gpuopt__knapsack_choice_cpu_begin(m, p + 1, c->threads);
        c->found[p] = gpuopt__knapsack_choice_part(m, c->heap + p * k->most, begin, end, c->to[p],
                                                   capacity < 0 ? c->found[p].kept : capacity);
    }
}

static void gpuopt__knapsack_choice_cpu_move(const gpuopt__knapsack_choice_list *list, int64_t to, int64_t from,
                                             int64_t count) {
    const size_t bytes = sizeof(int64_t) * (size_t)count;
    memmove(list->weight + to, list->weight + from, bytes);
    memmove(list->profit + to, list->profit + from, bytes);
    memmove(list->word + to, list->word + from, bytes);
}

static gpuopt_status gpuopt__knapsack_choice_cpu_step(gpuopt_knapsack_multiple_choice *k,
                                                      gpuopt__knapsack_choice_job *job) {
    const gpuopt__knapsack_choice_cpu *c = (const gpuopt__knapsack_choice_cpu *)k->engine;
    const gpuopt__knapsack_choice_merge *m = &job->merge;
    const int64_t capacity = k->limit / c->threads;
    int64_t kept = 0;
    int p, fits = 1;
    if (c->threads == 1 || m->count < c->threads || m->count < GPUOPT__KNAPSACK_CHOICE_ALONE / m->options) {
        job->found = gpuopt__knapsack_choice_part(m, c->heap, INT64_MIN, INT64_MAX, 0, k->limit);
        return GPUOPT_OK;
    }
    for (p = 0; p < c->threads; p++) c->to[p] = p * capacity;
    gpuopt__knapsack_choice_cpu_parts(k, m, capacity);
    for (p = 0; p < c->threads; p++) {
        fits &= c->found[p].kept <= capacity;
        c->to[p] = kept;
        kept += c->found[p].kept;
    }
    if (!fits && kept <= k->limit) gpuopt__knapsack_choice_cpu_parts(k, m, -1);
    job->found = c->found[0];
    for (p = 1; p < c->threads; p++) {
        if (fits) gpuopt__knapsack_choice_cpu_move(&m->to, c->to[p], p * capacity, c->found[p].kept);
        gpuopt__knapsack_choice_join(&job->found, &c->found[p]);
    }
    return GPUOPT_OK;
}

#endif /* GPUOPT_IMPL_KNAPSACK_CPU_MULTIPLE_CHOICE_H */
