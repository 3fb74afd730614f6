/* SPDX-License-Identifier: MIT
 *
 * Propagation of a batch of nodes: the public calls.
 */
#ifndef GPUOPT_IMPL_PROPAGATE_BATCH_CALLS_H
#define GPUOPT_IMPL_PROPAGATE_BATCH_CALLS_H

#include "check.h"

/* Fills in the defaults of a descriptor that a call on `base` has been given. */
static gpuopt_status gpuopt__propagator_batch_check_desc(gpuopt_propagator *base, const char *call,
                                                         const gpuopt_propagator_batch_desc *desc,
                                                         gpuopt_propagator_batch_desc *own) {
    const gpuopt_context *context = base->context;
    const gpuopt__propagator_backend *table = context->desc.backend->propagator;
    gpuopt_status status;
    memset(own, 0, sizeof *own);
    if (!desc) return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "desc is NULL");
    status = gpuopt__check_struct(context, call, table, desc, desc->struct_size, own, sizeof *own);
    if (status) return status;
    if (own->nodes < 1 || own->nodes > GPUOPT__PROPAGATOR_BATCH_NODES)
        return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "nodes is not in 1..65536");
    if (own->node_columns < 0 || own->changes < 0 || own->changes > INT32_MAX)
        return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "node_columns or changes is out of range");
    if (base->mode == GPUOPT_MODE_SEQUENTIAL || !base->marking)
        return gpuopt__refuse(context, GPUOPT_ERROR_UNSUPPORTED, call, "the base is SEQUENTIAL or without marking");
    if (own->node_columns == 0 || own->node_columns > base->cols) own->node_columns = base->cols;
    if (own->changes == 0) own->changes = 32 * (int64_t)own->nodes;
    return GPUOPT_OK;
}

GPUOPT_API gpuopt_status gpuopt_propagator_batch_plan(gpuopt_propagator *base, const gpuopt_propagator_batch_desc *desc,
                                                      gpuopt_memory_plan *plan) {
    static const char call[] = "gpuopt_propagator_batch_plan";
    gpuopt_propagator_batch_desc own;
    gpuopt_memory_plan result;
    gpuopt_status status;
    if (!base) return GPUOPT_ERROR_ARGUMENT;
    if (!GPUOPT__HAS_SIZE(plan))
        return gpuopt__refuse(base->context, GPUOPT_ERROR_ARGUMENT, call, "plan is NULL or has no struct_size");
    status = gpuopt__propagator_batch_check_desc(base, call, desc, &own);
    memset(&result, 0, sizeof result);
    if (!status) status = base->context->desc.backend->propagator->batch_plan(base, &own, &result);
    if (!status) gpuopt__copy_out(plan, plan->struct_size, &result, sizeof result);
    return status;
}

GPUOPT_API gpuopt_status gpuopt_propagator_batch_create(gpuopt_propagator *base,
                                                        const gpuopt_propagator_batch_desc *desc,
                                                        gpuopt_propagator_batch **batch) {
    static const char call[] = "gpuopt_propagator_batch_create";
    gpuopt_propagator_batch_desc own;
    gpuopt_status status;
    GPUOPT__COMPUTES(gpuopt_propagator_batch_create(base, desc, batch));
    if (batch) *batch = NULL;
    if (!base) return GPUOPT_ERROR_ARGUMENT;
    if (!batch) return gpuopt__refuse(base->context, GPUOPT_ERROR_ARGUMENT, call, "batch is NULL");
    status = gpuopt__propagator_batch_check_desc(base, call, desc, &own);
    return status ? status : base->context->desc.backend->propagator->batch_create(base, &own, batch);
}

GPUOPT_API void gpuopt_propagator_batch_destroy(gpuopt_propagator_batch *batch) {
    if (batch) batch->base->context->desc.backend->propagator->batch_destroy(batch);
}

/* Checks nodes in host memory. */
static gpuopt_status gpuopt__propagator_check_nodes(const gpuopt_propagator_batch *batch, const char *call,
                                                    const gpuopt_propagator_nodes *nodes) {
    const gpuopt_context *context = batch->base->context;
    int64_t given;
    int32_t k;
    gpuopt_status status;
    for (k = 0; k < nodes->count; k++)
        if (nodes->start[k] < 0 || nodes->start[k] > nodes->start[k + 1]) {
            gpuopt__log(context, 0, "%s: start[%d] is negative or exceeds start[%d]", call, (int)k, (int)k + 1);
            return GPUOPT_ERROR_ARGUMENT;
        }
    if (nodes->start[0] != 0) return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "start[0] is not 0");
    given = nodes->start[nodes->count];
    if (given > 0 && !nodes->col) return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "col is NULL");
    if (given > batch->changes) {
        gpuopt__log(context, 0, "%s: the nodes are given %lld bounds, and there is room for %lld", call,
                    (long long)given, (long long)batch->changes);
        return GPUOPT_ERROR_MEMORY;
    }
    status = gpuopt__check_indices(context, call, "col", given, nodes->col, batch->base->cols);
    return status ? status
                  : gpuopt__check_pairs(context, call, "lb", "ub", given, nodes->lb, nodes->ub,
                                        batch->base->rules.infinity, 1);
}

