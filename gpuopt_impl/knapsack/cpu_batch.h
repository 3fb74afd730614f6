/* SPDX-License-Identifier: MIT
 *
 * Batches of small knapsacks on the CPU: each is searched by one thread.
 */
#ifndef GPUOPT_IMPL_KNAPSACK_CPU_BATCH_H
#define GPUOPT_IMPL_KNAPSACK_CPU_BATCH_H

#ifdef _OPENMP
#include <omp.h>
#endif

#include "batch.h"

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

/* Whether the host has asked to stop, which only the thread that made the call may find out: thread 0. */
static int gpuopt__knapsack_cpu_batch_stopped(gpuopt_knapsack_batch *b, int thread, int64_t k) {
    const int asks = thread == 0 && k > 0 && k % GPUOPT__KNAPSACK_BATCH_CHUNK == 0;
#ifdef _OPENMP
    if (__atomic_load_n(&b->stopped, __ATOMIC_RELAXED)) return 1;
    if (!asks || !gpuopt__asked_to_stop(b->context)) return 0;
    __atomic_store_n(&b->stopped, 1, __ATOMIC_RELAXED);
#else
    if (b->stopped) return 1;
    if (!asks || !gpuopt__asked_to_stop(b->context)) return 0;
    b->stopped = 1;
#endif
    return 1;
}

static void gpuopt__knapsack_cpu_batch_next(gpuopt_knapsack_batch *b, int thread, int64_t k) {
    gpuopt__knapsack_small_item item[GPUOPT__KNAPSACK_SMALL_ITEMS];
    gpuopt__knapsack_batch_job *job = &b->job;
    gpuopt__knapsack_small_search s;
    if (gpuopt__knapsack_cpu_batch_stopped(b, thread, k)) gpuopt__knapsack_small_skip(&job->given, k, &job->wanted);
    else gpuopt__knapsack_small_solve(&job->given, k, job->node_limit, item, &s, &job->wanted);
}

static gpuopt_status gpuopt__knapsack_cpu_batch_run(gpuopt_knapsack_batch *b) {
    gpuopt__knapsack_batch_job *job = &b->job;
    const int64_t chunks = (job->count + GPUOPT__KNAPSACK_BATCH_CHUNK - 1) / GPUOPT__KNAPSACK_BATCH_CHUNK;
    const int threads = b->context->desc.threads < chunks ? b->context->desc.threads : (int)chunks;
    uint64_t fault = GPUOPT__KNAPSACK_SMALL_NO_FAULT;
    int64_t k;
    b->stopped = 0;
#ifdef _OPENMP
#pragma omp parallel for num_threads(threads) schedule(static) reduction(min : fault) if (threads > 1)
#endif
    for (k = 0; k < job->count; k++) {
        const uint64_t word = gpuopt__knapsack_small_fault(&job->given, k);
        fault = word < fault ? word : fault;
    }
    job->fault = fault;
    if (fault != GPUOPT__KNAPSACK_SMALL_NO_FAULT) return GPUOPT_OK;
    if (threads <= 1) {
        for (k = 0; k < job->count; k++) gpuopt__knapsack_cpu_batch_next(b, 0, k);
        return GPUOPT_OK;
    }
#ifdef _OPENMP
#pragma omp parallel num_threads(threads)
    {
        gpuopt__environment_scope scope;
        gpuopt__environment_enter(&scope);
#pragma omp for schedule(dynamic, GPUOPT__KNAPSACK_BATCH_CHUNK)
        for (k = 0; k < job->count; k++) gpuopt__knapsack_cpu_batch_next(b, omp_get_thread_num(), k);
        gpuopt__environment_leave(&scope);
    }
#endif
    return GPUOPT_OK;
}

#endif /* GPUOPT_IMPL_KNAPSACK_CPU_BATCH_H */
