/* SPDX-License-Identifier: MIT
 *
 * The plan of an elimination: order, policy, width of a cost, where each table lies. Made in scratch memory, then cut
 * into one block that lasts.
 */
#ifndef GPUOPT_IMPL_ELIMINATION_PLAN_H
#define GPUOPT_IMPL_ELIMINATION_PLAN_H

#include "backend.h"
#include "jobs.h"
#include "layout.h"
#include "order.h"
#include "step.h"

/* ---- Preparation ---- */

/* What a call needs until its plan stands. */
typedef struct gpuopt__elimination_preparation {
    gpuopt__elimination_scratch scratch;
    gpuopt_elimination_desc desc;              /* with defaults */
    gpuopt__elimination_function_range *range; /* [functions] */
    int32_t *order, *position;                 /* [variables] */
    int32_t *condition;                        /* [variables] */
    uint8_t *fixed;                            /* [variables] */
    gpuopt__elimination_draft draft;
    uint64_t base_bytes;
    void *base;
    uint64_t spread;   /* sum of the functions' spreads, saturated */
    int64_t least;     /* sum of their least costs */
    uint64_t positive; /* of those that are positive: no message's offset is larger */
} gpuopt__elimination_preparation;

/* Ranges of all functions, and their sums. */
static gpuopt_status gpuopt__elimination_measure_functions(gpuopt__elimination_preparation *prep, const char *call,
                                                           int32_t *mark) {
    const gpuopt_context *context = prep->scratch.context;
    const gpuopt_elimination_desc *d = &prep->desc;
    uint64_t sizes = 0, room_bytes = 0;
    double magnitudes = 0;
    gpuopt_status status = GPUOPT_OK;
    void *room;
    int32_t k;
    for (k = 0; k < d->functions && !status; k++)
        status = gpuopt__elimination_check_function(context, call, d, k, mark);
    if (status) return status;
    room_bytes = sizeof(int64_t) * (uint64_t)gpuopt__elimination_largest_list(d);
    room = gpuopt__elimination_scratch_take(&prep->scratch, room_bytes);
    if (!room) return prep->scratch.status;
    for (k = 0; k < d->functions && !status; k++) {
        gpuopt__elimination_function_range *r = &prep->range[k];
        status = gpuopt__elimination_function_range_of(context, call, d, k, room, r);
        if (status) break;
        sizes = gpuopt__elimination_saturated_sum(sizes, r->least < 0 ? 0 - (uint64_t)r->least : (uint64_t)r->least);
        if (r->least > 0) prep->positive = gpuopt__elimination_saturated_sum(prep->positive, (uint64_t)r->least);
        prep->spread = gpuopt__elimination_saturated_sum(prep->spread, r->spread);
        prep->least = (int64_t)((uint64_t)prep->least + (uint64_t)r->least);
        magnitudes += r->size;
    }
    gpuopt__elimination_scratch_give(&prep->scratch, room, room_bytes);
    if (!status && sizes > INT64_MAX)
        status = gpuopt__refuse(context, GPUOPT_ERROR_NUMERIC, call, "the sum of the least costs does not fit 63 bits");
    if (!status && !(magnitudes < HUGE_VAL))
        status = gpuopt__refuse(context, GPUOPT_ERROR_NUMERIC, call, "a sum of finite values could be infinite");
    return status;
}

/* From where on stored costs are forbidden. */
static gpuopt_status gpuopt__elimination_find_forbidden(gpuopt__elimination_preparation *prep, const char *call) {
    const gpuopt_elimination_desc *d = &prep->desc;
    int64_t top = d->top > 0 ? d->top : INT64_MAX;
    /* A sum of least costs beyond top forbids everything. */
    uint64_t limit = prep->least >= top ? 0 : (uint64_t)top - (uint64_t)prep->least;
    uint64_t beyond = gpuopt__elimination_saturated_sum(prep->spread, 1), forbidden = beyond < limit ? beyond : limit;
    prep->draft.plan.forbidden = forbidden;
    if (d->type == GPUOPT_COST_INT64 &&
        ((!d->top && beyond > limit) || gpuopt__elimination_saturated_sum(prep->positive, forbidden) > INT64_MAX))
        return gpuopt__refuse(prep->scratch.context, GPUOPT_ERROR_NUMERIC, call,
                              "the sum of the largest costs does not fit 63 bits");
    return GPUOPT_OK;
}

