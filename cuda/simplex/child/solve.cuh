/* SPDX-License-Identifier: MIT
 *
 * Children of one basis on the GPU: from beginning to end.
 */
#ifndef GPUOPT_CUDA_SIMPLEX_CHILD_SOLVE_CUH
#define GPUOPT_CUDA_SIMPLEX_CHILD_SOLVE_CUH

#include "proof.cuh"

namespace {

class Child : public ChildProof {
  public:
    using ChildProof::ChildProof;

    /* Works on child k until it has a verdict, or has made the iterations that it may. */
    __device__ void run(const ChildJob &job, int k) {
        const bool ends = job.pivot_limit < job.most;
        double margin = 0;
        corrected_ = exact_ = short_of_ = 0;
        bounds_ = job.bounds;
        strict_ = false;
        duals_ = UNKNOWN;
        boundless_ = false;
        int outcome = GPUOPT_INFEASIBLE;
        const bool crossing = begin(job, k);
        for (int j = thread(); j < child_root.cols; j += threads())
            boundless_ |= child_own.lower[j] == -HUGE_VAL || child_own.upper[j] == HUGE_VAL;
        boundless_ = any(boundless_);
        if (!crossing) outcome = iterate(ends ? job.pivot_limit : job.most, &margin);
        if (outcome == GPUOPT_MORE && ends) outcome = GPUOPT_FULL;
        report(job, k, outcome, crossing);
    }

  private:
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
        int p = price();
        for (;;) {
            const bool goes_on = p >= 0 && iterations < most && !full() && child_root.cutoff == HUGE_VAL;
            if (!goes_on) settle(true);
            if (full()) merge(), rebuild(), p = price();
            if (child_root.cutoff < HUGE_VAL && cut_off()) return GPUOPT_CUTOFF;
            if (p < 0) {
                int outcome = bans > 0 ? again() : conclude_feasible(most);
                if (outcome == GPUOPT_MORE && iterations >= most) return GPUOPT_MORE;
                if (outcome != GPUOPT_MORE) return outcome;
                p = price();
                continue;
            }
            if (iterations >= most) return GPUOPT_MORE;
            const double excess = excess_at(p);
            const ChildRatio t = pivot_row_and_ratio(p, excess);
            if (t.entering < 0) {
                if (prove_infeasible(p, excess > 0 ? 1 : -1, margin)) return GPUOPT_INFEASIBLE;
                if (again() != GPUOPT_MORE) return GPUOPT_IMPRECISE;
                p = price();
                continue;
            }
            if (t.size < child_root.pivot) {
                p = refuse(p);
                continue;
            }
            column(t.entering, child_own.alpha);
            if (!(fabs(child_own.alpha[p] - child_own.row[t.entering]) <= 1e-6 * t.size)) {
                if (again() != GPUOPT_MORE) return GPUOPT_IMPRECISE;
                p = refuse(p);
                continue;
            }
            idle = t.step * t.size <= child_root.dual ? idle + 1 : 0;
            p = pivot(p, t, excess > 0);
            if (idle >= CHILD_IDLE) {
                if (perturbed >= 20) return GPUOPT_IMPRECISE;
                perturb();
            }
        }
    }

    /* Position p may not leave until again() is called. Returns the one that does. */
    __device__ __noinline__ int refuse(int p) {
        if (thread() == 0) child_own.refused[p] = 1;
        bans++;
        __syncthreads();
        return price();
    }

    /* After a refused row: x from the original data, and all rows again. IMPRECISE: that has been done too
     * often. */
    __device__ __noinline__ int again() {
        if (++corrected_ > MOST_CORRECTIONS) return GPUOPT_IMPRECISE;
        for (int i = thread(); i < child_root.rows; i += threads()) child_own.refused[i] = 0;
        bans = 0;
        residual();
        correct_x();
        return GPUOPT_MORE;
    }

    /* ---- Conclusions ---- */

