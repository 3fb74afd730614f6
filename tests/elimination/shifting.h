/* SPDX-License-Identifier: MIT
 *
 * Relaxations with shifted costs for the tests: made, described, and compared with their model.
 */
#ifndef TESTS_ELIMINATION_SHIFTING_H
#define TESTS_ELIMINATION_SHIFTING_H

#include "gpuopt/inference.h"
#include "tests/elimination/handle.h"

gpuopt_elimination_cost_shifting_info shifting_info(gpuopt_elimination_cost_shifting *relaxation);
/* Shifts costs, which must succeed. */
gpuopt_elimination_cost_shifting *shifting_of(gpuopt_context *context, const gpuopt_elimination_desc *desc,
                                              int32_t iterations, const test_host *host);
/* The bound, or the cost of a model without a solution. */
long double shifting_bound(const model *m, const gpuopt_elimination_cost_shifting_info *info);
/* The relaxation as a model of the tests; its arrays are the library's. */
model shifting_model(gpuopt_elimination_cost_shifting *relaxation);
/* Every assignment of the model, given to all copies, has the model's cost, times the scale. */
const char *shifting_costs_fault(const model *m, gpuopt_elimination_cost_shifting *relaxation, uint64_t *seed);

#endif /* TESTS_ELIMINATION_SHIFTING_H */
