/* SPDX-License-Identifier: MIT
 *
 * Elimination of scopes alone: which tables meet in which bucket, the variables of each message, and where a bucket is
 * split into mini-buckets.
 */
#ifndef GPUOPT_IMPL_ELIMINATION_PLAN_BUCKETS_H
#define GPUOPT_IMPL_ELIMINATION_PLAN_BUCKETS_H

#include "check.h"

/* A plan in the making. */
typedef struct gpuopt__elimination_draft {
    gpuopt__elimination_scratch *scratch;
    const gpuopt_elimination_desc *desc;
    const gpuopt__elimination_function_range *range; /* [functions] */
    gpuopt__elimination_plan plan;                   /* its arrays stay NULL, except the following */
    gpuopt__elimination_list table, bucket, scope, stride, input, job, operand, digit;
    int32_t *next;        /* [tables to come] the next table of a bucket */
    int32_t *head, *tail; /* [steps + 2] a bucket's first and last table; -1 */
    int32_t *mark;        /* [variables] 1 + the last union with the variable */
    int32_t unions;
    int64_t next_capacity;
    int too_large; /* a table has more entries than can be counted; this draft cannot be carried out */
    int gave_up;   /* too large already by its scopes: the draft ends before its last bucket */
} gpuopt__elimination_draft;

static gpuopt__elimination_table *gpuopt__elimination_draft_table(const gpuopt__elimination_draft *draft, int32_t k) {
    return (gpuopt__elimination_table *)draft->table.data + k;
}

static const int32_t *gpuopt__elimination_draft_scope(const gpuopt__elimination_draft *draft,
                                                      const gpuopt__elimination_table *t) {
    return (const int32_t *)draft->scope.data + t->scope;
}

/* A variable's place in every scope: evidence variables come first. */
static int32_t gpuopt__elimination_draft_rank(const gpuopt__elimination_draft *draft, int32_t variable) {
    return draft->plan.position[variable];
}

/* Insertion sort: scopes are short and nearly sorted. */
static void gpuopt__elimination_sort_scope(const gpuopt__elimination_draft *draft, int32_t *scope, int32_t count) {
    int32_t i, j;
    for (i = 1; i < count; i++) {
        int32_t variable = scope[i], rank = gpuopt__elimination_draft_rank(draft, variable);
        for (j = i; j > 0 && gpuopt__elimination_draft_rank(draft, scope[j - 1]) > rank; j--) scope[j] = scope[j - 1];
        scope[j] = variable;
    }
}

static int32_t gpuopt__elimination_next_union(gpuopt__elimination_draft *draft) {
    if (++draft->unions == INT32_MAX) {
        memset(draft->mark, 0, sizeof(int32_t) * (size_t)draft->plan.variables);
        draft->unions = 1;
    }
    return draft->unions;
}

/* Adds a table over `arity` variables, in any order. Returns its number, or -1 if there is no memory. */
static int32_t gpuopt__elimination_add_table(gpuopt__elimination_draft *draft, int32_t arity,
                                             const int32_t *variables) {
    gpuopt__elimination_table *t =
        (gpuopt__elimination_table *)gpuopt__elimination_list_add(draft->scratch, &draft->table, 1);
    int64_t at = draft->scope.count, entries = 1;
    int32_t *scope = (int32_t *)gpuopt__elimination_list_add(draft->scratch, &draft->scope, arity);
    int64_t *stride = (int64_t *)gpuopt__elimination_list_add(draft->scratch, &draft->stride, arity);
    int32_t k;
    if (!t || !scope || !stride) return -1;
    if (arity > 0) memcpy(scope, variables, sizeof(int32_t) * (size_t)arity);
    gpuopt__elimination_sort_scope(draft, scope, arity);
    t->scope = at;
    t->arity = arity;
    t->function = -1;
    t->count_at = -1;
    for (k = arity - 1; k >= 0; k--) {
        stride[k] = entries;
        draft->too_large |= entries > GPUOPT__ELIMINATION_MOST_ENTRIES / draft->desc->domain[scope[k]];
        if (!draft->too_large) entries *= draft->desc->domain[scope[k]];
    }
    t->entries = entries;
    while (t->fixed < arity && gpuopt__elimination_draft_rank(draft, scope[t->fixed]) < 0) t->fixed++;
    return (int32_t)(draft->table.count - 1);
}

