/* SPDX-License-Identifier: MIT
 *
 * The table of node_bench.c.
 */
#ifndef TESTS_BENCH_NODE_TABLE_H
#define TESTS_BENCH_NODE_TABLE_H

#include "examples/io/mip.h"

/* A propagator in either mode, and the work list. */
enum { JACOBI, GAUSS_SEIDEL, PEER, ENGINES };

/* The measurements for a model; counts of 0: none. */
typedef struct node_figures {
    double probe_us[ENGINES], dive_us[ENGINES], after_us[ENGINES];
    int probes, nodes, afters, disagree_peer, disagree_modes, unfinished;
} node_figures;

/* Of one column of the table, over all models. */
typedef struct node_total {
    double logs, most;
    char where[64];
    int count;
} node_total;
typedef struct node_totals {
    node_total probe[PEER], dive[PEER], after[PEER];
} node_totals;

void node_print_head(void);
/* Prints a model's line, and adds it to the totals. */
void node_print(const char *name, const mip *model, const node_figures *found, node_totals *totals);
void node_print_totals(const node_totals *totals);

#endif /* TESTS_BENCH_NODE_TABLE_H */
