/* SPDX-License-Identifier: MIT
 *
 * Elimination: messages in the caller's form, and as bytes that agents in different processes exchange.
 */
#ifndef GPUOPT_IMPL_ELIMINATION_API_MESSAGE_H
#define GPUOPT_IMPL_ELIMINATION_API_MESSAGE_H

#include "../plan/packed.h"
#include "steps.h"
#include "../../common/bytes.h"

/* ---- Tables ---- */

/* Whether a message has been computed and not overwritten since. */
static int gpuopt__elimination_message_ready(const gpuopt_elimination *e, const gpuopt__elimination_bucket *bucket) {
    int64_t units = e->plan.units, slice = e->done / units, unit = e->done % units;
    int32_t reader;
    if (e->held < 0 || e->repeated) return 0;
    if (unit == 0 && slice > 0) unit = units; /* the held slice is complete */
    if (bucket->position >= unit) return 0;
    reader = e->plan.table[bucket->message].bucket;
    return e->plan.keep || reader >= unit; /* nothing reads after the last unit */
}

/* The bucket of a message. Logs an error and returns NULL if the message or the copy does not exist. */
static const gpuopt__elimination_bucket *gpuopt__elimination_bucket_of(const gpuopt_elimination *e, const char *call,
                                                                       int32_t message, int32_t copy) {
    if (message >= 0 && message < e->plan.buckets && copy >= 0 && copy < e->plan.copies)
        return &e->plan.bucket[message];
    gpuopt__log(e->context, 0, "%s: there is no message %d, or no copy %d", call, (int)message, (int)copy);
    return NULL;
}

static gpuopt_status gpuopt__elimination_message_get_info(gpuopt_elimination *elimination, const char *call,
                                                          int32_t message, gpuopt_elimination_message_info *info) {
    const gpuopt__elimination_plan *plan;
    const gpuopt__elimination_bucket *bucket;
    const gpuopt__elimination_table *t;
    if (gpuopt__elimination_whole(elimination, call)) return GPUOPT_ERROR_UNSUPPORTED;
    plan = &elimination->plan;
    bucket = gpuopt__elimination_bucket_of(elimination, call, message, 0);
    if (!bucket) return GPUOPT_ERROR_ARGUMENT;
    t = &plan->table[bucket->message];
    info->variable = bucket->variable;
    info->parent = t->bucket < plan->steps ? plan->order[t->bucket] : -1;
    info->arity = t->arity;
    info->scope = plan->scope + t->scope;
    info->entries = t->entries;
    info->ready = gpuopt__elimination_message_ready(elimination, bucket);
    info->bits = plan->bits;
    info->offset = t->offset;
    info->forbidden = plan->forbidden;
    info->model = elimination->model;
    return GPUOPT_OK;
}

GPUOPT_API gpuopt_status gpuopt_elimination_message_get_info(gpuopt_elimination *elimination, int32_t message,
                                                             gpuopt_elimination_message_info *info) {
    GPUOPT__CALL_FILLS(elimination, elimination->context, gpuopt_elimination_message_info, info,
                       gpuopt__elimination_message_get_info(elimination, call, message, &filled));
}

/* Turns stored values into the caller's, in place. The array need not be aligned. */
static void gpuopt__elimination_negate_values(int sign, int64_t count, void *values) {
    char *at = (char *)values;
    int64_t k;
    for (k = 0; k < count && sign < 0; k++, at += sizeof(double)) {
        double value;
        memcpy(&value, at, sizeof value);
        value = -value;
        memcpy(at, &value, sizeof value);
    }
}

/* Returns the caller's cost for a stored one. */
static int64_t gpuopt__elimination_outer_cost(const gpuopt__elimination_plan *plan, int64_t offset, uint64_t stored) {
    if (stored >= plan->forbidden) return plan->sign < 0 ? INT64_MIN : INT64_MAX;
    return plan->sign * (offset + (int64_t)stored);
}

/* Reads `count` entries of a message from `first` on in the caller's form: costs or, with DOUBLE, values. */
static gpuopt_status gpuopt__elimination_read_entries(gpuopt_elimination *e, const gpuopt__elimination_bucket *bucket,
                                                      int32_t copy, int64_t first, int64_t count, void *cost,
                                                      uint64_t *counts) {
    const gpuopt__elimination_plan *plan = &e->plan;
    const int doubles = plan->type == GPUOPT_COST_DOUBLE;
    int64_t k;
    gpuopt_status status =
        gpuopt__elimination_backend_of(e)->read(e, bucket->message, copy, first, count, cost, counts);
    if (!status && doubles) gpuopt__elimination_negate_values(plan->sign, count, cost);
    /* Stored costs are no wider than the caller's: widens them in place, from the end. */
    for (k = count - 1; !status && !doubles && k >= 0; k--) {
        int64_t outer = gpuopt__elimination_outer_cost(plan, plan->table[bucket->message].offset,
                                                       gpuopt__elimination_stored_cost(cost, plan->bits, k));
        memcpy((int64_t *)cost + k, &outer, sizeof outer);
    }
    return status;
}

