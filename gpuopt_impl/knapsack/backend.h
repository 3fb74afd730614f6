/* SPDX-License-Identifier: MIT
 *
 * The interface between the CPU side of the knapsack search and a backend. Read this file first. A public call checks
 * its arguments. It then passes through the common part of the handle and the table of functions below to the backend:
 * cpu/table.h, or cuda/knapsack/knapsack.cu.
 *
 * The modules, the lowest first; tests/frame/modules/knapsack.txt lists which includes which:
 *
 *     search/            a search as plain data, and the arithmetic of a node (CPU and GPU)
 *     model/             from the descriptor to the root: pieces, sorted items, reduction; solutions and claims
 *     ranks/             a step by the ranks of a group: who makes which children, and what they exchange
 *     pool/              the search of a handle with its pool of nodes; the items of its best solution
 *     strengthen/        better bounds, solutions and fixed items of the whole problem, also by inner searches
 *     api/               the public calls on a handle; nodes as bytes, and back
 *     batch/             many small knapsacks, each searched by one thread (CPU and GPU)
 *     multidimensional/  several constraints: another search, described in its handle.h
 *     multiple_choice/   one item of each class: likewise; its lists are on the CPU with every backend
 *     cpu/               the CPU backend; its merge.h and step.h also serve short steps of the CUDA backend
 */
#ifndef GPUOPT_IMPL_KNAPSACK_BACKEND_H
#define GPUOPT_IMPL_KNAPSACK_BACKEND_H

#include "../common/backend.h"

/* The parts of the table's arguments, in search/, model/handle.h, multidimensional/handle.h and
 * multiple_choice/handle.h. */
typedef struct gpuopt__knapsack_search gpuopt__knapsack_search;
typedef struct gpuopt__knapsack_job gpuopt__knapsack_job;
typedef struct gpuopt__knapsack_found gpuopt__knapsack_found;
typedef struct gpuopt__knapsack_node gpuopt__knapsack_node;
typedef struct gpuopt__knapsack_pick gpuopt__knapsack_pick;
typedef struct gpuopt__knapsack_peer_handle gpuopt__knapsack_peer_handle;
typedef struct gpuopt__knapsack_multi_job gpuopt__knapsack_multi_job;
typedef struct gpuopt__knapsack_choice_job gpuopt__knapsack_choice_job;

