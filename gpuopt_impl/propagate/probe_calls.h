/* SPDX-License-Identifier: MIT
 *
 * Probing: the public calls.
 */
#ifndef GPUOPT_IMPL_PROPAGATE_PROBE_CALLS_H
#define GPUOPT_IMPL_PROPAGATE_PROBE_CALLS_H

#include "batch_calls.h"
#include "probe.h"

/* ---- Memory ---- */

/* The head of a probe that a call on `base` has been asked for, and the batch that it needs. */
static gpuopt_status gpuopt__propagator_probe_check_desc(gpuopt_propagator *base, const char *call,
                                                         const gpuopt_propagator_probe_desc *desc,
                                                         gpuopt_propagator_probe *head,
                                                         gpuopt_propagator_batch_desc *batch) {
    const gpuopt_context *context = base->context;
    const int64_t most = (int64_t)1 << 40, pair = 2 * (int64_t)base->cols;
    gpuopt_propagator_probe_desc own;
    gpuopt_status status;
    memset(head, 0, sizeof *head);
    memset(batch, 0, sizeof *batch);
    if (!desc) return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "desc is NULL");
    status = gpuopt__check_struct(context, call, context->desc.backend->propagator, desc, desc->struct_size, &own,
                                  sizeof own);
    if (status) return status;
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

GPUOPT_API gpuopt_status gpuopt_propagator_probe_plan(gpuopt_propagator *base, const gpuopt_propagator_probe_desc *desc,
                                                      gpuopt_memory_plan *plan) {
    static const char call[] = "gpuopt_propagator_probe_plan";
    gpuopt_propagator_probe head;
    gpuopt_propagator_batch_desc batch;
    gpuopt_memory_plan result;
    gpuopt__arena arena = {NULL, 0};
    gpuopt_status status;
    if (!base) return GPUOPT_ERROR_ARGUMENT;
    if (!GPUOPT__HAS_SIZE(plan))
        return gpuopt__refuse(base->context, GPUOPT_ERROR_ARGUMENT, call, "plan is NULL or has no struct_size");
    status = gpuopt__propagator_probe_check_desc(base, call, desc, &head, &batch);
    memset(&result, 0, sizeof result);
    result.struct_size = sizeof result;
    if (!status) status = gpuopt_propagator_batch_plan(base, &batch, &result);
    if (status) return status;
    gpuopt__propagator_probe_cut(&head, base->cols, &arena);
    result.host_bytes += arena.used;
    status = base->context->desc.backend->propagator->probe_plan(&head, &result);
    if (status) return status;
    gpuopt__copy_out(plan, plan->struct_size, &result, sizeof result);
    return GPUOPT_OK;
}

GPUOPT_API gpuopt_status gpuopt_propagator_probe_create(gpuopt_propagator *base,
                                                        const gpuopt_propagator_probe_desc *desc,
                                                        gpuopt_propagator_probe **probe) {
    static const char call[] = "gpuopt_propagator_probe_create";
    gpuopt_propagator_probe head;
    gpuopt_propagator_batch_desc batch;
    gpuopt__arena arena = {NULL, 0};
    gpuopt_status status;
    if (probe) *probe = NULL;
    if (!base) return GPUOPT_ERROR_ARGUMENT;
    if (!probe) return gpuopt__refuse(base->context, GPUOPT_ERROR_ARGUMENT, call, "probe is NULL");
    status = gpuopt__propagator_probe_check_desc(base, call, desc, &head, &batch);
    if (!status) status = gpuopt_propagator_batch_create(base, &batch, &head.batch);
    if (status) return status;
    gpuopt__propagator_probe_cut(&head, base->cols, &arena);
    status = gpuopt__take_block(base->context, GPUOPT_HOST, &arena);
    if (!status) {
        gpuopt__propagator_probe_cut(&head, base->cols, &arena);
        status = base->context->desc.backend->propagator->probe_open(&head);
    }
    if (status) {
        gpuopt__release(base->context, GPUOPT_HOST, arena.base);
        gpuopt_propagator_batch_destroy(head.batch);
        return status;
    }
    *probe = (gpuopt_propagator_probe *)(void *)arena.base;
    **probe = head;
    return GPUOPT_OK;
}

GPUOPT_API void gpuopt_propagator_probe_destroy(gpuopt_propagator_probe *probe) {
    if (!probe) return;
    probe->base->context->desc.backend->propagator->probe_close(probe);
    gpuopt_propagator_batch_destroy(probe->batch);
    gpuopt__release(probe->base->context, GPUOPT_HOST, probe);
}

/* ---- A run ---- */

