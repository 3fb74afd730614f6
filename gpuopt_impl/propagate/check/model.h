/* SPDX-License-Identifier: MIT
 *
 * Propagation: checks of a descriptor. Checks that need not read the arrays' numbers come first, for all backends
 * alike. Then the CPU checks the numbers, unless the backend does this itself (see gpuopt__propagator_backend).
 */
#ifndef GPUOPT_IMPL_PROPAGATE_CHECK_MODEL_H
#define GPUOPT_IMPL_PROPAGATE_CHECK_MODEL_H

#include "../backend.h"

static inline gpuopt_status gpuopt__propagator_check_options(const gpuopt_context *context, const char *call,
                                                             const gpuopt_propagator_desc *d,
                                                             const gpuopt_propagator_tolerances *t,
                                                             const gpuopt_spare *spare) {
    const gpuopt__range range[] = {
        {"infinity", d->infinity, 1, HUGE_VAL},
        {"desc->tolerances->feasibility", t->feasibility, 0, 0.1},
        {"desc->tolerances->integrality", t->integrality, 0, 0.49},
        {"desc->tolerances->least_change", t->least_change, 0, 1e9},
        {"desc->tolerances->least_change_relative", t->least_change_relative, 0, 1},
        {"desc->tolerances->huge_value", t->huge_value, 1, 1e100},
        {"round_limit", (double)d->round_limit, 1, INT32_MAX},
        {"trail_capacity", (double)d->trail_capacity, 1, INT32_MAX},
        {"desc->spare->rows", (double)spare->rows, 1, INT32_MAX},
        {"desc->spare->nonzeros", (double)spare->nonzeros, 1, INT32_MAX},
    };
    const gpuopt__choice choice[] = {
        {"precision", (int64_t)d->precision, GPUOPT_PRECISION_FP32},
        {"mode", (int64_t)d->mode, GPUOPT_MODE_GAUSS_SEIDEL},
        {"driver", (int64_t)d->driver, GPUOPT_DRIVER_GRAPH},
        {"marking", (int64_t)d->marking, GPUOPT_OFF},
        {"desc->tolerances->relative_integers", (int64_t)t->relative_integers, GPUOPT_OFF},
    };
    gpuopt_status status = gpuopt__check_choices(context, call, choice, sizeof choice / sizeof *choice);
    if (!status) status = gpuopt__check_ranges(context, call, range, sizeof range / sizeof *range);
    if (!status && spare->cols != 0)
        return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call,
                              "desc->spare->cols is not 0: a propagator has no spare columns");
    if (!status && d->mode == GPUOPT_MODE_GAUSS_SEIDEL && d->marking == GPUOPT_OFF)
        return gpuopt__refuse(context, GPUOPT_ERROR_UNSUPPORTED, call, "GAUSS_SEIDEL needs marking");
    if (!status && (d->trail_capacity > 0 || spare->rows > 0) && d->marking == GPUOPT_OFF)
        return gpuopt__refuse(context, GPUOPT_ERROR_UNSUPPORTED, call, "a trail and spare rows need marking");
    return status;
}

/* The rules without the members that gpuopt__propagator_rules_derive() adds. */
static inline void gpuopt__propagator_fill_rules(gpuopt__propagator_rules *rules, const gpuopt_propagator_desc *d,
                                                 const gpuopt_propagator_tolerances *t) {
    rules->infinity = d->infinity > 0 ? d->infinity : 1e20;
    rules->feasibility = t->feasibility > 0 ? t->feasibility : 1e-6;
    rules->integrality = t->integrality > 0 ? t->integrality : 1e-6;
    rules->least_change = t->least_change > 0 ? t->least_change : 1e-9;
    rules->least_change_relative = t->least_change_relative;
    rules->relative_integers = t->relative_integers != GPUOPT_OFF;
    rules->huge = t->huge_value > 0 ? t->huge_value : 1e100;
    rules->single = d->precision == GPUOPT_PRECISION_FP32;
}

/* Fills model from the caller's descriptor, with the defaults filled in, and checks all but the numbers in its arrays;
 * matrix.start is checked. */
static inline gpuopt_status gpuopt__propagator_check_desc(gpuopt_context *context, const char *call,
                                                          const gpuopt_propagator_desc *desc,
                                                          gpuopt__propagator_model *model) {
    gpuopt_propagator_desc *d = &model->desc;
    gpuopt_propagator_tolerances tolerances;
    gpuopt_status status;
    memset(model, 0, sizeof *model);
    memset(&tolerances, 0, sizeof tolerances);
    model->call = call;
    status = GPUOPT__CHECK_STRUCT(context, call, context->desc.backend->propagator, gpuopt_propagator_desc, desc, d);
    if (!status) status = GPUOPT__CHECK_PART(context, call, gpuopt_propagator_tolerances, d->tolerances, &tolerances);
    if (!status) status = GPUOPT__CHECK_PART(context, call, gpuopt_spare, d->spare, &model->spare);
    if (!status) status = gpuopt__propagator_check_options(context, call, d, &tolerances, &model->spare);
    if (!status) status = gpuopt__check_matrix_shape(context, call, &d->matrix);
    if (status) return status;
    if ((int64_t)d->matrix.rows + model->spare.rows > INT32_MAX - 64)
        return gpuopt__refuse(context, GPUOPT_ERROR_UNSUPPORTED, call,
                              "matrix.rows + desc->spare->rows is above 2^31 - 65");
    model->nonzeros = d->matrix.start[gpuopt__matrix_lines(&d->matrix)];
    gpuopt__propagator_fill_rules(&model->rules, d, &tolerances);
    return GPUOPT_OK;
}

