/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/io/graphical.h"
#include "examples/io/tokens.h"

/* How many variables the file of the model has. */
static int32_t named(const graphical_model *model) { return model->variables - model->hidden; }

int graphical_write_solution(const char *path, const graphical_model *model, const int32_t *value) {
    FILE *file = fopen(path, "w");
    int32_t k;
    int failed = !file;
    for (k = 0; file && k < named(model); k++) fprintf(file, "%d %d\n", (int)k, (int)value[k]);
    if (file) failed = ferror(file) | fclose(file);
    if (failed) fprintf(stderr, "%s: cannot be written: %s\n", path, strerror(errno));
    return failed ? -1 : 0;
}

int graphical_read_evidence(const char *path, const graphical_model *model, int32_t *fixed, char *error,
                            size_t error_size) {
    tokens t;
    int64_t samples, count, v, value;
    int32_t k;
    int failed = 0;
    for (k = 0; k < model->variables; k++) fixed[k] = -1;
    if (tokens_open(&t, path, error, error_size)) return -1;
    /* Pairs and their number are an odd count of words; the number of samples before them makes it even. */
    if (tokens_count(&t) % 2 == 0) failed = tokens_whole(&t, "the number of samples", 1, 1, &samples);
    if (!failed) failed = tokens_whole(&t, "the number of variables with evidence", 0, named(model), &count);
    t.part = "evidence";
    for (k = 0; !failed && k < count; k++) {
        t.index = k;
        failed = tokens_whole(&t, "variable", 0, named(model) - 1, &v);
        if (!failed && fixed[v] >= 0) failed = tokens_fail(&t, "variable %lld comes twice", (long long)v);
        if (!failed) failed = tokens_whole(&t, "value", 0, model->domain[v] - 1, &value);
        if (!failed) fixed[v] = (int32_t)value;
    }
    if (!failed) failed = tokens_end(&t);
    tokens_close(&t);
    return failed;
}

/* Marks a variable; returns whether it was marked before. */
static int again(int32_t *seen, int64_t v) { return seen[v]++ > 0; }

int graphical_read_order(const char *path, const graphical_model *model, const int32_t *fixed, int32_t *order,
                         char *error, size_t error_size) {
    tokens t;
    int32_t *seen, left = 0, k;
    int64_t v = 0;
    int failed = 0;
    if (tokens_open(&t, path, error, error_size)) return -1;
    t.comments = 1;
    seen = calloc((size_t)model->variables + 1, sizeof *seen);
    if (!seen) failed = tokens_fail(&t, "out of memory");
    for (k = 0; k < named(model); k++) left += fixed[k] < 0;
    t.part = "position";
    for (k = 0; k < left && !failed; k++) {
        t.index = k;
        failed = tokens_whole(&t, "variable", 0, named(model) - 1, &v);
        if (!failed && again(seen, v)) failed = tokens_fail(&t, "variable %lld comes twice", (long long)v);
        if (!failed && fixed[v] >= 0) failed = tokens_fail(&t, "variable %lld has evidence", (long long)v);
        order[k] = (int32_t)v;
    }
    for (k = 0; k < model->hidden; k++) order[left + k] = named(model) + k;
    if (!failed) failed = tokens_end(&t);
    tokens_close(&t);
    free(seen);
    return failed;
}

int graphical_read_agents(const char *path, const graphical_model *model, int32_t *agent, char *error,
                          size_t error_size) {
    tokens t;
    int32_t *seen, k;
    int64_t v = 0, number = 0, words;
    int failed = 0, pairs;
    if (tokens_open(&t, path, error, error_size)) return -1;
    t.comments = 1;
    seen = calloc((size_t)model->variables + 1, sizeof *seen);
    if (!seen) failed = tokens_fail(&t, "out of memory");
    words = tokens_count(&t);
    pairs = words != named(model);
    t.part = pairs ? "pair" : "variable";
    for (k = 0; k < named(model) && !failed; k++) {
        t.index = v = k;
        if (pairs) failed = tokens_whole(&t, "variable", 0, named(model) - 1, &v);
        if (!failed && again(seen, v)) failed = tokens_fail(&t, "variable %lld comes twice", (long long)v);
        if (!failed) failed = tokens_whole(&t, "agent", 0, INT32_MAX, &number);
        agent[v] = (int32_t)number;
    }
    for (k = named(model); k < model->variables && !failed; k++) agent[k] = agent[graphical_named(model, k)];
    if (!failed) failed = tokens_end(&t);
    tokens_close(&t);
    free(seen);
    return failed;
}
