/* SPDX-License-Identifier: MIT
 *
 * Propagation of a batch of nodes: the public calls.
 */
#ifndef GPUOPT_IMPL_PROPAGATE_API_BATCH_H
#define GPUOPT_IMPL_PROPAGATE_API_BATCH_H

#include "../ranks/batch_run.h"
#include "handle.h"

/* A descriptor of a call on `base`, with the defaults filled in. */
typedef struct gpuopt__propagator_batch_checked {
    gpuopt_propagator_batch_desc desc; /* of this rank's own nodes; group: NULL if it cannot be used */
    int32_t nodes;                     /* of all ranks */
    gpuopt_group_info group;           /* without a group: one rank */
} gpuopt__propagator_batch_checked;

static gpuopt_status gpuopt__propagator_batch_check_desc(gpuopt_propagator *base, const char *call,
                                                         const gpuopt_propagator_batch_desc *desc,
                                                         gpuopt__propagator_batch_checked *checked) {
    const gpuopt_context *context = base->context;
    const gpuopt__propagator_backend *table = context->desc.backend->propagator;
    gpuopt_propagator_batch_desc *own = &checked->desc;
    gpuopt_status status;
    memset(checked, 0, sizeof *checked);
    status = GPUOPT__CHECK_STRUCT(context, call, table, gpuopt_propagator_batch_desc, desc, own);
    if (status) memset(own, 0, sizeof *own);
    if (!status) status = gpuopt__ranks_of(context, call, &own->group, &checked->group);
    if (status) return status;
    if (own->nodes < 1 || own->nodes > GPUOPT__PROPAGATOR_BATCH_NODES)
        return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "nodes is not in 1..65536");
    if (own->node_columns < 0 || own->changes < 0 || own->changes > INT32_MAX)
        return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "node_columns or changes is out of range");
    if (base->mode == GPUOPT_MODE_GAUSS_SEIDEL || !base->marking)
        return gpuopt__refuse(context, GPUOPT_ERROR_UNSUPPORTED, call, "the base is GAUSS_SEIDEL or without marking");
    checked->nodes = own->nodes;
    own->nodes = (own->nodes + checked->group.count - 1) / checked->group.count;
    if (own->node_columns == 0 || own->node_columns > base->cols) own->node_columns = base->cols;
    if (own->changes == 0) own->changes = 32 * (int64_t)own->nodes;
    return GPUOPT_OK;
}

static gpuopt_status gpuopt__propagator_batch_write_plan(gpuopt_propagator *base, const char *call,
                                                         const gpuopt_propagator_batch_desc *desc,
                                                         gpuopt_memory_plan *plan) {
    gpuopt__propagator_batch_checked own;
    gpuopt_status status = gpuopt__propagator_batch_check_desc(base, call, desc, &own);
    if (!status) status = gpuopt__propagator_of(base)->batch_plan(base, &own.desc, plan);
    if (!status) plan->host_bytes += gpuopt__propagator_share_plan(&own.group, &own.desc, own.nodes);
    return status;
}

static void gpuopt__propagator_batch_release(gpuopt_propagator_batch *batch) {
    if (!batch) return;
    gpuopt__release(batch->base->context, GPUOPT_HOST, batch->share);
    gpuopt__propagator_of(batch->base)->batch_destroy(batch);
}

static gpuopt_status gpuopt__propagator_batch_create_handle(gpuopt_propagator *base, const char *call,
                                                            const gpuopt_propagator_batch_desc *desc,
                                                            gpuopt_propagator_batch **batch) {
    gpuopt__propagator_batch_checked own;
    gpuopt_propagator_batch *b = NULL;
    gpuopt_status status = gpuopt__propagator_batch_check_desc(base, call, desc, &own);
    if (!batch) status = gpuopt__refuse(base->context, GPUOPT_ERROR_ARGUMENT, call, "batch and plan are NULL");
    if (!status) status = gpuopt__propagator_of(base)->batch_create(base, &own.desc, &b);
    status = gpuopt__propagator_share_begin(base, call, status, &own.group, &own.desc, own.nodes, b);
    if (status) gpuopt__propagator_batch_release(b);
    else *batch = b;
    return status;
}

GPUOPT_API gpuopt_status gpuopt_propagator_batch_create(gpuopt_propagator *base,
                                                        const gpuopt_propagator_batch_desc *desc,
                                                        gpuopt_memory_plan *plan, gpuopt_propagator_batch **batch) {
    GPUOPT__CALL_CREATES(gpuopt_propagator_batch, base, base->context, plan,
                         gpuopt__propagator_batch_write_plan(base, call, desc, &planned), batch,
                         gpuopt__propagator_batch_create_handle(base, call, desc, batch));
}

GPUOPT_API void gpuopt_propagator_batch_destroy(gpuopt_propagator_batch *batch) {
    GPUOPT__CALL_DESTROYS(gpuopt_propagator_batch, batch, batch->base->context,
                          gpuopt__propagator_batch_release(batch));
}

static gpuopt_status gpuopt__propagator_batch_check_where(const gpuopt_propagator_batch *batch, const char *call,
                                                          gpuopt_memory_space where) {
    if (batch->table->host_only && where == GPUOPT_DEVICE)
        return gpuopt__refuse(batch->base->context, GPUOPT_ERROR_UNSUPPORTED, call,
                              "with a group, arrays must be in host memory");
    return gpuopt__check_where(batch->base->context, call, where);
}

