/* SPDX-License-Identifier: MIT
 *
 * Preprocessing for the tests: models to reduce, and the correctness of the result.
 */
#ifndef TESTS_ELIMINATION_REDUCING_H
#define TESTS_ELIMINATION_REDUCING_H

#include "gpuopt/inference.h"
#include "tests/elimination/handle.h"

gpuopt_elimination_preprocessing_info reduction_info(gpuopt_elimination_preprocessing *reduction);
gpuopt_elimination_desc reduction_desc(gpuopt_elimination_preprocessing *reduction);
/* Reduces, which must succeed. */
gpuopt_elimination_preprocessing *reduction_of(gpuopt_context *context, const gpuopt_elimination_desc *desc,
                                               uint32_t rules, const test_host *host);
/* The reduced model as a model of the tests; its arrays are the library's. */
model reduction_model(gpuopt_elimination_preprocessing *reduction, const model *original);
/* Assignments of the reduced model map back with their cost, and with their values in the model. */
const char *reduction_lift_fault(const model *m, gpuopt_elimination_preprocessing *reduction, uint64_t *seed);
/* The reduced model's answer, by all its assignments and by a handle, compared with the model's. */
const char *reduction_fault(gpuopt_context *context, const model *m, gpuopt_elimination_preprocessing *reduction,
                            const test_host *host);
/* Few costs and many forbidden entries, so that rules find something. */
model reduction_draw(uint64_t *random, int32_t k);
/* A clique of `n` variables with three values, which costs 1 where two are equal. */
model clique_of_three(int32_t n, int64_t top);

#endif /* TESTS_ELIMINATION_REDUCING_H */
