/* SPDX-License-Identifier: MIT
 *
 * Children of one basis on the GPU: from beginning to end, and what is proven there. Sums that prove something are taken
 * on the original data in twice the working precision, with a bound on their error, as in gpuopt_impl/simplex/bound.h.
 */
#ifndef GPUOPT_CUDA_SIMPLEX_CHILD_END_CUH
#define GPUOPT_CUDA_SIMPLEX_CHILD_END_CUH

#include "child_primal.cuh"

namespace {

class Child : public ChildPrimal {
  public:
    using ChildPrimal::ChildPrimal;

    /* Works on child k until it has a verdict, or has made the iterations that it may. */
    __device__ void run(const ChildJob &job, int k) {
        const bool ends = job.room < job.most;
        double margin = 0;
        corrected_ = exact_ = 0;
        bounds_ = job.bounds;
        boundless_ = false;
        int outcome = GPUOPT_INFEASIBLE;
        const bool crossing = begin(job, k);
        for (int j = thread; j < r.cols; j += threads) boundless_ |= s.lower[j] == -HUGE_VAL || s.upper[j] == HUGE_VAL;
        boundless_ = any(boundless_);
        if (!crossing) outcome = iterate(ends ? job.room : job.most, &margin);
        if (outcome == GPUOPT_MORE && ends) outcome = GPUOPT_FULL;
        report(job, k, outcome, crossing);
    }

  private:
    int corrected_;  /* how often x or the duals were found wrong at the end */
    bool boundless_; /* some column has an infinite bound */
    bool bounds_;    /* are wanted */
    int exact_;      /* how often the duals were made exact */
    enum { MOST_CORRECTIONS = 20, MOST_EXACT = 10 };

    /* ---- Iterating ---- */

    __device__ int iterate(int most, double *margin) {
        for (;;) {
            double excess = 0;
            const int p = price(&excess);
            if (p < 0) {
                int outcome = bans > 0 ? again() : conclude_feasible(most);
                if (outcome == GPUOPT_MORE && iterations >= most) return GPUOPT_MORE;
                if (outcome != GPUOPT_MORE) return outcome;
                continue;
            }
            if (iterations >= most) return GPUOPT_MORE;
            const ChildRatio t = pivot_row_and_ratio(p, excess);
            if (t.entering < 0) {
                if (prove_infeasible(p, excess > 0 ? 1 : -1, margin)) return GPUOPT_INFEASIBLE;
                if (again() != GPUOPT_MORE) return GPUOPT_IMPRECISE;
                continue;
            }
            if (t.size < r.pivot) {
                if (thread == 0) s.refused[p] = 1;
                bans++;
                __syncthreads();
                continue;
            }
            column(t.entering, s.alpha);
            if (!(fabs(s.alpha[p] - s.row[t.entering]) <= 1e-6 * t.size)) {
                if (again() != GPUOPT_MORE) return GPUOPT_IMPRECISE;
                if (thread == 0) s.refused[p] = 1;
                bans++;
                __syncthreads();
                continue;
            }
            idle = s.key[t.entering] * t.size <= r.dual ? idle + 1 : 0;
            __syncthreads();
            pivot(p, t, excess > 0);
            if (idle >= 40) {
                if (perturbed >= 20) return GPUOPT_IMPRECISE;
                perturb();
            }
        }
    }

    /* After a refused row: x from the original data, and all rows once more. IMPRECISE: that has been done too often. */
    __device__ int again() {
        if (++corrected_ > MOST_CORRECTIONS) return GPUOPT_IMPRECISE;
        for (int i = thread; i < r.rows; i += threads) s.refused[i] = 0;
        bans = 0;
        residual();
        correct_x();
        return GPUOPT_MORE;
    }

    /* ---- The point ---- */

    /* The engine's x of basic variables into x, and the residual -(A x + s) of each row into moved. */
    __device__ void residual() {
        for (int i = thread; i < r.rows; i += threads) s.x[s.head[i]] = s.xb[i];
        __syncthreads();
        for (int i = warp; i < r.rows; i += warps) {
            gpuopt__simplex_sum sum = {0, 0, 0};
            for (int64_t e = r.row_start[i] + lane; e < r.row_start[i + 1]; e += 32)
                gpuopt__simplex_add_product(&sum, r.row_val[e], s.x[r.row_col[e]], 0);
            sum = warp_total(sum);
            gpuopt__simplex_add(&sum, s.x[r.cols + i], 0, 0);
            if (lane == 0) s.moved[i] = -gpuopt__simplex_total(&sum);
        }
        __syncthreads();
    }
    __device__ void correct_x() {
        product<true>(nonzeros(s.moved, 0), s.tau);
        for (int i = thread; i < r.rows; i += threads) s.xb[i] += s.tau[i];
        __syncthreads();
    }

