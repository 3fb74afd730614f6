/* SPDX-License-Identifier: MIT
 *
 * Checks answers to weighted CSPs (.wcsp). The sum of all tables is at most the cost of any assignment. A message is at
 * most the least sum of its bucket's tables, so it may stand for them; in the end the tables' minima are a lower bound.
 */

#include "tests/check/check.h"

typedef struct table {
    int arity, *scope, used;
    int64_t entries;
    int64_t *cost; /* the last variable fastest; top: forbidden */
} table;

typedef struct model {
    int variables, tables, *domain, *value, *first, *last; /* first and last of the values that are looked at */
    int64_t top;
    table *table;
} model;

static int64_t sum(const model *m, int64_t a, int64_t b) { return a >= m->top - b ? m->top : a + b; }

static int has(const table *t, int variable) {
    int k = 0;
    while (k < t->arity && t->scope[k] != variable) k++;
    return k < t->arity;
}

/* The entry at m->value. */
static int64_t *at(const model *m, const table *t) {
    int64_t index = 0;
    int k;
    for (k = 0; k < t->arity; k++) index = index * m->domain[t->scope[k]] + m->value[t->scope[k]];
    return &t->cost[index];
}

/* The first entry, and the next one, if there is one. */
static void begin(const model *m, const table *t) {
    int k;
    for (k = 0; k < t->arity; k++) m->value[t->scope[k]] = m->first[t->scope[k]];
}

static int advance(const model *m, const table *t) {
    int k, v;
    for (k = t->arity - 1; k >= 0; k--) {
        v = t->scope[k];
        if (++m->value[v] <= m->last[v]) return 1;
        m->value[v] = m->first[v];
    }
    return 0;
}

/* A scope, and room for the entries. */
static void read_scope(const model *m, words *w, table *t) {
    int k, j;
    t->entries = 1;
    t->scope = allocate((size_t)t->arity, sizeof(int));
    for (k = 0; k < t->arity; k++) {
        t->scope[k] = (int)whole(w, 0, m->variables - 1);
        for (j = 0; j < k; j++)
            if (t->scope[j] == t->scope[k]) unknown(w);
        if ((t->entries *= m->domain[t->scope[k]]) > 1 << 28)
            end(BAD_INPUT, "line %ld: the table is too large", w->line);
    }
    t->cost = allocate((size_t)t->entries, sizeof(int64_t));
}

static void read_model(model *m, words *w) {
    int functions, shared = 0, k, j, *share;
    int64_t n, e, cost;
    need(w);
    m->variables = (int)whole(w, 0, 1 << 28);
    whole(w, 0, INT64_MAX);
    functions = (int)whole(w, 0, 1 << 28);
    m->top = whole(w, 0, INT64_MAX);
    m->domain = allocate((size_t)m->variables, sizeof(int));
    m->value = allocate((size_t)m->variables, sizeof(int));
    m->first = allocate((size_t)m->variables, sizeof(int));
    m->last = allocate((size_t)m->variables, sizeof(int));
    m->table = allocate((size_t)functions + (size_t)m->variables, sizeof(table));
    share = allocate((size_t)functions, sizeof(int));
    for (k = 0; k < m->variables; k++) m->last[k] = (m->domain[k] = (int)whole(w, 1, 1 << 28)) - 1;
    for (k = 0; k < functions; k++) {
        table *t = &m->table[m->tables++];
        int arity = (int)whole(w, -m->variables, m->variables);
        t->arity = abs(arity);
        read_scope(m, w, t);
        cost = whole(w, 0, INT64_MAX);
        for (e = 0; e < t->entries; e++) t->cost[e] = sum(m, cost, 0);
        n = whole(w, -shared, INT64_MAX);
        if (n < 0) { /* the tuples and the default cost of another function */
            const table *from = &m->table[share[-n - 1]];
            if (from->entries != t->entries) unknown(w);
            memcpy(t->cost, from->cost, sizeof(int64_t) * (size_t)t->entries);
        }
        if (arity < 0) share[shared++] = k;
        for (e = 0; e < n; e++) {
            for (j = 0; j < t->arity; j++) m->value[t->scope[j]] = (int)whole(w, 0, m->domain[t->scope[j]] - 1);
            *at(m, t) = sum(m, whole(w, 0, INT64_MAX), 0);
        }
    }
    if (next(w)) unknown(w);
}

static int64_t lower_bound(const model *m) {
    int64_t total = 0, least;
    int k;
    for (k = 0; k < m->tables; k++) {
        const table *t = &m->table[k];
        if (t->used) continue;
        least = m->top;
        begin(m, t);
        do least = *at(m, t) < least ? *at(m, t) : least;
        while (advance(m, t));
        total = sum(m, total, least);
    }
    return total;
}

