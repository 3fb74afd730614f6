/* SPDX-License-Identifier: MIT
 *
 * Children of one basis on the GPU: what a point, duals or a row of B^-1 prove about the child. Sums that prove
 * something are taken on the original data in twice the working precision, with a bound on their error, as in
 * gpuopt_impl/simplex/verdict/bound.h.
 */
#ifndef GPUOPT_CUDA_SIMPLEX_CHILD_PROOF_CUH
#define GPUOPT_CUDA_SIMPLEX_CHILD_PROOF_CUH

#include "primal.cuh"

namespace {

class ChildProof : public ChildPrimal {
  public:
    using ChildPrimal::ChildPrimal;

  protected:
    bool boundless_; /* some column has an infinite bound */

    /* ---- The point ---- */

    /* Whether a warp had better work on a row than a part of one on each of some. */
    __device__ static bool row_is_long() {
        return child_root.row_start[child_root.rows] > int64_t{32} * child_root.rows;
    }
    /* LANES threads work on a row. some(from, end) is called for its entries: this thread has from, from + LANES, ...
     * before end. Then all(i) is called, where these threads may meet; a part of a warp without a row calls all(-1). */
    template <int LANES, class Some, class All>
    __device__ static void each_row(Some some, All all) {
        for (int first = warp() * (32 / LANES); first < child_root.rows; first += warps() * (32 / LANES)) {
            const int i = first + lane() / LANES;
            const bool is = i < child_root.rows;
            some(is ? child_root.row_start[i] + lane() % LANES : 0, is ? child_root.row_start[i + 1] : 0);
            all(is ? i : -1);
        }
    }
    template <int LANES>
    __device__ void residuals() {
        gpuopt__simplex_sum sum;
        each_row<LANES>(
            [&](int64_t from, int64_t end) {
                sum = {0, 0, 0};
#pragma unroll 4
                for (int64_t e = from; e < end; e += LANES)
                    gpuopt__simplex_add_product(&sum, child_root.row_val[e], child_own.x[child_root.row_col[e]], 0);
            },
            [&](int i) {
                sum = lanes_total<LANES>(sum);
                if (lane() % LANES > 0 || i < 0) return;
                gpuopt__simplex_add(&sum, child_own.x[child_root.cols + i], 0, 0);
                child_own.moved[i] = -gpuopt__simplex_total(&sum);
            });
    }

    /* The engine's x of basic variables into x, and the residual -(A x + s) of each row into moved. */
    __device__ __noinline__ void residual() {
        for (int i = thread(); i < child_root.rows; i += threads()) child_own.x[child_own.head[i]] = child_own.xb[i];
        __syncthreads();
        if (row_is_long()) residuals<32>();
        else residuals<8>();
        __syncthreads();
    }
    __device__ void correct_x() {
        product<true>(nonzeros(child_own.moved, 0), child_own.tau);
        for (int i = thread(); i < child_root.rows; i += threads()) child_own.xb[i] += child_own.tau[i];
        __syncthreads();
    }

    /* By how much, in units of max(1, |bound|), x is outside in the caller's units. `unit`: one scaled unit in
     * those. */
    __device__ static double beyond(double x, double l, double u, double unit) {
        double by = gpuopt__max(0, gpuopt__max(l - x, x - u));
        return by == 0 ? 0 : by * unit / gpuopt__max(1, fabs(x < l ? l : u) * unit);
    }
    /* Whether the basic variable at a position is outside by more than the caller's tolerance, in its units or
     * scaled. */
    __device__ static bool is_outside(int p) {
        const int v = child_own.head[p], i = v - child_root.cols;
        const double x = child_own.xb[p], l = child_own.lower[v], u = child_own.upper[v],
                     unit = i < 0 ? child_root.col_scale[v] : 1 / child_root.row_scale[i];
        return gpuopt__simplex_excess(x, l, u, child_root.within) != 0 ||
               beyond(x, l, u, unit / child_root.primal_scale) > child_root.within;
    }
    /* The largest such violation; the activity of a row is that of the columns' x. Leaves the residuals
     * in step. */
    __device__ __noinline__ double primal_reached() {
        double reached = 0;
        for (int j = thread(); j < child_root.cols; j += threads())
            reached = gpuopt__max(reached, beyond(child_own.x[j], child_own.lower[j], child_own.upper[j],
                                                  child_root.col_scale[j] / child_root.primal_scale));
        for (int i = thread(); i < child_root.rows; i += threads()) {
            int v = child_root.cols + i;
            child_own.step[i] = child_own.moved[i];
            reached =
                gpuopt__max(reached, beyond(child_own.x[v] + child_own.moved[i], child_own.lower[v], child_own.upper[v],
                                            1 / (child_root.row_scale[i] * child_root.primal_scale)));
        }
        return largest(reached);
    }

