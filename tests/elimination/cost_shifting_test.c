/* SPDX-License-Identifier: MIT
 *
 * Relaxations with shifted costs: their bounds are valid, shifts change no assignment's cost, and a bound is never
 * worse than without them and often better.
 */
#include <math.h>
#include <string.h>

#include "gpuopt/search.h"
#include "tests/elimination/shifting.h"

/* Eliminates the relaxation, which must give its bound, rounded by the scale. */
static const char *elimination_fault(gpuopt_context *context, const model *m,
                                     gpuopt_elimination_cost_shifting *relaxation) {
    const gpuopt_elimination_cost_shifting_info info = shifting_info(relaxation);
    gpuopt_elimination_desc desc = GPUOPT_INIT(gpuopt_elimination_desc);
    gpuopt_elimination_info found;
    gpuopt_elimination *elimination = NULL;
    assert_int_equal(gpuopt_elimination_cost_shifting_get_desc(relaxation, &desc), GPUOPT_OK);
    assert_int_equal(gpuopt_elimination_create(context, &desc, NULL, &elimination), GPUOPT_OK);
    found = handle_finish(elimination, INT32_MAX);
    gpuopt_elimination_destroy(elimination);
    if (info.outcome == GPUOPT_INFEASIBLE) return found.outcome == GPUOPT_INFEASIBLE ? NULL : "not infeasible";
    if (found.outcome != GPUOPT_OPTIMAL) return "the outcome of the relaxation";
    if (m->type == GPUOPT_COST_DOUBLE) return close_to(m, found.value, info.value) ? NULL : "the relaxation's value";
    if (fabsl((long double)found.cost / info.scale - info.value) > 1e-9L * (fabsl((long double)info.value) + 1))
        return "the relaxation's cost";
    if (m->semiring == GPUOPT_SEMIRING_MAX_SUM)
        return info.cost * info.scale <= found.cost && found.cost < (info.cost + 1) * info.scale ? NULL
                                                                                                 : "rounded down";
    return info.cost * info.scale >= found.cost && found.cost > (info.cost - 1) * info.scale ? NULL : "rounded up";
}

static void relaxations_bound(void **state) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    int32_t order[MODEL_VARIABLES], k, z;
    uint64_t seed, random;
    long loose = 0, better = 0, closed = 0, infeasible = 0;
    (void)state;
    for (seed = 1; seed <= (uint64_t)test_times(60, 12); seed++)
        for (k = 0; k < MODEL_SEARCHED; k++) {
            gpuopt_elimination_desc desc;
            model m;
            brute b;
            random = seed * 100 + (uint64_t)k;
            m = model_draw_crowded(&random, k, 8, 25, 1, 3, order, &desc);
            b = brute_force(&m, order, m.variables, NULL, NULL);
            desc.policy = GPUOPT_POLICY_MINI_BUCKET;
            for (z = 1; z <= 4; z++) {
                gpuopt_elimination *plain;
                gpuopt_elimination_cost_shifting *relaxation[2];
                gpuopt_elimination_cost_shifting_info info[2];
                gpuopt_elimination_info found;
                long double bound[2], mini;
                int i;
                desc.z = z;
                plain = handle_create(context, &desc, &host);
                found = handle_finish(plain, INT32_MAX);
                mini = cost_of_info(&m, &found);
                gpuopt_elimination_destroy(plain);
                for (i = 0; i < 2; i++) {
                    relaxation[i] = shifting_of(context, &desc, i * 12, &host);
                    info[i] = shifting_info(relaxation[i]);
                    bound[i] = shifting_bound(&m, &info[i]);
                    assert_true(info[i].iterations <= i * 12);
                    must_not(shifting_costs_fault(&m, relaxation[i], &random), &m, seed);
                    must_not(elimination_fault(context, &m, relaxation[i]), &m, seed);
                    if (!bounds(&m, bound[i], b.best)) must_not("the bound", &m, seed);
                    if (info[i].outcome == GPUOPT_OPTIMAL && !close_to(&m, bound[i], b.best))
                        must_not("the optimum", &m, seed);
                    if (info[i].outcome == GPUOPT_INFEASIBLE && b.feasible) must_not("infeasible", &m, seed);
                    if (info[i].outcome == GPUOPT_MORE) must_not("never stopped", &m, seed);
                }
                if (!close_to(&m, bound[0], mini)) must_not("without shifts it is MINI_BUCKET's", &m, seed);
                if (!bounds(&m, mini, bound[1])) must_not("worse with shifts", &m, seed);
                infeasible += info[1].outcome == GPUOPT_INFEASIBLE;
                loose += !close_to(&m, bound[0], b.best);
                better += !close_to(&m, bound[0], bound[1]);
                closed += !close_to(&m, bound[0], b.best) && close_to(&m, bound[1], b.best);
                for (i = 0; i < 2; i++) gpuopt_elimination_cost_shifting_destroy(relaxation[i]);
            }
            model_free(&m);
        }
    assert_true(loose > test_times(50, 30) && better > loose / 2 && closed > loose / 20 && infeasible > 0);
    gpuopt_context_destroy(context);
    assert_int_equal(host.live, 0);
}

