/* SPDX-License-Identifier: MIT
 *
 * Several copies of knapsack items in the calls: solutions and claims; numbers of copies from none to the largest;
 * refusals.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/knapsack/bounded.h"

/* Passes one handle's results to another: in host and in device memory, before and after, as items and as a claim. */
static void offered(void **state) {
    gpuopt_context *context = test_context(NULL);
    uint64_t random = 14;
    int k;
    (void)state;
    for (k = 0; k < 2 * MODEL_CLASSES; k++) {
        const bounded b = bounded_random(k % MODEL_CLASSES, 10, k % MODEL_CLASSES == 6 ? 3 : 60, 10, &random);
        const int64_t optimum = bounded_optimum(&b);
        gpuopt_knapsack_desc desc = bounded_desc(&b);
        gpuopt_knapsack *one = model_create(context, &desc), *two;
        gpuopt_knapsack_info i;
        int64_t copies[MODEL_MOST + 1], again[MODEL_MOST + 1];
        desc.search = GPUOPT_SEARCH_BREADTH; /* its first solution is seldom the best */
        two = model_create(context, &desc);
        gpuopt_desc_init(&i, sizeof i);
        assert_int_equal(gpuopt_knapsack_expand(one, 0, 0, NULL), GPUOPT_OK);
        assert_true(bounded_check(one, &b, copies) == optimum);
        assert_int_equal(gpuopt_knapsack_set_incumbent(two, GPUOPT_HOST, optimum + 1, copies), GPUOPT_ERROR_ARGUMENT);
        assert_int_equal(gpuopt_knapsack_set_incumbent(two, GPUOPT_HOST, optimum, copies), GPUOPT_OK);
        assert_int_equal(gpuopt_knapsack_get_info(two, &i), GPUOPT_OK);
        assert_true(i.primal_bound == optimum);
        assert_true(bounded_check(two, &b, again) == optimum);
        gpuopt_knapsack_destroy(two);
        two = model_create(context, &desc);
        assert_int_equal(gpuopt_knapsack_set_incumbent(two, GPUOPT_HOST, optimum + (k & 1), NULL), GPUOPT_OK);
        assert_int_equal(gpuopt_knapsack_expand(two, 0, 0, &i), GPUOPT_OK);
        assert_int_equal(i.outcome, k & 1 ? GPUOPT_INFEASIBLE : GPUOPT_OPTIMAL);
        gpuopt_knapsack_destroy(one);
        gpuopt_knapsack_destroy(two);
    }
    gpuopt_context_destroy(context);
}

/* Every number of copies can be set and is returned: by an item without weight, of which all copies may be taken, and
 * by items that fill the knapsack alone. */
static void every_number(void **state) {
    static const int64_t limit[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 15, 16, 17, 31, 33};
    gpuopt_context *context = test_context(NULL);
    size_t k;
    (void)state;
    for (k = 0; k < sizeof limit / sizeof *limit; k++) {
        int64_t capacity;
        for (capacity = 0; capacity <= limit[k] + 2; capacity++) {
            const int64_t upper = limit[k], weight = 3, profit = 5, most = capacity < upper ? capacity : upper;
            int64_t copies = -1, x;
            gpuopt_knapsack_desc desc;
            gpuopt_knapsack *knapsack;
            gpuopt_desc_init(&desc, sizeof desc);
            desc.items = 1;
            desc.weight = &weight;
            desc.profit = &profit;
            desc.copies_max = &upper;
            desc.capacity = 3 * capacity + 2;
            knapsack = model_create(context, &desc);
            for (x = 0; x <= upper + 1; x++)
                assert_int_equal(gpuopt_knapsack_set_incumbent(knapsack, GPUOPT_HOST, 5 * x, &x),
                                 x <= most ? GPUOPT_OK : GPUOPT_ERROR_ARGUMENT);
            assert_int_equal(gpuopt_knapsack_expand(knapsack, 0, 0, NULL), GPUOPT_OK);
            assert_int_equal(gpuopt_knapsack_get_items(knapsack, GPUOPT_HOST, &copies, NULL, NULL), GPUOPT_OK);
            assert_true(copies == most);
            gpuopt_knapsack_destroy(knapsack);
        }
    }
    gpuopt_context_destroy(context);
}

