/* SPDX-License-Identifier: MIT
 *
 * toulbar2's format of cost function networks: JSON with less punctuation. Commas, colons and quotation marks may be
 * left out, [ ] and { } are interchangeable, a # or // before a word begins a comment.
 *     {problem: {name: NAME mustbe: "<10.00"}
 *      variables: {v: [a b c] w: 2}
 *      functions: {f: {scope: [v w] costs: [0.1 2 3 -1.5 0 7]}
 *                  g: {scope: [v w] defaultcost: 1 costs: [a 0 2.5  c 1 3]}
 *                  h: {scope: [w] costs: k} k: {scope: [w] costs: [0 2]}
 *                  d: {scope: [v w] type: salldiff params: {metric: var cost: 0.7}}}}
 * "<": costs are minimised and must be below the bound; ">": they are maximised and must be above it. Costs are cut to
 * the decimal places of the bound. The word inf is a forbidden cost, also if costs are maximised, as in version 1.4.0
 * of toulbar2. Values and variables are named or numbered from 0; the names of fields, of functions and of variables
 * (for example in [3 2]) may be left out. A dense table has its last variable fastest; of equal tuples of a list, which
 * toulbar2 refuses, the last one counts. A function with a name instead of costs has the costs of the next function
 * with that name and a table (in toulbar2: of at most three variables). Types of functions: global.h. toulbar2 reads
 * these files in the same way, except for an apparent slip of its versions 1.1.1 and 1.4.0: the least cost of a dense
 * table of four variables or more counts twice.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/io/global.h"
#include "examples/io/graphical_build.h"
#include "examples/io/names.h"
#include "examples/io/tokens_json.h"

enum { MOST_PLACES = 18 };

/* A function of the file. */
typedef struct item {
    char *name, *shares; /* NULL: no name; the name of the function with the shared costs */
    int32_t table;       /* its number in the model, or -1: it is global */
    global g;
    int64_t line, column; /* for errors that are found at the end */
} item;

typedef struct reader {
    tokens t;
    builder b;
    graphical_model *model;
    int64_t bound;           /* of the costs as they are minimised */
    names variables, values; /* the variables; "VARIABLE:VALUE", numbered in the file's order */
    int32_t *first_value;    /* [variables] the number of the name of its value 0 */
    size_t first_values;     /* how many of these there is room for */
    int32_t *seen;           /* [variables] the function that has mentioned it last, + 1 */
    item *items;
    size_t count, capacity;
    char *word; /* [word_room] the word taken last, ended by 0 */
    size_t word_capacity;
} reader;

static int out_of_memory(reader *r) { return tokens_fail(&r->t, "out of memory"); }

/* ---- Words ---- */

/* Makes r->word the word taken last, behind a prefix. */
static int copy_word(reader *r, const char *prefix) {
    size_t before = strlen(prefix), wanted = before + (size_t)r->t.length + 1;
    if (wanted > r->word_capacity) {
        char *more = realloc(r->word, 2 * wanted);
        if (!more) return out_of_memory(r);
        r->word = more;
        r->word_capacity = 2 * wanted;
    }
    memcpy(r->word, prefix, before);
    memcpy(r->word + before, r->t.word, (size_t)r->t.length);
    r->word[wanted - 1] = 0;
    return 0;
}

/* Takes a word that is a name: no bracket, and not the start of a number. */
static int take_name(reader *r, const char *what, const char *prefix) {
    if (tokens_next(&r->t, what)) return -1;
    if (tokens_is_bracket(&r->t, "[]{}") || r->t.length == 0 || tokens_numeric(&r->t))
        return tokens_fail(&r->t, "'%.*s' where %s should be", tokens_shown(&r->t), r->t.word, what);
    return copy_word(r, prefix);
}

static int add_name(reader *r, names *n, const char *what) {
    int32_t number = names_add(n, r->word);
    if (number == NAMES_TWICE) return tokens_fail(&r->t, "%s '%.*s' comes twice", what, tokens_shown(&r->t), r->t.word);
    return number < 0 ? out_of_memory(r) : 0;
}

