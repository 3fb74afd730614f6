/* SPDX-License-Identifier: MIT
 *
 * The arithmetic of propagating one row  lhs <= a'x <= rhs, written once for both backends. A backend adds a row's
 * entries first to a filter; only if the filter passes, to a pair of activities in twice the precision, in an order
 * that the row's length alone decides; then it asks for each entry's new bounds. Since the filter can only err towards
 * passing, the bits of the result depend on the second part alone, and the filter may add in whatever order is fastest.
 */
#ifndef GPUOPT_IMPL_PROPAGATE_ROW_H
#define GPUOPT_IMPL_PROPAGATE_ROW_H

#include "../../gpuopt.h"
#include "../common/numerics.h"

/* The order of a row's sum. Entry k goes to partial sum k % lanes, and the partial sums are merged by halves; up to
 * SHORT entries there are SHORT_LANES of them, then LANES. A row longer than SEGMENT is summed in segments of so many
 * entries each, and their sums are the entries of a second such level. */
enum {
    GPUOPT__PROPAGATOR_SHORT = 32,
    GPUOPT__PROPAGATOR_SHORT_LANES = 4,
    GPUOPT__PROPAGATOR_LANES = 32,
    GPUOPT__PROPAGATOR_SEGMENT = 512
};

/* Bits of what tightening an entry's column gave. */
enum { GPUOPT__PROPAGATOR_LOWER = 1, GPUOPT__PROPAGATOR_UPPER = 2 };

typedef struct gpuopt__propagator_rules {
    double infinity, feasibility, integrality, least_change, least_change_relative, huge;
    /* What the filter takes for the least change, absolute and as a part of ub - lb: no more than holds for any column.
     * An integer one's candidate moves by a whole unit once it has gained the tolerance. */
    double filter_change, filter_relative;
    int single; /* bounds are stored in single precision */
} gpuopt__propagator_rules;

GPUOPT_HD void gpuopt__propagator_rules_derive(gpuopt__propagator_rules *rules, int any_integer) {
    rules->filter_change = any_integer ? gpuopt__min(rules->least_change, rules->integrality) : rules->least_change;
    rules->filter_relative = any_integer ? 0 : rules->least_change_relative;
}

/* How far a finite bound has to move at least: as the host wants it, and beyond rounding. */
GPUOPT_HD double gpuopt__propagator_least_move(const gpuopt__propagator_rules *rules, double bound, double lb,
                                               double ub) {
    double width = ub - lb, size = fabs(bound), least = rules->least_change;
    if (rules->least_change_relative > 0)
        least = gpuopt__add(least, gpuopt__mul(rules->least_change_relative, width < HUGE_VAL ? width : size));
    if (rules->single) { /* of the larger bound: the filter knows that one's size, too */
        if (fabs(lb) < HUGE_VAL) size = gpuopt__max(size, fabs(lb));
        if (fabs(ub) < HUGE_VAL) size = gpuopt__max(size, fabs(ub));
    }
    return gpuopt__add(least, gpuopt__mul(rules->single ? 0x1p-22 : 0x1p-48, size));
}

GPUOPT_HD double gpuopt__propagator_no_minus_zero(double x) { return gpuopt__add(x, 0); }

/* ---- The filter: can anything in this row change? ---- *
 * Plain arithmetic, in any order, contracted or not. An entry's terms of the two activities are a (lb + ub) / 2 -+ |a|
 * (ub - lb) / 2. */

typedef struct gpuopt__propagator_filter {
    double middle, width; /* sums of a (lb + ub) and of |a| (ub - lb): the activities are half of middle -+ width */
    double magnitude;     /* sum of |a| (|lb| + |ub|): scales the rounding error of the two above */
    double reach;         /* greatest |a| (ub - lb - least change): no column improves unless this exceeds the slack */
    double min_rest, max_rest; /* the columns of infinite terms: their opposite term */
    int min_infinite, max_infinite;
} gpuopt__propagator_filter;

