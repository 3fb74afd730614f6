/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L
#include "tests/support/support.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef TEST_WITH_CUDA
#include <cuda_runtime_api.h>
#endif
#ifdef TEST_WITH_EMULATED
#include "tests/emulated/emulated.h"
#endif

const char *test_backend_name = "cpu";

/* ---- The watched caller ---- */

/* Host blocks carry their size in front. Device blocks are kept in a list, shared by all threads, since the caller
 * cannot write to them. */
enum { MAX_DEVICE_BLOCKS = 1024, HEADER = 64 };
static struct {
    void *memory;
    size_t bytes;
} device_block[MAX_DEVICE_BLOCKS];
static pthread_mutex_t device_blocks = PTHREAD_MUTEX_INITIALIZER;

/* Replaces the first entry `from` of the list by `to`, of `bytes` bytes. Returns the entry's previous bytes. */
static size_t device_replace(const void *from, void *to, size_t bytes) {
    size_t before;
    int k;
    pthread_mutex_lock(&device_blocks);
    for (k = 0; k < MAX_DEVICE_BLOCKS && device_block[k].memory != from; k++) continue;
    assert_true(k < MAX_DEVICE_BLOCKS);
    before = device_block[k].bytes;
    device_block[k].memory = to;
    device_block[k].bytes = bytes;
    pthread_mutex_unlock(&device_blocks);
    return before;
}

static void *device_allocate(size_t bytes) {
    void *memory = NULL;
#ifdef TEST_WITH_CUDA
    if (cudaMalloc(&memory, bytes)) return NULL;
    device_replace(NULL, memory, bytes);
#else
    (void)bytes;
#endif
    return memory;
}

static size_t device_release(void *memory) {
    const size_t bytes = device_replace(memory, NULL, 0);
#ifdef TEST_WITH_CUDA
    cudaFree(memory);
#endif
    return bytes;
}

static void *watched_allocate(void *user, gpuopt_memory_space where, size_t bytes) {
    test_host *host = user;
    char *memory;
    if (++host->allocations == host->fail_at) {
        host->denies |= host->for_good;
        return NULL;
    }
    if (host->denies) {
        host->denied++;
        return NULL;
    }
    if (where == GPUOPT_HOST) {
        memory = malloc(bytes + HEADER);
        if (!memory) return NULL;
        memcpy(memory, &bytes, sizeof bytes);
        memory += HEADER;
    } else {
        memory = device_allocate(bytes);
        if (!memory) return NULL;
    }
    host->live++;
    host->bytes[where] += bytes;
    if (host->bytes[where] > host->peak[where]) host->peak[where] = host->bytes[where];
    return memory;
}

static void watched_release(void *user, gpuopt_memory_space where, void *memory) {
    test_host *host = user;
    size_t bytes;
    if (where == GPUOPT_HOST) {
        memcpy(&bytes, (char *)memory - HEADER, sizeof bytes);
        free((char *)memory - HEADER);
    } else {
        bytes = device_release(memory);
    }
    host->live--;
    host->bytes[where] -= bytes;
}

static void watched_log(void *user, int level, const char *message) {
    test_host *host = user;
    host->messages++;
    if (level == 0) snprintf(host->error, sizeof host->error, "%s", message);
    host->warnings += level == 1;
    if (level == 1) snprintf(host->warning, sizeof host->warning, "%s", message);
    if (level == 2) snprintf(host->info, sizeof host->info, "%s", message);
}

gpuopt_context_desc test_context_desc(test_host *host) {
    gpuopt_context_desc desc;
    if (!test_backend(test_backend_name, 4, &desc)) fail_msg("no backend %s in this program", test_backend_name);
    if (host) {
        memset(host, 0, sizeof *host);
        desc.user = host;
        desc.allocate = watched_allocate;
        desc.release = watched_release;
        desc.log = watched_log;
    }
    return desc;
}

static gpuopt_context *context_of(test_host *host, gpuopt_switch tidy_matrices) {
    gpuopt_context_desc desc = test_context_desc(host);
    gpuopt_context *context = NULL;
    desc.tidy_matrices = tidy_matrices;
    assert_int_equal(gpuopt_context_create(&desc, &context), GPUOPT_OK);
    return context;
}

