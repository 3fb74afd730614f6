/* SPDX-License-Identifier: MIT
 *
 * Tables that do not fit: every policy that promises the exact answer gives it, and never allocates a byte more than
 * planned.
 */
#include <math.h>
#include <string.h>

#include "gpuopt/search.h"
#include "tests/elimination/handle.h"

/* ---- Slices, streams, and the choice of a policy ---- */

static const char *same_fault(const model *m, const brute *b, const answer *a, const answer *exact) {
    const char *fault = answer_fault(m, b, a, 1);
    if (fault) return fault;
    if (a->info.cost != exact->info.cost) return "not the cost of the exact run";
    if (a->assignment.struct_size && a->assignment.cost != exact->assignment.cost)
        return "not the exact run's assignment";
    return NULL;
}

static void slices_are_exact(void **state) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    int32_t order[MODEL_VARIABLES], k, part;
    long sliced = 0, refused = 0;
    (void)state;
    for (k = 0; k < MODEL_KINDS; k++) {
        uint64_t seed = 11 + (uint64_t)k;
        model m = model_dense(&seed, model_kind[k].type, model_kind[k].semiring, 6, 9);
        gpuopt_elimination_desc desc = model_desc(&m);
        gpuopt_elimination_memory memory = GPUOPT_INIT(gpuopt_elimination_memory);
        answer exact = handle_measured(context, &host, &desc), a;
        brute b;
        assert_int_equal(gpuopt_elimination_order(context, &desc, order, NULL, NULL), GPUOPT_OK);
        b = brute_force(&m, order, m.variables, NULL, NULL);
        must_not(answer_fault(&m, &b, &exact, 1), &m, seed);
        for (part = 15; part >= 0; part--) { /* 0: a byte */
            gpuopt_elimination_estimate e;
            gpuopt_status status;
            desc.policy = GPUOPT_POLICY_SLICE;
            desc.memory = &memory;
            memory.bytes = handle_planned(&exact.estimate) * (uint64_t)part / 16 + 1;
            host.error[0] = 0;
            status = handle_plan(context, &desc, &e);
            if (status) { /* the functions alone need more */
                assert_int_equal(status, GPUOPT_ERROR_UNSUPPORTED);
                assert_non_null(strstr(host.error, "byte"));
                refused++;
                continue;
            }
            assert_int_equal(e.policy, GPUOPT_POLICY_SLICE);
            assert_true(handle_planned(&e) <= memory.bytes && e.sliced > 0 && e.slices > 1);
            a = handle_measured(context, &host, &desc);
            must_not(same_fault(&m, &b, &a, &exact), &m, seed);
            sliced++;
        }
        model_free(&m);
    }
    assert_true(sliced >= 4 * MODEL_KINDS && refused >= MODEL_KINDS);
    gpuopt_context_destroy(context);
}

/* SLICE on models of all kinds, also infeasible ones; a model that fits is not sliced. */
static void slices_of_random_models(void **state) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    int32_t order[MODEL_VARIABLES], k;
    uint64_t seed, random;
    long sliced = 0;
    (void)state;
    for (seed = 1; seed <= (uint64_t)test_times(60, 60); seed++)
        for (k = 0; k < MODEL_KINDS; k++) {
            gpuopt_elimination_estimate e;
            gpuopt_elimination_desc desc;
            gpuopt_elimination_memory memory = GPUOPT_INIT(gpuopt_elimination_memory);
            recipe r;
            model m;
            brute b;
            answer a;
            random = seed * 77 + (uint64_t)k;
            r = recipe_draw(&random, model_kind[k].type, model_kind[k].semiring);
            r.variables = r.functions = 8;
            r.domain = 4;
            r.arity = 4;
            m = model_draw(&random, model_kind[k].type, model_kind[k].semiring, &r);
            desc = model_desc(&m);
            assert_int_equal(gpuopt_elimination_order(context, &desc, order, NULL, NULL), GPUOPT_OK);
            b = brute_force(&m, order, m.variables, NULL, NULL);
            assert_int_equal(handle_plan(context, &desc, &e), GPUOPT_OK);
            desc.policy = GPUOPT_POLICY_SLICE;
            do { /* as far down as it goes */
                desc.memory = &memory;
                memory.bytes = handle_planned(&e) - 1;
                if (handle_plan(context, &desc, &e)) break;
                a = handle_measured(context, &host, &desc);
                must_not(answer_fault(&m, &b, &a, 1), &m, seed);
                sliced++;
            } while (e.slices < 64);
            model_free(&m);
        }
    assert_true(sliced > 30);
    gpuopt_context_destroy(context);
}