GPUOPT_API gpuopt_status gpuopt_propagator_batch_run(gpuopt_propagator_batch *batch, gpuopt_memory where,
                                                     const gpuopt_propagator_nodes *nodes, int32_t rounds,
                                                     const gpuopt_propagator_node_report *report) {
    static const char call[] = "gpuopt_propagator_batch_run";
    gpuopt_propagator_nodes given;
    gpuopt_propagator_node_report wanted;
    gpuopt_status status;
    gpuopt_context *context;
    GPUOPT__COMPUTES(gpuopt_propagator_batch_run(batch, where, nodes, rounds, report));
    if (!batch) return GPUOPT_ERROR_ARGUMENT;
    context = batch->base->context;
    batch->ran = -1;
    memset(&given, 0, sizeof given);
    memset(&wanted, 0, sizeof wanted);
    if (!nodes || !gpuopt__copy_in(&given, sizeof given, nodes, nodes->struct_size))
        return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "nodes is NULL or has a wrong size");
    if (report && !gpuopt__copy_in(&wanted, sizeof wanted, report, report->struct_size))
        return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "report has a wrong size");
    if (rounds < 1 || given.count < 0 || given.count > batch->nodes || (given.count > 0 && !given.start))
        return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call,
                              rounds < 1 ? "rounds is less than 1" : "count is out of range, or start is NULL");
    status = gpuopt__check_where(context, call, where);
    if (!status && where == GPUOPT_HOST && given.count > 0)
        status = gpuopt__propagator_check_nodes(batch, call, &given);
    if (!status && given.count > 0)
        status = context->desc.backend->propagator->batch_run(batch, where, &given, rounds, &wanted);
    if (!status) batch->ran = given.count, batch->version = batch->base->version;
    return status;
}

GPUOPT_API gpuopt_status gpuopt_propagator_batch_get_changes(gpuopt_propagator_batch *batch, gpuopt_memory where,
                                                             gpuopt_propagator_node_changes *changes) {
    static const char call[] = "gpuopt_propagator_batch_get_changes";
    gpuopt_propagator_node_changes wanted;
    gpuopt_status status;
    gpuopt_context *context;
    if (!batch) return GPUOPT_ERROR_ARGUMENT;
    context = batch->base->context;
    memset(&wanted, 0, sizeof wanted);
    if (!changes || !gpuopt__copy_in(&wanted, sizeof wanted, changes, changes->struct_size) || wanted.capacity < 0)
        return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call,
                              "changes is NULL, has a wrong size, or its capacity is negative");
    status = gpuopt__check_where(context, call, where);
    if (status) return status;
    if (batch->ran < 0) return gpuopt__refuse(context, GPUOPT_ERROR_STATE, call, "there are no nodes that have run");
    status = context->desc.backend->propagator->batch_get_changes(batch, where, &wanted);
    if (!status || status == GPUOPT_ERROR_MEMORY)
        gpuopt__copy_out(changes, changes->struct_size, &wanted, sizeof wanted);
    return status;
}

GPUOPT_API gpuopt_status gpuopt_propagator_batch_get_bounds(gpuopt_propagator_batch *batch, gpuopt_memory where,
                                                            int64_t count, const int32_t *node, double *lb,
                                                            double *ub) {
    static const char call[] = "gpuopt_propagator_batch_get_bounds";
    gpuopt_context *context;
    gpuopt_status status;
    if (!batch) return GPUOPT_ERROR_ARGUMENT;
    context = batch->base->context;
    status = gpuopt__check_where(context, call, where);
    if (status) return status;
    if (batch->ran < 0) return gpuopt__refuse(context, GPUOPT_ERROR_STATE, call, "there are no nodes that have run");
    if (batch->version != batch->base->version)
        return gpuopt__refuse(context, GPUOPT_ERROR_STATE, call, "the base has changed since the nodes have run");
    if (count < 0 || (!node && count > batch->ran))
        return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "count is out of range");
    if (node && where == GPUOPT_HOST) status = gpuopt__check_indices(context, call, "node", count, node, batch->ran);
    if (status || count == 0 || (!lb && !ub)) return status;
    return context->desc.backend->propagator->batch_get_bounds(batch, where, count, node, lb, ub);
}

#endif /* GPUOPT_IMPL_PROPAGATE_BATCH_CALLS_H */
