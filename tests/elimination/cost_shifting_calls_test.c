/* SPDX-License-Identifier: MIT
 *
 * Relaxations with shifted costs: refusals, memory failures at any place, and stops at any place.
 */
#include <string.h>

#include "tests/elimination/shifting.h"

static model chain(gpuopt_elimination_semiring semiring, gpuopt_elimination_cost type) {
    model m = model_make(type, semiring, 4, NULL);
    int32_t x, y;
    for (x = 0; x < 4; x++)
        for (y = x + 1; y < 4; y++) {
            const int32_t scope[2] = {x, y};
            gpuopt_elimination_function *f = model_add(&m, 2, scope, -1);
            model_set(&m, f, 0, x + 2 * y);
            model_set(&m, f, 3, 3 * x + y);
            model_set(&m, f, 1 + x % 2, 2);
        }
    return m;
}

static void refused(gpuopt_context *context, const test_host *host, const gpuopt_elimination_desc *desc,
                    gpuopt_status expected, const char *words) {
    gpuopt_elimination_cost_shifting *relaxation = (gpuopt_elimination_cost_shifting *)context; /* anything but NULL */
    assert_int_equal(gpuopt_elimination_shift_costs(context, desc, 3, &relaxation), expected);
    assert_null(relaxation);
    if (!strstr(host->error, words)) fail_msg("\"%s\" does not mention \"%s\"", host->error, words);
}

static void what_is_refused(void **state) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    static const int32_t order[] = {0, 1, 2};
    model m = chain(GPUOPT_SEMIRING_MIN_SUM, GPUOPT_COST_INT64),
          sum = chain(GPUOPT_SEMIRING_LOG_SUM_EXP, GPUOPT_COST_DOUBLE),
          count = chain(GPUOPT_SEMIRING_MIN_COUNT, GPUOPT_COST_INT64);
    gpuopt_elimination_cost_shifting *relaxation = NULL;
    gpuopt_elimination_cost_shifting_info info = GPUOPT_INIT(gpuopt_elimination_cost_shifting_info);
    gpuopt_elimination_desc desc = model_desc(&sum), split = GPUOPT_INIT(gpuopt_elimination_desc);
    gpuopt_elimination_messages messages = GPUOPT_INIT(gpuopt_elimination_messages);
    (void)state;
    desc.policy = GPUOPT_POLICY_MINI_BUCKET;
    desc.z = 2;
    refused(context, &host, &desc, GPUOPT_ERROR_UNSUPPORTED, "MIN_SUM and MAX_SUM only");
    desc = model_desc(&count);
    desc.policy = GPUOPT_POLICY_EXACT;
    refused(context, &host, &desc, GPUOPT_ERROR_UNSUPPORTED, "MIN_SUM and MAX_SUM only");
    desc.policy = GPUOPT_POLICY_MINI_BUCKET;
    refused(context, &host, &desc, GPUOPT_ERROR_UNSUPPORTED, "MIN_COUNT has no mini-buckets");
    desc = model_desc(&m);
    refused(context, &host, &desc, GPUOPT_ERROR_UNSUPPORTED, "not MINI_BUCKET");
    desc.policy = GPUOPT_POLICY_MINI_BUCKET;
    desc.batch_size = 2;
    refused(context, &host, &desc, GPUOPT_ERROR_UNSUPPORTED, "batch_size");
    desc.batch_size = 0;
    desc.messages = &messages;
    messages.join_rest = 1;
    refused(context, &host, &desc, GPUOPT_ERROR_UNSUPPORTED, "join_rest");
    messages.join_rest = 0;
    desc.order = order;
    desc.order_count = 3;
    refused(context, &host, &desc, GPUOPT_ERROR_UNSUPPORTED, "leaves variables over");
    desc.order = NULL;
    desc.order_count = 0;
    refused(context, &host, NULL, GPUOPT_ERROR_ARGUMENT, "desc is NULL");
    assert_int_equal(gpuopt_elimination_shift_costs(context, &desc, -1, &relaxation), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_elimination_shift_costs(context, &desc, 1, NULL), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_elimination_shift_costs(NULL, &desc, 1, &relaxation), GPUOPT_ERROR_ARGUMENT);
    desc.z = -1;
    refused(context, &host, &desc, GPUOPT_ERROR_ARGUMENT, "z");
    desc.z = 2;
    relaxation = shifting_of(context, &desc, 3, &host);
    assert_int_equal(gpuopt_elimination_cost_shifting_get_info(NULL, &info), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_elimination_cost_shifting_get_info(relaxation, NULL), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_elimination_cost_shifting_get_desc(NULL, &split), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_elimination_cost_shifting_get_desc(relaxation, NULL), GPUOPT_ERROR_ARGUMENT);
    gpuopt_elimination_cost_shifting_destroy(relaxation);
    gpuopt_elimination_cost_shifting_destroy(NULL);
    model_free(&m);
    model_free(&sum);
    model_free(&count);
    gpuopt_context_destroy(context);
    assert_int_equal(host.live, 0);
}

