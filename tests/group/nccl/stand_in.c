/* SPDX-License-Identifier: MIT
 *
 * A stand-in for libnccl.so.2 over threads of one process and the emulated CUDA runtime; the program exports the
 * runtime's functions to it. It imitates NCCL:
 * - Calls of nonblocking communicators are processed later, when their state is queried.
 * - An operation is done on the stream once all its ranks have reached it. If some do not, or reach another operation,
 *   it waits until the communicator is aborted.
 * - A rank that aborts does not notify the others; two ranks on one device are refused.
 * Where NCCL's behaviour would be undefined, the process ends with a message: a freed communicator, a call while
 * another one is being processed, memory of the caller or of another device, sizes or roots that differ, a communicator
 * left at the end of the process, NVLink multicast not switched off.
 * STAND_IN_FAIL=N: of the calls that open or exchange, number N after this variable was set, 1 the first, fails.
 * STAND_IN_VERSION=N: ncclGetVersion returns N. STAND_IN_SLOW=N: ncclCommInitRankConfig takes N milliseconds.
 */
#define _POSIX_C_SOURCE 200809L
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RANKS = 8, OK = 0, UNHANDLED = 1, SYSTEM = 2, USAGE = 5, PROGRESS = 7 };
typedef enum kind { GATHER = 1, BROADCAST, SEND, RECEIVE } kind;

/* One rank's part of an operation. */
typedef struct part {
    kind kind;
    int peer, rank, arrived;
    size_t bytes;
    const char *from;
    char *to, *data; /* data: the data it sends, copied when the stream reached it */
    uint32_t done;   /* the stream waits for 1 */
    struct ncclComm *comm;
    struct part *next;
} part;

typedef struct clique {
    char id[128];
    int count, joined, failed, live, device[RANKS];
    struct ncclComm *comm[RANKS];
    struct clique *next;
} clique;

struct ncclComm {
    clique *all;
    int rank, freed, aborted, finalized, state, asked;
    part *waiting;       /* not taken yet */
    part *first, **last; /* taken, in order */
    CUstream stream;
};

typedef struct ncclComm *ncclComm_t;
typedef struct {
    char internal[128];
} ncclUniqueId;
typedef struct {
    size_t size;
    unsigned magic, version;
    int blocking;
} config;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static clique *cliques;
static int ids, live, taken;

static void wrong(const char *what) {
    fprintf(stderr, "stand-in for NCCL: %s\n", what);
    abort();
}

static void at_end(void) {
    if (live) wrong("a communicator is left at the end of the process");
}

int ncclGetVersion(int *version) {
    const char *as = getenv("STAND_IN_VERSION");
    *version = as ? atoi(as) : 22809;
    return OK;
}

const char *ncclGetErrorString(int result) {
    return result == SYSTEM ? "a system error" : result == USAGE ? "invalid usage" : "another error";
}

int ncclGetUniqueId(ncclUniqueId *id) {
    const char *multicast = getenv("NCCL_NVLS_ENABLE");
    if (!multicast || strcmp(multicast, "0") != 0) wrong("NVLink multicast is not switched off");
    pthread_mutex_lock(&lock);
    memset(id, 0, sizeof *id);
    snprintf(id->internal, sizeof id->internal, "stand-in %ld %d", (long)pthread_self(), ++ids);
    if (ids == 1) atexit(at_end);
    pthread_mutex_unlock(&lock);
    return OK;
}

static int fails(void) {
    static int number;
    const char *at = getenv("STAND_IN_FAIL");
    if (number != (at ? atoi(at) : 0)) number = at ? atoi(at) : 0, taken = 0;
    return number > 0 && ++taken == number;
}

