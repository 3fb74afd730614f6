/* SPDX-License-Identifier: MIT
 *
 * Elimination: the rules of a reduction that are about one function or one variable. Each returns whether it changed
 * the model; what changed has then been put into the queues again.
 */
#ifndef GPUOPT_IMPL_ELIMINATION_REDUCE_RULES_H
#define GPUOPT_IMPL_ELIMINATION_REDUCE_RULES_H

#include "reduce_tables.h"

/* Scopes larger than this are not split. */
#define GPUOPT__ELIMINATION_REDUCE_SPLIT_ARITY 8

/* ---- One function ---- */

/* Generalized arc consistency: values that every entry of the function forbids. */
static int gpuopt__elimination_reduce_consistency(gpuopt__elimination_reduce *r, int32_t number) {
    const gpuopt__elimination_reduce_function *f = gpuopt__elimination_reduce_at(r, number);
    const int32_t arity = f->arity;
    int64_t k;
    int32_t j, v;
    int changed = 0;
    for (j = 0; j < arity; j++) {
        r->list[j] = f->scope[j];
        memset(r->flag + r->kept_at[f->scope[j]], 0, (size_t)r->domain[f->scope[j]]);
    }
    gpuopt__elimination_reduce_start(r, arity, f->scope);
    for (k = 0; k < f->entries; k++) {
        if (!gpuopt__elimination_reduce_forbidden(r, f->entry[k]))
            for (j = 0; j < arity; j++) r->flag[r->kept_at[f->scope[j]] + r->value[f->scope[j]]] = 1;
        gpuopt__elimination_reduce_next(r, arity, f->scope);
    }
    r->info.work += f->entries;
    for (j = 0; j < arity && !r->infeasible; j++) {
        const uint8_t *flag = r->flag + r->kept_at[r->list[j]];
        int32_t without = 0;
        for (v = 0; v < r->domain[r->list[j]]; v++) without += !flag[v];
        if (without == 0) continue;
        if (r->whole[r->list[j]]) {
            if (without == r->domain[r->list[j]]) r->infeasible = 1;
            continue;
        }
        r->info.values_forbidden += without;
        gpuopt__elimination_reduce_remove(r, r->list[j], flag);
        changed = 1;
    }
    return changed;
}

/* Moves an INT64 function's least cost into the constant, and takes out a function that has only that. */
static int gpuopt__elimination_reduce_level(gpuopt__elimination_reduce *r, int32_t number) {
    gpuopt__elimination_reduce_function *f = gpuopt__elimination_reduce_at(r, number);
    gpuopt__elimination_reduce_entry least = f->entry[0];
    int64_t k;
    int same = 1;
    for (k = 1; k < f->entries; k++) {
        if (r->desc->type == GPUOPT_COST_INT64) {
            same &= f->entry[k].cost == least.cost;
            if (f->entry[k].cost < least.cost) least = f->entry[k];
        } else same &= f->entry[k].value >= least.value && f->entry[k].value <= least.value;
        if (f->count) same &= f->count[k] == f->count[0];
    }
    r->info.work += f->entries;
    if (same) {
        gpuopt__elimination_reduce_add_constant(r, least, f->count ? f->count[0] : 1);
        gpuopt__elimination_reduce_drop(r, number);
        return 1;
    }
    if (r->desc->type != GPUOPT_COST_INT64 || least.cost == 0 || gpuopt__elimination_reduce_forbidden(r, least))
        return 0;
    for (k = 0; k < f->entries; k++)
        if (gpuopt__elimination_reduce_forbidden(r, f->entry[k])) f->entry[k].cost = INT64_MAX;
        else f->entry[k].cost -= least.cost;
    gpuopt__elimination_reduce_add_constant(r, least, 1);
    return 0;
}

/* Joins two functions, the first of which has a scope within that of the second. */
static void gpuopt__elimination_reduce_join(gpuopt__elimination_reduce *r, int32_t number, int32_t into) {
    const gpuopt__elimination_reduce_function *f = gpuopt__elimination_reduce_at(r, number),
                                              *g = gpuopt__elimination_reduce_at(r, into);
    gpuopt__elimination_reduce_function join;
    int64_t k;
    int32_t j;
    for (j = 0; j < g->arity; j++) r->list[j] = g->scope[j];
    if (!gpuopt__elimination_reduce_make(r, g->arity, f->count || g->count, &join)) return;
    gpuopt__elimination_reduce_start(r, join.arity, join.scope);
    for (k = 0; k < join.entries; k++) {
        const int64_t at = gpuopt__elimination_reduce_index(r, f);
        join.entry[k] = gpuopt__elimination_reduce_sum(r, f->entry[at], g->entry[k]);
        if (join.count)
            join.count[k] = gpuopt__elimination_count_product(f->count ? f->count[at] : 1, g->count ? g->count[k] : 1);
        gpuopt__elimination_reduce_next(r, join.arity, join.scope);
    }
    r->info.work += join.entries;
    r->info.functions_joined++;
    gpuopt__elimination_reduce_drop(r, number);
    gpuopt__elimination_reduce_drop(r, into);
    gpuopt__elimination_reduce_enter(r, &join);
}

