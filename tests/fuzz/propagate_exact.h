/* SPDX-License-Identifier: MIT
 *
 * Exact facts about a small propagation model, in rational arithmetic (GMP).
 */
#ifndef TESTS_FUZZ_PROPAGATE_EXACT_H
#define TESTS_FUZZ_PROPAGATE_EXACT_H

#include "gpuopt.h"

/* Whether `sweeps` sweeps of exact propagation over the rows, with these sides and bounds, leave some column without a
 * value. Bounds and sides of at least `infinity` are none. */
int propagate_exactly_empty(const gpuopt_matrix *rows, const double *lhs, const double *rhs, const double *lb,
                            const double *ub, const uint8_t *integer, double infinity, int sweeps);

/* Whether row 0 of a matrix with these bounds implies that column `col` is at most (upper) or at least `bound`. For an
 * integer column this need only hold for integers. The other function: whether no point within the bounds satisfies the
 * row. */
int propagate_exactly_implied(const gpuopt_matrix *row, double lhs, double rhs, const double *lb, const double *ub,
                              const uint8_t *integer, double infinity, int32_t col, int upper, double bound);
int propagate_exactly_violated(const gpuopt_matrix *row, double lhs, double rhs, const double *lb, const double *ub,
                               double infinity);

#endif /* TESTS_FUZZ_PROPAGATE_EXACT_H */
