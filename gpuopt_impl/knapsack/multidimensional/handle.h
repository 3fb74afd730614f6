/* SPDX-License-Identifier: MIT
 *
 * A search of a multidimensional knapsack, on any backend.
 *
 *     calls.h    the public calls
 *     lp.h       multipliers of the rows, from linear relaxations
 *     prepare.h  _create: a first solution, reduction, the tables of the search
 *     search.h   the search itself (CPU and GPU); cpu/multidimensional.h, cuda/knapsack/multi.cuh run it
 */
#ifndef GPUOPT_IMPL_KNAPSACK_MULTIDIMENSIONAL_HANDLE_H
#define GPUOPT_IMPL_KNAPSACK_MULTIDIMENSIONAL_HANDLE_H

#include "../backend.h"
#include "search.h"

enum {
    GPUOPT__KNAPSACK_MULTI_ITEMS = 4096, /* the most items */
    GPUOPT__KNAPSACK_MULTI_WORKERS = 65536,
    GPUOPT__KNAPSACK_MULTI_STRIDES = 4 /* most distances at which workers share before a round */
};

/* A round: workers 0 .. active - 1 share at each distance, one after the other, and search. */
typedef struct gpuopt__knapsack_multi_job {
    int64_t active;
    int64_t stride[GPUOPT__KNAPSACK_MULTI_STRIDES];
    int strides;
    int64_t lower; /* the best profit known */
    /* Results: the best profit, the first worker that found it if it is better, levels visited, and the number of
     * workers with a node. */
    int64_t best, finder, nodes, busy;
} gpuopt__knapsack_multi_job;

/* The common part of every backend's handle. Profits are in multiples of `unit`, except in the first arrays. */
struct gpuopt_knapsack_multidimensional {
    gpuopt_context *context;
    gpuopt_knapsack_multidimensional_desc desc; /* with the defaults filled in, and the handle's own arrays: */
    int64_t *weight;                            /* [rows][items] */
    int64_t *profit;                            /* [items] */
    int64_t *capacity;                          /* [rows] */
    gpuopt__knapsack_multi_tables table;        /* in host memory */
    int64_t *root;                              /* [width] numbers of the root */
    int64_t *residual;      /* [rows] the capacities; in _create without fixed items; at most the weight of all items */
    int32_t *item;          /* [items] of each level; its first table.levels are in use */
    uint8_t *prefers;       /* [items] of the item: its decision in a search without deviations */
    uint8_t *taken, *trial; /* [items] the best solution; scratch */
    int64_t *copies;        /* [items] scratch, the caller's numbers */
    uint64_t *deviates;     /* [words] */
    int64_t unit, lower, upper;
    int64_t nodes, rounds, active, busy;
    int turn;     /* of the distances at which workers share */
    void *engine; /* the backend's data */
};

/* Words of a worker's bits: enough for the items of the descriptor. */
static inline int32_t gpuopt__knapsack_multi_words(int32_t items) { return items > 0 ? (items + 63) / 64 : 1; }

static inline int32_t gpuopt__knapsack_multi_width(int32_t rows) {
    return rows <= 8 ? 16 : rows <= 20 ? 32 : +GPUOPT__KNAPSACK_MULTI_WIDTH;
}

/* Cuts the workers' arrays out of the arena. */
static inline void gpuopt__knapsack_multi_cut_workers(gpuopt__arena *arena,
                                                      const gpuopt_knapsack_multidimensional_desc *d,
                                                      gpuopt__knapsack_multi_workers *ws) {
    const int64_t words = gpuopt__knapsack_multi_words(d->items), count = d->workers;
    ws->count = count;
    ws->value = (int64_t *)gpuopt__cut(arena, count * gpuopt__knapsack_multi_width(d->rows), sizeof(int64_t));
    ws->open = (uint64_t *)gpuopt__cut(arena, count * words, sizeof(uint64_t));
    ws->deviates = (uint64_t *)gpuopt__cut(arena, count * words, sizeof(uint64_t));
    ws->found = (uint64_t *)gpuopt__cut(arena, count * words, sizeof(uint64_t));
    ws->lower = (int64_t *)gpuopt__cut(arena, count, sizeof(int64_t));
    ws->level = (int32_t *)gpuopt__cut(arena, count, sizeof(int32_t));
}

/* Cuts the tables, which are one after the other: a backend may copy them at once. */
static inline void gpuopt__knapsack_multi_cut_tables(gpuopt__arena *arena,
                                                     const gpuopt_knapsack_multidimensional_desc *d,
                                                     gpuopt__knapsack_multi_tables *t) {
    const int64_t n = d->items, width = gpuopt__knapsack_multi_width(d->rows);
    t->width = (int32_t)width;
    t->words = gpuopt__knapsack_multi_words(d->items);
    t->path = (int64_t *)gpuopt__cut(arena, (n + 1) * width, sizeof(int64_t));
    t->need = (int64_t *)gpuopt__cut(arena, n * width, sizeof(int64_t));
    t->diff = (int64_t *)gpuopt__cut(arena, n * width, sizeof(int64_t));
    t->loss = (int64_t *)gpuopt__cut(arena, n, sizeof(int64_t));
    t->scale = (int64_t *)gpuopt__cut(arena, width, sizeof(int64_t));
}

#endif /* GPUOPT_IMPL_KNAPSACK_MULTIDIMENSIONAL_HANDLE_H */