/* "message VARIABLE ARITY SCOPE... ENTRY...": eliminates the variable. */
static void check_message(model *m, words *w) {
    table *t = &m->table[m->tables], of = {.arity = 1, .scope = &(int){(int)whole(w, 0, m->variables - 1)}};
    int v = *of.scope, k, j;
    int64_t rest, best, total, given;
    t->arity = (int)whole(w, 0, m->variables);
    read_scope(m, w, t);
    for (k = 0; k < t->arity; k++)
        if (t->scope[k] == v || m->last[t->scope[k]] - m->first[t->scope[k]] + 1 < m->domain[t->scope[k]])
            end(REFUSED, "a message of variable %d is over %d", v, t->scope[k]);
    for (k = 0; k < m->tables; k++) {
        table *f = &m->table[k];
        if (f->used || !has(f, v)) continue;
        f->used = -1; /* in the bucket */
        begin(m, f);
        for (j = 0; j < f->arity; j++)
            if (f->scope[j] != v && m->first[f->scope[j]] < m->last[f->scope[j]] && !has(t, f->scope[j]))
                end(REFUSED, "the message of variable %d is not over %d", v, f->scope[j]);
    }
    rest = lower_bound(m); /* of the other tables; what reaches top with it is as good as forbidden */
    begin(m, t);
    do {
        best = m->top;
        begin(m, &of);
        do {
            for (k = 0, total = 0; k < m->tables; k++)
                if (m->table[k].used < 0) total = sum(m, total, *at(m, &m->table[k]));
            if (total < best) best = total;
        } while (advance(m, &of));
        given = strcmp(need(w), "forbidden") ? strtoll(w->word, NULL, 10) : m->top;
        given = given < 0 ? 0 : sum(m, given, 0);
        if (given > best && sum(m, best, rest) < m->top)
            end(REFUSED, "line %ld: an entry of the message of variable %d is too large", w->line, v);
        *at(m, t) = given;
    } while (advance(m, t));
    for (k = 0; k < m->tables; k++)
        if (m->table[k].used < 0) m->table[k].used = 1;
    m->tables++;
}

void check_elimination(words *file, words *w) {
    enum { OUTCOME, COST, BOUND, VALUE };
    model m = {0};
    const char *outcome;
    int k, v, functions, proven = 1;
    int64_t total = 0, lower;
    read_model(&m, file);
    functions = m.tables;
    record r[] = {{.name = "outcome", .kind = 'w'},
                  {.name = "cost", .kind = 'i', .limit = INT64_MAX},
                  {.name = "bound", .kind = 'i', .limit = INT64_MAX},
                  {.name = "value", .kind = 'I', .size = m.variables, .limit = 1 << 28},
                  {0}};
    while (read_records(w, r)) {
        if (is(w, "message")) check_message(&m, w);
        else if (is(w, "fixed")) {
            v = (int)whole(w, 0, m.variables - 1);
            m.first[v] = m.last[v] = (int)whole(w, 0, m.domain[v] - 1);
        } else unknown(w);
    }
    lower = lower_bound(&m);
    printf("no assignment costs less than %lld%s\n", (long long)lower, lower == m.top ? ": none is allowed" : "");
    outcome = r[OUTCOME].count ? r[OUTCOME].word : "";
    if (r[VALUE].count && r[VALUE].count != m.variables) end(BAD_INPUT, "not a value for each variable");
    for (k = 0; k < r[VALUE].count; k++)
        if ((m.value[k] = (int)r[VALUE].whole[k]) < m.first[k] || m.value[k] > m.last[k])
            end(REFUSED, "variable %d cannot have this value", k);
    for (k = 0; k < functions && r[VALUE].whole; k++) total = sum(&m, total, *at(&m, &m.table[k]));
    if (strcmp(outcome, "optimal") == 0) proven = r[VALUE].whole && total == lower;
    else if (strcmp(outcome, "infeasible") == 0) proven = lower == m.top;
    else outcome = "the bound and the assignment, if there is one";
    if (r[VALUE].whole &&
        (!r[COST].count || total != *r[COST].whole || total >= m.top || (r[BOUND].count && *r[BOUND].whole > total)))
        end(REFUSED, "the assignment costs %lld", (long long)total);
    end(proven && (!r[BOUND].count || *r[BOUND].whole <= lower) ? PROVEN : UNPROVEN, "%s", outcome);
}
