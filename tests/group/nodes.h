/* SPDX-License-Identifier: MIT
 *
 * A batch of nodes for ranks that share it.
 */
#ifndef TESTS_GROUP_NODES_H
#define TESTS_GROUP_NODES_H

#include "tests/group/ranks.h"
#include "tests/propagate/batch.h"

/* The input of the ranks of a test, and the results of each. */
typedef struct nodes_work {
    const gpuopt_propagator_desc *desc;
    const node_list *list;
    int32_t most; /* nodes of the batch */
    int64_t changes;
    int rounds;
    int wrong; /* a number for the fault that rank `culprit` makes */
    int culprit;
    node_results *found; /* [MAX_RANKS] */
    int32_t (*ran_by)[NODES];
} nodes_work;

/* For 60 nodes with capacity for all their changes; the lists belong to the caller. */
nodes_work *nodes_work_new(const gpuopt_propagator_desc *desc, node_list *list);
void nodes_work_free(nodes_work *w);
/* A model, and nodes with bounds within the fixpoint's. */
mip nodes_draw(uint64_t *seed, node_list *list, int32_t nodes);

/* For a rank: the descriptor of its batch; a base at its fixpoint, and that batch on it; the arrays for its report. */
gpuopt_propagator_batch_desc nodes_desc(const rank *r);
void nodes_make(rank *r, gpuopt_propagator **base, gpuopt_propagator_batch **batch);
gpuopt_propagator_node_report nodes_report(rank *r);

#endif /* TESTS_GROUP_NODES_H */
