/* SPDX-License-Identifier: MIT
 *
 * gpuopt, groups: several contexts, processes or machines that work together.
 *
 * A layer over gpuopt.h. A minor version may change it; the change log lists such changes.
 */
#ifndef GPUOPT_GROUP_H
#define GPUOPT_GROUP_H

#include "../gpuopt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Groups: several contexts that work together ------------------------------------------------------------------ *
 * A group joins contexts of several devices, processes or machines. Each of them is a rank, 0 to count - 1, and has its
 * own handle of the group. All ranks make the same calls:
 *
 *     gpuopt_transport transport = GPUOPT_INIT(gpuopt_transport);
 *     gpuopt_mpi_open(MPI_COMM_WORLD, &transport);                             // how ranks reach one another
 *     gpuopt_group_create(context, &transport, NULL, &group);
 *     ... each rank does its share, and finds a solution of profit `best` ...
 *     gpuopt_group_all_reduce(group, GPUOPT_REDUCE_MAX, 1, &best, NULL);       // now the best of all ranks' solutions
 *     gpuopt_group_destroy(group);
 *     gpuopt_mpi_close(&transport);
 *
 * Transport  The library has no threads, no clock and no network. A transport supplies them: a struct of five functions
 *            that the caller fills in. Three are ready to add to your build: transports/gpuopt_threads.c for threads of
 *            one process (POSIX), transports/gpuopt_mpi.c for processes (MPI), and transports/gpuopt_nccl.c for
 *            processes with a GPU each (NCCL, loaded at run time). Without a transport a group has one rank, and every
 *            call works.
 * Threads    A group belongs to its context, and only the context's thread uses it. A rank's call waits for the other
 *            ranks' calls, so each rank needs its own thread or process.
 * Collective All calls except _send, _receive, _abort, _get_info and _destroy are collective. Every rank makes them, in
 *            the same order. The arguments are the same except for data and what a comment names. A collective call
 *            first compares the arguments of all ranks. If they differ, or are out of range on one rank, the call
 *            returns ARGUMENT on all ranks and changes nothing. A call may end on one rank before it ends on others.
 * Lost ranks A rank is lost once another rank has timed out waiting for it, it has called _abort, or the transport
 *            notices that it has exited. Calls that need it return GPUOPT_ERROR_PEER, or another error of the
 *            transport, and the group is broken. All later calls of these ranks except _get_info, _abort and _destroy
 *            return PEER at once. The other ranks are notified, and so is a rank that was only late; they return PEER
 *            from their present call or the next one. Arrays that a failed call was to fill are unspecified. Contexts
 *            and their other handles remain usable, whatever the transport's error, and the group can be destroyed.
 * Arrays     of _broadcast, _all_gather, _send and _receive are in host memory or in the memory of the context's
 *            device; `where` selects it, and may differ between ranks. The arrays of one call must not overlap. Device
 *            memory needs the CUDA backend and a transport that accepts it. Otherwise the call returns UNSUPPORTED, and
 *            a collective call does so on all ranks. An exchange of device memory runs after the work already enqueued
 *            on the context's stream, and has finished when the call returns. All ranks must have the same byte order.
 * Memory     Each rank takes 4,128 bytes for every rank of the group, and up to 1 KiB, plus the transport's own memory.
 *            There is no plan for it.
 * Cost       A collective call takes one exchange of 32 bytes a rank, and what its comment says. */

/* How one rank reaches the others. A function returns OK once its arrays may be used again. It returns PEER if the
 * exchange was not done in `seconds`, if a rank is known to be lost, or if another rank sent a different number of
 * bytes. A transport may count only the wait for the others' calls, and not the transfer. A function may also return an
 * error of the transport's own. `bytes` is 1 to 2^30; `where` is about this rank's arrays. The library calls the
 * functions from the thread that uses the group. After one has failed, it calls only abort. */
typedef struct gpuopt_transport {
    size_t struct_size;  /* sizeof(gpuopt_transport) */
    void *user;          /* passed to the functions */
    int32_t rank, count; /* this rank, 0 to count - 1; number of ranks, 1 to 65,536 */
    /* Collective: receive [count][bytes] gets every rank's send [bytes], in the order of ranks. */
    gpuopt_status (*all_gather)(void *user, double seconds, gpuopt_memory_space where, const void *send, uint64_t bytes,
                                void *receive);
    /* Collective: copies data [bytes] of rank `root` to all others. */
    gpuopt_status (*broadcast)(void *user, double seconds, gpuopt_memory_space where, int32_t root, void *data,
                               uint64_t bytes);
    /* Sends to another rank; may wait until that rank receives. Messages from one rank to another arrive in order. */
    gpuopt_status (*send)(void *user, double seconds, gpuopt_memory_space where, int32_t to, const void *data,
                          uint64_t bytes);
    gpuopt_status (*receive)(void *user, double seconds, gpuopt_memory_space where, int32_t from, void *data,
                             uint64_t bytes);
    /* Notifies the others, without waiting for their calls, that this rank will make no more calls. What waits for this
     * rank then returns PEER as soon as the others notice, rather than after the time limit. So do all their later
     * calls. */
    void (*abort)(void *user);
    /* Whether `where` may be DEVICE. This rank's arrays are then in the memory of its context's device, and no work in
     * progress there touches them. 0: no; k + 1: on CUDA's device k; -1: on any device. */
    int32_t device_memory;
} gpuopt_transport;

