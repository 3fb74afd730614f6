/* SPDX-License-Identifier: MIT
 *
 * Multidimensional knapsacks: the public calls, and the loop of rounds.
 */
#ifndef GPUOPT_IMPL_KNAPSACK_MULTIDIMENSIONAL_CALLS_H
#define GPUOPT_IMPL_KNAPSACK_MULTIDIMENSIONAL_CALLS_H

#include "../../common/checks.h"
#include "prepare.h"

static const struct gpuopt__knapsack_backend *gpuopt__knapsack_multi_backend(
    const gpuopt_knapsack_multidimensional *k) {
    return k->context->desc.backend->knapsack;
}

/* ---- Descriptors ---- */

static gpuopt_status gpuopt__knapsack_multi_check_numbers(const gpuopt_context *context, const char *call,
                                                          const gpuopt_knapsack_multidimensional_desc *d) {
    int32_t i, j;
    for (i = 0; i < d->rows; i++) {
        if (d->capacity[i] < 0) {
            gpuopt__log(context, 0, "%s: the capacity of row %d is negative", call, (int)i);
            return GPUOPT_ERROR_ARGUMENT;
        }
        for (j = 0; j < d->items; j++)
            if (d->weight[(int64_t)i * d->items + j] < 0) {
                gpuopt__log(context, 0, "%s: the weight of item %d in row %d is negative", call, (int)j, (int)i);
                return GPUOPT_ERROR_ARGUMENT;
            }
    }
    for (j = 0; j < d->items; j++)
        if (d->profit[j] < 0) {
            gpuopt__log(context, 0, "%s: the profit of item %d is negative", call, (int)j);
            return GPUOPT_ERROR_ARGUMENT;
        }
    return GPUOPT_OK;
}

static gpuopt_status gpuopt__knapsack_multi_check(const gpuopt_context *context, const char *call,
                                                  const gpuopt_knapsack_multidimensional_desc *desc,
                                                  gpuopt_knapsack_multidimensional_desc *d) {
    gpuopt_status status;
    int32_t workers = 1;
    memset(d, 0, sizeof *d);
    if (!desc) return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "desc is NULL");
    status = GPUOPT__CHECK_STRUCT(context, call, context->desc.backend->knapsack, gpuopt_knapsack_multidimensional_desc,
                                  desc, d);
    if (!status) {
        const gpuopt__range range[] = {{"items", (double)d->items, 1, GPUOPT__KNAPSACK_MULTI_ITEMS},
                                       {"rows", (double)d->rows, 1, GPUOPT__KNAPSACK_MULTI_ROWS},
                                       {"workers", (double)d->workers, 1, 1 << 20},
                                       {"node_limit", (double)d->node_limit, 1, (double)INT64_MAX}};
        status = gpuopt__check_ranges(context, call, range, sizeof range / sizeof *range);
    }
    if (status) return status;
    if ((d->items > 0 && !d->profit) || (d->rows > 0 && (!d->capacity || (d->items > 0 && !d->weight))))
        return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "weight, profit or capacity is NULL");
    status = gpuopt__knapsack_multi_check_numbers(context, call, d);
    if (d->workers == 0) d->workers = GPUOPT__KNAPSACK_MULTI_WORKERS;
    while (workers < d->workers) workers *= 2;
    d->workers = workers;
    return status;
}

static uint64_t gpuopt__knapsack_multi_cut(const gpuopt_knapsack_multidimensional_desc *d, void *memory,
                                           gpuopt_knapsack_multidimensional *k) {
    const int64_t n = d->items, m = d->rows;
    gpuopt__arena arena;
    arena.base = (char *)memory;
    arena.used = 0;
    gpuopt__cut(&arena, 1, sizeof *k);
    gpuopt__knapsack_multi_cut_tables(&arena, d, &k->table);
    k->root = (int64_t *)gpuopt__cut(&arena, k->table.width, sizeof(int64_t));
    k->weight = (int64_t *)gpuopt__cut(&arena, m * n, sizeof(int64_t));
    k->profit = (int64_t *)gpuopt__cut(&arena, n, sizeof(int64_t));
    k->capacity = (int64_t *)gpuopt__cut(&arena, m, sizeof(int64_t));
    k->residual = (int64_t *)gpuopt__cut(&arena, m, sizeof(int64_t));
    k->item = (int32_t *)gpuopt__cut(&arena, n, sizeof(int32_t));
    k->prefers = (uint8_t *)gpuopt__cut(&arena, n, 1);
    k->taken = (uint8_t *)gpuopt__cut(&arena, n, 1);
    k->trial = (uint8_t *)gpuopt__cut(&arena, n, 1);
    k->copies = (int64_t *)gpuopt__cut(&arena, n, sizeof(int64_t));
    k->deviates = (uint64_t *)gpuopt__cut(&arena, k->table.words, sizeof(uint64_t));
    return arena.used;
}

