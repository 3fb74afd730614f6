/* SPDX-License-Identifier: MIT
 *
 * Propagation on the CPU: Jacobi rounds over a queue of marked rows, on one or several threads, and sequential sweeps
 * (Algorithm 1 of the paper).
 */
#ifndef GPUOPT_IMPL_PROPAGATE_CPU_H
#define GPUOPT_IMPL_PROPAGATE_CPU_H

#include "backend.h"

typedef struct gpuopt__cpu_propagator {
    gpuopt_propagator head;
    int threads, sequential;
    int64_t *start;     /* [rows + 1] */
    int32_t *col;       /* [nonzeros] */
    void *val;          /* [nonzeros], double or float */
    double *lhs, *rhs;  /* [rows] */
    uint8_t *integer;   /* [cols] */
    void *bounds;       /* [cols][2], double or float: (lb, ub) */
    void *next;         /* the same, written by a Jacobi round; NULL with SEQUENTIAL. Equal to bounds between rounds */
    int64_t *col_start; /* [cols + 1]; NULL without marking, as the next three */
    int32_t *col_row;   /* [nonzeros]: the rows of each column */
    uint8_t *marked;    /* [rows] */
    uint32_t *queue;    /* [rows]: the marked rows; NULL with SEQUENTIAL */
    int64_t queued;
    int all_marked;    /* every row is to be evaluated, whatever the queue holds */
    uint32_t *changed; /* [2 cols]: 2 * col + (1 for ub), for each side that moved in this round */
    int64_t changed_count;
    int32_t rounds_since_set;
    int32_t infeasible_row, infeasible_col; /* the standing verdict; -1: none */
    gpuopt_propagation info;                /* of the last _round */
} gpuopt__cpu_propagator;

/* ---- Lists that several threads append to ---- */

/* A thread's own items for a list, so that it seldom asks for the list's end, which all threads share. */
typedef struct gpuopt__batch {
    uint32_t item[64];
    uint32_t count;
} gpuopt__batch;

static void gpuopt__flush(gpuopt__batch *batch, uint32_t *list, int64_t *length) {
    int64_t at;
#ifdef _OPENMP
    at = __atomic_fetch_add(length, (int64_t)batch->count, __ATOMIC_RELAXED);
#else
    at = *length;
    *length += batch->count;
#endif
    memcpy(list + at, batch->item, sizeof(uint32_t) * batch->count);
    batch->count = 0;
}

static void gpuopt__append(gpuopt__batch *batch, uint32_t item, uint32_t *list, int64_t *length) {
    if (batch->count == sizeof batch->item / sizeof *batch->item) gpuopt__flush(batch, list, length);
    batch->item[batch->count++] = item;
}

/* ---- Marking ---- */

/* Whether it is this call that marks the row. */
static int gpuopt__set_mark(uint8_t *mark, int shared) {
#ifdef _OPENMP
    if (shared) return !__atomic_load_n(mark, __ATOMIC_RELAXED) && !__atomic_exchange_n(mark, 1, __ATOMIC_RELAXED);
#endif
    (void)shared;
    if (*mark) return 0;
    *mark = 1;
    return 1;
}

/* A sequential sweep looks at the marks themselves and needs no queue. */
static void gpuopt__mark_row(gpuopt__cpu_propagator *p, int32_t row, gpuopt__batch *batch) {
    if (gpuopt__set_mark(&p->marked[row], p->threads > 1) && p->queue)
        gpuopt__append(batch, (uint32_t)row, p->queue, &p->queued);
}

static void gpuopt__mark_column(gpuopt__cpu_propagator *p, int32_t col, gpuopt__batch *batch) {
    int64_t k;
    for (k = p->col_start[col]; k < p->col_start[col + 1]; k++) gpuopt__mark_row(p, p->col_row[k], batch);
}

static void gpuopt__mark_all(gpuopt__cpu_propagator *p) {
    p->all_marked = 1;
    p->queued = 0;
    if (p->marked) memset(p->marked, p->sequential, (size_t)p->head.rows);
}

