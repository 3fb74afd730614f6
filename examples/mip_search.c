/* SPDX-License-Identifier: MIT */
#include "examples/mip_search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int worker_ok(worker *w, gpuopt_status status) {
    if (!w->status) w->status = status;
    return !w->status;
}

/* ---- The trail ---- */

static int64_t trail_capacity(const mip *model) { return 20 * (int64_t)model->matrix.cols + 100000; }

/* Puts the columns that changed from a position of the trail on into the list. */
static void list_changes(worker *w, int64_t from) {
    gpuopt_propagator_changes *c = &w->changes;
    int64_t k;
    if (!worker_ok(w, gpuopt_propagator_get_changes(w->propagator, GPUOPT_HOST, from, c))) return;
    for (k = 0; k < c->count; k++)
        if (!w->mark[c->col[k]]) w->mark[c->col[k]] = 1, w->col[w->listed++] = c->col[k];
}

/* Gives the relaxation the bounds of the columns in the list, which is then empty. */
static void send_bounds(worker *w) {
    int32_t k;
    worker_ok(w, gpuopt_propagator_get_bounds(w->propagator, GPUOPT_HOST, w->listed, w->col, w->low, w->high));
    for (k = 0; k < w->listed; k++) {
        w->mark[w->col[k]] = 0;
        w->lb[w->col[k]] = w->low[k];
        w->ub[w->col[k]] = w->high[k];
    }
    if (w->lp) worker_ok(w, gpuopt_simplex_set_bounds(w->lp, GPUOPT_HOST, w->listed, w->col, w->low, w->high));
    w->listed = 0;
}

static int64_t trail_length(worker *w) {
    gpuopt_propagator_trail trail = GPUOPT_INIT(gpuopt_propagator_trail);
    worker_ok(w, gpuopt_propagator_get_trail(w->propagator, &trail));
    return trail.changes;
}

int node_is_full(worker *w) { return 2 * trail_length(w) > trail_capacity(w->model); }

/* Makes rounds until no bound moves, the trail is full (its bounds are valid), or rounds crawl. The relaxation then
 * finds in a few pivots the bounds that would take millions of rounds. */
static int propagate(worker *w) {
    enum { ROUNDS = 10, CALLS = 10, SLOW = 2 };
    gpuopt_propagator_info info = GPUOPT_INIT(gpuopt_propagator_info);
    int calls, slow = 0;
    for (calls = 0; calls < CALLS && slow < SLOW && info.outcome == GPUOPT_MORE; calls++) {
        if (!worker_ok(w, gpuopt_propagator_round(w->propagator, ROUNDS, &info))) return 0;
        slow = info.shrinkage < 1e-3 ? slow + 1 : 0;
    }
    return info.outcome != GPUOPT_INFEASIBLE;
}

int node_tighten(worker *w, int64_t count, const int32_t *col, const double *lb, const double *ub) {
    int64_t from = trail_length(w);
    if (!worker_ok(w, gpuopt_propagator_set_bounds(w->propagator, GPUOPT_HOST, count, col, lb, ub)) || !propagate(w))
        return 0;
    list_changes(w, from);
    send_bounds(w);
    return !w->status;
}

static int reserve(worker *w, int32_t depth) {
    step *path = depth > w->capacity ? realloc(w->path, (size_t)(2 * depth + 64) * sizeof *path) : w->path;
    if (!path && depth > 0) return worker_ok(w, GPUOPT_ERROR_MEMORY);
    if (depth > w->capacity) w->path = path, w->capacity = 2 * depth + 64;
    return 1;
}

int node_push(worker *w, const decision *d) {
    if (!reserve(w, w->depth + 1)) return 0;
    if (d) w->path[w->depth].d = *d;
    return worker_ok(w, gpuopt_propagator_push(w->propagator, &w->path[w->depth++].start));
}

