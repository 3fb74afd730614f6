/* SPDX-License-Identifier: MIT
 *
 * Groups: the public calls.
 */
#ifndef GPUOPT_IMPL_GROUP_CALLS_H
#define GPUOPT_IMPL_GROUP_CALLS_H

#include "group.h"
#include "../common/bytes.h"

/* ---- Life ---- */

/* The fault of a transport, or NULL. */
static const char *gpuopt__group_check_transport(const gpuopt_transport *own) {
    if (own->count < 1 || own->count > GPUOPT__GROUP_RANKS) return "the transport's count is not in 1..65536";
    if (own->rank < 0 || own->rank >= own->count) return "the transport's rank is not in 0..count - 1";
    if (!own->all_gather || !own->broadcast || !own->send || !own->receive || !own->abort)
        return "a function of the transport is NULL";
    if (own->device_memory < -1) return "the transport's device_memory is less than -1";
    return NULL;
}

static gpuopt_status gpuopt__group_make(gpuopt_context *context, const gpuopt_transport *transport, double time_limit,
                                        gpuopt_group **group) {
    gpuopt__arena arena = {NULL, 0};
    gpuopt_group *g = NULL;
    int pass;
    for (pass = 0; pass < 2; pass++) {
        void *memory = NULL;
        gpuopt_status status = pass ? gpuopt__allocate(context, GPUOPT_HOST, arena.used, &memory) : GPUOPT_OK;
        gpuopt__group_header *header;
        void *buffer;
        if (status) return status;
        arena.base = (char *)memory;
        arena.used = 0;
        g = (gpuopt_group *)gpuopt__cut(&arena, 1, sizeof *g);
        header = (gpuopt__group_header *)gpuopt__cut(&arena, transport->count, sizeof *header);
        buffer = gpuopt__cut(&arena, (int64_t)transport->count * GPUOPT__GROUP_NUMBERS, sizeof(int64_t));
        if (!g) continue;
        memset(g, 0, sizeof *g);
        g->header = header;
        g->buffer = buffer;
    }
    g->context = context;
    g->transport = *transport;
    g->time_limit = time_limit;
    *group = g;
    return GPUOPT_OK;
}

static gpuopt_status gpuopt__group_create(gpuopt_context *context, const char *call, const gpuopt_transport *transport,
                                          const gpuopt_group_desc *desc, gpuopt_group **group) {
    gpuopt_group_desc d;
    gpuopt_transport own;
    gpuopt_group *g = NULL;
    const char *fault;
    gpuopt_status status = GPUOPT_OK;
    uint64_t limit;
    memset(&own, 0, sizeof own);
    own.count = 1;
    if (transport && !GPUOPT__COPY_IN(context, call, gpuopt_transport, &own, transport)) return GPUOPT_ERROR_ARGUMENT;
    fault = transport ? gpuopt__group_check_transport(&own) : NULL;
    if (fault) return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, fault);
    memset(&d, 0, sizeof d);
    if (desc) status = GPUOPT__CHECK_STRUCT(context, call, context, gpuopt_group_desc, desc, &d);
    if (!status) {
        const gpuopt__range range = {"time_limit", d.time_limit, 1e-3, 1e9};
        status = gpuopt__check_ranges(context, call, &range, 1);
    }
    if (!status && !group) status = gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "group is NULL");
    if (d.time_limit == 0) d.time_limit = 60;
    if (!status) status = gpuopt__group_make(context, &own, d.time_limit, &g);
    if (status) {
        if (own.abort) own.abort(own.user);
        return status;
    }
    memcpy(&limit, &d.time_limit, sizeof limit);
    status = gpuopt__group_begin(g, GPUOPT__GROUP_CREATE, GPUOPT_OK,
                                 (uint64_t)GPUOPT_VERSION_NUMBER << 32 | (uint64_t)own.count, limit, 0);
    if (status) gpuopt__release(context, GPUOPT_HOST, g);
    else *group = g;
    return status;
}

GPUOPT_API gpuopt_status gpuopt_group_create(gpuopt_context *context, const gpuopt_transport *transport,
                                             const gpuopt_group_desc *desc, gpuopt_group **group) {
    GPUOPT__CALL_MAKES(gpuopt_group, context, context, group,
                       gpuopt__group_create(context, call, transport, desc, group));
}

GPUOPT_API void gpuopt_group_destroy(gpuopt_group *group) {
    GPUOPT__CALL_DESTROYS(gpuopt_group, group, group->context, gpuopt__release(group->context, GPUOPT_HOST, group));
}

