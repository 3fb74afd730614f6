/* SPDX-License-Identifier: MIT
 *
 * A multidimensional knapsack, searched depth first by many workers: the same in C and in CUDA.
 *
 * A bound is kept as if it were a capacity. Multipliers u >= 0 of the rows give the Lagrangian bound u C + sum of
 * max(0, p_j - u w_j). Each decision subtracts its loss from the bound: max(0, p_j - u w_j) if the item is left out,
 * max(0, u w_j - p_j) if it is taken. So a node is a vector of numbers: the residual capacities of the rows, and the
 * differences between bounds and the best solution known. It may be dropped once one of them is negative. All numbers
 * are integers: multipliers and bounds are multiples of 1 / scale.
 *
 * Number 0 is the bound with the optimal multipliers of the linear relaxation. Items are in the order of decreasing
 * loss in this bound, |p_j - u w_j|. An item takes its preferred decision unless a node deviates: a node is a set of
 * deviations. Number 1 is the bound with all multipliers 0. Below the last level it is the node's profit above the best
 * solution's: a node that reaches this level is a better solution.
 *
 * A node's numbers are stored as they would be without the preferred decisions before its level, so that only
 * deviations change them. A worker visits the levels from its last deviation on. At each it compares the numbers with
 * two vectors:
 * - `path`, the amount that the preferred decisions before that level subtract. The node is dropped if the numbers do
 *   not suffice.
 * - `need`, which includes the amount of a deviation there. If the numbers suffice, the level is marked as open.
 *
 * Then the worker takes the highest open level, which the node with the deviations before it has left, and continues
 * above it. Levels with too large a loss are skipped at once.
 *
 * A worker without a node receives every second open level of another worker. The distance to that worker changes from
 * round to round, equally on every machine.
 */
#ifndef GPUOPT_IMPL_KNAPSACK_MULTIDIMENSIONAL_SEARCH_H
#define GPUOPT_IMPL_KNAPSACK_MULTIDIMENSIONAL_SEARCH_H

#include "../../common/backend.h"
#include "../../common/numerics.h"

enum {
    GPUOPT__KNAPSACK_MULTI_ROWS = 30,   /* the most rows */
    GPUOPT__KNAPSACK_MULTI_WIDTH = 48,  /* the most numbers of a node: two bounds, the rows, more bounds */
    GPUOPT__KNAPSACK_MULTI_BUDGET = 128 /* levels that a worker visits in a round */
};

#ifdef __CUDACC__
#define GPUOPT__KNAPSACK_MULTI_UNROLL _Pragma("unroll")
#else
#define GPUOPT__KNAPSACK_MULTI_UNROLL
#endif

/* The data that all workers read. */
typedef struct gpuopt__knapsack_multi_tables {
    int64_t *path;  /* [levels + 1][width] */
    int64_t *need;  /* [levels][width] */
    int64_t *diff;  /* [levels][width] the amount of a deviation beyond the preferred decision; may be negative */
    int64_t *loss;  /* [levels] in number 0; decreasing */
    int64_t *scale; /* [width] of each number; 0: a row */
    int32_t levels, width, words;
} gpuopt__knapsack_multi_tables;

/* The workers' nodes. */
typedef struct gpuopt__knapsack_multi_workers {
    int64_t *value;       /* [width] of each worker: its node's numbers */
    uint64_t *open;       /* [words] of each: a bit for each level */
    uint64_t *deviates;   /* [words] of each: likewise */
    uint64_t *found;      /* [words] of each: the deviations of its best solution */
    int64_t *lower;       /* the best profit that its numbers refer to; -1: it never had a node */
    int32_t *level;       /* the level it visits next; levels + 1: it first takes an open one; -1: it has no node */
    int64_t count, apart; /* distance between two numbers of one worker: 1, or `count` on the GPU */
} gpuopt__knapsack_multi_workers;

/* The results of a worker in a round. */
typedef struct gpuopt__knapsack_multi_found {
    int64_t lower, nodes;
    int busy;
} gpuopt__knapsack_multi_found;

/* The place of number k of worker w, of `length` for each. */
GPUOPT_HD int64_t gpuopt__knapsack_multi_place(const gpuopt__knapsack_multi_workers *ws, int64_t w, int32_t k,
                                               int32_t length) {
    return ws->apart == 1 ? w * length + k : k * ws->apart + w;
}

