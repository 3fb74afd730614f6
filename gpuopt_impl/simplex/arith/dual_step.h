/* SPDX-License-Identifier: MIT
 *
 * The arithmetic of an iteration of the dual simplex method: how far a basic variable is outside its bounds, and how
 * the pricing weights change.
 */
#ifndef GPUOPT_IMPL_SIMPLEX_ARITH_DUAL_STEP_H
#define GPUOPT_IMPL_SIMPLEX_ARITH_DUAL_STEP_H

#include "step.h"

/* This many successive iterations with dual step 0 are a stall. */
enum { GPUOPT__SIMPLEX_STALL = 40 };

/* How far x is above its upper bound (> 0) or below its lower bound (< 0); 0 within the tolerance. */
GPUOPT_HD double gpuopt__simplex_excess(double x, double l, double u, double tolerance) {
    if (x < l) return x < gpuopt__sub(l, gpuopt__simplex_slack_of(tolerance, l)) ? gpuopt__sub(x, l) : 0;
    if (x > u) return x > gpuopt__add(u, gpuopt__simplex_slack_of(tolerance, u)) ? gpuopt__sub(x, u) : 0;
    return 0;
}

/* Dual steepest edge (Forrest and Goldfarb 1992): the squared norm of a row of B^-1 after the pivot. At least a ten
 * thousandth of `norm`, whatever rounding does.
 *
 *     ratio       the row's entry in the pivot column, divided by the pivot
 *     tau         the row's product with the pivot row of B^-1
 *     pivot_norm  the squared norm of the pivot row */
GPUOPT_HD double gpuopt__simplex_dual_steepest(double norm, double ratio, double tau, double pivot_norm) {
    double change = gpuopt__mul(ratio, gpuopt__sub(gpuopt__mul(ratio, pivot_norm), gpuopt__mul(2, tau)));
    return gpuopt__max(gpuopt__add(norm, change), 1e-4);
}

/* Whether the reduced cost has the wrong sign for a nonbasic variable in this state. */
GPUOPT_HD int gpuopt__simplex_dual_wrong(double d, int state, double tolerance) {
    return (state & GPUOPT__SIMPLEX_MAY_INCREASE && d < -tolerance) ||
           (state & GPUOPT__SIMPLEX_MAY_DECREASE && d > tolerance);
}

/* The objective at which iterations end for a cutoff. `times`: how often the proven bound fell short of the cutoff. 0:
 * the cutoff itself. Else a bit beyond the cutoff, 16 times as far each time. */
GPUOPT_HD double gpuopt__simplex_cutoff_after(double cutoff, int times) {
    if (times == 0) return cutoff;
    if (times > 12) return HUGE_VAL;
    return gpuopt__add(cutoff, ldexp(gpuopt__mul(1e-12, gpuopt__max(1, fabs(cutoff))), 4 * times));
}

/* The slope of the dual objective along a step of the long-step rule (Maros 2003). Each variable that the step passes
 * subtracts its range times its entry. The first variable that would leave at most `least` blocks. Slopes are counted
 * in units, whole numbers, so sums depend neither on their order nor on the number of threads. */
typedef struct gpuopt__simplex_slope {
    double unit;    /* units of a slope of 1 */
    uint64_t slack; /* passed variables together subtract fewer units than this */
} gpuopt__simplex_slope;

/* A slope in units, from which at most `variables` variables subtract something. */
GPUOPT_HD gpuopt__simplex_slope gpuopt__simplex_slope_of(double slope, double least, int64_t variables) {
    gpuopt__simplex_slope s = {0, 0};
    int exponent, bits; /* 2^bits exceeds `variables` */
    if (!(slope > least) || !(slope < HUGE_VAL)) return s;
    frexp((double)variables, &bits);
    bits = bits < 1 ? 1 : bits < 40 ? bits : 40;
    frexp(slope, &exponent);
    s.unit = ldexp(1.0, 62 - bits - (exponent > -900 ? exponent : -900));
    s.slack = (uint64_t)gpuopt__mul(gpuopt__sub(slope, least), s.unit);
    return s;
}

/* The units that a variable subtracts. s->slack: it blocks by itself. */
GPUOPT_HD uint64_t gpuopt__simplex_slope_units(const gpuopt__simplex_slope *s, double entry, double range) {
    double units = gpuopt__mul(gpuopt__mul(fabs(entry), range), s->unit);
    return units < (double)s->slack ? (uint64_t)units : s->slack;
}

#endif /* GPUOPT_IMPL_SIMPLEX_ARITH_DUAL_STEP_H */
