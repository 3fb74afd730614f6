/* SPDX-License-Identifier: MIT
 *
 * The knapsack sharing problem: the items belong to owners, who share one capacity. The least profit of an owner is to
 * be as large as possible. A profit z is possible if the least weights with which the owners reach it fit together. An
 * owner's least weight is the weight of all its items, less the most that it can do without. The items that it does
 * without may be worth its total profit less z: a knapsack whose weights and profits have changed places. A call of a
 * gpuopt_knapsack_batch solves it for all owners and several z, which shortens the interval of z. After Yamada,
 * Futakawa, Kataoka: Some exact algorithms for the knapsack sharing problem (1998). main() finds the optimum by trying
 * all ways to divide the capacity.
 *
 * Build, from the repository's root:
 *     cc -O2 -I. examples/steps/knapsack_sharing.c gpuopt_impl/gpuopt.c -lm -o knapsack_sharing
 */
#include "examples/steps/steps.h"
#include "gpuopt/batch.h"

enum { OWNERS = 5, EACH = 30, VALUES = 15, CAPACITY = 700 };

static int64_t weight[OWNERS][EACH], profit[OWNERS][EACH];
static int64_t total_weight[OWNERS], total_profit[OWNERS];
static gpuopt_knapsack_batch *batch;

/* The least weight with which every owner has a profit of at least z[v], for each v; taken: the items for z[0]. */
static void least_weights(const int64_t *z, int count, int64_t *least, int taken[OWNERS][EACH]) {
    static int64_t w[VALUES][OWNERS][EACH], p[VALUES][OWNERS][EACH], c[VALUES][OWNERS], most[VALUES][OWNERS];
    static int32_t outcome[VALUES][OWNERS], out[VALUES][OWNERS][EACH];
    gpuopt_knapsack_problems problems = GPUOPT_INIT(gpuopt_knapsack_problems);
    gpuopt_knapsack_report report = GPUOPT_INIT(gpuopt_knapsack_report);
    int v, k, j;
    for (v = 0; v < count; v++) {
        memcpy(w[v], profit, sizeof profit); /* they change places */
        memcpy(p[v], weight, sizeof weight);
        for (k = 0; k < OWNERS; k++) c[v][k] = total_profit[k] - z[v];
    }
    problems.count = count * OWNERS;
    problems.weight = w[0][0], problems.weight_stride = EACH;
    problems.profit = p[0][0], problems.profit_stride = EACH;
    problems.capacity = c[0], problems.capacity_stride = 1;
    report.outcome = outcome[0], report.primal_bound = most[0], report.copies = out[0][0];
    must(gpuopt_knapsack_batch_run(batch, GPUOPT_HOST, &problems, &report));
    for (v = 0; v < count; v++)
        for (least[v] = 0, k = 0; k < OWNERS; k++) {
            if (outcome[v][k] != GPUOPT_OPTIMAL) exit(finish(0)); /* at its node limit */
            least[v] += total_weight[k] - most[v][k];
        }
    for (k = 0; k < OWNERS; k++)
        for (j = 0; j < EACH; j++) taken[k][j] = !out[0][k][j];
}

static int64_t by_division(void) { /* the optimum */
    static int64_t fair[CAPACITY + 1], alone[CAPACITY + 1];
    int64_t c, part;
    int k, j;
    for (c = 0; c <= CAPACITY; c++) fair[c] = INT64_MAX;
    for (k = 0; k < OWNERS; k++) {
        memset(alone, 0, sizeof alone); /* what the owner can have with a capacity */
        for (j = 0; j < EACH; j++)
            for (c = CAPACITY; c >= weight[k][j]; c--)
                if (alone[c - weight[k][j]] + profit[k][j] > alone[c])
                    alone[c] = alone[c - weight[k][j]] + profit[k][j];
        for (c = CAPACITY; c >= 0; c--) { /* the owners before it have the rest */
            int64_t value = 0;
            for (part = 0; part <= c; part++) {
                const int64_t least = alone[part] < fair[c - part] ? alone[part] : fair[c - part];
                if (least > value) value = least;
            }
            fair[c] = value;
        }
    }
    return fair[CAPACITY];
}

int main(int argc, char **argv) {
    gpuopt_knapsack_batch_desc desc = GPUOPT_INIT(gpuopt_knapsack_batch_desc);
    int64_t z[VALUES], least[VALUES], low = 0, high = INT64_MAX, sum[OWNERS] = {0}, used = 0;
    int taken[OWNERS][EACH], k, j, v, count, right = 1;
    unsigned seed = 3;

    for (k = 0; k < OWNERS; k++) {
        for (j = 0; j < EACH; j++) {
            seed = seed * 1103515245u + 12345u;
            weight[k][j] = 1 + (seed >> 16) % 50;
            profit[k][j] = 1 + (seed >> 8) % (20 + 10 * (unsigned)k);
            total_weight[k] += weight[k][j], total_profit[k] += profit[k][j];
        }
        if (total_profit[k] < high) high = total_profit[k];
    }

    open_context(argc, argv);
    desc.items = EACH;
    desc.count = VALUES * OWNERS;
    must(gpuopt_knapsack_batch_create(context, &desc, NULL, &batch));
    while (low < high) { /* your loop: `low` is possible, and nothing above `high` */
        const int64_t width = high - low;
        for (v = 0, count = width < VALUES ? (int)width : VALUES; v < count; v++)
            z[v] = low + (width * (v + 1) + count - 1) / count;
        least_weights(z, count, least, taken);
        for (v = count - 1; v >= 0 && least[v] > CAPACITY; v--) high = z[v] - 1;
        if (v >= 0) low = z[v];
        printf("%d to %d\n", (int)low, (int)high);
    }
    least_weights(&low, 1, least, taken);
    gpuopt_knapsack_batch_destroy(batch);
    for (k = 0; k < OWNERS; k++) {
        for (j = 0; j < EACH; j++)
            if (taken[k][j]) sum[k] += profit[k][j], used += weight[k][j];
        right = right && sum[k] >= low;
    }
    printf("each owner has at least %d\n", (int)low);
    return finish(right && used <= CAPACITY && used == least[0] && low == by_division());
}
