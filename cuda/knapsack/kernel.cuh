/* SPDX-License-Identifier: MIT
 *
 * Knapsack on the GPU: a step, and the completion of a list, each in one launch; and gathering picked nodes.
 *
 * A block takes tile after tile of the step's children, ranked as on the CPU (gpuopt_impl/knapsack/cpu/step.h). It
 * builds the children in shared memory, merges them there if dominance is on, tests each, and writes the remaining
 * children behind the children of the preceding tiles. It finds the number of these by looking back (Merrill, Garland:
 * Single-pass Parallel Prefix Scan with Decoupled Look-back, 2016). So a step reads its nodes once (with dominance
 * twice, the second time usually from the L2 cache) and writes the children that stay once.
 *
 * Synchronisation of the blocks of a launch, and its correctness (PTX ISA 9.0, "Memory Consistency Model"). Launches
 * follow one another on a stream, so that each sees all earlier writes. No location is accessed with two sizes.
 *
 * Tickets. A block takes its tiles from a counter, by an atomic addition. So a block with tile t can rely on two facts:
 * running blocks already have the tiles before it, and none of them waits for a later tile. Looking back therefore
 * ends, however few blocks run at a time. The counter begins at 0 in each launch and ends below 2^32. The last block
 * resets it, when all have drawn the ticket that ended their loop. (2^32 tiles would be 2^42 nodes; a pool has 2^40 at
 * most.) Look-back. The word of a tile is written and read by volatile accesses of 64 bits, which are relaxed ones at
 * system scope ("Operation types": ld.volatile). Each is one access, so a reader sees the old word or the new one. The
 * word carries no information but itself. Children of different tiles are written to different places, and none is read
 * in the launch that writes it; so no access has to be ordered behind a word.
 * Report. Thread 0 of a block writes its record, then adds to `done`: fence and atomic are a release pattern. In the
 * block that finds all others done, the same thread's addition and the fence behind it are the acquire pattern.
 * bar.sync extends this to the block's other threads ("Release and acquire patterns", "Causality order").
 */
#ifndef GPUOPT_CUDA_KNAPSACK_KERNEL_CUH
#define GPUOPT_CUDA_KNAPSACK_KERNEL_CUH

#include <cub/block/block_reduce.cuh>

#include "../../gpuopt_impl/knapsack/search/pick.h"
#include "tile.cuh"

