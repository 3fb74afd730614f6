/* SPDX-License-Identifier: MIT
 *
 * Propagation on the GPU: the kernels. The cooperative driver runs all rounds of a call in one launch; the CPU and
 * graph drivers launch the steps of a round one by one. The state on the device holds all data of earlier calls that a
 * call needs, so calls can be enqueued without waiting.
 */
#ifndef GPUOPT_CUDA_PROPAGATE_ROUNDS_KERNELS_CUH
#define GPUOPT_CUDA_PROPAGATE_ROUNDS_KERNELS_CUH

#include "../../common/grid_barrier.cuh"
#include "resident.cuh"

namespace {

__device__ bool is_infeasible(const PropagatorState &state) {
    return state.infeasible_row != INT_MAX || state.infeasible_col != INT_MAX;
}

/* Adds the results of the latest rounds to the verdict; run by one thread. The rounds themselves do not write to the
 * verdict. A block of the cooperative driver that starts late would mistake it for the verdict of an earlier call. It
 * would run no round, and the others would wait for that block at the grid's barrier. */
__device__ void adopt_found(PropagatorState *state) {
    state->infeasible_row = min(state->infeasible_row, __ldcg(&state->found_row));
    state->infeasible_col = min(state->infeasible_col, __ldcg(&state->found_col));
    state->found_row = state->found_col = INT_MAX;
}

/* ---- All rounds in one launch ---- */

/* The results of the blocks of a grid at a barrier. */
struct Found {
    bool lifted, infeasible, split, passed;
};

/* Waits until all blocks of the grid have arrived; their earlier writes are visible after. Each contributes its
 * results. Adds the counts of moved sides that this thread reads to `lifted`. */
__device__ Found exchange(GridBarrier &barrier, BlockShared &block, unsigned long long &lifted) {
    enum : unsigned { INFEASIBLE = 1u << 28, SPLIT = 1u << 29, PASSED = 1u << 30, LIFTED = INFEASIBLE - 1 };
    BlockFlags &flags = block.flags;
    const unsigned set = barrier.next_set();
    unsigned mine = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        barrier.arrive(min(flags.lifted, +LIFTED) | (flags.infeasible ? INFEASIBLE : 0u) | (flags.split ? SPLIT : 0u) |
                       (flags.passed ? PASSED : 0u));
        flags = {0, 0, 0, 0};
        block.joined[!set] = 0;
    }
    barrier.wait(threadIdx.x, THREADS, [&](unsigned word) {
        mine |= word;
        lifted += word & LIFTED;
    });
    mine = any_of_warp(mine);
    if (mine && threadIdx.x % WARP == 0) atomicOr(&block.joined[set], mine);
    __syncthreads();
    mine = block.joined[set];
    return {(mine & LIFTED) != 0, (mine & INFEASIBLE) != 0, (mine & SPLIT) != 0, (mine & PASSED) != 0};
}

/* The steps of a round before bounds move, with the rows in global memory. Returns whether there are rows that passed
 * the filter, split ones or others, and whether a split one is infeasible. done: rounds before it in this launch. */
template <class Val, class Bound>
__device__ __forceinline__ Found pass_step(const Propagator<Val, Bound> &p, BlockShared &block, GridBarrier &barrier,
                                           unsigned turn, int done, int all_marked) {
    unsigned moved = __ldcg(&round_of(p.state, turn_before(turn)).count);
    unsigned long long none = 0;
    bool full = is_full(p, moved, all_marked);
    if (grid_thread() == 0) round_of(p.state, turn_after(turn)) = Round{};
    if (!full) {
        mark_step(p, static_cast<int>(moved), turn, done);
        exchange(barrier, block, none);
    }
    settle_step(p, turn);
    filter_step(p, block.flags, turn, done, full);
    Found found = exchange(barrier, block, none);
    found.infeasible = false;
    if (found.split) {
        segment_step(p, block, turn);
        found.infeasible = exchange(barrier, block, none).infeasible;
    }
    return found;
}

/* The memory of the rows in a cooperative launch: global memory, or shared memory, without or with split rows. */
enum RowsIn { IN_MEMORY, RESIDENT, RESIDENT_SPLIT };