static gpuopt_status gpuopt__group_get_info(gpuopt_group *group, gpuopt_group_info *info) {
    info->rank = group->transport.rank;
    info->count = group->transport.count;
    info->broken = group->broken;
    info->context = group->context;
    info->time_limit = group->time_limit;
    info->device_memory = gpuopt__group_takes_device(group);
    return GPUOPT_OK;
}

GPUOPT_API gpuopt_status gpuopt_group_get_info(gpuopt_group *group, gpuopt_group_info *info) {
    GPUOPT__CALL_FILLS(group, group->context, gpuopt_group_info, info, gpuopt__group_get_info(group, &filled));
}

GPUOPT_API gpuopt_status gpuopt_group_abort(gpuopt_group *group) {
    GPUOPT__CALL(group, group->context, (gpuopt__group_break(group), GPUOPT_OK));
}

/* ---- Collective calls ---- */

static gpuopt_status gpuopt__group_agree(gpuopt_group *group, const void *bytes, uint64_t size) {
    const char *fault = size > 0 && !bytes ? "bytes is NULL" : NULL;
    uint64_t hash = 0;
    if (!fault) hash = gpuopt__hash(GPUOPT__HASH_START, (const unsigned char *)bytes, size);
    return gpuopt__group_begin(group, GPUOPT__GROUP_AGREE,
                               gpuopt__group_check(group, gpuopt__group_call(GPUOPT__GROUP_AGREE), fault), hash, size,
                               0);
}

GPUOPT_API gpuopt_status gpuopt_group_agree(gpuopt_group *group, const void *bytes, uint64_t size) {
    GPUOPT__CALL(group, group->context, gpuopt__group_agree(group, bytes, size));
}

/* Broadcasts in pieces within the limit of a transport. */
static gpuopt_status gpuopt__group_broadcast_all(gpuopt_group *g, const char *call, gpuopt_memory_space where,
                                                 int32_t root, void *data, uint64_t bytes) {
    gpuopt_status status = GPUOPT_OK;
    char *at = (char *)data;
    while (bytes > 0 && !status && g->transport.broadcast) {
        uint64_t piece = gpuopt__group_piece(bytes, GPUOPT__GROUP_PIECE);
        status = g->transport.broadcast(g->transport.user, g->time_limit, where, root, at, piece);
        at += piece;
        bytes -= piece;
    }
    return gpuopt__group_done(g, call, status);
}

static gpuopt_status gpuopt__group_broadcast(gpuopt_group *group, const char *call, gpuopt_memory_space where,
                                             int32_t root, void *data, uint64_t bytes) {
    gpuopt_status status = gpuopt__group_check_where(group, call, where);
    if (!status)
        status = gpuopt__group_check(group, call,
                                     bytes > 0 && !data                           ? "data is NULL"
                                     : root < 0 || root >= group->transport.count ? "root is not in 0..count - 1"
                                                                                  : NULL);
    status = gpuopt__group_begin(group, GPUOPT__GROUP_BROADCAST, status, (uint64_t)(uint32_t)root, bytes, 0);
    if (!status) status = gpuopt__group_settle(group, call, where);
    return status ? status : gpuopt__group_broadcast_all(group, call, where, root, data, bytes);
}

GPUOPT_API gpuopt_status gpuopt_group_broadcast(gpuopt_group *group, gpuopt_memory_space where, int32_t root,
                                                void *data, uint64_t bytes) {
    GPUOPT__CALL(group, group->context, gpuopt__group_broadcast(group, call, where, root, data, bytes));
}

/* Completes a gather after the ranks have exchanged their sizes. */
static gpuopt_status gpuopt__group_gather(gpuopt_group *g, gpuopt_memory_space where, const void *send, void *receive) {
    const char *call = gpuopt__group_call(GPUOPT__GROUP_ALL_GATHER);
    int32_t r, count = g->transport.count;
    uint64_t bytes = g->header[g->transport.rank].own;
    gpuopt_status status = gpuopt__group_settle(g, call, where);
    char *at = (char *)receive;
    for (r = 0; r < count && g->header[r].own == bytes; r++) continue;
    if (!status && r == count && bytes <= GPUOPT__GROUP_PIECE && g->transport.all_gather) {
        if (bytes == 0) return GPUOPT_OK;
        return gpuopt__group_done(
            g, call, g->transport.all_gather(g->transport.user, g->time_limit, where, send, bytes, receive));
    }
    for (r = 0; r < count && !status; r++) {
        if (r == g->transport.rank)
            status = gpuopt__group_done(g, call, gpuopt__deliver(g->context, where, at, send, bytes));
        if (!status) status = gpuopt__group_broadcast_all(g, call, where, r, at, g->header[r].own);
        at += g->header[r].own;
    }
    return status;
}

