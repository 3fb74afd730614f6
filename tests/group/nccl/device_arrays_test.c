/* SPDX-License-Identifier: MIT
 *
 * Exchanges between arrays in device memory, of ranks with separate devices, by transports/gpuopt_nccl.c. Each rank can
 * compute what the others have sent, and compares it with what arrives; nothing beside the arrays is written. Some
 * ranks may have theirs in host memory. Also: refused arguments, later work on a rank's stream, and lost ranks.
 */
#define _POSIX_C_SOURCE 200809L
#include <cuda_runtime_api.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "tests/group/ranks.h"

enum { MOST = (9 << 20) + 5, EDGE = 64, UNTOUCHED = 0xA5 };

/* An array of a rank, with forbidden bytes on both sides. */
typedef struct array {
    rank *r;
    gpuopt_memory_space where;
    uint64_t bytes;
    uint8_t *all, *at;
} array;

static void on_own_device(const rank *r, int on) { cudaSetDevice(on ? r->number : 0); }

/* Copies between an array and host memory. */
static void move(const array *a, void *to, const void *from, uint64_t bytes) {
    if (a->where == GPUOPT_HOST) {
        memcpy(to, from, (size_t)bytes);
        return;
    }
    on_own_device(a->r, 1);
    EXPECT(a->r, cudaMemcpy(to, from, (size_t)bytes, cudaMemcpyDefault) == cudaSuccess);
    EXPECT(a->r, cudaDeviceSynchronize() == cudaSuccess);
    on_own_device(a->r, 0);
}

static array take(rank *r, gpuopt_memory_space where, uint64_t bytes) {
    array a = {r, where, bytes, NULL, NULL};
    uint8_t *fill = malloc((size_t)bytes + 2 * EDGE);
    if (where == GPUOPT_HOST) a.all = malloc((size_t)bytes + 2 * EDGE);
    else {
        on_own_device(r, 1);
        EXPECT(r, cudaMalloc((void **)&a.all, (size_t)bytes + 2 * EDGE) == cudaSuccess);
        on_own_device(r, 0);
    }
    memset(fill, UNTOUCHED, (size_t)bytes + 2 * EDGE);
    move(&a, a.all, fill, bytes + 2 * EDGE);
    a.at = a.all + EDGE;
    free(fill);
    return a;
}

/* The array's bytes, to be freed; nobody has written beside them. */
static uint8_t *read_back(const array *a) {
    uint8_t *all = malloc((size_t)a->bytes + 2 * EDGE);
    int wrong = 0, k;
    move(a, all, a->all, a->bytes + 2 * EDGE);
    for (k = 0; k < EDGE; k++) wrong |= all[k] != UNTOUCHED || all[EDGE + a->bytes + (uint64_t)k] != UNTOUCHED;
    EXPECT(a->r, !wrong);
    memmove(all, all + EDGE, (size_t)a->bytes);
    return all;
}

/* Freeing waits for the current device, where another rank's exchange may be under way. */
static void give_back(array *a) {
    on_own_device(a->r, 1);
    if (a->where == GPUOPT_HOST) free(a->all);
    else cudaFree(a->all);
    on_own_device(a->r, 0);
}

static uint8_t given(int of, uint64_t call, uint64_t k) {
    return (uint8_t)(k * 131 + k / 1021 + (uint64_t)of * 57 + call * 13);
}
static void fill(array *a, uint64_t call, uint64_t bytes) {
    uint8_t *data = malloc((size_t)bytes + 1);
    uint64_t k;
    for (k = 0; k < bytes; k++) data[k] = given(a->r->number, call, k);
    if (bytes) move(a, a->at, data, bytes);
    free(data);
}
static int arrived(const uint8_t *data, int of, uint64_t call, uint64_t bytes) {
    uint64_t k;
    for (k = 0; k < bytes && data[k] == given(of, call, k); k++) continue;
    return k == bytes;
}

/* ---- Every call ---- */

