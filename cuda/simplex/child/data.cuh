/* SPDX-License-Identifier: MIT
 *
 * Children of one basis on the GPU: what all parts of the work on a child share. A block works on a child by itself;
 * children/calls.cuh describes the way of a call.
 *
 * The work consists of parts, each a class. The root, the child's point and the vectors are in this file. All else
 * belongs to a part, in the struct `Data` of its class. A part reaches only what its members name: views of variables
 * in shared memory, and other parts. A function gets parts with a state as arguments, or its class owns them:
 *
 *     block.cuh      ChildBlock       what the threads of a block find together, such as sums
 *     slices.cuh     child_entries    sums over columns of A
 *     inverse.cuh    ChildInverse     the arrays of B^-1
 *     core.cuh       ChildCore        the inverse's core, and what is outside
 *     sums.cuh       ChildSums        sums of rows or columns of the inverse
 *     products.cuh   ChildProducts    products with B^-1; the pivots in U and V
 *     price.cuh      ChildPrice       rows of B^-1 N; the reduced costs
 *     ratio.cuh      ChildRatioTest   the dual ratio test
 *     weights.cuh    ChildWeights     the weights of the dual pricing
 *     dual.cuh       ChildDual        dual iterations; owns the parts above
 *     primal.cuh     ChildPrimal      primal iterations, by the same parts
 *     proof.cuh      ChildProof       duals, bounds and proofs
 *     solve.cuh      Child            a child from beginning to end
 *     root.cuh       ChildRootMaker   another root
 */
#ifndef GPUOPT_CUDA_SIMPLEX_CHILD_DATA_CUH
#define GPUOPT_CUDA_SIMPLEX_CHILD_DATA_CUH

#include "../../../gpuopt_impl/simplex/arith/bound_step.h"
#include "../../../gpuopt_impl/simplex/arith/dual_step.h"
#include "slices.cuh"

namespace {

enum {
    CHILD_THREADS = 1024,    /* most threads of a block */
    CHILD_FEW_THREADS = 512, /* for smaller models: each thread then keeps more loads on their way */
    CHILD_WARPS = CHILD_THREADS / 32,
    CHILD_BASIC = 8,   /* state of a basic variable; those of others are as in gpuopt_impl/simplex/arith/step.h */
    CHILD_UPPER = 16,  /* of the root only: a nonbasic one is at its upper bound */
    CHILD_BANKS = 16,  /* most times that a row of B^-1 is in shared memory, */
    CHILD_ROW = 98304, /* if it takes at most this many bytes */
};

/* Smaller entries of columns B^-1 a, and of rows of the root's inverse relative to their largest, are rounding. */
constexpr double CHILD_TINY = 1e-14;
/* Whether an entry of a column B^-1 a is more than that. */
__device__ bool child_is_entry(double alpha) { return !(fabs(alpha) < CHILD_TINY); }

/* The number of a thread in its block, and what needs no memory of the block. */
struct ChildThreads {
    __device__ static int thread() { return static_cast<int>(threadIdx.x); }
    __device__ static int threads() { return static_cast<int>(blockDim.x); }
    __device__ static int lane() { return thread() % 32; }
    __device__ static int warp() { return thread() / 32; }
    __device__ static int warps() { return threads() / 32; }

    __device__ static bool any(bool x) { return __syncthreads_or(x) != 0; }
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
};

/* The one variable of type T in the block's shared memory. */
template <class T>
__device__ T *child_shared() {
    __shared__ T variable;
    return &variable;
}
/* A part's access to it; of const T: only to read. Views are empty, and the variable's address is known when code is
 * compiled, in functions that are not inlined, too. A reference would lie in the thread's own memory. */
template <class T>
struct ChildView {
    __device__ T *operator->() const { return child_shared<std::remove_const_t<T>>(); }
    __device__ T &operator*() const { return *operator->(); }
};

/* The root, which parts only read. [both]: by variable, columns and then slacks. All numbers are scaled. */
struct ChildRoot {
    /* The model. */
    int rows, cols, both;
    ChildArray<const int64_t> col_start, row_start;
    ChildArray<const int> col_row, row_col;
    ChildArray<const double> col_val, row_val, row_scale, col_scale;
    double primal_scale, cost_scale, largest_cost;
    ChildSlices slices, row_slices; /* columns of A and, for a core, rows */
    int banks;     /* copies of a row of B^-1 in shared memory, so that lanes do not wait for one another; */
    int sum_banks; /* and copies of the columns' values, for sums over rows; 0: they do not fit */

