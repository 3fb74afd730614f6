/* SPDX-License-Identifier: MIT
 *
 * The frame: what a backend provides, and the services (log, stop, memory) that the calling program offers, as all
 * families and backends use them. Private; the layout may change in any release.
 *
 * The rest of common/: debug.h is how every call begins; checks.h and matrix.h check what the public calls are given;
 * context.h has the calls on contexts; numerics.h has arithmetic that gives the same bits in C and in CUDA,
 * environment.h and selftest.h see to it that it does; items.h divides a batch among threads; bytes.h packs numbers;
 * deferred.h keeps a matrix as M + U V.
 */
#ifndef GPUOPT_IMPL_BACKEND_H
#define GPUOPT_IMPL_BACKEND_H

#include <stdarg.h>
#include <stdio.h> /* vsnprintf: text for the log hook; nothing here does I/O */
#include <string.h>

#include "api.h"
#include "environment.h"

/* Hints for the compiler: an address that will soon be written; a function that is to be part of its caller. */
#if defined(__GNUC__)
#define GPUOPT__PREFETCH(address) __builtin_prefetch(address, 1)
#define GPUOPT__INLINE static inline __attribute__((always_inline))
#else
#define GPUOPT__PREFETCH(address) ((void)0)
#define GPUOPT__INLINE static inline
#endif

/* Threads need OpenMP 3.1, for reductions by minimum and maximum and for atomic reads, and the atomic functions of gcc
 * and clang. MSVC's /openmp is OpenMP 2.0 and has no such functions: there is one thread, as without OpenMP. */
#if defined(_OPENMP) && _OPENMP >= 201107 && (defined(__GNUC__) || defined(__clang__))
#define GPUOPT__OPENMP
#endif
#if defined(GPUOPT__OPENMP) && (defined(__unix__) || defined(__APPLE__))
#include <unistd.h>
#define GPUOPT__PROCESS() ((long)getpid())
#else
#define GPUOPT__PROCESS() 0L
#endif

enum { GPUOPT__MESSAGE = 1024 }; /* bytes of a log message, its end included */

struct gpuopt_context {
    gpuopt_context_desc desc; /* with the defaults filled in */
    char *last_error;         /* [GPUOPT__MESSAGE], behind the context; NULL while it is made */
    long process;             /* in which the context was made, see gpuopt__team */
    int default_memory; /* the caller gave no hooks; a backend with a device then brings its own allocator in open() */
    void *memory_user;  /* passed to allocate and release: desc.user, or what that allocator needs */
    void *state;        /* the backend's own */
#ifdef GPUOPT_DEBUG
    struct gpuopt__debug *debug; /* see debug.h; at the end, where objects without GPUOPT_DEBUG have nothing */
#endif
};

struct gpuopt_backend {
    const char *name;
    gpuopt_status (*open)(gpuopt_context *);
    void (*close)(gpuopt_context *);
    gpuopt_status (*wait)(gpuopt_context *);
    /* Copies between host and device memory in the stream's order, and waits. NULL: there is no device memory. */
    gpuopt_status (*copy)(gpuopt_context *, void *to, const void *from, uint64_t bytes);
    /* Each is defined in its family's backend.h; NULL in a build that leaves the family out. */
    const struct gpuopt__propagator_backend *propagator;
    const struct gpuopt__basis_backend *basis;
    const struct gpuopt__simplex_backend *simplex;
    const struct gpuopt__elimination_backend *elimination;
    const struct gpuopt__knapsack_backend *knapsack;
};

/* What libgpuopt_cuda.so exports as gpuopt__cuda_exports, for gpuopt_backend_cuda_load. The version is the first member
 * in every version; the others are read only if it is that of the caller. */
struct gpuopt__cuda_exports {
    int version; /* GPUOPT_VERSION_NUMBER */
    int layout;  /* GPUOPT__LAYOUT */
    const gpuopt_backend *(*backend)(void);
    const char *(*fault)(void); /* returns why no context can be created on this machine, as a static text, or NULL */
};

