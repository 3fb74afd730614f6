/* SPDX-License-Identifier: MIT
 *
 * The linear program of a solver's node in one gpuopt_simplex that lives as long as the tree, and strong branching on
 * it. The plug-ins for SCIP, Cbc and GLPK use this file.
 *
 *     node_lp *lp = node_lp_open("cuda", 1, warn, solver);
 *     // At each node: the columns, then each row of the solver's relaxation.
 *     node_lp_columns(lp, cols, cost, lb, ub, status);
 *     node_lp_row(lp, id, count, col, value, lhs, rhs, status);
 *     if (node_lp_branch(lp, count, col, value, cutoff, iterations, child)) ...   // child[2 k], child[2 k + 1]
 *
 * A row is known by its number `id` and its entries. Rows that the handle has already cost nothing but a comparison;
 * new ones are added to it, and those that are not given any more are removed. Everything is minimised.
 */
#ifndef EXAMPLES_HOSTS_NODE_LP_H
#define EXAMPLES_HOSTS_NODE_LP_H

#include <stdint.h>

typedef struct node_lp node_lp;

/* What strong branching found for one child. */
typedef struct node_child {
    int infeasible; /* not 0: proven that the child has no solution, or none better than the cutoff */
    double bound;   /* proven: no solution of the child is better; may be -infinity */
    int iterations; /* of the simplex method */
} node_child;

/* What the calls have cost so far. */
typedef struct node_lp_times {
    int64_t calls, children, iterations;
    int64_t rows_added, rows_removed, handles; /* handles that had to be made */
    double update, branch;                     /* seconds: keeping the handle in step, and the children */
} node_lp_times;

/* Opens a context on "cpu" or "cuda", with so many threads on the CPU. A thread does this in the background, because a
 * GPU takes a moment; the first node_lp_branch() waits for it. warn is called at most once, from the caller's thread:
 * with the reason for which the plug-in cannot work, or stopped working. Returns NULL after such a call. */
node_lp *node_lp_open(const char *backend, int threads, void (*warn)(void *user, const char *message), void *user);
/* Whether the context is open, so that node_lp_branch() does not wait for it. */
int node_lp_ready(const node_lp *lp);
void node_lp_close(node_lp *lp); /* NULL is allowed */
/* For tests: the call-th node_lp_branch() fails as if the device was lost; 0: none. */
void node_lp_fail(node_lp *lp, int64_t call);

/* Begins a node: cost, lb, ub [cols], and status [cols] as gpuopt_simplex_variable. The arrays are used until
 * node_lp_branch() returns. */
void node_lp_columns(node_lp *lp, int cols, const double *cost, const double *lb, const double *ub,
                     const uint8_t *status);
/* Adds a row to the node. Entries are copied. Infinite sides are HUGE_VAL, or at least 1e20. */
void node_lp_row(node_lp *lp, int id, int count, const int *col, const double *value, double lhs, double rhs,
                 uint8_t status);
/* Bounds that the first `children` children of the next node_lp_branch() have beside their branch. Child k has those
 * from start[k] to start[k + 1] - 1, each column once. The arrays are used until that call returns. */
void node_lp_implied(node_lp *lp, int children, const int64_t *start, const int *col, const double *lb,
                     const double *ub);
/* Branches on each of `count` columns col [count], which have the values value [count] in the solver's relaxation:
 * child [2 count] receives down and up child of each. cutoff: only better solutions count; HUGE_VAL: all. Each child
 * gets up to `iterations` iterations. Returns 0; 1: not at this node, whose basis is singular in working precision; -1,
 * and from then on always: the solver goes on without. */
int node_lp_branch(node_lp *lp, int count, const int *col, const double *value, double cutoff, int iterations,
                   node_child *child);
/* Whether calls have failed for good. */
int node_lp_failed(const node_lp *lp);
const node_lp_times *node_lp_cost(const node_lp *lp);

#endif /* EXAMPLES_HOSTS_NODE_LP_H */