int ncclCommInitRankConfig(ncclComm_t *comm, int count, ncclUniqueId id, int rank, config *c) {
    clique *k;
    const char *slow = getenv("STAND_IN_SLOW");
    const struct timespec pause = {0, slow ? atol(slow) * 1000000 : 0};
    if (c->magic != 0xcafebeef || c->blocking || c->version < 21400) wrong("the configuration is wrong");
    if (count < 1 || count > RANKS || rank < 0 || rank >= count) wrong("rank or count is out of range");
    *comm = NULL;
    nanosleep(&pause, NULL);
    pthread_mutex_lock(&lock);
    for (k = cliques; k && memcmp(k->id, id.internal, sizeof k->id) != 0; k = k->next) continue;
    if (!k) {
        k = calloc(1, sizeof *k);
        memcpy(k->id, id.internal, sizeof k->id);
        k->count = count;
        k->next = cliques;
        cliques = k;
    }
    if (k->count != count || k->comm[rank]) wrong("count differs, or a rank comes twice");
    *comm = calloc(1, sizeof **comm);
    (*comm)->all = k;
    (*comm)->rank = rank;
    (*comm)->last = &(*comm)->first;
    (*comm)->state = fails() ? SYSTEM : PROGRESS;
    cudaGetDevice(&k->device[rank]);
    k->comm[rank] = *comm;
    for (int r = 0; r < count; r++)
        if (r != rank && k->comm[r] && k->device[r] == k->device[rank]) k->failed = USAGE;
    k->joined++;
    live++;
    pthread_mutex_unlock(&lock);
    return PROGRESS;
}

/* ---- Operations ---- */

/* The next unfinished part of a rank: a message to or from rank `peer` (kind SEND or RECEIVE), or else its part of a
 * collective operation. NULL if the stream has not reached it. */
static part *next_of(const struct ncclComm *c, kind k, int peer) {
    part *p;
    for (p = c->first; p; p = p->next)
        if (!p->done && (k <= BROADCAST ? p->kind <= BROADCAST : p->kind == k && p->peer == peer)) break;
    return p && p->arrived ? p : NULL;
}

static void finish(part *p) { __atomic_store_n(&p->done, 1, __ATOMIC_RELEASE); }

/* Checks whether a part that has reached the head of the stream completes an operation. With the lock held. */
static void match(part *p) {
    clique *k = p->comm->all;
    part *of[RANKS];
    int r, s;
    if (p->kind >= SEND) {
        part *q;
        if (!k->comm[p->peer] || k->comm[p->peer]->aborted) return;
        if (next_of(p->comm, p->kind, p->peer) != p) return;
        q = next_of(k->comm[p->peer], p->kind == SEND ? RECEIVE : SEND, p->rank);
        if (!q) return;
        if (p->bytes != q->bytes) wrong("a message is sent and received with different sizes");
        memcpy(p->kind == SEND ? q->to : p->to, p->kind == SEND ? p->data : q->data, p->bytes);
        finish(p);
        finish(q);
        return;
    }
    for (r = 0; r < k->count; r++) {
        of[r] = k->comm[r] && !k->comm[r]->aborted ? next_of(k->comm[r], GATHER, 0) : NULL;
        if (!of[r] || of[r]->kind != p->kind) return; /* another operation: a deadlock */
        if (of[r]->bytes != p->bytes || of[r]->peer != p->peer) wrong("sizes or roots of ranks differ");
    }
    for (r = 0; r < k->count; r++) {
        for (s = 0; p->kind == GATHER && s < k->count; s++)
            memcpy(of[r]->to + (size_t)s * p->bytes, of[s]->data, p->bytes);
        if (p->kind == BROADCAST) memcpy(of[r]->to, of[p->peer]->data, p->bytes);
    }
    for (r = 0; r < k->count; r++) finish(of[r]);
}

/* On the stream. */
static void arrive(void *argument) {
    part *p = argument;
    pthread_mutex_lock(&lock);
    p->arrived = 1;
    if (p->from) memcpy(p->data = malloc(p->bytes), p->from, p->bytes);
    if (p->comm->aborted) finish(p);
    else match(p);
    pthread_mutex_unlock(&lock);
}

static struct ncclComm *usable(ncclComm_t c) {
    if (!c || c->freed) wrong("a communicator that was freed is used");
    return c;
}

