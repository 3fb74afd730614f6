/* SPDX-License-Identifier: MIT
 *
 * Kernels that make the engine's matrix from the caller's: check its entries, transpose it, choose the scales and apply
 * them. They do the same as gpuopt_impl/simplex/model/entries.h and scaling.h on the CPU, with the same arithmetic.
 * Smallest and largest sizes do not depend on an order, so the scales have the same bits.
 */
#ifndef GPUOPT_CUDA_SIMPLEX_ENGINE_MODEL_CUH
#define GPUOPT_CUDA_SIMPLEX_ENGINE_MODEL_CUH

#include "../../../gpuopt_impl/simplex/model/scaling.h"
#include "products.cuh"

namespace {

/* Possible faults of a matrix, in one word of device memory. After MODEL_REFUSED the kernels below do nothing, since
 * indices may be out of range. */
enum {
    MODEL_REFUSED = 1, /* an index out of range or repeated in a line, or a value that is 0 or not finite */
    MODEL_EXTREME = 2  /* a value near the ends of the range of double */
};

__device__ bool model_refused(const int *faults) { return *faults & MODEL_REFUSED; }

/* Few threads find any. The compiler merges a warp's atomic operations into one. */
__device__ void report_faults(int *faults, int found) {
    if (found) atomicOr(faults, found);
}

__device__ int faults_of_value(double value) {
    return (gpuopt__simplex_moderate(value) ? 0 : +MODEL_EXTREME) | (fabs(value) < HUGE_VAL ? 0 : +MODEL_REFUSED);
}

/* ---- Checks ---- */

/* Checks every entry by itself: its index, its value, or both. A null array is not checked. */
__global__ void __launch_bounds__(PRODUCT_THREADS)
    check_entries(int64_t count, int width, const int *index, const double *val, int *faults) {
    int found = 0;
    for (int64_t e = product_thread(); e < count; e += static_cast<int64_t>(gridDim.x) * blockDim.x) {
        if (index && (index[e] < 0 || index[e] >= width)) found |= MODEL_REFUSED;
        if (val) found |= faults_of_value(val[e]) | (val[e] == 0 ? +MODEL_REFUSED : 0);
    }
    report_faults(faults, found);
}

/* After transposing, repeated entries of a line are neighbours. One warp per line. */
__global__ void __launch_bounds__(PRODUCT_THREADS)
    find_repeated(int lines, const int64_t *start, const int *index, int *faults) {
    int lane = static_cast<int>(threadIdx.x) % 32, found = 0;
    int64_t line = product_thread() / 32;
    if (line >= lines || model_refused(faults)) return;
    for (int64_t e = start[line] + 1 + lane; e < start[line + 1]; e += 32)
        if (index[e] == index[e - 1]) found = MODEL_REFUSED;
    report_faults(faults, found);
}

/* ---- Dense matrices: `raw` has cols columns of this many rows. One warp per column. ---- */

/* length[col] = number of entries that are not 0. */
__global__ void __launch_bounds__(PRODUCT_THREADS)
    count_dense(int rows, int cols, const double *raw, int64_t *length, int *faults) {
    int lane = static_cast<int>(threadIdx.x) % 32, found = 0;
    int64_t col = product_thread() / 32;
    unsigned count = 0;
    if (col >= cols) return;
    for (int i = lane; i < rows; i += 32) {
        double value = raw[col * rows + i];
        count += value != 0;
        found |= faults_of_value(value);
    }
    count = warp_count(count);
    if (lane == 0) length[col] = count;
    report_faults(faults, found);
}

__global__ void __launch_bounds__(PRODUCT_THREADS)
    pack_dense(int rows, int cols, const double *raw, const int64_t *start, int *col_row, double *col_val) {
    int lane = static_cast<int>(threadIdx.x) % 32;
    int64_t col = product_thread() / 32;
    if (col >= cols) return;
    int64_t at = start[col];
    for (int from = 0; from < rows; from += 32) {
        double value = from + lane < rows ? raw[col * rows + from + lane] : 0;
        unsigned there = __ballot_sync(~0u, value != 0);
        if (value != 0) {
            int64_t to = at + __popc(there & ((1u << lane) - 1));
            col_row[to] = from + lane;
            col_val[to] = value;
        }
        at += __popc(there);
    }
}

/* ---- Transposition: a matrix by lines becomes the same matrix by lines across ----
 * Each warp takes a range of lines, in order, and has its own counts, count[warp][across]. So the entries of every line
 * across are in ascending order. Repeated indices in a line are an error that is found afterwards. Such entries get
 * different places, since counting is atomic. */

struct ModelLines {
    int lines, width; /* indices are below width */
    const int64_t *start;
    const int *index;
    const double *val;

