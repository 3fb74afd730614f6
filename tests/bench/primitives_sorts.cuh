/* SPDX-License-Identifier: MIT
 *
 * primitives_bench: transposing, selecting and reducing by segments, beside CUB's sorts and segmented reductions.
 */
#ifndef TESTS_BENCH_PRIMITIVES_SORTS_CUH
#define TESTS_BENCH_PRIMITIVES_SORTS_CUH

#include "cuda/simplex/engine/model.cuh"
#include "tests/bench/primitives_lists.cuh"

namespace {

/* ---- Transposition: cuda/simplex/engine/model.cuh ---- */

/* By a sort: of each entry its number and its line, then everything in the order of the sort. */
__global__ void __launch_bounds__(threads) number_entries(const ModelLines m, int *number, int *line) {
    const int64_t own = product_thread() / 32;
    if (own >= m.lines) return;
    for (int64_t e = m.start[own] + threadIdx.x % 32; e < m.start[own + 1]; e += 32)
        number[e] = static_cast<int>(e), line[e] = static_cast<int>(own);
}
__global__ void __launch_bounds__(threads) gather_entries(const ModelLines m, const int *across, const int *number,
                                                          const int *line, int64_t *start, int *index, double *val) {
    const int64_t e = product_thread(), count = m.start[m.lines];
    if (e >= count) return;
    index[e] = line[number[e]];
    val[e] = m.val[number[e]];
    for (int i = e > 0 ? across[e - 1] + 1 : 0; i <= across[e]; i++) start[i] = e;
    for (int i = across[e] + 1; e == count - 1 && i <= m.width; i++) start[i] = count;
}

void transposition_rows(Machine *m) {
    struct Shape {
        int lines, width, each;
    };
    for (const Shape &shape : {Shape{9408, 3136, 16}, Shape{12500, 2500, 100}, Shape{100000, 50000, 10}}) {
        const int64_t count = int64_t{shape.lines} * shape.each;
        const int share = shape.width / shape.each, wraps = std::min(shape.lines, 1024);
        std::vector<int64_t> start = {0};
        std::vector<int> index;
        std::vector<double> val;
        for (int line = 0; line < shape.lines; line++) {
            for (int k = 0; k < shape.each; k++) {
                index.push_back(k * share + static_cast<int>(drawn(index.size()) % static_cast<unsigned>(share)));
                val.push_back(static_cast<double>(index.size()));
            }
            start.push_back(static_cast<int64_t>(index.size()));
        }
        const ModelLines from = {shape.lines, shape.width, to_device(start), to_device(index), to_device(val)};
        int64_t *starts = on_device<int64_t>(shape.width + 1);
        int *to = on_device<int>(count), *numbers = on_device<int>(count), *sorted = on_device<int>(count),
            *line = on_device<int>(count), *across = on_device<int>(count);
        int *counts = on_device<int>(int64_t{wraps} * shape.width), *faults = on_device<int>(1);
        double *values = on_device<double>(count);
        CHECK(cudaMemset(faults, 0, sizeof(int)));
        auto blocks = [](int64_t n) { return static_cast<unsigned>((n + threads - 1) / threads); };
        list_row("transposition (entries)", count, "ours", milliseconds([&] {
                     count_across<<<blocks(32 * wraps), threads>>>(from, counts, wraps, faults);
                     add_counts<<<blocks(shape.width), threads>>>(shape.width, counts, wraps, starts, faults);
                     add_lengths_before<<<1, WIDE>>>(starts, shape.width);
                     fill_across<<<blocks(32 * wraps), threads>>>(from, counts, wraps, starts, to, values, faults);
                 }));
        const auto expected = to_host(starts, shape.width + 1);
        const auto expected_values = to_host(values, count);
        int bits = 1;
        while (1 << bits < shape.width) bits++;
        list_row("", count, "CUB DeviceRadixSort", cub_milliseconds([&](void *scratch, size_t &size) {
                     if (scratch) number_entries<<<blocks(32 * int64_t{shape.lines}), threads>>>(from, numbers, line);
                     cudaError_t error = cub::DeviceRadixSort::SortPairs(scratch, size, from.index, across, numbers,
                                                                         sorted, count, 0, bits);
                     if (scratch)
                         gather_entries<<<blocks(count), threads>>>(from, across, sorted, line, starts, to, values);
                     return error;
                 }));
        same(m, "starts of a transposition", expected, to_host(starts, shape.width + 1));
        same(m, "transposition", expected_values, to_host(values, count));
        for (const void *array :
             {static_cast<const void *>(from.start), static_cast<const void *>(from.index),
              static_cast<const void *>(from.val), static_cast<const void *>(starts), static_cast<const void *>(to),
              static_cast<const void *>(numbers), static_cast<const void *>(sorted), static_cast<const void *>(line),
              static_cast<const void *>(across), static_cast<const void *>(counts), static_cast<const void *>(faults),
              static_cast<const void *>(values)})
            CHECK(cudaFree(const_cast<void *>(array)));
    }
}

/* ---- The key at which a sum is reached: simplex/iterations/dual_ratio.cuh, child/ratio.cuh ---- */

enum { SELECT_THREADS = 512, SELECT_BUCKETS = 256, SELECT_SETS = 3 };

/* Eight bits of the key in a round; a barrier of all blocks in each. */
__global__ void __launch_bounds__(SELECT_THREADS)
    select_by_buckets(const unsigned long long *key, const unsigned long long *unit, int count,
                      unsigned long long slack, unsigned long long *buckets, unsigned long long *found) {
    __shared__ unsigned long long bucket[2 * SELECT_BUCKETS], before_chosen, chosen, chosen_count;
    auto grid = cooperative_groups::this_grid();
    const int thread = static_cast<int>(threadIdx.x), lane = thread % 32;
    const int first = static_cast<int>(blockIdx.x) * SELECT_THREADS + thread,
              step = static_cast<int>(gridDim.x) * SELECT_THREADS;
    unsigned long long before = 0, prefix = 0;
    int known = 0;
    auto within = [&](int j) { return known == 0 || key[j] >> (64 - known) == prefix; };
    for (int round = 0; known < 64; round++) {
        unsigned long long *set = buckets + round % SELECT_SETS * (2 * SELECT_BUCKETS),
                           *next = buckets + (round + 1) % SELECT_SETS * (2 * SELECT_BUCKETS);
        for (int k = thread; k < 2 * SELECT_BUCKETS; k += SELECT_THREADS) bucket[k] = 0;
        __syncthreads();
        for (int j = first; j < count; j += step) {
            if (!within(j)) continue;
            const auto at = key[j] >> (56 - known) & 255;
            atomicAdd(&bucket[at], unit[j]);
            atomicAdd(&bucket[SELECT_BUCKETS + at], 1ull);
        }
        __syncthreads();
        for (int k = thread; k < 2 * SELECT_BUCKETS; k += SELECT_THREADS) {
            if (bucket[k]) atomicAdd(&set[k], bucket[k]);
            if (blockIdx.x == 0) next[k] = 0;
        }
        if (gridDim.x > 1) grid.sync();
        else __syncthreads();
        if (thread < 32) {
            enum { EACH = SELECT_BUCKETS / 32 };
            unsigned long long own[EACH], sum = 0;
            for (int k = 0; k < EACH; k++) sum += own[k] = __ldcg(set + EACH * lane + k);
            unsigned long long up_to = sum;
            for (int by = 1; by < 32; by *= 2) {
                const unsigned long long lower = __shfl_up_sync(~0u, up_to, by);
                if (lane >= by) up_to += lower;
            }
            const unsigned there = __ballot_sync(~0u, before + up_to >= slack);
            if (lane == (there ? __ffs(static_cast<int>(there)) - 1 : 31)) {
                unsigned long long at = before + up_to - sum;
                int k = 0;
                while (k < EACH - 1 && at + own[k] < slack) at += own[k++];
                before_chosen = at;
                chosen = static_cast<unsigned long long>(EACH * lane + k);
                chosen_count = __ldcg(set + SELECT_BUCKETS + EACH * lane + k);
            }
        }
        __syncthreads();
        before = before_chosen;
        prefix = prefix << 8 | chosen;
        known += 8;
        if (chosen_count == 1) break;
        __syncthreads();
    }
    for (int j = first; j < count; j += step)
        if (within(j)) *found = key[j];
}

/* In one block: a sort, and sums in its order. */
template <int EACH>
__global__ void __launch_bounds__(SELECT_THREADS)
    select_by_block_sort(const unsigned long long *key, const unsigned long long *unit, int count,
                         unsigned long long slack, unsigned long long *found) {
    using Sort = cub::BlockRadixSort<unsigned long long, SELECT_THREADS, EACH, unsigned long long>;
    using Scan = cub::BlockScan<unsigned long long, SELECT_THREADS, cub::BLOCK_SCAN_WARP_SCANS>;
    __shared__ union {
        typename Sort::TempStorage sort;
        typename Scan::TempStorage scan;
    } s;
    unsigned long long keys[EACH], units[EACH], up_to[EACH];
    for (int k = 0; k < EACH; k++) {
        const int j = static_cast<int>(threadIdx.x) * EACH + k;
        keys[k] = j < count ? key[j] : ~0ull;
        units[k] = j < count ? unit[j] : 0;
    }
    Sort(s.sort).Sort(keys, units);
    __syncthreads();
    Scan(s.scan).InclusiveSum(units, up_to);
    for (int k = 0; k < EACH; k++)
        if (up_to[k] >= slack && up_to[k] - units[k] < slack) *found = keys[k];
}
__global__ void select_sorted(const unsigned long long *key, const unsigned long long *up_to, int count,
                              unsigned long long slack, unsigned long long *found) {
    const int j = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (j < count && up_to[j] >= slack && (j == 0 || up_to[j - 1] < slack)) *found = key[j];
}

void selection_rows(Machine *m) {
    using Long = unsigned long long;
    for (int count : {500, 2000, 12500, 100000}) {
        std::vector<Long> key, unit;
        Long all = 0;
        for (int j = 0; j < count; j++) { /* steps: most of them below 1 */
            const double step = (drawn(static_cast<uint64_t>(j)) + .5) * 0x1p-32 / (1 + drawn(~uint64_t(j)) % 64);
            Long bits;
            memcpy(&bits, &step, sizeof bits);
            key.push_back(bits);
            unit.push_back(1 + drawn(key.size() << 20) % 1000);
            all += unit.back();
        }
        const Long slack = all / 3;
        Long *keys = to_device(key), *units = to_device(unit), *sorted = on_device<Long>(count);
        Long *up_to = on_device<Long>(count), *buckets = on_device<Long>(SELECT_SETS * 2 * SELECT_BUCKETS);
        Long *found = on_device<Long>(1);
        const int blocks = count <= 2000 ? 1 : std::min(m->multiprocessors, count / 64);
        void *arguments[] = {&keys, &units, &count, const_cast<Long *>(&slack), &buckets, &found};
        list_row("key where a sum is reached", count, blocks == 1 ? "ours, one block" : "ours, all blocks",
                 milliseconds([&] {
                     cudaMemsetAsync(buckets, 0, sizeof(Long) * SELECT_SETS * 2 * SELECT_BUCKETS);
                     CHECK(cudaLaunchCooperativeKernel(select_by_buckets, dim3(static_cast<unsigned>(blocks)),
                                                       dim3(SELECT_THREADS), arguments, 0, nullptr));
                 }));
        const auto expected = to_host(found, 1);
        if (blocks == 1) {
            list_row("", count, "CUB BlockRadixSort", milliseconds([&] {
                         if (count <= SELECT_THREADS)
                             select_by_block_sort<1><<<1, SELECT_THREADS>>>(keys, units, count, slack, found);
                         else select_by_block_sort<4><<<1, SELECT_THREADS>>>(keys, units, count, slack, found);
                     }));
            same(m, "selection, BlockRadixSort", expected, to_host(found, 1));
        }
        list_row("", count, "CUB DeviceRadixSort, DeviceScan", cub_milliseconds([&](void *scratch, size_t &size) {
                     size_t sort = size, scan = size;
                     cudaError_t error =
                         cub::DeviceRadixSort::SortPairs(scratch, sort, keys, sorted, units, up_to, count);
                     if (!error) error = cub::DeviceScan::InclusiveSum(scratch, scan, up_to, up_to, count);
                     if (scratch)
                         select_sorted<<<static_cast<unsigned>(count / threads + 1), threads>>>(sorted, up_to, count,
                                                                                                slack, found);
                     else size = std::max(sort, scan);
                     return error;
                 }));
        same(m, "selection, DeviceRadixSort", expected, to_host(found, 1));
        for (Long *array : {keys, units, sorted, up_to, buckets, found}) CHECK(cudaFree(array));
    }
}

/* ---- Segments: CUB's alone, for the figures of elimination and propagation ---- */

struct TimesOf {
    int each;
    __host__ __device__ int64_t operator()(int64_t k) const { return k * each; }
};
struct SumOf { /* a join of two tables of which one lacks a variable */
    const uint8_t *a, *b;
    int64_t entries;
    __host__ __device__ int operator()(int64_t k) const { return a[k] + b[k % (entries / 64)]; }
};
struct ProductOf { /* of a row's coefficients and the bounds of their columns */
    const double *val;
    const int *col;
    const double2 *bound;
    __host__ __device__ double operator()(int64_t k) const { return val[k] * bound[col[k]].x; }
};

void segments_rows(Machine *) {
    thrust::counting_iterator<int64_t> zero(0);
    uint8_t *a = on_device<uint8_t>(int64_t{1} << 28), *b = on_device<uint8_t>(int64_t{1} << 28);
    int *least = on_device<int>(int64_t{1} << 28);
    CHECK(cudaMemset(a, 1, size_t{1} << 28));
    CHECK(cudaMemset(b, 1, size_t{1} << 28));
    for (int values : {3, 10, 100}) {
        const int64_t segments = (int64_t{1} << 28) / values / 64 * 64, entries = segments * values;
        auto start = thrust::make_transform_iterator(zero, TimesOf{values});
        char what[64];
        std::snprintf(what, sizeof what, "least sum of two tables over %d values (entries)", values);
        list_row(what, entries, "CUB DeviceSegmentedReduce", cub_milliseconds([&](void *scratch, size_t &size) {
                     return cub::DeviceSegmentedReduce::Min(scratch, size,
                                                            thrust::make_transform_iterator(zero, SumOf{a, b, entries}),
                                                            least, segments, start, start + 1);
                 }));
    }
    const int64_t rows = 1000000, each = 10;
    std::vector<int> col;
    for (int64_t k = 0; k < rows * each; k++) col.push_back(static_cast<int>(drawn(static_cast<uint64_t>(k)) % rows));
    auto start = thrust::make_transform_iterator(zero, TimesOf{each});
    const ProductOf product = {on_device<double>(rows * each), to_device(col), on_device<double2>(rows)};
    double *sum = on_device<double>(rows);
    list_row("sums of 10^6 rows, their largest alone (entries)", rows * each, "CUB DeviceSegmentedReduce",
             cub_milliseconds([&](void *scratch, size_t &size) {
                 return cub::DeviceSegmentedReduce::Sum(scratch, size, thrust::make_transform_iterator(zero, product),
                                                        sum, rows, start, start + 1);
             }));
}

void sorts_table(Machine *m) {
    transposition_rows(m);
    selection_rows(m);
    segments_rows(m);
}

} // namespace

#endif /* TESTS_BENCH_PRIMITIVES_SORTS_CUH */
