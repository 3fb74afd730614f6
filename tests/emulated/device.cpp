/* SPDX-License-Identifier: MIT
 *
 * Devices, contexts and errors; loading and launching kernels.
 */
#include "device.h"

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <map>

#include "emulated.h"
#include "include/emulated/launch.h"

namespace emulated {

Lock &lock() {
    static auto *mutex = new Lock;
    return *mutex;
}

void Lock::lend() {
    const int depth = depth_;
    for (int k = 0; k < depth; k++) unlock();
    std::this_thread::sleep_for(std::chrono::microseconds(20));
    for (int k = 0; k < depth; k++) lock();
}

void lend() { lock().lend(); }

Host &host() {
    static auto *all = new std::vector<std::unique_ptr<Host>>;
    if (!own.host) {
        Guard guard(lock());
        all->push_back(std::make_unique<Host>());
        own.host = all->back().get();
    }
    return *own.host;
}

cudaError_t failed(cudaError_t error) {
    if (error != cudaSuccess) host().last = error;
    return error;
}

static __thread long calls, lost_after = -1;

bool lost() { return calls++ >= lost_after && lost_after >= 0; }

int devices() {
    static const int count = [] {
        const char *wanted = getenv("GPUOPT_EMULATED_DEVICES");
        const int n = wanted ? atoi(wanted) : 2;
        if (n < 1 || n > DEVICES) fatal("GPUOPT_EMULATED_DEVICES is not in 1..%d", static_cast<int>(DEVICES));
        return n;
    }();
    return count;
}

/* Read at each context: a test may want blocks with little shared memory. */
static int block_memory() {
    const char *wanted = getenv("GPUOPT_EMULATED_BLOCK_MEMORY");
    return wanted ? atoi(wanted) : +BLOCK_MEMORY;
}

CUctx_st *primary(int device) {
    static CUctx_st contexts[DEVICES];
    contexts[device].device = device;
    return &contexts[device];
}

CUctx_st *current() {
    std::vector<CUctx_st *> &stack = host().stack;
    if (stack.empty()) {
        stack.push_back(primary(0));
        primary(0)->active = true;
    }
    if (!stack.back()->active) fatal("the current context of this thread has been released");
    return stack.back();
}

Random &chance() {
    static Random random;
    if (random.state == 0) random.state = seed();
    return random;
}

/* ---- Kernels ---- */

struct Function {
    bool loaded = false;
    int most = DEFAULT_MEMORY; /* dynamic shared memory */
};
static Function &function(int device, const void *kernel) {
    static auto *all = new std::map<std::pair<int, const void *>, Function>;
    return (*all)[{device, kernel}];
}

enum { STATIC_MEMORY = 1024 }; /* the real amount of a kernel is unknown */

cudaError_t attributes(cudaFuncAttributes *attributes, const void *kernel) {
    Guard guard(lock());
    Function &f = function(current()->device, kernel);
    f.loaded = true;
    *attributes = {STATIC_MEMORY, 0, 0, 1024, 64, 90, 90, f.most};
    return cudaSuccess;
}

cudaError_t set_attribute(const void *kernel, cudaFuncAttribute attribute, int value) {
    Guard guard(lock());
    Function &f = function(current()->device, kernel);
    f.loaded = true;
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return cudaSuccess;
    if (value < 0 || value > BLOCK_MEMORY - STATIC_MEMORY) return failed(cudaErrorInvalidValue);
    f.most = value;
    return cudaSuccess;
}

cudaError_t occupancy(int *blocks, const void *kernel, int threads, size_t bytes) {
    Guard guard(lock());
    Function &f = function(current()->device, kernel);
    f.loaded = true;
    if (threads < 1 || threads > 1024) return failed(cudaErrorInvalidValue);
    size_t most = std::min<size_t>(TOGETHER, 2048 / ((static_cast<size_t>(threads) + 31) / 32 * 32));
    most = std::min(most, PROCESSOR_MEMORY / (bytes + STATIC_MEMORY + 1024));
    *blocks = bytes > static_cast<size_t>(f.most) ? 0 : static_cast<int>(most);
    return cudaSuccess;
}

/* ---- Launches ---- */

/* Refuses, with a message, launches that a device would refuse. */
static void check_launch(const cudaLaunchConfig_t &c, const void *kernel, bool cooperative) {
    int device = current()->device;
    Function &f = function(device, kernel);
    const dim3 &g = c.gridDim, &b = c.blockDim;
    size_t threads = size_t{b.x} * b.y * b.z;
    if (!f.loaded) fatal("the kernel %s is launched on device %d, where it was not loaded", name_of(kernel), device);
    if (!g.x || !g.y || !g.z || g.x > 0x7fffffff || g.y > 65535 || g.z > 65535)
        fatal("the kernel %s is launched with %u x %u x %u blocks", name_of(kernel), g.x, g.y, g.z);
    if (threads < 1 || threads > 1024 || b.z > 64)
        fatal("the kernel %s is launched with %zu threads in a block", name_of(kernel), threads);
    if (c.dynamicSmemBytes > static_cast<size_t>(f.most))
        fatal("the kernel %s is launched with %zu bytes of shared memory; it may have %d", name_of(kernel),
              c.dynamicSmemBytes, f.most);
    if (!cooperative) return;
    int together = 0;
    occupancy(&together, kernel, static_cast<int>(threads), c.dynamicSmemBytes);
    together *= current()->multiprocessors;
    if (size_t{g.x} * g.y * g.z > static_cast<size_t>(together))
        fatal("the kernel %s is launched with %u x %u x %u blocks at once; %d have room", name_of(kernel), g.x, g.y,
              g.z, together * MULTIPROCESSORS);
}

cudaError_t launch(const cudaLaunchConfig_t &c, const void *kernel, std::function<void()> call) {
    Guard guard(lock());
    if (lost()) return failed(cudaErrorLaunchFailure);
    bool cooperative = false;
    for (unsigned k = 0; k < c.numAttrs; k++)
        if (c.attrs[k].id == cudaLaunchAttributeCooperative) cooperative = c.attrs[k].val.cooperative != 0;
    check_launch(c, kernel, cooperative);
    const dim3 blocks = c.gridDim, threads = c.blockDim;
    const size_t bytes = c.dynamicSmemBytes;
    enqueue(c.stream, "a kernel", [=] {
        Grid grid;
        grid.blocks = blocks;
        grid.threads = threads;
        grid.bytes = bytes;
        grid.cooperative = cooperative;
        grid.kernel = kernel;
        grid.body = call;
        unsigned live = cooperative ? blocks.x * blocks.y * blocks.z : static_cast<unsigned>(MULTIPROCESSORS);
        run_grid(&grid, live, seed());
    });
    return cudaSuccess;
}

cudaError_t algorithm(const char *what, void *scratch, size_t bytes, size_t needed, cudaStream_t stream,
                      std::function<void()> work) {
    Guard guard(lock());
    if (lost()) return failed(cudaErrorLaunchFailure);
    if (bytes < needed) return failed(cudaErrorInvalidValue);
    const Allocation *a = find_allocation(scratch);
    if (!a || a->type != cudaMemoryTypeDevice || static_cast<char *>(scratch) + needed > a->base + a->bytes)
        fatal("%s: its scratch memory is not %zu bytes of device memory", what, needed);
    enqueue(stream, what, [=] {
        memset(scratch, 0xCD, needed);
        work();
    });
    return cudaSuccess;
}

} // namespace emulated