GPUOPT_HD gpuopt__propagator_filter gpuopt__propagator_filter_start(void) {
    gpuopt__propagator_filter f = {0, 0, 0, -HUGE_VAL, 0, 0, 0, 0};
    return f;
}

/* Whether an entry's terms are both finite. */
GPUOPT_HD int gpuopt__propagator_filter_is_finite(const gpuopt__propagator_rules *rules, double a, double lb,
                                                  double ub) {
    return fabs(a) * (fabs(lb) + fabs(ub)) < rules->huge;
}

/* Counts an entry's infinite terms, and makes the bounds that they come from 0, which then add nothing. Puts bounds
 * that cross in order, as the activities take them. */
GPUOPT_HD void gpuopt__propagator_filter_take_infinite(gpuopt__propagator_filter *f,
                                                       const gpuopt__propagator_rules *rules, double a, double *lb,
                                                       double *ub) {
    double low = gpuopt__min(*lb, *ub), high = gpuopt__max(*lb, *ub);
    double p = a * low, q = a * high, least = rules->filter_change * fabs(a);
    int lb_infinite = !(fabs(p) < rules->huge), ub_infinite = !(fabs(q) < rules->huge), rising = a > 0;
    if (rising ? lb_infinite : ub_infinite) f->min_infinite++, f->min_rest += (rising ? q : p) - least;
    if (rising ? ub_infinite : lb_infinite) f->max_infinite++, f->max_rest += (rising ? p : q) + least;
    *lb = lb_infinite ? 0 : low;
    *ub = ub_infinite ? 0 : high;
    f->reach = HUGE_VAL;
}

/* Adds the middle and width of an entry of finite terms, and returns its reach. `rounded`: the column is continuous,
 * and its bounds are kept in single precision, so that nearly every row of it would offer it a little more. */
GPUOPT_HD double gpuopt__propagator_filter_add_finite(gpuopt__propagator_filter *f,
                                                      const gpuopt__propagator_rules *rules, int rounded, double a,
                                                      double lb, double ub) {
    double width = ub - lb, b = fabs(a), reach = width * (1 - rules->filter_relative) - rules->filter_change;
    f->middle += a * (lb + ub);
    f->width += b * width;
    return b * (rounded ? reach - 0x1p-23 * (fabs(lb) + fabs(ub)) : reach);
}

