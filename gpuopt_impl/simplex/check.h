/* SPDX-License-Identifier: MIT
 *
 * A linear program as the host describes it: checked, defaults filled in.
 */
#ifndef GPUOPT_IMPL_SIMPLEX_CHECK_H
#define GPUOPT_IMPL_SIMPLEX_CHECK_H

#include "../common/checks.h"
#include "model.h"

static uint64_t gpuopt__simplex_check_bytes(const gpuopt_simplex_desc *desc) {
    return desc->matrix.start ? sizeof(int32_t) * ((uint64_t)desc->matrix.rows + 1) : 0;
}

static int64_t gpuopt__simplex_nonzeros(const gpuopt_simplex_desc *desc) {
    int64_t k, size = (int64_t)desc->matrix.rows * desc->matrix.cols, count = 0;
    if (desc->matrix.start) return desc->matrix.start[desc->matrix.cols];
    for (k = 0; desc->dense && k < size; k++) count += desc->dense[k] != 0;
    return count;
}

static gpuopt_status gpuopt__check_finite(const gpuopt_context *context, const char *call, const char *name,
                                          int64_t count, const double *value) {
    int64_t k;
    for (k = 0; value && k < count; k++)
        if (!(fabs(value[k]) < HUGE_VAL)) {
            gpuopt__log(context, 0, "%s: %s[%lld] = %g is not finite", call, name, (long long)k, value[k]);
            return GPUOPT_ERROR_ARGUMENT;
        }
    return GPUOPT_OK;
}

/* Lower and upper sides: no NaN, no lower +infinity, no upper -infinity, none that cross. */
static gpuopt_status gpuopt__check_interval(const gpuopt_context *context, const char *call, const char *low_name,
                                            const char *high_name, int32_t count, const double *low, const double *high,
                                            double no_low, double infinity) {
    int32_t k;
    for (k = 0; (low || high) && k < count; k++) {
        double l = low ? low[k] : no_low, h = high ? high[k] : HUGE_VAL;
        if (l <= h && l < infinity && h > -infinity) continue;
        gpuopt__log(context, 0, "%s: %s[%d] = %g and %s[%d] = %g are no interval", call, low_name, (int)k, l, high_name,
                    (int)k, h);
        return GPUOPT_ERROR_ARGUMENT;
    }
    return GPUOPT_OK;
}

static gpuopt_status gpuopt__check_simplex_options(const gpuopt_context *context, const char *call,
                                                   const gpuopt_simplex_desc *d) {
    const struct {
        const char *name;
        double value, least, most; /* 0 is always allowed */
    } range[] = {
        {"infinity", d->infinity, 1, HUGE_VAL},
        {"primal_tolerance", d->primal_tolerance, 1e-12, 1e-3},
        {"dual_tolerance", d->dual_tolerance, 1e-12, 1e-3},
        {"pivot_tolerance", d->pivot_tolerance, 1e-14, 0.5},
        {"deferred_pivots", (double)d->deferred_pivots, 1, 256},
        {"refresh_pivots", (double)d->refresh_pivots, 1, INT32_MAX},
        {"iteration_limit", (double)d->iteration_limit, 1, (double)INT64_MAX},
    };
    size_t k;
    for (k = 0; k < sizeof range / sizeof *range; k++)
        if (range[k].value != 0 && !(range[k].value >= range[k].least && range[k].value <= range[k].most)) {
            gpuopt__log(context, 0, "%s: %s = %g is neither 0 nor in [%g, %g]", call, range[k].name, range[k].value,
                        range[k].least, range[k].most);
            return GPUOPT_ERROR_ARGUMENT;
        }
    if ((unsigned)d->method > GPUOPT_METHOD_REVISED || (unsigned)d->pricing > GPUOPT_PRICING_STEEPEST_EDGE ||
        (unsigned)d->ratio > GPUOPT_RATIO_TEXTBOOK || (unsigned)d->scaling > GPUOPT_OFF ||
        (unsigned)d->perturbation > GPUOPT_OFF)
        return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call,
                              "method, pricing, ratio, scaling or perturbation is unknown");
    return GPUOPT_OK;
}

