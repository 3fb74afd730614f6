/* SPDX-License-Identifier: MIT
 *
 * Elimination: the mini-bucket relaxation of a model, as a model. Each mini-bucket of a variable has a copy of the
 * variable. Eliminating the copies exactly equals eliminating the variable by mini-buckets. Each copy has a shift,
 * which is a separate function; the shifts of a variable's copies add up to zero.
 */
#ifndef GPUOPT_IMPL_ELIMINATION_RELAX_MODEL_H
#define GPUOPT_IMPL_ELIMINATION_RELAX_MODEL_H

#include "../plan/input.h"

/* INT64: the factor from costs of the model to costs of a relaxation, so that shifts may be fractions. It is the
 * largest power of two that keeps costs within 30 bits, but at least LEAST if 60 bits suffice for that. With 1, model
 * 404's bound at z = 15 stays at 111; with 16 and more it reaches 112 and 113. */
#define GPUOPT__ELIMINATION_SCALE_MOST 256
#define GPUOPT__ELIMINATION_SCALE_LEAST 16

struct gpuopt_elimination_cost_shifting {
    gpuopt_context *context;
    gpuopt_elimination_desc desc; /* of the relaxation; its arrays are behind the handle */
    gpuopt__elimination_options options;
    gpuopt_elimination_cost_shifting_info info;
    int32_t copies, groups; /* variables of the relaxation to eliminate; original variables with several copies */
    int32_t *domain;        /* [desc.variables]: copies, then evidence variables */
    int32_t *original;      /* [desc.variables] */
    int32_t *order;         /* [copies] */
    int32_t *condition;     /* [desc.condition_count] */
    int32_t *group;         /* [groups + 1] the first split copy of each; split copies are numbered from 0 */
    int32_t *split;         /* [split copies] their variables */
    int64_t *shift_at;      /* [split copies + 1] start of each copy's values in the following */
    int64_t *shift_cost;    /* in units of the relaxation; MAX_SUM: in the caller's sign */
    double *shift_value;    /* DOUBLE: instead of shift_cost */
    double *now, *best;     /* shifts before rounding, negated with MAX_SUM, in units of the model */
    int32_t *value;         /* [desc.variables] of the last value phase */
    int64_t *cost;          /* of all functions, as given by the caller, times the scale */
    double *real;           /* DOUBLE: instead of cost */
    int32_t *tuple, *scope;
    gpuopt_elimination_function *function;
    int64_t most;   /* largest size of a shift, in units of `unit` */
    double unit;    /* of shifts: sums of them are exact */
    int64_t lowest; /* INT64: the best bound, negated with MAX_SUM, in units of the relaxation */
};

/* The lengths of a relaxation's arrays. */
typedef struct gpuopt__elimination_relax_sizes {
    int64_t costs, tuples, scopes, shifts;
    int32_t split; /* copies with a shift */
} gpuopt__elimination_relax_sizes;

static int64_t gpuopt__elimination_listed_costs(const gpuopt_elimination_desc *d,
                                                const gpuopt_elimination_function *f) {
    return gpuopt__elimination_is_dense(f) ? gpuopt__elimination_scope_entries(d->domain, f->arity, f->scope)
                                           : f->tuples;
}

static const gpuopt__elimination_bucket *gpuopt__elimination_draft_bucket(const gpuopt__elimination_draft *draft,
                                                                          int64_t k) {
    return (const gpuopt__elimination_bucket *)draft->bucket.data + k;
}

/* Whether bucket k of a draft is one of several of its variable; *first: not 0 if it is the first of them. */
static int gpuopt__elimination_is_split(const gpuopt__elimination_draft *draft, int64_t k, int *first) {
    const gpuopt__elimination_bucket *b = gpuopt__elimination_draft_bucket(draft, k);
    *first = b->part == 0;
    return b->part > 0 || (k + 1 < draft->bucket.count && gpuopt__elimination_draft_bucket(draft, k + 1)->part > 0);
}

