/* SPDX-License-Identifier: MIT
 *
 * Children of one basis on the GPU: from beginning to end.
 */
#ifndef GPUOPT_CUDA_SIMPLEX_CHILD_SOLVE_CUH
#define GPUOPT_CUDA_SIMPLEX_CHILD_SOLVE_CUH

#include "primal.cuh"
#include "proof.cuh"

namespace {

/* The arrays of a block. */
struct ChildState {
    ChildPoint point;
    ChildWork work;
    ChildInverse inverse;
    ChildCore::Data core;
    ChildRatioTest::Arrays ratio;
    ChildDual::Data pricing;
    ChildProof::Data duals;
};

class Child : ChildThreads {
  public:
    /* Works on child k until it has a verdict, or has made the iterations that it may. */
    __device__ void run(const ChildJob &job, int k) {
        const bool ends = job.pivot_limit < job.most;
        double margin = 0;
        corrected_ = exact_ = short_of_ = 0;
        bounds_ = job.bounds;
        strict_ = false;
        duals_ = UNKNOWN;
        proof.boundless = false;
        int outcome = GPUOPT_INFEASIBLE;
        const bool crossing = dual.begin(job, k);
        for (int j = thread(); j < root->cols; j += threads())
            proof.boundless |= point->lower[j] == -HUGE_VAL || point->upper[j] == HUGE_VAL;
        proof.boundless = any(proof.boundless);
        if (!crossing) outcome = iterate(ends ? job.pivot_limit : job.most, &margin);
        if (outcome == GPUOPT_MORE && ends) outcome = GPUOPT_FULL;
        report(job, k, outcome, crossing);
    }

  private:
    ChildView<const ChildRoot> root;
    ChildView<ChildPoint> point;
    ChildView<ChildWork> work;
    ChildView<ChildDual::Data> pricing;
    ChildView<const ChildProof::Data> duals;
    ChildDual dual;
    ChildPrimal primal;
    ChildProof proof;
    int corrected_; /* how often x or the duals were found wrong at the end */
    bool bounds_;   /* are wanted */
    bool strict_;   /* reduced costs count that are much smaller than the tolerance */
    int exact_;     /* how often the duals were made exact */
    int short_of_;  /* how often the proven bound was short of the cutoff that the objective had reached */
    double bound_;  /* CUTOFF: that has reached it */
    /* What y and y_low are: of true costs, with bounds that rows imply in key and z, or without rounding. */
    enum Duals { UNKNOWN, TRUE, IMPLIED, REFINED } duals_;
    enum { MOST_CORRECTIONS = 20, MOST_EXACT = 10 };

    /* ---- Iterating ---- */

    __device__ __noinline__ int iterate(int most, double *margin) {
        int p = dual.choose_row();
        for (;;) {
            const bool goes_on =
                p >= 0 && dual.iterations < most && !dual.products.full() && root->objective.cutoff == HUGE_VAL;
            if (!goes_on) dual.price.settle(true);
            if (dual.products.full()) dual.products.merge(), proof.rebuild(dual), p = dual.choose_row();
            if (root->objective.cutoff < HUGE_VAL && cut_off()) return GPUOPT_CUTOFF;
            if (p < 0) {
                int outcome = dual.bans > 0 ? again() : conclude_feasible(most);
                if (outcome == GPUOPT_MORE && dual.iterations >= most) return GPUOPT_MORE;
                if (outcome != GPUOPT_MORE) return outcome;
                p = dual.choose_row();
                continue;
            }
            if (dual.iterations >= most) return GPUOPT_MORE;
            const double excess = point->excess_at(p);
            const ChildRatio t = dual.pivot_row_and_ratio(p, excess);
            if (t.entering < 0) {
                if (proof.prove_infeasible(dual.block, dual.products, p, excess > 0 ? 1 : -1, margin))
                    return GPUOPT_INFEASIBLE;
                if (again() != GPUOPT_MORE) return GPUOPT_IMPRECISE;
                p = dual.choose_row();
                continue;
            }
            if (t.size < root->rules.pivot) {
                p = refuse(p);
                continue;
            }
            dual.products.column(dual.block, t.entering, work->alpha);
            if (!(fabs(work->alpha[p] - work->row[t.entering]) <= 1e-6 * t.size)) {
                if (again() != GPUOPT_MORE) return GPUOPT_IMPRECISE;
                p = refuse(p);
                continue;
            }
            dual.idle = t.step * t.size <= root->rules.dual ? dual.idle + 1 : 0;
            p = dual.pivot(p, t, excess > 0);
            if (dual.idle >= CHILD_IDLE) {
                if (dual.perturbed >= 20) return GPUOPT_IMPRECISE;
                dual.perturb();
            }
        }
    }

