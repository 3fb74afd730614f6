/* SPDX-License-Identifier: MIT
 *
 * Multidimensional knapsacks: refusals; memory that runs out; the stop hook and limits; the caller's solutions; host
 * and device memory; problems without a decision to make.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/knapsack/multi_models.h"

static multi *some_problem(void) {
    multi *m = malloc(sizeof *m);
    uint64_t seed = 1;
    multi_random(m, 2, 30, 3, 100, &seed);
    return m;
}

/* A problem that takes two workers some rounds more than the first two; after these the best solution is not known
 * yet. */
static multi *slow_problem(gpuopt_context *context) {
    multi *m = malloc(sizeof *m);
    uint64_t seed = 1;
    for (;;) {
        gpuopt_knapsack_multidimensional_info early = GPUOPT_INIT(gpuopt_knapsack_multidimensional_info), late = early;
        gpuopt_knapsack_multidimensional_desc desc;
        gpuopt_knapsack_multidimensional *k;
        multi_random(m, 0, 60, 5, 1000, &seed);
        desc = multi_desc(m, 2);
        k = multi_create(context, &desc);
        assert_int_equal(gpuopt_knapsack_multidimensional_run(k, 0, 2, &early), GPUOPT_OK);
        assert_int_equal(gpuopt_knapsack_multidimensional_run(k, 0, 60, &late), GPUOPT_OK);
        gpuopt_knapsack_multidimensional_destroy(k);
        if (late.outcome == GPUOPT_OPTIMAL && late.rounds > 6 && early.primal_bound < late.primal_bound) return m;
    }
}

static void refused(void **state) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    multi *m = some_problem();
    const gpuopt_knapsack_multidimensional_desc good = multi_desc(m, 4);
    gpuopt_knapsack_multidimensional_desc desc;
    gpuopt_knapsack_multidimensional_info info = GPUOPT_INIT(gpuopt_knapsack_multidimensional_info);
    gpuopt_memory_plan plan = GPUOPT_INIT(gpuopt_memory_plan);
    gpuopt_knapsack_multidimensional *k = (gpuopt_knapsack_multidimensional *)&desc;
    const long live = host.live;
    int64_t taken[MULTI_ITEMS] = {0}, kept, profit;
    int j;
    (void)state;
