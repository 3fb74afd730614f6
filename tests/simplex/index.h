/* SPDX-License-Identifier: MIT
 *
 * The models of a folder of the shared data, with their answers.
 */
#ifndef TESTS_SIMPLEX_INDEX_H
#define TESTS_SIMPLEX_INDEX_H

#include "gpuopt.h"

typedef struct index_entry {
    char name[64];
    int rows, cols;         /* -1: not in the index */
    gpuopt_outcome outcome; /* OPTIMAL, INFEASIBLE, UNBOUNDED */
    double objective;       /* OPTIMAL */
} index_entry;

/* Reads FOLDER/index.csv; 0 without GPUOPT_TEST_DATA: then prints what is skipped. */
int index_read(const char *folder, index_entry *entry, int most);

#endif /* TESTS_SIMPLEX_INDEX_H */
