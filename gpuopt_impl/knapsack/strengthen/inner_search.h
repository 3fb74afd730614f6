/* SPDX-License-Identifier: MIT
 *
 * Knapsack: a bounded, single-threaded CPU sub-search over the same items, optionally with other
 * weights.
 */
#ifndef GPUOPT_IMPL_KNAPSACK_STRENGTHEN_INNER_SEARCH_H
#define GPUOPT_IMPL_KNAPSACK_STRENGTHEN_INNER_SEARCH_H

#include "../pool/make.h"
#include "../pool/recover.h"
#include "../pool/run.h"
#include "cardinality.h"

/* Makes the handle of an inner search. It computes no bounds from groups of items, and solves no surrogate problems. */
static gpuopt_status gpuopt__knapsack_inner_make(gpuopt_context *context, const gpuopt_knapsack_desc *desc,
                                                 gpuopt_knapsack **inner) {
    static const char call[] = "gpuopt_knapsack_create";
    gpuopt_knapsack_desc d;
    gpuopt_group_info group;
    int64_t limit;
    int32_t pieces;
    gpuopt_status status = gpuopt__knapsack_check(context, call, desc, &d, &pieces, &limit, &group);
    if (!status) status = gpuopt__knapsack_begin(context, call, &d, pieces, limit, &group, inner);
    return status ? status : gpuopt__knapsack_start(*inner, call, &d, GPUOPT__KNAPSACK_STRENGTHEN);
}

/* Takes over the solution of an inner search if its items fit the capacity and are better than the incumbent. */
static gpuopt_status gpuopt__knapsack_inner_take(gpuopt_knapsack *k, gpuopt_knapsack *inner) {
    const gpuopt__knapsack_view *v = &k->search.view;
    int64_t residual = v->capacity;
    gpuopt_status status = gpuopt__knapsack_recover(inner);
    int32_t j;
    if (status || inner->incumbent <= k->search.lower) return status;
    for (j = 0; j < v->last && residual >= 0; j++)
        if (inner->taken[j]) residual -= v->table.weight[j];
    if (residual < 0) return GPUOPT_OK;
    for (j = 0; j < k->items; j++) k->trial[j] = k->fixed[j] == 1;
    for (j = 0; j < v->last; j++)
        if (inner->taken[j]) gpuopt__knapsack_set(k, j, 1);
    gpuopt__knapsack_adopt(k, k->base_profit + inner->incumbent * k->unit, k->trial);
    return GPUOPT_OK;
}

/* Searches for a solution of the view's items that is better than the incumbent, with these weights and this capacity,
 * within a number of nodes for each item. Takes the solution over if it fits. *outcome: of the search; INFEASIBLE:
 * there is none. *bound: no solution has more profit. weight: [items of the view]. */
static gpuopt_status gpuopt__knapsack_inner_search(gpuopt_knapsack *k, const int64_t *weight, int64_t capacity,
                                                   int64_t pool, int64_t nodes, gpuopt_outcome *outcome,
                                                   int64_t *bound) {
    gpuopt_context cpu = *k->context;
    gpuopt_knapsack_desc d;
    gpuopt_knapsack *inner = NULL;
    gpuopt_status status;
    memset(&d, 0, sizeof d);
    d.struct_size = sizeof d;
    cpu.desc.backend = gpuopt_backend_cpu();
    cpu.desc.threads = 1;
    cpu.desc.stop = NULL;
    cpu.desc.log = NULL; /* failures of the inner search are no errors */
    cpu.last_error = NULL;
    d.items = k->search.view.last;
    d.weight = weight;
    d.profit = k->search.view.table.profit;
    d.capacity = capacity;
    d.pool = pool;
    d.on_pool_full = GPUOPT_ON_POOL_FULL_STOP;
    d.node_limit = nodes * d.items;
    status = gpuopt__knapsack_inner_make(&cpu, &d, &inner);
    if (!status) {
        gpuopt__knapsack_claim(inner, k->search.lower + 1);
        status = gpuopt__knapsack_run(inner, 0, 0, gpuopt__knapsack_bound_cardinality);
    }
    if (!status) {
        *outcome = gpuopt__knapsack_outcome(inner);
        *bound = gpuopt__knapsack_lower_upper(inner);
    }
    if (!status && *outcome != GPUOPT_INFEASIBLE) status = gpuopt__knapsack_inner_take(k, inner);
    gpuopt__knapsack_release(inner);
    return status;
}

#endif /* GPUOPT_IMPL_KNAPSACK_STRENGTHEN_INNER_SEARCH_H */
