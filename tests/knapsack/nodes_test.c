/* SPDX-License-Identifier: MIT
 *
 * Packed nodes: checkpoints, nodes shared between handles, bytes of another problem; and full pools, from which nodes
 * must move to another handle.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/knapsack/models.h"

/* ---- Pack and unpack ---- */

static void packed(void **state) {
    gpuopt_context *context = test_context(NULL);
    uint64_t random = 3;
    int k;
    (void)state;
    for (k = 0; k < test_times(400, 400); k++) {
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
        assert_int_equal(gpuopt_knapsack_unpack(two, bytes, size - 1, 0), GPUOPT_ERROR_ARGUMENT);
        bytes[16] ^= 1; /* the hash */
        assert_int_equal(gpuopt_knapsack_unpack(two, bytes, size, 0), GPUOPT_ERROR_ARGUMENT);
        bytes[16] ^= 1;
        assert_int_equal(gpuopt_knapsack_unpack(two, bytes, size, 0), GPUOPT_OK);
        info = model_finish(two, &m, optimum);
        {
            gpuopt_knapsack_info whole = model_finish(one, &m, optimum);
            assert_true(whole.expanded == first.expanded + info.expanded);
            assert_true(whole.dominated == first.dominated + info.dominated);
        }
        gpuopt_knapsack_destroy(two);
        gpuopt_knapsack_destroy(one);
        free(bytes);
        /* Half of the nodes go to another handle; the better result of both is the optimum. */
        one = model_create(context, &desc);
        two = model_create(context, &desc);
        assert_int_equal(gpuopt_knapsack_expand(one, 0, 1 + k % 13, &first), GPUOPT_OK);
        bytes = model_pack(one, first.alive / 2, 1, &size);
        assert_int_equal(gpuopt_knapsack_unpack(two, bytes, size, 0), GPUOPT_OK);
        assert_int_equal(gpuopt_knapsack_get_info(two, &info), GPUOPT_OK);
        assert_true(info.alive == first.alive / 2);
        assert_int_equal(gpuopt_knapsack_expand(one, 0, 0, &first), GPUOPT_OK);
        assert_int_equal(gpuopt_knapsack_expand(two, 0, 0, &info), GPUOPT_OK);
        assert_true((first.primal_bound > info.primal_bound ? first.primal_bound : info.primal_bound) == optimum);
        assert_true(model_check_items(one, &m) == first.primal_bound &&
                    model_check_items(two, &m) == info.primal_bound);
        gpuopt_knapsack_destroy(two);
        gpuopt_knapsack_destroy(one);
        free(bytes);
    }
    gpuopt_context_destroy(context);
}

/* A handle of another problem, search or reduction refuses the bytes and is unchanged. */
static void foreign(void **state) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    uint64_t random = 41, size;
    model m = model_random(2, 24, 50, &random), other;
    gpuopt_knapsack_desc desc = model_desc(&m);
    gpuopt_knapsack *one;
    unsigned char *bytes;
    int k;
    (void)state;
    desc.reduction = GPUOPT_OFF;
    one = model_create(context, &desc);
    assert_int_equal(gpuopt_knapsack_expand(one, 0, 5, NULL), GPUOPT_OK);
    bytes = model_pack(one, -1, 0, &size);
    for (k = 0; k < 6; k++) {
        gpuopt_knapsack *two;
        gpuopt_knapsack_info before, after;
        gpuopt_knapsack_desc changed;
        other = m;
        changed = model_desc(&other);
        changed.reduction = k == 5 ? GPUOPT_ON : GPUOPT_OFF;
        if (k == 0) other.weight[23]++;
        if (k == 1) other.profit[0]++;
        if (k == 2) changed.capacity = --other.capacity;
        if (k == 3) changed.items = --other.items;
        if (k == 4) changed.search = GPUOPT_SEARCH_BREADTH;
        two = model_create(context, &changed);
        gpuopt_desc_init(&before, sizeof before);
        gpuopt_desc_init(&after, sizeof after);
        assert_int_equal(gpuopt_knapsack_get_info(two, &before), GPUOPT_OK);
        if (k < 5 || before.free_items < m.items) {
            assert_int_equal(gpuopt_knapsack_unpack(two, bytes, size, 0), GPUOPT_ERROR_ARGUMENT);
            assert_non_null(strstr(host.error, "another problem"));
        }
        assert_int_equal(gpuopt_knapsack_get_info(two, &after), GPUOPT_OK);
        assert_memory_equal(&before, &after, sizeof before);
        model_finish(two, &other, model_optimum(&other));
        gpuopt_knapsack_destroy(two);
    }
    gpuopt_knapsack_destroy(one);
    free(bytes);
    gpuopt_context_destroy(context);
}