/* `items`, `entries`: the most that a warp has, if they are resident. */
template <RowsIn ROWS, class Val, class Bound>
__global__ void __launch_bounds__(THREADS, 2)
    run_rounds(const __grid_constant__ Propagator<Val, Bound> p, int rounds, int items, int entries) {
    GPUOPT_DYNAMIC_SHARED(unsigned char, memory);
    __shared__ BlockShared block;
    __shared__ SplitShared split; /* for the resident kernel */
    __shared__ unsigned long long all_lifted;
    Resident<Val, Bound> resident(memory, items, entries);
    PropagatorState *state = p.state;
    const long long first_since = state->rounds_since_set;
    unsigned turn = state->turn;
    GridBarrier barrier(p.arrived, MAX_BLOCKS, state->barriers);
    unsigned long long lifted = 0;
    int all_marked = state->all_marked, done = 0;
    bool infeasible = is_infeasible(*state), converged = false;
    if (threadIdx.x == 0) all_lifted = 0;
    block.clear();
    if (ROWS != IN_MEMORY) resident.load(p, ROWS == RESIDENT_SPLIT);
    while (done < rounds && first_since + done < p.round_limit && !infeasible && !converged) {
        if constexpr (ROWS != IN_MEMORY) {
            resident_step<ROWS == RESIDENT_SPLIT>(p, block, split, resident, turn);
        } else {
            Found found = pass_step(p, block, barrier, turn, done, all_marked);
            infeasible = found.infeasible;
            if (found.passed || found.split) tighten_step(p, block, turn);
            all_marked = 0;
        }
        Found found = exchange(barrier, block, lifted);
        infeasible |= found.infeasible;
        converged = !found.lifted;
        turn = turn_after(turn), done++;
    }
    const bool goes_on = done && !infeasible && !converged;
    double shrinkage = 0;
    if (ROWS != IN_MEMORY) shrinkage = resident.settle_last(p, block.warp[threadIdx.x / WARP], turn);
    else if (done) shrinkage = equalise_step(p, turn_before(turn), goes_on);
    if (goes_on) { /* the report below includes it */
        unsigned long long none = 0;
        offer_shrinkage(state, shrinkage);
        exchange(barrier, block, none);
    }
    if (blockIdx.x) return;
    if (lifted) atomicAdd(&all_lifted, lifted);
    __syncthreads();
    if (threadIdx.x) return;
    state->epoch = epoch_of(state, done);
    state->turn = turn;
    state->barriers = barrier.number();
    state->rounds_since_set = first_since + done;
    state->all_marked = done ? 0 : all_marked;
    state->converged = converged;
    state->rounds = done;
    state->changed = all_lifted;
    adopt_found(state);
    report_step(p, done);
}

/* ---- One step a launch ---- */

template <class Val, class Bound>
__global__ void begin_call(Propagator<Val, Bound> p, int rounds) {
    PropagatorState *state = p.state;
    state->remaining = rounds;
    state->done = rounds < 1 || is_infeasible(*state) || state->rounds_since_set >= p.round_limit;
    state->converged = 0;
    state->rounds = 0;
    state->changed = 0;
}

/* The data of the previous round for the steps. */
template <class Val, class Bound>
__device__ unsigned moved_before(const Propagator<Val, Bound> &p) {
    return round_of(p.state, turn_before(p.state->turn)).count;
}
template <class Val, class Bound>
__device__ bool is_full_now(const Propagator<Val, Bound> &p) {
    return !p.stamp || is_full(p, moved_before(p), p.state->all_marked);
}

template <class Val, class Bound>
__global__ void __launch_bounds__(THREADS) mark_rows(const __grid_constant__ Propagator<Val, Bound> p) {
    if (!p.state->done && !is_full_now(p)) mark_step(p, static_cast<int>(moved_before(p)), p.state->turn, 0);
}

template <class Val, class Bound>
__global__ void __launch_bounds__(THREADS, 3) filter_rows(const __grid_constant__ Propagator<Val, Bound> p) {
    __shared__ BlockFlags flags; /* not read here */
    if (!p.state->done) filter_step(p, flags, p.state->turn, 0, is_full_now(p));
}

