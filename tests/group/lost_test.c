/* SPDX-License-Identifier: MIT
 *
 * Ranks that are late, lost or broken: all others return a status within the time limit and never hang, and contexts
 * continue to work.
 */
#include <string.h>

#include "tests/group/ranks.h"

/* Seconds. A busy machine may be slow: a call that must return at once is allowed less than the wait would take. */
static const double limit = 1, busy = 5;

/* With any transport, sending this many bytes waits for the receiver. Static, since MPI may still read them when a rank
 * is lost. */
static const uint8_t much[1 << 20];

static gpuopt_status any_call(rank *r, int which) {
    int64_t integer[600] = {0};
    uint8_t data[16] = {0}, more[MAX_RANKS * 16];
    switch (which) {
    case 0: return gpuopt_group_agree(r->group, NULL, 0);
    case 1: return gpuopt_group_broadcast(r->group, GPUOPT_HOST, 0, data, sizeof data);
    case 2: return gpuopt_group_all_gather(r->group, GPUOPT_HOST, data, sizeof data, more, sizeof more, NULL);
    case 3: return gpuopt_group_all_reduce(r->group, GPUOPT_REDUCE_MAX, 600, integer, NULL);
    case 4: return gpuopt_group_send(r->group, GPUOPT_HOST, r->number ? 0 : 1, much, sizeof much);
    }
    return gpuopt_group_receive(r->group, GPUOPT_HOST, r->number ? 0 : 1, data, sizeof data);
}

/* The group of this rank is broken, and every call reports this at once; its context is not broken. */
static void is_over(rank *r) {
    gpuopt_group_info info = GPUOPT_INIT(gpuopt_group_info);
    gpuopt_knapsack_desc desc = GPUOPT_INIT(gpuopt_knapsack_desc);
    gpuopt_knapsack *knapsack = NULL;
    double start = seconds_now();
    int which;
    for (which = 0; which < 6; which++) EXPECT(r, any_call(r, which) == GPUOPT_ERROR_PEER);
    EXPECT(r, seconds_now() - start < 5 * limit);
    EXPECT(r, gpuopt_group_get_info(r->group, &info) == GPUOPT_OK && info.broken);
    EXPECT(r, gpuopt_knapsack_create(r->context, &desc, NULL, &knapsack) == GPUOPT_OK);
    gpuopt_knapsack_destroy(knapsack);
}

/* Rank 1 makes the call long after the limit, or never. */
typedef struct lateness {
    int which, ever, ranks;
} lateness;

static void waits_for_a_late_rank(rank *r) {
    const lateness *of = r->all->data;
    uint8_t byte = 0, bytes[MAX_RANKS];
    double start;
    /* So that a thread that starts late is not late in the group. */
    EXPECT(r, r->transport.all_gather(r->transport.user, 20, GPUOPT_HOST, &byte, 1, bytes) == GPUOPT_OK);
    start = seconds_now(); /* before all enter _create: no rank can have waited for the limit before it has passed */
    EXPECT(r, rank_join(r, limit) == GPUOPT_OK);
    if (r->number == 1 && !of->ever) return;
    if (r->number == 1) {
        seconds_wait(2 * limit);
        EXPECT(r, any_call(r, of->which) == GPUOPT_ERROR_PEER);
    } else if (r->number == 0 || of->which < 4) { /* a third rank has no part in a message */
        EXPECT(r, any_call(r, of->which) == GPUOPT_ERROR_PEER);
        EXPECT(r, seconds_now() - start > 0.9 * limit && seconds_now() - start < limit + busy);
    } else {
        seconds_wait(2 * limit);
    }
    is_over(r);
}
static void late_and_absent_ranks(void **state) {
    static const lateness cases[] = {{0, 1, 2}, {3, 1, 3}, {5, 1, 3}, {1, 0, 3}, {2, 0, 2}, {4, 0, 2}};
    size_t k;
    (void)state;
    for (k = 0; k < sizeof cases / sizeof *cases; k++) ranks_run(cases[k].ranks, waits_for_a_late_rank, &cases[k]);
}

/* Rank 1 aborts: the others, who would wait for a minute, notice at once. */
static void waits_for_one_that_aborts(rank *r) {
    int which = *(const int *)r->all->data;
    double start = seconds_now();
    EXPECT(r, rank_join(r, 60) == GPUOPT_OK);
    if (r->number == 1) {
        seconds_wait(0.3);
        EXPECT(r, gpuopt_group_abort(r->group) == GPUOPT_OK);
        EXPECT(r, gpuopt_group_abort(r->group) == GPUOPT_OK);
    } else {
        EXPECT(r, any_call(r, which) == GPUOPT_ERROR_PEER);
    }
    EXPECT(r, seconds_now() - start < 10);
    is_over(r);
}
static void ranks_that_abort(void **state) {
    int which;
    (void)state;
    for (which = 0; which < 6; which++) ranks_run(2, waits_for_one_that_aborts, &which);
    which = 3;
    ranks_run(4, waits_for_one_that_aborts, &which);
}

/* Not all ranks enter _create. */
static void joins_without_one(rank *r) {
    double start = seconds_now();
    if (r->number == 1) return;
    EXPECT(r, rank_join(r, limit) == GPUOPT_ERROR_PEER && !r->group);
    EXPECT(r, seconds_now() - start < limit + busy);
}
static void a_rank_that_never_joins(void **state) {
    (void)state;
    ranks_run(3, joins_without_one, NULL);
}

