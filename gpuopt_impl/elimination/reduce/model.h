/* SPDX-License-Identifier: MIT
 *
 * Elimination: the working model of preprocessing. Functions are dense tables over the variables with several remaining
 * values and the variables that may not be changed. Functions are added and removed, and found by their variables.
 * Costs are as in base/table.h, negated with MAX_SUM. The least cost of each function of an INT64 model first moves
 * into the constant, so that costs are 0 or more. A partial sum is forbidden if it reaches top less the constant.
 */
#ifndef GPUOPT_IMPL_ELIMINATION_REDUCE_MODEL_H
#define GPUOPT_IMPL_ELIMINATION_REDUCE_MODEL_H

#include "../relax/spread.h"

typedef union gpuopt__elimination_reduce_entry {
    int64_t cost; /* INT64: 0 or more; INT64_MAX: forbidden, as is any sum that reaches the limit */
    double value; /* DOUBLE: infinite: forbidden */
} gpuopt__elimination_reduce_entry;

typedef struct gpuopt__elimination_reduce_function {
    int32_t arity; /* -1: the function was removed */
    int32_t *scope;
    int64_t entries;
    gpuopt__elimination_reduce_entry *entry;
    uint64_t *count; /* MIN_COUNT; NULL: every entry counts once */
    void *block;
    uint64_t block_bytes;
    int32_t next; /* in the queue; -1: the last one; -2: not in it */
} gpuopt__elimination_reduce_function;

/* How a variable obtained its value from the values of others: by a look-up in a table over them. The record keeps the
 * values that they had at that time. */
typedef struct gpuopt__elimination_reduce_record {
    int32_t variable, arity;
    int64_t ints;
    int32_t *scope;  /* [arity]; in one block of `ints` with the following */
    int32_t *domain; /* [arity] */
    int32_t *kept;   /* [sum of domain] values of the original model, variable by variable */
    int32_t *value;  /* [product of domain] a value of the original model */
} gpuopt__elimination_reduce_record;

/* A variable in a function; a list for each variable. */
typedef struct gpuopt__elimination_reduce_mention {
    int32_t function;
    int32_t next; /* -1: the last one */
} gpuopt__elimination_reduce_mention;

typedef struct gpuopt__elimination_reduce {
    gpuopt__elimination_scratch scratch;
    const gpuopt_elimination_desc *desc;
    gpuopt_elimination_preprocessing_info info;
    uint32_t rules;
    int64_t most_work;
    uint64_t limit; /* INT64: costs of this and more are forbidden */
    int topped;     /* not 0: sums can reach top, and the limit is top less the constant */
    int infeasible;
    int64_t constant;      /* INT64 */
    double constant_value; /* DOUBLE */
    uint64_t constant_count;
    gpuopt__elimination_list function, mention, record;
    int32_t alive;                /* functions */
    int32_t first, last;          /* functions in the queue */
    int32_t var_first, var_count; /* in the ring `var_queue` */
    int limit_due;                /* the limit has fallen since the last look at all functions */
    int soft_due;                 /* something has changed since the last soft arc consistency */
    int32_t *domain;              /* [variables] remaining values; 1 if the variable was eliminated */
    int64_t *kept_at;             /* [variables + 1] start of a variable's values in the following */
    int32_t *kept;                /* the remaining values of the original model */
    int32_t *head;                /* [variables] mentions */
    int32_t *var_queue;           /* [variables] */
    int32_t *value;               /* [variables] the assignment of a loop */
    int32_t *mark;                /* [variables] 0 outside the calls that use it */
    uint8_t *queued;              /* [variables] */
    uint8_t *whole;               /* [variables] not 0: may not be changed */
    uint8_t *gone;                /* [variables] */
    uint8_t *flag;                /* [kept] of values */
    int32_t *list;                /* [variables] a scope under construction */
    void *base;
    uint64_t base_bytes;
} gpuopt__elimination_reduce;

