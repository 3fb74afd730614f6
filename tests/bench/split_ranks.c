/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L
#include "tests/bench/split_ranks.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void log_message(void *user, int level, const char *message) {
    split_rank *r = user;
    if (level == 0) fprintf(stderr, "rank %d: %s\n", r->rank, message);
    if (strstr(message, "exchange through peer memory")) r->peers = 1;
}

static gpuopt_status open_on(int cuda, int device, split_rank *r, gpuopt_context **context) {
    gpuopt_context_desc desc = GPUOPT_INIT(gpuopt_context_desc);
    desc.backend = gpuopt_backend_cpu();
    desc.device = device;
    if (r) desc.user = r, desc.log = log_message;
#ifdef TEST_WITH_CUDA
    if (cuda) desc.backend = gpuopt_backend_cuda();
#else
    if (cuda) return GPUOPT_ERROR_UNSUPPORTED;
#endif
    return gpuopt_context_create(&desc, context);
}

int split_devices(void) {
    int count = 0;
    gpuopt_context *context = NULL;
    while (count < MOST_RANKS && open_on(1, count, NULL, &context) == GPUOPT_OK) {
        gpuopt_context_destroy(context);
        count++;
    }
    return count;
}

static void *run_rank(void *rank_of) {
    split_rank *r = rank_of;
    gpuopt_status status = open_on(r->on->cuda, r->on->cuda ? r->rank % r->on->devices : 0, r, &r->context);
    if (!status && r->count > 1) status = gpuopt_group_create(r->context, &r->transport, NULL, &r->group);
    if (!status) status = r->work(r);
    r->failed = status != GPUOPT_OK;
    if (status) r->transport.abort(r->transport.user);
    gpuopt_group_destroy(r->group);
    gpuopt_context_destroy(r->context);
    return NULL;
}

int split_run(const split_machine *on, int count, gpuopt_status (*work)(split_rank *), void *job, int *peers) {
    gpuopt_transport transport[MOST_RANKS];
    split_rank rank[MOST_RANKS];
    pthread_t thread[MOST_RANKS];
    int r, lost = 0;
    memset(rank, 0, sizeof rank);
    if (gpuopt_threads_open(count, transport)) return -1;
    for (r = 0; r < count; r++) {
        rank[r].job = job;
        rank[r].rank = r;
        rank[r].count = count;
        rank[r].transport = transport[r];
        rank[r].on = on;
        rank[r].work = work;
        if (pthread_create(&thread[r], NULL, run_rank, &rank[r])) exit(EXIT_FAILURE);
    }
    for (r = 0; r < count; r++) pthread_join(thread[r], NULL), lost |= rank[r].failed;
    gpuopt_threads_close(transport);
    if (peers) *peers = rank[0].peers;
    return lost ? -1 : 0;
}