    __device__ int first(int64_t warp, int warps) const { return static_cast<int>(lines * warp / warps); }
};

enum { MODEL_AT_ONCE = 4 }; /* entries that a lane loads before it uses any */

__global__ void __launch_bounds__(PRODUCT_THREADS)
    count_across(const __grid_constant__ ModelLines m, int *count, int warps, const int *faults) {
    int lane = static_cast<int>(threadIdx.x) % 32;
    int64_t warp = product_thread() / 32;
    if (warp >= warps || model_refused(faults)) return;
    int *own = count + warp * m.width;
    for (int i = lane; i < m.width; i += 32) own[i] = 0;
    __syncwarp();
    int64_t end = m.start[m.first(warp + 1, warps)];
    for (int64_t from = m.start[m.first(warp, warps)] + lane; from < end; from += 32 * MODEL_AT_ONCE) {
        int i[MODEL_AT_ONCE];
#pragma unroll
        for (int k = 0; k < MODEL_AT_ONCE; k++) i[k] = from + 32 * k < end ? m.index[from + 32 * k] : -1;
#pragma unroll
        for (int k = 0; k < MODEL_AT_ONCE; k++)
            if (i[k] >= 0) atomicAdd(own + i[k], 1);
    }
}

/* Turns count[warp][i] into the number of entries of line i before the warp's entries. length[i] becomes the total. */
__global__ void __launch_bounds__(PRODUCT_THREADS)
    add_counts(int width, int *count, int warps, int64_t *length, const int *faults) {
    int64_t i = product_thread();
    if (i >= width) return;
    if (model_refused(faults)) warps = 0;
    int sum = 0;
    for (int from = 0; from < warps; from += MODEL_AT_ONCE) {
        int own[MODEL_AT_ONCE];
#pragma unroll
        for (int k = 0; k < MODEL_AT_ONCE; k++)
            own[k] = from + k < warps ? count[static_cast<int64_t>(from + k) * width + i] : 0;
#pragma unroll
        for (int k = 0; k < MODEL_AT_ONCE; k++) {
            if (from + k < warps) count[static_cast<int64_t>(from + k) * width + i] = sum;
            sum += own[k];
        }
    }
    length[i] = sum;
}

__global__ void __launch_bounds__(PRODUCT_THREADS)
    fill_across(const __grid_constant__ ModelLines m, int *count, int warps, const int64_t *start, int *index,
                double *val, const int *faults) {
    int lane = static_cast<int>(threadIdx.x) % 32;
    int64_t warp = product_thread() / 32;
    if (warp >= warps || model_refused(faults)) return;
    int *own = count + warp * m.width;
    for (int line = m.first(warp, warps); line < m.first(warp + 1, warps); line++) {
        int64_t end = m.start[line + 1];
        for (int64_t from = m.start[line] + lane; from < end; from += 32 * MODEL_AT_ONCE) {
            int64_t at[MODEL_AT_ONCE];
            double value[MODEL_AT_ONCE];
#pragma unroll
            for (int k = 0; k < MODEL_AT_ONCE; k++) {
                int64_t e = from + 32 * k;
                at[k] = e < end ? m.index[e] : -1;
                value[k] = e < end ? m.val[e] : 0;
            }
#pragma unroll
            for (int k = 0; k < MODEL_AT_ONCE; k++)
                if (at[k] >= 0) at[k] = start[at[k]] + atomicAdd(own + at[k], 1);
#pragma unroll
            for (int k = 0; k < MODEL_AT_ONCE; k++)
                if (at[k] >= 0) index[at[k]] = line, val[at[k]] = value[k];
        }
        __syncwarp();
    }
}

/* ---- Scales ----
 * Sizes are not negative, so they are ordered like their bits. */

struct ModelScales {
    double *row, *col;                /* [rows], [cols] */
    unsigned long long *least, *most; /* [rows] bits of sizes */

