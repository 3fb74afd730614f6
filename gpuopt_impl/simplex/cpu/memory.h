/* SPDX-License-Identifier: MIT
 *
 * The simplex engine of the CPU: its memory, create and destroy.
 */
#ifndef GPUOPT_IMPL_SIMPLEX_CPU_MEMORY_H
#define GPUOPT_IMPL_SIMPLEX_CPU_MEMORY_H

#include "engine.h"

/* Cuts the arrays that every engine owns, even if it shares the model with another engine. */
static void gpuopt__simplex_cpu_cut_own(gpuopt__arena *arena, const gpuopt__simplex_shape *shape,
                                        gpuopt__simplex_cpu *s) {
    s->revised = shape->method == GPUOPT_METHOD_REVISED;
    gpuopt__simplex_split_cut(arena, shape, 2 * sizeof(double), &s->split);
    gpuopt__deferred_cut(arena, &s->inverse, shape->rows, s->revised ? 0 : s->split.end - s->split.first,
                         s->revised ? 0 : shape->deferred_pivots);
    gpuopt__simplex_sparse_cut(arena, s->revised ? shape->rows : 0, shape->deferred_pivots, &s->sparse);
    s->alpha = (double *)gpuopt__cut(arena, shape->rows, sizeof(double));
    s->row = (double *)gpuopt__cut(arena, shape->cols, sizeof(double));
    s->combined = (double *)gpuopt__cut(arena, shape->cols, sizeof(double));
    s->rho = (double *)gpuopt__cut(arena, shape->rows, sizeof(double));
    s->multiplier = (double *)gpuopt__cut(arena, shape->rows + 8 * (int64_t)shape->deferred_pivots, sizeof(double));
    s->changed = (int32_t *)gpuopt__cut(arena, shape->rows, sizeof(int32_t));
    s->by_col = (double *)gpuopt__cut(arena, shape->cols, sizeof(double));
    s->sums = (gpuopt__simplex_sum *)gpuopt__cut(arena, shape->rows > shape->cols ? shape->rows : shape->cols,
                                                 sizeof(gpuopt__simplex_sum));
    s->dual_weight = (double *)gpuopt__cut(arena, shape->rows, sizeof(double));
    s->tau = (double *)gpuopt__cut(arena, shape->rows, sizeof(double));
    s->moved = (double *)gpuopt__cut(arena, shape->rows, sizeof(double));
    s->norm = (double *)gpuopt__cut(arena, (int64_t)shape->rows + shape->cols, sizeof(double));
    s->list = (int32_t *)gpuopt__cut(arena, shape->cols, sizeof(int32_t));
    s->refused = (uint8_t *)gpuopt__cut(arena, shape->rows, 1);
}

static void gpuopt__simplex_cpu_cut(gpuopt__arena *arena, const gpuopt__simplex_shape *shape, gpuopt__simplex_cpu *s) {
    s->col_start = (int64_t *)gpuopt__cut(arena, (int64_t)shape->cols + 1, sizeof(int64_t));
    s->row_start = (int64_t *)gpuopt__cut(arena, (int64_t)shape->rows + 1, sizeof(int64_t));
    s->col_row = (int32_t *)gpuopt__cut(arena, shape->nonzeros, sizeof(int32_t));
    s->row_col = (int32_t *)gpuopt__cut(arena, shape->nonzeros, sizeof(int32_t));
    s->col_val = (double *)gpuopt__cut(arena, shape->nonzeros, sizeof(double));
    s->row_val = (double *)gpuopt__cut(arena, shape->nonzeros, sizeof(double));
    gpuopt__simplex_cpu_cut_own(arena, shape, s);
}

static gpuopt_status gpuopt__simplex_cpu_plan(gpuopt_context *context, gpuopt__simplex_shape *shape,
                                              gpuopt_memory_plan *plan) {
    gpuopt__arena arena = {NULL, 0};
    gpuopt__simplex_cpu draft;
    (void)context;
    if (shape->method == GPUOPT_METHOD_REVISED) {
        if (shape->deferred_pivots == 0) shape->deferred_pivots = GPUOPT__SIMPLEX_CPU_PIVOTS;
        plan->host_bytes += gpuopt__simplex_factor_bytes(
            shape->rows, gpuopt__simplex_factor_capacity(shape->rows, shape->cols, shape->nonzeros));
    }
    if (shape->method == GPUOPT_METHOD_TABLEAU && shape->pricing == GPUOPT_PRICING_STEEPEST_EDGE)
        shape->deferred_pivots = 1;
    if (shape->deferred_pivots == 0) shape->deferred_pivots = 16; /* rows * 16 doubles fit into a core's cache */
    gpuopt__cut(&arena, 1, sizeof draft);
    gpuopt__simplex_cpu_cut(&arena, shape, &draft);
    plan->host_bytes += arena.used;
    return GPUOPT_OK;
}

