/* SPDX-License-Identifier: MIT
 *
 * Children of one basis: the public calls. They check what the caller gives, bring it into the root's scales, and leave
 * the work to the backend; see cpu/children.h and cuda/simplex/children/calls.cuh.
 */
#ifndef GPUOPT_IMPL_SIMPLEX_CHILDREN_CALLS_H
#define GPUOPT_IMPL_SIMPLEX_CHILDREN_CALLS_H

#include "roots.h"
#include "share.h"

enum { GPUOPT__SIMPLEX_CHILDREN_COPIES = 65536, GPUOPT__SIMPLEX_CHILDREN_PIVOTS = 65536 };

/* ---- The root ---- */

static gpuopt_status gpuopt__simplex_solve_root(gpuopt_simplex_children *b, gpuopt__simplex_root_point *p) {
    gpuopt_simplex *s = b->root;
    gpuopt__simplex_duals duals = {p->y, p->y_low, p->reduced};
    double noise;
    int32_t i, j;
    int good;
    gpuopt_status status;
    for (j = 0; j < s->lp.cols; j++) { /* as gpuopt__simplex_place_nonbasic */
        const int32_t variable = s->v.slot[j];
        const double l = s->lower[variable], u = gpuopt__max(l, s->upper[variable]);
        const int upper = u < HUGE_VAL && (s->status[variable] == GPUOPT_VARIABLE_AT_UPPER || l == -HUGE_VAL);
        p->x[variable] = upper ? u : l > -HUGE_VAL ? l : 0;
        p->x_low[variable] = 0;
    }
    for (i = 0; i < s->lp.rows; i++) p->x[s->v.head[i]] = p->x_low[s->v.head[i]] = 0;
    status = gpuopt__simplex_solve_x(s, p->x, p->x_low, GPUOPT__SIMPLEX_ONCE, &good, &noise);
    if (!status) status = gpuopt__simplex_solve_duals(s, duals, s->cost, GPUOPT__SIMPLEX_ONCE, &good, &noise);
    return status;
}

/* Where the root's model and basis are. Called first. */
static gpuopt_status gpuopt__simplex_find_root(gpuopt_simplex_children *b, gpuopt__simplex_root_point *p) {
    gpuopt_simplex *s = b->root;
    p->lower = s->lower;
    p->upper = s->upper;
    p->cost = s->cost;
    p->status = s->status;
    p->head = s->v.head;
    p->primal_scale = s->primal_scale;
    p->cost_scale = s->cost_scale;
    p->cutoff = s->dual_method.cutoff;
    p->limit = s->dual_method.limit;
    return s->since_rebuild > 0 ? gpuopt__simplex_pull(s) : GPUOPT_OK; /* else nothing has moved */
}

/* ---- Life ---- */

/* Fills a draft's descriptor, which is that of this rank's own children, and its group; that is NULL if it cannot be
 * used. */
static gpuopt_status gpuopt__simplex_children_check(gpuopt_simplex *root, const char *call,
                                                    const gpuopt_simplex_children_desc *desc,
                                                    gpuopt_simplex_children *draft, gpuopt__dealt *dealt) {
    gpuopt_simplex_children_desc *own = &draft->desc;
    gpuopt_group_info group;
    const gpuopt_context *context = root->context;
    const gpuopt__simplex_backend *backend = gpuopt__simplex_backend_of(root);
    gpuopt_status status;
    memset(dealt, 0, sizeof *dealt);
    memset(own, 0, sizeof *own);
    status = GPUOPT__CHECK_STRUCT(context, call, backend, gpuopt_simplex_children_desc, desc, own);
    if (status) memset(own, 0, sizeof *own);
    if (!status) status = gpuopt__ranks_of(context, call, &own->group, &group);
    if (!status) status = gpuopt__ranks_refuse(context, call, root->desc.group, "the root is shared by a group");
    if (status) return status;
    if (own->batch_size < 1 || own->batch_size > GPUOPT__SIMPLEX_CHILDREN_COPIES)
        return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "batch_size is not in 1..65536");
    if (own->pivots < 0 || own->pivots > GPUOPT__SIMPLEX_CHILDREN_PIVOTS)
        return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "pivots is not in 0..65536");
    if (own->changes < 0 || own->changes > INT32_MAX)
        return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "changes is out of range");
    if (own->on_pivot_limit != GPUOPT_ON_PIVOT_LIMIT_END && own->on_pivot_limit != GPUOPT_ON_PIVOT_LIMIT_REFACTOR)
        return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "on_pivot_limit is not a constant of its enum");
    if (own->roots < 0 || own->roots > GPUOPT__SIMPLEX_ROOTS)
        return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "roots is not in 0..65536");
    if (own->roots > 0)
        status = gpuopt__ranks_refuse(context, call, own->group, "with a group, the handle is the only root");
    if (status) return status;
    if (own->pivots == 0) own->pivots = 256;
    if (own->changes == 0) own->changes = 8 * (int64_t)own->batch_size;
    draft->copies = own->batch_size;
    *dealt = gpuopt__dealt_head(own->group, &group, own->batch_size, 0, gpuopt__simplex_share_bytes(root));
    own->batch_size = dealt->own;
    return GPUOPT_OK;
}