    /* ---- The duals ---- */

    /* y, of the costs with their shifts, from the reduced costs of the slacks; y_low = 0. */
    __device__ void read_duals() {
        for (int i = thread(); i < child_root.rows; i += threads()) {
            int v = child_root.cols + i;
            double d = child_own.state[v] & CHILD_BASIC ? 0 : child_own.d[v];
            child_own.y[i] = child_own.cost[v] + child_own.shift[v] - d;
            child_own.y_low[i] = 0;
        }
        __syncthreads();
    }

    /* The cost of variable v less y'a, in twice the precision; ray >= 0: of costs that are 0 but for `direction` at the
     * basic variable of that position. *error_sum as in gpuopt_impl/simplex/arith/step.h. */
    __device__ double reduced(int v, const double *y, const double *low, double cost, double *error_sum) const {
        gpuopt__simplex_sum sum = {0, 0, 0};
        if (v < child_root.cols)
#pragma unroll 4
            for (int64_t e = child_root.col_start[v], end = child_root.col_start[v + 1]; e < end; e++)
                gpuopt__simplex_add_product(&sum, child_root.col_val[e], y[child_root.col_row[e]],
                                            low[child_root.col_row[e]]);
        else gpuopt__simplex_add(&sum, y[v - child_root.cols], low[v - child_root.cols], 0);
        gpuopt__simplex_add(&sum, -cost, 0, 0);
        *error_sum = sum.error_sum;
        return -gpuopt__simplex_total(&sum);
    }

    /* y + y_low gets nearer to the duals of a basis. They belong to the true costs (ray < 0), with their shifts if
     * `direction` is not 0, or to the costs of a ray. This adds BTRAN of the reduced costs that basic variables have
     * instead of 0. It leaves out what is at most `least`, and returns the largest. */
    __device__ __noinline__ double refine_once(int ray, double direction, double least) {
        double most = 0;
        for (int i = thread(); i < child_root.rows; i += threads()) {
            const int j = child_own.head[i];
            double error_sum, cost = i == ray ? direction : 0;
            if (ray < 0) cost = child_own.cost[j] + (direction == 0 ? 0 : child_own.shift[j]);
            double wrong = reduced(j, child_own.y, child_own.y_low, cost, &error_sum);
            child_own.moved[i] = wrong;
            most = gpuopt__max(most, fabs(wrong));
        }
        __syncthreads();
        most = largest(most);
        if (most > least) add_to_duals(least);
        return most;
    }
    /* y + y_low += B^-T moved. */
    __device__ void add_to_duals(double least) {
        product<false>(nonzeros(child_own.moved, least), child_own.tau);
        for (int i = thread(); i < child_root.rows; i += threads()) {
            double error, y = gpuopt__two_sum(child_own.y[i], child_own.tau[i], &error);
            child_own.y[i] = gpuopt__two_sum(y, error + child_own.y_low[i], &child_own.y_low[i]);
        }
        __syncthreads();
    }
    /* y + y_low of the true costs, good to rounding. */
    __device__ __noinline__ void true_duals() {
        const double size = gpuopt__max(1, child_root.largest_cost);
        read_duals();
        if (refine_once(-1, 0, 1e-14 * size) > 1e-6 * size) refine_once(-1, 0, 1e-14 * size);
    }
    /* x and the reduced costs, of the costs as they are shifted, from the original data. */
    __device__ __noinline__ void rebuild() {
        const double least = 1e-14 * gpuopt__max(1, child_root.largest_cost);
        residual();
        correct_x();
        read_duals();
        if (refine_once(-1, 1, least) > 1e8 * least) refine_once(-1, 1, least);
        for (int v = thread(); v < child_root.both; v += threads()) {
            double error_sum;
            child_own.z[v] =
                reduced(v, child_own.y, child_own.y_low, child_own.cost[v] + child_own.shift[v], &error_sum);
        }
        __syncthreads();
        make_dual_feasible(child_own.z, [&](int v) {
            return gpuopt__simplex_dual_wrong(child_own.z[v], child_own.state[v], child_root.dual);
        });
    }
    /* The duals in twice the precision, up to rounding. */
    __device__ __noinline__ void refine(int ray, double direction) {
        double before = HUGE_VAL;
        for (int round = 0; round < 6; round++) {
            double most = refine_once(ray, direction, 0);
            if (most == 0 || most > 0.5 * before) break;
            before = most;
        }
    }
    /* Then, for basic columns with one bound, reduced costs next to 0 of the sign that needs it, as on the CPU
     * (gpuopt_impl/simplex/verdict/bound.h). */
    __device__ void lean(int ray, double by) {
        for (int i = thread(); i < child_root.rows; i += threads()) {
            int j = child_own.head[i];
            bool lower = child_own.lower[j] > -HUGE_VAL, upper = child_own.upper[j] < HUGE_VAL;
            child_own.moved[i] = j < child_root.cols && lower != upper && i != ray ? lower ? -by : by : 0;
        }
        __syncthreads();
        add_to_duals(0);
    }

