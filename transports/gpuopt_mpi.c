/* SPDX-License-Identifier: MIT
 *
 * Every transfer is a nonblocking one of MPI's, which is then tested until it is done, the time is up, or a message
 * says that a rank has gone. Each rank sends that message to all others when it gives up, so the others need not wait
 * for their own limit.
 */
#define _POSIX_C_SOURCE 200809L
#include "transports/gpuopt_mpi.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#if defined(OPEN_MPI) && !defined(GPUOPT_MPI_IN_A_FOLDER)
#include <mpi-ext.h>
#endif

enum { TAG_DATA = 1, TAG_GONE = 2 };

/* Transfers of up to so many bytes a rank, such as the library's own, go through a buffer of the transport's. That one
 * stays if a rank is lost, so that only large arrays are still MPI's then. */
enum { SMALL = 4096 };

typedef struct mpi_rank {
    MPI_Comm communicator;
    int rank, count;
    int lost;    /* a transfer has failed, or a rank has announced that it is gone */
    char *slots; /* [count + 1][SMALL] */
} mpi_rank;

/* Whether a rank has announced that it is gone. MPI takes in what has arrived after it has looked, so look twice. */
static int someone_is_gone(mpi_rank *m) {
    int found = 0, look;
    for (look = 0; look < 2 && !m->lost; look++)
        if (!MPI_Iprobe(MPI_ANY_SOURCE, TAG_GONE, m->communicator, &found, MPI_STATUS_IGNORE) && found) m->lost = 1;
    return m->lost;
}

/* Waits until a transfer is done, which has been begun unless `failed`. */
static gpuopt_status finish(mpi_rank *m, int failed, MPI_Request *request, double seconds, MPI_Status *result) {
    double start = MPI_Wtime();
    int done = 0, turn;
    for (turn = 1; !failed; turn++) {
        failed = MPI_Test(request, &done, result) != MPI_SUCCESS;
        if (failed || done) break;
        if (turn % 32) continue;
        if (someone_is_gone(m) || MPI_Wtime() - start > seconds) break;
        sched_yield(); /* there may be more ranks than processors */
        turn = 0;
    }
    if (!failed && done) return GPUOPT_OK;
    m->lost = 1;
    return GPUOPT_ERROR_PEER;
}

static gpuopt_status all_gather(void *user, double seconds, gpuopt_memory_space where, const void *send, uint64_t bytes,
                                void *receive) {
    mpi_rank *m = user;
    int is_small = where == GPUOPT_HOST && bytes <= SMALL, failed;
    const void *from = is_small ? m->slots + (size_t)m->count * SMALL : send;
    void *to = is_small ? m->slots : receive;
    MPI_Request request;
    gpuopt_status status;
    if (someone_is_gone(m)) return GPUOPT_ERROR_PEER;
    if (is_small) memcpy(m->slots + (size_t)m->count * SMALL, send, (size_t)bytes);
    failed = MPI_Iallgather(from, (int)bytes, MPI_BYTE, to, (int)bytes, MPI_BYTE, m->communicator, &request);
    status = finish(m, failed, &request, seconds, MPI_STATUS_IGNORE);
    if (!status && is_small) memcpy(receive, m->slots, (size_t)bytes * (size_t)m->count);
    return status;
}

static gpuopt_status broadcast(void *user, double seconds, gpuopt_memory_space where, int32_t root, void *data,
                               uint64_t bytes) {
    mpi_rank *m = user;
    int is_small = where == GPUOPT_HOST && bytes <= SMALL, failed;
    MPI_Request request;
    gpuopt_status status;
    if (someone_is_gone(m)) return GPUOPT_ERROR_PEER;
    if (is_small && m->rank == root) memcpy(m->slots, data, (size_t)bytes);
    failed = MPI_Ibcast(is_small ? m->slots : data, (int)bytes, MPI_BYTE, root, m->communicator, &request);
    status = finish(m, failed, &request, seconds, MPI_STATUS_IGNORE);
    if (!status && is_small && m->rank != root) memcpy(data, m->slots, (size_t)bytes);
    return status;
}

static gpuopt_status send(void *user, double seconds, gpuopt_memory_space where, int32_t to, const void *data,
                          uint64_t bytes) {
    mpi_rank *m = user;
    int is_small = where == GPUOPT_HOST && bytes <= SMALL, failed;
    MPI_Request request;
    if (someone_is_gone(m)) return GPUOPT_ERROR_PEER;
    if (is_small) memcpy(m->slots, data, (size_t)bytes);
    failed = MPI_Isend(is_small ? m->slots : data, (int)bytes, MPI_BYTE, to, TAG_DATA, m->communicator, &request);
    return finish(m, failed, &request, seconds, MPI_STATUS_IGNORE);
}

