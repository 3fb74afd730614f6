/* SPDX-License-Identifier: MIT
 *
 * Random models of a few rows and columns with small integers, and random changes of them and of their handles. The
 * handle's reports are compared with the simplex method in exact rationals.
 */
#ifndef TESTS_SIMPLEX_CHANGES_H
#define TESTS_SIMPLEX_CHANGES_H

#include "tests/simplex/answer.h"

mip changes_model(uint64_t *seed, int32_t rows, int32_t cols);
/* Changes some bounds, sides or costs of the handle and of the model. */
void changes_make(uint64_t *seed, gpuopt_simplex *simplex, mip *m);
/* The fault of the handle's verdict, answer or proof; NULL: none. Adds 1 << outcome to *verdicts. */
const char *changes_fault(gpuopt_simplex *simplex, const mip *m, int *verdicts);

/* A packing and covering model with columns in 0 .. 3 and a fractional optimum. */
mip changes_tree_model(uint64_t *seed, int32_t rows, int32_t cols);

#endif /* TESTS_SIMPLEX_CHANGES_H */
