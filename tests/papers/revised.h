/* SPDX-License-Identifier: MIT
 *
 * A revised simplex method on gpuopt_basis: the calling program of paper 2. It keeps the inverse of the basis by one
 * technique, and does the rest itself: pricing, ratio test, both phases, bounded variables.
 */
#ifndef TESTS_PAPERS_REVISED_H
#define TESTS_PAPERS_REVISED_H

#include "examples/io/mip.h"
#include "tests/papers/basis_device.h"

typedef struct revised_task {
    const mip *model; /* with its columns */
    gpuopt_context *context;
    int threads; /* that price */
    gpuopt_basis_technique technique;
    int dense;            /* a model of the paper: Dantzig's rule, no scaling; else devex prices, on a scaled model */
    dense_device *device; /* the columns in device memory; NULL: vectors are in host memory */
    int64_t most;         /* iterations, after which it stops; 0: no limit */
    double limit;         /* seconds, after which it stops */
} revised_task;

typedef enum revised_status {
    REVISED_OPTIMAL,
    REVISED_STOPPED, /* at a limit */
    REVISED_INFEASIBLE,
    REVISED_UNBOUNDED,
    REVISED_UNSUPPORTED, /* the device cannot run this technique with so many rows */
    REVISED_FAILED       /* with a message */
} revised_status;
const char *revised_word(revised_status status);

/* Times are in seconds, and begin when the handle exists. */
typedef struct revised_result {
    revised_status status;
    int64_t iterations; /* with flips from bound to bound */
    int64_t updates, loads;
    double objective; /* if OPTIMAL */
    double seconds, update_seconds;
    double per_update, per_iteration; /* but for the first ones, which touch memory first; NaN: there are none */
    double drift;                     /* the largest estimate seen */
} revised_result;

/* Solves from the basis of the slacks. x [cols] and dual [rows], if not NULL, get the optimum. */
revised_result revised_solve(const revised_task *task, double *x, double *dual);

#endif /* TESTS_PAPERS_REVISED_H */
