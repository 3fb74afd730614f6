/* SPDX-License-Identifier: MIT
 *
 * Batches of small linear programs on the GPU: a block as a team, with the loops and reductions of
 * gpuopt_impl/simplex/batch/team.h.
 *
 * A reduction has one barrier. Each warp writes its result to its own cell of the place, and after the barrier every
 * warp reads all cells. Before the next use of the same place there is at least one more barrier, so no cell is written
 * while another thread may still read it.
 */
#ifndef GPUOPT_CUDA_SIMPLEX_BATCH_TEAM_CUH
#define GPUOPT_CUDA_SIMPLEX_BATCH_TEAM_CUH

#include "../../../gpuopt_impl/simplex/batch/team.h"

namespace {

enum { MANY_WARPS = 16, MANY_PLACES = 4 };

struct BatchExchange {
    double key[MANY_PLACES][MANY_WARPS];
    int index[MANY_PLACES][MANY_WARPS];
};

__device__ int batch_thread() { return static_cast<int>(threadIdx.x); }
__device__ int batch_threads() { return static_cast<int>(blockDim.x); }

#define GPUOPT__SIMPLEX_BATCH __device__ __forceinline__
#define GPUOPT__SIMPLEX_BATCH_LARGE static __device__ __noinline__
#define GPUOPT__SIMPLEX_BATCH_EACH(i, count) for (i = batch_thread(); i < (count); i += batch_threads())
#define GPUOPT__SIMPLEX_BATCH_EACH_GROUP(i, count) for (i = batch_thread() / 32; i < (count); i += batch_threads() / 32)
#define GPUOPT__SIMPLEX_BATCH_EACH_LANE(j, count) for (j = batch_thread() % 32; j < (count); j += 32)
#define GPUOPT__SIMPLEX_BATCH_ONCE (batch_thread() == 0)
#define GPUOPT__SIMPLEX_BATCH_FIRST_GROUP (batch_thread() < 32)
#define GPUOPT__SIMPLEX_BATCH_FIRST_LANE (batch_thread() % 32 == 0)

__device__ __forceinline__ void gpuopt__simplex_batch_sync() { __syncthreads(); }
__device__ __forceinline__ int gpuopt__simplex_batch_any(int flag) { return __syncthreads_or(flag); }

__device__ __forceinline__ int gpuopt__simplex_batch_group() { return batch_thread() / 32; }
__device__ __forceinline__ int gpuopt__simplex_batch_groups() { return batch_threads() / 32; }

__device__ __forceinline__ int32_t gpuopt__simplex_batch_take_place(int32_t *next) { return atomicAdd(next, 1); }
__device__ __forceinline__ void gpuopt__simplex_batch_set_bits(uint32_t *word, uint32_t bits) { atomicOr(word, bits); }
__device__ __forceinline__ int gpuopt__simplex_batch_lowest(uint32_t bits) { return __ffs(static_cast<int>(bits)) - 1; }

__device__ __forceinline__ gpuopt__simplex_batch_best batch_best_of_warp(gpuopt__simplex_batch_best mine) {
    for (int half = 16; half > 0; half /= 2) {
        const double key = __shfl_xor_sync(~0u, mine.key, half);
        const int index = __shfl_xor_sync(~0u, mine.index, half);
        gpuopt__simplex_batch_better(&mine, key, index);
    }
    return mine;
}

__device__ __forceinline__ gpuopt__simplex_batch_best gpuopt__simplex_batch_best_of(void *exchange, int place,
                                                                                    gpuopt__simplex_batch_best mine) {
    auto *cells = static_cast<BatchExchange *>(exchange);
    const int warp = batch_thread() / 32, warps = batch_threads() / 32, lane = batch_thread() % 32;
    mine = batch_best_of_warp(mine);
    if (lane == 0) cells->key[place][warp] = mine.key, cells->index[place][warp] = mine.index;
    __syncthreads();
    return batch_best_of_warp(gpuopt__simplex_batch_best{lane < warps ? cells->key[place][lane] : 0,
                                                         lane < warps ? cells->index[place][lane] : -1});
}

/* Lane l < half gets the sum of lanes l and l + half; the other lanes' results are not used. */
__device__ __forceinline__ gpuopt__simplex_sum batch_sum_of_warp(gpuopt__simplex_sum mine) {
    for (int half = 16; half > 0; half /= 2) {
        const gpuopt__simplex_sum more = {__shfl_down_sync(~0u, mine.hi, half), __shfl_down_sync(~0u, mine.lo, half),
                                          __shfl_down_sync(~0u, mine.error_sum, half)};
        gpuopt__simplex_batch_add_sums(&mine, &more);
    }
    return mine;
}

#define GPUOPT__SIMPLEX_BATCH_SUM(total, e, count, add)    \
    do {                                                   \
        gpuopt__simplex_sum gpuopt_mine = {0, 0, 0};       \
        gpuopt__simplex_sum *const sum = &gpuopt_mine;     \
        GPUOPT__SIMPLEX_BATCH_EACH_LANE(e, count) { add; } \
        (total) = batch_sum_of_warp(gpuopt_mine);          \
    } while (0)

} // namespace

#endif /* GPUOPT_CUDA_SIMPLEX_BATCH_TEAM_CUH */
