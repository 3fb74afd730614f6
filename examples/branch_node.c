/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L
#include "examples/branch_node.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "examples/common.h"

double processor_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- Life ---- */

static int64_t trail_capacity(const mip *model) { return 20 * (int64_t)model->matrix.cols + 100000; }

gpuopt_propagator_desc node_desc(const mip *model, node_options *options) {
    gpuopt_propagator_desc desc = mip_propagator_desc(model);
    options->tolerances = GPUOPT_INIT(gpuopt_propagator_tolerances);
    options->spare = GPUOPT_INIT(gpuopt_spare);
    /* A node's LP finds small steps by itself. */
    gpuopt_propagator_tolerances_tune(&options->tolerances, GPUOPT_SETTINGS_SCIP);
    options->spare.rows = 1; /* for the cutoff */
    options->spare.nonzeros = model->matrix.cols;
    desc.tolerances = &options->tolerances;
    desc.spare = &options->spare;
    desc.mode = GPUOPT_MODE_GAUSS_SEIDEL;
    desc.trail_capacity = trail_capacity(model);
    return desc;
}

static int make_capacity(node_solver *h, int64_t changes) {
    gpuopt_propagator_changes *c = &h->changes;
    if (changes <= c->capacity) return 0;
    free(c->col);
    free(c->upper);
    free(c->old_bound);
    free(c->new_bound);
    free(c->row);
    c->capacity = 2 * changes;
    c->col = malloc((size_t)c->capacity * sizeof *c->col);
    c->upper = malloc((size_t)c->capacity);
    c->old_bound = malloc((size_t)c->capacity * sizeof *c->old_bound);
    c->new_bound = malloc((size_t)c->capacity * sizeof *c->new_bound);
    c->row = malloc((size_t)c->capacity * sizeof *c->row);
    if (c->col && c->upper && c->old_bound && c->new_bound && c->row) return 0;
    c->capacity = 0;
    return -1;
}

int node_open(node_solver *h, const mip *model, gpuopt_propagator *propagator, int prune_row) {
    size_t cols = (size_t)model->matrix.cols + 1;
    memset(h, 0, sizeof *h);
    h->model = model;
    h->propagator = propagator;
    h->prune_row = prune_row;
    h->cutoff_row = -1;
    h->bound = NAN;
    h->cost_unit = mip_cost_unit(model);
    gpuopt_desc_init(&h->changes, sizeof h->changes);
    h->lb = malloc(cols * sizeof *h->lb);
    h->ub = malloc(cols * sizeof *h->ub);
    h->col = malloc(cols * sizeof *h->col);
    h->set_lb = malloc(cols * sizeof *h->set_lb);
    h->set_ub = malloc(cols * sizeof *h->set_ub);
    h->premise = malloc(2 * cols * sizeof *h->premise);
    if (!h->lb || !h->ub || !h->col || !h->set_lb || !h->set_ub || !h->premise || make_capacity(h, 1000)) return -1;
    return propagator && gpuopt_propagator_get_bounds(propagator, GPUOPT_HOST, 0, NULL, h->lb, h->ub) ? -1 : 0;
}

void node_close(node_solver *h) {
    free(h->lb);
    free(h->ub);
    free(h->col);
    free(h->set_lb);
    free(h->set_ub);
    free(h->premise);
    free(h->level);
    free(h->changes.col);
    free(h->changes.upper);
    free(h->changes.old_bound);
    free(h->changes.new_bound);
    free(h->changes.row);
    memset(h, 0, sizeof *h);
}

/* ---- GLPK's bounds ---- */

/* GLPK's functions return DBL_MAX for infinite bounds. */
static void get_bounds(glp_prob *problem, int j, double *lb, double *ub) {
    *lb = glp_get_col_lb(problem, j + 1);
    *ub = glp_get_col_ub(problem, j + 1);
    if (*lb == -DBL_MAX) *lb = -INFINITY;
    if (*ub == DBL_MAX) *ub = INFINITY;
}