static void gpuopt__elimination_relax_measure(const gpuopt__elimination_preparation *prep,
                                              gpuopt_elimination_cost_shifting *r, gpuopt__elimination_relax_sizes *s) {
    const gpuopt_elimination_desc *d = &prep->desc;
    const gpuopt__elimination_draft *draft = &prep->draft;
    int32_t k;
    int first;
    memset(s, 0, sizeof *s);
    r->copies = (int32_t)draft->bucket.count;
    r->groups = 0;
    for (k = 0; k < r->copies; k++) {
        if (!gpuopt__elimination_is_split(draft, k, &first)) continue;
        r->groups += first;
        s->split++;
        s->scopes++;
        s->shifts += d->domain[gpuopt__elimination_draft_bucket(draft, k)->variable];
    }
    for (k = 0; k < d->functions; k++) {
        const gpuopt_elimination_function *f = &d->function[k];
        s->costs += gpuopt__elimination_listed_costs(d, f);
        s->tuples += f->tuples > 0 ? f->tuples * f->arity : 0;
        s->scopes += f->arity;
    }
}

static void gpuopt__elimination_relax_cut(gpuopt__arena *arena, const gpuopt_elimination_desc *d,
                                          const gpuopt__elimination_relax_sizes *s,
                                          gpuopt_elimination_cost_shifting *r) {
    const int doubles = d->type == GPUOPT_COST_DOUBLE;
    const int64_t variables = (int64_t)r->copies + d->evidence_count;
    r->domain = (int32_t *)gpuopt__cut(arena, variables, sizeof(int32_t));
    r->original = (int32_t *)gpuopt__cut(arena, variables, sizeof(int32_t));
    r->value = (int32_t *)gpuopt__cut(arena, variables, sizeof(int32_t));
    r->order = (int32_t *)gpuopt__cut(arena, r->copies, sizeof(int32_t));
    r->condition = (int32_t *)gpuopt__cut(arena, d->evidence_count, sizeof(int32_t));
    r->group = (int32_t *)gpuopt__cut(arena, (int64_t)r->groups + 1, sizeof(int32_t));
    r->split = (int32_t *)gpuopt__cut(arena, s->split, sizeof(int32_t));
    r->shift_at = (int64_t *)gpuopt__cut(arena, (int64_t)s->split + 1, sizeof(int64_t));
    r->shift_cost = (int64_t *)gpuopt__cut(arena, doubles ? 0 : s->shifts, sizeof(int64_t));
    r->shift_value = (double *)gpuopt__cut(arena, doubles ? s->shifts : 0, sizeof(double));
    r->now = (double *)gpuopt__cut(arena, s->shifts, sizeof(double));
    r->best = (double *)gpuopt__cut(arena, s->shifts, sizeof(double));
    r->cost = (int64_t *)gpuopt__cut(arena, doubles ? 0 : s->costs, sizeof(int64_t));
    r->real = (double *)gpuopt__cut(arena, doubles ? s->costs : 0, sizeof(double));
    r->tuple = (int32_t *)gpuopt__cut(arena, s->tuples, sizeof(int32_t));
    r->scope = (int32_t *)gpuopt__cut(arena, s->scopes, sizeof(int32_t));
    r->function =
        (gpuopt_elimination_function *)gpuopt__cut(arena, (int64_t)d->functions + s->split, sizeof *r->function);
}

/* Chooses the scale of costs, and the unit and the largest size of shifts: 2^-40 of all costs together (DOUBLE), and so
 * small that no sum overflows. Multiples of one power of two add up exactly. scaled: see relax_make. */
static void gpuopt__elimination_relax_scale(const gpuopt__elimination_preparation *prep, int32_t split, int64_t scaled,
                                            gpuopt_elimination_cost_shifting *r) {
    const gpuopt_elimination_desc *d = &prep->desc;
    double all = d->type == GPUOPT_COST_INT64, range = (double)prep->draft.plan.forbidden;
    int64_t scale = GPUOPT__ELIMINATION_SCALE_MOST, parts = 1;
    int32_t k;
    for (k = 0; k < r->copies; k++) {
        const int32_t part = gpuopt__elimination_draft_bucket(&prep->draft, k)->part;
        if (part >= parts) parts = (int64_t)part + 1;
    }
    for (k = 0; k < d->functions; k++) {
        const gpuopt__elimination_function_range *f = &prep->range[k];
        if (d->type == GPUOPT_COST_DOUBLE) all += f->size;
        else all += fabs((double)f->least) + (double)f->spread;
    }
    if (d->type == GPUOPT_COST_DOUBLE) {
        int exponent;
        frexp(all, &exponent);
        r->info.scale = 1;
        r->unit = ldexp(1.0, (exponent > -900 ? exponent : -900) - 40);
        r->most = ((int64_t)1 << 42) / ((int64_t)split + 1);
        return;
    }
    while (
        !scaled && scale > 1 &&
        (all * (double)scale > 0x1p60 || (scale > GPUOPT__ELIMINATION_SCALE_LEAST && range * (double)scale > 0x1p30)))
        scale /= 2;
    if (scaled) scale = 1;
    r->info.scale = scaled ? scaled : scale;
    r->unit = 1.0 / (double)r->info.scale;
    r->most = ((int64_t)1 << 60) / ((int64_t)split + 1);
    /* A top that no sum can reach only forbids entries; these are marked instead. */
    r->desc.top = d->top > 0 && (double)d->top <= all ? d->top * scale : 0;
    if (r->desc.top > 0 && (r->desc.top - 1) / parts < r->most) r->most = (r->desc.top - 1) / parts;
}