GPUOPT_HD int gpuopt__knapsack_multi_highest(uint64_t word) {
#if defined(__CUDA_ARCH__)
    return 63 - __clzll((long long)word);
#elif defined(__GNUC__)
    return 63 - __builtin_clzll(word);
#else
    int bit = 0;
    while (word >>= 1) bit++;
    return bit;
#endif
}

/* ---- A worker's round ---- */

typedef struct gpuopt__knapsack_multi_cursor {
    const gpuopt__knapsack_multi_tables *table;
    const gpuopt__knapsack_multi_workers *workers;
    int64_t worker;
    int32_t word; /* the index of the word of `open` and `deviates` here: */
    uint64_t open, deviates;
} gpuopt__knapsack_multi_cursor;

GPUOPT_HD void gpuopt__knapsack_multi_seek(gpuopt__knapsack_multi_cursor *c, int32_t word) {
    int64_t at;
    if (word == c->word) return;
    at = gpuopt__knapsack_multi_place(c->workers, c->worker, c->word, c->table->words);
    c->workers->open[at] = c->open;
    c->workers->deviates[at] = c->deviates;
    at = gpuopt__knapsack_multi_place(c->workers, c->worker, word, c->table->words);
    c->open = c->workers->open[at];
    c->deviates = c->workers->deviates[at];
    c->word = word;
}

/* The first level from `from` on at which a node with this number 0 may deviate. */
GPUOPT_HD int32_t gpuopt__knapsack_multi_first(const gpuopt__knapsack_multi_tables *t, int32_t from, int64_t left) {
    int32_t high = t->levels;
    while (from < high) {
        const int32_t middle = (from + high) / 2;
        if (t->loss[middle] <= left) high = middle;
        else from = middle + 1;
    }
    return from;
}

/* Takes the highest open level, and deviates there. Returns the next level to visit; -1: none is open. */
GPUOPT_HD int32_t gpuopt__knapsack_multi_take(gpuopt__knapsack_multi_cursor *c, int64_t *value, const int width) {
    const gpuopt__knapsack_multi_tables *t = c->table;
    for (;;) {
        const int high = c->open ? gpuopt__knapsack_multi_highest(c->open) : -1;
        int k;
        while (c->deviates && gpuopt__knapsack_multi_highest(c->deviates) > high) { /* of finished nodes */
            const int bit = gpuopt__knapsack_multi_highest(c->deviates);
            const int64_t *diff = t->diff + (int64_t)(64 * c->word + bit) * width;
            c->deviates ^= (uint64_t)1 << bit;
            GPUOPT__KNAPSACK_MULTI_UNROLL
            for (k = 0; k < width; k++) value[k] += diff[k];
        }
        if (high >= 0) {
            const int32_t level = 64 * c->word + high;
            const int64_t *diff = t->diff + (int64_t)level * width;
            c->open ^= (uint64_t)1 << high;
            c->deviates |= (uint64_t)1 << high;
            GPUOPT__KNAPSACK_MULTI_UNROLL
            for (k = 0; k < width; k++) value[k] -= diff[k];
            return gpuopt__knapsack_multi_first(t, level + 1, value[0]);
        }
        if (c->word == 0) return -1;
        gpuopt__knapsack_multi_seek(c, c->word - 1);
    }
}

/* The worker's node has reached the last level: it is a better solution. */
GPUOPT_HD void gpuopt__knapsack_multi_improve(gpuopt__knapsack_multi_cursor *c, int64_t *value, int64_t gain,
                                              const int width) {
    const gpuopt__knapsack_multi_tables *t = c->table;
    int32_t k;
    int i;
    for (k = 0; k < t->words; k++) {
        const int64_t at = gpuopt__knapsack_multi_place(c->workers, c->worker, k, t->words);
        c->workers->found[at] = k == c->word ? c->deviates : c->workers->deviates[at];
    }
    GPUOPT__KNAPSACK_MULTI_UNROLL
    for (i = 0; i < width; i++) value[i] -= t->scale[i] * gain;
}

