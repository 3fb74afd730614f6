/* SPDX-License-Identifier: MIT
 *
 * Reads and sets bases; reads solutions and certificates. Arrays in device memory pass through the handle's staging
 * array.
 */
#ifndef GPUOPT_IMPL_SIMPLEX_API_BASIS_AND_SOLUTION_H
#define GPUOPT_IMPL_SIMPLEX_API_BASIS_AND_SOLUTION_H

#include "handle.h"

/* Checks `where`, and that an array is not NULL. */
static gpuopt_status gpuopt__simplex_check_array(const gpuopt_simplex *s, const char *call, gpuopt_memory_space where,
                                                 const char *name, const void *array) {
    const gpuopt_status status = gpuopt__check_where(s->context, call, where);
    if (status || array) return status;
    gpuopt__log(s->context, 0, "%s: %s is NULL", call, name);
    return GPUOPT_ERROR_ARGUMENT;
}

/* ---- Basis ---- */

static gpuopt_status gpuopt__simplex_get_basis(gpuopt_simplex *simplex, const char *call, gpuopt_memory_space where,
                                               uint8_t *status) {
    gpuopt_status result = gpuopt__simplex_check_array(simplex, call, where, "status", status);
    uint8_t *staging;
    int32_t j, both;
    if (!result) result = gpuopt__simplex_pull(simplex);
    if (result) return result;
    staging = (uint8_t *)simplex->staging;
    both = simplex->lp.cols + simplex->lp.rows;
    for (j = 0; j < both; j++)
        staging[j] = j < simplex->lp.cols ? simplex->status[j] : gpuopt__simplex_mirrored(simplex->status[j]);
    return gpuopt__deliver(simplex->context, where, status, staging, (uint64_t)both);
}

GPUOPT_API gpuopt_status gpuopt_simplex_get_basis(gpuopt_simplex *simplex, gpuopt_memory_space where, uint8_t *status) {
    GPUOPT__SIMPLEX_CALL(gpuopt__simplex_get_basis(simplex, call, where, status), where, status != NULL);
}

static gpuopt_status gpuopt__simplex_check_basis(const gpuopt_simplex *s, const char *call, const uint8_t *status) {
    int32_t j, basic = 0;
    for (j = 0; j < s->lp.cols + s->lp.rows; j++) {
        if (status[j] > GPUOPT_VARIABLE_AT_ZERO) {
            gpuopt__log(s->context, 0, "%s: status[%d] = %d is not a constant of its enum", call, (int)j,
                        (int)status[j]);
            return GPUOPT_ERROR_ARGUMENT;
        }
        basic += status[j] == GPUOPT_VARIABLE_BASIC;
    }
    if (basic == s->lp.rows) return GPUOPT_OK;
    gpuopt__log(s->context, 0, "%s: %d variables are basic, not %d", call, (int)basic, (int)s->lp.rows);
    return GPUOPT_ERROR_ARGUMENT;
}

/* A copy of the handle and its engine from before a basis is set, in temporary host memory. */
typedef struct gpuopt__simplex_kept {
    char *handle, *engine; /* one block */
    uint64_t handle_bytes;
} gpuopt__simplex_kept;

static gpuopt_status gpuopt__simplex_keep(gpuopt_simplex *s, const char *call, gpuopt__simplex_kept *kept) {
    const gpuopt__simplex_backend *backend = gpuopt__simplex_backend_of(s);
    gpuopt_simplex measured = *s;
    gpuopt__arena arena = {NULL, 0};
    gpuopt_status status;
    void *memory;
    gpuopt__cut(&arena, 1, sizeof measured);
    gpuopt__simplex_cut(&arena, &measured);
    status = gpuopt__allocate(s->context, GPUOPT_HOST, arena.used + backend->kept_bytes(s->engine), &memory);
    if (!status) kept->handle = (char *)memory;
    status = gpuopt__simplex_all_could(s, call, status);
    if (status) return status;
    kept->engine = kept->handle + arena.used;
    kept->handle_bytes = arena.used;
    memcpy(kept->handle, s, (size_t)kept->handle_bytes);
    return backend->keep(s->engine, kept->engine);
}

static gpuopt_status gpuopt__simplex_restore(gpuopt_simplex *s, const gpuopt__simplex_kept *kept) {
    const gpuopt__simplex_backend *backend = gpuopt__simplex_backend_of(s);
    gpuopt_status status;
    memcpy(s, kept->handle, (size_t)kept->handle_bytes);
    status = backend->restore(s->engine, kept->engine);
    return status ? status : backend->push(s->engine);
}

