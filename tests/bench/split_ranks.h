/* SPDX-License-Identifier: MIT
 *
 * Ranks of a group as threads of this process, each with a context, on the GPU on the devices 0, 1, ...
 */
#ifndef TESTS_BENCH_SPLIT_RANKS_H
#define TESTS_BENCH_SPLIT_RANKS_H

#include "gpuopt/group.h"
#include "transports/gpuopt_threads.h"

enum { MOST_RANKS = 16 };

/* Where ranks run. */
typedef struct split_machine {
    int cuda;
    int devices; /* with cuda: how many there are; ranks use them in turn */
} split_machine;

typedef struct split_rank {
    void *job; /* what all ranks of a run share */
    int rank, count;
    gpuopt_context *context;
    gpuopt_group *group; /* NULL for a rank alone */
    gpuopt_transport transport;
    const split_machine *on;
    gpuopt_status (*work)(struct split_rank *);
    int failed, peers; /* peers: the log names an exchange through peer memory */
} split_rank;

/* The number of CUDA devices, up to MOST_RANKS; 0 without the CUDA backend. */
int split_devices(void);
/* Calls work() on each of `count` ranks, and waits for all of them. Sets *peers, unless it is NULL, to whether rank 0's
 * handle exchanged through peer memory. Returns 0, or -1 if a rank failed, which has logged the reason. */
int split_run(const split_machine *on, int count, gpuopt_status (*work)(split_rank *), void *job, int *peers);

#endif /* TESTS_BENCH_SPLIT_RANKS_H */
