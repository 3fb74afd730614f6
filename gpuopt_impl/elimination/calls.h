/* SPDX-License-Identifier: MIT
 *
 * Elimination: the public calls. Arguments are checked here, for every backend, so that a backend sees only good ones.
 */
#ifndef GPUOPT_IMPL_ELIMINATION_CALLS_H
#define GPUOPT_IMPL_ELIMINATION_CALLS_H

#include "handle.h"

/* ---- Plans ---- */

/* What the public calls have in common: arguments, then what comes before a plan. prep is to be ended in any case. */
static gpuopt_status gpuopt__elimination_begin(gpuopt_context *context, const char *call,
                                               const gpuopt_elimination_desc *desc, int wanted,
                                               gpuopt__elimination_preparation *prep) {
    memset(prep, 0, sizeof *prep);
    if (!desc || !wanted)
        return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call,
                              desc ? "the result is NULL or has no struct_size" : "desc is NULL");
    return gpuopt__elimination_prepare(context, call, desc, prep);
}

/* parent [variables] as gpuopt_elimination_order gives it. */
static gpuopt_status gpuopt__elimination_find_parents(gpuopt__elimination_preparation *prep, const char *call,
                                                      int32_t *parent) {
    const gpuopt__elimination_draft *draft = &prep->draft;
    gpuopt_status status = gpuopt__elimination_draft_run(&prep->draft, 0);
    int32_t k;
    if (!status && draft->gave_up)
        status =
            gpuopt__refuse(prep->scratch.context, GPUOPT_ERROR_UNSUPPORTED, call, "the tree is too wide for parent");
    for (k = 0; k < prep->desc.variables; k++) parent[k] = -1;
    for (k = 0; !status && k < (int32_t)draft->bucket.count; k++) {
        const gpuopt__elimination_bucket *b = (gpuopt__elimination_bucket *)draft->bucket.data + k;
        int32_t to = gpuopt__elimination_draft_table(draft, b->message)->bucket;
        if (b->variable >= 0 && to < draft->plan.steps) parent[b->variable] = prep->order[to];
    }
    return status;
}

GPUOPT_API gpuopt_status gpuopt_elimination_order(gpuopt_context *context, const gpuopt_elimination_desc *desc,
                                                  int32_t *order, int32_t *parent,
                                                  gpuopt_elimination_estimate *estimate) {
    static const char call[] = "gpuopt_elimination_order";
    gpuopt__elimination_preparation prep;
    gpuopt_elimination_estimate e;
    gpuopt_status status;
    int32_t *found = NULL, variables = 0, k;
    uint64_t bytes = 0;
    if (!context) return GPUOPT_ERROR_ARGUMENT;
    status = gpuopt__elimination_begin(context, call, desc, !estimate || GPUOPT__HAS_SIZE(estimate), &prep);
    if (!status) { /* a plan may slice, and may fail: what it does not change is kept apart */
        variables = prep.desc.variables;
        bytes = 2 * sizeof(int32_t) * (uint64_t)variables;
        found = (int32_t *)gpuopt__elimination_scratch_take(&prep.scratch, bytes);
        status = prep.scratch.status;
    }
    for (k = 0; !status && k < variables; k++) found[k] = k < prep.draft.plan.steps ? prep.order[k] : -1;
    if (!status && parent) status = gpuopt__elimination_find_parents(&prep, call, found + variables);
    if (!status && estimate) status = gpuopt__elimination_make_plan(&prep, call, &e);
    if (!status && estimate) gpuopt__copy_out(estimate, estimate->struct_size, &e, sizeof e);
    if (!status && order) memcpy(order, found, (size_t)bytes / 2);
    if (!status && parent) memcpy(parent, found + variables, (size_t)bytes / 2);
    gpuopt__elimination_scratch_give(&prep.scratch, found, bytes);
    gpuopt__elimination_preparation_end(&prep);
    return status;
}

