/* SPDX-License-Identifier: MIT
 *
 * Children of several bases on the GPU: how a block makes a root. It begins with the inverse of the handle, or with
 * that of the slack basis. The root's other basic variables enter, one after the other. Each takes the position where
 * its column has the largest entry, among those still to be left. These pivots are kept in U and V as those of a child
 * are, and merged into the root's own inverse. Then the root's point, reduced costs and dual weights follow.
 */
#ifndef GPUOPT_CUDA_SIMPLEX_CHILD_ROOT_CUH
#define GPUOPT_CUDA_SIMPLEX_CHILD_ROOT_CUH

#include "proof.cuh"

namespace {

/* Takes what is rounding out of a line of an inverse, and counts the other entries. Returns the sum of their squares.
 * For a warp. */
__device__ double child_weigh_line(int length, double *line, unsigned *count) {
    const int lane = ChildThreads::lane();
    double sum = 0, size = 0;
    unsigned mine = 0;
    for (int j = lane; j < length; j += 32) size = gpuopt__max(size, fabs(line[j]));
    for (int half = 16; half > 0; half /= 2) size = gpuopt__max(size, __shfl_xor_sync(~0u, size, half));
    for (int j = lane; j < length; j += 32) {
        const double entry = line[j];
        if (fabs(entry) < CHILD_TINY * size) line[j] = 0;
        else sum += entry * entry, mine++;
    }
    *count = warp_count(mine);
    return warp_sum(sum);
}
/* The squared norm of the row of an inverse at a row of A outside the core. place(v): that of a basic column in the
 * core, or -1. For a warp. */
template <class Place>
__device__ double child_weigh_logical(const ChildRoot &r, int64_t i, int core, const double *lines, Place place) {
    double norm = 0;
    for (int k = ChildThreads::lane(); k < core; k += 32) {
        double entry = 0;
        for (int64_t e = r.row_start[i]; e < r.row_start[i + 1]; e++) {
            const int at = place(r.row_col[e]);
            if (at >= 0) entry += r.row_val[e] * lines[at * r.inverse.pitch + k];
        }
        norm += entry * entry;
    }
    return 1 + warp_sum(norm);
}

/* Whether the slack basis is nearer to a root's than the handle's is, where `columns` are basic and so many variables
 * that are not in the handle's. */
__host__ __device__ inline bool child_is_far(int entering, int columns) { return 2 * entering > columns; }

/* Roots to be made, each at one place of the arrays. */
struct ChildRootsJob {
    int count;
    const ChildRoot *views; /* [count] */
    const uint8_t *wanted;  /* [count][both] a gpuopt_simplex_variable */
    int *core;              /* [count] filled in: the size of the root's core, */
    int *fault;             /* [count] and a variable that depends on other basic ones, or -1 */
};

class ChildRootMaker : ChildThreads {
  public:
    __device__ void make(const ChildRoot &handle, const ChildRootsJob &job, int k, int capacity) {
        const ChildRoot &view = job.views[k];
        const uint8_t *wanted = job.wanted + int64_t{k} * handle.both;
        int fault = 0;
        bool slack = is_far(handle, wanted);
        for (;; slack = true) {
            begin_inverse(handle, view, capacity, slack);
            fault = root->core.compact ? exchange_all<true>(wanted, slack) : exchange_all<false>(wanted, slack);
            if (fault < 0 || slack) break;
            __syncthreads();
        }
        if (thread() == 0) job.fault[k] = fault;
        if (fault >= 0) return;
        products.merge();
        find_point(view, wanted);
        store(view, wanted);
        weigh(view);
        if (thread() == 0) job.core[k] = products.core.data->size;
        __syncthreads();
    }

  private:
    ChildView<ChildRoot> root;
    ChildView<ChildPoint> point;
    ChildView<ChildWork> work;
    ChildView<ChildInverse> inverse;
    ChildView<ChildProof::Data> duals;
    ChildView<ChildDual::Data> pricing;
    ChildBlock block;
    ChildProducts products;
    ChildProof proof;

    __device__ bool is_far(const ChildRoot &handle, const uint8_t *wanted) {
        int entering = 0, columns = 0, all;
        for (int v = thread(); v < handle.both; v += threads()) {
            if (wanted[v] != GPUOPT_VARIABLE_BASIC) continue;
            entering += !(handle.start.state[v] & CHILD_BASIC);
            columns += v < handle.cols;
        }
        block.sum_before(entering, &all);
        entering = all;
        block.sum_before(columns, &all);
        return child_is_far(entering, all);
    }

