/* SPDX-License-Identifier: MIT
 *
 * An assignment by the bounds of a relaxation, for solve_wcsp and branch_wcsp.
 */
#ifndef EXAMPLES_WCSP_GREEDY_H
#define EXAMPLES_WCSP_GREEDY_H

#include "gpuopt.h"

/* Gives the variables of a model values in reverse order of elimination: each the value with the least rise of the
 * bound, with all copies of the variable. elimination, desc, original: of a relaxation of the model
 * (gpuopt_elimination_shift_costs), with MIN_SUM, after its last step. value [variables of the model]: receives the
 * values; evidence variables keep theirs. *found: 0 if a variable had no permitted value. */
gpuopt_status greedy_values(gpuopt_elimination *elimination, const gpuopt_elimination_desc *desc,
                            const int32_t *original, int32_t *value, int *found);

#endif /* EXAMPLES_WCSP_GREEDY_H */
