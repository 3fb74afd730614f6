/* SPDX-License-Identifier: MIT
 *
 * Elimination: the public calls after the steps: values, and bounds of partial assignments.
 */
#ifndef GPUOPT_IMPL_ELIMINATION_API_VALUES_H
#define GPUOPT_IMPL_ELIMINATION_API_VALUES_H

#include "steps.h"

/* ---- The value phase ---- */

/* Common checks of _assign and _get_bounds. given: the caller has passed values. messages: decisions do not suffice. */
static gpuopt_status gpuopt__elimination_check_phase(const gpuopt_elimination *e, const char *call, int32_t copy,
                                                     int given, int messages) {
    const gpuopt__elimination_plan *plan = &e->plan;
    if (copy < 0 || copy >= plan->copies || (!given && plan->variables > 0))
        return gpuopt__refuse(e->context, GPUOPT_ERROR_ARGUMENT, call, "copy is out of range, or value is NULL");
    if (plan->semiring == GPUOPT_SEMIRING_LOG_SUM_EXP)
        return gpuopt__refuse(e->context, GPUOPT_ERROR_UNSUPPORTED, call, "not available with LOG_SUM_EXP");
    if (!plan->keep && (messages || !plan->decides))
        return gpuopt__refuse(
            e->context, GPUOPT_ERROR_STATE, call,
            "the messages were not retained (retain_messages is OFF, or the policy DROP or RECOMPUTE)");
    if (e->done < gpuopt__elimination_all_units(e))
        return gpuopt__refuse(e->context, GPUOPT_ERROR_STATE, call, "not all variables have been eliminated");
    return GPUOPT_OK;
}

/* Fetches and checks the values of the variables left over. *found: value [variables] in host memory; anything if there
 * are no such variables. */
