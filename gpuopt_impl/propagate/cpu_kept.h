/* SPDX-License-Identifier: MIT
 *
 * Propagation on the CPU: what is kept of a row, so that a bound that moves costs its column's entries and not the
 * lengths of their rows.
 *
 * It decides which rows are evaluated, never what comes out: like the filter it may let a row pass that then changes
 * nothing, but stops none that would change something. Sums are used in an evaluation only where they are exact, and so
 * equal to those that row.h takes in its order. Thus results do not depend on the way to the bounds.
 */
#ifndef GPUOPT_IMPL_PROPAGATE_CPU_KEPT_H
#define GPUOPT_IMPL_PROPAGATE_CPU_KEPT_H

#include "cpu_state.h"

/* ---- Exact sums ---- *
 * Terms that are multiples of 2^-10, and not too large, add up exactly in any order; such are products of coefficients
 * that are multiples of it and bounds that are integers, both of few digits. */

static inline double gpuopt__propagator_most_exact(int64_t length) { /* of a term, in a row of that length */
    return 0x1p42 / (double)(length > 1 ? length : 1);
}
static inline int gpuopt__propagator_is_multiple(double x, double inverse) {
    double scaled = x * inverse;
    return fabs(scaled) < 0x1p31 && (double)(int32_t)scaled == scaled && (double)(float)x == x;
}
static inline int gpuopt__propagator_is_plain(double a) { return gpuopt__propagator_is_multiple(a, 0x1p10); }
static inline int gpuopt__propagator_is_whole(double bound) { return gpuopt__propagator_is_multiple(bound, 1); }

/* ---- Can a row act? ---- */

static inline int gpuopt__propagator_kept_acts(const gpuopt__propagator_kept *r, int s) {
    return r->infinite[s] ? r->infinite[s] == 1 && r->limit[s] < HUGE_VAL : r->sum[s] + r->error > r->limit[s];
}

static inline int gpuopt__propagator_kept_row_acts(const gpuopt__propagator_kept *r) {
    return gpuopt__propagator_kept_acts(r, 0) || gpuopt__propagator_kept_acts(r, 1);
}

/* The same, of a side whose sum may lack one term: rest is c times the other bound of its column, less the least change. */
static inline int gpuopt__propagator_kept_acts_alone(const gpuopt__propagator_kept *r, int s, double side,
                                                     double rest) {
    if (r->infinite[s] != 1) return gpuopt__propagator_kept_acts(r, s);
    return r->limit[s] < HUGE_VAL &&
           side - r->sum[s] - r->error - 0x1p-48 * (fabs(side) + fabs(r->sum[s]) + fabs(rest)) < rest;
}

/* A side can move a bound, or is violated, only if what it leaves to the sum is less than the reach; the margin is more
 * than what rounding may add to that. */
static inline double gpuopt__propagator_kept_limit(const gpuopt__propagator_rules *rules, double side, double reach) {
    double least = gpuopt__max(reach, -rules->feasibility);
    if (side == HUGE_VAL) return HUGE_VAL;
    return least < HUGE_VAL ? side - least - 0x1p-48 * (fabs(side) + fabs(least)) : -HUGE_VAL;
}

static inline void gpuopt__propagator_kept_set_reach(gpuopt__propagator_kept *r, const gpuopt__propagator_rules *rules,
                                                     double lhs, double rhs, double reach) {
    r->reach = reach;
    r->limit[0] = gpuopt__propagator_kept_limit(rules, rhs, reach);
    r->limit[1] = gpuopt__propagator_kept_limit(rules, -lhs, reach);
}

/* What a column adds to the reach of its entries, and more than it may be off by; |a| times that is theirs, unless the
 * terms are infinite. */
static inline double gpuopt__propagator_kept_width(const gpuopt__propagator_rules *rules, int rounded, double lb,
                                                   double ub) {
    return gpuopt__propagator_reach(rules, rounded, lb, ub) + 0x1p-50 * (fabs(lb) + fabs(ub));
}
static inline double gpuopt__propagator_kept_reach(const gpuopt__propagator_rules *rules, int rounded, double a,
                                                   double lb, double ub) {
    double b = fabs(a);
    return b * (fabs(lb) + fabs(ub)) < rules->huge ? b * gpuopt__propagator_kept_width(rules, rounded, lb, ub)
                                                   : HUGE_VAL;
}

/* ---- Sums ---- */

/* A bound that moves: from, to. */
typedef struct gpuopt__propagator_move {
    double from, to, distance; /* distance: to - from */
    double width;              /* see kept_width */
    double size;               /* |lb| + |ub| */
    int upper, tighter;
    int from_whole, to_whole;
    int32_t since; /* for the rows that it marks, or NO_MARKS */
} gpuopt__propagator_move;

/* A sum has been rounded, and so have numbers of this size in all that went into it. */
static inline void gpuopt__propagator_kept_rounded(gpuopt__propagator_kept *r, double size) {
    r->error = (r->error + 0x1p-51 * size + 0x1p-1000) * (1 + 0x1p-50);
}

/* Adds the difference of two exact terms to sum s: itself exact, as a multiple of 2^-10 of few digits. */
static inline void gpuopt__propagator_kept_add(gpuopt__propagator_kept *r, int s, double difference) {
    r->sum[s] += difference;
    if (r->rough) gpuopt__propagator_kept_rounded(r, fabs(difference) + fabs(r->sum[s]));
}

/* Replaces the term of a bound with coefficient c in sum s. */
static inline void gpuopt__propagator_kept_replace(gpuopt__propagator_kept *r, const gpuopt__propagator_rules *rules,
                                                   const gpuopt__propagator_move *m, int s, double c, double most) {
    double old = c * m->from, fresh = c * m->to;
    int was_rough = !(m->from_whole & (fabs(old) <= most)), is_rough = !(m->to_whole & (fabs(fresh) <= most));
    if (!(fabs(old) < rules->huge)) r->infinite[s]--, old = 0, was_rough = 0;
    if (!(fabs(fresh) < rules->huge)) r->infinite[s]++, fresh = 0, is_rough = 0;
    r->sum[s] += fresh - old;
    r->rough += is_rough - was_rough;
    if (was_rough | r->rough) gpuopt__propagator_kept_rounded(r, fabs(old) + fabs(fresh) + fabs(r->sum[s]));
}

/* The activities that are kept, if they are exact: with the bits that summing them anew would give. */
static inline gpuopt__propagator_activities gpuopt__propagator_kept_activities(const gpuopt__propagator_kept *r) {
    gpuopt__propagator_activities s = gpuopt__propagator_activities_start();
    s.hi = gpuopt__pair_of(r->sum[0] + 0, -r->sum[1] + 0);
    s.infinite = gpuopt__pair_count_of(-r->infinite[0], -r->infinite[1]);
    return s;
}

/* Takes over activities that have been summed anew. */
static inline void gpuopt__propagator_kept_take(gpuopt__propagator_kept *r, const gpuopt__propagator_activities *s,
                                                int64_t length) {
    gpuopt__pair sum = gpuopt__pair_add(s->hi, s->lo);
    double size = gpuopt__max(fabs(gpuopt__first(sum)), fabs(gpuopt__second(sum)));
    double dirt = gpuopt__max(gpuopt__first(s->dirt), gpuopt__second(s->dirt));
    r->sum[0] = gpuopt__first(sum);
    r->sum[1] = -gpuopt__second(sum);
    r->error = 0x1p-51 * size + 2 * gpuopt__propagator_dirt_share(length) * dirt + 0x1p-1000;
}

#endif /* GPUOPT_IMPL_PROPAGATE_CPU_KEPT_H */