/* Puts a table into the bucket that reads it: the bucket of the first variable of its scope to be eliminated. */
static void gpuopt__elimination_put_in_bucket(gpuopt__elimination_draft *draft, int32_t number) {
    gpuopt__elimination_table *t = gpuopt__elimination_draft_table(draft, number);
    int32_t steps = draft->plan.steps, at = steps;
    if (t->fixed < t->arity)
        at = gpuopt__elimination_draft_rank(draft, gpuopt__elimination_draft_scope(draft, t)[t->fixed]);
    if (at > steps) at = steps;
    t->bucket = at;
    draft->next[number] = -1;
    if (draft->head[at] < 0) draft->head[at] = number;
    else draft->next[draft->tail[at]] = number;
    draft->tail[at] = number;
}

/* ---- Mini-buckets ---- */

/* A table of a bucket to partition. Tables with the largest spread of costs per new variable come first. */
typedef struct gpuopt__elimination_candidate {
    double urgency;
    int32_t arity, at; /* at: in the bucket */
} gpuopt__elimination_candidate;

static int gpuopt__elimination_more_urgent(const void *a, const void *b) {
    const gpuopt__elimination_candidate *l = (const gpuopt__elimination_candidate *)a,
                                        *r = (const gpuopt__elimination_candidate *)b;
    if (l->urgency != r->urgency) return l->urgency > r->urgency ? -1 : 1;
    return l->arity != r->arity ? r->arity - l->arity : l->at - r->at;
}

/* The tables of a bucket and their partition: part[k] of inputs[k]. */
typedef struct gpuopt__elimination_partition {
    int32_t count, parts;
    int32_t *input, *part;                    /* [count] */
    gpuopt__elimination_candidate *candidate; /* [count] */
} gpuopt__elimination_partition;

/* Returns how many free variables of a table are not marked yet; with `keep` marks them. */
static int32_t gpuopt__elimination_new_variables(gpuopt__elimination_draft *draft, const gpuopt__elimination_table *t,
                                                 int32_t mark, int keep) {
    const int32_t *scope = gpuopt__elimination_draft_scope(draft, t);
    int32_t k, fresh = 0;
    for (k = t->fixed; k < t->arity; k++)
        if (draft->mark[scope[k]] != mark) {
            fresh++;
            if (keep) draft->mark[scope[k]] = mark;
        }
    return fresh;
}

/* Splits a bucket greedily: the most urgent tables first, each into the first mini-bucket that stays within z
 * variables. The bounds are far better than with the largest tables first. These are often constraints, with costs 0 or
 * forbidden. For sums of exponentials the number of mini-buckets matters most, so there the largest tables come
 * first. */
static void gpuopt__elimination_partition_bucket(gpuopt__elimination_draft *draft, gpuopt__elimination_partition *p,
                                                 int32_t z) {
    int32_t left = p->count, k;
    p->parts = 0;
    for (k = 0; k < p->count; k++) {
        const gpuopt__elimination_table *t = gpuopt__elimination_draft_table(draft, p->input[k]);
        p->candidate[k].urgency = t->spread / (t->arity - t->fixed - 0.999);
        p->candidate[k].arity = t->arity;
        p->candidate[k].at = k;
    }
    gpuopt__elimination_sort(p->candidate, p->count, sizeof *p->candidate, gpuopt__elimination_more_urgent);
    while (left > 0) {
        int32_t mark = gpuopt__elimination_next_union(draft), size = 0, kept = 0;
        for (k = 0; k < left; k++) {
            int32_t at = p->candidate[k].at;
            const gpuopt__elimination_table *t = gpuopt__elimination_draft_table(draft, p->input[at]);
            if (size > 0 && size + gpuopt__elimination_new_variables(draft, t, mark, 0) > z) {
                p->candidate[kept++] = p->candidate[k];
                continue;
            }
            size += gpuopt__elimination_new_variables(draft, t, mark, 1);
            p->part[at] = p->parts;
        }
        left = kept;
        p->parts++;
    }
}

/* ---- Buckets ---- */