template <class Val, class Bound>
__global__ void __launch_bounds__(THREADS, 2) sum_segments(const __grid_constant__ Propagator<Val, Bound> p) {
    __shared__ BlockShared block;
    if (!p.state->done) segment_step(p, block, p.state->turn);
}

template <class Val, class Bound>
__global__ void __launch_bounds__(THREADS, 2) tighten_rows(const __grid_constant__ Propagator<Val, Bound> p) {
    __shared__ BlockShared block; /* its flags are not read here */
    if (p.state->done) return;
    settle_step(p, p.state->turn);
    tighten_step(p, block, p.state->turn);
}

/* Closes a round and returns whether another one follows. Run by one thread. */
template <class Val, class Bound>
__device__ bool close_round(const Propagator<Val, Bound> &p) {
    PropagatorState *state = p.state;
    if (state->done) return false;
    const unsigned count = round_of(state, state->turn).count;
    state->changed += count;
    state->converged = count == 0;
    state->all_marked = 0;
    state->epoch++;
    state->turn = turn_after(state->turn);
    state->rounds++;
    state->rounds_since_set++;
    round_of(state, state->turn) = Round{};
    adopt_found(state);
    state->done = state->converged || is_infeasible(*state) || state->rounds_since_set >= p.round_limit ||
                  state->rounds >= state->remaining;
    return !state->done;
}

template <class Val, class Bound>
__global__ void end_round(Propagator<Val, Bound> p) {
    close_round(p);
    p.report->done = p.state->done;
}

#ifndef GPUOPT__PROPAGATOR_GRAPH_VERSION       /* the sanitizers' build sets a higher number than any:
                                          * tests/gpu/sanitize.sh */
#define GPUOPT__PROPAGATOR_GRAPH_VERSION 12040 /* the first CUDA with conditional nodes made by capture */
#endif
#if CUDART_VERSION >= GPUOPT__PROPAGATOR_GRAPH_VERSION
template <class Val, class Bound>
__global__ void end_graph_round(Propagator<Val, Bound> p, cudaGraphConditionalHandle again) {
    cudaGraphSetConditional(again, close_round(p) ? 1 : 0);
}
#endif

template <class Val, class Bound>
__global__ void __launch_bounds__(THREADS) end_call(Propagator<Val, Bound> p) {
    PropagatorState *state = p.state;
    const bool goes_on = !state->converged && !is_infeasible(*state);
    if (!state->rounds) return;
    const double shrinkage = equalise_step(p, turn_before(state->turn), goes_on);
    if (goes_on) offer_shrinkage(state, shrinkage);
}

template <class Val, class Bound>
__global__ void report_call(Propagator<Val, Bound> p) {
    report_step(p, p.state->rounds);
}

/* ---- State in and out ---- */

/* Sets state->bad if a column or a bound in device memory is out of range. */
__global__ void check_arguments(PropagatorState *state, long long count, const int *col, const double *lb,
                                const double *ub, int cols, double infinity) {
    for (long long k = grid_thread(); k < count; k += grid_threads())
        if ((col && (col[k] < 0 || col[k] >= cols)) || (lb && !(lb[k] < infinity)) || (ub && !(ub[k] > -infinity)))
            raise_flag<cuda::thread_scope_device>(state->bad);
}

/* The same for sides. */
__global__ void check_sides(PropagatorState *state, long long count, const int *row, const double *lhs,
                            const double *rhs, int rows, double infinity) {
    for (long long k = grid_thread(); k < count; k += grid_threads())
        if (row[k] < 0 || row[k] >= rows || !(lhs[k] < infinity) || !(rhs[k] > -infinity) || lhs[k] > rhs[k])
            raise_flag<cuda::thread_scope_device>(state->bad);
}