static int add(ncclComm_t c, kind k, int peer, const void *from, void *to, size_t bytes, int type, CUstream stream) {
    struct cudaPointerAttributes a;
    part *p;
    int device;
    usable(c);
    cudaGetDevice(&device);
    if (c->state == PROGRESS || c->finalized) wrong("a call while another one is being taken, or after the last one");
    if (type != 1 || !bytes || peer < 0 || peer >= c->all->count) wrong("type, size or rank is wrong");
    if (k >= SEND && peer == c->rank) wrong("a rank sends to itself");
    if (device != c->all->device[c->rank]) wrong("another device is current");
    for (int side = 0; side < 2; side++) {
        const void *memory = side ? to : from;
        if (memory && (cudaPointerGetAttributes(&a, memory) || a.type != cudaMemoryTypeDevice || a.device != device))
            wrong("a buffer is not in this device's memory");
    }
    pthread_mutex_lock(&lock);
    if (fails()) {
        pthread_mutex_unlock(&lock);
        return SYSTEM;
    }
    p = calloc(1, sizeof *p);
    p->kind = k;
    p->peer = peer;
    p->rank = c->rank;
    p->bytes = bytes;
    p->from = k == BROADCAST && peer != c->rank ? NULL : from;
    p->to = to;
    p->comm = c;
    *c->last = p;
    c->last = &p->next;
    c->waiting = p;
    c->stream = stream;
    c->state = PROGRESS;
    c->asked = 0;
    pthread_mutex_unlock(&lock);
    return PROGRESS;
}

int ncclAllGather(const void *send, void *receive, size_t count, int type, ncclComm_t c, CUstream stream) {
    return add(c, GATHER, 0, send, receive, count, type, stream);
}
int ncclBroadcast(const void *send, void *receive, size_t count, int type, int root, ncclComm_t c, CUstream stream) {
    return add(c, BROADCAST, root, send, receive, count, type, stream);
}
int ncclSend(const void *send, size_t count, int type, int peer, ncclComm_t c, CUstream stream) {
    return add(c, SEND, peer, send, NULL, count, type, stream);
}
int ncclRecv(void *receive, size_t count, int type, int peer, ncclComm_t c, CUstream stream) {
    return add(c, RECEIVE, peer, NULL, receive, count, type, stream);
}

/* ---- States and ends ---- */

/* Processes a call at the third query of its state; opening is done when all ranks are there. */
int ncclCommGetAsyncError(ncclComm_t c, int *state) {
    part *p = NULL;
    usable(c);
    pthread_mutex_lock(&lock);
    if (c->state == PROGRESS && c->waiting && ++c->asked == 3) p = c->waiting, c->waiting = NULL;
    else if (c->state == PROGRESS && !c->waiting && c->asked < 3 && c->all->failed) c->state = c->all->failed;
    else if (c->state == PROGRESS && !c->waiting && c->all->joined == c->all->count) c->state = OK;
    *state = p ? PROGRESS : c->state;
    pthread_mutex_unlock(&lock);
    if (!p) return OK;
    cudaLaunchHostFunc(c->stream, arrive, p);
    cuStreamWaitValue32(c->stream, (CUdeviceptr)(uintptr_t)&p->done, 1, CU_STREAM_WAIT_VALUE_EQ);
    pthread_mutex_lock(&lock);
    *state = c->state = OK;
    pthread_mutex_unlock(&lock);
    return OK;
}

/* The memory of a communicator and its parts stays allocated, so that the use of a freed one is noticed. */
static int end(ncclComm_t c, int aborts) {
    part *p;
    usable(c);
    pthread_mutex_lock(&lock);
    for (p = c->first; p; p = p->next) {
        if (!aborts && !p->done) wrong("a communicator is destroyed while an operation is under way");
        finish(p);
    }
    c->aborted = aborts;
    c->freed = 1;
    live--;
    pthread_mutex_unlock(&lock);
    return OK;
}

int ncclCommAbort(ncclComm_t c) { return end(c, 1); }

int ncclCommFinalize(ncclComm_t c) {
    usable(c)->finalized = 1;
    return OK;
}

int ncclCommDestroy(ncclComm_t c) {
    if (!usable(c)->finalized) wrong("a nonblocking communicator is destroyed before it is finalized");
    return end(c, 0);
}
