/* SPDX-License-Identifier: MIT
 *
 * The simplex engine of the CPU: its inverse is kept while another one is made, and comes back.
 */
#ifndef GPUOPT_IMPL_SIMPLEX_CPU_KEEP_H
#define GPUOPT_IMPL_SIMPLEX_CPU_KEEP_H

#include "cpu.h"

/* What of the inverse is kept: the matrix, and the columns of U and rows of V in use; then the dual method's weights. */
typedef struct gpuopt__simplex_cpu_kept {
    int32_t count, weighs;
} gpuopt__simplex_cpu_kept;

static uint64_t gpuopt__simplex_cpu_kept_bytes(const void *engine) {
    const gpuopt__deferred *d = &((const gpuopt__simplex_cpu *)engine)->inverse;
    uint64_t rows = (uint64_t)d->rows, cols = (uint64_t)d->cols, count = (uint64_t)d->count;
    return sizeof(gpuopt__simplex_cpu_kept) + sizeof(double) * (rows * cols + (rows + cols) * count + rows);
}

/* Copies between the engine and what is kept, one way or the other. */
static char *gpuopt__simplex_cpu_copy_kept(char *kept, double *own, int64_t count, int back) {
    size_t bytes = sizeof(double) * (size_t)count;
    if (back) memcpy(own, kept, bytes);
    else memcpy(kept, own, bytes);
    return kept + bytes;
}

static void gpuopt__simplex_cpu_copy_all_kept(gpuopt__simplex_cpu *s, char *kept, int back) {
    const gpuopt__deferred *d = &s->inverse;
    kept = gpuopt__simplex_cpu_copy_kept(kept, d->matrix, (int64_t)d->rows * d->cols, back);
    kept = gpuopt__simplex_cpu_copy_kept(kept, d->u, (int64_t)d->rows * d->count, back);
    kept = gpuopt__simplex_cpu_copy_kept(kept, d->v, (int64_t)d->cols * d->count, back);
    gpuopt__simplex_cpu_copy_kept(kept, s->dual_weight, d->rows, back);
}

static gpuopt_status gpuopt__simplex_cpu_keep(void *engine, void *kept) {
    gpuopt__simplex_cpu *s = (gpuopt__simplex_cpu *)engine;
    gpuopt__simplex_cpu_kept now = {s->inverse.count, s->weighs};
    memcpy(kept, &now, sizeof now);
    gpuopt__simplex_cpu_copy_all_kept(s, (char *)kept + sizeof now, 0);
    return GPUOPT_OK;
}

static gpuopt_status gpuopt__simplex_cpu_bring_back(void *engine, const void *kept) {
    gpuopt__simplex_cpu *s = (gpuopt__simplex_cpu *)engine;
    gpuopt__simplex_cpu_kept then;
    memcpy(&then, kept, sizeof then);
    s->inverse.count = then.count;
    s->weighs = then.weighs;
    s->version++;
    gpuopt__simplex_cpu_copy_all_kept(s, (char *)(uintptr_t)kept + sizeof then, 1);
    return GPUOPT_OK;
}

#endif /* GPUOPT_IMPL_SIMPLEX_CPU_KEEP_H */
