/* SPDX-License-Identifier: MIT
 *
 * Children of one basis on the GPU: the core of an inverse, and what is outside.
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

#include "inverse.cuh"

namespace {

enum {
    CHILD_TALL = 1024,   /* rows from which the core of an inverse may be kept alone, */
    CHILD_CORE_PAYS = 4, /* if the rest has this many times the entries that A and a column have together */
};

/* Has no state: its data are the block's. */
class ChildCore : ChildThreads {
  public:
    struct Data {
        ChildArray<int> row, position, place_of_row, place_of_position; /* [rows] */
        ChildArray<int> place_of_column;                                /* [cols] */
        ChildArray<int> fold;                                           /* [rows] a list of places, */
        ChildArray<double> folded;                                      /* [rows] and its values; so many: */
        int count;
        int size; /* of the core now */

        template <class Cut>
        void cut(const ChildSizes &n, Cut cut) {
            for (auto *array : {&row, &position, &place_of_row, &place_of_position, &fold}) cut(*array, n.tall);
            cut(place_of_column, n.tall > 0 ? n.cols : 0), cut(folded, n.tall);
        }
    };
    ChildView<Data> data;

    /* ---- Places in the core ---- */

    /* The row or position at a place, where all are in the core. */
    __device__ int row_at(int place) const { return root->core.compact ? data->row[place] : place; }
    /* Negative: it has none, and its slack's position, or its row, is -1 less that. */
    __device__ int place_of_position(int p) const { return root->core.compact ? data->place_of_position[p] : p; }

    /* The block starts with the core of the root. */
    __device__ void begin() const {
        if (thread() == 0) data->size = inverse->size = root->core.size;
        for (int i = thread(); i < root->rows && root->core.compact; i += threads()) {
            data->place_of_row[i] = root->core.place_of_row[i];
            data->place_of_position[i] = root->core.place_of_position[i];
            if (i >= root->core.size) continue;
            data->row[i] = root->core.row[i];
            data->position[i] = root->core.position[i];
        }
        for (int j = thread(); j < root->cols && root->core.compact; j += threads())
            data->place_of_column[j] = root->core.place_of_column[j];
    }

    /* Adds position p to the core, if it is outside: the first `pivots` rows of U and V get a zero there. Returns
     * its place. */
    __device__ __noinline__ int join(int p, int pivots) const {
        const int place = place_of_position(p), at = data->size;
        if (place >= 0) return place;
        __syncthreads(); /* all have read that */
        for (int k = thread(); k < pivots; k += threads())
            for (int n = at; n <= at + (at + 1) % 2; n++) /* with its neighbour, which may be read with it */
                inverse->u[k * root->inverse.pitch + n] = inverse->v[root->inverse.v_row(k) + n] = 0;
        if (thread() == 0) {
            const int row = -1 - place;
            data->row[at] = row, data->position[at] = p;
            data->place_of_row[row] = data->place_of_position[p] = at;
            inverse->gone[at] = 1;
            data->size = at + 1;
        }
        __syncthreads();
        return at;
    }

    /* ---- What is outside ---- */

