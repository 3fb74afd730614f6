/* SPDX-License-Identifier: MIT
 *
 * Knapsack on the CPU: a step, or a part of one, by one thread.
 *
 * The children of a step are ranked. Without dominance they are ranked parent by parent, the unchanged child before
 * the flipped one. With dominance their order is the merge of two lists: all unchanged children and all flipped
 * children, each sorted because the parents are. Within either list room strictly decreases and profit strictly
 * increases. So a child of the merged list is dominated exactly if the last child before it from the other list has
 * at least its profit. Of equal rooms the child with more profit comes first, of equal children the unchanged one.
 */
#ifndef GPUOPT_IMPL_KNAPSACK_CPU_STEP_H
#define GPUOPT_IMPL_KNAPSACK_CPU_STEP_H

#include <stddef.h>

#include "pick.h"

static inline void gpuopt__knapsack_read(const gpuopt__knapsack_pool *pool, int64_t at, int step, int64_t count,
                                         gpuopt__knapsack_node *node) {
    int64_t i;
    for (i = 0; i < count; i++, at += step) {
        node[i].room = pool->room[at];
        node[i].profit = pool->profit[at];
        node[i].decisions = pool->decisions[at];
    }
}

static inline void gpuopt__knapsack_store(const gpuopt__knapsack_pool *pool, int64_t at, int step, int64_t count,
                                          const gpuopt__knapsack_node *node) {
    int64_t i;
    for (i = 0; i < count; i++, at += step) {
        pool->room[at] = node[i].room;
        pool->profit[at] = node[i].profit;
        pool->decisions[at] = node[i].decisions;
    }
}

/* Reads picked nodes, or moves them within the pool if node is NULL. */
static inline void gpuopt__knapsack_pick_nodes(const gpuopt__knapsack_pool *pool, const gpuopt__knapsack_pick *p,
                                               gpuopt__knapsack_node *node) {
    int64_t i;
    for (i = 0; i < p->count; i++) {
        const int64_t from = gpuopt__knapsack_pick_place(p, i), to = p->to + i * p->step;
        if (node) {
            gpuopt__knapsack_read(pool, from, 1, 1, &node[i]);
            continue;
        }
        pool->room[to] = pool->room[from];
        pool->profit[to] = pool->profit[from];
        pool->decisions[to] = pool->decisions[from];
    }
}

/* What a part of a step does. One thread writes the children that stay. Several threads first mark them, then copy them
 * to their places. */
typedef enum gpuopt__knapsack_task {
    GPUOPT__KNAPSACK_WRITE,
    GPUOPT__KNAPSACK_MARK,
    GPUOPT__KNAPSACK_COPY
} gpuopt__knapsack_task;

/* How many nodes of the job have at least its least room: the others have no flipped child. The nodes are sorted. */
static inline int64_t gpuopt__knapsack_light(const gpuopt__knapsack_pool *pool, const gpuopt__knapsack_job *job) {
    int64_t low = job->flipped, high = job->flipped_end;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (pool->room[gpuopt__knapsack_parent(job, middle)] >= job->least) low = middle + 1;
        else high = middle;
    }
    return low;
}

/* The parents of the next children in the merge: of the next unchanged one, and of the next flipped one. */
typedef struct gpuopt__knapsack_cursor {
    int64_t same, flipped;
} gpuopt__knapsack_cursor;

/* Whether the unchanged child of parent i comes before the flipped child of parent j. */
static inline int gpuopt__knapsack_before(const gpuopt__knapsack_pool *pool, const gpuopt__knapsack_job *job, int64_t i,
                                          int64_t j) {
    int64_t a = gpuopt__knapsack_parent(job, i), b = gpuopt__knapsack_parent(job, j);
    int64_t room = pool->room[b] + job->room;
    if (pool->room[a] != room) return pool->room[a] > room;
    return pool->profit[a] >= pool->profit[b] + job->profit;
}

/* Where the merge of both lists is, of which the job has begun, after so many children. */
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

