/* SPDX-License-Identifier: MIT
 *
 * Knapsack, by the ranks of a group: cuts between residual capacities divide a step's children into a part for each
 * rank (ranks/ranges.h). This file counts the nodes with children before a cut.
 */
#ifndef GPUOPT_IMPL_KNAPSACK_SEARCH_CUT_H
#define GPUOPT_IMPL_KNAPSACK_SEARCH_CUT_H

#include "state.h"

/* Whether a child of a node is before a cut between two ranks' children, at residual capacity `cut`. */
GPUOPT_HD int gpuopt__knapsack_is_before(const gpuopt__knapsack_job *job, int64_t residual, int flipped, int64_t cut) {
    return flipped ? residual >= job->least && residual + job->residual > cut : residual > cut;
}

/* How many nodes of this rank, from number `first` of the job on, have an unchanged, or a flipped, child before a
 * cut. */
GPUOPT_HD int64_t gpuopt__knapsack_count_before(const gpuopt__knapsack_pool *pool, const gpuopt__knapsack_job *job,
                                                int64_t first, int64_t count, int flipped, int64_t cut) {
    int64_t low = 0, high = count; /* the answer is in low .. high */
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        const int64_t residual = pool->residual[job->from + (first + middle) * job->from_step];
        if (gpuopt__knapsack_is_before(job, residual, flipped, cut)) low = middle + 1;
        else high = middle;
    }
    return low;
}

/* These counts for unchanged (same) and flipped children, and for each of the cuts 1 .. cuts, on the CPU. */
static inline void gpuopt__knapsack_count_all(const gpuopt__knapsack_pool *pool, const gpuopt__knapsack_job *job,
                                              int64_t first, int64_t count, const int64_t *cut, int32_t cuts,
                                              int64_t *same, int64_t *flipped) {
    int32_t c;
    for (c = 1; c <= cuts; c++) {
        same[c] = gpuopt__knapsack_count_before(pool, job, first, count, 0, cut[c]);
        flipped[c] = gpuopt__knapsack_count_before(pool, job, first, count, 1, cut[c]);
    }
}

#endif /* GPUOPT_IMPL_KNAPSACK_SEARCH_CUT_H */
