/* SPDX-License-Identifier: MIT
 *
 * Propagation: what the public calls ask of a backend.
 *
 * A public call (calls.h) checks its arguments, so that a backend sees only valid ones, and goes through the table
 * below to the CPU (cpu.h) or the GPU (cuda/propagate/propagate.cu). A round then filters the rows (filter.h), sums the
 * activities of those that pass, and computes new bounds for the columns of their entries (row.h), under the model's
 * settings (rules.h). These three files are the arithmetic of both backends, so that both return the same bits.
 *
 *     calls.h, tree_calls.h   the public calls             cpu.h           handles, bounds, sides, reports, forks
 *     check.h                 checks of descriptors        cpu_state.h     a handle's parts; the rows to be evaluated
 *     backend.h               the table of a backend       cpu_rounds.h    rounds, and their threads
 *     rules.h, filter.h,      the arithmetic               cpu_kept.h      what is kept of rows between evaluations
 *     row.h                                                cpu_trail.h     levels, changes, reasons
 *                                                          cpu_added.h     rows that the host adds
 *                                                          cpu_typed.h     once for double, once for float: cpu_rows.h,
 *                                                                          sums; cpu_tighten.h, bounds that move
 */
#ifndef GPUOPT_IMPL_PROPAGATE_BACKEND_H
#define GPUOPT_IMPL_PROPAGATE_BACKEND_H

#include "../common/backend.h"
#include "row.h"

/* A checked model with the defaults filled in and the matrix by rows. The other arrays are the host's. Where the
 * backend checks the numbers itself (checks_numbers below), create is given a model whose numbers nobody has looked at:
 * the matrix is the host's, by rows or by columns, and what gpuopt__propagator_numbers_known() fills is not known yet
 * (check.h). */
typedef struct gpuopt__propagator_model {
    const char *call; /* the public call, for the log */
    gpuopt_propagator_desc desc;
    gpuopt__propagator_rules rules;
    int64_t nonzeros;
    void *transposed; /* memory of the matrix by rows if the host passed it by columns, else NULL */
    int numbers_known;
    int val_single; /* single precision represents every coefficient exactly */
} gpuopt__propagator_model;

/* Every backend's propagator begins with this. */
struct gpuopt_propagator {
    gpuopt_context *context;
    gpuopt__propagator_rules rules;
    int32_t rows, cols;
    int64_t nonzeros;
    int32_t round_limit;
    gpuopt_propagator_precision precision;
    gpuopt_propagator_mode mode;
    int marking; /* 0: OFF; else as the backend understands the default */
    int32_t trail_capacity, spare_rows, spare_nonzeros;
    int32_t
        *seen; /* [cols or spare_rows, whichever is more, + 1], with spare rows: to check rows that are to be added */
};

/* Members as in the other families: plan, create, destroy, the step, get_info, the rest. */
typedef struct gpuopt__propagator_backend {
    gpuopt_status (*plan)(gpuopt_context *, const gpuopt__propagator_model *, gpuopt_memory_plan *);
    gpuopt_status (*create)(gpuopt_context *, gpuopt__propagator_model *, gpuopt_propagator **);
    void (*destroy)(gpuopt_propagator *);
    gpuopt_status (*round)(gpuopt_propagator *, int32_t rounds, gpuopt_propagator_info *info); /* info may be NULL */
    gpuopt_status (*get_info)(gpuopt_propagator *, gpuopt_propagator_info *);
    /* col == NULL: all columns. The public calls have checked arrays in host memory; those in device memory are the
     * backend's to check. */
    gpuopt_status (*get_bounds)(gpuopt_propagator *, gpuopt_memory, int64_t count, const int32_t *col, double *lb,
                                double *ub);
    gpuopt_status (*set_bounds)(gpuopt_propagator *, gpuopt_memory, int64_t count, const int32_t *col, const double *lb,
                                const double *ub);
    gpuopt_status (*set_sides)(gpuopt_propagator *, gpuopt_memory, int64_t count, const int32_t *row, const double *lhs,
                               const double *rhs);
    gpuopt_status (*get_rows)(gpuopt_propagator *, gpuopt_memory, const gpuopt_propagator_row_report *);
    gpuopt_status (*device_view)(gpuopt_propagator *, gpuopt_device_view *);
    /* A tree search. Without push the backend has none of it, and models that ask for a trail or spare rows are refused. */
    gpuopt_status (*push)(gpuopt_propagator *, int64_t *start);
    gpuopt_status (*pop)(gpuopt_propagator *, int32_t levels);
    gpuopt_status (*keep)(gpuopt_propagator *);
    gpuopt_status (*get_trail)(gpuopt_propagator *, gpuopt_propagator_trail *);
    gpuopt_status (*get_changes)(gpuopt_propagator *, gpuopt_memory, int64_t from, gpuopt_propagator_changes *);
    gpuopt_status (*explain)(gpuopt_propagator *, int64_t change, gpuopt_propagator_reason *);
    /* The matrix is by rows. row may be NULL. */
    gpuopt_status (*add_rows)(gpuopt_propagator *, const gpuopt_matrix *, const double *lhs, const double *rhs,
                              int32_t *row);
    gpuopt_status (*remove_rows)(gpuopt_propagator *, int64_t count, const int32_t *row);
    int (*has_row)(const gpuopt_propagator *, int32_t row); /* of an added row's number: whether it is in use */
    gpuopt_status (*plan_fork)(const gpuopt_propagator *, gpuopt_memory_plan *);
    gpuopt_status (*fork)(gpuopt_propagator *, gpuopt_context *, gpuopt_propagator **);
    /* Whether create checks the numbers in the arrays of this model itself, and takes the matrix as it is. NULL: it
     * never does. */
    int (*checks_numbers)(const gpuopt__propagator_model *);
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
    head.mode = model->desc.mode;
    head.marking = model->desc.marking != GPUOPT_OFF;
    head.trail_capacity = (int32_t)model->desc.trail_capacity;
    head.spare_rows = model->desc.spare_rows;
    head.spare_nonzeros = (int32_t)model->desc.spare_nonzeros;
    head.seen = NULL; /* the backend's */
    return head;
}

#endif /* GPUOPT_IMPL_PROPAGATE_BACKEND_H */
