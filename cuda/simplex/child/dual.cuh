/* SPDX-License-Identifier: MIT
 *
 * Children of one basis on the GPU: how a child begins, and iterations of the dual simplex method, with the rules of
 * gpuopt_impl/simplex/cpu/dual.h.
 */
#ifndef GPUOPT_CUDA_SIMPLEX_CHILD_DUAL_CUH
#define GPUOPT_CUDA_SIMPLEX_CHILD_DUAL_CUH

#include "ratio.cuh"
#include "weights.cuh"

namespace {

enum { CHILD_IDLE = 2 }; /* pivots in turn that move nothing, after which costs are perturbed */

/* Its state: the parts that iterations need, and counters. Primal iterations and verdicts use them, too. */
class ChildDual : ChildThreads {
  public:
    struct Data {
        ChildArray<double> weight;   /* [rows] of the pricing */
        ChildArray<uint8_t> refused; /* [rows] */

        template <class Cut>
        void cut(const ChildSizes &n, Cut cut) {
            cut(weight, n.rows), cut(refused, n.rows);
        }
    };

    ChildBlock block;
    ChildProducts products;
    ChildPrice price;
    int iterations = 0, bans = 0, idle = 0, perturbed = 0;

    /* ---- The beginning ---- */

    /* The root's model and point, with the changes of child k. Returns whether the bounds of a column cross. */
    __device__ __noinline__ bool begin(const ChildJob &job, int k) {
        restart(root->inverse.gram != nullptr);
        for (int v = thread(); v < root->both; v += threads()) {
            point->lower[v] = root->start.lower[v];
            point->upper[v] = root->start.upper[v];
            point->cost[v] = root->start.cost[v];
            point->x[v] = root->start.x[v];
            point->d[v] = root->start.d[v];
            point->shift[v] = work->row[v] = 0; /* row stays so for slacks outside of a core */
            point->state[v] = root->start.state[v];
        }
        for (int i = thread(); i < root->rows; i += threads()) {
            point->head[i] = root->start.head[i];
            point->xb[i] = root->start.x[root->start.head[i]];
            pricing->weight[i] = root->start.weight[i];
            pricing->refused[i] = inverse->gone[i] = 0;
            work->tau[i] = 0; /* may be read where it is not used */
        }
        if (thread() == 0) {
            inverse->gone[root->rows] = 0; /* may be read with its neighbour */
            point->primal = root->rules.primal;
        }
        ratio.begin();
        products.core.begin();
        if (thread() == 0)
            inverse->columns = root->inverse.columns.at, inverse->lines = root->inverse.lines.at,
            inverse->singles = root->inverse.singles.at;
        __syncthreads();
        if (thread() == 0) /* of entries for the same variable the last one counts */
            for (int64_t e = job.bound_start[k]; e < job.bound_start[k + 1]; e++) {
                point->lower[job.variable[e]] = job.lower[e];
                point->upper[job.variable[e]] = job.upper[e];
            }
        __syncthreads();
        for (int64_t e = job.cost_start[k]; e < job.cost_start[k + 1]; e++) change_cost(job.col[e], job.cost[e]);
        bool crossing = false;
        for (int j = thread(); j < root->cols; j += threads()) crossing |= point->lower[j] > point->upper[j];
        crossing = any(crossing);
        place();
        if (!crossing)
            make_dual_feasible(point->d, [&](int v) {
                return gpuopt__simplex_dual_wrong(point->d[v], point->state[v], root->rules.dual);
            });
        return crossing;
    }

    /* ---- Costs ---- */

    /* Nonbasic variables whose d, by variable, has the wrong sign: those with two bounds flip if they are `far`, else
     * their costs are shifted. d becomes point->d. */
    template <class Far>
    __device__ void make_dual_feasible(const double *d, Far far) {
        auto flips = [&](int v) {
            bool boxed = point->lower[v] > -HUGE_VAL && point->upper[v] < HUGE_VAL;
            return !(point->state[v] & CHILD_BASIC) && boxed && far(v);
        };
        int count = block.gather(root->both, work->list, flips);
        for (int v = thread(); v < root->both; v += threads()) {
            double now = point->state[v] & CHILD_BASIC ? 0 : d[v];
            if (!(point->state[v] & CHILD_BASIC) && !flips(v) && gpuopt__simplex_dual_wrong(now, point->state[v], 0)) {
                point->shift[v] -= now;
                now = 0;
            }
            point->d[v] = now;
        }
        __syncthreads();
        for (int k = thread(); k < count; k += threads()) work->key[work->list[k]] = flip(work->list[k]);
        __syncthreads();
        products.follow_moves(block, count, work->list);
    }

