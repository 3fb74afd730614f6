/* SPDX-License-Identifier: MIT
 *
 * ranks.h with NCCL: ranks are threads, with separate devices. So the tests of transports/gpuopt_threads.c test
 * transports/gpuopt_nccl.c, too. With fewer devices, a run on more ranks is skipped with a message.
 */
#define _POSIX_C_SOURCE 200809L
#include "tests/group/ranks.h"

#include <cuda_runtime_api.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "transports/gpuopt_nccl.h"

static unsigned char id[GPUOPT_NCCL_ID];
static pthread_barrier_t opened; /* a rank that gives up at once would end the _open of a late one */

double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void *run(void *argument) {
    rank *r = argument;
    gpuopt_transport transport = GPUOPT_INIT(gpuopt_transport);
    gpuopt_status status;
    if (test_on("cuda")) cudaSetDevice(r->number);
    status = gpuopt_nccl_open(id, r->number, r->all->count, r->number, 20, &transport);
    EXPECT(r, status == GPUOPT_OK);
    pthread_barrier_wait(&opened);
    if (status) {
        fprintf(stderr, "rank %d: %s\n", r->number, gpuopt_nccl_error());
        return NULL;
    }
    r->transport = transport;
    r->all->work(r);
    gpuopt_group_destroy(r->group);
    gpuopt_nccl_close(&transport);
    return NULL;
}

void ranks_run(int count, void (*work)(rank *r), const void *data) {
    static ranks all;
    pthread_t thread[MAX_RANKS];
    gpuopt_context_desc with;
    int k, devices = 0;
    assert_in_range(count, 1, MAX_RANKS);
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices < count) {
        fprintf(stderr, "SKIPPED: %d ranks, for there are %d devices\n", count, devices);
        return;
    }
    memset(&all, 0, sizeof all);
    all.count = count;
    all.work = work;
    all.data = data;
    if (gpuopt_nccl_unique_id(id)) fail_msg("%s", gpuopt_nccl_error());
    for (k = 0; k < count; k++) {
        all.rank[k].all = &all;
        all.rank[k].number = k;
        with = test_context_desc(&all.rank[k].host);
        if (test_on("cuda")) with.device = k;
        assert_int_equal(gpuopt_context_create(&with, &all.rank[k].context), GPUOPT_OK);
    }
    assert_int_equal(pthread_barrier_init(&opened, NULL, (unsigned)count), 0);
    for (k = 0; k < count; k++) assert_int_equal(pthread_create(&thread[k], NULL, run, &all.rank[k]), 0);
    for (k = 0; k < count; k++) pthread_join(thread[k], NULL);
    pthread_barrier_destroy(&opened);
    for (k = 0; k < count; k++) {
        gpuopt_context_destroy(all.rank[k].context);
        if (all.rank[k].fault[0]) fail_msg("rank %d of %d: %s", k, count, all.rank[k].fault);
        assert_int_equal(all.rank[k].host.live, 0);
    }
}
