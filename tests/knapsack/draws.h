/* SPDX-License-Identifier: MIT
 *
 * Random batches of small knapsacks, the results of a run, and dynamic programming for comparison.
 */
#ifndef TESTS_KNAPSACK_DRAWS_H
#define TESTS_KNAPSACK_DRAWS_H

#include "gpuopt/batch.h"
#include "tests/knapsack/models.h"

__extension__ typedef __int128 wide;

enum { ITEMS = 50, COUNT = 60, MOST_CAPACITY = 1 << 16 };

/* Knapsacks, and the results of a run. The arrays are [count][stride], and exactly as long as may be read. */
typedef struct draw {
    gpuopt_knapsack_problems p;
    int32_t items, stride;
    int64_t *weight, *profit, *capacity;
    int32_t *upper;
} draw;
typedef struct reply {
    gpuopt_knapsack_report r;
    int32_t outcome[COUNT], taken[COUNT * ITEMS];
    int64_t lower[COUNT], upper[COUNT], nodes[COUNT];
} reply;

draw *draw_new(int32_t count, int32_t items, int32_t stride);
void draw_free(draw *d);
/* Draws knapsacks of all classes. An item has at most `copies` copies, some items have none. Some profits are
 * negative. */
draw *draw_random(uint64_t *seed, int32_t count, int32_t items, int32_t stride, int64_t range, int copies);
/* The numbers of knapsack k, wherever they are. */
int64_t draw_weight(const draw *d, int32_t k, int32_t j);
int64_t draw_profit(const draw *d, int32_t k, int32_t j);
int64_t draw_copies(const draw *d, int32_t k, int32_t j);
int64_t draw_capacity(const draw *d, int32_t k);
/* By dynamic programming over weights. */
int64_t draw_optimum(const draw *d, int32_t k);

reply *reply_new(void);
int reply_same(const reply *a, const reply *b, int32_t count, int32_t items);

gpuopt_knapsack_batch *draw_batch(gpuopt_context *context, int32_t items, int32_t count);
/* By a separate batch. */
void draw_run(gpuopt_context *context, const draw *d, reply *s);
/* The copies are a solution with the profit of the run's result. */
void draw_check_solution(const draw *d, const reply *s, int32_t k);
void draw_check_solved(const draw *d, const reply *s, int32_t k, wide optimum);

#endif /* TESTS_KNAPSACK_DRAWS_H */