void node_back(worker *w, int32_t depth) {
    int32_t levels = w->depth - depth;
    if (depth >= w->depth) return;
    if (depth < w->top) levels = w->depth - w->top + 1, depth = 0;
    list_changes(w, w->path[depth].start);
    worker_ok(w, gpuopt_propagator_pop(w->propagator, levels));
    send_bounds(w);
    w->depth = depth;
    if (depth == 0) w->top = 0;
}

int node_enter(worker *w, const open_node *node) {
    node_back(w, 0);
    if (w->status) return 0;
    node_set_basis(w, node->basis);
    return node_go(w, node);
}

int node_go(worker *w, const open_node *node) {
    int32_t k, count = 0;
    node_back(w, 0);
    if (w->status || !reserve(w, node->depth)) return 0;
    if (node->depth == 0) return !w->status;
    for (k = 0; k < node->depth; k++) { /* of several decisions on a column the tightest one counts */
        int32_t j = node->path[k].col;
        w->path[k].d = node->path[k];
        if (node->path[k].upper) w->ub[j] = fmin(w->ub[j], node->path[k].value);
        else w->lb[j] = fmax(w->lb[j], node->path[k].value);
        if (!w->mark[j]) w->mark[j] = 1, w->col[count++] = j;
    }
    for (k = 0; k < count; k++) {
        w->mark[w->col[k]] = 0;
        w->low[k] = w->lb[w->col[k]];
        w->high[k] = w->ub[w->col[k]];
    }
    w->depth = w->top = node->depth;
    return worker_ok(w, gpuopt_propagator_push(w->propagator, &w->path[0].start)) &&
           node_tighten(w, count, w->col, w->low, w->high);
}

int node_pack(worker *w) {
    size_t cols = (size_t)w->model->matrix.cols;
    double *kept = w->depth > 0 ? malloc(2 * cols * sizeof *kept) : NULL;
    int32_t depth = w->depth, count = 0;
    size_t j;
    int result;
    if (depth == 0) return worker_ok(w, gpuopt_propagator_commit(w->propagator));
    if (!kept) return worker_ok(w, GPUOPT_ERROR_MEMORY);
    memcpy(kept, w->lb, cols * sizeof *kept);
    memcpy(kept + cols, w->ub, cols * sizeof *kept);
    node_back(w, 0);
    for (j = 0; j < cols; j++) {
        if (kept[j] == w->lb[j] && kept[cols + j] == w->ub[j]) continue;
        w->col[count] = (int32_t)j;
        w->low[count] = kept[j];
        w->high[count++] = kept[cols + j];
    }
    free(kept);
    w->depth = w->top = depth;
    result = worker_ok(w, gpuopt_propagator_push(w->propagator, &w->path[0].start));
    return result && node_tighten(w, count, w->col, w->low, w->high);
}

int node_descend(worker *w, decision d) {
    return node_push(w, &d) && node_tighten(w, 1, &d.col, d.upper ? NULL : &d.value, d.upper ? &d.value : NULL);
}

/* ---- The relaxation ---- */

void node_set_basis(worker *w, const uint8_t *basis) {
    gpuopt_status status = gpuopt_simplex_set_basis(w->lp, GPUOPT_HOST, basis);
    if (status != GPUOPT_ERROR_NUMERIC)
        worker_ok(w, status); /* too close to a singular one: then from the present one */
}

