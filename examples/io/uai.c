/* SPDX-License-Identifier: MIT
 *
 * The format of the UAI competitions: MARKOV or BAYES, the number of variables, their domain sizes, the number of
 * factors, each one's scope (arity variable...), then each one's table (entries value..., the last variable fastest).
 */
#include <stdlib.h>
#include <string.h>

#include "examples/io/graphical.h"
#include "examples/io/tokens.h"

static int out_of_memory(tokens *t) { return tokens_fail(t, "out of memory"); }

static int read_head(tokens *t, graphical_model *model, int32_t *functions) {
    int64_t n, count, size;
    size_t capacity;
    int32_t k;
    if (tokens_next(t, "MARKOV or BAYES")) return -1;
    if (!tokens_is(t, "MARKOV") && !tokens_is(t, "BAYES"))
        return tokens_fail(t, "'%.*s' is neither MARKOV nor BAYES", t->length < 40 ? t->length : 40, t->word);
    if (tokens_whole(t, "the number of variables", 0, INT32_MAX, &n)) return -1;
    capacity = tokens_capacity(t); /* no more can follow, for any header */
    model->domain = malloc(sizeof *model->domain * ((size_t)n < capacity ? (size_t)n + 1 : capacity + 1));
    if (!model->domain) return out_of_memory(t);
    t->part = "variable";
    for (k = 0; k < n; k++) {
        t->index = k;
        if (tokens_whole(t, "domain size", 1, INT32_MAX, &size)) return -1;
        model->domain[k] = (int32_t)size;
        if (size > model->max_domain) model->max_domain = (int32_t)size;
    }
    t->part = NULL;
    model->variables = (int32_t)n;
    if (tokens_whole(t, "the number of factors", 0, INT32_MAX, &count)) return -1;
    capacity = (size_t)count < capacity ? (size_t)count : capacity;
    model->function = calloc(capacity + 1, sizeof *model->function);
    if (!model->function) return out_of_memory(t);
    *functions = (int32_t)count;
    return 0;
}

/* seen [variables]: the factor that has mentioned it last, + 1. */
static int read_scope(tokens *t, graphical_model *model, int32_t *seen) {
    gpuopt_elimination_function *f = &model->function[model->functions];
    int32_t *scope, k;
    int64_t arity, v;
    if (tokens_whole(t, "arity", 0, model->variables, &arity)) return -1;
    scope = malloc(sizeof *scope * ((size_t)arity + 1));
    if (!scope) return out_of_memory(t);
    model->functions++; /* from here on its arrays are the model's */
    f->arity = (int32_t)arity;
    f->scope = scope;
    f->tuples = -1;
    for (k = 0; k < f->arity; k++) {
        if (tokens_whole(t, "scope: variable", 0, model->variables - 1, &v)) return -1;
        if (seen[v] == model->functions) return tokens_fail(t, "scope: variable %d comes twice", (int)v);
        seen[v] = model->functions;
        scope[k] = (int32_t)v;
    }
    return 0;
}

static int read_table(tokens *t, const graphical_model *model, gpuopt_elimination_function *f) {
    int64_t wanted = 1, count, at;
    double *value;
    int32_t k;
    for (k = 0; k < f->arity; k++) {
        int64_t d = model->domain[f->scope[k]];
        wanted = wanted > INT64_MAX / d ? INT64_MAX : wanted * d;
    }
    if (tokens_whole(t, "number of entries", 0, INT64_MAX, &count)) return -1;
    if (count != wanted)
        return tokens_fail(t, "%lld entries, where the domain sizes make %lld", (long long)count, (long long)wanted);
    if ((uint64_t)count > tokens_capacity(t)) count = (int64_t)tokens_capacity(t); /* the file will end before */
    value = malloc(sizeof *value * ((size_t)count + 1));
    f->value = value;
    if (!value) return out_of_memory(t);
    for (at = 0; at < wanted; at++)
        if (tokens_factor(t, "entry", value++)) return -1;
    return 0;
}

int graphical_read_uai(const char *path, graphical_model *model, char *error, size_t error_size) {
    tokens t;
    int32_t *seen = NULL, functions = 0, k;
    int failed;
    memset(model, 0, sizeof *model);
    model->type = GPUOPT_COST_DOUBLE;
    if (tokens_open(&t, path, error, error_size)) return -1;
    failed = read_head(&t, model, &functions);
    if (!failed && !(seen = calloc((size_t)model->variables + 1, sizeof *seen))) failed = out_of_memory(&t);
    t.part = "factor";
    for (k = 0; k < functions && !failed; k++) {
        t.index = k;
        failed = read_scope(&t, model, seen);
    }
    for (k = 0; k < functions && !failed; k++) {
        t.index = k;
        failed = read_table(&t, model, &model->function[k]);
    }
    if (!failed) failed = tokens_end(&t);
    tokens_close(&t);
    free(seen);
    if (failed) graphical_free(model);
    return failed;
}