    /* By how much, in units of max(1, |bound|), x is outside in the host's units. `unit`: one scaled unit in those. */
    __device__ static double beyond(double x, double l, double u, double unit) {
        double by = gpuopt__max(0, gpuopt__max(l - x, x - u));
        return by == 0 ? 0 : by * unit / gpuopt__max(1, fabs(x < l ? l : u) * unit);
    }
    /* The largest such violation; the activity of a row is that of the columns' x. */
    __device__ double primal_reached() {
        double reached = 0;
        for (int j = thread; j < r.cols; j += threads)
            reached = gpuopt__max(reached, beyond(s.x[j], s.lower[j], s.upper[j], r.col_scale[j] / r.primal_scale));
        for (int i = thread; i < r.rows; i += threads) {
            int v = r.cols + i;
            reached = gpuopt__max(
                reached, beyond(s.x[v] + s.moved[i], s.lower[v], s.upper[v], 1 / (r.row_scale[i] * r.primal_scale)));
        }
        return largest(reached);
    }

    /* ---- The duals ---- */

    /* y, of the costs with their shifts, from the reduced costs of the logicals; y_low = 0. */
    __device__ void read_duals() {
        for (int i = thread; i < r.rows; i += threads) {
            int v = r.cols + i;
            double d = s.state[v] & CHILD_BASIC ? 0 : s.d[v];
            s.y[i] = s.cost[v] + s.shift[v] - d;
            s.y_low[i] = 0;
        }
        __syncthreads();
    }

    /* The cost of variable v less y'a, in twice the precision; ray >= 0: of costs that are 0 but for `direction` at the
     * basic variable of that position. *doubt as in step.h. */
    __device__ double reduced(int v, const double *y, const double *low, double cost, double *doubt) const {
        gpuopt__simplex_sum sum = {0, 0, 0};
        if (v < r.cols)
            for (int64_t e = r.col_start[v], end = r.col_start[v + 1]; e < end; e++)
                gpuopt__simplex_add_product(&sum, r.col_val[e], y[r.col_row[e]], low[r.col_row[e]]);
        else gpuopt__simplex_add(&sum, y[v - r.cols], low[v - r.cols], 0);
        gpuopt__simplex_add(&sum, -cost, 0, 0);
        *doubt = sum.doubt;
        return -gpuopt__simplex_total(&sum);
    }

    /* y + y_low gets nearer to the duals of a basis, for the true costs (ray < 0) or those of a ray: by BTRAN of what the
     * reduced costs of basic variables are instead of 0. Leaves out what is at most `least`. Returns the largest. */
    __device__ double refine_once(int ray, double direction, double least) {
        double most = 0;
        for (int i = thread; i < r.rows; i += threads) {
            double doubt, cost = ray < 0 ? s.cost[s.head[i]] : i == ray ? direction : 0;
            double wrong = reduced(s.head[i], s.y, s.y_low, cost, &doubt);
            s.moved[i] = wrong;
            most = gpuopt__max(most, fabs(wrong));
        }
        __syncthreads();
        most = largest(most);
        if (most > least) add_to_duals(least);
        return most;
    }
    /* y + y_low += B^-T moved. */
    __device__ void add_to_duals(double least) {
        product<false>(nonzeros(s.moved, least), s.tau);
        for (int i = thread; i < r.rows; i += threads) {
            double error, y = gpuopt__two_sum(s.y[i], s.tau[i], &error);
            s.y[i] = gpuopt__two_sum(y, error + s.y_low[i], &s.y_low[i]);
        }
        __syncthreads();
    }
    /* y + y_low of the true costs, good to rounding. */
    __device__ void true_duals() {
        const double size = gpuopt__max(1, r.largest_cost);
        read_duals();
        if (refine_once(-1, 0, 1e-14 * size) > 1e-6 * size) refine_once(-1, 0, 1e-14 * size);
    }
    /* The duals in twice the precision, with reduced costs next to 0, of the sign that needs its one bound, for basic
     * columns with one: as in bound.h. */
    __device__ void refine(int ray, double direction, double shift) {
        double before = HUGE_VAL;
        for (int round = 0; round < 6; round++) {
            double most = refine_once(ray, direction, 0);
            if (most == 0 || most > 0.5 * before) break;
            before = most;
        }
        for (int i = thread; i < r.rows; i += threads) {
            int j = s.head[i];
            bool lower = s.lower[j] > -HUGE_VAL, upper = s.upper[j] < HUGE_VAL;
            s.moved[i] = j < r.cols && lower != upper && i != ray ? lower ? -shift : shift : 0;
        }
        __syncthreads();
        add_to_duals(0);
    }

