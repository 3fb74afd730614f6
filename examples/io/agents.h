/* SPDX-License-Identifier: MIT
 *
 * Distributed elimination, DPOP or with mini-buckets ADPOP, in one process. Every agent has a separate handle, with the
 * messages of its children, and each function that has the agent's variable as its first one in the order. Agents
 * exchange only bytes.
 *
 * The elimination order determines the pseudo-tree: parent[v] is the variable whose bucket receives v's message. An
 * agent's variables that are connected in the tree form one part, with one handle. An agent with several parts works on
 * them one after another. A part sends one UTIL message, to the part of its parent. It holds tables: packed messages
 * and the numbers of the variables in their scopes. A table is for the part that eliminates the first of these, or for
 * the root if it has none. With mini-buckets this can be a part further up; the parts between forward the table.
 * A VALUE message has the values that a part and the parts below it need from its parent: pairs of variable and value.
 *
 * With policy MINI_BUCKET each variable is a part of its own. Then the mini-buckets, the bound and the assignment are
 * those of one handle with the same order and z (the paper's Theorem 1), and n variables send n - 1 UTIL messages if
 * each has an agent (Corollary 2).
 *
 * With policy AUTO a part that does not fit is bounded by mini-buckets. It is not sliced, because its messages would
 * then belong to one slice only.
 *
 * Time is simulated: a part begins when its last message has arrived and its agent is free. The agent unpacks, creates
 * its handle (which reads its functions), eliminates, and packs. The time of the slowest path is the time that agents
 * would need on separate machines with an instant network.
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

/* The memory of UTIL messages. The functions are malloc and free, or equivalents for device memory. */
typedef struct agents_memory {
    gpuopt_memory_space where;
    void *(*allocate)(size_t bytes);
    void (*release)(void *memory);
} agents_memory;

/* desc: the model, without condition; order [order_count] and parent [variables] as _order returns them; fixed
 * [variables]: evidence, or -1; agent [variables]; value [variables]: the result. Returns the library's error, or
 * MEMORY. */
gpuopt_status agents_solve(gpuopt_context *context, const gpuopt_elimination_desc *desc, const int32_t *parent,
                           const int32_t *fixed, const int32_t *agent, int32_t *value, agents_answer *answer);

#endif /* EXAMPLES_IO_AGENTS_H */
