/* SPDX-License-Identifier: MIT
 *
 * Device memory and page-locked host memory.
 */
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>

#include "device.h"
#include "emulated.h"

/* A pool holds memory from the driver: for its allocations and, up to the threshold, from earlier ones. */
struct CUmemPoolHandle_st {
    int device;
    uint64_t threshold = 0, used = 0, held = 0;
};

namespace emulated {

static std::map<uintptr_t, Allocation> &allocations() {
    static auto *all = new std::map<uintptr_t, Allocation>;
    return *all;
}
static size_t used[DEVICES]; /* by cudaMalloc() and by the pools */
static bool forbidden;
static long from_driver; /* how often device memory has been taken from there */

static std::set<cudaMemPool_t> &pools() {
    static auto *all = new std::set<cudaMemPool_t>;
    return *all;
}

static void shrink(cudaMemPool_t pool, uint64_t bytes) {
    const uint64_t keeps = std::max(pool->used, std::min(pool->held, bytes));
    used[pool->device] -= pool->held - keeps;
    pool->held = keeps;
}

void shrink_pools() {
    for (cudaMemPool_t pool : pools()) shrink(pool, pool->threshold);
}

/* Requests from the driver the bytes that the pool lacks for an allocation. */
static bool grow(cudaMemPool_t pool, uint64_t bytes) {
    const uint64_t lacks = pool->used + bytes > pool->held ? pool->used + bytes - pool->held : 0;
    if (lacks > device_memory - used[pool->device]) return false;
    from_driver += lacks > 0;
    used[pool->device] += lacks;
    pool->held += lacks;
    pool->used += bytes;
    return true;
}

void forbid(const char *what) {
    if (forbidden) fatal("%s in a call that promises to take nothing", what);
}

Allocation *find_allocation(const void *pointer) {
    auto at = reinterpret_cast<uintptr_t>(pointer);
    auto after = allocations().upper_bound(at);
    if (after == allocations().begin()) return nullptr;
    Allocation &a = std::prev(after)->second;
    return at < reinterpret_cast<uintptr_t>(a.base) + a.bytes ? &a : nullptr;
}

static void add(void *memory, size_t bytes, cudaMemoryType type, int device, cudaMemPool_t pool = nullptr) {
    allocations()[reinterpret_cast<uintptr_t>(memory)] = {
        static_cast<char *>(memory), bytes, type, device, false, pool};
}

/* The allocation that begins here. */
static Allocation &own_allocation(const void *memory, cudaMemoryType type, const char *what) {
    auto found = allocations().find(reinterpret_cast<uintptr_t>(memory));
    if (found == allocations().end() || found->second.type != type || found->second.freed)
        fatal("%s: nothing has been allocated at %p", what, memory);
    return found->second;
}

static void release(void *memory) {
    Allocation &a = *find_allocation(memory);
    if (a.pool) a.pool->used -= a.bytes;
    else if (a.type == cudaMemoryTypeDevice) used[a.device] -= a.bytes;
    allocations().erase(reinterpret_cast<uintptr_t>(memory));
    free(memory);
}

static cudaError_t allocate(void **memory, size_t bytes, cudaMemoryType type, int device,
                            cudaMemPool_t pool = nullptr) {
    static const unsigned char garbage[] = {0xCD, 0xFF, 0x7F, 0x3F};
    if (type == cudaMemoryTypeDevice && (bytes > device_memory || (!pool && used[device] + bytes > device_memory)))
        return failed(cudaErrorMemoryAllocation);
    if (pool && !grow(pool, bytes)) return failed(cudaErrorMemoryAllocation);
    if (posix_memalign(memory, 256, bytes ? bytes : 1)) {
        if (pool) pool->used -= bytes;
        return failed(cudaErrorMemoryAllocation);
    }
    memset(*memory, seed() ? garbage[chance().below(4)] : 0xCD, bytes);
    add(*memory, bytes, type, device, pool);
    if (type == cudaMemoryTypeDevice && !pool) used[device] += bytes, from_driver++;
    return cudaSuccess;
}

} // namespace emulated

using namespace emulated;

void emulated_forbid_allocation(int forbid) {
    Guard guard(lock());
    forbidden = forbid != 0;
}

long emulated_driver_allocations(void) {
    Guard guard(lock());
    return from_driver;
}

/* ---- Device memory ---- */

cudaError_t cudaMalloc(void **memory, size_t bytes) {
    Guard guard(lock());
    forbid("cudaMalloc");
    return allocate(memory, bytes, cudaMemoryTypeDevice, current()->device);
}

cudaError_t cudaFree(void *memory) {
    Guard guard(lock());
    CUctx_st *context = current();
    if (!memory) return cudaSuccess;
    finish_device(context->device);
    own_allocation(memory, cudaMemoryTypeDevice, "cudaFree");
    release(memory);
    return cudaSuccess;
}

cudaError_t cudaMallocAsync(void **memory, size_t bytes, cudaStream_t stream) {
    return cudaMallocFromPoolAsync(memory, bytes, nullptr, stream);
}

