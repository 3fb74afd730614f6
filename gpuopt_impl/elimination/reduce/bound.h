/* SPDX-License-Identifier: MIT
 *
 * Elimination: soft arc consistency against top. On a copy of the model, costs are shifted between functions
 * (relax/spread.h) until the constant holds a bound on all assignments. A value or an entry for which the bound reaches
 * top is forbidden; the model itself keeps its costs.
 */
#ifndef GPUOPT_IMPL_ELIMINATION_REDUCE_BOUND_H
#define GPUOPT_IMPL_ELIMINATION_REDUCE_BOUND_H

#include "tables.h"

/* Forbids entries by the shifted copy; r->flag receives the values that remain. Returns 0 if the bound alone reaches
 * the limit. */
static int gpuopt__elimination_reduce_prune(gpuopt__elimination_reduce *r, const gpuopt__elimination_spread *s,
                                            const int32_t *number, int64_t limit) {
    const int32_t own = s->desc->functions, variables = r->desc->variables;
    const int64_t bound = s->cost[s->functions][0];
    int32_t k, j, v;
    int64_t e;
    if (bound >= limit) return 0;
    for (k = 0; k < own; k++) {
        gpuopt__elimination_reduce_function *f = gpuopt__elimination_reduce_at(r, number[k]);
        int changed = 0;
        gpuopt__elimination_reduce_start(r, f->arity, f->scope);
        for (e = 0; e < f->entries; e++, gpuopt__elimination_reduce_next(r, f->arity, f->scope)) {
            int64_t sum = s->cost[k][e];
            if (gpuopt__elimination_reduce_forbidden(r, f->entry[e])) continue;
            for (j = 0; j < f->arity && sum < limit - bound; j++) {
                const int64_t more = s->cost[own + f->scope[j]][r->value[f->scope[j]]];
                sum = more >= limit ? limit : sum + more;
            }
            if (sum < limit - bound) continue;
            f->entry[e].cost = INT64_MAX;
            r->info.entries_bounded++;
            changed = 1;
        }
        if (changed) gpuopt__elimination_reduce_push(r, number[k]);
    }
    for (k = 0; k < variables; k++) {
        const int64_t first = s->of_start[k], count = s->of_start[k + 1] - first, values = r->domain[k];
        memset(r->flag + r->kept_at[k], 1, (size_t)values);
        if (r->gone[k] || r->whole[k]) continue;
        for (v = 0; v < values; v++) {
            int64_t sum = bound, i;
            for (i = 0; i < count && sum < limit; i++) {
                const int32_t f = s->of[first + i];
                const int64_t stride = gpuopt__elimination_spread_stride(s, f, k);
                int64_t least = INT64_MAX, base;
                for (base = v * stride; base < s->entries[f]; base += stride * values)
                    for (e = base; e < base + stride; e++)
                        if (s->cost[f][e] < least) least = s->cost[f][e];
                sum = least >= limit ? limit : sum + least;
            }
            r->flag[r->kept_at[k] + v] = sum < limit;
        }
    }
    return 1;
}

/* One round; returns whether it has forbidden anything. */
static int gpuopt__elimination_reduce_bound(gpuopt__elimination_reduce *r) {
    const gpuopt_elimination_desc *d = r->desc;
    const uint64_t scratch_bytes = (sizeof(gpuopt_elimination_function) + sizeof(int32_t)) * (uint64_t)r->alive +
                                   sizeof(int64_t) * (uint64_t)d->variables;
    gpuopt__elimination_spread s;
    gpuopt_elimination_desc copy = *d;
    gpuopt_elimination_function *function;
    gpuopt__arena arena;
    void *memory = NULL, *scratch = gpuopt__elimination_scratch_take(&r->scratch, scratch_bytes);
    uint64_t memory_bytes = 0;
    int64_t *degree, scale = GPUOPT__ELIMINATION_SCALE_MOST;
    int32_t *number, n = 0, k, v, pass;
    int good, changed = 0;
    if (!scratch) return 0;
    degree = (int64_t *)scratch;
    function = (gpuopt_elimination_function *)(void *)(degree + d->variables);
    number = (int32_t *)(void *)(function + r->alive);
    for (k = 0; k < (int32_t)r->function.count; k++) {
        const gpuopt__elimination_reduce_function *f = gpuopt__elimination_reduce_at(r, k);
        if (f->arity < 0) continue;
        memset(&function[n], 0, sizeof *function);
        function[n].arity = f->arity;
        function[n].scope = f->scope;
        function[n].tuples = -1;
        function[n].cost = &f->entry->cost;
        number[n++] = k;
    }
    copy.semiring = GPUOPT_SEMIRING_MIN_SUM;
    copy.domain = r->domain;
    copy.functions = n;
    copy.function = function;
    copy.top = (int64_t)r->limit;
    memset(&s, 0, sizeof s);
    memset(&arena, 0, sizeof arena);
    s.desc = &copy;
    good = n > 0 && gpuopt__elimination_spread_measure(&s, degree);
    s.limit = ((int64_t)1 << 60) / ((int64_t)s.functions + 1);
    while (scale > 1 && copy.top > s.limit / scale) scale /= 2;
    good &= copy.top <= s.limit / scale;
    if (good) {
        gpuopt__elimination_spread_cut(&arena, &s);
        memory_bytes = arena.used;
        memory = gpuopt__elimination_scratch_block(&r->scratch, &arena);
    }
    if (memory) {
        gpuopt__elimination_spread_cut(&arena, &s);
        gpuopt__elimination_spread_fill(&s, scale);
        gpuopt__elimination_spread_level(&s);
        for (pass = 0; pass < GPUOPT__ELIMINATION_SPREAD_PASSES && good && r->info.work < r->most_work; pass++) {
            for (k = 0; k < d->variables && good; k++)
                if (!r->gone[k]) good = gpuopt__elimination_spread_variable(&s, k);
            r->info.work += 2 * s.all;
        }
        gpuopt__elimination_spread_level(&s);
        if (good && !gpuopt__elimination_reduce_prune(r, &s, number, copy.top * scale)) r->infeasible = 1;
        r->info.work += 2 * s.all;
    }
    gpuopt__elimination_scratch_give(&r->scratch, memory, memory_bytes);
    gpuopt__elimination_scratch_give(&r->scratch, scratch, scratch_bytes);
    for (k = 0; k < d->variables && memory && good && !r->infeasible; k++) {
        int32_t without = 0;
        if (r->gone[k] || r->whole[k]) continue;
        for (v = 0; v < r->domain[k]; v++) without += !r->flag[r->kept_at[k] + v];
        if (without == 0) continue;
        r->info.values_bounded += without;
        gpuopt__elimination_reduce_remove(r, k, r->flag + r->kept_at[k]);
        changed = 1;
    }
    return changed;
}

#endif /* GPUOPT_IMPL_ELIMINATION_REDUCE_BOUND_H */
