/* SPDX-License-Identifier: MIT
 *
 * The ways to run the dual method, for tests.
 */
#ifndef TESTS_SIMPLEX_DUAL_WAYS_H
#define TESTS_SIMPLEX_DUAL_WAYS_H

#include <stdio.h>

#include "gpuopt.h"

enum { DUAL_WAYS = 2 * 3 * 2 * 2 };

/* The rules that a way's descriptor points to: [K is 1][dual pricing]. */
#define DUAL_RULES(k, p) \
    { .struct_size = sizeof(gpuopt_simplex_rules), .dual_pricing = GPUOPT_DUAL_PRICING_##p, .deferred_pivots = k }
static const gpuopt_simplex_rules dual_rules[2][3] = {
    {DUAL_RULES(0, STEEPEST_EDGE), DUAL_RULES(0, DEVEX), DUAL_RULES(0, DANTZIG)},
    {DUAL_RULES(1, STEEPEST_EDGE), DUAL_RULES(1, DEVEX), DUAL_RULES(1, DANTZIG)}};

static inline void dual_set(gpuopt_simplex_desc *desc, int way) {
    desc->method = way % 2 ? GPUOPT_METHOD_REVISED : GPUOPT_METHOD_TABLEAU;
    desc->algorithm = way / 6 % 2 ? GPUOPT_ALGORITHM_AUTO : GPUOPT_ALGORITHM_DUAL;
    desc->rules = &dual_rules[way / 12 % 2][way / 2 % 3];
}

static inline const char *dual_name(const gpuopt_simplex_desc *desc) {
    static char name[64];
    snprintf(name, sizeof name, "method %d, dual pricing %d, algorithm %d, K %d", (int)desc->method,
             desc->rules ? (int)desc->rules->dual_pricing : 0, (int)desc->algorithm,
             desc->rules ? (int)desc->rules->deferred_pivots : 0);
    return name;
}

#endif /* TESTS_SIMPLEX_DUAL_WAYS_H */
