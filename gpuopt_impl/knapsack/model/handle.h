/* SPDX-License-Identifier: MIT
 *
 * Knapsack: the common part of every backend's handle, and the growth of its pool.
 */
#ifndef GPUOPT_IMPL_KNAPSACK_MODEL_HANDLE_H
#define GPUOPT_IMPL_KNAPSACK_MODEL_HANDLE_H

#include "../backend.h"
#include "../search/state.h"

/* An undecided item. */
typedef struct gpuopt__knapsack_item {
    int64_t weight, profit; /* 1 or more */
    int32_t index;          /* of the piece */
    uint32_t key;           /* of the sort */
} gpuopt__knapsack_item;

/* The arrays of a search, apart from the pool. A handle has two sets; the second serves the search that recovers
 * items. */
typedef struct gpuopt__knapsack_lists {
    gpuopt__knapsack_list *list; /* [items + 1] */
    int32_t *decided;            /* [items] */
    int32_t *begin;              /* [items + 1] */
    double *least_loss;          /* [items + 1] */
} gpuopt__knapsack_lists;

enum {
    GPUOPT__KNAPSACK_CHUNK = 512,      /* nodes copied at a time between arrays in host memory */
    GPUOPT__KNAPSACK_PIECES = 1 << 28, /* the most pieces of a handle */
    GPUOPT__KNAPSACK_CARRIED = 16384,  /* nodes that ranks send at a time */
    GPUOPT__KNAPSACK_SAMPLES = 64      /* of a rank's residual capacities, to divide a step evenly */
};

/* A rank's report to the others. */
typedef struct gpuopt__knapsack_fingerprint {
    int64_t status, stops;
    int64_t overflows; /* the children of its part of a step do not fit */
    int64_t pool, flip;
    gpuopt__knapsack_found found;
} gpuopt__knapsack_fingerprint;

/* Gives other ranks access to a rank's nodes; the contents depend on the backend. All 0: no access. */
typedef struct gpuopt__knapsack_peer_handle {
    uint64_t word[16];
} gpuopt__knapsack_peer_handle;

/* A rank's nodes of a step: the nodes below number `end` that no source before has. */
typedef struct gpuopt__knapsack_source {
    int32_t rank;
    int64_t end, before; /* the rank's other nodes before them on their side of its pool */
} gpuopt__knapsack_source;

/* A handle's part in a group; see ranks/ranges.h. */
typedef struct gpuopt__knapsack_ranks {
    gpuopt_group *group;                   /* NULL: none, or of one rank */
    int64_t pool;                          /* nodes that fit on every rank */
    int spread;                            /* the present step divides its children */
    int64_t light;                         /* about how many nodes of the step have flipped children */
    int64_t *part;                         /* [items + 1][ranks] */
    int64_t *same, *flipped;               /* [ranks + 1] start of each rank's children */
    int64_t *cut;                          /* [ranks] */
    int64_t *residual;                     /* [ranks][SAMPLES] */
    gpuopt__knapsack_node *node;           /* [CARRIED] */
    gpuopt__knapsack_fingerprint *reports; /* [ranks] */
    gpuopt__knapsack_peer_handle *handle;  /* [ranks] once the ranks have exchanged them */
    int met, peers;                        /* exchanged since the last change of pools; all ranks see one another's
                                            * pools */
    gpuopt__knapsack_source *source;       /* [ranks] of the present step, if `peers` */
    int32_t sources;
} gpuopt__knapsack_ranks;

/* The common part of every backend's handle. Items are pieces, see model/copies.h; without `upper` they are the
 * descriptor's items. Profits in tables and searches are in multiples of `unit`, without fixed items; all other profits
 * are as in the descriptor. */
