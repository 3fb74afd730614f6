/* SPDX-License-Identifier: MIT */
#include "examples/io/names.h"

#include <stdlib.h>
#include <string.h>

static uint64_t hash(const char *name) {
    uint64_t h = 0xcbf29ce484222325u;
    for (; *name; name++) h = (h ^ (unsigned char)*name) * 0x100000001b3u;
    return h ^ h >> 29;
}

/* The slot of a name, or the free slot for it. */
static uint64_t place(const names *n, const char *name) {
    uint64_t at = hash(name) & (n->slots - 1);
    while (n->slot[at] && strcmp(n->name[n->slot[at] - 1], name) != 0) at = (at + 1) & (n->slots - 1);
    return at;
}

static int grow(names *n) {
    int64_t capacity = 2 * n->capacity + 512;
    uint64_t slots = 1024;
    char **name = realloc(n->name, sizeof *name * (size_t)capacity);
    int32_t *slot, k;
    if (!name) return -1;
    n->name = name;
    while (slots < 2 * (uint64_t)capacity) slots *= 2;
    slot = calloc(slots, sizeof *slot);
    if (!slot) return -1;
    free(n->slot);
    n->slot = slot;
    n->slots = slots;
    n->capacity = capacity;
    for (k = 0; k < n->count; k++) slot[place(n, n->name[k])] = k + 1;
    return 0;
}

int32_t names_add(names *n, const char *name) {
    size_t length = strlen(name);
    uint64_t at;
    if ((n->count == n->capacity && grow(n)) || n->count >= INT32_MAX - 64) return NAMES_NO_MEMORY;
    at = place(n, name);
    if (n->slot[at]) return NAMES_TWICE;
    n->name[n->count] = malloc(length + 1);
    if (!n->name[n->count]) return NAMES_NO_MEMORY;
    memcpy(n->name[n->count], name, length + 1);
    n->slot[at] = ++n->count;
    return n->count - 1;
}

int32_t names_find(const names *n, const char *name) { return n->slots ? n->slot[place(n, name)] - 1 : -1; }

char *names_take(names *n, int32_t number) {
    char *name = n->name[number];
    n->name[number] = NULL;
    return name;
}

void names_free(names *n) {
    int32_t k;
    for (k = 0; k < n->count; k++) free(n->name[k]);
    free(n->name);
    free(n->slot);
    memset(n, 0, sizeof *n);
}
