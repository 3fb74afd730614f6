/* SPDX-License-Identifier: MIT
 *
 * Greedy elimination orders: min-fill, weighted min-fill, min-degree. The fill of each vertex is updated as edges are
 * added and vertices eliminated, so a step looks only at vertices within distance two.
 */
#ifndef GPUOPT_IMPL_ELIMINATION_ORDER_GREEDY_H
#define GPUOPT_IMPL_ELIMINATION_ORDER_GREEDY_H

#include <float.h>

#include "sets.h"
#include "watch.h"
#include "../base/scratch.h"
#include "../base/tuning.h"

/* Entries and operations are counted in double and may be infinite. */
typedef struct gpuopt__elimination_order_score {
    int32_t width;     /* most neighbours of a variable at its elimination */
    double operations; /* sum over variables of the product of their domain size and their neighbours' */
    double largest;    /* largest message, entries */
    double entries;    /* sum of messages */
} gpuopt__elimination_order_score;

/* Adds to a score the elimination of a variable with this many neighbours; returns the joined rows of its bucket. */
static double gpuopt__elimination_score_bucket(gpuopt__elimination_order_score *score, int32_t neighbours,
                                               double message, double size) {
    double rows = message * size;
    if (score->width < neighbours) score->width = neighbours;
    if (score->largest < message) score->largest = message;
    score->entries += message;
    score->operations += rows;
    return rows;
}

/* The criterion for comparing orders: log2 of the operations times the entries of the largest message. An order with a
 * smaller table may take a few more operations, and vice versa. */
static double gpuopt__elimination_score_cost(const gpuopt__elimination_order_score *score) {
    if (!(score->operations <= DBL_MAX)) return HUGE_VAL;
    return (double)gpuopt__elimination_log2(score->operations) + gpuopt__elimination_log2(score->largest);
}

static int gpuopt__elimination_score_better(const gpuopt__elimination_order_score *a,
                                            const gpuopt__elimination_order_score *b) {
    double of_a = gpuopt__elimination_score_cost(a), of_b = gpuopt__elimination_score_cost(b);
    return of_a != of_b ? of_a < of_b : a->operations < b->operations;
}

typedef struct gpuopt__elimination_greedy {
    gpuopt__elimination_scratch *scratch;
    int32_t vertices;
    int32_t *variable;      /* [vertices] */
    double *size;           /* [vertices] domain sizes */
    uint64_t *weight[2];    /* [vertices] 1; domain sizes, at most 65535: sums of products fit */
    uint64_t *missing_0[2]; /* [vertices] as `missing`, of the whole graph */
    int64_t *start;         /* [vertices + 1] the whole graph */
    int32_t *adjacent;      /* [start[vertices]] */
    /* The remaining graph. Lists may still contain eliminated vertices. */
    int64_t *at;                /* [vertices] in pool */
    int32_t *length, *capacity; /* [vertices] */
    int32_t *pool;
    int64_t pool_used, pool_capacity;
    uint8_t *gone;
    uint64_t *around;  /* sum of the neighbours' weights */
    uint64_t *missing; /* sum of products of weights over pairs of neighbours without an edge between them */
    /* The heap, ordered by key, then by tie. */
    int by_degree;
    uint64_t *key;
    uint32_t *tie;
    int32_t *heap, *position, left;
    int32_t *mark, stamp;
    int32_t *touched, touches;
    uint8_t *is_touched;
    int32_t *front;        /* neighbours of the vertex in elimination */
    int32_t *order, *best; /* [vertices] */
} gpuopt__elimination_greedy;

/* ---- Memory ---- */

