/* SPDX-License-Identifier: MIT
 *
 * Propagation of a batch of nodes: the public calls.
 */
#ifndef GPUOPT_IMPL_PROPAGATE_API_BATCH_H
#define GPUOPT_IMPL_PROPAGATE_API_BATCH_H

#include "../ranks/batch_run.h"

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
    if (!desc) return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "desc is NULL");
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

static gpuopt_status gpuopt__propagator_batch_write_plan(gpuopt_propagator *base,
                                                         const gpuopt_propagator_batch_desc *desc,
                                                         gpuopt_memory_plan *plan) {
    static const char call[] = "gpuopt_propagator_batch_create";
    gpuopt__propagator_batch_checked own;
    gpuopt_memory_plan result;
    gpuopt_status status;
    if (!GPUOPT__HAS_SIZE(base->context, call, gpuopt_memory_plan, plan)) return GPUOPT_ERROR_ARGUMENT;
    status = gpuopt__propagator_batch_check_desc(base, call, desc, &own);
    memset(&result, 0, sizeof result);
    if (!status) status = base->context->desc.backend->propagator->batch_plan(base, &own.desc, &result);
    if (!status && own.desc.group) result.host_bytes += gpuopt__propagator_share_plan(&own.group, &own.desc, own.nodes);
    if (!status) gpuopt__copy_out(plan, plan->struct_size, &result, sizeof result);
    return status;
}

static gpuopt_status gpuopt__propagator_batch_create_handle(gpuopt_propagator *base,
                                                            const gpuopt_propagator_batch_desc *desc,
                                                            gpuopt_propagator_batch **batch) {
    static const char call[] = "gpuopt_propagator_batch_create";
    gpuopt__propagator_batch_checked own;
    gpuopt_propagator_batch *b = NULL;
    gpuopt_status status;
    GPUOPT__COMPUTES(gpuopt__propagator_batch_create_handle(base, desc, batch));
    status = gpuopt__propagator_batch_check_desc(base, call, desc, &own);
    if (!batch) status = gpuopt__refuse(base->context, GPUOPT_ERROR_ARGUMENT, call, "batch and plan are NULL");
    if (!status) status = base->context->desc.backend->propagator->batch_create(base, &own.desc, &b);
    if (own.desc.group) {
        if (!status) status = gpuopt__propagator_share_create(&own.group, &own.desc, own.nodes, b);
        status = gpuopt__ranks_agree(base->context, own.desc.group, call, status,
                                     gpuopt__propagator_share_hash(base, &own.desc, own.nodes));
    }
    if (status) gpuopt_propagator_batch_destroy(b);
    else *batch = b;
    return status;
}

GPUOPT_API gpuopt_status gpuopt_propagator_batch_create(gpuopt_propagator *base,
                                                        const gpuopt_propagator_batch_desc *desc,
                                                        gpuopt_memory_plan *plan, gpuopt_propagator_batch **batch) {
    GPUOPT__CREATES(gpuopt_propagator_batch, base, base->context, batch);
    gpuopt_status status = plan ? gpuopt__propagator_batch_write_plan(base, desc, plan) : GPUOPT_OK;
    return status || (plan && !batch) ? status : gpuopt__propagator_batch_create_handle(base, desc, batch);
}

GPUOPT_API void gpuopt_propagator_batch_destroy(gpuopt_propagator_batch *batch) {
    GPUOPT__DESTROYS(gpuopt_propagator_batch, batch, batch->base->context);
    gpuopt__release(batch->base->context, GPUOPT_HOST, batch->share);
    batch->base->context->desc.backend->propagator->batch_destroy(batch);
}

static gpuopt_status gpuopt__propagator_batch_check_where(const gpuopt_propagator_batch *batch, const char *call,
                                                          gpuopt_memory_space where) {
    if (batch->share && where == GPUOPT_DEVICE)
        return gpuopt__refuse(batch->base->context, GPUOPT_ERROR_UNSUPPORTED, call,
                              "with a group, arrays must be in host memory");
    return gpuopt__check_where(batch->base->context, call, where);
}

/* The arguments of a _run, except the entries of its nodes. */
static gpuopt_status gpuopt__propagator_batch_check_run(const gpuopt_propagator_batch *batch, gpuopt_memory_space where,
                                                        const gpuopt_propagator_nodes *nodes, int32_t rounds,
                                                        const gpuopt_propagator_node_report *report,
                                                        gpuopt_propagator_nodes *given,
                                                        gpuopt_propagator_node_report *wanted) {
    static const char call[] = "gpuopt_propagator_batch_run";
    const gpuopt_context *context = batch->base->context;
    const int32_t most = batch->share ? batch->share->dealt.most : batch->nodes;
    gpuopt_status status;
    memset(given, 0, sizeof *given);
    memset(wanted, 0, sizeof *wanted);
    if (!GPUOPT__COPY_IN(context, call, gpuopt_propagator_nodes, given, nodes)) return GPUOPT_ERROR_ARGUMENT;
    if (report && !GPUOPT__COPY_IN(context, call, gpuopt_propagator_node_report, wanted, report))
        return GPUOPT_ERROR_ARGUMENT;
    if (rounds < 1 || given->count < 0 || given->count > most || (given->count > 0 && !given->start))
        return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call,
                              rounds < 1 ? "rounds is less than 1" : "count is out of range, or start is NULL");
    status = gpuopt__propagator_batch_check_where(batch, call, where);
    return status || where == GPUOPT_DEVICE ? status : gpuopt__propagator_check_starts(context, call, given);
}

