/* SPDX-License-Identifier: MIT
 *
 * Decisions of large messages, most of which a GPU finds together with the message. The values of the first variables
 * of an order, for given values of the others, are compared with all their values. Few different costs, so that there
 * are ties; two values to 20; messages with rows that do not fill words of decisions; copies with other conditions;
 * passes.
 */
#include <math.h>
#include <string.h>

#include "gpuopt/search.h"
#include "tests/elimination/handle.h"

enum { LEAST_ENTRIES = 1 << 17, SMALL = 3, WIDTHS = 4 };

/* Raises the largest sum so that stored costs have 8, 16, 32 and 64 bits; the last are decided in a separate pass. */
static const int64_t raised[WIDTHS] = {0, 40000, 100000000, 1000000000000};

/* Functions over all variables from `first` on, without `lacking`. */
static void add_function(model *m, int32_t first, int32_t lacking, int forbidden, uint64_t *seed) {
    int32_t scope[MODEL_VARIABLES], arity = 0, v;
    const int64_t never = m->semiring == GPUOPT_SEMIRING_MAX_SUM ? INT64_MIN : INT64_MAX;
    int64_t entries, e;
    gpuopt_elimination_function *f;
    for (v = first; v < m->variables; v++)
        if (v != lacking) scope[arity++] = v;
    f = model_add(m, arity, scope, -1);
    entries = model_entries(m, scope, arity);
    for (e = 0; e < entries; e++)
        ((int64_t *)f->cost)[e] = test_random_int(seed, 0, 99) < forbidden ? never : test_random_int(seed, 0, SMALL);
}

/* Variables 0 .. eliminated - 1 with `values` values, and others, until the smallest message is large. width: of the
 * stored costs. */
static model draw(gpuopt_elimination_semiring semiring, int32_t eliminated, int32_t values, int width, int forbidden,
                  uint64_t *seed) {
    static const int32_t sizes[] = {3, 5, 2, 7};
    int32_t domain[MODEL_VARIABLES], variables = 0, v;
    int64_t entries = 1;
    gpuopt_elimination_function *f;
    model m;
    for (; variables < eliminated; variables++) domain[variables] = values;
    for (; entries < LEAST_ENTRIES; variables++) {
        assert_true(variables < MODEL_VARIABLES);
        domain[variables] = sizes[(variables + values) % 4];
        entries *= domain[variables];
    }
    m = model_make(GPUOPT_COST_INT64, semiring, variables, domain);
    for (v = 0; v < eliminated; v++) {
        add_function(&m, v, v + 1 < eliminated ? v + 1 : variables - 1, forbidden, seed);
        add_function(&m, v, variables - 2, 0, seed);
        model_add(&m, 2, (int32_t[]){v, variables - 3}, -1); /* zeros */
    }
    f = model_add(&m, 1, (int32_t[]){variables - 1}, -1);
    model_set(&m, f, 0, (double)(semiring == GPUOPT_SEMIRING_MAX_SUM ? -raised[width] : raised[width]));
    return m;
}

/* The best values of the first variables, the smallest among equals, the last of them first: in `value`. Returns the
 * sum. */
static long double try_all(const model *m, int32_t eliminated, int32_t *value) {
    const int sign = m->semiring == GPUOPT_SEMIRING_MAX_SUM ? -1 : 1;
    int32_t best[MODEL_VARIABLES] = {0}, v;
    long double least = HUGE_VALL;
    for (v = 0; v < eliminated; v++) value[v] = 0;
    do {
        const long double sum = sign * model_sum(m, value);
        if (sum < least) {
            least = sum;
            memcpy(best, value, sizeof *best * (size_t)eliminated);
        }
        for (v = 0; v < eliminated && ++value[v] == m->domain[v]; v++) value[v] = 0;
    } while (v < eliminated);
    memcpy(value, best, sizeof *best * (size_t)eliminated);
    return sign * least;
}

/* Assigns `times` times, half of these to neighbours of the last one. */
static void check(gpuopt_elimination *elimination, const model *m, int32_t copy, int32_t eliminated, int32_t fixed,
                  int32_t fixed_to, int times, uint64_t *seed) {
    int32_t expected[MODEL_VARIABLES], found[MODEL_VARIABLES], v, k;
    memset(expected, 0, sizeof expected);
    for (k = 0; k < times; k++) {
        gpuopt_elimination_assignment a = GPUOPT_INIT(gpuopt_elimination_assignment);
        long double sum;
        for (v = m->variables - 1; v >= eliminated; v--) {
            if (k % 2 == 0) expected[v] = (int32_t)test_random_int(seed, 0, m->domain[v] - 1);
            else if (++expected[v] < m->domain[v]) break;
            else expected[v] = 0;
        }
        if (fixed >= 0) expected[fixed] = fixed_to;
        memcpy(found, expected, sizeof found);
        sum = try_all(m, eliminated, expected);
        assert_int_equal(gpuopt_elimination_assign(elimination, GPUOPT_HOST, copy, found, &a), GPUOPT_OK);
        if (isinf(sum)) {
            assert_int_equal(a.outcome, GPUOPT_INFEASIBLE);
            continue;
        }
        assert_int_equal(a.outcome, GPUOPT_OPTIMAL);
        assert_true((long double)a.cost == sum);
        assert_memory_equal(found, expected, sizeof *found * (size_t)m->variables);
    }
}

