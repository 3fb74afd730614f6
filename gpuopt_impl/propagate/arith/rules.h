/* SPDX-License-Identifier: MIT
 *
 * The effect of a model's settings on one bound: when it may move, when it is infinite, when two bounds cross, and how
 * it is stored. Used by both backends.
 */
#ifndef GPUOPT_IMPL_PROPAGATE_ARITH_RULES_H
#define GPUOPT_IMPL_PROPAGATE_ARITH_RULES_H

#include "../../common/numerics.h"

/* The settings of a descriptor, with the defaults filled in. */
typedef struct gpuopt__propagator_rules {
    double infinity, feasibility, integrality, least_change, least_change_relative, huge;
    /* The least change that the filter assumes, absolute and as a fraction of ub - lb: a lower bound on every column's
     * least change. (The bound of an integer column moves by a whole unit as soon as its candidate gains the
     * tolerance.) */
    double filter_change, filter_relative;
    int single;            /* bounds are stored in single precision */
    int relative_integers; /* least_change_relative also holds for integer columns */
} gpuopt__propagator_rules;

/* The kind of a column. */
enum {
    GPUOPT__PROPAGATOR_INTEGER = 1,
    GPUOPT__PROPAGATOR_FIXED = 2 /* the caller has set both bounds to one value, so rows do not move them */
};

GPUOPT_HD void gpuopt__propagator_rules_derive(gpuopt__propagator_rules *rules, int any_integer) {
    rules->filter_change = any_integer ? gpuopt__min(rules->least_change, rules->integrality) : rules->least_change;
    rules->filter_relative = any_integer ? 0 : rules->least_change_relative;
}

/* The least distance that a finite bound must move: the descriptor's, plus a few units in the last place. Without
 * these, some fixpoints would be approached for ever. */
GPUOPT_HD double gpuopt__propagator_least_move(const gpuopt__propagator_rules *rules, int integer, double bound,
                                               double lb, double ub) {
    double width = gpuopt__max(ub - lb, 0), size = fabs(bound), least = rules->least_change;
    if (rules->least_change_relative > 0 && (!integer || rules->relative_integers))
        least = gpuopt__add(least, gpuopt__mul(rules->least_change_relative, width < HUGE_VAL ? width : size));
    if (rules->single) { /* relative to the larger bound; the filter uses its size, too */
        if (fabs(lb) < HUGE_VAL) size = gpuopt__max(size, fabs(lb));
        if (fabs(ub) < HUGE_VAL) size = gpuopt__max(size, fabs(ub));
    }
    return gpuopt__add(least, gpuopt__mul(rules->single ? 0x1p-22 : 0x1p-48, size));
}

GPUOPT_HD double gpuopt__propagator_no_minus_zero(double x) { return gpuopt__add(x, 0); }

/* ---- Storage ---- */

/* The largest single-precision number that is not above x, and the smallest that is not below. */
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

/* Whether the bounds of a column cross by more than the tolerance, which makes the model infeasible. */
GPUOPT_HD int gpuopt__propagator_crossed(const gpuopt__propagator_rules *rules, double lb, double ub) {
    return lb > ub && lb - ub > gpuopt__max(rules->feasibility, 0x1p-47 * gpuopt__max(fabs(lb), fabs(ub)));
}

/* The part by which the move of a bound, lower or upper, shortens its distance from the column's other bound: see
 * gpuopt_propagator_info.shrinkage. Even with rounding, it does not grow if `from` is nearer to `to`. */
GPUOPT_HD double gpuopt__propagator_shrinkage(int upper, double from, double to, double other) {
    double before, after;
    if (from == to) return 0;
    if (!(fabs(from) < HUGE_VAL)) return 1;
    if (fabs(other) < HUGE_VAL) { /* by halves, which do not overflow */
        before = gpuopt__sub(0.5 * (upper ? from : other), 0.5 * (upper ? other : from));
        after = gpuopt__sub(0.5 * (upper ? to : other), 0.5 * (upper ? other : to));
    } else {
        if ((from < 0) != (to < 0)) return 1;
        before = gpuopt__max(fabs(from), fabs(to));
        after = gpuopt__min(fabs(from), fabs(to));
    }
    return after > 0 ? gpuopt__sub(1, after / before) : 1;
}

/* The lower bound as the caller sees it. If it exceeds the upper bound (within the tolerance), the caller sees the
 * upper bound, unless the model is infeasible. */
GPUOPT_HD double gpuopt__propagator_shown_lb(const gpuopt__propagator_rules *rules, int infeasible, double lb,
                                             double ub) {
    return infeasible || gpuopt__propagator_crossed(rules, lb, ub) ? lb : gpuopt__min(lb, ub);
}

/* A side or bound from the caller, with the caller's infinity replaced by IEEE's. */
GPUOPT_HD double gpuopt__propagator_normal_low(const gpuopt__propagator_rules *rules, double x) {
    return x <= -rules->infinity ? -HUGE_VAL : x;
}
GPUOPT_HD double gpuopt__propagator_normal_high(const gpuopt__propagator_rules *rules, double x) {
    return x >= rules->infinity ? HUGE_VAL : x;
}

/* An upper bound of an integer column, rounded to an integer. Above 1e9 the slack covers rounding errors in the model's
 * data. */
GPUOPT_HD double gpuopt__propagator_floor(const gpuopt__propagator_rules *rules, double ub) {
    double whole = floor(ub);
    if (ub <= whole) return ub; /* an integer, or infinite */
    return floor(gpuopt__add(ub, gpuopt__max(rules->integrality, gpuopt__mul(0x1p-50, fabs(ub)))));
}

/* The stored form of a caller's bound. It has no minus zero, so that equal bounds have equal bits. A bound of an
 * integer column is rounded like a candidate, unless that makes it infinite. In single precision it is rounded
 * outwards. */
GPUOPT_HD double gpuopt__propagator_stored_ub(const gpuopt__propagator_rules *rules, int integer, double ub) {
    double x = gpuopt__propagator_normal_high(rules, ub), whole = integer ? gpuopt__propagator_floor(rules, x) : x;
    if (fabs(whole) < rules->infinity) x = whole;
    if (rules->single) x = gpuopt__propagator_normal_high(rules, gpuopt__propagator_single_up(x));
    return gpuopt__propagator_no_minus_zero(x);
}
GPUOPT_HD double gpuopt__propagator_stored_lb(const gpuopt__propagator_rules *rules, int integer, double lb) {
    return gpuopt__propagator_no_minus_zero(-gpuopt__propagator_stored_ub(rules, integer, -lb));
}

/* The column's kind after the caller has set its bounds. */
GPUOPT_HD int gpuopt__propagator_kind(int integer, double lb, double ub) {
    return (integer ? GPUOPT__PROPAGATOR_INTEGER : 0) | (lb < ub || lb > ub ? 0 : GPUOPT__PROPAGATOR_FIXED);
}

#endif /* GPUOPT_IMPL_PROPAGATE_ARITH_RULES_H */
