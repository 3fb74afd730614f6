/* SPDX-License-Identifier: MIT
 *
 * Batches of small linear programs on the CPU: each thread takes one program after the other.
 */
#ifndef GPUOPT_IMPL_SIMPLEX_CPU_BATCH_H
#define GPUOPT_IMPL_SIMPLEX_CPU_BATCH_H

#include "../../common/items.h"
#include "../batch/backend.h"
#include "../batch/solve.h"

typedef struct gpuopt__simplex_batch_cpu {
    int threads;
    gpuopt__simplex_batch_work *work; /* [threads] */
} gpuopt__simplex_batch_cpu;

/* ---- Life ---- */

/* Cuts the block; with base NULL it only measures. */
static gpuopt__simplex_batch_cpu *gpuopt__simplex_batch_cpu_cut(gpuopt__arena *arena, gpuopt_simplex_batch *m,
                                                                gpuopt__simplex_batch_cpu *c) {
    const int32_t rows = m->set.rows, cols = m->set.cols;
    gpuopt__simplex_batch_cpu *own = (gpuopt__simplex_batch_cpu *)gpuopt__cut(arena, 1, sizeof *c);
    uint64_t bytes = 0;
    gpuopt__simplex_batch_work measure;
    int t;
    c->work = (gpuopt__simplex_batch_work *)gpuopt__cut(arena, c->threads, sizeof *c->work);
    gpuopt__simplex_batch_cut_set(arena, m->desc.batch_size, &m->set);
    gpuopt__simplex_batch_cut_vectors(NULL, &bytes, rows, cols, &measure);
    for (t = 0; t < c->threads; t++) {
        char *vectors = (char *)gpuopt__cut(arena, (int64_t)bytes, 1);
        double *table = (double *)gpuopt__cut(arena, (int64_t)rows * measure.pitch, sizeof(double));
        uint64_t used = 0;
        if (!arena->base) continue;
        gpuopt__simplex_batch_cut_vectors(vectors, &used, rows, cols, &c->work[t]);
        c->work[t].table = table;
        c->work[t].exchange = NULL;
    }
    return own;
}

static gpuopt_status gpuopt__simplex_batch_cpu_plan(const gpuopt_simplex_batch *many, gpuopt_memory_plan *plan) {
    gpuopt_simplex_batch draft = *many;
    gpuopt__simplex_batch_cpu c;
    gpuopt__arena arena = {NULL, 0};
    c.threads = many->context->desc.threads;
    gpuopt__simplex_batch_cpu_cut(&arena, &draft, &c);
    plan->host_bytes += arena.used;
    return GPUOPT_OK;
}

static gpuopt_status gpuopt__simplex_batch_cpu_create(gpuopt_simplex_batch *m) {
    gpuopt__simplex_batch_cpu c, *own;
    gpuopt__arena arena = {NULL, 0};
    gpuopt_status status;
    c.threads = m->context->desc.threads;
    gpuopt__simplex_batch_cpu_cut(&arena, m, &c);
    status = gpuopt__take_block(m->context, GPUOPT_HOST, &arena);
    if (status) return status;
    own = gpuopt__simplex_batch_cpu_cut(&arena, m, &c);
    *own = c;
    m->engine = own;
    return GPUOPT_OK;
}

static void gpuopt__simplex_batch_cpu_destroy(gpuopt_simplex_batch *m) {
    gpuopt__release(m->context, GPUOPT_HOST, m->engine);
}

/* ---- Programs ---- */

static gpuopt_status gpuopt__simplex_batch_cpu_load(gpuopt_simplex_batch *m, gpuopt_memory_space where,
                                                    const double *const *from, int64_t *bad) {
    gpuopt__simplex_batch_set *s = &m->set;
    const size_t rows = sizeof(double) * (size_t)s->count * (size_t)s->rows,
                 cols = sizeof(double) * (size_t)s->count * (size_t)s->cols;
    int64_t e;
    int k;
    (void)where; /* host memory: this backend has no other */
    for (k = 0; k < GPUOPT__SIMPLEX_BATCH_ARRAYS; k++) {
        const int64_t count = gpuopt__simplex_batch_loaded(s, k);
        for (e = 0; e < count; e++)
            if (gpuopt__simplex_batch_number_bad(s, k, from[k][e])) {
                *bad = gpuopt__simplex_batch_place(k, e);
                return GPUOPT_OK;
            }
        if (count > 0) memcpy(s->number[k], from[k], sizeof(double) * (size_t)count);
    }
    for (e = 0; e < (int64_t)s->count * s->rows; e++)
        if (gpuopt__simplex_batch_sides_cross(s, e)) {
            *bad = gpuopt__simplex_batch_place(GPUOPT__SIMPLEX_BATCH_ARRAYS, e);
            return GPUOPT_OK;
        }
    memset(s->objective, 0, sizeof(double) * (size_t)s->count);
    memset(s->x, 0, cols), memset(s->ray, 0, cols), memset(s->ray_low, 0, cols);
    memset(s->dual_y, 0, rows), memset(s->farkas, 0, rows), memset(s->farkas_low, 0, rows);
    memset(s->status, 0, (size_t)s->count * ((size_t)s->rows + (size_t)s->cols));
    return GPUOPT_OK;
}

static void gpuopt__simplex_batch_cpu_next(void *of, int thread, int64_t k, int stopped) {
    gpuopt_simplex_batch *m = (gpuopt_simplex_batch *)of;
    gpuopt__simplex_batch_work *work = &((gpuopt__simplex_batch_cpu *)m->engine)->work[thread];
    if (!stopped && m->set.progress[k].outcome == GPUOPT_MORE) gpuopt__simplex_batch_solve(&m->set, work, (int32_t)k);
}

static gpuopt_status gpuopt__simplex_batch_cpu_run(gpuopt_simplex_batch *m) {
    gpuopt__each_item(m->context, m->set.count, 1, gpuopt__simplex_batch_cpu_next, m);
    return GPUOPT_OK;
}

static gpuopt_status gpuopt__simplex_batch_cpu_get(gpuopt_simplex_batch *m,
                                                   const gpuopt__simplex_batch_wanted *wanted) {
    const gpuopt__simplex_batch_set *s = &m->set;
    const gpuopt_simplex_batch_report *r = &wanted->report;
    const size_t count = (size_t)wanted->count, first = (size_t)wanted->first, rows = (size_t)s->rows,
                 cols = (size_t)s->cols;
    double *const of_cols[] = {r->x, r->ray, r->ray_low}, *const of_rows[] = {r->dual, r->farkas, r->farkas_low};
    const double *const from_cols[] = {s->x, s->ray, s->ray_low}, *const from_rows[] = {s->dual_y, s->farkas,
                                                                                        s->farkas_low};
    int k;
    if (r->objective) memcpy(r->objective, s->objective + first, sizeof(double) * count);
    for (k = 0; k < 3; k++) {
        if (of_cols[k]) memcpy(of_cols[k], from_cols[k] + first * cols, sizeof(double) * count * cols);
        if (of_rows[k]) memcpy(of_rows[k], from_rows[k] + first * rows, sizeof(double) * count * rows);
    }
    if (r->basis) memcpy(r->basis, s->status + first * (rows + cols), count * (rows + cols));
    return GPUOPT_OK;
}

#endif /* GPUOPT_IMPL_SIMPLEX_CPU_BATCH_H */
