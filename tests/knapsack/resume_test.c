/* SPDX-License-Identifier: MIT
 *
 * The state of a search can be packed and restored after each step, at outcome FULL, and with slices of a level left.
 * So it can after an incumbent from outside has made levels skippable. Optima by dynamic programming.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/knapsack/models.h"

static gpuopt_knapsack_info info_of(gpuopt_knapsack *knapsack) {
    gpuopt_knapsack_info info = GPUOPT_INIT(gpuopt_knapsack_info);
    assert_int_equal(gpuopt_knapsack_get_info(knapsack, &info), GPUOPT_OK);
    return info;
}

/* A handle of the same descriptor that continues from all nodes takes the same steps to the same end. */
static void check_copy(gpuopt_context *context, const gpuopt_knapsack_desc *desc, gpuopt_knapsack *from) {
    gpuopt_knapsack *copy = model_create(context, desc);
    gpuopt_knapsack_info before = info_of(from), info = GPUOPT_INIT(gpuopt_knapsack_info);
    uint64_t size, again;
    unsigned char *bytes = model_pack(from, -1, 0, &size), *packed;
    assert_int_equal(gpuopt_knapsack_unpack(copy, bytes, size, 0), GPUOPT_OK);
    info = info_of(copy);
    assert_true(info.alive == before.alive && info.level == before.level && info.primal_bound == before.primal_bound);
    packed = model_pack(copy, -1, 0, &again); /* the same bytes again, up to the counts and the checksum */
    assert_true(again == size && memcmp(packed, bytes, 48) == 0 && memcmp(packed + 80, bytes + 80, size - 80) == 0);
    gpuopt_knapsack_destroy(copy);
    free(packed);
    free(bytes);
}

/* The best profit below packed nodes, in pools as small as their origin; nodes that do not fit there are packed, too.
 * Counts the expanded nodes. */
static int64_t best_below(gpuopt_context *context, const gpuopt_knapsack_desc *desc, const unsigned char *bytes,
                          uint64_t size, int deep) {
    gpuopt_knapsack *other = model_create(context, desc);
    gpuopt_knapsack_info info = GPUOPT_INIT(gpuopt_knapsack_info);
    int64_t best;
    assert_int_equal(gpuopt_knapsack_unpack(other, bytes, size, 0), GPUOPT_OK);
    assert_int_equal(gpuopt_knapsack_expand(other, 0, 0, &info), GPUOPT_OK);
    best = info.primal_bound;
    while (info.outcome == GPUOPT_FULL) {
        uint64_t part_size;
        int64_t below;
        unsigned char *part = model_pack(other, (info.alive + 1) / 2, 1, &part_size);
        assert_true(deep < 10000);
        assert_int_equal(info_of(other).alive, info.alive - (info.alive + 1) / 2);
        below = best_below(context, desc, part, part_size, deep + 1);
        if (below > best) best = below;
        free(part);
        assert_int_equal(gpuopt_knapsack_expand(other, 0, 0, &info), GPUOPT_OK);
        if (info.primal_bound > best) best = info.primal_bound;
    }
    assert_int_equal(info.outcome, GPUOPT_OPTIMAL);
    gpuopt_knapsack_destroy(other);
    return best;
}

/* Moves nodes away whenever the pool is full, and packs all of them repeatedly in between. */
static void search(gpuopt_context *context, const model *m, const gpuopt_knapsack_desc *desc, int64_t optimum,
                   int *full) {
    gpuopt_knapsack *knapsack = model_create(context, desc);
    gpuopt_knapsack_info info = info_of(knapsack);
    int64_t best = info.primal_bound;
    int step;
    for (step = 0; info.outcome == GPUOPT_MORE || info.outcome == GPUOPT_FULL; step++) {
        if (step < 300 || step % 64 == 0) check_copy(context, desc, knapsack);
        if (info.outcome == GPUOPT_FULL) {
            uint64_t size;
            unsigned char *part = model_pack(knapsack, (info.alive + 1) / 2, 1, &size);
            int64_t below = best_below(context, desc, part, size, 0);
            if (below > best) best = below;
            free(part);
            ++*full;
        }
        assert_int_equal(gpuopt_knapsack_expand(knapsack, 0, step < 300, &info), GPUOPT_OK);
        if (info.primal_bound > best) best = info.primal_bound;
    }
    assert_int_equal(info.outcome, GPUOPT_OPTIMAL);
    if (best != optimum) fail_msg("%lld instead of %lld", (long long)best, (long long)optimum);
    assert_true(model_check_items(knapsack, m) == info.primal_bound);
    gpuopt_knapsack_destroy(knapsack);
}

static void resumed_anywhere(void **state) {
    gpuopt_context *context = test_context(NULL);
    uint64_t random = 31;
    int k, full = 0;
    (void)state;
    for (k = 0; k < 120; k++) {
        model m = model_random(k % MODEL_CLASSES, k % 5 ? 26 : 16, 90, &random);
        gpuopt_knapsack_desc desc = model_desc(&m);
        desc.pool = k % 5 ? 64 : 1;
        desc.on_pool_full = k & 1 ? GPUOPT_ON_POOL_FULL_STOP : GPUOPT_ON_POOL_FULL_DEPTH_FIRST;
        desc.reduction = k % 3 ? GPUOPT_ON : GPUOPT_OFF;
        search(context, &m, &desc, model_optimum(&m), &full);
    }
    assert_true(full > 20);
    gpuopt_context_destroy(context);
}

/* At FULL of a pool of 84, levels had been skipped: some nodes can then only be dropped. */
static void full_after_skipped_levels(void **state) {
    static const int64_t profit[] = {27, 85, 5,  25, 72, 87, 5,  62, 18, 15, 20, 79, 88, 12, 61, 83, 39, 80, 44,
                                     56, 34, 16, 10, 26, 35, 65, 32, 6,  49, 32, 85, 32, 37, 39, 72, 56, 15, 81};
    static const int64_t weight[] = {26, 81, 4,  28, 64, 79, 9,  64, 23, 23, 27, 72, 90, 4,  65, 77, 38, 85, 49,
                                     59, 41, 15, 15, 24, 0,  68, 34, 16, 54, 41, 85, 34, 29, 36, 82, 57, 14, 73};
    gpuopt_context *context = test_context(NULL);
    model m;
    gpuopt_knapsack_desc desc;
    int full = 0;
    (void)state;
    memset(&m, 0, sizeof m);
    m.items = sizeof weight / sizeof *weight;
    m.capacity = 353;
    memcpy(m.profit, profit, sizeof profit);
    memcpy(m.weight, weight, sizeof weight);
    desc = model_desc(&m);
    desc.pool = 84;
    desc.reduction = GPUOPT_OFF;
    desc.on_pool_full = GPUOPT_ON_POOL_FULL_STOP;
    search(context, &m, &desc, model_optimum(&m), &full);
    assert_true(full > 0);
    gpuopt_context_destroy(context);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(resumed_anywhere),
    cmocka_unit_test(full_after_skipped_levels),
};

TEST_MAIN(tests)
