/* SPDX-License-Identifier: MIT
 *
 * Relaxations: what they bound, that shifts change no assignment's cost, that a bound is never worse than without them
 * and often better, what is refused, and that memory may fail anywhere.
 */
#include <math.h>
#include <string.h>

#include "gpuopt/search.h"
#include "gpuopt/inference.h"
#include "tests/elimination/handle.h"

static gpuopt_elimination_cost_shifting_info info_of(gpuopt_elimination_cost_shifting *relaxation) {
    gpuopt_elimination_cost_shifting_info info = GPUOPT_INIT(gpuopt_elimination_cost_shifting_info);
    assert_int_equal(gpuopt_elimination_cost_shifting_get_info(relaxation, &info), GPUOPT_OK);
    return info;
}

static gpuopt_elimination_cost_shifting *relax(gpuopt_context *context, const gpuopt_elimination_desc *desc,
                                               int32_t iterations, const test_host *host) {
    gpuopt_elimination_cost_shifting *relaxation = NULL;
    if (gpuopt_elimination_shift_costs(context, desc, iterations, &relaxation)) fail_msg("%s", host->error);
    assert_non_null(relaxation);
    return relaxation;
}

static long double bound_of(const model *m, const gpuopt_elimination_cost_shifting_info *info) {
    if (info->outcome == GPUOPT_INFEASIBLE) return model_forbidden(m);
    return m->type == GPUOPT_COST_INT64 ? (long double)info->cost : (long double)info->value;
}

/* The relaxation as a model of the tests, whose arrays are the library's. */
static model as_model(gpuopt_elimination_cost_shifting *relaxation) {
    gpuopt_elimination_desc desc = GPUOPT_INIT(gpuopt_elimination_desc);
    model m;
    assert_int_equal(gpuopt_elimination_cost_shifting_get_desc(relaxation, &desc), GPUOPT_OK);
    memset(&m, 0, sizeof m);
    m.variables = desc.variables;
    m.functions = desc.functions;
    m.domain = (int32_t *)(uintptr_t)desc.domain;
    m.function = (gpuopt_elimination_function *)(uintptr_t)desc.function;
    m.type = desc.type;
    m.semiring = desc.semiring;
    m.top = desc.top;
    return m;
}

/* Every assignment of the model, given to all copies, has the model's cost, times the scale. */
static const char *costs_fault(const model *m, gpuopt_elimination_cost_shifting *relaxation, uint64_t *seed) {
    const gpuopt_elimination_cost_shifting_info info = info_of(relaxation);
    const model split = as_model(relaxation);
    int32_t value[MODEL_VARIABLES], copied[MODEL_VARIABLES * 30], k, round;
    assert_true(info.variables == split.variables && info.variables <= MODEL_VARIABLES * 30);
    for (round = 0; round < 40; round++) {
        long double here, there;
        for (k = 0; k < m->variables; k++) value[k] = (int32_t)test_random_int(seed, 0, m->domain[k] - 1);
        for (k = 0; k < info.variables; k++) {
            if (split.domain[k] != m->domain[info.original[k]]) return "a copy's domain";
            copied[k] = value[info.original[k]];
        }
        here = model_sum(m, value);
        there = model_sum(&split, copied);
        if (isinf(here)                    ? here != there
            : m->type == GPUOPT_COST_INT64 ? here * info.scale != there
                                           : fabsl(here - there) > 1e-9L * (fabsl(here) + fabsl((long double)m->scale)))
            return "the cost of an assignment";
    }
    return NULL;
}

/* Eliminates the relaxation, which must give its bound, rounded by the scale. */
static const char *elimination_fault(gpuopt_context *context, const model *m,
                                     gpuopt_elimination_cost_shifting *relaxation) {
    const gpuopt_elimination_cost_shifting_info info = info_of(relaxation);
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
                    relaxation[i] = relax(context, &desc, i * 12, &host);
                    info[i] = info_of(relaxation[i]);
                    bound[i] = bound_of(&m, &info[i]);
                    assert_true(info[i].iterations <= i * 12);
                    must_not(costs_fault(&m, relaxation[i], &random), &m, seed);
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
            relaxation = relax(context, &desc, 6, &host);
            {
                const gpuopt_elimination_cost_shifting_info info = info_of(relaxation);
                gpuopt_elimination_desc split = GPUOPT_INIT(gpuopt_elimination_desc);
                assert_int_equal(gpuopt_elimination_cost_shifting_get_desc(relaxation, &split), GPUOPT_OK);
                assert_int_equal(split.evidence_count, desc.evidence_count);
                assert_int_equal(split.order_count + split.evidence_count, info.variables);
                for (j = 0; j < split.evidence_count; j++)
                    assert_int_equal(info.original[split.evidence[j]], desc.evidence[j]);
                must_not(costs_fault(&m, relaxation, &random), &m, seed);
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

/* DENSE variables of 3 values, a function of whole costs times `factor` for each two of them, and a constant. */
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
    relaxation = relax(context, &desc, iterations, host);
    bound = info_of(relaxation).value / factor;
    *optimum = (double)brute_force(&m, order, DENSE, value, NULL).best / factor;
    gpuopt_elimination_cost_shifting_destroy(relaxation);
    model_free(&m);
    return bound;
}

/* Costs of any size get the same steps, and so does a model whose first bound is 0. */
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

/* A variable that is alone is not split. In the cycle x != y, y != z, z != x the relaxation costs 0 with the best shifts,
 * too, although the model costs 1. */
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
    relaxation = relax(context, &desc, 0, &host);
    info = info_of(relaxation);
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
        relaxation = relax(context, &desc, k, &host);
        info = info_of(relaxation);
        assert_int_equal(info.variables, 4);
        assert_true(info.cost == 0 && info.value == 0);
        gpuopt_elimination_cost_shifting_destroy(relaxation);
    }
    model_free(&m);
    gpuopt_context_destroy(context);
}

/* ---- Arguments, memory, stopping ---- */

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
    desc.join_rest = 1;
    refused(context, &host, &desc, GPUOPT_ERROR_UNSUPPORTED, "join_rest");
    desc.join_rest = 0;
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
    relaxation = relax(context, &desc, 3, &host);
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

/* Wherever it is stopped, what is left is a valid relaxation. */
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
        relaxation = relax(context, &desc, 5, &host);
        info = info_of(relaxation);
        must_not(costs_fault(&m, relaxation, &seed), &m, 0);
        if (info.outcome == GPUOPT_MORE) without++;
        else {
            assert_true(bounds(&m, bound_of(&m, &info), b.best));
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
    cmocka_unit_test(relaxations_bound),   cmocka_unit_test(conditions_stay), cmocka_unit_test(known_bounds),
    cmocka_unit_test(sizes_do_not_matter), cmocka_unit_test(what_is_refused), cmocka_unit_test(memory_fails_anywhere),
    cmocka_unit_test(stopped_anywhere),
};
TEST_MAIN(tests)
