/* SPDX-License-Identifier: MIT
 *
 * Groups of items of nearly the same weight, as in the hard instances of Jooken, Leyman and De Causmaecker. The weights
 * and profits of a group are a share of the capacity and slightly more. The bounds are true and the optimum is compared
 * with dynamic programming, for any number of groups, capacity for many or few items, and fixed items. The groups end
 * searches that take long without, and memory failures in between do no harm.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/knapsack/models.h"

static void optima(void **state) {
    gpuopt_context *context = test_context(NULL);
    static const int64_t noises[] = {2, 9, 30, 100};
    static const int mores[] = {0, 0, 1, 10, 100};
    uint64_t random = 61;
    int k;
    (void)state;
    for (k = 0; k < test_times(400, 400); k++) {
        const int64_t capacity = k % 3 ? 20000 + k : 3000;
        model m = model_grouped(64 + k % 97, 2 + k % 5, capacity, mores[k % 5], noises[k / 5 % 4], 5 + k % 60, &random);
        if (k % 7 == 0) m.capacity = m.capacity * test_random_int(&random, 1, 30) / 10;
        if (k % 11 == 0) m.profit[k % m.items] *= 3;
        if (k % 13 == 0) m.weight[k % m.items] = 1;
        model_search(context, &m, GPUOPT_DEFAULT, model_optimum(&m));
    }
    gpuopt_context_destroy(context);
}

/* Weights and profits of different sizes, which make lambda large or small, and a common divisor. */
static void scales(void **state) {
    gpuopt_context *context = test_context(NULL);
    uint64_t random = 67;
    int k;
    (void)state;
    for (k = 0; k < test_times(100, 100); k++) {
        model m = model_grouped(80 + k, 3 + k % 3, 20000, k % 2 ? 10 : 0, 20, 30, &random);
        const int64_t scale = k % 4 == 3 ? (int64_t)1 << (20 + k % 24) : 1 + k;
        int64_t optimum;
        int32_t j;
        for (j = 0; j < m.items && k % 4 == 0; j++) m.profit[j] = 1 + m.profit[j] / (1 + k); /* little profit */
        for (j = 0; j < m.items && k % 4 == 1; j++) m.profit[j] = m.profit[j] * scale + j;   /* or much */
        optimum = model_optimum(&m);
        for (j = 0; j < m.items && k % 4 >= 2; j++) m.weight[j] = m.weight[j] * scale;
        if (k % 4 >= 2) m.capacity = m.capacity * scale + scale / 2;
        model_search(context, &m, GPUOPT_DEFAULT, optimum);
    }
    gpuopt_context_destroy(context);
}

/* More items, of which a short search comes first. */
static void many(void **state) {
    gpuopt_context *context = test_context(NULL);
    uint64_t random = 71;
    int k;
    (void)state;
    for (k = 0; k < test_times(12, 12); k++) {
        model m = model_grouped(256 + 20 * k, 4 + k % 4, 100000, k % 3, k % 2 ? 50 : 20, 20, &random);
        model_search(context, &m, GPUOPT_DEFAULT, model_optimum(&m));
    }
    gpuopt_context_destroy(context);
}

enum { UNITS = 1 << 13 };

/* The optimum if the capacity is UNITS units, shares are multiples of a unit, and a unit exceeds the sum of all small
 * additions. A solution weighs more than its shares, so these are less than UNITS units; and then the additions fit. So
 * this is a dynamic program over units. */
static int64_t optimum_by_units(const model *m, int64_t unit) {
    static int64_t best[UNITS];
    int64_t most = 0, u;
    int32_t j;
    for (u = 1; u < UNITS; u++) best[u] = INT64_MIN / 2; /* no items weigh so much */
    best[0] = 0;
    for (j = 0; j < m->items; j++) {
        const int64_t units = m->weight[j] / unit;
        for (u = UNITS - 1; u >= units; u--)
            if (best[u - units] + m->profit[j] > best[u]) best[u] = best[u - units] + m->profit[j];
    }
    for (u = 0; u < UNITS; u++)
        if (best[u] > most) most = best[u];
    return most;
}

/* Lists that are too long, and shortened. */
static void long_lists(void **state) {
    gpuopt_context *context = test_context(NULL);
    const int64_t unit = 1000000;
    uint64_t random = 83;
    int k;
    (void)state;
    for (k = 0; k < test_times(12, 12); k++) {
        model m = model_grouped(290 + 20 * k, 14, UNITS * unit, 0, 20 + 60 * (k % 4), 10 + 5 * (k % 3), &random);
        model_search(context, &m, GPUOPT_DEFAULT, optimum_by_units(&m, unit));
    }
    gpuopt_context_destroy(context);
}

