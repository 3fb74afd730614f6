/* SPDX-License-Identifier: MIT
 *
 * Random small linear programs that are hard for floating point.
 */
#ifndef TESTS_SIMPLEX_VERDICT_MODELS_H
#define TESTS_SIMPLEX_VERDICT_MODELS_H

#include <stdint.h>

enum { MOST = 17 };
enum kind { SMALL_INTEGERS, WIDE, DEPENDENT, DEPENDENT_UNITS, KINDS };

typedef struct drawn {
    int32_t rows, cols;
    double a[MOST * MOST], cost[MOST], lhs[MOST], rhs[MOST], lb[MOST], ub[MOST];
} drawn;

/* 1 in one of so many calls. */
int verdict_chance(uint64_t *seed, int one_in);

/* Of 4 models 3 have a known point as a solution, exactly. */
void verdict_draw(uint64_t *seed, enum kind kind, drawn *d);

#endif /* TESTS_SIMPLEX_VERDICT_MODELS_H */
