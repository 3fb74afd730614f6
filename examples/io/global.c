/* SPDX-License-Identifier: MIT */
#include "examples/io/global.h"

#include <stdlib.h>
#include <string.h>

#include "examples/io/tokens_json.h"

/* ---- Which there are ---- */

enum { HARD = 1 << METRIC_HARD, SOFT = 1 << METRIC_HARD | 1 << METRIC_LIN | 1 << METRIC_QUAD, VAR = 1 << METRIC_VAR };

static const char *const metrics[] = {"", "hard", "lin", "quad", "var", "dec", "wdec", NULL};
static const char *const comparators[] = {"==", "<=", "<", "!=", ">", ">=", NULL};

static const global_kind kinds[] = {
    {"salldiff", FORM_ALLDIFF, VAR | 1 << METRIC_DEC, "mc"},
    {"salldiffdp", FORM_ALLDIFF, VAR, "mc"},
    {"walldiff", FORM_ALLDIFF, SOFT, "mc"},
    {"walldifferent", FORM_ALLDIFF, SOFT, "mc"},
    {"sgcc", FORM_GCC, VAR | 1 << METRIC_DEC | 1 << METRIC_WDEC, "mcB"},
    {"sgccdp", FORM_GCC, VAR, "mcB"},
    {"wgcc", FORM_GCC, SOFT, "mcB"},
    {"wsamegcc", FORM_SAMEGCC, SOFT, "mcB"},
    {"wsame", FORM_SAME, SOFT, "mc"},
    {"ssame", FORM_TWO_LISTS, 0, "c12"},
    {"samong", FORM_AMONG, VAR, "mcluV"},
    {"samongdp", FORM_AMONG, VAR, "mcluV"},
    {"wamong", FORM_AMONG, SOFT, "mcVlu"},
    {"wvaramong", FORM_VARAMONG, HARD, "mcV"},
    {"wsum", FORM_SUM, SOFT, "mcok"},
    {"wvarsum", FORM_VARSUM, HARD, "mco"},
    {"woverlap", FORM_OVERLAP, SOFT, "mcok"},
    {"sregular", FORM_REGULAR, VAR, "mcqSET"},
    {"sregulardp", FORM_REGULAR, VAR, "mcqSET"},
    {"wregular", FORM_WEIGHTED_REGULAR, 0, "qset"},
    {"max", FORM_MAX, 0, "dX"},
    {"smaxdp", FORM_MAX, 0, "dX"},
    {"knapsack", FORM_KNAPSACK, 0, "KW"},
    {"clique", FORM_CLIQUE, 0, "rY"},
    {">=", FORM_ARITHMETIC, 0, "aa"},
    {">", FORM_ARITHMETIC, 0, "aa"},
    {"<=", FORM_ARITHMETIC, 0, "aa"},
    {"<", FORM_ARITHMETIC, 0, "aa"},
    {"=", FORM_ARITHMETIC, 0, "aa"},
    {"disj", FORM_ARITHMETIC, 0, "aaa"},
    {"sdisj", FORM_ARITHMETIC, 0, "aaaaaa"},
};

/* The parameters: numbers, and lists. Rows of a list have numbers of these sorts: v value, n a number of 0 or more, i
 * any number, q a state, x a variable of the scope, c a cost, l a nested list. */
static const struct {
    char letter;
    const char *tag, *row;
} parameters[] = {
    {'m', "metric", NULL},
    {'c', "cost", NULL},
    {'o', "comparator", NULL},
    {'l', "min", "n"},
    {'u', "max", "n"},
    {'k', "to", "i"},
    {'q', "nb_states", "n"},
    {'d', "defaultcost", "c"},
    {'K', "capacity", "i"},
    {'r', "rhs", "i"},
    {'a', "", "i"},
    {'V', "values", "v"},
    {'B', "bounds", "vnn"},
    {'b', "bounds", "vnncc"},
    {'S', "starts", "q"},
    {'E', "ends", "q"},
    {'T', "transitions", "qvq"},
    {'s', "starts", "qc"},
    {'e', "ends", "qc"},
    {'t', "transitions", "qvqc"},
    {'X', "tuples", "xvc"},
    {'W', "weights", "i"},
    {'Y', "values", "l"},
    {'1', "vars1", "x"},
    {'2', "vars2", "x"},
};

const global_kind *global_find(const tokens *t) {
    size_t k;
    for (k = 0; k < sizeof kinds / sizeof *kinds; k++)
        if (tokens_is(t, kinds[k].name)) return &kinds[k];
    return NULL;
}

