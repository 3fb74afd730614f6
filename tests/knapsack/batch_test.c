/* SPDX-License-Identifier: MIT
 *
 * Batches of small knapsacks, against dynamic programming (over weights, with several copies of an item) and, for large
 * numbers, all solutions; limits; strides; the same bits as on one thread of the CPU; host and device memory; misuse;
 * memory that runs out; the stop hook.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/knapsack/models.h"

__extension__ typedef __int128 wide;

enum { ITEMS = 50, COUNT = 60, MOST_CAPACITY = 1 << 16 };

/* Knapsacks, and what a run said of them. The arrays are [count][stride], and exactly as long as may be read. */
typedef struct draw {
    gpuopt_knapsack_problems p;
    int32_t items, stride;
    int64_t *weight, *profit, *capacity;
    int32_t *upper;
} draw;
typedef struct said {
    gpuopt_knapsack_report r;
    int32_t outcome[COUNT], taken[COUNT * ITEMS];
    int64_t lower[COUNT], upper[COUNT], nodes[COUNT];
} said;

static draw *draw_new(int32_t count, int32_t items, int32_t stride) {
    draw *d = calloc(1, sizeof *d);
    const size_t numbers = (size_t)(count - 1) * (size_t)stride + (size_t)items;
    gpuopt_desc_init(&d->p, sizeof d->p);
    d->items = items;
    d->stride = stride;
    d->p.count = count;
    d->p.weight = d->weight = calloc(numbers, sizeof *d->weight);
    d->p.profit = d->profit = calloc(numbers, sizeof *d->profit);
    d->p.upper = d->upper = calloc(numbers, sizeof *d->upper);
    d->p.capacity = d->capacity = calloc((size_t)count, sizeof *d->capacity);
    d->p.weight_stride = d->p.profit_stride = d->p.upper_stride = stride;
    d->p.capacity_stride = 1;
    return d;
}

static void draw_free(draw *d) {
    free(d->weight);
    free(d->profit);
    free(d->upper);
    free(d->capacity);
    free(d);
}

