/* SPDX-License-Identifier: MIT
 *
 * The caller owns the loop: one variable at a time or all at once, the state in between, starting again, two contexts
 * side by side. Memory runs out, and steps allocate none.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gpuopt/search.h"
#include "gpuopt/inference.h"
#include "tests/elimination/handle.h"

/* A ladder of 2 * `rungs` variables with domains 2, 3, 4. It costs 7 |a - b| along the sides, 3 |a - b| on the rungs,
 * and 50 for 0 at one end. */
static model ladder(gpuopt_elimination_semiring semiring, int32_t rungs) {
    int32_t domain[MODEL_VARIABLES] = {0}, v;
    gpuopt_elimination_function *f;
    model m;
    for (v = 0; v < 2 * rungs; v++) domain[v] = 2 + v % 3;
    m = model_make(semiring == GPUOPT_SEMIRING_LOG_SUM_EXP ? GPUOPT_COST_DOUBLE : GPUOPT_COST_INT64, semiring,
                   2 * rungs, domain);
    m.scale = 1000;
    for (v = 0; v < 2 * rungs; v++) {
        if (v % 2 == 0) model_add_distance(&m, v, v + 1, 3);
        if (v >= 2) model_add_distance(&m, v - 2, v, 7);
    }
    f = model_add(&m, 1, (int32_t[]){0}, -1);
    model_set(&m, f, 0, 50);
    return m;
}

static const gpuopt_elimination_semiring semirings[] = {GPUOPT_SEMIRING_MIN_SUM, GPUOPT_SEMIRING_MAX_SUM,
                                                        GPUOPT_SEMIRING_LOG_SUM_EXP, GPUOPT_SEMIRING_MIN_COUNT};

/* ---- Any number at once ---- */

/* Too little memory for the exact tables, by one byte; 0: there is nothing to slice. */
static uint64_t too_little(gpuopt_elimination_desc desc) {
    gpuopt_context *context = test_context(NULL);
    gpuopt_elimination_memory memory = GPUOPT_INIT(gpuopt_elimination_memory);
    gpuopt_elimination_estimate e;
    gpuopt_status status;
    gpuopt_desc_init(&e, sizeof e);
    desc.policy = GPUOPT_POLICY_EXACT;
    assert_int_equal(gpuopt_elimination_order(context, &desc, NULL, NULL, &e), GPUOPT_OK);
    desc.policy = GPUOPT_POLICY_SLICE;
    desc.memory = &memory;
    memory.bytes = (test_on("cuda") ? e.memory.device_bytes : e.memory.host_bytes) - 1;
    status = gpuopt_elimination_order(context, &desc, NULL, NULL, &e);
    gpuopt_context_destroy(context);
    return status ? 0 : memory.bytes;
}

static void check_infos(const gpuopt_elimination_info *a, const gpuopt_elimination_info *b) {
    assert_int_equal(a->outcome, b->outcome);
    assert_int_equal(a->variable, b->variable);
    assert_int_equal(a->eliminated, b->eliminated);
    assert_int_equal(a->steps, b->steps);
    assert_int_equal(a->cost, b->cost);
    assert_memory_equal(&a->value, &b->value, sizeof a->value);
    assert_true(a->count == b->count && !a->count_overflow == !b->count_overflow);
}

