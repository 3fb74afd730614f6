/* SPDX-License-Identifier: MIT
 *
 * A backend for machines without a GPU that has the policy STREAM: the CPU's, whose store stands for a device's memory.
 * Tables in host memory lie behind it, and what is computed with them goes through the two buffers, chunk by chunk, as
 * on a GPU. What a chunk may not touch is checked, and buffers hold rubbish until they are written.
 */
#ifndef TESTS_ELIMINATION_STREAMING_H
#define TESTS_ELIMINATION_STREAMING_H

#include "gpuopt.h"

/* Counts of all that has run since the program began. */
typedef struct streaming_totals {
    long jobs, chunks;
    long inner;                    /* jobs of whose tiles' digits the slowest are fixed */
    long short_chunks, short_rows; /* chunks that are smaller than others of the job; by rows that a tile has not */
    long held;                     /* parts of tables that a buffer had already */
} streaming_totals;
extern streaming_totals streaming_done;

/* Shared by all callers. Everything else it does as the CPU does. */
const gpuopt_backend *streaming_backend(void);

#endif /* TESTS_ELIMINATION_STREAMING_H */
