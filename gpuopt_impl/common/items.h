/* SPDX-License-Identifier: MIT
 *
 * Distributes the items of a batch over threads of the caller's OpenMP runtime.
 */
#ifndef GPUOPT_IMPL_ITEMS_H
#define GPUOPT_IMPL_ITEMS_H

#include "backend.h"
#ifdef GPUOPT__OPENMP
#include <omp.h>
#endif

/* Works on item k. thread: below the context's number of threads; works on one item at a time. stopped: the caller has
 * requested a stop, so only mark the item as not worked on. */
typedef void gpuopt__item_work(void *of, int thread, int64_t k, int stopped);

typedef struct gpuopt__items {
    const gpuopt_context *context;
    gpuopt__item_work *work;
    void *of;
    int stopped;
} gpuopt__items;

/* Only thread 0, which made the call, may call the caller's stop hook. */
static inline void gpuopt__next_item(gpuopt__items *items, int thread, int64_t k) {
    const int asks = thread == 0 && k > 0;
    int stopped;
#ifdef GPUOPT__OPENMP
    stopped = __atomic_load_n(&items->stopped, __ATOMIC_RELAXED);
    if (!stopped && asks && gpuopt__asked_to_stop(items->context)) {
        stopped = 1;
        __atomic_store_n(&items->stopped, 1, __ATOMIC_RELAXED);
    }
#else
    stopped = items->stopped = items->stopped || (asks && gpuopt__asked_to_stop(items->context));
#endif
    items->work(items->of, thread, k, stopped);
}

/* Works on items 0 to count - 1. A thread takes `at_once` at a time; thread 0 calls the stop hook before each item. A
 * single thread does not use OpenMP, since the first use takes longer than a small batch. */
static inline void gpuopt__each_item(const gpuopt_context *context, int64_t count, int at_once, gpuopt__item_work *work,
                                     void *of) {
    const int threads = gpuopt__team(context, context->desc.threads < count ? context->desc.threads : (int)count);
    gpuopt__items items = {context, work, of, 0};
    int64_t k;
    if (threads <= 1) {
        for (k = 0; k < count; k++) gpuopt__next_item(&items, 0, k);
        return;
    }
#ifdef GPUOPT__OPENMP
#pragma omp parallel num_threads(threads)
    {
        gpuopt__environment_scope scope;
        gpuopt__environment_enter(&scope);
#pragma omp for schedule(dynamic, at_once)
        for (k = 0; k < count; k++) gpuopt__next_item(&items, omp_get_thread_num(), k);
        gpuopt__environment_leave(&scope);
    }
#else
    (void)at_once;
#endif
}

#endif /* GPUOPT_IMPL_ITEMS_H */
