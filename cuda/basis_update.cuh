/* SPDX-License-Identifier: MIT
 *
 * Basis inverse on the GPU: the kernels of updates. DEFERRED takes one, and a rank update every K; the paper's
 * techniques take the steps of its figures 1 to 7. Whether the pivot will do is decided on the device, by every block
 * for itself, so that updates can be enqueued.
 */
#ifndef GPUOPT_CUDA_BASIS_UPDATE_CUH
#define GPUOPT_CUDA_BASIS_UPDATE_CUH

#include "basis_device.cuh"

namespace {

enum {
    BASIS_ROWS = 8, /* of a thread of the element-wise kernels: so many loads are under way */
    BASIS_MPFI_THREADS = 1024
};

/* The pivot column as an update takes it: `largest`, bits of its max norm, or null: to be found here. */
struct Pivot {
    const double *alpha;
    const unsigned long long *largest;
    int position;
};

/* Whether the pivot will do. By all threads of the block. */
__device__ bool pivot_accepted(const Basis &b, const Pivot &pivot) {
    __shared__ unsigned long long most;
    unsigned long long bits = 0;
    if (pivot.largest) {
        bits = *pivot.largest;
    } else {
        if (threadIdx.x == 0) most = 0;
        __syncthreads();
        for (int i = static_cast<int>(threadIdx.x); i < b.m; i += static_cast<int>(blockDim.x)) {
            unsigned long long size = size_bits(pivot.alpha[i]);
            bits = size > bits ? size : bits;
        }
        bits = warp_most(bits);
        if (basis_lane() == 0) atomicMax(&most, bits);
        __syncthreads();
        bits = most;
    }
    double largest = bits_size(bits), size = fabs(pivot.alpha[pivot.position]);
    return size > b.tolerance * largest && largest < HUGE_VAL;
}

/* By one thread, when nothing else of the update reads the state. `slot`: of U, or -1. */
__device__ void report_update(const Basis &b, bool accepted, int position, int slot) {
    BasisState &state = *b.state;
    if (slot <= 0) state.pending = 0;
    if (slot >= 0) state.pending += accepted;
    state.accepted = accepted;
    if (accepted) state.updates++;
    else state.refused = position;
    b.report->updates = state.updates;
    b.report->accepted = accepted;
    b.report->pending = state.pending;
    b.report->refused = state.refused;
}

__device__ double omega_of(const Pivot &pivot, int i) {
    double theta = pivot.alpha[pivot.position];
    return i == pivot.position ? 1 / theta : -pivot.alpha[i] / theta;
}

/* ---- DEFERRED ---- */

/* Row p of M + U V becomes row `slot` of V, over alpha[p]; row p of M and of U becomes 0; column `slot` of U becomes
 * -alpha, with a 1 in row p. A refused update fills its slot with zeros. */
__global__ void __launch_bounds__(BASIS_THREADS)
    update_deferred(const __grid_constant__ Basis b, const __grid_constant__ Pivot pivot, int slot) {
    __shared__ double sums[BASIS_GROUPS][BASIS_LANES], factor[BASIS_MOST];
    __shared__ bool last;
    int p = pivot.position, j = static_cast<int>(blockIdx.x) * BASIS_LANES + basis_lane();
    int k = static_cast<int>(threadIdx.x);
    bool mine = j < b.m && basis_group() == 0;
    double row = mine ? b.matrix[j * b.pitch + p] : 0, alpha = mine ? pivot.alpha[j] : 0, theta = pivot.alpha[p];
    if (k < slot) factor[k] = b.u[k * b.pitch + p];
    bool accepted = pivot_accepted(b, pivot);
    __syncthreads();
    if (j < b.m && accepted) row += lines_at(b.v, b.pitch, factor, slot, j);
    row = group_sum(sums, row);
    if (mine) {
        b.v[slot * b.pitch + j] = accepted ? row / theta : 0;
        b.u[slot * b.pitch + j] = !accepted ? 0 : j == p ? 1 : -alpha;
        if (accepted) b.matrix[j * b.pitch + p] = 0;
    }
    /* Row p of U is zeroed once every block has read it. */
    if (k == 0) {
        __threadfence();
        last = atomicInc(&b.state->arrived, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last) return;
    if (k < slot && accepted) b.u[k * b.pitch + p] = 0;
    if (k == 0) report_update(b, accepted, p, slot);
}

/* ---- The steps of the paper's techniques; the matrix row after row ---- */

enum PrepareSteps { PREPARE_OMEGA = 1, PREPARE_ROW = 2, PREPARE_ZERO = 4 };

/* omega, the pivot row's copy, zeros in its place: what `steps` says. Whether the update is accepted, which the kernels
 * after this one read, is for the last block to say. */
__global__ void prepare_update(const __grid_constant__ Basis b, const __grid_constant__ Pivot pivot, int steps) {
    __shared__ bool last;
    bool accepted = pivot_accepted(b, pivot);
    double *row = b.matrix + pivot.position * b.pitch;
    for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); accepted && i < b.m;
         i += static_cast<int>(gridDim.x * blockDim.x)) {
        if (steps & PREPARE_OMEGA) b.omega[i] = omega_of(pivot, i);
        if (steps & PREPARE_ROW) b.row[i] = row[i];
        if (steps & PREPARE_ZERO) row[i] = 0;
    }
    if (threadIdx.x == 0) last = atomicInc(&b.state->arrived, gridDim.x - 1) == gridDim.x - 1;
    __syncthreads();
    if (last && threadIdx.x == 0) report_update(b, accepted, pivot.position, -1);
}