static void streams(void **state) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    int32_t order[MODEL_VARIABLES], k, part;
    long streamed = 0;
    (void)state;
    for (k = 0; k < MODEL_KINDS; k++) {
        uint64_t seed = 21 + (uint64_t)k;
        model m = model_dense(&seed, model_kind[k].type, model_kind[k].semiring, 6, 9);
        gpuopt_elimination_desc desc = model_desc(&m);
        gpuopt_elimination_memory memory = GPUOPT_INIT(gpuopt_elimination_memory);
        gpuopt_elimination_estimate e;
        answer exact = handle_measured(context, &host, &desc), a;
        brute b;
        desc.policy = GPUOPT_POLICY_STREAM;
        if (!test_on("cuda")) {
            assert_int_equal(handle_plan(context, &desc, &e), GPUOPT_ERROR_UNSUPPORTED);
            assert_true(host.error[0]);
            model_free(&m);
            continue;
        }
        assert_int_equal(gpuopt_elimination_order(context, &desc, order, NULL, NULL), GPUOPT_OK);
        b = brute_force(&m, order, m.variables, NULL, NULL);
        for (part = 15; part >= 1; part -= 2) {
            desc.memory = &memory;
            memory.bytes = handle_planned(&exact.estimate) * (uint64_t)part / 16;
            if (handle_plan(context, &desc, &e)) continue;
            assert_int_equal(e.policy, GPUOPT_POLICY_STREAM);
            a = handle_measured(context, &host, &desc);
            must_not(same_fault(&m, &b, &a, &exact), &m, seed);
            streamed++;
        }
        model_free(&m);
    }
    assert_true(!test_on("cuda") || streamed >= MODEL_KINDS);
    gpuopt_context_destroy(context);
}

/* Exact if it fits, then in the order of the header; the answer always keeps the promise of its policy. */
static void automatic(void **state) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    int32_t order[MODEL_VARIABLES], part;
    uint64_t seed = 31;
    int seen[5] = {0};
    model m = model_dense(&seed, GPUOPT_COST_INT64, GPUOPT_SEMIRING_MIN_SUM, 6, 9);
    gpuopt_elimination_desc desc = model_desc(&m);
    gpuopt_elimination_memory memory = GPUOPT_INIT(gpuopt_elimination_memory);
    gpuopt_elimination_policy last = GPUOPT_POLICY_EXACT;
    answer exact = handle_measured(context, &host, &desc);
    brute b;
    (void)state;
    assert_int_equal(gpuopt_elimination_order(context, &desc, order, NULL, NULL), GPUOPT_OK);
    b = brute_force(&m, order, m.variables, NULL, NULL);
    for (part = 4096; part >= 1; part = part > 64 ? part - 64 : part - 1) {
        gpuopt_elimination_estimate e;
        answer a;
        desc.memory = &memory;
        memory.bytes = handle_planned(&exact.estimate) * (uint64_t)part / 4096;
        if (handle_plan(context, &desc, &e)) break;
        assert_true(e.policy >= last); /* never back */
        last = e.policy;
        seen[e.policy]++;
        a = handle_measured(context, &host, &desc);
        must_not(answer_fault(&m, &b, &a, e.policy != GPUOPT_POLICY_MINI_BUCKET), &m, seed);
    }
    assert_int_equal(seen[GPUOPT_POLICY_EXACT], 1); /* the whole */
    assert_true(seen[GPUOPT_POLICY_SLICE] > 0);
    memory.bytes = 64; /* nothing fits */
    host.error[0] = 0;
    assert_int_equal(handle_plan(context, &desc, &exact.estimate), GPUOPT_ERROR_UNSUPPORTED);
    assert_true(host.error[0]);
    desc.policy = GPUOPT_POLICY_EXACT;
    memory.bytes = 1000;
    assert_int_equal(handle_plan(context, &desc, &exact.estimate), GPUOPT_ERROR_UNSUPPORTED);
    model_free(&m);
    gpuopt_context_destroy(context);
}

