/* SPDX-License-Identifier: MIT
 *
 * Whether the emulator detects defects: small kernels and host code, each with a planted defect, and the same without
 * it.
 */
#include <cuda_runtime.h>

#include <sys/wait.h>
#include <unistd.h>

#include <csetjmp>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>

#include "emulated.h"
#include "include/emulated/ptx.h"

extern "C" {
#include <cmocka.h>
}

namespace {

constexpr int seeds = 20;

template <class... Parameter, class... Argument>
cudaError_t launch(dim3 blocks, unsigned threads, size_t bytes, void (*kernel)(Parameter...), Argument... argument) {
    cudaLaunchConfig_t config = {};
    config.gridDim = blocks;
    config.blockDim = dim3(threads);
    config.dynamicSmemBytes = bytes;
    return cudaLaunchKernelEx(&config, kernel, argument...);
}

template <class... Parameter>
void load(void (*kernel)(Parameter...)) {
    cudaFuncAttributes attributes;
    cudaFuncGetAttributes(&attributes, kernel);
}

int *device_ints(int count) {
    void *memory = nullptr;
    assert_int_equal(cudaMalloc(&memory, sizeof(int) * static_cast<size_t>(count)), cudaSuccess);
    return static_cast<int *>(memory);
}

int to_host(const int *device) {
    int value;
    cudaMemcpy(&value, device, sizeof value, cudaMemcpyDeviceToHost);
    return value;
}

/* ---- In a separate process, since a detected defect ends it ---- */

struct Ending {
    bool died;
    char output[4096];
};

template <class F>
Ending run(uint64_t seed, F f) {
    Ending ending = {};
    int ends[2], status = 0;
    fflush(nullptr);
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        dup2(ends[1], 2);
        close(ends[0]);
        for (int which : {SIGABRT, SIGSEGV, SIGBUS}) signal(which, SIG_DFL); /* cmocka's handlers would continue */
        emulated_set_seed(seed);
        f();
        _exit(0);
    }
    close(ends[1]);
    size_t length = 0;
    for (ssize_t got; length < sizeof ending.output - 1 &&
                      (got = read(ends[0], ending.output + length, sizeof ending.output - 1 - length)) > 0;)
        length += static_cast<size_t>(got);
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    ending.died = !WIFEXITED(status) || WEXITSTATUS(status) != 0;
    return ending;
}

/* f dies with every seed, with this message. */
template <class F>
void dies(const char *saying, F f) {
    for (uint64_t seed = 0; seed < 4; seed++) {
        Ending ending = run(seed, f);
        if (!ending.died || !strstr(ending.output, saying))
            fail_msg("with seed %d it %s, saying: %s", static_cast<int>(seed), ending.died ? "died" : "lived",
                     ending.output);
    }
}

template <class F>
void lives(F f) {
    for (uint64_t seed = 0; seed < seeds; seed++) {
        Ending ending = run(seed, f);
        if (ending.died) fail_msg("with seed %d it died: %s", static_cast<int>(seed), ending.output);
    }
}

/* Some seed shows the defect: f calls abort(). */
template <class F>
void is_found(F f) {
    int found = 0;
    for (uint64_t seed = 1; seed <= seeds; seed++) found += run(seed, f).died;
    if (!found) fail_msg("none of %d seeds shows it", seeds);
}

void require(bool holds) {
    if (!holds) abort();
}

/* ---- Barriers ---- */

__global__ void half_waits() {
    if (threadIdx.x < 32) __syncthreads();
}
__global__ void two_barriers() {
    if (threadIdx.x < 32) __syncthreads();
    else __syncthreads();
}
__global__ void lane_stays_away() {
    if (threadIdx.x % 32) __syncwarp();
}
__global__ void two_shuffles(int *out) {
    int x = static_cast<int>(threadIdx.x);
    out[threadIdx.x] = x % 2 ? __shfl_xor_sync(~0u, x, 1) : __shfl_sync(~0u, x, 1);
}
__global__ void half_meets(int *out) { /* while the others wait for all, which is no defect */
    int x = static_cast<int>(threadIdx.x);
    if (x % 2 == 0) x = __shfl_xor_sync(0x55555555u, x, 2);
    out[threadIdx.x] = __shfl_sync(~0u, x, 0);
}
__global__ void waits_for_ever(int *flag) {
    while (atomicAdd(flag, 0) == 0) __nanosleep(20);
}

