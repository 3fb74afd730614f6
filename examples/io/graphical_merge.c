/* SPDX-License-Identifier: MIT */
#include "examples/io/graphical_merge.h"

#include <stdlib.h>
#include <string.h>

#include "examples/io/graphical_build.h"

enum { LARGE = 1 << 20 };

/* A value of a variable that a list mentions. `function` is a function of one variable, with its cost at `at`; or -1:
 * the value is in a tuple of several, or evidence. */
typedef struct mention {
    int32_t variable, value, function;
    int64_t at;
} mention;

typedef struct merger {
    const graphical_model *from;
    graphical_merge *to;
    builder b;
    char *whole;      /* [variables] not 0: it is in a dense table with others */
    mention *mention; /* [mentions] sorted, of the variables that are not whole */
    int64_t mentions;
    int32_t *unary;       /* functions of one variable, by variable */
    int32_t *first_unary; /* [variables + 1] */
    int64_t kept;
    int counting;
} merger;

/* ---- What is mentioned ---- */

static int compare(const void *a_of, const void *b_of) {
    const mention *a = a_of, *b = b_of;
    if (a->variable != b->variable) return a->variable < b->variable ? -1 : 1;
    if (a->value != b->value) return a->value < b->value ? -1 : 1;
    if (a->function != b->function) return a->function < b->function ? -1 : 1;
    return a->at < b->at ? -1 : a->at > b->at;
}

static void add(merger *m, int32_t variable, int32_t value, int32_t function, int64_t at) {
    if (m->whole[variable]) return;
    if (m->mention) m->mention[m->mentions] = (mention){variable, value, function, at};
    m->mentions++;
}

/* Counts the mentions, and writes them down where they fit. */
static void find_mentions(merger *m, const int32_t *fixed) {
    int32_t i, j;
    int64_t k;
    m->mentions = 0;
    for (i = 0; fixed && i < m->from->variables; i++)
        if (fixed[i] >= 0) add(m, i, fixed[i], -1, 0);
    for (i = 0; i < m->from->functions; i++) {
        const gpuopt_elimination_function *f = &m->from->function[i];
        const int64_t count = f->tuples >= 0 ? f->tuples : f->arity == 1 ? m->from->domain[f->scope[0]] : 0;
        if (f->arity == 0) continue;
        for (k = 0; k < count; k++)
            for (j = 0; j < f->arity; j++)
                add(m, f->scope[j], f->tuples < 0 ? (int32_t)k : f->tuple[k * f->arity + j], f->arity == 1 ? i : -1, k);
    }
}

/* Examines dense tables, and counts the functions of one variable. Returns 0: no list is large. */
static int look_at_functions(merger *m) {
    const builder b = {.model = (graphical_model *)m->from}; /* which is only read */
    int32_t i, j;
    int large = 0;
    for (i = 0; i < m->from->functions; i++) {
        const gpuopt_elimination_function *f = &m->from->function[i];
        large |= f->tuples >= 0 && f->arity > 1 && builder_entries(&b, f->arity, f->scope, LARGE) > LARGE;
        for (j = 0; j < f->arity; j++) {
            if (f->arity == 1) m->first_unary[f->scope[0] + 1]++;
            else if (f->tuples < 0) m->whole[f->scope[j]] = 1;
        }
    }
    return large;
}

static void sort_unary(merger *m) {
    const int32_t n = m->from->variables;
    int32_t i;
    for (i = 0; i < n; i++) m->first_unary[i + 1] += m->first_unary[i];
    for (i = m->from->functions - 1; i >= 0; i--) /* from the ends of the ranges */
        if (m->from->function[i].arity == 1) m->unary[--m->first_unary[m->from->function[i].scope[0] + 1]] = i;
    for (i = 0; i < n; i++) m->first_unary[i] = m->first_unary[i + 1];
    m->first_unary[n] = 0;
    for (i = 0; i < m->from->functions; i++) m->first_unary[n] += m->from->function[i].arity == 1;
}

/* ---- Values that are kept ---- */

static int64_t clamped(const merger *m, int64_t x, int64_t y) {
    const int64_t top = m->from->top ? m->from->top : INT64_MAX;
    return x >= top || y >= top || x >= top - y ? INT64_MAX : x + y; /* costs are 0 or more */
}

/* The cost of a value by the functions of its variable alone. For functions in the mentions [count] of the value, after
 * the mentions by tuples, this is the last cost of each; for the others the default. */
