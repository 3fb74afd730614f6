/* SPDX-License-Identifier: MIT
 *
 * Distributed elimination on the ranks of a group: DPOP, or with mini-buckets ADPOP. Agents, parts and messages are as
 * in agents.h. Each agent belongs to a rank, and a message between agents of different ranks is sent.
 *
 * All ranks have the graph: variables, domains, the scopes of functions, the order and the pseudo-tree. Only the rank
 * of a function's agent reads its tables; they may be missing on other ranks.
 *
 * UTIL: round h is the work of all parts of height h in the pseudo-tree (leaves: 0), each rank its own, then their
 * messages. VALUE: round d is the messages to the parts of depth d, then their work. All ranks compute the same order
 * for the messages of a round, so two ranks never wait for each other.
 */
#ifndef EXAMPLES_IO_AGENTS_RANKS_H
#define EXAMPLES_IO_AGENTS_RANKS_H

#include "examples/io/agents.h"

/* rank [functions]: the rank, of `ranks`, that has each function: agents, in the order of their numbers, are dealt to
 * ranks one by one. The rest as in agents_solve; functions need no tables. */
gpuopt_status agents_deal(const gpuopt_elimination_desc *desc, const int32_t *parent, const int32_t *agent,
                          int32_t ranks, int32_t *rank);

/* As agents_solve, on each rank of the group. memory: of this rank's UTIL messages, NULL: malloc. In device memory
 * they go from device to device, with a group that supports this (gpuopt_group_info.device_memory). The answer is
 * common to all ranks; its simulated_seconds is 0. It counts only messages that were sent, without the 24 bytes that
 * announce a table; the tables of a UTIL message follow one another. Agents of one rank send none to each other. If
 * the call fails on one rank, it aborts the group, and fails on all. It then has freed its send and receive buffers,
 * so after PEER with transports/gpuopt_mpi.h no calls of MPI except MPI_Abort may follow. */
gpuopt_status agents_solve_ranks(gpuopt_context *context, gpuopt_group *group, const agents_memory *memory,
                                 const gpuopt_elimination_desc *desc, const int32_t *parent, const int32_t *fixed,
                                 const int32_t *agent, int32_t *value, agents_answer *answer);

#endif /* EXAMPLES_IO_AGENTS_RANKS_H */