    /* Where a child begins. */
    struct Start {
        ChildArray<const double> lower, upper, cost, x, d; /* [both] */
        ChildArray<const uint8_t> state;                   /* [both] */
        ChildArray<const double> weight;                   /* [rows] of the dual pricing */
        ChildArray<const int> head;                        /* [rows] */
    } start;
    struct Inverse {
        int64_t pitch, v_pitch; /* that of the first rows of V, which are longer, if gram is not null: */
        int products;           /* so many */
        int most;               /* pivots in U and V, after which they are merged; END: any number */
        ChildArray<const double> columns, lines; /* B0^-1, column after column and row after row */
        ChildArray<const float> singles;         /* the columns in single precision, for steepest edge */
        ChildArray<const double> gram;           /* its product with its transpose; null: see weights.cuh */

        /* Where row k of V begins, behind all those before. */
        __device__ int64_t v_row(int k) const {
            const int longer = min(k, products);
            return longer * v_pitch + (k - longer) * pitch;
        }
    } inverse;
    /* As in ChildCore::Data. */
    struct Core {
        bool compact; /* the inverse is kept for its core alone: see core.cuh, as for the next ones */
        int size;     /* rows and positions; without compact all are */
        int reach;    /* those that a child's core may get, to an even number */
        ChildArray<const int> row, position, place_of_row, place_of_position, place_of_column;
    } core;
    struct Rules {
        double primal, dual, pivot, zero; /* tolerances */
        int pricing;                      /* a gpuopt_simplex_dual_pricing */
        unsigned long long seed;
    } rules;
    struct Objective {
        double cutoff;        /* infinite: none */
        double limit, offset; /* the cutoff in the caller's units, where the objective has an offset; */
        int maximize;         /* and a direction */
    } objective;
};

/* The sizes by which a block's arrays are cut. */
struct ChildSizes {
    int64_t rows, cols, both;
    int64_t most, products, pitch, v_pitch; /* as in ChildRoot::Inverse */
    int64_t merged, singles;                /* entries of a merged inverse, and of one in single precision */
    int64_t rho;                            /* of a row of B^-1, as the first rows of V are */
    int64_t tall;                           /* rows of which a core may be kept */
};

/* The child's program and point. The kernel sets the addresses of a block's arrays, here and in the parts. All else is
 * set when a child begins. */
struct ChildPoint {
    ChildArray<double> lower, upper, cost, shift, x, d; /* [both] */
    ChildArray<uint8_t> state;                          /* [both] */
    ChildArray<double> xb;                              /* [rows] */
    ChildArray<int> head;                               /* [rows] */
    double primal;                                      /* the tolerance, at most the caller's */

    template <class Cut>
    void cut(const ChildSizes &n, Cut cut) {
        for (auto *array : {&lower, &upper, &cost, &shift, &x, &d}) cut(*array, n.both);
        cut(state, n.both), cut(xb, n.rows), cut(head, n.rows);
    }
    /* By how much the basic variable at a position is outside. */
    __device__ double excess_at(int i) const {
        const int v = head[i];
        return gpuopt__simplex_excess(xb[i], lower[v], upper[v], primal);
    }
};

/* Vectors that parts hand to one another. The comment of a function names those that it overwrites besides its
 * result. */
struct ChildWork {
    ChildArray<double> rho;          /* [v_pitch] a row of B^-1, as the first rows of V are, */
    ChildArray<double> row;          /* [both] and that of B^-1 N */
    ChildArray<double> alpha;        /* [rows] a column of B^-1 N */
    ChildArray<double> moved, tau;   /* [rows] a vector, and its product with B^-1 */
    ChildArray<double> key, z, step; /* [both] moves of variables; reduced costs; steps of a ratio test */
    ChildArray<int> list, flips;     /* [both] lists of variables, flips also of pairs */
    ChildArray<int> places;          /* [rows] a list of rows or positions */

    template <class Cut>
    void cut(const ChildSizes &n, Cut cut) {
        for (auto *array : {&alpha, &tau, &moved}) cut(*array, n.rows);
        for (auto *array : {&row, &key, &z, &step}) cut(*array, n.both);
        cut(rho, n.rho), cut(list, n.both), cut(flips, n.both), cut(places, n.rows);
    }
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

} // namespace

#endif /* GPUOPT_CUDA_SIMPLEX_CHILD_DATA_CUH */
