/* SPDX-License-Identifier: MIT
 *
 * Propagation on the GPU: rows that passed the filter are summed in twice the precision. The few entries that a side of
 * their row may move are queued, from any rows. As soon as the queue holds one for each thread of the warp, each thread
 * computes a new bound.
 */
#ifndef GPUOPT_CUDA_PROPAGATE_ROUNDS_TIGHTEN_CUH
#define GPUOPT_CUDA_PROPAGATE_ROUNDS_TIGHTEN_CUH

#include "rows.cuh"

namespace {

enum { MEMORY = 2 * WARP }; /* new bounds that a warp of the resident kernel remembers */

/* In shared memory, for each warp. */
struct WarpShared {
    /* The queue. An item is one side of a row and one entry: its coefficient (negated for the lhs), column and
     * bounds. */
    double high[2 * WARP], low[2 * WARP], error_bound[2 * WARP], c[2 * WARP], lb[2 * WARP], ub[2 * WARP];
    unsigned col[2 * WARP];
    /* In the resident kernel: the bounds that the warp has written in this round, as 2 * col + (1 for ub). */
    double written[MEMORY];
    unsigned written_side[MEMORY];
};

/* The results of a block since the last grid barrier of the cooperative driver. */
struct BlockFlags {
    unsigned lifted; /* count of bounds moved */
    int infeasible, split, passed;
};

struct BlockShared {
    WarpShared warp[WARPS];
    BlockFlags flags;
    unsigned joined[2]; /* the results of all blocks, by the barrier's parity */

    __device__ void clear() {
        if (threadIdx.x == 0) flags = {0, 0, 0, 0}, joined[0] = joined[1] = 0;
        __syncthreads();
    }
};

/* One warp's part in a round. Entries are in global memory or, with RESIDENT, in shared memory. The moved bounds are
 * remembered for the next round to settle: by the warp itself in the resident kernel, else on the global list. */
template <bool RESIDENT, class Val, class Bound>
class Tightener {
  public:
    const int lane = static_cast<int>(threadIdx.x % WARP);
    const Bound *const now; /* the bounds that this round reads */
    int written = 0;        /* in the resident kernel: number of bounds written; the first MEMORY are remembered */

    __device__ Tightener(const Propagator<Val, Bound> &propagator, BlockShared &block, unsigned which, const Val *vals,
                         const unsigned *cols)
        : now(propagator.bounds[which & 1]), p(propagator), flags(block.flags), shared(block.warp[threadIdx.x / WARP]),
          turn(which), val(vals), col(cols) {}

    /* The activities of entries at + first, at + first + stride, ... before at + end. */
    __device__ gpuopt__propagator_activities sum(long long at, int first, int end, int stride) const {
        gpuopt__propagator_activities s = gpuopt__propagator_activities_start();
#pragma unroll 1
        for (int k = first; k < end; k += N * stride) {
            Entries b;
            b.load(now, val + at, col + at, k, end, stride);
            add(s, b, k, end, stride);
        }
        return s;
    }

    /* Sums the rows of a warp, unless the activities are known, and queues the entries that their sides may move. Each
     * `width` lanes have a row, with entries `unit` apart. `passed`: whether the lane's row passed the filter; if not,
     * it is skipped. `last`: whether to empty the queue. All threads of the warp take part. */
    __device__ void sum_and_tighten(const RowRef &ref, int width, int unit, bool passed, bool last,
                                    const gpuopt__propagator_activities *known = nullptr) {
        const int stride = width * unit, step = N * stride, first = lane % width * unit;
        int end = passed ? ref.size * unit : 0, k = first;
        bool several = __any_sync(~0u, first + step < end), more;
        gpuopt__propagator_activities activities;
        Entries b; /* the first batch; for most rows the only one */
        b.load(now, val + ref.at, col + ref.at, first, end, stride);
        if (known) {
            activities = *known;
        } else {
            activities = gpuopt__propagator_activities_start();
#pragma unroll 1
            do {
                add(activities, b, k, end, stride);
                k += step;
                if (k < end) b.load(now, val + ref.at, col + ref.at, k, end, stride);
            } while (k < end);
            merge_activities(activities, width);
            if (several) b.load(now, val + ref.at, col + ref.at, first, end, stride);
        }
        gpuopt__propagator_row row =
            gpuopt__propagator_row_make(&activities, &p.rules, ref.side.x, ref.side.y, ref.length);
        unsigned violated = __ballot_sync(~0u, passed && row.violated);
        if (violated && confirm(row, ref, width, violated)) {
            if (lane % width == 0) infeasible_row(ref.slot);
            end = 0;
        }
        k = first;
#pragma unroll 1
        do {
            more = several && __any_sync(~0u, k + step < end);
            tighten(row, b, k, end, stride, last && !more);
            k += step;
            if (more) b.load(now, val + ref.at, col + ref.at, k, end, stride);
        } while (more);
    }