static void any_number_at_once(void **state) {
    static const int32_t numbers[] = {1, 2, 3, 7, 10, INT32_MAX};
    gpuopt_context *context = test_context(NULL);
    size_t s, k;
    int asked, sliced;
    (void)state;
    for (s = 0; s < 4; s++)
        for (sliced = 0; sliced < 2; sliced++) {
            model m = ladder(semirings[s], 5);
            gpuopt_elimination_desc desc = model_desc(&m);
            gpuopt_elimination_memory memory = GPUOPT_INIT(gpuopt_elimination_memory);
            gpuopt_elimination_info last, info;
            gpuopt_elimination_estimate e;
            int32_t order[10];
            brute b;
            assert_int_equal(gpuopt_elimination_order(context, &desc, order, NULL, NULL), GPUOPT_OK);
            b = brute_force(&m, order, m.variables, NULL, NULL);
            gpuopt_desc_init(&e, sizeof e);
            assert_int_equal(gpuopt_elimination_order(context, &desc, NULL, NULL, &e), GPUOPT_OK);
            if (sliced) {
                desc.memory = &memory;
                memory.bytes = too_little(desc);
                desc.policy = GPUOPT_POLICY_SLICE;
                assert_true(memory.bytes > 0);
                assert_int_equal(gpuopt_elimination_order(context, &desc, NULL, NULL, &e), GPUOPT_OK);
            }
            for (k = 0; k < 6; k++)
                for (asked = 0; asked < 2; asked++) {
                    gpuopt_elimination *elimination = handle_create(context, &desc, NULL);
                    int64_t done = 0;
                    info = handle_info(elimination, 0);
                    assert_true(info.outcome == GPUOPT_MORE && info.variable == -1 && info.eliminated == 0);
                    while (info.outcome == GPUOPT_MORE) {
                        assert_int_equal(gpuopt_elimination_step(elimination, numbers[k], asked ? &info : NULL),
                                         GPUOPT_OK);
                        done = done + numbers[k] < info.steps ? done + numbers[k] : info.steps;
                        if (asked) {
                            assert_int_equal(info.eliminated, done);
                            if (!sliced && done <= 10) assert_int_equal(info.variable, order[done - 1]);
                            assert_int_equal(info.outcome == GPUOPT_MORE, done < info.steps);
                        } else if (done >= info.steps) {
                            info = handle_info(elimination, 0);
                        }
                    }
                    if (!sliced) assert_int_equal(info.steps, 10);
                    else assert_int_equal(info.steps, e.slices * (10 - e.sliced));
                    assert_true(close_to(&m, cost_of_info(&m, &info), b.best));
                    if (k + (size_t)asked > 0) check_infos(&info, &last);
                    last = info;
                    assert_int_equal(gpuopt_elimination_step(elimination, 1, &info), GPUOPT_OK); /* nothing is left */
                    check_infos(&info, &last);
                    gpuopt_elimination_destroy(elimination);
                }
            model_free(&m);
        }
    gpuopt_context_destroy(context);
}

/* ---- Out of order ---- */

static void calls_out_of_order(void **state) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    model m = ladder(GPUOPT_SEMIRING_MIN_SUM, 4);
    gpuopt_elimination_desc desc = model_desc(&m);
    gpuopt_elimination_assignment assignment;
    gpuopt_elimination *elimination;
    gpuopt_elimination_info info;
    int32_t value[8], order[8], k, j;
    int64_t cost[256];
    uint8_t bytes[4096];
    gpuopt_device_view view = GPUOPT_INIT(gpuopt_device_view);
    uint64_t size;
    brute b;
    (void)state;
    desc.policy = GPUOPT_POLICY_EXACT;
    assert_int_equal(gpuopt_elimination_order(context, &desc, order, NULL, NULL), GPUOPT_OK);
    b = brute_force(&m, order, 8, NULL, NULL);
    gpuopt_desc_init(&assignment, sizeof assignment);
    gpuopt_desc_init(&info, sizeof info);
    elimination = handle_create(context, &desc, &host);
    for (k = 0; k < 8; k++) {
        assignment.cost = 77;
        memset(value, 0, sizeof value);
        assert_int_equal(gpuopt_elimination_assign(elimination, GPUOPT_HOST, 0, value, &assignment),
                         GPUOPT_ERROR_STATE);
        assert_non_null(strstr(host.error, "gpuopt_elimination_assign"));
        assert_int_equal(assignment.cost, 77);
        assert_int_equal(gpuopt_elimination_get_bounds(elimination, GPUOPT_HOST, 0, order[7], 0, 1, value, cost, NULL),
                         GPUOPT_ERROR_STATE);
        assert_non_null(strstr(host.error, "gpuopt_elimination_get_bounds"));
        for (j = 0; j < 8; j++) {
            gpuopt_elimination_message_info message = handle_message(elimination, j);
            assert_int_equal(message.ready != 0, j < k);
            assert_int_equal(message.variable, order[j]); /* numbered as they are computed, one after the other */
            assert_int_equal(gpuopt_elimination_message_get(elimination, GPUOPT_HOST, j, 0, cost, NULL, NULL),
                             j < k ? GPUOPT_OK : GPUOPT_ERROR_STATE);
            assert_int_equal(
                gpuopt_elimination_message_pack(elimination, GPUOPT_HOST, j, 0, bytes, sizeof bytes, &size),
                j < k ? GPUOPT_OK : GPUOPT_ERROR_STATE);
            if (test_on("cuda"))
                assert_int_equal(gpuopt_elimination_message_device_view(elimination, j, 0, &view),
                                 j < k ? GPUOPT_OK : GPUOPT_ERROR_STATE);
            else
                assert_int_equal(gpuopt_elimination_message_device_view(elimination, j, 0, &view),
                                 j < k ? GPUOPT_ERROR_UNSUPPORTED : GPUOPT_ERROR_STATE);
        }
        assert_int_equal(gpuopt_elimination_step(elimination, 1, &info), GPUOPT_OK);
    }
    assert_int_equal(info.outcome, GPUOPT_OPTIMAL);
    assert_true(close_to(&m, info.cost, b.best));
    assert_int_equal(gpuopt_elimination_assign(elimination, GPUOPT_HOST, 0, value, &assignment), GPUOPT_OK);
    assert_memory_equal(value, b.value, sizeof value);
    assert_int_equal(gpuopt_elimination_set_evidence(elimination, GPUOPT_HOST, 0, value),
                     GPUOPT_OK); /* none: starts again */
    info = handle_info(elimination, 0);
    assert_true(info.outcome == GPUOPT_MORE && info.eliminated == 0 && info.variable == -1);
    assert_int_equal(gpuopt_elimination_assign(elimination, GPUOPT_HOST, 0, value, &assignment), GPUOPT_ERROR_STATE);
    assert_false(handle_message(elimination, 0).ready);
    info = handle_finish(elimination, 3);
    assert_true(close_to(&m, info.cost, b.best));
    gpuopt_elimination_destroy(elimination);
    model_free(&m);
    gpuopt_context_destroy(context);
}