/* Cuts the block of a batch; with base NULL it only measures. */
static gpuopt_simplex_children *gpuopt__simplex_children_cut(gpuopt__arena *arena, gpuopt_simplex_children *b,
                                                             gpuopt__dealt *dealt) {
    gpuopt_simplex_children *own = (gpuopt_simplex_children *)gpuopt__cut(arena, 1, sizeof *b);
    gpuopt__simplex_children_job *job = &b->job;
    gpuopt__simplex_child_list *c = &job->children;
    int64_t **const starts[] = {&c->bound_start, &c->cost_start, &b->start[0], &b->start[1], &b->start[2]};
    int32_t **const of_copies[] = {&job->outcome, &job->iterations, &c->root},
                    **const of_changes[] = {&c->variable, &c->col, &b->index};
    double **const values[] = {&c->lower, &c->upper, &c->cost, &b->low, &b->high};
    size_t k;
    for (k = 0; k < sizeof starts / sizeof *starts; k++)
        *starts[k] = (int64_t *)gpuopt__cut(arena, (int64_t)b->copies + 1, sizeof(int64_t));
    for (k = 0; k < sizeof of_copies / sizeof *of_copies; k++)
        *of_copies[k] = (int32_t *)gpuopt__cut(arena, b->copies, sizeof(int32_t));
    job->bound = (double *)gpuopt__cut(arena, b->copies, sizeof(double));
    job->objective = (double *)gpuopt__cut(arena, b->copies, sizeof(double));
    job->objective_low = (double *)gpuopt__cut(arena, b->copies, sizeof(double));
    for (k = 0; k < sizeof of_changes / sizeof *of_changes; k++)
        *of_changes[k] = (int32_t *)gpuopt__cut(arena, b->desc.changes, sizeof(int32_t));
    for (k = 0; k < sizeof values / sizeof *values; k++)
        *values[k] = (double *)gpuopt__cut(arena, b->desc.changes, sizeof(double));
    gpuopt__simplex_roots_cut(arena, b, &b->roots);
    b->dealt = gpuopt__dealt_cut_all(arena, dealt);
    return own;
}

static void gpuopt__simplex_children_begin(gpuopt_simplex_children *b, gpuopt_simplex *root) {
    memset(b, 0, sizeof *b);
    b->root = root;
    b->context = root->context;
    b->shape = &root->shape;
    b->root_desc = &root->desc;
    b->lp = &root->lp;
    b->root_engine = root->engine;
    b->find_root = gpuopt__simplex_find_root;
    b->solve_root = gpuopt__simplex_solve_root;
}

static gpuopt_status gpuopt__simplex_children_write_plan(gpuopt_simplex *root, const char *call,
                                                         const gpuopt_simplex_children_desc *desc,
                                                         gpuopt_memory_plan *plan) {
    gpuopt_simplex_children draft;
    gpuopt__dealt dealt;
    gpuopt__arena arena = {NULL, 0};
    gpuopt_status status;
    gpuopt__simplex_children_begin(&draft, root);
    status = gpuopt__simplex_children_check(root, call, desc, &draft, &dealt);
    if (!status) status = gpuopt__simplex_backend_of(root)->children_plan(&draft, plan);
    if (status) return status;
    gpuopt__simplex_children_cut(&arena, &draft, &dealt);
    plan->host_bytes += arena.used;
    return GPUOPT_OK;
}

static gpuopt_status gpuopt__simplex_children_make(gpuopt_simplex_children *draft, gpuopt__dealt *dealt,
                                                   gpuopt_simplex_children **made) {
    const gpuopt_context *context = draft->context;
    gpuopt__arena arena = {NULL, 0};
    gpuopt_simplex_children *b;
    gpuopt_status status;
    gpuopt__simplex_children_cut(&arena, draft, dealt);
    status = gpuopt__take_block(context, GPUOPT_HOST, &arena);
    if (status) return status;
    b = gpuopt__simplex_children_cut(&arena, draft, dealt);
    *b = *draft;
    gpuopt__dealt_fill(b->dealt, dealt);
    status = gpuopt__simplex_backend_of(b->root)->children_create(b);
    if (status) gpuopt__release(context, GPUOPT_HOST, b);
    else *made = b;
    return status;
}

