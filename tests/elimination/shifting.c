#include <math.h>
#include <string.h>

#include "tests/elimination/shifting.h"

gpuopt_elimination_cost_shifting_info shifting_info(gpuopt_elimination_cost_shifting *relaxation) {
    gpuopt_elimination_cost_shifting_info info = GPUOPT_INIT(gpuopt_elimination_cost_shifting_info);
    assert_int_equal(gpuopt_elimination_cost_shifting_get_info(relaxation, &info), GPUOPT_OK);
    return info;
}

gpuopt_elimination_cost_shifting *shifting_of(gpuopt_context *context, const gpuopt_elimination_desc *desc,
                                              int32_t iterations, const test_host *host) {
    gpuopt_elimination_cost_shifting *relaxation = NULL;
    if (gpuopt_elimination_shift_costs(context, desc, iterations, &relaxation)) fail_msg("%s", host->error);
    assert_non_null(relaxation);
    return relaxation;
}

long double shifting_bound(const model *m, const gpuopt_elimination_cost_shifting_info *info) {
    if (info->outcome == GPUOPT_INFEASIBLE) return model_forbidden(m);
    return m->type == GPUOPT_COST_INT64 ? (long double)info->cost : (long double)info->value;
}

model shifting_model(gpuopt_elimination_cost_shifting *relaxation) {
    gpuopt_elimination_desc desc = GPUOPT_INIT(gpuopt_elimination_desc);
    model m;
    assert_int_equal(gpuopt_elimination_cost_shifting_get_desc(relaxation, &desc), GPUOPT_OK);
    memset(&m, 0, sizeof m);
    m.variables = desc.variables;
    m.functions = desc.functions;
    m.domain = (int32_t *)(uintptr_t)desc.domain;
    m.function = (gpuopt_elimination_function *)(uintptr_t)desc.function;
    m.type = desc.type;
    m.semiring = desc.semiring;
    m.top = desc.top;
    return m;
}

const char *shifting_costs_fault(const model *m, gpuopt_elimination_cost_shifting *relaxation, uint64_t *seed) {
    const gpuopt_elimination_cost_shifting_info info = shifting_info(relaxation);
    const model split = shifting_model(relaxation);
    int32_t value[MODEL_VARIABLES], copied[MODEL_VARIABLES * 30], k, round;
    assert_true(info.variables == split.variables && info.variables <= MODEL_VARIABLES * 30);
    for (round = 0; round < 40; round++) {
        long double here, there;
        for (k = 0; k < m->variables; k++) value[k] = (int32_t)test_random_int(seed, 0, m->domain[k] - 1);
        for (k = 0; k < info.variables; k++) {
            if (split.domain[k] != m->domain[info.original[k]]) return "a copy's domain";
            copied[k] = value[info.original[k]];
        }
        here = model_sum(m, value);
        there = model_sum(&split, copied);
        if (isinf(here)                    ? here != there
            : m->type == GPUOPT_COST_INT64 ? here * info.scale != there
                                           : fabsl(here - there) > 1e-9L * (fabsl(here) + fabsl((long double)m->scale)))
            return "the cost of an assignment";
    }
    return NULL;
}
