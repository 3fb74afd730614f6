/* SPDX-License-Identifier: MIT
 *
 * Propagation: the seam between the public calls and what a backend does.
 */
#ifndef GPUOPT_IMPL_PROPAGATE_BACKEND_H
#define GPUOPT_IMPL_PROPAGATE_BACKEND_H

#include "../common/backend.h"
#include "row.h"

/* A model as the host gave it: checked, defaults filled in, the matrix by rows. The arrays are the host's. */
typedef struct gpuopt__propagator_model {
    gpuopt_propagator_desc desc;
    gpuopt__propagator_rules rules;
    int64_t nonzeros;
    void *transposed; /* the matrix by rows where the host gave it by columns */
    int val_single;   /* every coefficient is a single-precision number */
} gpuopt__propagator_model;

/* The head of every backend's propagator. */
struct gpuopt_propagator {
    gpuopt_context *context;
    gpuopt__propagator_rules rules;
    int32_t rows, cols;
    int64_t nonzeros;
    int32_t round_limit;
    gpuopt_propagator_precision precision;
};

typedef struct gpuopt__propagator_backend {
    gpuopt_status (*plan)(gpuopt_context *, const gpuopt__propagator_model *, gpuopt_memory_plan *);
    gpuopt_status (*create)(gpuopt_context *, const gpuopt__propagator_model *, gpuopt_propagator **);
    void (*destroy)(gpuopt_propagator *);
    gpuopt_status (*round)(gpuopt_propagator *, int32_t rounds, gpuopt_propagator_info *info); /* info may be NULL */
    gpuopt_status (*get_info)(gpuopt_propagator *, gpuopt_propagator_info *);
    /* col == NULL: all columns. Host arrays come checked, device arrays do not. */
    gpuopt_status (*get_bounds)(gpuopt_propagator *, gpuopt_memory, int64_t count, const int32_t *col, double *lb,
                                double *ub);
    gpuopt_status (*set_bounds)(gpuopt_propagator *, gpuopt_memory, int64_t count, const int32_t *col, const double *lb,
                                const double *ub);
    gpuopt_status (*set_sides)(gpuopt_propagator *, gpuopt_memory, int64_t count, const int32_t *row, const double *lhs,
                               const double *rhs);
    gpuopt_status (*get_rows)(gpuopt_propagator *, gpuopt_memory, const gpuopt_propagator_row_report *);
    gpuopt_status (*device_view)(gpuopt_propagator *, gpuopt_device_view *);
} gpuopt__propagator_backend;

static inline gpuopt_propagator gpuopt__propagator_head(gpuopt_context *context,
                                                        const gpuopt__propagator_model *model) {
    gpuopt_propagator head;
    head.context = context;
    head.rules = model->rules;
    head.rows = model->desc.matrix.rows;
    head.cols = model->desc.matrix.cols;
    head.nonzeros = model->nonzeros;
    head.round_limit = model->desc.round_limit;
    head.precision = model->desc.precision;
    return head;
}

#endif /* GPUOPT_IMPL_PROPAGATE_BACKEND_H */