int node_relax(worker *w) {
    gpuopt_simplex_info info = GPUOPT_INIT(gpuopt_simplex_info);
    int64_t before;
    worker_ok(w, gpuopt_simplex_get_info(w->lp, &info));
    before = info.iterations;
    do {
        if (!worker_ok(w, gpuopt_simplex_iterate(w->lp, 200, &info))) return 0;
        w->late |= interrupted(NULL);
    } while (info.outcome == GPUOPT_MORE && !w->late);
    w->iterations += info.iterations - before;
    if (info.outcome == GPUOPT_MORE || info.outcome == GPUOPT_INFEASIBLE || info.outcome == GPUOPT_CUTOFF) return 0;
    if (info.outcome != GPUOPT_OPTIMAL) worker_ok(w, gpuopt_simplex_get_bound(w->lp, &info.objective));
    w->outcome = info.outcome;
    w->objective = info.objective;
    w->bound = fmax(info.objective, w->bound);
    return worker_ok(
               w, gpuopt_simplex_get_solution(w->lp, GPUOPT_HOST,
                                              &(gpuopt_simplex_solution){.struct_size = sizeof(gpuopt_simplex_solution),
                                                                         .x = w->x,
                                                                         .reduced_cost = w->slope})) &&
           worker_ok(w, gpuopt_simplex_get_basis(w->lp, GPUOPT_HOST, w->basis)) && w->bound < w->cutoff;
}

/* With rational data a model with an unbounded relaxation is infeasible or unbounded, too (Meyer 1974). */
void node_forget_costs(worker *w) {
    int32_t j, n = w->model->matrix.cols;
    for (j = 0; j < n; j++) w->col[j] = j, w->low[j] = 0;
    worker_ok(w, gpuopt_simplex_set_costs(w->lp, GPUOPT_HOST, n, w->col, w->low));
}

/* ---- The root ---- */

static int allocate(worker *w) {
    size_t rows = (size_t)w->model->matrix.rows, cols = (size_t)w->model->matrix.cols, k;
    double **numbers[] = {&w->x, &w->slope, &w->lb, &w->ub, &w->low, &w->high, &w->best};
    int failed = 0;
    for (k = 0; k < sizeof numbers / sizeof *numbers; k++)
        failed |= !(*numbers[k] = calloc(cols + 1, sizeof **numbers[k]));
    w->changes = GPUOPT_INIT(gpuopt_propagator_changes);
    w->changes.capacity = trail_capacity(w->model);
    w->changes.col = calloc((size_t)w->changes.capacity, sizeof *w->changes.col);
    w->basis = calloc(rows + cols + MOST_CUTS, 1);
    w->col = calloc(cols + 1, sizeof *w->col);
    w->mark = calloc(cols + 1, 1);
    failed |= !w->changes.col || !w->basis || !w->col || !w->mark;
    return worker_ok(w, failed ? GPUOPT_ERROR_MEMORY : GPUOPT_OK);
}

/* Probes the binaries, some at a time, for a tenth of the time at most, and sets the resulting bounds. */
static int probe(worker *w) {
    enum { AT_ONCE = 256 };
    gpuopt_propagator_probe_desc desc = GPUOPT_INIT(gpuopt_propagator_probe_desc);
    gpuopt_propagator_probe_bounds found = GPUOPT_INIT(gpuopt_propagator_probe_bounds);
    gpuopt_propagator_probe_info info = GPUOPT_INIT(gpuopt_propagator_probe_info);
    gpuopt_propagator_probe *handle = NULL;
    double until = now() + 0.1 * fmin(600, interrupt_left());
    int32_t binary[AT_ONCE], j = 0, count, n = w->model->matrix.cols;
    int feasible = 1;
    desc.nodes = 2 * AT_ONCE;
    found.capacity = n;
    found.col = w->col;
    found.lb = w->low;
    found.ub = w->high;
    worker_ok(w, gpuopt_propagator_probe_create(w->propagator, &desc, NULL, &handle));
    while (!w->status && feasible && j < n && now() < until) {
        for (count = 0; j < n && count < AT_ONCE; j++)
            if (w->model->integer[j] && w->lb[j] == 0 && w->ub[j] == 1) binary[count++] = j;
        if (count == 0 || !worker_ok(w, gpuopt_propagator_probe_run(handle, count, binary, 20, &info))) break;
        feasible = info.outcome != GPUOPT_INFEASIBLE;
        if (feasible && worker_ok(w, gpuopt_propagator_probe_get_bounds(handle, &found)))
            feasible = node_tighten(w, found.count, w->col, w->low, w->high);
    }
    gpuopt_propagator_probe_destroy(handle);
    return feasible && worker_ok(w, gpuopt_propagator_commit(w->propagator));
}

