/* SPDX-License-Identifier: MIT
 *
 * Children of one basis on the GPU: products with the inverse. A block reads the root's inverse, and keeps its
 * own pivots beside it: B^-1 = Z B0^-1 + U V, where Z sets the rows on which it has pivoted to 0. If the batch is to go
 * on when U and V are full, they are merged into an inverse that the block has for itself, which then is B0^-1.
 */
#ifndef GPUOPT_CUDA_SIMPLEX_CHILD_PRODUCTS_CUH
#define GPUOPT_CUDA_SIMPLEX_CHILD_PRODUCTS_CUH

#include "sums.cuh"

namespace {

/* Products of B^-1 with vectors. */
class ChildProducts : public ChildSums {
  public:
    using ChildSums::ChildSums;
    int pivots = 0;              /* in U and V */
    bool known_products = false; /* the rows of V have products behind them: weights.cuh */

    /* out [rows] = B^-1 times a list by rows (FTRAN), or B^-T times one by positions (BTRAN). out is none of the list's
     * arrays. If marks is not null, only places count at which it, or its neighbour, has an entry. Number: the
     * precision of B0^-1. */
    template <bool FTRAN, class Number = double>
    __device__ __noinline__ void product(const ChildList &list, double *into, const double *marks = nullptr) {
        if (child_root.compact) return compact_product<FTRAN, Number>(list, into, marks);
        core_product<FTRAN, false, Number>(list, ptx_global(into), marks);
    }
    /* out = the columns of U, each times a number, where marks has an entry. */
    __device__ void sum_pivots(const double *numbers, double *into, const double *marks) {
        double *const out = ptx_global(into);
        const double *const number = ptx_global(numbers);
        add_up<false>(
            wanted(marks), pivots,
            [&](int first, int count) {
                stage_lines(first, count, child_own.u, child_root.pitch, [&](int k) { return number[k]; });
            },
            [](int pair) { return int64_t{2} * pair; },
            [&](int pair, bool more, ChildPair sum) {
                const int i = 2 * pair;
                out[i] = more ? out[i] + sum.even : sum.even;
                if (i + 1 < child_root.rows) out[i + 1] = more ? out[i + 1] + sum.odd : sum.odd;
            });
    }

    /* out = the column of a variable. */
    __device__ void column(int variable, double *out) {
        if (variable >= child_root.cols) {
            unit_column(variable - child_root.cols, out);
            return;
        }
        int64_t start = child_root.col_start[variable];
        product<true>({static_cast<int>(child_root.col_start[variable + 1] - start), child_root.col_row + start,
                       child_root.col_val + start, false},
                      out);
    }
    __device__ void unit_column(int row, double *out) { unit<true>(row, out); }
    /* rho = row p of B^-1 and, with the products known, the data of weights.cuh behind it. */
    __device__ void line(int p) {
        if (known_products) line_and_products(p);
        else unit<false>(p, child_own.rho);
    }

    /* The entries of x [rows] above `least` in size, in places. */
    __device__ ChildList nonzeros(const double *x, double least) {
        int count = gather(child_root.rows, child_own.places, [&](int i) { return fabs(x[i]) > least; });
        return {count, child_own.places, x, true};
    }

    /* The same of a vector that is 0 outside the core. */
    __device__ ChildList nonzeros_of_core(const double *x, double least) {
        int count =
            gather(child_own.core, child_own.places, [&](int k) { return fabs(x[child_own.core_row[k]]) > least; });
        for (int e = thread(); e < count; e += threads()) child_own.places[e] = child_own.core_row[child_own.places[e]];
        __syncthreads();
        return {count, child_own.places, x, true};
    }

    /* Nonbasic variables have moved: those of list [count], each by key[variable]. The basic variables follow.
     * Overwrites moved and tau. */
    __device__ __noinline__ void follow_moves(int count, const int *list) {
        if (count == 0) return;
        for (int i = thread(); i < child_root.rows; i += threads()) child_own.moved[i] = 0;
        __syncthreads();
        if (warp() == 0) add_columns(count, list);
        __syncthreads();
        product<true>(nonzeros(child_own.moved, 0), child_own.tau);
        for_all<4>(
            child_root.rows, [](int i) { return child_own.xb[i] - child_own.tau[i]; },
            [](int i, double x) { child_own.xb[i] = x; });
        __syncthreads();
    }