/* Copies a whole message to the caller's device memory, in pieces through host memory of the handle. */
static gpuopt_status gpuopt__elimination_stage_message(gpuopt_elimination *e, const gpuopt__elimination_bucket *bucket,
                                                       int32_t copy, char *cost, uint64_t *count) {
    const gpuopt__elimination_plan *plan = &e->plan;
    const int64_t entries = plan->table[bucket->message].entries;
    gpuopt_status status = GPUOPT_OK;
    int64_t first;
    for (first = 0; first < entries && !status; first += plan->staged) {
        const int64_t piece = entries - first < plan->staged ? entries - first : plan->staged;
        const uint64_t bytes = sizeof(int64_t) * (uint64_t)piece;
        status = gpuopt__elimination_read_entries(e, bucket, copy, first, piece, plan->staged_cost,
                                                  count ? plan->staged_count : NULL);
        if (!status)
            status = gpuopt__deliver(e->context, GPUOPT_DEVICE, cost + sizeof(int64_t) * (size_t)first,
                                     plan->staged_cost, bytes);
        if (!status && count)
            status = gpuopt__deliver(e->context, GPUOPT_DEVICE, count + first, plan->staged_count, bytes);
    }
    return status;
}

static gpuopt_status gpuopt__elimination_message_get(gpuopt_elimination *elimination, const char *call,
                                                     gpuopt_memory_space where, int32_t message, int32_t copy,
                                                     int64_t *cost, double *value, uint64_t *count) {
    const gpuopt__elimination_plan *plan;
    const gpuopt__elimination_bucket *bucket;
    gpuopt_status status;
    void *wanted;
    if (gpuopt__elimination_whole(elimination, call)) return GPUOPT_ERROR_UNSUPPORTED;
    plan = &elimination->plan;
    status = gpuopt__check_where(elimination->context, call, where);
    if (status) return status;
    bucket = gpuopt__elimination_bucket_of(elimination, call, message, copy);
    if (!bucket) return GPUOPT_ERROR_ARGUMENT;
    wanted = plan->type == GPUOPT_COST_DOUBLE ? (void *)value : (void *)cost;
    if (!wanted || (count && plan->semiring != GPUOPT_SEMIRING_MIN_COUNT))
        return gpuopt__refuse(elimination->context, GPUOPT_ERROR_ARGUMENT, call,
                              "cost or value is NULL, or count is given without MIN_COUNT");
    if (!gpuopt__elimination_message_ready(elimination, bucket))
        return gpuopt__refuse(elimination->context, GPUOPT_ERROR_STATE, call, "the message is not ready");
    if (where == GPUOPT_DEVICE)
        return gpuopt__elimination_stage_message(elimination, bucket, copy, (char *)wanted, count);
    return gpuopt__elimination_read_entries(elimination, bucket, copy, 0, plan->table[bucket->message].entries, wanted,
                                            count);
}

GPUOPT_API gpuopt_status gpuopt_elimination_message_get(gpuopt_elimination *elimination, gpuopt_memory_space where,
                                                        int32_t message, int32_t copy, int64_t *cost, double *value,
                                                        uint64_t *count) {
    GPUOPT__CALL(elimination, elimination->context,
                 gpuopt__elimination_message_get(elimination, call, where, message, copy, cost, value, count));
}

