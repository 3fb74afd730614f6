/* SPDX-License-Identifier: MIT
 *
 * Knapsack on the CPU: a part of a step with dominance, by one thread.
 *
 * The children are ranked: they are the merge of two lists, all unchanged children and all flipped children, each
 * sorted because the parents are. Within either list residual capacity strictly decreases and profit strictly
 * increases. So a child of the merged list is dominated exactly if an earlier one has at least its profit. Of equal
 * residual capacities the child with more profit comes first, of equal children the unchanged one.
 */
#ifndef GPUOPT_IMPL_KNAPSACK_CPU_MERGE_H
#define GPUOPT_IMPL_KNAPSACK_CPU_MERGE_H

#include "../search/state.h"

/* The task of a part of a step. One thread writes the children that stay. Several threads first mark them, then copy
 * them to their places. */
typedef enum gpuopt__knapsack_task {
    GPUOPT__KNAPSACK_WRITE,
    GPUOPT__KNAPSACK_MARK,
    GPUOPT__KNAPSACK_COPY
} gpuopt__knapsack_task;

/* Counts a child that stays. profit: of the solution made by filling the child. */
static inline void gpuopt__knapsack_note(gpuopt__knapsack_found *found, const gpuopt__knapsack_node *child,
                                         int64_t profit, double ratio) {
    found->children++;
    found->bound = gpuopt__max(found->bound, gpuopt__knapsack_value(child->residual, child->profit, ratio));
    if (profit <= found->most) return;
    found->most = profit;
    found->best = *child;
}

/* How many nodes of the job have at least its least residual capacity: the others have no flipped child. The nodes are
 * sorted. */
static inline int64_t gpuopt__knapsack_light(const gpuopt__knapsack_pool *pool, const gpuopt__knapsack_job *job) {
    int64_t low = job->flipped, high = job->flipped_end;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (pool->residual[gpuopt__knapsack_parent(job, middle)] >= job->least) low = middle + 1;
        else high = middle;
    }
    return low;
}

/* The parents of the next unchanged child and of the next flipped child in the merge. */
typedef struct gpuopt__knapsack_cursor {
    int64_t same, flipped;
} gpuopt__knapsack_cursor;

/* Whether the unchanged child of parent i comes before the flipped child of parent j. */
static inline int gpuopt__knapsack_before(const gpuopt__knapsack_pool *pool, const gpuopt__knapsack_job *job, int64_t i,
                                          int64_t j) {
    int64_t a = gpuopt__knapsack_parent(job, i), b = gpuopt__knapsack_parent(job, j);
    int64_t residual = pool->residual[b] + job->residual;
    if (pool->residual[a] != residual) return pool->residual[a] > residual;
    return pool->profit[a] >= pool->profit[b] + job->profit;
}

/* The position in the merge of both lists after `children` children of the job. */
static inline gpuopt__knapsack_cursor gpuopt__knapsack_split(const gpuopt__knapsack_pool *pool,
                                                             const gpuopt__knapsack_job *job, int64_t children) {
    gpuopt__knapsack_cursor at;
    int64_t rank = job->same + job->flipped + children;
    int64_t low = rank - job->flipped_end, high = rank - job->flipped;
    if (low < job->same) low = job->same;
    if (high > job->same_end) high = job->same_end;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (gpuopt__knapsack_before(pool, job, middle, rank - 1 - middle)) low = middle + 1;
        else high = middle;
    }
    at.same = low;
    at.flipped = rank - low;
    return at;
}

/* Nodes with the same break item, from some residual capacity down to `least`. The same items fill all of them. Many
 * nodes of a sorted list belong to one stretch. */
typedef struct gpuopt__knapsack_stretch {
    int64_t least;           /* residual capacity above this is left to a fraction of the break item */
    uint64_t added;          /* profit of the items added less that of the items removed; modulo 2^64 */
    uint64_t profit, weight; /* of the break item; 0 and 1: there is none */
    int32_t at;
    int heavy; /* the nodes stay too heavy */
} gpuopt__knapsack_stretch;

/* From `residual` on. hint: a guess of the break item. */
static inline gpuopt__knapsack_stretch gpuopt__knapsack_stretch_from(const gpuopt__knapsack_view *v,
                                                                     gpuopt__knapsack_core core, int64_t residual,
                                                                     int32_t hint) {
    gpuopt__knapsack_stretch z = {INT64_MIN, 0, 0, 1, 0, 0};
    gpuopt__knapsack_filled f;
    z.at = hint;
    z.heavy = !gpuopt__knapsack_fill(v, core, residual, 0, hint, &f);
    if (z.heavy) return z;
    z.least = residual - f.residual;
    z.added = (uint64_t)f.profit;
    z.at = f.at;
    if (f.at == v->last) return z;
    z.profit = (uint64_t)v->table.profit[f.at];
    z.weight = (uint64_t)v->table.weight[f.at];
    return z;
}

