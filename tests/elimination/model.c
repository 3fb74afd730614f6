/* SPDX-License-Identifier: MIT */
#include "tests/elimination/model.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/support.h"

_Static_assert(LDBL_MANT_DIG >= 64, "long double holds every int64");

const struct model_kind model_kind[MODEL_KINDS] = {
    {GPUOPT_COST_INT64, GPUOPT_SEMIRING_MIN_SUM},      {GPUOPT_COST_INT64, GPUOPT_SEMIRING_MAX_SUM},
    {GPUOPT_COST_DOUBLE, GPUOPT_SEMIRING_MIN_SUM},     {GPUOPT_COST_DOUBLE, GPUOPT_SEMIRING_MAX_SUM},
    {GPUOPT_COST_DOUBLE, GPUOPT_SEMIRING_LOG_SUM_EXP}, {GPUOPT_COST_INT64, GPUOPT_SEMIRING_MIN_COUNT}};

/* ---- Making ---- */

static void *copied(const void *array, size_t bytes) {
    void *copy = malloc(bytes + 1);
    assert_non_null(copy);
    if (array && bytes) memcpy(copy, array, bytes);
    else memset(copy, 0, bytes);
    return copy;
}

model model_make(gpuopt_elimination_cost type, gpuopt_elimination_semiring semiring, int32_t variables,
                 const int32_t *domain) {
    model m;
    int32_t v;
    memset(&m, 0, sizeof m);
    m.type = type;
    m.semiring = semiring;
    m.variables = variables;
    m.domain = copied(domain, (size_t)variables * sizeof *domain);
    for (v = 0; !domain && v < variables; v++) m.domain[v] = 2;
    return m;
}

void model_free(model *m) {
    int32_t f;
    for (f = 0; f < m->functions; f++) {
        free((void *)m->function[f].scope);
        free((void *)m->function[f].tuple);
        free((void *)m->function[f].cost);
        free((void *)m->function[f].value);
        free((void *)m->function[f].count);
    }
    free(m->function);
    free(m->domain);
    memset(m, 0, sizeof *m);
}

int64_t model_entries(const model *m, const int32_t *scope, int32_t arity) {
    int64_t entries = 1;
    int32_t k;
    for (k = 0; k < arity; k++) entries *= m->domain[scope[k]];
    return entries;
}

gpuopt_elimination_function *model_add(model *m, int32_t arity, const int32_t *scope, int64_t tuples) {
    size_t entries = (size_t)(tuples < 0 ? model_entries(m, scope, arity) : tuples);
    gpuopt_elimination_function *f;
    m->function = realloc(m->function, (size_t)(m->functions + 1) * sizeof *m->function);
    assert_non_null(m->function);
    f = &m->function[m->functions++];
    memset(f, 0, sizeof *f);
    f->arity = arity;
    f->scope = copied(scope, (size_t)arity * sizeof *scope);
    f->tuples = tuples;
    if (tuples >= 0) f->tuple = copied(NULL, entries * (size_t)arity * sizeof *f->tuple);
    if (tuples == 0) return f; /* an empty list has no costs */
    if (m->type == GPUOPT_COST_DOUBLE) f->value = copied(NULL, entries * sizeof *f->value);
    else f->cost = copied(NULL, entries * sizeof *f->cost);
    return f;
}

void model_set(const model *m, gpuopt_elimination_function *f, int64_t entry, double cost) {
    if (m->type == GPUOPT_COST_DOUBLE) ((double *)f->value)[entry] = cost;
    else ((int64_t *)f->cost)[entry] = (int64_t)cost;
}

void model_add_distance(model *m, int32_t x, int32_t y, int64_t difference) {
    int32_t scope[2] = {x, y}, a, b;
    gpuopt_elimination_function *f = model_add(m, 2, scope, -1);
    for (a = 0; a < m->domain[x]; a++)
        for (b = 0; b < m->domain[y]; b++)
            model_set(m, f, (int64_t)a * m->domain[y] + b, (double)(difference * abs(a - b)));
}

gpuopt_elimination_desc model_desc(const model *m) {
    gpuopt_elimination_desc desc;
    gpuopt_desc_init(&desc, sizeof desc);
    desc.variables = m->variables;
    desc.domain = m->domain;
    desc.functions = m->functions;
    desc.function = m->function;
    desc.type = m->type;
    desc.semiring = m->semiring;
    desc.top = m->top;
    return desc;
}

