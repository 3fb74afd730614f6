/* SPDX-License-Identifier: MIT
 *
 * Shared by the libFuzzer targets: the input taken byte by byte, a trap for failed checks, and a context with counted
 * memory.
 */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpuopt.h"

#define REQUIRE(condition)                                                             \
    do {                                                                               \
        if (condition) break;                                                          \
        fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition); \
        __builtin_trap();                                                              \
    } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct fuzz_bytes {
    const uint8_t *data;
    size_t size;
} fuzz_bytes;

/* 0 where nothing is left. */
static inline unsigned fuzz_take(fuzz_bytes *b) { return b->size ? (b->size--, *b->data++) : 0; }
static inline int fuzz_rarely(fuzz_bytes *b) { return fuzz_take(b) % 16 == 15; }

typedef struct fuzz_host {
    uint64_t live; /* bytes */
    uint64_t most; /* in one allocation; 0: no limit */
    long failing;  /* the allocation with this number fails; 0: none */
} fuzz_host;

static inline void *fuzz_allocate(void *user, gpuopt_memory_space where, size_t bytes) {
    fuzz_host *host = (fuzz_host *)user;
    size_t *block = NULL;
    if (where == GPUOPT_HOST && host->failing-- != 1 && (!host->most || bytes <= host->most))
        block = (size_t *)malloc(bytes + 16);
    if (!block) return NULL;
    memset(block, 0xA5, bytes + 16); /* memory that the library leaves unset is not zero */
    host->live += block[0] = bytes;
    return block + 2;
}

static inline void fuzz_release(void *user, gpuopt_memory_space where, void *memory) {
    (void)where;
    ((fuzz_host *)user)->live -= ((size_t *)memory)[-2];
    free((size_t *)memory - 2);
}

static inline gpuopt_context *fuzz_context(fuzz_host *host) {
    gpuopt_context_desc desc;
    gpuopt_context *context;
    gpuopt_desc_init(&desc, sizeof desc);
    desc.user = host;
    desc.allocate = fuzz_allocate;
    desc.release = fuzz_release;
    REQUIRE(gpuopt_context_create(&desc, &context) == GPUOPT_OK);
    return context;
}

/* Everything that lives on it has been destroyed. */
static inline void fuzz_context_end(gpuopt_context *context, const fuzz_host *host) {
    gpuopt_context_destroy(context);
    REQUIRE(host->live == 0);
}

#endif /* TESTS_FUZZ_FUZZ_H */
