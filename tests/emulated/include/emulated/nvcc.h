/* SPDX-License-Identifier: MIT
 *
 * The definitions and includes that nvcc puts before a source: for `g++ -include emulated/nvcc.h -x c++`. Device and
 * host code are compiled together, for sm_90.
 */
#ifndef EMULATED_NVCC_H
#define EMULATED_NVCC_H

#include <cuda_runtime.h>

#define __CUDACC__ 1
#define __CUDA_ARCH__ 900
#define GPUOPT_EMULATED 1

/* The sanitizer sees a handle's whole block as one allocation; each of its arrays must end at its own end. */
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#define GPUOPT__CUT_GAP(from, end, next)                                       \
    (__asan_unpoison_memory_region(from, static_cast<size_t>((end) - (from))), \
     __asan_poison_memory_region(end, static_cast<size_t>((next) - (end))))
#endif

#endif /* EMULATED_NVCC_H */
