/* SPDX-License-Identifier: MIT
 *
 * Elimination: preprocessing. The rules (rules.h, variables.h, bound.h) are applied to changed functions and variables
 * until nothing changes, functions first. The rest becomes a new model, with records that map its assignments back to
 * the original.
 */
#ifndef GPUOPT_IMPL_ELIMINATION_REDUCE_CALLS_H
#define GPUOPT_IMPL_ELIMINATION_REDUCE_CALLS_H

#include "bound.h"
#include "rules.h"
#include "variables.h"

/* The default limit of entries read: some seconds. */
#define GPUOPT__ELIMINATION_REDUCE_WORK ((int64_t)1 << 31)

struct gpuopt_elimination_preprocessing {
    gpuopt_context *context;
    gpuopt_elimination_desc desc; /* its arrays are behind the handle */
    gpuopt__elimination_options options;
    gpuopt_elimination_preprocessing_info info;
    int32_t variables; /* of the original model */
    int32_t records;
    int32_t *domain;                           /* [desc.variables] */
    int32_t *original;                         /* [desc.variables] */
    int64_t *value_start;                      /* [desc.variables + 1] begins in `value` */
    int32_t *value;                            /* [all remaining values] */
    int32_t *fixed;                            /* [variables] values of the original model; -1: none */
    int32_t *order, *condition;                /* of the reduced model */
    gpuopt_elimination_function *function;     /* [desc.functions] */
    gpuopt__elimination_reduce_record *record; /* [records] in the order in which they were made */
    int32_t *ints;                             /* of all records */
    int32_t *scope;                            /* of all functions */
    gpuopt__elimination_reduce_entry *entry;   /* entries of all functions, in the caller's form */
    uint64_t *count;                           /* [counts] */
};

/* ---- The rules, one after the other ---- */

static void gpuopt__elimination_reduce_one_function(gpuopt__elimination_reduce *r) {
    const int32_t number = r->first;
    gpuopt__elimination_reduce_function *f = gpuopt__elimination_reduce_at(r, number);
    r->first = f->next;
    f->next = -2;
    if (f->arity < 0) return;
    if ((r->rules & GPUOPT_RULE_CONSISTENCY) && gpuopt__elimination_reduce_consistency(r, number)) return;
    if (r->infeasible || gpuopt__elimination_reduce_level(r, number)) return;
    if ((r->rules & GPUOPT_RULE_JOIN) && gpuopt__elimination_reduce_join_any(r, number)) return;
    if (r->rules & GPUOPT_RULE_SPLIT) gpuopt__elimination_reduce_split_any(r, number);
}

static void gpuopt__elimination_reduce_one_variable(gpuopt__elimination_reduce *r) {
    const int32_t variable = r->var_queue[r->var_first];
    r->var_first = r->var_first + 1 < r->desc->variables ? r->var_first + 1 : 0;
    r->var_count--;
    r->queued[variable] = 0;
    if (r->gone[variable] || r->whole[variable]) return;
    if (r->domain[variable] == 1 && (r->rules & GPUOPT_RULE_CONSISTENCY)) {
        gpuopt__elimination_reduce_fix(r, variable);
        return;
    }
    if ((r->rules & GPUOPT_RULE_DEGREE) && gpuopt__elimination_reduce_degree(r, variable)) return;
    if ((r->rules & GPUOPT_RULE_FUNCTIONAL) && gpuopt__elimination_reduce_functional(r, variable)) return;
    if (r->rules & GPUOPT_RULE_DOMINANCE) gpuopt__elimination_reduce_dominance(r, variable);
}

/* The limit has fallen: entries of any function may be forbidden now. */
static void gpuopt__elimination_reduce_push_all(gpuopt__elimination_reduce *r) {
    int32_t k;
    r->limit_due = 0;
    for (k = 0; k < (int32_t)r->function.count; k++)
        if (gpuopt__elimination_reduce_at(r, k)->arity >= 0) gpuopt__elimination_reduce_push(r, k);
}

