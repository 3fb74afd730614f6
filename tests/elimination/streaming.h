/* SPDX-License-Identifier: MIT
 *
 * A backend with the policy STREAM for machines without a GPU: the CPU backend, with a store that represents a device's
 * memory. Tables in host memory lie behind it. Their data pass through the two buffers, chunk by chunk, as on a GPU.
 * Accesses outside a chunk are detected, and buffers hold garbage until they are written.
 */
#ifndef TESTS_ELIMINATION_STREAMING_H
#define TESTS_ELIMINATION_STREAMING_H

#include "gpuopt.h"

/* Counts of all that has run since the program began. */
typedef struct streaming_totals {
    long jobs, chunks;
    long inner;                    /* jobs that fix the slowest digits of their tiles */
    long short_chunks, short_rows; /* chunks smaller than others of the job; by rows that a tile lacks */
    long held;                     /* parts of tables that a buffer had already */
} streaming_totals;
extern streaming_totals streaming_done;

/* Shared by all callers. Everything else it does as the CPU does. */
const gpuopt_backend *streaming_backend(void);

#endif /* TESTS_ELIMINATION_STREAMING_H */
