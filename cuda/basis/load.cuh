/* SPDX-License-Identifier: MIT
 *
 * Basis inverse on the GPU: kernels of a load by Gauss-Jordan elimination in place. The matrix is kept as T + U V, with
 * T in `second`, and a pivot needs only its column and its row of the sum. One cooperative launch fills U and V with
 * pivots, with two grid-wide barriers per pivot. Then a rank update applies them to T.
 */
#ifndef GPUOPT_CUDA_BASIS_LOAD_CUH
#define GPUOPT_CUDA_BASIS_LOAD_CUH

#include <cooperative_groups.h>

#include <climits>

#include "columns.cuh"

namespace {

/* ---- Elimination ---- */

__device__ bool is_better(double size, int row, const Candidate &than) {
    return size > than.size || (size == than.size && row < than.row);
}

__device__ Candidate warp_best(Candidate best) {
    for (int half = BASIS_LANES / 2; half > 0; half /= 2) {
        Candidate other = {__shfl_xor_sync(~0u, best.size, half), __shfl_xor_sync(~0u, best.row, half)};
        if (is_better(other.size, other.row, best)) best = other;
    }
    return best;
}

/* Pivots on columns order[first .. first + count - 1], count <= K. Stops at a column without a pivot above the
 * tolerance; later launches then do nothing. A barrier separates a block's writes from other blocks' reads. Row p of U
 * is set to 0 in the next step, when no block reads it any longer. */
__global__ void __launch_bounds__(BASIS_THREADS)
    eliminate(const __grid_constant__ Basis b, const __grid_constant__ BasisLoad load, int first, int count) {
    __shared__ double sums[BASIS_GROUPS][BASIS_LANES], factor[BASIS_MOST];
    __shared__ Candidate bests[BASIS_GROUPS];
    auto grid = cooperative_groups::this_grid();
    int tiles = (b.m + BASIS_LANES - 1) / BASIS_LANES, thread = static_cast<int>(threadIdx.x), before = -1;
    if (b.state->load_refused >= 0) return;
    for (int s = 0; s < count; s++) {
        int q = load.order[first + s];
        /* Compute column q, and find its largest entry in a row without a pivot. */
        if (thread < s) factor[thread] = b.load_v[thread * b.pitch + q];
        if (thread < s - 1 && before >= 0 &&
            before / BASIS_LANES % static_cast<int>(gridDim.x) == static_cast<int>(blockIdx.x))
            b.load_u[thread * b.pitch + before] = 0;
        __syncthreads();
        Candidate best = {b.tolerance, INT_MAX};
        for (int tile = static_cast<int>(blockIdx.x); tile < tiles; tile += static_cast<int>(gridDim.x)) {
            int i = tile * BASIS_LANES + basis_lane();
            double sum = i < b.m && basis_group() == 0 ? b.second[q * b.pitch + i] : 0;
            if (i < b.m) sum += lines_at(b.load_u, b.pitch, factor, basis_group(), s, i);
            sum = group_sum(sums, sum);
            if (basis_group() == 0 && i < b.m) {
                load.column[i] = sum;
                if (load.col_of[i] < 0 && is_better(fabs(sum), i, best) && fabs(sum) > b.tolerance)
                    best = {fabs(sum), i};
            }
            __syncthreads();
        }
        if (basis_group() == 0) best = warp_best(best);
        if (thread == 0) load.candidates[blockIdx.x] = best;
        grid.sync();

        best = {b.tolerance, INT_MAX};
        for (int other = thread; other < static_cast<int>(gridDim.x); other += BASIS_THREADS) {
            Candidate candidate = load.candidates[other];
            if (is_better(candidate.size, candidate.row, best)) best = candidate;
        }
        best = warp_best(best);
        if (basis_lane() == 0) bests[basis_group()] = best;
        __syncthreads();
        for (int g = 0; g < BASIS_GROUPS; g++)
            if (is_better(bests[g].size, bests[g].row, best)) best = bests[g];
        int p = best.row;
        if (p == INT_MAX) { /* all blocks agree */
            if (blockIdx.x == 0 && thread == 0) b.state->load_refused = q;
            return;
        }
        /* Computes row p and fills slot s of U and V; column q becomes the column of the leaving unit vector. */
        double theta = load.column[p];
        if (thread < s) factor[thread] = b.load_u[thread * b.pitch + p];
        __syncthreads();
        for (int tile = static_cast<int>(blockIdx.x); tile < tiles; tile += static_cast<int>(gridDim.x)) {
            int j = tile * BASIS_LANES + basis_lane();
            bool mine = j < b.m && basis_group() == 0;
            double sum = mine ? b.second[j * b.pitch + p] : 0;
            if (j < b.m) sum += lines_at(b.load_v, b.pitch, factor, basis_group(), s, j);
            sum = group_sum(sums, sum);
            if (mine) {
                b.load_v[s * b.pitch + j] = (j == q ? 1 : sum) / theta;
                b.load_u[s * b.pitch + j] = j == p ? 1 : -load.column[j];
                b.second[j * b.pitch + p] = 0;
                b.second[q * b.pitch + j] = 0;
            }
            __syncthreads();
            if (q / BASIS_LANES == tile && thread < s) b.load_v[thread * b.pitch + q] = 0;
        }
        if (blockIdx.x == 0 && thread == 0) load.row_of[q] = p, load.col_of[p] = q;
        before = p;
        grid.sync();
    }
    if (blockIdx.x == 0 && thread < count - 1) b.load_u[thread * b.pitch + before] = 0;
}

/* ---- From T to the inverse ---- */

/* Calls f(i, j, entry) for every entry of the inverse, in column i and row j. A block handles 32 x 32 entries;
 * neighbouring lanes handle neighbouring j. */
template <class F>
__device__ void for_inverse(const Basis &b, const BasisLoad &load, F f) {
    int j = static_cast<int>(blockIdx.x) * BASIS_LANES + basis_lane();
    int first = static_cast<int>(blockIdx.y) * BASIS_LANES;
    if (j >= b.m || b.state->load_refused >= 0) return;
    for (int i = first + basis_group(); i < min(b.m, first + BASIS_LANES); i += BASIS_GROUPS)
        f(i, j, ldexp(b.second[load.col_of[i] * b.pitch + load.row_of[j]], -(load.row_scale[i] + load.col_scale[j])));
}

/* Finds the first row of the inverse with an entry that is not finite: the same column of B makes the load fail. */
__global__ void __launch_bounds__(BASIS_THREADS)
    check_inverse(const __grid_constant__ Basis b, const __grid_constant__ BasisLoad load, int *unrepresentable) {
    for_inverse(b, load, [&](int, int j, double entry) {
        if (!(fabs(entry) < HUGE_VAL)) atomicMin(unrepresentable, j);
    });
}

/* Writes the inverse to `matrix`, where lines are columns (COLUMNS) or rows. */
template <bool COLUMNS>
__global__ void __launch_bounds__(BASIS_THREADS)
    store_inverse(const __grid_constant__ Basis b, const __grid_constant__ BasisLoad load, const int *unrepresentable) {
    __shared__ double tile[BASIS_LANES][BASIS_LANES + 1];
    int row = static_cast<int>(blockIdx.x) * BASIS_LANES, col = static_cast<int>(blockIdx.y) * BASIS_LANES;
    if (*unrepresentable < b.m) return;
    for_inverse(b, load, [&](int i, int j, double entry) {
        if (COLUMNS) b.matrix[i * b.pitch + j] = entry;
        else tile[i - col][basis_lane()] = entry;
    });
    if (COLUMNS || b.state->load_refused >= 0) return;
    __syncthreads();
    for (int k = basis_group(); k < BASIS_LANES; k += BASIS_GROUPS)
        if (row + k < b.m && col + basis_lane() < b.m)
            b.matrix[(row + k) * b.pitch + col + basis_lane()] = tile[basis_lane()][k];
}

__global__ void __launch_bounds__(BASIS_THREADS) make_identity(const __grid_constant__ Basis b) {
    int i = static_cast<int>(blockIdx.x) * BASIS_THREADS + static_cast<int>(threadIdx.x);
    int first = static_cast<int>(blockIdx.y) * BASIS_LANES;
    for (int line = first; i < b.m && line < min(b.m, first + BASIS_LANES); line++)
        b.matrix[line * b.pitch + i] = i == line ? 1 : 0;
}

/* Updates the state after a load. unrepresentable null: the identity was loaded. */
__global__ void end_load(const __grid_constant__ Basis b, const int *unrepresentable) {
    BasisState &state = *b.state;
    int refused = unrepresentable ? state.load_refused : -1;
    if (unrepresentable && refused < 0 && *unrepresentable < b.m) refused = *unrepresentable;
    if (refused < 0) state.updates = 0, state.pending = 0;
    state.refused = refused;
    b.report->updates = state.updates;
    b.report->pending = state.pending;
    b.report->refused = refused;
    b.report->load_refused = refused;
}

} // namespace

#endif /* GPUOPT_CUDA_BASIS_LOAD_CUH */