/* ---- Evaluating ---- */

static int maximises(const model *m) {
    return m->semiring == GPUOPT_SEMIRING_MAX_SUM || m->semiring == GPUOPT_SEMIRING_LOG_SUM_EXP;
}

long double model_forbidden(const model *m) { return maximises(m) ? -(long double)INFINITY : (long double)INFINITY; }

static long double cost_of(const model *m, int64_t cost, double value) {
    if (m->type == GPUOPT_COST_DOUBLE) return value;
    if (maximises(m)) return cost == INT64_MIN || (m->top && cost <= -m->top) ? model_forbidden(m) : (long double)cost;
    return cost == INT64_MAX || (m->top && cost >= m->top) ? model_forbidden(m) : (long double)cost;
}

long double model_entry(const model *m, int32_t function, const int32_t *value) {
    const gpuopt_elimination_function *f = &m->function[function];
    int64_t entry = 0, t;
    int32_t k;
    if (f->tuples < 0) {
        for (k = 0; k < f->arity; k++) entry = entry * m->domain[f->scope[k]] + value[f->scope[k]];
        return cost_of(m, f->cost ? f->cost[entry] : 0, f->value ? f->value[entry] : 0);
    }
    for (t = f->tuples - 1; t >= 0; t--) {
        for (k = 0; k < f->arity && f->tuple[t * f->arity + k] == value[f->scope[k]]; k++) continue;
        if (k == f->arity) return cost_of(m, f->cost ? f->cost[t] : 0, f->value ? f->value[t] : 0);
    }
    return cost_of(m, f->default_cost, f->default_value);
}

long double model_sum(const model *m, const int32_t *value) {
    long double sum = 0;
    int32_t f;
    for (f = 0; f < m->functions; f++) sum += model_entry(m, f, value);
    if (m->type == GPUOPT_COST_INT64 && m->top && (maximises(m) ? sum <= -(long double)m->top : sum >= m->top))
        return model_forbidden(m);
    return sum;
}

model model_restricted(const model *m, const int32_t *fixed) {
    model r = model_make(m->type, m->semiring, m->variables, m->domain);
    int32_t value[MODEL_VARIABLES], f, v, k;
    int64_t e, entries;
    r.top = m->top;
    r.scale = m->scale;
    for (v = 0; v < m->variables; v++)
        if (fixed[v] >= 0) r.domain[v] = 1;
    for (f = 0; f < m->functions; f++) {
        const gpuopt_elimination_function *old = &m->function[f];
        gpuopt_elimination_function *new = model_add(&r, old->arity, old->scope, -1);
        entries = model_entries(&r, old->scope, old->arity);
        for (e = 0; e < entries; e++) {
            int64_t rest = e;
            long double cost;
            for (k = old->arity - 1; k >= 0; k--) {
                v = old->scope[k];
                value[v] = fixed[v] >= 0 ? fixed[v] : (int32_t)(rest % r.domain[v]);
                rest /= r.domain[v];
            }
            cost = model_entry(m, f, value);
            if (m->type == GPUOPT_COST_DOUBLE) ((double *)new->value)[e] = (double)cost;
            else if (isinf(cost)) ((int64_t *)new->cost)[e] = cost > 0 ? INT64_MAX : INT64_MIN;
            else ((int64_t *)new->cost)[e] = (int64_t)cost;
        }
    }
    return r;
}

/* ---- Drawing ---- */

void draw_permutation(uint64_t *seed, int32_t count, int32_t *permutation) {
    int32_t k, other, kept;
    for (k = 0; k < count; k++) permutation[k] = k;
    for (k = count - 1; k > 0; k--) {
        other = (int32_t)test_random_int(seed, 0, k);
        kept = permutation[k];
        permutation[k] = permutation[other];
        permutation[other] = kept;
    }
}

