/* SPDX-License-Identifier: MIT
 *
 * The hard cases one by one: trivial problems, numbers near 2^63, incumbents from the host, nodes as bytes, a pool that
 * is full, memory, and what each call refuses.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/knapsack/models.h"

static gpuopt_knapsack_info solve(const model *m, int64_t optimum) {
    gpuopt_context *context = test_context(NULL);
    gpuopt_knapsack_info info = {0};
    int search, reduce;
    for (search = 0; search < 3; search++)
        for (reduce = 0; reduce < 2; reduce++) {
            gpuopt_knapsack_desc desc = model_desc(m);
            gpuopt_knapsack *knapsack;
            desc.search = (gpuopt_knapsack_search)search;
            desc.reduction = reduce ? GPUOPT_ON : GPUOPT_OFF;
            knapsack = model_create(context, &desc);
            info = model_finish(knapsack, m, optimum);
            gpuopt_knapsack_destroy(knapsack);
        }
    gpuopt_context_destroy(context);
    return info;
}

static model small(int32_t items, int64_t capacity, const int64_t (*item)[2]) {
    model m;
    int32_t j;
    memset(&m, 0, sizeof m);
    m.items = items;
    m.capacity = capacity;
    for (j = 0; j < items; j++) m.profit[j] = item[j][0], m.weight[j] = item[j][1];
    return m;
}

static void trivial(void **state) {
    static const int64_t items[][2] = {{5, 3}, {4, 2}, {0, 0}, {7, 0}, {0, 4}, {9, 100}, {4, 2}};
    model m = small(7, 7, items);
    (void)state;
    solve(&m, 20); /* all but the heavy one and the worthless one */
    m.capacity = 0;
    solve(&m, 7);
    m.capacity = 1000;
    solve(&m, 29);
    m.capacity = 4;
    solve(&m, 15);
    m.items = 0;
    solve(&m, 0);
    m.items = 1, m.capacity = 3;
    solve(&m, 5);
    m.capacity = 2;
    solve(&m, 0);
}

/* Sums of weights, of profits, and all products are beyond 64 bits. */
static void large_numbers(void **state) {
    static const int64_t beyond[][2] = {{4000000000000000000, 4000000000000000000},
                                        {3000000000000000000, 3000000000000000001},
                                        {1000000000000000000, 5000000000000000000}};
    static const int64_t heavy[][2] = {{3, INT64_MAX}, {2, INT64_MAX - 1}, {2, 1}, {1, INT64_MAX}, {1, INT64_MAX}};
    static const int64_t rich[][2] = {{INT64_MAX, 5}, {INT64_MAX - 1, 5}, {INT64_MAX, 6}, {INT64_MAX - 1, 4}};
    static const int64_t middle[][2] = {{3000000019, 3000000001}, {2999999999, 2999999929}, {3000000000, 3000000037}};
    model m = small(3, 9000000000000000000, beyond);
    gpuopt_context *context;
    gpuopt_knapsack *knapsack = NULL;
    gpuopt_knapsack_desc desc;
    test_host host;
    (void)state;
    solve(&m, 7000000000000000000);
    m = small(5, INT64_MAX, heavy);
    solve(&m, 4);
    m = small(3, 6000000000, middle);
    solve(&m, 6000000018); /* the first and the second weigh 5999999930 */
    m = small(4, 9, rich); /* two of them: more than 2^63 - 1 */
    context = test_context(&host);
    desc = model_desc(&m);
    assert_int_equal(gpuopt_knapsack_create(context, &desc, &knapsack), GPUOPT_ERROR_NUMERIC);
    assert_true(knapsack == NULL && strstr(host.error, "2^63"));
    desc.capacity = 4;
    assert_int_equal(gpuopt_knapsack_create(context, &desc, &knapsack), GPUOPT_OK);
    m.capacity = 4;
    model_finish(knapsack, &m, INT64_MAX - 1);
    gpuopt_knapsack_destroy(knapsack);
    gpuopt_context_destroy(context);
    assert_int_equal(host.live, 0);
}

