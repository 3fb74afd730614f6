/* SPDX-License-Identifier: MIT
 *
 * What SCIP's propagation finds in the children of a node before their linear programs are solved: bounds that a child
 * has beside its branch, children without a solution, and bounds that hold in both children.
 */
#ifndef EXAMPLES_HOSTS_SCIP_IMPLIED_H
#define EXAMPLES_HOSTS_SCIP_IMPLIED_H

#include <stdint.h>

#include "examples/hosts/scip_branching.h"

typedef struct scip_bounds {
    int count, capacity;
    int *col; /* [capacity] places in the LP, like lb and ub */
    double *lb, *ub;
} scip_bounds;

typedef struct scip_implied {
    int children;       /* that were propagated */
    scip_bounds bounds; /* of child k: from start[k] to start[k + 1] - 1 */
    scip_bounds both;   /* hold at the node */
    int most_children;
    int64_t *start;      /* [most_children + 1] */
    int *infeasible;     /* [most_children] */
    long nodes, cut_off; /* so far: children, and those without a solution */
} scip_implied;

void scip_implied_free(scip_implied *implied);
/* Propagates both children of var [count], which have the values value [count] in the LP's solution. lb and ub are the
 * bounds of the LP's columns. */
SCIP_RETCODE scip_implied_find(SCIP *scip, scip_implied *implied, int count, SCIP_VAR *const *var, const double *value,
                               const double *lb, const double *ub);

#endif /* EXAMPLES_HOSTS_SCIP_IMPLIED_H */