/* ---- Contexts ---- */

static void two_contexts(void **state) {
    gpuopt_context *context[2];
    gpuopt_elimination *elimination[4];
    model m[2];
    brute b[2];
    int32_t order[MODEL_VARIABLES], k, round;
    (void)state;
    for (k = 0; k < 2; k++) {
        gpuopt_elimination_desc desc;
        context[k] = test_context(NULL);
        m[k] = ladder(k ? GPUOPT_SEMIRING_MAX_SUM : GPUOPT_SEMIRING_MIN_SUM, 4 + k);
        draw_permutation(&(uint64_t){1}, m[k].variables, order);
        b[k] = brute_force(&m[k], order, m[k].variables, NULL, NULL);
        desc = model_desc(&m[k]);
        elimination[k] = handle_create(context[k], &desc, NULL);
        elimination[k + 2] = handle_create(context[k], &desc, NULL);
    }
    for (round = 0; round < 10; round++)
        for (k = 0; k < 4; k++) assert_int_equal(gpuopt_elimination_step(elimination[k], 1 + k / 2, NULL), GPUOPT_OK);
    for (k = 0; k < 4; k++) {
        gpuopt_elimination_info info = handle_finish(elimination[k], 1);
        assert_true(close_to(&m[k % 2], cost_of_info(&m[k % 2], &info), b[k % 2].best));
        gpuopt_elimination_destroy(elimination[k]);
    }
    for (k = 0; k < 2; k++) {
        model_free(&m[k]);
        gpuopt_context_destroy(context[k]);
    }
}

/* ---- Memory ---- */

/* Makes all calls that may allocate, stops at the first that fails, and cleans up. */
static gpuopt_status whole_life(const gpuopt_context_desc *context_desc, const void *of) {
    const gpuopt_elimination_desc *desc = of;
    gpuopt_context *context = NULL;
    gpuopt_elimination *elimination = NULL;
    gpuopt_elimination_estimate e;
    gpuopt_elimination_assignment assignment;
    int32_t value[MODEL_VARIABLES] = {0};
    gpuopt_status status = gpuopt_context_create(context_desc, &context);
    if (status) return status;
    gpuopt_desc_init(&e, sizeof e);
    gpuopt_desc_init(&assignment, sizeof assignment);
    status = gpuopt_elimination_order(context, desc, value, NULL, NULL);
    if (!status) status = gpuopt_elimination_order(context, desc, NULL, NULL, &e);
    if (!status) {
        elimination = (gpuopt_elimination *)&e;
        status = gpuopt_elimination_create(context, desc, NULL, &elimination);
        if (status) assert_null(elimination);
    }
    if (!status) status = gpuopt_elimination_step(elimination, 1000, NULL);
    if (!status && desc->semiring != GPUOPT_SEMIRING_LOG_SUM_EXP)
        status = gpuopt_elimination_assign(elimination, GPUOPT_HOST, 0, value, &assignment);
    gpuopt_elimination_destroy(elimination);
    gpuopt_context_destroy(context);
    return status;
}

