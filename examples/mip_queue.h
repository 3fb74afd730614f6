/* SPDX-License-Identifier: MIT
 *
 * The open nodes of solve_mip, the one with the least bound first.
 */
#ifndef EXAMPLES_MIP_QUEUE_H
#define EXAMPLES_MIP_QUEUE_H

#include "examples/mip_search.h"

/* Where to begin, and what leads there. */
typedef struct open_node {
    double bound;   /* no solution in it is better */
    uint8_t *basis; /* of the parent's relaxation */
    int32_t depth;
    decision path[];
} open_node;

/* All zero: empty. */
typedef struct node_queue {
    open_node **node; /* a heap */
    size_t count, room;
} node_queue;

/* Puts a child of the search's node, with this decision, into the queue. Out of memory: s->status says so. */
void queue_put(node_queue *q, search *s, decision d);
/* Takes the first one, which is to be freed; NULL: there is none. Of equal bounds the deeper node comes first. */
open_node *queue_take(node_queue *q);

#endif /* EXAMPLES_MIP_QUEUE_H */
