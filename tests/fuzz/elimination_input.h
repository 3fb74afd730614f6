/* SPDX-License-Identifier: MIT
 *
 * The input of the elimination target, decoded: a small model, a descriptor, and one fault in it.
 */
#ifndef TESTS_FUZZ_ELIMINATION_INPUT_H
#define TESTS_FUZZ_ELIMINATION_INPUT_H

#include "gpuopt/inference.h"
#include "tests/elimination/handle.h"
#include "tests/fuzz/fuzz.h"

enum { VARIABLES = 6, DOMAIN = 4, FUNCTIONS = 8, ARITY = 4, COPIES = 4 };

typedef struct fuzz {
    fuzz_bytes bytes;
    fuzz_host host;
    gpuopt_context *context;
    model m;
    long double sizes; /* the sum of the functions' largest costs, by size */
    int wild;          /* not 0: costs near the limit of 63 bits */
    gpuopt_elimination_desc desc;
    gpuopt_elimination_order_search search; /* of desc, like the next two */
    gpuopt_elimination_memory memory;
    gpuopt_elimination_messages messages;
    int32_t *own_order, *own_condition; /* desc's arrays of these, kept if a fault is inserted */
    gpuopt_elimination_function spoiled[FUNCTIONS];
    int32_t permutation[VARIABLES], eliminated[VARIABLES], count; /* [count]: in the order that is used */
    int32_t fixed[COPIES][VARIABLES];                             /* of each copy, by its conditions */
    gpuopt_elimination_estimate estimate;
    gpuopt_elimination *e;
} fuzz;

static inline int32_t copies_of(const fuzz *f) { return f->desc.batch_size ? f->desc.batch_size : 1; }

/* The model, and a descriptor of it that has no fault. */
void input_make(fuzz *f);
/* Inserts one fault into the descriptor. Returns 0 if there is no capacity for it. */
int input_spoil(fuzz *f);
void input_free(fuzz *f);

#endif /* TESTS_FUZZ_ELIMINATION_INPUT_H */
