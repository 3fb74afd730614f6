/* SPDX-License-Identifier: MIT
 *
 * Arguments that differ between ranks, or are wrong on one: refused on all of them, at once, and the group continues.
 */
#include <string.h>

#include "tests/group/ranks.h"

enum { CASES = 14 };

/* Makes the call of one case; `odd`: whether this rank differs. */
static gpuopt_status make_call(rank *r, int which, int odd) {
    gpuopt_group *g = r->group;
    int64_t integer[4] = {1, 2, 3, 4};
    double real[4] = {1, 2, 3, 4};
    uint8_t data[64] = {0}, more[512];
    uint8_t rest = odd;
    switch (which) {
    case 0: return gpuopt_group_broadcast(g, GPUOPT_HOST, odd, data, 8);
    case 1: return gpuopt_group_broadcast(g, GPUOPT_HOST, 0, data, odd ? 9 : 8);
    case 2: return gpuopt_group_broadcast(g, GPUOPT_HOST, 0, odd ? NULL : data, 8);
    case 3: return gpuopt_group_broadcast(g, GPUOPT_HOST, odd ? r->all->count : 0, data, 8);
    case 4: return gpuopt_group_agree(g, &rest, 1);
    case 5: return gpuopt_group_agree(g, data, odd ? 4 : 3);
    case 6: return gpuopt_group_agree(g, odd ? NULL : data, 4);
    case 7: return gpuopt_group_all_gather(g, GPUOPT_HOST, data, 8, more, odd ? 511 : 512, NULL);
    case 8: return gpuopt_group_all_gather(g, GPUOPT_HOST, odd ? NULL : data, 8, more, 512, NULL);
    case 9: return gpuopt_group_all_gather(g, GPUOPT_HOST, data, odd ? 40 : 30, more, 60, NULL); /* too much together */
    case 10: return gpuopt_group_all_reduce(g, odd ? GPUOPT_REDUCE_MIN : GPUOPT_REDUCE_MAX, 4, integer, NULL);
    case 11: return gpuopt_group_all_reduce(g, GPUOPT_REDUCE_SUM, 4, odd ? NULL : integer, odd ? real : NULL);
    case 12: return gpuopt_group_all_reduce(g, GPUOPT_REDUCE_SUM, odd ? -1 : 4, integer, NULL);
    }
    return odd ? gpuopt_group_agree(g, NULL, 0) : gpuopt_group_broadcast(g, GPUOPT_HOST, 0, data, 0);
}

/* The log messages of the rank that differs, and of another rank. */
static const char *const messages[CASES][2] = {
    {"has other arguments", "has other arguments"},
    {"has other arguments", "has other arguments"},
    {"data is NULL", "are refused"},
    {"root is not in", "are refused"},
    {"has other arguments", "has other arguments"},
    {"has other arguments", "has other arguments"},
    {"bytes is NULL", "are refused"},
    {"has other arguments", "has other arguments"},
    {"send is NULL", "are refused"},
    {"more than the capacity", "more than the capacity"},
    {"has other arguments", "has other arguments"},
    {"has other arguments", "has other arguments"},
    {"count is negative", "are refused"},
    {"calls gpuopt_group_broadcast", "calls gpuopt_group_agree"},
};

static void differs(rank *r) {
    const int *odd_rank = r->all->data;
    int which;
    EXPECT(r, rank_join(r, 20) == GPUOPT_OK);
    for (which = 0; which < CASES && !r->fault[0]; which++) {
        int odd = r->number == *odd_rank;
        int64_t sum = 1;
        r->host.error[0] = 0;
        EXPECT(r, make_call(r, which, odd) == GPUOPT_ERROR_ARGUMENT);
        EXPECT(r, strstr(r->host.error, messages[which][!odd]) != NULL);
        EXPECT(r, gpuopt_group_all_reduce(r->group, GPUOPT_REDUCE_SUM, 1, &sum, NULL) == GPUOPT_OK);
        EXPECT(r, sum == r->all->count);
    }
}
static void arguments_that_differ(void **state) {
    int odd, count;
    double start = seconds_now();
    (void)state;
    for (count = 2; count <= 4; count++)
        for (odd = 0; odd < count; odd++) ranks_run(count, differs, &odd);
    assert_true(seconds_now() - start < 10); /* nobody has waited for the time limit */
}

/* The CPU has no device memory: one rank's request for it is refused on all. */
static void has_no_device(rank *r) {
    const gpuopt_memory_space where = r->number == 1 ? GPUOPT_DEVICE : GPUOPT_HOST;
    const char *messages = r->number == 1 ? "no device memory" : "are refused";
    uint8_t data[8] = {0}, more[24];
    EXPECT(r, rank_join(r, 20) == GPUOPT_OK);
    EXPECT(r, gpuopt_group_broadcast(r->group, where, 0, data, 8) == GPUOPT_ERROR_UNSUPPORTED);
    EXPECT(r, strstr(r->host.error, messages) != NULL);
    EXPECT(r, gpuopt_group_all_gather(r->group, where, data, 8, more, 24, NULL) == GPUOPT_ERROR_UNSUPPORTED);
    EXPECT(r, strstr(r->host.error, messages) != NULL);
    if (r->number == 1) {
        EXPECT(r, gpuopt_group_send(r->group, where, 0, data, 8) == GPUOPT_ERROR_UNSUPPORTED);
        EXPECT(r, gpuopt_group_receive(r->group, where, 0, data, 8) == GPUOPT_ERROR_UNSUPPORTED);
    }
    EXPECT(r, gpuopt_group_broadcast(r->group, where, r->number, data, 8) == GPUOPT_ERROR_ARGUMENT);
    EXPECT(r, gpuopt_group_agree(r->group, NULL, 0) == GPUOPT_OK);
}
static void no_device_memory(void **state) {
    (void)state;
    ranks_run(3, has_no_device, NULL);
}

