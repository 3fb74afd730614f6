/* SPDX-License-Identifier: MIT
 *
 * A transport for groups whose ranks have a GPU each, by NCCL 2.14 or later: processes of one machine or of several.
 * To use it, compile transports/gpuopt_nccl.c with your program. It needs what the CUDA backend needs, the headers and
 * the runtime of CUDA; and POSIX (on Linux with a glibc before 2.34: -ldl). NCCL is no part of the build:
 *
 *     unsigned char id[GPUOPT_NCCL_ID];
 *     if (rank == 0 && gpuopt_nccl_unique_id(id)) ...                      // gpuopt_nccl_error() has the reason
 *     ... the caller carries id from rank 0 to the others, by a file or a socket for example ...
 *     gpuopt_transport transport = GPUOPT_INIT(gpuopt_transport);
 *     if (gpuopt_nccl_open(id, rank, count, device, 60, &transport)) ...
 *     ... gpuopt_group_create(context, &transport, NULL, &group), work, gpuopt_group_destroy(group) ...
 *     gpuopt_nccl_close(&transport);
 *
 * Library     libnccl.so.2 is loaded at run time: the file that the environment variable GPUOPT_NCCL_LIBRARY names, or
 *             what the system finds under that name. It is never unloaded.
 * Environment A multicast over NVLink (NVLS) is not used: it takes device memory, and exchanges in these pieces gain
 *             little by it. NCCL's configuration has no member for that, so _unique_id and _open set NCCL_NVLS_ENABLE
 *             to 0 before they load NCCL, unless it is set: to the caller's own use of NCCL that applies, too. As with
 *             any setenv(), no other thread may be in getenv() then, but for threads that are in these two calls.
 * Arrays      are in host memory, or in that of `device`; of ranks that exchange, some may have the one, some the
 *             other. They go in pieces of up to 4 MiB (all_gather: of all ranks together). Those in host memory are
 *             copied to page-locked memory, to the device, and back, one piece after the other. Those in device memory
 *             are given to NCCL as they are, piece behind piece without a wait (all_gather: what is received is copied
 *             once on the device). What is no longer than 1,000 bytes (all_gather: a rank) takes one call of NCCL. The
 *             first piece has the length of the whole.
 * Limit       The time limit counts the transfer, too, and the connection that NCCL makes at first.
 * Lost ranks  A rank that gives up, or has waited too long, aborts its communicator, and with it what its device waits
 *             for. To ranks on the same machine it signals that in a page of shared memory (/dev/shm), which they look
 *             at while they wait; others learn it as soon as NCCL notices, or from their time limit. The same goes for
 *             a rank that was killed, on the same machine from the limit. With arrays in device memory a call that
 *             fails ends when the device does not use them any more, after as much time again at most.
 * Threads     Ranks may be threads of one process, but there gpuopt_threads.c is faster, and CUDA calls of one thread
 *             can wait for a device on which another one's exchange has begun: then the limit ends both.
 */
#ifndef GPUOPT_NCCL_H
#define GPUOPT_NCCL_H

#include "gpuopt.h"
#include "gpuopt/group.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { GPUOPT_NCCL_ID = 128 }; /* bytes */

/* Makes the name of a new set of ranks; one of them calls it, in a process that lives until all have opened their
 * transports. ARGUMENT: id is NULL. UNSUPPORTED: there is no NCCL, or one before 2.14. DEVICE: another error of NCCL's.
 */
gpuopt_status gpuopt_nccl_unique_id(unsigned char id[GPUOPT_NCCL_ID]);
/* Fills *transport with a rank of this set, 0 to count - 1, count at most 65,536. `device` is a number of CUDA's, and
 * of another GPU for each rank; the gpuopt context may be on another one, but has no reason to. Collective: waits for
 * the others for up to `seconds`, 1e-3 to 1e9, as does _close. Takes as much device memory as page-locked host memory,
 * 8 MiB, or if more 1 KiB for each rank and 4 MiB, and what NCCL takes. ARGUMENT: an argument is out of range. PEER:
 * not all ranks came in time, or one of them failed. MEMORY: there is no memory. UNSUPPORTED: there is no NCCL, or one
 * before 2.14. DEVICE: another error of CUDA or NCCL, for example two ranks on one GPU. */
gpuopt_status gpuopt_nccl_open(const unsigned char id[GPUOPT_NCCL_ID], int32_t rank, int32_t count, int device,
                               double seconds, gpuopt_transport *transport);
/* Frees what _open made; no exchange of this rank is under way. Waits for the others' _close, as long as _open would
 * have, unless a rank is lost. If the device still works on an aborted exchange after that time, buffers are left to
 * the end of the process. */
void gpuopt_nccl_close(gpuopt_transport *transport);
/* Why the last of these functions, or of a transport's, that failed in this thread did so: words of NCCL, CUDA or the
 * loader; "" if none has. Valid until the next one fails. */
const char *gpuopt_nccl_error(void);

#ifdef __cplusplus
}
#endif

#endif /* GPUOPT_NCCL_H */
