/* SPDX-License-Identifier: MIT
 *
 * Basis inverse on the GPU: what the kernels work on, and what they have in common. How a call travels through this
 * folder, after gpuopt_impl/basis/calls.h has checked its arguments:
 *
 *   basis.cu     the backend's table of functions, and what enqueues FTRAN, BTRAN, updates and reports
 *   create.cuh   class CudaBasis, the handle: its memory, create and destroy
 *   invert.cuh   what enqueues a load
 *   solve.cuh    kernels of FTRAN and BTRAN
 *   update.cuh   kernels of updates
 *   columns.cuh  kernels of a load: the columns are checked and scaled
 *   factors.cuh  kernels of a load that cuSOLVER and cuBLAS do: LU factors
 *   load.cuh     kernels of a load without them: Gauss-Jordan elimination
 *   device.cuh   (this file) the data that the kernels work on, and device functions that they share
 *
 * Both DEFERRED and the elimination apply collected pivots by common/rank_update.cuh, which simplex uses as well.
 *
 * A matrix is stored as m lines of m doubles. Lines are `pitch` apart, a multiple of 16, so that each begins at a cache
 * line. With DEFERRED the lines are the columns of M, and FTRAN of a sparse column reads few of them. With the paper's
 * techniques they are the rows of the inverse. The lines of U are its columns; the lines of V are its rows.
 *
 * In most kernels a block of 8 warps computes 32 neighbouring elements. The lines to be summed are divided among the
 * warps, and the sums of the warps are added in a fixed order.
 */
#ifndef GPUOPT_CUDA_BASIS_DEVICE_CUH
#define GPUOPT_CUDA_BASIS_DEVICE_CUH

#include <cstdint>

#include "../../gpuopt_impl/basis/load.h"
#include "../common/context.cuh"
#include "../common/ptx.cuh"
#include "../common/warp.cuh"

namespace {

enum {
    BASIS_LANES = 32,
    BASIS_GROUPS = 8,
    BASIS_THREADS = BASIS_LANES * BASIS_GROUPS,
    BASIS_MOST = 256 /* the largest K: one thread for each update */
};

/* What updates and loads keep in device memory. */
struct BasisState {
    unsigned long long largest[2]; /* bits of max |alpha|, used by FTRAN calls in turn; each clears the other */
    unsigned long long drift[2];   /* bits of the estimate and the norm of _get_drift */
    unsigned long long updates;
    int accepted; /* whether the latest update was */
    int pending;
    int refused;      /* position of the latest refused load or update; -1: none */
    int load_refused; /* column that made the latest load fail; -1: none */
    int fault;        /* not 0: an entry of the matrix to be loaded is wrong */
};

/* The part of it that the CPU reads, in pinned host memory; the GPU writes it. */
struct BasisReport {
    unsigned long long updates;
    double drift[2];
    int accepted, pending, refused, load_refused, fault;
};

/* The arrays of a handle in device memory, as kernels get them. */
struct Basis {
    double *matrix;  /* [m][pitch] */
    double *second;  /* [m][pitch]: where a load works; ELEMENT, MPFI and PFI use it, too */
    double *factor;  /* [m][pitch]: E of PFI, by columns; null with the others */
    double *u, *v;   /* [most][pitch]; null without DEFERRED */
    double *rows_u;  /* [m][most]: a second copy of U, row after row; see update_deferred() */
    double *load_u;  /* [most][pitch] */
    double *load_v;  /* [most][pitch] */
    double *alpha;   /* [pitch]: the result of the latest FTRAN */
    double *input;   /* [pitch]: a vector copied from host memory */
    double *output;  /* [pitch]: a result to be copied to host memory */
    double *omega;   /* [pitch] */
    double *row;     /* [pitch]: the pivot row before the update */
    double *partial; /* [BASIS_PARTS][pitch]: parts of a sum of lines */
    double *dots;    /* [BASIS_MOST]: products of U or V with a vector */
    BasisState *state;
    BasisReport *report; /* pinned host memory, at the same address on the device */
    long long pitch;
    double tolerance;
    int m;
    int most;       /* K */
    bool backwards; /* this update begins at the end of the matrix, which the previous one may have left in the cache */
};

/* ---- Overlapping launches ----
 * On compute capability 9.0 and above, a kernel enqueued by launch_behind() may start while the previous kernel is
 * still running, as soon as that kernel has called let_next_start(). It must call wait_for_previous() before it
 * accesses anything that the previous kernel writes. Kernels call let_next_start() after wait_for_previous(), so that
 * everything written by the kernel before the previous one is complete when they start. */
__device__ void wait_for_previous() { ptx_wait_for_previous(); }
__device__ void let_next_start() { ptx_let_next_start(); }

__device__ int basis_lane() { return static_cast<int>(threadIdx.x) % BASIS_LANES; }
__device__ int basis_group() { return static_cast<int>(threadIdx.x) / BASIS_LANES; }

/* The bits of |value|: as unsigned integers they are ordered like the absolute values, with NaN above all. */
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

/* The sum over the groups (warps) of a block, valid in group 0. `sums` can be reused after the block's next barrier. */
__device__ double group_sum(double (&sums)[BASIS_GROUPS][BASIS_LANES], double sum) {
    sums[basis_group()][basis_lane()] = sum;
    __syncthreads();
    if (basis_group()) return 0;
    for (int g = 1; g < BASIS_GROUPS; g++) sum += sums[g][basis_lane()];
    return sum;
}

/* A volatile load: the compiler cannot delay it to save registers, so loads written next to each other overlap. Not
 * from the L1 cache, which may have what was there before a kernel that this one overlaps with wrote it. */
__device__ double load_now(const double *from) { return ptx_load(from); }

/* Two neighbours, also not from the L1 cache. */
__device__ double2 load_two(const double *from) { return __ldcg(reinterpret_cast<const double2 *>(from)); }

/* A group's part of the sum over k < count of factor[k] * (element i of line k): BATCH lines, BASIS_GROUPS apart,
 * beginning with line `first`. */
template <int BATCH>
struct LineBatch {
    enum { STRIDE = BATCH * BASIS_GROUPS };
    double entry[BATCH];

    __device__ void load(const double *lines, long long pitch, int first, int count, int i) {
#pragma unroll
        for (int n = 0; n < BATCH; n++) {
            int k = first + n * BASIS_GROUPS;
            entry[n] = k < count ? load_now(lines + k * pitch + i) : 0;
        }
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

/* The same for all of the group's lines from `first` on. */
__device__ double lines_at(const double *lines, long long pitch, const double *factor, int first, int count, int i) {
    double sum = 0;
    LineBatch<8> batch;
    for (; first < count; first += batch.STRIDE) {
        batch.load(lines, pitch, first, count, i);
        sum += batch.sum(factor, first, count);
    }
    return sum;
}

/* Where the result of a product with the inverse goes, and what is measured of it. */
struct Target {
    double *result;              /* [m] */
    double *copy;                /* [m] or null */
    unsigned long long *largest; /* receives the bits of max |result - expected|; or null */
    unsigned long long *clear;   /* is set to 0; or null */
    int unit; /* expected is the unit vector with this index; -1: the zero vector; -2: the vector e of _get_drift */

    __device__ unsigned long long put(int i, double value) const {
        double expected = unit == -2 ? gpuopt__basis_drift_sign(i) : unit == i ? 1 : 0;
        result[i] = value;
        if (copy) copy[i] = value;
        return size_bits(value - expected);
    }
    /* Called by one warp. */
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
