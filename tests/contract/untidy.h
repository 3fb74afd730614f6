/* SPDX-License-Identifier: MIT
 *
 * Matrices with explicit zeros and duplicates, and their tidied form, found entry by entry.
 */
#ifndef TESTS_CONTRACT_UNTIDY_H
#define TESTS_CONTRACT_UNTIDY_H

#include "tests/support/support.h"

/* Irregularities of the entries of a matrix. */
enum { WITH_ZEROS = 1, WITH_DUPLICATES = 2 };

typedef struct untidy {
    gpuopt_matrix given, tidy;
    int64_t zeros, duplicates;
    char place[96]; /* of the first irregular entry, in the form of the warning */
    void *block[6];
} untidy;

/* A random matrix with about `per_line` entries in each line. Its values are multiples of `grain`. Each line of a
 * square one has a larger entry on the diagonal. */
untidy untidy_draw(int32_t rows, int32_t cols, gpuopt_layout layout, int per_line, int with, double grain,
                   uint64_t seed);
void untidy_free(untidy *u);

#endif /* TESTS_CONTRACT_UNTIDY_H */
