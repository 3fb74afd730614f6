/* SPDX-License-Identifier: MIT
 *
 * Children of several bases on the GPU: how a block makes a root. It begins with the inverse of the handle, or with
 * that of the slack basis. The root's other basic variables enter, one after the other. Each takes the position where
 * its column has the largest entry, among those still to be left. These pivots are kept in U and V as those of a child
 * are, and merged into the root's own inverse. Then the root's point, reduced costs and dual weights follow.
 */
#ifndef GPUOPT_CUDA_SIMPLEX_CHILD_ROOT_CUH
#define GPUOPT_CUDA_SIMPLEX_CHILD_ROOT_CUH

#include "solve.cuh"

namespace {

/* Takes what is rounding out of a line of an inverse, and counts the other entries. Returns the sum of their squares.
 * For a warp. */
__device__ double child_weigh_line(int length, double *line, unsigned *count) {
    const int lane = ChildBlock::lane();
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
    for (int k = ChildBlock::lane(); k < core; k += 32) {
        double entry = 0;
        for (int64_t e = r.row_start[i]; e < r.row_start[i + 1]; e++) {
            const int at = place(r.row_col[e]);
            if (at >= 0) entry += r.row_val[e] * lines[at * r.pitch + k];
        }
        norm += entry * entry;
    }
    return 1 + warp_sum(norm);
}

/* Roots to be made, each at one place of the arrays. */
struct ChildRootsJob {
    int count;
    const ChildRoot *views; /* [count] */
    const uint8_t *wanted;  /* [count][both] a gpuopt_simplex_variable */
    int *core;              /* [count] filled in: the size of the root's core, */
    int *fault;             /* [count] and a variable that depends on other basic ones, or -1 */
};

class ChildRootMaker : public Child {
  public:
    using Child::Child;

    __device__ void make(const ChildRoot &handle, const ChildRootsJob &job, int k, int capacity) {
        const ChildRoot &view = job.views[k];
        const uint8_t *wanted = job.wanted + int64_t{k} * handle.both;
        int fault = 0;
        bool slack = is_far(handle, wanted);
        for (;; slack = true) {
            begin_inverse(handle, view, capacity, slack);
            fault = child_root.compact ? exchange_all<true>(wanted, slack) : exchange_all<false>(wanted, slack);
            if (fault < 0 || slack) break;
            __syncthreads();
        }
        if (thread() == 0) job.fault[k] = fault;
        if (fault >= 0) return;
        merge();
        find_point(view, wanted);
        store(view, wanted);
        weigh(view);
        if (thread() == 0) job.core[k] = child_own.core;
        __syncthreads();
    }

  private:
    /* Whether the slack basis is nearer to the wanted one than the handle's is. */
    __device__ bool is_far(const ChildRoot &handle, const uint8_t *wanted) {
        int entering = 0, columns = 0, all;
        for (int v = thread(); v < handle.both; v += threads()) {
            if (wanted[v] != GPUOPT_VARIABLE_BASIC) continue;
            entering += !(handle.state[v] & CHILD_BASIC);
            columns += v < handle.cols;
        }
        sum_before(entering, &all);
        entering = all;
        sum_before(columns, &all);
        return 2 * entering > all;
    }

