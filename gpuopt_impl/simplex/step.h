/* SPDX-License-Identifier: MIT
 *
 * The arithmetic of a simplex iteration that both backends share: who may enter and how good it looks, who blocks and
 * when, and how weights and infeasibilities change. Inside, a row's logical variable s_i = -(row activity) makes
 * A x + s = 0, so that the first basis is the identity; slot j of the nonbasic variables holds a variable, as does
 * position i of the basis.
 */
#ifndef GPUOPT_IMPL_SIMPLEX_STEP_H
#define GPUOPT_IMPL_SIMPLEX_STEP_H

#include "../common/numerics.h"

enum { /* of a nonbasic variable; fixed ones have neither direction */
       GPUOPT__SIMPLEX_MAY_INCREASE = 1,
       GPUOPT__SIMPLEX_MAY_DECREASE = 2,
       GPUOPT__SIMPLEX_BANNED = 4 /* its pivot was too small; until the next refresh */
};

typedef struct gpuopt__simplex_rules {
    double primal; /* a bound l may be violated by primal * max(1, |l|) */
    double dual;
    double pivot; /* |pivot| at least this, and pivot_relative times the largest entry of its column */
    double pivot_relative;
    double zero;   /* entries of a pivot column below it do not block */
    double harris; /* how far, as `primal`, a blocking row may be passed for the sake of a larger pivot */
    double expand; /* EXPAND: how much `harris` grows an iteration, and the least step times |pivot| */
    int pricing;
} gpuopt__simplex_rules;

GPUOPT_HD double gpuopt__simplex_slack_of(double tolerance, double bound) {
    return gpuopt__mul(tolerance, gpuopt__max(1, fabs(bound)));
}

/* -1 below its lower bound, 1 above its upper one, else 0: the cost of a basic variable in phase 1. */
GPUOPT_HD int gpuopt__simplex_infeasible(double x, double l, double u, double tolerance) {
    if (x < gpuopt__sub(l, gpuopt__simplex_slack_of(tolerance, l))) return -1;
    return x > gpuopt__add(u, gpuopt__simplex_slack_of(tolerance, u)) ? 1 : 0;
}

/* 0: may not enter. Free variables come early: they never leave again. */
GPUOPT_HD double gpuopt__simplex_score(double d, double weight, int state, double tolerance) {
    double score;
    if (state & GPUOPT__SIMPLEX_BANNED) return 0;
    if (!((state & GPUOPT__SIMPLEX_MAY_INCREASE && d < -tolerance) ||
          (state & GPUOPT__SIMPLEX_MAY_DECREASE && d > tolerance)))
        return 0;
    score = gpuopt__max(gpuopt__mul(d, d) / weight, DBL_MIN);
    return (state & 3) == 3 ? gpuopt__mul(score, 1e4) : score;
}

/* Where a basic variable x stops that moves by -a for each unit of the entering one; infinite where it does not. One
 * that is outside of a bound stops as soon as it reaches it, and does not stop at all when it moves away. */
GPUOPT_HD double gpuopt__simplex_blocking_bound(double x, double l, double u, double a,
                                                const gpuopt__simplex_rules *rules) {
    int outside = gpuopt__simplex_infeasible(x, l, u, rules->primal);
    if (fabs(a) <= rules->zero) return HUGE_VAL;
    if (a > 0) return outside > 0 ? u : outside < 0 ? -HUGE_VAL : l;
    return outside < 0 ? l : outside > 0 ? HUGE_VAL : u;
}

/* The step at which x meets `bound`, finite, with some slack; inverse: 1 / a. */
GPUOPT_HD double gpuopt__simplex_step_to(double x, double bound, double inverse, double slack) {
    double distance = gpuopt__sub(x, bound);
    return gpuopt__mul(inverse > 0 ? gpuopt__add(distance, slack) : gpuopt__sub(distance, slack), inverse);
}

/* ---- Harris' ratio test, by groups ----
 * First how far one may go if every bound gives way by the tolerance; then, of the positions that block by then, the
 * one with the largest pivot. Each group of neighbouring positions does both for itself and puts up its winner; of
 * those that block within the limit of all groups the largest pivot wins, single precision being enough to tell. So a
 * GPU's blocks have to agree once, not twice, and the result depends on the number of rows alone. */

