/* SPDX-License-Identifier: MIT
 *
 * primitives_bench: whole kernels of single families on arrays of the sizes that they have, beside CUB's.
 */
#ifndef TESTS_BENCH_PRIMITIVES_LISTS_CUH
#define TESTS_BENCH_PRIMITIVES_LISTS_CUH

#include <cooperative_groups.h>
#include <cub/cub.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include "gpuopt_impl/elimination/base/packed_format.h"
#include "gpuopt_impl/knapsack/multiple_choice/merge.h"
#include "tests/bench/primitives_common.cuh"

namespace {

enum { WIDE = 1024 }; /* threads of a kernel with one block */

void list_row(const char *what, int64_t size, const char *whose, double taken) {
    std::printf("| %s | %lld | %s | %.2f |\n", what, static_cast<long long>(size), whose, 1e3 * taken);
}

template <class T>
void same(Machine *m, const char *what, const std::vector<T> &a, const std::vector<T> &b) {
    if (a == b) return;
    std::fprintf(stderr, "primitives_bench: %s: another result\n", what);
    m->good = false;
}

/* ---- Lengths of lines to starts: cuda/simplex/engine/model.cuh ---- */

__global__ void __launch_bounds__(WIDE) add_lengths_before(int64_t *start, int count) {
    __shared__ int64_t sums[WIDE];
    int thread = static_cast<int>(threadIdx.x), share = (count + WIDE - 1) / WIDE;
    int begin = min(thread * share, count), end = min(begin + share, count);
    int64_t sum = 0;
    for (int i = begin; i < end; i++) sum += start[i];
    sums[thread] = sum;
    __syncthreads();
    sum = 0;
    for (int t = 0; t < thread; t++) sum += sums[t];
    for (int i = begin; i < end; i++) {
        int64_t length = start[i];
        start[i] = sum;
        sum += length;
    }
    if (thread == WIDE - 1) start[count] = sum;
}

/* A block's running sums of value(0), .., in tiles of EACH * WIDE; put(k, sum before k) for each, and for k = count. */
template <class Value, class Put>
__device__ void tiles_of_sums(int count, Value value, Put put) {
    enum { EACH = 4 };
    using Scan = cub::BlockScan<int64_t, WIDE, cub::BLOCK_SCAN_WARP_SCANS>;
    __shared__ typename Scan::TempStorage scan;
    int64_t before = 0;
    for (int first = 0; first < count; first += EACH * WIDE) {
        int64_t one[EACH], all;
        const int own = first + EACH * static_cast<int>(threadIdx.x);
#pragma unroll
        for (int k = 0; k < EACH; k++) one[k] = own + k < count ? value(own + k) : 0;
        Scan(scan).ExclusiveSum(one, one, all);
#pragma unroll
        for (int k = 0; k < EACH; k++)
            if (own + k < count) put(own + k, before + one[k]);
        before += all;
        __syncthreads();
    }
    if (threadIdx.x == 0) put(count, before);
}
__global__ void __launch_bounds__(WIDE) add_lengths_block(int64_t *start, int count) {
    tiles_of_sums(
        count, [&](int k) { return start[k]; }, [&](int k, int64_t sum) { start[k] = sum; });
}

void lengths_rows(Machine *m) {
    for (int count : {1000, 10000, 100000, 1000000}) {
        std::vector<int64_t> length(static_cast<size_t>(count) + 1), expected;
        for (size_t k = 0; k < length.size(); k++) length[k] = drawn(k) % 64;
        int64_t *start = on_device<int64_t>(count + 1);
        size_t bytes = 0;
        void *scratch;
        CHECK(cub::DeviceScan::ExclusiveSum(nullptr, bytes, start, start, count + 1));
        CHECK(cudaMalloc(&scratch, bytes));
        /* In place, so that only the first run is of lengths; its time does not depend on the numbers. */
        auto run = [&](const char *what, const char *whose, auto f) {
            CHECK(cudaMemcpy(start, length.data(), sizeof(int64_t) * length.size(), cudaMemcpyHostToDevice));
            f();
            if (expected.empty()) expected = to_host(start, count + 1);
            same(m, whose, expected, to_host(start, count + 1));
            list_row(what, count, whose, milliseconds(f));
        };
        run("starts of lines", "ours", [&] { add_lengths_before<<<1, WIDE>>>(start, count); });
        run("", "CUB BlockScan, one block", [&] { add_lengths_block<<<1, WIDE>>>(start, count); });
        run("", "CUB DeviceScan",
            [&] { CHECK(cub::DeviceScan::ExclusiveSum(scratch, bytes, start, start, count + 1)); });
        CHECK(cudaFree(scratch));
        CHECK(cudaFree(start));
    }
}

/* ---- Places and best of the parts of a step: cuda/knapsack/choice.cuh ---- */

using Found = gpuopt__knapsack_choice_found;

__global__ void __launch_bounds__(WIDE) place_before(const Found *found, int parts, int64_t *place) {
    __shared__ int64_t sum[WIDE];
    const int thread = static_cast<int>(threadIdx.x), each = (parts + WIDE - 1) / WIDE;
    const int first = min(thread * each, parts), end = min(first + each, parts);
    int64_t mine = 0;
    for (int p = first; p < end; p++) mine += found[p].kept;
    sum[thread] = mine;
    __syncthreads();
    for (int back = 1; back < WIDE; back *= 2) {
        const int64_t before = thread >= back ? sum[thread - back] : 0;
        __syncthreads();
        sum[thread] += before;
        __syncthreads();
    }
    int64_t at = sum[thread] - mine;
    for (int p = first; p < end; p++) {
        place[p] = at;
        at += found[p].kept;
    }
    if (thread == WIDE - 1) place[parts] = at;
}
__global__ void __launch_bounds__(WIDE) place_block(const Found *found, int parts, int64_t *place) {
    tiles_of_sums(
        parts, [&](int k) { return found[k].kept; }, [&](int k, int64_t sum) { place[k] = sum; });
}
__global__ void __launch_bounds__(WIDE) join_before(const Found *found, int parts, Found *to) {
    __shared__ int64_t best[WIDE];
    __shared__ int finder[WIDE];
    const int thread = static_cast<int>(threadIdx.x), each = (parts + WIDE - 1) / WIDE;
    const int first = min(thread * each, parts), end = min(first + each, parts);
    best[thread] = INT64_MIN;
    finder[thread] = 0;
    for (int p = first; p < end; p++)
        if (found[p].best > best[thread]) best[thread] = found[p].best, finder[thread] = p;
    for (int half = 1; half < WIDE; half *= 2) {
        __syncthreads();
        if (thread % (2 * half) == 0 && best[thread + half] > best[thread])
            best[thread] = best[thread + half], finder[thread] = finder[thread + half];
    }
    if (thread == 0) *to = found[finder[0]];
}
struct Part {
    int64_t best;
    int of;
};
struct BetterPart {
    __host__ __device__ Part operator()(const Part &a, const Part &b) const {
        return b.best > a.best || (b.best == a.best && b.of < a.of) ? b : a;
    }
};
__global__ void __launch_bounds__(WIDE) join_block(const Found *found, int parts, Found *to) {
    using Reduce = cub::BlockReduce<Part, WIDE, cub::BLOCK_REDUCE_WARP_REDUCTIONS>;
    __shared__ typename Reduce::TempStorage reduce;
    Part mine = {INT64_MIN, 0};
    for (int p = static_cast<int>(threadIdx.x); p < parts; p += WIDE) mine = BetterPart()(mine, {found[p].best, p});
    mine = Reduce(reduce).Reduce(mine, BetterPart());
    if (threadIdx.x == 0) *to = found[mine.of];
}
struct KeptOf {
    const Found *found;
    int parts;
    __host__ __device__ int64_t operator()(int p) const { return p < parts ? found[p].kept : 0; }
};
struct PartOf {
    const Found *found;
    __host__ __device__ Part operator()(int p) const { return {found[p].best, p}; }
};

void parts_rows(Machine *m) {
    thrust::counting_iterator<int> zero(0);
    for (int parts : {256, 4096, 32768}) {
        std::vector<Found> given(static_cast<size_t>(parts));
        for (size_t k = 0; k < given.size(); k++) given[k].kept = drawn(k) % 64, given[k].best = drawn(~k) % 4096;
        Found *found = to_device(given), *to = on_device<Found>(1);
        Part *part = on_device<Part>(1);
        int64_t *place = on_device<int64_t>(parts + 1);
        list_row("places of parts", parts, "ours",
                 milliseconds([&] { place_before<<<1, WIDE>>>(found, parts, place); }));
        const auto expected = to_host(place, parts + 1);
        list_row("", parts, "CUB BlockScan, one block",
                 milliseconds([&] { place_block<<<1, WIDE>>>(found, parts, place); }));
        same(m, "places, BlockScan", expected, to_host(place, parts + 1));
        list_row("", parts, "CUB DeviceScan", cub_milliseconds([&](void *scratch, size_t &size) {
                     return cub::DeviceScan::ExclusiveSum(
                         scratch, size, thrust::make_transform_iterator(zero, KeptOf{found, parts}), place, parts + 1);
                 }));
        same(m, "places, DeviceScan", expected, to_host(place, parts + 1));

        list_row("best of parts", parts, "ours", milliseconds([&] { join_before<<<1, WIDE>>>(found, parts, to); }));
        const int64_t best = to_host(to, 1)[0].best, kept = to_host(to, 1)[0].kept;
        list_row("", parts, "CUB BlockReduce, one block",
                 milliseconds([&] { join_block<<<1, WIDE>>>(found, parts, to); }));
        same<int64_t>(m, "best", {best, kept}, {to_host(to, 1)[0].best, to_host(to, 1)[0].kept});
        list_row("", parts, "CUB DeviceReduce", cub_milliseconds([&](void *scratch, size_t &size) {
                     return cub::DeviceReduce::Reduce(scratch, size,
                                                      thrust::make_transform_iterator(zero, PartOf{found}), part, parts,
                                                      BetterPart(), Part{INT64_MIN, 0});
                 }));
        same<int64_t>(m, "best, DeviceReduce", {best, kept},
                      {to_host(part, 1)[0].best, given[static_cast<size_t>(to_host(part, 1)[0].of)].kept});
        for (void *array : {static_cast<void *>(found), static_cast<void *>(to), static_cast<void *>(part),
                            static_cast<void *>(place)})
            CHECK(cudaFree(array));
    }
}

/* ---- Checksum and range of a message: cuda/elimination/packed.cuh ---- */

using Scanned = gpuopt__elimination_scan;

__device__ Scanned scan_thread(const uint64_t *word, int64_t words, uint64_t limit) {
    const int64_t first = blockIdx.x * int64_t{threads} + threadIdx.x, stride = int64_t{gridDim.x} * threads;
    Scanned s = {0, UINT64_MAX, 0, 0};
    for (int64_t k = first; k < words; k += stride) s.sum += gpuopt__elimination_mix(word[k], static_cast<uint64_t>(k));
    const auto *cost = reinterpret_cast<const uint8_t *>(word);
    for (int64_t k = first; k < 8 * words; k += stride)
        gpuopt__elimination_scan_one(&s, GPUOPT_COST_INT64, GPUOPT_SEMIRING_MIN_SUM, limit, cost[k]);
    return s;
}
__device__ void scan_add(unsigned long long *result, const Scanned &s) {
    atomicAdd(&result[0], static_cast<unsigned long long>(s.sum));
    atomicMin(&result[1], static_cast<unsigned long long>(s.least));
    atomicMax(&result[2], static_cast<unsigned long long>(s.largest));
    atomicMax(&result[3], static_cast<unsigned long long>(s.bad));
}
struct AddScanned {
    __host__ __device__ Scanned operator()(const Scanned &a, const Scanned &b) const {
        return {a.sum + b.sum, a.least < b.least ? a.least : b.least, a.largest > b.largest ? a.largest : b.largest,
                a.bad | b.bad};
    }
};
__global__ void __launch_bounds__(threads)
    scan_before(const uint64_t *word, int64_t words, uint64_t limit, unsigned long long *result) {
    Scanned s = scan_thread(word, words, limit);
    for (int half = 16; half > 0; half /= 2)
        s = AddScanned()(s, {__shfl_xor_sync(~0u, s.sum, half), __shfl_xor_sync(~0u, s.least, half),
                             __shfl_xor_sync(~0u, s.largest, half), __shfl_xor_sync(~0u, s.bad, half)});
    if (threadIdx.x % 32 == 0) scan_add(result, s);
}
template <cub::BlockReduceAlgorithm Algorithm>
__global__ void __launch_bounds__(threads)
    scan_block(const uint64_t *word, int64_t words, uint64_t limit, unsigned long long *result) {
    using Reduce = cub::BlockReduce<Scanned, threads, Algorithm>;
    __shared__ typename Reduce::TempStorage reduce;
    const Scanned s = Reduce(reduce).Reduce(scan_thread(word, words, limit), AddScanned());
    if (threadIdx.x == 0) scan_add(result, s);
}
struct ScannedOf {
    const uint64_t *word;
    uint64_t limit;
    __host__ __device__ Scanned operator()(int64_t k) const {
        Scanned s = {gpuopt__elimination_mix(word[k], static_cast<uint64_t>(k)), UINT64_MAX, 0, 0};
        for (int b = 0; b < 8; b++)
            gpuopt__elimination_scan_one(&s, GPUOPT_COST_INT64, GPUOPT_SEMIRING_MIN_SUM, limit,
                                         word[k] >> (8 * b) & 255);
        return s;
    }
};

void message_rows(Machine *m) {
    using Kernel = void (*)(const uint64_t *, int64_t, uint64_t, unsigned long long *);
    for (int64_t bytes : {int64_t{1} << 12, int64_t{1} << 20, int64_t{1} << 30}) {
        const int64_t words = bytes / 8, blocks = (words + threads - 1) / threads;
        std::vector<uint64_t> given(static_cast<size_t>(words));
        for (size_t k = 0; k < given.size(); k++) given[k] = uint64_t{drawn(k)} << 32 | drawn(~k);
        uint64_t *word = to_device(given);
        auto *result = on_device<unsigned long long>(4);
        Scanned *whole = on_device<Scanned>(1);
        std::vector<unsigned long long> expected;
        auto run = [&](const char *what, const char *whose, Kernel kernel) {
            const unsigned long long none[4] = {0, ~0ull, 0, 0};
            auto grid = static_cast<unsigned>(std::min<int64_t>(blocks, 8 * m->multiprocessors));
            list_row(what, bytes, whose, milliseconds([&] { kernel<<<grid, threads>>>(word, words, 255, result); }));
            CHECK(cudaMemcpy(result, none, sizeof none, cudaMemcpyHostToDevice));
            kernel<<<grid, threads>>>(word, words, 255, result);
            if (expected.empty()) expected = to_host(result, 4);
            same(m, whose, expected, to_host(result, 4));
        };
        run("checksum and range of a message's 8-bit costs (bytes)", "ours", scan_before);
        run("", "CUB BlockReduce, warps", scan_block<cub::BLOCK_REDUCE_WARP_REDUCTIONS>);
        run("", "CUB BlockReduce, raking", scan_block<cub::BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY>);
        auto all = thrust::make_transform_iterator(thrust::counting_iterator<int64_t>(0), ScannedOf{word, 255});
        list_row("", bytes, "CUB DeviceReduce", cub_milliseconds([&](void *scratch, size_t &size) {
                     return cub::DeviceReduce::Reduce(scratch, size, all, whole, words, AddScanned(),
                                                      Scanned{0, UINT64_MAX, 0, 0});
                 }));
        const Scanned s = to_host(whole, 1)[0];
        same<unsigned long long>(m, "message, DeviceReduce", expected, {s.sum, s.least, s.largest, s.bad});
        for (void *array : {static_cast<void *>(word), static_cast<void *>(result), static_cast<void *>(whole)})
            CHECK(cudaFree(array));
    }
}

void lists_table(Machine *m) {
    std::printf("\n| on arrays of the families | size | whose | us |\n| --- | --- | --- | --- |\n");
    lengths_rows(m);
    parts_rows(m);
    message_rows(m);
}

} // namespace

#endif /* TESTS_BENCH_PRIMITIVES_LISTS_CUH */
