/* SPDX-License-Identifier: MIT
 *
 * Elimination: estimates memory and work of a draft, and copies it into the block of memory that the handle keeps.
 */
#ifndef GPUOPT_IMPL_ELIMINATION_PLAN_BLOCK_H
#define GPUOPT_IMPL_ELIMINATION_PLAN_BLOCK_H

#include "input.h"
#include "places.h"

/* ---- Estimates ---- */

/* Adds the cost of one job. */
static void gpuopt__elimination_add_cost(const gpuopt__elimination_draft *draft, const gpuopt__elimination_job *job,
                                         gpuopt_elimination_estimate *e) {
    const gpuopt__elimination_plan *plan = &draft->plan;
    double repeated = (double)plan->copies * (double)plan->slices;
    double bytes = (double)gpuopt__elimination_cost_bytes(plan) +
                   (plan->semiring == GPUOPT_SEMIRING_MIN_COUNT ? sizeof(uint64_t) : 0);
    int64_t j;
    e->operations += (double)job->entries * job->values * (job->operands ? job->operands : 1) * repeated;
    e->bytes_moved += (double)job->entries * (job->decision_bits ? job->decision_bits / 8.0 : bytes) * repeated;
    for (j = job->operand; j < job->operand + job->operands; j++) {
        const gpuopt__elimination_table *t =
            gpuopt__elimination_draft_table(draft, ((gpuopt__elimination_operand *)draft->operand.data)[j].table);
        int64_t view = t->fixed > 0 && t->fixed < t->arity ? ((int64_t *)draft->stride.data)[t->scope + t->fixed - 1]
                       : t->fixed                          ? 1
                                                           : t->entries;
        e->bytes_moved += (double)view * bytes * repeated;
    }
}

/* Adds the work that the passes of the value phase repeat. */
static gpuopt_status gpuopt__elimination_add_passes(gpuopt__elimination_draft *draft, gpuopt_elimination_estimate *e) {
    const gpuopt__elimination_bucket *bucket = (const gpuopt__elimination_bucket *)draft->bucket.data;
    uint8_t *needed = (uint8_t *)gpuopt__elimination_scratch_take(draft->scratch, (uint64_t)draft->bucket.count);
    int32_t pass;
    int64_t k;
    for (pass = 1; needed && pass < draft->plan.passes; pass++) {
        gpuopt__elimination_find_needed(&draft->plan, bucket, draft->bucket.count,
                                        gpuopt__elimination_draft_table(draft, 0), pass, needed);
        for (k = 0; k < draft->job.count; k++) {
            const gpuopt__elimination_job *job = (gpuopt__elimination_job *)draft->job.data + k;
            if (needed[job->bucket] && !job->decision_bits) gpuopt__elimination_add_cost(draft, job, e);
        }
    }
    gpuopt__elimination_scratch_give(draft->scratch, needed, (uint64_t)draft->bucket.count);
    return draft->scratch->status;
}

static void gpuopt__elimination_estimate(gpuopt__elimination_draft *draft, gpuopt_elimination_estimate *e) {
    gpuopt__elimination_plan *plan = &draft->plan;
    int64_t k;
    memset(e, 0, sizeof *e);
    for (k = plan->first_message; k < plan->first_message + plan->messages; k++) {
        const gpuopt__elimination_table *t = gpuopt__elimination_draft_table(draft, (int32_t)k);
        if (t->arity > e->width) e->width = t->arity;
        if ((double)t->entries > e->largest) e->largest = (double)t->entries;
        e->entries += (double)t->entries;
    }
    for (k = 0; k < draft->job.count; k++)
        gpuopt__elimination_add_cost(draft, (gpuopt__elimination_job *)draft->job.data + k, e);
    e->memory.struct_size = sizeof e->memory;
    e->bits = plan->bits;
    e->z = plan->z;
    e->messages = plan->messages;
    e->levels = plan->levels;
    e->sliced = plan->conditions - plan->host_conditions;
    e->slices = plan->slices;
    e->passes = plan->passes;
}

/* The host memory for loading functions: bytes of a table, and of its counts; none if the backend provides places for
 * the tables. */
static void gpuopt__elimination_load_sizes(const gpuopt_context *context, const gpuopt__elimination_draft *draft,
                                           uint64_t sizes[2]) {
    int32_t k;
    sizes[0] = sizes[1] = 0;
    if (context->desc.backend->elimination->place) return;
    for (k = 0; k < draft->plan.first_device; k++) {
        const gpuopt__elimination_table *t = gpuopt__elimination_draft_table(draft, k);
        uint64_t bytes = (uint64_t)t->entries * (uint64_t)gpuopt__elimination_cost_bytes(&draft->plan);
        if (bytes > sizes[0]) sizes[0] = bytes;
        if (t->count_at >= 0 && (uint64_t)t->entries * 8 > sizes[1]) sizes[1] = (uint64_t)t->entries * 8;
    }
}

