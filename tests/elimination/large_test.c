/* SPDX-License-Identifier: MIT
 *
 * A message of more than 2^32 entries on the GPU (a smaller one on other backends). The optimum, the number of optima
 * and the partition function are known in closed form, and a single best assignment is somewhere in the table.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/elimination/handle.h"

enum { MOST = 33 };

/* x0 is eliminated first and meets all others: 1 for each variable that differs from it, and 2 for each that differs
 * from its target. So each is at its target, and x0 has the most frequent target. */
static model star(gpuopt_elimination_semiring semiring, int32_t leaves, int32_t values, const int32_t *target) {
    int32_t domain[MOST], v, a, b;
    double sign = semiring == GPUOPT_SEMIRING_MAX_SUM || semiring == GPUOPT_SEMIRING_LOG_SUM_EXP ? -1 : 1;
    model m;
    for (v = 0; v <= leaves; v++) domain[v] = values;
    m = model_make(semiring == GPUOPT_SEMIRING_LOG_SUM_EXP ? GPUOPT_COST_DOUBLE : GPUOPT_COST_INT64, semiring,
                   leaves + 1, domain);
    m.scale = 3.0 * leaves;
    for (v = 1; v <= leaves; v++) {
        gpuopt_elimination_function *f = model_add(&m, 2, (int32_t[]){0, v}, -1);
        for (a = 0; a < values; a++)
            for (b = 0; b < values; b++) model_set(&m, f, a * values + b, sign * (a != b));
        f = model_add(&m, 1, &v, -1);
        for (a = 0; a < values; a++) model_set(&m, f, a, sign * 2 * (a != target[v]));
    }
    return m;
}

static void check_star(const test_host *host, gpuopt_context *context, gpuopt_elimination_semiring semiring,
                       int32_t leaves, int32_t values, uint64_t seed) {
    int32_t order[MOST], target[MOST] = {0}, value[MOST] = {0}, often[16] = {0}, v, a, best = 0, ties = 0;
    gpuopt_elimination_estimate e;
    gpuopt_elimination_assignment assignment;
    gpuopt_elimination *elimination;
    gpuopt_elimination_info info;
    gpuopt_elimination_desc desc;
    long double z = 0;
    model m;
    for (v = 0; v <= leaves; v++) {
        order[v] = v;
        if (v > 0) target[v] = (int32_t)test_random_int(&seed, 0, values - 1);
        if (v > 0) often[target[v]]++;
    }
    for (a = 1; a < values; a++)
        if (often[a] > often[best]) best = a;
    for (a = 0; a < values; a++) {
        /* a leaf at target a: exp(0) + (values - 1) exp(-3); at another: exp(-1) + exp(-2) + (values - 2) exp(-3) */
        long double same = 1 + (values - 1) * expl(-3), other = expl(-1) + expl(-2) + (values - 2) * expl(-3);
        z += powl(same, often[a]) * powl(other, leaves - often[a]);
        ties += often[a] == often[best];
    }
    m = star(semiring, leaves, values, target);
    desc = model_desc(&m);
    desc.order = order;
    desc.order_count = leaves + 1;
    desc.policy = GPUOPT_POLICY_EXACT;
    gpuopt_desc_init(&e, sizeof e);
    assert_int_equal(gpuopt_elimination_order(context, &desc, NULL, NULL, &e), GPUOPT_OK);
    assert_true(fabs(e.largest - pow(values, leaves)) < 1);
    printf("%d leaves of %d values: %.3g entries of %d bits\n", (int)leaves, (int)values, e.largest, (int)e.bits);
    elimination = handle_create(context, &desc, host);
    info = handle_finish(elimination, 1);
    assert_int_equal(info.outcome, GPUOPT_OPTIMAL);
    if (semiring == GPUOPT_SEMIRING_LOG_SUM_EXP) {
        assert_true(close_to(&m, info.value, logl(z)));
    } else {
        assert_int_equal(info.cost, (semiring == GPUOPT_SEMIRING_MAX_SUM ? -1 : 1) * (leaves - often[best]));
        if (semiring == GPUOPT_SEMIRING_MIN_COUNT) assert_true(info.count == (uint64_t)ties && !info.count_overflow);
        gpuopt_desc_init(&assignment, sizeof assignment);
        assert_int_equal(gpuopt_elimination_assign(elimination, GPUOPT_HOST, 0, value, &assignment), GPUOPT_OK);
        target[0] = best;
        assert_memory_equal(value, target, (size_t)(leaves + 1) * sizeof *value);
        assert_int_equal(assignment.cost, info.cost);
    }
    gpuopt_elimination_destroy(elimination);
    model_free(&m);
}

