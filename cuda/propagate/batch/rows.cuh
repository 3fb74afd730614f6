/* SPDX-License-Identifier: MIT
 *
 * A batch of nodes on the GPU: the rows of one node to evaluate. Each is filtered at the node's bounds, summed if it
 * passes, and moves bounds. gpuopt_impl/propagate/arith/row.h defines the arithmetic and its order, as for the single
 * state of rounds/tighten.cuh.
 */
#ifndef GPUOPT_CUDA_PROPAGATE_BATCH_ROWS_CUH
#define GPUOPT_CUDA_PROPAGATE_BATCH_ROWS_CUH

#include "tables.cuh"

namespace {

template <int WORKERS, class Index, class Val, class Bound>
class NodeRows : public NodeTables<WORKERS, Index, Val, Bound> {
    using Tables = NodeTables<WORKERS, Index, Val, Bound>;

  public:
    using Tables::lane, Tables::thread;
    unsigned long long evaluated = 0; /* nonzeros of the rows counted by this thread */

    using Tables::Tables;

    /* Evaluates the queued rows, the added rows and, if the base leaves its active rows to the node's first round,
     * these rows in it. Each warp takes some. */
    __device__ void evaluate(bool active) {
        const int warp = static_cast<int>(thread / WARP);
#pragma unroll 1
        for (int from_base = 0; from_base <= static_cast<int>(active); from_base++) {
            const int shorts = static_cast<int>(from_base ? m.base->short_active : s.shorts),
                      longs = static_cast<int>(from_base ? m.base->long_active : s.longs);
#pragma unroll 1
            for (int i = warp; i < longs; i += WORKERS)
                row<WARP>(from_base ? m.active[p.first_warp_slot() + i] : queued(tables.size.rows - 1 - i, WARP), true);
#pragma unroll 1
            for (int i = warp * GROUPS; i < shorts; i += WORKERS * GROUPS) {
                const int at = i + lane / GROUP;
                int slot = 0;
                if (at < shorts) slot = from_base ? m.active[at] : queued(static_cast<unsigned>(at), GROUP);
                row<GROUP>(slot, at < shorts);
            }
        }
#pragma unroll 1
        for (int i = warp; i < m.tree.added; i += WORKERS) added(i);
    }

  protected:
    using Tables::p, Tables::m, Tables::s, Tables::tables;

  private:
    enum { TOGETHER = 4 }; /* entries that a thread loads at a time */

    /* The row at a place of the queue; removes it from the queue. Each of `width` lanes makes the call. */
    __device__ int queued(unsigned at, int width) const {
        const unsigned place = tables.queue[at];
        if (lane % width == 0) tables.share[place] &= ~SHARE_QUEUED;
        return static_cast<int>(tables.row_key[place]);
    }

    /* Each WIDTH lanes evaluate a row; `valid`: they have one. All lanes of the warp take part. */
    template <int WIDTH>
    __device__ void row(int slot, bool valid) {
        const int length = valid ? p.length[slot] : 0;
        const long long at = valid ? p.start_of(slot) : 0;
        const double2 side = valid ? p.sides[slot] : make_double2(-HUGE_VAL, HUGE_VAL);
        if (lane % WIDTH == 0) evaluated += static_cast<unsigned>(length);
        row<WIDTH, WIDTH == GROUP ? +WARP : 1>(p.val + at, p.col + at, length, side, valid,
                                               [&] { return p.row[slot]; });
    }

    /* The warp evaluates an added row; if it is short, each group does the same. */
    __device__ void added(int index) {
        const AddedRow<Bound> row = added_row(p, m.tree, index);
        const auto number = [&] { return p.rows + index; };
        if (row.length < 0) return;
        if (lane == 0) evaluated += static_cast<unsigned>(row.length);
        if (row.length <= GPUOPT__PROPAGATOR_SHORT)
            this->row<GROUP, 1>(row.val, row.col, row.length, row.side, true, number);
        else this->row<WARP, 1>(row.val, row.col, row.length, row.side, true, number);
    }

    /* A row with entries `unit` apart; number(): the caller's number of it. */
    template <int WIDTH, int unit, class Entry, class F>
    __device__ void row(const Entry *val, const unsigned *col, int length, double2 side, bool valid, F number) {
        const int first = lane % WIDTH;
        const bool passed = filter<WIDTH, unit>(val, col, length, side) && valid;
        if (!__any_sync(~0u, passed)) return;
        const int whole = length;
        if (!passed) length = 0;
        gpuopt__propagator_activities activities = sum<WIDTH, unit>(val, col, length);
        const gpuopt__propagator_row limits = gpuopt__propagator_row_make(&activities, &p.rules, side.x, side.y, whole);
        if (__any_sync(~0u, passed && limits.violated)) {
            const gpuopt__pair size = magnitudes<WIDTH, unit>(val, col, length);
            if (passed && limits.violated &&
                (gpuopt__propagator_limit_violated(&limits.limit[0], &p.rules, side.y, size.first) ||
                 gpuopt__propagator_limit_violated(&limits.limit[1], &p.rules, side.x, size.second))) {
                if (first == 0) atomicMin(&s.found_row, number());
                length = 0;
            }
        }
#pragma unroll 1
        for (int k = first; k < length; k += WIDTH) {
            const unsigned col2 = col[k * unit];
            const double a = static_cast<double>(val[k * unit]);
            const double2 pair = this->bounds_of(col2);
            const int sides = gpuopt__propagator_reaching_sides(&limits, &p.rules, a, pair.x, pair.y);
            if (sides) tighten(limits, sides, a, col2, pair);
        }
        __syncwarp();
    }