static void ties(void **state) {
    model m;
    int32_t j;
    (void)state;
    memset(&m, 0, sizeof m);
    m.items = 16; /* the paper's tree has every subset */
    m.capacity = 3 * 8 + 1;
    for (j = 0; j < m.items; j++) m.weight[j] = 3, m.profit[j] = 5;
    assert_true(solve(&m, 40).upper == 40);
}

/* ---- Incumbents ---- */

static void incumbents(void **state) {
    gpuopt_context *context = test_context(NULL);
    uint64_t random = 99;
    int k;
    (void)state;
    for (k = 0; k < 300; k++) {
        model m = model_random(k % MODEL_CLASSES, 16, 60, &random);
        int64_t optimum = model_optimum(&m), claim = optimum + k % 5 - 2;
        gpuopt_knapsack_desc desc = model_desc(&m);
        gpuopt_knapsack *knapsack, *other;
        gpuopt_knapsack_info info;
        uint8_t taken[MODEL_MOST];
        desc.reduction = k & 1 ? GPUOPT_OFF : GPUOPT_ON;
        desc.search = k & 2 ? GPUOPT_SEARCH_BREADTH : GPUOPT_SEARCH_DOMINANCE;
        knapsack = model_create(context, &desc);
        gpuopt_desc_init(&info, sizeof info);
        if (claim >= 0) assert_int_equal(gpuopt_knapsack_set_incumbent(knapsack, claim, NULL), GPUOPT_OK);
        assert_int_equal(gpuopt_knapsack_expand(knapsack, 0, 0, &info), GPUOPT_OK);
        if (claim <= optimum) model_finish(knapsack, &m, optimum);
        else assert_true(info.outcome == GPUOPT_INFEASIBLE && model_check_items(knapsack, &m) == info.lower);
        /* Its items, as the incumbent of another search. */
        assert_int_equal(gpuopt_knapsack_get_items(knapsack, taken, NULL, NULL), GPUOPT_OK);
        assert_int_equal(gpuopt_knapsack_get_info(knapsack, &info), GPUOPT_OK);
        other = model_create(context, &desc);
        assert_int_equal(gpuopt_knapsack_expand(other, 0, 3, NULL), GPUOPT_OK);
        assert_int_equal(gpuopt_knapsack_set_incumbent(other, info.lower, taken), GPUOPT_OK);
        assert_true(model_check_items(other, &m) >= info.lower);
        model_finish(other, &m, optimum);
        gpuopt_knapsack_destroy(other);
        gpuopt_knapsack_destroy(knapsack);
    }
    gpuopt_context_destroy(context);
}

/* ---- Nodes as bytes ---- */

