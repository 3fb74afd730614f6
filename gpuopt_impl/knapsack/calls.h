/* SPDX-License-Identifier: MIT
 *
 * Knapsack: the public calls, except those for packed nodes. Arguments are checked here for every backend.
 */
#ifndef GPUOPT_IMPL_KNAPSACK_CALLS_H
#define GPUOPT_IMPL_KNAPSACK_CALLS_H

#include "deal.h"
#include "groups_reduce.h"
#include "surrogate.h"

/* ---- Descriptors ---- */

static gpuopt_status gpuopt__knapsack_check_options(const gpuopt_context *context, const char *call,
                                                    const gpuopt_knapsack_desc *d) {
    const gpuopt__range range[] = {{"items", (double)d->items, 1, GPUOPT__KNAPSACK_PIECES},
                                   {"capacity", (double)d->capacity, 1, (double)INT64_MAX},
                                   {"pool", (double)d->pool, 1, (double)((int64_t)1 << 40)},
                                   {"node_limit", (double)d->node_limit, 1, (double)INT64_MAX},
                                   {"hybrid_threshold", (double)d->hybrid_threshold, 1, INT32_MAX},
                                   {"share_from", (double)d->share_from, 1, (double)((int64_t)1 << 40)}};
    const gpuopt__choice choice[] = {{"search", (int64_t)d->search, GPUOPT_SEARCH_HYBRID},
                                     {"when_full", (int64_t)d->when_full, GPUOPT_WHEN_FULL_STOP},
                                     {"reduction", (int64_t)d->reduction, GPUOPT_OFF}};
    gpuopt_status status = gpuopt__check_ranges(context, call, range, sizeof range / sizeof *range);
    return status ? status : gpuopt__check_choices(context, call, choice, sizeof choice / sizeof *choice);
}

/* The default pool, and how far it grows: 1.3 GB. */
enum { GPUOPT__KNAPSACK_POOL = 1 << 20, GPUOPT__KNAPSACK_POOL_LIMIT = 1 << 26 };

static gpuopt_status gpuopt__knapsack_check_items(const gpuopt_context *context, const char *call,
                                                  const gpuopt_knapsack_desc *d) {
    int32_t j;
    if (d->items > 0 && (!d->weight || !d->profit))
        return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "weight or profit is NULL");
    for (j = 0; j < d->items; j++) {
        if (d->weight[j] >= 0 && d->profit[j] >= 0 && (!d->upper || d->upper[j] >= 0)) continue;
        gpuopt__log(context, 0, "%s: %s of item %d is negative", call,
                    d->weight[j] < 0   ? "weight"
                    : d->profit[j] < 0 ? "profit"
                                       : "upper",
                    (int)j);
        return GPUOPT_ERROR_ARGUMENT;
    }
    return GPUOPT_OK;
}

/* *d: the descriptor with its defaults; *pieces of its items; *limit: to which the pool may grow; *info: of the group;
 * one of one rank is none. */
static gpuopt_status gpuopt__knapsack_check(gpuopt_context *context, const char *call, const gpuopt_knapsack_desc *desc,
                                            gpuopt_knapsack_desc *d, int32_t *pieces, int64_t *limit,
                                            gpuopt_group_info *info) {
    int64_t least;
    gpuopt_status status;
    memset(d, 0, sizeof *d);
    memset(info, 0, sizeof *info);
    info->count = 1;
    if (!desc) return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "desc is NULL");
    status =
        gpuopt__check_struct(context, call, context->desc.backend->knapsack, desc, desc->struct_size, d, sizeof *d);
    if (!status) status = gpuopt__ranks_of(context, call, &d->group, info);
    if (info->count == 1) d->group = NULL;
    if (!status) status = gpuopt__knapsack_check_options(context, call, d);
    if (!status) status = gpuopt__knapsack_check_items(context, call, d);
    if (!status) status = gpuopt__knapsack_count_pieces(context, call, d, pieces);
    if (status) return status;
    if (d->group && d->search == GPUOPT_SEARCH_HYBRID)
        return gpuopt__refuse(context, GPUOPT_ERROR_UNSUPPORTED, call, "HYBRID is not available with a group");
    least = 2 * (int64_t)*pieces + 8;
    *limit = d->pool;
    if (d->pool == 0) {
        d->pool = 4 * least > GPUOPT__KNAPSACK_POOL ? 4 * least : (int64_t)GPUOPT__KNAPSACK_POOL;
        *limit = d->search == GPUOPT_SEARCH_HYBRID ? d->pool : (int64_t)GPUOPT__KNAPSACK_POOL_LIMIT;
    }
    if (d->pool < least) d->pool = least;
    if (*limit < d->pool) *limit = d->pool;
    if (d->hybrid_threshold == 0) d->hybrid_threshold = 5000;
    return GPUOPT_OK;
}

