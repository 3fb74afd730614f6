/* SPDX-License-Identifier: MIT
 *
 * Children of one basis that the ranks of a group share (common/dealt.h). Each rank checks and scales all children,
 * compares them with what the others were given, and keeps those that are its own.
 */
#ifndef GPUOPT_IMPL_SIMPLEX_CHILDREN_SHARE_H
#define GPUOPT_IMPL_SIMPLEX_CHILDREN_SHARE_H

#include "../../common/dealt.h"
#include "../ranks/agree.h"

/* What a report may ask for of a child. */
static uint64_t gpuopt__simplex_share_bytes(const gpuopt_simplex *s) {
    const uint64_t rows = (uint64_t)s->lp.rows, cols = (uint64_t)s->lp.cols;
    return 2 * sizeof(int32_t) + sizeof(double) * (2 + cols + 2 * rows) + cols + rows;
}

/* ---- Agreeing ---- */

/* A hash of what must be equal in batches of a group, and of the root's scales. */
static uint64_t gpuopt__simplex_share_hash(const gpuopt_simplex_children *b) {
    const gpuopt_simplex *s = b->root;
    const gpuopt__simplex_options *root = &s->desc;
    const double number[] = {root->offset, root->infinity, root->primal_tolerance, root->dual_tolerance,
                             root->pivot_tolerance};
    const char *backend = gpuopt_backend_name(b->context->desc.backend);
    const int64_t whole[] = {
        s->lp.rows,
        s->lp.cols,
        s->lp.nonzeros,
        s->shape.method,
        s->shape.deferred_pivots,
        root->maximize != 0,
        (int64_t)root->algorithm,
        (int64_t)root->dual_pricing,
        (int64_t)root->seed,
        b->copies,
        b->desc.pivots,
        b->desc.changes,
        (int64_t)b->desc.on_pivot_limit,
        b->desc.with_basis != 0,
        b->desc.with_x != 0,
        b->desc.with_farkas != 0,
        gpuopt__simplex_array_fingerprint(GPUOPT_HOST, number, sizeof number / sizeof *number, sizeof(double)),
        gpuopt__simplex_array_fingerprint(GPUOPT_HOST, backend, (int64_t)strlen(backend), 1)};
    return gpuopt__simplex_scales_fingerprint(s, gpuopt__hash_numbers(GPUOPT__HASH_START, whole, sizeof whole / 8));
}

/* A hash of what a run does, and of where the root stands, as far as this is known without asking the backend. col: of
 * strong branching on `given` columns; NULL: the job's children are meant. */
static uint64_t gpuopt__simplex_share_fingerprint(const gpuopt_simplex_children *b, int64_t given, const int32_t *col,
                                                  const double *value, int64_t iterations,
                                                  const gpuopt_simplex_child_report *report) {
    const gpuopt_simplex *s = b->root;
    const gpuopt__simplex_child_list *c = &b->job.children;
    const int64_t both = (int64_t)s->lp.rows + s->lp.cols;
    const int64_t whole[] = {given,
                             col != NULL,
                             value != NULL,
                             iterations,
                             report->outcome != NULL,
                             report->iterations != NULL,
                             report->bound != NULL,
                             report->objective != NULL,
                             report->basis != NULL,
                             report->x != NULL,
                             report->farkas != NULL,
                             report->farkas_low != NULL,
                             report->certainty != NULL,
                             s->iterations,
                             s->rebuilds,
                             (int64_t)s->verdict};
    const double at[] = {s->dual_method.cutoff, s->dual_method.limit};
    uint64_t hash = gpuopt__hash_numbers(GPUOPT__HASH_START, whole, sizeof whole / 8);
    int64_t e;
    hash = gpuopt__hash_numbers(hash, at, 2);
    hash = gpuopt__hash_numbers(hash, s->lower, both);
    hash = gpuopt__hash_numbers(hash, s->upper, both);
    hash = gpuopt__hash_numbers(hash, s->cost, both);
    hash = gpuopt__hash(hash, s->status, (uint64_t)both);
    for (e = 0; col && e < given; e++) hash = gpuopt__hash_number(hash, (uint64_t)col[e]);
    if (col && value) hash = gpuopt__hash_numbers(hash, value, given);
    if (col || given == 0) return hash;
    hash = gpuopt__hash_numbers(hash, c->bound_start, given + 1);
    hash = gpuopt__hash_numbers(hash, c->cost_start, given + 1);
    for (e = 0; e < c->bound_start[given]; e++) hash = gpuopt__hash_number(hash, (uint64_t)c->variable[e]);
    for (e = 0; e < c->cost_start[given]; e++) hash = gpuopt__hash_number(hash, (uint64_t)c->col[e]);
    hash = gpuopt__hash_numbers(hash, c->lower, c->bound_start[given]);
    hash = gpuopt__hash_numbers(hash, c->upper, c->bound_start[given]);
    return gpuopt__hash_numbers(hash, c->cost, c->cost_start[given]);
}

