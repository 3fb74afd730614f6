/* SPDX-License-Identifier: MIT
 *
 * The first half of a pivot or flip on the GPU: the pivot column, and the step of the basic variables along it.
 */
#ifndef GPUOPT_CUDA_SIMPLEX_ITERATIONS_COLUMN_CUH
#define GPUOPT_CUDA_SIMPLEX_ITERATIONS_COLUMN_CUH

#include "block.cuh"

namespace {

template <bool REVISED, bool DEFERRED>
class SimplexColumn : protected SimplexState<REVISED, DEFERRED> {
  protected:
    using Base = SimplexState<REVISED, DEFERRED>;
    using Base::first_row, Base::number, Base::pending, Base::report, Base::rows, Base::run, Base::s, Base::sh,
        Base::thread;

    __device__ SimplexColumn(const SimplexView &view, const gpuopt__simplex_run &request, int pending, int64_t launch,
                             unsigned char *memory)
        : Base(view, request, pending, memory), launch(launch) {}

    int64_t launch; /* number of this launch */
    /* The entering variable: reduced cost, weight, value, bounds. REVISED: also the number of entries of its column. */
    double dq = 0, weight_q = 0, value = 0, lower = 0, upper = 0;
    int variable = -1, length = 0;
    int64_t begin = 0;
    /* The leaving variable, before it leaves its position. */
    double leaving_x = 0, leaving_l = 0, leaving_u = 0, leaving_alpha = 0;
    int leaving_head = -1;
    bool leaving_dead = false; /* whether its row of the matrix is dead */
    int cleared = -1;          /* row of U to set to 0, delayed because other blocks may have been reading it */

    __device__ bool exact() const { return run.rules.pricing == GPUOPT_PRICING_STEEPEST_EDGE; }

    /* ---- The pivot column ---- */

    __device__ void clear_pending_row() {
        int p = cleared < 0 ? -1 : this->own_row(cleared);
        if (DEFERRED && p >= 0)
            for (int k = thread(); k < pending - 1; k += SIMPLEX_THREADS) this->set_u(k, p, 0);
        cleared = -1;
    }

    /* factor[k] = row k of V times the entering column. */
    __device__ void column_factors() {
        bool sparse = REVISED && variable < s.cols;
        int at = REVISED ? variable - s.cols : report.entering;
        if (!sparse && thread() < pending) sh.factor[thread()] = fresh(s.v + thread() * s.wide + at);
        for (int k = simplex_warp(); sparse && k < pending; k += SIMPLEX_WARPS) {
            double sum = 0;
            for (int e = simplex_lane(); e < length; e += 32)
                sum += s.col_val[begin + e] * fresh(s.v + k * s.wide + s.col_row[begin + e]);
            sum = warp_sum(sum);
            if (simplex_lane() == 0) sh.factor[k] = sum;
        }
    }

    /* alpha = the block's part of B^-1 a, for the entering column a. */
    __device__ void column() {
        clear_pending_row();
        if (DEFERRED && rows > 0) column_factors(); /* for its own rows; see exchange.cuh on blocks without rows */
        if (!REVISED || variable >= s.cols) {
            const double *from = s.matrix + (REVISED ? variable - s.cols : report.entering) * s.pitch + first_row;
            for (int i = thread(); i < rows; i += SIMPLEX_THREADS)
                sh.alpha[i] = (!REVISED && begin) || this->dead_row(i) ? 0 : fresh(from + i);
            __syncthreads();
        } else {
            combine_columns_of_inverse();
        }
        if (DEFERRED) add_lines(sh.alpha, rows, sh.factor, pending, sh.partial, [&](int k) { return this->own_u(k); });
        if (!DEFERRED)
            for (int i = thread(); i < rows; i += SIMPLEX_THREADS) s.alpha[first_row + i] = sh.alpha[i];
    }