namespace {

/* ---- The test of children ---- */

/* Whether a child stays. Adds its effect on the search to `mine`. */
__device__ bool knapsack_test(const KnapsackStep &p, const KnapsackTile &t, int child, int64_t rank, int32_t &hint,
                              KnapsackBlockFound &mine) {
    gpuopt__knapsack_filled f;
    int64_t residual = t.residual[child];
    uint64_t profit = t.profit[child];
    if (residual == knapsack_too_heavy) return false;
    f.at = hint;
    bool stays = gpuopt__knapsack_fill(&p.view, p.job.core, residual, profit, hint, &f) &&
                 gpuopt__knapsack_beats(&p.view, &f, p.job.lower);
    hint = f.at;
    if (!stays) {
        mine.found.pruned++;
        return false;
    }
    mine.found.bound = gpuopt__max(mine.found.bound, gpuopt__knapsack_value(residual, profit, p.ratio));
    if (f.profit > mine.found.most) {
        mine.found.most = f.profit;
        mine.found.best = {residual, profit, t.decisions[child]};
        mine.rank = rank;
    }
    return true;
}

/* ---- Places of a tile's children ---- */

/* How many children of the preceding tiles stay; `count`: of this tile. By one warp. */
__device__ int64_t knapsack_look_back(const KnapsackStep &p, int64_t tile, int64_t count) {
    const unsigned long long mine = static_cast<unsigned long long>(count);
    const int lane = static_cast<int>(threadIdx.x % 32);
    volatile unsigned long long *word = p.shared.tile;
    int64_t before = 0;
    if (lane == 0) word[tile] = (tile == 0 ? +KNAPSACK_ALL : +KNAPSACK_ALONE) | p.epoch | mine;
    for (int64_t end = tile; end > 0; end -= 32) { /* tiles end - 32 .. end - 1, the last one in lane 0 */
        int64_t k = end - 1 - lane;
        unsigned long long seen = KNAPSACK_ALL | p.epoch; /* before the first tile: 0 */
        for (;;) {
            if (k >= 0) seen = word[k];
            bool silent = (seen & (KNAPSACK_EPOCHS - 1) << KNAPSACK_EPOCH) != p.epoch || seen >> 62 == 0;
            if (!__any_sync(~0u, silent)) break;
            __nanosleep(20);
        }
        unsigned all = __ballot_sync(~0u, (seen & KNAPSACK_ALL) != 0);
        int last = all ? __ffs(static_cast<int>(all)) - 1 : 31;
        unsigned long long sum = lane <= last ? seen & KNAPSACK_COUNT : 0;
        for (int half = 16; half > 0; half /= 2) sum += __shfl_xor_sync(~0u, sum, half);
        before += static_cast<int64_t>(sum);
        if (all) break;
    }
    if (lane == 0 && tile > 0) word[tile] = KNAPSACK_ALL | p.epoch | (static_cast<unsigned long long>(before) + mine);
    return before;
}

/* ---- Results of a launch ---- */

/* Adds another result. Of equally good solutions the solution of lower rank is kept. */
__device__ void knapsack_add(KnapsackBlockFound &sum, const KnapsackBlockFound &other) {
    bool better = other.found.most > sum.found.most || (other.found.most == sum.found.most && other.rank < sum.rank);
    gpuopt__knapsack_join(&sum.found, &other.found);
    if (!better) return;
    sum.found.best = other.found.best;
    sum.rank = other.rank;
}

__device__ KnapsackBlockFound knapsack_nothing(int64_t lower) { return {gpuopt__knapsack_nothing(lower), INT64_MAX}; }

struct KnapsackAdd {
    __device__ KnapsackBlockFound operator()(KnapsackBlockFound sum, const KnapsackBlockFound &other) const {
        knapsack_add(sum, other);
        return sum;
    }
};

/* Sums over the block's threads, in thread 0. The order of the terms is open: it makes no difference to the result. */
using KnapsackSum = cub::BlockReduce<KnapsackBlockFound, KNAPSACK_THREADS, cub::BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY>;

/* Writes the sum over all blocks to host memory. The last block to finish does it. */
__device__ void knapsack_report(const KnapsackShared &s, KnapsackSum::TempStorage &scratch,
                                const KnapsackBlockFound &mine, int64_t lower) {
    __shared__ bool last;
    __syncthreads(); /* scratch has been read */
    KnapsackBlockFound sum = KnapsackSum(scratch).Reduce(mine, KnapsackAdd());
    if (threadIdx.x == 0) {
        s.block[blockIdx.x] = sum;
        __threadfence(); /* releases */
        last = atomicAdd(s.done, 1) == gridDim.x - 1;
        __threadfence(); /* acquires */
    }
    __syncthreads();
    if (!last) return;
    sum = knapsack_nothing(lower);
    for (unsigned k = threadIdx.x; k < gridDim.x; k += KNAPSACK_THREADS) knapsack_add(sum, s.block[k]);
    sum = KnapsackSum(scratch).Reduce(sum, KnapsackAdd());
    if (threadIdx.x > 0) return;
    *s.found = sum;
    *s.done = *s.ticket = 0;
}

union KnapsackMemory {
    KnapsackTile tile;
    KnapsackSum::TempStorage scratch;
};

/* A launch's share of a step, as described at the top of this file. MARK: instead of writing the children, sets a bit
 * for each child that stays. */
template <bool DOMINANCE, bool MARK, class Nodes>
__device__ void knapsack_make(const KnapsackStep &p, const Nodes &nodes, const KnapsackShare &share) {
    __shared__ KnapsackMemory memory;
    __shared__ unsigned ticket;
    __shared__ int stay[KNAPSACK_WARPS];
    __shared__ int64_t before;
    KnapsackTile &t = memory.tile;
    const int lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);
    const int64_t all = share.children(), tiles = (all + KNAPSACK_TILE - 1) / KNAPSACK_TILE;
    KnapsackBlockFound mine = knapsack_nothing(p.job.lower);
    int32_t hint = p.view.at;
    for (;;) {
        __syncthreads();
        if (threadIdx.x == 0) ticket = atomicAdd(p.shared.ticket, 1);
        __syncthreads();
        const int64_t tile = ticket, first = tile * KNAPSACK_TILE;
        if (tile >= tiles) break;
        const int children = static_cast<int>(min(all - first, int64_t{KNAPSACK_TILE}));
        mine.found.dominated += knapsack_build<DOMINANCE>(p, nodes, share, t, first, children);
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
            if (lane == 0 && tile == tiles - 1) mine.found.children = earlier + total;
        }
        __syncthreads();
        int64_t to = before + behind;
#pragma unroll
        for (int row = 0; row < KNAPSACK_ROWS; row++) {
            int rank = (warp * KNAPSACK_ROWS + row) * 32 + lane;
            const int64_t nth = to + __popc(mask[row] & ((1u << lane) - 1));
            if ((mask[row] >> lane & 1) && nth < p.job.limit) { /* if more stay, the step fails */
                int child = DOMINANCE ? t.order[rank] : rank;
                int64_t at = p.job.to + nth * p.job.to_step;
                p.pool.residual[at] = t.residual[child];
                p.pool.profit[at] = t.profit[child];
                p.pool.decisions[at] = t.decisions[child];
            }
            to += __popc(mask[row]);
        }
    }
    knapsack_report(p.shared, memory.scratch, mine, p.job.lower);
}

