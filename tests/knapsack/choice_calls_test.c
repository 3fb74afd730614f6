/* SPDX-License-Identifier: MIT
 *
 * Multiple-choice knapsacks: refusals; memory that runs out; the stop hook, limits and full lists; the caller's
 * solutions; device memory.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/knapsack/choice_models.h"

/* A problem that takes some steps. */
static choice *some_problem(void) {
    choice *m = malloc(sizeof *m);
    uint64_t seed = 3;
    choice_random(m, 2, 40, 10, 1000, &seed);
    return m;
}

static void refused(void **state) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    choice *m = some_problem();
    const gpuopt_knapsack_multiple_choice_desc good = choice_desc(m, 1 << 12);
    gpuopt_knapsack_multiple_choice_desc desc;
    gpuopt_knapsack_multiple_choice_info info = GPUOPT_INIT(gpuopt_knapsack_multiple_choice_info);
    gpuopt_memory_plan plan = GPUOPT_INIT(gpuopt_memory_plan);
    gpuopt_knapsack_multiple_choice *k = NULL;
    const long live = host.live;
    int32_t chosen[CHOICE_CLASSES], c;
    int64_t kept;
    (void)state;
#define REFUSED(code, text, ...) test_refused(&host, __VA_ARGS__, GPUOPT_ERROR_##code, text)
#define BAD(text, change)                                                                         \
    desc = good, change;                                                                          \
    REFUSED(ARGUMENT, text, gpuopt_knapsack_multiple_choice_create(context, &desc, NULL, &k));    \
    assert_true(k == NULL && host.live == live);                                                  \
    REFUSED(ARGUMENT, text, gpuopt_knapsack_multiple_choice_create(context, &desc, &plan, NULL)); \
    assert_true(plan.host_bytes == 0)
    BAD("classes", desc.classes = -1);
    BAD("classes", desc.classes = (1 << 26) + 1);
    BAD("states", desc.states = -1);
    BAD("state_limit", desc.state_limit = -1);
    BAD("capacity", desc.capacity = -1);
    BAD("begin is NULL", desc.begin = NULL);
    BAD("begin[0]", desc.begin = m->begin + 1);
    BAD("NULL", desc.weight = NULL);
    BAD("NULL", desc.profit = NULL);
    BAD("struct_size", desc.struct_size = 3);
#define NUMBER(code, text, number, value)                                                  \
    kept = number, number = value;                                                         \
    REFUSED(code, text, gpuopt_knapsack_multiple_choice_create(context, &good, NULL, &k)); \
    assert_true(k == NULL && host.live == live);                                           \
    number = kept
    NUMBER(ARGUMENT, "weight of item 7 is negative", m->weight[7], -1);
    NUMBER(ARGUMENT, "begin[5]", m->begin[5], 39);
    NUMBER(ARGUMENT, "begin[5]", m->begin[5], INT64_MIN);
    NUMBER(ARGUMENT, "begin[40]", m->begin[40], ((int64_t)1 << 28) + 1);
    NUMBER(NUMERIC, "exceed 2^60", m->profit[10], (int64_t)1 << 60);
    NUMBER(NUMERIC, "exceed 2^60", m->profit[10], INT64_MIN);
    REFUSED(ARGUMENT, "desc is NULL", gpuopt_knapsack_multiple_choice_create(context, NULL, NULL, &k));
    REFUSED(ARGUMENT, "knapsack and plan are NULL", gpuopt_knapsack_multiple_choice_create(context, &good, NULL, NULL));
    assert_int_equal(gpuopt_knapsack_multiple_choice_create(NULL, &good, NULL, &k), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_knapsack_multiple_choice_create(NULL, &good, &plan, NULL), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_knapsack_multiple_choice_run(NULL, 0, 0, &info), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_knapsack_multiple_choice_get_info(NULL, &info), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_knapsack_multiple_choice_get_items(NULL, GPUOPT_HOST, chosen, NULL), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_knapsack_multiple_choice_set_incumbent(NULL, GPUOPT_HOST, chosen), GPUOPT_ERROR_ARGUMENT);
    gpuopt_knapsack_multiple_choice_destroy(NULL);
    k = choice_create(context, &good);
    REFUSED(ARGUMENT, "negative", gpuopt_knapsack_multiple_choice_run(k, -1, 0, &info));
    REFUSED(ARGUMENT, "negative", gpuopt_knapsack_multiple_choice_run(k, 0, -1, &info));
    REFUSED(ARGUMENT, "chosen is NULL", gpuopt_knapsack_multiple_choice_set_incumbent(k, GPUOPT_HOST, NULL));
    REFUSED(ARGUMENT, "where", gpuopt_knapsack_multiple_choice_get_items(k, (gpuopt_memory_space)9, chosen, NULL));
    for (c = 0; c < m->classes; c++) chosen[c] = (int32_t)m->begin[c + 1] - 1; /* the heaviest */
    REFUSED(ARGUMENT, "too heavy", gpuopt_knapsack_multiple_choice_set_incumbent(k, GPUOPT_HOST, chosen));
    chosen[3] = 40;
    REFUSED(ARGUMENT, "chosen[3] = 40", gpuopt_knapsack_multiple_choice_set_incumbent(k, GPUOPT_HOST, chosen));
    chosen[3] = -1;
    REFUSED(ARGUMENT, "chosen[3] = -1", gpuopt_knapsack_multiple_choice_set_incumbent(k, GPUOPT_HOST, chosen));
    info.struct_size = 2;
    REFUSED(ARGUMENT, "struct_size", gpuopt_knapsack_multiple_choice_run(k, 0, 0, &info));
    REFUSED(ARGUMENT, "struct_size", gpuopt_knapsack_multiple_choice_get_info(k, &info));
    assert_true(choice_info(k).expanded == 0);
    choice_finish(k, m, choice_by_capacities(m));
    gpuopt_knapsack_multiple_choice_destroy(k);
    m->capacity = 1; /* the lightest items are too heavy */
    desc = choice_desc(m, 0);
    k = choice_create(context, &desc);
    REFUSED(STATE, "no solution", gpuopt_knapsack_multiple_choice_get_items(k, GPUOPT_HOST, chosen, NULL));
    gpuopt_knapsack_multiple_choice_destroy(k);
    free(m);
    gpuopt_context_destroy(context);
    assert_int_equal(host.live, 0);
}

