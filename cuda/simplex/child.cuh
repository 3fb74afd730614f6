/* SPDX-License-Identifier: MIT
 *
 * Children of one basis on the GPU: the data of a child, and what the threads of its block do together. A block works on a
 * child by itself; batch.cuh says how a call travels.
 */
#ifndef GPUOPT_CUDA_SIMPLEX_CHILD_CUH
#define GPUOPT_CUDA_SIMPLEX_CHILD_CUH

#include "../../gpuopt_impl/simplex/bound_step.h"
#include "../../gpuopt_impl/simplex/dual_step.h"
#include "device.cuh"

namespace {

enum {
    CHILD_THREADS = 1024, /* most threads of a block */
    CHILD_WARPS = CHILD_THREADS / 32,
    CHILD_BASIC = 8,    /* state of a basic variable; those of others are as in step.h */
    CHILD_UPPER = 16,   /* of the root only: a nonbasic one is at its upper bound */
    CHILD_LANES = 8,    /* terms of a sum that a thread loads before it adds them */
    CHILD_PARTS = 4,    /* most threads that share a sum */
    CHILD_LONG = 64,    /* entries of a column that is not in a slice */
    CHILD_SHARED = 8192 /* most rows of which a row of B^-1 is kept in shared memory */
};

/* A once more, for y'A: the columns in slices of 32, of which each lane has one. Entry e of them all is at
 * start[slice] + 32 e; those that a column lacks are 0. Columns with more than CHILD_LONG entries are listed. */
struct ChildSlices {
    int count, longs;
    const int64_t *start; /* [count + 1] */
    const int *row;       /* [start[count]] */
    const double *val;
    const int *of_long; /* [longs] columns */
};

/* The root, which nobody writes to. [both]: by variable, columns and then logicals. All numbers are scaled. */
struct ChildRoot {
    int rows, cols, both;
    int64_t pitch;
    const double *columns, *lines; /* B0^-1, column after column and row after row */
    const int64_t *col_start, *row_start;
    const int *col_row, *row_col;
    const double *col_val, *row_val;
    ChildSlices slices;
    const double *lower, *upper, *cost, *x, *d; /* [both] */
    const uint8_t *state;                       /* [both] */
    const double *weight;                       /* [rows] of the dual pricing */
    const int *head;                            /* [rows] */
    const double *row_scale, *col_scale;
    double primal_scale, cost_scale, largest_cost;
    double primal, dual, pivot, zero; /* tolerances */
    int pricing;                      /* a gpuopt_simplex_dual_pricing */
    unsigned long long seed;
};

/* What a block has for the child that it works on. */
struct ChildState {
    double *xb, *weight;                                          /* [rows] */
    double *alpha, *rho, *tau, *moved, *y, *y_low;                /* [rows] */
    double *lower, *upper, *x, *d, *cost, *shift, *row, *key, *z; /* [both] */
    double *u, *v;                                                /* [most][pitch] columns of U, rows of V */
    double *partial;                                              /* [CHILD_THREADS] */
    double *factor;                                               /* [most] */
    int *head, *places;                                           /* [rows]; a list of rows or positions */
    int *list;                                                    /* [both] a list of variables */
    uint8_t *state, *refused, *gone;                              /* [both], [rows], [rows] */
};

/* Children, and where what is found goes. */
struct ChildJob {
    int count, most, room; /* children; iterations of each; K */
    const int64_t *bound_start, *cost_start;
    const int *variable, *col;
    const double *lower, *upper, *cost;
    int *next; /* the first child that no block has taken */
    int *outcome, *iterations;
    double *bound, *objective, *objective_low; /* scaled, without the offset */
    int bounds;                                /* are wanted */
    uint8_t *basis;                            /* may be null, as the next ones */
    double *x, *farkas, *farkas_low;
};

struct ChildShared {
    double key[CHILD_WARPS], low[CHILD_WARPS], doubt[CHILD_WARPS];
    int index[CHILD_WARPS];
    int count, child;
};

struct ChildBest {
    double key;
    int index; /* -1: none */
};

/* A list of rows or positions with values: that of entry e is value[e], or value[index[e]]. */
struct ChildList {
    int count;
    const int *index;
    const double *value;
    bool dense;

