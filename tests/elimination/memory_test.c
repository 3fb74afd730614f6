/* SPDX-License-Identifier: MIT
 *
 * The policies that drop messages, DROP and RECOMPUTE, from no limit down to the last byte that suffices: the answers
 * equal brute force's and, bit for bit, EXACT's.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/elimination/handle.h"

/* Bits of two answers. */
static const char *other_bits(const answer *a, const answer *b, int assigned) {
    if (a->info.outcome != b->info.outcome || a->info.cost != b->info.cost) return "not the outcome and cost of EXACT";
    if (memcmp(&a->info.value, &b->info.value, sizeof a->info.value)) return "not the value of EXACT";
    if (a->info.count != b->info.count) return "not the count of EXACT";
    if (!assigned) return NULL;
    if (a->assignment.outcome != b->assignment.outcome || a->assignment.cost != b->assignment.cost)
        return "not the assignment's cost";
    if (memcmp(&a->assignment.value, &b->assignment.value, sizeof a->assignment.value)) return "not its value";
    return memcmp(a->value, b->value, sizeof a->value) ? "not the values of EXACT" : NULL;
}

/* The estimate lists the chosen policy's bytes and operations among the tried policies'. */
static void check_estimate(const gpuopt_elimination_estimate *e) {
    int k;
    assert_true(e->policy_bytes[e->policy] == handle_planned(e));
    assert_true(!(e->passes > 1 && e->policy != GPUOPT_POLICY_RECOMPUTE) && e->passes >= 1);
    for (k = GPUOPT_POLICY_EXACT; k < (int)e->policy; k++) /* the earlier policies did not fit */
        assert_true(!e->policy_bytes[k] || e->policy_bytes[k] > e->policy_bytes[e->policy]);
}

/* One policy, and every limit that its plans suggest, downwards. Returns how many plans there were; *passes: the most
 * of one. */
static long go_down(gpuopt_context *context, test_host *host, const model *m, gpuopt_elimination_desc desc,
                    const brute *b, const answer *exact, uint64_t seed, int *passes) {
    const int assigned = m->semiring != GPUOPT_SEMIRING_LOG_SUM_EXP;
    gpuopt_elimination_policy last = GPUOPT_POLICY_AUTO;
    gpuopt_elimination_memory memory = GPUOPT_INIT(gpuopt_elimination_memory);
    long plans = 0;
    desc.memory = &memory;
    for (;; plans++) {
        gpuopt_elimination_estimate e;
        answer a;
        host->error[0] = 0;
        if (handle_plan(context, &desc, &e)) {
            assert_non_null(strstr(host->error, "byte"));
            return plans;
        }
        if (e.policy == GPUOPT_POLICY_SLICE || e.policy == GPUOPT_POLICY_MINI_BUCKET) return plans;
        check_estimate(&e);
        assert_true(e.policy >= last);
        last = e.policy;
        if (e.passes > *passes) *passes = e.passes;
        a = handle_measured(context, host, &desc);
        must_not(answer_fault(m, b, &a, 1), m, seed);
        must_not(other_bits(&a, exact, assigned), m, seed);
        memory.bytes = handle_planned(&e) - 1;
    }
}

static void random_models(void **state) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    static const gpuopt_elimination_policy policies[] = {GPUOPT_POLICY_AUTO, GPUOPT_POLICY_DROP,
                                                         GPUOPT_POLICY_RECOMPUTE};
    const int times = test_times(60, 20);
    int32_t order[MODEL_VARIABLES], k, p;
    int passes[MODEL_KINDS] = {0};
    long plans[3] = {0};
    uint64_t seed;
    (void)state;
    for (seed = 1; seed <= (uint64_t)times; seed++)
        for (k = 0; k < MODEL_KINDS; k++) {
            uint64_t random = seed * 31 + (uint64_t)k;
            recipe r = recipe_draw(&random, model_kind[k].type, model_kind[k].semiring);
            gpuopt_elimination_desc desc;
            answer exact;
            model m;
            brute b;
            r.variables = seed % 3 ? 8 : 3;
            r.domain = seed % 3 ? 4 : 25;
            r.arity = 3;
            m = model_draw(&random, model_kind[k].type, model_kind[k].semiring, &r);
            desc = model_desc(&m);
            assert_int_equal(gpuopt_elimination_order(context, &desc, order, NULL, NULL), GPUOPT_OK);
            b = brute_force(&m, order, m.variables, NULL, NULL);
            desc.policy = GPUOPT_POLICY_EXACT;
            exact = handle_measured(context, &host, &desc);
            must_not(answer_fault(&m, &b, &exact, 1), &m, seed);
            for (p = 0; p < 3; p++) {
                desc.policy = policies[p];
                plans[p] += go_down(context, &host, &m, desc, &b, &exact, seed, &passes[k]);
            }
            model_free(&m);
        }
    assert_true(plans[1] >= (long)times * MODEL_KINDS && plans[2] >= (long)times * MODEL_KINDS);
    gpuopt_context_destroy(context);
}

