/* SPDX-License-Identifier: MIT
 *
 * Knapsack on the GPU: a step, and the completion of a list, each in one launch.
 *
 * A block takes tile after tile of the step's children, ranked as on the CPU (gpuopt_impl/knapsack/cpu_step.h). It
 * builds the children in shared memory, merges them there if dominance is on, tests each, and writes those that stay
 * after those of the preceding tiles, whose number it finds by looking back (Merrill, Garland: Single-pass Parallel
 * Prefix Scan with Decoupled Look-back, 2016). So a step reads its nodes once (with dominance twice, the second time
 * usually from the L2 cache) and writes the children that stay once.
 */
#ifndef GPUOPT_CUDA_KNAPSACK_KERNEL_CUH
#define GPUOPT_CUDA_KNAPSACK_KERNEL_CUH

#include "../../gpuopt_impl/knapsack/search.h"
#include "../common/warp.cuh"

namespace {

enum : int {
    KNAPSACK_THREADS = 256,
    KNAPSACK_WARPS = KNAPSACK_THREADS / 32,
    KNAPSACK_ROWS = 8, /* children per thread */
    KNAPSACK_TILE = KNAPSACK_THREADS * KNAPSACK_ROWS
};

/* The word of a tile tells later tiles nothing yet, how many of its children stay (ALONE), or how many of its own
 * and of all preceding tiles stay (ALL). It holds a count of 40 bits and the epoch of its step, 22 bits: words of
 * other epochs tell nothing, so they need not be cleared between steps. */
enum : unsigned long long {
    KNAPSACK_ALONE = 1ull << 62,
    KNAPSACK_ALL = 2ull << 62,
    KNAPSACK_COUNT = (1ull << 40) - 1,
    KNAPSACK_EPOCHS = 1ull << 22
};

/* What a block found. The best solution is the one of lowest rank among those with the most profit. */
struct KnapsackBlockFound {
    gpuopt__knapsack_found found;
    int64_t rank;
};

/* What the launches of a handle share, in device memory except `found`. */
struct KnapsackShared {
    unsigned long long *tile;  /* [tiles of the largest step] */
    unsigned *ticket, *done;   /* tiles handed out, blocks that have finished */
    KnapsackBlockFound *block; /* [blocks of the largest launch] */
    KnapsackBlockFound *found; /* pinned host memory */
};

struct KnapsackStep {
    gpuopt__knapsack_view view;
    gpuopt__knapsack_job job;
    gpuopt__knapsack_pool pool;
    KnapsackShared shared;
    double ratio;
    int64_t tiles;
    unsigned first_ticket;
    unsigned long long epoch; /* shifted to its place in a word */
    unsigned *mark;           /* MARK: a bit for each child */
};

struct KnapsackTile {
    int64_t room[KNAPSACK_TILE];
    uint64_t profit[KNAPSACK_TILE];
    uint32_t decisions[KNAPSACK_TILE];
    uint16_t order[KNAPSACK_TILE]; /* with dominance: the children in their order; TILE: a dominated child */
};

/* The room of a child that is too heavy: it comes after all others and is never kept. */
constexpr int64_t knapsack_no_room = INT64_MIN;

__device__ int64_t knapsack_flipped_room(const gpuopt__knapsack_job &job, int64_t room) {
    return room < job.least ? knapsack_no_room : room + job.room;
}

/* ---- Where a tile begins in the two lists ---- */

/* How many of the children before this rank are unchanged. By one warp, which tries 32 positions at a time. */
__device__ int64_t knapsack_split(const KnapsackStep &p, int64_t rank) {
    const gpuopt__knapsack_job &job = p.job;
    const int lane = static_cast<int>(threadIdx.x % 32);
    int64_t low = rank > job.count ? rank - job.count : 0, high = rank < job.count ? rank : job.count;
    while (low < high) { /* the answer is in low .. high */
        int64_t width = (high - low + 31) / 32, i = low + lane * width, j = rank - 1 - i;
        bool before = false;
        if (i < high) {
            int64_t a = job.from + i * job.from_step, b = job.from + j * job.from_step;
            int64_t room = p.pool.room[a], other = knapsack_flipped_room(job, p.pool.room[b]);
            before = room != other ? room > other : p.pool.profit[a] >= p.pool.profit[b] + job.profit;
        }
        int yes = __popc(__ballot_sync(~0u, before)); /* `before` holds for a prefix of the lanes */
        if (yes == 0) return low;
        high = min(high, low + yes * width);
        low += (yes - 1) * width + 1;
    }
    return low;
}

/* ---- The children of a tile ---- */

__device__ void knapsack_load(const KnapsackStep &p, KnapsackTile &t, int slot, int64_t parent, bool flipped) {
    int64_t at = p.job.from + parent * p.job.from_step, room = p.pool.room[at];
    uint64_t profit = p.pool.profit[at];
    uint32_t decisions = p.pool.decisions[at] << 1;
    t.room[slot] = flipped ? knapsack_flipped_room(p.job, room) : room;
    t.profit[slot] = flipped ? profit + p.job.profit : profit;
    t.decisions[slot] = decisions | flipped;
}

/* Whether the unchanged child i comes before the flipped child j. */
__device__ bool knapsack_before(const KnapsackTile &t, int i, int j) {
    return t.room[i] != t.room[j] ? t.room[i] > t.room[j] : t.profit[i] >= t.profit[j];
}

/* Merges the `same` unchanged children in the first slots with the `flipped` ones after them, into t.order. exists,
 * profit: of each list, whether a child precedes this tile, and the profit of the last one that does. Returns how many
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
    int i = low, j = first - low;
    for (int rank = first; rank < end; rank++) {
        bool turned = i >= same || (j < flipped && !knapsack_before(t, i, same + j));
        int child = turned ? same + j++ : i++;
        int other = (turned ? i : j) - 1; /* the last child of the other list before this one */
        bool worse = other >= 0 ? t.profit[turned ? other : same + other] >= t.profit[child]
                                : exists[!turned] && profit[!turned] >= t.profit[child];
        worse = worse && t.room[child] != knapsack_no_room; /* too heavy, which does not count as dominated */
        t.order[rank] = static_cast<uint16_t>(worse ? +KNAPSACK_TILE : child);
        dominated += worse;
    }
    return dominated;
}

