/* SPDX-License-Identifier: MIT
 *
 * Knapsack on the GPU: the arguments of a step, and the children of a tile, which a block builds in shared memory. With
 * dominance they are in the order of a merge.
 */
#ifndef GPUOPT_CUDA_KNAPSACK_TILE_CUH
#define GPUOPT_CUDA_KNAPSACK_TILE_CUH

#include "../../gpuopt_impl/knapsack/search/state.h"

namespace {

enum : int {
    KNAPSACK_THREADS = 256,
    KNAPSACK_WARPS = KNAPSACK_THREADS / 32,
    KNAPSACK_ROWS = 8, /* children per thread */
    KNAPSACK_TILE = KNAPSACK_THREADS * KNAPSACK_ROWS
};

/* The word of a tile has three states: no information yet; how many of the tile's children stay (ALONE); how many
 * children of this and all preceding tiles stay (ALL). It holds a count of 41 bits and the epoch of its step, 21 bits.
 * Words of other epochs mean nothing, so they need not be cleared between steps. */
enum : unsigned long long {
    KNAPSACK_ALONE = 1ull << 62,
    KNAPSACK_ALL = 2ull << 62,
    KNAPSACK_EPOCH = 41, /* place of the epoch in a word */
    KNAPSACK_COUNT = (1ull << KNAPSACK_EPOCH) - 1,
    KNAPSACK_EPOCHS = 1ull << 21
};

/* The result of a block. The best solution has the lowest rank among the solutions with the most profit. */
struct KnapsackBlockFound {
    gpuopt__knapsack_found found;
    int64_t rank;
};

/* Data shared by the launches of a handle, in device memory except `found`. */
struct KnapsackShared {
    unsigned long long *tile;  /* [tiles of the largest step] */
    unsigned *ticket, *done;   /* of this launch: tiles taken, blocks that have finished; 0 between launches */
    KnapsackBlockFound *block; /* [blocks of the largest launch] */
    KnapsackBlockFound *found; /* pinned host memory */
};

struct KnapsackStep {
    gpuopt__knapsack_view view;
    gpuopt__knapsack_job job;
    gpuopt__knapsack_pool pool;
    KnapsackShared shared;
    double ratio;
    unsigned long long epoch; /* shifted to its place in a word */
    unsigned *mark;           /* MARK: a bit for each child */
};

/* The children that a launch makes, as in a job. */
struct KnapsackShare {
    int64_t same, same_end, flipped, flipped_end;

