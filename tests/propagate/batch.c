/* SPDX-License-Identifier: MIT */
#include "tests/propagate/batch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Nodes ---- */

/* Bounds of one column for a node: fixed, tighter, looser, crossing, or as they are. */
static void draw_bounds(double *lb, double *ub, uint64_t *seed) {
    double low = *lb > -1e10 ? *lb : *ub < 1e10 ? *ub - 20 : -5, high = *ub < 1e10 ? *ub : low + 20, at;
    at = low + floor(test_random(seed) * (high - low + 1));
    switch (test_random_int(seed, 0, 9)) {
    case 0: break;
    case 1: *lb = *lb - 3, *ub = *ub + 3; break;
    case 2: *lb = -INFINITY; break;
    case 3: *lb = at, *ub = at - (test_random_int(seed, 0, 1) ? 2 : 1e-7); break;
    case 4: *lb = at; break;
    case 5: *ub = at; break;
    case 6: *ub = at + 0.25; break;
    default: *lb = *ub = at; break;
    }
}

void draw_nodes(node_list *list, int32_t count, int least, int most, int32_t cols, const double *lb, const double *ub,
                uint64_t *seed) {
    int64_t at = 0, k;
    int32_t node;
    gpuopt_desc_init(&list->nodes, sizeof list->nodes);
    for (node = 0; node < count; node++) {
        int given = (int)test_random_int(seed, least, most < cols ? most : cols);
        list->start[node] = at;
        while (given-- > 0) {
            int32_t j = (int32_t)test_random_int(seed, 0, cols - 1);
            for (k = list->start[node]; k < at && list->col[k] != j; k++) continue;
            if (k < at) continue;
            list->col[at] = j;
            list->lb[at] = lb[j];
            list->ub[at] = ub[j];
            draw_bounds(&list->lb[at], &list->ub[at], seed);
            at++;
        }
    }
    list->start[count] = at;
    list->nodes.count = count;
    list->nodes.start = list->start;
    list->nodes.col = list->col;
    list->nodes.lb = list->lb;
    list->nodes.ub = list->ub;
}

mip model_chain(int cols) {
    mip m = problem_new(cols, cols, 2 * (int64_t)cols);
    int i;
    for (i = 0; i < cols; i++) problem_col(&m, i, 0, cols, 1);
    for (i = 0; i + 1 < cols; i++) {
        problem_row(&m, 0, INFINITY);
        problem_entry(&m, i, 1);
        problem_entry(&m, i + 1, -1);
    }
    return m;
}

void chain_nodes(node_list *list, int32_t count, int32_t first, double at) {
    int32_t k;
    gpuopt_desc_init(&list->nodes, sizeof list->nodes);
    for (k = 0; k < count; k++) list->start[k] = k, list->col[k] = first - k, list->ub[k] = at;
    list->start[count] = count;
    list->nodes.count = count;
    list->nodes.start = list->start;
    list->nodes.col = list->col;
    list->nodes.ub = list->ub;
}

/* ---- Results ---- */

void run_batch(gpuopt_propagator_batch *batch, const node_list *list, int rounds, node_results *r) {
    gpuopt_propagator_node_changes changes = GPUOPT_INIT(gpuopt_propagator_node_changes);
    gpuopt_desc_init(&r->report, sizeof r->report);
    r->report.outcome = r->outcome;
    r->report.rounds = r->rounds;
    r->report.infeasible_row = r->row;
    r->report.infeasible_col = r->col;
    r->report.changed = r->changed;
    r->report.columns = r->columns;
    r->report.nonzeros = r->nonzeros;
    test_forbid_allocation(1);
    assert_int_equal(gpuopt_propagator_batch_run(batch, GPUOPT_HOST, &list->nodes, rounds, &r->report), GPUOPT_OK);
    assert_int_equal(gpuopt_propagator_batch_get_changes(batch, GPUOPT_HOST, &changes), GPUOPT_OK);
    r->count = changes.capacity = changes.count;
    changes.col = r->changed_col = malloc(sizeof *r->changed_col * (size_t)(r->count + 1));
    changes.lb = r->lb = malloc(sizeof *r->lb * (size_t)(r->count + 1));
    changes.ub = r->ub = malloc(sizeof *r->ub * (size_t)(r->count + 1));
    changes.start = r->start;
    assert_int_equal(gpuopt_propagator_batch_get_changes(batch, GPUOPT_HOST, &changes), GPUOPT_OK);
    test_forbid_allocation(0);
    assert_int_equal(changes.count, r->count);
    assert_int_equal(r->start[0], 0);
    assert_int_equal(r->start[list->nodes.count], r->count);
}

void free_results(node_results *r) { free(r->changed_col), free(r->lb), free(r->ub); }

/* ---- The base ---- */

