/* SPDX-License-Identifier: MIT
 *
 * The arithmetic of a row  lhs <= a'x <= rhs  that has passed the filter, written once for both backends: its
 * activities in twice the working precision, summed in an order that depends only on the row's length; what they say
 * about the row; and new bounds for the columns of its entries. This part decides every bit of the result.
 */
#ifndef GPUOPT_IMPL_PROPAGATE_ROW_H
#define GPUOPT_IMPL_PROPAGATE_ROW_H

#include "../../gpuopt.h"
#include "filter.h"

/* The order of a row's sum. Entry k is added to partial sum k % lanes, and then the partial sums are merged by halves.
 * Rows of up to SHORT entries have SHORT_LANES partial sums, others LANES. A row of more than SEGMENT entries is split
 * into segments of SEGMENT entries; the sums of the segments are added up in the same way. */
enum {
    GPUOPT__PROPAGATOR_SHORT = 32,
    GPUOPT__PROPAGATOR_SHORT_LANES = 4,
    GPUOPT__PROPAGATOR_LANES = 32,
    GPUOPT__PROPAGATOR_SEGMENT = 512
};

/* Which bound of its column an entry moves. */
enum { GPUOPT__PROPAGATOR_LOWER = 1, GPUOPT__PROPAGATOR_UPPER = 2 };

/* ---- Activities ---- */

typedef struct gpuopt__propagator_activity {
    double hi, lo;    /* the sum of the finite terms is hi + lo */
    double magnitude; /* sum of the absolute values of the finite terms */
    double dirt;      /* sum of the absolute values of the errors that lo collects: lo's own error is a part of it */
    int infinite;     /* count of the infinite terms */
} gpuopt__propagator_activity;

typedef struct gpuopt__propagator_activities {
    gpuopt__propagator_activity min, max;
} gpuopt__propagator_activities;

GPUOPT_HD gpuopt__propagator_activities gpuopt__propagator_activities_start(void) {
    gpuopt__propagator_activities s = {{0, 0, 0, 0, 0}, {0, 0, 0, 0, 0}};
    return s;
}

/* The error of the product p = a * bound. If p or its error may have underflowed, adds more than that to the dirt. */
GPUOPT_HD double gpuopt__propagator_product_error(double a, double bound, double p, double *dirt) {
#if !defined(__CUDA_ARCH__) && !defined(__FMA__) && !defined(__aarch64__)
    if ((double)(float)a == a && (double)(float)bound == bound) return 0; /* see gpuopt__mul_error */
#endif
    if (fabs(p) < 0x1p-960 && fabs(bound) > 0) *dirt = gpuopt__add(*dirt, 0x1p-980);
    return gpuopt__mul_error(a, bound, p);
}

GPUOPT_HD void gpuopt__propagator_activity_add(gpuopt__propagator_activity *s, const gpuopt__propagator_rules *rules,
                                               double a, double bound) {
    double p = gpuopt__mul(a, bound);
    if (fabs(p) < rules->huge) {
        double error;
        s->hi = gpuopt__two_sum(s->hi, p, &error);
        error = gpuopt__add(error, gpuopt__propagator_product_error(a, bound, p, &s->dirt));
        s->lo = gpuopt__add(s->lo, error);
        s->magnitude = gpuopt__add(s->magnitude, fabs(p));
        s->dirt = gpuopt__add(s->dirt, fabs(error));
    } else {
        s->infinite++;
    }
}

/* The activity of one term: the result of adding it to an empty activity. */
GPUOPT_HD gpuopt__propagator_activity gpuopt__propagator_activity_of(const gpuopt__propagator_rules *rules, double a,
                                                                     double bound) {
    gpuopt__propagator_activity s = {0, 0, 0, 0, 1};
    double p = gpuopt__mul(a, bound);
    if (fabs(p) < rules->huge) {
        s.hi = gpuopt__propagator_no_minus_zero(p);
        s.lo = gpuopt__propagator_no_minus_zero(gpuopt__propagator_product_error(a, bound, p, &s.dirt));
        s.magnitude = fabs(p);
        s.dirt = gpuopt__add(s.dirt, fabs(s.lo));
        s.infinite = 0;
    }
    return s;
}