/* Fills the tile with the children of ranks first .. first + children - 1. Returns how many dominated children this
 * thread found. */
template <bool DOMINANCE>
__device__ int knapsack_build(const KnapsackStep &p, KnapsackTile &t, int64_t first, int children) {
    const int thread = static_cast<int>(threadIdx.x);
    if (!DOMINANCE) {
        for (int k = thread; k < children / 2; k += KNAPSACK_THREADS) {
            knapsack_load(p, t, 2 * k, first / 2 + k, false);
            knapsack_load(p, t, 2 * k + 1, first / 2 + k, true);
        }
        __syncthreads();
        return 0;
    }
    __shared__ int64_t corner[2];
    if (thread < 64) { /* one warp for each end of the tile */
        int64_t split = knapsack_split(p, first + (thread < 32 ? 0 : children));
        if (thread % 32 == 0) corner[thread / 32] = split;
    }
    __syncthreads();
    const int64_t i = corner[0], j = first - i;
    const int same = static_cast<int>(corner[1] - i), flipped = children - same;
    for (int k = thread; k < children; k += KNAPSACK_THREADS)
        knapsack_load(p, t, k, k < same ? i + k : j + k - same, k >= same);
    const bool exists[2] = {i > 0, j > 0};
    uint64_t profit[2] = {0, 0};
    if (exists[0]) profit[0] = p.pool.profit[p.job.from + (i - 1) * p.job.from_step];
    if (exists[1]) profit[1] = p.pool.profit[p.job.from + (j - 1) * p.job.from_step] + p.job.profit;
    __syncthreads();
    int dominated = knapsack_merge(t, same, flipped, exists, profit);
    __syncthreads();
    return dominated;
}

/* Whether a child stays. Adds what it means for the search to `mine`. */
__device__ bool knapsack_test(const KnapsackStep &p, const KnapsackTile &t, int child, int64_t rank, int32_t &hint,
                              KnapsackBlockFound &mine) {
    gpuopt__knapsack_filled f;
    int64_t room = t.room[child];
    uint64_t profit = t.profit[child];
    if (room == knapsack_no_room) return false;
    f.at = hint;
    bool stays = gpuopt__knapsack_fill(&p.view, p.job.core, room, profit, hint, &f) &&
                 gpuopt__knapsack_beats(&p.view, &f, p.job.lower);
    hint = f.at;
    if (!stays) {
        mine.found.pruned++;
        return false;
    }
    mine.found.bound = gpuopt__max(mine.found.bound, gpuopt__knapsack_value(room, profit, p.ratio));
    if (f.profit > mine.found.most) {
        mine.found.most = f.profit;
        mine.found.best = {room, profit, t.decisions[child]};
        mine.rank = rank;
    }
    return true;
}

