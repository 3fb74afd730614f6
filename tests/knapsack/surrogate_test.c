/* SPDX-License-Identifier: MIT
 *
 * Surrogate problems, which a search of 64 items and more solves after 4 nodes an item. The bounds are true and the
 * optimum is compared with dynamic programming, for every class and for items that are nearly alike. Surrogate problems
 * end searches that take long without, and memory failures in between do no harm.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/knapsack/models.h"

static void every_class(void **state) {
    gpuopt_context *context = test_context(NULL);
    static const int64_t ranges[] = {7, 40, 300};
    uint64_t random = 41;
    int k;
    (void)state;
    for (k = 0; k < test_times(600, 600); k++) {
        model m = model_random(k % MODEL_CLASSES, 64 + k % 61, ranges[k / MODEL_CLASSES % 3], &random);
        model_search(context, &m, GPUOPT_DEFAULT, model_optimum(&m));
    }
    gpuopt_context_destroy(context);
}

/* Two or three kinds of items that differ by little: the number of items decides, and few fit or few are left out. */
static void nearly_alike(void **state) {
    gpuopt_context *context = test_context(NULL);
    uint64_t random = 43;
    int k;
    (void)state;
    for (k = 0; k < test_times(300, 300); k++) {
        const int64_t base = test_random_int(&random, 1, 60), add = test_random_int(&random, 0, 40);
        int64_t sum = 0;
        model m;
        int32_t j;
        memset(&m, 0, sizeof m);
        m.items = (int32_t)test_random_int(&random, 64, 100);
        for (j = 0; j < m.items; j++) {
            m.weight[j] = base + test_random_int(&random, 0, 2 + k % 3);
            m.profit[j] = k & 1 ? m.weight[j] + add : base + add + test_random_int(&random, 0, 3);
            if (k % 5 == 0 && j < 3) m.weight[j] *= 9;        /* a few heavy items */
            if (k % 5 == 1 && j < 9) m.weight[j] = 1 + j % 3; /* or light ones */
            sum += m.weight[j];
        }
        m.capacity = sum * test_random_int(&random, 1, 19) / 20;
        model_search(context, &m, GPUOPT_DEFAULT, model_optimum(&m));
    }
    gpuopt_context_destroy(context);
}

/* Almost strongly correlated items: soon settled, and not without the surrogate problems. */
static void settles(void **state) {
    gpuopt_context *context = test_context(NULL);
    uint64_t random = 47;
    int64_t with = 0, without = 0;
    int k;
    (void)state;
    for (k = 0; k < 10; k++) {
        model m = model_random(4, 200, 10000, &random);
        int64_t optimum = model_optimum(&m);
        with += model_search(context, &m, GPUOPT_DEFAULT, optimum);
        without += model_search(context, &m, GPUOPT_OFF, optimum);
    }
    assert_true(4 * with < without);
    gpuopt_context_destroy(context);
}

/* Sums near 2^63: surrogate weights might overflow, so there are no surrogate problems; or the numbers are just small
 * enough. */
static void large(void **state) {
    gpuopt_context *context = test_context(NULL);
    uint64_t random = 53;
    int k;
    (void)state;
    for (k = 0; k < 40; k++) {
        static model m;
        const int64_t unit = (int64_t)1 << (40 + k % 10);
        int64_t optimum;
        int32_t j;
        m = model_random(2 + k % 3, 70, 60, &random);
        optimum = model_optimum(&m);
        for (j = 0; j < m.items; j++) m.weight[j] = m.weight[j] * unit + 1; /* so that they have no common divisor */
        m.capacity = m.capacity * unit + 70;
        model_search(context, &m, GPUOPT_DEFAULT, optimum);
    }
    gpuopt_context_destroy(context);
}

static void memory_fails(void **state) {
    uint64_t random = 59;
    model m;
    int64_t optimum;
    long k, most = 0;
    (void)state;
    do m = model_random(4, 200, 10000, &random);
    while (m.capacity < 400000); /* one that takes more than 4 nodes an item */
    optimum = model_optimum(&m);
    for (k = 0; k <= most; k++) { /* at first nothing fails, and allocations are counted */
        test_host host;
        gpuopt_context *context = test_context(&host);
        gpuopt_knapsack_desc desc = model_desc(&m);
        gpuopt_knapsack *knapsack = model_create(context, &desc);
        gpuopt_knapsack_info info = GPUOPT_INIT(gpuopt_knapsack_info);
        long live = host.live, before = host.allocations;
        if (k > 0) host.fail_at = before + k;
        assert_int_equal(gpuopt_knapsack_expand(knapsack, 0, 0, &info), GPUOPT_OK);
        if (k == 0) most = host.allocations - before;
        assert_true(host.live == live && info.outcome == GPUOPT_OPTIMAL);
        assert_string_equal(gpuopt_context_last_error(context), "");
        model_finish(knapsack, &m, optimum);
        gpuopt_knapsack_destroy(knapsack);
        gpuopt_context_destroy(context);
        assert_int_equal(host.live, 0);
    }
    assert_true(most >= 4); /* there were surrogate problems */
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(every_class), cmocka_unit_test(nearly_alike),
                                          cmocka_unit_test(settles), cmocka_unit_test(large),
                                          cmocka_unit_test(memory_fails)};

TEST_MAIN(tests)
