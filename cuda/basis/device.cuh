/* SPDX-License-Identifier: MIT
 *
 * Basis inverse on the GPU: what the kernels work on, and what they have in common.
 *
 * A matrix is a list of m lines of m doubles, `pitch` apart, a multiple of 16 so that every line begins at a cache
 * line. With DEFERRED the lines are the columns of M: FTRAN of a sparse column then reads few of them. With the paper's
 * techniques they are the rows of the inverse. U and V are lists of lines too: columns of U, rows of V.
 *
 * Most kernels give 32 neighbouring elements to a block of 8 warps. The warps share out the lines to be summed, and
 * their sums are added in a fixed order.
 */
#ifndef GPUOPT_CUDA_BASIS_DEVICE_CUH
#define GPUOPT_CUDA_BASIS_DEVICE_CUH

#include <cstdint>

#include "../../gpuopt_impl/basis/load.h"
#include "../common/context.cuh"
#include "../common/warp.cuh"

namespace {

enum {
    BASIS_LANES = 32,
    BASIS_GROUPS = 8,
    BASIS_THREADS = BASIS_LANES * BASIS_GROUPS,
    BASIS_MOST = 256 /* K at most: a thread each */
};

struct BasisState {
    unsigned long long largest[2]; /* bits of max |alpha| of FTRAN calls, in turn; a call clears the other's */
    unsigned long long drift[2];   /* bits of what _get_drift measures: estimate, norm */
    unsigned long long updates;
    int accepted; /* the latest update */
    int pending;
    int refused;      /* position, -1 */
    int load_refused; /* column, -1 */
};

/* The same as far as the host wants to know it, written by the GPU into the host's memory. */
struct BasisReport {
    unsigned long long updates;
    double drift[2];
    int accepted, pending, refused, load_refused;
};

struct Basis {
    double *matrix;  /* [m][pitch] */
    double *second;  /* [m][pitch]: where a load works; the second matrix of ELEMENT, MPFI and PFI */
    double *factor;  /* [m][pitch]: E of PFI, by columns; else null */
    double *u, *v;   /* [most][pitch]; null without DEFERRED */
    double *rows_u;  /* [m][most]: U again, row after row; null without DEFERRED. See update_deferred(). */
    double *load_u;  /* [most][pitch] */
    double *load_v;  /* [most][pitch] */
    double *alpha;   /* [pitch]: the result of the last FTRAN */
    double *input;   /* [pitch]: a vector of the host's */
    double *output;  /* [pitch] */
    double *omega;   /* [pitch] */
    double *row;     /* [pitch] */
    double *partial; /* [BASIS_PARTS][pitch] */
    double *dots;    /* [BASIS_MOST] */
    BasisState *state;
    BasisReport *report; /* pinned host memory, at the same address on the device */
    long long pitch;
    double tolerance;
    int m;
    int most;       /* K */
    bool backwards; /* this update begins at the end of the matrix, which the one before may have left in the cache */
};

/* ---- Launches that overlap ----
 * With compute capability 9.0 a kernel that launch_behind() enqueues may start while the one before it, if that has
 * called let_next_start(), is still at work. It calls wait_for_previous() before it touches what others write; and only
 * after that let_next_start(), so that what was written two kernels before it is there from the start. */
__device__ void wait_for_previous() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
__device__ void let_next_start() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/* `overlaps`: whether the device and the code that was loaded for it can. The kernel's errors: cudaGetLastError(). */
template <class... Parameters, class... Arguments>
void launch_behind(bool overlaps, cudaStream_t stream, dim3 grid, unsigned threads, void (*kernel)(Parameters...),
                   const Arguments &...arguments) {
    cudaLaunchAttribute attribute = {};
    cudaLaunchConfig_t config = {};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    config.gridDim = grid;
    config.blockDim = dim3(threads);
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = overlaps;
    cudaLaunchKernelEx(&config, kernel, arguments...);
}

__device__ int basis_lane() { return static_cast<int>(threadIdx.x) % BASIS_LANES; }
__device__ int basis_group() { return static_cast<int>(threadIdx.x) / BASIS_LANES; }

/* Sizes as unsigned integers, in their order; a NaN is above all. */
__device__ unsigned long long size_bits(double value) {
    return static_cast<unsigned long long>(__double_as_longlong(fabs(value)));
}
__device__ double bits_size(unsigned long long bits) { return __longlong_as_double(static_cast<long long>(bits)); }

__device__ unsigned long long warp_most(unsigned long long bits) {
    for (int half = BASIS_LANES / 2; half > 0; half /= 2) {
        unsigned long long other = __shfl_xor_sync(~0u, bits, half);
        bits = other > bits ? other : bits;
    }
    return bits;
}

/* The sum over the groups of a block, valid in the first one; sums is free again after the block's next barrier. */
__device__ double group_sum(double (&sums)[BASIS_GROUPS][BASIS_LANES], double sum) {
    sums[basis_group()][basis_lane()] = sum;
    __syncthreads();
    if (basis_group()) return 0;
    for (int g = 1; g < BASIS_GROUPS; g++) sum += sums[g][basis_lane()];
    return sum;
}

/* Volatile: loads that stand together are under way together, whatever the compiler thinks of the registers. */
__device__ double load_now(const double *from) {
    double value;
    asm volatile("ld.global.f64 %0, [%1];" : "=d"(value) : "l"(from));
    return value;
}

/* What this thread's group has of  sum over k < count of factor[k] * line k at i: BATCH lines from line `first` on,
 * every BASIS_GROUPS-th; count > 0. */
struct LineBatch {
    enum { BATCH = 8, STRIDE = BATCH * BASIS_GROUPS };
    double entry[BATCH];

