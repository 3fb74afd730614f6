/* SPDX-License-Identifier: MIT
 *
 * Children of one basis on the GPU: what the threads of a block find together.
 */
#ifndef GPUOPT_CUDA_SIMPLEX_CHILD_BLOCK_CUH
#define GPUOPT_CUDA_SIMPLEX_CHILD_BLOCK_CUH

#include "data.cuh"

namespace {

/* What the threads of a block find together. All of them call every function, and get the same results; reads and
 * writes before such a call come before those after it. */
class ChildBlock : ChildThreads {
  public:
    struct Data {
        uint64_t rank[2][CHILD_WARPS]; /* of doubles */
        double key[2][CHILD_WARPS], low[CHILD_WARPS], error_sum[CHILD_WARPS];
        int index[2][CHILD_WARPS];
    };

    /* The largest or the smallest key, of equal ones that with the lowest index; index < 0 does not count. */
    template <bool LARGEST>
    __device__ ChildBest best(double key, int index) {
        auto of_warp = [](uint64_t *rank, unsigned *i) {
            const uint64_t mine = *rank;
            *rank = warp_largest(mine);
            *i = warp_min(mine == *rank ? *i : ~0u);
        };
        uint64_t rank = index < 0 ? 0 : LARGEST ? rank_of(key) : ~rank_of(key);
        unsigned i = static_cast<unsigned>(index);
        of_warp(&rank, &i);
        turn_ ^= 1;
        if (lane() == 0) data->rank[turn_][warp()] = rank, data->index[turn_][warp()] = static_cast<int>(i);
        __syncthreads();
        rank = lane() < warps() ? data->rank[turn_][lane()] : 0;
        i = lane() < warps() ? static_cast<unsigned>(data->index[turn_][lane()]) : ~0u;
        of_warp(&rank, &i);
        return {of_rank(LARGEST ? rank : ~rank), static_cast<int>(i)};
    }
    __device__ double largest(double x) {
        const uint64_t rank = warp_largest(rank_of(x));
        turn_ ^= 1;
        if (lane() == 0) data->rank[turn_][warp()] = rank;
        __syncthreads();
        return of_rank(warp_largest(data->rank[turn_][lane() < warps() ? lane() : 0]));
    }
    __device__ double smallest(double x) { return -largest(-x); }
    /* In a fixed order. */
    __device__ double sum(double x) {
        x = warp_sum(x);
        turn_ ^= 1;
        if (lane() == 0) data->key[turn_][warp()] = x;
        __syncthreads();
        return warp_sum(lane() < warps() ? data->key[turn_][lane()] : 0);
    }
    __device__ gpuopt__simplex_sum total(gpuopt__simplex_sum x) {
        /* lanes add in different orders, so one of them supplies the result */
        x = lanes_total<32>(x);
        turn_ ^= 1;
        if (lane() == 0)
            data->key[turn_][warp()] = x.hi, data->low[warp()] = x.lo, data->error_sum[warp()] = x.error_sum;
        __syncthreads();
        gpuopt__simplex_sum all = {data->key[turn_][0], data->low[0], data->error_sum[0]};
        for (int w = 1; w < warps(); w++)
            gpuopt__simplex_add(&all, data->key[turn_][w], data->low[w], data->error_sum[w]);
        __syncthreads();
        return all;
    }

    /* The sum over the threads before this one; *all: over all of them. */
    __device__ int sum_before(int x, int *all) {
        int of_warp = x;
        for (int by = 1; by < 32; by *= 2) {
            const int other = __shfl_up_sync(~0u, of_warp, by);
            if (lane() >= by) of_warp += other;
        }
        turn_ ^= 1;
        if (lane() == 31) data->index[turn_][warp()] = of_warp;
        __syncthreads();
        const unsigned other = lane() < warps() ? static_cast<unsigned>(data->index[turn_][lane()]) : 0;
        *all = static_cast<int>(warp_count(other));
        return static_cast<int>(warp_count(lane() < warp() ? other : 0)) + of_warp - x;
    }

    /* The i < n for which `which` holds, in ascending order, in list. Returns their number. `which` is called twice. */
    template <class Which>
    __device__ int gather(int n, int *list, Which which) {
        const int from = static_cast<int>(int64_t{(n + 31) / 32} * warp() / warps()) * 32,
                  end = min(n, static_cast<int>(int64_t{(n + 31) / 32} * (warp() + 1) / warps()) * 32);
        int count = 0, all;
        for (int first = from; first < end; first += 32)
            count += __popc(__ballot_sync(~0u, first + lane() < end && which(first + lane())));
        int at = sum_before(lane() == 0 ? count : 0, &all);
        at = __shfl_sync(~0u, at, 0);
        for (int first = from; first < end && all > 0; first += 32) {
            const bool is = first + lane() < end && which(first + lane());
            const unsigned those = __ballot_sync(~0u, is);
            if (is) list[at + __popc(those & ((1u << lane()) - 1))] = first + lane();
            at += __popc(those);
        }
        __syncthreads();
        return all;
    }

  private:
    ChildView<Data> data;

    /* Doubles in their order as unsigned integers above 0; -0 is 0. */
    __device__ static uint64_t rank_of(double x) {
        const auto bits = static_cast<uint64_t>(__double_as_longlong(x + 0.0));
        return bits >> 63 ? ~bits : bits | uint64_t{1} << 63;
    }
    __device__ static double of_rank(uint64_t rank) {
        return __longlong_as_double(static_cast<long long>(rank >> 63 ? rank ^ uint64_t{1} << 63 : ~rank));
    }
    __device__ static uint64_t warp_largest(uint64_t x) {
        const auto high = static_cast<unsigned>(x >> 32), most = warp_max(high);
        return uint64_t{most} << 32 | warp_max(high == most ? static_cast<unsigned>(x) : 0);
    }

    int turn_ = 0; /* the buffer, of two, in which threads exchange data now; with two, one barrier is enough */
};

} // namespace

#endif /* GPUOPT_CUDA_SIMPLEX_CHILD_BLOCK_CUH */
