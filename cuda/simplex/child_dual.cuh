/* SPDX-License-Identifier: MIT
 *
 * Children of one basis on the GPU: how a child begins, and iterations of the dual simplex method, with the rules of
 * gpuopt_impl/simplex/cpu_dual.h.
 */
#ifndef GPUOPT_CUDA_SIMPLEX_CHILD_DUAL_CUH
#define GPUOPT_CUDA_SIMPLEX_CHILD_DUAL_CUH

#include "child_ratio.cuh"

namespace {

class ChildDual : public ChildRatioTest {
  public:
    using ChildRatioTest::ChildRatioTest;
    int iterations = 0, bans = 0, idle = 0, perturbed = 0;

    /* ---- The beginning ---- */

    /* The root's model and point, with the changes of child k. Returns whether the bounds of a column cross. */
    __device__ __noinline__ bool begin(const ChildJob &job, int k) {
        pivots = iterations = bans = idle = perturbed = 0;
        for (int v = thread; v < r.both; v += threads) {
            s.lower[v] = r.lower[v];
            s.upper[v] = r.upper[v];
            s.cost[v] = r.cost[v];
            s.x[v] = r.x[v];
            s.d[v] = r.d[v];
            s.shift[v] = 0;
            s.state[v] = r.state[v];
        }
        for (int i = thread; i < r.rows; i += threads) {
            s.head[i] = r.head[i];
            s.xb[i] = r.x[r.head[i]];
            s.weight[i] = r.weight[i];
            s.refused[i] = s.gone[i] = 0;
        }
        for (int w = thread; w < r.both / 32 + 1; w += threads) s.marks[w] = 0;
        __syncthreads();
        if (thread == 0) /* of entries for the same variable the last one counts */
            for (int64_t e = job.bound_start[k]; e < job.bound_start[k + 1]; e++) {
                s.lower[job.variable[e]] = job.lower[e];
                s.upper[job.variable[e]] = job.upper[e];
            }
        __syncthreads();
        for (int64_t e = job.cost_start[k]; e < job.cost_start[k + 1]; e++) change_cost(job.col[e], job.cost[e]);
        bool crossing = false;
        for (int j = thread; j < r.cols; j += threads) crossing |= s.lower[j] > s.upper[j];
        crossing = any(crossing);
        place();
        if (!crossing)
            make_dual_feasible(s.d, [&](int v) { return gpuopt__simplex_dual_wrong(s.d[v], s.state[v], r.dual); });
        return crossing;
    }

    /* ---- Costs ---- */

    /* Nonbasic variables whose d, by variable, has the wrong sign: those with two bounds flip if they are `far`, else
     * their costs are shifted. d becomes s.d. */
    template <class Far>
    __device__ void make_dual_feasible(const double *d, Far far) {
        auto flips = [&](int v) {
            bool boxed = s.lower[v] > -HUGE_VAL && s.upper[v] < HUGE_VAL;
            return !(s.state[v] & CHILD_BASIC) && boxed && far(v);
        };
        int count = gather(r.both, s.list, flips);
        for (int v = thread; v < r.both; v += threads) {
            double now = s.state[v] & CHILD_BASIC ? 0 : d[v];
            if (!(s.state[v] & CHILD_BASIC) && !flips(v) && gpuopt__simplex_dual_wrong(now, s.state[v], 0)) {
                s.shift[v] -= now;
                now = 0;
            }
            s.d[v] = now;
        }
        __syncthreads();
        for (int k = thread; k < count; k += threads) s.key[s.list[k]] = flip(s.list[k]);
        __syncthreads();
        follow_moves(count, s.list);
    }

    /* Moves reduced costs away from 0 at random, as gpuopt__simplex_dual_perturb does. */
    __device__ __noinline__ void perturb() {
        const double size = perturbed == 0 ? 5e-7 : perturbed == 1 ? 5e-6 : perturbed == 2 ? 5e-5 : 5e-4;
        for (int v = thread; v < r.both; v += threads) {
            int state = s.state[v];
            if (state != GPUOPT__SIMPLEX_MAY_INCREASE && state != GPUOPT__SIMPLEX_MAY_DECREASE) continue;
            double random = gpuopt__random(r.seed + static_cast<unsigned>(perturbed), static_cast<unsigned>(v));
            double by = size * (1 + random) * (1 + fabs(s.cost[v]));
            if (state == GPUOPT__SIMPLEX_MAY_DECREASE) by = -by;
            s.shift[v] += by;
            s.d[v] += by;
        }
        perturbed++;
        idle = 0;
        __syncthreads();
    }