recipe recipe_draw(uint64_t *seed, gpuopt_elimination_cost type, gpuopt_elimination_semiring semiring) {
    /* From ties everywhere to a sum of 12 functions that nearly fills 63 bits; also around the limits of 8, 16 and 32
     * bits. */
    static const int64_t largest[] = {
        0, 1, 3, 20, 60, 255, 5000, 20000, 70000, 1 << 28, (int64_t)1 << 31, (int64_t)1 << 40, (int64_t)1 << 58};
    recipe r;
    memset(&r, 0, sizeof r);
    r.variables = 8;
    r.domain = (int32_t)test_random_int(seed, 2, 4);
    r.arity = (int32_t)test_random_int(seed, 1, 4);
    r.functions = 12;
    r.largest = largest[test_random_int(seed, 0, type == GPUOPT_COST_DOUBLE ? 9 : 12)];
    if (semiring == GPUOPT_SEMIRING_LOG_SUM_EXP)
        r.largest = largest[test_random_int(seed, 0, 7)]; /* exp() of each alone overflows */
    r.least = test_random_int(seed, 0, 2) ? 0 : -r.largest;
    r.forbidden = test_random_int(seed, 0, 1) ? 0 : (int)test_random_int(seed, 1, 60);
    r.top = type == GPUOPT_COST_INT64 && test_random_int(seed, 0, 2) == 0;
    r.fractions = type == GPUOPT_COST_DOUBLE && test_random_int(seed, 0, 1);
    r.counts = semiring == GPUOPT_SEMIRING_MIN_COUNT && test_random_int(seed, 0, 2) == 0 ? 5 : 0;
    return r;
}

static void draw_cost(uint64_t *seed, const model *m, const recipe *r, int64_t *cost, double *value) {
    int hard = test_random_int(seed, 0, 99) < r->forbidden;
    int64_t drawn = test_random_int(seed, r->least, r->largest);
    *cost = maximises(m) ? -drawn : drawn;
    *value = (double)*cost / 8;
    if (r->fractions) *value += test_random(seed);
    if (!hard) return;
    *value = (double)model_forbidden(m);
    *cost = maximises(m) ? INT64_MIN : INT64_MAX;
    if (m->top && test_random_int(seed, 0, 1)) *cost = maximises(m) ? -m->top - drawn / 2 : m->top + drawn / 2;
}

/* Draws a number up to `most`, preferring larger ones. */
static int32_t draw_size(uint64_t *seed, int32_t least, int32_t most) {
    int64_t a = test_random_int(seed, least, most), b = test_random_int(seed, least, most);
    return (int32_t)(a > b ? a : b);
}

static void draw_function(uint64_t *seed, model *m, const recipe *r) {
    int32_t scope[MODEL_VARIABLES], arity = draw_size(seed, 0, r->arity), k;
    int64_t entries, tuples = -1, e;
    gpuopt_elimination_function *f;
    if (arity > m->variables) arity = m->variables;
    draw_permutation(seed, m->variables, scope);
    if (m->functions && test_random_int(seed, 0, 4) == 0) { /* the scope of another one, perhaps turned round */
        f = &m->function[test_random_int(seed, 0, m->functions - 1)];
        arity = f->arity;
        memcpy(scope, f->scope, (size_t)arity * sizeof *scope);
        if (arity > 1 && test_random_int(seed, 0, 1)) {
            scope[0] = f->scope[arity - 1];
            scope[arity - 1] = f->scope[0];
        }
    }
    entries = model_entries(m, scope, arity);
    if (test_random_int(seed, 0, 2) == 0) tuples = test_random_int(seed, 0, entries + 2);
    f = model_add(m, arity, scope, tuples);
    draw_cost(seed, m, r, &f->default_cost, &f->default_value);
    for (e = 0; e < (tuples < 0 ? entries : tuples); e++) {
        int64_t cost;
        double value;
        draw_cost(seed, m, r, &cost, &value);
        if (f->value) ((double *)f->value)[e] = value;
        else ((int64_t *)f->cost)[e] = cost;
        for (k = 0; tuples >= 0 && k < arity; k++)
            ((int32_t *)f->tuple)[e * arity + k] = (int32_t)test_random_int(seed, 0, m->domain[scope[k]] - 1);
    }
    if (r->counts && tuples < 0 && test_random_int(seed, 0, 1)) {
        f->count = copied(NULL, (size_t)entries * sizeof *f->count);
        for (e = 0; e < entries; e++) ((uint64_t *)f->count)[e] = (uint64_t)test_random_int(seed, 1, r->counts);
    }
}

