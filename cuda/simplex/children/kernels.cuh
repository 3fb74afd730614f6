/* SPDX-License-Identifier: MIT
 *
 * Children of one basis on the GPU: the kernels.
 */
#ifndef GPUOPT_CUDA_SIMPLEX_CHILDREN_KERNELS_CUH
#define GPUOPT_CUDA_SIMPLEX_CHILDREN_KERNELS_CUH

#include "../child/root.cuh"
#include "../child/solve.cuh"
#include "../handle/solve.cuh"

namespace {

/* A part's arrays, which are those of block 0 in `first`, become those `bytes` bytes behind. The rest of the struct is
 * set when a child begins. */
template <class Data>
__device__ void load_arrays(const Data &first, int64_t bytes) {
    static_assert(sizeof first % sizeof(int64_t) == 0 && sizeof(void *) == sizeof(int64_t), "it is copied by words");
    for (unsigned w = threadIdx.x; w < sizeof first / sizeof(int64_t); w += blockDim.x)
        reinterpret_cast<int64_t *>(child_shared<Data>())[w] = reinterpret_cast<const int64_t *>(&first)[w] + bytes;
}
__device__ void load_state(const ChildState &first, int64_t bytes) {
    load_arrays(first.point, bytes);
    load_arrays(first.work, bytes);
    load_arrays(first.inverse, bytes);
    load_arrays(first.core, bytes);
    load_arrays(first.ratio, bytes);
    load_arrays(first.pricing, bytes);
    load_arrays(first.duals, bytes);
}

/* The block's root becomes that one. */
__device__ void load_root(const ChildRoot &from) {
    static_assert(sizeof from % sizeof(uint64_t) == 0, "it is copied by words");
    for (unsigned w = threadIdx.x; w < sizeof from / sizeof(uint64_t); w += blockDim.x)
        reinterpret_cast<uint64_t *>(child_shared<ChildRoot>())[w] = reinterpret_cast<const uint64_t *>(&from)[w];
}

/* With fewer threads, each has more registers. views: of the roots that job.place names, with their cores. */
template <int THREADS>
__global__ void __launch_bounds__(THREADS)
    solve_children(const __grid_constant__ ChildRoot given, const __grid_constant__ ChildJob job,
                   const __grid_constant__ ChildState first, int64_t bytes, const ChildRoot *views, const int *cores) {
    __shared__ int taken;
    load_root(given);
    load_state(first, bytes * blockIdx.x);
    __syncthreads();
    Child child;
    int present = -1;
    for (;;) {
        if (threadIdx.x == 0) taken = atomicAdd(job.next, 1);
        __syncthreads();
        const int k = taken;
        __syncthreads();
        if (k >= job.count) return;
        const int place = job.place ? job.place[job.order[k]] : -1;
        if (place != present) {
            load_root(place < 0 ? given : views[place]);
            __syncthreads();
            if (threadIdx.x == 0 && place >= 0) child_shared<ChildRoot>()->core.size = cores[place];
            __syncthreads();
            present = place;
        }
        child.run(job, job.order[k]);
    }
}

/* Makes roots, each by a block. capacity: of pivots in U and V. */
template <int THREADS>
__global__ void __launch_bounds__(THREADS)
    make_roots(const __grid_constant__ ChildRoot handle, const __grid_constant__ ChildRootsJob job,
               const __grid_constant__ ChildState first, int64_t bytes, int capacity) {
    load_state(first, bytes * blockIdx.x);
    __syncthreads();
    ChildRootMaker maker;
    for (int k = static_cast<int>(blockIdx.x); k < job.count; k += static_cast<int>(gridDim.x))
        maker.make(handle, job, k, capacity);
}

/* The inverse by rows, through tiles in shared memory; and the columns in single precision, if they are wanted. */
enum { TILE = 32, TILE_ROWS = 8 };
__global__ void __launch_bounds__(TILE *TILE_ROWS)
    transpose_inverse(int rows, int64_t pitch, const double *columns, double *lines, float *singles) {
    __shared__ double tile[TILE][TILE + 1];
    const int x = static_cast<int>(threadIdx.x) % TILE, y = static_cast<int>(threadIdx.x) / TILE;
    const int row = static_cast<int>(blockIdx.x) * TILE, col = static_cast<int>(blockIdx.y) * TILE;
    for (int n = y; n < TILE; n += TILE_ROWS)
        if (row + x < rows && col + n < rows) {
            const int64_t at = (col + n) * pitch + row + x;
            tile[n][x] = columns[at];
            if (singles) singles[at] = static_cast<float>(columns[at]);
        }
    __syncthreads();
    for (int n = y; n < TILE; n += TILE_ROWS)
        if (row + n < rows && col + x < rows) lines[(row + n) * pitch + col + x] = tile[x][n];
}

/* The core of the inverse, by rows and by columns, from the columns of all of it, which has another pitch; and in
 * single precision, if that is wanted. Lines end where `reach` is, with zeros. */
__global__ void __launch_bounds__(TILE *TILE_ROWS)
    take_core(const __grid_constant__ ChildRoot r, const double *all, int64_t pitch, double *lines, double *columns,
              float *singles) {
    __shared__ double tile[TILE][TILE + 1];
    const int x = static_cast<int>(threadIdx.x) % TILE, y = static_cast<int>(threadIdx.x) / TILE;
    const int first_place = static_cast<int>(blockIdx.x) * TILE, first_row = static_cast<int>(blockIdx.y) * TILE;
    for (int n = y; n < TILE; n += TILE_ROWS) {
        const int place = first_place + x, row = first_row + n;
        const bool is = place < r.core.size && row < r.core.size;
        const double entry = is ? all[r.core.row[row] * pitch + r.core.position[place]] : 0;
        tile[n][x] = entry;
        if (row >= r.core.size || place >= r.core.reach) continue;
        columns[row * r.inverse.pitch + place] = entry;
        if (singles) singles[row * r.inverse.pitch + place] = static_cast<float>(entry);
    }
    __syncthreads();
    for (int n = y; n < TILE; n += TILE_ROWS)
        if (first_place + n < r.core.size && first_row + x < r.core.reach)
            lines[(first_place + n) * r.inverse.pitch + first_row + x] = tile[x][n];
}
/* weight: the squared norms of the rows of the inverse outside the core, or 1. One warp per row of A. */
__global__ void __launch_bounds__(PRODUCT_THREADS)
    weigh_logicals(const __grid_constant__ ChildRoot r, const double *lines, bool norms, double *weight) {
    const int64_t i = product_thread() / 32;
    if (i >= r.rows || r.core.place_of_row[i] >= 0) return;
    const double norm = child_weigh_logical(r, i, norms ? r.core.size : 0, lines, [&](int v) {
        return r.start.state[v] & CHILD_BASIC ? +r.core.place_of_column[v] : -1;
    });
    if (threadIdx.x % 32 == 0) weight[-1 - r.core.place_of_row[i]] = norm;
}

/* Takes what is rounding out of the rows of the inverse, and counts the other entries. weight gets the squared norms of
 * rows, or 1, at their positions; position null: these are the rows. One warp per row. */
__global__ void __launch_bounds__(PRODUCT_THREADS)
    weigh_lines(int rows, int64_t pitch, double *lines, bool norms, const int *position, double *weight,
                unsigned long long *nonzeros) {
    const int64_t i = product_thread() / 32;
    unsigned count = 0;
    if (i >= rows) return;
    const double norm = child_weigh_line(rows, lines + i * pitch, &count);
    if (threadIdx.x % 32 > 0) return;
    weight[position ? position[i] : i] = norms ? norm : 1;
    atomicAdd(nonzeros, count);
}

/* Fills the slices of columns (or of rows: then rows are columns here). One thread per column, and those of a slice in
 * one warp. */
__global__ void __launch_bounds__(PRODUCT_THREADS)
    fill_slices(int rows, int cols, const int64_t *col_start, const int *col_row, const double *col_val,
                const double *row_scale, const __grid_constant__ ChildSlices to) {
    const int64_t j = product_thread(), slice = j / 32;
    if (slice >= to.count) return;
    const int64_t begin = j < cols ? col_start[j] : 0;
    int64_t end = j < cols ? col_start[j + 1] : 0;
    if (end - begin > CHILD_LONG) end = begin;
    ChildSlice *const head = const_cast<ChildSlice *>(to.head.at) + slice;
    double size = 0;
    bool flat = true;
    for (int n = 0; n < 4 * static_cast<int>(head->fours & CHILD_FOURS); n++) {
        const int64_t e = begin + n, at = 4 * (32 * (int64_t{head->begin} + n / 4) + j % 32) + n % 4;
        const bool is = e < end;
        const double unscaled = is ? col_val[e] / row_scale[col_row[e]] : 0;
        if (n == 0) size = fabs(unscaled);
        flat = flat && (!is || fabs(unscaled) == size);
        const_cast<double *>(to.val.at)[at] = fabs(unscaled);
        const_cast<uint16_t *>(to.row.at)[at] =
            static_cast<uint16_t>(is ? col_row[e] | (unscaled < 0 ? +CHILD_MINUS : 0) : rows);
    }
    const_cast<double *>(to.factor.at)[j] = size;
    flat = __all_sync(~0u, flat);
    if (j % 32 == 0 && flat) head->fours |= CHILD_FLAT;
}

} // namespace

#endif /* GPUOPT_CUDA_SIMPLEX_CHILDREN_KERNELS_CUH */