/* Large numbers, with answers known by hand. */
static void large(void **state) {
    static const struct {
        int64_t weight, profit, upper, capacity, copies;
        gpuopt_status status;
    } some[] = {
        {1, 1, INT64_MAX, INT64_MAX, INT64_MAX, GPUOPT_OK},
        {1, 2, INT64_MAX, INT64_MAX / 2, INT64_MAX / 2, GPUOPT_OK},
        {1, 2, INT64_MAX, INT64_MAX / 2 + 1, 0, GPUOPT_ERROR_NUMERIC},
        {1, 2, (int64_t)1 << 40, INT64_MAX, (int64_t)1 << 40, GPUOPT_OK},
        {3, 7, INT64_MAX, 1000000000000000001, 333333333333333333, GPUOPT_OK},
        {0, 1, INT64_MAX, 0, INT64_MAX, GPUOPT_OK},
        {0, 3, INT64_MAX / 3, 5, INT64_MAX / 3, GPUOPT_OK},
        {0, 3, INT64_MAX / 3 + 1, 5, 0, GPUOPT_ERROR_NUMERIC},
        {0, 0, INT64_MAX, 5, 0, GPUOPT_OK},
        {7, INT64_MAX, INT64_MAX, 6, 0, GPUOPT_OK},
        {7, INT64_MAX, 0, 100, 0, GPUOPT_OK},
        {7, INT64_MAX, INT64_MAX, 13, 1, GPUOPT_OK},
        {7, INT64_MAX, INT64_MAX, 14, 0, GPUOPT_ERROR_NUMERIC},
    };
    gpuopt_context *context = test_context(NULL);
    size_t k;
    (void)state;
    for (k = 0; k < sizeof some / sizeof *some; k++) {
        gpuopt_knapsack_desc desc;
        gpuopt_knapsack *knapsack = NULL;
        int64_t copies = -1, profit = -1, weight = -1;
        gpuopt_desc_init(&desc, sizeof desc);
        desc.items = 1;
        desc.weight = &some[k].weight;
        desc.profit = &some[k].profit;
        desc.copies_max = &some[k].upper;
        desc.capacity = some[k].capacity;
        assert_int_equal(gpuopt_knapsack_create(context, &desc, NULL, &knapsack), some[k].status);
        if (!knapsack) continue;
        assert_int_equal(gpuopt_knapsack_expand(knapsack, 0, 0, NULL), GPUOPT_OK);
        assert_int_equal(gpuopt_knapsack_get_items(knapsack, GPUOPT_HOST, &copies, &profit, &weight), GPUOPT_OK);
        assert_true(copies == some[k].copies || some[k].profit == 0);
        assert_true(profit == copies * some[k].profit && weight == copies * some[k].weight);
        gpuopt_knapsack_destroy(knapsack);
    }
    gpuopt_context_destroy(context);
}

/* Refusals and their messages; the handle stays usable, and no memory is left. */
static void refused(void **state) {
    static const int64_t weight[] = {5, 2, 0}, profit[] = {6, 3, 1}, upper[] = {2, 4, 3}, negative[] = {2, -1, 3};
    static const int64_t too_many[] = {0, 5, 0}, below[] = {0, -1, 0}, heavy[] = {2, 2, 0}, good[] = {2, 0, 1};
    gpuopt_knapsack_desc desc;
    gpuopt_memory_plan plan;
    gpuopt_knapsack *knapsack = NULL;
    int64_t copies[3], total, p;
    test_host host;
    gpuopt_context *context = test_context(&host);
    test_held before = test_held_by(&host);
    (void)state;
    gpuopt_desc_init(&desc, sizeof desc);
    gpuopt_desc_init(&plan, sizeof plan);
    desc.items = 3;
    desc.weight = weight;
    desc.profit = profit;
    desc.capacity = 11;
    desc.copies_max = negative;
    assert_int_equal(gpuopt_knapsack_create(context, &desc, NULL, &knapsack), GPUOPT_ERROR_ARGUMENT);
    assert_true(strstr(host.error, "copies_max of item 1 is negative") && !knapsack);
    desc.copies_max = upper;
    assert_int_equal(gpuopt_knapsack_create(context, &desc, &plan, NULL), GPUOPT_OK);
    assert_int_equal(gpuopt_knapsack_create(context, &desc, NULL, &knapsack), GPUOPT_OK);
    test_as_planned(&host, &before, &plan);
    assert_int_equal(gpuopt_knapsack_set_incumbent(knapsack, GPUOPT_HOST, 15, too_many), GPUOPT_ERROR_ARGUMENT);
    assert_non_null(strstr(host.error, "more than there are"));
    assert_int_equal(gpuopt_knapsack_set_incumbent(knapsack, GPUOPT_HOST, -3, below), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_knapsack_set_incumbent(knapsack, GPUOPT_HOST, 18, heavy), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_knapsack_set_incumbent(knapsack, GPUOPT_HOST, 13, good), GPUOPT_OK);
    assert_int_equal(gpuopt_knapsack_set_incumbent(NULL, GPUOPT_HOST, 13, good), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_knapsack_get_items(NULL, GPUOPT_HOST, copies, NULL, NULL), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_knapsack_expand(knapsack, 0, 0, NULL), GPUOPT_OK);
    assert_int_equal(gpuopt_knapsack_get_items(knapsack, GPUOPT_HOST, copies, NULL, NULL), GPUOPT_OK);
    assert_true(copies[0] == 1 && copies[1] == 3 && copies[2] == 3); /* 6 + 9 + 3; all others have less */
    assert_int_equal(gpuopt_knapsack_get_items(knapsack, GPUOPT_HOST, NULL, &p, &total), GPUOPT_OK);
    assert_true(p == 18 && total == 11);
    gpuopt_knapsack_destroy(knapsack);
    gpuopt_context_destroy(context);
}