/* The child at a rank. Returns 0 if there is none: it is too heavy, or *dominated is set. */
static inline int gpuopt__knapsack_child(const gpuopt__knapsack_pool *pool, const gpuopt__knapsack_job *job,
                                         int dominance, int64_t rank, gpuopt__knapsack_cursor *at,
                                         gpuopt__knapsack_node *child, int *dominated) {
    int64_t parent, other;
    int flipped = (int)(rank & 1);
    if (dominance)
        flipped = at->same >= job->same_end ||
                  (at->flipped < job->flipped_end && !gpuopt__knapsack_before(pool, job, at->same, at->flipped));
    parent = gpuopt__knapsack_parent(job, dominance ? (flipped ? at->flipped++ : at->same++) : job->same + rank / 2);
    *dominated = 0;
    child->room = pool->room[parent];
    child->profit = pool->profit[parent];
    child->decisions = pool->decisions[parent] << 1;
    if (flipped) {
        if (!dominance && child->room < job->least) return 0;
        child->room += job->room;
        child->profit += job->profit;
        child->decisions |= 1;
    }
    if (!dominance) return 1;
    other = (flipped ? at->same : at->flipped) - 1;
    if (other >= 0)
        *dominated = pool->profit[gpuopt__knapsack_parent(job, other)] + (flipped ? 0 : job->profit) >= child->profit;
    return !*dominated;
}

/* Ranks begin .. end - 1 of the job's own. to: the place of the first child that stays. mark: a bit for each rank; begin
 * is a multiple of 64 then. */
static gpuopt__knapsack_found gpuopt__knapsack_part(const gpuopt__knapsack_search *s, const gpuopt__knapsack_job *job,
                                                    const gpuopt__knapsack_pool *pool, int64_t begin, int64_t end,
                                                    gpuopt__knapsack_task task, uint64_t *mark, int64_t to) {
    gpuopt__knapsack_found found = gpuopt__knapsack_nothing(job->lower);
    gpuopt__knapsack_cursor at = {0, 0};
    gpuopt__knapsack_filled f;
    gpuopt__knapsack_node child;
    int64_t rank;
    int dominated;
    f.at = s->view.at;
    if (s->dominance) at = gpuopt__knapsack_split(pool, job, begin);
    for (rank = begin; rank < end; rank++) {
        int stays = gpuopt__knapsack_child(pool, job, s->dominance, rank, &at, &child, &dominated);
        if (task == GPUOPT__KNAPSACK_COPY) {
            if (!(mark[rank / 64] >> rank % 64 & 1)) continue;
        } else {
            found.dominated += dominated;
            if (!stays) continue;
            if (!gpuopt__knapsack_fill(&s->view, job->core, child.room, child.profit, f.at, &f) ||
                !gpuopt__knapsack_beats(&s->view, &f, job->lower)) {
                found.pruned++;
                continue;
            }
            found.children++;
            found.bound = gpuopt__max(found.bound, gpuopt__knapsack_value(child.room, child.profit, s->ratio));
            if (f.profit > found.most) {
                found.most = f.profit;
                found.best = child;
            }
            if (task == GPUOPT__KNAPSACK_MARK) {
                mark[rank / 64] |= (uint64_t)1 << rank % 64;
                continue;
            }
            if (found.children > job->limit) return found; /* the step fails */
        }
        pool->room[to] = child.room;
        pool->profit[to] = child.profit;
        pool->decisions[to] = child.decisions;
        to += job->to_step;
    }
    return found;
}

/* A step by one thread. */
static inline gpuopt__knapsack_found gpuopt__knapsack_step(const gpuopt__knapsack_search *s,
                                                           const gpuopt__knapsack_job *job,
                                                           const gpuopt__knapsack_pool *pool) {
    gpuopt__knapsack_job own = *job;
    if (s->dominance) own.flipped_end = gpuopt__knapsack_light(pool, job);
    return gpuopt__knapsack_part(s, &own, pool, 0, gpuopt__knapsack_children(&own), GPUOPT__KNAPSACK_WRITE, NULL,
                                 job->to);
}

/* Completes the deepest list: see search.h. */
static void gpuopt__knapsack_complete(gpuopt__knapsack_search *s, const gpuopt__knapsack_pool *pool) {
    gpuopt__knapsack_completion c = gpuopt__knapsack_completion_of(s);
    int64_t most = s->lower, place = 0, at = 0;
    int32_t item, flip = GPUOPT__KNAPSACK_FILLED;
    gpuopt__knapsack_node node;
    for (item = s->view.first; item < s->view.last; item++) {
        int64_t profit = gpuopt__knapsack_try(s, &c, pool, item, &at);
        if (profit <= most) continue;
        most = profit;
        place = at;
        flip = item;
    }
    if (flip == GPUOPT__KNAPSACK_FILLED) return;
    gpuopt__knapsack_read(pool, place, 1, 1, &node);
    gpuopt__knapsack_improve(s, c.list.level, c.list.decided, flip, &node, most);
}

#endif /* GPUOPT_IMPL_KNAPSACK_CPU_STEP_H */
