/* SPDX-License-Identifier: MIT
 *
 * The parts of solve_mip: a tree that threads search together. Each thread has a present node, as levels in a
 * propagator's trail and a basis of a simplex handle, and operations on it. Everything is minimised.
 */
#ifndef EXAMPLES_MIP_SEARCH_H
#define EXAMPLES_MIP_SEARCH_H

#include <pthread.h>

#include "gpuopt/search.h"
#include "examples/common.h"
#include "examples/io/mip.h"
#include "examples/mip_whole.h"

/* A bound of an integer column that the search has chosen. */
typedef struct decision {
    int32_t col, upper; /* 1: its upper bound, 0: its lower one */
    double value;
    double moved; /* distance from the column's value in the relaxation before */
} decision;

/* The effect of branching on a column: the rise of the relaxation's objective per unit that the value moved down (0) or
 * up (1), summed over `nodes` nodes. */
typedef struct history {
    double rise[2];
    int32_t count[2];
} history;

/* An open node: the decisions that lead there, and the basis to begin with. */
typedef struct open_node {
    double bound;   /* no solution in it is better */
    double before;  /* the same, as far as its parent knew */
    uint8_t *basis; /* of the parent's relaxation, or of its own: */
    int32_t depth, solved;
    decision path[];
} open_node;

/* Data shared by all threads; a thread must hold `lock` to access the members after it. */
typedef struct tree {
    const mip *model; /* minimised, with both forms of its matrix */
    const whole_rows *whole;
    double sign, start; /* of the objective in the file; when the program began */
    double unit;        /* the objective's values differ by multiples of it; 0: by anything */
    int infeasible;     /* as rows and bounds alone imply */
    int unbounded;      /* the relaxation is: any solution proves that the model is */
    double root_objective, *root_x, *root_slope, *lb, *ub; /* of the root's relaxation */
    int32_t cuts, *cut_col; /* rows, by rows, that the relaxations have beyond the model's, each at most a side */
    int64_t *cut_start;
    double *cut_value, *cut_side;
    pthread_mutex_t lock;
    pthread_cond_t changed; /* there are nodes, or there will be none */
    open_node **node;       /* a heap: the first has the least bound, and among equals the greatest depth */
    size_t count, capacity;
    int busy; /* threads at a node */
    int found;
    double *best, best_objective, cutoff; /* a better solution's objective is below the cutoff */
    history *history, all;                /* [cols]; of all columns together */
    gpuopt_status status;                 /* the first that was not OK; it ends the search */
} tree;

/* A decision, and the position in the trail where its level begins. */
typedef struct step {
    decision d;
    int64_t start;
} step;

enum { MOST_TRIED = 16, MOST_BATCH = 64, MOST_THREADS = 256, MOST_CUTS = 1 << 14, MOST_CUT_ENTRIES = 1 << 22 };

typedef struct worker {
    tree *tree;
    const mip *model;
    gpuopt_context *context;
    gpuopt_propagator *propagator; /* its level 0 holds the bounds of the whole tree */
    gpuopt_simplex *lp;            /* has the propagator's bounds */
    gpuopt_simplex_children *batch;
    gpuopt_simplex_children *several; /* of nodes, so many at a time: */
    int32_t at_once;
    gpuopt_status status; /* the first that was not OK */
    int late;             /* it has been interrupted */
    int shows;            /* it prints the progress */

    step *path; /* [depth] from the root; the first `top` share a level */
    int32_t depth, top, capacity;
    double bound;                 /* no solution in the node is better */
    double *lb, *ub;              /* [cols] the node's */
    gpuopt_outcome outcome;       /* of its relaxation: OPTIMAL, or x is some point */
    double *x, *slope, objective; /* values and reduced costs [cols] of this objective. The bound may be better, from a
                                  * parent with bounds tightened further in another thread */
    uint8_t *basis;               /* [cols + rows] */
    double *best, cutoff, known;  /* copies of the tree's; known: the cutoff with its consequences set at level 0 */
    int32_t cutoff_row;           /* of the propagator; -1: none yet */
    double given_up; /* the least bound of parts of the tree without a verdict because of rounding; HUGE_VAL: none */
    int64_t nodes, iterations, tries, dives, uncertain; /* so far; iterations, also for strong branching, for dives, and
                                                         * for smaller relaxations */

    int32_t *col, listed; /* [cols] lists */
    double *low, *high;   /* [cols] */
    uint8_t *mark;        /* [cols], all 0 */
    gpuopt_propagator_changes changes;
    const char *backend;
    log_printer printer;
    pthread_t thread;
    int runs, at_node;
} worker;