GPUOPT_API gpuopt_status gpuopt_propagator_probe_run(gpuopt_propagator_probe *probe, int32_t count, const int32_t *col,
                                                     int32_t rounds, gpuopt_propagator_probe_info *info) {
    static const char call[] = "gpuopt_propagator_probe_run";
    gpuopt_context *context;
    gpuopt_status status;
    GPUOPT__COMPUTES(gpuopt_propagator_probe_run(probe, count, col, rounds, info));
    if (!probe) return GPUOPT_ERROR_ARGUMENT;
    context = probe->base->context;
    probe->ran = 0;
    if (info && !GPUOPT__HAS_SIZE(info))
        return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "info has no struct_size");
    if (rounds < 1 || count < 0 || count > probe->base->cols)
        return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call,
                              rounds < 1 ? "rounds is less than 1" : "count is out of range");
    status = gpuopt__check_indices(context, call, "col", col ? count : 0, col, probe->base->cols);
    if (!status) status = gpuopt__propagator_probe_pass(probe, count, col, rounds);
    if (status) return status;
    probe->ran = 1;
    if (info) gpuopt__copy_out(info, info->struct_size, &probe->info, sizeof probe->info);
    return GPUOPT_OK;
}

/* ---- Results ---- */

/* Begins a call that reads results into a struct of `size` bytes, whose copy is `own`. */
static gpuopt_status gpuopt__propagator_probe_begin(const gpuopt_propagator_probe *probe, const char *call,
                                                    const void *result, void *own, size_t size) {
    const gpuopt_context *context;
    if (!probe) return GPUOPT_ERROR_ARGUMENT;
    context = probe->base->context;
    memset(own, 0, size);
    if (!result || !gpuopt__copy_in(own, size, result, *(const size_t *)result))
        return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "the struct is NULL or has a wrong size");
    if (!probe->ran) return gpuopt__refuse(context, GPUOPT_ERROR_STATE, call, "nothing has been probed");
    return GPUOPT_OK;
}

static gpuopt_status gpuopt__propagator_probe_negative(const gpuopt_propagator_probe *probe, const char *call) {
    return gpuopt__refuse(probe->base->context, GPUOPT_ERROR_ARGUMENT, call, "the capacity is negative");
}

/* More has been found than there is room for. */
static gpuopt_status gpuopt__propagator_probe_no_room(const gpuopt_propagator_probe *probe, const char *call,
                                                      int64_t count, int64_t room) {
    gpuopt__log(probe->base->context, 0, "%s: there are %lld, and room for %lld", call, (long long)count,
                (long long)room);
    return GPUOPT_ERROR_MEMORY;
}

GPUOPT_API gpuopt_status gpuopt_propagator_probe_get_bounds(gpuopt_propagator_probe *probe,
                                                            gpuopt_propagator_probe_bounds *bounds) {
    static const char call[] = "gpuopt_propagator_probe_get_bounds";
    gpuopt_propagator_probe_bounds own;
    int32_t j;
    gpuopt_status status = gpuopt__propagator_probe_begin(probe, call, bounds, &own, sizeof own);
    if (status) return status;
    if (own.capacity < 0) return gpuopt__propagator_probe_negative(probe, call);
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

GPUOPT_API gpuopt_status gpuopt_propagator_probe_get_implications(gpuopt_propagator_probe *probe,
                                                                  gpuopt_propagator_probe_implications *implications) {
    static const char call[] = "gpuopt_propagator_probe_get_implications";
    gpuopt_propagator_probe_implications own;
    int fits;
    gpuopt_status status = gpuopt__propagator_probe_begin(probe, call, implications, &own, sizeof own);
    if (status) return status;
    if (own.capacity < 0) return gpuopt__propagator_probe_negative(probe, call);
    own.count = probe->info.implications;
    fits = own.count <= probe->implications;
    if (own.binary && probe->info.probed)
        memcpy(own.binary, probe->binary, sizeof *own.binary * (size_t)probe->info.probed);
    status = probe->base->context->desc.backend->propagator->probe_read_implications(probe,
                                                                                     !fits ? 0
                                                                                     : own.count < own.capacity
                                                                                         ? own.count
                                                                                         : own.capacity,
                                                                                     &own);
    if (status) return status;
    gpuopt__copy_out(implications, implications->struct_size, &own, sizeof own);
    return fits ? GPUOPT_OK : gpuopt__propagator_probe_no_room(probe, call, own.count, probe->implications);
}

GPUOPT_API gpuopt_status gpuopt_propagator_probe_get_equivalences(gpuopt_propagator_probe *probe,
                                                                  gpuopt_propagator_probe_equivalences *equivalences) {
    static const char call[] = "gpuopt_propagator_probe_get_equivalences";
    gpuopt_propagator_probe_equivalences own;
    gpuopt_status status = gpuopt__propagator_probe_begin(probe, call, equivalences, &own, sizeof own);
    if (status) return status;
    if (own.capacity < 0) return gpuopt__propagator_probe_negative(probe, call);
    own.count = probe->info.equivalences;
    gpuopt__copy_out(equivalences, equivalences->struct_size, &own, sizeof own);
    if (own.count > probe->equivalences)
        return gpuopt__propagator_probe_no_room(probe, call, own.count, probe->equivalences);
    return probe->base->context->desc.backend->propagator->probe_read_equivalences(
        probe, own.count < own.capacity ? own.count : own.capacity, &own);
}

#endif /* GPUOPT_IMPL_PROPAGATE_PROBE_CALLS_H */
