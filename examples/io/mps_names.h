/* SPDX-License-Identifier: MIT
 *
 * Names with numbers, found by hashing.
 */
#ifndef EXAMPLES_IO_MPS_NAMES_H
#define EXAMPLES_IO_MPS_NAMES_H

#include <stdint.h>

enum { MPS_NAMES_TWICE = -1, MPS_NAMES_NO_MEMORY = -2 };

/* All zero: empty. */
typedef struct mps_names {
    int32_t count;
    char **name; /* [count]; NULL: taken */
    int64_t room;
    int32_t *slot; /* [slots] number + 1; 0: free. A power of two, more than twice the count */
    uint64_t slots;
} mps_names;

/* Returns the new name's number, or what is wrong. */
int32_t mps_names_add(mps_names *n, const char *name);
/* Returns its number, or -1. */
int32_t mps_names_find(const mps_names *n, const char *name);
/* Gives a name away; it can no longer be found. */
char *mps_names_take(mps_names *n, int32_t number);
void mps_names_free(mps_names *n);

#endif /* EXAMPLES_IO_MPS_NAMES_H */