    /* ---- Bounds that the rows imply ---- */

    /* For columns without a bound, into key and z, as lower and upper ones: those that a row implies with the bounds of
     * its other columns, with a margin for rounding; 1e24 where there is none. Overwrites moved, tau, alpha and rho. */
    __device__ void imply_bounds() {
        for (int i = warp; i < r.rows; i += warps) {
            double least = 0, most = 0, size = 0, infinite = 0; /* ... terms of the least, and 2^26 times of the most */
            for (int64_t e = r.row_start[i] + lane; e < r.row_start[i + 1]; e += 32) {
                const double a = r.row_val[e];
                const int j = r.row_col[e];
                const double down = a > 0 ? s.lower[j] : s.upper[j], up = a > 0 ? s.upper[j] : s.lower[j];
                if (fabs(down) < HUGE_VAL) least += a * down, size += fabs(a * down);
                else infinite += 1;
                if (fabs(up) < HUGE_VAL) most += a * up, size += fabs(a * up);
                else infinite += 0x1p26;
            }
            least = warp_sum(least), most = warp_sum(most), size = warp_sum(size), infinite = warp_sum(infinite);
            if (lane == 0) s.moved[i] = least, s.tau[i] = most, s.alpha[i] = size, s.rho[i] = infinite;
        }
        __syncthreads();
        for (int j = thread; j < r.cols; j += threads) {
            const double reach = 1e24 / (r.col_scale[j] / r.primal_scale);
            double lower = s.lower[j], upper = s.upper[j];
            const bool no_lower = lower == -HUGE_VAL, no_upper = upper == HUGE_VAL;
            s.key[j] = gpuopt__max(lower, -reach);
            s.z[j] = gpuopt__min(upper, reach);
            if (!no_lower && !no_upper) continue;
            for (int64_t e = r.col_start[j]; e < r.col_start[j + 1]; e++) {
                const double a = r.col_val[e];
                const int i = r.col_row[e];
                if (no_upper) s.z[j] = gpuopt__min(s.z[j], implied(i, a, a > 0, lower));
                if (no_lower) s.key[j] = gpuopt__max(s.key[j], implied(i, a, a < 0, upper));
            }
        }
        __syncthreads();
    }
    /* What row i implies for a column with the entry a: by its largest activity, and the least of the other columns, if
     * `least`, else the other way round. own: the column's bound in the latter sum. Infinite: nothing. */
    __device__ double implied(int i, double a, bool least, double own) const {
        const int v = r.cols + i; /* minus the activity */
        const double side = least ? -s.lower[v] : -s.upper[v], margin = 1e-9 * (1 + s.alpha[i] + fabs(side)) / fabs(a);
        const double many = floor(s.rho[i] / 0x1p26), few = s.rho[i] - many * 0x1p26, infinite = least ? few : many;
        const bool own_infinite = !(fabs(own) < HUGE_VAL), upper = least == (a > 0);
        const double nothing = upper ? HUGE_VAL : -HUGE_VAL;
        if (!(fabs(side) < HUGE_VAL) || infinite > (own_infinite ? 1 : 0)) return nothing;
        const double others = (least ? s.moved[i] : s.tau[i]) - (own_infinite ? 0 : a * own);
        return (side - others) / a + (upper ? margin : -margin);
    }