static void large_messages(void **state) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    int gpu = test_on("cuda") && !test_emulated();
    uint64_t seed;
    (void)state;
    for (seed = 1; seed <= 3; seed++) {
        check_star(&host, context, GPUOPT_SEMIRING_MIN_SUM, gpu ? 32 : 18, 2, seed);
        check_star(&host, context, GPUOPT_SEMIRING_MAX_SUM, gpu ? 21 : 11, 3, seed);
        check_star(&host, context, GPUOPT_SEMIRING_MIN_SUM, gpu ? 12 : 6, 7, seed);
    }
    check_star(&host, context, GPUOPT_SEMIRING_MIN_COUNT, gpu ? 32 : 18, 2, 4);
    check_star(&host, context, GPUOPT_SEMIRING_LOG_SUM_EXP, gpu ? 32 : 18, 2, 5);
    check_star(&host, context, GPUOPT_SEMIRING_LOG_SUM_EXP, gpu ? 14 : 8, 5, 6);
    gpuopt_context_destroy(context);
    assert_int_equal(host.live, 0);
}

/* Domains of thousands of values, and of one: a path on which each value is twice the previous one, modulo a prime. */
static void large_domains(void **state) {
    enum { PRIME = 2003, LENGTH = 6 };
    test_host host;
    gpuopt_context *context = test_context(&host);
    int32_t domain[2 * LENGTH], value[2 * LENGTH], order[2 * LENGTH], v, a;
    gpuopt_elimination_assignment assignment;
    gpuopt_elimination *elimination;
    gpuopt_elimination_info info;
    gpuopt_elimination_desc desc;
    gpuopt_elimination_function *f;
    model m;
    (void)state;
    for (v = 0; v < 2 * LENGTH; v++) {
        domain[v] = v % 2 ? 1 : PRIME;
        order[v] = v;
    }
    m = model_make(GPUOPT_COST_INT64, GPUOPT_SEMIRING_MIN_COUNT, 2 * LENGTH, domain);
    for (v = 2; v < 2 * LENGTH; v += 2) {
        f = model_add(&m, 3, (int32_t[]){v - 2, v - 1, v}, PRIME);
        f->default_cost = INT64_MAX;
        for (a = 0; a < PRIME; a++) {
            ((int32_t *)f->tuple)[3 * a] = a;
            ((int32_t *)f->tuple)[3 * a + 2] = 2 * a % PRIME;
        }
    }
    f = model_add(&m, 1, (int32_t[]){2 * LENGTH - 2}, -1); /* the last is 1000 or 1001, or it costs */
    for (a = 0; a < PRIME; a++) model_set(&m, f, a, a == 1000 || a == 1001 ? -3 : a);
    desc = model_desc(&m);
    desc.order = order;
    desc.order_count = 2 * LENGTH;
    elimination = handle_create(context, &desc, &host);
    info = handle_finish(elimination, 1);
    assert_int_equal(info.outcome, GPUOPT_OPTIMAL);
    assert_int_equal(info.cost, -3);
    assert_int_equal(info.count, 2);
    gpuopt_desc_init(&assignment, sizeof assignment);
    assert_int_equal(gpuopt_elimination_assign(elimination, GPUOPT_HOST, 0, value, &assignment), GPUOPT_OK);
    assert_int_equal(value[2 * LENGTH - 2], 1000);
    for (v = 2; v < 2 * LENGTH; v += 2) assert_int_equal(value[v], 2 * value[v - 2] % PRIME);
    gpuopt_elimination_destroy(elimination);
    model_free(&m);
    gpuopt_context_destroy(context);
}

