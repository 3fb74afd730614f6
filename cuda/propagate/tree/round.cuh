/* SPDX-License-Identifier: MIT
 *
 * A tree search on the GPU: rounds that record their changes, all rounds of a call in one cooperative launch.
 */
#ifndef GPUOPT_CUDA_PROPAGATE_TREE_ROUND_CUH
#define GPUOPT_CUDA_PROPAGATE_TREE_ROUND_CUH

#include "../rounds/kernels.cuh"
#include "added_rows.cuh"

namespace {

/* ---- A round's changes ---- */

/* Writes the change of a bound at its place in the trail. */
template <class Val, class Bound>
__device__ void enter_change(const Propagator<Val, Bound> &p, const Tree<Bound> &t, unsigned turn, unsigned side,
                             int at, int seen, int row) {
    t.trail[at] = {static_cast<double>(p.bounds[turn & 1][side]),
                   static_cast<double>(__ldcg(p.bounds[~turn & 1] + side)),
                   side,
                   row,
                   t.last[side],
                   seen};
    t.last[side] = at;
}

/* The row of a change, known as soon as all rows have been attributed. */
template <class Bound>
__device__ int take_reason(const Tree<Bound> &t, unsigned side, int at) {
    const int row = __ldcg(&t.reason[side]);
    t.reason[side] = INT_MAX;
    atomicMin(&t.altered[row], at);
    return row;
}

/* Enters the listed sides, without their rows: each at its rank. A warp takes a side. */
template <class Val, class Bound>
__device__ void rank_step(const Propagator<Val, Bound> &p, const Tree<Bound> &t, unsigned turn, int moved,
                          int changes) {
    const unsigned *list = p.list[turn & 1];
    const int lane = static_cast<int>(threadIdx.x % WARP);
    for (int i = grid_warp(); i < moved; i += grid_warps()) {
        const unsigned side = list[i];
        int before = 0;
        for (int k = lane; k < moved; k += WARP) before += list[k] < side;
        for (int half = WARP / 2; half > 0; half /= 2) before += __shfl_xor_sync(~0u, before, half);
        if (lane == 0) enter_change(p, t, turn, side, changes + before, changes, -1);
    }
}
template <class Val, class Bound>
__device__ void name_step(const Propagator<Val, Bound> &p, const Tree<Bound> &t, unsigned turn, int moved) {
    for (int i = grid_thread(); i < moved; i += grid_threads()) {
        const unsigned side = p.list[turn & 1][i];
        const int at = t.last[side];
        t.trail[at].row = take_reason(t, side, at);
    }
}

/* The sides of a block's part in a sweep. */
struct SweepPart {
    long long from, to;
};
template <class Val, class Bound>
__device__ SweepPart sweep_part(const Propagator<Val, Bound> &p) {
    const long long sides = 2ll * p.cols, each = (sides + gridDim.x - 1) / gridDim.x;
    return {min(sides, blockIdx.x * each), min(sides, (blockIdx.x + 1) * each)};
}
template <class Val, class Bound>
__device__ bool has_moved(const Propagator<Val, Bound> &p, unsigned turn, long long side, long long end) {
    return side < end && __ldcg(p.bounds[~turn & 1] + side) != p.bounds[turn & 1][side];
}

/* Counts the sides in the block's part that have moved. */
template <class Val, class Bound>
__device__ void count_step(const Propagator<Val, Bound> &p, const Tree<Bound> &t, unsigned turn) {
    const SweepPart part = sweep_part(p);
    unsigned count = 0;
    for (long long from = part.from; from < part.to; from += THREADS)
        count += static_cast<unsigned>(__syncthreads_count(has_moved(p, turn, from + threadIdx.x, part.to)));
    if (threadIdx.x == 0) t.block_count[blockIdx.x] = count;
}

/* Enters them, after the sides of the preceding blocks. */
template <class Val, class Bound>
__device__ void sweep_step(const Propagator<Val, Bound> &p, const Tree<Bound> &t, unsigned turn, int changes) {
    __shared__ unsigned before, of_warp[WARPS];
    const SweepPart part = sweep_part(p);
    const unsigned lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    unsigned mine = 0;
    if (threadIdx.x == 0) before = 0;
    __syncthreads();
    for (unsigned block = threadIdx.x; block < blockIdx.x; block += THREADS) mine += __ldcg(&t.block_count[block]);
    if (mine) atomicAdd(&before, mine);
    for (long long from = part.from; from < part.to; from += THREADS) {
        const long long side = from + threadIdx.x;
        const bool moved = has_moved(p, turn, side, part.to);
        const unsigned mask = __ballot_sync(~0u, moved);
        if (lane == 0) of_warp[warp] = static_cast<unsigned>(__popc(mask));
        __syncthreads();
        unsigned at = before + static_cast<unsigned>(__popc(mask & ((1u << lane) - 1))), all = 0;
        for (unsigned k = 0; k < WARPS; k++) all += of_warp[k], at += k < warp ? of_warp[k] : 0;
        if (moved) {
            const int place = changes + static_cast<int>(at);
            const auto number = static_cast<unsigned>(side);
            enter_change(p, t, turn, number, place, changes, take_reason(t, number, place));
        }
        __syncthreads();
        if (threadIdx.x == 0) before += all;
        __syncthreads();
    }
}

/* Enters the `moved` sides of a round into a trail of `changes` changes. */
template <class Val, class Bound>
__device__ void record_round(const Propagator<Val, Bound> &p, const Tree<Bound> &t, GridBarrier &barrier,
                             BlockShared &block, unsigned turn, int moved, int changes) {
    unsigned long long none = 0;
    const bool ranked = moved <= TREE_RANKED;
    attribute_step(p, t, block, turn);
    if (ranked) rank_step(p, t, turn, moved, changes);
    else count_step(p, t, turn);
    exchange(barrier, block, none);
    if (ranked) {
        name_step(p, t, turn, moved);
    } else {
        sweep_step(p, t, turn, changes);
        exchange(barrier, block, none); /* the next round overwrites the bounds from before this one */
    }
}

/* Takes back a round with more changes than fit. */
template <class Val, class Bound>
__device__ void withdraw_round(const Propagator<Val, Bound> &p, unsigned turn, int moved) {
    for (int i = grid_thread(); i < moved; i += grid_threads()) {
        const unsigned side = p.list[turn & 1][i];
        p.bounds[~turn & 1][side] = p.bounds[turn & 1][side];
    }
}

/* ---- Rounds ---- */

/* Copies the changes from position `from` on, if they are few, and the state to host memory. Run by one block. */
template <class Bound>
__device__ void show_tree(const PropagatorState &state, const Tree<Bound> &t, int from) {
    const int changes = t.state->changes;
    if (changes - from <= TREE_NEAR)
        for (int k = from + static_cast<int>(threadIdx.x); k < changes; k += static_cast<int>(blockDim.x))
            t.window->change[k - from] = t.trail[k];
    if (threadIdx.x) return;
    t.window->now = level_now(state, changes);
    t.window->full = t.state->full;
}

/* The counterpart of run_rounds(). from: length of the part of the trail that the CPU already has. */
template <class Val, class Bound>
__global__ void __launch_bounds__(THREADS, 2)
    run_tree_rounds(const __grid_constant__ Propagator<Val, Bound> p, const __grid_constant__ Tree<Bound> t, int rounds,
                    int from) {
    __shared__ BlockShared block;
    PropagatorState *state = p.state;
    const long long first_since = state->rounds_since_set;
    unsigned turn = state->turn;
    GridBarrier barrier(p.arrived, MAX_BLOCKS, state->barriers);
    unsigned long long changed = 0, none = 0;
    int changes = t.state->changes, all_marked = state->all_marked, done = 0;
    bool infeasible = is_infeasible(*state), converged = false, full = false;
    block.clear();
    while (done < rounds && first_since + done < p.round_limit && !infeasible && !converged) {
        Found found = pass_step(p, block, barrier, turn, done, all_marked);
        infeasible = found.infeasible;
        if (found.passed || found.split) tighten_step(p, block, turn);
        if (t.added) tighten_added(p, t, block.flags, turn);
        infeasible |= exchange(barrier, block, none).infeasible;
        const unsigned moved = __ldcg(&round_of(state, turn).count);
        full = t.capacity && moved > static_cast<unsigned>(t.capacity - changes);
        if (full) break;
        if (t.capacity && moved) {
            record_round(p, t, barrier, block, turn, static_cast<int>(moved), changes);
            changes += static_cast<int>(moved);
        }
        changed += moved;
        all_marked = 0;
        converged = moved == 0;
        turn = turn_after(turn), done++;
    }
    if (full) withdraw_round(p, turn, static_cast<int>(__ldcg(&round_of(state, turn).count)));
    const bool goes_on = done && !infeasible && !converged && !full;
    const double shrinkage = done ? equalise_step(p, turn_before(turn), goes_on) : 0;
    if (goes_on) offer_shrinkage(state, shrinkage);
    if (done || full) exchange(barrier, block, none);
    if (blockIdx.x) return;
    if (threadIdx.x == 0) {
        const int was_converged = state->converged;
        /* Beyond the epoch of a withdrawn round, since its rows are stamped; the same turn. */
        state->epoch = epoch_of(state, full ? done + TURNS : done);
        state->turn = turn;
        state->barriers = barrier.number();
        state->rounds_since_set = first_since + done;
        state->all_marked = full || (done ? 0 : all_marked);
        state->converged = converged;
        state->rounds = done;
        state->changed = changed;
        t.state->changes = changes;
        if (full) round_of(state, turn) = Round{}, state->found_row = state->found_col = INT_MAX;
        adopt_found(state);
        report_step(p, done);
        if (!done && !full) state->converged = was_converged; /* no change */
        if (full) p.report->outcome = GPUOPT_FULL;
    }
    __syncthreads();
    show_tree(*state, t, from);
}

} // namespace

#endif /* GPUOPT_CUDA_PROPAGATE_TREE_ROUND_CUH */
