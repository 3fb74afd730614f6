/* SPDX-License-Identifier: MIT
 *
 * Children on the CPU: the handles of the threads, and how one becomes what another is.
 */
#ifndef GPUOPT_IMPL_SIMPLEX_CPU_CHILD_WORKERS_H
#define GPUOPT_IMPL_SIMPLEX_CPU_CHILD_WORKERS_H

#include "../control/loop.h"
#include "dual.h"
#include "add_and_remove.h"
#include "save_inverse.h"
#include "memory.h"

/* A thread's handle, whose engine shares the root's model. */
typedef struct gpuopt__simplex_cpu_worker {
    gpuopt_simplex *s;
    gpuopt__simplex_cpu *engine;
    gpuopt__simplex_factor own; /* REVISED: factors for children whose pivots do not fit beside the root's */
    int64_t version;            /* of the root's inverse, which the engine's is except for `moved`; 0: none yet */
    int moved;                  /* a child has been here */
} gpuopt__simplex_cpu_worker;

/* The root that a thread's second handle is: its number, and the version of the roots when it became that. */
typedef struct gpuopt__simplex_cpu_at_root {
    int32_t root;
    int64_t version; /* 0: none yet */
    gpuopt_status status;
} gpuopt__simplex_cpu_at_root;

typedef struct gpuopt__simplex_cpu_batch {
    gpuopt_context
        context; /* the handles': the caller's without its log and its stop, which are not for other threads */
    int threads;
    gpuopt__simplex_cpu_worker *worker;   /* [threads] */
    gpuopt__simplex_cpu_worker *second;   /* [threads] the roots, if there can be several; else NULL */
    gpuopt__simplex_cpu_at_root *at_root; /* [threads] */
    int32_t *order;                       /* [batch_size] the children by their roots; */
    int32_t *first;                       /* [roots + 2] scratch */
    int32_t *singular;                    /* [roots] columns of a root that depend on others; -1: not known */
} gpuopt__simplex_cpu_batch;

/* ---- Life ---- */

/* A worker's block: the handle, its engine, and the arrays of both; with base NULL it only measures. */
static void gpuopt__simplex_cpu_cut_worker(gpuopt__arena *arena, const gpuopt_simplex *root,
                                           gpuopt__simplex_cpu_worker *w, gpuopt_simplex *s, gpuopt__simplex_cpu *e) {
    w->s = (gpuopt_simplex *)gpuopt__cut(arena, 1, sizeof *s);
    w->engine = (gpuopt__simplex_cpu *)gpuopt__cut(arena, 1, sizeof *e);
    gpuopt__simplex_cpu_cut_own(arena, &root->shape, e);
    gpuopt__simplex_cut(arena, s);
}

static uint64_t gpuopt__simplex_cpu_worker_bytes(const gpuopt_simplex *root) {
    gpuopt__arena arena = {NULL, 0};
    gpuopt__simplex_cpu_worker w;
    gpuopt_simplex s = *root;
    gpuopt__simplex_cpu e = *(const gpuopt__simplex_cpu *)root->engine;
    gpuopt__simplex_cpu_cut_worker(&arena, root, &w, &s, &e);
    return arena.used;
}

/* Handles of the threads together. */
static int gpuopt__simplex_cpu_workers(const gpuopt_simplex_children *batch) {
    return (batch->desc.roots > 0 ? 2 : 1) * batch->context->desc.threads;
}

/* Cuts the block of a batch; with base NULL it only measures. */
static gpuopt__simplex_cpu_batch *gpuopt__simplex_cpu_cut_batch(gpuopt__arena *arena,
                                                                const gpuopt_simplex_children *batch,
                                                                gpuopt__simplex_cpu_batch *b) {
    const int threads = batch->context->desc.threads, several = batch->desc.roots > 0;
    gpuopt__simplex_cpu_batch *own = (gpuopt__simplex_cpu_batch *)gpuopt__cut(arena, 1, sizeof *b);
    b->worker = (gpuopt__simplex_cpu_worker *)gpuopt__cut(arena, threads, sizeof *b->worker);
    b->second = NULL;
    if (several) b->second = (gpuopt__simplex_cpu_worker *)gpuopt__cut(arena, threads, sizeof *b->second);
    b->at_root = (gpuopt__simplex_cpu_at_root *)gpuopt__cut(arena, several ? threads : 0, sizeof *b->at_root);
    b->order = (int32_t *)gpuopt__cut(arena, several ? batch->desc.batch_size : 0, sizeof(int32_t));
    b->first = (int32_t *)gpuopt__cut(arena, several ? (int64_t)batch->desc.roots + 2 : 0, sizeof(int32_t));
    b->singular = (int32_t *)gpuopt__cut(arena, batch->desc.roots, sizeof(int32_t));
    return own;
}