/* Positions in a group: at least 64, and no more than 128 groups. */
GPUOPT_HD int32_t gpuopt__simplex_ratio_group(int32_t rows) {
    int32_t group = (rows / 4096 + 1) * 32;
    return group < 64 ? 64 : group;
}

typedef struct gpuopt__simplex_ratio_winner {
    double limit;  /* of its group; infinite: nothing blocks */
    double step;   /* at which it blocks */
    float size;    /* of its pivot */
    int32_t index; /* position, -1: none */
} gpuopt__simplex_ratio_winner;

GPUOPT_HD double gpuopt__simplex_harris_now(const gpuopt__simplex_rules *rules, int32_t iterations) {
    return gpuopt__add(rules->harris, gpuopt__mul(rules->expand, iterations));
}

GPUOPT_HD int gpuopt__simplex_safe_pivot(const gpuopt__simplex_rules *rules, double pivot, double largest) {
    return fabs(pivot) >= rules->pivot && fabs(pivot) >= gpuopt__mul(rules->pivot_relative, largest);
}

/* The pivot from its column and from its row. */
GPUOPT_HD int gpuopt__simplex_pivots_differ(double from_column, double from_row) {
    return !(fabs(gpuopt__sub(from_column, from_row)) <= gpuopt__mul(1e-6, gpuopt__add(1, fabs(from_column))));
}

/* A basic variable that leaves at one of its bounds becomes nonbasic: its value, and where it may go from there. One
 * that has passed the bound, within the tolerance, stays where it is, and the bound gives way until the next
 * refresh. */
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

/* Devex: whether the reference framework has become too bad an approximation, so that all weights start again at 1. */
GPUOPT_HD int gpuopt__simplex_devex_worn(double entering_weight) { return entering_weight > 1e12; }

/* Devex: the weight of a nonbasic variable whose entry in the pivot row, over the pivot, is `ratio`. */
GPUOPT_HD double gpuopt__simplex_devex(double weight, double ratio, double entering_weight) {
    return gpuopt__max(weight, gpuopt__mul(gpuopt__mul(ratio, ratio), entering_weight));
}

/* Exact steepest edge: the squared norm 1 + |B^-1 a_j|^2 after the pivot, from tau = (B^-1 a_j)'(B^-1 a_q) and the
 * entering column's own norm (Goldfarb and Reid 1977). */
GPUOPT_HD double gpuopt__simplex_steepest(double norm, double ratio, double tau, double entering_norm) {
    double square = gpuopt__mul(ratio, ratio);
    double next =
        gpuopt__add(gpuopt__sub(norm, gpuopt__mul(gpuopt__mul(2, ratio), tau)), gpuopt__mul(square, entering_norm));
    return gpuopt__max(next, gpuopt__add(1, square));
}

/* Reinversion: where a column goes whose largest entry at an open position is `best`, at p (-1: none), its largest
 * entry anywhere `largest`, and that at the position which keeps the basis sparse, `wanted`, is `entry`. -1: nowhere,
 * the column depends on those before it. */
GPUOPT_HD int32_t gpuopt__simplex_entry_position(int32_t p, double best, double largest, int32_t wanted, double entry) {
    if (p < 0 || !(best > 1e-9) || !(best > 1e-11 * largest)) return -1;
    return wanted >= 0 && fabs(entry) >= 1e-3 * best ? wanted : p;
}

/* -(first + sum of val[e] x[index[e]]), summed in twice the working precision. */
GPUOPT_HD double gpuopt__simplex_minus_dot(double first, int64_t begin, int64_t end, const double *val,
                                           const int32_t *index, const double *x) {
    double hi = first, lo = 0;
    int64_t e;
    for (e = begin; e < end; e++) {
        double a = val[e], b = x[index[e]], p = gpuopt__mul(a, b);
        gpuopt__accumulate(&hi, &lo, p, gpuopt__mul_error(a, b, p));
    }
    return -gpuopt__add(hi, lo);
}

#endif /* GPUOPT_IMPL_SIMPLEX_STEP_H */
