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
    info->outcome = gpuopt__knapsack_outcome(k);
    info->level = s->depth > 0 ? s->list[s->depth - 1].level : -1;
    info->expanded = s->expanded;
    info->pruned = s->pruned;
    info->dominated = s->dominated;
    info->alive = gpuopt__knapsack_alive(s);
    info->peak = s->peak;
    info->steps = s->steps;
    info->slices = s->slices;
    info->primal_bound = k->incumbent;
    info->dual_bound = gpuopt__knapsack_lower_upper(k);
    info->pool = k->pool;
    info->free_items = s->levels;
}

static gpuopt_status gpuopt__knapsack_expand(gpuopt_knapsack *k, const char *call, int64_t nodes, int32_t levels,
                                             gpuopt_knapsack_info *info) {
    gpuopt_knapsack_info result;
    gpuopt_status status = GPUOPT_OK;
    if (nodes < 0 || levels < 0)
        status = gpuopt__refuse(k->context, GPUOPT_ERROR_ARGUMENT, call, "nodes or levels is negative");
    else if (info && !GPUOPT__HAS_SIZE(k->context, call, gpuopt_knapsack_info, info)) status = GPUOPT_ERROR_ARGUMENT;
    status = gpuopt__knapsack_agree(
        k, call, status,
        gpuopt__hash_number(gpuopt__hash_number(GPUOPT__HASH_START, (uint64_t)nodes), (uint64_t)levels));
    if (!status) status = gpuopt__knapsack_run(k, nodes, levels, gpuopt__knapsack_strengthen);
    if (status || !info) return status;
    memset(&result, 0, sizeof result);
    gpuopt__knapsack_report(k, &result);
    return gpuopt__give(GPUOPT_OK, info, &result, sizeof result);
}

GPUOPT_API gpuopt_status gpuopt_knapsack_expand(gpuopt_knapsack *knapsack, int64_t nodes, int32_t levels,
                                                gpuopt_knapsack_info *info) {
    GPUOPT__CALL(knapsack, knapsack->context, gpuopt__knapsack_expand(knapsack, call, nodes, levels, info));
}

GPUOPT_API gpuopt_status gpuopt_knapsack_get_info(gpuopt_knapsack *knapsack, gpuopt_knapsack_info *info) {
    GPUOPT__CALL_FILLS(knapsack, knapsack->context, gpuopt_knapsack_info, info,
                       (gpuopt__knapsack_report(knapsack, &filled), GPUOPT_OK));
}

/* ---- Incumbents ---- */

static gpuopt_status gpuopt__knapsack_set_incumbent(gpuopt_knapsack *k, const char *call, gpuopt_memory_space where,
                                                    int64_t profit, const int64_t *copies) {
    const void *found = NULL;
    const char *fault = profit < 0 ? "profit is negative" : NULL;
    gpuopt_status status = gpuopt__check_where(k->context, call, where);
    if (!status && !fault && copies) {
        status = gpuopt__fetch(k->context, where, copies, sizeof *copies * (uint64_t)k->given, k->scratch, &found);
        if (!status && !gpuopt__knapsack_of_copies(k, (const int64_t *)found, k->trial))
            fault = "the copies of an item are negative, or more than there are, or do not fit";
        else if (!status) fault = gpuopt__knapsack_solution_fault(k, profit, k->trial);
    }
    if (!status && fault) status = gpuopt__refuse(k->context, GPUOPT_ERROR_ARGUMENT, call, fault);
    status = gpuopt__knapsack_agree_solution(k, call, status, profit, copies ? k->trial : NULL);
    if (status) return status;
    if (!copies) gpuopt__knapsack_claim(k, profit);
    else if (profit > k->incumbent) gpuopt__knapsack_adopt(k, profit, k->trial);
    return GPUOPT_OK;
}

GPUOPT_API gpuopt_status gpuopt_knapsack_set_incumbent(gpuopt_knapsack *knapsack, gpuopt_memory_space where,
                                                       int64_t profit, const int64_t *copies) {
    GPUOPT__CALL(knapsack, knapsack->context, gpuopt__knapsack_set_incumbent(knapsack, call, where, profit, copies));
}

static gpuopt_status gpuopt__knapsack_get_items(gpuopt_knapsack *k, const char *call, gpuopt_memory_space where,
                                                int64_t *copies, int64_t *profit, int64_t *weight) {
    int64_t sum = 0;
    int32_t j;
    gpuopt_status status =
        gpuopt__knapsack_agree(k, call, gpuopt__check_where(k->context, call, where), GPUOPT__HASH_START);
    if (!status) status = gpuopt__knapsack_all_could(k, gpuopt__knapsack_recover(k));
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

GPUOPT_API gpuopt_status gpuopt_knapsack_get_items(gpuopt_knapsack *knapsack, gpuopt_memory_space where,
                                                   int64_t *copies, int64_t *profit, int64_t *weight) {
    GPUOPT__CALL(knapsack, knapsack->context,
                 gpuopt__knapsack_get_items(knapsack, call, where, copies, profit, weight));
}

#endif /* GPUOPT_IMPL_KNAPSACK_API_CALLS_H */