static void packed(void **state) {
    gpuopt_context *context = test_context(NULL);
    uint64_t random = 3;
    int k;
    (void)state;
    for (k = 0; k < 400; k++) {
        model m = model_random(k % MODEL_CLASSES, 20, 80, &random);
        int64_t optimum = model_optimum(&m);
        gpuopt_knapsack_desc desc = model_desc(&m);
        gpuopt_knapsack *one, *two;
        gpuopt_knapsack_info info, first;
        unsigned char *bytes;
        uint64_t size = 0, size2 = 0;
        desc.reduction = GPUOPT_OFF;
        desc.search = k & 2 ? GPUOPT_SEARCH_BREADTH : GPUOPT_SEARCH_DOMINANCE;
        desc.pool = k & 4 ? 1 : 10000;
        one = model_create(context, &desc);
        two = model_create(context, &desc);
        gpuopt_desc_init(&info, sizeof info);
        gpuopt_desc_init(&first, sizeof first);
        assert_int_equal(gpuopt_knapsack_expand(one, 0, 1 + k % 17, &first), GPUOPT_OK);
        assert_int_equal(gpuopt_knapsack_pack(one, -1, 0, NULL, 0, &size), GPUOPT_OK);
        bytes = malloc(size);
        assert_int_equal(gpuopt_knapsack_pack(one, -1, 0, bytes, size - 1, &size2), GPUOPT_ERROR_ARGUMENT);
        assert_int_equal(gpuopt_knapsack_pack(one, -1, 0, bytes, size, &size2), GPUOPT_OK);
        assert_true(size == size2);
        assert_int_equal(gpuopt_knapsack_unpack(two, bytes, size - 1), GPUOPT_ERROR_ARGUMENT);
        bytes[16] ^= 1; /* the hash */
        assert_int_equal(gpuopt_knapsack_unpack(two, bytes, size), GPUOPT_ERROR_ARGUMENT);
        bytes[16] ^= 1;
        assert_int_equal(gpuopt_knapsack_unpack(two, bytes, size), GPUOPT_OK);
        info = model_finish(two, &m, optimum);
        {
            gpuopt_knapsack_info whole = model_finish(one, &m, optimum);
            assert_true(whole.expanded == first.expanded + info.expanded);
            assert_true(whole.dominated == first.dominated + info.dominated);
        }
        gpuopt_knapsack_destroy(two);
        gpuopt_knapsack_destroy(one);
        free(bytes);
        /* Half of the nodes go to another handle; the better of both is the optimum. */
        one = model_create(context, &desc);
        two = model_create(context, &desc);
        assert_int_equal(gpuopt_knapsack_expand(one, 0, 1 + k % 13, &first), GPUOPT_OK);
        assert_int_equal(gpuopt_knapsack_pack(one, first.alive / 2, 0, NULL, 0, &size), GPUOPT_OK);
        bytes = malloc(size);
        assert_int_equal(gpuopt_knapsack_pack(one, first.alive / 2, 1, bytes, size, NULL), GPUOPT_OK);
        assert_int_equal(gpuopt_knapsack_unpack(two, bytes, size), GPUOPT_OK);
        assert_int_equal(gpuopt_knapsack_get_info(two, &info), GPUOPT_OK);
        assert_true(info.alive == first.alive / 2);
        assert_int_equal(gpuopt_knapsack_expand(one, 0, 0, &first), GPUOPT_OK);
        assert_int_equal(gpuopt_knapsack_expand(two, 0, 0, &info), GPUOPT_OK);
        assert_true((first.lower > info.lower ? first.lower : info.lower) == optimum);
        assert_true(model_check_items(one, &m) == first.lower && model_check_items(two, &m) == info.lower);
        gpuopt_knapsack_destroy(two);
        gpuopt_knapsack_destroy(one);
        free(bytes);
    }
    gpuopt_context_destroy(context);
}

/* Bytes that were damaged are refused or give a search that ends; they never do harm. */
static void damaged(void **state) {
    gpuopt_context *context = test_context(NULL);
    uint64_t random = 8, size = 0;
    model m = model_random(2, 24, 50, &random);
    gpuopt_knapsack_desc desc = model_desc(&m);
    gpuopt_knapsack *one;
    unsigned char *bytes, *bad;
    int k;
    (void)state;
    desc.pool = 2000;
    desc.reduction = GPUOPT_OFF;
    desc.search = GPUOPT_SEARCH_BREADTH;
    one = model_create(context, &desc);
    assert_int_equal(gpuopt_knapsack_expand(one, 0, 9, NULL), GPUOPT_OK);
    assert_int_equal(gpuopt_knapsack_pack(one, -1, 0, NULL, 0, &size), GPUOPT_OK);
    bytes = malloc(size), bad = malloc(size);
    assert_int_equal(gpuopt_knapsack_pack(one, -1, 0, bytes, size, NULL), GPUOPT_OK);
    for (k = 0; k < 3000; k++) {
        gpuopt_knapsack *two = model_create(context, &desc);
        memcpy(bad, bytes, size);
        bad[test_random_int(&random, 0, (int64_t)size - 1)] = (unsigned char)test_random_int(&random, 0, 255);
        if (gpuopt_knapsack_unpack(two, bad, size) == GPUOPT_OK)
            assert_int_equal(gpuopt_knapsack_expand(two, 100000, 0, NULL), GPUOPT_OK);
        gpuopt_knapsack_destroy(two);
    }
    assert_int_equal(gpuopt_knapsack_unpack(one, bytes, size), GPUOPT_ERROR_STATE);
    gpuopt_knapsack_destroy(one);
    gpuopt_context_destroy(context);
    free(bytes);
    free(bad);
}

