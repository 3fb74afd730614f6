/* SPDX-License-Identifier: MIT
 *
 * Knapsack: the items of the best solution. Its node stores only its last 32 decisions. Of the core before these, any
 * set of items serves that weighs no more and has the same profit. Finding one is a smaller knapsack problem with a
 * known optimum. A search with that profit as its goal solves it, and again yields 32 decisions, and so on. These
 * searches are usually much shorter than the search for the optimum. They use the free part of the pool.
 *
 * Ranks of a group share these searches as they share the main search (ranks/steps.h), once that is over: then the
 * whole pool is free on all ranks. Before, each rank recovers the items alone, with the same result.
 */
#ifndef GPUOPT_IMPL_KNAPSACK_POOL_RECOVER_H
#define GPUOPT_IMPL_KNAPSACK_POOL_RECOVER_H

#include "../ranks/steps.h"

static void gpuopt__knapsack_set_range(gpuopt_knapsack *k, int32_t begin, int32_t end, uint8_t taken) {
    int32_t j;
    for (j = begin; j < end; j++) gpuopt__knapsack_set(k, j, taken);
}

static void gpuopt__knapsack_turn(gpuopt_knapsack *k, int32_t j) { gpuopt__knapsack_set(k, j, !k->trial[k->order[j]]); }

/* The core before the decisions stored in the node. */
static gpuopt__knapsack_core gpuopt__knapsack_unknown(const gpuopt__knapsack_search *s,
                                                      const gpuopt__knapsack_best *b) {
    return gpuopt__knapsack_core_of(s, b->known == GPUOPT__KNAPSACK_KNOWN ? b->decided[b->known - 1] : 0);
}

/* Undoes the decisions of a node: *node becomes its ancestor. Returns 0 if no node on the way can be that heavy or that
 * light. */
static int gpuopt__knapsack_take_back(const gpuopt__knapsack_search *s, const gpuopt__knapsack_best *best,
                                      gpuopt__knapsack_node *node) {
    const gpuopt__knapsack_view *v = &s->view;
    int64_t residual, left;
    uint64_t profit;
    int32_t j;
    *node = best->node;
    for (j = 0; j < best->known; j++) {
        int32_t level = best->decided[j];
        if (!(best->node.decisions >> j & 1)) continue;
        gpuopt__knapsack_flip(&v->table, gpuopt__knapsack_item_of(s, level), s->begin[level + 1] < s->begin[level],
                              &residual, &profit);
        if (residual > 0 ? node->residual < residual - v->capacity : node->residual > v->capacity + residual) return 0;
        node->residual -= residual;
        node->profit -= profit;
    }
    left = gpuopt__knapsack_weight(&v->table, v->first, gpuopt__knapsack_unknown(s, best).begin);
    return node->residual >= -left && node->residual <= v->capacity - left;
}

/* Marks the view's items that the best solution takes, except in the core with unknown decisions. That core becomes the
 * view; its capacity is the weight that the node took of it, and *profit the profit. */
static void gpuopt__knapsack_mark(gpuopt_knapsack *k, gpuopt__knapsack_search *s, int64_t *profit) {
    const gpuopt__knapsack_best *best = &s->best;
    gpuopt__knapsack_view *v = &s->view;
    gpuopt__knapsack_core core = gpuopt__knapsack_core_of(s, best->level), unknown = gpuopt__knapsack_unknown(s, best);
    gpuopt__knapsack_node node = best->node;
    gpuopt__knapsack_filled f;
    int32_t j;
    gpuopt__knapsack_set_range(k, v->first, unknown.begin, 1);
    gpuopt__knapsack_set_range(k, unknown.end, v->last, 0);
    if (best->flip >= 0) gpuopt__knapsack_turn(k, best->flip);
    else if (gpuopt__knapsack_fill(v, core, node.residual, node.profit, v->at, &f))
        gpuopt__knapsack_set_range(k, node.residual < 0 ? f.at : core.end, node.residual < 0 ? core.begin : f.at,
                                   node.residual >= 0);
    for (j = 0; j < best->known; j++)
        if (node.decisions >> j & 1) gpuopt__knapsack_turn(k, gpuopt__knapsack_item_of(s, best->decided[j]));
    gpuopt__knapsack_take_back(s, best, &node);
    *profit = (int64_t)(node.profit - (v->table.profit_sum[unknown.begin] - v->table.profit_sum[v->first]));
    v->capacity = v->capacity - gpuopt__knapsack_weight(&v->table, v->first, unknown.begin) - node.residual;
    v->first = unknown.begin;
    v->last = unknown.end;
    v->at = v->table.reach[v->first] < v->last ? v->table.reach[v->first] : v->last;
    v->at = gpuopt__knapsack_seek(v->table.weight_sum, v->first, (uint64_t)v->capacity, v->first, v->at, v->first);
}

/* Recovers the items of the best solution. The set found may be better than that solution. */
static gpuopt_status gpuopt__knapsack_recover(gpuopt_knapsack *k) {
    const gpuopt__knapsack_search *whole = &k->search;
    gpuopt__knapsack_search s = *whole;
    gpuopt_status status = GPUOPT_OK;
    gpuopt__knapsack_filled f;
    int64_t profit, sum = 0;
    int32_t j;
    if (whole->best.level < 0) return GPUOPT_OK;
    for (j = 0; j < k->items; j++) k->trial[j] = k->fixed[j] == 1;
    gpuopt__knapsack_mark(k, &s, &profit);
    s.which = 1;
    s.own_first = whole->own_first +
                  whole->used[0]; /* also when the nodes are in another pool: every backend makes the same slices */
    s.own_capacity = whole->own_capacity - whole->used[0] - whole->used[1] - whole->uneven; /* equal on all ranks,
                                                                                             * too */
    if (whole->depth > 0) s.share_from = INT64_MAX;
    s.uneven = 0;
    s.reserve = 0;
    s.dominance = 1;
    s.stop_when_full = 0;
    while (s.view.first < s.view.last && !status) {
        gpuopt__knapsack_order(&s, &k->lists[1], k->root_bound);
        s.goal = profit;
        s.lower = profit - 1;
        s.best.level = s.best.known = 0;
        s.best.flip = GPUOPT__KNAPSACK_FILLED;
        f = gpuopt__knapsack_root(&s, &s.best.node);
        if (f.profit < profit) {
            status = gpuopt__knapsack_plant(k, &s);
            if (!status) status = gpuopt__knapsack_run_steps(k, &s, INT64_MAX, INT64_MAX);
        }
        if (!status) gpuopt__knapsack_mark(k, &s, &profit);
    }
    if (status) return status;
    for (j = 0; j < k->items; j++)
        if (k->trial[j]) sum += k->profit[j];
    memcpy(k->taken, k->trial, (size_t)k->items);
    k->search.best.level = -1;
    k->incumbent = sum;
    if (gpuopt__knapsack_units(k, sum) > k->search.lower) k->search.lower = gpuopt__knapsack_units(k, sum);
    return GPUOPT_OK;
}

#endif /* GPUOPT_IMPL_KNAPSACK_POOL_RECOVER_H */
