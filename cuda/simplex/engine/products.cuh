/* SPDX-License-Identifier: MIT
 *
 * Kernels for the slack basis, and for the control's products with the inverse and with the original matrix.
 */
#ifndef GPUOPT_CUDA_SIMPLEX_ENGINE_PRODUCTS_CUH
#define GPUOPT_CUDA_SIMPLEX_ENGINE_PRODUCTS_CUH

#include "device.cuh"

namespace {

enum { PRODUCT_THREADS = 256, SIMPLEX_PARTS = 64 };

__device__ int64_t product_thread() { return static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; }

/* ---- The slack basis: the tableau is A, the inverse is I. The matrix has been zeroed before. ---- */

__global__ void __launch_bounds__(PRODUCT_THREADS) fill_tableau(const __grid_constant__ SimplexView s) {
    int lane = static_cast<int>(threadIdx.x) % 32;
    int64_t line = product_thread() / 32, col = s.first + line;
    if (line >= s.lines) return;
    for (int64_t e = s.col_start[col] + lane; e < s.col_start[col + 1]; e += 32)
        s.matrix[line * s.pitch + s.col_row[e]] = s.col_val[e];
}

__global__ void __launch_bounds__(PRODUCT_THREADS) fill_identity(const __grid_constant__ SimplexView s) {
    int64_t i = product_thread();
    if (i < s.rows) s.matrix[i * s.pitch + i] = 1;
}

/* ---- Products with the matrix; nothing may be pending ---- */

/* TABLEAU: s.in by slots. Its product with the tableau is s.in times the columns of B^-1 for nonbasic slacks. */
__global__ void __launch_bounds__(PRODUCT_THREADS)
    gather_logicals(const __grid_constant__ SimplexView s, double *by_slot) {
    int64_t j = product_thread();
    if (j >= s.lines) return;
    int variable = s.vec.slot[s.first + j];
    by_slot[j] = variable < s.cols ? 0 : s.in[variable - s.cols];
}

/* The number of parts of a sum over columns, and where a part begins. */
int simplex_parts(int cols) { return cols < 8 * SIMPLEX_PARTS ? (cols + 7) / 8 : +SIMPLEX_PARTS; }
__device__ int part_begins(int cols, int part, int parts) {
    return static_cast<int>(static_cast<int64_t>(cols) * part / parts);
}

/* partial[part][i] = sum over the part's columns of vector[c] * column c at i. cols: columns of all ranks. Neighbouring
 * ranks may share a part: begun[i] has the previous ranks' contribution to this rank's first part. */
__global__ void __launch_bounds__(PRODUCT_THREADS)
    combine_columns(const __grid_constant__ SimplexView s, const double *vector, int cols, int parts,
                    const double *begun) {
    int64_t i = product_thread();
    if (i >= s.rows) return;
    int part = static_cast<int>(blockIdx.y);
    int begin = part_begins(cols, part, parts) - s.first, end = part_begins(cols, part + 1, parts) - s.first;
    if (begun && (end <= 0 || begin >= s.lines)) return;
    double sum = begun && begin < 0 ? begun[i] : 0;
    begin = max(begin, 0);
    end = min(end, s.lines);
#pragma unroll 8
    for (int c = begin; c < end; c++) {
        double x = vector[c];
        if (x != 0) sum += x * s.matrix[c * s.pitch + i];
    }
    s.partial[part * s.pitch + i] = sum;
}

/* out[i] = the sum of the parts. TABLEAU: adds the basic slacks, which have unit vectors as columns. */
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

/* One warp per column of B^-1: its product with s.in, stored at the row of that column. */
__global__ void __launch_bounds__(PRODUCT_THREADS) dot_columns(const __grid_constant__ SimplexView s, bool tableau) {
    int lane = static_cast<int>(threadIdx.x) % 32;
    int64_t c = product_thread() / 32;
    if (c >= s.lines) return;
    int variable = tableau ? s.vec.slot[s.first + c] : s.cols + static_cast<int>(c);
    if (variable < s.cols) return;
    double sum = 0;
#pragma unroll 4
    for (int i = lane; i < s.rows; i += 32) sum += s.matrix[c * s.pitch + i] * s.in[i];
    sum = warp_sum(sum);
    if (lane == 0) s.out[variable - s.cols] = sum;
}

/* TABLEAU: the basic slacks' part of BTRAN. */
__global__ void __launch_bounds__(PRODUCT_THREADS) copy_basic_logicals(const __grid_constant__ SimplexView s) {
    int64_t i = product_thread();
    if (i < s.rows && s.vec.head[i] >= s.cols) s.out[s.vec.head[i] - s.cols] = s.in[i];
}

/* ---- Products with the original data, in twice the working precision ---- */

enum { FEW_LANES = 8, MANY_LANES = 32, MANY_ENTRIES = 64 }; /* lanes per line; MANY_ENTRIES: mean length for many */

/* A line of a sparse matrix times x + low, plus first + first_low, by LANES lanes. All lanes get the sum. */
template <int LANES>
__device__ gpuopt__simplex_sum sparse_line(double first, double first_low, int64_t begin, int64_t end,
                                           const double *val, const int *index, const double *x, const double *low) {
    enum { AT_ONCE = 4 };
    int sub = static_cast<int>(threadIdx.x) % LANES;
    gpuopt__simplex_sum sum = {0, 0, 0};
    for (int64_t from = begin + sub; from < end; from += AT_ONCE * LANES) {
        double a[AT_ONCE], b[AT_ONCE], of_low[AT_ONCE];
#pragma unroll
        for (int k = 0; k < AT_ONCE; k++) { /* all loads before all sums */
            int64_t e = from + k * LANES;
            int i = e < end ? index[e] : 0;
            a[k] = e < end ? val[e] : 0;
            b[k] = e < end ? x[i] : 0;
            of_low[k] = e < end && low ? low[i] : 0;
        }
#pragma unroll
        for (int k = 0; k < AT_ONCE; k++)
            if (from + k * LANES < end) gpuopt__simplex_add_product(&sum, a[k], b[k], of_low[k]);
    }
    if (sub == 0) gpuopt__simplex_add(&sum, first, first_low, 0);
    for (int half = LANES / 2; half > 0; half /= 2) {
        double hi = __shfl_xor_sync(~0u, sum.hi, half), lo = __shfl_xor_sync(~0u, sum.lo, half);
        double error_sum = __shfl_xor_sync(~0u, sum.error_sum, half);
        gpuopt__simplex_add(&sum, hi, lo, error_sum);
    }
    return sum;
}

/* out = -[A I] (in + low), with the sums' error_sum. */
template <int LANES>
__global__ void __launch_bounds__(PRODUCT_THREADS)
    residual_rows(const __grid_constant__ SimplexView s, const double *low, double *error_sum) {
    int64_t i = product_thread() / LANES;
    bool valid = i < s.rows;
    gpuopt__simplex_sum sum =
        sparse_line<LANES>(valid ? s.in[s.cols + i] : 0, valid && low ? low[s.cols + i] : 0, valid ? s.row_start[i] : 0,
                           valid ? s.row_start[i + 1] : 0, s.row_val, s.row_col, s.in, low);
    if (!valid || threadIdx.x % LANES != 0) return;
    s.out[i] = -gpuopt__simplex_total(&sum);
    error_sum[i] = sum.error_sum;
}

/* out = cost - [A I]' (y + low), with cost in `in`, and with the sums' error_sum. */
template <int LANES>
__global__ void __launch_bounds__(PRODUCT_THREADS)
    reduce_columns(const __grid_constant__ SimplexView s, const double *y, const double *low, double *error_sum) {
    int64_t j = product_thread() / LANES;
    bool column = j < s.cols, valid = j < static_cast<int64_t>(s.cols) + s.rows;
    int64_t row = j - s.cols;
    gpuopt__simplex_sum sum =
        sparse_line<LANES>(column || !valid ? 0 : y[row], column || !valid || !low ? 0 : low[row],
                           column ? s.col_start[j] : 0, column ? s.col_start[j + 1] : 0, s.col_val, s.col_row, y, low);
    if (!valid || threadIdx.x % LANES != 0) return;
    gpuopt__simplex_add(&sum, -s.in[j], 0, 0);
    s.out[j] = -gpuopt__simplex_total(&sum);
    error_sum[j] = sum.error_sum;
}

/* ---- Sizes of sums ---- */

/* size[k] = the sum of |entry times x| over line k of a sparse matrix, one warp per line. */
__global__ void __launch_bounds__(PRODUCT_THREADS)
    line_sizes(int lines, const int64_t *start, const int *index, const double *val, const double *x, double *size) {
    const int64_t k = product_thread() / 32;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    if (k >= lines) return;
    double sum = 0;
    for (int64_t e = start[k] + lane; e < start[k + 1]; e += 32) sum += fabs(val[e] * x[index[e]]);
    sum = warp_sum(sum);
    if (lane == 0) size[k] = sum;
}

} // namespace

#endif /* GPUOPT_CUDA_SIMPLEX_ENGINE_PRODUCTS_CUH */