    /* ---- Iterations ---- */

    /* By how much the basic variable at a position is outside. */
    __device__ double excess_at(int i) const {
        const int v = s.head[i];
        return gpuopt__simplex_excess(s.xb[i], s.lower[v], s.upper[v], r.primal);
    }

    /* The position whose variable leaves; -1: all are feasible or refused. */
    __device__ int price() {
        ChildBest mine = {0, -1};
        for (int i = thread; i < r.rows; i += threads) {
            const double by = excess_at(i), score = by * by / s.weight[i];
            if (by == 0 || s.refused[i] || (mine.index >= 0 && score <= mine.key)) continue;
            mine = {score, i};
        }
        return best<true>(mine.key, mine.index).index;
    }

    /* The row of B^-1 at p, in rho, and that of B^-1 N, in row. */
    __device__ void pivot_row(int p) {
        line(p, s.rho);
        price_out(s.rho);
    }

    /* The variables that the step passes flip, and the basic ones follow. */
    __device__ void flip_passed(const ChildRatio &t) {
        const int count = list_flips(t);
        for (int k = thread; k < count; k += threads) s.key[s.flips[k]] = flip(s.flips[k]);
        __syncthreads();
        follow_moves(count, s.flips);
    }

    /* The pivot on position p; the entering variable's column is in alpha. */
    __device__ void pivot(int p, const ChildRatio &t, bool to_upper) {
        flip_passed(t);
        exchange(p, t.entering, to_upper, true);
    }

  protected:
    /* Variable q, whose column is in alpha, enters on position p, whose row of B^-1 is in rho and that of B^-1 N in row;
     * the one there leaves at a bound. shifts: reduced costs that get the wrong sign become 0 by a shift of their
     * costs. */
    __device__ __noinline__ void exchange(int p, int q, bool to_upper, bool shifts) {
        const int left = s.head[p];
        const double bound = to_upper ? s.upper[left] : s.lower[left];
        const bool fixed = s.lower[left] == s.upper[left];
        const double by = s.alpha[p], step = (s.xb[p] - bound) / by, x = s.x[q] + step, weight = s.weight[p];
        const bool wrong = shifts && gpuopt__simplex_dual_wrong(s.d[q], s.state[q], 0);
        const double theta = wrong ? 0 : s.d[q] / by;
        double squares = 0;
        __syncthreads(); /* all have read what changes now */
        add_row(theta, q, shifts);
        append(p, by, &squares);
        for (int i = thread; i < r.rows; i += threads) s.xb[i] = i == p ? x : s.xb[i] - step * s.alpha[i];
        update_weights(p, by, weight, squares);
        for (int k = thread; k < pivots; k += threads) s.u[k * r.pitch + p] = 0;
        pivots++;
        if (thread == 0) {
            s.gone[p] = 1;
            s.d[left] = -theta;
            s.d[q] = 0;
            s.x[left] = bound;
            s.state[left] = static_cast<uint8_t>(fixed      ? 0
                                                 : to_upper ? +GPUOPT__SIMPLEX_MAY_DECREASE
                                                            : +GPUOPT__SIMPLEX_MAY_INCREASE);
            s.state[q] = CHILD_BASIC;
            s.head[p] = q;
        }
        iterations++;
        __syncthreads();
    }

    /* Moves a nonbasic variable to its other bound; by how much. */
    __device__ double flip(int v) {
        bool up = s.state[v] == GPUOPT__SIMPLEX_MAY_INCREASE;
        double before = s.x[v];
        s.x[v] = up ? s.upper[v] : s.lower[v];
        s.state[v] = up ? GPUOPT__SIMPLEX_MAY_DECREASE : GPUOPT__SIMPLEX_MAY_INCREASE;
        return s.x[v] - before;
    }

