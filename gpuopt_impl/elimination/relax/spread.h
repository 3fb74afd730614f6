/* SPDX-License-Identifier: MIT
 *
 * Elimination: cost shifting between the functions of a model, before it is split into mini-buckets. For each variable
 * in turn, the least cost of each value in each function that mentions it is averaged over these functions (FGLP:
 * Ihler, Flerova, Dechter, Otten: Join-graph based cost-shifting schemes, 2012). A value that one function forbids is
 * forbidden in all of them. The sum of the functions does not change for any assignment.
 */
#ifndef GPUOPT_IMPL_ELIMINATION_RELAX_SPREAD_H
#define GPUOPT_IMPL_ELIMINATION_RELAX_SPREAD_H

#include "model.h"

/* The most entries of all functions as dense tables (128 MB), and the most passes over all variables. On CELAR6-SUB0
 * and the models of SPOT5 more than 50 passes change little. */
#define GPUOPT__ELIMINATION_SPREAD_ENTRIES ((int64_t)1 << 24)
#define GPUOPT__ELIMINATION_SPREAD_PASSES 50

/* Dense functions over the scopes of a model's functions, an additional one for each variable, and a constant. Costs
 * are in the internal form, times the scale. */
typedef struct gpuopt__elimination_spread {
    const gpuopt_elimination_desc *desc;
    int32_t functions;                     /* the model's, and one for each variable; the constant comes after them */
    gpuopt_elimination_function *function; /* [functions + 1] */
    int64_t **cost;                        /* [functions + 1] */
    int64_t *entries;                      /* [functions + 1] */
    int64_t *pool;
    int32_t *variable;                      /* [variables] 0, 1, 2, ... */
    int64_t *of_start, *at;                 /* [variables + 1] the functions that mention each variable; */
    int32_t *of;                            /* positions in `of` [all scopes] */
    int64_t *least;                         /* [functions of a variable][its domain], for the largest */
    int64_t all, scopes, most_least, limit; /* limit: no cost may become larger */
} gpuopt__elimination_spread;

/* Measures; returns 0 if the functions are too large as dense tables. */
static int gpuopt__elimination_spread_measure(gpuopt__elimination_spread *s, int64_t *degree) {
    const gpuopt_elimination_desc *d = s->desc;
    int32_t k, j;
    s->most_least = 0;
    s->functions = d->functions + d->variables;
    s->all = 1;
    s->scopes = d->variables;
    for (k = 0; k < d->variables; k++) {
        degree[k] = 1;
        s->all += d->domain[k];
    }
    for (k = 0; k < d->functions && s->all <= GPUOPT__ELIMINATION_SPREAD_ENTRIES; k++) {
        s->all += gpuopt__elimination_scope_entries(d->domain, d->function[k].arity, d->function[k].scope);
        s->scopes += d->function[k].arity;
        for (j = 0; j < d->function[k].arity; j++) degree[d->function[k].scope[j]]++;
    }
    for (k = 0; k < d->variables; k++)
        if (degree[k] * d->domain[k] > s->most_least) s->most_least = degree[k] * d->domain[k];
    return s->all <= GPUOPT__ELIMINATION_SPREAD_ENTRIES;
}

static void gpuopt__elimination_spread_cut(gpuopt__arena *arena, gpuopt__elimination_spread *s) {
    const int64_t functions = (int64_t)s->functions + 1, variables = s->desc->variables;
    s->function = (gpuopt_elimination_function *)gpuopt__cut(arena, functions, sizeof *s->function);
    s->cost = (int64_t **)gpuopt__cut(arena, functions, sizeof *s->cost);
    s->entries = (int64_t *)gpuopt__cut(arena, functions, sizeof(int64_t));
    s->pool = (int64_t *)gpuopt__cut(arena, s->all, sizeof(int64_t));
    s->variable = (int32_t *)gpuopt__cut(arena, variables, sizeof(int32_t));
    s->of_start = (int64_t *)gpuopt__cut(arena, variables + 1, sizeof(int64_t));
    s->at = (int64_t *)gpuopt__cut(arena, variables, sizeof(int64_t));
    s->of = (int32_t *)gpuopt__cut(arena, s->scopes, sizeof(int32_t));
    s->least = (int64_t *)gpuopt__cut(arena, s->most_least, sizeof(int64_t));
}

