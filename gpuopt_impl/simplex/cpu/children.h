/* SPDX-License-Identifier: MIT
 *
 * Children of one basis or of several on the CPU. Each thread has a handle of its own: for each child it becomes what
 * the root is, takes the child's changes, and iterates as any handle does. With several roots each thread has a second
 * handle, which is the root of its present child. Children are taken in the order of their roots, so that a thread
 * makes factors of a root once.
 */
#ifndef GPUOPT_IMPL_SIMPLEX_CPU_CHILDREN_H
#define GPUOPT_IMPL_SIMPLEX_CPU_CHILDREN_H

#include "../../common/items.h"
#include "child_workers.h"

/* ---- Other roots ---- */

/* What a handle knows besides its model, basis and bounds: the worker becomes as one that has just been created. */
static void gpuopt__simplex_cpu_forget(gpuopt_simplex *s) {
    int32_t k;
    s->iterations = s->flips = s->rebuilds = s->refactorizations = 0;
    s->weights_of = 0;
    s->dual_method.boxing = s->dual_method.boxed = s->dual_method.priced = 0;
    s->dual_method.short_of = s->dual_method.perturbed = s->dual_method.drifted = 0;
    s->dual_method.shifted = 0;
    s->dual_method.iterations = 0;
    s->cycle.state = 0;
    s->cycle.iterations = s->refining.end = 0;
    s->refining.primal = s->refining.dual = s->refining.least_unit = 0;
    for (k = 0; k < s->lp.cols; k++) s->v.weight[k] = 1;
}

/* The worker becomes a root: the handle with other bounds and another basis, as after _set_bounds and _set_basis in a
 * new handle. *singular: columns of the basis that depend on others. */
static gpuopt_status gpuopt__simplex_cpu_become_root(gpuopt_simplex_children *batch, gpuopt__simplex_cpu_worker *w,
                                                     int32_t root, int32_t *singular) {
    const int64_t both = (int64_t)batch->lp->rows + batch->lp->cols;
    const gpuopt__simplex_roots *from = &batch->roots;
    gpuopt_simplex *s;
    gpuopt__simplex_cpu *e;
    gpuopt_status status;
    gpuopt__simplex_cpu_begin_child((gpuopt__simplex_cpu_batch *)batch->engine, w, batch->root);
    s = w->s;
    e = w->engine;
    gpuopt__simplex_cpu_forget(s);
    memcpy(s->lower, from->lower + root * both, sizeof(double) * (size_t)both);
    memcpy(s->upper, from->upper + root * both, sizeof(double) * (size_t)both);
    memcpy(s->status, from->status + root * both, (size_t)both);
    memset(e->norm, 0, sizeof(double) * (size_t)both);
    gpuopt__simplex_find_crossing(s);
    *singular = 0;
    status = gpuopt__simplex_reinvert(s, singular);
    gpuopt__simplex_enter_stage(s, GPUOPT__SIMPLEX_STAGE_NEW);
    if (!status) status = gpuopt__simplex_rebase(s);
    s->empty = 0;
    if (!status) gpuopt__simplex_cpu_weigh(e, s->desc.dual_pricing);
    /* other than that of any other root, which children compare, and of the handle, which is positive */
    e->version = -(from->version * GPUOPT__SIMPLEX_ROOTS + root);
    return status;
}

/* The root of a child, as a handle of the thread's; NULL: its factors need more memory. */
static const gpuopt_simplex *gpuopt__simplex_cpu_root_of(gpuopt_simplex_children *batch, int thread, int32_t root) {
    gpuopt__simplex_cpu_batch *b = (gpuopt__simplex_cpu_batch *)batch->engine;
    gpuopt__simplex_cpu_at_root *at;
    int32_t singular;
    if (root < 0) return batch->root;
    at = &b->at_root[thread];
    if (at->version != batch->roots.version || at->root != root) {
        at->status = gpuopt__simplex_cpu_become_root(batch, &b->second[thread], root, &singular);
        at->version = batch->roots.version;
        at->root = root;
    }
    return at->status ? NULL : b->second[thread].s;
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
    for (j = 0; job->x && j < cols; j++) job->x[k * cols + j] = gpuopt__simplex_unscaled_x(s, (int32_t)j, s->x[j]);
    for (j = 0; job->farkas && j < rows; j++) job->farkas[k * rows + j] = proven ? s->farkas[j] : 0;
    for (j = 0; job->farkas_low && j < rows; j++) job->farkas_low[k * rows + j] = proven ? s->farkas_low[j] : 0;
    if (!job->bounds) return;
    job->bound[k] = s->desc.maximize ? -HUGE_VAL : HUGE_VAL;
    if (!proven && gpuopt__simplex_caller_bound(s, &job->bound[k])) job->bound[k] = -job->bound[k];
}