using namespace emulated;

void emulated_lose_device(long after) {
    calls = 0;
    lost_after = after;
}

long emulated_device_calls(void) { return calls; }

/* ---- The runtime's devices and errors ---- */

cudaError_t cudaGetDeviceCount(int *count) {
    *count = devices();
    return cudaSuccess;
}

cudaError_t cudaGetDevice(int *device) {
    const std::vector<CUctx_st *> &stack = host().stack;
    *device = stack.empty() ? 0 : stack.back()->device;
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
    Guard guard(lock());
    if (device < 0 || device >= devices()) return failed(cudaErrorInvalidDevice);
    std::vector<CUctx_st *> &stack = host().stack;
    if (stack.empty()) stack.push_back(nullptr);
    stack.back() = primary(device);
    primary(device)->active = true;
    return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize(void) {
    Guard guard(lock());
    if (lost()) return failed(cudaErrorLaunchFailure);
    finish_device(current()->device);
    shrink_pools();
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device) {
    if (device < 0 || device >= devices()) return failed(cudaErrorInvalidDevice);
    switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock: *value = 1024; break;
    case cudaDevAttrMaxSharedMemoryPerBlock: *value = DEFAULT_MEMORY; break;
    case cudaDevAttrWarpSize: *value = 32; break;
    case cudaDevAttrMultiProcessorCount: *value = MULTIPROCESSORS; break;
    case cudaDevAttrL2CacheSize: *value = 1 << 20; break;
    case cudaDevAttrMaxThreadsPerMultiProcessor: *value = 2048; break;
    case cudaDevAttrComputeCapabilityMajor: *value = 9; break;
    case cudaDevAttrComputeCapabilityMinor: *value = 0; break;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor: *value = PROCESSOR_MEMORY; break;
    case cudaDevAttrCooperativeLaunch: *value = 1; break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = block_memory(); break;
    case cudaDevAttrReservedSharedMemoryPerBlock: *value = 1024; break;
    case cudaDevAttrMemoryPoolsSupported: *value = 1; break;
    default: fatal("attribute %d of a device is not emulated", static_cast<int>(attribute));
    }
    return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int *version) {
    *version = CUDA_VERSION;
    return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int *version) {
    *version = CUDART_VERSION;
    return cudaSuccess;
}

cudaError_t cudaGetLastError(void) {
    cudaError_t error = host().last;
    host().last = cudaSuccess;
    return error;
}

cudaError_t cudaPeekAtLastError(void) { return host().last; }

const char *cudaGetErrorName(cudaError_t error) { return cudaGetErrorString(error); }

const char *cudaGetErrorString(cudaError_t error) {
    switch (error) {
    case cudaSuccess: return "no error";
    case cudaErrorInvalidValue: return "invalid argument";
    case cudaErrorMemoryAllocation: return "out of memory";
    case cudaErrorInvalidDevice: return "invalid device ordinal";
    case cudaErrorInvalidResourceHandle: return "invalid resource handle";
    case cudaErrorNotReady: return "device not ready";
    case cudaErrorHostMemoryAlreadyRegistered: return "part or all of the requested memory range is already mapped";
    case cudaErrorHostMemoryNotRegistered: return "pointer does not correspond to a registered memory region";
    case cudaErrorStreamCaptureUnsupported: return "operation not permitted when stream is capturing";
    default: return "an emulated error";
    }
}

unsigned emulated_contexts(void) {
    unsigned active = 0;
    for (int device = 0; device < DEVICES; device++) active |= static_cast<unsigned>(primary(device)->active) << device;
    return active;
}
