/* SPDX-License-Identifier: MIT
 *
 * Answers with their proofs, in the format of tests/check: text, numbers as C hex floats. Each call reads the necessary
 * data from the handle, writes the file and returns 0; or prints the error on stderr and returns -1.
 */
#ifndef EXAMPLES_IO_CERTIFICATE_H
#define EXAMPLES_IO_CERTIFICATE_H

#include "gpuopt.h"

/* The basis; with OPTIMAL the objective and the duals, with INFEASIBLE the Farkas vector, unless bounds cross, with
 * UNBOUNDED the ray; both with their low words. */
int certificate_lp(const char *path, gpuopt_simplex *simplex, const gpuopt_simplex_desc *model);

/* For an INT64 MIN_SUM model: `given`, the evidence variables' values; the bound on the cost, unless the outcome is
 * INFEASIBLE; the assignment value [variables] with its cost, or NULL. If `elimination`, which must be exact, is not
 * NULL, also its messages, unless they have more than 2^22 entries together or are not ready. */
int certificate_elimination(const char *path, gpuopt_elimination *elimination, const gpuopt_elimination_desc *model,
                            const int32_t *given, gpuopt_outcome outcome, int64_t bound, int64_t cost,
                            const int32_t *value);

/* The item set and the claims about it. */
int certificate_knapsack(const char *path, gpuopt_knapsack *knapsack, const gpuopt_knapsack_desc *model);

#endif /* EXAMPLES_IO_CERTIFICATE_H */