static gpuopt_status gpuopt__elimination_message_device_view(gpuopt_elimination *elimination, const char *call,
                                                             int32_t message, int32_t copy, gpuopt_device_view *view) {
    const gpuopt__elimination_plan *plan = &elimination->plan;
    const gpuopt__elimination_bucket *bucket;
    gpuopt_status status;
    if (gpuopt__elimination_whole(elimination, call)) return GPUOPT_ERROR_UNSUPPORTED;
    bucket = gpuopt__elimination_bucket_of(elimination, call, message, copy);
    if (!bucket) return GPUOPT_ERROR_ARGUMENT;
    if (!gpuopt__elimination_message_ready(elimination, bucket))
        return gpuopt__refuse(elimination->context, GPUOPT_ERROR_STATE, call, "the message is not ready");
    status = gpuopt__elimination_backend_of(elimination)->view(elimination, bucket->message, copy, &view->data);
    if (status == GPUOPT_ERROR_UNSUPPORTED)
        gpuopt__refuse(elimination->context, status, call, "the table is not in device memory");
    if (status) return status;
    view->count = plan->table[bucket->message].entries;
    view->type = plan->type == GPUOPT_COST_DOUBLE ? GPUOPT_TYPE_FP64
                 : plan->bits == 8                ? GPUOPT_TYPE_UINT8
                 : plan->bits == 16               ? GPUOPT_TYPE_UINT16
                 : plan->bits == 32               ? GPUOPT_TYPE_UINT32
                                                  : GPUOPT_TYPE_UINT64;
    return GPUOPT_OK;
}

GPUOPT_API gpuopt_status gpuopt_elimination_message_device_view(gpuopt_elimination *elimination, int32_t message,
                                                                int32_t copy, gpuopt_device_view *view) {
    GPUOPT__CALL_FILLS(elimination, elimination->context, gpuopt_device_view, view,
                       gpuopt__elimination_message_device_view(elimination, call, message, copy, &filled));
}

/* ---- Bytes ---- */

/* Converts numbers of `bytes` bytes each between the byte order of this machine and little-endian, in place. */
static void gpuopt__elimination_swap_bytes(unsigned char *data, int64_t count, int bytes) {
    static const uint16_t probe = 1;
    int64_t i;
    int k;
    if (bytes == 1 || *(const unsigned char *)&probe == 1) return;
    for (i = 0; i < count; i++, data += bytes)
        for (k = 0; k < bytes / 2; k++) {
            unsigned char swapped = data[k];
            data[k] = data[bytes - 1 - k];
            data[bytes - 1 - k] = swapped;
        }
}

/* Writes everything before the costs, with 0 as the checksum. */
static void gpuopt__elimination_pack_head(const gpuopt_elimination *e, const gpuopt__elimination_table *t,
                                          unsigned char *to) {
    const gpuopt__elimination_plan *plan = &e->plan;
    uint64_t spread;
    int32_t k;
    memcpy(to, "GPUM", 4);
    gpuopt__put_bytes(to + 4, GPUOPT__ELIMINATION_PACKED_VERSION, 4);
    gpuopt__put_bytes(to + 8, (uint64_t)plan->type, 4);
    gpuopt__put_bytes(to + 12, (uint64_t)plan->semiring, 4);
    gpuopt__put_bytes(to + 16, (uint64_t)plan->bits, 4);
    gpuopt__put_bytes(to + 20, (uint64_t)t->arity, 4);
    gpuopt__put_bytes(to + 24, (uint64_t)t->entries, 8);
    gpuopt__put_bytes(to + 32, (uint64_t)t->offset, 8);
    gpuopt__put_bytes(to + 40, plan->forbidden, 8);
    gpuopt__put_bytes(to + GPUOPT__ELIMINATION_PACKED_MODEL, e->model, 8);
    gpuopt__put_bytes(to + GPUOPT__ELIMINATION_PACKED_CHECKSUM, 0, 8);
    memcpy(&spread, &t->spread, sizeof spread);
    gpuopt__put_bytes(to + GPUOPT__ELIMINATION_PACKED_SPREAD, spread, 8);
    for (k = 0; k < t->arity; k++) {
        int32_t variable = plan->scope[t->scope + k];
        gpuopt__put_bytes(to + GPUOPT__ELIMINATION_PACKED_HEAD + 4 * (int64_t)k, (uint64_t)variable, 4);
        gpuopt__put_bytes(to + GPUOPT__ELIMINATION_PACKED_HEAD + 4 * ((int64_t)t->arity + k),
                          (uint64_t)plan->domain[variable], 4);
    }
}