static gpuopt_status gpuopt__group_all_gather(gpuopt_group *group, const char *call, gpuopt_memory_space where,
                                              const void *send, uint64_t bytes, void *receive, uint64_t capacity,
                                              uint64_t *sizes) {
    gpuopt_status status;
    uint64_t left = capacity;
    int32_t r;
    int fits = 1;
    status = gpuopt__group_check_where(group, call, where);
    if (!status)
        status = gpuopt__group_check(group, call,
                                     bytes > 0 && !send         ? "send is NULL"
                                     : capacity > 0 && !receive ? "receive is NULL"
                                                                : NULL);
    status = gpuopt__group_begin(group, GPUOPT__GROUP_ALL_GATHER, status, capacity, receive != NULL, bytes);
    if (status) return status;
    for (r = 0; r < group->transport.count; r++) {
        if (sizes) sizes[r] = group->header[r].own;
        if (group->header[r].own > left) fits = 0;
        else left -= group->header[r].own;
    }
    if (!receive) return GPUOPT_OK;
    if (!fits)
        return gpuopt__refuse(group->context, GPUOPT_ERROR_ARGUMENT, call, "the ranks send more than the capacity");
    return gpuopt__group_gather(group, where, send, receive);
}

GPUOPT_API gpuopt_status gpuopt_group_all_gather(gpuopt_group *group, gpuopt_memory_space where, const void *send,
                                                 uint64_t bytes, void *receive, uint64_t capacity, uint64_t *sizes) {
    GPUOPT__CALL(group, group->context,
                 gpuopt__group_all_gather(group, call, where, send, bytes, receive, capacity, sizes));
}

/* ---- Reductions ---- */

/* Combines *sum with the next rank's number. Returns 0 if the result cannot be represented. */
static int gpuopt__group_reduce_integer(gpuopt_group_reduction reduction, int64_t *sum, int64_t next) {
    switch (reduction) {
    case GPUOPT_REDUCE_MIN: *sum = next < *sum ? next : *sum; return 1;
    case GPUOPT_REDUCE_MAX: *sum = next > *sum ? next : *sum; return 1;
    case GPUOPT_REDUCE_SUM: break;
    }
    if (next > 0 ? *sum > INT64_MAX - next : *sum < INT64_MIN - next) return 0;
    *sum += next;
    return 1;
}

static void gpuopt__group_reduce_real(gpuopt_group_reduction reduction, double *sum, double next) {
    switch (reduction) {
    case GPUOPT_REDUCE_MIN: *sum = next < *sum || next != next ? next : *sum; return;
    case GPUOPT_REDUCE_MAX: *sum = next > *sum || next != next ? next : *sum; return;
    case GPUOPT_REDUCE_SUM: *sum += next; return;
    }
}

/* Reduces the first `count` numbers of each rank. g->buffer holds them rank after rank. */
static gpuopt_status gpuopt__group_reduce(gpuopt_group *g, gpuopt_group_reduction reduction, int64_t count,
                                          int64_t *integer, double *real) {
    const int64_t *integers = (const int64_t *)g->buffer;
    const double *reals = (const double *)g->buffer;
    int64_t k;
    int32_t r;
    for (k = 0; k < count; k++) {
        if (integer) integer[k] = integers[k];
        else real[k] = reals[k];
        for (r = 1; r < g->transport.count; r++) {
            if (real) gpuopt__group_reduce_real(reduction, &real[k], reals[r * count + k]);
            else if (!gpuopt__group_reduce_integer(reduction, &integer[k], integers[r * count + k])) {
                gpuopt__log(g->context, 0, "gpuopt_group_all_reduce: the sum of integers is beyond int64");
                return GPUOPT_ERROR_NUMERIC;
            }
        }
    }
    return GPUOPT_OK;
}

