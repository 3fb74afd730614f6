/* SPDX-License-Identifier: MIT
 *
 * The dual simplex method of a handle on the GPU: the data of a block, and products with the inverse or tableau. As in
 * run.cuh, a cooperative launch does many iterations, all blocks make all decisions, and up to K pivots are kept as
 * columns of U and rows of V. But the state stays in device memory, and each block changes its own part of it.
 */
#ifndef GPUOPT_CUDA_SIMPLEX_ITERATIONS_DUAL_BLOCK_CUH
#define GPUOPT_CUDA_SIMPLEX_ITERATIONS_DUAL_BLOCK_CUH

#include <cub/warp/warp_scan.cuh>

#include "../../../gpuopt_impl/simplex/arith/dual_step.h"
#include "exchange.cuh"

namespace {

/* The task of a launch. */
struct DualRequest {
    gpuopt__simplex_rules rules;
    gpuopt__simplex_run_part part;
    gpuopt_simplex_dual_pricing pricing;
    int most;              /* pivots to do */
    int idle;              /* successive earlier pivots with dual step 0 */
    int leaving, entering; /* for single parts: position and slot */
    double cutoff;         /* cutoff; infinite: none */
};

using DualScan = cub::WarpScan<unsigned long long>;

struct DualShared {
    Board board;
    DualScan::TempStorage scan;    /* of the buckets, by the first warp */
    double factor[SIMPLEX_MOST];   /* of the pending rows or columns */
    double piece[SIMPLEX_THREADS]; /* nonzero entries of a vector */
    int piece_at[SIMPLEX_THREADS]; /* their places in the vector */
    int count[SIMPLEX_WARPS];      /* their number, by warps */
    double sum[SIMPLEX_WARPS];
    unsigned long long bucket[2 * DUAL_BUCKETS];     /* units of slope, then number of break points, by bucket */
    unsigned long long before, chosen, chosen_count; /* results of the search in the buckets */
    double *alpha, *other;                           /* [own_rows] the pivot column, another product */
    double *line;                                    /* [own_lines] the pivot row of the matrix */
    double *partial;                                 /* [SIMPLEX_GROUPS][SIMPLEX_CHUNK] */
};

__host__ __device__ inline size_t dual_cut_shared(const SimplexView &s, unsigned char *base, DualShared *sh) {
    SharedArena arena = {base, (sizeof(DualShared) + 15) / 16 * 16};
    arena.cut(&sh->alpha, s.own_rows);
    arena.cut(&sh->other, s.own_rows);
    arena.cut(&sh->line, s.own_lines);
    arena.cut(&sh->partial, SIMPLEX_GROUPS * SIMPLEX_CHUNK);
    return arena.used;
}

inline size_t dual_shared_bytes(const SimplexView &s) {
    DualShared sh;
    return dual_cut_shared(s, nullptr, &sh);
}

/* ---- Reductions ---- */

template <class Op>
__device__ Cell cell_butterfly(Cell c) {
    for (int half = 16; half > 0; half /= 2)
        c = Op::of(c, {__shfl_xor_sync(~0u, c.key, half), __shfl_xor_sync(~0u, c.index, half), 0});
    return c;
}

/* Break points are ordered by their steps, and equal steps by slots. */
__device__ bool dual_before(double key, int index, Cell than) {
    return than.index < 0 || key < than.key || (key == than.key && index < than.index);
}

/* The first one; index -1: none. */
struct Earliest {
    static __device__ Cell none() { return {HUGE_VAL, -1, 0}; }
    static __device__ Cell of(Cell a, Cell b) { return b.index >= 0 && dual_before(b.key, b.index, a) ? b : a; }
    static __device__ Cell warp(Cell c) { return cell_butterfly<Earliest>(c); }
};

/* The last one. */
struct Latest {
    static __device__ Cell none() { return {0, -1, 0}; }
    static __device__ Cell of(Cell a, Cell b) {
        return a.index < 0 || !dual_before(b.key, b.index, a) ? pick(a, b) : a;
    }
    static __device__ Cell pick(Cell a, Cell b) { return b.index < 0 ? a : b; }
    static __device__ Cell warp(Cell c) { return cell_butterfly<Latest>(c); }
};

/* A sum of units, as the bits of the key. */
struct Units {
    static __device__ Cell make(unsigned long long units) {
        return {__longlong_as_double(static_cast<long long>(units)), 0, 0};
    }
    static __device__ unsigned long long units(Cell c) {
        return static_cast<unsigned long long>(__double_as_longlong(c.key));
    }
    static __device__ Cell none() { return make(0); }
    static __device__ Cell of(Cell a, Cell b) { return make(units(a) + units(b)); }
    static __device__ Cell warp(Cell c) { return cell_butterfly<Units>(c); }
};

/* ---- The block ---- */

template <bool REVISED>
class DualState {
  protected:
    __device__ DualState(const SimplexView &view, const DualRequest &request, int pending, unsigned char *memory)
        : s(view), r(request), v(view.vec), sh(*reinterpret_cast<DualShared *>(memory)), pending(pending) {
        first_row = own(s.own_rows, s.rows, &rows);
        first_slot = own(s.own_slots, s.cols, &slots);
        first_line = own(s.own_lines, s.lines, &lines);
        number = s.number[0];
        if (thread() == 0) dual_cut_shared(s, memory, &sh);
        __syncthreads();
    }

