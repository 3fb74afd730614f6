/* SPDX-License-Identifier: MIT
 *
 * The filter: can this row move a bound, or be infeasible? In most rounds most rows can do neither. The filter detects
 * these with ordinary arithmetic and a rigorous bound on its rounding errors. It may let a row pass that then changes
 * nothing, but never rejects a row that would change something. So the result depends only on row.h's treatment of the
 * passing rows. A backend may add a row's entries to the filter in any order, for example the fastest.
 */
#ifndef GPUOPT_IMPL_PROPAGATE_ARITH_FILTER_H
#define GPUOPT_IMPL_PROPAGATE_ARITH_FILTER_H

#include "rules.h"

/* Additions may come in any order, and may be contracted to fused multiply-adds. The terms of an entry in the least and
 * the greatest activity are (a (lb + ub) -+ |a| (ub - lb)) / 2. */

typedef struct gpuopt__propagator_filter {
    double middle, width; /* sums of a (lb + ub) and of |a| (ub - lb): the activities are half of middle -+ width */
    double magnitude;     /* sum of |a| (|lb| + |ub|): the scale of the rounding errors of the two above */
    double reach; /* greatest |a| (ub - lb - least change): no bound can move unless this exceeds the row's slack */
    double min_rest, max_rest;      /* of columns with an infinite term in one activity: the sum of their other terms */
    int min_infinite, max_infinite; /* counts of infinite terms in the least and the greatest activity */
} gpuopt__propagator_filter;

GPUOPT_HD gpuopt__propagator_filter gpuopt__propagator_filter_start(void) {
    gpuopt__propagator_filter f = {0, 0, 0, -HUGE_VAL, 0, 0, 0, 0};
    return f;
}

/* Whether both terms of an entry are finite. */
GPUOPT_HD int gpuopt__propagator_filter_is_finite(const gpuopt__propagator_rules *rules, double a, double lb,
                                                  double ub) {
    return fabs(a) * (fabs(lb) + fabs(ub)) < rules->huge;
}

/* Counts the infinite terms of an entry, and sets their bounds to 0, so that they add nothing. */
GPUOPT_HD void gpuopt__propagator_filter_take_infinite(gpuopt__propagator_filter *f,
                                                       const gpuopt__propagator_rules *rules, double a, double *lb,
                                                       double *ub) {
    double p = a * *lb, q = a * *ub, least = rules->filter_change * fabs(a);
    int lb_infinite = !(fabs(p) < rules->huge), ub_infinite = !(fabs(q) < rules->huge), rising = a > 0;
    double low = lb_infinite ? 0 : *lb, high = ub_infinite ? 0 : *ub;
    if (rising ? lb_infinite : ub_infinite) f->min_infinite++, f->min_rest += (rising ? q : p) - least;
    if (rising ? ub_infinite : lb_infinite) f->max_infinite++, f->max_rest += (rising ? p : q) + least;
    *lb = low;
    *ub = high;
    f->reach = HUGE_VAL;
}

/* The most that a bound of a column can move, less the least change, if its terms are finite. `rounded`: the column is
 * continuous and its bounds are stored in single precision. Then changes of the size of a rounding error do not count,
 * or nearly every one of its rows would pass. */
GPUOPT_HD double gpuopt__propagator_reach(const gpuopt__propagator_rules *rules, int rounded, double lb, double ub) {
    double reach = (ub - lb) * (1 - rules->filter_relative) - rules->filter_change;
    return rounded ? reach - 0x1p-23 * (fabs(lb) + fabs(ub)) : reach;
}

/* Adds the middle and width of an entry with finite terms, and returns its reach. */
GPUOPT_HD double gpuopt__propagator_filter_add_finite(gpuopt__propagator_filter *f,
                                                      const gpuopt__propagator_rules *rules, int rounded, double a,
                                                      double lb, double ub) {
    double b = fabs(a);
    f->middle += a * (lb + ub);
    f->width += b * (ub - lb);
    return b * gpuopt__propagator_reach(rules, rounded, lb, ub);
}

GPUOPT_HD void gpuopt__propagator_filter_add(gpuopt__propagator_filter *f, const gpuopt__propagator_rules *rules,
                                             int rounded, double a, double lb, double ub) {
    double magnitude = fabs(a) * (fabs(lb) + fabs(ub));
    if (!(magnitude < rules->huge)) {
        gpuopt__propagator_filter_take_infinite(f, rules, a, &lb, &ub);
        magnitude = fabs(a) * (fabs(lb) + fabs(ub));
    }
    f->magnitude += magnitude;
    f->reach = gpuopt__max(gpuopt__propagator_filter_add_finite(f, rules, rounded, a, lb, ub), f->reach);
}

GPUOPT_HD void gpuopt__propagator_filter_merge(gpuopt__propagator_filter *f, const gpuopt__propagator_filter *g) {
    f->middle += g->middle;
    f->width += g->width;
    f->magnitude += g->magnitude;
    f->reach = gpuopt__max(f->reach, g->reach);
    f->min_rest += g->min_rest;
    f->max_rest += g->max_rest;
    f->min_infinite += g->min_infinite;
    f->max_infinite += g->max_infinite;
}

/* Whether the row passes. steps: at least the length of the longest chain of additions of any term. The rounding error
 * of an activity is then at most (steps + 3) * 2^-53 * magnitude, to first order; 5 more cover the magnitude, the reach
 * and the comparison itself. */
GPUOPT_HD int gpuopt__propagator_filter_passes(const gpuopt__propagator_filter *f,
                                               const gpuopt__propagator_rules *rules, double lhs, double rhs,
                                               int steps) {
    double margin = (steps + 8) * 0x1.01p-53 * f->magnitude;
    double reach = gpuopt__max(f->reach, -rules->feasibility); /* a slack below it: the row is infeasible */
    double rhs_slack = rhs - 0.5 * (f->middle - f->width) - margin - fabs(rhs) * 0x1p-50;
    double lhs_slack = 0.5 * (f->middle + f->width) - lhs - margin - fabs(lhs) * 0x1p-50;
    int pass = 0;
    if (rhs < HUGE_VAL)
        pass |= f->min_infinite == 0 ? rhs_slack < reach : f->min_infinite == 1 && !(f->min_rest <= rhs_slack);
    if (lhs > -HUGE_VAL)
        pass |= f->max_infinite == 0 ? lhs_slack < reach : f->max_infinite == 1 && !(-f->max_rest <= lhs_slack);
    return pass;
}

#endif /* GPUOPT_IMPL_PROPAGATE_ARITH_FILTER_H */
