/* SPDX-License-Identifier: MIT
 *
 * Batches of small knapsacks: the handle, and a run's task for the backend.
 */
#ifndef GPUOPT_IMPL_KNAPSACK_BATCH_HANDLE_H
#define GPUOPT_IMPL_KNAPSACK_BATCH_HANDLE_H

#include "../backend.h"
#include "small.h"

/* The task of a run of a batch of small knapsacks. */
typedef struct gpuopt__knapsack_batch_job {
    gpuopt_memory_space where;
    int32_t count;
    int64_t node_limit;
    gpuopt__knapsack_given given;   /* the caller's arrays, in `where` */
    gpuopt__knapsack_wanted wanted; /* likewise */
    uint64_t fault; /* output: the fault of the first refused knapsack, see batch/small.h; then nothing is written */
} gpuopt__knapsack_batch_job;

enum { GPUOPT__KNAPSACK_BATCH_COUNT = 1 << 24, GPUOPT__KNAPSACK_BATCH_NODES = 1 << 20 };
#define GPUOPT__KNAPSACK_BATCH_STRIDE ((int64_t)1 << 27)

struct gpuopt_knapsack_batch {
    gpuopt_context *context;
    gpuopt_knapsack_batch_desc desc;
    gpuopt__knapsack_batch_job job;
    void *engine; /* the backend's data */
};

#endif /* GPUOPT_IMPL_KNAPSACK_BATCH_HANDLE_H */