    /* The basis and its inverse before the first pivot. A merger writes to the root's arrays. */
    __device__ void begin_inverse(const ChildRoot &handle, const ChildRoot &view, int capacity, bool slack) {
        __syncthreads();
        if (thread() == 0) {
            *root = handle;
            root->inverse.most = capacity;
            root->inverse.products = 0;
            root->inverse.gram = nullptr;
            inverse->merged_lines = const_cast<double *>(view.inverse.lines.at);
            inverse->merged_columns = const_cast<double *>(view.inverse.columns.at);
            inverse->merged_singles = const_cast<float *>(view.inverse.singles.at);
            inverse->lines = slack ? view.inverse.lines.at : handle.inverse.lines.at;
            inverse->columns = slack ? view.inverse.columns.at : handle.inverse.columns.at;
            inverse->singles = slack ? view.inverse.singles.at : handle.inverse.singles.at;
        }
        __syncthreads();
        products.pivots = 0;
        products.known_products = false;
        for (int v = thread(); v < root->both; v += threads()) {
            const bool basic = slack ? v >= root->cols : (root->start.state[v] & CHILD_BASIC) != 0;
            point->state[v] = basic ? +CHILD_BASIC : 0;
            point->shift[v] = 0;
        }
        for (int i = thread(); i < root->rows; i += threads()) {
            point->head[i] = slack ? root->cols + i : root->start.head[i];
            inverse->gone[i] = 0;
            work->tau[i] = 0;
        }
        if (thread() == 0) inverse->gone[root->rows] = 0; /* may be read with its neighbour */
        if (!slack) products.core.begin();
        else begin_slacks();
        __syncthreads();
    }
    /* The inverse of the slack basis is 1, and its core is empty. */
    __device__ void begin_slacks() {
        const int rows = root->rows;
        if (thread() == 0) products.core.data->size = inverse->size = root->core.compact ? 0 : rows;
        for (int i = thread(); i < rows && root->core.compact; i += threads())
            products.core.data->place_of_row[i] = products.core.data->place_of_position[i] = -1 - i;
        for (int j = thread(); j < root->cols && root->core.compact; j += threads())
            products.core.data->place_of_column[j] = 0; /* stored for all columns, basic or not */
        for (int64_t e = thread(); !root->core.compact && e < rows * root->inverse.pitch; e += threads()) {
            const double entry = e / root->inverse.pitch == e % root->inverse.pitch ? 1 : 0;
            inverse->merged_lines[e] = inverse->merged_columns[e] = entry;
            if (root->inverse.singles.at) inverse->merged_singles[e] = static_cast<float>(entry);
        }
    }

    /* Lets all wanted variables enter. Returns one for which there is no pivot, or -1. */
    template <bool COMPACT>
    __device__ int exchange_all(const uint8_t *wanted, bool slack) {
        for (int i = thread(); i < root->rows; i += threads())
            pricing->refused[i] = wanted[point->head[i]] == GPUOPT_VARIABLE_BASIC; /* those that stay */
        __syncthreads();
        const int count = block.gather(root->both, work->list, [&](int v) {
            return wanted[v] == GPUOPT_VARIABLE_BASIC && !(point->state[v] & CHILD_BASIC);
        });
        for (int e = 0; e < count; e++) {
            const int q = work->list[e];
            double largest_entry = 0;
            ChildBest mine = {0, -1};
            if (products.full()) products.merge();
            products.column(block, q, work->alpha);
            for (int i = thread(); i < root->rows; i += threads()) {
                const double size = fabs(work->alpha[i]);
                largest_entry = gpuopt__max(largest_entry, size);
                if (!pricing->refused[i] && size > mine.key) mine = {size, i};
            }
            const ChildBest found = block.best<true>(mine.key, mine.index);
            largest_entry = block.largest(largest_entry);
            /* from the handle only safe pivots, since there is another way */
            const double least = slack ? 1e-9 : gpuopt__max(1e-5, 1e-6 * largest_entry);
            if (found.index < 0 || !(found.key > least)) return q;
            take_place<COMPACT>(found.index, q);
        }
        return -1;
    }
    /* Variable q, whose column is in alpha, takes position p. */
    template <bool COMPACT>
    __device__ void take_place(int p, int q) {
        const int left = point->head[p];
        double squares = 0;
        products.line(block, p);
        const double by = work->alpha[p];
        const int place = COMPACT ? products.core.join(p, products.pivots) : p;
        products.append<COMPACT>(place, by, &squares);
        __syncthreads();
        for (int k = thread(); k < products.pivots; k += threads()) inverse->u[k * root->inverse.pitch + place] = 0;
        if (thread() == 0) {
            inverse->gone[place] = 1;
            if (COMPACT && q < root->cols) products.core.data->place_of_column[q] = place;
            point->state[left] = 0;
            point->state[q] = CHILD_BASIC;
            point->head[p] = q;
            pricing->refused[p] = 1;
        }
        products.pivots++;
        __syncthreads();
    }

