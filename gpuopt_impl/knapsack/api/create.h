/* SPDX-License-Identifier: MIT
 *
 * Knapsack: descriptors, and the life of a handle.
 */
#ifndef GPUOPT_IMPL_KNAPSACK_API_CREATE_H
#define GPUOPT_IMPL_KNAPSACK_API_CREATE_H

#include "../model/equal.h"
#include "../strengthen/weight_classes_reduce.h"
#include "../strengthen/surrogate.h"
#include "../ranks/steps.h"

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
                                     {"on_pool_full", (int64_t)d->on_pool_full, GPUOPT_ON_POOL_FULL_STOP},
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
        if (d->weight[j] >= 0 && d->profit[j] >= 0 && (!d->copies_max || d->copies_max[j] >= 0)) continue;
        gpuopt__log(context, 0, "%s: %s of item %d is negative", call,
                    d->weight[j] < 0   ? "weight"
                    : d->profit[j] < 0 ? "profit"
                                       : "copies_max",
                    (int)j);
        return GPUOPT_ERROR_ARGUMENT;
    }
    return GPUOPT_OK;
}

/* *d: the descriptor with its defaults; *pieces: of its items; *limit: of the pool's growth; *info: of the group; a
 * group of one rank counts as none. */
static gpuopt_status gpuopt__knapsack_check(gpuopt_context *context, const char *call, const gpuopt_knapsack_desc *desc,
                                            gpuopt_knapsack_desc *d, int32_t *pieces, int64_t *limit,
                                            gpuopt_group_info *info) {
    int64_t least;
    gpuopt_status status;
    memset(d, 0, sizeof *d);
    memset(info, 0, sizeof *info);
    info->count = 1;
    if (!desc) return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "desc is NULL");
    status = GPUOPT__CHECK_STRUCT(context, call, context->desc.backend->knapsack, gpuopt_knapsack_desc, desc, d);
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

/* Cuts the arrays of the common part out of one block; returns its size. */
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
    if (d->copies_max) k->most = (int64_t *)gpuopt__cut(&arena, d->items, sizeof(int64_t));
    if (d->copies_max || gpuopt__knapsack_reduces(d)) k->copies = (int64_t *)gpuopt__cut(&arena, n, sizeof(int64_t));
    k->weight = (int64_t *)gpuopt__cut(&arena, n, sizeof(int64_t));
    k->profit = (int64_t *)gpuopt__cut(&arena, n, sizeof(int64_t));
    /* The tables of the sorted items, in this order and one after the other: the GPU's backend copies them at once. */
    k->sorted_weight = (int64_t *)gpuopt__cut(&arena, n, sizeof(int64_t));
    k->sorted_profit = (int64_t *)gpuopt__cut(&arena, n, sizeof(int64_t));
    k->weight_sum = (uint64_t *)gpuopt__cut(&arena, n + 1, sizeof(uint64_t));
    k->profit_sum = (uint64_t *)gpuopt__cut(&arena, n + 1, sizeof(uint64_t));
    k->reach = (int32_t *)gpuopt__cut(&arena, n + 1, sizeof(int32_t));
    k->order = (int32_t *)gpuopt__cut(&arena, n, sizeof(int32_t));
    k->next = (int32_t *)gpuopt__cut(&arena, n, sizeof(int32_t));
    k->fixed = (uint8_t *)gpuopt__cut(&arena, n, 1);
    k->taken = (uint8_t *)gpuopt__cut(&arena, n, 1);
    k->trial = (uint8_t *)gpuopt__cut(&arena, n, 1);
    k->scratch = (gpuopt__knapsack_item *)gpuopt__cut(&arena, 2 * n > d->items ? 2 * n : d->items, sizeof *k->scratch);
    k->ranks.part = (int64_t *)gpuopt__cut(&arena, (n + 1) * ranks, sizeof(int64_t));
    k->ranks.same = (int64_t *)gpuopt__cut(&arena, 2 * (ranks + 1), sizeof(int64_t));
    k->ranks.flipped = memory ? k->ranks.same + ranks + 1 : NULL; /* one array: ranks sum both in one call */
    k->ranks.cut = (int64_t *)gpuopt__cut(&arena, ranks, sizeof(int64_t));
    k->ranks.residual = (int64_t *)gpuopt__cut(&arena, ranks * GPUOPT__KNAPSACK_SAMPLES, sizeof(int64_t));
    k->ranks.node =
        (gpuopt__knapsack_node *)gpuopt__cut(&arena, ranks > 0 ? GPUOPT__KNAPSACK_CARRIED : 0, sizeof *k->ranks.node);
    k->ranks.reports = (gpuopt__knapsack_fingerprint *)gpuopt__cut(&arena, ranks, sizeof *k->ranks.reports);
    k->ranks.handle = (gpuopt__knapsack_peer_handle *)gpuopt__cut(&arena, ranks, sizeof *k->ranks.handle);
    k->ranks.source = (gpuopt__knapsack_source *)gpuopt__cut(&arena, ranks, sizeof *k->ranks.source);
    return arena.used;
}

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
    const gpuopt_context *context;
    void *block;
    context = knapsack->context;
    block = knapsack->block;
    gpuopt__knapsack_of(knapsack)->destroy(knapsack);
    gpuopt__release(context, GPUOPT_HOST, block);
}