#define REFUSED(code, text, ...)                        \
    host.error[0] = 0;                                  \
    assert_int_equal(__VA_ARGS__, GPUOPT_ERROR_##code); \
    if (!strstr(host.error, text)) fail_msg("the log says: %s", host.error)
#define BAD(text, change)                                                                          \
    desc = good, change;                                                                           \
    REFUSED(ARGUMENT, text, gpuopt_knapsack_multidimensional_create(context, &desc, NULL, &k));    \
    assert_true(k == NULL && host.live == live);                                                   \
    REFUSED(ARGUMENT, text, gpuopt_knapsack_multidimensional_create(context, &desc, &plan, NULL)); \
    assert_true(plan.host_bytes == 0)
    BAD("items", desc.items = -1);
    BAD("items", desc.items = 4097);
    BAD("rows", desc.rows = -1);
    BAD("rows", desc.rows = 31);
    BAD("workers", desc.workers = -1);
    BAD("workers", desc.workers = (1 << 20) + 1);
    BAD("node_limit", desc.node_limit = -1);
    BAD("NULL", desc.weight = NULL);
    BAD("NULL", desc.profit = NULL);
    BAD("NULL", desc.capacity = NULL);
    BAD("struct_size", desc.struct_size = 3);
#define NUMBER(code, text, number, value)                                                   \
    kept = number, number = value;                                                          \
    REFUSED(code, text, gpuopt_knapsack_multidimensional_create(context, &good, NULL, &k)); \
    assert_true(k == NULL && host.live == live);                                            \
    number = kept
    NUMBER(ARGUMENT, "weight of item 7 in row 2 is negative", m->weight[67], -1);
    NUMBER(ARGUMENT, "profit of item 29 is negative", m->profit[29], INT64_MIN);
    NUMBER(ARGUMENT, "capacity of row 1 is negative", m->capacity[1], -1);
    NUMBER(NUMERIC, "profits exceed 2^58", m->profit[3], (int64_t)1 << 58);
    kept = m->capacity[1], m->capacity[1] = INT64_MAX;
    profit = m->weight[30], m->weight[30] = (int64_t)1 << 58;
    REFUSED(NUMERIC, "weights of row 1 exceed 2^58", gpuopt_knapsack_multidimensional_create(context, &good, NULL, &k));
    m->capacity[1] = kept, m->weight[30] = profit;
    REFUSED(ARGUMENT, "desc is NULL", gpuopt_knapsack_multidimensional_create(context, NULL, NULL, &k));
    REFUSED(ARGUMENT, "knapsack and plan are NULL",
            gpuopt_knapsack_multidimensional_create(context, &good, NULL, NULL));
    assert_int_equal(gpuopt_knapsack_multidimensional_create(NULL, &good, NULL, &k), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_knapsack_multidimensional_create(NULL, &good, &plan, NULL), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_knapsack_multidimensional_run(NULL, 0, 0, &info), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_knapsack_multidimensional_get_info(NULL, &info), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_knapsack_multidimensional_get_items(NULL, GPUOPT_HOST, taken, &profit),
                     GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_knapsack_multidimensional_set_incumbent(NULL, GPUOPT_HOST, taken), GPUOPT_ERROR_ARGUMENT);
    gpuopt_knapsack_multidimensional_destroy(NULL);
    k = multi_create(context, &good);
    REFUSED(ARGUMENT, "negative", gpuopt_knapsack_multidimensional_run(k, -1, 0, &info));
    REFUSED(ARGUMENT, "negative", gpuopt_knapsack_multidimensional_run(k, 0, -1, &info));
    REFUSED(ARGUMENT, "copies is NULL", gpuopt_knapsack_multidimensional_set_incumbent(k, GPUOPT_HOST, NULL));
    REFUSED(ARGUMENT, "where", gpuopt_knapsack_multidimensional_get_items(k, (gpuopt_memory_space)9, taken, NULL));
    REFUSED(ARGUMENT, "where", gpuopt_knapsack_multidimensional_set_incumbent(k, (gpuopt_memory_space)9, taken));
    taken[5] = 2;
    REFUSED(ARGUMENT, "item 5", gpuopt_knapsack_multidimensional_set_incumbent(k, GPUOPT_HOST, taken));
    taken[5] = -1;
    REFUSED(ARGUMENT, "item 5", gpuopt_knapsack_multidimensional_set_incumbent(k, GPUOPT_HOST, taken));
    for (j = 0; j < MULTI_ITEMS; j++) taken[j] = 1;
    REFUSED(ARGUMENT, "too heavy for row 0", gpuopt_knapsack_multidimensional_set_incumbent(k, GPUOPT_HOST, taken));
    info.struct_size = 2;
    REFUSED(ARGUMENT, "struct_size", gpuopt_knapsack_multidimensional_run(k, 0, 0, &info));
    REFUSED(ARGUMENT, "struct_size", gpuopt_knapsack_multidimensional_get_info(k, &info));
    assert_true(multi_info(k).nodes == 0);
    assert_int_equal(gpuopt_knapsack_multidimensional_run(k, 0, 0, NULL), GPUOPT_OK);
    assert_int_equal(multi_info(k).outcome, GPUOPT_OPTIMAL);
    gpuopt_knapsack_multidimensional_destroy(k);
    free(m);
    gpuopt_context_destroy(context);
    assert_int_equal(host.live, 0);
}

/* The plan equals the memory of _create; if any allocation fails, _create returns an error, and nothing leaks. */
static void memory(void **state) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    multi *m = some_problem();
    gpuopt_knapsack_multidimensional_desc desc = multi_desc(m, 50);
    gpuopt_memory_plan plan;
    gpuopt_knapsack_multidimensional *k;
    const long live = host.live;
    const uint64_t bytes = host.bytes[GPUOPT_HOST];
    long before, needed, fail;
    (void)state;
    TEST_PLANNED(knapsack_multidimensional, &host, context, &desc, &plan);
    assert_true(host.peak[GPUOPT_HOST] - bytes == plan.host_bytes + plan.create_bytes);
    before = host.allocations;
    k = multi_create(context, &desc);
    needed = host.allocations - before;
    before = host.allocations;
    assert_int_equal(gpuopt_knapsack_multidimensional_run(k, 0, 0, NULL), GPUOPT_OK);
    multi_check_items(k, m, NULL);
    assert_int_equal(host.allocations, before);
    gpuopt_knapsack_multidimensional_destroy(k);
    assert_int_equal(host.live, live);
    for (fail = 1; fail <= needed; fail++) {
        host.fail_at = host.allocations + fail;
        assert_int_equal(gpuopt_knapsack_multidimensional_create(context, &desc, NULL, &k), GPUOPT_ERROR_MEMORY);
        assert_true(k == NULL && host.live == live);
    }
    assert_true(needed >= 3);
    desc.workers = 1; /* less than the memory of the relaxations */
    TEST_PLANNED(knapsack_multidimensional, &host, context, &desc, &plan);
    assert_true(plan.create_bytes > 0 && host.peak[GPUOPT_HOST] - bytes == plan.host_bytes + plan.create_bytes);
    free(m);
    gpuopt_context_destroy(context);
    assert_int_equal(host.live, 0);
}