    /* Position p may not leave until again() is called. Returns the one that does. */
    __device__ __noinline__ int refuse(int p) {
        if (thread() == 0) pricing->refused[p] = 1;
        dual.bans++;
        __syncthreads();
        return dual.choose_row();
    }

    /* After a refused row: x from the original data, and all rows again. IMPRECISE: that has been done too
     * often. */
    __device__ __noinline__ int again() {
        if (++corrected_ > MOST_CORRECTIONS) return GPUOPT_IMPRECISE;
        for (int i = thread(); i < root->rows; i += threads()) pricing->refused[i] = 0;
        dual.bans = 0;
        proof.residual();
        proof.correct_x(dual.block, dual.products);
        return GPUOPT_MORE;
    }

    /* ---- Conclusions ---- */

    /* The bound that the present basis proves, with true costs. Overwrites moved, tau and, where some column has no
     * bound, alpha, rho, key and z. */
    __device__ __noinline__ double true_bound() {
        if (duals_ == UNKNOWN) proof.true_duals(dual.block, dual.products);
        const bool implied = proof.boundless && (duals_ == IMPLIED || proof.imply_bounds());
        if (proof.boundless && !implied) {
            if (duals_ != REFINED) proof.refine(dual.block, dual.products, -1, 0);
            proof.lean(dual.block, dual.products, -1, 1e-32 * gpuopt__max(1, root->largest_cost));
        }
        return proof.bound_by_duals(dual.block, true, implied);
    }

    /* Whether the objective, of the costs as they are shifted, has reached the cutoff, and so has the bound. */
    __device__ __noinline__ bool cut_off() {
        double objective = 0;
        for (int v = thread(); v < root->both; v += threads()) objective += point->d[v] * point->x[v];
        objective = dual.block.sum(objective);
        if (!(objective >= gpuopt__simplex_cutoff_after(root->objective.cutoff, short_of_))) return false;
        bound_ = true_bound();
        const double of_caller = gpuopt__simplex_bound_of_caller(bound_, root->cost_scale * root->primal_scale,
                                                                 root->objective.offset, root->objective.maximize);
        if (gpuopt__simplex_bound_reaches(of_caller, root->objective.limit, root->objective.maximize)) return true;
        short_of_++;
        return false;
    }

    /* x is outside by so much in the caller's units, but not in the scaled ones: from now on that counts. */
    __device__ void tighten(double reached) {
        __syncthreads(); /* all have read it */
        if (thread() == 0) point->primal = gpuopt__max(0.5 * point->primal * (root->rules.primal / reached), 1e-14);
        __syncthreads();
    }

    /* The true reduced costs, by y + y_low, into z. Returns which are wrong: some, some of a basic variable, or some
     * that are not numbers. */
    enum { WRONG = 1, WRONG_BASIC = 2, BROKEN = 4 };
    __device__ __noinline__ int wrong_costs() {
        int wrong = 0;
        for (int v = thread(); v < root->both; v += threads()) {
            double error_sum, z = proof.reduced(v, duals->y, duals->y_low, point->cost[v], &error_sum);
            work->z[v] = z;
            if (is_wrong(v, z)) wrong |= point->state[v] & CHILD_BASIC ? WRONG | WRONG_BASIC : +WRONG;
            if (!(fabs(z) < HUGE_VAL)) wrong |= BROKEN;
        }
        if (!any(wrong != 0)) return 0;
        return (any(wrong & WRONG) ? +WRONG : 0) | (any(wrong & WRONG_BASIC) ? +WRONG_BASIC : 0) |
               (any(wrong & BROKEN) ? +BROKEN : 0);
    }

    /* Whether the objective of x and that of y, by the reduced costs in z, differ by at most the tolerance. A reduced
     * cost that names an infinite bound counts as 0. The residuals are in step. */
    __device__ __noinline__ bool objectives_agree() {
        const double unit = root->cost_scale * root->primal_scale;
        double gap = 0, objective = 0;
        for (int v = thread(); v < root->both; v += threads()) {
            const double z = work->z[v], bound = z > 0 ? point->lower[v] : point->upper[v];
            const double x = point->x[v] + (v < root->cols ? 0 : work->step[v - root->cols]);
            if (fabs(bound) < HUGE_VAL) gap += z * (x - bound);
            if (v < root->cols) objective += point->cost[v] * x;
        }
        gap = dual.block.sum(gap);
        objective = dual.block.sum(objective) / unit +
                    (root->objective.maximize ? -root->objective.offset : root->objective.offset);
        return fabs(gap) / unit <= root->rules.dual * gpuopt__max(1, fabs(objective));
    }