/* A message of another size than requested: on both sides, or on the sender's at its next call. */
static void receives_another_size(rank *r) {
    int more = *(const int *)r->all->data;
    uint8_t data[64] = {0};
    double start = seconds_now();
    EXPECT(r, rank_join(r, 60) == GPUOPT_OK);
    if (r->number == 0) gpuopt_group_send(r->group, GPUOPT_HOST, 1, data, 32); /* a transport may have taken it */
    else EXPECT(r, gpuopt_group_receive(r->group, GPUOPT_HOST, 0, data, more ? 33 : 31) == GPUOPT_ERROR_PEER);
    EXPECT(r, gpuopt_group_agree(r->group, NULL, 0) == GPUOPT_ERROR_PEER);
    EXPECT(r, seconds_now() - start < 10);
    is_over(r);
}
static void messages_of_another_size(void **state) {
    int more;
    (void)state;
    for (more = 0; more < 2; more++) ranks_run(2, receives_another_size, &more);
}

/* ---- A transport that fails ---- */

typedef struct faulty {
    gpuopt_transport inner;
    int fails_after, abandoned;
    gpuopt_status with;
} faulty;

static gpuopt_status faulty_gather(void *user, double seconds, gpuopt_memory_space where, const void *send,
                                   uint64_t bytes, void *receive) {
    faulty *f = user;
    return f->fails_after-- <= 0 ? f->with : f->inner.all_gather(f->inner.user, seconds, where, send, bytes, receive);
}
static gpuopt_status faulty_broadcast(void *user, double seconds, gpuopt_memory_space where, int32_t root, void *data,
                                      uint64_t bytes) {
    faulty *f = user;
    return f->fails_after-- <= 0 ? f->with : f->inner.broadcast(f->inner.user, seconds, where, root, data, bytes);
}
static gpuopt_status faulty_send(void *user, double seconds, gpuopt_memory_space where, int32_t to, const void *data,
                                 uint64_t bytes) {
    faulty *f = user;
    if (f->fails_after-- > 0) return f->inner.send(f->inner.user, seconds, where, to, data, bytes);
    if (f->with) return f->with;
    return f->inner.send(f->inner.user, seconds, where, to, data, bytes - 1); /* cut short, unnoticed by the sender */
}
static gpuopt_status faulty_receive(void *user, double seconds, gpuopt_memory_space where, int32_t from, void *data,
                                    uint64_t bytes) {
    faulty *f = user;
    return f->fails_after-- <= 0 ? f->with : f->inner.receive(f->inner.user, seconds, where, from, data, bytes);
}
static void faulty_abandon(void *user) {
    faulty *f = user;
    f->abandoned++;
    f->inner.abort(f->inner.user);
}

/* Puts a transport that fails at its exchange number `after` into rank 1. */
static void make_faulty(rank *r, faulty *f, int after, gpuopt_status with) {
    f->inner = r->transport;
    f->fails_after = after;
    f->abandoned = 0;
    f->with = with;
    r->transport.user = f;
    r->transport.all_gather = faulty_gather;
    r->transport.broadcast = faulty_broadcast;
    r->transport.send = faulty_send;
    r->transport.receive = faulty_receive;
    r->transport.abort = faulty_abandon;
}

/* Rank 1 returns the transport's own status, the others PEER; a call already under way may succeed for them. */
static void has_a_transport_that_fails(rank *r) {
    const int *of = r->all->data;
    faulty f;
    gpuopt_status status;
    double start = seconds_now();
    int which;
    memset(&f, 0, sizeof f);
    if (r->number == 1) make_faulty(r, &f, of[0], GPUOPT_ERROR_DEVICE);
    status = rank_join(r, 60);
    if (r->number == 1 && of[0] == 0) EXPECT(r, status == GPUOPT_ERROR_DEVICE && f.abandoned == 1);
    for (which = 0; which < 4 && !status; which++) status = any_call(r, which);
    EXPECT(r, status == (r->number == 1 ? GPUOPT_ERROR_DEVICE : GPUOPT_ERROR_PEER));
    EXPECT(r, seconds_now() - start < 10);
    if (r->group) is_over(r);
    if (r->group) EXPECT(r, gpuopt_group_abort(r->group) == GPUOPT_OK);
    if (r->number == 1) EXPECT(r, f.abandoned == 1); /* once is enough */
    gpuopt_group_destroy(r->group);                  /* before its transport goes */
    r->group = NULL;
}
static void transports_that_fail(void **state) {
    int after;
    (void)state;
    for (after = 0; after < 7; after++) ranks_run(3, has_a_transport_that_fails, &after); /* 8 exchanges in all */
}

static void has_its_message_cut_short(rank *r) {
    faulty f;
    uint8_t data[100] = {0};
    double start = seconds_now();
    if (r->number == 1) make_faulty(r, &f, 1, GPUOPT_OK); /* the exchange of _create is whole */
    EXPECT(r, rank_join(r, 60) == GPUOPT_OK);
    if (r->number == 1) gpuopt_group_send(r->group, GPUOPT_HOST, 0, data, sizeof data);
    else EXPECT(r, gpuopt_group_receive(r->group, GPUOPT_HOST, 1, data, sizeof data) == GPUOPT_ERROR_PEER);
    if (r->number == 0) is_over(r);
    EXPECT(r, seconds_now() - start < 10);
    gpuopt_group_destroy(r->group);
    r->group = NULL;
}
static void a_message_cut_short(void **state) {
    (void)state;
    ranks_run(2, has_its_message_cut_short, NULL);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(late_and_absent_ranks),   cmocka_unit_test(ranks_that_abort),
    cmocka_unit_test(a_rank_that_never_joins), cmocka_unit_test(messages_of_another_size),
    cmocka_unit_test(transports_that_fail),    cmocka_unit_test(a_message_cut_short),
};
TEST_MAIN(tests)
