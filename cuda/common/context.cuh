/* SPDX-License-Identifier: MIT
 *
 * The CUDA backend's context: its device and stream, how its errors become statuses, and how kernels are loaded.
 * open.cuh makes it.
 */
#ifndef GPUOPT_CUDA_CONTEXT_CUH
#define GPUOPT_CUDA_CONTEXT_CUH

#include <new> /* handles are made in memory of the allocator */
#include <type_traits>

#include "../../gpuopt_impl/common/backend.h"
#include "blas.cuh"
#include "driver.cuh"

static_assert(std::is_same<cudaStream_t, struct CUstream_st *>::value, "gpuopt.h names the stream's type");

namespace {

struct PinnedSlab;

struct CudaContext {
    CudaDriver driver = {};
    CUcontext context = nullptr; /* the stream's */
    cudaStream_t stream = nullptr;
    cudaMemPool_t pool =
        nullptr; /* of device memory; null: the caller has its own allocator, or the device has no pools */
    PinnedSlab *pinned = nullptr;
    CudaLibraries libraries; /* see libraries.cuh */
    bool own_stream = false;
    bool retained = false; /* the device's primary context */
    bool cooperative = false;
    int multiprocessors = 0; /* that kernels on the stream may use: fewer than the device has in a green context */
    int block_memory = 0;    /* bytes of shared memory that a block may have */
};

CudaContext *cuda_of(const gpuopt_context *context) { return static_cast<CudaContext *>(context->state); }

/* What the context's pool holds and no handle has. The stream has been waited for. */
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

/* Every entry into the backend makes the context's CUDA context current, and at its end the caller's again. The
 * driver's stack of contexts does that without making a context on the caller's device where there is none yet, as
 * cudaSetDevice would. An error that the caller's own CUDA calls left behind stays, and none of ours is left to the
 * caller (but where there are both, ours has taken its place). */
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

/* Loads a kernel, and lets its launches have as much dynamic shared memory as the device gives a block. The limit
 * belongs to the kernel on this device and not to a handle, so all handles set the same, in whatever order and
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

/* CUDA loads a kernel at its first use, which takes time and memory. _create calls this for all that its handle may
 * launch, so that no step does. */
template <class... Kernel>
gpuopt_status load_kernels(const gpuopt_context *context, Kernel... kernel) {
    gpuopt_status status = GPUOPT_OK;
    ((status = status ? status : load_kernel(context, kernel)), ...);
    return status;
}

/* 10 times the compute capability that the kernel's code was made for (that of the PTX where it was compiled from
 * that): __CUDA_ARCH__, divided by 10. */
template <class... Parameter>
gpuopt_status code_version(const gpuopt_context *context, void (*kernel)(Parameter...), int *version) {
    cudaFuncAttributes attributes;
    GPUOPT_CUDA(context, cudaFuncGetAttributes(&attributes, kernel));
    *version = attributes.ptxVersion;
    return GPUOPT_OK;
}

} // namespace

#endif /* GPUOPT_CUDA_CONTEXT_CUH */
