/* SPDX-License-Identifier: MIT
 *
 * The arithmetic of a simplex iteration that both backends share: scores of entering variables, the ratio test, and
 * updates of weights and infeasibilities. Internally the slack of row i is s_i = -(row activity), the negative of the
 * public slack. So A x + s = 0, and the first basis is the identity.
 */
#ifndef GPUOPT_IMPL_SIMPLEX_ARITH_STEP_H
#define GPUOPT_IMPL_SIMPLEX_ARITH_STEP_H

#include "../../common/numerics.h"

enum { /* state of a nonbasic variable; a fixed variable has neither flag */
       GPUOPT__SIMPLEX_MAY_INCREASE = 1,
       GPUOPT__SIMPLEX_MAY_DECREASE = 2,
       GPUOPT__SIMPLEX_BANNED = 4 /* its pivot was too small; lasts until the next rebuild */
};

typedef struct gpuopt__simplex_rules {
    double primal; /* a bound l may be violated by up to primal * max(1, |l|) */
    double dual;
    double pivot; /* least |pivot|; a pivot is also at least pivot_relative times the largest entry of its column */
    double pivot_relative;
    double zero;   /* smaller entries of a pivot column do not block */
    double harris; /* how far a larger pivot may pass a blocking bound; relative like `primal` */
    double expand; /* EXPAND: growth of `harris` per iteration, and the least step times |pivot| */
    int pricing;
} gpuopt__simplex_rules;

GPUOPT_HD double gpuopt__simplex_slack_of(double tolerance, double bound) {
    return gpuopt__mul(tolerance, gpuopt__max(1, fabs(bound)));
}

/* The cost of a basic variable in phase 1: -1 below its lower bound, 1 above its upper one, else 0. */
GPUOPT_HD int gpuopt__simplex_infeasible(double x, double l, double u, double tolerance) {
    if (x < gpuopt__sub(l, gpuopt__simplex_slack_of(tolerance, l))) return -1;
    return x > gpuopt__add(u, gpuopt__simplex_slack_of(tolerance, u)) ? 1 : 0;
}

/* The score of a nonbasic variable; 0: it may not enter. Free variables are preferred: they never leave again. */
GPUOPT_HD double gpuopt__simplex_score(double d, double weight, int state, double tolerance) {
    double score;
    if (state & GPUOPT__SIMPLEX_BANNED) return 0;
    if (!((state & GPUOPT__SIMPLEX_MAY_INCREASE && d < -tolerance) ||
          (state & GPUOPT__SIMPLEX_MAY_DECREASE && d > tolerance)))
        return 0;
    score = gpuopt__max(gpuopt__mul(d, d) / weight, DBL_MIN);
    return (state & 3) == 3 ? gpuopt__mul(score, 1e4) : score;
}

/* The bound that stops a basic variable x, moving by -a per unit of the entering variable; infinite: none. A variable
 * outside its bounds stops at the violated bound, and never when it moves away from it. */
GPUOPT_HD double gpuopt__simplex_blocking_bound(double x, double l, double u, double a,
                                                const gpuopt__simplex_rules *rules) {
    int outside = gpuopt__simplex_infeasible(x, l, u, rules->primal);
    if (fabs(a) <= rules->zero) return HUGE_VAL;
    if (a > 0) return outside > 0 ? u : outside < 0 ? -HUGE_VAL : l;
    return outside < 0 ? l : outside > 0 ? HUGE_VAL : u;
}

/* The step at which x reaches the finite `bound` plus some slack. inverse: 1 / a. */
GPUOPT_HD double gpuopt__simplex_step_to(double x, double bound, double inverse, double slack) {
    double distance = gpuopt__sub(x, bound);
    return gpuopt__mul(inverse > 0 ? gpuopt__add(distance, slack) : gpuopt__sub(distance, slack), inverse);
}

/* ---- Harris' ratio test, by groups ----
 * Pass 1 finds how far the entering variable may move if every bound is relaxed by the tolerance. Pass 2 takes the
 * largest pivot among the positions that block within that distance. Each group of neighbouring positions does both
 * passes by itself. Among the groups' winners that block within the limit of all groups, the largest pivot wins;
 * comparing in single precision is enough. So the blocks of a GPU exchange data once, not twice, and the result depends
 * only on the number of rows. */

/* Positions per group: at least 64, and enough for at most 128 groups. */
GPUOPT_HD int32_t gpuopt__simplex_ratio_group(int32_t rows) {
    int32_t group = (rows / 4096 + 1) * 32;
    return group < 64 ? 64 : group;
}

typedef struct gpuopt__simplex_ratio_winner {
    double limit;  /* limit of its group; infinite: nothing blocks */
    double step;   /* step at which it blocks */
    float size;    /* size of its pivot */
    int32_t index; /* position, -1: none */
} gpuopt__simplex_ratio_winner;

GPUOPT_HD double gpuopt__simplex_harris_now(const gpuopt__simplex_rules *rules, int32_t iterations) {
    return gpuopt__add(rules->harris, gpuopt__mul(rules->expand, iterations));
}

GPUOPT_HD int gpuopt__simplex_safe_pivot(const gpuopt__simplex_rules *rules, double pivot, double largest) {
    return fabs(pivot) >= rules->pivot && fabs(pivot) >= gpuopt__mul(rules->pivot_relative, largest);
}

