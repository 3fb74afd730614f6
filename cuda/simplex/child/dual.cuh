/* SPDX-License-Identifier: MIT
 *
 * Children of one basis on the GPU: how a child begins, and iterations of the dual simplex method, with the rules of
 * gpuopt_impl/simplex/cpu/dual.h.
 */
#ifndef GPUOPT_CUDA_SIMPLEX_CHILD_DUAL_CUH
#define GPUOPT_CUDA_SIMPLEX_CHILD_DUAL_CUH

#include "weights.cuh"

namespace {

class ChildDual : public ChildWeights {
  public:
    using ChildWeights::ChildWeights;
    int iterations = 0, bans = 0, idle = 0, perturbed = 0;

    /* ---- The beginning ---- */

    /* The root's model and point, with the changes of child k. Returns whether the bounds of a column cross. */
    __device__ __noinline__ bool begin(const ChildJob &job, int k) {
        pivots = iterations = bans = idle = perturbed = 0;
        behind = 0;
        known_products = child_root.gram != nullptr;
        for (int v = thread(); v < child_root.both; v += threads()) {
            child_own.lower[v] = child_root.lower[v];
            child_own.upper[v] = child_root.upper[v];
            child_own.cost[v] = child_root.cost[v];
            child_own.x[v] = child_root.x[v];
            child_own.d[v] = child_root.d[v];
            child_own.shift[v] = child_own.row[v] = 0; /* row stays so for slacks outside of a core */
            child_own.state[v] = child_root.state[v];
        }
        for (int i = thread(); i < child_root.rows; i += threads()) {
            child_own.head[i] = child_root.head[i];
            child_own.xb[i] = child_root.x[child_root.head[i]];
            child_own.weight[i] = child_root.weight[i];
            child_own.refused[i] = child_own.gone[i] = 0;
            child_own.tau[i] = 0; /* may be read where it is not used */
        }
        if (thread() == 0) {
            child_own.gone[child_root.rows] = 0; /* may be read with its neighbour */
            child_root.primal = child_root.within;
        }
        for (int w = thread(); w < child_root.both / 32 + 1; w += threads()) child_own.marks[w] = 0;
        begin_core();
        if (thread() == 0)
            child_own.columns = child_root.columns.at, child_own.lines = child_root.lines.at,
            child_own.singles = child_root.singles.at;
        __syncthreads();
        if (thread() == 0) /* of entries for the same variable the last one counts */
            for (int64_t e = job.bound_start[k]; e < job.bound_start[k + 1]; e++) {
                child_own.lower[job.variable[e]] = job.lower[e];
                child_own.upper[job.variable[e]] = job.upper[e];
            }
        __syncthreads();
        for (int64_t e = job.cost_start[k]; e < job.cost_start[k + 1]; e++) change_cost(job.col[e], job.cost[e]);
        bool crossing = false;
        for (int j = thread(); j < child_root.cols; j += threads()) crossing |= child_own.lower[j] > child_own.upper[j];
        crossing = any(crossing);
        place();
        if (!crossing)
            make_dual_feasible(child_own.d, [&](int v) {
                return gpuopt__simplex_dual_wrong(child_own.d[v], child_own.state[v], child_root.dual);
            });
        return crossing;
    }

    /* ---- Costs ---- */

    /* Nonbasic variables whose d, by variable, has the wrong sign: those with two bounds flip if they are `far`, else
     * their costs are shifted. d becomes child_own.d. */
    template <class Far>
    __device__ void make_dual_feasible(const double *d, Far far) {
        auto flips = [&](int v) {
            bool boxed = child_own.lower[v] > -HUGE_VAL && child_own.upper[v] < HUGE_VAL;
            return !(child_own.state[v] & CHILD_BASIC) && boxed && far(v);
        };
        int count = gather(child_root.both, child_own.list, flips);
        for (int v = thread(); v < child_root.both; v += threads()) {
            double now = child_own.state[v] & CHILD_BASIC ? 0 : d[v];
            if (!(child_own.state[v] & CHILD_BASIC) && !flips(v) &&
                gpuopt__simplex_dual_wrong(now, child_own.state[v], 0)) {
                child_own.shift[v] -= now;
                now = 0;
            }
            child_own.d[v] = now;
        }
        __syncthreads();
        for (int k = thread(); k < count; k += threads()) child_own.key[child_own.list[k]] = flip(child_own.list[k]);
        __syncthreads();
        follow_moves(count, child_own.list);
    }

