/* SPDX-License-Identifier: MIT
 *
 * How the blocks of a cooperative launch agree: every block writes a cell of 16 bytes and reads those of the others
 * until all bear the number of this exchange. That is a barrier and a reduction in one, and takes 1.2 us with 32
 * blocks, 1.9 with 132 of an H200.
 */
#ifndef GPUOPT_CUDA_SIMPLEX_EXCHANGE_CUH
#define GPUOPT_CUDA_SIMPLEX_EXCHANGE_CUH

#include "device.cuh"

namespace {

/* ---- What is reduced ----
 * Sizes are compared by their bits, as integers: two instructions where a butterfly of shuffles takes a microsecond. */

__device__ unsigned high_half(double x) { return static_cast<unsigned>(__double2hiint(x)); }
__device__ unsigned low_half(double x) { return static_cast<unsigned>(__double2loint(x)); }
__device__ double from_halves(unsigned high, unsigned low) {
    return __hiloint2double(static_cast<int>(high), static_cast<int>(low));
}

/* The largest key; the lowest index among equal ones. Keys are not negative. */
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

/* The smallest key and the largest index, each for itself; neither is negative. */
struct Limit {
    static __device__ Cell none() { return {HUGE_VAL, 0, 0}; }
    static __device__ Cell of(Cell a, Cell b) { return {fmin(a.key, b.key), max(a.index, b.index), 0}; }
    static __device__ Cell warp(Cell c) {
        unsigned high = warp_min(high_half(c.key));
        unsigned low = warp_min(high_half(c.key) == high ? low_half(c.key) : ~0u);
        return {from_halves(high, low), static_cast<int>(warp_max(static_cast<unsigned>(c.index))), 0};
    }
};

/* Two sums of integers, one of them in the key's low half. */
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

/* Everything that the thread has written, or seen written before a barrier, is visible to whoever sees what it stores
 * next. */
__device__ void release() { asm volatile("fence.acq_rel.gpu;" ::: "memory"); }

__device__ void store_cell(Cell *to, Cell cell) {
    long long high = static_cast<long long>(static_cast<unsigned>(cell.index)) | static_cast<long long>(cell.number)
                                                                                     << 32;
    asm volatile("{ .reg .b128 both; mov.b128 both, {%1, %2}; st.relaxed.gpu.global.b128 [%0], both; }" ::"l"(to),
                 "l"(__double_as_longlong(cell.key)), "l"(high)
                 : "memory");
}

__device__ Cell load_cell(const Cell *from) {
    long long low, high;
    asm volatile("{ .reg .b128 both; ld.acquire.gpu.global.b128 both, [%2]; mov.b128 {%0, %1}, both; }"
                 : "=l"(low), "=l"(high)
                 : "l"(from)
                 : "memory");
    return {__longlong_as_double(low), static_cast<int>(high), static_cast<unsigned>(high >> 32)};
}

/* The best of all blocks' cells once they are all there; by one warp. */
template <class Op>
__device__ Cell collect(const Cell *cells, int blocks, unsigned number) {
    enum { AT_ONCE = 5 }; /* for each lane: enough for 160 blocks */
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

/* What the threads of a block share for it. */
struct Board {
    Cell warp[SIMPLEX_WARPS];
    Cell best;
    Record record; /* what its owner tells of the best */
};

/* Each thread has a cell; the best of all threads of all blocks comes back to every one. Lane l of the first warp puts
 * field[best of the block - first] into word l of the block's record; that of the block owner(best), -1 for none, is in
 * board.record afterwards. What a block has written before is visible to the others then. Two barriers of the block, of
 * which the second is the end. */
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
            release();
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

/* What a group of positions puts up in the ratio test, as two cells: the limit, and in the index half of the largest
 * entry (the upper bits of a float, rounded up) and where in the group the winner is; the winner's step, and its
 * size. */
struct Winner {
    double limit, step;
    float largest, size;
    int index; /* in the group; of all */

    enum { NOWHERE = 0xffff }; /* no group has as many positions: a block's shared memory holds fewer */

    static __device__ Winner none() { return {HUGE_VAL, 0, 0, 0, -1}; }
    static __device__ unsigned bits(float x) { return __float_as_uint(x); }
    __device__ void put_up(Cell *cells, unsigned number) const {
        unsigned half = (bits(largest) + 0xffff) & 0xffff0000u;
        unsigned place = index < 0 ? static_cast<unsigned>(NOWHERE) : static_cast<unsigned>(index);
        store_cell(cells, {limit, static_cast<int>(half | place), number});
        store_cell(cells + 1, {step, static_cast<int>(bits(size)), number});
    }
};

/* The outcome of the ratio test from all groups' cells, by one warp: the largest entry of all, and the best winner
 * within the limit of all. */
__device__ Winner collect_winners(const Cell *cells, int groups, int group, unsigned number) {
    enum { AT_ONCE = 4 }; /* for each lane: there are no more than 128 groups */
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

#endif /* GPUOPT_CUDA_SIMPLEX_EXCHANGE_CUH */
