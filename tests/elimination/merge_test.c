/* SPDX-License-Identifier: MIT
 *
 * Models with fewer values, made of lists over large domains, compared with the models themselves: the least cost, the
 * number of its assignments, and the assignment's cost there. With evidence, and with defaults 0, others and forbidden.
 */
#include <stdlib.h>
#include <string.h>

#include "gpuopt/search.h"
#include "examples/io/graphical_build.h"
#include "examples/io/graphical_merge.h"
#include "tests/support/support.h"

enum { VARIABLES = 4, FORBIDDEN = 1000 };

static int64_t draw_cost(uint64_t *seed) {
    return test_random_int(seed, 0, 4) ? test_random_int(seed, 0, 3) : FORBIDDEN + test_random_int(seed, 0, 5);
}

/* A function over `arity` variables from v on: of all tuples, or a list of tuples near the ends of the domains, some of
 * them repeated. */
static void add_function(builder *b, int32_t v, int32_t arity, int dense, uint64_t *seed) {
    const int32_t scope[] = {(v + arity - 1) % VARIABLES, v, (v + 1) % VARIABLES}, *domain = b->model->domain;
    const int64_t entries = dense ? builder_entries(b, arity, scope, INT64_MAX - 1) : 0,
                  tuples = dense ? -1 : test_random_int(seed, 0, 12);
    gpuopt_elimination_function *f = builder_function(b, arity, scope, tuples, entries);
    int64_t k;
    assert_non_null(f);
    f->default_cost = test_random_int(seed, 0, 2) ? draw_cost(seed) : 0;
    if (test_random_int(seed, 0, 9) == 0) f->default_cost = INT64_MAX;
    for (k = 0; k < (dense ? entries : tuples); k++) ((int64_t *)f->cost)[k] = draw_cost(seed);
    for (k = 0; k < tuples * arity; k++) {
        const int32_t x = (int32_t)test_random_int(seed, -2, 2), d = domain[scope[k % arity]];
        ((int32_t *)f->tuple)[k] = ((x < 0 ? d + x : x) % d + d) % d;
    }
}

/* Tables of one list have more than 2^20 entries. */
static graphical_model draw_model(uint64_t *seed) {
    const int32_t arity = (int32_t)test_random_int(seed, 2, 3);
    graphical_model m;
    builder b = {&m, 0, 0, 0, 0, 0};
    int32_t k;
    memset(&m, 0, sizeof m);
    for (k = 0; k < VARIABLES; k++) {
        const int32_t small = (int32_t)test_random_int(seed, 1, 4);
        assert_true(builder_variable(&b,
                                     k >= arity && arity == 2 ? small
                                     : k >= 3                 ? small
                                     : arity == 2             ? 1030
                                                              : 103,
                                     -1) >= 0);
    }
    for (k = 0; k < VARIABLES; k++)
        if (test_random_int(seed, 0, 1)) add_function(&b, k, 1, (int)test_random_int(seed, 0, 1), seed);
    {
        const int32_t scope[] = {0, 1, 2};
        gpuopt_elimination_function *f = builder_function(&b, arity, scope, 0, 0);
        assert_non_null(f);
        f->default_cost = test_random_int(seed, 0, 1);
    }
    for (k = 0; k < 5; k++) {
        const int32_t v = (int32_t)test_random_int(seed, 0, VARIABLES - 1),
                      of = arity == 2 ? 2 : (int32_t)test_random_int(seed, 2, 3);
        const int dense = m.domain[v] < 5 && m.domain[(v + of - 1) % VARIABLES] < 5 && of == 2;
        add_function(&b, v, of == 3 && v == 3 ? 2 : of, dense, seed);
    }
    add_function(&b, 0, 0, 0, seed);
    m.top = test_random_int(seed, 0, 1) ? FORBIDDEN : 0;
    if (m.top) return m;
    m.top = test_random_int(seed, 2, 12);
    return m;
}

typedef struct answer {
    gpuopt_elimination_info info;
    int32_t value[VARIABLES];
} answer;

