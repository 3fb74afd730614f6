/* SPDX-License-Identifier: MIT
 *
 * The weighted CSP format of toulbar2: a stream of words; line breaks do not matter.
 *     name variables largest_domain functions upper_bound, the domain sizes, then for each function
 *     [-]arity variable... default_cost tuples, then value... cost for each tuple
 * With a negative arity the tuples and the default cost can be shared: the function receives the next number, from 1
 * on. A negative count -k stands for the tuples and the default cost of function number k. The default cost before it
 * is not used, and such a function has no number itself. A default cost of -1 and a name are a function in intention:
 * global.h. toulbar2 reads these files in the same way.
 */
#include <stdlib.h>
#include <string.h>

#include "examples/io/global.h"
#include "examples/io/graphical_build.h"
#include "examples/io/tokens.h"

typedef struct reader {
    tokens t;
    builder b;
    graphical_model *model;
    int64_t top;
    int32_t variables;        /* of the file */
    int32_t *seen, scopes;    /* seen [variables]: the last scope that mentions it, of all so far */
    int32_t *shared, sharing; /* the functions that are shared, and how many there are */
} reader;

static int out_of_memory(reader *r) { return tokens_fail(&r->t, "out of memory"); }

/* The header and the domain sizes. */
static int read_head(reader *r, int32_t *functions) {
    tokens *t = &r->t;
    int64_t n, largest, count, top, size;
    size_t capacity;
    int32_t k;
    if (tokens_next(t, "the model's name") || tokens_whole(t, "the number of variables", 0, INT32_MAX, &n) ||
        tokens_whole(t, "the largest domain size", 0, INT32_MAX, &largest) ||
        tokens_whole(t, "the number of functions", 0, INT32_MAX - 1, &count) ||
        tokens_whole(t, "the upper bound", 0, INT64_MAX, &top))
        return -1;
    t->part = "variable";
    for (k = 0; k < n; k++) {
        t->index = k;
        if (tokens_peek(t, "a domain size")) return -1;
        if (t->word[0] == '-' && tokens_numeric(t))
            return tokens_fail(t, "interval domains (a negative size: %.*s) are not supported", t->length, t->word);
        if (tokens_whole(t, "domain size", 1, largest, &size)) return -1;
        if (builder_variable(&r->b, (int32_t)size, -1) < 0) return out_of_memory(r);
    }
    t->part = NULL;
    r->variables = (int32_t)n;
    capacity = tokens_capacity(t); /* no more can follow, for any header */
    r->shared = malloc(sizeof *r->shared * (((size_t)count < capacity ? (size_t)count : capacity) + 1));
    r->seen = calloc((size_t)n + 1, sizeof *r->seen);
    if (!r->shared || !r->seen) return out_of_memory(r);
    *functions = (int32_t)count;
    r->top = top;
    return 0;
}

/* scope [arity] */
static int read_scope(reader *r, int32_t arity, int32_t *scope) {
    int64_t v;
    int32_t k;
    r->scopes++;
    for (k = 0; k < arity; k++) {
        if (tokens_whole(&r->t, "scope: variable", 0, r->variables - 1, &v)) return -1;
        if (r->seen[v] == r->scopes) return tokens_fail(&r->t, "scope: variable %d comes twice", (int)v);
        r->seen[v] = r->scopes;
        scope[k] = (int32_t)v;
    }
    return 0;
}

/* Reads the default cost; or -1, and then *named shows whether a name follows instead of the number of tuples. */
static int read_default(reader *r, int64_t *cost, int *named) {
    tokens before = r->t;
    *named = 0;
    if (tokens_next(&r->t, "the default cost")) return -1;
    if (tokens_is(&r->t, "-1")) {
        if (tokens_peek(&r->t, "the number of tuples")) return -1;
        *named = !tokens_numeric(&r->t);
        if (*named) return 0;
    }
    r->t = before;
    return tokens_whole(&r->t, "default cost", 0, INT64_MAX, cost);
}

static int read_variable(void *self, tokens *t, int64_t *v) {
    const reader *r = self;
    return tokens_whole(t, "variable", 0, r->variables - 1, v);
}