static void gpuopt__elimination_greedy_cut(gpuopt__elimination_greedy *s, gpuopt__arena *arena, int32_t n) {
    int k;
    s->variable = (int32_t *)gpuopt__cut(arena, n, sizeof(int32_t));
    s->size = (double *)gpuopt__cut(arena, n, sizeof(double));
    for (k = 0; k < 2; k++) {
        s->weight[k] = (uint64_t *)gpuopt__cut(arena, n, sizeof(uint64_t));
        s->missing_0[k] = (uint64_t *)gpuopt__cut(arena, n, sizeof(uint64_t));
    }
    s->start = (int64_t *)gpuopt__cut(arena, n + 1, sizeof(int64_t));
    s->at = (int64_t *)gpuopt__cut(arena, n, sizeof(int64_t));
    s->length = (int32_t *)gpuopt__cut(arena, n, sizeof(int32_t));
    s->capacity = (int32_t *)gpuopt__cut(arena, n, sizeof(int32_t));
    s->gone = (uint8_t *)gpuopt__cut(arena, n, 1);
    s->key = (uint64_t *)gpuopt__cut(arena, n, sizeof(uint64_t));
    s->around = (uint64_t *)gpuopt__cut(arena, n, sizeof(uint64_t));
    s->missing = (uint64_t *)gpuopt__cut(arena, n, sizeof(uint64_t));
    s->tie = (uint32_t *)gpuopt__cut(arena, n, sizeof(uint32_t));
    s->heap = (int32_t *)gpuopt__cut(arena, n, sizeof(int32_t));
    s->position = (int32_t *)gpuopt__cut(arena, n, sizeof(int32_t));
    s->mark = (int32_t *)gpuopt__cut(arena, n, sizeof(int32_t));
    s->touched = (int32_t *)gpuopt__cut(arena, n, sizeof(int32_t));
    s->is_touched = (uint8_t *)gpuopt__cut(arena, n, 1);
    s->front = (int32_t *)gpuopt__cut(arena, n, sizeof(int32_t));
    s->order = (int32_t *)gpuopt__cut(arena, n, sizeof(int32_t));
    s->best = (int32_t *)gpuopt__cut(arena, n, sizeof(int32_t));
}

static gpuopt_status gpuopt__elimination_greedy_reserve(gpuopt__elimination_greedy *s, int64_t more) {
    int64_t capacity = 2 * (s->pool_used + more);
    int32_t *pool;
    if (s->pool_used + more <= s->pool_capacity) return GPUOPT_OK;
    pool = (int32_t *)gpuopt__elimination_scratch_take(s->scratch, sizeof(int32_t) * (uint64_t)capacity);
    if (!pool) return s->scratch->status;
    if (s->pool_used) memcpy(pool, s->pool, sizeof(int32_t) * (size_t)s->pool_used);
    gpuopt__elimination_scratch_give(s->scratch, s->pool, sizeof(int32_t) * (uint64_t)s->pool_capacity);
    s->pool = pool;
    s->pool_capacity = capacity;
    return GPUOPT_OK;
}

static gpuopt_status gpuopt__elimination_greedy_append(gpuopt__elimination_greedy *s, int32_t a, int32_t b) {
    if (s->length[a] == s->capacity[a]) {
        int32_t capacity = 2 * s->length[a] + 8;
        gpuopt_status status = gpuopt__elimination_greedy_reserve(s, capacity);
        if (status) return status;
        memcpy(s->pool + s->pool_used, s->pool + s->at[a], sizeof(int32_t) * (size_t)s->length[a]);
        s->at[a] = s->pool_used;
        s->capacity[a] = capacity;
        s->pool_used += capacity;
    }
    s->pool[s->at[a] + s->length[a]++] = b;
    return GPUOPT_OK;
}

/* ---- Heap ---- */

static int gpuopt__elimination_greedy_before(const gpuopt__elimination_greedy *s, int32_t a, int32_t b) {
    return s->key[a] != s->key[b] ? s->key[a] < s->key[b] : s->tie[a] != s->tie[b] ? s->tie[a] < s->tie[b] : a < b;
}

static void gpuopt__elimination_greedy_place(gpuopt__elimination_greedy *s, int32_t v, int32_t i) {
    s->heap[i] = v;
    s->position[v] = i;
}

static void gpuopt__elimination_greedy_sift_down(gpuopt__elimination_greedy *s, int32_t v, int32_t i) {
    for (;;) {
        int32_t child = 2 * i + 1;
        if (child >= s->left) break;
        if (child + 1 < s->left && gpuopt__elimination_greedy_before(s, s->heap[child + 1], s->heap[child])) child++;
        if (!gpuopt__elimination_greedy_before(s, s->heap[child], v)) break;
        gpuopt__elimination_greedy_place(s, s->heap[child], i);
        i = child;
    }
    gpuopt__elimination_greedy_place(s, v, i);
}