model model_draw(uint64_t *seed, gpuopt_elimination_cost type, gpuopt_elimination_semiring semiring, const recipe *r) {
    int32_t domain[MODEL_VARIABLES], variables = draw_size(seed, 1, r->variables), v, f;
    int32_t functions = draw_size(seed, 0, r->functions);
    int64_t assignments = 1;
    model m;
    for (v = 0; v < variables; v++) {
        domain[v] = draw_size(seed, 1, r->domain);
        assignments *= domain[v];
        if (assignments > 20000) domain[v] = 1;
    }
    m = model_make(type, semiring, variables, domain);
    m.scale = (double)r->largest * functions;
    if (r->top) m.top = 1 + test_random_int(seed, 0, (r->largest + 1) * (functions / 2 + 1));
    for (f = 0; f < functions; f++) draw_function(seed, &m, r);
    return m;
}

model model_draw_crowded(uint64_t *seed, int32_t k, int32_t variables, int32_t functions, int32_t least_arity,
                         int32_t arity, int32_t *order, gpuopt_elimination_desc *desc) {
    recipe r = recipe_draw(seed, model_kind[k].type, model_kind[k].semiring);
    model m;
    r.variables = variables;
    r.functions = functions;
    r.arity = (int32_t)test_random_int(seed, least_arity, arity);
    r.largest /= r.largest > 1 << 30 ? 8 : 1;
    r.least = r.least ? -r.largest : 0;
    m = model_draw(seed, model_kind[k].type, model_kind[k].semiring, &r);
    *desc = model_desc(&m);
    draw_permutation(seed, m.variables, order);
    desc->order = order;
    desc->order_count = m.variables;
    return m;
}

model model_dense(uint64_t *seed, gpuopt_elimination_cost type, gpuopt_elimination_semiring semiring, int32_t variables,
                  int32_t values) {
    int32_t domain[MODEL_VARIABLES] = {0}, v, k;
    int64_t e;
    model m;
    for (v = 0; v < variables; v++) domain[v] = values + v % 4;
    m = model_make(type, semiring, variables, domain);
    for (v = 0; v < variables; v++)
        for (k = v + 1; k < variables; k++) {
            gpuopt_elimination_function *f = model_add(&m, 2, (int32_t[]){v, k}, -1);
            for (e = 0; e < (int64_t)domain[v] * domain[k]; e++)
                model_set(&m, f, e, (double)test_random_int(seed, 0, 1000));
        }
    m.scale = 1000.0 * m.functions;
    return m;
}

/* ---- Showing ---- */

void model_print(const model *m) {
    static const char *const semiring[] = {"min-sum", "max-sum", "log-sum-exp", "min-count"};
    int64_t e, entries;
    int32_t f, k;
    fprintf(stderr, "%s %s top %lld, domains", m->type ? "double" : "int64", semiring[m->semiring], (long long)m->top);
    for (k = 0; k < m->variables; k++) fprintf(stderr, " %d", (int)m->domain[k]);
    for (f = 0; f < m->functions; f++) {
        const gpuopt_elimination_function *g = &m->function[f];
        fprintf(stderr, "\n  (");
        for (k = 0; k < g->arity; k++) fprintf(stderr, "%sx%d", k ? " " : "", (int)g->scope[k]);
        fprintf(stderr, ") %s", g->tuples < 0 ? "dense" : "tuples");
        entries = g->tuples < 0 ? model_entries(m, g->scope, g->arity) : g->tuples;
        for (e = 0; e < entries && e < 300; e++) {
            fprintf(stderr, " ");
            for (k = 0; g->tuples >= 0 && k < g->arity; k++) fprintf(stderr, "%d,", (int)g->tuple[e * g->arity + k]);
            if (g->cost) fprintf(stderr, "%lld", (long long)g->cost[e]);
            else fprintf(stderr, "%.17g", g->value[e]);
            if (g->count) fprintf(stderr, "(%llu)", (unsigned long long)g->count[e]);
        }
        if (g->tuples >= 0 && g->cost) fprintf(stderr, " else %lld", (long long)g->default_cost);
        if (g->tuples >= 0 && g->value) fprintf(stderr, " else %.17g", g->default_value);
    }
    fprintf(stderr, "\n");
}
