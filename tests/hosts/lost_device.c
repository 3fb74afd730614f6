/* SPDX-License-Identifier: MIT
 *
 * A GPU that is lost in the middle of a search. A program linked with -Wl,--wrap=NAME for the calls below gets
 * GPUOPT_ERROR_DEVICE from one of them, and from then on from all: the one whose number LOST_AT gives, from 1 on.
 * LOST_STATUS=memory makes it GPUOPT_ERROR_MEMORY.
 */
#include <stdlib.h>
#include <string.h>

#include "gpuopt.h"
#include "gpuopt/inference.h"
#include "gpuopt/search.h"

static gpuopt_status lost(void) {
    static int calls;
    const char *at = getenv("LOST_AT"), *status = getenv("LOST_STATUS");
    if (!at || ++calls < atoi(at)) return GPUOPT_OK;
    return status && strcmp(status, "memory") == 0 ? GPUOPT_ERROR_MEMORY : GPUOPT_ERROR_DEVICE;
}

/* The linker gives NAME's callers __wrap_NAME, and NAME itself the name __real_NAME. */
#define WRAP(name, parameters, arguments)                 \
    gpuopt_status __real_##name parameters;               \
    gpuopt_status __wrap_##name parameters;               \
    gpuopt_status __wrap_##name parameters {              \
        gpuopt_status status = lost();                    \
        return status ? status : __real_##name arguments; \
    }

WRAP(gpuopt_simplex_children_run,
     (gpuopt_simplex_children * children, gpuopt_memory_space where, const gpuopt_simplex_child_list *list,
      int64_t iterations, const gpuopt_simplex_child_report *report),
     (children, where, list, iterations, report))
WRAP(gpuopt_simplex_iterate, (gpuopt_simplex * simplex, int64_t iterations, gpuopt_simplex_info *info),
     (simplex, iterations, info))
WRAP(gpuopt_elimination_preprocess,
     (gpuopt_context * context, const gpuopt_elimination_desc *desc, uint32_t rules, int64_t work,
      gpuopt_elimination_preprocessing **reduction),
     (context, desc, rules, work, reduction))
WRAP(gpuopt_elimination_shift_costs,
     (gpuopt_context * context, const gpuopt_elimination_desc *desc, int32_t iterations,
      gpuopt_elimination_cost_shifting **relaxation),
     (context, desc, iterations, relaxation))
WRAP(gpuopt_propagator_round, (gpuopt_propagator * propagator, int32_t rounds, gpuopt_propagator_info *info),
     (propagator, rounds, info))
WRAP(gpuopt_basis_ftran,
     (gpuopt_basis * basis, gpuopt_memory_space where, int32_t count, const int32_t *row, const double *rhs, double *x),
     (basis, where, count, row, rhs, x))
