/* SPDX-License-Identifier: MIT
 *
 * The arithmetic of a row  lhs <= a'x <= rhs  that has passed the filter, written once for both backends. It computes
 * the row's activities in twice the working precision, summed in an order that depends only on the row's length. From
 * these it derives the row's state and new bounds for the columns of its entries. This part decides every bit of the
 * result.
 */
#ifndef GPUOPT_IMPL_PROPAGATE_ARITH_ROW_H
#define GPUOPT_IMPL_PROPAGATE_ARITH_ROW_H

#include "../../common/api.h"
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

/* The bounds of its column that an entry moves. */
enum { GPUOPT__PROPAGATOR_LOWER = 1, GPUOPT__PROPAGATOR_UPPER = 2 };

/* ---- Activities ---- */

/* In each pair, the first number belongs to the least activity and the second to the greatest. */
typedef struct gpuopt__propagator_activities {
    gpuopt__pair hi, lo; /* the sum of the finite terms is hi + lo */
    gpuopt__pair
        error_sum; /* sum of the absolute values of the errors that lo collects; lo's own error is a part of it */
    gpuopt__pair_count infinite; /* minus the counts of the infinite terms */
} gpuopt__propagator_activities;

GPUOPT_HD gpuopt__propagator_activities gpuopt__propagator_activities_start(void) {
    gpuopt__propagator_activities s;
    s.hi = s.lo = s.error_sum = gpuopt__pair_of(0, 0);
    s.infinite = gpuopt__pair_count_of(0, 0);
    return s;
}

/* Counts of infinite terms. */
GPUOPT_HD int gpuopt__propagator_min_infinite(const gpuopt__propagator_activities *s) {
    return -gpuopt__first_count(s->infinite);
}
GPUOPT_HD int gpuopt__propagator_max_infinite(const gpuopt__propagator_activities *s) {
    return -gpuopt__second_count(s->infinite);
}

/* The size of a term; 0 if it is infinite. */
GPUOPT_HD double gpuopt__propagator_term_size(const gpuopt__propagator_rules *rules, double a, double bound) {
    double size = fabs(gpuopt__mul(a, bound));
    return size < rules->huge ? size : 0;
}

/* The part of the error of p = a * bound that its computed error may lack: 0, unless one of them may have
 * underflowed. */
GPUOPT_HD double gpuopt__propagator_underflow(double bound, double p) {
    return fabs(p) < 0x1p-960 && fabs(bound) > 0 ? 0x1p-980 : 0;
}

/* The terms of an entry in the least and the greatest activity, or 0 if infinite. Counts the infinite terms, and adds a
 * bound on the error of *error, the errors of the products, to error_sum.
 *
 * Bounds that cross (by no more than the tolerance) enter as they are. The least activity takes the lower bound of a
 * column with a positive coefficient even if it exceeds the upper bound. So tighter bounds never make an activity
 * worse, and all orders in which rows are evaluated lead to the same verdict. */
GPUOPT_HD gpuopt__pair gpuopt__propagator_terms(gpuopt__propagator_activities *s, const gpuopt__propagator_rules *rules,
                                                double a, double lb, double ub, gpuopt__pair *error) {
    gpuopt__pair bound = gpuopt__pair_by_sign(a, gpuopt__pair_of(lb, ub)),
                 p = gpuopt__pair_mul(gpuopt__pair_of(a, a), bound);
    gpuopt__pair_count infinite = gpuopt__pair_beyond(p, rules->huge);
    *error = gpuopt__pair_of(0, 0);
    if (!(gpuopt__is_short(a) && gpuopt__is_short(lb) && gpuopt__is_short(ub))) {
        double least = gpuopt__first(bound), greatest = gpuopt__second(bound),
               of_least = gpuopt__propagator_underflow(least, gpuopt__first(p)),
               of_greatest = gpuopt__propagator_underflow(greatest, gpuopt__second(p));
        *error = gpuopt__pair_unless(
            infinite, gpuopt__pair_of(fma(a, least, -gpuopt__first(p)), fma(a, greatest, -gpuopt__second(p))));
        if (of_least + of_greatest > 0)
            s->error_sum = gpuopt__pair_add(s->error_sum, gpuopt__pair_of(of_least, of_greatest));
    }
    s->infinite = gpuopt__pair_count_add(s->infinite, infinite);
    return gpuopt__pair_unless(infinite, p);
}

