/* SPDX-License-Identifier: MIT
 *
 * Promises of transports/gpuopt_nccl.c alone: a missing NCCL, missing ranks, exchanges of several pieces, sizes that
 * differ, failing calls of NCCL. These use a stand-in for NCCL. The real NCCL is tested with as many ranks as devices,
 * and only in ways that need no stand-in.
 */
#define _POSIX_C_SOURCE 200809L
#include <cuda_runtime_api.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/group/ranks.h"
#include "transports/gpuopt_nccl.h"

static unsigned char id[GPUOPT_NCCL_ID];

/* One of the threads that open a transport, and its results. */
typedef struct opener {
    int rank, count, device;
    double seconds, took;
    gpuopt_status status; /* the first that is not OK */
} opener;

static int is_stand_in(void) { return getenv("GPUOPT_EMULATED_DEVICES") != NULL; }

static int too_few(int count) {
    int devices = 0;
    if (cudaGetDeviceCount(&devices) == cudaSuccess && devices >= count) return 0;
    fprintf(stderr, "SKIPPED: %d ranks, for there are %d devices\n", count, devices);
    return 1;
}

static void *opens(void *argument) {
    opener *o = argument;
    gpuopt_transport t = GPUOPT_INIT(gpuopt_transport);
    uint8_t byte[3000] = {1}, bytes[MAX_RANKS * 3000];
    double start = seconds_now();
    o->status = gpuopt_nccl_open(id, o->rank, o->count, o->device, o->seconds, &t);
    if (o->status) return o->took = seconds_now() - start, NULL;
    if (!o->status) o->status = t.all_gather(t.user, o->seconds, GPUOPT_HOST, byte, sizeof byte, bytes);
    if (!o->status) o->status = t.broadcast(t.user, o->seconds, GPUOPT_HOST, 0, byte, 1);
    if (!o->status && o->rank < 2 && o->count > 1)
        o->status = o->rank ? t.receive(t.user, o->seconds, GPUOPT_HOST, 0, byte, 1)
                            : t.send(t.user, o->seconds, GPUOPT_HOST, 1, byte, 1);
    if (!o->status) o->status = t.all_gather(t.user, o->seconds, GPUOPT_HOST, byte, 1, bytes);
    o->took = seconds_now() - start;
    gpuopt_nccl_close(&t);
    assert_null(t.user);
    gpuopt_nccl_close(&t);
    return NULL;
}

/* Runs `come` of `count` ranks; all use the device of their number, or device 0. */
static void run_openers(opener *o, int come, int count, int one_device, double seconds) {
    pthread_t thread[MAX_RANKS];
    int k;
    assert_int_equal(gpuopt_nccl_unique_id(id), GPUOPT_OK);
    for (k = 0; k < come; k++) {
        memset(&o[k], 0, sizeof o[k]);
        o[k].rank = k;
        o[k].count = count;
        o[k].device = one_device ? 0 : k;
        o[k].seconds = seconds;
        assert_int_equal(pthread_create(&thread[k], NULL, opens, &o[k]), 0);
    }
    for (k = 0; k < come; k++) pthread_join(thread[k], NULL);
}

static void unusable(const char *library, const char *words) {
    unsigned char name[GPUOPT_NCCL_ID];
    gpuopt_transport t = GPUOPT_INIT(gpuopt_transport);
    if (library) setenv("GPUOPT_NCCL_LIBRARY", library, 1);
    assert_int_equal(gpuopt_nccl_unique_id(name), GPUOPT_ERROR_UNSUPPORTED);
    assert_non_null(strstr(gpuopt_nccl_error(), words));
    assert_int_equal(gpuopt_nccl_open(id, 0, 1, 0, 1, &t), GPUOPT_ERROR_UNSUPPORTED);
    assert_null(t.user);
}
static void no_nccl(void **state) {
    const char *now = getenv("GPUOPT_NCCL_LIBRARY");
    char *before = now ? strdup(now) : NULL;
    (void)state;
    unusable("/nowhere/libnccl.so.2", "/nowhere/libnccl.so.2");
    unusable("libm.so.6", "ncclGetVersion");
    if (before) setenv("GPUOPT_NCCL_LIBRARY", before, 1);
    else unsetenv("GPUOPT_NCCL_LIBRARY");
    free(before);
    if (!is_stand_in()) return;
    setenv("STAND_IN_VERSION", "21304", 1);
    unusable(NULL, "2.14");
    unsetenv("STAND_IN_VERSION");
}

