/* SPDX-License-Identifier: MIT
 *
 * The input of the search for an order: a cover of the interaction graph's edges by maximal cliques. Vertices that can
 * be eliminated first without increasing the width are removed beforehand. Each clique lies within a bucket of every
 * order, so joining its functions beforehand loses nothing.
 */
#ifndef GPUOPT_IMPL_ELIMINATION_ORDER_COVER_H
#define GPUOPT_IMPL_ELIMINATION_ORDER_COVER_H

#include "greedy.h"
#include "sets.h"
#include "../base/tuning.h"

typedef struct gpuopt__elimination_cover {
    gpuopt__elimination_scratch *scratch;
    int32_t vertices; /* of the graph */
    int32_t *first;   /* [vertices] the first `firsts` vertices of the order, eliminated beforehand */
    int32_t firsts;
    uint64_t *adjacent; /* [vertices][graph_words] the remaining graph */
    int32_t graph_words;
    int32_t words;   /* words of a set of columns. The columns of a word have domains of about the same size */
    int32_t columns; /* 64 * words, some of them unused */
    int32_t *vertex; /* [columns] -1: none */
    int32_t *column; /* [vertices] -1: eliminated beforehand */
    int32_t *weight; /* [words] log2 of the domain size */
    gpuopt__elimination_list clique; /* [cliques][words] */
    int32_t cliques;
    void *block;
    uint64_t bytes;
} gpuopt__elimination_cover;

static uint64_t *gpuopt__elimination_cover_clique(const gpuopt__elimination_cover *c, int32_t k) {
    return (uint64_t *)c->clique.data + (int64_t)k * c->words;
}

static uint64_t *gpuopt__elimination_cover_neighbours(const gpuopt__elimination_cover *c, int32_t v) {
    return c->adjacent + (int64_t)v * c->graph_words;
}

static void gpuopt__elimination_cover_cut(gpuopt__elimination_cover *c, gpuopt__arena *arena) {
    const int64_t n = c->vertices;
    c->first = (int32_t *)gpuopt__cut(arena, n, sizeof(int32_t));
    c->column = (int32_t *)gpuopt__cut(arena, n, sizeof(int32_t));
    c->vertex = (int32_t *)gpuopt__cut(arena, c->columns, sizeof(int32_t));
    c->weight = (int32_t *)gpuopt__cut(arena, c->columns / 64, sizeof(int32_t));
    c->adjacent = (uint64_t *)gpuopt__cut(arena, n * c->graph_words, sizeof(uint64_t));
}

/* ---- Reduction ---- */

/* Data of the reduction of the graph. */
typedef struct gpuopt__elimination_reduction {
    const double *size; /* [vertices] domain sizes */
    int32_t *degree;    /* [vertices] */
    int32_t *within;    /* [vertices] its neighbours in the largest known clique that contains it; or fewer */
    uint64_t *look;     /* [graph_words] vertices to examine: all at first, then vertices with changed surroundings */
    uint64_t *later;    /* [graph_words] vertices that may be eliminated but have neighbours of larger domains */
} gpuopt__elimination_reduction;

static void gpuopt__elimination_reduction_cut(const gpuopt__elimination_cover *c, gpuopt__elimination_reduction *r,
                                              gpuopt__arena *arena) {
    r->degree = (int32_t *)gpuopt__cut(arena, c->vertices, sizeof(int32_t));
    r->within = (int32_t *)gpuopt__cut(arena, c->vertices, sizeof(int32_t));
    r->look = (uint64_t *)gpuopt__cut(arena, c->graph_words, sizeof(uint64_t));
    r->later = (uint64_t *)gpuopt__cut(arena, c->graph_words, sizeof(uint64_t));
}

/* Whether v's neighbours are a clique. */
static int gpuopt__elimination_cover_is_simplicial(const gpuopt__elimination_cover *c,
                                                   const gpuopt__elimination_reduction *r, int32_t v) {
    const uint64_t *of_v = gpuopt__elimination_cover_neighbours(c, v);
    int32_t w, k, pass;
    if (r->degree[v] <= 1 || r->within[v] == r->degree[v]) return 1;
    for (pass = 0; pass < 2; pass++) /* first by the neighbours' degrees, which is fast */
        for (w = 0; w < c->graph_words; w++) {
            uint64_t left = of_v[w];
            for (; left; left &= left - 1) {
                const int32_t u = 64 * w + gpuopt__elimination_lowest_bit(left);
                const uint64_t *of_u = gpuopt__elimination_cover_neighbours(c, u);
                if (r->degree[u] < r->degree[v]) return 0;
                for (k = 0; k < c->graph_words && pass == 1; k++)
                    if (of_v[k] & ~of_u[k] & ~(k == w ? left & (0 - left) : 0)) return 0;
            }
        }
    return 1;
}