/* Knapsacks of all classes; copies: up to so many of an item. Some profits are negative, some numbers of copies 0. */
static draw *draw_random(uint64_t *seed, int32_t count, int32_t items, int32_t stride, int64_t range, int copies) {
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

static said *said_new(void) {
    said *s = malloc(sizeof *s);
    memset(s, 0x55, sizeof *s);
    gpuopt_desc_init(&s->r, sizeof s->r);
    s->r.outcome = s->outcome;
    s->r.lower = s->lower;
    s->r.upper = s->upper;
    s->r.nodes = s->nodes;
    s->r.taken = s->taken;
    return s;
}

static gpuopt_knapsack_batch *batch_new(gpuopt_context *context, int32_t items, int32_t count) {
    gpuopt_knapsack_batch_desc desc = GPUOPT_INIT(gpuopt_knapsack_batch_desc);
    gpuopt_knapsack_batch *batch = NULL;
    desc.items = items;
    desc.count = count;
    assert_int_equal(gpuopt_knapsack_batch_create(context, &desc, &batch), GPUOPT_OK);
    return batch;
}

static void run(gpuopt_context *context, const draw *d, said *s) {
    gpuopt_knapsack_batch *batch = batch_new(context, d->items, d->p.count);
    test_forbid_allocation(1);
    assert_int_equal(gpuopt_knapsack_batch_run(batch, GPUOPT_HOST, &d->p, &s->r), GPUOPT_OK);
    test_forbid_allocation(0);
    gpuopt_knapsack_batch_destroy(batch);
}

/* The numbers of knapsack k, wherever they are. */
static int64_t weight_of(const draw *d, int32_t k, int32_t j) { return d->weight[k * d->p.weight_stride + j]; }
static int64_t profit_of(const draw *d, int32_t k, int32_t j) { return d->profit[k * d->p.profit_stride + j]; }
static int64_t copies_of(const draw *d, int32_t k, int32_t j) {
    return d->p.upper ? d->upper[k * d->p.upper_stride + j] : 1;
}
static int64_t capacity_of(const draw *d, int32_t k) { return d->capacity[k * d->p.capacity_stride]; }

/* best[c]: the most profit with a weight of at most c. One copy after the other, as many as fit. */
static int64_t optimum_by_weight(const draw *d, int32_t k) {
    static int64_t best[MOST_CAPACITY + 1];
    const int64_t capacity = capacity_of(d, k);
    int64_t c, copy, fixed = 0;
    int32_t j;
    assert_true(capacity <= MOST_CAPACITY);
    memset(best, 0, sizeof *best * (size_t)(capacity + 1));
    for (j = 0; j < d->items; j++) {
        const int64_t w = weight_of(d, k, j), p = profit_of(d, k, j), most = copies_of(d, k, j);
        if (p <= 0) continue;
        if (w == 0) fixed += p * most;
        for (copy = 0; w > 0 && copy < most && copy < capacity / w; copy++)
            for (c = capacity; c >= w; c--)
                if (best[c - w] + p > best[c]) best[c] = best[c - w] + p;
    }
    return fixed + best[capacity];
}

/* The most profit with items j and later, of all solutions. */
static wide optimum_of_all(const draw *d, int32_t k, int32_t j, wide room) {
    wide best = 0, copy;
    if (j == d->items) return 0;
    for (copy = 0; copy <= copies_of(d, k, j) && copy * weight_of(d, k, j) <= room; copy++) {
        const wide profit = copy * profit_of(d, k, j) + optimum_of_all(d, k, j + 1, room - copy * weight_of(d, k, j));
        if (profit > best) best = profit;
    }
    return best;
}

/* The copies are a solution of this profit. */
static void check_solution(const draw *d, const said *s, int32_t k) {
    wide weight = 0, profit = 0;
    int32_t j;
    for (j = 0; j < d->items; j++) {
        const int64_t copies = s->taken[k * d->items + j];
        assert_in_range(copies, 0, copies_of(d, k, j));
        weight += (wide)copies * weight_of(d, k, j);
        profit += (wide)copies * profit_of(d, k, j);
    }
    assert_true(weight <= capacity_of(d, k) && profit == s->lower[k]);
}

static void check_solved(const draw *d, const said *s, int32_t k, wide optimum) {
    assert_int_equal(s->outcome[k], GPUOPT_OPTIMAL);
    assert_true(s->lower[k] == optimum && s->upper[k] == optimum);
    assert_true(s->nodes[k] >= 0 && s->nodes[k] < 1 << 20);
    check_solution(d, s, k);
}

/* Stopped by the limit: a solution, and a bound. */
static void check_cut(const draw *d, const said *s, int32_t k, int64_t optimum) {
    assert_true(s->outcome[k] == GPUOPT_LIMIT && s->nodes[k] == d->p.node_limit);
    assert_true(s->lower[k] <= optimum && optimum <= s->upper[k]);
    check_solution(d, s, k);
}

static int same(const said *a, const said *b, int32_t count, int32_t items) {
    const size_t n = (size_t)count;
    return memcmp(a->outcome, b->outcome, 4 * n) == 0 && memcmp(a->lower, b->lower, 8 * n) == 0 &&
           memcmp(a->upper, b->upper, 8 * n) == 0 && memcmp(a->nodes, b->nodes, 8 * n) == 0 &&
           memcmp(a->taken, b->taken, 4 * n * (size_t)items) == 0;
}

/* ---- Answers ---- */

/* All classes: one copy, a few, many; as many items as a batch of 50 has, and fewer. */
static void optimal(void **state) {
    gpuopt_context *context = test_context(NULL);
    said *s = said_new();
    uint64_t seed = 1;
    int round, total = 0, solved = 0;
    (void)state;
    for (round = 0; round < test_times(40, 10); round++) {
        const int32_t items = round % 3 == 0 ? 1 + round % 20 : round % 3 == 1 ? 30 : ITEMS;
        const int32_t count = test_few() ? 24 : COUNT;
        draw *d = draw_random(&seed, count, items, items, round % 2 ? 60 : 200, round % 4 == 0 ? 1 : round % 4 * 3);
        int32_t k;
        if (round % 4 == 0 && round % 8) d->p.upper = NULL;
        d->p.node_limit = test_emulated() ? 1000 : 20000;
        run(context, d, s);
        for (k = 0; k < count; k++, total++) {
            const int64_t optimum = optimum_by_weight(d, k);
            if (s->outcome[k] == GPUOPT_OPTIMAL) check_solved(d, s, k, optimum), solved++;
            else check_cut(d, s, k, optimum);
        }
        draw_free(d);
    }
    assert_true(solved * 10 > total * 7); /* multiples of two items are too hard */
    free(s);
    gpuopt_context_destroy(context);
}

/* Numbers of all sizes, up to 2^63 - 1. */
static void large_numbers(void **state) {
    gpuopt_context *context = test_context(NULL);
    said *s = said_new();
    uint64_t seed = 2;
    int round, solved = 0, refused = 0;
    (void)state;
    for (round = 0; round < test_times(600, 300); round++) {
        const int32_t items = 1 + round % 6;
        draw *d = draw_new(1, items, items);
        gpuopt_knapsack_batch *batch = batch_new(context, items, 1);
        const int shift = (int)test_random_int(&seed, 0, 62);
        wide sum = 0, profits = 0, of_use;
        int32_t j;
        gpuopt_status status;
        for (j = 0; j < items; j++) {
            d->weight[j] = test_random_int(&seed, 0, INT64_MAX >> shift);
            d->profit[j] = round % 3 ? test_random_int(&seed, 0, INT64_MAX >> test_random_int(&seed, 0, 62))
                                     : d->weight[j] / items + (round % 2);
            d->upper[j] = (int32_t)test_random_int(&seed, 0, 3);
            sum += (wide)d->weight[j] * d->upper[j];
        }
        d->capacity[0] = sum / 2 > INT64_MAX ? INT64_MAX - round % 5 : (int64_t)(sum / 2);
        for (j = 0; j < items; j++) {
            of_use = d->weight[j] == 0 ? 3 : d->capacity[0] / d->weight[j];
            profits += d->profit[j] * (of_use < d->upper[j] ? of_use : d->upper[j]);
        }
        status = gpuopt_knapsack_batch_run(batch, GPUOPT_HOST, &d->p, &s->r);
        assert_int_equal(status, profits > INT64_MAX ? GPUOPT_ERROR_NUMERIC : GPUOPT_OK);
        if (!status) check_solved(d, s, 0, optimum_of_all(d, 0, 0, d->capacity[0]));
        solved += !status;
        refused += status != GPUOPT_OK;
        gpuopt_knapsack_batch_destroy(batch);
        draw_free(d);
    }
    assert_true(solved > round / 3 && (refused > 0 || test_few()));
    free(s);
    gpuopt_context_destroy(context);
}

/* What nothing is to be decided of. */
static void trivial(void **state) {
    static const int64_t weight[3][3] = {{5, 6, 7}, {0, 0, 0}, {2, 3, 9}},
                         profit[3][3] = {{1, 2, 3}, {4, 0, 7}, {0, -5, 3}};
    static const int64_t capacity[3] = {4, 0, 8}, optimum[3] = {0, 18, 0};
    static const int32_t upper[3] = {1, 9, 2};
    gpuopt_context *context = test_context(NULL);
    gpuopt_knapsack_batch *batch = batch_new(context, 3, 5);
    gpuopt_knapsack_problems p = GPUOPT_INIT(gpuopt_knapsack_problems);
    said *s = said_new();
    int k;
    (void)state;
    assert_int_equal(gpuopt_knapsack_batch_run(batch, GPUOPT_HOST, &p, &s->r), GPUOPT_OK); /* none */
    p.weight = weight[0];
    p.profit = profit[0];
    p.capacity = capacity;
    p.upper = upper;
    p.count = 3;
    p.weight_stride = p.profit_stride = 3;
    p.capacity_stride = 1;
    assert_int_equal(gpuopt_knapsack_batch_run(batch, GPUOPT_HOST, &p, NULL), GPUOPT_OK);
    assert_int_equal(gpuopt_knapsack_batch_run(batch, GPUOPT_HOST, &p, &s->r), GPUOPT_OK);
    for (k = 0; k < 3; k++) {
        assert_int_equal(s->outcome[k], GPUOPT_OPTIMAL);
        assert_true(s->lower[k] == optimum[k] && s->upper[k] == optimum[k] && s->nodes[k] == 0);
    }
    assert_true(s->taken[3] == 1 && s->taken[4] == 0 && s->taken[5] == 2);
    assert_int_equal(s->outcome[3], 0x55555555); /* is of no knapsack */
    free(s);
    gpuopt_knapsack_batch_destroy(batch);
    gpuopt_context_destroy(context);
}

/* A search that is cut short has a solution and a bound on both sides of the optimum, and counts its nodes. */
static void limits(void **state) {
    gpuopt_context *context = test_context(NULL);
    said *s = said_new();
    uint64_t seed = 3;
    draw *d = draw_random(&seed, COUNT, ITEMS, ITEMS, 300, 3);
    int64_t *optimum = malloc(sizeof *optimum * COUNT), *before = malloc(sizeof *before * COUNT);
    int32_t k, cut = 0, between = 0;
    int64_t limit;
    (void)state;
    for (k = 0; k < COUNT; k++) optimum[k] = optimum_by_weight(d, k), before[k] = INT64_MAX;
    for (limit = 1; limit <= 4096; limit = limit * 3 + 1) {
        d->p.node_limit = limit;
        run(context, d, s);
        for (k = 0; k < COUNT; k++) {
            if (s->outcome[k] == GPUOPT_OPTIMAL) check_solved(d, s, k, optimum[k]);
            else check_cut(d, s, k, optimum[k]);
            assert_true(s->upper[k] <= before[k]);
            cut += s->outcome[k] == GPUOPT_LIMIT;
            if (limit > 1) between += s->outcome[k] == GPUOPT_LIMIT && s->upper[k] < before[k];
            before[k] = s->upper[k];
        }
    }
    assert_true(cut > 50 && between > 5); /* the bound falls while the search goes on */
    free(before);
    free(optimum);
    draw_free(d);
    free(s);
    gpuopt_context_destroy(context);
}

/* Shared arrays, and longer strides, are the same knapsacks. */
static void strides(void **state) {
    gpuopt_context *context = test_context(NULL);
    said *one = said_new(), *other = said_new();
    uint64_t seed = 4;
    draw *d = draw_random(&seed, 24, 20, 33, 100, 4), *shared = draw_new(24, 20, 20);
    int32_t k, j, kind;
    (void)state;
    for (kind = 0; kind < 16; kind++) { /* a bit for each array that all have in common */
        d->p.weight_stride = kind & 1 ? 0 : 33;
        d->p.profit_stride = kind & 2 ? 0 : 33;
        d->p.upper_stride = kind & 4 ? 0 : 33;
        d->p.capacity_stride = kind & 8 ? 0 : 1;
        for (k = 0; k < 24; k++) {
            for (j = 0; j < 20; j++) {
                shared->weight[k * 20 + j] = weight_of(d, k, j);
                shared->profit[k * 20 + j] = profit_of(d, k, j);
                shared->upper[k * 20 + j] = (int32_t)copies_of(d, k, j);
            }
            shared->capacity[k] = capacity_of(d, k);
        }
        run(context, d, one);
        run(context, shared, other);
        assert_true(same(one, other, 24, 20));
    }
    draw_free(shared);
    draw_free(d);
    free(other);
    free(one);
    gpuopt_context_destroy(context);
}

/* The backend under test does what one thread of the CPU does, node for node. */
static void same_bits(void **state) {
    gpuopt_context_desc desc;
    gpuopt_context *context = test_context(NULL), *plain;
    said *one = said_new(), *other = said_new();
    uint64_t seed = 5;
    int round;
    (void)state;
    assert_true(test_backend("cpu", 1, &desc));
    assert_int_equal(gpuopt_context_create(&desc, &plain), GPUOPT_OK);
    for (round = 0; round < test_times(12, 4); round++) {
        const int32_t count = round % 2 ? COUNT : 7;
        draw *d = draw_random(&seed, count, ITEMS, ITEMS, 1 << (8 + round % 12), 1 + round % 5);
        d->p.node_limit = test_few() ? 300 : 2000;
        run(context, d, one);
        run(plain, d, other);
        assert_true(same(one, other, count, ITEMS));
        draw_free(d);
    }
    free(other);
    free(one);
    gpuopt_context_destroy(plain);
    gpuopt_context_destroy(context);
}

/* ---- Memory ---- */

static void *on_device(const void *from, size_t bytes) {
    void *memory = test_device_allocate(bytes);
    test_device_copy(memory, from, bytes);
    return memory;
}

static void device_memory(void **state) {
    gpuopt_context *context = test_context(NULL);
    said *one = said_new(), *other = said_new();
    uint64_t seed = 6;
    draw *d = draw_random(&seed, COUNT, ITEMS, ITEMS, 50, 3);
    gpuopt_knapsack_batch *batch = batch_new(context, ITEMS, COUNT);
    (void)state;
    if (!test_on("cuda")) {
        assert_int_equal(gpuopt_knapsack_batch_run(batch, GPUOPT_DEVICE, &d->p, &one->r), GPUOPT_ERROR_UNSUPPORTED);
    } else {
        gpuopt_knapsack_problems p = d->p;
        gpuopt_knapsack_report r = GPUOPT_INIT(gpuopt_knapsack_report);
        const int64_t bad = -1;
        void *memory[] = {on_device(d->weight, sizeof(int64_t) * COUNT * ITEMS),
                          on_device(d->profit, sizeof(int64_t) * COUNT * ITEMS),
                          on_device(d->capacity, sizeof(int64_t) * COUNT),
                          on_device(d->upper, sizeof(int32_t) * COUNT * ITEMS),
                          on_device(other->outcome, sizeof other->outcome),
                          on_device(other->lower, sizeof other->lower),
                          on_device(other->upper, sizeof other->upper),
                          on_device(other->nodes, sizeof other->nodes),
                          on_device(other->taken, sizeof other->taken)};
        size_t k;
        p.weight = memory[0], p.profit = memory[1], p.capacity = memory[2], p.upper = memory[3];
        r.outcome = memory[4], r.lower = memory[5], r.upper = memory[6], r.nodes = memory[7], r.taken = memory[8];
        /* A refused call writes nothing. */
        test_device_copy((int64_t *)memory[2] + 3, &bad, sizeof bad);
        assert_int_equal(gpuopt_knapsack_batch_run(batch, GPUOPT_DEVICE, &p, &r), GPUOPT_ERROR_ARGUMENT);
        assert_non_null(strstr(gpuopt_context_last_error(context), "knapsack 3: the capacity"));
        test_device_copy(one->lower, r.lower, sizeof one->lower);
        assert_memory_equal(one->lower, other->lower, sizeof one->lower);
        test_device_copy((int64_t *)memory[2] + 3, &d->capacity[3], sizeof bad);
        assert_int_equal(gpuopt_knapsack_batch_run(batch, GPUOPT_DEVICE, &p, &r), GPUOPT_OK);
        test_device_copy(one->outcome, r.outcome, sizeof one->outcome);
        test_device_copy(one->lower, r.lower, sizeof one->lower);
        test_device_copy(one->upper, r.upper, sizeof one->upper);
        test_device_copy(one->nodes, r.nodes, sizeof one->nodes);
        test_device_copy(one->taken, r.taken, sizeof one->taken);
        run(context, d, other);
        assert_true(same(one, other, COUNT, ITEMS));
        for (k = 0; k < sizeof memory / sizeof *memory; k++) test_device_release(memory[k]);
    }
    gpuopt_knapsack_batch_destroy(batch);
    draw_free(d);
    free(other);
    free(one);
    gpuopt_context_destroy(context);
}

/* The plan is what _create takes; memory that fails at each allocation is an error, and nothing is lost. */
static void memory(void **state) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    gpuopt_knapsack_batch_desc desc = GPUOPT_INIT(gpuopt_knapsack_batch_desc);
    gpuopt_memory_plan plan = GPUOPT_INIT(gpuopt_memory_plan);
    gpuopt_knapsack_batch *batch;
    const long live = host.live;
    const uint64_t bytes = host.bytes[GPUOPT_HOST];
    uint64_t seed = 7;
    long before, needed, k;
    draw *d = draw_random(&seed, 4, 10, 10, 50, 3);
    said *s = said_new();
    (void)state;
    desc.items = 10;
    desc.count = 4;
    assert_int_equal(gpuopt_knapsack_batch_plan(context, &desc, &plan), GPUOPT_OK);
    before = host.allocations;
    assert_int_equal(gpuopt_knapsack_batch_create(context, &desc, &batch), GPUOPT_OK);
    needed = host.allocations - before;
    assert_true(host.bytes[GPUOPT_HOST] - bytes == plan.host_bytes && host.bytes[GPUOPT_DEVICE] == plan.device_bytes);
    before = host.allocations;
    assert_int_equal(gpuopt_knapsack_batch_run(batch, GPUOPT_HOST, &d->p, &s->r), GPUOPT_OK);
    assert_int_equal(host.allocations, before);
    gpuopt_knapsack_batch_destroy(batch);
    assert_int_equal(host.live, live);
    for (k = 1; k <= needed; k++) {
        host.fail_at = host.allocations + k;
        assert_int_equal(gpuopt_knapsack_batch_create(context, &desc, &batch), GPUOPT_ERROR_MEMORY);
        assert_true(batch == NULL && host.live == live);
    }
    assert_true(needed >= 1);
    draw_free(d);
    free(s);
    gpuopt_context_destroy(context);
    assert_int_equal(host.live, 0);
}

