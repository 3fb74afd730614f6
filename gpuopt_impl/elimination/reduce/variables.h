/* SPDX-License-Identifier: MIT
 *
 * Elimination: the preprocessing rules for one variable. Each returns whether it changed the model, as in
 * rules.h.
 */
#ifndef GPUOPT_IMPL_ELIMINATION_REDUCE_VARIABLES_H
#define GPUOPT_IMPL_ELIMINATION_REDUCE_VARIABLES_H

#include "tables.h"

/* Eliminates a variable with at most two neighbours, if its message is not larger than the functions it replaces. */
static int gpuopt__elimination_reduce_degree(gpuopt__elimination_reduce *r, int32_t variable) {
    gpuopt__elimination_reduce_function message;
    int64_t before, after;
    const int32_t arity = gpuopt__elimination_reduce_neighbours(r, variable, 2, &before);
    if (arity < 0) return 0;
    after = gpuopt__elimination_reduce_entries(r, arity, r->list);
    if (after < 0 || (arity > 0 && after > before)) return 0;
    if (!gpuopt__elimination_reduce_message(r, variable, -1, arity, &message)) return 1;
    gpuopt__elimination_reduce_leave(r, variable);
    gpuopt__elimination_reduce_enter(r, &message);
    r->info.variables_degree++;
    return 1;
}

/* Whether a function allows at most one value of a variable with each assignment of the others. */
static int gpuopt__elimination_reduce_determines(gpuopt__elimination_reduce *r,
                                                 const gpuopt__elimination_reduce_function *f, int32_t variable) {
    const int32_t values = r->domain[variable];
    int64_t stride = 1, k;
    int32_t j, v;
    if (f->arity < 2) return 0;
    for (j = f->arity - 1; f->scope[j] != variable; j--) stride *= r->domain[f->scope[j]];
    for (k = 0; k < f->entries; k++) {
        int32_t allowed = 0;
        if (k / stride % values) continue;
        for (v = 0; v < values; v++) allowed += !gpuopt__elimination_reduce_forbidden(r, f->entry[k + v * stride]);
        r->info.work += values;
        if (allowed > 1) return 0;
    }
    return 1;
}

/* The scope of g with the variable replaced by the others of f, into r->list; returns its length. */
static int32_t gpuopt__elimination_reduce_replaced(gpuopt__elimination_reduce *r,
                                                   const gpuopt__elimination_reduce_function *f,
                                                   const gpuopt__elimination_reduce_function *g, int32_t variable) {
    int32_t n = 0, j;
    r->mark[variable] = 1;
    for (j = 0; j < g->arity; j++)
        if (!r->mark[g->scope[j]]) r->mark[r->list[n++] = g->scope[j]] = 1;
    for (j = 0; j < f->arity; j++)
        if (!r->mark[f->scope[j]]) r->mark[r->list[n++] = f->scope[j]] = 1;
    r->mark[variable] = 0;
    for (j = 0; j < n; j++) r->mark[r->list[j]] = 0;
    return n;
}

/* The entries of all functions of a variable after it has been replaced by the others of f; more than `most` count as
 * most + 1. */
static int64_t gpuopt__elimination_reduce_replaced_entries(gpuopt__elimination_reduce *r, int32_t number,
                                                           int32_t variable, int64_t most) {
    int64_t sum = 0;
    int32_t m;
    for (m = gpuopt__elimination_reduce_first(r, variable); m >= 0 && sum <= most;
         m = gpuopt__elimination_reduce_after(r, m)) {
        const int32_t other = gpuopt__elimination_reduce_function_of(r, m);
        const gpuopt__elimination_reduce_function *g = gpuopt__elimination_reduce_at(r, other),
                                                  *f = gpuopt__elimination_reduce_at(r, number);
        const int32_t arity = gpuopt__elimination_reduce_replaced(r, f, g, variable);
        const int64_t entries = gpuopt__elimination_reduce_entries(r, arity, r->list);
        r->info.work++;
        sum = entries < 0 || entries > most ? most + 1 : sum + entries;
    }
    return sum;
}

