/* SPDX-License-Identifier: MIT
 *
 * Knapsack, by the ranks of a group: they agree on a handle.
 */
#ifndef GPUOPT_IMPL_KNAPSACK_RANKS_CREATE_H
#define GPUOPT_IMPL_KNAPSACK_RANKS_CREATE_H

#include "steps.h"

/* A hash of the data that must be the same on all ranks. */
static uint64_t gpuopt__knapsack_alike(const gpuopt_knapsack *k) {
    const int64_t number[] = {k->items,        k->capacity,   k->search.stop_when_full, (int64_t)k->kind, k->pool,
                              k->pool_limit,   k->node_limit, k->search.share_from,     (int64_t)k->hash, k->given,
                              k->most != NULL, k->search.goal};
    uint64_t hash = GPUOPT__HASH_START;
    int32_t j;
    for (j = 0; j < (int32_t)(sizeof number / sizeof *number); j++)
        hash = gpuopt__hash_number(hash, (uint64_t)number[j]);
    for (j = 0; j < k->items; j++) {
        hash = gpuopt__hash_number(hash, (uint64_t)k->weight[j]);
        hash = gpuopt__hash_number(hash, (uint64_t)k->profit[j]);
    }
    for (j = 0; j < k->given && k->most; j++) hash = gpuopt__hash_number(hash, (uint64_t)k->most[j]);
    return gpuopt__hash_number(hash, (uint64_t)k->surrogates);
}

/* With a group: whether any rank left out some bounds of groups of items. status: of making the handle on this rank. */
static gpuopt_status gpuopt__knapsack_left_out(gpuopt_group *group, gpuopt_status status, int whole, int *any) {
    int64_t left_out = !whole;
    gpuopt_status agreed;
    *any = 0;
    if (!group || status == GPUOPT_ERROR_DEVICE) return status;
    agreed = gpuopt_group_all_reduce(group, GPUOPT_REDUCE_MAX, 1, &left_out, NULL);
    *any = !agreed && left_out;
    return status ? status : agreed;
}

/* Ends the creation of a handle, which had this status on this rank: returns the same status on all ranks. */
static gpuopt_status gpuopt__knapsack_made(gpuopt_context *context, const char *call, gpuopt_status status,
                                           const gpuopt_knapsack_desc *d, gpuopt_knapsack *k) {
    if (!d->group) return status;
    status = gpuopt__ranks_agree(context, d->group, call, status, k ? gpuopt__knapsack_alike(k) : 0);
    if (status || d->share_from != 0) return status;
    status = gpuopt__knapsack_exchange_handles(k); /* the default of the rank with the most expensive exchanges */
    k->search.share_from = k->ranks.peers ? gpuopt__knapsack_of(k)->share_by_peers : gpuopt__knapsack_of(k)->share_from;
    return status ? status : gpuopt_group_all_reduce(d->group, GPUOPT_REDUCE_MAX, 1, &k->search.share_from, NULL);
}

#endif /* GPUOPT_IMPL_KNAPSACK_RANKS_CREATE_H */