/* The next child of one of the two merged lists. */
typedef struct gpuopt__knapsack_head {
    int64_t parent; /* its place */
    int64_t residual;
    uint64_t profit;
} gpuopt__knapsack_head;

/* The unchanged or the flipped child of node k of the job, if k < end. */
static inline gpuopt__knapsack_head gpuopt__knapsack_head_of(const gpuopt__knapsack_pool *pool,
                                                             const gpuopt__knapsack_job *job, int flipped, int64_t k,
                                                             int64_t end) {
    gpuopt__knapsack_head h = {0, 0, 0};
    if (k >= end) return h;
    h.parent = gpuopt__knapsack_parent(job, k);
    h.residual = pool->residual[h.parent] + (flipped ? job->residual : 0);
    h.profit = pool->profit[h.parent] + (flipped ? job->profit : 0);
    return h;
}

/* With dominance, the part of a step that gpuopt__knapsack_part() describes. Job and pool are copied, since the
 * compiler would otherwise read them again after each node that is written. */
static gpuopt__knapsack_found gpuopt__knapsack_merge_part(const gpuopt__knapsack_search *s,
                                                          const gpuopt__knapsack_job *given,
                                                          const gpuopt__knapsack_pool *nodes, int64_t begin,
                                                          int64_t end, gpuopt__knapsack_task task, uint64_t *mark,
                                                          int64_t to) {
    const gpuopt__knapsack_job job = *given;
    const gpuopt__knapsack_pool pool = *nodes;
    const double ratio = s->ratio;
    gpuopt__knapsack_found found = gpuopt__knapsack_nothing(job.lower);
    gpuopt__knapsack_cursor at = gpuopt__knapsack_split(nodes, given, begin);
    gpuopt__knapsack_stretch z =
        gpuopt__knapsack_stretch_from(&s->view, job.core, s->view.capacity, s->view.at); /* no child has more */
    gpuopt__knapsack_node child;
    gpuopt__knapsack_head same = gpuopt__knapsack_head_of(&pool, &job, 0, at.same, job.same_end),
                          flip = gpuopt__knapsack_head_of(&pool, &job, 1, at.flipped, job.flipped_end);
    uint64_t most = 0; /* one more than the largest profit of a child so far */
    int64_t rank;
    if (at.same > 0) most = gpuopt__knapsack_head_of(&pool, &job, 0, at.same - 1, at.same).profit + 1;
    if (at.flipped > 0) {
        const uint64_t profit = gpuopt__knapsack_head_of(&pool, &job, 1, at.flipped - 1, at.flipped).profit;
        if (profit >= most) most = profit + 1;
    }
    for (rank = begin; rank < end; rank++) {
        if (at.same >= job.same_end ||
            (at.flipped < job.flipped_end &&
             (same.residual < flip.residual || (same.residual == flip.residual && same.profit < flip.profit)))) {
            child.residual = flip.residual;
            child.profit = flip.profit;
            child.decisions = pool.decisions[flip.parent] << 1 | 1;
            flip = gpuopt__knapsack_head_of(&pool, &job, 1, ++at.flipped, job.flipped_end);
        } else {
            child.residual = same.residual;
            child.profit = same.profit;
            child.decisions = pool.decisions[same.parent] << 1;
            same = gpuopt__knapsack_head_of(&pool, &job, 0, ++at.same, job.same_end);
        }
        if (task == GPUOPT__KNAPSACK_COPY) {
            if (!(mark[rank / 64] >> rank % 64 & 1)) continue;
        } else {
            int64_t profit; /* of the child filled */
            if (child.profit < most) {
                found.dominated++;
                continue;
            }
            most = child.profit + 1;
            if (child.residual < z.least) z = gpuopt__knapsack_stretch_from(&s->view, job.core, child.residual, z.at);
            profit = (int64_t)(child.profit + z.added);
            if (z.heavy || (profit <= job.lower &&
                            !gpuopt__knapsack_product_reaches((uint64_t)(child.residual - z.least), z.profit,
                                                              (uint64_t)job.lower - (uint64_t)profit + 1, z.weight))) {
                found.pruned++;
                continue;
            }
            gpuopt__knapsack_note(&found, &child, profit, ratio);
            if (task == GPUOPT__KNAPSACK_MARK) {
                mark[rank / 64] |= (uint64_t)1 << rank % 64;
                continue;
            }
            if (found.children > job.limit) return found; /* the step fails */
        }
        pool.residual[to] = child.residual;
        pool.profit[to] = child.profit;
        pool.decisions[to] = child.decisions;
        to += job.to_step;
    }
    return found;
}

#endif /* GPUOPT_IMPL_KNAPSACK_CPU_MERGE_H */
