/* SPDX-License-Identifier: MIT
 *
 * Elimination: the public calls that set evidence, step, and report.
 */
#ifndef GPUOPT_IMPL_ELIMINATION_API_STEPS_H
#define GPUOPT_IMPL_ELIMINATION_API_STEPS_H

#include "../plan/policies.h"
#include "../ranks/join.h"

static const struct gpuopt__elimination_backend *gpuopt__elimination_backend_of(const gpuopt_elimination *e) {
    return e->context->desc.backend->elimination;
}

static int64_t gpuopt__elimination_all_units(const gpuopt_elimination *e) { return e->plan.units * e->plan.slices; }

/* Turns the evidence of a copy into the offsets that tables add. */
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

/* Fixes the sliced variables for a slice. Their values are the digits of its number, the first variable slowest. */
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

/* The first job of a unit, or the number of jobs if it has none. */
static int32_t gpuopt__elimination_first_job(const gpuopt__elimination_plan *plan, int64_t unit) {
    int32_t bucket = plan->first_bucket[unit];
    return bucket < plan->buckets ? plan->bucket[bucket].job : plan->jobs;
}

/* Whether the present pass of the value phase runs a job. Decisions are computed only in the pass's own buckets, and
 * passes after the first skip the buckets that they do not need. */
static int gpuopt__elimination_pass_runs(const gpuopt_elimination *e, const gpuopt__elimination_job *job) {
    if (job->decision_bits && e->plan.bucket[job->bucket].pass != e->pass) return 0;
    return e->pass == 0 || e->plan.needed[job->bucket];
}

/* Runs units from .. *to - 1 of a slice; independent jobs go to the backend together. A whole slice is run level by
 * level, a part of one unit by unit. If the caller requests a stop, *to becomes the end of the complete units. In a
 * whole slice no unit is complete then: e->paused and e->resume show where to continue. */
static gpuopt_status gpuopt__elimination_run_units(gpuopt_elimination *e, int64_t slice, int64_t from, int64_t *to) {
    const gpuopt__elimination_plan *plan = &e->plan;
    const int whole = from == 0 && *to == plan->units && plan->keep;
    const int32_t *list = whole ? plan->by_level : plan->in_order;
    int32_t job = gpuopt__elimination_first_job(plan, from), end = gpuopt__elimination_first_job(plan, *to);
    int64_t unit = from;
    gpuopt_status status = GPUOPT_OK;
    if (whole && e->paused == slice) job = e->resume;
    e->paused = -1;
    while (job < end && !status) {
        int32_t next = job + 1;
        while (plan->keep && next < end && plan->job[list[next]].level == plan->job[list[job]].level) next++;
        if (plan->keep || gpuopt__elimination_pass_runs(e, &plan->job[list[job]]))
            status = gpuopt__elimination_backend_of(e)->run(e, list, job, next);
        job = next;
        while (!whole && job < end && gpuopt__elimination_first_job(plan, unit) < job) unit++;
        if (status || job >= end || (!whole && gpuopt__elimination_first_job(plan, unit) != job)) continue;
        if (!gpuopt__asked_to_stop(e->context)) continue;
        *to = unit;
        if (whole) e->paused = slice, e->resume = job;
        break;
    }
    return status;
}

/* Computes all messages of a slice again, for the value phase. *stopped: the caller requested a stop before the last
 * one. */
static gpuopt_status gpuopt__elimination_rerun_slice(gpuopt_elimination *e, int64_t slice, int *stopped) {
    gpuopt_status status = GPUOPT_OK;
    int64_t to = e->plan.units;
    *stopped = 0;
    if (e->held == slice) return GPUOPT_OK;
    e->held = -1;
    if (e->paused != slice) status = gpuopt__elimination_enter_slice(e, slice);
    if (!status) status = gpuopt__elimination_run_units(e, slice, 0, &to);
    *stopped = to < e->plan.units;
    if (!status && !*stopped) e->held = slice;
    return status;
}

static gpuopt_status gpuopt__elimination_step_units(gpuopt_elimination *e, int64_t count) {
    const gpuopt__elimination_plan *plan = &e->plan;
    gpuopt_status status = GPUOPT_OK;
    int64_t left = gpuopt__elimination_all_units(e) - e->done;
    if (count > left) count = left;
    while (count > 0) {
        int64_t slice = e->done / plan->units, from = e->done % plan->units, to = from + count, wanted;
        if (to > plan->units) to = plan->units;
        wanted = to;
        if (from == 0) {
            e->held = -1;
            if (e->paused != slice) status = gpuopt__elimination_enter_slice(e, slice);
        }
        if (!status) status = gpuopt__elimination_run_units(e, slice, from, &to);
        if (!status && to == plan->units) status = gpuopt__elimination_backend_of(e)->finish(e, slice);
        if (status) break;
        if (to > from) e->held = slice;
        count -= to - from;
        e->done += to - from;
        if (to > from && to - 1 < plan->steps) e->variable = plan->order[to - 1];
        if (to < wanted || (count > 0 && gpuopt__asked_to_stop(e->context))) break;
    }
    return status;
}

/* ---- Conditions ---- */

