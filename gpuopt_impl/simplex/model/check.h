/* SPDX-License-Identifier: MIT
 *
 * Checks the caller's description of a linear program, and fills in the defaults.
 */
#ifndef GPUOPT_IMPL_SIMPLEX_MODEL_CHECK_H
#define GPUOPT_IMPL_SIMPLEX_MODEL_CHECK_H

#include "entries.h"
#include "handle.h"

/* Fills `own`, which is all zero, from the caller's tolerances and the defaults. */
static gpuopt_status gpuopt__simplex_check_tolerances(const gpuopt_context *context, const char *call,
                                                      const gpuopt_simplex_tolerances *given,
                                                      gpuopt_simplex_tolerances *own) {
    gpuopt_status status = GPUOPT__CHECK_PART(context, call, gpuopt_simplex_tolerances, given, own);
    const gpuopt__range range[] = {
        {"desc->tolerances->primal", own->primal, 1e-12, 1e-3},
        {"desc->tolerances->dual", own->dual, 1e-12, 1e-3},
        {"desc->tolerances->pivot", own->pivot, 1e-14, 0.5},
    };
    if (!status) status = gpuopt__check_ranges(context, call, range, sizeof range / sizeof *range);
    if (own->primal == 0) own->primal = 1e-9;
    if (own->dual == 0) own->dual = 1e-9;
    if (own->pivot == 0) own->pivot = 1e-7;
    return status;
}

static gpuopt_status gpuopt__simplex_check_rules(const gpuopt_context *context, const char *call,
                                                 const gpuopt_simplex_rules *given, gpuopt_simplex_rules *own) {
    gpuopt_status status = GPUOPT__CHECK_PART(context, call, gpuopt_simplex_rules, given, own);
    const gpuopt__range range[] = {
        {"desc->rules->deferred_pivots", (double)own->deferred_pivots, 1, 256},
        {"desc->rules->rebuild_pivots", (double)own->rebuild_pivots, 1, INT32_MAX},
    };
    const gpuopt__choice choice[] = {
        {"desc->rules->pricing", (int64_t)own->pricing, GPUOPT_PRICING_STEEPEST_EDGE},
        {"desc->rules->dual_pricing", (int64_t)own->dual_pricing, GPUOPT_DUAL_PRICING_DANTZIG},
        {"desc->rules->ratio", (int64_t)own->ratio, GPUOPT_RATIO_TEXTBOOK},
        {"desc->rules->perturbation", (int64_t)own->perturbation, GPUOPT_OFF},
        {"desc->rules->scaling", (int64_t)own->scaling, GPUOPT_OFF},
    };
    if (!status) status = gpuopt__check_ranges(context, call, range, sizeof range / sizeof *range);
    if (!status) status = gpuopt__check_choices(context, call, choice, sizeof choice / sizeof *choice);
    if (own->rebuild_pivots == 0) own->rebuild_pivots = 1000;
    return status;
}

static gpuopt_status gpuopt__simplex_check_spare(const gpuopt_context *context, const char *call,
                                                 const gpuopt_spare *given, gpuopt_spare *own) {
    gpuopt_status status = GPUOPT__CHECK_PART(context, call, gpuopt_spare, given, own);
    const gpuopt__range range[] = {
        {"desc->spare->rows", (double)own->rows, 0, INT32_MAX},
        {"desc->spare->cols", (double)own->cols, 0, INT32_MAX},
        {"desc->spare->nonzeros", (double)own->nonzeros, 0, (double)(INT64_MAX >> 8)},
    };
    return status ? status : gpuopt__check_ranges(context, call, range, sizeof range / sizeof *range);
}

/* Fills d from the caller's descriptor, its nested structs and the defaults. */
static gpuopt_status gpuopt__simplex_take_options(const gpuopt_context *context, const char *call,
                                                  const gpuopt_simplex_desc *given, gpuopt__simplex_options *d) {
    gpuopt_simplex_tolerances tolerances;
    gpuopt_simplex_rules rules;
    gpuopt_spare spare;
    const gpuopt__range range[] = {
        {"infinity", given->infinity, 1, HUGE_VAL},
        {"iteration_limit", (double)given->iteration_limit, 1, (double)INT64_MAX},
    };
    const gpuopt__choice choice[] = {
        {"method", (int64_t)given->method, GPUOPT_METHOD_REVISED},
        {"algorithm", (int64_t)given->algorithm, GPUOPT_ALGORITHM_DUAL},
    };
    gpuopt_status status = gpuopt__check_ranges(context, call, range, sizeof range / sizeof *range);
    memset(&tolerances, 0, sizeof tolerances);
    memset(&rules, 0, sizeof rules);
    memset(&spare, 0, sizeof spare);
    if (!status) status = gpuopt__check_choices(context, call, choice, sizeof choice / sizeof *choice);
    if (!status) status = gpuopt__simplex_check_tolerances(context, call, given->tolerances, &tolerances);
    if (!status) status = gpuopt__simplex_check_rules(context, call, given->rules, &rules);
    if (!status) status = gpuopt__simplex_check_spare(context, call, given->spare, &spare);
    d->matrix = given->matrix;
    d->dense = given->dense, d->cost = given->cost, d->offset = given->offset, d->maximize = given->maximize;
    d->lhs = given->lhs, d->rhs = given->rhs, d->lb = given->lb, d->ub = given->ub;
    d->infinity = given->infinity == 0 ? 1e20 : given->infinity;
    d->method_wanted = given->method, d->algorithm = given->algorithm;
    d->primal_tolerance = tolerances.primal, d->dual_tolerance = tolerances.dual;
    d->pivot_tolerance = tolerances.pivot;
    d->pricing = rules.pricing, d->dual_pricing = rules.dual_pricing, d->ratio = rules.ratio;
    d->perturbation = rules.perturbation, d->seed = rules.seed, d->scaling = rules.scaling;
    d->deferred_pivots = rules.deferred_pivots, d->rebuild_pivots = rules.rebuild_pivots;
    d->spare_rows = spare.rows, d->spare_cols = spare.cols, d->spare_nonzeros = spare.nonzeros;
    d->iteration_limit = given->iteration_limit;
    return status;
}

