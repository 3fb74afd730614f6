/* SPDX-License-Identifier: MIT
 *
 * Propagation at the nodes of GLPK's branch and cut: the work of branch_glpk in GLPK's callback.
 */
#ifndef EXAMPLES_BRANCH_NODE_H
#define EXAMPLES_BRANCH_NODE_H

#include <glpk.h>

#include "examples/io/mip.h"
#include "gpuopt.h"
#include "gpuopt/search.h"

/* A level of the propagator's trail is a node of GLPK's tree; the open levels lie on one path from its root. */
typedef struct node_level {
    int node, depth; /* GLPK's number, and how far it is from the root */
    int64_t start;   /* of the level's changes in the trail */
} node_level;

typedef struct node_solver {
    const mip *model;
    gpuopt_propagator *propagator; /* NULL: nodes are only counted */
    int log;                       /* print the reasons on stderr */
    int prune_row;                 /* of GLPK's problem, without entries: fixed at 1 to prune a node */
    double *lb, *ub;               /* [cols] the propagator's bounds */
    node_level *level;
    int levels, level_capacity;
    /* Columns with bounds to set [cols], and changes read from the trail. */
    int32_t *col;
    double *set_lb, *set_ub;
    gpuopt_propagator_changes changes;
    int64_t *premise;
    int32_t cutoff_row; /* -1: there is no incumbent yet */
    double cutoff;      /* side of that row */
    double cost_unit;   /* the objective's values differ by a multiple of this; 0: by anything */
    /* Found so far. */
    int64_t nodes, calls, tightened, pruned;
    int last_node;        /* of the last call; 0: none */
    double seconds;       /* of the processor, in the callback */
    gpuopt_status status; /* if it is not OK, the search was stopped */
    int shows;            /* print the progress */
    double start;         /* when the search began */
    double bound;         /* GLPK's, when the search was interrupted; else NAN */
} node_solver;

double processor_seconds(void); /* of this thread */

/* The structs that the descriptor points to. */
typedef struct node_options {
    gpuopt_propagator_tolerances tolerances;
    gpuopt_spare spare;
} node_options;
/* The propagator's descriptor, with a trail and spare rows for a search. */
gpuopt_propagator_desc node_desc(const mip *model, node_options *options);
/* Begins with the model's bounds, at GLPK's root. propagator may be NULL. -1: out of memory. */
int node_open(node_solver *solver, const mip *model, gpuopt_propagator *propagator, int prune_row);
void node_close(node_solver *solver);
/* A callback of glp_intopt (info: the node_solver). Before GLPK processes a node it takes the node's bounds to the
 * propagator. It returns the results to GLPK: tighter bounds, or that the node has no better solution than GLPK's
 * incumbent. */
void node_callback(glp_tree *tree, void *solver);

#endif /* EXAMPLES_BRANCH_NODE_H */
