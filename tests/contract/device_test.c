/* SPDX-License-Identifier: MIT
 *
 * The library leaves the caller's own use of CUDA unchanged. After every call its current device and context, its
 * errors and its streams are as before, and work on one device does not affect the others.
 */
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/contract/families.h"
#include "tests/support/green.h"

static struct {
    CUresult (*current)(CUcontext *);
    CUresult (*primary_state)(CUdevice, unsigned *, int *);
} driver;

static int find_driver(void **state) {
    void *current = test_driver_function("cuCtxGetCurrent", 4000),
         *primary_state = test_driver_function("cuDevicePrimaryCtxGetState", 7000);
    (void)state;
    memcpy(&driver.current, &current, sizeof current);
    memcpy(&driver.primary_state, &primary_state, sizeof primary_state);
    return current && primary_state ? 0 : 1;
}

static void skip_unless(int condition, const char *reason) {
    if (condition) return;
    print_message("SKIPPED: %s\n", reason);
    skip();
}

/* Solves a family's small problem; NULL if all went well. Does not use cmocka's assertions, so any thread may call
 * it. */
static const char *solve(const family *f, gpuopt_context *context, const void *desc) {
    double answer[LARGEST_ANSWER / sizeof(double)];
    anything info = sized(f->info_size);
    void *handle = NULL;
    const char *fault = NULL;
    int calls = 0;
    if (f->create(context, desc, &handle)) return "create";
    if (f->load && f->load(handle, GPUOPT_LAYOUT_CSC)) fault = "load";
    do {
        if (!fault && f->work(handle, 1, &info)) fault = "a step";
    } while (!fault && f->outcome(&info) == GPUOPT_MORE && ++calls < 1000);
    if (!fault && f->read(handle, GPUOPT_HOST, answer)) fault = "reading the answer";
    if (!fault && !family_agrees(f, answer)) fault = "the answer";
    f->destroy(handle);
    return fault;
}

static const char *solve_all(const gpuopt_context_desc *desc) {
    gpuopt_context *context;
    const char *fault = NULL;
    int k;
    if (gpuopt_context_create(desc, &context)) return "creating a context";
    for (k = 0; k < family_count && !fault; k++) {
        const anything d = described(&families[k], GPUOPT_LAYOUT_CSC, 0);
        fault = solve(&families[k], context, &d);
    }
    if (!fault && gpuopt_context_wait(context)) fault = "waiting";
    gpuopt_context_destroy(context);
    return fault;
}

static void solves_all(const gpuopt_context_desc *desc) {
    const char *fault = solve_all(desc);
    if (fault) fail_msg("%s", fault);
}

/* ---- Devices ---- */

typedef struct visit {
    gpuopt_context_desc desc;
    const char *fault;
    CUcontext current; /* afterwards */
    int device;
} visit;

static void *visit_device(void *argument) {
    visit *v = argument;
    v->fault = solve_all(&v->desc);
    driver.current(&v->current);
    cudaGetDevice(&v->device);
    return NULL;
}

/* Run in a separate process that has not used CUDA: a thread works on device 1. The thread stays without a context, and
 * so does device 0. Returns the exit code of the process. */
enum { ALONE_OK, ALONE_ONE_DEVICE, ALONE_FAULT, ALONE_CURRENT, ALONE_DEVICE, ALONE_ACTIVE };
static int use_another_device_alone(void) {
    pthread_t thread;
    visit v = {GPUOPT_INIT(gpuopt_context_desc), "never run", NULL, -1};
    int count = 0, active = -1;
    unsigned flags;
    if (find_driver(NULL) || cudaGetDeviceCount(&count) != cudaSuccess || count < 2) return ALONE_ONE_DEVICE;
    test_backend(test_backend_name, 1, &v.desc);
    v.desc.device = 1;
    if (pthread_create(&thread, NULL, visit_device, &v) || pthread_join(thread, NULL) || v.fault) return ALONE_FAULT;
    if (v.current) return ALONE_CURRENT;
    if (v.device != 0) return ALONE_DEVICE;
    return driver.primary_state(0, &flags, &active) == CUDA_SUCCESS && active == 0 ? ALONE_OK : ALONE_ACTIVE;
}

static int alone; /* that process's exit code */

static void another_device_alone_is_used(void **state) {
    (void)state;
    skip_unless(alone != ALONE_ONE_DEVICE, "work on a second device alone: there is one");
    assert_int_equal(alone, ALONE_OK);
}