/* One handle; with `passes` > 1 as little memory as this number of passes needs. conditions: two copies, with different
 * values of the last variable but one. */
static void check_model(gpuopt_context *context, const test_host *host, const model *m, int32_t eliminated,
                        int32_t passes, int conditions, int32_t bits, uint64_t *seed) {
    static const int32_t order[] = {0, 1, 2};
    const int32_t fixed = m->variables - 2;
    gpuopt_elimination_desc desc = model_desc(m);
    gpuopt_elimination_memory memory = GPUOPT_INIT(gpuopt_elimination_memory);
    gpuopt_elimination_estimate e;
    gpuopt_elimination *elimination;
    int32_t copy;
    desc.order = order;
    desc.order_count = eliminated;
    desc.policy = GPUOPT_POLICY_DROP;
    desc.evidence_count = conditions;
    desc.evidence = &fixed;
    desc.batch_size = conditions ? 2 : 1;
    assert_int_equal(handle_plan(context, &desc, &e), GPUOPT_OK);
    for (desc.policy = passes > 1 ? GPUOPT_POLICY_RECOMPUTE : GPUOPT_POLICY_DROP; e.passes < passes;) {
        desc.memory = &memory;
        memory.bytes = handle_planned(&e) - 1;
        assert_int_equal(handle_plan(context, &desc, &e), GPUOPT_OK);
    }
    assert_int_equal(e.passes, passes);
    assert_int_equal(e.bits, bits);
    elimination = handle_create(context, &desc, host);
    for (copy = 0; copy < desc.batch_size && conditions; copy++)
        assert_int_equal(gpuopt_elimination_set_evidence(elimination, GPUOPT_HOST, copy, (int32_t[]){1 - copy}),
                         GPUOPT_OK);
    handle_finish(elimination, 1);
    for (copy = 0; copy < desc.batch_size; copy++)
        check(elimination, m, copy, eliminated, conditions ? fixed : -1, 1 - copy,
              passes > 1   ? 6
              : test_few() ? 40
                           : 300,
              seed);
    gpuopt_elimination_destroy(elimination);
}

static void one_variable(void **state) {
    static const int32_t values[] = {2, 3, 4, 5, 7, 12, 16, 17, 20};
    test_host host;
    gpuopt_context *context = test_context(&host);
    uint64_t seed = 3;
    int k;
    (void)state;
    for (k = 0; k < (int)(sizeof values / sizeof *values); k++) {
        const gpuopt_elimination_semiring semiring = k % 2 ? GPUOPT_SEMIRING_MAX_SUM : GPUOPT_SEMIRING_MIN_SUM;
        const int width = k % WIDTHS;
        model m = draw(semiring, 1, values[k], width, k % 3 == 2 ? 60 : 0, &seed);
        check_model(context, &host, &m, 1, 1, 0, 8 << width, &seed);
        check_model(context, &host, &m, 1, 1, 1, 8 << width, &seed);
        model_free(&m);
    }
    gpuopt_context_destroy(context);
    assert_int_equal(host.live, 0);
}

static void several_variables(void **state) {
    static const int32_t values[] = {2, 3, 5, 3};
    test_host host;
    gpuopt_context *context = test_context(&host);
    uint64_t seed = 4;
    int32_t k, passes;
    (void)state;
    for (k = 0; k < (test_few() ? 2 : 4); k++) {
        const int32_t eliminated = values[k] == 2 ? 3 : 2;
        const int width = (k + 3) % WIDTHS;
        model m =
            draw(k % 2 ? GPUOPT_SEMIRING_MAX_SUM : GPUOPT_SEMIRING_MIN_SUM, eliminated, values[k], width, 5 * k, &seed);
        for (passes = 2; passes >= 1; passes--) /* in memory where no handle of this model was */
            check_model(context, &host, &m, eliminated, passes, 0, 8 << width, &seed);
        model_free(&m);
    }
    gpuopt_context_destroy(context);
    assert_int_equal(host.live, 0);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(one_variable),
    cmocka_unit_test(several_variables),
};
TEST_MAIN(tests)
