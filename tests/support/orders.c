/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/orders.h"

/* ---- Cost ---- */

order_cost order_cost_of(const gpuopt_elimination_desc *desc, const int32_t *order) {
    const size_t n = (size_t)desc->variables;
    uint8_t *edge = calloc(n * n + 1, 1), *gone = calloc(n + 1, 1);
    int32_t *neighbour = malloc(sizeof *neighbour * (n + 1)), f, i, j, k;
    order_cost c = {0, 0, 0, 0};
    if (!edge || !gone || !neighbour) abort();
    for (f = 0; f < desc->functions; f++)
        for (i = 0; i < desc->function[f].arity; i++)
            for (j = 0; j < desc->function[f].arity; j++)
                edge[(size_t)desc->function[f].scope[i] * n + (size_t)desc->function[f].scope[j]] = 1;
    for (k = 0; k < desc->variables; k++) {
        int32_t v = order[k], count = 0;
        double entries = 1;
        if (v < 0 || v >= desc->variables || gone[v]) {
            c.width = -1;
            break;
        }
        gone[v] = 1;
        for (i = 0; i < desc->variables; i++) {
            if (gone[i] || !edge[(size_t)v * n + (size_t)i]) continue;
            neighbour[count++] = i;
            entries *= desc->domain[i];
        }
        for (i = 0; i < count; i++)
            for (j = 0; j < count; j++) edge[(size_t)neighbour[i] * n + (size_t)neighbour[j]] = 1;
        if (count > c.width) c.width = count;
        if (entries > c.largest) c.largest = entries;
        c.entries += entries;
        c.rows += entries * desc->domain[v];
    }
    free(edge);
    free(gone);
    free(neighbour);
    return c;
}

/* ---- Graphs ---- */

static int read_number(FILE *file, int32_t least, int32_t most, int32_t *value) {
    return fscanf(file, "%d", value) == 1 && *value >= least && *value <= most ? 0 : -1;
}

static int read_scope(FILE *file, int32_t variables, gpuopt_elimination_function *f) {
    int32_t *scope, k;
    if (read_number(file, 0, variables, &f->arity)) return -1;
    f->scope = scope = calloc((size_t)f->arity + 1, sizeof *scope);
    if (!scope) return -1;
    for (k = 0; k < f->arity; k++)
        if (read_number(file, 0, variables - 1, &scope[k])) return -1;
    return 0;
}

int order_graph_read(const char *path, order_graph *graph) {
    FILE *file = path ? fopen(path, "r") : NULL;
    int32_t k, fault;
    memset(graph, 0, sizeof *graph);
    if (!file) return -1;
    fault = read_number(file, 0, 1 << 20, &graph->variables);
    graph->domain = calloc((size_t)graph->variables + 1, sizeof *graph->domain);
    fault |= !graph->domain;
    for (k = 0; !fault && k < graph->variables; k++) fault = read_number(file, 1, 1 << 20, &graph->domain[k]);
    if (!fault) fault = read_number(file, 0, 1 << 20, &graph->functions);
    graph->function = calloc((size_t)(fault ? 0 : graph->functions) + 1, sizeof *graph->function);
    fault |= !graph->function;
    for (k = 0; !fault && k < graph->functions; k++) fault = read_scope(file, graph->variables, &graph->function[k]);
    fclose(file);
    if (fault) order_graph_free(graph);
    return fault ? -1 : 0;
}

void order_graph_free(order_graph *graph) {
    int32_t k;
    for (k = 0; graph->function && k < graph->functions; k++) free((void *)(uintptr_t)graph->function[k].scope);
    free(graph->function);
    free(graph->domain);
    memset(graph, 0, sizeof *graph);
}

gpuopt_elimination_desc order_graph_desc(const order_graph *graph) {
    gpuopt_elimination_desc desc;
    gpuopt_desc_init(&desc, sizeof desc);
    desc.variables = graph->variables;
    desc.domain = graph->domain;
    desc.functions = graph->functions;
    desc.function = graph->function;
    return desc;
}

const order_known order_published[] = {
    {"independentset_rg3", 24, 29.4}, {"independentset_ksg", 29, 38.9}, {"inference_DBN_13", 22, 28.0},
    {"inference_relational_3", 0, 0}, {"surfacecode_d9", 0, 0},         {"surfacecode_d13", 0, 0},
    {"surfacecode_d21", 40, 52.3},    {"nqueens28", 93, 120.7},         {NULL, 0, 0}};