/* The status of the scaled variable j; AT_ZERO stands for AT_LOWER if the variable is not free. */
static uint8_t gpuopt__simplex_given_status(const gpuopt_simplex *s, int32_t j, uint8_t wanted) {
    const uint8_t given = wanted == GPUOPT_VARIABLE_AT_ZERO ? (uint8_t)GPUOPT_VARIABLE_AT_LOWER : wanted;
    return j < s->lp.cols ? given : gpuopt__simplex_mirrored(given);
}

static void gpuopt__simplex_take_statuses(gpuopt_simplex *s, const uint8_t *wanted) {
    int32_t j;
    for (j = 0; j < s->lp.cols + s->lp.rows; j++) s->status[j] = gpuopt__simplex_given_status(s, j, wanted[j]);
}

/* Makes `wanted`, already checked, the present basis unless it is singular. */
static gpuopt_status gpuopt__simplex_change_basis(gpuopt_simplex *s, const char *call, const uint8_t *wanted,
                                                  const gpuopt__simplex_kept *kept) {
    int32_t singular = 0;
    gpuopt_status status;
    gpuopt__simplex_take_statuses(s, wanted);
    status = gpuopt__simplex_reinvert(s, &singular);
    if (status == GPUOPT_ERROR_MEMORY) gpuopt__simplex_restore(s, kept);
    if (status) return status;
    if (singular == 0) return gpuopt__simplex_rebase(s);
    gpuopt__log(s->context, 0, "%s: singular: column %d depends on the other basic variables", call,
                (int)s->refactoring.order[0]);
    status = gpuopt__simplex_restore(s, kept);
    return status ? status : GPUOPT_ERROR_NUMERIC;
}

/* ---- From one basis to another by pivots ---- */

/* The entering and leaving variables, by slot and position, and their part of B^-1 N. */
typedef struct gpuopt__simplex_exchange {
    int32_t count;
    int32_t *slot, *position; /* [count] */
    double *part;             /* [count][count] by columns */
} gpuopt__simplex_exchange;

/* Whether `wanted` makes the variable basic. */
static int gpuopt__simplex_wants(const uint8_t *wanted, int32_t variable) {
    return wanted[variable] == GPUOPT_VARIABLE_BASIC;
}

/* The number of variables to enter; -1: a load is cheaper, or the inverse is stale. */
static int32_t gpuopt__simplex_count_exchange(const gpuopt_simplex *s, const uint8_t *wanted) {
    int32_t j, columns = 0, count = 0;
    for (j = 0; j < s->lp.cols; j++) columns += gpuopt__simplex_wants(wanted, j);
    for (j = 0; j < s->lp.cols; j++) count += gpuopt__simplex_wants(wanted, s->v.slot[j]);
    if (count == 0) return s->stale == GPUOPT__SIMPLEX_STALE_INVERSE ? -1 : 0;
    return s->stale == GPUOPT__SIMPLEX_STALE_INVERSE || 2 * count > columns ? -1 : count;
}

/* Eliminates with the largest pivot of each column. Whether the wanted basis is far from singular: then the pivots that
 * lead to the basis are the pivots of this elimination, and none is small. The order of columns does not matter. */
static int gpuopt__simplex_is_regular(const gpuopt__simplex_exchange *e, const double *largest) {
    int32_t i, j, k, n = e->count;
    for (k = 0; k < n; k++) {
        double *column = e->part + (int64_t)k * n, factor;
        int32_t p = k;
        for (i = k + 1; i < n; i++)
            if (fabs(column[i]) > fabs(column[p])) p = i;
        if (!(fabs(column[p]) > 1e-5) || !(fabs(column[p]) > 1e-6 * largest[k])) return 0;
        for (j = 0; j < n; j++) {
            double *other = e->part + (int64_t)j * n, kept = other[k];
            other[k] = other[p];
            other[p] = kept;
        }
        for (j = k + 1; j < n; j++) {
            double *other = e->part + (int64_t)j * n;
            factor = other[k] / column[k];
            for (i = k + 1; i < n && factor != 0; i++) other[i] -= factor * column[i];
        }
    }
    return 1;
}

