/* SPDX-License-Identifier: MIT
 *
 * Distributes the items of a batch over the ranks of a group: which rank owns which item, and the exchange of results.
 * Uses the group's public calls and serves every backend; a backend only sees a batch of the rank's own items.
 *
 * Items are dealt in one of two ways:
 * - One by one: each of P ranks owns one of any P items kP to kP + P - 1. Of any P^2 items each rank owns one in each
 *   place. So the two children of a node, one of which often takes more work, do not always go to the same two ranks. A
 *   hash shifts the places from one P^2 to the next, so that no longer period favours a rank either.
 * - In blocks: each rank owns one block, so its part of the caller's arrays is read and written in place.
 */
#ifndef GPUOPT_IMPL_DEALT_H
#define GPUOPT_IMPL_DEALT_H

#include "numerics.h"
#include "ranks.h"

enum { GPUOPT__DEALT_PIECE = 1 << 20 }; /* most bytes of a message */

/* Results of items; each rank has computed the results of its own items. */
typedef struct gpuopt__dealt_array {
    void *at;    /* [items][size], in host memory */
    size_t size; /* bytes of an item; not 0 */
} gpuopt__dealt_array;

/* The items of a rank: item[0 .. count - 1], ascending; item NULL: `count` items from `first` on. */
typedef struct gpuopt__dealt_part {
    const int32_t *item;
    int32_t first, count;
} gpuopt__dealt_part;

/* A rank's status and arguments, before the results of its items. */
typedef struct gpuopt__dealt_fingerprint {
    uint64_t hash; /* of the arguments that must be equal on all ranks */
    int64_t status;
} gpuopt__dealt_fingerprint;

typedef struct gpuopt__dealt {
    gpuopt_group *group;
    int32_t rank, ranks;
    int32_t most;      /* items of a call, on all ranks together */
    int32_t own;       /* the most on each rank: most / ranks, rounded up */
    int32_t count;     /* items of the latest call, on all ranks */
    int in_blocks;     /* 0: `order` lists the items of each rank */
    int32_t *order;    /* [ranks][own] each rank's items, ascending; a call uses the items below `count` */
    uint64_t capacity; /* bytes of a message */
    uint64_t *bytes;   /* [ranks] */
    char *send;        /* [capacity] a gpuopt__dealt_fingerprint, and results */
    char *receive;     /* [ranks][capacity] */
} gpuopt__dealt;

/* ---- Life ---- */

/* Prepares a distribution of `most` items, each with up to `each` bytes of results. */
static gpuopt__dealt gpuopt__dealt_head(gpuopt_group *group, const gpuopt_group_info *info, int32_t most, int in_blocks,
                                        uint64_t each) {
    gpuopt__dealt d;
    memset(&d, 0, sizeof d);
    d.group = group;
    d.rank = info->rank;
    d.ranks = info->count;
    d.most = most;
    d.own = (most + info->count - 1) / info->count;
    d.in_blocks = in_blocks;
    d.capacity = sizeof(gpuopt__dealt_fingerprint) + each * (uint64_t)d.own;
    d.capacity = d.capacity < GPUOPT__DEALT_PIECE ? (d.capacity + 7) & ~(uint64_t)7 : (uint64_t)GPUOPT__DEALT_PIECE;
    return d;
}

/* Cuts the arrays; with base NULL it only measures. */
static void gpuopt__dealt_cut(gpuopt__arena *arena, gpuopt__dealt *d) {
    d->order = (int32_t *)gpuopt__cut(arena, d->in_blocks ? 0 : (int64_t)d->ranks * d->own, sizeof *d->order);
    d->bytes = (uint64_t *)gpuopt__cut(arena, d->ranks, sizeof *d->bytes);
    d->send = (char *)gpuopt__cut(arena, 1, (size_t)d->capacity);
    d->receive = (char *)gpuopt__cut(arena, d->ranks, (size_t)d->capacity);
}

