/* SPDX-License-Identifier: MIT
 *
 * Relaxations of several open nodes of solve_mip in one call, each from its parent's basis. Nodes in which there is no
 * better solution are closed; the others get a better bound, and begin at their own optimum.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "examples/mip_search.h"

/* The nodes that are left, with their bounds, and what is found. */
typedef struct front {
    int32_t count;
    open_node *node[MOST_BATCH];
    int32_t root[MOST_BATCH], outcome[MOST_BATCH], iterations[MOST_BATCH];
    double bound[MOST_BATCH];
    uint8_t *basis, *solved; /* [MOST_BATCH][cols + rows] of the parents, and then their own */
    double *lb, *ub;         /* [MOST_BATCH][cols] */
} front;

/* Propagates the nodes, and keeps those in which there may be a better solution. */
static void gather(worker *w, open_node **node, int32_t count, front *f) {
    const size_t cols = (size_t)w->model->matrix.cols,
                 both = cols + (size_t)w->model->matrix.rows + (size_t)w->tree->cuts;
    int32_t k;
    for (k = 0; k < count; k++) {
        const size_t at = (size_t)f->count;
        node[k]->solved = 1; /* or as good as that, if there is an error */
        if (!w->status &&
            (node[k]->bound >= w->cutoff || !node_go(w, node[k]) ||
             !whole_may_hold(w->tree->whole, w->model, w->lb, w->ub)) &&
            !w->status) {
            w->nodes++;
            free(node[k]);
            continue;
        }
        memcpy(f->lb + at * cols, w->lb, cols * sizeof *f->lb);
        memcpy(f->ub + at * cols, w->ub, cols * sizeof *f->ub);
        memcpy(f->basis + at * both, node[k]->basis, both);
        f->root[at] = (int32_t)at;
        f->node[f->count++] = node[k];
    }
    node_back(w, 0);
}

/* Solves the relaxations. Returns whether that worked. */
static int relax_all(worker *w, front *f) {
    gpuopt_simplex_children_desc desc = GPUOPT_INIT(gpuopt_simplex_children_desc);
    gpuopt_simplex_root_list roots = GPUOPT_INIT(gpuopt_simplex_root_list);
    gpuopt_simplex_child_list list = GPUOPT_INIT(gpuopt_simplex_child_list);
    gpuopt_simplex_child_report report = GPUOPT_INIT(gpuopt_simplex_child_report);
    gpuopt_status status;
    desc.batch_size = desc.roots = MOST_BATCH;
    desc.with_basis = 1;
    if (!w->several && !worker_ok(w, gpuopt_simplex_children_create(w->lp, &desc, NULL, &w->several))) return 0;
    roots.count = f->count;
    roots.basis = f->basis, roots.lb = f->lb, roots.ub = f->ub;
    status = gpuopt_simplex_children_set_roots(w->several, GPUOPT_HOST, &roots);
    if (status == GPUOPT_ERROR_NUMERIC) return 0; /* some basis is too close to a singular one: one node at a time */
    list.count = f->count, list.root = f->root;
    report.outcome = f->outcome, report.iterations = f->iterations;
    report.bound = f->bound, report.basis = f->solved;
    return worker_ok(w, status) &&
           worker_ok(w, gpuopt_simplex_children_run(w->several, GPUOPT_HOST, &list, 1000, &report));
}

int nodes_solve(worker *w, open_node *first) {
    const size_t cols = (size_t)w->model->matrix.cols,
                 both = cols + (size_t)w->model->matrix.rows + (size_t)w->tree->cuts;
    open_node *node[MOST_BATCH] = {first};
    int32_t count = 1 + tree_take_more(w, node + 1, w->at_once - 1), k;
    front f = {0};
    if (count == 1) return first->solved = 1, 0;
    f.lb = malloc(2 * MOST_BATCH * cols * sizeof *f.lb);
    f.basis = malloc(2 * MOST_BATCH * both);
    if (!f.lb || !f.basis) worker_ok(w, GPUOPT_ERROR_MEMORY);
    else {
        f.ub = f.lb + MOST_BATCH * cols, f.solved = f.basis + MOST_BATCH * both;
        node_back(w, 0);
        tree_adopt(w);
        gather(w, node, count, &f);
        count = f.count;
        memcpy(node, f.node, sizeof node);
        if (count > 0 && !w->status && relax_all(w, &f))
            for (k = 0, count = 0; k < f.count; k++) {
                open_node *n = f.node[k];
                w->iterations += f.iterations[k];
                if (f.outcome[k] == GPUOPT_INFEASIBLE || f.outcome[k] == GPUOPT_CUTOFF || f.bound[k] >= w->cutoff) {
                    w->nodes++;
                    free(n);
                    continue;
                }
                n->bound = fmax(n->bound, f.bound[k]);
                memcpy(n->basis, f.solved + (size_t)k * both, both);
                node[count++] = n;
            }
    }
    free(f.lb), free(f.basis);
    tree_put_back(w, node, count);
    return 1;
}