/* A list of three tuples, two of them equal, over values times values: 9 by default. The last of equal tuples counts:
 * at (values - 1, values - 1) it is `least`. At (1, 0) the list has `largest`. */
static model sparse(gpuopt_elimination_cost type, int32_t values, double least, double largest) {
    static const int32_t at[] = {0, 0, 1, 0, 0, 0};
    int32_t domain[] = {values, values}, *tuple;
    model m = model_make(type, GPUOPT_SEMIRING_MIN_SUM, 2, domain);
    gpuopt_elimination_function *f = model_add(&m, 2, (int32_t[]){0, 1}, 4);
    int k;
    f->default_cost = 9;
    f->default_value = 9;
    tuple = (int32_t *)f->tuple;
    for (k = 0; k < 8; k++) tuple[k] = k < 2 || k > 5 ? values - 1 : at[k - 2];
    model_set(&m, f, 0, -1000);
    model_set(&m, f, 1, 20);
    model_set(&m, f, 2, largest);
    model_set(&m, f, 3, least);
    return m;
}

/* Lists are not written out before they have a table: an order takes some KB. A handle takes little more than its
 * table, or twice as much on a GPU. The table is as narrow as the relevant costs. */
static void large_lists(void **state) {
    static const gpuopt_elimination_cost types[] = {GPUOPT_COST_INT64, GPUOPT_COST_DOUBLE};
    int k;
    (void)state;
    for (k = 0; k < 2; k++) {
        test_host host;
        gpuopt_context *context = test_context(&host);
        gpuopt_elimination *elimination;
        gpuopt_elimination_info info;
        gpuopt_elimination_desc desc;
        gpuopt_elimination_memory memory = GPUOPT_INIT(gpuopt_elimination_memory);
        gpuopt_elimination_estimate e;
        test_held before;
        model m = sparse(types[k], 1 << 20, 3, 25);
        const uint64_t bytes = k ? sizeof(double) : 1;
        desc = model_desc(&m);
        desc.memory = &memory;
        memory.bytes = UINT64_MAX / 2;
        gpuopt_desc_init(&e, sizeof e);
        before = test_held_by(&host); /* which a GPU's context has most of */
        assert_int_equal(gpuopt_elimination_order(context, &desc, NULL, NULL, &e), GPUOPT_OK);
        assert_true(host.peak[GPUOPT_HOST] - before.bytes[GPUOPT_HOST] < 100000);
        assert_int_equal(e.bits, 8 * bytes); /* 3 to 25: -1000 does not count */
        model_free(&m);
        m = sparse(types[k], 1000, 3, 25);
        desc = model_desc(&m);
        before = test_held_by(&host);
        assert_int_equal(gpuopt_elimination_create(context, &desc, NULL, &elimination), GPUOPT_OK);
        assert_true(host.peak[GPUOPT_HOST] - before.bytes[GPUOPT_HOST] < (test_on("cuda") ? 2100000 : 1100000) * bytes);
        info = handle_finish(elimination, 1);
        assert_int_equal(info.outcome, GPUOPT_OPTIMAL);
        if (k) assert_true(close_to(&m, info.value, 3));
        else assert_int_equal(info.cost, 3);
        gpuopt_elimination_destroy(elimination);
        model_free(&m);
        gpuopt_context_destroy(context);
        assert_int_equal(host.live, 0);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(large_messages),
    cmocka_unit_test(large_domains),
    cmocka_unit_test(large_lists),
};
TEST_MAIN(tests)