    /* Moves reduced costs away from 0 at random, as gpuopt__simplex_dual_perturb does. */
    __device__ __noinline__ void perturb() {
        settle(true);
        const double size = perturbed == 0 ? 5e-7 : perturbed == 1 ? 5e-6 : perturbed == 2 ? 5e-5 : 5e-4;
        for (int v = thread(); v < child_root.both; v += threads()) {
            int state = child_own.state[v];
            if (state != GPUOPT__SIMPLEX_MAY_INCREASE && state != GPUOPT__SIMPLEX_MAY_DECREASE) continue;
            double random =
                gpuopt__random(child_root.seed + static_cast<unsigned>(perturbed), static_cast<unsigned>(v));
            double by = size * (1 + random) * (1 + fabs(child_own.cost[v]));
            if (state == GPUOPT__SIMPLEX_MAY_DECREASE) by = -by;
            child_own.shift[v] += by;
            child_own.d[v] += by;
        }
        perturbed++;
        idle = 0;
        __syncthreads();
    }

    /* ---- Iterations ---- */

    /* By how much the basic variable at a position is outside. */
    __device__ double excess_at(int i) const {
        const int v = child_own.head[i];
        return gpuopt__simplex_excess(child_own.xb[i], child_own.lower[v], child_own.upper[v], child_root.primal);
    }
    /* Keeps position i for this thread, whose basic variable is x, if that may leave, and gains most by its weight. */
    __device__ static void score(int i, double x, double lower, double upper, double weight, ChildBest *mine) {
        const double by = gpuopt__simplex_excess(x, lower, upper, child_root.primal);
        if (by == 0) return;
        const double gain = by * by / weight;
        if (mine->index < 0 || gain > mine->key) *mine = {gain, i};
    }

    /* The position whose variable leaves; -1: all are feasible or refused. */
    __device__ __noinline__ int price() {
        struct Row {
            double x, lower, upper, weight;
            bool refused;
        };
        ChildBest mine = {0, -1};
        for_all<4>(
            child_root.rows,
            [](int i) {
                const int v = child_own.head[i];
                return Row{child_own.xb[i], child_own.lower[v], child_own.upper[v], child_own.weight[i],
                           child_own.refused[i] != 0};
            },
            [&](int i, const Row &row) {
                if (!row.refused) score(i, row.x, row.lower, row.upper, row.weight, &mine);
            });
        return best<true>(mine.key, mine.index).index;
    }

    /* The row of B^-1 at p, in rho, and that of B^-1 N, in row. */
    __device__ void pivot_row(int p) {
        line(p);
        price_out(child_own.rho);
    }

    /* The variables that the step passes flip, and the basic ones follow. */
    __device__ void flip_passed(const ChildRatio &t) {
        const int count = list_flips(t);
        if (count == 0) return;
        for (int k = thread(); k < count; k += threads()) child_own.key[child_own.flips[k]] = flip(child_own.flips[k]);
        __syncthreads();
        follow_moves(count, child_own.flips);
    }

    /* The pivot on position p; the entering variable's column is in alpha. Returns the next position, as price()
     * does. */
    __device__ int pivot(int p, const ChildRatio &t, bool to_upper) {
        flip_passed(t);
        return exchange(p, t.entering, to_upper, true);
    }