enum { GPUOPT__SIMPLEX_CPU_AGAIN = -1 }; /* outcome of a child whose factors need more memory */

static void gpuopt__simplex_cpu_run_child(gpuopt_simplex_children *batch, int thread, int32_t k) {
    gpuopt__simplex_children_job *job = &batch->job;
    gpuopt__simplex_cpu_worker *w = &((gpuopt__simplex_cpu_batch *)batch->engine)->worker[thread];
    const gpuopt_simplex *root = gpuopt__simplex_cpu_root_of(batch, thread, job->children.root[k]);
    const int ends = batch->desc.on_pivot_limit == GPUOPT_ON_PIVOT_LIMIT_END && batch->desc.pivots < job->most;
    gpuopt_status status;
    job->outcome[k] = GPUOPT__SIMPLEX_CPU_AGAIN;
    if (!root) return;
    gpuopt__simplex_cpu_begin_child((gpuopt__simplex_cpu_batch *)batch->engine, w, root);
    status = gpuopt__simplex_cpu_change_child(w->s, &job->children, k);
    if (!status) status = gpuopt__simplex_iterate(w->s, ends ? batch->desc.pivots : job->most);
    gpuopt__simplex_cpu_report_child(w->s, root, job, k, status);
    if (w->engine->sparse.lacks_memory) job->outcome[k] = GPUOPT__SIMPLEX_CPU_AGAIN;
    if (ends && job->outcome[k] == GPUOPT_MORE) job->outcome[k] = GPUOPT_FULL;
}

