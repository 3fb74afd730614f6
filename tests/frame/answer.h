/* SPDX-License-Identifier: MIT
 *
 * A model with a known answer:  x + y <= 4  with x, y in [1, 10] leaves x, y in [1, 3]. For callers in C and in C++.
 */
#ifndef TESTS_FRAME_ANSWER_H
#define TESTS_FRAME_ANSWER_H

#include "gpuopt.h"

/* Returns 0 if the answer is right. */
static inline int answer_is_wrong(void) {
    static const int64_t start[2] = {0, 2};
    static const int32_t col[2] = {0, 1};
    static const double val[2] = {1, 1}, rhs[1] = {4}, lb[2] = {1, 1}, ub[2] = {10, 10};
    double low[2] = {0, 0}, high[2] = {0, 0};
    int wrong;
    gpuopt_context *context = NULL;
    gpuopt_propagator *propagator = NULL;
    gpuopt_propagator_desc desc;
    gpuopt_propagator_info info;
    gpuopt_desc_init(&desc, sizeof desc);
    gpuopt_desc_init(&info, sizeof info);
    desc.matrix.rows = 1;
    desc.matrix.cols = 2;
    desc.matrix.start = start;
    desc.matrix.index = col;
    desc.matrix.value = val;
    desc.rhs = rhs;
    desc.lb = lb;
    desc.ub = ub;
    if (gpuopt_context_create(NULL, &context)) return 1;
    wrong = gpuopt_propagator_create(context, &desc, NULL, &propagator) != GPUOPT_OK ||
            gpuopt_propagator_round(propagator, 10, &info) != GPUOPT_OK || info.outcome != GPUOPT_CONVERGED ||
            info.changed != 2 || gpuopt_propagator_get_bounds(propagator, GPUOPT_HOST, 0, NULL, low, high) != GPUOPT_OK;
    wrong |= low[0] < 1 || low[0] > 1 || low[1] < 1 || low[1] > 1;
    wrong |= high[0] < 3 || high[0] > 3 || high[1] < 3 || high[1] > 3;
    gpuopt_propagator_destroy(propagator);
    gpuopt_context_destroy(context);
    return wrong;
}

#endif /* TESTS_FRAME_ANSWER_H */