  protected:
    /* Variable q enters on position p, and the variable there leaves at a bound. alpha has the column of q, rho the row
     * of B^-1 at p, and row that of B^-1 N. shifts: reduced costs that get the wrong sign become 0 by a shift of their
     * costs. Returns what price() would. */
    __device__ int exchange(int p, int q, bool to_upper, bool shifts) {
        return child_root.compact ? exchange_rows<true>(p, q, to_upper, shifts)
                                  : exchange_rows<false>(p, q, to_upper, shifts);
    }

    /* Moves a nonbasic variable to its other bound; by how much. */
    __device__ double flip(int v) {
        bool up = child_own.state[v] == GPUOPT__SIMPLEX_MAY_INCREASE;
        double before = child_own.x[v];
        child_own.x[v] = up ? child_own.upper[v] : child_own.lower[v];
        child_own.state[v] = up ? GPUOPT__SIMPLEX_MAY_DECREASE : GPUOPT__SIMPLEX_MAY_INCREASE;
        return child_own.x[v] - before;
    }

    /* Appends the pivot at a place in the core to U and V. by: the pivot element; squares: this thread's part of the
     * square of rho's norm. */
    template <bool COMPACT>
    __device__ void append(int place, double by, double *squares) {
        const double inverse = 1 / by;
        const int64_t pitch = child_root.pitch;
        double *u = child_own.u + pivots * pitch, *v = child_own.v + v_row(pivots);
        for (int i = thread(); i < child_own.core; i += threads()) {
            const double rho = child_own.rho[COMPACT ? child_own.core_row[i] : i];
            const double alpha = child_own.alpha[COMPACT ? child_own.core_position[i] : i];
            u[i] = i == place ? 1 : is_entry(alpha) ? -alpha : 0;
            v[i] = rho * inverse;
            if (known_products) v[pitch + i] = child_own.rho[pitch + i] * inverse;
            *squares += rho * rho;
        }
        if (thread() == 0 && child_own.core % 2 != 0)
            u[child_own.core] = v[child_own.core] = 0; /* read with its neighbour */
        if (known_products && thread() == 0 && child_root.rows % 2 != 0) v[pitch + child_root.rows] = 0;
    }

  private:
    /* Puts nonbasic variables at the bounds that they have now, and the basic ones follow. */
    __device__ void place() {
        for (int v = thread(); v < child_root.both; v += threads()) {
            if (child_root.state[v] & CHILD_BASIC) continue;
            double l = child_own.lower[v], u = gpuopt__max(l, child_own.upper[v]);
            bool upper = u < HUGE_VAL && (child_root.state[v] & CHILD_UPPER || l == -HUGE_VAL);
            int state = l == u ? 0 : upper ? GPUOPT__SIMPLEX_MAY_DECREASE : GPUOPT__SIMPLEX_MAY_INCREASE;
            if (l == -HUGE_VAL && u == HUGE_VAL) state = GPUOPT__SIMPLEX_MAY_INCREASE | GPUOPT__SIMPLEX_MAY_DECREASE;
            child_own.state[v] = static_cast<uint8_t>(state);
            child_own.x[v] = upper ? u : l > -HUGE_VAL ? l : 0;
            child_own.key[v] = child_own.x[v] - child_root.x[v];
        }
        __syncthreads();
        follow_moves(gather(child_root.both, child_own.list,
                            [&](int v) { return !(child_own.state[v] & CHILD_BASIC) && child_own.key[v] != 0; }),
                     child_own.list);
    }

    /* Another cost of a column; the reduced costs follow. */
    __device__ void change_cost(int col, double cost) {
        const double by = cost - child_own.cost[col];
        const bool basic = child_own.state[col] & CHILD_BASIC;
        if (basic && by != 0) {
            int mine = -1;
            for (int i = thread(); i < child_root.rows; i += threads())
                if (child_own.head[i] == col) mine = i;
            pivot_row(best<true>(0, mine).index);
            for (int v = thread(); v < child_root.both; v += threads()) child_own.d[v] -= by * child_own.row[v];
        }
        __syncthreads();
        if (thread() == 0) {
            child_own.cost[col] = cost;
            if (!basic) child_own.d[col] += by;
        }
        __syncthreads();
    }

