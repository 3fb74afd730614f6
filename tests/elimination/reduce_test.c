/* SPDX-License-Identifier: MIT
 *
 * Preprocessing: the reduced model has the answer of the model, by all assignments of both. Its assignments, optimal or
 * not, map back with their cost. Untouchable variables stay; refusals; memory failures at any place. Each rule by
 * itself: reduce_rules_test.c.
 */
#include <string.h>

#include "tests/elimination/reducing.h"

static void reductions_keep_the_answer(void **state) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    uint64_t seed;
    int32_t k, fired[8] = {0}, outcomes[8] = {0}, bit;
    (void)state;
    for (seed = 1; seed <= (uint64_t)test_times(200, 60); seed++)
        for (k = 0; k < MODEL_KINDS; k++) {
            uint64_t random = seed * 100 + (uint64_t)k;
            model m = reduction_draw(&random, k);
            for (bit = -1; bit < 7; bit++) {
                gpuopt_elimination_desc desc = model_desc(&m);
                gpuopt_elimination_preprocessing *reduction =
                    reduction_of(context, &desc, bit < 0 ? 0 : 1u << bit, &host);
                const gpuopt_elimination_preprocessing_info info = reduction_info(reduction);
                must_not(reduction_lift_fault(&m, reduction, &random), &m, seed);
                must_not(reduction_fault(context, &m, reduction, &host), &m, seed);
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
                gpuopt_elimination_preprocessing_destroy(reduction);
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

/* Conditioned variables, and variables that the order leaves over, keep their values. With any values of theirs the
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
            gpuopt_elimination_preprocessing *reduction;
            gpuopt_elimination_preprocessing_info info;
            gpuopt_elimination_desc desc, small_desc;
            int32_t value[MODEL_VARIABLES] = {0}, reduced[MODEL_VARIABLES] = {0}, rest[MODEL_VARIABLES], v, n = 0;
            model m = reduction_draw(&random, k), small;
            desc = model_desc(&m);
            draw_permutation(&random, m.variables, order);
            desc.order = order;
            desc.order_count = m.variables > 2 ? m.variables - 2 : 0;
            desc.evidence = order + desc.order_count;
            desc.evidence_count = m.variables > 1 ? 1 : 0; /* and another one is left over */
            reduction = reduction_of(context, &desc, 0, &host);
            info = reduction_info(reduction);
            small_desc = reduction_desc(reduction);
            small = reduction_model(reduction, &m);
            assert_int_equal(small_desc.evidence_count, desc.evidence_count);
            assert_int_equal(small_desc.order_count + m.variables - desc.order_count, small.variables);
            if (desc.evidence_count) assert_int_equal(info.original[small_desc.evidence[0]], desc.evidence[0]);
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
            gpuopt_elimination_preprocessing_destroy(reduction);
            model_free(&m);
        }
    assert_true(removed > test_times(500, 100));
    gpuopt_context_destroy(context);
    assert_int_equal(host.live, 0);
}

/* ---- Arguments, memory, stopping ---- */

static void refused(gpuopt_context *context, const test_host *host, const gpuopt_elimination_desc *desc, uint32_t rules,
                    int64_t work, gpuopt_status expected, const char *words) {
    gpuopt_elimination_preprocessing *reduction = (gpuopt_elimination_preprocessing *)context; /* anything but NULL */
    assert_int_equal(gpuopt_elimination_preprocess(context, desc, rules, work, &reduction), expected);
    assert_null(reduction);
    if (!strstr(host->error, words)) fail_msg("\"%s\" does not mention \"%s\"", host->error, words);
}

static void what_is_refused(void **state) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    model m = clique_of_three(4, 0);
    gpuopt_elimination_desc desc = model_desc(&m), small = GPUOPT_INIT(gpuopt_elimination_desc);
    gpuopt_elimination_preprocessing *reduction = NULL;
    gpuopt_elimination_preprocessing_info info = GPUOPT_INIT(gpuopt_elimination_preprocessing_info);
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
    assert_int_equal(gpuopt_elimination_preprocess(context, &desc, 0, 0, NULL), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_elimination_preprocess(NULL, &desc, 0, 0, &reduction), GPUOPT_ERROR_ARGUMENT);
    reduction = reduction_of(context, &desc, 0, &host);
    assert_int_equal(gpuopt_elimination_preprocessing_get_info(NULL, &info), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_elimination_preprocessing_get_info(reduction, NULL), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_elimination_preprocessing_get_desc(NULL, &small), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_elimination_preprocessing_get_desc(reduction, NULL), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_elimination_preprocessing_postsolve(NULL, value, value), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_elimination_preprocessing_postsolve(reduction, NULL, value), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_elimination_preprocessing_postsolve(reduction, value, NULL), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(reduction_info(reduction).variables, 4);
    assert_int_equal(gpuopt_elimination_preprocessing_postsolve(reduction, outside, value), GPUOPT_ERROR_ARGUMENT);
    assert_non_null(strstr(host.error, "reduced[2] = 3"));
    gpuopt_elimination_preprocessing_destroy(reduction);
    gpuopt_elimination_preprocessing_destroy(NULL);
    model_free(&m);
    gpuopt_context_destroy(context);
    assert_int_equal(host.live, 0);
}