/* Cuts the arrays of the head out of one block; returns its size. */
static uint64_t gpuopt__knapsack_cut(gpuopt_knapsack *k, void *memory, const gpuopt_knapsack_desc *d, int32_t pieces,
                                     int32_t count) {
    gpuopt__arena arena;
    const int64_t n = pieces, ranks = count > 1 ? count : 0;
    int which;
    arena.base = (char *)memory;
    arena.used = 0;
    for (which = 0; which < 2; which++) {
        gpuopt__knapsack_lists *l = &k->lists[which];
        l->list = (gpuopt__knapsack_list *)gpuopt__cut(&arena, n + 1, sizeof *l->list);
        l->decided = (int32_t *)gpuopt__cut(&arena, n, sizeof(int32_t));
        l->begin = (int32_t *)gpuopt__cut(&arena, n + 1, sizeof(int32_t));
        l->least_loss = (double *)gpuopt__cut(&arena, n + 1, sizeof(double));
    }
    k->most = k->copies = NULL;
    if (d->upper) {
        k->most = (int64_t *)gpuopt__cut(&arena, d->items, sizeof(int64_t));
        k->copies = (int64_t *)gpuopt__cut(&arena, n, sizeof(int64_t));
    }
    k->weight = (int64_t *)gpuopt__cut(&arena, n, sizeof(int64_t));
    k->profit = (int64_t *)gpuopt__cut(&arena, n, sizeof(int64_t));
    /* The tables of the sorted items, in this order and one after the other: the GPU's backend copies them at once. */
    k->sorted_weight = (int64_t *)gpuopt__cut(&arena, n, sizeof(int64_t));
    k->sorted_profit = (int64_t *)gpuopt__cut(&arena, n, sizeof(int64_t));
    k->weight_sum = (uint64_t *)gpuopt__cut(&arena, n + 1, sizeof(uint64_t));
    k->profit_sum = (uint64_t *)gpuopt__cut(&arena, n + 1, sizeof(uint64_t));
    k->reach = (int32_t *)gpuopt__cut(&arena, n + 1, sizeof(int32_t));
    k->order = (int32_t *)gpuopt__cut(&arena, n, sizeof(int32_t));
    k->fixed = (uint8_t *)gpuopt__cut(&arena, n, 1);
    k->taken = (uint8_t *)gpuopt__cut(&arena, n, 1);
    k->trial = (uint8_t *)gpuopt__cut(&arena, n, 1);
    k->scratch = (gpuopt__knapsack_item *)gpuopt__cut(&arena, 2 * n > d->items ? 2 * n : d->items, sizeof *k->scratch);
    k->ranks.part = (int64_t *)gpuopt__cut(&arena, (n + 1) * ranks, sizeof(int64_t));
    k->ranks.same = (int64_t *)gpuopt__cut(&arena, 2 * (ranks + 1), sizeof(int64_t));
    k->ranks.flipped = memory ? k->ranks.same + ranks + 1 : NULL; /* one array: ranks sum both in one call */
    k->ranks.cut = (int64_t *)gpuopt__cut(&arena, ranks, sizeof(int64_t));
    k->ranks.room = (int64_t *)gpuopt__cut(&arena, ranks * GPUOPT__KNAPSACK_SAMPLES, sizeof(int64_t));
    k->ranks.node =
        (gpuopt__knapsack_node *)gpuopt__cut(&arena, ranks > 0 ? GPUOPT__KNAPSACK_CARRIED : 0, sizeof *k->ranks.node);
    k->ranks.said = (gpuopt__knapsack_said *)gpuopt__cut(&arena, ranks, sizeof *k->ranks.said);
    k->ranks.card = (gpuopt__knapsack_card *)gpuopt__cut(&arena, ranks, sizeof *k->ranks.card);
    return arena.used;
}

