/* SPDX-License-Identifier: MIT
 *
 * A propagator's reports of its rounds: before the first one, after rounds without an info, after changes, and after
 * the stop hook has ended a call early.
 */
#include <math.h>
#include <string.h>

#include "tests/propagate/model.h"

static void check_info(gpuopt_propagator_info info, gpuopt_outcome outcome, int rounds, int64_t changed, int row) {
    assert_int_equal(info.outcome, outcome);
    assert_int_equal(info.rounds, rounds);
    assert_int_equal(info.changed, changed);
    assert_int_equal(info.infeasible_row, row);
    assert_int_equal(info.infeasible_col, -1);
}

static gpuopt_propagator_info info_of(gpuopt_propagator *p) {
    gpuopt_propagator_info info;
    gpuopt_desc_init(&info, sizeof info);
    assert_int_equal(gpuopt_propagator_get_info(p, &info), GPUOPT_OK);
    return info;
}

/* ---- Before the first round ---- */

static void check_info_before_the_first_round(gpuopt_context *context, gpuopt_propagator_desc desc) {
    static const double low[3] = {5, 0, 0}, high[3] = {4, 10, 10};
    int k;
    for (k = 0; k < 3; k++) { /* feasible bounds; bounds that cross at create; bounds that are set to cross */
        const double *lb = desc.lb, *ub = desc.ub;
        gpuopt_propagator *p;
        gpuopt_propagator_info info;
        if (k == 1) desc.lb = low, desc.ub = high;
        p = problem_create(context, &desc);
        desc.lb = lb, desc.ub = ub;
        check_info(info_of(p), GPUOPT_MORE, 0, 0, -1);
        if (k == 2) assert_int_equal(gpuopt_propagator_set_bounds(p, GPUOPT_HOST, 0, NULL, low, high), GPUOPT_OK);
        info = info_of(p);
        check_info(info, GPUOPT_MORE, 0, 0, -1);
        assert_int_equal(info.nonzeros, 0);
        assert_int_equal(gpuopt_propagator_round(p, 0, NULL), GPUOPT_ERROR_ARGUMENT);
        check_info(info_of(p), GPUOPT_MORE, 0, 0, -1);
        info = problem_round(p, 10);
        assert_int_equal(info.outcome, k ? GPUOPT_INFEASIBLE : GPUOPT_CONVERGED);
        assert_int_equal(info.rounds, k ? 0 : 3);
        assert_int_equal(info.infeasible_col, k ? 0 : -1);
        model_check_same_info(info_of(p), info);
        gpuopt_propagator_destroy(p);
    }
}
MODEL_VARIANTS_TEST(info_before_the_first_round, model_small())

/* ---- Later ---- */

static void check_info_asked_for_later(gpuopt_context *context, gpuopt_propagator_desc desc) {
    gpuopt_propagator *p = problem_create(context, &desc), *twin = problem_create(context, &desc);
    gpuopt_propagator_info info, now;
    int rounds, k;
    for (rounds = 1; rounds < 200; rounds *= 3) {
        now = problem_round(twin, rounds);
        assert_int_equal(gpuopt_propagator_round(p, rounds, NULL), GPUOPT_OK);
        for (k = 0; k < 2; k++) { /* asking twice changes nothing */
            info = info_of(p);
            model_check_same_info(info, now);
            assert_int_equal(info.nonzeros, now.nonzeros);
        }
        model_check_same_bounds(p, twin, MODEL_COLS);
    }
    assert_int_equal(now.outcome, GPUOPT_CONVERGED);
    gpuopt_propagator_destroy(p);
    gpuopt_propagator_destroy(twin);
}
MODEL_VARIANTS_TEST(info_asked_for_later, model_random(3, (double[MODEL_COLS]){0}))

/* Changes by the caller after a round concern the next round; _get_info still reports the last one. */
static void check_info_outlives_changes(gpuopt_context *context, gpuopt_propagator_desc desc) {
    static const int32_t index = 1;
    static const double one = 1, zero = 0, none = -INFINITY, any = INFINITY;
    gpuopt_propagator *p = problem_create(context, &desc);
    problem_round(p, 1);
    assert_int_equal(gpuopt_propagator_set_sides(p, GPUOPT_HOST, 1, &index, &none, &any), GPUOPT_OK);
    check_info(info_of(p), GPUOPT_INFEASIBLE, 1, 0, 1);
    gpuopt_propagator_destroy(p);
    p = problem_create(context, &desc);
    problem_round(p, 1);
    assert_int_equal(gpuopt_propagator_set_bounds(p, GPUOPT_HOST, 1, &index, &one, &zero), GPUOPT_OK);
    check_info(info_of(p), GPUOPT_INFEASIBLE, 1, 0, 1);
    gpuopt_propagator_destroy(p);
}

