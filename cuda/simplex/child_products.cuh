/* SPDX-License-Identifier: MIT
 *
 * Children of one basis on the GPU: products with the inverse and with A. A block reads the root's inverse, and keeps its
 * own pivots beside it: B^-1 = Z B0^-1 + U V, where Z sets the rows on which it has pivoted to 0.
 */
#ifndef GPUOPT_CUDA_SIMPLEX_CHILD_PRODUCTS_CUH
#define GPUOPT_CUDA_SIMPLEX_CHILD_PRODUCTS_CUH

#include "child.cuh"

namespace {

/* Products of B^-1 and of A with vectors. */
class ChildProducts : public ChildBlock {
  public:
    using ChildBlock::ChildBlock;
    int pivots = 0; /* in U and V */

    /* out [rows] = B^-1 times a list by rows (FTRAN), or B^-T times one by positions (BTRAN). out is none of the list's
     * arrays. where: not null: only where that or its neighbour is not 0. The terms of the sums are put into shared
     * memory, some hundreds at a time; a thread sums up two neighbours, or a part of the terms of two. */
    template <bool FTRAN>
    __device__ __noinline__ void product(const ChildList &list, double *out, const double *where = nullptr) {
        const int pairs = (r.rows + 1) / 2, width = max(1, (pairs + 31) / 32 * 32);
        const int parts = max(1, min(threads / width, +CHILD_PARTS)), part = thread / width;
        const int terms = list.count + pivots;
        for (int first = 0; first == 0 || first < terms; first += CHILD_TERMS) {
            const int count = min(terms - first, +CHILD_TERMS), of_matrix = min(max(list.count - first, 0), count);
            stage<FTRAN>(list, first, count);
            auto put = [&](int pair, ChildPair sum) {
                const int i = 2 * pair;
                if (first > 0) sum.even = out[i] + sum.even;
                out[i] = sum.even;
                if (i + 1 < r.rows) out[i + 1] = first > 0 ? out[i + 1] + sum.odd : sum.odd;
            };
            auto wanted = [&](int pair) {
                const int i = 2 * pair;
                return pair < pairs && (!where || where[i] != 0 || (i + 1 < r.rows && where[i + 1] != 0));
            };
            if (parts == 1) {
                for (int pair = thread; pair < pairs; pair += threads)
                    if (wanted(pair)) put(pair, sum_of<FTRAN>(0, of_matrix, count, 2 * pair));
            } else {
                const int pair = thread - part * width;
                if (part < parts && wanted(pair))
                    s.partial[thread] =
                        sum_of<FTRAN>(part * count / parts, of_matrix, (part + 1) * count / parts, 2 * pair);
                __syncthreads();
                if (part == 0 && wanted(pair)) {
                    ChildPair sum = s.partial[pair];
                    for (int n = 1; n < parts; n++)
                        sum.even += s.partial[n * width + pair].even, sum.odd += s.partial[n * width + pair].odd;
                    put(pair, sum);
                }
            }
            __syncthreads();
        }
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
    __device__ __noinline__ void follow_moves(int count, const int *list) {
        if (count == 0) return;
        for (int i = thread; i < r.rows; i += threads) s.moved[i] = 0;
        __syncthreads();
        if (warp == 0) add_columns(count, list);
        __syncthreads();
        product<true>(nonzeros(s.moved, 0), s.tau);
        for (int i = thread; i < r.rows; i += threads) s.xb[i] -= s.tau[i];
        __syncthreads();
    }

  private:
    /* moved += the columns of a list, each times key[variable]. One warp does it, a few lanes a column; lanes that add to
     * the same row take turns, so that the order of each sum is fixed. */
    __device__ void add_columns(int count, const int *list) {
        enum { LANES = 8 };
        for (int first = 0; first < count; first += 32 / LANES) {
            const int k = first + lane / LANES, v = k < count ? list[k] : r.cols;
            const double by = k < count ? s.key[v] : 0;
            const bool logical = v >= r.cols;
            int64_t e = logical ? lane % LANES : r.col_start[v] + lane % LANES;
            const int64_t end = logical ? k < count : r.col_start[v + 1];
            for (; __any_sync(~0u, e < end); e += LANES) {
                const bool is = e < end;
                const int row = !is ? -1 - lane : logical ? v - r.cols : r.col_row[e];
                const double value = !is ? 0 : logical ? by : r.col_val[e] * by;
                const int turn = __popc(__match_any_sync(~0u, row) & ((1u << lane) - 1));
                for (int t = 0; __any_sync(~0u, is && turn >= t); t++) {
                    if (is && turn == t) s.moved[row] += value;
                    __syncwarp();
                }
            }
        }
    }

    /* Puts terms first, ..., first + count - 1 of a product into shared memory: those of the list, then the deferred
     * pivots. What such a pivot is multiplied by is itself a sum over the list, which some lanes share. */
    template <bool FTRAN>
    __device__ void stage(const ChildList &list, int first, int count) {
        const double *matrix = FTRAN ? r.columns : r.lines, *left = FTRAN ? s.v : s.u, *right = FTRAN ? s.u : s.v;
        const int lanes = list.count <= 1 ? 1 : list.count <= 4 ? 4 : list.count <= 16 ? 8 : 32, at_once = 32 / lanes;
        for (int t = thread; t < count && first + t < list.count; t += threads) {
            const int line = list.index[first + t];
            const bool is = FTRAN || !s.gone[line];
            shared.term[t] = {is ? matrix + line * r.pitch : nullptr, is ? list.at(first + t) : 0};
        }
        const int end = first + count - list.count, begin = max(0, first - list.count);
        for (int from = begin + warp * at_once; from < end; from += warps * at_once) {
            const int k = from + lane / lanes;
            double f = 0;
            if (k < end)
                for (int e = lane % lanes; e < list.count; e += lanes)
                    f += left[k * r.pitch + list.index[e]] * list.at(e);
            for (int half = lanes / 2; half > 0; half /= 2) f += __shfl_xor_sync(~0u, f, half);
            if (k < end && lane % lanes == 0) shared.term[k + list.count - first] = {right + k * r.pitch, f};
        }
        __syncthreads();
    }

    /* The sum of terms from, ..., end - 1 at i and i + 1; the first of_matrix of all terms are columns or rows of the
     * root's inverse. Several terms are loaded before they are added. */
    template <bool FTRAN>
    __device__ ChildPair sum_of(int from, int of_matrix, int end, int i) const {
        ChildPair sum = {0, 0};
        auto add = [&](int begin, int last) {
            for (int t = begin; t < last; t += CHILD_LANES) {
                ChildPair x[CHILD_LANES];
                double by[CHILD_LANES];
#pragma unroll
                for (int n = 0; n < CHILD_LANES; n++) {
                    x[n] = {0, 0};
                    by[n] = 0;
                    if (t + n >= last) continue;
                    const ChildTerm term = shared.term[t + n];
                    by[n] = term.value;
                    if (term.value != 0) x[n] = *reinterpret_cast<const ChildPair *>(term.line + i);
                }
#pragma unroll
                for (int n = 0; n < CHILD_LANES; n++) sum.even += by[n] * x[n].even, sum.odd += by[n] * x[n].odd;
            }
        };
        if (!FTRAN) {
            add(from, end);
            return sum;
        }
        add(from, min(of_matrix, end));
        if (s.gone[i]) sum.even = 0;
        if (i + 1 < r.rows && s.gone[i + 1]) sum.odd = 0;
        add(max(from, of_matrix), end);
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

#endif /* GPUOPT_CUDA_SIMPLEX_CHILD_PRODUCTS_CUH */
