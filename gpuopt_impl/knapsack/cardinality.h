/* SPDX-License-Identifier: MIT
 *
 * Knapsack: an upper bound of the whole problem from the number of items in a solution. A solution has at most as
 * many items as fit when the lightest are taken; a solution that beats the incumbent has at least as many as are
 * needed when those with the most profit are taken. Either constraint, moved into the objective with a Lagrange
 * multiplier, leaves a linear relaxation whose bound is convex in the multiplier. For correlated weights and profits
 * this closes most of the gap that Dantzig's bound leaves (Martello, Toth: Upper bounds and algorithms for hard 0-1
 * knapsack problems, 1997).
 *
 * A bound takes some fifty sorts of the items on the host, so it is computed only in long searches.
 */
#ifndef GPUOPT_IMPL_KNAPSACK_CARDINALITY_H
#define GPUOPT_IMPL_KNAPSACK_CARDINALITY_H

#include "recover.h"

/* Dantzig's bound with `add`, which may be negative, added to every profit. *count: items in the solution of the
 * relaxation, without the break item. */
static int64_t gpuopt__knapsack_relaxed(gpuopt_knapsack *k, int64_t add, int32_t *count) {
    const gpuopt__knapsack_view *v = &k->search.view;
    gpuopt__knapsack_item *item = k->scratch;
    int64_t room = v->capacity, bound = 0;
    int32_t j, items = 0;
    for (j = 0; j < v->last; j++) {
        if (v->table.profit[j] + add <= 0) continue;
        item[items].weight = v->table.weight[j];
        item[items].profit = v->table.profit[j] + add;
        item[items++].index = j;
    }
    gpuopt__knapsack_ratio_sort(item, item + items, items);
    for (j = 0; j < items && item[j].weight <= room; j++) {
        room -= item[j].weight;
        bound += item[j].profit;
    }
    *count = j;
    if (j == items) return bound;
    return bound + (int64_t)gpuopt__knapsack_product_quotient((uint64_t)room, (uint64_t)item[j].profit,
                                                              (uint64_t)item[j].weight);
}

/* The most items that a solution can have: how many of the lightest fit. */
static int32_t gpuopt__knapsack_most_items(gpuopt_knapsack *k) {
    const gpuopt__knapsack_view *v = &k->search.view;
    gpuopt__knapsack_item *item = k->scratch;
    int64_t room = v->capacity;
    int32_t j;
    for (j = 0; j < v->last; j++) {
        item[j].weight = v->table.weight[j];
        item[j].profit = 1;
        item[j].index = j;
    }
    gpuopt__knapsack_ratio_sort(item, item + v->last, v->last);
    for (j = 0; j < v->last && item[j].weight <= room; j++) room -= item[j].weight;
    return j;
}

/* The fewest items that can have more profit than `lower`: how many of those with the most profit it takes. One more
 * than there are items: it is impossible. */
static int32_t gpuopt__knapsack_fewest_items(gpuopt_knapsack *k) {
    const gpuopt__knapsack_view *v = &k->search.view;
    gpuopt__knapsack_item *item = k->scratch;
    int64_t left = k->search.lower;
    int32_t j;
    for (j = 0; j < v->last; j++) {
        item[j].weight = 1;
        item[j].profit = v->table.profit[j];
        item[j].index = j;
    }
    gpuopt__knapsack_ratio_sort(item, item + v->last, v->last);
    for (j = 0; j < v->last && left >= 0; j++) left -= item[j].profit;
    return left < 0 ? j : v->last + 1;
}

/* The least bound over integer multipliers of one constraint: at most `items` (sign -1) or at least `items` (sign 1).
 * Bisection by the sign of the slope. */
static int64_t gpuopt__knapsack_cardinality(gpuopt_knapsack *k, int sign, int32_t items, int64_t largest,
                                            int64_t best) {
    int64_t low = 0, high = largest;
    while (low <= high && best > k->search.lower) {
        int64_t multiplier = low + (high - low) / 2, bound;
        int32_t count;
        bound = gpuopt__knapsack_relaxed(k, sign * multiplier, &count) - sign * multiplier * items;
        if (bound < best) best = bound;
        if (sign < 0 ? count >= items : count < items) low = multiplier + 1;
        else high = multiplier - 1;
    }
    return best;
}

/* Lowers the goal, at which the search may end, to the cardinality bound. */
static void gpuopt__knapsack_lower_goal(gpuopt_knapsack *k) {
    gpuopt__knapsack_search *s = &k->search;
    int64_t largest = 0, bound = k->root_bound;
    int32_t j;
    for (j = 0; j < s->levels; j++)
        if (s->view.table.profit[j] > largest) largest = s->view.table.profit[j];
    if (largest > (INT64_MAX / 4 - k->root_bound / 4) / (s->levels + 1)) return; /* sums might overflow */
    bound = gpuopt__knapsack_cardinality(k, -1, gpuopt__knapsack_most_items(k), largest, bound);
    bound = gpuopt__knapsack_cardinality(k, 1, gpuopt__knapsack_fewest_items(k), largest, bound);
    if (bound < s->lower) bound = s->lower; /* nothing is better than the incumbent */
    if (bound < s->goal) s->goal = bound;
}

/* Ends the search: no node in the pool can beat the incumbent. */
static void gpuopt__knapsack_finish(gpuopt__knapsack_search *s) {
    s->pruned += gpuopt__knapsack_alive(s);
    s->used[0] = s->used[1] = s->elsewhere = 0;
    s->depth = 0;
    s->full = 0;
}

#endif /* GPUOPT_IMPL_KNAPSACK_CARDINALITY_H */
