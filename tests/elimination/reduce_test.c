/* SPDX-License-Identifier: MIT
 *
 * Reductions: that the reduced model has the answer of the model, by all assignments of both; that its assignments,
 * optimal or not, come back with their cost; that each rule does what it is for; what stays that may not be touched,
 * what is refused, and that memory may fail anywhere.
 */
#include <math.h>
#include <string.h>

#include "tests/elimination/handle.h"

static gpuopt_elimination_reduction_info info_of(gpuopt_elimination_reduction *reduction) {
    gpuopt_elimination_reduction_info info = GPUOPT_INIT(gpuopt_elimination_reduction_info);
    assert_int_equal(gpuopt_elimination_reduction_get_info(reduction, &info), GPUOPT_OK);
    return info;
}

static gpuopt_elimination_desc desc_of(gpuopt_elimination_reduction *reduction) {
    gpuopt_elimination_desc desc = GPUOPT_INIT(gpuopt_elimination_desc);
    assert_int_equal(gpuopt_elimination_reduction_get_desc(reduction, &desc), GPUOPT_OK);
    return desc;
}

static gpuopt_elimination_reduction *reduce(gpuopt_context *context, const gpuopt_elimination_desc *desc,
                                            uint32_t rules, const test_host *host) {
    gpuopt_elimination_reduction *reduction = NULL;
    if (gpuopt_elimination_reduce(context, desc, rules, 0, &reduction)) fail_msg("%s", host->error);
    assert_non_null(reduction);
    return reduction;
}

