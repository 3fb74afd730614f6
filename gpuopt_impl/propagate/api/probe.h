/* SPDX-License-Identifier: MIT
 *
 * Probing: the public calls.
 */
#ifndef GPUOPT_IMPL_PROPAGATE_API_PROBE_H
#define GPUOPT_IMPL_PROPAGATE_API_PROBE_H

#include "../ranks/probe.h"
#include "batch.h"
#include "probe_pass.h"

/* ---- Memory ---- */

/* The common part of a probe requested on `base`, the batch that it needs, and the group, or NULL if the group cannot
 * be used. */
static gpuopt_status gpuopt__propagator_probe_check_desc(gpuopt_propagator *base, const char *call,
                                                         const gpuopt_propagator_probe_desc *desc,
                                                         gpuopt_propagator_probe *head,
                                                         gpuopt_propagator_batch_desc *batch, gpuopt_group **group,
                                                         gpuopt_group_info *ranks) {
    const gpuopt_context *context = base->context;
    const int64_t most = (int64_t)1 << 40, pair = 2 * (int64_t)base->cols;
    gpuopt_propagator_probe_desc own;
    gpuopt_status status;
    memset(&own, 0, sizeof own);
    memset(head, 0, sizeof *head);
    memset(batch, 0, sizeof *batch);
    *group = NULL;
    status = GPUOPT__CHECK_STRUCT(context, call, context->desc.backend->propagator, gpuopt_propagator_probe_desc, desc,
                                  &own);
    if (!status) status = gpuopt__ranks_of(context, call, &own.group, ranks);
    if (status) return status;
    *group = own.group;
    if (own.nodes < 0 || own.nodes % 2 || own.nodes > GPUOPT__PROPAGATOR_BATCH_NODES)
        return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "nodes is odd, or not in 0..65536");
    if (own.nodes == 0) own.nodes = GPUOPT__PROPAGATOR_BATCH_NODES;
    if (own.nodes > pair) own.nodes = (int32_t)(pair > 2 ? pair : 2);
    if (own.changes == 0) own.changes = 32 * (int64_t)own.nodes > pair ? 32 * (int64_t)own.nodes : pair;
    if (own.changes < pair || own.changes > INT32_MAX)
        return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "changes is out of range");
    if (own.implications < 0 || own.implications > most || own.equivalences < 0 || own.equivalences > most)
        return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "implications or equivalences is out of range");
    head->base = base;
    head->nodes = own.nodes;
    head->changes = own.changes;
    head->implications = own.implications;
    head->equivalences = own.equivalences;
    batch->struct_size = sizeof *batch;
    batch->nodes = own.nodes;
    batch->changes = own.changes;
    return GPUOPT_OK;
}

static gpuopt_status gpuopt__propagator_probe_write_plan(gpuopt_propagator *base, const char *call,
                                                         const gpuopt_propagator_probe_desc *desc,
                                                         gpuopt_memory_plan *plan) {
    gpuopt_propagator_probe head;
    gpuopt_propagator_batch_desc batch;
    gpuopt_group *group;
    gpuopt_group_info ranks;
    gpuopt__arena arena = {NULL, 0};
    gpuopt_status status = gpuopt__propagator_probe_check_desc(base, call, desc, &head, &batch, &group, &ranks);
    if (!status) status = gpuopt__propagator_batch_write_plan(base, call, &batch, plan);
    if (status) return status;
    gpuopt__propagator_probe_cut(&head, base->cols, &arena);
    plan->host_bytes += arena.used + gpuopt__propagator_probe_share_plan(group, base->cols, ranks.count);
    return gpuopt__propagator_of(base)->probe_plan(&head, plan);
}

/* Makes a probe from its common part. */
static gpuopt_status gpuopt__propagator_probe_make(gpuopt_propagator_probe *head, const char *call,
                                                   const gpuopt_propagator_batch_desc *batch, gpuopt_group *group,
                                                   const gpuopt_group_info *ranks, gpuopt_propagator_probe **made) {
    gpuopt_propagator *base = head->base;
    gpuopt__arena arena = {NULL, 0};
    gpuopt_status status = gpuopt__propagator_batch_create_handle(base, call, batch, &head->batch);
    if (status) return status;
    gpuopt__propagator_probe_cut(head, base->cols, &arena);
    status = gpuopt__take_block(base->context, GPUOPT_HOST, &arena);
    if (!status) status = gpuopt__propagator_probe_share_create(group, ranks, head);
    if (!status) {
        gpuopt__propagator_probe_cut(head, base->cols, &arena);
        status = gpuopt__propagator_of(base)->probe_open(head);
    }
    if (status) {
        gpuopt__release(base->context, GPUOPT_HOST, head->share);
        gpuopt__release(base->context, GPUOPT_HOST, arena.base);
        gpuopt__propagator_batch_release(head->batch);
        return status;
    }
    *made = (gpuopt_propagator_probe *)(void *)arena.base;
    **made = *head;
    return GPUOPT_OK;
}