/* Merges the lanes by halves. Those from `used` on are empty, and merging an empty one changes nothing. */
static gpuopt__activities gpuopt__merge_lanes(gpuopt__activities *lane, int lanes, int used) {
    int half, i;
    if (used == 0) return gpuopt__activities_start();
    for (half = lanes / 2; half > 0; half /= 2)
        for (i = 0; i < half && i + half < used; i++) gpuopt__activities_merge(&lane[i], &lane[i + half]);
    return lane[0];
}

#define REAL double
#define NAME(x) x##_double
#include "propagate_cpu_rows.h"
#undef REAL
#undef NAME
#define REAL float
#define NAME(x) x##_float
#include "propagate_cpu_rows.h"
#undef REAL
#undef NAME

/* Calls the function for this handle's storage type. */
#define GPUOPT__TYPED(p, name, arguments) ((p)->head.rules.single ? name##_float arguments : name##_double arguments)

/* ---- Rounds ---- */

static void gpuopt__jacobi_round(gpuopt__cpu_propagator *p) {
    int64_t count = p->all_marked ? p->head.rows : p->queued, k, evaluated = 0, weight = 0;
    int32_t infeasible_row = INT32_MAX, infeasible_col = INT32_MAX;
    int full = p->all_marked, threads = p->threads;
    int chunk = (int)(count / (16 * (int64_t)threads) < 256 ? count / (16 * (int64_t)threads) + 1 : 256);
    p->changed_count = 0;
    (void)chunk;
#ifdef _OPENMP
#pragma omp parallel num_threads(threads) reduction(min : infeasible_row) reduction(+ : evaluated)
#endif
    {
        gpuopt__batch batch;
        batch.count = 0;
#ifdef _OPENMP
#pragma omp for schedule(dynamic, chunk)
#endif
        for (k = 0; k < count; k++) {
            int32_t row = full ? (int32_t)k : (int32_t)p->queue[k];
            if (!full) p->marked[row] = 0;
            evaluated += p->start[row + 1] - p->start[row];
            GPUOPT__TYPED(p, gpuopt__jacobi_row, (p, row, &batch, &infeasible_row));
        }
        gpuopt__flush(&batch, p->changed, &p->changed_count);
    }
    count = p->changed_count;
    p->info.nonzeros += evaluated;
    p->info.changed += count;
#ifdef _OPENMP
#pragma omp parallel for schedule(static) num_threads(threads) reduction(min : infeasible_col) reduction(+ : weight)
#endif
    for (k = 0; k < count; k++) {
        int32_t col = (int32_t)(p->changed[k] >> 1);
        if (GPUOPT__TYPED(p, gpuopt__jacobi_settle, (p, p->changed[k])) && col < infeasible_col) infeasible_col = col;
        if (p->marked) weight += p->col_start[col + 1] - p->col_start[col];
    }
    if (infeasible_row != INT32_MAX) p->infeasible_row = infeasible_row;
    if (infeasible_col != INT32_MAX) p->infeasible_col = infeasible_col;
    p->queued = 0;
    p->all_marked = !p->marked || weight > p->head.nonzeros / 4; /* many marks cost more than they save */
    if (p->all_marked) return;
#ifdef _OPENMP
#pragma omp parallel num_threads(threads)
#endif
    {
        gpuopt__batch batch;
        batch.count = 0;
#ifdef _OPENMP
#pragma omp for schedule(dynamic, 64)
#endif
        for (k = 0; k < count; k++) gpuopt__mark_column(p, (int32_t)(p->changed[k] >> 1), &batch);
        gpuopt__flush(&batch, p->queue, &p->queued);
    }
}

static void gpuopt__sequential_round(gpuopt__cpu_propagator *p) {
    int32_t row = 0, rows = p->head.rows;
    p->all_marked = 0;
    for (;;) {
        uint64_t eight;
        while (row + 8 <= rows && (memcpy(&eight, p->marked + row, 8), eight == 0)) row += 8;
        while (row < rows && !p->marked[row]) row++;
        if (row == rows) return;
        p->marked[row] = 0;
        p->info.nonzeros += p->start[row + 1] - p->start[row];
        if (!GPUOPT__TYPED(p, gpuopt__sequential_row, (p, row))) return;
        row++;
    }
}

static int gpuopt__is_infeasible(const gpuopt__cpu_propagator *p) {
    return p->infeasible_row >= 0 || p->infeasible_col >= 0;
}

