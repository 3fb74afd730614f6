/* SPDX-License-Identifier: MIT
 *
 * What a host can find out about an answer to a linear program from the model alone: in long double, without a word
 * from the solver but its vectors. All need the columns of the model (mip_columns), and return NaN where memory runs
 * out.
 */
#ifndef EXAMPLES_IO_LP_CHECK_H
#define EXAMPLES_IO_LP_CHECK_H

#include "examples/io/mip.h"

/* A proof's margin is positive where it proves something, and its residual is what had to be taken for 0. */
typedef struct lp_proof {
    double margin, residual;
} lp_proof;

double lp_objective(const mip *model, const double *x);
/* The most that x leaves a bound or A x a side by; absolute. */
double lp_primal_violation(const mip *model, const double *x);
/* Reduced costs are made anew from the duals [rows], in gpuopt.h's sense. One that calls for another value of its
 * column or row counts with its own size or with how far that value is from the present one, whichever is less: 0 where
 * x and the duals are feasible and complementary, with no tolerance of what counts as lying at a bound. The largest;
 * absolute. */
double lp_dual_violation(const mip *model, const double *x, const double *dual);
/* y [rows] as of gpuopt_simplex_get_farkas. Margin: the least y'A x over the bounds minus the largest y'r over the
 * sides, over max |y_i a_ij|. Residual: the largest multiplier of an infinite bound, over the same scale, or of an
 * infinite side, over max |y_i|. */
lp_proof lp_farkas(const mip *model, const double *y);
/* ray [cols] as of gpuopt_simplex_get_ray, brought to max norm 1. Margin: the gain of the objective. Residual: the
 * largest component or row activity towards a finite bound or side. */
lp_proof lp_ray(const mip *model, const double *ray);

#endif /* EXAMPLES_IO_LP_CHECK_H */
