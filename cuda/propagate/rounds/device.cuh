/* SPDX-License-Identifier: MIT
 *
 * Propagation on the GPU: the data of the kernels, and access to bounds.
 *
 * The layout of a row depends on its length. Short rows (up to 32 entries) are sorted by length and stored in slices of
 * 32 rows, column after column (sliced ELLPACK). Each thread filters one row in registers, and a warp's loads are
 * contiguous. A row of up to 512 entries belongs to one warp. A longer row is split into segments of 512 entries, one
 * per warp, and the last warp to finish adds the segments up. So the work of a warp is bounded for any matrix. Rows and
 * segments that pass the filter are put on lists, which are divided evenly among all warps.
 *
 * A round reads one copy of the bounds and improves the other, so the order of its operations does not matter. It lists
 * every bound that it moves. The next round updates the copy that it writes with this short list. So no copy of the
 * bounds is ever copied as a whole.
 *
 * Access to shared data during a round, and its correctness by the PTX manual's memory consistency model
 * ------------------------------------------------------------------------------------------------------ The copy that
 * is read, its list and the rows do not change. Kernel boundaries or GridBarrier order the rounds, and the results that
 * one step of a round passes to the next. Every access to the copy that is written is an atomic read-modify-write of
 * the scope of the device. It only ever tightens a bound: by a minimum, a maximum, or an exchange that compares. So the
 * result depends on no order. (Only if a pair of doubles cannot be exchanged, improve() also reads: by a relaxed load,
 * after a fence.sc between each thread's move and its look at the other side. So of two threads that make the bounds
 * cross, one sees it: Fence-SC Order.)
 * Sides are settled by operations of the size of one bound while others exchange whole pairs. Such operations overlap
 * partially, hence are not morally strong. The code relies on "Atomicity of mixed-size RMW operations" (Limitations on
 * Mixed-size Data-races), which the manual gives for any program. It concerns two overlapping atomic read-modify-writes
 * with scopes that include each other: one is complete before the other begins.
 */
#ifndef GPUOPT_CUDA_PROPAGATE_ROUNDS_DEVICE_CUH
#define GPUOPT_CUDA_PROPAGATE_ROUNDS_DEVICE_CUH

#include <climits>
#include <cstdint>
#include <cuda/atomic>

#include "../../../gpuopt_impl/propagate/backend.h"
#include "../../common/ptx.cuh"

namespace {

constexpr int WARP = 32; /* not in the enum: C++20 warns of arithmetic with constants of two enums */

enum {
    THREADS = 256, /* in a block */
    WARPS = THREADS / WARP,
    GROUP = GPUOPT__PROPAGATOR_SHORT_LANES, /* threads per short row that passed the filter */
    GROUPS = WARP / GROUP,
    BATCH = 4,         /* entries that a thread loads at a time */
    MAX_BLOCKS = 1024, /* of a cooperative launch */
    TURNS = 6,         /* a round's turn selects one of two, and one of three, copies */
    MARKING_SHARE = 8  /* a round marks rows if it expects to mark at most one row in this many */
};

/* Segments of a row with this many entries. */
__host__ __device__ constexpr int segments_of(int length) {
    return (length + GPUOPT__PROPAGATOR_SEGMENT - 1) / GPUOPT__PROPAGATOR_SEGMENT;
}

/* The results of a round so far. Three of them rotate: of this round, of the previous round, and one being cleared for
 * the next. */
struct Round {
    unsigned count;                                     /* bounds moved, and the length of their list */
    unsigned short_marked, warp_marked;                 /* rows marked for this round */
    unsigned short_passed, warp_passed, segment_passed; /* rows, and segments of rows, that passed the filter */
};

/* The results of the last call of _round. The GPU writes them to host memory, since a copy would take longer than a
 * round. */
struct CallReport {
    int outcome, rounds, infeasible_row, infeasible_col;
    unsigned long long changed, nonzeros;
    double shrinkage;
    int done; /* of the current call, after each round of the CPU driver */
};

struct PropagatorState {
    Round round[3];                     /* by turn % 3 */
    unsigned long long epoch;           /* rounds since create, and TURNS */
    unsigned turn;                      /* epoch % TURNS */
    unsigned barriers;                  /* of the cooperative driver, since create; wraps (grid_barrier.cuh) */
    int infeasible_row, infeasible_col; /* INT_MAX: none */
    int found_row, found_col;           /* likewise, from rounds that are not closed yet: see adopt_found() */
    int all_marked;
    int recheck;                            /* test all columns for crossing bounds */
    int was_infeasible;                     /* before the caller's last change */
    int bad;                                /* an argument in device memory is out of range */
    int remaining, done, converged, rounds; /* of the current call */
    unsigned long long changed;             /* likewise */
    unsigned long long shrinkage;           /* the bits of the largest shrinkage; 0 between calls */
    long long rounds_since_set;
    /* entries of all rows evaluated since create: now, and before the current call */
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
    const unsigned *col;    /* the same: 2 * column + (1 if it is integer); the padding of short rows has column
                             * `cols` */
    const long long *start; /* [units + 1]: slices, warp rows, split rows */
    const int *length;      /* [slots]: 32 a slice, then one a row */
    const int *row;         /* [slots]: the caller's row; -1 in the padding of slices */
    double2 *sides;         /* [slots]: (lhs, rhs) */
    Bound *bounds[2];       /* [cols + 1][2]; column `cols` is 0..0. The copy with the turn's parity is read, the other
                          * written */
    unsigned char *kind;    /* [cols]: integer, fixed by the caller */
    unsigned *list[2];      /* [2 cols]: bounds moved, 2 * col + (1 for ub); by parity */
    const long long *col_start;           /* [cols + 1]; without marking this and the next three are null */
    const int *col_slot;                  /* [nonzeros]: the rows' slots of each column */
    unsigned long long *stamp;            /* [slots]: the epoch for which the row is marked */
    int *marked;                          /* [slots]: marked short rows, from 0; marked warp rows, from 32 * slices */
    int *passed;                          /* [slots]: rows that passed the filter, in the same places */
    int *passed_segment;                  /* [segments] */
    Partial *partial;                     /* [segments] */
    gpuopt__propagator_activities *total; /* [split_rows] */
    const int *segment_start;             /* [split_rows + 1] */
    const int *segment_row;               /* [segments]: the split row */
    int *arrivals;                        /* [split_rows] */
    unsigned long long *arrived;          /* [2][MAX_BLOCKS]: of the cooperative driver's GridBarrier */
    PropagatorState *state;
    CallReport *report; /* pinned host memory, at the same address on the device */
    long long nonzeros;
    long long round_limit; /* LLONG_MAX: none */
    int rows, cols, slices, warp_rows, split_rows, segments;
    unsigned most_moved; /* if the previous round moved more sides than this, all rows are evaluated */
    gpuopt__propagator_rules rules;