/* ---- The problem and its variables ---- */

static int read_problem(reader *r) {
    graphical_model *m = r->model;
    tokens *t = &r->t;
    int k;
    if (tokens_skip(&r->t, "problem") || tokens_open_list(&r->t, "the problem") || tokens_skip(&r->t, "name") ||
        take_name(r, "the problem's name", "") || tokens_skip(&r->t, "mustbe") || tokens_next(t, "the bound"))
        return -1;
    if (t->length == 0 || (t->word[0] != '<' && t->word[0] != '>'))
        return tokens_fail(t, "the bound '%.*s' begins neither with < nor with >", tokens_shown(t), t->word);
    m->maximised = t->word[0] == '>';
    for (k = 0; k < t->length && t->word[k] != '.';) k++;
    if (t->length - k - 1 > MOST_PLACES) return tokens_fail(t, "more than %d decimal places", MOST_PLACES);
    m->places = k < t->length ? t->length - k - 1 : 0;
    if (tokens_decimal_behind(t, "the bound", 1, m->places, &r->bound)) return -1;
    if (m->maximised) r->bound = -r->bound;
    return tokens_close_list(&r->t, "the problem");
}

/* A list of names, or their number. */
static int read_domain(reader *r, int64_t *size) {
    char prefix[16];
    *size = 0;
    if (!tokens_at_bracket(&r->t, "[{")) {
        if (tokens_whole(&r->t, "domain size", -INT32_MAX, INT32_MAX, size)) return -1;
        if (*size < 0) return tokens_fail(&r->t, "interval domains (a negative size) are not supported");
    } else {
        snprintf(prefix, sizeof prefix, "%d:", (int)r->model->variables);
        if (tokens_open_list(&r->t, "the domain")) return -1;
        for (; !tokens_at_bracket(&r->t, "]}"); ++*size)
            if (take_name(r, "a value's name", prefix) || add_name(r, &r->values, "value")) return -1;
        if (tokens_close_list(&r->t, "the domain")) return -1;
    }
    return *size > 0 ? 0 : tokens_fail(&r->t, "the domain is empty");
}

static int read_variable_and_domain(reader *r) {
    int32_t number = r->model->variables, first = r->values.count;
    int64_t size;
    if (tokens_at_bracket(&r->t, "[{") || (!tokens_peek(&r->t, "a variable") && tokens_numeric(&r->t))) {
        char name[16]; /* of a variable without a name: its number, which is no other one's name */
        snprintf(name, sizeof name, "%d", (int)number);
        if (names_add(&r->variables, name) < 0) return out_of_memory(r);
    } else if (take_name(r, "a variable's name", "") || add_name(r, &r->variables, "variable")) return -1;
    if (read_domain(r, &size)) return -1;
    if ((size_t)number == r->first_values) {
        size_t capacity = r->first_values ? 2 * r->first_values : 64;
        int32_t *more = realloc(r->first_value, sizeof *more * capacity);
        if (!more) return out_of_memory(r);
        r->first_value = more;
        r->first_values = capacity;
    }
    r->first_value[number] = first;
    return builder_variable(&r->b, (int32_t)size, -1) < 0 ? out_of_memory(r) : 0;
}

static int read_variables(reader *r) {
    if (tokens_skip(&r->t, "variables") || tokens_open_list(&r->t, "the list of variables")) return -1;
    r->t.part = "variable";
    for (; !tokens_at_bracket(&r->t, "]}"); r->t.index++)
        if (read_variable_and_domain(r)) return -1;
    r->t.part = NULL;
    r->t.index = 0;
    r->seen = calloc((size_t)r->model->variables + 1, sizeof *r->seen);
    return r->seen ? tokens_close_list(&r->t, "the list of variables") : out_of_memory(r);
}

