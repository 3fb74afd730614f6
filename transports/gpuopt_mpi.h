/* SPDX-License-Identifier: MIT
 *
 * A transport for groups whose ranks are processes, by MPI 3. To use it, compile transports/gpuopt_mpi.c with your
 * program, with mpicc or with MPI's flags:
 *
 *     MPI_Init(&argc, &argv);
 *     gpuopt_transport transport = GPUOPT_INIT(gpuopt_transport);
 *     if (gpuopt_mpi_open(MPI_COMM_WORLD, &transport)) ...
 *     ... gpuopt_group_create(context, &transport, NULL, &group), work, gpuopt_group_destroy(group) ...
 *     gpuopt_mpi_close(&transport);
 *     MPI_Finalize();
 *
 * _abort, and a call that breaks the group, spend 10 ms in which MPI can notify the others. If that is not enough, as
 * it may be for a first message over a network, they wait for their time limit.
 *
 * The time limit counts the transfer, too, since MPI does not report when it has begun.
 *
 * Device memory is taken if MPI reports that it is CUDA-aware, by MPIX_Query_cuda_support (Open MPI's mpi-ext.h, found
 * by mpicc); the thread's current device must then be the context's. This has not been tested with such an MPI.
 *
 * Lost ranks. MPI cannot take back what a lost rank has left undone. After a call has returned GPUOPT_ERROR_PEER, the
 * arrays that were given to it must stay where they are as long as the process makes MPI calls, and it should make none
 * but MPI_Abort: MPI_Finalize would wait for the lost rank. To see the status, and for example to write a checkpoint, a
 * process must outlive the other: mpirun ends all processes if one dies, unless an option prevents it (Open MPI 4:
 * mpirun --enable-recovery).
 */
#ifndef GPUOPT_MPI_H
#define GPUOPT_MPI_H

#include "gpuopt.h"
#include "gpuopt/group.h"

#if defined(__has_include)
#if !__has_include(<mpi.h>) && __has_include(<mpi/mpi.h>)
#define GPUOPT_MPI_IN_A_FOLDER /* Debian's place for it, where a compiler other than mpicc finds it */
#endif
#endif
#ifdef GPUOPT_MPI_IN_A_FOLDER
#include <mpi/mpi.h>
#else
#include <mpi.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Fills *transport with a rank of a duplicate of this communicator. Collective over it, and waits without a time limit,
 * as MPI_Init does. All calls of the group must come from threads that MPI allows to call it: the main thread with
 * MPI_THREAD_FUNNELED, one thread at a time with MPI_THREAD_SERIALIZED. ARGUMENT: transport is NULL. MEMORY: there is
 * none (malloc), 4 KiB for every rank, and 4 KiB; then, if the communicator was duplicated, the others' _create returns
 * PEER. STATE: MPI is not initialised, or has failed. */
gpuopt_status gpuopt_mpi_open(MPI_Comm communicator, gpuopt_transport *transport);
/* Frees what _open made. Collective, unless a rank is lost, as far as this one knows: then it waits for none,
 * and leaves the communicator and what was under way to the end of the process. */
void gpuopt_mpi_close(gpuopt_transport *transport);

#ifdef __cplusplus
}
#endif

#endif /* GPUOPT_MPI_H */
