/* SPDX-License-Identifier: MIT
 *
 * Children of one basis: the public calls. They check what the host gives, bring it into the root's scales, and leave
 * the work to the backend; see cpu_batch.h and cuda/simplex/batch.cuh.
 */
#ifndef GPUOPT_IMPL_SIMPLEX_BATCH_H
#define GPUOPT_IMPL_SIMPLEX_BATCH_H

#include "answers.h"
#include "change.h"

enum { GPUOPT__SIMPLEX_BATCH_COPIES = 65536, GPUOPT__SIMPLEX_BATCH_PIVOTS = 65536 };

/* ---- The root ---- */

static gpuopt_status gpuopt__simplex_solve_root(gpuopt_simplex_batch *b, gpuopt__simplex_root_point *p) {
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
static gpuopt_status gpuopt__simplex_find_root(gpuopt_simplex_batch *b, gpuopt__simplex_root_point *p) {
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
    return s->since_refresh > 0 ? gpuopt__simplex_pull(s) : GPUOPT_OK; /* else nothing has moved */
}

/* ---- Life ---- */

static gpuopt_status gpuopt__simplex_batch_check(gpuopt_simplex *root, const char *call,
                                                 const gpuopt_simplex_batch_desc *desc,
                                                 gpuopt_simplex_batch_desc *own) {
    const gpuopt_context *context = root->context;
    const gpuopt__simplex_backend *backend = gpuopt__simplex_backend_of(root);
    gpuopt_status status;
    memset(own, 0, sizeof *own);
    if (!desc) return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "desc is NULL");
    status = gpuopt__check_struct(context, call, backend, desc, desc->struct_size, own, sizeof *own);
    if (status) return status;
    if (root->desc.group)
        return gpuopt__refuse(context, GPUOPT_ERROR_UNSUPPORTED, call, "the root is shared by a group");
    if (own->copies < 1 || own->copies > GPUOPT__SIMPLEX_BATCH_COPIES)
        return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "copies is not in 1..65536");
    if (own->pivots < 0 || own->pivots > GPUOPT__SIMPLEX_BATCH_PIVOTS)
        return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "pivots is not in 0..65536");
    if (own->changes < 0 || own->changes > INT32_MAX)
        return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "changes is out of range");
    if (own->when_full != GPUOPT_WHEN_FULL_END && own->when_full != GPUOPT_WHEN_FULL_REFACTOR)
        return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "when_full is not a constant of its enum");
    if (own->pivots == 0) own->pivots = 256;
    if (own->changes == 0) own->changes = 8 * (int64_t)own->copies;
    return GPUOPT_OK;
}

/* Cuts the block of a batch; with base NULL it only measures. */
static gpuopt_simplex_batch *gpuopt__simplex_batch_cut(gpuopt__arena *arena, const gpuopt_simplex_batch_desc *desc,
                                                       gpuopt_simplex_batch *b) {
    gpuopt_simplex_batch *own = (gpuopt_simplex_batch *)gpuopt__cut(arena, 1, sizeof *b);
    gpuopt__simplex_batch_job *job = &b->job;
    gpuopt__simplex_children *c = &job->children;
    int64_t **const starts[] = {&c->bound_start, &c->cost_start, &b->start[0], &b->start[1], &b->start[2]};
    int32_t **const of_copies[] = {&job->outcome, &job->iterations},
                    **const of_changes[] = {&c->variable, &c->col, &b->index};
    double **const values[] = {&c->lower, &c->upper, &c->cost, &b->low, &b->high};
    size_t k;
    for (k = 0; k < sizeof starts / sizeof *starts; k++)
        *starts[k] = (int64_t *)gpuopt__cut(arena, (int64_t)desc->copies + 1, sizeof(int64_t));
    for (k = 0; k < sizeof of_copies / sizeof *of_copies; k++)
        *of_copies[k] = (int32_t *)gpuopt__cut(arena, desc->copies, sizeof(int32_t));
    job->bound = (double *)gpuopt__cut(arena, desc->copies, sizeof(double));
    job->objective = (double *)gpuopt__cut(arena, desc->copies, sizeof(double));
    job->objective_low = (double *)gpuopt__cut(arena, desc->copies, sizeof(double));
    for (k = 0; k < sizeof of_changes / sizeof *of_changes; k++)
        *of_changes[k] = (int32_t *)gpuopt__cut(arena, desc->changes, sizeof(int32_t));
    for (k = 0; k < sizeof values / sizeof *values; k++)
        *values[k] = (double *)gpuopt__cut(arena, desc->changes, sizeof(double));
    return own;
}

