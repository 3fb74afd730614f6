/* SPDX-License-Identifier: MIT
 *
 * Basis inverse on the GPU: the kernels of updates. DEFERRED takes one, and a rank update every K; the paper's
 * techniques take the steps of its figures 1 to 7. Whether the pivot will do is decided on the device, by every block
 * for itself, so that updates can be enqueued.
 */
#ifndef GPUOPT_CUDA_BASIS_UPDATE_CUH
#define GPUOPT_CUDA_BASIS_UPDATE_CUH

#include "device.cuh"

namespace {

enum {
    BASIS_ROWS = 4,       /* of a thread of the element-wise kernels: so many loads are under way */
    BASIS_PREPARE = 1024, /* threads of a block */
    BASIS_MPFI_THREADS = 1024
};

/* The pivot column as an update takes it: `largest`, bits of its max norm, or null: to be found here. */
struct Pivot {
    const double *alpha;
    const unsigned long long *largest;
    int position;
    bool tell; /* the host waits for the report */
};

/* Whether the pivot will do. By all threads of the block. */
__device__ bool pivot_accepted(const Basis &b, const Pivot &pivot) {
    enum { AT_ONCE = 24 };
    __shared__ unsigned long long most[BASIS_PREPARE / BASIS_LANES];
    unsigned long long bits = 0;
    double size = fabs(pivot.alpha[pivot.position]);
    if (pivot.largest) {
        bits = *pivot.largest;
    } else {
        const volatile double *alpha = pivot.alpha;
        int threads = static_cast<int>(blockDim.x), warps = threads / BASIS_LANES;
        for (int first = 0; first < b.m; first += AT_ONCE * threads) {
            double entry[AT_ONCE];
#pragma unroll
            for (int n = 0; n < AT_ONCE; n++) {
                int i = first + n * threads + static_cast<int>(threadIdx.x);
                entry[n] = i < b.m ? alpha[i] : 0;
            }
            /* Volatile loads keep their order, and the last one is used first: so all are under way by then. */
#pragma unroll
            for (int n = AT_ONCE - 1; n >= 0; n--) bits = max(bits, size_bits(entry[n]));
        }
        bits = warp_most(bits);
        if (basis_lane() == 0) most[threadIdx.x / BASIS_LANES] = bits;
        __syncthreads();
        for (int w = 0; w < warps; w++) bits = max(bits, most[w]);
    }
    double largest = bits_size(bits);
    return size > b.tolerance * largest && largest < HUGE_VAL;
}

/* The state as the host wants to know it; only when it waits for that: writing to its memory makes a kernel longer. */
__device__ void tell_host(const Basis &b) {
    const BasisState &state = *b.state;
    b.report->updates = state.updates;
    b.report->accepted = state.accepted;
    b.report->pending = state.pending;
    b.report->refused = state.refused;
}

/* By one thread. `slot`: of U, or -1. */
__device__ void report_update(const Basis &b, bool accepted, int position, int slot, bool tell) {
    BasisState &state = *b.state;
    if (slot <= 0) state.pending = 0;
    if (slot >= 0) state.pending += accepted;
    state.accepted = accepted;
    if (accepted) state.updates++;
    else state.refused = position;
    if (tell) tell_host(b);
}

/* What enqueued updates did not tell. */
__global__ void report_state(const __grid_constant__ Basis b) { tell_host(b); }

__device__ double omega_of(const Pivot &pivot, int i) {
    double theta = pivot.alpha[pivot.position];
    return i == pivot.position ? 1 / theta : -pivot.alpha[i] / theta;
}

/* ---- DEFERRED ---- */

/* Row p of M + U V becomes row `slot` of V, over alpha[p]; row p of M and of U becomes 0; column `slot` of U becomes
 * -alpha, with a 1 in row p. A refused update fills its slot with zeros.
 *
 * Every block reads row p of U, and none can know when the others have: so they read it in a second copy of U, where
 * it is left to the next update to clear what this one would have: row `before` up to the 1 that this one put there.
 * `before`: -1 with slot 0. The update before may still be at work: until wait_for_previous() this one keeps off row
 * `before` of M, slot - 1, the second copy, and what is the host's. */
__global__ void __launch_bounds__(BASIS_THREADS)
    update_deferred(const __grid_constant__ Basis b, const __grid_constant__ Pivot pivot, int slot, int before) {
    __shared__ double sums[BASIS_GROUPS][BASIS_LANES], factor[BASIS_MOST];
    int p = pivot.position, j = static_cast<int>(blockIdx.x) * BASIS_LANES + basis_lane();
    int k = static_cast<int>(threadIdx.x), known = max(slot - 1, 0); /* slots before the latest */
    bool mine = j < b.m && basis_group() == 0;
    double *entry = b.matrix + min(j, b.m - 1) * b.pitch + p;
    double *own = b.rows_u + static_cast<long long>(p) * b.most;
    double *last = b.rows_u + static_cast<long long>(before) * b.most;
    double row = mine && p != before ? load_now(entry) : 0;
    LineBatch lines;
    if (known) lines.load(b.v, b.pitch, basis_group(), known, min(j, b.m - 1));

    wait_for_previous();
    let_next_start();
    if (mine && p == before) row = load_now(entry);
    double alpha = mine ? pivot.alpha[j] : 0, theta = pivot.alpha[p], stored = k < slot ? own[k] : 0;
    double latest = mine && slot ? b.v[known * b.pitch + j] : 0, one = slot ? last[known] : 0;
    bool accepted = pivot_accepted(b, pivot);
    if (k < slot) factor[k] = k < known && p == before && one != 0 ? 0 : stored;
    if (blockIdx.x == 0) {
        if (k < slot && accepted) b.u[k * b.pitch + p] = 0;
        if (k < known && one != 0) last[k] = 0;
        if (k == BASIS_THREADS - 1) report_update(b, accepted, p, slot, pivot.tell);
    }
    __syncthreads();
    if (slot && accepted) {
        if (mine) row += factor[known] * latest;
        if (known)
            row += lines.sum(factor, basis_group(), known) +
                   lines_at(b.v, b.pitch, factor, basis_group() + LineBatch::STRIDE, known, min(j, b.m - 1));
    }
    row = group_sum(sums, row);
    if (mine) {
        double omega = !accepted ? 0 : j == p ? 1 : -alpha;
        b.v[slot * b.pitch + j] = accepted ? row / theta : 0;
        b.u[slot * b.pitch + j] = omega;
        b.rows_u[static_cast<long long>(j) * b.most + slot] = omega;
        if (accepted) *entry = 0;
    }
}

/* ---- The steps of the paper's techniques; the matrix row after row ---- */

enum PrepareSteps { PREPARE_OMEGA = 1, PREPARE_ROW = 2, PREPARE_ZERO = 4 };

/* omega, the pivot row's copy, zeros in its place: what `steps` says. Whether the update is accepted, which the kernels
 * after this one read, is for the first block to say. */
__global__ void prepare_update(const __grid_constant__ Basis b, const __grid_constant__ Pivot pivot, int steps) {
    wait_for_previous();
    let_next_start();
    bool accepted = pivot_accepted(b, pivot);
    double *row = b.matrix + pivot.position * b.pitch;
    for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); accepted && i < b.m;
         i += static_cast<int>(gridDim.x * blockDim.x)) {
        if (steps & PREPARE_OMEGA) b.omega[i] = omega_of(pivot, i);
        if (steps & PREPARE_ROW) b.row[i] = row[i];
        if (steps & PREPARE_ZERO) row[i] = 0;
    }
    if (blockIdx.x == 0 && threadIdx.x == 0) report_update(b, accepted, pivot.position, -1, pivot.tell);
}

