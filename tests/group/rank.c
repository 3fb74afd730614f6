/* SPDX-License-Identifier: MIT
 *
 * The parts of ranks.h that do not depend on the transport.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tests/group/ranks.h"

void seconds_wait(double seconds) {
    struct timespec wait;
    wait.tv_sec = (time_t)seconds;
    wait.tv_nsec = (long)((seconds - (double)wait.tv_sec) * 1e9);
    nanosleep(&wait, NULL);
}

void rank_expect(rank *r, int holds, const char *condition, int line) {
    if (holds || r->fault[0]) return;
    snprintf(r->fault, sizeof r->fault, "line %d: not %s; last error: %.100s", line, condition, r->host.error);
}

int32_t rank_device(int number) {
    const char *devices = getenv("GPUOPT_TEST_DEVICES");
    return test_on("cuda") && devices ? (int32_t)(number % (int)strtol(devices, NULL, 10)) : 0;
}

void rank_own_memory(rank *r) {
    gpuopt_context_desc with = test_context_desc(NULL);
    with.device = rank_device(r->number);
    gpuopt_context_destroy(r->context);
    r->context = NULL;
    EXPECT(r, gpuopt_context_create(&with, &r->context) == GPUOPT_OK);
}

gpuopt_status rank_join(rank *r, double seconds) {
    gpuopt_group_desc desc = GPUOPT_INIT(gpuopt_group_desc);
    desc.time_limit = seconds;
    return gpuopt_group_create(r->context, &r->transport, &desc, &r->group);
}

/* ---- A transport that fails ---- */

static int fails(rank_faulty *f) { return f->left-- == 0; }

static gpuopt_status faulty_gather(void *user, double seconds, gpuopt_memory_space where, const void *send,
                                   uint64_t bytes, void *receive) {
    rank_faulty *f = user;
    return fails(f) ? GPUOPT_ERROR_PEER : f->inner.all_gather(f->inner.user, seconds, where, send, bytes, receive);
}

static gpuopt_status faulty_broadcast(void *user, double seconds, gpuopt_memory_space where, int32_t root, void *data,
                                      uint64_t bytes) {
    rank_faulty *f = user;
    return fails(f) ? GPUOPT_ERROR_PEER : f->inner.broadcast(f->inner.user, seconds, where, root, data, bytes);
}

static gpuopt_status faulty_send(void *user, double seconds, gpuopt_memory_space where, int32_t to, const void *data,
                                 uint64_t bytes) {
    rank_faulty *f = user;
    return fails(f) ? GPUOPT_ERROR_PEER : f->inner.send(f->inner.user, seconds, where, to, data, bytes);
}

static gpuopt_status faulty_receive(void *user, double seconds, gpuopt_memory_space where, int32_t from, void *data,
                                    uint64_t bytes) {
    rank_faulty *f = user;
    return fails(f) ? GPUOPT_ERROR_PEER : f->inner.receive(f->inner.user, seconds, where, from, data, bytes);
}

static void faulty_abandon(void *user) {
    rank_faulty *f = user;
    f->inner.abort(f->inner.user);
}

void rank_make_faulty(rank *r, int number, rank_faulty *f) {
    f->inner = r->transport;
    f->left = number;
    r->transport.user = f;
    r->transport.all_gather = faulty_gather;
    r->transport.broadcast = faulty_broadcast;
    r->transport.send = faulty_send;
    r->transport.receive = faulty_receive;
    r->transport.abort = faulty_abandon;
}
