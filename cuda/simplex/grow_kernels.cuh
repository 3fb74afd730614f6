/* SPDX-License-Identifier: MIT
 *
 * Kernels for the columns of any basis, and for rows and columns that come and go. Nothing may be pending.
 */
#ifndef GPUOPT_CUDA_SIMPLEX_GROW_KERNELS_CUH
#define GPUOPT_CUDA_SIMPLEX_GROW_KERNELS_CUH

#include "products.cuh"

namespace {

/* in += the entries of a column; in has been zeroed. */
__global__ void __launch_bounds__(PRODUCT_THREADS) scatter_column(const __grid_constant__ SimplexView s, int col) {
    int64_t e = s.col_start[col] + product_thread();
    if (e < s.col_start[col + 1]) s.in[s.col_row[e]] = s.col_val[e];
}

/* Slots become the variables that are in them. */
__global__ void __launch_bounds__(PRODUCT_THREADS)
    slots_to_variables(const __grid_constant__ SimplexView s, int count) {
    int64_t k = product_thread();
    if (k < count) s.column[k] = s.vec.slot[s.column[k]];
}

/* Row `row` of the matrix, below all others: minus s.in, the new row's entries by positions, times each column; plus,
 * in the tableau, its entry of the slot's variable, by columns in s.in_low. One warp per column. */
__global__ void __launch_bounds__(PRODUCT_THREADS)
    add_border(const __grid_constant__ SimplexView s, int row, bool tableau) {
    int lane = static_cast<int>(threadIdx.x) % 32;
    int64_t c = product_thread() / 32;
    if (c >= s.lines) return;
    double sum = 0;
    for (int i = lane; i < s.rows; i += 32) sum += s.matrix[c * s.pitch + i] * s.in[i];
    sum = warp_sum(sum);
    if (lane > 0) return;
    int variable = tableau ? s.vec.slot[c] : s.cols;
    s.matrix[c * s.pitch + row] = (variable < s.cols ? s.in_low[variable] : 0) - sum;
}

/* The dual method's weight of that row: the squared norm of its row of B^-1, or 1. By one warp. */
__global__ void weigh_border(const __grid_constant__ SimplexView s, int row, bool steepest, bool tableau) {
    int lane = static_cast<int>(threadIdx.x);
    double sum = 0;
    for (int c = lane; steepest && c < s.lines; c += 32) {
        double entry = tableau && s.vec.slot[c] < s.cols ? 0 : s.matrix[c * s.pitch + row];
        sum += entry * entry;
    }
    sum = warp_sum(sum);
    if (lane == 0) s.dual_weight[row] = 1 + sum;
}

/* Only the rows from[0 .. kept - 1], which ascend, of `lines` columns stay, and move up; zeros follow. One warp per
 * column: it reads 32 entries before it writes them, and those behind are still to come. */
__global__ void __launch_bounds__(PRODUCT_THREADS)
    keep_rows(double *matrix, int64_t pitch, int lines, int rows, const int *from, int kept) {
    int lane = static_cast<int>(threadIdx.x) % 32;
    int64_t c = product_thread() / 32;
    if (c >= lines) return;
    double *column = matrix + c * pitch;
    for (int begin = 0; begin < rows; begin += 32) {
        int i = begin + lane;
        double x = i < kept ? column[from[i]] : 0;
        __syncwarp();
        if (i < rows) column[i] = x;
        __syncwarp();
    }
}

/* The same for columns, by a thread for each row. */
__global__ void __launch_bounds__(PRODUCT_THREADS)
    keep_lines(const __grid_constant__ SimplexView s, const int *from, int kept) {
    int64_t i = product_thread();
    if (i >= s.rows) return;
    for (int c = 0; c < kept; c++)
        if (from[c] != c) s.matrix[c * s.pitch + i] = s.matrix[from[c] * s.pitch + i];
}

} // namespace

#endif /* GPUOPT_CUDA_SIMPLEX_GROW_KERNELS_CUH */
