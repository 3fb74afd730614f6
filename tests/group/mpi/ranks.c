/* SPDX-License-Identifier: MIT
 *
 * ranks.h with MPI: every process runs the whole test program. In ranks_run it is one of the ranks if there are so
 * many, or waits for them. So the tests of transports/gpuopt_threads.c test transports/gpuopt_mpi.c, too. (An array
 * that a lost rank leaves to MPI is static, or so small that the transport has copied it.)
 */
#define _POSIX_C_SOURCE 200809L
#include "tests/group/ranks.h"

#include <stdlib.h>
#include <string.h>

#include "transports/gpuopt_mpi.h"

double seconds_now(void) { return MPI_Wtime(); }

static void finalize(void) { MPI_Finalize(); }

void ranks_run(int count, void (*work)(rank *r), const void *data) {
    static ranks all;
    int initialized, me, size, faults = 0;
    rank *r;
    MPI_Comm communicator;
    assert_int_equal(MPI_Initialized(&initialized), MPI_SUCCESS);
    if (!initialized) {
        assert_int_equal(MPI_Init(NULL, NULL), MPI_SUCCESS);
        atexit(finalize);
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    assert_in_range(count, 1, size);
    MPI_Comm_split(MPI_COMM_WORLD, me < count ? 0 : MPI_UNDEFINED, me, &communicator);
    memset(&all, 0, sizeof all);
    all.count = count;
    all.work = work;
    all.data = data;
    r = &all.rank[me < MAX_RANKS ? me : 0];
    r->all = &all;
    r->number = me;
    if (me < count) {
        gpuopt_transport transport;
        assert_int_equal(gpuopt_mpi_open(communicator, &transport), GPUOPT_OK);
        r->transport = transport;
        r->context = test_context(&r->host);
        work(r);
        gpuopt_group_destroy(r->group);
        gpuopt_context_destroy(r->context);
        gpuopt_mpi_close(&transport);
        faults = r->fault[0] != 0;
    }
    MPI_Allreduce(MPI_IN_PLACE, &faults, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); /* so that all end together */
    if (r->fault[0]) fail_msg("rank %d of %d: %s", me, count, r->fault);
    if (faults) fail_msg("another rank failed");
    assert_int_equal(r->host.live, 0);
}