static gpuopt__elimination_reduce_function *gpuopt__elimination_reduce_at(const gpuopt__elimination_reduce *r,
                                                                          int32_t function) {
    return (gpuopt__elimination_reduce_function *)r->function.data + function;
}

static gpuopt__elimination_reduce_mention *gpuopt__elimination_reduce_mentions(const gpuopt__elimination_reduce *r) {
    return (gpuopt__elimination_reduce_mention *)r->mention.data;
}

/* ---- Entries ---- */

static int gpuopt__elimination_reduce_forbidden(const gpuopt__elimination_reduce *r,
                                                gpuopt__elimination_reduce_entry e) {
    if (r->desc->type == GPUOPT_COST_INT64) return (uint64_t)e.cost >= r->limit;
    return e.value == HUGE_VAL || e.value == -HUGE_VAL;
}

static gpuopt__elimination_reduce_entry gpuopt__elimination_reduce_none(const gpuopt__elimination_reduce *r) {
    gpuopt__elimination_reduce_entry e;
    if (r->desc->type == GPUOPT_COST_INT64) e.cost = INT64_MAX;
    else e.value = gpuopt__elimination_worst_value(r->desc->semiring);
    return e;
}

static gpuopt__elimination_reduce_entry gpuopt__elimination_reduce_zero(const gpuopt__elimination_reduce *r) {
    gpuopt__elimination_reduce_entry e;
    if (r->desc->type == GPUOPT_COST_INT64) e.cost = 0;
    else e.value = 0;
    return e;
}

static gpuopt__elimination_reduce_entry gpuopt__elimination_reduce_sum(const gpuopt__elimination_reduce *r,
                                                                       gpuopt__elimination_reduce_entry a,
                                                                       gpuopt__elimination_reduce_entry b) {
    if (gpuopt__elimination_reduce_forbidden(r, a) || gpuopt__elimination_reduce_forbidden(r, b))
        return gpuopt__elimination_reduce_none(r);
    if (r->desc->type == GPUOPT_COST_INT64)
        a.cost = (uint64_t)a.cost + (uint64_t)b.cost < r->limit ? a.cost + b.cost : INT64_MAX;
    else a.value = gpuopt__add(a.value, b.value);
    return a;
}

/* Adds a constant of every assignment. */
static void gpuopt__elimination_reduce_add_constant(gpuopt__elimination_reduce *r, gpuopt__elimination_reduce_entry e,
                                                    uint64_t count) {
    if (gpuopt__elimination_reduce_forbidden(r, e)) {
        r->infeasible = 1;
        return;
    }
    if (r->desc->type == GPUOPT_COST_INT64) {
        r->constant += e.cost;
        if (r->topped) r->limit -= (uint64_t)e.cost; /* which is less */
        r->limit_due |= r->topped && e.cost > 0;
    } else {
        r->constant_value = gpuopt__add(r->constant_value, e.value);
    }
    r->constant_count = gpuopt__elimination_count_product(r->constant_count, count);
}

/* ---- Tables ---- */

/* The next assignment of a scope, the last variable fastest. */
static void gpuopt__elimination_reduce_next(const gpuopt__elimination_reduce *r, int32_t arity, const int32_t *scope) {
    int32_t j;
    for (j = arity - 1; j >= 0; j--) {
        if (++r->value[scope[j]] < r->domain[scope[j]]) return;
        r->value[scope[j]] = 0;
    }
}

static void gpuopt__elimination_reduce_start(const gpuopt__elimination_reduce *r, int32_t arity, const int32_t *scope) {
    int32_t j;
    for (j = 0; j < arity; j++) r->value[scope[j]] = 0;
}

static int64_t gpuopt__elimination_reduce_index(const gpuopt__elimination_reduce *r,
                                                const gpuopt__elimination_reduce_function *f) {
    int64_t index = 0;
    int32_t j;
    for (j = 0; j < f->arity; j++) index = index * r->domain[f->scope[j]] + r->value[f->scope[j]];
    return index;
}

