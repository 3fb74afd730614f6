/* SPDX-License-Identifier: MIT
 *
 * Checks answers to weighted CSPs (.wcsp). The sum of all tables is at most the cost of any assignment. A message is at
 * most the least sum of its bucket's tables, so it may replace them; in the end the tables' minima are a lower bound.
 */

#include "tests/check/check.h"

typedef struct table {
    int arity, used;
    int64_t *scope, entries, *cost; /* the last variable fastest; top: forbidden */
} table;

/* The values are an assignment that steps through the entries of tables; a loop leaves it as before, at the first
 * entry. */
typedef struct model {
    int variables, functions, tables; /* the functions are the first tables */
    int64_t *domain, *value, top;
    char *fixed; /* 1: the variable keeps its value */
    table *table;
} model;

static int64_t sum(const model *m, int64_t a, int64_t b) { return a >= m->top - b ? m->top : a + b; }

static int has(const table *t, int64_t variable) {
    int k = 0;
    while (k < t->arity && t->scope[k] != variable) k++;
    return k < t->arity;
}

/* The entry at the assignment. */
static int64_t *at(const model *m, const table *t) {
    int64_t index = 0;
    int k;
    for (k = 0; k < t->arity; k++) index = index * m->domain[t->scope[k]] + m->value[t->scope[k]];
    return &t->cost[index];
}

/* Goes to the next entry, or back to the first and returns 0. */
static int advance(const model *m, const table *t) {
    int k;
    for (k = t->arity - 1; k >= 0; k--) {
        int64_t v = t->scope[k];
        if (m->fixed[v]) continue;
        if (++m->value[v] < m->domain[v]) return 1;
        m->value[v] = 0;
    }
    return 0;
}

/* A new table's scope, and memory for its entries. */
static table *read_scope(model *m, words *w, int arity) {
    table *t = &m->table[m->tables];
    *t = (table){0, 0, wholes(w, arity, 0, m->variables - 1), 1, NULL};
    for (; t->arity < arity; t->arity++) {
        if (has(t, t->scope[t->arity])) unknown(w);
        if ((t->entries *= m->domain[t->scope[t->arity]]) > 1 << 28) end(BAD_INPUT, "line %ld: too large", w->line);
    }
    t->cost = allocate(t->entries, sizeof(int64_t));
    return t;
}

static void read_model(model *m, words *w) {
    int shared = 0, k, j, *share;
    int64_t n, e, cost;
    need(w);
    m->variables = (int)whole(w, 0, 1 << 28);
    whole(w, 0, INT64_MAX);
    m->functions = (int)whole(w, 0, 1 << 28);
    m->top = whole(w, 0, INT64_MAX);
    m->domain = wholes(w, m->variables, 1, 1 << 28);
    m->value = allocate(m->variables, sizeof(int64_t));
    m->fixed = allocate(m->variables, 1);
    m->table = allocate(m->functions + m->variables, sizeof(table));
    share = allocate(m->functions, sizeof(int));
    for (; m->tables < m->functions; m->tables++) {
        int arity = (int)whole(w, -m->variables, m->variables);
        table *t = read_scope(m, w, abs(arity));
        cost = whole(w, 0, INT64_MAX);
        for (e = 0; e < t->entries; e++) t->cost[e] = sum(m, cost, 0);
        n = whole(w, -shared, INT64_MAX);
        if (n < 0 && m->table[share[-n - 1]].entries != t->entries) unknown(w);
        if (n < 0) t->cost = m->table[share[-n - 1]].cost; /* the tuples and the default cost of another function */
        if (arity < 0) share[shared++] = m->tables;
        for (e = 0; e < n; e++) {
            for (j = 0; j < t->arity; j++) m->value[t->scope[j]] = whole(w, 0, m->domain[t->scope[j]] - 1);
            *at(m, t) = sum(m, whole(w, 0, INT64_MAX), 0);
        }
    }
    if (next(w)) unknown(w);
    for (k = 0; k < m->variables; k++) m->value[k] = 0;
}

