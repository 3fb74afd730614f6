/* SPDX-License-Identifier: MIT
 *
 * A batch of nodes on the GPU: operations on one node's tables by its threads: find and take columns and rows, give and
 * settle bounds, mark rows. state.cuh explains the purpose of the tables.
 */
#ifndef GPUOPT_CUDA_PROPAGATE_BATCH_TABLES_CUH
#define GPUOPT_CUDA_PROPAGATE_BATCH_TABLES_CUH

#include "state.cuh"

namespace {

/* One side of a pair of bounds. */
__device__ double &side_of(double2 &pair, unsigned upper) { return upper ? pair.y : pair.x; }
/* The value of `next` if no row implies a bound. */
__device__ double no_bound(unsigned upper) { return upper ? HUGE_VAL : -HUGE_VAL; }

/* Empties the tables, as one of COUNT threads. */
template <unsigned COUNT, class Index>
__device__ void clear_tables(const TableArrays<Index> &tables, unsigned thread) {
    for (unsigned i = thread; i < tables.size.col_slots; i += COUNT) {
        tables.key[i] = KEY_EMPTY;
        tables.next[i] = make_double2(no_bound(0), no_bound(1));
        tables.given[i] = 0;
    }
    for (unsigned i = thread; i < tables.size.row_slots; i += COUNT) tables.row_key[i] = KEY_EMPTY, tables.share[i] = 0;
}

/* The part of one thread in the work on a node. WORKERS: warps per node: 1, or all warps of the block. */
template <int WORKERS, class Index, class Val, class Bound>
class NodeTables {
  public:
    static constexpr unsigned THREADS_ = WORKERS * WARP;
    const unsigned thread = threadIdx.x % THREADS_;
    const int lane = static_cast<int>(threadIdx.x % WARP);

    __device__ NodeTables(const Propagator<Val, Bound> &propagator, const BatchModel<Val, Bound> &model,
                          NodeShared &shared, const TableArrays<Index> &tables)
        : p(propagator), m(model), s(shared), tables(tables), base(propagator.bounds[0]) {}

    __device__ static void sync() {
        if constexpr (WORKERS == 1) __syncwarp();
        else __syncthreads();
    }

    /* Empties all slots: before the first node, or after a node that outgrew its tables. */
    __device__ void clear_all() const { clear_tables<THREADS_>(tables, thread); }

    /* Empties the slots in use: after any other node. */
    __device__ void clear_used() const {
        for (unsigned i = thread; i < s.columns; i += THREADS_)
            tables.key[tables.col_used[i]] = KEY_EMPTY, tables.given[tables.col_used[i]] = 0;
        for (unsigned i = thread; i < s.rows; i += THREADS_)
            tables.row_key[tables.row_used[i]] = KEY_EMPTY, tables.share[tables.row_used[i]] = 0;
    }

    /* ---- Columns ---- */

    /* The place of a column in the table, or -1 if its bounds are the base's. */
    __device__ int find(unsigned col) const {
        const unsigned mask = tables.size.col_slots - 1;
        for (unsigned place = hash_of(col) & mask;; place = (place + 1) & mask) {
            unsigned key = load_relaxed(tables.key[place]);
            if (key == col) return static_cast<int>(place);
            if (key == KEY_EMPTY || key == (col | KEY_NEW)) return -1;
        }
    }

    /* The bounds of this round. col2: as stored with an entry, 2 * col + (1 if it is integer). */
    __device__ double2 bounds_of(unsigned col2) const {
        int place = find(col2 / 2);
        return place < 0 ? load_pair(base, col2) : tables.now[place];
    }

    /* The place of a column. If the column has none, it is taken with this mark; -1: the table is full. */
    __device__ int take_column(unsigned col, unsigned mark, bool &fresh) const {
        const unsigned mask = tables.size.col_slots - 1;
        fresh = false;
        for (unsigned place = hash_of(col) & mask;; place = (place + 1) & mask) {
            unsigned key = load_relaxed(tables.key[place]);
            if (key == KEY_EMPTY) {
                if (load_relaxed(s.columns) >= tables.size.columns) return full();
                key = atomicCAS(&tables.key[place], +KEY_EMPTY, col | mark);
                if (key == KEY_EMPTY) {
                    unsigned at = atomicAdd(&s.columns, 1u);
                    if (at >= tables.size.columns) return full();
                    tables.col_used[at] = static_cast<Index>(place);
                    fresh = true;
                    return static_cast<int>(place);
                }
            }
            if ((key & ~KEY_NEW) == col) return static_cast<int>(place);
        }
    }

