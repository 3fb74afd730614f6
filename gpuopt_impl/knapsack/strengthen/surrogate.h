/* SPDX-License-Identifier: MIT
 *
 * Knapsack: surrogate problems, solved when a search is no longer short. The greedy solution up to the break item has b
 * items (copies of items, if there are several). Any solution has at most b of them or at least b + 1. Either
 * constraint, times a multiplier sigma, is added to the capacity constraint: weights w + sigma and capacity C + sigma
 * b, or w - sigma and C - sigma (b + 1). This keeps all solutions of the case, so the optimum of the new knapsack
 * problem is an upper bound of them. If the optimal items fit the original capacity, they are the best solution of the
 * case. For almost strongly correlated weights and profits, the new weights are hardly correlated with profits: few
 * nodes suffice. If no solution has more than b items, or none of interest fewer than b + 1, there is one case
 * (Martello, Pisinger, Toth: Dynamic programming and strong bounds for the 0-1 knapsack problem, Management Science 45,
 * 1999).
 *
 * Separate handles solve the surrogate problems, on the CPU for every backend, with a limit on nodes.
 */
#ifndef GPUOPT_IMPL_KNAPSACK_STRENGTHEN_SURROGATE_H
#define GPUOPT_IMPL_KNAPSACK_STRENGTHEN_SURROGATE_H

#include "inner_search.h"

enum { GPUOPT__KNAPSACK_FIRST = 4 }; /* surrogate problems are solved after this many expanded nodes per item */

enum {
    GPUOPT__KNAPSACK_SURROGATE_ITEMS = 64, /* smaller problems are searched at once */
    GPUOPT__KNAPSACK_SURROGATE_NODES = 64, /* most nodes for each item */
    GPUOPT__KNAPSACK_SURROGATE_POOL = 1 << 16
};

/* One case: solutions of at most (sign 1) or at least (sign -1) `copies` copies. */
typedef struct gpuopt__knapsack_case {
    int64_t copies;
    int sign;
    int64_t sigma;
} gpuopt__knapsack_case;

/* Writes weights w + sigma, or max(0, w - sigma), sigma for each copy, to `to`, a weight each `stride` bytes. Returns
 * the capacity; negative: there is no solution. An item with a negative weight is taken with weight 0, and its negative
 * weight is subtracted from the capacity. */
static int64_t gpuopt__knapsack_surrogate_weights(const gpuopt_knapsack *k, const gpuopt__knapsack_case *c, int64_t *to,
                                                  size_t stride) {
    const gpuopt__knapsack_view *v = &k->search.view;
    int64_t capacity = v->capacity + c->sign * c->sigma * c->copies;
    int32_t j;
    for (j = 0; j < v->last; j++, to = (int64_t *)((char *)to + stride)) {
        const int64_t weight = v->table.weight[j] + c->sign * c->sigma * gpuopt__knapsack_copies(k, j);
        *to = weight > 0 ? weight : 0;
        if (weight < 0) capacity -= weight;
    }
    return capacity;
}

static double gpuopt__knapsack_surrogate_ratio(const gpuopt__knapsack_item *item) {
    return item->weight > 0 ? (double)item->profit / (double)item->weight : 0x1p1000;
}

/* Moves the items begin .. end - 1 so that items of a larger ratio come first, then items of this ratio. */
static void gpuopt__knapsack_surrogate_divide(gpuopt__knapsack_item *item, int32_t begin, int32_t end, double ratio,
                                              int32_t *larger, int32_t *equal) {
    int32_t j = begin;
    *larger = begin;
    while (j < end) {
        const double other = gpuopt__knapsack_surrogate_ratio(&item[j]);
        const gpuopt__knapsack_item moved = item[j];
        const int32_t to = other > ratio ? (*larger)++ : other < ratio ? --end : j;
        item[j] = item[to];
        item[to] = moved;
        j += other >= ratio;
    }
    *equal = end;
}

/* How many copies fit, in the order of profit per weight; reorders the items. Only the choice of sigma depends on the
 * result; any sigma is valid, so rounding does no harm. O(count) on average. */
static int64_t gpuopt__knapsack_surrogate_count(const gpuopt_knapsack *k, gpuopt__knapsack_item *item, int32_t count,
                                                int64_t capacity) {
    int64_t copies = 0;
    int32_t begin = 0, end = capacity < 0 ? 0 : count;
    while (begin < end) {
        int64_t residual = capacity, more = 0;
        int32_t larger, equal, j;
        const double ratio = gpuopt__knapsack_surrogate_ratio(&item[begin + (end - begin) / 2]);
        gpuopt__knapsack_surrogate_divide(item, begin, end, ratio, &larger, &equal);
        for (j = begin; j < equal && item[j].weight <= residual; j++) {
            residual -= item[j].weight;
            more += gpuopt__knapsack_copies(k, item[j].index);
        }
        if (j < larger) {
            end = larger;
            continue;
        }
        copies += more;
        if (j < equal)
            return copies +
                   gpuopt__knapsack_part_of(residual, gpuopt__knapsack_copies(k, item[j].index), item[j].weight);
        begin = equal;
        capacity = residual;
    }
    return copies;
}