    /* The point, with nonbasic variables at the bounds that the statuses name, and the true reduced costs, from the
     * original data. */
    __device__ void find_point(const ChildRoot &view, const uint8_t *wanted) {
        for (int v = thread(); v < root->both; v += threads()) {
            const double l = view.start.lower[v], u = gpuopt__max(l, view.start.upper[v]);
            const bool upper = u < HUGE_VAL && (wanted[v] == GPUOPT_VARIABLE_AT_UPPER || l == -HUGE_VAL);
            point->x[v] = upper ? u : l > -HUGE_VAL ? l : 0;
            point->cost[v] = root->start.cost[v];
        }
        for (int i = thread(); i < root->rows; i += threads()) point->xb[i] = duals->y[i] = duals->y_low[i] = 0;
        __syncthreads();
        for (int round = 0; round < 3; round++) proof.residual(), proof.correct_x(block, products);
        for (int round = 0; round < 3; round++) proof.refine_once(block, products, -1, 0, 0);
        for (int i = thread(); i < root->rows; i += threads()) point->x[point->head[i]] = point->xb[i];
        __syncthreads();
        for (int v = thread(); v < root->both; v += threads()) {
            double error_sum;
            point->d[v] = point->state[v] & CHILD_BASIC
                              ? 0
                              : proof.reduced(v, duals->y, duals->y_low, point->cost[v], &error_sum);
        }
        __syncthreads();
    }

    /* Stores what children of the root begin with, but for the inverse and the weights. */
    __device__ void store(const ChildRoot &view, const uint8_t *wanted) {
        auto put = [](auto &array, int at, auto value) {
            const_cast<std::remove_const_t<std::remove_pointer_t<decltype(array.at)>> *>(array.at)[at] = value;
        };
        for (int v = thread(); v < root->both; v += threads()) {
            put(view.start.x, v, point->x[v]);
            put(view.start.d, v, point->d[v]);
            put(view.start.state, v,
                static_cast<uint8_t>(point->state[v] & CHILD_BASIC           ? +CHILD_BASIC
                                     : wanted[v] == GPUOPT_VARIABLE_AT_UPPER ? +CHILD_UPPER
                                                                             : 0));
            if (root->core.compact && v < root->cols)
                put(view.core.place_of_column, v, products.core.data->place_of_column[v]);
        }
        for (int i = thread(); i < root->rows; i += threads()) {
            put(view.start.head, i, point->head[i]);
            if (!root->core.compact) continue;
            put(view.core.place_of_row, i, products.core.data->place_of_row[i]);
            put(view.core.place_of_position, i, products.core.data->place_of_position[i]);
            if (i >= products.core.data->size) continue;
            put(view.core.row, i, products.core.data->row[i]);
            put(view.core.position, i, products.core.data->position[i]);
        }
        __syncthreads();
    }

    /* Dual weights, as weigh_lines and weigh_logicals find them for the handle. */
    __device__ void weigh(const ChildRoot &view) {
        const bool norms = root->rules.pricing == GPUOPT_DUAL_PRICING_STEEPEST_EDGE;
        double *const weight = const_cast<double *>(view.start.weight.at);
        unsigned count;
        for (int i = warp(); i < products.core.data->size; i += warps()) {
            const double norm =
                child_weigh_line(products.core.data->size, inverse->merged_lines + i * root->inverse.pitch, &count);
            if (lane() == 0) weight[root->core.compact ? products.core.data->position[i] : i] = norms ? norm : 1;
        }
        __syncthreads();
        for (int i = warp(); i < root->rows && root->core.compact; i += warps()) {
            if (products.core.data->place_of_row[i] >= 0) continue;
            const double norm = child_weigh_logical(
                *root, i, norms ? products.core.data->size : 0, inverse->merged_lines.at,
                [&](int v) { return point->state[v] & CHILD_BASIC ? +products.core.data->place_of_column[v] : -1; });
            if (lane() == 0) weight[-1 - products.core.data->place_of_row[i]] = norm;
        }
        __syncthreads();
    }
};

} // namespace

#endif /* GPUOPT_CUDA_SIMPLEX_CHILD_ROOT_CUH */