/* Takes the scope. */
static int read_global(reader *r, int32_t arity, int32_t *scope) {
    global_format format = {0, 0, 0, read_variable, NULL};
    tokens at;
    const char *fault;
    global g;
    int failed;
    memset(&g, 0, sizeof g);
    g.arity = arity;
    g.scope = scope;
    format.self = r;
    failed = tokens_next(&r->t, "a name");
    at = r->t;
    if (!failed && !(g.kind = global_find(&r->t)))
        failed = tokens_fail(&r->t, "cost function in intention '%.*s' not supported", tokens_shown(&r->t), r->t.word);
    if (!failed) failed = global_read(&r->t, &format, r->model, &g);
    fault = failed ? NULL : global_add(&r->b, &g, r->top);
    if (fault) failed = tokens_fail(&at, "cost function in intention '%s' %s", g.kind->name, fault);
    global_free(&g);
    r->model->rewritten = 1;
    return failed;
}

static int copy_shared(reader *r, gpuopt_elimination_function *f, const gpuopt_elimination_function *from) {
    int32_t k;
    if (from->arity != f->arity) return tokens_fail(&r->t, "the shared function has another arity");
    for (k = 0; k < f->arity; k++)
        if (r->model->domain[from->scope[k]] != r->model->domain[f->scope[k]])
            return tokens_fail(&r->t, "the shared function has other domain sizes");
    return builder_copy_costs(&r->b, f, from) ? out_of_memory(r) : 0;
}

/* The arrays of the function can hold all that can follow in the file, or count. */
static int read_tuples(reader *r, gpuopt_elimination_function *f, int64_t count) {
    int64_t at, x, *cost = (int64_t *)f->cost;
    int32_t *tuple = (int32_t *)f->tuple, k;
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

/* Behind the scope. */
static int read_table(reader *r, int64_t arity, int32_t size, const int32_t *scope, int64_t default_cost) {
    int64_t tuples, capacity;
    gpuopt_elimination_function *f;
    if (tokens_whole(&r->t, "number of tuples", -r->sharing, INT64_MAX, &tuples)) return -1;
    capacity = (int64_t)(tokens_capacity(&r->t) / ((size_t)size + 1)) + 1;
    f = builder_function(&r->b, size, scope, tuples < 0 ? 0 : tuples < capacity ? tuples : capacity, 0);
    if (!f) return out_of_memory(r);
    f->default_cost = default_cost;
    if (arity < 0 && tuples >= 0) r->shared[r->sharing++] = r->model->functions - 1;
    return tuples < 0 ? copy_shared(r, f, &r->model->function[r->shared[-tuples - 1]]) : read_tuples(r, f, tuples);
}

static int read_function(reader *r) {
    int64_t arity, default_cost = 0;
    int32_t *scope, size;
    int failed, named = 0;
    if (tokens_whole(&r->t, "arity", -(int64_t)r->variables, r->variables, &arity)) return -1;
    size = (int32_t)(arity < 0 ? -arity : arity);
    scope = malloc(sizeof *scope * (size_t)size + 1);
    if (!scope) return out_of_memory(r);
    failed = read_scope(r, size, scope);
    if (!failed) failed = read_default(r, &default_cost, &named);
    if (!failed && named) return read_global(r, size, scope);
    if (!failed) failed = read_table(r, arity, size, scope, default_cost);
    free(scope);
    return failed;
}

int graphical_read_wcsp(const char *path, graphical_model *model, char *error, size_t error_size) {
    reader r;
    const char *fault;
    int32_t functions = 0, k;
    int failed;
    memset(&r, 0, sizeof r);
    memset(model, 0, sizeof *model);
    r.model = r.b.model = model;
    if (tokens_open(&r.t, path, error, error_size)) return -1;
    failed = read_head(&r, &functions);
    r.t.part = "function";
    for (k = 0; k < functions && !failed; k++) {
        r.t.index = k;
        failed = read_function(&r);
    }
    if (!failed) failed = tokens_end(&r.t);
    if (!failed && (fault = builder_finish(&r.b, r.top)) != NULL) failed = tokens_fail(&r.t, "%s", fault);
    tokens_close(&r.t);
    free(r.seen);
    free(r.shared);
    if (failed) graphical_free(model);
    return failed;
}
