/* SPDX-License-Identifier: MIT
 *
 * An exchange is one or several calls of NCCL on a stream of its own. Arrays in host memory are copied to the device
 * before each and from there after it; those in device memory NCCL gets as they are. All is asynchronous: the caller
 * looks at the stream, at the communicator (which is a nonblocking one) and at the page of lost ranks until the call is
 * done, the time is up, or somebody is lost; then it aborts the communicator. So it never is in a call that waits.
 */
#define _POSIX_C_SOURCE 200809L
#include "transports/gpuopt_nccl.h"

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* ---- NCCL, as far as it is used; these do not change within version 2 ---- */

typedef struct ncclComm *nccl_comm;
typedef struct nccl_id {
    char bytes[GPUOPT_NCCL_ID];
} nccl_id;
/* What the configuration was in 2.14; later versions take the defaults for what they have added. */
typedef struct nccl_config {
    size_t size;
    unsigned magic, version;
    int blocking;
} nccl_config;
enum { NCCL_OK = 0, NCCL_SYSTEM_ERROR = 2, NCCL_REMOTE_ERROR = 6, NCCL_IN_PROGRESS = 7 };
enum { NCCL_2_14 = 21400, NCCL_BYTE = 1 };

typedef struct nccl_library {
    int (*version)(int *version);
    int (*unique_id)(nccl_id *id);
    int (*init)(nccl_comm *comm, int count, nccl_id id, int rank, nccl_config *config);
    int (*state)(nccl_comm comm, int *state);
    int (*finalize)(nccl_comm comm);
    int (*destroy)(nccl_comm comm);
    int (*cancel)(nccl_comm comm);
    int (*all_gather)(const void *send, void *receive, size_t count, int type, nccl_comm comm, cudaStream_t stream);
    int (*broadcast)(const void *send, void *receive, size_t count, int type, int root, nccl_comm comm,
                     cudaStream_t stream);
    int (*send)(const void *send, size_t count, int type, int peer, nccl_comm comm, cudaStream_t stream);
    int (*receive)(void *receive, size_t count, int type, int peer, nccl_comm comm, cudaStream_t stream);
    const char *(*words)(int result);
} nccl_library;

/* The driver's stack of contexts, which leaves the thread's current one alone. */
typedef struct cuda_driver {
    CUresult (*push)(CUcontext context);
    CUresult (*pop)(CUcontext *context);
    CUresult (*retain)(CUcontext *context, CUdevice device);
    CUresult (*release)(CUdevice device);
} cuda_driver;

/* The first piece of an exchange has SMALL bytes, which begin with a head. */
typedef struct head {
    uint64_t bytes, call;
} head;
enum { SMALL = 1024, ROOM = 4 << 20 };

typedef enum call { GATHER = 1, BROADCAST, SEND, RECEIVE } call;

typedef struct nccl_rank {
    nccl_library nccl;
    cuda_driver cuda;
    CUcontext context; /* the primary one of the device */
    cudaStream_t stream;
    nccl_comm comm; /* NULL: there is none, or it was aborted */
    int device, rank, count, lost;
    double patience;
    uint64_t capacity;           /* bytes for what is received; there are ROOM for what is sent */
    char *pinned, *buffer;       /* [ROOM + capacity] host, device: sent, received */
    _Atomic unsigned char *page; /* [1] whether a rank of this machine is lost; NULL: none could be had */
    char path[64];               /* of the page's file */
} nccl_rank;

static _Thread_local char last_error[256];

const char *gpuopt_nccl_error(void) { return last_error; }

static gpuopt_status fail(gpuopt_status status, const char *what, const char *why) {
    snprintf(last_error, sizeof last_error, "%s: %s", what, why);
    return status;
}

static gpuopt_status cuda_failed(const char *what, cudaError_t error) {
    return fail(error == cudaErrorMemoryAllocation ? GPUOPT_ERROR_MEMORY : GPUOPT_ERROR_DEVICE, what,
                cudaGetErrorString(error));
}

