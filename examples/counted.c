/* SPDX-License-Identifier: MIT */
#include "examples/counted.h"

#include <stdlib.h>
#include <string.h>
#ifdef EXAMPLE_WITH_CUDA
#include <cuda_runtime_api.h>
#endif

struct counted_block {
    void *memory;
    size_t bytes;
};

enum { HEADER = 64 }; /* in front of each block of host memory, for its size; keeps its alignment */

static void *device_allocate(counter *c, size_t bytes) {
    void *memory = NULL;
#ifdef EXAMPLE_WITH_CUDA
    if (c->blocks == c->capacity) {
        counted_block *more = realloc(c->device, sizeof *more * (size_t)(2 * c->capacity + 16));
        if (!more) return NULL;
        c->device = more;
        c->capacity = 2 * c->capacity + 16;
    }
    if (cudaMalloc(&memory, bytes)) {
        cudaGetLastError(); /* clears the error, so that the next call does not report it */
        return NULL;
    }
    c->device[c->blocks].memory = memory;
    c->device[c->blocks++].bytes = bytes;
#else
    (void)c;
    (void)bytes;
#endif
    return memory;
}

static size_t device_release(counter *c, void *memory) {
    int64_t k = 0;
    size_t bytes;
    while (c->device[k].memory != memory) k++;
    bytes = c->device[k].bytes;
    c->device[k] = c->device[--c->blocks];
#ifdef EXAMPLE_WITH_CUDA
    cudaFree(memory);
#endif
    return bytes;
}

static void *allocate(void *user, gpuopt_memory_space where, size_t bytes) {
    counter *c = user;
    char *memory = where == GPUOPT_DEVICE   ? device_allocate(c, bytes)
                   : bytes + HEADER > bytes ? malloc(bytes + HEADER)
                                            : NULL;
    if (!memory) return NULL;
    if (where == GPUOPT_HOST) {
        memcpy(memory, &bytes, sizeof bytes);
        memory += HEADER;
    }
    c->now[where] += bytes;
    if (c->now[where] > c->peak[where]) c->peak[where] = c->now[where];
    return memory;
}

static void release(void *user, gpuopt_memory_space where, void *memory) {
    counter *c = user;
    size_t bytes;
    if (!memory) return;
    if (where == GPUOPT_HOST) {
        memory = (char *)memory - HEADER;
        memcpy(&bytes, memory, sizeof bytes);
        free(memory);
    } else {
        bytes = device_release(c, memory);
    }
    c->now[where] -= bytes;
}

static void log_message(void *user, int level, const char *message) {
    const counter *c = user;
    write_log(&c->printer, level, message);
}

static double clock_of_caller(void *user) {
    (void)user;
    return now();
}

gpuopt_status open_counted_context(const char *wanted, int threads, counter *c, gpuopt_context **context,
                                   const char **backend) {
    gpuopt_context_desc desc;
    /* Finds out which backend is available, and prints why the requested one cannot be used. */
    gpuopt_status status = open_context(wanted, 1, threads, &c->printer, context, backend);
    if (status) return status;
    gpuopt_context_destroy(*context);
    *context = NULL;
    gpuopt_desc_init(&desc, sizeof desc);
#ifdef EXAMPLE_WITH_CUDA
    if (strcmp(*backend, "cuda") == 0) desc.backend = gpuopt_backend_cuda();
#endif
    desc.threads = threads;
    desc.user = c;
    desc.allocate = allocate;
    desc.release = release;
    desc.log = log_message;
    desc.stop = interrupted;
    desc.seconds = clock_of_caller;
    c->printer.quiet = 1; /* everything has been printed already */
    status = gpuopt_context_create(&desc, context);
    c->printer.quiet = 0;
    return status;
}

void close_counted_context(counter *c, gpuopt_context *context) {
    gpuopt_context_destroy(context);
    free(c->device);
    c->device = NULL;
    c->blocks = c->capacity = 0;
}

void count_from_now(counter *c) {
    memcpy(c->base, c->now, sizeof c->base);
    memcpy(c->peak, c->now, sizeof c->peak);
}

uint64_t counted_peak(const counter *c, gpuopt_memory_space where) { return c->peak[where] - c->base[where]; }
