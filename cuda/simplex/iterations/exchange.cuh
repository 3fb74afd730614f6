/* SPDX-License-Identifier: MIT
 *
 * How the blocks of a cooperative launch agree. Every block writes a cell of 16 bytes, and reads the cells of all
 * blocks until they carry the number of this exchange. This combines a barrier and a reduction. It takes 1.2 us with 32
 * blocks and 1.9 us with 132 blocks on an H200.
 *
 * Why this is correct, by the memory consistency model of the PTX ISA (its sections in quotes):
 * - Cells. Each cell is written by one 128-bit operation and read by one, both strong and at gpu scope. Nothing writes
 *   or reads a part of a cell. So no accesses of different sizes race ("Limitations on Mixed-size Data-races"), and a
 *   cell's number and content belong together. create clears cells before the first launch.
 * - Publishing. A barrier of the block (of the warp, for a record) orders earlier writes of its threads before the
 *   cell. Then one lane executes fence.acq_rel.gpu and stores the cell. Together these are a release pattern ("Release
 *   and Acquire Patterns"). Barriers and patterns are cumulative ("Causality Order").
 * - Collecting. The lanes of one warp read the cells by ld.acquire.gpu, each lane the cells of its own blocks. A lane's
 *   acquire also holds for the other lanes after __syncwarp(), since shuffles and reductions order nothing. For the
 *   other warps it holds after __syncthreads(). Only then are records and other data read. These reads need not be
 *   strong; they bypass the L1 cache (fresh()).
 * - Reuse. There are two sets of cells and records, for even and for odd numbers. A block writes cells of number n + 2
 *   only after it has read all cells of n + 1. Every block publishes n + 1 after its reads of n, and a barrier orders
 *   these. So no read of n can return data of n + 2.
 * - Numbers have 32 bits and may wrap. All blocks take part in all exchanges, also across launches, since the number is
 *   kept in device memory. So until a cell has number n, it has number n - 2, or 0 if n is 1 or 2. It is never mistaken
 *   for n, and the parity stays right across the wrap.
 *
 * The ratio test (collect_winners) works in the same way, with two cells per group of positions instead of one per
 * block, and with its own numbers. A block without positions publishes nothing there. Until the next exchange, nothing
 * orders its reads before the writes of other blocks. So it must not read anything that they may write in that time.
 */
#ifndef GPUOPT_CUDA_SIMPLEX_ITERATIONS_EXCHANGE_CUH
#define GPUOPT_CUDA_SIMPLEX_ITERATIONS_EXCHANGE_CUH

#include "../engine/device.cuh"