/* The product of the numbers of remaining values, or -1 if it is large. */
static int64_t gpuopt__elimination_reduce_entries(const gpuopt__elimination_reduce *r, int32_t arity,
                                                  const int32_t *scope) {
    return gpuopt__elimination_scope_entries(r->domain, arity, scope);
}

static void gpuopt__elimination_reduce_push_variable(gpuopt__elimination_reduce *r, int32_t variable) {
    if (r->queued[variable] || r->gone[variable]) return;
    r->queued[variable] = 1;
    r->var_queue[(int32_t)(((int64_t)r->var_first + r->var_count++) % r->desc->variables)] = variable;
}

/* Queues a function that is new or has changed, and its variables. */
static void gpuopt__elimination_reduce_push(gpuopt__elimination_reduce *r, int32_t function) {
    gpuopt__elimination_reduce_function *f = gpuopt__elimination_reduce_at(r, function);
    int32_t j;
    r->soft_due = 1;
    for (j = 0; j < f->arity; j++) gpuopt__elimination_reduce_push_variable(r, f->scope[j]);
    if (f->next != -2) return;
    f->next = -1;
    if (r->first < 0) r->first = function;
    else gpuopt__elimination_reduce_at(r, r->last)->next = function;
    r->last = function;
}

/* Removes a function from the model and queues its variables. */
static void gpuopt__elimination_reduce_drop(gpuopt__elimination_reduce *r, int32_t function) {
    gpuopt__elimination_reduce_function *f = gpuopt__elimination_reduce_at(r, function);
    int32_t j;
    for (j = 0; j < f->arity; j++) gpuopt__elimination_reduce_push_variable(r, f->scope[j]);
    gpuopt__elimination_scratch_give(&r->scratch, f->block, f->block_bytes);
    f->block = NULL;
    f->arity = -1;
    r->alive--;
}

/* Reserves memory for a function with the scope r->list [arity]; only _enter adds it to the model. Returns 0 on a
 * failure. */
static int gpuopt__elimination_reduce_make(gpuopt__elimination_reduce *r, int32_t arity, int counts,
                                           gpuopt__elimination_reduce_function *f) {
    int32_t j;
    memset(f, 0, sizeof *f);
    f->arity = arity;
    f->entries = gpuopt__elimination_reduce_entries(r, arity, r->list);
    f->next = -2;
    f->block_bytes = (uint64_t)f->entries * (counts ? 16u : 8u) + sizeof(int32_t) * (uint64_t)arity;
    f->block = gpuopt__elimination_scratch_take(&r->scratch, f->block_bytes);
    if (!f->block) return 0;
    f->entry = (gpuopt__elimination_reduce_entry *)f->block;
    f->count = counts ? (uint64_t *)f->block + f->entries : NULL;
    f->scope = (int32_t *)(void *)((uint64_t *)f->block + f->entries * (counts ? 2 : 1));
    for (j = 0; j < arity; j++) f->scope[j] = r->list[j];
    return 1;
}

/* Puts a function into the model. A function without variables becomes part of the constant. */
static void gpuopt__elimination_reduce_enter(gpuopt__elimination_reduce *r, gpuopt__elimination_reduce_function *f) {
    gpuopt__elimination_reduce_function *to;
    int32_t j;
    if (f->arity == 0) {
        gpuopt__elimination_reduce_add_constant(r, f->entry[0], f->count ? f->count[0] : 1);
        gpuopt__elimination_scratch_give(&r->scratch, f->block, f->block_bytes);
        return;
    }
    to = (gpuopt__elimination_reduce_function *)gpuopt__elimination_list_add(&r->scratch, &r->function, 1);
    if (!to) {
        gpuopt__elimination_scratch_give(&r->scratch, f->block, f->block_bytes);
        return;
    }
    *to = *f;
    r->alive++;
    for (j = 0; j < f->arity; j++) {
        gpuopt__elimination_reduce_mention *m =
            (gpuopt__elimination_reduce_mention *)gpuopt__elimination_list_add(&r->scratch, &r->mention, 1);
        if (!m) return;
        m->function = (int32_t)r->function.count - 1;
        m->next = r->head[f->scope[j]];
        r->head[f->scope[j]] = (int32_t)r->mention.count - 1;
    }
    gpuopt__elimination_reduce_push(r, (int32_t)r->function.count - 1);
}

