/* SPDX-License-Identifier: MIT
 *
 * Propagation on the CPU: data kept for each row, so that moving a bound costs its column's entries and not the lengths
 * of their rows.
 *
 * The data decide only which rows are evaluated, never the result. Like the filter they may let a row pass that changes
 * nothing, but they never stop a row that would change something. An evaluation uses the sums only if they are exact,
 * and so equal to the sums that row.h takes in its order. Thus results do not depend on the path to the bounds.
 */
#ifndef GPUOPT_IMPL_PROPAGATE_CPU_KEPT_ROWS_H
#define GPUOPT_IMPL_PROPAGATE_CPU_KEPT_ROWS_H

#include "state.h"

/* ---- Exact sums ---- *
 * Terms add up exactly in any order if they are multiples of 2^-10 and not too large. Products of coefficients that are
 * such multiples and integer bounds are such terms if both have few digits. */

static inline double gpuopt__propagator_most_exact(int64_t length) { /* of a term, in a row of this length */
    return 0x1p42 / (double)(length > 1 ? length : 1);
}
static inline int gpuopt__propagator_is_multiple(double x, double inverse) {
    double scaled = x * inverse;
    return fabs(scaled) < 0x1p31 && (double)(int32_t)scaled == scaled;
}
static inline int gpuopt__propagator_is_plain(double a) { return gpuopt__propagator_is_multiple(a, 0x1p10); }
static inline int gpuopt__propagator_is_whole(double bound) { return gpuopt__propagator_is_multiple(bound, 1); }

/* ---- Can a row act? ---- *
 * A side moves a bound, or is violated, only if its slack over a sum of finite terms is less than the reach. If the sum
 * lacks one term, the slack must be less than the threshold for moving the other bound of that term's column. With more
 * infinite terms the side has no effect. */

static inline int gpuopt__propagator_kept_acts(const gpuopt__propagator_kept *r, int s) {
    return r->sum[s] > r->limit[s];
}

static inline int gpuopt__propagator_kept_row_acts(const gpuopt__propagator_kept *r) {
    return gpuopt__propagator_kept_acts(r, 0) || gpuopt__propagator_kept_acts(r, 1);
}

/* A column's part of the reach of its entries, and a bound on its error; times |a| for an entry, unless the terms are
 * infinite. */
static inline double gpuopt__propagator_kept_width(const gpuopt__propagator_rules *rules, int rounded, double lb,
                                                   double ub) {
    return gpuopt__propagator_reach(rules, rounded, lb, ub) + 0x1p-50 * (fabs(lb) + fabs(ub));
}

/* The threshold for moving a bound, in a sum that lacks its column's other term. bound: as in the other sum, an ub
 * negated. */
static inline double gpuopt__propagator_kept_rest(const gpuopt__propagator_rules *rules, double b, double bound) {
    return b * (-bound - rules->filter_change);
}

/* The maxima over a row's entries. */
typedef struct gpuopt__propagator_most {
    double reach;
    double rest[2]; /* over the entries with an infinite term in sum s */
} gpuopt__propagator_most;

static inline gpuopt__propagator_most gpuopt__propagator_most_start(void) {
    gpuopt__propagator_most most = {-HUGE_VAL, {-HUGE_VAL, -HUGE_VAL}};
    return most;
}

GPUOPT__INLINE void gpuopt__propagator_most_add(gpuopt__propagator_most *most, const gpuopt__propagator_rules *rules,
                                                int rounded, double a, double lb, double ub) {
    double b = fabs(a);
    if (b * (fabs(lb) + fabs(ub)) < rules->huge) {
        most->reach = gpuopt__max(b * gpuopt__propagator_kept_width(rules, rounded, lb, ub), most->reach);
        return;
    }
    if (!(b * fabs(lb) < rules->huge))
        most->rest[a < 0] = gpuopt__max(gpuopt__propagator_kept_rest(rules, b, -ub), most->rest[a < 0]);
    if (!(b * fabs(ub) < rules->huge))
        most->rest[a > 0] = gpuopt__max(gpuopt__propagator_kept_rest(rules, b, lb), most->rest[a > 0]);
    most->reach = HUGE_VAL;
}

/* Sets the limit of sum s: its side acts only if its slack is below `least`, and there are not two infinite terms. The
 * margin covers more than the rounding errors. */
static inline void gpuopt__propagator_kept_set_limit(gpuopt__propagator_kept *r, int s, double side, double least) {
    if (side == HUGE_VAL || r->infinite[s] > 1) r->limit[s] = HUGE_VAL;
    else r->limit[s] = fabs(least) < HUGE_VAL ? side - least - 0x1p-48 * (fabs(side) + fabs(least)) : -HUGE_VAL;
}

/* For sums without infinite terms. */
static inline void gpuopt__propagator_kept_set_reach(gpuopt__propagator_kept *r, const gpuopt__propagator_rules *rules,
                                                     double lhs, double rhs, double reach) {
    double least = gpuopt__max(reach, -rules->feasibility);
    r->reach = reach;
    if (r->infinite[0] == 0) gpuopt__propagator_kept_set_limit(r, 0, rhs, least);
    if (r->infinite[1] == 0) gpuopt__propagator_kept_set_limit(r, 1, -lhs, least);
}

