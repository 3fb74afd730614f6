/* SPDX-License-Identifier: MIT
 *
 * Propagation: checks of nodes in host memory.
 */
#ifndef GPUOPT_IMPL_PROPAGATE_CHECK_NODES_H
#define GPUOPT_IMPL_PROPAGATE_CHECK_NODES_H

#include "model.h"

static gpuopt_status gpuopt__propagator_check_starts(const gpuopt_context *context, const char *call,
                                                     const gpuopt_propagator_nodes *nodes) {
    int32_t k;
    for (k = 0; k < nodes->count; k++)
        if (nodes->start[k] < 0 || nodes->start[k] > nodes->start[k + 1]) {
            gpuopt__log(context, 0, "%s: start[%d] is negative or exceeds start[%d]", call, (int)k, (int)k + 1);
            return GPUOPT_ERROR_ARGUMENT;
        }
    if (nodes->count == 0 || nodes->start[0] == 0) return GPUOPT_OK;
    return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "start[0] is not 0");
}

/* own: the log numbers the rank's own nodes, one after the other. */
static gpuopt_status gpuopt__propagator_check_entries(const gpuopt_propagator_batch *batch, const char *call,
                                                      const gpuopt_propagator_nodes *nodes, int own) {
    const gpuopt_context *context = batch->base->context;
    const int64_t given = nodes->count ? nodes->start[nodes->count] : 0;
    gpuopt_status status;
    if (given > 0 && !nodes->col) return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "col is NULL");
    if (given > batch->changes) {
        gpuopt__log(context, 0, "%s: the nodes are given %lld bounds, and at most %lld fit", call, (long long)given,
                    (long long)batch->changes);
        return GPUOPT_ERROR_MEMORY;
    }
    status = gpuopt__check_indices(context, call, own ? "own nodes' col" : "col", given, nodes->col, batch->base->cols);
    return status ? status
                  : gpuopt__check_pairs(context, call, own ? "own nodes' lb" : "lb", own ? "own nodes' ub" : "ub",
                                        given, nodes->lb, nodes->ub, batch->base->rules.infinity, 1);
}

#endif /* GPUOPT_IMPL_PROPAGATE_CHECK_NODES_H */