GPUOPT_API gpuopt_status gpuopt_elimination_plan(gpuopt_context *context, const gpuopt_elimination_desc *desc,
                                                 gpuopt_elimination_estimate *estimate) {
    static const char call[] = "gpuopt_elimination_plan";
    gpuopt__elimination_preparation prep;
    gpuopt_elimination_estimate e;
    gpuopt_status status;
    if (!context) return GPUOPT_ERROR_ARGUMENT;
    status = gpuopt__elimination_begin(context, call, desc, GPUOPT__HAS_SIZE(estimate), &prep);
    if (!status) status = gpuopt__elimination_make_plan(&prep, call, &e);
    gpuopt__elimination_preparation_end(&prep);
    if (!status) gpuopt__copy_out(estimate, estimate->struct_size, &e, sizeof e);
    return status;
}

/* ---- Loading ---- */

/* A function's table in the order in which it is stored, narrowed. at [arity]: scratch. */
static void gpuopt__elimination_store_function(const gpuopt_elimination_desc *d, const gpuopt__elimination_plan *plan,
                                               const gpuopt__elimination_table *t, void *room, void *cost,
                                               uint64_t *count) {
    const gpuopt_elimination_function *f = &d->function[t->function];
    const int64_t *from =
        d->type == GPUOPT_COST_INT64 ? gpuopt__elimination_dense_costs(d, f, t->entries, (int64_t *)room) : NULL;
    const double *value = from ? NULL : gpuopt__elimination_dense_values(d, f, t->entries, (double *)room);
    const int32_t *scope = plan->scope + t->scope;
    const int64_t *stride = plan->stride + t->scope;
    int32_t digit[GPUOPT__ELIMINATION_MOST_DIGITS], other[GPUOPT__ELIMINATION_MOST_DIGITS], j, k, free_digits = 0;
    int64_t step[GPUOPT__ELIMINATION_MOST_DIGITS], to = 0, i;
    for (j = 0; j < f->arity; j++) { /* digits of the host's table, but for those of one value */
        if (plan->domain[f->scope[j]] == 1) continue;
        for (k = 0; scope[k] != f->scope[j]; k++) {}
        other[free_digits] = plan->domain[f->scope[j]];
        step[free_digits] = stride[k];
        digit[free_digits++] = 0;
    }
    for (i = 0; i < t->entries; i++) {
        if (value) ((double *)cost)[to] = gpuopt__elimination_inner_value(d, value[i]);
        else {
            int64_t inner = gpuopt__elimination_inner_cost(d, from[i]);
            uint64_t u = inner == INT64_MAX ? plan->forbidden : (uint64_t)inner - (uint64_t)t->offset;
            if (u > plan->forbidden) u = plan->forbidden;
            if (plan->bits == 8) ((uint8_t *)cost)[to] = (uint8_t)u;
            else if (plan->bits == 16) ((uint16_t *)cost)[to] = (uint16_t)u;
            else if (plan->bits == 32) ((uint32_t *)cost)[to] = (uint32_t)u;
            else ((uint64_t *)cost)[to] = u;
        }
        if (count) count[to] = f->count[i];
        for (j = free_digits - 1; j >= 0; j--) {
            to += step[j];
            if (++digit[j] < other[j]) break;
            to -= step[j] * other[j];
            digit[j] = 0;
        }
    }
}