/* ---- Functions ---- */

/* A number or the name of a variable. */
static int read_variable(void *self, tokens *t, int64_t *v) {
    reader *r = self;
    if (tokens_peek(t, "variable")) return -1;
    if (tokens_numeric(t)) return tokens_whole(t, "variable", 0, r->model->variables - 1, v);
    if (take_name(r, "variable", "")) return -1;
    *v = names_find(&r->variables, r->word);
    return *v >= 0 ? 0 : tokens_fail(t, "there is no variable '%.*s'", tokens_shown(t), t->word);
}

/* A number or the name of a value. */
static int read_value(reader *r, int32_t variable, int32_t *value) {
    int64_t x;
    char prefix[16];
    if (tokens_peek(&r->t, "value")) return -1;
    if (tokens_numeric(&r->t)) {
        if (tokens_whole(&r->t, "value", 0, r->model->domain[variable] - 1, &x)) return -1;
    } else {
        snprintf(prefix, sizeof prefix, "%d:", (int)variable);
        if (take_name(r, "value", prefix)) return -1;
        x = names_find(&r->values, r->word);
        if (x < 0) return tokens_fail(&r->t, "the variable has no value '%.*s'", tokens_shown(&r->t), r->t.word);
        x -= r->first_value[variable];
    }
    *value = (int32_t)x;
    return 0;
}

static int read_cost(reader *r, int64_t *cost) {
    if (tokens_next(&r->t, "cost")) return -1;
    if (tokens_is(&r->t, "inf")) return *cost = BUILDER_FORBIDDEN, 0;
    if (tokens_decimal_behind(&r->t, "cost", 0, r->model->places, cost)) return -1;
    if (r->model->maximised) *cost = -*cost;
    return 0;
}

/* *scope: allocated, also where it fails */
static int read_scope(reader *r, int32_t **scope, int32_t *arity) {
    size_t capacity = 0;
    int64_t v;
    *scope = NULL;
    *arity = 0;
    if (tokens_skip(&r->t, "scope") || tokens_open_list(&r->t, "the scope")) return -1;
    while (!tokens_at_bracket(&r->t, "]}")) {
        if ((size_t)*arity == capacity) {
            int32_t *more = realloc(*scope, sizeof *more * (capacity ? 2 * capacity : 4));
            if (!more) return out_of_memory(r);
            *scope = more;
            capacity = capacity ? 2 * capacity : 4;
        }
        if (read_variable(r, &r->t, &v)) return -1;
        if (r->seen[v] == (int32_t)r->count)
            return tokens_fail(&r->t, "scope: variable '%.*s' comes twice", tokens_shown(&r->t), r->t.word);
        r->seen[v] = (int32_t)r->count;
        (*scope)[(*arity)++] = (int32_t)v;
    }
    return tokens_close_list(&r->t, "the scope");
}

static int read_tuples(reader *r, gpuopt_elimination_function *f, int64_t default_cost) {
    int32_t *tuple = (int32_t *)f->tuple, k;
    int64_t *cost = (int64_t *)f->cost, at;
    f->default_cost = default_cost;
    for (at = 0; at < f->tuples; at++) {
        for (k = 0; k < f->arity; k++)
            if (read_value(r, f->scope[k], tuple++)) return -1;
        if (read_cost(r, cost++)) return -1;
    }
    return 0;
}

/* The costs in brackets: of all tuples, or with has_default of some. */
static int read_table(reader *r, int32_t arity, const int32_t *scope, int has_default, int64_t default_cost) {
    gpuopt_elimination_function *f;
    int64_t words, entries, at;
    if (tokens_open_list(&r->t, "the list of costs")) return -1;
    words = tokens_in_list(&r->t);
    entries = builder_entries(&r->b, arity, scope, INT64_MAX - 1);
    if (!has_default && words != entries)
        return tokens_fail(&r->t, "%lld costs, where the domain sizes make %lld", (long long)words, (long long)entries);
    f = builder_function(&r->b, arity, scope, has_default ? words / (arity + 1) : -1, entries);
    if (!f) return out_of_memory(r);
    if (has_default && read_tuples(r, f, default_cost)) return -1;
    for (at = 0; !has_default && at < entries; at++)
        if (read_cost(r, (int64_t *)f->cost + at)) return -1;
    return tokens_close_list(&r->t, has_default ? "the list of tuples and costs" : "the list of costs");
}