    __device__ double at(int e) const { return value[dense ? index[e] : e]; }
};

/* The part of one thread in the work on a child. All threads of the block call every function together, and get the same
 * results; each ends with a barrier. */
class ChildBlock {
  public:
    const ChildRoot &r;
    const ChildState &s;
    ChildShared &shared;
    const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
    const int lane = thread % 32, warp = thread / 32, warps = threads / 32;

    __device__ ChildBlock(const ChildRoot &root, const ChildState &state, ChildShared &block)
        : r(root), s(state), shared(block) {}

    /* ---- Over all threads ---- */

    /* The largest or the smallest key, of equal ones that with the lowest index; index < 0 does not count. */
    template <bool LARGEST>
    __device__ ChildBest best(double key, int index) {
        auto better = [](double k, int i, const ChildBest &than) {
            if (i < 0) return false;
            if (than.index < 0) return true;
            return k == than.key ? i < than.index : LARGEST == (k > than.key);
        };
        ChildBest mine = {key, index};
        for (int half = 16; half > 0; half /= 2) {
            double k = __shfl_xor_sync(~0u, mine.key, half);
            int i = __shfl_xor_sync(~0u, mine.index, half);
            if (better(k, i, mine)) mine = {k, i};
        }
        if (lane == 0) shared.key[warp] = mine.key, shared.index[warp] = mine.index;
        __syncthreads();
        ChildBest all = {shared.key[0], shared.index[0]};
        for (int w = 1; w < warps; w++)
            if (better(shared.key[w], shared.index[w], all)) all = {shared.key[w], shared.index[w]};
        __syncthreads();
        return all;
    }
    __device__ double largest(double x) {
        for (int half = 16; half > 0; half /= 2) x = gpuopt__max(x, __shfl_xor_sync(~0u, x, half));
        if (lane == 0) shared.key[warp] = x;
        __syncthreads();
        double all = shared.key[0];
        for (int w = 1; w < warps; w++) all = gpuopt__max(all, shared.key[w]);
        __syncthreads();
        return all;
    }
    __device__ double smallest(double x) { return -largest(-x); }
    __device__ bool any(bool x) { return __syncthreads_or(x) != 0; }
    /* In a fixed order. */
    __device__ double sum(double x) {
        x = warp_sum(x);
        if (lane == 0) shared.key[warp] = x;
        __syncthreads();
        double all = shared.key[0];
        for (int w = 1; w < warps; w++) all += shared.key[w];
        __syncthreads();
        return all;
    }
    __device__ static gpuopt__simplex_sum warp_total(gpuopt__simplex_sum x) {
        for (int half = 16; half > 0; half /= 2) {
            double hi = __shfl_xor_sync(~0u, x.hi, half), lo = __shfl_xor_sync(~0u, x.lo, half),
                   doubt = __shfl_xor_sync(~0u, x.doubt, half);
            gpuopt__simplex_add(&x, hi, lo, doubt);
        }
        return x;
    }
    __device__ gpuopt__simplex_sum total(gpuopt__simplex_sum x) {
        /* lanes add in different orders, so one of them tells the result */
        x = warp_total(x);
        if (lane == 0) shared.key[warp] = x.hi, shared.low[warp] = x.lo, shared.doubt[warp] = x.doubt;
        __syncthreads();
        gpuopt__simplex_sum all = {shared.key[0], shared.low[0], shared.doubt[0]};
        for (int w = 1; w < warps; w++) gpuopt__simplex_add(&all, shared.key[w], shared.low[w], shared.doubt[w]);
        __syncthreads();
        return all;
    }

    /* The i < n for which `which` holds, in ascending order, in list. Returns their number. */
    template <class Which>
    __device__ int gather(int n, int *list, Which which) {
        int total = 0;
        for (int from = 0; from < n; from += threads) {
            int i = from + thread;
            bool is = i < n && which(i);
            unsigned all = __ballot_sync(~0u, is);
            if (lane == 0) shared.index[warp] = __popc(all);
            __syncthreads();
            int at = total;
            for (int w = 0; w < warps; w++) {
                int count = shared.index[w];
                if (w < warp) at += count;
                total += count;
            }
            if (is) list[at + __popc(all & ((1u << lane) - 1))] = i;
            __syncthreads();
        }
        return total;
    }
};

} // namespace

#endif /* GPUOPT_CUDA_SIMPLEX_CHILD_CUH */