/* The tableau moves rows * cols numbers per K pivots. The revised method moves rows^2 on the GPU, and for each pivot
 * about as many numbers as there are nonzeros. doc/simplex.md has the measurements behind the shares and the limit. */
static gpuopt_simplex_method gpuopt__simplex_choose_method(const gpuopt_context *context,
                                                           const gpuopt__simplex_options *d, int64_t nonzeros) {
    const double cells = (double)d->matrix.rows * d->matrix.cols, share = context->desc.backend->simplex->tableau_from;
    const int dense = (double)nonzeros >= 0.1 * cells, rather = (double)nonzeros >= share * cells && cells <= 5e8;
    if (d->method_wanted != GPUOPT_METHOD_AUTO) return d->method_wanted;
    return d->group || (cells > 0 && (dense || rather)) ? GPUOPT_METHOD_TABLEAU : GPUOPT_METHOD_REVISED;
}

/* Fills d, which is all zero, from the descriptor and the defaults. Does not read the entries of a sparse matrix. */
static gpuopt_status gpuopt__simplex_check(const gpuopt_context *context, const char *call,
                                           const gpuopt_simplex_desc *desc, gpuopt__simplex_options *d,
                                           int64_t *nonzeros) {
    gpuopt_simplex_desc own;
    gpuopt_status status;
    memset(&own, 0, sizeof own);
    status = GPUOPT__CHECK_STRUCT(context, call, context->desc.backend->simplex, gpuopt_simplex_desc, desc, &own);
    if (status) return status;
    d->group = own.group; /* its ranks must agree on errors */
    if (own.matrix.rows < 0 || own.matrix.cols < 0)
        return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "rows or cols is negative");
    status = gpuopt__simplex_take_options(context, call, &own, d);
    if (status) return status;
    if ((int64_t)d->matrix.rows + d->matrix.cols + d->spare_rows + d->spare_cols > INT32_MAX - 64)
        return gpuopt__refuse(context, GPUOPT_ERROR_UNSUPPORTED, call, "rows + cols is above 2^31 - 65");
    if (d->matrix.rows > 1 << 28 || d->spare_rows > (1 << 28) - d->matrix.rows)
        return gpuopt__refuse(context, GPUOPT_ERROR_UNSUPPORTED, call, "rows is above 2^28");
    if (d->group && (d->method_wanted == GPUOPT_METHOD_REVISED || d->algorithm == GPUOPT_ALGORITHM_DUAL))
        return gpuopt__refuse(context, GPUOPT_ERROR_UNSUPPORTED, call,
                              "a group shares a TABLEAU that the PRIMAL method works on, nothing else yet");
    if (d->group && (d->spare_rows > 0 || d->spare_cols > 0 || d->spare_nonzeros > 0))
        return gpuopt__refuse(context, GPUOPT_ERROR_UNSUPPORTED, call,
                              "a tableau that a group shares has no spare rows and columns yet");
    if (!status && !d->matrix.start) status = gpuopt__simplex_check_dense(context, call, d, nonzeros);
    if (!status && d->matrix.start) status = gpuopt__check_matrix_shape(context, call, &d->matrix);
    if (!status && d->matrix.start) *nonzeros = d->matrix.start[gpuopt__matrix_lines(&d->matrix)];
    if (status) return status;
    if (d->group) d->algorithm = GPUOPT_ALGORITHM_PRIMAL;
    status = gpuopt__check_finite(context, call, "cost", d->matrix.cols, d->cost);
    if (!status) status = gpuopt__check_finite(context, call, "offset", 1, &d->offset);
    if (!status)
        status = gpuopt__check_pairs(context, call, "lhs", "rhs", d->matrix.rows, d->lhs, d->rhs, d->infinity, 0);
    if (!status) status = gpuopt__check_pairs(context, call, "lb", "ub", d->matrix.cols, d->lb, d->ub, d->infinity, 1);
    return status;
}

#endif /* GPUOPT_IMPL_SIMPLEX_MODEL_CHECK_H */