/* For an integer column: whether it has several values in the node, and whether its value in the relaxation is
 * fractional. */
int is_open(const worker *w, int32_t j);
int is_fractional(const worker *w, int32_t j);

/* Keeps the first error. Returns whether there is none. */
int worker_ok(worker *w, gpuopt_status status);
/* Makes a worker's handles, with the tree's bounds of the root; level 0 then has the results of propagation and
 * probing. Returns whether there may be a solution, as do all later functions; if w->status is not OK, the function has
 * failed. */
int worker_open(worker *w, tree *t, int probes);
void worker_close(worker *w);

/* Goes to a node from anywhere: its decisions, and the basis of its parent. */
int node_enter(worker *w, const open_node *node);
/* The same but for the basis. */
int node_go(worker *w, const open_node *node);
/* Solves the relaxations of an open node and of others, and puts back those in which there may be a better solution. 0:
 * there are no others, and nothing has been done. */
int nodes_solve(worker *w, open_node *first);
/* Goes down to a child. */
int node_descend(worker *w, decision d);
/* Goes up to an ancestor that was entered or descended to since, or to the root. */
void node_back(worker *w, int32_t depth);
/* Whether half of the trail is full: then other nodes come first. */
int node_is_full(worker *w);
/* Frees capacity in the trail: the node becomes one level with all its bounds; at the root, the bounds become
 * permanent. */
int node_pack(worker *w);
/* Opens a level, with a decision if there is one. Returns whether that worked. */
int node_push(worker *w, const decision *d);
/* Sets bounds of some columns, and propagates them. */
int node_tighten(worker *w, int64_t count, const int32_t *col, const double *lb, const double *ub);
/* Begins the relaxation at a basis, and solves it. */
void node_set_basis(worker *w, const uint8_t *basis);
int node_relax(worker *w);
/* Rebuilds the relaxation, with the present bounds and the tree's cuts. */
int open_relaxation(worker *w);
/* Adds cuts to the root's relaxation, which is solved, as long as that helps. */
int node_cut(worker *w);
/* Makes all costs of the relaxation 0. */
void node_forget_costs(worker *w);

/* Takes the relaxation's point with its integer columns rounded as a solution, if it satisfies all rows to rounding. */
int take_rounded(worker *w);
/* The same, with the best values of the other columns; leaves the node. */
void take_integers(worker *w);
enum { CLOSED = -1, AGAIN = -2, INTEGRAL = -3 }; /* AGAIN: the node's bounds are tighter now */
/* Decides on a node with integers in its relaxation; taken: they are a solution. Returns a column to branch on, or
 * CLOSED: the node has no better solution, or rounding allows no verdict, which given_up then records. */
int32_t settle_uncertain(worker *w, int taken);

/* Records that branching on a column up or down raised the bound by `rise` when it moved the value by `moved`. The
 * caller holds the tree's lock. */
void branch_remember(tree *t, int32_t j, int up, double rise, double moved);
/* Returns a column to branch on, CLOSED, AGAIN or INTEGRAL. */
int32_t branch_choose(worker *w);
/* Tightens integer columns if their distance from a relaxation's optimum would cost more than the cutoff allows.
 * Returns how many, or CLOSED: there is no better solution. */
int32_t tighten_by_cost(worker *w, double objective, const double *x, const double *slope);

/* Makes the model a minimisation, with all arrays, and rounds numbers that must be integers. 1: it is infeasible; -1:
 * out of memory. */
int mip_prepare(mip *model, whole_rows *whole);

/* Returns the status; the tree is to be closed in any case. */
gpuopt_status tree_open(tree *t, const mip *model, const whole_rows *whole);
void tree_close(tree *t);
/* Puts a child of the worker's node into the tree. */
void tree_put(worker *w, decision d);
/* Takes the first open node, to be freed by the caller, and waits for one while others may still add some; NULL: there
 * is none, or time is up. */
open_node *tree_take(worker *w);
/* Takes up to `most` other open nodes that are not solved. Returns how many. */
int32_t tree_take_more(worker *w, open_node **node, int32_t most);
void tree_put_back(worker *w, open_node **node, int32_t count);
/* Offers a solution, and takes over the tree's best one: from now on only better solutions count. */
void tree_offer(worker *w, const double *x, double objective);
void tree_adopt(worker *w);

#endif /* EXAMPLES_MIP_SEARCH_H */
