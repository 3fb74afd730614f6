/* SPDX-License-Identifier: MIT */
#include "examples/mip_search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "examples/common.h"

int search_ok(search *s, gpuopt_status status) {
    if (!s->status) s->status = status;
    return !s->status;
}

/* ---- The trail ---- */

static int64_t trail_capacity(const mip *model) { return 20 * (int64_t)model->matrix.cols + 100000; }

/* Puts the columns that changed from a position of the trail on into the list. */
static void list_changes(search *s, int64_t from) {
    gpuopt_propagator_changes *c = &s->changes;
    int64_t k;
    if (!search_ok(s, gpuopt_propagator_get_changes(s->propagator, GPUOPT_HOST, from, c))) return;
    if (c->count > c->capacity) {
        free(c->col);
        c->capacity = 2 * c->count;
        c->col = malloc((size_t)c->capacity * sizeof *c->col);
        if (!c->col) c->capacity = 0;
        if (!search_ok(s, c->col ? GPUOPT_OK : GPUOPT_ERROR_MEMORY)) return;
        if (!search_ok(s, gpuopt_propagator_get_changes(s->propagator, GPUOPT_HOST, from, c))) return;
    }
    for (k = 0; k < c->count; k++)
        if (!s->mark[c->col[k]]) s->mark[c->col[k]] = 1, s->col[s->listed++] = c->col[k];
}

/* Gives the relaxation the bounds of the columns in the list, which is then empty. */
static void send_bounds(search *s) {
    int32_t k;
    if (!search_ok(s,
                   gpuopt_propagator_get_some_bounds(s->propagator, GPUOPT_HOST, s->listed, s->col, s->low, s->high)))
        return;
    for (k = 0; k < s->listed; k++) {
        s->mark[s->col[k]] = 0;
        s->lb[s->col[k]] = s->low[k];
        s->ub[s->col[k]] = s->high[k];
    }
    if (s->lp) search_ok(s, gpuopt_simplex_set_some_bounds(s->lp, GPUOPT_HOST, s->listed, s->col, s->low, s->high));
    s->listed = 0;
}

static int64_t trail_length(search *s) {
    gpuopt_propagator_trail trail = GPUOPT_INIT(gpuopt_propagator_trail);
    search_ok(s, gpuopt_propagator_get_trail(s->propagator, &trail));
    return trail.changes;
}

int node_tighten(search *s, int64_t count, const int32_t *col, const double *lb, const double *ub) {
    gpuopt_propagator_info info = GPUOPT_INIT(gpuopt_propagator_info);
    int64_t from = trail_length(s);
    if (!search_ok(s, gpuopt_propagator_set_some_bounds(s->propagator, GPUOPT_HOST, count, col, lb, ub)) ||
        !search_ok(s, gpuopt_propagator_round(s->propagator, 100, &info)))
        return 0;
    if (info.outcome == GPUOPT_INFEASIBLE) return 0;
    list_changes(s, from);
    send_bounds(s);
    return !s->status;
}

/* Makes room for a path and a level. */
static int reserve(search *s, int32_t depth) {
    int32_t needed = s->levels >= depth ? s->levels + 1 : depth;
    if (needed > s->room) {
        int32_t room = 2 * needed + 64;
        decision *path = realloc(s->path, (size_t)room * sizeof *path);
        int64_t *start;
        if (path) s->path = path;
        start = path ? realloc(s->start, (size_t)room * sizeof *start) : NULL;
        if (start) s->start = start, s->room = room;
        if (!start) s->status = GPUOPT_ERROR_MEMORY;
    }
    return !s->status;
}

int node_push(search *s) {
    if (!reserve(s, 0) || !search_ok(s, gpuopt_propagator_push(s->propagator, &s->start[s->levels]))) return 0;
    s->levels++;
    return 1;
}

void node_back(search *s, int32_t levels, int32_t depth) {
    s->depth = depth;
    if (levels == s->levels) return;
    list_changes(s, s->start[levels]);
    if (s->status || !search_ok(s, gpuopt_propagator_pop(s->propagator, s->levels - levels))) return;
    s->levels = levels;
    send_bounds(s);
}

int node_enter(search *s, const decision *path, int32_t depth, const uint8_t *basis) {
    int32_t k, count = 0;
    node_back(s, 0, 0);
    if (s->status || !reserve(s, depth) || !node_push(s)) return 0;
    memmove(s->path, path, (size_t)depth * sizeof *path);
    s->depth = depth;
    for (k = 0; k < depth; k++) { /* of several decisions on a column the tightest one counts */
        int32_t j = path[k].col;
        if (path[k].upper) s->ub[j] = fmin(s->ub[j], path[k].value);
        else s->lb[j] = fmax(s->lb[j], path[k].value);
        if (!s->mark[j]) s->mark[j] = 1, s->col[count++] = j;
    }
    for (k = 0; k < count; k++) {
        s->mark[s->col[k]] = 0;
        s->low[k] = s->lb[s->col[k]];
        s->high[k] = s->ub[s->col[k]];
    }
    if (basis) node_set_basis(s, basis);
    return node_tighten(s, count, s->col, s->low, s->high);
}

