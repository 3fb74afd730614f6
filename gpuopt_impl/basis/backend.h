/* SPDX-License-Identifier: MIT
 *
 * Basis inverse: the interface between the public calls and the backends.
 *
 * A call passes through these files:
 *
 *     gpuopt.h        gpuopt_basis_update(...)
 *     calls.h         checks the arguments, the same for every backend, and calls the backend's function
 *     backend.h       (this file) the table of those functions, and the common part of every backend's handle
 *     cpu_update.h    CPU backend: the handle, and the seven ways of updating the inverse
 *     cpu.h           CPU backend: FTRAN, BTRAN, load, reports, create and destroy, and the table
 *     load.h          both backends: scaling, and the order of elimination
 *
 * cuda/basis/device.cuh describes the CUDA backend. common/deferred.h has M + U V for the CPU, also for the simplex
 * method.
 */
#ifndef GPUOPT_IMPL_BASIS_BACKEND_H
#define GPUOPT_IMPL_BASIS_BACKEND_H

#include "../common/backend.h"

/* The first member of every backend's handle. gpuopt__basis_cut() in load.h takes the memory of its arrays. */
struct gpuopt_basis {
    gpuopt_context *context;
    gpuopt_basis_technique technique;
    int32_t m;
    int32_t most; /* K of DEFERRED, and of a load with any technique */
    double pivot_tolerance;
    int has_pivot_column; /* FTRAN has run since the latest load or update */
    int32_t *mark;        /* [m]: the rows that a check has met; all -1 between calls */
    int32_t *row;         /* [m]: rows of a sparse column that came from device memory */
    double *work;         /* [m]: values of that column; in _get_drift: B e */
};

/* The log message of every backend when it refuses B or a pivot. */
#define GPUOPT__BASIS_SINGULAR "gpuopt_basis_load: singular or nearly so: column %d depends on the others"
#define GPUOPT__BASIS_SMALL_PIVOT "gpuopt_basis_update: the pivot at position %d is too small"

/* The functions that calls.h calls. Host arrays are already checked, except those of a load. Device arrays are not. */
typedef struct gpuopt__basis_backend {
    gpuopt_status (*plan)(gpuopt_context *, const gpuopt_basis_desc *, gpuopt_memory_plan *);
    gpuopt_status (*create)(gpuopt_context *, const gpuopt_basis_desc *, gpuopt_basis **);
    void (*destroy)(gpuopt_basis *);
    /* alpha NULL: use the result of the latest FTRAN. info NULL: only enqueue. */
    gpuopt_status (*update)(gpuopt_basis *, gpuopt_memory_space, int32_t position, const double *alpha,
                            gpuopt_basis_info *);
    gpuopt_status (*get_info)(gpuopt_basis *, gpuopt_basis_info *);
    /* columns: stored by rows or columns, with unchecked entries; NULL: the identity. */
    /* Checks the entries. On UNTIDY nothing has changed, and calls.h calls again with the tidied matrix. */
    gpuopt_status (*load)(gpuopt_basis *, const gpuopt_matrix *columns);
    gpuopt_status (*ftran)(gpuopt_basis *, gpuopt_memory_space, const double *rhs, double *x);
    /* `where` is the memory of x; row and val are in host memory. */
    gpuopt_status (*ftran_sparse)(gpuopt_basis *, gpuopt_memory_space where, int32_t count, const int32_t *row,
                                  const double *val, double *x);
    gpuopt_status (*btran)(gpuopt_basis *, gpuopt_memory_space, const double *c, double *y);
    gpuopt_status (*btran_unit)(gpuopt_basis *, gpuopt_memory_space, int32_t position, double *y);
    gpuopt_status (*get_drift)(gpuopt_basis *, const gpuopt_matrix *columns, const double *product, int exact,
                               gpuopt_basis_drift *); /* product: B e [m], in host memory */
    gpuopt_status (*get_inverse)(gpuopt_basis *, gpuopt_memory_space, double *inverse);
} gpuopt__basis_backend;

#endif /* GPUOPT_IMPL_BASIS_BACKEND_H */