/* The reduced model as a model of the tests, whose arrays are the library's. */
static model as_model(gpuopt_elimination_reduction *reduction, const model *original) {
    const gpuopt_elimination_desc desc = desc_of(reduction);
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

/* Assignments of the reduced model come back with their cost, and with the values that they have in the model. */
static const char *lift_fault(const model *m, gpuopt_elimination_reduction *reduction, uint64_t *seed) {
    const gpuopt_elimination_reduction_info info = info_of(reduction);
    const model small = as_model(reduction, m);
    int32_t value[MODEL_VARIABLES], reduced[MODEL_VARIABLES + 1], k, round;
    if (m->semiring == GPUOPT_SEMIRING_LOG_SUM_EXP || info.outcome == GPUOPT_INFEASIBLE) {
        for (k = 0; k < small.variables; k++) reduced[k] = 0;
        assert_int_equal(gpuopt_elimination_reduction_lift(reduction, reduced, value),
                         m->semiring == GPUOPT_SEMIRING_LOG_SUM_EXP ? GPUOPT_ERROR_UNSUPPORTED : GPUOPT_ERROR_STATE);
        return NULL;
    }
    for (round = 0; round < 30; round++) {
        long double here, there;
        for (k = 0; k < small.variables; k++) reduced[k] = (int32_t)test_random_int(seed, 0, small.domain[k] - 1);
        for (k = 0; k < MODEL_VARIABLES; k++) value[k] = -1;
        assert_int_equal(gpuopt_elimination_reduction_lift(reduction, reduced, value), GPUOPT_OK);
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

/* The reduced model's answer, by all its assignments and by a handle, beside that of the model. */
static const char *fault_of(gpuopt_context *context, const model *m, gpuopt_elimination_reduction *reduction,
                            const test_host *host) {
    const gpuopt_elimination_reduction_info info = info_of(reduction);
    int32_t order[MODEL_VARIABLES], value[MODEL_VARIABLES], k;
    const model small = as_model(reduction, m);
    gpuopt_elimination_desc desc = desc_of(reduction);
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
    assert_int_equal(gpuopt_elimination_reduction_lift(reduction, a.value, value), GPUOPT_OK);
    return close_to(m, model_sum(m, value), b.best) ? NULL : "the optimum that came back";
}

/* Few costs and many forbidden entries, so that rules find something. */
static model draw(uint64_t *random, int32_t k) {
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

static void reductions_keep_the_answer(void **state) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    uint64_t seed;
    int32_t k, fired[8] = {0}, outcomes[8] = {0}, bit;
    (void)state;
    for (seed = 1; seed <= (uint64_t)test_times(200, 60); seed++)
        for (k = 0; k < MODEL_KINDS; k++) {
            uint64_t random = seed * 100 + (uint64_t)k;
            model m = draw(&random, k);
            for (bit = -1; bit < 7; bit++) {
                gpuopt_elimination_desc desc = model_desc(&m);
                gpuopt_elimination_reduction *reduction = reduce(context, &desc, bit < 0 ? 0 : 1u << bit, &host);
                const gpuopt_elimination_reduction_info info = info_of(reduction);
                must_not(lift_fault(&m, reduction, &random), &m, seed);
                must_not(fault_of(context, &m, reduction, &host), &m, seed);
                if (bit < 0) outcomes[info.outcome]++;
                fired[0] += info.values_forbidden > 0 && bit == 0;
                fired[1] += info.functions_joined > 0 && bit == 1;
                fired[2] += info.functions_split > 0 && bit == 2;
                fired[3] += info.variables_degree > 0 && bit == 3;
                fired[4] += info.variables_functional > 0 && bit == 4;
                fired[5] += info.values_dominated > 0 && bit == 5;
                fired[6] += info.values_bounded > 0 && bit == 6;
                fired[7] += info.entries_bounded > 0 && bit == 6;
                if (bit >= 0) assert_int_equal(info.rules & ~(1u << bit), 0);
                if (m.semiring > GPUOPT_SEMIRING_MAX_SUM) assert_int_equal(info.values_dominated, 0);
                gpuopt_elimination_reduction_destroy(reduction);
            }
            model_free(&m);
        }
    for (k = 0; k < 8 && !test_few(); k++)
        if (fired[k] < test_times(20, 4)) fail_msg("rule %d: %d times", (int)k, (int)fired[k]);
    assert_true(test_few() ||
                (outcomes[GPUOPT_OPTIMAL] > 20 && outcomes[GPUOPT_INFEASIBLE] > 20 && outcomes[GPUOPT_CONVERGED] > 20));
    gpuopt_context_destroy(context);
    assert_int_equal(host.live, 0);
}

/* Conditioned variables, and those that the order leaves over, keep their values, and with any values of theirs the
 * reduced model has the optimum of the model. */
static void what_stays_untouched(void **state) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    int32_t order[MODEL_VARIABLES], k, j, removed = 0;
    uint64_t seed;
    (void)state;
    for (seed = 1; seed <= (uint64_t)test_times(60, 15); seed++)
        for (k = 0; k < MODEL_KINDS; k++) {
            uint64_t random = seed * 1000 + (uint64_t)k;
            gpuopt_elimination_reduction *reduction;
            gpuopt_elimination_reduction_info info;
            gpuopt_elimination_desc desc, small_desc;
            int32_t value[MODEL_VARIABLES] = {0}, reduced[MODEL_VARIABLES] = {0}, rest[MODEL_VARIABLES], v, n = 0;
            model m = draw(&random, k), small;
            desc = model_desc(&m);
            draw_permutation(&random, m.variables, order);
            desc.order = order;
            desc.order_count = m.variables > 2 ? m.variables - 2 : 0;
            desc.condition = order + desc.order_count;
            desc.condition_count = m.variables > 1 ? 1 : 0; /* and another one is left over */
            reduction = reduce(context, &desc, 0, &host);
            info = info_of(reduction);
            small_desc = desc_of(reduction);
            small = as_model(reduction, &m);
            assert_int_equal(small_desc.condition_count, desc.condition_count);
            assert_int_equal(small_desc.order_count + m.variables - desc.order_count, small.variables);
            if (desc.condition_count) assert_int_equal(info.original[small_desc.condition[0]], desc.condition[0]);
            for (j = 0; j < small_desc.order_count; j++) rest[j] = small_desc.order[j];
            removed += m.variables - small.variables;
            for (v = 0; v < 5; v++) {
                brute b, s;
                for (n = 0, j = 0; j < small.variables; j++) {
                    int32_t at = 0;
                    while (at < small_desc.order_count && small_desc.order[at] != j) at++;
                    if (at < small_desc.order_count) continue;
                    n++;
                    assert_int_equal(small.domain[j], m.domain[info.original[j]]);
                    reduced[j] = (int32_t)test_random_int(&random, 0, small.domain[j] - 1);
                    value[info.original[j]] = reduced[j];
                }
                assert_int_equal(n, m.variables - desc.order_count);
                b = brute_force(&m, order, desc.order_count, value, NULL);
                s = brute_force(&small, rest, small_desc.order_count, reduced, NULL);
                if (b.feasible != s.feasible || !close_to(&m, b.best, s.best + info.offset) ||
                    (b.feasible && m.semiring == GPUOPT_SEMIRING_MIN_COUNT && b.count != s.count))
                    must_not("the optimum with values given", &m, seed);
            }
            gpuopt_elimination_reduction_destroy(reduction);
            model_free(&m);
        }
    assert_true(removed > test_times(500, 100));
    gpuopt_context_destroy(context);
    assert_int_equal(host.live, 0);
}

/* ---- Known reductions ---- */

/* A clique of `n` variables with three values, which costs 1 where two are equal. */
static model clique(int32_t n, int64_t top) {
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

static void nothing_to_reduce(void **state) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    model m = clique(5, 0), none = model_make(GPUOPT_COST_INT64, GPUOPT_SEMIRING_MIN_SUM, 0, NULL);
    gpuopt_elimination_desc desc = model_desc(&m);
    gpuopt_elimination_reduction *reduction = reduce(context, &desc, 0, &host);
    gpuopt_elimination_reduction_info info = info_of(reduction);
    (void)state;
    assert_int_equal(info.outcome, GPUOPT_CONVERGED);
    assert_int_equal(info.variables, 5);
    assert_int_equal(info.entries, 90);
    assert_int_equal(info.values_forbidden + info.values_dominated + info.values_bounded + info.functions_joined +
                         info.functions_split,
                     0);
    gpuopt_elimination_reduction_destroy(reduction);
    desc = model_desc(&none);
    reduction = reduce(context, &desc, 0, &host);
    assert_int_equal(info_of(reduction).outcome, GPUOPT_OPTIMAL);
    assert_int_equal(gpuopt_elimination_reduction_lift(reduction, NULL, NULL), GPUOPT_OK);
    gpuopt_elimination_reduction_destroy(reduction);
    model_free(&m);
    model_free(&none);
    gpuopt_context_destroy(context);
    assert_int_equal(host.live, 0);
}

/* x0 = x1, hard, and costs of both with x2: x0 is replaced by x1, or all are eliminated one after the other. */
static void known_rules(void **state) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    static const int32_t domain[] = {3, 3, 3}, pair[] = {0, 1};
    gpuopt_elimination_function *f;
    gpuopt_elimination_desc desc;
    gpuopt_elimination_reduction *reduction;
    gpuopt_elimination_reduction_info info;
    model m = model_make(GPUOPT_COST_INT64, GPUOPT_SEMIRING_MIN_COUNT, 3, domain);
    int32_t v;
    (void)state;
    f = model_add(&m, 2, pair, -1); /* x0 = x1 */
    for (v = 0; v < 9; v++) model_set(&m, f, v, v % 4 ? 1e18 : 1);
    m.top = 1000;
    for (v = 0; v < 2; v++) {
        const int32_t scope[2] = {v, 2};
        int32_t e;
        f = model_add(&m, 2, scope, -1);
        for (e = 0; e < 9; e++) model_set(&m, f, e, e * e % 7);
    }
    desc = model_desc(&m);
    reduction = reduce(context, &desc, GPUOPT_RULE_FUNCTIONAL, &host);
    info = info_of(reduction);
    assert_int_equal(info.variables_functional, 1);
    assert_int_equal(info.variables, 2);
    must_not(fault_of(context, &m, reduction, &host), &m, 0);
    gpuopt_elimination_reduction_destroy(reduction);
    reduction = reduce(context, &desc, GPUOPT_RULE_DEGREE, &host);
    assert_int_equal(info_of(reduction).variables_degree, 3);
    assert_int_equal(info_of(reduction).outcome, GPUOPT_OPTIMAL);
    must_not(fault_of(context, &m, reduction, &host), &m, 0);
    gpuopt_elimination_reduction_destroy(reduction);
    model_free(&m);
    gpuopt_context_destroy(context);
    assert_int_equal(host.live, 0);
}

/* Reduces a model of variables with two values by one rule, and checks the answer. */
static gpuopt_elimination_reduction_info by_rule(const model *m, uint32_t rule) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    const gpuopt_elimination_desc desc = model_desc(m);
    gpuopt_elimination_reduction *reduction = reduce(context, &desc, rule, &host);
    gpuopt_elimination_reduction_info info = info_of(reduction);
    must_not(fault_of(context, m, reduction, &host), m, 0);
    gpuopt_elimination_reduction_destroy(reduction);
    gpuopt_context_destroy(context);
    assert_int_equal(host.live, 0);
    info.original = info.value = NULL;
    info.value_start = NULL;
    return info;
}

