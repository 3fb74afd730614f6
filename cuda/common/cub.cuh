/* SPDX-License-Identifier: MIT
 *
 * CUB's device-wide algorithms on a handle's stream, and its running sums; sort.cuh has its sort. The caller provides
 * scratch memory; *_scratch returns its size.
 */
#ifndef GPUOPT_CUDA_CUB_CUH
#define GPUOPT_CUDA_CUB_CUH

#define CCCL_DISABLE_NVTX /* no ranges for profilers, which read the environment */
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

} // namespace

#endif /* GPUOPT_CUDA_CUB_CUH */