/* The functions of a backend. Nodes are at the places given by gpuopt__knapsack_place(). */
struct gpuopt__knapsack_backend {
    /* Adds the memory of a handle, without the arrays of its common part. */
    void (*plan)(const gpuopt_context *, const gpuopt_knapsack_desc *, gpuopt_memory_plan *);
    gpuopt_status (*create)(gpuopt_context *, const gpuopt_knapsack_desc *, gpuopt_knapsack **);
    void (*destroy)(gpuopt_knapsack *);
    /* Enlarges the pool to `pool` nodes, and keeps its nodes. MEMORY: nothing has changed. */
    gpuopt_status (*grow)(gpuopt_knapsack *, int64_t pool);
    /* Makes steps until the search has reached `expanded` nodes, `steps` steps or its goal, no node is left, the
     * pool is full, or the stop hook ends it. */
    gpuopt_status (*run)(gpuopt_knapsack *, gpuopt__knapsack_search *, int64_t expanded, int64_t steps);
    /* One step, and the completion of the deepest list, as in `run`, on nodes in the rank's own pool. */
    gpuopt_status (*step)(gpuopt_knapsack *, const gpuopt__knapsack_search *, const gpuopt__knapsack_job *,
                          gpuopt__knapsack_found *);
    gpuopt_status (*complete)(gpuopt_knapsack *, gpuopt__knapsack_search *);
    /* Reads `count` residual capacities, from place `at` on, `stride` places apart. */
    gpuopt_status (*residuals)(gpuopt_knapsack *, const gpuopt__knapsack_search *, int64_t at, int64_t stride,
                               int64_t count, int64_t *);
    /* See gpuopt__knapsack_count_all(). */
    gpuopt_status (*before)(gpuopt_knapsack *, const gpuopt__knapsack_search *, const gpuopt__knapsack_job *,
                            int64_t first, int64_t count, const int64_t *cut, int32_t cuts, int64_t *same,
                            int64_t *flipped);
    /* With a group. show: fills in this rank's handle; NULL: ranks of this backend send nodes. map_peers: whether this
     * rank sees the pools of all ranks with a handle. step_by_peers: this rank's part of a step on the nodes at
     * ranks.source, an equal share of the children if ranks.spread is set, else all. */
    void (*show)(gpuopt_knapsack *, gpuopt__knapsack_peer_handle *);
    int (*map_peers)(gpuopt_knapsack *);
    gpuopt_status (*step_by_peers)(gpuopt_knapsack *, const gpuopt__knapsack_search *, const gpuopt__knapsack_job *,
                                   gpuopt__knapsack_found *);
    /* Called once the tables of sorted items are filled. */
    gpuopt_status (*load)(gpuopt_knapsack *);
    /* Read and write `count` nodes, from place `at` on; step: 1 or -1, from one place to the next. */
    gpuopt_status (*get)(gpuopt_knapsack *, const gpuopt__knapsack_search *, int64_t at, int step, int64_t count,
                         gpuopt__knapsack_node *);
    gpuopt_status (*put)(gpuopt_knapsack *, const gpuopt__knapsack_search *, int64_t at, int step, int64_t count,
                         const gpuopt__knapsack_node *);
    /* Reads picked nodes, at most `chunk` of them. node NULL: moves any number of them within their side of the pool.
     * At least one node is free. */
    gpuopt_status (*pick)(gpuopt_knapsack *, const gpuopt__knapsack_search *, const gpuopt__knapsack_pick *,
                          gpuopt__knapsack_node *);
    /* Adds the memory of a batch, without its common part. */
    void (*batch_plan)(const gpuopt_context *, const gpuopt_knapsack_batch_desc *, gpuopt_memory_plan *);
    gpuopt_status (*batch_create)(gpuopt_knapsack_batch *);
    void (*batch_destroy)(gpuopt_knapsack_batch *);
    gpuopt_status (*batch_run)(gpuopt_knapsack_batch *);
    /* Adds the memory of a multidimensional knapsack's workers. */
    void (*multi_plan)(const gpuopt_context *, const gpuopt_knapsack_multidimensional_desc *, gpuopt_memory_plan *);
    /* Called once the tables are filled. Worker 0 receives the root. */
    gpuopt_status (*multi_create)(gpuopt_knapsack_multidimensional *);
    void (*multi_destroy)(gpuopt_knapsack_multidimensional *);
    gpuopt_status (*multi_round)(gpuopt_knapsack_multidimensional *, gpuopt__knapsack_multi_job *);
    /* Reads the deviations [words] of the best solution that a worker has found. */
    gpuopt_status (*multi_found)(gpuopt_knapsack_multidimensional *, int64_t worker, uint64_t *deviates);
    /* Adds the memory of a multiple-choice knapsack's steps, for lists of `limit` states and classes of `most` items.
     */
    void (*choice_plan)(const gpuopt_context *, int64_t limit, int64_t most, gpuopt_memory_plan *);
    gpuopt_status (*choice_create)(gpuopt_knapsack_multiple_choice *);
    void (*choice_destroy)(gpuopt_knapsack_multiple_choice *);
    /* Called after the lists have grown. */
    void (*choice_grow)(gpuopt_knapsack_multiple_choice *, int64_t limit);
    gpuopt_status (*choice_step)(gpuopt_knapsack_multiple_choice *, gpuopt__knapsack_choice_job *);
    /* The least nodes of a list for which sharing pays; the same if ranks see one another's pools. */
    int64_t share_from, share_by_peers;
};

#endif /* GPUOPT_IMPL_KNAPSACK_BACKEND_H */
