/* SPDX-License-Identifier: MIT */
#include "tests/knapsack/bounded.h"

#include <stdlib.h>
#include <string.h>

/* best[c]: the most profit with weight at most c; each item with each number of copies. */
int64_t bounded_optimum(const bounded *b) {
    const int64_t capacity = b->m.capacity;
    int64_t *best = calloc((size_t)capacity + 1, sizeof *best), *next = malloc(((size_t)capacity + 1) * sizeof *next);
    int64_t result, c, x;
    int32_t j;
    assert_true(best && next);
    for (j = 0; j < b->m.items; j++) {
        for (c = 0; c <= capacity; c++) {
            next[c] = best[c];
            for (x = 1; x <= b->upper[j] && x * b->m.weight[j] <= c; x++) {
                const int64_t with = best[c - x * b->m.weight[j]] + x * b->m.profit[j];
                if (with > next[c]) next[c] = with;
            }
        }
        memcpy(best, next, ((size_t)capacity + 1) * sizeof *best);
    }
    result = best[capacity];
    free(best);
    free(next);
    return result;
}

bounded bounded_random(int kind, int32_t items, int64_t range, int64_t most, uint64_t *state) {
    bounded b;
    int64_t sum = 0;
    int32_t j;
    memset(&b, 0, sizeof b);
    b.m = model_random(kind, items, range, state);
    for (j = 0; j < items; j++) {
        b.upper[j] = test_random_int(state, 0, most);
        if (test_random_int(state, 0, 7) == 0) b.upper[j] = 0;
        sum += b.upper[j] * b.m.weight[j];
        if (test_random_int(state, 0, 7) == 0 && b.m.weight[j] > 0) b.upper[j] = INT64_MAX - j;
    }
    b.m.capacity = sum * test_random_int(state, 1, 9) / 10;
    return b;
}

gpuopt_knapsack_desc bounded_desc(const bounded *b) {
    gpuopt_knapsack_desc desc = model_desc(&b->m);
    desc.copies_max = b->upper;
    return desc;
}

int64_t bounded_check(gpuopt_knapsack *knapsack, const bounded *b, int64_t *copies) {
    int64_t profit = -1, weight = -1, p = 0, w = 0;
    int32_t j;
    memset(copies, 9, sizeof *copies * (size_t)(b->m.items + 1));
    assert_int_equal(gpuopt_knapsack_get_items(knapsack, GPUOPT_HOST, copies, &profit, &weight), GPUOPT_OK);
    assert_true(copies[b->m.items] == 0x0909090909090909);
    for (j = 0; j < b->m.items; j++) {
        assert_true(copies[j] >= 0 && copies[j] <= b->upper[j]);
        p += copies[j] * b->m.profit[j];
        w += copies[j] * b->m.weight[j];
    }
    assert_true(p == profit && w == weight && w <= b->m.capacity);
    return p;
}