GPUOPT_API gpuopt_status gpuopt_knapsack_plan(gpuopt_context *context, const gpuopt_knapsack_desc *desc,
                                              gpuopt_memory_plan *plan) {
    static const char call[] = "gpuopt_knapsack_plan";
    gpuopt_memory_plan p;
    gpuopt_knapsack head;
    gpuopt_knapsack_desc d;
    gpuopt_group_info group;
    gpuopt_status status;
    int64_t limit;
    int32_t pieces;
    GPUOPT__COMPUTES(gpuopt_knapsack_plan(context, desc, plan));
    if (!context) return GPUOPT_ERROR_ARGUMENT;
    if (!GPUOPT__HAS_SIZE(plan))
        return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "plan is NULL or has no struct_size");
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
    const gpuopt_context *context;
    void *block;
    if (!knapsack) return;
    context = knapsack->context;
    block = knapsack->block;
    gpuopt__knapsack_of(knapsack)->destroy(knapsack);
    gpuopt__release(context, GPUOPT_HOST, block);
}

/* Takes the memory of a handle: the backend's, and that of its head. */
static gpuopt_status gpuopt__knapsack_allocate(gpuopt_context *context, const gpuopt_knapsack_desc *d, int32_t pieces,
                                               int32_t count, gpuopt_knapsack **knapsack) {
    gpuopt_knapsack *k = NULL, measure;
    gpuopt_knapsack_desc divided = *d; /* a backend sees pieces */
    gpuopt_status status;
    void *block = NULL;
    divided.items = pieces;
    status = gpuopt__allocate(context, GPUOPT_HOST, gpuopt__knapsack_cut(&measure, NULL, d, pieces, count), &block);
    if (!status) status = context->desc.backend->knapsack->create(context, &divided, &k);
    if (status) {
        gpuopt__release(context, GPUOPT_HOST, block);
        return status;
    }
    gpuopt__knapsack_cut(k, block, d, pieces, count);
    k->block = block;
    k->items = pieces;
    k->given = d->items;
    *knapsack = k;
    return GPUOPT_OK;
}

/* Makes a handle of what has been checked. */
static gpuopt_status gpuopt__knapsack_make_own(gpuopt_context *context, const char *call,
                                               const gpuopt_knapsack_desc *checked, int32_t pieces, int64_t limit,
                                               const gpuopt_group_info *group, int surrogates,
                                               gpuopt_knapsack **knapsack) {
    gpuopt_knapsack *k = NULL;
    const gpuopt_knapsack_desc d = *checked;
    gpuopt_status status = gpuopt__knapsack_allocate(context, &d, pieces, group->count, &k);
    if (status) return status;
    k->kind = d.search;
    k->pool = k->search.home_room = d.pool;
    k->pool_limit = limit;
    k->node_limit = d.node_limit;
    k->hybrid_threshold = d.hybrid_threshold;
    k->capacity = d.capacity;
    k->search.dominance = d.search == GPUOPT_SEARCH_DOMINANCE;
    k->search.stop_when_full = d.when_full == GPUOPT_WHEN_FULL_STOP;
    k->search.goal = INT64_MAX;
    k->search.reserve = (int64_t)pieces + 4; /* for the searches that recover items */
    k->search.share_from = INT64_MAX;
    k->search.ranks = group->count;
    k->search.rank = group->rank;
    k->search.part = k->ranks.part;
    k->ranks.group = d.group;
    k->ranks.pool = d.pool;
    if (d.group) k->search.share_from = d.share_from ? d.share_from : INT64_MAX - 1; /* until ranks have agreed */
    k->search.best.level = -1;
    k->surrogates = surrogates && k->search.dominance && gpuopt__knapsack_reduces(&d);
    k->strengthen_at = (k->surrogates ? GPUOPT__KNAPSACK_FIRST : GPUOPT__KNAPSACK_STRENGTHEN) * (int64_t)pieces;
    if (!k->search.dominance) k->strengthen_at = INT64_MAX;
    status = gpuopt__knapsack_prepare(k, call, &d);
    if (!status && k->surrogates) gpuopt__knapsack_group(k);
    if (!status) status = gpuopt__knapsack_finish_model(k, call);
    if (!status) {
        gpuopt__knapsack_order(&k->search, &k->lists[0], k->root_bound);
        status = gpuopt__knapsack_plant(k, &k->search);
    }
    if (status) gpuopt_knapsack_destroy(k);
    else *knapsack = k;
    return status;
}

/* Of what must be the same on all ranks. */
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

