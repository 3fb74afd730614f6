/* SPDX-License-Identifier: MIT
 *
 * Children of one basis on the GPU: rows of B^-1 N, from the columns of A in slices, and the reduced costs. A pivot
 * adds a multiple of its row to them, and the pass that computes the next row does so.
 */
#ifndef GPUOPT_CUDA_SIMPLEX_CHILD_PRICE_CUH
#define GPUOPT_CUDA_SIMPLEX_CHILD_PRICE_CUH

#include "core.cuh"

namespace {

/* Its state: what the reduced costs in d lack. */
class ChildPrice : ChildThreads {
  public:
    double behind = 0; /* this many times row is still to be subtracted from the reduced costs in d */

    /* Subtracts it now. shifts: reduced costs that get the wrong sign become 0 by a shift of their costs. */
    __device__ __noinline__ void settle(bool shifts) {
        struct Variable {
            double row, d;
            int state;
        };
        if (behind == 0) return;
        for_all<4>(
            root->both,
            [&](int v) {
                return Variable{work->row[v], point->d[v], point->state[v]};
            },
            [&](int v, const Variable &old) { catch_up(v, old.state, old.row, old.d, shifts); });
        behind = 0;
        __syncthreads();
    }

    /* row[v] = y'a_v for the nonbasic variables, 0 for the basic ones. */
    __device__ __noinline__ void price_out(const double *y) {
        price<false>(y, [](int, int, double, double) {});
        __syncthreads();
    }

    /* The same without the barrier at the end. It also calls each(v, state, entry, d) for the lanes of a warp at a
     * time. If REDUCED, d is the reduced cost, which is no longer behind then. Lanes without a variable have state 0.
     * */
    template <bool REDUCED, class Each>
    __device__ void price(const double *y, Each each) {
        if (root->banks > 0) {
            GPUOPT_DYNAMIC_SHARED(double, child_row);
            const int banks = root->banks;
            for (int i = thread(); i < root->rows; i += threads()) {
                const double unscaled = y[i] * root->row_scale[i];
                for (int n = 0; n < banks; n++) /* each lane begins with another bank */
                    child_row[banks * i + ((lane() + n) & (banks - 1))] = unscaled;
            }
            for (int e = thread(); e < banks; e += threads()) child_row[banks * root->rows + e] = 0;
            __syncthreads();
            price_slices<REDUCED>(child_row + (lane() & (banks - 1)), banks, each);
        }
        price_long<REDUCED>(y, each);
        for (int first = 32 * warp(); first < core.data->size; first += threads()) {
            const bool is = first + lane() < core.data->size;
            const int i = is ? core.row_at(first + lane()) : 0, v = root->cols + i;
            const int state = is ? point->state[v] : 0;
            const double entry = is && !(state & CHILD_BASIC) ? y[i] : 0;
            const double d = is && REDUCED ? catch_up(v, state, work->row[v], point->d[v], true) : 0;
            if (is) work->row[v] = entry;
            each(v, state, entry, d);
        }
        if (REDUCED) behind = 0;
    }

  private:
    ChildView<const ChildRoot> root;
    ChildView<ChildPoint> point;
    ChildView<ChildWork> work;
    ChildCore core;

    /* What a lane must know of its column: fetched while the warp works on the slice before. */
    struct Ahead {
        int state;
        double factor, d, row;
    };
    __device__ ChildSlice head_of(int slice) const {
        return slice < root->slices.count ? root->slices.head[slice] : ChildSlice{0, 0};
    }
    template <bool REDUCED>
    __device__ Ahead fetch(int slice) const {
        const int j = 32 * slice + lane();
        if (j >= root->cols) return {0, 0, 0, 0};
        return {point->state[j], root->slices.factor[j], REDUCED ? point->d[j] : 0, REDUCED ? work->row[j] : 0};
    }
    /* What becomes of the reduced cost d of variable v, whose entry in row and state these are, when that is done. */
    __device__ double catch_up(int v, int state, double row, double d, bool shifts) const {
        if (behind == 0 || row == 0 || state & CHILD_BASIC) return d;
        double now = d - behind * row;
        if (shifts && fabs(row) > root->rules.zero && gpuopt__simplex_dual_wrong(now, state, 0)) {
            point->shift[v] -= now;
            now = 0;
        }
        point->d[v] = now;
        return now;
    }
    /* Columns with at most CHILD_LONG entries. */
    template <bool REDUCED, class Each>
    __device__ void price_slices(const double *y, int banks, Each each) {
        ChildSlice next = head_of(warp());
        Ahead ahead = fetch<REDUCED>(warp());
        for (int number = warp(); number < root->slices.count; number += warps()) {
            const ChildSlice slice = next;
            const Ahead now = ahead;
            next = head_of(number + warps());
            ahead = fetch<REDUCED>(number + warps());
            const double sum = slice.fours & CHILD_FLAT
                                   ? now.factor * child_entries<true>(root->slices, slice, y, banks)
                                   : child_entries<false>(root->slices, slice, y, banks);
            const int j = 32 * number + lane();
            const bool mine =
                j < root->cols && !(slice.fours & CHILD_HAS_LONG && root->slices.longs[number] >> lane() & 1);
            const double entry = now.state & CHILD_BASIC ? 0 : sum;
            const double d = REDUCED && mine ? catch_up(j, now.state, now.row, now.d, true) : 0;
            if (mine) work->row[j] = entry;
            each(j, mine ? now.state : 0, entry, d);
        }
    }
    /* The others, each by some lanes; warps that have no slices begin. */
    template <bool REDUCED, class Each>
    __device__ void price_long(const double *y, Each each) {
        enum { LANES = 8, AT_ONCE = 32 / LANES };
        for (int first = AT_ONCE * (warps() - 1 - warp()); first < root->slices.of_longs; first += AT_ONCE * warps()) {
            const int n = first + lane() / LANES;
            const bool is = n < root->slices.of_longs, mine = is && lane() % LANES == 0;
            const int j = is ? root->slices.of_long[n] : 0, state = mine ? point->state[j] : 0;
            const int64_t end = is ? root->col_start[j + 1] : 0;
            double sum = 0;
#pragma unroll 4
            for (int64_t e = (is ? root->col_start[j] : 0) + lane() % LANES; e < end; e += LANES)
                sum += root->col_val[e] * y[root->col_row[e]];
            for (int half = LANES / 2; half > 0; half /= 2) sum += __shfl_xor_sync(~0u, sum, half);
            const double entry = state & CHILD_BASIC ? 0 : sum;
            const double d = REDUCED && mine ? catch_up(j, state, work->row[j], point->d[j], true) : 0;
            if (mine) work->row[j] = entry;
            each(j, state, entry, d);
        }
    }
};

} // namespace

#endif /* GPUOPT_CUDA_SIMPLEX_CHILD_PRICE_CUH */