static void gpuopt__simplex_batch_begin(gpuopt_simplex_batch *b, gpuopt_simplex *root) {
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

GPUOPT_API gpuopt_status gpuopt_simplex_batch_plan(gpuopt_simplex *root, const gpuopt_simplex_batch_desc *desc,
                                                   gpuopt_memory_plan *plan) {
    static const char call[] = "gpuopt_simplex_batch_plan";
    gpuopt_simplex_batch draft;
    gpuopt_memory_plan result;
    gpuopt__arena arena = {NULL, 0};
    gpuopt_status status;
    if (!root) return GPUOPT_ERROR_ARGUMENT;
    if (!GPUOPT__HAS_SIZE(plan))
        return gpuopt__refuse(root->context, GPUOPT_ERROR_ARGUMENT, call, "plan is NULL or has no struct_size");
    memset(&result, 0, sizeof result);
    gpuopt__simplex_batch_begin(&draft, root);
    status = gpuopt__simplex_batch_check(root, call, desc, &draft.desc);
    if (!status) status = gpuopt__simplex_backend_of(root)->batch_plan(&draft, &result);
    if (status) return status;
    gpuopt__simplex_batch_cut(&arena, &draft.desc, &draft);
    result.host_bytes += arena.used;
    gpuopt__copy_out(plan, plan->struct_size, &result, sizeof result);
    return GPUOPT_OK;
}

GPUOPT_API gpuopt_status gpuopt_simplex_batch_create(gpuopt_simplex *root, const gpuopt_simplex_batch_desc *desc,
                                                     gpuopt_simplex_batch **batch) {
    static const char call[] = "gpuopt_simplex_batch_create";
    gpuopt_simplex_batch draft, *b;
    gpuopt__arena arena = {NULL, 0};
    gpuopt_status status;
    GPUOPT__COMPUTES(gpuopt_simplex_batch_create(root, desc, batch));
    if (batch) *batch = NULL;
    if (!root) return GPUOPT_ERROR_ARGUMENT;
    if (!batch) return gpuopt__refuse(root->context, GPUOPT_ERROR_ARGUMENT, call, "batch is NULL");
    gpuopt__simplex_batch_begin(&draft, root);
    status = gpuopt__simplex_batch_check(root, call, desc, &draft.desc);
    if (status) return status;
    gpuopt__simplex_batch_cut(&arena, &draft.desc, &draft);
    status = gpuopt__take_block(root->context, GPUOPT_HOST, &arena);
    if (status) return status;
    b = gpuopt__simplex_batch_cut(&arena, &draft.desc, &draft);
    *b = draft;
    status = gpuopt__simplex_backend_of(root)->batch_create(b);
    if (status) gpuopt__release(root->context, GPUOPT_HOST, b);
    else *batch = b;
    return status;
}

GPUOPT_API void gpuopt_simplex_batch_destroy(gpuopt_simplex_batch *batch) {
    if (!batch) return;
    gpuopt__simplex_backend_of(batch->root)->batch_destroy(batch);
    gpuopt__release(batch->root->context, GPUOPT_HOST, batch);
}

/* ---- Children, into the root's scales ---- */

/* One of the three lists that children are given, in host memory. */
typedef struct gpuopt__simplex_given {
    const char *start_name, *index_name, *low_name, *high_name;
    const int64_t *start;
    const int32_t *index;
    const double *low, *high; /* costs: high is NULL */
    int32_t end;              /* of the indices */
} gpuopt__simplex_given;

/* Fetches a list's starts into `room`, and checks them; *left: entries that there is room for. */
static gpuopt_status gpuopt__simplex_fetch_starts(gpuopt_simplex_batch *b, const char *call, gpuopt_memory where,
                                                  int32_t count, gpuopt__simplex_given *g, int64_t *room,
                                                  int64_t *left) {
    gpuopt_context *context = b->root->context;
    const void *found = NULL;
    int32_t k;
    gpuopt_status status;
    if (!g->start) return GPUOPT_OK;
    status = gpuopt__fetch(context, where, g->start, sizeof(int64_t) * ((uint64_t)count + 1), room, &found);
    if (status) return status;
    g->start = (const int64_t *)found;
    for (k = 0; k < count; k++)
        if (g->start[0] != 0 || g->start[k] > g->start[k + 1]) {
            gpuopt__log(context, 0, "%s: %s[0] is not 0, or %s[%d] exceeds the next one", call, g->start_name,
                        g->start_name, (int)k);
            return GPUOPT_ERROR_ARGUMENT;
        }
    *left -= g->start[count];
    if (*left < 0)
        return gpuopt__refuse(context, GPUOPT_ERROR_MEMORY, call,
                              "the children are given more entries than the descriptor has room for");
    return GPUOPT_OK;
}

/* Fetches the entries of a list into the batch's staging, and checks the indices. */
static gpuopt_status gpuopt__simplex_fetch_entries(gpuopt_simplex_batch *b, const char *call, gpuopt_memory where,
                                                   int32_t count, gpuopt__simplex_given *g) {
    gpuopt_context *context = b->root->context;
    const int64_t entries = g->start ? g->start[count] : 0;
    const uint64_t bytes = sizeof(double) * (uint64_t)entries;
    const void *index = NULL, *low = NULL, *high = NULL;
    gpuopt_status status;
    if (entries == 0) return GPUOPT_OK;
    if (!g->index) {
        gpuopt__log(context, 0, "%s: %s is NULL", call, g->index_name);
        return GPUOPT_ERROR_ARGUMENT;
    }
    status = gpuopt__fetch(context, where, g->index, sizeof(int32_t) * (uint64_t)entries, b->index, &index);
    if (!status && g->low) status = gpuopt__fetch(context, where, g->low, bytes, b->low, &low);
    if (!status && g->high) status = gpuopt__fetch(context, where, g->high, bytes, b->high, &high);
    if (status) return status;
    g->index = (const int32_t *)index;
    g->low = (const double *)low;
    g->high = (const double *)high;
    return gpuopt__check_indices(context, call, g->index_name, entries, g->index, g->end);
}

/* Appends child k's bounds of a list to the job's. A logical is minus its row. */
static void gpuopt__simplex_scale_bounds(gpuopt_simplex_batch *b, const gpuopt__simplex_given *g, int32_t k, int is_row,
                                         int64_t *at, int *exact) {
    const gpuopt_simplex *s = b->root;
    gpuopt__simplex_children *c = &b->job.children;
    int64_t e;
    for (e = g->start ? g->start[k] : 0; g->start && e < g->start[k + 1]; e++, ++*at) {
        const int32_t variable = (is_row ? s->lp.cols : 0) + g->index[e];
        const double scale = gpuopt__simplex_bound_scale(s, variable), infinity = s->desc.infinity;
        double low = s->lower[variable], high = s->upper[variable];
        double *of_low = is_row ? &high : &low, *of_high = is_row ? &low : &high;
        if (g->low) {
            const double value = g->low[e] <= -infinity ? -HUGE_VAL : g->low[e];
            *of_low = gpuopt__simplex_scaled(value, scale, exact);
        }
        if (g->high) {
            const double value = g->high[e] >= infinity ? HUGE_VAL : g->high[e];
            *of_high = gpuopt__simplex_scaled(value, scale, exact);
        }
        c->variable[*at] = variable;
        c->lower[*at] = low;
        c->upper[*at] = high;
    }
}

/* Fills the job's children from the host's. The lists share the staging for what is in device memory, so one of bounds
 * is scaled before the next one is fetched: columns first, and then, behind them, rows; last the children's entries are
 * brought together. */
static gpuopt_status gpuopt__simplex_take_children(gpuopt_simplex_batch *b, const char *call, gpuopt_memory where,
                                                   const gpuopt_simplex_children *given) {
    gpuopt_simplex *s = b->root;
    gpuopt_context *context = s->context;
    gpuopt__simplex_children *c = &b->job.children;
    gpuopt__simplex_given list[] = {
        {"start", "col", "lb", "ub", given->start, given->col, given->lb, given->ub, s->lp.cols},
        {"side_start", "row", "lhs", "rhs", given->side_start, given->row, given->lhs, given->rhs, s->lp.rows},
        {"cost_start", "cost_col", "cost", NULL, given->cost_start, given->cost_col, given->cost, NULL, s->lp.cols}};
    int64_t left = b->desc.changes, at = 0, e;
    int32_t k, kind;
    int exact = 1;
    gpuopt_status status = GPUOPT_OK;
    c->count = given->count;
    for (kind = 0; kind < 3 && !status; kind++)
        status = gpuopt__simplex_fetch_starts(b, call, where, given->count, &list[kind], b->start[kind], &left);
    if (status) return status;
    if (list[1].start && list[1].start[given->count] > 0 && (!given->lhs || !given->rhs))
        return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "lhs or rhs is NULL");
    if (list[2].start && list[2].start[given->count] > 0 && !given->cost)
        return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "cost is NULL");
    for (k = 0; k <= given->count; k++) {
        c->bound_start[k] = (list[0].start ? list[0].start[k] : 0) + (list[1].start ? list[1].start[k] : 0);
        c->cost_start[k] = list[2].start ? list[2].start[k] : 0;
    }
    for (kind = 0; kind < 2 && !status; kind++) {
        const gpuopt__simplex_given *g = &list[kind];
        status = gpuopt__simplex_fetch_entries(b, call, where, given->count, &list[kind]);
        if (!status && g->start)
            status = gpuopt__check_pairs(context, call, g->low_name, g->high_name, g->start[given->count], g->low,
                                         g->high, s->desc.infinity, kind == 0);
        for (k = 0; k < given->count && !status && g->start; k++) {
            at = kind == 0 ? c->bound_start[k] : c->bound_start[k + 1] - (g->start[k + 1] - g->start[k]);
            gpuopt__simplex_scale_bounds(b, g, k, kind, &at, &exact);
        }
    }
    if (!status) status = gpuopt__simplex_fetch_entries(b, call, where, given->count, &list[2]);
    if (!status) status = gpuopt__check_finite(context, call, "cost", c->cost_start[given->count], list[2].low);
    for (e = 0; !status && e < c->cost_start[given->count]; e++) {
        c->col[e] = list[2].index[e];
        c->cost[e] = gpuopt__simplex_scaled(list[2].low[e], gpuopt__simplex_cost_scale(s, c->col[e]), &exact);
    }
    if (!status && !exact)
        status =
            gpuopt__refuse(context, GPUOPT_ERROR_NUMERIC, call, "a value would overflow or lose digits when scaled");
    return status;
}