/* Creates a search, and runs it to its end, or until its lists are full. */
static gpuopt_status life_of(const gpuopt_context_desc *desc, const void *of, int64_t states) {
    gpuopt_knapsack_multiple_choice_desc d = choice_desc((const choice *)of, states);
    gpuopt_context *context;
    gpuopt_knapsack_multiple_choice *k = NULL;
    gpuopt_status status = gpuopt_context_create(desc, &context);
    if (status) return status;
    status = gpuopt_knapsack_multiple_choice_create(context, &d, NULL, &k);
    if (!status) status = gpuopt_knapsack_multiple_choice_run(k, 0, 0, NULL);
    gpuopt_knapsack_multiple_choice_destroy(k);
    gpuopt_context_destroy(context);
    return status;
}

static gpuopt_status life(const gpuopt_context_desc *desc, const void *of) { return life_of(desc, of, 16); }
static gpuopt_status long_life(const gpuopt_context_desc *desc, const void *of) { return life_of(desc, of, 1 << 16); }

/* The plan equals the memory of _create; if any allocation fails, _create returns an error, and nothing leaks. */
static void memory(void **state) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    choice *m = some_problem();
    const gpuopt_knapsack_multiple_choice_desc descs[] = {choice_desc(m, 1 << 16), choice_desc(m, 1 << 12),
                                                          choice_desc(m, 1)};
    int pass;
    (void)state;
    for (pass = 0; pass < 3; pass++) { /* with long steps, without, and with only the temporary memory of _create */
        const gpuopt_knapsack_multiple_choice_desc *desc = &descs[pass];
        gpuopt_memory_plan plan;
        const uint64_t bytes = host.bytes[GPUOPT_HOST];
        TEST_PLANNED(knapsack_multiple_choice, &host, context, desc, &plan);
        assert_true(host.peak[GPUOPT_HOST] - bytes == plan.host_bytes + plan.create_bytes);
        assert_true((plan.device_bytes > 0) == (pass == 0 && test_on("cuda")));
        assert_true((plan.create_bytes > 0) == (pass == 2));
    }
    gpuopt_context_destroy(context);
    assert_int_equal(host.live, 0);
    assert_true(test_runs_out(life, m) >= 4);
    assert_true(test_runs_out(long_life, m) >= (test_on("cuda") ? 5 : 4));
    free(m);
}

/* The hook ends a call after a step, the limit for good; lists that are too short are FULL. All leave a solution and a
 * bound. */
