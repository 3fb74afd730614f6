/* SPDX-License-Identifier: MIT
 *
 * Knapsack: the life of a handle, also by the ranks of a group.
 */
#ifndef GPUOPT_IMPL_KNAPSACK_API_CREATE_H
#define GPUOPT_IMPL_KNAPSACK_API_CREATE_H

#include "../pool/make.h"
#include "../strengthen/weight_classes_reduce.h"
#include "../strengthen/surrogate.h"
#include "../ranks/steps.h"

static gpuopt_status gpuopt__knapsack_write_plan(gpuopt_context *context, const gpuopt_knapsack_desc *desc,
                                                 gpuopt_memory_plan *plan) {
    static const char call[] = "gpuopt_knapsack_create";
    gpuopt_memory_plan p;
    gpuopt_knapsack head;
    gpuopt_knapsack_desc d;
    gpuopt_group_info group;
    gpuopt_status status;
    int64_t limit;
    int32_t pieces;
    GPUOPT__COMPUTES(gpuopt__knapsack_write_plan(context, desc, plan));
    if (!GPUOPT__HAS_SIZE(context, call, gpuopt_memory_plan, plan)) return GPUOPT_ERROR_ARGUMENT;
    status = gpuopt__knapsack_check(context, call, desc, &d, &pieces, &limit, &group);
    if (status) return status;
    memset(&p, 0, sizeof p);
    p.host_bytes = gpuopt__knapsack_cut(&head, NULL, &d, pieces, group.count);
    d.items = pieces;
    context->desc.backend->knapsack->plan(context, &d, &p);
    gpuopt__copy_out(plan, plan->struct_size, &p, sizeof p);
    return GPUOPT_OK;
}

GPUOPT_API void gpuopt_knapsack_destroy(gpuopt_knapsack *knapsack) {
    GPUOPT__DESTROYS(gpuopt_knapsack, knapsack, knapsack->context);
    gpuopt__knapsack_release(knapsack);
}

/* Makes a handle from checked arguments. *whole: whether to use bounds from groups of items; becomes 0 if some of them
 * were left out. */
static gpuopt_status gpuopt__knapsack_make_own(gpuopt_context *context, const char *call, const gpuopt_knapsack_desc *d,
                                               int32_t pieces, int64_t limit, const gpuopt_group_info *group,
                                               int *whole, gpuopt_knapsack **knapsack) {
    int64_t nodes = GPUOPT__KNAPSACK_STRENGTHEN;
    gpuopt_knapsack *k = NULL;
    gpuopt_status status = gpuopt__knapsack_begin(context, call, d, pieces, limit, group, &k);
    if (status) return status;
    k->surrogates = k->search.dominance && gpuopt__knapsack_reduces(d);
    if (k->surrogates && *whole) *whole = gpuopt__knapsack_group(k);
    if (k->surrogates) nodes = GPUOPT__KNAPSACK_FIRST;
    status = gpuopt__knapsack_start(k, call, d, nodes);
    if (status) gpuopt__knapsack_release(k);
    else *knapsack = k;
    return status;
}

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

/* Whether any rank left out some bounds; then *knapsack is not needed. */
static gpuopt_status gpuopt__knapsack_left_out(gpuopt_group *group, int whole, gpuopt_knapsack **knapsack, int *any) {
    int64_t left_out = !whole;
    const gpuopt_status status = gpuopt_group_all_reduce(group, GPUOPT_REDUCE_MAX, 1, &left_out, NULL);
    *any = !status && left_out;
    if (!*any) return status;
    gpuopt__knapsack_release(*knapsack);
    *knapsack = NULL;
    return GPUOPT_OK;
}

/* Ranks must have the same items left. So if one has to leave out some bounds from groups of items, all do without
 * these bounds. */
static gpuopt_status gpuopt__knapsack_make(gpuopt_context *context, const char *call, const gpuopt_knapsack_desc *desc,
                                           gpuopt_knapsack **knapsack) {
    gpuopt_knapsack *k = NULL;
    gpuopt_knapsack_desc d;
    gpuopt_group_info group;
    int64_t limit = 0;
    int32_t pieces = 0;
    int whole = 1, again = 0;
    gpuopt_status status = gpuopt__knapsack_check(context, call, desc, &d, &pieces, &limit, &group), agreed;
    if (!status) status = gpuopt__knapsack_make_own(context, call, &d, pieces, limit, &group, &whole, &k);
    if (d.group && status != GPUOPT_ERROR_DEVICE) {
        agreed = gpuopt__knapsack_left_out(d.group, whole, &k, &again);
        if (!status) status = agreed;
    }
    whole = 0;
    if (!status && again) status = gpuopt__knapsack_make_own(context, call, &d, pieces, limit, &group, &whole, &k);
    if (d.group) status = gpuopt__ranks_agree(context, d.group, call, status, k ? gpuopt__knapsack_alike(k) : 0);
    if (d.group && !status && d.share_from == 0) { /* the default of the rank with the most expensive exchanges */
        status = gpuopt__knapsack_exchange_handles(k);
        k->search.share_from =
            k->ranks.peers ? gpuopt__knapsack_of(k)->share_by_peers : gpuopt__knapsack_of(k)->share_from;
        if (!status) status = gpuopt_group_all_reduce(d.group, GPUOPT_REDUCE_MAX, 1, &k->search.share_from, NULL);
    }
    if (status) gpuopt__knapsack_release(k);
    else *knapsack = k;
    return status;
}

static gpuopt_status gpuopt__knapsack_create_handle(gpuopt_context *context, const gpuopt_knapsack_desc *desc,
                                                    gpuopt_knapsack **knapsack) {
    static const char call[] = "gpuopt_knapsack_create";
    GPUOPT__COMPUTES(gpuopt__knapsack_create_handle(context, desc, knapsack));
    if (!knapsack) return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "knapsack and plan are NULL");
    return gpuopt__knapsack_make(context, call, desc, knapsack);
}

GPUOPT_API gpuopt_status gpuopt_knapsack_create(gpuopt_context *context, const gpuopt_knapsack_desc *desc,
                                                gpuopt_memory_plan *plan, gpuopt_knapsack **knapsack) {
    GPUOPT__CREATES(gpuopt_knapsack, context, context, knapsack);
    gpuopt_status status = plan ? gpuopt__knapsack_write_plan(context, desc, plan) : GPUOPT_OK;
    return status || (plan && !knapsack) ? status : gpuopt__knapsack_create_handle(context, desc, knapsack);
}

#endif /* GPUOPT_IMPL_KNAPSACK_API_CREATE_H */
