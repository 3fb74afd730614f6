/* SPDX-License-Identifier: MIT
 *
 * Handles of a group: their calls first compare what the ranks were given. So all ranks refuse what one of them would
 * refuse, and all take the same path.
 */
#ifndef GPUOPT_IMPL_SIMPLEX_RANKS_AGREE_H
#define GPUOPT_IMPL_SIMPLEX_RANKS_AGREE_H

#include "../../common/matrix.h"
#include "../../common/ranks.h"
#include "../model/handle.h"
#include "column_split.h"

/* ---- What a rank was given ---- */

/* The hash of an array. The array may be NULL. A negative count: there is no array. */
static int64_t gpuopt__simplex_array_fingerprint(gpuopt_memory_space where, const void *array, int64_t count,
                                                 size_t size) {
    const uint64_t bytes = array && where == GPUOPT_HOST && count > 0 ? (uint64_t)count * size : 0;
    return (int64_t)gpuopt__hash(GPUOPT__HASH_START + (array != NULL), (const unsigned char *)array, bytes);
}

/* Whether the caller passed an info. Filling it pulls the engine's vectors to the handle. */
static int64_t gpuopt__simplex_info_fingerprint(const gpuopt_simplex_info *info) {
    return !info ? 0 : GPUOPT__HAS_SIZE(NULL, NULL, gpuopt_simplex_info, info) ? 1 : 2;
}

/* The arrays of a solution that the caller wants. */
static int64_t gpuopt__simplex_solution_fingerprint(const gpuopt_simplex_solution *solution) {
    gpuopt_simplex_solution to;
    memset(&to, 0, sizeof to);
    if (!GPUOPT__COPY_IN(NULL, NULL, gpuopt_simplex_solution, &to, solution)) return -1;
    return (to.x != NULL) | (to.reduced_cost != NULL) << 1 | (to.activity != NULL) << 2 | (to.dual != NULL) << 3 |
           (to.x_low != NULL) << 4 | (to.dual_low != NULL) << 5;
}

/* The hash of a change: of the lines in `index` (NULL: all `lines`), and of their one or two values. A list that is too
 * long is not read: the call refuses it. */
static int64_t gpuopt__simplex_change_fingerprint(gpuopt_memory_space where, const int32_t *index, int64_t count,
                                                  int32_t lines, const double *low, const double *high) {
    const int64_t listed = !index && count == 0 ? lines : count <= lines ? count : -1;
    const int64_t whole[] = {gpuopt__simplex_array_fingerprint(where, index, listed, sizeof *index),
                             gpuopt__simplex_array_fingerprint(where, low, listed, sizeof *low),
                             gpuopt__simplex_array_fingerprint(where, high, listed, sizeof *high)};
    return (int64_t)gpuopt__hash(GPUOPT__HASH_START, (const unsigned char *)whole, sizeof whole);
}

/* The hash of a checked descriptor, with its arrays. */
static uint64_t gpuopt__simplex_desc_fingerprint(const gpuopt_simplex *s) {
    const gpuopt__simplex_options *d = &s->desc;
    const gpuopt_matrix *m = &d->matrix;
    const int64_t rows = m->rows, cols = m->cols, nonzeros = m->start ? s->lp.nonzeros : 0;
    const double number[] = {d->offset, d->infinity, d->primal_tolerance, d->dual_tolerance, d->pivot_tolerance};
    const char *backend = gpuopt_backend_name(s->context->desc.backend);
    const int64_t whole[] = {
        rows,
        cols,
        s->lp.nonzeros,
        (int64_t)m->layout,
        d->maximize != 0,
        (int64_t)d->pricing,
        (int64_t)d->ratio,
        (int64_t)d->scaling,
        (int64_t)d->perturbation,
        (int64_t)d->seed,
        s->shape.deferred_pivots,
        d->rebuild_pivots,
        d->iteration_limit,
        gpuopt__simplex_array_fingerprint(GPUOPT_HOST, m->start, m->start ? gpuopt__matrix_lines(m) + 1 : 0,
                                          sizeof(int64_t)),
        gpuopt__simplex_array_fingerprint(GPUOPT_HOST, m->index, nonzeros, sizeof(int32_t)),
        gpuopt__simplex_array_fingerprint(GPUOPT_HOST, m->value, nonzeros, sizeof(double)),
        gpuopt__simplex_array_fingerprint(GPUOPT_HOST, d->dense, m->start ? 0 : rows * cols, sizeof(double)),
        gpuopt__simplex_array_fingerprint(GPUOPT_HOST, d->cost, cols, sizeof(double)),
        gpuopt__simplex_array_fingerprint(GPUOPT_HOST, d->lhs, rows, sizeof(double)),
        gpuopt__simplex_array_fingerprint(GPUOPT_HOST, d->rhs, rows, sizeof(double)),
        gpuopt__simplex_array_fingerprint(GPUOPT_HOST, d->lb, cols, sizeof(double)),
        gpuopt__simplex_array_fingerprint(GPUOPT_HOST, d->ub, cols, sizeof(double)),
        gpuopt__simplex_array_fingerprint(GPUOPT_HOST, number, sizeof number / sizeof *number, sizeof(double)),
        gpuopt__simplex_array_fingerprint(GPUOPT_HOST, backend, (int64_t)strlen(backend), 1)};
    return gpuopt__hash(GPUOPT__HASH_START, (const unsigned char *)whole, sizeof whole);
}