/* Before the caller's new bounds or sides: forgets the verdict, and marks the rows that led to it for evaluation. */
__device__ void begin_set_step(PropagatorState *state, int all) {
    state->was_infeasible = is_infeasible(*state);
    state->recheck = all || state->was_infeasible;
    if (state->recheck) state->all_marked = 1;
    state->infeasible_row = state->infeasible_col = INT_MAX;
    state->rounds_since_set = 0;
}
__global__ void begin_set(PropagatorState *state, int all) { begin_set_step(state, all); }

/* Writes the caller's bounds to the first copy. A lower bound that is not given stays as the caller sees it. */
template <class Val, class Bound>
__global__ void set_bounds(Propagator<Val, Bound> p, int first, int count, const int *some, const double *lb,
                           const double *ub) {
    for (int k = grid_thread(); k < count; k += grid_threads()) {
        int col = some ? some[k] : first + k, integer = p.kind[col] & GPUOPT__PROPAGATOR_INTEGER;
        Bound *pair = p.bounds[0] + 2 * static_cast<size_t>(col);
        double2 old = load_pair(p.bounds[1], 2 * static_cast<unsigned>(col));
        pair[0] = static_cast<Bound>(lb ? gpuopt__propagator_stored_lb(&p.rules, integer, lb[k])
                                        : gpuopt__propagator_shown_lb(&p.rules, p.state->was_infeasible, old.x, old.y));
        if (ub) pair[1] = static_cast<Bound>(gpuopt__propagator_stored_ub(&p.rules, integer, ub[k]));
    }
}

/* Then copies these bounds to the second copy, and adds the changes to the list of the last round. A separate launch,
 * since a column may be listed twice. */
template <class Val, class Bound>
__global__ void settle_set(Propagator<Val, Bound> p, int first, int count, const int *some) {
    PropagatorState *state = p.state;
    unsigned turn = turn_before(state->turn), capacity = 2u * static_cast<unsigned>(p.cols);
    Round *round = &round_of(state, turn);
    for (int k = grid_thread(); k < count; k += grid_threads()) {
        int col = some ? some[k] : first + k;
        double2 pair = load_pair(p.bounds[0], 2 * static_cast<unsigned>(col)),
                twin = load_pair(p.bounds[1], 2 * static_cast<unsigned>(col));
        p.kind[col] = static_cast<unsigned char>(
            gpuopt__propagator_kind(p.kind[col] & GPUOPT__PROPAGATOR_INTEGER, pair.x, pair.y));
        if (pair.x == twin.x && pair.y == twin.y) continue;
        p.bounds[1][2 * static_cast<size_t>(col)] = static_cast<Bound>(pair.x);
        p.bounds[1][2 * static_cast<size_t>(col) + 1] = static_cast<Bound>(pair.y);
        if (gpuopt__propagator_crossed(&p.rules, pair.x, pair.y)) atomicMin(&state->infeasible_col, col);
        if (!p.stamp || state->all_marked) continue;
        unsigned at = atomicAdd(&round->count, 1u);
        if (at < capacity) p.list[turn & 1][at] = 2 * static_cast<unsigned>(col);
        else atomicMin(&round->count, capacity + 1); /* more than the list holds: the next round evaluates all */
    }
}

template <class Val, class Bound>
__global__ void recheck_crossing(Propagator<Val, Bound> p) {
    if (!p.state->recheck) return;
    for (long long col = grid_thread(); col < p.cols; col += grid_threads()) {
        double2 pair = load_pair(p.bounds[0], 2 * static_cast<unsigned>(col));
        if (gpuopt__propagator_crossed(&p.rules, pair.x, pair.y))
            atomicMin(&p.state->infeasible_col, static_cast<int>(col));
    }
}

template <class Val, class Bound>
__global__ void get_bounds(Propagator<Val, Bound> p, int first, int count, const int *some, double *lb, double *ub) {
    for (int k = grid_thread(); k < count; k += grid_threads()) {
        int col = some ? some[k] : first + k;
        double2 pair = make_double2(NAN, NAN); /* for a column out of range, which only device arrays can contain */
        if (col >= 0 && col < p.cols) pair = load_pair(p.bounds[0], 2 * static_cast<unsigned>(col));
        if (lb) lb[k] = gpuopt__propagator_shown_lb(&p.rules, is_infeasible(*p.state), pair.x, pair.y);
        if (ub) ub[k] = pair.y;
    }
}