/* ---- Misuse ---- */

static void refused(void **state) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    gpuopt_knapsack_batch_desc good = GPUOPT_INIT(gpuopt_knapsack_batch_desc), desc;
    gpuopt_memory_plan plan = GPUOPT_INIT(gpuopt_memory_plan);
    gpuopt_knapsack_batch *batch = (gpuopt_knapsack_batch *)&desc;
    said *s = said_new(), *before = said_new();
    uint64_t seed = 8;
    draw *d = draw_random(&seed, 12, 10, 10, 50, 3);
    gpuopt_knapsack_problems p;
    gpuopt_knapsack_report wrong = s->r;
    long live = host.live;
    int64_t kept;
    (void)state;
    good.items = 10;
    good.count = 12;
#define REFUSED(code, text, ...)                        \
    host.error[0] = 0;                                  \
    assert_int_equal(__VA_ARGS__, GPUOPT_ERROR_##code); \
    if (!strstr(host.error, text)) fail_msg("the log says: %s", host.error)
#define BAD(text, change)                                                          \
    desc = good, change;                                                           \
    REFUSED(ARGUMENT, text, gpuopt_knapsack_batch_create(context, &desc, &batch)); \
    assert_true(batch == NULL && host.live == live);                               \
    REFUSED(ARGUMENT, text, gpuopt_knapsack_batch_plan(context, &desc, &plan));    \
    assert_true(plan.host_bytes == 0)
    BAD("items", desc.items = 0);
    BAD("items", desc.items = 257);
    BAD("count", desc.count = 0);
    BAD("count", desc.count = (1 << 24) + 1);
    BAD("struct_size", desc.struct_size = 3);
    REFUSED(ARGUMENT, "desc is NULL", gpuopt_knapsack_batch_create(context, NULL, &batch));
    REFUSED(ARGUMENT, "batch is NULL", gpuopt_knapsack_batch_create(context, &good, NULL));
    REFUSED(ARGUMENT, "plan is NULL", gpuopt_knapsack_batch_plan(context, &good, NULL));
    assert_int_equal(gpuopt_knapsack_batch_create(NULL, &good, &batch), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_knapsack_batch_plan(NULL, &good, &plan), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_knapsack_batch_run(NULL, GPUOPT_HOST, &d->p, &s->r), GPUOPT_ERROR_ARGUMENT);
    gpuopt_knapsack_batch_destroy(NULL);
    batch = batch_new(context, 10, 12);
#define RUN(code, text, change) \
    p = d->p, change;           \
    REFUSED(code, text, gpuopt_knapsack_batch_run(batch, GPUOPT_HOST, &p, &s->r))
    RUN(ARGUMENT, "count", p.count = -1);
    RUN(ARGUMENT, "count", p.count = 13);
    RUN(ARGUMENT, "node_limit", p.node_limit = -1);
    RUN(ARGUMENT, "wrong size", p.struct_size = 3);
    RUN(ARGUMENT, "weight, profit or capacity", p.weight = NULL);
    RUN(ARGUMENT, "weight, profit or capacity", p.profit = NULL);
    RUN(ARGUMENT, "weight, profit or capacity", p.capacity = NULL);
    RUN(ARGUMENT, "weight_stride = 9", p.weight_stride = 9);
    RUN(ARGUMENT, "profit_stride = -1", p.profit_stride = -1);
    RUN(ARGUMENT, "upper_stride", p.upper_stride = (1 << 27) + 1);
    RUN(ARGUMENT, "capacity_stride", p.capacity_stride = -1);
    REFUSED(ARGUMENT, "problems is NULL", gpuopt_knapsack_batch_run(batch, GPUOPT_HOST, NULL, &s->r));
    REFUSED(ARGUMENT, "where", gpuopt_knapsack_batch_run(batch, (gpuopt_memory)9, &d->p, &s->r));
    wrong.struct_size = 2;
    REFUSED(ARGUMENT, "report", gpuopt_knapsack_batch_run(batch, GPUOPT_HOST, &d->p, &wrong));
#define NUMBER(code, text, number, value) \
    kept = number, number = value;        \
    RUN(code, text, (void)0);             \
    number = kept
    NUMBER(ARGUMENT, "knapsack 4: weight of item 7 is negative", d->weight[47], -1);
    d->upper[119] = INT32_MIN;
    RUN(ARGUMENT, "knapsack 11: upper of item 9 is negative", (void)0);
    d->upper[119] = 1;
    NUMBER(ARGUMENT, "knapsack 6: the capacity is negative", d->capacity[6], INT64_MIN);
    d->weight[52] = 0, d->upper[52] = 2;
    NUMBER(NUMERIC, "knapsack 5: a solution may have more profit", d->profit[52], ((int64_t)1 << 62));
    d->capacity[9] = -1; /* of several the first one is named */
    NUMBER(ARGUMENT, "knapsack 2: weight of item 0", d->weight[20], INT64_MIN);
    d->capacity[9] = 7;
    assert_true(same(s, before, 12, 10)); /* nothing was written */
    assert_int_equal(gpuopt_knapsack_batch_run(batch, GPUOPT_HOST, &d->p, &s->r), GPUOPT_OK);
    check_solved(d, s, 9, optimum_by_weight(d, 9));
    gpuopt_knapsack_batch_destroy(batch);
    draw_free(d);
    free(before);
    free(s);
    gpuopt_context_destroy(context);
    assert_int_equal(host.live, 0);
}