/* Fills e, and returns whether pivots suffice. Nothing changes. */
static gpuopt_status gpuopt__simplex_plan_exchange(gpuopt_simplex *s, const uint8_t *wanted,
                                                   gpuopt__simplex_exchange *e, int *regular) {
    int32_t i, j, k, entering = 0, leaving = 0, n = e->count;
    gpuopt_status status = GPUOPT_OK;
    for (j = 0; j < s->lp.cols; j++)
        if (gpuopt__simplex_wants(wanted, s->v.slot[j])) e->slot[entering++] = j;
    for (i = 0; i < s->lp.rows; i++)
        if (!gpuopt__simplex_wants(wanted, s->v.head[i])) e->position[leaving++] = i;
    for (k = 0; k < n && !status; k++) {
        status = gpuopt__simplex_backend_of(s)->column(s->engine, e->slot[k], s->by_row);
        for (i = 0; i < n; i++) e->part[(int64_t)k * n + i] = s->by_row[e->position[i]];
        s->scratch[k] = gpuopt__simplex_largest(s->lp.rows, s->by_row);
    }
    *regular = !status && gpuopt__simplex_is_regular(e, s->scratch);
    return status;
}

/* Does the pivots. *done is 0 if one was refused; the basis is then an intermediate one. */
static gpuopt_status gpuopt__simplex_do_exchange(gpuopt_simplex *s, const gpuopt__simplex_exchange *e, int *done) {
    int32_t i, k;
    gpuopt_status status;
    for (i = 0; i < s->lp.rows; i++) s->refactoring.open[i] = 0;
    for (k = 0; k < e->count; k++) s->refactoring.open[e->position[k]] = 1, s->refactoring.wanted[k] = -1;
    status = gpuopt__simplex_backend_of(s)->exchange(s->engine, e->count, e->slot, s->refactoring.wanted, 1e-9,
                                                     s->refactoring.open, s->refactoring.position);
    *done = !status;
    for (k = 0; k < e->count && !status; k++) {
        int32_t p = s->refactoring.position[k], entered = s->v.slot[e->slot[k]];
        if (p < 0) *done = 0;
        else s->v.slot[e->slot[k]] = s->v.head[p], s->v.head[p] = entered;
    }
    return status;
}

/* Pivots from the present to the wanted basis, if this is safe and cheaper than a load. *done: whether it did. */
static gpuopt_status gpuopt__simplex_by_pivots(gpuopt_simplex *s, const char *call, const uint8_t *wanted, int *done) {
    gpuopt__simplex_exchange e = {gpuopt__simplex_count_exchange(s, wanted), NULL, NULL, NULL};
    int64_t n = e.count;
    int regular;
    gpuopt_status status, could;
    void *memory, *memory_of_slots;
    *done = e.count == 0;
    if (e.count <= 0) return GPUOPT_OK;
    status = gpuopt__allocate(s->context, GPUOPT_HOST,
                              (sizeof(double) * (uint64_t)n + 2 * sizeof(int32_t)) * (uint64_t)n, &memory);
    could = gpuopt__simplex_all_could(s, call, status);
    if (could && !status) gpuopt__release(s->context, GPUOPT_HOST, memory);
    if (could) return could;
    e.part = (double *)memory;
    memory_of_slots = e.part + n * n;
    e.slot = (int32_t *)memory_of_slots;
    e.position = e.slot + n;
    status = gpuopt__simplex_plan_exchange(s, wanted, &e, &regular);
    if (!status && regular) {
        status = gpuopt__simplex_do_exchange(s, &e, done);
        if (!*done)
            s->stale = GPUOPT__SIMPLEX_STALE_INVERSE; /* status still holds the old basis, which can be inverted */
    }
    gpuopt__release(s->context, GPUOPT_HOST, memory);
    return status;
}

static gpuopt_status gpuopt__simplex_set_basis(gpuopt_simplex *simplex, const char *call, gpuopt_memory_space where,
                                               const uint8_t *status) {
    gpuopt_status result = gpuopt__simplex_check_array(simplex, call, where, "status", status);
    gpuopt__simplex_kept kept = {NULL, NULL, 0};
    const void *wanted;
    int done = 0;
    if (result) return result;
    result = gpuopt__fetch(simplex->context, where, status, (uint64_t)(simplex->lp.cols + simplex->lp.rows),
                           simplex->staging, &wanted);
    if (!result) result = gpuopt__simplex_check_basis(simplex, call, (const uint8_t *)wanted);
    if (!result) result = gpuopt__simplex_pull(simplex);
    if (!result) result = gpuopt__simplex_by_pivots(simplex, call, (const uint8_t *)wanted, &done);
    if (!result && done) {
        gpuopt__simplex_take_statuses(simplex, (const uint8_t *)wanted);
        return gpuopt__simplex_rebase(simplex);
    }
    if (!result) result = gpuopt__simplex_keep(simplex, call, &kept);
    if (!result) result = gpuopt__simplex_change_basis(simplex, call, (const uint8_t *)wanted, &kept);
    gpuopt__release(simplex->context, GPUOPT_HOST, kept.handle);
    return result;
}