/* Conditioned variables come last, and the relaxation bounds the model with any values of theirs. */
static void conditions_stay(void **state) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    int32_t order[MODEL_VARIABLES], k;
    uint64_t seed, random;
    (void)state;
    for (seed = 1; seed <= (uint64_t)test_times(40, 8); seed++)
        for (k = 0; k < MODEL_SEARCHED; k++) {
            gpuopt_elimination_cost_shifting *relaxation;
            gpuopt_elimination_desc desc;
            gpuopt_elimination *elimination;
            int32_t value[MODEL_VARIABLES] = {0}, given[MODEL_VARIABLES], v, j;
            model m;
            random = seed * 17 + (uint64_t)k;
            m = model_draw_crowded(&random, k, 8, 20, 3, 3, order, &desc);
            desc.order_count = m.variables > 2 ? m.variables - 2 : 0;
            desc.evidence = order + desc.order_count;
            desc.evidence_count = m.variables - desc.order_count;
            desc.policy = GPUOPT_POLICY_MINI_BUCKET;
            desc.z = 2;
            relaxation = shifting_of(context, &desc, 6, &host);
            {
                const gpuopt_elimination_cost_shifting_info info = shifting_info(relaxation);
                gpuopt_elimination_desc split = GPUOPT_INIT(gpuopt_elimination_desc);
                assert_int_equal(gpuopt_elimination_cost_shifting_get_desc(relaxation, &split), GPUOPT_OK);
                assert_int_equal(split.evidence_count, desc.evidence_count);
                assert_int_equal(split.order_count + split.evidence_count, info.variables);
                for (j = 0; j < split.evidence_count; j++)
                    assert_int_equal(info.original[split.evidence[j]], desc.evidence[j]);
                must_not(shifting_costs_fault(&m, relaxation, &random), &m, seed);
                elimination = handle_create(context, &split, &host);
                for (v = 0; v < 3; v++) {
                    gpuopt_elimination_info found;
                    long double bound;
                    brute b;
                    for (j = 0; j < desc.evidence_count; j++) {
                        given[j] = v ? (int32_t)test_random_int(&random, 0, m.domain[desc.evidence[j]] - 1) : 0;
                        value[desc.evidence[j]] = given[j];
                    }
                    assert_int_equal(gpuopt_elimination_set_evidence(elimination, GPUOPT_HOST, 0, given), GPUOPT_OK);
                    found = handle_finish(elimination, INT32_MAX);
                    b = brute_force(&m, order, desc.order_count, value, NULL);
                    bound = found.outcome == GPUOPT_INFEASIBLE ? model_forbidden(&m)
                            : m.type == GPUOPT_COST_INT64      ? (long double)found.cost / info.scale
                                                               : (long double)found.value;
                    if (!bounds(&m, bound, b.best)) must_not("a bound with another condition", &m, seed);
                }
                gpuopt_elimination_destroy(elimination);
            }
            gpuopt_elimination_cost_shifting_destroy(relaxation);
            model_free(&m);
        }
    gpuopt_context_destroy(context);
}

enum { DENSE = 7 };

/* DENSE variables of 3 values, a function of integer costs times `factor` for each two of them, and a constant. */
static model dense_model(uint64_t seed, double factor, double constant) {
    model m;
    int32_t domain[DENSE], scope[2], e;
    for (e = 0; e < DENSE; e++) domain[e] = 3;
    m = model_make(GPUOPT_COST_DOUBLE, GPUOPT_SEMIRING_MIN_SUM, DENSE, domain);
    for (scope[0] = 0; scope[0] < DENSE; scope[0]++)
        for (scope[1] = scope[0] + 1; scope[1] < DENSE; scope[1]++) {
            gpuopt_elimination_function *f = model_add(&m, 2, scope, -1);
            for (e = 0; e < 9; e++) model_set(&m, f, e, (double)test_random_int(&seed, 0, 99) * factor);
        }
    model_set(&m, model_add(&m, 0, scope, -1), 0, constant);
    return m;
}

