/* SPDX-License-Identifier: MIT
 *
 * Batches of small knapsacks: the public calls. They check the arguments, but not the numbers in the caller's arrays,
 * which the backend reads: see cpu/batch.h and cuda/knapsack/batch.cuh.
 */
#ifndef GPUOPT_IMPL_KNAPSACK_BATCH_CALLS_H
#define GPUOPT_IMPL_KNAPSACK_BATCH_CALLS_H

#include "../../common/checks.h"
#include "handle.h"

static const struct gpuopt__knapsack_backend *gpuopt__knapsack_batch_backend(const gpuopt_knapsack_batch *b) {
    return b->context->desc.backend->knapsack;
}

/* ---- Life ---- */

static gpuopt_status gpuopt__knapsack_batch_check(const gpuopt_context *context, const char *call,
                                                  const gpuopt_knapsack_batch_desc *desc,
                                                  gpuopt_knapsack_batch_desc *own) {
    gpuopt_status status;
    memset(own, 0, sizeof *own);
    status =
        GPUOPT__CHECK_STRUCT(context, call, context->desc.backend->knapsack, gpuopt_knapsack_batch_desc, desc, own);
    if (status) return status;
    if (own->items < 1 || own->items > GPUOPT__KNAPSACK_SMALL_ITEMS)
        return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "items is not in 1..256");
    if (own->count < 1 || own->count > GPUOPT__KNAPSACK_BATCH_COUNT)
        return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "count is not in 1..16777216");
    return GPUOPT_OK;
}

static gpuopt_status gpuopt__knapsack_batch_write_plan(gpuopt_context *context, const char *call,
                                                       const gpuopt_knapsack_batch_desc *desc,
                                                       gpuopt_memory_plan *plan) {
    gpuopt_knapsack_batch_desc own;
    gpuopt_status status = gpuopt__knapsack_batch_check(context, call, desc, &own);
    if (status) return status;
    plan->host_bytes = sizeof(gpuopt_knapsack_batch);
    context->desc.backend->knapsack->batch_plan(context, &own, plan);
    return GPUOPT_OK;
}

static gpuopt_status gpuopt__knapsack_batch_create_handle(gpuopt_context *context, const char *call,
                                                          const gpuopt_knapsack_batch_desc *desc,
                                                          gpuopt_knapsack_batch **batch) {
    gpuopt_knapsack_batch_desc own;
    gpuopt_knapsack_batch *b;
    gpuopt_status status;
    void *memory;
    if (!batch) return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "batch and plan are NULL");
    status = gpuopt__knapsack_batch_check(context, call, desc, &own);
    if (!status) status = gpuopt__allocate(context, GPUOPT_HOST, sizeof *b, &memory);
    if (status) return status;
    b = (gpuopt_knapsack_batch *)memory;
    memset(b, 0, sizeof *b);
    b->context = context;
    b->desc = own;
    status = gpuopt__knapsack_batch_backend(b)->batch_create(b);
    if (status) gpuopt__release(context, GPUOPT_HOST, b);
    else *batch = b;
    return status;
}

GPUOPT_API gpuopt_status gpuopt_knapsack_batch_create(gpuopt_context *context, const gpuopt_knapsack_batch_desc *desc,
                                                      gpuopt_memory_plan *plan, gpuopt_knapsack_batch **batch) {
    GPUOPT__CALL_CREATES(gpuopt_knapsack_batch, context, context, plan,
                         gpuopt__knapsack_batch_write_plan(context, call, desc, &planned), batch,
                         gpuopt__knapsack_batch_create_handle(context, call, desc, batch));
}

static void gpuopt__knapsack_batch_release(gpuopt_knapsack_batch *b) {
    gpuopt__knapsack_batch_backend(b)->batch_destroy(b);
    gpuopt__release(b->context, GPUOPT_HOST, b);
}

GPUOPT_API void gpuopt_knapsack_batch_destroy(gpuopt_knapsack_batch *batch) {
    GPUOPT__CALL_DESTROYS(gpuopt_knapsack_batch, batch, batch->context, gpuopt__knapsack_batch_release(batch));
}

/* ---- Runs ---- */

/* A stride is 0, or at least the numbers of a knapsack. */
static gpuopt_status gpuopt__knapsack_batch_check_strides(const gpuopt_knapsack_batch *b, const char *call,
                                                          const gpuopt_knapsack_problems *p) {
    const struct {
        const char *name;
        int64_t stride, least;
    } strides[] = {{"weight_stride", p->weight_stride, b->desc.items},
                   {"profit_stride", p->profit_stride, b->desc.items},
                   {"copies_max_stride", p->copies_max_stride, b->desc.items},
                   {"capacity_stride", p->capacity_stride, 1}};
    size_t k;
    for (k = 0; k < sizeof strides / sizeof *strides; k++) {
        const int64_t stride = strides[k].stride;
        if (stride == 0 || (stride >= strides[k].least && stride <= GPUOPT__KNAPSACK_BATCH_STRIDE)) continue;
        gpuopt__log(b->context, 0, "%s: %s = %lld is neither 0 nor in [%lld, 2^27]", call, strides[k].name,
                    (long long)stride, (long long)strides[k].least);
        return GPUOPT_ERROR_ARGUMENT;
    }
    return GPUOPT_OK;
}