GPUOPT_HD void gpuopt__propagator_filter_add(gpuopt__propagator_filter *f, const gpuopt__propagator_rules *rules,
                                             int rounded, double a, double lb, double ub) {
    if (!gpuopt__propagator_filter_is_finite(rules, a, lb, ub))
        gpuopt__propagator_filter_take_infinite(f, rules, a, &lb, &ub);
    f->magnitude += fabs(a) * (fabs(lb) + fabs(ub));
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

/* steps: at least the longest chain of additions that any term went through. The rounding error of an activity is then
 * at most (steps + 3) * 2^-53 * magnitude, to first order; 5 more cover the magnitude, the reach and the comparison
 * itself. */
GPUOPT_HD int gpuopt__propagator_filter_passes(const gpuopt__propagator_filter *f,
                                               const gpuopt__propagator_rules *rules, double lhs, double rhs,
                                               int steps) {
    double margin = (steps + 8) * 0x1.01p-53 * f->magnitude;
    double reach = gpuopt__max(f->reach, -rules->feasibility); /* a slack below that: infeasible */
    double rhs_slack = rhs - 0.5 * (f->middle - f->width) - margin - fabs(rhs) * 0x1p-50;
    double lhs_slack = 0.5 * (f->middle + f->width) - lhs - margin - fabs(lhs) * 0x1p-50;
    int pass = 0;
    if (rhs < HUGE_VAL)
        pass |= f->min_infinite == 0 ? rhs_slack < reach : f->min_infinite == 1 && !(f->min_rest <= rhs_slack);
    if (lhs > -HUGE_VAL)
        pass |= f->max_infinite == 0 ? lhs_slack < reach : f->max_infinite == 1 && !(-f->max_rest <= lhs_slack);
    return pass;
}

/* ---- Activities ---- */

typedef struct gpuopt__propagator_activity {
    double hi, lo;    /* sum of the finite terms */
    double magnitude; /* sum of their absolute values */
    int infinite;     /* count of the others */
} gpuopt__propagator_activity;

typedef struct gpuopt__propagator_activities {
    gpuopt__propagator_activity min, max;
} gpuopt__propagator_activities;

GPUOPT_HD gpuopt__propagator_activities gpuopt__propagator_activities_start(void) {
    gpuopt__propagator_activities s = {{0, 0, 0, 0}, {0, 0, 0, 0}};
    return s;
}

GPUOPT_HD void gpuopt__propagator_activity_add(gpuopt__propagator_activity *s, const gpuopt__propagator_rules *rules,
                                               double a, double bound) {
    double p = gpuopt__mul(a, bound);
    if (fabs(p) < rules->huge) {
        gpuopt__accumulate(&s->hi, &s->lo, p, gpuopt__mul_error(a, bound, p));
        s->magnitude = gpuopt__add(s->magnitude, fabs(p));
    } else {
        s->infinite++;
    }
}

/* The activity of one term: what adding it to an empty one gives. */
GPUOPT_HD gpuopt__propagator_activity gpuopt__propagator_activity_of(const gpuopt__propagator_rules *rules, double a,
                                                                     double bound) {
    gpuopt__propagator_activity s = {0, 0, 0, 1};
    double p = gpuopt__mul(a, bound);
    if (fabs(p) < rules->huge) {
        s.hi = gpuopt__propagator_no_minus_zero(p);
        s.lo = gpuopt__propagator_no_minus_zero(gpuopt__mul_error(a, bound, p));
        s.magnitude = fabs(p);
        s.infinite = 0;
    }
    return s;
}

GPUOPT_HD gpuopt__propagator_activities gpuopt__propagator_activities_of(const gpuopt__propagator_rules *rules,
                                                                         double a, double lb, double ub) {
    double low = gpuopt__min(lb, ub), high = gpuopt__max(lb, ub);
    gpuopt__propagator_activities s;
    s.min = gpuopt__propagator_activity_of(rules, a, a > 0 ? low : high);
    s.max = gpuopt__propagator_activity_of(rules, a, a > 0 ? high : low);
    return s;
}

/* Bounds that cross, which they do by no more than the tolerance, stand for the interval between them. */
GPUOPT_HD void gpuopt__propagator_activities_add(gpuopt__propagator_activities *s,
                                                 const gpuopt__propagator_rules *rules, double a, double lb,
                                                 double ub) {
    double low = gpuopt__min(lb, ub), high = gpuopt__max(lb, ub);
    gpuopt__propagator_activity_add(&s->min, rules, a, a > 0 ? low : high);
    gpuopt__propagator_activity_add(&s->max, rules, a, a > 0 ? high : low);
}

/* Gives the same bits whichever is added to the other. */
GPUOPT_HD void gpuopt__propagator_activity_merge(gpuopt__propagator_activity *s, const gpuopt__propagator_activity *t) {
    double error;
    s->hi = gpuopt__two_sum(s->hi, t->hi, &error);
    s->lo = gpuopt__add(gpuopt__add(s->lo, t->lo), error);
    s->magnitude = gpuopt__add(s->magnitude, t->magnitude);
    s->infinite += t->infinite;
}

GPUOPT_HD void gpuopt__propagator_activities_merge(gpuopt__propagator_activities *s,
                                                   const gpuopt__propagator_activities *t) {
    gpuopt__propagator_activity_merge(&s->min, &t->min);
    gpuopt__propagator_activity_merge(&s->max, &t->max);
}

/* ---- A row with its activities ---- */

/* One side of a row as an upper limit: the rhs on the least activity or, both negated, the lhs on the greatest. */
typedef struct gpuopt__propagator_limit {
    double side;   /* infinite: there is none */
    double hi, lo; /* the activity's finite terms */
    double slack;  /* a column improves through this side only if its |a| (ub - lb) exceeds it */
    double doubt;  /* how much may be wrong with the activity */
    int infinite;  /* count of the activity's other terms */
} gpuopt__propagator_limit;

typedef struct gpuopt__propagator_row {
    gpuopt__propagator_limit limit[2]; /* rhs, lhs */
    double least_slack;                /* no column improves unless its |a| (ub - lb) exceeds this */
    int infeasible;                    /* no point within the bounds satisfies the row, by more than the tolerance */
} gpuopt__propagator_row;

/* side - activity, in twice the precision and rounded once. */
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
    limit.doubt = gpuopt__add(gpuopt__mul(error, s->magnitude), 0x1p-1060); /* terms may have underflowed */
    limit.infinite = s->infinite;
    limit.slack = HUGE_VAL;
    if (limit.side < HUGE_VAL && s->infinite < 2) {
        double excess = gpuopt__propagator_excess(limit.side, limit.hi, limit.lo),
               scale = gpuopt__max(s->magnitude, fabs(side));
        /* The feasibility tolerance, or what rounding of the model's own data makes of sums this large. */
        *infeasible |= s->infinite == 0 && -excess > gpuopt__max(rules->feasibility, 0x1p-47 * scale);
        limit.slack = excess - 0x1p-50 * scale;
    }
    return limit;
}