/* Its bound in units of the factor, and its optimum. */
static double dense_bound(gpuopt_context *context, test_host *host, uint64_t seed, double factor, double constant,
                          int32_t iterations, double *optimum) {
    static const int32_t order[DENSE] = {0, 1, 2, 3, 4, 5, 6};
    model m = dense_model(seed, factor, constant);
    int32_t value[DENSE] = {0};
    gpuopt_elimination_desc desc = model_desc(&m);
    gpuopt_elimination_cost_shifting *relaxation;
    double bound;
    desc.order = order;
    desc.order_count = DENSE;
    desc.policy = GPUOPT_POLICY_MINI_BUCKET;
    desc.z = 3;
    relaxation = shifting_of(context, &desc, iterations, host);
    bound = shifting_info(relaxation).value / factor;
    *optimum = (double)brute_force(&m, order, DENSE, value, NULL).best / factor;
    gpuopt_elimination_cost_shifting_destroy(relaxation);
    model_free(&m);
    return bound;
}

/* Costs of any size lead to the same steps, and so does a model with 0 as its first bound. */
static void sizes_do_not_matter(void **state) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    uint64_t seed;
    (void)state;
    for (seed = 1; seed <= 5; seed++) {
        double optimum, first = dense_bound(context, &host, seed, 1, 0, 0, &optimum),
                        bound = dense_bound(context, &host, seed, 1, 0, 30, &optimum), zero;
        assert_true(first + 1 < bound && bound <= optimum + 1e-6);
        assert_true(dense_bound(context, &host, seed, 0x1p-60, 0, 30, &optimum) == bound);
        assert_true(dense_bound(context, &host, seed, 0x1p40, 0, 30, &optimum) == bound);
        assert_true(dense_bound(context, &host, seed, 1, -first, 0, &optimum) == 0);
        zero = dense_bound(context, &host, seed, 1, -first, 30, &optimum);
        assert_true(zero > optimum / 4 && zero <= optimum + 1e-6);
    }
    gpuopt_context_destroy(context);
    assert_int_equal(host.live, 0);
}

/* A variable that is alone is not split. In the cycle x != y, y != z, z != x the relaxation costs 0 even with the best
 * shifts, although the model costs 1. */
static void known_bounds(void **state) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    static const int32_t order[] = {0, 1, 2};
    gpuopt_elimination_desc desc;
    gpuopt_elimination_cost_shifting *relaxation;
    gpuopt_elimination_cost_shifting_info info;
    model m = model_make(GPUOPT_COST_INT64, GPUOPT_SEMIRING_MIN_SUM, 1, NULL);
    gpuopt_elimination_function *f;
    int32_t k;
    (void)state;
    f = model_add(&m, 1, order, -1);
    model_set(&m, f, 1, 5);
    f = model_add(&m, 1, order, -1);
    model_set(&m, f, 0, 7);
    desc = model_desc(&m);
    desc.policy = GPUOPT_POLICY_MINI_BUCKET;
    desc.z = 1;
    relaxation = shifting_of(context, &desc, 0, &host);
    info = shifting_info(relaxation);
    assert_int_equal(info.outcome, GPUOPT_OPTIMAL);
    assert_int_equal(info.cost, 5);
    gpuopt_elimination_cost_shifting_destroy(relaxation);
    model_free(&m);
    m = model_make(GPUOPT_COST_INT64, GPUOPT_SEMIRING_MIN_SUM, 3, NULL);
    for (k = 0; k < 3; k++) { /* x != y, y != z, z != x: one of them costs 1 */
        int32_t scope[2] = {k, (k + 1) % 3};
        f = model_add(&m, 2, scope, -1);
        model_set(&m, f, 0, 1);
        model_set(&m, f, 3, 1);
    }
    desc = model_desc(&m);
    desc.order = order;
    desc.order_count = 3;
    desc.policy = GPUOPT_POLICY_MINI_BUCKET;
    desc.z = 2;
    for (k = 0; k <= 20; k += 20) {
        relaxation = shifting_of(context, &desc, k, &host);
        info = shifting_info(relaxation);
        assert_int_equal(info.variables, 4);
        assert_true(info.cost == 0 && info.value == 0);
        gpuopt_elimination_cost_shifting_destroy(relaxation);
    }
    model_free(&m);
    gpuopt_context_destroy(context);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(relaxations_bound),
    cmocka_unit_test(conditions_stay),
    cmocka_unit_test(known_bounds),
    cmocka_unit_test(sizes_do_not_matter),
};
TEST_MAIN(tests)
