/* SPDX-License-Identifier: MIT
 *
 * General promises of the header, for the calls that only elimination has. Stops at any place change no answer, arrays
 * in device memory hold the same data as arrays in host memory, and info and estimates fit smaller structs. The answers
 * are compared with brute force.
 */
#include <stdlib.h>
#include <string.h>

#include "gpuopt/search.h"
#include "gpuopt/inference.h"
#include "tests/elimination/handle.h"

enum { VARIABLES = 8, ENTRIES = 4096 };

/* ---- Stopping ---- */

static long asked, stop_every;

static int stop_now(void *user) {
    (void)user;
    return stop_every && ++asked % stop_every == 0;
}

static gpuopt_context *stopping_context(test_host *host) {
    gpuopt_context_desc desc = test_context_desc(host);
    gpuopt_context *context = NULL;
    desc.stop = stop_now;
    asked = stop_every = 0;
    assert_int_equal(gpuopt_context_create(&desc, &context), GPUOPT_OK);
    return context;
}

/* Random functions over up to three of the variables: several levels, some buckets with many inputs. */
static model draw(uint64_t seed, gpuopt_elimination_semiring semiring) {
    model m = model_make(GPUOPT_COST_INT64, semiring, VARIABLES, NULL);
    int32_t k, j;
    for (k = 0; k < VARIABLES; k++) {
        int32_t scope[3] = {k, (k + 1) % VARIABLES, (k + 3) % VARIABLES};
        gpuopt_elimination_function *f = model_add(&m, 3, scope, -1);
        for (j = 0; j < 8; j++) model_set(&m, f, j, (double)test_random_int(&seed, 0, 20));
    }
    return m;
}

/* Eliminates and assigns, with calls for `at_once` variables and any number of stops. Returns the number of stops. */
static long solve(gpuopt_elimination *e, int32_t at_once, gpuopt_elimination_info *info, int32_t *value,
                  gpuopt_elimination_assignment *assignment) {
    long stops = 0, calls = 0;
    do {
        int64_t before = info->eliminated;
        assert_int_equal(gpuopt_elimination_step(e, at_once, info), GPUOPT_OK);
        stops += info->outcome == GPUOPT_MORE && info->eliminated < before + at_once;
        assert_true(calls++ < 100000);
    } while (info->outcome == GPUOPT_MORE);
    if (!assignment) return stops;
    for (;;) {
        int32_t untouched[VARIABLES];
        memcpy(untouched, value, sizeof untouched);
        assert_int_equal(gpuopt_elimination_assign(e, GPUOPT_HOST, 0, value, assignment), GPUOPT_OK);
        if (assignment->outcome != GPUOPT_MORE) return stops;
        assert_memory_equal(value, untouched, sizeof untouched);
        assert_true(calls++ < 100000);
        stops++;
    }
}