static gpuopt_outcome gpuopt__elimination_reduce_run(gpuopt__elimination_reduce *r) {
    while (!r->scratch.status && !r->infeasible) {
        if (r->info.work >= r->most_work || gpuopt__asked_to_stop(r->scratch.context)) return GPUOPT_MORE;
        if (r->first >= 0) gpuopt__elimination_reduce_one_function(r);
        else if (r->var_count > 0) gpuopt__elimination_reduce_one_variable(r);
        else if (r->limit_due && (r->rules & GPUOPT_RULE_CONSISTENCY)) gpuopt__elimination_reduce_push_all(r);
        else if (r->soft_due && r->topped && (r->rules & GPUOPT_RULE_BOUND)) {
            r->soft_due = 0;
            gpuopt__elimination_reduce_bound(r);
        } else break;
    }
    return r->infeasible ? GPUOPT_INFEASIBLE : GPUOPT_CONVERGED;
}

/* ---- The result ---- */

typedef struct gpuopt__elimination_reduce_sizes {
    int64_t variables, values, functions, scopes, entries, counts, ints, order;
} gpuopt__elimination_reduce_sizes;

/* Whether a variable stays: an infeasible model keeps the variables that may not be changed. */
static int gpuopt__elimination_reduce_stays(const gpuopt__elimination_reduce *r, int32_t variable) {
    return r->infeasible ? r->whole[variable] : !r->gone[variable];
}

static void gpuopt__elimination_reduce_measure(const gpuopt__elimination_reduce *r,
                                               gpuopt__elimination_reduce_sizes *s) {
    int32_t k;
    memset(s, 0, sizeof *s);
    for (k = 0; k < r->desc->variables; k++)
        if (gpuopt__elimination_reduce_stays(r, k)) {
            s->variables++;
            s->values += r->domain[k];
        }
    for (k = 0; k < (int32_t)r->function.count && !r->infeasible; k++) {
        const gpuopt__elimination_reduce_function *f = gpuopt__elimination_reduce_at(r, k);
        if (f->arity < 0) continue;
        s->functions++;
        s->scopes += f->arity;
        s->entries += f->entries;
        if (f->count) s->counts += f->entries;
    }
    for (k = 0; k < (int32_t)r->record.count; k++)
        s->ints += ((const gpuopt__elimination_reduce_record *)r->record.data + k)->ints;
    s->functions++; /* the constant */
    s->entries++;
    s->counts++;
}

static void gpuopt__elimination_reduce_cut_result(gpuopt__arena *arena, const gpuopt__elimination_reduce *r,
                                                  const gpuopt__elimination_reduce_sizes *s,
                                                  gpuopt_elimination_preprocessing *to) {
    to->domain = (int32_t *)gpuopt__cut(arena, s->variables, sizeof(int32_t));
    to->original = (int32_t *)gpuopt__cut(arena, s->variables, sizeof(int32_t));
    to->value_start = (int64_t *)gpuopt__cut(arena, s->variables + 1, sizeof(int64_t));
    to->value = (int32_t *)gpuopt__cut(arena, s->values, sizeof(int32_t));
    to->fixed = (int32_t *)gpuopt__cut(arena, r->desc->variables, sizeof(int32_t));
    to->order = (int32_t *)gpuopt__cut(arena, s->variables, sizeof(int32_t));
    to->condition = (int32_t *)gpuopt__cut(arena, r->desc->evidence_count, sizeof(int32_t));
    to->function = (gpuopt_elimination_function *)gpuopt__cut(arena, s->functions, sizeof *to->function);
    to->record = (gpuopt__elimination_reduce_record *)gpuopt__cut(arena, r->record.count, sizeof *to->record);
    to->ints = (int32_t *)gpuopt__cut(arena, s->ints, sizeof(int32_t));
    to->scope = (int32_t *)gpuopt__cut(arena, s->scopes, sizeof(int32_t));
    to->entry = (gpuopt__elimination_reduce_entry *)gpuopt__cut(arena, s->entries, sizeof *to->entry);
    to->count = (uint64_t *)gpuopt__cut(arena, s->counts, sizeof(uint64_t));
}