/* Allocates the memory of a handle, for the backend and for the common part. */
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
    k->items = k->bundles = pieces;
    k->given = d->items;
    *knapsack = k;
    return GPUOPT_OK;
}

/* Makes a handle from checked arguments. *whole: whether to use bounds from groups of items; becomes 0 if some of them
 * were left out. */
static gpuopt_status gpuopt__knapsack_make_own(gpuopt_context *context, const char *call,
                                               const gpuopt_knapsack_desc *checked, int32_t pieces, int64_t limit,
                                               const gpuopt_group_info *group, int surrogates, int *whole,
                                               gpuopt_knapsack **knapsack) {
    gpuopt_knapsack *k = NULL;
    const gpuopt_knapsack_desc d = *checked;
    gpuopt_status status = gpuopt__knapsack_allocate(context, &d, pieces, group->count, &k);
    if (status) return status;
    k->kind = d.search;
    k->pool = k->search.own_capacity = d.pool;
    k->pool_limit = limit;
    k->node_limit = d.node_limit;
    k->hybrid_threshold = d.hybrid_threshold;
    k->capacity = d.capacity;
    k->search.dominance = d.search == GPUOPT_SEARCH_DOMINANCE;
    k->search.stop_when_full = d.on_pool_full == GPUOPT_ON_POOL_FULL_STOP;
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
    status = gpuopt__knapsack_prepare(k, call, &d);
    if (!status && k->surrogates && *whole) *whole = gpuopt__knapsack_group(k);
    if (!status && gpuopt__knapsack_reduces(&d)) gpuopt__knapsack_bundle_all(k);
    if (!status) status = gpuopt__knapsack_finish_model(k, call);
    if (!status) {
        const int64_t nodes = k->surrogates ? GPUOPT__KNAPSACK_FIRST : GPUOPT__KNAPSACK_STRENGTHEN;
        k->strengthen_at = k->search.dominance ? nodes * k->bundles : INT64_MAX;
        gpuopt__knapsack_order(&k->search, &k->lists[0], k->root_bound);
        status = gpuopt__knapsack_plant(k, &k->search);
    }
    if (status) gpuopt_knapsack_destroy(k);
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
    gpuopt_knapsack_destroy(*knapsack);
    *knapsack = NULL;
    return GPUOPT_OK;
}

/* surrogates: whether a long search may solve surrogate problems, see strengthen/surrogate.h; the handles that solve
 * them do not. Ranks must have the same items left. So if one has to leave out some bounds from groups of items, all do
 * without these bounds. */
static gpuopt_status gpuopt__knapsack_make(gpuopt_context *context, const char *call, const gpuopt_knapsack_desc *desc,
                                           int surrogates, gpuopt_knapsack **knapsack) {
    gpuopt_knapsack *k = NULL;
    gpuopt_knapsack_desc d;
    gpuopt_group_info group;
    int64_t limit = 0;
    int32_t pieces = 0;
    int whole = 1, again = 0;
    gpuopt_status status = gpuopt__knapsack_check(context, call, desc, &d, &pieces, &limit, &group), agreed;
    if (!status) status = gpuopt__knapsack_make_own(context, call, &d, pieces, limit, &group, surrogates, &whole, &k);
    if (d.group && status != GPUOPT_ERROR_DEVICE) {
        agreed = gpuopt__knapsack_left_out(d.group, whole, &k, &again);
        if (!status) status = agreed;
    }
    whole = 0;
    if (!status && again)
        status = gpuopt__knapsack_make_own(context, call, &d, pieces, limit, &group, surrogates, &whole, &k);
    if (d.group) status = gpuopt__ranks_agree(context, d.group, call, status, k ? gpuopt__knapsack_alike(k) : 0);
    if (d.group && !status && d.share_from == 0) { /* the default of the rank with the most expensive exchanges */
        status = gpuopt__knapsack_exchange_handles(k);
        k->search.share_from =
            k->ranks.peers ? gpuopt__knapsack_of(k)->share_by_peers : gpuopt__knapsack_of(k)->share_from;
        if (!status) status = gpuopt_group_all_reduce(d.group, GPUOPT_REDUCE_MAX, 1, &k->search.share_from, NULL);
    }
    if (status) gpuopt_knapsack_destroy(k);
    else *knapsack = k;
    return status;
}

static gpuopt_status gpuopt__knapsack_create_handle(gpuopt_context *context, const gpuopt_knapsack_desc *desc,
                                                    gpuopt_knapsack **knapsack) {
    static const char call[] = "gpuopt_knapsack_create";
    GPUOPT__COMPUTES(gpuopt__knapsack_create_handle(context, desc, knapsack));
    if (!knapsack) return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "knapsack and plan are NULL");
    return gpuopt__knapsack_make(context, call, desc, 1, knapsack);
}

GPUOPT_API gpuopt_status gpuopt_knapsack_create(gpuopt_context *context, const gpuopt_knapsack_desc *desc,
                                                gpuopt_memory_plan *plan, gpuopt_knapsack **knapsack) {
    GPUOPT__CREATES(gpuopt_knapsack, context, context, knapsack);
    gpuopt_status status = plan ? gpuopt__knapsack_write_plan(context, desc, plan) : GPUOPT_OK;
    return status || (plan && !knapsack) ? status : gpuopt__knapsack_create_handle(context, desc, knapsack);
}

#endif /* GPUOPT_IMPL_KNAPSACK_API_CREATE_H */
