/* SPDX-License-Identifier: MIT
 *
 * Calls that solve many problems at once, for environment_test.c.
 */
#include "gpuopt/search.h"
#include "gpuopt/batch.h"
#include "tests/contract/environment.h"

/* Two programs, so that a second thread has work. */
static void solve_many(pass *p) {
    gpuopt_simplex_batch_desc d = GPUOPT_INIT(gpuopt_simplex_batch_desc);
    gpuopt_simplex_programs programs = GPUOPT_INIT(gpuopt_simplex_programs);
    gpuopt_simplex_batch_info info = GPUOPT_INIT(gpuopt_simplex_batch_info);
    gpuopt_simplex_batch_report report = GPUOPT_INIT(gpuopt_simplex_batch_report);
    gpuopt_simplex_batch *handle;
    double x[2 * COLS], dual[2 * ROWS], objective[2];
    d.batch_size = 2, d.rows = ROWS, d.cols = COLS, d.start = model.start, d.index = model.index;
    d.shared = GPUOPT_SHARED_MATRIX | GPUOPT_SHARED_COST | GPUOPT_SHARED_LHS | GPUOPT_SHARED_RHS | GPUOPT_SHARED_LB |
               GPUOPT_SHARED_UB;
    programs.count = 2, programs.value = model.value, programs.cost = model.cost;
    programs.lhs = model.lhs, programs.rhs = model.rhs, programs.lb = model.lb, programs.ub = model.ub;
    report.x = x, report.dual = dual, report.objective = objective;
    CALL(gpuopt_simplex_batch_create(p->context, &d, NULL, &handle));
    CALL(gpuopt_simplex_batch_load(handle, GPUOPT_HOST, &programs));
    CALL(gpuopt_simplex_batch_iterate(handle, INT64_MAX, &info));
    CALL(gpuopt_simplex_batch_get(handle, GPUOPT_HOST, 0, 2, &report));
    assert_int_equal(info.optimal, 2);
    mix(p, objective, sizeof objective), mix(p, x, sizeof x), mix(p, dual, sizeof dual);
    gpuopt_simplex_batch_destroy(handle);
}

/* Nodes with one more bound, from a third of the way from its lower to its upper one. */
static void propagate_nodes(pass *p) {
    enum { NODES = 6 };
    gpuopt_propagator_desc d = environment_propagator();
    gpuopt_propagator_batch_desc batch_desc = GPUOPT_INIT(gpuopt_propagator_batch_desc);
    gpuopt_propagator_nodes nodes = GPUOPT_INIT(gpuopt_propagator_nodes);
    gpuopt_propagator_node_report report = GPUOPT_INIT(gpuopt_propagator_node_report);
    gpuopt_propagator_info info = GPUOPT_INIT(gpuopt_propagator_info);
    gpuopt_propagator *base;
    gpuopt_propagator_batch *batch;
    int64_t start[NODES + 1];
    int32_t col[NODES], outcome[NODES];
    double low[NODES], lb[NODES * COLS], ub[NODES * COLS];
    int k;
    CALL(gpuopt_propagator_create(p->context, &d, NULL, &base));
    CALL(gpuopt_propagator_round(base, 5, &info));
    batch_desc.nodes = NODES, batch_desc.changes = NODES * COLS;
    CALL(gpuopt_propagator_batch_create(base, &batch_desc, NULL, &batch));
    CALL(gpuopt_propagator_get_bounds(base, GPUOPT_HOST, 0, NULL, lb, ub));
    for (k = 0; k < NODES; k++) {
        start[k] = col[k] = k;
        low[k] = lb[k] + (ub[k] - lb[k]) / 3;
    }
    start[NODES] = NODES;
    nodes.count = NODES, nodes.start = start, nodes.col = col, nodes.lb = low;
    report.outcome = outcome;
    CALL(gpuopt_propagator_batch_run(batch, GPUOPT_HOST, &nodes, 5, &report));
    CALL(gpuopt_propagator_batch_get_bounds(batch, GPUOPT_HOST, NODES, NULL, lb, ub));
    mix(p, outcome, sizeof outcome), mix(p, lb, sizeof lb), mix(p, ub, sizeof ub);
    gpuopt_propagator_batch_destroy(batch);
    gpuopt_propagator_destroy(base);
}