static void gpuopt__simplex_children_release(gpuopt_simplex_children *b) {
    if (!b) return;
    gpuopt__simplex_backend_of(b->root)->children_destroy(b);
    gpuopt__release(b->context, GPUOPT_HOST, b);
}

static gpuopt_status gpuopt__simplex_children_create_handle(gpuopt_simplex *root, const char *call,
                                                            const gpuopt_simplex_children_desc *desc,
                                                            gpuopt_simplex_children **batch) {
    gpuopt_simplex_children draft, *b = NULL;
    gpuopt__dealt dealt;
    gpuopt_status status;
    gpuopt__simplex_children_begin(&draft, root);
    status = gpuopt__simplex_children_check(root, call, desc, &draft, &dealt);
    if (!batch) status = gpuopt__refuse(root->context, GPUOPT_ERROR_ARGUMENT, call, "children and plan are NULL");
    if (!status) status = gpuopt__simplex_children_make(&draft, &dealt, &b);
    status = gpuopt__simplex_share_made(root->context, call, status, draft.desc.group, b);
    if (status) gpuopt__simplex_children_release(b);
    else *batch = b;
    return status;
}

GPUOPT_API gpuopt_status gpuopt_simplex_children_create(gpuopt_simplex *root, const gpuopt_simplex_children_desc *desc,
                                                        gpuopt_memory_plan *plan, gpuopt_simplex_children **batch) {
    GPUOPT__CALL_CREATES(gpuopt_simplex_children, root, root->context, plan,
                         gpuopt__simplex_children_write_plan(root, call, desc, &planned), batch,
                         gpuopt__simplex_children_create_handle(root, call, desc, batch));
}

GPUOPT_API void gpuopt_simplex_children_destroy(gpuopt_simplex_children *children) {
    GPUOPT__CALL_DESTROYS(gpuopt_simplex_children, children, children->context,
                          gpuopt__simplex_children_release(children));
}

/* ---- Runs ---- */

/* Runs the job, whose children are filled in unless that has failed. With a group: this rank's children, and then all
 * ranks have the results of all, or the same status. */
static gpuopt_status gpuopt__simplex_run_job(gpuopt_simplex_children *b, const char *call, gpuopt_memory_space where,
                                             int64_t iterations, const gpuopt_simplex_child_report *report,
                                             gpuopt_status status) {
    gpuopt_context *context = b->root->context;
    gpuopt__simplex_children_job *job = &b->job;
    const int32_t count = job->children.count;
    const uint64_t ints = sizeof(int32_t) * (uint64_t)count, doubles = sizeof(double) * (uint64_t)count;
    int32_t k;
    job->most = iterations < INT32_MAX ? (int32_t)iterations : INT32_MAX;
    job->bounds = report->bound != NULL;
    job->where = where;
    job->basis = report->basis;
    job->x = report->x;
    job->farkas = report->farkas;
    job->farkas_low = report->farkas_low;
    job->scaled = 0;
    if (!status) gpuopt__simplex_share_take(b);
    if (!status) status = gpuopt__simplex_backend_of(b->root)->children_run(b);
    for (k = 0; !status && job->scaled && k < job->children.count; k++) {
        gpuopt__simplex_sum objective = {job->objective[k], job->objective_low[k], 0};
        if (job->bounds) job->bound[k] = gpuopt__simplex_caller_bound_of(b->root, job->bound[k]);
        job->objective[k] = gpuopt__simplex_caller_objective(b->root, objective);
    }
    status = gpuopt__simplex_share_results(b, call, status, report);
    if (!status) status = gpuopt__deliver(context, where, report->outcome, job->outcome, ints);
    if (!status) status = gpuopt__deliver(context, where, report->iterations, job->iterations, ints);
    if (!status) status = gpuopt__deliver(context, where, report->bound, job->bound, doubles);
    if (!status) status = gpuopt__deliver(context, where, report->objective, job->objective, doubles);
    if (status) return status;
    for (k = 0; k < count; k++) job->outcome[k] = gpuopt__simplex_children_certainty(job->outcome[k]);
    return gpuopt__deliver(context, where, report->certainty, job->outcome, ints);
}

/* Checks the arguments of both calls, except the children. */
static gpuopt_status gpuopt__simplex_check_run(const gpuopt_simplex_children *b, const char *call,
                                               gpuopt_memory_space where, int64_t count, int64_t iterations,
                                               const gpuopt_simplex_child_report *report,
                                               gpuopt_simplex_child_report *wanted) {
    const gpuopt_context *context = b->root->context;
    memset(wanted, 0, sizeof *wanted);
    if (report && !GPUOPT__COPY_IN(context, call, gpuopt_simplex_child_report, wanted, report))
        return GPUOPT_ERROR_ARGUMENT;
    if (iterations < 1) return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "iterations is less than 1");
    if (count < 0 || count > b->copies)
        return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "count is negative, or exceeds batch_size");
    return gpuopt__dealt_check_where(b->dealt, context, call, where);
}

