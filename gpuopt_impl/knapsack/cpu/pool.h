/* SPDX-License-Identifier: MIT
 *
 * Knapsack on the CPU: memory, and steps divided among threads. Each thread marks the children that stay in its parts
 * of a step. Once their number is known, all threads copy them to their places.
 */
#ifndef GPUOPT_IMPL_KNAPSACK_CPU_POOL_H
#define GPUOPT_IMPL_KNAPSACK_CPU_POOL_H

#include "../model/handle.h"
#include "../search/cut.h"
#include "step.h"

enum {
    GPUOPT__KNAPSACK_PARTS = 4,   /* parts of a step per thread, for balance */
    GPUOPT__KNAPSACK_ALONE = 8192 /* a step with fewer children is left to one thread */
};

typedef struct gpuopt__knapsack_cpu {
    gpuopt_knapsack head;
    gpuopt__knapsack_pool pool;
    void *nodes;                  /* memory of the pool, and of the following: */
    uint64_t *mark;               /* [pool / 32 + 1] a bit for each child of a step; for several threads */
    gpuopt__knapsack_found *part; /* [threads * PARTS] */
    int threads;
} gpuopt__knapsack_cpu;

static uint64_t gpuopt__knapsack_cpu_cut(const gpuopt_context *context, void *memory, gpuopt__knapsack_cpu *k) {
    gpuopt__arena arena;
    int64_t threads = context->desc.threads;
    arena.base = (char *)memory;
    arena.used = 0;
    k->threads = (int)threads;
    gpuopt__cut(&arena, 1, sizeof *k);
    k->head.chunk = GPUOPT__KNAPSACK_CHUNK;
    k->head.staging = (gpuopt__knapsack_node *)gpuopt__cut(&arena, k->head.chunk, sizeof *k->head.staging);
    k->part = (gpuopt__knapsack_found *)gpuopt__cut(&arena, threads * GPUOPT__KNAPSACK_PARTS, sizeof *k->part);
    return arena.used;
}

static uint64_t gpuopt__knapsack_cpu_cut_nodes(const gpuopt_context *context, int64_t pool, void *memory,
                                               gpuopt__knapsack_cpu *k) {
    gpuopt__arena arena;
    arena.base = (char *)memory;
    arena.used = 0;
    k->mark = (uint64_t *)gpuopt__cut(&arena, context->desc.threads > 1 ? pool / 32 + 1 : 0, sizeof *k->mark);
    k->pool.residual = (int64_t *)gpuopt__cut(&arena, pool, sizeof(int64_t));
    k->pool.profit = (uint64_t *)gpuopt__cut(&arena, pool, sizeof(uint64_t));
    k->pool.decisions = (uint32_t *)gpuopt__cut(&arena, pool, sizeof(uint32_t));
    k->nodes = memory;
    return arena.used;
}

static void gpuopt__knapsack_cpu_plan(const gpuopt_context *context, const gpuopt_knapsack_desc *desc,
                                      gpuopt_memory_plan *plan) {
    gpuopt__knapsack_cpu k;
    plan->host_bytes += gpuopt__knapsack_cpu_cut(context, NULL, &k);
    plan->host_bytes += gpuopt__knapsack_cpu_cut_nodes(context, desc->pool, NULL, &k);
}

static gpuopt_status gpuopt__knapsack_cpu_create(gpuopt_context *context, const gpuopt_knapsack_desc *desc,
                                                 gpuopt_knapsack **knapsack) {
    gpuopt__knapsack_cpu draft;
    void *memory, *nodes;
    gpuopt_status status;
    memset(&draft, 0, sizeof draft);
    status = gpuopt__allocate(context, GPUOPT_HOST, gpuopt__knapsack_cpu_cut(context, NULL, &draft), &memory);
    if (status) return status;
    status = gpuopt__allocate(context, GPUOPT_HOST, gpuopt__knapsack_cpu_cut_nodes(context, desc->pool, NULL, &draft),
                              &nodes);
    if (status) {
        gpuopt__release(context, GPUOPT_HOST, memory);
        return status;
    }
    gpuopt__knapsack_cpu_cut(context, memory, &draft);
    gpuopt__knapsack_cpu_cut_nodes(context, desc->pool, nodes, &draft);
    draft.head.context = context;
    *(gpuopt__knapsack_cpu *)memory = draft;
    *knapsack = &((gpuopt__knapsack_cpu *)memory)->head;
    return GPUOPT_OK;
}