cudaError_t cudaMallocFromPoolAsync(void **memory, size_t bytes, cudaMemPool_t pool, cudaStream_t stream) {
    Guard guard(lock());
    forbid("cudaMallocAsync");
    enqueue(stream, "cudaMallocAsync", [] {});
    return allocate(memory, bytes, cudaMemoryTypeDevice, pool ? pool->device : current()->device, pool);
}

cudaError_t cudaFreeAsync(void *memory, cudaStream_t stream) {
    Guard guard(lock());
    if (!memory) return cudaSuccess;
    own_allocation(memory, cudaMemoryTypeDevice, "cudaFreeAsync").freed = true;
    enqueue(stream, "cudaFreeAsync", [memory] { release(memory); });
    return cudaSuccess;
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t *pool, const cudaMemPoolProps *properties) {
    Guard guard(lock());
    forbid("cudaMemPoolCreate");
    if (properties->location.id < 0 || properties->location.id >= devices()) return failed(cudaErrorInvalidDevice);
    *pool = new CUmemPoolHandle_st{properties->location.id};
    pools().insert(*pool);
    return cudaSuccess;
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
    Guard guard(lock());
    pool->threshold = 0;
    shrink(pool, 0);
    if (pool->used) return cudaSuccess; /* it stays until all is freed; after the loss of a device that never happens */
    pools().erase(pool);
    delete pool;
    return cudaSuccess;
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void *value) {
    Guard guard(lock());
    if (attribute != cudaMemPoolAttrReleaseThreshold) return failed(cudaErrorInvalidValue);
    pool->threshold = *static_cast<uint64_t *>(value);
    return cudaSuccess;
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void *value) {
    Guard guard(lock());
    *static_cast<uint64_t *>(value) = attribute == cudaMemPoolAttrReservedMemCurrent ? pool->held
                                      : attribute == cudaMemPoolAttrUsedMemCurrent   ? pool->used
                                                                                     : pool->threshold;
    return cudaSuccess;
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t bytes) {
    Guard guard(lock());
    shrink(pool, bytes);
    return cudaSuccess;
}

/* All memory is host memory, so every device may use it; this only checks the arguments. */
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc *list, size_t count) {
    for (size_t k = 0; k < count; k++)
        if (list[k].location.id < 0 || list[k].location.id >= DEVICES || list[k].location.id == pool->device)
            return failed(cudaErrorInvalidDevice);
    return cudaSuccess;
}

cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer) {
    if (device < 0 || device >= DEVICES || peer < 0 || peer >= DEVICES) return failed(cudaErrorInvalidDevice);
    *can = device != peer;
    return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t *unused, size_t *total) {
    Guard guard(lock());
    *total = device_memory;
    *unused = device_memory - used[current()->device];
    return cudaSuccess;
}

/* ---- Page-locked host memory ---- */

cudaError_t cudaHostAlloc(void **memory, size_t bytes, unsigned) {
    Guard guard(lock());
    forbid("cudaHostAlloc");
    return allocate(memory, bytes, cudaMemoryTypeHost, current()->device);
}

cudaError_t cudaMallocHost(void **memory, size_t bytes) { return cudaHostAlloc(memory, bytes, 0); }

cudaError_t cudaFreeHost(void *memory) {
    Guard guard(lock());
    finish_device(current()->device);
    if (!memory) return cudaSuccess;
    own_allocation(memory, cudaMemoryTypeHost, "cudaFreeHost");
    release(memory);
    return cudaSuccess;
}

cudaError_t cudaHostRegister(void *memory, size_t bytes, unsigned) {
    Guard guard(lock());
    forbid("cudaHostRegister");
    int device = current()->device;
    if (!memory || !bytes) return failed(cudaErrorInvalidValue);
    if (find_allocation(memory) || find_allocation(static_cast<char *>(memory) + bytes - 1))
        return failed(cudaErrorHostMemoryAlreadyRegistered);
    add(memory, bytes, cudaMemoryTypeHost, device);
    return cudaSuccess;
}

cudaError_t cudaHostUnregister(void *memory) {
    Guard guard(lock());
    finish_device(current()->device);
    auto found = allocations().find(reinterpret_cast<uintptr_t>(memory));
    if (found == allocations().end()) return failed(cudaErrorHostMemoryNotRegistered);
    allocations().erase(found);
    return cudaSuccess;
}

cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned) {
    *device = host;
    return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *attributes, const void *pointer) {
    Guard guard(lock());
    *attributes = {cudaMemoryTypeUnregistered, -2, nullptr, const_cast<void *>(pointer)};
    if (const Allocation *a = find_allocation(pointer)) {
        attributes->type = a->type;
        attributes->device = a->device;
        attributes->devicePointer = const_cast<void *>(pointer);
        if (a->type == cudaMemoryTypeDevice) attributes->hostPointer = nullptr;
    }
    return cudaSuccess;
}
