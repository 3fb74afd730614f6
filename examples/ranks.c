/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L
#include "examples/ranks.h"

#include <pthread.h>

#include "transports/gpuopt_threads.h"

typedef struct rank {
    int number, runs;
    gpuopt_status (*work)(int rank, const gpuopt_transport *transport, void *user);
    void *user;
    gpuopt_transport transport;
    gpuopt_status status;
    pthread_t thread;
} rank;

static void *run(void *rank_of) {
    rank *r = rank_of;
    r->status = r->work(r->number, &r->transport, r->user);
    if (r->status) r->transport.abort(r->transport.user);
    return NULL;
}

gpuopt_status ranks_work(int ranks, gpuopt_status (*work)(int rank, const gpuopt_transport *transport, void *user),
                         void *user) {
    gpuopt_transport transport[MOST_RANKS];
    rank all[MOST_RANKS];
    gpuopt_status status = gpuopt_threads_open(ranks, transport);
    int k;
    if (status) return status;
    for (k = 0; k < ranks; k++) {
        all[k].number = k;
        all[k].work = work;
        all[k].user = user;
        all[k].transport = transport[k];
        all[k].runs = k > 0 && pthread_create(&all[k].thread, NULL, run, &all[k]) == 0;
        if (k > 0 && !all[k].runs) transport[k].abort(transport[k].user);
    }
    run(&all[0]);
    for (k = 1; k < ranks; k++)
        if (all[k].runs) pthread_join(all[k].thread, NULL);
    gpuopt_threads_close(transport);
    return all[0].status;
}
