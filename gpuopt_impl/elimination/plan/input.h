/* SPDX-License-Identifier: MIT
 *
 * Elimination, the input of a plan: a checked descriptor with its messages as functions, their ranges, and an order.
 */
#ifndef GPUOPT_IMPL_ELIMINATION_PLAN_INPUT_H
#define GPUOPT_IMPL_ELIMINATION_PLAN_INPUT_H

#include "../order/search.h"
#include "buckets.h"

/* ---- Preparation ---- */

/* The data of a call until its plan is complete. */
typedef struct gpuopt__elimination_preparation {
    gpuopt__elimination_scratch scratch;
    gpuopt_elimination_desc desc;              /* with defaults */
    gpuopt__elimination_options options;       /* of desc */
    gpuopt__elimination_function_range *range; /* [functions] */
    int32_t *order, *position;                 /* [variables] */
    int32_t *condition;                        /* [variables] */
    uint8_t *fixed;                            /* [variables] */
    gpuopt__elimination_draft draft;
    uint64_t base_bytes;
    void *base;
    uint64_t spread;   /* sum of the functions' spreads, saturated */
    int64_t least;     /* sum of the functions' least costs */
    uint64_t positive; /* sum of the positive least costs: no message's offset is larger */
    /* The memory of each policy tried: see gpuopt_elimination_estimate. */
    uint64_t policy_bytes[GPUOPT__ELIMINATION_POLICIES];
    double policy_operations[GPUOPT__ELIMINATION_POLICIES];
    int32_t large_variable, large_width; /* of the largest message without slices or mini-buckets */
    double large_size;                   /* log2 of its entries */
} gpuopt__elimination_preparation;

/* Finds the ranges of all functions, and their sums. */
static gpuopt_status gpuopt__elimination_measure_functions(gpuopt__elimination_preparation *prep, const char *call,
                                                           int32_t *mark) {
    const gpuopt_context *context = prep->scratch.context;
    const gpuopt_elimination_desc *d = &prep->desc;
    uint64_t sizes = 0, scratch_bytes = 0;
    double magnitudes = 0;
    gpuopt_status status = GPUOPT_OK;
    int64_t *scratch;
    int32_t k;
    for (k = 0; k < d->functions && !status; k++)
        status = gpuopt__elimination_check_function(context, call, d, k, mark);
    if (status) return status;
    scratch_bytes = sizeof(int64_t) * (uint64_t)gpuopt__elimination_most_slots(d);
    scratch = (int64_t *)gpuopt__elimination_scratch_take(&prep->scratch, scratch_bytes);
    if (!scratch) return prep->scratch.status;
    for (k = 0; k < d->functions && !status; k++) {
        gpuopt__elimination_function_range *r = &prep->range[k];
        status = gpuopt__elimination_function_range_of(context, call, d, k, scratch, r);
        if (status) break;
        sizes = gpuopt__elimination_saturated_sum(sizes, r->least < 0 ? 0 - (uint64_t)r->least : (uint64_t)r->least);
        if (r->least > 0) prep->positive = gpuopt__elimination_saturated_sum(prep->positive, (uint64_t)r->least);
        prep->spread = gpuopt__elimination_saturated_sum(prep->spread, r->spread);
        prep->least = (int64_t)((uint64_t)prep->least + (uint64_t)r->least);
        magnitudes += r->size;
    }
    gpuopt__elimination_scratch_give(&prep->scratch, scratch, scratch_bytes);
    if (!status && sizes > INT64_MAX)
        status = gpuopt__refuse(context, GPUOPT_ERROR_NUMERIC, call, "the sum of the least costs does not fit 63 bits");
    if (!status && !(magnitudes < HUGE_VAL))
        status = gpuopt__refuse(context, GPUOPT_ERROR_NUMERIC, call, "a sum of finite values could be infinite");
    return status;
}

/* Finds the least stored cost that is forbidden. */
static gpuopt_status gpuopt__elimination_find_forbidden(gpuopt__elimination_preparation *prep, const char *call) {
    const gpuopt_elimination_desc *d = &prep->desc;
    int64_t top = d->top > 0 ? d->top : INT64_MAX;
    /* If the sum of the least costs exceeds top, everything is forbidden. */
    uint64_t limit = prep->least >= top ? 0 : (uint64_t)top - (uint64_t)prep->least;
    uint64_t beyond = gpuopt__elimination_saturated_sum(prep->spread, 1), forbidden = beyond < limit ? beyond : limit;
    prep->draft.plan.forbidden = forbidden;
    if (d->type == GPUOPT_COST_INT64 &&
        ((!d->top && beyond > limit) || gpuopt__elimination_saturated_sum(prep->positive, forbidden) > INT64_MAX))
        return gpuopt__refuse(prep->scratch.context, GPUOPT_ERROR_NUMERIC, call,
                              "the sum of the largest costs does not fit 63 bits");
    return GPUOPT_OK;
}

