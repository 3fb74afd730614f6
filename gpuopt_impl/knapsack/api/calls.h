/* SPDX-License-Identifier: MIT
 *
 * Knapsack: the public calls, except for creating handles and for packed nodes. They check the arguments for every
 * backend.
 */
#ifndef GPUOPT_IMPL_KNAPSACK_API_CALLS_H
#define GPUOPT_IMPL_KNAPSACK_API_CALLS_H

#include "add.h"
#include "create.h"
#include "deal.h"

/* ---- The search ---- */

static void gpuopt__knapsack_report(gpuopt_knapsack *k, gpuopt_knapsack_info *info) {
    const gpuopt__knapsack_search *s = &k->search;
    gpuopt_knapsack_info r;
    memset(&r, 0, sizeof r);
    r.outcome = gpuopt__knapsack_outcome(k);
    r.level = s->depth > 0 ? s->list[s->depth - 1].level : -1;
    r.expanded = s->expanded;
    r.pruned = s->pruned;
    r.dominated = s->dominated;
    r.alive = gpuopt__knapsack_alive(s);
    r.peak = s->peak;
    r.steps = s->steps;
    r.slices = s->slices;
    r.primal_bound = k->incumbent;
    r.dual_bound = gpuopt__knapsack_lower_upper(k);
    r.pool = k->pool;
    r.free_items = s->levels;
    gpuopt__copy_out(info, info->struct_size, &r, sizeof r);
}

GPUOPT_API gpuopt_status gpuopt_knapsack_expand(gpuopt_knapsack *knapsack, int64_t nodes, int32_t levels,
                                                gpuopt_knapsack_info *info) {
    GPUOPT__ENTERS(knapsack, knapsack->context);
    static const char call[] = "gpuopt_knapsack_expand";
    gpuopt_status status = GPUOPT_OK;
    GPUOPT__COMPUTES(gpuopt_knapsack_expand(knapsack, nodes, levels, info));
    if (nodes < 0 || levels < 0)
        status = gpuopt__refuse(knapsack->context, GPUOPT_ERROR_ARGUMENT, call, "nodes or levels is negative");
    else if (info && !GPUOPT__HAS_SIZE(knapsack->context, call, gpuopt_knapsack_info, info))
        status = GPUOPT_ERROR_ARGUMENT;
    status = gpuopt__knapsack_agree(
        knapsack, call, status,
        gpuopt__hash_number(gpuopt__hash_number(GPUOPT__HASH_START, (uint64_t)nodes), (uint64_t)levels));
    if (!status) status = gpuopt__knapsack_run(knapsack, nodes, levels, gpuopt__knapsack_strengthen);
    if (!status && info) gpuopt__knapsack_report(knapsack, info);
    return status;
}

GPUOPT_API gpuopt_status gpuopt_knapsack_get_info(gpuopt_knapsack *knapsack, gpuopt_knapsack_info *info) {
    GPUOPT__ENTERS(knapsack, knapsack->context);
    GPUOPT__COMPUTES(gpuopt_knapsack_get_info(knapsack, info));
    if (!GPUOPT__HAS_SIZE(knapsack->context, "gpuopt_knapsack_get_info", gpuopt_knapsack_info, info))
        return GPUOPT_ERROR_ARGUMENT;
    gpuopt__knapsack_report(knapsack, info);
    return GPUOPT_OK;
}

/* ---- Incumbents ---- */

GPUOPT_API gpuopt_status gpuopt_knapsack_set_incumbent(gpuopt_knapsack *knapsack, gpuopt_memory_space where,
                                                       int64_t profit, const int64_t *copies) {
    GPUOPT__ENTERS(knapsack, knapsack->context);
    static const char call[] = "gpuopt_knapsack_set_incumbent";
    gpuopt_knapsack *k = knapsack;
    const void *found = NULL;
    const char *fault = profit < 0 ? "profit is negative" : NULL;
    uint64_t hash = gpuopt__hash_number(GPUOPT__HASH_START, (uint64_t)profit);
    gpuopt_status status;
    GPUOPT__COMPUTES(gpuopt_knapsack_set_incumbent(knapsack, where, profit, copies));
    status = gpuopt__check_where(k->context, call, where);
    if (!status && !fault && copies) {
        status = gpuopt__fetch(k->context, where, copies, sizeof *copies * (uint64_t)k->given, k->scratch, &found);
        if (!status && !gpuopt__knapsack_of_copies(k, (const int64_t *)found, k->trial))
            fault = "the copies of an item are negative, or more than there are, or do not fit";
        else if (!status) fault = gpuopt__knapsack_solution_fault(k, profit, k->trial);
    }
    if (!status && fault) status = gpuopt__refuse(k->context, GPUOPT_ERROR_ARGUMENT, call, fault);
    if (!status && k->ranks.group && copies) hash = gpuopt__hash(hash, k->trial, (uint64_t)k->items);
    status = gpuopt__knapsack_agree(k, call, status, hash);
    if (status) return status;
    if (!copies) gpuopt__knapsack_claim(k, profit);
    else if (profit > k->incumbent) gpuopt__knapsack_adopt(k, profit, k->trial);
    return GPUOPT_OK;
}

GPUOPT_API gpuopt_status gpuopt_knapsack_get_items(gpuopt_knapsack *knapsack, gpuopt_memory_space where,
                                                   int64_t *copies, int64_t *profit, int64_t *weight) {
    GPUOPT__ENTERS(knapsack, knapsack->context);
    static const char call[] = "gpuopt_knapsack_get_items";
    gpuopt_knapsack *k = knapsack;
    int64_t sum = 0;
    int32_t j;
    gpuopt_status status;
    GPUOPT__COMPUTES(gpuopt_knapsack_get_items(knapsack, where, copies, profit, weight));
    status = gpuopt__knapsack_agree(k, call, gpuopt__check_where(k->context, call, where), GPUOPT__HASH_START);
    if (!status) status = gpuopt__knapsack_recover_all(k);
    if (status) return status;
    for (j = 0; j < k->items; j++)
        if (k->taken[j]) sum += k->weight[j];
    if (copies) {
        gpuopt__knapsack_to_copies(k, k->taken, (int64_t *)(void *)k->scratch);
        status = gpuopt__deliver(k->context, where, copies, k->scratch, sizeof *copies * (uint64_t)k->given);
        if (status) return status;
    }
    if (profit) *profit = k->incumbent;
    if (weight) *weight = sum;
    return GPUOPT_OK;
}

#endif /* GPUOPT_IMPL_KNAPSACK_API_CALLS_H */