static gpuopt_status gpuopt__group_all_reduce(gpuopt_group *group, gpuopt_group_reduction reduction, int64_t count,
                                              int64_t *integer, double *real) {
    gpuopt_status status;
    int64_t k;
    const char *fault = (int)reduction < 0 || reduction > GPUOPT_REDUCE_SUM ? "reduction is not a constant of its enum"
                        : count < 0                                         ? "count is negative"
                        : !integer == !real                                 ? "one of integer and real must be NULL"
                                                                            : NULL;
    status = gpuopt__group_begin(group, GPUOPT__GROUP_ALL_REDUCE,
                                 gpuopt__group_check(group, gpuopt__group_call(GPUOPT__GROUP_ALL_REDUCE), fault),
                                 (uint64_t)reduction << 1 | (real != NULL), (uint64_t)count, 0);
    for (k = 0; k < count && !status && group->transport.all_gather; k += GPUOPT__GROUP_NUMBERS) {
        int64_t piece = (int64_t)gpuopt__group_piece((uint64_t)(count - k), GPUOPT__GROUP_NUMBERS);
        status = group->transport.all_gather(group->transport.user, group->time_limit, GPUOPT_HOST,
                                             integer ? (const void *)(integer + k) : (const void *)(real + k),
                                             (uint64_t)piece * sizeof(int64_t), group->buffer);
        if (status) return gpuopt__group_done(group, gpuopt__group_call(GPUOPT__GROUP_ALL_REDUCE), status);
        status = gpuopt__group_reduce(group, reduction, piece, integer ? integer + k : NULL, real ? real + k : NULL);
    }
    return status;
}

GPUOPT_API gpuopt_status gpuopt_group_all_reduce(gpuopt_group *group, gpuopt_group_reduction reduction, int64_t count,
                                                 int64_t *integer, double *real) {
    GPUOPT__CALL(group, group->context, gpuopt__group_all_reduce(group, reduction, count, integer, real));
}

/* ---- From rank to rank ---- */

/* Whether this rank and array exist and the context's stream has no work pending on the array. */
static gpuopt_status gpuopt__group_check_peer(gpuopt_group *g, const char *call, gpuopt_memory_space where,
                                              int32_t peer, const void *data, uint64_t bytes) {
    gpuopt_status status;
    if (g->broken) return gpuopt__group_is_broken(g, call);
    status = gpuopt__group_check_where(g, call, where);
    if (!status && (peer < 0 || peer >= g->transport.count || peer == g->transport.rank))
        status = gpuopt__refuse(g->context, GPUOPT_ERROR_ARGUMENT, call, "there is no such other rank");
    if (!status && bytes > 0 && !data) status = gpuopt__refuse(g->context, GPUOPT_ERROR_ARGUMENT, call, "data is NULL");
    return status ? status : gpuopt__group_settle(g, call, where);
}

static gpuopt_status gpuopt__group_send(gpuopt_group *group, const char *call, gpuopt_memory_space where, int32_t to,
                                        const void *data, uint64_t bytes) {
    const char *at = (const char *)data;
    gpuopt_status status = gpuopt__group_check_peer(group, call, where, to, data, bytes);
    while (!status && bytes > 0) {
        uint64_t piece = gpuopt__group_piece(bytes, GPUOPT__GROUP_PIECE);
        status = gpuopt__group_done(
            group, call, group->transport.send(group->transport.user, group->time_limit, where, to, at, piece));
        at += piece;
        bytes -= piece;
    }
    return status;
}

GPUOPT_API gpuopt_status gpuopt_group_send(gpuopt_group *group, gpuopt_memory_space where, int32_t to, const void *data,
                                           uint64_t bytes) {
    GPUOPT__CALL(group, group->context, gpuopt__group_send(group, call, where, to, data, bytes));
}

static gpuopt_status gpuopt__group_receive(gpuopt_group *group, const char *call, gpuopt_memory_space where,
                                           int32_t from, void *data, uint64_t bytes) {
    char *at = (char *)data;
    gpuopt_status status = gpuopt__group_check_peer(group, call, where, from, data, bytes);
    while (!status && bytes > 0) {
        uint64_t piece = gpuopt__group_piece(bytes, GPUOPT__GROUP_PIECE);
        status = gpuopt__group_done(
            group, call, group->transport.receive(group->transport.user, group->time_limit, where, from, at, piece));
        at += piece;
        bytes -= piece;
    }
    return status;
}

GPUOPT_API gpuopt_status gpuopt_group_receive(gpuopt_group *group, gpuopt_memory_space where, int32_t from, void *data,
                                              uint64_t bytes) {
    GPUOPT__CALL(group, group->context, gpuopt__group_receive(group, call, where, from, data, bytes));
}

#endif /* GPUOPT_IMPL_GROUP_CALLS_H */
