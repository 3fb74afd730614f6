/* SPDX-License-Identifier: MIT
 *
 * Opening and closing the CUDA backend's context, its memory, waiting and copying; gpuopt_cuda.cu alone includes this.
 */
#ifndef GPUOPT_CUDA_OPEN_CUH
#define GPUOPT_CUDA_OPEN_CUH

#include <cstdlib>

#include "../../gpuopt_impl/common/selftest.h"
#include "queue.cuh"

namespace {

/* ---- Memory, if the caller gave no hooks ---- */

/* Device memory of a context comes from its own pool, in the order of its stream: neither allocation nor release waits
 * for the device. The pool keeps as much free memory as the caller requests. The rest returns to the driver at the next
 * wait for the stream. */
cudaError_t allocate_from_pool(const CudaContext *cuda, void **memory, size_t bytes) {
    cudaError_t error = cudaMallocFromPoolAsync(memory, bytes, cuda->pool, cuda->stream);
    if (error != cudaErrorMemoryAllocation) return error;
    /* The pool's free memory may be in pieces that are too small, and prevent a large allocation. */
    cudaGetLastError();
    error = cudaStreamSynchronize(cuda->stream);
    if (!error) error = cudaMemPoolTrimTo(cuda->pool, 0);
    return error ? error : cudaMallocFromPoolAsync(memory, bytes, cuda->pool, cuda->stream);
}

void *default_allocate(void *user, gpuopt_memory_space where, size_t bytes) {
    if (where == GPUOPT_HOST) return std::malloc(bytes ? bytes : 1);
    const auto *cuda = static_cast<const CudaContext *>(user);
    void *memory = nullptr;
    cudaError_t error =
        cuda->pool ? allocate_from_pool(cuda, &memory, bytes ? bytes : 1) : cudaMalloc(&memory, bytes ? bytes : 1);
    return error ? nullptr : memory;
}

void default_release(void *user, gpuopt_memory_space where, void *memory) {
    const auto *cuda = static_cast<const CudaContext *>(user);
    if (where == GPUOPT_HOST) std::free(memory);
    else if (cuda->pool) cudaFreeAsync(memory, cuda->stream);
    else cudaFree(memory);
}

cudaError_t make_pool(const gpuopt_context *context, cudaMemPool_t *pool) {
    int supported = 0;
    cudaMemPoolProps properties = {};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location.type = cudaMemLocationTypeDevice;
    properties.location.id = context->desc.device;
    cudaError_t error = cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, context->desc.device);
    if (error || !supported) return error;
    uint64_t keeps = context->desc.keep_device_bytes;
    if (!keeps) {
        size_t unused, all;
        error = cudaMemGetInfo(&unused, &all);
        if (error) return error;
        keeps = all / 2;
    }
    error = cudaMemPoolCreate(pool, &properties);
    return error ? error : cudaMemPoolSetAttribute(*pool, cudaMemPoolAttrReleaseThreshold, &keeps);
}

/* ---- Opening and closing ---- */

void cuda_close(gpuopt_context *context) {
    CudaContext *cuda = cuda_of(context);
    if (cuda->context) {
        DeviceScope scope(context);
        if (cuda->libraries.close) cuda->libraries.close(&cuda->libraries);
        release_pinned(context);
        if (cuda->pool) {
            cudaStreamSynchronize(cuda->stream);
            cudaMemPoolDestroy(cuda->pool);
        }
        if (cuda->own_stream) cudaStreamDestroy(cuda->stream);
    }
    if (cuda->retained) cuda->driver.release_primary(context->desc.device);
    gpuopt__release(context, GPUOPT_HOST, cuda);
    context->state = nullptr;
}

/* Finds the CUDA context to work in: the context of the caller's stream, which may be a green context, or the device's
 * primary one. */
gpuopt_status find_cuda_context(gpuopt_context *context) {
    CudaContext *cuda = cuda_of(context);
    CUdevice device = context->desc.device;
    const cudaStream_t stream = context->desc.stream;
    if (stream == cudaStreamPerThread) {
        gpuopt__log(context, 0, "gpuopt_context_create: the stream is cudaStreamPerThread, another one in each thread");
        return GPUOPT_ERROR_ARGUMENT;
    }
    if (!stream || stream == cudaStreamLegacy) {
        if (cuda->driver.retain_primary(&cuda->context, device) == CUDA_SUCCESS) {
            cuda->retained = true;
            return GPUOPT_OK;
        }
        gpuopt__log(context, 0, "CUDA device %d: it cannot be opened", static_cast<int>(device));
        return GPUOPT_ERROR_UNSUPPORTED;
    }
    if (cuda->driver.context_of_stream(stream, &cuda->context) == CUDA_SUCCESS) {
        DeviceScope scope(context);
        if (cuda->driver.device_of_current(&device) == CUDA_SUCCESS && device == context->desc.device) return GPUOPT_OK;
    }
    cuda->context = nullptr;
    gpuopt__log(context, 0, "gpuopt_context_create: the stream is not one of CUDA device %d",
                static_cast<int>(context->desc.device));
    return GPUOPT_ERROR_ARGUMENT;
}

