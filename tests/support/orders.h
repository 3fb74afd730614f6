/* SPDX-License-Identifier: MIT
 *
 * Elimination orders, for tests and benchmarks: the cost of an order, found by elimination on a matrix, and graphs of
 * public benchmarks.
 */
#ifndef TESTS_SUPPORT_ORDERS_H
#define TESTS_SUPPORT_ORDERS_H

#include "gpuopt.h"

typedef struct order_cost {
    int32_t width;           /* variables in the largest message's scope; -1: it is not an order of the variables */
    double rows;             /* joined rows of all buckets */
    double largest, entries; /* of the largest message, of all */
} order_cost;

/* The cost of eliminating all variables of desc in this order [variables]. Uses only the domains and scopes. */
order_cost order_cost_of(const gpuopt_elimination_desc *desc, const int32_t *order);

/* A model without its tables. */
typedef struct order_graph {
    int32_t variables, functions;
    int32_t *domain;
    gpuopt_elimination_function *function; /* lists of no tuples */
} order_graph;

/* Reads the number of variables, their domain sizes, the number of functions, and for each its arity and scope. Returns
 * 0, or -1: the file does not exist or is damaged. */
int order_graph_read(const char *path, order_graph *graph);
void order_graph_free(order_graph *graph);
gpuopt_elimination_desc order_graph_desc(const order_graph *graph);

/* Published results for the graphs in `orders` of the public data. */
typedef struct order_known {
    const char *name;  /* of the file, without .txt */
    int32_t published; /* log2 of the largest table in the best published result; 0: none */
    double rows;       /* log2 of its joined rows */
} order_known;
/* The results of the repository TensorBFS/OMEinsumContractionOrdersBenchmark, commit be086ca; they count pairwise
 * contractions. The last entry has no name. */
extern const order_known order_published[];

#endif /* TESTS_SUPPORT_ORDERS_H */