/* The propagator's bounds; a lower bound may exceed the upper one within the tolerance. */
static void put_bounds(glp_prob *problem, int j, double lb, double ub) {
    int below = lb > -INFINITY, above = ub < INFINITY;
    if (lb > ub) lb = ub;
    glp_set_col_bnds(problem, j + 1,
                     lb == ub         ? GLP_FX
                     : below && above ? GLP_DB
                     : below          ? GLP_LO
                     : above          ? GLP_UP
                                      : GLP_FR,
                     below ? lb : 0, above ? ub : 0);
}

/* ---- The trail ---- */

/* Reads the changes from a position on. */
static gpuopt_status read_changes(node_solver *h, int64_t from) {
    gpuopt_status status = gpuopt_propagator_get_changes(h->propagator, GPUOPT_HOST, from, &h->changes);
    if (status || h->changes.count <= h->changes.capacity) return status;
    if (make_capacity(h, h->changes.count)) return GPUOPT_ERROR_MEMORY;
    return gpuopt_propagator_get_changes(h->propagator, GPUOPT_HOST, from, &h->changes);
}

/* Keeps only the first `levels` levels. */
static gpuopt_status go_back(node_solver *h, int levels) {
    const gpuopt_propagator_changes *c = &h->changes;
    gpuopt_status status;
    int64_t k;
    if (levels == h->levels) return GPUOPT_OK;
    status = read_changes(h, h->level[levels].start);
    if (status) return status;
    for (k = c->count; k-- > 0;) (c->upper[k] ? h->ub : h->lb)[c->col[k]] = c->old_bound[k];
    status = gpuopt_propagator_pop(h->propagator, h->levels - levels);
    h->levels = levels;
    return status;
}

/* Opens a level for the node, under the level of its closest ancestor with one. GLPK jumps, so the levels of the last
 * node may not belong to the next one's ancestors. GLPK reuses the numbers of finished nodes; but a node is processed
 * before its children, and then replaces an older node of its number. */
static gpuopt_status go_to(node_solver *h, glp_tree *tree) {
    int node = glp_ios_curr_node(tree), depth = glp_ios_node_level(tree, node), keep = h->levels, up = node, at = depth;
    gpuopt_status status;
    node_level *level;
    while (keep > 0) {
        const node_level *last = &h->level[keep - 1];
        for (; at > last->depth; at--) up = glp_ios_up_node(tree, up);
        if (at == last->depth && up == last->node) break;
        keep--;
    }
    if (keep > 0 && h->level[keep - 1].node == node && node != h->last_node) keep--; /* an older one of this number */
    status = go_back(h, keep);
    if (status || (keep > 0 && h->level[keep - 1].node == node))
        return status; /* GLPK comes back to a node after cuts */
    if (h->levels == h->level_capacity) {
        level = realloc(h->level, (2 * (size_t)h->levels + 64) * sizeof *level);
        if (!level) return GPUOPT_ERROR_MEMORY;
        h->level = level;
        h->level_capacity = 2 * h->levels + 64;
    }
    level = &h->level[h->levels];
    level->node = node;
    level->depth = depth;
    status = gpuopt_propagator_push(h->propagator, &level->start);
    h->levels += !status;
    return status;
}

/* Sets all bounds that differ in GLPK: from its branching, and from its own tightening. MEMORY: the trail is full.
 * *from: the start of these changes in the trail. */
static gpuopt_status set_bounds(node_solver *h, glp_prob *problem, int64_t *from) {
    gpuopt_propagator_trail trail = GPUOPT_INIT(gpuopt_propagator_trail);
    gpuopt_status status = gpuopt_propagator_get_trail(h->propagator, &trail);
    int64_t count = 0;
    int j;
    if (status) return status;
    *from = trail.changes;
    for (j = 0; j < h->model->matrix.cols; j++) {
        get_bounds(problem, j, &h->set_lb[count], &h->set_ub[count]);
        if (h->set_lb[count] == h->lb[j] && h->set_ub[count] == h->ub[j]) continue;
        h->col[count++] = j;
    }
    if (trail.changes + 2 * count > trail_capacity(h->model)) return GPUOPT_ERROR_MEMORY;
    return gpuopt_propagator_set_bounds(h->propagator, GPUOPT_HOST, count, h->col, h->set_lb, h->set_ub);
}