/* Replaces the variable in function g by its value for `key` [others of f]. of [key's entries] */
static int gpuopt__elimination_reduce_replace(gpuopt__elimination_reduce *r, int32_t other,
                                              const gpuopt__elimination_reduce_function *key, const int32_t *of,
                                              int32_t variable) {
    const gpuopt__elimination_reduce_function *g = gpuopt__elimination_reduce_at(r, other);
    const int32_t arity = gpuopt__elimination_reduce_replaced(r, key, g, variable);
    gpuopt__elimination_reduce_function result;
    int64_t k;
    if (!gpuopt__elimination_reduce_make(r, arity, g->count != NULL, &result)) return 0;
    gpuopt__elimination_reduce_start(r, arity, result.scope);
    for (k = 0; k < result.entries; k++) {
        const int32_t value = of[gpuopt__elimination_reduce_index(r, key)];
        if (value < 0) result.entry[k] = gpuopt__elimination_reduce_zero(r); /* the key's function forbids it */
        else {
            r->value[variable] = value;
            result.entry[k] = g->entry[gpuopt__elimination_reduce_index(r, g)];
        }
        if (result.count) result.count[k] = value < 0 ? 1 : g->count[gpuopt__elimination_reduce_index(r, g)];
        gpuopt__elimination_reduce_next(r, arity, result.scope);
    }
    r->info.work += result.entries;
    gpuopt__elimination_reduce_enter(r, &result);
    return 1;
}

/* Eliminates a variable that function `number` determines: puts its value into its other functions. */
static void gpuopt__elimination_reduce_substitute(gpuopt__elimination_reduce *r, int32_t number, int32_t variable) {
    const gpuopt__elimination_reduce_function *f = gpuopt__elimination_reduce_at(r, number);
    gpuopt__elimination_reduce_function key;
    const int32_t arity = gpuopt__elimination_reduce_replaced(r, f, f, variable);
    uint64_t of_bytes;
    int32_t *of, m;
    int64_t k;
    if (!gpuopt__elimination_reduce_message(r, variable, number, arity, &key)) return;
    of_bytes = sizeof(int32_t) * (uint64_t)key.entries;
    of = (int32_t *)gpuopt__elimination_scratch_take(&r->scratch, of_bytes);
    if (of) {
        f = gpuopt__elimination_reduce_at(r, number);
        gpuopt__elimination_reduce_start(r, arity, key.scope);
        for (k = 0; k < key.entries; k++) {
            int32_t v;
            of[k] = -1;
            for (v = 0; v < r->domain[variable]; v++) {
                r->value[variable] = v;
                if (!gpuopt__elimination_reduce_forbidden(r, f->entry[gpuopt__elimination_reduce_index(r, f)]))
                    of[k] = v;
            }
            gpuopt__elimination_reduce_next(r, arity, key.scope);
        }
        for (m = gpuopt__elimination_reduce_first(r, variable); m >= 0 && !r->scratch.status;
             m = gpuopt__elimination_reduce_after(r, m)) {
            const int32_t other = gpuopt__elimination_reduce_function_of(r, m);
            if (other != number) gpuopt__elimination_reduce_replace(r, other, &key, of, variable);
        }
    }
    gpuopt__elimination_scratch_give(&r->scratch, of, of_bytes);
    gpuopt__elimination_reduce_leave(r, variable);
    gpuopt__elimination_reduce_enter(r, &key);
    r->info.variables_functional++;
}

