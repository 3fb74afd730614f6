/* SPDX-License-Identifier: MIT
 *
 * Page-locked host memory for reports: small structs that kernels write and the host reads. A context has slabs of 64
 * slots each, from its allocator, so that a handle need not lock pages of its own.
 */
#ifndef GPUOPT_CUDA_PINNED_CUH
#define GPUOPT_CUDA_PINNED_CUH

#include <cstring>

#include "context.cuh"

namespace {

enum { PINNED_SLOT = 256, PINNED_SLOTS = 64, PINNED_PAGE = 4096 };

/* One block of host memory: this, then the slots from the next page on. The pages of the slots are locked. */
struct PinnedSlab {
    PinnedSlab *next;
    uint64_t used; /* a bit for each slot */
    char *slots;
};

gpuopt_status add_pinned_slab(const gpuopt_context *context) {
    enum { BYTES = PINNED_SLOT * PINNED_SLOTS };
    void *memory;
    gpuopt_status status =
        gpuopt__allocate(context, GPUOPT_HOST, sizeof(PinnedSlab) + PINNED_PAGE + BYTES + PINNED_PAGE, &memory);
    if (status) return status;
    auto *slab = static_cast<PinnedSlab *>(memory);
    const uintptr_t end = reinterpret_cast<uintptr_t>(slab + 1);
    slab->slots = reinterpret_cast<char *>((end + PINNED_PAGE - 1) / PINNED_PAGE * PINNED_PAGE);
    slab->used = 0;
    status =
        cuda_status(context, cudaHostRegister(slab->slots, BYTES, cudaHostRegisterMapped | cudaHostRegisterPortable),
                    "locking pages");
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

/* Gives a slot back, which no kernel writes to any longer; NULL is none. */
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
        cudaHostUnregister(slab->slots);
        gpuopt__release(context, GPUOPT_HOST, slab);
        slab = next;
    }
    cuda_of(context)->pinned = nullptr;
}

} // namespace

#endif /* GPUOPT_CUDA_PINNED_CUH */