static gpuopt_status gpuopt__cpu_round(gpuopt_propagator *propagator, int32_t rounds, gpuopt_propagation *result) {
    gpuopt__cpu_propagator *p = (gpuopt__cpu_propagator *)propagator;
    gpuopt_propagation *info = &p->info;
    int32_t limit = p->head.round_limit > 0 ? p->head.round_limit : INT32_MAX;
    int64_t changed = -1;
    info->rounds = 0;
    info->changed = info->nonzeros = 0;
    while (info->rounds < rounds && p->rounds_since_set < limit && info->changed != changed &&
           !gpuopt__is_infeasible(p)) {
        changed = info->changed;
        if (p->sequential) gpuopt__sequential_round(p);
        else gpuopt__jacobi_round(p);
        info->rounds++;
        p->rounds_since_set++;
    }
    info->infeasible_row = p->infeasible_row;
    info->infeasible_col = p->infeasible_col;
    info->outcome = gpuopt__is_infeasible(p)       ? GPUOPT_INFEASIBLE
                    : info->changed == changed     ? GPUOPT_CONVERGED
                    : p->rounds_since_set >= limit ? GPUOPT_LIMIT
                                                   : GPUOPT_MORE;
    if (result) *result = *info;
    return GPUOPT_OK;
}

static gpuopt_status gpuopt__cpu_get_info(gpuopt_propagator *propagator, gpuopt_propagation *info) {
    *info = ((gpuopt__cpu_propagator *)propagator)->info;
    return GPUOPT_OK;
}

/* ---- State in and out ---- */

/* The host has changed something: the verdict is void, and the rows that led to it have to be looked at again. */
static void gpuopt__reopen(gpuopt__cpu_propagator *p, int crossing_possible) {
    int32_t col;
    if (gpuopt__is_infeasible(p)) {
        gpuopt__mark_all(p);
        crossing_possible = 1;
    }
    p->infeasible_row = p->infeasible_col = -1;
    p->rounds_since_set = 0;
    for (col = 0; crossing_possible && col < p->head.cols; col++) {
        double lb, ub;
        GPUOPT__TYPED(p, gpuopt__load_bounds, (p, col, &lb, &ub));
        if (!gpuopt__crossed(&p->head.rules, lb, ub)) continue;
        p->infeasible_col = col;
        break;
    }
}

static gpuopt_status gpuopt__cpu_only(const gpuopt_propagator *propagator, gpuopt_memory where) {
    if (where == GPUOPT_HOST) return GPUOPT_OK;
    gpuopt__log(propagator->context, 0, "the CPU backend has no device memory");
    return GPUOPT_ERROR_UNSUPPORTED;
}

static gpuopt_status gpuopt__cpu_get_bounds(gpuopt_propagator *propagator, gpuopt_memory where, int64_t count,
                                            const int32_t *col, double *lb, double *ub) {
    const gpuopt__cpu_propagator *p = (const gpuopt__cpu_propagator *)propagator;
    int64_t k;
    gpuopt_status status = gpuopt__cpu_only(propagator, where);
    for (k = 0; !status && k < count; k++) {
        double low, high;
        GPUOPT__TYPED(p, gpuopt__load_bounds, (p, col ? col[k] : (int32_t)k, &low, &high));
        if (lb) lb[k] = gpuopt__shown_lb(&p->head.rules, low, high);
        if (ub) ub[k] = high;
    }
    return status;
}

static gpuopt_status gpuopt__cpu_set_bounds(gpuopt_propagator *propagator, gpuopt_memory where, int64_t count,
                                            const int32_t *col, const double *lb, const double *ub) {
    gpuopt__cpu_propagator *p = (gpuopt__cpu_propagator *)propagator;
    gpuopt__batch batch;
    int crossing = 0;
    int64_t k;
    gpuopt_status status = gpuopt__cpu_only(propagator, where);
    if (status) return status;
    if (!col) gpuopt__mark_all(p);
    batch.count = 0;
    for (k = 0; k < count; k++) {
        int32_t j = col ? col[k] : (int32_t)k;
        double low, high;
        if (GPUOPT__TYPED(p, gpuopt__store_bounds, (p, j, lb ? &lb[k] : NULL, ub ? &ub[k] : NULL)) && !p->all_marked)
            gpuopt__mark_column(p, j, &batch);
        GPUOPT__TYPED(p, gpuopt__load_bounds, (p, j, &low, &high));
        crossing |= gpuopt__crossed(&p->head.rules, low, high);
    }
    if (batch.count) gpuopt__flush(&batch, p->queue, &p->queued);
    gpuopt__reopen(p, crossing);
    return GPUOPT_OK;
}

