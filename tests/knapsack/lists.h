/* SPDX-License-Identifier: MIT
 *
 * The lists of a problem's groups of items, alone. To be included behind
 * gpuopt_impl/knapsack/strengthen/weight_classes.h. Each test sets GPUOPT__KNAPSACK_GROUP_STATES, the capacity for
 * states, as needed.
 */
#ifndef TESTS_KNAPSACK_LISTS_H
#define TESTS_KNAPSACK_LISTS_H

#include <stdlib.h>

#include "gpuopt_impl/knapsack/strengthen/weight_classes.h"
#include "tests/knapsack/models.h"

/* Makes the lists of sorted items in `groups` groups, no wider than `within`, with this multiplier; they keep all
 * solutions better than `lower`. Fills in *view and *g; returns their memory, which the caller frees. */
static void *lists_make(const model *m, int32_t groups, int64_t within, int64_t lambda, int64_t lower,
                        gpuopt__knapsack_view *view, gpuopt__knapsack_grouping *g) {
    void *memory = malloc(gpuopt__knapsack_group_cut(g, NULL, m->items, groups, 1));
    assert_non_null(memory);
    memset(g, 0, sizeof *g);
    memset(view, 0, sizeof *view);
    view->table.weight = m->weight;
    view->table.profit = m->profit;
    view->last = m->items;
    view->capacity = m->capacity;
    gpuopt__knapsack_group_cut(g, memory, m->items, groups, 1);
    g->view = view;
    g->groups = groups;
    g->limit = g->states;
    gpuopt__knapsack_group_divide(g, within);
    gpuopt__knapsack_group_begin(g);
    gpuopt__knapsack_group_price(g, lambda);
    assert_true(gpuopt__knapsack_group_lists(g, lower));
    return memory;
}

#endif /* TESTS_KNAPSACK_LISTS_H */