    /* The same where the inverse is kept for its core alone, or not. */
    template <bool COMPACT>
    __device__ int exchange_rows(int p, int q, bool to_upper, bool shifts) {
        const int left = child_own.head[p];
        const double bound = to_upper ? child_own.upper[left] : child_own.lower[left];
        const bool fixed = child_own.lower[left] == child_own.upper[left];
        const double by = child_own.alpha[p], step = (child_own.xb[p] - bound) / by, x = child_own.x[q] + step,
                     weight = child_own.weight[p];
        const bool wrong = shifts && gpuopt__simplex_dual_wrong(child_own.d[q], child_own.state[q], 0);
        const double theta = wrong ? 0 : child_own.d[q] / by;
        double squares = 0;
        behind = theta;
        if (!shifts) {
            __syncthreads(); /* all have read d */
            settle(false);
        }
        const int place = COMPACT ? join_core(p, pivots) : p;
        append<COMPACT>(place, by, &squares);
        const double norm = prepare_weights<COMPACT>(by, squares);
        for (int k = thread(); k < pivots; k += threads()) child_own.u[k * child_root.pitch + place] = 0;
        if (thread() == 0) {
            child_own.gone[place] = 1;
            if (COMPACT && q < child_root.cols) child_own.place_of_column[q] = place;
            child_own.d[left] = -theta;
            child_own.d[q] = 0;
            child_own.x[left] = bound;
            child_own.state[left] = static_cast<uint8_t>(fixed      ? 0
                                                         : to_upper ? +GPUOPT__SIMPLEX_MAY_DECREASE
                                                                    : +GPUOPT__SIMPLEX_MAY_INCREASE);
            child_own.state[q] = CHILD_BASIC;
            child_own.head[p] = q;
        }
        const int next = update_rows<COMPACT>({p, q, x, step}, {by, weight, norm});
        if (++pivots >= child_root.products) known_products = false;
        iterations++;
        return next;
    }

    /* Variable `entering`, which becomes x, takes position p; the basic variables change by `step` times their
     * entries. */
    struct Move {
        int p, entering;
        double x, step;
    };
    /* The basic variables and weights after a pivot, and the position that leaves next. */
    template <bool COMPACT>
    __device__ int update_rows(const Move &move, const ChildNorms &norms) {
        struct Row {
            double alpha, tau, weight, x, lower, upper;
            bool refused;
        };
        const bool worn = norms.worn();
        ChildBest mine = {0, -1};
        for_all<COMPACT ? 2 : 1>(
            child_root.rows,
            [&](int i) {
                const bool leaves = i == move.p; /* where head and gone may change now */
                const int v = leaves ? move.entering : child_own.head[i];
                return Row{child_own.alpha[i],
                           leaves ? 0 : tau_at<COMPACT>(i),
                           child_own.weight[i],
                           child_own.xb[i],
                           child_own.lower[v],
                           child_own.upper[v],
                           bans > 0 && child_own.refused[i] != 0};
            },
            [&](int i, const Row &row) {
                double x = row.x, weight = row.weight;
                if (is_entry(row.alpha)) {
                    x = i == move.p ? move.x : x - move.step * row.alpha;
                    weight = i == move.p ? leaving_weight(norms) : weight_after(weight, row.alpha, row.tau, norms);
                    child_own.xb[i] = x;
                }
                if (worn) weight = 1;
                if (weight != row.weight) child_own.weight[i] = weight;
                if (!row.refused) score(i, x, row.lower, row.upper, weight, &mine);
            });
        return best<true>(mine.key, mine.index).index;
    }
};

} // namespace

#endif /* GPUOPT_CUDA_SIMPLEX_CHILD_DUAL_CUH */