/* Sets the positions of all variables from order and evidence. */
static void gpuopt__elimination_place_variables(gpuopt__elimination_preparation *prep) {
    gpuopt__elimination_plan *plan = &prep->draft.plan;
    int32_t k;
    for (k = 0; k < plan->variables; k++) prep->position[k] = plan->steps + k;
    for (k = 0; k < plan->steps; k++) prep->position[prep->order[k]] = k;
    for (k = 0; k < plan->conditions; k++) prep->position[prep->condition[k]] = -1;
    plan->units = plan->steps + (plan->join_rest || plan->steps == 0);
}

static void gpuopt__elimination_preparation_end(gpuopt__elimination_preparation *prep) {
    gpuopt__elimination_scratch *scratch = &prep->scratch;
    gpuopt__elimination_draft *draft = &prep->draft;
    gpuopt__elimination_list_free(scratch, &draft->table);
    gpuopt__elimination_list_free(scratch, &draft->bucket);
    gpuopt__elimination_list_free(scratch, &draft->scope);
    gpuopt__elimination_list_free(scratch, &draft->stride);
    gpuopt__elimination_list_free(scratch, &draft->input);
    gpuopt__elimination_list_free(scratch, &draft->job);
    gpuopt__elimination_list_free(scratch, &draft->operand);
    gpuopt__elimination_list_free(scratch, &draft->digit);
    gpuopt__elimination_scratch_give(scratch, draft->next, sizeof(int32_t) * (uint64_t)draft->next_capacity);
    gpuopt__elimination_scratch_give(scratch, prep->base, prep->base_bytes);
}

/* Takes the given order, or searches for one. */
static gpuopt_status gpuopt__elimination_prepare_order(gpuopt__elimination_preparation *prep, const char *call) {
    const gpuopt_elimination_desc *d = &prep->desc;
    gpuopt__elimination_plan *plan = &prep->draft.plan;
    gpuopt__elimination_scopes scopes;
    uint64_t start_bytes = sizeof(int64_t) * ((uint64_t)d->functions + 1), scope_bytes;
    int64_t *start;
    int32_t *scope, k;
    gpuopt_status status;
    if (d->order) {
        status = gpuopt__elimination_check_variables(prep->scratch.context, call, "order", d, d->order_count, d->order,
                                                     prep->fixed);
        if (!status && d->order_count) memcpy(prep->order, d->order, sizeof(int32_t) * (size_t)d->order_count);
        plan->steps = d->order_count;
        return status;
    }
    plan->steps = d->variables - d->evidence_count;
    start = (int64_t *)gpuopt__elimination_scratch_take(&prep->scratch, start_bytes);
    if (!start) return prep->scratch.status;
    start[0] = 0;
    for (k = 0; k < d->functions; k++) start[k + 1] = start[k] + d->function[k].arity;
    scope_bytes = sizeof(int32_t) * (uint64_t)start[d->functions];
    scope = (int32_t *)gpuopt__elimination_scratch_take(&prep->scratch, scope_bytes);
    for (k = 0; scope && k < d->functions; k++)
        if (d->function[k].arity)
            memcpy(scope + start[k], d->function[k].scope, sizeof(int32_t) * (size_t)d->function[k].arity);
    scopes.variables = d->variables;
    scopes.functions = d->functions;
    scopes.domain = d->domain;
    scopes.start = start;
    scopes.scope = scope;
    scopes.fixed = prep->fixed;
    status = prep->scratch.status;
    if (!status) status = gpuopt__elimination_search_order(&prep->scratch, &scopes, d, prep->order);
    gpuopt__elimination_scratch_give(&prep->scratch, scope, scope_bytes);
    gpuopt__elimination_scratch_give(&prep->scratch, start, start_bytes);
    return status;
}

/* Checks everything, measures the functions and finds the order, but does not choose a policy. prep must be ended in
 * any case. */
