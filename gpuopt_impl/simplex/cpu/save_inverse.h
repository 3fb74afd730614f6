/* SPDX-License-Identifier: MIT
 *
 * The simplex engine of the CPU: saves and restores its inverse while another inverse is made.
 */
#ifndef GPUOPT_IMPL_SIMPLEX_CPU_SAVE_INVERSE_H
#define GPUOPT_IMPL_SIMPLEX_CPU_SAVE_INVERSE_H

#include "engine.h"

/* The saved parts of the inverse, in an arena. TABLEAU: the matrix, and the columns of U and rows of V in use. REVISED:
 * the factors and the pivots after them. Then the dual method's weights. */
typedef struct gpuopt__simplex_cpu_kept {
    gpuopt__deferred inverse;
    gpuopt__simplex_sparse sparse;
    int weighs;
    double *dual_weight;
    char *factor; /* the first bytes of the factors' block, see gpuopt__simplex_factor_cut */
    uint64_t factor_bytes;
} gpuopt__simplex_cpu_kept;

/* Cuts the memory to save the engine in its present state. The struct comes first. */
static void gpuopt__simplex_cpu_cut_kept(gpuopt__arena *arena, const gpuopt__simplex_cpu *s,
                                         gpuopt__simplex_cpu_kept *kept) {
    const gpuopt__deferred *d = &s->inverse;
    gpuopt__arena block = {NULL, 0};
    gpuopt__simplex_factor f;
    kept->inverse = *d;
    kept->sparse = s->sparse;
    kept->weighs = s->weighs;
    gpuopt__cut(arena, 1, sizeof *kept);
    gpuopt__deferred_cut(arena, &kept->inverse, d->rows, d->cols, d->count);
    gpuopt__simplex_etas_cut(arena, s->revised ? s->lp->rows : 0, s->sparse.etas.count, &kept->sparse.etas);
    kept->dual_weight = (double *)gpuopt__cut(arena, s->lp->rows, sizeof(double));
    kept->factor_bytes =
        s->revised ? gpuopt__simplex_factor_cut(&block, s->sparse.most, s->sparse.own.capacity, &f) : 0;
    kept->factor = (char *)gpuopt__cut(arena, (int64_t)kept->factor_bytes, 1);
}

static uint64_t gpuopt__simplex_cpu_kept_bytes(const void *engine) {
    gpuopt__arena arena = {NULL, 0};
    gpuopt__simplex_cpu_kept kept;
    gpuopt__simplex_cpu_cut_kept(&arena, (const gpuopt__simplex_cpu *)engine, &kept);
    return arena.used;
}

/* Copies the columns of U, the rows of V and the matrix in use. */
static void gpuopt__simplex_cpu_copy_deferred(gpuopt__deferred *to, const gpuopt__deferred *from) {
    const size_t rows = (size_t)from->rows, cols = (size_t)from->cols, count = (size_t)from->count;
    if (rows * cols > 0) memcpy(to->matrix, from->matrix, sizeof(double) * rows * cols);
    if (rows * count > 0) memcpy(to->u, from->u, sizeof(double) * rows * count);
    if (cols * count > 0) memcpy(to->v, from->v, sizeof(double) * cols * count);
    to->count = from->count;
}

static gpuopt_status gpuopt__simplex_cpu_keep(void *engine, void *memory) {
    const gpuopt__simplex_cpu *s = (const gpuopt__simplex_cpu *)engine;
    gpuopt__arena arena = {(char *)memory, 0};
    gpuopt__simplex_cpu_kept kept;
    gpuopt__simplex_cpu_cut_kept(&arena, s, &kept);
    gpuopt__simplex_cpu_copy_deferred(&kept.inverse, &s->inverse);
    gpuopt__simplex_etas_copy(&kept.sparse.etas, &s->sparse.etas, 0);
    memcpy(kept.dual_weight, s->dual_weight, sizeof(double) * (size_t)s->lp->rows);
    if (kept.factor_bytes > 0) memcpy(kept.factor, s->sparse.own.block, (size_t)kept.factor_bytes);
    memcpy(memory, &kept, sizeof kept);
    return GPUOPT_OK;
}

/* If the factors now have another, larger block, the saved part uses as much of it as before. */
static gpuopt_status gpuopt__simplex_cpu_restore(void *engine, const void *memory) {
    gpuopt__simplex_cpu *s = (gpuopt__simplex_cpu *)engine;
    gpuopt__simplex_cpu_kept kept;
    memcpy(&kept, memory, sizeof kept);
    gpuopt__simplex_cpu_copy_deferred(&s->inverse, &kept.inverse);
    gpuopt__simplex_etas_copy(&s->sparse.etas, &kept.sparse.etas, 0);
    memcpy(s->dual_weight, kept.dual_weight, sizeof(double) * (size_t)s->lp->rows);
    s->weighs = kept.weighs;
    s->version++;
    if (s->revised) {
        gpuopt__arena arena = {(char *)s->sparse.own.block, 0};
        gpuopt__simplex_factor own = kept.sparse.own;
        own.block = s->sparse.own.block;
        gpuopt__simplex_factor_cut(&arena, s->sparse.most, kept.sparse.own.capacity, &own);
        memcpy(own.block, kept.factor, (size_t)kept.factor_bytes);
        s->sparse.own = own;
        s->sparse.factor = &s->sparse.own;
        s->sparse.lost = kept.sparse.lost;
        s->sparse.slack = kept.sparse.slack;
    }
    return GPUOPT_OK;
}

#endif /* GPUOPT_IMPL_SIMPLEX_CPU_SAVE_INVERSE_H */