GPUOPT_API gpuopt_status gpuopt_simplex_set_basis(gpuopt_simplex *simplex, gpuopt_memory_space where,
                                                  const uint8_t *status) {
    GPUOPT__SIMPLEX_CALL(gpuopt__simplex_set_basis(simplex, call, where, status), where,
                         gpuopt__simplex_array_fingerprint(where, status, (int64_t)simplex->lp.cols + simplex->lp.rows,
                                                           sizeof(uint8_t)));
}

/* ---- Solution ---- */

/* Whether one of the values for the next function overflows double precision. */
static int gpuopt__simplex_overflows(const gpuopt_simplex *s, const double *wanted, int32_t count,
                                     double (*value)(const gpuopt_simplex *, int32_t)) {
    int32_t k;
    for (k = 0; wanted && k < count; k++)
        if (!(fabs(value(s, k)) < HUGE_VAL)) return 1;
    return 0;
}

/* Delivers `count` values of x, reduced costs, activities or duals, each computed by `value`. */
static gpuopt_status gpuopt__simplex_deliver(gpuopt_simplex *s, gpuopt_memory_space where, double *wanted,
                                             int32_t count, double (*value)(const gpuopt_simplex *, int32_t)) {
    int32_t k;
    for (k = 0; wanted && k < count; k++) s->staging[k] = value(s, k);
    return gpuopt__deliver(s->context, where, wanted, s->staging, sizeof(double) * (uint64_t)count);
}

static double gpuopt__simplex_x_of(const gpuopt_simplex *s, int32_t col) {
    return gpuopt__simplex_unscaled_x(s, col, s->x[col]);
}

static double gpuopt__simplex_reduced_cost_of(const gpuopt_simplex *s, int32_t col) {
    double sign = s->desc.maximize ? -1 : 1;
    if (s->status[col] == GPUOPT_VARIABLE_BASIC) return 0;
    return sign * gpuopt__simplex_unscaled_reduced_cost(s, col, s->shown.reduced[col]);
}

static double gpuopt__simplex_activity_of(const gpuopt_simplex *s, int32_t row) {
    return gpuopt__simplex_unscaled_activity(s, row, s->x[s->lp.cols + row], s->residual[row]);
}

static double gpuopt__simplex_dual_of(const gpuopt_simplex *s, int32_t row) {
    double sign = s->desc.maximize ? -1 : 1;
    if (s->status[s->lp.cols + row] == GPUOPT_VARIABLE_BASIC) return 0;
    return sign * gpuopt__simplex_unscaled_dual(s, row, s->shown.y[row]);
}

/* Makes the point fresh. If wanted, also the duals of the caller's objective, which phase 1 does not keep. */
static gpuopt_status gpuopt__simplex_fresh_to_solve(gpuopt_simplex *s, int duals) {
    gpuopt_status status = gpuopt__simplex_fresh_to_read(s);
    double noise;
    int good;
    s->shown = gpuopt__simplex_present_duals(s);
    if (status || s->phase != 1 || !duals) return status;
    s->shown.y = s->dual;
    s->shown.y_low = s->dual_low;
    s->shown.reduced = s->scratch;
    return gpuopt__simplex_solve_duals(s, s->shown, s->cost, 0, &good, &noise);
}

static double gpuopt__simplex_x_low_of(const gpuopt_simplex *s, int32_t col) {
    return gpuopt__simplex_unscaled_x(s, col, s->x_low[col]);
}

static double gpuopt__simplex_dual_low_of(const gpuopt_simplex *s, int32_t row) {
    double sign = s->desc.maximize ? -1 : 1;
    if (s->status[s->lp.cols + row] == GPUOPT_VARIABLE_BASIC) return 0;
    return sign * gpuopt__simplex_unscaled_dual(s, row, s->shown.y_low[row]);
}