    /* Moves reduced costs away from 0 at random, as gpuopt__simplex_dual_perturb does. */
    __device__ __noinline__ void perturb() {
        price.settle(true);
        const double size = perturbed == 0 ? 5e-7 : perturbed == 1 ? 5e-6 : perturbed == 2 ? 5e-5 : 5e-4;
        for (int v = thread(); v < root->both; v += threads()) {
            int state = point->state[v];
            if (state != GPUOPT__SIMPLEX_MAY_INCREASE && state != GPUOPT__SIMPLEX_MAY_DECREASE) continue;
            double random =
                gpuopt__random(root->rules.seed + static_cast<unsigned>(perturbed), static_cast<unsigned>(v));
            double by = size * (1 + random) * (1 + fabs(point->cost[v]));
            if (state == GPUOPT__SIMPLEX_MAY_DECREASE) by = -by;
            point->shift[v] += by;
            point->d[v] += by;
        }
        perturbed++;
        idle = 0;
        __syncthreads();
    }

    /* ---- Iterations ---- */

    /* Keeps position i for this thread, whose basic variable is x, if that may leave, and gains most by its weight. */
    __device__ void score(int i, double x, double lower, double upper, double weight, ChildBest *mine) const {
        const double by = gpuopt__simplex_excess(x, lower, upper, point->primal);
        if (by == 0) return;
        const double gain = by * by / weight;
        if (mine->index < 0 || gain > mine->key) *mine = {gain, i};
    }

    /* The position whose variable leaves; -1: all are feasible or refused. */
    __device__ __noinline__ int choose_row() {
        struct Row {
            double x, lower, upper, weight;
            bool refused;
        };
        ChildBest mine = {0, -1};
        for_all<4>(
            root->rows,
            [&](int i) {
                const int v = point->head[i];
                return Row{point->xb[i], point->lower[v], point->upper[v], pricing->weight[i],
                           pricing->refused[i] != 0};
            },
            [&](int i, const Row &row) {
                if (!row.refused) score(i, row.x, row.lower, row.upper, row.weight, &mine);
            });
        return block.best<true>(mine.key, mine.index).index;
    }

    /* The row of B^-1 at p, in rho, and that of B^-1 N, in row. */
    __device__ void pivot_row(int p) {
        products.line(block, p);
        price.price_out(work->rho);
    }
    /* The same, and the ratio test on it. */
    __device__ ChildRatio pivot_row_and_ratio(int p, double excess) {
        return ratio.test(block, products, price, p, excess);
    }

    /* The variables that the step passes flip, and the basic ones follow. */
    __device__ void flip_passed(const ChildRatio &t) {
        const int count = ratio.list_flips(block, t);
        if (count == 0) return;
        for (int k = thread(); k < count; k += threads()) work->key[work->flips[k]] = flip(work->flips[k]);
        __syncthreads();
        products.follow_moves(block, count, work->flips);
    }

    /* The pivot on position p; the entering variable's column is in alpha. Returns the next position, as
     * choose_row() does. */
    __device__ int pivot(int p, const ChildRatio &t, bool to_upper) {
        flip_passed(t);
        return exchange(p, t.entering, to_upper, true);
    }

    /* Variable q enters on position p, and the variable there leaves at a bound. alpha has the column of q, rho the row
     * of B^-1 at p, and row that of B^-1 N. shifts: reduced costs that get the wrong sign become 0 by a shift of their
     * costs. Returns what choose_row() would. */
    __device__ int exchange(int p, int q, bool to_upper, bool shifts) {
        return root->core.compact ? exchange_rows<true>(p, q, to_upper, shifts)
                                  : exchange_rows<false>(p, q, to_upper, shifts);
    }

    /* Moves a nonbasic variable to its other bound; by how much. */
    __device__ double flip(int v) {
        bool up = point->state[v] == GPUOPT__SIMPLEX_MAY_INCREASE;
        double before = point->x[v];
        point->x[v] = up ? point->upper[v] : point->lower[v];
        point->state[v] = up ? GPUOPT__SIMPLEX_MAY_DECREASE : GPUOPT__SIMPLEX_MAY_INCREASE;
        return point->x[v] - before;
    }

    /* Nothing has been done yet. */
    __device__ void restart(bool known_products) {
        products.pivots = iterations = bans = idle = perturbed = 0;
        price.behind = 0;
        products.known_products = known_products;
    }

  private:
    ChildView<const ChildRoot> root;
    ChildView<ChildPoint> point;
    ChildView<ChildWork> work;
    ChildView<ChildInverse> inverse;
    ChildView<Data> pricing;
    ChildRatioTest ratio;
    ChildWeights weights;

