/* SPDX-License-Identifier: MIT
 *
 * The parts of a global function: pairs, or machines with costs that are added up.
 */
#include <stdlib.h>
#include <string.h>

#include "examples/io/global_machines.h"

enum {
    TABLE_ENTRIES = 4096,  /* of a function that becomes one table */
    PART_VALUES = 1 << 22, /* of all variables of a scope */
    PARTS_VALUES = 1 << 28 /* the same for all counters of a function */
};

typedef struct parts {
    builder *b;
    const global *g;
    int64_t top, cost; /* cost: of a violation; FORBIDDEN: it is */
    int32_t largest;   /* domain of the scope */
    int64_t values;    /* of all its variables */
    int as_table;      /* the counters are kept, for one table */
    counter *kept;     /* [count] */
    int32_t count, capacity;
} parts;

static const char no_memory[] = "out of memory";
static const char too_large[] = "takes tables that are too large";

static const char *fault_of(int failed) {
    return failed == MACHINE_NO_MEMORY ? no_memory : failed == MACHINE_TOO_LARGE ? too_large : NULL;
}

static int64_t no_more_than_top(const parts *p, int64_t cost) { return cost >= p->top ? BUILDER_FORBIDDEN : cost; }

/* ---- Pairs ---- */

/* Adds a function of the variables at these places of the scope: each pair of values has that cost. first and second
 * [counts] are the values; NULL: all values, paired with themselves. */
static const char *add_pair(parts *p, int32_t i, int32_t j, const int64_t *first, int64_t firsts, const int64_t *second,
                            int64_t seconds, int64_t cost) {
    int32_t scope[2], *tuple;
    int64_t tuples, k, l, *costs;
    gpuopt_elimination_function *f;
    scope[0] = p->g->scope[i];
    scope[1] = p->g->scope[j];
    if (!first) {
        int32_t a = p->b->model->domain[scope[0]], c = p->b->model->domain[scope[1]];
        firsts = a < c ? a : c;
        seconds = 1;
    }
    tuples = firsts * seconds;
    if ((p->b->made += tuples + 1) > BUILDER_MADE) return too_large;
    f = builder_function(p->b, 2, scope, tuples, 0);
    if (!f) return no_memory;
    tuple = (int32_t *)f->tuple;
    costs = (int64_t *)f->cost;
    for (k = 0; k < firsts; k++) {
        for (l = 0; l < seconds; l++) {
            *tuple++ = (int32_t)(first ? first[k] : k);
            *tuple++ = (int32_t)(first ? second[l] : k);
            *costs++ = cost;
        }
    }
    return NULL;
}

static const char *add_unequal_pairs(parts *p) {
    const char *fault = NULL;
    int32_t i, j;
    for (i = 0; i < p->g->arity && !fault; i++)
        for (j = i + 1; j < p->g->arity && !fault; j++) fault = add_pair(p, i, j, NULL, 0, NULL, 0, p->cost);
    return fault;
}

/* The lists of values one behind the other, each after its length. */
static const char *add_clique(parts *p) {
    const int64_t *list = p->g->list[0].number, *one, *other;
    const char *fault = NULL;
    int32_t i, j, d = p->largest;
    for (i = 0, one = list; i < p->g->arity; i++, one += one[0] + 1) {
        for (j = 1; j <= one[0]; j++)
            if (one[j] >= p->b->model->domain[p->g->scope[i]]) return "has a value that its variable does not have";
        if (one[0] > d) return "has a list of values that is longer than the domain";
    }
    for (i = 0, one = list; i < p->g->arity && !fault; i++, one += one[0] + 1) {
        for (j = i + 1, other = one + one[0] + 1; j < p->g->arity && !fault; j++, other += other[0] + 1) {
            fault = add_pair(p, i, j, one + 1, one[0], other + 1, other[0], BUILDER_FORBIDDEN);
        }
    }
    return fault;
}

/* ---- Counters and other machines ---- */

/* Takes a counter, to add it now or, for one table, later. */
static const char *add_counter(parts *p, counter *c) {
    machine m;
    int failed;
    counter_look_ahead(c);
    if (p->as_table) {
        if (p->count == p->capacity) {
            int32_t capacity = p->capacity ? 2 * p->capacity : 8;
            counter *more = realloc(p->kept, sizeof *more * (size_t)capacity);
            if (!more) {
                counter_free(c);
                return no_memory;
            }
            p->kept = more;
            p->capacity = capacity;
        }
        p->kept[p->count++] = *c;
        return NULL;
    }
    m = counter_machine(c);
    failed = machine_as_layers(p->b, &m);
    counter_free(c);
    return fault_of(failed);
}

