/* SPDX-License-Identifier: MIT
 *
 * A batch of nodes: several sets of bounds are propagated in one call, from one unchanged base, and each node's changes
 * are returned. Nothing here depends on the device. If the bounds are in device memory, the library also lends them to
 * the caller's own kernels.
 *
 * Build, from the repository's root:
 *     cc -O2 -I. examples/steps/node_batch.c gpuopt_impl/gpuopt.c -lm -o node_batch
 */
#include "examples/steps/steps.h"
#include "gpuopt/search.h"

enum { ROWS = 4, COLS = 5, NODES = 4 };

/* Binaries with x0 <= x1 <= x2 <= x3 and x3 + x4 <= 1. */
static const int64_t start[ROWS + 1] = {0, 2, 4, 6, 8};
static const int32_t entry_col[8] = {0, 1, 1, 2, 2, 3, 3, 4};
static const double value[8] = {1, -1, 1, -1, 1, -1, 1, 1}, rhs[ROWS] = {0, 0, 0, 1};

/* Node 0: x0 = 1, so all but x4 are 1, which is 0. Node 1: x3 = 0, so x0 = x1 = x2 = 0. Node 2: x0 = x4 = 1, which has
 * no solution. Node 3: x4 = 0, which implies nothing. */
static const int64_t given[NODES + 1] = {0, 1, 2, 4, 5};
static const int32_t given_col[5] = {0, 3, 0, 4, 4};
static const double given_bound[5] = {1, 0, 1, 1, 0};
static const int changed[NODES] = {5, 4, 0, 1};
static const double known_lb[NODES][COLS] = {{1, 1, 1, 1, 0}, {0}, {0}, {0}};
static const double known_ub[NODES][COLS] = {{1, 1, 1, 1, 0}, {0, 0, 0, 0, 1}, {1, 1, 1, 1, 1}, {1, 1, 1, 1, 0}};

int main(int argc, char **argv) {
    gpuopt_propagator_desc desc = GPUOPT_INIT(gpuopt_propagator_desc);
    gpuopt_propagator_info info = GPUOPT_INIT(gpuopt_propagator_info);
    gpuopt_propagator_batch_desc limits = GPUOPT_INIT(gpuopt_propagator_batch_desc);
    gpuopt_propagator_nodes nodes = GPUOPT_INIT(gpuopt_propagator_nodes);
    gpuopt_propagator_node_report report = GPUOPT_INIT(gpuopt_propagator_node_report);
    gpuopt_propagator_node_changes changes = GPUOPT_INIT(gpuopt_propagator_node_changes);
    gpuopt_device_view view = GPUOPT_INIT(gpuopt_device_view);
    gpuopt_propagator *base = NULL;
    gpuopt_propagator_batch *batch = NULL;
    const double zeros[COLS] = {0}, ones[COLS] = {1, 1, 1, 1, 1};
    const uint8_t integer[COLS] = {1, 1, 1, 1, 1};
    int32_t outcome[NODES] = {0}, columns[NODES] = {0}, col[NODES * COLS] = {0};
    double new_lb[NODES * COLS] = {0}, new_ub[NODES * COLS] = {0}, lb[NODES][COLS], ub[NODES][COLS];
    int64_t begin[NODES + 1] = {0}, c;
    int k, right = 1;
    gpuopt_status lent;

    open_context(argc, argv);
    desc.matrix = (gpuopt_matrix){ROWS, COLS, start, entry_col, value, GPUOPT_LAYOUT_CSR};
    desc.rhs = rhs, desc.lb = zeros, desc.ub = ones, desc.integer = integer;
    must(gpuopt_propagator_create(context, &desc, NULL, &base));
    must(gpuopt_propagator_round(base, 100, NULL)); /* on the GPU without an info: enqueued */
    must(gpuopt_context_wait(context));             /* time for work of the caller's own, until this */
    must(gpuopt_propagator_get_info(base, &info));
    right = info.outcome == GPUOPT_CONVERGED && info.changed == 0;
    lent = gpuopt_propagator_device_view(base, &view); /* pairs (lb, ub) in device memory */
    printf("bounds in device memory: %s\n", lent ? gpuopt_status_string(lent) : "lent");
    right = right && (lent == GPUOPT_ERROR_UNSUPPORTED || (lent == GPUOPT_OK && view.count == 2 * COLS));

    limits.nodes = NODES;
    must(gpuopt_propagator_batch_create(base, &limits, NULL, &batch));
    nodes.count = NODES, nodes.start = given, nodes.col = given_col, nodes.lb = nodes.ub = given_bound;
    report.outcome = outcome, report.columns = columns;
    must(gpuopt_propagator_batch_run(batch, GPUOPT_HOST, &nodes, 100, &report));
    changes.capacity = NODES * COLS, changes.start = begin;
    changes.col = col, changes.lb = new_lb, changes.ub = new_ub;
    must(gpuopt_propagator_batch_get_changes(batch, GPUOPT_HOST, &changes));                 /* sparse, for a search */
    must(gpuopt_propagator_batch_get_bounds(batch, GPUOPT_HOST, NODES, NULL, lb[0], ub[0])); /* or all of them */
    for (k = 0; k < NODES; k++) {
        printf("node %d: %s, %d columns:", k, gpuopt_outcome_string((gpuopt_outcome)outcome[k]), (int)columns[k]);
        for (c = begin[k]; c < begin[k + 1]; c++) {
            printf(" x%d in [%g, %g]", (int)col[c], new_lb[c], new_ub[c]);
            right = right && new_lb[c] == known_lb[k][col[c]] && new_ub[c] == known_ub[k][col[c]];
        }
        printf("\n");
        right = right && outcome[k] == (k == 2 ? GPUOPT_INFEASIBLE : GPUOPT_CONVERGED) && columns[k] == changed[k];
        right = right && begin[k + 1] - begin[k] == changed[k];
        right = right && !memcmp(lb[k], known_lb[k], sizeof lb[k]) && !memcmp(ub[k], known_ub[k], sizeof ub[k]);
    }
    gpuopt_propagator_batch_destroy(batch);
    gpuopt_propagator_destroy(base);
    return finish(right);
}
