/* SPDX-License-Identifier: MIT
 *
 * Page-locked host memory for reports: small structs that kernels write and the CPU reads. A context has slabs of 64
 * slots each, from its allocator, so that a handle need not lock its own pages.
 */
#ifndef GPUOPT_CUDA_PINNED_CUH
#define GPUOPT_CUDA_PINNED_CUH

#include <cstring>

#include "context.cuh"

namespace {

enum { PINNED_SLOT = 256, PINNED_SLOTS = 64, PINNED_PAGE = 65536 /* the largest of the systems with CUDA */ };

/* A block of host memory: this struct, then the slots from the next page on. The pages of the slots are locked. */
struct PinnedSlab {
    PinnedSlab *next;
    uint64_t used; /* a bit for each slot */
    char *slots;
    bool locked; /* by this file; else by the caller's allocator */
};

/* Bytes rounded up to whole pages, and the size of an allocation that contains these pages wherever it begins. */
constexpr size_t whole_pages(size_t bytes) { return (bytes + PINNED_PAGE - 1) / PINNED_PAGE * PINNED_PAGE; }
constexpr size_t bytes_for_pages(size_t bytes) { return whole_pages(bytes) + PINNED_PAGE; }
/* The first page that begins at this address or after it. */
char *first_page(void *memory) {
    return reinterpret_cast<char *>(whole_pages(static_cast<size_t>(reinterpret_cast<uintptr_t>(memory))));
}

/* Locks pages of the context's host memory, unless the allocator returns locked memory; sets *locked to whether it did.
 * cudaHostUnregister() undoes it. Kernels use the memory by the same address, which few platforms forbid. */
gpuopt_status lock_pages(const gpuopt_context *context, void *pages, size_t bytes, bool *locked) {
    cudaPointerAttributes attributes = {};
    *locked = false;
    GPUOPT_CUDA(context, cudaPointerGetAttributes(&attributes, pages));
    if (attributes.type == cudaMemoryTypeUnregistered)
        GPUOPT_CUDA(context, cudaHostRegister(pages, bytes, cudaHostRegisterMapped | cudaHostRegisterPortable));
    *locked = attributes.type == cudaMemoryTypeUnregistered;
    void *same = nullptr;
    if (cudaHostGetDevicePointer(&same, pages, 0) == cudaSuccess && same == pages) return GPUOPT_OK;
    if (*locked) cudaHostUnregister(pages);
    *locked = false;
    gpuopt__log(context, 0, "CUDA device %d: kernels cannot use host memory by its own address",
                static_cast<int>(context->desc.device));
    return GPUOPT_ERROR_UNSUPPORTED;
}

gpuopt_status add_pinned_slab(const gpuopt_context *context) {
    enum { BYTES = PINNED_SLOT * PINNED_SLOTS };
    void *memory;
    gpuopt_status status = gpuopt__allocate(context, GPUOPT_HOST, sizeof(PinnedSlab) + bytes_for_pages(BYTES), &memory);
    if (status) return status;
    auto *slab = static_cast<PinnedSlab *>(memory);
    slab->slots = first_page(slab + 1);
    slab->used = 0;
    status = lock_pages(context, slab->slots, whole_pages(BYTES), &slab->locked);
    if (status) {
        gpuopt__release(context, GPUOPT_HOST, slab);
        return status;
    }
    slab->next = cuda_of(context)->pinned;
    cuda_of(context)->pinned = slab;
    return GPUOPT_OK;
}

/* A slot for a report, all bytes 0; kernels use it by the same address. */
template <class Report>
gpuopt_status take_pinned(const gpuopt_context *context, Report **report) {
    static_assert(sizeof(Report) <= PINNED_SLOT, "a report fits into a slot");
    PinnedSlab *slab = cuda_of(context)->pinned;
    while (slab && slab->used == ~uint64_t{0}) slab = slab->next;
    if (!slab) {
        gpuopt_status status = add_pinned_slab(context);
        if (status) return status;
        slab = cuda_of(context)->pinned;
    }
    int slot = 0;
    while (slab->used >> slot & 1) slot++;
    slab->used |= uint64_t{1} << slot;
    void *memory = slab->slots + slot * PINNED_SLOT;
    std::memset(memory, 0, PINNED_SLOT);
    *report = static_cast<Report *>(memory);
    return GPUOPT_OK;
}

/* Releases a slot; no kernel may write to it any longer. NULL: does nothing. */
void give_pinned(const gpuopt_context *context, const volatile void *report) {
    const auto at = reinterpret_cast<uintptr_t>(report);
    for (PinnedSlab *slab = cuda_of(context)->pinned; slab; slab = slab->next) {
        const auto first = reinterpret_cast<uintptr_t>(slab->slots);
        if (at >= first && at < first + PINNED_SLOT * PINNED_SLOTS)
            slab->used &= ~(uint64_t{1} << (at - first) / PINNED_SLOT);
    }
}

void release_pinned(const gpuopt_context *context) {
    for (PinnedSlab *slab = cuda_of(context)->pinned; slab;) {
        PinnedSlab *next = slab->next;
        if (slab->locked) cudaHostUnregister(slab->slots);
        gpuopt__release(context, GPUOPT_HOST, slab);
        slab = next;
    }
    cuda_of(context)->pinned = nullptr;
}

} // namespace

#endif /* GPUOPT_CUDA_PINNED_CUH */