    /* The bound that the present basis proves, with true costs. Overwrites moved, tau and, where some column has no
     * bound, alpha, rho, key and z. */
    __device__ __noinline__ double true_bound() {
        if (duals_ == UNKNOWN) true_duals();
        const bool implied = boundless_ && (duals_ == IMPLIED || imply_bounds());
        if (boundless_ && !implied) {
            if (duals_ != REFINED) refine(-1, 0);
            lean(-1, 1e-32 * gpuopt__max(1, child_root.largest_cost));
        }
        return bound_by_duals(true, implied);
    }

    /* Whether the objective, of the costs as they are shifted, has reached the cutoff, and so has the bound. */
    __device__ __noinline__ bool cut_off() {
        double objective = 0;
        for (int v = thread(); v < child_root.both; v += threads()) objective += child_own.d[v] * child_own.x[v];
        objective = sum(objective);
        if (!(objective >= gpuopt__simplex_cutoff_after(child_root.cutoff, short_of_))) return false;
        bound_ = true_bound();
        const double of_caller = gpuopt__simplex_bound_of_caller(
            bound_, child_root.cost_scale * child_root.primal_scale, child_root.offset, child_root.maximize);
        if (gpuopt__simplex_bound_reaches(of_caller, child_root.limit, child_root.maximize)) return true;
        short_of_++;
        return false;
    }

    /* x is outside by so much in the caller's units, but not in the scaled ones: from now on that counts. */
    __device__ void tighten(double reached) {
        __syncthreads(); /* all have read it */
        if (thread() == 0)
            child_root.primal = gpuopt__max(0.5 * child_root.primal * (child_root.within / reached), 1e-14);
        __syncthreads();
    }

    /* The true reduced costs, by y + y_low, into z. Returns which are wrong: some, some of a basic variable, or some
     * that are not numbers. */
    enum { WRONG = 1, WRONG_BASIC = 2, BROKEN = 4 };
    __device__ __noinline__ int wrong_costs() {
        int wrong = 0;
        for (int v = thread(); v < child_root.both; v += threads()) {
            double error_sum, z = reduced(v, child_own.y, child_own.y_low, child_own.cost[v], &error_sum);
            child_own.z[v] = z;
            if (is_wrong(v, z)) wrong |= child_own.state[v] & CHILD_BASIC ? WRONG | WRONG_BASIC : +WRONG;
            if (!(fabs(z) < HUGE_VAL)) wrong |= BROKEN;
        }
        if (!any(wrong != 0)) return 0;
        return (any(wrong & WRONG) ? +WRONG : 0) | (any(wrong & WRONG_BASIC) ? +WRONG_BASIC : 0) |
               (any(wrong & BROKEN) ? +BROKEN : 0);
    }

    /* Whether the objective of x and that of y, by the reduced costs in z, differ by at most the tolerance. A reduced
     * cost that names an infinite bound counts as 0. The residuals are in step. */
    __device__ __noinline__ bool objectives_agree() {
        const double unit = child_root.cost_scale * child_root.primal_scale;
        double gap = 0, objective = 0;
        for (int v = thread(); v < child_root.both; v += threads()) {
            const double z = child_own.z[v], bound = z > 0 ? child_own.lower[v] : child_own.upper[v];
            const double x = child_own.x[v] + (v < child_root.cols ? 0 : child_own.step[v - child_root.cols]);
            if (fabs(bound) < HUGE_VAL) gap += z * (x - bound);
            if (v < child_root.cols) objective += child_own.cost[v] * x;
        }
        gap = sum(gap);
        objective = sum(objective) / unit + (child_root.maximize ? -child_root.offset : child_root.offset);
        return fabs(gap) / unit <= child_root.dual * gpuopt__max(1, fabs(objective));
    }

