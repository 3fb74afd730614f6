/* SPDX-License-Identifier: MIT
 *
 * The children of one linear program in one call: strong branching on a column, both ways, and children with the
 * caller's own bounds, sides and costs. Each starts from the root's optimal basis. The root does not change.
 * Last, the children of two nodes in one call, each from its node's basis.
 *
 * Build, from the repository's root:
 *     cc -O2 -I. examples/steps/strong_branching.c gpuopt_impl/gpuopt.c -lm -o strong_branching
 */
#include "examples/steps/steps.h"
#include "gpuopt/search.h"

enum { COLS = 4, CHILDREN = 4 };

/* max 16 a + 22 b + 12 c + 8 d;  5 a + 7 b + 4 c + 3 d <= 14;  all in [0, 1]. The columns are sorted by profit per
 * weight, so the relaxation takes them in this order: the optimum is 44, at (1, 1, 0.5, 0). */
static const double weight[COLS] = {5, 7, 4, 3}, profit[COLS] = {16, 22, 12, 8}, capacity = 14;

/* The oracle: Dantzig's greedy solution. Fixed columns come first; p must leave the order as it is. */
static double dantzig(const double *lb, const double *ub, const double *p, double left) {
    double value = 0;
    int j;
    for (j = 0; j < COLS; j++) left -= lb[j] * weight[j], value += lb[j] * p[j];
    if (left < 0) return -1;
    for (j = 0; j < COLS; j++) {
        double more = ub[j] - lb[j] < left / weight[j] ? ub[j] - lb[j] : left / weight[j];
        if (p[j] > 0) left -= more * weight[j], value += more * p[j];
    }
    return value;
}

static int known(const char *what, int32_t outcome, double objective, double bound, double optimum) {
    printf("%s: %s, %.6g, no better than %.6g\n", what, gpuopt_outcome_string((gpuopt_outcome)outcome), objective,
           bound);
    if (optimum < 0) return outcome == GPUOPT_INFEASIBLE;
    return outcome == GPUOPT_OPTIMAL && near(objective, optimum) && bound >= optimum - 1e-12 && near(bound, optimum);
}