/* Writes the rest to host memory, and the checksum. */
static gpuopt_status gpuopt__elimination_pack_host(gpuopt_elimination *e, int32_t table, int32_t copy,
                                                   const gpuopt__elimination_parts *parts, unsigned char *to) {
    const gpuopt__elimination_plan *plan = &e->plan;
    const gpuopt__elimination_table *t = &plan->table[table];
    const int counts = plan->semiring == GPUOPT_SEMIRING_MIN_COUNT;
    void *buffer = to + parts->cost;
    gpuopt_status status;
    gpuopt__elimination_pack_head(e, t, to);
    status = gpuopt__elimination_backend_of(e)->read(e, table, copy, 0, t->entries, buffer, NULL);
    if (!status && counts)
        status = gpuopt__elimination_backend_of(e)->read(e, table, copy, 0, t->entries, NULL,
                                                         (uint64_t *)(void *)(to + parts->count));
    if (status) return status;
    if (plan->type == GPUOPT_COST_DOUBLE) gpuopt__elimination_negate_values(plan->sign, t->entries, buffer);
    gpuopt__elimination_swap_bytes(to + parts->cost, t->entries, plan->bits / 8);
    gpuopt__elimination_swap_bytes(to + parts->count, counts ? t->entries : 0, 8);
    gpuopt__put_bytes(to + GPUOPT__ELIMINATION_PACKED_CHECKSUM, gpuopt__elimination_packed_sum(to, parts->end), 8);
    return GPUOPT_OK;
}

/* The same for device memory: host memory only receives the part of the message before the costs. */
static gpuopt_status gpuopt__elimination_pack_device(gpuopt_elimination *e, const char *call, int32_t table,
                                                     int32_t copy, const gpuopt__elimination_parts *parts,
                                                     unsigned char *to) {
    const struct gpuopt__elimination_backend *backend = gpuopt__elimination_backend_of(e);
    const gpuopt__elimination_plan *plan = &e->plan;
    gpuopt__elimination_packed p;
    gpuopt_status status;
    void *buffer;
    memset(&p, 0, sizeof p);
    p.bytes = to;
    p.where = GPUOPT_DEVICE;
    p.parts = *parts;
    status = backend->pack(e, table, copy, to + parts->cost,
                           plan->semiring == GPUOPT_SEMIRING_MIN_COUNT ? to + parts->count : NULL);
    if (status == GPUOPT_ERROR_UNSUPPORTED)
        gpuopt__refuse(e->context, status, call, "the table is not in device memory");
    if (!status) status = gpuopt__allocate(e->context, GPUOPT_HOST, parts->cost, &buffer);
    if (status) return status;
    gpuopt__elimination_pack_head(e, &plan->table[table], (unsigned char *)buffer);
    status = e->context->desc.backend->copy(e->context, to, buffer, parts->cost);
    if (!status) status = backend->scan(e->context, &p, plan->semiring, 0, &p.scan);
    if (!status) {
        gpuopt__put_bytes((unsigned char *)buffer, p.scan.sum, 8);
        status = e->context->desc.backend->copy(e->context, to + GPUOPT__ELIMINATION_PACKED_CHECKSUM, buffer, 8);
    }
    gpuopt__release(e->context, GPUOPT_HOST, buffer);
    return status;
}

static gpuopt_status gpuopt__elimination_message_pack(gpuopt_elimination *elimination, const char *call,
                                                      gpuopt_memory_space where, int32_t message, int32_t copy,
                                                      void *bytes, uint64_t capacity, uint64_t *size) {
    const gpuopt__elimination_plan *plan;
    const gpuopt__elimination_bucket *bucket;
    const gpuopt__elimination_table *t;
    gpuopt__elimination_parts parts;
    gpuopt_status status;
    if (gpuopt__elimination_whole(elimination, call)) return GPUOPT_ERROR_UNSUPPORTED;
    status = gpuopt__check_where(elimination->context, call, where);
    if (status) return status;
    plan = &elimination->plan;
    bucket = gpuopt__elimination_bucket_of(elimination, call, message, copy);
    if (!bucket) return GPUOPT_ERROR_ARGUMENT;
    t = &plan->table[bucket->message];
    parts = gpuopt__elimination_packed_parts(t->arity, t->entries, plan->bits, plan->semiring);
    if (!bytes && size) {
        *size = parts.end;
        return GPUOPT_OK;
    }
    if (!bytes || capacity < parts.end || (where == GPUOPT_DEVICE && ((uintptr_t)bytes & 7)))
        return gpuopt__refuse(elimination->context, GPUOPT_ERROR_ARGUMENT, call,
                              !bytes                 ? "bytes and size are NULL"
                              : capacity < parts.end ? "capacity is too small"
                                                     : "bytes are not at a multiple of 8");
    if (!gpuopt__elimination_message_ready(elimination, bucket))
        return gpuopt__refuse(elimination->context, GPUOPT_ERROR_STATE, call, "the message is not ready");
    status =
        where == GPUOPT_HOST
            ? gpuopt__elimination_pack_host(elimination, bucket->message, copy, &parts, (unsigned char *)bytes)
            : gpuopt__elimination_pack_device(elimination, call, bucket->message, copy, &parts, (unsigned char *)bytes);
    if (!status && size) *size = parts.end;
    return status;
}