/* ---- The lasting block ---- */

/* Cuts the arrays of a plan out of an arena. */
static void gpuopt__elimination_cut_plan(gpuopt__arena *arena, gpuopt__elimination_plan *plan) {
    plan->domain = (int32_t *)gpuopt__cut(arena, plan->variables, sizeof(int32_t));
    plan->order = (int32_t *)gpuopt__cut(arena, plan->steps, sizeof(int32_t));
    plan->position = (int32_t *)gpuopt__cut(arena, plan->variables, sizeof(int32_t));
    plan->condition = (int32_t *)gpuopt__cut(arena, plan->conditions, sizeof(int32_t));
    plan->table = (gpuopt__elimination_table *)gpuopt__cut(arena, plan->tables, sizeof *plan->table);
    plan->bucket = (gpuopt__elimination_bucket *)gpuopt__cut(arena, plan->buckets, sizeof *plan->bucket);
    plan->first_bucket = (int32_t *)gpuopt__cut(arena, (int64_t)plan->steps + 2, sizeof(int32_t));
    plan->job = (gpuopt__elimination_job *)gpuopt__cut(arena, plan->jobs, sizeof *plan->job);
    plan->operand = (gpuopt__elimination_operand *)gpuopt__cut(arena, plan->operands, sizeof *plan->operand);
    plan->scope = (int32_t *)gpuopt__cut(arena, plan->scopes, sizeof(int32_t));
    plan->stride = (int64_t *)gpuopt__cut(arena, plan->scopes, sizeof(int64_t));
    plan->input = (int32_t *)gpuopt__cut(arena, plan->inputs, sizeof(int32_t));
    plan->digit = (int64_t *)gpuopt__cut(arena, plan->digits, sizeof(int64_t));
    plan->by_level = (int32_t *)gpuopt__cut(arena, plan->jobs, sizeof(int32_t));
    plan->in_order = (int32_t *)gpuopt__cut(arena, plan->jobs, sizeof(int32_t));
    plan->root = (int32_t *)gpuopt__cut(arena, plan->roots, sizeof(int32_t));
    plan->offset = (int64_t *)gpuopt__cut(arena, (int64_t)plan->copies * plan->condition_rows, sizeof(int64_t));
    plan->fixed_value = (int32_t *)gpuopt__cut(arena, (int64_t)plan->copies * plan->conditions, sizeof(int32_t));
    plan->value_of = (int32_t *)gpuopt__cut(arena, plan->variables, sizeof(int32_t));
    plan->staged_value = (int32_t *)gpuopt__cut(arena, plan->staged ? plan->variables : 0, sizeof(int32_t));
    plan->staged_cost = (int64_t *)gpuopt__cut(arena, plan->staged, sizeof(int64_t));
    plan->staged_count = (uint64_t *)gpuopt__cut(arena, plan->semiring == GPUOPT_SEMIRING_MIN_COUNT ? plan->staged : 0,
                                                 sizeof(uint64_t));
    plan->needed = (uint8_t *)gpuopt__cut(arena, plan->passes > 1 ? plan->buckets : 0, 1);
    plan->assigned = (int32_t *)gpuopt__cut(arena, plan->passes > 1 ? plan->variables : 0, sizeof(int32_t));
    plan->first = (int32_t *)gpuopt__cut(arena, plan->ranks ? plan->variables : 0, sizeof(int32_t));
    plan->other = (int32_t *)gpuopt__cut(arena, plan->ranks ? 2 * (int64_t)plan->variables : 0, sizeof(int32_t));
    plan->whole_order = (int32_t *)gpuopt__cut(arena, plan->whole_steps, sizeof(int32_t));
    plan->reports = (gpuopt__elimination_report *)gpuopt__cut(arena, plan->ranks, sizeof *plan->reports);
}

static uint64_t gpuopt__elimination_plan_bytes(const gpuopt__elimination_draft *draft) {
    gpuopt__elimination_plan plan = draft->plan;
    gpuopt__arena arena;
    memset(&arena, 0, sizeof arena);
    gpuopt__elimination_cut_plan(&arena, &plan);
    return arena.used;
}

/* Sorts the jobs by level. Jobs of one level are independent. */
static void gpuopt__elimination_sort_levels(gpuopt__elimination_plan *plan) {
    int32_t *ends = plan->in_order, level, j, sum = 0; /* counters first: at most as many levels as jobs */
    memset(ends, 0, sizeof(int32_t) * (size_t)plan->jobs);
    for (j = 0; j < plan->jobs; j++) ends[plan->job[j].level]++;
    for (level = 0; level < plan->levels; level++) {
        int32_t count = ends[level];
        ends[level] = sum;
        sum += count;
    }
    for (j = 0; j < plan->jobs; j++) plan->by_level[ends[plan->job[j].level]++] = j;
    for (j = 0; j < plan->jobs; j++) plan->in_order[j] = j;
}