static model binary(int32_t variables, int64_t top) {
    model m = model_make(GPUOPT_COST_INT64, GPUOPT_SEMIRING_MIN_SUM, variables, NULL);
    m.top = top;
    return m;
}

static void add(model *m, int32_t arity, const int32_t *scope, const double *cost) {
    gpuopt_elimination_function *f = model_add(m, arity, scope, -1);
    int32_t e;
    for (e = 0; e < 1 << arity; e++) model_set(m, f, e, cost[e]);
}

static void rules_by_hand(void **state) {
    static const int32_t pair[] = {0, 1};
    model m = binary(1, 10);
    gpuopt_elimination_reduction_info info;
    (void)state;
    /* Each function allows both values, and their sum reaches top. */
    add(&m, 1, pair, (double[]){1, 6});
    add(&m, 1, pair, (double[]){0, 5});
    assert_int_equal(by_rule(&m, GPUOPT_RULE_CONSISTENCY).variables, 1);
    info = by_rule(&m, GPUOPT_RULE_BOUND);
    assert_int_equal(info.values_bounded, 1);
    assert_int_equal(info.outcome, GPUOPT_OPTIMAL);
    assert_int_equal(by_rule(&m, GPUOPT_RULE_JOIN).functions_joined, 1);
    model_free(&m);
    /* The value 0 costs less whatever the other variable is. */
    m = binary(2, 0);
    add(&m, 2, pair, (double[]){0, 1, 1, 3});
    info = by_rule(&m, GPUOPT_RULE_DOMINANCE);
    assert_int_equal(info.values_dominated, 2);
    assert_int_equal(info.outcome, GPUOPT_OPTIMAL);
    assert_int_equal(by_rule(&m, GPUOPT_RULE_SPLIT).functions_split, 0);
    model_free(&m);
    m = binary(2, 0); /* 2 x0 + 3 x1 */
    add(&m, 2, pair, (double[]){0, 3, 2, 5});
    info = by_rule(&m, GPUOPT_RULE_SPLIT);
    assert_int_equal(info.functions_split, 1);
    assert_int_equal(info.entries, 4);
    model_free(&m);
    /* x0 = 0 is forbidden, and with x0 = 1 so is x1 = 1; together with x0 = x1 nothing is left. */
    m = binary(2, 100);
    add(&m, 1, pair, (double[]){100, 0});
    add(&m, 2, pair, (double[]){0, 0, 7, 100});
    info = by_rule(&m, GPUOPT_RULE_CONSISTENCY);
    assert_int_equal(info.values_forbidden, 2);
    assert_int_equal(info.variables_fixed, 2);
    assert_int_equal(info.outcome, GPUOPT_OPTIMAL);
    add(&m, 2, pair, (double[]){0, 100, 100, 0});
    assert_int_equal(by_rule(&m, GPUOPT_RULE_CONSISTENCY).outcome, GPUOPT_INFEASIBLE);
    model_free(&m);
    /* x1 = 0 is forbidden, so that 4 must be paid; only then x0 = 1 reaches top. */
    m = binary(2, 6);
    add(&m, 1, pair, (double[]){0, 3});
    add(&m, 1, pair + 1, (double[]){0, 4});
    add(&m, 1, pair + 1, (double[]){6, 0});
    assert_int_equal(by_rule(&m, GPUOPT_RULE_CONSISTENCY).values_forbidden, 2);
    model_free(&m);
}

