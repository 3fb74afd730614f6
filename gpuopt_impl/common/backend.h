/* SPDX-License-Identifier: MIT
 *
 * What every backend provides, and the host's services (log, memory) as all backends use them.
 * Private; the layout may change in any release.
 */
#ifndef GPUOPT_IMPL_BACKEND_H
#define GPUOPT_IMPL_BACKEND_H

#include <stdarg.h>
#include <stdio.h> /* vsnprintf: text for the log hook; nothing here does I/O */
#include <string.h>

#include "../../gpuopt.h"

struct gpuopt_context {
    gpuopt_context_desc desc; /* with the defaults filled in */
    int default_memory;       /* the host gave no hooks: open() of a device backend adds device memory to the default */
    void *state;              /* the backend's own */
};

struct gpuopt_backend {
    const char *name;
    gpuopt_status (*open)(gpuopt_context *);
    void (*close)(gpuopt_context *);
    gpuopt_status (*wait)(gpuopt_context *);
    /* Each is defined in its family's backend.h. */
    const struct gpuopt__propagator_backend *propagator;
    const struct gpuopt__basis_backend *basis;
    const struct gpuopt__simplex_backend *simplex;
    const struct gpuopt__elimination_backend *elimination;
    const struct gpuopt__knapsack_backend *knapsack;
};

#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
static inline void
gpuopt__log(const gpuopt_context *context, int level, const char *format, ...) {
    char message[256];
    va_list arguments;
    if (!context->desc.log) return;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    context->desc.log(context->desc.user, level, message);
}

static inline gpuopt_status gpuopt__allocate(const gpuopt_context *context, gpuopt_memory where, uint64_t bytes,
                                             void **memory) {
    *memory = bytes <= SIZE_MAX ? context->desc.allocate(context->desc.user, where, (size_t)bytes) : NULL;
    if (*memory) return GPUOPT_OK;
    gpuopt__log(context, 0, "no %s memory for %llu bytes", where == GPUOPT_DEVICE ? "device" : "host",
                (unsigned long long)bytes);
    return GPUOPT_ERROR_MEMORY;
}

static inline void gpuopt__release(const gpuopt_context *context, gpuopt_memory where, void *memory) {
    if (memory) context->desc.release(context->desc.user, where, memory);
}

/* A handle is one block of memory cut into arrays. Called with base == NULL it measures; called again with the block,
 * it hands out the same cuts. 256 bytes: what the device's vector loads and copies like. */
typedef struct gpuopt__arena {
    char *base;
    uint64_t used;
} gpuopt__arena;

static inline void *gpuopt__cut(gpuopt__arena *arena, int64_t count, size_t size) {
    uint64_t at = arena->used;
    arena->used += ((uint64_t)count * size + 255) & ~(uint64_t)255;
    return arena->base ? arena->base + at : NULL;
}

/* The pattern of A by columns: the rows of column j are col_row[col_start[j] .. col_start[j + 1] - 1], ascending; from,
 * or NULL: where by rows each of these entries is. */
static inline void gpuopt__transpose(int32_t rows, int32_t cols, const int64_t *start, const int32_t *col,
                                     int64_t *col_start, int32_t *col_row, int64_t *from) {
    int64_t k, sum = 0;
    int32_t i, j;
    memset(col_start, 0, sizeof(int64_t) * ((size_t)cols + 1));
    for (k = 0; k < start[rows]; k++) col_start[col[k]]++;
    for (j = 0; j <= cols; j++) { /* where each column begins; filling moves it to where it ends */
        int64_t count = col_start[j];
        col_start[j] = sum;
        sum += count;
    }
    for (i = 0; i < rows; i++)
        for (k = start[i]; k < start[i + 1]; k++) {
            int64_t at = col_start[col[k]]++;
            col_row[at] = i;
            if (from) from[at] = k;
        }
    for (j = cols; j > 0; j--) col_start[j] = col_start[j - 1];
    col_start[0] = 0;
}

/* Structs that begin with their size, between a host and a library of different versions. In: what the host's struct
 * has not stays as it is in the library's; what the library's has not must be zero. Out: as much as both have. */
static inline int gpuopt__copy_in(void *to, size_t to_size, const void *from, size_t from_size) {
    const unsigned char *byte = (const unsigned char *)from;
    size_t k, head = sizeof(size_t);
    if (from_size < head) return 0;
    for (k = to_size; k < from_size; k++)
        if (byte[k]) return 0;
    memcpy((char *)to + head, byte + head, (from_size < to_size ? from_size : to_size) - head);
    return 1;
}

static inline void gpuopt__copy_out(void *to, size_t to_size, const void *from, size_t from_size) {
    size_t head = sizeof(size_t);
    memcpy((char *)to + head, (const char *)from + head, (from_size < to_size ? from_size : to_size) - head);
}

#endif /* GPUOPT_IMPL_BACKEND_H */