/* ---- Full pools ---- */

static void full(void **state) {
    gpuopt_context *context = test_context(NULL);
    uint64_t random = 12;
    int k, stopped = 0;
    (void)state;
    for (k = 0; k < test_times(200, 400); k++) {
        model m = model_random(2 + k % 3, 22, 100, &random);
        int64_t optimum = model_optimum(&m), best = 0;
        gpuopt_knapsack_desc desc = model_desc(&m);
        gpuopt_knapsack *knapsack;
        gpuopt_knapsack_info info;
        unsigned char bytes[16384];
        desc.search = GPUOPT_SEARCH_BREADTH;
        desc.on_pool_full = GPUOPT_ON_POOL_FULL_STOP;
        desc.pool = 100;
        knapsack = model_create(context, &desc);
        gpuopt_desc_init(&info, sizeof info);
        assert_int_equal(gpuopt_knapsack_expand(knapsack, 0, 0, &info), GPUOPT_OK);
        while (info.outcome == GPUOPT_FULL) { /* other handles do a part of the work */
            gpuopt_knapsack *other;
            gpuopt_knapsack_info others;
            uint64_t size;
            stopped++;
            desc.on_pool_full = GPUOPT_ON_POOL_FULL_DEPTH_FIRST;
            other = model_create(context, &desc);
            gpuopt_desc_init(&others, sizeof others);
            assert_int_equal(gpuopt_knapsack_pack(knapsack, info.alive / 2 + 1, 1, bytes, sizeof bytes, &size),
                             GPUOPT_OK);
            assert_int_equal(gpuopt_knapsack_unpack(other, bytes, size, 0), GPUOPT_OK);
            assert_int_equal(gpuopt_knapsack_expand(other, 0, 0, &others), GPUOPT_OK);
            if (others.primal_bound > best) best = others.primal_bound;
            gpuopt_knapsack_destroy(other);
            assert_int_equal(gpuopt_knapsack_expand(knapsack, 0, 0, &info), GPUOPT_OK);
        }
        assert_int_equal(info.outcome, GPUOPT_OPTIMAL);
        assert_true((info.primal_bound > best ? info.primal_bound : best) == optimum && info.slices == 0);
        gpuopt_knapsack_destroy(knapsack);
    }
    assert_true(stopped > 10);
    gpuopt_context_destroy(context);
}

/* Two handles with pools that are too small. Nodes that do not fit wait as packed bytes, together with the
 * incumbents. */