/* An entry in the caller's form. */
static gpuopt__elimination_reduce_entry gpuopt__elimination_reduce_outer(const gpuopt__elimination_reduce *r,
                                                                         gpuopt__elimination_reduce_entry e) {
    const int negated = r->desc->semiring == GPUOPT_SEMIRING_MAX_SUM;
    if (r->desc->type == GPUOPT_COST_DOUBLE) {
        if (negated) e.value = -e.value;
    } else if (gpuopt__elimination_reduce_forbidden(r, e)) e.cost = negated ? INT64_MIN : INT64_MAX;
    else if (negated) e.cost = -e.cost;
    return e;
}

/* A constant below 0 does not combine with top: a function's costs may then reach top although no sum does. */
static int gpuopt__elimination_reduce_has_offset(const gpuopt__elimination_reduce *r) {
    return r->topped && r->constant < 0 && !r->infeasible;
}

static gpuopt__elimination_reduce_entry gpuopt__elimination_reduce_outer_constant(const gpuopt__elimination_reduce *r) {
    gpuopt__elimination_reduce_entry e = gpuopt__elimination_reduce_none(r);
    if (r->infeasible) return gpuopt__elimination_reduce_outer(r, e);
    if (gpuopt__elimination_reduce_has_offset(r)) return gpuopt__elimination_reduce_zero(r);
    if (r->desc->type == GPUOPT_COST_INT64)
        e.cost = r->desc->semiring == GPUOPT_SEMIRING_MAX_SUM ? -r->constant : r->constant;
    else e.value = r->desc->semiring == GPUOPT_SEMIRING_MAX_SUM ? -r->constant_value : r->constant_value;
    return e;
}

/* Adds a function of the result; its arrays follow the arrays of the functions before. */
static void gpuopt__elimination_reduce_write(gpuopt_elimination_preprocessing *to, gpuopt__elimination_reduce_sizes *at,
                                             int32_t arity, int64_t entries, int counts) {
    gpuopt_elimination_function *f = &to->function[at->functions++];
    memset(f, 0, sizeof *f);
    f->arity = arity;
    f->scope = to->scope + at->scopes;
    f->tuples = -1;
    if (to->desc.type == GPUOPT_COST_DOUBLE) f->value = &to->entry[at->entries].value;
    else f->cost = &to->entry[at->entries].cost;
    if (counts) f->count = to->count + at->counts;
    at->scopes += arity;
    at->entries += entries;
    if (counts) at->counts += entries;
}

