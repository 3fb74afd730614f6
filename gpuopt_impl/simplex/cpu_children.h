/* SPDX-License-Identifier: MIT
 *
 * Children of one basis on the CPU. Each thread has a handle of its own: for each child it becomes what the root is,
 * takes the child's changes, and iterates as any handle does.
 */
#ifndef GPUOPT_IMPL_SIMPLEX_CPU_BATCH_H
#define GPUOPT_IMPL_SIMPLEX_CPU_BATCH_H

#include "../common/items.h"
#include "children.h"
#include "cpu_dual.h"
#include "cpu_add_and_remove.h"
#include "cpu_save_inverse.h"
#include "cpu_memory.h"
#include "cpu_batch.h"
#include "cpu_sums.h"

/* A thread's handle, whose engine shares the root's model. */
typedef struct gpuopt__simplex_cpu_worker {
    gpuopt_simplex *s;
    gpuopt__simplex_cpu *engine;
    gpuopt__simplex_factor own; /* REVISED: factors for children whose pivots do not fit beside the root's */
    int64_t version;            /* of the root's inverse, which the engine's is except for `moved`; 0: none yet */
    int moved;                  /* a child has been here */
} gpuopt__simplex_cpu_worker;

typedef struct gpuopt__simplex_cpu_batch {
    gpuopt_context
        context; /* the handles': the caller's without its log and its stop, which are not for other threads */
    int threads;
    gpuopt__simplex_cpu_worker *worker; /* [threads] */
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

static gpuopt_status gpuopt__simplex_cpu_batch_plan(const gpuopt_simplex_children *batch, gpuopt_memory_plan *plan) {
    const int threads = batch->context->desc.threads;
    gpuopt__arena arena = {NULL, 0};
    gpuopt__cut(&arena, 1, sizeof(gpuopt__simplex_cpu_batch));
    gpuopt__cut(&arena, threads, sizeof(gpuopt__simplex_cpu_worker));
    plan->host_bytes += arena.used + (uint64_t)threads * gpuopt__simplex_cpu_worker_bytes(batch->root);
    if (batch->root->shape.method == GPUOPT_METHOD_REVISED)
        plan->host_bytes +=
            (uint64_t)threads *
            gpuopt__simplex_factor_bytes(batch->root->shape.rows,
                                         ((const gpuopt__simplex_cpu *)batch->root->engine)->sparse.own.capacity);
    return GPUOPT_OK;
}

static void gpuopt__simplex_cpu_batch_release(const gpuopt_context *context, gpuopt__simplex_cpu_batch *b) {
    int t;
    for (t = 0; t < b->threads; t++) {
        gpuopt__release(context, GPUOPT_HOST, b->worker[t].own.block);
        gpuopt__release(context, GPUOPT_HOST, b->worker[t].s);
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

static gpuopt_status gpuopt__simplex_cpu_batch_create(gpuopt_simplex_children *batch) {
    const gpuopt_context *context = batch->context;
    const int threads = context->desc.threads;
    const uint64_t bytes = gpuopt__simplex_cpu_worker_bytes(batch->root);
    gpuopt__arena arena = {NULL, 0};
    gpuopt__simplex_cpu_batch *b;
    gpuopt_status status;
    void *memory;
    gpuopt__cut(&arena, 1, sizeof *b);
    gpuopt__cut(&arena, threads, sizeof *b->worker);
    status = gpuopt__allocate(context, GPUOPT_HOST, arena.used, &memory);
    if (status) return status;
    arena.base = (char *)memory;
    arena.used = 0;
    b = (gpuopt__simplex_cpu_batch *)gpuopt__cut(&arena, 1, sizeof *b);
    memset(b, 0, sizeof *b);
    b->worker = (gpuopt__simplex_cpu_worker *)gpuopt__cut(&arena, threads, sizeof *b->worker);
    b->context = *context;
    b->context.desc.log = NULL;
    b->context.desc.stop = NULL;
    b->context.last_error = NULL;
    for (; !status && b->threads < threads; b->threads += !status) {
        gpuopt__simplex_cpu_worker *w = &b->worker[b->threads];
        memset(w, 0, sizeof *w);
        status = gpuopt__allocate(context, GPUOPT_HOST, bytes, &memory);
        if (status) continue;
        w->s = (gpuopt_simplex *)memory;
        status = gpuopt__simplex_cpu_worker_reserve(batch, w, 0);
        if (status) gpuopt__release(context, GPUOPT_HOST, w->s);
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

/* ---- A child ---- */

/* Its result. A number beyond the range of double makes it IMPRECISE. */
static void gpuopt__simplex_cpu_report_child(gpuopt_simplex *s, const gpuopt_simplex *root,
                                             gpuopt__simplex_children_job *job, int32_t k, gpuopt_status status) {
    const int64_t rows = s->lp.rows, cols = s->lp.cols;
    const int proven = s->verdict == GPUOPT_INFEASIBLE;
    double infeasibility;
    int64_t j;
    if (!status && s->since_rebuild > 0) status = gpuopt__simplex_pull(s);
    gpuopt__simplex_objective(s, &job->objective[k], &infeasibility);
    job->iterations[k] = (int32_t)(s->iterations - root->iterations);
    job->outcome[k] = (int32_t)s->verdict;
    if (status || (s->verdict == GPUOPT_OPTIMAL && !gpuopt__simplex_representable(s)))
        job->outcome[k] = GPUOPT_IMPRECISE, job->objective[k] = (double)NAN;
    for (j = 0; job->basis && j < cols + rows; j++)
        job->basis[k * (cols + rows) + j] = j < cols ? s->status[j] : gpuopt__simplex_mirrored(s->status[j]);
    for (j = 0; job->x && j < cols; j++) job->x[k * cols + j] = gpuopt__simplex_x_of(s, (int32_t)j);
    for (j = 0; job->farkas && j < rows; j++) job->farkas[k * rows + j] = proven ? s->farkas[j] : 0;
    for (j = 0; job->farkas_low && j < rows; j++) job->farkas_low[k * rows + j] = proven ? s->farkas_low[j] : 0;
    if (!job->bounds) return;
    job->bound[k] = s->desc.maximize ? -HUGE_VAL : HUGE_VAL;
    if (!proven && gpuopt__simplex_caller_bound(s, &job->bound[k])) job->bound[k] = -job->bound[k];
}

enum { GPUOPT__SIMPLEX_CPU_AGAIN = -1 }; /* outcome of a child whose factors need more memory */

static void gpuopt__simplex_cpu_run_child(gpuopt_simplex_children *batch, gpuopt__simplex_cpu_worker *w, int32_t k) {
    gpuopt__simplex_children_job *job = &batch->job;
    const int ends = batch->desc.on_pivot_limit == GPUOPT_ON_PIVOT_LIMIT_END && batch->desc.pivots < job->most;
    gpuopt_status status;
    gpuopt__simplex_cpu_begin_child((gpuopt__simplex_cpu_batch *)batch->engine, w, batch->root);
    status = gpuopt__simplex_cpu_change_child(w->s, &job->children, k);
    if (!status) status = gpuopt__simplex_iterate(w->s, ends ? batch->desc.pivots : job->most);
    gpuopt__simplex_cpu_report_child(w->s, batch->root, job, k, status);
    if (w->engine->sparse.lacks_memory) job->outcome[k] = GPUOPT__SIMPLEX_CPU_AGAIN;
    if (ends && job->outcome[k] == GPUOPT_MORE) job->outcome[k] = GPUOPT_FULL;
}

static void gpuopt__simplex_cpu_next_child(void *of, int thread, int64_t k, int stopped) {
    gpuopt_simplex_children *batch = (gpuopt_simplex_children *)of;
    gpuopt__simplex_cpu_batch *b = (gpuopt__simplex_cpu_batch *)batch->engine;
    gpuopt__simplex_children_job *job = &batch->job;
    const int64_t rows = batch->root->lp.rows, cols = batch->root->lp.cols;
    if (!stopped) {
        gpuopt__simplex_cpu_run_child(batch, &b->worker[thread], (int32_t)k);
        return;
    }
    job->outcome[k] = GPUOPT_MORE;
    job->iterations[k] = 0;
    job->bound[k] = job->objective[k] = (double)NAN;
    if (job->basis) memset(job->basis + k * (cols + rows), 0, (size_t)(cols + rows));
    if (job->x) memset(job->x + k * cols, 0, sizeof(double) * (size_t)cols);
    if (job->farkas) memset(job->farkas + k * rows, 0, sizeof(double) * (size_t)rows);
    if (job->farkas_low) memset(job->farkas_low + k * rows, 0, sizeof(double) * (size_t)rows);
}

/* Children whose factors did not fit, again, with more memory: only this thread may ask for it. Those
 * behind a stop stay not started. */
static gpuopt_status gpuopt__simplex_cpu_again(gpuopt_simplex_children *batch) {
    gpuopt__simplex_cpu_worker *w = &((gpuopt__simplex_cpu_batch *)batch->engine)->worker[0];
    gpuopt_status status = GPUOPT_OK;
    int32_t k;
    int stopped = 0;
    for (k = 0; k < batch->job.children.count && !status; k++)
        while (!status && batch->job.outcome[k] == GPUOPT__SIMPLEX_CPU_AGAIN) {
            stopped = stopped || gpuopt__asked_to_stop(batch->root->context);
            if (!stopped) status = gpuopt__simplex_cpu_worker_reserve(batch, w, w->own.capacity);
            if (!status) gpuopt__simplex_cpu_next_child(batch, 0, k, stopped);
        }
    return status;
}

static gpuopt_status gpuopt__simplex_cpu_batch_run(gpuopt_simplex_children *batch) {
    gpuopt__simplex_cpu_batch *b = (gpuopt__simplex_cpu_batch *)batch->engine;
    gpuopt_simplex *root = batch->root;
    int t;
    gpuopt_status status = gpuopt__simplex_pull(root);
    if (!status) status = gpuopt__simplex_cpu_ready((gpuopt__simplex_cpu *)root->engine);
    for (t = 0; t < b->threads && !status; t++) status = gpuopt__simplex_cpu_worker_reserve(batch, &b->worker[t], 0);
    if (status) return status;
    gpuopt__simplex_cpu_weigh((gpuopt__simplex_cpu *)root->engine, root->desc.dual_pricing);
    gpuopt__each_item(root->context, batch->job.children.count, 1, gpuopt__simplex_cpu_next_child, batch);
    return gpuopt__simplex_cpu_again(batch);
}

static const gpuopt__simplex_backend gpuopt__simplex_cpu_table = {
    gpuopt__simplex_cpu_plan,
    gpuopt__simplex_cpu_create,
    gpuopt__simplex_cpu_scale,
    gpuopt__simplex_cpu_pattern,
    gpuopt__simplex_cpu_destroy,
    gpuopt__simplex_cpu_run,
    gpuopt__simplex_cpu_dual_run,
    gpuopt__simplex_cpu_reset,
    gpuopt__simplex_cpu_enter,
    gpuopt__simplex_cpu_exchange_some,
    gpuopt__simplex_cpu_get_column,
    gpuopt__simplex_cpu_kept_bytes,
    gpuopt__simplex_cpu_keep,
    gpuopt__simplex_cpu_restore,
    gpuopt__simplex_cpu_nothing,
    gpuopt__simplex_cpu_nothing,
    gpuopt__simplex_cpu_ftran,
    gpuopt__simplex_cpu_btran,
    gpuopt__simplex_cpu_residual,
    gpuopt__simplex_cpu_reduce,
    gpuopt__simplex_cpu_sizes,
    gpuopt__simplex_cpu_batch_plan,
    gpuopt__simplex_cpu_batch_create,
    gpuopt__simplex_cpu_batch_destroy,
    gpuopt__simplex_cpu_batch_run,
    gpuopt__simplex_cpu_offer,
    gpuopt__simplex_cpu_accept,
    gpuopt__simplex_cpu_drop,
    NULL,
    0.1,
    0,
    0,
    &gpuopt__simplex_batch_cpu_table,
};

#endif /* GPUOPT_IMPL_SIMPLEX_CPU_BATCH_H */