    /* The basis and its inverse before the first pivot. A merger writes to the root's arrays. */
    __device__ void begin_inverse(const ChildRoot &handle, const ChildRoot &view, int capacity, bool slack) {
        __syncthreads();
        if (thread() == 0) {
            child_root = handle;
            child_root.most = capacity;
            child_root.products = 0;
            child_root.gram = nullptr;
            child_own.merged_lines = const_cast<double *>(view.lines.at);
            child_own.merged_columns = const_cast<double *>(view.columns.at);
            child_own.merged_singles = const_cast<float *>(view.singles.at);
            child_own.lines = slack ? view.lines.at : handle.lines.at;
            child_own.columns = slack ? view.columns.at : handle.columns.at;
            child_own.singles = slack ? view.singles.at : handle.singles.at;
        }
        __syncthreads();
        pivots = iterations = bans = idle = perturbed = 0;
        behind = 0;
        known_products = false;
        for (int v = thread(); v < child_root.both; v += threads()) {
            const bool basic = slack ? v >= child_root.cols : (child_root.state[v] & CHILD_BASIC) != 0;
            child_own.state[v] = basic ? +CHILD_BASIC : 0;
            child_own.shift[v] = 0;
        }
        for (int i = thread(); i < child_root.rows; i += threads()) {
            child_own.head[i] = slack ? child_root.cols + i : child_root.head[i];
            child_own.gone[i] = 0;
            child_own.tau[i] = 0;
        }
        if (thread() == 0) child_own.gone[child_root.rows] = 0; /* may be read with its neighbour */
        if (!slack) begin_core();
        else begin_slacks();
        __syncthreads();
    }
    /* The inverse of the slack basis is 1, and its core is empty. */
    __device__ void begin_slacks() {
        const int rows = child_root.rows;
        if (thread() == 0) child_own.core = child_own.inverted = child_root.compact ? 0 : rows;
        for (int i = thread(); i < rows && child_root.compact; i += threads())
            child_own.place_of_row[i] = child_own.place_of_position[i] = -1 - i;
        for (int j = thread(); j < child_root.cols && child_root.compact; j += threads())
            child_own.place_of_column[j] = 0; /* stored for all columns, basic or not */
        for (int64_t e = thread(); !child_root.compact && e < rows * child_root.pitch; e += threads()) {
            const double entry = e / child_root.pitch == e % child_root.pitch ? 1 : 0;
            child_own.merged_lines[e] = child_own.merged_columns[e] = entry;
            if (child_root.singles.at) child_own.merged_singles[e] = static_cast<float>(entry);
        }
    }