namespace {

/* ---- Reductions ----
 * Absolute values are compared as integers, by their bits: that takes two instructions. A butterfly of shuffles takes a
 * microsecond. */

__device__ unsigned high_half(double x) { return static_cast<unsigned>(__double2hiint(x)); }
__device__ unsigned low_half(double x) { return static_cast<unsigned>(__double2loint(x)); }
__device__ double from_halves(unsigned high, unsigned low) {
    return __hiloint2double(static_cast<int>(high), static_cast<int>(low));
}

/* The largest key, with the lowest index among equal keys. Keys are not negative. */
struct Largest {
    static __device__ Cell none() { return {0, -1, 0}; }
    static __device__ Cell of(Cell a, Cell b) {
        bool second =
            b.key > a.key || (b.key == a.key && static_cast<unsigned>(b.index) < static_cast<unsigned>(a.index));
        return second ? b : a;
    }
    static __device__ Cell warp(Cell c) {
        unsigned high = warp_max(high_half(c.key));
        bool mine = high_half(c.key) == high;
        unsigned low = warp_max(mine ? low_half(c.key) : 0);
        mine = mine && low_half(c.key) == low;
        unsigned index = warp_min(mine ? static_cast<unsigned>(c.index) : ~0u);
        return {from_halves(high, low), static_cast<int>(index), 0};
    }
};

/* The smallest key and, independently, the largest index. Neither is negative. */
struct Limit {
    static __device__ Cell none() { return {HUGE_VAL, 0, 0}; }
    static __device__ Cell of(Cell a, Cell b) { return {fmin(a.key, b.key), max(a.index, b.index), 0}; }
    static __device__ Cell warp(Cell c) {
        unsigned high = warp_min(high_half(c.key));
        unsigned low = warp_min(high_half(c.key) == high ? low_half(c.key) : ~0u);
        return {from_halves(high, low), static_cast<int>(warp_max(static_cast<unsigned>(c.index))), 0};
    }
};

/* Two sums of integers, one in the low half of the key. */
struct Counts {
    static __device__ Cell make(int first, int second) {
        return {from_halves(0, static_cast<unsigned>(first)), second, 0};
    }
    static __device__ int first(Cell c) { return static_cast<int>(low_half(c.key)); }
    static __device__ Cell none() { return make(0, 0); }
    static __device__ Cell of(Cell a, Cell b) { return make(first(a) + first(b), a.index + b.index); }
    static __device__ Cell warp(Cell c) {
        return make(static_cast<int>(warp_count(low_half(c.key))),
                    static_cast<int>(warp_count(static_cast<unsigned>(c.index))));
    }
};

/* ---- Cells, written and read at once ---- */

__device__ void store_cell(Cell *to, Cell cell) {
    long long high = static_cast<long long>(static_cast<unsigned>(cell.index)) | static_cast<long long>(cell.number)
                                                                                     << 32;
    ptx_store_16(to, __double_as_longlong(cell.key), high);
}

__device__ Cell load_cell(const Cell *from) {
    long long low, high;
    ptx_load_16(from, &low, &high);
    return {__longlong_as_double(low), static_cast<int>(high), static_cast<unsigned>(high >> 32)};
}

/* Waits for all blocks' cells, and reduces them. Called by one warp. */
template <class Op>
__device__ Cell collect(const Cell *cells, int blocks, unsigned number) {
    enum { AT_ONCE = 5 }; /* per lane: enough for 160 blocks */
    Cell best = Op::none(), seen[AT_ONCE];
    for (int begin = 0; begin < blocks; begin += 32 * AT_ONCE) {
        bool all = false;
        while (!all) {
            all = true;
#pragma unroll
            for (int k = 0; k < AT_ONCE; k++) {
                int at = begin + 32 * k + simplex_lane();
                seen[k] = Op::none();
                seen[k].number = number;
                if (at < blocks) seen[k] = load_cell(cells + at);
            }
#pragma unroll
            for (int k = 0; k < AT_ONCE; k++) all = all && seen[k].number == number;
        }
#pragma unroll
        for (int k = 0; k < AT_ONCE; k++) best = Op::of(best, seen[k]);
    }
    return Op::warp(best);
}

/* ---- The exchange ---- */

/* Data that the threads of a block share for an exchange. */
struct Board {
    Cell warp[SIMPLEX_WARPS];
    Cell best;
    Record record; /* record of the best candidate, written by its owner */
};

/* Reduces the cells of all threads of all blocks, and returns the result to every thread. Lane l of the first warp
 * writes field[best of the block - first] to word l of the block's record. Afterwards board.record is the record of the
 * block owner(best), unless that is -1. Everything that a block wrote before is visible to the other blocks. Contains
 * two barriers of the block, the second at the end. */
template <class Op, class Owner>
__device__ Cell exchange(const SimplexView &s, Board &board, unsigned &number, Cell cell, const double *field,
                         int first, Owner owner) {
    int lane = simplex_lane();
    number++;
    cell = Op::warp(cell);
    if (lane == 0) board.warp[simplex_warp()] = cell;
    __syncthreads();
    if (simplex_warp() == 0) {
        Cell *cells = s.cells + (number & 1) * s.blocks;
        Record *records = s.records + (number & 1) * s.blocks;
        cell = Op::warp(lane < SIMPLEX_WARPS ? board.warp[lane] : Op::none());
        if (field && lane < RECORD_WORDS && cell.index >= 0) records[blockIdx.x].word[lane] = field[cell.index - first];
        __syncwarp();
        if (lane == 0) {
            cell.number = number;
            ptx_fence();
            store_cell(cells + blockIdx.x, cell);
        }
        cell = collect<Op>(cells, s.blocks, number);
        int from = owner(cell);
        __syncwarp();
        if (from >= 0 && lane < RECORD_WORDS) board.record.word[lane] = fresh(records[from].word + lane);
        if (lane == 0) board.best = cell;
    }
    __syncthreads();
    return board.best;
}

template <class Op>
__device__ Cell exchange(const SimplexView &s, Board &board, unsigned &number, Cell cell) {
    return exchange<Op>(s, board, number, cell, nullptr, 0, [](Cell) { return -1; });
}

/* A group's result in the ratio test, stored as two cells. The first cell has the limit. Its index has the largest
 * entry (the upper 16 bits of a float, rounded up) and the winner's place in the group. The second cell has the
 * winner's step and size. */
struct Winner {
    double limit, step;
    float largest, size;
    int index; /* place in the group; after collecting, among all */

