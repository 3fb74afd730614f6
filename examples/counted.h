/* SPDX-License-Identifier: MIT
 *
 * A context with counted memory: compares the memory of a library call with its plan.
 */
#ifndef EXAMPLES_COUNTED_H
#define EXAMPLES_COUNTED_H

#include "examples/common.h"

typedef struct counted_block counted_block;

/* Must be zeroed, except for the printer, and outlive the context, which close_counted_context() destroys. */
typedef struct counter {
    log_printer printer;
    uint64_t now[2], peak[2], base[2]; /* bytes, by gpuopt_memory_space */
    counted_block *device;             /* blocks, in no order: the caller cannot write a header into them */
    int64_t blocks, capacity;
} counter;

/* Like open_context(), where auto tries the GPU; with a clock for limits in seconds. */
gpuopt_status open_counted_context(const char *wanted, int threads, counter *counter, gpuopt_context **context,
                                   const char **backend);
void close_counted_context(counter *counter, gpuopt_context *context);

void count_from_now(counter *counter);
uint64_t counted_peak(const counter *counter,
                      gpuopt_memory_space where); /* above the bytes in use at count_from_now() */

#endif /* EXAMPLES_COUNTED_H */
