/* SPDX-License-Identifier: MIT
 *
 * Elimination: the public calls that step, condition, assign values and look up bounds.
 */
#ifndef GPUOPT_IMPL_ELIMINATION_STEPS_H
#define GPUOPT_IMPL_ELIMINATION_STEPS_H

#include "plan.h"

static const struct gpuopt__elimination_backend *gpuopt__elimination_backend_of(const gpuopt_elimination *e) {
    return e->context->desc.backend->elimination;
}

static int64_t gpuopt__elimination_all_units(const gpuopt_elimination *e) { return e->plan.units * e->plan.slices; }

/* The conditioned values of a copy, as entries that tables add. */
static void gpuopt__elimination_set_offsets(gpuopt__elimination_plan *plan, int32_t copy, int32_t *value_of) {
    int64_t *offset = plan->offset + (int64_t)copy * plan->condition_rows;
    const int32_t *value = plan->fixed_value + (int64_t)copy * plan->conditions;
    int32_t k, j;
    for (k = 0; k < plan->conditions; k++) value_of[plan->condition[k]] = value[k];
    for (k = 0; k < plan->first_message; k++) {
        const gpuopt__elimination_table *t = &plan->table[k];
        if (t->condition < 0) continue;
        offset[t->condition] = 0;
        for (j = 0; j < t->fixed; j++)
            offset[t->condition] += value_of[plan->scope[t->scope + j]] * plan->stride[t->scope + j];
    }
}

/* Fixes the sliced variables for a slice: its number, the first variable slowest. */
static gpuopt_status gpuopt__elimination_enter_slice(gpuopt_elimination *e, int64_t slice) {
    gpuopt__elimination_plan *plan = &e->plan;
    int32_t k;
    if (plan->slices == 1) return GPUOPT_OK;
    for (k = plan->conditions - 1; k >= plan->host_conditions; k--) {
        int32_t size = plan->domain[plan->condition[k]];
        plan->fixed_value[k] = (int32_t)(slice % size);
        slice /= size;
    }
    gpuopt__elimination_set_offsets(plan, 0, plan->value_of);
    return gpuopt__elimination_backend_of(e)->condition(e, plan->offset);
}

/* Units from .. to - 1 of the present slice, jobs that do not wait for one another together. */
static gpuopt_status gpuopt__elimination_run_units(gpuopt_elimination *e, int64_t from, int64_t to) {
    const gpuopt__elimination_plan *plan = &e->plan;
    int whole = from == 0 && to == plan->units && plan->keep;
    const int32_t *list = whole ? plan->by_level : plan->in_order;
    int32_t first = plan->first_bucket[from], last = plan->first_bucket[to], job, end;
    gpuopt_status status = GPUOPT_OK;
    job = first < plan->buckets ? plan->bucket[first].job : plan->jobs;
    end = last < plan->buckets ? plan->bucket[last].job : plan->jobs;
    while (job < end && !status) {
        int32_t next = job + 1;
        while (plan->keep && next < end && plan->job[list[next]].level == plan->job[list[job]].level) next++;
        status = gpuopt__elimination_backend_of(e)->run(e, list, job, next);
        job = next;
    }
    return status;
}

/* All messages of a slice once more, for the value phase. */
static gpuopt_status gpuopt__elimination_rerun_slice(gpuopt_elimination *e, int64_t slice) {
    gpuopt_status status = GPUOPT_OK;
    if (e->held == slice) return GPUOPT_OK;
    e->held = -1;
    status = gpuopt__elimination_enter_slice(e, slice);
    if (!status) status = gpuopt__elimination_run_units(e, 0, e->plan.units);
    if (!status) e->held = slice;
    return status;
}

static gpuopt_status gpuopt__elimination_step_units(gpuopt_elimination *e, int64_t count) {
    const gpuopt__elimination_plan *plan = &e->plan;
    gpuopt_status status = GPUOPT_OK;
    int64_t left = gpuopt__elimination_all_units(e) - e->done;
    if (count > left) count = left;
    while (count > 0 && !status) {
        int64_t slice = e->done / plan->units, from = e->done % plan->units, to = from + count;
        if (to > plan->units) to = plan->units;
        if (from == 0) {
            e->held = -1;
            status = gpuopt__elimination_enter_slice(e, slice);
        }
        if (!status) status = gpuopt__elimination_run_units(e, from, to);
        if (!status) e->held = slice;
        if (!status && to == plan->units) status = gpuopt__elimination_backend_of(e)->finish(e, slice);
        if (status) break;
        count -= to - from;
        e->done += to - from;
        if (to - 1 < plan->steps) e->variable = plan->order[to - 1];
    }
    return status;
}

/* ---- Conditions ---- */

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

#endif /* GPUOPT_IMPL_ELIMINATION_STEPS_H */
