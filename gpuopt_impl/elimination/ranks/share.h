/* SPDX-License-Identifier: MIT
 *
 * Elimination by the ranks of a group: each rank has a part of the model, which is a model itself. Values of variables
 * divide the assignments: half of the ranks take the first half of one variable's values, the others the rest. Each
 * half is divided again, perhaps by another variable. A rank stores a table that mentions split variables only for its
 * values of them. The result is the best, or the sum, of all parts (join.h). All code below this file sees an
 * ordinary model.
 */
#ifndef GPUOPT_IMPL_ELIMINATION_RANKS_SHARE_H
#define GPUOPT_IMPL_ELIMINATION_RANKS_SHARE_H

#include "../plan/input.h"
#include "../plan/policies.h"
#include "join.h"

/* A rank's part of a model. */
typedef struct gpuopt__elimination_share {
    gpuopt_group *group; /* NULL: the whole model, and all other members are 0 */
    int32_t ranks, rank;
    int idle;                              /* fewer assignments than ranks: another rank has this part, too */
    int32_t split;                         /* variables with values outside this part */
    gpuopt_elimination_desc desc;          /* the part */
    gpuopt__elimination_options options;   /* of desc */
    int32_t *first, *domain;               /* [variables] the least value; the number of values */
    int32_t *order;                        /* [variables] the same on all ranks; of the whole model */
    gpuopt_elimination_function *function; /* [functions] */
    void *block, *tables;                  /* memory of these four arrays; of the functions' entries */
} gpuopt__elimination_share;

/* ---- Division of values ---- */

/* The work of each bucket with the part's values: in total, and of the buckets that mention a variable. gain
 * [variables]. */
static double gpuopt__elimination_share_work(const gpuopt__elimination_draft *draft, const int32_t *domain,
                                             double *gain) {
    double all = 0;
    int64_t k;
    int32_t j;
    for (k = 0; k < draft->plan.variables; k++) gain[k] = 0;
    for (k = 0; k < draft->bucket.count; k++) {
        const gpuopt__elimination_bucket *b = (const gpuopt__elimination_bucket *)draft->bucket.data + k;
        const gpuopt__elimination_table *t = gpuopt__elimination_draft_table(draft, b->message);
        const int32_t *scope = gpuopt__elimination_draft_scope(draft, t);
        double work = b->inputs + 1;
        if (b->variable >= 0) work *= domain[b->variable];
        for (j = 0; j < t->arity && work < 1e250; j++) work *= domain[scope[j]]; /* no infinity */
        for (j = 0; j < t->arity; j++) gain[scope[j]] += work;
        if (b->variable >= 0) gain[b->variable] += work;
        all += work;
    }
    return all;
}

/* How many of `values` values go to the first `left` of `ranks` ranks: in proportion, and at least one for either
 * side. */
static int32_t gpuopt__elimination_share_values(int32_t values, int32_t left, int32_t ranks) {
    const int64_t part = (2 * (int64_t)values * left + ranks) / (2 * (int64_t)ranks);
    return part < 1 ? 1 : part >= values ? values - 1 : (int32_t)part;
}

/* The variable to split among the ranks: it leaves the least work among the variables with values that either side can
 * divide evenly among its ranks. -1: each variable has one value. */
static int32_t gpuopt__elimination_share_variable(const gpuopt__elimination_draft *draft, const int32_t *domain,
                                                  int32_t ranks, double *gain) {
    const double all = gpuopt__elimination_share_work(draft, domain, gain);
    const int32_t left = (ranks + 1) / 2;
    double least = 0;
    int32_t v, best = -1;
    for (v = 0; v < draft->plan.variables; v++) {
        double low, high, rest;
        int32_t values;
        if (draft->plan.position[v] < 0 || domain[v] < 2) continue; /* evidence, or no values to split */
        values = gpuopt__elimination_share_values(domain[v], left, ranks);
        low = (double)values / left;
        high = (double)(domain[v] - values) / (ranks - left);
        rest = all - gain[v] + gain[v] * (low > high ? low : high) * ranks / (2.0 * domain[v]);
        if (best >= 0 && !(rest < least)) continue;
        least = rest;
        best = v;
    }
    return best;
}

