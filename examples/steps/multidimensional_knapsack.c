/* SPDX-License-Identifier: MIT
 *
 * A knapsack with two constraints, searched some rounds at a time. The caller first gives its own solution, then
 * watches the bounds converge, and reads the items. main() finds the optimum by trying all 2^20 sets.
 *
 * Build, from the repository's root:
 *     cc -O2 -I. examples/steps/multidimensional_knapsack.c gpuopt_impl/gpuopt.c -lm -o multidimensional_knapsack
 */
#include "examples/steps/steps.h"
#include "gpuopt/knapsack_variants.h"

enum { ROWS = 2, ITEMS = 20 };

int main(int argc, char **argv) {
    gpuopt_knapsack_multidimensional_desc desc = GPUOPT_INIT(gpuopt_knapsack_multidimensional_desc);
    gpuopt_knapsack_multidimensional_info info = GPUOPT_INIT(gpuopt_knapsack_multidimensional_info);
    gpuopt_knapsack_multidimensional *knapsack = NULL;
    int64_t weight[ROWS][ITEMS], profit[ITEMS], capacity[ROWS] = {0, 0}, left[ROWS], copies[ITEMS] = {0}, best = 0,
                                                found, sum = 0;
    unsigned seed = 5;
    long set;
    int i, j, right;

    for (j = 0; j < ITEMS; j++) {
        for (i = 0, profit[j] = 0; i < ROWS; i++) {
            seed = seed * 1103515245u + 12345u;
            weight[i][j] = 10 + (seed >> 16) % 90;
            capacity[i] += weight[i][j];
            profit[j] += weight[i][j] + (seed >> 8) % 10;
        }
    }
    for (i = 0; i < ROWS; i++) capacity[i] /= 2;
    for (set = 0; set < 1L << ITEMS; set++) { /* the oracle */
        int64_t value = 0, used[ROWS] = {0, 0};
        for (j = 0; j < ITEMS; j++)
            if (set >> j & 1) value += profit[j], used[0] += weight[0][j], used[1] += weight[1][j];
        if (used[0] <= capacity[0] && used[1] <= capacity[1] && value > best) best = value;
    }

    open_context(argc, argv);
    desc.items = ITEMS;
    desc.rows = ROWS;
    desc.weight = weight[0];
    desc.profit = profit;
    desc.capacity = capacity;
    desc.workers = 4;
    must(gpuopt_knapsack_multidimensional_create(context, &desc, NULL, &knapsack));
    must(gpuopt_knapsack_multidimensional_get_info(knapsack, &info));
    printf("%d of %d items are open, profit %d to %d\n", (int)info.free_items, ITEMS, (int)info.primal_bound,
           (int)info.dual_bound);

    /* A solution of the caller's: item after item, as they come and fit. */
    memcpy(left, capacity, sizeof left);
    for (j = 0; j < ITEMS; j++)
        if (weight[0][j] <= left[0] && weight[1][j] <= left[1])
            copies[j] = 1, left[0] -= weight[0][j], left[1] -= weight[1][j];
    must(gpuopt_knapsack_multidimensional_set_incumbent(knapsack, GPUOPT_HOST, copies));
    while (info.outcome == GPUOPT_MORE) { /* your loop */
        must(gpuopt_knapsack_multidimensional_run(knapsack, 0, 1, &info));
        printf("round %d: %d nodes, profit %d to %d\n", (int)info.rounds, (int)info.nodes, (int)info.primal_bound,
               (int)info.dual_bound);
    }
    must(gpuopt_knapsack_multidimensional_get_items(knapsack, GPUOPT_HOST, copies, &found));
    memcpy(left, capacity, sizeof left);
    for (j = 0; j < ITEMS; j++)
        if (copies[j]) sum += profit[j], left[0] -= weight[0][j], left[1] -= weight[1][j];
    right = info.outcome == GPUOPT_OPTIMAL && found == best && sum == best && left[0] >= 0 && left[1] >= 0;
    printf("optimum %d\n", (int)found);
    gpuopt_knapsack_multidimensional_destroy(knapsack);
    return finish(right);
}