static const char *add_kept(parts *p) {
    machine *m = malloc(sizeof *m * (size_t)p->count + 1);
    int32_t k;
    int failed = MACHINE_NO_MEMORY;
    for (k = 0; m && k < p->count; k++) m[k] = counter_machine(&p->kept[k]);
    if (m && p->count > 0) failed = machines_as_table(p->b, m, p->count);
    free(m);
    return p->count > 0 ? fault_of(failed) : NULL;
}

static const char *add_machine(parts *p, const machine *m) {
    int failed = p->as_table ? machines_as_table(p->b, m, 1) : MACHINE_TOO_LARGE;
    return fault_of(failed == MACHINE_TOO_LARGE ? machine_as_layers(p->b, m) : failed);
}

static enum global_metric metric_of(const parts *p) {
    if (p->cost == BUILDER_FORBIDDEN || p->g->metric == METRIC_HARD) return METRIC_HARD;
    return p->g->metric == METRIC_QUAD ? METRIC_QUAD : METRIC_LIN;
}

static int init(const parts *p, counter *c) {
    if (!counter_init(c, p->b, p->g, metric_of(p), p->cost)) return 0;
    counter_free(c);
    return -1;
}

/* For each value: how often the first variables have it, less how often the others have it, if there are `both`; then 0
 * is a bound below as well. */
static const char *add_value_counters(parts *p, int64_t high, int both) {
    const global *g = p->g;
    const char *fault = NULL;
    int64_t k;
    int32_t v;
    counter c;
    for (v = 0; v < p->largest && !fault; v++) {
        if (init(p, &c)) return no_memory;
        if (g->kind->form == FORM_TWO_LISTS) {
            for (k = 0; k < g->list[0].count; k++) {
                int32_t one = (int32_t)g->list[0].number[k], other = (int32_t)g->list[1].number[k];
                counter_mark(&c, one, one + 1, v, 1);
                counter_mark(&c, other, other + 1, v, -1);
            }
        } else if (both) {
            counter_mark(&c, 0, g->arity / 2, v, 1);
            counter_mark(&c, g->arity / 2, g->arity, v, -1);
        } else counter_mark(&c, 0, g->arity, v, 1);
        counter_bounds(&c, 0, high);
        c.has_low = both;
        fault = add_counter(p, &c);
    }
    return fault;
}

/* For each listed value: how often the variables from the first one to that before the last one have it. */
static const char *add_bounded_values(parts *p, int32_t first, int32_t last) {
    const global_list *list = &p->g->list[0];
    const char *fault = NULL;
    int64_t at;
    counter c;
    for (at = 0; at < list->count && !fault; at += list->width) {
        const int64_t *row = &list->number[at];
        if (init(p, &c)) return no_memory;
        counter_mark(&c, first, last, row[0], 1);
        counter_bounds(&c, row[1], row[2]);
        if (list->width == 5) {
            c.metric = METRIC_LIN;
            c.shortage = no_more_than_top(p, row[3]);
            c.excess = no_more_than_top(p, row[4]);
        }
        fault = add_counter(p, &c);
    }
    return fault;
}

/* sgcc: as a sum over values, unless it is soft and by the number of variables. */
static const char *add_cardinalities(parts *p) {
    const global_list *list = &p->g->list[0];
    cardinalities c = {p->g, 0, p->cost};
    int64_t lows = 0, highs = 0, at;
    int32_t listed = 0, v;
    machine m;
    if (strcmp(p->g->kind->name, "sgcc") != 0 || p->g->metric != METRIC_VAR || p->cost == BUILDER_FORBIDDEN)
        return add_bounded_values(p, 0, p->g->arity);
    for (at = 0; at < list->count; at += 3) {
        lows += list->number[at + 1];
        highs += list->number[at + 2];
    }
    for (v = 0; v < p->largest; v++) {
        for (at = 0; at < list->count && list->number[at] != v;) at += 3;
        listed += at < list->count;
    }
    c.impossible = lows > p->g->arity || (listed == p->largest && highs < p->g->arity);
    m = cardinalities_machine(&c);
    return add_machine(p, &m);
}

/* Sums and counts along the scope: one counter. */
static const char *add_sum(parts *p) {
    const global *g = p->g;
    enum global_form form = g->kind->form;
    int32_t sum = form == FORM_VARAMONG || form == FORM_VARSUM ? g->arity - 1 : g->arity, k, v;
    int64_t at;
    counter c;
    if (init(p, &c)) return no_memory;
    for (at = 0; (form == FORM_AMONG || form == FORM_VARAMONG) && at < g->list[0].count; at++)
        for (k = 0; k < sum; k++)
            if (g->list[0].number[at] < c.domain[g->scope[k]]) c.weight[c.start[k] + g->list[0].number[at]] = 1;
    for (k = 0; k < sum && (form == FORM_SUM || form == FORM_VARSUM); k++)
        for (v = 0; v < c.domain[g->scope[k]]; v++) c.weight[c.start[k] + v] = v;
    for (k = 0; k < sum && form == FORM_KNAPSACK; k++) counter_mark(&c, k, k + 1, 1, g->list[0].number[k]);
    for (v = 0; sum < g->arity && v < c.domain[g->scope[sum]]; v++) c.weight[c.start[sum] + v] = -v;
    switch (form) {
    case FORM_AMONG: counter_bounds(&c, g->number[0], g->number[1]); break;
    case FORM_VARAMONG: counter_bounds(&c, 0, 0); break;
    case FORM_KNAPSACK: counter_compare(&c, COMPARE_GE, g->number[0]); break;
    default: counter_compare(&c, g->comparator, form == FORM_SUM ? g->number[0] : 0); break;
    }
    return add_counter(p, &c);
}

