/* SPDX-License-Identifier: MIT
 *
 * primitives_bench: joint work of threads as in the kernels of single families, beside CUB's. What is ours is the code
 * of the file that is named, with its number of threads.
 */
#ifndef TESTS_BENCH_PRIMITIVES_TEAMS_CUH
#define TESTS_BENCH_PRIMITIVES_TEAMS_CUH

#include "gpuopt_impl/simplex/arith/step.h"
#include "tests/bench/primitives_blocks.cuh"

namespace {

/* The sum over the threads before this one, and over all of them: cuda/simplex/child/block.cuh, sum_before(). */
template <int SIZE>
struct BeforeOurs {
    struct Shared {
        int of[2][SIZE / 32];
    };
    int turn = 0;

    __device__ int before(Shared &s, int x, int *all) {
        const int lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);
        int of_warp = x;
        for (int by = 1; by < 32; by *= 2) {
            const int other = __shfl_up_sync(~0u, of_warp, by);
            if (lane >= by) of_warp += other;
        }
        turn ^= 1;
        if (lane == 31) s.of[turn][warp] = of_warp;
        __syncthreads();
        const unsigned other = lane < SIZE / 32 ? static_cast<unsigned>(s.of[turn][lane]) : 0;
        *all = static_cast<int>(warp_count(other));
        return static_cast<int>(warp_count(lane < warp ? other : 0)) + of_warp - x;
    }
    __device__ uint32_t apply(Shared &s, uint32_t x) {
        int all;
        const int at = before(s, static_cast<int>(x), &all);
        return static_cast<uint32_t>(at + all);
    }
};
template <int SIZE, cub::BlockScanAlgorithm Algorithm>
struct BeforeCub {
    using Scan = cub::BlockScan<int, SIZE, Algorithm>;
    using Shared = typename Scan::TempStorage;
    static __device__ uint32_t apply(Shared &s, uint32_t x) {
        int at, all;
        __syncthreads();
        Scan(s).ExclusiveSum(static_cast<int>(x), at, all);
        return static_cast<uint32_t>(at + all);
    }
};

/* The numbers below EACH * SIZE for which a condition holds, in ascending order: child/block.cuh, gather(). */
template <int SIZE, int EACH>
struct Gathering {
    uint32_t x[SIZE];
    int list[EACH * SIZE];

    __device__ bool holds(int i) const { return x[i % SIZE] >> (i / SIZE + 3) & 1; }
    __device__ uint32_t result(int all) const {
        return static_cast<uint32_t>(list[static_cast<int>(threadIdx.x) % max(all, 1)] + all);
    }
};
template <int SIZE, int EACH>
struct GatherOurs {
    struct Shared : Gathering<SIZE, EACH> {
        typename BeforeOurs<SIZE>::Shared sums;
    };
    BeforeOurs<SIZE> sum;

    __device__ uint32_t apply(Shared &s, uint32_t x) {
        enum { N = EACH * SIZE };
        const int lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);
        const int from = EACH * 32 * warp, end = from + EACH * 32;
        int count = 0, all;
        __syncthreads();
        s.x[threadIdx.x] = x;
        __syncthreads();
        for (int first = from; first < end; first += 32)
            count += __popc(__ballot_sync(~0u, first + lane < end && s.holds(first + lane)));
        int at = sum.before(s.sums, lane == 0 ? count : 0, &all);
        at = __shfl_sync(~0u, at, 0);
        for (int first = from; first < end && all > 0; first += 32) {
            const bool is = first + lane < end && s.holds(first + lane);
            const unsigned those = __ballot_sync(~0u, is);
            if (is) s.list[at + __popc(those & ((1u << lane) - 1))] = first + lane;
            at += __popc(those);
        }
        __syncthreads();
        return s.result(all);
    }
};
template <int SIZE, int EACH, cub::BlockScanAlgorithm Algorithm>
struct GatherCub {
    using Scan = cub::BlockScan<int, SIZE, Algorithm>;
    struct Shared : Gathering<SIZE, EACH> {
        typename Scan::TempStorage scan;
    };
    static __device__ uint32_t apply(Shared &s, uint32_t x) {
        int is[EACH], at[EACH], all;
        __syncthreads();
        s.x[threadIdx.x] = x;
        __syncthreads();
        const int first = EACH * static_cast<int>(threadIdx.x);
#pragma unroll
        for (int k = 0; k < EACH; k++) is[k] = s.holds(first + k);
        Scan(s.scan).ExclusiveSum(is, at, all);
#pragma unroll
        for (int k = 0; k < EACH; k++)
            if (is[k]) s.list[at[k]] = first + k;
        __syncthreads();
        return s.result(all);
    }
};

