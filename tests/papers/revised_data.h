/* SPDX-License-Identifier: MIT
 *
 * The data of the revised simplex method of revised.h, and what it does with columns and the whole inverse. Functions
 * that return an int return 0, or -1 when the solve ends.
 */
#ifndef TESTS_PAPERS_REVISED_DATA_H
#define TESTS_PAPERS_REVISED_DATA_H

#include "tests/papers/revised.h"

/* Of a variable: in the basis, at a bound, or at 0 between infinite ones. */
enum state { BASIC, LOWER, UPPER, FREE };

typedef struct revised {
    const revised_task *task;
    const gpuopt_matrix *a;
    int32_t m, n;
    gpuopt_basis *basis;
    double *block;                       /* of all arrays of doubles: */
    double *val, *row_scale, *col_scale; /* of the scaled matrix; val is the model's if it is dense */
    double *lb, *ub, *cost, *weight, *x; /* [n + m] */
    double *reduced;                     /* [n + m] */
    double *product;                     /* [n]: A'y */
    double *c, *y, *alpha;               /* [m] */
    int32_t *head;                       /* [m] */
    unsigned char *state;                /* [n + m] */
    int64_t *start, capacity;            /* the basis, as a matrix */
    int32_t *row;
    double *entry;
    int phase1, fresh;                 /* fresh: no update since the inverse was computed */
    double begin, first, first_update; /* when it began; of the first iteration and update */
    revised_result result;
} revised;

/* Ends the solve, with a message if it failed: the call's name, and its status, if it has one. Returns -1. */
int revised_end(revised *r, revised_status status, const char *call, gpuopt_status why);
/* Takes memory, scales the model, and makes the first basis. */
int revised_open(revised *r, const revised_task *task);
void revised_close(revised *r);

/* Column j of (A I): returns the number of its entries. `unit` is the row of a unit vector. */
int32_t revised_column(const revised *r, int32_t j, const int32_t **row, const double **val, int32_t *unit);
/* product = A'y, for the columns that are not basic. */
void revised_multiply(revised *r, const double *y);
/* x of the basic variables from the others. */
int revised_find_point(revised *r);
/* Computes the inverse again, and x. */
int revised_load(revised *r);
/* Does that if the inverse has drifted. *loaded: it has. */
int revised_check_drift(revised *r, int *loaded);

#endif /* TESTS_PAPERS_REVISED_DATA_H */