/* Likewise, but the additions to the shares decide which items fit; without groups the search finds the same. */
static void tight(void **state) {
    gpuopt_context *context = test_context(NULL);
    uint64_t random = 89;
    int k;
    (void)state;
    for (k = 0; k < test_times(6, 6); k++) {
        model m = model_grouped(200 + 30 * k, 11 + k % 2, 10000000, k % 3, 60, 20, &random);
        gpuopt_knapsack_desc desc = model_desc(&m);
        gpuopt_knapsack_info info = GPUOPT_INIT(gpuopt_knapsack_info);
        gpuopt_knapsack *knapsack;
        desc.reduction = GPUOPT_OFF;
        knapsack = model_create(context, &desc);
        assert_int_equal(gpuopt_knapsack_expand(knapsack, 0, 0, &info), GPUOPT_OK);
        assert_int_equal(info.outcome, GPUOPT_OPTIMAL);
        gpuopt_knapsack_destroy(knapsack);
        model_search(context, &m, GPUOPT_DEFAULT, info.primal_bound);
    }
    gpuopt_context_destroy(context);
}

/* Groups end searches that take long without. */
static void settles(void **state) {
    gpuopt_context *context = test_context(NULL);
    uint64_t random = 73;
    int64_t with = 0, without = 0;
    int k;
    (void)state;
    for (k = 0; k < 10; k++) {
        model m = model_grouped(150, 6, 100000, 0, 20, 20, &random);
        const int64_t optimum = model_optimum(&m);
        with += model_search(context, &m, GPUOPT_DEFAULT, optimum);
        without += model_search(context, &m, GPUOPT_OFF, optimum);
    }
    assert_true(100 * with < without);
    gpuopt_context_destroy(context);
}

typedef struct asker {
    int asked, stop_at;
} asker;

static int stops(void *user) {
    asker *a = user;
    return ++a->asked >= a->stop_at && a->stop_at > 0;
}

/* The stop hook is called in between, and may end a long computation. From then on the hook is not called, and the
 * search continues to the optimum. */
static void is_stopped(void **state) {
    uint64_t random = 109;
    const model m = model_grouped(260, 10, 1000000, 2, 20, 20, &random);
    const int64_t optimum = model_optimum(&m);
    gpuopt_context_desc with = test_context_desc(NULL);
    const gpuopt_knapsack_desc desc = model_desc(&m);
    gpuopt_context *context = NULL;
    gpuopt_knapsack *knapsack;
    asker a = {0, 0};
    int k, all;
    (void)state;
    with.user = &a;
    with.stop = stops;
    assert_int_equal(gpuopt_context_create(&with, &context), GPUOPT_OK);
    gpuopt_knapsack_destroy(model_create(context, &desc));
    all = a.asked;
    assert_true(all > 20);
    for (k = 1; k <= all; k += test_few() ? all / 3 : k < 4 ? 1 : all / 8) {
        a.asked = 0;
        a.stop_at = k;
        knapsack = model_create(context, &desc);
        assert_int_equal(a.asked, k);
        a.stop_at = 0;
        model_finish(knapsack, &m, optimum);
        gpuopt_knapsack_destroy(knapsack);
    }
    gpuopt_context_destroy(context);
}

static void memory_fails(void **state) {
    uint64_t random = 109;
    const model m = model_grouped(440, 10, 1000000, 2, 20, 20, &random);
    const int64_t optimum = model_optimum(&m);
    gpuopt_knapsack_desc desc = model_desc(&m);
    long k, most = 0, made = 0;
    (void)state;
    for (k = 0; k <= most; k++) { /* at first nothing fails, and allocations are counted */
        test_host host;
        gpuopt_context *context = test_context(&host);
        gpuopt_knapsack *knapsack = NULL;
        const long live = host.live, before = host.allocations;
        gpuopt_status status;
        if (k > 0) host.fail_at = before + k;
        status = gpuopt_knapsack_create(context, &desc, NULL, &knapsack);
        if (k == 0) most = host.allocations - before;
        host.fail_at = 0;
        if (status) {
            assert_int_equal(status, GPUOPT_ERROR_MEMORY);
            assert_int_equal(host.live, live);
        } else {
            made++;
            assert_string_equal(gpuopt_context_last_error(context), "");
            model_finish(knapsack, &m, optimum);
            gpuopt_knapsack_destroy(knapsack);
        }
        gpuopt_context_destroy(context);
        assert_int_equal(host.live, 0);
    }
    assert_true(made >= 5); /* without one of the four allocations for groups, and with all */
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(optima), cmocka_unit_test(scales),  cmocka_unit_test(many),       cmocka_unit_test(long_lists),
    cmocka_unit_test(tight),  cmocka_unit_test(settles), cmocka_unit_test(is_stopped), cmocka_unit_test(memory_fails)};

TEST_MAIN(tests)
