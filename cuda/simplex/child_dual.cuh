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
        for (int v = thread(); v < root.both; v += threads()) {
            own.lower[v] = root.lower[v];
            own.upper[v] = root.upper[v];
            own.cost[v] = root.cost[v];
            own.x[v] = root.x[v];
            own.d[v] = root.d[v];
            own.shift[v] = 0;
            own.state[v] = root.state[v];
        }
        for (int i = thread(); i < root.rows; i += threads()) {
            own.head[i] = root.head[i];
            own.xb[i] = root.x[root.head[i]];
            own.weight[i] = root.weight[i];
            own.refused[i] = own.gone[i] = 0;
        }
        for (int w = thread(); w < root.both / 32 + 1; w += threads()) own.marks[w] = 0;
        __syncthreads();
        if (thread() == 0) /* of entries for the same variable the last one counts */
            for (int64_t e = job.bound_start[k]; e < job.bound_start[k + 1]; e++) {
                own.lower[job.variable[e]] = job.lower[e];
                own.upper[job.variable[e]] = job.upper[e];
            }
        __syncthreads();
        for (int64_t e = job.cost_start[k]; e < job.cost_start[k + 1]; e++) change_cost(job.col[e], job.cost[e]);
        bool crossing = false;
        for (int j = thread(); j < root.cols; j += threads()) crossing |= own.lower[j] > own.upper[j];
        crossing = any(crossing);
        place();
        if (!crossing)
            make_dual_feasible(own.d,
                               [&](int v) { return gpuopt__simplex_dual_wrong(own.d[v], own.state[v], root.dual); });
        return crossing;
    }

    /* ---- Costs ---- */

    /* Nonbasic variables whose d, by variable, has the wrong sign: those with two bounds flip if they are `far`, else
     * their costs are shifted. d becomes s.d. */
    template <class Far>
    __device__ void make_dual_feasible(const double *d, Far far) {
        auto flips = [&](int v) {
            bool boxed = own.lower[v] > -HUGE_VAL && own.upper[v] < HUGE_VAL;
            return !(own.state[v] & CHILD_BASIC) && boxed && far(v);
        };
        int count = gather(root.both, own.list, flips);
        for (int v = thread(); v < root.both; v += threads()) {
            double now = own.state[v] & CHILD_BASIC ? 0 : d[v];
            if (!(own.state[v] & CHILD_BASIC) && !flips(v) && gpuopt__simplex_dual_wrong(now, own.state[v], 0)) {
                own.shift[v] -= now;
                now = 0;
            }
            own.d[v] = now;
        }
        __syncthreads();
        for (int k = thread(); k < count; k += threads()) own.key[own.list[k]] = flip(own.list[k]);
        __syncthreads();
        follow_moves(count, own.list);
    }

    /* Moves reduced costs away from 0 at random, as gpuopt__simplex_dual_perturb does. */
    __device__ __noinline__ void perturb() {
        const double size = perturbed == 0 ? 5e-7 : perturbed == 1 ? 5e-6 : perturbed == 2 ? 5e-5 : 5e-4;
        for (int v = thread(); v < root.both; v += threads()) {
            int state = own.state[v];
            if (state != GPUOPT__SIMPLEX_MAY_INCREASE && state != GPUOPT__SIMPLEX_MAY_DECREASE) continue;
            double random = gpuopt__random(root.seed + static_cast<unsigned>(perturbed), static_cast<unsigned>(v));
            double by = size * (1 + random) * (1 + fabs(own.cost[v]));
            if (state == GPUOPT__SIMPLEX_MAY_DECREASE) by = -by;
            own.shift[v] += by;
            own.d[v] += by;
        }
        perturbed++;
        idle = 0;
        __syncthreads();
    }

    /* ---- Iterations ---- */

    /* By how much the basic variable at a position is outside. */
    __device__ double excess_at(int i) const {
        const int v = own.head[i];
        return gpuopt__simplex_excess(own.xb[i], own.lower[v], own.upper[v], root.primal);
    }

    /* The position whose variable leaves; -1: all are feasible or refused. */
    __device__ int price() {
        ChildBest mine = {0, -1};
        for (int i = thread(); i < root.rows; i += threads()) {
            const double by = excess_at(i), score = by * by / own.weight[i];
            if (by == 0 || own.refused[i] || (mine.index >= 0 && score <= mine.key)) continue;
            mine = {score, i};
        }
        return best<true>(mine.key, mine.index).index;
    }

    /* The row of B^-1 at p, in rho, and that of B^-1 N, in row. */
    __device__ void pivot_row(int p) {
        line(p, own.rho);
        price_out(own.rho);
    }

    /* The variables that the step passes flip, and the basic ones follow. */
    __device__ void flip_passed(const ChildRatio &t) {
        const int count = list_flips(t);
        for (int k = thread(); k < count; k += threads()) own.key[own.flips[k]] = flip(own.flips[k]);
        __syncthreads();
        follow_moves(count, own.flips);
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
        const int left = own.head[p];
        const double bound = to_upper ? own.upper[left] : own.lower[left];
        const bool fixed = own.lower[left] == own.upper[left];
        const double by = own.alpha[p], step = (own.xb[p] - bound) / by, x = own.x[q] + step, weight = own.weight[p];
        const bool wrong = shifts && gpuopt__simplex_dual_wrong(own.d[q], own.state[q], 0);
        const double theta = wrong ? 0 : own.d[q] / by;
        double squares = 0;
        __syncthreads(); /* all have read what changes now */
        add_row(theta, q, shifts);
        append(p, by, &squares);
        for (int i = thread(); i < root.rows; i += threads()) own.xb[i] = i == p ? x : own.xb[i] - step * own.alpha[i];
        update_weights(p, by, weight, squares);
        for (int k = thread(); k < pivots; k += threads()) own.u[k * root.pitch + p] = 0;
        pivots++;
        if (thread() == 0) {
            own.gone[p] = 1;
            own.d[left] = -theta;
            own.d[q] = 0;
            own.x[left] = bound;
            own.state[left] = static_cast<uint8_t>(fixed      ? 0
                                                   : to_upper ? +GPUOPT__SIMPLEX_MAY_DECREASE
                                                              : +GPUOPT__SIMPLEX_MAY_INCREASE);
            own.state[q] = CHILD_BASIC;
            own.head[p] = q;
        }
        iterations++;
        __syncthreads();
    }

    /* Moves a nonbasic variable to its other bound; by how much. */
    __device__ double flip(int v) {
        bool up = own.state[v] == GPUOPT__SIMPLEX_MAY_INCREASE;
        double before = own.x[v];
        own.x[v] = up ? own.upper[v] : own.lower[v];
        own.state[v] = up ? GPUOPT__SIMPLEX_MAY_DECREASE : GPUOPT__SIMPLEX_MAY_INCREASE;
        return own.x[v] - before;
    }

  private:
    /* Puts nonbasic variables at the bounds that they have now, and the basic ones follow. */
    __device__ void place() {
        for (int v = thread(); v < root.both; v += threads()) {
            if (root.state[v] & CHILD_BASIC) continue;
            double l = own.lower[v], u = gpuopt__max(l, own.upper[v]);
            bool upper = u < HUGE_VAL && (root.state[v] & CHILD_UPPER || l == -HUGE_VAL);
            int state = l == u ? 0 : upper ? GPUOPT__SIMPLEX_MAY_DECREASE : GPUOPT__SIMPLEX_MAY_INCREASE;
            if (l == -HUGE_VAL && u == HUGE_VAL) state = GPUOPT__SIMPLEX_MAY_INCREASE | GPUOPT__SIMPLEX_MAY_DECREASE;
            own.state[v] = static_cast<uint8_t>(state);
            own.x[v] = upper ? u : l > -HUGE_VAL ? l : 0;
            own.key[v] = own.x[v] - root.x[v];
        }
        __syncthreads();
        follow_moves(
            gather(root.both, own.list, [&](int v) { return !(own.state[v] & CHILD_BASIC) && own.key[v] != 0; }),
            own.list);
    }

    /* Another cost of a column; the reduced costs follow. */
    __device__ void change_cost(int col, double cost) {
        const double by = cost - own.cost[col];
        const bool basic = own.state[col] & CHILD_BASIC;
        if (basic && by != 0) {
            int mine = -1;
            for (int i = thread(); i < root.rows; i += threads())
                if (own.head[i] == col) mine = i;
            pivot_row(best<true>(0, mine).index);
            for (int v = thread(); v < root.both; v += threads()) own.d[v] -= by * own.row[v];
        }
        __syncthreads();
        if (thread() == 0) {
            own.cost[col] = cost;
            if (!basic) own.d[col] += by;
        }
        __syncthreads();
    }

    /* d -= theta * row; 0 for the variable q. */
    __device__ void add_row(double theta, int q, bool shifts) {
        enum { AT_ONCE = 4 };
        for (int from = thread(); from < root.both; from += AT_ONCE * threads()) {
            double row[AT_ONCE], d[AT_ONCE];
            int state[AT_ONCE];
#pragma unroll
            for (int n = 0; n < AT_ONCE; n++) {
                const int v = from + n * threads();
                row[n] = v < root.both ? own.row[v] : 0;
                d[n] = v < root.both ? own.d[v] : 0;
                state[n] = v < root.both ? own.state[v] : 0;
            }
#pragma unroll
            for (int n = 0; n < AT_ONCE; n++) {
                const int v = from + n * threads();
                if (row[n] == 0) continue;
                double now = v == q ? d[n] : d[n] - theta * row[n];
                if (shifts && fabs(row[n]) > root.zero && gpuopt__simplex_dual_wrong(now, state[n], 0)) {
                    own.shift[v] -= now;
                    now = 0;
                }
                own.d[v] = v == q ? 0 : now;
            }
        }
    }

    /* Writes the pivot on p, which is `by`, behind U and V; squares: this thread's part of the square of rho's norm. */
    __device__ void append(int p, double by, double *squares) {
        const double inverse = 1 / by;
        double *u = own.u + pivots * root.pitch, *v = own.v + pivots * root.pitch;
        for (int i = thread(); i < root.rows; i += threads()) {
            const double rho = own.rho[i];
            u[i] = i == p ? 1 : -own.alpha[i];
            v[i] = rho * inverse;
            *squares += rho * rho;
        }
        if (thread() == 0 && root.rows % 2 != 0) u[root.rows] = v[root.rows] = 0; /* read with its neighbour */
    }

    /* The weights after the pivot on p, which is `by`; the product is with B^-1 before it. */
    __device__ void update_weights(int p, double by, double before, double squares) {
        if (root.pricing == GPUOPT_DUAL_PRICING_STEEPEST_EDGE) {
            const double norm = sum(squares);
            /* weights need not be exact: what is rounding in rho is left out */
            product<true>(nonzeros(own.rho, 1e-12 * sqrt(norm)), own.tau, own.alpha);
            for (int i = thread(); i < root.rows; i += threads()) {
                if (i == p) own.weight[i] = gpuopt__max(norm / (by * by), 1e-4);
                else if (own.alpha[i] != 0)
                    own.weight[i] = gpuopt__simplex_dual_steepest(own.weight[i], own.alpha[i] / by, own.tau[i], norm);
            }
        } else __syncthreads();
        if (root.pricing == GPUOPT_DUAL_PRICING_DEVEX) {
            const bool worn = gpuopt__simplex_devex_worn(before);
            for (int i = thread(); i < root.rows; i += threads()) {
                if (worn) own.weight[i] = 1;
                else if (i == p) own.weight[i] = gpuopt__max(before / (by * by), 1);
                else if (own.alpha[i] != 0)
                    own.weight[i] = gpuopt__simplex_devex(own.weight[i], own.alpha[i] / by, before);
            }
        }
    }
};

} // namespace

#endif /* GPUOPT_CUDA_SIMPLEX_CHILD_DUAL_CUH */
