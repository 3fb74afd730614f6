/* SPDX-License-Identifier: MIT
 *
 * A run of gpuopt's simplex method on a linear program.
 */
#ifndef TESTS_BENCH_SIMPLEX_RUN_H
#define TESTS_BENCH_SIMPLEX_RUN_H

#include "tests/bench/simplex_peers.h"

typedef struct simplex_job {
    gpuopt_context *context;
    gpuopt_group *group; /* whose ranks all make this run; NULL: none */
    const char *backend; /* "cpu" or "cuda" */
    const char *name;    /* of the way, for the result */
    const mip *model;    /* with its columns */
    gpuopt_simplex_method method;
    gpuopt_simplex_algorithm algorithm;
    gpuopt_simplex_pricing pricing;
    gpuopt_simplex_ratio ratio;
    gpuopt_switch perturbation; /* 0: the default */
    int32_t deferred;           /* pivots; 0: the library's choice */
    int warming;                /* not 0: recomputes the inverse at the end, so that all kernels are loaded */
    double limit;               /* seconds of iterating */
    int64_t cap;                /* iterations; 0: none */
} simplex_job;

/* Runs to the outcome or to a limit. `job` is a simplex_job. */
figures simplex_run(const void *job);

#endif /* TESTS_BENCH_SIMPLEX_RUN_H */