/* ln of the sum over all walks of 200 values among 300, each step from 0 to 0 times 1 / e. */
static double walks(void) {
    long double at_0 = 1, other = 1, scale = 0; /* walks that end there; other: in each other value */
    int v;
    for (v = 1; v < 200; v++) {
        long double to_0 = at_0 * expl(-1) + 299 * other;
        other = at_0 + 299 * other;
        scale += logl(other);
        at_0 = to_0 / other;
        other = 1;
    }
    return (double)(scale + logl(at_0 + 299));
}

/* A long chain needs only two tables without keep, not one for each variable. */
static void without_keep(void **state) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    int32_t domain[200], order[200], v, k;
    (void)state;
    for (v = 0; v < 200; v++) {
        domain[v] = 300;
        order[v] = v;
    }
    for (k = 0; k < MODEL_KINDS; k++) {
        model m = model_make(model_kind[k].type, model_kind[k].semiring, 200, domain);
        gpuopt_elimination_desc desc;
        gpuopt_elimination_memory memory = GPUOPT_INIT(gpuopt_elimination_memory);
        gpuopt_elimination *elimination;
        gpuopt_elimination_estimate kept, not_kept;
        gpuopt_elimination_info info;
        gpuopt_elimination_assignment assignment;
        int32_t value[200] = {0};
        int64_t bound[300];
        double bound_value[300], expected;
        gpuopt_status status;
        for (v = 1; v < 200; v++) {
            gpuopt_elimination_function *f = model_add(&m, 2, (int32_t[]){v - 1, v}, 1);
            model_set(&m, f, 0, -1); /* both 0 */
        }
        desc = model_desc(&m);
        desc.order = order;
        desc.order_count = 200;
        desc.memory = &memory;
        memory.retain_messages = GPUOPT_ON;
        assert_int_equal(handle_plan(context, &desc, &kept), GPUOPT_OK);
        memory.retain_messages = GPUOPT_OFF;
        assert_int_equal(handle_plan(context, &desc, &not_kept), GPUOPT_OK);
        assert_true(handle_planned(&not_kept) < handle_planned(&kept));
        elimination = handle_create(context, &desc, &host);
        info = handle_finish(elimination, 3);
        m.scale = 1;
        expected = -199;
        if (model_kind[k].semiring == GPUOPT_SEMIRING_MAX_SUM) expected = 0;
        if (model_kind[k].semiring == GPUOPT_SEMIRING_LOG_SUM_EXP) expected = walks();
        assert_true(close_to(&m, cost_of_info(&m, &info), expected));
        if (model_kind[k].semiring == GPUOPT_SEMIRING_MIN_COUNT) assert_true(info.count == 1 && !info.count_overflow);
        gpuopt_desc_init(&assignment, sizeof assignment);
        status = gpuopt_elimination_assign(elimination, GPUOPT_HOST, 0, value, &assignment);
        assert_true(status == GPUOPT_ERROR_STATE || status == GPUOPT_ERROR_UNSUPPORTED);
        status = gpuopt_elimination_get_bounds(elimination, GPUOPT_HOST, 0, 0, 0, 1, value, bound, bound_value);
        assert_true(status == GPUOPT_ERROR_STATE || status == GPUOPT_ERROR_UNSUPPORTED);
        gpuopt_elimination_destroy(elimination);
        model_free(&m);
    }
    gpuopt_context_destroy(context);
}

static const struct CMUnitTest tests[] = {

    cmocka_unit_test(slices_are_exact), cmocka_unit_test(slices_of_random_models),
    cmocka_unit_test(streams),          cmocka_unit_test(automatic),

    cmocka_unit_test(without_keep),
};
TEST_MAIN(tests)
