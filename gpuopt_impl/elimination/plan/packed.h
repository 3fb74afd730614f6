/* SPDX-License-Identifier: MIT
 *
 * Elimination: packed messages in either memory, and as functions of a model. A message in device memory is never
 * copied to host memory. The backend reads its costs in place, once for their checksum and range, and again to load
 * them.
 */
#ifndef GPUOPT_IMPL_ELIMINATION_PLAN_PACKED_H
#define GPUOPT_IMPL_ELIMINATION_PLAN_PACKED_H

#include "../backend.h"
#include "../base/scratch.h"
#include "../../common/checks.h"

/* Marks a function as a message, in `tuples` of the library's own copy of a descriptor. `tuple` then points to a
 * gpuopt__elimination_packed, its costs are NULL, and count is not NULL if the message has counts. */
enum { GPUOPT__ELIMINATION_IS_PACKED = -2 };

static const gpuopt__elimination_packed *gpuopt__elimination_packed_of(const gpuopt_elimination_function *f) {
    return f->tuples == GPUOPT__ELIMINATION_IS_PACKED ? (const gpuopt__elimination_packed *)(const void *)f->tuple
                                                      : NULL;
}

/* Whether a function has a table, not a list: tuples is negative, or 0 with costs but no tuple. */
static inline int gpuopt__elimination_is_dense(const gpuopt_elimination_function *f) {
    return f->tuples < 0 || (f->tuples == 0 && !f->tuple && (f->cost || f->value));
}

/* ---- Reading ---- */

/* The message to read, and its purpose. */
typedef struct gpuopt__elimination_reading {
    gpuopt_memory_space where;
    const void *bytes;
    uint64_t size;
    const gpuopt_elimination_desc *model; /* the receiving model; NULL: none yet, so its costs are not read */
    int32_t arity;                        /* with a model: length of `scope` */
    const int32_t *scope;
} gpuopt__elimination_reading;

/* Whether a message fits the receiving model. head: of the message, with its scope. */
static const char *gpuopt__elimination_packed_misfit(const gpuopt__elimination_reading *r, const unsigned char *head,
                                                     const gpuopt__elimination_packed *p) {
    const gpuopt_elimination_desc *d = r->model;
    int32_t k;
    if (p->info.type != d->type || p->info.semiring != d->semiring) return "it has another type or semiring";
    if (p->info.model != d->messages->model) return "it is of another model";
    if (p->info.arity != r->arity) return "it has another arity";
    for (k = 0; k < r->arity; k++)
        if (gpuopt__take_bytes(head + GPUOPT__ELIMINATION_PACKED_HEAD + 4 * ((int64_t)r->arity + k), 4) !=
            (uint64_t)d->domain[r->scope[k]])
            return "its domain sizes are not those of the variables";
    return NULL;
}

/* The checks of a message after its head, with the scope, is in host memory. */
static gpuopt_status gpuopt__elimination_packed_check(gpuopt_context *context, const gpuopt__elimination_reading *r,
                                                      const unsigned char *head, gpuopt__elimination_packed *p,
                                                      const char **fault) {
    const gpuopt_elimination_semiring semiring = r->model ? r->model->semiring : p->info.semiring;
    const int64_t top = r->model ? r->model->top : 0;
    gpuopt_status status = GPUOPT_OK;
    p->limit = p->forbidden;
    if (top > 0 && p->offset >= top) p->limit = 0;
    else if (top > 0 && p->limit > (uint64_t)top - (uint64_t)p->offset) p->limit = (uint64_t)top - (uint64_t)p->offset;
    if (r->where == GPUOPT_HOST) gpuopt__elimination_packed_scan(p, semiring, r->model != NULL, &p->scan);
    else status = context->desc.backend->elimination->scan(context, p, semiring, r->model != NULL, &p->scan);
    if (status) return status;
    *fault = gpuopt__elimination_packed_rest(p, gpuopt__take_bytes(head + GPUOPT__ELIMINATION_PACKED_CHECKSUM, 8));
    if (!*fault && r->model) *fault = gpuopt__elimination_packed_misfit(r, head, p);
    return GPUOPT_OK;
}