static gpuopt_status gpuopt__simplex_children_run(gpuopt_simplex_children *children, const char *call,
                                                  gpuopt_memory_space where, const gpuopt_simplex_child_list *list,
                                                  int64_t iterations, const gpuopt_simplex_child_report *report) {
    gpuopt_simplex_child_list given;
    gpuopt_simplex_child_report wanted;
    gpuopt_status status;
    memset(&given, 0, sizeof given);
    memset(&wanted, 0, sizeof wanted);
    if (!GPUOPT__COPY_IN(children->context, call, gpuopt_simplex_child_list, &given, list))
        status = GPUOPT_ERROR_ARGUMENT;
    else status = gpuopt__simplex_check_run(children, call, where, given.count, iterations, report, &wanted);
    if (!status && given.count > 0) status = gpuopt__simplex_take_children(children, call, where, &given);
    status = gpuopt__simplex_share_begins(children, call, status, given.count, NULL, NULL, iterations, &wanted);
    if (status || given.count == 0) return status;
    return gpuopt__simplex_run_job(children, call, where, iterations, &wanted, GPUOPT_OK);
}

GPUOPT_API gpuopt_status gpuopt_simplex_children_run(gpuopt_simplex_children *children, gpuopt_memory_space where,
                                                     const gpuopt_simplex_child_list *list, int64_t iterations,
                                                     const gpuopt_simplex_child_report *report) {
    GPUOPT__CALL(children, children->context,
                 gpuopt__simplex_children_run(children, call, where, list, iterations, report));
}

static gpuopt_status gpuopt__simplex_children_strong_branch(gpuopt_simplex_children *children, const char *call,
                                                            gpuopt_memory_space where, int32_t count,
                                                            const int32_t *root, const int32_t *col,
                                                            const double *value, int64_t iterations,
                                                            const gpuopt_simplex_child_report *report) {
    gpuopt_context *context = children->context;
    gpuopt_simplex_child_report wanted;
    const void *found = NULL, *at = NULL;
    int32_t k;
    gpuopt_status status =
        gpuopt__simplex_check_run(children, call, where, 2 * (int64_t)count, iterations, report, &wanted);
    if (!status && count > 0 && !col) status = gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "col is NULL");
    if (!status && 2 * (int64_t)count > children->desc.changes)
        status = gpuopt__refuse(context, GPUOPT_ERROR_MEMORY, call, "the descriptor does not allow so many changes");
    if (!status && root && !value)
        status = gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "value is NULL, and root is not");
    if (!status) status = gpuopt__simplex_take_roots(children, call, where, 2 * count, 2, root);
    if (!status && count > 0)
        status = gpuopt__fetch(context, where, col, sizeof(int32_t) * (uint64_t)count, children->index, &found);
    if (!status && count > 0)
        status = gpuopt__check_indices(context, call, "col", count, (const int32_t *)found, children->root->lp.cols);
    if (!status && value)
        status = gpuopt__fetch(context, where, value, sizeof(double) * (uint64_t)count, children->low, &at);
    if (!status && at) status = gpuopt__check_finite(context, call, "value", count, (const double *)at);
    status = gpuopt__simplex_share_begins(children, call, status, count, col, value, iterations, &wanted);
    if (status || count == 0) return status;
    if (!at) status = gpuopt__simplex_fresh_to_solve(children->root, 0);
    for (k = 0; k < count && !status; k++)
        status = gpuopt__simplex_branch_on(children, call, k, ((const int32_t *)found)[k],
                                           at ? ((const double *)at)[k]
                                              : gpuopt__simplex_x_of(children->root, ((const int32_t *)found)[k]));
    children->job.children.count = 2 * count;
    for (k = 0; k <= 2 * count; k++)
        children->job.children.bound_start[k] = k, children->job.children.cost_start[k] = 0;
    return gpuopt__simplex_run_job(children, call, where, iterations, &wanted, status);
}

GPUOPT_API gpuopt_status gpuopt_simplex_children_strong_branch(gpuopt_simplex_children *children,
                                                               gpuopt_memory_space where, int32_t count,
                                                               const int32_t *root, const int32_t *col,
                                                               const double *value, int64_t iterations,
                                                               const gpuopt_simplex_child_report *report) {
    GPUOPT__CALL(
        children, children->context,
        gpuopt__simplex_children_strong_branch(children, call, where, count, root, col, value, iterations, report));
}

#endif /* GPUOPT_IMPL_SIMPLEX_CHILDREN_CALLS_H */
