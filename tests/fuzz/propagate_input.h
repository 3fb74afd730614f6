/* SPDX-License-Identifier: MIT
 *
 * The input of the propagation target, decoded: a model, valid or not, and the values of the calls.
 */
#ifndef TESTS_FUZZ_PROPAGATE_INPUT_H
#define TESTS_FUZZ_PROPAGATE_INPUT_H

#include "tests/fuzz/fuzz.h"

enum { MOST = 24 };

typedef struct fuzz {
    fuzz_bytes bytes;
    gpuopt_context *context;
    gpuopt_propagator_desc desc;
    gpuopt_propagator_tolerances tolerances;            /* of desc */
    int planted, dirty, binaries;                       /* binaries: half of the integer columns are binary */
    double infinity, feasibility, integrality, x[MOST]; /* the planted point */
    int64_t start[MOST + 1];
    int32_t col[MOST * MOST];
    double val[MOST * MOST], lhs[MOST], rhs[MOST], lb[MOST], ub[MOST];
    uint8_t integer[MOST];
    gpuopt_propagator *one, *two;
    double seen_lb[MOST], seen_ub[MOST]; /* the bounds as they were last read */
    gpuopt_outcome outcome;              /* MORE again after a set */
    int32_t since_set;
    void *owned[16]; /* copies of exactly the documented length, so that a read beyond the end is noticed */
    int owned_count;
} fuzz;

/* The model, with f->desc of it. */
void input_make(fuzz *f);
/* Two bounds of a column, two sides of a row. They respect the planted point, if there is one. */
void input_bounds(fuzz *f, int32_t col, double *lb, double *ub);
void input_sides(fuzz *f, int32_t row, double *lhs, double *rhs);
/* A coefficient that a valid model may have. */
double input_coefficient(fuzz *f);
/* Whether a call may take these bounds or sides. */
int input_valid_pair(const fuzz *f, double low, double high);
/* A copy of an array, kept in f->owned; disown frees all of them. */
void *input_own(fuzz *f, const void *from, int64_t count, size_t size);
void input_disown(fuzz *f);

#endif /* TESTS_FUZZ_PROPAGATE_INPUT_H */