/* The hook ends a call after a round; the limit ends it for good; both leave a solution and a bound. */
static void stop_and_limit(void **state) {
    int asked = 0, calls = 0;
    gpuopt_context *context = test_stopping_context(&asked), *plain = test_context(NULL);
    multi *m = slow_problem(plain);
    gpuopt_knapsack_multidimensional_desc desc = multi_desc(m, 2);
    gpuopt_knapsack_multidimensional_info info = GPUOPT_INIT(gpuopt_knapsack_multidimensional_info), whole = info;
    gpuopt_knapsack_multidimensional *k = multi_create(plain, &desc);
    (void)state;
    assert_int_equal(gpuopt_knapsack_multidimensional_run(k, 0, 0, &whole), GPUOPT_OK);
    gpuopt_knapsack_multidimensional_destroy(k);
    k = multi_create(context, &desc);
    do {
        assert_int_equal(gpuopt_knapsack_multidimensional_run(k, 0, 0, &info), GPUOPT_OK);
        assert_true(info.rounds == ++calls && asked == calls);
        assert_true(info.primal_bound <= whole.primal_bound && info.dual_bound >= whole.primal_bound);
    } while (info.outcome == GPUOPT_MORE);
    assert_memory_equal(&info, &whole, sizeof info);
    assert_true(calls > 3);
    gpuopt_knapsack_multidimensional_destroy(k);
    desc.node_limit = whole.nodes / 2;
    k = multi_create(plain, &desc);
    assert_int_equal(gpuopt_knapsack_multidimensional_run(k, 0, 0, &info), GPUOPT_OK);
    assert_int_equal(info.outcome, GPUOPT_LIMIT);
    assert_true(info.nodes >= desc.node_limit && info.nodes < whole.nodes && info.busy > 0);
    assert_true(info.primal_bound <= whole.primal_bound && info.dual_bound >= whole.primal_bound);
    calls = (int)info.rounds;
    assert_int_equal(gpuopt_knapsack_multidimensional_run(k, 0, 0, &info), GPUOPT_OK);
    assert_true(info.outcome == GPUOPT_LIMIT && info.rounds == calls);
    multi_check_items(k, m, NULL);
    gpuopt_knapsack_multidimensional_destroy(k);
    free(m);
    gpuopt_context_destroy(context);
    gpuopt_context_destroy(plain);
}

/* The optimum given at the start, or in between, ends the search sooner, with its items; a worse one changes
 * nothing. */
static void incumbents(void **state) {
    gpuopt_context *context = test_context(NULL);
    multi *m = slow_problem(context);
    gpuopt_knapsack_multidimensional_desc desc = multi_desc(m, 2);
    gpuopt_knapsack_multidimensional *k = multi_create(context, &desc);
    gpuopt_knapsack_multidimensional_info whole = GPUOPT_INIT(gpuopt_knapsack_multidimensional_info), info = whole;
    int64_t best[MULTI_ITEMS], none[MULTI_ITEMS] = {0}, now[MULTI_ITEMS];
    int between;
    (void)state;
    assert_int_equal(gpuopt_knapsack_multidimensional_run(k, 0, 0, &whole), GPUOPT_OK);
    multi_check_items(k, m, best);
    gpuopt_knapsack_multidimensional_destroy(k);
    for (between = 0; between < 2; between++) {
        k = multi_create(context, &desc);
        if (between) assert_int_equal(gpuopt_knapsack_multidimensional_run(k, 0, 2, NULL), GPUOPT_OK);
        info = multi_info(k);
        assert_true(info.primal_bound < whole.primal_bound); /* else this test shows nothing */
        assert_int_equal(gpuopt_knapsack_multidimensional_set_incumbent(k, GPUOPT_HOST, none), GPUOPT_OK);
        assert_true(multi_info(k).primal_bound == info.primal_bound);
        assert_int_equal(gpuopt_knapsack_multidimensional_set_incumbent(k, GPUOPT_HOST, best), GPUOPT_OK);
        assert_true(multi_info(k).primal_bound == whole.primal_bound);
        info = multi_finish(k, m, whole.primal_bound);
        assert_true(info.nodes <= whole.nodes);
        multi_check_items(k, m, now);
        assert_memory_equal(now, best, (size_t)m->items * sizeof *now);
        gpuopt_knapsack_multidimensional_destroy(k);
    }
    free(m);
    gpuopt_context_destroy(context);
}

