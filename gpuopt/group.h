/* SPDX-License-Identifier: MIT
 *
 * gpuopt, groups: several contexts, processes or machines that work together.
 *
 * A layer over gpuopt.h: a minor version may change what is here, and the change log says so.
 */
#ifndef GPUOPT_GROUP_H
#define GPUOPT_GROUP_H

#include "../gpuopt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Groups: several contexts that work together ------------------------------------------------------------------ *
 * A group joins contexts of several devices, processes or machines. Each of them is a rank, 0 to count - 1, and has a
 * handle of the group; all ranks make the same calls:
 *
 *     gpuopt_transport transport = GPUOPT_INIT(gpuopt_transport);
 *     gpuopt_mpi_open(MPI_COMM_WORLD, &transport);                             // how ranks reach one another
 *     gpuopt_group_create(context, &transport, NULL, &group);
 *     ... each rank does its share, and finds a solution of profit `best` ...
 *     gpuopt_group_all_reduce(group, GPUOPT_REDUCE_MAX, 1, &best, NULL);       // now the best of all ranks' solutions
 *     gpuopt_group_destroy(group);
 *     gpuopt_mpi_close(&transport);
 *
 * Transport  The library has no threads, no clock and no network: a transport brings them, a struct of five functions
 *            that the host fills. Three are ready, each a file that the host adds to its build:
 *            transports/gpuopt_threads.c for threads of one process (POSIX), transports/gpuopt_mpi.c for processes
 *            (MPI), transports/gpuopt_nccl.c for processes with a GPU each (NCCL, loaded at run time). Without a
 *            transport a group has one rank, and every call works.
 * Threads    A group is a handle of its context, and used by that context's thread. A call of a rank waits for calls of
 *            the others, so each rank needs a thread or a process of its own.
 * Collective All calls are collective but for _send, _receive, _abort, _get_info and _destroy: each rank makes them, in
 *            the same order, and with the same arguments except for data and what a comment names. They first compare
 *            what the ranks were given. If that differs, or is out of range on one rank, the call returns ARGUMENT on
 *            all of them, and nothing has changed. A call may end on one rank before the others.
 * Lost ranks A rank is lost if another has waited for it for the time limit, or if it has called _abort, or was ended,
 *            as far as the transport notices. Calls that need it return GPUOPT_ERROR_PEER (or another error that the
 *            transport gave), and the group is broken: all further calls of these ranks but _get_info, _abort and
 *            _destroy return PEER at once. The others, and one that was only late, are told, and return it in their
 *            present call or in the next one. An array that such a call was to fill is then unspecified. Contexts and
 *            their other handles stay usable, whatever the transport's error, and the group can be destroyed.
 * Arrays     of _broadcast, _all_gather, _send and _receive are in host memory or in that of the context's device:
 *            `where`, which may differ from rank to rank. Those of one call do not overlap. Device memory needs the
 *            CUDA backend and a transport that takes it: else UNSUPPORTED, of a collective call on all ranks. Such an
 *            exchange comes after what was enqueued on the context's stream before, and is done when the call returns.
 *            Ranks are machines of one byte order.
 * Memory     On each rank 4,128 bytes for every rank of the group, and up to 1 KiB; a transport's own memory not
 *            included. Not planned beforehand.
 * Cost       Of a collective call: one exchange of 32 bytes a rank, and what its comment says. */

/* How one rank reaches the others. A function returns OK when its arrays may be used again, and otherwise PEER: the
 * exchange was not done in `seconds` (a transport may leave the transfer out, and count only the wait for the others'
 * calls), a rank is known to be lost, or it sent another number of bytes; or another error of the transport's own.
 * `bytes` is 1 to 2^30; `where` is about this rank's arrays. The library calls them from the thread that uses the
 * group, and none but abandon after one has failed. */
typedef struct gpuopt_transport {
    size_t struct_size;  /* sizeof(gpuopt_transport) */
    void *user;          /* passed to the functions */
    int32_t rank, count; /* this rank, 0 to count - 1; all ranks, 1 to 65,536 */
    /* Collective: receive [count][bytes] gets each rank's send [bytes], in the order of ranks. */
    gpuopt_status (*all_gather)(void *user, double seconds, gpuopt_memory_space where, const void *send, uint64_t bytes,
                                void *receive);
    /* Collective: data [bytes] of rank `root` goes to all others. */
    gpuopt_status (*broadcast)(void *user, double seconds, gpuopt_memory_space where, int32_t root, void *data,
                               uint64_t bytes);
    /* To another rank; may wait until that one receives. What one rank sends to another arrives in that order. */
    gpuopt_status (*send)(void *user, double seconds, gpuopt_memory_space where, int32_t to, const void *data,
                          uint64_t bytes);
    gpuopt_status (*receive)(void *user, double seconds, gpuopt_memory_space where, int32_t from, void *data,
                             uint64_t bytes);
    /* Tells the others, without waiting for their calls, that this rank makes no more: what they wait for returns PEER
     * as soon as they know rather than after the time limit, and so does all that they call later. */
    void (*abort)(void *user);
    /* Whether `where` may be DEVICE; this rank's arrays are then in the memory of its context's device, and nothing
     * that is under way there touches them. 0: no; k + 1: if that is CUDA's device k; -1: whichever it is. */
    int32_t device_memory;
} gpuopt_transport;