static void broadcasts(rank *r, gpuopt_memory_space where, uint64_t call, uint64_t bytes) {
    const int root = (int)(call % (uint64_t)r->all->count);
    array a = take(r, where, bytes);
    uint8_t *data;
    fill(&a, call, bytes);
    EXPECT(r, gpuopt_group_broadcast(r->group, where, root, a.at, bytes) == GPUOPT_OK);
    data = read_back(&a);
    EXPECT(r, arrived(data, root, call, bytes));
    free(data);
    give_back(&a);
}

/* equal: all ranks give as many bytes. */
static void gathers(rank *r, gpuopt_memory_space where, uint64_t call, uint64_t bytes, int equal) {
    const int count = r->all->count;
    const uint64_t own = equal ? bytes : bytes / (uint64_t)(r->number + 1);
    array send = take(r, where, own), receive = take(r, where, bytes * (uint64_t)count);
    uint64_t sizes[MAX_RANKS], at = 0;
    uint8_t *data;
    int of;
    fill(&send, call, own);
    EXPECT(r, gpuopt_group_all_gather(r->group, where, send.at, own, receive.at, receive.bytes, sizes) == GPUOPT_OK);
    data = read_back(&receive);
    for (of = 0; of < count; of++) {
        const uint64_t theirs = equal ? bytes : bytes / (uint64_t)(of + 1);
        EXPECT(r, sizes[of] == theirs && arrived(data + at, of, call, theirs));
        at += theirs;
    }
    for (; at < receive.bytes; at++)
        if (data[at] != UNTOUCHED) break;
    EXPECT(r, at == receive.bytes);
    free(data);
    give_back(&send);
    give_back(&receive);
}

/* Everybody sends to the next rank; even ranks first. */
static void goes_round(rank *r, gpuopt_memory_space where, uint64_t call, uint64_t bytes) {
    const int count = r->all->count, next = (r->number + 1) % count, last = (r->number + count - 1) % count;
    array out = take(r, where, bytes), in = take(r, where, bytes);
    uint8_t *data;
    int turn;
    fill(&out, call, bytes);
    for (turn = 0; turn < 2 && count > 1; turn++) {
        if (turn == r->number % 2) EXPECT(r, gpuopt_group_send(r->group, where, next, out.at, bytes) == GPUOPT_OK);
        else EXPECT(r, gpuopt_group_receive(r->group, where, last, in.at, bytes) == GPUOPT_OK);
    }
    data = read_back(&in);
    EXPECT(r, count == 1 || arrived(data, last, call, bytes));
    free(data);
    give_back(&out);
    give_back(&in);
}

/* Arrays with lengths near multiples of a piece; data: a bit for each rank with its array in device memory. */
static void exchanges(rank *r) {
    static const uint64_t sizes[] = {0, 1, 1008, 1009, 2000, 1008 + (4 << 20), 1009 + (4 << 20), MOST};
    const unsigned *on_device = r->all->data;
    const gpuopt_memory_space where = *on_device >> r->number & 1 ? GPUOPT_DEVICE : GPUOPT_HOST;
    gpuopt_group_info info = GPUOPT_INIT(gpuopt_group_info);
    uint64_t s;
    int device = -1;
    EXPECT(r, rank_join(r, 60) == GPUOPT_OK);
    EXPECT(r, gpuopt_group_get_info(r->group, &info) == GPUOPT_OK && info.device_memory);
    for (s = 0; s < sizeof sizes / sizeof *sizes && !r->fault[0]; s++) {
        broadcasts(r, where, s, sizes[s]);
        gathers(r, where, s, sizes[s], 1);
        gathers(r, where, s, sizes[s], 0);
        goes_round(r, where, s, sizes[s]);
    }
    EXPECT(r, cudaGetDevice(&device) == cudaSuccess && device == 0);
}
static void device_to_device(void **state) {
    static const unsigned all = ~0u;
    (void)state;
    ranks_run(1, exchanges, &all);
    ranks_run(3, exchanges, &all);
}
static void device_to_host(void **state) {
    static const unsigned some[] = {1, 2};
    (void)state;
    ranks_run(2, exchanges, &some[0]);
    ranks_run(2, exchanges, &some[1]);
}