    const SimplexView &s;
    const DualRequest &r;
    const gpuopt__simplex_vectors &v;
    DualShared &sh;
    int first_row, rows, first_slot, slots, first_line, lines; /* the block's own */
    int pending;                                               /* rows of V in use */
    unsigned number;                                           /* number of the last exchange */

    __device__ static int thread() { return static_cast<int>(threadIdx.x); }
    __device__ static int own(int width, int total, int *count) {
        int first = static_cast<int>(blockIdx.x) * width;
        *count = max(0, min(width, total - first));
        return first;
    }
    template <class Op>
    __device__ Cell agree(Cell cell) {
        return exchange<Op>(s, sh.board, number, cell);
    }
    __device__ void sync() { agree<Counts>(Counts::none()); }

    /* Arrays that are otherwise used only for the CPU's products. */
    __device__ double *cost() const { return s.in; } /* [cols + rows] */
    __device__ double *moved_by() const {
        return s.in_low;
    }                                                /* [cols + rows] moves by flips, by variables or by slots */
    __device__ double *key() const { return s.out; } /* [cols] step at which a reduced cost reaches 0; -1: never */
    __device__ double *row() const { return s.error_sum; } /* [cols] the pivot row */
    __device__ double *moved() const { return s.rho_sum; } /* [rows] REVISED: sum of flipped columns times moves */
    __device__ double *parts() const { return s.partial; } /* [lines / 32] partial sums */

    /* ---- Sums of many terms, in an order that only their number gives ---- */

    /* Publishes the block's part of the sum over `count` slots or lines. `first` is a multiple of 32. */
    template <class F>
    __device__ void put_parts(int first, int count, F f) const {
        for (int from = 32 * simplex_warp(); from < count; from += SIMPLEX_THREADS) {
            int k = from + simplex_lane();
            double sum = warp_sum(k < count ? f(k) : 0);
            if (simplex_lane() == 0) parts()[(first + from) / 32] = sum;
        }
    }
    /* The sum over all blocks' parts of `total` terms, after an exchange. */
    __device__ double add_parts_up(int total) const {
        double sum = 0;
        for (int k = thread(); k < (total + 31) / 32; k += SIMPLEX_THREADS) sum += fresh(parts() + k);
        sum = warp_sum(sum);
        if (simplex_lane() == 0) sh.sum[simplex_warp()] = sum;
        __syncthreads();
        sum = 0;
        for (int w = 0; w < SIMPLEX_WARPS; w++) sum += sh.sum[w];
        return sum;
    }

    /* ---- Products ---- */

    /* to [own_rows] = the block's part of B^-1 x, for x(line), after put_factors(x) and an exchange. */
    template <class X>
    __device__ void times(double *to, const double *factors, X x) {
        for (int i = thread(); i < rows; i += SIMPLEX_THREADS) to[i] = 0;
        if (thread() < pending) sh.factor[thread()] = fresh(factors + thread());
        for (int from = 0; from < s.lines && rows > 0; from += SIMPLEX_THREADS) {
            int at = from + thread();
            double value = at < s.lines ? x(at) : 0;
            int count = compact(value, at);
            add_lines(to, rows, sh.piece, count, sh.partial,
                      [&](int e) { return FreshLine{s.matrix + sh.piece_at[e] * s.pitch + first_row}; });
        }
        __syncthreads();
        add_lines(to, rows, sh.factor, pending, sh.partial, [&](int k) { return s.u + k * s.pitch + first_row; });
    }

    /* piece = the threads' nonzero values, in order. Returns their number. */
    __device__ int compact(double value, int at) {
        unsigned there = __ballot_sync(~0u, value != 0);
        if (simplex_lane() == 0) sh.count[simplex_warp()] = __popc(there);
        __syncthreads();
        int to = __popc(there & ((1u << simplex_lane()) - 1)), count = 0;
        for (int w = 0; w < SIMPLEX_WARPS; w++) {
            if (w < simplex_warp()) to += sh.count[w];
            count += sh.count[w];
        }
        if (value != 0) sh.piece[to] = value, sh.piece_at[to] = at;
        __syncthreads();
        return count;
    }

