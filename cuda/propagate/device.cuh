/* SPDX-License-Identifier: MIT
 *
 * Propagation on the GPU: what the kernels work on, and how bounds are read and written.
 *
 * Rows are kept by length. Short ones (up to 32 entries) lie in slices of 32 rows, sorted by length and stored column
 * after column (sliced ELLPACK), so that a thread filters a row on its own, in registers, and a warp's loads are
 * contiguous. Up to 512 entries, a warp has a row. Longer rows are split into segments of 512, a warp each; the last
 * warp to arrive adds the segments up. So the work of a warp is bounded, whatever the matrix. Rows and segments that
 * pass the filter are put on lists, from which all warps take them in equal shares.
 *
 * A round reads one copy of the bounds and improves the other, which does not depend on the order. It lists every side
 * of a column that it moves; the next round, while it runs, brings these few up to date in the copy that it
 * writes, so that neither is ever copied whole.
 */
#ifndef GPUOPT_CUDA_PROPAGATE_DEVICE_CUH
#define GPUOPT_CUDA_PROPAGATE_DEVICE_CUH

#include <climits>
#include <cstdint>
#include <cuda/atomic>

#include "../../gpuopt_impl/propagate/backend.h"

namespace {

enum {
    WARP = 32,
    THREADS = 256, /* in a block */
    WARPS = THREADS / WARP,
    GROUP = GPUOPT__PROPAGATOR_SHORT_LANES, /* threads for a short row that passed the filter */
    GROUPS = WARP / GROUP,
    BATCH = 4,         /* entries that a thread loads at a time */
    MAX_BLOCKS = 1024, /* of a cooperative launch */
    MARKING_SHARE = 8  /* a round marks rows if by estimate no more than one in so many is reached */
};

/* What a round found so far. Three are in use in turn: one being written, the one of the round before it, one
 * cleared. */
struct Round {
    unsigned count;                                     /* sides moved, on the list */
    unsigned short_marked, warp_marked;                 /* rows marked for this round */
    unsigned short_passed, warp_passed, segment_passed; /* rows, and segments of rows, that passed the filter */
};

/* What the last call of _round found, written by the GPU into the host's memory: a copy would take longer than a
 * round. */
struct CallReport {
    int outcome, rounds, infeasible_row, infeasible_col;
    unsigned long long changed, nonzeros;
    int done; /* of the current call, after each round of the host driver */
};

struct PropagatorState {
    Round round[3];                     /* by epoch % 3 */
    unsigned epoch;                     /* rounds since create, and 3 */
    unsigned barriers;                  /* of the cooperative driver, since create */
    int infeasible_row, infeasible_col; /* INT_MAX: none */
    int all_marked;
    int rounds_since_set;
    int recheck;                            /* all columns are to be tested for crossing */
    int bad;                                /* arguments on the device that are out of range */
    int remaining, done, converged, rounds; /* of the current call, as the next */
    unsigned long long changed;
    /* entries of the rows that marked rounds evaluated and of whole matrices, since create: now, and before the call */
    unsigned long long evaluated_ever, evaluated_before;
};

/* A segment of a split row. */
struct Partial {
    gpuopt__propagator_filter filter;
    gpuopt__propagator_activities activities;
};

template <class Val, class Bound>
struct Propagator {
    const Val *val;         /* short rows: [slice][k][32 lanes]; others: row after row */
    const unsigned *col;    /* the same: 2 * column + (1 if it is integer); column `cols` where a short row is padded */
    const long long *start; /* [units + 1]: slices, warp rows, split rows */
    const int *length;      /* [slots]: 32 a slice, then one a row */
    const int *row;         /* [slots]: the host's row; -1 where a slice is padded */
    double2 *sides;         /* [slots]: (lhs, rhs) */
    Bound *bounds[2];       /* [cols + 1][2]; column `cols` is 0..0. By parity of the epoch: read, written */
    unsigned *list[2];      /* [2 cols]: sides moved, 2 * col + (1 for ub); by parity */
    const long long *col_start;           /* [cols + 1]; null without marking, as the next three */
    const int *col_slot;                  /* [nonzeros]: the rows' slots of each column */
    unsigned *stamp;                      /* [slots]: the epoch for which the row is marked */
    int *marked;                          /* [slots]: marked short rows, from 0; marked warp rows, from 32 * slices */
    int *passed;                          /* [slots]: the same of rows that passed the filter */
    int *passed_segment;                  /* [segments] */
    Partial *partial;                     /* [segments] */
    gpuopt__propagator_activities *total; /* [split_rows] */
    const int *segment_start;             /* [split_rows + 1] */
    const int *segment_row;               /* [segments]: the split row */
    int *arrivals;                        /* [split_rows] */
    unsigned long long *arrived;          /* [2][MAX_BLOCKS]: of the cooperative driver's barrier */
    PropagatorState *state;
    CallReport *report; /* pinned host memory, at the same address on the device */
    long long nonzeros;
    int rows, cols, slices, warp_rows, split_rows, segments, round_limit;
    unsigned most_moved; /* with so many sides moved, a round still marks rows */
    gpuopt__propagator_rules rules;