    /* No basic variable is outside. OPTIMAL; MORE: go on; IMPRECISE. */
    __device__ __noinline__ int conclude_feasible(int most) {
        bool broken = false; /* numbers beyond the range of double */
        for (int i = thread(); i < root->rows; i += threads()) broken |= !(fabs(point->xb[i]) < HUGE_VAL);
        if (any(broken)) return GPUOPT_IMPRECISE;
        proof.residual();
        const double reached = proof.primal_reached(dual.block);
        if (reached > root->rules.primal) {
            if (++corrected_ > MOST_CORRECTIONS) return GPUOPT_IMPRECISE;
            proof.correct_x(dual.block, dual.products);
            if (corrected_ % 2 == 0) tighten(reached);
            return GPUOPT_MORE;
        }
        proof.true_duals(dual.block, dual.products);
        int wrong = wrong_costs();
        if (wrong & WRONG_BASIC) proof.refine(dual.block, dual.products, -1, 0), wrong = wrong_costs();
        if (wrong & BROKEN) return GPUOPT_IMPRECISE;
        if (!wrong && !objectives_agree()) { /* wrong costs within the tolerance meet large ranges: tolerate none */
            strict_ = true;
            proof.refine(dual.block, dual.products, -1, 0);
            wrong = wrong_costs();
            if (!wrong && !objectives_agree()) return GPUOPT_IMPRECISE;
        }
        if (wrong && ++corrected_ > MOST_CORRECTIONS) return GPUOPT_IMPRECISE;
        for (int v = thread(); v < root->both; v += threads()) point->shift[v] = 0;
        __syncthreads();
        for (int v = thread(); v < root->both; v += threads())
            point->d[v] = point->state[v] & CHILD_BASIC ? 0 : work->z[v];
        __syncthreads();
        if (!wrong) {
            duals_ = TRUE;
            if (!bounds_ || !proof.boundless) return GPUOPT_OPTIMAL;
            if (proof.imply_bounds()) return duals_ = IMPLIED, GPUOPT_OPTIMAL;
            if (!make_exact(most)) return GPUOPT_OPTIMAL;
            duals_ = UNKNOWN;
            return GPUOPT_MORE;
        }
        auto far = [&](int v) { return is_wrong(v, point->d[v]); };
        if (!primal.iterate(dual, most, far))
            dual.make_dual_feasible(point->d, far); /* flips, and the dual method again */
        return GPUOPT_MORE;
    }

    /* A column without a bound must not have a reduced cost of the wrong sign at all, however small, or the bound by
     * the duals proves nothing. Primal iterations mend that. Returns whether they have done something. */
    __device__ bool make_exact(int most) {
        const double least = 1e-28 * gpuopt__max(1, root->largest_cost);
        auto far = [&](int v) {
            const int state = point->state[v];
            if (state & CHILD_BASIC) return false;
            return (state & GPUOPT__SIMPLEX_MAY_INCREASE && point->upper[v] == HUGE_VAL && point->d[v] < -least) ||
                   (state & GPUOPT__SIMPLEX_MAY_DECREASE && point->lower[v] == -HUGE_VAL && point->d[v] > least);
        };
        if (++exact_ > MOST_EXACT) return false;
        proof.refine(dual.block, dual.products, -1, 0);
        duals_ = REFINED;
        bool wrong = false;
        for (int v = thread(); v < root->both; v += threads()) {
            double error_sum;
            point->d[v] = point->state[v] & CHILD_BASIC
                              ? 0
                              : proof.reduced(v, duals->y, duals->y_low, point->cost[v], &error_sum);
            wrong |= far(v);
        }
        const int before = dual.iterations;
        if (any(wrong)) primal.iterate(dual, most, far);
        return dual.iterations > before;
    }

