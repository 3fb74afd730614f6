/* SPDX-License-Identifier: MIT
 *
 * The families' tables of functions. Each is defined in its family's own translation unit, cuda/FAMILY/FAMILY.cu, and
 * used by gpuopt_cuda.cu. A program that omits a family's unit defines GPUOPT_CUDA_WITHOUT_<FAMILY> for gpuopt_cuda.cu;
 * calls that need the family then return GPUOPT_ERROR_UNSUPPORTED.
 */
#ifndef GPUOPT_CUDA_TABLES_CUH
#define GPUOPT_CUDA_TABLES_CUH

#include "../../gpuopt_impl/common/backend.h"
#include "../../gpuopt_impl/common/table.h"

#if defined(__GNUC__)
#pragma GCC visibility push(hidden)
#endif
extern "C" {
extern const struct gpuopt__propagator_backend gpuopt__cuda_propagator;
extern const struct gpuopt__basis_backend gpuopt__cuda_basis;
extern const struct gpuopt__simplex_backend gpuopt__cuda_simplex;
extern const struct gpuopt__elimination_backend gpuopt__cuda_elimination;
extern const struct gpuopt__knapsack_backend gpuopt__cuda_knapsack;
}
#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#endif /* GPUOPT_CUDA_TABLES_CUH */
