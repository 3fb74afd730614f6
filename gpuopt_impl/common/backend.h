/* SPDX-License-Identifier: MIT
 *
 * The functions that a backend provides, and the caller's services (log, stop, memory) for all families and backends.
 * Private; the layout may change in any release.
 *
 * Other files of common/:
 *   entry.h, debug.h           how every call begins and ends
 *   checks.h, matrix.h         checks of the arguments of public calls
 *   context.h                  the calls on contexts
 *   numerics.h                 arithmetic that gives the same bits in C and in CUDA
 *   environment.h, selftest.h  the conditions under which numerics.h does so
 *   table.h                    fills a table of functions by name
 *   items.h                    divides a batch among threads
 *   bytes.h                    packs numbers
 *   deferred.h                 keeps a matrix as M + U V
 */
#ifndef GPUOPT_IMPL_BACKEND_H
#define GPUOPT_IMPL_BACKEND_H

#include <stdarg.h>
#include <stdio.h> /* vsnprintf: text for the log hook; nothing here does I/O */
#include <string.h>

#include "api.h"
#include "environment.h"

/* Hints for the compiler: prefetch an address for writing; inline a function into its caller. */
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

enum { GPUOPT__MESSAGE = 1024 }; /* bytes of a log message with its terminating 0 */

struct gpuopt_context {
    gpuopt_context_desc desc; /* with the defaults filled in */
    char *last_error;         /* [GPUOPT__MESSAGE], behind the context; NULL during creation */
    long process;             /* the process that made the context, see gpuopt__team */
    int default_memory; /* the caller gave no hooks, so a backend with a device sets its own allocator in open() */
    void *memory_user;  /* passed to allocate and release: desc.user, or the data of the backend's allocator */
    void *state;        /* the backend's data */
#ifdef GPUOPT_DEBUG
    struct gpuopt__debug *debug; /* see debug.h; the last member, because objects without GPUOPT_DEBUG lack it */
#endif
};

struct gpuopt_backend {
    const char *name;
    gpuopt_status (*open)(gpuopt_context *);
    void (*close)(gpuopt_context *);
    gpuopt_status (*wait)(gpuopt_context *);
    /* Copy between host and device memory in the order of the stream, and wait. NULL: there is no device memory. */
    gpuopt_status (*copy)(gpuopt_context *, void *to, const void *from, uint64_t bytes);
    /* Each family's backend.h defines its table; NULL in a build without that family. */
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

/* How many of `threads` threads a parallel loop may use: one in a process that was forked after the context was made.
 * That process lacks the threads of the runtime's pool, and GNU's runtime would wait for them forever. */
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

/* A handle's memory consists of a few blocks. One function cuts each block into arrays and runs twice: with base ==
 * NULL it only measures, with the block as base it hands out the arrays. Arrays begin at multiples of 256 bytes, as
 * cudaMalloc's do. */
typedef struct gpuopt__arena {
    char *base;
    uint64_t used;
} gpuopt__arena;

static inline void *gpuopt__cut(gpuopt__arena *arena, int64_t count, size_t size) {
    uint64_t at = arena->used;
    arena->used += ((uint64_t)count * size + 255) & ~(uint64_t)255;
#ifdef GPUOPT__CUT_GAP /* tests/emulated forbids access to the gap between two arrays */
    if (arena->base)
        GPUOPT__CUT_GAP(arena->base + at, arena->base + at + (uint64_t)count * size, arena->base + arena->used);
#endif
    return arena->base ? arena->base + at : NULL;
}

/* Allocates a block of the size that the arena has measured, and prepares the arena to cut it. */
static inline gpuopt_status gpuopt__take_block(const gpuopt_context *context, gpuopt_memory_space where,
                                               gpuopt__arena *arena) {
    void *memory;
    gpuopt_status status = gpuopt__allocate(context, where, arena->used, &memory);
    arena->base = (char *)memory;
    arena->used = 0;
    return status;
}

/* Copies a struct that begins with its size from a library of one version to a program of another, or back: all members
 * that both versions have, except struct_size. GPUOPT__HAS_SIZE has checked the caller's size. */
static inline void gpuopt__copy_out(void *to, size_t to_size, const void *from, size_t from_size) {
    size_t head = sizeof(size_t);
    memcpy((char *)to + head, (const char *)from + head, (from_size < to_size ? from_size : to_size) - head);
}

#endif /* GPUOPT_IMPL_BACKEND_H */
