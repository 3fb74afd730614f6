/* SPDX-License-Identifier: MIT
 *
 * Simplex iterations on the GPU, many per cooperative launch. Every block makes all decisions itself, from the same
 * numbers as the other blocks.
 *
 * With deferred pivots (DEFERRED) the matrix does not change, and up to K pivots are kept as columns of U and rows of
 * V. The blocks exchange data several times per iteration:
 *
 *     after pricing                            the entering variable
 *     after the pivot column and ratio test    the leaving variable
 *     in phase 1                               changed infeasibilities
 *     with REVISED                             the pivot row of the inverse
 *
 * Immediate pivots update each column of the matrix in one pass, which also computes its norm.
 */
#ifndef GPUOPT_CUDA_SIMPLEX_ITERATIONS_RUN_CUH
#define GPUOPT_CUDA_SIMPLEX_ITERATIONS_RUN_CUH

#include "follow.cuh"

namespace {

template <bool REVISED, bool DEFERRED>
class SimplexBlock : protected SimplexFollow<REVISED, DEFERRED> {
  public:
    __device__ SimplexBlock(const SimplexView &view, const gpuopt__simplex_run &request, int pending, int64_t launch,
                            unsigned char *memory)
        : Base(view, request, pending, launch, memory), entering_field(Base::entering_field()),
          leaving_field(Base::leaving_field()) {}

    __device__ void iterate() {
        this->load();
        while (step() && report.pivots + report.flips < run.most && (!DEFERRED || this->pending < s.most)) continue;
        /* Only now is it safe to clear rows that other blocks were reading. A drifted pivot becomes visible, too. */
        if (report.pivots > 0) exchange<Counts>(s, sh.board, number, Counts::none());
        if (REVISED && fresh(s.drifted) == this->launch) report.end = GPUOPT__SIMPLEX_END_DRIFTED;
        this->clear_pending_row();
        this->clear_dead();
        this->store();
    }

  protected:
    using Base = SimplexFollow<REVISED, DEFERRED>;
    using Base::lower;
    using Base::number;
    using Base::report;
    using Base::rows;
    using Base::run;
    using Base::s;
    using Base::sh;
    using Base::thread;
    using Base::upper;

    const double *const entering_field, *const leaving_field; /* for this lane */

    /* Chooses the entering variable, and loads its data. False: no variable can enter. */
    __device__ bool price() {
        bool given = !gpuopt__simplex_chooses(run.part);
        if (given)
            this->local =
                thread() == 0 && this->own_slot(run.entering) >= 0 ? Cell{1, run.entering, 0} : Largest::none();
        Cell best = exchange<Largest>(s, sh.board, number, this->local, entering_field, this->first_slot,
                                      [&](Cell all) { return all.index < 0 ? -1 : all.index / s.own_slots; });
        const double *word = sh.board.record.word;
        report.entering = best.index;
        report.score = given ? 0 : best.key;
        if (best.index < 0) return false;
        report.reduced_cost = this->dq = word[0];
        this->weight_q = word[1];
        this->value = word[2];
        lower = word[3];
        upper = word[4];
        this->variable = __double2loint(word[5]);
        this->length = __double2hiint(word[5]);
        this->begin = __double_as_longlong(word[6]);
        report.direction = given ? run.direction : this->dq < 0 ? 1 : -1;
        return true;
    }

    /* Finds a group's limit and winner. */
    __device__ Winner group_winner(int from, int to) {
        double sigma = report.direction, harris = gpuopt__simplex_harris_now(&run.rules, report.pivots + report.flips);
        Cell limit = Limit::none(), best = Largest::none();
        for (int i = from + thread(); i < to; i += SIMPLEX_THREADS) {
            double a = sigma * sh.alpha[i], t = HUGE_VAL;
            double bound = gpuopt__simplex_blocking_bound(sh.xb[i], sh.lb[i], sh.ub[i], a, &run.rules);
            sh.step[i] = HUGE_VAL;
            if (fabs(bound) < HUGE_VAL) {
                double inverse = 1 / a;
                t = fmax(gpuopt__simplex_step_to(sh.xb[i], bound, inverse, gpuopt__simplex_slack_of(harris, bound)),
                         0.0);
                sh.step[i] = gpuopt__simplex_step_to(sh.xb[i], bound, inverse, 0);
            }
            limit = Limit::of(limit, {t, __float_as_int(__double2float_rn(fabs(sh.alpha[i]))), 0});
        }
        limit = Limit::warp(limit);
        if (simplex_lane() == 0) sh.board.warp[simplex_warp()] = limit;
        __syncthreads();
        int warps = min((to - from + 31) / 32, static_cast<int>(SIMPLEX_WARPS));
        limit = Limit::none();
        for (int w = 0; w < warps; w++) limit = Limit::of(limit, sh.board.warp[w]);
        for (int i = from + thread(); i < to; i += SIMPLEX_THREADS)
            if (sh.step[i] <= limit.key && sh.step[i] < HUGE_VAL)
                best = Largest::of(best, {fabs(sh.alpha[i]), this->first_row + i, 0});
        best = Largest::warp(best);
        if (simplex_lane() == 0) sh.best[simplex_warp()] = best;
        __syncthreads();
        best = Largest::none();
        for (int w = 0; w < warps; w++) best = Largest::of(best, sh.best[w]);
        Winner winner = {limit.key, 0, __int_as_float(limit.index), __double2float_rn(best.key), best.index};
        if (best.index >= 0) {
            winner.index -= this->first_row;
            winner.step = sh.step[winner.index];
        }
        if (run.part == GPUOPT__SIMPLEX_RUN_PIVOT) {
            int p = this->own_row(run.leaving);
            bool here = p >= from && p < to;
            winner = {HUGE_VAL, 0, winner.largest, here ? 1.0f : 0, here ? p : -1};
        }
        return winner;
    }

