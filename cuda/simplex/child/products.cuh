/* SPDX-License-Identifier: MIT
 *
 * Children of one basis on the GPU: products with the inverse. A block reads the root's inverse, and keeps its
 * own pivots beside it, in U and V (inverse.cuh). If the batch is to go on when U and V are full, they are merged
 * into an inverse that the block has for itself, which then is B0^-1.
 */
#ifndef GPUOPT_CUDA_SIMPLEX_CHILD_PRODUCTS_CUH
#define GPUOPT_CUDA_SIMPLEX_CHILD_PRODUCTS_CUH

#include "core.cuh"
#include "sums.cuh"

namespace {

/* Its state: the pivots. */
class ChildProducts : ChildThreads {
  public:
    int pivots = 0;              /* in U and V */
    bool known_products = false; /* the rows of V have products behind them: weights.cuh */
    ChildCore core;
    ChildSums sums;

    /* out [rows] = B^-1 times a list by rows (FTRAN), or B^-T times one by positions (BTRAN). out is none of the list's
     * arrays. If marks is not null, only places count at which it, or its neighbour, has an entry. Number: the
     * precision of B0^-1. */
    template <bool FTRAN, class Number = double>
    __device__ __noinline__ void product(ChildBlock &block, const ChildList &list, double *into,
                                         const double *marks = nullptr) {
        if (root->core.compact) return compact_product<FTRAN, Number>(block, list, into, marks);
        core_product<FTRAN, false, Number>(block, list, ptx_global(into), marks);
    }
    /* out = the columns of U, each times a number, where marks has an entry. */
    __device__ void sum_pivots(ChildBlock &block, const double *numbers, double *into, const double *marks) {
        double *const out = ptx_global(into);
        const double *const number = ptx_global(numbers);
        sums.add_up<false>(
            sums.wanted(block, marks), pivots,
            [&](int first, int count) {
                sums.stage_lines(first, count, inverse->u, root->inverse.pitch, [&](int k) { return number[k]; });
            },
            [](int pair) { return int64_t{2} * pair; },
            [&](int pair, bool more, ChildPair sum) {
                const int i = 2 * pair;
                out[i] = more ? out[i] + sum.even : sum.even;
                if (i + 1 < root->rows) out[i + 1] = more ? out[i + 1] + sum.odd : sum.odd;
            });
    }

    /* out = the column of a variable. */
    __device__ void column(ChildBlock &block, int variable, double *out) {
        if (variable >= root->cols) {
            unit<true>(block, variable - root->cols, out);
            return;
        }
        int64_t start = root->col_start[variable];
        product<true>(block,
                      {static_cast<int>(root->col_start[variable + 1] - start), root->col_row + start,
                       root->col_val + start, false},
                      out);
    }
    /* rho = row p of B^-1 and, with the products known, the data of weights.cuh behind it. */
    __device__ void line(ChildBlock &block, int p) {
        if (known_products) line_and_products(p);
        else unit<false>(block, p, work->rho);
    }

    /* The entries of x [rows] above `least` in size, in places. */
    __device__ ChildList nonzeros(ChildBlock &block, const double *x, double least) const {
        int count = block.gather(root->rows, work->places, [&](int i) { return fabs(x[i]) > least; });
        return {count, work->places, x, true};
    }

    /* The same of a vector that is 0 outside the core. */
    __device__ ChildList nonzeros_of_core(ChildBlock &block, const double *x, double least) const {
        int count =
            block.gather(core.data->size, work->places, [&](int k) { return fabs(x[core.data->row[k]]) > least; });
        for (int e = thread(); e < count; e += threads()) work->places[e] = core.data->row[work->places[e]];
        __syncthreads();
        return {count, work->places, x, true};
    }

    /* Nonbasic variables have moved: those of list [count], each by key[variable]. The basic variables follow.
     * Overwrites moved and tau. */
    __device__ __noinline__ void follow_moves(ChildBlock &block, int count, const int *list) {
        if (count == 0) return;
        for (int i = thread(); i < root->rows; i += threads()) work->moved[i] = 0;
        __syncthreads();
        if (warp() == 0) add_columns(count, list);
        __syncthreads();
        product<true>(block, nonzeros(block, work->moved, 0), work->tau);
        for_all<4>(
            root->rows, [&](int i) { return point->xb[i] - work->tau[i]; }, [&](int i, double x) { point->xb[i] = x; });
        __syncthreads();
    }

