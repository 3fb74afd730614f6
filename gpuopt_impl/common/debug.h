/* SPDX-License-Identifier: MIT
 *
 * GPUOPT_DEBUG detects two misuses, by a status and a message: two threads in calls of one context, and handles that
 * outlive their context. entry.h notes here where each public call begins and ends.
 */
#ifndef GPUOPT_IMPL_DEBUG_H
#define GPUOPT_IMPL_DEBUG_H

#include "backend.h"

#ifndef GPUOPT_DEBUG

#define GPUOPT__DEBUG_BYTES 0
#define GPUOPT__DEBUG_BEGIN(context, memory) (void)0
#define GPUOPT__DEBUG_KEEPS(context) 0
#define GPUOPT__DEBUG_LAST_ERROR(context) (context)->last_error

typedef struct gpuopt__debug_scope {
    char unused;
} gpuopt__debug_scope;

#define GPUOPT__DEBUG_ENTERS(scope, context, name, type, place, destroys) \
    ((void)(scope), (void)(context), (void)(name), (void)(type), (void)(place), 1)
#define GPUOPT__DEBUG_LEAVES(scope) (void)(scope)

#else

#if !defined(__GNUC__)
#error "gpuopt: GPUOPT_DEBUG needs gcc or clang"
#endif

enum { GPUOPT__DEBUG_KINDS = 32 };

/* The calls and handles of a context. The thread that has set `call` owns the other members. */
typedef struct gpuopt__debug {
    const char *call;   /* the outermost call in progress; NULL: none */
    const void *thread; /* the thread in that call; other threads only compare it with themselves */
    int depth;          /* nesting of public calls */
    int outlived;       /* gpuopt_context_destroy was called while handles lived */
    struct {
        const char *type;
        long count;
    } alive[GPUOPT__DEBUG_KINDS];
} gpuopt__debug;

/* A public call from its start to its return. */
typedef struct gpuopt__debug_scope {
    gpuopt__debug *debug; /* NULL: refused, or a call without a context */
    const char *type;
    void *place; /* where the call puts a handle of that type; or NULL */
} gpuopt__debug_scope;

#define GPUOPT__DEBUG_BYTES sizeof(gpuopt__debug)
#define GPUOPT__DEBUG_BEGIN(context, memory) \
    (memset(memory, 0, GPUOPT__DEBUG_BYTES), (context)->debug = (gpuopt__debug *)(memory))
#define GPUOPT__DEBUG_KEEPS(context) gpuopt__debug_keeps(context, __func__)
#define GPUOPT__DEBUG_LAST_ERROR(context) gpuopt__debug_last_error(context)
#define GPUOPT__DEBUG_ENTERS(scope, context, name, type, place, destroys) \
    gpuopt__debug_enter(scope, context, name, type, place, destroys)
#define GPUOPT__DEBUG_LEAVES(scope) gpuopt__debug_leave(scope)

/* An address that differs between threads and so identifies the calling thread. */
static inline const void *gpuopt__debug_thread(void) {
    static __thread char here;
    return &here;
}

static inline void gpuopt__debug_count(gpuopt__debug *d, const char *type, long change) {
    int k = 0;
    while (k < GPUOPT__DEBUG_KINDS - 1 && d->alive[k].type && strcmp(d->alive[k].type, type) != 0) k++;
    d->alive[k].type = type;
    d->alive[k].count += change;
}

static inline void gpuopt__debug_leave(const gpuopt__debug_scope *scope) {
    gpuopt__debug *d = scope->debug;
    void *made = NULL;
    if (!d) return;
    if (scope->place) memcpy(&made, scope->place, sizeof made);
    if (made && d->depth == 1) gpuopt__debug_count(d, scope->type, 1);
    if (--d->depth > 0) return;
    __atomic_store_n(&d->thread, NULL, __ATOMIC_RELAXED);
    __atomic_store_n(&d->call, NULL, __ATOMIC_RELEASE);
}

/* Begins a call in a context, or in none; returns whether it may go on. type: of the handle that the call puts at
 * *place, or destroys. */
static inline int gpuopt__debug_enter(gpuopt__debug_scope *scope, gpuopt_context *context, const char *name,
                                      const char *type, void *place, int destroys) {
    gpuopt__debug *d = context ? context->debug : NULL;
    const char *other = NULL;
    scope->debug = d;
    scope->type = type;
    scope->place = place;
    if (!d) return 1;
    if (__atomic_load_n(&d->thread, __ATOMIC_RELAXED) == gpuopt__debug_thread()) {
        d->depth++; /* the library, or a hook, makes another call */
    } else if (__atomic_compare_exchange_n(&d->call, &other, name, 0, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE)) {
        __atomic_store_n(&d->thread, gpuopt__debug_thread(), __ATOMIC_RELAXED);
        d->depth = 1;
        if (d->outlived && !destroys) {
            gpuopt__log(context, 0, "%s: the context was destroyed before its handles", name);
            scope->place = NULL;
            gpuopt__debug_leave(scope);
            scope->debug = NULL;
        } else if (destroys) gpuopt__debug_count(d, type, -1);
    } else { /* the last error belongs to the other thread */
        char message[GPUOPT__MESSAGE];
        snprintf(message, sizeof message, "%s: another thread is in %s of the same context", name, other);
        if (context->desc.log) (context->desc.log)(context->desc.user, 0, message);
        scope->debug = NULL;
    }
    return scope->debug != NULL;
}

/* Whether gpuopt_context_destroy leaves the context as it is, so that calls on its handles can be refused. */
static inline int gpuopt__debug_keeps(gpuopt_context *context, const char *name) {
    gpuopt__debug_scope scope;
    const int entered = gpuopt__debug_enter(&scope, context, name, "", NULL, 0);
    gpuopt__debug *d = scope.debug;
    char text[GPUOPT__MESSAGE / 2] = "";
    size_t length = 0;
    int k;
    if (!entered) return 1;
    for (k = 0; k < GPUOPT__DEBUG_KINDS; k++)
        if (d->alive[k].count > 0 && length < sizeof text)
            length += (size_t)snprintf(text + length, sizeof text - length, "%s%ld %s", length ? ", " : "",
                                       d->alive[k].count, d->alive[k].type);
    if (d->depth > 1) gpuopt__log(context, 0, "%s: it is called within %s", name, d->call);
    else if (length) gpuopt__log(context, 0, "%s: handles outlive their context, which is kept: %s", name, text);
    else return 0;
    if (d->depth == 1) d->outlived = 1;
    gpuopt__debug_leave(&scope);
    return 1;
}

static inline const char *gpuopt__debug_last_error(const gpuopt_context *context) {
    const gpuopt__debug *d = context->debug;
    if (__atomic_load_n(&d->call, __ATOMIC_ACQUIRE) &&
        __atomic_load_n(&d->thread, __ATOMIC_RELAXED) != gpuopt__debug_thread())
        return "another thread is in a call of this context";
    return context->last_error;
}

#endif /* GPUOPT_DEBUG */

#endif /* GPUOPT_IMPL_DEBUG_H */