/* Checks the arguments of _set_evidence. *value: the values, in host memory. */
static gpuopt_status gpuopt__elimination_fetch_condition(const gpuopt_elimination *e, const char *call,
                                                         gpuopt_memory_space where, int32_t copy,
                                                         const int32_t **value) {
    const gpuopt__elimination_plan *plan = &e->plan;
    const void *found;
    gpuopt_status status = gpuopt__check_where(e->context, call, where);
    int32_t k;
    if (status) return status;
    if (copy < 0 || copy >= plan->copies || (plan->host_conditions > 0 && !*value))
        return gpuopt__refuse(e->context, GPUOPT_ERROR_ARGUMENT, call, "copy is out of range, or value is NULL");
    status = gpuopt__fetch(e->context, where, *value, sizeof(int32_t) * (uint64_t)plan->host_conditions,
                           plan->staged_value, &found);
    if (status) return status;
    *value = (const int32_t *)found;
    for (k = 0; k < plan->host_conditions; k++)
        if ((*value)[k] < 0 || (*value)[k] >= plan->domain[plan->condition[k]]) {
            gpuopt__log(e->context, 0, "%s: value[%d] = %d is not in the domain of variable %d", call, (int)k,
                        (int)(*value)[k], (int)plan->condition[k]);
            return GPUOPT_ERROR_ARGUMENT;
        }
    return GPUOPT_OK;
}

static gpuopt_status gpuopt__elimination_set_evidence(gpuopt_elimination *e, const char *call,
                                                      gpuopt_memory_space where, int32_t copy, const int32_t *value) {
    gpuopt__elimination_plan *plan = &e->plan;
    gpuopt_status status = gpuopt__elimination_fetch_condition(e, call, where, copy, &value);
    int32_t k;
    status = gpuopt__elimination_agree_evidence(e, call, status, copy, value);
    if (status) return status;
    for (k = 0; k < plan->host_conditions; k++) plan->fixed_value[(int64_t)copy * plan->conditions + k] = value[k];
    gpuopt__elimination_set_offsets(plan, copy, plan->value_of);
    e->done = 0;
    e->held = e->paused = e->assigning = -1;
    e->pass = e->repeated = 0;
    e->variable = -1;
    return gpuopt__elimination_all_could(e, gpuopt__elimination_backend_of(e)->condition(e, plan->offset));
}

GPUOPT_API gpuopt_status gpuopt_elimination_set_evidence(gpuopt_elimination *elimination, gpuopt_memory_space where,
                                                         int32_t copy, const int32_t *value) {
    GPUOPT__CALL(elimination, elimination->context,
                 gpuopt__elimination_set_evidence(elimination, call, where, copy, value));
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

/* status: of the work before; a failure on any rank leaves the info unfilled. */
static gpuopt_status gpuopt__elimination_fill_info(gpuopt_elimination *e, const char *call, gpuopt_status status,
                                                   int32_t copy, gpuopt_elimination_info *info) {
    gpuopt_elimination_info result;
    memset(&result, 0, sizeof result);
    if (!status && info) status = gpuopt__elimination_info_of(e, copy, &result);
    status = gpuopt__elimination_agree(e, call, status, NULL, 0);
    if (status || !info) return status;
    return gpuopt__give(gpuopt__elimination_join_info(e, &result), info, &result, sizeof result);
}

static gpuopt_status gpuopt__elimination_step(gpuopt_elimination *elimination, const char *call, int32_t variables,
                                              gpuopt_elimination_info *info) {
    const int32_t data[] = {variables, info != NULL};
    gpuopt_status status = GPUOPT_OK;
    if (variables < 1)
        status = gpuopt__refuse(elimination->context, GPUOPT_ERROR_ARGUMENT, call, "variables is not positive");
    else if (info && !GPUOPT__HAS_SIZE(elimination->context, call, gpuopt_elimination_info, info))
        status = GPUOPT_ERROR_ARGUMENT;
    status = gpuopt__elimination_agree(elimination, call, status, data, sizeof data);
    if (status) return status;
    status = gpuopt__elimination_step_units(elimination, variables);
    return gpuopt__elimination_fill_info(elimination, call, status, 0, info);
}

GPUOPT_API gpuopt_status gpuopt_elimination_step(gpuopt_elimination *elimination, int32_t variables,
                                                 gpuopt_elimination_info *info) {
    GPUOPT__CALL(elimination, elimination->context, gpuopt__elimination_step(elimination, call, variables, info));
}

/* Fills the info of a copy, for `call`. */
static gpuopt_status gpuopt__elimination_give_info(gpuopt_elimination *e, const char *call, int32_t copy,
                                                   gpuopt_elimination_info *info) {
    gpuopt_status status = GPUOPT_OK;
    if (!GPUOPT__HAS_SIZE(e->context, call, gpuopt_elimination_info, info)) status = GPUOPT_ERROR_ARGUMENT;
    else if (copy < 0 || copy >= e->plan.copies)
        status = gpuopt__refuse(e->context, GPUOPT_ERROR_ARGUMENT, call, "copy is out of range");
    status = gpuopt__elimination_agree(e, call, status, &copy, sizeof copy);
    return status ? status : gpuopt__elimination_fill_info(e, call, status, copy, info);
}

GPUOPT_API gpuopt_status gpuopt_elimination_get_info(gpuopt_elimination *elimination, int32_t copy,
                                                     gpuopt_elimination_info *info) {
    GPUOPT__CALL(elimination, elimination->context, gpuopt__elimination_give_info(elimination, call, copy, info));
}

#endif /* GPUOPT_IMPL_ELIMINATION_API_STEPS_H */