/* Writes out the functions, and the list of functions of each variable. */
static void gpuopt__elimination_spread_fill(gpuopt__elimination_spread *s, int64_t scale) {
    const gpuopt_elimination_desc *d = s->desc;
    int64_t at = 0, e;
    int32_t k, j;
    for (k = 0; k <= d->variables; k++) s->of_start[k] = 0;
    for (k = 0; k < d->variables; k++) s->variable[k] = k;
    for (k = 0; k <= s->functions; k++) {
        gpuopt_elimination_function *f = &s->function[k];
        memset(f, 0, sizeof *f);
        if (k < s->functions) {
            f->arity = k < d->functions ? d->function[k].arity : 1;
            f->scope = k < d->functions ? d->function[k].scope : &s->variable[k - d->functions];
        }
        f->tuples = -1;
        s->cost[k] = s->pool + at;
        f->cost = s->cost[k];
        s->entries[k] = gpuopt__elimination_scope_entries(d->domain, f->arity, f->scope);
        at += s->entries[k];
        for (e = 0; e < s->entries[k]; e++) s->cost[k][e] = 0;
        for (j = 0; j < f->arity; j++) s->of_start[f->scope[j] + 1]++;
        if (k >= d->functions) continue;
        if (gpuopt__elimination_dense_costs(d, &d->function[k], s->entries[k], s->cost[k]) != s->cost[k])
            memcpy(s->cost[k], d->function[k].cost, sizeof(int64_t) * (size_t)s->entries[k]);
        for (e = 0; e < s->entries[k]; e++) {
            const int64_t inner = gpuopt__elimination_inner_cost(d, s->cost[k][e]);
            s->cost[k][e] = inner == INT64_MAX ? inner : inner * scale;
        }
    }
    for (k = 0; k < d->variables; k++) s->of_start[k + 1] += s->of_start[k];
    for (k = 0; k < d->variables; k++) s->at[k] = s->of_start[k];
    for (k = 0; k < s->functions; k++)
        for (j = 0; j < s->function[k].arity; j++) s->of[s->at[s->function[k].scope[j]]++] = k;
}

/* The stride of a variable in a function's table. */
static int64_t gpuopt__elimination_spread_stride(const gpuopt__elimination_spread *s, int32_t function,
                                                 int32_t variable) {
    const gpuopt_elimination_function *f = &s->function[function];
    int64_t stride = 1;
    int32_t j;
    for (j = f->arity - 1; f->scope[j] != variable; j--) stride *= s->desc->domain[f->scope[j]];
    return stride;
}

/* Averages over the functions that mention a variable. Returns 0 if a cost becomes too large. */
static int gpuopt__elimination_spread_variable(gpuopt__elimination_spread *s, int32_t variable) {
    const int32_t values = s->desc->domain[variable];
    const int64_t first = s->of_start[variable], count = s->of_start[variable + 1] - first;
    int64_t k, e, largest = 0;
    int32_t v;
    for (k = 0; k < count; k++) {
        const int32_t f = s->of[first + k];
        const int64_t stride = gpuopt__elimination_spread_stride(s, f, variable);
        int64_t *least = s->least + k * values;
        for (v = 0; v < values; v++) least[v] = INT64_MAX;
        for (e = 0; e < s->entries[f]; e++) {
            const int64_t at = e / stride % values;
            if (s->cost[f][e] < least[at]) least[at] = s->cost[f][e];
        }
    }
    for (v = 0; v < values; v++) { /* from least costs to the addends */
        int64_t sum = 0;
        int allowed = 1;
        for (k = 0; k < count; k++) {
            allowed &= s->least[k * values + v] != INT64_MAX;
            if (allowed) sum += s->least[k * values + v];
        }
        for (k = 0; k < count; k++) {
            int64_t *least = &s->least[k * values + v];
            *least = allowed ? sum / count + (k < sum % count) - *least : INT64_MAX;
        }
    }
    for (k = 0; k < count; k++) {
        const int32_t f = s->of[first + k];
        const int64_t stride = gpuopt__elimination_spread_stride(s, f, variable);
        for (e = 0; e < s->entries[f]; e++) {
            const int64_t more = s->least[k * values + e / stride % values];
            int64_t *cost = &s->cost[f][e];
            if (*cost == INT64_MAX) continue;
            *cost = more == INT64_MAX ? more : *cost + more;
            if (*cost != INT64_MAX && *cost > largest) largest = *cost;
        }
    }
    return largest <= s->limit;
}