    /* A long column is processed in pieces of a fixed length, the same on every device. */
    __device__ void combine_columns_of_inverse() {
        for (int i = thread(); i < rows; i += SIMPLEX_THREADS) sh.alpha[i] = 0;
        for (int from = 0; from < length; from += SIMPLEX_PIECE) {
            int count = min(length - from, +SIMPLEX_PIECE);
            const int *row_of = s.col_row + begin + from;
            __syncthreads();
            for (int e = thread(); e < count; e += SIMPLEX_THREADS) sh.piece[e] = s.col_val[begin + from + e];
            __syncthreads();
            add_lines(sh.alpha, rows, sh.piece, count, sh.partial,
                      [&](int e) { return FreshLine{s.matrix + row_of[e] * s.pitch + first_row}; });
        }
        for (int i = thread(); i < rows; i += SIMPLEX_THREADS)
            if (this->dead_row(i)) sh.alpha[i] = 0;
        __syncthreads();
    }

    /* ---- Moving ---- */

    /* Moves the block's basic variables. In phase 1, and for single parts of an iteration, also counts the infeasible
     * ones, and lists the positions with changed feasibility in ascending order. Returns the length of the list. */
    __device__ int move() {
        double sigma = report.direction;
        bool listing = run.phase == 1 || run.part != GPUOPT__SIMPLEX_RUN_ITERATE;
        int listed = 0, more = 0;
        for (int from = 0; from < rows; from += SIMPLEX_THREADS) {
            int i = from + thread(), change = 0;
            if (i < rows && sh.alpha[i] != 0) {
                int was = gpuopt__simplex_infeasible(sh.xb[i], sh.lb[i], sh.ub[i], run.rules.primal), is = 0;
                sh.xb[i] -= report.step * (sigma * sh.alpha[i]);
                if (first_row + i != report.leaving)
                    is = gpuopt__simplex_infeasible(sh.xb[i], sh.lb[i], sh.ub[i], run.rules.primal);
                change = is - was;
                more += (is != 0) - (was != 0);
            }
            if (listing) listed = list(listed, i, change);
        }
        if (!listing) return 0;
        if (thread() == 0) s.listed[((number + 1) & 1) * s.blocks + blockIdx.x] = listed;
        Cell sum = exchange<Counts>(s, sh.board, number, Counts::make(more, thread() == 0 ? listed : 0));
        this->infeasible += Counts::first(sum);
        if (sum.index > 0 && sum.index <= SIMPLEX_LISTED) gather_changed();
        return sum.index;
    }

    /* Copies all blocks' lists, one after the other, to shared memory. */
    __device__ void gather_changed() {
        int block = thread(), own = block < s.blocks ? fresh(s.listed + (number & 1) * s.blocks + block) : 0, at;
        SimplexScan(sh.scan).ExclusiveSum(own, at);
        const Changed *entry = s.changed + static_cast<int64_t>(block) * s.own_rows;
        for (int e = 0; e < own; e++)
            sh.changed[at + e] = {fresh(&entry[e].alpha), fresh(&entry[e].position), fresh(&entry[e].change)};
        __syncthreads();
    }

    /* Appends the threads' changes to the block's list. Returns its new length. */
    __device__ int list(int listed, int i, int change) {
        unsigned ballot = __ballot_sync(~0u, change != 0);
        if (simplex_lane() == 0) sh.count[simplex_warp()] = __popc(ballot);
        __syncthreads();
        int at = listed + __popc(ballot & ((1u << simplex_lane()) - 1));
        for (int w = 0; w < SIMPLEX_WARPS; w++) {
            if (w < simplex_warp()) at += sh.count[w];
            listed += sh.count[w];
        }
        if (change)
            s.changed[static_cast<int64_t>(blockIdx.x) * s.own_rows + at] = {sh.alpha[i], first_row + i,
                                                                             2 * change + this->dead_row(i)};
        __syncthreads();
        return listed;
    }

    /* Calls f(entry) for all entries of the lists, in the order of their positions. */
    template <class F>
    __device__ void for_changed(int total, F f) const {
        const int *listed = s.listed + (number & 1) * s.blocks;
        if (total <= SIMPLEX_LISTED)
            for (int e = 0; e < total; e++) f(sh.changed[e]);
        for (int block = 0; total > SIMPLEX_LISTED && block < s.blocks; block++) {
            int count = fresh(listed + block);
            const Changed *entry = s.changed + static_cast<int64_t>(block) * s.own_rows;
            for (int e = 0; e < count; e++)
                f(Changed{fresh(&entry[e].alpha), fresh(&entry[e].position), fresh(&entry[e].change)});
        }
    }
};

} // namespace

#endif /* GPUOPT_CUDA_SIMPLEX_ITERATIONS_COLUMN_CUH */
