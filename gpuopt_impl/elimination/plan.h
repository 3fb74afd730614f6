/* SPDX-License-Identifier: MIT
 *
 * Elimination: tries policies until a plan fits the memory, estimates what it takes, and copies it into the block of
 * memory that the handle keeps.
 */
#ifndef GPUOPT_IMPL_ELIMINATION_PLAN_H
#define GPUOPT_IMPL_ELIMINATION_PLAN_H

#include "plan_input.h"
#include "plan_places.h"

/* ---- What it takes ---- */

static void gpuopt__elimination_estimate(gpuopt__elimination_draft *draft, gpuopt_elimination_estimate *e) {
    gpuopt__elimination_plan *plan = &draft->plan;
    double repeated = (double)plan->copies * (double)plan->slices;
    double bytes = (double)gpuopt__elimination_cost_bytes(plan) +
                   (plan->semiring == GPUOPT_SEMIRING_MIN_COUNT ? sizeof(uint64_t) : 0);
    int64_t k, j;
    memset(e, 0, sizeof *e);
    for (k = plan->first_message; k < plan->first_message + plan->messages; k++) {
        const gpuopt__elimination_table *t = gpuopt__elimination_draft_table(draft, (int32_t)k);
        if (t->arity > e->width) e->width = t->arity;
        if ((double)t->entries > e->largest) e->largest = (double)t->entries;
        e->entries += (double)t->entries;
    }
    for (k = 0; k < draft->job.count; k++) {
        const gpuopt__elimination_job *job = (gpuopt__elimination_job *)draft->job.data + k;
        e->operations += (double)job->entries * job->values * (job->operands ? job->operands : 1) * repeated;
        e->bytes_moved += (double)job->entries * bytes * repeated;
        for (j = job->operand; j < job->operand + job->operands; j++) {
            const gpuopt__elimination_table *t =
                gpuopt__elimination_draft_table(draft, ((gpuopt__elimination_operand *)draft->operand.data)[j].table);
            int64_t view = t->fixed > 0 && t->fixed < t->arity
                               ? ((int64_t *)draft->stride.data)[t->scope + t->fixed - 1]
                           : t->fixed ? 1
                                      : t->entries;
            e->bytes_moved += (double)view * bytes * repeated;
        }
    }
    e->memory.struct_size = sizeof e->memory;
    e->bits = plan->bits;
    e->z = plan->z;
    e->messages = plan->messages;
    e->levels = plan->levels;
    e->sliced = plan->conditions - plan->host_conditions;
    e->slices = plan->slices;
}

/* The host memory that loading functions needs: bytes of a list written out, of a table, and of its counts. */
static void gpuopt__elimination_load_rooms(const gpuopt_elimination_desc *d, const gpuopt__elimination_draft *draft,
                                           uint64_t rooms[3]) {
    int32_t k;
    rooms[0] = sizeof(int64_t) * (uint64_t)gpuopt__elimination_largest_list(d);
    rooms[1] = rooms[2] = 0;
    for (k = 0; k < draft->plan.first_message; k++) {
        const gpuopt__elimination_table *t = gpuopt__elimination_draft_table(draft, k);
        uint64_t bytes = (uint64_t)t->entries * (uint64_t)gpuopt__elimination_cost_bytes(&draft->plan);
        if (bytes > rooms[1]) rooms[1] = bytes;
        if (t->count_at >= 0 && (uint64_t)t->entries * 8 > rooms[2]) rooms[2] = (uint64_t)t->entries * 8;
    }
}

/* ---- The block that lasts ---- */

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
    plan->bound = (gpuopt__elimination_total *)gpuopt__cut(arena, plan->largest_domain, sizeof *plan->bound);
    plan->staged_value = (int32_t *)gpuopt__cut(arena, plan->staged ? plan->variables : 0, sizeof(int32_t));
    plan->staged_cost = (int64_t *)gpuopt__cut(arena, plan->staged, sizeof(int64_t));
    plan->staged_count = (uint64_t *)gpuopt__cut(arena, plan->semiring == GPUOPT_SEMIRING_MIN_COUNT ? plan->staged : 0,
                                                 sizeof(uint64_t));
}

static uint64_t gpuopt__elimination_plan_bytes(const gpuopt__elimination_draft *draft) {
    gpuopt__elimination_plan plan = draft->plan;
    gpuopt__arena arena;
    memset(&arena, 0, sizeof arena);
    gpuopt__elimination_cut_plan(&arena, &plan);
    return arena.used;
}