/* The largest key of a block with the lowest index, for all threads: cuda/simplex/batch/team.cuh. */
__device__ Keyed keyed_of_block(uint32_t x) { return {static_cast<double>(x), static_cast<int>(threadIdx.x)}; }
template <int SIZE>
struct BestOurs {
    struct Shared {
        double key[4][SIZE / 32];
        int index[4][SIZE / 32];
    };
    int place = 0;

    static __device__ Keyed of_warp(Keyed mine) {
        for (int half = 16; half > 0; half /= 2)
            mine = LargerKey()(mine, {__shfl_xor_sync(~0u, mine.key, half), __shfl_xor_sync(~0u, mine.index, half)});
        return mine;
    }
    __device__ uint32_t apply(Shared &s, uint32_t x) {
        const int warp = static_cast<int>(threadIdx.x / 32), lane = static_cast<int>(threadIdx.x % 32);
        Keyed mine = of_warp(keyed_of_block(x));
        place = (place + 1) % 4;
        if (lane == 0) s.key[place][warp] = mine.key, s.index[place][warp] = mine.index;
        __syncthreads();
        mine = lane < SIZE / 32 ? Keyed{s.key[place][lane], s.index[place][lane]} : Keyed{-1, INT32_MAX};
        return of_key(of_warp(mine));
    }
};
template <int SIZE, cub::BlockReduceAlgorithm Algorithm>
struct BestCub {
    using Reduce = cub::BlockReduce<Keyed, SIZE, Algorithm>;
    struct Shared {
        typename Reduce::TempStorage block;
        uint32_t best;
    };
    static __device__ uint32_t apply(Shared &s, uint32_t x) {
        const Keyed best = Reduce(s.block).Reduce(keyed_of_block(x), LargerKey());
        if (threadIdx.x == 0) s.best = of_key(best);
        __syncthreads();
        return s.best;
    }
};

/* A sum in twice the precision over a warp, for its first lane: simplex/batch/team.cuh, child/block.cuh. */
struct AddSums {
    __device__ gpuopt__simplex_sum operator()(gpuopt__simplex_sum a, const gpuopt__simplex_sum &b) const {
        gpuopt__simplex_add(&a, b.hi, b.lo, b.error_sum);
        return a;
    }
};
__device__ gpuopt__simplex_sum sum_of(uint32_t x) { return {static_cast<double>(x), 0, 0}; }
struct PreciseOurs {
    using Shared = Nothing;
    static __device__ uint32_t apply(Shared &, uint32_t x) {
        gpuopt__simplex_sum mine = sum_of(x);
        for (int half = 16; half > 0; half /= 2)
            mine = AddSums()(mine, {__shfl_down_sync(~0u, mine.hi, half), __shfl_down_sync(~0u, mine.lo, half),
                                    __shfl_down_sync(~0u, mine.error_sum, half)});
        return threadIdx.x % 32 ? x : static_cast<uint32_t>(mine.hi);
    }
};
template <class T, class Op>
struct WarpCub {
    using Reduce = cub::WarpReduce<T>;
    struct Shared {
        typename Reduce::TempStorage warp[warps];
    };
    static __device__ T of(Shared &s, T mine) { return Reduce(s.warp[threadIdx.x / 32]).Reduce(mine, Op()); }
};
struct PreciseCub : WarpCub<gpuopt__simplex_sum, AddSums> {
    static __device__ uint32_t apply(Shared &s, uint32_t x) {
        const gpuopt__simplex_sum all = of(s, sum_of(x));
        return threadIdx.x % 32 ? x : static_cast<uint32_t>(all.hi);
    }
};

