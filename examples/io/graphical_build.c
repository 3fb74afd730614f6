/* SPDX-License-Identifier: MIT */
#include "examples/io/graphical_build.h"

#include <stdlib.h>
#include <string.h>

/* Room for one more element. Returns the array, or NULL, in which case the old one stays. */
static void *grown(void *array, size_t size, size_t count, size_t *capacity) {
    size_t wanted = *capacity ? 2 * *capacity : 16;
    void *more;
    if (count < *capacity) return array;
    if (wanted > SIZE_MAX / 2 / size || !(more = realloc(array, size * wanted))) return NULL;
    *capacity = wanted;
    return more;
}

int32_t builder_variable(builder *b, int32_t domain, int32_t beside) {
    graphical_model *m = b->model;
    int32_t *array;
    if (m->variables == INT32_MAX) return -1;
    array = grown(m->domain, sizeof *array, (size_t)m->variables, &b->variable_capacity);
    if (!array) return -1;
    m->domain = array;
    if (beside >= 0) {
        array = grown(m->beside, sizeof *array, (size_t)m->hidden, &b->hidden_capacity);
        if (!array) return -1;
        m->beside = array;
        m->beside[m->hidden++] = beside;
    }
    m->domain[m->variables] = domain;
    if (domain > m->max_domain) m->max_domain = domain;
    return m->variables++;
}

int64_t builder_entries(const builder *b, int32_t arity, const int32_t *scope, int64_t most) {
    int64_t entries = 1;
    int32_t k;
    for (k = 0; k < arity; k++) {
        int64_t d = b->model->domain[scope[k]];
        if (entries > most / d) return most + 1;
        entries *= d;
    }
    return entries <= most ? entries : most + 1;
}

static int allocate_costs(gpuopt_elimination_function *f, int64_t tuples, int64_t entries) {
    size_t costs = (size_t)(tuples < 0 ? entries : tuples), width = (size_t)f->arity;
    f->tuples = tuples;
    if (tuples == 0) return 0; /* an empty list has neither costs nor tuples */
    if (costs > SIZE_MAX / 16 / (width + 1)) return -1;
    if (tuples >= 0 && !(f->tuple = malloc(sizeof *f->tuple * costs * width + 1))) return -1;
    f->cost = malloc(sizeof *f->cost * costs + 1);
    return f->cost ? 0 : -1;
}

gpuopt_elimination_function *builder_function(builder *b, int32_t arity, const int32_t *scope, int64_t tuples,
                                              int64_t entries) {
    graphical_model *m = b->model;
    gpuopt_elimination_function *f;
    int32_t *copy;
    if (m->functions == INT32_MAX) return NULL;
    f = grown(m->function, sizeof *f, (size_t)m->functions, &b->function_capacity);
    if (!f) return NULL;
    m->function = f;
    f += m->functions++; /* from here on its arrays are the model's */
    memset(f, 0, sizeof *f);
    f->arity = arity;
    f->scope = copy = malloc(sizeof *copy * (size_t)arity + 1);
    if (!copy || allocate_costs(f, tuples, entries)) return NULL;
    if (arity > 0) memcpy(copy, scope, sizeof *copy * (size_t)arity);
    return f;
}

int builder_copy_costs(const builder *b, gpuopt_elimination_function *to, const gpuopt_elimination_function *from) {
    int64_t entries = from->tuples < 0 ? builder_entries(b, from->arity, from->scope, INT64_MAX - 1) : 0;
    free((void *)to->tuple);
    free((void *)to->cost);
    to->tuple = NULL;
    to->cost = NULL;
    if (allocate_costs(to, from->tuples, entries)) return -1;
    to->default_cost = from->default_cost;
    if (from->tuples == 0) return 0;
    if (from->tuples > 0) {
        entries = from->tuples;
        memcpy((void *)to->tuple, from->tuple, sizeof *to->tuple * (size_t)(entries * from->arity));
    }
    memcpy((void *)to->cost, from->cost, sizeof *to->cost * (size_t)entries);
    return 0;
}

int64_t builder_add(builder *b, int64_t x, int64_t y) {
    if (x == BUILDER_FORBIDDEN || y == BUILDER_FORBIDDEN) return BUILDER_FORBIDDEN;
    if (y > 0 && x > INT64_MAX - y) return BUILDER_FORBIDDEN;
    if (y < 0 && x < -INT64_MAX - y) {
        b->too_low = 1;
        return 0;
    }
    return x + y;
}

int64_t builder_less(int64_t x, int64_t y) {
    return x == BUILDER_FORBIDDEN || (y < 0 && x > INT64_MAX + y) ? BUILDER_FORBIDDEN : x - y;
}

static int64_t costs_of(const builder *b, const gpuopt_elimination_function *f) {
    return f->tuples < 0 ? builder_entries(b, f->arity, f->scope, INT64_MAX - 1) : f->tuples;
}

/* The least cost of a function, at most 0. */
static int64_t least(const builder *b, const gpuopt_elimination_function *f) {
    int64_t lowest = f->default_cost < 0 ? f->default_cost : 0, costs = costs_of(b, f), k;
    for (k = 0; k < costs; k++)
        if (f->cost[k] < lowest) lowest = f->cost[k];
    return lowest;
}

int builder_any_negative(const builder *b) {
    int32_t i;
    for (i = 0; i < b->model->functions; i++)
        if (least(b, &b->model->function[i]) < 0) return 1;
    return 0;
}

const char *builder_finish(builder *b, int64_t bound) {
    graphical_model *m = b->model;
    gpuopt_elimination_function *f;
    int64_t k;
    int32_t i;
    for (i = 0; i < m->functions; i++) {
        int64_t *cost = (int64_t *)m->function[i].cost, lowest, costs;
        f = &m->function[i];
        costs = costs_of(b, f);
        lowest = least(b, f);
        if (lowest == 0) continue;
        for (k = 0; k < costs; k++) cost[k] = builder_less(cost[k], lowest);
        f->default_cost = builder_less(f->default_cost, lowest);
        m->shift = builder_add(b, m->shift, lowest);
    }
    if (b->too_low || (bound > 0 && bound > INT64_MAX + m->shift))
        return "the negative costs do not fit 63 bits together";
    m->top = bound - m->shift;
    if (m->top > 0) return NULL;
    m->top = 1; /* nothing costs less: a constant that reaches the least top there is */
    f = builder_function(b, 0, NULL, 0, 0);
    if (!f) return "out of memory";
    f->default_cost = 1;
    return NULL;
}
