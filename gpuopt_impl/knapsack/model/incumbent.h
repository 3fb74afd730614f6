/* SPDX-License-Identifier: MIT
 *
 * Knapsack: solutions and claims from the caller or from packed nodes; and the bounds of the whole problem.
 */
#ifndef GPUOPT_IMPL_KNAPSACK_MODEL_INCUMBENT_H
#define GPUOPT_IMPL_KNAPSACK_MODEL_INCUMBENT_H

#include "prepare.h"

/* Makes a checked and better set of items the incumbent. */
static void gpuopt__knapsack_adopt(gpuopt_knapsack *k, int64_t profit, const uint8_t *taken) {
    int32_t j;
    for (j = 0; j < k->items; j++) k->taken[j] = taken[j] != 0;
    k->incumbent = profit;
    k->search.best.level = -1;
    if (gpuopt__knapsack_units(k, profit) > k->search.lower) k->search.lower = gpuopt__knapsack_units(k, profit);
}

/* Returns why a set of items is not a solution with this profit, or NULL if it is one. */
static const char *gpuopt__knapsack_solution_fault(const gpuopt_knapsack *k, int64_t profit, const uint8_t *taken) {
    int64_t residual = k->capacity, sum = 0;
    int32_t j;
    for (j = 0; j < k->items; j++) {
        if (!taken[j]) continue;
        if (k->weight[j] > residual) return "the items are too heavy";
        residual -= k->weight[j];
        sum += k->profit[j]; /* of a set that fits: below 2^63, see _create */
    }
    return sum == profit ? NULL : "the items have another profit";
}

/* Lowers the upper bound to the largest profit that the lists, the incumbent and the claim allow, and returns it. */
static int64_t gpuopt__knapsack_lower_upper(gpuopt_knapsack *k) {
    const gpuopt__knapsack_search *s = &k->search;
    int64_t most = s->lower;
    int32_t j;
    for (j = 0; j < s->depth; j++) {
        double bound = gpuopt__knapsack_list_bound(s, &s->list[j]);
        if (bound >= (double)k->root_bound) most = k->root_bound;
        else if ((int64_t)bound > most) most = (int64_t)bound;
    }
    if (most > s->goal) most = s->goal;
    if (most < k->upper) k->upper = most;
    most = k->base_profit + k->upper * k->unit;
    return most > k->incumbent ? most : k->incumbent;
}

/* The caller claims that a solution of this profit exists. From now on the search looks only for such solutions. */
static void gpuopt__knapsack_claim(gpuopt_knapsack *k, int64_t claim) {
    gpuopt__knapsack_lower_upper(k); /* first, since the claim must not affect it */
    if (claim > k->claim) k->claim = claim;
    if (gpuopt__knapsack_units(k, claim - 1) > k->search.lower) k->search.lower = gpuopt__knapsack_units(k, claim - 1);
}

#endif /* GPUOPT_IMPL_KNAPSACK_MODEL_INCUMBENT_H */