/* A sum beyond int64 is noticed on every rank, without other effects. */
static void overflows(rank *r) {
    int64_t value = r->number ? 1 : INT64_MAX, least = r->number ? -1 : INT64_MIN;
    EXPECT(r, rank_join(r, 20) == GPUOPT_OK);
    EXPECT(r, gpuopt_group_all_reduce(r->group, GPUOPT_REDUCE_SUM, 1, &value, NULL) == GPUOPT_ERROR_NUMERIC);
    EXPECT(r, gpuopt_group_all_reduce(r->group, GPUOPT_REDUCE_SUM, 1, &least, NULL) == GPUOPT_ERROR_NUMERIC);
    EXPECT(r, gpuopt_group_agree(r->group, NULL, 0) == GPUOPT_OK);
}
static void sums_that_overflow(void **state) {
    (void)state;
    ranks_run(3, overflows, NULL);
}

/* Each fault of one rank's _create fails on all, before the time limit. */
static void creates_badly(rank *r) {
    const int which = *(const int *)r->all->data;
    int odd = r->number == 1;
    gpuopt_group_desc desc = GPUOPT_INIT(gpuopt_group_desc);
    gpuopt_status status, want = GPUOPT_ERROR_PEER;
    double start = seconds_now();
    desc.time_limit = 20;
    if (which == 0 && odd) desc.time_limit = 21, want = GPUOPT_ERROR_ARGUMENT; /* the others: likewise */
    if (which == 0) want = GPUOPT_ERROR_ARGUMENT;
    if (which == 1 && odd) desc.time_limit = 1e-4, want = GPUOPT_ERROR_ARGUMENT;
    if (which == 2 && odd) desc.struct_size = 1, want = GPUOPT_ERROR_ARGUMENT;
    if (which == 3 && odd) r->host.fail_at = r->host.allocations + 1, want = GPUOPT_ERROR_MEMORY;
    if (which == 4 && odd) want = GPUOPT_ERROR_ARGUMENT;
    status = gpuopt_group_create(r->context, &r->transport, &desc, which == 4 && odd ? NULL : &r->group);
    EXPECT(r, status == want);
    EXPECT(r, r->group == NULL);
    EXPECT(r, r->host.error[0] != 0);
    EXPECT(r, seconds_now() - start < 10);
}
static void create_fails_on_all(void **state) {
    int which;
    (void)state;
    for (which = 0; which < 5; which++) ranks_run(3, creates_badly, &which);
}

/* Transports that are refused before anything is called. */
static void bad_transports(void **state) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    int which;
    (void)state;
    for (which = 0; which < 10; which++) {
        gpuopt_transport t = GPUOPT_INIT(gpuopt_transport);
        gpuopt_group *group = (gpuopt_group *)&t;
        t.count = 2; /* and no functions */
        switch (which) {
        case 0: t.struct_size = 3; break;
        case 1: t.count = 0; break;
        case 2: t.count = -1; break;
        case 3: t.count = 65537; break;
        case 4: t.rank = 2; break;
        case 5: t.rank = -1; break;
        case 6: t.device_memory = -2; break;
        }
        host.error[0] = 0;
        assert_int_equal(gpuopt_group_create(context, &t, NULL, &group), GPUOPT_ERROR_ARGUMENT);
        assert_null(group);
        assert_non_null(strstr(host.error, "transport"));
    }
    gpuopt_context_destroy(context);
    assert_int_equal(host.live, 0);
}

static void null_arguments(void **state) {
    gpuopt_group *group = NULL;
    int64_t one = 1;
    (void)state;
    assert_int_equal(gpuopt_group_create(NULL, NULL, NULL, &group), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_group_get_info(NULL, NULL), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_group_agree(NULL, NULL, 0), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_group_broadcast(NULL, GPUOPT_HOST, 0, NULL, 0), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_group_all_gather(NULL, GPUOPT_HOST, NULL, 0, NULL, 0, NULL), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_group_all_reduce(NULL, GPUOPT_REDUCE_MIN, 1, &one, NULL), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_group_send(NULL, GPUOPT_HOST, 0, NULL, 0), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_group_receive(NULL, GPUOPT_HOST, 0, NULL, 0), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_group_abort(NULL), GPUOPT_ERROR_ARGUMENT);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(arguments_that_differ), cmocka_unit_test(sums_that_overflow),
    cmocka_unit_test(create_fails_on_all),   cmocka_unit_test(bad_transports),
    cmocka_unit_test(null_arguments),        cmocka_unit_test(no_device_memory),
};
TEST_MAIN(tests)
