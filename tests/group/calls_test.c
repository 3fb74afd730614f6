/* SPDX-License-Identifier: MIT
 *
 * Every call of a group, on one to five ranks. Each rank can compute what the others have sent, and compares it with
 * what arrives. Reductions are compared with a plain loop.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/group/ranks.h"

enum { MOST = 3000 };

/* The data of rank `of` in the call of this number. */
static uint8_t given(int of, uint64_t call, uint64_t place) {
    uint64_t state = call * 1000003 + (uint64_t)of * 7919 + place * 31;
    return (uint8_t)test_random_int(&state, 0, 255);
}
static uint64_t given_size(int of, uint64_t call, int equal) {
    uint64_t state = call * 17 + (equal ? 0 : (uint64_t)of * 104729 + 1);
    return (uint64_t)test_random_int(&state, 0, 9) ? (uint64_t)test_random_int(&state, 0, MOST) : 0;
}

static void broadcasts(rank *r, uint64_t call) {
    static const uint64_t size[] = {0, 1, 4, 4096, MOST};
    uint8_t data[4096];
    uint64_t bytes = size[call % 5], k;
    int root = (int)(call % (uint64_t)r->all->count), wrong = 0;
    for (k = 0; k < bytes; k++) data[k] = given(r->number, call, k);
    EXPECT(r, gpuopt_group_broadcast(r->group, GPUOPT_HOST, root, data, bytes) == GPUOPT_OK);
    for (k = 0; k < bytes; k++) wrong |= data[k] != given(root, call, k);
    EXPECT(r, !wrong);
}

static void gathers(rank *r, uint64_t call, int equal) {
    uint64_t own = given_size(r->number, call, equal), capacity = (uint64_t)r->all->count * MOST, k, at = 0;
    uint64_t sizes[MAX_RANKS];
    uint8_t *send = malloc(MOST), *receive = malloc(capacity);
    int of, wrong = 0;
    for (k = 0; k < own; k++) send[k] = given(r->number, call, k);
    memset(sizes, 255, sizeof sizes);
    EXPECT(r, gpuopt_group_all_gather(r->group, GPUOPT_HOST, send, own, receive, capacity, sizes) == GPUOPT_OK);
    for (of = 0; of < r->all->count; of++) {
        wrong |= sizes[of] != given_size(of, call, equal);
        for (k = 0; k < given_size(of, call, equal); k++) wrong |= receive[at++] != given(of, call, k);
    }
    EXPECT(r, !wrong);
    memset(sizes, 255, sizeof sizes);
    EXPECT(r, gpuopt_group_all_gather(r->group, GPUOPT_HOST, send, own, NULL, 0, sizes) == GPUOPT_OK);
    for (of = 0; of < r->all->count; of++) EXPECT(r, sizes[of] == given_size(of, call, equal));
    free(send);
    free(receive);
}

/* Whether two doubles are the same bits, any NaN being one of them. */
static int same(double a, double b) { return (isnan(a) && isnan(b)) || memcmp(&a, &b, sizeof a) == 0; }

static double given_real(int of, uint64_t call, int k) {
    uint64_t state = call * 13 + (uint64_t)of * 71 + (uint64_t)k;
    double value = test_random(&state);
    if (k % 97 == 5 && of == (int)(call % 3)) return k % 2 ? (double)NAN : -HUGE_VAL;
    return ldexp(value - 0.5, (int)(100 * test_random(&state)));
}
static int64_t given_integer(int of, uint64_t call, int k) {
    uint64_t state = call * 11 + (uint64_t)of * 53 + (uint64_t)k;
    return test_random_int(&state, INT64_MIN / 8, INT64_MAX / 8);
}

static void reduces(rank *r, uint64_t call, gpuopt_group_reduction reduction) {
    static const int counts[] = {0, 1, 511, 512, 513, 1300};
    int count = counts[call % 6], k, of, wrong = 0;
    int64_t *integer = malloc(1300 * sizeof *integer);
    double *real = malloc(1300 * sizeof *real);
    for (k = 0; k < count; k++) {
        integer[k] = given_integer(r->number, call, k);
        real[k] = given_real(r->number, call, k);
    }
    EXPECT(r, gpuopt_group_all_reduce(r->group, reduction, count, integer, NULL) == GPUOPT_OK);
    EXPECT(r, gpuopt_group_all_reduce(r->group, reduction, count, NULL, real) == GPUOPT_OK);
    for (k = 0; k < count; k++) {
        int64_t i = given_integer(0, call, k);
        double d = given_real(0, call, k);
        for (of = 1; of < r->all->count; of++) {
            int64_t j = given_integer(of, call, k);
            double e = given_real(of, call, k);
            int undefined = isnan(d) || isnan(e);
            if (reduction == GPUOPT_REDUCE_SUM) i += j, d += e;
            else if (reduction == GPUOPT_REDUCE_MIN) i = i < j ? i : j, d = fmin(d, e);
            else i = i > j ? i : j, d = fmax(d, e);
            if (undefined) d = NAN;
        }
        wrong |= integer[k] != i || !same(real[k], d);
    }
    EXPECT(r, !wrong);
    free(integer);
    free(real);
}