gpuopt_context *test_context(test_host *host) { return context_of(host, GPUOPT_DEFAULT); }

gpuopt_context *test_strict_context(test_host *host) { return context_of(host, GPUOPT_OFF); }

static gpuopt_context *context_by(const gpuopt_context_desc *desc) {
    gpuopt_context *context = NULL;
    assert_int_equal(gpuopt_context_create(desc, &context), GPUOPT_OK);
    return context;
}

gpuopt_context *test_plain_context(void) {
    gpuopt_context_desc desc;
    assert_true(test_backend("cpu", 1, &desc));
    return context_by(&desc);
}

gpuopt_context *test_stopping_context(int *asked) {
    gpuopt_context_desc desc = test_context_desc(NULL);
    desc.stop = test_stop;
    desc.user = asked;
    desc.log = NULL;
    desc.allocate = NULL;
    desc.release = NULL;
    return context_by(&desc);
}

test_held test_held_by(test_host *host) {
    test_held held;
    int where;
    for (where = 0; where < 2; where++) held.bytes[where] = host->peak[where] = host->bytes[where];
    return held;
}

void test_as_planned(const test_host *host, const test_held *before, const gpuopt_memory_plan *plan) {
    assert_int_equal(host->bytes[GPUOPT_HOST] - before->bytes[GPUOPT_HOST], plan->host_bytes);
    assert_int_equal(host->bytes[GPUOPT_DEVICE] - before->bytes[GPUOPT_DEVICE], plan->device_bytes);
    assert_true(host->peak[GPUOPT_HOST] - before->bytes[GPUOPT_HOST] <= plan->host_bytes + plan->create_bytes);
    assert_int_equal(host->peak[GPUOPT_DEVICE] - before->bytes[GPUOPT_DEVICE],
                     plan->device_bytes + plan->create_device_bytes);
    assert_true(plan->host_bytes > 0 && (test_on("cuda") || plan->device_bytes == 0));
}

int test_stop(void *user) {
    ++*(int *)user;
    return 1;
}

long test_deny_memory(test_host *host, int denies) {
    const long denied = host->denied;
    host->denies = denies;
    host->denied = 0;
    return denied;
}

static long runs_out(gpuopt_status (*life)(const gpuopt_context_desc *desc, const void *of), const void *of,
                     int for_good) {
    test_host host;
    long n;
    for (n = 1;; n++) {
        gpuopt_context_desc desc = test_context_desc(&host);
        gpuopt_status status;
        host.fail_at = n;
        host.for_good = for_good;
        status = life(&desc, of);
        assert_int_equal(host.live, 0);
        assert_true(host.bytes[GPUOPT_HOST] == 0 && host.bytes[GPUOPT_DEVICE] == 0);
        if (host.allocations < n) {
            assert_int_equal(status, GPUOPT_OK);
            return n - 1;
        }
        assert_int_equal(status, GPUOPT_ERROR_MEMORY);
        assert_true(host.error[0]);
    }
}

long test_runs_out(gpuopt_status (*life)(const gpuopt_context_desc *desc, const void *of), const void *of) {
    const long failed = runs_out(life, of, 0);
    assert_int_equal(runs_out(life, of, 1), failed);
    return failed;
}

void test_refused(test_host *host, gpuopt_status found, gpuopt_status expected, const char *words) {
    assert_int_equal(found, expected);
    if (!strstr(host->error, words)) fail_msg("\"%s\" does not mention \"%s\"", host->error, words);
    host->error[0] = 0;
}

int test_on(const char *backend) {
    return strcmp(test_backend_name, backend) == 0 || (test_emulated() && strcmp(backend, "cuda") == 0);
}

int test_emulated(void) { return strcmp(test_backend_name, "cuda-emulated") == 0; }

int test_few(void) { return test_emulated() || getenv("GPUOPT_TEST_FEW"); }

int test_times(int on_the_cpu, int on_the_gpu) {
    if (test_few()) return on_the_gpu < 40 ? 2 : on_the_gpu / 20;
    return test_on("cuda") ? on_the_gpu : on_the_cpu;
}

void test_forbid_allocation(int forbidden) {
#ifdef TEST_WITH_EMULATED
    emulated_forbid_allocation(forbidden);
#else
    (void)forbidden;
#endif
}

