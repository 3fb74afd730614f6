/* SPDX-License-Identifier: MIT
 *
 * Random knapsack problems of every class, and their optima by dynamic programming.
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
 * circle. The last class is random in every way, with zeros, items that do not fit, and capacities that fit all
 * items. */
model model_random(int kind, int32_t items, int64_t range, uint64_t *state);

/* `groups` groups of nearly the same weight: shares of 1/2, 1/4 and so on of the capacity, in thousandths of it more,
 * the last without a share; and 1 .. noise on each weight and profit. Part of the items, in percent, are in the
 * last. */
model model_grouped(int32_t items, int groups, int64_t capacity, int more, int64_t noise, int part, uint64_t *random);

/* Sorts the items by profit per weight, the best first; products of profits and weights must fit. */
void model_sort(model *m);

/* The optimum by dynamic programming, over weights or over profits: one of the capacity and the sum of profits must be
 * small. */
int64_t model_optimum(const model *m);

gpuopt_knapsack_desc model_desc(const model *m);
gpuopt_knapsack *model_create(gpuopt_context *context, const gpuopt_knapsack_desc *desc);
/* Runs the search to the end. Then checks that the outcome is OPTIMAL with this profit, and that the items fit and have
 * this profit in all. */
gpuopt_knapsack_info model_finish(gpuopt_knapsack *knapsack, const model *m, int64_t optimum);
/* Makes a handle, and searches step by step to the end, checking true bounds from the beginning on. Returns the nodes
 * expanded. */
int64_t model_search(gpuopt_context *context, const model *m, gpuopt_switch reduction, int64_t optimum);
/* Packs the next `nodes` nodes. The caller frees the bytes. */
unsigned char *model_pack(gpuopt_knapsack *knapsack, int64_t nodes, int remove, uint64_t *size);
/* Checks that the items fit and have the profit and weight that the handle reports. Returns the profit. */
int64_t model_check_items(gpuopt_knapsack *knapsack, const model *m);

/* The optimum of a knapsack that its variants contain, by gpuopt_knapsack. */
int64_t model_searched(gpuopt_context *context, int32_t items, const int64_t *weight, const int64_t *profit,
                       int64_t capacity);

#endif /* TESTS_KNAPSACK_MODELS_H */