static gpuopt_status nccl_failed(const nccl_library *l, const char *what, int result) {
    return fail(result == NCCL_REMOTE_ERROR || result == NCCL_SYSTEM_ERROR ? GPUOPT_ERROR_PEER : GPUOPT_ERROR_DEVICE,
                what, l->words(result));
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- Loading ---- */

/* Finds NCCL, for one thread of this process at a time: getenv() and setenv() may not meet. */
static void *open_nccl(void) {
    static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
    const char *path;
    void *library;
    pthread_mutex_lock(&one);
    setenv("NCCL_NVLS_ENABLE", "0", 0);
    path = getenv("GPUOPT_NCCL_LIBRARY");
    library = dlopen(path && *path ? path : "libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
    pthread_mutex_unlock(&one);
    return library;
}

static gpuopt_status load_nccl(nccl_library *l) {
    static const char *const name[] = {
        "ncclGetVersion",  "ncclGetUniqueId",   "ncclCommInitRankConfig", "ncclCommGetAsyncError", "ncclCommFinalize",
        "ncclCommDestroy", "ncclCommAbort",     "ncclAllGather",          "ncclBroadcast",         "ncclSend",
        "ncclRecv",        "ncclGetErrorString"};
    void *const library = open_nccl(), *found;
    int version = 0;
    size_t k;
    if (!library) return fail(GPUOPT_ERROR_UNSUPPORTED, "NCCL cannot be loaded", dlerror());
    for (k = 0; k < sizeof name / sizeof *name; k++) {
        found = dlsym(library, name[k]);
        if (!found) return fail(GPUOPT_ERROR_UNSUPPORTED, name[k], "not in this NCCL; 2.14 or later is needed");
        memcpy((char *)l + k * sizeof found, &found, sizeof found);
    }
    if (l->version(&version) || version < NCCL_2_14 || version >= 30000)
        return fail(GPUOPT_ERROR_UNSUPPORTED, "ncclGetVersion", "not 2.14 or a later version 2");
    return GPUOPT_OK;
}

static gpuopt_status load_driver(cuda_driver *d) {
    static const struct {
        const char *name;
        unsigned version;
    } all[] = {{"cuCtxPushCurrent", 4000},
               {"cuCtxPopCurrent", 4000},
               {"cuDevicePrimaryCtxRetain", 7000},
               {"cuDevicePrimaryCtxRelease", 11000}};
    size_t k;
    for (k = 0; k < sizeof all / sizeof *all; k++) {
        void *found = NULL;
        enum cudaDriverEntryPointQueryResult result = cudaDriverEntryPointSymbolNotFound;
#if CUDART_VERSION >= 12050
        cudaError_t error =
            cudaGetDriverEntryPointByVersion(all[k].name, &found, all[k].version, cudaEnableDefault, &result);
#else
        cudaError_t error = cudaGetDriverEntryPoint(all[k].name, &found, cudaEnableDefault, &result);
#endif
        if (error) return cuda_failed(all[k].name, error);
        if (!found) return fail(GPUOPT_ERROR_DEVICE, all[k].name, "not in this driver");
        memcpy((char *)d + k * sizeof found, &found, sizeof found);
    }
    return GPUOPT_OK;
}

/* Makes the device's context current, until leave(), which keeps this file's errors from the caller. */
static int enter(const nccl_rank *n, int *pending) {
    *pending = cudaPeekAtLastError() != cudaSuccess;
    return n->cuda.push(n->context) == CUDA_SUCCESS;
}
static void leave(const nccl_rank *n, int pending) {
    CUcontext ours;
    if (!pending) (void)cudaGetLastError();
    n->cuda.pop(&ours);
}

/* ---- Lost ranks ---- */

/* A page that ranks of this machine share; its name is a hash of the id. */
static void make_page(nccl_rank *n, const unsigned char *id) {
    uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */
    void *page = MAP_FAILED;
    int k, file;
    for (k = 0; k < GPUOPT_NCCL_ID; k++) hash = (hash ^ id[k]) * 0x100000001b3u;
    snprintf(n->path, sizeof n->path, "/dev/shm/gpuopt-nccl-%016llx", (unsigned long long)hash);
    file = open(n->path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file < 0) return;
    /* With capacity for it: on a full /dev/shm the first access to a page without would be a SIGBUS. */
    if (!posix_fallocate(file, 0, 1)) page = mmap(NULL, 1, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    n->page = page == MAP_FAILED ? NULL : page;
}

/* Gives up, notifies the others, and ends what the device waits for. */
static gpuopt_status lose(nccl_rank *n, gpuopt_status status) {
    n->lost = 1;
    if (n->page) *n->page = 1;
    if (n->comm) n->nccl.cancel(n->comm);
    n->comm = NULL;
    return status;
}

/* Waits until NCCL has taken the last call, and with `stream` until that is done, too. */
static gpuopt_status wait_for(nccl_rank *n, double until, int stream) {
    int turn;
    for (turn = 1;; turn++) {
        cudaError_t done = stream ? cudaStreamQuery(n->stream) : cudaSuccess;
        int state = NCCL_OK, result = n->nccl.state(n->comm, &state);
        if (!result && state != NCCL_IN_PROGRESS) result = state;
        if (result) return lose(n, nccl_failed(&n->nccl, "NCCL", result));
        if (done && done != cudaErrorNotReady) return lose(n, cuda_failed("an exchange", done));
        if (!done && !state) return GPUOPT_OK;
        if (n->page && *n->page) return lose(n, fail(GPUOPT_ERROR_PEER, "an exchange", "another rank has given up"));
        if (now() > until) return lose(n, fail(GPUOPT_ERROR_PEER, "an exchange", "the time limit"));
        if (turn % 32 == 0) sched_yield();
    }
}

/* Waits for the stream, if need be without NCCL, but not for ever. */
static cudaError_t drain(const nccl_rank *n, double until) {
    cudaError_t done = cudaSuccess;
    while (n->stream && (done = cudaStreamQuery(n->stream)) == cudaErrorNotReady && now() < until) sched_yield();
    return done;
}

/* ---- Exchanges ---- */

typedef struct exchange {
    call call;
    int peer, device; /* device: the arrays are in device memory */
    const char *give; /* [bytes]; NULL: this rank gives nothing */
    char *take;       /* [givers][bytes]; NULL: it takes nothing */
    uint64_t bytes, givers;
    double until;
} exchange;

/* How often pieces are enqueued before the caller waits for them: the driver would not take any number. */
enum { AHEAD = 64 };

static gpuopt_status copy(nccl_rank *n, void *to, const void *from, uint64_t bytes) {
    cudaError_t error = cudaMemcpyAsync(to, from, (size_t)bytes, cudaMemcpyDefault, n->stream);
    return error ? lose(n, cuda_failed("a copy", error)) : GPUOPT_OK;
}

/* One call of NCCL between buffers of the device. Afterwards the stream has all that it needs for that. */
static gpuopt_status move(nccl_rank *n, const exchange *e, const char *from, char *to, uint64_t bytes) {
    int result = NCCL_OK;
    switch (e->call) {
    case GATHER: result = n->nccl.all_gather(from, to, (size_t)bytes, NCCL_BYTE, n->comm, n->stream); break;
    case BROADCAST: result = n->nccl.broadcast(from, to, (size_t)bytes, NCCL_BYTE, e->peer, n->comm, n->stream); break;
    case SEND: result = n->nccl.send(from, (size_t)bytes, NCCL_BYTE, e->peer, n->comm, n->stream); break;
    case RECEIVE: result = n->nccl.receive(to, (size_t)bytes, NCCL_BYTE, e->peer, n->comm, n->stream); break;
    }
    if (result && result != NCCL_IN_PROGRESS) return lose(n, nccl_failed(&n->nccl, "NCCL", result));
    return wait_for(n, e->until, 0); /* before that the stream has no kernel that a later copy could wait for */
}

/* Puts `part` bytes of each giver, which have come behind `skip` bytes of `stride`, to their place. */
static gpuopt_status put(nccl_rank *n, const exchange *e, uint64_t at, uint64_t skip, uint64_t stride, uint64_t part) {
    cudaError_t error;
    uint64_t r;
    if (!e->take) return GPUOPT_OK;
    if (e->device) {
        error = cudaMemcpy2DAsync(e->take + at, (size_t)e->bytes, n->buffer + ROOM + skip, (size_t)stride, (size_t)part,
                                  (size_t)e->givers, cudaMemcpyDeviceToDevice, n->stream);
        return error ? lose(n, cuda_failed("a copy", error)) : GPUOPT_OK;
    }
    for (r = 0; r < e->givers; r++)
        memcpy(e->take + r * e->bytes + at, n->pinned + ROOM + r * stride + skip, (size_t)part);
    return GPUOPT_OK;
}

/* The first piece has a head, from which the ranks see whether all mean the same. */
static gpuopt_status pass_first(nccl_rank *n, const exchange *e, uint64_t part) {
    const head own = {e->bytes, e->call == GATHER || e->call == BROADCAST ? (uint64_t)e->call : (uint64_t)SEND};
    gpuopt_status status = GPUOPT_OK;
    uint64_t r;
    memcpy(n->pinned, &own, sizeof own);
    if (e->give && !e->device) memcpy(n->pinned + sizeof own, e->give, (size_t)part);
    if (e->give) status = copy(n, n->buffer, n->pinned, SMALL);
    if (!status && e->give && e->device) status = copy(n, n->buffer + sizeof own, e->give, part);
    if (!status) status = move(n, e, n->buffer, n->buffer + ROOM, SMALL);
    if (!status && e->take) status = copy(n, n->pinned + ROOM, n->buffer + ROOM, SMALL * e->givers);
    if (!status) status = wait_for(n, e->until, 1);
    for (r = 0; r < e->givers && !status && e->take; r++)
        if (memcmp(n->pinned + ROOM + r * SMALL, &own, sizeof own) != 0)
            status = lose(n, fail(GPUOPT_ERROR_PEER, "an exchange", "a rank gives another number of bytes"));
    return status ? status : put(n, e, 0, sizeof own, SMALL, part);
}

/* Any other piece of arrays in host memory. */
static gpuopt_status pass_host(nccl_rank *n, const exchange *e, uint64_t at, uint64_t part) {
    gpuopt_status status = GPUOPT_OK;
    if (e->give) {
        memcpy(n->pinned, e->give + at, (size_t)part);
        status = copy(n, n->buffer, n->pinned, part);
    }
    if (!status) status = move(n, e, n->buffer, n->buffer + ROOM, part);
    if (!status && e->take) status = copy(n, n->pinned + ROOM, n->buffer + ROOM, part * e->givers);
    if (!status) status = wait_for(n, e->until, 1);
    return status ? status : put(n, e, at, 0, part, part);
}

/* Any other piece of arrays in device memory, which may be on its way yet: the stream keeps the order. What a rank
 * takes from itself stays where it is. */
static gpuopt_status pass_device(nccl_rank *n, const exchange *e, uint64_t at, uint64_t part) {
    const char *from = e->give ? e->give + at : n->buffer;
    gpuopt_status status;
    if (e->call == GATHER) {
        status = move(n, e, from, n->buffer + ROOM, part);
        return status ? status : put(n, e, at, 0, part, part);
    }
    return move(n, e, from, e->take ? e->take + at : (char *)from, part);
}

/* An array that is in device memory must be in this device's. */
static gpuopt_status check_device(nccl_rank *n, const void *array) {
    struct cudaPointerAttributes found;
    cudaError_t error = array ? cudaPointerGetAttributes(&found, array) : cudaSuccess;
    if (error) return lose(n, cuda_failed("cudaPointerGetAttributes", error));
    if (!array || found.type == cudaMemoryTypeManaged ||
        (found.type == cudaMemoryTypeDevice && found.device == n->device))
        return GPUOPT_OK;
    return lose(n, fail(GPUOPT_ERROR_UNSUPPORTED, "an exchange", "an array is not in this device's memory"));
}

/* The whole of an exchange: give [bytes] or NULL, and take [bytes of each rank that gives] or NULL. */
static gpuopt_status run(nccl_rank *n, double seconds, gpuopt_memory_space where, call c, int peer, const void *give,
                         uint64_t bytes, void *take) {
    const int device = where == GPUOPT_DEVICE;
    const exchange e = {c, peer, device, give, take, bytes, c == GATHER ? (uint64_t)n->count : 1, now() + seconds};
    const uint64_t most = c == GATHER ? n->capacity / e.givers / 256 * 256 : ROOM; /* of a piece after the first */
    gpuopt_status status;
    uint64_t at, part;
    int pending, turn;
    if (n->lost) return fail(GPUOPT_ERROR_PEER, "an exchange", "a rank was lost before");
    if (!enter(n, &pending)) return lose(n, fail(GPUOPT_ERROR_DEVICE, "cuCtxPushCurrent", "failed"));
    status = device ? check_device(n, give) : GPUOPT_OK;
    if (!status && device) status = check_device(n, take);
    for (at = 0, turn = 0; !status && at < bytes; at += part, turn++) {
        const uint64_t capacity = at ? most : SMALL - sizeof(head);
        part = bytes - at < capacity ? bytes - at : capacity;
        if (n->page && *n->page) status = lose(n, fail(GPUOPT_ERROR_PEER, "an exchange", "another rank has given up"));
        else if (at == 0) status = pass_first(n, &e, part);
        else status = device ? pass_device(n, &e, at, part) : pass_host(n, &e, at, part);
        if (!status && turn % AHEAD == AHEAD - 1) status = wait_for(n, e.until, 1);
    }
    if (!status) status = wait_for(n, e.until, 1);
    if (status && device) drain(n, now() + seconds); /* so that the arrays may be freed */
    leave(n, pending);
    return status;
}

static gpuopt_status all_gather(void *user, double seconds, gpuopt_memory_space where, const void *send, uint64_t bytes,
                                void *receive) {
    return run(user, seconds, where, GATHER, 0, send, bytes, receive);
}
static gpuopt_status broadcast(void *user, double seconds, gpuopt_memory_space where, int32_t root, void *data,
                               uint64_t bytes) {
    int gives = root == ((const nccl_rank *)user)->rank;
    return run(user, seconds, where, BROADCAST, root, gives ? data : NULL, bytes, gives ? NULL : data);
}
static gpuopt_status send(void *user, double seconds, gpuopt_memory_space where, int32_t to, const void *data,
                          uint64_t bytes) {
    return run(user, seconds, where, SEND, to, data, bytes, NULL);
}
static gpuopt_status receive(void *user, double seconds, gpuopt_memory_space where, int32_t from, void *data,
                             uint64_t bytes) {
    return run(user, seconds, where, RECEIVE, from, NULL, bytes, data);
}

static void abandon(void *user) {
    nccl_rank *n = user;
    int pending;
    if (n->lost) return;
    n->lost = 1;
    if (n->page) *n->page = 1;
    if (!enter(n, &pending)) return;
    lose(n, GPUOPT_ERROR_PEER);
    leave(n, pending);
}

/* ---- Life ---- */

gpuopt_status gpuopt_nccl_unique_id(unsigned char id[GPUOPT_NCCL_ID]) {
    nccl_library l;
    nccl_id made;
    gpuopt_status status;
    int result;
    if (!id) return fail(GPUOPT_ERROR_ARGUMENT, "id", "is NULL");
    status = load_nccl(&l);
    if (status) return status;
    result = l.unique_id(&made);
    if (result) return fail(GPUOPT_ERROR_DEVICE, "ncclGetUniqueId", l.words(result));
    memcpy(id, made.bytes, GPUOPT_NCCL_ID);
    return GPUOPT_OK;
}

static gpuopt_status make(nccl_rank *n, const unsigned char *id, double until) {
    nccl_config config = {sizeof config, 0xcafebeefu, NCCL_2_14, 0};
    cudaError_t error = cudaStreamCreateWithFlags(&n->stream, cudaStreamNonBlocking);
    nccl_id name;
    int result;
    if (!error) error = cudaMalloc((void **)&n->buffer, (size_t)(ROOM + n->capacity));
    if (!error) error = cudaHostAlloc((void **)&n->pinned, (size_t)(ROOM + n->capacity), cudaHostAllocDefault);
    if (error) return cuda_failed("buffers and a stream", error);
    memset(n->pinned, 0, SMALL);
    memcpy(name.bytes, id, GPUOPT_NCCL_ID);
    result = n->nccl.init(&n->comm, n->count, name, n->rank, &config);
    if (result && result != NCCL_IN_PROGRESS) return nccl_failed(&n->nccl, "ncclCommInitRankConfig", result);
    return wait_for(n, until, 0);
}

/* Frees all that there is. What the device may still use by then stays. */
static void unmake(nccl_rank *n, double until) {
    if (drain(n, until) != cudaErrorNotReady) {
        if (n->stream) cudaStreamDestroy(n->stream);
        cudaFree(n->buffer);
        cudaFreeHost(n->pinned);
    }
    if (n->page) munmap((void *)n->page, 1);
}

gpuopt_status gpuopt_nccl_open(const unsigned char id[GPUOPT_NCCL_ID], int32_t rank, int32_t count, int device,
                               double seconds, gpuopt_transport *transport) {
    gpuopt_transport t = GPUOPT_INIT(gpuopt_transport);
    const double until = now() + seconds;
    gpuopt_status status;
    nccl_rank *n;
    int pending;
    if (!id || !transport || count < 1 || count > 65536 || rank < 0 || rank >= count || device < 0 ||
        !(seconds >= 1e-3 && seconds <= 1e9))
        return fail(GPUOPT_ERROR_ARGUMENT, "gpuopt_nccl_open", "an argument is NULL or out of range");
    n = calloc(1, sizeof *n);
    if (!n) return fail(GPUOPT_ERROR_MEMORY, "gpuopt_nccl_open", "malloc");
    n->device = device;
    n->rank = rank;
    n->count = count;
    n->patience = seconds;
    n->capacity = (uint64_t)count * SMALL > ROOM ? (uint64_t)count * SMALL : ROOM;
    status = load_nccl(&n->nccl);
    if (!status) status = load_driver(&n->cuda);
    if (!status && n->cuda.retain(&n->context, device) != CUDA_SUCCESS)
        status = fail(GPUOPT_ERROR_DEVICE, "cuDevicePrimaryCtxRetain", "there is no such device, or it failed");
    if (status) {
        free(n);
        return status;
    }
    make_page(n, id);
    if (!enter(n, &pending)) status = fail(GPUOPT_ERROR_DEVICE, "cuCtxPushCurrent", "failed");
    else {
        status = make(n, id, until);
        unlink(n->path); /* all ranks have opened it, or it will not be used */
        if (status) {
            lose(n, status);
            unmake(n, until);
        }
        leave(n, pending);
    }
    if (status) {
        n->cuda.release(device);
        free(n);
        return status;
    }
    t.user = n;
    t.rank = rank;
    t.count = count;
    t.all_gather = all_gather;
    t.broadcast = broadcast;
    t.send = send;
    t.receive = receive;
    t.abort = abandon;
    t.device_memory = device + 1;
    *transport = t;
    return GPUOPT_OK;
}

void gpuopt_nccl_close(gpuopt_transport *transport) {
    nccl_rank *n;
    double until;
    int pending;
    if (!transport || !transport->user) return;
    n = transport->user;
    until = now() + n->patience;
    transport->user = NULL;
    if (!enter(n, &pending)) return;
    if (n->comm) {
        int result = n->nccl.finalize(n->comm);
        if ((!result || result == NCCL_IN_PROGRESS) && !wait_for(n, until, 0)) n->nccl.destroy(n->comm);
        else if (n->comm) n->nccl.cancel(n->comm);
    }
    unmake(n, until);
    leave(n, pending);
    n->cuda.release(n->device);
    free(n);
}