/* Whether v may be eliminated first; 0: no. Its neighbours must be a clique. Or there are two neighbours, and v's
 * domain is at least as large as one of theirs, so that the new table is not larger than a replaced one. With equal
 * domains this keeps the least width, from 2 on (Bodlaender, Koster, van den Eijkhof: Preprocessing rules for
 * triangulation of probabilistic networks, 2005). 2: in addition no neighbour has a larger domain and should go
 * first. */
static int gpuopt__elimination_cover_is_simple(const gpuopt__elimination_cover *c,
                                               const gpuopt__elimination_reduction *r, int32_t v) {
    const uint64_t *of_v = gpuopt__elimination_cover_neighbours(c, v);
    const int clique = gpuopt__elimination_cover_is_simplicial(c, r, v);
    double least = HUGE_VAL, most = 0;
    int32_t w;
    if (!clique && r->degree[v] != 2) return 0;
    for (w = 0; w < c->graph_words; w++) {
        uint64_t left = of_v[w];
        for (; left; left &= left - 1) {
            const double size = r->size[64 * w + gpuopt__elimination_lowest_bit(left)];
            if (size < least) least = size;
            if (size > most) most = size;
        }
    }
    return r->size[v] >= most ? 2 : clique || r->size[v] >= least;
}

/* Eliminates v. Its neighbours are a clique, or two. */
static void gpuopt__elimination_cover_eliminate(gpuopt__elimination_cover *c, gpuopt__elimination_reduction *r,
                                                int32_t v) {
    uint64_t *of_v = gpuopt__elimination_cover_neighbours(c, v);
    const int32_t degree = r->degree[v];
    int32_t w, end[2] = {-1, -1}, count = 0;
    for (w = 0; w < c->graph_words; w++) {
        uint64_t left = of_v[w];
        r->look[w] |= left;
        for (; left; left &= left - 1) {
            const int32_t u = 64 * w + gpuopt__elimination_lowest_bit(left);
            if (count < 2) end[count] = u;
            count++;
            gpuopt__elimination_set_remove(gpuopt__elimination_cover_neighbours(c, u), v);
            r->degree[u]--;
            r->within[u]--; /* v may have been in that clique; u is also in the clique of all of v's neighbours */
            if (r->within[u] < degree - 1) r->within[u] = degree - 1;
        }
        of_v[w] = 0;
    }
    if (degree == 2 && !gpuopt__elimination_set_has(gpuopt__elimination_cover_neighbours(c, end[0]), end[1])) {
        uint64_t *of_0 = gpuopt__elimination_cover_neighbours(c, end[0]),
                 *of_1 = gpuopt__elimination_cover_neighbours(c, end[1]);
        for (w = 0; w < c->graph_words; w++)
            r->look[w] |= of_0[w] & of_1[w]; /* have two neighbours that the elimination has joined */
        gpuopt__elimination_set_add(of_0, end[1]);
        gpuopt__elimination_set_add(of_1, end[0]);
        r->degree[end[0]]++;
        r->degree[end[1]]++;
    }
    c->column[v] = -1;
    c->first[c->firsts++] = v;
}

/* The lowest member of a set that is not below `from`; -1: there is none. */
static int32_t gpuopt__elimination_cover_next(const gpuopt__elimination_cover *c, const uint64_t *set, int32_t from) {
    int32_t w = from >> 6;
    uint64_t left;
    if (w >= c->graph_words) return -1;
    for (left = set[w] & UINT64_MAX << (from & 63); !left; left = set[w])
        if (++w == c->graph_words) return -1;
    return 64 * w + gpuopt__elimination_lowest_bit(left);
}

/* Passes over the vertices to examine, in ascending order; then eliminates one with a neighbour of larger domain, and
 * repeats. */
static void gpuopt__elimination_cover_pass(gpuopt__elimination_cover *c, gpuopt__elimination_reduction *r) {
    int32_t v;
    do {
        while ((v = gpuopt__elimination_cover_next(c, r->look, 0)) >= 0)
            for (; v >= 0; v = gpuopt__elimination_cover_next(c, r->look, v + 1)) {
                const int simple = gpuopt__elimination_cover_is_simple(c, r, v);
                gpuopt__elimination_set_remove(r->look, v);
                if (simple == 2) gpuopt__elimination_cover_eliminate(c, r, v);
                if (simple == 1) gpuopt__elimination_set_add(r->later, v);
            }
        v = gpuopt__elimination_cover_next(c, r->later, 0);
        if (v < 0) continue;
        gpuopt__elimination_set_remove(r->later, v);
        if (c->column[v] >= 0 && gpuopt__elimination_cover_is_simple(c, r, v))
            gpuopt__elimination_cover_eliminate(c, r, v);
    } while (v >= 0);
}

