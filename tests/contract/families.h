/* SPDX-License-Identifier: MIT
 *
 * The five families through one interface, so that one test can check the promises of gpuopt.h for all of them. Each
 * has a small problem with an answer known from outside. The wrappers cover all that gpuopt.h promises for every
 * family.
 */
#ifndef TESTS_CONTRACT_FAMILIES_H
#define TESTS_CONTRACT_FAMILIES_H

#include "tests/support/support.h"

enum { LARGEST_STRUCT = 512, LARGEST_ANSWER = 72 }; /* bytes */

/* A family's descriptor or info. */
typedef union anything {
    size_t struct_size;
    double align;
    unsigned char byte[LARGEST_STRUCT];
} anything;

typedef struct family {
    const char *name; /* as in gpuopt_NAME_create */
    const char *step; /* as in gpuopt_NAME_STEP */
    size_t desc_size, info_size;
    int waits;      /* a step without info waits, too */
    int has_matrix; /* takes a sparse matrix, at create or by load() */
    int has_bounds; /* has columns with lb and ub */
    int asks_stop;
    size_t answer_bytes; /* of the answer that read() gives */
    const void *answer;  /* [answer_bytes], known from outside */
    double tolerance;    /* the answer consists of doubles, equal to within this; 0: any bytes, equal */

    /* The small problem, or the same one with its matrix in the other layout, or with one column's bounds crossing. */
    void (*fill)(void *desc, gpuopt_layout layout, int crossing);
    gpuopt_status (*plan)(gpuopt_context *, const void *desc, gpuopt_memory_plan *);
    gpuopt_status (*create)(gpuopt_context *, const void *desc, void **handle);
    gpuopt_status (*plan_and_create)(gpuopt_context *, const void *desc, gpuopt_memory_plan *plan, void **handle);
    void (*destroy)(void *handle);
    /* The calls needed between create and the first step; NULL: none. */
    gpuopt_status (*load)(void *handle, gpuopt_layout layout);
    /* Work of one step, which does not finish the problem; or all of it. */
    gpuopt_status (*work)(void *handle, int all, void *info);
    gpuopt_status (*get_info)(void *handle, void *info);
    gpuopt_outcome (*outcome)(const void *info);
    /* The answer, into host or device memory. */
    gpuopt_status (*read)(void *handle, gpuopt_memory_space where, void *answer);
    /* The first vector that the family takes: a harmless one, from host or device memory. */
    gpuopt_status (*write)(void *handle, gpuopt_memory_space where, const void *vector);
    const void *vector; /* [vector_bytes] for write() */
    size_t vector_bytes;
} family;

/* A zero struct with this struct_size. Any thread may call it. */
anything sized(size_t size);
/* The descriptor of a family's small problem, by its fill(). */
anything described(const family *f, gpuopt_layout layout, int crossing);
/* Whether an answer is right, within the family's tolerance. Any thread may call it. */
int family_agrees(const family *f, const void *answer);

/* By these numbers. */
enum { PROPAGATOR, BASIS, SIMPLEX, ELIMINATION, KNAPSACK };
extern const family families[];
extern const int family_count;

#endif /* TESTS_CONTRACT_FAMILIES_H */
