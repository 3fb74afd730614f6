/* SPDX-License-Identifier: MIT
 *
 * Graphs for tests of the search for an order: models without tables.
 */
#ifndef TESTS_ELIMINATION_GRAPHS_H
#define TESTS_ELIMINATION_GRAPHS_H

#include "tests/elimination/model.h"
#include "tests/support/orders.h"
#include "tests/support/support.h"

enum { GRAPH_MOST = 1100 }; /* variables of a graph that is drawn */

/* Without functions; domain NULL: of 2 values. */
model graph_model(int32_t variables, const int32_t *domain);
void graph_add(model *m, int32_t arity, const int32_t *scope);
/* Functions over two or three variables, which have up to `values` values each; 0: all have 2. */
model graph_draw(uint64_t *seed, int32_t variables, int32_t functions, int32_t values);
model graph_grid(int32_t length);

/* Finds an order and its cost; fails the test if it is no order. */
order_cost order_search(gpuopt_context *context, const gpuopt_elimination_desc *desc, int32_t *order);

#endif /* TESTS_ELIMINATION_GRAPHS_H */
