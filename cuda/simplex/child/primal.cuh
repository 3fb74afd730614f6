/* SPDX-License-Identifier: MIT
 *
 * Children of one basis on the GPU: iterations of the primal simplex method. They take a feasible point to an optimum,
 * once the costs that the dual method had to shift are back.
 */
#ifndef GPUOPT_CUDA_SIMPLEX_CHILD_PRIMAL_CUH
#define GPUOPT_CUDA_SIMPLEX_CHILD_PRIMAL_CUH

#include "dual.cuh"

namespace {

class ChildPrimal : public ChildDual {
  public:
    using ChildDual::ChildDual;

  protected:
    /* Iterates from a feasible point with true reduced costs in d until none is `wrong`, or `most` iterations are done.
     * Returns whether it may go on: not if it needs too many iterations, no pivot is safe, or nothing blocks. */
    template <class Wrong>
    __device__ bool primal(int most, Wrong wrong) {
        for (int left = 50 + child_root.rows; iterations < most; left--) {
            ChildBest mine = {0, -1};
            for (int v = thread(); v < child_root.both; v += threads()) {
                double size = child_own.state[v] & CHILD_BASIC ? 0 : fabs(child_own.d[v]);
                if (size > mine.key && wrong(v)) mine = {size, v};
            }
            const int q = best<true>(mine.key, mine.index).index;
            if (q < 0) return true;
            if (left == 0 || !enter(q)) return false;
        }
        return true;
    }

  private:
    /* Harris' test: the position that blocks, -1: none. */
    __device__ int block(double sigma, double *step) {
        gpuopt__simplex_rules rules = {};
        rules.primal = child_root.primal, rules.zero = child_root.zero;
        double limit = HUGE_VAL;
        auto step_to = [&](int i, double slack) {
            const int v = child_own.head[i];
            const double a = sigma * child_own.alpha[i];
            const double bound =
                gpuopt__simplex_blocking_bound(child_own.xb[i], child_own.lower[v], child_own.upper[v], a, &rules);
            return fabs(bound) < HUGE_VAL
                       ? gpuopt__simplex_step_to(child_own.xb[i], bound, 1 / a, gpuopt__simplex_slack_of(slack, bound))
                       : HUGE_VAL;
        };
        for (int i = thread(); i < child_root.rows; i += threads())
            limit = gpuopt__min(limit, step_to(i, child_root.primal));
        limit = gpuopt__max(smallest(limit), 0);
        ChildBest mine = {0, -1};
        for (int i = thread(); limit < HUGE_VAL && i < child_root.rows; i += threads()) {
            if (step_to(i, 0) > limit || fabs(child_own.alpha[i]) <= mine.key) continue;
            mine = {fabs(child_own.alpha[i]), i};
        }
        const int p = best<true>(mine.key, mine.index).index;
        *step = p < 0 ? 0 : gpuopt__max(step_to(p, 0), 0);
        return p;
    }

    /* Lets a variable enter, or flips it. */
    __device__ bool enter(int q) {
        const double sigma = child_own.d[q] < 0 ? 1 : -1, range = child_own.upper[q] - child_own.lower[q];
        double step = 0;
        if (full()) merge();
        column(q, child_own.alpha);
        const int p = block(sigma, &step);
        if (p < 0 && !(range < HUGE_VAL)) return false;
        if (p < 0 || range <= step) {
            const double by = sigma * range;
            __syncthreads();
            for (int i = thread(); i < child_root.rows; i += threads()) child_own.xb[i] -= by * child_own.alpha[i];
            if (thread() == 0) flip(q);
            iterations++;
            __syncthreads();
            return true;
        }
        const double pivot = child_own.alpha[p];
        if (fabs(pivot) < child_root.pivot) return false;
        const int left = child_own.head[p];
        const double to = child_own.xb[p] - sigma * step * pivot;
        const bool to_upper =
            child_own.lower[left] == -HUGE_VAL || fabs(to - child_own.upper[left]) < fabs(to - child_own.lower[left]);
        pivot_row(p);
        exchange(p, q, to_upper, false);
        return true;
    }
};

} // namespace

#endif /* GPUOPT_CUDA_SIMPLEX_CHILD_PRIMAL_CUH */
