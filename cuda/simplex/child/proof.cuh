/* SPDX-License-Identifier: MIT
 *
 * Children of one basis on the GPU: what a point, duals or a row of B^-1 prove about the child. Sums that prove
 * something are taken on the original data in twice the working precision, with a bound on their error, as in
 * gpuopt_impl/simplex/verdict/bound.h.
 */
#ifndef GPUOPT_CUDA_SIMPLEX_CHILD_PROOF_CUH
#define GPUOPT_CUDA_SIMPLEX_CHILD_PROOF_CUH

#include "dual.cuh"

namespace {

class ChildProof : ChildThreads {
  public:
    struct Data {
        ChildArray<double> y, y_low; /* [rows] */

        template <class Cut>
        void cut(const ChildSizes &n, Cut cut) {
            cut(y, n.rows), cut(y_low, n.rows);
        }
    };
    bool boundless = false; /* some column has an infinite bound */

    /* ---- The point ---- */

    /* Whether a warp had better work on a row than a part of one on each of some. */
    __device__ bool row_is_long() const { return root->row_start[root->rows] > int64_t{32} * root->rows; }
    /* LANES threads work on a row. some(from, end) is called for its entries: this thread has from, from + LANES, ...
     * before end. Then all(i) is called, where these threads may meet; a part of a warp without a row calls all(-1). */
    template <int LANES, class Some, class All>
    __device__ void each_row(Some some, All all) const {
        for (int first = warp() * (32 / LANES); first < root->rows; first += warps() * (32 / LANES)) {
            const int i = first + lane() / LANES;
            const bool is = i < root->rows;
            some(is ? root->row_start[i] + lane() % LANES : 0, is ? root->row_start[i + 1] : 0);
            all(is ? i : -1);
        }
    }
    template <int LANES>
    __device__ void residuals() const {
        gpuopt__simplex_sum sum;
        each_row<LANES>(
            [&](int64_t from, int64_t end) {
                sum = {0, 0, 0};
#pragma unroll 4
                for (int64_t e = from; e < end; e += LANES)
                    gpuopt__simplex_add_product(&sum, root->row_val[e], point->x[root->row_col[e]], 0);
            },
            [&](int i) {
                sum = lanes_total<LANES>(sum);
                if (lane() % LANES > 0 || i < 0) return;
                gpuopt__simplex_add(&sum, point->x[root->cols + i], 0, 0);
                work->moved[i] = -gpuopt__simplex_total(&sum);
            });
    }

