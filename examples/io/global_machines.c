/* SPDX-License-Identifier: MIT */
#include "examples/io/global_machines.h"

#include <stdlib.h>
#include <string.h>

/* ---- Counters: a sum of weights along the scope, and a cost for its distance from the bounds ---- */

void counter_free(counter *c) {
    free(c->weight);
    free(c->start);
    free(c->least);
}

int counter_init(counter *c, const builder *b, const global *g, enum global_metric metric, int64_t cost) {
    int64_t weights = 0;
    int32_t k;
    memset(c, 0, sizeof *c);
    c->arity = g->arity;
    c->scope = g->scope;
    c->domain = b->model->domain;
    c->metric = metric;
    c->shortage = c->excess = cost;
    for (k = 0; k < g->arity; k++) weights += b->model->domain[g->scope[k]];
    c->start = malloc(sizeof *c->start * ((size_t)g->arity + 1));
    c->weight = calloc((size_t)weights + 1, sizeof *c->weight);
    c->least = malloc(sizeof *c->least * 2 * ((size_t)g->arity + 1));
    if (!c->start || !c->weight || !c->least) return -1;
    c->most = c->least + g->arity + 1;
    for (k = 0, weights = 0; k < g->arity; k++) {
        c->start[k] = weights;
        weights += b->model->domain[g->scope[k]];
    }
    return 0;
}

void counter_look_ahead(counter *c) {
    int32_t k, v;
    c->least[c->arity] = c->most[c->arity] = 0;
    for (k = c->arity - 1; k >= 0; k--) {
        int64_t least = INT64_MAX, most = -INT64_MAX;
        for (v = 0; v < c->domain[c->scope[k]]; v++) {
            int64_t w = c->weight[c->start[k] + v];
            if (w < least) least = w;
            if (w > most) most = w;
        }
        c->least[k] = c->least[k + 1] + least;
        c->most[k] = c->most[k + 1] + most;
    }
}

void counter_mark(counter *c, int32_t first, int32_t last, int64_t value, int64_t weight) {
    int32_t k;
    for (k = first; k < last; k++)
        if (value < c->domain[c->scope[k]]) c->weight[c->start[k] + value] += weight;
}

void counter_bounds(counter *c, int64_t low, int64_t high) {
    c->low = low;
    c->high = high;
    c->has_low = c->has_high = 1;
}

void counter_compare(counter *c, enum global_comparator comparator, int64_t to) {
    c->low = comparator == COMPARE_GT ? to + 1 : to;
    c->high = comparator == COMPARE_LT ? to - 1 : to;
    c->unequal = comparator == COMPARE_NE;
    c->has_low = comparator == COMPARE_EQ || comparator == COMPARE_GT || comparator == COMPARE_GE;
    c->has_high = comparator == COMPARE_EQ || comparator == COMPARE_LT || comparator == COMPARE_LE;
}

static void zero_start(const void *self, int64_t *to) {
    (void)self;
    *to = 0;
}

/* Sums that must end within or outside of hard bounds are merged, so that there are fewer states. */
static int64_t counter_step(builder *b, const void *self, int32_t position, int32_t value, const int64_t *from,
                            int64_t *to) {
    const counter *c = self;
    int64_t sum = *from + c->weight[c->start[position] + value];
    int64_t least = c->least[position + 1], most = c->most[position + 1];
    (void)b;
    if (c->metric == METRIC_HARD && c->has_low && sum + most < c->low) sum = c->low - 1 - most;
    if (c->metric == METRIC_HARD && c->has_low && !c->has_high && sum + least > c->low) sum = c->low - least;
    if (c->metric == METRIC_HARD && c->has_high && sum + least > c->high) sum = c->high + 1 - least;
    if (c->metric == METRIC_HARD && c->has_high && !c->has_low && sum + most < c->high) sum = c->high - most;
    *to = sum;
    return 0;
}

/* cost times a number of 0 or more */
static int64_t times(int64_t cost, int64_t number) {
    if (number == 0 || cost == 0) return 0;
    return cost > INT64_MAX / number ? BUILDER_FORBIDDEN : cost * number;
}

