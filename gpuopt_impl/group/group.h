/* SPDX-License-Identifier: MIT
 *
 * Groups: the handle, and the comparison of the ranks' arguments that precedes every collective call.
 */
#ifndef GPUOPT_IMPL_GROUP_H
#define GPUOPT_IMPL_GROUP_H

#include "../common/checks.h"

enum {
    GPUOPT__GROUP_NUMBERS = 512,   /* numbers of each rank in one exchange of a reduction: 4 KiB */
    GPUOPT__GROUP_PIECE = 1 << 30, /* most bytes of one call of a transport */
    GPUOPT__GROUP_RANKS = 65536
};

/* The call that a rank makes. */
typedef enum gpuopt__group_kind {
    GPUOPT__GROUP_CREATE = 1,
    GPUOPT__GROUP_AGREE,
    GPUOPT__GROUP_BROADCAST,
    GPUOPT__GROUP_ALL_GATHER,
    GPUOPT__GROUP_ALL_REDUCE
} gpuopt__group_kind;

/* Each rank sends this to all others at the beginning of a collective call. */
typedef struct gpuopt__group_header {
    uint32_t kind, refused; /* refused: 0, or the negated status with which the rank refuses its arguments */
    uint64_t same[2];       /* arguments, or their hash: equal on all ranks */
    uint64_t own;           /* an argument that may differ */
} gpuopt__group_header;

struct gpuopt_group {
    gpuopt_context *context;
    gpuopt_transport transport; /* all functions are NULL if the caller gave none; the group then has one rank */
    double time_limit;
    int broken;
    gpuopt__group_header *header; /* [count] of the present call */
    void *buffer;                 /* [count][GPUOPT__GROUP_NUMBERS] 8-byte numbers */
};

static const char *gpuopt__group_call(uint32_t kind) {
    switch (kind) {
    case GPUOPT__GROUP_CREATE: return "gpuopt_group_create";
    case GPUOPT__GROUP_AGREE: return "gpuopt_group_agree";
    case GPUOPT__GROUP_BROADCAST: return "gpuopt_group_broadcast";
    case GPUOPT__GROUP_ALL_GATHER: return "gpuopt_group_all_gather";
    case GPUOPT__GROUP_ALL_REDUCE: return "gpuopt_group_all_reduce";
    }
    return "something unknown";
}

/* The size of the next piece: `left`, or at most `most`. */
static uint64_t gpuopt__group_piece(uint64_t left, uint64_t most) { return left < most ? left : most; }

/* Notifies the other ranks. From now on every call returns PEER. */
static void gpuopt__group_break(gpuopt_group *g) {
    if (!g->broken && g->transport.abort) g->transport.abort(g->transport.user);
    g->broken = 1;
}

static gpuopt_status gpuopt__group_is_broken(const gpuopt_group *g, const char *call) {
    return gpuopt__refuse(g->context, GPUOPT_ERROR_PEER, call, "the group has lost a rank before");
}

/* Returns the status of a transport's function; a failure breaks the group. */
static gpuopt_status gpuopt__group_done(gpuopt_group *g, const char *call, gpuopt_status status) {
    if (!status) return GPUOPT_OK;
    gpuopt__log(g->context, 0, "%s: rank %d of %d lost the others: %s", call, (int)g->transport.rank,
                (int)g->transport.count, gpuopt_status_string(status));
    gpuopt__group_break(g);
    return status;
}

/* Whether all ranks make the same call and none refuses its arguments; else the same status on all. The log names the
 * first faulty rank; a rank that refused its own arguments has already logged the reason. */
static gpuopt_status gpuopt__group_compare(const gpuopt_group *g, const gpuopt__group_header *own) {
    const char *call = gpuopt__group_call(own->kind);
    gpuopt_status refused = GPUOPT_OK;
    int32_t r;
    int logged = own->refused != 0, differs = 0;
    for (r = 0; r < g->transport.count; r++) {
        const gpuopt__group_header *other = &g->header[r];
        const int another = other->kind != own->kind;
        const int unequal = other->same[0] != own->same[0] || other->same[1] != own->same[1];
        if (!another && !unequal && !other->refused) continue;
        if (another || unequal) differs = 1;
        if (!refused) refused = (gpuopt_status) - (int32_t)other->refused;
        if (logged) continue;
        logged = 1;
        if (another) gpuopt__log(g->context, 0, "%s: rank %d calls %s", call, (int)r, gpuopt__group_call(other->kind));
        else if (other->refused) gpuopt__log(g->context, 0, "%s: the arguments of rank %d are refused", call, (int)r);
        else
            gpuopt__log(g->context, 0, "%s: rank %d has other arguments than rank %d", call, (int)r,
                        (int)g->transport.rank);
    }
    return differs ? GPUOPT_ERROR_ARGUMENT : refused;
}

/* Begins a collective call. refused: OK, or the logged reason why this rank refuses its arguments. Afterwards header[]
 * holds the headers of all ranks. */
static gpuopt_status gpuopt__group_begin(gpuopt_group *g, gpuopt__group_kind kind, gpuopt_status refused,
                                         uint64_t same0, uint64_t same1, uint64_t own) {
    const char *call = gpuopt__group_call(kind);
    gpuopt__group_header header;
    gpuopt_status status = GPUOPT_OK;
    if (g->broken) return gpuopt__group_is_broken(g, call);
    memset(&header, 0, sizeof header);
    header.kind = kind;
    header.refused = (uint32_t) - (int32_t)refused;
    header.same[0] = same0;
    header.same[1] = same1;
    header.own = own;
    g->header[0] = header;
    if (g->transport.all_gather)
        status =
            g->transport.all_gather(g->transport.user, g->time_limit, GPUOPT_HOST, &header, sizeof header, g->header);
    return status ? gpuopt__group_done(g, call, status) : gpuopt__group_compare(g, &header);
}

/* ---- Arrays ---- */

/* Refuses arguments. fault: a description of the error, or NULL. */
static gpuopt_status gpuopt__group_check(const gpuopt_group *g, const char *call, const char *fault) {
    return fault ? gpuopt__refuse(g->context, GPUOPT_ERROR_ARGUMENT, call, fault) : GPUOPT_OK;
}

/* Whether arrays may be in the memory of the context's device. */
static int gpuopt__group_takes_device(const gpuopt_group *g) {
    const int32_t taken = g->transport.device_memory;
    return g->context->desc.backend->copy &&
           (!g->transport.all_gather || taken < 0 || taken - 1 == g->context->desc.device);
}

/* Whether arrays may be in this memory. */
static gpuopt_status gpuopt__group_check_where(const gpuopt_group *g, const char *call, gpuopt_memory_space where) {
    gpuopt_status status = gpuopt__check_where(g->context, call, where);
    if (status || where == GPUOPT_HOST || gpuopt__group_takes_device(g)) return status;
    return gpuopt__refuse(g->context, GPUOPT_ERROR_UNSUPPORTED, call,
                          "the transport does not take this device's memory");
}

/* Waits until the context's stream has finished its work on arrays in this memory. The transport uses no stream. */
static gpuopt_status gpuopt__group_settle(gpuopt_group *g, const char *call, gpuopt_memory_space where) {
    if (where == GPUOPT_HOST) return GPUOPT_OK;
    return gpuopt__group_done(g, call, g->context->desc.backend->wait(g->context));
}

#endif /* GPUOPT_IMPL_GROUP_H */
