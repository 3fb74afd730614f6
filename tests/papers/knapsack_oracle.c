/* SPDX-License-Identifier: MIT */
#include "tests/papers/knapsack_oracle.h"

#include <stdlib.h>
#include <string.h>

/* ---- Dynamic programming ---- */

int64_t knapsack_by_programme(const knapsack_model *model) {
    int64_t *best = calloc((size_t)model->capacity + 1, sizeof *best), c, result;
    int32_t j;
    if (!best) return -1;
    for (j = 0; j < model->items; j++)
        for (c = model->capacity; c >= model->weight[j]; c--) {
            const int64_t with = best[c - model->weight[j]] + model->profit[j];
            if (with > best[c]) best[c] = with;
        }
    result = best[model->capacity];
    free(best);
    return result;
}

/* ---- The paper's search ---- */

/* Integers as in the paper: its profits sum to less than 2^31. */
typedef struct item {
    int32_t w, p;
} item;

/* s: the slack variable, the first item that does not fit; all items before it are taken but those decided. */
typedef struct node {
    int32_t w, p, upper, s;
} node;

typedef struct list {
    node *of;
    int64_t count, capacity;
    const item *items;
    int32_t n, c, lower; /* items, the knapsack's capacity, and the best lower bound */
} list;

static int by_ratio(const void *a, const void *b) {
    const item *x = a, *y = b;
    const int64_t left = (int64_t)x->p * y->w, right = (int64_t)y->p * x->w;
    return (left < right) - (left > right);
}

/* The paper's kernel 2: takes items from s on. */
static void bound(list *l, node *e) {
    int32_t w, p, i = e->s;
    while (i < l->n && e->w + l->items[i].w <= l->c) {
        e->w += l->items[i].w;
        e->p += l->items[i].p;
        i++;
    }
    e->s = i;
    e->upper = e->p + (i < l->n ? (l->c - e->w) * l->items[i].p / l->items[i].w : 0);
    for (w = e->w, p = e->p; i < l->n; i++) /* the lower bound: whatever else fits */
        if (w + l->items[i].w <= l->c) w += l->items[i].w, p += l->items[i].p;
    if (p > l->lower) l->lower = p;
}

/* The paper's kernel 1: the son of node e that leaves item k out goes to the end of the list. */
static void branch(list *l, int64_t e, int64_t son, int32_t k) {
    l->of[son] = l->of[e];
    if (k < l->of[e].s) {
        l->of[son].w -= l->items[k].w;
        l->of[son].p -= l->items[k].p;
    } else { /* item k does not fit: the father, which takes it, is labelled */
        l->of[son].s++;
        l->of[e].upper = 0;
    }
    bound(l, &l->of[son]);
}

/* Replaces nodes that are not promising by promising ones from the end. */
static void prune(list *l) {
    int64_t e;
    for (e = 0; e < l->count; e++) {
        if (l->of[e].upper > l->lower) continue;
        while (l->count > e + 1 && l->of[l->count - 1].upper <= l->lower) l->count--;
        l->of[e] = l->of[--l->count];
    }
}

static int make_space(list *l, int64_t count) {
    node *longer;
    if (count <= l->capacity) return 0;
    longer = realloc(l->of, (size_t)count * sizeof *longer);
    if (!longer) return -1;
    l->of = longer;
    l->capacity = count;
    return 0;
}

int knapsack_by_paper(const knapsack_model *model, int64_t limit, literal_search *result) {
    item *items = malloc(((size_t)model->items + 1) * sizeof *items);
    list l = {NULL, 1, 0, items, model->items, (int32_t)model->capacity, 0};
    int32_t k;
    int64_t e;
    int bad = !items || make_space(&l, 2);
    memset(result, 0, sizeof *result);
    for (k = 0; !bad && k < l.n; k++) items[k] = (item){(int32_t)model->weight[k], (int32_t)model->profit[k]};
    if (!bad) {
        qsort(items, (size_t)l.n, sizeof *items, by_ratio);
        l.of[0] = (node){0, 0, 0, 0};
        bound(&l, &l.of[0]);
        prune(&l);
    }
    for (k = 0; !bad && k < l.n && l.count > 0 && result->branched <= limit; k++) {
        const int64_t count = l.count;
        result->branched += count;
        if (count > result->longest) result->longest = count;
        bad = make_space(&l, 2 * count);
        for (e = 0; !bad && e < count; e++) branch(&l, e, count + e, k);
        l.count = 2 * count;
        if (!bad) prune(&l);
    }
    result->ended = l.count == 0 || k == l.n;
    result->profit = l.lower;
    free(l.of);
    free(items);
    return bad ? -1 : 0;
}
