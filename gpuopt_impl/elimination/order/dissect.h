/* SPDX-License-Identifier: MIT
 *
 * Several dissections of a graph, from different ends and with separators that are more or less in the middle, and the
 * best order of them.
 */
#ifndef GPUOPT_IMPL_ELIMINATION_ORDER_DISSECT_H
#define GPUOPT_IMPL_ELIMINATION_ORDER_DISSECT_H

#include "cover.h"
#include "flow.h"
#include "rotate.h"

typedef struct gpuopt__elimination_dissection {
    gpuopt__elimination_flow flow; /* the graph to dissect, and the limits */
    int64_t edges;
    int64_t *start;    /* [flow.vertices + 1] */
    int32_t *adjacent; /* [edges] */
    int32_t *vertex;   /* [flow.vertices] number in the whole graph */
    int32_t *number;   /* [all vertices] number in the graph to dissect */
    int32_t *order;    /* [all vertices] */
} gpuopt__elimination_dissection;

static void gpuopt__elimination_dissection_cut(gpuopt__elimination_dissection *d, int32_t vertices,
                                               gpuopt__arena *arena) {
    gpuopt__elimination_flow_cut(&d->flow, arena);
    d->start = (int64_t *)gpuopt__cut(arena, (int64_t)d->flow.vertices + 1, sizeof(int64_t));
    d->adjacent = (int32_t *)gpuopt__cut(arena, d->edges, sizeof(int32_t));
    d->vertex = (int32_t *)gpuopt__cut(arena, d->flow.vertices, sizeof(int32_t));
    d->number = (int32_t *)gpuopt__cut(arena, vertices, sizeof(int32_t));
    d->order = (int32_t *)gpuopt__cut(arena, vertices, sizeof(int32_t));
}

/* Counts the edges, in both directions, of the graph that a cover leaves; with `fill` lists them. */
static void gpuopt__elimination_dissection_edges(gpuopt__elimination_dissection *d, const gpuopt__elimination_cover *c,
                                                 int fill) {
    int32_t k, w;
    d->edges = 0;
    for (k = 0; k < c->vertices; k++) {
        const uint64_t *of_k = gpuopt__elimination_cover_neighbours(c, k);
        if (c->column[k] < 0) continue;
        if (fill) d->start[d->number[k]] = d->edges;
        for (w = 0; w < c->graph_words; w++) {
            uint64_t set = of_k[w];
            for (; set; set &= set - 1) {
                if (fill) d->adjacent[d->edges] = d->number[64 * w + gpuopt__elimination_lowest_bit(set)];
                d->edges++;
            }
        }
    }
    if (fill) d->start[d->flow.vertices] = d->edges;
}

static int gpuopt__elimination_dissection_compare(const void *a, const void *b) {
    const int32_t of_a = ((const int32_t *)a)[0], of_b = ((const int32_t *)b)[0];
    return of_a < of_b ? -1 : of_a > of_b;
}

/* Orders the vertices by the caller's numbers of their variables, variable [vertices of the whole graph]. Models are
 * often numbered along their structure, for example grids row by row. */
static void gpuopt__elimination_dissection_numbered(gpuopt__elimination_dissection *d, const int32_t *variable) {
    gpuopt__elimination_flow *f = &d->flow;
    int32_t *pair = f->reached, k; /* [2 * flow.vertices], free at this time */
    for (k = 0; k < f->vertices; k++) {
        pair[2 * k] = variable[d->vertex[k]];
        pair[2 * k + 1] = k;
    }
    gpuopt__elimination_sort(pair, f->vertices, 2 * sizeof *pair, gpuopt__elimination_dissection_compare);
    for (k = 0; k < f->vertices; k++) f->place[k] = pair[2 * k + 1];
    gpuopt__elimination_flow_hasten(f);
}

/* Attempt k = 0, 1, ... Returns whether there was time. */
static int gpuopt__elimination_dissection_try(gpuopt__elimination_dissection *d, int32_t k, uint64_t seed) {
    static const int32_t share[8] = {64, 24, 64, 8, 32, 12, 48, 24};
    gpuopt__elimination_flow *f = &d->flow;
    int32_t from = (int32_t)(gpuopt__random(seed, (uint64_t)k) * f->vertices);
    f->nested = k % 4 == 2;
    gpuopt__elimination_flow_begin(f);
    if (k / 4 % 2 == 0) from = gpuopt__elimination_flow_farthest(f, from);
    return gpuopt__elimination_flow_run(f, from, share[k % 8]);
}

/* Makes up to `tries` dissections of the tree's graph. With a cover: of the graph that the cover leaves, behind the
 * vertices it eliminates first; NULL: of the whole graph. The best of these orders and the order of the variables'
 * numbers goes to `order` [vertices] if it improves its score. limits: a flow with only its limits; scans: how many
 * were made. */
static gpuopt_status gpuopt__elimination_dissect(gpuopt__elimination_tree *tree, const gpuopt__elimination_cover *cover,
                                                 const gpuopt__elimination_flow *limits, int32_t tries, uint64_t seed,
                                                 int32_t *order, gpuopt__elimination_order_score *score,
                                                 int64_t *scans) {
    const gpuopt__elimination_greedy *graph = tree->graph;
    const int32_t n = graph->vertices, firsts = cover ? cover->firsts : 0;
    gpuopt__elimination_dissection d;
    gpuopt__elimination_flow *f = &d.flow;
    gpuopt__arena arena = {NULL, 0};
    gpuopt_status status = GPUOPT_OK;
    void *block;
    int32_t k, j, count = 0;
    memset(&d, 0, sizeof d);
    *f = *limits;
    f->vertices = n - firsts;
    if (cover) gpuopt__elimination_dissection_edges(&d, cover, 0);
    gpuopt__elimination_dissection_cut(&d, n, &arena);
    block = gpuopt__elimination_scratch_block(graph->scratch, &arena);
    if (!block) return graph->scratch->status;
    gpuopt__elimination_dissection_cut(&d, n, &arena);
    for (k = 0; k < n; k++) {
        if (cover && cover->column[k] < 0) continue;
        d.number[k] = count;
        d.vertex[count++] = k;
    }
    if (cover) {
        gpuopt__elimination_dissection_edges(&d, cover, 1);
        memcpy(d.order, cover->first, sizeof(int32_t) * (size_t)firsts);
    }
    f->start = cover ? d.start : graph->start;
    f->adjacent = cover ? d.adjacent : graph->adjacent;
    for (k = -1; k < tries && !status; k++) {
        gpuopt__elimination_order_score got;
        if (k < 0) gpuopt__elimination_dissection_numbered(&d, graph->variable);
        else if (!gpuopt__elimination_dissection_try(&d, k, seed)) break;
        for (j = 0; j < f->vertices; j++) d.order[firsts + j] = d.vertex[f->place[j]];
        status = gpuopt__elimination_tree_build(tree, d.order, score, &got);
        if (status || !gpuopt__elimination_score_better(&got, score)) continue;
        *score = got;
        memcpy(order, d.order, sizeof(int32_t) * (size_t)n);
    }
    *scans = f->scans;
    gpuopt__elimination_scratch_give(graph->scratch, block, arena.used);
    return status;
}

#endif /* GPUOPT_IMPL_ELIMINATION_ORDER_DISSECT_H */
