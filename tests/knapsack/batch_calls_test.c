/* SPDX-License-Identifier: MIT
 *
 * The calls of batches of small knapsacks: host and device memory; misuse; memory that runs out; the stop hook.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/knapsack/draws.h"

/* ---- Memory ---- */

static void *on_device(const void *from, size_t bytes) {
    void *memory = test_device_allocate(bytes);
    test_device_copy(memory, from, bytes);
    return memory;
}

static void device_memory(void **state) {
    gpuopt_context *context = test_context(NULL);
    reply *one = reply_new(), *other = reply_new();
    uint64_t seed = 6;
    draw *d = draw_random(&seed, COUNT, ITEMS, ITEMS, 50, 3);
    gpuopt_knapsack_batch *batch = draw_batch(context, ITEMS, COUNT);
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
        p.weight = memory[0], p.profit = memory[1], p.capacity = memory[2], p.copies_max = memory[3];
        r.outcome = memory[4], r.primal_bound = memory[5], r.dual_bound = memory[6], r.nodes = memory[7],
        r.copies = memory[8];
        /* A refused call writes nothing. */
        test_device_copy((int64_t *)memory[2] + 3, &bad, sizeof bad);
        assert_int_equal(gpuopt_knapsack_batch_run(batch, GPUOPT_DEVICE, &p, &r), GPUOPT_ERROR_ARGUMENT);
        assert_non_null(strstr(gpuopt_context_last_error(context), "knapsack 3: the capacity"));
        test_device_copy(one->lower, r.primal_bound, sizeof one->lower);
        assert_memory_equal(one->lower, other->lower, sizeof one->lower);
        test_device_copy((int64_t *)memory[2] + 3, &d->capacity[3], sizeof bad);
        assert_int_equal(gpuopt_knapsack_batch_run(batch, GPUOPT_DEVICE, &p, &r), GPUOPT_OK);
        test_device_copy(one->outcome, r.outcome, sizeof one->outcome);
        test_device_copy(one->lower, r.primal_bound, sizeof one->lower);
        test_device_copy(one->upper, r.dual_bound, sizeof one->upper);
        test_device_copy(one->nodes, r.nodes, sizeof one->nodes);
        test_device_copy(one->taken, r.copies, sizeof one->taken);
        draw_run(context, d, other);
        assert_true(reply_same(one, other, COUNT, ITEMS));
        for (k = 0; k < sizeof memory / sizeof *memory; k++) test_device_release(memory[k]);
    }
    gpuopt_knapsack_batch_destroy(batch);
    draw_free(d);
    free(other);
    free(one);
    gpuopt_context_destroy(context);
}

