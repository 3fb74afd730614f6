/* SPDX-License-Identifier: MIT
 *
 * Propagation: the public calls of a tree search. They check their arguments here, once for all backends.
 */
#ifndef GPUOPT_IMPL_PROPAGATE_API_TREE_H
#define GPUOPT_IMPL_PROPAGATE_API_TREE_H

#include "handle.h"

static gpuopt_status gpuopt__propagator_check_trail(const gpuopt_propagator *propagator, const char *call) {
    if (propagator->trail_capacity > 0) return GPUOPT_OK;
    return gpuopt__refuse(propagator->context, GPUOPT_ERROR_STATE, call, "the propagator was created without a trail");
}

static gpuopt_status gpuopt__propagator_push(gpuopt_propagator *propagator, const char *call, int64_t *start) {
    gpuopt_status status = gpuopt__propagator_check_trail(propagator, call);
    return status ? status : gpuopt__propagator_of(propagator)->push(propagator, start);
}

GPUOPT_API gpuopt_status gpuopt_propagator_push(gpuopt_propagator *propagator, int64_t *start) {
    GPUOPT__CALL(propagator, propagator->context, gpuopt__propagator_push(propagator, call, start));
}

static gpuopt_status gpuopt__propagator_pop(gpuopt_propagator *propagator, const char *call, int32_t levels) {
    gpuopt_status status = gpuopt__propagator_check_trail(propagator, call);
    if (status) return status;
    if (levels < 0) return gpuopt__refuse(propagator->context, GPUOPT_ERROR_ARGUMENT, call, "levels is negative");
    propagator->version++;
    return gpuopt__propagator_of(propagator)->pop(propagator, levels);
}

GPUOPT_API gpuopt_status gpuopt_propagator_pop(gpuopt_propagator *propagator, int32_t levels) {
    GPUOPT__CALL(propagator, propagator->context, gpuopt__propagator_pop(propagator, call, levels));
}

static gpuopt_status gpuopt__propagator_commit(gpuopt_propagator *propagator, const char *call) {
    gpuopt_status status = gpuopt__propagator_check_trail(propagator, call);
    return status ? status : gpuopt__propagator_of(propagator)->keep(propagator);
}

GPUOPT_API gpuopt_status gpuopt_propagator_commit(gpuopt_propagator *propagator) {
    GPUOPT__CALL(propagator, propagator->context, gpuopt__propagator_commit(propagator, call));
}

GPUOPT_API gpuopt_status gpuopt_propagator_get_trail(gpuopt_propagator *propagator, gpuopt_propagator_trail *trail) {
    GPUOPT__CALL_FILLS(propagator, propagator->context, gpuopt_propagator_trail, trail,
                       propagator->trail_capacity == 0
                           ? GPUOPT_OK
                           : gpuopt__propagator_of(propagator)->get_trail(propagator, &filled));
}

static gpuopt_status gpuopt__propagator_get_changes(gpuopt_propagator *propagator, const char *call,
                                                    gpuopt_memory_space where, int64_t from,
                                                    gpuopt_propagator_changes *changes) {
    gpuopt_propagator_changes wanted;
    gpuopt_status status = gpuopt__propagator_check_trail(propagator, call);
    if (status) return status;
    memset(&wanted, 0, sizeof wanted);
    if (!GPUOPT__COPY_IN(propagator->context, call, gpuopt_propagator_changes, &wanted, changes))
        return GPUOPT_ERROR_ARGUMENT;
    if (from < 0 || wanted.capacity < 0)
        return gpuopt__refuse(propagator->context, GPUOPT_ERROR_ARGUMENT, call,
                              from < 0 ? "from is negative" : "capacity is negative");
    status = gpuopt__check_where(propagator->context, call, where);
    if (!status) status = gpuopt__propagator_of(propagator)->get_changes(propagator, where, from, &wanted);
    if (!status) gpuopt__copy_out(changes, changes->struct_size, &wanted, sizeof wanted);
    return status;
}

GPUOPT_API gpuopt_status gpuopt_propagator_get_changes(gpuopt_propagator *propagator, gpuopt_memory_space where,
                                                       int64_t from, gpuopt_propagator_changes *changes) {
    GPUOPT__CALL(propagator, propagator->context,
                 gpuopt__propagator_get_changes(propagator, call, where, from, changes));
}

static gpuopt_status gpuopt__propagator_get_reason(gpuopt_propagator *propagator, const char *call, int64_t change,
                                                   gpuopt_propagator_reason *reason) {
    gpuopt_propagator_reason wanted;
    gpuopt_status status = gpuopt__propagator_check_trail(propagator, call);
    if (status) return status;
    memset(&wanted, 0, sizeof wanted);
    if (!GPUOPT__COPY_IN(propagator->context, call, gpuopt_propagator_reason, &wanted, reason))
        return GPUOPT_ERROR_ARGUMENT;
    if (change < -1 || wanted.capacity < 0)
        return gpuopt__refuse(propagator->context, GPUOPT_ERROR_ARGUMENT, call,
                              change < -1 ? "change is less than -1" : "capacity is negative");
    status = gpuopt__propagator_of(propagator)->explain(propagator, change, &wanted);
    if (!status) gpuopt__copy_out(reason, reason->struct_size, &wanted, sizeof wanted);
    return status;
}

GPUOPT_API gpuopt_status gpuopt_propagator_explain(gpuopt_propagator *propagator, int64_t change,
                                                   gpuopt_propagator_reason *reason) {
    GPUOPT__CALL(propagator, propagator->context, gpuopt__propagator_get_reason(propagator, call, change, reason));
}