    __device__ void clear(int64_t i) const {
        least[i] = static_cast<unsigned long long>(__double_as_longlong(HUGE_VAL));
        most[i] = 0;
    }
};

__global__ void __launch_bounds__(PRODUCT_THREADS)
    start_scales(int rows, int cols, const __grid_constant__ ModelScales scales) {
    int64_t k = product_thread();
    if (k < rows) scales.clear(k);
    if (k < cols) scales.col[k] = 1;
}

/* One half of a round: each row's smallest and largest size, then the rows' scales. m: the columns, one warp each. */
__global__ void __launch_bounds__(PRODUCT_THREADS)
    sample_rows(const __grid_constant__ ModelLines m, const __grid_constant__ ModelScales scales, const int *faults) {
    int lane = static_cast<int>(threadIdx.x) % 32;
    int64_t col = product_thread() / 32;
    if (col >= m.lines || model_refused(faults)) return;
    int64_t end = m.start[col + 1], step = gpuopt__simplex_sample_step(end - m.start[col]);
    double scale = scales.col[col];
    for (int64_t e = m.start[col] + lane * step; e < end; e += 32 * step) {
        auto size = static_cast<unsigned long long>(__double_as_longlong(gpuopt__mul(fabs(m.val[e]), scale)));
        atomicMin(scales.least + m.index[e], size);
        atomicMax(scales.most + m.index[e], size);
    }
}
__global__ void __launch_bounds__(PRODUCT_THREADS) scale_rows(int rows, const __grid_constant__ ModelScales scales) {
    int64_t i = product_thread();
    if (i >= rows) return;
    scales.row[i] = gpuopt__simplex_geometric(__longlong_as_double(static_cast<long long>(scales.least[i])),
                                              __longlong_as_double(static_cast<long long>(scales.most[i])));
    scales.clear(i);
}

/* The other half. last: also equilibrates, and rounds to powers of two. */
__global__ void __launch_bounds__(PRODUCT_THREADS)
    scale_cols(const __grid_constant__ ModelLines m, const __grid_constant__ ModelScales scales, bool last,
               const int *faults) {
    int lane = static_cast<int>(threadIdx.x) % 32;
    int64_t col = product_thread() / 32;
    if (col >= m.lines || model_refused(faults)) return;
    int64_t end = m.start[col + 1], step = gpuopt__simplex_sample_step(end - m.start[col]);
    double least = HUGE_VAL, most = 0;
    for (int64_t e = m.start[col] + lane * step; e < end; e += 32 * step) {
        double size = gpuopt__mul(fabs(m.val[e]), scales.row[m.index[e]]);
        least = gpuopt__min(least, size);
        most = gpuopt__max(most, size);
    }
    for (int half = 16; half > 0; half /= 2) {
        least = gpuopt__min(least, __shfl_xor_sync(~0u, least, half));
        most = gpuopt__max(most, __shfl_xor_sync(~0u, most, half));
    }
    if (lane > 0) return;
    scales.col[col] = last ? gpuopt__simplex_power_of_two(gpuopt__simplex_equilibrating(most))
                           : gpuopt__simplex_geometric(least, most);
}
__global__ void __launch_bounds__(PRODUCT_THREADS) round_rows(int rows, const __grid_constant__ ModelScales scales) {
    int64_t i = product_thread();
    if (i < rows) scales.row[i] = gpuopt__simplex_power_of_two(scales.row[i]);
}

/* Multiplies val, m's own, by the scales of its line and its index. One warp per line. */
__global__ void __launch_bounds__(PRODUCT_THREADS)
    scale_entries(const __grid_constant__ ModelLines m, double *val, const double *of_line, const double *of_index) {
    int lane = static_cast<int>(threadIdx.x) % 32;
    int64_t line = product_thread() / 32;
    if (line >= m.lines) return;
    for (int64_t e = m.start[line] + lane; e < m.start[line + 1]; e += 32)
        val[e] *= of_line[line] * of_index[m.index[e]];
}

} // namespace

#endif /* GPUOPT_CUDA_SIMPLEX_ENGINE_MODEL_CUH */