/* The plan equals the memory of _create; if any allocation fails, _create returns an error, and nothing leaks. */
static void memory(void **state) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    gpuopt_knapsack_batch_desc desc = GPUOPT_INIT(gpuopt_knapsack_batch_desc);
    gpuopt_memory_plan plan;
    gpuopt_knapsack_batch *batch;
    const long live = host.live;
    uint64_t seed = 7;
    long before, needed, k;
    draw *d = draw_random(&seed, 4, 10, 10, 50, 3);
    reply *s = reply_new();
    (void)state;
    desc.items = 10;
    desc.count = 4;
    TEST_PLANNED(knapsack_batch, &host, context, &desc, &plan);
    before = host.allocations;
    assert_int_equal(gpuopt_knapsack_batch_create(context, &desc, NULL, &batch), GPUOPT_OK);
    needed = host.allocations - before;
    before = host.allocations;
    assert_int_equal(gpuopt_knapsack_batch_run(batch, GPUOPT_HOST, &d->p, &s->r), GPUOPT_OK);
    assert_int_equal(host.allocations, before);
    gpuopt_knapsack_batch_destroy(batch);
    assert_int_equal(host.live, live);
    for (k = 1; k <= needed; k++) {
        host.fail_at = host.allocations + k;
        assert_int_equal(gpuopt_knapsack_batch_create(context, &desc, NULL, &batch), GPUOPT_ERROR_MEMORY);
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
    reply *s = reply_new(), *before = reply_new();
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
#define BAD(text, change)                                                                \
    desc = good, change;                                                                 \
    REFUSED(ARGUMENT, text, gpuopt_knapsack_batch_create(context, &desc, NULL, &batch)); \
    assert_true(batch == NULL && host.live == live);                                     \
    REFUSED(ARGUMENT, text, gpuopt_knapsack_batch_create(context, &desc, &plan, NULL));  \
    assert_true(plan.host_bytes == 0)
    BAD("items", desc.items = 0);
    BAD("items", desc.items = 257);
    BAD("count", desc.count = 0);
    BAD("count", desc.count = (1 << 24) + 1);
    BAD("struct_size", desc.struct_size = 3);
    REFUSED(ARGUMENT, "desc is NULL", gpuopt_knapsack_batch_create(context, NULL, NULL, &batch));
    REFUSED(ARGUMENT, "batch and plan are NULL", gpuopt_knapsack_batch_create(context, &good, NULL, NULL));
    assert_int_equal(gpuopt_knapsack_batch_create(NULL, &good, NULL, &batch), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_knapsack_batch_create(NULL, &good, &plan, NULL), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_knapsack_batch_run(NULL, GPUOPT_HOST, &d->p, &s->r), GPUOPT_ERROR_ARGUMENT);
    gpuopt_knapsack_batch_destroy(NULL);
    batch = draw_batch(context, 10, 12);
#define RUN(code, text, change) \
    p = d->p, change;           \
    REFUSED(code, text, gpuopt_knapsack_batch_run(batch, GPUOPT_HOST, &p, &s->r))
    RUN(ARGUMENT, "count", p.count = -1);
    RUN(ARGUMENT, "count", p.count = 13);
    RUN(ARGUMENT, "node_limit", p.node_limit = -1);
    RUN(ARGUMENT, "struct_size", p.struct_size = 3);
    RUN(ARGUMENT, "weight, profit or capacity", p.weight = NULL);
    RUN(ARGUMENT, "weight, profit or capacity", p.profit = NULL);
    RUN(ARGUMENT, "weight, profit or capacity", p.capacity = NULL);
    RUN(ARGUMENT, "weight_stride = 9", p.weight_stride = 9);
    RUN(ARGUMENT, "profit_stride = -1", p.profit_stride = -1);
    RUN(ARGUMENT, "copies_max_stride", p.copies_max_stride = (1 << 27) + 1);
    RUN(ARGUMENT, "capacity_stride", p.capacity_stride = -1);
    REFUSED(ARGUMENT, "problems is NULL", gpuopt_knapsack_batch_run(batch, GPUOPT_HOST, NULL, &s->r));
    REFUSED(ARGUMENT, "where", gpuopt_knapsack_batch_run(batch, (gpuopt_memory_space)9, &d->p, &s->r));
    wrong.struct_size = 2;
    REFUSED(ARGUMENT, "report", gpuopt_knapsack_batch_run(batch, GPUOPT_HOST, &d->p, &wrong));
#define NUMBER(code, text, number, value) \
    kept = number, number = value;        \
    RUN(code, text, (void)0);             \
    number = kept
    NUMBER(ARGUMENT, "knapsack 4: weight of item 7 is negative", d->weight[47], -1);
    d->upper[119] = INT32_MIN;
    RUN(ARGUMENT, "knapsack 11: copies_max of item 9 is negative", (void)0);
    d->upper[119] = 1;
    NUMBER(ARGUMENT, "knapsack 6: the capacity is negative", d->capacity[6], INT64_MIN);
    d->weight[52] = 0, d->upper[52] = 2;
    NUMBER(NUMERIC, "knapsack 5: a solution may have more profit", d->profit[52], ((int64_t)1 << 62));
    d->capacity[9] = -1; /* of several the first one is named */
    NUMBER(ARGUMENT, "knapsack 2: weight of item 0", d->weight[20], INT64_MIN);
    d->capacity[9] = 7;
    assert_true(reply_same(s, before, 12, 10)); /* nothing was written */
    assert_int_equal(gpuopt_knapsack_batch_run(batch, GPUOPT_HOST, &d->p, &s->r), GPUOPT_OK);
    draw_check_solved(d, s, 9, draw_optimum(d, 9));
    gpuopt_knapsack_batch_destroy(batch);
    draw_free(d);
    free(before);
    free(s);
    gpuopt_context_destroy(context);
    assert_int_equal(host.live, 0);
}

/* On the CPU the hook ends the call, and knapsacks that were not started have the outcome MORE. On the GPU it is not
 * called. */
static void stop(void **state) {
    int asked = 0;
    gpuopt_context *context = test_stopping_context(&asked);
    reply *s = reply_new();
    uint64_t seed = 9;
    draw *d = draw_random(&seed, COUNT, 20, 20, 50, 3);
    int32_t k, j, waiting = 0;
    (void)state;
    draw_run(context, d, s);
    for (k = 0; k < COUNT; k++) {
        if (s->outcome[k] != GPUOPT_MORE) {
            draw_check_solved(d, s, k, draw_optimum(d, k));
            continue;
        }
        assert_true(s->lower[k] == 0 && s->upper[k] == INT64_MAX && s->nodes[k] == 0);
        for (j = 0; j < 20; j++) assert_int_equal(s->taken[k * 20 + j], 0);
        waiting++;
    }
    if (test_on("cuda")) assert_true(asked == 0 && waiting == 0);
    else if (!test_on("cpu-threads")) assert_true(asked == 1 && waiting == COUNT - 16);
    draw_free(d);
    free(s);
    gpuopt_context_destroy(context);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(device_memory),
    cmocka_unit_test(memory),
    cmocka_unit_test(refused),
    cmocka_unit_test(stop),
};

TEST_MAIN(tests)
