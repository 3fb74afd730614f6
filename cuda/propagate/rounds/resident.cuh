/* SPDX-License-Identifier: MIT
 *
 * Propagation on the GPU: rounds of models that fit into the shared memory of all multiprocessors together. Latency,
 * not throughput, limits such rounds. So every warp keeps its rows in shared memory from round to round, and only
 * bounds are read and written in global memory. A group of threads takes a short row, a warp a longer one, a block a
 * split row. The same threads at once sum and tighten a row that passes the filter.
 */
#ifndef GPUOPT_CUDA_PROPAGATE_ROUNDS_RESIDENT_CUH
#define GPUOPT_CUDA_PROPAGATE_ROUNDS_RESIDENT_CUH

#include "steps.cuh"

namespace {

/* One of these: GROUPS of the short rows of a slice (a slice has WARP of them); a warp row; a segment of a split row,
 * which may be empty. */
struct ResidentItem {
    double2 side[GROUPS];
    int length[GROUPS];
    int slot[GROUPS];
    int at, size;       /* the start of its entries in the warp's piece of shared memory, and their count */
    int split, segment; /* of a segment: the number of its row in the block, and its own number in the row */
    bool is_row;
};

/* Items are dealt to the warps of the grid in turn: warp rows first, then parts of slices. Segments are not counted
 * here: a split row belongs to a block, and the block's warps take its segments in turn. */
__host__ __device__ constexpr int resident_items(int warp_rows, int slices) {
    return warp_rows + slices * (WARP / GROUPS);
}

/* Data of a block's split rows that its warps share. */
struct SplitShared {
    enum { MAX_SEGMENTS = 32, MAX_ROWS = 4 }; /* per row, per block: more would not fit into shared memory */
    gpuopt__propagator_filter filter[WARPS];
    gpuopt__propagator_activities activities[MAX_SEGMENTS]; /* of the segments of one row */
    gpuopt__propagator_activities total[MAX_ROWS];
    bool passed[MAX_ROWS];
};

/* Bytes of shared memory for a block with at most this many items and entries in each warp. */
template <class Val>
__host__ __device__ constexpr size_t resident_bytes(int items, int entries) {
    return WARPS * (static_cast<size_t>(items) * sizeof(ResidentItem) +
                    static_cast<size_t>(entries) * (sizeof(Val) + sizeof(unsigned)));
}

/* A warp's piece of that memory. */
template <class Val, class Bound>
struct Resident {
    ResidentItem *item;
    Val *val;
    unsigned *col;
    int segments = 0, items = 0, entries = 0; /* items include the segments */
    int written = 0;                          /* bounds written in the last round */

    __device__ Resident(unsigned char *memory, int most_items, int most_entries) {
        int warp = static_cast<int>(threadIdx.x / WARP);
        item = reinterpret_cast<ResidentItem *>(memory) + warp * most_items;
        val = reinterpret_cast<Val *>(memory + WARPS * most_items * sizeof(ResidentItem)) + warp * most_entries;
        col = reinterpret_cast<unsigned *>(memory +
                                           WARPS * (most_items * sizeof(ResidentItem) + most_entries * sizeof(Val))) +
              warp * most_entries;
    }

    __device__ void load(const Propagator<Val, Bound> &p, bool split) {
        int lane = static_cast<int>(threadIdx.x % WARP), filled = 0;
        if (split) load_segments(p, lane, filled);
        for (int index = scattered_warp(); index < resident_items(p.warp_rows, p.slices);
             index += grid_warps(), items++) {
            bool is_row = index < p.warp_rows;
            int part = index - p.warp_rows, unit = is_row ? p.slices + index : part / (WARP / GROUPS),
                first = part % (WARP / GROUPS) * GROUPS;
            long long from = p.start[unit];
            int size = static_cast<int>(p.start[unit + 1] - from), width = is_row ? size : size / WARP * GROUPS;
            ResidentItem &my = item[items];
            if (lane < GROUPS) {
                int slot = is_row ? p.first_warp_slot() + index : unit * WARP + first + lane;
                my.side[lane] = p.sides[slot];
                my.length[lane] = p.length[slot];
                my.slot[lane] = slot;
            }
            if (lane == 0) my.at = filled, my.size = width, my.is_row = is_row;
            for (int k = lane; k < width; k += WARP) {
                long long source = from + (is_row ? k : k / GROUPS * WARP + first + k % GROUPS);
                val[filled + k] = p.val[source];
                col[filled + k] = p.col[source];
            }
            filled += width;
        }
        entries = filled;
        __syncwarp();
    }