static void arguments(void **state) {
    gpuopt_transport t = GPUOPT_INIT(gpuopt_transport);
    (void)state;
    assert_int_equal(gpuopt_nccl_unique_id(NULL), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_nccl_open(NULL, 0, 1, 0, 1, &t), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_nccl_open(id, 0, 1, 0, 1, NULL), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_nccl_open(id, 1, 1, 0, 1, &t), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_nccl_open(id, -1, 1, 0, 1, &t), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_nccl_open(id, 0, 0, 0, 1, &t), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_nccl_open(id, 0, 65537, 0, 1, &t), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_nccl_open(id, 0, 1, -1, 1, &t), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_nccl_open(id, 0, 1, 0, 0, &t), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_nccl_open(id, 0, 1, 0, 2e9, &t), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_nccl_open(id, 0, 1, 12345, 1, &t), GPUOPT_ERROR_DEVICE);
    gpuopt_nccl_close(NULL);
}

/* Opening waits for a missing rank, at most for the given time. */
static void a_rank_that_never_opens(void **state) {
    opener o[MAX_RANKS];
    int come;
    (void)state;
    for (come = 1; come < 3 && !too_few(come); come++) {
        run_openers(o, come, come + 1, 0, 1);
        assert_int_equal(o[0].status, GPUOPT_ERROR_PEER);
        assert_true(o[0].took > 0.5 && o[0].took < 15);
    }
}

/* The time of NCCL itself counts. */
static void opening_that_takes_long(void **state) {
    opener o[MAX_RANKS];
    (void)state;
    if (!is_stand_in()) return;
    setenv("STAND_IN_SLOW", "900", 1);
    run_openers(o, 1, 2, 0, 1);
    unsetenv("STAND_IN_SLOW");
    assert_int_equal(o[0].status, GPUOPT_ERROR_PEER);
    assert_true(o[0].took > 0.9 && o[0].took < 1.7);
}

static void two_ranks_on_one_device(void **state) {
    opener o[MAX_RANKS];
    (void)state;
    run_openers(o, 2, 2, 1, 20);
    assert_true(o[0].status == GPUOPT_ERROR_DEVICE || o[1].status == GPUOPT_ERROR_DEVICE);
    assert_true(o[0].status && o[1].status && o[0].took < 30 && o[1].took < 30);
}

/* Each call in turn fails on the rank that makes it; all notice long before the limit. */
static void calls_that_fail(void **state) {
    opener o[MAX_RANKS];
    char number[16];
    int at, k, failed = 1;
    (void)state;
    if (!is_stand_in()) return;
    for (at = 1; failed; at++) {
        snprintf(number, sizeof number, "%d", at);
        setenv("STAND_IN_FAIL", number, 1);
        run_openers(o, 3, 3, 0, at <= 3 ? 1 : 60); /* if a rank fails to open, the others wait until the limit */
        for (k = 0, failed = 0; k < 3; k++) {
            failed += o[k].status != GPUOPT_OK;
            assert_true(!o[k].status || o[k].status == GPUOPT_ERROR_PEER);
            assert_true(o[k].took < 10);
        }
    }
    assert_in_range(at, 15, 30); /* 3 open; 5 collective calls of each, and a message */
    unsetenv("STAND_IN_FAIL");
}

/* ---- Pieces ---- */

enum { MOST = (9 << 20) + 5 };
static uint8_t given(int of, uint64_t k) { return (uint8_t)(k * 131 + k / 1021 + (uint64_t)of * 57); }
static int arrived(const uint8_t *data, int of, uint64_t bytes) {
    uint64_t k;
    for (k = 0; k < bytes && data[k] == given(of, k); k++) continue;
    return k == bytes;
}