/* Differs where the two sides of the backend interface were not compiled from the same sources for the same machine. */
#define GPUOPT__LAYOUT ((int)(sizeof(struct gpuopt_backend) * 4096 + offsetof(struct gpuopt_context, state)))

#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
static inline void
gpuopt__log(const gpuopt_context *context, int level, const char *format, ...) {
    char message[GPUOPT__MESSAGE];
    va_list arguments;
    if (level > 0 && !context->desc.log) return;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    if (level == 0 && context->last_error) memcpy(context->last_error, message, strlen(message) + 1);
    if (context->desc.log)
        (context->desc.log)(context->desc.user, level, message); /* log( may be a macro of <tgmath.h> */
}

/* How many threads a parallel loop may have, of `threads`: one in a process that was forked after the context was made.
 * The threads of the runtime's pool are not in that process, and GNU's runtime would wait for them forever. */
static inline int gpuopt__team(const gpuopt_context *context, int threads) {
    return threads > 1 && context->process != GPUOPT__PROCESS() ? 1 : threads;
}

/* Whether the caller wants a long call to stop here. */
static inline int gpuopt__asked_to_stop(const gpuopt_context *context) {
    return context->desc.stop && context->desc.stop(context->desc.user);
}

/* Memory that a call can do without: NULL is no error. */
static inline void *gpuopt__try_allocate(const gpuopt_context *context, gpuopt_memory_space where, uint64_t bytes) {
    return bytes <= SIZE_MAX ? context->desc.allocate(context->memory_user, where, (size_t)bytes) : NULL;
}

static inline gpuopt_status gpuopt__allocate(const gpuopt_context *context, gpuopt_memory_space where, uint64_t bytes,
                                             void **memory) {
    *memory = gpuopt__try_allocate(context, where, bytes);
    if (*memory) return GPUOPT_OK;
    gpuopt__log(context, 0, "no %s memory for %llu bytes", where == GPUOPT_DEVICE ? "device" : "host",
                (unsigned long long)bytes);
    return GPUOPT_ERROR_MEMORY;
}

static inline void gpuopt__release(const gpuopt_context *context, gpuopt_memory_space where, void *memory) {
    if (memory) context->desc.release(context->memory_user, where, memory);
}

/* A handle's memory is a few blocks, each cut into arrays by one function that runs twice: with base == NULL it only
 * measures, with the block as base it hands out the arrays. Arrays begin at multiples of 256 bytes, as cudaMalloc's do.
 */
typedef struct gpuopt__arena {
    char *base;
    uint64_t used;
} gpuopt__arena;

static inline void *gpuopt__cut(gpuopt__arena *arena, int64_t count, size_t size) {
    uint64_t at = arena->used;
    arena->used += ((uint64_t)count * size + 255) & ~(uint64_t)255;
#ifdef GPUOPT__CUT_GAP /* of tests/emulated: what lies between two arrays must not be touched */
    if (arena->base)
        GPUOPT__CUT_GAP(arena->base + at, arena->base + at + (uint64_t)count * size, arena->base + arena->used);
#endif
    return arena->base ? arena->base + at : NULL;
}

/* Takes a block of what the arena has measured, which it is to hand out now. */
static inline gpuopt_status gpuopt__take_block(const gpuopt_context *context, gpuopt_memory_space where,
                                               gpuopt__arena *arena) {
    void *memory;
    gpuopt_status status = gpuopt__allocate(context, where, arena->used, &memory);
    arena->base = (char *)memory;
    arena->used = 0;
    return status;
}

/* Copies a struct that begins with its size between a program and a library of different versions, either way: the
 * members that both know, except struct_size. GPUOPT__HAS_SIZE has checked the caller's. */
static inline void gpuopt__copy_out(void *to, size_t to_size, const void *from, size_t from_size) {
    size_t head = sizeof(size_t);
    memcpy((char *)to + head, (const char *)from + head, (from_size < to_size ? from_size : to_size) - head);
}

#endif /* GPUOPT_IMPL_BACKEND_H */
