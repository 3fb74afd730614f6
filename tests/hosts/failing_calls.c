/* SPDX-License-Identifier: MIT
 *
 * Calls that work a few times and then fail as if the device was lost: embed_test.sh puts them into the programs of
 * doc/embed.
 */
#include "gpuopt.h"
#include "gpuopt/search.h"

enum { WORKING_CALLS = 10 };

gpuopt_status failing_round(gpuopt_propagator *propagator, int32_t rounds, gpuopt_propagator_info *info);
gpuopt_status failing_ftran(gpuopt_basis *basis, gpuopt_memory_space where, int32_t count, const int32_t *row,
                            const double *rhs, double *x);
gpuopt_status failing_children_run(gpuopt_simplex_children *children, gpuopt_memory_space where,
                                   const gpuopt_simplex_child_list *list, int64_t iterations,
                                   const gpuopt_simplex_child_report *report);

static int calls;

gpuopt_status failing_round(gpuopt_propagator *propagator, int32_t rounds, gpuopt_propagator_info *info) {
    return ++calls > WORKING_CALLS ? GPUOPT_ERROR_DEVICE : gpuopt_propagator_round(propagator, rounds, info);
}

gpuopt_status failing_ftran(gpuopt_basis *basis, gpuopt_memory_space where, int32_t count, const int32_t *row,
                            const double *rhs, double *x) {
    return ++calls > WORKING_CALLS ? GPUOPT_ERROR_DEVICE : gpuopt_basis_ftran(basis, where, count, row, rhs, x);
}

gpuopt_status failing_children_run(gpuopt_simplex_children *children, gpuopt_memory_space where,
                                   const gpuopt_simplex_child_list *list, int64_t iterations,
                                   const gpuopt_simplex_child_report *report) {
    return ++calls > WORKING_CALLS ? GPUOPT_ERROR_DEVICE
                                   : gpuopt_simplex_children_run(children, where, list, iterations, report);
}