    /* Adds a side of a place to the list of moved sides. */
    __device__ void list_side(int place, unsigned upper) const {
        unsigned at = atomicAdd(&s.sides, 1u);
        if (at < 2 * tables.size.columns)
            tables.side[at] = static_cast<Index>(2 * static_cast<unsigned>(place) + upper);
        else full();
    }

    /* Gives the node bounds of a column, as gpuopt_propagator_set_bounds would. */
    __device__ void give(unsigned col, const double *lb, const double *ub) const {
        bool fresh;
        int place = take_column(col, 0, fresh), integer = p.kind[col] & GPUOPT__PROPAGATOR_INTEGER;
        if (!fresh) return; /* full, or the column was there before */
        double2 was = load_pair(base, 2 * col), will = was;
        will.x = static_cast<double>(static_cast<Bound>(lb ? gpuopt__propagator_stored_lb(&p.rules, integer, *lb)
                                                           : gpuopt__propagator_shown_lb(&p.rules, 0, was.x, was.y)));
        if (ub) will.y = static_cast<double>(static_cast<Bound>(gpuopt__propagator_stored_ub(&p.rules, integer, *ub)));
        tables.now[place] = was;
        tables.given[place] = gpuopt__propagator_kind(integer, will.x, will.y) & GPUOPT__PROPAGATOR_FIXED ? 2 : 1;
        if (gpuopt__propagator_crossed(&p.rules, will.x, will.y)) atomicMin(&s.found_col, static_cast<int>(col));
        if (will.x != was.x) tables.next[place].x = will.x, list_side(place, 0);
        if (will.y != was.y) tables.next[place].y = will.y, list_side(place, 1);
    }

    /* A row implies a bound. */
    __device__ void move(unsigned col, unsigned upper, double bound) const {
        bool fresh;
        int place = take_column(col, KEY_NEW, fresh);
        if (place < 0) return;
        if (move_side(&side_of(tables.next[place], upper), upper, bound) == no_bound(upper)) list_side(place, upper);
    }

    /* Whether the caller has fixed a column, in the node or in the base. */
    __device__ bool is_fixed(unsigned col) const {
        int place = find(col);
        if (place >= 0 && tables.given[place]) return tables.given[place] == 2;
        return p.kind[col] & GPUOPT__PROPAGATOR_FIXED;
    }

    /* ---- Between rounds ---- */

    /* Copies the listed sides to the bounds of the next round, and marks the rows that this may concern. given: the
     * sides are the node's given bounds, which may be looser than the base's. Begins and ends with a barrier. No thread
     * writes the returned data while they are read, so all threads agree. */
    __device__ NodeFound settle(bool given) const {
        sync();
        const unsigned moved = s.sides, sides = min(moved, 2 * tables.size.columns);
        for (unsigned i = thread; i < sides; i += THREADS_) { /* new columns: the base's bounds, for comparison */
            unsigned place = tables.side[i] / 2u, upper = tables.side[i] % 2u, key = tables.key[place];
            if (!(key & KEY_NEW)) continue;
            double2 pair = load_pair(base, 2 * (key & ~KEY_NEW));
            side_of(tables.now[place], upper) = side_of(pair, upper);
            if (side_of(tables.next[place], !upper) == no_bound(!upper)) /* else the other side is listed, too */
                side_of(tables.now[place], !upper) = side_of(pair, !upper);
        }
        if (thread == 0) s.shorts = s.longs = 0;
        sync();
        mark(sides, given);
        sync();
        const NodeFound found = {moved, s.columns, s.found_row != INT_MAX || s.found_col != INT_MAX, s.over != 0};
        for (unsigned i = thread; i < sides; i += THREADS_) {
            unsigned place = tables.side[i] / 2u, upper = tables.side[i] % 2u;
            double &bound = side_of(tables.next[place], upper);
            side_of(tables.now[place], upper) = bound;
            bound = no_bound(upper);
            atomicAnd(&tables.key[place], ~+KEY_NEW); /* for both sides */
        }
        if (thread == 0) s.sides = 0;
        sync();
        return found;
    }

