/* SPDX-License-Identifier: MIT */
#include "tests/elimination/graphs.h"

model graph_model(int32_t variables, const int32_t *domain) {
    return model_make(GPUOPT_COST_INT64, GPUOPT_SEMIRING_MIN_SUM, variables, domain);
}

void graph_add(model *m, int32_t arity, const int32_t *scope) { model_add(m, arity, scope, 0)->default_cost = 1; }

model graph_draw(uint64_t *seed, int32_t variables, int32_t functions, int32_t values) {
    int32_t domain[GRAPH_MOST], permutation[GRAPH_MOST], k;
    model m;
    for (k = 0; k < variables; k++) domain[k] = values ? (int32_t)test_random_int(seed, 1, values) : 2;
    m = graph_model(variables, domain);
    for (k = 0; k < functions; k++) {
        draw_permutation(seed, variables, permutation);
        graph_add(&m, test_random_int(seed, 0, 4) && variables > 2 ? 2 : variables > 2 ? 3 : variables, permutation);
    }
    return m;
}

model graph_grid(int32_t length) {
    model m = graph_model(length * length, NULL);
    int32_t k;
    for (k = 0; k < length * length; k++) {
        int32_t right[2] = {k, k + 1}, below[2] = {k, k + length};
        if (k % length < length - 1) graph_add(&m, 2, right);
        if (k / length < length - 1) graph_add(&m, 2, below);
    }
    return m;
}

order_cost order_search(gpuopt_context *context, const gpuopt_elimination_desc *desc, int32_t *order) {
    order_cost c;
    if (gpuopt_elimination_order(context, desc, order, NULL, NULL)) fail_msg("%s", gpuopt_context_last_error(context));
    c = order_cost_of(desc, order);
    assert_true(c.width >= 0);
    return c;
}