/* Two neighbours in each of BASIS_ROWS rows, all loaded before the first is used: f(row, pair) for each. */
template <class F>
__device__ void for_elements(const Basis &b, double *matrix, F f) {
    int j = (static_cast<int>(blockIdx.x) * BASIS_THREADS + static_cast<int>(threadIdx.x)) * 2;
    int first = static_cast<int>(blockIdx.y) * BASIS_ROWS, rows = min(b.m - first, +BASIS_ROWS);
    if (j >= b.m || !b.state->accepted) return;
    auto *at = reinterpret_cast<double2 *>(matrix + first * b.pitch + j);
    long long step = b.pitch / 2;
    double2 pair[BASIS_ROWS];
#pragma unroll
    for (int r = 0; r < BASIS_ROWS; r++)
        if (r < rows) pair[r] = at[r * step];
#pragma unroll
    for (int r = 0; r < BASIS_ROWS; r++)
        if (r < rows) f(first + r, j, pair[r]);
}

/* Figure 7, step 2: b_ij += row_j omega_i. */
__global__ void __launch_bounds__(BASIS_THREADS) update_elements_proposed(const __grid_constant__ Basis b) {
    int j = (static_cast<int>(blockIdx.x) * BASIS_THREADS + static_cast<int>(threadIdx.x)) * 2;
    if (j >= b.m) return;
    double2 row = *reinterpret_cast<const double2 *>(b.row + j);
    for_elements(b, b.matrix, [&](int i, int at, double2 pair) {
        double omega = b.omega[i];
        *reinterpret_cast<double2 *>(b.matrix + i * b.pitch + at) =
            make_double2(pair.x + row.x * omega, pair.y + row.y * omega);
    });
}

/* Equation (13), for figures 5 (row p read in the matrix itself, into another one) and 6 (row p saved, in place). */
__global__ void __launch_bounds__(BASIS_THREADS)
    update_elements(const __grid_constant__ Basis b, const __grid_constant__ Pivot pivot, const double *pivot_row,
                    double *result) {
    double theta = pivot.alpha[pivot.position];
    for_elements(b, b.matrix, [&](int i, int j, double2 pair) {
        double2 row = *reinterpret_cast<const double2 *>(pivot_row + j);
        if (i == pivot.position) {
            pair = make_double2(row.x / theta, row.y / theta);
        } else {
            double own = pivot.alpha[i];
            pair = make_double2(pair.x - own / theta * row.x, pair.y - own / theta * row.y);
        }
        *reinterpret_cast<double2 *>(result + i * b.pitch + j) = pair;
    });
}