/* Eliminates the vertices that can be eliminated first. */
static gpuopt_status gpuopt__elimination_cover_reduce(gpuopt__elimination_cover *c,
                                                      const gpuopt__elimination_greedy *graph) {
    gpuopt__elimination_reduction r;
    gpuopt__arena arena = {NULL, 0};
    void *block;
    int32_t v;
    gpuopt__elimination_reduction_cut(c, &r, &arena);
    block = gpuopt__elimination_scratch_block(c->scratch, &arena);
    if (!block) return c->scratch->status;
    gpuopt__elimination_reduction_cut(c, &r, &arena);
    r.size = graph->size;
    memset(r.look, 0, sizeof(uint64_t) * (size_t)c->graph_words);
    memset(r.later, 0, sizeof(uint64_t) * (size_t)c->graph_words);
    for (v = 0; v < c->vertices; v++) {
        c->column[v] = 0;
        r.degree[v] = (int32_t)(graph->start[v + 1] - graph->start[v]);
        r.within[v] = 0;
        gpuopt__elimination_set_add(r.look, v);
    }
    gpuopt__elimination_cover_pass(c, &r);
    gpuopt__elimination_scratch_give(c->scratch, block, arena.used);
    return GPUOPT_OK;
}

/* ---- Columns and cliques ---- */

/* The least domain size above `above`, HUGE_VAL: there is none. */
static double gpuopt__elimination_cover_next_size(const gpuopt__elimination_greedy *graph, double above) {
    double next = HUGE_VAL;
    int32_t v;
    for (v = 0; v < graph->vertices; v++)
        if (graph->size[v] > above && graph->size[v] < next) next = graph->size[v];
    return next;
}

/* Sizes up to the returned one count as `size`: with few classes of sizes, sets have few words. */
static double gpuopt__elimination_cover_same_size(double size) { return size * 1.1; }

/* Numbers the remaining vertices by the size of the domain, in the order known so far. */
static void gpuopt__elimination_cover_number(gpuopt__elimination_cover *c, const gpuopt__elimination_greedy *graph,
                                             const int32_t *order) {
    double next = 0, most = 0;
    int32_t k, at = 0;
    for (k = 0; k < c->columns; k++) c->vertex[k] = -1;
    while ((next = gpuopt__elimination_cover_next_size(graph, most)) < HUGE_VAL) {
        most = gpuopt__elimination_cover_same_size(next);
        for (k = 0; k < c->vertices; k++) {
            int32_t v = order[k];
            if (c->column[v] < 0 || graph->size[v] < next || graph->size[v] > most) continue;
            c->vertex[at] = v;
            c->column[v] = at;
            c->weight[at / 64] = gpuopt__elimination_log2(next);
            at++;
        }
        at = (at + 63) / 64 * 64;
    }
    c->columns = at;
    c->words = at / 64;
}

/* Data of the search for cliques. */
typedef struct gpuopt__elimination_cover_search {
    uint64_t *covered; /* [vertices][graph_words] edges within a clique already */
    uint64_t *common;  /* [graph_words] neighbours of all members of a clique */
    int32_t *member;   /* [vertices] */
} gpuopt__elimination_cover_search;

static void gpuopt__elimination_cover_search_cut(const gpuopt__elimination_cover *c,
                                                 gpuopt__elimination_cover_search *s, gpuopt__arena *arena) {
    s->covered = (uint64_t *)gpuopt__cut(arena, (int64_t)c->vertices * c->graph_words, sizeof(uint64_t));
    s->common = (uint64_t *)gpuopt__cut(arena, c->graph_words, sizeof(uint64_t));
    s->member = (int32_t *)gpuopt__cut(arena, c->vertices, sizeof(int32_t));
}