static gpuopt_status gpuopt__simplex_get_solution(gpuopt_simplex *s, const char *call, gpuopt_memory_space where,
                                                  const gpuopt_simplex_solution *solution) {
    gpuopt_simplex_solution to;
    const int32_t rows = s->lp.rows, cols = s->lp.cols;
    int duals;
    gpuopt_status status;
    memset(&to, 0, sizeof to);
    if (!GPUOPT__COPY_IN(s->context, call, gpuopt_simplex_solution, &to, solution)) return GPUOPT_ERROR_ARGUMENT;
    duals = to.reduced_cost || to.dual || to.dual_low;
    status = gpuopt__check_where(s->context, call, where);
    if (!status) status = gpuopt__simplex_fresh_to_solve(s, duals);
    if (!status && (gpuopt__simplex_overflows(s, to.x, cols, gpuopt__simplex_x_of) ||
                    gpuopt__simplex_overflows(s, to.reduced_cost, cols, gpuopt__simplex_reduced_cost_of) ||
                    gpuopt__simplex_overflows(s, to.activity, rows, gpuopt__simplex_activity_of) ||
                    gpuopt__simplex_overflows(s, to.dual, rows, gpuopt__simplex_dual_of)))
        return gpuopt__simplex_overflowed(s, "a number of the solution");
    if (!status) status = gpuopt__simplex_deliver(s, where, to.x, cols, gpuopt__simplex_x_of);
    if (!status) status = gpuopt__simplex_deliver(s, where, to.reduced_cost, cols, gpuopt__simplex_reduced_cost_of);
    if (!status) status = gpuopt__simplex_deliver(s, where, to.activity, rows, gpuopt__simplex_activity_of);
    if (!status) status = gpuopt__simplex_deliver(s, where, to.dual, rows, gpuopt__simplex_dual_of);
    if (!status) status = gpuopt__simplex_deliver(s, where, to.x_low, cols, gpuopt__simplex_x_low_of);
    if (!status) status = gpuopt__simplex_deliver(s, where, to.dual_low, rows, gpuopt__simplex_dual_low_of);
    return status;
}

GPUOPT_API gpuopt_status gpuopt_simplex_get_solution(gpuopt_simplex *simplex, gpuopt_memory_space where,
                                                     const gpuopt_simplex_solution *solution) {
    GPUOPT__SIMPLEX_CALL(gpuopt__simplex_get_solution(simplex, call, where, solution), where,
                         gpuopt__simplex_solution_fingerprint(solution));
}

/* ---- Certificates ---- */

/* to NULL: does nothing. */
static gpuopt_status gpuopt__simplex_deliver_vector(gpuopt_simplex *s, gpuopt_memory_space where, double *to,
                                                    int32_t count, const double *from) {
    return to ? gpuopt__deliver(s->context, where, to, from, sizeof(double) * (uint64_t)count) : GPUOPT_OK;
}

static gpuopt_status gpuopt__simplex_get_proof(gpuopt_simplex *s, const char *call, gpuopt_memory_space where,
                                               const gpuopt_simplex_proof *proof) {
    gpuopt_simplex_proof to;
    gpuopt_status status;
    memset(&to, 0, sizeof to);
    if (!GPUOPT__COPY_IN(s->context, call, gpuopt_simplex_proof, &to, proof)) return GPUOPT_ERROR_ARGUMENT;
    status = gpuopt__check_where(s->context, call, where);
    if (!status && (to.farkas || to.farkas_low) && s->verdict != GPUOPT_INFEASIBLE)
        status = gpuopt__refuse(s->context, GPUOPT_ERROR_STATE, call, "the outcome is not INFEASIBLE");
    if (!status && (to.ray || to.ray_low) && s->verdict != GPUOPT_UNBOUNDED)
        status = gpuopt__refuse(s->context, GPUOPT_ERROR_STATE, call, "the outcome is not UNBOUNDED");
    if (!status) status = gpuopt__simplex_deliver_vector(s, where, to.farkas, s->lp.rows, s->farkas);
    if (!status) status = gpuopt__simplex_deliver_vector(s, where, to.farkas_low, s->lp.rows, s->farkas_low);
    if (!status) status = gpuopt__simplex_deliver_vector(s, where, to.ray, s->lp.cols, s->ray);
    if (!status) status = gpuopt__simplex_deliver_vector(s, where, to.ray_low, s->lp.cols, s->ray_low);
    return status;
}

GPUOPT_API gpuopt_status gpuopt_simplex_get_proof(gpuopt_simplex *simplex, gpuopt_memory_space where,
                                                  const gpuopt_simplex_proof *proof) {
    GPUOPT__CALL(simplex, simplex->context, gpuopt__simplex_get_proof(simplex, call, where, proof));
}

#endif /* GPUOPT_IMPL_SIMPLEX_API_BASIS_AND_SOLUTION_H */