static int64_t lower_bound(const model *m) {
    int64_t total = 0, least;
    const table *t;
    for (t = m->table; t < m->table + m->tables; t++) {
        if (t->used) continue;
        least = m->top;
        do least = *at(m, t) < least ? *at(m, t) : least;
        while (advance(m, t));
        total = sum(m, total, least);
    }
    return total;
}

/* "message VARIABLE ARITY SCOPE... ENTRY...": eliminates the variable. */
static void check_message(model *m, words *w) {
    int64_t v = whole(w, 0, m->variables - 1), rest, best, total, given;
    table *t = read_scope(m, w, (int)whole(w, 0, m->variables)), *f, of = {.arity = 1, .scope = &v};
    int j;
    if (m->tables - m->functions >= m->variables) unknown(w); /* no capacity for more */
    for (j = 0; j < t->arity; j++)
        if (t->scope[j] == v || (m->fixed[t->scope[j]] && m->domain[t->scope[j]] > 1))
            end(REFUSED, "a message of variable %d is over %d", (int)v, (int)t->scope[j]);
    for (f = m->table; f < t; f++) {
        if (f->used || !has(f, v)) continue;
        f->used = -1; /* in the bucket */
        for (j = 0; j < f->arity; j++)
            if (f->scope[j] != v && !m->fixed[f->scope[j]] && m->domain[f->scope[j]] > 1 && !has(t, f->scope[j]))
                end(REFUSED, "the message of variable %d is not over %d", (int)v, (int)f->scope[j]);
    }
    rest = lower_bound(m); /* of the other tables; an entry that reaches top with it is as good as forbidden */
    do {
        best = m->top;
        do {
            for (f = m->table, total = 0; f < t; f++)
                if (f->used < 0) total = sum(m, total, *at(m, f));
            if (total < best) best = total;
        } while (advance(m, &of));
        given = strcmp(need(w), "forbidden") ? strtoll(w->word, NULL, 10) : m->top;
        given = given < 0 ? 0 : sum(m, given, 0);
        if (given > best && sum(m, best, rest) < m->top)
            end(REFUSED, "line %ld: an entry of the message of variable %d is too large", w->line, (int)v);
        *at(m, t) = given;
    } while (advance(m, t));
    for (f = m->table; f < t; f++) f->used = abs(f->used);
    m->tables++;
}

void check_elimination(words file, words *w) {
    model m = {0};
    const char *outcome = "";
    int64_t *value = NULL, cost = -1, bound = 0, total = 0, lower;
    int k, v, proven = 1;
    read_model(&m, &file);
    while (next(w)) {
        if (is(w, "outcome")) outcome = need(w);
        else if (is(w, "cost")) cost = whole(w, 0, INT64_MAX);
        else if (is(w, "bound")) bound = whole(w, 0, INT64_MAX);
        else if (is(w, "value")) value = wholes(w, whole(w, m.variables, m.variables), 0, 1 << 28);
        else if (is(w, "message")) check_message(&m, w);
        else if (is(w, "fixed")) {
            v = (int)whole(w, 0, m.variables - 1);
            m.fixed[v] = 1;
            m.value[v] = whole(w, 0, m.domain[v] - 1);
        } else unknown(w);
    }
    lower = lower_bound(&m);
    printf("no assignment costs less than %lld%s\n", (long long)lower, lower == m.top ? ": none is allowed" : "");
    for (k = 0; k < m.variables && value; k++) {
        if (value[k] >= m.domain[k] || (m.fixed[k] && value[k] != m.value[k]))
            end(REFUSED, "variable %d cannot have this value", k);
        m.value[k] = value[k];
    }
    for (k = 0; k < m.functions && value; k++) total = sum(&m, total, *at(&m, &m.table[k]));
    if (value && (total != cost || total >= m.top || bound > total))
        end(REFUSED, "the assignment costs %lld", (long long)total);
    if (strcmp(outcome, "optimal") == 0) proven = value && total == lower;
    else if (strcmp(outcome, "infeasible") == 0) proven = lower == m.top;
    else outcome = "the bound and the assignment, if there is one";
    end(proven && bound <= lower ? PROVEN : UNPROVEN, "%s", outcome);
}