static void gpuopt__simplex_cpu_next_child(void *of, int thread, int64_t k, int stopped) {
    gpuopt_simplex_children *batch = (gpuopt_simplex_children *)of;
    gpuopt__simplex_children_job *job = &batch->job;
    const int64_t rows = batch->root->lp.rows, cols = batch->root->lp.cols;
    if (!stopped) {
        gpuopt__simplex_cpu_run_child(batch, thread, (int32_t)k);
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

static void gpuopt__simplex_cpu_next_in_order(void *of, int thread, int64_t k, int stopped) {
    const gpuopt_simplex_children *batch = (const gpuopt_simplex_children *)of;
    const int32_t *order = ((const gpuopt__simplex_cpu_batch *)batch->engine)->order;
    gpuopt__simplex_cpu_next_child(of, thread, order[k], stopped);
}

/* Children whose factors, or whose root's, did not fit, again, with more memory: only this thread may ask for it. Those
 * behind a stop stay not started. */
static gpuopt_status gpuopt__simplex_cpu_again(gpuopt_simplex_children *batch) {
    gpuopt__simplex_cpu_batch *b = (gpuopt__simplex_cpu_batch *)batch->engine;
    gpuopt_status status = GPUOPT_OK;
    int32_t k;
    int stopped = 0;
    for (k = 0; k < batch->job.children.count && !status; k++)
        while (!status && batch->job.outcome[k] == GPUOPT__SIMPLEX_CPU_AGAIN) {
            const int of_root = batch->job.children.root[k] >= 0 && b->at_root[0].status;
            gpuopt__simplex_cpu_worker *w = of_root ? &b->second[0] : &b->worker[0];
            stopped = stopped || gpuopt__asked_to_stop(batch->root->context);
            if (!stopped) status = gpuopt__simplex_cpu_worker_reserve(batch, w, w->own.capacity);
            if (!stopped && of_root) b->at_root[0].version = 0;
            if (!status) gpuopt__simplex_cpu_next_child(batch, 0, k, stopped);
        }
    return status;
}

/* What threads only read: the handle's vectors and factors, and the workers' memory. */
static gpuopt_status gpuopt__simplex_cpu_batch_begin(gpuopt_simplex_children *batch) {
    gpuopt__simplex_cpu_batch *b = (gpuopt__simplex_cpu_batch *)batch->engine;
    gpuopt_simplex *root = batch->root;
    int t;
    gpuopt_status status = gpuopt__simplex_pull(root);
    if (!status) status = gpuopt__simplex_need_pattern(root);
    if (!status) status = gpuopt__simplex_cpu_ready((gpuopt__simplex_cpu *)root->engine);
    for (t = 0; t < b->threads && !status; t++) {
        status = gpuopt__simplex_cpu_worker_reserve(batch, &b->worker[t], 0);
        if (!status && b->second) status = gpuopt__simplex_cpu_worker_reserve(batch, &b->second[t], 0);
        if (b->second) b->at_root[t].version = 0; /* costs may be others, too */
    }
    return status;
}

/* Finds whether a root's basis is regular. */
static void gpuopt__simplex_cpu_try_root(void *of, int thread, int64_t k, int stopped) {
    gpuopt_simplex_children *batch = (gpuopt_simplex_children *)of;
    gpuopt__simplex_cpu_batch *b = (gpuopt__simplex_cpu_batch *)batch->engine;
    (void)stopped; /* all are tried */
    if (gpuopt__simplex_cpu_become_root(batch, &b->second[thread], (int32_t)k, &b->singular[k])) b->singular[k] = -1;
}

static gpuopt_status gpuopt__simplex_cpu_set_roots(gpuopt_simplex_children *batch, int32_t *singular) {
    gpuopt__simplex_cpu_batch *b = (gpuopt__simplex_cpu_batch *)batch->engine;
    gpuopt__simplex_cpu_worker *w = &b->second[0];
    int32_t k;
    gpuopt_status status = gpuopt__simplex_cpu_batch_begin(batch);
    if (status) return status;
    gpuopt__each_item(batch->root->context, batch->roots.count, 1, gpuopt__simplex_cpu_try_root, batch);
    for (k = 0; k < batch->roots.count && !status; k++) {
        while (!status && b->singular[k] < 0) { /* its factors did not fit */
            status = gpuopt__simplex_cpu_worker_reserve(batch, w, w->own.capacity);
            if (!status) gpuopt__simplex_cpu_try_root(batch, 0, k, 0);
        }
        if (!status && b->singular[k] > 0 && *singular < 0) *singular = k;
    }
    for (k = 1; k < b->threads && !status; k++) /* other threads get as much memory */
        if (b->second[k].own.capacity < w->own.capacity)
            status = gpuopt__simplex_cpu_worker_reserve(batch, &b->second[k], w->own.capacity / 2);
    return status;
}

/* Puts the children into the order of their roots. */
static void gpuopt__simplex_cpu_sort_by_root(const gpuopt_simplex_children *batch, gpuopt__simplex_cpu_batch *b) {
    const gpuopt__simplex_child_list *c = &batch->job.children;
    int32_t k;
    memset(b->first, 0, sizeof *b->first * ((size_t)batch->desc.roots + 2));
    for (k = 0; k < c->count; k++) b->first[c->root[k] + 2]++; /* behind those of the roots before */
    for (k = 0; k <= batch->desc.roots; k++) b->first[k + 1] += b->first[k];
    for (k = 0; k < c->count; k++) b->order[b->first[c->root[k] + 1]++] = k;
}

static gpuopt_status gpuopt__simplex_cpu_batch_run(gpuopt_simplex_children *batch) {
    enum { PARTS = 4 }; /* of the children of several roots, for each thread */
    gpuopt__simplex_cpu_batch *b = (gpuopt__simplex_cpu_batch *)batch->engine;
    gpuopt_simplex *root = batch->root;
    const int32_t count = batch->job.children.count, part = count / (PARTS * b->threads);
    gpuopt_status status = gpuopt__simplex_cpu_batch_begin(batch);
    if (status) return status;
    gpuopt__simplex_cpu_weigh((gpuopt__simplex_cpu *)root->engine, root->desc.dual_pricing);
    if (batch->job.named_roots) {
        gpuopt__simplex_cpu_sort_by_root(batch, b);
        gpuopt__each_item(root->context, count, part > 1 ? part : 1, gpuopt__simplex_cpu_next_in_order, batch);
    } else gpuopt__each_item(root->context, count, 1, gpuopt__simplex_cpu_next_child, batch);
    return gpuopt__simplex_cpu_again(batch);
}

#endif /* GPUOPT_IMPL_SIMPLEX_CPU_CHILDREN_H */
