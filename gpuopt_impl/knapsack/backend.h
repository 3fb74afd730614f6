/* SPDX-License-Identifier: MIT
 *
 * The seam between the host's side of the knapsack search and what a backend does.
 */
#ifndef GPUOPT_IMPL_KNAPSACK_BACKEND_H
#define GPUOPT_IMPL_KNAPSACK_BACKEND_H

#include "../common/backend.h"
#include "search.h"

/* An item that is to be decided. */
typedef struct gpuopt__knapsack_item {
    int64_t weight, profit; /* 1 or more */
    int32_t index;          /* the host's */
} gpuopt__knapsack_item;

/* What a search needs beside the pool; the handle has two of them, one for the search that recovers items. */
typedef struct gpuopt__knapsack_lists {
    gpuopt__knapsack_list *list; /* [items + 1] */
    int32_t *decided;            /* [items] */
    int32_t *begin;              /* [items + 1] */
    double *least_loss;          /* [items + 1] */
} gpuopt__knapsack_lists;

/* The head of every backend's knapsack. Profits of tables and searches are in units, and without those of fixed items;
 * others are the host's. */
struct gpuopt_knapsack {
    gpuopt_context *context;
    gpuopt__knapsack_search search; /* of what reduction left */
    gpuopt__knapsack_lists lists[2];
    gpuopt_knapsack_search kind;
    int64_t pool;
    int64_t host_room; /* nodes that a search with a short list has in the host's memory, near a GPU; 0: none */
    int64_t node_limit;
    int32_t hybrid_threshold;
    int32_t items; /* the host's */
    int64_t capacity;
    void *block;               /* of the arrays below, and of the lists */
    int64_t base_profit;       /* of the items that are fixed in */
    int64_t unit;              /* the greatest common divisor of the profits that are left */
    int64_t claim;             /* the profit that the host says can be had; 0: none */
    int64_t incumbent;         /* of `taken` or, where search.best.level >= 0, of that node's solution */
    int64_t root_bound, upper; /* Dantzig's, and the best one known; in units */
    int stopped;               /* the host's stop hook ended the latest run */
    int64_t strengthen_at;     /* nodes expanded until the whole's bound is computed anew */
    uint64_t hash;             /* of what reduction left */
    int64_t *weight, *profit;  /* [items] as the host gave them */
    int64_t *sorted_weight, *sorted_profit;
    uint64_t *weight_sum, *profit_sum; /* [items + 1] */
    int32_t *reach;                    /* [items + 1] */
    int32_t *order;                    /* [items]: the host's item of each sorted one */
    uint8_t *fixed;                    /* [items] 0: out, 1: in, 2: to be decided */
    uint8_t *taken, *trial;            /* [items] */
    gpuopt__knapsack_item *scratch;    /* [2 * items] */
};

/* The nodes are, or the first one will be, in the host's memory. */
static inline void gpuopt__knapsack_go_to_host(const gpuopt_knapsack *k, gpuopt__knapsack_search *s) {
    s->on_host = 1;
    s->first = s->which * k->host_room;
    s->room = k->host_room;
}

/* Asked after each step: whether the host wants the search to stop here. Finding items is never interrupted. */
static inline int gpuopt__knapsack_stops(gpuopt_knapsack *k, const gpuopt__knapsack_search *s) {
    k->stopped = s->which == 0 && gpuopt__asked_to_stop(k->context);
    return k->stopped;
}

/* What a backend does. Nodes are at gpuopt__knapsack_place(). */
struct gpuopt__knapsack_backend {
    /* host_bytes and device_bytes of a handle, the head's arrays apart; bytes of the head itself. */
    void (*plan)(const gpuopt_context *, const gpuopt_knapsack_desc *, gpuopt_memory_plan *);
    gpuopt_status (*create)(gpuopt_context *, const gpuopt_knapsack_desc *, gpuopt_knapsack **);
    void (*destroy)(gpuopt_knapsack *);
    /* Steps until `expanded` or `steps` are reached, or the goal, or no node is left, or full. */
    gpuopt_status (*run)(gpuopt_knapsack *, gpuopt__knapsack_search *, int64_t expanded, int64_t steps);
    gpuopt_status (*load)(gpuopt_knapsack *); /* after the tables have been filled */
    /* `count` nodes of the search, from the one at place `at` on, in steps of 1 or -1. */
    gpuopt_status (*get)(gpuopt_knapsack *, const gpuopt__knapsack_search *, int64_t at, int step, int64_t count,
                         gpuopt__knapsack_node *);
    gpuopt_status (*put)(gpuopt_knapsack *, const gpuopt__knapsack_search *, int64_t at, int step, int64_t count,
                         const gpuopt__knapsack_node *);
};

#endif /* GPUOPT_IMPL_KNAPSACK_BACKEND_H */