    __device__ int64_t begin() const { return same + flipped; } /* the rank of its first child among all */
    __device__ int64_t children() const { return same_end - same + flipped_end - flipped; }
};

/* A node: one of a pool. */
struct KnapsackPlace {
    gpuopt__knapsack_pool pool;
    int64_t at;
};

struct KnapsackTile {
    int64_t residual[KNAPSACK_TILE];
    uint64_t profit[KNAPSACK_TILE];
    uint32_t decisions[KNAPSACK_TILE];
    uint16_t order[KNAPSACK_TILE]; /* with dominance: the children in their order; TILE: a dominated child */
};

/* The residual capacity of a child that is too heavy: it comes after all others and is never kept. */
constexpr int64_t knapsack_too_heavy = INT64_MIN;

__device__ int64_t knapsack_flipped_residual(const gpuopt__knapsack_job &job, int64_t residual) {
    return residual < job.least ? knapsack_too_heavy : residual + job.residual;
}

/* ---- The start of a tile in the two lists ---- */

/* Threads that search together, each at another place. */
struct KnapsackWarp {
    static constexpr int SIZE = 32;
    static __device__ int member() { return static_cast<int>(threadIdx.x % 32); }
    static __device__ int count(bool yes) { return __popc(__ballot_sync(~0u, yes)); }
};

struct KnapsackBlock {
    static constexpr int SIZE = KNAPSACK_THREADS;
    static __device__ int member() { return static_cast<int>(threadIdx.x); }
    static __device__ int count(bool yes) { return __syncthreads_count(yes); }
};

/* The first of the numbers low .. high - 1 for which `is_before` is false, and so is it for all later ones; `high` if
 * it is true for all. */
template <class Team, class Test>
__device__ int64_t knapsack_seek(int64_t low, int64_t high, Test is_before) {
    while (low < high) { /* the answer is in low .. high */
        const int64_t width = (high - low + Team::SIZE - 1) / Team::SIZE, k = low + Team::member() * width;
        const int yes = Team::count(k < high && is_before(k));
        if (yes == 0) return low;
        high = min(high, low + yes * width);
        low += (yes - 1) * width + 1;
    }
    return low;
}

/* How many of the children before a rank of the merge of both lists are unchanged; the share has that rank, or begins
 * or ends there. */
template <class Team, class Nodes>
__device__ int64_t knapsack_split(const KnapsackStep &p, const Nodes &nodes, const KnapsackShare &share, int64_t rank) {
    return knapsack_seek<Team>(
        max(rank - share.flipped_end, share.same), min(rank - share.flipped, share.same_end), [&](int64_t i) {
            const KnapsackPlace a = nodes.find(p, i), b = nodes.find(p, rank - 1 - i);
            const int64_t residual = a.pool.residual[a.at],
                          other = knapsack_flipped_residual(p.job, b.pool.residual[b.at]);
            return residual != other ? residual > other : a.pool.profit[a.at] >= b.pool.profit[b.at] + p.job.profit;
        });
}

/* ---- The children of a tile ---- */

__device__ void knapsack_load(const KnapsackStep &p, KnapsackTile &t, int slot, const KnapsackPlace &from,
                              bool flipped) {
    int64_t residual = from.pool.residual[from.at];
    uint64_t profit = from.pool.profit[from.at];
    uint32_t decisions = from.pool.decisions[from.at] << 1;
    t.residual[slot] = flipped ? knapsack_flipped_residual(p.job, residual) : residual;
    t.profit[slot] = flipped ? profit + p.job.profit : profit;
    t.decisions[slot] = decisions | flipped;
}

__device__ uint64_t knapsack_profit(const KnapsackPlace &node) { return node.pool.profit[node.at]; }

/* Loads the two children of each of `count` parents from number i on. find(k): the place of parent k. */
template <class Find>
__device__ void knapsack_load_pairs(const KnapsackStep &p, KnapsackTile &t, int64_t i, int count, Find find) {
    for (int k = static_cast<int>(threadIdx.x); k < count; k += KNAPSACK_THREADS) {
        knapsack_load(p, t, 2 * k, find(i + k), false);
        knapsack_load(p, t, 2 * k + 1, find(i + k), true);
    }
}

/* Loads `same` unchanged children of the parents from number i on, and then flipped children of the parents from j on.
 * find(k, flipped): the place of that parent. */
template <class Find>
__device__ void knapsack_load_lists(const KnapsackStep &p, KnapsackTile &t, int64_t i, int64_t j, int same,
                                    int children, Find find) {
    for (int k = static_cast<int>(threadIdx.x); k < children; k += KNAPSACK_THREADS)
        knapsack_load(p, t, k, find(k < same ? i + k : j + k - same, k >= same), k >= same);
}

/* The places of the parents if all are in the step's pool. With ranks: KnapsackAmong (peers.cuh). */
struct KnapsackHere {
    static __device__ KnapsackPlace find(const KnapsackStep &p, int64_t k) {
        return {p.pool, gpuopt__knapsack_parent(&p.job, k)};
    }
    static __device__ void load_pairs(const KnapsackStep &p, KnapsackTile &t, int64_t i, int count) {
        knapsack_load_pairs(p, t, i, count, [&](int64_t k) { return find(p, k); });
    }
    static __device__ void load_lists(const KnapsackStep &p, KnapsackTile &t, int64_t i, int64_t j, int same,
                                      int children) {
        knapsack_load_lists(p, t, i, j, same, children, [&](int64_t k, bool) { return find(p, k); });
    }
};

/* Whether the unchanged child i comes before the flipped child j. */
__device__ bool knapsack_before(const KnapsackTile &t, int i, int j) {
    return t.residual[i] != t.residual[j] ? t.residual[i] > t.residual[j] : t.profit[i] >= t.profit[j];
}

/* The next child of a list in the merge, and the profit of the child before it. A list ends at its `end`. */
struct KnapsackRun {
    int at, end; /* slots */
    int64_t residual;
    uint64_t profit, last;
    bool has_last;

