/* SPDX-License-Identifier: MIT
 *
 * Propagation on the CPU: bounds, sides and reports in and out, creating and destroying handles, and the backend's
 * table.
 */
#ifndef GPUOPT_IMPL_PROPAGATE_CPU_H
#define GPUOPT_IMPL_PROPAGATE_CPU_H

#include "../common/matrix.h"
#include "cpu_rounds.h"

/* ---- State in and out ---- */

/* After a change by the host: forgets the verdict, and looks for columns whose bounds cross (the rows that led to the
 * verdict are still marked). */
static void gpuopt__propagator_cpu_reopen(gpuopt__propagator_cpu *p, int crossing_possible) {
    int32_t col;
    if (p->infeasible_col >= 0) crossing_possible = 1;
    p->infeasible_row = p->infeasible_col = -1;
    p->rounds_since_set = 0;
    for (col = 0; crossing_possible && col < p->head.cols; col++) {
        double lb, ub;
        GPUOPT__PROPAGATOR_TYPED(p, load_bounds, (p, col, &lb, &ub));
        if (!gpuopt__propagator_crossed(&p->head.rules, lb, ub)) continue;
        p->infeasible_col = col;
        break;
    }
}

static gpuopt_status gpuopt__propagator_cpu_get_bounds(gpuopt_propagator *propagator, gpuopt_memory where,
                                                       int64_t count, const int32_t *col, double *lb, double *ub) {
    const gpuopt__propagator_cpu *p = (const gpuopt__propagator_cpu *)propagator;
    int64_t k;
    (void)where; /* host memory: the public calls refuse any other */
    for (k = 0; k < count; k++) {
        double low, high;
        GPUOPT__PROPAGATOR_TYPED(p, load_bounds, (p, col ? col[k] : (int32_t)k, &low, &high));
        if (lb) lb[k] = gpuopt__propagator_shown_lb(&p->head.rules, gpuopt__propagator_cpu_is_infeasible(p), low, high);
        if (ub) ub[k] = high;
    }
    return GPUOPT_OK;
}

static gpuopt_status gpuopt__propagator_cpu_set_bounds(gpuopt_propagator *propagator, gpuopt_memory where,
                                                       int64_t count, const int32_t *col, const double *lb,
                                                       const double *ub) {
    gpuopt__propagator_cpu *p = (gpuopt__propagator_cpu *)propagator;
    gpuopt__propagator_cpu_batch batch;
    int crossing = 0;
    int64_t k;
    (void)where;
    if (!col) gpuopt__propagator_cpu_mark_all(p);
    batch.count = 0;
    for (k = 0; k < count; k++) {
        int32_t j = col ? col[k] : (int32_t)k;
        double low, high;
        if (GPUOPT__PROPAGATOR_TYPED(p, store_bounds, (p, j, lb ? &lb[k] : NULL, ub ? &ub[k] : NULL)) && !p->all_marked)
            gpuopt__propagator_cpu_mark_column(p, j, &batch);
        GPUOPT__PROPAGATOR_TYPED(p, load_bounds, (p, j, &low, &high));
        crossing |= gpuopt__propagator_crossed(&p->head.rules, low, high);
    }
    gpuopt__propagator_cpu_flush(&batch, p->queue, &p->queued);
    gpuopt__propagator_cpu_reopen(p, crossing);
    return GPUOPT_OK;
}

static gpuopt_status gpuopt__propagator_cpu_set_sides(gpuopt_propagator *propagator, gpuopt_memory where, int64_t count,
                                                      const int32_t *row, const double *lhs, const double *rhs) {
    gpuopt__propagator_cpu *p = (gpuopt__propagator_cpu *)propagator;
    gpuopt__propagator_cpu_batch batch;
    int64_t k;
    (void)where;
    batch.count = 0;
    for (k = 0; k < count; k++) {
        p->lhs[row[k]] = gpuopt__propagator_normal_low(&p->head.rules, lhs[k]);
        p->rhs[row[k]] = gpuopt__propagator_normal_high(&p->head.rules, rhs[k]);
        if (!p->all_marked) gpuopt__propagator_cpu_mark_row(p, row[k], &batch);
    }
    gpuopt__propagator_cpu_flush(&batch, p->queue, &p->queued);
    gpuopt__propagator_cpu_reopen(p, 0);
    return GPUOPT_OK;
}