/* Bounds that cross (by no more than the tolerance) enter as they are: the least activity takes the lower bound of a
 * column with a positive coefficient even if it exceeds the upper one. So tighter bounds never make an activity worse,
 * and all orders in which rows are evaluated lead to the same verdict. */
GPUOPT_HD gpuopt__propagator_activities gpuopt__propagator_activities_of(const gpuopt__propagator_rules *rules,
                                                                         double a, double lb, double ub) {
    gpuopt__propagator_activities s;
    s.min = gpuopt__propagator_activity_of(rules, a, a > 0 ? lb : ub);
    s.max = gpuopt__propagator_activity_of(rules, a, a > 0 ? ub : lb);
    return s;
}

GPUOPT_HD void gpuopt__propagator_activities_add(gpuopt__propagator_activities *s,
                                                 const gpuopt__propagator_rules *rules, double a, double lb,
                                                 double ub) {
    gpuopt__propagator_activity_add(&s->min, rules, a, a > 0 ? lb : ub);
    gpuopt__propagator_activity_add(&s->max, rules, a, a > 0 ? ub : lb);
}

/* Commutative: s + t and t + s have the same bits. */
GPUOPT_HD void gpuopt__propagator_activity_merge(gpuopt__propagator_activity *s, const gpuopt__propagator_activity *t) {
    double error;
    s->hi = gpuopt__two_sum(s->hi, t->hi, &error);
    s->lo = gpuopt__add(gpuopt__add(s->lo, t->lo), error);
    s->magnitude = gpuopt__add(s->magnitude, t->magnitude);
    s->infinite += t->infinite;
    s->dirt = gpuopt__add(gpuopt__add(s->dirt, t->dirt), fabs(error));
}

GPUOPT_HD void gpuopt__propagator_activities_merge(gpuopt__propagator_activities *s,
                                                   const gpuopt__propagator_activities *t) {
    gpuopt__propagator_activity_merge(&s->min, &t->min);
    gpuopt__propagator_activity_merge(&s->max, &t->max);
}

/* ---- A row with its activities ---- */

/* One side of a row as an upper limit on an activity: the rhs on the least activity or, both negated, the lhs on the
 * greatest. */
typedef struct gpuopt__propagator_limit {
    double side;   /* infinite: there is no such side */
    double hi, lo; /* the sum of the activity's finite terms */
    double slack;  /* this side moves a bound of a column only if the column's |a| (ub - lb) exceeds the slack */
    double doubt;  /* bound on the error of hi + lo; 0: it is exact */
    int infinite;  /* count of the activity's infinite terms */
} gpuopt__propagator_limit;

typedef struct gpuopt__propagator_row {
    gpuopt__propagator_limit limit[2]; /* rhs, lhs */
    double least_slack;                /* no bound of a column moves unless its |a| (ub - lb) exceeds this */
    int infeasible;                    /* every point within the bounds violates the row by more than the tolerance */
} gpuopt__propagator_row;

/* side - activity, computed in twice the precision and rounded once. */
GPUOPT_HD double gpuopt__propagator_excess(double side, double hi, double lo) {
    double error, d = gpuopt__two_sum(side, -hi, &error);
    return gpuopt__add(d, gpuopt__sub(error, lo));
}

GPUOPT_HD gpuopt__propagator_limit gpuopt__propagator_limit_make(const gpuopt__propagator_activity *s, int negated,
                                                                 const gpuopt__propagator_rules *rules, double side,
                                                                 double error, int *infeasible) {
    gpuopt__propagator_limit limit;
    limit.side = negated ? -side : side;
    limit.hi = negated ? -s->hi : s->hi;
    limit.lo = negated ? -s->lo : s->lo;
    limit.doubt = gpuopt__mul(error, s->dirt);
    limit.infinite = s->infinite;
    limit.slack = HUGE_VAL;
    if (limit.side < HUGE_VAL && s->infinite < 2) {
        double excess = gpuopt__propagator_excess(limit.side, limit.hi, limit.lo),
               scale = gpuopt__max(s->magnitude, fabs(side));
        /* The feasibility tolerance or, for large sums, the effect of rounding in the model's data. Both the doubt and
         * the rounding of the excess are far smaller, so that the row is proven to have no solution. */
        *infeasible |= s->infinite == 0 && -excess > gpuopt__max(rules->feasibility, 0x1p-47 * scale);
        limit.slack = excess - 0x1p-50 * scale;
    }
    return limit;
}