static void gpuopt__elimination_reduce_fill(gpuopt__elimination_reduce *r, const gpuopt__elimination_preparation *prep,
                                            gpuopt_elimination_preprocessing *to) {
    const gpuopt_elimination_desc *d = r->desc;
    gpuopt__elimination_reduce_sizes at;
    int32_t *place = r->list, k, j; /* in the reduced model */
    int64_t e;
    memset(&at, 0, sizeof at);
    to->value_start[0] = 0;
    for (k = 0; k < d->variables; k++) {
        to->fixed[k] = r->kept[r->kept_at[k]]; /* a record gives a fixed variable its value, too */
        place[k] = -1;
        if (!gpuopt__elimination_reduce_stays(r, k)) continue;
        place[k] = (int32_t)at.variables;
        to->fixed[k] = -1;
        to->domain[at.variables] = r->domain[k];
        to->original[at.variables++] = k;
        memcpy(to->value + at.values, r->kept + r->kept_at[k], sizeof(int32_t) * (size_t)r->domain[k]);
        at.values += r->domain[k];
        to->value_start[at.variables] = at.values;
    }
    to->desc.variables = (int32_t)at.variables;
    for (k = 0; k < d->evidence_count; k++) to->condition[k] = place[prep->condition[k]];
    for (k = 0; k < prep->draft.plan.steps; k++)
        if (place[prep->order[k]] >= 0) to->order[at.order++] = place[prep->order[k]];
    to->entry[0] = gpuopt__elimination_reduce_outer_constant(r);
    to->count[0] = r->constant_count;
    gpuopt__elimination_reduce_write(to, &at, 0, 1, r->constant_count != 1);
    at.counts = 1;
    for (k = 0; k < (int32_t)r->function.count && !r->infeasible; k++) {
        const gpuopt__elimination_reduce_function *f = gpuopt__elimination_reduce_at(r, k);
        if (f->arity < 0) continue;
        for (j = 0; j < f->arity; j++) to->scope[at.scopes + j] = place[f->scope[j]];
        for (e = 0; e < f->entries; e++) to->entry[at.entries + e] = gpuopt__elimination_reduce_outer(r, f->entry[e]);
        if (f->count) memcpy(to->count + at.counts, f->count, sizeof(uint64_t) * (size_t)f->entries);
        gpuopt__elimination_reduce_write(to, &at, f->arity, f->entries, f->count != NULL);
    }
    to->desc.functions = (int32_t)at.functions;
    to->info.entries = at.entries - 1;
    to->records = (int32_t)r->record.count;
    for (k = 0; k < to->records; k++) {
        gpuopt__elimination_reduce_record *record = &to->record[k];
        *record = ((const gpuopt__elimination_reduce_record *)r->record.data)[k];
        memcpy(to->ints + at.ints, record->scope, sizeof(int32_t) * (size_t)record->ints);
        record->domain = to->ints + at.ints + (record->domain - record->scope);
        record->kept = to->ints + at.ints + (record->kept - record->scope);
        record->value = to->ints + at.ints + (record->value - record->scope);
        record->scope = to->ints + at.ints;
        at.ints += record->ints;
    }
    to->desc.order_count = (int32_t)at.order;
}

/* Makes the result from the remaining model. all: the original has no order. */
static gpuopt_status gpuopt__elimination_reduce_result(gpuopt_context *context, gpuopt__elimination_reduce *r,
                                                       const gpuopt__elimination_preparation *prep, int all,
                                                       gpuopt_elimination_preprocessing **reduction) {
    gpuopt__elimination_reduce_sizes sizes;
    gpuopt_elimination_preprocessing head, *to;
    gpuopt__arena arena = {NULL, 0};
    gpuopt_status status;
    memset(&head, 0, sizeof head);
    gpuopt__elimination_reduce_measure(r, &sizes);
    gpuopt__cut(&arena, 1, sizeof head);
    gpuopt__elimination_reduce_cut_result(&arena, r, &sizes, &head);
    status = gpuopt__take_block(context, GPUOPT_HOST, &arena);
    if (status) return status;
    to = (gpuopt_elimination_preprocessing *)gpuopt__cut(&arena, 1, sizeof head);
    *to = head;
    gpuopt__elimination_reduce_cut_result(&arena, r, &sizes, to);
    to->context = context;
    gpuopt__elimination_copy_desc(r->desc, &to->desc, &to->options);
    to->info = r->info;
    to->variables = r->desc->variables;
    gpuopt__elimination_reduce_fill(r, prep, to);
    if (!r->topped) to->desc.top = 0; /* forbidden entries are marked */
    if (gpuopt__elimination_reduce_has_offset(r)) {
        to->desc.top = (int64_t)r->limit;
        to->info.offset = r->desc->semiring == GPUOPT_SEMIRING_MAX_SUM ? -r->constant : r->constant;
    }
    to->desc.domain = to->domain;
    to->desc.function = to->function;
    to->desc.evidence = to->desc.evidence_count ? to->condition : NULL;
    to->desc.order = all ? NULL : to->order;
    if (all) to->desc.order_count = 0;
    to->info.variables = to->desc.variables;
    to->info.original = to->original;
    to->info.value_start = to->value_start;
    to->info.value = to->value;
    if (!r->infeasible && to->desc.variables == 0) to->info.outcome = GPUOPT_OPTIMAL;
    *reduction = to;
    return GPUOPT_OK;
}

