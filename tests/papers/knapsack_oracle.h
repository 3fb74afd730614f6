/* SPDX-License-Identifier: MIT
 *
 * Two other ways to solve a 0-1 knapsack problem, which share no code with the library.
 */
#ifndef TESTS_PAPERS_KNAPSACK_ORACLE_H
#define TESTS_PAPERS_KNAPSACK_ORACLE_H

#include "examples/io/knapsack.h"

/* The optimum, by Bellman's recursion over all capacities in O(items capacity); -1 if there is no memory for it. */
int64_t knapsack_by_programme(const knapsack_model *model);

/* A branch and bound exactly as the paper by Boukedjar, Lalami and El Baz has it: nodes (w, p, s, U) and their lower
 * bounds, one branching and one bounding pass over the list for each item, linear loops for the bounds, and a list that
 * is compacted by moving nodes from its end. One thread does all of it, with integers of
 * 32 bits. */
typedef struct literal_search {
    int ended;        /* 0: the limit stopped it */
    int64_t branched; /* nodes, in all steps */
    int64_t longest;  /* list */
    int64_t profit;   /* of the best solution */
} literal_search;
/* Stops once more than `limit` nodes have been branched. Returns 0, or -1 if there is no memory. */
int knapsack_by_paper(const knapsack_model *model, int64_t limit, literal_search *result);

#endif /* TESTS_PAPERS_KNAPSACK_ORACLE_H */