    /* Whether another pivot has no place in U and V. */
    __device__ bool full() const { return pivots >= root->inverse.most; }
    /* Z B0^-1 + U V, by columns and by rows, is the block's own B0^-1 from now on, and there are no pivots beside
     * it. */
    __device__ __noinline__ void merge() {
        merge_tiles();
        __syncthreads();
        for (int i = thread(); i < core.data->size; i += threads()) inverse->gone[i] = 0;
        pivots = 0;
        known_products = false;
        if (thread() == 0)
            inverse->size = core.data->size, inverse->columns = inverse->merged_columns.at,
            inverse->lines = inverse->merged_lines.at, inverse->singles = inverse->merged_singles.at;
        __syncthreads();
    }

    /* ---- The pivots ---- */

    /* Appends the pivot at a place in the core to U and V. by: the pivot element; squares: this thread's part of the
     * square of rho's norm. */
    template <bool COMPACT>
    __device__ void append(int place, double by, double *squares) {
        const double factor = 1 / by;
        const int64_t pitch = root->inverse.pitch;
        double *u = inverse->u + pivots * pitch, *v = inverse->v + root->inverse.v_row(pivots);
        for (int i = thread(); i < core.data->size; i += threads()) {
            const double rho = work->rho[COMPACT ? core.data->row[i] : i];
            const double alpha = work->alpha[COMPACT ? core.data->position[i] : i];
            u[i] = i == place ? 1 : child_is_entry(alpha) ? -alpha : 0;
            v[i] = rho * factor;
            if (known_products) v[pitch + i] = work->rho[pitch + i] * factor;
            *squares += rho * rho;
        }
        if (thread() == 0 && core.data->size % 2 != 0)
            u[core.data->size] = v[core.data->size] = 0; /* read with its neighbour */
        if (known_products && thread() == 0 && root->rows % 2 != 0) v[pitch + root->rows] = 0;
    }

  private:
    ChildView<const ChildRoot> root;
    ChildView<ChildPoint> point;
    ChildView<ChildWork> work;
    ChildView<ChildInverse> inverse;