GPUOPT_HD gpuopt__propagator_row gpuopt__propagator_row_make(const gpuopt__propagator_activities *activity,
                                                             const gpuopt__propagator_rules *rules, double lhs,
                                                             double rhs, int64_t length) {
    gpuopt__propagator_row row;
    /* The rounding errors of lo are at most this part of the dirt: two for each addition that an entry goes through, and
     * as much again for those of the dirt itself. A row of one entry has none. */
    const int64_t segment = GPUOPT__PROPAGATOR_SEGMENT;
    int64_t steps = 16 + (length < segment ? length : segment) / GPUOPT__PROPAGATOR_LANES +
                    length / (segment * GPUOPT__PROPAGATOR_LANES);
    double error = length > 1 ? (double)steps * 0x1p-51 : 0;
    row.infeasible = 0;
    row.limit[0] = gpuopt__propagator_limit_make(&activity->min, 0, rules, rhs, error, &row.infeasible);
    row.limit[1] = gpuopt__propagator_limit_make(&activity->max, 1, rules, lhs, error, &row.infeasible);
    row.least_slack = gpuopt__min(row.limit[0].slack, row.limit[1].slack);
    if ((rhs < HUGE_VAL && activity->min.infinite == 1) || (lhs > -HUGE_VAL && activity->max.infinite == 1))
        row.least_slack = -HUGE_VAL;
    return row;
}

/* The row's GPUOPT_ROW_ bits. */
GPUOPT_HD int gpuopt__propagator_row_status(const gpuopt__propagator_activities *activity,
                                            const gpuopt__propagator_row *row, const gpuopt__propagator_rules *rules,
                                            double lhs, double rhs) {
    const gpuopt__propagator_activity *min = &activity->min, *max = &activity->max;
    int status = row->infeasible ? GPUOPT_ROW_INFEASIBLE : 0;
    double over = gpuopt__add(gpuopt__propagator_excess(lhs, min->hi, min->lo), row->limit[0].doubt),
           under = gpuopt__add(-gpuopt__propagator_excess(rhs, max->hi, max->lo), row->limit[1].doubt);
    if (lhs == -HUGE_VAL || (min->infinite == 0 && over <= rules->feasibility)) status |= GPUOPT_ROW_LHS_REDUNDANT;
    if (rhs == HUGE_VAL || (max->infinite == 0 && under <= rules->feasibility)) status |= GPUOPT_ROW_RHS_REDUNDANT;
    return status;
}

/* ---- New bounds for one entry (equations 4a and 4b of the paper) ---- */

/* Turns a candidate into an upper bound, *new_ub, and returns whether the bound moves. */
GPUOPT_HD int gpuopt__propagator_take_upper(const gpuopt__propagator_rules *rules, double candidate, double lb,
                                            double ub, int integer, double *new_ub) {
    if (integer) {
        double least = gpuopt__add(rules->filter_change, gpuopt__mul(0x1p-48, fabs(ub)));
        if (ub < HUGE_VAL && !(gpuopt__sub(ub, candidate) > least)) return 0; /* the filter need not pass such a row */
        candidate = gpuopt__propagator_floor(rules, candidate);
    }
    if (rules->single) candidate = gpuopt__propagator_single_up(candidate);
    *new_ub = candidate;
    if (!(fabs(candidate) < rules->infinity)) return 0;
    return candidate < ub &&
           (ub == HUGE_VAL || gpuopt__sub(ub, candidate) > gpuopt__propagator_least_move(rules, integer, ub, lb, ub));
}