static answer solve(gpuopt_context *context, const graphical_model *m, const int32_t *fixed) {
    gpuopt_elimination_desc desc = GPUOPT_INIT(gpuopt_elimination_desc);
    gpuopt_elimination_assignment found = GPUOPT_INIT(gpuopt_elimination_assignment);
    gpuopt_elimination *e = NULL;
    int32_t condition[VARIABLES], given[VARIABLES], k;
    answer a = {GPUOPT_INIT(gpuopt_elimination_info), {0}};
    desc.variables = m->variables;
    desc.domain = m->domain;
    desc.functions = m->functions;
    desc.function = m->function;
    desc.top = m->top;
    desc.semiring = GPUOPT_SEMIRING_MIN_COUNT;
    desc.evidence = condition;
    for (k = 0; k < VARIABLES; k++)
        if (fixed[k] >= 0) given[desc.evidence_count] = a.value[k] = fixed[k], condition[desc.evidence_count++] = k;
    assert_int_equal(gpuopt_elimination_create(context, &desc, NULL, &e), GPUOPT_OK);
    if (desc.evidence_count) assert_int_equal(gpuopt_elimination_set_evidence(e, GPUOPT_HOST, 0, given), GPUOPT_OK);
    while (a.info.outcome == GPUOPT_MORE) assert_int_equal(gpuopt_elimination_step(e, INT32_MAX, &a.info), GPUOPT_OK);
    if (a.info.outcome == GPUOPT_OPTIMAL)
        assert_int_equal(gpuopt_elimination_assign(e, GPUOPT_HOST, 0, a.value, &found), GPUOPT_OK);
    gpuopt_elimination_destroy(e);
    return a;
}

static void same_answers(void **state) {
    gpuopt_context *context = test_context(NULL);
    uint64_t seed;
    int models = test_times(400, 400), feasible = 0, merges = 0, fewer = 0;
    (void)state;
    for (seed = 1; seed <= (uint64_t)models; seed++) {
        uint64_t random = seed;
        graphical_model m = draw_model(&random);
        graphical_merge merge;
        int32_t fixed[VARIABLES], given[VARIABLES], k, permitted;
        int64_t cost, values = 0;
        double real;
        answer a, b;
        for (k = 0; k < VARIABLES; k++) {
            fixed[k] = given[k] = -1;
            if (test_random_int(&random, 0, 5) == 0) fixed[k] = (int32_t)test_random_int(&random, 0, m.domain[k] - 1);
        }
        merges += graphical_merge_values(&m, fixed, 1, &merge);
        assert_non_null(merge.first);
        for (k = 0; k < VARIABLES; k++) {
            values += merge.model.domain[k];
            if (fixed[k] >= 0) given[k] = graphical_merge_find(&merge, k, fixed[k]);
        }
        fewer += values <= 30;
        a = solve(context, &m, fixed);
        b = solve(context, &merge.model, given);
        assert_int_equal(a.info.outcome, b.info.outcome);
        if (a.info.outcome == GPUOPT_OPTIMAL) {
            assert_int_equal(a.info.cost, b.info.cost);
            assert_true(a.info.count == b.info.count);
            graphical_merge_expand(&merge, b.value);
            graphical_cost(&m, b.value, &permitted, &cost, &real);
            assert_true(permitted && cost == a.info.cost);
            for (k = 0; k < VARIABLES; k++) assert_true(fixed[k] < 0 || fixed[k] == b.value[k]);
            feasible++;
        }
        graphical_merge_free(&merge);
        graphical_free(&m);
    }
    assert_true(merges == models && fewer == models && feasible > models / 4);
    gpuopt_context_destroy(context);
}

/* Models with small tables, or without a value to lose, stay unchanged. */
static void nothing_to_merge(void **state) {
    graphical_model m;
    graphical_merge merge;
    builder b = {&m, 0, 0, 0, 0, 0};
    const int32_t scope[] = {0, 1};
    int32_t k;
    gpuopt_elimination_function *f;
    (void)state;
    memset(&m, 0, sizeof m);
    for (k = 0; k < 2; k++) assert_true(builder_variable(&b, 1025, -1) >= 0);
    f = builder_function(&b, 2, scope, 1025, 0);
    assert_non_null(f);
    for (k = 0; k < 1025; k++) {
        ((int32_t *)f->tuple)[2 * k] = ((int32_t *)f->tuple)[2 * k + 1] = k;
        ((int64_t *)f->cost)[k] = 1;
    }
    assert_int_equal(graphical_merge_values(&m, NULL, 0, &merge), 0);
    assert_int_equal(graphical_merge_find(&merge, 1, 7), 7);
    f->tuples = 1024;
    assert_int_equal(graphical_merge_values(&m, NULL, 0, &merge), 0); /* the last value stands for itself */
    f->tuples = 1023;
    assert_int_equal(graphical_merge_values(&m, NULL, 0, &merge), 1);
    assert_int_equal(merge.model.domain[0], 1024);
    graphical_merge_free(&merge);
    m.domain[0] = m.domain[1] = 1024;
    assert_int_equal(graphical_merge_values(&m, NULL, 0, &merge), 0); /* 2^20 entries */
    graphical_free(&m);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(same_answers),
    cmocka_unit_test(nothing_to_merge),
};
TEST_MAIN(tests)