void test_barriers(void **) {
    dies("divergent barrier", [] { load(half_waits), launch(1, 64, 0, half_waits), cudaDeviceSynchronize(); });
    dies("divergent barrier", [] { load(two_barriers), launch(1, 64, 0, two_barriers), cudaDeviceSynchronize(); });
    dies("__syncwarp", [] { load(lane_stays_away), launch(1, 64, 0, lane_stays_away), cudaDeviceSynchronize(); });
    dies("divergent warp", [] {
        int *out = device_ints(32);
        load(two_shuffles), launch(1, 32, 0, two_shuffles, out), cudaDeviceSynchronize();
    });
    lives([] {
        int *out = device_ints(32);
        load(half_meets), launch(1, 32, 0, half_meets, out), cudaDeviceSynchronize();
        require(to_host(out) == 2 && to_host(out + 31) == 2);
    });
    dies("hangs", [] {
        int *flag = device_ints(1);
        cudaMemset(flag, 0, sizeof *flag);
        load(waits_for_ever), launch(2, 32, 0, waits_for_ever, flag), cudaDeviceSynchronize();
    });
}

/* ---- Races ---- */

/* A sum over the block, step by step. */
template <bool FIRST, bool EACH>
__global__ void sum(int *out) {
    __shared__ int part[256];
    const unsigned t = threadIdx.x;
    part[t] = static_cast<int>(t);
    if (FIRST) __syncthreads();
    for (unsigned half = 128; half > 0; half /= 2) {
        if (t < half) part[t] += part[t + half];
        if (EACH) __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = part[0];
}

/* Rotates values by one place repeatedly: each step reads, then writes. */
template <bool BETWEEN>
__global__ void rotate(int *out) {
    __shared__ int value[64];
    const unsigned t = threadIdx.x;
    value[t] = static_cast<int>(t);
    for (int step = 0; step < 5; step++) {
        __syncthreads();
        int next = value[(t + 1) % 64];
        if (BETWEEN) __syncthreads();
        value[t] = next;
    }
    __syncthreads();
    if (t == 0) out[0] = value[0];
}

template <bool WAITS>
__global__ void neighbours(int *out) {
    __shared__ int value[32];
    value[threadIdx.x] = static_cast<int>(threadIdx.x);
    if (WAITS) __syncwarp();
    out[threadIdx.x] = value[31 - threadIdx.x];
}

/* A ticket lock without the lock. */
template <bool ATOMIC>
__global__ void count(int *out) {
    if (ATOMIC) {
        atomicAdd(out, 1);
    } else {
        int now = *out;
        __threadfence();
        *out = now + 1;
    }
}

template <bool FIRST, bool EACH>
void check_sum() {
    int *out = device_ints(8);
    load(sum<FIRST, EACH>);
    launch(8, 256, 0, sum<FIRST, EACH>, out);
    for (int k = 0; k < 8; k++) require(to_host(out + k) == 255 * 128);
}
template <bool BETWEEN>
void check_rotate() {
    int *out = device_ints(1);
    load(rotate<BETWEEN>);
    launch(1, 64, 0, rotate<BETWEEN>, out);
    require(to_host(out) == 5);
}
template <bool WAITS>
void check_neighbours() {
    int *out = device_ints(32);
    load(neighbours<WAITS>);
    launch(1, 32, 0, neighbours<WAITS>, out);
    for (int k = 0; k < 32; k++) require(to_host(out + k) == 31 - k);
}
template <bool ATOMIC>
void check_count() {
    int *out = device_ints(1);
    cudaMemset(out, 0, sizeof *out);
    load(count<ATOMIC>);
    launch(4, 64, 0, count<ATOMIC>, out);
    require(to_host(out) == 256);
}

void test_races(void **) {
    lives(check_sum<true, true>);
    is_found(check_sum<false, true>);
    is_found(check_sum<true, false>);
    lives(check_rotate<true>);
    is_found(check_rotate<false>);
    lives(check_neighbours<true>);
    is_found(check_neighbours<false>);
    lives(check_count<true>);
    is_found(check_count<false>);
}

/* ---- Memory ---- */

__global__ void touch_shared(int at) {
    GPUOPT_DYNAMIC_SHARED(int, memory);
    static_cast<volatile int *>(memory)[at] = 1;
}
__global__ void touch_global(volatile int *memory, int at) { memory[at] = 1; }
__global__ void read_unwritten(int *out) {
    __shared__ int value[32];
    if (threadIdx.x < 16) value[threadIdx.x] = 0;
    __syncthreads();
    out[threadIdx.x] = value[threadIdx.x];
}
template <bool WAITS>
__global__ void copy_behind(const double *from, int *out) {
    __shared__ __align__(16) double to[2];
    if (threadIdx.x == 0) {
        ptx_copy_async<2>(to, from, 16);
        ptx_copy_commit();
        if (WAITS) ptx_copy_wait<0>();
    }
    __syncthreads();
    if (threadIdx.x == 0) *out = to[0] == 1 && to[1] == 2;
}
template <bool WAITS>
void check_copy() {
    const double numbers[2] = {1, 2};
    int *out = device_ints(1);
    void *from = nullptr;
    cudaMalloc(&from, sizeof numbers);
    cudaMemcpy(from, numbers, sizeof numbers, cudaMemcpyHostToDevice);
    load(copy_behind<WAITS>);
    launch(1, 32, 0, copy_behind<WAITS>, static_cast<const double *>(from), out);
    require(to_host(out) == 1);
}

void test_memory(void **) {
    lives([] { load(touch_shared), launch(1, 1, 64, touch_shared, 15), cudaDeviceSynchronize(); });
    dies("", [] { load(touch_shared), launch(1, 1, 64, touch_shared, 16), cudaDeviceSynchronize(); });
#if defined(__SANITIZE_ADDRESS__)
    dies("AddressSanitizer", [] { load(touch_shared), launch(1, 1, 64, touch_shared, -1), cudaDeviceSynchronize(); });
    dies("AddressSanitizer", [] {
        int *memory = device_ints(5);
        load(touch_global), launch(1, 1, 0, touch_global, memory, 5), cudaDeviceSynchronize();
    });
#endif
    lives([] {
        int *memory = device_ints(5);
        require(to_host(memory) != 0); /* garbage, and not zeros */
        load(touch_global), launch(1, 1, 0, touch_global, memory, 4), cudaDeviceSynchronize();
        load(read_unwritten);
        memory = device_ints(32);
        launch(1, 32, 0, read_unwritten, memory);
        require(to_host(memory + 15) == 0 && to_host(memory + 16) != 0);
    });
    lives(check_copy<true>);
    is_found(check_copy<false>);
    dies("end 4 bytes after", [] {
        int there[6] = {};
        cudaMemcpy(device_ints(5), there, sizeof there, cudaMemcpyHostToDevice);
    });
    dies("nothing has been allocated", [] {
        int *memory = device_ints(5);
        cudaFree(memory), cudaFree(memory);
    });
    dies("promises to take nothing", [] { emulated_forbid_allocation(1), device_ints(5); });
}

/* ---- Launches, devices and streams ---- */

__global__ void nothing() {}
__global__ void write_report(volatile int *report) { *report = 7; }

/* A kernel writes to page-locked memory. */
void check_report(bool waits) {
    void *report = nullptr;
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaMallocHost(&report, sizeof(int));
    *static_cast<int *>(report) = 0;
    load(write_report);
    cudaLaunchConfig_t config = {};
    config.gridDim = config.blockDim = dim3(1);
    config.stream = stream;
    cudaLaunchKernelEx(&config, write_report, static_cast<volatile int *>(report));
    if (waits) cudaStreamSynchronize(stream);
    require(*static_cast<int *>(report) == 7);
}

void test_launches(void **) {
    lives([] { load(nothing), launch(70000, 1, 0, nothing), cudaDeviceSynchronize(); });
    dies("not loaded", [] { launch(1, 1, 0, nothing); });
    dies("not loaded", [] { load(nothing), cudaSetDevice(1), launch(1, 1, 0, nothing); });
    dies("2048 threads", [] { load(nothing), launch(1, 2048, 0, nothing); });
    dies("bytes of shared memory", [] { load(nothing), launch(1, 1, 50000, nothing); });
    dies("0 x 1 x 1 blocks", [] { load(nothing), launch(0, 1, 0, nothing); });
    dies("on a stream of device 0 while device 1", [] {
        cudaStream_t stream;
        cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
        cudaSetDevice(1);
        cudaMemsetAsync(device_ints(1), 0, 4, stream);
    });
    lives([] { check_report(true); });
    is_found([] { check_report(false); });
    lives([] { /* work on device 1 creates nothing on device 0 */
               CUcontext context, before;
               int device = -1;
               require(emulated_contexts() == 0);
               cuDevicePrimaryCtxRetain(&context, 1);
               cuCtxPushCurrent(context);
               cudaFree(device_ints(1));
               cuCtxPopCurrent(&before);
               require(emulated_contexts() == 2);
               require(cudaGetDevice(&device) == cudaSuccess && device == 0);
               cudaSetDevice(0);
               require(emulated_contexts() == 3);
    });
}

} // namespace

int main() {
    const CMUnitTest tests[] = {cmocka_unit_test(test_barriers), cmocka_unit_test(test_races),
                                cmocka_unit_test(test_memory), cmocka_unit_test(test_launches)};
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
