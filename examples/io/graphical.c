/* SPDX-License-Identifier: MIT */
#include "examples/io/graphical.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether the name ends so, before the ending of a compressed file. */
static int is_file(const char *name, const char *ending) {
    size_t length = strlen(name), end = strlen(ending);
    if (length > 3 && (strcmp(name + length - 3, ".gz") == 0 || strcmp(name + length - 3, ".xz") == 0)) length -= 3;
    return length >= end && strncmp(name + length - end, ending, end) == 0;
}

int graphical_load(const char *name, double hard, graphical_model *model, char *error, size_t error_size) {
    static const char *const generators[] = {"random:", "scalefree:", "grid:"};
    size_t k;
    for (k = 0; k < sizeof generators / sizeof *generators; k++)
        if (strncmp(name, generators[k], strlen(generators[k])) == 0)
            return graphical_generate(name, hard, model, error, error_size);
    if (is_file(name, ".uai")) return graphical_read_uai(name, model, error, error_size);
    if (is_file(name, ".cfn")) return graphical_read_cfn(name, model, error, error_size);
    if (is_file(name, ".wcsp") || strcmp(name, "-") == 0 || strncmp(name, "/dev/", 5) == 0)
        return graphical_read_wcsp(name, model, error, error_size);
    snprintf(error, error_size, "%s: neither .wcsp, .cfn nor .uai, nor random:, scalefree: or grid:", name);
    return -1;
}

void graphical_free(graphical_model *model) {
    int32_t k;
    for (k = 0; k < model->functions; k++) {
        gpuopt_elimination_function *f = &model->function[k];
        free((void *)f->scope);
        free((void *)f->tuple);
        free((void *)f->cost);
        free((void *)f->value);
    }
    free(model->function);
    free(model->domain);
    free(model->beside);
    memset(model, 0, sizeof *model);
}

/* Entries of a dense function: the product of its domain sizes. */
static int64_t entries(const graphical_model *model, const gpuopt_elimination_function *f) {
    int64_t count = 1;
    int32_t k;
    for (k = 0; k < f->arity; k++) count *= model->domain[f->scope[k]];
    return count;
}

void graphical_take_logs(graphical_model *model, int sign) {
    int32_t k;
    int64_t e;
    for (k = 0; k < model->functions; k++) {
        gpuopt_elimination_function *f = &model->function[k];
        double *value = (double *)f->value;
        int64_t count = entries(model, f);
        for (e = 0; e < count; e++) value[e] = sign * log(value[e]) + 0.0; /* + 0.0: no negative zeros */
    }
}

/* The place of an assignment in a dense table, or in the list of tuples (the last equal one); -1: it is not there. */
static int64_t find_entry(const graphical_model *model, const gpuopt_elimination_function *f, const int32_t *value) {
    int64_t at = 0;
    int32_t k;
    if (f->tuples < 0) {
        for (k = 0; k < f->arity; k++) at = at * model->domain[f->scope[k]] + value[f->scope[k]];
        return at;
    }
    for (at = f->tuples - 1; at >= 0; at--) {
        for (k = 0; k < f->arity && f->tuple[at * f->arity + k] == value[f->scope[k]]; k++) continue;
        if (k == f->arity) break;
    }
    return at;
}

void graphical_cost(const graphical_model *model, const int32_t *value, int *permitted, int64_t *cost, double *real) {
    int64_t top = model->top ? model->top : INT64_MAX;
    int32_t k;
    *cost = 0;
    *real = 0;
    *permitted = 1;
    for (k = 0; k < model->functions && *permitted; k++) {
        const gpuopt_elimination_function *f = &model->function[k];
        int64_t at = find_entry(model, f, value);
        if (model->type == GPUOPT_COST_DOUBLE) {
            *real += at >= 0 ? f->value[at] : f->default_value;
            *permitted = !isinf(*real);
        } else {
            int64_t c = at >= 0 ? f->cost[at] : f->default_cost;
            *permitted = c < top && (*cost <= 0 || c < top - *cost);
            if (*permitted) *cost += c;
        }
    }
    if (!*permitted) *cost = 0, *real = 0;
}

void graphical_cost_text(const graphical_model *model, int64_t cost, char text[GRAPHICAL_COST_TEXT]) {
    int64_t value = cost + model->shift; /* fits: it is below the file's bound */
    uint64_t size = value < 0 ? 0 - (uint64_t)value : (uint64_t)value, unit = 1;
    int k, minus = value != 0 && (value < 0) != model->maximised;
    for (k = 0; k < model->places; k++) unit *= 10;
    if (model->places == 0) snprintf(text, GRAPHICAL_COST_TEXT, "%s%llu", minus ? "-" : "", (unsigned long long)size);
    else
        snprintf(text, GRAPHICAL_COST_TEXT, "%s%llu.%0*llu", minus ? "-" : "", (unsigned long long)(size / unit),
                 model->places, (unsigned long long)(size % unit));
}

int32_t graphical_named(const graphical_model *model, int32_t variable) {
    int32_t named = model->variables - model->hidden;
    return variable < named ? variable : model->beside[variable - named];
}