static gpuopt_status gpuopt__simplex_cpu_batch_plan(const gpuopt_simplex_children *batch, gpuopt_memory_plan *plan) {
    const uint64_t workers = (uint64_t)gpuopt__simplex_cpu_workers(batch);
    gpuopt__arena arena = {NULL, 0};
    gpuopt__simplex_cpu_batch draft;
    gpuopt__simplex_cpu_cut_batch(&arena, batch, &draft);
    plan->host_bytes += arena.used + workers * gpuopt__simplex_cpu_worker_bytes(batch->root);
    if (batch->root->shape.method == GPUOPT_METHOD_REVISED)
        plan->host_bytes += workers * gpuopt__simplex_factor_bytes(
                                          batch->root->shape.rows,
                                          ((const gpuopt__simplex_cpu *)batch->root->engine)->sparse.own.capacity);
    return GPUOPT_OK;
}

static void gpuopt__simplex_cpu_batch_release(const gpuopt_context *context, gpuopt__simplex_cpu_batch *b) {
    int t, second;
    for (t = 0; t < b->threads; t++)
        for (second = 0; second < (b->second ? 2 : 1); second++) {
            const gpuopt__simplex_cpu_worker *w = second ? &b->second[t] : &b->worker[t];
            gpuopt__release(context, GPUOPT_HOST, w->own.block);
            gpuopt__release(context, GPUOPT_HOST, w->s);
        }
    gpuopt__release(context, GPUOPT_HOST, b);
}

static void gpuopt__simplex_cpu_batch_destroy(gpuopt_simplex_children *batch) {
    gpuopt__simplex_cpu_batch_release(batch->context, (gpuopt__simplex_cpu_batch *)batch->engine);
}

/* The handle takes over what the root is except for its arrays, and its own arrays keep what is in them. */
static void gpuopt__simplex_cpu_adopt(gpuopt__simplex_cpu_batch *b, gpuopt__simplex_cpu_worker *w,
                                      const gpuopt_simplex *root) {
    gpuopt__arena arena = {(char *)w->s, 0};
    gpuopt_simplex own = *root;
    gpuopt__simplex_cpu engine = *(const gpuopt__simplex_cpu *)root->engine;
    const gpuopt__deferred inverse = engine.inverse;
    const gpuopt__simplex_sparse sparse = engine.sparse;
    gpuopt__simplex_cpu *e;
    gpuopt__simplex_cpu_cut_worker(&arena, root, w, &own, &engine);
    engine.split = ((const gpuopt__simplex_cpu *)root->engine)->split;
    engine.inverse.rows = inverse.rows;
    engine.inverse.cols = inverse.cols;
    engine.inverse.count = inverse.count;
    engine.sparse.own = w->own;
    engine.sparse.factor = sparse.factor;
    engine.sparse.context = NULL; /* a child may be another thread's */
    *w->s = own;
    e = w->engine;
    *e = engine;
    e->lp = &w->s->lp;
    e->v = &w->s->v;
    e->threads = 1;
    e->version = 0;
    w->s->engine = e;
    w->s->context = &b->context;
    w->s->desc.iteration_limit = 0;
    w->s->by_tolerance = 1;
    if (root->desc.algorithm == GPUOPT_ALGORITHM_PRIMAL) w->s->desc.algorithm = GPUOPT_ALGORITHM_AUTO;
}

/* REVISED: memory for the worker's factors, as much as for the root's, and more than `than`. */
static gpuopt_status gpuopt__simplex_cpu_worker_reserve(const gpuopt_simplex_children *batch,
                                                        gpuopt__simplex_cpu_worker *w, int64_t than) {
    const gpuopt__simplex_sparse *root = &((const gpuopt__simplex_cpu *)batch->root->engine)->sparse;
    const int64_t capacity = than < root->own.capacity ? root->own.capacity : 2 * than;
    gpuopt__simplex_sparse s = *root;
    gpuopt_status status;
    if (batch->root->shape.method != GPUOPT_METHOD_REVISED) return GPUOPT_OK;
    if (than == 0 && w->own.block && w->own.capacity >= capacity) return GPUOPT_OK;
    s.own = w->own;
    status = gpuopt__simplex_sparse_reserve(batch->context, &s, batch->root->lp.rows, capacity);
    if (!status) w->own = s.own;
    return status;
}

/* A worker without memory, or with all of it. */
static gpuopt_status gpuopt__simplex_cpu_worker_create(const gpuopt_simplex_children *batch,
                                                       gpuopt__simplex_cpu_worker *w) {
    void *memory;
    gpuopt_status status =
        gpuopt__allocate(batch->context, GPUOPT_HOST, gpuopt__simplex_cpu_worker_bytes(batch->root), &memory);
    if (status) return status;
    w->s = (gpuopt_simplex *)memory;
    status = gpuopt__simplex_cpu_worker_reserve(batch, w, 0);
    if (!status) return GPUOPT_OK;
    gpuopt__release(batch->context, GPUOPT_HOST, w->s);
    w->s = NULL;
    return status;
}

