/* SPDX-License-Identifier: MIT
 *
 * Children of one basis on the GPU: products with the inverse and with A. A block reads the root's inverse, and keeps its
 * own pivots beside it: B^-1 = Z B0^-1 + U V, where Z sets the rows on which it has pivoted to 0. If the batch is to go on
 * when U and V are full, they are merged into an inverse that the block has for itself, which then is B0^-1.
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
     * arrays. marks: not null: only where that or its neighbour is not 0. The terms of the sums are put into shared
     * memory, some hundreds at a time; a thread sums up two neighbours, or a part of the terms of two. */
    template <bool FTRAN>
    __device__ __noinline__ void product(const ChildList &list, double *into, const double *marks = nullptr) {
        double *const out = ptx_global(into);
        const double *const where = marks ? ptx_global(marks) : nullptr;
        const int pairs = (child_root.rows + 1) / 2, width = max(1, (pairs + 31) / 32 * 32);
        const int parts = max(1, min(threads() / width, +CHILD_PARTS)), part = thread() / width;
        const int terms = list.count + pivots;
        for (int first = 0; first == 0 || first < terms; first += CHILD_TERMS) {
            stage<FTRAN>(list, first, min(terms - first, +CHILD_TERMS));
            const int of_matrix = child_shared.of_matrix, groups = child_shared.groups;
            auto put = [&](int pair, ChildPair sum) {
                const int i = 2 * pair;
                if (first > 0) sum.even = out[i] + sum.even;
                out[i] = sum.even;
                if (i + 1 < child_root.rows) out[i + 1] = first > 0 ? out[i + 1] + sum.odd : sum.odd;
            };
            auto wanted = [&](int pair) {
                const int i = 2 * pair;
                return pair < pairs && (!where || where[i] != 0 || (i + 1 < child_root.rows && where[i + 1] != 0));
            };
            if (parts == 1) {
                for (int pair = thread(); pair < pairs; pair += threads())
                    if (wanted(pair)) put(pair, sum_of<FTRAN>(0, of_matrix, groups, 2 * pair));
            } else {
                const int pair = thread() - part * width;
                if (part < parts && wanted(pair))
                    child_own.partial[thread()] =
                        sum_of<FTRAN>(part * groups / parts, of_matrix, (part + 1) * groups / parts, 2 * pair);
                __syncthreads();
                if (part == 0 && wanted(pair)) {
                    ChildPair sum = child_own.partial[pair];
                    for (int n = 1; n < parts; n++)
                        sum.even += child_own.partial[n * width + pair].even,
                            sum.odd += child_own.partial[n * width + pair].odd;
                    put(pair, sum);
                }
            }
            __syncthreads();
        }
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
    /* out = row p of B^-1. */
    __device__ void line(int p, double *out) { unit<false>(p, out); }

    /* row[j] = y'a_j for the nonbasic variables, 0 for the basic ones. `offer` is called with each variable, its state and
     * its entry by whole warps together; a variable below 0 is none. */
    template <class Offer>
    __device__ void price_out(const double *y, Offer offer) {
        if (child_root.rows <= CHILD_SHARED) {
            GPUOPT_DYNAMIC_SHARED(double, child_row);
            for (int i = thread(); i < child_root.rows; i += threads()) child_row[i] = y[i];
            __syncthreads();
            price_columns(child_row, offer);
        } else price_columns(y, offer);
        for (int from = warp() * 32; from < child_root.rows; from += threads()) {
            const int i = from + lane(), v = i < child_root.rows ? child_root.cols + i : -1,
                      state = v < 0 ? +CHILD_BASIC : child_own.state[v];
            const double value = state & CHILD_BASIC ? 0 : y[i];
            if (v >= 0) child_own.row[v] = value;
            offer(v, state, value);
        }
        __syncthreads();
    }
    __device__ void price_out(const double *y) {
        price_out(y, [](int, int, double) {});
    }

    /* The entries of x [rows] above `least` in size, in places. */
    __device__ ChildList nonzeros(const double *x, double least) {
        int count = gather(child_root.rows, child_own.places, [&](int i) { return fabs(x[i]) > least; });
        return {count, child_own.places, x, true};
    }

    /* Nonbasic variables have moved: those of a list of so many, each by key[variable]. The basic ones follow. Overwrites
     * moved and tau. */
    __device__ __noinline__ void follow_moves(int count, const int *list) {
        if (count == 0) return;
        for (int i = thread(); i < child_root.rows; i += threads()) child_own.moved[i] = 0;
        __syncthreads();
        if (warp() == 0) add_columns(count, list);
        __syncthreads();
        product<true>(nonzeros(child_own.moved, 0), child_own.tau);
        for (int i = thread(); i < child_root.rows; i += threads()) child_own.xb[i] -= child_own.tau[i];
        __syncthreads();
    }

    /* Whether another pivot has no place in U and V. */
    __device__ bool full() const { return pivots >= child_root.most; }
    /* Z B0^-1 + U V, by columns and by rows, is the block's own B0^-1 from now on, and there are no pivots beside it. */
    __device__ __noinline__ void merge() {
        merge_lines<true>(child_own.merged_columns, child_own.columns, child_own.u, child_own.v);
        merge_lines<false>(child_own.merged_lines, child_own.lines, child_own.v, child_own.u);
        __syncthreads();
        for (int i = thread(); i < child_root.rows; i += threads()) child_own.gone[i] = 0;
        pivots = 0;
        if (thread() == 0) child_own.columns = child_own.merged_columns.at, child_own.lines = child_own.merged_lines.at;
        __syncthreads();
    }

  private:
    /* moved += the columns of a list, each times key[variable]. One warp does it, a few lanes a column; lanes that add to
     * the same row take turns, so that the order of each sum is fixed. */
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

    /* Z B0^-1 + U V, by columns or by rows, into `to`, which may be `from`: the line with number n has the entries of
     * `along`, times entry n of `across`. A warp takes some lines at once. */
    template <bool COLUMNS>
    __device__ void merge_lines(double *to, const double *from, const double *along, const double *across) const {
        enum { AT_ONCE = 8 };
        const int rows = child_root.rows;
        const int64_t pitch = child_root.pitch;
        for (int first = AT_ONCE * warp(); first < rows; first += AT_ONCE * warps())
            for (int i = lane(); i < rows + rows % 2; i += 32) { /* the last one may be read with its neighbour */
                double sum[AT_ONCE];
#pragma unroll
                for (int n = 0; n < AT_ONCE; n++) {
                    const int gone = COLUMNS ? i : first + n;
                    const bool is = i < rows && first + n < rows && !child_own.gone[gone];
                    sum[n] = is ? from[(first + n) * pitch + i] : 0;
                }
                for (int k = 0; k < pivots; k++) {
                    const double by = along[k * pitch + i];
#pragma unroll
                    for (int n = 0; n < AT_ONCE; n++)
                        if (first + n < rows) sum[n] += by * across[k * pitch + first + n];
                }
#pragma unroll
                for (int n = 0; n < AT_ONCE; n++)
                    if (first + n < rows) to[(first + n) * pitch + i] = sum[n];
            }
    }

    /* Puts terms first, ..., first + count - 1 of a product into shared memory: those of the list, then the deferred
     * pivots. What such a pivot is multiplied by is itself a sum over the list, which some lanes share. Terms that are 0
     * are left out then, and both kinds filled up to whole groups. */
    template <bool FTRAN>
    __device__ void stage(const ChildList &list, int first, int count) {
        const double *matrix = FTRAN ? child_own.columns : child_own.lines, *left = FTRAN ? child_own.v : child_own.u,
                     *right = FTRAN ? child_own.u : child_own.v;
        const int lanes = list.count <= 1 ? 1 : list.count <= 4 ? 4 : list.count <= 16 ? 8 : 32, at_once = 32 / lanes;
        const int of_list = min(max(list.count - first, 0), count);
        const int behind = (of_list + CHILD_LANES - 1) / CHILD_LANES * CHILD_LANES; /* where the pivots' terms begin */
        for (int t = thread(); t < of_list; t += threads()) {
            const int line = list.index[first + t];
            const double value = list.at(first + t);
            const bool is = FTRAN || !child_own.gone[line];
            child_shared.term[t] = {matrix + line * child_root.pitch, is ? value : 0};
            if (first == 0) child_shared.near[t] = {line, value};
        }
        if (lanes == 32) __syncthreads();
        const int near = lanes == 32 ? min(list.count, +CHILD_TERMS) : 0;
        const int end = first + count - list.count, begin = max(0, first - list.count);
        for (int from = begin + warp() * at_once; from < end; from += warps() * at_once) {
            const int k = from + lane() / lanes;
            const double *mine = ptx_global(left + k * child_root.pitch);
            double f = 0;
            if (k < end) {
#pragma unroll 8
                for (int e = lane(); e < near; e += 32)
                    f += mine[child_shared.near[e].index] * child_shared.near[e].value;
                for (int e = near + lane() % lanes; e < list.count; e += lanes) f += mine[list.index[e]] * list.at(e);
            }
            for (int half = lanes / 2; half > 0; half /= 2) f += __shfl_xor_sync(~0u, f, half);
            if (k < end && lane() % lanes == 0)
                child_shared.term[k + list.count - first - of_list + behind] = {right + k * child_root.pitch, f};
        }
        __syncthreads();
        if (warp() == 0) {
            const int of_matrix = close_up(0, of_list, 0), all = close_up(behind, behind + count - of_list, of_matrix);
            if (lane() == 0) child_shared.of_matrix = of_matrix / CHILD_LANES, child_shared.groups = all / CHILD_LANES;
        }
        __syncthreads();
    }

    /* Moves the terms from, ..., end - 1 that are not 0 to `at` and behind, which is not behind `from`, and fills up with
     * terms that are 0 to whole groups. Returns where they end. For one warp. */
    __device__ int close_up(int from, int end, int at) {
        for (int first = from; first < end; first += 32) {
            const bool here = first + lane() < end;
            const ChildTerm term = here ? child_shared.term[first + lane()] : ChildTerm{child_root.columns, 0};
            const unsigned those = __ballot_sync(~0u, here && term.value != 0);
            if (those >> lane() & 1) child_shared.term[at + __popc(those & ((1u << lane()) - 1))] = term;
            at += __popc(those);
            __syncwarp();
        }
        const int more = -at & (CHILD_LANES - 1);
        if (lane() < more) child_shared.term[at + lane()] = {child_root.columns, 0};
        __syncwarp();
        return at + more;
    }

    /* The sum of the groups of terms from, ..., end - 1 at i and i + 1; the first of_matrix of all groups are columns or
     * rows of the root's inverse. The terms of a group are loaded before they are added. */
    template <bool FTRAN>
    __device__ ChildPair sum_of(int from, int of_matrix, int end, int i) const {
        ChildPair sum = {0, 0};
        auto add = [&](int begin, int last) {
            for (const ChildTerm *term = child_shared.term + begin * CHILD_LANES,
                                 *stop = child_shared.term + last * CHILD_LANES;
                 term < stop; term += CHILD_LANES) {
                ChildPair x[CHILD_LANES];
#pragma unroll
                for (int n = 0; n < CHILD_LANES; n++)
                    x[n] = *reinterpret_cast<const ChildPair *>(ptx_global(term[n].line) + i);
#pragma unroll
                for (int n = 0; n < CHILD_LANES; n++)
                    sum.even += term[n].value * x[n].even, sum.odd += term[n].value * x[n].odd;
            }
        };
        if (!FTRAN) {
            add(from, end);
            return sum;
        }
        add(from, min(of_matrix, end));
        if (child_own.gone[i]) sum.even = 0;
        if (i + 1 < child_root.rows && child_own.gone[i + 1]) sum.odd = 0;
        add(max(from, of_matrix), end);
        return sum;
    }

    /* What a warp must know of a slice before its entries: fetched while it works on the one before. */
    struct Slice {
        int64_t begin, end;
        unsigned longs; /* bits of columns that are too long for it */
        int state;      /* of the lane's column */
    };
    __device__ Slice fetch(int slice) const {
        if (slice >= child_root.slices.count) return {0, 0, 0, 0};
        const int j = slice * 32 + lane();
        return {child_root.slices.start[slice], child_root.slices.start[slice + 1], child_root.slices.longs[slice],
                j < child_root.cols ? child_own.state[j] : 0};
    }
    /* Columns with at most CHILD_LONG entries. */
    template <class Offer>
    __device__ void price_slices(const double *y, Offer offer) {
        enum { AT_ONCE = 8 };
        Slice next = fetch(warp());
        for (int slice = warp(); slice < child_root.slices.count; slice += warps()) {
            const Slice now = next;
            const int j = slice * 32 + lane();
            next = fetch(slice + warps());
            double sum = 0;
            for (int64_t first = now.begin + lane(); first < now.end; first += 32 * AT_ONCE) {
                int row[AT_ONCE];
                double val[AT_ONCE];
#pragma unroll
                for (int n = 0; n < AT_ONCE; n++) {
                    const bool is = first + 32 * n < now.end;
                    row[n] = is ? child_root.slices.row[first + 32 * n] : 0;
                    val[n] = is ? child_root.slices.val[first + 32 * n] : 0;
                }
#pragma unroll
                for (int n = 0; n < AT_ONCE; n++) sum += val[n] * y[row[n]];
            }
            const bool here = j < child_root.cols && !(now.longs >> lane() & 1);
            if (now.state & CHILD_BASIC) sum = 0;
            if (here) child_own.row[j] = sum;
            offer(here ? j : -1, now.state, sum);
        }
    }

    template <class Offer>
    __device__ void price_columns(const double *y, Offer offer) {
        price_slices(y, offer);
        for (int n = warp(); n < child_root.slices.of_longs; n += warps()) {
            const int j = child_root.slices.of_long[n], state = child_own.state[j];
            double sum = 0;
#pragma unroll 4
            for (int64_t e = child_root.col_start[j] + lane(); e < child_root.col_start[j + 1]; e += 32)
                sum += child_root.col_val[e] * y[child_root.col_row[e]];
            sum = state & CHILD_BASIC ? 0 : warp_sum(sum);
            if (lane() == 0) child_own.row[j] = sum;
            offer(lane() == 0 ? j : -1, state, sum);
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