    /* Chooses the leaving variable, and loads its data. */
    __device__ void ratio_test() {
        unsigned trial = ++this->trial;
        Cell *cells = s.winners + (trial & 1) * static_cast<unsigned>(2 * s.groups);
        Record *records = s.winner_records + (trial & 1) * static_cast<unsigned>(s.groups);
        for (int from = 0; from < rows; from += s.group) {
            Winner winner = group_winner(from, min(from + s.group, rows));
            int group = (this->first_row + from) / s.group;
            if (thread() < RECORD_WORDS && winner.index >= 0)
                records[group].word[thread()] = leaving_field[winner.index];
            if (winner.index >= 0) winner.index -= from;
            __syncwarp();
            if (thread() == 0) {
                ptx_fence();
                winner.put_up(cells + 2 * group, trial);
            }
            if (from + s.group < rows) __syncthreads();
        }
        if (simplex_warp() == 0) {
            Winner best = collect_winners(cells, s.groups, s.group, trial);
            __syncwarp();
            if (best.index >= 0 && simplex_lane() < RECORD_WORDS)
                sh.board.record.word[simplex_lane()] = fresh(records[best.index / s.group].word + simplex_lane());
            if (simplex_lane() == 0) sh.board.best = {best.largest, best.index, 0};
        }
        __syncthreads();
        int p = sh.board.best.index;
        const double *word = sh.board.record.word;
        report.largest = sh.board.best.key;
        if (p >= 0) {
            this->leaving_x = word[0];
            this->leaving_l = word[1];
            this->leaving_u = word[2];
            this->leaving_alpha = word[3];
            this->leaving_head = __double2loint(word[4]);
            this->leaving_dead = __double2hiint(word[4]);
        }
        if (run.part == GPUOPT__SIMPLEX_RUN_PIVOT)
            gpuopt__simplex_given_leaving(&run, this->leaving_x, this->leaving_l, this->leaving_u, this->leaving_alpha,
                                          &report);
        else
            gpuopt__simplex_choose_leaving(&run.rules, upper - lower, p, p < 0 ? 0 : word[5], this->leaving_x,
                                           this->leaving_l, this->leaving_u, this->leaving_alpha, &report);
    }

    __device__ bool end(gpuopt__simplex_run_end why) {
        report.end = why;
        return false;
    }

    /* Does one iteration, or a part of one. False: the run has ended. */
    __device__ bool step() {
        bool whole = gpuopt__simplex_chooses(run.part);
        report.flip = 0;
        report.leaving = report.entering = -1;
        if (whole && run.phase == 1 && this->infeasible == 0) return end(GPUOPT__SIMPLEX_END_FEASIBLE);
        if (!price()) return end(GPUOPT__SIMPLEX_END_NO_ENTERING);
        if (REVISED && fresh(s.drifted) == this->launch) return end(GPUOPT__SIMPLEX_END_DRIFTED);
        if (run.part == GPUOPT__SIMPLEX_RUN_PRICE) return false;
        this->column();
        return go();
    }

    /* Continues the iteration from the pivot column on. */
    __device__ bool go() {
        if (run.part == GPUOPT__SIMPLEX_RUN_FLIP) {
            report.flip = 1;
            report.step = upper - lower;
        } else {
            ratio_test();
        }
        if (run.part == GPUOPT__SIMPLEX_RUN_RATIO) return false;
        if (report.flip) {
            this->flip();
        } else if (report.leaving < 0) {
            return end(GPUOPT__SIMPLEX_END_NO_LEAVING);
        } else if (gpuopt__simplex_safe_pivot(&run.rules, report.pivot, report.largest)) {
            this->pivot();
        } else {
            int q = this->own_slot(report.entering);
            report.bans++;
            if (run.part == GPUOPT__SIMPLEX_RUN_PIVOT) return end(GPUOPT__SIMPLEX_END_UNSAFE);
            if (thread() == 0 && q >= 0) sh.state[q] |= GPUOPT__SIMPLEX_BANNED;
        }
        __syncthreads();
        this->find_local();
        return true;
    }
};

template <bool REVISED, bool DEFERRED>
__global__ void __launch_bounds__(SIMPLEX_THREADS, 1)
    simplex_run(const __grid_constant__ SimplexView s, const __grid_constant__ gpuopt__simplex_run run, int pending,
                int64_t launch) {
    GPUOPT_DYNAMIC_SHARED(SimplexShared, simplex_state);
    SimplexBlock<REVISED, DEFERRED>(s, run, pending, launch, reinterpret_cast<unsigned char *>(simplex_state))
        .iterate();
}

} // namespace

#endif /* GPUOPT_CUDA_SIMPLEX_ITERATIONS_RUN_CUH */