GPUOPT_HD gpuopt__propagator_row gpuopt__propagator_row_make(const gpuopt__propagator_activities *activity,
                                                             const gpuopt__propagator_rules *rules, double lhs,
                                                             double rhs, int64_t length) {
    gpuopt__propagator_row row;
    /* At least the longest chain of additions from an entry to a candidate; the error of a sum in twice the precision
     * is the square of what it is in one. */
    const int64_t segment = GPUOPT__PROPAGATOR_SEGMENT;
    int64_t steps = 16 + (length < segment ? length : segment) / GPUOPT__PROPAGATOR_LANES +
                    length / (segment * GPUOPT__PROPAGATOR_LANES);
    double chain = (double)steps * 0x1p-53, error = gpuopt__mul(chain, chain);
    row.infeasible = 0;
    row.limit[0] = gpuopt__propagator_limit_make(&activity->min, 0, rules, rhs, error, &row.infeasible);
    row.limit[1] = gpuopt__propagator_limit_make(&activity->max, 1, rules, lhs, error, &row.infeasible);
    row.least_slack = gpuopt__min(row.limit[0].slack, row.limit[1].slack);
    if ((rhs < HUGE_VAL && activity->min.infinite == 1) || (lhs > -HUGE_VAL && activity->max.infinite == 1))
        row.least_slack = -HUGE_VAL;
    return row;
}

/* GPUOPT_ROW_ bits. */
GPUOPT_HD int gpuopt__propagator_row_status(const gpuopt__propagator_activities *activity,
                                            const gpuopt__propagator_row *row, const gpuopt__propagator_rules *rules,
                                            double lhs, double rhs) {
    const gpuopt__propagator_activity *min = &activity->min, *max = &activity->max;
    int status = row->infeasible ? GPUOPT_ROW_INFEASIBLE : 0;
    if (lhs == -HUGE_VAL ||
        (min->infinite == 0 && gpuopt__propagator_excess(lhs, min->hi, min->lo) <= rules->feasibility))
        status |= GPUOPT_ROW_LHS_REDUNDANT;
    if (rhs == HUGE_VAL ||
        (max->infinite == 0 && -gpuopt__propagator_excess(rhs, max->hi, max->lo) <= rules->feasibility))
        status |= GPUOPT_ROW_RHS_REDUNDANT;
    return status;
}