/* How far the order of the ranks is rotated in the `ranks` items from block * ranks on. */
static uint32_t gpuopt__dealt_turned(uint32_t block, uint32_t ranks) {
    return (uint32_t)(gpuopt__mix(block / ranks) % ranks + block % ranks) % ranks;
}

/* Fills in the order; at creation. */
static void gpuopt__dealt_deal(gpuopt__dealt *d) {
    const uint32_t ranks = (uint32_t)d->ranks;
    uint32_t block, r;
    for (block = 0; block < (uint32_t)d->own && !d->in_blocks; block++) {
        const uint32_t turned = gpuopt__dealt_turned(block, ranks);
        for (r = 0; r < ranks; r++)
            d->order[(int64_t)r * d->own + block] = (int32_t)(block * ranks + (r + turned) % ranks);
    }
}

/* ---- With or without a group ----
 *
 * Without one, a handle's `d` is NULL, and so is the group of `head`. */

/* Cuts all of a distribution, from its head. */
static gpuopt__dealt *gpuopt__dealt_cut_all(gpuopt__arena *arena, gpuopt__dealt *head) {
    gpuopt__dealt *d;
    if (!head->group) return NULL;
    d = (gpuopt__dealt *)gpuopt__cut(arena, 1, sizeof *d);
    gpuopt__dealt_cut(arena, head);
    return d;
}

static void gpuopt__dealt_fill(gpuopt__dealt *d, const gpuopt__dealt *head) {
    if (!d) return;
    *d = *head;
    gpuopt__dealt_deal(d);
}

/* Whether arrays may be in this memory. */
static gpuopt_status gpuopt__dealt_check_where(const gpuopt__dealt *d, const gpuopt_context *context, const char *call,
                                               gpuopt_memory_space where) {
    if (d && where == GPUOPT_DEVICE)
        return gpuopt__refuse(context, GPUOPT_ERROR_UNSUPPORTED, call, "with a group, arrays must be in host memory");
    return gpuopt__check_where(context, call, where);
}

/* ---- Parts ---- */

/* The first item of a rank's block in the latest call. */
static int32_t gpuopt__dealt_block(const gpuopt__dealt *d, int32_t rank) {
    return (int32_t)((int64_t)d->count * rank / d->ranks);
}

/* A rank's items of the latest call. */
static gpuopt__dealt_part gpuopt__dealt_part_of(const gpuopt__dealt *d, int32_t rank) {
    const int32_t full = d->count / d->ranks;
    gpuopt__dealt_part part = {NULL, 0, 0};
    if (d->in_blocks) {
        part.first = gpuopt__dealt_block(d, rank);
        part.count = gpuopt__dealt_block(d, rank + 1) - part.first;
    } else {
        part.item = d->order + (int64_t)rank * d->own;
        part.count = full + (full < d->own && part.item[full] < d->count);
    }
    return part;
}

/* The part of these items in first .. first + count - 1, numbered from `first` on. */
static gpuopt__dealt_part gpuopt__dealt_part_within(const gpuopt__dealt *d, int32_t rank, int32_t first,
                                                    int32_t count) {
    gpuopt__dealt_part part = gpuopt__dealt_part_of(d, rank);
    int32_t end = part.first + part.count;
    if (!d->in_blocks) return part; /* this way of dealing always exchanges all items */
    if (end > first + count) end = first + count;
    if (part.first < first) part.first = first;
    part.count = end > part.first ? end - part.first : 0;
    part.first -= first;
    return part;
}

/* ---- Exchange ---- */

/* Gathers the items at place[0], place[1] and so on into consecutive items (out), or scatters them back. Callers pass a
 * common size as a constant, for the compiler. */
static inline void gpuopt__dealt_move(const int32_t *place, int32_t count, char *array, size_t size, char *items,
                                      int out) {
    int32_t i;
    for (i = 0; i < count && out; i++) memcpy(items + size * (size_t)i, array + size * (size_t)place[i], size);
    for (i = 0; i < count && !out; i++) memcpy(array + size * (size_t)place[i], items + size * (size_t)i, size);
}

