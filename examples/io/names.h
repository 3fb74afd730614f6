/* SPDX-License-Identifier: MIT
 *
 * Names with numbers, found by hashing.
 */
#ifndef EXAMPLES_IO_NAMES_H
#define EXAMPLES_IO_NAMES_H

#include <stdint.h>

enum { NAMES_TWICE = -1, NAMES_NO_MEMORY = -2 };

/* All zero: empty. */
typedef struct names {
    int32_t count;
    char **name; /* [count]; NULL: taken */
    int64_t capacity;
    int32_t *slot; /* [slots] number + 1; 0: free. A power of two, more than twice the count */
    uint64_t slots;
} names;

/* Returns the new name's number, or the fault. */
int32_t names_add(names *n, const char *name);
/* Returns its number, or -1. */
int32_t names_find(const names *n, const char *name);
/* Gives a name away; it can no longer be found. */
char *names_take(names *n, int32_t number);
void names_free(names *n);

#endif /* EXAMPLES_IO_NAMES_H */
