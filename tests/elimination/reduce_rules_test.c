/* SPDX-License-Identifier: MIT
 *
 * Preprocessing of models with known reduced forms: each rule fulfils its purpose.
 */
#include <string.h>

#include "tests/elimination/reducing.h"

static void nothing_to_reduce(void **state) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    model m = clique_of_three(5, 0), none = model_make(GPUOPT_COST_INT64, GPUOPT_SEMIRING_MIN_SUM, 0, NULL);
    gpuopt_elimination_desc desc = model_desc(&m);
    gpuopt_elimination_preprocessing *reduction = reduction_of(context, &desc, 0, &host);
    gpuopt_elimination_preprocessing_info info = reduction_info(reduction);
    (void)state;
    assert_int_equal(info.outcome, GPUOPT_CONVERGED);
    assert_int_equal(info.variables, 5);
    assert_int_equal(info.entries, 90);
    assert_int_equal(info.values_forbidden + info.values_dominated + info.values_bounded + info.functions_joined +
                         info.functions_split,
                     0);
    gpuopt_elimination_preprocessing_destroy(reduction);
    desc = model_desc(&none);
    reduction = reduction_of(context, &desc, 0, &host);
    assert_int_equal(reduction_info(reduction).outcome, GPUOPT_OPTIMAL);
    assert_int_equal(gpuopt_elimination_preprocessing_postsolve(reduction, NULL, NULL), GPUOPT_OK);
    gpuopt_elimination_preprocessing_destroy(reduction);
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
    gpuopt_elimination_preprocessing *reduction;
    gpuopt_elimination_preprocessing_info info;
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
    reduction = reduction_of(context, &desc, GPUOPT_RULE_FUNCTIONAL, &host);
    info = reduction_info(reduction);
    assert_int_equal(info.variables_functional, 1);
    assert_int_equal(info.variables, 2);
    must_not(reduction_fault(context, &m, reduction, &host), &m, 0);
    gpuopt_elimination_preprocessing_destroy(reduction);
    reduction = reduction_of(context, &desc, GPUOPT_RULE_DEGREE, &host);
    assert_int_equal(reduction_info(reduction).variables_degree, 3);
    assert_int_equal(reduction_info(reduction).outcome, GPUOPT_OPTIMAL);
    must_not(reduction_fault(context, &m, reduction, &host), &m, 0);
    gpuopt_elimination_preprocessing_destroy(reduction);
    model_free(&m);
    gpuopt_context_destroy(context);
    assert_int_equal(host.live, 0);
}

/* Reduces a model of variables with two values by one rule, and checks the answer. */
static gpuopt_elimination_preprocessing_info by_rule(const model *m, uint32_t rule) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    const gpuopt_elimination_desc desc = model_desc(m);
    gpuopt_elimination_preprocessing *reduction = reduction_of(context, &desc, rule, &host);
    gpuopt_elimination_preprocessing_info info = reduction_info(reduction);
    must_not(reduction_fault(context, m, reduction, &host), m, 0);
    gpuopt_elimination_preprocessing_destroy(reduction);
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
    gpuopt_elimination_preprocessing_info info;
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
    gpuopt_elimination_preprocessing *r;
    gpuopt_elimination *e;
    model m = binary(3, 0);
    (void)state;
    /* x2 ? 2^62 x1 : 2^62 x0, which could be split into two functions with largest costs that do not fit together. */
    add(&m, 3, scope, (double[]){0, 0, 0, half, half, 0, half, half});
    reduced = model_desc(&m);
    assert_int_equal(gpuopt_elimination_preprocess(context, &reduced, GPUOPT_RULE_SPLIT, 0, &r), GPUOPT_OK);
    reduced = reduction_desc(r);
    assert_int_equal(gpuopt_elimination_create(context, &reduced, NULL, &e), GPUOPT_OK);
    gpuopt_elimination_destroy(e);
    gpuopt_elimination_preprocessing_destroy(r);
    model_free(&m);
    /* Without x0 there would be a function of more than 2^44 entries. */
    memset(sparse, 0, sizeof sparse);
    sparse[0].arity = 2, sparse[0].scope = scope, sparse[0].tuples = 1, sparse[0].tuple = tuple;
    sparse[0].cost = &five, sparse[0].default_cost = 1;
    sparse[1] = sparse[0];
    sparse[1].scope = (int32_t[]){0, 2};
    desc.variables = 3, desc.domain = domain, desc.functions = 2, desc.function = sparse;
    assert_int_equal(gpuopt_elimination_preprocess(context, &desc, GPUOPT_RULE_DEGREE, 0, &r), GPUOPT_OK);
    gpuopt_elimination_preprocessing_destroy(r);
    gpuopt_context_destroy(context);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(nothing_to_reduce),
    cmocka_unit_test(known_rules),
    cmocka_unit_test(rules_by_hand),
    cmocka_unit_test(large_numbers),
};
TEST_MAIN(tests)