/* The descriptors of the reduced model and of a relaxation of it have the options of the original descriptor, which may
 * no longer exist. */
static void options_are_kept(void **state) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    uint64_t seed = 5;
    model m = model_dense(&seed, GPUOPT_COST_INT64, GPUOPT_SEMIRING_MIN_SUM, 5, 3);
    gpuopt_elimination_desc desc = model_desc(&m), got = GPUOPT_INIT(gpuopt_elimination_desc);
    gpuopt_elimination_order_search search = {.struct_size = sizeof search, .seed = 7, .work = 1000};
    gpuopt_elimination_memory memory = {.struct_size = sizeof memory, .bytes = (uint64_t)1 << 30, .host_bytes = 77};
    gpuopt_elimination_messages messages = {.struct_size = sizeof messages, .model = 9};
    gpuopt_elimination_preprocessing *reduction = NULL;
    gpuopt_elimination_cost_shifting *relaxation = NULL;
    gpuopt_elimination *e;
    (void)state;
    desc.policy = GPUOPT_POLICY_MINI_BUCKET;
    desc.z = 2;
    desc.order_search = &search;
    desc.memory = &memory;
    desc.messages = &messages;
    assert_int_equal(gpuopt_elimination_preprocess(context, &desc, GPUOPT_RULE_JOIN, 0, &reduction), GPUOPT_OK);
    memset(&search, 0xAB, sizeof search);
    memset(&memory, 0xAB, sizeof memory);
    memset(&messages, 0xAB, sizeof messages);
    assert_int_equal(gpuopt_elimination_preprocessing_get_desc(reduction, &got), GPUOPT_OK);
    assert_true(got.order_search->seed == 7 && got.order_search->work == 1000 && got.policy == desc.policy);
    assert_true(got.memory->bytes == (uint64_t)1 << 30 && got.memory->host_bytes == 77 && got.messages->model == 9);
    assert_int_equal(gpuopt_elimination_shift_costs(context, &got, 2, &relaxation), GPUOPT_OK);
    gpuopt_elimination_preprocessing_destroy(reduction);
    assert_int_equal(gpuopt_elimination_cost_shifting_get_desc(relaxation, &got), GPUOPT_OK);
    assert_true(got.memory->bytes == (uint64_t)1 << 30 && got.memory->host_bytes == 77 && got.messages->model == 9);
    assert_int_equal(got.memory->retain_messages, GPUOPT_ON);
    e = handle_create(context, &got, &host);
    gpuopt_elimination_cost_shifting_destroy(relaxation);
    handle_finish(e, 10);
    gpuopt_elimination_destroy(e);
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
        model m = reduction_draw(&random, (int32_t)seed % MODEL_KINDS);
        gpuopt_elimination_desc desc = model_desc(&m);
        long fails = 0;
        for (;;) {
            gpuopt_elimination_preprocessing *reduction = NULL;
            gpuopt_status status;
            host.fail_at = host.allocations + 1 + fails;
            status = gpuopt_elimination_preprocess(context, &desc, 0, 0, &reduction);
            host.fail_at = 0;
            if (status == GPUOPT_OK) {
                must_not(reduction_fault(context, &m, reduction, &host), &m, seed);
                gpuopt_elimination_preprocessing_destroy(reduction);
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

/* After a stop at any place, by the hook or by its limit of work, the result has the model's answer. */
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
                gpuopt_elimination_preprocessing *reduction[2] = {NULL, NULL};
                model m = reduction_draw(&random, k);
                gpuopt_elimination_desc desc = model_desc(&m);
                with_stop.stop = stop_later;
                asked = 0;
                assert_int_equal(gpuopt_context_create(&with_stop, &context), GPUOPT_OK);
                assert_int_equal(gpuopt_elimination_preprocess(context, &desc, 0, 0, &reduction[0]), GPUOPT_OK);
                assert_int_equal(gpuopt_elimination_preprocess(other, &desc, 0, 30 * stop_from, &reduction[1]),
                                 GPUOPT_OK);
                by_hook += reduction_info(reduction[0]).outcome == GPUOPT_MORE;
                by_work += reduction_info(reduction[1]).outcome == GPUOPT_MORE;
                whole += reduction_info(reduction[1]).outcome != GPUOPT_MORE;
                must_not(reduction_fault(other, &m, reduction[0], &host), &m, seed);
                must_not(reduction_fault(other, &m, reduction[1], &host), &m, seed);
                gpuopt_elimination_preprocessing_destroy(reduction[0]);
                gpuopt_elimination_preprocessing_destroy(reduction[1]);
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
    cmocka_unit_test(what_is_refused),
    cmocka_unit_test(options_are_kept),
    cmocka_unit_test(memory_fails_anywhere),
    cmocka_unit_test(stopped_anywhere),
};
TEST_MAIN(tests)