static void memory_fails_anywhere(void **state) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    model m = chain(GPUOPT_SEMIRING_MIN_SUM, GPUOPT_COST_INT64);
    gpuopt_elimination_desc desc = model_desc(&m);
    const long live = host.live;
    long fails = 0;
    (void)state;
    desc.policy = GPUOPT_POLICY_MINI_BUCKET;
    desc.z = 2;
    for (;;) {
        gpuopt_elimination_cost_shifting *relaxation = NULL;
        gpuopt_status status;
        host.fail_at = host.allocations + 1 + fails;
        status = gpuopt_elimination_shift_costs(context, &desc, 2, &relaxation);
        host.fail_at = 0;
        if (status == GPUOPT_OK) {
            gpuopt_elimination_cost_shifting_destroy(relaxation);
            break;
        }
        assert_int_equal(status, GPUOPT_ERROR_MEMORY);
        assert_null(relaxation);
        assert_int_equal(host.live, live);
        assert_true(fails++ < 10000);
    }
    assert_true(fails > 20);
    assert_int_equal(host.live, live);
    model_free(&m);
    gpuopt_context_destroy(context);
}

static long asked, stop_from;

static int stop_later(void *user) {
    (void)user;
    return ++asked >= stop_from;
}

/* After a stop at any place, the result is a valid relaxation. */
static void stopped_anywhere(void **state) {
    model m = chain(GPUOPT_SEMIRING_MAX_SUM, GPUOPT_COST_INT64);
    gpuopt_elimination_desc desc = model_desc(&m);
    static const int32_t order[] = {0, 1, 2, 3};
    const brute b = brute_force(&m, order, 4, NULL, NULL);
    int without = 0, with = 0;
    uint64_t seed = 1;
    (void)state;
    desc.order = order;
    desc.order_count = 4;
    desc.policy = GPUOPT_POLICY_MINI_BUCKET;
    desc.z = 2;
    for (stop_from = 1; stop_from < 60; stop_from++) {
        test_host host;
        gpuopt_context_desc with_stop = test_context_desc(&host);
        gpuopt_context *context = NULL;
        gpuopt_elimination_cost_shifting *relaxation;
        gpuopt_elimination_cost_shifting_info info;
        with_stop.stop = stop_later;
        asked = 0;
        assert_int_equal(gpuopt_context_create(&with_stop, &context), GPUOPT_OK);
        relaxation = shifting_of(context, &desc, 5, &host);
        info = shifting_info(relaxation);
        must_not(shifting_costs_fault(&m, relaxation, &seed), &m, 0);
        if (info.outcome == GPUOPT_MORE) without++;
        else {
            assert_true(bounds(&m, shifting_bound(&m, &info), b.best));
            with++;
        }
        gpuopt_elimination_cost_shifting_destroy(relaxation);
        gpuopt_context_destroy(context);
        assert_int_equal(host.live, 0);
    }
    assert_true(without > 0 && with > 0);
    model_free(&m);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(what_is_refused),
    cmocka_unit_test(memory_fails_anywhere),
    cmocka_unit_test(stopped_anywhere),
};
TEST_MAIN(tests)
