/* SPDX-License-Identifier: MIT
 *
 * Propagation on the GPU: the steps of a round that make up the kernels: mark, settle, filter, sum segments, tighten.
 * All threads of the grid take part in each.
 */
#ifndef GPUOPT_CUDA_PROPAGATE_ROUNDS_STEPS_CUH
#define GPUOPT_CUDA_PROPAGATE_ROUNDS_STEPS_CUH

#include "tighten.cuh"

namespace {

/* Whether this round evaluates every row rather than only the rows that it marks. The columns that moved mark about as
 * many rows as they have entries, and a marked row costs several times as much as a row in a full pass. */
template <class Val, class Bound>
__device__ bool is_full(const Propagator<Val, Bound> &p, unsigned moved, int all_marked) {
    return !p.stamp || all_marked || moved > p.most_moved;
}

/* The epoch of this round, `later` rounds after the state's. */
__device__ unsigned long long epoch_of(const PropagatorState *state, int later) {
    return state->epoch + static_cast<unsigned>(later);
}

/* Appends the slots of the threads in `mask` to a list; all threads of the warp take part. */
__device__ void append(unsigned mask, int slot, unsigned *count, int *list) {
    unsigned lane = threadIdx.x % WARP, at = 0;
    if (mask == 0) return;
    if (lane == 0) at = atomicAdd(count, static_cast<unsigned>(__popc(mask)));
    at = __shfl_sync(~0u, at, 0) + static_cast<unsigned>(__popc(mask & ((1u << lane) - 1)));
    if (mask >> lane & 1) list[at] = slot;
}

/* Marks the rows of the `count` columns that the previous round moved. If there are few, several warps share one. */
template <class Val, class Bound>
__device__ void mark_step(const Propagator<Val, Bound> &p, int count, unsigned turn, int later) {
    const unsigned *list = p.list[~turn & 1];
    Round &round = round_of(p.state, turn);
    const unsigned long long epoch = epoch_of(p.state, later);
    int lane = static_cast<int>(threadIdx.x % WARP);
    if (count == 0) return;
    int share = max(1, grid_warps() / count), groups = max(1, grid_warps() / share);
    for (int i = grid_warp() / share; i < count; i += groups) {
        int col = static_cast<int>(list[i] / 2);
        long long end = p.col_start[col + 1];
        for (long long k = p.col_start[col] + grid_warp() % share * WARP; k < end; k += share * WARP) {
            int slot = k + lane < end ? p.col_slot[k + lane] : 0;
            bool fresh = k + lane < end && atomicExch(&p.stamp[slot], epoch) != epoch;
            append(__ballot_sync(~0u, fresh && slot < p.first_warp_slot()), slot, &round.short_marked, p.marked);
            append(__ballot_sync(~0u, fresh && slot >= p.first_warp_slot() && slot < p.first_split_slot()), slot,
                   &round.warp_marked, p.marked + p.first_warp_slot()); /* split rows need only their stamp */
        }
    }
}

/* Updates the sides that the previous round moved in the bounds that this round writes. Starts with the last threads,
 * which may have no rows. */
template <class Val, class Bound>
__device__ void settle_step(const Propagator<Val, Bound> &p, unsigned turn) {
    const unsigned *list = p.list[~turn & 1];
    unsigned count = min(__ldcg(&round_of(p.state, turn_before(turn)).count), 2u * static_cast<unsigned>(p.cols));
#pragma unroll 1
    for (unsigned i = static_cast<unsigned>(grid_threads() - 1 - grid_thread()); i < count;
         i += static_cast<unsigned>(grid_threads()))
        settle_side(p, turn, list[i]);
}

/* ---- The filter ---- */

/* Stores the filter of a segment. The last warp of the row to arrive merges the segments' filters and, if the row
 * passes, lists its segments. */
template <class Val, class Bound>
__device__ void filter_split_row(const Propagator<Val, Bound> &p, BlockFlags &flags, Round &round, int index,
                                 const gpuopt__propagator_filter &part) {
    int lane = static_cast<int>(threadIdx.x % WARP), split = p.segment_row[index],
        segments = p.segment_start[split + 1] - p.segment_start[split];
    if (lane == 0) p.partial[index].filter = part;
    if (!last_of_row(p, split)) return;
    gpuopt__propagator_filter f = gpuopt__propagator_filter_start();
    for (int k = lane; k < segments; k += WARP) {
        const gpuopt__propagator_filter *from =
            &p.partial[p.segment_start[split] + k].filter; /* of other warps: bypasses the L1 cache */
        gpuopt__propagator_filter other = {
            __ldcg(&from->middle),   __ldcg(&from->width),    __ldcg(&from->magnitude),    __ldcg(&from->reach),
            __ldcg(&from->min_rest), __ldcg(&from->max_rest), __ldcg(&from->min_infinite), __ldcg(&from->max_infinite)};
        gpuopt__propagator_filter_merge(&f, &other);
    }
    merge_filters(f, WARP);
    double2 side = p.sides[p.first_split_slot() + split];
    if (!gpuopt__propagator_filter_passes(&f, &p.rules, side.x, side.y,
                                          GPUOPT__PROPAGATOR_SEGMENT / WARP + 10 + segments / WARP))
        return;
    unsigned at = 0;
    if (lane == 0) at = atomicAdd(&round.segment_passed, static_cast<unsigned>(segments));
    at = __shfl_sync(~0u, at, 0);
    for (int k = lane; k < segments; k += WARP)
        p.passed_segment[at + static_cast<unsigned>(k)] = p.segment_start[split] + k;
    raise_flag<cuda::thread_scope_block>(flags.split);
}

/* Filters all rows or the marked ones, and lists the rows that pass. Long rows come first, so that no warp starts one
 * at the end. A thread filters a short row; short rows that pass are listed 32 at a time. */
template <class Val, class Bound>
__device__ __forceinline__ void filter_step(const Propagator<Val, Bound> &p, BlockFlags &flags, unsigned turn,
                                            int later, bool full) {
    __shared__ int queues[WARPS][2 * WARP];
    int *queue = queues[threadIdx.x / WARP], queued = 0;
    const Bound *now = p.bounds[turn & 1];
    Round &round = round_of(p.state, turn);
    const int lane = static_cast<int>(threadIdx.x % WARP);
    const int rows =
        p.segments + (full ? p.warp_rows : static_cast<int>(__ldcg(&round.warp_marked))); /* and segments of rows */
    const int shorts = full ? p.slices * WARP : static_cast<int>(__ldcg(&round.short_marked));
    const int items = rows + (shorts + WARP - 1) / WARP;
    unsigned long long evaluated =
        full && p.stamp && grid_thread() == 0 ? static_cast<unsigned long long>(p.nonzeros) : 0;
#pragma unroll 1
    for (int item = grid_warp(); item < items; item += grid_warps()) {
        bool is_segment = item < p.segments, is_short = item >= rows;
        RowRef ref = {0, 0, 0, 0, make_double2(-HUGE_VAL, HUGE_VAL)};
        if (is_segment) {
            ref = segment_at(p, item);
            if (!full && p.stamp[ref.slot] != epoch_of(p.state, later)) continue;
        } else if (!is_short || (item - rows) * WARP + lane < shorts) {
            int slot = is_short ? (item - rows) * WARP + lane : p.first_warp_slot() + item - p.segments;
            ref = row_at(p, full ? slot : p.marked[slot]);
        }
        if (!full && (is_short || lane == 0)) evaluated += static_cast<unsigned long long>(ref.size);
        gpuopt__propagator_filter f = filter_entries(p, now, p.val + ref.at, p.col + ref.at, is_short ? 0 : lane,
                                                     is_short ? ref.size * WARP : ref.size);
        if (!is_short) merge_filters(f, WARP);
        if (is_segment) {
            filter_split_row(p, flags, round, item, f);
            continue;
        }
        bool pass = gpuopt__propagator_filter_passes(&f, &p.rules, ref.side.x, ref.side.y, GPUOPT__PROPAGATOR_SHORT);
        unsigned mask = __ballot_sync(~0u, pass && (is_short || lane == 0));
        if (mask == 0) continue;
        raise_flag<cuda::thread_scope_block>(flags.passed);
        if (!is_short) {
            append(mask, ref.slot, &round.warp_passed, p.passed + p.first_warp_slot());
            continue;
        }
        if (pass) queue[queued + __popc(mask & ((1u << lane) - 1))] = ref.slot;
        queued += __popc(mask);
        __syncwarp();
        if (queued < WARP) continue;
        queued -= WARP;
        append(~0u, queue[queued + lane], &round.short_passed, p.passed);
        __syncwarp();
    }
    append((1u << queued) - 1, queue[lane], &round.short_passed, p.passed);
    if (evaluated) atomicAdd(&p.state->evaluated_ever, evaluated);
}

/* ---- Rows that passed ---- */

__device__ gpuopt__pair other_pair(const gpuopt__pair &from) { /* of another warp: bypasses the L1 cache */
    return {__ldcg(&from.first), __ldcg(&from.second)};
}

/* Sums the listed segments; the last warp of a row to arrive adds them up. */
template <class Val, class Bound>
__device__ void segment_step(const Propagator<Val, Bound> &p, BlockShared &block, unsigned turn) {
    Tightener<false, Val, Bound> warp(p, block, turn, p.val, p.col);
    int items = static_cast<int>(__ldcg(&round_of(p.state, turn).segment_passed));
#pragma unroll 1
    for (int item = grid_warp(); item < items; item += grid_warps()) {
        int index = __ldcg(&p.passed_segment[item]), split = p.segment_row[index];
        RowRef ref = segment_at(p, index);
        gpuopt__propagator_activities part = warp.sum(ref.at, warp.lane, ref.size, WARP);
        merge_activities(part, WARP);
        if (warp.lane == 0) p.partial[index].activities = part;
        if (!last_of_row(p, split)) continue;
        gpuopt__propagator_activities all = gpuopt__propagator_activities_start();
        for (int k = p.segment_start[split] + warp.lane; k < p.segment_start[split + 1]; k += WARP) {
            const gpuopt__propagator_activities *from = &p.partial[k].activities;
            part = {other_pair(from->hi),
                    other_pair(from->lo),
                    other_pair(from->error_sum),
                    {__ldcg(&from->infinite.first), __ldcg(&from->infinite.second)}};
            gpuopt__propagator_activities_merge(&all, &part);
        }
        merge_activities(all, WARP);
        if (warp.lane == 0) p.total[split] = all;
    }
}

/* Calls f(ref, is_short, passed, last, known) for the listed segments and rows: a warp takes a segment or a long row, a
 * group of threads a short one. passed: whether there is a row; last: whether the warp has no other; known:
 * activities. */
template <class Val, class Bound, class F>
__device__ __forceinline__ void each_passed(const Propagator<Val, Bound> &p, unsigned turn, F f) {
    const int lane = static_cast<int>(threadIdx.x % WARP);
    const Round &round = round_of(p.state, turn);
    const int segments = static_cast<int>(__ldcg(&round.segment_passed)),
              shorts = static_cast<int>(__ldcg(&round.short_passed));
    const int longs = segments + static_cast<int>(__ldcg(&round.warp_passed)),
              items = longs + (shorts + GROUPS - 1) / GROUPS;
#pragma unroll 1
    for (int item = grid_warp(); item < items; item += grid_warps()) {
        bool is_short = item >= longs, passed = true;
        RowRef ref = {0, 0, 0, 0, make_double2(-HUGE_VAL, HUGE_VAL)};
        const gpuopt__propagator_activities *known = nullptr;
        if (item < segments) {
            int index = __ldcg(&p.passed_segment[item]);
            ref = segment_at(p, index);
            known = &p.total[p.segment_row[index]];
        } else {
            int index = is_short ? (item - longs) * GROUPS + lane / GROUP : p.first_warp_slot() + item - segments;
            passed = !is_short || index < shorts;
            if (passed) ref = row_at(p, __ldcg(&p.passed[index]));
        }
        f(ref, is_short, passed, item + grid_warps() >= items, known);
    }
}

/* Tightens bounds by the listed rows. */
template <class Val, class Bound>
__device__ void tighten_step(const Propagator<Val, Bound> &p, BlockShared &block, unsigned turn) {
    Tightener<false, Val, Bound> warp(p, block, turn, p.val, p.col);
    each_passed(
        p, turn,
        [&](const RowRef &ref, bool is_short, bool passed, bool last, const gpuopt__propagator_activities *known) {
            warp.sum_and_tighten(ref, is_short ? GROUP : WARP, is_short ? WARP : 1, passed, last, known);
        });
}

/* ---- After the rounds ---- */

/* Adds the largest shrinkage of a bound's distance that this thread has seen to the state; all threads of the warp take
 * part. Nonnegative numbers have the order of their bits. */
__device__ void offer_shrinkage(PropagatorState *state, double shrinkage) {
    for (int half = WARP / 2; half > 0; half /= 2)
        shrinkage = gpuopt__max(shrinkage, __shfl_xor_sync(~0u, shrinkage, half));
    const auto bits = static_cast<unsigned long long>(__double_as_longlong(shrinkage));
    if (threadIdx.x % WARP == 0 && bits > __ldcg(&state->shrinkage)) atomicMax(&state->shrinkage, bits);
}

/* Writes the report of a call. Run by one thread. */
template <class Val, class Bound>
__device__ void report_step(const Propagator<Val, Bound> &p, int rounds) {
    PropagatorState *state = p.state;
    unsigned long long evaluated = __ldcg(&state->evaluated_ever);
    int row = __ldcg(&state->infeasible_row), col = __ldcg(&state->infeasible_col);
    CallReport *report = p.report;
    report->rounds = rounds;
    report->changed = state->changed;
    report->nonzeros = p.stamp ? evaluated - state->evaluated_before
                               : static_cast<unsigned long long>(rounds) * static_cast<unsigned long long>(p.nonzeros);
    report->infeasible_row = row == INT_MAX ? -1 : row;
    report->infeasible_col = col == INT_MAX ? -1 : col;
    report->outcome = row != INT_MAX || col != INT_MAX           ? GPUOPT_INFEASIBLE
                      : state->converged                         ? GPUOPT_CONVERGED
                      : state->rounds_since_set >= p.round_limit ? GPUOPT_LIMIT
                                                                 : GPUOPT_MORE;
    report->shrinkage = __longlong_as_double(static_cast<long long>(__ldcg(&state->shrinkage)));
    state->shrinkage = 0;
    state->evaluated_before = evaluated;
}

/* After a call: makes both copies of the bounds equal. measure: returns the largest shrinkage of the sides that the
 * last round has moved, over this thread's part of them. */
template <class Val, class Bound>
__device__ double equalise_step(const Propagator<Val, Bound> &p, unsigned turn, bool measure) {
    const unsigned *list = p.list[turn & 1];
    const Bound *newest = p.bounds[~turn & 1];
    Bound *other = p.bounds[turn & 1];
    unsigned count = __ldcg(&round_of(p.state, turn).count);
    double most = 0;
    for (unsigned i = static_cast<unsigned>(grid_thread()); i < count; i += static_cast<unsigned>(grid_threads())) {
        unsigned side = list[i];
        const Bound bound = __ldcg(newest + side);
        if (measure) /* the column's other side may be overwritten by now, but not in the newest copy */
            most = gpuopt__max(most, gpuopt__propagator_shrinkage(static_cast<int>(side & 1), other[side], bound,
                                                                  __ldcg(newest + (side ^ 1))));
        other[side] = bound;
    }
    return most;
}

} // namespace

#endif /* GPUOPT_CUDA_PROPAGATE_ROUNDS_STEPS_CUH */