static void ends(void **state) {
    int asked = 0, calls = 0;
    gpuopt_context *context = test_stopping_context(&asked), *plain = test_context(NULL);
    choice *m = some_problem();
    gpuopt_knapsack_multiple_choice_desc desc = choice_desc(m, 1 << 14);
    gpuopt_knapsack_multiple_choice_info info = GPUOPT_INIT(gpuopt_knapsack_multiple_choice_info), whole = info;
    gpuopt_knapsack_multiple_choice *k = choice_create(plain, &desc);
    const int64_t optimum = choice_by_capacities(m);
    int32_t best[CHOICE_CLASSES];
    (void)state;
    whole = choice_finish(k, m, optimum);
    choice_check_items(k, m, best);
    assert_true(whole.steps > 3 && whole.peak > 20);
    gpuopt_knapsack_multiple_choice_destroy(k);
    k = choice_create(context, &desc);
    do {
        assert_int_equal(gpuopt_knapsack_multiple_choice_run(k, 0, 0, &info), GPUOPT_OK);
        assert_true(info.steps == ++calls && asked == calls);
        assert_true(info.primal_bound <= optimum && info.dual_bound >= optimum);
    } while (info.outcome == GPUOPT_MORE);
    assert_memory_equal(&info, &whole, sizeof info);
    gpuopt_knapsack_multiple_choice_destroy(k);
    desc.state_limit = whole.expanded / 2;
    k = choice_create(plain, &desc);
    assert_int_equal(gpuopt_knapsack_multiple_choice_run(k, 0, 0, &info), GPUOPT_OK);
    assert_int_equal(info.outcome, GPUOPT_LIMIT);
    assert_true(info.expanded >= desc.state_limit && info.primal_bound <= optimum && info.dual_bound >= optimum);
    choice_check_items(k, m, NULL);
    gpuopt_knapsack_multiple_choice_destroy(k);
    desc = choice_desc(m, whole.peak / 2);
    k = choice_create(plain, &desc);
    for (calls = 0; calls < 2; calls++) { /* and again */
        assert_int_equal(gpuopt_knapsack_multiple_choice_run(k, 0, 0, &info), GPUOPT_OK);
        assert_int_equal(info.outcome, GPUOPT_FULL);
        assert_true(info.states == whole.peak / 2 && info.primal_bound <= optimum && info.dual_bound >= optimum);
        choice_check_items(k, m, NULL);
    }
    assert_int_equal(gpuopt_knapsack_multiple_choice_set_incumbent(k, GPUOPT_HOST, best), GPUOPT_OK);
    assert_true(choice_info(k).primal_bound == optimum && choice_check_items(k, m, NULL) == optimum);
    gpuopt_knapsack_multiple_choice_destroy(k);
    free(m);
    gpuopt_context_destroy(context);
    gpuopt_context_destroy(plain);
}

/* Lists of default size grow; the answer equals the answer with large enough lists. Without memory they are full, and
 * grow once there is some. */
static void grows(void **state) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    choice *m = malloc(sizeof *m);
    uint64_t seed = 8, before;
    gpuopt_knapsack_multiple_choice_desc desc;
    gpuopt_knapsack_multiple_choice_info info = GPUOPT_INIT(gpuopt_knapsack_multiple_choice_info), large;
    gpuopt_knapsack_multiple_choice *k;
    int64_t j;
    int calls;
    (void)state;
    do { /* until it takes more than 2^16 states */
        choice_random(m, 0, 40, 70, INT64_C(1) << 50, &seed);
        desc = choice_desc(m, 1 << 20);
        for (j = 0; j < m->begin[m->classes]; j++) m->profit[j] = m->weight[j];
        k = choice_create(context, &desc);
        assert_int_equal(gpuopt_knapsack_multiple_choice_run(k, 0, 3, NULL), GPUOPT_OK);
        large = choice_info(k);
        gpuopt_knapsack_multiple_choice_destroy(k);
    } while (large.peak <= 1 << 16);
    desc.states = 0;
    k = choice_create(context, &desc);
    before = host.bytes[GPUOPT_HOST];
    test_deny_memory(&host, 1);
    for (calls = 1; calls <= 2; calls++) {
        assert_int_equal(gpuopt_knapsack_multiple_choice_run(k, 0, 3, &info), GPUOPT_OK);
        assert_true(info.outcome == GPUOPT_FULL && info.states == 1 << 16 && info.steps < large.steps);
        assert_true(host.denied == calls && host.bytes[GPUOPT_HOST] == before);
        choice_check_items(k, m, NULL);
    }
    assert_string_equal(gpuopt_context_last_error(context), ""); /* it is no error */
    test_deny_memory(&host, 0);
    assert_int_equal(gpuopt_knapsack_multiple_choice_run(k, 0, (int32_t)(large.steps - info.steps), &info), GPUOPT_OK);
    assert_true(info.states > 1 << 16);
    assert_true(host.bytes[GPUOPT_HOST] - before == 72 * (uint64_t)(info.states - (1 << 16)));
    info.states = large.states;
    assert_memory_equal(&info, &large, sizeof info);
    choice_check_items(k, m, NULL);
    gpuopt_knapsack_multiple_choice_destroy(k);
    free(m);
    gpuopt_context_destroy(context);
    assert_int_equal(host.live, 0);
}

