/* SPDX-License-Identifier: MIT
 *
 * The arithmetic of a bound from duals, which both backends share. It has the least share of a variable, the possible
 * effect of rounding (Neumaier and Shcherbina 2004), and the bound in the caller's units.
 */
#ifndef GPUOPT_IMPL_SIMPLEX_ARITH_BOUND_STEP_H
#define GPUOPT_IMPL_SIMPLEX_ARITH_BOUND_STEP_H

#include "step.h"

/* Adds a column between l and u, both finite, with reduced cost z, accurate to `error`. */
GPUOPT_HD void gpuopt__simplex_bound_column(gpuopt__simplex_sum *sum, double *slack, double z, double error, double l,
                                            double u) {
    double at = z > 0 ? l : u;
    if (fabs(z) > error) {
        gpuopt__simplex_add_product(sum, z, at, 0);
        *slack = gpuopt__add(*slack, gpuopt__mul(error, fabs(at)));
    } else *slack = gpuopt__add(*slack, gpuopt__mul(gpuopt__add(fabs(z), error), gpuopt__max(fabs(l), fabs(u))));
}

/* Adds a row's slack between l and u, with reduced cost exactly -(y + y_low). y is 0 towards an infinite side. */
GPUOPT_HD void gpuopt__simplex_bound_row(gpuopt__simplex_sum *sum, double y, double y_low, double l, double u) {
    double at = y < 0 ? l : u;
    if (y == 0 && y_low == 0) return;
    gpuopt__simplex_add_product(sum, -y, at, 0);
    gpuopt__simplex_add_product(sum, -y_low, at, 0);
}

/* The sum, less what rounding may have added to it. */
GPUOPT_HD double gpuopt__simplex_bound_of(const gpuopt__simplex_sum *sum, double slack, int64_t variables) {
    double bound = gpuopt__simplex_total(sum);
    slack = gpuopt__add(slack, gpuopt__simplex_error(bound, sum->error_sum, 2 * variables));
    slack = gpuopt__add(slack, gpuopt__mul(fabs(bound), 0x1p-53));
    return gpuopt__sub(bound, gpuopt__mul(slack, 1 + 0x1p-20));
}

/* A number below x by more than one rounding to nearest can have added or removed. */
GPUOPT_HD double gpuopt__simplex_below(double x) {
    return gpuopt__sub(x, gpuopt__add(gpuopt__mul(fabs(x), 0x1p-52), 0x1p-1000));
}

/* A bound for the caller's objective, from a bound of the scaled minimisation, which is `unit` times as large and has
 * no offset. Rounded so that nothing within the bounds is better. */
GPUOPT_HD double gpuopt__simplex_bound_of_caller(double scaled, double unit, double offset, int maximize) {
    const double sign = maximize ? -1 : 1;
    double least = gpuopt__simplex_below(scaled / unit);
    least = gpuopt__simplex_below(gpuopt__add(least, gpuopt__mul(sign, offset)));
    return fabs(least) < HUGE_VAL ? sign * least : scaled == HUGE_VAL ? sign * HUGE_VAL : -sign * HUGE_VAL;
}

/* Whether a bound for the caller's objective reaches a cutoff. */
GPUOPT_HD int gpuopt__simplex_bound_reaches(double bound, double cutoff, int maximize) {
    return maximize ? bound <= cutoff : bound >= cutoff;
}

#endif /* GPUOPT_IMPL_SIMPLEX_ARITH_BOUND_STEP_H */