template <class Val, class Bound>
__global__ void set_sides(Propagator<Val, Bound> p, const int *slot_of, int count, const int *row, const double *lhs,
                          const double *rhs) {
    for (int k = grid_thread(); k < count; k += grid_threads()) {
        int slot = slot_of[row[k]];
        p.sides[slot] = make_double2(lhs ? gpuopt__propagator_normal_low(&p.rules, lhs[k]) : -HUGE_VAL,
                                     rhs ? gpuopt__propagator_normal_high(&p.rules, rhs[k]) : HUGE_VAL);
        raise_flag<cuda::thread_scope_device>(p.state->all_marked);
    }
}

struct RowReport { /* device arrays of `count` rows, each may be null */
    double *min_activity, *max_activity;
    int *min_infinite, *max_infinite;
    unsigned char *status;

    /* The arrays from a row on. */
    RowReport from(int row) const {
        return {min_activity ? min_activity + row : nullptr, max_activity ? max_activity + row : nullptr,
                min_infinite ? min_infinite + row : nullptr, max_infinite ? max_infinite + row : nullptr,
                status ? status + row : nullptr};
    }
    __device__ void write(int i, const gpuopt__propagator_activities &s, bool infeasible,
                          const gpuopt__propagator_rules &rules, double2 side, int length) const {
        if (min_activity) min_activity[i] = gpuopt__first(gpuopt__pair_add(s.hi, s.lo));
        if (max_activity) max_activity[i] = gpuopt__second(gpuopt__pair_add(s.hi, s.lo));
        if (min_infinite) min_infinite[i] = gpuopt__propagator_min_infinite(&s);
        if (max_infinite) max_infinite[i] = gpuopt__propagator_max_infinite(&s);
        if (status)
            status[i] = static_cast<unsigned char>(
                gpuopt__propagator_row_status(&s, infeasible, &rules, side.x, side.y, length));
    }
};

/* Reports rows first .. first + count - 1, one per warp, summed in the same order as in a round. */
template <class Val, class Bound>
__global__ void __launch_bounds__(THREADS) report_rows(const __grid_constant__ Propagator<Val, Bound> p,
                                                       const int *slot_of, int first, int count, RowReport report) {
    __shared__ BlockShared block;
    Tightener<false, Val, Bound> warp(p, block, 0, p.val, p.col);
    for (int i = grid_thread() / WARP; i < count; i += grid_threads() / WARP) {
        int slot = slot_of[first + i], length = p.length[slot];
        long long at = p.start_of(slot);
        gpuopt__propagator_activities s = gpuopt__propagator_activities_start();
        if (slot < p.first_warp_slot()) {
            if (warp.lane < GROUP) s = warp.sum(at, warp.lane * WARP, length * WARP, GROUP * WARP);
            merge_activities(s, GROUP);
        } else {
            for (int before = 0, segment = 0; before < length; before += GPUOPT__PROPAGATOR_SEGMENT, segment++) {
                gpuopt__propagator_activities part = warp.sum(
                    at + before, warp.lane, min(static_cast<int>(GPUOPT__PROPAGATOR_SEGMENT), length - before), WARP);
                if (length <= GPUOPT__PROPAGATOR_SEGMENT) {
                    s = part;
                } else {
                    merge_activities(part, WARP);
                    if (segment % WARP == warp.lane) gpuopt__propagator_activities_merge(&s, &part);
                }
            }
            merge_activities(s, WARP);
        }
        RowRef ref = {at, length, length, slot, p.sides[slot]};
        double2 side = ref.side;
        gpuopt__propagator_row row = gpuopt__propagator_row_make(&s, &p.rules, side.x, side.y, length);
        bool infeasible = warp.confirm(row, ref, WARP, __ballot_sync(~0u, warp.lane == 0 && row.violated));
        if (warp.lane == 0) report.write(i, s, infeasible, p.rules, side, length);
    }
}

} // namespace

#endif /* GPUOPT_CUDA_PROPAGATE_ROUNDS_KERNELS_CUH */
