/* SPDX-License-Identifier: MIT
 *
 * The simplex engine of the GPU: products with the inverse and with the original matrix, for the control on the host.
 */
#ifndef GPUOPT_CUDA_SIMPLEX_PRODUCTS_CUH
#define GPUOPT_CUDA_SIMPLEX_PRODUCTS_CUH

#include "device.cuh"

namespace {

enum { PRODUCT_THREADS = 256, SIMPLEX_PARTS = 64 };

__device__ int64_t product_thread() { return static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; }

/* ---- The slack basis: the tableau is A, the inverse is I. The matrix comes zeroed. ---- */

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
 * Columns are shared out to warps, each of which takes its own in their order; count[warp][row] is the warp's own, and
 * the rows of a column are distinct, so that nothing is counted twice and every row comes out in ascending order. */

__device__ int warp_first_column(const SimplexView &s, int64_t warp, int warps) {
    return static_cast<int>(s.cols * warp / warps);
}

/* val becomes the scaled values; scales as in gpuopt__simplex_lp. */
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

/* count[warp][row] becomes how many entries of the row come before the warp's; length[row + 1] all of them. */
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

/* ---- Products with the matrix, nothing being pending ---- */

/* TABLEAU: the vector by slots whose product with the tableau is that of s.in with the columns of B^-1 that belong to
 * nonbasic logicals. */
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

/* out[i] = the parts' sum; TABLEAU: and what basic logicals, whose columns are unit vectors, add. */
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

/* A warp for each column: its product with s.in, stored for the row that the column of B^-1 belongs to. */
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

/* TABLEAU: the rest of BTRAN, of basic logicals. */
__global__ void __launch_bounds__(PRODUCT_THREADS) copy_basic_logicals(const __grid_constant__ SimplexView s) {
    int64_t i = product_thread();
    if (i < s.rows && s.vec.head[i] >= s.cols) s.out[s.vec.head[i] - s.cols] = s.in[i];
}

/* ---- Products with the original data, in twice the working precision ---- */

/* -(first + the product of one line of a sparse matrix with x), eight lanes a line; valid in all of them. */
__device__ double minus_line(double first, int64_t begin, int64_t end, const double *val, const int *index,
                             const double *x) {
    int sub = static_cast<int>(threadIdx.x) % 8;
    double hi = sub == 0 ? first : 0, lo = 0;
    for (int64_t e = begin + sub; e < end; e += 8) {
        double a = val[e], b = x[index[e]], product = gpuopt__mul(a, b);
        gpuopt__accumulate(&hi, &lo, product, gpuopt__mul_error(a, b, product));
    }
    for (int half = 4; half > 0; half /= 2) {
        double other_hi = __shfl_xor_sync(~0u, hi, half), other_lo = __shfl_xor_sync(~0u, lo, half);
        gpuopt__accumulate(&hi, &lo, other_hi, other_lo);
    }
    return -gpuopt__add(hi, lo);
}

/* out = -[A I] in. */
__global__ void __launch_bounds__(PRODUCT_THREADS) residual_rows(const __grid_constant__ SimplexView s) {
    int64_t i = product_thread() / 8;
    bool valid = i < s.rows;
    double r = minus_line(valid ? s.in[s.cols + i] : 0, valid ? s.row_start[i] : 0, valid ? s.row_start[i + 1] : 0,
                          s.row_val, s.row_col, s.in);
    if (valid && threadIdx.x % 8 == 0) s.out[i] = r;
}

/* out = cost - [A I]' y, with cost in `in` and y in the second array. */
__global__ void __launch_bounds__(PRODUCT_THREADS)
    reduce_columns(const __grid_constant__ SimplexView s, const double *y) {
    int64_t j = product_thread() / 8;
    bool column = j < s.cols, valid = j < s.cols + s.rows;
    double d = minus_line(column ? -s.in[j] : 0, column ? s.col_start[j] : 0, column ? s.col_start[j + 1] : 0,
                          s.col_val, s.col_row, y);
    if (valid && threadIdx.x % 8 == 0) s.out[j] = column ? d : gpuopt__sub(s.in[j], y[j - s.cols]);
}

} // namespace

#endif /* GPUOPT_CUDA_SIMPLEX_PRODUCTS_CUH */