    __device__ int first_warp_slot() const { return WARP * slices; }
    __device__ int first_split_slot() const { return WARP * slices + warp_rows; }
    /* Where the entries of a row begin; those of a short one are WARP apart. */
    __device__ long long start_of(int slot) const {
        bool is_short = slot < first_warp_slot();
        return start[is_short ? slot / WARP : slot - (WARP - 1) * slices] + (is_short ? slot % WARP : 0);
    }
};

__device__ int grid_thread() { return static_cast<int>(blockIdx.x * THREADS + threadIdx.x); }
__device__ int grid_threads() { return static_cast<int>(gridDim.x * THREADS); }
__device__ int grid_warp() { return grid_thread() / WARP; }
/* The same numbered across the blocks, so that a few items go to as many multiprocessors. */
__device__ int scattered_warp() { return static_cast<int>(threadIdx.x / WARP * gridDim.x + blockIdx.x); }
__device__ int grid_warps() { return static_cast<int>(gridDim.x) * WARPS; }

/* The bits that any lane of the warp has. */
__device__ unsigned any_of_warp(unsigned bits) {
#if __CUDA_ARCH__ >= 800
    return __reduce_or_sync(~0u, bits);
#else
    for (int half = WARP / 2; half > 0; half /= 2) bits |= __shfl_xor_sync(~0u, bits, half);
    return bits;
#endif
}

/* ---- Bounds ---- */

/* A column's pair of bounds; col: 2 * column, or 1 more. */
__device__ double2 load_pair(const double *bounds, unsigned col) {
    return *reinterpret_cast<const double2 *>(bounds + (col & ~1u));
}
__device__ double2 load_pair(const float *bounds, unsigned col) {
    float2 pair = *reinterpret_cast<const float2 *>(bounds + (col & ~1u));
    return make_double2(pair.x, pair.y);
}

/* The same past the first cache, which others' atomic operations do not reach. */
__device__ double2 load_latest(const double *pair) { return __ldcg(reinterpret_cast<const double2 *>(pair)); }
__device__ double2 load_latest(const float *pair) {
    float2 latest = __ldcg(reinterpret_cast<const float2 *>(pair));
    return make_double2(latest.x, latest.y);
}

/* A pair as one atomic value. */
struct alignas(16) Bits128 {
    unsigned long long lb, ub;
};
__device__ bool swap_pair(double *pair, double2 &seen, double2 wanted) {
#if __CUDA_ARCH__ >= 900
    Bits128 expected = {static_cast<unsigned long long>(__double_as_longlong(seen.x)),
                        static_cast<unsigned long long>(__double_as_longlong(seen.y))};
    Bits128 desired = {static_cast<unsigned long long>(__double_as_longlong(wanted.x)),
                       static_cast<unsigned long long>(__double_as_longlong(wanted.y))};
    Bits128 was = atomicCAS(reinterpret_cast<Bits128 *>(pair), expected, desired);
    seen = make_double2(__longlong_as_double(static_cast<long long>(was.lb)),
                        __longlong_as_double(static_cast<long long>(was.ub)));
    return was.lb == expected.lb && was.ub == expected.ub;
#else
    (void)pair, (void)seen, (void)wanted;
    return false;
#endif
}
__device__ bool swap_pair(float *pair, double2 &seen, double2 wanted) {
    auto bits = [](double2 v) {
        return static_cast<unsigned long long>(static_cast<unsigned>(__float_as_int(static_cast<float>(v.y)))) << 32 |
               static_cast<unsigned>(__float_as_int(static_cast<float>(v.x)));
    };
    unsigned long long expected = bits(seen),
                       was = atomicCAS(reinterpret_cast<unsigned long long *>(pair), expected, bits(wanted));
    seen =
        make_double2(__int_as_float(static_cast<int>(was & 0xffffffffu)), __int_as_float(static_cast<int>(was >> 32)));
    return was == expected;
}

/* Moves one side of a column towards value, and returns what was there. The order of IEEE numbers is that of their bits
 * as signed integers above zero and the reverse below, and there is no minus zero. */
__device__ double move_side(double *target, bool upper, double value) {
    long long bits = __double_as_longlong(value), *as_signed = reinterpret_cast<long long *>(target);
    auto *as_unsigned = reinterpret_cast<unsigned long long *>(target);
    auto wide = static_cast<unsigned long long>(bits);
    if (value >= 0) return __longlong_as_double(upper ? atomicMin(as_signed, bits) : atomicMax(as_signed, bits));
    return __longlong_as_double(
        static_cast<long long>(upper ? atomicMax(as_unsigned, wide) : atomicMin(as_unsigned, wide)));
}
__device__ float move_side(float *target, bool upper, double value) {
    int bits = __float_as_int(static_cast<float>(value)), *as_signed = reinterpret_cast<int *>(target);
    auto *as_unsigned = reinterpret_cast<unsigned *>(target);
    auto wide = static_cast<unsigned>(bits);
    if (value >= 0) return __int_as_float(upper ? atomicMin(as_signed, bits) : atomicMax(as_signed, bits));
    return __int_as_float(static_cast<int>(upper ? atomicMax(as_unsigned, wide) : atomicMin(as_unsigned, wide)));
}

/* Moves one side of a pair to value if that is better than what is there; others may be at it. Returns whether it did.
 * `was`: what is likely to be there; afterwards, the pair as it was at that moment or, of the other side, later: past
 * whatever was written there before. */
template <class Bound>
__device__ bool improve(Bound *pair, bool upper, double value, double2 &was) {
#if __CUDA_ARCH__ < 900 /* without a 16-byte exchange the two sides of a pair of doubles move on their own */
    if constexpr (sizeof(Bound) == sizeof(double)) {
        double seen = __ldcg(pair + upper);
        if (upper ? !(value < seen) : !(value > seen)) return false;
        seen = move_side(pair + upper, upper, value);
        if (upper ? !(value < seen) : !(value > seen)) return false;
        __threadfence(); /* of two that move the two sides, at least one sees the other's */
        double other = __ldcv(pair + !upper);
        was = upper ? make_double2(other, seen) : make_double2(seen, other);
        return true;
    } else
#endif
    {
        while (upper ? value < was.y : value > was.x)
            if (swap_pair(pair, was, upper ? make_double2(was.x, value) : make_double2(value, was.y))) return true;
        return false;
    }
}

/* Brings one side of a column up to date in the bounds that a round writes, from those that it reads. Nobody waits for
 * it. */
template <class Val, class Bound>
__device__ void settle_side(const Propagator<Val, Bound> &p, unsigned epoch, unsigned side) {
    move_side(p.bounds[~epoch & 1] + side, side & 1, static_cast<double>(p.bounds[epoch & 1][side]));
}

} // namespace

#endif /* GPUOPT_CUDA_PROPAGATE_DEVICE_CUH */