static int64_t counter_end(builder *b, const void *self, const int64_t *state) {
    const counter *c = self;
    int64_t gap = 0, cost = c->excess;
    (void)b;
    if (c->unequal) gap = *state == c->low;
    else if (c->has_low && *state < c->low) gap = c->low - *state, cost = c->shortage;
    else if (c->has_high && *state > c->high) gap = *state - c->high;
    if (gap == 0) return 0;
    if (c->metric == METRIC_HARD) return cost;
    return times(c->metric == METRIC_QUAD ? times(cost, gap) : cost, gap);
}

machine counter_machine(const counter *c) {
    machine m = {c->arity, c->scope, c, 1, 1, zero_start, counter_step, counter_end};
    return m;
}

/* ---- Overlaps: X1 Y1 X2 Y2 ..., where the value of an X waits for the value of its Y ---- */

static void two_zeros(const void *self, int64_t *to) {
    (void)self;
    to[0] = to[1] = 0;
}

static int64_t overlap_step(builder *b, const void *self, int32_t position, int32_t value, const int64_t *from,
                            int64_t *to) {
    (void)b, (void)self;
    to[0] = from[0] + (position % 2 && value != 0 && value == from[1]);
    to[1] = position % 2 ? 0 : value;
    return 0;
}

machine overlap_machine(const counter *c, const int32_t *scope) {
    machine m = {c->arity, scope, c, 2, 1, two_zeros, overlap_step, counter_end};
    return m;
}

/* ---- sgcc var: how often each listed value is taken ---- */

static void no_counts(const void *self, int64_t *to) {
    const cardinalities *c = self;
    int64_t k;
    for (k = 0; k < c->g->list[0].count / 3; k++) to[k] = 0;
}

static int64_t count_step(builder *b, const void *self, int32_t position, int32_t value, const int64_t *from,
                          int64_t *to) {
    const cardinalities *c = self;
    int64_t k;
    (void)b, (void)position;
    for (k = 0; k < c->g->list[0].count / 3; k++) to[k] = from[k] + (c->g->list[0].number[3 * k] == value);
    return 0;
}

/* The number of variables to change equals the excess of some values, or the lack of others. */
static int64_t count_end(builder *b, const void *self, const int64_t *state) {
    const cardinalities *c = self;
    int64_t shortage = 0, excess = 0, k;
    (void)b;
    for (k = 0; k < c->g->list[0].count / 3; k++) {
        int64_t low = c->g->list[0].number[3 * k + 1], high = c->g->list[0].number[3 * k + 2];
        if (state[k] < low) shortage += low - state[k];
        if (state[k] > high) excess += state[k] - high;
    }
    return c->impossible ? BUILDER_FORBIDDEN : times(c->cost, shortage > excess ? shortage : excess);
}

machine cardinalities_machine(const cardinalities *c) {
    int32_t rows = (int32_t)(c->g->list[0].count / 3);
    machine m = {c->g->arity, c->g->scope, c, rows, rows + 1, no_counts, count_step, count_end};
    return m;
}

/* ---- Automata: the least cost of a way to each state; the least of all is paid at once ---- */

static void automaton_start(const void *self, int64_t *to) {
    const automaton *a = self;
    const global_list *starts = &a->g->list[0];
    int64_t k, at, cost;
    for (k = 0; k < a->g->number[0]; k++) to[k] = BUILDER_FORBIDDEN;
    for (at = 0; at < starts->count; at += starts->width) {
        cost = starts->width == 2 ? starts->number[at + 1] : 0;
        if (cost < to[starts->number[at]]) to[starts->number[at]] = cost;
    }
}

