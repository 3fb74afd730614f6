/* SPDX-License-Identifier: MIT
 *
 * Barriers in shared memory between warps that fetch data and warps that use them, and the asynchronous copies that
 * complete these barriers. They need sm_90 or later. Compiled for older devices they do nothing and must not be called.
 *
 * The protocol is a ring of slots, each with two barriers. Its reasons (PTX ISA 9.0, sections by name) follow:
 *
 *   producer, all lanes                            consumer
 *   barrier_wait(empty)     acquires ............. the consumers' reads, see below
 *   one lane: barrier_expect(full, bytes)
 *   __syncwarp()            orders it before the copies
 *   copy_bulk(...)          by any lane            barrier_wait(full)   acquires the copies, and the producers'
 *   barrier_arrive(full)    releases ...................................own writes to the slot
 *                                                  reads the slot
 *                                                  barrier_arrive_warp(empty)   releases
 *
 * - Phases. "mbarrier.arrive" has .release and "mbarrier.test_wait" .acquire semantics at .cta scope unless they
 *   specify otherwise. So a thread that has seen the phase end sees everything that other threads did before their
 *   arrivals ("Parallel Synchronization and Communication Instructions: mbarrier"). A lane arrives for its warp after
 *   __syncwarp(), which orders the memory accesses of the participating lanes; causality is transitive ("Memory
 *   Consistency Model: Causality order").
 * - Bytes. A phase ends when no arrival and no byte is pending. expect_tx is relaxed; its own thread arrives after it,
 *   so the phase cannot end before the bytes are counted ("mbarrier: Tracking asynchronous operations").
 * - Proxies. cp.async.bulk reads, writes and completes the barrier by the async proxy; loads, stores and mbarrier.init
 *   use the generic one. Only a proxy fence orders accesses to a location by different proxies ("Memory Consistency
 *   Model: Causality order, proxy-preserved base causality order"; "Asynchronous operations: async proxy"). There are
 *   three such crossings. barrier_begin(), then copies: ordered by the fence in barrier_begin(). Copies that overwrite
 *   a slot after the consumers' reads: ordered by the fence in copy_begin(), which each lane calls after its wait.
 *   Reads by consumers after copies: the completion of a bulk copy implies the fence.
 * - Parity. A waiter is at most one phase behind, since the ring's other barrier stops any thread that would run ahead.
 *   So one bit distinguishes the phases.
 *
 * With -DGPUOPT_CUDA_STD_BARRIER the same functions use libcu++'s cuda::barrier, and compute-sanitizer understands its
 * phases. Every lane then arrives, since the tool does not see a __syncwarp() that is compiled to a test of
 * convergence. This test build (tests/gpu/sanitize.sh) separates racecheck's reports about these barriers from its
 * reports about the kernel.
 */
#ifndef GPUOPT_CUDA_MBARRIER_CUH
#define GPUOPT_CUDA_MBARRIER_CUH

#include <cstdint>

#ifdef GPUOPT_EMULATED
#include <emulated/mbarrier.h>
#else
#if defined(GPUOPT_CUDA_STD_BARRIER)
#include <cuda/barrier>
#include <cuda/ptx>
#endif

namespace {

using MemoryBarrier = uint64_t; /* in shared memory */

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900 && defined(GPUOPT_CUDA_STD_BARRIER)

using StandardBarrier = cuda::barrier<cuda::thread_scope_block>;
static_assert(sizeof(StandardBarrier) == sizeof(MemoryBarrier), "a cuda::barrier of a block is an mbarrier");

__device__ inline StandardBarrier *standard_barrier(MemoryBarrier *barrier) {
    return reinterpret_cast<StandardBarrier *>(barrier);
}

__device__ inline void barrier_begin(MemoryBarrier *barrier, uint32_t arrivals) {
    init(standard_barrier(barrier), arrivals);
    cuda::ptx::fence_proxy_async(cuda::ptx::space_shared);
}
__device__ inline void barrier_arrive(MemoryBarrier *barrier) { (void)standard_barrier(barrier)->arrive(); }
__device__ inline void barrier_expect(MemoryBarrier *barrier, uint32_t bytes) {
    cuda::device::barrier_expect_tx(*standard_barrier(barrier), bytes);
}
__device__ inline void barrier_wait(MemoryBarrier *barrier, uint32_t parity) {
    standard_barrier(barrier)->wait_parity(parity != 0);
}
__device__ inline void copy_begin() { cuda::ptx::fence_proxy_async(cuda::ptx::space_shared); }
__device__ inline void copy_bulk(void *to, const void *from, uint32_t bytes, MemoryBarrier *barrier) {
    cuda::device::memcpy_async_tx(static_cast<char *>(to), static_cast<const char *>(from),
                                  cuda::aligned_size_t<16>(bytes), *standard_barrier(barrier));
}

#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900

__device__ inline uint32_t shared_address(void *at) { return static_cast<uint32_t>(__cvta_generic_to_shared(at)); }

/* Makes a barrier with phases that end after `arrivals` arrivals each. Call it in one thread, before
 * __syncthreads(). */
__device__ inline void barrier_begin(MemoryBarrier *barrier, uint32_t arrivals) {
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(arrivals) : "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/* Arrives. Threads that wait for the phase then see this thread's earlier writes. */
__device__ inline void barrier_arrive(MemoryBarrier *barrier) {
    asm volatile("{ .reg .b64 state; mbarrier.arrive.shared.b64 state, [%0]; }" ::"r"(shared_address(barrier))
                 : "memory");
}

/* Makes the phase also wait for this many more bytes from copy_bulk(). */
__device__ inline void barrier_expect(MemoryBarrier *barrier, uint32_t bytes) {
    asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(bytes)
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

/* Orders all accesses to shared memory that this thread has seen before the copies that it starts next. */
__device__ inline void copy_begin() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

/* Starts a copy from global to shared memory that reports its bytes to the barrier. The addresses and the length are
 * multiples of 16. */
__device__ inline void copy_bulk(void *to, const void *from, uint32_t bytes, MemoryBarrier *barrier) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                     shared_address(to)),
                 "l"(from), "r"(bytes), "r"(shared_address(barrier))
                 : "memory");
}

#else

__device__ inline void barrier_begin(MemoryBarrier *, uint32_t) {}
__device__ inline void barrier_arrive(MemoryBarrier *) {}
__device__ inline void barrier_expect(MemoryBarrier *, uint32_t) {}
__device__ inline void barrier_wait(MemoryBarrier *, uint32_t) {}
__device__ inline void copy_begin() {}
__device__ inline void copy_bulk(void *, const void *, uint32_t, MemoryBarrier *) {}

#endif

} // namespace

#endif

namespace {

/* The number of a warp's arrivals in a phase by barrier_arrive_warp(). */
#ifdef GPUOPT_CUDA_STD_BARRIER
constexpr uint32_t barrier_warp_arrivals = 32;
#else
constexpr uint32_t barrier_warp_arrivals = 1;
#endif

/* Arrives for the warp; all lanes call it, and everything that each of them did comes before the arrival. */
__device__ inline void barrier_arrive_warp(MemoryBarrier *barrier) {
    __syncwarp();
    if (threadIdx.x % 32 < barrier_warp_arrivals) barrier_arrive(barrier);
}

} // namespace

#endif /* GPUOPT_CUDA_MBARRIER_CUH */