    /* Completes x [rows] = B^-1 a, whose core is computed; if marks is not null, only where it has an entry. */
    __device__ __noinline__ void finish_column(const ChildList &list, double *x, const double *marks) const {
        GPUOPT_DYNAMIC_SHARED(double, child_row);
        const int banks = root->sum_banks;
        for (int v = thread(); v <= root->cols; v += threads()) { /* that behind the last one is 0 */
            const bool basic = v < root->cols && point->state[v] & CHILD_BASIC;
            const double unscaled = basic ? x[data->position[data->place_of_column[v]]] * root->col_scale[v] : 0;
            for (int n = 0; n < banks; n++) child_row[banks * v + ((lane() + n) & (banks - 1))] = unscaled;
        }
        __syncthreads();
        const double *const mine = child_row + (lane() & (banks - 1));
        for (int number = warp(); number < root->row_slices.count; number += warps()) {
            const ChildSlice slice = root->row_slices.head[number];
            const int i = 32 * number + lane();
            const int place = i < root->rows ? data->place_of_row[i] : 0;
            const bool is = place < 0 && (!marks || child_is_entry(marks[-1 - place])) &&
                            !(slice.fours & CHILD_HAS_LONG && root->row_slices.longs[number] >> lane() & 1);
            if (!__any_sync(~0u, is)) continue;
            const double sum = slice.fours & CHILD_FLAT ? root->row_slices.factor[i] *
                                                              child_entries<true>(root->row_slices, slice, mine, banks)
                                                        : child_entries<false>(root->row_slices, slice, mine, banks);
            if (is) x[-1 - place] = -sum;
        }
        for (int n = warp(); n < root->row_slices.of_longs; n += warps()) {
            const int i = root->row_slices.of_long[n], place = data->place_of_row[i];
            double sum = 0;
            if (place >= 0 || (marks && !child_is_entry(marks[-1 - place]))) continue;
            for (int64_t e = root->row_start[i] + lane(); e < root->row_start[i + 1]; e += 32) {
                const int v = root->row_col[e];
                if (point->state[v] & CHILD_BASIC)
                    sum += root->row_val[e] * x[data->position[data->place_of_column[v]]];
            }
            sum = warp_sum(sum);
            if (lane() == 0) x[-1 - place] = -sum;
        }
        __syncthreads();
        for (int e = thread(); e < list.count; e += threads()) {
            const int place = data->place_of_row[list.index[e]];
            if (place < 0) x[-1 - place] += list.at(e);
        }
        __syncthreads();
    }

    /* c by positions, all of them or one, as a list by places: c_core - R' c_i. */
    __device__ __noinline__ ChildList fold(ChildBlock &block, const ChildList &list) const {
        if (list.dense) {
            for (int k = thread(); k < data->size; k += threads()) {
                const int p = data->position[k], v = point->head[p];
                double sum = list.value[p];
                for (int64_t e = v < root->cols ? root->col_start[v] : 0,
                             end = v < root->cols ? root->col_start[v + 1] : 0;
                     e < end; e++) {
                    const int place = data->place_of_row[root->col_row[e]];
                    if (place < 0) sum -= root->col_val[e] * list.value[-1 - place];
                }
                data->folded[k] = sum;
            }
            __syncthreads();
            const int count = block.gather(data->size, data->fold, [&](int k) { return data->folded[k] != 0; });
            return {count, data->fold, data->folded, true};
        }
        const int place = data->place_of_position[list.index[0]];
        if (place >= 0) {
            if (thread() == 0) data->fold[0] = place, data->folded[0] = list.value[0], data->count = 1;
        } else if (warp() == 0) {
            const int row = -1 - place;
            const int64_t end = root->row_start[row + 1];
            int count = 0;
            for (int64_t first = root->row_start[row]; first < end; first += 32) {
                const int64_t e = first + lane();
                const int v = e < end ? root->row_col[e] : 0;
                const bool is = e < end && point->state[v] & CHILD_BASIC;
                const unsigned those = __ballot_sync(~0u, is);
                const int at = count + __popc(those & ((1u << lane()) - 1));
                if (is) data->fold[at] = data->place_of_column[v], data->folded[at] = -root->row_val[e] * list.value[0];
                count += __popc(those);
            }
            if (lane() == 0) data->count = count;
        }
        __syncthreads();
        return {data->count, data->fold, data->folded, false};
    }
    /* Completes y [rows] = B^-T c, whose core is computed. c as for fold(). */
    __device__ void finish_row(const ChildList &list, double *y) const {
        for (int i = thread(); i < root->rows; i += threads()) {
            const int place = data->place_of_row[i];
            if (place >= 0) continue;
            y[i] = list.dense ? list.value[-1 - place] : list.index[0] == -1 - place ? list.value[0] : 0;
        }
        __syncthreads();
    }

  private:
    ChildView<const ChildRoot> root;
    ChildView<const ChildPoint> point;
    ChildView<ChildInverse> inverse;
};

} // namespace

#endif /* GPUOPT_CUDA_SIMPLEX_CHILD_CORE_CUH */
