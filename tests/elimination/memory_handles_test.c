/* SPDX-License-Identifier: MIT
 *
 * Handles under the policies that drop messages, DROP and RECOMPUTE: copies and conditions, stopping and continuing,
 * refusals in each state, memory failures, and models that are too large.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpuopt/search.h"
#include "gpuopt/inference.h"
#include "tests/elimination/handle.h"

static long asked, stop_every;

static int stop_now(void *user) {
    (void)user;
    return stop_every && ++asked % stop_every == 0;
}

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
static void squeeze(gpuopt_context *context, gpuopt_elimination_desc *desc, gpuopt_elimination_memory *memory) {
    gpuopt_elimination_estimate e;
    desc->policy = GPUOPT_POLICY_RECOMPUTE;
    desc->memory = memory;
    memory->bytes = 0;
    while (!handle_plan(context, desc, &e)) memory->bytes = handle_planned(&e) - 1;
    memory->bytes++;
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
        gpuopt_elimination_messages messages = GPUOPT_INIT(gpuopt_elimination_messages);
        gpuopt_elimination_memory memory = GPUOPT_INIT(gpuopt_elimination_memory);
        gpuopt_elimination *e[3];
        int64_t cost[3][9];
        int32_t order[VARIABLES - 2], condition[1] = {VARIABLES - 1}, k, p, copy, round;
        for (k = 0; k < VARIABLES - 2; k++) order[k] = (k * 3 + (int32_t)seed) % (VARIABLES - 2);
        desc.order = order;
        desc.order_count = VARIABLES - 2; /* one variable is left over */
        desc.evidence = condition;
        desc.evidence_count = 1;
        desc.batch_size = COPIES;
        desc.messages = &messages;
        messages.join_rest = seed % 2;
        for (p = 0; p < 3; p++) {
            gpuopt_elimination_estimate estimate;
            desc.memory = &memory;
            memory.bytes = 0;
            desc.policy = p == 0 ? GPUOPT_POLICY_EXACT : GPUOPT_POLICY_DROP;
            if (p == 2) squeeze(context, &desc, &memory);
            assert_int_equal(handle_plan(context, &desc, &estimate), GPUOPT_OK);
            several += p == 2 && estimate.passes > 1;
            e[p] = handle_create(context, &desc, &host);
        }
        for (round = 0; round < 2; round++) {
            for (p = 0; p < 3; p++) {
                for (copy = 0; copy < COPIES; copy++) {
                    int32_t fixed = (copy + round) % 2;
                    assert_int_equal(gpuopt_elimination_set_evidence(e[p], GPUOPT_HOST, copy, &fixed), GPUOPT_OK);
                }
                handle_finish(e[p], 1 + p);
            }
            for (p = 0; p < 3 && messages.join_rest; p++) { /* left-over functions can be read */
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

/* Stopped at every call of the hook, at every second one, and so on: each call makes progress, and the answer is the
 * same. */
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
        gpuopt_elimination_memory memory = GPUOPT_INIT(gpuopt_elimination_memory);
        int32_t order[VARIABLES], k;
        brute b;
        for (k = 0; k < VARIABLES; k++) order[k] = k;
        b = brute_force(&m, order, VARIABLES, NULL, NULL);
        context_desc.stop = stop_now;
        asked = stop_every = 0;
        assert_int_equal(gpuopt_context_create(&context_desc, &context), GPUOPT_OK);
        desc.order = order;
        desc.order_count = VARIABLES;
        squeeze(context, &desc, &memory);
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

/* Data that are missing without messages. */
static void states(void **state) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    model m = draw(3, 10);
    gpuopt_elimination_desc desc = model_desc(&m);
    gpuopt_elimination_memory memory = GPUOPT_INIT(gpuopt_elimination_memory);
    gpuopt_elimination_policy policy;
    (void)state;
    for (policy = GPUOPT_POLICY_DROP; policy <= GPUOPT_POLICY_RECOMPUTE; policy++) {
        gpuopt_elimination *e;
        gpuopt_elimination_estimate plan;
        int32_t value[10] = {0}, k;
        int64_t bound[3];
        desc.policy = policy;
        desc.memory = &memory;
        memory.retain_messages = GPUOPT_DEFAULT;
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
        memory.retain_messages = GPUOPT_OFF; /* then nothing stays for an assignment */
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
    gpuopt_elimination_memory memory = GPUOPT_INIT(gpuopt_elimination_memory);
    gpuopt_elimination *e = NULL;
    long live = host.live, at;
    (void)state;
    squeeze(context, &desc, &memory);
    for (at = 1;; at++) {
        gpuopt_status status;
        host.fail_at = host.allocations + at;
        status = gpuopt_elimination_create(context, &desc, NULL, &e);
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

/* If nothing fits, the log names the variable and the width, and no number in it is infinite. */
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
        gpuopt_elimination_memory memory = GPUOPT_INIT(gpuopt_elimination_memory);
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
            desc.memory = &memory;
            memory.bytes = 100000;
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
    cmocka_unit_test(copies_and_conditions),
    cmocka_unit_test(stopped),
    cmocka_unit_test(states),
    cmocka_unit_test(failures),
    cmocka_unit_test(too_large),
};
TEST_MAIN(tests)
