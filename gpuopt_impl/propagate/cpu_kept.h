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

/* Terms that are multiples of 2^-10, at most this large: the sums of a row of `length` of them are exact in any order. */
static inline double gpuopt__propagator_most_exact(int64_t length) {
    return 0x1p42 / (double)(length > 1 ? length : 1);
}

static inline int gpuopt__propagator_is_single(double x) { return (double)(float)x == x; }

/* Whether the term p = a * bound is such a term, and the product is exact; the bound is a single-precision number. */
static inline int gpuopt__propagator_is_exact_term(double most, double a, double p) {
    double scaled = p * 0x1p10;
    return fabs(p) <= most && (double)(int64_t)scaled == scaled && gpuopt__propagator_is_single(a);
}

/* Whether a side of a row may be violated or move a bound. */
static inline int gpuopt__propagator_kept_acts(const gpuopt__propagator_kept *r, const gpuopt__propagator_rules *rules,
                                               int s) {
    double side = r->side[s], sum = r->sum[s];
    if (side == HUGE_VAL) return 0;
    if (r->infinite[s]) return r->infinite[s] == 1;
    return side - sum - (r->error + 0x1p-50 * (fabs(side) + fabs(sum))) <
           gpuopt__max(r->reach, -rules->feasibility);
}

/* The reach of an entry, and more than it may be off by. */
static inline double gpuopt__propagator_kept_reach(const gpuopt__propagator_rules *rules, int rounded, double a,
                                                   double lb, double ub) {
    double b = fabs(a), size = b * (fabs(lb) + fabs(ub));
    return size < rules->huge ? b * gpuopt__propagator_reach(rules, rounded, lb, ub) + 0x1p-50 * size : HUGE_VAL;
}

/* Replaces the term of a bound in sum s: old by fresh, products of c (the coefficient; the other sign for s = 1) with the
 * bound. Products that are exact terms are told by the caller. */
static inline void gpuopt__propagator_kept_replace(gpuopt__propagator_kept *r, const gpuopt__propagator_rules *rules,
                                                   int s, double old, int old_exact, double fresh, int fresh_exact) {
    int old_infinite = !(fabs(old) < rules->huge), infinite = !(fabs(fresh) < rules->huge);
    if (old_infinite) r->infinite[s]--, old = 0, old_exact = 1;
    if (infinite) r->infinite[s]++, fresh = 0, fresh_exact = 1;
    r->rough += old_exact - fresh_exact;
    r->sum[s] += fresh - old;
    if (!(old_exact & fresh_exact) || r->rough || r->error > 0)
        r->error = (r->error + 0x1p-51 * (fabs(old) + fabs(fresh) + fabs(r->sum[s])) + 0x1p-1000) * (1 + 0x1p-50);
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
