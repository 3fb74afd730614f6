/* SPDX-License-Identifier: MIT
 *
 * Basis inverse on the GPU: kernels of FTRAN and BTRAN. A product with the matrix is either a linear combination of its
 * lines or the dot products of its lines with a vector. The order of summation depends only on m and the device.
 */
#ifndef GPUOPT_CUDA_BASIS_SOLVE_CUH
#define GPUOPT_CUDA_BASIS_SOLVE_CUH

#include "device.cuh"

namespace {

enum {
    BASIS_PARTS = 64,              /* most parts of a linear combination; each part is summed separately */
    BASIS_DOT_LINES = 4,           /* dot products per block, so that it reads the vector once for all */
    BASIS_WIDE = 2 * BASIS_THREADS /* elements of a line per block of a linear combination */
};

/* ---- Dense vectors ---- */

/* Dot products of `count` <= LINES neighbouring lines with a vector of n elements. */
template <int LINES>
__device__ void block_dots(const double *lines, long long pitch, int count, const double *vector, int n,
                           double (&result)[LINES]) {
    __shared__ double sums[BASIS_GROUPS][LINES];
    double sum[LINES] = {};
    int i = 2 * static_cast<int>(threadIdx.x);
#pragma unroll 2
    for (; i + 1 < n; i += BASIS_WIDE) {
        double2 x = make_double2(vector[i], vector[i + 1]);
#pragma unroll
        for (int l = 0; l < LINES; l++) {
            double2 a = l < count ? *reinterpret_cast<const double2 *>(lines + l * pitch + i) : make_double2(0, 0);
            sum[l] += a.x * x.x + a.y * x.y;
        }
    }
    if (i < n)
#pragma unroll
        for (int l = 0; l < LINES; l++) sum[l] += l < count ? lines[l * pitch + i] * vector[i] : 0;
#pragma unroll
    for (int l = 0; l < LINES; l++) {
        sum[l] = warp_sum(sum[l]);
        if (basis_lane() == 0) sums[basis_group()][l] = sum[l];
    }
    __syncthreads();
#pragma unroll
    for (int l = 0; l < LINES; l++) {
        result[l] = 0;
        for (int g = 0; g < BASIS_GROUPS; g++) result[l] += sums[g][l];
    }
}

/* Blocks 0 .. chunks * parts - 1: partial[part][i] = sum over the part's lines l of vector[l] * (element i of line l).
 * Further blocks k: dots[k] = dot product of line k of `other` and the vector. */
__global__ void __launch_bounds__(BASIS_THREADS)
    combine_lines(const __grid_constant__ Basis b, const double *vector, int chunks, int parts, const double *other) {
    int block = static_cast<int>(blockIdx.x);
    if (block >= chunks * parts) {
        double dot[1];
        int k = block - chunks * parts;
        block_dots(other + k * b.pitch, b.pitch, 1, vector, b.m, dot);
        if (threadIdx.x == 0) b.dots[k] = dot[0];
        return;
    }
    int part = block / chunks, i = block % chunks * BASIS_WIDE + 2 * static_cast<int>(threadIdx.x);
    int line = static_cast<int>(static_cast<long long>(b.m) * part / parts);
    int end = static_cast<int>(static_cast<long long>(b.m) * (part + 1) / parts);
    double2 sum = make_double2(0, 0);
    if (i >= b.m) return;
    const double *from = b.matrix + line * b.pitch + i;
    enum { AT_ONCE = 8 };
    for (; line + AT_ONCE <= end; line += AT_ONCE, from += AT_ONCE * b.pitch) {
        double x[AT_ONCE];
        bool any = false;
#pragma unroll
        for (int l = 0; l < AT_ONCE; l++) any |= (x[l] = vector[line + l]) != 0;
        if (!any) continue; /* lines with factor 0 need not be read */
        double2 a[AT_ONCE];
#pragma unroll
        for (int l = 0; l < AT_ONCE; l++) a[l] = *reinterpret_cast<const double2 *>(from + l * b.pitch);
#pragma unroll
        for (int l = 0; l < AT_ONCE; l++) sum.x += x[l] * a[l].x, sum.y += x[l] * a[l].y;
    }
    for (; line < end; line++, from += b.pitch) {
        double2 a = *reinterpret_cast<const double2 *>(from);
        sum.x += vector[line] * a.x, sum.y += vector[line] * a.y;
    }
    *reinterpret_cast<double2 *>(b.partial + part * b.pitch + i) = sum;
}

/* target = the sum of the lines partial[0 .. parts - 1] and of factor[k] * lines[k] for k < count. */
__global__ void __launch_bounds__(BASIS_THREADS)
    add_lines(const __grid_constant__ Basis b, const double *partial, int parts, const double *lines,
              const double *factor, int count, const __grid_constant__ Target target) {
    __shared__ double sums[BASIS_GROUPS][BASIS_LANES];
    int i = static_cast<int>(blockIdx.x) * BASIS_LANES + basis_lane();
    double sum = 0;
    target.clear_other();
    if (i < b.m) {
        for (int part = basis_group(); part < parts; part += BASIS_GROUPS) sum += partial[part * b.pitch + i];
        sum += lines_at(lines, b.pitch, factor, basis_group(), count, i);
    }
    sum = group_sum(sums, sum);
    if (basis_group() == 0) target.measure(i < b.m ? target.put(i, sum) : 0);
}

/* target[l] = dot product of line l and the vector. Blocks after the first m lines: dots[k] from line k of `other`. */
__global__ void __launch_bounds__(BASIS_THREADS) dot_lines(const __grid_constant__ Basis b, const double *vector,
                                                           const double *other, const __grid_constant__ Target target) {
    int first = static_cast<int>(blockIdx.x) * BASIS_DOT_LINES, blocks = (b.m + BASIS_DOT_LINES - 1) / BASIS_DOT_LINES;
    double dot[BASIS_DOT_LINES];
    target.clear_other();
    if (static_cast<int>(blockIdx.x) >= blocks) {
        double one[1];
        int k = static_cast<int>(blockIdx.x) - blocks;
        block_dots(other + k * b.pitch, b.pitch, 1, vector, b.m, one);
        if (threadIdx.x == 0) b.dots[k] = one[0];
        return;
    }
    block_dots(b.matrix + first * b.pitch, b.pitch, min(b.m - first, +BASIS_DOT_LINES), vector, b.m, dot);
    if (basis_group()) return;
    unsigned long long bits = 0;
    if (basis_lane() == 0)
#pragma unroll
        for (int l = 0; l < BASIS_DOT_LINES; l++)
            if (first + l < b.m) {
                unsigned long long size = target.put(first + l, dot[l]);
                bits = size > bits ? size : bits;
            }
    target.measure(bits);
}

/* ---- Sparse columns and unit vectors ---- */

/* A sparse column as a kernel's argument, which saves a copy to the device. */
template <int MOST>
struct SparseColumn {
    double val[MOST];
    int row[MOST];
    int count;
};

/* FTRAN with DEFERRED, where lines are columns. pending: columns of U in use. */
template <int MOST>
__global__ void __launch_bounds__(BASIS_THREADS)
    combine_few(const __grid_constant__ Basis b, const __grid_constant__ SparseColumn<MOST> column, int pending,
                const __grid_constant__ Target target) {
    __shared__ double sums[BASIS_GROUPS][BASIS_LANES], factor[BASIS_MOST];
    int i = static_cast<int>(blockIdx.x) * BASIS_LANES + basis_lane(), k = static_cast<int>(threadIdx.x);
    double sum = 0;
    target.clear_other();
    if (k < pending) {
        double dot = 0;
#pragma unroll 4
        for (int e = 0; e < column.count; e++) dot += column.val[e] * b.v[k * b.pitch + column.row[e]];
        factor[k] = dot;
    }
    __syncthreads();
    if (i < b.m) {
#pragma unroll 4
        for (int e = basis_group(); e < column.count; e += BASIS_GROUPS)
            sum += column.val[e] * b.matrix[column.row[e] * b.pitch + i];
        sum += lines_at(b.u, b.pitch, factor, basis_group(), pending, i);
    }
    sum = group_sum(sums, sum);
    if (basis_group() == 0) target.measure(i < b.m ? target.put(i, sum) : 0);
}

/* FTRAN with the other techniques, where lines are rows: one warp for each row. */
template <int MOST>
__global__ void __launch_bounds__(BASIS_THREADS)
    dot_few(const __grid_constant__ Basis b, const __grid_constant__ SparseColumn<MOST> column,
            const __grid_constant__ Target target) {
    int i = static_cast<int>(blockIdx.x) * BASIS_GROUPS + basis_group();
    double sum = 0;
    target.clear_other();
    if (i >= b.m) return;
    for (int e = basis_lane(); e < column.count; e += BASIS_LANES)
        sum += column.val[e] * b.matrix[i * b.pitch + column.row[e]];
    sum = warp_sum(sum);
    target.measure(basis_lane() == 0 ? target.put(i, sum) : 0);
}

/* vector[row[e]] = val[e]. */
__global__ void __launch_bounds__(BASIS_THREADS)
    scatter_column(double *vector, const int *row, const double *val, int count) {
    int e = static_cast<int>(blockIdx.x * BASIS_THREADS + threadIdx.x);
    if (e < count) vector[row[e]] = val[e];
}

/* result = row p of M + U V (DEFERRED). pending: columns of U in use. */
__global__ void __launch_bounds__(BASIS_THREADS)
    read_row(const __grid_constant__ Basis b, int p, int pending, double *result) {
    __shared__ double sums[BASIS_GROUPS][BASIS_LANES], factor[BASIS_MOST];
    int j = static_cast<int>(blockIdx.x) * BASIS_LANES + basis_lane(), k = static_cast<int>(threadIdx.x);
    double sum = j < b.m && basis_group() == 0 ? b.matrix[j * b.pitch + p] : 0;
    if (k < pending) factor[k] = b.u[k * b.pitch + p];
    __syncthreads();
    if (j < b.m) sum += lines_at(b.v, b.pitch, factor, basis_group(), pending, j);
    sum = group_sum(sums, sum);
    if (basis_group() == 0 && j < b.m) result[j] = sum;
}

/* result [m][m] = the transpose of the matrix, without padding between lines. */
__global__ void __launch_bounds__(BASIS_THREADS) transpose_lines(const __grid_constant__ Basis b, double *result) {
    __shared__ double tile[BASIS_LANES][BASIS_LANES + 1];
    int line = static_cast<int>(blockIdx.y) * BASIS_LANES, at = static_cast<int>(blockIdx.x) * BASIS_LANES;
    for (int k = basis_group(); k < BASIS_LANES; k += BASIS_GROUPS)
        if (line + k < b.m && at + basis_lane() < b.m)
            tile[k][basis_lane()] = b.matrix[(line + k) * b.pitch + at + basis_lane()];
    __syncthreads();
    for (int k = basis_group(); k < BASIS_LANES; k += BASIS_GROUPS)
        if (at + k < b.m && line + basis_lane() < b.m)
            result[static_cast<long long>(at + k) * b.m + line + basis_lane()] = tile[basis_lane()][k];
}

/* Copies what _get_drift measured to the report. */
__global__ void report_drift(const __grid_constant__ Basis b) {
    for (int k = 0; k < 2; k++) b.report->drift[k] = bits_size(b.state->drift[k]);
}

} // namespace

#endif /* GPUOPT_CUDA_BASIS_SOLVE_CUH */
