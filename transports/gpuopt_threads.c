/* SPDX-License-Identifier: MIT
 *
 * One lock and one condition for all ranks. A rank that gives data leaves its address, others copy from there; it does
 * not return before they have. Waiting for another rank's call is subject to the time limit, waiting for a copy that
 * has begun is not, since that ends by itself. Nobody copies while holding the lock: it would use up the others' time.
 *
 * In a collective call a rank first looks for the others for a while, in which it lets other threads run, and sleeps
 * only then: ranks whose GPUs finish at about the same time come within microseconds, and being woken takes longer.
 */
#define _POSIX_C_SOURCE 200809L
#include "transports/gpuopt_threads.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A message from one rank to another. */
typedef struct letter {
    const void *data; /* NULL: there is none, or it has been copied */
    uint64_t bytes;   /* 0: there is none, or its receiver has come */
} letter;

typedef struct hub {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int32_t count;
    int32_t arrived;         /* ranks that wait for the others in the present collective call */
    _Atomic int lost;        /* a rank has gone, or was waited for too long */
    _Atomic int32_t copying; /* ranks that copy in the present collective call */
    _Atomic uint64_t calls;  /* collective calls for which all ranks have come */
    const void **data;       /* [count] what each rank gives in it */
    letter *letter;          /* [count][count] from, to */
    struct member *member;   /* [count] */
} hub;

typedef struct member {
    hub *hub;
    int32_t rank;
} member;

static struct timespec after(double seconds) {
    struct timespec until;
    double whole = (double)(int64_t)seconds;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += (time_t)whole;
    until.tv_nsec += (long)((seconds - whole) * 1e9);
    if (until.tv_nsec >= 1000000000L) {
        until.tv_nsec -= 1000000000L;
        until.tv_sec++;
    }
    return until;
}

/* Waits for a change. Returns 1 if it is past the time; what was waited for may have come all the same. */
static int is_late(hub *h, const struct timespec *until) {
    return pthread_cond_timedwait(&h->changed, &h->lock, until) == ETIMEDOUT;
}

static void lose(hub *h) {
    h->lost = 1;
    pthread_cond_broadcast(&h->changed);
}

/* ---- Collective calls ---- */