/* Sorts the jobs by level. Jobs of one level do not wait for one another. */
static void gpuopt__elimination_sort_levels(gpuopt__elimination_plan *plan) {
    int32_t *ends = plan->in_order, level, j, sum = 0; /* counters first: there are no more levels than jobs */
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

/* Tiles may come in any order. Digits that the largest operands lack are made the fastest, so that what one tile has
 * read is still in a cache for the next. The last digit of a job with rows left over stays in its place. */
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

/* Brings the jobs of a draft into their final form. The plan of the draft points to them until its lists grow. */
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

/* Copies a draft into a plan in `memory` [gpuopt__elimination_plan_bytes]. condition, order, position: as prepared. */
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

/* ---- Policy ---- */

/* Bytes of the memory that the limit applies to. */
static uint64_t gpuopt__elimination_limited_bytes(const gpuopt_elimination_estimate *e) {
    return e->memory.device_bytes ? e->memory.device_bytes : e->memory.host_bytes;
}

/* Whether the entries of all tables together can be counted, so that offsets into stores do not overflow, in bytes
 * either. */
static int gpuopt__elimination_countable(const gpuopt__elimination_draft *draft) {
    double all = 0;
    int64_t k;
    for (k = 0; k < draft->table.count; k++) {
        const gpuopt__elimination_table *t = gpuopt__elimination_draft_table(draft, (int32_t)k);
        all += (double)t->entries * (t->source == -1 ? 1 : draft->plan.copies) + GPUOPT__ELIMINATION_TABLE_ALIGN;
    }
    return all < (double)((int64_t)1 << 56);
}

/* Makes a draft with z, places its tables, and says in *fits whether they fit. */
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
        e->memory.host_bytes = gpuopt__elimination_plan_bytes(draft);
        backend->plan(prep->scratch.context, &draft->plan, &e->memory);
        *fits = gpuopt__elimination_limited_bytes(e) <= limit;
        if (*fits || draft->plan.may_copy == 0) break;
    }
    return GPUOPT_OK;
}

/* Returns the variable that, when fixed, saves the most entries of messages; -1: there is none. *all: entries of all
 * messages. */
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

/* Adds slices, at most `most`, until the rest fits or cannot fit: slices make no message smaller than by their
 * number, and a cost takes at least a byte. */
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

/* Undoes all slicing. */
static void gpuopt__elimination_unslice(gpuopt__elimination_preparation *prep, const int32_t *order, int32_t steps) {
    gpuopt__elimination_plan *plan = &prep->draft.plan;
    if (steps) memcpy(prep->order, order, sizeof(int32_t) * (size_t)steps);
    plan->steps = steps;
    plan->conditions = plan->host_conditions;
    plan->slices = 1;
    gpuopt__elimination_place_variables(prep);
}

/* Finds the largest z that fits. */
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
    /* Not if variables are left over: the best slice could differ from one of their values to the next. */
    if (!status && !fits && d->copies == 1 && steps + d->condition_count == d->variables &&
        (automatic || d->policy == GPUOPT_POLICY_SLICE)) {
        double direct = prep->draft.too_large ? HUGE_VAL : e->operations;
        policy = GPUOPT_POLICY_SLICE;
        status = gpuopt__elimination_try_slices(
            prep, limit, automatic ? GPUOPT__ELIMINATION_AUTO_SLICES : GPUOPT__ELIMINATION_MOST_SLICES, e, &fits);
        if (automatic && e->operations > GPUOPT__ELIMINATION_AUTO_REPEATED * direct) fits = 0;
        if (!status && !fits) gpuopt__elimination_unslice(prep, order, steps);
    }
    /* AUTO needs a limit: how much host memory is free is unknown here, and STREAM touches all that it takes. */
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

/* Completes a prepared plan with a policy that fits. create_bytes is host memory: the peak of making the plan, or
 * the part of it that remains while functions are loaded, when the memory of the handle is taken as well. */
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
    e->memory.create_bytes += prep->scratch.bytes;
    for (k = 0; k < 3; k++) e->memory.create_bytes += gpuopt__elimination_scratch_size(rooms[k]);
    if (e->memory.host_bytes + e->memory.create_bytes < prep->scratch.most)
        e->memory.create_bytes = prep->scratch.most - e->memory.host_bytes;
    return GPUOPT_OK;
}

#endif /* GPUOPT_IMPL_ELIMINATION_PLAN_H */