static void gpuopt__elimination_greedy_sift_up(gpuopt__elimination_greedy *s, int32_t v, int32_t i) {
    while (i > 0 && gpuopt__elimination_greedy_before(s, v, s->heap[(i - 1) / 2])) {
        gpuopt__elimination_greedy_place(s, s->heap[(i - 1) / 2], i);
        i = (i - 1) / 2;
    }
    gpuopt__elimination_greedy_sift_down(s, v, i);
}

/* ---- Elimination ---- */

static void gpuopt__elimination_greedy_touch(gpuopt__elimination_greedy *s, int32_t v) {
    if (s->is_touched[v]) return;
    s->is_touched[v] = 1;
    s->touched[s->touches++] = v;
}

/* Removes eliminated vertices from v's list. */
static void gpuopt__elimination_greedy_compact(gpuopt__elimination_greedy *s, int32_t v) {
    int32_t *list = s->pool + s->at[v];
    int32_t i, kept = 0;
    for (i = 0; i < s->length[v]; i++)
        if (!s->gone[list[i]]) list[kept++] = list[i];
    s->length[v] = kept;
}

/* Adds the edge a - b. The neighbours of a are marked. */
static gpuopt_status gpuopt__elimination_greedy_connect(gpuopt__elimination_greedy *s, const uint64_t *weight,
                                                        int32_t a, int32_t b) {
    const int32_t *list = s->pool + s->at[b];
    uint64_t common = 0, product = weight[a] * weight[b];
    int32_t i;
    gpuopt_status status;
    for (i = 0; i < s->length[b]; i++) {
        int32_t c = list[i];
        if (s->mark[c] != s->stamp) continue;
        common += weight[c];
        s->missing[c] -= product;
        gpuopt__elimination_greedy_touch(s, c);
    }
    s->missing[a] += weight[b] * (s->around[a] - common);
    s->missing[b] += weight[a] * (s->around[b] - common);
    s->around[a] += weight[b];
    s->around[b] += weight[a];
    s->mark[b] = s->stamp;
    status = gpuopt__elimination_greedy_append(s, a, b);
    return status ? status : gpuopt__elimination_greedy_append(s, b, a);
}

/* Eliminates v: its neighbours, front [length[v]], become a clique. */
static gpuopt_status gpuopt__elimination_greedy_eliminate(gpuopt__elimination_greedy *s, const uint64_t *weight,
                                                          int32_t v) {
    const uint64_t *key = s->by_degree ? s->around : s->missing; /* unit weights: the degree */
    uint64_t left = s->missing[v];
    int32_t i, j, k, degree = s->length[v];
    s->touches = 0;
    for (i = 0, j = degree; i < j;) { /* lists the long lists last: the last one need not be searched */
        int32_t a = s->front[i];
        if (s->length[a] <= 16 * degree + 64) i++;
        else {
            s->front[i] = s->front[--j];
            s->front[j] = a;
        }
    }
    for (i = 0; left; i++) {
        int32_t a = s->front[i];
        const int32_t *list;
        gpuopt__elimination_greedy_compact(s, a);
        list = s->pool + s->at[a];
        s->stamp++;
        for (k = 0; k < s->length[a]; k++) s->mark[list[k]] = s->stamp;
        for (j = i + 1; j < degree && left; j++) {
            int32_t b = s->front[j];
            gpuopt_status status;
            if (s->mark[b] == s->stamp) continue;
            status = gpuopt__elimination_greedy_connect(s, weight, a, b);
            if (status) return status;
            left -= weight[a] * weight[b];
        }
    }
    s->gone[v] = 1;
    for (i = 0; i < degree; i++) {
        int32_t u = s->front[i];
        s->missing[u] -= weight[v] * (s->around[u] - weight[v] - (s->around[v] - weight[u]));
        s->around[u] -= weight[v];
        gpuopt__elimination_greedy_touch(s, u);
    }
    for (i = 0; i < s->touches; i++) {
        int32_t u = s->touched[i];
        s->is_touched[u] = 0;
        if (u == v || s->key[u] == key[u]) continue;
        s->key[u] = key[u];
        gpuopt__elimination_greedy_sift_up(s, u, s->position[u]);
    }
    return GPUOPT_OK;
}

