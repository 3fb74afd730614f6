/* SPDX-License-Identifier: MIT
 *
 * Batches of nodes for tests: random nodes, the results of a run, and single propagators for comparison.
 */
#ifndef TESTS_PROPAGATE_BATCH_H
#define TESTS_PROPAGATE_BATCH_H

#include "gpuopt/search.h"
#include "tests/propagate/model.h"

enum { NODES = 300, GIVEN = 8 };

/* Nodes with at most GIVEN bounds each. */
typedef struct node_list {
    gpuopt_propagator_nodes nodes;
    int64_t start[NODES + 1];
    int32_t col[NODES * GIVEN];
    double lb[NODES * GIVEN], ub[NODES * GIVEN];
} node_list;

/* Nodes given `least` to `most` distinct columns each, of a base with these bounds. */
void draw_nodes(node_list *list, int32_t count, int least, int most, int32_t cols, const double *lb, const double *ub,
                uint64_t *seed);
/* x[first - k] <= at, for node k. */
void chain_nodes(node_list *list, int32_t count, int32_t first, double at);

/* x[i + 1] <= x[i]: an upper bound of one column passes on to all later ones, one a round. */
mip model_chain(int cols);

typedef struct node_results {
    gpuopt_propagator_node_report report;
    int32_t outcome[NODES], rounds[NODES], row[NODES], col[NODES], columns[NODES];
    int64_t changed[NODES], nonzeros[NODES], start[NODES + 1];
    int64_t count;
    int32_t *changed_col; /* [count] */
    double *lb, *ub;
} node_results;

/* Runs nodes and reads the changes; free the result with free_results. */
void run_batch(gpuopt_propagator_batch *batch, const node_list *list, int rounds, node_results *r);
void free_results(node_results *r);

/* The history of a base before its batch runs: a number of rounds, then perhaps one column fixed. The model's last rows
 * may have been added, with the same numbers as in the model: before the rounds, or after them. */
typedef struct base_past {
    int rounds;
    int32_t fixed; /* -1: none */
    double at;
    int32_t added;
    int late;
} base_past;

gpuopt_propagator *make_base(gpuopt_context *context, const gpuopt_propagator_desc *desc, const base_past *past);
gpuopt_propagator_batch *make_batch(gpuopt_propagator *base, int32_t nodes, int32_t node_columns, int64_t changes);

/* Compares one node with a separate propagator. */
void check_node(gpuopt_context *cpu, const gpuopt_propagator_desc *desc, const base_past *past, const node_list *list,
                int rounds, const node_results *r, int32_t node, const char *what);

#endif /* TESTS_PROPAGATE_BATCH_H */