int main(int argc, char **argv) {
    gpuopt_simplex_desc desc = GPUOPT_INIT(gpuopt_simplex_desc);
    gpuopt_simplex_info info = GPUOPT_INIT(gpuopt_simplex_info);
    gpuopt_simplex_children_desc many = GPUOPT_INIT(gpuopt_simplex_children_desc);
    gpuopt_simplex_child_list children = GPUOPT_INIT(gpuopt_simplex_child_list);
    gpuopt_simplex_child_report report = GPUOPT_INIT(gpuopt_simplex_child_report);
    gpuopt_simplex *root = NULL;
    gpuopt_simplex_children *batch = NULL;
    const double zeros[COLS] = {0}, ones[COLS] = {1, 1, 1, 1}, no_c[COLS] = {1, 1, 0, 1}, with_c[COLS] = {0, 0, 1, 0};
    const double no_b_profit[COLS] = {16, 0, 12, 8}, abc[COLS] = {1, 1, 1, 0};
    double bound[CHILDREN], objective[CHILDREN], x[COLS];
    uint8_t basis[2 * (COLS + 1)];
    int32_t outcome[CHILDREN];
    const int32_t col_c = 2;
    int right;

    open_context(argc, argv);
    desc.matrix.rows = 1;
    desc.matrix.cols = COLS;
    desc.dense = weight;
    desc.cost = profit;
    desc.maximize = 1;
    desc.rhs = &capacity;
    desc.ub = ones;
    desc.method = GPUOPT_METHOD_REVISED; /* which the batch needs on the GPU */
    must(gpuopt_simplex_create(context, &desc, NULL, &root));
    must(gpuopt_simplex_iterate(root, INT64_MAX, &info));
    must(gpuopt_simplex_get_solution(
        root, GPUOPT_HOST, &(gpuopt_simplex_solution){.struct_size = sizeof(gpuopt_simplex_solution), .x = x}));
    printf("root: %g, c = %g\n", info.objective, x[col_c]);
    right = near(info.objective, 44) && near(x[col_c], 0.5);

    many.batch_size = CHILDREN;
    many.roots = 2;      /* for the nodes below */
    many.with_basis = 1; /* of which the report has the bases */
    must(gpuopt_simplex_children_create(root, &many, NULL, &batch));
    report.outcome = outcome;
    report.objective = objective;
    report.bound = bound;
    report.basis = basis;
    must(gpuopt_simplex_children_strong_branch(batch, GPUOPT_HOST, 1, NULL, &col_c, NULL, 100, &report));
    right = known("c = 0", outcome[0], objective[0], bound[0], dantzig(zeros, no_c, profit, capacity)) && right;
    right = known("c = 1", outcome[1], objective[1], bound[1], dantzig(with_c, ones, profit, capacity)) && right;

    report.basis = NULL; /* that of the nodes c = 0 and c = 1 stays */

    /* Child 0: a = b = c = 1, which is too heavy. Child 1: capacity 11. Child 2: no profit from b. Child 3: the
     * root. */
    {
        const int64_t start[] = {0, 3, 3, 3, 3}, side_start[] = {0, 0, 1, 1, 1}, cost_start[] = {0, 0, 0, 1, 1};
        const int32_t col[] = {0, 1, 2}, row = 0, cost_col = 1;
        const double lhs = -1e30, rhs = 11, cost = 0;
        children.count = CHILDREN;
        children.start = start, children.col = col, children.lb = ones; /* ub NULL: the root's */
        children.side_start = side_start, children.row = &row, children.lhs = &lhs, children.rhs = &rhs;
        children.cost_start = cost_start, children.cost_col = &cost_col, children.cost = &cost;
        must(gpuopt_simplex_children_run(batch, GPUOPT_HOST, &children, 100, &report));
    }
    right = known("a = b = c = 1", outcome[0], objective[0], bound[0], dantzig(abc, ones, profit, capacity)) && right;
    right = known("capacity 11", outcome[1], objective[1], bound[1], dantzig(zeros, ones, profit, 11)) && right;
    right = known("b for nothing", outcome[2], objective[2], bound[2], dantzig(zeros, ones, no_b_profit, capacity)) &&
            right;
    right = known("the root", outcome[3], objective[3], bound[3], 44) && right;

    /* Two nodes, c = 0 and c = 1, and in each of them b = 0 and b = 1. */
    {
        const double node_lb[] = {0, 0, 0, 0, 0, 0, 1, 0}, node_ub[] = {1, 1, 0, 1, 1, 1, 1, 1}, b[] = {0, 1, 0, 1};
        const int64_t start[] = {0, 1, 2, 3, 4};
        const int32_t col[] = {1, 1, 1, 1}, node[] = {0, 0, 1, 1};
        gpuopt_simplex_root_list nodes = GPUOPT_INIT(gpuopt_simplex_root_list);
        gpuopt_simplex_child_list of_nodes = GPUOPT_INIT(gpuopt_simplex_child_list);
        int k;
        nodes.count = 2, nodes.basis = basis, nodes.lb = node_lb, nodes.ub = node_ub;
        must(gpuopt_simplex_children_set_roots(batch, GPUOPT_HOST, &nodes));
        of_nodes.count = CHILDREN, of_nodes.root = node;
        of_nodes.start = start, of_nodes.col = col, of_nodes.lb = b, of_nodes.ub = b;
        must(gpuopt_simplex_children_run(batch, GPUOPT_HOST, &of_nodes, 100, &report));
        for (k = 0; k < CHILDREN; k++) {
            double lb[COLS], ub[COLS];
            char name[40];
            memcpy(lb, node_lb + COLS * node[k], sizeof lb);
            memcpy(ub, node_ub + COLS * node[k], sizeof ub);
            lb[1] = ub[1] = b[k];
            snprintf(name, sizeof name, "c = %d, b = %g", (int)node[k], b[k]);
            right = known(name, outcome[k], objective[k], bound[k], dantzig(lb, ub, profit, capacity)) && right;
        }
    }
    gpuopt_simplex_children_destroy(batch);
    gpuopt_simplex_destroy(root);
    return finish(right);
}
