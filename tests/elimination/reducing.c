/* SPDX-License-Identifier: MIT */
#include "tests/elimination/reducing.h"

#include <math.h>
#include <string.h>

gpuopt_elimination_preprocessing_info reduction_info(gpuopt_elimination_preprocessing *reduction) {
    gpuopt_elimination_preprocessing_info info = GPUOPT_INIT(gpuopt_elimination_preprocessing_info);
    assert_int_equal(gpuopt_elimination_preprocessing_get_info(reduction, &info), GPUOPT_OK);
    return info;
}

gpuopt_elimination_desc reduction_desc(gpuopt_elimination_preprocessing *reduction) {
    gpuopt_elimination_desc desc = GPUOPT_INIT(gpuopt_elimination_desc);
    assert_int_equal(gpuopt_elimination_preprocessing_get_desc(reduction, &desc), GPUOPT_OK);
    return desc;
}

gpuopt_elimination_preprocessing *reduction_of(gpuopt_context *context, const gpuopt_elimination_desc *desc,
                                               uint32_t rules, const test_host *host) {
    gpuopt_elimination_preprocessing *reduction = NULL;
    if (gpuopt_elimination_preprocess(context, desc, rules, 0, &reduction)) fail_msg("%s", host->error);
    assert_non_null(reduction);
    return reduction;
}

model reduction_model(gpuopt_elimination_preprocessing *reduction, const model *original) {
    const gpuopt_elimination_desc desc = reduction_desc(reduction);
    model m;
    memset(&m, 0, sizeof m);
    m.variables = desc.variables;
    m.functions = desc.functions;
    m.domain = (int32_t *)(uintptr_t)desc.domain;
    m.function = (gpuopt_elimination_function *)(uintptr_t)desc.function;
    m.type = desc.type;
    m.semiring = desc.semiring;
    m.top = desc.top;
    m.scale = original->scale;
    return m;
}

const char *reduction_lift_fault(const model *m, gpuopt_elimination_preprocessing *reduction, uint64_t *seed) {
    const gpuopt_elimination_preprocessing_info info = reduction_info(reduction);
    const model small = reduction_model(reduction, m);
    int32_t value[MODEL_VARIABLES], reduced[MODEL_VARIABLES + 1], k, round;
    if (m->semiring == GPUOPT_SEMIRING_LOG_SUM_EXP || info.outcome == GPUOPT_INFEASIBLE) {
        for (k = 0; k < small.variables; k++) reduced[k] = 0;
        assert_int_equal(gpuopt_elimination_preprocessing_postsolve(reduction, reduced, value),
                         m->semiring == GPUOPT_SEMIRING_LOG_SUM_EXP ? GPUOPT_ERROR_UNSUPPORTED : GPUOPT_ERROR_STATE);
        return NULL;
    }
    for (round = 0; round < 30; round++) {
        long double here, there;
        for (k = 0; k < small.variables; k++) reduced[k] = (int32_t)test_random_int(seed, 0, small.domain[k] - 1);
        for (k = 0; k < MODEL_VARIABLES; k++) value[k] = -1;
        assert_int_equal(gpuopt_elimination_preprocessing_postsolve(reduction, reduced, value), GPUOPT_OK);
        for (k = 0; k < m->variables; k++)
            if (value[k] < 0 || value[k] >= m->domain[k]) return "a value that came back";
        for (k = 0; k < small.variables; k++)
            if (value[info.original[k]] != info.value[info.value_start[k] + reduced[k]]) return "the value's number";
        here = model_sum(m, value);
        there = model_sum(&small, reduced);
        if (!isinf(there) && !close_to(m, here, there + info.offset)) return "the cost of an assignment that came back";
    }
    return NULL;
}

const char *reduction_fault(gpuopt_context *context, const model *m, gpuopt_elimination_preprocessing *reduction,
                            const test_host *host) {
    const gpuopt_elimination_preprocessing_info info = reduction_info(reduction);
    int32_t order[MODEL_VARIABLES], value[MODEL_VARIABLES], k;
    const model small = reduction_model(reduction, m);
    gpuopt_elimination_desc desc = reduction_desc(reduction);
    brute b, s;
    answer a;
    for (k = 0; k < m->variables; k++) order[k] = k;
    b = brute_force(m, order, m->variables, NULL, NULL);
    s = brute_force(&small, order, small.variables, NULL, NULL);
    if (b.feasible != s.feasible) return "feasible, and then not, or the other way round";
    if (!close_to(m, b.best, s.best + info.offset)) return "the reduced model's optimum";
    if (m->semiring == GPUOPT_SEMIRING_MIN_COUNT && b.feasible && b.count != s.count)
        return "the reduced model's count";
    if (info.outcome == GPUOPT_INFEASIBLE && b.feasible) return "infeasible";
    if ((info.outcome == GPUOPT_OPTIMAL) != (info.outcome != GPUOPT_INFEASIBLE && small.variables == 0))
        return "OPTIMAL without variables";
    if (info.outcome == GPUOPT_INFEASIBLE && small.variables > 0) return "variables of an infeasible model";
    if (info.offset && (!m->top || m->type != GPUOPT_COST_INT64)) return "an offset";
    if (info.variables != small.variables || info.variables > m->variables) return "the number of variables";
    a = handle_answer(context, &desc, host, INT32_MAX, order);
    if (answer_fault(&small, &s, &a, 1)) return answer_fault(&small, &s, &a, 1);
    if (!b.feasible || m->semiring == GPUOPT_SEMIRING_LOG_SUM_EXP) return NULL;
    assert_int_equal(gpuopt_elimination_preprocessing_postsolve(reduction, a.value, value), GPUOPT_OK);
    return close_to(m, model_sum(m, value), b.best) ? NULL : "the optimum that came back";
}

model reduction_draw(uint64_t *random, int32_t k) {
    recipe r = recipe_draw(random, model_kind[k].type, model_kind[k].semiring);
    r.functions = (int32_t)test_random_int(random, 1, 16);
    r.arity = (int32_t)test_random_int(random, 1, 4);
    if (test_random_int(random, 0, 2)) {
        r.forbidden = (int)test_random_int(random, 0, 70);
        r.largest = test_random_int(random, 1, 6);
        r.least = test_random_int(random, 0, 1) ? -r.largest : 0;
    }
    return model_draw(random, model_kind[k].type, model_kind[k].semiring, &r);
}

model clique_of_three(int32_t n, int64_t top) {
    model m;
    int32_t domain[MODEL_VARIABLES], scope[2], v;
    for (v = 0; v < MODEL_VARIABLES; v++) domain[v] = 3;
    m = model_make(GPUOPT_COST_INT64, GPUOPT_SEMIRING_MIN_SUM, n, domain);
    m.top = top;
    for (scope[0] = 0; scope[0] < n; scope[0]++)
        for (scope[1] = scope[0] + 1; scope[1] < n; scope[1]++) {
            gpuopt_elimination_function *f = model_add(&m, 2, scope, -1);
            for (v = 0; v < 3; v++) model_set(&m, f, 4 * v, 1);
        }
    return m;
}
