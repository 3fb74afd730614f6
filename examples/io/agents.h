/* SPDX-License-Identifier: MIT
 *
 * Distributed elimination, DPOP or with mini-buckets ADPOP, in one process: every agent has a handle of its own, with
 * the functions that its variables meet first and the messages of its children, and all they exchange are bytes.
 *
 * The pseudo-tree is that of the elimination order: parent[v] is the variable whose bucket v's message goes to. An
 * agent's variables that hang together in it are one part, which is one handle; an agent whose variables do not hang
 * together works on its parts one after another. A UTIL message is a packed message and the numbers of the variables in
 * its scope; it goes to the part that eliminates the first of them, one without a variable, as mini-buckets make them,
 * to the root. A VALUE message is what a part needs of its parent: pairs of variable and value.
 *
 * With policy AUTO what does not fit is bounded by mini-buckets, not sliced: the messages would be those of a slice.
 *
 * Time is simulated: a part begins when the last message for it has come and its agent is free; it unpacks, creates its
 * handle (which reads its functions), eliminates, packs. The time of the slowest path is what agents on machines of
 * their own, with a network that takes no time, would need.
 */
#ifndef EXAMPLES_IO_AGENTS_H
#define EXAMPLES_IO_AGENTS_H

#include "gpuopt.h"

typedef struct agents_answer {
    int32_t agents, parts;
    int64_t util_messages, value_messages;           /* between different agents */
    uint64_t util_bytes, value_bytes, largest_bytes; /* largest: of a message of either kind */
    double simulated_seconds, work_seconds;          /* the slowest path; all work of all agents */
    double eliminate_seconds;                        /* the steps alone, of all agents */
    gpuopt_elimination_estimate estimate;            /* sums and maxima over the parts */
    gpuopt_elimination_info info;                    /* cost, value and count of all roots together; their outcome */
    int assigned;                                    /* not 0: value has an assignment that no part found forbidden */
} agents_answer;

/* desc: the model, without condition; order [order_count] and parent [variables] as _order gives them; fixed
 * [variables]: evidence, or -1; agent [variables]; value [variables], out. An error is the library's, or out of
 * memory. */
gpuopt_status agents_solve(gpuopt_context *context, const gpuopt_elimination_desc *desc, const int32_t *parent,
                           const int32_t *fixed, const int32_t *agent, int32_t *value, agents_answer *answer);

#endif /* EXAMPLES_IO_AGENTS_H */