/* Substitutes a functional variable, if the tables do not grow. */
static int gpuopt__elimination_reduce_functional(gpuopt__elimination_reduce *r, int32_t variable) {
    int64_t before = 0;
    int32_t m, with = -1;
    for (m = gpuopt__elimination_reduce_first(r, variable); m >= 0; m = gpuopt__elimination_reduce_after(r, m))
        before += gpuopt__elimination_reduce_at(r, gpuopt__elimination_reduce_function_of(r, m))->entries;
    for (m = gpuopt__elimination_reduce_first(r, variable); m >= 0 && with < 0;
         m = gpuopt__elimination_reduce_after(r, m)) {
        const int32_t number = gpuopt__elimination_reduce_function_of(r, m);
        const gpuopt__elimination_reduce_function *f = gpuopt__elimination_reduce_at(r, number);
        if (f->entries <= before && gpuopt__elimination_reduce_determines(r, f, variable) &&
            gpuopt__elimination_reduce_replaced_entries(r, number, variable, before) <= before)
            with = number;
    }
    if (with < 0) return 0;
    gpuopt__elimination_reduce_substitute(r, with, variable);
    return 1;
}

/* Whether value b is at least as good as value a for all values of the others. Sums, over the variable's functions, the
 * most by which b exceeds the cost of a; the sum must not exceed 0. */
static int gpuopt__elimination_reduce_dominates(gpuopt__elimination_reduce *r, int32_t variable, int32_t b, int32_t a) {
    const int32_t values = r->domain[variable];
    uint64_t more = 0, less = 0;
    double sum = 0;
    int32_t m, j;
    for (m = gpuopt__elimination_reduce_first(r, variable); m >= 0; m = gpuopt__elimination_reduce_after(r, m)) {
        const gpuopt__elimination_reduce_function *f =
            gpuopt__elimination_reduce_at(r, gpuopt__elimination_reduce_function_of(r, m));
        int64_t stride = 1, k, i, worst = INT64_MIN;
        double worst_value = -HUGE_VAL;
        for (j = f->arity - 1; f->scope[j] != variable; j--) stride *= r->domain[f->scope[j]];
        for (k = 0; k < f->entries; k += stride * values)
            for (i = k; i < k + stride; i++) {
                const gpuopt__elimination_reduce_entry ea = f->entry[i + a * stride], eb = f->entry[i + b * stride];
                r->info.work++;
                if (gpuopt__elimination_reduce_forbidden(r, ea)) continue;
                if (gpuopt__elimination_reduce_forbidden(r, eb)) return 0;
                if (r->desc->type == GPUOPT_COST_DOUBLE)
                    worst_value = gpuopt__max(worst_value, gpuopt__sub(eb.value, ea.value));
                else if (eb.cost - ea.cost > worst) worst = eb.cost - ea.cost;
            }
        if (r->desc->type == GPUOPT_COST_DOUBLE) sum = gpuopt__add(sum, worst_value);
        else if (worst > 0) more = gpuopt__elimination_saturated_sum(more, (uint64_t)worst);
        else less = gpuopt__elimination_saturated_sum(less, 0 - (uint64_t)worst);
    }
    return r->desc->type == GPUOPT_COST_DOUBLE ? sum <= 0 : more <= less && more < UINT64_MAX;
}

/* Removes dominated values of a variable: of two equally good values the first stays. */
static int gpuopt__elimination_reduce_dominance(gpuopt__elimination_reduce *r, int32_t variable) {
    uint8_t *flag = r->flag + r->kept_at[variable];
    int32_t removed = 0, a, b;
    memset(flag, 1, (size_t)r->domain[variable]);
    for (a = r->domain[variable] - 1; a >= 0 && r->info.work < r->most_work; a--)
        for (b = 0; b < r->domain[variable] && flag[a]; b++)
            if (b != a && flag[b] && gpuopt__elimination_reduce_dominates(r, variable, b, a)) {
                flag[a] = 0;
                removed++;
            }
    if (removed == 0) return 0;
    r->info.values_dominated += removed;
    gpuopt__elimination_reduce_remove(r, variable, flag);
    return 1;
}

#endif /* GPUOPT_IMPL_ELIMINATION_REDUCE_VARIABLES_H */
