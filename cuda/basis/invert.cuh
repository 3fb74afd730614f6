/* SPDX-License-Identifier: MIT
 *
 * Basis inverse on the GPU: enqueues a load. The caller's arrays are copied unchanged, and the device checks, scales
 * and inverts them. Copies from pageable memory are slow, so the indices of a matrix without zeros are not copied.
 * Instead the CPU checks the assumed indices while the device is busy.
 */
#ifndef GPUOPT_CUDA_BASIS_INVERT_CUH
#define GPUOPT_CUDA_BASIS_INVERT_CUH

#include "create.cuh"

namespace {

/* ---- From the caller's arrays to `second` ---- */

/* Whether every line is full. */
bool has_whole_lines(const gpuopt_matrix &columns) {
    for (int line = 0; line < columns.rows; line++)
        if (columns.start[line + 1] - columns.start[line] != columns.rows) return false;
    return true;
}

/* Whether the entries of full lines are in ascending order. Compares 16 at a time, so that compilers use vectors. */
bool is_in_order(const gpuopt_matrix &columns) {
    enum { AT_ONCE = 16 };
    const int32_t *index = columns.index;
    for (int line = 0; line < columns.rows; line++, index += columns.rows) {
        int32_t wrong[AT_ONCE] = {}, k = 0, any = 0;
        for (; k + AT_ONCE <= columns.rows; k += AT_ONCE)
            for (int n = 0; n < AT_ONCE; n++) wrong[n] |= index[k + n] ^ (k + n);
        for (; k < columns.rows; k++) any |= index[k] ^ k;
        for (int32_t one : wrong) any |= one;
        if (any) return false;
    }
    return true;
}

bool is_page_locked(const void *memory) {
    cudaPointerAttributes attributes = {};
    return cudaPointerGetAttributes(&attributes, memory) == cudaSuccess &&
           attributes.type != cudaMemoryTypeUnregistered;
}

/* Copies the entries to `second`, a stage at a time, and waits for the results that the CPU needs. */
gpuopt_status CudaBasis::send_columns(const gpuopt_matrix &columns, BasisLayout layout) {
    const auto n = static_cast<size_t>(m());
    const bool whole = layout == BASIS_WHOLE_COLUMNS || layout == BASIS_WHOLE_ROWS;
    gpuopt_status status = queue_.clear(b_.second, 0, sizeof(double) * n * static_cast<size_t>(b_.pitch));
    if (!status) status = queue_.clear(load_.row_scale, BASIS_NO_SCALE, sizeof(int) * n);
    if (!status) status = queue_.clear(load_.entries, 0, sizeof(int) * n);
    if (!status) status = queue_.clear(load_.only, 0xFF, sizeof(int) * n); /* -1 */
    if (!status) status = queue_.clear(&b_.state->load_refused, 0xFF, sizeof(int));
    if (!status) status = queue_.clear(&b_.state->fault, 0, sizeof(int));
    if (!status) status = queue_.copy(unrepresentable_, &head.m, sizeof(int));
    if (!status) status = queue_.copy(load_.start, columns.start, sizeof(int64_t) * (n + 1));
    auto scatter = layout == BASIS_BY_COLUMNS      ? scatter_entries<BASIS_BY_COLUMNS>
                   : layout == BASIS_BY_ROWS       ? scatter_entries<BASIS_BY_ROWS>
                   : layout == BASIS_WHOLE_COLUMNS ? scatter_entries<BASIS_WHOLE_COLUMNS>
                                                   : scatter_entries<BASIS_WHOLE_ROWS>;
    for (int64_t first = 0; first < columns.start[m()] && !status; first += load_.stage) {
        int64_t left = columns.start[m()] - first;
        int count = static_cast<int>(left < load_.stage ? left : load_.stage);
        if (!whole)
            status =
                queue_.copy(load_.stage_index, columns.index + first, sizeof(int32_t) * static_cast<size_t>(count));
        if (!status)
            status = queue_.copy(load_.stage_value, columns.value + first, sizeof(double) * static_cast<size_t>(count));
        if (!status) queue_.launch({blocks(count, BASIS_THREADS), BASIS_THREADS}, scatter, b_, load_, first, count);
    }
    if (!status) queue_.launch({m(), BASIS_THREADS}, find_column_scales, b_, load_);
    if (!status) status = queue_.copy(&b_.report->fault, &b_.state->fault, sizeof(int));
    if (!status && layout == BASIS_BY_ROWS) {
        status = queue_.copy(order_.entries, load_.entries, sizeof(int) * n);
        if (!status) status = queue_.copy(order_.only, load_.only, sizeof(int) * n);
    }
    if (!status) status = queue_.launched("copying the columns");
    return status ? status : queue_.wait("copying the columns");
}

/* Chooses and sends the order of elimination. *empty: -1, or a column without entries. */
gpuopt_status CudaBasis::send_order(const gpuopt_matrix &columns, BasisLayout layout, int *empty) {
    const auto bytes = sizeof(int32_t) * static_cast<size_t>(m());
    for (int j = 0; j < m() && layout != BASIS_BY_ROWS; j++) {
        order_.entries[j] = static_cast<int32_t>(columns.start[j + 1] - columns.start[j]);
        order_.only[j] = order_.entries[j] == 1 && layout == BASIS_BY_COLUMNS ? columns.index[columns.start[j]] : 0;
    }
    *empty = gpuopt__basis_order_fill(&order_, m());
    if (*empty >= 0) return GPUOPT_OK;
    int32_t *row_at = order_.entries, end = order_.left; /* `entries` is free from here on */
    for (int32_t i = 0, begin = 0; i < m(); i++) row_at[order_.col_of[i] < 0 ? begin++ : end++] = i;
    gpuopt_status status = queue_.copy(load_.order, order_.column, bytes);
    if (!status) status = queue_.copy(load_.row_of, order_.row_of, bytes);
    if (!status) status = queue_.copy(load_.col_of, order_.col_of, bytes);
    return status || !load_.work ? status : queue_.copy(load_.row_at, row_at, bytes);
}

/* ---- Inversion in `second` ---- */

gpuopt_status CudaBasis::enqueue_elimination() {
    queue_.launch({patches(), BASIS_THREADS}, scale_basis, b_, load_);
    for (int first = 0; first < order_.left; first += load_most()) {
        int count = order_.left - first < load_most() ? order_.left - first : load_most();
        queue_.launch({load_grid_, BASIS_THREADS, 0, LAUNCH_COOPERATIVE}, eliminate, b_, load_, first, count);
        rank_update(rank_, queue_, m(), m(), count, b_.load_u, b_.pitch, b_.load_v, b_.pitch, b_.second, b_.pitch);
    }
    return queue_.launched("eliminating columns");
}

/* second = U^-1, above its diagonal, from the inverses of the diagonal blocks. For two neighbouring blocks X and Y with
 * W above Y, the inverse consists of X^-1, Y^-1, and -X^-1 W Y^-1 above Y^-1. The transpose of W Y^-1 is stored left of
 * Y, where zeros will be. */
int CudaBasis::invert_triangle() {
    const Cublas &blas = *rank_.blas;
    const double one = 1, minus = -1, zero = 0;
    const int pitch = static_cast<int>(b_.pitch), left = order_.left;
    int failed = 0;
    auto join = [&](int size, int other, int64_t first, int count) {
        const int64_t above = (first + size) * b_.pitch + first, beside = first * b_.pitch + first + size;
        const int64_t own = first * b_.pitch + first, next = own + size * (b_.pitch + 1);
        const long long step = 2 * size * (b_.pitch + 1);
        failed |= blas.gemm_batch(blas.handle, BLAS_TRANSPOSED, BLAS_TRANSPOSED, other, size, other, &one,
                                  b_.second + next, pitch, step, load_.work + above, pitch, step, &zero,
                                  b_.second + beside, pitch, step, count);
        failed |=
            blas.gemm_batch(blas.handle, BLAS_PLAIN, BLAS_TRANSPOSED, size, other, size, &minus, b_.second + own, pitch,
                            step, b_.second + beside, pitch, step, &zero, b_.second + above, pitch, step, count);
    };
    for (int64_t size = FACTOR_BLOCK; size < left; size *= 2) {
        const auto pairs = static_cast<int>(left / (2 * size)), now = static_cast<int>(size);
        const int64_t end = pairs * 2 * size, columns = pairs * size + (left - end > size ? size : 0);
        if (pairs) join(now, now, 0, pairs);
        if (left - end > size) join(now, static_cast<int>(left - end - size), end, 1);
        queue_.launch({static_cast<unsigned>(columns), BASIS_THREADS}, clear_beside, b_, left, now);
    }
    return failed;
}

gpuopt_status CudaBasis::enqueue_factors() {
    const Cublas &blas = *rank_.blas;
    const Cusolver &solver = *solver_;
    const double one = 1, minus = -1, zero = 0;
    const int pitch = static_cast<int>(b_.pitch), left = order_.left,
              shared_bytes = 2 * left * static_cast<int>(sizeof(int));
    const bool shared = shared_bytes + 64 <= cuda_of(context())->block_memory;
    int failed = blas.set_workspace(blas.handle, rank_.workspace, RANK_WORKSPACE);
    if (left) {
        queue_.launch({dim3(blocks(m(), BASIS_THREADS), blocks(left, BASIS_PATCH)), BASIS_THREADS}, gather_left, b_,
                      load_, left);
        int size = 0;
        failed |= solver_size(solver, left, &size) || size > solver_size_;
        if (!failed)
            failed = solver.getrf(solver.handle, left, left, load_.work, pitch, load_.solver_work, load_.swaps,
                                  load_.swaps + m());
    }
    queue_.launch({1, FACTOR_THREADS, static_cast<size_t>(shared ? shared_bytes : 0)}, end_factors, b_, load_, left,
                  shared);
    if (left) {
        queue_.launch({blocks(left, FACTOR_BLOCK), FACTOR_BLOCK}, invert_blocks, b_, load_, left);
        failed |= invert_triangle();
    }
    queue_.launch({patches(), BASIS_THREADS}, clear_rest, b_, load_, left);
    if (left)
        failed |= blas.trsm(blas.handle, BLAS_RIGHT, BLAS_LOWER, BLAS_PLAIN, BLAS_UNIT, left, left, &one, load_.work,
                            pitch, b_.second, pitch);
    if (left && left < m())
        failed |= blas.gemm(blas.handle, BLAS_PLAIN, BLAS_PLAIN, m() - left, left, left, &minus, load_.work + left,
                            pitch, b_.second, pitch, &zero, b_.second + left, pitch);
    gpuopt_status status = queue_.launched("factoring columns");
    if (status || !failed) return status;
    gpuopt__log(context(), 0, "gpuopt_basis_load: cuBLAS or cuSOLVER could not enqueue its work");
    return GPUOPT_ERROR_DEVICE;
}

/* ---- The call ---- */

/* Logs the column that makes a load fail. The old inverse is unchanged. */
gpuopt_status CudaBasis::refuse_load(int position) {
    gpuopt__log(context(), 0, GPUOPT__BASIS_SINGULAR, position);
    return GPUOPT_ERROR_NUMERIC;
}

gpuopt_status CudaBasis::load_identity() {
    auto chunk = blocks(m(), BASIS_THREADS), lines = static_cast<unsigned>(tiles());
    if (m() > 0) queue_.launch({dim3(chunk, lines), BASIS_THREADS}, make_identity, b_);
    queue_.launch({1, 1}, end_load, b_, nullptr);
    gpuopt_status status = queue_.launched("loading the identity");
    if (!status) status = queue_.wait("loading the identity");
    if (!status) slot_ = 0;
    return status;
}

/* Enqueues an inversion in `second`. *empty: -1, or a column without entries; then nothing is enqueued. */
gpuopt_status CudaBasis::enqueue_load(const gpuopt_matrix &columns, BasisLayout layout, int *empty) {
    gpuopt_status status = send_columns(columns, layout);
    *empty = -1;
    if (status) return status;
    if (b_.report->fault) {
        status = gpuopt__basis_check_entries(&head, "gpuopt_basis_load", &columns); /* for the message */
        return status ? status : GPUOPT__UNTIDY;
    }
    status = send_order(columns, layout, empty);
    if (status || *empty >= 0) return status;
    queue_.launch({blocks(m(), BASIS_THREADS), BASIS_THREADS}, find_row_pivots, b_, load_);
    return load_.work ? enqueue_factors() : enqueue_elimination();
}

gpuopt_status CudaBasis::load(const gpuopt_matrix *columns) {
    if (!columns || m() == 0) return load_identity();
    const bool by_rows = columns->layout == GPUOPT_LAYOUT_CSR,
               whole = !is_page_locked(columns->index) && has_whole_lines(*columns);
    const BasisLayout layout = by_rows ? BASIS_BY_ROWS : BASIS_BY_COLUMNS;
    int empty = -1;
    gpuopt_status status = enqueue_load(*columns,
                                        !whole    ? layout
                                        : by_rows ? BASIS_WHOLE_ROWS
                                                  : BASIS_WHOLE_COLUMNS,
                                        &empty);
    if (!status && whole && !is_in_order(*columns)) status = enqueue_load(*columns, layout, &empty);
    if (status) return status;
    if (empty >= 0) {
        status = queue_.copy(&b_.state->load_refused, &empty, sizeof empty);
    } else {
        dim3 grid(static_cast<unsigned>(tiles()), static_cast<unsigned>(tiles()));
        queue_.launch({grid, BASIS_THREADS}, check_inverse, b_, load_, unrepresentable_);
        auto store = deferred() ? store_inverse<true> : store_inverse<false>;
        queue_.launch({grid, BASIS_THREADS}, store, b_, load_, unrepresentable_);
    }
    queue_.launch({1, 1}, end_load, b_, unrepresentable_);
    if (!status) status = queue_.launched("loading columns");
    if (!status) status = queue_.wait("loading columns");
    if (status) return status;
    if (b_.report->load_refused >= 0) return refuse_load(b_.report->load_refused);
    slot_ = 0;
    return GPUOPT_OK;
}

} // namespace

#endif /* GPUOPT_CUDA_BASIS_INVERT_CUH */
