/* SPDX-License-Identifier: MIT
 *
 * The policies that drop messages, DROP and RECOMPUTE: from no limit down to the last byte that suffices, the answers
 * are those of brute force and, bit for bit, those of EXACT.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/elimination/handle.h"

static long asked, stop_every;

static int stop_now(void *user) {
    (void)user;
    return stop_every && ++asked % stop_every == 0;
}

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

/* The estimate names the chosen policy's bytes and operations among those of the policies tried. */
static void check_estimate(const gpuopt_elimination_estimate *e) {
    int k;
    assert_true(e->policy_bytes[e->policy] == handle_planned(e));
    assert_true(!(e->passes > 1 && e->policy != GPUOPT_POLICY_RECOMPUTE) && e->passes >= 1);
    for (k = GPUOPT_POLICY_EXACT; k < (int)e->policy; k++) /* those before did not fit */
        assert_true(!e->policy_bytes[k] || e->policy_bytes[k] > e->policy_bytes[e->policy]);
}

/* One policy, and every limit that its plans suggest, downwards. Returns how many plans there were; *passes: the most of
 * one. */
static long go_down(gpuopt_context *context, test_host *host, const model *m, gpuopt_elimination_desc desc,
                    const brute *b, const answer *exact, uint64_t seed, int *passes) {
    const int assigned = m->semiring != GPUOPT_SEMIRING_LOG_SUM_EXP;
    gpuopt_elimination_policy last = GPUOPT_POLICY_AUTO;
    long plans = 0;
    for (desc.memory_limit = 0;; plans++) {
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
        desc.memory_limit = handle_planned(&e) - 1;
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
            desc.memory_limit = 0;
            while (!handle_plan(context, &desc, &e)) {
                answer a = handle_measured(context, &host, &desc);
                if (e.passes > passes) passes = e.passes;
                assert_true(a.info.cost == best && a.assignment.cost == best);
                assert_true((int64_t)model_sum(&m, a.value) == best);
                must_not(other_bits(&a, &exact, 1), &m, seed);
                desc.memory_limit = handle_planned(&e) - 1;
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
    if (test_few()) {
        gpuopt_context_destroy(context);
        return;
    }
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

/* ---- Handles ---- */

static model draw(uint64_t seed, int32_t variables) {
    int32_t domain[16], k, j;
    model m;
    for (k = 0; k < 16; k++) domain[k] = 3;
    m = model_make(GPUOPT_COST_INT64, GPUOPT_SEMIRING_MIN_SUM, variables, domain);
    for (k = 0; k < variables; k++) {
        int32_t scope[3] = {k, (k + 1) % variables, (k + 3) % variables};
        gpuopt_elimination_function *f = model_add(&m, 3, scope, -1);
        for (j = 0; j < 27; j++) model_set(&m, f, j, (double)test_random_int(&seed, 0, 20));
    }
    return m;
}

/* As few bytes as RECOMPUTE does with. */
static void squeeze(gpuopt_context *context, gpuopt_elimination_desc *desc) {
    gpuopt_elimination_estimate e;
    desc->policy = GPUOPT_POLICY_RECOMPUTE;
    desc->memory_limit = 0;
    while (!handle_plan(context, desc, &e)) desc->memory_limit = handle_planned(&e) - 1;
    desc->memory_limit++;
}

/* Copies, conditions, variables left over: assigned in any order, and again. */
static void copies_and_conditions(void **state) {
    enum { VARIABLES = 10, COPIES = 3 };
    test_host host;
    gpuopt_context *context = test_context(&host);
    uint64_t seed;
    long several = 0;
    (void)state;
    for (seed = 1; seed <= 12; seed++) {
        model m = draw(seed, VARIABLES);
        gpuopt_elimination_desc desc = model_desc(&m);
        gpuopt_elimination *e[3];
        int64_t cost[3][9];
        int32_t order[VARIABLES - 2], condition[1] = {VARIABLES - 1}, k, p, copy, round;
        for (k = 0; k < VARIABLES - 2; k++) order[k] = (k * 3 + (int32_t)seed) % (VARIABLES - 2);
        desc.order = order;
        desc.order_count = VARIABLES - 2; /* one variable is left over */
        desc.condition = condition;
        desc.condition_count = 1;
        desc.copies = COPIES;
        desc.join_rest = seed % 2;
        for (p = 0; p < 3; p++) {
            gpuopt_elimination_estimate estimate;
            desc.memory_limit = 0;
            desc.policy = p == 0 ? GPUOPT_POLICY_EXACT : GPUOPT_POLICY_DROP;
            if (p == 2) squeeze(context, &desc);
            assert_int_equal(handle_plan(context, &desc, &estimate), GPUOPT_OK);
            several += p == 2 && estimate.passes > 1;
            e[p] = handle_create(context, &desc, &host);
        }
        for (round = 0; round < 2; round++) {
            for (p = 0; p < 3; p++) {
                for (copy = 0; copy < COPIES; copy++) {
                    int32_t fixed = (copy + round) % 2;
                    assert_int_equal(gpuopt_elimination_set_condition(e[p], GPUOPT_HOST, copy, &fixed), GPUOPT_OK);
                }
                handle_finish(e[p], 1 + p);
            }
            for (p = 0; p < 3 && desc.join_rest; p++) { /* what is left over can be read */
                assert_int_equal(
                    gpuopt_elimination_message_get(e[p], GPUOPT_HOST, VARIABLES - 2, 1, cost[p], NULL, NULL),
                    GPUOPT_OK);
                assert_memory_equal(cost[0], cost[p], 3 * sizeof *cost[0]);
            }
            for (k = 0; k < 3 * COPIES; k++) {
                gpuopt_elimination_assignment found[3];
                int32_t value[3][VARIABLES], fixed[VARIABLES];
                brute b;
                copy = k * 2 % COPIES;
                for (p = 0; p < 3; p++) {
                    memset(value[p], 0, sizeof value[p]);
                    value[p][VARIABLES - 2] = k / COPIES % 2;
                    gpuopt_desc_init(&found[p], sizeof found[p]);
                    assert_int_equal(gpuopt_elimination_assign(e[p], GPUOPT_HOST, copy, value[p], &found[p]),
                                     GPUOPT_OK);
                    assert_memory_equal(value[p], value[0], sizeof value[0]);
                    assert_memory_equal(&found[p], &found[0], sizeof found[0]);
                }
                memset(fixed, 0, sizeof fixed);
                fixed[VARIABLES - 1] = (copy + round) % 2;
                fixed[VARIABLES - 2] = k / COPIES % 2;
                b = brute_force(&m, order, VARIABLES - 2, fixed, NULL);
                assert_true((double)found[2].cost == (double)b.best);
            }
        }
        for (p = 0; p < 3; p++) gpuopt_elimination_destroy(e[p]);
        model_free(&m);
    }
    assert_true(several >= 6);
    gpuopt_context_destroy(context);
}

/* Stopped at every question, at every second one, and so on: each call gets further, and the answer is the same. */
static void stopped(void **state) {
    enum { VARIABLES = 10 };
    uint64_t seed;
    long stops = 0;
    (void)state;
    for (seed = 1; seed <= 6; seed++) {
        model m = draw(seed, VARIABLES);
        test_host host;
        gpuopt_context_desc context_desc = test_context_desc(&host);
        gpuopt_context *context = NULL;
        gpuopt_elimination_desc desc = model_desc(&m);
        int32_t order[VARIABLES], k;
        brute b;
        for (k = 0; k < VARIABLES; k++) order[k] = k;
        b = brute_force(&m, order, VARIABLES, NULL, NULL);
        context_desc.stop = stop_now;
        asked = stop_every = 0;
        assert_int_equal(gpuopt_context_create(&context_desc, &context), GPUOPT_OK);
        desc.order = order;
        desc.order_count = VARIABLES;
        squeeze(context, &desc);
        for (k = 1; k <= 4; k++) {
            gpuopt_elimination *e = handle_create(context, &desc, &host);
            gpuopt_elimination_info info = GPUOPT_INIT(gpuopt_elimination_info);
            gpuopt_elimination_assignment found = GPUOPT_INIT(gpuopt_elimination_assignment);
            int32_t value[VARIABLES] = {0}, untouched[VARIABLES] = {0}, calls = 0;
            stop_every = k;
            do assert_int_equal(gpuopt_elimination_step(e, 1000, &info), GPUOPT_OK);
            while (info.outcome == GPUOPT_MORE);
            assert_true((double)info.cost == (double)b.best);
            for (;;) {
                assert_int_equal(gpuopt_elimination_assign(e, GPUOPT_HOST, 0, value, &found), GPUOPT_OK);
                if (found.outcome != GPUOPT_MORE) break;
                assert_memory_equal(value, untouched, sizeof value);
                assert_true(calls++ < 1000);
                stops++;
            }
            assert_int_equal(found.outcome, GPUOPT_OPTIMAL);
            assert_memory_equal(value, b.value, sizeof value);
            stop_every = 0;
            gpuopt_elimination_destroy(e);
        }
        gpuopt_context_destroy(context);
        assert_int_equal(host.live, 0);
        model_free(&m);
    }
    assert_true(stops > 50);
}

/* What is not there without messages. */
static void states(void **state) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    model m = draw(3, 10);
    gpuopt_elimination_desc desc = model_desc(&m);
    gpuopt_elimination_policy policy;
    (void)state;
    for (policy = GPUOPT_POLICY_DROP; policy <= GPUOPT_POLICY_RECOMPUTE; policy++) {
        gpuopt_elimination *e;
        gpuopt_elimination_estimate plan;
        int32_t value[10] = {0}, k;
        int64_t bound[3];
        desc.policy = policy;
        desc.keep = GPUOPT_DEFAULT;
        e = handle_create(context, &desc, &host);
        assert_int_equal(gpuopt_elimination_assign(e, GPUOPT_HOST, 0, value, NULL), GPUOPT_ERROR_STATE);
        handle_finish(e, 1);
        assert_int_equal(gpuopt_elimination_get_bounds(e, GPUOPT_HOST, 0, 0, 0, 1, value, bound, NULL),
                         GPUOPT_ERROR_STATE);
        assert_int_equal(gpuopt_elimination_assign(e, GPUOPT_HOST, 0, value, NULL), GPUOPT_OK);
        for (k = 0; k < 10; k++) {
            gpuopt_elimination_message_info info = handle_message(e, k);
            assert_int_equal(!!info.ready, info.parent < 0);
        }
        gpuopt_elimination_destroy(e);
        desc.keep = GPUOPT_OFF; /* then nothing stays for an assignment */
        assert_int_equal(handle_plan(context, &desc, &plan), GPUOPT_OK);
        assert_int_equal(plan.policy, policy);
        e = handle_create(context, &desc, &host);
        handle_finish(e, 1);
        assert_int_equal(gpuopt_elimination_assign(e, GPUOPT_HOST, 0, value, NULL), GPUOPT_ERROR_STATE);
        gpuopt_elimination_destroy(e);
    }
    model_free(&m);
    gpuopt_context_destroy(context);
}

/* Memory that runs out anywhere is survived. */
static void failures(void **state) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    model m = draw(4, 10);
    gpuopt_elimination_desc desc = model_desc(&m);
    gpuopt_elimination *e = NULL;
    long live = host.live, at;
    (void)state;
    squeeze(context, &desc);
    for (at = 1;; at++) {
        gpuopt_status status;
        host.fail_at = host.allocations + at;
        status = gpuopt_elimination_create(context, &desc, &e);
        if (!status) break;
        assert_int_equal(status, GPUOPT_ERROR_MEMORY);
        assert_true(!e && host.live == live && at < 10000);
    }
    host.fail_at = 0;
    assert_true(at > 10);
    gpuopt_elimination_destroy(e);
    model_free(&m);
    gpuopt_context_destroy(context);
}

/* Where nothing fits, the log names the variable and the width, and no number in it is infinite. */
static void too_large(void **state) {
    enum { VARIABLES = 1100 };
    test_host host;
    gpuopt_context *context = test_context(&host);
    static int32_t domain[VARIABLES], order[VARIABLES];
    int32_t k, width;
    (void)state;
    for (width = 60; width <= VARIABLES; width += VARIABLES - 60) { /* 2^59 entries; more than a double holds */
        gpuopt_elimination_policy policy;
        model m;
        gpuopt_elimination_desc desc;
        char named[64];
        for (k = 0; k < width; k++) {
            domain[k] = 2;
            order[k] = k;
        }
        m = model_make(GPUOPT_COST_INT64, GPUOPT_SEMIRING_MIN_COUNT, width, domain);
        for (k = 1; k < width; k++) model_add_distance(&m, 0, k, 1); /* a star, its centre first */
        desc = model_desc(&m);
        desc.order = order;
        desc.order_count = width;
        snprintf(named, sizeof named, "variable 0 has %d variables", (int)width - 1);
        for (policy = GPUOPT_POLICY_AUTO; policy <= GPUOPT_POLICY_SLICE; policy++) {
            gpuopt_elimination_estimate e;
            desc.policy = policy;
            desc.memory_limit = 100000;
            host.error[0] = 0;
            if (!handle_plan(context, &desc, &e)) { /* the centre sliced: nothing is left of the star */
                assert_true(e.policy == GPUOPT_POLICY_SLICE && e.slices == 2);
                assert_true(e.policy_bytes[GPUOPT_POLICY_EXACT] == UINT64_MAX);
                continue;
            }
            assert_non_null(strstr(host.error, named));
            assert_null(strstr(host.error, "inf"));
            assert_null(strstr(host.error, "nan"));
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
    cmocka_unit_test(copies_and_conditions),
    cmocka_unit_test(stopped),
    cmocka_unit_test(states),
    cmocka_unit_test(failures),
    cmocka_unit_test(too_large),
};
TEST_MAIN(tests)