static void gpuopt__propagator_probe_release(gpuopt_propagator_probe *probe) {
    const gpuopt_context *context;
    if (!probe) return;
    context = probe->base->context;
    context->desc.backend->propagator->probe_close(probe);
    gpuopt__propagator_batch_release(probe->batch);
    gpuopt__release(context, GPUOPT_HOST, probe->share);
    gpuopt__release(context, GPUOPT_HOST, probe);
}

static gpuopt_status gpuopt__propagator_probe_create_handle(gpuopt_propagator *base, const char *call,
                                                            const gpuopt_propagator_probe_desc *desc,
                                                            gpuopt_propagator_probe **probe) {
    gpuopt_propagator_probe head, *p = NULL;
    gpuopt_propagator_batch_desc batch;
    gpuopt_group *group;
    gpuopt_group_info ranks;
    gpuopt_status status;
    status = gpuopt__propagator_probe_check_desc(base, call, desc, &head, &batch, &group, &ranks);
    if (!probe) status = gpuopt__refuse(base->context, GPUOPT_ERROR_ARGUMENT, call, "probe and plan are NULL");
    if (!status) status = gpuopt__propagator_probe_make(&head, call, &batch, group, &ranks, &p);
    status = gpuopt__propagator_probe_share_made(base, call, status, group, &batch, &head);
    if (status) gpuopt__propagator_probe_release(p);
    else *probe = p;
    return status;
}

GPUOPT_API gpuopt_status gpuopt_propagator_probe_create(gpuopt_propagator *base,
                                                        const gpuopt_propagator_probe_desc *desc,
                                                        gpuopt_memory_plan *plan, gpuopt_propagator_probe **probe) {
    GPUOPT__CALL_CREATES(gpuopt_propagator_probe, base, base->context, plan,
                         gpuopt__propagator_probe_write_plan(base, call, desc, &planned), probe,
                         gpuopt__propagator_probe_create_handle(base, call, desc, probe));
}

GPUOPT_API void gpuopt_propagator_probe_destroy(gpuopt_propagator_probe *probe) {
    GPUOPT__CALL_DESTROYS(gpuopt_propagator_probe, probe, probe->base->context,
                          gpuopt__propagator_probe_release(probe));
}

/* ---- A run ---- */

static gpuopt_status gpuopt__propagator_probe_check_run(const gpuopt_propagator_probe *probe, const char *call,
                                                        int32_t count, const int32_t *col, int32_t rounds,
                                                        const gpuopt_propagator_probe_info *info) {
    const gpuopt_context *context = probe->base->context;
    if (info && !GPUOPT__HAS_SIZE(context, call, gpuopt_propagator_probe_info, info)) return GPUOPT_ERROR_ARGUMENT;
    if (rounds < 1 || count < 0 || count > probe->base->cols)
        return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call,
                              rounds < 1 ? "rounds is less than 1" : "count is out of range");
    return gpuopt__check_indices(context, call, "col", col ? count : 0, col, probe->base->cols);
}

static gpuopt_status gpuopt__propagator_probe_run(gpuopt_propagator_probe *probe, const char *call, int32_t count,
                                                  const int32_t *col, int32_t rounds,
                                                  gpuopt_propagator_probe_info *info) {
    gpuopt_status status;
    int32_t chosen = 0;
    probe->ran = 0;
    status = gpuopt__propagator_probe_check_run(probe, call, count, col, rounds, info);
    if (!status) status = gpuopt__propagator_probe_begin_pass(probe, count, col, &chosen);
    status = probe->table->begin(probe, call, status, rounds, &chosen);
    if (status) return status;
    status = gpuopt__propagator_probe_pass(probe, chosen, rounds);
    status = probe->table->end(probe, call, status);
    if (status) return status;
    gpuopt__propagator_probe_sum_up(probe, &probe->all);
    probe->ran = 1;
    return gpuopt__give(GPUOPT_OK, info, &probe->all, sizeof probe->all);
}

GPUOPT_API gpuopt_status gpuopt_propagator_probe_run(gpuopt_propagator_probe *probe, int32_t count, const int32_t *col,
                                                     int32_t rounds, gpuopt_propagator_probe_info *info) {
    GPUOPT__CALL(probe, probe->base->context, gpuopt__propagator_probe_run(probe, call, count, col, rounds, info));
}

/* ---- Results ---- */

/* Begins a call that reads up to `capacity` results into a struct; fits: its size has been checked. */
static gpuopt_status gpuopt__propagator_probe_begin(const gpuopt_propagator_probe *probe, const char *call, int fits,
                                                    int64_t capacity) {
    const gpuopt_context *context = probe->base->context;
    if (!fits) return GPUOPT_ERROR_ARGUMENT;
    if (!probe->ran) return gpuopt__refuse(context, GPUOPT_ERROR_STATE, call, "nothing has been probed");
    if (capacity < 0) return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "the capacity is negative");
    return GPUOPT_OK;
}