/* Chooses sigma by bisection: about as many copies fit as the case requires, which makes the relaxation tight. */
static void gpuopt__knapsack_surrogate_multiplier(gpuopt_knapsack *k, int64_t largest, gpuopt__knapsack_case *c) {
    const gpuopt__knapsack_view *v = &k->search.view;
    gpuopt__knapsack_item *item = k->scratch;
    int64_t low = 0, high = largest, capacity, count;
    int32_t j;
    while (low < high) {
        c->sigma = low + (high - low) / 2;
        capacity = gpuopt__knapsack_surrogate_weights(k, c, &item->weight, sizeof *item);
        for (j = 0; j < v->last; j++) {
            item[j].profit = v->table.profit[j];
            item[j].index = j;
        }
        count = gpuopt__knapsack_surrogate_count(k, item, v->last, capacity);
        if (c->sign > 0 ? count >= c->copies : count < c->copies) low = c->sigma + 1;
        else high = c->sigma;
    }
    c->sigma = low;
    if (c->sign > 0 && low > 0) c->sigma--; /* the last sigma with which that many copies fit */
}

/* Solves the surrogate problem of a case. *bound: no solution of the case exceeds it, unless it is no better than the
 * incumbent. weight: [items of the view] scratch. */
static gpuopt_status gpuopt__knapsack_surrogate_solve(gpuopt_knapsack *k, const gpuopt__knapsack_case *c,
                                                      int64_t *weight, int64_t *bound) {
    const int64_t capacity = gpuopt__knapsack_surrogate_weights(k, c, weight, sizeof *weight);
    gpuopt_outcome outcome;
    int64_t most;
    gpuopt_status status;
    *bound = k->search.lower;
    if (capacity < 0) return GPUOPT_OK;
    status = gpuopt__knapsack_inner_search(k, weight, capacity, GPUOPT__KNAPSACK_SURROGATE_POOL,
                                           GPUOPT__KNAPSACK_SURROGATE_NODES, &outcome, &most);
    if (!status && outcome != GPUOPT_INFEASIBLE) *bound = most;
    return status;
}

/* Copies in the solution of the relaxation, rounded down. */
static int64_t gpuopt__knapsack_greedy_copies(const gpuopt_knapsack *k) {
    const gpuopt__knapsack_view *v = &k->search.view;
    const int64_t residual = v->capacity - gpuopt__knapsack_weight(&v->table, v->first, v->at);
    int64_t copies = 0;
    int32_t j;
    for (j = v->first; j < v->at; j++) copies += gpuopt__knapsack_copies(k, j);
    return v->at == v->last
               ? copies
               : copies + gpuopt__knapsack_part_of(residual, gpuopt__knapsack_copies(k, v->at), v->table.weight[v->at]);
}

/* Lowers the goal, at which the search may end, by surrogate problems; they may find the optimum. If there is no memory
 * for them, the search continues without them. */
static void gpuopt__knapsack_surrogate(gpuopt_knapsack *k) {
    gpuopt__knapsack_search *s = &k->search;
    const gpuopt__knapsack_view *v = &s->view;
    gpuopt__knapsack_case some[2];
    gpuopt_status status = GPUOPT_OK;
    int64_t *weight, largest = 0, bound, goal = -1, copies = gpuopt__knapsack_all_copies(k);
    int32_t j, cases = 0;
    for (j = 0; j < v->last; j++)
        largest = gpuopt__knapsack_larger(largest, v->table.weight[j], gpuopt__knapsack_copies(k, j));
    if (v->last < GPUOPT__KNAPSACK_SURROGATE_ITEMS || s->lower >= k->root_bound) return;
    if (v->capacity > INT64_MAX / 4 || largest > INT64_MAX / 4 / copies || k->root_bound > INT64_MAX / 4)
        return; /* sums might overflow */
    copies = gpuopt__knapsack_greedy_copies(k);
    if (gpuopt__knapsack_fewest_copies(k) <= copies) {
        some[cases].copies = copies;
        some[cases++].sign = 1;
    }
    if (gpuopt__knapsack_most_copies(k) > copies) {
        some[cases].copies = copies + 1;
        some[cases++].sign = -1;
    }
    weight = (int64_t *)gpuopt__try_allocate(k->context, GPUOPT_HOST, sizeof *weight * (uint64_t)v->last);
    if (!weight) return;
    for (j = 0; j < cases && !status && goal < k->root_bound; j++) {
        gpuopt__knapsack_surrogate_multiplier(k, largest, &some[j]);
        status = gpuopt__knapsack_surrogate_solve(k, &some[j], weight, &bound);
        if (bound > goal) goal = bound;
    }
    gpuopt__release(k->context, GPUOPT_HOST, weight);
    if (goal < s->lower) goal = s->lower;
    if (!status && goal < s->goal) s->goal = goal;
}

/* After a run: if a new bound is due, computes it and returns 1, so that the search continues. */
static int gpuopt__knapsack_strengthen(gpuopt_knapsack *k) {
    if (!k->surrogates) return gpuopt__knapsack_bound_cardinality(k);
    if (k->search.depth == 0 || k->search.expanded < k->strengthen_at) return 0;
    k->surrogates = 0;
    k->strengthen_at = GPUOPT__KNAPSACK_STRENGTHEN * (int64_t)k->bundles;
    gpuopt__knapsack_surrogate(k);
    return 1;
}

#endif /* GPUOPT_IMPL_KNAPSACK_STRENGTHEN_SURROGATE_H */
