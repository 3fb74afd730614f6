/* SPDX-License-Identifier: MIT
 *
 * primitives_bench: joint work of the threads of a warp or a block.
 */
#ifndef TESTS_BENCH_PRIMITIVES_BLOCKS_CUH
#define TESTS_BENCH_PRIMITIVES_BLOCKS_CUH

#include <cub/cub.cuh>

#include "cuda/common/warp.cuh"
#include "cuda/knapsack/kernel.cuh"
#include "tests/bench/primitives_common.cuh"

namespace {

/* A primitive is a type with Shared and a function of all threads. From each thread's number it makes a number that
 * depends on the other threads' numbers and feeds the next round. */

template <class Primitive, int SIZE>
__global__ void __launch_bounds__(SIZE) repeat(uint32_t *result) {
    __shared__ typename Primitive::Shared shared;
    Primitive primitive;
    uint32_t x = drawn(blockIdx.x * SIZE + threadIdx.x) & 1023;
#pragma unroll 1
    for (int round = 0; round < rounds; round++) x = (primitive.apply(shared, x) + threadIdx.x) & 1023;
    result[blockIdx.x * SIZE + threadIdx.x] = x;
}

struct Nothing {};

/* The sum over a warp. */
struct WarpSumOurs {
    using Shared = Nothing;
    static __device__ uint32_t apply(Shared &, uint32_t x) { return static_cast<uint32_t>(warp_sum(x)); }
};
struct WarpSumCub {
    using Reduce = cub::WarpReduce<double>;
    struct Shared {
        Reduce::TempStorage warp[warps];
    };
    static __device__ uint32_t apply(Shared &s, uint32_t x) { /* its result is in lane 0 alone */
        double sum = Reduce(s.warp[threadIdx.x / 32]).Sum(x);
        return static_cast<uint32_t>(__shfl_sync(~0u, sum, 0));
    }
};

/* The largest key of a warp with the lowest index. */
struct Keyed {
    double key;
    int index;
};
struct LargerKey {
    __device__ Keyed operator()(const Keyed &a, const Keyed &b) const {
        return b.key > a.key || (b.key == a.key && b.index < a.index) ? b : a;
    }
};
__device__ Keyed keyed(uint32_t x) { return {static_cast<double>(x), static_cast<int>(threadIdx.x % 32)}; }
__device__ uint32_t of_key(Keyed k) { return static_cast<uint32_t>(k.key) + static_cast<uint32_t>(k.index); }

struct WarpLargestBits { /* cuda/simplex/iterations/exchange.cuh: the bits of the key in halves */
    using Shared = Nothing;
    static __device__ uint32_t apply(Shared &, uint32_t x) {
        const Keyed own = keyed(x);
        const unsigned own_high = static_cast<unsigned>(__double2hiint(own.key)),
                       own_low = static_cast<unsigned>(__double2loint(own.key));
        const unsigned high = warp_max(own_high), low = warp_max(own_high == high ? own_low : 0);
        const bool mine = own_high == high && own_low == low;
        const unsigned index = warp_min(mine ? static_cast<unsigned>(own.index) : ~0u);
        return of_key({__hiloint2double(static_cast<int>(high), static_cast<int>(low)), static_cast<int>(index)});
    }
};
struct WarpLargestButterfly { /* cuda/basis/load.cuh */
    using Shared = Nothing;
    static __device__ uint32_t apply(Shared &, uint32_t x) {
        Keyed best = keyed(x);
        for (int half = 16; half > 0; half /= 2)
            best = LargerKey()(best, {__shfl_xor_sync(~0u, best.key, half), __shfl_xor_sync(~0u, best.index, half)});
        return of_key(best);
    }
};
struct WarpLargestCub {
    using Reduce = cub::WarpReduce<Keyed>;
    struct Shared {
        Reduce::TempStorage warp[warps];
    };
    static __device__ uint32_t apply(Shared &s, uint32_t x) {
        const Keyed best = Reduce(s.warp[threadIdx.x / 32]).Reduce(keyed(x), LargerKey());
        return __shfl_sync(~0u, of_key(best), 0);
    }
};

/* The sum over a block, for all threads. */
struct BlockSumOurs {
    struct Shared {
        double of[warps];
    };
    static __device__ uint32_t apply(Shared &s, uint32_t x) {
        double sum = warp_sum(x);
        __syncthreads();
        if (threadIdx.x % 32 == 0) s.of[threadIdx.x / 32] = sum;
        __syncthreads();
        sum = 0;
        for (int w = 0; w < warps; w++) sum += s.of[w];
        return static_cast<uint32_t>(sum);
    }
};
template <cub::BlockReduceAlgorithm Algorithm>
struct BlockSumCub {
    using Reduce = cub::BlockReduce<double, threads, Algorithm>;
    struct Shared {
        typename Reduce::TempStorage block;
        double sum;
    };
    static __device__ uint32_t apply(Shared &s, uint32_t x) {
        const double sum = Reduce(s.block).Sum(x);
        if (threadIdx.x == 0) s.sum = sum;
        __syncthreads();
        return static_cast<uint32_t>(s.sum);
    }
};

/* How many threads before this one have a flag, and how many in all: where a thread appends to a list. */
struct FlagsOurs { /* cuda/simplex/iterations/column.cuh, cuda/knapsack/kernel.cuh */
    struct Shared {
        int of[warps];
    };
    static __device__ uint32_t apply(Shared &s, uint32_t x) {
        const unsigned ballot = __ballot_sync(~0u, x & 1), lane = threadIdx.x % 32, warp = threadIdx.x / 32;
        __syncthreads();
        if (lane == 0) s.of[warp] = __popc(ballot);
        __syncthreads();
        int at = __popc(ballot & ((1u << lane) - 1)), all = 0;
        for (unsigned w = 0; w < warps; w++) {
            if (w < warp) at += s.of[w];
            all += s.of[w];
        }
        return static_cast<uint32_t>(at + all);
    }
};
template <cub::BlockScanAlgorithm Algorithm>
struct FlagsCub {
    using Scan = cub::BlockScan<int, threads, Algorithm>;
    using Shared = typename Scan::TempStorage;
    static __device__ uint32_t apply(Shared &s, uint32_t x) {
        int at, all;
        __syncthreads();
        Scan(s).ExclusiveSum(static_cast<int>(x & 1), at, all);
        return static_cast<uint32_t>(at + all);
    }
};

/* The sum of the numbers of all threads before this one. */
struct ScanOurs { /* the code of cuda/simplex/iterations/column.cuh before CUB */
    using Shared = FlagsOurs::Shared;
    static __device__ uint32_t apply(Shared &s, uint32_t x) {
        const int own = static_cast<int>(x), lane = static_cast<int>(threadIdx.x % 32);
        int at = own;
        for (int step = 1; step < 32; step *= 2) {
            const int before = __shfl_up_sync(~0u, at, step);
            if (lane >= step) at += before;
        }
        __syncthreads();
        if (lane == 31) s.of[threadIdx.x / 32] = at;
        __syncthreads();
        at -= own;
        for (unsigned w = 0; w < threadIdx.x / 32; w++) at += s.of[w];
        return static_cast<uint32_t>(at);
    }
};
template <cub::BlockScanAlgorithm Algorithm>
struct ScanCub {
    using Scan = cub::BlockScan<int, threads, Algorithm>;
    using Shared = typename Scan::TempStorage;
    static __device__ uint32_t apply(Shared &s, uint32_t x) {
        int at;
        __syncthreads();
        Scan(s).ExclusiveSum(static_cast<int>(x), at);
        return static_cast<uint32_t>(at);
    }
};

/* The result of a block of the knapsack kernel: a record of 72 bytes, for thread 0. */
__device__ KnapsackBlockFound found_of(uint32_t x) {
    KnapsackBlockFound f = knapsack_nothing(0);
    f.found.children = x;
    f.found.bound = f.found.most = x >> 3;
    f.found.best = {x, x, x};
    f.rank = threadIdx.x;
    return f;
}
__device__ uint32_t of_found(const KnapsackBlockFound &f) {
    return static_cast<uint32_t>(f.found.children + f.found.most + f.found.best.residual + f.rank);
}
struct FoundTree { /* the code of cuda/knapsack/kernel.cuh before CUB */
    struct Shared {
        KnapsackBlockFound of[threads];
    };
    static __device__ uint32_t apply(Shared &s, uint32_t x) {
        __syncthreads();
        s.of[threadIdx.x] = found_of(x);
        for (unsigned half = threads / 2; half > 0; half /= 2) {
            __syncthreads();
            if (threadIdx.x < half) knapsack_add(s.of[threadIdx.x], s.of[threadIdx.x + half]);
        }
        return threadIdx.x ? x : of_found(s.of[0]);
    }
};
template <cub::BlockReduceAlgorithm Algorithm>
struct FoundCub {
    using Reduce = cub::BlockReduce<KnapsackBlockFound, threads, Algorithm>;
    using Shared = typename Reduce::TempStorage;
    static __device__ uint32_t apply(Shared &s, uint32_t x) {
        __syncthreads();
        const KnapsackBlockFound sum = Reduce(s).Reduce(found_of(x), KnapsackAdd());
        return threadIdx.x ? x : of_found(sum);
    }
};

/* A row of the table, with blocks of SIZE threads. first: the variant with the reference results. */
template <class Primitive, int SIZE = threads>
void row(Machine *m, const char *what, const char *whose, bool first) {
    double ns[2];
    for (int k = 0; k < 2; k++) {
        const unsigned blocks = static_cast<unsigned>(m->multiprocessors * (k ? 8 : 1));
        const double taken = milliseconds([=] { repeat<Primitive, SIZE><<<blocks, SIZE>>>(m->result); });
        ns[k] = 1e6 * taken / rounds / (k ? 8 : 1);
    }
    const std::vector<uint32_t> found = to_host(m->result, int64_t{8} * m->multiprocessors * SIZE);
    if (first) m->expected = found;
    if (found != m->expected) {
        std::fprintf(stderr, "primitives_bench: %s, %s: another result\n", what, whose);
        m->good = false;
    }
    std::printf("| %s | %s | %.1f | %.1f |\n", what, whose, ns[0], ns[1]);
}

void blocks_table(Machine *m) {
    std::printf("| primitive | whose | ns alone | ns full |\n| --- | --- | --- | --- |\n");
    row<WarpSumOurs>(m, "sum of doubles over a warp", "ours", true);
    row<WarpSumCub>(m, "", "CUB", false);
    row<WarpLargestBits>(m, "largest key and its lane over a warp", "ours, by bits", true);
    row<WarpLargestButterfly>(m, "", "ours, butterfly", false);
    row<WarpLargestCub>(m, "", "CUB", false);
    row<BlockSumOurs>(m, "sum of doubles over a block", "ours", true);
    row<BlockSumCub<cub::BLOCK_REDUCE_WARP_REDUCTIONS>>(m, "", "CUB, warps", false);
    row<BlockSumCub<cub::BLOCK_REDUCE_RAKING>>(m, "", "CUB, raking", false);
    row<FlagsOurs>(m, "places of flagged threads", "ours", true);
    row<FlagsCub<cub::BLOCK_SCAN_WARP_SCANS>>(m, "", "CUB, warps", false);
    row<FlagsCub<cub::BLOCK_SCAN_RAKING>>(m, "", "CUB, raking", false);
    row<ScanOurs>(m, "scan of integers over a block", "ours", true);
    row<ScanCub<cub::BLOCK_SCAN_WARP_SCANS>>(m, "", "CUB, warps", false);
    row<ScanCub<cub::BLOCK_SCAN_RAKING>>(m, "", "CUB, raking", false);
    row<FoundTree>(m, "records of 72 bytes over a block", "tree in shared memory, ours before", true);
    row<FoundCub<cub::BLOCK_REDUCE_WARP_REDUCTIONS>>(m, "", "CUB, warps", false);
    row<FoundCub<cub::BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY>>(m, "", "CUB, raking, which is used", false);
}

} // namespace

#endif /* TESTS_BENCH_PRIMITIVES_BLOCKS_CUH */
