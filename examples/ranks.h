/* SPDX-License-Identifier: MIT
 *
 * The ranks of a group as threads of one program.
 */
#ifndef EXAMPLES_RANKS_H
#define EXAMPLES_RANKS_H

#include "gpuopt.h"
#include "gpuopt/group.h"

enum { MOST_RANKS = 64 };

/* Calls work once for each of `ranks` ranks, 1 to MOST_RANKS: for rank 0 in this thread, for each other one in a
 * separate thread, and waits for them. Returns the result for rank 0, or why it was not called. If a rank's work fails,
 * or it cannot be started, it abandons its transport, so that the others need not wait for it. */
gpuopt_status ranks_work(int ranks, gpuopt_status (*work)(int rank, const gpuopt_transport *transport, void *user),
                         void *user);

#endif /* EXAMPLES_RANKS_H */