/* The least cost of a warp with the lowest value: cuda/elimination/value_phase.cuh, assign_variable(). */
struct Assigned {
    uint64_t cost;
    double value;
    int of;
};
struct Cheaper {
    __device__ Assigned operator()(const Assigned &a, const Assigned &b) const {
        return b.cost < a.cost || (b.cost == a.cost && b.of < a.of) ? b : a;
    }
};
__device__ Assigned assigned(uint32_t x) { return {x, 0, static_cast<int>(threadIdx.x % 32)}; }
__device__ uint32_t of_assigned(const Assigned &a, uint32_t x) {
    return threadIdx.x % 32 ? x : static_cast<uint32_t>(a.cost) + static_cast<uint32_t>(a.of);
}
struct CheapestOurs {
    using Shared = Nothing;
    static __device__ uint32_t apply(Shared &, uint32_t x) {
        Assigned mine = assigned(x);
        for (int half = 16; half > 0; half /= 2)
            mine = Cheaper()(mine, {__shfl_xor_sync(~0u, mine.cost, half), __shfl_xor_sync(~0u, mine.value, half),
                                    __shfl_xor_sync(~0u, mine.of, half)});
        return of_assigned(mine, x);
    }
};
struct CheapestCub : WarpCub<Assigned, Cheaper> {
    static __device__ uint32_t apply(Shared &s, uint32_t x) { return of_assigned(of(s, assigned(x)), x); }
};

/* The largest of 64 bits over a warp, for its first lane: cuda/basis/device.cuh, cuda/elimination/packed.cuh. */
struct Larger {
    template <class T>
    __device__ T operator()(T a, T b) const {
        return b > a ? b : a;
    }
};
__device__ unsigned long long long_of(uint32_t x) { return (unsigned long long){x} << 30 | x; }
struct LongestOurs {
    using Shared = Nothing;
    static __device__ uint32_t apply(Shared &, uint32_t x) {
        unsigned long long mine = long_of(x);
        for (int half = 16; half > 0; half /= 2) mine = Larger()(mine, __shfl_xor_sync(~0u, mine, half));
        return threadIdx.x % 32 ? x : static_cast<uint32_t>(mine);
    }
};
struct LongestCub : WarpCub<unsigned long long, Larger> {
    static __device__ uint32_t apply(Shared &s, uint32_t x) {
        const unsigned long long all = of(s, long_of(x));
        return threadIdx.x % 32 ? x : static_cast<uint32_t>(all);
    }
};

/* The bucket of 256 in which a sum is reached, by every warp: simplex/child/ratio.cuh, narrow(). */
struct Buckets {
    unsigned long long of[warps][256];

    template <class Scan>
    __device__ uint32_t find(uint32_t x, Scan scan) {
        enum { EACH = 8 };
        const int lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);
        unsigned long long *bucket = of[warp], sum = 0;
        for (int k = 0; k < EACH; k++) bucket[lane + 32 * k] = (x >> k & 7) + 1;
        __syncwarp();
        for (int k = 0; k < EACH; k++) sum += bucket[EACH * lane + k];
        const unsigned long long up_to = scan(sum), slack = 512;
        const int reached = __ffs(static_cast<int>(__ballot_sync(~0u, up_to >= slack))) - 1;
        unsigned long long taken = __shfl_sync(~0u, up_to - sum, max(reached, 0));
        int at = EACH * max(reached, 0);
        while (reached >= 0 && taken + bucket[at] < slack) taken += bucket[at++];
        __syncwarp();
        return static_cast<uint32_t>(at) + x;
    }
};
struct BucketOurs {
    using Shared = Buckets;
    static __device__ uint32_t apply(Shared &s, uint32_t x) {
        return s.find(x, [](unsigned long long sum) {
            for (int by = 1; by < 32; by *= 2) {
                const unsigned long long other = __shfl_up_sync(~0u, sum, by);
                if (static_cast<int>(threadIdx.x % 32) >= by) sum += other;
            }
            return sum;
        });
    }
};
struct BucketCub {
    using Scan = cub::WarpScan<unsigned long long>;
    struct Shared : Buckets {
        Scan::TempStorage warp[warps];
    };
    static __device__ uint32_t apply(Shared &s, uint32_t x) {
        return s.find(x, [&](unsigned long long sum) {
            Scan(s.warp[threadIdx.x / 32]).InclusiveSum(sum, sum);
            return sum;
        });
    }
};