/* Positions from order and conditions. */
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
    gpuopt__elimination_scratch_give(scratch, draft->next, sizeof(int32_t) * (uint64_t)draft->next_room);
    gpuopt__elimination_scratch_give(scratch, prep->base, prep->base_bytes);
}

/* The order that is given, or searched for. */
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
    plan->steps = d->variables - d->condition_count;
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
    if (!status)
        status =
            gpuopt__elimination_search_order(&prep->scratch, &scopes, d->heuristic, d->restarts, d->seed, prep->order);
    gpuopt__elimination_scratch_give(&prep->scratch, scope, scope_bytes);
    gpuopt__elimination_scratch_give(&prep->scratch, start, start_bytes);
    return status;
}

/* Checks everything, measures the functions, finds the order; not yet the policy. End it in any case. */
static gpuopt_status gpuopt__elimination_prepare(const gpuopt_context *context, const char *call,
                                                 const gpuopt_elimination_desc *desc,
                                                 gpuopt__elimination_preparation *prep) {
    gpuopt_elimination_desc *d = &prep->desc;
    gpuopt__elimination_draft *draft = &prep->draft;
    gpuopt__arena arena;
    gpuopt_status status;
    int pass;
    memset(prep, 0, sizeof *prep);
    prep->scratch.context = context;
    status = gpuopt__elimination_check_desc(context, call, desc, d);
    if (status) return status;
    memset(&arena, 0, sizeof arena);
    for (pass = 0; pass < 2; pass++) {
        arena.used = 0;
        prep->range = (gpuopt__elimination_function_range *)gpuopt__cut(&arena, d->functions, sizeof *prep->range);
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
    draft->plan.copies = d->copies;
    draft->plan.slices = 1;
    draft->plan.sign = d->semiring == GPUOPT_SEMIRING_MAX_SUM ? -1 : 1;
    draft->plan.keep = d->keep == GPUOPT_ON;
    draft->plan.join_rest = d->join_rest != 0;
    draft->plan.type = d->type;
    draft->plan.semiring = d->semiring;
    draft->plan.order = prep->order;
    draft->plan.position = prep->position;
    status = gpuopt__elimination_check_variables(context, call, "condition", d, d->condition_count, d->condition,
                                                 prep->fixed);
    if (!status && d->condition_count)
        memcpy(prep->condition, d->condition, sizeof(int32_t) * (size_t)d->condition_count);
    draft->plan.conditions = draft->plan.host_conditions = d->condition_count;
    if (!status) status = gpuopt__elimination_measure_functions(prep, call, draft->mark);
    if (!status) status = gpuopt__elimination_find_forbidden(prep, call);
    if (!status) status = gpuopt__elimination_prepare_order(prep, call);
    if (!status) gpuopt__elimination_place_variables(prep);
    if (draft->mark && d->variables) memset(draft->mark, 0, sizeof(int32_t) * (size_t)d->variables);
    return status;
}

/* ---- Policy ---- */

/* Bytes of the memory that the limit is about. */
static uint64_t gpuopt__elimination_limited_bytes(const gpuopt_elimination_estimate *e) {
    return e->device_bytes ? e->device_bytes : e->host_bytes;
}

/* Whether the entries of all tables together can be counted: offsets into stores are then safe, in bytes too. */
static int gpuopt__elimination_countable(const gpuopt__elimination_draft *draft) {
    double all = 0;
    int64_t k;
    for (k = 0; k < draft->table.count; k++) {
        const gpuopt__elimination_table *t = gpuopt__elimination_draft_table(draft, (int32_t)k);
        all += (double)t->entries * (t->source == -1 ? 1 : draft->plan.copies) + GPUOPT__ELIMINATION_TABLE_ALIGN;
    }
    return all < (double)((int64_t)1 << 56);
}

/* Drafts with z, lays the tables out, and sets *fits. */
static gpuopt_status gpuopt__elimination_try_draft(gpuopt__elimination_preparation *prep, int32_t z, uint64_t limit,
                                                   int stream, gpuopt_elimination_estimate *e, int *fits) {
    gpuopt__elimination_draft *draft = &prep->draft;
    const struct gpuopt__elimination_backend *backend = prep->scratch.context->desc.backend->elimination;
    gpuopt_status status = gpuopt__elimination_draft_run(draft, z);
    *fits = 0;
    if (status || draft->too_large) return status;
    status = gpuopt__elimination_draft_jobs(draft);
    draft->too_large |= !gpuopt__elimination_countable(draft);
    if (!status && !draft->too_large)
        status = gpuopt__elimination_place_tables(draft, stream ? limit : 0, prep->desc.host_limit, fits);
    if (status || draft->too_large || (stream && !*fits)) return status;
    gpuopt__elimination_finish_jobs(draft);
    for (draft->plan.may_copy = 1; draft->plan.may_copy >= 0; draft->plan.may_copy--) {
        gpuopt__elimination_estimate(draft, e);
        e->host_bytes = gpuopt__elimination_plan_bytes(draft);
        backend->size(prep->scratch.context, &draft->plan, e);
        *fits = gpuopt__elimination_limited_bytes(e) <= limit;
        if (*fits || draft->plan.may_copy == 0) break;
    }
    return GPUOPT_OK;
}

/* The variable whose fixing takes most entries off the messages; -1: none is left. *all: entries of all messages. */
static int32_t gpuopt__elimination_best_slice(gpuopt__elimination_preparation *prep, double *gain, double *all) {
    gpuopt__elimination_draft *draft = &prep->draft;
    int32_t v, best = -1, k, j;
    *all = 0;
    for (v = 0; v < draft->plan.variables; v++) gain[v] = 0;
    for (k = draft->plan.first_message; k < draft->plan.first_message + draft->plan.messages; k++) {
        const gpuopt__elimination_table *t = gpuopt__elimination_draft_table(draft, k);
        const int32_t *scope = gpuopt__elimination_draft_scope(draft, t);
        double entries = 1;
        for (j = 0; j < t->arity; j++) entries *= draft->desc->domain[scope[j]];
        for (j = 0; j < t->arity; j++) gain[scope[j]] += entries - entries / draft->desc->domain[scope[j]];
        if (t->source < draft->plan.steps) gain[draft->plan.order[t->source]] += entries;
        *all += entries;
    }
    for (v = 0; v < draft->plan.variables; v++)
        if (draft->plan.position[v] >= 0 && draft->plan.position[v] < draft->plan.steps && draft->desc->domain[v] > 1 &&
            (best < 0 || gain[v] > gain[best]))
            best = v;
    return best;
}

/* Fixes one more variable. */
static void gpuopt__elimination_slice_variable(gpuopt__elimination_preparation *prep, int32_t variable) {
    gpuopt__elimination_plan *plan = &prep->draft.plan;
    int32_t k, kept = 0;
    for (k = 0; k < plan->steps; k++)
        if (prep->order[k] != variable) prep->order[kept++] = prep->order[k];
    plan->steps = kept;
    prep->condition[plan->conditions++] = variable;
    plan->slices *= prep->desc.domain[variable];
    gpuopt__elimination_place_variables(prep);
}

/* More are not worth beginning with; of AUTO: slices repeat work, and past these another policy is the better one. */
#define GPUOPT__ELIMINATION_MOST_SLICES ((int64_t)1 << 32)
#define GPUOPT__ELIMINATION_AUTO_SLICES 65536
#define GPUOPT__ELIMINATION_AUTO_REPEATED 64

/* Slices, up to `most`, until the rest fits, or until that is hopeless: so many make no message smaller than by that
 * factor, and a cost has a byte at least. */
static gpuopt_status gpuopt__elimination_try_slices(gpuopt__elimination_preparation *prep, uint64_t limit, int64_t most,
                                                    gpuopt_elimination_estimate *e, int *fits) {
    gpuopt__elimination_plan *plan = &prep->draft.plan;
    uint64_t bytes = sizeof(double) * (uint64_t)plan->variables;
    double *gain = (double *)gpuopt__elimination_scratch_take(&prep->scratch, bytes), entries;
    gpuopt_status status = prep->scratch.status;
    while (!status && !*fits && !prep->draft.gave_up) {
        int32_t variable = gpuopt__elimination_best_slice(prep, gain, &entries);
        if (variable < 0 || plan->slices > most / prep->desc.domain[variable]) break;
        if (entries * (double)plan->slices / (double)most > (double)limit) break;
        gpuopt__elimination_slice_variable(prep, variable);
        status = gpuopt__elimination_try_draft(prep, 0, limit, 0, e, fits);
    }
    gpuopt__elimination_scratch_give(&prep->scratch, gain, bytes);
    return status;
}

/* Back to where no variable is sliced. */
static void gpuopt__elimination_unslice(gpuopt__elimination_preparation *prep, const int32_t *order, int32_t steps) {
    gpuopt__elimination_plan *plan = &prep->draft.plan;
    if (steps) memcpy(prep->order, order, sizeof(int32_t) * (size_t)steps);
    plan->steps = steps;
    plan->conditions = plan->host_conditions;
    plan->slices = 1;
    gpuopt__elimination_place_variables(prep);
}

/* The largest z that fits. */
static gpuopt_status gpuopt__elimination_try_mini_buckets(gpuopt__elimination_preparation *prep, uint64_t limit,
                                                          gpuopt_elimination_estimate *e, int *fits) {
    int32_t low = 0, high = prep->desc.variables > 0 ? prep->desc.variables : 1,
            z;     /* low fits, or is 0; above high nothing does */
    int found = 0; /* what high says */
    gpuopt_status status = GPUOPT_OK;
    if (prep->desc.z > 0) return gpuopt__elimination_try_draft(prep, prep->desc.z, limit, 0, e, fits);
    while (low < high && !status) {
        z = found ? low + (high - low + 1) / 2 : low ? 2 * low : 16;
        if (z > high) z = high;
        status = gpuopt__elimination_try_draft(prep, z, limit, 0, e, fits);
        if (*fits) low = z;
        else high = z - 1;
        found |= !*fits;
    }
    return status || low == 0 ? status : gpuopt__elimination_try_draft(prep, low, limit, 0, e, fits);
}

static gpuopt_status gpuopt__elimination_choose_policy(gpuopt__elimination_preparation *prep, const char *call,
                                                       uint64_t limit, gpuopt_elimination_estimate *e) {
    const gpuopt_elimination_desc *d = &prep->desc;
    const struct gpuopt__elimination_backend *backend = prep->scratch.context->desc.backend->elimination;
    int automatic = d->policy == GPUOPT_POLICY_AUTO, fits = 0;
    int32_t steps = prep->draft.plan.steps, *order;
    uint64_t bytes = sizeof(int32_t) * (uint64_t)steps;
    gpuopt_status status = GPUOPT_OK;
    gpuopt_elimination_policy policy = d->policy;
    if (policy == GPUOPT_POLICY_STREAM && !backend->has_stream)
        return gpuopt__refuse(prep->scratch.context, GPUOPT_ERROR_UNSUPPORTED, call,
                              "STREAM: this backend's tables are in host memory already");
    order = (int32_t *)gpuopt__elimination_scratch_take(&prep->scratch, bytes);
    if (!order) return prep->scratch.status;
    if (steps) memcpy(order, prep->order, (size_t)bytes);
    if (policy != GPUOPT_POLICY_MINI_BUCKET) {
        policy = GPUOPT_POLICY_EXACT;
        status = gpuopt__elimination_try_draft(prep, 0, limit, 0, e, &fits);
    }
    /* Not where the order leaves variables over: the best slice would be another one for each of their values. */
    if (!status && !fits && d->copies == 1 && steps + d->condition_count == d->variables &&
        (automatic || d->policy == GPUOPT_POLICY_SLICE)) {
        double direct = prep->draft.too_large ? HUGE_VAL : e->operations;
        policy = GPUOPT_POLICY_SLICE;
        status = gpuopt__elimination_try_slices(
            prep, limit, automatic ? GPUOPT__ELIMINATION_AUTO_SLICES : GPUOPT__ELIMINATION_MOST_SLICES, e, &fits);
        if (automatic && e->operations > GPUOPT__ELIMINATION_AUTO_REPEATED * direct) fits = 0;
        if (!status && !fits) gpuopt__elimination_unslice(prep, order, steps);
    }
    /* Not unasked without a limit: what the host has left is not known here, and all of it would be touched. */
    if (!status && !fits && d->copies == 1 && backend->has_stream &&
        (automatic ? d->host_limit > 0 : d->policy == GPUOPT_POLICY_STREAM)) {
        policy = GPUOPT_POLICY_STREAM;
        status = gpuopt__elimination_try_draft(prep, 0, limit, 1, e, &fits);
    }
    if (!status && !fits && d->semiring != GPUOPT_SEMIRING_MIN_COUNT &&
        (automatic || d->policy == GPUOPT_POLICY_MINI_BUCKET)) {
        policy = GPUOPT_POLICY_MINI_BUCKET;
        status = gpuopt__elimination_try_mini_buckets(prep, limit, e, &fits);
    }
    gpuopt__elimination_scratch_give(&prep->scratch, order, bytes);
    if (!status && !fits) {
        gpuopt__log(prep->scratch.context, 0, "%s: the tables need %.6g bytes, and %.6g may be used", call,
                    prep->draft.too_large ? HUGE_VAL : (double)gpuopt__elimination_limited_bytes(e), (double)limit);
        status = GPUOPT_ERROR_UNSUPPORTED;
    }
    prep->draft.plan.policy = e->policy = policy;
    return status;
}

/* What is prepared, with a policy that fits. create_bytes: of the host, what making the plan takes at any time, or what
 * is left of it while functions are loaded; the handle's own bytes are there only then. */
static gpuopt_status gpuopt__elimination_make_plan(gpuopt__elimination_preparation *prep, const char *call,
                                                   gpuopt_elimination_estimate *e) {
    const gpuopt_context *context = prep->scratch.context;
    uint64_t limit = prep->desc.memory_limit, rooms[3];
    gpuopt_status status;
    int k;
    memset(e, 0, sizeof *e);
    if (!limit) limit = context->desc.backend->elimination->free_bytes(context);
    status = gpuopt__elimination_choose_policy(prep, call, limit, e);
    if (status) return status;
    gpuopt__elimination_load_rooms(&prep->desc, &prep->draft, rooms);
    e->create_bytes += prep->scratch.bytes;
    for (k = 0; k < 3; k++) e->create_bytes += gpuopt__elimination_scratch_size(rooms[k]);
    if (e->host_bytes + e->create_bytes < prep->scratch.most) e->create_bytes = prep->scratch.most - e->host_bytes;
    return GPUOPT_OK;
}

#endif /* GPUOPT_IMPL_ELIMINATION_PLAN_H */