void global_free(global *g) {
    int k;
    free(g->scope);
    for (k = 0; k < 3; k++) free(g->list[k].number);
    memset(g, 0, sizeof *g);
}

int global_any_negative(const global *g) {
    int64_t at;
    int k;
    if (g->kind->form != FORM_WEIGHTED_REGULAR && g->kind->form != FORM_MAX) return 0;
    if (g->number[0] < 0) return 1;
    for (k = 0; k < g->lists; k++)
        for (at = 0; at < g->list[k].count; at++)
            if (g->list[k].number[at] < 0) return 1;
    return 0;
}

/* ---- Reading the parameters ---- */

typedef struct reader {
    tokens *t;
    const global_format *format;
    const graphical_model *model;
    global *g;
    int64_t left[2]; /* lengths that stand before the lists they are of */
    size_t capacity; /* of the present list */
} reader;

static int word_of(reader *r, const char *what, const char *const *words, unsigned allowed, int *which) {
    if (tokens_next(r->t, what)) return -1;
    for (*which = 0; words[*which]; ++*which)
        if (tokens_is(r->t, words[*which]) && (allowed >> *which & 1)) return 0;
    if (tokens_is(r->t, "decbi") && allowed >> METRIC_DEC & 1 && words == metrics) { /* the same cost */
        *which = METRIC_DEC;
        return 0;
    }
    return tokens_fail(r->t, "%s '%.*s' of '%s' is not supported", what, tokens_shown(r->t), r->t->word,
                       r->g->kind->name);
}

/* Costs that are weights of an automaton or a maximum may be negative in .cfn. */
static int read_cost(reader *r, int64_t *cost) {
    enum global_form form = r->g->kind->form;
    if (!r->format->tagged) return tokens_whole(r->t, "cost", 0, INT64_MAX, cost);
    if (tokens_decimal(r->t, "cost", r->format->places, cost)) return -1;
    if (*cost < 0 && form != FORM_WEIGHTED_REGULAR && form != FORM_MAX)
        return tokens_fail(r->t, "cost %.*s is negative", tokens_shown(r->t), r->t->word);
    if (r->format->maximised) *cost = -*cost;
    return 0;
}

static int read_variable(reader *r, int64_t *v) {
    int32_t k;
    if (r->format->variable(r->format->self, r->t, v)) return -1;
    for (k = 0; k < r->g->arity; k++)
        if (r->g->scope[k] == *v) break;
    if (k == r->g->arity) return tokens_fail(r->t, "variable %lld is not in the scope", (long long)*v);
    *v = k; /* its place there */
    return 0;
}

static int read_number(reader *r, char sort, int64_t *number) {
    switch (sort) {
    case 'v': return tokens_whole(r->t, "value", 0, INT32_MAX, number);
    case 'n': return tokens_whole(r->t, "number", 0, INT32_MAX, number);
    case 'i': return tokens_whole(r->t, "number", -INT32_MAX, INT32_MAX, number);
    case 'q': return tokens_whole(r->t, "state", 0, r->g->number[0] - 1, number);
    case 'x': return read_variable(r, number);
    default: return read_cost(r, number);
    }
}

static int append(reader *r, global_list *list, int64_t number) {
    if ((size_t)list->count == r->capacity) {
        int64_t *more;
        r->capacity = r->capacity ? 2 * r->capacity : 16;
        more = realloc(list->number, sizeof *more * r->capacity);
        if (!more) return tokens_fail(r->t, "out of memory");
        list->number = more;
    }
    list->number[list->count++] = number;
    return 0;
}

/* A row of a list: numbers of these sorts, in brackets or not. */
static int read_row(reader *r, const char *sorts, global_list *list) {
    int in_brackets;
    int64_t number;
    in_brackets = r->format->tagged && tokens_at_bracket(r->t, "[{");
    if (in_brackets && tokens_open_list(r->t, "a row")) return -1;
    for (; *sorts; sorts++)
        if (read_number(r, *sorts, &number) || append(r, list, number)) return -1;
    return in_brackets ? tokens_close_list(r->t, "a row") : 0;
}

