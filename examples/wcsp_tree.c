/* SPDX-License-Identifier: MIT */
#include "examples/wcsp_tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int has(const uint64_t *set, int32_t v) { return (int)(set[v / 64] >> v % 64 & 1); }

/* The members of `set` that are eliminated first; -1: it is empty. */
static int32_t first_of(const uint64_t *set, const int32_t *position, int32_t variables) {
    int32_t first = -1, v;
    for (v = 0; v < variables; v++)
        if (has(set, v) && (first < 0 || position[v] < position[first])) first = v;
    return first;
}

/* Finds the context of each variable, set [variables][words], and its parent, the first of these to be eliminated. */
static void find_contexts(tree *t, const graphical_model *m, const int32_t *order, const int32_t *position,
                          uint64_t *set, int64_t words) {
    int32_t k, j;
    for (k = 0; k < m->functions; k++) {
        const gpuopt_elimination_function *f = &m->function[k];
        int32_t first = 0;
        for (j = 1; j < f->arity; j++)
            if (position[f->scope[j]] < position[f->scope[first]]) first = j;
        for (j = 0; j < f->arity; j++)
            set[f->scope[first] * words + f->scope[j] / 64] |= (uint64_t)1 << f->scope[j] % 64;
    }
    for (k = 0; k < m->variables; k++) {
        const int32_t v = order[k];
        uint64_t *context = set + v * words;
        tree_level *l = &t->level[v];
        int32_t *list;
        context[v / 64] &= ~((uint64_t)1 << v % 64);
        l->parent = first_of(context, position, m->variables);
        for (j = 0; l->parent >= 0 && j < words; j++) set[l->parent * words + j] |= context[j];
        list = l->parent >= 0 ? &t->level[l->parent].first_child : &t->root;
        l->next_sibling = *list;
        *list = v;
    }
}

/* Lists the context of a variable; its parent's context must be listed already. */
static int fill_level(tree *t, const graphical_model *m, int32_t v, const uint64_t *set) {
    tree_level *l = &t->level[v];
    const size_t batch = (size_t)t->batch, values = (size_t)m->domain[v];
    double states = 1;
    size_t width;
    int32_t j, k;
    for (j = 0; j < m->variables; j++) l->width += has(set, j);
    width = (size_t)l->width + 1;
    l->values = m->domain[v];
    l->context = calloc(width, sizeof *l->context);
    l->from = calloc(width, sizeof *l->from);
    l->unit = calloc(width, sizeof *l->unit);
    l->state = calloc(batch * width, sizeof *l->state);
    l->limit = calloc(batch, sizeof *l->limit);
    l->excess = calloc(batch, sizeof *l->excess);
    l->best = calloc(batch, sizeof *l->best);
    l->twin = calloc(batch, sizeof *l->twin);
    l->open = calloc(batch, sizeof *l->open);
    l->rise = calloc(batch * values, sizeof *l->rise);
    l->sorted = calloc(batch * (values + 1), sizeof *l->sorted);
    l->next = calloc(batch, sizeof *l->next);
    l->owner = calloc(batch, sizeof *l->owner);
    l->value = calloc(batch, sizeof *l->value);
    l->sum = calloc(batch, sizeof *l->sum);
    if (!l->context || !l->from || !l->unit || !l->state || !l->limit || !l->excess || !l->best || !l->twin ||
        !l->open || !l->rise || !l->sorted || !l->next || !l->owner || !l->value || !l->sum)
        return -1;
    for (l->width = j = 0; j < m->variables; j++) {
        if (!has(set, j)) continue;
        l->context[l->width] = j;
        l->from[l->width] = -1;
        for (k = 0; k < t->level[l->parent].width; k++)
            if (t->level[l->parent].context[k] == j) l->from[l->width] = k;
        l->unit[l->width++] = states < 0x1p62 ? (uint64_t)states : 0;
        states *= m->domain[j];
    }
    if (states > t->largest) t->largest = states;
    if (states >= 0x1p62) {
        free(l->unit);
        l->unit = NULL;
    }
    return 0;
}

int tree_make(tree *t, const graphical_model *m, const int32_t *order, int32_t batch) {
    const int64_t words = ((int64_t)m->variables + 63) / 64;
    const size_t n = (size_t)m->variables;
    uint64_t *set = calloc(n * (size_t)words + 1, sizeof *set);
    int32_t *position = calloc(n + 1, sizeof *position), k;
    int failed = 0;
    memset(t, 0, sizeof *t);
    t->batch = batch;
    t->root = -1;
    t->largest = 1;
    t->level = calloc(n + 1, sizeof *t->level);
    if (set && position && t->level) {
        t->levels = m->variables;
        for (k = 0; k < t->levels; k++) position[order[k]] = k, t->level[k].first_child = -1;
        find_contexts(t, m, order, position, set, words);
        for (k = t->levels - 1; k >= 0 && !failed; k--) failed = fill_level(t, m, order[k], set + order[k] * words);
    }
    failed = failed || t->levels < m->variables;
    t->largest = log2(t->largest);
    free(set);
    free(position);
    return failed ? -1 : 0;
}

void tree_free(tree *t) {
    int32_t k;
    for (k = 0; k < t->levels; k++) {
        tree_level *l = &t->level[k];
        free(l->context);
        free(l->from);
        free(l->unit);
        free(l->state);
        free(l->limit);
        free(l->excess);
        free(l->best);
        free(l->twin);
        free(l->open);
        free(l->rise);
        free(l->sorted);
        free(l->next);
        free(l->owner);
        free(l->value);
        free(l->sum);
    }
    free(t->level);
}
