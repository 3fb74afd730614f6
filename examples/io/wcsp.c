/* SPDX-License-Identifier: MIT
 *
 * The weighted CSP format of toulbar2: a stream of words, whose line breaks do not matter.
 *     name variables largest_domain functions upper_bound, the domain sizes, then for each function
 *     [-]arity variable... default_cost tuples, then value... cost for each tuple
 * A negative arity shares the tuples and the default cost: the function gets the next number, from 1 on. A negative
 * count -k stands for the tuples and the default cost of the function with number k; the default cost before it is not
 * used, and such a function gets no number itself. toulbar2 reads these files in the same way.
 */
#include <stdlib.h>
#include <string.h>

#include "examples/io/graphical.h"
#include "examples/io/tokens.h"

typedef struct reader {
    tokens t;
    graphical_model *model;
    int32_t *seen;            /* [variables] the function that has mentioned it last, + 1 */
    int32_t *shared, sharing; /* the functions that are shared, and how many there are */
} reader;

static int out_of_memory(reader *r) { return tokens_fail(&r->t, "out of memory"); }

/* What the header and the domain sizes say. */
static int read_head(reader *r, int32_t *functions) {
    graphical_model *model = r->model;
    tokens *t = &r->t;
    int64_t n, largest, count, top, size;
    size_t room;
    int32_t k;
    if (tokens_next(t, "the model's name") || tokens_whole(t, "the number of variables", 0, INT32_MAX, &n) ||
        tokens_whole(t, "the largest domain size", 0, INT32_MAX, &largest) ||
        tokens_whole(t, "the number of functions", 0, INT32_MAX - 1, &count) ||
        tokens_whole(t, "the upper bound", 0, INT64_MAX, &top))
        return -1;
    room = tokens_room(t); /* no more can follow, whatever the header says */
    model->domain = malloc(sizeof *model->domain * ((size_t)n < room ? (size_t)n + 1 : room + 1));
    if (!model->domain) return out_of_memory(r);
    t->part = "variable";
    for (k = 0; k < n; k++) {
        t->index = k;
        if (tokens_peek(t, "a domain size")) return -1;
        if (t->word[0] == '-' && tokens_numeric(t))
            return tokens_fail(t, "interval domains (a negative size: %.*s) are not supported", t->length, t->word);
        if (tokens_whole(t, "domain size", 1, largest, &size)) return -1;
        model->domain[k] = (int32_t)size;
        if (size > model->max_domain) model->max_domain = (int32_t)size;
    }
    t->part = NULL;
    model->variables = (int32_t)n;
    room = (size_t)count < room ? (size_t)count : room;
    model->function = calloc(room + 2, sizeof *model->function);
    r->shared = malloc(sizeof *r->shared * (room + 1));
    r->seen = calloc((size_t)n + 1, sizeof *r->seen);
    if (!model->function || !r->shared || !r->seen) return out_of_memory(r);
    *functions = (int32_t)count;
    model->top = top;
    if (top == 0) { /* nothing costs less: a constant that reaches the least top there is */
        model->top = 1;
        model->function[model->functions++].default_cost = 1;
    }
    return 0;
}

static int read_scope(reader *r, gpuopt_elimination_function *f) {
    int32_t *scope = malloc(sizeof *scope * ((size_t)f->arity + 1)), k;
    int64_t v;
    f->scope = scope;
    if (!scope) return out_of_memory(r);
    for (k = 0; k < f->arity; k++) {
        if (tokens_whole(&r->t, "scope: variable", 0, r->model->variables - 1, &v)) return -1;
        if (r->seen[v] == r->model->functions) return tokens_fail(&r->t, "scope: variable %d comes twice", (int)v);
        r->seen[v] = r->model->functions;
        scope[k] = (int32_t)v;
    }
    return 0;
}