static void check_limit_outlives_changes(gpuopt_context *context, gpuopt_propagator_desc desc) {
    gpuopt_propagator *p;
    desc.round_limit = 1;
    p = problem_create(context, &desc);
    problem_round(p, 3);
    assert_int_equal(gpuopt_propagator_set_bounds(p, GPUOPT_HOST, 0, NULL, desc.lb, desc.ub), GPUOPT_OK);
    check_info(info_of(p), GPUOPT_LIMIT, 1, 4, -1);
    gpuopt_propagator_destroy(p);
}

static void info_outlives_changes(void **state) {
    (void)state;
    model_for_variants(check_limit_outlives_changes, model_small());
    model_for_variants(check_info_outlives_changes, model_infeasible());
}

/* ---- The stop hook ---- */

static int asked, stop_at; /* the hook requests a stop from this call on; 0: never */
static int stop_hook(void *user) {
    (void)user;
    asked++;
    return stop_at && asked >= stop_at;
}

/* Runs until the outcome is not MORE. Returns the sum of the calls' results, and the number of calls. */
static gpuopt_propagator_info run_on(gpuopt_propagator *p, int enqueued, int *calls) {
    gpuopt_propagator_info sum = info_of(p), info;
    for (*calls = 0; *calls == 0 || sum.outcome == GPUOPT_MORE; ++*calls) {
        assert_true(*calls < MODEL_MANY);
        if (enqueued) {
            assert_int_equal(gpuopt_propagator_round(p, MODEL_MANY, NULL), GPUOPT_OK);
            info = info_of(p);
        } else {
            info = problem_round(p, MODEL_MANY);
        }
        info.rounds += sum.rounds;
        info.changed += sum.changed;
        info.nonzeros += sum.nonzeros;
        sum = info;
    }
    return sum;
}

/* Wherever calls are stopped, further calls end with the same bits, counts and outcome. */
static void stopped_calls_go_on(void **state) {
    gpuopt_context_desc host = test_context_desc(NULL);
    gpuopt_context *context;
    size_t variants, v;
    const problem_variant *variant = problem_variants(&variants);
    (void)state;
    host.stop = stop_hook;
    assert_int_equal(gpuopt_context_create(&host, &context), GPUOPT_OK);
    for (v = 0; v < variants; v++) {
        int asks = !test_on("cuda") || variant[v].driver == GPUOPT_DRIVER_HOST, seed, k;
        for (seed = 1; seed <= 4; seed++) {
            double x[MODEL_COLS];
            mip m = model_random((uint64_t)seed, x);
            gpuopt_propagator_desc desc = mip_propagator_desc(&m);
            gpuopt_propagator *p, *whole;
            gpuopt_propagator_info want, found;
            int calls;
            problem_apply(&variant[v], &desc);
            whole = problem_create(context, &desc);
            stop_at = asked = 0;
            want = run_on(whole, 0, &calls);
            assert_int_equal(calls, 1);
            assert_true(want.rounds > 2);
            assert_int_equal(asked, asks ? want.rounds - 1 : 0);
            for (k = 0; k < 4; k++) { /* stop from call k + 1 of the hook on; k == 3: as k == 0, without an info */
                p = problem_create(context, &desc);
                stop_at = k < 3 ? k + 1 : 1;
                asked = 0;
                found = run_on(p, k == 3, &calls);
                assert_int_equal(calls, asks ? want.rounds - stop_at + 1 : 1);
                model_check_same_info(found, want);
                assert_int_equal(found.nonzeros, want.nonzeros);
                model_check_same_bounds(p, whole, MODEL_COLS);
                gpuopt_propagator_destroy(p);
            }
            gpuopt_propagator_destroy(whole);
            mip_free(&m);
        }
    }
    gpuopt_context_destroy(context);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(info_before_the_first_round),
    cmocka_unit_test(info_asked_for_later),
    cmocka_unit_test(info_outlives_changes),
    cmocka_unit_test(stopped_calls_go_on),
};
TEST_MAIN(tests)