/* Copies a function, with its variables replaced by the copies of its mini-buckets. reader [tables]: the bucket that
 * reads a table. */
static void gpuopt__elimination_relax_function(const gpuopt__elimination_preparation *prep, int32_t number,
                                               const int32_t *reader, const int32_t *conditioned, int64_t factor,
                                               gpuopt_elimination_cost_shifting *r, int64_t *costs, int64_t *tuples,
                                               int32_t *scope) {
    const gpuopt_elimination_desc *d = &prep->desc;
    const gpuopt_elimination_function *from = &d->function[number];
    gpuopt_elimination_function *f = &r->function[number];
    const int64_t listed = gpuopt__elimination_listed_costs(d, from);
    const int64_t forbidden = d->semiring == GPUOPT_SEMIRING_MAX_SUM ? INT64_MIN : INT64_MAX;
    int64_t k;
    int32_t j;
    *f = *from;
    f->scope = scope;
    f->count = NULL;
    for (j = 0; j < f->arity; j++) {
        int32_t bucket = reader[number];
        if (conditioned[from->scope[j]] >= 0) {
            scope[j] = conditioned[from->scope[j]];
            continue;
        }
        while (gpuopt__elimination_draft_bucket(&prep->draft, bucket)->variable != from->scope[j])
            bucket = reader[gpuopt__elimination_draft_bucket(&prep->draft, bucket)->message];
        scope[j] = bucket;
    }
    if (f->tuples > 0 && f->arity > 0) {
        f->tuple = r->tuple + *tuples;
        memcpy(r->tuple + *tuples, from->tuple, sizeof(int32_t) * (size_t)f->tuples * (size_t)f->arity);
        *tuples += f->tuples * f->arity;
    }
    if (d->type == GPUOPT_COST_DOUBLE) {
        f->value = listed ? r->real + *costs : NULL;
        f->cost = NULL;
        if (listed) memcpy(r->real + *costs, from->value, sizeof(double) * (size_t)listed);
    } else {
        f->cost = listed ? r->cost + *costs : NULL;
        f->value = NULL;
        for (k = -1; k < listed; k++) {
            const int64_t cost = k < 0 ? from->default_cost : from->cost[k];
            /* The factor fits all costs of assignments. Other costs belong to repeated tuples, or to a default where
             * all tuples are listed. */
            const int outside = (k < 0 && gpuopt__elimination_is_dense(from)) || cost > INT64_MAX / factor ||
                                cost < -INT64_MAX / factor || gpuopt__elimination_inner_cost(d, cost) == INT64_MAX;
            const int64_t scaled = outside ? forbidden : cost * factor;
            if (k < 0) f->default_cost = scaled;
            else r->cost[*costs + k] = scaled;
        }
    }
    *costs += listed;
}

