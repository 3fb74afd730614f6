/* SPDX-License-Identifier: MIT
 *
 * Batches of small knapsacks on the CPU: each is searched by one thread.
 */
#ifndef GPUOPT_IMPL_KNAPSACK_CPU_BATCH_H
#define GPUOPT_IMPL_KNAPSACK_CPU_BATCH_H

#include "../../common/items.h"
#include "../batch/calls.h"

enum { GPUOPT__KNAPSACK_BATCH_CHUNK = 16 }; /* knapsacks that a thread takes at a time */

static void gpuopt__knapsack_cpu_batch_plan(const gpuopt_context *context, const gpuopt_knapsack_batch_desc *desc,
                                            gpuopt_memory_plan *plan) {
    (void)context;
    (void)desc;
    (void)plan;
}

static gpuopt_status gpuopt__knapsack_cpu_batch_create(gpuopt_knapsack_batch *b) {
    (void)b;
    return GPUOPT_OK;
}

static void gpuopt__knapsack_cpu_batch_destroy(gpuopt_knapsack_batch *b) { (void)b; }

static void gpuopt__knapsack_cpu_batch_next(void *of, int thread, int64_t chunk, int stopped) {
    gpuopt__knapsack_batch_job *job = (gpuopt__knapsack_batch_job *)of;
    gpuopt__knapsack_small_item item[GPUOPT__KNAPSACK_SMALL_ITEMS];
    gpuopt__knapsack_small_search s;
    int64_t k = chunk * GPUOPT__KNAPSACK_BATCH_CHUNK, end = k + GPUOPT__KNAPSACK_BATCH_CHUNK;
    (void)thread;
    for (end = end < job->count ? end : job->count; k < end; k++)
        if (stopped) gpuopt__knapsack_small_skip(&job->given, k, &job->wanted);
        else gpuopt__knapsack_small_solve(&job->given, k, job->node_limit, item, &s, &job->wanted);
}

static gpuopt_status gpuopt__knapsack_cpu_batch_run(gpuopt_knapsack_batch *b) {
    gpuopt__knapsack_batch_job *job = &b->job;
    const int64_t chunks = (job->count + GPUOPT__KNAPSACK_BATCH_CHUNK - 1) / GPUOPT__KNAPSACK_BATCH_CHUNK;
    const int threads =
        gpuopt__team(b->context, b->context->desc.threads < chunks ? b->context->desc.threads : (int)chunks);
    uint64_t fault = GPUOPT__KNAPSACK_SMALL_NO_FAULT;
    int64_t k;
#ifdef GPUOPT__OPENMP
#pragma omp parallel for num_threads(threads) schedule(static) reduction(min : fault) if (threads > 1)
#else
    (void)threads;
#endif
    for (k = 0; k < job->count; k++) {
        const uint64_t word = gpuopt__knapsack_small_fault(&job->given, k);
        fault = word < fault ? word : fault;
    }
    job->fault = fault;
    if (fault != GPUOPT__KNAPSACK_SMALL_NO_FAULT) return GPUOPT_OK;
    gpuopt__each_item(b->context, chunks, 1, gpuopt__knapsack_cpu_batch_next, job);
    return GPUOPT_OK;
}

#endif /* GPUOPT_IMPL_KNAPSACK_CPU_BATCH_H */
