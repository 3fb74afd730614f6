/* SPDX-License-Identifier: MIT
 *
 * Kernels for setting up the simplex engine, and for the products with the inverse and the original matrix that the
 * control on the host asks for.
 */
#ifndef GPUOPT_CUDA_SIMPLEX_PRODUCTS_CUH
#define GPUOPT_CUDA_SIMPLEX_PRODUCTS_CUH

#include "device.cuh"

namespace {

enum { PRODUCT_THREADS = 256, SIMPLEX_PARTS = 64 };

__device__ int64_t product_thread() { return static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; }

/* ---- The slack basis: the tableau is A, the inverse is I. The matrix has been zeroed before. ---- */

__global__ void __launch_bounds__(PRODUCT_THREADS) fill_tableau(const __grid_constant__ SimplexView s) {
    int lane = static_cast<int>(threadIdx.x) % 32;
    int64_t col = product_thread() / 32;
    if (col >= s.cols) return;
    for (int64_t e = s.col_start[col] + lane; e < s.col_start[col + 1]; e += 32)
        s.matrix[col * s.pitch + s.col_row[e]] = s.col_val[e];
}

__global__ void __launch_bounds__(PRODUCT_THREADS) fill_identity(const __grid_constant__ SimplexView s) {
    int64_t i = product_thread();
    if (i < s.rows) s.matrix[i * s.pitch + i] = 1;
}

/* ---- The original data: scaled, and by rows ----
 * Each warp takes a range of columns, in order, and has its own counts, count[warp][row]. The rows of a column are
 * distinct, so no two lanes meet, and the entries of every row come out in ascending order. */

__device__ int warp_first_column(const SimplexView &s, int64_t warp, int warps) {
    return static_cast<int>(s.cols * warp / warps);
}

/* Scales val; the scales are those of gpuopt__simplex_lp. */
__global__ void __launch_bounds__(PRODUCT_THREADS) scale_columns(const __grid_constant__ SimplexView s, double *val,
                                                                 const double *row_scale, const double *col_scale) {
    int lane = static_cast<int>(threadIdx.x) % 32;
    int64_t col = product_thread() / 32;
    if (col >= s.cols) return;
    for (int64_t e = s.col_start[col] + lane; e < s.col_start[col + 1]; e += 32)
        val[e] *= row_scale[s.col_row[e]] * col_scale[col];
}

__global__ void __launch_bounds__(PRODUCT_THREADS)
    count_rows(const __grid_constant__ SimplexView s, int *count, int warps) {
    int lane = static_cast<int>(threadIdx.x) % 32;
    int64_t warp = product_thread() / 32;
    if (warp >= warps) return;
    int *own = count + warp * s.rows;
    for (int i = lane; i < s.rows; i += 32) own[i] = 0;
    __syncwarp();
    for (int col = warp_first_column(s, warp, warps); col < warp_first_column(s, warp + 1, warps); col++) {
        for (int64_t e = s.col_start[col] + lane; e < s.col_start[col + 1]; e += 32) own[s.col_row[e]]++;
        __syncwarp();
    }
}

/* count[warp][row] becomes the number of the row's entries before the warp's, length[row + 1] that of all its
 * entries. */
__global__ void __launch_bounds__(PRODUCT_THREADS)
    add_counts(const __grid_constant__ SimplexView s, int *count, int warps, int64_t *length) {
    int64_t i = product_thread();
    if (i >= s.rows) return;
    int sum = 0;
    for (int64_t warp = 0; warp < warps; warp++) {
        int own = count[warp * s.rows + i];
        count[warp * s.rows + i] = sum;
        sum += own;
    }
    length[i + 1] = sum;
}

/* Running sums of start[1 .. rows], by one block. */
__global__ void __launch_bounds__(1024) add_lengths(int64_t *start, int rows) {
    __shared__ long long sums[1024];
    int thread = static_cast<int>(threadIdx.x), share = (rows + 1023) / 1024;
    int begin = min(thread * share, rows), end = min(begin + share, rows);
    long long sum = 0;
    for (int i = begin; i < end; i++) sum += start[i + 1];
    sums[thread] = sum;
    __syncthreads();
    sum = 0;
    for (int t = 0; t < thread; t++) sum += sums[t];
    if (thread == 0) start[0] = 0;
    for (int i = begin; i < end; i++) start[i + 1] = sum += start[i + 1];
}

__global__ void __launch_bounds__(PRODUCT_THREADS)
    fill_rows(const __grid_constant__ SimplexView s, int *count, int warps, int *row_col, double *row_val) {
    int lane = static_cast<int>(threadIdx.x) % 32;
    int64_t warp = product_thread() / 32;
    if (warp >= warps) return;
    int *own = count + warp * s.rows;
    for (int col = warp_first_column(s, warp, warps); col < warp_first_column(s, warp + 1, warps); col++) {
        for (int64_t e = s.col_start[col] + lane; e < s.col_start[col + 1]; e += 32) {
            int64_t at = s.row_start[s.col_row[e]] + own[s.col_row[e]]++;
            row_col[at] = col;
            row_val[at] = s.col_val[e];
        }
        __syncwarp();
    }
}

/* ---- Products with the matrix; nothing may be pending ---- */

/* TABLEAU: s.in by slots. Its product with the tableau is that of s.in with the columns of B^-1 for nonbasic
 * logicals. */
__global__ void __launch_bounds__(PRODUCT_THREADS)
    gather_logicals(const __grid_constant__ SimplexView s, double *by_slot) {
    int64_t j = product_thread();
    if (j >= s.cols) return;
    int variable = s.vec.slot[j];
    by_slot[j] = variable < s.cols ? 0 : s.in[variable - s.cols];
}

/* partial[part][i] = sum over the part's columns of vector[c] * column c at i. */
__global__ void __launch_bounds__(PRODUCT_THREADS)
    combine_columns(const __grid_constant__ SimplexView s, const double *vector, int parts) {
    int64_t i = product_thread();
    if (i >= s.rows) return;
    int part = static_cast<int>(blockIdx.y);
    int begin = static_cast<int>(static_cast<int64_t>(s.lines) * part / parts);
    int end = static_cast<int>(static_cast<int64_t>(s.lines) * (part + 1) / parts);
    double sum = 0;
#pragma unroll 8
    for (int c = begin; c < end; c++) {
        double x = vector[c];
        if (x != 0) sum += x * s.matrix[c * s.pitch + i];
    }
    s.partial[part * s.pitch + i] = sum;
}

/* out[i] = the sum of the parts; TABLEAU: plus the basic logicals, whose columns are unit vectors. */
__global__ void __launch_bounds__(PRODUCT_THREADS)
    add_parts(const __grid_constant__ SimplexView s, int parts, bool tableau) {
    int64_t i = product_thread();
    if (i >= s.rows) return;
    double sum = 0;
    for (int part = 0; part < parts; part++) sum += s.partial[part * s.pitch + i];
    int variable = s.vec.head[i];
    if (tableau && variable >= s.cols) sum += s.in[variable - s.cols];
    s.out[i] = sum;
}

/* One warp per column: its product with s.in, stored at the row that this column of B^-1 belongs to. */
__global__ void __launch_bounds__(PRODUCT_THREADS) dot_columns(const __grid_constant__ SimplexView s, bool tableau) {
    int lane = static_cast<int>(threadIdx.x) % 32;
    int64_t c = product_thread() / 32;
    if (c >= s.lines) return;
    int variable = tableau ? s.vec.slot[c] : s.cols + static_cast<int>(c);
    if (variable < s.cols) return;
    double sum = 0;
#pragma unroll 4
    for (int i = lane; i < s.rows; i += 32) sum += s.matrix[c * s.pitch + i] * s.in[i];
    sum = warp_sum(sum);
    if (lane == 0) s.out[variable - s.cols] = sum;
}

/* TABLEAU: the basic logicals' part of BTRAN. */
__global__ void __launch_bounds__(PRODUCT_THREADS) copy_basic_logicals(const __grid_constant__ SimplexView s) {
    int64_t i = product_thread();
    if (i < s.rows && s.vec.head[i] >= s.cols) s.out[s.vec.head[i] - s.cols] = s.in[i];
}

/* ---- Products with the original data, in twice the working precision ---- */

/* A line of a sparse matrix times x + low, by eight lanes, of which the first one gets first + first_low, too; all of
 * them get the sum. */
__device__ gpuopt__simplex_sum sparse_line(double first, double first_low, int64_t begin, int64_t end,
                                           const double *val, const int *index, const double *x, const double *low) {
    int sub = static_cast<int>(threadIdx.x) % 8;
    gpuopt__simplex_sum sum = {0, 0, 0};
    for (int64_t e = begin + sub; e < end; e += 8)
        gpuopt__simplex_add_product(&sum, val[e], x[index[e]], low ? low[index[e]] : 0);
    if (sub == 0) gpuopt__simplex_add(&sum, first, first_low, 0);
    for (int half = 4; half > 0; half /= 2) {
        double hi = __shfl_xor_sync(~0u, sum.hi, half), lo = __shfl_xor_sync(~0u, sum.lo, half);
        double doubt = __shfl_xor_sync(~0u, sum.doubt, half);
        gpuopt__simplex_add(&sum, hi, lo, doubt);
    }
    return sum;
}

/* out = -[A I] (in + low), and the sums' doubts. */
__global__ void __launch_bounds__(PRODUCT_THREADS)
    residual_rows(const __grid_constant__ SimplexView s, const double *low, double *doubt) {
    int64_t i = product_thread() / 8;
    bool valid = i < s.rows;
    gpuopt__simplex_sum sum =
        sparse_line(valid ? s.in[s.cols + i] : 0, valid && low ? low[s.cols + i] : 0, valid ? s.row_start[i] : 0,
                    valid ? s.row_start[i + 1] : 0, s.row_val, s.row_col, s.in, low);
    if (!valid || threadIdx.x % 8 != 0) return;
    s.out[i] = -gpuopt__simplex_total(&sum);
    doubt[i] = sum.doubt;
}

/* out = cost - [A I]' (y + low), with cost in `in`, and the sums' doubts. */
__global__ void __launch_bounds__(PRODUCT_THREADS)
    reduce_columns(const __grid_constant__ SimplexView s, const double *y, const double *low, double *doubt) {
    int64_t j = product_thread() / 8;
    bool column = j < s.cols, valid = j < s.cols + s.rows;
    int64_t row = j - s.cols;
    gpuopt__simplex_sum sum =
        sparse_line(column || !valid ? 0 : y[row], column || !valid || !low ? 0 : low[row], column ? s.col_start[j] : 0,
                    column ? s.col_start[j + 1] : 0, s.col_val, s.col_row, y, low);
    if (!valid || threadIdx.x % 8 != 0) return;
    gpuopt__simplex_add(&sum, -s.in[j], 0, 0);
    s.out[j] = -gpuopt__simplex_total(&sum);
    doubt[j] = sum.doubt;
}

} // namespace

#endif /* GPUOPT_CUDA_SIMPLEX_PRODUCTS_CUH */