/* Stores the caller's matrix by columns, and chooses scales. The arrays by rows, not yet in use, hold the sample. */
static void gpuopt__simplex_cpu_take(gpuopt__simplex_cpu *s, gpuopt__simplex_lp *lp, int *moderate) {
    gpuopt__simplex_sample sample = {s->row_col, s->row_val};
    int64_t e, strange = 0;
    gpuopt__simplex_fill_columns(s->desc, s->col_start, s->col_row, s->col_val);
    for (e = 0; e < lp->nonzeros; e++) strange += !gpuopt__simplex_moderate(s->col_val[e]);
    *moderate = strange == 0;
    if (s->desc->scaling == GPUOPT_OFF) {
        gpuopt__simplex_no_scales(lp);
        return;
    }
    gpuopt__simplex_gather_sample(lp, s->col_start, s->col_row, s->col_val, &sample);
    gpuopt__simplex_choose_scales(lp, s->col_start, &sample, s->alpha, s->rho);
}

static gpuopt_status gpuopt__simplex_cpu_scale(void *engine) {
    gpuopt__simplex_cpu *s = (gpuopt__simplex_cpu *)engine;
    const gpuopt__simplex_lp *lp = s->lp;
    int32_t i, j;
    int64_t e;
    gpuopt__simplex_fill_rows(s->desc, s->col_start, s->col_row, s->col_val, s->row_start, s->row_col, s->row_val);
    s->desc = NULL;
    for (j = 0; j < lp->cols; j++)
        for (e = s->col_start[j]; e < s->col_start[j + 1]; e++)
            s->col_val[e] *= lp->row_scale[s->col_row[e]] * lp->col_scale[j];
    for (i = 0; i < lp->rows; i++)
        for (e = s->row_start[i]; e < s->row_start[i + 1]; e++)
            s->row_val[e] *= lp->row_scale[i] * lp->col_scale[s->row_col[e]];
    return GPUOPT_OK;
}

static gpuopt_status gpuopt__simplex_cpu_pattern(void *engine, gpuopt__simplex_pattern *pattern) {
    const gpuopt__simplex_cpu *s = (const gpuopt__simplex_cpu *)engine;
    gpuopt__simplex_pattern own = {s->col_start, s->row_start, s->col_row, s->row_col};
    *pattern = own;
    return GPUOPT_OK;
}

static gpuopt_status gpuopt__simplex_cpu_create(gpuopt_context *context, const gpuopt__simplex_shape *shape,
                                                const gpuopt__simplex_options *desc, gpuopt__simplex_lp *lp,
                                                gpuopt__simplex_vectors *v, int *moderate, void **engine) {
    gpuopt__simplex_shape same = *shape;
    gpuopt_memory_plan plan;
    gpuopt__arena arena = {NULL, 0};
    gpuopt__simplex_cpu *s, draft;
    void *memory;
    gpuopt_status status;
    memset(&plan, 0, sizeof plan);
    gpuopt__simplex_cpu_plan(context, &same, &plan);
    gpuopt__cut(&arena, 1, sizeof draft);
    gpuopt__simplex_cpu_cut(&arena, &same, &draft);
    status = gpuopt__allocate(context, GPUOPT_HOST, arena.used, &memory);
    if (status) return status;
    arena.base = (char *)memory;
    arena.used = 0;
    s = (gpuopt__simplex_cpu *)gpuopt__cut(&arena, 1, sizeof *s);
    memset(s, 0, sizeof *s);
    gpuopt__simplex_cpu_cut(&arena, &same, s);
    s->sparse.context = context;
    s->sparse.factor = &s->sparse.own;
    s->sparse.slack = 1;
    if (s->revised)
        status = gpuopt__simplex_sparse_reserve(context, &s->sparse, lp->rows,
                                                gpuopt__simplex_factor_capacity(same.rows, same.cols, same.nonzeros));
    if (status) {
        gpuopt__release(context, GPUOPT_HOST, memory);
        return status;
    }
    s->split.group = desc->group;
    s->lp = lp;
    s->v = v;
    s->inverse.rows = lp->rows;
    if (s->split.ranks == 1) s->split.cols = s->split.end = lp->cols; /* shape includes the spare columns */
    s->inverse.cols = s->revised ? 0 : s->split.end - s->split.first;
    s->desc = desc;
    s->threads = context->desc.threads;
    s->context = context;
    s->version = 1;
    memset(s->norm, 0, sizeof(double) * ((size_t)shape->rows + (size_t)shape->cols));
    gpuopt__simplex_cpu_take(s, lp, moderate);
    *engine = s;
    return GPUOPT_OK;
}

static void gpuopt__simplex_cpu_destroy(gpuopt_context *context, void *engine) {
    if (engine) gpuopt__release(context, GPUOPT_HOST, ((gpuopt__simplex_cpu *)engine)->sparse.own.block);
    gpuopt__release(context, GPUOPT_HOST, engine);
}

#endif /* GPUOPT_IMPL_SIMPLEX_CPU_MEMORY_H */
