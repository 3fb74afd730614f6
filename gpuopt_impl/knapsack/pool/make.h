/* SPDX-License-Identifier: MIT
 *
 * Knapsack: from a descriptor to a handle whose pool holds the root. Makes the handles of callers and of inner
 * searches.
 */
#ifndef GPUOPT_IMPL_KNAPSACK_POOL_MAKE_H
#define GPUOPT_IMPL_KNAPSACK_POOL_MAKE_H

#include "../../common/checks.h"
#include "../../common/ranks.h"
#include "../model/equal.h"

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

/* ---- A handle ---- */

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

/* Gives back a handle's memory. */
static void gpuopt__knapsack_release(gpuopt_knapsack *k) {
    const gpuopt_context *context;
    void *block;
    if (!k) return;
    context = k->context;
    block = k->block;
    gpuopt__knapsack_of(k)->destroy(k);
    gpuopt__release(context, GPUOPT_HOST, block);
}

/* Makes a handle from checked arguments, up to the reduction of its items. gpuopt__knapsack_start() follows. */
static gpuopt_status gpuopt__knapsack_begin(gpuopt_context *context, const char *call, const gpuopt_knapsack_desc *d,
                                            int32_t pieces, int64_t limit, const gpuopt_group_info *group,
                                            gpuopt_knapsack **knapsack) {
    gpuopt_knapsack *k = NULL;
    gpuopt_status status = gpuopt__knapsack_allocate(context, d, pieces, group->count, &k);
    if (status) return status;
    k->kind = d->search;
    k->pool = k->search.own_capacity = d->pool;
    k->pool_limit = limit;
    k->node_limit = d->node_limit;
    k->hybrid_threshold = d->hybrid_threshold;
    k->capacity = d->capacity;
    k->search.dominance = d->search == GPUOPT_SEARCH_DOMINANCE;
    k->search.stop_when_full = d->on_pool_full == GPUOPT_ON_POOL_FULL_STOP;
    k->search.goal = INT64_MAX;
    k->search.reserve = (int64_t)pieces + 4; /* for the searches that recover items */
    k->search.share_from = INT64_MAX;
    k->search.ranks = group->count;
    k->search.rank = group->rank;
    k->search.part = k->ranks.part;
    k->ranks.group = d->group;
    k->ranks.pool = d->pool;
    if (d->group) k->search.share_from = d->share_from ? d->share_from : INT64_MAX - 1; /* until ranks have agreed */
    k->search.best.level = -1;
    status = gpuopt__knapsack_prepare(k, call, d);
    if (status) gpuopt__knapsack_release(k);
    else *knapsack = k;
    return status;
}

/* Bundles equal items, and puts the root into the pool. nodes: expanded nodes per item before the first better bound of
 * the whole problem. */
static gpuopt_status gpuopt__knapsack_start(gpuopt_knapsack *k, const char *call, const gpuopt_knapsack_desc *d,
                                            int64_t nodes) {
    gpuopt_status status;
    if (gpuopt__knapsack_reduces(d)) gpuopt__knapsack_bundle_all(k);
    status = gpuopt__knapsack_finish_model(k, call);
    if (status) return status;
    k->strengthen_at = k->search.dominance ? nodes * k->bundles : INT64_MAX;
    gpuopt__knapsack_order(&k->search, &k->lists[0], k->root_bound);
    return gpuopt__knapsack_plant(k, &k->search);
}

#endif /* GPUOPT_IMPL_KNAPSACK_POOL_MAKE_H */
