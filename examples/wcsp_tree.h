/* SPDX-License-Identifier: MIT
 *
 * The elimination tree of a graphical model, as branch_wcsp searches it: a level for each variable.
 */
#ifndef EXAMPLES_WCSP_TREE_H
#define EXAMPLES_WCSP_TREE_H

#include <stdint.h>

#include "examples/io/graphical.h"

/* A variable. Below it in the tree are the variables that are eliminated before it and depend on its value; branches
 * are independent. The part below depends only on the context: the variables above that share a function with this
 * variable or one below it. A state is the values of the context. */
typedef struct tree_level {
    int32_t values, parent, first_child, next_sibling; /* of the variable; variables, or -1 */
    int32_t width, *context;                           /* [width] variables */
    int32_t *from;  /* [width] place of each of them in the parent's context; -1: it is the parent */
    uint64_t *unit; /* [width]: a state's number is the sum of value * unit; NULL: states are too many for that */
    /* States that are being solved at a time, up to tree.batch: */
    int32_t *state;          /* [batch][width] */
    int64_t *limit, *excess; /* [batch]: see solve() in branch_wcsp.c */
    int32_t *best;           /* [batch] the value with that excess, -1: none */
    int32_t *twin;           /* [batch] the number of an equal state, or -1 */
    int32_t *open;           /* [batch] the states that are looked up */
    int64_t *rise;           /* [batch][values] the rise of the bound for each of these */
    int32_t *sorted, *next;  /* [batch][values] the values sorted by rise, -1: end; [batch] the next one to try */
    int32_t *owner, *value;  /* [batch] successors: the state that each comes from, the value of the variable */
    int64_t *sum;            /* [batch] their excess so far */
} tree_level;

typedef struct tree {
    int32_t levels, root; /* a level for each variable; the first root, the others are its siblings */
    int32_t batch;
    tree_level *level;
    double largest; /* log2 of the entries of the largest table of an exact elimination */
} tree;

/* Makes the tree of a model and an order of elimination [variables]; returns -1 if there is no memory. Call tree_free()
 * in any case. */
int tree_make(tree *t, const graphical_model *model, const int32_t *order, int32_t batch);
void tree_free(tree *t);

#endif /* EXAMPLES_WCSP_TREE_H */
