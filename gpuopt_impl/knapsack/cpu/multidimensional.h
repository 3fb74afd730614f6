/* SPDX-License-Identifier: MIT
 *
 * Multidimensional knapsacks on the CPU: threads share the workers.
 */
#ifndef GPUOPT_IMPL_KNAPSACK_CPU_MULTIDIMENSIONAL_H
#define GPUOPT_IMPL_KNAPSACK_CPU_MULTIDIMENSIONAL_H

#include "../multidimensional/calls.h"

enum { GPUOPT__KNAPSACK_MULTI_CHUNK = 16 }; /* workers that a thread takes at a time */

static uint64_t gpuopt__knapsack_multi_cpu_cut(const gpuopt_knapsack_multidimensional_desc *desc, void *memory,
                                               gpuopt__knapsack_multi_workers *ws) {
    gpuopt__arena arena;
    arena.base = (char *)memory;
    arena.used = 0;
    gpuopt__cut(&arena, 1, sizeof *ws);
    gpuopt__knapsack_multi_cut_workers(&arena, desc, ws);
    return arena.used;
}

static void gpuopt__knapsack_multi_cpu_plan(const gpuopt_context *context,
                                            const gpuopt_knapsack_multidimensional_desc *desc,
                                            gpuopt_memory_plan *plan) {
    gpuopt__knapsack_multi_workers draft;
    (void)context;
    plan->host_bytes += gpuopt__knapsack_multi_cpu_cut(desc, NULL, &draft);
}

static gpuopt_status gpuopt__knapsack_multi_cpu_create(gpuopt_knapsack_multidimensional *k) {
    gpuopt__knapsack_multi_workers draft, *ws;
    int64_t w;
    gpuopt_status status =
        gpuopt__allocate(k->context, GPUOPT_HOST, gpuopt__knapsack_multi_cpu_cut(&k->desc, NULL, &draft), &k->engine);
    if (status) return status;
    ws = (gpuopt__knapsack_multi_workers *)k->engine;
    gpuopt__knapsack_multi_cpu_cut(&k->desc, k->engine, ws);
    ws->apart = 1;
    for (w = 0; w < ws->count; w++) {
        ws->level[w] = w > 0 ? -1 : 0;
        ws->lower[w] = w > 0 ? -1 : k->lower;
    }
    memcpy(ws->value, k->root, sizeof *k->root * (size_t)k->table.width);
    memset(ws->open, 0, sizeof *ws->open * (size_t)k->table.words);
    memset(ws->deviates, 0, sizeof *ws->deviates * (size_t)k->table.words);
    return GPUOPT_OK;
}

static void gpuopt__knapsack_multi_cpu_destroy(gpuopt_knapsack_multidimensional *k) {
    gpuopt__release(k->context, GPUOPT_HOST, k->engine);
}

/* The width is a constant in each call, so the compiler can unroll the loops over it. */
static gpuopt__knapsack_multi_found gpuopt__knapsack_multi_cpu_work(const gpuopt__knapsack_multi_tables *t,
                                                                    const gpuopt__knapsack_multi_workers *ws, int64_t w,
                                                                    int64_t lower) {
    return t->width == 16   ? gpuopt__knapsack_multi_round(t, ws, w, lower, GPUOPT__KNAPSACK_MULTI_BUDGET, 16)
           : t->width == 32 ? gpuopt__knapsack_multi_round(t, ws, w, lower, GPUOPT__KNAPSACK_MULTI_BUDGET, 32)
                            : gpuopt__knapsack_multi_round(t, ws, w, lower, GPUOPT__KNAPSACK_MULTI_BUDGET,
                                                           GPUOPT__KNAPSACK_MULTI_WIDTH);
}

static gpuopt_status gpuopt__knapsack_multi_cpu_round(gpuopt_knapsack_multidimensional *k,
                                                      gpuopt__knapsack_multi_job *job) {
    const gpuopt__knapsack_multi_workers *ws = (const gpuopt__knapsack_multi_workers *)k->engine;
    const int64_t active = job->active, lower = job->lower;
    const int threads =
        active < 4 * GPUOPT__KNAPSACK_MULTI_CHUNK ? 1 : gpuopt__team(k->context, k->context->desc.threads);
    int64_t nodes = 0, busy = 0, best = lower, w;
    int s;
    (void)threads; /* without OpenMP there is one */
    for (s = 0; s < job->strides; s++) {
        const int64_t stride = job->stride[s];
#ifdef GPUOPT__OPENMP
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
#endif
        for (w = 0; w < active; w++)
            if (!(w & stride)) gpuopt__knapsack_multi_share(&k->table, ws, w, w | stride);
    }
#ifdef GPUOPT__OPENMP
#pragma omp parallel for num_threads(threads) schedule(dynamic, GPUOPT__KNAPSACK_MULTI_CHUNK) \
    reduction(+ : nodes, busy) reduction(max : best) if (threads > 1)
#endif
    for (w = 0; w < active; w++) {
        const gpuopt__knapsack_multi_found found = gpuopt__knapsack_multi_cpu_work(&k->table, ws, w, lower);
        nodes += found.nodes;
        busy += found.busy;
        best = found.lower > best ? found.lower : best;
    }
    job->nodes = nodes;
    job->busy = busy;
    job->best = best;
    for (w = 0; w < active && best > lower && job->finder < 0; w++)
        if (ws->lower[w] == best) job->finder = w;
    return GPUOPT_OK;
}

static gpuopt_status gpuopt__knapsack_multi_cpu_found(gpuopt_knapsack_multidimensional *k, int64_t worker,
                                                      uint64_t *deviates) {
    const gpuopt__knapsack_multi_workers *ws = (const gpuopt__knapsack_multi_workers *)k->engine;
    memcpy(deviates, ws->found + worker * k->table.words, sizeof *deviates * (size_t)k->table.words);
    return GPUOPT_OK;
}

#endif /* GPUOPT_IMPL_KNAPSACK_CPU_MULTIDIMENSIONAL_H */
