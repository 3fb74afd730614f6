/* SPDX-License-Identifier: MIT
 *
 * For ../mpi_test.sh: ranks that exchange numbers until rank 1 kills itself, by a signal that no process can catch.
 * Usage: killed CALL LIMIT: the call that then waits, 0: a collective call, all of which begin alike, 1: receive; the
 * time limit in seconds. Each of the others prints how long it took to notice. Its exit status is 0 if its calls
 * returned GPUOPT_ERROR_PEER, else 1.
 */
#define _POSIX_C_SOURCE 200809L
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "transports/gpuopt_mpi.h"

static gpuopt_status exchange(gpuopt_group *group, int rank, int which) {
    static int64_t integer[100000];
    int64_t sum = rank;
    if (which == 0) return gpuopt_group_all_reduce(group, GPUOPT_REDUCE_SUM, 1, &sum, NULL);
    return rank == 1 ? gpuopt_group_send(group, GPUOPT_HOST, 0, integer, sizeof integer)
           : rank    ? gpuopt_group_agree(group, NULL, 0)
                     : gpuopt_group_receive(group, GPUOPT_HOST, 1, integer, sizeof integer);
}

int main(int argc, char **argv) {
    gpuopt_transport transport = GPUOPT_INIT(gpuopt_transport);
    gpuopt_group_desc desc = GPUOPT_INIT(gpuopt_group_desc);
    gpuopt_context *context;
    gpuopt_group *group;
    gpuopt_status status = GPUOPT_OK;
    double start = 0;
    int k;
    if (argc != 3) return 2;
    MPI_Init(&argc, &argv);
    desc.time_limit = atof(argv[2]);
    if (gpuopt_context_create(NULL, &context) || gpuopt_mpi_open(MPI_COMM_WORLD, &transport) ||
        gpuopt_group_create(context, &transport, &desc, &group))
        return 2;
    for (k = 0; k < 20 && !status; k++) {
        start = MPI_Wtime();
        if (k == 10 && transport.rank == 1) kill(getpid(), SIGKILL);
        status = exchange(group, transport.rank, k < 10 ? 0 : atoi(argv[1]));
    }
    printf("rank %d: exchange %d, %s, %.2f s\n", (int)transport.rank, k, gpuopt_status_string(status),
           MPI_Wtime() - start);
    fflush(stdout);
    if (status == GPUOPT_ERROR_PEER) status = gpuopt_group_agree(group, NULL, 0);
    gpuopt_group_destroy(group);
    gpuopt_context_destroy(context);
    gpuopt_mpi_close(&transport);
    _exit(status != GPUOPT_ERROR_PEER); /* MPI_Finalize would wait for the rank that is dead */
}