/* ---- A pool that is full ---- */

static void full(void **state) {
    gpuopt_context *context = test_context(NULL);
    uint64_t random = 12;
    int k, stopped = 0;
    (void)state;
    for (k = 0; k < 200; k++) {
        model m = model_random(2 + k % 3, 22, 100, &random);
        int64_t optimum = model_optimum(&m), best = 0;
        gpuopt_knapsack_desc desc = model_desc(&m);
        gpuopt_knapsack *knapsack;
        gpuopt_knapsack_info info;
        unsigned char bytes[16384];
        desc.search = GPUOPT_SEARCH_BREADTH;
        desc.full = GPUOPT_FULL_STOP;
        desc.pool = 100;
        knapsack = model_create(context, &desc);
        gpuopt_desc_init(&info, sizeof info);
        assert_int_equal(gpuopt_knapsack_expand(knapsack, 0, 0, &info), GPUOPT_OK);
        while (info.outcome == GPUOPT_FULL) { /* others do a part of the work */
            gpuopt_knapsack *other;
            gpuopt_knapsack_info others;
            uint64_t size;
            stopped++;
            desc.full = GPUOPT_FULL_DEPTH_FIRST;
            other = model_create(context, &desc);
            gpuopt_desc_init(&others, sizeof others);
            assert_int_equal(gpuopt_knapsack_pack(knapsack, info.alive / 2 + 1, 1, bytes, sizeof bytes, &size),
                             GPUOPT_OK);
            assert_int_equal(gpuopt_knapsack_unpack(other, bytes, size), GPUOPT_OK);
            assert_int_equal(gpuopt_knapsack_expand(other, 0, 0, &others), GPUOPT_OK);
            if (others.lower > best) best = others.lower;
            gpuopt_knapsack_destroy(other);
            assert_int_equal(gpuopt_knapsack_expand(knapsack, 0, 0, &info), GPUOPT_OK);
        }
        assert_int_equal(info.outcome, GPUOPT_OPTIMAL);
        assert_true((info.lower > best ? info.lower : best) == optimum && info.slices == 0);
        gpuopt_knapsack_destroy(knapsack);
    }
    assert_true(stopped > 10);
    gpuopt_context_destroy(context);
}

/* ---- Arguments and memory ---- */

static void refused(void **state) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    uint64_t random = 4;
    model m = model_random(2, 30, 100, &random);
    gpuopt_knapsack_desc good = model_desc(&m), d;
    gpuopt_knapsack *knapsack = NULL;
    gpuopt_memory_plan plan;
    gpuopt_knapsack_info info;
    uint8_t taken[MODEL_MOST];
    long live;
    (void)state;
    gpuopt_desc_init(&plan, sizeof plan);
    memset(taken, 1, sizeof taken);
