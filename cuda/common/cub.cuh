/* SPDX-License-Identifier: MIT
 *
 * Some of CUB's device-wide algorithms on a handle's stream: a stable sort and running sums. The caller provides
 * scratch memory; *_scratch returns its size.
 */
#ifndef GPUOPT_CUDA_CUB_CUH
#define GPUOPT_CUDA_CUB_CUH

#define CCCL_DISABLE_NVTX /* no ranges for profilers, which read the environment */
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <thread>

#include "queue.cuh"

namespace {

/* Device memory of `bytes` bytes for an algorithm. */
struct Scratch {
    void *memory;
    size_t bytes;
};

/* Runs algorithm(), which enqueues kernels of CUB. After each launch CUB reads the thread's last error, and would
 * report an error left pending by the application as its own. If one is pending, another thread without pending errors
 * makes the launches. */
template <class Algorithm>
gpuopt_status enqueue_cub(const Queue &queue, const char *what, Algorithm algorithm) {
    cudaError_t error = cudaErrorMemoryAllocation; /* if no thread can be started */
    if (cudaPeekAtLastError() == cudaSuccess) return queue.check(algorithm(), what);
    CUcontext ours; /* a green context must not be current in two threads */
    if (cuda_of(queue.context())->driver.pop(&ours) != CUDA_SUCCESS)
        return queue.check(cudaErrorInvalidResourceHandle, what);
    try {
        std::thread([&] {
            DeviceScope scope(queue.context());
            error = algorithm();
        }).join();
    } catch (...) {}
    cuda_of(queue.context())->driver.push(ours);
    return queue.check(error, what);
}

/* Pairs of a key and an item, and as much memory again; the pairs are in key[current], item[current]. */
struct Pairs {
    unsigned *key[2];
    int *item[2];
    int current;
};

/* Sorts by the lowest `bits` (at least 1) bits of the key; pairs with equal bits keep their order. */
gpuopt_status sort_pairs(const Queue &queue, Scratch scratch, Pairs &pairs, int64_t count, int bits) {
    cub::DoubleBuffer<unsigned> keys(pairs.key[pairs.current], pairs.key[!pairs.current]);
    cub::DoubleBuffer<int> items(pairs.item[pairs.current], pairs.item[!pairs.current]);
    gpuopt_status status = enqueue_cub(queue, "sorting", [&] {
        return cub::DeviceRadixSort::SortPairs(scratch.memory, scratch.bytes, keys, items, count, 0, bits,
                                               queue.stream());
    });
    if (keys.selector) pairs.current = !pairs.current;
    return status;
}
gpuopt_status sort_scratch(const Queue &queue, int64_t count, int bits, size_t *bytes) {
    cub::DoubleBuffer<unsigned> keys;
    cub::DoubleBuffer<int> items;
    return enqueue_cub(queue, "planning a sort", [&] {
        return cub::DeviceRadixSort::SortPairs(nullptr, *bytes, keys, items, count, 0, bits, queue.stream());
    });
}

/* Replaces each number by the sum of the numbers before it. */
template <class Number>
gpuopt_status sum_before(const Queue &queue, Scratch scratch, Number *numbers, int64_t count) {
    return enqueue_cub(queue, "adding up", [&] {
        return cub::DeviceScan::ExclusiveSum(scratch.memory, scratch.bytes, numbers, numbers, count, queue.stream());
    });
}
template <class Number>
gpuopt_status sum_scratch(const Queue &queue, int64_t count, size_t *bytes) {
    Number *none = nullptr;
    return enqueue_cub(queue, "planning sums", [&] {
        return cub::DeviceScan::ExclusiveSum(nullptr, *bytes, none, none, count, queue.stream());
    });
}

/* The bits of numbers below `end`, at least 1. */
inline int bits_below(int64_t end) {
    int bits = 1;
    while (bits < 32 && int64_t{1} << bits < end) bits++;
    return bits;
}

} // namespace

#endif /* GPUOPT_CUDA_CUB_CUH */