    /* Whether a true reduced cost is beyond the tolerance, in the caller's units or scaled. */
    __device__ bool is_wrong(int v, double z) const {
        const int state = point->state[v];
        const double tolerance = strict_ ? 1e-4 * root->rules.dual : root->rules.dual;
        double by = fabs(z), unit = 1, size = 1;
        if (v < root->cols) {
            unit = 1 / (root->col_scale[v] * root->cost_scale);
            size = gpuopt__max(1, fabs(point->cost[v]) * unit);
        } else unit = root->row_scale[v - root->cols] / root->cost_scale;
        if (!(state & CHILD_BASIC)) {
            if (point->lower[v] == point->upper[v]) return false;
            if (state == GPUOPT__SIMPLEX_MAY_INCREASE) by = gpuopt__max(0, -z);
            else if (state == GPUOPT__SIMPLEX_MAY_DECREASE) by = gpuopt__max(0, z);
        }
        return by * unit > tolerance * size || by > tolerance * gpuopt__max(1, fabs(point->cost[v]));
    }

    /* ---- Reports ---- */

    __device__ __noinline__ void report(const ChildJob &job, int k, int outcome, bool crossing) {
        const bool proven = outcome == GPUOPT_INFEASIBLE;
        if (proven && (job.farkas || job.farkas_low)) report_farkas(job, k, crossing);
        for (int i = thread(); !proven && i < root->rows; i += threads()) {
            if (job.farkas) job.farkas[static_cast<int64_t>(k) * root->rows + i] = 0;
            if (job.farkas_low) job.farkas_low[static_cast<int64_t>(k) * root->rows + i] = 0;
        }
        for (int i = thread(); i < root->rows; i += threads()) point->x[point->head[i]] = point->xb[i];
        __syncthreads();
        gpuopt__simplex_sum sum = {0, 0, 0};
        for (int j = thread(); j < root->cols; j += threads()) {
            gpuopt__simplex_add_product(&sum, point->cost[j], point->x[j], 0);
            if (job.x)
                job.x[static_cast<int64_t>(k) * root->cols + j] =
                    point->x[j] * (root->col_scale[j] / root->primal_scale);
        }
        sum = dual.block.total(sum);
        for (int v = thread(); job.basis && v < root->both; v += threads())
            job.basis[static_cast<int64_t>(k) * root->both + v] = status_of(v);
        double bound = outcome == GPUOPT_CUTOFF ? bound_ : HUGE_VAL;
        if (job.bounds && !proven && outcome != GPUOPT_CUTOFF) bound = true_bound();
        if (thread() > 0) return;
        job.outcome[k] = outcome;
        job.iterations[k] = dual.iterations;
        job.bound[k] = bound;
        job.objective[k] = sum.hi;
        job.objective_low[k] = sum.lo;
    }

    /* As in gpuopt_simplex_get_basis. */
    __device__ uint8_t status_of(int v) const {
        const int state = point->state[v];
        if (state & CHILD_BASIC) return GPUOPT_VARIABLE_BASIC;
        if (state == (GPUOPT__SIMPLEX_MAY_INCREASE | GPUOPT__SIMPLEX_MAY_DECREASE)) return GPUOPT_VARIABLE_AT_ZERO;
        /* a slack is minus its row */
        return (state == GPUOPT__SIMPLEX_MAY_DECREASE) != (v >= root->cols) ? GPUOPT_VARIABLE_AT_UPPER
                                                                            : GPUOPT_VARIABLE_AT_LOWER;
    }

    /* The proof in y, in the caller's units, its largest entry between 1 and 2; where bounds cross, 0. */
    __device__ void report_farkas(const ChildJob &job, int k, bool crossing) {
        double size = 0;
        for (int i = thread(); !crossing && i < root->rows; i += threads())
            size = gpuopt__max(size, fabs(duals->y[i]) * root->row_scale[i]);
        size = dual.block.largest(size);
        int exponent = 1;
        if (size > 0) frexp(size, &exponent);
        const double unit = ldexp(1.0, 1 - exponent);
        for (int i = thread(); i < root->rows; i += threads()) {
            const double factor = -root->row_scale[i] * unit;
            const int64_t at = static_cast<int64_t>(k) * root->rows + i;
            if (job.farkas) job.farkas[at] = crossing || duals->y[i] == 0 ? 0 : duals->y[i] * factor;
            if (job.farkas_low) job.farkas_low[at] = crossing || duals->y_low[i] == 0 ? 0 : duals->y_low[i] * factor;
        }
        __syncthreads();
    }
};

} // namespace

#endif /* GPUOPT_CUDA_SIMPLEX_CHILD_SOLVE_CUH */
