/* SPDX-License-Identifier: MIT
 *
 * The CUDA backend's context: device, stream, memory, and how its errors become statuses.
 */
#ifndef GPUOPT_CUDA_CONTEXT_CUH
#define GPUOPT_CUDA_CONTEXT_CUH

#include <cuda_runtime.h>

#include <cstdlib>
#include <new>
#include <type_traits>

#include "../../gpuopt_impl/common/backend.h"
#include "../../gpuopt_impl/common/selftest.h"

namespace {

static_assert(std::is_same<cudaStream_t, struct CUstream_st *>::value, "gpuopt.h names the stream's type");

struct CudaContext {
    cudaStream_t stream = nullptr;
    bool own_stream = false;
    bool cooperative = false;
    int multiprocessors = 0;
    int block_memory = 0; /* bytes of shared memory that a block may have */
};

CudaContext *cuda_of(const gpuopt_context *context) { return static_cast<CudaContext *>(context->state); }

/* The status that a CUDA call's error stands for; a failure goes to the log. */
gpuopt_status cuda_status(const gpuopt_context *context, cudaError_t error, const char *what) {
    if (error == cudaSuccess) return GPUOPT_OK;
    gpuopt__log(context, 0, "%s: %s", what, cudaGetErrorString(error));
    return error == cudaErrorMemoryAllocation ? GPUOPT_ERROR_MEMORY : GPUOPT_ERROR_DEVICE;
}

/* Returns from the calling function with the status unless the CUDA call worked. */
#define GPUOPT_CUDA(context, call)                                            \
    do {                                                                      \
        gpuopt_status gpuopt_cuda_status = cuda_status(context, call, #call); \
        if (gpuopt_cuda_status != GPUOPT_OK) return gpuopt_cuda_status;       \
    } while (0)

/* Loads a kernel, and lets its launches have as much dynamic shared memory as the device gives a block. The limit belongs
 * to the kernel on this device and not to a handle, so all handles set the same, in whatever order and thread. */
template <class... Argument>
gpuopt_status allow_shared_memory(const gpuopt_context *context, void (*kernel)(Argument...)) {
    cudaFuncAttributes attributes;
    GPUOPT_CUDA(context, cudaFuncGetAttributes(&attributes, kernel));
    const int most = cuda_of(context)->block_memory - static_cast<int>(attributes.sharedSizeBytes);
    if (attributes.maxDynamicSharedSizeBytes < most)
        GPUOPT_CUDA(context, cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, most));
    return GPUOPT_OK;
}

/* Every entry into the backend makes the context's device current and, at its end, restores the caller's. An error that
 * an earlier CUDA call of the caller left behind is cleared, so that it is not taken for ours. */
class DeviceScope {
  public:
    explicit DeviceScope(const gpuopt_context *context) {
        if (cudaGetDevice(&before_) == cudaSuccess && before_ != context->desc.device)
            changed_ = cudaSetDevice(context->desc.device) == cudaSuccess;
        cudaGetLastError();
    }
    ~DeviceScope() {
        if (changed_) cudaSetDevice(before_);
    }
    DeviceScope(const DeviceScope &) = delete;
    DeviceScope &operator=(const DeviceScope &) = delete;

  private:
    int before_ = 0;
    bool changed_ = false;
};

void *default_allocate(void *, gpuopt_memory where, size_t bytes) {
    if (where == GPUOPT_HOST) return std::malloc(bytes ? bytes : 1);
    void *memory = nullptr;
    if (cudaMalloc(&memory, bytes ? bytes : 1) == cudaSuccess) return memory;
    cudaGetLastError(); /* a failed allocation is not an error of the device */
    return nullptr;
}

void default_release(void *, gpuopt_memory where, void *memory) {
    if (where == GPUOPT_HOST) std::free(memory);
    else cudaFree(memory);
}

void cuda_close(gpuopt_context *context) {
    CudaContext *cuda = cuda_of(context);
    DeviceScope scope(context);
    if (cuda->own_stream) cudaStreamDestroy(cuda->stream);
    gpuopt__release(context, GPUOPT_HOST, cuda);
    context->state = nullptr;
}

gpuopt_status cuda_open(gpuopt_context *context) {
    int count = 0;
    const char *fault = gpuopt__selftest(); /* of the host's code in this file; kernels name each operation */
    if (fault) {
        gpuopt__log(context, 0, "gpuopt_context_create: as nvcc's host compiler built the CUDA backend, %s", fault);
        return GPUOPT_ERROR_UNSUPPORTED;
    }
    cudaError_t error = cudaGetDeviceCount(&count);
    if (error != cudaSuccess || context->desc.device < 0 || context->desc.device >= count) {
        gpuopt__log(context, 0, "CUDA device %d: %s", (int)context->desc.device,
                    error != cudaSuccess ? cudaGetErrorString(error) : "there is no such device");
        cudaGetLastError();
        return GPUOPT_ERROR_UNSUPPORTED;
    }
    if (context->default_memory) {
        context->desc.allocate = default_allocate;
        context->desc.release = default_release;
    }
    void *memory;
    gpuopt_status status = gpuopt__allocate(context, GPUOPT_HOST, sizeof(CudaContext), &memory);
    if (status) return status;
    CudaContext *cuda = new (memory) CudaContext;
    context->state = cuda;
    DeviceScope scope(context);
    int cooperative = 0;
    error = cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, context->desc.device);
    if (!error)
        error = cudaDeviceGetAttribute(&cuda->multiprocessors, cudaDevAttrMultiProcessorCount, context->desc.device);
    if (!error)
        error =
            cudaDeviceGetAttribute(&cuda->block_memory, cudaDevAttrMaxSharedMemoryPerBlockOptin, context->desc.device);
    cuda->cooperative = cooperative != 0;
    cuda->stream = context->desc.stream;
    if (!error && !cuda->stream) {
        error = cudaStreamCreateWithFlags(&cuda->stream, cudaStreamNonBlocking);
        cuda->own_stream = !error;
    }
    status = cuda_status(context, error, "opening the CUDA device");
    if (status) cuda_close(context);
    return status;
}

gpuopt_status cuda_wait(gpuopt_context *context) {
    DeviceScope scope(context);
    return cuda_status(context, cudaStreamSynchronize(cuda_of(context)->stream), "waiting for the stream");
}

/* Between host and device memory, for the frame; waits. */
gpuopt_status cuda_copy(gpuopt_context *context, void *to, const void *from, uint64_t bytes) {
    DeviceScope scope(context);
    cudaStream_t stream = cuda_of(context)->stream;
    gpuopt_status status =
        cuda_status(context, cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream), "copying between memories");
    return status ? status : cuda_status(context, cudaStreamSynchronize(stream), "copying between memories");
}

} // namespace

#endif /* GPUOPT_CUDA_CONTEXT_CUH */