static int read_global(reader *r, global *g) {
    global_format format = {1, 0, 0, read_variable, NULL};
    format.places = r->model->places;
    format.maximised = r->model->maximised;
    format.self = r;
    if (tokens_next(&r->t, "the type")) return -1;
    g->kind = global_find(&r->t);
    if (!g->kind) return tokens_fail(&r->t, "type '%.*s' is not supported", tokens_shown(&r->t), r->t.word);
    if (tokens_skip(&r->t, "params") || tokens_open_list(&r->t, "the parameters")) return -1;
    return global_read(&r->t, &format, r->model, g) ? -1 : tokens_close_list(&r->t, "the parameters");
}

/* The part behind the scope. */
static int read_costs(reader *r, item *i, int32_t arity, const int32_t *scope) {
    int64_t default_cost = 0;
    int has_default = tokens_at_word(&r->t, "defaultcost") || (!tokens_peek(&r->t, "costs") && tokens_numeric(&r->t));
    if (has_default && (tokens_skip(&r->t, "defaultcost") || read_cost(r, &default_cost))) return -1;
    if (tokens_skip(&r->t, "costs")) return -1;
    i->table = r->model->functions;
    if (has_default || tokens_at_bracket(&r->t, "[{")) return read_table(r, arity, scope, has_default, default_cost);
    if (take_name(r, "a list of costs, or a function's name,", "")) return -1;
    i->shares = malloc(strlen(r->word) + 1);
    if (!i->shares || !builder_function(&r->b, arity, scope, 0, 0)) return out_of_memory(r);
    strcpy(i->shares, r->word);
    return 0;
}

static int read_function(reader *r, item *i) {
    int32_t *scope, arity;
    int failed;
    i->table = -1;
    if (!tokens_at_bracket(&r->t, "[{")) {
        if (take_name(r, "a function's name", "")) return -1;
        i->name = malloc(strlen(r->word) + 1);
        if (!i->name) return out_of_memory(r);
        strcpy(i->name, r->word);
    }
    if (tokens_open_list(&r->t, "the function")) return -1;
    failed = read_scope(r, &scope, &arity);
    i->line = r->t.word_line;
    i->column = r->t.word_column;
    if (!failed && tokens_at_word(&r->t, "type")) {
        i->g.scope = scope;
        i->g.arity = arity;
        if (tokens_skip(&r->t, "type") || read_global(r, &i->g)) return -1;
    } else {
        if (!failed) failed = read_costs(r, i, arity, scope);
        free(scope);
    }
    return failed ? failed : tokens_close_list(&r->t, "the function");
}

static int read_functions(reader *r) {
    if (tokens_skip(&r->t, "functions") || tokens_open_list(&r->t, "the list of functions")) return -1;
    r->t.part = "function";
    for (; !tokens_at_bracket(&r->t, "]}"); r->t.index++) {
        if (r->count == r->capacity) {
            size_t capacity = r->capacity ? 2 * r->capacity : 64;
            item *more = capacity < INT32_MAX ? realloc(r->items, sizeof *more * capacity) : NULL;
            if (!more) return out_of_memory(r);
            r->items = more;
            r->capacity = capacity;
        }
        memset(&r->items[r->count], 0, sizeof *r->items);
        r->count++;
        if (read_function(r, &r->items[r->count - 1])) return -1;
    }
    r->t.part = NULL;
    return tokens_close_list(&r->t, "the list of functions");
}

/* ---- When all functions are there ---- */

