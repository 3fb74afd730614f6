/* SPDX-License-Identifier: MIT
 *
 * Propagation on the GPU: how threads, groups of threads and warps find rows, load their entries, add them up and
 * filter them.
 */
#ifndef GPUOPT_CUDA_PROPAGATE_ROUNDS_ROWS_CUH
#define GPUOPT_CUDA_PROPAGATE_ROUNDS_ROWS_CUH

#include "device.cuh"

namespace {

/* A row or a segment of a row. */
struct RowRef {
    long long at;     /* the start of the entries, in the arrays that hold them */
    int size;         /* entries */
    int length, slot; /* of the whole row */
    double2 side;
};

/* A row that is not split. */
template <class Val, class Bound>
__device__ __forceinline__ RowRef row_at(const Propagator<Val, Bound> &p, int slot) {
    return {p.start_of(slot), p.length[slot], p.length[slot], slot, p.sides[slot]};
}

/* A segment of a split row. */
template <class Val, class Bound>
__device__ __forceinline__ RowRef segment_at(const Propagator<Val, Bound> &p, int index) {
    int split = p.segment_row[index], slot = p.first_split_slot() + split,
        before = (index - p.segment_start[split]) * GPUOPT__PROPAGATOR_SEGMENT;
    return {p.start_of(slot) + before, min(static_cast<int>(GPUOPT__PROPAGATOR_SEGMENT), p.length[slot] - before),
            p.length[slot], slot, p.sides[slot]};
}

/* Whether the calling warp is the last one of a split row to arrive; then the earlier writes of the others are visible
 * to all its lanes. Arrivals are read-modify-writes that release and acquire, so each synchronises with the later ones.
 * (It precedes them in observation order; see Release and Acquire Patterns in the PTX manual's memory consistency
 * model.) __syncwarp() extends this from the writing lanes to lane 0, and from lane 0 to the reading lanes. */
template <class Val, class Bound>
__device__ bool last_of_row(const Propagator<Val, Bound> &p, int split) {
    cuda::atomic_ref<int, cuda::thread_scope_device> arrivals(p.arrivals[split]);
    int segments = p.segment_start[split + 1] - p.segment_start[split], arrived = 0;
    __syncwarp();
    if (threadIdx.x % WARP == 0) {
        arrived = arrivals.fetch_add(1, cuda::memory_order_acq_rel) + 1;
        if (arrived == segments) arrivals.store(0, cuda::memory_order_relaxed);
    }
    arrived = __shfl_sync(~0u, arrived, 0);
    __syncwarp();
    return arrived == segments;
}

/* An entry in global memory, which is streamed past the caches, or in shared memory. */
template <bool STREAM, class T>
__device__ T load_entry(const T *from) {
    return STREAM ? __ldcs(from) : *from;
}

/* Up to N of the entries first, first + stride, ... before `end`. All loads of a kind are in flight at once. */
template <int N, bool STREAM, class Val, class Bound>
struct Batch {
    unsigned col[N]; /* as stored */
    double a[N];
    double2 pair[N];