/* ---- New bounds for one entry (equations 4a and 4b of the paper) ---- */

#ifdef __CUDA_ARCH__
GPUOPT_HD double gpuopt__propagator_single_down(double x) { return (double)__double2float_rd(x); }
GPUOPT_HD double gpuopt__propagator_single_up(double x) { return (double)__double2float_ru(x); }
#else
GPUOPT_HD double gpuopt__propagator_single_down(double x) {
    float f = x > FLT_MAX ? FLT_MAX : x < -FLT_MAX ? -HUGE_VALF : (float)x;
    return (double)f > x ? (double)nextafterf(f, -HUGE_VALF) : (double)f;
}
GPUOPT_HD double gpuopt__propagator_single_up(double x) { return -gpuopt__propagator_single_down(-x); }
#endif

/* Columns whose bounds cross by no more than this are feasible. */
GPUOPT_HD int gpuopt__propagator_crossed(const gpuopt__propagator_rules *rules, double lb, double ub) {
    return lb > ub && lb - ub > gpuopt__max(rules->feasibility, 0x1p-47 * gpuopt__max(fabs(lb), fabs(ub)));
}

/* The lower bound as the host sees it: within the tolerance it does not exceed the upper one. */
GPUOPT_HD double gpuopt__propagator_shown_lb(const gpuopt__propagator_rules *rules, double lb, double ub) {
    return gpuopt__propagator_crossed(rules, lb, ub) ? lb : gpuopt__min(lb, ub);
}

/* A side or bound of the host's, with the host's infinity made IEEE's. */
GPUOPT_HD double gpuopt__propagator_normal_low(const gpuopt__propagator_rules *rules, double x) {
    return x <= -rules->infinity ? -HUGE_VAL : x;
}
GPUOPT_HD double gpuopt__propagator_normal_high(const gpuopt__propagator_rules *rules, double x) {
    return x >= rules->infinity ? HUGE_VAL : x;
}

/* Bounds as they are stored. There is no minus zero among them, so that equal bounds have equal bits. */
GPUOPT_HD double gpuopt__propagator_stored_lb(const gpuopt__propagator_rules *rules, double lb) {
    double x = gpuopt__propagator_normal_low(rules, lb);
    return gpuopt__propagator_no_minus_zero(
        rules->single ? gpuopt__propagator_normal_low(rules, gpuopt__propagator_single_down(x)) : x);
}
GPUOPT_HD double gpuopt__propagator_stored_ub(const gpuopt__propagator_rules *rules, double ub) {
    double x = gpuopt__propagator_normal_high(rules, ub);
    return gpuopt__propagator_no_minus_zero(
        rules->single ? gpuopt__propagator_normal_high(rules, gpuopt__propagator_single_up(x)) : x);
}

/* Takes a candidate for an upper bound: *new_ub, and 1 if it moves the bound. */
GPUOPT_HD int gpuopt__propagator_take_upper(const gpuopt__propagator_rules *rules, double candidate, double lb,
                                            double ub, int integer, double *new_ub) {
    if (integer) { /* above 1e9 the tolerance has to cover the rounding of the candidate itself */
        double slack = gpuopt__max(rules->integrality, 0x1p-50 * fabs(candidate));
        double least = gpuopt__add(rules->filter_change, gpuopt__mul(0x1p-48, fabs(ub)));
        if (ub < HUGE_VAL && !(gpuopt__sub(ub, candidate) > least)) return 0; /* the filter may not have passed it */
        candidate = floor(gpuopt__add(candidate, slack));
    }
    if (rules->single) candidate = gpuopt__propagator_single_up(candidate);
    *new_ub = candidate;
    if (!(fabs(candidate) < rules->infinity)) return 0;
    return candidate < ub &&
           (ub == HUGE_VAL || gpuopt__sub(ub, candidate) > gpuopt__propagator_least_move(rules, ub, lb, ub));
}