/* Costs, and numbers of entries, near the largest. */
static void large_numbers(void **state) {
    static const int32_t scope[] = {0, 1, 2}, tuple[] = {1, 3};
    const double half = 0x1p62;
    const int64_t five = 5;
    const int32_t domain[] = {2, (1 << 22) + 1, (1 << 22) + 1};
    gpuopt_context *context = test_context(NULL);
    gpuopt_elimination_desc desc = GPUOPT_INIT(gpuopt_elimination_desc), reduced;
    gpuopt_elimination_function sparse[2];
    gpuopt_elimination_reduction *r;
    gpuopt_elimination *e;
    model m = binary(3, 0);
    (void)state;
    /* x2 ? 2^62 x1 : 2^62 x0, which could be split into two functions whose largest costs do not fit together. */
    add(&m, 3, scope, (double[]){0, 0, 0, half, half, 0, half, half});
    reduced = model_desc(&m);
    assert_int_equal(gpuopt_elimination_reduce(context, &reduced, GPUOPT_RULE_SPLIT, 0, &r), GPUOPT_OK);
    reduced = desc_of(r);
    assert_int_equal(gpuopt_elimination_create(context, &reduced, &e), GPUOPT_OK);
    gpuopt_elimination_destroy(e);
    gpuopt_elimination_reduction_destroy(r);
    model_free(&m);
    /* Without x0 there would be a function of more than 2^44 entries. */
    memset(sparse, 0, sizeof sparse);
    sparse[0].arity = 2, sparse[0].scope = scope, sparse[0].tuples = 1, sparse[0].tuple = tuple;
    sparse[0].cost = &five, sparse[0].default_cost = 1;
    sparse[1] = sparse[0];
    sparse[1].scope = (int32_t[]){0, 2};
    desc.variables = 3, desc.domain = domain, desc.functions = 2, desc.function = sparse;
    assert_int_equal(gpuopt_elimination_reduce(context, &desc, GPUOPT_RULE_DEGREE, 0, &r), GPUOPT_OK);
    gpuopt_elimination_reduction_destroy(r);
    gpuopt_context_destroy(context);
}

