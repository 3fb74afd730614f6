/* SPDX-License-Identifier: MIT
 *
 * The random binary models of the measurements of elimination (Fioretto et al. 2018, section 8.1), to the bit: one
 * splitmix64 stream a model for the graph and the costs, in this order, and one for forbidden entries. All variables
 * have D values, each edge has a dense table of costs from 0 to 100, uniform, and the graph is connected.
 *   random:N:D:P1:SEED   floor(N (N - 1) / 2 * P1) edges (the paper's formula lacks the half, its tables do not), N - 1
 *                        at least: a random tree, then edges drawn from all that are not there yet
 *   scalefree:N:D:SEED   Barabasi and Albert: from two connected nodes on, each new one is connected to two others, a
 *                        node being drawn as often as it has edges; 2 (N - 2) + 1 edges
 *   grid:N:D:SEED        N x N, row after row; each node with its right and lower neighbour
 * In addition a share of each table is forbidden; the other costs stay unchanged.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/io/graphical.h"

static const int64_t least_top = 1000000000; /* of models with forbidden entries */
enum { MOST_COST = 100 };

/* ---- Numbers ---- */

static uint64_t draw(uint64_t *state) {
    uint64_t z = (*state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static int64_t below(uint64_t *state, int64_t n) { return (int64_t)(draw(state) % (uint64_t)n); }

/* ---- Graphs ---- */

typedef struct graph {
    int32_t nodes;
    int64_t edges;
    int32_t (*edge)[2]; /* [edges] */
    uint64_t state;
} graph;

static void connect(graph *g, int64_t a, int64_t b) {
    g->edge[g->edges][0] = (int32_t)(a < b ? a : b);
    g->edge[g->edges++][1] = (int32_t)(a < b ? b : a);
}

/* Open addressing; a pair is a * nodes + b + 1, with a < b. */
static int insert(uint64_t *pairs, uint64_t capacity, const graph *g, int64_t a, int64_t b) {
    uint64_t pair = (uint64_t)(a < b ? a : b) * (uint64_t)g->nodes + (uint64_t)(a < b ? b : a) + 1;
    uint64_t hash = pair, at;
    for (at = draw(&hash) % capacity; pairs[at]; at = (at + 1) % capacity)
        if (pairs[at] == pair) return 0;
    pairs[at] = pair;
    return 1;
}

static int draw_random(graph *g, int64_t wanted) {
    uint64_t capacity = 2 * (uint64_t)wanted + 1, *pairs = calloc(capacity, sizeof *pairs);
    int32_t *node = malloc(sizeof *node * (size_t)g->nodes), k;
    int failed = !pairs || !node;
    for (k = 0; k < g->nodes && !failed; k++) { /* shuffled, each node is connected to one before it */
        int64_t at = below(&g->state, k + 1);
        node[k] = node[at];
        node[at] = k;
    }
    for (k = 1; k < g->nodes && !failed; k++) {
        int64_t other = node[below(&g->state, k)];
        insert(pairs, capacity, g, node[k], other);
        connect(g, node[k], other);
    }
    while (g->edges < wanted && !failed) {
        int64_t a = below(&g->state, g->nodes), b = below(&g->state, g->nodes);
        if (a != b && insert(pairs, capacity, g, a, b)) connect(g, a, b);
    }
    free(pairs);
    free(node);
    return failed;
}

static int draw_scalefree(graph *g) {
    int32_t k;
    if (g->nodes > 1) connect(g, 0, 1);
    for (k = 2; k < g->nodes; k++) {
        const int32_t *end = g->edge[0]; /* of all edges so far: each node as often as it has edges */
        int64_t ends = 2 * g->edges;
        int32_t a = end[below(&g->state, ends)], b = a;
        while (b == a) b = end[below(&g->state, ends)];
        connect(g, a, k);
        connect(g, b, k);
    }
    return 0;
}

static int draw_grid(graph *g, int32_t n) {
    int32_t row, col;
    for (row = 0; row < n; row++)
        for (col = 0; col < n; col++) {
            int64_t at = (int64_t)row * n + col;
            if (col + 1 < n) connect(g, at, at + 1);
            if (row + 1 < n) connect(g, at, at + n);
        }
    return 0;
}

/* ---- Tables ---- */

/* Forbids floor(hard * entries + 1/2) entries, drawn without repetition: an entry is taken with its remaining
 * probability. */
static void forbid(uint64_t *state, double hard, int64_t entries, int64_t top, int64_t *cost) {
    int64_t left = (int64_t)floor(hard * (double)entries + 0.5), at;
    for (at = 0; at < entries && left > 0; at++)
        if (below(state, entries - at) < left) {
            cost[at] = top;
            left--;
        }
}

/* One function for each edge. */
static int fill(graphical_model *model, graph *g, int32_t d, double hard, uint64_t seed) {
    int64_t entries = (int64_t)d * d, e, at;
    uint64_t hard_state = ~seed;
    int32_t k;
    model->domain = malloc(sizeof *model->domain * (size_t)g->nodes);
    model->function = calloc((size_t)g->edges + 1, sizeof *model->function);
    if (!model->domain || !model->function) return -1;
    model->variables = g->nodes;
    model->max_domain = d;
    for (k = 0; k < g->nodes; k++) model->domain[k] = d;
    if (hard > 0) {
        int64_t most = g->edges * MOST_COST + 1;
        model->top = most > least_top ? most : least_top;
    }
    for (e = 0; e < g->edges; e++) {
        gpuopt_elimination_function *f = &model->function[model->functions++];
        int32_t *scope = malloc(2 * sizeof *scope);
        int64_t *cost = malloc(sizeof *cost * (size_t)entries);
        f->arity = 2;
        f->tuples = -1;
        f->scope = scope;
        f->cost = cost;
        if (!scope || !cost) return -1;
        memcpy(scope, g->edge[e], 2 * sizeof *scope);
        for (at = 0; at < entries; at++) cost[at] = below(&g->state, MOST_COST + 1);
        forbid(&hard_state, hard, entries, model->top, cost);
    }
    return 0;
}

/* ---- Names ---- */

static int whole(const char **at, int64_t most, int64_t *value) {
    char *rest;
    if (**at < '0' || **at > '9') return 0;
    *value = strtoll(*at, &rest, 10);
    *at = rest;
    return *value >= 1 && *value <= most && *(*at)++ == ':';
}

/* KIND:N:D[:P1]:SEED; the seed has up to 64 bits. */
static int read_name(const char *name, int has_density, int64_t *n, int64_t *d, double *density, uint64_t *seed) {
    const char *at = strchr(name, ':') + 1;
    char *rest;
    if (!whole(&at, 1 << 24, n) || !whole(&at, 1 << 15, d)) return 0;
    if (has_density) {
        *density = strtod(at, &rest);
        if (rest == at || !(*density >= 0 && *density <= 1) || *rest != ':') return 0;
        at = rest + 1;
    }
    if (*at < '0' || *at > '9') return 0;
    *seed = strtoull(at, &rest, 10);
    return *rest == 0;
}

int graphical_generate(const char *name, double hard, graphical_model *model, char *error, size_t error_size) {
    int64_t n, d, edges;
    double density = 0;
    graph g;
    uint64_t seed;
    char kind = name[0];
    int failed = 1;
    memset(model, 0, sizeof *model);
    memset(&g, 0, sizeof g);
    if (!read_name(name, kind == 'r', &n, &d, &density, &seed) || (kind == 'g' && n > 1 << 12)) {
        snprintf(error, error_size, "%s: no such model (%s)", name,
                 kind == 'r'   ? "random:N:D:P1:SEED, with 0 <= P1 <= 1"
                 : kind == 's' ? "scalefree:N:D:SEED"
                               : "grid:N:D:SEED, with N <= 4096");
        return -1;
    }
    g.state = seed;
    g.nodes = (int32_t)(kind == 'g' ? n * n : n);
    edges = kind == 'g' ? 2 * n * (n - 1) : kind == 's' ? 2 * n : (int64_t)floor((double)(n * (n - 1) / 2) * density);
    if (edges < n - 1) edges = n - 1;
    if (edges < INT32_MAX) g.edge = malloc(sizeof *g.edge * ((size_t)edges + 1));
    if (g.edge)
        failed = kind == 'g' ? draw_grid(&g, (int32_t)n) : kind == 's' ? draw_scalefree(&g) : draw_random(&g, edges);
    if (!failed) failed = fill(model, &g, (int32_t)d, hard, seed);
    free(g.edge);
    if (!failed) return 0;
    graphical_free(model);
    snprintf(error, error_size, "%s: out of memory", name);
    return -1;
}
