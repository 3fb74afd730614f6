/* SPDX-License-Identifier: MIT
 *
 * Children of one basis on the GPU: the data of a child, and what the threads of its block do together. A block works
 * on a child by itself; children/calls.cuh describes the way of a call.
 */
#ifndef GPUOPT_CUDA_SIMPLEX_CHILD_BLOCK_CUH
#define GPUOPT_CUDA_SIMPLEX_CHILD_BLOCK_CUH

#include "../../../gpuopt_impl/simplex/arith/bound_step.h"
#include "../../../gpuopt_impl/simplex/arith/dual_step.h"
#include "../engine/device.cuh"

namespace {

enum {
    CHILD_THREADS = 1024,    /* most threads of a block */
    CHILD_FEW_THREADS = 512, /* for smaller models: each thread then keeps more loads on their way */
    CHILD_WARPS = CHILD_THREADS / 32,
    CHILD_BASIC = 8,       /* state of a basic variable; those of others are as in gpuopt_impl/simplex/arith/step.h */
    CHILD_UPPER = 16,      /* of the root only: a nonbasic one is at its upper bound */
    CHILD_LANES = 8,       /* terms of a sum that a thread loads before it adds them */
    CHILD_TERMS = 512,     /* of a sum, in shared memory at once */
    CHILD_FEW_PAIRS = 128, /* of neighbours, of which all are summed up, wanted or not */
    CHILD_BUCKETS = 256,   /* of steps, in a ratio test */
    CHILD_LONG = 64,       /* entries of a column that is not in a slice */
    CHILD_BANKS = 16,      /* most times that a row of B^-1 is in shared memory, */
    CHILD_ROW = 98304,     /* if it takes at most this many bytes */
    CHILD_MINUS = 32768,   /* above all rows of a slice */
    CHILD_FOURS = 255,     /* of the words of a slice: its fours, that it is flat, and that a column is listed */
    CHILD_FLAT = 256,
    CHILD_HAS_LONG = 512,
    CHILD_TALL = 1024,   /* rows from which the core of an inverse may be kept alone: core.cuh */
    CHILD_CORE_PAYS = 4, /* if the rest has this many times the entries that A and a column have together */
    CHILD_IDLE = 2,      /* pivots in turn that move nothing, after which costs are perturbed */
};

/* Smaller entries of columns B^-1 a, and of rows of the root's inverse relative to their largest, are rounding. */
constexpr double CHILD_TINY = 1e-14;

/* A pointer into global memory, in a struct that is itself in shared memory. */
template <class T>
struct ChildArray {
    T *at;