template <bool DOMINANCE, bool MARK>
__global__ void __launch_bounds__(KNAPSACK_THREADS, 3) knapsack_expand(const __grid_constant__ KnapsackStep p) {
    knapsack_make<DOMINANCE, MARK>(p, KnapsackHere(), {p.job.same, p.job.same_end, p.job.flipped, p.job.flipped_end});
}

/* The completion of a list, see gpuopt_impl/knapsack/search/state.h: threads try different items. The rank of a
 * solution is its item. */
struct KnapsackCompletion {
    gpuopt__knapsack_search search; /* its lists are in host memory and are not used */
    gpuopt__knapsack_completion completion;
    gpuopt__knapsack_pool pool;
    KnapsackShared shared;
};

__global__ void __launch_bounds__(KNAPSACK_THREADS) knapsack_complete(const __grid_constant__ KnapsackCompletion p) {
    __shared__ KnapsackSum::TempStorage scratch;
    const gpuopt__knapsack_view &v = p.search.view;
    KnapsackBlockFound mine = knapsack_nothing(p.search.lower);
    for (int64_t item = v.first + int64_t{blockIdx.x} * KNAPSACK_THREADS + threadIdx.x; item < v.last;
         item += int64_t{gridDim.x} * KNAPSACK_THREADS) {
        int64_t at = 0,
                profit = gpuopt__knapsack_try(&p.search, &p.completion, &p.pool, static_cast<int32_t>(item), &at);
        if (profit <= mine.found.most) continue;
        mine.found.most = profit;
        mine.found.best = {p.pool.residual[at], p.pool.profit[at], p.pool.decisions[at]};
        mine.rank = item;
    }
    knapsack_report(p.shared, scratch, mine, p.search.lower);
}

/* Gathers picked nodes, from place p.to on. */
__global__ void knapsack_gather(gpuopt__knapsack_pool pool, const __grid_constant__ gpuopt__knapsack_pick p) {
    for (int64_t i = int64_t{blockIdx.x} * KNAPSACK_THREADS + threadIdx.x; i < p.count;
         i += int64_t{gridDim.x} * KNAPSACK_THREADS) {
        const int64_t from = gpuopt__knapsack_pick_place(&p, i), to = p.to + i * p.step;
        pool.residual[to] = pool.residual[from];
        pool.profit[to] = pool.profit[from];
        pool.decisions[to] = pool.decisions[from];
    }
}

} // namespace

#endif /* GPUOPT_CUDA_KNAPSACK_KERNEL_CUH */
