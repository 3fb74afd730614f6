/* SPDX-License-Identifier: MIT
 *
 * Checks answers to weighted CSPs (.wcsp). The sum of all tables is at most the cost of any assignment. A message is at
 * most the least sum of its bucket's tables, so it may stand for them; in the end the tables' minima are a lower bound.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/check/check.h"

enum { MOST_ENTRIES = 1 << 24 };

typedef struct table {
    int arity, *scope, used;
    int64_t *cost; /* the last variable fastest; top: forbidden */
} table;

typedef struct model {
    int variables, tables, *domain, *value, *fixed; /* fixed: not 0 */
    int64_t top;
    table *table;
} model;

static int64_t sum(const model *m, int64_t a, int64_t b) { return a >= m->top - b ? m->top : a + b; }

/* The number of entries, or 0: too many. */
static int64_t entries(const model *m, const table *t) {
    int64_t count = 1;
    int k;
    for (k = 0; k < t->arity && count; k++)
        count = count <= MOST_ENTRIES / m->domain[t->scope[k]] ? count * m->domain[t->scope[k]] : 0;
    return count;
}

/* The entry at m->value. */
static int64_t *at(const model *m, const table *t) {
    int64_t index = 0;
    int k;
    for (k = 0; k < t->arity; k++) index = index * m->domain[t->scope[k]] + m->value[t->scope[k]];
    return &t->cost[index];
}

static void read_scope(const model *m, words *w, table *t) {
    int k, j;
    t->scope = allocate((size_t)t->arity, sizeof(int));
    for (k = 0; k < t->arity; k++) {
        t->scope[k] = (int)whole(w, 0, m->variables - 1);
        for (j = 0; j < k; j++)
            if (t->scope[j] == t->scope[k]) unknown(w);
    }
}

static void read_model(model *m, words *w) {
    int functions, shared = 0, k, j, *share;
    int64_t n, e, count;
    need(w);
    m->variables = (int)whole(w, 0, 1 << 28);
    whole(w, 0, INT64_MAX);
    functions = (int)whole(w, 0, 1 << 28);
    m->top = whole(w, 0, INT64_MAX);
    m->domain = allocate((size_t)m->variables, sizeof(int));
    m->value = allocate((size_t)m->variables, sizeof(int));
    m->fixed = allocate((size_t)m->variables, sizeof(int));
    m->table = allocate((size_t)functions + (size_t)m->variables, sizeof(table));
    share = allocate((size_t)functions, sizeof(int));
    for (k = 0; k < m->variables; k++) m->domain[k] = (int)whole(w, 1, 1 << 28);
    for (k = 0; k < functions; k++) {
        table *t = &m->table[m->tables++];
        int arity = (int)whole(w, -m->variables, m->variables);
        t->arity = arity < 0 ? -arity : arity;
        read_scope(m, w, t);
        n = whole(w, 0, INT64_MAX);
        if (!(count = entries(m, t))) bad_input("%s: line %ld: the table is too large", w->path, w->line);
        t->cost = allocate((size_t)count, sizeof(int64_t));
        for (e = 0; e < count; e++) t->cost[e] = n < m->top ? n : m->top;
        n = whole(w, -shared, INT64_MAX);
        if (n < 0) { /* the tuples and the default cost of another function */
            const table *from = &m->table[share[-n - 1]];
            if (from->arity != t->arity) unknown(w);
            for (j = 0; j < t->arity; j++)
                if (m->domain[from->scope[j]] != m->domain[t->scope[j]]) unknown(w);
            memcpy(t->cost, from->cost, sizeof(int64_t) * (size_t)count);
        }
        if (arity < 0) share[shared++] = k;
        for (e = 0; e < n; e++) {
            for (j = 0; j < t->arity; j++) m->value[t->scope[j]] = (int)whole(w, 0, m->domain[t->scope[j]] - 1);
            count = whole(w, 0, INT64_MAX);
            *at(m, t) = count < m->top ? count : m->top;
        }
    }
    if (next(w)) unknown(w);
}

/* ---- Messages ---- */

static int64_t lower_bound(const model *m) {
    int64_t total = 0, e;
    int k;
    for (k = 0; k < m->tables; k++) {
        const table *t = &m->table[k];
        int64_t least = m->top, count = t->used ? 0 : entries(m, t);
        for (e = 0; e < count; e++)
            if (t->cost[e] < least) least = t->cost[e];
        if (!t->used) total = sum(m, total, least);
    }
    return total;
}

/* Eliminates v: checks the message that `w` gives or, where that is NULL, computes it over the variables of its bucket.
 * 0: its table is too large, and nothing has changed. */
