/* SPDX-License-Identifier: MIT
 *
 * What solve_mip is made of: the node of a branch-and-bound search that it is at, as levels in a propagator's trail and
 * a basis of a simplex handle, and what is done there. Everything is minimised.
 */
#ifndef EXAMPLES_MIP_SEARCH_H
#define EXAMPLES_MIP_SEARCH_H

#include "examples/io/mip.h"

/* A bound of an integer column that the search has chosen. */
typedef struct decision {
    int32_t col, upper; /* 1: its upper bound, 0: its lower one */
    double value;
    double moved; /* how far that is from the column's value in the relaxation before */
} decision;

/* What branching on a column has brought: the rise of the relaxation's objective per unit that the value moved down (0)
 * or up (1), summed over so many nodes. */
typedef struct history {
    double rise[2];
    int32_t count[2];
} history;

/* The optimum of a node's relaxation. */
typedef struct relaxation {
    gpuopt_outcome outcome; /* OPTIMAL; if it is not, x is some point, and the objective a bound */
    double objective;
    double *x, *slope; /* [cols] values and reduced costs */
    uint8_t *basis;    /* [cols + rows of the relaxation] */
} relaxation;

typedef struct search {
    const mip *model;              /* minimised, with both forms of its matrix */
    gpuopt_propagator *propagator; /* its level 0 is what holds in the whole tree */
    gpuopt_simplex *lp;            /* has the propagator's bounds */
    size_t basis_size;             /* columns, and rows of the relaxation */
    gpuopt_status status;          /* the first that was not OK; it ends the search */
    double deadline;               /* of now() */
    int late;                      /* it has passed */
    int dual;                      /* there is the dual method, with a cutoff; the GPU has none */
    double given_up; /* the least bound of parts of the tree on which rounding allowed no verdict; HUGE_VAL: none */

    /* The node. */
    decision *path; /* [depth] from the root */
    int64_t *start; /* [levels] positions in the trail */
    int32_t depth, levels, room;
    double bound;                            /* no solution in it is better */
    double *lb, *ub;                         /* [cols] of the relaxation */
    relaxation now, kept, root;              /* its optimum; those of node_keep() and of the root */
    int64_t nodes, iterations, tries, dives; /* so far; of the iterations, those of strong branching and of dives */

    /* The best solution. */
    int found, unbounded;        /* unbounded: any solution proves that the model is */
    double *best;                /* [cols] */
    double best_objective, unit; /* the objective's values differ by multiples of the unit; 0: by anything */
    double cutoff;               /* a better solution's objective is below this */
    int32_t cutoff_row;          /* of the propagator; -1: none yet */

    history *history, all; /* [cols]; of all columns together */
    int32_t *col, listed;  /* [cols] lists */
    double *low, *high;    /* [cols] */
    uint8_t *mark;         /* [cols], all 0 */
    gpuopt_propagator_changes changes;
} search;

/* Keeps the first error. Returns whether there is none. */
int search_ok(search *s, gpuopt_status status);

/* Makes the handles, and finds out what holds at the root by propagation and probing. model is minimised, and has both
 * forms of its matrix. Returns whether there may be a solution; then, if s->status is not OK, it has failed. */
int search_open(search *s, const mip *model, gpuopt_context *context, int dual, double deadline);
void search_close(search *s);

/* Goes to a node: its decisions, and the basis of its parent, or NULL. Returns whether there may be a better solution
 * in it, as do those that descend, tighten, and relax. */
int node_enter(search *s, const decision *path, int32_t depth, const uint8_t *basis);
/* Goes down to a child: by a level; or anew, in a trail with nothing else in it, once half of the trail is full. */
int node_descend(search *s, decision d);
int node_descend_anew(search *s, decision d);
int node_is_full(search *s);
/* Opens a level, without a decision. Returns whether that worked. */
int node_push(search *s);
/* Sets bounds of some columns, and propagates them. */
int node_tighten(search *s, int64_t count, const int32_t *col, const double *lb, const double *ub);
/* Begins the relaxation at a basis. */
void node_set_basis(search *s, const uint8_t *basis);
/* Solves the relaxation. */
int node_relax(search *s);
/* Goes up until so many levels and decisions are left. */
void node_back(search *s, int32_t levels, int32_t depth);
/* Comes back to a node from below: its relaxation is s->kept. */
void node_return(search *s, int32_t levels, int32_t depth);
void relaxation_copy(const search *s, relaxation *to, const relaxation *from);

#endif /* EXAMPLES_MIP_SEARCH_H */