/* Solves both children of some columns at a root's optimum. */
static void solve_children(pass *p) {
    enum { CHILDREN = 8 };
    gpuopt_simplex_desc d = environment_program();
    gpuopt_simplex_children_desc batch_desc = GPUOPT_INIT(gpuopt_simplex_children_desc);
    gpuopt_simplex_child_report report = GPUOPT_INIT(gpuopt_simplex_child_report);
    gpuopt_simplex_info info = GPUOPT_INIT(gpuopt_simplex_info);
    gpuopt_simplex *root;
    gpuopt_simplex_children *batch;
    int32_t col[CHILDREN / 2], outcome[CHILDREN];
    double bound[CHILDREN], objective[CHILDREN], x[CHILDREN * COLS];
    int k;
    d.method = GPUOPT_METHOD_REVISED;
    CALL(gpuopt_simplex_create(p->context, &d, NULL, &root));
    CALL(gpuopt_simplex_iterate(root, 10000, &info));
    assert_int_equal(info.outcome, GPUOPT_OPTIMAL);
    batch_desc.batch_size = CHILDREN, batch_desc.with_x = 1;
    CALL(gpuopt_simplex_children_create(root, &batch_desc, NULL, &batch));
    for (k = 0; k < CHILDREN / 2; k++) col[k] = 7 * k;
    report.outcome = outcome, report.bound = bound, report.objective = objective, report.x = x;
    CALL(gpuopt_simplex_children_strong_branch(batch, GPUOPT_HOST, CHILDREN / 2, NULL, col, NULL, 1000, &report));
    mix(p, outcome, sizeof outcome), mix(p, bound, sizeof bound), mix(p, objective, sizeof objective);
    mix(p, x, sizeof x);
    gpuopt_simplex_children_destroy(batch);
    gpuopt_simplex_destroy(root);
}

/* More knapsacks than a thread takes at a time, each with a different capacity. */
static void fill_small_knapsacks(pass *p) {
    enum { COUNT = 40 };
    gpuopt_knapsack_batch_desc d = GPUOPT_INIT(gpuopt_knapsack_batch_desc);
    gpuopt_knapsack_problems problems = GPUOPT_INIT(gpuopt_knapsack_problems);
    gpuopt_knapsack_report report = GPUOPT_INIT(gpuopt_knapsack_report);
    gpuopt_knapsack_batch *batch;
    int64_t capacity[COUNT], lower[COUNT], upper[COUNT], nodes[COUNT];
    int32_t taken[COUNT * ITEMS];
    int k;
    for (k = 0; k < COUNT; k++) capacity[k] = model.capacity / (k + 1);
    d.items = ITEMS, d.count = COUNT;
    problems.count = COUNT, problems.node_limit = 500;
    problems.weight = model.weight, problems.profit = model.profit;
    problems.capacity = capacity, problems.capacity_stride = 1;
    report.primal_bound = lower, report.dual_bound = upper, report.nodes = nodes, report.copies = taken;
    CALL(gpuopt_knapsack_batch_create(p->context, &d, NULL, &batch));
    CALL(gpuopt_knapsack_batch_run(batch, GPUOPT_HOST, &problems, &report));
    mix(p, lower, sizeof lower), mix(p, upper, sizeof upper), mix(p, nodes, sizeof nodes), mix(p, taken, sizeof taken);
    gpuopt_knapsack_batch_destroy(batch);
}

void environment_batches(pass *p) {
    propagate_nodes(p);
    solve_children(p);
    solve_many(p);
    fill_small_knapsacks(p);
}