/* Options of a group; the same on all ranks. */
typedef struct gpuopt_group_desc {
    size_t struct_size; /* sizeof(gpuopt_group_desc) */
    /* Seconds that an exchange may take, 1e-3 to 1e9; 0: 60. The limit must exceed the longest time that a rank works
     * between two calls while others wait. If the transport counts transfers (gpuopt_mpi.h, gpuopt_nccl.h), it must
     * exceed that time plus a transfer of up to 2^30 bytes (in all_gather: from each rank). Larger transfers are split;
     * the limit applies to each part, and the call returns at the first failure. */
    double time_limit;
} gpuopt_group_desc;

/* Creates this rank's handle of a group. Collective. Copies the transport's struct; what it refers to must outlive the
 * group. transport NULL: a group of this rank alone. desc NULL: defaults. ARGUMENT: a member is out of range or
 * missing; or, on all ranks, they differ in count, desc or the library's version. PEER: not all ranks came within the
 * time limit, or one could not create its handle. That rank then calls the transport's abort, unless the transport
 * itself is invalid. */
GPUOPT_API gpuopt_status gpuopt_group_create(gpuopt_context *context, const gpuopt_transport *transport,
                                             const gpuopt_group_desc *desc, gpuopt_group **group);
/* Destroys this rank's handle; NULL is allowed. Not collective; waits for no other rank. */
GPUOPT_API void gpuopt_group_destroy(gpuopt_group *group);

/* The members of a group. */
typedef struct gpuopt_group_info {
    size_t struct_size;      /* sizeof(gpuopt_group_info) */
    int32_t rank;            /* of this context */
    int32_t count;           /* number of ranks */
    int broken;              /* not 0: a rank is lost */
    gpuopt_context *context; /* the context to which the handle belongs */
    double time_limit;       /* in seconds, see gpuopt_group_desc */
    int device_memory;       /* not 0: this rank's arrays may be in device memory */
} gpuopt_group_info;
/* Fills `info`. Not collective. */
GPUOPT_API gpuopt_status gpuopt_group_get_info(gpuopt_group *group, gpuopt_group_info *info);

/* Compares bytes [size] of all ranks, such as a model that each rank has read, by a 64-bit hash. ARGUMENT: a rank has
 * other bytes or another size; the log names it. With size 0, waits until all ranks have made the call. */
GPUOPT_API gpuopt_status gpuopt_group_agree(gpuopt_group *group, const void *bytes, uint64_t size);
/* Copies data [bytes] of rank `root` to all others. */
GPUOPT_API gpuopt_status gpuopt_group_broadcast(gpuopt_group *group, gpuopt_memory_space where, int32_t root,
                                                void *data, uint64_t bytes);
/* Gathers send [bytes] of every rank; `bytes` may differ between ranks and may be 0. On all ranks, receive [capacity]
 * gets these data one after the other, in the order of ranks. sizes [count], or NULL, is in host memory and gets the
 * number of bytes of each rank. If receive is NULL and capacity 0 on all ranks, only sizes is filled in, which is no
 * error. ARGUMENT: capacity is too small (sizes is still filled in) or differs between ranks, or receive is NULL on
 * only some ranks. Cost: one exchange if all ranks send the same number of bytes, at most 2^30. Otherwise each rank
 * takes one broadcast for each 2^30 bytes that it sends. */
GPUOPT_API gpuopt_status gpuopt_group_all_gather(gpuopt_group *group, gpuopt_memory_space where, const void *send,
                                                 uint64_t bytes, void *receive, uint64_t capacity, uint64_t *sizes);

/* How a reduction combines the numbers of two ranks. */
typedef enum gpuopt_group_reduction {
    GPUOPT_REDUCE_MIN = 0, /* the smaller one; NaN if either is NaN */
    GPUOPT_REDUCE_MAX,     /* the larger one; NaN if either is NaN */
    GPUOPT_REDUCE_SUM      /* the sum */
} gpuopt_group_reduction;
/* Reduces integer [count] or real [count] entry by entry over all ranks, in the order of ranks; the other array is
 * NULL. All ranks get the same bits, with any transport, except that a NaN may have other bits on another rank.
 * NUMERIC, on all ranks: a sum of integers does not fit int64; the array is then unspecified. Cost: one exchange for
 * each 512 numbers; meant for few numbers. */
GPUOPT_API gpuopt_status gpuopt_group_all_reduce(gpuopt_group *group, gpuopt_group_reduction reduction, int64_t count,
                                                 int64_t *integer, double *real);

/* Sends data [bytes] to another rank, which receives the same number of bytes from this one; may wait for that. If two
 * ranks send to each other before either receives, both may wait until the time limit. Messages of 0 bytes are no-ops,
 * in _receive, too, and do not synchronise. A message longer than 2^30 bytes is sent as messages of 2^30 bytes and one
 * with the rest. ARGUMENT: there is no such other rank. */
GPUOPT_API gpuopt_status gpuopt_group_send(gpuopt_group *group, gpuopt_memory_space where, int32_t to, const void *data,
                                           uint64_t bytes);
/* Receives data [bytes] from another rank; its messages arrive in the order in which they were sent. PEER, also: the
 * message has another number of bytes. Long messages are split as _send says: of 2^30 + 5 bytes, you can receive 2^30,
 * and the next message has 5. ARGUMENT: there is no such other rank. */
GPUOPT_API gpuopt_status gpuopt_group_receive(gpuopt_group *group, gpuopt_memory_space where, int32_t from, void *data,
                                              uint64_t bytes);
/* Breaks the group because this rank cannot go on. Notifies the others, so that they need not wait for the time limit;
 * how soon they notice depends on the transport. */
GPUOPT_API gpuopt_status gpuopt_group_abort(gpuopt_group *group);

#ifdef __cplusplus
}
#endif

#endif /* GPUOPT_GROUP_H */