static gpuopt_status gpuopt__elimination_fetch_values(gpuopt_elimination *e, const char *call,
                                                      gpuopt_memory_space where, const int32_t *value,
                                                      const int32_t **found) {
    const gpuopt__elimination_plan *plan = &e->plan;
    const void *fetched;
    gpuopt_status status;
    int32_t k, first = 0;
    while (first < plan->variables && plan->position[first] < plan->steps) first++;
    status = gpuopt__fetch(e->context, where, value,
                           first < plan->variables ? sizeof(int32_t) * (uint64_t)plan->variables : 0,
                           plan->staged_value, &fetched);
    if (status) return status;
    *found = (const int32_t *)fetched;
    for (k = first; k < plan->variables; k++)
        if (plan->position[k] >= plan->steps && ((*found)[k] < 0 || (*found)[k] >= plan->domain[k])) {
            gpuopt__log(e->context, 0, "%s: value[%d] = %d is not in the variable's domain", call, (int)k,
                        (int)(*found)[k]);
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

/* Computes the decisions of a pass again; after a requested stop, later calls continue there. *end: behind the pass's
 * last position. */
static gpuopt_status gpuopt__elimination_run_pass(gpuopt_elimination *e, int32_t pass, int32_t end, int *stopped) {
    const gpuopt__elimination_plan *plan = &e->plan;
    gpuopt_status status = GPUOPT_OK;
    int64_t to = end;
    if (e->pass != pass) {
        gpuopt__elimination_find_needed(plan, plan->bucket, plan->buckets, plan->table, pass, plan->needed);
        e->repeated = 1;
        e->pass = pass;
        e->pass_unit = 0;
    } else if (!e->repeated) e->pass_unit = end; /* pass 0 is part of the elimination itself */
    if (e->pass_unit < end) status = gpuopt__elimination_run_units(e, 0, e->pass_unit, &to);
    if (status) e->pass_unit = 0;
    else e->pass_unit = to;
    *stopped = !status && to < end;
    return status;
}

/* The value phase in passes, the last variables first. value_of holds the given values. */
static gpuopt_status gpuopt__elimination_assign_passes(gpuopt_elimination *e, int32_t copy, int *stopped,
                                                       gpuopt__elimination_total *cost) {
    const gpuopt__elimination_plan *plan = &e->plan;
    gpuopt_status status = GPUOPT_OK;
    int32_t k, end = plan->steps, first = 0;
    for (k = 0; k < plan->variables; k++)
        if (plan->position[k] >= plan->steps && plan->assigned[k] != plan->value_of[k]) e->assigning = -1;
    if (e->assigning != copy) {
        memcpy(plan->assigned, plan->value_of, sizeof(int32_t) * (size_t)plan->variables);
        e->assigning = copy;
        e->next_pass = 0;
    }
    for (; !status && end > 0; end = first) {
        const int32_t pass = plan->bucket[end - 1].pass;
        for (first = end; first > 0 && plan->bucket[first - 1].pass == pass;) first--;
        if (pass < e->next_pass) continue;
        status = gpuopt__elimination_run_pass(e, pass, end, stopped);
        if (status || *stopped) break;
        status = gpuopt__elimination_backend_of(e)->assign(e, copy, first, end, plan->assigned, cost);
        e->next_pass++;
    }
    if (status || !*stopped) e->assigning = -1;
    memcpy(plan->value_of, plan->assigned, sizeof(int32_t) * (size_t)plan->variables);
    return status;
}

/* The value phase, into plan.value_of. given: the values of variables left over. */
static gpuopt_status gpuopt__elimination_find_values(gpuopt_elimination *e, int32_t copy, const int32_t *given,
                                                     gpuopt_elimination_assignment *result) {
    const gpuopt__elimination_plan *plan = &e->plan;
    const uint64_t bytes = sizeof(int32_t) * (uint64_t)plan->variables;
    gpuopt__elimination_total best, cost;
    int feasible, stopped = 0;
    gpuopt_status status = gpuopt__elimination_backend_of(e)->total(e, copy, &best);
    if (status) return status;
    result->outcome = GPUOPT_INFEASIBLE;
    feasible = plan->type == GPUOPT_COST_DOUBLE ? best.value < HUGE_VAL : best.cost < plan->forbidden;
    if (feasible) status = gpuopt__elimination_rerun_slice(e, best.slice, &stopped);
    if (status) return status;
    if (feasible && !stopped) {
        if (bytes) memcpy(plan->value_of, given, (size_t)bytes);
        gpuopt__elimination_fill_fixed_values(plan, copy, plan->value_of);
        status = plan->passes > 1
                     ? gpuopt__elimination_assign_passes(e, copy, &stopped, &cost)
                     : gpuopt__elimination_backend_of(e)->assign(e, copy, 0, plan->steps, plan->value_of, &cost);
        if (status) return status;
    }
    if (stopped) result->outcome = GPUOPT_MORE;
    else if (feasible) {
        feasible = plan->type == GPUOPT_COST_DOUBLE ? cost.value < HUGE_VAL : cost.cost < plan->forbidden;
    }
    if (!feasible || stopped) return GPUOPT_OK;
    result->outcome = e->exact ? GPUOPT_OPTIMAL : GPUOPT_CONVERGED;
    if (plan->type == GPUOPT_COST_DOUBLE) result->value = plan->sign * cost.value;
    else result->cost = plan->sign * (gpuopt__elimination_all_offsets(plan) + (int64_t)cost.cost);
    /* A bound that is attained is optimal. */
    if (!e->exact && plan->type == GPUOPT_COST_INT64 && cost.cost == best.cost) result->outcome = GPUOPT_OPTIMAL;
    return GPUOPT_OK;
}

static gpuopt_status gpuopt__elimination_assign(gpuopt_elimination *e, const char *call, gpuopt_memory_space where,
                                                int32_t copy, int32_t *value,
                                                gpuopt_elimination_assignment *assignment) {
    gpuopt_elimination_assignment result;
    const int32_t *given = NULL;
    gpuopt_status status;
    memset(&result, 0, sizeof result);
    status = gpuopt__check_where(e->context, call, where);
    if (!status && assignment && !GPUOPT__HAS_SIZE(e->context, call, gpuopt_elimination_assignment, assignment))
        status = GPUOPT_ERROR_ARGUMENT;
    if (!status) status = gpuopt__elimination_check_phase(e, call, copy, value != NULL, 0);
    if (!status) status = gpuopt__elimination_fetch_values(e, call, where, value, &given);
    status = gpuopt__elimination_agree(e, call, status, &copy, sizeof copy);
    if (status) return status;
    status = gpuopt__elimination_find_values(e, copy, given, &result);
    status = gpuopt__elimination_join_assignment(e, call, status, copy, gpuopt__elimination_info_of, &result);
    if (!status && (result.outcome == GPUOPT_OPTIMAL || result.outcome == GPUOPT_CONVERGED))
        status =
            gpuopt__deliver(e->context, where, value, e->plan.value_of, sizeof(int32_t) * (uint64_t)e->plan.variables);
    if (status == GPUOPT_ERROR_DEVICE) status = gpuopt__elimination_all_could(e, status);
    return gpuopt__give(status, assignment, &result, sizeof result);
}

GPUOPT_API gpuopt_status gpuopt_elimination_assign(gpuopt_elimination *elimination, gpuopt_memory_space where,
                                                   int32_t copy, int32_t *value,
                                                   gpuopt_elimination_assignment *assignment) {
    GPUOPT__CALL(elimination, elimination->context,
                 gpuopt__elimination_assign(elimination, call, where, copy, value, assignment));
}

/* ---- Bounds ---- */

/* The part of a bound that its stored costs leave out. */
static int64_t gpuopt__elimination_bound_offset(const gpuopt__elimination_plan *plan, int32_t position, int increase) {
    int64_t offset = 0;
    int32_t k;
    for (k = 0; k < plan->tables; k++) {
        const gpuopt__elimination_table *t = &plan->table[k];
        if (gpuopt__elimination_is_common(t, position, increase)) offset += increase ? -t->offset : t->offset;
        else if (t->bucket == position && t->source != -2) offset += t->offset;
    }
    return offset;
}

static gpuopt_status gpuopt__elimination_get_bounds(gpuopt_elimination *e, const char *call, gpuopt_memory_space where,
                                                    int32_t copy, int32_t variable, int increase, int64_t count,
                                                    const int32_t *value, int64_t *bound, double *bound_value) {
    const gpuopt__elimination_plan *plan = &e->plan;
    gpuopt__elimination_lookup q;
    gpuopt_status status = gpuopt__check_where(e->context, call, where);
    int64_t bad = INT64_MAX;
    if (!status) status = gpuopt__elimination_whole(e, call);
    if (status) return status;
    if (variable < 0 || variable >= plan->variables || plan->position[variable] < 0 ||
        plan->position[variable] >= plan->steps)
        return gpuopt__refuse(e->context, GPUOPT_ERROR_ARGUMENT, call, "variable is not one that is eliminated");
    if (count < 0 || count > INT64_MAX / 64 / ((int64_t)plan->variables + plan->domain[variable]))
        return gpuopt__refuse(e->context, GPUOPT_ERROR_ARGUMENT, call, "count is negative or too large");
    if (count > 0 && !(plan->type == GPUOPT_COST_DOUBLE ? (void *)bound_value : (void *)bound))
        return gpuopt__refuse(e->context, GPUOPT_ERROR_ARGUMENT, call, "bound or bound_value is NULL");
    if (plan->policy == GPUOPT_POLICY_SLICE || plan->policy == GPUOPT_POLICY_STREAM)
        return gpuopt__refuse(e->context, GPUOPT_ERROR_UNSUPPORTED, call, "not available with SLICE and STREAM");
    status = gpuopt__elimination_check_phase(e, call, copy, count == 0 || value, 1);
    if (status || count == 0) return status;
    memset(&q, 0, sizeof q);
    q.copy = copy;
    q.variable = variable;
    q.position = plan->position[variable];
    q.increase = increase != 0;
    q.count = count;
    q.value = value;
    q.bound = bound;
    q.bound_value = bound_value;
    if (plan->type == GPUOPT_COST_INT64) q.offset = gpuopt__elimination_bound_offset(plan, q.position, q.increase);
    status = gpuopt__elimination_backend_of(e)->bounds(e, where, &q, &bad);
    if (status || bad == INT64_MAX) return status;
    gpuopt__log(e->context, 0, "%s: partial assignment %lld has a value that is not in its variable's domain", call,
                (long long)bad);
    return GPUOPT_ERROR_ARGUMENT;
}

GPUOPT_API gpuopt_status gpuopt_elimination_get_bounds(gpuopt_elimination *elimination, gpuopt_memory_space where,
                                                       int32_t copy, int32_t variable, int increase, int64_t count,
                                                       const int32_t *value, int64_t *bound, double *bound_value) {
    GPUOPT__CALL(elimination, elimination->context,
                 gpuopt__elimination_get_bounds(elimination, call, where, copy, variable, increase, count, value, bound,
                                                bound_value));
}

#endif /* GPUOPT_IMPL_ELIMINATION_API_VALUES_H */
