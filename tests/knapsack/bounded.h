/* SPDX-License-Identifier: MIT
 *
 * Random knapsack problems with several copies of items, and their optima by dynamic programming over copies.
 */
#ifndef TESTS_KNAPSACK_BOUNDED_H
#define TESTS_KNAPSACK_BOUNDED_H

#include "tests/knapsack/models.h"

/* A model with upper bounds. */
typedef struct bounded {
    model m;
    int64_t upper[MODEL_MOST];
} bounded;

/* By dynamic programming over weights: the capacity must be small. */
int64_t bounded_optimum(const bounded *b);

/* Copies up to `most` each; about one item in eight has none, one as many as fit and more (if it weighs anything). */
bounded bounded_random(int kind, int32_t items, int64_t range, int64_t most, uint64_t *state);

gpuopt_knapsack_desc bounded_desc(const bounded *b);
/* Checks that the copies [items + 1] fit and have the profit and weight that the handle reports. Returns the profit. */
int64_t bounded_check(gpuopt_knapsack *knapsack, const bounded *b, int64_t *copies);

#endif /* TESTS_KNAPSACK_BOUNDED_H */
