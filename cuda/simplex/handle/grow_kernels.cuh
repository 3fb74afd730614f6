/* SPDX-License-Identifier: MIT
 *
 * Kernels for columns of any basis, and for adding and removing rows and columns. No pivots may be pending.
 */
#ifndef GPUOPT_CUDA_SIMPLEX_HANDLE_GROW_KERNELS_CUH
#define GPUOPT_CUDA_SIMPLEX_HANDLE_GROW_KERNELS_CUH

#include "../engine/products.cuh"

namespace {

/* in += the entries of a column. `in` must be 0 before. */
__global__ void __launch_bounds__(PRODUCT_THREADS) scatter_column(const __grid_constant__ SimplexView s, int col) {
    int64_t e = s.col_start[col] + product_thread();
    if (e < s.col_start[col + 1]) s.in[s.col_row[e]] = s.col_val[e];
}

/* Replaces slots by their variables. */
__global__ void __launch_bounds__(PRODUCT_THREADS)
    slots_to_variables(const __grid_constant__ SimplexView s, int count) {
    int64_t k = product_thread();
    if (k < count) s.column[k] = s.vec.slot[s.column[k]];
}

/* Writes row `row` of the matrix, below all others: minus s.in times each column. s.in has the new row's entries by
 * positions. In the tableau, adds the new row's entry of the slot's variable, from s.in_low. One warp per column. */
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

/* The dual method's weight of that row: the squared norm of its row of B^-1, or 1. Called with one warp. */
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

/* Keeps only rows from[0 .. kept - 1], in ascending order, of `lines` columns. They move up, and zeros follow. One warp
 * per column, which reads 32 entries before it writes them; later entries are not yet overwritten. */
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

/* Keeps only some columns; one thread per row. */
__global__ void __launch_bounds__(PRODUCT_THREADS)
    keep_lines(const __grid_constant__ SimplexView s, const int *from, int kept) {
    int64_t i = product_thread();
    if (i >= s.rows) return;
    for (int c = 0; c < kept; c++)
        if (from[c] != c) s.matrix[c * s.pitch + i] = s.matrix[from[c] * s.pitch + i];
}

} // namespace

#endif /* GPUOPT_CUDA_SIMPLEX_HANDLE_GROW_KERNELS_CUH */
