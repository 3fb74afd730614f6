/* SPDX-License-Identifier: MIT
 *
 * Knapsack on the CPU: a step, or a part of one, by one thread.
 *
 * The children of a step are ranked: parent by parent, the unchanged child before the flipped one, or with dominance as
 * merge.h describes.
 */
#ifndef GPUOPT_IMPL_KNAPSACK_CPU_STEP_H
#define GPUOPT_IMPL_KNAPSACK_CPU_STEP_H

#include <stddef.h>

#include "merge.h"
#include "../search/pick.h"

static inline void gpuopt__knapsack_read(const gpuopt__knapsack_pool *pool, int64_t at, int step, int64_t count,
                                         gpuopt__knapsack_node *node) {
    int64_t i;
    for (i = 0; i < count; i++, at += step) {
        node[i].residual = pool->residual[at];
        node[i].profit = pool->profit[at];
        node[i].decisions = pool->decisions[at];
    }
}

static inline void gpuopt__knapsack_store(const gpuopt__knapsack_pool *pool, int64_t at, int step, int64_t count,
                                          const gpuopt__knapsack_node *node) {
    int64_t i;
    for (i = 0; i < count; i++, at += step) {
        pool->residual[at] = node[i].residual;
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
        pool->residual[to] = pool->residual[from];
        pool->profit[to] = pool->profit[from];
        pool->decisions[to] = pool->decisions[from];
    }
}

/* Ranks begin .. end - 1 of the job's own. to: the place of the first child that stays. mark: a bit for each rank;
 * begin is then a multiple of 64. */
static gpuopt__knapsack_found gpuopt__knapsack_part(const gpuopt__knapsack_search *s, const gpuopt__knapsack_job *job,
                                                    const gpuopt__knapsack_pool *pool, int64_t begin, int64_t end,
                                                    gpuopt__knapsack_task task, uint64_t *mark, int64_t to) {
    gpuopt__knapsack_found found = gpuopt__knapsack_nothing(job->lower);
    gpuopt__knapsack_filled f;
    gpuopt__knapsack_node child;
    int64_t rank;
    if (s->dominance) return gpuopt__knapsack_merge_part(s, job, pool, begin, end, task, mark, to);
    f.at = s->view.at;
    for (rank = begin; rank < end; rank++) {
        gpuopt__knapsack_read(pool, gpuopt__knapsack_parent(job, job->same + rank / 2), 1, 1, &child);
        child.decisions <<= 1;
        if (rank & 1) {
            if (child.residual < job->least) continue; /* too heavy */
            child.residual += job->residual;
            child.profit += job->profit;
            child.decisions |= 1;
        }
        if (task == GPUOPT__KNAPSACK_COPY) {
            if (!(mark[rank / 64] >> rank % 64 & 1)) continue;
        } else {
            if (!gpuopt__knapsack_fill(&s->view, job->core, child.residual, child.profit, f.at, &f) ||
                !gpuopt__knapsack_beats(&s->view, &f, job->lower)) {
                found.pruned++;
                continue;
            }
            gpuopt__knapsack_note(&found, &child, f.profit, s->ratio);
            if (task == GPUOPT__KNAPSACK_MARK) {
                mark[rank / 64] |= (uint64_t)1 << rank % 64;
                continue;
            }
            if (found.children > job->limit) return found; /* the step fails */
        }
        pool->residual[to] = child.residual;
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

/* Completes the deepest list: see search/state.h. */
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