    /* A product by the core of the inverse, and what is outside, for which all of the core is needed. */
    template <bool FTRAN, class Number>
    __device__ __noinline__ void compact_product(ChildBlock &block, const ChildList &list, double *into,
                                                 const double *marks) {
        double *const out = ptx_global(into);
        core_product<FTRAN, true, Number>(block, FTRAN ? list : core.fold(block, list), out, nullptr);
        if (FTRAN) core.finish_column(list, out, marks ? ptx_global(marks) : nullptr);
        else core.finish_row(list, out);
    }
    /* The product's core, or all of it, where `where` is null or has an entry. */
    template <bool FTRAN, bool COMPACT, class Number>
    __device__ void core_product(ChildBlock &block, const ChildList &list, double *out, const double *where) {
        const int end = COMPACT ? core.data->size : root->rows;
        auto at = [&](int place) {
            return !COMPACT ? place : FTRAN ? core.data->position[place] : core.data->row[place];
        };
        sums.add_up<FTRAN, Number>(
            COMPACT ? ChildSums::Pairs{(end + 1) / 2, nullptr} : sums.wanted(block, where), list.count + pivots,
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
        const int rows = root->rows, pairs = (rows + 1) / 2;
        const int64_t pitch = root->inverse.pitch, v_pitch = root->inverse.v_pitch;
        const bool gone = inverse->gone[p];
        const double *const of_u = inverse->u + p, *const of_v = inverse->v + pitch + p,
                            *const line = inverse->lines + p * pitch, *const gram = root->inverse.gram + p * pitch;
        double *const rho = work->rho;
        /* of the three parts of a line, each of which begins at an even place */
        auto place = [&](int pair) {
            return pair < pairs       ? int64_t{2} * pair
                   : pair < 2 * pairs ? pitch + 2 * (pair - pairs)
                                      : 2 * pitch + 2 * (pair - 2 * pairs);
        };
        auto of_root = [&](int pair, int64_t at) { /* what the root has there */
                                                   if (gone) return 0.;
                                                   if (pair >= 2 * pairs) return of_v[(at - 2 * pitch) * v_pitch];
                                                   return pair < pairs ? line[at] : gram[at - pitch];
        };
        sums.add_up<false>(
            {2 * pairs + (pivots + 1) / 2, nullptr}, pivots,
            [&](int first, int count) {
                sums.stage_lines(first, count, inverse->v, v_pitch, [&](int k) { return of_u[k * pitch]; });
            },
            place,
            [&](int pair, bool more, ChildPair sum) {
                const int64_t at = place(pair), end = pair < pairs       ? rows
                                                      : pair < 2 * pairs ? pitch + rows
                                                                         : 2 * pitch + pivots;
                rho[at] = (more ? rho[at] : of_root(pair, at)) + sum.even;
                if (at + 1 < end) rho[at + 1] = (more ? rho[at + 1] : of_root(pair, at + 1)) + sum.odd;
            });
    }

    /* moved += the columns of a list, each times key[variable]. One warp does it, a few lanes a column; lanes that add
     * to the same row take turns, so that the order of each sum is fixed. */
    __device__ void add_columns(int count, const int *list) {
        enum { LANES = 8 };
        for (int first = 0; first < count; first += 32 / LANES) {
            const int k = first + lane() / LANES, v = k < count ? list[k] : root->cols;
            const double by = k < count ? work->key[v] : 0;
            const bool logical = v >= root->cols;
            int64_t e = logical ? lane() % LANES : root->col_start[v] + lane() % LANES;
            const int64_t end = logical ? k < count : root->col_start[v + 1];
            for (; __any_sync(~0u, e < end); e += LANES) {
                const bool is = e < end;
                const int row = !is ? -1 - lane() : logical ? v - root->cols : root->col_row[e];
                const double value = !is ? 0 : logical ? by : root->col_val[e] * by;
                const int turn = __popc(__match_any_sync(~0u, row) & ((1u << lane()) - 1));
                for (int t = 0; __any_sync(~0u, is && turn >= t); t++) {
                    if (is && turn == t) work->moved[row] += value;
                    __syncwarp();
                }
            }
        }
    }

    /* Z B0^-1 + U V, 16 positions and rows at a time for each warp, by rows, which may be those of B0^-1, and columns.
     * Warps are at tiles that are near one another, whose parts of U and V they then share in the first-level cache. */
    __device__ void merge_tiles() {
        enum { WIDTH = 16, PIVOTS = 8, STRIP = 4 };
        const int rows = core.data->size, tiles = (merged_end() + WIDTH - 1) / WIDTH, group = lane() / 4,
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
                    const double v = inverse->v[root->inverse.v_row(kept) + min(row + group + half, rows - 1)],
                                 u = inverse->u[kept * root->inverse.pitch + min(position + group + half, rows - 1)];
                    of_v[n] = k < pivots ? v : 0;
                    of_u[n % 2][n / 2] = k < pivots ? u : 0;
                }
                ptx_multiply(sum[0], of_v, of_u[0]);
                ptx_multiply(sum[1], of_v, of_u[1]);
            }
            double before[2][4]; /* B0^-1, loaded at once; not from other tiles, which may be written at the same time,
                                  nor positions that have joined the core since, which it lacks */
#pragma unroll
            for (int n = 0; n < 8; n++) {
                const int p = position + n / 4 * 8 + 2 * part + n % 2, i = row + group + n / 2 % 2 * 8;
                before[n / 4][n % 4] = p < inverse->size && i < rows ? inverse->lines[p * root->inverse.pitch + i] : 0;
            }
            __syncwarp();
#pragma unroll
            for (int n = 0; n < 8; n += 2)
                put_merged(position + n / 4 * 8 + 2 * part, row + group + n / 2 % 2 * 8, before[n / 4] + n % 4,
                           sum[n / 4] + n % 4);
        }
    }
    /* Where lines end that may be read, of positions or rows that join the core later, and with their neighbours. */
    __device__ int merged_end() const {
        return min(root->core.reach, core.data->size + min(root->inverse.most, root->rows) + 1);
    }
    /* Stores the entries of two neighbouring positions and a row, to which the pivots add `more`; 0 behind the last
     * ones. */
    __device__ void put_merged(int position, int row, const double *before, const double *more) const {
        const int rows = core.data->size, end = merged_end();
        auto entry = [&](int n) {
            return position + n >= rows || row >= rows ? 0 : (inverse->gone[position + n] ? 0 : before[n]) + more[n];
        };
        const ChildPair entries = {entry(0), entry(1)};
        const int64_t by_row = position * root->inverse.pitch + row, by_column = row * root->inverse.pitch + position;
        if (position < rows && row < end) inverse->merged_lines[by_row] = entries.even;
        if (position + 1 < rows && row < end) inverse->merged_lines[by_row + root->inverse.pitch] = entries.odd;
        if (row >= rows || position >= end) return;
        *reinterpret_cast<ChildPair *>(inverse->merged_columns + by_column) = entries;
        if (root->inverse.singles.at)
            *reinterpret_cast<float2 *>(inverse->merged_singles + by_column) =
                make_float2(static_cast<float>(entries.even), static_cast<float>(entries.odd));
    }

    /* Puts terms first, ..., first + count - 1 of a product into shared memory: those of the list, then the deferred
     * pivots. What such a pivot is multiplied by is itself a sum over the list, which some lanes share. Terms that are
     * 0 are left out then. */
    template <bool FTRAN, bool COMPACT, class Number>
    __device__ __noinline__ void stage(const ChildList &list, int first, int count) {
        const Number *const first_line = matrix<FTRAN>(Number{});
        const double *left = FTRAN ? inverse->v : inverse->u, *right = FTRAN ? inverse->u : inverse->v;
        auto left_line = [&](int k) { return left + (FTRAN ? root->inverse.v_row(k) : k * root->inverse.pitch); };
        auto right_line = [&](int k) { return right + (FTRAN ? k * root->inverse.pitch : root->inverse.v_row(k)); };
        const int lanes = list.count <= 1 ? 1 : list.count <= 4 ? 4 : list.count <= 16 ? 8 : 32, at_once = 32 / lanes;
        const int of_list = min(max(list.count - first, 0), count);
        /* Entry e, at its place in the core; outside it is 0. */
        auto entry = [&](int e) {
            const int line = FTRAN && COMPACT ? core.data->place_of_row[list.index[e]] : list.index[e];
            return ChildEntry{COMPACT ? max(line, 0) : line, COMPACT && line < 0 ? 0 : list.at(e)};
        };
        const bool may_lack = !FTRAN || COMPACT; /* lines of the list, which then are terms that are 0 */
        ChildTerm *const of_list_at = may_lack ? sums.data->staged : sums.data->term;
        for (int t = thread(); t < of_list; t += threads()) {
            const ChildEntry mine = entry(first + t);
            const bool is = FTRAN ? !COMPACT || mine.index < inverse->size : !inverse->gone[mine.index];
            of_list_at[t] = {reinterpret_cast<const double *>(first_line + mine.index * root->inverse.pitch),
                             is ? mine.value : 0};
            if (first == 0) sums.data->near[t] = mine;
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
                for (int e = lane(); e < near; e += 32) f += mine[sums.data->near[e].index] * sums.data->near[e].value;
                for (int e = near + lane() % lanes; e < list.count; e += lanes) {
                    const ChildEntry other = entry(e);
                    f += mine[other.index] * other.value;
                }
            }
            for (int half = lanes / 2; half > 0; half /= 2) f += __shfl_xor_sync(~0u, f, half);
            if (k < end && lane() % lanes == 0) sums.data->staged[k + list.count - first] = {right_line(k), f};
        }
        __syncthreads();
        sums.put_staged(may_lack ? 0 : of_list, of_list, count);
    }

    /* B0^-1 by columns or by rows. */
    template <bool COLUMNS>
    __device__ const double *matrix(double) const {
        return COLUMNS ? inverse->columns : inverse->lines;
    }
    template <bool COLUMNS>
    __device__ const float *matrix(float) const {
        return inverse->singles;
    }

    template <bool FTRAN>
    __device__ void unit(ChildBlock &block, int at, double *out) {
        const double one = 1;
        /* the list is in this thread's own memory; every thread has the same one */
        product<FTRAN>(block, {1, &at, &one, false}, out);
    }
};

} // namespace

#endif /* GPUOPT_CUDA_SIMPLEX_CHILD_PRODUCTS_CUH */