static gpuopt_status gpuopt__cpu_set_sides(gpuopt_propagator *propagator, int64_t count, const int32_t *row,
                                           const double *lhs, const double *rhs) {
    gpuopt__cpu_propagator *p = (gpuopt__cpu_propagator *)propagator;
    gpuopt__batch batch;
    int64_t k;
    batch.count = 0;
    for (k = 0; k < count; k++) {
        p->lhs[row[k]] = gpuopt__normal_low(&p->head.rules, lhs[k]);
        p->rhs[row[k]] = gpuopt__normal_high(&p->head.rules, rhs[k]);
        if (!p->all_marked) gpuopt__mark_row(p, row[k], &batch);
    }
    if (batch.count) gpuopt__flush(&batch, p->queue, &p->queued);
    gpuopt__reopen(p, 0);
    return GPUOPT_OK;
}

static gpuopt_status gpuopt__cpu_get_rows(gpuopt_propagator *propagator, gpuopt_memory where,
                                          const gpuopt_row_report *report) {
    const gpuopt__cpu_propagator *p = (const gpuopt__cpu_propagator *)propagator;
    int32_t i;
    gpuopt_status status = gpuopt__cpu_only(propagator, where);
    if (status) return status;
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic, 256) num_threads(p->threads) if (p->threads > 1)
#endif
    for (i = 0; i < p->head.rows; i++) {
        gpuopt__activities s = GPUOPT__TYPED(p, gpuopt__row_activities, (p, i));
        gpuopt__row row = gpuopt__row_make(&s, &p->head.rules, p->lhs[i], p->rhs[i], p->start[i + 1] - p->start[i]);
        if (report->min_activity) report->min_activity[i] = gpuopt__add(s.min.hi, s.min.lo);
        if (report->max_activity) report->max_activity[i] = gpuopt__add(s.max.hi, s.max.lo);
        if (report->min_infinite) report->min_infinite[i] = s.min.infinite;
        if (report->max_infinite) report->max_infinite[i] = s.max.infinite;
        if (report->status)
            report->status[i] = (uint8_t)gpuopt__row_status(&s, &row, &p->head.rules, p->lhs[i], p->rhs[i]);
    }
    return GPUOPT_OK;
}

static gpuopt_status gpuopt__cpu_device_view(gpuopt_propagator *propagator, gpuopt_bounds_view *view) {
    (void)view;
    return gpuopt__cpu_only(propagator, GPUOPT_DEVICE);
}

/* ---- Create and destroy ---- */

/* Cuts the handle and its arrays; the same code measures and hands out. */
static void gpuopt__cpu_layout(const gpuopt__propagator_model *model, gpuopt__arena *arena, gpuopt__cpu_propagator *p) {
    int64_t rows = model->desc.matrix.rows, cols = model->desc.matrix.cols, nonzeros = model->nonzeros;
    size_t real = model->rules.single ? sizeof(float) : sizeof(double);
    int jacobi = model->desc.mode == GPUOPT_JACOBI, marking = model->desc.marking != GPUOPT_MARKING_OFF;
    gpuopt__cut(arena, 1, sizeof *p);
    p->start = (int64_t *)gpuopt__cut(arena, rows + 1, sizeof(int64_t));
    p->col = (int32_t *)gpuopt__cut(arena, nonzeros, sizeof(int32_t));
    p->val = gpuopt__cut(arena, nonzeros, real);
    p->lhs = (double *)gpuopt__cut(arena, rows, sizeof(double));
    p->rhs = (double *)gpuopt__cut(arena, rows, sizeof(double));
    p->integer = (uint8_t *)gpuopt__cut(arena, cols, 1);
    p->bounds = gpuopt__cut(arena, 2 * cols, real);
    if (jacobi) p->next = gpuopt__cut(arena, 2 * cols, real);
    if (jacobi) p->changed = (uint32_t *)gpuopt__cut(arena, 2 * cols, sizeof(uint32_t));
    if (!marking) return;
    p->col_start = (int64_t *)gpuopt__cut(arena, cols + 1, sizeof(int64_t));
    p->col_row = (int32_t *)gpuopt__cut(arena, nonzeros, sizeof(int32_t));
    p->marked = (uint8_t *)gpuopt__cut(arena, rows, 1);
    if (jacobi) p->queue = (uint32_t *)gpuopt__cut(arena, rows, sizeof(uint32_t));
}