/* The second matrix back into the first. */
__global__ void __launch_bounds__(BASIS_THREADS) copy_back(const __grid_constant__ Basis b) {
    for_elements(b, b.second,
                 [&](int i, int j, double2 pair) { *reinterpret_cast<double2 *>(b.matrix + i * b.pitch + j) = pair; });
}

/* Figure 2, step 2: the outer product of omega and row p. */
__global__ void __launch_bounds__(BASIS_THREADS) outer_product(const __grid_constant__ Basis b, int p) {
    int j = (static_cast<int>(blockIdx.x) * BASIS_THREADS + static_cast<int>(threadIdx.x)) * 2;
    int first = static_cast<int>(blockIdx.y) * BASIS_ROWS;
    if (j >= b.m || !b.state->accepted) return;
    double2 row = *reinterpret_cast<const double2 *>(b.matrix + p * b.pitch + j);
    for (int i = first; i < min(b.m, first + BASIS_ROWS); i++)
        *reinterpret_cast<double2 *>(b.second + i * b.pitch + j) = make_double2(b.omega[i] * row.x, b.omega[i] * row.y);
}

/* Step 3: zeros in row p. */
__global__ void __launch_bounds__(BASIS_THREADS) zero_row(const __grid_constant__ Basis b, int p) {
    int j = static_cast<int>(blockIdx.x) * BASIS_THREADS + static_cast<int>(threadIdx.x);
    if (j < b.m && b.state->accepted) b.matrix[p * b.pitch + j] = 0;
}

/* Step 4: the sum. */
__global__ void __launch_bounds__(BASIS_THREADS) add_second(const __grid_constant__ Basis b) {
    for_elements(b, b.matrix, [&](int i, int j, double2 pair) {
        double2 outer = *reinterpret_cast<const double2 *>(b.second + i * b.pitch + j);
        *reinterpret_cast<double2 *>(b.matrix + i * b.pitch + j) = make_double2(pair.x + outer.x, pair.y + outer.y);
    });
}

/* Figure 3, step 2: a thread a column, omega in shared memory. */
__global__ void update_columns(const __grid_constant__ Basis b, int p) {
    extern __shared__ __align__(16) double shared_omega[];
    if (!b.state->accepted) return;
    for (int i = static_cast<int>(threadIdx.x); i < b.m; i += static_cast<int>(blockDim.x))
        shared_omega[i] = b.omega[i];
    __syncthreads();
    int j = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (j >= b.m) return;
    double *column = b.matrix + j, pivot = column[p * b.pitch];
    column[p * b.pitch] = 0;
#pragma unroll 8
    for (int i = 0; i < b.m; i++) column[i * b.pitch] += pivot * shared_omega[i];
}

/* Figure 1, steps 1 and 2: E, by columns: the identity, with omega as column p. */
__global__ void __launch_bounds__(BASIS_THREADS) make_factor(const __grid_constant__ Basis b, int p) {
    int i = static_cast<int>(blockIdx.x) * BASIS_THREADS + static_cast<int>(threadIdx.x);
    int first = static_cast<int>(blockIdx.y) * BASIS_ROWS;
    if (i >= b.m || !b.state->accepted) return;
    for (int k = first; k < min(b.m, first + BASIS_ROWS); k++)
        b.factor[k * b.pitch + i] = k == p ? b.omega[i] : i == k ? 1 : 0;
}

} // namespace

#endif /* GPUOPT_CUDA_BASIS_UPDATE_CUH */
