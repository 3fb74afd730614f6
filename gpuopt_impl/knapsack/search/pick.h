/* SPDX-License-Identifier: MIT
 *
 * Knapsack: the nodes of a pool that belong to a share, one of every `every` nodes, and their destinations. Nodes are
 * counted over all lists, the lowest first.
 */
#ifndef GPUOPT_IMPL_KNAPSACK_SEARCH_PICK_H
#define GPUOPT_IMPL_KNAPSACK_SEARCH_PICK_H

#include "state.h"

/* Takes one of each `every` nodes. The place within these varies, since a fixed place might select children of one
 * kind. Different parts, 0 to every - 1, are disjoint, and together contain all nodes. */
typedef struct gpuopt__knapsack_share {
    int64_t every, part;
    int others; /* not 0: the complement of the share */
} gpuopt__knapsack_share;

GPUOPT_HD int64_t gpuopt__knapsack_share_place(const gpuopt__knapsack_share *p, int64_t block) {
    const uint64_t every = (uint64_t)p->every;
    return (int64_t)((gpuopt__mix((uint64_t)block) % every + (uint64_t)p->part) % every);
}

/* How many of the first `count` nodes belong to the share. */
static inline int64_t gpuopt__knapsack_share_of(const gpuopt__knapsack_share *p, int64_t count) {
    const int64_t block = count / p->every;
    const int64_t ones = block + (gpuopt__knapsack_share_place(p, block) < count % p->every);
    return p->others ? count - ones : ones;
}

/* The number of the node with `before` nodes of the share before it. */
GPUOPT_HD int64_t gpuopt__knapsack_share_number(const gpuopt__knapsack_share *p, int64_t before) {
    int64_t block, at;
    if (!p->others) return before * p->every + gpuopt__knapsack_share_place(p, before);
    block = before / (p->every - 1);
    at = before % (p->every - 1);
    return block * p->every + at + (at >= gpuopt__knapsack_share_place(p, block));
}

/* Consecutive nodes of a share, all of one list. */
typedef struct gpuopt__knapsack_pick {
    gpuopt__knapsack_share share;
    int64_t before;       /* nodes of the share before them */
    int64_t count;        /* 1 or more */
    int64_t number, from; /* of the list's first node, and its place */
    int64_t to;           /* destination of the first of them; behind none of the places they are read from */
    int64_t step;         /* 1 or -1, from a place to the next */
} gpuopt__knapsack_pick;

/* The place of node i of them. */
GPUOPT_HD int64_t gpuopt__knapsack_pick_place(const gpuopt__knapsack_pick *p, int64_t i) {
    return p->from + p->step * (gpuopt__knapsack_share_number(&p->share, p->before + i) - p->number);
}

#endif /* GPUOPT_IMPL_KNAPSACK_SEARCH_PICK_H */