/* The optimum given at the start, or in between, is kept with its items; a worse one changes nothing. */
static void incumbents(void **state) {
    gpuopt_context *context = test_context(NULL);
    choice *m = some_problem();
    gpuopt_knapsack_multiple_choice_desc desc = choice_desc(m, 1 << 14);
    gpuopt_knapsack_multiple_choice *k = choice_create(context, &desc);
    const int64_t optimum = choice_by_capacities(m);
    gpuopt_knapsack_multiple_choice_info whole = choice_finish(k, m, optimum), info;
    int32_t best[CHOICE_CLASSES], least[CHOICE_CLASSES], now[CHOICE_CLASSES], c;
    int between;
    (void)state;
    choice_check_items(k, m, best);
    gpuopt_knapsack_multiple_choice_destroy(k);
    for (c = 0; c < m->classes; c++) least[c] = (int32_t)m->begin[c];
    for (between = 0; between < 2; between++) {
        k = choice_create(context, &desc);
        if (between) assert_int_equal(gpuopt_knapsack_multiple_choice_run(k, 0, 1, NULL), GPUOPT_OK);
        info = choice_info(k);
        assert_int_equal(gpuopt_knapsack_multiple_choice_set_incumbent(k, GPUOPT_HOST, least), GPUOPT_OK);
        assert_true(choice_info(k).primal_bound == info.primal_bound);
        assert_int_equal(gpuopt_knapsack_multiple_choice_set_incumbent(k, GPUOPT_HOST, best), GPUOPT_OK);
        assert_true(choice_info(k).primal_bound == optimum);
        info = choice_finish(k, m, optimum);
        assert_true(info.expanded <= whole.expanded);
        choice_check_items(k, m, now);
        assert_memory_equal(now, best, sizeof *now * (size_t)m->classes);
        gpuopt_knapsack_multiple_choice_destroy(k);
    }
    free(m);
    gpuopt_context_destroy(context);
}

static void device_memory(void **state) {
    gpuopt_context *context = test_context(NULL);
    choice *m = some_problem();
    gpuopt_knapsack_multiple_choice_desc desc = choice_desc(m, 1 << 14);
    gpuopt_knapsack_multiple_choice *k = choice_create(context, &desc);
    int32_t best[CHOICE_CLASSES], now[CHOICE_CLASSES];
    const int64_t optimum = choice_by_capacities(m);
    (void)state;
    choice_finish(k, m, optimum);
    choice_check_items(k, m, best);
    if (!test_on("cuda")) {
        assert_int_equal(gpuopt_knapsack_multiple_choice_get_items(k, GPUOPT_DEVICE, now, NULL),
                         GPUOPT_ERROR_UNSUPPORTED);
        assert_int_equal(gpuopt_knapsack_multiple_choice_set_incumbent(k, GPUOPT_DEVICE, now),
                         GPUOPT_ERROR_UNSUPPORTED);
    } else {
        int32_t *there = test_device_allocate(sizeof now);
        assert_int_equal(gpuopt_knapsack_multiple_choice_get_items(k, GPUOPT_DEVICE, there, NULL), GPUOPT_OK);
        test_device_copy(now, there, sizeof *now * (size_t)m->classes);
        assert_memory_equal(now, best, sizeof *now * (size_t)m->classes);
        gpuopt_knapsack_multiple_choice_destroy(k);
        k = choice_create(context, &desc);
        assert_int_equal(gpuopt_knapsack_multiple_choice_set_incumbent(k, GPUOPT_DEVICE, there), GPUOPT_OK);
        assert_true(choice_info(k).primal_bound == optimum);
        test_device_release(there);
    }
    gpuopt_knapsack_multiple_choice_destroy(k);
    free(m);
    gpuopt_context_destroy(context);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(refused), cmocka_unit_test(memory),     cmocka_unit_test(ends),
    cmocka_unit_test(grows),   cmocka_unit_test(incumbents), cmocka_unit_test(device_memory),
};

TEST_MAIN(tests)