/* Chooses the rank's values. */
static void gpuopt__elimination_share_choose(gpuopt__elimination_share *s, const gpuopt__elimination_draft *draft,
                                             double *gain) {
    const int32_t *whole = draft->desc->domain;
    int32_t from = 0, ranks = s->ranks, v;
    for (v = 0; v < draft->plan.variables; v++) s->domain[v] = whole[v], s->first[v] = 0;
    while (ranks > 1) {
        const int32_t left = (ranks + 1) / 2, split = gpuopt__elimination_share_variable(draft, s->domain, ranks, gain);
        int32_t values;
        if (split < 0) break;
        values = gpuopt__elimination_share_values(s->domain[split], left, ranks);
        if (s->rank < from + left) {
            s->domain[split] = values;
            ranks = left;
        } else {
            s->first[split] += values;
            s->domain[split] -= values;
            from += left;
            ranks -= left;
        }
    }
    s->idle = s->rank != from;
    for (v = 0; v < draft->plan.variables; v++) s->split += s->domain[v] < whole[v];
}

/* ---- Entries of the part ---- */

/* Whether a tuple is in the part. */
static int gpuopt__elimination_share_has(const gpuopt__elimination_share *s, const gpuopt_elimination_function *f,
                                         int64_t tuple) {
    int32_t j;
    for (j = 0; j < f->arity; j++) {
        const int32_t value = f->tuple[tuple * f->arity + j] - s->first[f->scope[j]];
        if (value < 0 || value >= s->domain[f->scope[j]]) return 0;
    }
    return 1;
}

/* Copies the part's entries, 8 bytes each, of a dense table; split: the last variable of its scope that is split. */
static void gpuopt__elimination_share_entries(const gpuopt__elimination_share *s, const int32_t *whole,
                                              const gpuopt_elimination_function *f, int32_t split, const void *from,
                                              void *to) {
    int64_t inner = 1, outer = 1, run, k;
    int32_t j;
    for (j = split + 1; j < f->arity; j++) inner *= whole[f->scope[j]];
    for (j = 0; j < split; j++) outer *= s->domain[f->scope[j]];
    run = inner * s->domain[f->scope[split]];
    for (k = 0; k < outer; k++) {
        int64_t rest = k, at = inner * s->first[f->scope[split]], stride = inner * whole[f->scope[split]];
        for (j = split - 1; j >= 0; j--) {
            const int32_t v = f->scope[j];
            at += (s->first[v] + rest % s->domain[v]) * stride;
            rest /= s->domain[v];
            stride *= whole[v];
        }
        memcpy((char *)to + 8 * k * run, (const char *)from + 8 * at, 8 * (size_t)run);
    }
}

/* Cuts the part of a function out of an arena, and fills it in unless the arena has no memory yet. A function without
 * split variables uses the caller's arrays. */
static void gpuopt__elimination_share_function(const gpuopt__elimination_share *s, const gpuopt_elimination_desc *d,
                                               const gpuopt_elimination_function *f, gpuopt__arena *arena,
                                               gpuopt_elimination_function *part) {
    const void *entries = d->type == GPUOPT_COST_INT64 ? (const void *)f->cost : (const void *)f->value;
    int64_t count = 0, k;
    const int dense = gpuopt__elimination_is_dense(f);
    int32_t split = f->arity - 1, j, *tuple = NULL;
    uint64_t *counts = NULL;
    char *own;
    *part = *f;
    while (split >= 0 && s->domain[f->scope[split]] == d->domain[f->scope[split]]) split--;
    if (split < 0) return;
    if (dense) count = gpuopt__elimination_scope_entries(s->domain, f->arity, f->scope);
    for (k = 0; k < f->tuples; k++) count += gpuopt__elimination_share_has(s, f, k);
    own = (char *)gpuopt__cut(arena, count, 8);
    if (f->count) counts = (uint64_t *)gpuopt__cut(arena, count, 8);
    if (!dense) tuple = (int32_t *)gpuopt__cut(arena, count * f->arity, sizeof *tuple);
    if (!arena->base) return;
    part->cost = count > 0 && d->type == GPUOPT_COST_INT64 ? (const int64_t *)(void *)own : NULL;
    part->value = count > 0 && d->type == GPUOPT_COST_DOUBLE ? (const double *)(void *)own : NULL;
    part->count = counts;
    part->tuple = tuple;
    if (dense) {
        gpuopt__elimination_share_entries(s, d->domain, f, split, entries, own);
        if (counts) gpuopt__elimination_share_entries(s, d->domain, f, split, f->count, counts);
        return;
    }
    part->tuples = count;
    for (k = 0; k < f->tuples; k++) {
        if (!gpuopt__elimination_share_has(s, f, k)) continue;
        memcpy(own, (const char *)entries + 8 * k, 8);
        own += 8;
        for (j = 0; j < f->arity; j++) *tuple++ = f->tuple[k * f->arity + j] - s->first[f->scope[j]];
    }
}