static int eliminate(model *m, int v, words *w) {
    table *t = &m->table[m->tables];
    char *in = allocate((size_t)m->variables, 1);
    int k, j;
    int64_t e, count, rest;
    t->arity = w ? (int)whole(w, 0, m->variables) : 0;
    if (w) read_scope(m, w, t);
    else t->scope = allocate((size_t)m->variables, sizeof(int));
    for (k = 0; k < t->arity; k++) {
        if (t->scope[k] == v || m->fixed[t->scope[k]]) refuse("a message of variable %d is over %d", v, t->scope[k]);
        in[t->scope[k]] = 1;
    }
    for (k = 0; k < m->tables; k++) {
        table *f = &m->table[k];
        for (j = 0; j < f->arity && f->scope[j] != v; j++) continue;
        if (f->used || j == f->arity) continue;
        f->used = -1; /* in the bucket */
        for (j = 0; j < f->arity; j++) {
            int u = f->scope[j];
            if (u == v || m->fixed[u] || in[u]) continue;
            if (w) refuse("the message of variable %d is not over %d", v, u);
            in[u] = 1;
            t->scope[t->arity++] = u;
        }
    }
    count = entries(m, t);
    rest = lower_bound(m); /* of the other tables; what reaches top with it is as good as forbidden */
    if (count) t->cost = allocate((size_t)count, sizeof(int64_t));
    for (k = 0; k < t->arity; k++) m->value[t->scope[k]] = 0;
    for (e = 0; e < count; e++) {
        int64_t best = m->top, given;
        for (m->value[v] = 0; m->value[v] < m->domain[v]; m->value[v]++) {
            int64_t total = 0;
            for (k = 0; k < m->tables; k++)
                if (m->table[k].used < 0) total = sum(m, total, *at(m, &m->table[k]));
            if (total < best) best = total;
        }
        if (w) {
            given = strcmp(need(w), "forbidden") == 0 ? m->top : strtoll(w->word, NULL, 10);
            if (!is_number(w->word) && given != m->top) unknown(w);
            given = given < 0 ? 0 : given > m->top ? m->top : given;
            if (given > best && sum(m, best, rest) < m->top)
                refuse("entry %lld of the message of variable %d is too large", (long long)e, v);
            best = given;
        }
        t->cost[e] = best;
        for (k = t->arity - 1; k >= 0 && ++m->value[t->scope[k]] == m->domain[t->scope[k]]; k--)
            m->value[t->scope[k]] = 0;
    }
    for (k = 0; k < m->tables; k++)
        if (m->table[k].used < 0) m->table[k].used = count > 0;
    m->tables += count > 0;
    free(in);
    return count > 0;
}

/* Forbids all other values. */
static void fix(model *m, int v, int value) {
    int k, j;
    int64_t e, stride;
    m->fixed[v] = 1;
    m->value[v] = value;
    for (k = 0; k < m->tables; k++) {
        const table *t = &m->table[k];
        for (j = t->arity - 1, stride = 1; j >= 0 && t->scope[j] != v; j--) stride *= m->domain[t->scope[j]];
        for (e = 0; j >= 0 && e < entries(m, t); e++)
            if (e / stride % m->domain[v] != value) t->cost[e] = m->top;
    }
}

int check_elimination(words *file, words *w) {
    model m = {0};
    const char *outcome = "";
    int *order, *value = NULL, count = 0, done = 0, k, v, functions, exact = 1, proven;
    int64_t cost = -1, bound = 0, total = 0, lower;
    read_model(&m, file);
    functions = m.tables;
    order = allocate((size_t)m.variables, sizeof(int));
    while (next(w)) {
        if (is(w, "outcome")) outcome = need(w);
        else if (is(w, "cost")) cost = whole(w, 0, INT64_MAX);
        else if (is(w, "bound")) bound = whole(w, 0, INT64_MAX);
        else if (is(w, "fixed")) {
            v = (int)whole(w, 0, m.variables - 1);
            fix(&m, v, (int)whole(w, 0, m.domain[v] - 1));
        } else if (is(w, "order")) {
            count = (int)whole(w, 0, m.variables);
            for (k = 0; k < count; k++) {
                order[k] = (int)whole(w, 0, m.variables - 1);
                if (m.fixed[order[k]]) unknown(w);
            }
        } else if (is(w, "value")) {
            value = allocate((size_t)whole(w, m.variables, m.variables), sizeof(int));
            for (k = 0; k < m.variables; k++) value[k] = (int)whole(w, 0, m.domain[k] - 1);
        } else if (is(w, "message")) {
            v = (int)whole(w, 0, m.variables - 1);
            while (done < count && order[done] != v) exact &= eliminate(&m, order[done++], NULL);
            if (done++ == count) refuse("the message of variable %d does not follow the order", v);
            exact &= eliminate(&m, v, w);
        } else unknown(w);
    }
    while (done < count) exact &= eliminate(&m, order[done++], NULL);
    lower = lower_bound(&m);
    printf("no assignment costs less than %lld%s\n", (long long)lower, lower == m.top ? ": none is allowed" : "");
    for (k = 0; k < m.variables && value; k++) m.value[k] = value[k];
    for (k = 0; k < functions && value; k++) total = sum(&m, total, *at(&m, &m.table[k]));
    if (value && (total != cost || total >= m.top)) refuse("the assignment costs %lld", (long long)total);
    if (strcmp(outcome, "optimal") == 0) proven = value && total == lower;
    else if (strcmp(outcome, "infeasible") == 0) proven = lower == m.top;
    else proven = 1, outcome = "the bound and the assignment, if there is one";
    proven &= bound <= lower;
    if (!proven && exact) refuse("%s: not so", outcome);
    printf("%s: %s\n", proven ? "PROVEN" : "UNPROVEN", outcome);
    return proven ? PROVEN : UNPROVEN;
}