    /* ---- Bounds that the rows imply ---- */

    /* Bounds of all columns into key and z, as lower and upper ones. A missing bound is replaced by one that a row
     * implies with the bounds of its other columns, with a margin for rounding. Returns whether all are near enough for
     * rounding in reduced costs not to matter. Overwrites moved, tau, alpha and rho. */
    __device__ __noinline__ bool imply_bounds() {
        const double far = 1e6;
        bool near = true;
        if (row_is_long()) activities<32>();
        else activities<8>();
        __syncthreads();
        for (int j = thread(); j < child_root.cols; j += threads()) {
            double lower = child_own.lower[j], upper = child_own.upper[j];
            const bool no_lower = lower == -HUGE_VAL, no_upper = upper == HUGE_VAL;
            if (no_lower || no_upper)
#pragma unroll 4
                for (int64_t e = child_root.col_start[j]; e < child_root.col_start[j + 1]; e++) {
                    const double a = child_root.col_val[e];
                    const int i = child_root.col_row[e];
                    if (no_upper) upper = gpuopt__min(upper, implied(i, a, a > 0, child_own.lower[j]));
                    if (no_lower) lower = gpuopt__max(lower, implied(i, a, a < 0, child_own.upper[j]));
                }
            near &= (!no_lower || lower >= -far) && (!no_upper || upper <= far);
            child_own.key[j] = lower;
            child_own.z[j] = upper;
        }
        return !any(!near);
    }
    /* The least and the largest activity of each row, without infinite terms, into moved and tau. Into alpha: the sum
     * of their terms' sizes. Into rho: how many terms of the least activity are infinite, and 2^26 times how many of
     * the largest. */
    template <int LANES>
    __device__ void activities() {
        double least, most, size, infinite;
        each_row<LANES>(
            [&](int64_t from, int64_t end) {
                least = most = size = infinite = 0;
#pragma unroll 2
                for (int64_t e = from; e < end; e += LANES) {
                    const double a = child_root.row_val[e];
                    const int j = child_root.row_col[e];
                    const double down = a > 0 ? child_own.lower[j] : child_own.upper[j],
                                 up = a > 0 ? child_own.upper[j] : child_own.lower[j];
                    if (fabs(down) < HUGE_VAL) least += a * down, size += fabs(a * down);
                    else infinite += 1;
                    if (fabs(up) < HUGE_VAL) most += a * up, size += fabs(a * up);
                    else infinite += 0x1p26;
                }
            },
            [&](int i) {
                least = warp_sum<LANES>(least), most = warp_sum<LANES>(most);
                size = warp_sum<LANES>(size), infinite = warp_sum<LANES>(infinite);
                if (lane() % LANES == 0 && i >= 0)
                    child_own.moved[i] = least, child_own.tau[i] = most, child_own.alpha[i] = size,
                    child_own.rho[i] = infinite;
            });
    }
    /* What row i implies for a column with the entry a. If `least`, by the row's largest activity and the least of the
     * other columns; else the other way round. its: the column's bound in the latter sum. Infinite: nothing. */
    __device__ double implied(int i, double a, bool least, double its) const {
        const int v = child_root.cols + i; /* minus the activity */
        const double side = least ? -child_own.lower[v] : -child_own.upper[v],
                     margin = 1e-9 * (1 + child_own.alpha[i] + fabs(side)) / fabs(a);
        const double many = floor(child_own.rho[i] / 0x1p26), few = child_own.rho[i] - many * 0x1p26,
                     infinite = least ? few : many;
        const bool its_infinite = !(fabs(its) < HUGE_VAL), upper = least == (a > 0);
        const double nothing = upper ? HUGE_VAL : -HUGE_VAL;
        if (!(fabs(side) < HUGE_VAL) || infinite > (its_infinite ? 1 : 0)) return nothing;
        const double others = (least ? child_own.moved[i] : child_own.tau[i]) - (its_infinite ? 0 : a * its);
        return (side - others) / a + (upper ? margin : -margin);
    }