/* ---- Where the children of a tile go ---- */

/* How many children of the preceding tiles stay; `count`: those of this tile. By one warp. */
__device__ int64_t knapsack_look_back(const KnapsackStep &p, int64_t tile, int64_t count) {
    const unsigned long long mine = static_cast<unsigned long long>(count);
    const int lane = static_cast<int>(threadIdx.x % 32);
    volatile unsigned long long *word = p.shared.tile;
    int64_t before = 0;
    if (lane == 0) word[tile] = (tile == 0 ? +KNAPSACK_ALL : +KNAPSACK_ALONE) | p.epoch | mine;
    for (int64_t end = tile; end > 0; end -= 32) { /* tiles end - 32 .. end - 1, the last one in lane 0 */
        int64_t k = end - 1 - lane;
        unsigned long long said = KNAPSACK_ALL | p.epoch; /* before the first tile: 0 */
        for (;;) {
            if (k >= 0) said = word[k];
            bool silent = (said & (KNAPSACK_EPOCHS - 1) << 40) != p.epoch || said >> 62 == 0;
            if (!__any_sync(~0u, silent)) break;
            __nanosleep(20);
        }
        unsigned all = __ballot_sync(~0u, (said & KNAPSACK_ALL) != 0);
        int last = all ? __ffs(static_cast<int>(all)) - 1 : 31;
        unsigned long long sum = lane <= last ? said & KNAPSACK_COUNT : 0;
        for (int half = 16; half > 0; half /= 2) sum += __shfl_xor_sync(~0u, sum, half);
        before += static_cast<int64_t>(sum);
        if (all) break;
    }
    if (lane == 0 && tile > 0) word[tile] = KNAPSACK_ALL | p.epoch | (static_cast<unsigned long long>(before) + mine);
    return before;
}

/* ---- What a launch found ---- */

/* Adds another result. Of equally good solutions the one of lower rank is kept. */
__device__ void knapsack_add(KnapsackBlockFound &sum, const KnapsackBlockFound &other) {
    bool better = other.found.most > sum.found.most || (other.found.most == sum.found.most && other.rank < sum.rank);
    gpuopt__knapsack_join(&sum.found, &other.found);
    if (!better) return;
    sum.found.best = other.found.best;
    sum.rank = other.rank;
}

__device__ KnapsackBlockFound knapsack_nothing(int64_t lower) { return {gpuopt__knapsack_nothing(lower), INT64_MAX}; }

/* The sum over the block's threads, in thread 0. Overwrites scratch [THREADS], in shared memory. */
__device__ KnapsackBlockFound knapsack_block_sum(KnapsackBlockFound *scratch, const KnapsackBlockFound &mine) {
    const unsigned thread = threadIdx.x;
    __syncthreads();
    scratch[thread] = mine;
    for (unsigned half = KNAPSACK_THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (thread < half) knapsack_add(scratch[thread], scratch[thread + half]);
    }
    return scratch[thread];
}

