/* SPDX-License-Identifier: MIT
 *
 * Batches of small linear programs: the loops and reductions of a team. A team works on one program: one thread on the
 * CPU, a block on the GPU (cuda/simplex/batch/team.cuh). The method is written once over these loops and reductions, in
 * step.h, solve.h and proof.h.
 *
 * The CPU and the GPU, with blocks of any size, get the same bits. Iterations of a loop are independent of one another,
 * and reductions only compare. Where a sum must not depend on the order, 32 lanes take it and are added in a fixed
 * tree.
 */
#ifndef GPUOPT_IMPL_SIMPLEX_BATCH_TEAM_H
#define GPUOPT_IMPL_SIMPLEX_BATCH_TEAM_H

#include "../arith/bound_step.h"

/* The largest key, with the lowest index among equal keys. Index -1: none. */
typedef struct gpuopt__simplex_batch_best {
    double key;
    int32_t index;
} gpuopt__simplex_batch_best;

GPUOPT_HD void gpuopt__simplex_batch_better(gpuopt__simplex_batch_best *best, double key, int32_t index) {
    if (index < 0) return;
    if (best->index < 0 || key > best->key || (key == best->key && index < best->index))
        best->key = key, best->index = index;
}

/* Lanes of a sum: term e belongs to lane e % 32. */
enum { GPUOPT__SIMPLEX_BATCH_LANES = 32 };

#ifndef __CUDACC__

#define GPUOPT__SIMPLEX_BATCH static inline
#define GPUOPT__SIMPLEX_BATCH_LARGE static /* a function that must not be inlined */
/* Loops over a team's threads; over its groups of 32; over the lanes of a group. */
#define GPUOPT__SIMPLEX_BATCH_EACH(i, count) for (i = 0; i < (count); i++)
#define GPUOPT__SIMPLEX_BATCH_EACH_GROUP(i, count) for (i = 0; i < (count); i++)
#define GPUOPT__SIMPLEX_BATCH_EACH_LANE(j, count) for (j = 0; j < (count); j++)
/* True in the one thread that does single tasks; true in the first group. */
#define GPUOPT__SIMPLEX_BATCH_ONCE 1
#define GPUOPT__SIMPLEX_BATCH_FIRST_GROUP 1
#define GPUOPT__SIMPLEX_BATCH_FIRST_LANE 1

/* A barrier: all threads see everything written before it. */
GPUOPT__SIMPLEX_BATCH void gpuopt__simplex_batch_sync(void) {}

/* The best over all threads. `place`: memory of this exchange, 0 to 3; successive exchanges need different places. */
GPUOPT__SIMPLEX_BATCH gpuopt__simplex_batch_best gpuopt__simplex_batch_best_of(void *exchange, int place,
                                                                               gpuopt__simplex_batch_best mine) {
    (void)exchange, (void)place;
    return mine;
}
GPUOPT__SIMPLEX_BATCH int gpuopt__simplex_batch_any(int flag) { return flag; }

/* Takes the next free place of a list to which several threads append. *next: the list's length. */
GPUOPT__SIMPLEX_BATCH int32_t gpuopt__simplex_batch_take_place(int32_t *next) { return (*next)++; }

/* Sets bits of a word in which other threads also set bits. */
GPUOPT__SIMPLEX_BATCH void gpuopt__simplex_batch_set_bits(uint32_t *word, uint32_t bits) { *word |= bits; }
/* The number of the lowest set bit. */
GPUOPT__SIMPLEX_BATCH int gpuopt__simplex_batch_lowest(uint32_t bits) {
    int bit = 0;
    while (!(bits >> bit & 1)) bit++;
    return bit;
}

/* The sum of terms 0 .. count - 1 by the lanes of this group. Only its first lane gets the sum. `add` adds term e. */
#define GPUOPT__SIMPLEX_BATCH_SUM(total, e, count, add)                                                       \
    do {                                                                                                      \
        gpuopt__simplex_sum gpuopt_lane[GPUOPT__SIMPLEX_BATCH_LANES];                                         \
        int32_t gpuopt_l, gpuopt_half;                                                                        \
        memset(gpuopt_lane, 0, sizeof gpuopt_lane);                                                           \
        for (e = 0; e < (count); e++) {                                                                       \
            gpuopt__simplex_sum *const sum = &gpuopt_lane[e % GPUOPT__SIMPLEX_BATCH_LANES];                   \
            add;                                                                                              \
        }                                                                                                     \
        for (gpuopt_half = GPUOPT__SIMPLEX_BATCH_LANES / 2; gpuopt_half > 0; gpuopt_half /= 2)                \
            for (gpuopt_l = 0; gpuopt_l < gpuopt_half; gpuopt_l++)                                            \
                gpuopt__simplex_batch_add_sums(&gpuopt_lane[gpuopt_l], &gpuopt_lane[gpuopt_l + gpuopt_half]); \
        (total) = gpuopt_lane[0];                                                                             \
    } while (0)

#endif

GPUOPT_HD void gpuopt__simplex_batch_add_sums(gpuopt__simplex_sum *to, const gpuopt__simplex_sum *more) {
    gpuopt__simplex_add(to, more->hi, more->lo, more->error_sum);
}

#endif /* GPUOPT_IMPL_SIMPLEX_BATCH_TEAM_H */