/* ---- The part ---- */

/* Makes the rank's part of the model in prep. */
static gpuopt_status gpuopt__elimination_share_make(gpuopt__elimination_preparation *prep,
                                                    gpuopt__elimination_share *s) {
    const gpuopt_elimination_desc *d = &prep->desc;
    gpuopt__arena arena = {NULL, 0};
    gpuopt_status status = gpuopt__elimination_draft_run(&prep->draft, 0);
    double *gain = NULL;
    int32_t k;
    int pass;
    for (pass = 0; pass < 2 && !status; pass++) {
        if (pass) {
            s->block = gpuopt__elimination_scratch_take(&prep->scratch, arena.used);
            if (!s->block) return prep->scratch.status;
        }
        arena.base = (char *)s->block;
        arena.used = 0;
        s->first = (int32_t *)gpuopt__cut(&arena, d->variables, sizeof *s->first);
        s->domain = (int32_t *)gpuopt__cut(&arena, d->variables, sizeof *s->domain);
        s->order = (int32_t *)gpuopt__cut(&arena, d->variables, sizeof *s->order);
        s->function = (gpuopt_elimination_function *)gpuopt__cut(&arena, d->functions, sizeof *s->function);
        gain = (double *)gpuopt__cut(&arena, d->variables, sizeof *gain);
    }
    if (status) return status;
    gpuopt__elimination_share_choose(s, &prep->draft, gain);
    if (prep->draft.plan.steps) memcpy(s->order, prep->order, sizeof(int32_t) * (size_t)prep->draft.plan.steps);
    for (pass = 0; pass < 2; pass++) {
        if (pass) {
            s->tables = gpuopt__elimination_scratch_take(&prep->scratch, arena.used);
            if (!s->tables) return prep->scratch.status;
        }
        arena.base = (char *)s->tables;
        arena.used = 0;
        for (k = 0; k < d->functions; k++)
            gpuopt__elimination_share_function(s, d, &d->function[k], &arena, &s->function[k]);
    }
    gpuopt__elimination_copy_desc(d, &s->desc, &s->options);
    s->desc.group = NULL;
    s->desc.domain = s->domain;
    s->desc.function = s->function;
    s->desc.order = s->order;
    s->desc.order_count = prep->draft.plan.steps;
    return GPUOPT_OK;
}

/* Prepares the part instead of the whole model. */
static gpuopt_status gpuopt__elimination_share_prepare(gpuopt_context *context, const char *call,
                                                       gpuopt__elimination_preparation *prep,
                                                       gpuopt__elimination_share *s) {
    gpuopt__elimination_scratch before;
    gpuopt_status status;
    gpuopt__elimination_preparation_end(prep);
    before = prep->scratch; /* keeps the scratch memory of the part */
    status = gpuopt__elimination_prepare(context, call, &s->desc, prep);
    prep->scratch.bytes += before.bytes;
    prep->scratch.most += before.bytes;
    if (prep->scratch.most < before.most) prep->scratch.most = before.most;
    prep->draft.plan.ranks = s->ranks;
    prep->draft.plan.whole_steps = s->desc.order_count;
    return status;
}

