/* SPDX-License-Identifier: MIT
 *
 * A tree search on the GPU: the kernels between rounds. They set the caller's bounds, and undo changes; each is one
 * launch of one block, since the changes are few. Others copy data for the CPU, added rows, and forks.
 */
#ifndef GPUOPT_CUDA_PROPAGATE_TREE_BETWEEN_ROUNDS_CUH
#define GPUOPT_CUDA_PROPAGATE_TREE_BETWEEN_ROUNDS_CUH

#include "round.cuh"

namespace {

/* ---- The caller's bounds ---- */

/* A part of a call. Without arrays the bounds are an argument of the kernel. */
struct TreeSet {
    int first, count; /* columns, if they are not listed */
    bool all;         /* whether the call sets all columns */
    bool begins, ends;
    const int *col;
    const double *lb, *ub; /* [count]; null: they stay */
};

struct FewBounds {
    int count; /* 0: they are in arrays */
    bool has_lb, has_ub;
    int col[TREE_FEW];
    double lb[TREE_FEW], ub[TREE_FEW];
};

/* The new state of a column: bounds, kind, and the sides that are entered into the trail. */
struct TreeColumn {
    double2 old, fresh;
    unsigned char was, kind;
    bool enters[2];
};

template <class Val, class Bound>
__device__ TreeColumn set_column(const Propagator<Val, Bound> &p, int col, const double *lb, const double *ub) {
    TreeColumn c;
    c.was = p.kind[col];
    const int integer = c.was & GPUOPT__PROPAGATOR_INTEGER;
    c.old = c.fresh = load_pair(p.bounds[0], 2 * static_cast<unsigned>(col));
    c.fresh.x = static_cast<double>(
        static_cast<Bound>(lb ? gpuopt__propagator_stored_lb(&p.rules, integer, *lb)
                              : gpuopt__propagator_shown_lb(&p.rules, p.state->was_infeasible, c.old.x, c.old.y)));
    if (ub) c.fresh.y = static_cast<double>(static_cast<Bound>(gpuopt__propagator_stored_ub(&p.rules, integer, *ub)));
    c.kind = static_cast<unsigned char>(gpuopt__propagator_kind(integer, c.fresh.x, c.fresh.y));
    c.enters[0] = c.fresh.x != c.old.x;
    /* A column fixed at equal bounds that stay as they are: enters a change of the kind only. */
    c.enters[1] = c.fresh.y != c.old.y || (c.kind != c.was && !c.enters[0]);
    return c;
}

/* Sets a column's bounds and enters its changes from position `at` on. */
template <class Val, class Bound>
__device__ void take_column(const Propagator<Val, Bound> &p, const Tree<Bound> &t, int col, const TreeColumn &c,
                            int at) {
    PropagatorState *state = p.state;
    const unsigned side = 2 * static_cast<unsigned>(col), turn = turn_before(state->turn), capacity = 2u * p.cols;
    for (unsigned upper = 0; upper < 2; upper++) {
        if (!c.enters[upper]) continue;
        TreeChange &change = t.trail[at];
        change.old_bound = upper ? c.old.y : c.old.x;
        change.new_bound = upper ? c.fresh.y : c.fresh.x;
        change.side = side + upper;
        change.row = c.was & GPUOPT__PROPAGATOR_FIXED ? GPUOPT__PROPAGATOR_HOST_OF_FIXED : GPUOPT__PROPAGATOR_HOST;
        change.previous = t.last[side + upper];
        change.seen = at;
        t.last[side + upper] = at++;
        for (Bound *bounds : p.bounds) bounds[side + upper] = static_cast<Bound>(upper ? c.fresh.y : c.fresh.x);
    }
    p.kind[col] = c.kind;
    if (gpuopt__propagator_crossed(&p.rules, c.fresh.x, c.fresh.y)) atomicMin(&state->infeasible_col, col);
    if (state->all_marked || !(c.enters[0] || c.enters[1])) return;
    unsigned *count = &round_of(state, turn).count;
    const unsigned place = atomicAdd(count, 1u);
    if (place < capacity) p.list[turn & 1][place] = side;
    else atomicMin(count, capacity + 1); /* more than the list holds: the next round evaluates all */
}

/* Sets bounds and records their changes, in the given order; for a repeated column the last bounds count. If not all
 * fit, reports that and leaves the rest: the CPU then undoes the changes. */
template <class Val, class Bound>
__global__ void __launch_bounds__(TREE_MOST_THREADS)
    record_set(const __grid_constant__ Propagator<Val, Bound> p, const __grid_constant__ Tree<Bound> t,
               const __grid_constant__ TreeSet set, const __grid_constant__ FewBounds few) {
    __shared__ int of_warp[TREE_MOST_THREADS / WARP], end;
    PropagatorState *state = p.state;
    const int *some = few.count ? few.col : set.col, threads = static_cast<int>(blockDim.x),
              thread = static_cast<int>(threadIdx.x), lane = thread % WARP, warp = thread / WARP;
    const double *lb = few.count ? few.has_lb ? few.lb : nullptr : set.lb,
                 *ub = few.count ? few.has_ub ? few.ub : nullptr : set.ub;
    if (thread == 0) {
        if (set.begins) begin_set_step(state, set.all);
        end = t.state->changes;
    }
    for (int k = thread; some && k < set.count; k += threads) atomicMax(&t.claim[some[k]], k + 1);
    __syncthreads();
    bool fits = !t.state->full;
    for (int from = 0; from < set.count && fits; from += threads) {
        const int k = from + thread, col = k < set.count ? some ? some[k] : set.first + k : -1;
        const bool mine = col >= 0 && (!some || __ldcg(&t.claim[col]) == k + 1);
        TreeColumn c = {};
        if (mine) c = set_column(p, col, lb ? lb + k : nullptr, ub ? ub + k : nullptr);
        const unsigned low = __ballot_sync(~0u, c.enters[0]), high = __ballot_sync(~0u, c.enters[1]),
                       below = (1u << lane) - 1;
        if (lane == 0) of_warp[warp] = __popc(low) + __popc(high);
        __syncthreads();
        int at = end + __popc(low & below) + __popc(high & below), all = 0;
        for (int w = 0; w < threads / WARP; w++) all += of_warp[w], at += w < warp ? of_warp[w] : 0;
        fits = all <= t.capacity - end;
        if (mine && fits) take_column(p, t, col, c, at);
        __syncthreads();
        if (thread == 0 && fits) end += all;
        if (thread == 0 && !fits) t.state->full = 1;
        __syncthreads();
    }
    for (int k = thread; some && k < set.count; k += threads) t.claim[some[k]] = 0;
    if (thread == 0) t.state->changes = end;
    for (int col = thread; set.ends && state->recheck && col < p.cols; col += threads) {
        const double2 pair = load_pair(p.bounds[0], 2 * static_cast<unsigned>(col));
        if (gpuopt__propagator_crossed(&p.rules, pair.x, pair.y)) atomicMin(&state->infeasible_col, col);
    }
}

/* ---- Undo ---- */

/* Undoes changes down to the start of a level. The earliest of these changes of a bound has its previous value, and the
 * earliest of a column its previous kind. */
template <class Val, class Bound>
__global__ void __launch_bounds__(TREE_MOST_THREADS)
    take_back(const __grid_constant__ Propagator<Val, Bound> p, const __grid_constant__ Tree<Bound> t,
              const TreeLevel level) {
    const int end = t.state->changes, threads = static_cast<int>(blockDim.x),
              first = level.start + static_cast<int>(threadIdx.x);
    for (int at = first; at < end; at += threads)
        if (t.trail[at].previous < level.start) atomicMax(&t.claim[t.trail[at].side / 2], INT_MAX - at);
    __syncthreads();
    for (int at = first; at < end; at += threads) {
        const TreeChange c = t.trail[at];
        if (c.previous >= level.start) continue;
        for (Bound *bounds : p.bounds) bounds[c.side] = static_cast<Bound>(c.old_bound);
        t.last[c.side] = c.previous;
        if (__ldcg(&t.claim[c.side / 2]) != INT_MAX - at) continue;
        const int fixed = c.row == GPUOPT__PROPAGATOR_HOST_OF_FIXED ? GPUOPT__PROPAGATOR_FIXED : 0;
        p.kind[c.side / 2] = static_cast<unsigned char>((p.kind[c.side / 2] & GPUOPT__PROPAGATOR_INTEGER) | fixed);
    }
    __syncthreads();
    for (int at = first; at < end; at += threads) t.claim[t.trail[at].side / 2] = 0;
    if (threadIdx.x) return;
    t.state->changes = level.start;
    t.state->full = 0;
    restore_level(*p.state, level);
}

/* Empties the trail. */
template <class Bound>
__global__ void __launch_bounds__(TREE_MOST_THREADS) forget_changes(const __grid_constant__ Tree<Bound> t) {
    const int end = t.state->changes;
    for (int at = static_cast<int>(threadIdx.x); at < end; at += static_cast<int>(blockDim.x))
        t.last[t.trail[at].side] = -1;
    __syncthreads();
    if (threadIdx.x == 0) t.state->changes = 0;
}

/* ---- Data for the CPU ---- */

template <class Val, class Bound>
__global__ void show_state(const __grid_constant__ Propagator<Val, Bound> p, const __grid_constant__ Tree<Bound> t,
                           int from) {
    show_tree(*p.state, t, from);
}

/* Device arrays; each may be null. */
struct TreeChangeArrays {
    int *col;
    unsigned char *upper;
    double *old_bound, *new_bound;
    int *row;
};

template <class Bound>
__global__ void copy_changes(const __grid_constant__ Tree<Bound> t, int from, int count, TreeChangeArrays to) {
    for (int k = grid_thread(); k < count; k += grid_threads()) {
        const TreeChange c = t.trail[from + k];
        if (to.col) to.col[k] = static_cast<int>(c.side / 2);
        if (to.upper) to.upper[k] = c.side & 1;
        if (to.old_bound) to.old_bound[k] = c.old_bound;
        if (to.new_bound) to.new_bound[k] = c.new_bound;
        if (to.row) to.row[k] = max(c.row, -1);
    }
}

/* Copies a row, and up to TREE_NEAR of its entries from `first` on, to host memory. One block. */
template <class Val, class Bound>
__global__ void show_row(const __grid_constant__ Propagator<Val, Bound> p, const __grid_constant__ Tree<Bound> t,
                         const int *slot_of, int row, int first) {
    const bool added = row >= p.rows;
    const int slot = slot_of[row], unit = !added && slot < p.first_warp_slot() ? +WARP : 1;
    const long long at = added ? t.first[row - p.rows] : p.start_of(slot);
    const int length = added ? max(t.length[row - p.rows], 0) : p.length[slot];
    for (int k = static_cast<int>(threadIdx.x); k < TREE_NEAR && first + k < length;
         k += static_cast<int>(blockDim.x)) {
        const long long place = at + static_cast<long long>(first + k) * unit;
        const unsigned col = added ? t.col[place] : p.col[place];
        const double2 pair = load_pair(p.bounds[0], col);
        t.window->entry[k] = {added ? static_cast<double>(t.val[place]) : static_cast<double>(p.val[place]), pair.x,
                              pair.y, col};
    }
    if (threadIdx.x) return;
    t.window->length = length;
    t.window->altered = t.altered[row];
    t.window->lhs = p.sides[slot].x;
    t.window->rhs = p.sides[slot].y;
}

/* ---- Rows and their sides ---- */

/* Converts the columns of new entries to the form that the matrix has. */
template <class Val, class Bound>
__global__ void mark_integers(const __grid_constant__ Propagator<Val, Bound> p, const __grid_constant__ Tree<Bound> t,
                              int from, int to) {
    for (int k = from + grid_thread(); k < to; k += grid_threads())
        t.col[k] = 2 * t.col[k] + (p.kind[t.col[k]] & GPUOPT__PROPAGATOR_INTEGER ? 1u : 0u);
}

/* Sides or numbers of rows have changed: changes in the trail so far may come from earlier rows. */
template <class Bound>
__global__ void alter_rows(const __grid_constant__ Tree<Bound> t, int count, const int *row) {
    for (int k = grid_thread(); k < count; k += grid_threads()) t.altered[row[k]] = t.state->changes;
}

/* Sets state->bad if an added row in device memory does not exist; check_sides() has checked the range. */
template <class Bound>
__global__ void check_added(PropagatorState *state, const __grid_constant__ Tree<Bound> t, long long count,
                            const int *row, int rows) {
    for (long long k = grid_thread(); k < count; k += grid_threads())
        if (row[k] >= rows && row[k] < rows + t.added && t.length[row[k] - rows] < 0)
            raise_flag<cuda::thread_scope_device>(state->bad);
}

/* Reports added rows first .. first + count - 1 as report_rows() does the others; a free number as an empty row. */
template <class Val, class Bound>
__global__ void __launch_bounds__(THREADS)
    report_added(const __grid_constant__ Propagator<Val, Bound> p, const __grid_constant__ Tree<Bound> t, int first,
                 int count, RowReport report) {
    for (int i = grid_warp(); i < count; i += grid_warps()) {
        AddedRow<Bound> row = added_row(p, t, first + i);
        row.length = max(row.length, 0);
        const gpuopt__propagator_activities s = sum_added(p.rules, p.bounds[0], row);
        const gpuopt__propagator_row limits =
            gpuopt__propagator_row_make(&s, &p.rules, row.side.x, row.side.y, row.length);
        const bool infeasible = added_infeasible(p.rules, p.bounds[0], row, limits);
        if (threadIdx.x % WARP == 0) report.write(i, s, infeasible, p.rules, row.side, row.length);
    }
}

/* ---- Initialisation ---- */

/* The initial data of a handle besides the propagator's state. slot_of: null for a fork. */
template <class Val, class Bound>
__global__ void begin_tree(const __grid_constant__ Propagator<Val, Bound> p, const __grid_constant__ Tree<Bound> t,
                           int *slot_of, int spare_rows) {
    const long long rows = p.rows, sides = t.capacity ? 2ll * p.cols : 0;
    for (long long k = grid_thread(); k < sides; k += grid_threads()) {
        t.last[k] = -1, t.reason[k] = INT_MAX;
        if (k % 2) t.claim[k / 2] = 0;
    }
    for (long long k = grid_thread(); k < rows + spare_rows; k += grid_threads()) {
        if (t.capacity) t.altered[k] = 0;
        if (k < rows) continue;
        t.first[k - rows] = 0, t.length[k - rows] = -1;
        p.sides[t.first_slot + k - rows] = make_double2(-HUGE_VAL, HUGE_VAL);
        if (slot_of) slot_of[k] = t.first_slot + static_cast<int>(k - rows);
    }
    if (grid_thread() == 0) *t.state = {0, 0};
}

/* Adapts a copy of another handle's state to this handle. Run by one thread. */
template <class Val, class Bound>
__global__ void begin_fork(const __grid_constant__ Propagator<Val, Bound> p) {
    PropagatorState *state = p.state;
    const TreeLevel level = level_now(*state, 0);
    for (Round &round : state->round) round = Round{};
    state->barriers = 0;
    state->found_row = state->found_col = INT_MAX;
    restore_level(*state, level);
}

} // namespace

#endif /* GPUOPT_CUDA_PROPAGATE_TREE_BETWEEN_ROUNDS_CUH */