    /* Whether another pivot has no place in U and V. */
    __device__ bool full() const { return pivots >= child_root.most; }
    /* Z B0^-1 + U V, by columns and by rows, is the block's own B0^-1 from now on, and there are no pivots beside
     * it. */
    __device__ __noinline__ void merge() {
        merge_tiles();
        __syncthreads();
        for (int i = thread(); i < child_own.core; i += threads()) child_own.gone[i] = 0;
        pivots = 0;
        known_products = false;
        if (thread() == 0)
            child_own.inverted = child_own.core, child_own.columns = child_own.merged_columns.at,
            child_own.lines = child_own.merged_lines.at, child_own.singles = child_own.merged_singles.at;
        __syncthreads();
    }

  private:
    /* A product by the core of the inverse, and what is outside, for which all of the core is needed. */
    template <bool FTRAN, class Number>
    __device__ __noinline__ void compact_product(const ChildList &list, double *into, const double *marks) {
        double *const out = ptx_global(into);
        core_product<FTRAN, true, Number>(FTRAN ? list : fold(list), out, nullptr);
        if (FTRAN) finish_column(list, out, marks ? ptx_global(marks) : nullptr);
        else finish_row(list, out);
    }
    /* The product's core, or all of it, where `where` is null or has an entry. */
    template <bool FTRAN, bool COMPACT, class Number>
    __device__ void core_product(const ChildList &list, double *out, const double *where) {
        const int end = COMPACT ? child_own.core : child_root.rows;
        auto at = [](int place) {
            return !COMPACT ? place : FTRAN ? child_own.core_position[place] : child_own.core_row[place];
        };
        add_up<FTRAN, Number>(
            COMPACT ? Pairs{(end + 1) / 2, nullptr} : wanted(where), list.count + pivots,
            [&](int first, int count) { stage<FTRAN, COMPACT, Number>(list, first, count); },
            [](int pair) { return int64_t{2} * pair; },
            [&](int pair, bool more, ChildPair sum) {
                const int even = at(2 * pair);
                out[even] = more ? out[even] + sum.even : sum.even;
                if (2 * pair + 1 >= end) return;
                const int odd = at(2 * pair + 1);
                out[odd] = more ? out[odd] + sum.odd : sum.odd;
            });
    }
    /* rho = row p of B^-1, behind it B0^-1 rho and V rho. */
    __device__ void line_and_products(int p) {
        const int rows = child_root.rows, pairs = (rows + 1) / 2;
        const int64_t pitch = child_root.pitch, v_pitch = child_root.v_pitch;
        const bool gone = child_own.gone[p];
        const double *const of_u = child_own.u + p, *const of_v = child_own.v + pitch + p,
                            *const line = child_own.lines + p * pitch, *const gram = child_root.gram + p * pitch;
        double *const rho = child_own.rho;
        /* of the three parts of a line, each of which begins at an even place */
        auto place = [&](int pair) {
            return pair < pairs       ? int64_t{2} * pair
                   : pair < 2 * pairs ? pitch + 2 * (pair - pairs)
                                      : 2 * pitch + 2 * (pair - 2 * pairs);
        };
        auto root = [&](int pair, int64_t at) { /* what the root has there */
                                                if (gone) return 0.;
                                                if (pair >= 2 * pairs) return of_v[(at - 2 * pitch) * v_pitch];
                                                return pair < pairs ? line[at] : gram[at - pitch];
        };
        add_up<false>(
            {2 * pairs + (pivots + 1) / 2, nullptr}, pivots,
            [&](int first, int count) {
                stage_lines(first, count, child_own.v, v_pitch, [&](int k) { return of_u[k * pitch]; });
            },
            place,
            [&](int pair, bool more, ChildPair sum) {
                const int64_t at = place(pair), end = pair < pairs       ? rows
                                                      : pair < 2 * pairs ? pitch + rows
                                                                         : 2 * pitch + pivots;
                rho[at] = (more ? rho[at] : root(pair, at)) + sum.even;
                if (at + 1 < end) rho[at + 1] = (more ? rho[at + 1] : root(pair, at + 1)) + sum.odd;
            });
    }