static gpuopt_status gpuopt__simplex_cpu_batch_create(gpuopt_simplex_children *batch) {
    const gpuopt_context *context = batch->context;
    gpuopt__arena arena = {NULL, 0};
    gpuopt__simplex_cpu_batch draft, *b;
    gpuopt_status status;
    void *memory;
    int t;
    memset(&draft, 0, sizeof draft);
    gpuopt__simplex_cpu_cut_batch(&arena, batch, &draft);
    status = gpuopt__allocate(context, GPUOPT_HOST, arena.used, &memory);
    if (status) return status;
    memset(memory, 0, (size_t)arena.used);
    arena.base = (char *)memory;
    arena.used = 0;
    b = gpuopt__simplex_cpu_cut_batch(&arena, batch, &draft);
    *b = draft;
    b->threads = context->desc.threads;
    b->context = *context;
    b->context.desc.log = NULL;
    b->context.desc.stop = NULL;
    b->context.last_error = NULL;
    for (t = 0; t < b->threads && !status; t++) {
        status = gpuopt__simplex_cpu_worker_create(batch, &b->worker[t]);
        if (!status && b->second) status = gpuopt__simplex_cpu_worker_create(batch, &b->second[t]);
    }
    if (status) gpuopt__simplex_cpu_batch_release(context, b);
    else batch->engine = b;
    return status;
}

/* ---- From the root to a child ---- */

/* How many of the root's pivots are beside the worker's factors already: all, if the last child has only added some. */
static int32_t gpuopt__simplex_cpu_pivots_kept(const gpuopt__simplex_cpu_worker *w, const gpuopt__simplex_cpu *root) {
    const gpuopt__simplex_sparse *own;
    if (!root->revised || w->version != root->version) return 0;
    own = &w->engine->sparse;
    return own->factor == root->sparse.factor && own->etas.count >= root->sparse.etas.count ? root->sparse.etas.count
                                                                                            : 0;
}

/* The worker's handle becomes what the root is. What a rebuild recomputes is not copied. */
static void gpuopt__simplex_cpu_begin_child(gpuopt__simplex_cpu_batch *b, gpuopt__simplex_cpu_worker *w,
                                            const gpuopt_simplex *root) {
    const gpuopt__simplex_cpu *from = (const gpuopt__simplex_cpu *)root->engine;
    const size_t rows = (size_t)root->lp.rows, cols = (size_t)root->lp.cols, both = sizeof(double) * (rows + cols);
    gpuopt__arena vectors = {NULL, 0};
    gpuopt__simplex_vectors measure;
    gpuopt_simplex *s = w->s;
    const int other = w->version != from->version;
    const int32_t kept = gpuopt__simplex_cpu_pivots_kept(w, from);
    gpuopt__simplex_cpu_adopt(b, w, root);
    gpuopt__simplex_etas_copy(&w->engine->sparse.etas, &from->sparse.etas, kept);
    if (!from->revised && (other || w->moved)) gpuopt__simplex_cpu_copy_deferred(&w->engine->inverse, &from->inverse);
    if (other) {
        memcpy(s->lp.row_scale, root->lp.row_scale, sizeof(double) * rows);
        memcpy(s->lp.col_scale, root->lp.col_scale, sizeof(double) * cols);
    }
    w->version = from->version;
    w->moved = 1;
    memcpy(s->cost, root->cost, both);
    memcpy(s->lower, root->lower, both);
    memcpy(s->upper, root->upper, both);
    memcpy(s->work_lower, root->work_lower, both);
    memcpy(s->work_upper, root->work_upper, both);
    memcpy(s->x, root->x, both);
    memcpy(s->x_low, root->x_low, both);
    memcpy(s->status, root->status, rows + cols);
    gpuopt__simplex_cut_vectors(&vectors, root->shape.rows, root->shape.cols, &measure);
    memcpy(s->v.xb, root->v.xb, (size_t)vectors.used);
    memcpy(w->engine->dual_weight, from->dual_weight, sizeof(double) * rows);
    memcpy(w->engine->norm, from->norm, both);
}

/* The changes, as the calls that set some make them. */
static gpuopt_status gpuopt__simplex_cpu_change_child(gpuopt_simplex *s, const gpuopt__simplex_child_list *c,
                                                      int32_t k) {
    int64_t e;
    for (e = c->bound_start[k]; e < c->bound_start[k + 1]; e++) {
        s->lower[c->variable[e]] = c->lower[e];
        s->upper[c->variable[e]] = c->upper[e];
        gpuopt__simplex_work_bounds(s, c->variable[e]);
    }
    for (e = c->cost_start[k]; e < c->cost_start[k + 1]; e++) s->cost[c->col[e]] = c->cost[e];
    gpuopt__simplex_find_crossing(s);
    return gpuopt__simplex_changed(s);
}

#endif /* GPUOPT_IMPL_SIMPLEX_CPU_CHILD_WORKERS_H */