#define REFUSED(change, words)                                                               \
    d = good, change;                                                                        \
    assert_int_equal(gpuopt_knapsack_create(context, &d, &knapsack), GPUOPT_ERROR_ARGUMENT); \
    assert_true(knapsack == NULL && strstr(host.error, words));                              \
    assert_int_equal(gpuopt_knapsack_plan(context, &d, &plan), GPUOPT_ERROR_ARGUMENT);       \
    assert_true(strstr(host.error, words) && plan.host_bytes == 0)
    REFUSED(d.items = -1, "items");
    REFUSED(d.items = (1 << 30) + 1, "items");
    REFUSED(d.weight = NULL, "weight");
    REFUSED(d.profit = NULL, "profit");
    REFUSED(d.capacity = -1, "capacity");
    REFUSED(d.search = (gpuopt_knapsack_search)3, "search");
    REFUSED(d.full = (gpuopt_knapsack_full)2, "full");
    REFUSED(d.pool = -1, "pool");
    REFUSED(d.pool = ((int64_t)1 << 40) + 1, "pool");
    REFUSED(d.node_limit = -1, "node_limit");
    REFUSED(d.reduction = (gpuopt_switch)3, "reduction");
    REFUSED(d.hybrid_threshold = -1, "hybrid_threshold");
    REFUSED(d.struct_size = 0, "struct_size");
    m.weight[7] = -1;
    REFUSED(d.capacity = 9, "weight of item 7");
    m.weight[7] = 1, m.profit[8] = INT64_MIN;
    REFUSED(d.capacity = 9, "profit of item 8");
    m.profit[8] = 1;
    live = host.live;
    assert_int_equal(gpuopt_knapsack_create(context, &good, NULL), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_knapsack_create(context, NULL, &knapsack), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_knapsack_plan(context, &good, NULL), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(host.live, live);
    gpuopt_knapsack_destroy(NULL);
    knapsack = model_create(context, &good);
    memset(&info, 0, sizeof info);
    assert_int_equal(gpuopt_knapsack_get_info(knapsack, &info), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_knapsack_expand(knapsack, 0, 0, &info), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_knapsack_expand(knapsack, -1, 0, NULL), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_knapsack_expand(knapsack, 0, -1, NULL), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_knapsack_set_incumbent(knapsack, -1, NULL), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_knapsack_set_incumbent(knapsack, 5, taken), GPUOPT_ERROR_ARGUMENT);
    assert_true(strstr(host.error, "heavy") != NULL);
    memset(taken, 0, sizeof taken);
    assert_int_equal(gpuopt_knapsack_set_incumbent(knapsack, 5, taken), GPUOPT_ERROR_ARGUMENT);
    assert_true(strstr(host.error, "another profit") != NULL);
    assert_int_equal(gpuopt_knapsack_pack(knapsack, -2, 0, NULL, 0, NULL), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_knapsack_unpack(knapsack, "GPUM", 4), GPUOPT_ERROR_ARGUMENT);
    model_finish(knapsack, &m, model_optimum(&m));
    gpuopt_knapsack_destroy(knapsack);
    gpuopt_context_destroy(context);
    assert_int_equal(host.live, 0);
}

/* The plan is exact, a search allocates nothing, and every allocation may fail. */
static void memory(void **state) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    uint64_t random = 4, before[2];
    model m = model_random(2, 30, 100, &random);
    gpuopt_knapsack_desc desc = model_desc(&m);
    gpuopt_knapsack *knapsack = NULL;
    gpuopt_memory_plan plan;
    long count, k, live = host.live;
    (void)state;
    desc.pool = 12345;
    gpuopt_desc_init(&plan, sizeof plan);
    assert_int_equal(gpuopt_knapsack_plan(context, &desc, &plan), GPUOPT_OK);
    assert_true(host.live == live);
    before[0] = host.bytes[0], before[1] = host.bytes[1];
    host.peak[0] = host.bytes[0];
    count = host.allocations;
    knapsack = model_create(context, &desc);
    assert_true(host.bytes[0] - before[0] == plan.host_bytes && host.bytes[1] - before[1] == plan.device_bytes);
    assert_true(host.peak[0] - before[0] == plan.host_bytes + plan.create_bytes);
    count = host.allocations - count;
    k = host.allocations;
    model_finish(knapsack, &m, model_optimum(&m));
    assert_true(host.allocations == k);
    gpuopt_knapsack_destroy(knapsack);
    for (k = 1; k <= count; k++) {
        host.fail_at = host.allocations + k;
        assert_int_equal(gpuopt_knapsack_create(context, &desc, &knapsack), GPUOPT_ERROR_MEMORY);
        assert_true(knapsack == NULL && host.live == live);
    }
    gpuopt_context_destroy(context);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(trivial),    cmocka_unit_test(large_numbers), cmocka_unit_test(ties),
    cmocka_unit_test(incumbents), cmocka_unit_test(packed),        cmocka_unit_test(damaged),
    cmocka_unit_test(full),       cmocka_unit_test(refused),       cmocka_unit_test(memory),
};

TEST_MAIN(tests)