static void shared(void **state) {
    enum { HANDLES = 2, WAITING = 4096 };
    static unsigned char *waiting[WAITING];
    static uint64_t sizes[WAITING];
    gpuopt_context *context = test_context(NULL);
    uint64_t random = 17;
    int k, h, most = 0;
    (void)state;
    for (k = 0; k < test_times(60, 60); k++) {
        model m = model_random(2 + k % 3, 22, 100, &random);
        int64_t optimum = model_optimum(&m), best = 0;
        gpuopt_knapsack_desc desc = model_desc(&m);
        gpuopt_knapsack *knapsack[HANDLES];
        gpuopt_knapsack_info info;
        int count = 0, busy = 1;
        gpuopt_desc_init(&info, sizeof info);
        desc.on_pool_full = GPUOPT_ON_POOL_FULL_STOP;
        desc.search = k & 1 ? GPUOPT_SEARCH_BREADTH : GPUOPT_SEARCH_DOMINANCE;
        desc.reduction = GPUOPT_OFF;
        desc.pool = 1; /* the least */
        for (h = 0; h < HANDLES; h++) knapsack[h] = model_create(context, &desc);
        assert_int_equal(gpuopt_knapsack_get_info(knapsack[1], &info), GPUOPT_OK);
        sizes[0] = 80 + 22 + 40 + 20; /* at most; removes the second handle's root, which the first has, too */
        waiting[0] = malloc(sizes[0]);
        assert_int_equal(gpuopt_knapsack_pack(knapsack[1], -1, 1, waiting[0], sizes[0], NULL), GPUOPT_OK);
        free(waiting[0]);
        while (busy) {
            busy = 0;
            for (h = 0; h < HANDLES; h++) {
                assert_int_equal(gpuopt_knapsack_expand(knapsack[h], 0, 10, &info), GPUOPT_OK);
                if (info.primal_bound > best) best = info.primal_bound;
                if (info.outcome == GPUOPT_FULL) {
                    int64_t part = info.alive / 2; /* FULL: there are at least two nodes */
                    assert_true(count < WAITING);
                    assert_int_equal(gpuopt_knapsack_pack(knapsack[h], part, 0, NULL, 0, &sizes[count]), GPUOPT_OK);
                    waiting[count] = malloc(sizes[count]);
                    assert_int_equal(gpuopt_knapsack_pack(knapsack[h], part, 1, waiting[count], sizes[count], NULL),
                                     GPUOPT_OK);
                    if (++count > most) most = count;
                } else if (info.alive == 0 && count > 0) {
                    assert_int_equal(info.outcome, GPUOPT_OPTIMAL);
                    count--;
                    assert_int_equal(gpuopt_knapsack_unpack(knapsack[h], waiting[count], sizes[count], 0), GPUOPT_OK);
                    free(waiting[count]);
                    assert_true(model_check_items(knapsack[h], &m) <= optimum);
                }
                assert_int_equal(gpuopt_knapsack_get_info(knapsack[h], &info), GPUOPT_OK);
                busy |= info.alive > 0 || count > 0;
            }
        }
        assert_true(best == optimum);
        for (h = 0; h < HANDLES; h++) gpuopt_knapsack_destroy(knapsack[h]);
    }
    assert_true(most > 1);
    gpuopt_context_destroy(context);
}

/* Items are recovered in the free part of the pool. Here little of it is free, and a solution takes more decisions than
 * a node stores. */
static void items_of_a_full_pool(void **state) {
    gpuopt_context *context = test_context(NULL);
    uint64_t random = 23;
    int k, full_pools = 0;
    (void)state;
    for (k = 0; k < 120; k++) {
        model m = model_random(k % MODEL_CLASSES, 150, 1000, &random);
        int64_t optimum = model_optimum(&m);
        gpuopt_knapsack_desc desc = model_desc(&m);
        gpuopt_knapsack *knapsack;
        gpuopt_knapsack_info info;
        int part;
        desc.search = GPUOPT_SEARCH_BREADTH;
        desc.on_pool_full = k % 3 ? GPUOPT_ON_POOL_FULL_DEPTH_FIRST : GPUOPT_ON_POOL_FULL_STOP;
        desc.pool = k % 2 ? 1 : 5000;
        knapsack = model_create(context, &desc);
        gpuopt_desc_init(&info, sizeof info);
        for (part = 0; part < 5; part++) {
            assert_int_equal(gpuopt_knapsack_expand(knapsack, 3000, 0, &info), GPUOPT_OK);
            full_pools += info.alive > info.pool / 2;
            assert_true(model_check_items(knapsack, &m) >= info.primal_bound);
            assert_true(info.primal_bound <= optimum && info.dual_bound >= optimum);
        }
        gpuopt_knapsack_destroy(knapsack);
    }
    assert_true(full_pools > 50);
    gpuopt_context_destroy(context);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(packed),
    cmocka_unit_test(foreign),
    cmocka_unit_test(full),
    cmocka_unit_test(shared),
    cmocka_unit_test(items_of_a_full_pool),
};

TEST_MAIN(tests)