    __device__ void load(const KnapsackTile &t) {
        if (at < end) residual = t.residual[at], profit = t.profit[at];
    }
    /* begin: the list's first slot. exists, before: whether a child of the list precedes it, and its profit. */
    __device__ void start(const KnapsackTile &t, int begin, bool exists, uint64_t before) {
        has_last = at > begin || exists;
        last = at > begin ? t.profit[at - 1] : before;
        load(t);
    }
    __device__ void next(const KnapsackTile &t) {
        has_last = true;
        last = profit;
        at++;
        load(t);
    }
};

/* Merges the `same` unchanged children in the first slots with the `flipped` children after them, into t.order. exists,
 * profit: of each list, whether a child precedes this tile, and the profit of the last such child. Returns how many
 * dominated children this thread found. */
__device__ int knapsack_merge(KnapsackTile &t, int same, int flipped, const bool exists[2], const uint64_t profit[2]) {
    const int children = same + flipped, first = min(static_cast<int>(threadIdx.x) * KNAPSACK_ROWS, children);
    const int end = min(first + KNAPSACK_ROWS, children);
    int low = first > flipped ? first - flipped : 0, high = first < same ? first : same, dominated = 0;
    while (low < high) {
        int middle = (low + high) / 2;
        if (knapsack_before(t, middle, same + first - 1 - middle)) low = middle + 1;
        else high = middle;
    }
    KnapsackRun a = {low, same}, b = {same + first - low, children};
    a.start(t, 0, exists[0], profit[0]);
    b.start(t, same, exists[1], profit[1]);
    for (int rank = first; rank < end; rank++) {
        const bool before = a.residual != b.residual ? a.residual > b.residual : a.profit >= b.profit;
        const bool turned = b.at < b.end && (a.at >= a.end || !before);
        const int64_t residual = turned ? b.residual : a.residual;
        const bool other = turned ? a.has_last && a.last >= b.profit : b.has_last && b.last >= a.profit;
        const bool worse = other && residual != knapsack_too_heavy; /* too heavy does not count as dominated */
        t.order[rank] = static_cast<uint16_t>(worse ? +KNAPSACK_TILE : turned ? b.at : a.at);
        dominated += worse;
        if (turned) b.next(t);
        else a.next(t);
    }
    return dominated;
}

/* Fills the tile with the launch's children first .. first + children - 1. Returns how many
 * dominated children this thread found. */
template <bool DOMINANCE, class Nodes>
__device__ int knapsack_build(const KnapsackStep &p, const Nodes &nodes, const KnapsackShare &share, KnapsackTile &t,
                              int64_t first, int children) {
    const int thread = static_cast<int>(threadIdx.x);
    if (!DOMINANCE) {
        nodes.load_pairs(p, t, share.same + first / 2, children / 2);
        __syncthreads();
        return 0;
    }
    __shared__ int64_t corner[2];
    first += share.begin();
    if (thread < 64) { /* one warp for each end of the tile */
        int64_t split = knapsack_split<KnapsackWarp>(p, nodes, share, first + (thread < 32 ? 0 : children));
        if (thread % 32 == 0) corner[thread / 32] = split;
    }
    __syncthreads();
    const int64_t i = corner[0], j = first - i;
    const int same = static_cast<int>(corner[1] - i), flipped = children - same;
    nodes.load_lists(p, t, i, j, same, children);
    const bool exists[2] = {i > 0, j > 0};
    uint64_t profit[2] = {0, 0};
    if (exists[0]) profit[0] = knapsack_profit(nodes.find(p, i - 1));
    if (exists[1]) profit[1] = knapsack_profit(nodes.find(p, j - 1)) + p.job.profit;
    __syncthreads();
    int dominated = knapsack_merge(t, same, flipped, exists, profit);
    __syncthreads();
    return dominated;
}

} // namespace

#endif /* GPUOPT_CUDA_KNAPSACK_TILE_CUH */