    /* The warp's segments of the block's split rows: at least one per row, possibly empty, since all warps must take
     * part in the row. Starts with the last block, since the first blocks have more of the other items. */
    __device__ void load_segments(const Propagator<Val, Bound> &p, int lane, int &filled) {
        int number = 0;
        for (int split = static_cast<int>(gridDim.x - 1 - blockIdx.x); split < p.split_rows;
             split += static_cast<int>(gridDim.x), number++) {
            int slot = p.first_split_slot() + split, length = p.length[slot],
                warp = static_cast<int>(threadIdx.x / WARP);
            for (int segment = warp; segment == warp || segment < segments_of(length); segment += WARPS, segments++) {
                int before = segment * GPUOPT__PROPAGATOR_SEGMENT,
                    size = max(0, min(static_cast<int>(GPUOPT__PROPAGATOR_SEGMENT), length - before));
                ResidentItem &my = item[segments];
                if (lane == 0) {
                    my.side[0] = p.sides[slot];
                    my.length[0] = length;
                    my.slot[0] = slot;
                    my.at = filled, my.size = size, my.split = number, my.segment = segment, my.is_row = true;
                }
                for (int k = lane; k < size; k += WARP) {
                    val[filled + k] = p.val[p.start_of(slot) + before + k];
                    col[filled + k] = p.col[p.start_of(slot) + before + k];
                }
                filled += size;
            }
        }
        items = segments;
    }

    /* Does the same as settle_step, for the bounds that this warp wrote in the previous round. If it could not remember
     * so many, for all that it may have written. */
    __device__ __forceinline__ void settle(const Propagator<Val, Bound> &p, const WarpShared &shared,
                                           unsigned turn) const {
        settle(p, shared, turn, [](unsigned, double) {});
    }

    /* The same after the last round. Returns the largest shrinkage that this thread has seen. If several warps moved a
     * side, the first to settle it finds its bound from before the round, and so the largest shrinkage. */
    __device__ double settle_last(const Propagator<Val, Bound> &p, const WarpShared &shared, unsigned turn) const {
        const Bound *newest = p.bounds[turn & 1];
        double most = 0;
        settle(p, shared, turn, [&](unsigned side, double from) {
            most = gpuopt__max(
                most, gpuopt__propagator_shrinkage(static_cast<int>(side & 1), from, newest[side], newest[side ^ 1]));
        });
        return most;
    }