    /* A bound on the sum of costs times values by y + y_low. costs: the true costs count, else none. implied: columns
     * have the bounds in key and z. */
    __device__ __noinline__ double bound_by_duals(bool costs, bool implied) {
        gpuopt__simplex_sum sum = {0, 0, 0};
        double slack = 0;
        for (int i = thread(); i < child_root.rows; i += threads()) { /* no multiplier for infinite sides */
            int v = child_root.cols + i;
            if (fabs(child_own.y[i] < 0 ? child_own.lower[v] : child_own.upper[v]) == HUGE_VAL)
                child_own.y[i] = child_own.y_low[i] = 0;
            gpuopt__simplex_bound_row(&sum, child_own.y[i], child_own.y_low[i], child_own.lower[v], child_own.upper[v]);
        }
        __syncthreads();
        for (int j = thread(); j < child_root.cols; j += threads()) {
            double error_sum, z = reduced(j, child_own.y, child_own.y_low, costs ? child_own.cost[j] : 0, &error_sum);
            double reach = 1e24 / (child_root.col_scale[j] / child_root.primal_scale);
            if (z == 0 && error_sum == 0) continue;
            gpuopt__simplex_bound_column(
                &sum, &slack, z,
                gpuopt__simplex_error(z, error_sum, child_root.col_start[j + 1] - child_root.col_start[j] + 1),
                gpuopt__max(implied ? child_own.key[j] : child_own.lower[j], -reach),
                gpuopt__min(implied ? child_own.z[j] : child_own.upper[j], reach));
        }
        sum = total(sum);
        slack = this->sum(slack);
        return gpuopt__simplex_bound_of(&sum, slack, child_root.both);
    }

    /* ---- Proofs ---- */

    /* The row in rho as a proof that no point is feasible. If some column has no bound, reduced costs next to 0 lean,
     * and less each time: 1e24 times as much is taken off the margin. */
    __device__ __noinline__ bool prove_infeasible(int p, double direction, double *margin) {
        if (!is_outside(p)) return false;
        double by = 1e-23;
        for (int attempt = 0; attempt < (boundless_ ? 4 : 1); attempt++, by *= 0.01) {
            double size = 0;
            for (int i = thread(); i < child_root.rows; i += threads()) {
                child_own.y[i] = direction * child_own.rho[i];
                child_own.y_low[i] = 0;
                size = gpuopt__max(size, fabs(child_own.rho[i]));
            }
            size = largest(size);
            if (attempt > 0) refine(p, direction), lean(p, by * size);
            *margin = bound_by_duals(false, false);
            if (*margin > 0) return true;
        }
        return false;
    }
};

} // namespace

#endif /* GPUOPT_CUDA_SIMPLEX_CHILD_PROOF_CUH */