static void current_device_stays(void **state) {
    gpuopt_context_desc desc = test_context_desc(NULL);
    CUcontext before, after;
    int count = 0, device;
    (void)state;
    assert_int_equal(cudaGetDeviceCount(&count), cudaSuccess);
    for (int own = 0; own < count; own++)
        for (int theirs = 0; theirs < count; theirs++) {
            assert_int_equal(cudaSetDevice(own), cudaSuccess);
            assert_int_equal(cudaFree(NULL), cudaSuccess);
            assert_int_equal(driver.current(&before), CUDA_SUCCESS);
            desc.device = theirs;
            solves_all(&desc);
            assert_int_equal(driver.current(&after), CUDA_SUCCESS);
            assert_ptr_equal(before, after);
            assert_int_equal(cudaGetDevice(&device), cudaSuccess);
            assert_int_equal(device, own);
        }
    assert_int_equal(cudaSetDevice(0), cudaSuccess);
}

/* ---- Errors ---- */

static void errors_of_the_caller_stay(void **state) {
    gpuopt_context_desc desc = test_context_desc(NULL);
    (void)state;
    assert_int_equal(cudaGetLastError(), cudaSuccess);
    assert_int_not_equal(cudaSetDevice(12345), cudaSuccess);
    solves_all(&desc);
    assert_int_equal(cudaGetLastError(), cudaErrorInvalidDevice);
    assert_int_equal(cudaGetLastError(), cudaSuccess);
}

/* A library call that fails inside CUDA: it needs more memory than exists. */
static void errors_of_ours_do_not(void **state) {
    gpuopt_context *context = test_context(NULL);
    gpuopt_basis_desc desc = GPUOPT_INIT(gpuopt_basis_desc);
    gpuopt_basis *basis;
    (void)state;
    desc.m = 1 << 20; /* 8 TiB for the inverse */
    assert_int_equal(gpuopt_basis_create(context, &desc, NULL, &basis), GPUOPT_ERROR_MEMORY);
    assert_int_equal(cudaGetLastError(), cudaSuccess);
    gpuopt_context_destroy(context);
}

/* ---- Streams ---- */

static void streams_of_the_caller_work(void **state) {
    gpuopt_context_desc desc = test_context_desc(NULL);
    gpuopt_context *context;
    cudaStream_t stream;
    (void)state;
    assert_int_equal(cudaStreamCreate(&stream), cudaSuccess);
    desc.stream = stream;
    solves_all(&desc);
    assert_int_equal(cudaStreamSynchronize(stream), cudaSuccess);
    assert_int_equal(cudaStreamDestroy(stream), cudaSuccess);
    desc.stream = cudaStreamLegacy;
    solves_all(&desc);
    desc.stream = cudaStreamPerThread;
    assert_int_equal(gpuopt_context_create(&desc, &context), GPUOPT_ERROR_ARGUMENT);
}

static void streams_of_another_device_are_refused(void **state) {
    test_host host;
    gpuopt_context_desc desc = test_context_desc(&host);
    gpuopt_context *context;
    cudaStream_t stream;
    int count = 0;
    (void)state;
    assert_int_equal(cudaGetDeviceCount(&count), cudaSuccess);
    skip_unless(count > 1, "a stream of another device: there is one device");
    assert_int_equal(cudaSetDevice(1), cudaSuccess);
    assert_int_equal(cudaStreamCreate(&stream), cudaSuccess);
    assert_int_equal(cudaSetDevice(0), cudaSuccess);
    desc.stream = stream;
    assert_int_equal(gpuopt_context_create(&desc, &context), GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(host.live, 0);
    assert_non_null(strstr(host.error, "stream"));
    desc.device = 1;
    solves_all(&desc);
    assert_int_equal(cudaStreamDestroy(stream), cudaSuccess);
}

/* With a few of the device's multiprocessors. */
static void green_contexts_work(void **state) {
    gpuopt_context_desc desc = test_context_desc(NULL);
    (void)state;
    desc.stream = test_green_stream(test_emulated() ? 2 : 8);
    skip_unless(desc.stream != NULL, "green contexts: there are none here");
    solves_all(&desc);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test_setup(another_device_alone_is_used, find_driver),
    cmocka_unit_test(current_device_stays),
    cmocka_unit_test(errors_of_the_caller_stay),
    cmocka_unit_test(errors_of_ours_do_not),
    cmocka_unit_test(streams_of_the_caller_work),
    cmocka_unit_test(streams_of_another_device_are_refused),
    cmocka_unit_test(green_contexts_work),
};

int main(int argc, char **argv) {
    int status = -1;
    pid_t child;
    if (argc > 1) test_backend_name = argv[1];
    child = fork(); /* before this process uses CUDA */
    if (child == 0) _exit(use_another_device_alone());
    alone = child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return test_main(argc, argv, __FILE__, tests, sizeof tests / sizeof *tests);
}
