/* SPDX-License-Identifier: MIT
 *
 * The input of the target of linear programs, decoded: a model, a descriptor, and the values of the calls.
 */
#ifndef TESTS_FUZZ_SIMPLEX_INPUT_H
#define TESTS_FUZZ_SIMPLEX_INPUT_H

#include "tests/fuzz/fuzz.h"
#include "tests/simplex/brute.h"

enum { MOST = BRUTE_MOST, BOTH = 2 * MOST };

typedef struct fuzz {
    fuzz_bytes bytes;
    fuzz_host host;
    gpuopt_context *context;
    int32_t rows, cols, both;
    int64_t start[MOST + 1];
    int32_t index[MOST * MOST];
    double value[MOST * MOST], cost[MOST], lhs[MOST], rhs[MOST], lb[MOST], ub[MOST]; /* whole numbers */
    double a[MOST][MOST], c[MOST], l[BOTH], u[BOTH]; /* scaled, as the handle has them */
    double scaled_value[MOST * MOST];
    int exponent[BOTH]; /* l and u are lb, ub, lhs and rhs times 2^exponent */
    double largest;     /* of these, at least 1 */
    int wide;           /* powers of two as scales of rows and columns */
    gpuopt_simplex_desc desc;
    gpuopt_simplex_rules rules;
    gpuopt_spare spare;
    gpuopt_simplex *handle[2];
    uint8_t plain[BOTH]; /* the basis */
    int64_t iterations, flips;
} fuzz;

unsigned input_take(fuzz *f);
/* A whole number from -9 to 9. */
int input_whole(fuzz *f);
void input_interval(fuzz *f, double *low, double *high);
/* The model, with f->desc of it. */
void input_make(fuzz *f);

#endif /* TESTS_FUZZ_SIMPLEX_INPUT_H */