/* Every policy and both ways of keeping messages, stopped at every call of the hook, at every second one, and so on. */
static void stopped_anywhere(void **state) {
    static const int32_t at_once[] = {1, 3, 1000000};
    uint64_t seed;
    (void)state;
    for (seed = 1; seed <= 6; seed++) {
        model m = draw(seed, GPUOPT_SEMIRING_MIN_SUM);
        brute b;
        int32_t order[VARIABLES], k, way;
        for (k = 0; k < VARIABLES; k++) order[k] = k;
        b = brute_force(&m, order, VARIABLES, NULL, NULL);
        for (way = 0; way < 4 * 3 * 3; way++) {
            test_host host;
            gpuopt_context *context = stopping_context(&host);
            gpuopt_elimination_desc desc = model_desc(&m);
            gpuopt_elimination_memory memory = GPUOPT_INIT(gpuopt_elimination_memory);
            gpuopt_elimination_estimate exact = GPUOPT_INIT(gpuopt_elimination_estimate);
            gpuopt_elimination_info info = GPUOPT_INIT(gpuopt_elimination_info);
            gpuopt_elimination_assignment found = GPUOPT_INIT(gpuopt_elimination_assignment);
            gpuopt_elimination *e;
            int32_t value[VARIABLES] = {0}, policy = way % 4;
            long stops;
            desc.order = order;
            desc.order_count = VARIABLES;
            desc.policy = policy == 2   ? GPUOPT_POLICY_SLICE
                          : policy == 3 ? GPUOPT_POLICY_MINI_BUCKET
                                        : GPUOPT_POLICY_EXACT;
            desc.z = policy == 3 ? 2 : 0;
            desc.memory = &memory;
            memory.retain_messages = policy == 1 ? GPUOPT_OFF : GPUOPT_ON;
            if (policy == 2) { /* as few bytes as it can do with, found by trying */
                desc.policy = GPUOPT_POLICY_EXACT;
                assert_int_equal(handle_plan(context, &desc, &exact), GPUOPT_OK);
                desc.policy = GPUOPT_POLICY_SLICE;
                memory.bytes = handle_planned(&exact) - 1;
            }
            e = handle_create(context, &desc, &host);
            stop_every = 1 + way / 4 % 3;
            stops = solve(e, at_once[way / 12], &info, value, memory.retain_messages == GPUOPT_OFF ? NULL : &found);
            if (at_once[way / 12] > 1 && policy != 3) assert_true(stops > 0);
            if (policy != 3) {
                assert_int_equal(info.outcome, GPUOPT_OPTIMAL);
                assert_true(close_to(&m, (double)info.cost, b.best));
            }
            if (policy == 0 || policy == 2) {
                assert_int_equal(found.outcome, GPUOPT_OPTIMAL);
                assert_memory_equal(value, b.value, sizeof value);
            }
            if (policy == 3) { /* never stopped: the same bound and the same assignment */
                gpuopt_elimination_info again = GPUOPT_INIT(gpuopt_elimination_info);
                gpuopt_elimination_assignment other = GPUOPT_INIT(gpuopt_elimination_assignment);
                int32_t values[VARIABLES] = {0};
                stop_every = 0;
                assert_int_equal(gpuopt_elimination_set_evidence(e, GPUOPT_HOST, 0, NULL), GPUOPT_OK);
                assert_int_equal(solve(e, 1000000, &again, values, &other), 0);
                assert_memory_equal(&again, &info, sizeof info);
                assert_memory_equal(&other, &found, sizeof found);
                assert_memory_equal(values, value, sizeof value);
            }
            gpuopt_elimination_destroy(e);
            gpuopt_context_destroy(context);
            assert_int_equal(host.live, 0);
        }
        model_free(&m);
    }
}

/* A handle that was stopped between two levels can get other evidence, or be stepped one variable at a time. */
static void stopped_then_otherwise(void **state) {
    model m = draw(7, GPUOPT_SEMIRING_MIN_SUM);
    gpuopt_elimination_desc desc = model_desc(&m);
    gpuopt_elimination_info info = GPUOPT_INIT(gpuopt_elimination_info);
    test_host host;
    gpuopt_context *context = stopping_context(&host);
    gpuopt_elimination *e;
    int32_t order[VARIABLES], k;
    brute b;
    (void)state;
    for (k = 0; k < VARIABLES; k++) order[k] = k;
    b = brute_force(&m, order, VARIABLES, NULL, NULL);
    desc.order = order;
    desc.order_count = VARIABLES;
    e = handle_create(context, &desc, &host);
    for (k = 0; k < 2; k++) {
        stop_every = 1;
        assert_int_equal(gpuopt_elimination_step(e, VARIABLES, &info), GPUOPT_OK);
        assert_true(info.outcome == GPUOPT_MORE && info.eliminated == 0 && info.variable == -1);
        assert_false(handle_message(e, 0).ready);
        stop_every = 0;
        if (k == 0) assert_int_equal(gpuopt_elimination_set_evidence(e, GPUOPT_HOST, 0, NULL), GPUOPT_OK);
        info = handle_finish(e, k ? 1 : VARIABLES);
        assert_true(info.outcome == GPUOPT_OPTIMAL && close_to(&m, (double)info.cost, b.best));
        assert_int_equal(gpuopt_elimination_set_evidence(e, GPUOPT_HOST, 0, NULL), GPUOPT_OK);
    }
    gpuopt_elimination_destroy(e);
    gpuopt_context_destroy(context);
    model_free(&m);
}

