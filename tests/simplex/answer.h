/* SPDX-License-Identifier: MIT
 *
 * Shared by the simplex tests: models made by hand, a solve from beginning to end, and a check of an answer on the
 * model's own data in long double.
 */
#ifndef TESTS_SIMPLEX_ANSWER_H
#define TESTS_SIMPLEX_ANSWER_H

#include "examples/io/mip.h"
#include "tests/support/support.h"

static const double no_bound = 1e20; /* as in a mip */

/* A copy of these arrays: by_rows [rows][cols], zeros are dropped; the others as in gpuopt_simplex_desc, where NULL has
 * the same meaning. */
mip model_of(int32_t rows, int32_t cols, const double *by_rows, const double *cost, const double *lhs,
             const double *rhs, const double *lb, const double *ub);
/* mip_load, or the test fails. */
mip model_load(const char *name);
mip model_file(const char *folder, const char *name); /* of the shared data, .mps or .mps.xz */

/* The model as mip_simplex_desc describes it, with TABLEAU and PRIMAL. */
gpuopt_simplex_desc tableau_desc(const mip *model);

/* Tolerances are relative to these: 1, or the largest finite bound or side; 1, or the largest cost. */
double model_primal_scale(const mip *model);
double model_dual_scale(const mip *model);

/* All ways to run: method x pricing x ratio x (K of the library's choice, 1). */
enum { VARIANTS = 2 * 3 * 3 * 2 };
void variant_set(gpuopt_simplex_desc *desc, int variant);
/* The rules of a descriptor, to be changed. */
gpuopt_simplex_rules rules_of(const gpuopt_simplex_desc *desc);
const char *variant_name(const gpuopt_simplex_desc *desc); /* static storage */

gpuopt_simplex *simplex_create(gpuopt_context *context, const gpuopt_simplex_desc *desc);
gpuopt_simplex_info simplex_iterate(gpuopt_simplex *simplex, int64_t iterations);
gpuopt_simplex_info simplex_info(gpuopt_simplex *simplex);

/* Everything that a handle reports. */
typedef struct answer {
    gpuopt_simplex_info info;
    double *x, *reduced_cost, *ray;   /* [cols] */
    double *activity, *dual, *farkas; /* [rows] */
    uint8_t *basis;                   /* [cols + rows] */
} answer;

answer answer_get(gpuopt_simplex *simplex, const mip *model);
/* A new handle's answer, after at most this many iterations. */
answer answer_after(gpuopt_context *context, const gpuopt_simplex_desc *desc, const mip *model, int64_t iterations);
void answer_free(answer *a);
/* The header's promise that an answer breaks, beyond the tolerance, relative to the model's scales; NULL: none. Static
 * storage. */
const char *answer_fault(const mip *model, const answer *a, double tolerance);
int answer_equal(const mip *model, const answer *a, const answer *b); /* to the bit */

/* Solves, and returns NULL if the verdict is this one and its answer has no fault within 1e-9. An optimum must be
 * within `tolerance`, relative to max(1, |objective|). Otherwise returns the fault, in static storage. */
const char *answer_try(gpuopt_context *context, const gpuopt_simplex_desc *desc, const mip *model,
                       gpuopt_outcome outcome, double objective, double tolerance, gpuopt_simplex_info *info);
/* ... or fails the test, and names the model. */
gpuopt_simplex_info answer_expect(gpuopt_context *context, const gpuopt_simplex_desc *desc, const mip *model,
                                  const char *name, gpuopt_outcome outcome, double objective, double tolerance);

#endif /* TESTS_SIMPLEX_ANSWER_H */
