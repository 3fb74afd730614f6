/* SPDX-License-Identifier: MIT
 *
 * A batch of nodes on the GPU: all kernels except the kernel that runs nodes. They lay the matrix out by columns, find
 * the rows' capacities at the base's bounds, and put reports and changes into the order of the nodes.
 */
#ifndef GPUOPT_CUDA_PROPAGATE_BATCH_KERNELS_CUH
#define GPUOPT_CUDA_PROPAGATE_BATCH_KERNELS_CUH

#include "node.cuh"
#include "../rounds/steps.cuh"

namespace {

/* ---- The matrix by columns ---- */

/* Calls f(slot, at) for every entry, where `at` is its place in p.val and p.col: a thread for each short row, a warp
 * for any other. */
template <class Val, class Bound, class F>
__device__ void each_stored_entry(const Propagator<Val, Bound> &p, F f) {
    const int lane = static_cast<int>(threadIdx.x % WARP);
    for (int item = grid_warp(); item < p.slices + p.warp_rows + p.split_rows; item += grid_warps()) {
        const bool is_short = item < p.slices;
        const int slot = is_short ? item * WARP + lane : p.first_warp_slot() + item - p.slices;
        const long long at = p.start_of(slot);
        for (int k = is_short ? 0 : lane; k < p.length[slot]; k += is_short ? 1 : WARP)
            f(slot, at + (is_short ? k * WARP : k));
    }
}

/* m.col_start[j + 1]: the entries of column j. */
template <class Val, class Bound>
__global__ void __launch_bounds__(THREADS)
    count_columns(const __grid_constant__ Propagator<Val, Bound> p, const __grid_constant__ BatchModel<Val, Bound> m) {
    each_stored_entry(p, [&](int, long long at) { atomicAdd(&m.col_start[p.col[at] / 2 + 1], 1ull); });
}

/* m.col_start[j + 1]: first the start of column j, afterwards its end. The order of a column's entries does not
 * matter. */
template <class Val, class Bound>
__global__ void __launch_bounds__(THREADS)
    place_columns(const __grid_constant__ Propagator<Val, Bound> p, const __grid_constant__ BatchModel<Val, Bound> m) {
    each_stored_entry(p, [&](int slot, long long at) {
        const unsigned long long place = atomicAdd(&m.col_start[p.col[at] / 2 + 1], 1ull);
        m.entry_slot[place] = slot;
        m.entry_val[place] = p.val[at];
    });
}

/* ---- The base ---- */

/* Finds the capacities of all rows, and lists the rows that may act at the base's bounds. The counts must be 0. */
template <class Val, class Bound>
__global__ void __launch_bounds__(THREADS) find_capacities(const __grid_constant__ Propagator<Val, Bound> p,
                                                           const __grid_constant__ BatchModel<Val, Bound> m) {
    const int lane = static_cast<int>(threadIdx.x % WARP);
    if (grid_thread() == 0) m.base->pending = !p.state->converged || p.state->rounds_since_set == 0;
#pragma unroll 1
    for (int item = grid_warp(); item < p.slices + p.warp_rows + p.split_rows; item += grid_warps()) {
        const bool is_short = item < p.slices;
        const int slot = is_short ? item * WARP + lane : p.first_warp_slot() + item - p.slices, length = p.length[slot];
        const long long at = p.start_of(slot);
        const double2 side = p.sides[slot];
        gpuopt__propagator_filter f = filter_entries(p, p.bounds[0], p.val + at, p.col + at, is_short ? 0 : lane,
                                                     is_short ? length * WARP : length);
        if (!is_short) merge_filters(f, WARP);
        const double margin = 3 * (GPUOPT__PROPAGATOR_SHORT + 8 + length / WARP) * 0x1.01p-53 * f.magnitude,
                     of_rhs = side.y - 0.5 * (f.middle - f.width) - margin - fabs(side.y) * 0x1p-49,
                     of_lhs = 0.5 * (f.middle + f.width) - side.x - margin - fabs(side.x) * 0x1p-49;
        const float2 scale = {
            scale_of(p.rules, side.y == HUGE_VAL ? HUGE_VAL : of_rhs, f.reach, f.magnitude, f.min_infinite),
            scale_of(p.rules, side.x == -HUGE_VAL ? HUGE_VAL : of_lhs, f.reach, f.magnitude, f.max_infinite)};
        const bool mine = (is_short || lane == 0) && p.row[slot] >= 0,
                   active = mine && !(scale.x < HUGE_VAL && scale.y < HUGE_VAL);
        if (is_short || lane == 0) m.scale[slot] = scale;
        append(__ballot_sync(~0u, active), slot, is_short ? &m.base->short_active : &m.base->long_active,
               m.active + (is_short ? 0 : p.first_warp_slot()));
    }
}

/* ---- Results ---- */

/* The caller's device arrays; each may be null. */
struct NodeReportArrays {
    int *outcome, *rounds, *row, *col, *columns;
    long long *changed, *nonzeros;
};

__global__ void write_report(const NodeRecord *record, int nodes, NodeReportArrays to) {
    for (int k = grid_thread(); k < nodes; k += grid_threads()) {
        const NodeRecord one = record[k];
        if (to.outcome) to.outcome[k] = one.outcome;
        if (to.rounds) to.rounds[k] = one.rounds;
        if (to.row) to.row[k] = one.row;
        if (to.col) to.col[k] = one.col;
        if (to.columns) to.columns[k] = one.columns;
        if (to.changed) to.changed[k] = one.changed;
        if (to.nonzeros) to.nonzeros[k] = one.nonzeros;
    }
}

/* start [nodes + 1]: the counts of changed columns, to be added up. */
__global__ void count_changes(const NodeRecord *record, int nodes, long long *start) {
    for (int k = grid_thread(); k <= nodes; k += grid_threads()) start[k] = k < nodes ? record[k].columns : 0;
}

/* Copies changes into the order of the nodes, as far as they fit: a warp takes a node. */
__global__ void __launch_bounds__(THREADS)
    gather_changes(const NodeRecord *record, int nodes, const long long *start, ChangeBuffer from, ChangeBuffer to) {
    for (int node = grid_warp(); node < nodes; node += grid_warps()) {
        const NodeRecord one = record[node];
        for (int k = static_cast<int>(threadIdx.x % WARP); k < one.columns; k += WARP) {
            const long long at = start[node] + k;
            if (at >= static_cast<long long>(to.capacity)) continue;
            if (to.col) to.col[at] = from.col[one.at + k];
            if (to.lb) to.lb[at] = from.lb[one.at + k];
            if (to.ub) to.ub[at] = from.ub[one.at + k];
        }
    }
}

/* Writes all bounds of `count` nodes: the listed nodes or, without a list, the nodes from `first` on. A block takes a
 * node. */
template <class Val, class Bound>
__global__ void __launch_bounds__(THREADS)
    expand_nodes(const __grid_constant__ Propagator<Val, Bound> p, const NodeRecord *record, ChangeBuffer from,
                 int nodes, long long count, const int *list, int first, double *lb, double *ub) {
    for (long long i = blockIdx.x; i < count; i += gridDim.x) {
        const int node = list ? list[i] : first + static_cast<int>(i);
        const bool is_there = node >= 0 && node < nodes;
        const long long at = i * p.cols;
        for (int col = static_cast<int>(threadIdx.x); col < p.cols; col += THREADS) {
            const double2 pair = is_there ? load_pair(p.bounds[0], 2 * static_cast<unsigned>(col)) : double2{NAN, NAN};
            if (lb) lb[at + col] = gpuopt__propagator_shown_lb(&p.rules, is_infeasible(*p.state), pair.x, pair.y);
            if (ub) ub[at + col] = pair.y;
        }
        __syncthreads();
        const long long changes = is_there ? record[node].at : 0;
        for (int k = static_cast<int>(threadIdx.x); is_there && k < record[node].columns; k += THREADS) {
            const int col = from.col[changes + k];
            if (lb) lb[at + col] = from.lb[changes + k];
            if (ub) ub[at + col] = from.ub[changes + k];
        }
    }
}

} // namespace

#endif /* GPUOPT_CUDA_PROPAGATE_BATCH_KERNELS_CUH */