/* Logs the fault of the first knapsack that the backend refused. */
static gpuopt_status gpuopt__knapsack_batch_refuse(const gpuopt_knapsack_batch *b, const char *call) {
    const long long k = (long long)gpuopt__knapsack_small_word_knapsack(b->job.fault);
    const int item = gpuopt__knapsack_small_word_item(b->job.fault),
              code = gpuopt__knapsack_small_word_code(b->job.fault);
    if (code == GPUOPT__KNAPSACK_SMALL_PROFIT) {
        gpuopt__log(b->context, 0, "%s: knapsack %lld: a solution may have more profit than 2^63 - 1", call, k);
        return GPUOPT_ERROR_NUMERIC;
    }
    if (code == GPUOPT__KNAPSACK_SMALL_CAPACITY)
        gpuopt__log(b->context, 0, "%s: knapsack %lld: the capacity is negative", call, k);
    else
        gpuopt__log(b->context, 0, "%s: knapsack %lld: %s of item %d is negative", call, k,
                    code == GPUOPT__KNAPSACK_SMALL_WEIGHT ? "weight" : "copies_max", item);
    return GPUOPT_ERROR_ARGUMENT;
}

static gpuopt_status gpuopt__knapsack_batch_run(gpuopt_knapsack_batch *batch, const char *call,
                                                gpuopt_memory_space where, const gpuopt_knapsack_problems *problems,
                                                const gpuopt_knapsack_report *report) {
    gpuopt_knapsack_problems p;
    gpuopt_knapsack_report r;
    gpuopt__knapsack_batch_job *job;
    const gpuopt_context *context = batch->context;
    gpuopt_status status;
    memset(&p, 0, sizeof p);
    memset(&r, 0, sizeof r);
    if (!GPUOPT__COPY_IN(context, call, gpuopt_knapsack_problems, &p, problems)) return GPUOPT_ERROR_ARGUMENT;
    if (report && !GPUOPT__COPY_IN(context, call, gpuopt_knapsack_report, &r, report)) return GPUOPT_ERROR_ARGUMENT;
    if (p.count < 0 || p.count > batch->desc.count)
        return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "count is negative, or exceeds the descriptor's");
    if (p.node_limit < 0) return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "node_limit is negative");
    status = gpuopt__check_where(context, call, where);
    if (!status) status = gpuopt__knapsack_batch_check_strides(batch, call, &p);
    if (status || p.count == 0) return status;
    if (!p.weight || !p.profit || !p.capacity)
        return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "weight, profit or capacity is NULL");
    job = &batch->job;
    job->where = where;
    job->count = p.count;
    job->node_limit = p.node_limit > 0 ? p.node_limit : +GPUOPT__KNAPSACK_BATCH_NODES;
    job->given.items = batch->desc.items;
    job->given.weight = p.weight;
    job->given.profit = p.profit;
    job->given.capacity = p.capacity;
    job->given.upper = p.copies_max;
    job->given.weight_stride = p.weight_stride;
    job->given.profit_stride = p.profit_stride;
    job->given.capacity_stride = p.capacity_stride;
    job->given.upper_stride = p.copies_max_stride;
    job->wanted.outcome = r.outcome;
    job->wanted.lower = r.primal_bound;
    job->wanted.upper = r.dual_bound;
    job->wanted.nodes = r.nodes;
    job->wanted.taken = r.copies;
    job->fault = GPUOPT__KNAPSACK_SMALL_NO_FAULT;
    status = gpuopt__knapsack_batch_backend(batch)->batch_run(batch);
    return status || job->fault == GPUOPT__KNAPSACK_SMALL_NO_FAULT ? status
                                                                   : gpuopt__knapsack_batch_refuse(batch, call);
}

GPUOPT_API gpuopt_status gpuopt_knapsack_batch_run(gpuopt_knapsack_batch *batch, gpuopt_memory_space where,
                                                   const gpuopt_knapsack_problems *problems,
                                                   const gpuopt_knapsack_report *report) {
    GPUOPT__CALL(batch, batch->context, gpuopt__knapsack_batch_run(batch, call, where, problems, report));
}

#endif /* GPUOPT_IMPL_KNAPSACK_BATCH_CALLS_H */