/* Adds a bucket of the tables `input`, and its message without `variable` (-1: all variables stay). */
static gpuopt_status gpuopt__elimination_add_bucket(gpuopt__elimination_draft *draft, int32_t position,
                                                    int32_t variable, int32_t part, int32_t count,
                                                    const int32_t *input) {
    int32_t mark = gpuopt__elimination_next_union(draft), arity = 0, k, j, message;
    int64_t first = draft->input.count;
    gpuopt__elimination_bucket *bucket =
        (gpuopt__elimination_bucket *)gpuopt__elimination_list_add(draft->scratch, &draft->bucket, 1);
    int32_t *inputs = (int32_t *)gpuopt__elimination_list_add(draft->scratch, &draft->input, count), *variables;
    int64_t offset = 0, most = 0;
    double spread = 0;
    if (!bucket || !inputs) return draft->scratch->status;
    for (k = 0; k < count; k++) {
        const gpuopt__elimination_table *t = gpuopt__elimination_draft_table(draft, input[k]);
        inputs[k] = input[k];
        offset += t->offset; /* checked before: the sum of all least costs fits */
        spread += t->spread;
        most += t->arity;
    }
    variables = (int32_t *)gpuopt__elimination_scratch_take(draft->scratch, sizeof(int32_t) * (uint64_t)most);
    if (!variables) return draft->scratch->status;
    if (variable >= 0) draft->mark[variable] = mark;
    for (k = 0; k < count; k++) {
        const gpuopt__elimination_table *t = gpuopt__elimination_draft_table(draft, input[k]);
        const int32_t *scope = gpuopt__elimination_draft_scope(draft, t);
        for (j = t->fixed; j < t->arity; j++)
            if (draft->mark[scope[j]] != mark) {
                draft->mark[scope[j]] = mark;
                variables[arity++] = scope[j];
            }
    }
    message = gpuopt__elimination_add_table(draft, arity, variables);
    gpuopt__elimination_scratch_give(draft->scratch, variables, sizeof(int32_t) * (uint64_t)most);
    if (message < 0) return draft->scratch->status;
    gpuopt__elimination_draft_table(draft, message)->source = position;
    gpuopt__elimination_draft_table(draft, message)->offset = offset;
    gpuopt__elimination_draft_table(draft, message)->spread = spread;
    bucket->position = position;
    bucket->variable = variable;
    bucket->part = part;
    bucket->message = message;
    bucket->input = first;
    bucket->inputs = count;
    draft->plan.messages++;
    return GPUOPT_OK;
}

/* Makes next[] at least `tables` entries long. */
static gpuopt_status gpuopt__elimination_draft_reserve(gpuopt__elimination_draft *draft, int64_t tables) {
    int32_t *next;
    if (tables <= draft->next_capacity) return GPUOPT_OK;
    next = (int32_t *)gpuopt__elimination_scratch_take(draft->scratch, sizeof(int32_t) * (uint64_t)tables * 2);
    if (!next) return draft->scratch->status;
    if (draft->next_capacity) memcpy(next, draft->next, sizeof(int32_t) * (size_t)draft->next_capacity);
    gpuopt__elimination_scratch_give(draft->scratch, draft->next, sizeof(int32_t) * (uint64_t)draft->next_capacity);
    draft->next = next;
    draft->next_capacity = tables * 2;
    return GPUOPT_OK;
}

