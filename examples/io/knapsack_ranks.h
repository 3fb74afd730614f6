/* SPDX-License-Identifier: MIT
 *
 * A knapsack search on the ranks of a group. All ranks make the first steps, alike, until there are enough nodes. Then
 * each keeps its share of them (gpuopt_knapsack_take_share), without sending any. From then on they continue in rounds
 * of equally many levels. After each round the ranks exchange their numbers of nodes and their best profit; none then
 * searches for less. If two ranks' nodes differ by much, the rank with more sends some to the other, as packed bytes.
 * All ranks can compute who gives to whom, so a number of ranks always makes the same search.
 */
#ifndef EXAMPLES_IO_KNAPSACK_RANKS_H
#define EXAMPLES_IO_KNAPSACK_RANKS_H

#include "gpuopt.h"

typedef struct knapsack_ranks_answer {
    int64_t profit;      /* the optimum */
    int64_t expanded;    /* nodes, of all ranks */
    int64_t common;      /* of these, nodes of the first steps, which every rank expands */
    int64_t least, most; /* of the others, on the rank with the fewest, and with the most */
    int64_t moves;       /* how often nodes went from one rank to another */
    int64_t moved;       /* bytes of these */
    int64_t rounds;      /* each with one exchange */
} knapsack_ranks_answer;

/* Searches with a handle that _create has just made from desc, in the group's context. As knapsack_solve_ranks. */
gpuopt_status knapsack_share_ranks(gpuopt_group *group, gpuopt_knapsack *knapsack, const gpuopt_knapsack_desc *desc,
                                   int64_t nodes, int64_t *copies, knapsack_ranks_answer *answer);

/* nodes: about how many each rank expands in a round, 1 or more. desc, without node_limit and WHEN_FULL_STOP, is the
 * same on all ranks. copies [items] and *answer are the same on all ranks. If the call fails on one rank, it aborts the
 * group, and fails on all. It then has freed its send and receive buffers, so after PEER with transports/gpuopt_mpi.h
 * no calls of MPI except MPI_Abort may follow. ARGUMENT, also: the ranks have different problems or options. */
gpuopt_status knapsack_solve_ranks(gpuopt_context *context, gpuopt_group *group, const gpuopt_knapsack_desc *desc,
                                   int64_t nodes, int64_t *copies, knapsack_ranks_answer *answer);

#endif /* EXAMPLES_IO_KNAPSACK_RANKS_H */