    __host__ __device__ void operator=(T *pointer) { at = pointer; }
    __device__ operator T *() const { return ptx_global(at); }
};

/* A second copy of A, for y'A: columns in slices of 32, one per lane, and four entries at a time. Four number e of them
 * all is at 32 * (begin + e); entries that a column lacks are 0. Columns with more than CHILD_LONG entries are listed,
 * as all are if y has no place in shared memory. Values are without the scales of the rows, which y has instead. In
 * most models each column then has one value, up to signs. A slice is flat if all its columns are like this: the rows
 * with their signs suffice, in a fifth of the memory. */
struct alignas(8) ChildSlice {
    unsigned begin, fours; /* the latter with CHILD_FLAT, and CHILD_HAS_LONG */
};
struct ChildSlices {
    int count, of_longs;
    ChildArray<const ChildSlice> head; /* [count] */
    ChildArray<const unsigned> longs;  /* [count] bits of the columns that are listed */
    ChildArray<const uint16_t> row;    /* with CHILD_MINUS or not; [rows] where there is no entry */
    ChildArray<const double> val;
    ChildArray<const double> factor; /* [32 count] the columns' scales times their values, if their slices are flat */
    ChildArray<const int> of_long;   /* [of_longs] columns */
};

/* The root, which is read only. [both]: by variable, columns and then slacks. All numbers are scaled. */
struct ChildRoot {
    int rows, cols, both;
    int64_t pitch, v_pitch;                  /* that of the first rows of V, which are longer, if gram is not null: */
    int products;                            /* so many */
    ChildArray<const double> columns, lines; /* B0^-1, column after column and row after row */
    ChildArray<const float> singles;         /* the columns in single precision, for steepest edge */
    ChildArray<const double> gram;           /* its product with its transpose; null: see weights.cuh */
    ChildArray<const int64_t> col_start, row_start;
    ChildArray<const int> col_row, row_col;
    ChildArray<const double> col_val, row_val;
    ChildSlices slices, row_slices;                    /* columns of A and, for compact, rows */
    ChildArray<const double> lower, upper, cost, x, d; /* [both] */
    ChildArray<const uint8_t> state;                   /* [both] */
    ChildArray<const double> weight;                   /* [rows] of the dual pricing */
    ChildArray<const int> head;                        /* [rows] */
    ChildArray<const double> row_scale, col_scale;
    double primal_scale, cost_scale, largest_cost;
    double primal, dual, pivot, zero; /* tolerances; a child's block may make the first one tighter than */
    double within;                    /* the caller's */
    int pricing;                      /* a gpuopt_simplex_dual_pricing */
    int banks;     /* copies of a row of B^-1 in shared memory, so that lanes do not wait for one another; */
    int sum_banks; /* and copies of the columns' values, for sums over rows; 0: they do not fit */
    bool compact;  /* the inverse is kept for its core alone: see core.cuh, as for the next ones */
    int core;      /* rows and positions; without compact all are */
    int reach;     /* those that a child's core may get, to an even number */
    ChildArray<const int> core_row, core_position, place_of_row, place_of_position, place_of_column;
    int most; /* pivots in U and V, after which they are merged into an inverse of the block's own; END: any number */
    unsigned long long seed;
    double cutoff;        /* infinite: none */
    double limit, offset; /* the cutoff in the caller's units, where the objective has an offset; */
    int maximize;         /* and a direction */
};

/* Two neighbours of a vector. */
struct alignas(16) ChildPair {
    double even, odd;
};

/* A row or column, in double precision or single, and the factor by which it is added. */
struct alignas(16) ChildTerm {
    const double *line;
    double value;
};

/* What a block has for the child that it works on. */
struct ChildState {
    ChildArray<double> xb, weight;                  /* [rows] */
    ChildArray<double> alpha, tau, moved, y, y_low; /* [rows] */
    ChildArray<double> rho;                         /* [v_pitch] a row of B^-1, as the first rows of V are */
    ChildArray<double> lower, upper, x, d, cost, shift, row, key, z; /* [both] */
    ChildArray<double> step;                 /* [both] of the ratio test, as are units: by place in list */
    ChildArray<uint64_t> units;              /* [both] */
    ChildArray<double> u, v;                 /* [most][pitch] columns of U, rows of V, see v_row() */
    ChildArray<const double> columns, lines; /* the inverse beside them: the root's or, after a merger, the next ones */
    ChildArray<const float> singles;
    ChildArray<double> merged_columns, merged_lines; /* [reach][pitch]; with END there are none */
    ChildArray<float> merged_singles;
    ChildArray<int> head, places; /* [rows]; a list of rows or positions */
    int core, inverted;           /* its size now, and so much of it B0^-1 has; core.cuh: */
    ChildArray<int> core_row, core_position, place_of_row, place_of_position; /* [rows] */
    ChildArray<int> place_of_column;                                          /* [cols] */
    ChildArray<int> fold;                                                     /* [rows] a list of places, */
    ChildArray<double> folded;                                                /* [rows] and its values */
    ChildArray<int> list, flips;              /* [both] lists of variables, flips also of pairs */
    ChildArray<unsigned> marks;               /* [both / 32 + 1] bits, 0 between uses */
    ChildArray<uint8_t> state, refused, gone; /* [both], [rows], and [rows + 1] by place */
};

/* Children, and the arrays for their results. */
struct ChildJob {
    int count, most, pivot_limit; /* children; most iterations of each; iterations after which it ends */
    const int64_t *bound_start, *cost_start;
    const int *variable, *col;
    const double *lower, *upper, *cost;
    const int *order; /* [count] in which they are taken, */
    int *next;        /* and the place there of the first one that no block has taken */
    const int *place; /* [count] where a child's root is among the views, -1: it is the handle; null: so are all */
    int *outcome, *iterations;
    double *bound, *objective, *objective_low; /* scaled, without the offset */
    int bounds;                                /* are wanted */
    uint8_t *basis;                            /* may be null, as the next ones */
    double *x, *farkas, *farkas_low;
};

/* An entry of a list. */
struct ChildEntry {
    int index;
    double value;
};

struct ChildShared {
    ChildTerm term[CHILD_TERMS];
    ChildEntry near[CHILD_TERMS]; /* the first ones of a list */
    union {
        ChildTerm staged[CHILD_TERMS];    /* before those that are 0 are left out */
        ChildPair partial[CHILD_THREADS]; /* sums of them */
    };
    int of_matrix, terms;
    uint64_t rank[2][CHILD_WARPS]; /* of doubles */
    double key[2][CHILD_WARPS], low[CHILD_WARPS], error_sum[CHILD_WARPS];
    int index[2][CHILD_WARPS];
    int waiting[CHILD_WARPS][64];                    /* variables that a warp has yet to look at */
    unsigned long long limit;                        /* bits of a step */
    unsigned long long units, bucket[CHILD_BUCKETS]; /* of slopes */
    int few[32];
    int count, listed, folded, child;
};

struct ChildBest {
    double key;
    int index; /* -1: none, and no key */
};

/* A list of rows or positions with values: that of entry e is value[e], or value[index[e]]. */
struct ChildList {
    int count;
    const int *index;
    const double *value;
    bool dense;

