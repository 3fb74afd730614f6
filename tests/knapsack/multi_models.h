/* SPDX-License-Identifier: MIT
 *
 * Random multidimensional knapsacks, and their optima by all subsets and by dynamic programming.
 */
#ifndef TESTS_KNAPSACK_MULTI_MODELS_H
#define TESTS_KNAPSACK_MULTI_MODELS_H

#include "gpuopt/knapsack_variants.h"
#include "tests/support/support.h"

__extension__ typedef __int128 multi_wide;

enum { MULTI_ITEMS = 160, MULTI_ROWS = 30, MULTI_KINDS = 8 };

typedef struct multi {
    int32_t items, rows;
    int64_t weight[MULTI_ROWS * MULTI_ITEMS], profit[MULTI_ITEMS], capacity[MULTI_ROWS];
} multi;

/* Kind 0 .. MULTI_KINDS - 1, weights up to range: Chu and Beasley's; profits equal to the sums of the weights, and the
 * same plus a constant; equal rows; all items the same. Then items that do not fit, weights and profits of 0; one row
 * in which nothing or everything fits; subset sum in one row and small weights in the others. */
void multi_random(multi *m, int kind, int32_t items, int32_t rows, int64_t range, uint64_t *seed);

/* Of at most 20 items, by all subsets. */
multi_wide multi_by_subsets(const multi *m);
/* For two rows with capacities of at most 600, by dynamic programming over both. */
int64_t multi_by_capacities(const multi *m);

gpuopt_knapsack_multidimensional_desc multi_desc(const multi *m, int32_t workers);
gpuopt_knapsack_multidimensional *multi_create(gpuopt_context *context,
                                               const gpuopt_knapsack_multidimensional_desc *desc);
gpuopt_knapsack_multidimensional_info multi_info(gpuopt_knapsack_multidimensional *knapsack);
/* Checks that the items fit and have the profit that the handle reports. Returns this profit. taken [items] or NULL. */
int64_t multi_check_items(gpuopt_knapsack_multidimensional *knapsack, const multi *m, int64_t *taken);
/* Runs to the end, and checks that this is the optimum. */
gpuopt_knapsack_multidimensional_info multi_finish(gpuopt_knapsack_multidimensional *knapsack, const multi *m,
                                                   int64_t optimum);

#endif /* TESTS_KNAPSACK_MULTI_MODELS_H */