/* Passes the trail's changes from a position on to GLPK. */
static gpuopt_status take_changes(node_solver *h, glp_prob *problem, int64_t from) {
    const gpuopt_propagator_changes *c = &h->changes;
    gpuopt_status status = read_changes(h, from);
    int64_t k;
    if (status) return status;
    for (k = 0; k < c->count; k++) {
        (c->upper[k] ? h->ub : h->lb)[c->col[k]] = c->new_bound[k];
        h->tightened += c->row[k] >= 0;
    }
    for (k = 0; k < c->count; k++)
        if (c->row[k] >= 0) put_bounds(problem, c->col[k], h->lb[c->col[k]], h->ub[c->col[k]]);
    return GPUOPT_OK;
}

/* ---- The objective cutoff ---- */

/* The limit of a better solution's objective, without its constant. */
static double better_than(const node_solver *h, double objective) {
    double slack = 1e-9 * fmax(1, fabs(objective)), step = h->cost_unit > 0 ? -h->cost_unit * (1 - 1e-3) : 0;
    objective -= h->model->offset;
    return h->model->maximize ? objective - step - slack : objective + step + slack;
}

/* Cuts off solutions no better than GLPK's incumbent: adds a row for the first incumbent, and moves it for later
 * ones. */
static gpuopt_status cut_off(node_solver *h, glp_prob *problem) {
    const mip *m = h->model;
    double cutoff, lhs = -INFINITY, rhs = INFINITY;
    int64_t start[2] = {0, 0};
    gpuopt_matrix row = {1, m->matrix.cols, start, h->col, h->set_lb, GPUOPT_LAYOUT_CSR};
    int j;
    if (!m->cost || glp_mip_status(problem) != GLP_FEAS) return GPUOPT_OK;
    cutoff = better_than(h, glp_mip_obj_val(problem));
    if (h->cutoff_row >= 0 && cutoff == h->cutoff) return GPUOPT_OK;
    h->cutoff = cutoff;
    if (m->maximize) lhs = cutoff;
    else rhs = cutoff;
    if (h->cutoff_row >= 0)
        return gpuopt_propagator_set_sides(h->propagator, GPUOPT_HOST, 1, &h->cutoff_row, &lhs, &rhs);
    for (j = 0; j < m->matrix.cols; j++)
        if (m->cost[j] != 0) h->col[start[1]] = j, h->set_lb[start[1]++] = m->cost[j];
    return gpuopt_propagator_add_rows(h->propagator, &row, &lhs, &rhs, &h->cutoff_row);
}

/* ---- Reasons ---- */

static void print_bound(const node_solver *h, int col, int upper, double bound) {
    print_name(stderr, h->model->col_name, 'x', col);
    fprintf(stderr, " %s %.9g", upper ? "<=" : ">=", bound);
}

/* Prints the row and the premises of the change at a position, or of infeasibility (-1). */
static gpuopt_status print_reason(node_solver *h, int64_t change) {
    gpuopt_propagator_reason reason = {.struct_size = sizeof reason};
    int64_t k;
    int32_t col;
    uint8_t upper;
    double bound;
    gpuopt_propagator_changes one = {
        .struct_size = sizeof one, .capacity = 1, .col = &col, .upper = &upper, .new_bound = &bound};
    gpuopt_status status;
    reason.capacity = 2 * (int64_t)h->model->matrix.cols;
    reason.premises = h->premise;
    status = gpuopt_propagator_explain(h->propagator, change, &reason);
    if (status) return status;
    fputs(reason.row >= 0 ? " by row " : " by bounds that cross of ", stderr);
    if (reason.row < 0) print_name(stderr, h->model->col_name, 'x', reason.col);
    else if (reason.row == h->cutoff_row) fprintf(stderr, "CUTOFF %.17g", h->cutoff);
    else print_name(stderr, h->model->row_name, 'r', reason.row);
    for (k = 0; k < reason.count; k++) {
        status = gpuopt_propagator_get_changes(h->propagator, GPUOPT_HOST, reason.premises[k], &one);
        if (status) return status;
        fputs(k ? ", " : " with ", stderr);
        print_bound(h, col, upper, bound);
    }
    fputc('\n', stderr);
    return GPUOPT_OK;
}

