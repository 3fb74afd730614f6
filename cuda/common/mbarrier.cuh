/* SPDX-License-Identifier: MIT
 *
 * Barriers in shared memory between warps that bring data and warps that use them, and the copies that they wait for
 * (PTX ISA, mbarrier and cp.async.bulk). From sm_90 on; for others this compiles to nothing, and is not to be called.
 */
#ifndef GPUOPT_CUDA_MBARRIER_CUH
#define GPUOPT_CUDA_MBARRIER_CUH

#include <cstdint>

namespace {

using MemoryBarrier = uint64_t; /* in shared memory */

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900

__device__ inline uint32_t shared_address(void *at) { return static_cast<uint32_t>(__cvta_generic_to_shared(at)); }

/* arrivals: that end a phase. By one thread, before a __syncthreads(). */
__device__ inline void barrier_begin(MemoryBarrier *barrier, uint32_t arrivals) {
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(arrivals) : "memory");
}

/* What this thread did before is seen by those that wait. */
__device__ inline void barrier_arrive(MemoryBarrier *barrier) {
    asm volatile("{ .reg .b64 state; mbarrier.arrive.shared.b64 state, [%0]; }" ::"r"(shared_address(barrier))
                 : "memory");
}

/* The phase does not end before so many more bytes have come by copy_bulk(). */
__device__ inline void barrier_expect(MemoryBarrier *barrier, uint32_t bytes) {
    asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(bytes)
                 : "memory");
}

/* Copies a multiple of 16 bytes from global to shared memory, both at multiples of 16, and tells the barrier. */
__device__ inline void copy_bulk(void *to, const void *from, uint32_t bytes, MemoryBarrier *barrier) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                     shared_address(to)),
                 "l"(from), "r"(bytes), "r"(shared_address(barrier))
                 : "memory");
}

/* Until the barrier's phase of this parity, 0 for the first one, has ended. */
__device__ inline void barrier_wait(MemoryBarrier *barrier, uint32_t parity) {
    uint32_t done = 0;
    while (!done)
        asm volatile(
            "{ .reg .pred ended; mbarrier.test_wait.parity.shared.b64 ended, [%1], %2; selp.u32 %0, 1, 0, ended; }"
            : "=r"(done)
            : "r"(shared_address(barrier)), "r"(parity)
            : "memory");
}

#else

__device__ inline void barrier_begin(MemoryBarrier *, uint32_t) {}
__device__ inline void barrier_arrive(MemoryBarrier *) {}
__device__ inline void barrier_expect(MemoryBarrier *, uint32_t) {}
__device__ inline void copy_bulk(void *, const void *, uint32_t, MemoryBarrier *) {}
__device__ inline void barrier_wait(MemoryBarrier *, uint32_t) {}

#endif

} // namespace

#endif /* GPUOPT_CUDA_MBARRIER_CUH */