struct gpuopt_knapsack {
    gpuopt_context *context;
    gpuopt__knapsack_search search; /* of the problem after reduction */
    gpuopt__knapsack_lists lists[2];
    gpuopt_knapsack_search kind;
    int64_t pool, pool_limit;       /* nodes that fit; nodes that fit after the pool has grown fully */
    int sliced;                     /* slices have been logged */
    gpuopt__knapsack_node *staging; /* [chunk] consecutive nodes in a read or write */
    int64_t chunk;
    int64_t host_capacity; /* GPU: most nodes that a search with a short list keeps in host memory; 0: none */
    int64_t node_limit;
    int32_t hybrid_threshold;
    int32_t items, given; /* pieces; items of the descriptor */
    int32_t bundles;      /* pieces, with each bundle as one */
    int64_t capacity;
    gpuopt__knapsack_ranks ranks;
    void *block;               /* memory of the arrays below and of the lists */
    int64_t base_profit;       /* of the items that are fixed in */
    int64_t unit;              /* the greatest common divisor of the remaining profits */
    int64_t claim;             /* the caller claims a solution of at least this profit; 0: no claim */
    int64_t incumbent;         /* profit of `taken` or, if search.best.level >= 0, of that node's solution */
    int64_t root_bound, upper; /* Dantzig's bound, and the best bound known; in units */
    int stopped;               /* the stop hook ended the latest run */
    int64_t strengthen_at;     /* expanded nodes at which the whole problem's next bound is computed */
    int surrogates;            /* the next bound comes from surrogate problems */
    uint64_t hash;             /* of the problem after reduction */
    int64_t *most;             /* [given] most copies of an item in a solution; NULL: 1 of each */
    int64_t *copies;           /* [items] of a piece; at a bundle's first piece: of the whole bundle; NULL: 1 */
    int32_t *next;             /* [items] the next piece of its bundle, see model/equal.h; -1: none */
    int64_t *weight, *profit;  /* [items] of a piece */
    int64_t *sorted_weight, *sorted_profit;
    uint64_t *weight_sum, *profit_sum; /* [items + 1] */
    int32_t *reach;                    /* [items + 1] */
    int32_t *order;                    /* [items] the piece of each sorted item, or the first piece of its bundle */
    uint8_t *fixed;                    /* [items] 0: out, 1: in, 2: not decided yet */
    uint8_t *taken, *trial;            /* [items] */
    gpuopt__knapsack_item *scratch;    /* [2 * items], and at least [given] */
};

/* Places of nodes refer to host memory from now on. GPU only. */
static inline void gpuopt__knapsack_use_host_pool(const gpuopt_knapsack *k, gpuopt__knapsack_search *s) {
    s->on_host = 1;
    s->first = s->which * k->host_capacity;
    s->capacity = k->host_capacity;
}

/* After each step: whether the caller's stop hook ends the run. Recovering items is never interrupted. Ranks exchange
 * the answer first. */
static inline int gpuopt__knapsack_stops(gpuopt_knapsack *k, const gpuopt__knapsack_search *s) {
    if (s->which == 0 && gpuopt__asked_to_stop(k->context)) k->stopped = 1;
    return s->which == 0 && k->stopped && !gpuopt__knapsack_has_ranks(s);
}

/* Enlarges the pool. MEMORY: nothing has changed. */
static inline gpuopt_status gpuopt__knapsack_enlarge(gpuopt_knapsack *k, int64_t pool) {
    gpuopt__knapsack_search *s = &k->search;
    gpuopt_status status = k->context->desc.backend->knapsack->grow(k, pool);
    if (status) return status;
    gpuopt__log(k->context, 2, "knapsack: the pool grew to %lld nodes", (long long)pool);
    k->pool = s->own_capacity = pool;
    if (!s->on_host) gpuopt__knapsack_use_own_pool(s);
    s->tight = 0;
    return GPUOPT_OK;
}

/* The size of a pool after it grows, within its limit. */
static inline int64_t gpuopt__knapsack_doubled(const gpuopt_knapsack *k, int64_t pool) {
    return pool < k->pool_limit / 2 ? 2 * pool : k->pool_limit;
}

static inline void gpuopt__knapsack_log_slices(gpuopt_knapsack *k, const gpuopt__knapsack_search *s) {
    if (!k->sliced && !s->stop_when_full)
        gpuopt__log(k->context, 2,
                    "knapsack: nodes do not fit the pool of %lld; levels are expanded in slices from now on",
                    (long long)k->pool);
    k->sliced = 1;
}

/* After a step with too many children for the pool: the pool grows, or the next step takes a slice. */
static inline gpuopt_status gpuopt__knapsack_grow_or_slice(gpuopt_knapsack *k, const gpuopt__knapsack_search *s) {
    gpuopt_status status;
    if (s->which != 0) return GPUOPT_OK; /* items are recovered in the free part */
    status = k->pool < k->pool_limit ? gpuopt__knapsack_enlarge(k, gpuopt__knapsack_doubled(k, k->pool))
                                     : GPUOPT_ERROR_MEMORY;
    if (status != GPUOPT_ERROR_MEMORY) return status;
    k->pool_limit = k->pool; /* no further attempt */
    gpuopt__knapsack_log_slices(k, s);
    return GPUOPT_OK;
}

#endif /* GPUOPT_IMPL_KNAPSACK_MODEL_HANDLE_H */
