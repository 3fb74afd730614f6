/* SPDX-License-Identifier: MIT
 *
 * draws.h.
 */
#include "tests/knapsack/draws.h"

#include <stdlib.h>
#include <string.h>

draw *draw_new(int32_t count, int32_t items, int32_t stride) {
    draw *d = calloc(1, sizeof *d);
    const size_t numbers = (size_t)(count - 1) * (size_t)stride + (size_t)items;
    gpuopt_desc_init(&d->p, sizeof d->p);
    d->items = items;
    d->stride = stride;
    d->p.count = count;
    d->p.weight = d->weight = calloc(numbers, sizeof *d->weight);
    d->p.profit = d->profit = calloc(numbers, sizeof *d->profit);
    d->p.copies_max = d->upper = calloc(numbers, sizeof *d->upper);
    d->p.capacity = d->capacity = calloc((size_t)count, sizeof *d->capacity);
    d->p.weight_stride = d->p.profit_stride = d->p.copies_max_stride = stride;
    d->p.capacity_stride = 1;
    return d;
}

void draw_free(draw *d) {
    free(d->weight);
    free(d->profit);
    free(d->upper);
    free(d->capacity);
    free(d);
}

draw *draw_random(uint64_t *seed, int32_t count, int32_t items, int32_t stride, int64_t range, int copies) {
    draw *d = draw_new(count, items, stride);
    int32_t k, j;
    for (k = 0; k < count; k++) {
        model m = model_random(k % MODEL_CLASSES, items, range, seed);
        d->capacity[k] = range < 1000 && m.capacity > MOST_CAPACITY ? MOST_CAPACITY : m.capacity;
        for (j = 0; j < items; j++) {
            const int64_t at = (int64_t)k * stride + j;
            d->weight[at] = m.weight[j];
            d->profit[at] = test_random(seed) < .03 ? -m.profit[j] : m.profit[j];
            d->upper[at] = (int32_t)test_random_int(seed, test_random(seed) < .1 ? 0 : 1, copies);
            if (test_random(seed) < .02) d->upper[at] = INT32_MAX;
        }
    }
    return d;
}

reply *reply_new(void) {
    reply *s = malloc(sizeof *s);
    memset(s, 0x55, sizeof *s);
    gpuopt_desc_init(&s->r, sizeof s->r);
    s->r.outcome = s->outcome;
    s->r.primal_bound = s->lower;
    s->r.dual_bound = s->upper;
    s->r.nodes = s->nodes;
    s->r.copies = s->taken;
    return s;
}

gpuopt_knapsack_batch *draw_batch(gpuopt_context *context, int32_t items, int32_t count) {
    gpuopt_knapsack_batch_desc desc = GPUOPT_INIT(gpuopt_knapsack_batch_desc);
    gpuopt_knapsack_batch *batch = NULL;
    desc.items = items;
    desc.count = count;
    assert_int_equal(gpuopt_knapsack_batch_create(context, &desc, NULL, &batch), GPUOPT_OK);
    return batch;
}

void draw_run(gpuopt_context *context, const draw *d, reply *s) {
    gpuopt_knapsack_batch *batch = draw_batch(context, d->items, d->p.count);
    test_forbid_allocation(1);
    assert_int_equal(gpuopt_knapsack_batch_run(batch, GPUOPT_HOST, &d->p, &s->r), GPUOPT_OK);
    test_forbid_allocation(0);
    gpuopt_knapsack_batch_destroy(batch);
}

int64_t draw_weight(const draw *d, int32_t k, int32_t j) { return d->weight[k * d->p.weight_stride + j]; }
int64_t draw_profit(const draw *d, int32_t k, int32_t j) { return d->profit[k * d->p.profit_stride + j]; }
int64_t draw_copies(const draw *d, int32_t k, int32_t j) {
    return d->p.copies_max ? d->upper[k * d->p.copies_max_stride + j] : 1;
}
int64_t draw_capacity(const draw *d, int32_t k) { return d->capacity[k * d->p.capacity_stride]; }

/* best[c]: the most profit with a weight of at most c. One copy after the other, as many as fit. */
int64_t draw_optimum(const draw *d, int32_t k) {
    static int64_t best[MOST_CAPACITY + 1];
    const int64_t capacity = draw_capacity(d, k);
    int64_t c, copy, fixed = 0;
    int32_t j;
    assert_true(capacity <= MOST_CAPACITY);
    memset(best, 0, sizeof *best * (size_t)(capacity + 1));
    for (j = 0; j < d->items; j++) {
        const int64_t w = draw_weight(d, k, j), p = draw_profit(d, k, j), most = draw_copies(d, k, j);
        if (p <= 0) continue;
        if (w == 0) fixed += p * most;
        for (copy = 0; w > 0 && copy < most && copy < capacity / w; copy++)
            for (c = capacity; c >= w; c--)
                if (best[c - w] + p > best[c]) best[c] = best[c - w] + p;
    }
    return fixed + best[capacity];
}

void draw_check_solution(const draw *d, const reply *s, int32_t k) {
    wide weight = 0, profit = 0;
    int32_t j;
    for (j = 0; j < d->items; j++) {
        const int64_t copies = s->taken[k * d->items + j];
        assert_in_range(copies, 0, draw_copies(d, k, j));
        weight += (wide)copies * draw_weight(d, k, j);
        profit += (wide)copies * draw_profit(d, k, j);
    }
    assert_true(weight <= draw_capacity(d, k) && profit == s->lower[k]);
}

void draw_check_solved(const draw *d, const reply *s, int32_t k, wide optimum) {
    assert_int_equal(s->outcome[k], GPUOPT_OPTIMAL);
    assert_true(s->lower[k] == optimum && s->upper[k] == optimum);
    assert_true(s->nodes[k] >= 0 && s->nodes[k] < 1 << 20);
    draw_check_solution(d, s, k);
}

int reply_same(const reply *a, const reply *b, int32_t count, int32_t items) {
    const size_t n = (size_t)count;
    return memcmp(a->outcome, b->outcome, 4 * n) == 0 && memcmp(a->lower, b->lower, 8 * n) == 0 &&
           memcmp(a->upper, b->upper, 8 * n) == 0 && memcmp(a->nodes, b->nodes, 8 * n) == 0 &&
           memcmp(a->taken, b->taken, 4 * n * (size_t)items) == 0;
}