/* Joins a function with one whose scope has its own, or lies within it. */
static int gpuopt__elimination_reduce_join_any(gpuopt__elimination_reduce *r, int32_t number) {
    const gpuopt__elimination_reduce_function *f = gpuopt__elimination_reduce_at(r, number);
    int32_t j, i, m, other = -1, common = 0;
    for (j = 0; j < f->arity; j++) r->mark[f->scope[j]] = 1;
    for (j = 0; j < f->arity && other < 0; j++)
        for (m = gpuopt__elimination_reduce_first(r, f->scope[j]); m >= 0; m = gpuopt__elimination_reduce_after(r, m)) {
            const int32_t candidate = gpuopt__elimination_reduce_function_of(r, m);
            const gpuopt__elimination_reduce_function *g = gpuopt__elimination_reduce_at(r, candidate);
            r->info.work++;
            if (candidate == number) continue;
            for (common = 0, i = 0; i < g->arity; i++) common += r->mark[g->scope[i]];
            if (common < g->arity && common < f->arity) continue;
            other = candidate;
            break;
        }
    for (j = 0; j < f->arity; j++) r->mark[f->scope[j]] = 0;
    if (other < 0) return 0;
    if (common == f->arity) gpuopt__elimination_reduce_join(r, number, other);
    else gpuopt__elimination_reduce_join(r, other, number);
    return 1;
}

/* A function, two positions in its scope, and their strides. */
typedef struct gpuopt__elimination_reduce_pair {
    const gpuopt__elimination_reduce_function *f;
    int32_t x, y; /* variables */
    int64_t x_stride, y_stride;
    int32_t x_values, y_values;
} gpuopt__elimination_reduce_pair;

static gpuopt__elimination_reduce_entry gpuopt__elimination_reduce_pair_at(const gpuopt__elimination_reduce_pair *p,
                                                                           int64_t base, int32_t x, int32_t y) {
    return p->f->entry[base + x * p->x_stride + y * p->y_stride];
}

/* The values with the least cost (DOUBLE: the first allowed ones) where the others are those of entry `base`; returns
 * 0 if all are forbidden. */
static int gpuopt__elimination_reduce_reference(const gpuopt__elimination_reduce *r,
                                                const gpuopt__elimination_reduce_pair *p, int64_t base, int32_t *x,
                                                int32_t *y) {
    gpuopt__elimination_reduce_entry best = gpuopt__elimination_reduce_none(r);
    int32_t i, j;
    int found = 0;
    for (i = 0; i < p->x_values; i++)
        for (j = 0; j < p->y_values; j++) {
            const gpuopt__elimination_reduce_entry e = gpuopt__elimination_reduce_pair_at(p, base, i, j);
            if (gpuopt__elimination_reduce_forbidden(r, e)) continue;
            if (found && (r->desc->type == GPUOPT_COST_DOUBLE || e.cost >= best.cost)) continue;
            best = e;
            *x = i;
            *y = j;
            found = 1;
        }
    return found;
}

/* Whether at every `base` the function is the sum of one of x and one of y: e(x, y) = e(x, y0) + e(x0, y) - e(x0, y0).
 */
static int gpuopt__elimination_reduce_sums(gpuopt__elimination_reduce *r, const gpuopt__elimination_reduce_pair *p,
                                           int64_t base) {
    int32_t i, j, x, y;
    gpuopt__elimination_reduce_entry o;
    if (!gpuopt__elimination_reduce_reference(r, p, base, &x, &y)) return 1;
    o = gpuopt__elimination_reduce_pair_at(p, base, x, y);
    r->info.work += p->x_values * p->y_values;
    for (i = 0; i < p->x_values; i++)
        for (j = 0; j < p->y_values; j++) {
            const gpuopt__elimination_reduce_entry e = gpuopt__elimination_reduce_pair_at(p, base, i, j),
                                                   a = gpuopt__elimination_reduce_pair_at(p, base, i, y),
                                                   b = gpuopt__elimination_reduce_pair_at(p, base, x, j);
            const int none = gpuopt__elimination_reduce_forbidden(r, a) || gpuopt__elimination_reduce_forbidden(r, b);
            if (none != gpuopt__elimination_reduce_forbidden(r, e)) return 0;
            if (none) continue;
            if (r->desc->type == GPUOPT_COST_INT64) {
                if (e.cost - a.cost != b.cost - o.cost) return 0;
            } else if (!(fabs(gpuopt__sub(gpuopt__sub(e.value, a.value), gpuopt__sub(b.value, o.value))) <=
                         1e-15 * (fabs(e.value) + fabs(a.value) + fabs(b.value) + fabs(o.value))))
                return 0;
        }
    return 1;
}