static void device_memory(void **state) {
    gpuopt_context *context = test_context(NULL);
    multi *m = some_problem();
    gpuopt_knapsack_multidimensional_desc desc = multi_desc(m, 8);
    gpuopt_knapsack_multidimensional *k = multi_create(context, &desc);
    int64_t best[MULTI_ITEMS], now[MULTI_ITEMS];
    int j;
    (void)state;
    assert_int_equal(gpuopt_knapsack_multidimensional_run(k, 0, 0, NULL), GPUOPT_OK);
    multi_check_items(k, m, best);
    if (!test_on("cuda")) {
        assert_int_equal(gpuopt_knapsack_multidimensional_get_items(k, GPUOPT_DEVICE, now, NULL),
                         GPUOPT_ERROR_UNSUPPORTED);
        assert_int_equal(gpuopt_knapsack_multidimensional_set_incumbent(k, GPUOPT_DEVICE, now),
                         GPUOPT_ERROR_UNSUPPORTED);
    } else {
        int64_t *there = test_device_allocate(sizeof now);
        const int64_t optimum = multi_info(k).primal_bound;
        assert_int_equal(gpuopt_knapsack_multidimensional_get_items(k, GPUOPT_DEVICE, there, NULL), GPUOPT_OK);
        test_device_copy(now, there, (size_t)m->items * sizeof *now);
        assert_memory_equal(now, best, (size_t)m->items * sizeof *now);
        gpuopt_knapsack_multidimensional_destroy(k);
        k = multi_create(context, &desc);
        assert_int_equal(gpuopt_knapsack_multidimensional_set_incumbent(k, GPUOPT_DEVICE, there), GPUOPT_OK);
        assert_true(multi_info(k).primal_bound == optimum);
        for (j = 0; j < MULTI_ITEMS; j++) now[j] = 1;
        test_device_copy(there, now, sizeof now);
        assert_int_equal(gpuopt_knapsack_multidimensional_set_incumbent(k, GPUOPT_DEVICE, there),
                         GPUOPT_ERROR_ARGUMENT);
        test_device_release(there);
    }
    gpuopt_knapsack_multidimensional_destroy(k);
    free(m);
    gpuopt_context_destroy(context);
}

/* No items; no rows; everything fits; nothing does; no profits. */
static void trivial(void **state) {
    gpuopt_context *context = test_context(NULL);
    multi *m = some_problem();
    gpuopt_knapsack_multidimensional_desc desc = multi_desc(m, 1);
    gpuopt_knapsack_multidimensional *k;
    int64_t all = 0;
    int32_t i, j;
    int kind;
    (void)state;
    for (j = 0; j < m->items; j++) all += m->profit[j];
    for (kind = 0; kind < 5; kind++) {
        desc = multi_desc(m, 1);
        if (kind == 0) m->items = desc.items = 0, desc.weight = desc.profit = NULL;
        if (kind == 1) m->rows = desc.rows = 0, desc.weight = desc.capacity = NULL;
        for (i = 0; i < 3; i++) m->capacity[i] = kind == 3 ? 0 : INT64_MAX - i;
        if (kind == 4) memset(m->profit, 0, sizeof m->profit);
        k = multi_create(context, &desc);
        assert_int_equal(multi_info(k).outcome, GPUOPT_OPTIMAL);
        multi_finish(k, m, kind == 1 || kind == 2 ? all : 0);
        assert_true(multi_info(k).nodes == 0);
        gpuopt_knapsack_multidimensional_destroy(k);
        m->items = 30;
        m->rows = 3;
    }
    free(m);
    gpuopt_context_destroy(context);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(refused),    cmocka_unit_test(memory),        cmocka_unit_test(stop_and_limit),
    cmocka_unit_test(incumbents), cmocka_unit_test(device_memory), cmocka_unit_test(trivial),
};

TEST_MAIN(tests)
