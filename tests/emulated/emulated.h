/* SPDX-License-Identifier: MIT
 *
 * An emulated GPU, for tests: the kernels of cuda/ compiled for the CPU.
 *
 * The CUDA sources are compiled as C++ with the headers in include/ in place of CUDA's, and linked with this folder's
 * runtime. What a kernel computes is then what the GPU computes, operation by operation, so tests compare it with the
 * CPU backend's bits and with the same oracles; and the sanitizers see it.
 *
 *     fibre.h      stacks to switch between
 *     block.h      the threads of a block, each a fibre; barriers; warps
 *     grid.h       the blocks of a launch; shared memory; asynchronous copies
 *     device.h     two devices, or GPUOPT_EMULATED_DEVICES, at most eight: contexts, memory, loaded kernels; streams, events, graphs.
 *                  GPUOPT_EMULATED_BLOCK_MEMORY: bytes of shared memory that a block may have, if not an H200's
 *     include/     what the kernels and the host code include
 *
 * Threads. A block that runs has a thread of the system, and each of its threads is a fibre there. So static shared
 * memory is thread_local, and dynamic shared memory belongs to that thread. Of all threads of the system that run
 * blocks only one works at a time: it has the turn. A thread of a kernel runs until it waits (at a barrier, for the
 * other lanes of its warp) or spins (__nanosleep, acquire loads), then another thread of its block runs; if all threads
 * of a block wait or spin, another block has the turn. Three blocks are live at a time; of a cooperative launch, all.
 *
 * Schedules. Without a seed, threads run in their order, and what is enqueued on a stream is done at once. With
 * GPUOPT_EMULATED_SEED=n, n > 0, chance decides: which thread runs next, in one of three ways for each launch; which
 * block, and in which order they begin; whether a thread that does an atomic operation or a fence goes on; whether work
 * on a stream happens at once or when it must; which asynchronous copy is completed. With one host thread a seed gives
 * the same run again. Messages name it.
 *
 * What is noticed, with a message and abort(): a barrier that some threads of the block, or lanes of the warp, do not
 * reach; a launch that the device would refuse, on a device that is not current, or of a kernel that was not loaded
 * before; a copy outside of an allocation, or from the wrong side; memory that is freed twice. Device memory and shared
 * memory begin as garbage. The address sanitizer sees accesses outside of an allocation on the device and outside of
 * dynamic shared memory; the undefined-behaviour sanitizer, those outside of an array in shared memory.
 *
 * What is not: races that no schedule of this kind shows (memory is the same for all threads at once, and a thread is
 * interrupted at the points above only), unaligned vector loads without the sanitizer, use of more registers than there
 * are. A GPU and compute-sanitizer are still needed.
 *
 * Without Bazel, for example:
 *
 *     FLAGS="-O1 -g -fopenmp -ffp-contract=off -I tests/emulated/include -I . -I tests/support"
 *     for unit in gpuopt_cuda propagate/propagate basis/basis simplex/simplex elimination/elimination \
 *         knapsack/knapsack; do
 *         g++ -std=c++17 $FLAGS -D__CUDACC__ -D__CUDA_ARCH__=900 -x c++ -c cuda/$unit.cu -o $(basename $unit).o
 *     done
 *     g++ -std=c++17 $FLAGS -c tests/emulated/{fibre,block,grid,copies,device,driver,memory,stream,graph}.cpp
 *     gcc -O1 -g -fopenmp -c gpuopt_impl/gpuopt.c
 *     gcc $FLAGS -std=c11 -D_GNU_SOURCE -DTEST_WITH_EMULATED tests/knapsack/random_test.c tests/knapsack/models.c \
 *         \
 *         $(ls tests/support/{support,backends}.c) *.o -lcmocka -lstdc++ -lm -o random_test
 *     GPUOPT_EMULATED_SEED=1 ./random_test cuda-emulated
 */
#ifndef EMULATED_H
#define EMULATED_H

#ifdef __cplusplus
extern "C" {
#endif

/* The devices that have a context now: a bit each. */
unsigned emulated_contexts(void);

/* While this is 1, taking memory, creating a stream and the like are errors: for calls that promise to do without. */
void emulated_forbid_allocation(int forbidden);

/* How often device memory has been taken from the driver: by cudaMalloc(), and for a pool that has too little. */
long emulated_driver_allocations(void);

/* The device is lost to the calling thread after so many of its launches, copies, clearings and waits: the next one and
 * all that follow are errors and do nothing, as after a fault in a kernel. Negative: it is not. */
void emulated_lose_device(long calls);
/* How many there have been since then. */
long emulated_device_calls(void);

/* What GPUOPT_EMULATED_SEED says, for this process from here on. */
void emulated_set_seed(unsigned long long seed);

#ifdef __cplusplus
}
#endif

#endif /* EMULATED_H */
