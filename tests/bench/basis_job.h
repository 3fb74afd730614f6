/* SPDX-License-Identifier: MIT
 *
 * Updates of a basis inverse to be timed, shared by the benchmark and the program of paper 2.
 */
#ifndef TESTS_BENCH_BASIS_JOB_H
#define TESTS_BENCH_BASIS_JOB_H

#include "gpuopt.h"

/* PIVOTS: updates pivot on this many rows in turn, spread over the matrix, so that a pivot row is not in the cache. */
enum { PIVOTS = 61, TECHNIQUES = GPUOPT_TECHNIQUE_ELEMENT_PROPOSED + 1 };

typedef struct job {
    gpuopt_context *context;
    int on_gpu; /* vectors and matrices are in device memory, and updates are enqueued */
    gpuopt_memory_space where;
    gpuopt_basis *basis;
    int32_t m, next, pivot;
    double *vector, *result; /* [m] */
    double *alpha[PIVOTS];   /* [m] */
    int32_t position[PIVOTS];
    double *from, *to;     /* [m][m] */
    gpuopt_matrix columns; /* for _load */
    int32_t row[10];
    double val[10];
} job;

/* Ends the program with a message unless it is good. */
void job_demand(int good, const char *what);
/* A number in -1/2 .. 1/2. */
double job_draw(uint64_t *state);
/* Returns an array in device memory on the GPU, else in host memory: a copy of `from`, or if that is NULL zeros on the
 * CPU and anything on the GPU. job_drop() frees it. */
double *job_place(const job *j, const double *from, size_t bytes);
void job_drop(const job *j, double *array);

/* A job without a basis and without matrices. */
job job_prepare(gpuopt_context *context, int on_gpu, int32_t m);
void job_finish(job *j);
/* NULL: the device cannot run this technique. */
gpuopt_basis *job_create(const job *j, int technique, int32_t deferred_updates);

/* Copies `from` to `to`. */
void job_copy(job *j);
/* One update, on the GPU enqueued. */
void job_update(job *j);

/* Microseconds of `count` calls. */
double job_time(void (*work)(job *), job *j, int count);
/* Microseconds per call: the least of three rounds of about 20 ms or at least 3 calls, after two calls to warm up. */
double job_measure(void (*work)(job *), job *j);

#endif /* TESTS_BENCH_BASIS_JOB_H */