    /* No basic variable is outside. OPTIMAL; MORE: go on; IMPRECISE. */
    __device__ __noinline__ int conclude_feasible(int most) {
        bool broken = false; /* numbers beyond the range of double */
        for (int i = thread(); i < child_root.rows; i += threads()) broken |= !(fabs(child_own.xb[i]) < HUGE_VAL);
        if (any(broken)) return GPUOPT_IMPRECISE;
        residual();
        const double reached = primal_reached();
        if (reached > child_root.within) {
            if (++corrected_ > MOST_CORRECTIONS) return GPUOPT_IMPRECISE;
            correct_x();
            if (corrected_ % 2 == 0) tighten(reached);
            return GPUOPT_MORE;
        }
        true_duals();
        int wrong = wrong_costs();
        if (wrong & WRONG_BASIC) refine(-1, 0), wrong = wrong_costs();
        if (wrong & BROKEN) return GPUOPT_IMPRECISE;
        if (!wrong && !objectives_agree()) { /* wrong costs within the tolerance meet large ranges: tolerate none */
            strict_ = true;
            refine(-1, 0);
            wrong = wrong_costs();
            if (!wrong && !objectives_agree()) return GPUOPT_IMPRECISE;
        }
        if (wrong && ++corrected_ > MOST_CORRECTIONS) return GPUOPT_IMPRECISE;
        for (int v = thread(); v < child_root.both; v += threads()) child_own.shift[v] = 0;
        __syncthreads();
        for (int v = thread(); v < child_root.both; v += threads())
            child_own.d[v] = child_own.state[v] & CHILD_BASIC ? 0 : child_own.z[v];
        __syncthreads();
        if (!wrong) {
            duals_ = TRUE;
            if (!bounds_ || !boundless_) return GPUOPT_OPTIMAL;
            if (imply_bounds()) return duals_ = IMPLIED, GPUOPT_OPTIMAL;
            if (!make_exact(most)) return GPUOPT_OPTIMAL;
            duals_ = UNKNOWN;
            return GPUOPT_MORE;
        }
        auto far = [&](int v) { return is_wrong(v, child_own.d[v]); };
        if (!primal(most, far)) make_dual_feasible(child_own.d, far); /* flips, and the dual method again */
        return GPUOPT_MORE;
    }

    /* A column without a bound must not have a reduced cost of the wrong sign at all, however small, or the bound by
     * the duals proves nothing. Primal iterations mend that. Returns whether they have done something. */
    __device__ bool make_exact(int most) {
        const double least = 1e-28 * gpuopt__max(1, child_root.largest_cost);
        auto far = [&](int v) {
            const int state = child_own.state[v];
            if (state & CHILD_BASIC) return false;
            return (state & GPUOPT__SIMPLEX_MAY_INCREASE && child_own.upper[v] == HUGE_VAL &&
                    child_own.d[v] < -least) ||
                   (state & GPUOPT__SIMPLEX_MAY_DECREASE && child_own.lower[v] == -HUGE_VAL && child_own.d[v] > least);
        };
        if (++exact_ > MOST_EXACT) return false;
        refine(-1, 0);
        duals_ = REFINED;
        bool wrong = false;
        for (int v = thread(); v < child_root.both; v += threads()) {
            double error_sum;
            child_own.d[v] = child_own.state[v] & CHILD_BASIC
                                 ? 0
                                 : reduced(v, child_own.y, child_own.y_low, child_own.cost[v], &error_sum);
            wrong |= far(v);
        }
        const int before = iterations;
        if (any(wrong)) primal(most, far);
        return iterations > before;
    }

    /* Whether a true reduced cost is beyond the tolerance, in the caller's units or scaled. */
    __device__ bool is_wrong(int v, double z) const {
        const int state = child_own.state[v];
        const double tolerance = strict_ ? 1e-4 * child_root.dual : child_root.dual;
        double by = fabs(z), unit = 1, size = 1;
        if (v < child_root.cols) {
            unit = 1 / (child_root.col_scale[v] * child_root.cost_scale);
            size = gpuopt__max(1, fabs(child_own.cost[v]) * unit);
        } else unit = child_root.row_scale[v - child_root.cols] / child_root.cost_scale;
        if (!(state & CHILD_BASIC)) {
            if (child_own.lower[v] == child_own.upper[v]) return false;
            if (state == GPUOPT__SIMPLEX_MAY_INCREASE) by = gpuopt__max(0, -z);
            else if (state == GPUOPT__SIMPLEX_MAY_DECREASE) by = gpuopt__max(0, z);
        }
        return by * unit > tolerance * size || by > tolerance * gpuopt__max(1, fabs(child_own.cost[v]));
    }