    __device__ int first_warp_slot() const { return WARP * slices; }
    __device__ int first_split_slot() const { return WARP * slices + warp_rows; }
    /* The start of a row's entries; the entries of a short row are WARP apart. */
    __device__ long long start_of(int slot) const {
        bool is_short = slot < first_warp_slot();
        return start[is_short ? slot / WARP : slot - (WARP - 1) * slices] + (is_short ? slot % WARP : 0);
    }
};

__device__ unsigned turn_after(unsigned turn) { return turn == TURNS - 1 ? 0 : turn + 1; }
__device__ unsigned turn_before(unsigned turn) { return turn == 0 ? TURNS - 1 : turn - 1; }
/* The results of the round of this turn. */
__device__ Round &round_of(PropagatorState *state, unsigned turn) { return state->round[turn < 3 ? turn : turn - 3]; }

__device__ int grid_thread() { return static_cast<int>(blockIdx.x * THREADS + threadIdx.x); }
__device__ int grid_threads() { return static_cast<int>(gridDim.x * THREADS); }
__device__ int grid_warp() { return grid_thread() / WARP; }
/* The same, but numbered across the blocks, so that a few items are spread over as many multiprocessors. */
__device__ int scattered_warp() { return static_cast<int>(threadIdx.x / WARP * gridDim.x + blockIdx.x); }
__device__ int grid_warps() { return static_cast<int>(gridDim.x) * WARPS; }

/* Sets a flag that other threads may be setting at the same time. */
template <cuda::thread_scope SCOPE>
__device__ void raise_flag(int &flag) {
    cuda::atomic_ref<int, SCOPE>(flag).store(1, cuda::memory_order_relaxed);
}

/* The bits that are set in any lane of the warp. */
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

/* A pair of bounds as one value for an atomic exchange. */
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

/* Tightens one bound of a column to `value` if that is better, and returns the old bound. Positive IEEE numbers have
 * the order of their bits as signed integers, negative ones the reverse order; there is no minus zero. */
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

/* Tightens one side of a pair to `value` if that is better; other threads may do the same at the same time. Returns
 * whether it moved the side. `was`: the expected pair; afterwards the pair at that moment, except that the other side
 * may be from a later moment. */
template <class Bound>
__device__ bool improve(Bound *pair, bool upper, double value, double2 &was) {
#if __CUDA_ARCH__ < 900 /* without a 16-byte exchange, the two sides of a pair of doubles move independently */
    if constexpr (sizeof(Bound) == sizeof(double)) {
        using Side = cuda::atomic_ref<double, cuda::thread_scope_device>;
        double seen = Side(pair[upper]).load(cuda::memory_order_relaxed);
        if (upper ? !(value < seen) : !(value > seen)) return false;
        seen = move_side(pair + upper, upper, value);
        if (upper ? !(value < seen) : !(value > seen)) return false;
        cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_device); /* see above */
        double other = Side(pair[!upper]).load(cuda::memory_order_relaxed);
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

/* Updates one bound of a column in the bounds that a round writes from the bounds that it reads. Other threads may
 * already be writing it. Returns its previous value. */
template <class Val, class Bound>
__device__ double settle_side(const Propagator<Val, Bound> &p, unsigned turn, unsigned side) {
    return move_side(p.bounds[~turn & 1] + side, side & 1, static_cast<double>(p.bounds[turn & 1][side]));
}

} // namespace

#endif /* GPUOPT_CUDA_PROPAGATE_ROUNDS_DEVICE_CUH */