GPUOPT_HD void gpuopt__propagator_activities_add(gpuopt__propagator_activities *s,
                                                 const gpuopt__propagator_rules *rules, double a, double lb,
                                                 double ub) {
    gpuopt__pair error, of_products, p = gpuopt__propagator_terms(s, rules, a, lb, ub, &of_products);
    s->hi = gpuopt__pair_two_sum(s->hi, p, &error);
    error = gpuopt__pair_add(error, of_products);
    s->lo = gpuopt__pair_add(s->lo, error);
    s->error_sum = gpuopt__pair_add(s->error_sum, gpuopt__pair_abs(error));
}

/* The activities of one entry: the result of adding it to empty activities. */
GPUOPT_HD gpuopt__propagator_activities gpuopt__propagator_activities_of(const gpuopt__propagator_rules *rules,
                                                                         double a, double lb, double ub) {
    gpuopt__propagator_activities s = gpuopt__propagator_activities_start();
    gpuopt__pair zero = gpuopt__pair_of(0, 0), error, p = gpuopt__propagator_terms(&s, rules, a, lb, ub, &error);
    s.hi = gpuopt__pair_add(p, zero); /* without minus zeros */
    s.lo = gpuopt__pair_add(error, zero);
    s.error_sum = gpuopt__pair_add(s.error_sum, gpuopt__pair_abs(error));
    return s;
}

/* Commutative: s + t and t + s have the same bits. */
GPUOPT_HD void gpuopt__propagator_activities_merge(gpuopt__propagator_activities *s,
                                                   const gpuopt__propagator_activities *t) {
    gpuopt__pair error;
    s->hi = gpuopt__pair_two_sum(s->hi, t->hi, &error);
    s->lo = gpuopt__pair_add(gpuopt__pair_add(s->lo, t->lo), error);
    s->error_sum = gpuopt__pair_add(gpuopt__pair_add(s->error_sum, t->error_sum), gpuopt__pair_abs(error));
    s->infinite = gpuopt__pair_count_add(s->infinite, t->infinite);
}

/* ---- A row with its activities ---- */

/* A side of a row as an upper limit on an activity: the rhs on the least activity or, both negated, the lhs on the
 * greatest. */
typedef struct gpuopt__propagator_limit {
    double high, low;   /* side - activity is high + low, without the infinite terms */
    double error_bound; /* bound on the error of high + low; 0: it is exact */
    double slack;       /* this side only moves bounds of columns with |a| (ub - lb) above this; see single */
} gpuopt__propagator_limit;

typedef struct gpuopt__propagator_row {
    gpuopt__propagator_limit limit[2]; /* rhs, lhs */
    /* Sides, 1 for the rhs plus 2 for the lhs: */
    int single;   /* with one infinite term in their activity: they move a bound of that term's column only, for any
                 * slack */
    int violated; /* violated by every point within the bounds, by more than the feasibility tolerance */
} gpuopt__propagator_row;

/* The rounding errors of lo are at most this part of error_sum: two for each addition of an entry, and as much again
 * for the errors of error_sum itself. A row of one entry has none. */
GPUOPT_HD double gpuopt__propagator_error_share(int64_t length) {
    const int64_t segment = GPUOPT__PROPAGATOR_SEGMENT;
    int64_t steps = 16 + (length < segment ? length : segment) / GPUOPT__PROPAGATOR_LANES +
                    length / (segment * GPUOPT__PROPAGATOR_LANES);
    return length > 1 ? (double)steps * 0x1p-51 : 0;
}