/* Tables that dwarf everything else: the first one alone, and all others. */
static void dense_models(void **state) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    int32_t order[MODEL_VARIABLES], k;
    (void)state;
    for (k = 0; k < MODEL_KINDS; k++) {
        uint64_t seed = 11 + (uint64_t)k;
        model m = model_dense(&seed, model_kind[k].type, model_kind[k].semiring, 6, test_few() ? 4 : 6);
        gpuopt_elimination_desc desc = model_desc(&m);
        answer exact;
        brute b;
        int passes = 0;
        assert_int_equal(gpuopt_elimination_order(context, &desc, order, NULL, NULL), GPUOPT_OK);
        b = brute_force(&m, order, m.variables, NULL, NULL);
        desc.policy = GPUOPT_POLICY_EXACT;
        exact = handle_measured(context, &host, &desc);
        must_not(answer_fault(&m, &b, &exact, 1), &m, seed);
        for (desc.policy = GPUOPT_POLICY_AUTO; desc.policy <= GPUOPT_POLICY_RECOMPUTE; desc.policy++)
            go_down(context, &host, &m, desc, &b, &exact, seed, &passes);
        assert_true(test_few() || (model_kind[k].semiring == GPUOPT_SEMIRING_LOG_SUM_EXP ? passes == 1 : passes == 2));
        model_free(&m);
    }
    gpuopt_context_destroy(context);
}

/* ---- Models that are larger ---- */

/* A random chain, its costs in `cost` [variables - 1][values][values]. */
static model chain(uint64_t *seed, int32_t variables, int32_t values, int64_t *cost) {
    int32_t domain[64], v;
    int64_t k;
    model m;
    for (v = 0; v < variables; v++) domain[v] = values;
    m = model_make(GPUOPT_COST_INT64, GPUOPT_SEMIRING_MIN_SUM, variables, domain);
    for (v = 1; v < variables; v++) {
        gpuopt_elimination_function *f = model_add(&m, 2, (int32_t[]){v - 1, v}, -1);
        for (k = 0; k < (int64_t)values * values; k++, cost++) {
            *cost = test_random_int(seed, 0, 40);
            model_set(&m, f, k, (double)*cost);
        }
    }
    return m;
}

/* The shortest way through the chain's layers. */
static int64_t shortest(int32_t variables, int32_t values, const int64_t *cost) {
    int64_t *to = calloc((size_t)values, sizeof *to), *next = calloc((size_t)values, sizeof *next), best = INT64_MAX;
    int32_t v, a, b;
    for (v = 1; v < variables; v++, cost += (int64_t)values * values) {
        for (b = 0; b < values; b++) {
            next[b] = INT64_MAX;
            for (a = 0; a < values; a++)
                if (to[a] + cost[(int64_t)a * values + b] < next[b]) next[b] = to[a] + cost[(int64_t)a * values + b];
        }
        memcpy(to, next, sizeof *to * (size_t)values);
    }
    for (a = 0; a < values; a++) best = to[a] < best ? to[a] : best;
    free(to);
    free(next);
    return best;
}