/* Prints every change implied by a row from a position on, and infeasibility. */
static gpuopt_status print_reasons(node_solver *h, int64_t from, int infeasible) {
    const gpuopt_propagator_changes *c = &h->changes;
    int node = h->level[h->levels - 1].node;
    gpuopt_status status = read_changes(h, from);
    int64_t k;
    for (k = 0; !status && k < c->count; k++) {
        if (c->row[k] < 0) continue;
        fprintf(stderr, "node %d: ", node);
        print_bound(h, c->col[k], c->upper[k], c->new_bound[k]);
        status = print_reason(h, from + k);
    }
    if (status || !infeasible) return status;
    fprintf(stderr, "node %d: infeasible", node);
    return print_reason(h, -1);
}

/* ---- A node ---- */

/* Until no bound moves, the trail is full (its bounds are valid), or rounds crawl. */
static gpuopt_status do_rounds(node_solver *h, gpuopt_propagator_info *info) {
    gpuopt_status status = GPUOPT_OK;
    int calls, slow = 0;
    info->outcome = GPUOPT_MORE;
    for (calls = 0; calls < 10 && slow < 2 && !status && info->outcome == GPUOPT_MORE; calls++) {
        status = gpuopt_propagator_round(h->propagator, 10, info);
        slow = info->shrinkage < 1e-3 ? slow + 1 : 0;
    }
    return status;
}

static gpuopt_status propagate(node_solver *h, glp_tree *tree) {
    glp_prob *problem = glp_ios_get_prob(tree);
    gpuopt_propagator_info info = GPUOPT_INIT(gpuopt_propagator_info);
    gpuopt_status status = cut_off(h, problem);
    int64_t from = 0;
    int infeasible;
    if (!status) status = go_to(h, tree);
    if (!status) status = set_bounds(h, problem, &from);
    if (status == GPUOPT_ERROR_MEMORY) { /* the trail is full: without the ancestors' levels */
        status = go_back(h, 0);
        if (!status) status = go_to(h, tree);
        if (!status) status = set_bounds(h, problem, &from);
    }
    if (!status) status = do_rounds(h, &info);
    if (status) return status;
    infeasible = info.outcome == GPUOPT_INFEASIBLE;
    if (!infeasible) status = take_changes(h, problem, from);
    if (!status && h->log) status = print_reasons(h, from, infeasible);
    if (status || !infeasible) return status;
    h->pruned++;
    glp_set_row_bnds(problem, h->prune_row, GLP_FX, 1, 1);
    return go_back(h, h->levels - 1);
}

static void show_progress(const node_solver *h, glp_tree *tree) {
    glp_prob *problem = glp_ios_get_prob(tree);
    char best[40] = "no solution";
    int open, node = glp_ios_best_node(tree);
    glp_ios_tree_size(tree, &open, NULL, NULL);
    if (glp_mip_status(problem) == GLP_FEAS) snprintf(best, sizeof best, "solution %.8g", glp_mip_obj_val(problem));
    progress("%lld nodes, %d open, %s, bound %.8g, %.1f s", (long long)h->nodes, open, best,
             node ? glp_ios_node_bound(tree, node) : NAN, now() - h->start);
}

void node_callback(glp_tree *tree, void *solver) {
    node_solver *h = solver;
    double start;
    int node;
    if (interrupted(NULL)) { /* GLPK calls often, for whatever reason */
        int best = glp_ios_best_node(tree);
        if (best) h->bound = glp_ios_node_bound(tree, best);
        glp_ios_terminate(tree);
        return;
    }
    if (glp_ios_reason(tree) != GLP_IPREPRO) return;
    node = glp_ios_curr_node(tree);
    h->nodes += node != h->last_node; /* else again, after cuts */
    if (h->propagator) {
        start = processor_seconds();
        h->status = propagate(h, tree);
        h->calls++;
        h->seconds += processor_seconds() - start;
        if (h->status) glp_ios_terminate(tree);
    }
    h->last_node = node;
    if (h->shows) show_progress(h, tree);
}