    /* A bound on the sum of costs times values by y + y_low, of the true costs, then with
     * the bounds in key and z if some column has none, or of no costs. */
    __device__ double bound_by_duals(bool costs) {
        gpuopt__simplex_sum sum = {0, 0, 0};
        double slack = 0;
        for (int i = thread; i < r.rows; i += threads) { /* no multiplier for infinite sides */
            int v = r.cols + i;
            if (fabs(s.y[i] < 0 ? s.lower[v] : s.upper[v]) == HUGE_VAL) s.y[i] = s.y_low[i] = 0;
            gpuopt__simplex_bound_row(&sum, s.y[i], s.y_low[i], s.lower[v], s.upper[v]);
        }
        __syncthreads();
        for (int j = thread; j < r.cols; j += threads) {
            double doubt, z = reduced(j, s.y, s.y_low, costs ? s.cost[j] : 0, &doubt);
            double reach = 1e24 / (r.col_scale[j] / r.primal_scale);
            if (z == 0 && doubt == 0) continue;
            gpuopt__simplex_bound_column(&sum, &slack, z,
                                         gpuopt__simplex_error(z, doubt, r.col_start[j + 1] - r.col_start[j] + 1),
                                         gpuopt__max(s.lower[j], -reach), gpuopt__min(s.upper[j], reach));
        }
        sum = total(sum);
        slack = this->sum(slack);
        return gpuopt__simplex_bound_of(&sum, slack, r.both);
    }

    /* ---- Conclusions ---- */

    /* The row in rho as a proof that no point is feasible. */
    __device__ bool prove_infeasible(int p, double direction, double *margin) {
        for (int attempt = 0; attempt < (boundless_ ? 2 : 1); attempt++) {
            double size = 0;
            for (int i = thread; i < r.rows; i += threads) {
                s.y[i] = direction * s.rho[i];
                s.y_low[i] = 0;
                size = gpuopt__max(size, fabs(s.rho[i]));
            }
            size = largest(size);
            if (attempt > 0) refine(p, direction, 1e-25 * size);
            *margin = bound_by_duals(false);
            if (*margin > 0) return true;
        }
        return false;
    }

    /* No basic variable is outside. OPTIMAL; MORE: go on; IMPRECISE. */
    __device__ int conclude_feasible(int most) {
        bool broken = false; /* numbers beyond the range of double */
        for (int i = thread; i < r.rows; i += threads) broken |= !(fabs(s.xb[i]) < HUGE_VAL);
        if (any(broken)) return GPUOPT_IMPRECISE;
        residual();
        if (primal_reached() > r.primal) {
            if (++corrected_ > MOST_CORRECTIONS) return GPUOPT_IMPRECISE;
            correct_x();
            return GPUOPT_MORE;
        }
        true_duals();
        bool wrong = false;
        for (int v = thread; v < r.both; v += threads) {
            double doubt, z = reduced(v, s.y, s.y_low, s.cost[v], &doubt);
            s.z[v] = z;
            wrong |= is_wrong(v, z);
            broken |= !(fabs(z) < HUGE_VAL);
        }
        wrong = any(wrong);
        if (any(broken)) return GPUOPT_IMPRECISE;
        if (wrong && ++corrected_ > MOST_CORRECTIONS) return GPUOPT_IMPRECISE;
        for (int v = thread; v < r.both; v += threads) s.shift[v] = 0;
        shifted = false;
        __syncthreads();
        for (int v = thread; v < r.both; v += threads) s.d[v] = s.state[v] & CHILD_BASIC ? 0 : s.z[v];
        __syncthreads();
        if (!wrong) return bounds_ && boundless_ && make_exact(most) ? GPUOPT_MORE : GPUOPT_OPTIMAL;
        auto far = [&](int v) { return is_wrong(v, s.d[v]); };
        if (!primal(most, far)) make_dual_feasible(s.d, far); /* flips, and the dual method once more */
        return GPUOPT_MORE;
    }

    /* Without its bound a column must not have a reduced cost of the wrong sign at all, however small, or the bound by
     * the duals says nothing: primal iterations mend that. Returns whether they have done something. */
    __device__ bool make_exact(int most) {
        const double least = 1e-28 * gpuopt__max(1, r.largest_cost);
        auto far = [&](int v) {
            const int state = s.state[v];
            if (state & CHILD_BASIC) return false;
            return (state & GPUOPT__SIMPLEX_MAY_INCREASE && s.upper[v] == HUGE_VAL && s.d[v] < -least) ||
                   (state & GPUOPT__SIMPLEX_MAY_DECREASE && s.lower[v] == -HUGE_VAL && s.d[v] > least);
        };
        if (++exact_ > MOST_EXACT) return false;
        refine(-1, 0, 0);
        bool wrong = false;
        for (int v = thread; v < r.both; v += threads) {
            double doubt;
            s.d[v] = s.state[v] & CHILD_BASIC ? 0 : reduced(v, s.y, s.y_low, s.cost[v], &doubt);
            wrong |= far(v);
        }
        const int before = iterations;
        if (any(wrong)) primal(most, far);
        return iterations > before;
    }