/* Arrays with lengths near multiples of a piece; the thread, which has no device yet, stays without one. */
static void exchanges_pieces(rank *r) {
    static const uint64_t sizes[] = {1, 1008, 1009, 2000, 1008 + (4 << 20), 1009 + (4 << 20), MOST};
    const gpuopt_transport *t = &r->transport;
    uint8_t *own = malloc(MOST), *all = malloc((size_t)r->all->count * MOST);
    int count = r->all->count, of, device = -1;
    size_t s;
    uint64_t k;
    EXPECT(r, cudaGetDevice(&device) == cudaSuccess && device == 0);
    for (s = 0; s < sizeof sizes / sizeof *sizes && !r->fault[0]; s++) {
        const uint64_t bytes = sizes[s];
        const int root = (int)s % count;
        for (k = 0; k < bytes; k++) own[k] = given(r->number, k);
        EXPECT(r, t->all_gather(t->user, 60, GPUOPT_HOST, own, bytes, all) == GPUOPT_OK);
        for (of = 0; of < count; of++) EXPECT(r, arrived(all + (uint64_t)of * bytes, of, bytes));
        EXPECT(r, t->broadcast(t->user, 60, GPUOPT_HOST, root, own, bytes) == GPUOPT_OK);
        EXPECT(r, arrived(own, root, bytes));
        if (r->number == 0 && count > 1)
            EXPECT(r, t->send(t->user, 60, GPUOPT_HOST, count - 1, own, bytes) == GPUOPT_OK);
        if (r->number == 0 || r->number != count - 1) continue;
        EXPECT(r, t->receive(t->user, 60, GPUOPT_HOST, 0, all, bytes) == GPUOPT_OK && arrived(all, root, bytes));
    }
    EXPECT(r, cudaGetDevice(&device) == cudaSuccess && device == 0);
    free(own);
    free(all);
}
static void exchanges_of_several_pieces(void **state) {
    (void)state;
    ranks_run(1, exchanges_pieces, NULL);
    ranks_run(3, exchanges_pieces, NULL);
}

/* Rank 1 gives or expects another number of bytes. */
typedef struct difference {
    int call;
    uint64_t bytes[2];
} difference;

static void differs(rank *r) {
    const difference *d = r->all->data;
    const gpuopt_transport *t = &r->transport;
    uint8_t *data = calloc(2, MOST), small[4];
    const uint64_t bytes = d->bytes[r->number];
    const double start = seconds_now();
    gpuopt_status status = d->call == 0   ? t->all_gather(t->user, 60, GPUOPT_HOST, data, bytes, data + MOST)
                           : d->call == 1 ? t->broadcast(t->user, 60, GPUOPT_HOST, 0, data, bytes)
                           : r->number    ? t->receive(t->user, 60, GPUOPT_HOST, 0, data, bytes)
                                          : t->send(t->user, 60, GPUOPT_HOST, 1, data, bytes);
    if (r->number == 1 || d->call == 0) EXPECT(r, status == GPUOPT_ERROR_PEER);
    EXPECT(r, t->all_gather(t->user, 60, GPUOPT_HOST, data, 1, small) == GPUOPT_ERROR_PEER);
    EXPECT(r, seconds_now() - start < 10);
    free(data);
}
static void sizes_that_differ(void **state) {
    static const difference cases[] = {{0, {8, 9}},       {0, {8, 5000}},      {0, {MOST / 2, 5000}}, {1, {8, 9}},
                                       {1, {5000, 8}},    {1, {8, 5000}},      {2, {8, 9}},           {2, {5000, 8}},
                                       {2, {8, 5000000}}, {2, {MOST, 5000000}}};
    size_t k;
    (void)state;
    for (k = 0; k < sizeof cases / sizeof *cases; k++) ranks_run(2, differs, &cases[k]);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(no_nccl),
    cmocka_unit_test(arguments),
    cmocka_unit_test(a_rank_that_never_opens),
    cmocka_unit_test(opening_that_takes_long),
    cmocka_unit_test(two_ranks_on_one_device),
    cmocka_unit_test(calls_that_fail),
    cmocka_unit_test(exchanges_of_several_pieces),
    cmocka_unit_test(sizes_that_differ),
};
TEST_MAIN(tests)
