/* SPDX-License-Identifier: MIT
 *
 * Knapsack: the public calls, except those that create a handle, and those for packed nodes. Arguments are checked here
 * for every backend.
 */
#ifndef GPUOPT_IMPL_KNAPSACK_CALLS_H
#define GPUOPT_IMPL_KNAPSACK_CALLS_H

#include "create.h"
#include "deal.h"

/* ---- The search ---- */

static gpuopt_outcome gpuopt__knapsack_outcome(const gpuopt_knapsack *k) {
    const gpuopt__knapsack_search *s = &k->search;
    if (s->depth == 0) return k->incumbent >= k->claim ? GPUOPT_OPTIMAL : GPUOPT_INFEASIBLE;
    if (k->node_limit > 0 && s->expanded >= k->node_limit) return GPUOPT_LIMIT;
    return s->full ? GPUOPT_FULL : GPUOPT_MORE;
}

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
    static const char call[] = "gpuopt_knapsack_expand";
    gpuopt__knapsack_search *s;
    int again;
    int64_t expanded = INT64_MAX, steps = INT64_MAX, lower;
    gpuopt_status status = GPUOPT_OK;
    GPUOPT__COMPUTES(gpuopt_knapsack_expand(knapsack, nodes, levels, info));
    if (!knapsack) return GPUOPT_ERROR_ARGUMENT;
    if (nodes < 0 || levels < 0 || (info && !GPUOPT__HAS_SIZE(info)))
        status = gpuopt__refuse(knapsack->context, GPUOPT_ERROR_ARGUMENT, call,
                                nodes < 0 || levels < 0 ? "nodes or levels is negative" : "info has no struct_size");
    status = gpuopt__knapsack_agree(
        knapsack, call, status,
        gpuopt__hash_number(gpuopt__hash_number(GPUOPT__HASH_START, (uint64_t)nodes), (uint64_t)levels));
    if (status) return status;
    s = &knapsack->search;
    lower = s->lower;
    if (nodes > 0 && nodes < INT64_MAX - s->expanded) expanded = s->expanded + nodes;
    if (levels > 0) steps = s->steps + levels;
    if (knapsack->node_limit > 0 && knapsack->node_limit < expanded) expanded = knapsack->node_limit;
    knapsack->stopped = 0;
    do {
        int64_t until = knapsack->strengthen_at < expanded ? knapsack->strengthen_at : expanded;
        if (knapsack->ranks.group) status = gpuopt__knapsack_run_all(knapsack, s, until, steps);
        else status = gpuopt__knapsack_of(knapsack)->run(knapsack, s, until, steps);
        again = !status && !knapsack->stopped && gpuopt__knapsack_strengthen(knapsack);
        if (again && knapsack->ranks.group) status = gpuopt__knapsack_level(knapsack);
    } while (again && !status);
    if (!status && s->lower >= s->goal) gpuopt__knapsack_finish(s);
    gpuopt__knapsack_weigh(knapsack, s);
    if (!status && s->lower > lower) knapsack->incumbent = knapsack->base_profit + s->lower * knapsack->unit;
    if (!status && info) gpuopt__knapsack_report(knapsack, info);
    return status;
}

GPUOPT_API gpuopt_status gpuopt_knapsack_get_info(gpuopt_knapsack *knapsack, gpuopt_knapsack_info *info) {
    GPUOPT__COMPUTES(gpuopt_knapsack_get_info(knapsack, info));
    if (!knapsack) return GPUOPT_ERROR_ARGUMENT;
    if (!GPUOPT__HAS_SIZE(info))
        return gpuopt__refuse(knapsack->context, GPUOPT_ERROR_ARGUMENT, "gpuopt_knapsack_get_info",
                              "info is NULL or has no struct_size");
    gpuopt__knapsack_report(knapsack, info);
    return GPUOPT_OK;
}

/* ---- Incumbents ---- */

/* The fault of a call with items as taken or not, if this handle needs numbers of copies; NULL: none. */
static const char *gpuopt__knapsack_copies_fault(const gpuopt_knapsack *k, const uint8_t *taken) {
    return k->most && taken ? "items have several copies, see gpuopt_knapsack_get_copies and _set_copies" : NULL;
}

GPUOPT_API gpuopt_status gpuopt_knapsack_set_incumbent(gpuopt_knapsack *knapsack, gpuopt_memory_space where,
                                                       int64_t profit, const uint8_t *taken) {
    static const char call[] = "gpuopt_knapsack_set_incumbent";
    gpuopt_knapsack *k = knapsack;
    const void *found = NULL;
    const char *fault = profit < 0 ? "profit is negative" : NULL;
    uint64_t hash = gpuopt__hash_number(GPUOPT__HASH_START, (uint64_t)profit);
    gpuopt_status status;
    GPUOPT__COMPUTES(gpuopt_knapsack_set_incumbent(knapsack, where, profit, taken));
    if (!k) return GPUOPT_ERROR_ARGUMENT;
    status = gpuopt__check_where(k->context, call, where);
    if (!status && !fault) {
        fault = gpuopt__knapsack_copies_fault(k, taken);
        if (fault) status = gpuopt__refuse(k->context, GPUOPT_ERROR_STATE, call, fault);
        else if (taken) status = gpuopt__fetch(k->context, where, taken, (uint64_t)k->items, k->trial, &found);
        if (taken && !status) fault = gpuopt__knapsack_solution_fault(k, profit, (const uint8_t *)found);
    }
    if (!status && fault) status = gpuopt__refuse(k->context, GPUOPT_ERROR_ARGUMENT, call, fault);
    if (!status && k->ranks.group && taken) hash = gpuopt__hash(hash, (const unsigned char *)found, (uint64_t)k->items);
    status = gpuopt__knapsack_agree(k, call, status, hash);
    if (status) return status;
    if (!taken) gpuopt__knapsack_claim(k, profit);
    else if (profit > k->incumbent) gpuopt__knapsack_adopt(k, profit, (const uint8_t *)found);
    return GPUOPT_OK;
}

