/* SPDX-License-Identifier: MIT
 *
 * Elimination: counted host memory that is held only while a plan is made: arrays that grow, and a sort that allocates
 * nothing.
 */
#ifndef GPUOPT_IMPL_ELIMINATION_BASE_SCRATCH_H
#define GPUOPT_IMPL_ELIMINATION_BASE_SCRATCH_H

#include "../../common/backend.h"

typedef struct gpuopt__elimination_scratch {
    const gpuopt_context *context;
    uint64_t bytes, most; /* now, and at most so far */
    gpuopt_status status; /* the first failure; after it nothing is added */
} gpuopt__elimination_scratch;

/* Zero bytes count as one, so that NULL always means a failure. */
static uint64_t gpuopt__elimination_scratch_size(uint64_t bytes) { return bytes ? bytes : 1; }

static void *gpuopt__elimination_scratch_take(gpuopt__elimination_scratch *scratch, uint64_t bytes) {
    void *memory = NULL;
    if (scratch->status) return NULL;
    scratch->status = gpuopt__allocate(scratch->context, GPUOPT_HOST, gpuopt__elimination_scratch_size(bytes), &memory);
    if (scratch->status) return NULL;
    scratch->bytes += gpuopt__elimination_scratch_size(bytes);
    if (scratch->bytes > scratch->most) scratch->most = scratch->bytes;
    return memory;
}

/* Allocates a block of the size that the arena has measured, and prepares the arena to cut it. */
static void *gpuopt__elimination_scratch_block(gpuopt__elimination_scratch *scratch, gpuopt__arena *arena) {
    arena->base = (char *)gpuopt__elimination_scratch_take(scratch, arena->used);
    arena->used = 0;
    return arena->base;
}

static void gpuopt__elimination_scratch_give(gpuopt__elimination_scratch *scratch, void *memory, uint64_t bytes) {
    if (!memory) return;
    gpuopt__release(scratch->context, GPUOPT_HOST, memory);
    scratch->bytes -= gpuopt__elimination_scratch_size(bytes);
}

/* An array that grows. */
typedef struct gpuopt__elimination_list {
    void *data;
    int64_t count, capacity;
    size_t size; /* of an element */
} gpuopt__elimination_list;

/* Appends `count` zero elements; may move the array. Returns NULL if there is no memory: see the status of the
 * scratch. */
static void *gpuopt__elimination_list_add(gpuopt__elimination_scratch *scratch, gpuopt__elimination_list *list,
                                          int64_t count) {
    char *added;
    if (!list->data || list->count + count > list->capacity) {
        int64_t capacity = list->capacity * 2 > list->count + count ? list->capacity * 2 : list->count + count + 16;
        void *data = gpuopt__elimination_scratch_take(scratch, (uint64_t)capacity * list->size);
        if (!data) return NULL;
        if (list->count) memcpy(data, list->data, (size_t)list->count * list->size);
        gpuopt__elimination_scratch_give(scratch, list->data, (uint64_t)list->capacity * list->size);
        list->data = data;
        list->capacity = capacity;
    }
    if (scratch->status) return NULL;
    added = (char *)list->data + (size_t)list->count * list->size;
    memset(added, 0, (size_t)count * list->size);
    list->count += count;
    return added;
}

static void gpuopt__elimination_list_free(gpuopt__elimination_scratch *scratch, gpuopt__elimination_list *list) {
    gpuopt__elimination_scratch_give(scratch, list->data, (uint64_t)list->capacity * list->size);
    list->data = NULL;
    list->count = list->capacity = 0;
}

/* Heap sort, because qsort of libc may allocate. `compare` is as for qsort; no two elements are equal. */
static void gpuopt__elimination_sift_down(char *data, int64_t at, int64_t count, size_t size,
                                          int (*compare)(const void *, const void *)) {
    for (;;) {
        int64_t child = 2 * at + 1;
        size_t k;
        if (child >= count) return;
        if (child + 1 < count && compare(data + (size_t)child * size, data + (size_t)(child + 1) * size) < 0) child++;
        if (compare(data + (size_t)at * size, data + (size_t)child * size) >= 0) return;
        for (k = 0; k < size; k++) {
            char byte = data[(size_t)at * size + k];
            data[(size_t)at * size + k] = data[(size_t)child * size + k];
            data[(size_t)child * size + k] = byte;
        }
        at = child;
    }
}

static void gpuopt__elimination_sort(void *array, int64_t count, size_t size,
                                     int (*compare)(const void *, const void *)) {
    char *data = (char *)array;
    int64_t at;
    size_t k;
    for (at = count / 2 - 1; at >= 0; at--) gpuopt__elimination_sift_down(data, at, count, size, compare);
    for (at = count - 1; at > 0; at--) {
        for (k = 0; k < size; k++) {
            char byte = data[k];
            data[k] = data[(size_t)at * size + k];
            data[(size_t)at * size + k] = byte;
        }
        gpuopt__elimination_sift_down(data, 0, at, size, compare);
    }
}

#endif /* GPUOPT_IMPL_ELIMINATION_BASE_SCRATCH_H */