    /* Lets all wanted variables enter. Returns one for which there is no pivot, or -1. */
    template <bool COMPACT>
    __device__ int exchange_all(const uint8_t *wanted, bool slack) {
        for (int i = thread(); i < child_root.rows; i += threads())
            child_own.refused[i] = wanted[child_own.head[i]] == GPUOPT_VARIABLE_BASIC; /* those that stay */
        __syncthreads();
        const int count = gather(child_root.both, child_own.list, [&](int v) {
            return wanted[v] == GPUOPT_VARIABLE_BASIC && !(child_own.state[v] & CHILD_BASIC);
        });
        for (int e = 0; e < count; e++) {
            const int q = child_own.list[e];
            double largest_entry = 0;
            ChildBest mine = {0, -1};
            if (full()) merge();
            column(q, child_own.alpha);
            for (int i = thread(); i < child_root.rows; i += threads()) {
                const double size = fabs(child_own.alpha[i]);
                largest_entry = gpuopt__max(largest_entry, size);
                if (!child_own.refused[i] && size > mine.key) mine = {size, i};
            }
            const ChildBest found = best<true>(mine.key, mine.index);
            largest_entry = largest(largest_entry);
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
        const int left = child_own.head[p];
        double squares = 0;
        line(p);
        const double by = child_own.alpha[p];
        const int place = COMPACT ? join_core(p, pivots) : p;
        append<COMPACT>(place, by, &squares);
        __syncthreads();
        for (int k = thread(); k < pivots; k += threads()) child_own.u[k * child_root.pitch + place] = 0;
        if (thread() == 0) {
            child_own.gone[place] = 1;
            if (COMPACT && q < child_root.cols) child_own.place_of_column[q] = place;
            child_own.state[left] = 0;
            child_own.state[q] = CHILD_BASIC;
            child_own.head[p] = q;
            child_own.refused[p] = 1;
        }
        pivots++;
        __syncthreads();
    }

    /* The point, with nonbasic variables at the bounds that the statuses name, and the true reduced costs, from the
     * original data. */
    __device__ void find_point(const ChildRoot &view, const uint8_t *wanted) {
        for (int v = thread(); v < child_root.both; v += threads()) {
            const double l = view.lower[v], u = gpuopt__max(l, view.upper[v]);
            const bool upper = u < HUGE_VAL && (wanted[v] == GPUOPT_VARIABLE_AT_UPPER || l == -HUGE_VAL);
            child_own.x[v] = upper ? u : l > -HUGE_VAL ? l : 0;
            child_own.cost[v] = child_root.cost[v];
        }
        for (int i = thread(); i < child_root.rows; i += threads())
            child_own.xb[i] = child_own.y[i] = child_own.y_low[i] = 0;
        __syncthreads();
        for (int round = 0; round < 3; round++) residual(), correct_x();
        for (int round = 0; round < 3; round++) refine_once(-1, 0, 0);
        for (int i = thread(); i < child_root.rows; i += threads()) child_own.x[child_own.head[i]] = child_own.xb[i];
        __syncthreads();
        for (int v = thread(); v < child_root.both; v += threads()) {
            double error_sum;
            child_own.d[v] = child_own.state[v] & CHILD_BASIC
                                 ? 0
                                 : reduced(v, child_own.y, child_own.y_low, child_own.cost[v], &error_sum);
        }
        __syncthreads();
    }

    /* Stores what children of the root begin with, but for the inverse and the weights. */
    __device__ void store(const ChildRoot &view, const uint8_t *wanted) {
        auto put = [](auto &array, int at, auto value) {
            const_cast<std::remove_const_t<std::remove_pointer_t<decltype(array.at)>> *>(array.at)[at] = value;
        };
        for (int v = thread(); v < child_root.both; v += threads()) {
            put(view.x, v, child_own.x[v]);
            put(view.d, v, child_own.d[v]);
            put(view.state, v,
                static_cast<uint8_t>(child_own.state[v] & CHILD_BASIC        ? +CHILD_BASIC
                                     : wanted[v] == GPUOPT_VARIABLE_AT_UPPER ? +CHILD_UPPER
                                                                             : 0));
            if (child_root.compact && v < child_root.cols) put(view.place_of_column, v, child_own.place_of_column[v]);
        }
        for (int i = thread(); i < child_root.rows; i += threads()) {
            put(view.head, i, child_own.head[i]);
            if (!child_root.compact) continue;
            put(view.place_of_row, i, child_own.place_of_row[i]);
            put(view.place_of_position, i, child_own.place_of_position[i]);
            if (i >= child_own.core) continue;
            put(view.core_row, i, child_own.core_row[i]);
            put(view.core_position, i, child_own.core_position[i]);
        }
        __syncthreads();
    }

    /* Dual weights, as weigh_lines and weigh_logicals find them for the handle. */
    __device__ void weigh(const ChildRoot &view) {
        const bool norms = child_root.pricing == GPUOPT_DUAL_PRICING_STEEPEST_EDGE;
        double *const weight = const_cast<double *>(view.weight.at);
        unsigned count;
        for (int i = warp(); i < child_own.core; i += warps()) {
            const double norm = child_weigh_line(child_own.core, child_own.merged_lines + i * child_root.pitch, &count);
            if (lane() == 0) weight[child_root.compact ? child_own.core_position[i] : i] = norms ? norm : 1;
        }
        __syncthreads();
        for (int i = warp(); i < child_root.rows && child_root.compact; i += warps()) {
            if (child_own.place_of_row[i] >= 0) continue;
            const double norm =
                child_weigh_logical(child_root, i, norms ? child_own.core : 0, child_own.merged_lines.at, [](int v) {
                    return child_own.state[v] & CHILD_BASIC ? +child_own.place_of_column[v] : -1;
                });
            if (lane() == 0) weight[-1 - child_own.place_of_row[i]] = norm;
        }
        __syncthreads();
    }
};

} // namespace

#endif /* GPUOPT_CUDA_SIMPLEX_CHILD_ROOT_CUH */
