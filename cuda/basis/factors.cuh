/* SPDX-License-Identifier: MIT
 *
 * Basis inverse on the GPU: kernels of a load that cuSOLVER and cuBLAS do. Columns with a single entry are pivoted on
 * without them: with rows and columns in the order of elimination, B is then
 *
 *     ( G  0 )                       ( G^-1      0 )
 *     ( F  I ),  and its inverse is  ( -F G^-1   I )
 *
 * except for the scaling. G and F are gathered in `work`, where cuSOLVER factors G = P^-1 L U. The inverse is built in
 * `second`: U^-1, from its diagonal blocks of 32 x 32 up by products of blocks twice the size (method 2B of Du Croz and
 * Higham, Stability of methods for matrix inversion, IMA Journal of Numerical Analysis 12, 1992, applied recursively);
 * then U^-1 L^-1, which is G^-1 except for the order of its columns; then -F G^-1. row_at, row_of and col_of keep the
 * orders, so nothing is moved.
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

/* Whether the factors are good: as in Gauss-Jordan elimination, the diagonal of U are the pivots. Puts row_at into the
 * order after pivoting, and sets col_of and row_of to where a column and a row of the inverse are: in line col_of[i]
 * of `second`, at row_of[j]. One block. swapped: shared memory for the rows of G and their swaps; false: they
 * are used where they are. */
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

/* The inverses of the diagonal blocks of U, in `second`. A warp for each; lane c computes column c. */
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

/* After two blocks of U^-1 were joined: zeros left of the lower one, where the transpose of a product was. A block for
 * each column of an upper one. `size` is that of an upper block. */
__global__ void __launch_bounds__(BASIS_THREADS) clear_beside(const __grid_constant__ Basis b, int left, int size) {
    int k = static_cast<int>(blockIdx.x) / size * 2 * size + static_cast<int>(blockIdx.x) % size;
    int first = k / size * size + size;
    for (int r = first + static_cast<int>(threadIdx.x); r < min(left, first + size); r += BASIS_THREADS)
        b.second[k * b.pitch + r] = 0;
}

/* What is not in U^-1: zeros below its diagonal blocks and right of it, and the pivots of the other rows. */
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