/* More pieces than are enqueued at a time. */
static void many_pieces(rank *r) {
    const uint64_t bytes = 280u << 20;
    EXPECT(r, rank_join(r, 60) == GPUOPT_OK);
    goes_round(r, GPUOPT_DEVICE, 7, bytes);
}
static void a_long_message(void **state) {
    (void)state;
    ranks_run(2, many_pieces, NULL);
}

/* ---- Streams ---- */

static void late(void *user) {
    (void)user;
    seconds_wait(0.3);
}

/* Work enqueued on the context's stream before a call is done before its exchange. */
static void comes_in_order(rank *r) {
    gpuopt_context_desc with = test_context_desc(NULL);
    array a = take(r, GPUOPT_DEVICE, 5000), b = take(r, GPUOPT_DEVICE, 10000);
    cudaStream_t stream = NULL;
    uint8_t *data;
    uint64_t k;
    int turn;
    on_own_device(r, 1);
    EXPECT(r, cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess);
    with.device = r->number;
    with.stream = stream;
    gpuopt_context_destroy(r->context);
    EXPECT(r, gpuopt_context_create(&with, &r->context) == GPUOPT_OK);
    EXPECT(r, rank_join(r, 60) == GPUOPT_OK);
    for (turn = 0; turn < 3 && !r->fault[0]; turn++) {
        on_own_device(r, 1);
        EXPECT(r, cudaLaunchHostFunc(stream, late, NULL) == cudaSuccess);
        EXPECT(r, cudaMemsetAsync(a.at, 10 * turn + r->number, a.bytes, stream) == cudaSuccess);
        on_own_device(r, 0);
        if (turn == 0) EXPECT(r, gpuopt_group_broadcast(r->group, GPUOPT_DEVICE, 1, a.at, a.bytes) == GPUOPT_OK);
        else if (turn == 1)
            EXPECT(r,
                   gpuopt_group_all_gather(r->group, GPUOPT_DEVICE, a.at, a.bytes, b.at, b.bytes, NULL) == GPUOPT_OK);
        else if (r->number) EXPECT(r, gpuopt_group_send(r->group, GPUOPT_DEVICE, 0, a.at, a.bytes) == GPUOPT_OK);
        else EXPECT(r, gpuopt_group_receive(r->group, GPUOPT_DEVICE, 1, a.at, a.bytes) == GPUOPT_OK);
        data = read_back(turn == 1 ? &b : &a);
        for (k = 0; k < (turn == 1 ? b.bytes : a.bytes); k++)
            if (data[k] != 10 * turn + (turn == 1 ? k >= a.bytes : 1)) break;
        EXPECT(r, k == (turn == 1 ? b.bytes : a.bytes));
        free(data);
    }
    gpuopt_group_destroy(r->group);
    r->group = NULL;
    gpuopt_context_destroy(r->context);
    r->context = NULL;
    on_own_device(r, 1);
    cudaStreamDestroy(stream);
    on_own_device(r, 0);
    give_back(&a);
    give_back(&b);
}
static void the_streams_order(void **state) {
    (void)state;
    ranks_run(2, comes_in_order, NULL);
}

/* ---- What is refused ---- */

/* Rank 1's transport accepts no device memory (0), or another device's (2), or rank 1 passes an invalid value (1): all
 * ranks return the same status. */
