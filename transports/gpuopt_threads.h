/* SPDX-License-Identifier: MIT
 *
 * A transport for groups whose ranks are threads of one process, with POSIX threads. To use it, compile
 * transports/gpuopt_threads.c with your program:
 *
 *     gpuopt_transport transport[4];
 *     if (gpuopt_threads_open(4, transport)) ...
 *     ... rank k, in a thread of its own: gpuopt_group_create(context_of_k, &transport[k], NULL, &group), work,
 *         gpuopt_group_destroy(group) ...
 *     gpuopt_threads_close(transport);                                     // when all these threads have ended
 */
#ifndef GPUOPT_THREADS_H
#define GPUOPT_THREADS_H

#include "gpuopt.h"
#include "gpuopt/group.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Fills transport [count], one for each rank; count 1 to 65,536. ARGUMENT: count is out of range, or transport is NULL.
 * MEMORY: there is no memory (malloc), 16 bytes a pair of ranks, or the system has no lock left. Data are copied
 * from one rank's array to the other's directly, which the time limit does not count; a rank that waits uses no
 * processor. */
gpuopt_status gpuopt_threads_open(int32_t count, gpuopt_transport *transport);
/* Frees what they share; transport: the array that _open filled. Call it once, when no rank uses its transport. */
void gpuopt_threads_close(gpuopt_transport *transport);

#ifdef __cplusplus
}
#endif

#endif /* GPUOPT_THREADS_H */
