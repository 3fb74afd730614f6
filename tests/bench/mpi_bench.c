/* SPDX-License-Identifier: MIT
 *
 * The cost of a group on top of MPI: microseconds for which a message is under way between two processes. The ways are
 * MPI's own MPI_Send and MPI_Recv; gpuopt_group_send and _receive; and a UTIL message as in examples/mpi/dpop_mpi, with
 * its head and the numbers of its variables before it. Half of a round trip; the ways take turns, and the medians of
 * many rounds count. Processes beyond the first two only wait.
 *
 * Build, from the repository's root:
 *     mpicc -O2 -I. tests/bench/mpi_bench.c transports/gpuopt_mpi.c gpuopt_impl/gpuopt.c -lm -o mpi_bench
 * Run: mpirun -n 2 ./mpi_bench [ROUNDS]
 */
#include <stdio.h>
#include <stdlib.h>

#include "transports/gpuopt_mpi.h"

enum { WAYS = 3, MOST = 1 << 26, HEAD = 24, VARIABLES = 8, MOST_ROUNDS = 100000 };

static gpuopt_group *group;
static int rank;

static void check(int holds, const char *what) {
    if (holds) return;
    fprintf(stderr, "mpi_bench: rank %d: %s failed\n", rank, what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void pass(int way, int sends, void *data, int bytes) {
    static char head[HEAD], names[4 * VARIABLES];
    const int other = 1 - rank;
    if (way == 0) {
        check(!(sends ? MPI_Send(data, bytes, MPI_BYTE, other, 7, MPI_COMM_WORLD)
                      : MPI_Recv(data, bytes, MPI_BYTE, other, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE)),
              "MPI");
        return;
    }
    if (way == 2) {
        check(!(sends ? gpuopt_group_send(group, GPUOPT_HOST, other, head, sizeof head)
                      : gpuopt_group_receive(group, GPUOPT_HOST, other, head, sizeof head)),
              "the head");
        check(!(sends ? gpuopt_group_send(group, GPUOPT_HOST, other, names, sizeof names)
                      : gpuopt_group_receive(group, GPUOPT_HOST, other, names, sizeof names)),
              "the names");
    }
    check(!(sends ? gpuopt_group_send(group, GPUOPT_HOST, other, data, (uint64_t)bytes)
                  : gpuopt_group_receive(group, GPUOPT_HOST, other, data, (uint64_t)bytes)),
          "the message");
}

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* A line of the table. */
static void measure(char *data, int bytes, int rounds) {
    static double taken[WAYS][MOST_ROUNDS];
    int k, way;
    for (k = -rounds / 10 - 1; k < rounds; k++)
        for (way = 0; way < WAYS; way++) {
            const double start = MPI_Wtime();
            pass(way, rank == 0, data, bytes);
            pass(way, rank == 1, data, bytes);
            if (k >= 0) taken[way][k] = (MPI_Wtime() - start) / 2 * 1e6;
        }
    if (rank != 0) return;
    for (way = 0; way < WAYS; way++) qsort(taken[way], (size_t)rounds, sizeof **taken, by_value);
    printf("%10d %12.2f %12.2f %+8.1f%% %12.2f %+8.1f%%\n", bytes, taken[0][rounds / 2], taken[1][rounds / 2],
           100 * (taken[1][rounds / 2] / taken[0][rounds / 2] - 1), taken[2][rounds / 2],
           100 * (taken[2][rounds / 2] / taken[0][rounds / 2] - 1));
    fflush(stdout);
}

int main(int argc, char **argv) {
    gpuopt_transport transport = GPUOPT_INIT(gpuopt_transport);
    gpuopt_context *context = NULL;
    MPI_Comm pair;
    long rounds = argc > 1 ? strtol(argv[1], NULL, 10) : 2000;
    int count = 0, bytes;
    char *data = calloc(MOST, 1);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &count);
    check(data && count >= 2 && rounds >= 1 && rounds <= MOST_ROUNDS, "two processes, 1 to 100000 rounds, or memory");
    MPI_Comm_split(MPI_COMM_WORLD, rank < 2 ? 0 : MPI_UNDEFINED, rank, &pair);
    if (rank < 2) {
        check(!gpuopt_mpi_open(pair, &transport) && !gpuopt_context_create(NULL, &context) &&
                  !gpuopt_group_create(context, &transport, NULL, &group),
              "a group");
        if (rank == 0) printf("%10s %12s %12s %9s %12s %9s\n", "bytes", "MPI us", "group us", "", "UTIL us", "");
        for (bytes = 64; bytes <= MOST; bytes *= 4)
            measure(data, bytes, bytes > 1 << 20 ? (int)(rounds + 39) / 40 : (int)rounds);
        gpuopt_group_destroy(group);
        gpuopt_context_destroy(context);
        gpuopt_mpi_close(&transport);
        MPI_Comm_free(&pair);
    }
    free(data);
    MPI_Finalize();
    return 0;
}