static void refuses(rank *r) {
    const int which = *(const int *)r->all->data, odd = r->number == 1;
    const gpuopt_status want = which == 1 ? GPUOPT_ERROR_ARGUMENT : GPUOPT_ERROR_UNSUPPORTED;
    const gpuopt_memory_space where = which == 1 && odd ? (gpuopt_memory_space)7 : GPUOPT_DEVICE;
    const char *own = which == 1 ? "where is neither" : "does not take this device's memory";
    array a = take(r, GPUOPT_DEVICE, 100), b = take(r, GPUOPT_DEVICE, 300);
    int64_t one = 1;
    uint8_t *data;
    if (which != 1 && odd) r->transport.device_memory = which == 0 ? 0 : r->number;
    EXPECT(r, rank_join(r, 60) == GPUOPT_OK);
    EXPECT(r, gpuopt_group_broadcast(r->group, where, 0, a.at, 100) == want);
    EXPECT(r, strstr(r->host.error, odd ? own : "are refused") != NULL);
    EXPECT(r, gpuopt_group_all_gather(r->group, where, a.at, 100, b.at, 300, NULL) == want);
    EXPECT(r, strstr(r->host.error, odd ? own : "are refused") != NULL);
    if (odd) EXPECT(r, gpuopt_group_send(r->group, where, 0, a.at, 100) == want);
    if (odd) EXPECT(r, gpuopt_group_receive(r->group, where, 0, a.at, 100) == want);
    EXPECT(r, gpuopt_group_all_reduce(r->group, GPUOPT_REDUCE_SUM, 1, &one, NULL) == GPUOPT_OK && one == 3);
    data = read_back(&b);
    EXPECT(r, data[0] == UNTOUCHED && data[299] == UNTOUCHED);
    free(data);
    give_back(&a);
    give_back(&b);
}
static void refused_on_all(void **state) {
    int which;
    (void)state;
    for (which = 0; which < 3; which++) ranks_run(3, refuses, &which);
}

/* ---- Lost ranks ---- */

static pthread_barrier_t joined; /* a rank that gives up at once would end the _create of a late one */

/* Rank 1 passes another number of bytes (0), memory of another device (1), or gives up (2): no rank waits for the
 * limit. */
static void goes_wrong(rank *r) {
    const int which = *(const int *)r->all->data;
    const gpuopt_transport *t = &r->transport;
    const uint64_t bytes = which == 0 && r->number ? 2000000 : 3000000;
    array a = take(r, GPUOPT_DEVICE, 3000000), b = take(r, GPUOPT_DEVICE, 100);
    const double start = seconds_now();
    uint8_t *data;
    EXPECT(r, rank_join(r, 60) == GPUOPT_OK);
    pthread_barrier_wait(&joined);
    if (which == 1 && r->number) {
        void *strange = malloc(3000000);
        EXPECT(r, t->receive(t->user, 60, GPUOPT_DEVICE, 0, strange, bytes) == GPUOPT_ERROR_UNSUPPORTED);
        free(strange);
    } else if (which == 2 && r->number) {
        seconds_wait(0.3);
        gpuopt_group_abort(r->group);
    } else if (r->number) {
        EXPECT(r, t->receive(t->user, 60, GPUOPT_DEVICE, 0, a.at, bytes) == GPUOPT_ERROR_PEER);
    } else {
        EXPECT(r, t->send(t->user, 60, GPUOPT_DEVICE, 1, a.at, bytes) == GPUOPT_ERROR_PEER || which == 0);
        EXPECT(r, gpuopt_group_receive(r->group, GPUOPT_DEVICE, 1, b.at, 100) == GPUOPT_ERROR_PEER);
    }
    EXPECT(r, seconds_now() - start < 20);
    data = read_back(&a);
    EXPECT(r, data[1008] == UNTOUCHED || (which == 2 && r->number)); /* at most the first piece has arrived */
    free(data);
    give_back(&a);
    give_back(&b);
}
static void ranks_that_are_lost(void **state) {
    int which;
    (void)state;
    assert_int_equal(pthread_barrier_init(&joined, NULL, 2), 0);
    for (which = 0; which < 3; which++) ranks_run(2, goes_wrong, &which);
    pthread_barrier_destroy(&joined);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(device_to_device),  cmocka_unit_test(device_to_host), cmocka_unit_test(a_long_message),
    cmocka_unit_test(the_streams_order), cmocka_unit_test(refused_on_all), cmocka_unit_test(ranks_that_are_lost),
};
TEST_MAIN(tests)
