/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L
#include "tests/bench/basis_job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef TEST_WITH_CUDA
#include <cuda_runtime_api.h>
#endif

static double now_us(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

void job_demand(int good, const char *what) {
    if (good) return;
    fprintf(stderr, "measuring the basis inverse: %s failed\n", what);
    exit(1);
}

double job_draw(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-53 - 0.5;
}

double *job_place(const job *j, const double *from, size_t bytes) {
    double *to = NULL;
    (void)j;
#ifdef TEST_WITH_CUDA
    if (j->on_gpu) {
        job_demand(!cudaMalloc((void **)&to, bytes), "cudaMalloc");
        if (from) job_demand(!cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
        return to;
    }
#endif
    to = calloc(1, bytes);
    job_demand(to != NULL, "calloc");
    if (from) memcpy(to, from, bytes);
    return to;
}

void job_drop(const job *j, double *array) {
    (void)j;
#ifdef TEST_WITH_CUDA
    if (j->on_gpu) {
        cudaFree(array);
        return;
    }
#endif
    free(array);
}

job job_prepare(gpuopt_context *context, int on_gpu, int32_t m) {
    job j;
    uint64_t state = 1;
    double *vector = calloc((size_t)m, sizeof *vector);
    int32_t k;
    job_demand(vector != NULL, "calloc");
    memset(&j, 0, sizeof j);
    j.context = context;
    j.on_gpu = on_gpu;
    j.where = on_gpu ? GPUOPT_DEVICE : GPUOPT_HOST;
    j.m = m;
    for (k = 0; k < m; k++) vector[k] = job_draw(&state);
    j.vector = job_place(&j, vector, sizeof *vector * (size_t)m);
    /* Each column is replaced by almost the same one, so that the inverse neither grows nor vanishes. */
    for (k = 0; k < m; k++) vector[k] *= 1e-6;
    for (k = 0; k < PIVOTS; k++) {
        double entry;
        j.position[k] = (int32_t)((int64_t)m * (k * 37 % PIVOTS) / PIVOTS);
        entry = vector[j.position[k]];
        vector[j.position[k]] = 1;
        j.alpha[k] = job_place(&j, vector, sizeof *vector * (size_t)m);
        vector[j.position[k]] = entry;
    }
    j.result = job_place(&j, NULL, sizeof *vector * (size_t)m);
    for (k = 0; k < 10; k++) {
        j.row[k] = (int32_t)((int64_t)m * k / 10);
        j.val[k] = 1 + k;
    }
    free(vector);
    return j;
}

void job_finish(job *j) {
    int k;
    job_drop(j, j->vector);
    for (k = 0; k < PIVOTS; k++) job_drop(j, j->alpha[k]);
    job_drop(j, j->result);
}

gpuopt_basis *job_create(const job *j, int technique, int32_t deferred_updates) {
    gpuopt_basis_desc desc;
    gpuopt_basis *basis;
    gpuopt_desc_init(&desc, sizeof desc);
    desc.m = j->m;
    desc.technique = (gpuopt_basis_technique)technique;
    desc.deferred_updates = deferred_updates;
    return gpuopt_basis_create(j->context, &desc, NULL, &basis) ? NULL : basis;
}

void job_copy(job *j) {
    size_t bytes = sizeof(double) * (size_t)j->m * (size_t)j->m;
#ifdef TEST_WITH_CUDA
    if (j->on_gpu) {
        job_demand(!cudaMemcpyAsync(j->to, j->from, bytes, cudaMemcpyDeviceToDevice, NULL), "copying");
        return;
    }
#endif
    memcpy(j->to, j->from, bytes);
}

void job_update(job *j) {
    gpuopt_basis_info info;
    int k = j->pivot++ % PIVOTS;
    gpuopt_desc_init(&info, sizeof info);
    job_demand(!gpuopt_basis_update(j->basis, j->where, j->position[k], j->alpha[k], j->on_gpu ? NULL : &info),
               "an update");
}

static void wait_for_all(const job *j) {
    job_demand(!gpuopt_context_wait(j->context), "waiting");
#ifdef TEST_WITH_CUDA
    if (j->on_gpu) job_demand(!cudaStreamSynchronize(NULL), "waiting for a copy");
#endif
}

double job_time(void (*work)(job *), job *j, int count) {
    double start;
    int k;
    wait_for_all(j);
    start = now_us();
    for (k = 0; k < count; k++) work(j);
    wait_for_all(j);
    return now_us() - start;
}

double job_measure(void (*work)(job *), job *j) {
    double once = job_time(work, j, 1), least = 1e30;
    int round, count;
    once = job_time(work, j, 1);
    count = once > 7e3 ? 3 : (int)(2e4 / (once + 1)) + 1;
    if (count > 500) count = 500;
    for (round = 0; round < 3; round++) {
        double t = job_time(work, j, count) / count;
        if (t < least) least = t;
        if (t * count > 1e6) break;
    }
    return least;
}