/* The first mention of a variable from `at` on in an existing function, as a link in its list. Removes mentions in
 * dropped functions from the list. Returns the number of the mention or -1. */
static int32_t gpuopt__elimination_reduce_mention_from(gpuopt__elimination_reduce *r, int32_t *link) {
    while (*link >= 0) {
        gpuopt__elimination_reduce_mention *m = &gpuopt__elimination_reduce_mentions(r)[*link];
        if (gpuopt__elimination_reduce_at(r, m->function)->arity >= 0) break;
        *link = m->next;
    }
    return *link;
}

/* Loops over the functions f that mention a variable: for (m = _reduce_first(r, x); m >= 0; m = _reduce_after(r, m)).
 * The loop may drop only the current one of them, and may not enter functions that mention x. */
static int32_t gpuopt__elimination_reduce_first(gpuopt__elimination_reduce *r, int32_t variable) {
    return gpuopt__elimination_reduce_mention_from(r, &r->head[variable]);
}

static int32_t gpuopt__elimination_reduce_after(gpuopt__elimination_reduce *r, int32_t mention) {
    return gpuopt__elimination_reduce_mention_from(r, &gpuopt__elimination_reduce_mentions(r)[mention].next);
}

static int32_t gpuopt__elimination_reduce_function_of(const gpuopt__elimination_reduce *r, int32_t mention) {
    return gpuopt__elimination_reduce_mentions(r)[mention].function;
}

/* ---- Loading ---- */

/* Writes a function of the model out. Its least cost goes into the constant; least costs may be below 0, so the limit
 * is set at the end. */
static void gpuopt__elimination_reduce_load(gpuopt__elimination_reduce *r, const gpuopt__elimination_preparation *prep,
                                            int32_t number) {
    const gpuopt_elimination_desc *d = r->desc;
    const gpuopt_elimination_function *from = &d->function[number];
    gpuopt__elimination_reduce_function f;
    int64_t k;
    int32_t j;
    for (j = 0; j < from->arity; j++) r->list[j] = from->scope[j];
    if (!gpuopt__elimination_reduce_make(r, from->arity, from->count != NULL, &f)) return;
    if (f.count) memcpy(f.count, from->count, sizeof(uint64_t) * (size_t)f.entries);
    if (d->type == GPUOPT_COST_DOUBLE) {
        const double *value = gpuopt__elimination_dense_values(d, from, f.entries, &f.entry->value);
        for (k = 0; k < f.entries; k++) f.entry[k].value = gpuopt__elimination_inner_value(d, value[k]);
    } else {
        const int64_t *cost = gpuopt__elimination_dense_costs(d, from, f.entries, &f.entry->cost);
        for (k = 0; k < f.entries; k++) {
            const int64_t inner = gpuopt__elimination_inner_cost(d, cost[k]);
            f.entry[k].cost =
                inner == INT64_MAX ? inner : (int64_t)((uint64_t)inner - (uint64_t)prep->range[number].least);
        }
    }
    r->info.work += f.entries;
    gpuopt__elimination_reduce_enter(r, &f);
}

static void gpuopt__elimination_reduce_cut(gpuopt__arena *arena, gpuopt__elimination_reduce *r, int64_t values) {
    const int64_t n = r->desc->variables;
    r->domain = (int32_t *)gpuopt__cut(arena, n, sizeof(int32_t));
    r->kept_at = (int64_t *)gpuopt__cut(arena, n + 1, sizeof(int64_t));
    r->kept = (int32_t *)gpuopt__cut(arena, values, sizeof(int32_t));
    r->head = (int32_t *)gpuopt__cut(arena, n, sizeof(int32_t));
    r->var_queue = (int32_t *)gpuopt__cut(arena, n, sizeof(int32_t));
    r->value = (int32_t *)gpuopt__cut(arena, n, sizeof(int32_t));
    r->mark = (int32_t *)gpuopt__cut(arena, n, sizeof(int32_t));
    r->list = (int32_t *)gpuopt__cut(arena, n, sizeof(int32_t));
    r->queued = (uint8_t *)gpuopt__cut(arena, n, 1);
    r->whole = (uint8_t *)gpuopt__cut(arena, n, 1);
    r->gone = (uint8_t *)gpuopt__cut(arena, n, 1);
    r->flag = (uint8_t *)gpuopt__cut(arena, values, 1);
}

