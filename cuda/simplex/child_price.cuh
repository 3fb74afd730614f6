/* SPDX-License-Identifier: MIT
 *
 * Children of one basis on the GPU: rows of B^-1 N, from the columns of A in slices.
 */
#ifndef GPUOPT_CUDA_SIMPLEX_CHILD_PRICE_CUH
#define GPUOPT_CUDA_SIMPLEX_CHILD_PRICE_CUH

#include "child_products.cuh"

namespace {

class ChildPrice : public ChildProducts {
  public:
    using ChildProducts::ChildProducts;

    /* row[v] = y'a_v for the nonbasic variables, 0 for the basic ones. */
    __device__ __noinline__ void price_out(const double *y) {
        if (child_root.shares_row) {
            GPUOPT_DYNAMIC_SHARED(double, child_row);
            double *const unscaled = child_row + child_root.rows;
            for (int i = thread(); i < child_root.rows; i += threads()) {
                child_row[i] = y[i];
                unscaled[i] = y[i] * child_root.row_scale[i];
            }
            if (thread() == 0) unscaled[child_root.rows] = 0; /* for the entries that columns lack */
            __syncthreads();
            price_slices(child_row, unscaled);
            price_long(child_row);
        } else {
            price_slices(y, nullptr);
            price_long(y);
        }
        for (int i = thread(); i < child_root.rows; i += threads()) {
            const int v = child_root.cols + i;
            child_own.row[v] = child_own.state[v] & CHILD_BASIC ? 0 : y[i];
        }
        __syncthreads();
    }

  private:
    /* What a warp must know of a slice before its entries: fetched while it works on the one before. */
    struct Slice {
        int64_t begin, end;
        unsigned longs; /* bits of columns that are too long for it */
        int state;      /* of the lane's column */
        double factor;  /* of the lane's column, in a flat slice; else 0 */
    };
    __device__ Slice fetch(int slice) const {
        if (slice >= child_root.slices.count) return {0, 0, 0, 0, 0};
        const int j = slice * 32 + lane();
        return {child_root.slices.start[slice], child_root.slices.start[slice + 1], child_root.slices.longs[slice],
                j < child_root.cols ? child_own.state[j] : 0, child_root.slices.factor[j]};
    }
    /* Calls some(n, first) for so many entries, the next n at once; n is known to the compiler. */
    template <class Some>
    __device__ static void by_some(int count, Some some) {
        int first = 0;
        for (; count - first >= 8; first += 8) some(Number<8>{}, first);
        switch (count - first) {
        case 7: return some(Number<7>{}, first);
        case 6: return some(Number<6>{}, first);
        case 5: return some(Number<5>{}, first);
        case 4: return some(Number<4>{}, first);
        case 3: return some(Number<3>{}, first);
        case 2: return some(Number<2>{}, first);
        case 1: return some(Number<1>{}, first);
        default: return;
        }
    }
    template <int N>
    struct Number {
        static constexpr int value = N;
    };
    /* y'a for the lane's column, where the columns of the slice have up to `count` entries, the first one at `begin`. */
    __device__ static double entries(int64_t begin, int count, const double *y) {
        const int *const rows = child_root.slices.row + begin + lane();
        const double *const values = child_root.slices.val + begin + lane();
        double sum = 0;
        by_some(count, [&](auto number, int first) {
            constexpr int N = decltype(number)::value;
            int row[N];
            double value[N];
#pragma unroll
            for (int n = 0; n < N; n++) row[n] = rows[32 * (first + n)], value[n] = values[32 * (first + n)];
#pragma unroll
            for (int n = 0; n < N; n++) sum += value[n] * y[row[n]];
        });
        return sum;
    }
    /* The same but for the factor, in a flat slice. */
    __device__ static double flat_entries(int64_t begin, int count, const double *unscaled) {
        const uint16_t *const rows = child_root.slices.flat + begin + lane();
        double sum = 0;
        by_some(count, [&](auto number, int first) {
            constexpr int N = decltype(number)::value;
            unsigned row[N];
#pragma unroll
            for (int n = 0; n < N; n++) row[n] = rows[32 * (first + n)];
#pragma unroll
            for (int n = 0; n < N; n++) {
                const double entry = unscaled[row[n] & (CHILD_MINUS - 1)];
                sum += row[n] & CHILD_MINUS ? -entry : entry;
            }
        });
        return sum;
    }
    /* Columns with at most CHILD_LONG entries. */
    __device__ void price_slices(const double *y, const double *unscaled) {
        Slice next = fetch(warp());
        for (int slice = warp(); slice < child_root.slices.count; slice += warps()) {
            const Slice now = next;
            const int j = slice * 32 + lane(), count = static_cast<int>(now.end - now.begin) / 32;
            next = fetch(slice + warps());
            const double sum = unscaled && __any_sync(~0u, now.factor != 0)
                                   ? now.factor * flat_entries(now.begin, count, unscaled)
                                   : entries(now.begin, count, y);
            if (j < child_root.cols && !(now.longs >> lane() & 1)) child_own.row[j] = now.state & CHILD_BASIC ? 0 : sum;
        }
    }
    /* The others. */
    __device__ void price_long(const double *y) {
        for (int n = warp(); n < child_root.slices.of_longs; n += warps()) {
            const int j = child_root.slices.of_long[n];
            double sum = 0;
#pragma unroll 4
            for (int64_t e = child_root.col_start[j] + lane(); e < child_root.col_start[j + 1]; e += 32)
                sum += child_root.col_val[e] * y[child_root.col_row[e]];
            sum = warp_sum(sum);
            if (lane() == 0) child_own.row[j] = child_own.state[j] & CHILD_BASIC ? 0 : sum;
        }
    }
};

} // namespace

#endif /* GPUOPT_CUDA_SIMPLEX_CHILD_PRICE_CUH */