    /* Whether the lane's row is infeasible. `mask`: the lanes with rows that have violated sides (see row.h). All
     * threads of the warp take part. Few rows reach this point. */
    __device__ bool confirm(const gpuopt__propagator_row &row, const RowRef &ref, int width, unsigned mask) const {
        bool infeasible = false;
        while (mask) {
            int from = __ffs(static_cast<int>(mask)) - 1, slot = __shfl_sync(~0u, ref.slot, from);
            gpuopt__pair size = row_magnitudes(p, now, slot);
            double least = __shfl_sync(~0u, size.first, 0), greatest = __shfl_sync(~0u, size.second, 0);
            if (lane / width == from / width)
                infeasible = gpuopt__propagator_limit_violated(&row.limit[0], &p.rules, ref.side.y, least) ||
                             gpuopt__propagator_limit_violated(&row.limit[1], &p.rules, ref.side.x, greatest);
            mask &= ~(((width < WARP ? 1u << width : 0) - 1) << from / width * width);
        }
        return infeasible;
    }

  private:
    static constexpr int N = RESIDENT ? 1 : BATCH; /* several loads in flight hide the latency of global memory */
    using Entries = Batch<N, !RESIDENT, Val, Bound>;

    const Propagator<Val, Bound> &p;
    BlockFlags &flags;
    WarpShared &shared;
    const unsigned turn;
    const Val *const val;
    const unsigned *const col;
    int queued = 0; /* the same in all threads of the warp */

    __device__ void add(gpuopt__propagator_activities &s, const Entries &b, int first, int end, int stride) const {
#pragma unroll
        for (int t = 0; t < N; t++)
            if (first + t * stride < end)
                gpuopt__propagator_activities_add(&s, &p.rules, b.a[t], b.pair[t].x, b.pair[t].y);
    }

    __device__ int before(unsigned mask) const { return __popc(mask & ((1u << lane) - 1)); }

    __device__ void infeasible_row(int slot) {
        atomicMin(&p.state->found_row, p.row[slot]);
        raise_flag<cuda::thread_scope_block>(flags.infeasible);
    }

    /* Queues the entries of a batch. The loop takes the first entry and moves the others up: this keeps them in
     * registers, and the long code in one place. */
    __device__ void tighten(const gpuopt__propagator_row &row, Entries &b, int first, int end, int stride, bool last) {
        int sides = 0;
#pragma unroll
        for (int t = 0; t < N; t++)
            if (first + t * stride < end)
                sides |= gpuopt__propagator_reaching_sides(&row, &p.rules, b.a[t], b.pair[t].x, b.pair[t].y) << 2 * t;
        unsigned any = any_of_warp(static_cast<unsigned>(sides));
        int lhs = 0;
#pragma unroll 1
        do {
            if (any & 1) queue(row.limit[0], row.limit[1], lhs, b, sides & 1);
            any >>= 1, sides >>= 1;
            while (queued >= WARP || (last && any == 0 && queued > 0)) write();
            if (lhs) {
#pragma unroll
                for (int t = 0; t < N - 1; t++) b.col[t] = b.col[t + 1], b.a[t] = b.a[t + 1], b.pair[t] = b.pair[t + 1];
            }
            lhs = !lhs;
        } while (any);
    }