static void gpuopt__knapsack_cpu_destroy(gpuopt_knapsack *k) {
    gpuopt__release(k->context, GPUOPT_HOST, ((gpuopt__knapsack_cpu *)k)->nodes);
    gpuopt__release(k->context, GPUOPT_HOST, k);
}

static gpuopt_status gpuopt__knapsack_cpu_grow(gpuopt_knapsack *knapsack, int64_t pool) {
    gpuopt__knapsack_cpu *k = (gpuopt__knapsack_cpu *)knapsack;
    const gpuopt__knapsack_pool old = k->pool;
    const gpuopt_context *context = knapsack->context;
    void *memory, *before = k->nodes;
    gpuopt__knapsack_cpu draft;
    int side;
    memory = gpuopt__try_allocate(context, GPUOPT_HOST, gpuopt__knapsack_cpu_cut_nodes(context, pool, NULL, &draft));
    if (!memory) return GPUOPT_ERROR_MEMORY;
    gpuopt__knapsack_cpu_cut_nodes(context, pool, memory, k);
    for (side = 0; side < 2; side++) { /* the nodes of side 1 lie at the pool's end */
        const size_t nodes = (size_t)knapsack->search.used[side];
        const int64_t from = side ? knapsack->pool - (int64_t)nodes : 0, to = side ? pool - (int64_t)nodes : 0;
        memcpy(k->pool.residual + to, old.residual + from, nodes * sizeof *old.residual);
        memcpy(k->pool.profit + to, old.profit + from, nodes * sizeof *old.profit);
        memcpy(k->pool.decisions + to, old.decisions + from, nodes * sizeof *old.decisions);
    }
    gpuopt__release(context, GPUOPT_HOST, before);
    return GPUOPT_OK;
}

static gpuopt_status gpuopt__knapsack_cpu_load(gpuopt_knapsack *k) {
    (void)k;
    return GPUOPT_OK;
}

/* ---- Steps ---- */

/* The first rank of part t of a step with `work` ranks: a multiple of 64. */
static inline int64_t gpuopt__knapsack_cpu_part_begin(int64_t work, int parts, int t) {
    return t == parts ? work : work / parts * t / 64 * 64;
}

/* All parts of a step, by all threads. COPY: part[t].children is the number of children in the parts before t. */
static void gpuopt__knapsack_cpu_parts(gpuopt__knapsack_cpu *k, const gpuopt__knapsack_search *s,
                                       const gpuopt__knapsack_job *job, int64_t work, gpuopt__knapsack_task task) {
    int parts = k->threads * GPUOPT__KNAPSACK_PARTS, t;
#ifdef GPUOPT__OPENMP
#pragma omp parallel for schedule(dynamic) num_threads(gpuopt__team(k->head.context, k->threads))
#endif
    for (t = 0; t < parts; t++) {
        int64_t begin = gpuopt__knapsack_cpu_part_begin(work, parts, t),
                end = gpuopt__knapsack_cpu_part_begin(work, parts, t + 1);
        gpuopt__environment_scope scope;
        gpuopt__environment_enter(&scope);
        if (task == GPUOPT__KNAPSACK_COPY) {
            gpuopt__knapsack_part(s, job, &k->pool, begin, end, task, k->mark,
                                  job->to + k->part[t].children * job->to_step);
        } else {
            memset(k->mark + begin / 64, 0, (size_t)((end + 63) / 64 - begin / 64) * sizeof *k->mark);
            k->part[t] = gpuopt__knapsack_part(s, job, &k->pool, begin, end, task, k->mark, 0);
        }
        gpuopt__environment_leave(&scope);
    }
}

static gpuopt__knapsack_found gpuopt__knapsack_cpu_step(gpuopt__knapsack_cpu *k, const gpuopt__knapsack_search *s,
                                                        const gpuopt__knapsack_job *job) {
    gpuopt__knapsack_found sum = gpuopt__knapsack_nothing(job->lower);
    gpuopt__knapsack_job own = *job;
    int64_t work;
    int t;
    if (k->threads == 1 || gpuopt__knapsack_children(job) < GPUOPT__KNAPSACK_ALONE)
        return gpuopt__knapsack_step(s, job, &k->pool);
    if (s->dominance) own.flipped_end = gpuopt__knapsack_light(&k->pool, job);
    work = gpuopt__knapsack_children(&own);
    gpuopt__knapsack_cpu_parts(k, s, &own, work, GPUOPT__KNAPSACK_MARK);
    for (t = 0; t < k->threads * GPUOPT__KNAPSACK_PARTS; t++) {
        int64_t before = sum.children;
        gpuopt__knapsack_join(&sum, &k->part[t]);
        k->part[t].children = before;
    }
    if (sum.children <= job->limit) gpuopt__knapsack_cpu_parts(k, s, &own, work, GPUOPT__KNAPSACK_COPY);
    return sum;
}

