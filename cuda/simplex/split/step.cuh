/* SPDX-License-Identifier: MIT
 *
 * Kernels for a tableau with columns split over the ranks of a group, see gpuopt_impl/simplex/ranks/column_split.h.
 * Each rank stores the parts of the matrix, of V and of the vectors by slots for its own slots, and all vectors by
 * rows.
 *
 * An iteration is one launch of split_step. It continues the kernel of one GPU (iterations/run.cuh) from the ratio test
 * on, with the entering variable and the pivot column given. Then it prices its own slots for the next iteration.
 * Before that, the rank with the entering slot computes the column (split_column). Between launches the CPU exchanges
 * candidates and columns (handle/split_run.cuh). All sums have the same order as on one GPU.
 */
#ifndef GPUOPT_CUDA_SIMPLEX_SPLIT_STEP_CUH
#define GPUOPT_CUDA_SIMPLEX_SPLIT_STEP_CUH

#include "../iterations/run.cuh"

namespace {

/* The view of a rank's launches: its own slots, counted from 0. */
SimplexView split_view(const SimplexView &all) {
    SimplexView own = all;
    own.cols = all.lines;
    own.vec.d += all.first;
    own.vec.weight += all.first;
    own.vec.xn += all.first;
    own.vec.ln += all.first;
    own.vec.un += all.first;
    own.vec.slot += all.first;
    own.vec.state += all.first;
    return own;
}

template <bool DEFERRED>
class SplitBlock : protected SimplexBlock<false, DEFERRED> {
  public:
    using Base = SimplexBlock<false, DEFERRED>;
    using Base::Base;

    /* Continues with the entering variable on which the ranks agreed, if any. Then publishes the next candidate. */
    __device__ void step(const gpuopt__simplex_pivot_candidate &entering) {
        this->load();
        if (entering.slot >= 0) {
            accept(entering, static_cast<int>(entering.slot));
            read_column();
            this->go();
            /* Only now is it safe to clear rows that other blocks were reading. */
            if (report.pivots > 0) exchange<Counts>(s, sh.board, number, Counts::none());
            this->clear_pending_row();
            this->clear_dead();
        }
        offer();
        this->store();
    }

  protected:
    using Base::number, Base::report, Base::run, Base::s, Base::sh, Base::thread;

    /* Replaces price() of one GPU. slot: numbered within this rank. */
    __device__ void accept(const gpuopt__simplex_pivot_candidate &entering, int slot) {
        report.entering = slot;
        report.leaving = -1;
        this->dq = entering.d;
        this->weight_q = entering.weight;
        this->value = entering.x;
        this->lower = entering.lower;
        this->upper = entering.upper;
        this->variable = static_cast<int>(entering.variable);
        report.direction = run.part != GPUOPT__SIMPLEX_RUN_ITERATE ? run.direction : this->dq < 0 ? 1 : -1;
    }

    /* Replaces column() of one GPU. */
    __device__ void read_column() {
        for (int i = thread(); i < this->rows; i += SIMPLEX_THREADS) sh.alpha[i] = fresh(s.alpha + this->first_row + i);
        __syncthreads();
    }

    /* This rank's candidate, after price(). */
    __device__ gpuopt__simplex_pivot_candidate own_candidate(bool any) const {
        return {any ? fmax(report.score, DBL_MIN) : 0,
                this->dq,
                this->weight_q,
                any ? s.first + report.entering : -1,
                this->value,
                this->lower,
                this->upper,
                this->variable};
    }

    __device__ void offer() {
        const gpuopt__simplex_run_report done = report;
        const bool any = this->price();
        if (blockIdx.x == 0 && thread() == 0) *s.candidate = own_candidate(any);
        report = done;
    }
};

template <bool DEFERRED>
__global__ void __launch_bounds__(SIMPLEX_THREADS, 1)
    split_step(const __grid_constant__ SimplexView s, const __grid_constant__ gpuopt__simplex_run run,
               const __grid_constant__ gpuopt__simplex_pivot_candidate entering, int pending) {
    GPUOPT_DYNAMIC_SHARED(SimplexShared, split_state);
    SplitBlock<DEFERRED>(s, run, pending, 0, reinterpret_cast<unsigned char *>(split_state)).step(entering);
}

/* s.alpha = a column of this rank, with the pending pivots, summed as by add_lines(). stored: as in the matrix. */
__global__ void __launch_bounds__(PRODUCT_THREADS)
    split_column(const __grid_constant__ SimplexView s, int line, int pending, bool stored) {
    int64_t i = product_thread();
    if (i >= s.rows) return;
    double part[SIMPLEX_GROUPS] = {}, sum = s.matrix[line * s.pitch + i];
    for (int from = 0; from < pending; from += SIMPLEX_GROUPS)
#pragma unroll
        for (int g = 0; g < SIMPLEX_GROUPS; g++)
            if (from + g < pending) part[g] += s.v[(from + g) * s.wide + line] * s.u[(from + g) * s.pitch + i];
#pragma unroll
    for (int g = 0; g < SIMPLEX_GROUPS; g++)
        if (!stored) sum += part[g]; /* adds not even 0, because 0 + -0 is 0 */
    s.alpha[i] = sum;
}

/* Like add_parts(), for the parts that end in this rank's columns. s.out continues from the previous ranks. s.in_low
 * has the sum of the part that the previous ranks began. The last rank adds the basic slacks. */
__global__ void __launch_bounds__(PRODUCT_THREADS)
    split_sums(const __grid_constant__ SimplexView s, int parts, bool last) {
    const int end = s.first + s.lines;
    int64_t i = product_thread();
    if (i >= s.rows) return;
    double sum = s.out[i];
    for (int part = 0; part < parts; part++) {
        const int from = part_begins(s.cols, part, parts), to = part_begins(s.cols, part + 1, parts);
        if (to <= s.first || from >= end) continue;
        if (to <= end) sum += s.partial[part * s.pitch + i];
        else s.in_low[i] = s.partial[part * s.pitch + i];
    }
    const int variable = s.vec.head[i];
    if (last && variable >= s.cols) sum += s.in[variable - s.cols];
    s.out[i] = sum;
}

} // namespace

#endif /* GPUOPT_CUDA_SIMPLEX_SPLIT_STEP_CUH */