/* How a group works; the same on all ranks. */
typedef struct gpuopt_group_desc {
    size_t struct_size; /* sizeof(gpuopt_group_desc) */
    /* Seconds that an exchange may take, 1e-3 to 1e9; 0: 60. It must exceed the longest time that a rank works between
     * two calls while others wait, and with a transport that counts transfers (gpuopt_mpi.h, gpuopt_nccl.h) that time
     * and a transfer's together: of up to 2^30 bytes, in all_gather from each rank. What is larger goes in several
     * exchanges, each with this limit. A call returns at the first that fails. */
    double time_limit;
} gpuopt_group_desc;

/* Makes this rank's part of a group. Collective. The transport's struct is copied; what it refers to must outlive the
 * group. transport NULL: a group of this rank alone. desc NULL: defaults. ARGUMENT: a member is out of range or
 * missing, or (on all ranks) they differ in count, desc or the library's version. PEER: not all ranks came within the
 * time limit, or one could not make its part: then it abandons the transport, unless that itself is wrong. */
GPUOPT_API gpuopt_status gpuopt_group_create(gpuopt_context *context, const gpuopt_transport *transport,
                                             const gpuopt_group_desc *desc, gpuopt_group **group);
/* Destroys this rank's part; NULL is allowed. Not collective, and waits for nobody. */
GPUOPT_API void gpuopt_group_destroy(gpuopt_group *group);

/* Who is in a group. */
typedef struct gpuopt_group_info {
    size_t struct_size;      /* sizeof(gpuopt_group_info) */
    int32_t rank;            /* of this context */
    int32_t count;           /* ranks */
    int broken;              /* not 0: a rank is lost */
    gpuopt_context *context; /* the one whose handle the group is */
    double time_limit;       /* in seconds, see gpuopt_group_desc */
    int device_memory;       /* not 0: this rank's arrays may be in device memory */
} gpuopt_group_info;
/* Fills `info`. Not collective. */
GPUOPT_API gpuopt_status gpuopt_group_get_info(gpuopt_group *group, gpuopt_group_info *info);

/* Compares bytes [size] of all ranks, such as a model that each of them has read. ARGUMENT: a rank has others, or
 * another size; the log names it. Found by a hash of 64 bits. With size 0: waits until all ranks have made the call. */
GPUOPT_API gpuopt_status gpuopt_group_agree(gpuopt_group *group, const void *bytes, uint64_t size);
/* Copies data [bytes] of rank `root` to all others. */
GPUOPT_API gpuopt_status gpuopt_group_broadcast(gpuopt_group *group, gpuopt_memory_space where, int32_t root,
                                                void *data, uint64_t bytes);
/* Gathers what each rank sends: its send [bytes], where `bytes` may differ from rank to rank and may be 0. On all ranks
 * receive [capacity] gets these one after the other, in the order of ranks, and sizes [count] (or NULL), in host
 * memory, the bytes of each. ARGUMENT: capacity is too small, or differs, or receive is NULL on some ranks and not on
 * others; if too small, sizes is filled in. With receive NULL and capacity 0 on all ranks only the sizes are found,
 * which is no error. Cost: one exchange if all send equally many, at most 2^30; else for each rank one broadcast for
 * each 2^30 bytes of its. */
GPUOPT_API gpuopt_status gpuopt_group_all_gather(gpuopt_group *group, gpuopt_memory_space where, const void *send,
                                                 uint64_t bytes, void *receive, uint64_t capacity, uint64_t *sizes);

/* What a reduction makes of the numbers of two ranks. */
typedef enum gpuopt_group_reduction {
    GPUOPT_REDUCE_MIN = 0, /* the lesser one; NaN if either is */
    GPUOPT_REDUCE_MAX,     /* the greater one; likewise */
    GPUOPT_REDUCE_SUM      /* the sum */
} gpuopt_group_reduction;
/* Reduces integer [count] or real [count], of which the other is NULL, entry by entry over all ranks, in the order of
 * ranks: all get the same bits, with any transport, but for those of a NaN, which may be another NaN on another rank.
 * NUMERIC, on all ranks: a sum of integers is beyond int64; the array is then unspecified. Cost: an exchange for each
 * 512 numbers; meant for few. */
GPUOPT_API gpuopt_status gpuopt_group_all_reduce(gpuopt_group *group, gpuopt_group_reduction reduction, int64_t count,
                                                 int64_t *integer, double *real);

/* Sends data [bytes] to another rank, which receives just as many from this one; may wait for that. Two ranks that send
 * to each other before either receives may wait for the time limit. A message of 0 bytes is none: _send and _receive
 * then wait for nobody. One of more than 2^30 bytes is one of 2^30, and then one of the others. ARGUMENT: no such other
 * rank. */
GPUOPT_API gpuopt_status gpuopt_group_send(gpuopt_group *group, gpuopt_memory_space where, int32_t to, const void *data,
                                           uint64_t bytes);
/* Receives data [bytes] from another rank: its messages in the order in which they were sent. PEER, also: the message
 * has another number of bytes, messages being as _send says: to receive 2^30 bytes of 2^30 + 5 is OK, and the next
 * message then has 5. ARGUMENT: no such other rank. */
GPUOPT_API gpuopt_status gpuopt_group_receive(gpuopt_group *group, gpuopt_memory_space where, int32_t from, void *data,
                                              uint64_t bytes);
/* Breaks the group on purpose, because this rank cannot go on: the others are told (see the transport for how soon), so
 * that they need not wait for the time limit. */
GPUOPT_API gpuopt_status gpuopt_group_abort(gpuopt_group *group);

#ifdef __cplusplus
}
#endif

#endif /* GPUOPT_GROUP_H */