static gpuopt_status gpuopt__elimination_prepare(gpuopt_context *context, const char *call,
                                                 const gpuopt_elimination_desc *desc,
                                                 gpuopt__elimination_preparation *prep) {
    gpuopt_elimination_desc *d = &prep->desc;
    gpuopt__elimination_draft *draft = &prep->draft;
    gpuopt_elimination_function *function = NULL;
    gpuopt__elimination_packed *packed = NULL;
    gpuopt__arena arena;
    gpuopt_status status;
    int pass;
    memset(prep, 0, sizeof *prep);
    prep->scratch.context = context;
    status = gpuopt__elimination_check_desc(context, call, desc, d, &prep->options);
    if (status) return status;
    memset(&arena, 0, sizeof arena);
    for (pass = 0; pass < 2; pass++) {
        arena.used = 0;
        prep->range = (gpuopt__elimination_function_range *)gpuopt__cut(
            &arena, (int64_t)d->functions + d->messages->count, sizeof *prep->range);
        function = (gpuopt_elimination_function *)gpuopt__cut(
            &arena, d->messages->count ? (int64_t)d->functions + d->messages->count : 0, sizeof *function);
        packed = (gpuopt__elimination_packed *)gpuopt__cut(&arena, d->messages->count, sizeof *packed);
        prep->order = (int32_t *)gpuopt__cut(&arena, d->variables, sizeof(int32_t));
        prep->position = (int32_t *)gpuopt__cut(&arena, d->variables, sizeof(int32_t));
        prep->condition = (int32_t *)gpuopt__cut(&arena, d->variables, sizeof(int32_t));
        prep->fixed = (uint8_t *)gpuopt__cut(&arena, d->variables, 1);
        draft->mark = (int32_t *)gpuopt__cut(&arena, d->variables, sizeof(int32_t));
        draft->head = (int32_t *)gpuopt__cut(&arena, (int64_t)d->variables + 2, sizeof(int32_t));
        draft->tail = (int32_t *)gpuopt__cut(&arena, (int64_t)d->variables + 2, sizeof(int32_t));
        if (pass) break;
        prep->base_bytes = arena.used;
        prep->base = gpuopt__elimination_scratch_take(&prep->scratch, arena.used);
        if (!prep->base) return prep->scratch.status;
        memset(prep->base, 0, (size_t)arena.used);
        arena.base = (char *)prep->base;
    }
    if (d->messages->count) status = gpuopt__elimination_take_messages(context, call, d, function, packed);
    if (status) return status;
    draft->scratch = &prep->scratch;
    draft->desc = d;
    draft->range = prep->range;
    draft->table.size = sizeof(gpuopt__elimination_table);
    draft->bucket.size = sizeof(gpuopt__elimination_bucket);
    draft->scope.size = draft->input.size = sizeof(int32_t);
    draft->stride.size = draft->digit.size = sizeof(int64_t);
    draft->job.size = sizeof(gpuopt__elimination_job);
    draft->operand.size = sizeof(gpuopt__elimination_operand);
    draft->plan.variables = d->variables;
    for (pass = 0; pass < d->variables; pass++)
        if (d->domain[pass] > draft->plan.largest_domain) draft->plan.largest_domain = d->domain[pass];
    draft->plan.functions = d->functions;
    draft->plan.copies = d->batch_size;
    draft->plan.slices = 1;
    draft->plan.staged = context->desc.backend->copy ? GPUOPT__ELIMINATION_STAGED : 0;
    draft->plan.sign = d->semiring == GPUOPT_SEMIRING_MAX_SUM ? -1 : 1;
    draft->plan.passes = 1;
    draft->plan.join_rest = d->messages->join_rest != 0;
    draft->plan.type = d->type;
    draft->plan.semiring = d->semiring;
    draft->plan.order = prep->order;
    draft->plan.position = prep->position;
    status =
        gpuopt__elimination_check_variables(context, call, "evidence", d, d->evidence_count, d->evidence, prep->fixed);
    if (!status && d->evidence_count) memcpy(prep->condition, d->evidence, sizeof(int32_t) * (size_t)d->evidence_count);
    draft->plan.conditions = draft->plan.host_conditions = d->evidence_count;
    if (!status) status = gpuopt__elimination_measure_functions(prep, call, draft->mark);
    if (!status) status = gpuopt__elimination_find_forbidden(prep, call);
    if (!status) status = gpuopt__elimination_prepare_order(prep, call);
    if (!status) gpuopt__elimination_place_variables(prep);
    if (draft->mark && d->variables) memset(draft->mark, 0, sizeof(int32_t) * (size_t)d->variables);
    return status;
}

/* The part that the public calls share: checks the arguments and prepares a plan. prep must be ended in any case.
 * fault: of the place for the result. */
static gpuopt_status gpuopt__elimination_begin(gpuopt_context *context, const char *call,
                                               const gpuopt_elimination_desc *desc, gpuopt_status fault,
                                               gpuopt__elimination_preparation *prep) {
    memset(prep, 0, sizeof *prep);
    if (!desc) return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "desc is NULL");
    return fault ? fault : gpuopt__elimination_prepare(context, call, desc, prep);
}

#endif /* GPUOPT_IMPL_ELIMINATION_PLAN_INPUT_H */