static gpuopt_status gpuopt__propagator_cpu_get_rows(gpuopt_propagator *propagator, gpuopt_memory where,
                                                     const gpuopt_propagator_row_report *report) {
    const gpuopt__propagator_cpu *p = (const gpuopt__propagator_cpu *)propagator;
    int32_t i;
    (void)where;
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic, 256) num_threads(p->threads) if (p->threads > 1)
#endif
    for (i = 0; i < p->head.rows; i++) {
        gpuopt__propagator_activities s;
        gpuopt__propagator_row row;
        gpuopt__environment_scope scope;
        gpuopt__environment_enter(&scope);
        s = GPUOPT__PROPAGATOR_TYPED(p, row_activities, (p, i));
        row = gpuopt__propagator_row_make(&s, &p->head.rules, p->lhs[i], p->rhs[i], p->start[i + 1] - p->start[i]);
        if (report->min_activity) report->min_activity[i] = gpuopt__first(gpuopt__pair_add(s.hi, s.lo));
        if (report->max_activity) report->max_activity[i] = gpuopt__second(gpuopt__pair_add(s.hi, s.lo));
        if (report->min_infinite) report->min_infinite[i] = gpuopt__propagator_min_infinite(&s);
        if (report->max_infinite) report->max_infinite[i] = gpuopt__propagator_max_infinite(&s);
        if (report->status)
            report->status[i] = (uint8_t)gpuopt__propagator_row_status(
                &s, row.violated && GPUOPT__PROPAGATOR_TYPED(p, row_infeasible, (p, i, &row)), &p->head.rules,
                p->lhs[i], p->rhs[i], p->start[i + 1] - p->start[i]);
        gpuopt__environment_leave(&scope);
    }
    return GPUOPT_OK;
}

/* ---- Create and destroy ---- */

/* Cuts the handle and its arrays out of one block of memory, or measures that block. */
static void gpuopt__propagator_cpu_layout(const gpuopt__propagator_model *model, gpuopt__arena *arena,
                                          gpuopt__propagator_cpu *p) {
    int64_t rows = model->desc.matrix.rows, cols = model->desc.matrix.cols, nonzeros = model->nonzeros;
    size_t real = model->rules.single ? sizeof(float) : sizeof(double);
    int jacobi = model->desc.mode == GPUOPT_MODE_JACOBI, marking = model->desc.marking != GPUOPT_OFF;
    gpuopt__cut(arena, 1, sizeof *p);
    p->start = (int64_t *)gpuopt__cut(arena, rows + 1, sizeof(int64_t));
    p->col = (int32_t *)gpuopt__cut(arena, nonzeros, sizeof(int32_t));
    p->val = gpuopt__cut(arena, nonzeros, real);
    p->lhs = (double *)gpuopt__cut(arena, rows, sizeof(double));
    p->rhs = (double *)gpuopt__cut(arena, rows, sizeof(double));
    p->kind = (uint8_t *)gpuopt__cut(arena, cols, 1);
    p->bounds = gpuopt__cut(arena, 2 * cols, real);
    if (jacobi) p->next = gpuopt__cut(arena, 2 * cols, real);
    if (jacobi) p->changed = (uint32_t *)gpuopt__cut(arena, 2 * cols, sizeof(uint32_t));
    if (!marking) return;
    p->col_start = (int64_t *)gpuopt__cut(arena, cols + 1, sizeof(int64_t));
    p->col_row = (int32_t *)gpuopt__cut(arena, nonzeros, sizeof(int32_t));
    p->marked = (uint8_t *)gpuopt__cut(arena, rows, 1);
    if (jacobi) p->queue = (uint32_t *)gpuopt__cut(arena, rows, sizeof(uint32_t));
}