static const char *add_overlap(parts *p) {
    int32_t *scope = malloc(sizeof *scope * (size_t)p->g->arity + 1), k;
    const char *fault = no_memory;
    counter c;
    machine m;
    if (scope && !init(p, &c)) {
        for (k = 0; k < p->g->arity; k++) scope[k] = p->g->scope[k / 2 + k % 2 * (p->g->arity / 2)];
        counter_compare(&c, p->g->comparator, p->g->number[0]);
        m = overlap_machine(&c, scope);
        fault = add_machine(p, &m);
        counter_free(&c);
    }
    free(scope);
    return fault;
}

static const char *add_max(parts *p) {
    const global_list *list = &p->g->list[0];
    const char *fault;
    int64_t weights = p->values, k;
    counter c;
    machine m;
    if (init(p, &c)) return no_memory;
    for (k = 0; k < weights; k++) c.weight[k] = no_more_than_top(p, p->g->number[0]);
    for (k = 0; k < list->count; k += 3)
        if (list->number[k + 1] < c.domain[p->g->scope[list->number[k]]])
            c.weight[c.start[list->number[k]] + list->number[k + 1]] = no_more_than_top(p, list->number[k + 2]);
    m = max_machine(&c);
    fault = add_machine(p, &m);
    counter_free(&c);
    return fault;
}

static const char *add_automaton(parts *p) {
    automaton a = {p->g, p->cost};
    machine m = automaton_machine(&a);
    return add_machine(p, &m);
}

static const char *add_arithmetic(parts *p) {
    machine m = arithmetic_machine(p->g);
    return fault_of(machines_as_table(p->b, &m, 1));
}

/* ---- All ---- */

static const char *add(parts *p) {
    const char *fault;
    switch (p->g->kind->form) {
    case FORM_ALLDIFF:
        if (p->cost == BUILDER_FORBIDDEN || p->g->metric == METRIC_DEC) return add_unequal_pairs(p);
        return add_value_counters(p, 1, 0);
    case FORM_GCC: return add_cardinalities(p);
    case FORM_SAMEGCC:
        if ((fault = add_value_counters(p, 0, 1)) || (fault = add_bounded_values(p, 0, p->g->arity / 2))) return fault;
        return add_bounded_values(p, p->g->arity / 2, p->g->arity);
    case FORM_SAME: return add_value_counters(p, 0, 1);
    case FORM_TWO_LISTS: return add_value_counters(p, 0, 0);
    case FORM_AMONG:
    case FORM_VARAMONG:
    case FORM_SUM:
    case FORM_VARSUM:
    case FORM_KNAPSACK: return add_sum(p);
    case FORM_OVERLAP: return add_overlap(p);
    case FORM_REGULAR:
    case FORM_WEIGHTED_REGULAR: return add_automaton(p);
    case FORM_MAX: return add_max(p);
    case FORM_CLIQUE: return add_clique(p);
    default: return add_arithmetic(p);
    }
}

const char *global_add(builder *b, const global *g, int64_t top) {
    parts p;
    const char *fault;
    int64_t counters;
    int32_t k;
    memset(&p, 0, sizeof p);
    p.b = b;
    p.g = g;
    p.top = top;
    p.cost = g->kind->form == FORM_KNAPSACK ? BUILDER_FORBIDDEN : no_more_than_top(&p, g->cost);
    for (k = 0; k < g->arity; k++) {
        p.values += b->model->domain[g->scope[k]];
        if (b->model->domain[g->scope[k]] > p.largest) p.largest = b->model->domain[g->scope[k]];
    }
    counters = p.largest + (g->lists ? g->list[0].count : 0);
    if (p.values > PART_VALUES || (p.values + g->arity + 1) * counters > PARTS_VALUES) return too_large;
    p.as_table = builder_entries(b, g->arity, g->scope, TABLE_ENTRIES) <= TABLE_ENTRIES;
    fault = add(&p);
    if (!fault) fault = add_kept(&p);
    for (k = 0; k < p.count; k++) counter_free(&p.kept[k]);
    free(p.kept);
    return fault;
}