/* A longer message is an error of MPI's, a shorter one is found by its size. */
static gpuopt_status receive(void *user, double seconds, gpuopt_memory_space where, int32_t from, void *data,
                             uint64_t bytes) {
    mpi_rank *m = user;
    int is_small = where == GPUOPT_HOST && bytes <= SMALL, failed, size = -1;
    MPI_Request request;
    MPI_Status result;
    gpuopt_status status;
    if (someone_is_gone(m)) return GPUOPT_ERROR_PEER;
    failed = MPI_Irecv(is_small ? m->slots : data, (int)bytes, MPI_BYTE, from, TAG_DATA, m->communicator, &request);
    status = finish(m, failed, &request, seconds, &result);
    if (status) return status;
    if (MPI_Get_count(&result, MPI_BYTE, &size) || size != (int)bytes) {
        m->lost = 1;
        return GPUOPT_ERROR_PEER;
    }
    if (is_small) memcpy(data, m->slots, (size_t)bytes);
    return GPUOPT_OK;
}

/* Notifies all ranks. MPI does not promise that a message leaves before later calls, which this rank need not make, so
 * look around for 10 ms; where that is too short for it, the others wait for their limit. */
static void abandon(void *user) {
    mpi_rank *m = user;
    int r, found;
    double start;
    m->lost = 1;
    for (r = 0; r < m->count; r++) {
        MPI_Request request;
        if (r != m->rank && !MPI_Isend(NULL, 0, MPI_BYTE, r, TAG_GONE, m->communicator, &request))
            MPI_Request_free(&request);
    }
    for (start = MPI_Wtime(); MPI_Wtime() - start < 0.01;) {
        MPI_Iprobe(MPI_ANY_SOURCE, TAG_GONE, m->communicator, &found, MPI_STATUS_IGNORE);
        sched_yield();
    }
}

/* Whether this MPI reports that it is CUDA-aware. */
static int takes_device_memory(void) {
#ifdef MPIX_CUDA_AWARE_SUPPORT
    return MPIX_Query_cuda_support();
#else
    return 0;
#endif
}

gpuopt_status gpuopt_mpi_open(MPI_Comm communicator, gpuopt_transport *transport) {
    gpuopt_transport t = GPUOPT_INIT(gpuopt_transport);
    int initialized = 0, finalized = 0, count;
    mpi_rank *m;
    if (!transport) return GPUOPT_ERROR_ARGUMENT;
    if (MPI_Initialized(&initialized) || !initialized || MPI_Finalized(&finalized) || finalized)
        return GPUOPT_ERROR_STATE;
    m = calloc(1, sizeof *m);
    if (!m) return GPUOPT_ERROR_MEMORY;
    if (MPI_Comm_dup(communicator, &m->communicator)) {
        free(m);
        return GPUOPT_ERROR_STATE;
    }
    /* From here on the duplicate is left to the end of the process if this fails: freeing it is collective. */
    if (MPI_Comm_set_errhandler(m->communicator, MPI_ERRORS_RETURN) || MPI_Comm_rank(m->communicator, &m->rank) ||
        MPI_Comm_size(m->communicator, &count)) {
        free(m);
        return GPUOPT_ERROR_STATE;
    }
    m->count = count;
    m->slots = calloc((size_t)count + 1, SMALL);
    if (!m->slots) {
        abandon(m);
        free(m);
        return GPUOPT_ERROR_MEMORY;
    }
    t.user = m;
    t.rank = m->rank;
    t.count = count;
    t.all_gather = all_gather;
    t.broadcast = broadcast;
    t.send = send;
    t.receive = receive;
    t.abort = abandon;
    t.device_memory = takes_device_memory() ? -1 : 0;
    *transport = t;
    return GPUOPT_OK;
}

void gpuopt_mpi_close(gpuopt_transport *transport) {
    mpi_rank *m;
    if (!transport || !transport->user) return;
    m = transport->user;
    transport->user = NULL;
    if (someone_is_gone(m)) return; /* will not come to free the communicator; MPI may still write to m->slots */
    MPI_Comm_free(&m->communicator);
    free(m->slots);
    free(m);
}