/* The least and the greatest size of a coefficient. */
static inline double gpuopt__propagator_least_value(const gpuopt__propagator_model *model) {
    return model->rules.single ? FLT_MIN : GPUOPT__LEAST_DOUBLE;
}
static inline double gpuopt__propagator_most_value(const gpuopt__propagator_model *model) {
    return model->rules.single ? FLT_MAX : DBL_MAX;
}

/* The last part of the checks, after it is known whether single precision represents every coefficient and whether any
 * column is integer. */
static inline void gpuopt__propagator_numbers_known(gpuopt__propagator_model *model, int val_single, int any_integer) {
    model->numbers_known = 1;
    model->val_single = val_single;
    gpuopt__propagator_rules_derive(&model->rules, any_integer);
}

/* Bytes of host memory that gpuopt__propagator_check_numbers allocates and releases. */
static inline uint64_t gpuopt__propagator_check_bytes(const gpuopt_matrix *matrix) {
    return sizeof(int32_t) * ((uint64_t)gpuopt__matrix_width(matrix) + 1);
}

/* Checks the numbers in the arrays of a model on the CPU side, and tidies the matrix. After any return value,
 * gpuopt__propagator_model_end() must follow. */
static inline gpuopt_status gpuopt__propagator_check_numbers(gpuopt_context *context, gpuopt__propagator_model *model) {
    gpuopt_propagator_desc *d = &model->desc;
    const char *call = model->call;
    double infinity = model->rules.infinity;
    int32_t j;
    int val_single, any_integer = 0;
    void *seen;
    gpuopt_status status = gpuopt__allocate(context, GPUOPT_HOST, gpuopt__propagator_check_bytes(&d->matrix), &seen);
    if (status) return status;
    status = gpuopt__tidy_matrix(context, call, &d->matrix, gpuopt__propagator_least_value(model),
                                 gpuopt__propagator_most_value(model), (int32_t *)seen, &val_single, &model->tidied);
    gpuopt__release(context, GPUOPT_HOST, seen);
    d->matrix = model->tidied.matrix;
    if (!status) status = gpuopt__check_pairs(context, call, "lhs", "rhs", d->matrix.rows, d->lhs, d->rhs, infinity, 0);
    if (!status) status = gpuopt__check_pairs(context, call, "lb", "ub", d->matrix.cols, d->lb, d->ub, infinity, 1);
    if (status) return status;
    for (j = 0; j < d->matrix.cols && !any_integer; j++) any_integer = d->integer && d->integer[j];
    model->nonzeros = d->matrix.start[gpuopt__matrix_lines(&d->matrix)];
    gpuopt__propagator_numbers_known(model, val_single, any_integer);
    return GPUOPT_OK;
}

/* Brings the matrix of a checked model into rows. After any return value, gpuopt__propagator_model_end() must
 * follow. */
static inline gpuopt_status gpuopt__propagator_to_rows(gpuopt_context *context, gpuopt__propagator_model *model) {
    gpuopt_matrix given = model->desc.matrix;
    return gpuopt__matrix_in(context, &given, GPUOPT_LAYOUT_CSR, &model->desc.matrix, &model->transposed);
}

/* Whether the backend's create receives the model in the caller's form. */
static inline int gpuopt__propagator_leaves_numbers(const gpuopt_context *context,
                                                    const gpuopt__propagator_model *model) {
    int (*checks)(const gpuopt__propagator_model *) = context->desc.backend->propagator->checks_numbers;
    return checks && checks(model);
}

static inline void gpuopt__propagator_model_end(gpuopt_context *context, gpuopt__propagator_model *model) {
    gpuopt__release(context, GPUOPT_HOST, model->transposed);
    model->transposed = NULL;
    gpuopt__tidied_release(context, &model->tidied);
}

/* Logs a warning of the changes to the numbers of the caller's matrix. */
static inline void gpuopt__propagator_warn(gpuopt_context *context, const gpuopt__propagator_model *model) {
    gpuopt__warn_of_tidied(context, model->call, &model->tidied);
    if (model->numbers_known && model->rules.single && !model->val_single)
        gpuopt__log(context, 1, "%s: FP32 rounds coefficients that single precision cannot hold", model->call);
}

#endif /* GPUOPT_IMPL_PROPAGATE_CHECK_MODEL_H */
