/* SPDX-License-Identifier: MIT
 *
 * Basis inverse on the GPU: the data of the kernels, and their common device functions.
 *
 * gpuopt_impl/basis/calls.h checks a call's arguments; then these files do the work:
 *
 *     basis.cu     the backend's table of functions; enqueues FTRAN, BTRAN, updates and reports
 *     create.cuh   class CudaBasis, the handle: its memory, create and destroy
 *     invert.cuh   enqueues a load
 *     solve.cuh    kernels of FTRAN and BTRAN
 *     update.cuh   kernels of updates
 *     columns.cuh  kernels of a load: check and scale the columns
 *     factors.cuh  kernels of a load by cuSOLVER and cuBLAS: LU factors
 *     load.cuh     kernels of a load without them: Gauss-Jordan elimination
 *     device.cuh   (this file) the data of the kernels, and their common device functions
 *
 * Both DEFERRED and the elimination apply collected pivots by common/rank_update.cuh, which simplex uses as well.
 *
 * A matrix is stored as m lines of m doubles. Lines are `pitch` apart, a multiple of 16, so that each begins at a cache
 * line. With DEFERRED the lines are the columns of M, and FTRAN of a sparse column reads few of them. With the paper's
 * techniques they are the rows of the inverse. The lines of U are its columns; the lines of V are its rows.
 *
 * In most kernels a block of 8 warps computes 32 neighbouring elements. The warps divide the lines of a sum among them,
 * and their sums are added in a fixed order.
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

/* State of updates and loads in device memory. */
struct BasisState {
    unsigned long long largest[2]; /* bits of max |alpha|; FTRAN calls alternate, and each clears the other */
    unsigned long long drift[2];   /* bits of the estimate and the norm of _get_drift */
    unsigned long long updates;
    int accepted; /* whether the latest update was accepted */
    int pending;
    int refused;      /* position of the latest refused load or update; -1: none */
    int load_refused; /* column that made the latest load fail; -1: none */
    int fault;        /* not 0: the matrix of a load has a wrong entry */
};

/* The part of the state that the CPU reads, in pinned host memory. The GPU writes it. */
struct BasisReport {
    unsigned long long updates;
    double drift[2];
    int accepted, pending, refused, load_refused, fault;
};

/* A handle's arrays in device memory, as passed to kernels. */
struct Basis {
    double *matrix;  /* [m][pitch] */
    double *second;  /* [m][pitch]: a load works here; ELEMENT, MPFI and PFI use it, too */
    double *factor;  /* [m][pitch]: E of PFI, by columns; null with other techniques */
    double *u, *v;   /* [most][pitch]; null without DEFERRED */
    double *rows_u;  /* [m][most]: a second copy of U, by rows; see update_deferred() */
    double *load_u;  /* [most][pitch] */
    double *load_v;  /* [most][pitch] */
    double *alpha;   /* [pitch]: the result of the latest FTRAN */
    double *input;   /* [pitch]: a vector copied from host memory */
    double *output;  /* [pitch]: a result to copy to host memory */
    double *omega;   /* [pitch] */
    double *row;     /* [pitch]: the pivot row before the update */
    double *partial; /* [BASIS_PARTS][pitch]: partial sums of lines */
    double *dots;    /* [BASIS_MOST]: products of U or V with a vector */
    BasisState *state;
    BasisReport *report; /* pinned host memory, at the same address on the device */
    long long pitch;
    double tolerance;
    int m;
    int most;       /* K */
    bool backwards; /* this update begins at the end of the matrix, which may still be in the cache */
};

/* ---- Overlapping launches ----
 * On compute capability 9.0 and above, a kernel enqueued by launch_behind() may overlap with the previous kernel. It
 * may start as soon as the previous kernel has called let_next_start(). It must call wait_for_previous() before it
 * accesses anything that the previous kernel writes. Kernels call let_next_start() after wait_for_previous(). So when a
 * kernel starts, everything written by the kernel before the previous one is complete. */
__device__ void wait_for_previous() { ptx_wait_for_previous(); }
__device__ void let_next_start() { ptx_let_next_start(); }

__device__ int basis_lane() { return static_cast<int>(threadIdx.x) % BASIS_LANES; }
__device__ int basis_group() { return static_cast<int>(threadIdx.x) / BASIS_LANES; }

/* The bits of |value|. As unsigned integers they are ordered like the absolute values, and NaN is the largest. */
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

/* A volatile load. The compiler cannot delay it to save registers, so adjacent loads overlap. It bypasses the L1 cache,
 * which may hold stale data when this kernel overlaps with the previous one. */
__device__ double load_now(const double *from) { return ptx_load(from); }

/* Loads two neighbours, also bypassing the L1 cache. */
__device__ double2 load_two(const double *from) { return __ldcg(reinterpret_cast<const double2 *>(from)); }

/* A group's part of the sum over k < count of factor[k] * (element i of line k). Covers BATCH lines, BASIS_GROUPS
 * apart, from line `first` on. */
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

/* The same sum over all of the group's lines from `first` on. */
__device__ double lines_at(const double *lines, long long pitch, const double *factor, int first, int count, int i) {
    double sum = 0;
    LineBatch<8> batch;
    for (; first < count; first += batch.STRIDE) {
        batch.load(lines, pitch, first, count, i);
        sum += batch.sum(factor, first, count);
    }
    return sum;
}

/* Destination of a product with the inverse, and what is measured of the result. */
struct Target {
    double *result;              /* [m] */
    double *copy;                /* [m] or null */
    unsigned long long *largest; /* gets the bits of max |result - expected|; or null */
    unsigned long long *clear;   /* set to 0; or null */
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