static int64_t cost_of(const merger *m, int32_t variable, const mention *at, int64_t count) {
    int64_t sum = 0, k = 0;
    int32_t u;
    while (k < count && at[k].function < 0) k++;
    for (u = m->first_unary[variable]; u < m->first_unary[variable + 1]; u++) {
        const gpuopt_elimination_function *f = &m->from->function[m->unary[u]];
        int64_t cost = f->default_cost;
        for (; k < count && at[k].function == m->unary[u]; k++) cost = f->cost[at[k].at];
        sum = clamped(m, sum, cost);
    }
    return sum;
}

static void keep(merger *m, int32_t value, int64_t cost, uint64_t count, int64_t *costs) {
    m->to->kept[m->kept] = value;
    m->to->counts[m->kept] = count;
    costs[m->kept++] = cost;
}

/* Puts the last kept value at its place among the values from `first` on. */
static void put_in_order(merger *m, int64_t first, int64_t *costs) {
    graphical_merge *to = m->to;
    int64_t k;
    for (k = m->kept - 1; k > first && to->kept[k - 1] > to->kept[k]; k--) {
        const int32_t value = to->kept[k];
        const uint64_t count = to->counts[k];
        const int64_t cost = costs[k];
        to->kept[k] = to->kept[k - 1], to->kept[k - 1] = value;
        to->counts[k] = to->counts[k - 1], to->counts[k - 1] = count;
        costs[k] = costs[k - 1], costs[k - 1] = cost;
    }
}

/* A variable with its mentions at [count]: keeps the values in tuples and, of the others, the least one. */
static void keep_values(merger *m, int32_t variable, const mention *at, int64_t count, int64_t *costs) {
    const int64_t first = m->kept;
    int64_t k, end, least = INT64_MAX, cost, unmentioned = m->from->domain[variable];
    int32_t value = -1, absent = 0; /* absent: the least value that is not mentioned */
    uint64_t equal = 0;
    for (k = 0; k < count; k = end, unmentioned--) {
        for (end = k + 1; end < count && at[end].value == at[k].value;) end++;
        absent += at[k].value == absent;
        cost = cost_of(m, variable, at + k, end - k);
        if (at[k].function < 0) {
            keep(m, at[k].value, cost, 1, costs);
        } else if (value < 0 || cost < least) {
            value = at[k].value, least = cost, equal = 1;
        } else equal += cost == least;
    }
    cost = cost_of(m, variable, NULL, 0);
    if (unmentioned > 0 && (value < 0 || cost < least)) value = absent, least = cost, equal = (uint64_t)unmentioned;
    else if (unmentioned > 0 && cost == least) {
        equal += (uint64_t)unmentioned;
        if (absent < value) value = absent;
    }
    if (value < 0) return;
    keep(m, value, least, equal, costs);
    put_in_order(m, first, costs);
}

/* ---- The merged model ---- */

/* The functions of one variable as one, costs [values]. */
static int add_unary(merger *m, int32_t variable, const int64_t *costs, const uint64_t *counts, int64_t values) {
    gpuopt_elimination_function *f;
    int any = 0;
    int64_t k;
    for (k = 0; k < values; k++) any |= costs[k] != 0 || (m->counting && counts[k] > 1);
    if (!any) return 0;
    f = builder_function(&m->b, 1, &variable, -1, values);
    if (!f) return -1;
    memcpy((void *)f->cost, costs, sizeof *costs * (size_t)values);
    if (m->counting) f->count = counts;
    return 0;
}

static int add_list(merger *m, const gpuopt_elimination_function *from) {
    const int64_t words = from->tuples * from->arity;
    gpuopt_elimination_function *f = builder_function(&m->b, from->arity, from->scope, from->tuples, 0);
    int64_t k;
    if (!f) return -1;
    f->default_cost = from->default_cost;
    memcpy((void *)f->cost, from->cost, sizeof *from->cost * (size_t)from->tuples);
    for (k = 0; k < words; k++)
        ((int32_t *)f->tuple)[k] = graphical_merge_find(m->to, from->scope[k % from->arity], from->tuple[k]);
    return 0;
}

static int add_table(merger *m, const gpuopt_elimination_function *from) {
    gpuopt_elimination_function *f = builder_function(&m->b, from->arity, from->scope, 0, 0);
    return f && !builder_copy_costs(&m->b, f, from) ? 0 : -1;
}