/* Whether one side of a row may move a bound of an entry's column. c: the coefficient, negated for the lhs;
 * width = |c| (ub - lb). */
GPUOPT_HD int gpuopt__propagator_limit_reaches(const gpuopt__propagator_limit *limit,
                                               const gpuopt__propagator_rules *rules, double c, double lb, double ub,
                                               double width) {
    int own_infinite =
        !(fabs(gpuopt__mul(c, c > 0 ? lb : ub)) < rules->huge); /* whether this entry's own term is infinite */
    return limit->side < HUGE_VAL && limit->infinite == own_infinite && (own_infinite || width > limit->slack);
}

/* Which sides of a feasible row may move a bound of an entry's column: 1 for the rhs plus 2 for the lhs. Usually 0. */
GPUOPT_HD int gpuopt__propagator_reaching_sides(const gpuopt__propagator_row *row,
                                                const gpuopt__propagator_rules *rules, double a, double lb, double ub) {
    double width = gpuopt__mul(fabs(a), ub - lb);
    if (!(width > row->least_slack)) return 0;
    return gpuopt__propagator_limit_reaches(&row->limit[0], rules, a, lb, ub, width) |
           gpuopt__propagator_limit_reaches(&row->limit[1], rules, -a, lb, ub, width) << 1;
}

/* Computes the bound that one side of a row implies for an entry's column (see reaching_sides), of this kind. Returns
 * LOWER or UPPER and *bound if that bound moves, else 0.
 *
 * The rhs limits the least activity: (rhs - least activity without this entry) / a is an upper bound of the column if
 * a > 0, a lower bound if a < 0. The lhs is treated as the rhs of the negated row, and a lower bound as the upper bound
 * of the negated column. The quotient is rounded up, with all that the numerator may be too small by; so the bound is
 * never tighter than the row implies. It may cross the opposite bound. */
GPUOPT_HD int gpuopt__propagator_tighten(const gpuopt__propagator_limit *limit, const gpuopt__propagator_rules *rules,
                                         double c, double lb, double ub, int kind, double *bound) {
    int upper = c > 0;
    double own = upper ? lb : ub, p = gpuopt__mul(c, own), size = fabs(c), low = upper ? lb : -ub,
           high = upper ? ub : -lb;
    double rest, lost, d = gpuopt__two_sum(limit->side, -limit->hi, &rest), doubt, candidate;
    if (kind & GPUOPT__PROPAGATOR_FIXED) return 0;
    rest = gpuopt__two_sum(rest, -limit->lo, &lost);
    doubt = gpuopt__add(limit->doubt, fabs(lost));
    if (fabs(p) < rules->huge) { /* the activity includes this entry */
        double error, low_part = gpuopt__mul_error(c, own, p);
        d = gpuopt__two_sum(d, p, &error);
        error = gpuopt__two_sum(error, low_part, &lost);
        doubt = gpuopt__add(doubt, fabs(lost));
        rest = gpuopt__two_sum(rest, error, &lost);
        doubt = gpuopt__add(doubt, fabs(lost));
    }
    d = gpuopt__two_sum(d, rest, &rest);
    candidate = size == 1 ? d : d / size; /* a division takes as long as all the rest */
    if (!(candidate < high && candidate > -rules->infinity)) return 0;
    doubt = gpuopt__mul(doubt, 1 + 0x1p-50);
    if (size != 1 || rest != 0 || doubt > 0) candidate = gpuopt__quotient_up(d, rest, doubt, size, candidate);
    if (!gpuopt__propagator_take_upper(rules, candidate, low, high, kind & GPUOPT__PROPAGATOR_INTEGER, bound)) return 0;
    *bound = gpuopt__propagator_no_minus_zero(upper ? *bound : -*bound);
    return upper ? GPUOPT__PROPAGATOR_UPPER : GPUOPT__PROPAGATOR_LOWER;
}

#endif /* GPUOPT_IMPL_PROPAGATE_ROW_H */