    __device__ void load(const double *lines, long long pitch, int first, int count, int i) {
#pragma unroll
        for (int n = 0; n < BATCH; n++)
            entry[n] = load_now(lines + min(first + n * BASIS_GROUPS, count - 1) * pitch + i);
    }
    __device__ double sum(const double *factor, int first, int count) const {
        double sum = 0;
#pragma unroll
        for (int n = 0; n < BATCH; n++) {
            int k = first + n * BASIS_GROUPS;
            if (k < count) sum += factor[k] * entry[n];
        }
        return sum;
    }
};

/* The same for all lines from `first` on. */
__device__ double lines_at(const double *lines, long long pitch, const double *factor, int first, int count, int i) {
    double sum = 0;
    LineBatch batch;
    for (; first < count; first += LineBatch::STRIDE) {
        batch.load(lines, pitch, first, count, i);
        sum += batch.sum(factor, first, count);
    }
    return sum;
}

/* Where the result of a product with the inverse goes. */
struct Target {
    double *result;              /* [m] */
    double *copy;                /* [m] or null */
    unsigned long long *largest; /* or null; what is measured is the result minus what is expected: */
    unsigned long long *clear;   /* set to 0, or null */
    int unit;                    /* the unit vector of this number; -1: 0; -2: the vector of signs of _get_drift */

    __device__ unsigned long long put(int i, double value) const {
        double expected = unit == -2 ? gpuopt__basis_drift_sign(i) : unit == i ? 1 : 0;
        result[i] = value;
        if (copy) copy[i] = value;
        return size_bits(value - expected);
    }
    /* By one warp. */
    __device__ void measure(unsigned long long bits) const {
        if (!largest) return;
        bits = warp_most(bits);
        if (basis_lane() == 0 && bits) atomicMax(largest, bits);
    }
    __device__ void clear_other() const {
        if (clear && blockIdx.x == 0 && threadIdx.x == 0) *clear = 0;
    }
};

} // namespace

#endif /* GPUOPT_CUDA_BASIS_DEVICE_CUH */
