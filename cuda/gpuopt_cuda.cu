/* SPDX-License-Identifier: MIT
 *
 * The CUDA backend, one translation unit. Compile it with nvcc and link it beside gpuopt_impl/gpuopt.c;
 * gpuopt_backend_cuda() is its only symbol that others see.
 */
/* gpuopt_backend_cuda() stays visible to other shared objects where all else is compiled with hidden visibility. */
#if defined(__GNUC__) && !defined(GPUOPT_API)
#define GPUOPT_API extern __attribute__((visibility("default")))
#endif

#include "common/context.cuh"
#include "basis/calls.cuh"
#include "elimination/calls.cuh"
#include "knapsack/calls.cuh"
#include "propagate/calls.cuh"
#include "simplex/calls.cuh"

extern "C" {
GPUOPT_API const gpuopt_backend *gpuopt_backend_cuda(void); /* the header declares it without a host's GPUOPT_API */
}

extern "C" const gpuopt_backend *gpuopt_backend_cuda(void) {
    static const gpuopt_backend cuda = {"cuda",
                                        cuda_open,
                                        cuda_close,
                                        cuda_wait,
                                        cuda_copy,
                                        &cuda_propagator_table,
                                        &cuda_basis_table,
                                        &cuda_simplex_table,
                                        &cuda_elimination_table,
                                        &cuda_knapsack_table};
    return &cuda;
}