static gpuopt_status gpuopt__elimination_load_functions(gpuopt_elimination *e, gpuopt__elimination_preparation *prep) {
    const struct gpuopt__elimination_backend *backend = gpuopt__elimination_backend_of(e);
    uint64_t rooms[3];
    void *room[3] = {NULL, NULL, NULL};
    gpuopt_status status = GPUOPT_OK;
    int32_t k;
    gpuopt__elimination_load_rooms(&prep->desc, &prep->draft, rooms);
    for (k = 0; k < 3; k++) room[k] = gpuopt__elimination_scratch_take(&prep->scratch, rooms[k]);
    status = prep->scratch.status;
    for (k = 0; k < e->plan.first_message && !status; k++) {
        const gpuopt__elimination_table *t = &e->plan.table[k];
        uint64_t *count = t->count_at < 0 ? NULL : (uint64_t *)room[2];
        gpuopt__elimination_store_function(&prep->desc, &e->plan, t, room[0], room[1], count);
        status = backend->load(e, k, room[1], count);
    }
    if (!status) status = backend->loaded(e);
    for (k = 0; k < 3; k++) gpuopt__elimination_scratch_give(&prep->scratch, room[k], rooms[k]);
    return status;
}

/* ---- Life ---- */

GPUOPT_API void gpuopt_elimination_destroy(gpuopt_elimination *elimination) {
    gpuopt_context *context;
    void *block;
    if (!elimination) return;
    context = elimination->context;
    block = elimination->block;
    gpuopt__elimination_backend_of(elimination)->destroy(elimination);
    gpuopt__release(context, GPUOPT_HOST, block);
}

static gpuopt_status gpuopt__elimination_build(gpuopt_context *context, gpuopt__elimination_preparation *prep,
                                               gpuopt_elimination **elimination) {
    gpuopt__elimination_plan plan;
    gpuopt_elimination *e = NULL;
    void *block;
    int32_t k;
    gpuopt_status status = gpuopt__allocate(context, GPUOPT_HOST, gpuopt__elimination_plan_bytes(&prep->draft), &block);
    if (status) return status;
    gpuopt__elimination_copy_plan(&prep->draft, prep->condition, block, &plan);
    status = context->desc.backend->elimination->create(context, &plan, &e);
    if (status) {
        gpuopt__release(context, GPUOPT_HOST, block);
        return status;
    }
    e->context = context;
    e->plan = plan;
    e->block = block;
    e->done = 0;
    e->held = -1;
    e->variable = -1;
    e->exact = 1;
    for (k = 0; k < plan.buckets; k++) e->exact &= plan.bucket[k].part == 0;
    for (k = 0; k < plan.copies; k++) gpuopt__elimination_set_offsets(&e->plan, k, e->plan.value_of);
    status = gpuopt__elimination_load_functions(e, prep);
    if (!status) status = context->desc.backend->elimination->condition(e, plan.offset);
    if (status) gpuopt_elimination_destroy(e);
    else *elimination = e;
    return status;
}

GPUOPT_API gpuopt_status gpuopt_elimination_create(gpuopt_context *context, const gpuopt_elimination_desc *desc,
                                                   gpuopt_elimination **elimination) {
    static const char call[] = "gpuopt_elimination_create";
    gpuopt__elimination_preparation prep;
    gpuopt_elimination_estimate e;
    gpuopt_status status;
    if (!context) return GPUOPT_ERROR_ARGUMENT;
    if (elimination) *elimination = NULL;
    status = gpuopt__elimination_begin(context, call, desc, elimination != NULL, &prep);
    if (!status) status = gpuopt__elimination_make_plan(&prep, call, &e);
    if (!status) status = gpuopt__elimination_build(context, &prep, elimination);
    gpuopt__elimination_preparation_end(&prep);
    return status;
}