/* The ranks compare the model, take the order of rank 0, and each prepares its part. */
static gpuopt_status gpuopt__elimination_share_begin(gpuopt_context *context, const char *call,
                                                     gpuopt__elimination_preparation *prep,
                                                     gpuopt__elimination_share *s, gpuopt_status status) {
    const gpuopt_elimination_desc *d = &prep->desc;
    const int32_t steps = prep->draft.plan.steps;
    if (!status && steps + d->evidence_count < d->variables)
        status = gpuopt__refuse(context, GPUOPT_ERROR_UNSUPPORTED, call,
                                "a group needs an order of all variables that are not conditioned");
    status = gpuopt__ranks_agree(context, s->group, call, status, status ? 0 : gpuopt__elimination_desc_fingerprint(d));
    if (!status && steps)
        status = gpuopt_group_broadcast(s->group, GPUOPT_HOST, 0, prep->order, sizeof(int32_t) * (uint64_t)steps);
    if (status) {
        s->group = NULL; /* all ranks have noticed */
        return status;
    }
    gpuopt__elimination_place_variables(prep);
    status = gpuopt__elimination_share_make(prep, s);
    return status ? status : gpuopt__elimination_share_prepare(context, call, prep, s);
}

/* Ends the preparation, and returns whether all ranks completed it. */
static gpuopt_status gpuopt__elimination_share_end(const gpuopt_context *context, const char *call,
                                                   gpuopt__elimination_preparation *prep, gpuopt__elimination_share *s,
                                                   gpuopt_status status) {
    gpuopt__elimination_preparation_end(prep);
    gpuopt__release(context, GPUOPT_HOST, s->tables);
    gpuopt__release(context, GPUOPT_HOST, s->block);
    if (!s->group) return status;
    return gpuopt__ranks_agree(context, s->group, call, status, 0);
}

/* Begins a preparation from the caller's descriptor; fault: the status of other arguments. With a group, prep then
 * describes this rank's part. gpuopt__elimination_share_end ends both, and returns whether all ranks completed it. */
static gpuopt_status gpuopt__elimination_begin_share(gpuopt_context *context, const char *call,
                                                     const gpuopt_elimination_desc *desc, gpuopt_status fault,
                                                     gpuopt__elimination_preparation *prep,
                                                     gpuopt__elimination_share *share) {
    gpuopt_elimination_desc d;
    gpuopt_group_info group;
    gpuopt_status status = GPUOPT_OK, begun;
    memset(share, 0, sizeof *share);
    memset(&d, 0, sizeof d);
    memset(&group, 0, sizeof group);
    if (desc && GPUOPT__COPY_IN(NULL, NULL, gpuopt_elimination_desc, &d, desc))
        status = gpuopt__ranks_of(context, call, &d.group, &group);
    begun = gpuopt__elimination_begin(context, call, desc, fault, prep);
    if (!status) status = begun;
    if (!d.group || group.count == 1) return status;
    if (!status && prep->desc.messages->count)
        status = gpuopt__refuse(context, GPUOPT_ERROR_UNSUPPORTED, call, "ranks share no model with messages");
    share->group = d.group;
    share->ranks = group.count;
    share->rank = group.rank;
    return gpuopt__elimination_share_begin(context, call, prep, share, status);
}

/* The estimate of a rank's part. */
static gpuopt_status gpuopt__elimination_plan_share(gpuopt__elimination_preparation *prep, const char *call,
                                                    const gpuopt__elimination_share *share,
                                                    gpuopt_elimination_estimate *e) {
    gpuopt_status status = gpuopt__elimination_make_plan(prep, call, e);
    e->split = share->split;
    if (share->group) /* _step and _assign: two agreements on three numbers and a report each; and an assignment */
        e->exchanged = 4 * 3 * sizeof(int64_t) + 2 * sizeof(gpuopt__elimination_report) +
                       sizeof(int32_t) * (double)prep->desc.variables;
    return status;
}

/* Gives the part to a handle. */
static void gpuopt__elimination_share_install(const gpuopt__elimination_share *share, gpuopt_elimination *e) {
    const gpuopt__elimination_plan *plan = &e->plan;
    e->group = share->group;
    e->idle = share->idle;
    if (!share->group) return;
    if (plan->variables) memcpy(plan->first, share->first, sizeof(int32_t) * (size_t)plan->variables);
    if (plan->whole_steps) memcpy(plan->whole_order, share->order, sizeof(int32_t) * (size_t)plan->whole_steps);
}

#endif /* GPUOPT_IMPL_ELIMINATION_RANKS_SHARE_H */