/* Errors from here on are about that function. */
static void go_to(reader *r, size_t k) {
    r->t.part = "function";
    r->t.index = (int64_t)k;
    r->t.word_line = r->items[k].line;
    r->t.word_column = r->items[k].column;
}

static int share(reader *r, item *i, const item *of) {
    gpuopt_elimination_function *to = &r->model->function[i->table], *from = &r->model->function[of->table];
    int32_t k;
    if (from->arity != to->arity) return tokens_fail(&r->t, "'%s' has another arity", i->shares);
    for (k = 0; k < to->arity; k++)
        if (r->model->domain[from->scope[k]] != r->model->domain[to->scope[k]])
            return tokens_fail(&r->t, "'%s' has other domain sizes", i->shares);
    return builder_copy_costs(&r->b, to, from) ? out_of_memory(r) : 0;
}

/* Costs shared with another function: in the order from the last function to the first, the next one of each name is
 * available. */
static int share_costs(reader *r) {
    names found;
    size_t *next = malloc(sizeof *next * r->count + 1), k;
    int32_t number;
    int failed = next ? 0 : out_of_memory(r);
    memset(&found, 0, sizeof found);
    for (k = r->count; k-- > 0 && !failed;) {
        item *i = &r->items[k];
        go_to(r, k);
        if (i->shares) {
            number = names_find(&found, i->shares);
            if (number < 0) failed = tokens_fail(&r->t, "no later function with a table is named '%s'", i->shares);
            else failed = share(r, i, &r->items[next[number]]);
        }
        if (failed || !i->name || i->table < 0) continue;
        number = names_find(&found, i->name);
        if (number < 0) number = names_add(&found, i->name);
        if (number < 0) failed = out_of_memory(r);
        else next[number] = k;
    }
    names_free(&found);
    free(next);
    return failed;
}

static int add_globals(reader *r) {
    /* If there is a negative cost, no other cost is forbidden by itself: the negative one may compensate for it. */
    int any_negative = builder_any_negative(&r->b);
    const char *fault;
    size_t k;
    for (k = 0; k < r->count; k++) any_negative |= r->items[k].g.kind && global_any_negative(&r->items[k].g);
    for (k = 0; k < r->count; k++) {
        if (!r->items[k].g.kind) continue;
        go_to(r, k);
        fault = global_add(&r->b, &r->items[k].g, any_negative ? INT64_MAX : r->bound);
        if (fault) return tokens_fail(&r->t, "'%s' %s", r->items[k].g.kind->name, fault);
    }
    return 0;
}

static void free_reader(reader *r) {
    size_t k;
    for (k = 0; k < r->count; k++) {
        free(r->items[k].name);
        free(r->items[k].shares);
        global_free(&r->items[k].g);
    }
    free(r->items);
    names_free(&r->variables);
    names_free(&r->values);
    free(r->first_value);
    free(r->seen);
    free(r->word);
    tokens_close(&r->t);
}

int graphical_read_cfn(const char *path, graphical_model *model, char *error, size_t error_size) {
    reader r;
    const char *fault;
    int failed;
    memset(&r, 0, sizeof r);
    memset(model, 0, sizeof *model);
    r.model = r.b.model = model;
    model->rewritten = 1;
    if (tokens_open(&r.t, path, error, error_size)) {
        memset(model, 0, sizeof *model);
        return -1;
    }
    r.t.json = 1;
    failed = tokens_open_list(&r.t, "the network") || read_problem(&r) || read_variables(&r) || read_functions(&r) ||
             tokens_close_list(&r.t, "the network") || tokens_end(&r.t) || share_costs(&r) || add_globals(&r);
    r.t.part = NULL;
    if (!failed && (fault = builder_finish(&r.b, r.bound)) != NULL) failed = tokens_fail(&r.t, "%s", fault);
    free_reader(&r);
    if (failed) graphical_free(model);
    return failed ? -1 : 0;
}
