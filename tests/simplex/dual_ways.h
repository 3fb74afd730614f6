/* SPDX-License-Identifier: MIT
 *
 * The ways to run the dual method, for tests.
 */
#ifndef TESTS_SIMPLEX_DUAL_WAYS_H
#define TESTS_SIMPLEX_DUAL_WAYS_H

#include <stdio.h>

#include "gpuopt.h"

enum { DUAL_WAYS = 2 * 3 * 2 * 2 };
static inline void dual_set(gpuopt_simplex_desc *desc, int way) {
    desc->method = way % 2 ? GPUOPT_METHOD_REVISED : GPUOPT_METHOD_TABLEAU;
    desc->dual_pricing = (gpuopt_simplex_dual_pricing)(way / 2 % 3);
    desc->algorithm = way / 6 % 2 ? GPUOPT_ALGORITHM_AUTO : GPUOPT_ALGORITHM_DUAL;
    desc->deferred_pivots = way / 12 % 2;
}

static inline const char *dual_name(const gpuopt_simplex_desc *desc) {
    static char name[64];
    snprintf(name, sizeof name, "method %d, dual pricing %d, algorithm %d, K %d", (int)desc->method,
             (int)desc->dual_pricing, (int)desc->algorithm, (int)desc->deferred_pivots);
    return name;
}

#endif /* TESTS_SIMPLEX_DUAL_WAYS_H */
