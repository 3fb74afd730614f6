/* SPDX-License-Identifier: MIT
 *
 * Several knapsacks, each item in one of them at most: a branch and bound of the caller's own. The bound of a node is
 * its surrogate problem, one knapsack with all the capacity that is left. A call of a gpuopt_knapsack_batch solves it
 * for up to 256 nodes. The items of that knapsack, put into the real ones as far as they fit, are a solution. After
 * Martello, Toth: Knapsack Problems (1990), chapter 6. main() finds the optimum by a dynamic programme over all
 * capacities.
 *
 * Build, from the repository's root:
 *     cc -O2 -I. examples/steps/multiple_knapsack.c gpuopt_impl/gpuopt.c -lm -o multiple_knapsack
 */
#include "examples/steps/steps.h"
#include "gpuopt/batch.h"

enum { ITEMS = 40, SACKS = 3, AT_ONCE = 64, CHILDREN = AT_ONCE * (SACKS + 1), MOST_NODES = ITEMS * CHILDREN };

typedef struct node { /* has decided the first items */
    int32_t decided, in[ITEMS];
    int64_t left[SACKS], profit, bound; /* capacity of each knapsack; of its items; no solution below has more */
} node;

static int64_t weight[ITEMS], profit[ITEMS], capacity[SACKS]; /* items by profit per weight */
static node open[MOST_NODES], child[CHILDREN], best;
static int32_t nodes, children, batches;
static gpuopt_knapsack_batch *batch;

/* Puts the items that the surrogate problem takes where they leave the least space, and keeps a better solution. */
static void place(node of, const int32_t *taken) {
    int32_t j, k, to;
    for (j = of.decided; j < ITEMS; j++) {
        for (to = -1, k = 0; taken[j] && k < SACKS; k++)
            if (weight[j] <= of.left[k] && (to < 0 || of.left[k] < of.left[to])) to = k;
        of.in[j] = to;
        if (to >= 0) of.left[to] -= weight[j], of.profit += profit[j];
    }
    if (of.profit > best.profit) best = of;
}

/* Bounds all children in one call. */
static void bound_children(void) {
    static int64_t value[CHILDREN * ITEMS], space[CHILDREN], upper[CHILDREN];
    static int32_t taken[CHILDREN * ITEMS];
    gpuopt_knapsack_problems problems = GPUOPT_INIT(gpuopt_knapsack_problems);
    gpuopt_knapsack_report report = GPUOPT_INIT(gpuopt_knapsack_report);
    int32_t c, j, k;
    for (c = 0; c < children; c++) {
        int64_t most = 0;
        for (space[c] = 0, k = 0; k < SACKS; k++) {
            space[c] += child[c].left[k];
            if (child[c].left[k] > most) most = child[c].left[k];
        }
        for (j = 0; j < ITEMS; j++) /* items without profit are not taken */
            value[c * ITEMS + j] = j >= child[c].decided && weight[j] <= most ? profit[j] : 0;
    }
    problems.count = children;
    problems.weight = weight; /* all have the same weights: their stride is 0 */
    problems.profit = value, problems.profit_stride = ITEMS;
    problems.capacity = space, problems.capacity_stride = 1;
    report.dual_bound = upper; /* proven, even if a knapsack ends at its node limit */
    report.copies = taken;
    must(gpuopt_knapsack_batch_run(batch, GPUOPT_HOST, &problems, &report));
    for (c = 0; c < children; c++) {
        child[c].bound = child[c].profit + upper[c];
        place(child[c], taken + c * ITEMS);
    }
    batches++;
}

/* Each knapsack that item `decided` fits, but only one of those with the same space; or none. */
static void branch(const node *of) {
    int32_t k, same, j = of->decided;
    for (k = -1; k < SACKS; k++) {
        if (k >= 0 && weight[j] > of->left[k]) continue;
        for (same = 0; same < k && of->left[same] != of->left[k];) same++;
        if (k >= 0 && same < k) continue;
        child[children] = *of;
        child[children].decided++;
        child[children].in[j] = k;
        if (k >= 0) child[children].left[k] -= weight[j], child[children].profit += profit[j];
        children++;
    }
}

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

static int64_t by_programme(void) { /* the optimum; capacities are below 128 */
    static int64_t f[128][128][128];
    int64_t a, b, c;
    int32_t j;
    for (j = 0; j < ITEMS; j++)
        for (a = capacity[0]; a >= 0; a--)
            for (b = capacity[1]; b >= 0; b--)
                for (c = capacity[2]; c >= 0; c--) {
                    const int64_t w = weight[j], p = profit[j];
                    int64_t most = f[a][b][c];
                    if (a >= w) most = larger(most, f[a - w][b][c] + p);
                    if (b >= w) most = larger(most, f[a][b - w][c] + p);
                    if (c >= w) most = larger(most, f[a][b][c - w] + p);
                    f[a][b][c] = most;
                }
    return f[capacity[0]][capacity[1]][capacity[2]];
}

int main(int argc, char **argv) {
    gpuopt_knapsack_batch_desc desc = GPUOPT_INIT(gpuopt_knapsack_batch_desc);
    int64_t sum = 0, used[SACKS] = {0}, visited = 0;
    unsigned seed = 77;
    int32_t j, k, count, right = 1;

    for (j = 0; j < ITEMS; j++) {
        int64_t w, p;
        seed = seed * 1103515245u + 12345u;
        w = 10 + (seed >> 16) % 30;
        p = w + 5 + (seed >> 8) % 10;
        for (k = j; k > 0 && p * weight[k - 1] > profit[k - 1] * w; k--)
            weight[k] = weight[k - 1], profit[k] = profit[k - 1];
        weight[k] = w, profit[k] = p;
    }
    for (k = 0; k < SACKS; k++) capacity[k] = 61 + 20 * k;

    open_context(argc, argv);
    desc.items = ITEMS;
    desc.count = CHILDREN;
    must(gpuopt_knapsack_batch_create(context, &desc, NULL, &batch));
    memcpy(child[0].left, capacity, sizeof capacity);
    for (children = 1; children > 0;) { /* your loop: bound, keep, branch */
        bound_children();
        if (batches == 1) printf("root: %d to %d\n", (int)best.profit, (int)child[0].bound);
        for (k = 0; k < children; k++)
            if (child[k].bound > best.profit) open[nodes++] = child[k];
        for (children = 0, count = 0; nodes > 0 && count < AT_ONCE;)
            if (open[--nodes].bound > best.profit) branch(&open[nodes]), count++;
        visited += count;
        if (nodes > MOST_NODES - CHILDREN) return 3; /* a search that is meant for more would grow its list */
    }
    gpuopt_knapsack_batch_destroy(batch);
    printf("%d nodes in %d batches\n", (int)visited, batches);
    for (j = 0; j < ITEMS; j++)
        if (best.in[j] >= 0) sum += profit[j], used[best.in[j]] += weight[j];
    for (k = 0; k < SACKS; k++) right = right && used[k] <= capacity[k];
    printf("optimum %d\n", (int)best.profit);
    return finish(right && sum == best.profit && best.profit == by_programme());
}