/* Ends the creation of a batch, which had this status on this rank: returns the same status on all ranks. */
static gpuopt_status gpuopt__simplex_share_made(gpuopt_context *context, const char *call, gpuopt_status status,
                                                gpuopt_group *group, const gpuopt_simplex_children *b) {
    if (!group) return status;
    return gpuopt__ranks_agree(context, group, call, status, status ? 0 : gpuopt__simplex_share_hash(b));
}

/* With a group: whether all ranks make this call, with the same arguments; else the same status on all. */
static gpuopt_status gpuopt__simplex_share_begins(const gpuopt_simplex_children *b, const char *call,
                                                  gpuopt_status status, int64_t given, const int32_t *col,
                                                  const double *value, int64_t iterations,
                                                  const gpuopt_simplex_child_report *report) {
    uint64_t hash;
    if (!b->dealt) return status;
    hash = status ? 0 : gpuopt__simplex_share_fingerprint(b, given, col, value, iterations, report);
    return gpuopt__ranks_agree(b->context, b->dealt->group, call, status, hash);
}

/* ---- This rank's children ---- */

/* Keeps the children in `part` of a list with these starts, in place: the k-th of them is child k or one after
 * it. */
static void gpuopt__simplex_share_keep(const gpuopt__dealt_part *part, int64_t *start, int32_t *index, double *low,
                                       double *high) {
    int64_t at = 0;
    int32_t k;
    for (k = 0; k < part->count; k++) {
        const int64_t from = start[part->item[k]];
        const size_t count = (size_t)(start[part->item[k] + 1] - from);
        memmove(index + at, index + from, sizeof *index * count);
        memmove(low + at, low + from, sizeof *low * count);
        if (high) memmove(high + at, high + from, sizeof *high * count);
        start[k] = at;
        at += (int64_t)count;
    }
    start[part->count] = at;
}

/* With a group: keeps only this rank's children in the job. */
static void gpuopt__simplex_share_take(gpuopt_simplex_children *b) {
    gpuopt__simplex_child_list *c = &b->job.children;
    gpuopt__dealt_part part;
    if (!b->dealt) return;
    b->dealt->count = c->count;
    part = gpuopt__dealt_part_of(b->dealt, b->dealt->rank);
    gpuopt__simplex_share_keep(&part, c->bound_start, c->variable, c->lower, c->upper);
    gpuopt__simplex_share_keep(&part, c->cost_start, c->col, c->cost, NULL);
    c->count = part.count;
}

/* With a group: sends the results of this rank's children to all ranks, and receives theirs. */
static gpuopt_status gpuopt__simplex_share_results(gpuopt_simplex_children *b, const char *call, gpuopt_status status,
                                                   const gpuopt_simplex_child_report *report) {
    const size_t rows = (size_t)b->root->lp.rows, cols = (size_t)b->root->lp.cols;
    const gpuopt__simplex_children_job *job = &b->job;
    const gpuopt__dealt_array found[] = {{report->outcome || report->certainty ? job->outcome : NULL, sizeof(int32_t)},
                                         {report->iterations ? job->iterations : NULL, sizeof(int32_t)},
                                         {report->bound ? job->bound : NULL, sizeof(double)},
                                         {report->objective ? job->objective : NULL, sizeof(double)},
                                         {report->basis, cols + rows},
                                         {report->x, sizeof(double) * cols},
                                         {report->farkas, sizeof(double) * rows},
                                         {report->farkas_low, sizeof(double) * rows}};
    gpuopt__dealt_array wanted[sizeof found / sizeof *found];
    size_t k;
    int count = 0;
    if (!b->dealt) return status;
    for (k = 0; k < sizeof found / sizeof *found; k++)
        if (found[k].at && found[k].size > 0) wanted[count++] = found[k];
    return gpuopt__dealt_exchange(b->dealt, b->context, call, status, 0, 0, b->dealt->count, wanted, count);
}

#endif /* GPUOPT_IMPL_SIMPLEX_CHILDREN_SHARE_H */