GPUOPT_API gpuopt_status gpuopt_elimination_set_condition(gpuopt_elimination *elimination, int32_t copy,
                                                          const int32_t *value) {
    static const char call[] = "gpuopt_elimination_set_condition";
    gpuopt__elimination_plan *plan;
    int32_t k;
    if (!elimination) return GPUOPT_ERROR_ARGUMENT;
    plan = &elimination->plan;
    if (copy < 0 || copy >= plan->copies || (plan->host_conditions > 0 && !value))
        return gpuopt__refuse(elimination->context, GPUOPT_ERROR_ARGUMENT, call, "copy is out of range, or value NULL");
    for (k = 0; k < plan->host_conditions; k++)
        if (value[k] < 0 || value[k] >= plan->domain[plan->condition[k]]) {
            gpuopt__log(elimination->context, 0, "%s: value[%d] = %d is not in the domain of variable %d", call, (int)k,
                        (int)value[k], (int)plan->condition[k]);
            return GPUOPT_ERROR_ARGUMENT;
        }
    for (k = 0; k < plan->host_conditions; k++) plan->fixed_value[(int64_t)copy * plan->conditions + k] = value[k];
    gpuopt__elimination_set_offsets(plan, copy, plan->value_of);
    elimination->done = 0;
    elimination->held = -1;
    elimination->variable = -1;
    return gpuopt__elimination_backend_of(elimination)->condition(elimination, plan->offset);
}

/* ---- Steps ---- */

static gpuopt_status gpuopt__elimination_info_of(gpuopt_elimination *e, int32_t copy, gpuopt_elimination_info *info) {
    const gpuopt__elimination_plan *plan = &e->plan;
    gpuopt__elimination_total total;
    gpuopt_status status;
    int64_t offset = 0;
    int32_t k;
    info->outcome = GPUOPT_MORE;
    info->variable = e->variable;
    info->eliminated = e->done;
    info->steps = gpuopt__elimination_all_units(e);
    if (e->done < info->steps) return GPUOPT_OK;
    status = gpuopt__elimination_backend_of(e)->total(e, copy, &total);
    if (status) return status;
    for (k = 0; k < plan->roots; k++) offset += plan->table[plan->root[k]].offset;
    info->outcome = e->exact && plan->steps + plan->conditions == plan->variables ? GPUOPT_OPTIMAL : GPUOPT_CONVERGED;
    if (plan->type == GPUOPT_COST_DOUBLE) {
        info->value = plan->sign * total.value;
        if (total.value == gpuopt__elimination_worst_value(plan->semiring)) info->outcome = GPUOPT_INFEASIBLE;
    } else if (total.cost >= plan->forbidden) info->outcome = GPUOPT_INFEASIBLE;
    else {
        info->cost = plan->sign * (offset + (int64_t)total.cost);
        info->count = plan->semiring == GPUOPT_SEMIRING_MIN_COUNT ? total.count : 0;
        info->count_overflow = info->count == UINT64_MAX;
    }
    return GPUOPT_OK;
}

static gpuopt_status gpuopt__elimination_fill_info(gpuopt_elimination *e, int32_t copy, gpuopt_elimination_info *info) {
    gpuopt_elimination_info result;
    gpuopt_status status;
    memset(&result, 0, sizeof result);
    status = gpuopt__elimination_info_of(e, copy, &result);
    if (!status) gpuopt__copy_out(info, info->struct_size, &result, sizeof result);
    return status;
}

GPUOPT_API gpuopt_status gpuopt_elimination_step(gpuopt_elimination *elimination, int32_t variables,
                                                 gpuopt_elimination_info *info) {
    gpuopt_status status;
    if (!elimination) return GPUOPT_ERROR_ARGUMENT;
    if (variables < 1 || (info && !GPUOPT__HAS_SIZE(info)))
        return gpuopt__refuse(elimination->context, GPUOPT_ERROR_ARGUMENT, "gpuopt_elimination_step",
                              variables < 1 ? "variables is not positive" : "info has no struct_size");
    status = gpuopt__elimination_step_units(elimination, variables);
    return status || !info ? status : gpuopt__elimination_fill_info(elimination, 0, info);
}

GPUOPT_API gpuopt_status gpuopt_elimination_get_info(gpuopt_elimination *elimination, int32_t copy,
                                                     gpuopt_elimination_info *info) {
    if (!elimination) return GPUOPT_ERROR_ARGUMENT;
    if (!GPUOPT__HAS_SIZE(info) || copy < 0 || copy >= elimination->plan.copies)
        return gpuopt__refuse(elimination->context, GPUOPT_ERROR_ARGUMENT, "gpuopt_elimination_get_info",
                              "info is NULL or has no struct_size, or copy is out of range");
    return gpuopt__elimination_fill_info(elimination, copy, info);
}