    enum { NOWHERE = 0xffff }; /* beyond the positions of any group: a block's shared memory holds fewer */

    static __device__ Winner none() { return {HUGE_VAL, 0, 0, 0, -1}; }
    static __device__ unsigned bits(float x) { return __float_as_uint(x); }
    __device__ void put_up(Cell *cells, unsigned number) const {
        unsigned half = (bits(largest) + 0xffff) & 0xffff0000u;
        unsigned place = index < 0 ? static_cast<unsigned>(NOWHERE) : static_cast<unsigned>(index);
        store_cell(cells, {limit, static_cast<int>(half | place), number});
        store_cell(cells + 1, {step, static_cast<int>(bits(size)), number});
    }
};

/* Collects all groups' cells by one warp: the largest entry, and the best winner within the limit of all groups. */
__device__ Winner collect_winners(const Cell *cells, int groups, int group, unsigned number) {
    enum { AT_ONCE = 4 }; /* per lane: there are at most 128 groups */
    Winner seen[AT_ONCE];
    bool all = false;
    while (!all) {
        all = true;
#pragma unroll
        for (int k = 0; k < AT_ONCE; k++) {
            int at = 32 * k + simplex_lane();
            seen[k] = Winner::none();
            if (at >= groups) continue;
            Cell first = load_cell(cells + 2 * at), second = load_cell(cells + 2 * at + 1);
            unsigned place = static_cast<unsigned>(first.index) & 0xffff;
            all = all && first.number == number && second.number == number;
            seen[k] = {first.key, second.key, __uint_as_float(static_cast<unsigned>(first.index) & 0xffff0000u),
                       __uint_as_float(static_cast<unsigned>(second.index)),
                       place == Winner::NOWHERE ? -1 : at * group + static_cast<int>(place)};
        }
    }
    Winner best = Winner::none();
#pragma unroll
    for (int k = 0; k < AT_ONCE; k++) {
        best.limit = fmin(best.limit, seen[k].limit);
        best.largest = fmaxf(best.largest, seen[k].largest);
    }
    best.limit = Limit::warp({best.limit, 0, 0}).key;
    best.largest = __uint_as_float(warp_max(Winner::bits(best.largest)));
#pragma unroll
    for (int k = 0; k < AT_ONCE; k++)
        if (seen[k].index >= 0 && seen[k].step <= best.limit && seen[k].size > best.size)
            best.size = seen[k].size, best.index = seen[k].index;
    unsigned size = warp_max(Winner::bits(best.size));
    best.index = static_cast<int>(warp_min(size == Winner::bits(best.size) ? static_cast<unsigned>(best.index) : ~0u));
    return best;
}

} // namespace

#endif /* GPUOPT_CUDA_SIMPLEX_ITERATIONS_EXCHANGE_CUH */
