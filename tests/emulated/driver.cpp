/* SPDX-License-Identifier: MIT
 *
 * The driver's contexts.
 */
#include <cstring>

#include "device.h"

struct CUdevResourceDesc_st {
    int multiprocessors;
};
struct CUgreenCtx_st {
    CUctx_st context;
};

using namespace emulated;

CUresult cuInit(unsigned) { return CUDA_SUCCESS; }

CUresult cuCtxGetCurrent(CUcontext *context) {
    *context = host().stack.empty() ? nullptr : host().stack.back();
    return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext context) {
    std::vector<CUctx_st *> &stack = host().stack;
    if (!stack.empty()) stack.pop_back();
    if (context) stack.push_back(context);
    return CUDA_SUCCESS;
}

CUresult cuCtxPushCurrent(CUcontext context) {
    if (!context || !context->active) return CUDA_ERROR_INVALID_CONTEXT;
    host().stack.push_back(context);
    return CUDA_SUCCESS;
}

CUresult cuCtxPopCurrent(CUcontext *context) {
    if (host().stack.empty()) return CUDA_ERROR_INVALID_CONTEXT;
    if (context) *context = host().stack.back();
    host().stack.pop_back();
    return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice *device) {
    if (host().stack.empty()) return CUDA_ERROR_INVALID_CONTEXT;
    *device = host().stack.back()->device;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetDevResource(CUcontext context, CUdevResource *resource, CUdevResourceType type) {
    if (!context || type != CU_DEV_RESOURCE_TYPE_SM) return CUDA_ERROR_INVALID_VALUE;
    resource->type = type;
    resource->sm.smCount = static_cast<unsigned>(context->multiprocessors);
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
    Guard guard(lock());
    if (device < 0 || device >= devices()) return CUDA_ERROR_INVALID_DEVICE;
    primary(device)->retained++;
    primary(device)->active = true;
    *context = primary(device);
    return CUDA_SUCCESS;
}

/* The context stays, as it does on a device once the runtime has used it. */
CUresult cuDevicePrimaryCtxRelease(CUdevice device) {
    Guard guard(lock());
    if (device < 0 || device >= devices()) return CUDA_ERROR_INVALID_DEVICE;
    if (primary(device)->retained == 0) fatal("the context of device %d is released more often than retained", device);
    primary(device)->retained--;
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags, int *active) {
    if (device < 0 || device >= devices()) return CUDA_ERROR_INVALID_DEVICE;
    *flags = 0;
    *active = primary(device)->active;
    return CUDA_SUCCESS;
}

/* ---- Green contexts: some of a device's multiprocessors ---- */

CUresult cuDeviceGetDevResource(CUdevice device, CUdevResource *resource, CUdevResourceType type) {
    if (device < 0 || device >= devices()) return CUDA_ERROR_INVALID_DEVICE;
    return cuCtxGetDevResource(primary(device), resource, type);
}

/* A single group of that size. */
CUresult cuDevSmResourceSplitByCount(CUdevResource *result, unsigned *groups, const CUdevResource *of,
                                     CUdevResource *rest, unsigned, unsigned count) {
    if (!groups || *groups != 1 || count < 1 || count > of->sm.smCount) return CUDA_ERROR_INVALID_VALUE;
    *result = *of;
    result->sm.smCount = count;
    if (rest) {
        *rest = *of;
        rest->sm.smCount -= count;
    }
    return CUDA_SUCCESS;
}

CUresult cuDevResourceGenerateDesc(CUdevResourceDesc *description, CUdevResource *resources, unsigned count) {
    if (count != 1) return CUDA_ERROR_INVALID_VALUE;
    *description = new CUdevResourceDesc_st{static_cast<int>(resources->sm.smCount)};
    return CUDA_SUCCESS;
}

CUresult cuGreenCtxCreate(CUgreenCtx *context, CUdevResourceDesc description, CUdevice device, unsigned) {
    if (device < 0 || device >= devices()) return CUDA_ERROR_INVALID_DEVICE;
    auto *green = new CUgreenCtx_st;
    green->context.device = device;
    green->context.multiprocessors = description->multiprocessors;
    green->context.active = true;
    *context = green;
    delete description;
    return CUDA_SUCCESS;
}

CUresult cuCtxFromGreenCtx(CUcontext *context, CUgreenCtx green) {
    *context = &green->context;
    return CUDA_SUCCESS;
}

CUresult cuGreenCtxStreamCreate(CUstream *stream, CUgreenCtx green, unsigned flags, int) {
    CUcontext popped;
    cuCtxPushCurrent(&green->context);
    cudaError_t error = cudaStreamCreateWithFlags(stream, flags);
    cuCtxPopCurrent(&popped);
    return error ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

/* ---- Looking functions up ---- */

cudaError_t cudaGetDriverEntryPoint(const char *name, void **function, unsigned long long,
                                    cudaDriverEntryPointQueryResult *result) {
    static const struct {
        const char *name;
        void *function;
    } all[] = {{"cuInit", reinterpret_cast<void *>(cuInit)},
               {"cuCtxGetCurrent", reinterpret_cast<void *>(cuCtxGetCurrent)},
               {"cuCtxSetCurrent", reinterpret_cast<void *>(cuCtxSetCurrent)},
               {"cuCtxPushCurrent", reinterpret_cast<void *>(cuCtxPushCurrent)},
               {"cuCtxPopCurrent", reinterpret_cast<void *>(cuCtxPopCurrent)},
               {"cuCtxGetDevice", reinterpret_cast<void *>(cuCtxGetDevice)},
               {"cuCtxGetDevResource", reinterpret_cast<void *>(cuCtxGetDevResource)},
               {"cuDevicePrimaryCtxRetain", reinterpret_cast<void *>(cuDevicePrimaryCtxRetain)},
               {"cuDevicePrimaryCtxRelease", reinterpret_cast<void *>(cuDevicePrimaryCtxRelease)},
               {"cuDevicePrimaryCtxGetState", reinterpret_cast<void *>(cuDevicePrimaryCtxGetState)},
               {"cuDeviceGetDevResource", reinterpret_cast<void *>(cuDeviceGetDevResource)},
               {"cuDevSmResourceSplitByCount", reinterpret_cast<void *>(cuDevSmResourceSplitByCount)},
               {"cuDevResourceGenerateDesc", reinterpret_cast<void *>(cuDevResourceGenerateDesc)},
               {"cuGreenCtxCreate", reinterpret_cast<void *>(cuGreenCtxCreate)},
               {"cuCtxFromGreenCtx", reinterpret_cast<void *>(cuCtxFromGreenCtx)},
               {"cuGreenCtxStreamCreate", reinterpret_cast<void *>(cuGreenCtxStreamCreate)},
               {"cuStreamWaitValue32", reinterpret_cast<void *>(cuStreamWaitValue32)},
               {"cuStreamGetCtx", reinterpret_cast<void *>(cuStreamGetCtx)}};
    *function = nullptr;
    for (const auto &one : all)
        if (strcmp(one.name, name) == 0) *function = one.function;
    *result = *function ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
    return *function ? cudaSuccess : failed(cudaErrorSymbolNotFound);
}

cudaError_t cudaGetDriverEntryPointByVersion(const char *name, void **function, unsigned, unsigned long long flags,
                                             cudaDriverEntryPointQueryResult *result) {
    return cudaGetDriverEntryPoint(name, function, flags, result);
}