/* Whether one side of a row may move the column of an entry: its coefficient, negated for the lhs; its column's bounds
 * in order; and their distance times |c|. */
GPUOPT_HD int gpuopt__propagator_limit_reaches(const gpuopt__propagator_limit *limit,
                                               const gpuopt__propagator_rules *rules, double c, double low, double high,
                                               double width) {
    int own_infinite =
        !(fabs(gpuopt__mul(c, c > 0 ? low : high)) < rules->huge); /* this entry's term of the activity */
    return limit->side < HUGE_VAL && limit->infinite == own_infinite && (own_infinite || width > limit->slack);
}

/* The sides of a row that is not infeasible that may move an entry's column: 1 for the rhs, 2 for the lhs. Most move
 * none. */
GPUOPT_HD int gpuopt__propagator_reaching_sides(const gpuopt__propagator_row *row,
                                                const gpuopt__propagator_rules *rules, double a, double lb, double ub) {
    double low = gpuopt__min(lb, ub), high = gpuopt__max(lb, ub), width = fabs(a) * (high - low);
    if (!(width > row->least_slack)) return 0;
    return gpuopt__propagator_limit_reaches(&row->limit[0], rules, a, low, high, width) |
           gpuopt__propagator_limit_reaches(&row->limit[1], rules, -a, low, high, width) << 1;
}

/* Moves a bound of an entry's column by a side that reaches it: returns LOWER or UPPER with the new bound, or 0. A row
 * that is violated, but by less than the tolerance, moves a bound to the opposite one and not beyond.
 *
 * The rhs limits the least activity: it leaves (rhs - activity without this entry) / a for an upper bound of the
 * column, or for a lower one where a < 0. The lhs is the rhs of the negated row; a lower bound is the upper one of the
 * negated column. */
GPUOPT_HD int gpuopt__propagator_tighten(const gpuopt__propagator_limit *limit, const gpuopt__propagator_rules *rules,
                                         double c, double lb, double ub, int integer, double *bound) {
    int upper = c > 0;
    double low = gpuopt__min(lb, ub), high = gpuopt__max(lb, ub), own = upper ? low : high, p = gpuopt__mul(c, own);
    int own_infinite = !(fabs(p) < rules->huge);
    double rest, d = gpuopt__two_sum(limit->side, -limit->hi, &rest), candidate, allowed, opposite;
    rest = gpuopt__sub(rest, limit->lo);
    if (!own_infinite) gpuopt__accumulate(&d, &rest, p, gpuopt__mul_error(c, own, p));
    candidate = gpuopt__add(d, rest) / c;
    /* Dropped where what may be wrong with the activity is not small against the tolerance and the candidate. */
    allowed = gpuopt__mul(gpuopt__mul(1e-3 * rules->feasibility, gpuopt__max(1, fabs(candidate))), fabs(c));
    if (!(limit->doubt <= allowed)) return 0;
    if (!upper) candidate = -candidate;
    /* A column whose own term is beyond the huge value may be the one that violates the row within the tolerance. */
    opposite = upper ? low : -high;
    if (!own_infinite || gpuopt__mul(fabs(c), gpuopt__sub(opposite, candidate)) <= rules->feasibility)
        candidate = gpuopt__max(opposite, candidate);
    if (!gpuopt__propagator_take_upper(rules, candidate, upper ? lb : -ub, upper ? ub : -lb, integer, bound)) return 0;
    *bound = gpuopt__propagator_no_minus_zero(upper ? *bound : -*bound);
    return upper ? GPUOPT__PROPAGATOR_UPPER : GPUOPT__PROPAGATOR_LOWER;
}

#endif /* GPUOPT_IMPL_PROPAGATE_ROW_H */
