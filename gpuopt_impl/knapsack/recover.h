/* SPDX-License-Identifier: MIT
 *
 * Knapsack: the items of the best solution. Its node knows its last 32 decisions. What it took of the core before these
 * may be any set of that core's items that weighs no more and earns as much: a smaller knapsack whose optimum is known,
 * which a search with this profit as its goal finds, and so on.
 */
#ifndef GPUOPT_IMPL_KNAPSACK_RECOVER_H
#define GPUOPT_IMPL_KNAPSACK_RECOVER_H

#include "model.h"

static void gpuopt__knapsack_set(gpuopt_knapsack *k, int32_t begin, int32_t end, uint8_t taken) {
    int32_t j;
    for (j = begin; j < end; j++) k->trial[k->order[j]] = taken;
}

/* The core that a node's decisions leave unknown. */
static gpuopt__knapsack_core gpuopt__knapsack_unknown(const gpuopt__knapsack_search *s,
                                                      const gpuopt__knapsack_best *b) {
    return gpuopt__knapsack_core_of(s, b->known == GPUOPT__KNAPSACK_KNOWN ? b->decided[b->known - 1] : 0);
}

/* Takes a node's decisions back. 0: it has none of its own, because no node on the way to it could be so heavy or so
 * light. */
static int gpuopt__knapsack_take_back(const gpuopt__knapsack_search *s, const gpuopt__knapsack_best *best,
                                      gpuopt__knapsack_node *node) {
    const gpuopt__knapsack_view *v = &s->view;
    int64_t room, left;
    uint64_t profit;
    int32_t j;
    *node = best->node;
    for (j = 0; j < best->known; j++) {
        int32_t level = best->decided[j];
        if (!(best->node.decisions >> j & 1)) continue;
        gpuopt__knapsack_flip(&v->table, gpuopt__knapsack_item_of(s, level), s->begin[level + 1] < s->begin[level],
                              &room, &profit);
        if (room > 0 ? node->room < room - v->capacity : node->room > v->capacity + room) return 0;
        node->room -= room;
        node->profit -= profit;
    }
    left = gpuopt__knapsack_weight(&v->table, v->first, gpuopt__knapsack_unknown(s, best).begin);
    return node->room >= -left && node->room <= v->capacity - left;
}

/* Marks what the best solution takes of the view's items, but for the core that it does not know. This core becomes the
 * view, with what the node took of it as the capacity; *profit: what that earns. */
static void gpuopt__knapsack_mark(gpuopt_knapsack *k, gpuopt__knapsack_search *s, int64_t *profit) {
    const gpuopt__knapsack_best *best = &s->best;
    gpuopt__knapsack_view *v = &s->view;
    gpuopt__knapsack_core core = gpuopt__knapsack_core_of(s, best->level), unknown = gpuopt__knapsack_unknown(s, best);
    gpuopt__knapsack_node node = best->node;
    gpuopt__knapsack_filled f;
    int32_t j;
    gpuopt__knapsack_set(k, v->first, unknown.begin, 1);
    gpuopt__knapsack_set(k, unknown.end, v->last, 0);
    if (best->flip >= 0) k->trial[k->order[best->flip]] ^= 1;
    else if (gpuopt__knapsack_fill(v, core, node.room, node.profit, v->at, &f))
        gpuopt__knapsack_set(k, node.room < 0 ? f.at : core.end, node.room < 0 ? core.begin : f.at, node.room >= 0);
    for (j = 0; j < best->known; j++)
        if (node.decisions >> j & 1) k->trial[k->order[gpuopt__knapsack_item_of(s, best->decided[j])]] ^= 1;
    gpuopt__knapsack_take_back(s, best, &node);
    *profit = (int64_t)(node.profit - (v->table.profit_sum[unknown.begin] - v->table.profit_sum[v->first]));
    v->capacity = v->capacity - gpuopt__knapsack_weight(&v->table, v->first, unknown.begin) - node.room;
    v->first = unknown.begin;
    v->last = unknown.end;
    v->at = v->table.reach[v->first] < v->last ? v->table.reach[v->first] : v->last;
    v->at = gpuopt__knapsack_seek(v->table.weight_sum, v->first, (uint64_t)v->capacity, v->first, v->at, v->first);
}

/* Makes the best solution the incumbent's items. What is found on the way may be better than it. */
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
    s.home_first =
        whole->home_first + whole->used[0]; /* on a GPU, too, whose pool may be empty: no slice is to differ */
    s.home_room = whole->home_room - whole->used[0] - whole->used[1];
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
            if (!status) status = gpuopt__knapsack_of(k)->run(k, &s, INT64_MAX, INT64_MAX);
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

#endif /* GPUOPT_IMPL_KNAPSACK_RECOVER_H */
