/* SPDX-License-Identifier: MIT
 *
 * Mini-buckets: bounds on the side that the header promises, for every z, and exact where no bucket is split.
 */
#include <string.h>

#include "tests/elimination/handle.h"

static void mini_buckets_bound(void **state) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    int32_t order[MODEL_VARIABLES], z, k;
    uint64_t seed, random;
    long loose = 0, infeasible = 0, bounded = 0;
    (void)state;
    for (seed = 1; seed <= 150; seed++)
        for (k = 0; k < MODEL_BOUNDED; k++) {
            gpuopt_elimination_estimate exact;
            gpuopt_elimination_desc desc;
            model m;
            brute b;
            random = seed * 100 + (uint64_t)k;
            m = model_draw_crowded(&random, k, 8, 25, 1, 4, order, &desc);
            assert_int_equal(handle_plan(context, &desc, &exact), GPUOPT_OK);
            b = brute_force(&m, order, m.variables, NULL, NULL);
            desc.policy = GPUOPT_POLICY_MINI_BUCKET;
            for (z = 1; z <= exact.width + 2; z++) {
                answer a;
                desc.z = z;
                a = handle_measured(context, &host, &desc);
                assert_int_equal(a.estimate.policy, GPUOPT_POLICY_MINI_BUCKET);
                assert_int_equal(a.estimate.z, z);
                must_not(answer_fault(&m, &b, &a, 0), &m, seed);
                if (z > exact.width && !close_to(&m, cost_of_info(&m, &a.info), b.best))
                    must_not("mini-buckets with room for all are not exact", &m, seed);
                assert_true(a.estimate.messages >= m.variables);
                loose += !close_to(&m, cost_of_info(&m, &a.info), b.best);
                infeasible += b.feasible && a.assignment.struct_size && a.assignment.outcome == GPUOPT_INFEASIBLE;
                bounded++;
            }
            model_free(&m);
        }
    assert_true(loose > bounded / 20 && loose < bounded / 2); /* some are bounds only, and most are not bad */
    assert_true(infeasible < bounded / 10);
    gpuopt_context_destroy(context);
}

/* The scope of the message of a mini-bucket has fewer than z variables, unless a single function is larger. */
static void mini_buckets_are_small(void **state) {
    gpuopt_context *context = test_context(NULL);
    uint64_t random = 7;
    int32_t z, k;
    (void)state;
    for (z = 2; z <= 8; z++) {
        gpuopt_elimination *elimination;
        gpuopt_elimination_estimate e;
        gpuopt_elimination_desc desc;
        model m = model_make(GPUOPT_COST_INT64, GPUOPT_SEMIRING_MIN_SUM, 14, NULL);
        for (k = 0; k < 60; k++) {
            int32_t scope[14];
            draw_permutation(&random, 14, scope);
            model_add_distance(&m, scope[0], scope[1], 1 + k);
        }
        desc = model_desc(&m);
        desc.policy = GPUOPT_POLICY_MINI_BUCKET;
        desc.z = z;
        assert_int_equal(handle_plan(context, &desc, &e), GPUOPT_OK);
        assert_true(e.width < z);
        elimination = handle_create(context, &desc, NULL);
        for (k = 0; k < e.messages; k++) assert_true(handle_message(elimination, k).arity < z);
        gpuopt_elimination_destroy(elimination);
        model_free(&m);
    }
    gpuopt_context_destroy(context);
}

/* z = 0: the largest that fits. More memory never gives a smaller z. */
static void z_of_its_own(void **state) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    int32_t round, last = 100, smaller = 0;
    uint64_t seed = 41;
    model m = model_dense(&seed, GPUOPT_COST_INT64, GPUOPT_SEMIRING_MIN_SUM, 9, 3);
    gpuopt_elimination_desc desc = model_desc(&m);
    gpuopt_elimination_memory memory = GPUOPT_INIT(gpuopt_elimination_memory);
    answer exact = handle_measured(context, &host, &desc);
    brute b;
    (void)state;
    memset(&b, 0, sizeof b);
    b.feasible = 1;
    b.best = exact.info.cost; /* too many assignments to try */
    desc.policy = GPUOPT_POLICY_MINI_BUCKET;
    desc.memory = &memory;
    memory.bytes = handle_planned(&exact.estimate) * 2;
    for (round = 0; round < 40; round++) {
        answer a;
        gpuopt_elimination_estimate e;
        memory.bytes -= memory.bytes / 4;
        if (handle_plan(context, &desc, &e)) break;
        a = handle_measured(context, &host, &desc);
        assert_true(a.estimate.z >= 1 && a.estimate.z <= last);
        smaller += a.estimate.z < last;
        last = a.estimate.z;
        must_not(answer_fault(&m, &b, &a, 0), &m, seed);
    }
    assert_true(smaller >= 3);
    model_free(&m);
    gpuopt_context_destroy(context);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(mini_buckets_bound),
    cmocka_unit_test(mini_buckets_are_small),
    cmocka_unit_test(z_of_its_own),
};
TEST_MAIN(tests)