/* 2^28 pieces are the most: 2^28 / 63 items of 63 pieces each are just too many. */
static void too_many_pieces(void **state) {
    const int32_t items = (1 << 28) / 63 + 1;
    int64_t *none = calloc((size_t)items, sizeof *none), *upper = malloc((size_t)items * sizeof *upper);
    gpuopt_context *context = test_context(NULL);
    gpuopt_knapsack_desc desc;
    gpuopt_knapsack *knapsack = NULL;
    int32_t j;
    (void)state;
    assert_true(none && upper);
    for (j = 0; j < items; j++) upper[j] = INT64_MAX;
    gpuopt_desc_init(&desc, sizeof desc);
    desc.items = items;
    desc.weight = desc.profit = none;
    desc.copies_max = upper;
    assert_int_equal(gpuopt_knapsack_create(context, &desc, NULL, &knapsack), GPUOPT_ERROR_UNSUPPORTED);
    assert_null(knapsack);
    free(none);
    free(upper);
    gpuopt_context_destroy(context);
}

/* Without copies_max the copies are 1 and 0, and no others are accepted. */
static void one_of_each(void **state) {
    static const int64_t weight[] = {3, 0, 5, 4}, profit[] = {2, 0, 4, 1};
    static const int64_t best[] = {1, 1, 1, 0}, twice[] = {2, 0, 0, 0}, less[] = {1, 0, -1, 0},
                         free_twice[] = {0, 2, 0, 0};
    test_host host;
    gpuopt_context *context = test_context(&host);
    gpuopt_knapsack_desc desc;
    gpuopt_knapsack *knapsack;
    gpuopt_knapsack_info info;
    int64_t copies[4], total, p;
    (void)state;
    gpuopt_desc_init(&desc, sizeof desc);
    gpuopt_desc_init(&info, sizeof info);
    desc.items = 4;
    desc.weight = weight;
    desc.profit = profit;
    desc.capacity = 8;
    desc.search = GPUOPT_SEARCH_BREADTH;
    knapsack = model_create(context, &desc);
    assert_int_equal(gpuopt_knapsack_set_incumbent(knapsack, GPUOPT_HOST, 4, twice), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_knapsack_set_incumbent(knapsack, GPUOPT_HOST, -2, less), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_knapsack_set_incumbent(knapsack, GPUOPT_HOST, 0, less), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_knapsack_set_incumbent(knapsack, GPUOPT_HOST, 0, free_twice), GPUOPT_ERROR_ARGUMENT);
    assert_non_null(strstr(host.error, "more than there are"));
    assert_int_equal(gpuopt_knapsack_set_incumbent(knapsack, GPUOPT_HOST, 6, best), GPUOPT_OK);
    assert_int_equal(gpuopt_knapsack_expand(knapsack, 0, 0, &info), GPUOPT_OK);
    assert_true(info.outcome == GPUOPT_OPTIMAL && info.primal_bound == 6);
    assert_int_equal(gpuopt_knapsack_get_items(knapsack, GPUOPT_HOST, copies, &p, &total), GPUOPT_OK);
    assert_true(copies[0] == 1 && copies[2] == 1 && copies[3] == 0 && p == 6 && total == 8);
    assert_true(copies[1] == 0 || copies[1] == 1); /* it changes nothing */
    gpuopt_knapsack_destroy(knapsack);
    gpuopt_context_destroy(context);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(offered), cmocka_unit_test(every_number),    cmocka_unit_test(large),
    cmocka_unit_test(refused), cmocka_unit_test(too_many_pieces), cmocka_unit_test(one_of_each),
};

TEST_MAIN(tests)
