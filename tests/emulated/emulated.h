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
 * Detected defects end the program with a message and abort():
 *     a barrier that some threads of the block, or lanes of the warp, do not reach;
 *     a launch that the device would refuse, on a device that is not current, or of a kernel not loaded before;
 *     a copy outside of an allocation, or from the wrong side; memory freed twice.
 * Device memory and shared memory begin as garbage. The address sanitizer sees accesses outside of an allocation on the
 * device and outside of dynamic shared memory. The undefined-behaviour sanitizer sees accesses outside of an array in
 * shared memory.
 *
 * Other defects are not detected: races that no schedule of this kind shows (memory is the same for all threads at
 * once, and a thread is interrupted only at the points above), unaligned vector loads without the sanitizer, use of too
 * many registers. A GPU and compute-sanitizer are still needed.
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