/* ---- Runs ---- */

/* Runs the job, whose children are filled in. */
static gpuopt_status gpuopt__simplex_run_job(gpuopt_simplex_batch *b, gpuopt_memory where, int64_t iterations,
                                             const gpuopt_simplex_child_report *report) {
    gpuopt_context *context = b->root->context;
    gpuopt__simplex_batch_job *job = &b->job;
    const int32_t count = job->children.count;
    const uint64_t ints = sizeof(int32_t) * (uint64_t)count, doubles = sizeof(double) * (uint64_t)count;
    int32_t k;
    gpuopt_status status;
    job->most = iterations < INT32_MAX ? (int32_t)iterations : INT32_MAX;
    job->bounds = report->bound != NULL;
    job->where = where;
    job->basis = report->basis;
    job->x = report->x;
    job->farkas = report->farkas;
    job->farkas_low = report->farkas_low;
    job->scaled = 0;
    status = gpuopt__simplex_backend_of(b->root)->batch_run(b);
    for (k = 0; !status && job->scaled && k < count; k++) {
        gpuopt__simplex_sum objective = {job->objective[k], job->objective_low[k], 0};
        if (job->bounds) job->bound[k] = gpuopt__simplex_host_bound_of(b->root, job->bound[k]);
        job->objective[k] = gpuopt__simplex_host_objective(b->root, objective);
    }
    if (!status) status = gpuopt__deliver(context, where, report->outcome, job->outcome, ints);
    if (!status) status = gpuopt__deliver(context, where, report->iterations, job->iterations, ints);
    if (!status) status = gpuopt__deliver(context, where, report->bound, job->bound, doubles);
    if (!status) status = gpuopt__deliver(context, where, report->objective, job->objective, doubles);
    return status;
}

