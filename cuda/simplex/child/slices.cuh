/* SPDX-License-Identifier: MIT
 *
 * Children of one basis on the GPU: columns of A (or rows) in slices of 32, for sums over them.
 */
#ifndef GPUOPT_CUDA_SIMPLEX_CHILD_SLICES_CUH
#define GPUOPT_CUDA_SIMPLEX_CHILD_SLICES_CUH

#include "../engine/device.cuh"

namespace {

enum {
    CHILD_LONG = 64,     /* entries of a column that is not in a slice */
    CHILD_MINUS = 32768, /* above all rows of a slice */
    CHILD_FOURS = 255,   /* of the words of a slice: its fours, that it is flat, and that a column is listed */
    CHILD_FLAT = 256,
    CHILD_HAS_LONG = 512
};

/* A pointer into global memory, in a struct that is itself in shared memory. */
template <class T>
struct ChildArray {
    T *at;

    __host__ __device__ void operator=(T *pointer) { at = pointer; }
    __device__ operator T *() const { return ptx_global(at); }
};

/* A second copy of A, for y'A: columns in slices of 32, one per lane, and four entries at a time. Four number e of them
 * all is at 32 * (begin + e); entries that a column lacks are 0. Columns with more than CHILD_LONG entries are listed,
 * as all are if y has no place in shared memory. Values are without the scales of the rows, which y has instead. In
 * most models each column then has one value, up to signs. A slice is flat if all its columns are like this: the rows
 * with their signs suffice, in a fifth of the memory. */
struct alignas(8) ChildSlice {
    unsigned begin, fours; /* the latter with CHILD_FLAT, and CHILD_HAS_LONG */
};
struct ChildSlices {
    int count, of_longs;
    ChildArray<const ChildSlice> head; /* [count] */
    ChildArray<const unsigned> longs;  /* [count] bits of the columns that are listed */
    ChildArray<const uint16_t> row;    /* with CHILD_MINUS or not; [rows] where there is no entry */
    ChildArray<const double> val;
    ChildArray<const double> factor; /* [32 count] the columns' scales times their values, if their slices are flat */
    ChildArray<const int> of_long;   /* [of_longs] columns */
};

static_assert(CHILD_MINUS == 0x8000, "the sign of a double is moved there");
/* The number `bytes` bytes after y, with the sign in the highest bit of `minus`. */
__device__ double child_signed_entry(const double *y, unsigned bytes, unsigned minus) {
    const double size = *reinterpret_cast<const double *>(reinterpret_cast<const char *>(y) + bytes);
    const auto high = static_cast<unsigned>(__double2hiint(size)) ^ (minus & 1u << 31);
    return __hiloint2double(static_cast<int>(high), __double2loint(size));
}

/* y'a for the lane's column (or row), except for its factor if FLAT; y[i] of the lane's bank is at i * banks. */
template <bool FLAT>
__device__ double child_entries(const ChildSlices &slices, const ChildSlice &slice, const double *y, int banks) {
    const int64_t begin = 32 * int64_t{slice.begin} + threadIdx.x % 32;
    const uint2 *rows = reinterpret_cast<const uint2 *>(ptx_global(slices.row.at)) + begin;
    const double2 *values = reinterpret_cast<const double2 *>(ptx_global(slices.val.at)) + 2 * begin;
    const unsigned stride = static_cast<unsigned>(banks) * sizeof *y;
    double2 sum = {0, 0};
    auto entry = [&](unsigned row, unsigned minus) {
        return child_signed_entry(y, (row & (CHILD_MINUS - 1)) * stride, minus);
    };
    auto add = [&](unsigned row, double2 by) {
        sum.x += entry(row, row << 16) * (FLAT ? 1 : by.x);
        sum.y += entry(row >> 16, row) * (FLAT ? 1 : by.y);
    };
    auto some = [&](auto count) {
        constexpr int N = decltype(count)::value;
        uint2 row[N];
        double2 value[N][2];
#pragma unroll
        for (int n = 0; n < N; n++) {
            row[n] = rows[32 * n];
            if (!FLAT) value[n][0] = values[64 * n], value[n][1] = values[64 * n + 1];
        }
#pragma unroll
        for (int n = 0; n < N; n++) add(row[n].x, value[n][0]), add(row[n].y, value[n][1]);
        rows += 32 * N, values += 64 * N;
    };
    constexpr int MOST = FLAT ? 4 : 2;
    int left = static_cast<int>(slice.fours & CHILD_FOURS);
    for (; left > MOST; left -= MOST) some(std::integral_constant<int, MOST>{});
    if (left == 1) some(std::integral_constant<int, 1>{});
    else if (left == 2) some(std::integral_constant<int, 2>{});
    else if constexpr (FLAT) {
        if (left == 3) some(std::integral_constant<int, 3>{});
        else if (left == 4) some(std::integral_constant<int, 4>{});
    }
    return sum.x + sum.y;
}

} // namespace

#endif /* GPUOPT_CUDA_SIMPLEX_CHILD_SLICES_CUH */