/* Fills the arrays. scratch [tables + variables] of int32. */
static void gpuopt__elimination_relax_fill(const gpuopt__elimination_preparation *prep, int32_t *scratch,
                                           int64_t factor, gpuopt_elimination_cost_shifting *r) {
    const gpuopt_elimination_desc *d = &prep->desc;
    const gpuopt__elimination_draft *draft = &prep->draft;
    int32_t *reader = scratch, *conditioned = scratch + draft->table.count, split = 0, groups = 0, k;
    int64_t costs = 0, tuples = 0, scopes = 0, j;
    int first;
    for (k = 0; k < d->variables; k++) conditioned[k] = -1;
    for (k = 0; k < d->evidence_count; k++) {
        const int32_t variable = prep->condition[k];
        conditioned[variable] = r->condition[k] = r->copies + k;
        r->domain[r->copies + k] = d->domain[variable];
        r->original[r->copies + k] = variable;
    }
    r->shift_at[0] = 0;
    for (k = 0; k < r->copies; k++) {
        const gpuopt__elimination_bucket *b = gpuopt__elimination_draft_bucket(draft, k);
        for (j = b->input; j < b->input + b->inputs; j++) reader[((const int32_t *)draft->input.data)[j]] = k;
        r->domain[k] = d->domain[b->variable];
        r->original[k] = b->variable;
        r->order[k] = k;
        if (!gpuopt__elimination_is_split(draft, k, &first)) continue;
        if (first) r->group[groups++] = split;
        r->shift_at[split + 1] = r->shift_at[split] + r->domain[k];
        r->split[split++] = k;
    }
    r->group[groups] = split;
    for (k = 0; k < d->functions; k++) {
        gpuopt__elimination_relax_function(prep, k, reader, conditioned, factor, r, &costs, &tuples, r->scope + scopes);
        scopes += d->function[k].arity;
    }
    for (k = 0; k < split; k++) {
        gpuopt_elimination_function *f = &r->function[d->functions + k];
        memset(f, 0, sizeof *f);
        f->arity = 1;
        r->scope[scopes] = r->split[k];
        f->scope = r->scope + scopes++;
        f->tuples = -1;
        if (d->type == GPUOPT_COST_DOUBLE) f->value = r->shift_value + r->shift_at[k];
        else f->cost = r->shift_cost + r->shift_at[k];
    }
    for (j = 0; j < r->shift_at[split]; j++) r->now[j] = r->best[j] = 0;
}

/* Makes the relaxation of a draft. *relaxation stays NULL on failure. scaled: 0, or the scale that the draft's model
 * already has compared with the model that the relaxation represents. */
static gpuopt_status gpuopt__elimination_relax_make(gpuopt_context *context, gpuopt__elimination_preparation *prep,
                                                    int64_t scaled, gpuopt_elimination_cost_shifting **relaxation) {
    const gpuopt_elimination_desc *d = &prep->desc;
    const uint64_t scratch_bytes = sizeof(int32_t) * ((uint64_t)prep->draft.table.count + (uint64_t)d->variables);
    gpuopt__elimination_relax_sizes sizes;
    gpuopt_elimination_cost_shifting head, *r;
    gpuopt__arena arena = {NULL, 0};
    void *scratch;
    gpuopt_status status;
    memset(&head, 0, sizeof head);
    gpuopt__elimination_relax_measure(prep, &head, &sizes);
    gpuopt__cut(&arena, 1, sizeof head);
    gpuopt__elimination_relax_cut(&arena, d, &sizes, &head);
    scratch = gpuopt__elimination_scratch_take(&prep->scratch, scratch_bytes);
    if (!scratch) return prep->scratch.status;
    status = gpuopt__take_block(context, GPUOPT_HOST, &arena);
    if (!status) {
        r = (gpuopt_elimination_cost_shifting *)gpuopt__cut(&arena, 1, sizeof head);
        *r = head;
        gpuopt__elimination_relax_cut(&arena, d, &sizes, r);
        r->context = context;
        gpuopt__elimination_copy_desc(d, &r->desc, &r->options);
        r->desc.variables = r->copies + d->evidence_count;
        r->desc.domain = r->domain;
        r->desc.functions = d->functions + sizes.split;
        r->desc.function = r->function;
        r->desc.order = r->order;
        r->desc.order_count = r->copies;
        r->desc.evidence = d->evidence_count ? r->condition : NULL;
        r->desc.policy = GPUOPT_POLICY_EXACT;
        r->desc.z = 0;
        r->desc.order_search = NULL;
        r->options.memory.retain_messages = GPUOPT_ON;
        gpuopt__elimination_relax_scale(prep, sizes.split, scaled, r);
        gpuopt__elimination_relax_fill(prep, (int32_t *)scratch, scaled ? 1 : r->info.scale, r);
        *relaxation = r;
    }
    gpuopt__elimination_scratch_give(&prep->scratch, scratch, scratch_bytes);
    return status;
}

#endif /* GPUOPT_IMPL_ELIMINATION_RELAX_MODEL_H */