/* Replaces a function by a sum of two: one without y, one without x. */
static void gpuopt__elimination_reduce_split(gpuopt__elimination_reduce *r, int32_t number,
                                             const gpuopt__elimination_reduce_pair *p) {
    gpuopt__elimination_reduce_function part[2];
    int64_t base;
    int32_t i, j, x, y, n;
    for (i = 0; i < 2; i++) {
        for (n = 0, j = 0; j < p->f->arity; j++)
            if (p->f->scope[j] != (i ? p->x : p->y)) r->list[n++] = p->f->scope[j];
        if (gpuopt__elimination_reduce_make(r, n, 0, &part[i])) continue;
        if (i) gpuopt__elimination_scratch_give(&r->scratch, part[0].block, part[0].block_bytes);
        return;
    }
    gpuopt__elimination_reduce_start(r, p->f->arity, p->f->scope);
    for (base = 0; base < p->f->entries; base++, gpuopt__elimination_reduce_next(r, p->f->arity, p->f->scope)) {
        int found;
        if (r->value[p->x] || r->value[p->y]) continue;
        x = y = 0;
        found = gpuopt__elimination_reduce_reference(r, p, base, &x, &y);
        for (i = 0; i < p->x_values; i++) {
            r->value[p->x] = i;
            part[0].entry[gpuopt__elimination_reduce_index(r, &part[0])] =
                gpuopt__elimination_reduce_pair_at(p, base, i, y);
        }
        r->value[p->x] = 0;
        for (j = 0; j < p->y_values; j++) {
            gpuopt__elimination_reduce_entry e = gpuopt__elimination_reduce_pair_at(p, base, x, j),
                                             o = gpuopt__elimination_reduce_pair_at(p, base, x, y);
            if (!found) e = gpuopt__elimination_reduce_zero(r);
            else if (gpuopt__elimination_reduce_forbidden(r, e)) e = gpuopt__elimination_reduce_none(r);
            else if (r->desc->type == GPUOPT_COST_INT64) e.cost -= o.cost;
            else e.value = gpuopt__sub(e.value, o.value);
            r->value[p->y] = j;
            part[1].entry[gpuopt__elimination_reduce_index(r, &part[1])] = e;
        }
        r->value[p->y] = 0;
    }
    r->info.work += p->f->entries;
    r->info.functions_split++;
    gpuopt__elimination_reduce_drop(r, number);
    gpuopt__elimination_reduce_enter(r, &part[0]);
    gpuopt__elimination_reduce_enter(r, &part[1]);
}

/* Splits a function where two of its variables are independent given the others. */
static int gpuopt__elimination_reduce_split_any(gpuopt__elimination_reduce *r, int32_t number) {
    const gpuopt__elimination_reduce_function *f = gpuopt__elimination_reduce_at(r, number);
    gpuopt__elimination_reduce_pair p;
    int32_t i, j;
    int64_t base;
    if (f->count || f->arity > GPUOPT__ELIMINATION_REDUCE_SPLIT_ARITY) return 0;
    p.f = f;
    p.x_stride = f->entries;
    for (i = 0; i < f->arity; i++) {
        p.x = f->scope[i];
        p.x_values = r->domain[p.x];
        p.x_stride /= p.x_values;
        p.y_stride = p.x_stride;
        for (j = i + 1; j < f->arity; j++) {
            int sums = 1;
            p.y = f->scope[j];
            p.y_values = r->domain[p.y];
            p.y_stride /= p.y_values;
            r->info.work += f->entries;
            for (base = 0; base < f->entries && sums; base++)
                if (base / p.x_stride % p.x_values == 0 && base / p.y_stride % p.y_values == 0)
                    sums = gpuopt__elimination_reduce_sums(r, &p, base);
            if (!sums) continue;
            gpuopt__elimination_reduce_split(r, number, &p);
            return 1;
        }
    }
    return 0;
}

/* ---- One variable ---- */

/* Eliminates a variable with at most two neighbours, if its message is no larger than what it replaces. */
static int gpuopt__elimination_reduce_degree(gpuopt__elimination_reduce *r, int32_t variable) {
    gpuopt__elimination_reduce_function message;
    int64_t before, after;
    const int32_t arity = gpuopt__elimination_reduce_neighbours(r, variable, 2, &before);
    if (arity < 0) return 0;
    after = gpuopt__elimination_reduce_entries(r, arity, r->list);
    if (arity > 0 && after > before) return 0;
    if (!gpuopt__elimination_reduce_message(r, variable, -1, arity, &message)) return 1;
    gpuopt__elimination_reduce_leave(r, variable);
    gpuopt__elimination_reduce_enter(r, &message);
    r->info.variables_degree++;
    return 1;
}

/* Whether in a function at most one value of a variable goes with each assignment of the others. */
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

/* The scope of g with the variable replaced by the others of f, into r->list; returns how many. */
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

/* Puts what a variable is for `key` [others of f] in the place of the variable in function g. of [key's entries] */
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

/* Eliminates a variable that function `number` determines, by putting what it is into its other functions. */
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

/* Whether value b is at least as good as value a whatever the others are: the sum over the variable's functions of the
 * most that b costs more than a is not above 0. */
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

/* Takes dominated values from a variable: of two that are equally good, the first one stays. */
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

#endif /* GPUOPT_IMPL_ELIMINATION_REDUCE_RULES_H */