/* `count` whole items of the part, from number `item` on, from their places in an array to a message (out), or back. */
static void gpuopt__dealt_copy_items(const gpuopt__dealt_part *part, int32_t item, int32_t count,
                                     const gpuopt__dealt_array *array, char *message, int out) {
    char *const at = (char *)array->at, *there = at + (size_t)(part->first + item) * array->size;
    const int32_t *place = part->item ? part->item + item : NULL;
    if (!part->item) memcpy(out ? message : there, out ? there : message, (size_t)count * array->size);
    else if (array->size == sizeof(int32_t)) gpuopt__dealt_move(place, count, at, sizeof(int32_t), message, out);
    else if (array->size == sizeof(double)) gpuopt__dealt_move(place, count, at, sizeof(double), message, out);
    else gpuopt__dealt_move(place, count, at, array->size, message, out);
}

/* Copies bytes from .. from + bytes - 1 of the part's items in one array. Items beyond the part's last one are 0. */
static void gpuopt__dealt_copy_array(const gpuopt__dealt_part *part, const gpuopt__dealt_array *array, uint64_t from,
                                     uint64_t bytes, char *message, int out) {
    const size_t size = array->size;
    while (bytes > 0) {
        const int32_t item = (int32_t)(from / size);
        const size_t at = (size_t)(from % size);
        size_t step = size - at < bytes ? size - at : (size_t)bytes;
        if (item >= part->count) {
            if (out) memset(message, 0, step);
        } else if (step == size) {
            const uint64_t whole = bytes / size, left = (uint64_t)(part->count - item);
            const int32_t count = (int32_t)(whole < left ? whole : left);
            gpuopt__dealt_copy_items(part, item, count, array, message, out);
            step = size * (size_t)count;
        } else {
            const int64_t place = part->item ? part->item[item] : (int64_t)part->first + item;
            char *there = (char *)array->at + (size_t)place * size + at;
            memcpy(out ? message : there, out ? there : message, step);
        }
        from += step;
        message += step;
        bytes -= step;
    }
}

/* A rank's results form a sequence of bytes, array after array, each with place for `slots` items. Copies `bytes` of
 * the sequence, from byte `from` on, from the arrays to a message (out), or back. */
static void gpuopt__dealt_copy(const gpuopt__dealt_part *part, int32_t slots, const gpuopt__dealt_array *arrays,
                               int count, uint64_t from, uint64_t bytes, char *message, int out) {
    int k;
    for (k = 0; k < count && bytes > 0; k++) {
        const uint64_t end = (uint64_t)slots * arrays[k].size;
        uint64_t here;
        if (from >= end) {
            from -= end;
            continue;
        }
        here = end - from < bytes ? end - from : bytes;
        gpuopt__dealt_copy_array(part, &arrays[k], from, here, message, out);
        message += here;
        bytes -= here;
        from = 0;
    }
}

/* Brings items from the beginning of an array to their places, the last one first. */
static inline void gpuopt__dealt_spread_items(const int32_t *place, int32_t count, char *array, size_t size) {
    int32_t i;
    for (i = count - 1; i >= 0 && place[i] != i; i--)
        memcpy(array + size * (size_t)place[i], array + size * (size_t)i, size);
}

/* Moves the results of a rank's own items from the beginning of the arrays to their places. */
static void gpuopt__dealt_spread(const gpuopt__dealt *d, const gpuopt__dealt_array *arrays, int count) {
    const gpuopt__dealt_part own = gpuopt__dealt_part_of(d, d->rank);
    int k;
    for (k = 0; k < count; k++) {
        char *at = (char *)arrays[k].at;
        const size_t size = arrays[k].size;
        if (size == sizeof(int32_t)) gpuopt__dealt_spread_items(own.item, own.count, at, sizeof(int32_t));
        else if (size == sizeof(double)) gpuopt__dealt_spread_items(own.item, own.count, at, sizeof(double));
        else gpuopt__dealt_spread_items(own.item, own.count, at, size);
    }
}

