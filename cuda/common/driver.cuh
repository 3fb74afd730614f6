/* SPDX-License-Identifier: MIT
 *
 * The few functions of the CUDA driver without an equivalent in the runtime. Opening a context looks them up, so that a
 * program need not be linked with libcuda.
 */
#ifndef GPUOPT_CUDA_DRIVER_CUH
#define GPUOPT_CUDA_DRIVER_CUH

#include <cuda.h>
#include <cuda_runtime.h>

namespace {

struct CudaDriver {
    CUresult (*push)(CUcontext);                          /* cuCtxPushCurrent */
    CUresult (*pop)(CUcontext *);                         /* cuCtxPopCurrent */
    CUresult (*retain_primary)(CUcontext *, CUdevice);    /* cuDevicePrimaryCtxRetain */
    CUresult (*release_primary)(CUdevice);                /* cuDevicePrimaryCtxRelease */
    CUresult (*context_of_stream)(CUstream, CUcontext *); /* cuStreamGetCtx */
    CUresult (*device_of_current)(CUdevice *);            /* cuCtxGetDevice */
#if CUDA_VERSION >= 12040
    /* cuCtxGetDevResource; null with older drivers */
    CUresult (*resource_of_context)(CUcontext, CUdevResource *, CUdevResourceType);
#endif
};

template <class Function>
cudaError_t find_driver_function(const char *name, unsigned version, Function *function) {
    void *found = nullptr;
    cudaDriverEntryPointQueryResult result = cudaDriverEntryPointSymbolNotFound;
#if CUDART_VERSION >= 12050
    cudaError_t error = cudaGetDriverEntryPointByVersion(name, &found, version, cudaEnableDefault, &result);
#else
    (void)version;
    cudaError_t error = cudaGetDriverEntryPoint(name, &found, cudaEnableDefault, &result);
#endif
    if (!error && (result != cudaDriverEntryPointSuccess || !found)) error = cudaErrorInsufficientDriver;
    *function = error ? nullptr : reinterpret_cast<Function>(found);
    return error;
}

cudaError_t find_driver(CudaDriver *driver) {
    [[maybe_unused]] const bool pending = cudaPeekAtLastError() != cudaSuccess;
    cudaError_t error = find_driver_function("cuCtxPushCurrent", 4000, &driver->push);
    if (!error) error = find_driver_function("cuCtxPopCurrent", 4000, &driver->pop);
    if (!error) error = find_driver_function("cuDevicePrimaryCtxRetain", 7000, &driver->retain_primary);
    if (!error) error = find_driver_function("cuDevicePrimaryCtxRelease", 11000, &driver->release_primary);
    if (!error) error = find_driver_function("cuStreamGetCtx", 9020, &driver->context_of_stream);
    if (!error) error = find_driver_function("cuCtxGetDevice", 2000, &driver->device_of_current);
#if CUDA_VERSION >= 12040
    if (!error && find_driver_function("cuCtxGetDevResource", 12040, &driver->resource_of_context) && !pending)
        cudaGetLastError(); /* this function may be missing */
#endif
    return error;
}

} // namespace

#endif /* GPUOPT_CUDA_DRIVER_CUH */