int node_is_full(search *s) { return 2 * trail_length(s) > trail_capacity(s->model); }

int node_descend(search *s, decision d) {
    if (!reserve(s, s->depth + 1) || !node_push(s)) return 0;
    s->path[s->depth++] = d;
    return node_tighten(s, 1, &d.col, d.upper ? NULL : &d.value, d.upper ? &d.value : NULL);
}

int node_descend_anew(search *s, decision d) {
    if (!reserve(s, s->depth + 1)) return 0;
    s->path[s->depth] = d;
    return node_enter(s, s->path, s->depth + 1, NULL);
}

/* ---- The relaxation ---- */

static int finish(search *s, gpuopt_outcome outcome, double objective) {
    relaxation *r = &s->now;
    r->outcome = outcome;
    if (outcome != GPUOPT_OPTIMAL) search_ok(s, gpuopt_simplex_get_bound(s->lp, &objective));
    r->objective = fmax(objective, s->bound);
    return search_ok(s, gpuopt_simplex_get_solution(s->lp, GPUOPT_HOST, r->x, r->slope, NULL, NULL)) &&
           search_ok(s, gpuopt_simplex_get_basis(s->lp, GPUOPT_HOST, r->basis));
}

void node_set_basis(search *s, const uint8_t *basis) {
    gpuopt_status status = gpuopt_simplex_set_basis(s->lp, GPUOPT_HOST, basis);
    if (status != GPUOPT_ERROR_NUMERIC)
        search_ok(s, status); /* too close to a singular one: then from the present one */
}

int node_relax(search *s) {
    gpuopt_simplex_info info = GPUOPT_INIT(gpuopt_simplex_info);
    do {
        if (!search_ok(s, gpuopt_simplex_iterate(s->lp, 200, &info))) return 0;
        s->late |= now() > s->deadline;
    } while (info.outcome == GPUOPT_MORE && !s->late);
    s->iterations = info.iterations;
    if (info.outcome == GPUOPT_MORE || info.outcome == GPUOPT_INFEASIBLE || info.outcome == GPUOPT_CUTOFF) return 0;
    if (!finish(s, info.outcome, info.objective)) return 0;
    if (s->now.objective > s->bound) s->bound = s->now.objective;
    return s->now.objective < s->cutoff;
}

void relaxation_copy(const search *s, relaxation *to, const relaxation *from) {
    size_t n = (size_t)s->model->matrix.cols;
    to->objective = from->objective;
    to->outcome = from->outcome;
    memcpy(to->x, from->x, n * sizeof *to->x);
    memcpy(to->slope, from->slope, n * sizeof *to->slope);
    memcpy(to->basis, from->basis, s->basis_size);
}

void node_return(search *s, int32_t levels, int32_t depth) {
    node_back(s, levels, depth);
    relaxation_copy(s, &s->now, &s->kept);
    node_set_basis(s, s->now.basis);
}

/* ---- The root ---- */

static double *numbers(size_t count) { return calloc(count + 1, sizeof(double)); }

static int allocate(search *s, size_t rows, size_t cols) {
    relaxation *r[] = {&s->now, &s->kept, &s->root};
    int k, failed = 0;
    for (k = 0; k < 3; k++) {
        r[k]->x = numbers(cols);
        r[k]->slope = numbers(cols);
        r[k]->basis = calloc(rows + cols + 1, 1);
        failed |= !r[k]->x || !r[k]->slope || !r[k]->basis;
    }
    s->lb = numbers(cols);
    s->ub = numbers(cols);
    s->low = numbers(cols);
    s->high = numbers(cols);
    s->best = numbers(cols);
    s->col = calloc(cols + 1, sizeof *s->col);
    s->mark = calloc(cols + 1, 1);
    s->history = calloc(cols + 1, sizeof *s->history);
    s->changes = GPUOPT_INIT(gpuopt_propagator_changes);
    failed |= !s->lb || !s->ub || !s->low || !s->high || !s->best || !s->col || !s->mark || !s->history;
    return failed ? -1 : 0;
}