/* All ranks send to the next rank, around the circle; even ranks send first. Messages of several sizes, in order. */
static void goes_round(rank *r, uint64_t call) {
    int count = r->all->count, next = (r->number + 1) % count, last = (r->number + count - 1) % count, turn, wrong = 0;
    uint64_t k, bytes = 1 + call * 37 % MOST;
    uint8_t out[MOST + 1], in[MOST + 1];
    if (count == 1) return;
    for (k = 0; k < bytes; k++) out[k] = given(r->number, call, k);
    for (turn = 0; turn < 2; turn++) {
        if (turn == r->number % 2) {
            EXPECT(r, gpuopt_group_send(r->group, GPUOPT_HOST, next, out, bytes) == GPUOPT_OK);
            EXPECT(r, gpuopt_group_send(r->group, GPUOPT_HOST, next, out, 0) == GPUOPT_OK);
            EXPECT(r, gpuopt_group_send(r->group, GPUOPT_HOST, next, &call, sizeof call) == GPUOPT_OK);
        } else {
            uint64_t received = 0;
            EXPECT(r, gpuopt_group_receive(r->group, GPUOPT_HOST, last, in, bytes) == GPUOPT_OK);
            EXPECT(r, gpuopt_group_receive(r->group, GPUOPT_HOST, last, NULL, 0) == GPUOPT_OK);
            EXPECT(r, gpuopt_group_receive(r->group, GPUOPT_HOST, last, &received, sizeof received) == GPUOPT_OK);
            EXPECT(r, received == call);
        }
    }
    for (k = 0; k < bytes; k++) wrong |= in[k] != given(last, call, k);
    EXPECT(r, !wrong);
}

static void all_calls(rank *r) {
    gpuopt_group_info info = GPUOPT_INIT(gpuopt_group_info);
    uint64_t call;
    EXPECT(r, rank_join(r, 20) == GPUOPT_OK);
    EXPECT(r, gpuopt_group_get_info(r->group, &info) == GPUOPT_OK);
    EXPECT(r, info.rank == r->number && info.count == r->all->count && !info.broken);
    for (call = 0; call < 60 && !r->fault[0]; call++) {
        EXPECT(r, gpuopt_group_agree(r->group, &call, sizeof call) == GPUOPT_OK);
        broadcasts(r, call);
        gathers(r, call, 0);
        gathers(r, call, 1);
        reduces(r, call, (gpuopt_group_reduction)(call % 3));
        goes_round(r, call);
    }
}

static void calls_on_several_ranks(void **state) {
    static const int counts[] = {1, 2, 4};
    int k;
    (void)state;
    for (k = 0; k < 3; k++) ranks_run(counts[k], all_calls, NULL);
}

/* Odd numbers of ranks, with messages from everyone to rank 0. */
static void odd_calls(rank *r) {
    uint64_t call;
    int of;
    EXPECT(r, rank_join(r, 20) == GPUOPT_OK);
    for (call = 0; call < 40 && !r->fault[0]; call++) {
        broadcasts(r, call);
        gathers(r, call, 0);
        reduces(r, call, GPUOPT_REDUCE_SUM);
        for (of = 1; of < r->all->count; of++) {
            uint64_t received = call + (uint64_t)of, got = 0;
            if (r->number == of)
                EXPECT(r, gpuopt_group_send(r->group, GPUOPT_HOST, 0, &received, sizeof received) == GPUOPT_OK);
            if (r->number != 0) continue;
            EXPECT(r, gpuopt_group_receive(r->group, GPUOPT_HOST, of, &got, sizeof got) == GPUOPT_OK);
            EXPECT(r, got == received);
        }
    }
}
static void calls_on_odd_numbers_of_ranks(void **state) {
    (void)state;
    ranks_run(3, odd_calls, NULL);
    ranks_run(5, odd_calls, NULL);
}

/* Without a transport: one rank, which all calls work on. */
static void alone(void **state) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    gpuopt_group_info info = GPUOPT_INIT(gpuopt_group_info);
    gpuopt_group *group = NULL;
    int64_t best[2] = {5, -7};
    uint8_t out[3] = {1, 2, 3}, in[4] = {0};
    uint64_t size = 99;
    (void)state;
    assert_int_equal(gpuopt_group_create(context, NULL, NULL, &group), GPUOPT_OK);
    assert_int_equal(gpuopt_group_get_info(group, &info), GPUOPT_OK);
    assert_true(info.rank == 0 && info.count == 1 && !info.broken);
    assert_int_equal(gpuopt_group_agree(group, NULL, 0), GPUOPT_OK);
    assert_int_equal(gpuopt_group_broadcast(group, GPUOPT_HOST, 0, out, 3), GPUOPT_OK);
    assert_int_equal(gpuopt_group_all_gather(group, GPUOPT_HOST, out, 3, in, 4, &size), GPUOPT_OK);
    assert_true(size == 3 && memcmp(in, "\1\2\3", 4) == 0);
    assert_int_equal(gpuopt_group_all_reduce(group, GPUOPT_REDUCE_SUM, 2, best, NULL), GPUOPT_OK);
    assert_true(best[0] == 5 && best[1] == -7);
    assert_int_equal(gpuopt_group_send(group, GPUOPT_HOST, 0, out, 3), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_group_broadcast(group, GPUOPT_HOST, 1, out, 3), GPUOPT_ERROR_ARGUMENT);
    gpuopt_group_destroy(group);
    gpuopt_group_destroy(NULL);
    gpuopt_context_destroy(context);
    assert_int_equal(host.live, 0);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(calls_on_several_ranks),
    cmocka_unit_test(calls_on_odd_numbers_of_ranks),
    cmocka_unit_test(alone),
};
TEST_MAIN(tests)