  protected:
    const Propagator<Val, Bound> &p;
    const BatchModel<Val, Bound> &m;
    NodeShared &s;
    const TableArrays<Index> &tables;
    const Bound *const base;

    __device__ int full() const {
        raise_flag<cuda::thread_scope_block>(s.over);
        return -1;
    }

  private:
    /* Applies the listed moves to the rows of their columns, and finds columns with crossing bounds. */
    __device__ void mark(unsigned sides, bool given) const {
        const unsigned lanes = m.lanes;
        for (unsigned i = thread / lanes; i < sides; i += THREADS_ / lanes) {
            const unsigned place = tables.side[i] / 2u, upper = tables.side[i] % 2u, col = tables.key[place] & ~KEY_NEW;
            double2 now = tables.now[place], next = tables.next[place];
            const double from = side_of(now, upper), to = side_of(next, upper);
            const bool looser = upper ? to > from : to < from;
            if (!given && thread % lanes == 0 &&
                gpuopt__propagator_crossed(&p.rules, gpuopt__max(now.x, next.x), gpuopt__min(now.y, next.y)))
                atomicMin(&s.found_col, static_cast<int>(col));
            const unsigned long long end = m.col_start[col + 1];
            for (unsigned long long k = m.col_start[col] + thread % lanes; k < end; k += lanes) {
                const int slot = m.entry_slot[k];
                const double a = static_cast<double>(m.entry_val[k]);
                const float2 scale = m.scale[slot];
                const bool is_rhs = (a > 0) != (upper != 0); /* a lower bound enters the least activity if a > 0 */
                unsigned shares = looser ? +SHARES : shares_of(p.rules, a, is_rhs ? scale.x : scale.y, from, to);
                if (shares) mark_row(slot, is_rhs || looser ? shares : 0, !is_rhs || looser ? shares << SHARE_BITS : 0);
            }
        }
    }

    /* Takes shares of a row's capacity, and queues the row if none is left. */
    __device__ void mark_row(int slot, unsigned of_rhs, unsigned of_lhs) const {
        const int place = take_row(static_cast<unsigned>(slot));
        if (place < 0) return;
        unsigned was = load_relaxed(tables.share[place]), will;
        for (;;) {
            const unsigned rhs = min((was & SHARES) + of_rhs, +SHARES),
                           lhs = min((was & SHARES << SHARE_BITS) + of_lhs, SHARES << SHARE_BITS);
            will = rhs | lhs | (was & SHARE_QUEUED);
            if (rhs == SHARES || lhs == SHARES << SHARE_BITS) will |= SHARE_QUEUED;
            if (will == was) return;
            const unsigned seen = atomicCAS(&tables.share[place], was, will);
            if (seen == was) break;
            was = seen;
        }
        if (!(will & SHARE_QUEUED) || was & SHARE_QUEUED) return;
        const bool is_short = slot < p.first_warp_slot();
        const unsigned at = atomicAdd(is_short ? &s.shorts : &s.longs, 1u);
        if (at < tables.size.rows) tables.queue[is_short ? at : tables.size.rows - 1 - at] = static_cast<Index>(place);
        else full(); /* rows beyond the limit are in the table briefly, through threads that find it full */
    }

    /* The place of a row, which is taken if the row has none; -1: the table is full. */
    __device__ int take_row(unsigned slot) const {
        const unsigned mask = tables.size.row_slots - 1;
        for (unsigned place = hash_of(slot) & mask;; place = (place + 1) & mask) {
            unsigned key = load_relaxed(tables.row_key[place]);
            if (key == KEY_EMPTY) {
                if (load_relaxed(s.rows) >= tables.size.rows) return full();
                key = atomicCAS(&tables.row_key[place], +KEY_EMPTY, slot);
                if (key == KEY_EMPTY) {
                    unsigned at = atomicAdd(&s.rows, 1u);
                    if (at >= tables.size.rows) return full();
                    tables.row_used[at] = static_cast<Index>(place);
                    return static_cast<int>(place);
                }
            }
            if (key == slot) return static_cast<int>(place);
        }
    }
};

} // namespace

#endif /* GPUOPT_CUDA_PROPAGATE_BATCH_TABLES_CUH */