/* seen [rows]: the last column that each row came in. */
static gpuopt_status gpuopt__check_csc(const gpuopt_context *context, const char *call, const gpuopt_csc *a,
                                       int32_t *seen) {
    int32_t i, j;
    int64_t e;
    if (a->start[0] != 0 || (a->start[a->cols] > 0 && (!a->row || !a->val)))
        return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call,
                              a->start[0] != 0 ? "matrix.start[0] is not 0" : "matrix.row or matrix.val is NULL");
    for (j = 0; j < a->cols; j++)
        if (a->start[j + 1] < a->start[j]) {
            gpuopt__log(context, 0, "%s: matrix.start[%d] is less than the start before it", call, (int)j + 1);
            return GPUOPT_ERROR_ARGUMENT;
        }
    for (i = 0; i < a->rows; i++) seen[i] = -1;
    for (j = 0; j < a->cols; j++)
        for (e = a->start[j]; e < a->start[j + 1]; e++) {
            const char *fault = NULL;
            i = a->row[e];
            if (i < 0 || i >= a->rows) fault = "the row is out of range";
            else if (seen[i] == j) fault = "the row comes twice";
            else if (!(fabs(a->val[e]) < HUGE_VAL) || a->val[e] == 0) fault = "the value is zero or not finite";
            if (fault) {
                gpuopt__log(context, 0, "%s: column %d, entry %lld (row %d, %g): %s", call, (int)j, (long long)e,
                            (int)i, a->val[e], fault);
                return GPUOPT_ERROR_ARGUMENT;
            }
            seen[i] = j;
        }
    return GPUOPT_OK;
}

/* The matrix, sparse or dense. */
static gpuopt_status gpuopt__check_simplex_matrix(const gpuopt_context *context, const char *call,
                                                  const gpuopt_simplex_desc *d) {
    gpuopt_status status;
    void *seen;
    if (!d->matrix.start) {
        if (!d->dense && (int64_t)d->matrix.rows * d->matrix.cols > 0)
            return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "matrix.start and dense are NULL");
        return gpuopt__check_finite(context, call, "dense", (int64_t)d->matrix.rows * d->matrix.cols, d->dense);
    }
    status = gpuopt__allocate(context, GPUOPT_HOST, gpuopt__simplex_check_bytes(d), &seen);
    if (status) return status;
    status = gpuopt__check_csc(context, call, &d->matrix, (int32_t *)seen);
    gpuopt__release(context, GPUOPT_HOST, seen);
    return status;
}

/* Fills checked from the host's descriptor, with the defaults in; its arrays stay the host's. */
static gpuopt_status gpuopt__check_simplex(const gpuopt_context *context, const char *call,
                                           const gpuopt_simplex_desc *desc, gpuopt_simplex_desc *checked) {
    gpuopt_simplex_desc *d = checked;
    gpuopt_status status;
    if (!gpuopt__copy_in(d, sizeof *d, desc, desc->struct_size))
        return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call,
                              "struct_size is wrong, or a member that this version does not know is set");
    if (d->matrix.rows < 0 || d->matrix.cols < 0)
        return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "rows or cols is negative");
    if ((int64_t)d->matrix.rows + d->matrix.cols > INT32_MAX - 64)
        return gpuopt__refuse(context, GPUOPT_ERROR_UNSUPPORTED, call, "rows + cols is above 2^31 - 65");
    if (d->matrix.rows > 1 << 28) return gpuopt__refuse(context, GPUOPT_ERROR_UNSUPPORTED, call, "rows is above 2^28");
    status = gpuopt__check_simplex_options(context, call, d);
    if (d->infinity == 0) d->infinity = 1e20;
    if (d->primal_tolerance == 0) d->primal_tolerance = 1e-9;
    if (d->dual_tolerance == 0) d->dual_tolerance = 1e-9;
    if (d->pivot_tolerance == 0) d->pivot_tolerance = 1e-7;
    if (d->refresh_pivots == 0) d->refresh_pivots = 1000;
    if (!status) status = gpuopt__check_simplex_matrix(context, call, d);
    if (!status) status = gpuopt__check_finite(context, call, "cost", d->matrix.cols, d->cost);
    if (!status) status = gpuopt__check_finite(context, call, "offset", 1, &d->offset);
    if (!status)
        status =
            gpuopt__check_interval(context, call, "lhs", "rhs", d->matrix.rows, d->lhs, d->rhs, -HUGE_VAL, d->infinity);
    if (!status)
        status = gpuopt__check_interval(context, call, "lb", "ub", d->matrix.cols, d->lb, d->ub, 0, d->infinity);
    return status;
}

#endif /* GPUOPT_IMPL_SIMPLEX_CHECK_H */