/* Reads the default cost. An error if a keyword follows instead of the number of tuples. */
static int read_default(reader *r, gpuopt_elimination_function *f) {
    tokens before = r->t;
    if (tokens_next(&r->t, "the default cost")) return -1;
    if (tokens_is(&r->t, "-1")) {
        if (tokens_next(&r->t, "the number of tuples")) return -1;
        if (!tokens_numeric(&r->t))
            return tokens_fail(&r->t, "cost function in intention '%.*s' not supported", r->t.length, r->t.word);
    }
    r->t = before;
    return tokens_whole(&r->t, "default cost", 0, INT64_MAX, &f->default_cost);
}

static int allocate_tuples(reader *r, gpuopt_elimination_function *f, int64_t room) {
    f->tuple = malloc(sizeof *f->tuple * ((size_t)room * (size_t)f->arity + 1));
    f->cost = malloc(sizeof *f->cost * ((size_t)room + 1));
    return f->tuple && f->cost ? 0 : out_of_memory(r);
}

static int copy_shared(reader *r, gpuopt_elimination_function *f, const gpuopt_elimination_function *from) {
    int32_t k;
    if (from->arity != f->arity) return tokens_fail(&r->t, "the shared function has another arity");
    for (k = 0; k < f->arity; k++)
        if (r->model->domain[from->scope[k]] != r->model->domain[f->scope[k]])
            return tokens_fail(&r->t, "the shared function has other domain sizes");
    if (allocate_tuples(r, f, from->tuples)) return -1;
    memcpy((void *)f->tuple, from->tuple, sizeof *f->tuple * (size_t)(from->tuples * f->arity));
    memcpy((void *)f->cost, from->cost, sizeof *f->cost * (size_t)from->tuples);
    f->tuples = from->tuples;
    f->default_cost = from->default_cost;
    return 0;
}

static int read_tuples(reader *r, gpuopt_elimination_function *f, int64_t count) {
    int64_t room = (int64_t)(tokens_room(&r->t) / ((size_t)f->arity + 1)) + 1, at, x;
    int32_t *tuple, k;
    int64_t *cost;
    if (allocate_tuples(r, f, count < room ? count : room)) return -1;
    tuple = (int32_t *)f->tuple;
    cost = (int64_t *)f->cost;
    for (at = 0; at < count; at++) {
        for (k = 0; k < f->arity; k++) {
            if (tokens_whole(&r->t, "value", 0, r->model->domain[f->scope[k]] - 1, &x)) return -1;
            *tuple++ = (int32_t)x;
        }
        if (tokens_whole(&r->t, "cost", 0, INT64_MAX, cost++)) return -1;
    }
    f->tuples = count;
    return 0;
}

static int read_function(reader *r) {
    int32_t which = r->model->functions;
    gpuopt_elimination_function *f = &r->model->function[which];
    int64_t arity, tuples;
    if (tokens_whole(&r->t, "arity", -(int64_t)r->model->variables, r->model->variables, &arity)) return -1;
    r->model->functions++; /* from here on its arrays are the model's */
    f->arity = (int32_t)(arity < 0 ? -arity : arity);
    if (read_scope(r, f) || read_default(r, f)) return -1;
    if (tokens_whole(&r->t, "number of tuples", -r->sharing, INT64_MAX, &tuples)) return -1;
    if (tuples < 0 ? copy_shared(r, f, &r->model->function[r->shared[-tuples - 1]]) : read_tuples(r, f, tuples))
        return -1;
    if (arity < 0 && tuples >= 0) r->shared[r->sharing++] = which;
    return 0;
}

int graphical_read_wcsp(const char *path, graphical_model *model, char *error, size_t error_size) {
    reader r;
    int32_t functions = 0, k;
    int failed;
    memset(&r, 0, sizeof r);
    memset(model, 0, sizeof *model);
    r.model = model;
    if (tokens_open(&r.t, path, error, error_size)) return -1;
    failed = read_head(&r, &functions);
    r.t.part = "function";
    for (k = 0; k < functions && !failed; k++) {
        r.t.index = k;
        failed = read_function(&r);
    }
    if (!failed) failed = tokens_end(&r.t);
    tokens_close(&r.t);
    free(r.seen);
    free(r.shared);
    if (failed) graphical_free(model);
    return failed;
}
