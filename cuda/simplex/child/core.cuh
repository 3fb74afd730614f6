/* SPDX-License-Identifier: MIT
 *
 * Children of one basis on the GPU: sums over A's columns or rows in slices, and the core of an inverse.
 *
 * Where most basic variables are slacks, most of B^-1 need not be kept. Order positions so that those of columns come
 * first, and rows so that those whose slacks are basic come last. Then
 *     B = ( C  0 ),   B^-1 = (   C^-1    0 ).
 *         ( R  I )           ( -R C^-1   I )
 * Only C^-1, the core of the inverse, is kept (`compact`); U and V are as short. The rest follows from A:
 *     x = B^-1 a:   x_core = C^-1 a_core,   x_i = a_i - (row i of R) x_core, one pass over the rows of A;
 *     y = B^-T c:   y_core = C^-T (c_core - R' c_i),   y_i = c_i.
 * When a pivot takes the position of another slack, its row and position join the core: B0^-1 has no entries for
 * them, as for any position that has pivoted, so only U and V get longer. A column may also enter for a column, and a
 * slack in the core, so positions in the core can have slacks, too, whose rows are in it then.
 */
#ifndef GPUOPT_CUDA_SIMPLEX_CHILD_CORE_CUH
#define GPUOPT_CUDA_SIMPLEX_CHILD_CORE_CUH

#include "block.cuh"

namespace {

class ChildCore : public ChildBlock {
  public:
    using ChildBlock::ChildBlock;

  protected:
    /* Whether an entry of a column B^-1 a is more than rounding. */
    __device__ static bool is_entry(double alpha) { return !(fabs(alpha) < CHILD_TINY); }

    /* ---- Slices ---- */

    /* y'a for the lane's column (or row), except for its factor if FLAT; y[i] of the lane's bank is at i * banks. */
    template <bool FLAT>
    __device__ static double entries(const ChildSlices &slices, const ChildSlice &slice, const double *y, int banks) {
        const int64_t begin = 32 * int64_t{slice.begin} + lane();
        const uint2 *rows = reinterpret_cast<const uint2 *>(ptx_global(slices.row.at)) + begin;
        const double2 *values = reinterpret_cast<const double2 *>(ptx_global(slices.val.at)) + 2 * begin;
        const unsigned stride = static_cast<unsigned>(banks) * sizeof *y;
        double2 sum = {0, 0};
        auto entry = [&](unsigned row, unsigned minus) {
            return signed_entry(y, (row & (CHILD_MINUS - 1)) * stride, minus);
        };
        auto add = [&](unsigned row, double2 by) {
            sum.x += entry(row, row << 16) * (FLAT ? 1 : by.x);
            sum.y += entry(row >> 16, row) * (FLAT ? 1 : by.y);
        };
        auto some = [&](auto count) {
            constexpr int N = decltype(count)::value;
            uint2 row[N];
            double2 value[N][2];
#pragma unroll
            for (int n = 0; n < N; n++) {
                row[n] = rows[32 * n];
                if (!FLAT) value[n][0] = values[64 * n], value[n][1] = values[64 * n + 1];
            }
#pragma unroll
            for (int n = 0; n < N; n++) add(row[n].x, value[n][0]), add(row[n].y, value[n][1]);
            rows += 32 * N, values += 64 * N;
        };
        constexpr int MOST = FLAT ? 4 : 2;
        int left = static_cast<int>(slice.fours & CHILD_FOURS);
        for (; left > MOST; left -= MOST) some(std::integral_constant<int, MOST>{});
        if (left == 1) some(std::integral_constant<int, 1>{});
        else if (left == 2) some(std::integral_constant<int, 2>{});
        else if constexpr (FLAT) {
            if (left == 3) some(std::integral_constant<int, 3>{});
            else if (left == 4) some(std::integral_constant<int, 4>{});
        }
        return sum.x + sum.y;
    }

    /* ---- Places in the core ---- */

