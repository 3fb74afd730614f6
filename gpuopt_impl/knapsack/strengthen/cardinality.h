/* SPDX-License-Identifier: MIT
 *
 * Knapsack: an upper bound of the whole problem from the number of items in a solution. A piece (model/copies.h) counts
 * as its number of copies, so that the bound is as strong as with an item for each copy. A solution has at most as many
 * items as fit if the lightest are taken. A solution that beats the incumbent has at least as many as are needed if the
 * items with the most profit are taken. Either constraint, moved into the objective with a Lagrange multiplier, leaves
 * a linear relaxation. Its bound is convex in the multiplier. For correlated weights and profits this closes most of
 * the gap that Dantzig's bound leaves (Martello, Toth: Upper bounds and algorithms for hard 0-1 knapsack problems,
 * 1997).
 *
 * A bound takes some fifty sorts of the items on the CPU, so only long searches compute it.
 */
#ifndef GPUOPT_IMPL_KNAPSACK_STRENGTHEN_CARDINALITY_H
#define GPUOPT_IMPL_KNAPSACK_STRENGTHEN_CARDINALITY_H

#include "../model/prepare.h"

/* Dantzig's bound with `add`, which may be negative, added to the profit of every copy. *count: copies in the solution
 * of the relaxation, rounded down. */
static int64_t gpuopt__knapsack_relaxed(gpuopt_knapsack *k, int64_t add, int64_t *count) {
    const gpuopt__knapsack_view *v = &k->search.view;
    gpuopt__knapsack_item *item = k->scratch;
    int64_t residual = v->capacity, bound = 0;
    int32_t j, items = 0;
    for (j = 0; j < v->last; j++) {
        const int64_t profit = v->table.profit[j] + add * gpuopt__knapsack_copies(k, j);
        if (profit <= 0) continue;
        item[items].weight = v->table.weight[j];
        item[items].profit = profit;
        item[items++].index = j;
    }
    gpuopt__knapsack_ratio_sort(item, item + items, items);
    for (*count = 0, j = 0; j < items && item[j].weight <= residual; j++) {
        residual -= item[j].weight;
        bound += item[j].profit;
        *count += gpuopt__knapsack_copies(k, item[j].index);
    }
    if (j == items) return bound;
    *count += gpuopt__knapsack_part_of(residual, gpuopt__knapsack_copies(k, item[j].index), item[j].weight);
    return bound + (int64_t)gpuopt__knapsack_product_quotient((uint64_t)residual, (uint64_t)item[j].profit,
                                                              (uint64_t)item[j].weight);
}

/* The most copies in a solution: how many of the lightest fit. */
static int64_t gpuopt__knapsack_most_copies(gpuopt_knapsack *k) {
    const gpuopt__knapsack_view *v = &k->search.view;
    gpuopt__knapsack_item *item = k->scratch;
    int64_t residual = v->capacity, count = 0;
    int32_t j;
    for (j = 0; j < v->last; j++) {
        item[j].weight = v->table.weight[j];
        item[j].profit = gpuopt__knapsack_copies(k, j);
        item[j].index = j;
    }
    gpuopt__knapsack_ratio_sort(item, item + v->last, v->last);
    for (j = 0; j < v->last && item[j].weight <= residual; j++) {
        residual -= item[j].weight;
        count += item[j].profit;
    }
    return j == v->last ? count : count + gpuopt__knapsack_part_of(residual, item[j].profit, item[j].weight);
}

/* The fewest copies that can have more profit than `lower`, found by taking the most profitable first. All copies + 1:
 * it is impossible. */
static int64_t gpuopt__knapsack_fewest_copies(gpuopt_knapsack *k) {
    const gpuopt__knapsack_view *v = &k->search.view;
    gpuopt__knapsack_item *item = k->scratch;
    int64_t left = k->search.lower, count = 0;
    int32_t j;
    for (j = 0; j < v->last; j++) {
        item[j].weight = gpuopt__knapsack_copies(k, j);
        item[j].profit = v->table.profit[j];
        item[j].index = j;
    }
    gpuopt__knapsack_ratio_sort(item, item + v->last, v->last);
    if (left < 0) return 0;
    for (j = 0; j < v->last && item[j].profit <= left; j++) {
        left -= item[j].profit;
        count += item[j].weight;
    }
    return 1 + (j == v->last ? count : count + gpuopt__knapsack_part_of(left, item[j].weight, item[j].profit));
}

/* The least bound over integer multipliers of one constraint: at most `copies` (sign -1) or at least `copies` (sign 1).
 * Bisection by the sign of the slope. */
static int64_t gpuopt__knapsack_cardinality(gpuopt_knapsack *k, int sign, int64_t copies, int64_t largest,
                                            int64_t best) {
    int64_t low = 0, high = largest;
    while (low <= high && best > k->search.lower) {
        int64_t multiplier = low + (high - low) / 2, bound, count;
        bound = gpuopt__knapsack_relaxed(k, sign * multiplier, &count) - sign * multiplier * copies;
        if (bound < best) best = bound;
        if (sign < 0 ? count >= copies : count < copies) low = multiplier + 1;
        else high = multiplier - 1;
    }
    return best;
}

/* The larger of `largest` and the weight (or profit) of one of `copies` copies, rounded up. */
static int64_t gpuopt__knapsack_larger(int64_t largest, int64_t weight, int64_t copies) {
    const int64_t one = weight / copies + (weight % copies != 0);
    return one > largest ? one : largest;
}

/* Lowers the goal, at which the search may end, to the cardinality bound. */
static void gpuopt__knapsack_lower_goal(gpuopt_knapsack *k) {
    gpuopt__knapsack_search *s = &k->search;
    const int64_t copies = gpuopt__knapsack_all_copies(k);
    int64_t largest = 0, bound = k->root_bound;
    int32_t j;
    for (j = 0; j < s->levels; j++)
        largest = gpuopt__knapsack_larger(largest, s->view.table.profit[j], gpuopt__knapsack_copies(k, j));
    if (copies == INT64_MAX || largest > (INT64_MAX / 4 - k->root_bound / 4) / (copies + 1))
        return; /* sums might overflow */
    bound = gpuopt__knapsack_cardinality(k, -1, gpuopt__knapsack_most_copies(k), largest, bound);
    bound = gpuopt__knapsack_cardinality(k, 1, gpuopt__knapsack_fewest_copies(k), largest, bound);
    if (bound < s->lower) bound = s->lower; /* no solution beats the incumbent */
    if (bound < s->goal) s->goal = bound;
}

/* Cardinality bounds are computed when the search has expanded STRENGTHEN nodes per item, after AGAIN times as many,
 * and so on. */
enum { GPUOPT__KNAPSACK_STRENGTHEN = 64, GPUOPT__KNAPSACK_STRENGTHEN_AGAIN = 8 };

/* After a run: if a new bound is due, computes it and returns 1, so that the search continues. */
static int gpuopt__knapsack_bound_cardinality(gpuopt_knapsack *k) {
    if (k->search.depth == 0 || k->search.expanded < k->strengthen_at) return 0;
    while (k->strengthen_at <= k->search.expanded)
        k->strengthen_at = k->strengthen_at < INT64_MAX / GPUOPT__KNAPSACK_STRENGTHEN_AGAIN
                               ? k->strengthen_at * GPUOPT__KNAPSACK_STRENGTHEN_AGAIN
                               : INT64_MAX;
    gpuopt__knapsack_lower_goal(k);
    return 1;
}

#endif /* GPUOPT_IMPL_KNAPSACK_STRENGTHEN_CARDINALITY_H */