/* Adds all mini-buckets of one position. z == 0: a single bucket. */
static gpuopt_status gpuopt__elimination_draft_position(gpuopt__elimination_draft *draft, int32_t position,
                                                        int32_t variable, int32_t z) {
    gpuopt__elimination_partition p;
    gpuopt_status status = GPUOPT_OK;
    int32_t *scratch, k, part, *chosen;
    int64_t first = draft->bucket.count;
    uint64_t bytes, sorted = 0;
    memset(&p, 0, sizeof p);
    for (k = draft->head[position]; k >= 0; k = draft->next[k]) p.count++;
    bytes = sizeof(int32_t) * 3 * (uint64_t)p.count;
    if (z > 0) sorted = sizeof *p.candidate * (uint64_t)p.count;
    p.candidate = (gpuopt__elimination_candidate *)gpuopt__elimination_scratch_take(draft->scratch, sorted + bytes);
    if (!p.candidate) return draft->scratch->status;
    scratch = (int32_t *)(void *)((char *)p.candidate + sorted);
    p.input = scratch;
    p.part = scratch + p.count;
    chosen = scratch + 2 * p.count;
    p.count = 0;
    for (k = draft->head[position]; k >= 0; k = draft->next[k]) {
        p.part[p.count] = 0;
        p.input[p.count++] = k;
    }
    if (z > 0) gpuopt__elimination_partition_bucket(draft, &p, z);
    if (p.parts == 0) p.parts = 1; /* exact, or no table mentions the variable */
    for (part = 0; part < p.parts && !status; part++) {
        int32_t count = 0;
        for (k = 0; k < p.count; k++)
            if (p.part[k] == part) chosen[count++] = p.input[k];
        status = gpuopt__elimination_add_bucket(draft, position, variable, part, count, chosen);
    }
    gpuopt__elimination_scratch_give(draft->scratch, p.candidate, sorted + bytes);
    if (!status) status = gpuopt__elimination_draft_reserve(draft, draft->table.count + 1);
    for (; first < draft->bucket.count && !status; first++)
        gpuopt__elimination_put_in_bucket(draft, ((gpuopt__elimination_bucket *)draft->bucket.data)[first].message);
    return status;
}

/* Whether a function is a message in device memory. */
static int gpuopt__elimination_on_device(const gpuopt__elimination_draft *draft, int32_t table) {
    const gpuopt__elimination_packed *p =
        gpuopt__elimination_packed_of(&draft->desc->function[gpuopt__elimination_draft_table(draft, table)->function]);
    return p && p->where == GPUOPT_DEVICE;
}

static gpuopt_status gpuopt__elimination_draft_functions(gpuopt__elimination_draft *draft) {
    const gpuopt_elimination_desc *d = draft->desc;
    gpuopt_status status = gpuopt__elimination_draft_reserve(draft, (int64_t)d->functions + 1);
    int32_t k;
    for (k = 0; k < d->functions && !status; k++) {
        int32_t number;
        number = gpuopt__elimination_add_table(draft, d->function[k].arity, d->function[k].scope);
        if (number < 0) return draft->scratch->status;
        gpuopt__elimination_draft_table(draft, number)->source = -1;
        gpuopt__elimination_draft_table(draft, number)->function = k;
        gpuopt__elimination_draft_table(draft, number)->offset = draft->range[k].least;
        gpuopt__elimination_draft_table(draft, number)->spread = draft->range[k].weight;
        gpuopt__elimination_put_in_bucket(draft, number);
    }
    return status;
}

static void gpuopt__elimination_draft_clear(gpuopt__elimination_draft *draft) {
    draft->table.count = draft->bucket.count = draft->scope.count = draft->stride.count = draft->input.count = 0;
    draft->job.count = draft->operand.count = draft->digit.count = 0;
    draft->plan.messages = 0;
    draft->too_large = draft->gave_up = 0;
}

/* Carries out the whole elimination on scopes, by the given plan.order and plan.position. */
static gpuopt_status gpuopt__elimination_draft_run(gpuopt__elimination_draft *draft, int32_t z) {
    gpuopt__elimination_plan *plan = &draft->plan;
    gpuopt_status status;
    int32_t p;
    gpuopt__elimination_draft_clear(draft);
    for (p = 0; p < plan->steps + 2; p++) draft->head[p] = -1;
    status = gpuopt__elimination_draft_functions(draft);
    plan->first_message = plan->first_device = (int32_t)draft->table.count;
    while (plan->first_device > 0 && gpuopt__elimination_on_device(draft, plan->first_device - 1)) plan->first_device--;
    for (p = 0; p < plan->steps && !status && !draft->gave_up; p++) {
        status = gpuopt__elimination_draft_position(draft, p, plan->order[p], z);
        draft->gave_up = draft->too_large && draft->scope.count > GPUOPT__ELIMINATION_MOST_SCOPES;
    }
    if (!status && plan->join_rest && !draft->gave_up) {
        status = gpuopt__elimination_draft_position(draft, plan->steps, -1, 0);
        if (!status) gpuopt__elimination_draft_table(draft, (int32_t)draft->table.count - 1)->bucket = plan->steps + 1;
    }
    plan->z = z;
    return status;
}

#endif /* GPUOPT_IMPL_ELIMINATION_PLAN_BUCKETS_H */
