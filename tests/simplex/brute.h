/* SPDX-License-Identifier: MIT
 *
 * The oracle of tiny linear programs with integer data: every basis with every choice of bounds, in exact arithmetic.
 */
#ifndef TESTS_SIMPLEX_BRUTE_H
#define TESTS_SIMPLEX_BRUTE_H

#include "examples/io/mip.h"

enum { BRUTE_MOST = 4 }; /* rows, columns */

typedef struct brute_answer {
    gpuopt_outcome outcome; /* OPTIMAL, INFEASIBLE, UNBOUNDED */
    double objective;       /* OPTIMAL; a quotient of integers, rounded once */
} brute_answer;

/* A, costs, finite bounds and sides are integers of at most 3 digits. A linear program with a solution has a basic one,
 * with free nonbasic variables at 0. It is unbounded if a direction of its recession cone improves; the best direction
 * in the unit box is again the optimum of such a program. */
brute_answer brute_solve(const mip *model);

#endif /* TESTS_SIMPLEX_BRUTE_H */