/* ---- Life ---- */

static gpuopt_status gpuopt__knapsack_multi_write_plan(gpuopt_context *context, const char *call,
                                                       const gpuopt_knapsack_multidimensional_desc *desc,
                                                       gpuopt_memory_plan *plan) {
    gpuopt_knapsack_multidimensional_desc d;
    gpuopt_knapsack_multidimensional draft;
    gpuopt__knapsack_multi_draft prepared;
    uint64_t peak;
    gpuopt_status status;
    status = gpuopt__knapsack_multi_check(context, call, desc, &d);
    if (status) return status;
    plan->host_bytes = gpuopt__knapsack_multi_cut(&d, NULL, &draft);
    peak = plan->host_bytes + gpuopt__knapsack_multi_cut_draft(NULL, d.rows, d.items, &prepared);
    context->desc.backend->knapsack->multi_plan(context, &d, plan);
    if (peak > plan->host_bytes)
        plan->create_bytes = peak - plan->host_bytes; /* the backend's come after the draft's */
    return GPUOPT_OK;
}

static void gpuopt__knapsack_multi_release(gpuopt_knapsack_multidimensional *k) {
    if (k->engine) gpuopt__knapsack_multi_backend(k)->multi_destroy(k);
    gpuopt__release(k->context, GPUOPT_HOST, k);
}

GPUOPT_API void gpuopt_knapsack_multidimensional_destroy(gpuopt_knapsack_multidimensional *knapsack) {
    GPUOPT__CALL_DESTROYS(gpuopt_knapsack_multidimensional, knapsack, knapsack->context,
                          gpuopt__knapsack_multi_release(knapsack));
}

static void gpuopt__knapsack_multi_copy(gpuopt_knapsack_multidimensional *k,
                                        const gpuopt_knapsack_multidimensional_desc *d) {
    const size_t n = (size_t)d->items, m = (size_t)d->rows;
    if (m * n > 0) memcpy(k->weight, d->weight, sizeof(int64_t) * m * n);
    if (n > 0) memcpy(k->profit, d->profit, sizeof(int64_t) * n);
    if (m > 0) memcpy(k->capacity, d->capacity, sizeof(int64_t) * m);
    k->desc.weight = k->weight;
    k->desc.profit = k->profit;
    k->desc.capacity = k->capacity;
}

/* Prepares the search, with temporary memory. */
static gpuopt_status gpuopt__knapsack_multi_begin(gpuopt_knapsack_multidimensional *k, const char *call) {
    gpuopt__knapsack_multi_draft draft;
    void *memory;
    gpuopt_status status = gpuopt__allocate(
        k->context, GPUOPT_HOST, gpuopt__knapsack_multi_cut_draft(NULL, k->desc.rows, k->desc.items, &draft), &memory);
    if (status) return status;
    gpuopt__knapsack_multi_cut_draft(memory, k->desc.rows, k->desc.items, &draft);
    status = gpuopt__knapsack_multi_prepare(k, call, &draft);
    gpuopt__release(k->context, GPUOPT_HOST, memory);
    if (!status)
        gpuopt__log(k->context, 2, "%s: %d of %d items are left; profits from %lld to %lld", call, (int)k->table.levels,
                    (int)k->desc.items, (long long)(k->lower * k->unit), (long long)(k->upper * k->unit));
    return status;
}

static gpuopt_status gpuopt__knapsack_multi_create_handle(gpuopt_context *context, const char *call,
                                                          const gpuopt_knapsack_multidimensional_desc *desc,
                                                          gpuopt_knapsack_multidimensional **knapsack) {
    gpuopt_knapsack_multidimensional_desc d;
    gpuopt_knapsack_multidimensional *k, measure;
    gpuopt_status status;
    uint64_t bytes;
    void *memory;
    if (!knapsack) return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "knapsack and plan are NULL");
    status = gpuopt__knapsack_multi_check(context, call, desc, &d);
    if (status) return status;
    bytes = gpuopt__knapsack_multi_cut(&d, NULL, &measure);
    status = gpuopt__allocate(context, GPUOPT_HOST, bytes, &memory);
    if (status) return status;
    memset(memory, 0, (size_t)bytes);
    k = (gpuopt_knapsack_multidimensional *)memory;
    gpuopt__knapsack_multi_cut(&d, memory, k);
    k->context = context;
    k->desc = d;
    k->active = 1;
    gpuopt__knapsack_multi_copy(k, &d);
    status = gpuopt__knapsack_multi_begin(k, call);
    if (!status) status = gpuopt__knapsack_multi_backend(k)->multi_create(k);
    if (status) gpuopt__knapsack_multi_release(k);
    else *knapsack = k;
    return status;
}