/* ---- Calls ---- */

/* The rules that preserve the requested answer. */
static uint32_t gpuopt__elimination_reduce_allowed(const gpuopt__elimination_preparation *prep) {
    const gpuopt_elimination_desc *d = &prep->desc;
    uint32_t rules =
        GPUOPT_RULE_CONSISTENCY | GPUOPT_RULE_JOIN | GPUOPT_RULE_SPLIT | GPUOPT_RULE_DEGREE | GPUOPT_RULE_FUNCTIONAL;
    if (d->semiring == GPUOPT_SEMIRING_MIN_SUM || d->semiring == GPUOPT_SEMIRING_MAX_SUM)
        rules |= GPUOPT_RULE_DOMINANCE;
    if (d->top > 0) rules |= GPUOPT_RULE_BOUND;
    /* The largest costs of the two parts may add up to twice the largest of the whole: the sum of all fits. */
    if (d->type == GPUOPT_COST_INT64 && prep->spread > INT64_MAX >> 16) rules &= ~(uint32_t)GPUOPT_RULE_SPLIT;
    return rules;
}

/* Checks the arguments of the call and prepares the model without a search for an order. */
static gpuopt_status gpuopt__elimination_reduce_prepare(gpuopt_context *context, const char *call,
                                                        const gpuopt_elimination_desc *desc, int wanted,
                                                        gpuopt__elimination_preparation *prep, int *all) {
    static const int32_t nothing = 0;
    gpuopt_elimination_desc d;
    gpuopt__elimination_options options;
    gpuopt_status status;
    memset(prep, 0, sizeof *prep);
    if (!wanted) return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "reduction is NULL");
    status = gpuopt__elimination_check_desc(context, call, desc, &d, &options);
    if (!status && options.messages.count)
        status = gpuopt__refuse(context, GPUOPT_ERROR_UNSUPPORTED, call, "a model with messages is not reduced");
    if (status) return status;
    *all = d.order == NULL;
    if (*all) d.order = &nothing;
    return gpuopt__elimination_prepare(context, call, &d, prep);
}

GPUOPT_API void gpuopt_elimination_preprocessing_destroy(gpuopt_elimination_preprocessing *reduction) {
    GPUOPT__CALL_DESTROYS(gpuopt_elimination_preprocessing, reduction, reduction->context,
                          gpuopt__release(reduction->context, GPUOPT_HOST, reduction));
}

static gpuopt_status gpuopt__elimination_preprocess(gpuopt_context *context, const char *call,
                                                    const gpuopt_elimination_desc *desc, uint32_t rules, int64_t work,
                                                    gpuopt_elimination_preprocessing **reduction) {
    gpuopt__elimination_preparation prep;
    gpuopt__elimination_reduce r;
    gpuopt_status status;
    int all = 0;
    if (work < 0) return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "work is negative");
    if (rules >= 2u * GPUOPT_RULE_BOUND)
        return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "rules has a bit that is no rule");
    status = gpuopt__elimination_reduce_prepare(context, call, desc, reduction != NULL, &prep, &all);
    if (!status) {
        const uint32_t allowed = gpuopt__elimination_reduce_allowed(&prep);
        memset(&r, 0, sizeof r);
        r.scratch.context = context;
        r.desc = &prep.desc;
        r.rules = rules ? rules & allowed : allowed;
        r.most_work = work ? work : GPUOPT__ELIMINATION_REDUCE_WORK;
        gpuopt__elimination_reduce_begin(&r, &prep, all);
        if (!r.scratch.status) r.info.outcome = gpuopt__elimination_reduce_run(&r);
        r.info.rules = r.rules;
        status = r.scratch.status;
        if (!status) status = gpuopt__elimination_reduce_result(context, &r, &prep, all, reduction);
        gpuopt__elimination_reduce_end(&r);
    }
    gpuopt__elimination_preparation_end(&prep);
    return status;
}

