/* SPDX-License-Identifier: MIT
 *
 * Random multiple-choice knapsacks, and their optima by enumeration and by dynamic programming.
 */
#ifndef TESTS_KNAPSACK_CHOICE_MODELS_H
#define TESTS_KNAPSACK_CHOICE_MODELS_H

#include "gpuopt/knapsack_variants.h"
#include "tests/support/support.h"

enum { CHOICE_ITEMS = 4096, CHOICE_CLASSES = 512, CHOICE_KINDS = 7 };

typedef struct choice {
    int32_t classes, at_most_one;
    int64_t begin[CHOICE_CLASSES + 1], weight[CHOICE_ITEMS], profit[CHOICE_ITEMS], capacity;
} choice;

/* Kind 0 .. CHOICE_KINDS - 1, with this many items in each class and weights up to range:
 * - uncorrelated; weakly correlated;
 * - strongly correlated, in Pisinger's form, where an item is a sum of earlier ones (A minimal algorithm for the
 *   multiple-choice knapsack problem, 1995);
 * - subset sum; classes of all sizes from 1, with ties; profits of any sign;
 * - bounded knapsacks, where the items of a class are copies 0, 1, 2, ... of one item.
 * The capacity is between the weights of the lightest and the heaviest items. */
void choice_random(choice *m, int kind, int32_t classes, int32_t items, int64_t range, uint64_t *seed);

/* The optimum; INT64_MIN: there is no solution. Of at most a million selections; of capacities up to 100,000. */
int64_t choice_by_enumeration(const choice *m);
int64_t choice_by_capacities(const choice *m);

gpuopt_knapsack_multiple_choice_desc choice_desc(const choice *m, int64_t states);
gpuopt_knapsack_multiple_choice *choice_create(gpuopt_context *context,
                                               const gpuopt_knapsack_multiple_choice_desc *desc);
gpuopt_knapsack_multiple_choice_info choice_info(gpuopt_knapsack_multiple_choice *knapsack);
/* Checks that the items are of their classes, fit, and have the profit that the handle reports. Returns this profit.
 * chosen [classes] may be NULL. */
int64_t choice_check_items(gpuopt_knapsack_multiple_choice *knapsack, const choice *m, int32_t *chosen);
/* Runs to the end, and checks that this is the optimum. */
gpuopt_knapsack_multiple_choice_info choice_finish(gpuopt_knapsack_multiple_choice *knapsack, const choice *m,
                                                   int64_t optimum);

#endif /* TESTS_KNAPSACK_CHOICE_MODELS_H */