    /* moved += the columns of a list, each times key[variable]. One warp does it, a few lanes a column; lanes that add
     * to the same row take turns, so that the order of each sum is fixed. */
    __device__ void add_columns(int count, const int *list) {
        enum { LANES = 8 };
        for (int first = 0; first < count; first += 32 / LANES) {
            const int k = first + lane() / LANES, v = k < count ? list[k] : child_root.cols;
            const double by = k < count ? child_own.key[v] : 0;
            const bool logical = v >= child_root.cols;
            int64_t e = logical ? lane() % LANES : child_root.col_start[v] + lane() % LANES;
            const int64_t end = logical ? k < count : child_root.col_start[v + 1];
            for (; __any_sync(~0u, e < end); e += LANES) {
                const bool is = e < end;
                const int row = !is ? -1 - lane() : logical ? v - child_root.cols : child_root.col_row[e];
                const double value = !is ? 0 : logical ? by : child_root.col_val[e] * by;
                const int turn = __popc(__match_any_sync(~0u, row) & ((1u << lane()) - 1));
                for (int t = 0; __any_sync(~0u, is && turn >= t); t++) {
                    if (is && turn == t) child_own.moved[row] += value;
                    __syncwarp();
                }
            }
        }
    }

    /* Z B0^-1 + U V, 16 positions and rows at a time for each warp, by rows, which may be those of B0^-1, and columns.
     * Warps are at tiles that are near one another, whose parts of U and V they then share in the first-level cache. */
    __device__ void merge_tiles() {
        enum { WIDTH = 16, PIVOTS = 8, STRIP = 4 };
        const int rows = child_own.core, tiles = (merged_end() + WIDTH - 1) / WIDTH, group = lane() / 4,
                  part = lane() % 4;
        for (int tile = warp(); tile < tiles * tiles; tile += warps()) {
            const int strip = tile / (STRIP * tiles), across = min(+STRIP, tiles - STRIP * strip),
                      inside = tile - strip * STRIP * tiles;
            const int row = WIDTH * (inside / across), position = WIDTH * (STRIP * strip + inside % across);
            double sum[2][4] = {};
            for (int first = 0; first < pivots; first += PIVOTS) {
                double of_v[4], of_u[2][2]; /* distributed as ptx_multiply() requires */
#pragma unroll
                for (int n = 0; n < 4; n++) {
                    const int k = first + part + n / 2 * 4, kept = min(k, pivots - 1), half = n % 2 * 8;
                    const double v = child_own.v[v_row(kept) + min(row + group + half, rows - 1)],
                                 u = child_own.u[kept * child_root.pitch + min(position + group + half, rows - 1)];
                    of_v[n] = k < pivots ? v : 0;
                    of_u[n % 2][n / 2] = k < pivots ? u : 0;
                }
                ptx_multiply(sum[0], of_v, of_u[0]);
                ptx_multiply(sum[1], of_v, of_u[1]);
            }
            double root[2][4]; /* B0^-1, loaded at once; not from other tiles, which may be written at the same time,
                                  nor positions that have joined the core since, which it lacks */
#pragma unroll
            for (int n = 0; n < 8; n++) {
                const int p = position + n / 4 * 8 + 2 * part + n % 2, i = row + group + n / 2 % 2 * 8;
                root[n / 4][n % 4] = p < child_own.inverted && i < rows ? child_own.lines[p * child_root.pitch + i] : 0;
            }
            __syncwarp();
#pragma unroll
            for (int n = 0; n < 8; n += 2)
                put_merged(position + n / 4 * 8 + 2 * part, row + group + n / 2 % 2 * 8, root[n / 4] + n % 4,
                           sum[n / 4] + n % 4);
        }
    }
    /* Where lines end that may be read, of positions or rows that join the core later, and with their neighbours. */
    __device__ static int merged_end() {
        return min(child_root.reach, child_own.core + min(child_root.most, child_root.rows) + 1);
    }
    /* Stores the entries of two neighbouring positions and a row, to which the pivots add `more`; 0 behind the last
     * ones. */
    __device__ static void put_merged(int position, int row, const double *root, const double *more) {
        const int rows = child_own.core, end = merged_end();
        auto entry = [&](int n) {
            return position + n >= rows || row >= rows ? 0 : (child_own.gone[position + n] ? 0 : root[n]) + more[n];
        };
        const ChildPair entries = {entry(0), entry(1)};
        const int64_t by_row = position * child_root.pitch + row, by_column = row * child_root.pitch + position;
        if (position < rows && row < end) child_own.merged_lines[by_row] = entries.even;
        if (position + 1 < rows && row < end) child_own.merged_lines[by_row + child_root.pitch] = entries.odd;
        if (row >= rows || position >= end) return;
        *reinterpret_cast<ChildPair *>(child_own.merged_columns + by_column) = entries;
        if (child_root.singles.at)
            *reinterpret_cast<float2 *>(child_own.merged_singles + by_column) =
                make_float2(static_cast<float>(entries.even), static_cast<float>(entries.odd));
    }

