/* SPDX-License-Identifier: MIT
 *
 * Checks of an answer to a linear program from the model and the solver's vectors alone, in long double. All calls need
 * the columns of the model (mip_columns), and return NaN if memory runs out.
 */
#ifndef EXAMPLES_IO_LP_CHECK_H
#define EXAMPLES_IO_LP_CHECK_H

#include "examples/io/mip.h"

/* A proof holds if its margin is positive; its residual is the largest number that had to be taken for 0. */
typedef struct lp_proof {
    double margin, residual;
} lp_proof;

double lp_objective(const mip *model, const double *x);
/* The most by which x violates a bound or A x a side; absolute. */
double lp_primal_violation(const mip *model, const double *x);
/* The largest complementarity violation; absolute. Reduced costs are recomputed from the duals [rows], as gpuopt.h
 * defines them. If a reduced cost calls for the other bound of its column or row, the reduced cost or the distance from
 * that bound counts, whichever is less. So the result is 0 if x and the duals are feasible and complementary, and no
 * tolerance for lying at a bound is needed. */
double lp_dual_violation(const mip *model, const double *x, const double *dual);
/* y [rows] as of gpuopt_simplex_get_proof. Margin: the least y'A x over the bounds minus the largest y'r over the
 * sides, over max |y_i a_ij|. Residual: the largest multiplier of an infinite bound, over the same scale, or of an
 * infinite side, over max |y_i|. */
lp_proof lp_farkas(const mip *model, const double *y);
/* For a column with crossing bounds: the margin is lb - ub. */
lp_proof lp_crossing(const mip *model, int32_t col);
/* ray [cols] as of gpuopt_simplex_get_proof, brought to max norm 1. Margin: the gain of the objective. Residual: the
 * largest component or row activity towards a finite bound or side. */
lp_proof lp_ray(const mip *model, const double *ray);

#endif /* EXAMPLES_IO_LP_CHECK_H */