static gpuopt_status gpuopt__propagator_cpu_plan(gpuopt_context *context, const gpuopt__propagator_model *model,
                                                 gpuopt_memory_plan *plan) {
    gpuopt__arena arena = {NULL, 0};
    gpuopt__propagator_cpu measure;
    (void)context;
    gpuopt__propagator_cpu_layout(model, &arena, &measure);
    plan->host_bytes = arena.used;
    return GPUOPT_OK;
}

static gpuopt_status gpuopt__propagator_cpu_create(gpuopt_context *context, gpuopt__propagator_model *model,
                                                   gpuopt_propagator **propagator) {
    const gpuopt_propagator_desc *desc = &model->desc;
    gpuopt__arena arena = {NULL, 0};
    gpuopt_memory_plan plan;
    gpuopt__propagator_cpu *p;
    void *memory;
    int32_t i, j;
    gpuopt_status status;
    gpuopt__propagator_cpu_plan(context, model, &plan);
    status = gpuopt__allocate(context, GPUOPT_HOST, plan.host_bytes, &memory);
    if (status) return status;
    p = (gpuopt__propagator_cpu *)memory;
    memset(p, 0, sizeof *p);
    arena.base = (char *)memory;
    gpuopt__propagator_cpu_layout(model, &arena, p);
    p->head = gpuopt__propagator_head(context, model);
    p->threads = context->desc.threads;
    p->sequential = desc->mode == GPUOPT_MODE_SEQUENTIAL;
    p->infeasible_row = p->infeasible_col = -1;
    p->info.infeasible_row = p->info.infeasible_col = -1; /* the rest is 0: MORE after no round */
    if (p->sequential) p->threads = 1;
    memcpy(p->start, desc->matrix.start, sizeof(int64_t) * ((size_t)p->head.rows + 1));
    if (model->nonzeros) memcpy(p->col, desc->matrix.index, sizeof(int32_t) * (size_t)model->nonzeros);
    GPUOPT__PROPAGATOR_TYPED(p, store_matrix, (p, desc->matrix.value));
    for (i = 0; i < p->head.rows; i++) {
        p->lhs[i] = desc->lhs ? gpuopt__propagator_normal_low(&p->head.rules, desc->lhs[i]) : -HUGE_VAL;
        p->rhs[i] = desc->rhs ? gpuopt__propagator_normal_high(&p->head.rules, desc->rhs[i]) : HUGE_VAL;
    }
    memset(p->bounds, 0, (model->rules.single ? sizeof(float) : sizeof(double)) * 2 * (size_t)p->head.cols);
    for (j = 0; j < p->head.cols; j++) {
        p->kind[j] = desc->integer && desc->integer[j] ? GPUOPT__PROPAGATOR_INTEGER : 0;
        GPUOPT__PROPAGATOR_TYPED(p, store_bounds, (p, j, &desc->lb[j], &desc->ub[j]));
    }
    if (p->marked)
        gpuopt__transpose(p->head.rows, p->head.cols, p->start, p->col, NULL, p->col_start, p->col_row, NULL, NULL);
    gpuopt__propagator_cpu_mark_all(p);
    gpuopt__propagator_cpu_reopen(p, 1);
    *propagator = &p->head;
    return GPUOPT_OK;
}

static void gpuopt__propagator_cpu_destroy(gpuopt_propagator *propagator) {
    gpuopt__release(propagator->context, GPUOPT_HOST, propagator);
}

static const gpuopt__propagator_backend gpuopt__propagator_cpu_table = {
    gpuopt__propagator_cpu_plan,
    gpuopt__propagator_cpu_create,
    gpuopt__propagator_cpu_destroy,
    gpuopt__propagator_cpu_round,
    gpuopt__propagator_cpu_get_info,
    gpuopt__propagator_cpu_get_bounds,
    gpuopt__propagator_cpu_set_bounds,
    gpuopt__propagator_cpu_set_sides,
    gpuopt__propagator_cpu_get_rows,
    NULL, /* device_view: there is no device memory, and the public call says so */
    NULL,
};

#endif /* GPUOPT_IMPL_PROPAGATE_CPU_H */
