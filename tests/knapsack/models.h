/* SPDX-License-Identifier: MIT
 *
 * Knapsacks for the tests, of every class, and what they are checked with: dynamic programming.
 */
#ifndef TESTS_KNAPSACK_MODELS_H
#define TESTS_KNAPSACK_MODELS_H

#include "tests/support/support.h"

enum { MODEL_MOST = 512, MODEL_CLASSES = 12 };

typedef struct model {
    int32_t items;
    int64_t weight[MODEL_MOST], profit[MODEL_MOST], capacity;
} model;

/* Class 0 .. MODEL_CLASSES - 1, with weights up to range: uncorrelated, weakly, strongly, inversely strongly and almost
 * strongly correlated, subset sum, similar weights, few different items, multiple strongly correlated, profit ceiling,
 * circle; and everything at random, with zeros, what does not fit and what all fits. */
model model_random(int kind, int32_t items, int64_t range, uint64_t *state);

/* By dynamic programming over weights or over profits, whichever are the fewer: one of them has to be small. */
int64_t model_optimum(const model *m);

gpuopt_knapsack_desc model_desc(const model *m);
gpuopt_knapsack *model_create(gpuopt_context *context, const gpuopt_knapsack_desc *desc);
/* To the end; then checks that the outcome is OPTIMAL with this profit, and that the items have it and fit. */
gpuopt_knapsack_info model_finish(gpuopt_knapsack *knapsack, const model *m, int64_t optimum);
/* Whether the items have the profit and the weight that the handle says, and fit. Returns the profit. */
int64_t model_check_items(gpuopt_knapsack *knapsack, const model *m);

#endif /* TESTS_KNAPSACK_MODELS_H */
