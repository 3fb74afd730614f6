/* SPDX-License-Identifier: MIT
 *
 * Checks the host's description of a linear program, and fills in the defaults.
 */
#ifndef GPUOPT_IMPL_SIMPLEX_CHECK_H
#define GPUOPT_IMPL_SIMPLEX_CHECK_H

#include "entries.h"
#include "model.h"

static gpuopt_status gpuopt__simplex_check_options(const gpuopt_context *context, const char *call,
                                                   const gpuopt_simplex_desc *d) {
    const gpuopt__range range[] = {
        {"infinity", d->infinity, 1, HUGE_VAL},
        {"primal_tolerance", d->primal_tolerance, 1e-12, 1e-3},
        {"dual_tolerance", d->dual_tolerance, 1e-12, 1e-3},
        {"pivot_tolerance", d->pivot_tolerance, 1e-14, 0.5},
        {"deferred_pivots", (double)d->deferred_pivots, 1, 256},
        {"rebuild_pivots", (double)d->rebuild_pivots, 1, INT32_MAX},
        {"iteration_limit", (double)d->iteration_limit, 1, (double)INT64_MAX},
        {"spare_rows", (double)d->spare_rows, 0, INT32_MAX},
        {"spare_cols", (double)d->spare_cols, 0, INT32_MAX},
        {"spare_nonzeros", (double)d->spare_nonzeros, 0, (double)(INT64_MAX >> 8)},
    };
    const gpuopt__choice choice[] = {
        {"method", (int64_t)d->method, GPUOPT_METHOD_REVISED},
        {"pricing", (int64_t)d->pricing, GPUOPT_PRICING_STEEPEST_EDGE},
        {"ratio", (int64_t)d->ratio, GPUOPT_RATIO_TEXTBOOK},
        {"scaling", (int64_t)d->scaling, GPUOPT_OFF},
        {"perturbation", (int64_t)d->perturbation, GPUOPT_OFF},
        {"algorithm", (int64_t)d->algorithm, GPUOPT_ALGORITHM_AUTO},
        {"dual_pricing", (int64_t)d->dual_pricing, GPUOPT_DUAL_PRICING_DANTZIG},
    };
    gpuopt_status status = gpuopt__check_ranges(context, call, range, sizeof range / sizeof *range);
    return status ? status : gpuopt__check_choices(context, call, choice, sizeof choice / sizeof *choice);
}

/* Fills d from the host's descriptor, with defaults. Its arrays are the host's. The entries of a sparse matrix are not
 * looked at. */
static gpuopt_status gpuopt__simplex_check(const gpuopt_context *context, const char *call,
                                           const gpuopt_simplex_desc *desc, gpuopt_simplex_desc *d, int64_t *nonzeros) {
    gpuopt_status status =
        GPUOPT__CHECK_STRUCT(context, call, context->desc.backend->simplex, gpuopt_simplex_desc, desc, d);
    if (status) return status;
    if (d->matrix.rows < 0 || d->matrix.cols < 0)
        return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "rows or cols is negative");
    status = gpuopt__simplex_check_options(context, call, d);
    if (status) return status;
    if ((int64_t)d->matrix.rows + d->matrix.cols + d->spare_rows + d->spare_cols > INT32_MAX - 64)
        return gpuopt__refuse(context, GPUOPT_ERROR_UNSUPPORTED, call, "rows + cols is above 2^31 - 65");
    if (d->matrix.rows > 1 << 28 || d->spare_rows > (1 << 28) - d->matrix.rows)
        return gpuopt__refuse(context, GPUOPT_ERROR_UNSUPPORTED, call, "rows is above 2^28");
    if (d->group && (d->method != GPUOPT_METHOD_TABLEAU || d->algorithm != GPUOPT_ALGORITHM_PRIMAL))
        return gpuopt__refuse(context, GPUOPT_ERROR_UNSUPPORTED, call,
                              "a group shares a TABLEAU that the PRIMAL method works on, nothing else yet");
    if (d->group && (d->spare_rows > 0 || d->spare_cols > 0 || d->spare_nonzeros > 0))
        return gpuopt__refuse(context, GPUOPT_ERROR_UNSUPPORTED, call,
                              "a tableau that a group shares has no room for rows and columns yet");
    if (d->infinity == 0) d->infinity = 1e20;
    if (d->primal_tolerance == 0) d->primal_tolerance = 1e-9;
    if (d->dual_tolerance == 0) d->dual_tolerance = 1e-9;
    if (d->pivot_tolerance == 0) d->pivot_tolerance = 1e-7;
    if (d->rebuild_pivots == 0) d->rebuild_pivots = 1000;
    if (!status && !d->matrix.start) status = gpuopt__simplex_check_dense(context, call, d, nonzeros);
    if (!status && d->matrix.start) status = gpuopt__check_matrix_shape(context, call, &d->matrix);
    if (!status && d->matrix.start) *nonzeros = d->matrix.start[gpuopt__matrix_lines(&d->matrix)];
    if (!status) status = gpuopt__check_finite(context, call, "cost", d->matrix.cols, d->cost);
    if (!status) status = gpuopt__check_finite(context, call, "offset", 1, &d->offset);
    if (!status)
        status = gpuopt__check_pairs(context, call, "lhs", "rhs", d->matrix.rows, d->lhs, d->rhs, d->infinity, 0);
    if (!status) status = gpuopt__check_pairs(context, call, "lb", "ub", d->matrix.cols, d->lb, d->ub, d->infinity, 1);
    return status;
}

#endif /* GPUOPT_IMPL_SIMPLEX_CHECK_H */