/* Checks what both calls are given beside the children. */
static gpuopt_status gpuopt__simplex_check_run(const gpuopt_simplex_batch *b, const char *call, gpuopt_memory where,
                                               int64_t count, int64_t iterations,
                                               const gpuopt_simplex_child_report *report,
                                               gpuopt_simplex_child_report *wanted) {
    const gpuopt_context *context = b->root->context;
    memset(wanted, 0, sizeof *wanted);
    if (report && !gpuopt__copy_in(wanted, sizeof *wanted, report, report->struct_size))
        return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "report has a wrong size");
    if (iterations < 1) return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "iterations is less than 1");
    if (count < 0 || count > b->desc.copies)
        return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "count is negative, or exceeds the copies");
    return gpuopt__check_where(context, call, where);
}

GPUOPT_API gpuopt_status gpuopt_simplex_batch_run(gpuopt_simplex_batch *batch, gpuopt_memory where,
                                                  const gpuopt_simplex_children *children, int64_t iterations,
                                                  const gpuopt_simplex_child_report *report) {
    static const char call[] = "gpuopt_simplex_batch_run";
    gpuopt_simplex_children given;
    gpuopt_simplex_child_report wanted;
    gpuopt_status status;
    GPUOPT__COMPUTES(gpuopt_simplex_batch_run(batch, where, children, iterations, report));
    if (!batch) return GPUOPT_ERROR_ARGUMENT;
    memset(&given, 0, sizeof given);
    if (!children || !gpuopt__copy_in(&given, sizeof given, children, children->struct_size))
        return gpuopt__refuse(batch->root->context, GPUOPT_ERROR_ARGUMENT, call,
                              "children is NULL or has a wrong size");
    status = gpuopt__simplex_check_run(batch, call, where, given.count, iterations, report, &wanted);
    if (status || given.count == 0) return status;
    status = gpuopt__simplex_take_children(batch, call, where, &given);
    return status ? status : gpuopt__simplex_run_job(batch, where, iterations, &wanted);
}