static int64_t automaton_step(builder *b, const void *self, int32_t position, int32_t value, const int64_t *from,
                              int64_t *to) {
    const automaton *a = self;
    const global_list *steps = &a->g->list[2];
    int64_t states = a->g->number[0], least = BUILDER_FORBIDDEN, k, at;
    (void)position;
    for (k = 0; k < states; k++) to[k] = BUILDER_FORBIDDEN;
    for (at = 0; at < steps->count; at += steps->width) {
        const int64_t *step = &steps->number[at];
        int64_t cost = 0;
        if (from[step[0]] == BUILDER_FORBIDDEN) continue;
        if (step[1] != value && steps->width == 4) continue;
        if (step[1] != value) cost = a->cost;
        else if (steps->width == 4) cost = step[3];
        cost = builder_add(b, from[step[0]], cost);
        if (cost < to[step[2]]) to[step[2]] = cost;
    }
    for (k = 0; k < states; k++)
        if (to[k] < least) least = to[k];
    for (k = 0; k < states && least != BUILDER_FORBIDDEN; k++) to[k] = builder_less(to[k], least);
    return least;
}

static int64_t automaton_end(builder *b, const void *self, const int64_t *state) {
    const automaton *a = self;
    const global_list *ends = &a->g->list[1];
    int64_t least = BUILDER_FORBIDDEN, at, cost;
    for (at = 0; at < ends->count; at += ends->width) {
        cost = builder_add(b, state[ends->number[at]], ends->width == 2 ? ends->number[at + 1] : 0);
        if (cost < least) least = cost;
    }
    return least;
}

machine automaton_machine(const automaton *a) {
    const global *g = a->g;
    int64_t work = g->number[0] + g->list[2].count + 1;
    machine m = {g->arity,
                 g->scope,
                 a,
                 (int32_t)g->number[0],
                 (int32_t)(work < MACHINE_WORK ? work : MACHINE_WORK),
                 automaton_start,
                 automaton_step,
                 automaton_end};
    return m;
}

/* ---- Maxima: costs as weights ---- */

static void least_start(const void *self, int64_t *to) {
    (void)self;
    *to = -INT64_MAX;
}

static int64_t max_step(builder *b, const void *self, int32_t position, int32_t value, const int64_t *from,
                        int64_t *to) {
    const counter *c = self;
    int64_t cost = c->weight[c->start[position] + value];
    (void)b;
    *to = cost > *from ? cost : *from;
    return 0;
}

static int64_t max_end(builder *b, const void *self, const int64_t *state) {
    (void)b, (void)self;
    return *state;
}

machine max_machine(const counter *c) {
    machine m = {c->arity, c->scope, c, 1, 1, least_start, max_step, max_end};
    return m;
}

/* ---- Arithmetic of two variables: the first one's value waits for the second one's ---- */

static int64_t value_of(const char *name, const int64_t *p, int64_t x, int64_t y) {
    int64_t gap;
    switch (name[0]) {
    case 'd': return x >= y + p[1] || y >= x + p[0] ? 0 : p[2];
    case 's':
        if (x > p[2] || y > p[3]) return BUILDER_FORBIDDEN;
        if (x < p[2] && y < p[3] && x < y + p[1] && y < x + p[0]) return BUILDER_FORBIDDEN;
        return (x == p[2] ? p[4] : 0) + (y == p[3] ? p[5] : 0);
    case '>': gap = y + p[0] - x + (name[1] == 0); break;
    case '<': gap = x - p[0] - y + (name[1] == 0); break;
    default: gap = y + p[0] > x ? y + p[0] - x : x - y - p[0];
    }
    return gap > p[1] ? BUILDER_FORBIDDEN : gap > 0 ? gap : 0;
}

static int64_t arithmetic_step(builder *b, const void *self, int32_t position, int32_t value, const int64_t *from,
                               int64_t *to) {
    const global *g = self;
    (void)b;
    *to = value;
    return position == 0 ? 0 : value_of(g->kind->name, g->number, *from, value);
}

static int64_t nothing(builder *b, const void *self, const int64_t *state) {
    (void)b, (void)self, (void)state;
    return 0;
}

machine arithmetic_machine(const global *g) {
    machine m = {g->arity, g->scope, g, 1, 1, zero_start, arithmetic_step, nothing};
    return m;
}
