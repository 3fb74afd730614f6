/* SPDX-License-Identifier: MIT
 *
 * A tree search on the GPU: rows added by the caller, which every round evaluates, a warp each; and the search for the
 * row that implies a bound.
 */
#ifndef GPUOPT_CUDA_PROPAGATE_TREE_ADDED_ROWS_CUH
#define GPUOPT_CUDA_PROPAGATE_TREE_ADDED_ROWS_CUH

#include "view.cuh"

namespace {

/* An added row; all lanes of a warp have the same. */
template <class Bound>
struct AddedRow {
    const Bound *val;
    const unsigned *col;
    int length; /* -1: there is none */
    double2 side;
};

template <class Val, class Bound>
__device__ AddedRow<Bound> added_row(const Propagator<Val, Bound> &p, const Tree<Bound> &t, int index) {
    return {t.val + t.first[index], t.col + t.first[index], t.length[index], p.sides[t.first_slot + index]};
}

/* Its activities, in all lanes, in the order that row.h fixes. */
template <class Bound>
__device__ gpuopt__propagator_activities sum_added(const gpuopt__propagator_rules &rules, const Bound *now,
                                                   const AddedRow<Bound> &row) {
    const int lane = static_cast<int>(threadIdx.x % WARP), segment = GPUOPT__PROPAGATOR_SEGMENT,
              width = row.length <= GPUOPT__PROPAGATOR_SHORT ? +GROUP : +WARP; /* all groups have the same short row */
    gpuopt__propagator_activities all = gpuopt__propagator_activities_start();
#pragma unroll 1
    for (int before = 0; before == 0 || before < row.length; before += segment) {
        gpuopt__propagator_activities part = gpuopt__propagator_activities_start();
#pragma unroll 1
        for (int k = before + lane % width; k < min(before + segment, row.length); k += width) {
            const double2 pair = load_pair(now, row.col[k]);
            gpuopt__propagator_activities_add(&part, &rules, static_cast<double>(row.val[k]), pair.x, pair.y);
        }
        merge_activities(part, width);
        if (row.length <= segment) return part;
        if (before / segment % WARP == lane) gpuopt__propagator_activities_merge(&all, &part);
    }
    merge_activities(all, WARP);
    return all;
}

/* Whether an added row is infeasible; the same in all lanes. */
template <class Bound>
__device__ bool added_infeasible(const gpuopt__propagator_rules &rules, const Bound *now, const AddedRow<Bound> &row,
                                 const gpuopt__propagator_row &limits) {
    if (!limits.violated) return false;
    const gpuopt__pair size = entry_magnitudes(rules, now, row.val, row.col, 1, row.length);
    return gpuopt__propagator_limit_violated(&limits.limit[0], &rules, row.side.y, __shfl_sync(~0u, size.first, 0)) ||
           gpuopt__propagator_limit_violated(&limits.limit[1], &rules, row.side.x, __shfl_sync(~0u, size.second, 0));
}

/* Calls move(side, bound, pair) for each bound that the entries first, first + step, ... before `end` of a row imply;
 * pair: the bounds that the column has. */
template <class Entry, class Val, class Bound, class F>
__device__ void each_move(const Propagator<Val, Bound> &p, const Bound *now, const gpuopt__propagator_row &limits,
                          const Entry *val, const unsigned *col, int first, int end, int step, F move) {
#pragma unroll 1
    for (int k = first; k < end; k += step) {
        const double a = static_cast<double>(val[k]);
        const double2 pair = load_pair(now, col[k]);
        const int sides = gpuopt__propagator_reaching_sides(&limits, &p.rules, a, pair.x, pair.y),
                  kind = sides && !(pair.x < pair.y) ? p.kind[col[k] / 2] : static_cast<int>(col[k] & 1);
#pragma unroll 1
        for (int lhs = 0; sides >> lhs; lhs++) {
            double bound = 0;
            int moved = 0;
            if (sides >> lhs & 1)
                moved = gpuopt__propagator_tighten(lhs ? &limits.limit[1] : &limits.limit[0], &p.rules, lhs ? -a : a,
                                                   pair.x, pair.y, kind, &bound);
            if (moved) move((col[k] & ~1u) | (moved == GPUOPT__PROPAGATOR_UPPER ? 1u : 0u), bound, pair);
        }
    }
}

/* Calls move() for the bounds that added rows imply, and infeasible(index) for infeasible rows. */
template <class Val, class Bound, class F, class G>
__device__ void each_added_move(const Propagator<Val, Bound> &p, const Tree<Bound> &t, unsigned turn, F move,
                                G infeasible) {
    const Bound *now = p.bounds[turn & 1];
    const int lane = static_cast<int>(threadIdx.x % WARP);
#pragma unroll 1
    for (int index = grid_warp(); index < t.added; index += grid_warps()) {
        const AddedRow<Bound> row = added_row(p, t, index);
        if (row.length < 0) continue;
        const gpuopt__propagator_activities activities = sum_added(p.rules, now, row);
        const gpuopt__propagator_row limits =
            gpuopt__propagator_row_make(&activities, &p.rules, row.side.x, row.side.y, row.length);
        if (added_infeasible(p.rules, now, row, limits)) {
            infeasible(index);
            continue;
        }
        each_move(p, now, limits, row.val, row.col, lane, row.length, WARP,
                  [&](unsigned side, double bound, double2 pair) { move(index, side, bound, pair); });
        __syncwarp();
    }
}

/* Tightens bounds by the added rows, as tighten_step() does by the others. */
template <class Val, class Bound>
__device__ void tighten_added(const Propagator<Val, Bound> &p, const Tree<Bound> &t, BlockFlags &flags, unsigned turn) {
    const int lane = static_cast<int>(threadIdx.x % WARP);
    auto move = [&](int, unsigned side, double bound, double2 old) {
        const bool upper = side & 1;
        double2 was = old;
        if (!improve(p.bounds[~turn & 1] + (side & ~1u), upper, bound, was)) return;
        const double lb = upper ? gpuopt__max(was.x, old.x) : bound, ub = upper ? bound : gpuopt__min(was.y, old.y);
        if (gpuopt__propagator_crossed(&p.rules, lb, ub)) {
            atomicMin(&p.state->found_col, static_cast<int>(side / 2));
            raise_flag<cuda::thread_scope_block>(flags.infeasible);
        }
        if (upper ? was.y < old.y : was.x > old.x) return; /* another thread has listed the side */
        atomicAdd(&flags.lifted, 1u);
        p.list[turn & 1][atomicAdd(&round_of(p.state, turn).count, 1u)] = side;
    };
    auto infeasible = [&](int index) {
        if (lane == 0) atomicMin(&p.state->found_row, p.rows + index);
        raise_flag<cuda::thread_scope_block>(flags.infeasible);
    };
    each_added_move(p, t, turn, move, infeasible);
    unsigned long long evaluated = 0;
    for (int index = grid_thread(); index < t.added; index += grid_threads())
        evaluated += static_cast<unsigned long long>(max(t.length[index], 0));
    if (evaluated) atomicAdd(&p.state->evaluated_ever, evaluated);
}

/* Finds the lowest row that implies each bound that a round has moved. */
template <class Val, class Bound>
__device__ void attribute_step(const Propagator<Val, Bound> &p, const Tree<Bound> &t, BlockShared &block,
                               unsigned turn) {
    Tightener<false, Val, Bound> warp(p, block, turn, p.val, p.col);
    const Bound *next = p.bounds[~turn & 1];
    auto claim = [&](int row, unsigned side, double bound) {
        if (bound == static_cast<double>(__ldcg(next + side))) atomicMin(&t.reason[side], row);
    };
    each_passed(
        p, turn, [&](const RowRef &ref, bool is_short, bool passed, bool, const gpuopt__propagator_activities *known) {
            const int width = is_short ? +GROUP : +WARP, unit = is_short ? +WARP : 1, first = warp.lane % width * unit;
            int end = passed ? ref.size * unit : 0;
            gpuopt__propagator_activities activities;
            if (known) {
                activities = *known;
            } else {
                activities = warp.sum(ref.at, first, end, width * unit);
                merge_activities(activities, width);
            }
            const gpuopt__propagator_row limits =
                gpuopt__propagator_row_make(&activities, &p.rules, ref.side.x, ref.side.y, ref.length);
            const unsigned violated = __ballot_sync(~0u, passed && limits.violated);
            if (violated && warp.confirm(limits, ref, width, violated)) end = 0;
            const int row = passed ? p.row[ref.slot] : 0;
            each_move(p, warp.now, limits, p.val + ref.at, p.col + ref.at, first, end, width * unit,
                      [&](unsigned side, double bound, double2) { claim(row, side, bound); });
            __syncwarp();
        });
    each_added_move(
        p, t, turn, [&](int index, unsigned side, double bound, double2) { claim(p.rows + index, side, bound); },
        [](int) {});
}

} // namespace

#endif /* GPUOPT_CUDA_PROPAGATE_TREE_ADDED_ROWS_CUH */