GPUOPT_API gpuopt_status gpuopt_propagator_batch_run(gpuopt_propagator_batch *batch, gpuopt_memory_space where,
                                                     const gpuopt_propagator_nodes *nodes, int32_t rounds,
                                                     const gpuopt_propagator_node_report *report) {
    GPUOPT__ENTERS(batch, batch->base->context);
    static const char call[] = "gpuopt_propagator_batch_run";
    gpuopt_propagator_nodes given;
    gpuopt_propagator_node_report wanted;
    gpuopt_status status;
    gpuopt_context *context;
    GPUOPT__COMPUTES(gpuopt_propagator_batch_run(batch, where, nodes, rounds, report));
    status = gpuopt__propagator_batch_check_run(batch, where, nodes, rounds, report, &given, &wanted);
    context = batch->base->context;
    batch->ran = -1;
    if (batch->share) return gpuopt__propagator_share_run(batch, call, &given, rounds, &wanted, status);
    if (!status && where == GPUOPT_HOST) status = gpuopt__propagator_check_entries(batch, call, &given, 0);
    if (!status && given.count > 0)
        status = context->desc.backend->propagator->batch_run(batch, where, &given, rounds, &wanted);
    if (!status) batch->ran = given.count, batch->version = batch->base->version;
    return status;
}

GPUOPT_API gpuopt_status gpuopt_propagator_batch_get_changes(gpuopt_propagator_batch *batch, gpuopt_memory_space where,
                                                             gpuopt_propagator_node_changes *changes) {
    GPUOPT__ENTERS(batch, batch->base->context);
    static const char call[] = "gpuopt_propagator_batch_get_changes";
    gpuopt_propagator_node_changes wanted;
    gpuopt_status status;
    gpuopt_context *context;
    context = batch->base->context;
    memset(&wanted, 0, sizeof wanted);
    status = gpuopt__propagator_batch_check_where(batch, call, where);
    if (!GPUOPT__COPY_IN(context, call, gpuopt_propagator_node_changes, &wanted, changes))
        status = GPUOPT_ERROR_ARGUMENT;
    else if (wanted.capacity < 0) status = gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "capacity is negative");
    if (!status && batch->ran < 0)
        status = gpuopt__refuse(context, GPUOPT_ERROR_STATE, call, "there are no nodes that have run");
    if (batch->share && !wanted.own) status = gpuopt__ranks_agree(context, batch->share->dealt.group, call, status, 0);
    if (status) return status;
    status = !batch->share ? context->desc.backend->propagator->batch_get_changes(batch, where, &wanted)
             : wanted.own  ? gpuopt__propagator_share_own_changes(batch, &wanted)
                           : gpuopt__propagator_share_all_changes(batch, call, &wanted);
    if (!status || status == GPUOPT_ERROR_MEMORY)
        gpuopt__copy_out(changes, changes->struct_size, &wanted, sizeof wanted);
    return status;
}

GPUOPT_API gpuopt_status gpuopt_propagator_batch_get_bounds(gpuopt_propagator_batch *batch, gpuopt_memory_space where,
                                                            int64_t count, const int32_t *node, double *lb,
                                                            double *ub) {
    GPUOPT__ENTERS(batch, batch->base->context);
    static const char call[] = "gpuopt_propagator_batch_get_bounds";
    gpuopt_context *context;
    gpuopt_status status;
    int32_t nodes;
    context = batch->base->context;
    status = gpuopt__propagator_batch_check_where(batch, call, where);
    if (status) return status;
    if (batch->ran < 0) return gpuopt__refuse(context, GPUOPT_ERROR_STATE, call, "there are no nodes that have run");
    if (batch->version != batch->base->version)
        return gpuopt__refuse(context, GPUOPT_ERROR_STATE, call, "the base has changed since the nodes have run");
    if (count < 0 || (!node && count > batch->ran))
        return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "count is out of range");
    nodes = batch->share ? batch->share->dealt.count : batch->ran;
    if (node && where == GPUOPT_HOST) status = gpuopt__check_indices(context, call, "node", count, node, nodes);
    if (status || count == 0 || (!lb && !ub)) return status;
    return batch->share ? gpuopt__propagator_share_bounds(batch, call, count, node, lb, ub)
                        : context->desc.backend->propagator->batch_get_bounds(batch, where, count, node, lb, ub);
}

#endif /* GPUOPT_IMPL_PROPAGATE_API_BATCH_H */