/* Adds a maximal clique that contains the edge a - b. */
static gpuopt_status gpuopt__elimination_cover_add(gpuopt__elimination_cover *c, gpuopt__elimination_cover_search *s,
                                                   int32_t a, int32_t b) {
    uint64_t *clique = (uint64_t *)gpuopt__elimination_list_add(c->scratch, &c->clique, c->words);
    int32_t w, k, j, u = b, count = 1;
    if (!clique) return c->scratch->status;
    c->cliques++;
    memcpy(s->common, gpuopt__elimination_cover_neighbours(c, a), sizeof(uint64_t) * (size_t)c->graph_words);
    for (s->member[0] = a; u >= 0; s->member[count++] = b) {
        const uint64_t *of_u = gpuopt__elimination_cover_neighbours(c, u);
        b = u;
        for (u = -1, w = 0; w < c->graph_words; w++) {
            s->common[w] &= of_u[w];
            if (u < 0 && s->common[w]) u = 64 * w + gpuopt__elimination_lowest_bit(s->common[w]);
        }
    }
    for (k = 0; k < count; k++) {
        uint64_t *covered = s->covered + (int64_t)s->member[k] * c->graph_words;
        gpuopt__elimination_set_add(clique, c->column[s->member[k]]);
        for (j = 0; j < count; j++) gpuopt__elimination_set_add(covered, s->member[j]);
    }
    return GPUOPT_OK;
}

/* Covers all remaining edges. If the cliques become too many, there is no cover. */
static gpuopt_status gpuopt__elimination_cover_find(gpuopt__elimination_cover *c) {
    gpuopt__elimination_cover_search s;
    gpuopt__arena arena = {NULL, 0};
    gpuopt_status status = GPUOPT_OK;
    void *block;
    int32_t k, w;
    gpuopt__elimination_cover_search_cut(c, &s, &arena);
    block = gpuopt__elimination_scratch_block(c->scratch, &arena);
    if (!block) return c->scratch->status;
    gpuopt__elimination_cover_search_cut(c, &s, &arena);
    memset(s.covered, 0, sizeof(uint64_t) * (size_t)c->vertices * (size_t)c->graph_words);
    for (k = 0; k < c->columns && !status; k++) {
        int32_t v = c->vertex[k];
        for (w = 0; v >= 0 && w < c->graph_words && !status; w++) {
            const uint64_t *covered = s.covered + (int64_t)v * c->graph_words + w,
                           *edges = gpuopt__elimination_cover_neighbours(c, v) + w;
            while (!status && *edges & ~*covered && c->clique.count <= GPUOPT__ELIMINATION_COVER_WORDS)
                status = gpuopt__elimination_cover_add(c, &s, v,
                                                       64 * w + gpuopt__elimination_lowest_bit(*edges & ~*covered));
        }
    }
    if (c->clique.count > GPUOPT__ELIMINATION_COVER_WORDS) c->cliques = 0;
    gpuopt__elimination_scratch_give(c->scratch, block, arena.used);
    return status;
}

/* ---- Life ---- */

static void gpuopt__elimination_cover_free(gpuopt__elimination_cover *c) {
    gpuopt__elimination_list_free(c->scratch, &c->clique);
    gpuopt__elimination_scratch_give(c->scratch, c->block, c->bytes);
}

/* Makes the cover of a graph; order [vertices]: any order of its vertices with near vertices near one another. The
 * cover must be freed in any case. */
static gpuopt_status gpuopt__elimination_cover_make(gpuopt__elimination_cover *c,
                                                    const gpuopt__elimination_greedy *graph, const int32_t *order) {
    gpuopt__arena arena = {NULL, 0};
    double size, most = 0;
    int32_t v;
    int64_t e;
    gpuopt_status status;
    memset(c, 0, sizeof *c);
    c->scratch = graph->scratch;
    c->clique.size = sizeof(uint64_t);
    c->vertices = graph->vertices;
    c->graph_words = (c->vertices + 63) / 64;
    c->columns = 64 * c->graph_words;
    while ((size = gpuopt__elimination_cover_next_size(graph, most)) < HUGE_VAL) {
        most = gpuopt__elimination_cover_same_size(size);
        c->columns += 64;
    }
    gpuopt__elimination_cover_cut(c, &arena);
    c->bytes = arena.used;
    c->block = gpuopt__elimination_scratch_block(c->scratch, &arena);
    if (!c->block) return c->scratch->status;
    gpuopt__elimination_cover_cut(c, &arena);
    memset(c->adjacent, 0, sizeof(uint64_t) * (size_t)c->vertices * (size_t)c->graph_words);
    for (v = 0; v < c->vertices; v++)
        for (e = graph->start[v]; e < graph->start[v + 1]; e++)
            gpuopt__elimination_set_add(gpuopt__elimination_cover_neighbours(c, v), graph->adjacent[e]);
    status = gpuopt__elimination_cover_reduce(c, graph);
    if (status) return status;
    gpuopt__elimination_cover_number(c, graph, order);
    return gpuopt__elimination_cover_find(c);
}

#endif /* GPUOPT_IMPL_ELIMINATION_ORDER_COVER_H */
