/* SPDX-License-Identifier: MIT
 *
 * Simplex iterations on the GPU: many in one cooperative launch. What all blocks decide, they decide each for itself from
 * the same numbers.
 *
 * Deferred pivots (DEFERRED): the matrix stays as it is, up to K pivots are columns of U and rows of V. An exchange
 * follows each of: price (who enters); the pivot column and how far one may go (Harris' first pass); who leaves (the
 * second); in phase 1, which infeasibilities change; with REVISED, the pivot row of the inverse. Immediate ones update
 * each column of the matrix in one pass that takes its norm too.
 */
#ifndef GPUOPT_CUDA_SIMPLEX_RUN_CUH
#define GPUOPT_CUDA_SIMPLEX_RUN_CUH

#include "simplex_follow.cuh"

namespace {

template <bool REVISED, bool DEFERRED>
class SimplexBlock : SimplexFollow<REVISED, DEFERRED> {
  public:
    __device__ SimplexBlock(const SimplexView &view, const gpuopt__run &request, int pending, int launch,
                            unsigned char *memory)
        : Base(view, request, pending, launch, memory) {}

    __device__ void iterate() {
        this->load();
        while (step() && report.pivots + report.flips < run.most && (!DEFERRED || this->pending < s.most)) continue;
        this->clear_pending_row();
        this->store();
    }

  private:
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

    /* Fills report.entering, and what there is to know of it; false: nothing may enter. */
    __device__ bool price() {
        bool given = run.part != GPUOPT__RUN_ITERATE && run.part != GPUOPT__RUN_PRICE;
        if (given)
            this->local =
                thread() == 0 && this->own_slot(run.entering) >= 0 ? Cell{1, run.entering, 0} : Largest::none();
        Cell best = exchange<Largest>(
            s, sh.board, number, this->local,
            [&](Cell mine, double *word) {
                int j = mine.index - this->first_slot;
                if (mine.index < 0) return;
                word[0] = sh.d[j];
                word[1] = sh.weight[j];
                word[2] = sh.xn[j];
                word[3] = sh.ln[j];
                word[4] = sh.un[j];
                word[5] = __hiloint2double(REVISED ? sh.length[j] : 0, sh.slot[j]);
                word[6] = __longlong_as_double(REVISED ? sh.begin[j] : 0);
            },
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

    __device__ double stop(int i, double a) const { return gpuopt__stop(sh.xb[i], sh.lb[i], sh.ub[i], a, &run.rules); }

    /* How far one may go if every bound gives way by the tolerance; in report.largest, the largest entry. */
    __device__ double limit() {
        double sigma = report.direction, harris = gpuopt__harris_now(&run.rules, report.pivots + report.flips);
        Cell cell = Limit::none();
        for (int i = thread(); i < rows; i += SIMPLEX_THREADS) {
            double a = sigma * sh.alpha[i], bound = stop(i, a), t = HUGE_VAL;
            if (fabs(bound) < HUGE_VAL)
                t = fmax(gpuopt__meets(sh.xb[i], bound, a, gpuopt__slack_of(harris, bound)), 0.0);
            cell = Limit::of(cell, {t, __float_as_int(__double2float_rn(fabs(a))), 0});
        }
        cell = exchange<Limit>(s, sh.board, number, cell);
        report.largest = __int_as_float(cell.index);
        return cell.key;
    }

    /* The thread's largest pivot among those that block by `most`. */
    __device__ Cell blocking(double most) const {
        double sigma = report.direction;
        Cell best = Largest::none();
        if (run.part == GPUOPT__RUN_PIVOT)
            return thread() == 0 && this->own_row(run.leaving) >= 0 ? Cell{1, run.leaving, 0} : best;
        for (int i = thread(); i < rows; i += SIMPLEX_THREADS) {
            double a = sigma * sh.alpha[i], bound = stop(i, a);
            if (fabs(bound) < HUGE_VAL && gpuopt__meets(sh.xb[i], bound, a, 0) <= most)
                best = Largest::of(best, {fabs(a), this->first_row + i, 0});
        }
        return best;
    }

    __device__ void ratio_test() {
        double most = limit();
        const double *word = sh.board.record.word;
        int p = -1;
        if (most < HUGE_VAL || run.part == GPUOPT__RUN_PIVOT)
            p = exchange<Largest>(
                    s, sh.board, number, blocking(most),
                    [&](Cell mine, double *to) {
                        int i = mine.index - this->first_row;
                        if (mine.index < 0) return;
                        to[0] = sh.xb[i];
                        to[1] = sh.lb[i];
                        to[2] = sh.ub[i];
                        to[3] = sh.alpha[i];
                        to[4] = __hiloint2double(0, sh.head[i]);
                    },
                    [&](Cell all) { return all.index < 0 ? -1 : all.index / s.own_rows; })
                    .index;
        if (p >= 0) {
            this->leaving_x = word[0];
            this->leaving_l = word[1];
            this->leaving_u = word[2];
            this->leaving_alpha = word[3];
            this->leaving_head = __double2loint(word[4]);
        }
        if (run.part == GPUOPT__RUN_PIVOT)
            gpuopt__given_leaving(&run, this->leaving_x, this->leaving_l, this->leaving_u, this->leaving_alpha,
                                  &report);
        else
            gpuopt__choose_leaving(&run.rules, upper - lower, p, this->leaving_x, this->leaving_l, this->leaving_u,
                                   this->leaving_alpha, &report);
    }

    __device__ bool end(gpuopt__run_end why) {
        report.end = why;
        return false;
    }

    /* One iteration, or a part of one; false: there is nothing more to do. */
    __device__ bool step() {
        bool whole = run.part == GPUOPT__RUN_ITERATE || run.part == GPUOPT__RUN_PRICE;
        report.flip = 0;
        report.leaving = report.entering = -1;
        if (whole && run.phase == 1 && this->infeasible == 0) return end(GPUOPT__END_FEASIBLE);
        if (!price()) return end(GPUOPT__END_NO_ENTERING);
        if (REVISED && fresh(s.drifted) == this->launch) return end(GPUOPT__END_DRIFTED);
        if (run.part == GPUOPT__RUN_PRICE) return false;
        this->column();
        if (run.part == GPUOPT__RUN_FLIP) {
            report.flip = 1;
            report.step = upper - lower;
        } else {
            ratio_test();
        }
        if (run.part == GPUOPT__RUN_RATIO) return false;
        if (report.flip) {
            this->flip();
        } else if (report.leaving < 0) {
            return end(GPUOPT__END_NO_LEAVING);
        } else if (gpuopt__safe_pivot(&run.rules, report.pivot, report.largest)) {
            this->pivot();
        } else {
            int q = this->own_slot(report.entering);
            report.bans++;
            if (run.part == GPUOPT__RUN_PIVOT) return end(GPUOPT__END_UNSAFE);
            if (thread() == 0 && q >= 0) sh.state[q] |= GPUOPT__BANNED;
        }
        __syncthreads();
        this->find_local();
        return true;
    }
};

template <bool REVISED, bool DEFERRED>
__global__ void __launch_bounds__(SIMPLEX_THREADS, 1)
    simplex_run(const __grid_constant__ SimplexView s, const __grid_constant__ gpuopt__run run, int pending,
                int launch) {
    extern __shared__ __align__(16) unsigned char simplex_memory[];
    SimplexBlock<REVISED, DEFERRED>(s, run, pending, launch, simplex_memory).iterate();
}

} // namespace

#endif /* GPUOPT_CUDA_SIMPLEX_RUN_CUH */
