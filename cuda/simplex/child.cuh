/* SPDX-License-Identifier: MIT
 *
 * Children of one basis on the GPU: the data of a child, and products with its inverse. A block works on a child by
 * itself. It reads the root's inverse, and keeps its own pivots beside it: B^-1 = Z B0^-1 + U V, where Z sets the rows
 * on which it has pivoted to 0. batch.cuh says how a call travels.
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
    int pivots = 0; /* in U and V */

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

    /* ---- Products with the inverse ---- */

    /* out [rows] = B^-1 times a list by rows (FTRAN), or B^-T times one by positions (BTRAN). out is none of the list's
     * arrays. where: not null: only where that is not 0. */
    template <bool FTRAN>
    __device__ void product(const ChildList &list, double *out, const double *where = nullptr) {
        const int width = (r.rows + 31) / 32 * 32, most = width > 0 ? threads / width : 1;
        const int parts = most < 2 ? 1 : most < CHILD_PARTS ? most : +CHILD_PARTS, part = thread / max(width, 1);
        find_factors<FTRAN>(list);
        if (parts == 1) {
            for (int i = thread; i < r.rows; i += threads)
                if (!where || where[i] != 0) out[i] = product_at<FTRAN>(list, 0, 1, i);
            __syncthreads();
            return;
        }
        if (part < parts) { /* each of several threads has a part of the sum */
            const int i = thread - part * width;
            const bool wanted = i < r.rows && (!where || where[i] != 0);
            s.partial[thread] = wanted ? product_at<FTRAN>(list, part, parts, i) : 0;
        }
        __syncthreads();
        if (thread < r.rows && (!where || where[thread] != 0)) {
            double sum = 0;
            for (int n = 0; n < parts; n++) sum += s.partial[n * width + thread];
            out[thread] = sum;
        }
        __syncthreads();
    }

    /* out = the column of a variable. */
    __device__ void column(int variable, double *out) {
        if (variable >= r.cols) {
            unit_column(variable - r.cols, out);
            return;
        }
        int64_t start = r.col_start[variable];
        product<true>(
            {static_cast<int>(r.col_start[variable + 1] - start), r.col_row + start, r.col_val + start, false}, out);
    }
    __device__ void unit_column(int row, double *out) { unit<true>(row, out); }
    /* out = row p of B^-1. */
    __device__ void line(int p, double *out) { unit<false>(p, out); }

    /* row[j] = y'a_j for the nonbasic variables, 0 for the basic ones. `offer` is called with each variable and its entry
     * by whole warps together; a variable below 0 is none. */
    template <class Offer>
    __device__ void price_out(const double *y, Offer offer) {
        if (r.rows <= CHILD_SHARED) {
            GPUOPT_DYNAMIC_SHARED(double, child_row);
            for (int i = thread; i < r.rows; i += threads) child_row[i] = y[i];
            __syncthreads();
            price_slices(child_row, offer);
        } else price_slices(y, offer);
        for (int n = warp; n < r.slices.longs; n += warps) {
            const int j = r.slices.of_long[n];
            double sum = 0;
            for (int64_t e = r.col_start[j] + lane; e < r.col_start[j + 1]; e += 32)
                sum += r.col_val[e] * y[r.col_row[e]];
            sum = s.state[j] & CHILD_BASIC ? 0 : warp_sum(sum);
            if (lane == 0) s.row[j] = sum;
            offer(lane == 0 ? j : -1, sum);
        }
        for (int from = warp * 32; from < r.rows; from += threads) {
            const int i = from + lane, v = i < r.rows ? r.cols + i : -1;
            const double value = v < 0 || s.state[v] & CHILD_BASIC ? 0 : y[i];
            if (v >= 0) s.row[v] = value;
            offer(v, value);
        }
        __syncthreads();
    }
    __device__ void price_out(const double *y) {
        price_out(y, [](int, double) {});
    }

    /* The entries of x [rows] above `least` in size, in s.places. */
    __device__ ChildList nonzeros(const double *x, double least) {
        int count = gather(r.rows, s.places, [&](int i) { return fabs(x[i]) > least; });
        return {count, s.places, x, true};
    }

    /* Nonbasic variables have moved: those of a list of so many, each by key[variable]. The basic ones follow. Overwrites
     * moved and tau. */
    __device__ void follow_moves(int count, const int *list) {
        if (count == 0) return;
        for (int i = thread; i < r.rows; i += threads) s.moved[i] = 0;
        __syncthreads();
        for (int k = 0; k < count; k++) { /* one after the other, so that the order of each sum is fixed */
            int variable = list[k];
            double by = s.key[variable];
            if (variable >= r.cols) {
                if (thread == 0) s.moved[variable - r.cols] += by;
            } else
                for (int64_t e = r.col_start[variable] + thread; e < r.col_start[variable + 1]; e += threads)
                    s.moved[r.col_row[e]] += r.col_val[e] * by;
            __syncthreads();
        }
        product<true>(nonzeros(s.moved, 0), s.tau);
        for (int i = thread; i < r.rows; i += threads) s.xb[i] -= s.tau[i];
        __syncthreads();
    }

  private:
    /* What each deferred pivot is multiplied by: as many lanes as are of use share one. */
    template <bool FTRAN>
    __device__ void find_factors(const ChildList &list) {
        const double *left = FTRAN ? s.v : s.u;
        const int lanes = list.count <= 4 ? 4 : list.count <= 16 ? 8 : 32, at_once = 32 / lanes;
        for (int first = warp * at_once; first < pivots; first += warps * at_once) {
            const int k = first + lane / lanes;
            double f = 0;
            if (k < pivots)
                for (int e = lane % lanes; e < list.count; e += lanes)
                    f += left[k * r.pitch + list.index[e]] * list.at(e);
            for (int half = lanes / 2; half > 0; half /= 2) f += __shfl_xor_sync(~0u, f, half);
            if (k < pivots && lane % lanes == 0) s.factor[k] = f;
        }
        __syncthreads();
    }

    /* A part of the sum at i. Several terms are loaded before they are added. */
    template <bool FTRAN>
    __device__ double product_at(const ChildList &list, int part, int parts, int i) const {
        const double *right = FTRAN ? s.u : s.v, *matrix = FTRAN ? r.columns : r.lines;
        const int end = FTRAN && s.gone[i] ? 0 : list.count * (part + 1) / parts, last = pivots * (part + 1) / parts;
        double sum = 0;
        for (int e = list.count * part / parts; e < end; e += CHILD_LANES) {
            double term[CHILD_LANES];
#pragma unroll
            for (int n = 0; n < CHILD_LANES; n++) {
                term[n] = 0;
                if (e + n >= end) continue;
                const int line = list.index[e + n];
                if (FTRAN || !s.gone[line]) term[n] = matrix[line * r.pitch + i] * list.at(e + n);
            }
#pragma unroll
            for (int n = 0; n < CHILD_LANES; n++) sum += term[n];
        }
        for (int k = pivots * part / parts; k < last; k += CHILD_LANES) {
            double term[CHILD_LANES];
#pragma unroll
            for (int n = 0; n < CHILD_LANES; n++) {
                const double f = k + n < last ? s.factor[k + n] : 0;
                term[n] = f != 0 ? f * right[(k + n) * r.pitch + i] : 0;
            }
#pragma unroll
            for (int n = 0; n < CHILD_LANES; n++) sum += term[n];
        }
        return sum;
    }

    /* Columns with at most CHILD_LONG entries. */
    template <class Offer>
    __device__ void price_slices(const double *y, Offer offer) {
        for (int slice = warp; slice < r.slices.count; slice += warps) {
            const int j = slice * 32 + lane;
            const int64_t begin = r.slices.start[slice], end = r.slices.start[slice + 1];
            double sum = 0;
#pragma unroll 8
            for (int64_t e = begin + lane; e < end; e += 32) sum += r.slices.val[e] * y[r.slices.row[e]];
            const bool here = j < r.cols && r.col_start[j + 1] - r.col_start[j] <= CHILD_LONG;
            if (here && s.state[j] & CHILD_BASIC) sum = 0;
            if (here) s.row[j] = sum;
            offer(here ? j : -1, sum);
        }
    }

    template <bool FTRAN>
    __device__ void unit(int at, double *out) {
        const double one = 1;
        /* the list is in this thread's own memory; every thread has the same one */
        product<FTRAN>({1, &at, &one, false}, out);
    }
};

} // namespace

#endif /* GPUOPT_CUDA_SIMPLEX_CHILD_CUH */