    __device__ double at(int e) const { return value[dense ? index[e] : e]; }
};

/* What all functions work on, each block with its own. Variables and no members: a function that is not inlined finds
 * a member through the address of its object, in the thread's own memory. */
__shared__ ChildRoot child_root;
__shared__ ChildState child_own;
__shared__ ChildShared child_shared;

/* The part of one thread in the work on a child. All threads of the block call every function together, and get the
 * same results; reads and writes before such a call come before those after it. */
class ChildBlock {
  public:
    __device__ static int thread() { return static_cast<int>(threadIdx.x); }
    __device__ static int threads() { return static_cast<int>(blockDim.x); }
    __device__ static int lane() { return thread() % 32; }
    __device__ static int warp() { return thread() / 32; }
    __device__ static int warps() { return threads() / 32; }

    /* ---- Over all threads ---- */

    /* The largest or the smallest key, of equal ones that with the lowest index; index < 0 does not count. */
    template <bool LARGEST>
    __device__ ChildBest best(double key, int index) {
        auto of_warp = [](uint64_t *rank, unsigned *i) {
            const uint64_t mine = *rank;
            *rank = warp_largest(mine);
            *i = warp_min(mine == *rank ? *i : ~0u);
        };
        uint64_t rank = index < 0 ? 0 : LARGEST ? rank_of(key) : ~rank_of(key);
        unsigned i = static_cast<unsigned>(index);
        of_warp(&rank, &i);
        turn_ ^= 1;
        if (lane() == 0)
            child_shared.rank[turn_][warp()] = rank, child_shared.index[turn_][warp()] = static_cast<int>(i);
        __syncthreads();
        rank = lane() < warps() ? child_shared.rank[turn_][lane()] : 0;
        i = lane() < warps() ? static_cast<unsigned>(child_shared.index[turn_][lane()]) : ~0u;
        of_warp(&rank, &i);
        return {of_rank(LARGEST ? rank : ~rank), static_cast<int>(i)};
    }
    __device__ double largest(double x) {
        const uint64_t rank = warp_largest(rank_of(x));
        turn_ ^= 1;
        if (lane() == 0) child_shared.rank[turn_][warp()] = rank;
        __syncthreads();
        return of_rank(warp_largest(child_shared.rank[turn_][lane() < warps() ? lane() : 0]));
    }
    __device__ double smallest(double x) { return -largest(-x); }
    __device__ bool any(bool x) { return __syncthreads_or(x) != 0; }
    /* In a fixed order. */
    __device__ double sum(double x) {
        x = warp_sum(x);
        turn_ ^= 1;
        if (lane() == 0) child_shared.key[turn_][warp()] = x;
        __syncthreads();
        return warp_sum(lane() < warps() ? child_shared.key[turn_][lane()] : 0);
    }
    /* Over each group of LANES lanes. */
    template <int LANES>
    __device__ static gpuopt__simplex_sum lanes_total(gpuopt__simplex_sum x) {
        for (int half = LANES / 2; half > 0; half /= 2) {
            double hi = __shfl_xor_sync(~0u, x.hi, half), lo = __shfl_xor_sync(~0u, x.lo, half),
                   error_sum = __shfl_xor_sync(~0u, x.error_sum, half);
            gpuopt__simplex_add(&x, hi, lo, error_sum);
        }
        return x;
    }
    __device__ gpuopt__simplex_sum total(gpuopt__simplex_sum x) {
        /* lanes add in different orders, so one of them supplies the result */
        x = lanes_total<32>(x);
        turn_ ^= 1;
        if (lane() == 0)
            child_shared.key[turn_][warp()] = x.hi, child_shared.low[warp()] = x.lo,
            child_shared.error_sum[warp()] = x.error_sum;
        __syncthreads();
        gpuopt__simplex_sum all = {child_shared.key[turn_][0], child_shared.low[0], child_shared.error_sum[0]};
        for (int w = 1; w < warps(); w++)
            gpuopt__simplex_add(&all, child_shared.key[turn_][w], child_shared.low[w], child_shared.error_sum[w]);
        __syncthreads();
        return all;
    }

