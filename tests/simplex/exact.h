/* SPDX-License-Identifier: MIT
 *
 * The oracle of small linear programs with any data: the simplex method in exact rationals, with Bland's rule.
 */
#ifndef TESTS_SIMPLEX_EXACT_H
#define TESTS_SIMPLEX_EXACT_H

#include "examples/io/mip.h"

typedef struct exact_answer {
    gpuopt_outcome outcome; /* OPTIMAL, INFEASIBLE, UNBOUNDED; MORE: not found within the limit of pivots */
    double objective;       /* OPTIMAL; a rational, rounded once */
    int pivots;             /* from the basis that was given */
} exact_answer;

/* Uses the model's doubles exactly; sides and bounds of 1e20 and more are infinite. basis [cols + rows]: where to
 * begin, as of gpuopt_simplex_get_basis; NULL: the activities. Time O(rows^2 (rows + cols)) operations on integers of
 * about 60 rows bits. */
exact_answer exact_solve(const mip *model, const uint8_t *basis);

/* The margin of an INFEASIBLE proof y + low (low may be NULL), exact, rounded once. It is the least (y'A) x over the
 * bounds minus the largest y'r over the sides; an infinite bound counts as `reach`. -infinity if y has a multiplier for
 * an infinite side. */
double exact_farkas_margin(const mip *model, const double *y, const double *low, double reach);

/* The same for a ray + low: the gain of the objective along it, and the most that a row's activity moves towards a
 * finite side. infinity if a column moves towards a finite bound. */
double exact_ray_gain(const mip *model, const double *ray, const double *low);
double exact_ray_wrong(const mip *model, const double *ray, const double *low);

/* primal_reached and dual_reached of the point x + low, and of the duals y + low at a basis. */
double exact_primal_reached(const mip *model, const double *x, const double *low);
double exact_dual_reached(const mip *model, const double *y, const double *low, const uint8_t *basis);

/* The largest share by which the point, clipped to its bounds, misses a side that its dual names or that it violates;
 * or the share of a reduced cost with the wrong sign. Relative to the sum of the terms' sizes; infinity if a dual names
 * an infinite side. As backward_error of gpuopt_simplex_info. */
double exact_backward_error(const mip *model, const double *x, const double *y);

#endif /* TESTS_SIMPLEX_EXACT_H */