/* hi + lo: the activity's finite terms, except for an error of at most error_bound. infinite: the count of its other
 * terms. */
GPUOPT_HD gpuopt__propagator_limit gpuopt__propagator_limit_make(double side, double hi, double lo, double error_bound,
                                                                 int infinite) {
    gpuopt__propagator_limit limit;
    double rest, lost;
    limit.high = gpuopt__two_sum(side, -hi, &rest);
    limit.low = gpuopt__two_sum(rest, -lo, &lost);
    limit.error_bound = gpuopt__add(error_bound, fabs(lost));
    limit.slack = HUGE_VAL;
    if (side < HUGE_VAL && infinite == 0) {
        /* A bound moves only if |a| (ub - lb) exceeds high + low. The margin covers the rounding errors of both. */
        double excess = gpuopt__add(limit.high, limit.low);
        limit.slack = excess - (0x1p-51 * (fabs(excess) + fabs(limit.low)) + 0x1p-1000);
    }
    return limit;
}

/* Whether every point within the bounds violates a side by more than the tolerance or, for large sums, the effect of
 * rounding in the model's data. Both error_bound and the rounding of the excess are far smaller, so this proves that
 * the row has no solution. magnitude: the sum of the sizes of the activity's terms. A backend computes it only for rows
 * that are violated with 0 in its place. */
GPUOPT_HD int gpuopt__propagator_limit_violated(const gpuopt__propagator_limit *limit,
                                                const gpuopt__propagator_rules *rules, double side, double magnitude) {
    double scale = gpuopt__max(magnitude, fabs(side));
    return limit->slack < 0 && -gpuopt__add(limit->high, limit->low) > gpuopt__max(rules->feasibility, 0x1p-47 * scale);
}

GPUOPT_HD gpuopt__propagator_row gpuopt__propagator_row_make(const gpuopt__propagator_activities *s,
                                                             const gpuopt__propagator_rules *rules, double lhs,
                                                             double rhs, int64_t length) {
    gpuopt__propagator_row row;
    double share = gpuopt__propagator_error_share(length);
    row.limit[0] = gpuopt__propagator_limit_make(rhs, gpuopt__first(s->hi), gpuopt__first(s->lo),
                                                 gpuopt__mul(share, gpuopt__first(s->error_sum)),
                                                 gpuopt__propagator_min_infinite(s));
    row.limit[1] = gpuopt__propagator_limit_make(-lhs, -gpuopt__second(s->hi), -gpuopt__second(s->lo),
                                                 gpuopt__mul(share, gpuopt__second(s->error_sum)),
                                                 gpuopt__propagator_max_infinite(s));
    row.single = (rhs < HUGE_VAL && gpuopt__propagator_min_infinite(s) == 1) |
                 (lhs > -HUGE_VAL && gpuopt__propagator_max_infinite(s) == 1) << 1;
    row.violated = gpuopt__propagator_limit_violated(&row.limit[0], rules, 0, 0) |
                   gpuopt__propagator_limit_violated(&row.limit[1], rules, 0, 0) << 1;
    return row;
}

/* side - activity, computed in twice the precision and rounded once. */
GPUOPT_HD double gpuopt__propagator_excess(double side, double hi, double lo) {
    double error, d = gpuopt__two_sum(side, -hi, &error);
    return gpuopt__add(d, gpuopt__sub(error, lo));
}