/* ---- The value phase ---- */

/* What _assign and _get_bounds need: every message, at hand. */
static gpuopt_status gpuopt__elimination_check_values(gpuopt_elimination *e, const char *call, int32_t copy,
                                                      const int32_t *value) {
    const gpuopt__elimination_plan *plan = &e->plan;
    int32_t k;
    if (copy < 0 || copy >= plan->copies || (!value && plan->variables > 0))
        return gpuopt__refuse(e->context, GPUOPT_ERROR_ARGUMENT, call, "copy is out of range, or value NULL");
    if (plan->semiring == GPUOPT_SEMIRING_LOG_SUM_EXP)
        return gpuopt__refuse(e->context, GPUOPT_ERROR_UNSUPPORTED, call, "not with LOG_SUM_EXP");
    if (!plan->keep)
        return gpuopt__refuse(e->context, GPUOPT_ERROR_STATE, call, "the messages were not kept (keep is OFF)");
    if (e->done < gpuopt__elimination_all_units(e))
        return gpuopt__refuse(e->context, GPUOPT_ERROR_STATE, call, "variables are left to eliminate");
    for (k = 0; k < plan->variables; k++)
        if (plan->position[k] >= plan->steps && (value[k] < 0 || value[k] >= plan->domain[k])) {
            gpuopt__log(e->context, 0, "%s: value[%d] = %d is not in the variable's domain", call, (int)k,
                        (int)value[k]);
            return GPUOPT_ERROR_ARGUMENT;
        }
    return GPUOPT_OK;
}

static void gpuopt__elimination_fill_fixed_values(const gpuopt__elimination_plan *plan, int32_t copy, int32_t *value) {
    int32_t k;
    for (k = 0; k < plan->conditions; k++)
        value[plan->condition[k]] = plan->fixed_value[(int64_t)copy * plan->conditions + k];
}

static int64_t gpuopt__elimination_all_offsets(const gpuopt__elimination_plan *plan) {
    int64_t offset = 0;
    int32_t k;
    for (k = 0; k < plan->first_message; k++) offset += plan->table[k].offset;
    return offset;
}

GPUOPT_API gpuopt_status gpuopt_elimination_assign(gpuopt_elimination *elimination, int32_t copy, int32_t *value,
                                                   gpuopt_elimination_assignment *assignment) {
    static const char call[] = "gpuopt_elimination_assign";
    gpuopt_elimination *e = elimination;
    gpuopt__elimination_plan *plan;
    gpuopt_elimination_assignment result;
    gpuopt__elimination_total best, cost;
    gpuopt_status status;
    int feasible;
    if (!e) return GPUOPT_ERROR_ARGUMENT;
    plan = &e->plan;
    if (assignment && !GPUOPT__HAS_SIZE(assignment))
        return gpuopt__refuse(e->context, GPUOPT_ERROR_ARGUMENT, call, "assignment has no struct_size");
    status = gpuopt__elimination_check_values(e, call, copy, value);
    if (!status) status = gpuopt__elimination_backend_of(e)->total(e, copy, &best);
    if (status) return status;
    memset(&result, 0, sizeof result);
    result.outcome = GPUOPT_INFEASIBLE;
    feasible = plan->type == GPUOPT_COST_DOUBLE ? best.value < HUGE_VAL : best.cost < plan->forbidden;
    if (feasible) {
        status = gpuopt__elimination_rerun_slice(e, best.slice);
        if (plan->variables) memcpy(plan->value_of, value, sizeof(int32_t) * (size_t)plan->variables);
        gpuopt__elimination_fill_fixed_values(plan, copy, plan->value_of);
        if (!status) status = gpuopt__elimination_backend_of(e)->assign(e, copy, plan->value_of, &cost);
        if (status) return status;
        feasible = plan->type == GPUOPT_COST_DOUBLE ? cost.value < HUGE_VAL : cost.cost < plan->forbidden;
    }
    if (feasible) {
        if (plan->variables) memcpy(value, plan->value_of, sizeof(int32_t) * (size_t)plan->variables);
        result.outcome = e->exact ? GPUOPT_OPTIMAL : GPUOPT_CONVERGED;
        if (plan->type == GPUOPT_COST_DOUBLE) result.value = plan->sign * cost.value;
        else result.cost = plan->sign * (gpuopt__elimination_all_offsets(plan) + (int64_t)cost.cost);
        /* A bound that is attained is an optimum. */
        if (!e->exact && plan->type == GPUOPT_COST_INT64 && cost.cost == best.cost) result.outcome = GPUOPT_OPTIMAL;
    }
    if (assignment) gpuopt__copy_out(assignment, assignment->struct_size, &result, sizeof result);
    return GPUOPT_OK;
}