/* Reads and checks a message. *fault: its fault, or NULL. */
static gpuopt_status gpuopt__elimination_packed_read(gpuopt_context *context, const gpuopt__elimination_reading *r,
                                                     gpuopt__elimination_packed *p, const char **fault) {
    const unsigned char *head = (const unsigned char *)r->bytes; /* later with the scope, in host memory */
    unsigned char first[GPUOPT__ELIMINATION_PACKED_HEAD];
    void *buffer = NULL;
    gpuopt_status status = GPUOPT_OK;
    memset(p, 0, sizeof *p);
    p->bytes = head;
    p->where = r->where;
    *fault = !head                                                    ? "bytes is NULL"
             : r->where == GPUOPT_DEVICE && ((uintptr_t)r->bytes & 7) ? "the message is not at a multiple of 8 bytes"
             : r->size < sizeof first                                 ? "the message is cut short"
                                                                      : NULL;
    if (*fault) return GPUOPT_OK;
    if (r->where == GPUOPT_DEVICE) {
        status = context->desc.backend->copy(context, first, r->bytes, sizeof first);
        if (status) return status;
        head = first;
    }
    *fault = gpuopt__elimination_packed_head(head, r->size, p);
    if (*fault) return GPUOPT_OK;
    if (r->where == GPUOPT_DEVICE) {
        status = gpuopt__allocate(context, GPUOPT_HOST, p->parts.cost, &buffer);
        if (!status) status = context->desc.backend->copy(context, buffer, r->bytes, p->parts.cost);
        head = (const unsigned char *)buffer;
    }
    if (!status) *fault = gpuopt__elimination_packed_scope(head, r->size, p);
    if (!status && !*fault) status = gpuopt__elimination_packed_check(context, r, head, p, fault);
    gpuopt__release(context, GPUOPT_HOST, buffer);
    return status;
}

/* ---- Functions ---- */

/* Checks a descriptor's messages as far as possible without reading them. */
static const char *gpuopt__elimination_messages_fault(const gpuopt_elimination_desc *d) {
    const gpuopt_elimination_messages *m = d->messages;
    return m->count > 0 && !m->packed                ? "desc->messages->packed is NULL"
           : m->count > INT32_MAX / 4 - d->functions ? "there are too many functions and messages together"
           : m->count > 0 && !m->model               ? "messages need the number that they carry, desc->messages->model"
                                                     : NULL;
}

/* Reads all messages of a descriptor and makes functions of them. Messages in host memory come first; messages in
 * device memory are loaded after all other functions. function [functions + messages] and packed [messages] receive
 * them. */
static gpuopt_status gpuopt__elimination_take_messages(gpuopt_context *context, const char *call,
                                                       gpuopt_elimination_desc *d,
                                                       gpuopt_elimination_function *function,
                                                       gpuopt__elimination_packed *packed) {
    gpuopt_status status = GPUOPT_OK;
    int32_t pass, k, variable, taken = 0;
    const char *fault = NULL;
    if (d->functions) memcpy(function, d->function, sizeof *function * (size_t)d->functions);
    for (pass = 0; pass < 2; pass++)
        for (k = 0; k < d->messages->count && !status; k++) {
            const gpuopt_elimination_packed *m = &d->messages->packed[k];
            const gpuopt__elimination_reading reading = {m->where, m->bytes, m->size, d, m->arity, m->scope};
            gpuopt_elimination_function *f = &function[d->functions + taken];
            if (pass == 0) status = gpuopt__check_where(context, call, m->where);
            if (status || (m->where == GPUOPT_DEVICE) != pass) continue;
            fault = m->arity < 0 || m->arity > d->variables ? "arity is out of range"
                    : m->arity > 0 && !m->scope             ? "scope is NULL"
                                                            : NULL;
            for (variable = 0; variable < m->arity && !fault; variable++)
                if (m->scope[variable] < 0 || m->scope[variable] >= d->variables)
                    fault = "the scope has an entry that is not a variable";
            if (!fault) status = gpuopt__elimination_packed_read(context, &reading, &packed[taken], &fault);
            if (fault) {
                gpuopt__log(context, 0, "%s: message %d: %s", call, (int)k, fault);
                status = GPUOPT_ERROR_ARGUMENT;
            }
            memset(f, 0, sizeof *f);
            f->arity = m->arity;
            f->scope = m->scope;
            f->tuples = GPUOPT__ELIMINATION_IS_PACKED;
            f->tuple = (const int32_t *)(const void *)&packed[taken];
            if (d->semiring == GPUOPT_SEMIRING_MIN_COUNT) f->count = (const uint64_t *)(const void *)&packed[taken];
            taken++;
        }
    if (status) return status;
    d->function = function;
    d->functions += d->messages->count;
    return GPUOPT_OK;
}

/* ---- Entries of a message in host memory ---- */

/* An entry as an addend; INT64_MAX: forbidden. */
static int64_t gpuopt__elimination_packed_cost(const gpuopt__elimination_packed *p, int64_t entry) {
    const int32_t width = p->info.bits / 8;
    const uint64_t stored = gpuopt__take_bytes(p->bytes + p->parts.cost + entry * width, width);
    return stored >= p->limit ? INT64_MAX : (int64_t)((uint64_t)p->offset + stored);
}

/* The same for DOUBLE, in the caller's form. */
static double gpuopt__elimination_packed_value(const gpuopt__elimination_packed *p, int64_t entry) {
    const uint64_t bits = gpuopt__elimination_take_word(p->bytes + p->parts.cost + 8 * entry);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint64_t gpuopt__elimination_packed_count(const gpuopt__elimination_packed *p, int64_t entry) {
    return gpuopt__elimination_take_word(p->bytes + p->parts.count + 8 * entry);
}

#endif /* GPUOPT_IMPL_ELIMINATION_PLAN_PACKED_H */
