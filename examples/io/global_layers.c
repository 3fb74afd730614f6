/* SPDX-License-Identifier: MIT */
#include "examples/io/global_layers.h"

#include <stdlib.h>
#include <string.h>

/* ---- Sets of rows of numbers ---- */

typedef struct set {
    int32_t count, capacity;
    size_t width;
    int64_t *row;  /* [count][width] */
    int32_t *slot; /* [slots] row + 1; 0: free. A power of two, at least twice the room */
    size_t slots;
} set;

static void set_free(set *s) {
    free(s->row);
    free(s->slot);
    memset(s, 0, sizeof *s);
}

static size_t place(const set *s, const int64_t *row) {
    uint64_t hash = 0x9E3779B97F4A7C15u;
    size_t at, k;
    for (k = 0; k < s->width; k++) {
        hash = (hash ^ (uint64_t)row[k]) * 0xBF58476D1CE4E5B9u;
        hash ^= hash >> 29;
    }
    at = (size_t)hash & (s->slots - 1);
    while (s->slot[at] && memcmp(&s->row[(size_t)(s->slot[at] - 1) * s->width], row, sizeof *row * s->width) != 0)
        at = (at + 1) & (s->slots - 1);
    return at;
}

static int set_grow(set *s) {
    int32_t capacity = s->capacity ? 2 * s->capacity : 16, k;
    int64_t *row = realloc(s->row, sizeof *row * (size_t)capacity * s->width + 1);
    if (!row) return -1;
    s->row = row;
    free(s->slot);
    s->slots = 2 * (size_t)capacity;
    s->slot = calloc(s->slots, sizeof *s->slot);
    if (!s->slot) return -1;
    s->capacity = capacity;
    for (k = 0; k < s->count; k++) s->slot[place(s, &s->row[(size_t)k * s->width])] = k + 1;
    return 0;
}

/* The number of a row, which is added if it is new; -1: out of memory. */
static int32_t set_number(set *s, const int64_t *row) {
    size_t at;
    if (s->count == s->capacity && set_grow(s)) return -1;
    at = place(s, row);
    if (!s->slot[at]) {
        memcpy(&s->row[(size_t)s->count * s->width], row, sizeof *row * s->width);
        s->slot[at] = ++s->count;
    }
    return s->slot[at] - 1;
}

/* ---- One table ---- */

/* The cost of the tuple value [arity]. room [2 widths]. */
static int64_t run(builder *b, const machine *m, const int32_t *value, int64_t *capacity) {
    int64_t *from = capacity, *to = capacity + m->width, *other, cost = 0;
    int32_t k;
    m->start(m->self, from);
    for (k = 0; k < m->arity && cost != BUILDER_FORBIDDEN; k++) {
        cost = builder_add(b, cost, m->step(b, m->self, k, value[k], from, to));
        other = from, from = to, to = other;
    }
    return cost == BUILDER_FORBIDDEN ? cost : builder_add(b, cost, m->end(b, m->self, from));
}

int machines_as_table(builder *b, const machine *m, int32_t machines) {
    int64_t entries = builder_entries(b, m->arity, m->scope, MACHINE_ENTRIES), e, *cost, *capacity;
    gpuopt_elimination_function *f;
    int32_t *value, k, width = 0;
    int64_t work = 0;
    for (k = 0; k < machines; k++) work += m[k].work;
    if (entries > MACHINE_ENTRIES || work > MACHINE_WORK / (m->arity + 1) / entries) return MACHINE_TOO_LARGE;
    if ((b->made += entries) > BUILDER_MADE) return MACHINE_TOO_LARGE;
    f = builder_function(b, m->arity, m->scope, -1, entries);
    value = calloc((size_t)m->arity + 1, sizeof *value);
    for (k = 0; k < machines; k++)
        if (m[k].width > width) width = m[k].width;
    capacity = malloc(sizeof *capacity * 2 * (size_t)width + 1);
    if (!f || !value || !capacity) {
        free(value);
        free(capacity);
        return MACHINE_NO_MEMORY;
    }
    cost = (int64_t *)f->cost;
    for (e = 0; e < entries; e++) {
        cost[e] = 0;
        for (k = 0; k < machines; k++) cost[e] = builder_add(b, cost[e], run(b, &m[k], value, capacity));
        for (k = m->arity - 1; k >= 0 && ++value[k] == b->model->domain[m->scope[k]]; k--) value[k] = 0;
    }
    free(value);
    free(capacity);
    return 0;
}