GPUOPT_API gpuopt_status gpuopt_knapsack_set_copies(gpuopt_knapsack *knapsack, gpuopt_memory_space where,
                                                    int64_t profit, const int64_t *copies) {
    static const char call[] = "gpuopt_knapsack_set_copies";
    gpuopt_knapsack *k = knapsack;
    const void *found = NULL;
    const char *fault;
    uint64_t hash = gpuopt__hash_number(GPUOPT__HASH_START, (uint64_t)profit);
    gpuopt_status status;
    GPUOPT__COMPUTES(gpuopt_knapsack_set_copies(knapsack, where, profit, copies));
    if (!k) return GPUOPT_ERROR_ARGUMENT;
    status = gpuopt__check_where(k->context, call, where);
    if (!status && !copies) status = gpuopt__refuse(k->context, GPUOPT_ERROR_ARGUMENT, call, "copies is NULL");
    if (!status)
        status = gpuopt__fetch(k->context, where, copies, sizeof *copies * (uint64_t)k->given, k->scratch, &found);
    if (!status) {
        fault = gpuopt__knapsack_of_copies(k, (const int64_t *)found, k->trial)
                    ? gpuopt__knapsack_solution_fault(k, profit, k->trial)
                    : "the copies of an item are negative, or more than there are, or do not fit";
        if (fault) status = gpuopt__refuse(k->context, GPUOPT_ERROR_ARGUMENT, call, fault);
    }
    if (!status && k->ranks.group) hash = gpuopt__hash(hash, k->trial, (uint64_t)k->items);
    status = gpuopt__knapsack_agree(k, call, status, hash);
    if (status) return status;
    if (profit > k->incumbent) gpuopt__knapsack_adopt(k, profit, k->trial);
    return GPUOPT_OK;
}

/* Recovers the incumbent's items, if no rank has a status; *weight: of all. */
static gpuopt_status gpuopt__knapsack_finish_items(gpuopt_knapsack *k, const char *call, gpuopt_memory_space where,
                                                   gpuopt_status status, int64_t *weight) {
    int32_t j;
    if (!status) status = gpuopt__check_where(k->context, call, where);
    status = gpuopt__knapsack_agree(k, call, status, GPUOPT__HASH_START);
    if (!status) status = gpuopt__knapsack_recover_all(k);
    for (*weight = 0, j = 0; j < k->items && !status; j++)
        if (k->taken[j]) *weight += k->weight[j];
    return status;
}

GPUOPT_API gpuopt_status gpuopt_knapsack_get_items(gpuopt_knapsack *knapsack, gpuopt_memory_space where, uint8_t *taken,
                                                   int64_t *profit, int64_t *weight) {
    static const char call[] = "gpuopt_knapsack_get_items";
    gpuopt_knapsack *k = knapsack;
    const char *fault;
    int64_t sum;
    gpuopt_status status;
    GPUOPT__COMPUTES(gpuopt_knapsack_get_items(knapsack, where, taken, profit, weight));
    if (!k) return GPUOPT_ERROR_ARGUMENT;
    fault = gpuopt__knapsack_copies_fault(k, taken);
    status = fault ? gpuopt__refuse(k->context, GPUOPT_ERROR_STATE, call, fault) : GPUOPT_OK;
    status = gpuopt__knapsack_finish_items(k, call, where, status, &sum);
    if (!status) status = gpuopt__deliver(k->context, where, taken, k->taken, (uint64_t)k->items);
    if (status) return status;
    if (profit) *profit = k->incumbent;
    if (weight) *weight = sum;
    return GPUOPT_OK;
}

GPUOPT_API gpuopt_status gpuopt_knapsack_get_copies(gpuopt_knapsack *knapsack, gpuopt_memory_space where,
                                                    int64_t *copies, int64_t *profit, int64_t *weight) {
    gpuopt_knapsack *k = knapsack;
    int64_t sum;
    gpuopt_status status;
    GPUOPT__COMPUTES(gpuopt_knapsack_get_copies(knapsack, where, copies, profit, weight));
    if (!k) return GPUOPT_ERROR_ARGUMENT;
    status = gpuopt__knapsack_finish_items(k, "gpuopt_knapsack_get_copies", where, GPUOPT_OK, &sum);
    if (status) return status;
    if (copies) gpuopt__knapsack_to_copies(k, k->taken, (int64_t *)(void *)k->scratch);
    status = gpuopt__deliver(k->context, where, copies, k->scratch, sizeof *copies * (uint64_t)k->given);
    if (status) return status;
    if (profit) *profit = k->incumbent;
    if (weight) *weight = sum;
    return GPUOPT_OK;
}

#endif /* GPUOPT_IMPL_KNAPSACK_CALLS_H */
