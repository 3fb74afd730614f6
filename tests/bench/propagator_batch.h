/* SPDX-License-Identifier: MIT
 *
 * Batches of nodes for benchmarks: models, and nodes that fix a few random columns at their upper bounds.
 */
#ifndef TESTS_BENCH_PROPAGATOR_BATCH_H
#define TESTS_BENCH_PROPAGATOR_BATCH_H

#include "gpuopt/search.h"
#include "examples/io/mip.h"

enum { MOST_NODES = 65536, MOST_DECISIONS = 64 };

/* Nodes, and memory for their results; all arrays are in one kind of memory. */
typedef struct work {
    gpuopt_propagator_nodes nodes;
    gpuopt_propagator_node_report report;
    gpuopt_propagator_node_changes changes;
} work;

void *work_memory(size_t count, size_t size); /* zeroed; ends the program where there is no memory */

/* Loads a model with its rows and columns, or returns -1 after a message. name: of a generated one (examples/io/mip.h),
 * a file, or binary,ROWS,LEN. The latter has as many columns, 0 or 1, and LEN entries a row, of 1 to 9, with a sum of
 * at most 35% of all. */
int work_load(const char *name, mip *m);
/* Nodes that fix `decisions` columns each, and capacity for this many changes. Always the same nodes. */
work *work_make(int32_t count, int32_t decisions, int32_t cols, const double *ub, int64_t changes);
void work_free(work *w);

#endif /* TESTS_BENCH_PROPAGATOR_BATCH_H */
