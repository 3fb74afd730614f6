/* SPDX-License-Identifier: MIT
 *
 * The CUDA backend's context: its device and stream, the conversion of errors to statuses, and the loading of kernels.
 * open.cuh creates it.
 */
#ifndef GPUOPT_CUDA_CONTEXT_CUH
#define GPUOPT_CUDA_CONTEXT_CUH

#include <new> /* handles are constructed in memory of the allocator */
#include <type_traits>

#include "../../gpuopt_impl/common/backend.h"
#include "blas.cuh"
#include "driver.cuh"

static_assert(std::is_same<cudaStream_t, struct CUstream_st *>::value, "gpuopt.h names the stream's type");

namespace {

struct PinnedSlab;

struct CudaContext {
    CudaDriver driver = {};
    CUcontext context = nullptr; /* the context of the stream */
    cudaStream_t stream = nullptr;
    cudaMemPool_t pool =
        nullptr; /* pool of device memory; null: the caller has its own allocator, or the device has no pools */
    PinnedSlab *pinned = nullptr;
    CudaLibraries libraries; /* see libraries.cuh */
    bool own_stream = false;
    bool retained = false; /* the device's primary context */
    bool cooperative = false;
    int multiprocessors = 0; /* available to kernels on the stream: in a green context fewer than the device has */
    int block_memory = 0;    /* most bytes of shared memory of a block */
};

CudaContext *cuda_of(const gpuopt_context *context) { return static_cast<CudaContext *>(context->state); }

/* Bytes of the context's pool that no handle uses. The caller has waited for the stream. */
cudaError_t unused_in_pool(const gpuopt_context *context, uint64_t *bytes) {
    uint64_t held = 0, used = 0;
    cudaMemPool_t pool = cuda_of(context)->pool;
    cudaError_t error = pool ? cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &held) : cudaSuccess;
    if (pool && !error) error = cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used);
    *bytes = held > used ? held - used : 0;
    return error;
}

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

/* Every entry into the backend makes the context's CUDA context current, and restores the caller's at its end. The
 * driver's stack of contexts does this without creating a context on the caller's device, as cudaSetDevice would. An
 * error pending from the caller's own CUDA calls stays pending, and none of the library's remains. If both occur, the
 * library's error has replaced the caller's. */
class DeviceScope {
  public:
    explicit DeviceScope(const gpuopt_context *context)
        : driver_(cuda_of(context)->driver), pending_(cudaPeekAtLastError() != cudaSuccess),
          pushed_(driver_.push(cuda_of(context)->context) == CUDA_SUCCESS) {
        if (!pushed_) gpuopt__log(context, 0, "the context of CUDA device %d cannot be entered", context->desc.device);
    }
    ~DeviceScope() {
        CUcontext ours;
        if (!pending_) cudaGetLastError();
        if (pushed_) driver_.pop(&ours);
    }
    DeviceScope(const DeviceScope &) = delete;
    DeviceScope &operator=(const DeviceScope &) = delete;

  private:
    const CudaDriver &driver_;
    const bool pending_, pushed_;
};

/* Loads a kernel, and lets its launches use as much dynamic shared memory as the device gives a block. The limit
 * belongs to the kernel on this device and not to a handle. So all handles set the same limit, in any order and
 * thread. */
template <class... Parameter>
gpuopt_status load_kernel(const gpuopt_context *context, void (*kernel)(Parameter...)) {
    cudaFuncAttributes attributes;
    GPUOPT_CUDA(context, cudaFuncGetAttributes(&attributes, kernel));
    const int most = cuda_of(context)->block_memory - static_cast<int>(attributes.sharedSizeBytes);
    if (attributes.maxDynamicSharedSizeBytes < most)
        GPUOPT_CUDA(context, cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, most));
    return GPUOPT_OK;
}

/* CUDA loads a kernel at its first use, which takes time and memory. _create calls this for all kernels of its handle,
 * so that no step loads any. */
template <class... Kernel>
gpuopt_status load_kernels(const gpuopt_context *context, Kernel... kernel) {
    gpuopt_status status = GPUOPT_OK;
    ((status = status ? status : load_kernel(context, kernel)), ...);
    return status;
}

/* 10 times the compute capability for which the kernel's code was made, or its PTX if the code was compiled from PTX:
 * __CUDA_ARCH__, divided by 10. */
template <class... Parameter>
gpuopt_status code_version(const gpuopt_context *context, void (*kernel)(Parameter...), int *version) {
    cudaFuncAttributes attributes;
    GPUOPT_CUDA(context, cudaFuncGetAttributes(&attributes, kernel));
    *version = attributes.ptxVersion;
    return GPUOPT_OK;
}

} // namespace

#endif /* GPUOPT_CUDA_CONTEXT_CUH */