/* Probes all binaries, some at a time, for a tenth of the time at most, and sets what that finds. */
static int probe(search *s) {
    enum { AT_ONCE = 256 };
    gpuopt_propagator_probe_desc desc = GPUOPT_INIT(gpuopt_propagator_probe_desc);
    gpuopt_propagator_probe *handle = NULL;
    double until = now() + 0.1 * (s->deadline - now());
    int32_t binary[AT_ONCE], j = 0, count;
    int feasible = 1;
    desc.nodes = 2 * AT_ONCE;
    search_ok(s, gpuopt_propagator_probe_create(s->propagator, &desc, &handle));
    while (!s->status && feasible && j < s->model->matrix.cols && now() < until) {
        gpuopt_propagator_probe_info info = GPUOPT_INIT(gpuopt_propagator_probe_info);
        gpuopt_propagator_probe_bounds found = GPUOPT_INIT(gpuopt_propagator_probe_bounds);
        for (count = 0; j < s->model->matrix.cols && count < AT_ONCE; j++)
            if (s->model->integer[j] && s->lb[j] == 0 && s->ub[j] == 1) binary[count++] = j;
        if (count == 0) break;
        found.capacity = s->model->matrix.cols;
        found.col = s->col;
        found.lb = s->low;
        found.ub = s->high;
        if (!search_ok(s, gpuopt_propagator_probe_run(handle, count, binary, 20, &info))) break;
        feasible = info.outcome != GPUOPT_INFEASIBLE;
        if (feasible && search_ok(s, gpuopt_propagator_probe_get_bounds(handle, &found)))
            feasible = node_tighten(s, found.count, s->col, s->low, s->high);
    }
    gpuopt_propagator_probe_destroy(handle);
    return feasible;
}

static int make_relaxation(search *s, gpuopt_context *context) {
    gpuopt_simplex_desc desc = mip_simplex_desc(s->model);
    desc.lb = s->lb;
    desc.ub = s->ub;
    desc.method = GPUOPT_METHOD_REVISED;
    desc.algorithm = s->dual ? GPUOPT_ALGORITHM_AUTO : GPUOPT_ALGORITHM_PRIMAL;
    s->basis_size = (size_t)desc.matrix.rows + (size_t)desc.matrix.cols;
    return search_ok(s, gpuopt_simplex_create(context, &desc, &s->lp));
}

int search_open(search *s, const mip *model, gpuopt_context *context, int dual, double deadline) {
    gpuopt_propagator_desc desc = mip_propagator_desc(model);
    size_t n = (size_t)model->matrix.cols;
    int32_t j;
    memset(s, 0, sizeof *s);
    s->model = model;
    s->deadline = deadline;
    s->bound = -HUGE_VAL;
    s->dual = dual;
    s->best_objective = s->cutoff = s->given_up = HUGE_VAL;
    s->cutoff_row = -1;
    if (allocate(s, (size_t)model->matrix.rows, n)) return s->status = GPUOPT_ERROR_MEMORY, 0;
    gpuopt_propagator_desc_tune(&desc, GPUOPT_SETTINGS_SCIP); /* the relaxation finds small steps by itself */
    desc.feasibility_tolerance = 1e-9;                        /* that of the relaxation */
    desc.trail_capacity = trail_capacity(model);
    desc.spare_rows = 1; /* for the cutoff */
    desc.spare_nonzeros = (int64_t)n;
    if (!search_ok(s, gpuopt_propagator_create(context, &desc, &s->propagator)) ||
        !search_ok(s, gpuopt_propagator_get_bounds(s->propagator, GPUOPT_HOST, s->lb, s->ub)))
        return 0;
    s->unit = mip_cost_unit(model);
    if (!node_tighten(s, 0, NULL, NULL, NULL) || (dual && !probe(s)))
        return 0; /* the GPU does not probe with spare rows */
    if (!search_ok(s, gpuopt_propagator_keep(s->propagator)) || !make_relaxation(s, context) || !node_relax(s))
        return 0;
    s->unbounded = s->now.outcome == GPUOPT_UNBOUNDED;
    if (!s->unbounded) return 1;
    /* With rational data a model whose relaxation is unbounded is infeasible or unbounded, too (Meyer 1974). */
    for (j = 0; j < model->matrix.cols; j++) s->col[j] = j, s->low[j] = 0;
    return search_ok(s, gpuopt_simplex_set_some_costs(s->lp, GPUOPT_HOST, (int64_t)n, s->col, s->low));
}

void search_close(search *s) {
    relaxation *r[] = {&s->now, &s->kept, &s->root};
    void *memory[] = {s->path, s->start, s->lb,   s->ub,      s->low,        s->high,
                      s->best, s->col,   s->mark, s->history, s->changes.col};
    size_t k;
    for (k = 0; k < 3; k++) {
        free(r[k]->x);
        free(r[k]->slope);
        free(r[k]->basis);
    }
    for (k = 0; k < sizeof memory / sizeof *memory; k++) free(memory[k]);
    gpuopt_simplex_destroy(s->lp);
    gpuopt_propagator_destroy(s->propagator);
}