/* Whether the pivot elements from the column and from the row differ by more than rounding. */
GPUOPT_HD int gpuopt__simplex_pivots_differ(double from_column, double from_row) {
    return !(fabs(gpuopt__sub(from_column, from_row)) <= gpuopt__mul(1e-6, gpuopt__add(1, fabs(from_column))));
}

/* Makes a basic variable nonbasic at one of its bounds: sets its value, and returns its state. If it has passed the
 * bound, within the tolerance, it stays in place, and the bound is relaxed until the next rebuild. */
GPUOPT_HD int gpuopt__simplex_make_nonbasic(int to_upper, double *x, double *l, double *u) {
    if (to_upper) {
        if (*x > *u) *u = *x;
        else *x = *u;
    } else {
        if (*x < *l) *l = *x;
        else *x = *l;
    }
    return *l == *u ? 0 : to_upper ? GPUOPT__SIMPLEX_MAY_DECREASE : GPUOPT__SIMPLEX_MAY_INCREASE;
}

/* Devex: whether the weights have become too inaccurate and must all restart at 1. */
GPUOPT_HD int gpuopt__simplex_devex_worn(double entering_weight) { return entering_weight > 1e12; }

/* Devex: the new weight of a nonbasic variable. ratio: its entry in the pivot row divided by the pivot. */
GPUOPT_HD double gpuopt__simplex_devex(double weight, double ratio, double entering_weight) {
    return gpuopt__max(weight, gpuopt__mul(gpuopt__mul(ratio, ratio), entering_weight));
}

/* Exact steepest edge (Goldfarb and Reid 1977): the squared norm 1 + |B^-1 a_j|^2 after the pivot. ratio as for devex;
 * tau = (B^-1 a_j)'(B^-1 a_q); entering_norm: the entering column's squared norm. */
GPUOPT_HD double gpuopt__simplex_steepest(double norm, double ratio, double tau, double entering_norm) {
    double square = gpuopt__mul(ratio, ratio);
    double next =
        gpuopt__add(gpuopt__sub(norm, gpuopt__mul(gpuopt__mul(2, ratio), tau)), gpuopt__mul(square, entering_norm));
    return gpuopt__max(next, gpuopt__add(1, square));
}

/* Refactoring: the position for a column; -1: none, because it depends on earlier columns. Entries up to `least` count
 * as 0.
 *
 *     p        position of the largest entry at an open position; -1: none is open
 *     best     that entry
 *     largest  the column's largest entry at any position
 *     wanted   the position that would keep the basis sparse
 *     entry    the entry at `wanted` */
GPUOPT_HD int32_t gpuopt__simplex_entry_position(int32_t p, double best, double largest, int32_t wanted, double entry,
                                                 double least) {
    if (p < 0 || !(best > least) || !(best > 1e-2 * least * largest)) return -1;
    return wanted >= 0 && fabs(entry) >= 1e-3 * best ? wanted : p;
}

/* A sum of products in twice the working precision: hi + lo. hi has no error, since lo gets everything that hi loses.
 * Each addition to lo rounds its result; error_sum is the sum of the absolute values of these results. So the error of
 * hi + lo is at most 2^-53 error_sum (0 if nothing is lost), barring underflow. */
typedef struct gpuopt__simplex_sum {
    double hi, lo, error_sum;
} gpuopt__simplex_sum;

/* Adds value + low, which has an error of at most 2^-53 error_sum. */
GPUOPT_HD void gpuopt__simplex_add(gpuopt__simplex_sum *sum, double value, double low, double error_sum) {
    double lost;
    sum->hi = gpuopt__two_sum(sum->hi, value, &lost);
    lost = gpuopt__add(lost, low);
    sum->lo = gpuopt__add(sum->lo, lost);
    sum->error_sum = gpuopt__add(sum->error_sum, gpuopt__add(error_sum, gpuopt__add(fabs(lost), fabs(sum->lo))));
}

/* Adds a (b + low). */
GPUOPT_HD void gpuopt__simplex_add_product(gpuopt__simplex_sum *sum, double a, double b, double low) {
    double p = gpuopt__mul(a, b), of_low = gpuopt__mul(a, low), lost = gpuopt__add(gpuopt__mul_error(a, b, p), of_low);
    gpuopt__simplex_add(sum, p, lost, gpuopt__add(fabs(of_low), fabs(lost)));
}

/* The sum, rounded. */
GPUOPT_HD double gpuopt__simplex_total(const gpuopt__simplex_sum *sum) { return gpuopt__add(sum->hi, sum->lo); }

/* A bound on the error of a rounded sum of `terms` products with this error_sum. 0: only underflow is possible. */
GPUOPT_HD double gpuopt__simplex_error(double total, double error_sum, int64_t terms) {
    const double rounding = gpuopt__add(gpuopt__mul(fabs(total), 0x1p-53), gpuopt__mul(error_sum, 0x1p-52));
    return gpuopt__add(error_sum == 0 ? 0 : rounding, gpuopt__mul((double)(terms + 1), DBL_MIN));
}

/* The largest absolute value. */
GPUOPT_HD double gpuopt__simplex_largest(int32_t n, const double *x) {
    double largest = 0;
    int32_t i;
    for (i = 0; i < n; i++) largest = gpuopt__max(largest, fabs(x[i]));
    return largest;
}

#endif /* GPUOPT_IMPL_SIMPLEX_ARITH_STEP_H */