int open_relaxation(worker *w) {
    tree *t = w->tree;
    gpuopt_matrix cuts = {t->cuts, w->model->matrix.cols, t->cut_start, t->cut_col, t->cut_value, GPUOPT_LAYOUT_CSR};
    gpuopt_simplex_desc lp = mip_simplex_desc(w->model);
    gpuopt_spare spare = GPUOPT_INIT(gpuopt_spare);
    gpuopt_simplex_children_destroy(w->batch);
    gpuopt_simplex_children_destroy(w->several);
    gpuopt_simplex_destroy(w->lp);
    w->batch = w->several = NULL; /* made when they are needed */
    w->lp = NULL;
    lp.lb = w->lb;
    lp.ub = w->ub;
    lp.method = GPUOPT_METHOD_REVISED;
    lp.algorithm = GPUOPT_ALGORITHM_AUTO;
    lp.spare = &spare;
    spare.rows = t->cuts;
    spare.nonzeros = t->cut_start[t->cuts];
    if (!worker_ok(w, gpuopt_simplex_create(w->context, &lp, NULL, &w->lp)) ||
        (t->cuts > 0 && !worker_ok(w, gpuopt_simplex_add_rows(w->lp, &cuts, NULL, t->cut_side))))
        return 0;
    if (t->unbounded) node_forget_costs(w);
    return !w->status;
}

int worker_open(worker *w, tree *t, int probes) {
    gpuopt_propagator_desc rows = mip_propagator_desc(t->model);
    gpuopt_propagator_tolerances tolerances = GPUOPT_INIT(gpuopt_propagator_tolerances);
    gpuopt_spare spare = GPUOPT_INIT(gpuopt_spare);
    w->model = t->model;
    w->bound = -HUGE_VAL;
    w->cutoff = w->known = HUGE_VAL;
    w->cutoff_row = -1;
    if (!worker_ok(w, open_context(w->backend, 0, 1, &w->printer, &w->context, &w->backend)) || !allocate(w) ||
        t->infeasible)
        return 0;
    /* The relaxation finds small steps by itself. */
    gpuopt_propagator_tolerances_tune(&tolerances, GPUOPT_SETTINGS_SCIP);
    tolerances.feasibility = 1e-9; /* the relaxation's */
    spare.rows = 1;                /* for the cutoff */
    spare.nonzeros = t->model->matrix.cols;
    rows.tolerances = &tolerances;
    rows.spare = &spare;
    rows.trail_capacity = trail_capacity(t->model);
    rows.lb = t->lb;
    rows.ub = t->ub;
    if (!worker_ok(w, gpuopt_propagator_create(w->context, &rows, NULL, &w->propagator)) ||
        !worker_ok(w, gpuopt_propagator_get_bounds(w->propagator, GPUOPT_HOST, 0, NULL, w->lb, w->ub)) ||
        !node_tighten(w, 0, NULL, NULL, NULL) || !worker_ok(w, gpuopt_propagator_commit(w->propagator)) ||
        (probes && !probe(w)))
        return 0;
    return open_relaxation(w);
}

void worker_close(worker *w) {
    void *memory[] = {w->path, w->x,    w->slope, w->basis, w->lb,   w->ub,
                      w->low,  w->high, w->best,  w->col,   w->mark, w->changes.col};
    size_t k;
    for (k = 0; k < sizeof memory / sizeof *memory; k++) free(memory[k]);
    gpuopt_simplex_children_destroy(w->batch);
    gpuopt_simplex_children_destroy(w->several);
    gpuopt_simplex_destroy(w->lp);
    gpuopt_propagator_destroy(w->propagator);
    gpuopt_context_destroy(w->context);
}