/* Decisions of every width: 2 to 70000 values, up to 32 bits. */
static void widths(void **state) {
    static const int32_t sizes[] = {2, 3, 4, 5, 16, 17, 256, 257};
    test_host host;
    gpuopt_context *context = test_context(&host);
    uint64_t seed = 5;
    int k;
    (void)state;
    for (k = 0; k < (int)(sizeof sizes / sizeof *sizes) - (test_few() ? 2 : 0); k++) {
        enum { VARIABLES = 12 };
        const int32_t values = sizes[k];
        int64_t *cost = malloc(sizeof *cost * (VARIABLES - 1) * (size_t)values * (size_t)values), best;
        model m;
        gpuopt_elimination_desc desc;
        gpuopt_elimination_memory memory = GPUOPT_INIT(gpuopt_elimination_memory);
        answer exact;
        int passes = 0;
        assert_non_null(cost);
        m = chain(&seed, VARIABLES, values, cost);
        best = shortest(VARIABLES, values, cost);
        desc = model_desc(&m);
        desc.policy = GPUOPT_POLICY_EXACT;
        exact = handle_measured(context, &host, &desc);
        assert_true(exact.info.cost == best);
        for (desc.policy = GPUOPT_POLICY_DROP; desc.policy <= GPUOPT_POLICY_RECOMPUTE; desc.policy++) {
            gpuopt_elimination_estimate e;
            desc.memory = &memory;
            memory.bytes = 0;
            while (!handle_plan(context, &desc, &e)) {
                answer a = handle_measured(context, &host, &desc);
                if (e.passes > passes) passes = e.passes;
                assert_true(a.info.cost == best && a.assignment.cost == best);
                assert_true((int64_t)model_sum(&m, a.value) == best);
                must_not(other_bits(&a, &exact, 1), &m, seed);
                memory.bytes = handle_planned(&e) - 1;
            }
        }
        assert_true(values < 256 || passes >= 5); /* tables of the same size */
        model_free(&m);
        free(cost);
    }
    {
        enum { VALUES = 70000 }; /* a variable of many values: the largest of a list is the best */
        int32_t domain[2] = {VALUES, 2}, order[2] = {0, 1}, tuple[] = {69999, 1, 65536, 0};
        model m = model_make(GPUOPT_COST_INT64, GPUOPT_SEMIRING_MIN_SUM, 2, domain);
        gpuopt_elimination_function *f = model_add(&m, 2, order, 2);
        gpuopt_elimination_desc desc;
        answer a;
        memcpy((int32_t *)(uintptr_t)f->tuple, tuple, sizeof tuple);
        model_set(&m, f, 0, -5);
        model_set(&m, f, 1, -4);
        desc = model_desc(&m);
        desc.order = order;
        desc.order_count = 2;
        desc.policy = GPUOPT_POLICY_DROP;
        a = handle_measured(context, &host, &desc);
        assert_true(a.info.cost == -5 && a.value[0] == 69999 && a.value[1] == 1);
        model_free(&m);
    }
    gpuopt_context_destroy(context);
}

/* Messages of many tiles, some with rows left over, and partial joins: decisions as with messages. */
static void large_messages(void **state) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    int32_t k, v;
    (void)state;
    for (k = 0; k < MODEL_SEARCHED; k++) {
        enum { VARIABLES = 13 };
        uint64_t seed = 71 + (uint64_t)k;
        int32_t domain[VARIABLES], scope[VARIABLES], order[VARIABLES];
        model m;
        gpuopt_elimination_desc desc;
        gpuopt_elimination_function *f;
        answer exact, a;
        int64_t j;
        for (v = 0; v < VARIABLES; v++) {
            domain[v] = v % 4 == 1 ? 5 : v % 4 == 2 ? 3 : 2;
            scope[v] = order[v] = v;
        }
        m = model_make(model_kind[k].type, model_kind[k].semiring, VARIABLES, domain);
        f = model_add(&m, VARIABLES - 1, scope, -1);
        for (j = 0; j < model_entries(&m, scope, VARIABLES - 1); j++)
            model_set(&m, f, j, (double)test_random_int(&seed, 0, 9) * (m.type == GPUOPT_COST_DOUBLE ? 0.1 : 1));
        for (v = 0; v < VARIABLES; v++) {
            int32_t pair[2] = {v, (v + 1) % VARIABLES};
            f = model_add(&m, 2, pair, -1);
            for (j = 0; j < domain[pair[0]] * domain[pair[1]]; j++)
                model_set(&m, f, j, (double)test_random_int(&seed, 0, 9) * (m.type == GPUOPT_COST_DOUBLE ? 0.3 : 1));
        }
        desc = model_desc(&m);
        desc.order = order;
        desc.order_count = VARIABLES;
        desc.policy = GPUOPT_POLICY_EXACT;
        exact = handle_measured(context, &host, &desc);
        for (desc.policy = GPUOPT_POLICY_DROP; desc.policy <= GPUOPT_POLICY_RECOMPUTE; desc.policy++) {
            a = handle_measured(context, &host, &desc);
            must_not(other_bits(&a, &exact, 1), &m, seed);
            assert_true(m.type != GPUOPT_COST_DOUBLE || handle_planned(&a.estimate) < handle_planned(&exact.estimate));
        }
        model_free(&m);
    }
    gpuopt_context_destroy(context);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(random_models),
    cmocka_unit_test(dense_models),
    cmocka_unit_test(widths),
    cmocka_unit_test(large_messages),
};
TEST_MAIN(tests)