    /* The row or position at a place, where all are in the core. */
    __device__ static int row_at(int place) { return child_root.compact ? child_own.core_row[place] : place; }
    /* Negative: it has none, and its slack's position, or its row, is -1 less that. */
    __device__ static int place_of_position(int p) { return child_root.compact ? child_own.place_of_position[p] : p; }

    /* The block starts with the core of the root. */
    __device__ void begin_core() {
        if (thread() == 0) child_own.core = child_own.inverted = child_root.core;
        for (int i = thread(); i < child_root.rows && child_root.compact; i += threads()) {
            child_own.place_of_row[i] = child_root.place_of_row[i];
            child_own.place_of_position[i] = child_root.place_of_position[i];
            if (i >= child_root.core) continue;
            child_own.core_row[i] = child_root.core_row[i];
            child_own.core_position[i] = child_root.core_position[i];
        }
        for (int j = thread(); j < child_root.cols && child_root.compact; j += threads())
            child_own.place_of_column[j] = child_root.place_of_column[j];
    }

    /* Where row k of V begins, behind all those before. */
    __device__ static int64_t v_row(int k) {
        const int longer = min(k, child_root.products);
        return longer * child_root.v_pitch + (k - longer) * child_root.pitch;
    }
    /* Adds position p to the core, if it is outside: the first `pivots` rows of U and V get a zero there. Returns
     * its place. */
    __device__ __noinline__ int join_core(int p, int pivots) {
        const int place = place_of_position(p), at = child_own.core;
        if (place >= 0) return place;
        __syncthreads(); /* all have read that */
        for (int k = thread(); k < pivots; k += threads())
            for (int n = at; n <= at + (at + 1) % 2; n++) /* with its neighbour, which may be read with it */
                child_own.u[k * child_root.pitch + n] = child_own.v[v_row(k) + n] = 0;
        if (thread() == 0) {
            const int row = -1 - place;
            child_own.core_row[at] = row, child_own.core_position[at] = p;
            child_own.place_of_row[row] = child_own.place_of_position[p] = at;
            child_own.gone[at] = 1;
            child_own.core = at + 1;
        }
        __syncthreads();
        return at;
    }

    /* ---- What is outside ---- */

    /* Completes x [rows] = B^-1 a, whose core is computed; if marks is not null, only where it has an entry. */
    __device__ __noinline__ void finish_column(const ChildList &list, double *x, const double *marks) {
        GPUOPT_DYNAMIC_SHARED(double, child_row);
        const int banks = child_root.sum_banks;
        for (int v = thread(); v <= child_root.cols; v += threads()) { /* that behind the last one is 0 */
            const bool basic = v < child_root.cols && child_own.state[v] & CHILD_BASIC;
            const double unscaled =
                basic ? x[child_own.core_position[child_own.place_of_column[v]]] * child_root.col_scale[v] : 0;
            for (int n = 0; n < banks; n++) child_row[banks * v + ((lane() + n) & (banks - 1))] = unscaled;
        }
        __syncthreads();
        const double *const mine = child_row + (lane() & (banks - 1));
        for (int number = warp(); number < child_root.row_slices.count; number += warps()) {
            const ChildSlice slice = child_root.row_slices.head[number];
            const int i = 32 * number + lane();
            const int place = i < child_root.rows ? child_own.place_of_row[i] : 0;
            const bool is = place < 0 && (!marks || is_entry(marks[-1 - place])) &&
                            !(slice.fours & CHILD_HAS_LONG && child_root.row_slices.longs[number] >> lane() & 1);
            if (!__any_sync(~0u, is)) continue;
            const double sum = slice.fours & CHILD_FLAT ? child_root.row_slices.factor[i] *
                                                              entries<true>(child_root.row_slices, slice, mine, banks)
                                                        : entries<false>(child_root.row_slices, slice, mine, banks);
            if (is) x[-1 - place] = -sum;
        }
        for (int n = warp(); n < child_root.row_slices.of_longs; n += warps()) {
            const int i = child_root.row_slices.of_long[n], place = child_own.place_of_row[i];
            double sum = 0;
            if (place >= 0 || (marks && !is_entry(marks[-1 - place]))) continue;
            for (int64_t e = child_root.row_start[i] + lane(); e < child_root.row_start[i + 1]; e += 32) {
                const int v = child_root.row_col[e];
                if (child_own.state[v] & CHILD_BASIC)
                    sum += child_root.row_val[e] * x[child_own.core_position[child_own.place_of_column[v]]];
            }
            sum = warp_sum(sum);
            if (lane() == 0) x[-1 - place] = -sum;
        }
        __syncthreads();
        for (int e = thread(); e < list.count; e += threads()) {
            const int place = child_own.place_of_row[list.index[e]];
            if (place < 0) x[-1 - place] += list.at(e);
        }
        __syncthreads();
    }

