/* SPDX-License-Identifier: MIT
 *
 * Distributed elimination on the ranks of a group: DPOP, or with mini-buckets ADPOP. Agents, parts and messages are
 * those of agents.h; each agent belongs to a rank, and a message between agents of different ranks travels.
 *
 * What all ranks know is the graph: variables, domains, the scopes of functions, the order and the pseudo-tree. The
 * tables of a function are read by the rank of the agent that has it, and by no other; they may be missing elsewhere.
 *
 * UTIL: round h is the work of all parts of height h in the pseudo-tree (leaves: 0), each rank its own, then their
 * messages. VALUE: round d is the messages to the parts of depth d, then their work. Messages of a round travel in an
 * order that all ranks know, so two ranks never wait for each other.
 */
#ifndef EXAMPLES_IO_AGENTS_RANKS_H
#define EXAMPLES_IO_AGENTS_RANKS_H

#include "examples/io/agents.h"

/* rank [functions]: which of `ranks` ranks has each function: agents, in the order of their numbers, are dealt to ranks
 * one by one. The rest as in agents_solve; functions need no tables. */
gpuopt_status agents_deal(const gpuopt_elimination_desc *desc, const int32_t *parent, const int32_t *agent,
                          int32_t ranks, int32_t *rank);

/* As agents_solve, on each rank of the group. memory: of this rank's UTIL messages, NULL: malloc; in device memory
 * they go from device to device, with a group that takes it (gpuopt_group_info.device_memory). The answer is that of
 * all ranks together; of its times, simulated_seconds is 0. Messages and their bytes are those that travelled, without
 * the 24 bytes that announce a UTIL message: between agents of one rank none does. If the call fails on one rank, it
 * aborts the group, and fails on all. It then has freed what it was sending or receiving, so that after PEER with
 * transports/gpuopt_mpi.h no calls of MPI but MPI_Abort may follow. */
gpuopt_status agents_solve_ranks(gpuopt_context *context, gpuopt_group *group, const agents_memory *memory,
                                 const gpuopt_elimination_desc *desc, const int32_t *parent, const int32_t *fixed,
                                 const int32_t *agent, int32_t *value, agents_answer *answer);

#endif /* EXAMPLES_IO_AGENTS_RANKS_H */