GPUOPT_API gpuopt_status gpuopt_elimination_preprocess(gpuopt_context *context, const gpuopt_elimination_desc *desc,
                                                       uint32_t rules, int64_t work,
                                                       gpuopt_elimination_preprocessing **reduction) {
    GPUOPT__CALL_MAKES(gpuopt_elimination_preprocessing, context, context, reduction,
                       gpuopt__elimination_preprocess(context, call, desc, rules, work, reduction));
}

GPUOPT_API gpuopt_status gpuopt_elimination_preprocessing_get_info(gpuopt_elimination_preprocessing *reduction,
                                                                   gpuopt_elimination_preprocessing_info *info) {
    GPUOPT__CALL_FILLS(reduction, reduction->context, gpuopt_elimination_preprocessing_info, info,
                       (filled = reduction->info, GPUOPT_OK));
}

GPUOPT_API gpuopt_status gpuopt_elimination_preprocessing_get_desc(gpuopt_elimination_preprocessing *reduction,
                                                                   gpuopt_elimination_desc *desc) {
    GPUOPT__CALL_FILLS(reduction, reduction->context, gpuopt_elimination_desc, desc,
                       (filled = reduction->desc, GPUOPT_OK));
}

/* Applies a record; value [variables of the original model] holds the values of its scope. */
static int32_t gpuopt__elimination_reduce_recorded(const gpuopt__elimination_reduce_record *record,
                                                   const int32_t *value) {
    const int32_t *kept = record->kept;
    int64_t index = 0;
    int32_t j, v;
    for (j = 0; j < record->arity; j++) {
        for (v = 0; v + 1 < record->domain[j] && kept[v] != value[record->scope[j]];) v++;
        index = index * record->domain[j] + v;
        kept += record->domain[j];
    }
    return record->value[index];
}

static gpuopt_status gpuopt__elimination_preprocessing_postsolve(gpuopt_elimination_preprocessing *reduction,
                                                                 const char *call, const int32_t *reduced,
                                                                 int32_t *value) {
    int32_t k;
    if ((!reduced && reduction->desc.variables > 0) || (!value && reduction->variables > 0))
        return gpuopt__refuse(reduction->context, GPUOPT_ERROR_ARGUMENT, call, "reduced or value is NULL");
    if (reduction->desc.semiring == GPUOPT_SEMIRING_LOG_SUM_EXP)
        return gpuopt__refuse(reduction->context, GPUOPT_ERROR_UNSUPPORTED, call,
                              "LOG_SUM_EXP sums over the variables that were eliminated");
    if (reduction->info.outcome == GPUOPT_INFEASIBLE)
        return gpuopt__refuse(reduction->context, GPUOPT_ERROR_STATE, call, "every assignment is forbidden");
    for (k = 0; k < reduction->desc.variables; k++)
        if (reduced[k] < 0 || reduced[k] >= reduction->domain[k]) {
            gpuopt__log(reduction->context, 0, "%s: reduced[%d] = %d is outside of its domain", call, (int)k,
                        (int)reduced[k]);
            return GPUOPT_ERROR_ARGUMENT;
        }
    for (k = 0; k < reduction->variables; k++) value[k] = reduction->fixed[k];
    for (k = 0; k < reduction->desc.variables; k++)
        value[reduction->original[k]] = reduction->value[reduction->value_start[k] + reduced[k]];
    for (k = reduction->records - 1; k >= 0; k--)
        value[reduction->record[k].variable] = gpuopt__elimination_reduce_recorded(&reduction->record[k], value);
    return GPUOPT_OK;
}

GPUOPT_API gpuopt_status gpuopt_elimination_preprocessing_postsolve(gpuopt_elimination_preprocessing *reduction,
                                                                    const int32_t *reduced, int32_t *value) {
    GPUOPT__CALL(reduction, reduction->context,
                 gpuopt__elimination_preprocessing_postsolve(reduction, call, reduced, value));
}

#endif /* GPUOPT_IMPL_ELIMINATION_REDUCE_CALLS_H */
