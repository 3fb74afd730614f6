/* SPDX-License-Identifier: MIT
 *
 * Small propagation problems for tests: built entry by entry, read from case files, solved by references that share no
 * code with the library.
 */
#ifndef TESTS_PROPAGATE_PROBLEM_H
#define TESTS_PROPAGATE_PROBLEM_H

#include <stdio.h>

#include "examples/io/mip.h"
#include "tests/support/support.h"

/* A mip with capacity for at most this many rows, columns and nonzeros. Free it with mip_free(). */
mip problem_new(int32_t cols, int32_t rows, int64_t nonzeros);
void problem_col(mip *p, int32_t col, double lb, double ub, int integer);
/* Appends a row; problem_entry() appends its entries. */
void problem_row(mip *p, double lhs, double rhs);
void problem_entry(mip *p, int32_t col, double val);

/* Makes a propagator; must succeed. */
gpuopt_propagator *problem_create(gpuopt_context *context, const gpuopt_propagator_desc *desc);

/* The ways in which the backend under test can run rounds. */
typedef struct problem_variant {
    const char *name;
    gpuopt_propagator_mode mode;
    gpuopt_propagator_driver driver;
    gpuopt_switch marking;
} problem_variant;
const problem_variant *problem_variants(size_t *count);
void problem_apply(const problem_variant *variant, gpuopt_propagator_desc *desc);

/* One call of at most this many rounds; all bounds (either array may be NULL). Both must succeed. */
gpuopt_propagator_info problem_round(gpuopt_propagator *p, int rounds);
void problem_bounds(gpuopt_propagator *p, double *lb, double *ub);
/* Makes a propagator, does at most this many rounds in one call, reads the bounds, and destroys it. */
gpuopt_propagator_info problem_run(gpuopt_context *context, const gpuopt_propagator_desc *desc, int rounds, double *lb,
                                   double *ub);

/* A case of a case file; the head of such a file describes the format. */
typedef struct problem_case {
    char name[64], status[16]; /* FIXPOINT, INFEASIBLE or ROUND_LIMIT */
    int rounds;
    mip model;
    double *lb, *ub; /* expected, [cols] */
} problem_case;
/* Returns 1 and the next case, 0 at the end of the file; fails the test on a file that it cannot read. */
int problem_read_case(FILE *file, problem_case *result);
void problem_free_case(problem_case *c);

/* |a - b| <= 1e-8 + 1e-5 |b|, infinities equal: the paper's test of whether two bounds agree (section 4.3). */
int problem_close(double a, double b);

/* Jacobi rounds in long double, straight from the paper's formulas: each residual is summed separately, without the
 * column's term. At most `rounds`; lb and ub [cols] in and out. */
gpuopt_propagator_info problem_reference(const mip *model, int rounds, long double *lb, long double *ub);

#endif /* TESTS_PROPAGATE_PROBLEM_H */