/* Worker w visits up to `budget` levels. lower: the best profit known; width: the tables', as a constant. */
GPUOPT_HD gpuopt__knapsack_multi_found gpuopt__knapsack_multi_round(const gpuopt__knapsack_multi_tables *t,
                                                                    const gpuopt__knapsack_multi_workers *ws, int64_t w,
                                                                    int64_t lower, int32_t budget, const int width) {
    int64_t value[GPUOPT__KNAPSACK_MULTI_WIDTH];
    gpuopt__knapsack_multi_cursor c;
    gpuopt__knapsack_multi_found found;
    int32_t level = ws->level[w];
    int k;
    found.lower = lower;
    found.nodes = 0;
    found.busy = level >= 0;
    if (level < 0) return found;
    c.table = t;
    c.workers = ws;
    c.worker = w;
    c.word = t->words - 1;
    c.open = ws->open[gpuopt__knapsack_multi_place(ws, w, c.word, t->words)];
    c.deviates = ws->deviates[gpuopt__knapsack_multi_place(ws, w, c.word, t->words)];
    GPUOPT__KNAPSACK_MULTI_UNROLL
    for (k = 0; k < width; k++)
        value[k] = ws->value[gpuopt__knapsack_multi_place(ws, w, k, width)] - t->scale[k] * (lower - ws->lower[w]);
    if (level > t->levels) level = gpuopt__knapsack_multi_take(&c, value, width);
    while (level >= 0 && found.nodes < budget) {
        const int64_t *path = t->path + (int64_t)level * width, *need = t->need + (int64_t)level * width;
        int64_t dropped = 0, closed = 0;
        found.nodes++;
        GPUOPT__KNAPSACK_MULTI_UNROLL
        for (k = 0; k < width; k++) dropped |= value[k] - path[k];
        if (dropped >= 0 && level < t->levels) {
            GPUOPT__KNAPSACK_MULTI_UNROLL
            for (k = 0; k < width; k++) closed |= value[k] - need[k];
            if (closed >= 0) {
                gpuopt__knapsack_multi_seek(&c, level / 64);
                c.open |= (uint64_t)1 << level % 64;
            }
            level++;
            continue;
        }
        if (dropped >= 0) {
            const int64_t gain = value[1] - path[1] + 1;
            found.lower += gain;
            gpuopt__knapsack_multi_improve(&c, value, gain, width);
        }
        level = gpuopt__knapsack_multi_take(&c, value, width);
    }
    found.busy = level >= 0;
    ws->level[w] = level;
    ws->lower[w] = found.lower;
    if (level < 0) return found;
    GPUOPT__KNAPSACK_MULTI_UNROLL
    for (k = 0; k < width; k++) ws->value[gpuopt__knapsack_multi_place(ws, w, k, width)] = value[k];
    ws->open[gpuopt__knapsack_multi_place(ws, w, c.word, t->words)] = c.open;
    ws->deviates[gpuopt__knapsack_multi_place(ws, w, c.word, t->words)] = c.deviates;
    return found;
}

/* ---- Sharing ---- */

/* One of these two workers may have no node. It then receives every second open level of the other, from the lowest
 * on. */
GPUOPT_HD void gpuopt__knapsack_multi_share(const gpuopt__knapsack_multi_tables *t,
                                            const gpuopt__knapsack_multi_workers *ws, int64_t one, int64_t other) {
    const int64_t to = ws->level[one] < 0 ? one : other, from = to == one ? other : one;
    uint64_t some = 0;
    int mine = 1, k;
    if (ws->level[to] >= 0 || ws->level[from] < 0) return;
    for (k = 0; k < t->words; k++) {
        const int64_t a = gpuopt__knapsack_multi_place(ws, from, k, t->words),
                      b = gpuopt__knapsack_multi_place(ws, to, k, t->words);
        uint64_t left = ws->open[a], taken = 0;
        for (; left; left &= left - 1, mine = !mine)
            if (mine) taken |= left & (~left + 1);
        ws->open[a] ^= taken;
        ws->open[b] = taken;
        ws->deviates[b] = ws->deviates[a];
        some |= taken;
    }
    if (!some) return;
    for (k = 0; k < t->width; k++)
        ws->value[gpuopt__knapsack_multi_place(ws, to, k, t->width)] =
            ws->value[gpuopt__knapsack_multi_place(ws, from, k, t->width)];
    ws->lower[to] = ws->lower[from];
    ws->level[to] = t->levels + 1;
}

#endif /* GPUOPT_IMPL_KNAPSACK_MULTIDIMENSIONAL_SEARCH_H */
