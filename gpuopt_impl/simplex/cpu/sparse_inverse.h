/* SPDX-License-Identifier: MIT
 *
 * The basis inverse of the CPU's REVISED: factors, and up to K pivots after them; then new factors are made. create
 * takes memory for factors with some fill. If they need more, it is doubled through the context's allocator. Children
 * of a batch use the root's factors, and have their own pivots and, if necessary, their own factors.
 */
#ifndef GPUOPT_IMPL_SIMPLEX_CPU_SPARSE_INVERSE_H
#define GPUOPT_IMPL_SIMPLEX_CPU_SPARSE_INVERSE_H

#include "../factor/make.h"

typedef struct gpuopt__simplex_sparse {
    const gpuopt_context *context; /* source of memory; NULL: this thread must not allocate now */
    gpuopt__simplex_factor own;
    const gpuopt__simplex_factor *factor; /* own factors, or another engine's */
    gpuopt__simplex_etas etas;
    double *scratch;  /* [most] */
    int32_t *head;    /* [most] scratch */
    int32_t most;     /* capacity for rows */
    int lost;         /* there are no factors of the present basis */
    int slack;        /* the basis is the slack basis */
    int lacks_memory; /* factors did not fit, and memory could not be allocated */
} gpuopt__simplex_sparse;

/* ---- Life ---- */

/* Cuts everything except the factors. most 0: for an engine without a sparse inverse. */
static void gpuopt__simplex_sparse_cut(gpuopt__arena *arena, int32_t most, int32_t pivots, gpuopt__simplex_sparse *s) {
    s->most = most;
    gpuopt__simplex_etas_cut(arena, most, most > 0 ? pivots : 0, &s->etas);
    s->scratch = (double *)gpuopt__cut(arena, most, sizeof(double));
    s->head = (int32_t *)gpuopt__cut(arena, most, sizeof(int32_t));
}

/* Moves own factors, of the slack basis, to another block, unless memory is lacking. */
static gpuopt_status gpuopt__simplex_sparse_reserve(const gpuopt_context *context, gpuopt__simplex_sparse *s,
                                                    int32_t rows, int64_t capacity) {
    gpuopt__arena arena = {NULL, 0};
    void *memory;
    gpuopt_status status =
        gpuopt__allocate(context, GPUOPT_HOST, gpuopt__simplex_factor_bytes(s->most, capacity), &memory);
    if (status) return status;
    gpuopt__release(context, GPUOPT_HOST, s->own.block);
    s->own.block = memory;
    arena.base = (char *)memory;
    gpuopt__simplex_factor_cut(&arena, s->most, capacity, &s->own);
    gpuopt__simplex_factor_unit(&s->own, rows);
    return GPUOPT_OK;
}

/* ---- Products ---- */

static void gpuopt__simplex_sparse_ftran(const gpuopt__simplex_sparse *s, double *x) {
    gpuopt__simplex_factor_ftran(s->factor, x, s->scratch);
    gpuopt__simplex_etas_ftran(&s->etas, x);
}

static void gpuopt__simplex_sparse_btran(const gpuopt__simplex_sparse *s, double *y) {
    gpuopt__simplex_etas_btran(&s->etas, y);
    gpuopt__simplex_factor_btran(s->factor, y, s->scratch);
}

/* ---- Factors ---- */

static void gpuopt__simplex_sparse_reset(gpuopt__simplex_sparse *s, int32_t rows) {
    gpuopt__simplex_factor_unit(&s->own, rows);
    s->factor = &s->own;
    s->etas.count = 0;
    s->lost = 0;
    s->slack = 1;
}

/* Makes own factors of the basis, see gpuopt__simplex_factor_make. MEMORY: there are no factors now. */
static gpuopt_status gpuopt__simplex_sparse_make(gpuopt__simplex_sparse *s, int32_t rows,
                                                 const gpuopt__simplex_factor_basis *b, double least, int by_rows,
                                                 int32_t *singular) {
    s->factor = &s->own;
    s->etas.count = 0;
    s->slack = 0;
    s->lost = 1;
    for (;;) {
        gpuopt_status status;
        s->own.rows = rows;
        *singular = gpuopt__simplex_factor_make(&s->own, b, least, by_rows, s->head);
        if (*singular >= 0) break;
        s->lacks_memory = !s->context;
        if (s->lacks_memory) return GPUOPT_ERROR_MEMORY;
        status = gpuopt__simplex_sparse_reserve(s->context, s, rows, 2 * s->own.capacity);
        if (status) return status;
    }
    s->lost = 0;
    return GPUOPT_OK;
}

/* Whether no further pivot fits after the factors. */
static int gpuopt__simplex_sparse_full(const gpuopt__simplex_sparse *s) { return s->etas.count == s->etas.most; }

static void gpuopt__simplex_sparse_add(gpuopt__simplex_sparse *s, int32_t rows, const double *alpha, int32_t position) {
    gpuopt__simplex_etas_add(&s->etas, rows, alpha, position);
    s->slack = 0;
}

#endif /* GPUOPT_IMPL_SIMPLEX_CPU_SPARSE_INVERSE_H */