/* surrogates: whether a long search may solve surrogate problems, see surrogate.h; their own handles do not. */
static gpuopt_status gpuopt__knapsack_make(gpuopt_context *context, const char *call, const gpuopt_knapsack_desc *desc,
                                           int surrogates, gpuopt_knapsack **knapsack) {
    gpuopt_knapsack *k = NULL;
    gpuopt_knapsack_desc d;
    gpuopt_group_info group;
    int64_t limit = 0;
    int32_t pieces = 0;
    gpuopt_status status = gpuopt__knapsack_check(context, call, desc, &d, &pieces, &limit, &group);
    if (!status) status = gpuopt__knapsack_make_own(context, call, &d, pieces, limit, &group, surrogates, &k);
    if (d.group) status = gpuopt__ranks_agree(context, d.group, call, status, k ? gpuopt__knapsack_alike(k) : 0);
    if (d.group && !status && d.share_from == 0) { /* as suits the rank to which exchanges cost most */
        k->search.share_from = gpuopt__knapsack_of(k)->share_from;
        status = gpuopt_group_all_reduce(d.group, GPUOPT_REDUCE_MAX, 1, &k->search.share_from, NULL);
    }
    if (status) gpuopt_knapsack_destroy(k);
    else *knapsack = k;
    return status;
}

GPUOPT_API gpuopt_status gpuopt_knapsack_create(gpuopt_context *context, const gpuopt_knapsack_desc *desc,
                                                gpuopt_knapsack **knapsack) {
    static const char call[] = "gpuopt_knapsack_create";
    GPUOPT__COMPUTES(gpuopt_knapsack_create(context, desc, knapsack));
    if (knapsack) *knapsack = NULL;
    if (!context) return GPUOPT_ERROR_ARGUMENT;
    if (!knapsack) return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "knapsack is NULL");
    return gpuopt__knapsack_make(context, call, desc, 1, knapsack);
}

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
    r.lower = k->incumbent;
    r.upper = gpuopt__knapsack_lower_upper(k);
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
        if (knapsack->ranks.group) status = gpuopt__knapsack_run_all(knapsack, until, steps);
        else status = gpuopt__knapsack_of(knapsack)->run(knapsack, s, until, steps);
        again = !status && !knapsack->stopped && gpuopt__knapsack_strengthen(knapsack);
        if (again && knapsack->ranks.group) status = gpuopt__knapsack_level(knapsack);
    } while (again && !status);
    if (!status && s->lower >= s->goal) gpuopt__knapsack_finish(s);
    gpuopt__knapsack_weigh(knapsack);
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

/* Why a call that knows items as taken or not is of no use to this handle; NULL: it is. */
static const char *gpuopt__knapsack_copies_fault(const gpuopt_knapsack *k, const uint8_t *taken) {
    return k->most && taken ? "items have several copies, see gpuopt_knapsack_get_copies and _set_copies" : NULL;
}

GPUOPT_API gpuopt_status gpuopt_knapsack_set_incumbent(gpuopt_knapsack *knapsack, gpuopt_memory where, int64_t profit,
                                                       const uint8_t *taken) {
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

GPUOPT_API gpuopt_status gpuopt_knapsack_set_copies(gpuopt_knapsack *knapsack, gpuopt_memory where, int64_t profit,
                                                    const int64_t *copies) {
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
static gpuopt_status gpuopt__knapsack_finish_items(gpuopt_knapsack *k, const char *call, gpuopt_memory where,
                                                   gpuopt_status status, int64_t *weight) {
    int32_t j;
    if (!status) status = gpuopt__check_where(k->context, call, where);
    status = gpuopt__knapsack_agree(k, call, status, GPUOPT__HASH_START);
    if (!status) status = gpuopt__knapsack_recover(k);
    for (*weight = 0, j = 0; j < k->items && !status; j++)
        if (k->taken[j]) *weight += k->weight[j];
    return status;
}

GPUOPT_API gpuopt_status gpuopt_knapsack_get_items(gpuopt_knapsack *knapsack, gpuopt_memory where, uint8_t *taken,
                                                   int64_t *profit, int64_t *weight) {
    static const char call[] = "gpuopt_knapsack_get_items";
    gpuopt_knapsack *k = knapsack;
    const char *fault;
    int64_t sum;
    gpuopt_status status;
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

GPUOPT_API gpuopt_status gpuopt_knapsack_get_copies(gpuopt_knapsack *knapsack, gpuopt_memory where, int64_t *copies,
                                                    int64_t *profit, int64_t *weight) {
    gpuopt_knapsack *k = knapsack;
    int64_t sum;
    gpuopt_status status;
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
