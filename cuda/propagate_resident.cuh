/* SPDX-License-Identifier: MIT
 *
 * Propagation on the GPU: rounds of models that fit into the multiprocessors' shared memory. A round of theirs is a chain
 * of waits rather than work. So every warp keeps its rows in shared memory from round to round, and only bounds travel; a short row has a
 * group of threads, a longer one a warp; and a row that passes the filter is summed and tightened where it is.
 */
#ifndef GPUOPT_CUDA_PROPAGATE_RESIDENT_CUH
#define GPUOPT_CUDA_PROPAGATE_RESIDENT_CUH

#include "propagate_steps.cuh"

namespace {

/* GROUPS short rows, of a slice's WARP, or one warp row. */
struct ResidentItem {
    double2 side[GROUPS];
    int length[GROUPS];
    int slot[GROUPS];
    int at,
        width; /* where its entries are in the warp's piece, and how many: GROUPS times the slice's width, or the row */
    bool is_row;
};

/* Items are dealt to the grid's warps in turn: warp rows first, then slices by parts. */
__host__ __device__ constexpr int resident_items(int warp_rows, int slices) {
    return warp_rows + slices * (WARP / GROUPS);
}

/* Bytes of shared memory for a block whose warps have up to so many items, and so many entries, each. */
template <class Val>
__host__ __device__ constexpr size_t resident_bytes(int items, int entries) {
    return WARPS * (static_cast<size_t>(items) * sizeof(ResidentItem) +
                    static_cast<size_t>(entries) * (sizeof(Val) + sizeof(unsigned)));
}

/* A warp's piece of it. */
template <class Val, class Bound>
struct Resident {
    ResidentItem *item;
    Val *val;
    unsigned *col;
    int items = 0, entries = 0;
    int written = 0; /* bounds in the last round */

    __device__ Resident(unsigned char *memory, int most_items, int most_entries) {
        int warp = static_cast<int>(threadIdx.x / WARP);
        item = reinterpret_cast<ResidentItem *>(memory) + warp * most_items;
        val = reinterpret_cast<Val *>(memory + WARPS * most_items * sizeof(ResidentItem)) + warp * most_entries;
        col = reinterpret_cast<unsigned *>(memory +
                                           WARPS * (most_items * sizeof(ResidentItem) + most_entries * sizeof(Val))) +
              warp * most_entries;
    }

    __device__ void load(const Propagator<Val, Bound> &p) {
        int lane = static_cast<int>(threadIdx.x % WARP), filled = 0;
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
            if (lane == 0) my.at = filled, my.width = width, my.is_row = is_row;
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

    /* What settle_step does, for the bounds that this warp wrote in the round before; where it forgot some, for all that it may have
     * written. */
    __device__ void settle(const Propagator<Val, Bound> &p, const WarpShared &shared, unsigned epoch) const {
        int lane = static_cast<int>(threadIdx.x % WARP);
        if (written <= MEMORY) {
#pragma unroll 1
            for (int k = lane; k < written; k += WARP)
                move_side(p.bounds[~epoch & 1] + shared.written_side[k], shared.written_side[k] & 1, shared.written[k]);
        } else {
#pragma unroll 1
            for (int k = lane; k < 2 * entries; k += WARP) settle_side(p, epoch, (col[k / 2] & ~1u) | (k & 1));
        }
        __syncwarp();
    }
};

/* A round: filters the rows of each of the warp's items and, if any passes, does the rest. */
template <class Val, class Bound>
__device__ __forceinline__ void resident_step(const Propagator<Val, Bound> &p, BlockShared &block,
                                              Resident<Val, Bound> &resident, unsigned epoch) {
    Tightener<true, Val, Bound> warp(p, block, epoch, resident.val, resident.col);
    resident.settle(p, block.warp[threadIdx.x / WARP], epoch);
#pragma unroll 1
    for (int index = 0; index < resident.items; index++) {
        const ResidentItem &item = resident.item[index];
        int width = item.is_row ? WARP : GROUP, unit = item.is_row ? 1 : GROUPS, group = warp.lane / width,
            stride = width * unit;
        int at = item.at + group, end = item.length[group] * unit;
        gpuopt__filter f = gpuopt__filter_start();
#pragma unroll 1
        for (int k = warp.lane % width * unit; k < end; k += BATCH * stride) {
            Batch<BATCH, false, Val, Bound> b;
            b.load(warp.now, resident.val + at, resident.col + at, k, end, stride);
#pragma unroll 1
            for (int t = 0; t < BATCH && k + t * stride < end;
                 t++) { /* in a loop: instructions have to be fetched, too */
                gpuopt__filter_add(&f, &p.rules, sizeof(Bound) == sizeof(float), b.a[0], b.pair[0].x, b.pair[0].y);
#pragma unroll
                for (int u = 0; u < BATCH - 1; u++) b.a[u] = b.a[u + 1], b.pair[u] = b.pair[u + 1];
            }
        }
        merge_filters(f, width);
        bool passed = gpuopt__filter_passes(&f, &p.rules, item.side[group].x, item.side[group].y, GPUOPT__SHORT);
        if (!__any_sync(~0u, passed)) continue;
        warp.sum_and_tighten({at, item.length[group], item.length[group], item.slot[group], item.side[group]}, width,
                             unit, passed, true);
    }
    resident.written = warp.written;
}

} // namespace

#endif /* GPUOPT_CUDA_PROPAGATE_RESIDENT_CUH */