/* Moves each function's least cost into the constant. A function without an allowed entry stays as it is. */
static void gpuopt__elimination_spread_level(gpuopt__elimination_spread *s) {
    int32_t k;
    int64_t e;
    for (k = 0; k < s->functions; k++) {
        int64_t least = INT64_MAX;
        for (e = 0; e < s->entries[k]; e++)
            if (s->cost[k][e] < least) least = s->cost[k][e];
        if (least == INT64_MAX) continue;
        for (e = 0; e < s->entries[k]; e++)
            if (s->cost[k][e] != INT64_MAX) s->cost[k][e] -= least;
        s->cost[s->functions][0] += least;
    }
}

/* Makes desc [out] the model with its costs spread over the functions, times the scale. *memory holds its functions;
 * the caller releases it. It stays NULL if the tables are, or the costs become, too large. */
static gpuopt_status gpuopt__elimination_spread_costs(gpuopt__elimination_preparation *prep, int64_t scale,
                                                      int32_t passes, gpuopt_elimination_desc *out, void **memory) {
    const gpuopt_context *context = prep->scratch.context;
    const gpuopt_elimination_desc *d = &prep->desc;
    const uint64_t degree_bytes = sizeof(int64_t) * (uint64_t)d->variables;
    const int sign = d->semiring == GPUOPT_SEMIRING_MAX_SUM ? -1 : 1;
    gpuopt__elimination_spread s;
    gpuopt__arena arena;
    int64_t *degree = (int64_t *)gpuopt__elimination_scratch_take(&prep->scratch, degree_bytes), e;
    int32_t pass, k;
    int good;
    if (!degree) return prep->scratch.status;
    memset(&s, 0, sizeof s);
    memset(&arena, 0, sizeof arena);
    s.desc = d;
    good = gpuopt__elimination_spread_measure(&s, degree);
    gpuopt__elimination_scratch_give(&prep->scratch, degree, degree_bytes);
    if (!good) return GPUOPT_OK;
    gpuopt__elimination_spread_cut(&arena, &s);
    if (gpuopt__take_block(context, GPUOPT_HOST, &arena)) return GPUOPT_ERROR_MEMORY;
    *memory = arena.base;
    gpuopt__elimination_spread_cut(&arena, &s);
    gpuopt__elimination_spread_fill(&s, scale);
    s.limit = ((int64_t)1 << 60) / ((int64_t)s.functions + 1);
    gpuopt__elimination_spread_level(&s);
    for (pass = 0; pass < passes && good && !gpuopt__asked_to_stop(context); pass++)
        for (k = 0; k < d->variables && good; k++)
            if (prep->position[k] >= 0) good = gpuopt__elimination_spread_variable(&s, k);
    gpuopt__elimination_spread_level(&s);
    *out = *d;
    out->top = d->top > INT64_MAX / scale ? 0 : d->top * scale;
    /* With a constant below 0, a cost of top need not make a sum of top. */
    if (!good || (out->top > 0 && s.cost[s.functions][0] < 0)) {
        gpuopt__release(context, GPUOPT_HOST, *memory);
        *memory = NULL;
        return GPUOPT_OK;
    }
    for (e = 0; sign < 0 && e < s.all; e++) s.pool[e] = s.pool[e] == INT64_MAX ? INT64_MIN : -s.pool[e];
    out->function = s.function;
    out->functions = s.functions + 1;
    out->order = prep->order;
    out->order_count = prep->draft.plan.steps;
    return GPUOPT_OK;
}

#endif /* GPUOPT_IMPL_ELIMINATION_RELAX_SPREAD_H */