void test_lose_device(long calls) {
#ifdef TEST_WITH_EMULATED
    emulated_lose_device(calls);
#else
    (void)calls;
#endif
}

long test_device_calls(void) {
#ifdef TEST_WITH_EMULATED
    return emulated_device_calls();
#else
    return 0;
#endif
}

long test_driver_allocations(void) {
#ifdef TEST_WITH_EMULATED
    return emulated_driver_allocations();
#else
    return 0;
#endif
}

/* ---- Device memory ---- */

#ifdef TEST_WITH_CUDA
void *test_device_allocate(size_t bytes) {
    void *memory = NULL;
    assert_int_equal(cudaMalloc(&memory, bytes), cudaSuccess);
    return memory;
}

void test_device_release(void *memory) { cudaFree(memory); }

void test_device_copy(void *to, const void *from, size_t bytes) {
    assert_int_equal(cudaMemcpy(to, from, bytes, cudaMemcpyDefault), cudaSuccess);
    /* cudaMemcpy from pageable memory may return earlier than its data arrives, and other streams do not wait for it.
     */
    assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
}
#else
void *test_device_allocate(size_t bytes) {
    fail_msg("no device memory for %zu bytes in this program", bytes);
    return NULL;
}

void test_device_release(void *memory) { (void)memory; }

void test_device_copy(void *to, const void *from, size_t bytes) {
    fail_msg("no copy of %zu bytes between %p and %p in this program", bytes, to, from);
}
#endif

/* ---- Running ---- */

int test_main(int argc, char **argv, const char *name, const struct CMUnitTest *tests, size_t count) {
    gpuopt_context_desc desc;
    gpuopt_context *context;
    gpuopt_status status;
    char group[256];
    if (argc > 1) test_backend_name = argv[1];
    if (!test_backend(test_backend_name, 4, &desc)) {
        fprintf(stderr, "%s: no backend %s in this program\n", name, test_backend_name);
        return 2;
    }
    status = gpuopt_context_create(&desc, &context);
    if (status && (status != GPUOPT_ERROR_UNSUPPORTED || !test_on("cuda"))) {
        fprintf(stderr, "%s: no context for %s: %s\n", name, test_backend_name, gpuopt_status_string(status));
        return 1;
    }
    if (status) {
        printf("SKIPPED: %zu tests of %s: this machine has no device for backend %s\n", count, name, test_backend_name);
        return 0;
    }
    gpuopt_context_destroy(context);
    snprintf(group, sizeof group, "%s on %s", name, test_backend_name);
    return _cmocka_run_group_tests(group, tests, count, NULL, NULL);
}

/* ---- Data ---- */

const char *test_data_root(const char *skipped) {
    const char *root = getenv("GPUOPT_TEST_DATA");
    if (root && *root) return root;
    printf("SKIPPED: %s: GPUOPT_TEST_DATA is not set\n", skipped);
    return NULL;
}

static char decompressed[64];

static void remove_decompressed(void) {
    if (decompressed[0]) unlink(decompressed);
}

const char *test_data(const char *file) {
    static char path[1024], command[2200];
    const char *root = getenv("GPUOPT_TEST_DATA");
    size_t length;
    int descriptor;
    if (!root) return NULL;
    snprintf(path, sizeof path, "%s/%s", root, file);
    length = strlen(path);
    if (access(path, R_OK)) return NULL;
    if (length < 3 || strcmp(path + length - 3, ".xz")) return path;
    if (!decompressed[0]) atexit(remove_decompressed);
    else unlink(decompressed);
    strcpy(decompressed, "/tmp/gpuopt-test-XXXXXX");
    descriptor = mkstemp(decompressed);
    if (descriptor < 0) return NULL;
    close(descriptor);
    snprintf(command, sizeof command, "xz -dc '%s' > '%s'", path, decompressed);
    return system(command) == 0 ? decompressed : NULL;
}

/* ---- Random numbers: splitmix64 ---- */

static uint64_t next(uint64_t *state) {
    uint64_t z = (*state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

double test_random(uint64_t *state) { return (double)(next(state) >> 11) * 0x1p-53; }

int64_t test_random_int(uint64_t *state, int64_t low, int64_t high) {
    return low + (int64_t)(next(state) % ((uint64_t)high - (uint64_t)low + 1));
}