    /* factors[k] = row k of V times x, by the warps of all blocks. */
    template <class X>
    __device__ void put_factors(double *factors, X x) const {
        int warps = s.blocks * SIMPLEX_WARPS;
        for (int k = static_cast<int>(blockIdx.x) + s.blocks * simplex_warp(); k < pending; k += warps) {
            double sum = 0;
            for (int at = simplex_lane(); at < s.lines; at += 32) sum += x(at) * fresh(s.v + k * s.wide + at);
            sum = warp_sum(sum);
            if (simplex_lane() == 0) factors[k] = sum;
        }
    }

    /* The rows at position p. line: of the matrix; row: of B^-1 N, in the block's slots; rho (REVISED): of B^-1. */
    __device__ void pivot_row(int p) {
        if (thread() < pending) sh.factor[thread()] = fresh(s.u + thread() * s.pitch + p);
        for (int x = thread(); x < lines; x += SIMPLEX_THREADS)
            sh.line[x] = fresh(s.matrix + (first_line + x) * s.pitch + p);
        __syncthreads();
        add_lines(sh.line, lines, sh.factor, pending, sh.partial, [&](int k) { return s.v + k * s.wide + first_line; });
        for (int x = thread(); x < lines; x += SIMPLEX_THREADS) (REVISED ? s.rho : row())[first_line + x] = sh.line[x];
        if (REVISED) {
            sync();
            price_out();
        }
        __syncthreads();
    }

    /* row = rho' a_j, with eight lanes per slot. */
    __device__ void price_out() const {
        for (int from = 0; from < slots; from += SIMPLEX_THREADS / 8) {
            int j = from + thread() / 8, sub = thread() % 8, variable = v.slot[first_slot + min(j, slots - 1)];
            double sum = variable >= s.cols && sub == 0 ? fresh(s.rho + (variable - s.cols)) : 0;
            int64_t end = variable >= s.cols ? 0 : s.col_start[variable + 1];
            for (int64_t e = variable >= s.cols ? 0 : s.col_start[variable] + sub; e < end; e += 8)
                sum += s.col_val[e] * fresh(s.rho + s.col_row[e]);
            for (int half = 4; half > 0; half /= 2) sum += __shfl_xor_sync(~0u, sum, half);
            if (j < slots && sub == 0) row()[first_slot + j] = sum;
        }
    }

    /* The entry of the leaving position's row of B^-1 in a line. A tableau stores only the entries for nonbasic slacks.
     * The entry for a basic slack is 1 at its own position. */
    __device__ double rho(int line) const {
        if (REVISED) return fresh(s.rho + line);
        return fresh(v.slot + line) >= s.cols ? fresh(row() + line) : 0;
    }

    /* alpha = the block's part of the column of the variable in slot q. After an exchange s.alpha has all of it. */
    __device__ void pivot_column(int q, int variable) {
        bool sparse = REVISED && variable < s.cols;
        int at = REVISED ? variable - s.cols : q;
        int64_t begin = sparse ? s.col_start[variable] : 0, end = sparse ? s.col_start[variable + 1] : 0;
        if (!sparse && thread() < pending) sh.factor[thread()] = fresh(s.v + thread() * s.wide + at);
        for (int k = simplex_warp(); sparse && k < pending; k += SIMPLEX_WARPS) {
            double sum = 0;
            for (int64_t e = begin + simplex_lane(); e < end; e += 32)
                sum += s.col_val[e] * fresh(s.v + k * s.wide + s.col_row[e]);
            sum = warp_sum(sum);
            if (simplex_lane() == 0) sh.factor[k] = sum;
        }
        for (int i = thread(); i < rows; i += SIMPLEX_THREADS)
            sh.alpha[i] = sparse ? 0 : fresh(s.matrix + at * s.pitch + first_row + i);
        for (int64_t from = begin; from < end; from += SIMPLEX_THREADS) {
            int count = static_cast<int>(end - from < SIMPLEX_THREADS ? end - from : SIMPLEX_THREADS);
            const int *row_of = s.col_row + from;
            __syncthreads();
            if (thread() < count) sh.piece[thread()] = s.col_val[from + thread()];
            __syncthreads();
            add_lines(sh.alpha, rows, sh.piece, count, sh.partial,
                      [&](int e) { return FreshLine{s.matrix + row_of[e] * s.pitch + first_row}; });
        }
        __syncthreads();
        add_lines(sh.alpha, rows, sh.factor, pending, sh.partial, [&](int k) { return s.u + k * s.pitch + first_row; });
        for (int i = thread(); i < rows; i += SIMPLEX_THREADS) s.alpha[first_row + i] = sh.alpha[i];
    }
};

} // namespace

#endif /* GPUOPT_CUDA_SIMPLEX_ITERATIONS_DUAL_BLOCK_CUH */