    /* The engine's x of basic variables into x, and the residual -(A x + s) of each row into moved. */
    __device__ __noinline__ void residual() const {
        for (int i = thread(); i < root->rows; i += threads()) point->x[point->head[i]] = point->xb[i];
        __syncthreads();
        if (row_is_long()) residuals<32>();
        else residuals<8>();
        __syncthreads();
    }
    __device__ void correct_x(ChildBlock &block, ChildProducts &products) const {
        products.product<true>(block, products.nonzeros(block, work->moved, 0), work->tau);
        for (int i = thread(); i < root->rows; i += threads()) point->xb[i] += work->tau[i];
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
    __device__ bool is_outside(int p) const {
        const int v = point->head[p], i = v - root->cols;
        const double x = point->xb[p], l = point->lower[v], u = point->upper[v],
                     unit = i < 0 ? root->col_scale[v] : 1 / root->row_scale[i];
        return gpuopt__simplex_excess(x, l, u, root->rules.primal) != 0 ||
               beyond(x, l, u, unit / root->primal_scale) > root->rules.primal;
    }
    /* The largest such violation; the activity of a row is that of the columns' x. Leaves the residuals
     * in step. */
    __device__ __noinline__ double primal_reached(ChildBlock &block) const {
        double reached = 0;
        for (int j = thread(); j < root->cols; j += threads())
            reached = gpuopt__max(reached, beyond(point->x[j], point->lower[j], point->upper[j],
                                                  root->col_scale[j] / root->primal_scale));
        for (int i = thread(); i < root->rows; i += threads()) {
            int v = root->cols + i;
            work->step[i] = work->moved[i];
            reached = gpuopt__max(reached, beyond(point->x[v] + work->moved[i], point->lower[v], point->upper[v],
                                                  1 / (root->row_scale[i] * root->primal_scale)));
        }
        return block.largest(reached);
    }

    /* ---- The duals ---- */

    /* y, of the costs with their shifts, from the reduced costs of the slacks; y_low = 0. */
    __device__ void read_duals() const {
        for (int i = thread(); i < root->rows; i += threads()) {
            int v = root->cols + i;
            double d = point->state[v] & CHILD_BASIC ? 0 : point->d[v];
            duals->y[i] = point->cost[v] + point->shift[v] - d;
            duals->y_low[i] = 0;
        }
        __syncthreads();
    }

    /* The cost of variable v less y'a, in twice the precision; ray >= 0: of costs that are 0 but for `direction` at the
     * basic variable of that position. *error_sum as in gpuopt_impl/simplex/arith/step.h. */
    __device__ double reduced(int v, const double *y, const double *low, double cost, double *error_sum) const {
        gpuopt__simplex_sum sum = {0, 0, 0};
        if (v < root->cols)
#pragma unroll 4
            for (int64_t e = root->col_start[v], end = root->col_start[v + 1]; e < end; e++)
                gpuopt__simplex_add_product(&sum, root->col_val[e], y[root->col_row[e]], low[root->col_row[e]]);
        else gpuopt__simplex_add(&sum, y[v - root->cols], low[v - root->cols], 0);
        gpuopt__simplex_add(&sum, -cost, 0, 0);
        *error_sum = sum.error_sum;
        return -gpuopt__simplex_total(&sum);
    }

    /* y + y_low gets nearer to the duals of a basis. They belong to the true costs (ray < 0), with their shifts if
     * `direction` is not 0, or to the costs of a ray. This adds BTRAN of the reduced costs that basic variables have
     * instead of 0. It leaves out what is at most `least`, and returns the largest. */
    __device__ __noinline__ double refine_once(ChildBlock &block, ChildProducts &products, int ray, double direction,
                                               double least) const {
        double most = 0;
        for (int i = thread(); i < root->rows; i += threads()) {
            const int j = point->head[i];
            double error_sum, cost = i == ray ? direction : 0;
            if (ray < 0) cost = point->cost[j] + (direction == 0 ? 0 : point->shift[j]);
            double wrong = reduced(j, duals->y, duals->y_low, cost, &error_sum);
            work->moved[i] = wrong;
            most = gpuopt__max(most, fabs(wrong));
        }
        __syncthreads();
        most = block.largest(most);
        if (most > least) add_to_duals(block, products, least);
        return most;
    }
    /* y + y_low += B^-T moved. */
    __device__ void add_to_duals(ChildBlock &block, ChildProducts &products, double least) const {
        products.product<false>(block, products.nonzeros(block, work->moved, least), work->tau);
        for (int i = thread(); i < root->rows; i += threads()) {
            double error, y = gpuopt__two_sum(duals->y[i], work->tau[i], &error);
            duals->y[i] = gpuopt__two_sum(y, error + duals->y_low[i], &duals->y_low[i]);
        }
        __syncthreads();
    }
    /* y + y_low of the true costs, good to rounding. */
    __device__ __noinline__ void true_duals(ChildBlock &block, ChildProducts &products) const {
        const double size = gpuopt__max(1, root->largest_cost);
        read_duals();
        if (refine_once(block, products, -1, 0, 1e-14 * size) > 1e-6 * size)
            refine_once(block, products, -1, 0, 1e-14 * size);
    }
    /* x and the reduced costs, of the costs as they are shifted, from the original data. */
    __device__ __noinline__ void rebuild(ChildDual &dual) const {
        ChildBlock &block = dual.block;
        ChildProducts &products = dual.products;
        const double least = 1e-14 * gpuopt__max(1, root->largest_cost);
        residual();
        correct_x(block, products);
        read_duals();
        if (refine_once(block, products, -1, 1, least) > 1e8 * least) refine_once(block, products, -1, 1, least);
        for (int v = thread(); v < root->both; v += threads()) {
            double error_sum;
            work->z[v] = reduced(v, duals->y, duals->y_low, point->cost[v] + point->shift[v], &error_sum);
        }
        __syncthreads();
        dual.make_dual_feasible(
            work->z, [&](int v) { return gpuopt__simplex_dual_wrong(work->z[v], point->state[v], root->rules.dual); });
    }
    /* The duals in twice the precision, up to rounding. */
    __device__ __noinline__ void refine(ChildBlock &block, ChildProducts &products, int ray, double direction) const {
        double before = HUGE_VAL;
        for (int round = 0; round < 6; round++) {
            double most = refine_once(block, products, ray, direction, 0);
            if (most == 0 || most > 0.5 * before) break;
            before = most;
        }
    }
    /* Then, for basic columns with one bound, reduced costs next to 0 of the sign that needs it, as on the CPU
     * (gpuopt_impl/simplex/verdict/bound.h). */
    __device__ void lean(ChildBlock &block, ChildProducts &products, int ray, double by) const {
        for (int i = thread(); i < root->rows; i += threads()) {
            int j = point->head[i];
            bool lower = point->lower[j] > -HUGE_VAL, upper = point->upper[j] < HUGE_VAL;
            work->moved[i] = j < root->cols && lower != upper && i != ray ? lower ? -by : by : 0;
        }
        __syncthreads();
        add_to_duals(block, products, 0);
    }

    /* ---- Bounds that the rows imply ---- */

    /* Bounds of all columns into key and z, as lower and upper ones. A missing bound is replaced by one that a row
     * implies with the bounds of its other columns, with a margin for rounding. Returns whether all are near enough for
     * rounding in reduced costs not to matter. Overwrites moved, tau, alpha and rho. */
    __device__ __noinline__ bool imply_bounds() const {
        const double far = 1e6;
        bool near = true;
        if (row_is_long()) activities<32>();
        else activities<8>();
        __syncthreads();
        for (int j = thread(); j < root->cols; j += threads()) {
            double lower = point->lower[j], upper = point->upper[j];
            const bool no_lower = lower == -HUGE_VAL, no_upper = upper == HUGE_VAL;
            if (no_lower || no_upper)
#pragma unroll 4
                for (int64_t e = root->col_start[j]; e < root->col_start[j + 1]; e++) {
                    const double a = root->col_val[e];
                    const int i = root->col_row[e];
                    if (no_upper) upper = gpuopt__min(upper, implied(i, a, a > 0, point->lower[j]));
                    if (no_lower) lower = gpuopt__max(lower, implied(i, a, a < 0, point->upper[j]));
                }
            near &= (!no_lower || lower >= -far) && (!no_upper || upper <= far);
            work->key[j] = lower;
            work->z[j] = upper;
        }
        return !any(!near);
    }
    /* The least and the largest activity of each row, without infinite terms, into moved and tau. Into alpha: the sum
     * of their terms' sizes. Into rho: how many terms of the least activity are infinite, and 2^26 times how many of
     * the largest. */
    template <int LANES>
    __device__ void activities() const {
        double least, most, size, infinite;
        each_row<LANES>(
            [&](int64_t from, int64_t end) {
                least = most = size = infinite = 0;
#pragma unroll 2
                for (int64_t e = from; e < end; e += LANES) {
                    const double a = root->row_val[e];
                    const int j = root->row_col[e];
                    const double down = a > 0 ? point->lower[j] : point->upper[j],
                                 up = a > 0 ? point->upper[j] : point->lower[j];
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
                    work->moved[i] = least, work->tau[i] = most, work->alpha[i] = size, work->rho[i] = infinite;
            });
    }
    /* What row i implies for a column with the entry a. If `least`, by the row's largest activity and the least of the
     * other columns; else the other way round. its: the column's bound in the latter sum. Infinite: nothing. */
    __device__ double implied(int i, double a, bool least, double its) const {
        const int v = root->cols + i; /* minus the activity */
        const double side = least ? -point->lower[v] : -point->upper[v],
                     margin = 1e-9 * (1 + work->alpha[i] + fabs(side)) / fabs(a);
        const double many = floor(work->rho[i] / 0x1p26), few = work->rho[i] - many * 0x1p26,
                     infinite = least ? few : many;
        const bool its_infinite = !(fabs(its) < HUGE_VAL), upper = least == (a > 0);
        const double nothing = upper ? HUGE_VAL : -HUGE_VAL;
        if (!(fabs(side) < HUGE_VAL) || infinite > (its_infinite ? 1 : 0)) return nothing;
        const double others = (least ? work->moved[i] : work->tau[i]) - (its_infinite ? 0 : a * its);
        return (side - others) / a + (upper ? margin : -margin);
    }

    /* A bound on the sum of costs times values by y + y_low. costs: the true costs count, else none. implied: columns
     * have the bounds in key and z. */
    __device__ __noinline__ double bound_by_duals(ChildBlock &block, bool costs, bool implied) const {
        gpuopt__simplex_sum sum = {0, 0, 0};
        double slack = 0;
        for (int i = thread(); i < root->rows; i += threads()) { /* no multiplier for infinite sides */
            int v = root->cols + i;
            if (fabs(duals->y[i] < 0 ? point->lower[v] : point->upper[v]) == HUGE_VAL)
                duals->y[i] = duals->y_low[i] = 0;
            gpuopt__simplex_bound_row(&sum, duals->y[i], duals->y_low[i], point->lower[v], point->upper[v]);
        }
        __syncthreads();
        for (int j = thread(); j < root->cols; j += threads()) {
            double error_sum, z = reduced(j, duals->y, duals->y_low, costs ? point->cost[j] : 0, &error_sum);
            double reach = 1e24 / (root->col_scale[j] / root->primal_scale);
            if (z == 0 && error_sum == 0) continue;
            gpuopt__simplex_bound_column(
                &sum, &slack, z, gpuopt__simplex_error(z, error_sum, root->col_start[j + 1] - root->col_start[j] + 1),
                gpuopt__max(implied ? work->key[j] : point->lower[j], -reach),
                gpuopt__min(implied ? work->z[j] : point->upper[j], reach));
        }
        sum = block.total(sum);
        slack = block.sum(slack);
        return gpuopt__simplex_bound_of(&sum, slack, root->both);
    }

    /* ---- Proofs ---- */

    /* The row in rho as a proof that no point is feasible. If some column has no bound, reduced costs next to 0 lean,
     * and less each time: 1e24 times as much is taken off the margin. */
    __device__ __noinline__ bool prove_infeasible(ChildBlock &block, ChildProducts &products, int p, double direction,
                                                  double *margin) const {
        if (!is_outside(p)) return false;
        double by = 1e-23;
        for (int attempt = 0; attempt < (boundless ? 4 : 1); attempt++, by *= 0.01) {
            double size = 0;
            for (int i = thread(); i < root->rows; i += threads()) {
                duals->y[i] = direction * work->rho[i];
                duals->y_low[i] = 0;
                size = gpuopt__max(size, fabs(work->rho[i]));
            }
            size = block.largest(size);
            if (attempt > 0) refine(block, products, p, direction), lean(block, products, p, by * size);
            *margin = bound_by_duals(block, false, false);
            if (*margin > 0) return true;
        }
        return false;
    }

  private:
    ChildView<const ChildRoot> root;
    ChildView<ChildPoint> point;
    ChildView<ChildWork> work;
    ChildView<Data> duals;
};

} // namespace

#endif /* GPUOPT_CUDA_SIMPLEX_CHILD_PROOF_CUH */