/* ---- Layers ---- */

typedef struct layer {
    int32_t values; /* of the variable that is read next; 0 behind the last one */
    set states;
    int32_t *next; /* [states][values] the state behind; -1: forbidden */
    int64_t *cost; /* [states][values] */
    /* From the last layer to the first: */
    int32_t *class_of;  /* [states] -1: everything is forbidden from there */
    int64_t *potential; /* [states] the least cost from there to the end */
    set classes;        /* rows: for each value the class behind, or -1, and the cost beyond the potentials */
} layer;

static void free_layers(layer *l, int32_t layers) {
    int32_t k;
    for (k = 0; l && k < layers; k++) {
        set_free(&l[k].states);
        set_free(&l[k].classes);
        free(l[k].next);
        free(l[k].cost);
        free(l[k].class_of);
        free(l[k].potential);
    }
    free(l);
}

/* From the states of a layer to the states of the next one. to [width]. */
static int step_forward(builder *b, const machine *m, int32_t position, layer *l, int64_t *to) {
    size_t steps = (size_t)l->states.count * (size_t)l->values, at = 0;
    int32_t s, v;
    l->next = malloc(sizeof *l->next * steps + 1);
    l->cost = malloc(sizeof *l->cost * steps + 1);
    if (!l->next || !l->cost) return MACHINE_NO_MEMORY;
    for (s = 0; s < l->states.count; s++) {
        for (v = 0; v < l->values; v++, at++) {
            const int64_t *from = &l->states.row[(size_t)s * l->states.width];
            l->cost[at] = m->step(b, m->self, position, v, from, to);
            l->next[at] = -1;
            if (l->cost[at] == BUILDER_FORBIDDEN) continue;
            l->next[at] = set_number(&l[1].states, to);
            if (l->next[at] < 0) return MACHINE_NO_MEMORY;
            if (l[1].states.count > MACHINE_STATES) return MACHINE_TOO_LARGE;
        }
    }
    return 0;
}

static int find_states(builder *b, const machine *m, layer *l) {
    int64_t *to = m->work < MACHINE_WORK ? malloc(sizeof *to * (size_t)m->width + 1) : NULL, steps = 0;
    int32_t k;
    int failed = 0;
    if (!to) return m->work < MACHINE_WORK ? MACHINE_NO_MEMORY : MACHINE_TOO_LARGE;
    for (k = 0; k <= m->arity; k++) {
        l[k].states.width = (size_t)m->width;
        l[k].values = k < m->arity ? b->model->domain[m->scope[k]] : 0;
    }
    m->start(m->self, to);
    if (set_number(&l[0].states, to) < 0) failed = MACHINE_NO_MEMORY;
    for (k = 0; k < m->arity && !failed; k++) {
        steps += (int64_t)l[k].states.count * l[k].values;
        if (steps > MACHINE_STEPS || steps * m->work > MACHINE_WORK) failed = MACHINE_TOO_LARGE;
        if (!failed) failed = step_forward(b, m, k, &l[k], to);
    }
    free(to);
    return failed;
}

/* Makes states one. row [2 values] */
static int merge(builder *b, layer *l, int64_t *row) {
    int32_t s, v;
    for (s = 0; s < l->states.count; s++) {
        size_t at = (size_t)s * (size_t)l->values;
        int64_t least = BUILDER_FORBIDDEN;
        for (v = 0; v < l->values; v++) {
            int32_t next = l->next[at + (size_t)v], behind = next < 0 ? -1 : l[1].class_of[next];
            row[2 * v] = behind;
            row[2 * v + 1] =
                behind < 0 ? BUILDER_FORBIDDEN : builder_add(b, l->cost[at + (size_t)v], l[1].potential[next]);
            if (row[2 * v + 1] == BUILDER_FORBIDDEN) row[2 * v] = -1;
            if (row[2 * v + 1] < least) least = row[2 * v + 1];
        }
        l->class_of[s] = -1;
        l->potential[s] = least;
        if (least == BUILDER_FORBIDDEN) continue;
        for (v = 0; v < l->values; v++) row[2 * v + 1] = builder_less(row[2 * v + 1], least);
        l->class_of[s] = set_number(&l->classes, row);
        if (l->class_of[s] < 0) return MACHINE_NO_MEMORY;
    }
    return 0;
}

