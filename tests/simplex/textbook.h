/* SPDX-License-Identifier: MIT
 *
 * The textbook simplex method for small models, with every number recomputed from the model and the basis in long
 * double. The method plays the caller that drives the library's parts, and is the oracle for their results.
 */
#ifndef TESTS_SIMPLEX_TEXTBOOK_H
#define TESTS_SIMPLEX_TEXTBOOK_H

#include "examples/io/mip.h"

enum { TEXTBOOK_MOST = 60 }; /* rows + cols */

/* All by variable, as gpuopt_simplex_* number them: columns, then the activities of rows; of a minimisation. */
typedef struct textbook {
    int rows, both;
    long double low[TEXTBOOK_MOST], high[TEXTBOOK_MOST], cost[TEXTBOOK_MOST]; /* HUGE_VALL: infinite */
    long double a[TEXTBOOK_MOST][TEXTBOOK_MOST];                              /* [rows][both]: A and -I */
    uint8_t status[TEXTBOOK_MOST];
    /* The basic solution, and reduced costs of the true objective. */
    long double x[TEXTBOOK_MOST], d[TEXTBOOK_MOST];
} textbook;

void textbook_load(textbook *t, const mip *model);
/* At the basis of `status`; 0: singular. */
int textbook_at(textbook *t, const uint8_t *status);
long double textbook_objective(const textbook *t);
int textbook_feasible(const textbook *t);
/* The change of the basic variables for each unit of variable q: 0 for the others. */
void textbook_column(const textbook *t, int q, long double *change);

typedef enum textbook_rule { TEXTBOOK_DANTZIG, TEXTBOOK_BLAND } textbook_rule;

/* From a feasible basis: the entering variable, up or down; -1: none, the basis is optimal. Bland: the lowest index. */
int textbook_enter(const textbook *t, textbook_rule rule, int *direction);
/* The leaving variable (Bland: the lowest index of the first to block; Dantzig: the largest pivot among them); q
 * itself: it reaches its other bound first; -1: none blocks. */
int textbook_leave(const textbook *t, textbook_rule rule, int q, int direction, int *to_upper, long double *step);

#endif /* TESTS_SIMPLEX_TEXTBOOK_H */
