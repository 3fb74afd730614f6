/* SPDX-License-Identifier: MIT
 *
 * An emulated GPU, for tests: the kernels of cuda/ compiled for the CPU.
 *
 * The CUDA sources are compiled as C++ with the headers in include/ in place of CUDA's, and linked with this folder's
 * runtime. A kernel then computes the same as on the GPU, operation by operation. So tests compare it with the CPU
 * backend's bits and with the same oracles, and the sanitizers check it.
 *
 *     fibre.h      stacks to switch between
 *     block.h      the threads of a block, each a fibre; barriers; warps
 *     grid.h       the blocks of a launch; shared memory; asynchronous copies
 *     device.h     two devices, or GPUOPT_EMULATED_DEVICES, at most eight: contexts, memory, loaded kernels; streams,
 *                  events, graphs. GPUOPT_EMULATED_BLOCK_MEMORY: the most bytes of shared memory of a block, if not
 *                  an H200's
 *     include/     the headers for the kernels and the host code
 *
 * Threads. A running block has a thread of the system, and each of the block's threads is a fibre there. So static
 * shared memory is thread_local, and dynamic shared memory belongs to that thread. Of all threads of the system that
 * run blocks only one works at a time: it has the turn. A thread of a kernel runs until it waits (at a barrier, for the
 * other lanes of its warp) or spins (__nanosleep, acquire loads). Then another thread of its block runs. If all threads
 * of a block wait or spin, another block has the turn. Three blocks are live at a time; in a cooperative launch, all
 * blocks.
 *
 * Schedules. Without a seed, threads run in their order, and work enqueued on a stream is done at once. With
 * GPUOPT_EMULATED_SEED=n, n > 0, chance decides several choices. It selects the next thread, in one of three ways for
 * each launch, the next block, and the order in which blocks begin. A thread at an atomic operation or a fence may
 * continue or not. Work on a stream happens at once or when it must. Asynchronous copies are completed in any order.
 * With one CPU thread a seed gives the same run again. Messages name the seed.
 *
 * README.md lists the defects that this detects and those that it does not, and shows how to run a test.
 */
#ifndef EMULATED_H
#define EMULATED_H

#ifdef __cplusplus
extern "C" {
#endif

/* The devices that have a context now: a bit each. */
unsigned emulated_contexts(void);

/* While this is 1, allocating memory, creating a stream and the like are errors: for calls that promise to do
 * neither. */
void emulated_forbid_allocation(int forbidden);

/* How often device memory has been allocated from the driver: by cudaMalloc(), and for a pool with too little. */
long emulated_driver_allocations(void);

/* The device is lost to the calling thread after `calls` of its launches, copies, clearings and waits. The next one and
 * all later ones are errors and do nothing, as after a fault in a kernel. Negative: the device is not lost. */
void emulated_lose_device(long calls);
/* How many there have been since then. */
long emulated_device_calls(void);

/* Replaces the value of GPUOPT_EMULATED_SEED for this process from here on. */
void emulated_set_seed(unsigned long long seed);

#ifdef __cplusplus
}
#endif

#endif /* EMULATED_H */