/* Looks for a while whether the ranks have come for another call (done 0), or have copied (1). */
static void look(hub *h, int done, uint64_t call) {
    enum { EACH = 16 /* looks between two at the clock */, NANOSECONDS = 50000 };
    const struct timespec until = after(1e-9 * NANOSECONDS);
    struct timespec now;
    int k;
    do {
        for (k = 0; k < EACH; k++) {
            if (h->lost || (done ? h->copying == 0 : h->calls != call)) return;
            sched_yield();
        }
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while (now.tv_sec < until.tv_sec || (now.tv_sec == until.tv_sec && now.tv_nsec < until.tv_nsec));
}

/* Leaves this rank's data and waits for the other ranks. With OK, h->data is what all of them left, until leave(). */
static gpuopt_status meet(const member *m, double seconds, const void *data) {
    hub *h = m->hub;
    struct timespec until = after(seconds);
    gpuopt_status status;
    uint64_t call;
    pthread_mutex_lock(&h->lock);
    call = h->calls;
    if (!h->lost) {
        h->data[m->rank] = data;
        if (++h->arrived == h->count) {
            h->arrived = 0;
            h->copying = h->count;
            h->calls++;
            pthread_cond_broadcast(&h->changed);
        }
    }
    if (h->calls == call && !h->lost) {
        pthread_mutex_unlock(&h->lock);
        look(h, 0, call);
        pthread_mutex_lock(&h->lock);
    }
    while (h->calls == call && !h->lost)
        if (is_late(h, &until) && h->calls == call) lose(h);
    status = h->calls != call ? GPUOPT_OK : GPUOPT_ERROR_PEER;
    pthread_mutex_unlock(&h->lock);
    return status;
}

/* Ends a collective call, when all ranks have copied. */
static void leave(const member *m) {
    hub *h = m->hub;
    pthread_mutex_lock(&h->lock);
    if (--h->copying == 0) {
        pthread_cond_broadcast(&h->changed);
    } else {
        pthread_mutex_unlock(&h->lock);
        look(h, 1, 0);
        pthread_mutex_lock(&h->lock);
    }
    while (h->copying > 0) pthread_cond_wait(&h->changed, &h->lock);
    pthread_mutex_unlock(&h->lock);
}

static gpuopt_status all_gather(void *user, double seconds, gpuopt_memory_space where, const void *send, uint64_t bytes,
                                void *receive) {
    (void)where;
    const member *m = user;
    gpuopt_status status = meet(m, seconds, send);
    int32_t r;
    if (status) return status;
    for (r = 0; r < m->hub->count; r++) memcpy((char *)receive + (uint64_t)r * bytes, m->hub->data[r], (size_t)bytes);
    leave(m);
    return GPUOPT_OK;
}

static gpuopt_status broadcast(void *user, double seconds, gpuopt_memory_space where, int32_t root, void *data,
                               uint64_t bytes) {
    (void)where;
    const member *m = user;
    gpuopt_status status = meet(m, seconds, data);
    if (status) return status;
    if (m->rank != root) memcpy(data, m->hub->data[root], (size_t)bytes);
    leave(m);
    return GPUOPT_OK;
}

/* ---- From rank to rank ---- */

static gpuopt_status send(void *user, double seconds, gpuopt_memory_space where, int32_t to, const void *data,
                          uint64_t bytes) {
    (void)where;
    const member *m = user;
    hub *h = m->hub;
    letter *l = &h->letter[(int64_t)m->rank * h->count + to];
    struct timespec until = after(seconds);
    gpuopt_status status = GPUOPT_ERROR_PEER;
    pthread_mutex_lock(&h->lock);
    if (!h->lost) {
        l->data = data;
        l->bytes = bytes;
        pthread_cond_broadcast(&h->changed);
        while (l->bytes > 0 && !h->lost)
            if (is_late(h, &until) && l->bytes > 0) lose(h);
        if (l->bytes == 0) {
            while (l->data) pthread_cond_wait(&h->changed, &h->lock);
            status = GPUOPT_OK;
        }
        l->data = NULL;
        l->bytes = 0;
    }
    pthread_mutex_unlock(&h->lock);
    return status;
}

/* The sender waits for the end of the copy, so its data stay. */
static gpuopt_status receive(void *user, double seconds, gpuopt_memory_space where, int32_t from, void *data,
                             uint64_t bytes) {
    (void)where;
    const member *m = user;
    hub *h = m->hub;
    letter *l = &h->letter[(int64_t)from * h->count + m->rank];
    struct timespec until = after(seconds);
    gpuopt_status status = GPUOPT_ERROR_PEER;
    pthread_mutex_lock(&h->lock);
    while (l->bytes == 0 && !h->lost)
        if (is_late(h, &until) && l->bytes == 0) lose(h);
    if (!h->lost && l->bytes == bytes) {
        l->bytes = 0;
        pthread_mutex_unlock(&h->lock);
        memcpy(data, l->data, (size_t)bytes);
        pthread_mutex_lock(&h->lock);
        l->data = NULL;
        pthread_cond_broadcast(&h->changed);
        status = GPUOPT_OK;
    } else {
        lose(h);
    }
    pthread_mutex_unlock(&h->lock);
    return status;
}

static void abandon(void *user) {
    hub *h = ((const member *)user)->hub;
    pthread_mutex_lock(&h->lock);
    lose(h);
    pthread_mutex_unlock(&h->lock);
}

/* ---- Life ---- */

static int make_locks(hub *h) {
    pthread_condattr_t attributes;
    int failed;
    if (pthread_condattr_init(&attributes)) return -1;
    failed = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) || pthread_cond_init(&h->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    if (failed) return -1;
    if (!pthread_mutex_init(&h->lock, NULL)) return 0;
    pthread_cond_destroy(&h->changed);
    return -1;
}

static void free_hub(hub *h) {
    if (h) free(h->data), free(h->letter), free(h->member);
    free(h);
}

gpuopt_status gpuopt_threads_open(int32_t count, gpuopt_transport *transport) {
    hub *h;
    int32_t r;
    if (!transport || count < 1 || count > 65536) return GPUOPT_ERROR_ARGUMENT;
    h = calloc(1, sizeof *h);
    if (!h) return GPUOPT_ERROR_MEMORY;
    h->count = count;
    h->data = calloc((size_t)count, sizeof *h->data);
    h->letter = calloc((size_t)count, (size_t)count * sizeof *h->letter);
    h->member = calloc((size_t)count, sizeof *h->member);
    if (!h->data || !h->letter || !h->member || make_locks(h)) {
        free_hub(h);
        return GPUOPT_ERROR_MEMORY;
    }
    for (r = 0; r < count; r++) {
        gpuopt_transport t = GPUOPT_INIT(gpuopt_transport);
        h->member[r].hub = h;
        h->member[r].rank = r;
        t.user = &h->member[r];
        t.rank = r;
        t.count = count;
        t.all_gather = all_gather;
        t.broadcast = broadcast;
        t.send = send;
        t.receive = receive;
        t.abort = abandon;
        transport[r] = t;
    }
    return GPUOPT_OK;
}

void gpuopt_threads_close(gpuopt_transport *transport) {
    hub *h;
    if (!transport || !transport->user) return;
    h = ((const member *)transport->user)->hub;
    pthread_mutex_destroy(&h->lock);
    pthread_cond_destroy(&h->changed);
    free_hub(h);
}