GPUOPT_API gpuopt_status gpuopt_knapsack_multidimensional_create(gpuopt_context *context,
                                                                 const gpuopt_knapsack_multidimensional_desc *desc,
                                                                 gpuopt_memory_plan *plan,
                                                                 gpuopt_knapsack_multidimensional **knapsack) {
    GPUOPT__CALL_CREATES(gpuopt_knapsack_multidimensional, context, context, plan,
                         gpuopt__knapsack_multi_write_plan(context, call, desc, &planned), knapsack,
                         gpuopt__knapsack_multi_create_handle(context, call, desc, knapsack));
}

/* ---- The search ---- */

static void gpuopt__knapsack_multi_report(const gpuopt_knapsack_multidimensional *k,
                                          gpuopt_knapsack_multidimensional_info *info) {
    info->outcome = k->busy == 0                                               ? GPUOPT_OPTIMAL
                    : k->desc.node_limit > 0 && k->nodes >= k->desc.node_limit ? GPUOPT_LIMIT
                                                                               : GPUOPT_MORE;
    info->nodes = k->nodes;
    info->rounds = k->rounds;
    info->primal_bound = k->lower * k->unit;
    info->dual_bound = k->upper * k->unit;
    info->busy = (int32_t)k->busy;
    info->free_items = k->table.levels;
}

/* Chooses how the next round shares nodes: four times as many workers until all take part, and two more distances. */
static void gpuopt__knapsack_multi_next(gpuopt_knapsack_multidimensional *k, gpuopt__knapsack_multi_job *job) {
    int more, bits = 0;
    memset(job, 0, sizeof *job);
    for (more = 0; more < 2 && k->active < k->desc.workers; more++) {
        job->stride[job->strides++] = k->active;
        k->active *= 2;
    }
    while ((int64_t)1 << bits < k->active) bits++;
    for (more = 0; more < 2 && bits > 0; more++) job->stride[job->strides++] = (int64_t)1 << k->turn++ % bits;
    if (bits > 0) k->turn %= bits;
    job->active = k->active;
    job->lower = job->best = k->lower;
    job->finder = -1;
}

/* The worker's solution is the best one now. */
static gpuopt_status gpuopt__knapsack_multi_adopt(gpuopt_knapsack_multidimensional *k,
                                                  const gpuopt__knapsack_multi_job *job) {
    gpuopt_status status = gpuopt__knapsack_multi_backend(k)->multi_found(k, job->finder, k->deviates);
    int32_t i, j, l;
    if (status) return status;
    k->lower = job->best;
    /* Fixed items are taken if they are preferred; all others that are not levels are left out. */
    for (j = 0; j < k->desc.items; j++) k->taken[j] = k->prefers[j];
    for (l = 0; l < k->table.levels; l++) {
        i = k->item[l];
        k->taken[i] = (uint8_t)(k->prefers[i] ^ (k->deviates[l / 64] >> l % 64 & 1));
    }
    return GPUOPT_OK;
}

static gpuopt_status gpuopt__knapsack_multidimensional_run(gpuopt_knapsack_multidimensional *k, const char *call,
                                                           int64_t nodes, int32_t rounds,
                                                           gpuopt_knapsack_multidimensional_info *info) {
    int64_t most = INT64_MAX, last = INT64_MAX;
    gpuopt_status status = GPUOPT_OK;
    if (nodes < 0 || rounds < 0)
        return gpuopt__refuse(k->context, GPUOPT_ERROR_ARGUMENT, call, "nodes or rounds is negative");
    if (nodes > 0 && nodes < INT64_MAX - k->nodes) most = k->nodes + nodes;
    if (k->desc.node_limit > 0 && k->desc.node_limit < most) most = k->desc.node_limit;
    if (rounds > 0) last = k->rounds + rounds;
    while (!status && k->busy > 0 && k->nodes < most && k->rounds < last) {
        gpuopt__knapsack_multi_job job;
        gpuopt__knapsack_multi_next(k, &job);
        status = gpuopt__knapsack_multi_backend(k)->multi_round(k, &job);
        if (!status && job.best > k->lower) status = gpuopt__knapsack_multi_adopt(k, &job);
        if (status) break;
        k->nodes += job.nodes;
        k->rounds++;
        k->busy = k->lower >= k->upper ? 0 : job.busy;
        if (k->busy == 0) k->upper = k->lower;
        if (gpuopt__asked_to_stop(k->context)) break;
    }
    if (!status && info) gpuopt__knapsack_multi_report(k, info);
    return status;
}