/* Adds the scales to a hash. They depend on the C library's logarithm. */
static uint64_t gpuopt__simplex_scales_fingerprint(const gpuopt_simplex *s, uint64_t hash) {
    const double both[] = {s->primal_scale, s->cost_scale};
    hash = gpuopt__hash(hash, (const unsigned char *)both, sizeof both);
    hash = gpuopt__hash(hash, (const unsigned char *)s->lp.row_scale, sizeof(double) * (size_t)s->lp.rows);
    return gpuopt__hash(hash, (const unsigned char *)s->lp.col_scale, sizeof(double) * (size_t)s->lp.cols);
}

/* ---- Agreeing ---- */

/* Checks that all ranks make the call `name` of one handle, and were given the same data now and before. */
static gpuopt_status gpuopt__simplex_agree(gpuopt_simplex *s, const char *name, const int64_t *data, size_t bytes) {
    const int64_t at[] = {s->iterations, s->rebuilds, (int64_t)s->verdict};
    uint64_t hash = gpuopt__hash(s->fingerprint, (const unsigned char *)name, strlen(name));
    gpuopt_status status;
    hash = gpuopt__hash(hash, (const unsigned char *)at, sizeof at);
    hash = gpuopt__hash(hash, (const unsigned char *)data, bytes);
    status = gpuopt_group_agree(s->desc.group, &hash, sizeof hash);
    if (!status) s->fingerprint = hash;
    return status;
}

/* The body of a public call on `simplex`, see common/entry.h. With a group, the work follows if all ranks make the call
 * with these numbers equal. */
#define GPUOPT__SIMPLEX_CALL(work, ...)                                                          \
    if (!simplex) return GPUOPT_ERROR_ARGUMENT;                                                  \
    GPUOPT__CALL_ENTERS(simplex->context, NULL, NULL);                                           \
    if (simplex->desc.group) {                                                                   \
        const int64_t gpuopt_given[] = {__VA_ARGS__};                                            \
        gpuopt_result = gpuopt__simplex_agree(simplex, call, gpuopt_given, sizeof gpuopt_given); \
    }                                                                                            \
    if (!gpuopt_result) gpuopt_result = work;                                                    \
    GPUOPT__CALL_LEAVES()

/* Ends the creation of a handle from a draft, which had this status on this rank: returns the same status on all
 * ranks. */
static gpuopt_status gpuopt__simplex_agree_made(const gpuopt_simplex *draft, const char *call, gpuopt_status status,
                                                gpuopt_simplex *s) {
    if (!draft->desc.group) return status;
    if (!status) s->fingerprint = gpuopt__simplex_scales_fingerprint(s, gpuopt__simplex_desc_fingerprint(draft));
    return gpuopt__ranks_agree(draft->context, draft->desc.group, call, status, status ? 0 : s->fingerprint);
}

/* Turns the failure of one rank into a failure of all. For steps during a call that may fail on one rank alone, such as
 * an allocation. */
static gpuopt_status gpuopt__simplex_all_could(const gpuopt_simplex *s, const char *name, gpuopt_status status) {
    return gpuopt__ranks_agree(s->context, s->desc.group, name, status, 0);
}

/* The calls with which ranks that share a tableau exchange data. */
static const gpuopt__simplex_exchanges gpuopt__simplex_exchanges_of_group = {
    gpuopt_group_all_gather, gpuopt_group_broadcast,  gpuopt_group_send,
    gpuopt_group_receive,    gpuopt_group_all_reduce, gpuopt_group_abort};

/* Gives a shape its place in a group. */
static void gpuopt__simplex_join(gpuopt__simplex_shape *shape, const gpuopt_group_info *ranks) {
    shape->rank = ranks->rank;
    shape->ranks = ranks->count;
    shape->exchanges = &gpuopt__simplex_exchanges_of_group;
    shape->time_limit = ranks->time_limit;
    shape->columns = ranks->device_memory ? GPUOPT_DEVICE : GPUOPT_HOST;
}

/* Whether the caller asks on any rank to stop. */
static gpuopt_status gpuopt__simplex_asked_to_stop(const gpuopt_simplex *s, int *stop) {
    int64_t any = gpuopt__asked_to_stop(s->context);
    gpuopt_status status = GPUOPT_OK;
    if (s->desc.group) status = gpuopt_group_all_reduce(s->desc.group, GPUOPT_REDUCE_MAX, 1, &any, NULL);
    *stop = any != 0;
    return status;
}

#endif /* GPUOPT_IMPL_SIMPLEX_RANKS_AGREE_H */