/* Reads the ranks' replies in the order of ranks and returns the same status on all. */
static gpuopt_status gpuopt__dealt_replies(const gpuopt_context *context, const char *call, const gpuopt__dealt *d) {
    gpuopt__dealt_fingerprint first, reply;
    const char *message = d->receive;
    int32_t r;
    memcpy(&first, message, sizeof first);
    for (r = 0; r < d->ranks; message += d->bytes[r++]) {
        memcpy(&reply, message, sizeof reply);
        if (!reply.status) continue;
        if (r != d->rank)
            gpuopt__log(context, 0, "%s: on rank %d: %s", call, (int)r,
                        gpuopt_status_string((gpuopt_status)reply.status));
        return (gpuopt_status)reply.status;
    }
    for (r = 0, message = d->receive; r < d->ranks; message += d->bytes[r++]) {
        memcpy(&reply, message, sizeof reply);
        if (reply.hash == first.hash) continue;
        gpuopt__log(context, 0, "%s: rank %d was given other arguments than rank 0", call, (int)r);
        return GPUOPT_ERROR_ARGUMENT;
    }
    return GPUOPT_OK;
}

/* Ends a call that had this status on this rank: returns the same status on all ranks. If it is OK, each rank receives
 * the other ranks' results of items first to first + count - 1. Dealt in blocks, a rank's own results are in place.
 * Dealt one by one, the call covers all items, and own results lie at the beginning of the arrays. Takes one exchange
 * for each GPUOPT__DEALT_PIECE bytes of a rank. */
static gpuopt_status gpuopt__dealt_exchange(gpuopt__dealt *d, const gpuopt_context *context, const char *call,
                                            gpuopt_status status, uint64_t hash, int32_t first, int32_t count,
                                            const gpuopt__dealt_array *arrays, int of_arrays) {
    const gpuopt__dealt_part mine = gpuopt__dealt_part_within(d, d->rank, first, count);
    const gpuopt__dealt_fingerprint reply = {hash, status};
    uint64_t all = 0, at = 0, head = sizeof reply;
    int32_t r, slots = 0;
    int k;
    if (status == GPUOPT_ERROR_DEVICE) return gpuopt__ranks_give_up(d->group, status);
    for (r = 0; r < d->ranks; r++) {
        const int32_t part = gpuopt__dealt_part_within(d, r, first, count).count;
        if (slots < part) slots = part;
    }
    for (k = 0; k < of_arrays && !status; k++) all += (uint64_t)slots * arrays[k].size;
    if (!status && !d->in_blocks) gpuopt__dealt_spread(d, arrays, of_arrays);
    memcpy(d->send, &reply, sizeof reply);
    do {
        const uint64_t bytes = all - at < d->capacity - head ? all - at : d->capacity - head;
        char *message = d->receive;
        gpuopt__dealt_copy(&mine, slots, arrays, of_arrays, at, bytes, d->send + head, 1);
        status = gpuopt_group_all_gather(d->group, GPUOPT_HOST, d->send, head + bytes, d->receive,
                                         d->capacity * (uint64_t)d->ranks, d->bytes);
        if (!status && head) status = gpuopt__dealt_replies(context, call, d);
        for (r = 0; r < d->ranks && !status; message += d->bytes[r++]) {
            const gpuopt__dealt_part part = gpuopt__dealt_part_within(d, r, first, count);
            if (r != d->rank) gpuopt__dealt_copy(&part, slots, arrays, of_arrays, at, bytes, message + head, 0);
        }
        at += bytes;
        head = 0;
    } while (!status && at < all);
    return status;
}

#endif /* GPUOPT_IMPL_DEALT_H */