    /* Queues the first entry of a batch with one side of its row, in the lanes where `mine` is set. */
    __device__ void queue(const gpuopt__propagator_limit &rhs, const gpuopt__propagator_limit &lhs, bool is_lhs,
                          const Entries &b, bool mine) {
        unsigned mask = __ballot_sync(~0u, mine);
        if (mine) {
            int at = queued + before(mask);
            shared.high[at] = is_lhs ? lhs.high : rhs.high;
            shared.low[at] = is_lhs ? lhs.low : rhs.low;
            shared.error_bound[at] = is_lhs ? lhs.error_bound : rhs.error_bound;
            shared.c[at] = is_lhs ? -b.a[0] : b.a[0];
            shared.lb[at] = b.pair[0].x;
            shared.ub[at] = b.pair[0].y;
            shared.col[at] = b.col[0];
        }
        queued += __popc(mask);
        __syncwarp();
    }

    /* Takes up to WARP items off the queue and writes the bounds that they imply. The thread that first moves a bound
     * away from the value that this round reads counts it. */
    __device__ void write() {
        int count = min(queued, static_cast<int>(WARP)), at = queued - count + lane, moved = 0;
        bool better = false, lifted = false;
        double bound = 0;
        unsigned side = 0;
        queued -= count;
        if (lane < count) {
            gpuopt__propagator_limit limit = {shared.high[at], shared.low[at], shared.error_bound[at], 0};
            double2 old = make_double2(shared.lb[at], shared.ub[at]), was = old;
            side = shared.col[at];
            int kind = old.x < old.y ? static_cast<int>(side & 1) : p.kind[side / 2]; /* else it may be fixed */
            moved = gpuopt__propagator_tighten(&limit, &p.rules, shared.c[at], old.x, old.y, kind, &bound);
            bool upper = moved == GPUOPT__PROPAGATOR_UPPER;
            side = (side & ~1u) | (upper ? 1u : 0u);
            if (moved) better = improve(p.bounds[~turn & 1] + (side & ~1u), upper, bound, was);
            if (better) {
                lifted = upper ? was.y >= old.y : was.x <= old.x;
                /* The copy being written may lag behind the copy being read. */
                double lb = upper ? gpuopt__max(was.x, old.x) : bound, ub = upper ? bound : gpuopt__min(was.y, old.y);
                if (gpuopt__propagator_crossed(&p.rules, lb, ub)) {
                    atomicMin(&p.state->found_col, static_cast<int>(side / 2));
                    raise_flag<cuda::thread_scope_block>(flags.infeasible);
                }
            }
        }
        __syncwarp(); /* from here on the end of the queue may be overwritten */
        count_lifted(__ballot_sync(~0u, lifted), side);
        if (RESIDENT) remember(__ballot_sync(~0u, better), side, bound);
    }

    /* Counts and lists the sides of the lanes in `mask`. In the resident kernel the warps remember them: no list. */
    __device__ void count_lifted(unsigned mask, unsigned side) {
        unsigned lifted = static_cast<unsigned>(__popc(mask)), at = 0;
        if (mask == 0) return;
        if (lane == 0) atomicAdd(&flags.lifted, lifted);
        if (RESIDENT) return;
        if (lane == 0) at = atomicAdd(&round_of(p.state, turn).count, lifted);
        at = __shfl_sync(~0u, at, 0) + static_cast<unsigned>(before(mask));
        if (mask >> lane & 1) p.list[turn & 1][at] = side;
    }

    __device__ void remember(unsigned mask, unsigned side, double bound) {
        int at = written + before(mask);
        if (mask >> lane & 1 && at < MEMORY) shared.written[at] = bound, shared.written_side[at] = side;
        written += __popc(mask);
    }
};

} // namespace

#endif /* GPUOPT_CUDA_PROPAGATE_ROUNDS_TIGHTEN_CUH */
