/* SPDX-License-Identifier: MIT
 *
 * Elimination: the preprocessing rules for one function. Each returns whether it changed the model, and queues the
 * functions and variables it changed.
 */
#ifndef GPUOPT_IMPL_ELIMINATION_REDUCE_RULES_H
#define GPUOPT_IMPL_ELIMINATION_REDUCE_RULES_H

#include "tables.h"

/* Scopes larger than this are not split. */
#define GPUOPT__ELIMINATION_REDUCE_SPLIT_ARITY 8

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

/* Moves an INT64 function's least cost into the constant, and removes a function without other costs. */
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

/* Joins two functions; the scope of the first lies within the scope of the second. */
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

/* Joins a function with another one if one of the two scopes contains the other. */
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

/* The values with the least cost (DOUBLE: the first allowed values), with the other variables as in entry `base`;
 * returns 0 if all are forbidden. */
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

/* Whether at every `base` the function is a sum of a function of x and one of y: e(x, y) = e(x, y0) + e(x0, y) - e(x0,
 * y0). */
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

/* Splits a function if two of its variables are independent given the others. */
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
        if (p.x_values == 1) continue; /* the parts would be no smaller */
        for (j = i + 1; j < f->arity; j++) {
            int sums = 1;
            p.y = f->scope[j];
            p.y_values = r->domain[p.y];
            p.y_stride /= p.y_values;
            if (p.y_values == 1) continue;
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

#endif /* GPUOPT_IMPL_ELIMINATION_REDUCE_RULES_H */