/* Reads the properties of the device and its context. */
cudaError_t read_device(gpuopt_context *context) {
    CudaContext *cuda = cuda_of(context);
    int cooperative = 0, device = context->desc.device;
    cudaError_t error = cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, device);
    if (!error) error = cudaDeviceGetAttribute(&cuda->multiprocessors, cudaDevAttrMultiProcessorCount, device);
    if (!error) error = cudaDeviceGetAttribute(&cuda->block_memory, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    cuda->cooperative = cooperative != 0;
#if CUDA_VERSION >= 12040
    CUdevResource resource;
    if (!error && cuda->driver.resource_of_context &&
        cuda->driver.resource_of_context(cuda->context, &resource, CU_DEV_RESOURCE_TYPE_SM) == CUDA_SUCCESS &&
        static_cast<int>(resource.sm.smCount) < cuda->multiprocessors)
        cuda->multiprocessors = static_cast<int>(resource.sm.smCount);
#endif
    return error;
}

/* Warns if this file was not compiled for an architecture that fits the device, so that the driver compiles PTX when it
 * loads kernels. (A program cannot see which architectures have machine code, and which only have PTX.) */
void warn_of_compilation(const gpuopt_context *context) {
#ifdef __CUDA_ARCH_LIST__
    const int archs[] = {__CUDA_ARCH_LIST__};
    int major = 0, minor = 0, device = context->desc.device;
    cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
    cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device);
    for (int arch : archs)
        if (arch / 100 == major && arch / 10 % 10 <= minor) return;
    gpuopt__log(context, 1,
                "the kernels were not compiled for this device (sm_%d%d): the driver compiles each when a handle first "
                "needs it, which takes long",
                major, minor);
#else
    (void)context;
#endif
}

/* Why no context can be created on this machine, as a static text; null: there is a driver with a device. */
const char *cuda_fault() {
    const bool pending = cudaPeekAtLastError() != cudaSuccess;
    int driver = 0, count = 0;
    cudaError_t error = cudaDriverGetVersion(&driver); /* 0: there is none */
    if (!error && driver) error = cudaGetDeviceCount(&count);
    if (error && !pending) cudaGetLastError();
    if (!error && !driver) return "there is no CUDA driver";
    if (error == cudaErrorInsufficientDriver) return "the CUDA driver is older than this libgpuopt_cuda.so requires";
    if (error == cudaErrorNoDevice) return "there is no CUDA device";
    return error ? cudaGetErrorString(error) : nullptr;
}

gpuopt_status cuda_open(gpuopt_context *context) {
    int count = 0;
    const char *fault = gpuopt__selftest(); /* of the CPU code in this file; kernels specify the rounding of each
                                             * operation */
    if (fault) {
        gpuopt__log(context, 0, "gpuopt_context_create: as nvcc's host compiler built the CUDA backend, %s", fault);
        return GPUOPT_ERROR_UNSUPPORTED;
    }
    const bool pending = cudaPeekAtLastError() != cudaSuccess;
    CudaDriver driver = {};
    cudaError_t error = cudaGetDeviceCount(&count);
    if (!error) error = find_driver(&driver);
    if (error != cudaSuccess || context->desc.device < 0 || context->desc.device >= count) {
        gpuopt__log(context, 0, "CUDA device %d: %s", (int)context->desc.device,
                    error != cudaSuccess ? cudaGetErrorString(error) : "there is no such device");
        if (!pending) cudaGetLastError();
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
    cuda->driver = driver;
    context->state = cuda;
    if (context->default_memory) context->memory_user = cuda;
    status = find_cuda_context(context);
    if (!status) {
        DeviceScope scope(context);
        error = read_device(context);
        cuda->stream = context->desc.stream;
        if (!error && !cuda->stream) {
            error = cudaStreamCreateWithFlags(&cuda->stream, cudaStreamNonBlocking);
            cuda->own_stream = !error;
        }
        if (!error && context->default_memory) error = make_pool(context, &cuda->pool);
        status = cuda_status(context, error, "opening the CUDA device");
        if (!status) status = add_pinned_slab(context);
        if (!status) warn_of_compilation(context);
    }
    if (status) cuda_close(context);
    return status;
}

/* ---- Waiting and copying ---- */

gpuopt_status cuda_wait(gpuopt_context *context) {
    DeviceScope scope(context);
    return Queue(context).wait("waiting for the stream");
}

/* Between host and device memory; waits. */
gpuopt_status cuda_copy(gpuopt_context *context, void *to, const void *from, uint64_t bytes) {
    DeviceScope scope(context);
    const Queue queue(context);
    gpuopt_status status = queue.copy(to, from, bytes, "copying between memories");
    return status ? status : queue.wait("copying between memories");
}

} // namespace

#endif /* GPUOPT_CUDA_OPEN_CUH */