static gpuopt_status gpuopt__elimination_greedy_start(gpuopt__elimination_greedy *s,
                                                      gpuopt_elimination_heuristic heuristic) {
    int32_t v, n = s->vertices, weighted = heuristic == GPUOPT_HEURISTIC_WEIGHTED_MIN_FILL;
    gpuopt_status status;
    int64_t k;
    s->pool_used = 0;
    status = gpuopt__elimination_greedy_reserve(s, s->start[n] + 1); /* allocates a pool even without edges */
    if (status) return status;
    memcpy(s->pool, s->adjacent, sizeof(int32_t) * (size_t)s->start[n]);
    s->pool_used = s->start[n];
    memset(s->gone, 0, (size_t)n);
    memset(s->is_touched, 0, (size_t)n);
    memset(s->mark, 0, sizeof(int32_t) * (size_t)n);
    s->stamp = 0;
    s->by_degree = heuristic == GPUOPT_HEURISTIC_MIN_DEGREE;
    for (v = 0; v < n; v++) {
        s->at[v] = s->start[v];
        s->length[v] = s->capacity[v] = (int32_t)(s->start[v + 1] - s->start[v]);
        s->missing[v] = s->missing_0[weighted][v];
        s->around[v] = 0;
        for (k = s->start[v]; k < s->start[v + 1]; k++) s->around[v] += s->weight[weighted][s->adjacent[k]];
        s->key[v] = s->by_degree ? s->around[v] : s->missing[v];
        gpuopt__elimination_greedy_place(s, v, v);
    }
    s->left = n;
    for (v = n / 2 - 1; v >= 0; v--) gpuopt__elimination_greedy_sift_down(s, s->heap[v], v);
    return GPUOPT_OK;
}

/* One greedy run into s->order. Gives up, with *better == 0, as soon as the order cannot beat `best` or the search ends
 * (best NULL: never). If the operations exceed a double, the remaining vertices follow in the order of the heap, since
 * eliminating them from so dense a graph would take long and not help. The score is then infinite and its width too
 * small. */
static gpuopt_status gpuopt__elimination_greedy_run(gpuopt__elimination_greedy *s,
                                                    gpuopt_elimination_heuristic heuristic,
                                                    const gpuopt__elimination_order_score *best,
                                                    gpuopt__elimination_watch *watch,
                                                    gpuopt__elimination_order_score *score, int *better) {
    const uint64_t *weight = s->weight[heuristic == GPUOPT_HEURISTIC_WEIGHTED_MIN_FILL];
    int32_t i, j;
    gpuopt_status status = gpuopt__elimination_greedy_start(s, heuristic);
    memset(score, 0, sizeof *score);
    *better = !best;
    for (i = 0; i < s->vertices && !status; i++) {
        int32_t v = s->heap[0];
        double message = 1;
        if (best && i % GPUOPT__ELIMINATION_GREEDY_LOOK == GPUOPT__ELIMINATION_GREEDY_LOOK - 1 &&
            gpuopt__elimination_watch_ends(watch, 1)) {
            *better = 0;
            break;
        }
        if (--s->left > 0) gpuopt__elimination_greedy_sift_down(s, s->heap[s->left], 0);
        s->order[i] = v;
        if (score->operations > DBL_MAX) continue;
        gpuopt__elimination_greedy_compact(s, v);
        memcpy(s->front, s->pool + s->at[v], sizeof(int32_t) * (size_t)s->length[v]);
        for (j = 0; j < s->length[v]; j++) message *= s->size[s->front[j]];
        gpuopt__elimination_score_bucket(score, s->length[v], message, s->size[v]);
        *better = !best || score->operations < best->operations ||
                  (score->operations == best->operations && score->entries < best->entries);
        if (!*better) break;
        if (score->operations <= DBL_MAX) status = gpuopt__elimination_greedy_eliminate(s, weight, v);
    }
    return status;
}

#endif /* GPUOPT_IMPL_ELIMINATION_ORDER_GREEDY_H */
