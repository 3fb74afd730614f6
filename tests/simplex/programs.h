/* SPDX-License-Identifier: MIT
 *
 * Many small linear programs for tests: models of one shape as the numbers of a load, and all reports of a handle about
 * them. The reports are compared with the simplex method in exact rationals.
 */
#ifndef TESTS_SIMPLEX_PROGRAMS_H
#define TESTS_SIMPLEX_PROGRAMS_H

#include "gpuopt/batch.h"
#include "tests/simplex/answer.h"

/* Models of one shape, and their numbers as arrays. */
typedef struct programs {
    int32_t count, rows, cols;
    mip *model; /* [count] */
    gpuopt_simplex_batch_desc desc;
    gpuopt_simplex_programs p;
    int64_t *start; /* of the pattern; NULL: dense */
    int32_t *index;
    int64_t nonzeros;
    double *number[6]; /* value, cost, lhs, rhs, lb, ub */
} programs;

/* Takes over the models, which live as long as the result. pattern: 0 dense, 1 the union of the models' entries. */
programs *programs_of(int32_t count, mip *model, int pattern, gpuopt_layout layout);
void programs_free(programs *all);

/* All reports of a handle, in host memory. */
typedef struct programs_report {
    gpuopt_simplex_batch_report r;
    int32_t count;
} programs_report;

programs_report *programs_report_new(const programs *all, int32_t count);
void programs_report_free(programs_report *r);
/* To the bit, for `count` programs from the given first programs on. */
int programs_report_equal(const programs *all, const programs_report *a, int32_t first_a, const programs_report *b,
                          int32_t first_b, int32_t count);

gpuopt_simplex_batch *programs_create(gpuopt_context *context, const programs *all);
programs_report *programs_get(gpuopt_simplex_batch *many, const programs *all);

/* The fault of program k, with a verdict, in exact rationals; NULL: none. Adds 1 << outcome to *verdicts. */
const char *programs_fault(const programs *all, const programs_report *r, int32_t k, int *verdicts);
/* The same except for the outcome and the optimum, which are compared with these: for models that are too large for
 * rationals from the slack basis. */
const char *programs_fault_beside(const programs *all, const programs_report *r, int32_t k, gpuopt_outcome outcome,
                                  double objective);

#endif /* TESTS_SIMPLEX_PROGRAMS_H */
