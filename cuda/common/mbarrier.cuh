/* SPDX-License-Identifier: MIT
 *
 * Barriers in shared memory between warps that fetch data and warps that use them, and the asynchronous copies that
 * complete them (PTX ISA: mbarrier, cp.async.bulk). They need sm_90 or later. Compiled for older devices they do
 * nothing and must not be called.
 */
#ifndef GPUOPT_CUDA_MBARRIER_CUH
#define GPUOPT_CUDA_MBARRIER_CUH

#include <cstdint>

#ifdef GPUOPT_EMULATED
#include <emulated/mbarrier.h>
#else

namespace {

using MemoryBarrier = uint64_t; /* in shared memory */

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900

__device__ inline uint32_t shared_address(void *at) { return static_cast<uint32_t>(__cvta_generic_to_shared(at)); }

/* Makes a barrier whose phases end after `arrivals` arrivals each. Call it in one thread, before __syncthreads(). */
__device__ inline void barrier_begin(MemoryBarrier *barrier, uint32_t arrivals) {
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(arrivals) : "memory");
}

/* Arrives. Threads that wait for the phase see what this thread wrote before. */
__device__ inline void barrier_arrive(MemoryBarrier *barrier) {
    asm volatile("{ .reg .b64 state; mbarrier.arrive.shared.b64 state, [%0]; }" ::"r"(shared_address(barrier))
                 : "memory");
}

/* Makes the phase also wait for this many more bytes from copy_bulk(). */
__device__ inline void barrier_expect(MemoryBarrier *barrier, uint32_t bytes) {
    asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(bytes)
                 : "memory");
}

/* Starts a copy from global to shared memory that reports its bytes to the barrier. Both addresses and the length are
 * multiples of 16. */
__device__ inline void copy_bulk(void *to, const void *from, uint32_t bytes, MemoryBarrier *barrier) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                     shared_address(to)),
                 "l"(from), "r"(bytes), "r"(shared_address(barrier))
                 : "memory");
}

/* Waits until the phase of this parity has ended; the first phase has parity 0. */
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

#endif

#endif /* GPUOPT_CUDA_MBARRIER_CUH */
