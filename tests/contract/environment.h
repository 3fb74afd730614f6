/* SPDX-License-Identifier: MIT
 *
 * Floating-point environments for a caller, and models with numbers that round. Calls must leave the caller's
 * environment and locale unchanged, and give the same bits as in the default ones.
 */
#ifndef TESTS_CONTRACT_ENVIRONMENT_H
#define TESTS_CONTRACT_ENVIRONMENT_H

#include "tests/support/support.h"

/* Identifies this thread's arithmetic by a number: the four rounding modes, and whether subnormal numbers are
 * flushed. */
int environment(void);
/* kind 0: default; 1 to 3: the other rounding modes; 4: subnormal numbers are flushed to zero. Returns whether this
 * machine has it. */
enum { ENVIRONMENTS = 5 };
int set_environment(int kind);
/* In all threads of a parallel region of this program. */
void set_environment_everywhere(int kind);

/* Models; quotients, so that nearly every operation rounds. */
enum { ROWS = 40, COLS = 30, PER_ROW = 4, BASIS = 72, VARIABLES = 4, DOMAIN = 32, TABLES = 6, ITEMS = 120 };
typedef struct environment_models {
    double value[ROWS * PER_ROW], lhs[ROWS], rhs[ROWS], lb[COLS], ub[COLS], cost[COLS];
    int64_t start[ROWS + 1], basis_start[BASIS + 1];
    int32_t index[ROWS * PER_ROW], basis_index[BASIS * BASIS], scope[TABLES][2];
    double basis_value[BASIS * BASIS], table[TABLES][DOMAIN * DOMAIN], vector[3][BASIS], subnormal[BASIS];
    int64_t weight[ITEMS], profit[ITEMS], capacity;
} environment_models;
extern environment_models model;
void make_environment_models(void);
gpuopt_propagator_desc environment_propagator(void);
gpuopt_simplex_desc environment_program(void);

/* A pass over all families, to a hash of all their results. */
typedef struct pass {
    gpuopt_context *context;
    uint64_t hash;
    int kind;        /* of the caller's environment, which must not change */
    int environment; /* environment() in it */
} pass;

void mix(pass *p, const void *data, size_t bytes);
/* Before every call, and after it: checks that it worked, and that environment and locale are the caller's. */
void environment_begin(pass *p);
void environment_end(const pass *p, gpuopt_status status);
#define CALL(call)                   \
    do {                             \
        gpuopt_status status_;       \
        environment_begin(p);        \
        status_ = call;              \
        environment_end(p, status_); \
    } while (0)

/* The part of a pass that solves many problems in a call. */
void environment_batches(pass *p);

#endif /* TESTS_CONTRACT_ENVIRONMENT_H */
