/* SPDX-License-Identifier: MIT
 *
 * Propagation on the CPU: bounds, sides and reports in and out; creating, forking and destroying handles.
 */
#ifndef GPUOPT_IMPL_PROPAGATE_CPU_HANDLE_H
#define GPUOPT_IMPL_PROPAGATE_CPU_HANDLE_H

#include "../../common/matrix.h"
#include "added_rows.h"
#include "rounds.h"
#include "trail.h"

/* ---- State in and out ---- */

static gpuopt_status gpuopt__propagator_cpu_get_bounds(gpuopt_propagator *propagator, gpuopt_memory_space where,
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

static gpuopt_status gpuopt__propagator_cpu_get_kinds(gpuopt_propagator *propagator, uint8_t *kind) {
    const gpuopt__propagator_cpu *p = (const gpuopt__propagator_cpu *)propagator;
    memcpy(kind, p->kind, (size_t)propagator->cols);
    return GPUOPT_OK;
}

static gpuopt_status gpuopt__propagator_cpu_set_bounds(gpuopt_propagator *propagator, gpuopt_memory_space where,
                                                       int64_t count, const int32_t *col, const double *lb,
                                                       const double *ub) {
    gpuopt__propagator_cpu *p = (gpuopt__propagator_cpu *)propagator;
    int32_t lowest = p->head.cols, changes = p->changes;
    int64_t k;
    (void)where;
    for (k = 0; k < count; k++) {
        int32_t j = col ? col[k] : (int32_t)k;
        double low, high;
        if (!GPUOPT__PROPAGATOR_TYPED(p, set_column, (p, j, lb ? &lb[k] : NULL, ub ? &ub[k] : NULL))) {
            gpuopt__propagator_cpu_undo(p, changes);
            return gpuopt__refuse(p->head.context, GPUOPT_ERROR_MEMORY, "gpuopt_propagator_set_bounds",
                                  "the trail is too short for these changes");
        }
        GPUOPT__PROPAGATOR_TYPED(p, load_bounds, (p, j, &low, &high));
        if (j < lowest && gpuopt__propagator_crossed(&p->head.rules, low, high)) lowest = j;
    }
    gpuopt__propagator_cpu_reopen(p, lowest);
    return GPUOPT_OK;
}

static gpuopt_status gpuopt__propagator_cpu_set_sides(gpuopt_propagator *propagator, gpuopt_memory_space where,
                                                      int64_t count, const int32_t *row, const double *lhs,
                                                      const double *rhs) {
    gpuopt__propagator_cpu *p = (gpuopt__propagator_cpu *)propagator;
    int64_t k;
    (void)where;
    for (k = 0; k < count; k++) gpuopt__propagator_cpu_alter_row(p, row[k], lhs[k], rhs[k]);
    gpuopt__propagator_cpu_reopen(p, p->head.cols);
    return GPUOPT_OK;
}

static gpuopt_status gpuopt__propagator_cpu_get_rows(gpuopt_propagator *propagator, gpuopt_memory_space where,
                                                     const gpuopt_propagator_row_report *report) {
    const gpuopt__propagator_cpu *p = (const gpuopt__propagator_cpu *)propagator;
    int32_t i, rows = p->head.rows + p->head.spare_rows;
    (void)where;
#ifdef GPUOPT__OPENMP
#pragma omp parallel for schedule(dynamic, 256) \
    num_threads(gpuopt__team(p->head.context, p->threads)) if (p->threads > 1)
#endif
    for (i = 0; i < rows; i++) {
        gpuopt__propagator_activities s;
        gpuopt__propagator_row row;
        int64_t length;
        gpuopt__environment_scope scope;
        gpuopt__environment_enter(&scope);
        length = gpuopt__propagator_cpu_row_length(p, i);
        s = GPUOPT__PROPAGATOR_TYPED(p, whole_row, (p, i));
        row = gpuopt__propagator_row_make(&s, &p->head.rules, p->lhs[i], p->rhs[i], length);
        if (report->min_activity) report->min_activity[i] = gpuopt__first(gpuopt__pair_add(s.hi, s.lo));
        if (report->max_activity) report->max_activity[i] = gpuopt__second(gpuopt__pair_add(s.hi, s.lo));
        if (report->min_infinite) report->min_infinite[i] = gpuopt__propagator_min_infinite(&s);
        if (report->max_infinite) report->max_infinite[i] = gpuopt__propagator_max_infinite(&s);
        if (report->status)
            report->status[i] = (uint8_t)gpuopt__propagator_row_status(
                &s, row.violated && GPUOPT__PROPAGATOR_TYPED(p, whole_row_infeasible, (p, i, &row)), &p->head.rules,
                p->lhs[i], p->rhs[i], length);
        gpuopt__environment_leave(&scope);
    }
    return GPUOPT_OK;
}

/* ---- Create and destroy ---- */

static void gpuopt__propagator_cpu_cut_matrix(const gpuopt_propagator *head, gpuopt__arena *arena,
                                              gpuopt__propagator_cpu_matrix *m) {
    int64_t rows = head->rows, cols = head->cols, nonzeros = head->nonzeros;
    size_t real = head->rules.single ? sizeof(float) : sizeof(double);
    m->start = (int64_t *)gpuopt__cut(arena, rows + 1, sizeof(int64_t));
    m->col = (int32_t *)gpuopt__cut(arena, nonzeros, sizeof(int32_t));
    m->val = gpuopt__cut(arena, nonzeros, real);
    if (!head->marking) return;
    m->col_start = (int64_t *)gpuopt__cut(arena, cols + 1, sizeof(int64_t));
    m->col_row = (int32_t *)gpuopt__cut(arena, nonzeros, sizeof(int32_t));
    m->col_val = gpuopt__cut(arena, nonzeros, real);
    m->col_most = (double *)gpuopt__cut(arena, cols, sizeof(double));
}

static void gpuopt__propagator_cpu_cut_added(const gpuopt_propagator *head, gpuopt__arena *arena,
                                             gpuopt__propagator_added *a) {
    size_t real = head->rules.single ? sizeof(float) : sizeof(double), index = sizeof(int32_t);
    a->next_free = (int32_t *)gpuopt__cut(arena, head->spare_rows, index);
    a->first = (int32_t *)gpuopt__cut(arena, head->spare_rows, index);
    a->length = (int32_t *)gpuopt__cut(arena, head->spare_rows, index);
    a->col = (int32_t *)gpuopt__cut(arena, head->spare_nonzeros, index);
    a->row = (int32_t *)gpuopt__cut(arena, head->spare_nonzeros, index);
    a->val = gpuopt__cut(arena, head->spare_nonzeros, real);
    a->next = (int32_t *)gpuopt__cut(arena, head->spare_nonzeros, index);
    a->previous = (int32_t *)gpuopt__cut(arena, head->spare_nonzeros, index);
    a->head = (int32_t *)gpuopt__cut(arena, head->cols, index);
}

/* Cuts a handle and its arrays out of one block of memory, or measures that block. A fork shares its base's matrix. */
static void gpuopt__propagator_cpu_layout(const gpuopt_propagator *head, int is_fork, gpuopt__arena *arena,
                                          gpuopt__propagator_cpu *p) {
    int64_t rows = (int64_t)head->rows + head->spare_rows, cols = head->cols, capacity = head->trail_capacity;
    size_t real = head->rules.single ? sizeof(float) : sizeof(double);
    int jacobi = head->mode == GPUOPT_MODE_JACOBI;
    gpuopt__cut(arena, 1, sizeof *p);
    if (!is_fork) gpuopt__propagator_cpu_cut_matrix(head, arena, &p->matrix);
    p->lhs = (double *)gpuopt__cut(arena, rows, sizeof(double));
    p->rhs = (double *)gpuopt__cut(arena, rows, sizeof(double));
    p->kind = (uint8_t *)gpuopt__cut(arena, cols, 1);
    p->bounds = gpuopt__cut(arena, 2 * cols, real);
    if (jacobi) p->next = gpuopt__cut(arena, 2 * cols, real);
    if (jacobi) p->changed = (uint32_t *)gpuopt__cut(arena, 2 * cols, sizeof(uint32_t));
    if (head->spare_rows > 0) {
        gpuopt__propagator_cpu_cut_added(head, arena, &p->added);
        p->head.seen = (int32_t *)gpuopt__cut(
            arena, (int64_t)(head->cols > head->spare_rows ? head->cols : head->spare_rows) + 1, sizeof(int32_t));
    }
    if (!head->marking) return;
    p->kept = (gpuopt__propagator_kept *)gpuopt__cut(arena, rows + 1, sizeof *p->kept); /* one more, for alignment */
    if (jacobi) {
        p->marked = (uint8_t *)gpuopt__cut(arena, rows, 1);
        p->queue = (uint32_t *)gpuopt__cut(arena, rows, sizeof(uint32_t));
    } else {
        int64_t words[GPUOPT__PROPAGATOR_SWEEP_LEVELS];
        int level;
        p->sweep_levels = gpuopt__propagator_sweep_words(rows, words);
        for (level = 0; level < p->sweep_levels; level++)
            p->sweep[level] = (uint64_t *)gpuopt__cut(arena, words[level], sizeof(uint64_t));
    }
    if (capacity == 0) return;
    p->trail = (gpuopt__propagator_change *)gpuopt__cut(arena, capacity, sizeof *p->trail);
    p->level = (gpuopt__propagator_level *)gpuopt__cut(arena, capacity, sizeof *p->level);
    p->last = (int32_t *)gpuopt__cut(arena, 2 * cols, sizeof(int32_t));
    p->since = (int32_t *)gpuopt__cut(arena, rows, sizeof(int32_t));
    p->altered = (int32_t *)gpuopt__cut(arena, rows, sizeof(int32_t));
    p->due = (int32_t *)gpuopt__cut(arena, rows, sizeof(int32_t));
    if (!jacobi) return;
    p->sorted = (uint32_t *)gpuopt__cut(arena, 2 * cols, sizeof(uint32_t));
    p->reason = (int32_t *)gpuopt__cut(arena, 2 * cols, sizeof(int32_t));
}

static uint64_t gpuopt__propagator_cpu_bytes(const gpuopt_propagator *head, int is_fork) {
    gpuopt__arena arena = {NULL, 0};
    gpuopt__propagator_cpu measure;
    gpuopt__propagator_cpu_layout(head, is_fork, &arena, &measure);
    return arena.used;
}

static gpuopt_status gpuopt__propagator_cpu_plan(gpuopt_context *context, const gpuopt__propagator_model *model,
                                                 gpuopt_memory_plan *plan) {
    gpuopt_propagator head = gpuopt__propagator_head(context, model);
    plan->host_bytes = gpuopt__propagator_cpu_bytes(&head, 0);
    return GPUOPT_OK;
}

/* A handle with its arrays; no row is marked, and no data of rows are kept. */
static gpuopt_status gpuopt__propagator_cpu_new(const gpuopt_propagator *head, int is_fork,
                                                gpuopt__propagator_cpu **handle) {
    int64_t rows = (int64_t)head->rows + head->spare_rows, k, words[GPUOPT__PROPAGATOR_SWEEP_LEVELS];
    gpuopt__arena arena = {NULL, 0};
    gpuopt__propagator_cpu *p;
    void *memory;
    int level;
    gpuopt_status status =
        gpuopt__allocate(head->context, GPUOPT_HOST, gpuopt__propagator_cpu_bytes(head, is_fork), &memory);
    if (status) return status;
    p = (gpuopt__propagator_cpu *)memory;
    memset(p, 0, sizeof *p);
    arena.base = (char *)memory;
    p->head = *head;
    gpuopt__propagator_cpu_layout(head, is_fork, &arena, p);
    if (p->kept) p->kept = (gpuopt__propagator_kept *)(((uintptr_t)p->kept + 63) & ~(uintptr_t)63); /* cache lines */
    p->sequential = head->mode == GPUOPT_MODE_GAUSS_SEIDEL;
    p->threads = p->sequential ? 1 : head->context->desc.threads;
    p->epoch = 1;
    p->none_kept = p->all_marked = 1;
    p->infeasible_row = p->infeasible_col = -1;
    p->info.infeasible_row = p->info.infeasible_col = -1; /* the rest is 0: MORE after no round */
    if (p->marked) memset(p->marked, 0, (size_t)rows);
    for (k = 0; p->kept && k < rows; k++) p->kept[k].epoch = 0;
    gpuopt__propagator_sweep_words(rows, words);
    for (level = 0; level < p->sweep_levels; level++)
        memset(p->sweep[level], 0, sizeof(uint64_t) * (size_t)words[level]);
    for (k = 0; p->last && k < 2 * (int64_t)head->cols; k++) p->last[k] = -1;
    for (k = 0; p->since && k < rows; k++) p->since[k] = p->altered[k] = 0;
    for (k = head->rows; k < rows; k++) p->lhs[k] = -HUGE_VAL, p->rhs[k] = HUGE_VAL;
    gpuopt__propagator_added_clear(&p->added, head->cols);
    for (k = 0; k < head->spare_rows; k++) p->added.length[k] = -1, p->added.first[k] = 0;
    *handle = p;
    return GPUOPT_OK;
}

static gpuopt_status gpuopt__propagator_cpu_create(gpuopt_context *context, gpuopt__propagator_model *model,
                                                   gpuopt_propagator **propagator) {
    const gpuopt_propagator_desc *desc = &model->desc;
    gpuopt_propagator head = gpuopt__propagator_head(context, model);
    gpuopt__propagator_cpu *p;
    gpuopt__propagator_cpu_matrix *m;
    int64_t longest = 0;
    int32_t i, j;
    gpuopt_status status = gpuopt__propagator_cpu_new(&head, 0, &p);
    if (status) return status;
    m = &p->matrix;
    memcpy(m->start, desc->matrix.start, sizeof(int64_t) * ((size_t)head.rows + 1));
    if (model->nonzeros) memcpy(m->col, desc->matrix.index, sizeof(int32_t) * (size_t)model->nonzeros);
    GPUOPT__PROPAGATOR_TYPED(p, store_values, (m->val, desc->matrix.value, model->nonzeros));
    for (i = 0; i < head.rows; i++) {
        p->lhs[i] = desc->lhs ? gpuopt__propagator_normal_low(&head.rules, desc->lhs[i]) : -HUGE_VAL;
        p->rhs[i] = desc->rhs ? gpuopt__propagator_normal_high(&head.rules, desc->rhs[i]) : HUGE_VAL;
        if (m->start[i + 1] - m->start[i] > longest) longest = m->start[i + 1] - m->start[i];
    }
    p->most_exact = gpuopt__propagator_most_exact(head.spare_rows > 0 ? head.cols : longest);
    memset(p->bounds, 0, (head.rules.single ? sizeof(float) : sizeof(double)) * 2 * (size_t)head.cols);
    for (j = 0; j < head.cols; j++) {
        p->kind[j] = desc->integer && desc->integer[j] ? GPUOPT__PROPAGATOR_INTEGER : 0;
        GPUOPT__PROPAGATOR_TYPED(p, first_bounds,
                                 (p, j, desc->lb ? desc->lb[j] : 0, desc->ub ? desc->ub[j] : HUGE_VAL));
    }
    if (head.marking) GPUOPT__PROPAGATOR_TYPED(p, transpose, (p));
    gpuopt__propagator_cpu_reopen(p, 0);
    *propagator = &p->head;
    return GPUOPT_OK;
}

static void gpuopt__propagator_cpu_destroy(gpuopt_propagator *propagator) {
    gpuopt__release(propagator->context, GPUOPT_HOST, propagator);
}

/* ---- Forks ---- */

static gpuopt_status gpuopt__propagator_cpu_plan_fork(const gpuopt_propagator *propagator, gpuopt_memory_plan *plan) {
    plan->host_bytes = gpuopt__propagator_cpu_bytes(propagator, 1);
    return GPUOPT_OK;
}

static void gpuopt__propagator_cpu_copy(void *to, const void *from, int64_t count, size_t size) {
    if (to && count > 0) memcpy(to, from, (size_t)count * size);
}

/* Copies the bounds, sides and rows of one state to another one of the same model, which has no marked rows and no kept
 * data. Marks the same rows for evaluation. */
static void gpuopt__propagator_cpu_copy_state(gpuopt__propagator_cpu *p, const gpuopt__propagator_cpu *from) {
    int64_t rows = (int64_t)p->head.rows + p->head.spare_rows, cols = p->head.cols, k;
    size_t real = p->head.rules.single ? sizeof(float) : sizeof(double), index = sizeof(int32_t);
    int32_t row;
    p->matrix = from->matrix;
    p->most_exact = from->most_exact;
    gpuopt__propagator_cpu_copy(p->lhs, from->lhs, rows, sizeof(double));
    gpuopt__propagator_cpu_copy(p->rhs, from->rhs, rows, sizeof(double));
    gpuopt__propagator_cpu_copy(p->kind, from->kind, cols, 1);
    gpuopt__propagator_cpu_copy(p->bounds, from->bounds, 2 * cols, real);
    gpuopt__propagator_cpu_copy(p->next, from->next, 2 * cols, real);
    p->crossed = from->crossed;
    p->infeasible_row = from->infeasible_row;
    p->infeasible_col = from->infeasible_col;
    p->rounds_since_set = from->rounds_since_set;
    p->all_marked = from->all_marked;
    for (k = 0; k < from->queued; k++) gpuopt__propagator_cpu_mark_row(p, (int32_t)from->queue[k], -1);
    for (row = from->sequential ? gpuopt__propagator_sweep_next(from, 0) : -1; row >= 0;
         row = gpuopt__propagator_sweep_next(from, row + 1))
        gpuopt__propagator_cpu_mark_row(p, row, -1);
    if (p->head.spare_rows > 0) {
        const gpuopt__propagator_added *a = &from->added;
        gpuopt__propagator_added *b = &p->added;
        b->rows = a->rows, b->free_row = a->free_row, b->used = a->used, b->live = a->live;
        gpuopt__propagator_cpu_copy(b->next_free, a->next_free, p->head.spare_rows, index);
        gpuopt__propagator_cpu_copy(b->first, a->first, p->head.spare_rows, index);
        gpuopt__propagator_cpu_copy(b->length, a->length, p->head.spare_rows, index);
        gpuopt__propagator_cpu_copy(b->col, a->col, a->used, index);
        gpuopt__propagator_cpu_copy(b->row, a->row, a->used, index);
        gpuopt__propagator_cpu_copy(b->val, a->val, a->used, real);
        gpuopt__propagator_cpu_copy(b->next, a->next, a->used, index);
        gpuopt__propagator_cpu_copy(b->previous, a->previous, a->used, index);
        gpuopt__propagator_cpu_copy(b->head, a->head, cols, index);
    }
}

static gpuopt_status gpuopt__propagator_cpu_fork(gpuopt_propagator *original, gpuopt_context *context,
                                                 gpuopt_propagator **fork) {
    gpuopt_propagator head = *original;
    gpuopt__propagator_cpu *p;
    gpuopt_status status;
    head.context = context;
    status = gpuopt__propagator_cpu_new(&head, 1, &p);
    if (status) return status;
    gpuopt__propagator_cpu_copy_state(p, (const gpuopt__propagator_cpu *)original);
    *fork = &p->head;
    return GPUOPT_OK;
}

#endif /* GPUOPT_IMPL_PROPAGATE_CPU_HANDLE_H */
