/* SPDX-License-Identifier: MIT
 *
 * Depth-first branch and bound over the elimination tree of a graphical model, for branch_wcsp.
 */
#ifndef EXAMPLES_WCSP_SEARCH_H
#define EXAMPLES_WCSP_SEARCH_H

#include "gpuopt/inference.h"
#include "examples/common.h"
#include "examples/io/graphical_merge.h"
#include "examples/wcsp_tree.h"

/* Remembered about a state of a level: how far its optimum is above its bound, or at least is. */
enum { EXACT = -1, AT_LEAST = -2 };
typedef struct memory {
    uint64_t number;
    int32_t level; /* -1: nothing */
    int32_t kind;  /* EXACT or AT_LEAST; else it is being solved, as the state of this number */
    int64_t excess;
} memory;

typedef struct search {
    graphical_model model;    /* as it was read */
    graphical_merge merge;    /* the model with fewer values, or nothing */
    graphical_model searched; /* its members belong to the merged or reduced model */
    gpuopt_elimination_preprocessing *reduction;
    int64_t offset; /* of the model's costs against the reduced model's */
    tree tree;      /* of the model that is searched, as all that follows */
    gpuopt_context *context;
    gpuopt_elimination *elimination; /* of the relaxation: its variables are copies of the model's */
    int32_t *first_copy, *copies;    /* [variables] of each; a variable's follow one another */
    int32_t relaxed, z;              /* variables of the relaxation; of a mini-bucket at most */
    int32_t *row;                    /* [batch][relaxed] the look-ups */
    int64_t *copy_rise;              /* [batch][values] */
    memory *cache;
    uint64_t mask; /* entries of the cache - 1 */
    int64_t nodes, bounds, calls, recalled;
    int64_t last_bound;   /* that may be looked up */
    int stopped;          /* by the caller or the last bound, or for good: */
    gpuopt_status status; /* of the look-ups */
    /* The answer: costs are the model's; less the offset, times scale, they are the relaxation's. */
    int32_t *lifted, *best; /* [variables of the model] of each: scratch, and the incumbent */
    int64_t lower, upper, scale;
    int feasible, proven;
    double unit, start; /* a cost of 1 in the file's terms (.uai), or 1 */
    int json;
    log_printer printer;
} search;

/* Prints a line: the time, the bounds of the cost, and the nodes so far. */
void print_progress(const search *s, const char *what, int64_t cost);
/* Takes an assignment [variables searched] if it is the best so far. */
void take(search *s, const int32_t *value);

/* Searches for an assignment with a cost less than `most` above the bound `root`, both the relaxation's, then for one
 * less than a larger amount, and so on. So assignments far above the optimum are only examined if all nearer ones have
 * failed. Each round proves a lower bound. */
void deepen(search *s, int64_t root, int64_t most);

#endif /* EXAMPLES_WCSP_SEARCH_H */