    /* Puts terms first, ..., first + count - 1 of a product into shared memory: those of the list, then the deferred
     * pivots. What such a pivot is multiplied by is itself a sum over the list, which some lanes share. Terms that are
     * 0 are left out then. */
    template <bool FTRAN, bool COMPACT, class Number>
    __device__ __noinline__ void stage(const ChildList &list, int first, int count) {
        const Number *matrix = inverse<FTRAN>(Number{});
        const double *left = FTRAN ? child_own.v : child_own.u, *right = FTRAN ? child_own.u : child_own.v;
        auto left_line = [&](int k) { return left + (FTRAN ? v_row(k) : k * child_root.pitch); };
        auto right_line = [&](int k) { return right + (FTRAN ? k * child_root.pitch : v_row(k)); };
        const int lanes = list.count <= 1 ? 1 : list.count <= 4 ? 4 : list.count <= 16 ? 8 : 32, at_once = 32 / lanes;
        const int of_list = min(max(list.count - first, 0), count);
        /* Entry e, at its place in the core; outside it is 0. */
        auto entry = [&](int e) {
            const int line = FTRAN && COMPACT ? child_own.place_of_row[list.index[e]] : list.index[e];
            return ChildEntry{COMPACT ? max(line, 0) : line, COMPACT && line < 0 ? 0 : list.at(e)};
        };
        const bool may_lack = !FTRAN || COMPACT; /* lines of the list, which then are terms that are 0 */
        ChildTerm *const of_list_at = may_lack ? child_shared.staged : child_shared.term;
        for (int t = thread(); t < of_list; t += threads()) {
            const ChildEntry mine = entry(first + t);
            const bool is = FTRAN ? !COMPACT || mine.index < child_own.inverted : !child_own.gone[mine.index];
            of_list_at[t] = {reinterpret_cast<const double *>(matrix + mine.index * child_root.pitch),
                             is ? mine.value : 0};
            if (first == 0) child_shared.near[t] = mine;
        }
        if (lanes == 32) __syncthreads();
        const int near = lanes == 32 ? min(list.count, +CHILD_TERMS) : 0;
        const int end = first + count - list.count, begin = max(0, first - list.count);
        for (int from = begin + warp() * at_once; from < end; from += warps() * at_once) {
            const int k = from + lane() / lanes;
            const double *mine = ptx_global(left_line(k));
            double f = 0;
            if (k < end) {
#pragma unroll 8
                for (int e = lane(); e < near; e += 32)
                    f += mine[child_shared.near[e].index] * child_shared.near[e].value;
                for (int e = near + lane() % lanes; e < list.count; e += lanes) {
                    const ChildEntry other = entry(e);
                    f += mine[other.index] * other.value;
                }
            }
            for (int half = lanes / 2; half > 0; half /= 2) f += __shfl_xor_sync(~0u, f, half);
            if (k < end && lane() % lanes == 0) child_shared.staged[k + list.count - first] = {right_line(k), f};
        }
        __syncthreads();
        put_staged(may_lack ? 0 : of_list, of_list, count);
    }

    /* B0^-1 by columns or by rows. */
    template <bool COLUMNS>
    __device__ static const double *inverse(double) {
        return COLUMNS ? child_own.columns : child_own.lines;
    }
    template <bool COLUMNS>
    __device__ static const float *inverse(float) {
        return child_own.singles;
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