GPUOPT_API gpuopt_status gpuopt_knapsack_multidimensional_run(gpuopt_knapsack_multidimensional *knapsack, int64_t nodes,
                                                              int32_t rounds,
                                                              gpuopt_knapsack_multidimensional_info *info) {
    GPUOPT__CALL_MAY_FILL(knapsack, knapsack->context, gpuopt_knapsack_multidimensional_info, info,
                          gpuopt__knapsack_multidimensional_run(knapsack, call, nodes, rounds, filled));
}

GPUOPT_API gpuopt_status gpuopt_knapsack_multidimensional_get_info(gpuopt_knapsack_multidimensional *knapsack,
                                                                   gpuopt_knapsack_multidimensional_info *info) {
    GPUOPT__CALL_FILLS(knapsack, knapsack->context, gpuopt_knapsack_multidimensional_info, info,
                       (gpuopt__knapsack_multi_report(knapsack, &filled), GPUOPT_OK));
}

/* ---- Solutions ---- */

static gpuopt_status gpuopt__knapsack_multidimensional_set_incumbent(gpuopt_knapsack_multidimensional *k,
                                                                     const char *call, gpuopt_memory_space where,
                                                                     const int64_t *copies) {
    const void *found = NULL;
    const int64_t *is;
    int64_t profit = 0;
    int32_t i, j;
    gpuopt_status status = gpuopt__check_where(k->context, call, where);
    if (!status && !copies) return gpuopt__refuse(k->context, GPUOPT_ERROR_ARGUMENT, call, "copies is NULL");
    if (!status)
        status = gpuopt__fetch(k->context, where, copies, sizeof *copies * (uint64_t)k->desc.items, k->copies, &found);
    if (status) return status;
    is = (const int64_t *)found;
    for (j = 0; j < k->desc.items; j++) {
        if (is[j] != 0 && is[j] != 1) {
            gpuopt__log(k->context, 0, "%s: the copies of item %d are neither 0 nor 1", call, (int)j);
            return GPUOPT_ERROR_ARGUMENT;
        }
        k->trial[j] = (uint8_t)is[j];
    }
    for (i = 0; i < k->desc.rows; i++) {
        int64_t left = k->capacity[i];
        for (j = 0; j < k->desc.items; j++) {
            if (!k->trial[j]) continue;
            if (gpuopt__knapsack_multi_weight(k, i, j) > left) {
                gpuopt__log(k->context, 0, "%s: the items are too heavy for row %d", call, (int)i);
                return GPUOPT_ERROR_ARGUMENT;
            }
            left -= gpuopt__knapsack_multi_weight(k, i, j);
        }
    }
    for (j = 0; j < k->desc.items; j++)
        if (k->trial[j]) profit += k->profit[j] / k->unit;
    if (profit <= k->lower) return GPUOPT_OK;
    k->lower = profit;
    memcpy(k->taken, k->trial, (size_t)k->desc.items);
    if (k->lower >= k->upper) k->busy = 0;
    return GPUOPT_OK;
}

GPUOPT_API gpuopt_status gpuopt_knapsack_multidimensional_set_incumbent(gpuopt_knapsack_multidimensional *knapsack,
                                                                        gpuopt_memory_space where,
                                                                        const int64_t *copies) {
    GPUOPT__CALL(knapsack, knapsack->context,
                 gpuopt__knapsack_multidimensional_set_incumbent(knapsack, call, where, copies));
}

static gpuopt_status gpuopt__knapsack_multidimensional_get_items(gpuopt_knapsack_multidimensional *k, const char *call,
                                                                 gpuopt_memory_space where, int64_t *copies,
                                                                 int64_t *profit) {
    int32_t j;
    gpuopt_status status;
    for (j = 0; j < k->desc.items; j++) k->copies[j] = k->taken[j];
    status = gpuopt__check_where(k->context, call, where);
    if (!status)
        status = gpuopt__deliver(k->context, where, copies, k->copies, sizeof *copies * (uint64_t)k->desc.items);
    if (!status && profit) *profit = k->lower * k->unit;
    return status;
}

GPUOPT_API gpuopt_status gpuopt_knapsack_multidimensional_get_items(gpuopt_knapsack_multidimensional *knapsack,
                                                                    gpuopt_memory_space where, int64_t *copies,
                                                                    int64_t *profit) {
    GPUOPT__CALL(knapsack, knapsack->context,
                 gpuopt__knapsack_multidimensional_get_items(knapsack, call, where, copies, profit));
}

#endif /* GPUOPT_IMPL_KNAPSACK_MULTIDIMENSIONAL_CALLS_H */