/* Rows up to the closing bracket, or as many as the number before them gives. */
static int read_rows(reader *r, char letter, const char *sorts, global_list *list) {
    int64_t count = 0, k;
    list->width = (int32_t)strlen(sorts);
    if (r->format->tagged) {
        if (tokens_open_list(r->t, "a list")) return -1;
        while (!tokens_at_bracket(r->t, "]}"))
            if (read_row(r, sorts, list)) return -1;
        return tokens_close_list(r->t, "a list");
    }
    if (letter == 'W') count = r->g->arity;
    else if (letter == '1' && (tokens_whole(r->t, "number of variables", 0, r->g->arity, &r->left[0]) ||
                               tokens_whole(r->t, "number of variables", 0, r->g->arity, &r->left[1])))
        return -1;
    else if (letter == '1' || letter == '2') count = r->left[letter - '1'];
    else if (tokens_whole(r->t, "length", 0, INT64_MAX, &count)) return -1;
    for (k = 0; k < count; k++)
        if (read_row(r, sorts, list)) return -1;
    return 0;
}

/* A list of values for each variable of the scope: its length, then the values. */
static int read_value_lists(reader *r, global_list *list) {
    int32_t k;
    list->width = 1;
    if (r->format->tagged && tokens_open_list(r->t, "a list")) return -1;
    for (k = 0; k < r->g->arity; k++) {
        int64_t at = list->count;
        if (append(r, list, 0) || read_rows(r, 'V', "v", list)) return -1;
        list->number[at] = list->count - at - 1;
    }
    return r->format->tagged ? tokens_close_list(r->t, "a list") : 0;
}

static int read_parameter(reader *r, char letter) {
    global *g = r->g;
    size_t k = 0;
    int which;
    if (letter == 'B' && g->metric == METRIC_WDEC) letter = 'b';
    while (parameters[k].letter != letter) k++;
    if (r->format->tagged && tokens_skip(r->t, parameters[k].tag)) return -1;
    r->capacity = 0;
    switch (letter) {
    case 'm':
        if (word_of(r, "metric", metrics, g->kind->metrics, &which)) return -1;
        g->metric = (enum global_metric)which;
        return 0;
    case 'o':
        if (word_of(r, "comparator", comparators, ~0u, &which)) return -1;
        g->comparator = (enum global_comparator)which;
        return 0;
    case 'c': return read_cost(r, &g->cost);
    case 'Y': return read_value_lists(r, &g->list[g->lists++]);
    default: break;
    }
    if (strchr("luqkdKra", letter)) return read_number(r, parameters[k].row[0], &g->number[g->numbers++]);
    return read_rows(r, letter, parameters[k].row, &g->list[g->lists++]);
}

/* Checks the conditions between the parameters. */
static int check(reader *r) {
    const global *g = r->g;
    int32_t k;
    switch (g->kind->form) {
    case FORM_ARITHMETIC:
        if (g->arity != 2) return tokens_fail(r->t, "'%s' is for two variables", g->kind->name);
        if (r->format->places || r->format->maximised)
            return tokens_fail(r->t, "'%s' is for whole costs that are minimised", g->kind->name);
        return 0;
    case FORM_SAME:
    case FORM_SAMEGCC:
    case FORM_OVERLAP:
        return g->arity % 2 ? tokens_fail(r->t, "'%s' is for an even number of variables", g->kind->name) : 0;
    case FORM_TWO_LISTS:
        if (g->list[0].count != g->list[1].count) return tokens_fail(r->t, "the two lists have different lengths");
        return 0;
    case FORM_VARAMONG:
    case FORM_VARSUM: return g->arity ? 0 : tokens_fail(r->t, "'%s' is for one variable or more", g->kind->name);
    case FORM_KNAPSACK:
        if (g->list[0].count != g->arity) return tokens_fail(r->t, "a weight for each variable should be there");
        for (k = 0; k < g->arity; k++)
            if (r->model->domain[g->scope[k]] > 2)
                return tokens_fail(r->t,
                                   "'knapsack' over variable %d, which has more than two values, is not supported",
                                   (int)g->scope[k]);
        return 0;
    case FORM_CLIQUE: return g->number[0] == 1 ? 0 : tokens_fail(r->t, "'clique' with a right-hand side other than 1");
    default: return 0;
    }
}

int global_read(tokens *t, const global_format *format, const graphical_model *model, global *g) {
    reader r;
    const char *letter;
    memset(&r, 0, sizeof r);
    r.t = t;
    r.format = format;
    r.model = model;
    r.g = g;
    if (format->maximised && g->kind->form != FORM_WEIGHTED_REGULAR && g->kind->form != FORM_KNAPSACK &&
        g->kind->form != FORM_CLIQUE && g->kind->form != FORM_ARITHMETIC)
        return tokens_fail(t, "'%s' is not supported where costs are maximised", g->kind->name);
    for (letter = g->kind->parameters; *letter; letter++)
        if (read_parameter(&r, *letter)) return -1;
    return check(&r);
}