/* The two children of the column in the host's `col`. */
static gpuopt_status gpuopt__simplex_branch_on(gpuopt_simplex_batch *b, const char *call, int32_t k, int32_t col) {
    const gpuopt_simplex *s = b->root;
    gpuopt__simplex_children *c = &b->job.children;
    const double x = gpuopt__simplex_x_of(s, col), scale = gpuopt__simplex_bound_scale(s, col), down = floor(x);
    int exact = 1;
    c->variable[2 * k] = c->variable[2 * k + 1] = col;
    c->lower[2 * k] = s->lower[col];
    c->upper[2 * k] = gpuopt__simplex_scaled(down, scale, &exact);
    c->lower[2 * k + 1] = gpuopt__simplex_scaled(down + 1, scale, &exact);
    c->upper[2 * k + 1] = s->upper[col];
    return exact ? GPUOPT_OK
                 : gpuopt__refuse(s->context, GPUOPT_ERROR_NUMERIC, call,
                                  "a value would overflow or lose digits when scaled");
}

GPUOPT_API gpuopt_status gpuopt_simplex_batch_branch(gpuopt_simplex_batch *batch, gpuopt_memory where, int32_t count,
                                                     const int32_t *col, int64_t iterations,
                                                     const gpuopt_simplex_child_report *report) {
    static const char call[] = "gpuopt_simplex_batch_branch";
    gpuopt_simplex_child_report wanted;
    gpuopt_context *context;
    const void *found = NULL;
    int32_t k;
    gpuopt_status status;
    GPUOPT__COMPUTES(gpuopt_simplex_batch_branch(batch, where, count, col, iterations, report));
    if (!batch) return GPUOPT_ERROR_ARGUMENT;
    context = batch->root->context;
    status = gpuopt__simplex_check_run(batch, call, where, 2 * (int64_t)count, iterations, report, &wanted);
    if (status || count == 0) return status;
    if (!col) return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "col is NULL");
    if (2 * (int64_t)count > batch->desc.changes)
        return gpuopt__refuse(context, GPUOPT_ERROR_MEMORY, call, "the descriptor has no room for so many changes");
    status = gpuopt__fetch(context, where, col, sizeof(int32_t) * (uint64_t)count, batch->index, &found);
    if (!status)
        status = gpuopt__check_indices(context, call, "col", count, (const int32_t *)found, batch->root->lp.cols);
    if (!status) status = gpuopt__simplex_fresh_to_solve(batch->root, 0);
    for (k = 0; k < count && !status; k++)
        status = gpuopt__simplex_branch_on(batch, call, k, ((const int32_t *)found)[k]);
    if (status) return status;
    batch->job.children.count = 2 * count;
    for (k = 0; k <= 2 * count; k++) batch->job.children.bound_start[k] = k, batch->job.children.cost_start[k] = 0;
    return gpuopt__simplex_run_job(batch, where, iterations, &wanted);
}

#endif /* GPUOPT_IMPL_SIMPLEX_BATCH_H */