static inline void gpuopt__propagator_kept_set_most(gpuopt__propagator_kept *r, const gpuopt__propagator_rules *rules,
                                                    double lhs, double rhs, const gpuopt__propagator_most *most) {
    gpuopt__propagator_kept_set_reach(r, rules, lhs, rhs, most->reach);
    if (r->infinite[0] > 0) gpuopt__propagator_kept_set_limit(r, 0, rhs, most->rest[0]);
    if (r->infinite[1] > 0) gpuopt__propagator_kept_set_limit(r, 1, -lhs, most->rest[1]);
}

/* ---- Sums ---- */

/* A bound that moves. Its terms are |a| times its value in the sums; an ub is negated there, for either sign of a. */
typedef struct gpuopt__propagator_move {
    double from, to, step; /* in the sums; step: to - from */
    double other;          /* likewise, the column's other bound */
    double width;          /* see kept_width; unless the bound becomes tighter */
    double size;           /* |lb| + |ub| */
    int upper;
    int was_rough, is_rough; /* the bound before and after is not an integer of few digits */
    int wide;                /* a term of the column may be infinite */
    int32_t since;           /* for the rows that the move marks */
    uint32_t epoch;
} gpuopt__propagator_move;

/* Adds `difference` to sum s of a row. Unless the row is exact, it adds more, by an upper bound on all rounding errors
 * of numbers of the size of `size`. */
static inline void gpuopt__propagator_kept_add_up(gpuopt__propagator_kept *r, int s, double difference, double size) {
    double sum = r->sum[s] + difference;
    if (r->rough | r->rounded) {
        sum += 0x1p-50 * (size + fabs(sum)) + 0x1p-1000;
        r->rounded = 1;
    }
    r->sum[s] = sum;
}

/* Moves a bound with a coefficient of size b in sum s; both terms must be finite and as rough as the bounds are. */
static inline void gpuopt__propagator_kept_add(gpuopt__propagator_kept *r, const gpuopt__propagator_move *m, int s,
                                               double b) {
    double difference = b * m->step;
    r->rough += m->is_rough - m->was_rough;
    gpuopt__propagator_kept_add_up(r, s, difference, fabs(difference));
}

/* Moves any bound. Returns whether the number of infinite terms in the sum has changed. */
static inline int gpuopt__propagator_kept_replace(gpuopt__propagator_kept *r, const gpuopt__propagator_rules *rules,
                                                  const gpuopt__propagator_move *m, int s, double b, double most) {
    double old = b * m->from, fresh = b * m->to;
    int was_rough = m->was_rough | (fabs(old) > most), is_rough = m->is_rough | (fabs(fresh) > most);
    int was_infinite = !(fabs(old) < rules->huge), is_infinite = !(fabs(fresh) < rules->huge);
    if (was_infinite) old = 0, was_rough = 0;
    if (is_infinite) fresh = 0, is_rough = 0;
    r->infinite[s] += is_infinite - was_infinite;
    r->rough += is_rough - was_rough;
    gpuopt__propagator_kept_add_up(r, s, fresh - old, fabs(old) + fabs(fresh));
    return is_infinite != was_infinite;
}

/* After kept_replace, if a term of the column is or was infinite: sets the limits of sums with one or no such term.
 * recounted: the result of kept_replace. */
static inline void gpuopt__propagator_kept_infinite(gpuopt__propagator_kept *r, const gpuopt__propagator_rules *rules,
                                                    const gpuopt__propagator_move *m, int s, double b, double lhs,
                                                    double rhs, int recounted) {
    if (recounted && r->infinite[s] <= 2) {
        double least = HUGE_VAL; /* unknown if the term belongs to another column */
        if (r->infinite[s] == 0) least = gpuopt__max(r->reach, -rules->feasibility);
        else if (!(b * fabs(m->to) < rules->huge)) least = gpuopt__propagator_kept_rest(rules, b, m->other);
        gpuopt__propagator_kept_set_limit(r, s, s ? -lhs : rhs, least);
    }
    if (r->infinite[!s] == 1 && !(b * fabs(m->other) < rules->huge))
        gpuopt__propagator_kept_set_limit(r, !s, s ? rhs : -lhs, gpuopt__propagator_kept_rest(rules, b, m->to));
}

/* The kept activities, if they are exact: with the same bits as a new sum. */
static inline gpuopt__propagator_activities gpuopt__propagator_kept_activities(const gpuopt__propagator_kept *r) {
    gpuopt__propagator_activities s = gpuopt__propagator_activities_start();
    s.hi = gpuopt__pair_of(r->sum[0] + 0, -r->sum[1] + 0);
    s.infinite = gpuopt__pair_count_of(-r->infinite[0], -r->infinite[1]);
    return s;
}

/* Stores newly summed activities. */
static inline void gpuopt__propagator_kept_take(gpuopt__propagator_kept *r, const gpuopt__propagator_activities *s,
                                                int64_t length) {
    gpuopt__pair sum = gpuopt__pair_add(s->hi, s->lo);
    double size = gpuopt__max(fabs(gpuopt__first(sum)), fabs(gpuopt__second(sum)));
    double error_sum = gpuopt__max(gpuopt__first(s->error_sum), gpuopt__second(s->error_sum));
    double error = 0x1p-50 * size + 2 * gpuopt__propagator_error_share(length) * error_sum + 0x1p-1000;
    r->sum[0] = gpuopt__first(sum) + error;
    r->sum[1] = -gpuopt__second(sum) + error;
}

#endif /* GPUOPT_IMPL_PROPAGATE_CPU_KEPT_ROWS_H */