/* On a request to stop, the search for an order ends early, with an order of all variables. */
static void stopped_search(void **state) {
    model m = draw(3, GPUOPT_SEMIRING_MIN_SUM);
    gpuopt_elimination_desc desc = model_desc(&m);
    gpuopt_elimination_order_search search = GPUOPT_INIT(gpuopt_elimination_order_search);
    int32_t order[VARIABLES], seen[VARIABLES] = {0}, k;
    gpuopt_context *context = stopping_context(NULL);
    long all;
    (void)state;
    desc.order_search = &search;
    search.restarts = 50;
    stop_every = 1000000;
    assert_int_equal(gpuopt_elimination_order(context, &desc, order, NULL, NULL), GPUOPT_OK);
    all = asked;
    asked = 0;
    stop_every = 1;
    assert_int_equal(gpuopt_elimination_order(context, &desc, order, NULL, NULL), GPUOPT_OK);
    assert_true(asked == 1 && all > 50);
    for (k = 0; k < VARIABLES; k++) {
        assert_true(order[k] >= 0 && order[k] < VARIABLES);
        assert_int_equal(seen[order[k]]++, 0);
    }
    gpuopt_context_destroy(context);
    model_free(&m);
}

/* ---- Host and device memory ---- */

/* Refused, without a trace: there is no device memory. */
static void no_device(gpuopt_elimination *e, test_host *host) {
    int32_t value[VARIABLES], painted[VARIABLES];
    int64_t cost[ENTRIES];
    gpuopt_device_view view = GPUOPT_INIT(gpuopt_device_view);
    gpuopt_elimination_info info = handle_info(e, 0);
    memset(value, 0x55, sizeof value);
    memcpy(painted, value, sizeof value);
#define UNSUPPORTED(call)                               \
    assert_int_equal(call, GPUOPT_ERROR_UNSUPPORTED);   \
    assert_non_null(strstr(host->error, "device mem")); \
    host->error[0] = 0
    UNSUPPORTED(gpuopt_elimination_set_evidence(e, GPUOPT_DEVICE, 0, value));
    UNSUPPORTED(gpuopt_elimination_assign(e, GPUOPT_DEVICE, 0, value, NULL));
    UNSUPPORTED(gpuopt_elimination_get_bounds(e, GPUOPT_DEVICE, 0, 0, 0, 1, value, cost, NULL));
    UNSUPPORTED(gpuopt_elimination_message_get(e, GPUOPT_DEVICE, 0, 0, cost, NULL, NULL));
    UNSUPPORTED(gpuopt_elimination_message_device_view(e, 0, 0, &view));
#undef UNSUPPORTED
    assert_memory_equal(value, painted, sizeof value);
    assert_true(view.data == NULL && handle_info(e, 0).eliminated == info.eliminated);
}

/* The same from device memory as from host memory; a message of more entries than are staged at a time. */
static void same_on_device(gpuopt_elimination *e, const int32_t *condition, int32_t large) {
    const int64_t entries = handle_message(e, large).entries;
    const size_t bytes = sizeof(int64_t) * (size_t)entries;
    int64_t *cost = malloc(bytes), *other = malloc(bytes), bound[2], others[2];
    uint64_t *count = malloc(bytes), *counts = malloc(bytes);
    int32_t value[16] = {0}, values[16] = {0};
    gpuopt_device_view view = GPUOPT_INIT(gpuopt_device_view);
    char *device = test_device_allocate(2 * bytes + sizeof value);
    int64_t k;
    assert_true(entries > 8192);
    assert_int_equal(gpuopt_elimination_message_get(e, GPUOPT_HOST, large, 0, cost, NULL, count), GPUOPT_OK);
    assert_int_equal(gpuopt_elimination_message_get(e, GPUOPT_DEVICE, large, 0, (int64_t *)(void *)device, NULL,
                                                    (uint64_t *)(void *)(device + bytes)),
                     GPUOPT_OK);
    test_device_copy(other, device, bytes);
    test_device_copy(counts, device + bytes, bytes);
    assert_memory_equal(cost, other, bytes);
    assert_memory_equal(count, counts, bytes);
    assert_int_equal(gpuopt_elimination_message_device_view(e, large, 0, &view), GPUOPT_OK);
    assert_true(view.count == entries && view.type == GPUOPT_TYPE_UINT8 && handle_message(e, large).bits == 8);
    test_device_copy(other, view.data, (size_t)entries);
    for (k = 0; k < entries; k++)
        assert_int_equal(cost[k], handle_message(e, large).offset + ((const uint8_t *)other)[k]);
    assert_int_equal(gpuopt_elimination_assign(e, GPUOPT_HOST, 0, value, NULL), GPUOPT_OK);
    test_device_copy(device, values, sizeof values);
    assert_int_equal(gpuopt_elimination_assign(e, GPUOPT_DEVICE, 0, (int32_t *)(void *)device, NULL), GPUOPT_OK);
    test_device_copy(values, device, sizeof values);
    assert_memory_equal(value, values, sizeof value);
    assert_int_equal(gpuopt_elimination_get_bounds(e, GPUOPT_HOST, 0, 0, 0, 1, value, bound, NULL), GPUOPT_OK);
    assert_int_equal(gpuopt_elimination_get_bounds(e, GPUOPT_DEVICE, 0, 0, 0, 1, (int32_t *)(void *)device,
                                                   (int64_t *)(void *)(device + bytes), NULL),
                     GPUOPT_OK);
    test_device_copy(others, device + bytes, sizeof others);
    assert_memory_equal(bound, others, sizeof bound);
    test_device_copy(device, condition, sizeof *condition);
    assert_int_equal(gpuopt_elimination_set_evidence(e, GPUOPT_DEVICE, 0, (int32_t *)(void *)device), GPUOPT_OK);
    test_device_release(device);
    free(cost);
    free(other);
    free(count);
    free(counts);
}

