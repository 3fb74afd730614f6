/* SPDX-License-Identifier: MIT
 *
 * What is exactly true of a small propagation model, in rational arithmetic (GMP).
 */
#ifndef TESTS_FUZZ_PROPAGATE_EXACT_H
#define TESTS_FUZZ_PROPAGATE_EXACT_H

#include "gpuopt.h"

/* Whether `sweeps` sweeps of exact propagation over the rows, with these sides and bounds, leave some column without a
 * value. Bounds and sides of at least `infinity` are none. */
int propagate_exactly_empty(const gpuopt_matrix *rows, const double *lhs, const double *rhs, const double *lb,
                            const double *ub, const uint8_t *integer, double infinity, int sweeps);

#endif /* TESTS_FUZZ_PROPAGATE_EXACT_H */