/* ---- Rows ---- */

/* Checks rows to add and brings them into rows. After any return value, end *tidied and release *transposed. */
static gpuopt_status gpuopt__propagator_check_added(const gpuopt_propagator *propagator, const char *call,
                                                    const gpuopt_matrix *rows, const double *lhs, const double *rhs,
                                                    gpuopt__tidied *tidied, gpuopt_matrix *by_rows, void **transposed) {
    gpuopt_context *context = propagator->context;
    const gpuopt__propagator_rules *rules = &propagator->rules;
    gpuopt_status status = gpuopt__check_matrix_shape(context, call, rows);
    if (status) return status;
    if (rows->rows > propagator->spare_rows)
        return gpuopt__refuse(context, GPUOPT_ERROR_MEMORY, call, "more rows than desc->spare->rows");
    if (rows->cols != propagator->cols)
        return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "the rows have another number of columns");
    if (rows->rows == 0) return GPUOPT_OK;
    status = gpuopt__tidy_matrix(context, call, rows, rules->single ? FLT_MIN : GPUOPT__LEAST_DOUBLE,
                                 rules->single ? FLT_MAX : DBL_MAX, propagator->seen, NULL, tidied);
    if (!status) status = gpuopt__check_pairs(context, call, "lhs", "rhs", rows->rows, lhs, rhs, rules->infinity, 0);
    if (!status) status = gpuopt__matrix_in(context, &tidied->matrix, GPUOPT_LAYOUT_CSR, by_rows, transposed);
    return status;
}

static gpuopt_status gpuopt__propagator_add_rows(gpuopt_propagator *propagator, const char *call,
                                                 const gpuopt_matrix *rows, const double *lhs, const double *rhs,
                                                 int32_t *row) {
    gpuopt__tidied tidied;
    gpuopt_matrix by_rows;
    void *transposed = NULL;
    gpuopt_status status;
    if (!rows) return gpuopt__refuse(propagator->context, GPUOPT_ERROR_ARGUMENT, call, "rows is NULL");
    memset(&tidied, 0, sizeof tidied);
    status = gpuopt__propagator_check_added(propagator, call, rows, lhs, rhs, &tidied, &by_rows, &transposed);
    if (!status && rows->rows > 0) {
        propagator->version++;
        status = gpuopt__propagator_of(propagator)->add_rows(propagator, &by_rows, lhs, rhs, row);
    }
    gpuopt__release(propagator->context, GPUOPT_HOST, transposed);
    gpuopt__tidied_end(propagator->context, call, &tidied);
    return status;
}

GPUOPT_API gpuopt_status gpuopt_propagator_add_rows(gpuopt_propagator *propagator, const gpuopt_matrix *rows,
                                                    const double *lhs, const double *rhs, int32_t *row) {
    GPUOPT__CALL(propagator, propagator->context, gpuopt__propagator_add_rows(propagator, call, rows, lhs, rhs, row));
}

static gpuopt_status gpuopt__propagator_remove_rows(gpuopt_propagator *propagator, const char *call, int64_t count,
                                                    const int32_t *row) {
    gpuopt_status status;
    if (count < 0 || (count > 0 && !row))
        return gpuopt__refuse(propagator->context, GPUOPT_ERROR_ARGUMENT, call, "row is NULL or count negative");
    status = gpuopt__propagator_check_rows(propagator, call, count, row, 1);
    if (status || count == 0) return status;
    propagator->version++;
    return gpuopt__propagator_of(propagator)->remove_rows(propagator, count, row);
}

GPUOPT_API gpuopt_status gpuopt_propagator_remove_rows(gpuopt_propagator *propagator, int64_t count,
                                                       const int32_t *row) {
    GPUOPT__CALL(propagator, propagator->context, gpuopt__propagator_remove_rows(propagator, call, count, row));
}

/* ---- Forks ---- */

static gpuopt_status gpuopt__propagator_check_fork(const gpuopt_propagator *original, const gpuopt_context *context,
                                                   const char *call, int wanted) {
    if (!wanted) return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "there is nowhere to write the result");
    if (context->desc.backend != original->context->desc.backend ||
        context->desc.device != original->context->desc.device)
        return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call,
                              "the context's backend or device is not the original's");
    return GPUOPT_OK;
}

/* Plans the clone, or makes it if plan is NULL. The call is in the clone's context, and enters the original's, too. */
static gpuopt_status gpuopt__propagator_clone(gpuopt_propagator *original, const char *call, gpuopt_context *context,
                                              gpuopt_memory_plan *plan, gpuopt_propagator **fork) {
    gpuopt__entry entry;
    gpuopt_status status = gpuopt__propagator_check_fork(original, context, call, plan || fork);
    if (!status) status = gpuopt__enter(&entry, original->context, call, NULL, NULL);
    if (status) return status;
    status = plan ? gpuopt__propagator_of(original)->plan_fork(original, plan)
                  : gpuopt__propagator_of(original)->fork(original, context, fork);
    gpuopt__leave(&entry);
    return status;
}

GPUOPT_API gpuopt_status gpuopt_propagator_clone(gpuopt_propagator *original, gpuopt_context *context,
                                                 gpuopt_memory_plan *plan, gpuopt_propagator **fork) {
    GPUOPT__CALL_CREATES(gpuopt_propagator, original && context, context, plan,
                         gpuopt__propagator_clone(original, call, context, &planned, NULL), fork,
                         gpuopt__propagator_clone(original, call, context, NULL, fork));
}

#endif /* GPUOPT_IMPL_PROPAGATE_API_TREE_H */