static int find_classes(builder *b, const machine *m, layer *l) {
    int32_t k, s;
    int failed = 0;
    for (k = m->arity; k >= 0 && !failed; k--) {
        size_t states = (size_t)l[k].states.count;
        int64_t *row = malloc(sizeof *row * 2 * (size_t)l[k].values + 1);
        l[k].class_of = malloc(sizeof *l[k].class_of * states + 1);
        l[k].potential = malloc(sizeof *l[k].potential * states + 1);
        l[k].classes.width = 2 * (size_t)l[k].values;
        if (!row || !l[k].class_of || !l[k].potential) failed = MACHINE_NO_MEMORY;
        for (s = 0; k == m->arity && s < l[k].states.count && !failed; s++) {
            l[k].potential[s] = m->end(b, m->self, &l[k].states.row[(size_t)s * l[k].states.width]);
            l[k].class_of[s] = l[k].potential[s] == BUILDER_FORBIDDEN ? -1 : 0;
            l[k].classes.count = 1;
        }
        if (k < m->arity && !failed) failed = merge(b, &l[k], row);
        free(row);
    }
    return failed;
}

/* The function of a step; before and behind: the hidden variables, or -1 if there is only one class. */
static int add_step(builder *b, const layer *l, int32_t variable, int32_t before, int32_t behind) {
    int32_t scope[3], arity = 0, c, v, *tuple;
    int64_t tuples = 0, costly = 0, *cost;
    gpuopt_elimination_function *f;
    size_t at;
    if ((int64_t)l->classes.count * l->values > MACHINE_ENTRIES / l[1].classes.count) return MACHINE_TOO_LARGE;
    for (at = 0; at < (size_t)l->classes.count * (size_t)l->values; at++) {
        if (l->classes.row[2 * at] < 0) continue;
        tuples++;
        costly += l->classes.row[2 * at + 1] != 0;
    }
    if (before < 0 && behind < 0 && tuples == l->values && !costly) return 0;
    if ((b->made += tuples) > BUILDER_MADE) return MACHINE_TOO_LARGE;
    if (before >= 0) scope[arity++] = before;
    scope[arity++] = variable;
    if (behind >= 0) scope[arity++] = behind;
    f = builder_function(b, arity, scope, tuples, 0);
    if (!f) return MACHINE_NO_MEMORY;
    f->default_cost = BUILDER_FORBIDDEN;
    tuple = (int32_t *)f->tuple;
    cost = (int64_t *)f->cost;
    for (c = 0, at = 0; c < l->classes.count; c++) {
        for (v = 0; v < l->values; v++, at++) {
            if (l->classes.row[2 * at] < 0) continue;
            if (before >= 0) *tuple++ = c;
            *tuple++ = v;
            if (behind >= 0) *tuple++ = (int32_t)l->classes.row[2 * at];
            *cost++ = l->classes.row[2 * at + 1];
        }
    }
    return 0;
}

static int add_steps(builder *b, const machine *m, const layer *l) {
    gpuopt_elimination_function *f;
    int32_t before = -1, behind, k;
    int failed = 0;
    if (l->potential[0] != 0) {
        f = builder_function(b, 0, NULL, 0, 0);
        if (!f) return MACHINE_NO_MEMORY;
        f->default_cost = l->potential[0];
    }
    if (l->class_of[0] < 0) return 0; /* this constant decides all: FORBIDDEN */
    for (k = 0; k < m->arity && !failed; k++, before = behind) {
        behind = -1;
        if (l[k + 1].classes.count > 1) {
            behind = builder_variable(b, l[k + 1].classes.count, m->scope[k]);
            if (behind < 0) return MACHINE_NO_MEMORY;
        }
        failed = add_step(b, &l[k], m->scope[k], before, behind);
    }
    return failed;
}

int machine_as_layers(builder *b, const machine *m) {
    layer *l = calloc((size_t)m->arity + 1, sizeof *l);
    int failed = l ? find_states(b, m, l) : MACHINE_NO_MEMORY;
    if (!failed) failed = find_classes(b, m, l);
    if (!failed) failed = add_steps(b, m, l);
    free_layers(l, m->arity + 1);
    return failed;
}