    /* ---- Reports ---- */

    __device__ __noinline__ void report(const ChildJob &job, int k, int outcome, bool crossing) {
        const bool proven = outcome == GPUOPT_INFEASIBLE;
        if (proven && (job.farkas || job.farkas_low)) report_farkas(job, k, crossing);
        for (int i = thread(); !proven && i < child_root.rows; i += threads()) {
            if (job.farkas) job.farkas[static_cast<int64_t>(k) * child_root.rows + i] = 0;
            if (job.farkas_low) job.farkas_low[static_cast<int64_t>(k) * child_root.rows + i] = 0;
        }
        for (int i = thread(); i < child_root.rows; i += threads()) child_own.x[child_own.head[i]] = child_own.xb[i];
        __syncthreads();
        gpuopt__simplex_sum sum = {0, 0, 0};
        for (int j = thread(); j < child_root.cols; j += threads()) {
            gpuopt__simplex_add_product(&sum, child_own.cost[j], child_own.x[j], 0);
            if (job.x)
                job.x[static_cast<int64_t>(k) * child_root.cols + j] =
                    child_own.x[j] * (child_root.col_scale[j] / child_root.primal_scale);
        }
        sum = total(sum);
        for (int v = thread(); job.basis && v < child_root.both; v += threads())
            job.basis[static_cast<int64_t>(k) * child_root.both + v] = status_of(v);
        double bound = outcome == GPUOPT_CUTOFF ? bound_ : HUGE_VAL;
        if (job.bounds && !proven && outcome != GPUOPT_CUTOFF) bound = true_bound();
        if (thread() > 0) return;
        job.outcome[k] = outcome;
        job.iterations[k] = iterations;
        job.bound[k] = bound;
        job.objective[k] = sum.hi;
        job.objective_low[k] = sum.lo;
    }

    /* As in gpuopt_simplex_get_basis. */
    __device__ uint8_t status_of(int v) const {
        const int state = child_own.state[v];
        if (state & CHILD_BASIC) return GPUOPT_VARIABLE_BASIC;
        if (state == (GPUOPT__SIMPLEX_MAY_INCREASE | GPUOPT__SIMPLEX_MAY_DECREASE)) return GPUOPT_VARIABLE_AT_ZERO;
        /* a slack is minus its row */
        return (state == GPUOPT__SIMPLEX_MAY_DECREASE) != (v >= child_root.cols) ? GPUOPT_VARIABLE_AT_UPPER
                                                                                 : GPUOPT_VARIABLE_AT_LOWER;
    }

    /* The proof in y, in the caller's units, its largest entry between 1 and 2; where bounds cross, 0. */
    __device__ void report_farkas(const ChildJob &job, int k, bool crossing) {
        double size = 0;
        for (int i = thread(); !crossing && i < child_root.rows; i += threads())
            size = gpuopt__max(size, fabs(child_own.y[i]) * child_root.row_scale[i]);
        size = largest(size);
        int exponent = 1;
        if (size > 0) frexp(size, &exponent);
        const double unit = ldexp(1.0, 1 - exponent);
        for (int i = thread(); i < child_root.rows; i += threads()) {
            const double factor = -child_root.row_scale[i] * unit;
            const int64_t at = static_cast<int64_t>(k) * child_root.rows + i;
            if (job.farkas) job.farkas[at] = crossing || child_own.y[i] == 0 ? 0 : child_own.y[i] * factor;
            if (job.farkas_low)
                job.farkas_low[at] = crossing || child_own.y_low[i] == 0 ? 0 : child_own.y_low[i] * factor;
        }
        __syncthreads();
    }
};

} // namespace

#endif /* GPUOPT_CUDA_SIMPLEX_CHILD_SOLVE_CUH */