    /* Puts nonbasic variables at the bounds that they have now, and the basic ones follow. */
    __device__ void place() {
        for (int v = thread(); v < root->both; v += threads()) {
            if (root->start.state[v] & CHILD_BASIC) continue;
            double l = point->lower[v], u = gpuopt__max(l, point->upper[v]);
            bool upper = u < HUGE_VAL && (root->start.state[v] & CHILD_UPPER || l == -HUGE_VAL);
            int state = l == u ? 0 : upper ? GPUOPT__SIMPLEX_MAY_DECREASE : GPUOPT__SIMPLEX_MAY_INCREASE;
            if (l == -HUGE_VAL && u == HUGE_VAL) state = GPUOPT__SIMPLEX_MAY_INCREASE | GPUOPT__SIMPLEX_MAY_DECREASE;
            point->state[v] = static_cast<uint8_t>(state);
            point->x[v] = upper ? u : l > -HUGE_VAL ? l : 0;
            work->key[v] = point->x[v] - root->start.x[v];
        }
        __syncthreads();
        products.follow_moves(
            block,
            block.gather(root->both, work->list,
                         [&](int v) { return !(point->state[v] & CHILD_BASIC) && work->key[v] != 0; }),
            work->list);
    }

    /* Another cost of a column; the reduced costs follow. */
    __device__ void change_cost(int col, double cost) {
        const double by = cost - point->cost[col];
        const bool basic = point->state[col] & CHILD_BASIC;
        if (basic && by != 0) {
            int mine = -1;
            for (int i = thread(); i < root->rows; i += threads())
                if (point->head[i] == col) mine = i;
            pivot_row(block.best<true>(0, mine).index);
            for (int v = thread(); v < root->both; v += threads()) point->d[v] -= by * work->row[v];
        }
        __syncthreads();
        if (thread() == 0) {
            point->cost[col] = cost;
            if (!basic) point->d[col] += by;
        }
        __syncthreads();
    }

    /* The same where the inverse is kept for its core alone, or not. */
    template <bool COMPACT>
    __device__ int exchange_rows(int p, int q, bool to_upper, bool shifts) {
        const int left = point->head[p];
        const double bound = to_upper ? point->upper[left] : point->lower[left];
        const bool fixed = point->lower[left] == point->upper[left];
        const double by = work->alpha[p], step = (point->xb[p] - bound) / by, x = point->x[q] + step,
                     weight = pricing->weight[p];
        const bool wrong = shifts && gpuopt__simplex_dual_wrong(point->d[q], point->state[q], 0);
        const double theta = wrong ? 0 : point->d[q] / by;
        double squares = 0;
        price.behind = theta;
        if (!shifts) {
            __syncthreads(); /* all have read d */
            price.settle(false);
        }
        const int place = COMPACT ? products.core.join(p, products.pivots) : p;
        products.append<COMPACT>(place, by, &squares);
        const double norm = weights.prepare<COMPACT>(block, products, by, squares);
        for (int k = thread(); k < products.pivots; k += threads()) inverse->u[k * root->inverse.pitch + place] = 0;
        if (thread() == 0) {
            inverse->gone[place] = 1;
            if (COMPACT && q < root->cols) products.core.data->place_of_column[q] = place;
            point->d[left] = -theta;
            point->d[q] = 0;
            point->x[left] = bound;
            point->state[left] = static_cast<uint8_t>(fixed      ? 0
                                                      : to_upper ? +GPUOPT__SIMPLEX_MAY_DECREASE
                                                                 : +GPUOPT__SIMPLEX_MAY_INCREASE);
            point->state[q] = CHILD_BASIC;
            point->head[p] = q;
        }
        const int next = update_rows<COMPACT>({p, q, x, step}, {by, weight, norm});
        if (++products.pivots >= root->inverse.products) products.known_products = false;
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
        const bool worn = weights.are_worn(norms);
        ChildBest mine = {0, -1};
        for_all<COMPACT ? 2 : 1>(
            root->rows,
            [&](int i) {
                const bool leaves = i == move.p; /* where head and gone may change now */
                const int v = leaves ? move.entering : point->head[i];
                return Row{work->alpha[i],
                           leaves ? 0 : weights.tau_at<COMPACT>(products, i),
                           pricing->weight[i],
                           point->xb[i],
                           point->lower[v],
                           point->upper[v],
                           bans > 0 && pricing->refused[i] != 0};
            },
            [&](int i, const Row &row) {
                double x = row.x, weight = row.weight;
                if (child_is_entry(row.alpha)) {
                    x = i == move.p ? move.x : x - move.step * row.alpha;
                    weight = i == move.p ? weights.of_leaving(norms) : weights.after(weight, row.alpha, row.tau, norms);
                    point->xb[i] = x;
                }
                if (worn) weight = 1;
                if (weight != row.weight) pricing->weight[i] = weight;
                if (!row.refused) score(i, x, row.lower, row.upper, weight, &mine);
            });
        return block.best<true>(mine.key, mine.index).index;
    }
};

} // namespace

#endif /* GPUOPT_CUDA_SIMPLEX_CHILD_DUAL_CUH */
