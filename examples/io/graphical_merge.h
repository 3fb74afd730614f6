/* SPDX-License-Identifier: MIT
 *
 * Lists of tuples over large domains, such as two tuples over 30000 times 30000 values. The written-out form is a
 * table, so the values that no tuple has are merged. These differ only in the costs of functions of one variable; the
 * cheapest of them represents all.
 */
#ifndef EXAMPLES_IO_GRAPHICAL_MERGE_H
#define EXAMPLES_IO_GRAPHICAL_MERGE_H

#include "examples/io/graphical.h"

/* All zero: nothing is merged. */
typedef struct graphical_merge {
    graphical_model model; /* with the same variables, and fewer values */
    int64_t *first;        /* [variables + 1] of the values below; a variable without any there keeps all */
    int32_t *kept;         /* ascending for each variable; counts [..]: how many least values each stands for */
    uint64_t *counts;
} graphical_merge;

/* Merges values if the table of a list of an INT64 model has more than 2^20 entries and some can be merged. fixed
 * [variables]: values that stay apart, or -1; NULL: none. With `counting` the model stores how many values of the file
 * each of its values represents, as MIN_COUNT needs them. Returns 1, 0: nothing is merged, or -1: out of memory. Call
 * graphical_merge_free() in any case. */
int graphical_merge_values(const graphical_model *model, const int32_t *fixed, int counting, graphical_merge *merge);
void graphical_merge_free(graphical_merge *merge);

/* The merged model's value for a kept value of the file; and the values [variables] of the file for the merged model's,
 * in place. Without a merge they stay unchanged. */
int32_t graphical_merge_find(const graphical_merge *merge, int32_t variable, int32_t value);
void graphical_merge_expand(const graphical_merge *merge, int32_t *value);

#endif /* EXAMPLES_IO_GRAPHICAL_MERGE_H */
