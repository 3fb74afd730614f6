/* SPDX-License-Identifier: MIT
 *
 * What the program of paper 2 does on the GPU by itself: a context on a stream of its own, a dense matrix in device
 * memory that cuBLAS multiplies, and the kernels of an update, each alone.
 */
#ifndef TESTS_PAPERS_BASIS_DEVICE_H
#define TESTS_PAPERS_BASIS_DEVICE_H

#include "examples/io/mip.h"

/* A context on the first GPU, and its stream. */
typedef struct own_gpu {
    gpuopt_context *context;
    void *stream;
    char name[256];
    int multiprocessors;
} own_gpu;
/* Returns 0, or -1 if there is none. */
int own_gpu_open(own_gpu *gpu);
void own_gpu_close(own_gpu *gpu);

/* Page-locks memory. Does nothing without a GPU. */
void lock_memory(void *memory, size_t bytes);
void unlock_memory(void *memory);

/* Copies an array to device memory. NULL: it did not work. */
double *device_copy(const double *from, size_t count);
void device_free(double *array);

/* A dense model on the GPU. */
typedef struct dense_device dense_device;
/* Copies the columns. Returns NULL if there is no cuBLAS or no memory. */
dense_device *dense_open(const own_gpu *gpu, const mip *model);
void dense_close(dense_device *dense);
/* BTRAN, y = B^-T c, and product = A'y; c and y [rows], product [cols], in host memory. Returns 0, or -1. */
int dense_price(dense_device *dense, gpuopt_basis *basis, const double *c, double *y, double *product);
/* FTRAN of column j: alpha [rows], in host memory. Returns 0, or -1. */
int dense_column(dense_device *dense, gpuopt_basis *basis, int32_t j, double *alpha);

/* The kernels of one update. */
enum { MOST_STEPS = 16 };
typedef struct update_steps {
    int count;
    struct {
        double seconds;   /* on the GPU; the mean of `samples` */
        int blocks;       /* all of a grid; 0: no kernel, or one of a library */
        int threads;      /* of a block */
        double occupancy; /* warps of a multiprocessor at a time, of those possible */
    } step[MOST_STEPS];
} update_steps;
/* Times the steps of an update of `position` with alpha, in device memory, each alone. Returns 0, or -1 if the driver
 * cannot do that. */
int steps_time(const own_gpu *gpu, gpuopt_basis *basis, int32_t position, const double *alpha, int samples,
               update_steps *steps);
/* The seconds of the last step with another number of threads a block, for a kernel that has a thread for each of `m`
 * columns. NaN: it cannot run. */
double steps_time_with(const own_gpu *gpu, gpuopt_basis *basis, int32_t position, const double *alpha, int32_t m,
                       int threads, int samples);

#endif /* TESTS_PAPERS_BASIS_DEVICE_H */
