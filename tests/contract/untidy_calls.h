/* SPDX-License-Identifier: MIT
 *
 * Every call that takes a matrix, with what it computes of one.
 */
#ifndef TESTS_CONTRACT_UNTIDY_CALLS_H
#define TESTS_CONTRACT_UNTIDY_CALLS_H

#include "gpuopt/search.h"
#include "tests/support/support.h"

enum { ROWS = 40, COLS = 30, SQUARE = 24, PER_LINE = 9, MOST = 4096, UNTIDY_CALLS = 7 };

/* A use of a matrix. The call under test is made with `fails` of its allocations failing, one after the other. */
typedef struct use {
    gpuopt_context *context;
    test_host *host;
    const gpuopt_matrix *m;
    int option; /* a precision, or a method */
    int fails;
    gpuopt_status status;
    int failed;
    double out[MOST];
    int filled;
} use;

typedef struct untidy_call {
    const char *call;
    void (*use)(use *);
    int square, options; /* whether the matrix must have SQUARE rows and columns; how many values option has */
} untidy_call;
extern const untidy_call untidy_calls[UNTIDY_CALLS];

/* The spare nonzeros of handles whose calls add rows or columns. */
extern int64_t untidy_spare;

/* Models of the matrix. untidy_setup() comes before. */
int untidy_setup(void **state);
gpuopt_propagator_desc untidy_propagator(const gpuopt_matrix *m, int precision);
gpuopt_simplex_desc untidy_program(const gpuopt_matrix *m, int method);

#endif /* TESTS_CONTRACT_UNTIDY_CALLS_H */
