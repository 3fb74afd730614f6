/* SPDX-License-Identifier: MIT
 *
 * Basis inverse on the GPU: kernels of updates. DEFERRED needs one launch per update, and one rank update every K
 * updates. The paper's techniques follow the steps of its figures 1 to 7. Every block checks the pivot's size by
 * itself, so the CPU can enqueue updates without waiting.
 */
#ifndef GPUOPT_CUDA_BASIS_UPDATE_CUH
#define GPUOPT_CUDA_BASIS_UPDATE_CUH

#include "device.cuh"

namespace {

enum {
    DEFERRED_LANES = 64, /* elements per block of update_deferred(): more blocks would read alpha more often */
    DEFERRED_THREADS = DEFERRED_LANES * BASIS_GROUPS,
    DEFERRED_BATCH = 12,       /* lines of V that a group loads at once */
    BASIS_ROWS = 4,            /* rows per thread of the element-wise kernels, all loaded at once */
    BASIS_PREPARE = 1024,      /* threads per block of prepare_update() */
    BASIS_MPFI_THREADS = 1024, /* threads of prepare_update() with MPFI, in all blocks */
    COLUMN_WARPS = 16,         /* the most in a block of update_columns(): more do not have its registers */
    COLUMN_ROWS = 32           /* rows that a thread of update_columns() loads at once */
};

/* The pivot of an update. */
struct Pivot {
    const double *alpha;               /* [m] */
    const unsigned long long *largest; /* bits of max |alpha|; null: the kernel computes it */
    int position;
    bool reports; /* the CPU waits for the report */
};

/* Whether the pivot is large enough. Called by all threads of a block. */
__device__ bool pivot_accepted(const Basis &b, const Pivot &pivot) {
    enum { AT_ONCE = 12 };
    __shared__ unsigned long long most[BASIS_PREPARE / +BASIS_LANES];
    unsigned long long bits = 0;
    double size = fabs(load_now(pivot.alpha + pivot.position));
    if (pivot.largest) {
        bits = __ldcg(pivot.largest);
    } else {
        int threads = static_cast<int>(blockDim.x), warps = threads / BASIS_LANES;
        for (int first = 0; first < b.m; first += AT_ONCE * threads) {
            double entry[AT_ONCE];
#pragma unroll
            for (int n = 0; n < AT_ONCE; n++) {
                int i = first + n * threads + static_cast<int>(threadIdx.x);
                entry[n] = i < b.m ? load_now(pivot.alpha + i) : 0;
            }
            /* Volatile loads are issued in order, and the last one is used first, so all of them overlap. */
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

/* Writes the report. Called only if the CPU waits for it, since writing to host memory slows a kernel down. */
__device__ void write_report(const Basis &b) {
    const BasisState &state = *b.state;
    b.report->updates = state.updates;
    b.report->accepted = state.accepted;
    b.report->pending = state.pending;
    b.report->refused = state.refused;
}

/* Updates the state; called by one thread. slot: the column of U; -1: not DEFERRED. */
__device__ void report_update(const Basis &b, bool accepted, int position, int slot, bool reports) {
    BasisState &state = *b.state;
    if (slot <= 0) state.pending = 0;
    if (slot >= 0) state.pending += accepted;
    state.accepted = accepted;
    if (accepted) state.updates++;
    else state.refused = position;
    if (reports) write_report(b);
}

/* Writes the report after updates that were only enqueued. */
__global__ void report_state(const __grid_constant__ Basis b) { write_report(b); }

__device__ double omega_of(const Pivot &pivot, int i) {
    double theta = pivot.alpha[pivot.position];
    return i == pivot.position ? 1 / theta : -pivot.alpha[i] / theta;
}

/* ---- DEFERRED ---- */

/* Row `slot` of V = row p of M + U V, divided by alpha[p]. Row p of M and of U is set to 0. Column `slot` of U is
 * -alpha, with 1 in row p. A refused update fills its slot with zeros.
 *
 * Every block reads row p of U, and no block knows when the other blocks have read it. So blocks read it from rows_u, a
 * second copy of U, in which this update does not clear row p. The next update clears it, for the entries before the 1
 * that this update writes.
 *
 * `before` is the position of the previous update, -1 if slot is 0. `earlier` is the position of the update before
 * `before`, -1 if slot is less than 2. The previous update may still be running. It writes row `before` of M, slot - 1
 * of U and V and of the second copy, and clears row `earlier` of the second copy. So unless p is one of these rows,
 * almost all of row p can be summed before wait_for_previous(). */
__global__ void __launch_bounds__(DEFERRED_THREADS, 2)
    update_deferred(const __grid_constant__ Basis b, const __grid_constant__ Pivot pivot, int slot, int before,
                    int earlier) {
    __shared__ double sums[BASIS_GROUPS][DEFERRED_LANES], factor[BASIS_MOST];
    int lane = static_cast<int>(threadIdx.x) % DEFERRED_LANES, group = static_cast<int>(threadIdx.x) / DEFERRED_LANES;
    int p = pivot.position, j = static_cast<int>(blockIdx.x) * DEFERRED_LANES + lane, at = min(j, b.m - 1);
    int k = static_cast<int>(threadIdx.x), known = max(slot - 1, 0); /* slots before the latest */
    bool mine = j < b.m && group == 0, early = p != before && p != earlier;
    double *entry = b.matrix + at * b.pitch + p;
    double *own = b.rows_u + static_cast<long long>(p) * b.most;
    double *last = b.rows_u + static_cast<long long>(before) * b.most;
    double row = mine && p != before ? load_now(entry) : 0;
    if (early && known) {
        LineBatch<DEFERRED_BATCH> lines;
        lines.load(b.v, b.pitch, group, known, at);
        if (k < known) factor[k] = load_now(own + k);
        __syncthreads();
        row += lines.sum(factor, group, known) + lines_at(b.v, b.pitch, factor, group + lines.STRIDE, known, at);
    }

    wait_for_previous();
    let_next_start();
    if (mine && p == before) row = load_now(entry);
    double alpha = mine ? load_now(pivot.alpha + j) : 0, theta = load_now(pivot.alpha + p);
    double latest = mine && slot ? load_now(b.v + known * b.pitch + j) : 0;
    double one = slot ? load_now(last + known) : 0, newest = slot ? load_now(own + known) : 0;
    double stored = !early && k < known ? load_now(own + k) : 0;
    bool accepted = pivot_accepted(b, pivot);
    row += newest * latest;
    if (!early && known) {
        if (k < known) factor[k] = p == before && one != 0 ? 0 : stored;
        __syncthreads();
        row += lines_at(b.v, b.pitch, factor, group, known, at);
    }
    sums[group][lane] = row;
    if (blockIdx.x == 0) {
        if (k < slot && accepted) b.u[k * b.pitch + p] = 0;
        if (k < known && one != 0) last[k] = 0;
        if (k == DEFERRED_THREADS - 1) report_update(b, accepted, p, slot, pivot.reports);
    }
    __syncthreads();
    if (mine) {
        for (int g = 1; g < BASIS_GROUPS; g++) row += sums[g][lane];
        double omega = !accepted ? 0 : j == p ? 1 : -alpha;
        b.v[slot * b.pitch + j] = accepted ? row / theta : 0;
        b.u[slot * b.pitch + j] = omega;
        b.rows_u[static_cast<long long>(j) * b.most + slot] = omega;
        if (accepted) *entry = 0;
    }
}

/* ---- The steps of the paper's techniques; the lines of the matrix are rows ---- */

enum PrepareSteps { PREPARE_OMEGA = 1, PREPARE_ROW = 2, PREPARE_ZERO = 4 };

/* Computes omega, copies the pivot row, and sets it to 0, as `steps` requires. The first block writes whether the
 * update is accepted, for the kernels that follow. */
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
    if (blockIdx.x == 0 && threadIdx.x == 0) report_update(b, accepted, pivot.position, -1, pivot.reports);
}

/* Each thread has two neighbouring columns of BASIS_ROWS rows, all loaded before the first is used. Calls f(offset in
 * the matrix, the two elements, of_rows[i], the two elements of of_cols, row i) for each row. The previous kernel may
 * still be running if `changed` is the only row of this matrix that it writes. */
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
        if (r < rows && first + r != changed) pair[r] = load_two(matrix + at + r * b.pitch);
    wait_for_previous();
    let_next_start();
    if (!b.state->accepted || !rows) return;
    row = *reinterpret_cast<const double2 *>(of_cols + j);
#pragma unroll
    for (int r = 0; r < BASIS_ROWS; r++) {
        own[r] = r < rows ? of_rows[first + r] : 0;
        if (r < rows && first + r == changed) pair[r] = load_two(matrix + at + r * b.pitch);
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

/* Equation (13), for figure 5 (pivot_row is in the matrix, result is another matrix) and figure 6 (pivot_row is a copy,
 * result is the matrix itself). */
__global__ void __launch_bounds__(BASIS_THREADS)
    update_elements(const __grid_constant__ Basis b, const __grid_constant__ Pivot pivot, const double *pivot_row,
                    double *result) {
    double theta = load_now(pivot.alpha + pivot.position);
    for_elements(b, b.matrix, -1, pivot.alpha, pivot_row,
                 [&](long long at, double2 pair, double own, double2 row, int i) {
                     if (i == pivot.position) pair = make_double2(row.x / theta, row.y / theta);
                     else pair = make_double2(pair.x - own / theta * row.x, pair.y - own / theta * row.y);
                     *reinterpret_cast<double2 *>(result + at) = pair;
                 });
}

/* Copies the second matrix to the first. */
__global__ void __launch_bounds__(BASIS_THREADS) copy_back(const __grid_constant__ Basis b) {
    for_elements(b, b.second, -1, b.omega, b.omega, [&](long long at, double2 pair, double, double2, int) {
        *reinterpret_cast<double2 *>(b.matrix + at) = pair;
    });
}

/* Figure 2, step 2: second = the outer product of omega and row p. */
__global__ void __launch_bounds__(BASIS_THREADS) outer_product(const __grid_constant__ Basis b, int p) {
    int j = (static_cast<int>(blockIdx.x) * BASIS_THREADS + static_cast<int>(threadIdx.x)) * 2;
    int first = static_cast<int>(blockIdx.y) * BASIS_ROWS;
    if (j >= b.m || !b.state->accepted) return;
    double2 row = *reinterpret_cast<const double2 *>(b.matrix + p * b.pitch + j);
    for (int i = first; i < min(b.m, first + BASIS_ROWS); i++)
        *reinterpret_cast<double2 *>(b.second + i * b.pitch + j) = make_double2(b.omega[i] * row.x, b.omega[i] * row.y);
}

/* Figure 2, step 3: sets row p to 0. */
__global__ void __launch_bounds__(BASIS_THREADS) zero_row(const __grid_constant__ Basis b, int p) {
    int j = static_cast<int>(blockIdx.x) * BASIS_THREADS + static_cast<int>(threadIdx.x);
    if (j < b.m && b.state->accepted) b.matrix[p * b.pitch + j] = 0;
}

/* Figure 2, step 4: adds the second matrix. */
__global__ void __launch_bounds__(BASIS_THREADS) add_second(const __grid_constant__ Basis b) {
    for_elements(b, b.matrix, -1, b.omega, b.omega, [&](long long at, double2 pair, double, double2, int) {
        double2 outer = *reinterpret_cast<const double2 *>(b.second + at);
        *reinterpret_cast<double2 *>(b.matrix + at) = make_double2(pair.x + outer.x, pair.y + outer.y);
    });
}

/* `rows` elements of a column from `at` on, at most COLUMN_ROWS, += pivot * omega. All are loaded before the first is
 * stored. WHOLE: rows is COLUMN_ROWS, so that nothing is compared. */
template <bool WHOLE>
__device__ void update_column_part(double *at, long long pitch, const double *omega, double pivot, int rows) {
    double entry[COLUMN_ROWS];
#pragma unroll
    for (int r = 0; r < COLUMN_ROWS; r++)
        if (WHOLE || r < rows) entry[r] = load_now(at + r * pitch);
#pragma unroll
    for (int r = 0; r < COLUMN_ROWS; r++)
        if (WHOLE || r < rows) at[r * pitch] = entry[r] + pivot * omega[r];
}

/* Figure 3, step 2: one thread for each column, with omega in shared memory. Few threads run, so the time is that of
 * waiting for loads and of a thread's instructions. */
__global__ void __launch_bounds__(COLUMN_WARPS *BASIS_LANES) update_columns(const __grid_constant__ Basis b, int p) {
    GPUOPT_DYNAMIC_SHARED(double, shared_omega);
    if (!b.state->accepted) return;
    for (int i = static_cast<int>(threadIdx.x); i < b.m; i += static_cast<int>(blockDim.x))
        shared_omega[i] = b.omega[i];
    __syncthreads();
    int j = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (j >= b.m) return;
    double *column = b.matrix + j, *own = column + p * b.pitch, pivot = *own;
    int first = 0;
    for (; first + COLUMN_ROWS <= b.m; first += COLUMN_ROWS)
        update_column_part<true>(column + first * b.pitch, b.pitch, shared_omega + first, pivot, +COLUMN_ROWS);
    update_column_part<false>(column + first * b.pitch, b.pitch, shared_omega + first, pivot, b.m - first);
    *own = 0 + pivot * shared_omega[p]; /* the element of row p, which had to be 0 */
}

/* Figure 1, steps 1 and 2: E by columns, the identity with omega as column p. */
__global__ void __launch_bounds__(BASIS_THREADS) make_factor(const __grid_constant__ Basis b, int p) {
    int i = static_cast<int>(blockIdx.x) * BASIS_THREADS + static_cast<int>(threadIdx.x);
    int first = static_cast<int>(blockIdx.y) * BASIS_ROWS;
    if (i >= b.m || !b.state->accepted) return;
    for (int k = first; k < min(b.m, first + BASIS_ROWS); k++)
        b.factor[k * b.pitch + i] = k == p ? b.omega[i] : i == k ? 1 : 0;
}

} // namespace

#endif /* GPUOPT_CUDA_BASIS_UPDATE_CUH */
