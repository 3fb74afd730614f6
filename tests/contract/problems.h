/* SPDX-License-Identifier: MIT
 *
 * Problems of all families in sizes that use the GPU, with answers that need no solver. Only for the knapsack, dynamic
 * programming finds the answer here.
 */
#ifndef TESTS_CONTRACT_PROBLEMS_H
#define TESTS_CONTRACT_PROBLEMS_H

#include "tests/contract/families.h"

/* The data of a problem, only read once the threads run. */
typedef struct problem {
    const struct kind *kind;
    int32_t size;
    union {
        gpuopt_propagator_desc propagator;
        gpuopt_basis_desc basis;
        gpuopt_simplex_desc simplex;
        gpuopt_elimination_desc elimination;
        gpuopt_knapsack_desc knapsack;
    } desc;
    double answer;
    void *block[12]; /* the arrays, to be freed */
    int blocks;
} problem;

/* Problems of one family. step() and check() use no assertions, so any thread may call them. */
typedef struct kind {
    const char *name;
    int family;
    int32_t small, large;
    void (*make)(problem *);
    gpuopt_status (*step)(const problem *, void *handle, int number, void *info);
    int (*check)(const problem *, void *handle); /* whether the answer is right */
} kind;

enum { KINDS = 7, PROBLEMS = 2 * KINDS };
extern problem problems[PROBLEMS]; /* the small problems, then the large ones */

/* For cmocka, before and after tests. */
int make_problems(void **state);
int free_problems(void **state);

/* Makes step `number`, from 0 on, of a problem that its family has created. Any thread may call it. */
gpuopt_status problem_step(const problem *p, void *handle, int number, int *more);

#endif /* TESTS_CONTRACT_PROBLEMS_H */
