/* SPDX-License-Identifier: MIT
 *
 * The CUDA backend: the context, and the families' tables, each from its own translation unit (FAMILY/FAMILY.cu).
 * Compile all of them with nvcc and link them with gpuopt_impl/gpuopt.c. Other shared objects see only two symbols:
 * gpuopt_backend_cuda() and, for gpuopt_backend_cuda_load(), gpuopt__cuda_exports.
 */
/* These two stay visible where everything else is compiled with hidden visibility. */
#if defined(__GNUC__) && !defined(GPUOPT_API)
#define GPUOPT_API extern __attribute__((visibility("default")))
#endif

#include "common/open.cuh"
#include "common/tables.cuh"

extern "C" {
GPUOPT_API const gpuopt_backend *gpuopt_backend_cuda(void); /* the header declares it without a caller's GPUOPT_API */
GPUOPT_API const struct gpuopt__cuda_exports gpuopt__cuda_exports;
}

extern "C" const gpuopt_backend *gpuopt_backend_cuda(void) {
    static const gpuopt_backend cuda = {"cuda",  cuda_open, cuda_close, cuda_wait, cuda_copy,
#ifdef GPUOPT_CUDA_WITHOUT_PROPAGATE
                                        nullptr,
#else
                                        &gpuopt__cuda_propagator,
#endif
#ifdef GPUOPT_CUDA_WITHOUT_BASIS
                                        nullptr,
#else
                                        &gpuopt__cuda_basis,
#endif
#ifdef GPUOPT_CUDA_WITHOUT_SIMPLEX
                                        nullptr,
#else
                                        &gpuopt__cuda_simplex,
#endif
#ifdef GPUOPT_CUDA_WITHOUT_ELIMINATION
                                        nullptr,
#else
                                        &gpuopt__cuda_elimination,
#endif
#ifdef GPUOPT_CUDA_WITHOUT_KNAPSACK
                                        nullptr};
#else
                                        &gpuopt__cuda_knapsack};
#endif
    return &cuda;
}

const struct gpuopt__cuda_exports gpuopt__cuda_exports = {GPUOPT_VERSION_NUMBER, GPUOPT__LAYOUT, gpuopt_backend_cuda,
                                                          cuda_fault};