static void run_out(const gpuopt_elimination_desc *desc) {
    /* the context, temporary memory of three calls, and the handle */
    assert_true(test_runs_out(whole_life, desc) >= 5);
}

static void memory_may_run_out(void **state) {
    size_t s;
    (void)state;
    for (s = 0; s < 4; s++) {
        model m = ladder(semirings[s], 5);
        gpuopt_elimination_desc desc = model_desc(&m);
        gpuopt_elimination_memory memory = GPUOPT_INIT(gpuopt_elimination_memory);
        run_out(&desc);
        desc.batch_size = 4;
        run_out(&desc);
        desc = model_desc(&m);
        desc.memory = &memory;
        memory.bytes = too_little(desc);
        desc.policy = GPUOPT_POLICY_SLICE;
        if (memory.bytes) run_out(&desc);
        desc = model_desc(&m);
        desc.policy = GPUOPT_POLICY_MINI_BUCKET;
        desc.z = 2;
        if (semirings[s] != GPUOPT_SEMIRING_MIN_COUNT) run_out(&desc);
        model_free(&m);
    }
}

/* Steps, restarts, answers and queries take no memory. */
static void steps_allocate_nothing(void **state) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    size_t s;
    (void)state;
    for (s = 0; s < 4; s++) {
        model m = ladder(semirings[s], 5);
        gpuopt_elimination_desc desc = model_desc(&m);
        gpuopt_elimination *elimination;
        gpuopt_elimination_assignment assignment;
        int32_t value[10], round, condition = 5, order[9], k;
        int64_t cost[64];
        uint64_t count[64], size;
        uint8_t bytes[2048];
        double real[64];
        long allocations;
        for (k = 0; k < 9; k++) order[k] = k < 5 ? k : k + 1;
        desc.order = order;
        desc.order_count = 9;
        desc.evidence = &condition;
        desc.evidence_count = 1;
        gpuopt_desc_init(&assignment, sizeof assignment);
        elimination = handle_create(context, &desc, &host);
        allocations = host.allocations;
        for (round = 0; round < 3; round++) {
            assert_int_equal(gpuopt_elimination_set_evidence(elimination, GPUOPT_HOST, 0, &round), GPUOPT_OK);
            handle_finish(elimination, 2);
            assert_true(handle_message(elimination, 0).entries <= 64);
            assert_int_equal(gpuopt_elimination_message_get(elimination, GPUOPT_HOST, 0, 0, cost, real,
                                                            m.semiring == GPUOPT_SEMIRING_MIN_COUNT ? count : NULL),
                             GPUOPT_OK);
            assert_int_equal(
                gpuopt_elimination_message_pack(elimination, GPUOPT_HOST, 0, 0, bytes, sizeof bytes, &size), GPUOPT_OK);
            if (m.semiring == GPUOPT_SEMIRING_LOG_SUM_EXP) continue;
            assert_int_equal(gpuopt_elimination_assign(elimination, GPUOPT_HOST, 0, value, &assignment), GPUOPT_OK);
            assert_int_equal(value[5], round);
            assert_int_equal(gpuopt_elimination_get_bounds(elimination, GPUOPT_HOST, 0, 6, 0, 1, value, cost, real),
                             GPUOPT_OK);
        }
        assert_int_equal(host.allocations, allocations);
        gpuopt_elimination_destroy(elimination);
        model_free(&m);
    }
    gpuopt_context_destroy(context);
    assert_int_equal(host.live, 0);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(any_number_at_once), cmocka_unit_test(calls_out_of_order),     cmocka_unit_test(two_contexts),
    cmocka_unit_test(memory_may_run_out), cmocka_unit_test(steps_allocate_nothing),
};
TEST_MAIN(tests)