/* Two neighbours in each of BASIS_ROWS rows, all loaded before the first is used: f(where in the matrix, pair, own,
 * row, i) for each, with own = of_rows[i] and row = two of of_cols. The kernel before may still be at work, if of this
 * matrix it writes row `changed` alone. */
template <class F>
__device__ void for_elements(const Basis &b, const double *matrix, int changed, const double *of_rows,
                             const double *of_cols, F f) {
    int j = (static_cast<int>(blockIdx.x) * BASIS_THREADS + static_cast<int>(threadIdx.x)) * 2;
    int first = static_cast<int>(b.backwards ? gridDim.y - 1 - blockIdx.y : blockIdx.y) * BASIS_ROWS;
    int rows = j < b.m ? min(b.m - first, +BASIS_ROWS) : 0;
    long long at = first * b.pitch + j;
    double2 pair[BASIS_ROWS], row;
    double own[BASIS_ROWS];
#pragma unroll
    for (int r = 0; r < BASIS_ROWS; r++)
        if (r < rows && first + r != changed) pair[r] = *reinterpret_cast<const double2 *>(matrix + at + r * b.pitch);
    wait_for_previous();
    let_next_start();
    if (!b.state->accepted || !rows) return;
    row = *reinterpret_cast<const double2 *>(of_cols + j);
#pragma unroll
    for (int r = 0; r < BASIS_ROWS; r++) {
        own[r] = r < rows ? of_rows[first + r] : 0;
        if (r < rows && first + r == changed) pair[r] = *reinterpret_cast<const double2 *>(matrix + at + r * b.pitch);
    }
#pragma unroll
    for (int r = 0; r < BASIS_ROWS; r++)
        if (r < rows) f(at + r * b.pitch, pair[r], own[r], row, first + r);
}

/* Figure 7, step 2: b_ij += row_j omega_i. */
__global__ void __launch_bounds__(BASIS_THREADS) update_elements_proposed(const __grid_constant__ Basis b, int p) {
    for_elements(b, b.matrix, p, b.omega, b.row, [&](long long at, double2 pair, double omega, double2 row, int) {
        *reinterpret_cast<double2 *>(b.matrix + at) = make_double2(pair.x + row.x * omega, pair.y + row.y * omega);
    });
}

/* Equation (13), for figures 5 (row p read in the matrix itself, into another one) and 6 (row p saved, in place). */
__global__ void __launch_bounds__(BASIS_THREADS)
    update_elements(const __grid_constant__ Basis b, const __grid_constant__ Pivot pivot, const double *pivot_row,
                    double *result) {
    double theta = pivot.alpha[pivot.position];
    for_elements(b, b.matrix, -1, pivot.alpha, pivot_row,
                 [&](long long at, double2 pair, double own, double2 row, int i) {
                     if (i == pivot.position) pair = make_double2(row.x / theta, row.y / theta);
                     else pair = make_double2(pair.x - own / theta * row.x, pair.y - own / theta * row.y);
                     *reinterpret_cast<double2 *>(result + at) = pair;
                 });
}

/* The second matrix back into the first. */
__global__ void __launch_bounds__(BASIS_THREADS) copy_back(const __grid_constant__ Basis b) {
    for_elements(b, b.second, -1, b.omega, b.omega, [&](long long at, double2 pair, double, double2, int) {
        *reinterpret_cast<double2 *>(b.matrix + at) = pair;
    });
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
    for_elements(b, b.matrix, -1, b.omega, b.omega, [&](long long at, double2 pair, double, double2, int) {
        double2 outer = *reinterpret_cast<const double2 *>(b.second + at);
        *reinterpret_cast<double2 *>(b.matrix + at) = make_double2(pair.x + outer.x, pair.y + outer.y);
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