/* The largest integer of a block, for thread 0: cuda/basis/columns.cuh, find_column_scales(). */
struct ExponentOurs {
    struct Shared {
        int most[warps];
    };
    static __device__ uint32_t apply(Shared &s, uint32_t x) {
        int largest = static_cast<int>(x);
        for (int half = 16; half > 0; half /= 2) largest = max(largest, __shfl_xor_sync(~0u, largest, half));
        __syncthreads();
        if (threadIdx.x % 32 == 0) s.most[threadIdx.x / 32] = largest;
        __syncthreads();
        if (threadIdx.x) return x;
        for (int w = 1; w < warps; w++) largest = max(largest, s.most[w]);
        return static_cast<uint32_t>(largest);
    }
};
template <cub::BlockReduceAlgorithm Algorithm>
struct ExponentCub {
    using Reduce = cub::BlockReduce<int, threads, Algorithm>;
    using Shared = typename Reduce::TempStorage;
    static __device__ uint32_t apply(Shared &s, uint32_t x) {
        __syncthreads();
        const int largest = Reduce(s).Reduce(static_cast<int>(x), Larger());
        return threadIdx.x ? x : static_cast<uint32_t>(largest);
    }
};

template <int SIZE>
void before_rows(Machine *m, const char *what) {
    row<BeforeOurs<SIZE>, SIZE>(m, what, "ours", true);
    row<BeforeCub<SIZE, cub::BLOCK_SCAN_WARP_SCANS>, SIZE>(m, "", "CUB, warps", false);
    row<BeforeCub<SIZE, cub::BLOCK_SCAN_RAKING>, SIZE>(m, "", "CUB, raking", false);
}

void teams_table(Machine *m) {
    before_rows<256>(m, "scan of integers and their sum, 256 threads");
    before_rows<512>(m, "512 threads");
    before_rows<1024>(m, "1024 threads");
    row<GatherOurs<512, 4>, 512>(m, "list of those of 2048 that meet a condition, 512 threads", "ours", true);
    row<GatherCub<512, 4, cub::BLOCK_SCAN_WARP_SCANS>, 512>(m, "", "CUB, warps", false);
    row<GatherCub<512, 4, cub::BLOCK_SCAN_RAKING>, 512>(m, "", "CUB, raking", false);
    row<BestOurs<512>, 512>(m, "largest key and its index over a block, 512 threads", "ours", true);
    row<BestCub<512, cub::BLOCK_REDUCE_WARP_REDUCTIONS>, 512>(m, "", "CUB, warps", false);
    row<BestCub<512, cub::BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY>, 512>(m, "", "CUB, raking", false);
    row<PreciseOurs>(m, "sum in twice the precision over a warp", "ours", true);
    row<PreciseCub>(m, "", "CUB", false);
    row<CheapestOurs>(m, "least cost and its value over a warp", "ours", true);
    row<CheapestCub>(m, "", "CUB", false);
    row<LongestOurs>(m, "largest of 64 bits over a warp", "ours", true);
    row<LongestCub>(m, "", "CUB", false);
    row<BucketOurs>(m, "bucket of 256 where a sum is reached, a warp", "ours", true);
    row<BucketCub>(m, "", "CUB", false);
    row<ExponentOurs>(m, "largest integer of a block", "ours", true);
    row<ExponentCub<cub::BLOCK_REDUCE_WARP_REDUCTIONS>>(m, "", "CUB, warps", false);
    row<ExponentCub<cub::BLOCK_REDUCE_RAKING>>(m, "", "CUB, raking", false);
}

} // namespace

#endif /* TESTS_BENCH_PRIMITIVES_TEAMS_CUH */
