/* SPDX-License-Identifier: MIT
 *
 * primitives_bench: measuring, and moving data.
 */
#ifndef TESTS_BENCH_PRIMITIVES_COMMON_CUH
#define TESTS_BENCH_PRIMITIVES_COMMON_CUH

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

constexpr int threads = 256, warps = threads / 32, rounds = 512, runs = 9, most_threads = 1024;

bool failed(cudaError_t error, const char *what) {
    if (error != cudaSuccess) std::fprintf(stderr, "primitives_bench: %s: %s\n", what, cudaGetErrorString(error));
    return error != cudaSuccess;
}

#define CHECK(call) \
    if (failed(call, #call)) std::exit(1)

/* Median of the milliseconds of f(), which enqueues work on the default stream. */
template <class F>
double milliseconds(F f) {
    cudaEvent_t begin, end;
    std::vector<float> taken(runs);
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    f();
    for (float &one : taken) {
        CHECK(cudaEventRecord(begin));
        f();
        CHECK(cudaEventRecord(end));
        CHECK(cudaEventSynchronize(end));
        CHECK(cudaEventElapsedTime(&one, begin, end));
    }
    CHECK(cudaGetLastError());
    CHECK(cudaEventDestroy(begin));
    CHECK(cudaEventDestroy(end));
    std::sort(taken.begin(), taken.end());
    return static_cast<double>(taken[runs / 2]);
}

template <class T>
T *on_device(int64_t count) {
    void *memory;
    CHECK(cudaMalloc(&memory, sizeof(T) * static_cast<size_t>(count)));
    return static_cast<T *>(memory);
}

template <class T>
T *to_device(const std::vector<T> &from) {
    T *to = on_device<T>(static_cast<int64_t>(from.size()));
    CHECK(cudaMemcpy(to, from.data(), sizeof(T) * from.size(), cudaMemcpyHostToDevice));
    return to;
}

template <class T>
std::vector<T> to_host(const T *from, int64_t count) {
    std::vector<T> copy(static_cast<size_t>(count));
    CHECK(cudaMemcpy(copy.data(), from, sizeof(T) * copy.size(), cudaMemcpyDeviceToHost));
    return copy;
}

/* The time of an algorithm of CUB, which is called with scratch memory and its size. */
template <class F>
double cub_milliseconds(F f) {
    void *scratch = nullptr;
    size_t bytes = 0;
    CHECK(f(scratch, bytes));
    CHECK(cudaMalloc(&scratch, bytes));
    const double taken = milliseconds([&] { CHECK(f(scratch, bytes)); });
    CHECK(cudaFree(scratch));
    return taken;
}

__host__ __device__ uint32_t drawn(uint64_t k) {
    k = (k ^ (k >> 33)) * 0xff51afd7ed558ccdull;
    k = (k ^ (k >> 33)) * 0xc4ceb9fe1a85ec53ull;
    return static_cast<uint32_t>(k >> 32);
}

struct Machine {
    int multiprocessors;
    uint32_t *result; /* [8 * multiprocessors * most_threads], device */
    std::vector<uint32_t> expected;
    bool good = true;
};

} // namespace

#endif /* TESTS_BENCH_PRIMITIVES_COMMON_CUH */