static gpuopt_status gpuopt__knapsack_cpu_step_alone(gpuopt_knapsack *k, const gpuopt__knapsack_search *s,
                                                     const gpuopt__knapsack_job *job, gpuopt__knapsack_found *found) {
    *found = gpuopt__knapsack_cpu_step((gpuopt__knapsack_cpu *)k, s, job);
    return GPUOPT_OK;
}

static gpuopt_status gpuopt__knapsack_cpu_complete(gpuopt_knapsack *k, gpuopt__knapsack_search *s) {
    gpuopt__knapsack_complete(s, &((gpuopt__knapsack_cpu *)k)->pool);
    return GPUOPT_OK;
}

static gpuopt_status gpuopt__knapsack_cpu_run(gpuopt_knapsack *knapsack, gpuopt__knapsack_search *s, int64_t expanded,
                                              int64_t steps) {
    gpuopt__knapsack_cpu *k = (gpuopt__knapsack_cpu *)knapsack;
    gpuopt__knapsack_job job;
    gpuopt_status status = GPUOPT_OK;
    while (!status && s->expanded < expanded && s->steps < steps && gpuopt__knapsack_next(s, &job)) {
        gpuopt__knapsack_found found = gpuopt__knapsack_cpu_step(k, s, &job);
        if (gpuopt__knapsack_overflows(s, &job, &found)) {
            if (gpuopt__knapsack_has_ranks(s)) break;
            status = gpuopt__knapsack_grow_or_slice(knapsack, s);
            continue;
        }
        gpuopt__knapsack_apply(s, &job, &found, found.children);
        if (found.children > 0 && gpuopt__knapsack_completes(s)) gpuopt__knapsack_complete(s, &k->pool);
        if (gpuopt__knapsack_stops(knapsack, s)) break;
    }
    return status;
}

/* ---- Nodes in and out ---- */

static gpuopt_status gpuopt__knapsack_cpu_get(gpuopt_knapsack *knapsack, const gpuopt__knapsack_search *s, int64_t at,
                                              int step, int64_t count, gpuopt__knapsack_node *node) {
    (void)s;
    gpuopt__knapsack_read(&((gpuopt__knapsack_cpu *)knapsack)->pool, at, step, count, node);
    return GPUOPT_OK;
}

static gpuopt_status gpuopt__knapsack_cpu_residuals(gpuopt_knapsack *knapsack, const gpuopt__knapsack_search *s,
                                                    int64_t at, int64_t stride, int64_t count, int64_t *residual) {
    const gpuopt__knapsack_pool *pool = &((gpuopt__knapsack_cpu *)knapsack)->pool;
    int64_t i;
    (void)s;
    for (i = 0; i < count; i++) residual[i] = pool->residual[at + i * stride];
    return GPUOPT_OK;
}

static gpuopt_status gpuopt__knapsack_cpu_before(gpuopt_knapsack *knapsack, const gpuopt__knapsack_search *s,
                                                 const gpuopt__knapsack_job *job, int64_t first, int64_t count,
                                                 const int64_t *cut, int32_t cuts, int64_t *same, int64_t *flipped) {
    (void)s;
    gpuopt__knapsack_count_all(&((gpuopt__knapsack_cpu *)knapsack)->pool, job, first, count, cut, cuts, same, flipped);
    return GPUOPT_OK;
}

static gpuopt_status gpuopt__knapsack_cpu_put(gpuopt_knapsack *knapsack, const gpuopt__knapsack_search *s, int64_t at,
                                              int step, int64_t count, const gpuopt__knapsack_node *node) {
    (void)s;
    gpuopt__knapsack_store(&((gpuopt__knapsack_cpu *)knapsack)->pool, at, step, count, node);
    return GPUOPT_OK;
}

static gpuopt_status gpuopt__knapsack_cpu_pick(gpuopt_knapsack *knapsack, const gpuopt__knapsack_search *s,
                                               const gpuopt__knapsack_pick *p, gpuopt__knapsack_node *node) {
    (void)s;
    gpuopt__knapsack_pick_nodes(&((gpuopt__knapsack_cpu *)knapsack)->pool, p, node);
    return GPUOPT_OK;
}

#endif /* GPUOPT_IMPL_KNAPSACK_CPU_POOL_H */