/* The arguments of a _run, except the entries of its nodes. */
static gpuopt_status gpuopt__propagator_batch_check_run(const gpuopt_propagator_batch *batch, const char *call,
                                                        gpuopt_memory_space where, const gpuopt_propagator_nodes *nodes,
                                                        int32_t rounds, const gpuopt_propagator_node_report *report,
                                                        gpuopt_propagator_nodes *given,
                                                        gpuopt_propagator_node_report *wanted) {
    const gpuopt_context *context = batch->base->context;
    gpuopt_status status;
    memset(given, 0, sizeof *given);
    memset(wanted, 0, sizeof *wanted);
    if (!GPUOPT__COPY_IN(context, call, gpuopt_propagator_nodes, given, nodes)) return GPUOPT_ERROR_ARGUMENT;
    if (report && !GPUOPT__COPY_IN(context, call, gpuopt_propagator_node_report, wanted, report))
        return GPUOPT_ERROR_ARGUMENT;
    if (rounds < 1 || given->count < 0 || given->count > batch->most || (given->count > 0 && !given->start))
        return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call,
                              rounds < 1 ? "rounds is less than 1" : "count is out of range, or start is NULL");
    status = gpuopt__propagator_batch_check_where(batch, call, where);
    return status || where == GPUOPT_DEVICE ? status : gpuopt__propagator_check_starts(context, call, given);
}

static gpuopt_status gpuopt__propagator_batch_run(gpuopt_propagator_batch *batch, const char *call,
                                                  gpuopt_memory_space where, const gpuopt_propagator_nodes *nodes,
                                                  int32_t rounds, const gpuopt_propagator_node_report *report) {
    gpuopt_propagator_nodes given;
    gpuopt_propagator_node_report wanted;
    gpuopt_status status =
        gpuopt__propagator_batch_check_run(batch, call, where, nodes, rounds, report, &given, &wanted);
    batch->ran = -1;
    return batch->table->run(batch, call, status, where, &given, rounds, &wanted);
}

GPUOPT_API gpuopt_status gpuopt_propagator_batch_run(gpuopt_propagator_batch *batch, gpuopt_memory_space where,
                                                     const gpuopt_propagator_nodes *nodes, int32_t rounds,
                                                     const gpuopt_propagator_node_report *report) {
    GPUOPT__CALL(batch, batch->base->context, gpuopt__propagator_batch_run(batch, call, where, nodes, rounds, report));
}

static gpuopt_status gpuopt__propagator_batch_get_changes(gpuopt_propagator_batch *batch, const char *call,
                                                          gpuopt_memory_space where,
                                                          gpuopt_propagator_node_changes *changes) {
    const gpuopt_context *context = batch->base->context;
    gpuopt_propagator_node_changes wanted;
    gpuopt_status status = gpuopt__propagator_batch_check_where(batch, call, where);
    memset(&wanted, 0, sizeof wanted);
    if (!GPUOPT__COPY_IN(context, call, gpuopt_propagator_node_changes, &wanted, changes))
        status = GPUOPT_ERROR_ARGUMENT;
    else if (wanted.capacity < 0) status = gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "capacity is negative");
    if (!status && batch->ran < 0)
        status = gpuopt__refuse(context, GPUOPT_ERROR_STATE, call, "there are no nodes that have run");
    status = batch->table->get_changes(batch, call, status, where, &wanted);
    if (!status || status == GPUOPT_ERROR_MEMORY)
        gpuopt__copy_out(changes, changes->struct_size, &wanted, sizeof wanted);
    return status;
}

GPUOPT_API gpuopt_status gpuopt_propagator_batch_get_changes(gpuopt_propagator_batch *batch, gpuopt_memory_space where,
                                                             gpuopt_propagator_node_changes *changes) {
    GPUOPT__CALL(batch, batch->base->context, gpuopt__propagator_batch_get_changes(batch, call, where, changes));
}

static gpuopt_status gpuopt__propagator_batch_get_bounds(gpuopt_propagator_batch *batch, const char *call,
                                                         gpuopt_memory_space where, int64_t count, const int32_t *node,
                                                         double *lb, double *ub) {
    const gpuopt_context *context = batch->base->context;
    gpuopt_status status = gpuopt__propagator_batch_check_where(batch, call, where);
    if (status) return status;
    if (batch->ran < 0) return gpuopt__refuse(context, GPUOPT_ERROR_STATE, call, "there are no nodes that have run");
    if (batch->version != batch->base->version)
        return gpuopt__refuse(context, GPUOPT_ERROR_STATE, call, "the base has changed since the nodes have run");
    if (count < 0 || (!node && count > batch->ran))
        return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "count is out of range");
    if (node && where == GPUOPT_HOST) status = gpuopt__check_indices(context, call, "node", count, node, batch->all);
    if (status || count == 0 || (!lb && !ub)) return status;
    return batch->table->get_bounds(batch, call, where, count, node, lb, ub);
}

GPUOPT_API gpuopt_status gpuopt_propagator_batch_get_bounds(gpuopt_propagator_batch *batch, gpuopt_memory_space where,
                                                            int64_t count, const int32_t *node, double *lb,
                                                            double *ub) {
    GPUOPT__CALL(batch, batch->base->context,
                 gpuopt__propagator_batch_get_bounds(batch, call, where, count, node, lb, ub));
}

#endif /* GPUOPT_IMPL_PROPAGATE_API_BATCH_H */