    /* Whether a row passes the filter. */
    template <int WIDTH, int unit, class Entry>
    __device__ bool filter(const Entry *val, const unsigned *col, int length, double2 side) const {
        gpuopt__propagator_filter f = gpuopt__propagator_filter_start();
#pragma unroll 1
        for (int k = lane % WIDTH; k < length; k += TOGETHER * WIDTH) {
            unsigned col2[TOGETHER];
            double a[TOGETHER];
            double2 pair[TOGETHER];
#pragma unroll
            for (int t = 0; t < TOGETHER; t++) {
                const bool there = k + t * WIDTH < length;
                col2[t] = there ? col[(k + t * WIDTH) * unit] : 2 * static_cast<unsigned>(p.cols);
                a[t] = there ? static_cast<double>(val[(k + t * WIDTH) * unit]) : 0;
            }
#pragma unroll
            for (int t = 0; t < TOGETHER; t++) pair[t] = this->bounds_of(col2[t]); /* of column `cols`: 0..0 */
#pragma unroll
            for (int t = 0; t < TOGETHER; t++)
                if (k + t * WIDTH < length)
                    gpuopt__propagator_filter_add(&f, &p.rules, is_rounded<Bound>(col2[t]), a[t], pair[t].x, pair[t].y);
        }
        merge_filters(f, WIDTH);
        return gpuopt__propagator_filter_passes(&f, &p.rules, side.x, side.y, GPUOPT__PROPAGATOR_SHORT + length / WARP);
    }

    /* A row's activities, in the order that row.h fixes. */
    template <int WIDTH, int unit, class Entry>
    __device__ gpuopt__propagator_activities sum(const Entry *val, const unsigned *col, int length) const {
        constexpr int SEGMENT = GPUOPT__PROPAGATOR_SEGMENT;
        gpuopt__propagator_activities all = gpuopt__propagator_activities_start(), part;
#pragma unroll 1
        for (int before = 0; before == 0 || (WIDTH == WARP && before < length); before += SEGMENT) {
            part = gpuopt__propagator_activities_start();
            const int end = min(before + SEGMENT, length);
#pragma unroll 1
            for (int k = before + lane % WIDTH; k < end; k += WIDTH) {
                const double2 pair = this->bounds_of(col[k * unit]);
                gpuopt__propagator_activities_add(&part, &p.rules, static_cast<double>(val[k * unit]), pair.x, pair.y);
            }
            merge_activities(part, WIDTH);
            if (WIDTH < WARP || length <= SEGMENT) return part;
            if (before / SEGMENT % WARP == lane) gpuopt__propagator_activities_merge(&all, &part);
        }
        merge_activities(all, WARP);
        return all;
    }

    /* The sums of the sizes of a row's finite terms, in the same order. Few rows reach this point. */
    template <int WIDTH, int unit, class Entry>
    __device__ gpuopt__pair magnitudes(const Entry *val, const unsigned *col, int length) const {
        constexpr int SEGMENT = GPUOPT__PROPAGATOR_SEGMENT;
        gpuopt__pair all = {0, 0};
#pragma unroll 1
        for (int before = 0; before == 0 || (WIDTH == WARP && before < length); before += SEGMENT) {
            gpuopt__pair part = {0, 0};
            const int end = min(before + SEGMENT, length);
#pragma unroll 1
            for (int k = before + lane % WIDTH; k < end; k += WIDTH) {
                const double a = static_cast<double>(val[k * unit]);
                const double2 pair = this->bounds_of(col[k * unit]);
                const gpuopt__pair size = {gpuopt__propagator_term_size(&p.rules, a, pair.x),
                                           gpuopt__propagator_term_size(&p.rules, a, pair.y)};
                part = gpuopt__pair_add(part, gpuopt__pair_by_sign(a, size));
            }
            part = sum_pairs(part, WIDTH);
            if (WIDTH < WARP || length <= SEGMENT) return part;
            if (before / SEGMENT % WARP == lane) all = gpuopt__pair_add(all, part);
        }
        return sum_pairs(all, WARP);
    }

    /* Moves the bounds of an entry's column that these sides of its row imply. */
    __device__ void tighten(const gpuopt__propagator_row &limits, int sides, double a, unsigned col2,
                            double2 pair) const {
        int kind = static_cast<int>(col2 & 1);
        if (!(pair.x < pair.y) && this->is_fixed(col2 / 2)) return;
#pragma unroll 1
        for (int lhs = 0; lhs < 2; lhs++) {
            double bound = 0;
            int moved = 0;
            if (sides >> lhs & 1)
                moved = gpuopt__propagator_tighten(lhs ? &limits.limit[1] : &limits.limit[0], &p.rules, lhs ? -a : a,
                                                   pair.x, pair.y, kind, &bound);
            if (moved) this->move(col2 / 2, moved == GPUOPT__PROPAGATOR_UPPER, bound);
        }
    }
};

} // namespace

#endif /* GPUOPT_CUDA_PROPAGATE_BATCH_ROWS_CUH */
