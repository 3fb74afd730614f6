/* SPDX-License-Identifier: MIT
 *
 * Basis inverse on the GPU: kernels of a load by cuSOLVER and cuBLAS. Columns with a single entry are pivoted on
 * without these libraries. With rows and columns in the order of elimination, B and its inverse are then, except for
 * the scaling,
 *
 *         ( G  0 )          ( G^-1      0 )
 *     B = ( F  I ),  B^-1 = ( -F G^-1   I )
 *
 * G and F are gathered in `work`, where cuSOLVER factors G = P^-1 L U. The inverse is built in `second` in three steps:
 *
 *     1. U^-1: from its diagonal blocks of 32 x 32 up, by products of blocks twice the size. This is
 *        method 2B of Du Croz and Higham, Stability of methods for matrix inversion, IMA Journal of Numerical
 *        Analysis 12, 1992, applied recursively.
 *     2. U^-1 L^-1, which is G^-1 except for the order of its columns.
 *     3. -F G^-1.
 *
 * row_at, row_of and col_of hold the orders, so nothing is moved.
 */
#ifndef GPUOPT_CUDA_BASIS_FACTORS_CUH
#define GPUOPT_CUDA_BASIS_FACTORS_CUH

#include "columns.cuh"

namespace {

enum { FACTOR_BLOCK = 32, FACTOR_THREADS = 1024 };

/* work = G above F, scaled. left: columns of G. */
__global__ void __launch_bounds__(BASIS_THREADS)
    gather_left(const __grid_constant__ Basis b, const __grid_constant__ BasisLoad load, int left) {
    int r = static_cast<int>(blockIdx.x * BASIS_THREADS + threadIdx.x),
        first = static_cast<int>(blockIdx.y) * BASIS_PATCH;
    if (r >= b.m) return;
    int i = load.row_at[r];
    double pivot = load.row_pivot[i];
    for (int k = first; k < min(left, first + BASIS_PATCH); k++)
        load.work[k * b.pitch + r] = scaled_entry(b, load, i, load.order[k]) / pivot;
}

/* Checks the factors: the diagonal of U holds the pivots, as in Gauss-Jordan elimination. Puts row_at into the order
 * after pivoting. Sets col_of and row_of: column i and row j of the inverse meet in line col_of[i] of `second`, at
 * row_of[j]. One block. swapped: the rows of G and their swaps are in shared memory; false: in device memory. */
__global__ void __launch_bounds__(FACTOR_THREADS)
    end_factors(const __grid_constant__ Basis b, const __grid_constant__ BasisLoad load, int left, bool shared) {
    GPUOPT_DYNAMIC_SHARED(int, factor_rows);
    __shared__ int bad;
    int thread = static_cast<int>(threadIdx.x), *rows = shared ? factor_rows : load.row_at;
    const int *swaps = shared ? factor_rows + left : load.swaps;
    if (thread == 0) bad = left;
    __syncthreads();
    for (int k = thread; k < left; k += FACTOR_THREADS) {
        if (shared) factor_rows[k] = load.row_at[k], factor_rows[left + k] = load.swaps[k];
        if (!(fabs(load.work[k * b.pitch + k]) > b.tolerance)) atomicMin(&bad, k);
    }
    __syncthreads();
    if (bad < left) {
        if (thread == 0) b.state->load_refused = load.order[bad];
        return;
    }
    for (int k = 0; thread == 0 && k < left; k++) {
        int other = swaps[k] - 1, row = rows[k];
        rows[k] = rows[other];
        rows[other] = row;
    }
    __syncthreads();
    for (int r = thread; r < b.m; r += FACTOR_THREADS) {
        int i = r < left ? rows[r] : load.row_at[r];
        load.row_of[r < left ? load.order[r] : load.col_of[i]] = r;
        load.col_of[i] = r;
    }
}

/* The inverses of the diagonal blocks of U, in `second`. One warp per diagonal block; lane c computes column c. */
__global__ void __launch_bounds__(FACTOR_BLOCK)
    invert_blocks(const __grid_constant__ Basis b, const __grid_constant__ BasisLoad load, int left) {
    __shared__ double u[FACTOR_BLOCK][FACTOR_BLOCK + 1], x[FACTOR_BLOCK][FACTOR_BLOCK + 1];
    int first = static_cast<int>(blockIdx.x) * FACTOR_BLOCK, c = static_cast<int>(threadIdx.x);
    int size = min(left - first, +FACTOR_BLOCK);
    for (int k = 0; k < size; k++)
        if (c < size) u[c][k] = load.work[(first + k) * b.pitch + first + c];
    __syncwarp();
    if (c >= size) return;
    for (int i = c; i >= 0; i--) {
        double sum = i == c ? 1 : 0;
        for (int k = i + 1; k <= c; k++) sum -= u[i][k] * x[c][k];
        x[c][i] = sum / u[i][i];
    }
    for (int i = 0; i < size; i++) b.second[(first + c) * b.pitch + first + i] = i <= c ? x[c][i] : 0;
}

/* After two blocks of U^-1 were joined: clears the transpose of a product, left of the lower block. One thread block
 * per column of an upper block. size: size of an upper block. */
__global__ void __launch_bounds__(BASIS_THREADS) clear_beside(const __grid_constant__ Basis b, int left, int size) {
    int k = static_cast<int>(blockIdx.x) / size * 2 * size + static_cast<int>(blockIdx.x) % size;
    int first = k / size * size + size;
    for (int r = first + static_cast<int>(threadIdx.x); r < min(left, first + size); r += BASIS_THREADS)
        b.second[k * b.pitch + r] = 0;
}

/* Fills the rest of the matrix: zeros below and right of U's diagonal blocks, and the pivots of the other rows. */
__global__ void __launch_bounds__(BASIS_THREADS)
    clear_rest(const __grid_constant__ Basis b, const __grid_constant__ BasisLoad load, int left) {
    int r = static_cast<int>(blockIdx.x * BASIS_THREADS + threadIdx.x),
        first = static_cast<int>(blockIdx.y) * BASIS_PATCH;
    if (r >= b.m) return;
    for (int k = first; k < min(b.m, first + BASIS_PATCH); k++)
        if (k >= left || r > k)
            b.second[k * b.pitch + r] = k >= left && r == k ? 1 / load.row_pivot[load.row_at[r]] : 0;
}

} // namespace

#endif /* GPUOPT_CUDA_BASIS_FACTORS_CUH */