/* Adds all functions except functions of one variable with merged values; a function without tuples is a constant. */
static int add_functions(merger *m) {
    gpuopt_elimination_function *f;
    int64_t constant = 0;
    int32_t i;
    for (i = 0; i < m->from->functions; i++) {
        const gpuopt_elimination_function *from = &m->from->function[i];
        if (from->arity == 1 && !m->whole[from->scope[0]]) continue;
        if (from->tuples == 0) constant = clamped(m, constant, from->default_cost);
        else if (from->tuples < 0 ? add_table(m, from) : add_list(m, from)) return -1;
    }
    if (constant == 0) return 0;
    f = builder_function(&m->b, 0, NULL, 0, 0);
    if (f) f->default_cost = constant;
    return f ? 0 : -1;
}

/* costs [mentions + variables] */
static int merge_variables(merger *m, int64_t *costs) {
    const graphical_model *from = m->from;
    int64_t at = 0, end, merged = 0;
    int32_t v;
    for (v = 0; v < from->variables; v++, at = end) {
        int32_t domain = from->domain[v];
        m->to->first[v] = m->kept;
        for (end = at; end < m->mentions && m->mention[end].variable == v;) end++;
        if (!m->whole[v]) {
            keep_values(m, v, m->mention + at, end - at, costs);
            domain = (int32_t)(m->kept - m->to->first[v]);
        }
        merged += domain < from->domain[v];
        if (builder_variable(&m->b, domain, -1) < 0) return -1;
    }
    m->to->first[v] = m->kept;
    m->to->model.top = from->top;
    m->to->model.type = from->type;
    for (v = 0; v < from->variables && merged; v++) {
        const int64_t first = m->to->first[v];
        if (!m->whole[v] && add_unary(m, v, costs + first, m->to->counts + first, m->to->first[v + 1] - first))
            return -1;
    }
    return merged == 0 ? 0 : add_functions(m) ? -1 : 1;
}

int graphical_merge_values(const graphical_model *model, const int32_t *fixed, int counting, graphical_merge *merge) {
    const size_t n = (size_t)model->variables + 1;
    merger m = {.from = model, .to = merge, .b.model = &merge->model, .counting = counting};
    int64_t *costs = NULL;
    int result = -1;
    memset(merge, 0, sizeof *merge);
    m.whole = calloc(n, 1);
    m.first_unary = calloc(n, sizeof *m.first_unary);
    m.unary = malloc(sizeof *m.unary * ((size_t)model->functions + 1));
    merge->first = malloc(sizeof *merge->first * n);
    if (m.whole && m.first_unary && m.unary && merge->first) {
        result = model->type == GPUOPT_COST_INT64 && look_at_functions(&m) ? 1 : 0;
        if (result) find_mentions(&m, fixed);
    }
    if (result > 0) {
        const size_t most = (size_t)m.mentions + n;
        sort_unary(&m);
        m.mention = malloc(sizeof *m.mention * most);
        merge->kept = malloc(sizeof *merge->kept * most);
        merge->counts = malloc(sizeof *merge->counts * most);
        costs = malloc(sizeof *costs * most);
        if (!m.mention || !merge->kept || !merge->counts || !costs) result = -1;
    }
    if (result > 0) {
        find_mentions(&m, fixed);
        qsort(m.mention, (size_t)m.mentions, sizeof *m.mention, compare);
        result = merge_variables(&m, costs);
    }
    free(m.whole);
    free(m.first_unary);
    free(m.unary);
    free(m.mention);
    free(costs);
    if (result < 1) graphical_merge_free(merge);
    return result;
}

void graphical_merge_free(graphical_merge *merge) {
    graphical_free(&merge->model);
    free(merge->first);
    free(merge->kept);
    free(merge->counts);
    memset(merge, 0, sizeof *merge);
}

int32_t graphical_merge_find(const graphical_merge *merge, int32_t variable, int32_t value) {
    int64_t low, high, first;
    if (!merge->first || merge->first[variable] == merge->first[variable + 1]) return value;
    first = low = merge->first[variable];
    high = merge->first[variable + 1];
    while (low + 1 < high) {
        const int64_t middle = low + (high - low) / 2;
        if (merge->kept[middle] <= value) low = middle;
        else high = middle;
    }
    return (int32_t)(low - first);
}

void graphical_merge_expand(const graphical_merge *merge, int32_t *value) {
    int32_t v;
    for (v = 0; v < merge->model.variables; v++)
        if (merge->first[v] < merge->first[v + 1]) value[v] = merge->kept[merge->first[v] + value[v]];
}