/* Makes the working model of a prepared model; its order lists the variables that may be eliminated. */
static void gpuopt__elimination_reduce_begin(gpuopt__elimination_reduce *r, const gpuopt__elimination_preparation *prep,
                                             int all) {
    const gpuopt_elimination_desc *d = r->desc;
    gpuopt__arena arena;
    int64_t values = 0;
    int32_t k, v;
    memset(&arena, 0, sizeof arena);
    for (k = 0; k < d->variables; k++) values += d->domain[k];
    gpuopt__elimination_reduce_cut(&arena, r, values);
    r->base_bytes = arena.used;
    r->base = gpuopt__elimination_scratch_block(&r->scratch, &arena);
    if (!r->base) return;
    memset(r->base, 0, (size_t)r->base_bytes);
    gpuopt__elimination_reduce_cut(&arena, r, values);
    r->function.size = sizeof(gpuopt__elimination_reduce_function);
    r->mention.size = sizeof(gpuopt__elimination_reduce_mention);
    r->record.size = sizeof(gpuopt__elimination_reduce_record);
    r->first = r->last = -1;
    r->constant_count = 1;
    r->limit = INT64_MAX;
    for (k = 0; k < d->variables; k++) {
        r->domain[k] = d->domain[k];
        r->kept_at[k + 1] = r->kept_at[k] + d->domain[k];
        for (v = 0; v < d->domain[k]; v++) r->kept[r->kept_at[k] + v] = v;
        r->head[k] = -1;
        r->whole[k] = (uint8_t)(prep->position[k] < 0 || (!all && prep->position[k] >= prep->draft.plan.steps));
    }
    for (k = 0; k < d->variables; k++) gpuopt__elimination_reduce_push_variable(r, k);
    for (k = 0; k < d->functions && !r->scratch.status; k++) gpuopt__elimination_reduce_load(r, prep, k);
    /* Until here the constant holds only the costs of functions without variables above their least cost, that is 0. */
    if (d->type == GPUOPT_COST_INT64) r->constant = prep->least;
    if (d->top > 0) {
        const uint64_t left = prep->least >= d->top ? 0 : (uint64_t)d->top - (uint64_t)prep->least;
        r->topped = left <= prep->spread;
        if (r->topped) r->limit = left;
        if (left == 0) r->infeasible = 1;
    }
}

static void gpuopt__elimination_reduce_end(gpuopt__elimination_reduce *r) {
    int32_t k;
    for (k = 0; k < (int32_t)r->function.count; k++) {
        gpuopt__elimination_reduce_function *f = gpuopt__elimination_reduce_at(r, k);
        gpuopt__elimination_scratch_give(&r->scratch, f->block, f->block_bytes);
    }
    for (k = 0; k < (int32_t)r->record.count; k++) {
        gpuopt__elimination_reduce_record *record = (gpuopt__elimination_reduce_record *)r->record.data + k;
        gpuopt__elimination_scratch_give(&r->scratch, record->scope, sizeof(int32_t) * (uint64_t)record->ints);
    }
    gpuopt__elimination_list_free(&r->scratch, &r->function);
    gpuopt__elimination_list_free(&r->scratch, &r->mention);
    gpuopt__elimination_list_free(&r->scratch, &r->record);
    gpuopt__elimination_scratch_give(&r->scratch, r->base, r->base_bytes);
}

#endif /* GPUOPT_IMPL_ELIMINATION_REDUCE_MODEL_H */