    /* c by positions, all of them or one, as a list by places: c_core - R' c_i. */
    __device__ __noinline__ ChildList fold(const ChildList &list) {
        if (list.dense) {
            for (int k = thread(); k < child_own.core; k += threads()) {
                const int p = child_own.core_position[k], v = child_own.head[p];
                double sum = list.value[p];
                for (int64_t e = v < child_root.cols ? child_root.col_start[v] : 0,
                             end = v < child_root.cols ? child_root.col_start[v + 1] : 0;
                     e < end; e++) {
                    const int place = child_own.place_of_row[child_root.col_row[e]];
                    if (place < 0) sum -= child_root.col_val[e] * list.value[-1 - place];
                }
                child_own.folded[k] = sum;
            }
            __syncthreads();
            const int count = gather(child_own.core, child_own.fold, [](int k) { return child_own.folded[k] != 0; });
            return {count, child_own.fold, child_own.folded, true};
        }
        const int place = child_own.place_of_position[list.index[0]];
        if (place >= 0) {
            if (thread() == 0) child_own.fold[0] = place, child_own.folded[0] = list.value[0], child_shared.folded = 1;
        } else if (warp() == 0) {
            const int row = -1 - place;
            const int64_t end = child_root.row_start[row + 1];
            int count = 0;
            for (int64_t first = child_root.row_start[row]; first < end; first += 32) {
                const int64_t e = first + lane();
                const int v = e < end ? child_root.row_col[e] : 0;
                const bool is = e < end && child_own.state[v] & CHILD_BASIC;
                const unsigned those = __ballot_sync(~0u, is);
                const int at = count + __popc(those & ((1u << lane()) - 1));
                if (is)
                    child_own.fold[at] = child_own.place_of_column[v],
                    child_own.folded[at] = -child_root.row_val[e] * list.value[0];
                count += __popc(those);
            }
            if (lane() == 0) child_shared.folded = count;
        }
        __syncthreads();
        return {child_shared.folded, child_own.fold, child_own.folded, false};
    }
    /* Completes y [rows] = B^-T c, whose core is computed. c as for fold(). */
    __device__ void finish_row(const ChildList &list, double *y) {
        for (int i = thread(); i < child_root.rows; i += threads()) {
            const int place = child_own.place_of_row[i];
            if (place >= 0) continue;
            y[i] = list.dense ? list.value[-1 - place] : list.index[0] == -1 - place ? list.value[0] : 0;
        }
        __syncthreads();
    }

  private:
    static_assert(CHILD_MINUS == 0x8000, "the sign of a double is moved there");
    /* The number `bytes` bytes after y, with the sign in the highest bit of `minus`. */
    __device__ static double signed_entry(const double *y, unsigned bytes, unsigned minus) {
        const double size = *reinterpret_cast<const double *>(reinterpret_cast<const char *>(y) + bytes);
        const auto high = static_cast<unsigned>(__double2hiint(size)) ^ (minus & 1u << 31);
        return __hiloint2double(static_cast<int>(high), __double2loint(size));
    }
};

} // namespace

#endif /* GPUOPT_CUDA_SIMPLEX_CHILD_CORE_CUH */