  private:
    /* Puts nonbasic variables at the bounds that they have now, and the basic ones follow. */
    __device__ void place() {
        for (int v = thread; v < r.both; v += threads) {
            if (r.state[v] & CHILD_BASIC) continue;
            double l = s.lower[v], u = gpuopt__max(l, s.upper[v]);
            bool upper = u < HUGE_VAL && (r.state[v] & CHILD_UPPER || l == -HUGE_VAL);
            int state = l == u ? 0 : upper ? GPUOPT__SIMPLEX_MAY_DECREASE : GPUOPT__SIMPLEX_MAY_INCREASE;
            if (l == -HUGE_VAL && u == HUGE_VAL) state = GPUOPT__SIMPLEX_MAY_INCREASE | GPUOPT__SIMPLEX_MAY_DECREASE;
            s.state[v] = static_cast<uint8_t>(state);
            s.x[v] = upper ? u : l > -HUGE_VAL ? l : 0;
            s.key[v] = s.x[v] - r.x[v];
        }
        __syncthreads();
        follow_moves(gather(r.both, s.list, [&](int v) { return !(s.state[v] & CHILD_BASIC) && s.key[v] != 0; }),
                     s.list);
    }

    /* Another cost of a column; the reduced costs follow. */
    __device__ void change_cost(int col, double cost) {
        const double by = cost - s.cost[col];
        const bool basic = s.state[col] & CHILD_BASIC;
        if (basic && by != 0) {
            int mine = -1;
            for (int i = thread; i < r.rows; i += threads)
                if (s.head[i] == col) mine = i;
            pivot_row(best<true>(0, mine).index);
            for (int v = thread; v < r.both; v += threads) s.d[v] -= by * s.row[v];
        }
        __syncthreads();
        if (thread == 0) {
            s.cost[col] = cost;
            if (!basic) s.d[col] += by;
        }
        __syncthreads();
    }

    /* d -= theta * row; 0 for the variable q. */
    __device__ void add_row(double theta, int q, bool shifts) {
        enum { AT_ONCE = 4 };
        for (int from = thread; from < r.both; from += AT_ONCE * threads) {
            double row[AT_ONCE], d[AT_ONCE];
#pragma unroll
            for (int n = 0; n < AT_ONCE; n++) {
                const int v = from + n * threads;
                row[n] = v < r.both ? s.row[v] : 0;
                d[n] = v < r.both ? s.d[v] : 0;
            }
#pragma unroll
            for (int n = 0; n < AT_ONCE; n++) {
                const int v = from + n * threads;
                if (row[n] == 0) continue;
                double now = v == q ? d[n] : d[n] - theta * row[n];
                if (shifts && fabs(row[n]) > r.zero && gpuopt__simplex_dual_wrong(now, s.state[v], 0)) {
                    s.shift[v] -= now;
                    now = 0;
                }
                s.d[v] = v == q ? 0 : now;
            }
        }
    }

    /* Writes the pivot on p, which is `by`, behind U and V; squares: this thread's part of the square of rho's norm. */
    __device__ void append(int p, double by, double *squares) {
        const double inverse = 1 / by;
        double *u = s.u + pivots * r.pitch, *v = s.v + pivots * r.pitch;
        for (int i = thread; i < r.rows; i += threads) {
            const double rho = s.rho[i];
            u[i] = i == p ? 1 : -s.alpha[i];
            v[i] = rho * inverse;
            *squares += rho * rho;
        }
    }

    /* The weights after the pivot on p, which is `by`; the product is with B^-1 before it. */
    __device__ void update_weights(int p, double by, double before, double squares) {
        if (r.pricing == GPUOPT_DUAL_PRICING_STEEPEST_EDGE) {
            const double norm = sum(squares);
            /* weights need not be exact: what is rounding in rho is left out */
            product<true>(nonzeros(s.rho, 1e-12 * sqrt(norm)), s.tau, s.alpha);
            for (int i = thread; i < r.rows; i += threads) {
                if (i == p) s.weight[i] = gpuopt__max(norm / (by * by), 1e-4);
                else if (s.alpha[i] != 0)
                    s.weight[i] = gpuopt__simplex_dual_steepest(s.weight[i], s.alpha[i] / by, s.tau[i], norm);
            }
        } else __syncthreads();
        if (r.pricing == GPUOPT_DUAL_PRICING_DEVEX) {
            const bool worn = gpuopt__simplex_devex_worn(before);
            for (int i = thread; i < r.rows; i += threads) {
                if (worn) s.weight[i] = 1;
                else if (i == p) s.weight[i] = gpuopt__max(before / (by * by), 1);
                else if (s.alpha[i] != 0) s.weight[i] = gpuopt__simplex_devex(s.weight[i], s.alpha[i] / by, before);
            }
        }
    }
};

} // namespace

#endif /* GPUOPT_CUDA_SIMPLEX_CHILD_DUAL_CUH */