/* Adds the rows of a model from `first` on. */
static void add_rows_from(gpuopt_propagator *p, const gpuopt_propagator_desc *desc, int32_t first) {
    gpuopt_matrix rows = desc->matrix;
    const int64_t *from = rows.start + first;
    int64_t *start = malloc(sizeof *start * (size_t)(rows.rows - first + 1));
    int32_t *number = malloc(sizeof *number * (size_t)(rows.rows - first + 1)), i;
    for (i = first; i <= rows.rows; i++) start[i - first] = rows.start[i] - *from;
    rows.index += *from, rows.value += *from;
    rows.start = start, rows.rows -= first;
    assert_int_equal(gpuopt_propagator_add_rows(p, &rows, desc->lhs + first, desc->rhs + first, number), GPUOPT_OK);
    for (i = 0; i < rows.rows; i++) assert_int_equal(number[i], first + i);
    free(start), free(number);
}

gpuopt_propagator *make_base(gpuopt_context *context, const gpuopt_propagator_desc *desc, const base_past *past) {
    gpuopt_propagator_desc own = *desc;
    gpuopt_spare spare = GPUOPT_INIT(gpuopt_spare);
    gpuopt_propagator *p;
    own.matrix.rows -= past->added;
    spare.rows = past->added;
    spare.nonzeros = desc->matrix.start[desc->matrix.rows] - desc->matrix.start[own.matrix.rows];
    own.spare = &spare;
    p = problem_create(context, &own);
    if (past->added && !past->late) add_rows_from(p, desc, own.matrix.rows);
    if (past->rounds > 0) problem_round(p, past->rounds);
    if (past->added && past->late) add_rows_from(p, desc, own.matrix.rows);
    if (past->fixed >= 0)
        assert_int_equal(gpuopt_propagator_set_bounds(p, GPUOPT_HOST, 1, &past->fixed, &past->at, &past->at),
                         GPUOPT_OK);
    return p;
}

void check_node(gpuopt_context *cpu, const gpuopt_propagator_desc *desc, const base_past *past, const node_list *list,
                int rounds, const node_results *r, int32_t node, const char *what) {
    gpuopt_propagator *p = make_base(cpu, desc, past), *probe;
    size_t n = (size_t)desc->matrix.cols, j;
    double *base_lb = malloc(sizeof *base_lb * n), *base_ub = malloc(sizeof *base_ub * n), *lb = malloc(sizeof *lb * n),
           *ub = malloc(sizeof *ub * n);
    int64_t first = list->start[node], given = list->start[node + 1] - first, k = r->start[node];
    gpuopt_propagator_info info;
    problem_bounds(p, base_lb, base_ub);
    probe = make_base(cpu, desc, past);
    info = problem_round(probe, 1);
    gpuopt_propagator_destroy(probe);
    if (info.outcome != GPUOPT_INFEASIBLE || info.rounds > 0) { /* else the base is infeasible, and so is the node */
        assert_int_equal(gpuopt_propagator_set_bounds(p, GPUOPT_HOST, given, list->col + first,
                                                      list->nodes.lb ? list->lb + first : NULL,
                                                      list->nodes.ub ? list->ub + first : NULL),
                         GPUOPT_OK);
        info = problem_round(p, rounds);
    }
    if (r->outcome[node] != (int)info.outcome || r->rounds[node] != info.rounds ||
        r->row[node] != info.infeasible_row || r->col[node] != info.infeasible_col || r->changed[node] != info.changed)
        fail_msg("%s, node %d: %s after %d rounds, %lld moves (row %d, column %d), expected %s, %d, %lld (%d, %d)",
                 what, (int)node, gpuopt_outcome_string((gpuopt_outcome)r->outcome[node]), (int)r->rounds[node],
                 (long long)r->changed[node], (int)r->row[node], (int)r->col[node], gpuopt_outcome_string(info.outcome),
                 (int)info.rounds, (long long)info.changed, (int)info.infeasible_row, (int)info.infeasible_col);
    problem_bounds(p, lb, ub);
    for (j = 0; j < n && info.outcome != GPUOPT_INFEASIBLE; j++) {
        if (lb[j] == base_lb[j] && ub[j] == base_ub[j]) continue;
        if (k >= r->start[node + 1] || r->changed_col[k] != (int32_t)j || memcmp(&r->lb[k], &lb[j], sizeof *lb) != 0 ||
            memcmp(&r->ub[k], &ub[j], sizeof *ub) != 0)
            fail_msg("%s, node %d: column %zu is to be [%.17g, %.17g]; found: %s column %d [%.17g, %.17g]", what,
                     (int)node, j, lb[j], ub[j], k < r->start[node + 1] ? "" : "no more;", r->changed_col[k], r->lb[k],
                     r->ub[k]);
        k++;
    }
    assert_int_equal(k, r->start[node + 1]);
    assert_int_equal(k - r->start[node], r->columns[node]);
    free(base_lb), free(base_ub), free(lb), free(ub);
    gpuopt_propagator_destroy(p);
}

gpuopt_propagator_batch *make_batch(gpuopt_propagator *base, int32_t nodes, int32_t node_columns, int64_t changes) {
    gpuopt_propagator_batch_desc desc = GPUOPT_INIT(gpuopt_propagator_batch_desc);
    gpuopt_propagator_batch *batch;
    desc.nodes = nodes;
    desc.node_columns = node_columns;
    desc.changes = changes;
    assert_int_equal(gpuopt_propagator_batch_create(base, &desc, NULL, &batch), GPUOPT_OK);
    return batch;
}