/* Tiles may come in any order. Digits that the largest operands lack become the fastest, so that entries read for one
 * tile are still in a cache for the next. The last digit of a job with rows left over stays in place. */
static void gpuopt__elimination_sort_tile_digits(gpuopt__elimination_plan *plan, const gpuopt__elimination_job *job) {
    const int32_t digits = gpuopt__elimination_job_digits(job), movable = job->tile_digits - (job->row_total != 0);
    int64_t *size = plan->digit + job->size, *stride = plan->digit + job->stride;
    double missing[GPUOPT__ELIMINATION_MOST_DIGITS];
    int32_t i, j, k;
    for (j = 0; j < movable; j++) {
        missing[j] = 0;
        for (k = 0; k < job->operands; k++)
            if (stride[(int64_t)k * digits + j] == 0)
                missing[j] += (double)plan->table[plan->operand[job->operand + k].table].entries;
    }
    for (i = 1; i < movable; i++)
        for (j = i; j > 0 && missing[j - 1] > missing[j]; j--) {
            double other = missing[j];
            missing[j] = missing[j - 1];
            missing[j - 1] = other;
            for (k = -1; k <= job->operands; k++) {
                int64_t *row = k < 0 ? size : stride + (int64_t)k * digits, moved = row[j];
                row[j] = row[j - 1];
                row[j - 1] = moved;
            }
        }
}

/* Brings the jobs of a draft into their final form. The draft's plan points to them until its lists grow. */
static void gpuopt__elimination_finish_jobs(gpuopt__elimination_draft *draft) {
    gpuopt__elimination_plan *plan = &draft->plan;
    int64_t j;
    plan->table = (gpuopt__elimination_table *)draft->table.data;
    plan->job = (gpuopt__elimination_job *)draft->job.data;
    plan->operand = (gpuopt__elimination_operand *)draft->operand.data;
    plan->digit = (int64_t *)draft->digit.data;
    for (j = 0; j < draft->job.count; j++)
        if (!plan->job[j].streamed) gpuopt__elimination_sort_tile_digits(plan, &plan->job[j]);
}

static void gpuopt__elimination_copy_list(void *to, const gpuopt__elimination_list *list) {
    if (list->count) memcpy(to, list->data, (size_t)list->count * list->size);
}

/* Copies a draft into a plan in `memory` [gpuopt__elimination_plan_bytes]. condition [conditions]: the plan's evidence
 * variables, then its sliced variables. */
static void gpuopt__elimination_copy_plan(const gpuopt__elimination_draft *draft, const int32_t *condition,
                                          void *memory, gpuopt__elimination_plan *plan) {
    gpuopt__arena arena;
    int32_t b, p;
    *plan = draft->plan;
    arena.base = (char *)memory;
    arena.used = 0;
    gpuopt__elimination_cut_plan(&arena, plan);
    if (plan->variables) {
        memcpy(plan->domain, draft->desc->domain, sizeof(int32_t) * (size_t)plan->variables);
        memcpy(plan->position, draft->plan.position, sizeof(int32_t) * (size_t)plan->variables);
    }
    if (plan->steps) memcpy(plan->order, draft->plan.order, sizeof(int32_t) * (size_t)plan->steps);
    if (plan->conditions) memcpy(plan->condition, condition, sizeof(int32_t) * (size_t)plan->conditions);
    gpuopt__elimination_copy_list(plan->table, &draft->table);
    gpuopt__elimination_copy_list(plan->bucket, &draft->bucket);
    gpuopt__elimination_copy_list(plan->job, &draft->job);
    gpuopt__elimination_copy_list(plan->operand, &draft->operand);
    gpuopt__elimination_copy_list(plan->scope, &draft->scope);
    gpuopt__elimination_copy_list(plan->stride, &draft->stride);
    gpuopt__elimination_copy_list(plan->input, &draft->input);
    gpuopt__elimination_copy_list(plan->digit, &draft->digit);
    for (b = p = 0; p <= plan->steps + 1; p++) {
        while (b < plan->buckets && plan->bucket[b].position < p) b++;
        plan->first_bucket[p] = b;
    }
    for (b = p = 0; b < plan->tables; b++)
        if (gpuopt__elimination_is_root(plan, &plan->table[b])) plan->root[p++] = b;
    gpuopt__elimination_sort_levels(plan);
    memset(plan->offset, 0, sizeof(int64_t) * (size_t)plan->copies * (size_t)plan->condition_rows);
    memset(plan->fixed_value, 0, sizeof(int32_t) * (size_t)plan->copies * (size_t)plan->conditions);
}

#endif /* GPUOPT_IMPL_ELIMINATION_PLAN_BLOCK_H */
