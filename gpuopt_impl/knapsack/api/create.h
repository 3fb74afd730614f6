/* SPDX-License-Identifier: MIT
 *
 * Knapsack: the life of a handle.
 */
#ifndef GPUOPT_IMPL_KNAPSACK_API_CREATE_H
#define GPUOPT_IMPL_KNAPSACK_API_CREATE_H

#include "../pool/make.h"
#include "../strengthen/weight_classes_reduce.h"
#include "../strengthen/surrogate.h"
#include "../ranks/create.h"

static gpuopt_status gpuopt__knapsack_write_plan(gpuopt_context *context, const char *call,
                                                 const gpuopt_knapsack_desc *desc, gpuopt_memory_plan *plan) {
    gpuopt_knapsack head;
    gpuopt_knapsack_desc d;
    gpuopt_group_info group;
    gpuopt_status status;
    int64_t limit;
    int32_t pieces;
    status = gpuopt__knapsack_check(context, call, desc, &d, &pieces, &limit, &group);
    if (status) return status;
    plan->host_bytes = gpuopt__knapsack_cut(&head, NULL, &d, pieces, group.count);
    d.items = pieces;
    context->desc.backend->knapsack->plan(context, &d, plan);
    return GPUOPT_OK;
}

GPUOPT_API void gpuopt_knapsack_destroy(gpuopt_knapsack *knapsack) {
    GPUOPT__CALL_DESTROYS(gpuopt_knapsack, knapsack, knapsack->context, gpuopt__knapsack_release(knapsack));
}

/* Makes a handle from checked arguments. *whole: whether to use bounds from groups of items; becomes 0 if some of them
 * were left out. */
static gpuopt_status gpuopt__knapsack_make_own(gpuopt_context *context, const char *call, const gpuopt_knapsack_desc *d,
                                               int32_t pieces, int64_t limit, const gpuopt_group_info *group,
                                               int *whole, gpuopt_knapsack **knapsack) {
    int64_t nodes = GPUOPT__KNAPSACK_STRENGTHEN;
    gpuopt_knapsack *k = NULL;
    gpuopt_status status = gpuopt__knapsack_begin(context, call, d, pieces, limit, group, &k);
    if (status) return status;
    k->surrogates = k->search.dominance && gpuopt__knapsack_reduces(d);
    if (k->surrogates && *whole) *whole = gpuopt__knapsack_group(k);
    if (k->surrogates) nodes = GPUOPT__KNAPSACK_FIRST;
    status = gpuopt__knapsack_start(k, call, d, nodes);
    if (status) gpuopt__knapsack_release(k);
    else *knapsack = k;
    return status;
}

/* Ranks must have the same items left. So if one has to leave out some bounds from groups of items, all do without
 * these bounds. */
static gpuopt_status gpuopt__knapsack_make(gpuopt_context *context, const char *call, const gpuopt_knapsack_desc *desc,
                                           gpuopt_knapsack **knapsack) {
    gpuopt_knapsack *k = NULL;
    gpuopt_knapsack_desc d;
    gpuopt_group_info group;
    int64_t limit = 0;
    int32_t pieces = 0;
    int whole = 1, again = 0;
    gpuopt_status status;
    if (!knapsack) return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "knapsack and plan are NULL");
    status = gpuopt__knapsack_check(context, call, desc, &d, &pieces, &limit, &group);
    if (!status) status = gpuopt__knapsack_make_own(context, call, &d, pieces, limit, &group, &whole, &k);
    status = gpuopt__knapsack_left_out(d.group, status, whole, &again);
    if (again) {
        gpuopt__knapsack_release(k);
        k = NULL;
        whole = 0;
        if (!status) status = gpuopt__knapsack_make_own(context, call, &d, pieces, limit, &group, &whole, &k);
    }
    status = gpuopt__knapsack_made(context, call, status, &d, k);
    if (status) gpuopt__knapsack_release(k);
    else *knapsack = k;
    return status;
}

GPUOPT_API gpuopt_status gpuopt_knapsack_create(gpuopt_context *context, const gpuopt_knapsack_desc *desc,
                                                gpuopt_memory_plan *plan, gpuopt_knapsack **knapsack) {
    GPUOPT__CALL_CREATES(gpuopt_knapsack, context, context, plan,
                         gpuopt__knapsack_write_plan(context, call, desc, &planned), knapsack,
                         gpuopt__knapsack_make(context, call, desc, knapsack));
}

#endif /* GPUOPT_IMPL_KNAPSACK_API_CREATE_H */
