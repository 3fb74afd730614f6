/* SPDX-License-Identifier: MIT
 *
 * The machines that global functions are made of.
 */
#ifndef EXAMPLES_IO_GLOBAL_MACHINES_H
#define EXAMPLES_IO_GLOBAL_MACHINES_H

#include "examples/io/global.h"
#include "examples/io/global_layers.h"

/* A sum of weights along the scope, and a cost for its distance from the bounds. */
typedef struct counter {
    int32_t arity;
    const int32_t *scope, *domain;
    int64_t *weight, *start; /* weight[start[k] + v] of value v of the k-th variable */
    int64_t *least, *most;   /* [arity + 1] of the sum behind the k-th variable */
    int64_t low, high;       /* the bounds, both or one; or with `unequal` the forbidden sum */
    int has_low, has_high, unequal;
    enum global_metric metric; /* HARD, LIN or QUAD */
    int64_t shortage, excess;  /* the costs of a unit; HARD: of any number */
} counter;

/* All weights 0, no bounds, and this cost for each unit; for any number if the metric is HARD. Returns 0, or -1: out of
 * memory. */
int counter_init(counter *c, const builder *b, const global *g, enum global_metric metric, int64_t cost);
void counter_free(counter *c);
/* Adds a weight to a value of the variables from the first one to the one before the last, if their domain has the
 * value. */
void counter_mark(counter *c, int32_t first, int32_t last, int64_t value, int64_t weight);
void counter_bounds(counter *c, int64_t low, int64_t high);
void counter_compare(counter *c, enum global_comparator comparator, int64_t to);
/* The weights and bounds are there: prepares the counter for the machine. */
void counter_look_ahead(counter *c);

/* A machine lives as long as its data. */
machine counter_machine(const counter *c);
/* The scope is X1 Y1 X2 Y2 ...: the sum is how many pairs are equal and not 0. Of the counter only the bounds count. */
machine overlap_machine(const counter *c, const int32_t *scope);
/* The largest weight is the cost. */
machine max_machine(const counter *c);

/* sgcc var: how often each listed value is taken. */
typedef struct cardinalities {
    const global *g;
    int impossible; /* no assignment at all keeps the bounds */
    int64_t cost;
} cardinalities;
machine cardinalities_machine(const cardinalities *c);

typedef struct automaton {
    const global *g;
    int64_t cost; /* sregular: of another value than the transition's */
} automaton;
machine automaton_machine(const automaton *a);

machine arithmetic_machine(const global *g);

#endif /* EXAMPLES_IO_GLOBAL_MACHINES_H */