static gpuopt_status gpuopt__cpu_plan(gpuopt_context *context, const gpuopt__propagator_model *model,
                                      gpuopt_memory_plan *plan) {
    gpuopt__arena arena = {NULL, 0};
    gpuopt__cpu_propagator measure;
    (void)context;
    gpuopt__cpu_layout(model, &arena, &measure);
    plan->host_bytes = arena.used;
    return GPUOPT_OK;
}

static gpuopt_status gpuopt__cpu_create(gpuopt_context *context, const gpuopt__propagator_model *model,
                                        gpuopt_propagator **propagator) {
    const gpuopt_propagator_desc *desc = &model->desc;
    gpuopt__arena arena = {NULL, 0};
    gpuopt_memory_plan plan;
    gpuopt__cpu_propagator *p;
    void *memory;
    int32_t i, j;
    gpuopt_status status;
    gpuopt__cpu_plan(context, model, &plan);
    status = gpuopt__allocate(context, GPUOPT_HOST, plan.host_bytes, &memory);
    if (status) return status;
    p = (gpuopt__cpu_propagator *)memory;
    memset(p, 0, sizeof *p);
    arena.base = (char *)memory;
    gpuopt__cpu_layout(model, &arena, p);
    p->head = gpuopt__propagator_head(context, model);
    p->threads = context->desc.threads;
    p->sequential = desc->mode == GPUOPT_SEQUENTIAL;
    p->infeasible_row = p->infeasible_col = -1;
    if (p->sequential) p->threads = 1;
    memcpy(p->start, desc->matrix.start, sizeof(int64_t) * ((size_t)p->head.rows + 1));
    if (model->nonzeros) memcpy(p->col, desc->matrix.col, sizeof(int32_t) * (size_t)model->nonzeros);
    GPUOPT__TYPED(p, gpuopt__store_matrix, (p, desc->matrix.val));
    for (i = 0; i < p->head.rows; i++) {
        p->lhs[i] = desc->lhs ? gpuopt__normal_low(&p->head.rules, desc->lhs[i]) : -HUGE_VAL;
        p->rhs[i] = desc->rhs ? gpuopt__normal_high(&p->head.rules, desc->rhs[i]) : HUGE_VAL;
    }
    for (j = 0; j < p->head.cols; j++) {
        p->integer[j] = desc->integer && desc->integer[j];
        GPUOPT__TYPED(p, gpuopt__store_bounds, (p, j, &desc->lb[j], &desc->ub[j]));
    }
    if (p->marked) gpuopt__transpose(p->head.rows, p->head.cols, p->start, p->col, p->col_start, p->col_row);
    gpuopt__mark_all(p);
    gpuopt__reopen(p, 1);
    *propagator = &p->head;
    return GPUOPT_OK;
}

static void gpuopt__cpu_destroy(gpuopt_propagator *propagator) {
    gpuopt__release(propagator->context, GPUOPT_HOST, propagator);
}

static const gpuopt__propagator_backend gpuopt__cpu_propagator_table = {
    gpuopt__cpu_plan,     gpuopt__cpu_create,      gpuopt__cpu_destroy,    gpuopt__cpu_round,
    gpuopt__cpu_get_info, gpuopt__cpu_get_bounds,  gpuopt__cpu_set_bounds, gpuopt__cpu_set_sides,
    gpuopt__cpu_get_rows, gpuopt__cpu_device_view,
};

#endif /* GPUOPT_IMPL_PROPAGATE_CPU_H */