    /* The sum over the threads before this one; *all: over all of them. */
    __device__ int sum_before(int x, int *all) {
        int of_warp = x;
        for (int by = 1; by < 32; by *= 2) {
            const int other = __shfl_up_sync(~0u, of_warp, by);
            if (lane() >= by) of_warp += other;
        }
        turn_ ^= 1;
        if (lane() == 31) child_shared.index[turn_][warp()] = of_warp;
        __syncthreads();
        const unsigned other = lane() < warps() ? static_cast<unsigned>(child_shared.index[turn_][lane()]) : 0;
        *all = static_cast<int>(warp_count(other));
        return static_cast<int>(warp_count(lane() < warp() ? other : 0)) + of_warp - x;
    }

    /* use(i, load(i)) for this thread's i < n. AT_ONCE of them are loaded at the same time: the compiler moves no load
     * behind the warp's barrier. */
    template <int AT_ONCE, class Load, class Use>
    __device__ static void for_all(int n, Load load, Use use) {
        for (int first = 32 * warp(); first < n; first += AT_ONCE * threads()) {
            const int i = first + lane();
            decltype(load(0)) loaded[AT_ONCE];
#pragma unroll
            for (int k = 0; k < AT_ONCE; k++) loaded[k] = load(min(i + k * threads(), n - 1));
            __syncwarp();
#pragma unroll
            for (int k = 0; k < AT_ONCE; k++)
                if (i + k * threads() < n) use(i + k * threads(), loaded[k]);
        }
    }

    /* The i < n for which `which` holds, in ascending order, in list. Returns their number. `which` is called twice. */
    template <class Which>
    __device__ int gather(int n, int *list, Which which) {
        const int from = static_cast<int>(int64_t{(n + 31) / 32} * warp() / warps()) * 32,
                  end = min(n, static_cast<int>(int64_t{(n + 31) / 32} * (warp() + 1) / warps()) * 32);
        int count = 0, all;
        for (int first = from; first < end; first += 32)
            count += __popc(__ballot_sync(~0u, first + lane() < end && which(first + lane())));
        int at = sum_before(lane() == 0 ? count : 0, &all);
        at = __shfl_sync(~0u, at, 0);
        for (int first = from; first < end && all > 0; first += 32) {
            const bool is = first + lane() < end && which(first + lane());
            const unsigned those = __ballot_sync(~0u, is);
            if (is) list[at + __popc(those & ((1u << lane()) - 1))] = first + lane();
            at += __popc(those);
        }
        __syncthreads();
        return all;
    }

  private:
    /* Doubles in their order as unsigned integers above 0; -0 is 0. */
    __device__ static uint64_t rank_of(double x) {
        const auto bits = static_cast<uint64_t>(__double_as_longlong(x + 0.0));
        return bits >> 63 ? ~bits : bits | uint64_t{1} << 63;
    }
    __device__ static double of_rank(uint64_t rank) {
        return __longlong_as_double(static_cast<long long>(rank >> 63 ? rank ^ uint64_t{1} << 63 : ~rank));
    }
    __device__ static uint64_t warp_largest(uint64_t x) {
        const auto high = static_cast<unsigned>(x >> 32), most = warp_max(high);
        return uint64_t{most} << 32 | warp_max(high == most ? static_cast<unsigned>(x) : 0);
    }

    int turn_ = 0; /* the buffer, of two, in which threads exchange data now; with two, one barrier is enough */
};

} // namespace

#endif /* GPUOPT_CUDA_SIMPLEX_CHILD_BLOCK_CUH */
