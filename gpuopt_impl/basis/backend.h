/* SPDX-License-Identifier: MIT
 *
 * Basis inverse: the seam between the public calls and what a backend does.
 */
#ifndef GPUOPT_IMPL_BASIS_BACKEND_H
#define GPUOPT_IMPL_BASIS_BACKEND_H

#include "../common/backend.h"

/* The head of every backend's basis; basis/load.h has the plan. */
struct gpuopt_basis {
    gpuopt_context *context;
    gpuopt_basis_technique technique;
    int32_t m;
    int32_t most; /* K; of DEFERRED, and of every technique's load */
    double pivot_tolerance;
    int has_pivot_column; /* there was an FTRAN since the last load or update */
    int32_t *mark;        /* [m]: rows that a check has seen; -1 between calls */
    int32_t *row;         /* [m]: rows of a sparse column that came from device memory */
    double *work;         /* [m]: its values, or B e in _get_drift */
};

/* Host arrays come checked, device arrays do not. columns NULL: the identity. */
typedef struct gpuopt__basis_backend {
    gpuopt_status (*plan)(gpuopt_context *, const gpuopt_basis_desc *, gpuopt_memory_plan *);
    gpuopt_status (*create)(gpuopt_context *, const gpuopt_basis_desc *, gpuopt_basis **);
    void (*destroy)(gpuopt_basis *);
    gpuopt_status (*update)(gpuopt_basis *, gpuopt_memory, int32_t position, const double *alpha,
                            gpuopt_basis_info *); /* alpha NULL: of the last FTRAN; info may be NULL */
    gpuopt_status (*get_info)(gpuopt_basis *, gpuopt_basis_info *);
    gpuopt_status (*load)(gpuopt_basis *, const gpuopt_matrix *columns);
    gpuopt_status (*ftran)(gpuopt_basis *, gpuopt_memory, const double *rhs, double *x);
    /* row and val are in host memory; `where` is that of x. */
    gpuopt_status (*ftran_sparse)(gpuopt_basis *, gpuopt_memory, int32_t count, const int32_t *row, const double *val,
                                  double *x);
    gpuopt_status (*btran)(gpuopt_basis *, gpuopt_memory, const double *c, double *y);
    gpuopt_status (*btran_unit)(gpuopt_basis *, gpuopt_memory, int32_t position, double *y);
    /* rhs: B e, in the head's work. */
    gpuopt_status (*get_drift)(gpuopt_basis *, const gpuopt_matrix *columns, const double *rhs, int exact,
                               gpuopt_basis_drift *);
    gpuopt_status (*get_inverse)(gpuopt_basis *, gpuopt_memory, double *inverse);
} gpuopt__basis_backend;

#endif /* GPUOPT_IMPL_BASIS_BACKEND_H */