/* ---- Arguments, memory, stopping ---- */

static void refused(gpuopt_context *context, const test_host *host, const gpuopt_elimination_desc *desc, uint32_t rules,
                    int64_t work, gpuopt_status expected, const char *words) {
    gpuopt_elimination_reduction *reduction = (gpuopt_elimination_reduction *)context; /* anything but NULL */
    assert_int_equal(gpuopt_elimination_reduce(context, desc, rules, work, &reduction), expected);
    assert_null(reduction);
    if (!strstr(host->error, words)) fail_msg("\"%s\" does not mention \"%s\"", host->error, words);
}

static void what_is_refused(void **state) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    model m = clique(4, 0);
    gpuopt_elimination_desc desc = model_desc(&m), small = GPUOPT_INIT(gpuopt_elimination_desc);
    gpuopt_elimination_reduction *reduction = NULL;
    gpuopt_elimination_reduction_info info = GPUOPT_INIT(gpuopt_elimination_reduction_info);
    int32_t value[4] = {0}, outside[4] = {0, 0, 3, 0};
    (void)state;
    refused(context, &host, NULL, 0, 0, GPUOPT_ERROR_ARGUMENT, "desc is NULL");
    refused(context, &host, &desc, 128, 0, GPUOPT_ERROR_ARGUMENT, "no rule");
    refused(context, &host, &desc, 0, -1, GPUOPT_ERROR_ARGUMENT, "work is negative");
    desc.variables = -1;
    refused(context, &host, &desc, 0, 0, GPUOPT_ERROR_ARGUMENT, "variables");
    desc.variables = 3; /* and functions over four */
    refused(context, &host, &desc, 0, 0, GPUOPT_ERROR_ARGUMENT, "not a variable");
    desc = model_desc(&m);
    assert_int_equal(gpuopt_elimination_reduce(context, &desc, 0, 0, NULL), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_elimination_reduce(NULL, &desc, 0, 0, &reduction), GPUOPT_ERROR_ARGUMENT);
    reduction = reduce(context, &desc, 0, &host);
    assert_int_equal(gpuopt_elimination_reduction_get_info(NULL, &info), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_elimination_reduction_get_info(reduction, NULL), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_elimination_reduction_get_desc(NULL, &small), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_elimination_reduction_get_desc(reduction, NULL), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_elimination_reduction_lift(NULL, value, value), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_elimination_reduction_lift(reduction, NULL, value), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_elimination_reduction_lift(reduction, value, NULL), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(info_of(reduction).variables, 4);
    assert_int_equal(gpuopt_elimination_reduction_lift(reduction, outside, value), GPUOPT_ERROR_ARGUMENT);
    assert_non_null(strstr(host.error, "reduced[2] = 3"));
    info.struct_size = offsetof(gpuopt_elimination_reduction_info, variables);
    info.variables = 77; /* a host of an older version */
    assert_int_equal(gpuopt_elimination_reduction_get_info(reduction, &info), GPUOPT_OK);
    assert_int_equal(info.variables, 77);
    gpuopt_elimination_reduction_destroy(reduction);
    gpuopt_elimination_reduction_destroy(NULL);
    model_free(&m);
    gpuopt_context_destroy(context);
    assert_int_equal(host.live, 0);
}