GPUOPT_API gpuopt_status gpuopt_elimination_message_pack(gpuopt_elimination *elimination, gpuopt_memory_space where,
                                                         int32_t message, int32_t copy, void *bytes, uint64_t capacity,
                                                         uint64_t *size) {
    GPUOPT__CALL(elimination, elimination->context,
                 gpuopt__elimination_message_pack(elimination, call, where, message, copy, bytes, capacity, size));
}

/* Reads a message for a public call. */
static gpuopt_status gpuopt__elimination_inspect(gpuopt_context *context, const char *call, gpuopt_memory_space where,
                                                 const void *bytes, uint64_t size, gpuopt__elimination_packed *p) {
    const gpuopt__elimination_reading reading = {where, bytes, size, NULL, 0, NULL};
    const char *fault = NULL;
    gpuopt_status status = gpuopt__check_where(context, call, where);
    if (!status) status = gpuopt__elimination_packed_read(context, &reading, p, &fault);
    return status || !fault ? status : gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, fault);
}

static gpuopt_status gpuopt__elimination_message_inspect(gpuopt_context *context, const char *call,
                                                         gpuopt_memory_space where, const void *bytes, uint64_t size,
                                                         gpuopt_elimination_packed_info *message) {
    gpuopt__elimination_packed p;
    gpuopt_status status = gpuopt__elimination_inspect(context, call, where, bytes, size, &p);
    if (!status) *message = p.info;
    return status;
}

GPUOPT_API gpuopt_status gpuopt_elimination_message_inspect(gpuopt_context *context, gpuopt_memory_space where,
                                                            const void *bytes, uint64_t size,
                                                            gpuopt_elimination_packed_info *message) {
    GPUOPT__CALL_FILLS(context, context, gpuopt_elimination_packed_info, message,
                       gpuopt__elimination_message_inspect(context, call, where, bytes, size, &filled));
}

static gpuopt_status gpuopt__elimination_message_unpack(gpuopt_context *context, const char *call, uint64_t model,
                                                        const void *bytes, uint64_t size, int32_t *scope,
                                                        int32_t *domain, int64_t *cost, double *value,
                                                        uint64_t *count) {
    const unsigned char *from = (const unsigned char *)bytes;
    gpuopt__elimination_packed p;
    gpuopt_status status;
    int64_t k;
    status = gpuopt__elimination_inspect(context, call, GPUOPT_HOST, bytes, size, &p);
    if (status) return status;
    if (p.info.model != model)
        return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "the message is of another model");
    if ((p.info.arity > 0 && (!scope || !domain)) ||
        !(p.info.type == GPUOPT_COST_DOUBLE ? (void *)value : (void *)cost) ||
        (count && p.info.semiring != GPUOPT_SEMIRING_MIN_COUNT))
        return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call,
                              "an array is NULL, or count is given without MIN_COUNT");
    for (k = 0; k < p.info.arity; k++) {
        scope[k] = (int32_t)gpuopt__take_bytes(from + GPUOPT__ELIMINATION_PACKED_HEAD + 4 * k, 4);
        domain[k] = (int32_t)gpuopt__take_bytes(from + GPUOPT__ELIMINATION_PACKED_HEAD + 4 * (p.info.arity + k), 4);
    }
    for (k = 0; k < p.info.entries; k++) {
        if (p.info.type == GPUOPT_COST_DOUBLE) value[k] = gpuopt__elimination_packed_value(&p, k);
        else {
            const int64_t inner = gpuopt__elimination_packed_cost(&p, k);
            cost[k] = p.info.semiring != GPUOPT_SEMIRING_MAX_SUM ? inner : inner == INT64_MAX ? INT64_MIN : -inner;
        }
        if (count) count[k] = gpuopt__elimination_packed_count(&p, k);
    }
    return GPUOPT_OK;
}

GPUOPT_API gpuopt_status gpuopt_elimination_message_unpack(gpuopt_context *context, uint64_t model, const void *bytes,
                                                           uint64_t size, int32_t *scope, int32_t *domain,
                                                           int64_t *cost, double *value, uint64_t *count) {
    GPUOPT__CALL(
        context, context,
        gpuopt__elimination_message_unpack(context, call, model, bytes, size, scope, domain, cost, value, count));
}

#endif /* GPUOPT_IMPL_ELIMINATION_API_MESSAGE_H */
