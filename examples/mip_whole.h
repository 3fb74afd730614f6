/* SPDX-License-Identifier: MIT
 *
 * Rows of solve_mip with only integers, in exact arithmetic: which points satisfy them, and when none does.
 */
#ifndef EXAMPLES_MIP_WHOLE_H
#define EXAMPLES_MIP_WHOLE_H

#include "examples/io/mip.h"

/* A whole row has integer columns only, and entries that are integers, or become some when multiplied by a power of two
 * of at most 2^30. Its activity is then a multiple of the entries' greatest common divisor. */
typedef struct whole_rows {
    double *scale;        /* [rows]: that power of two; 0: the row is not whole */
    int32_t *tight, many; /* whole rows with sides so close that no multiple may be between them */
} whole_rows;

/* Rounds the bounds of integer columns to integers, and the sides of whole rows to multiples of the divisor. Needs the
 * model's rows. 1: the model is infeasible, since sides or bounds cross, or since the equations have no integer
 * solution; -1: out of memory. The result must be closed in any case. */
int whole_open(whole_rows *whole, mip *model);
void whole_close(whole_rows *whole);

/* Whether x satisfies the row: a whole row exactly, another row within the tolerance times the sum of its terms' sizes.
 * The size of a continuous column's term is at least its coefficient's. */
int whole_holds(const whole_rows *whole, const mip *model, int32_t row, const double *x, double tolerance);
/* Whether a whole row may hold if the columns with lb == ub have that value: there must be a multiple of the other
 * entries' greatest common divisor between its sides. If so, lhs and rhs are the sides for these other columns. */
int whole_leaves(const whole_rows *whole, const mip *model, int32_t row, const double *lb, const double *ub,
                 double *lhs, double *rhs);
/* Whether all rows may hold for which that is in doubt. */
int whole_may_hold(const whole_rows *whole, const mip *model, const double *lb, const double *ub);

#endif /* EXAMPLES_MIP_WHOLE_H */