static int stop_at_once(void *user) {
    ++*(int *)user;
    return 1;
}

/* On the CPU the hook ends the call; knapsacks that had no turn say so. On the GPU it is not asked. */
static void stop(void **state) {
    int asked = 0;
    gpuopt_context_desc desc = test_context_desc(NULL);
    gpuopt_context *context;
    said *s = said_new();
    uint64_t seed = 9;
    draw *d = draw_random(&seed, COUNT, 20, 20, 50, 3);
    int32_t k, j, waiting = 0;
    (void)state;
    desc.stop = stop_at_once;
    desc.user = &asked;
    desc.log = NULL;
    desc.allocate = NULL;
    desc.release = NULL;
    assert_int_equal(gpuopt_context_create(&desc, &context), GPUOPT_OK);
    run(context, d, s);
    for (k = 0; k < COUNT; k++) {
        if (s->outcome[k] != GPUOPT_MORE) {
            check_solved(d, s, k, optimum_by_weight(d, k));
            continue;
        }
        assert_true(s->lower[k] == 0 && s->upper[k] == INT64_MAX && s->nodes[k] == 0);
        for (j = 0; j < 20; j++) assert_int_equal(s->taken[k * 20 + j], 0);
        waiting++;
    }
    if (test_on("cuda")) assert_true(asked == 0 && waiting == 0);
    else if (desc.threads <= 1) assert_true(asked == 1 && waiting == COUNT - 16);
    draw_free(d);
    free(s);
    gpuopt_context_destroy(context);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(optimal),       cmocka_unit_test(large_numbers), cmocka_unit_test(trivial),
    cmocka_unit_test(limits),        cmocka_unit_test(strides),       cmocka_unit_test(same_bits),
    cmocka_unit_test(device_memory), cmocka_unit_test(memory),        cmocka_unit_test(refused),
    cmocka_unit_test(stop),
};

TEST_MAIN(tests)