    /* Whether a true reduced cost is beyond the tolerance, in the host's units or scaled. */
    __device__ bool is_wrong(int v, double z) const {
        const int state = s.state[v];
        double by = fabs(z), unit = 1, size = 1;
        if (v < r.cols) {
            unit = 1 / (r.col_scale[v] * r.cost_scale);
            size = gpuopt__max(1, fabs(s.cost[v]) * unit);
        } else unit = r.row_scale[v - r.cols] / r.cost_scale;
        if (!(state & CHILD_BASIC)) {
            if (s.lower[v] == s.upper[v]) return false;
            if (state == GPUOPT__SIMPLEX_MAY_INCREASE) by = gpuopt__max(0, -z);
            else if (state == GPUOPT__SIMPLEX_MAY_DECREASE) by = gpuopt__max(0, z);
        }
        return by * unit > r.dual * size || by > r.dual * gpuopt__max(1, fabs(s.cost[v]));
    }

    /* ---- Reports ---- */

    __device__ void report(const ChildJob &job, int k, int outcome, bool crossing) {
        const bool proven = outcome == GPUOPT_INFEASIBLE;
        if (proven && (job.farkas || job.farkas_low)) report_farkas(job, k, crossing);
        for (int i = thread; !proven && i < r.rows; i += threads) {
            if (job.farkas) job.farkas[static_cast<int64_t>(k) * r.rows + i] = 0;
            if (job.farkas_low) job.farkas_low[static_cast<int64_t>(k) * r.rows + i] = 0;
        }
        for (int i = thread; i < r.rows; i += threads) s.x[s.head[i]] = s.xb[i];
        __syncthreads();
        gpuopt__simplex_sum sum = {0, 0, 0};
        for (int j = thread; j < r.cols; j += threads) {
            gpuopt__simplex_add_product(&sum, s.cost[j], s.x[j], 0);
            if (job.x) job.x[static_cast<int64_t>(k) * r.cols + j] = s.x[j] * (r.col_scale[j] / r.primal_scale);
        }
        sum = total(sum);
        for (int v = thread; job.basis && v < r.both; v += threads)
            job.basis[static_cast<int64_t>(k) * r.both + v] = status_of(v);
        double bound = HUGE_VAL;
        if (job.bounds && !proven) {
            true_duals();
            if (boundless_) refine(-1, 0, 1e-32 * gpuopt__max(1, r.largest_cost));
            if (boundless_) imply_bounds();
            bound = bound_by_duals(true);
        }
        if (thread > 0) return;
        job.outcome[k] = outcome;
        job.iterations[k] = iterations;
        job.bound[k] = bound;
        job.objective[k] = sum.hi;
        job.objective_low[k] = sum.lo;
    }

    /* As gpuopt_simplex_get_basis says it. */
    __device__ uint8_t status_of(int v) const {
        const int state = s.state[v];
        if (state & CHILD_BASIC) return GPUOPT_VARIABLE_BASIC;
        if (state == (GPUOPT__SIMPLEX_MAY_INCREASE | GPUOPT__SIMPLEX_MAY_DECREASE)) return GPUOPT_VARIABLE_AT_ZERO;
        /* a logical is minus its row */
        return (state == GPUOPT__SIMPLEX_MAY_DECREASE) != (v >= r.cols) ? GPUOPT_VARIABLE_AT_UPPER
                                                                        : GPUOPT_VARIABLE_AT_LOWER;
    }

    /* The proof in y, in the host's units, its largest entry between 1 and 2; where bounds cross, 0. */
    __device__ void report_farkas(const ChildJob &job, int k, bool crossing) {
        double size = 0;
        for (int i = thread; !crossing && i < r.rows; i += threads)
            size = gpuopt__max(size, fabs(s.y[i]) * r.row_scale[i]);
        size = largest(size);
        int exponent = 1;
        if (size > 0) frexp(size, &exponent);
        const double unit = ldexp(1.0, 1 - exponent);
        for (int i = thread; i < r.rows; i += threads) {
            const double factor = -r.row_scale[i] * unit;
            const int64_t at = static_cast<int64_t>(k) * r.rows + i;
            if (job.farkas) job.farkas[at] = crossing || s.y[i] == 0 ? 0 : s.y[i] * factor;
            if (job.farkas_low) job.farkas_low[at] = crossing || s.y_low[i] == 0 ? 0 : s.y_low[i] * factor;
        }
        __syncthreads();
    }
};

} // namespace

#endif /* GPUOPT_CUDA_SIMPLEX_CHILD_END_CUH */