  private:
    /* moved(side, from): called for a side that this warp or another one has updated. */
    template <class F>
    __device__ __forceinline__ void settle(const Propagator<Val, Bound> &p, const WarpShared &shared, unsigned turn,
                                           F moved) const {
        int lane = static_cast<int>(threadIdx.x % WARP);
        if (written <= MEMORY) {
#pragma unroll 1
            for (int k = lane; k < written; k += WARP)
                moved(shared.written_side[k], move_side(p.bounds[~turn & 1] + shared.written_side[k],
                                                        shared.written_side[k] & 1, shared.written[k]));
        } else {
#pragma unroll 1
            for (int k = lane; k < 2 * entries; k += WARP) {
                const unsigned side = (col[k / 2] & ~1u) | (k & 1);
                moved(side, settle_side(p, turn, side));
            }
        }
        __syncwarp();
    }
};

/* The filter of entries at + first, at + first + stride, ... before at + end. */
template <class Val, class Bound>
__device__ __forceinline__ gpuopt__propagator_filter filter_resident(const Propagator<Val, Bound> &p, const Bound *now,
                                                                     const Resident<Val, Bound> &resident, int at,
                                                                     int first, int end, int stride) {
    gpuopt__propagator_filter f = gpuopt__propagator_filter_start();
#pragma unroll 1
    for (int k = first; k < end; k += BATCH * stride) {
        Batch<BATCH, false, Val, Bound> b;
        b.load(now, resident.val + at, resident.col + at, k, end, stride);
#pragma unroll 1
        for (int t = 0; t < BATCH && k + t * stride < end; t++) { /* not unrolled, to keep the code small */
            gpuopt__propagator_filter_add(&f, &p.rules, is_rounded<Bound>(b.col[0]), b.a[0], b.pair[0].x, b.pair[0].y);
#pragma unroll
            for (int u = 0; u < BATCH - 1; u++) b.col[u] = b.col[u + 1], b.a[u] = b.a[u + 1], b.pair[u] = b.pair[u + 1];
        }
    }
    return f;
}

/* Filters the split rows of the block and sums the rows that pass, as filter_split_row and segment_step do. All threads
 * of the block take part. Not inlined, since most models have no such rows and the registers are needed for other
 * things. */
template <class Val, class Bound>
__device__ __noinline__ void sum_split_rows(const Propagator<Val, Bound> &p, BlockShared &block, SplitShared &split,
                                            Resident<Val, Bound> resident, unsigned turn) {
    Tightener<true, Val, Bound> warp(p, block, turn, resident.val, resident.col);
    int end = 0;
#pragma unroll 1
    for (int first = 0; first < resident.segments; first = end) {
        const ResidentItem &row = resident.item[first];
        const int segments = segments_of(row.length[0]);
        gpuopt__propagator_filter f = gpuopt__propagator_filter_start();
#pragma unroll 1
        for (; end < resident.segments && resident.item[end].split == row.split; end++) {
            const ResidentItem &item = resident.item[end];
            gpuopt__propagator_filter g = filter_resident(p, warp.now, resident, item.at, warp.lane, item.size, WARP);
            gpuopt__propagator_filter_merge(&f, &g);
        }
        merge_filters(f, WARP);
        if (warp.lane == 0) split.filter[threadIdx.x / WARP] = f;
        __syncthreads();
        f = warp.lane < WARPS ? split.filter[warp.lane] : gpuopt__propagator_filter_start();
        merge_filters(f, WARP);
        bool passed = gpuopt__propagator_filter_passes(&f, &p.rules, row.side[0].x, row.side[0].y,
                                                       GPUOPT__PROPAGATOR_SEGMENT / WARP + 10 + segments / WARPS);
#pragma unroll 1
        for (int k = first; passed && k < end; k++) {
            const ResidentItem &item = resident.item[k];
            gpuopt__propagator_activities part = warp.sum(item.at, warp.lane, item.size, WARP);
            merge_activities(part, WARP);
            if (warp.lane == 0 && item.size > 0) split.activities[item.segment] = part;
        }
        __syncthreads();
        gpuopt__propagator_activities all = gpuopt__propagator_activities_start();
        if (warp.lane < segments) all = split.activities[warp.lane]; /* at most as many as lanes */
        merge_activities(all, WARP);
        if (threadIdx.x == 0) split.total[row.split] = all, split.passed[row.split] = passed;
    }
    __syncthreads();
}

/* A round: filters the rows of each of the warp's items and, if any passes, sums and tightens. SPLIT: there may be
 * split rows. */
template <bool SPLIT, class Val, class Bound>
__device__ __forceinline__ void resident_step(const Propagator<Val, Bound> &p, BlockShared &block, SplitShared &split,
                                              Resident<Val, Bound> &resident, unsigned turn) {
    Tightener<true, Val, Bound> warp(p, block, turn, resident.val, resident.col);
    resident.settle(p, block.warp[threadIdx.x / WARP], turn);
    if (SPLIT && resident.segments) sum_split_rows(p, block, split, resident, turn);
#pragma unroll 1
    for (int index = 0; index < resident.items; index++) {
        const ResidentItem &item = resident.item[index];
        const bool is_segment = SPLIT && index < resident.segments;
        int width = item.is_row ? WARP : GROUP, unit = item.is_row ? 1 : GROUPS, group = warp.lane / width,
            stride = width * unit;
        int at = item.at + group, size = item.length[group];
        bool passed;
        if (is_segment) {
            size = item.size;
            passed = size > 0 && split.passed[item.split];
        } else {
            gpuopt__propagator_filter f =
                filter_resident(p, warp.now, resident, at, warp.lane % width * unit, size * unit, stride);
            merge_filters(f, width);
            passed = gpuopt__propagator_filter_passes(&f, &p.rules, item.side[group].x, item.side[group].y,
                                                      GPUOPT__PROPAGATOR_SHORT);
        }
        if (!__any_sync(~0u, passed)) continue;
        warp.sum_and_tighten({at, size, item.length[group], item.slot[group], item.side[group]}, width, unit, passed,
                             true, is_segment ? &split.total[item.split] : nullptr);
    }
    resident.written = warp.written;
}

} // namespace

#endif /* GPUOPT_CUDA_PROPAGATE_ROUNDS_RESIDENT_CUH */