static void memory_fails_anywhere(void **state) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    const long live = host.live;
    uint64_t seed;
    long all = 0;
    (void)state;
    for (seed = 1; seed <= 6; seed++) {
        uint64_t random = seed;
        model m = draw(&random, (int32_t)seed % MODEL_KINDS);
        gpuopt_elimination_desc desc = model_desc(&m);
        long fails = 0;
        for (;;) {
            gpuopt_elimination_reduction *reduction = NULL;
            gpuopt_status status;
            host.fail_at = host.allocations + 1 + fails;
            status = gpuopt_elimination_reduce(context, &desc, 0, 0, &reduction);
            host.fail_at = 0;
            if (status == GPUOPT_OK) {
                must_not(fault_of(context, &m, reduction, &host), &m, seed);
                gpuopt_elimination_reduction_destroy(reduction);
                break;
            }
            assert_int_equal(status, GPUOPT_ERROR_MEMORY);
            assert_null(reduction);
            assert_int_equal(host.live, live);
            assert_true(fails++ < 10000);
        }
        all += fails;
        model_free(&m);
    }
    assert_true(all > 60);
    gpuopt_context_destroy(context);
    assert_int_equal(host.live, 0);
}

static long asked, stop_from;

static int stop_later(void *user) {
    (void)user;
    return ++asked >= stop_from;
}

/* Wherever it is stopped, by the hook or by its work, what is left has the model's answer. */
static void stopped_anywhere(void **state) {
    int32_t by_hook = 0, by_work = 0, whole = 0, k;
    uint64_t seed;
    (void)state;
    for (seed = 1; seed <= (uint64_t)test_times(30, 6); seed++)
        for (k = 0; k < MODEL_KINDS; k++)
            for (stop_from = 1; stop_from < 40; stop_from += 3) {
                uint64_t random = seed * 31 + (uint64_t)k;
                test_host host;
                gpuopt_context_desc with_stop = test_context_desc(&host);
                gpuopt_context *context = NULL, *other = test_context(&host);
                gpuopt_elimination_reduction *reduction[2] = {NULL, NULL};
                model m = draw(&random, k);
                gpuopt_elimination_desc desc = model_desc(&m);
                with_stop.stop = stop_later;
                asked = 0;
                assert_int_equal(gpuopt_context_create(&with_stop, &context), GPUOPT_OK);
                assert_int_equal(gpuopt_elimination_reduce(context, &desc, 0, 0, &reduction[0]), GPUOPT_OK);
                assert_int_equal(gpuopt_elimination_reduce(other, &desc, 0, 30 * stop_from, &reduction[1]), GPUOPT_OK);
                by_hook += info_of(reduction[0]).outcome == GPUOPT_MORE;
                by_work += info_of(reduction[1]).outcome == GPUOPT_MORE;
                whole += info_of(reduction[1]).outcome != GPUOPT_MORE;
                must_not(fault_of(other, &m, reduction[0], &host), &m, seed);
                must_not(fault_of(other, &m, reduction[1], &host), &m, seed);
                gpuopt_elimination_reduction_destroy(reduction[0]);
                gpuopt_elimination_reduction_destroy(reduction[1]);
                model_free(&m);
                gpuopt_context_destroy(context);
                gpuopt_context_destroy(other);
                assert_int_equal(host.live, 0);
            }
    assert_true(by_hook > 20 && by_work > 20 && whole > 20);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(reductions_keep_the_answer),
    cmocka_unit_test(what_stays_untouched),
    cmocka_unit_test(nothing_to_reduce),
    cmocka_unit_test(known_rules),
    cmocka_unit_test(rules_by_hand),
    cmocka_unit_test(large_numbers),
    cmocka_unit_test(what_is_refused),
    cmocka_unit_test(memory_fails_anywhere),
    cmocka_unit_test(stopped_anywhere),
};
TEST_MAIN(tests)
