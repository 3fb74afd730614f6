/* SPDX-License-Identifier: MIT
 *
 * Shared by the parts of cutting_stock.c: patterns, and the knapsacks that find them.
 */
#ifndef EXAMPLES_CUTTING_ROUND_H
#define EXAMPLES_CUTTING_ROUND_H

#include "examples/io/cutting.h"
#include "gpuopt.h"
#include "gpuopt/batch.h"

enum {
    MOST_COLUMNS = 20000,
    VARIANTS = 8,     /* vectors of duals in a round */
    WAYS = 6,         /* of rounding */
    PASSES = 2 * WAYS /* each filled up by length, and by value */
};

/* Patterns, which are the columns of the master problem. */
typedef struct patterns {
    int32_t count;
    int32_t stock[MOST_COLUMNS];
    int32_t *cut; /* [MOST_COLUMNS][pieces] */
} patterns;

typedef struct cutter {
    cutting_model model;
    gpuopt_context *context, *pricing; /* the master problem is on the CPU in any case */
    const char *backend;
    gpuopt_simplex *master;
    gpuopt_knapsack_batch *batch;
    gpuopt_simplex_info info;
    patterns known;
    double y[CUTTING_PIECES], center[CUTTING_PIECES]; /* the master's duals, and the duals of the best bound */
    /* Of the batch: a knapsack for each vector of duals, or pass, and each stock. */
    int64_t value[PASSES * CUTTING_STOCKS * CUTTING_PIECES], capacity[PASSES * CUTTING_STOCKS];
    int32_t most[PASSES * CUTTING_STOCKS * CUTTING_PIECES], taken[PASSES * CUTTING_STOCKS * CUTTING_PIECES];
    int64_t worth[PASSES * CUTTING_STOCKS], at_most[PASSES * CUTTING_STOCKS];
    int64_t bound, cost;                                              /* of the optimum; of the best solution */
    int64_t rounds, priced;                                           /* of pricing; knapsacks */
    int64_t used[PASSES][MOST_COLUMNS], rest[PASSES][CUTTING_PIECES]; /* of each pattern; the remaining demand */
    int best;                                                         /* the pass with the least cost */
    double x[MOST_COLUMNS], seconds;
    const char *stopped; /* the cause of a stop, in words; NULL: none, or the cost was already proven optimal */
} cutter;

static inline int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* The number of a pattern, which is added if it is new; -1: there is no capacity. */
int32_t know(cutter *c, int32_t stock, const int32_t *cut);
/* Solves the master problem; info.outcome is MORE if it is stopped. */
gpuopt_status solve_master(cutter *c);
/* Integers in proportion to y [pieces] become the values of set `set`. The demand bounds the numbers of pieces in a
 * pattern. No pattern has a value above 2^42, nor the demand one above 2^62. */
void set_values(cutter *c, int32_t set, const double *y, const int64_t *wanted);
/* Solves a knapsack for each stock and each of `sets` sets of values, in one call. */
gpuopt_status solve_knapsacks(cutter *c, int32_t sets);
/* Makes integer solutions from the master's, in several ways, and sets cost and best. After a stop, the first patterns
 * cut the remaining demand. */
gpuopt_status round_all(cutter *c);
/* Whether the best solution's patterns fit their stock, and cut the demand; on the model as it was read. */
int is_solution(const cutter *c);

#endif /* EXAMPLES_CUTTING_ROUND_H */