/* Writes the sum over all blocks to the host. The last block to finish does it. */
__device__ void knapsack_report(const KnapsackShared &s, KnapsackBlockFound *scratch, const KnapsackBlockFound &mine,
                                int64_t lower) {
    __shared__ bool last;
    KnapsackBlockFound sum = knapsack_block_sum(scratch, mine);
    if (threadIdx.x == 0) {
        s.block[blockIdx.x] = sum;
        __threadfence();
        last = atomicAdd(s.done, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last) return;
    __threadfence();
    sum = knapsack_nothing(lower);
    for (unsigned k = threadIdx.x; k < gridDim.x; k += KNAPSACK_THREADS) knapsack_add(sum, s.block[k]);
    sum = knapsack_block_sum(scratch, sum);
    if (threadIdx.x > 0) return;
    *s.found = sum;
    *s.done = 0;
}

union KnapsackMemory {
    KnapsackTile tile;
    KnapsackBlockFound scratch[KNAPSACK_THREADS];
};

/* One step, as described at the top of this file. MARK: instead of writing the children, sets a bit for each that
 * stays. */
template <bool DOMINANCE, bool MARK>
__global__ void __launch_bounds__(KNAPSACK_THREADS, 3) knapsack_expand(const __grid_constant__ KnapsackStep p) {
    __shared__ KnapsackMemory memory;
    __shared__ unsigned ticket;
    __shared__ int stay[KNAPSACK_WARPS];
    __shared__ int64_t before;
    KnapsackTile &t = memory.tile;
    const int lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);
    const int64_t all = 2 * p.job.count;
    KnapsackBlockFound mine = knapsack_nothing(p.job.lower);
    int32_t hint = p.view.at;
    for (;;) {
        __syncthreads();
        if (threadIdx.x == 0) ticket = atomicAdd(p.shared.ticket, 1) - p.first_ticket;
        __syncthreads();
        const int64_t tile = ticket, first = tile * KNAPSACK_TILE;
        if (tile >= p.tiles) break;
        const int children = static_cast<int>(min(all - first, int64_t{KNAPSACK_TILE}));
        mine.found.dominated += knapsack_build<DOMINANCE>(p, t, first, children);
        unsigned mask[KNAPSACK_ROWS];
        int count = 0;
#pragma unroll
        for (int row = 0; row < KNAPSACK_ROWS; row++) {
            int rank = (warp * KNAPSACK_ROWS + row) * 32 + lane, child = KNAPSACK_TILE;
            if (rank < children) child = DOMINANCE ? t.order[rank] : rank;
            bool stays = child < KNAPSACK_TILE && knapsack_test(p, t, child, first + rank, hint, mine);
            mask[row] = __ballot_sync(~0u, stays);
            count += __popc(mask[row]);
            if (MARK && lane == 0 && rank < children) p.mark[(first + rank) / 32] = mask[row];
        }
        if (lane == 0) stay[warp] = count;
        __syncthreads();
        int behind = 0, total = 0;
#pragma unroll
        for (int k = 0; k < KNAPSACK_WARPS; k++) {
            behind += k < warp ? stay[k] : 0;
            total += stay[k];
        }
        if (MARK) {
            if (threadIdx.x == 0) mine.found.children += total;
            continue;
        }
        if (warp == 0) {
            int64_t earlier = knapsack_look_back(p, tile, total);
            if (lane == 0) before = earlier;
            if (lane == 0 && tile == p.tiles - 1) mine.found.children = earlier + total;
        }
        __syncthreads();
        int64_t to = before + behind;
#pragma unroll
        for (int row = 0; row < KNAPSACK_ROWS; row++) {
            int rank = (warp * KNAPSACK_ROWS + row) * 32 + lane;
            if (mask[row] >> lane & 1) {
                int child = DOMINANCE ? t.order[rank] : rank;
                int64_t at = p.job.to + (to + __popc(mask[row] & ((1u << lane) - 1))) * p.job.to_step;
                p.pool.room[at] = t.room[child];
                p.pool.profit[at] = t.profit[child];
                p.pool.decisions[at] = t.decisions[child];
            }
            to += __popc(mask[row]);
        }
    }
    knapsack_report(p.shared, memory.scratch, mine, p.job.lower);
}

/* The completion of a list, see gpuopt_impl/knapsack/search.h: threads try different items. The rank of a solution
 * is its item. */
struct KnapsackCompletion {
    gpuopt__knapsack_search search; /* its lists are in host memory and are not used */
    gpuopt__knapsack_completion completion;
    gpuopt__knapsack_pool pool;
    KnapsackShared shared;
};

__global__ void __launch_bounds__(KNAPSACK_THREADS) knapsack_complete(const __grid_constant__ KnapsackCompletion p) {
    __shared__ KnapsackBlockFound scratch[KNAPSACK_THREADS];
    const gpuopt__knapsack_view &v = p.search.view;
    KnapsackBlockFound mine = knapsack_nothing(p.search.lower);
    for (int64_t item = v.first + int64_t{blockIdx.x} * KNAPSACK_THREADS + threadIdx.x; item < v.last;
         item += int64_t{gridDim.x} * KNAPSACK_THREADS) {
        int64_t at = 0,
                profit = gpuopt__knapsack_try(&p.search, &p.completion, &p.pool, static_cast<int32_t>(item), &at);
        if (profit <= mine.found.most) continue;
        mine.found.most = profit;
        mine.found.best = {p.pool.room[at], p.pool.profit[at], p.pool.decisions[at]};
        mine.rank = item;
    }
    knapsack_report(p.shared, scratch, mine, p.search.lower);
}

} // namespace

#endif /* GPUOPT_CUDA_KNAPSACK_KERNEL_CUH */
