/* SPDX-License-Identifier: MIT
 *
 * The result of a solver on a linear program, and the solvers that gpuopt is compared with.
 */
#ifndef TESTS_BENCH_SIMPLEX_PEERS_H
#define TESTS_BENCH_SIMPLEX_PEERS_H

#include "examples/io/mip.h"

typedef struct figures {
    char who[48];
    const char *status;  /* static storage */
    double objective;    /* NaN, as all below: not known */
    int64_t iterations;  /* -1: not known */
    double seconds;      /* from the model in memory to the verdict */
    double iterating;    /* of them, without setting up */
    double primal, dual; /* violations on the original data (lp_check.h); where optimal */
    double bytes;        /* that an iteration moves at least */
} figures;

figures figures_of(const char *who); /* nothing known yet */
/* Fills in the objective and the violations. */
void figures_check(figures *f, const mip *model, const double *x, const double *dual);

typedef struct clp_job {
    const mip *model; /* with its columns */
    int dual;         /* not 0: the dual simplex method, else the primal one */
    int64_t cap;      /* iterations; 0: none */
    double limit;     /* seconds */
} clp_job;

/* Solves as CLP's own program does: with one thread, without presolve, otherwise with its defaults, including its
 * method for the first basis. `job` is a clp_job. */
figures clp_run(const void *job);

/* The `k`th recorded result for that model, from 0; 0: there is none. */
int recorded_result(const char *model, int k, figures *f);

#endif /* TESTS_BENCH_SIMPLEX_PEERS_H */
