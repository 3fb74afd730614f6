/* SPDX-License-Identifier: MIT
 *
 * The head of every backend's elimination, and what moves it: slices, steps, conditions.
 */
#ifndef GPUOPT_IMPL_ELIMINATION_HANDLE_H
#define GPUOPT_IMPL_ELIMINATION_HANDLE_H

#include "plan.h"
#include "step.h"

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

#endif /* GPUOPT_IMPL_ELIMINATION_HANDLE_H */
