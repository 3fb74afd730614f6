/* SPDX-License-Identifier: MIT
 *
 * Basis inverse on the GPU: kernels that check and scale the columns of a load. The columns arrive in the caller's
 * order, by rows or by columns. They are scattered to `second`, where line j is column j of B. The CPU then chooses the
 * order of elimination from the number of entries of each column: see gpuopt_impl/basis/load.h.
 */
#ifndef GPUOPT_CUDA_BASIS_COLUMNS_CUH
#define GPUOPT_CUDA_BASIS_COLUMNS_CUH

#include <cub/block/block_reduce.cuh>

#include <cfloat>
#include <climits>

#include "device.cuh"

namespace {

enum {
    BASIS_STAGE = 1 << 20,    /* entries copied to the device at a time */
    BASIS_NO_SCALE = 0x80,    /* byte of row_scale in rows without entries: as an int, below every exponent */
    BASIS_LOAD_BLOCKS = 1024, /* most blocks of an elimination */
    BASIS_PATCH = 8           /* lines of a block of scale_basis() and gather_left() */
};

/* The pivot row that a block proposes; INT_MAX: none. */
struct Candidate {
    double size;
    int row;
};

/* The storage of the caller's arrays. */
enum BasisLayout {
    BASIS_BY_COLUMNS,
    BASIS_BY_ROWS,
    BASIS_WHOLE_COLUMNS, /* all m entries of every column, in order: the indices are not copied */
    BASIS_WHOLE_ROWS
};

/* Data of a load besides the matrix, in device memory. */
struct BasisLoad {
    int *entries, *only;          /* [m] each, see gpuopt__basis_order; for storage by rows only */
    int *order, *row_of, *col_of; /* [m] each: column, row_of and col_of of gpuopt__basis_order */
    int *row_scale, *col_scale;   /* [m]: entry (i, j) is scaled by 2^-(row_scale[i] + col_scale[j]) */
    double *row_pivot;            /* [m]: scaled pivot on a column with a single entry, by its row; 1 for other rows */
    long long *start;             /* [m + 1] */
    int *stage_index;             /* [stage]: staged entries for the matrix */
    double *stage_value;          /* [stage] */
    double *column;               /* [pitch]: the pivot column */
    Candidate *candidates;        /* [BASIS_LOAD_BLOCKS] */
    double *work; /* [m][pitch]: B in the order of elimination, then its factors; null: use eliminate() */
    int *row_at;  /* [m]: the row of B in row r of `work` */
    int *swaps;   /* [m]: row swaps of the pivoting, counted from 1 */
    double *solver_work;
    long long stage;
};

/* Checks the staged entries first .. first + count - 1 and writes them to `second`. Finds the exponent of each row's
 * largest entry. With storage by rows also finds each column's number of entries and a row with such an entry. */
template <BasisLayout LAYOUT>
__global__ void __launch_bounds__(BASIS_THREADS)
    scatter_entries(const __grid_constant__ Basis b, const __grid_constant__ BasisLoad load, long long first,
                    int count) {
    int e = static_cast<int>(blockIdx.x * BASIS_THREADS + threadIdx.x), line = 0, index;
    if (e >= count) return;
    if (LAYOUT == BASIS_WHOLE_COLUMNS || LAYOUT == BASIS_WHOLE_ROWS) {
        line = static_cast<int>((first + e) / b.m);
        index = static_cast<int>((first + e) % b.m);
    } else {
        for (int high = b.m; high - line > 1;) { /* start[line] <= first + e < start[high] */
            int middle = line + (high - line) / 2;
            if (load.start[middle] <= first + e) line = middle;
            else high = middle;
        }
        index = load.stage_index[e];
    }
    double value = load.stage_value[e], size = fabs(value);
    bool good = index >= 0 && index < b.m && size > 0 && size <= DBL_MAX;
    if (good) {
        constexpr bool by_rows = LAYOUT == BASIS_BY_ROWS || LAYOUT == BASIS_WHOLE_ROWS;
        int i = by_rows ? line : index, j = by_rows ? index : line, exponent = gpuopt__basis_exponent(value);
        auto *entry = reinterpret_cast<unsigned long long *>(b.second + j * b.pitch + i);
        good = atomicExch(entry, static_cast<unsigned long long>(__double_as_longlong(value))) == 0;
        if (exponent > __ldcg(load.row_scale + i)) atomicMax(load.row_scale + i, exponent);
        if (LAYOUT == BASIS_BY_ROWS) {
            atomicAdd(load.entries + j, 1);
            atomicMax(load.only + j, i);
        }
    }
    if (!good) atomicExch(&b.state->fault, 1);
}

/* One block per column of B: the exponent of its largest entry after the rows are scaled. */
__global__ void __launch_bounds__(BASIS_THREADS)
    find_column_scales(const __grid_constant__ Basis b, const __grid_constant__ BasisLoad load) {
    using Reduce = cub::BlockReduce<int, BASIS_THREADS, cub::BLOCK_REDUCE_RAKING>;
    __shared__ typename Reduce::TempStorage reduce;
    int j = static_cast<int>(blockIdx.x), largest = INT_MIN;
    const double *line = b.second + j * b.pitch;
    for (int i = static_cast<int>(threadIdx.x); i < b.m; i += BASIS_THREADS)
        if (line[i] != 0) largest = max(largest, gpuopt__basis_exponent(line[i]) - load.row_scale[i]);
    largest = Reduce(reduce).Reduce(largest, [](int a, int b) { return max(a, b); });
    if (threadIdx.x == 0) load.col_scale[j] = largest;
}

__device__ double scaled_entry(const Basis &b, const BasisLoad &load, int i, int j) {
    return ldexp(b.second[j * b.pitch + i], -(load.row_scale[i] + load.col_scale[j]));
}

/* The pivots on columns with a single entry. */
__global__ void __launch_bounds__(BASIS_THREADS)
    find_row_pivots(const __grid_constant__ Basis b, const __grid_constant__ BasisLoad load) {
    int i = static_cast<int>(blockIdx.x * BASIS_THREADS + threadIdx.x);
    if (i < b.m) load.row_pivot[i] = load.col_of[i] < 0 ? 1 : scaled_entry(b, load, i, load.col_of[i]);
}

/* Scales `second` in place and makes the pivots on columns with a single entry, like gpuopt__basis_entry(). */
__global__ void __launch_bounds__(BASIS_THREADS)
    scale_basis(const __grid_constant__ Basis b, const __grid_constant__ BasisLoad load) {
    int i = static_cast<int>(blockIdx.x * BASIS_THREADS + threadIdx.x),
        first = static_cast<int>(blockIdx.y) * BASIS_PATCH;
    if (i >= b.m) return;
    for (int j = first; j < min(b.m, first + BASIS_PATCH); j++) {
        double *entry = b.second + j * b.pitch + i;
        if (*entry != 0) *entry = (load.row_of[j] >= 0 ? 1 : scaled_entry(b, load, i, j)) / load.row_pivot[i];
    }
}

} // namespace

#endif /* GPUOPT_CUDA_BASIS_COLUMNS_CUH */
