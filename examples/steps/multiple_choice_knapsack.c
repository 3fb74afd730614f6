/* SPDX-License-Identifier: MIT
 *
 * A multiple-choice knapsack, one item of each class, searched one class at a time. The caller first gives its own
 * solution and watches the list of states grow and shrink. main() finds the optimum by trying all 5^8 choices.
 *
 * Build, from the repository's root:
 *     cc -O2 -I. examples/steps/multiple_choice_knapsack.c gpuopt_impl/gpuopt.c -lm -o multiple_choice_knapsack
 */
#include "examples/steps/steps.h"
#include "gpuopt/knapsack_variants.h"

enum { CLASSES = 8, EACH = 5, ITEMS = CLASSES * EACH };

static int64_t weight[ITEMS], profit[ITEMS], best = -1;

/* The oracle: classes c and up, each item of each. */
static void try(int c, int64_t left, int64_t value) {
    int k;
    if (left < 0) return;
    if (c == CLASSES && value > best) best = value;
    for (k = c * EACH; c < CLASSES && k < (c + 1) * EACH; k++) try(c + 1, left - weight[k], value + profit[k]);
}

int main(int argc, char **argv) {
    gpuopt_knapsack_multiple_choice_desc desc = GPUOPT_INIT(gpuopt_knapsack_multiple_choice_desc);
    gpuopt_knapsack_multiple_choice_info info = GPUOPT_INIT(gpuopt_knapsack_multiple_choice_info);
    gpuopt_knapsack_multiple_choice *knapsack = NULL;
    int64_t begin[CLASSES + 1], capacity = 0, left, found = 0, sum = 0;
    int32_t chosen[CLASSES];
    unsigned seed = 11;
    int c, k, right = 1;

    for (k = 0; k < ITEMS; k++) { /* in each class, the heavier an item, the more its profit */
        seed = seed * 1103515245u + 12345u;
        weight[k] = 1 + k % EACH * 40 + (seed >> 16) % 40;
        profit[k] = weight[k] + (seed >> 8) % 20;
    }
    for (c = 0; c <= CLASSES; c++) begin[c] = c * EACH;
    for (c = 0; c < CLASSES; c++) capacity += weight[c * EACH + EACH / 2];
    try(0, capacity, 0);

    open_context(argc, argv);
    desc.classes = CLASSES;
    desc.begin = begin;
    desc.weight = weight;
    desc.profit = profit;
    desc.capacity = capacity;
    must(gpuopt_knapsack_multiple_choice_create(context, &desc, NULL, &knapsack));
    for (c = 0; c < CLASSES; c++) chosen[c] = c * EACH + EACH / 2; /* a solution of the caller's: all that fill it */
    must(gpuopt_knapsack_multiple_choice_set_incumbent(knapsack, GPUOPT_HOST, chosen));
    must(gpuopt_knapsack_multiple_choice_get_info(knapsack, &info));
    printf("profit %d to %d\n", (int)info.primal_bound, (int)info.dual_bound);
    while (info.outcome == GPUOPT_MORE) { /* your loop */
        must(gpuopt_knapsack_multiple_choice_run(knapsack, 0, 1, &info));
        printf("class %d of %d: %d states, profit %d to %d\n", (int)info.level, (int)info.levels, (int)info.alive,
               (int)info.primal_bound, (int)info.dual_bound);
    }
    must(gpuopt_knapsack_multiple_choice_get_items(knapsack, GPUOPT_HOST, chosen, &found));
    for (c = 0, left = capacity; c < CLASSES; c++) {
        right = right && chosen[c] >= begin[c] && chosen[c] < begin[c + 1];
        if (right) sum += profit[chosen[c]], left -= weight[chosen[c]];
    }
    printf("optimum %d\n", (int)found);
    gpuopt_knapsack_multiple_choice_destroy(knapsack);
    return finish(right && info.outcome == GPUOPT_OPTIMAL && found == best && sum == best && left >= 0);
}