    /* ALL: ignores `end`, which saves the registers of conditional loads. */
    template <bool ALL = false>
    __device__ void load(const Bound *now, const Val *val, const unsigned *cols, int first, int end, int stride) {
#pragma unroll
        for (int t = 0; t < N; t++)
            if (ALL || first + t * stride < end) col[t] = load_entry<STREAM>(cols + first + t * stride);
#pragma unroll
        for (int t = 0; t < N; t++)
            if (ALL || first + t * stride < end)
                a[t] = static_cast<double>(load_entry<STREAM>(val + first + t * stride));
#pragma unroll
        for (int t = 0; t < N; t++)
            if (ALL || first + t * stride < end) pair[t] = load_pair(now, col[t]);
    }
};

/* ---- Sums over groups of `width` lanes ---- */

__device__ double shuffle_xor(double x, int distance) { return __shfl_xor_sync(~0u, x, distance); }

__device__ void merge_filters(gpuopt__propagator_filter &f, int width) {
#pragma unroll 1
    for (int distance = width / 2; distance > 0; distance /= 2) {
        gpuopt__propagator_filter g = {shuffle_xor(f.middle, distance),
                                       shuffle_xor(f.width, distance),
                                       shuffle_xor(f.magnitude, distance),
                                       shuffle_xor(f.reach, distance),
                                       shuffle_xor(f.min_rest, distance),
                                       shuffle_xor(f.max_rest, distance),
                                       __shfl_xor_sync(~0u, f.min_infinite, distance),
                                       __shfl_xor_sync(~0u, f.max_infinite, distance)};
        gpuopt__propagator_filter_merge(&f, &g);
    }
}

__device__ gpuopt__pair shuffle_xor(const gpuopt__pair &p, int distance) {
    return {shuffle_xor(p.first, distance), shuffle_xor(p.second, distance)};
}

/* By halves, as gpuopt_impl/propagate/arith/row.h defines it. Every lane receives the sum of its group, since merging
 * is commutative. */
__device__ void merge_activities(gpuopt__propagator_activities &s, int width) {
#pragma unroll 1
    for (int distance = width / 2; distance > 0; distance /= 2) {
        gpuopt__propagator_activities other = {
            shuffle_xor(s.hi, distance),
            shuffle_xor(s.lo, distance),
            shuffle_xor(s.error_sum, distance),
            {__shfl_xor_sync(~0u, s.infinite.first, distance), __shfl_xor_sync(~0u, s.infinite.second, distance)}};
        gpuopt__propagator_activities_merge(&s, &other);
    }
}

__device__ gpuopt__pair sum_pairs(gpuopt__pair s, int width) {
#pragma unroll 1
    for (int distance = width / 2; distance > 0; distance /= 2) s = gpuopt__pair_add(s, shuffle_xor(s, distance));
    return s;
}

/* The sums of the sizes of a row's finite terms, for the least and for the greatest activity, in the order of the
 * activities' sums: in lane 0. The entries are `unit` apart. All threads of the warp take part. Few rows reach this
 * point. */
template <class Val, class Bound>
__device__ gpuopt__pair entry_magnitudes(const gpuopt__propagator_rules &rules, const Bound *now, const Val *val,
                                         const unsigned *col, int unit, int length) {
    const int lane = static_cast<int>(threadIdx.x % WARP), segment = GPUOPT__PROPAGATOR_SEGMENT,
              width = length <= GPUOPT__PROPAGATOR_SHORT ? +GROUP : +WARP;
    gpuopt__pair all = {0, 0}, part = {0, 0};
#pragma unroll 1
    for (int first = 0; first < length; first += segment) {
#pragma unroll 1
        for (int k = first + lane; lane < width && k < min(first + segment, length); k += width) {
            double a = static_cast<double>(val[k * unit]);
            double2 pair = load_pair(now, col[k * unit]);
            gpuopt__pair size = {gpuopt__propagator_term_size(&rules, a, pair.x),
                                 gpuopt__propagator_term_size(&rules, a, pair.y)};
            part = gpuopt__pair_add(part, gpuopt__pair_by_sign(a, size));
        }
        if (length > segment) part = sum_pairs(part, WARP);
        if (length <= segment || first / segment % WARP == lane) all = gpuopt__pair_add(all, part);
        part = {0, 0};
    }
    return sum_pairs(all, width);
}
template <class Val, class Bound>
__device__ gpuopt__pair row_magnitudes(const Propagator<Val, Bound> &p, const Bound *now, int slot) {
    const long long at = p.start_of(slot);
    return entry_magnitudes(p.rules, now, p.val + at, p.col + at, slot < p.first_warp_slot() ? WARP : 1,
                            p.length[slot]);
}

/* ---- The filter ---- */

/* Whether the column of an entry (as stored) is continuous and its bounds are stored in single precision. */
template <class Bound>
__device__ bool is_rounded(unsigned col) {
    return sizeof(Bound) == sizeof(float) && !(col & 1);
}

/* Adds N entries, first + 0, first + WARP, ..., to the filter. */
template <int N, class Val, class Bound>
__device__ __forceinline__ void filter_batch(gpuopt__propagator_filter &f, const Propagator<Val, Bound> &p,
                                             const Bound *now, const Val *val, const unsigned *col, int first) {
    Batch<N, true, Val, Bound> b;
    double magnitude = 0;
    b.template load<true>(now, val, col, first, 0, WARP);
#pragma unroll
    for (int t = 0; t < N; t++) magnitude += fabs(b.a[t]) * (fabs(b.pair[t].x) + fabs(b.pair[t].y));
    if (!(magnitude < p.rules.huge)) {
        magnitude = 0;
#pragma unroll
        for (int t = 0; t < N; t++) {
            if (!gpuopt__propagator_filter_is_finite(&p.rules, b.a[t], b.pair[t].x, b.pair[t].y))
                gpuopt__propagator_filter_take_infinite(&f, &p.rules, b.a[t], &b.pair[t].x, &b.pair[t].y);
            magnitude += fabs(b.a[t]) * (fabs(b.pair[t].x) + fabs(b.pair[t].y));
        }
    }
    f.magnitude += magnitude;
#pragma unroll
    for (int t = 0; t < N; t++)
        f.reach = gpuopt__max(gpuopt__propagator_filter_add_finite(&f, &p.rules, is_rounded<Bound>(b.col[t]), b.a[t],
                                                                   b.pair[t].x, b.pair[t].y),
                              f.reach);
}

/* The filter of entries first, first + WARP, ... before `end`. */
template <class Val, class Bound>
__device__ __forceinline__ gpuopt__propagator_filter filter_entries(const Propagator<Val, Bound> &p, const Bound *now,
                                                                    const Val *val, const unsigned *col, int first,
                                                                    int end) {
    gpuopt__propagator_filter f = gpuopt__propagator_filter_start();
    int k = first;
#pragma unroll 1
    for (; k + (BATCH - 1) * WARP < end; k += BATCH * WARP) filter_batch<BATCH>(f, p, now, val, col, k);
    if (k + WARP < end) filter_batch<2>(f, p, now, val, col, k), k += 2 * WARP;
    if (k < end) filter_batch<1>(f, p, now, val, col, k);
    return f;
}

} // namespace

#endif /* GPUOPT_CUDA_PROPAGATE_ROUNDS_ROWS_CUH */
