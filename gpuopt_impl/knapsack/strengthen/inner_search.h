/* SPDX-License-Identifier: MIT
 *
 * Knapsack: a bounded, single-threaded CPU sub-search over the same items, optionally with other
 * weights.
 */
#ifndef GPUOPT_IMPL_KNAPSACK_STRENGTHEN_INNER_SEARCH_H
#define GPUOPT_IMPL_KNAPSACK_STRENGTHEN_INNER_SEARCH_H

#include "../model/incumbent.h"

static gpuopt_status gpuopt__knapsack_make(gpuopt_context *context, const char *call, const gpuopt_knapsack_desc *desc,
                                           int surrogates, gpuopt_knapsack **knapsack);
static gpuopt_status gpuopt__knapsack_recover(gpuopt_knapsack *k);

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
 * within a number of nodes for each item. Takes the solution over if it fits. *info: the result of the search;
 * INFEASIBLE: there is none. weight: [items of the view]. */
static gpuopt_status gpuopt__knapsack_inner_search(gpuopt_knapsack *k, const int64_t *weight, int64_t capacity,
                                                   int64_t pool, int64_t nodes, gpuopt_knapsack_info *info) {
    gpuopt_context cpu = *k->context;
    gpuopt_knapsack_desc d;
    gpuopt_knapsack *inner = NULL;
    gpuopt_status status;
    memset(info, 0, sizeof *info);
    memset(&d, 0, sizeof d);
    info->struct_size = sizeof *info;
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
    status = gpuopt__knapsack_make(&cpu, "gpuopt_knapsack_create", &d, 0, &inner);
    if (!status) {
        gpuopt__knapsack_claim(inner, k->search.lower + 1);
        status = gpuopt_knapsack_expand(inner, 0, 0, info);
    }
    if (!status && info->outcome != GPUOPT_INFEASIBLE) status = gpuopt__knapsack_inner_take(k, inner);
    gpuopt_knapsack_destroy(inner);
    return status;
}

#endif /* GPUOPT_IMPL_KNAPSACK_STRENGTHEN_INNER_SEARCH_H */