/* 16 binary variables: one joins 14 others, and the last one is evidence. */
static void memory(void **state) {
    model m = model_make(GPUOPT_COST_INT64, GPUOPT_SEMIRING_MIN_COUNT, 16, NULL);
    gpuopt_elimination_desc desc = model_desc(&m);
    static const int32_t last = 15, ones[] = {1};
    int32_t order[15], k;
    int64_t cost[2];
    test_host host;
    gpuopt_context *context = test_context(&host);
    gpuopt_elimination *e;
    long allocations;
    (void)state;
    for (k = 0; k < 15; k++) order[k] = k;
    for (k = 1; k < 15; k++) model_add_distance(&m, 0, k, 1 + k % 3);
    model_add_distance(&m, 14, 15, 2);
    desc = model_desc(&m);
    desc.order = order;
    desc.order_count = 15;
    desc.evidence = &last;
    desc.evidence_count = 1;
    e = handle_create(context, &desc, &host);
    allocations = host.allocations;
    for (k = 0; k < 2; k++) { /* the second time, the evidence comes from device memory */
        cost[k] = handle_finish(e, 16).cost;
        if (!test_on("cuda")) {
            no_device(e, &host);
            assert_int_equal(gpuopt_elimination_set_evidence(e, GPUOPT_HOST, 0, ones), GPUOPT_OK);
        } else same_on_device(e, ones, 0);
        assert_int_equal(handle_info(e, 0).eliminated, 0);
    }
    assert_int_equal(cost[0], 0); /* all variables at the value of the evidence variable */
    assert_int_equal(cost[1], 0);
    assert_int_equal(host.allocations, allocations);
    gpuopt_elimination_destroy(e);
    gpuopt_context_destroy(context);
    model_free(&m);
}

/* ---- Info and estimates ---- */

static void before_the_first_step(void **state) {
    model m = draw(5, GPUOPT_SEMIRING_MIN_SUM);
    gpuopt_elimination_desc desc = model_desc(&m);
    gpuopt_context *context = test_context(NULL);
    gpuopt_elimination_info info = GPUOPT_INIT(gpuopt_elimination_info);
    gpuopt_elimination *e;
    (void)state;
    desc.batch_size = 3;
    e = handle_create(context, &desc, NULL);
    assert_int_equal(gpuopt_elimination_get_info(e, 0, &info), GPUOPT_OK);
    assert_true(info.outcome == GPUOPT_MORE && info.eliminated == 0 && info.steps == VARIABLES && info.variable == -1);
    assert_int_equal(gpuopt_elimination_get_info(e, 2, &info), GPUOPT_OK);
    assert_int_equal(info.outcome, GPUOPT_MORE);
    assert_int_equal(gpuopt_elimination_get_info(e, 3, &info), GPUOPT_ERROR_ARGUMENT);
    gpuopt_elimination_destroy(e);
    gpuopt_context_destroy(context);
    model_free(&m);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(stopped_anywhere), cmocka_unit_test(stopped_then_otherwise), cmocka_unit_test(stopped_search),
    cmocka_unit_test(memory),           cmocka_unit_test(before_the_first_step),
};

TEST_MAIN(tests)
