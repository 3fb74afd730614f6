/* SPDX-License-Identifier: MIT
 *
 * What every handle of the CUDA backend does on its context's stream: check, copy, wait.
 */
#ifndef GPUOPT_CUDA_QUEUE_CUH
#define GPUOPT_CUDA_QUEUE_CUH

#include "context.cuh"

namespace {

class Queue {
  public:
    explicit Queue(const gpuopt_context *context = nullptr) : context_(context) {}

    const gpuopt_context *context() const { return context_; }
    cudaStream_t stream() const { return cuda_of(context_)->stream; }

    /* The status that a CUDA call's error stands for; a failure goes to the log. */
    gpuopt_status check(cudaError_t error, const char *what) const { return cuda_status(context_, error, what); }
    /* The status of the launches since the last check. */
    gpuopt_status launched(const char *what) const { return check(cudaGetLastError(), what); }
    gpuopt_status wait(const char *what) const { return check(cudaStreamSynchronize(stream()), what); }

    /* Enqueues a copy between any two places. */
    gpuopt_status copy(void *to, const void *from, size_t bytes, const char *what = "copying") const {
        return check(bytes ? cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream()) : cudaSuccess, what);
    }
    gpuopt_status clear(void *memory, int byte, size_t bytes, const char *what = "clearing memory") const {
        return check(bytes ? cudaMemsetAsync(memory, byte, bytes, stream()) : cudaSuccess, what);
    }

    /* Called before a call returns that was given host arrays: a copy from pinned memory may still be under way and is
     * waited for; pageable memory has been staged already. */
    template <class... Array>
    gpuopt_status release_host(const Array *...array) const {
        const void *const arrays[] = {array...};
        for (const void *one : arrays) {
            cudaPointerAttributes attributes = {};
            if (!one || cudaPointerGetAttributes(&attributes, one) != cudaSuccess) continue;
            if (attributes.type != cudaMemoryTypeUnregistered) return wait("copying from host memory");
        }
        return GPUOPT_OK;
    }

  private:
    const gpuopt_context *context_;
};

} // namespace

#endif /* GPUOPT_CUDA_QUEUE_CUH */