GPUOPT_API gpuopt_status gpuopt_elimination_get_bounds(gpuopt_elimination *elimination, int32_t copy, int32_t variable,
                                                       const int32_t *value, int64_t *bound, double *bound_value) {
    static const char call[] = "gpuopt_elimination_get_bounds";
    gpuopt_elimination *e = elimination;
    gpuopt__elimination_plan *plan;
    gpuopt__elimination_total *total;
    gpuopt_status status;
    int64_t offset = 0;
    int32_t k, p;
    if (!e) return GPUOPT_ERROR_ARGUMENT;
    plan = &e->plan;
    if (variable < 0 || variable >= plan->variables || plan->position[variable] < 0 ||
        plan->position[variable] >= plan->steps)
        return gpuopt__refuse(e->context, GPUOPT_ERROR_ARGUMENT, call, "variable is not one that is eliminated");
    if (!(plan->type == GPUOPT_COST_DOUBLE ? (void *)bound_value : (void *)bound))
        return gpuopt__refuse(e->context, GPUOPT_ERROR_ARGUMENT, call, "bound or bound_value is NULL");
    if (plan->policy == GPUOPT_POLICY_SLICE || plan->policy == GPUOPT_POLICY_STREAM)
        return gpuopt__refuse(e->context, GPUOPT_ERROR_UNSUPPORTED, call, "not with SLICE, nor with STREAM");
    status = gpuopt__elimination_check_values(e, call, copy, value);
    if (status) return status;
    p = plan->position[variable];
    for (k = 0; k < plan->variables; k++)
        if (plan->position[k] > p && (value[k] < 0 || value[k] >= plan->domain[k])) {
            gpuopt__log(e->context, 0, "%s: value[%d] = %d is not in the variable's domain", call, (int)k,
                        (int)value[k]);
            return GPUOPT_ERROR_ARGUMENT;
        }
    if (plan->variables) memcpy(plan->value_of, value, sizeof(int32_t) * (size_t)plan->variables);
    gpuopt__elimination_fill_fixed_values(plan, copy, plan->value_of);
    total = plan->bound;
    status = gpuopt__elimination_backend_of(e)->bounds(e, copy, variable, plan->value_of, total);
    for (k = 0; k < plan->tables; k++)
        if (gpuopt__elimination_is_pending(&plan->table[k], p)) offset += plan->table[k].offset;
    for (k = 0; !status && k < plan->domain[variable]; k++) {
        if (plan->type == GPUOPT_COST_DOUBLE) bound_value[k] = plan->sign * total[k].value;
        else if (total[k].cost >= plan->forbidden) bound[k] = plan->sign < 0 ? INT64_MIN : INT64_MAX;
        else bound[k] = plan->sign * (offset + (int64_t)total[k].cost);
    }
    return status;
}

#endif /* GPUOPT_IMPL_ELIMINATION_CALLS_H */
