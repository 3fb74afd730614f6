/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L
#include "tests/group/ranks.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

#include "transports/gpuopt_threads.h"

double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void *run(void *argument) {
    rank *r = argument;
    r->all->work(r);
    gpuopt_group_destroy(r->group);
    return NULL;
}

void ranks_run(int count, void (*work)(rank *r), const void *data) {
    static ranks all;
    gpuopt_transport transport[MAX_RANKS];
    pthread_t thread[MAX_RANKS];
    gpuopt_context_desc with;
    int k;
    assert_in_range(count, 1, MAX_RANKS);
    memset(&all, 0, sizeof all);
    all.count = count;
    all.work = work;
    all.data = data;
    assert_int_equal(gpuopt_threads_open(count, transport), GPUOPT_OK);
    for (k = 0; k < count; k++) {
        all.rank[k].all = &all;
        all.rank[k].number = k;
        all.rank[k].transport = transport[k];
        with = test_context_desc(&all.rank[k].host);
        with.device = rank_device(k);
        assert_int_equal(gpuopt_context_create(&with, &all.rank[k].context), GPUOPT_OK);
    }
    for (k = 0; k < count; k++) assert_int_equal(pthread_create(&thread[k], NULL, run, &all.rank[k]), 0);
    for (k = 0; k < count; k++) pthread_join(thread[k], NULL);
    gpuopt_threads_close(transport);
    for (k = 0; k < count; k++) {
        gpuopt_context_destroy(all.rank[k].context);
        if (all.rank[k].fault[0]) fail_msg("rank %d of %d: %s", k, count, all.rank[k].fault);
        assert_int_equal(all.rank[k].host.live, 0);
    }
}