/* There are more results than the report can hold. */
static gpuopt_status gpuopt__propagator_probe_too_many(const gpuopt_propagator_probe *probe, const char *call,
                                                       int64_t count, int64_t capacity) {
    gpuopt__log(probe->base->context, 0, "%s: there are %lld, and at most %lld fit", call, (long long)count,
                (long long)capacity);
    return GPUOPT_ERROR_MEMORY;
}

static gpuopt_status gpuopt__propagator_probe_get_bounds(gpuopt_propagator_probe *probe, const char *call,
                                                         gpuopt_propagator_probe_bounds *bounds) {
    gpuopt_propagator_probe_bounds own;
    int32_t j;
    gpuopt_status status;
    int fits;
    memset(&own, 0, sizeof own);
    fits = GPUOPT__COPY_IN(probe->base->context, call, gpuopt_propagator_probe_bounds, &own, bounds);
    status = gpuopt__propagator_probe_begin(probe, call, fits, own.capacity);
    if (status) return status;
    own.count = 0;
    for (j = 0; j < probe->base->cols; j++) {
        int64_t at = own.count;
        if (!gpuopt__propagator_probe_found(probe, j)) continue;
        own.count++;
        if (at >= own.capacity) continue;
        if (own.col) own.col[at] = j;
        if (own.lb) own.lb[at] = probe->lb[j];
        if (own.ub) own.ub[at] = probe->ub[j];
    }
    gpuopt__copy_out(bounds, bounds->struct_size, &own, sizeof own);
    return GPUOPT_OK;
}

GPUOPT_API gpuopt_status gpuopt_propagator_probe_get_bounds(gpuopt_propagator_probe *probe,
                                                            gpuopt_propagator_probe_bounds *bounds) {
    GPUOPT__CALL(probe, probe->base->context, gpuopt__propagator_probe_get_bounds(probe, call, bounds));
}

static gpuopt_status gpuopt__propagator_probe_get_implications(gpuopt_propagator_probe *probe, const char *call,
                                                               gpuopt_propagator_probe_implications *implications) {
    gpuopt_propagator_probe_implications own;
    int64_t shown;
    int fits;
    gpuopt_status status;
    memset(&own, 0, sizeof own);
    fits = GPUOPT__COPY_IN(probe->base->context, call, gpuopt_propagator_probe_implications, &own, implications);
    status = gpuopt__propagator_probe_begin(probe, call, fits, own.capacity);
    status = probe->table->agree(probe, call, status, own.capacity,
                                 (own.outcome != NULL) + 2 * (own.start != NULL) + 4 * (own.col != NULL) +
                                     8 * (own.lb != NULL) + 16 * (own.ub != NULL));
    if (status) return status;
    own.count = probe->all.implications;
    fits = own.count <= probe->implications;
    shown = !fits ? 0 : own.count < own.capacity ? own.count : own.capacity;
    if (own.binary && probe->all.probed)
        memcpy(own.binary, probe->all_binary, sizeof *own.binary * (size_t)probe->all.probed);
    status = probe->table->read_implications(probe, shown, &own);
    if (status) return status;
    gpuopt__copy_out(implications, implications->struct_size, &own, sizeof own);
    return fits ? GPUOPT_OK : gpuopt__propagator_probe_too_many(probe, call, own.count, probe->implications);
}

GPUOPT_API gpuopt_status gpuopt_propagator_probe_get_implications(gpuopt_propagator_probe *probe,
                                                                  gpuopt_propagator_probe_implications *implications) {
    GPUOPT__CALL(probe, probe->base->context, gpuopt__propagator_probe_get_implications(probe, call, implications));
}

static gpuopt_status gpuopt__propagator_probe_get_equivalences(gpuopt_propagator_probe *probe, const char *call,
                                                               gpuopt_propagator_probe_equivalences *equivalences) {
    gpuopt_propagator_probe_equivalences own;
    int64_t shown;
    gpuopt_status status;
    int fits;
    memset(&own, 0, sizeof own);
    fits = GPUOPT__COPY_IN(probe->base->context, call, gpuopt_propagator_probe_equivalences, &own, equivalences);
    status = gpuopt__propagator_probe_begin(probe, call, fits, own.capacity);
    status = probe->table->agree(probe, call, status, own.capacity,
                                 (own.col != NULL) + 2 * (own.other != NULL) + 4 * (own.opposite != NULL));
    if (status) return status;
    own.count = probe->all.equivalences;
    gpuopt__copy_out(equivalences, equivalences->struct_size, &own, sizeof own);
    if (own.count > probe->equivalences)
        return gpuopt__propagator_probe_too_many(probe, call, own.count, probe->equivalences);
    shown = own.count < own.capacity ? own.count : own.capacity;
    return probe->table->read_equivalences(probe, shown, &own);
}

GPUOPT_API gpuopt_status gpuopt_propagator_probe_get_equivalences(gpuopt_propagator_probe *probe,
                                                                  gpuopt_propagator_probe_equivalences *equivalences) {
    GPUOPT__CALL(probe, probe->base->context, gpuopt__propagator_probe_get_equivalences(probe, call, equivalences));
}

#endif /* GPUOPT_IMPL_PROPAGATE_API_PROBE_H */
