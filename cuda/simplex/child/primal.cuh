/* SPDX-License-Identifier: MIT
 *
 * Children of one basis on the GPU: iterations of the primal simplex method. They take a feasible point to an optimum,
 * once the costs that the dual method had to shift are back.
 */
#ifndef GPUOPT_CUDA_SIMPLEX_CHILD_PRIMAL_CUH
#define GPUOPT_CUDA_SIMPLEX_CHILD_PRIMAL_CUH

#include "dual.cuh"

namespace {

/* Works on the state of ChildDual. */
class ChildPrimal : ChildThreads {
  public:
    /* Iterates from a feasible point with true reduced costs in d until none is `wrong`, or `most` iterations are done.
     * Returns whether it may go on: not if it needs too many iterations, no pivot is safe, or nothing blocks. */
    template <class Wrong>
    __device__ bool iterate(ChildDual &dual, int most, Wrong wrong) const {
        for (int left = 50 + root->rows; dual.iterations < most; left--) {
            ChildBest mine = {0, -1};
            for (int v = thread(); v < root->both; v += threads()) {
                double size = point->state[v] & CHILD_BASIC ? 0 : fabs(point->d[v]);
                if (size > mine.key && wrong(v)) mine = {size, v};
            }
            const int q = dual.block.best<true>(mine.key, mine.index).index;
            if (q < 0) return true;
            if (left == 0 || !enter(dual, q)) return false;
        }
        return true;
    }

  private:
    ChildView<const ChildRoot> root;
    ChildView<ChildPoint> point;
    ChildView<ChildWork> work;

    /* Harris' test: the position that blocks, -1: none. */
    __device__ int blocking(ChildBlock &block, double sigma, double *step) const {
        gpuopt__simplex_rules rules = {};
        rules.primal = point->primal, rules.zero = root->rules.zero;
        double limit = HUGE_VAL;
        auto step_to = [&](int i, double slack) {
            const int v = point->head[i];
            const double a = sigma * work->alpha[i];
            const double bound =
                gpuopt__simplex_blocking_bound(point->xb[i], point->lower[v], point->upper[v], a, &rules);
            return fabs(bound) < HUGE_VAL
                       ? gpuopt__simplex_step_to(point->xb[i], bound, 1 / a, gpuopt__simplex_slack_of(slack, bound))
                       : HUGE_VAL;
        };
        for (int i = thread(); i < root->rows; i += threads()) limit = gpuopt__min(limit, step_to(i, point->primal));
        limit = gpuopt__max(block.smallest(limit), 0);
        ChildBest mine = {0, -1};
        for (int i = thread(); limit < HUGE_VAL && i < root->rows; i += threads()) {
            if (step_to(i, 0) > limit || fabs(work->alpha[i]) <= mine.key) continue;
            mine = {fabs(work->alpha[i]), i};
        }
        const int p = block.best<true>(mine.key, mine.index).index;
        *step = p < 0 ? 0 : gpuopt__max(step_to(p, 0), 0);
        return p;
    }

    /* Lets a variable enter, or flips it. */
    __device__ bool enter(ChildDual &dual, int q) const {
        const double sigma = point->d[q] < 0 ? 1 : -1, range = point->upper[q] - point->lower[q];
        double step = 0;
        if (dual.products.full()) dual.products.merge();
        dual.products.column(dual.block, q, work->alpha);
        const int p = blocking(dual.block, sigma, &step);
        if (p < 0 && !(range < HUGE_VAL)) return false;
        if (p < 0 || range <= step) {
            const double by = sigma * range;
            __syncthreads();
            for (int i = thread(); i < root->rows; i += threads()) point->xb[i] -= by * work->alpha[i];
            if (thread() == 0) dual.flip(q);
            dual.iterations++;
            __syncthreads();
            return true;
        }
        const double pivot = work->alpha[p];
        if (fabs(pivot) < root->rules.pivot) return false;
        const int left = point->head[p];
        const double to = point->xb[p] - sigma * step * pivot;
        const bool to_upper =
            point->lower[left] == -HUGE_VAL || fabs(to - point->upper[left]) < fabs(to - point->lower[left]);
        dual.pivot_row(p);
        dual.exchange(p, q, to_upper, false);
        return true;
    }
};

} // namespace

#endif /* GPUOPT_CUDA_SIMPLEX_CHILD_PRIMAL_CUH */