/* The row's GPUOPT_ROW_ bits. */
GPUOPT_HD int gpuopt__propagator_row_status(const gpuopt__propagator_activities *s, int infeasible,
                                            const gpuopt__propagator_rules *rules, double lhs, double rhs,
                                            int64_t length) {
    int status = infeasible ? GPUOPT_ROW_INFEASIBLE : 0;
    double share = gpuopt__propagator_error_share(length),
           over = gpuopt__add(gpuopt__propagator_excess(lhs, gpuopt__first(s->hi), gpuopt__first(s->lo)),
                              gpuopt__mul(share, gpuopt__first(s->error_sum))),
           under = gpuopt__add(-gpuopt__propagator_excess(rhs, gpuopt__second(s->hi), gpuopt__second(s->lo)),
                               gpuopt__mul(share, gpuopt__second(s->error_sum)));
    if (lhs == -HUGE_VAL || (gpuopt__propagator_min_infinite(s) == 0 && over <= rules->feasibility))
        status |= GPUOPT_ROW_LHS_REDUNDANT;
    if (rhs == HUGE_VAL || (gpuopt__propagator_max_infinite(s) == 0 && under <= rules->feasibility))
        status |= GPUOPT_ROW_RHS_REDUNDANT;
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

/* The sides of a feasible row that may move a bound of an entry's column: 1 for the rhs plus 2 for the lhs. Usually
 * 0. */
GPUOPT_HD int gpuopt__propagator_reaching_sides(const gpuopt__propagator_row *row,
                                                const gpuopt__propagator_rules *rules, double a, double lb, double ub) {
    double width = gpuopt__mul(fabs(a), ub - lb);
    int sides = (width > row->limit[0].slack) | (width > row->limit[1].slack) << 1;
    if (row->single) {
        int of_lb = !(fabs(gpuopt__mul(a, lb)) < rules->huge), of_ub = !(fabs(gpuopt__mul(a, ub)) < rules->huge);
        sides |= row->single & (a > 0 ? of_lb | of_ub << 1 : of_ub | of_lb << 1);
    }
    return sides;
}

/* Computes the bound that one side of a row implies for an entry's column (see reaching_sides), of this kind. Returns
 * LOWER or UPPER and *bound if that bound moves, else 0.
 *
 * The rhs limits the least activity: (rhs - least activity without this entry) / a is an upper bound of the column if a
 * > 0, a lower bound if a < 0. The lhs is treated as the rhs of the negated row, and a lower bound as the upper bound
 * of the negated column. The quotient is rounded up, by at least the numerator's possible error, so the bound is never
 * tighter than the row implies. It may cross the opposite bound. */
GPUOPT_HD int gpuopt__propagator_tighten(const gpuopt__propagator_limit *limit, const gpuopt__propagator_rules *rules,
                                         double c, double lb, double ub, int kind, double *bound) {
    int upper = c > 0;
    double own = upper ? lb : ub, p = gpuopt__mul(c, own), size = fabs(c), low = upper ? lb : -ub,
           high = upper ? ub : -lb;
    double d = limit->high, rest = limit->low, error_bound = limit->error_bound, candidate;
    if (kind & GPUOPT__PROPAGATOR_FIXED) return 0;
    if (fabs(p) < rules->huge) { /* the activity includes this entry */
        double error, lost, low_part = gpuopt__mul_error(c, own, p);
        d = gpuopt__two_sum(d, p, &error);
        error = gpuopt__two_sum(error, low_part, &lost);
        error_bound = gpuopt__add(error_bound, fabs(lost));
        rest = gpuopt__two_sum(rest, error, &lost);
        error_bound = gpuopt__add(error_bound, fabs(lost));
    }
    d = gpuopt__two_sum(d, rest, &rest);
    candidate = d / size;
    if (!(candidate < high && candidate > -rules->infinity)) return 0;
    error_bound = gpuopt__mul(error_bound, 1 + 0x1p-50);
    if (size != 1 || rest != 0 || error_bound > 0)
        candidate = gpuopt__quotient_up(d, rest, error_bound, size, candidate);
    if (!gpuopt__propagator_take_upper(rules, candidate, low, high, kind & GPUOPT__PROPAGATOR_INTEGER, bound)) return 0;
    *bound = gpuopt__propagator_no_minus_zero(upper ? *bound : -*bound);
    return upper ? GPUOPT__PROPAGATOR_UPPER : GPUOPT__PROPAGATOR_LOWER;
}

#endif /* GPUOPT_IMPL_PROPAGATE_ARITH_ROW_H */
