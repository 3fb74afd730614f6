/* SPDX-License-Identifier: MIT
 *
 * Basis inverse on the GPU: FTRAN, BTRAN, updates, reports, and the backend's table. device.cuh has an overview.
 */
#include "../common/tables.cuh"
#include "invert.cuh"

namespace {

/* ---- FTRAN and BTRAN ---- */

/* The target of the next FTRAN: the pivot column, with its largest entry where the update reads it. */
Target CudaBasis::next_alpha(double *copy) {
    parity_ = !parity_;
    return {b_.alpha, copy, &b_.state->largest[parity_], &b_.state->largest[!parity_], -1};
}

/* Copies a vector from host memory to the device; a vector in device memory is used in place. */
gpuopt_status CudaBasis::fetch(gpuopt_memory_space where, const double *vector, const double **found) {
    *found = where == GPUOPT_HOST ? b_.input : vector;
    if (where == GPUOPT_DEVICE) return GPUOPT_OK;
    return queue_.copy(b_.input, vector, sizeof(double) * static_cast<size_t>(m()));
}

/* Copies a result from `there` to the caller's array, if not NULL, and waits if that array is in host memory. */
gpuopt_status CudaBasis::deliver(gpuopt_memory_space where, double *wanted, const double *there) {
    gpuopt_status status = queue_.launched("a product with the inverse");
    if (status || !wanted || wanted == there) return status;
    status = queue_.copy(wanted, there, sizeof(double) * static_cast<size_t>(m()));
    return status || where == GPUOPT_DEVICE ? status : queue_.wait("a product with the inverse");
}

/* target = the inverse times a dense vector in device memory. */
void CudaBasis::solve(const double *vector, const Target &target) {
    if (deferred()) {
        combine(vector, b_.v, slot_);
        queue_.launch({tiles(), BASIS_THREADS}, add_lines, b_, b_.partial, parts(), b_.u, b_.dots, slot_, target);
    } else {
        queue_.launch({dot_blocks(), BASIS_THREADS}, dot_lines, b_, vector, nullptr, target);
    }
}

/* partial = parts of the sum of vector[l] * line l; dots = products of `count` lines of `other` with the vector. */
void CudaBasis::combine(const double *vector, const double *other, int count) {
    int chunks = (m() + BASIS_WIDE - 1) / BASIS_WIDE;
    queue_.launch({static_cast<unsigned>(chunks * parts() + count), BASIS_THREADS}, combine_lines, b_, vector, chunks,
                  parts(), other);
}

template <int MOST>
void CudaBasis::solve_few(int count, const int32_t *row, const double *val, const Target &target) {
    SparseColumn<MOST> column;
    column.count = count;
    std::memcpy(column.row, row, sizeof(int) * static_cast<size_t>(count));
    std::memcpy(column.val, val, sizeof(double) * static_cast<size_t>(count));
    if (deferred()) queue_.launch({tiles(), BASIS_THREADS}, combine_few<MOST>, b_, column, slot_, target);
    else queue_.launch({blocks(m(), BASIS_GROUPS), BASIS_THREADS}, dot_few<MOST>, b_, column, target);
}

/* target = the inverse times a sparse column in host memory. A long column is copied to a dense vector first. */
gpuopt_status CudaBasis::solve_sparse(int count, const int32_t *row, const double *val, const Target &target) {
    if (count <= FEW) {
        solve_few<FEW>(count, row, val, target);
    } else if (count <= MANY) {
        solve_few<MANY>(count, row, val, target);
    } else {
        GPUOPT_CUDA(context(), cudaMemsetAsync(b_.input, 0, sizeof(double) * static_cast<size_t>(m()), stream()));
        for (int first = 0; first < count; first += static_cast<int>(load_.stage)) {
            int now = count - first < load_.stage ? count - first : static_cast<int>(load_.stage);
            gpuopt_status status = queue_.copy(load_.stage_index, row + first, sizeof(int) * static_cast<size_t>(now));
            if (!status)
                status = queue_.copy(load_.stage_value, val + first, sizeof(double) * static_cast<size_t>(now));
            if (status) return status;
            queue_.launch({blocks(now, BASIS_THREADS), BASIS_THREADS}, scatter_column, b_.input, load_.stage_index,
                          load_.stage_value, now);
        }
        solve(b_.input, target);
    }
    return GPUOPT_OK;
}

gpuopt_status CudaBasis::ftran(gpuopt_memory_space where, const double *rhs, double *x) {
    const double *vector;
    if (m() == 0) return GPUOPT_OK;
    gpuopt_status status = fetch(where, rhs, &vector);
    if (status) return status;
    /* With DEFERRED rhs is no longer read when the result is written, so x may be rhs. */
    bool at_once = where == GPUOPT_DEVICE && deferred();
    solve(vector, next_alpha(at_once ? x : nullptr));
    status = deliver(where, at_once ? nullptr : x, b_.alpha);
    return status || x || where == GPUOPT_DEVICE ? status : queue_.release_host(rhs);
}

gpuopt_status CudaBasis::ftran_sparse(gpuopt_memory_space where, int count, const int32_t *row, const double *val,
                                      double *x) {
    if (m() == 0) return GPUOPT_OK;
    bool at_once = where == GPUOPT_DEVICE;
    gpuopt_status status = solve_sparse(count, row, val, next_alpha(at_once ? x : nullptr));
    if (!status) status = deliver(where, at_once ? nullptr : x, b_.alpha);
    return status || count <= MANY ? status : queue_.release_host(row, val);
}

gpuopt_status CudaBasis::btran(gpuopt_memory_space where, const double *c, double *y) {
    const double *vector;
    if (m() == 0) return GPUOPT_OK;
    gpuopt_status status = fetch(where, c, &vector);
    if (status) return status;
    Target target = {where == GPUOPT_DEVICE ? y : b_.output, nullptr, nullptr, nullptr, -1};
    if (deferred()) {
        Target products = {b_.partial, nullptr, nullptr, nullptr, -1};
        queue_.launch({static_cast<unsigned>(dot_blocks() + slot_), BASIS_THREADS}, dot_lines, b_, vector, b_.u,
                      products);
        queue_.launch({tiles(), BASIS_THREADS}, add_lines, b_, b_.partial, 1, b_.v, b_.dots, slot_, target);
    } else {
        combine(vector, nullptr, 0);
        queue_.launch({tiles(), BASIS_THREADS}, add_lines, b_, b_.partial, parts(), nullptr, nullptr, 0, target);
    }
    return deliver(where, y, target.result);
}

gpuopt_status CudaBasis::btran_unit(gpuopt_memory_space where, int position, double *y) {
    const double *there = b_.matrix + position * b_.pitch;
    if (deferred()) {
        double *result = where == GPUOPT_DEVICE ? y : b_.output;
        queue_.launch({tiles(), BASIS_THREADS}, read_row, b_, position, slot_, result);
        there = result;
    }
    return deliver(where, y, there);
}

/* ---- Updates ---- */

/* M += U V, with the first `count` columns of U. */
void CudaBasis::apply(int count) {
    rank_update(rank_, queue_, m(), m(), count, b_.u, b_.pitch, b_.v, b_.pitch, b_.matrix, b_.pitch);
    slot_ = 0;
}

/* second = the product of E and the inverse. The kernel computes the transpose of the product, because a matrix stored
 * by rows is its transpose stored by columns. */
void CudaBasis::multiply_pfi() {
    queue_.zero(b_.second, sizeof(double) * static_cast<size_t>(m()) * static_cast<size_t>(b_.pitch));
    rank_update(rank_, queue_, m(), m(), m(), b_.matrix, b_.pitch, b_.factor, b_.pitch, b_.second, b_.pitch);
}

void CudaBasis::prepare(const Pivot &pivot, int blocks, int threads, int steps) {
    queue_.launch({blocks, threads, 0, behind_}, prepare_update, b_, pivot, steps);
}

void CudaBasis::update_pfi(const Pivot &pivot) {
    prepare(pivot, prepare_blocks(), BASIS_PREPARE, PREPARE_OMEGA);
    queue_.launch({dim3(blocks(m(), BASIS_THREADS), element_grid().y), BASIS_THREADS}, make_factor, b_, pivot.position);
    multiply_pfi();
    queue_.launch({element_grid(), BASIS_THREADS}, copy_back, b_);
}

void CudaBasis::update_mpfi(const Pivot &pivot) {
    constexpr int THREADS_OF_BLOCK = 128;
    prepare(pivot, BASIS_MPFI_THREADS / THREADS_OF_BLOCK, THREADS_OF_BLOCK, PREPARE_OMEGA);
    queue_.launch({element_grid(), BASIS_THREADS}, outer_product, b_, pivot.position);
    queue_.launch({blocks(m(), BASIS_THREADS), BASIS_THREADS}, zero_row, b_, pivot.position);
    queue_.launch({element_grid(), BASIS_THREADS}, add_second, b_);
}

/* One block for each multiprocessor, of whole warps, so that as many of them as possible work. */
void CudaBasis::update_by_columns(const Pivot &pivot) {
    unsigned warps = blocks(m(), cuda_of(context())->multiprocessors * BASIS_LANES);
    unsigned threads = BASIS_LANES * (warps < COLUMN_WARPS ? warps : +COLUMN_WARPS);
    prepare(pivot, prepare_blocks(), BASIS_PREPARE, PREPARE_OMEGA);
    queue_.launch({blocks(m(), static_cast<int>(threads)), threads, sizeof(double) * static_cast<size_t>(m())},
                  update_columns, b_, pivot.position);
}

gpuopt_status CudaBasis::update(gpuopt_memory_space where, int position, const double *alpha, gpuopt_basis_info *info) {
    Pivot pivot = {b_.alpha, &b_.state->largest[parity_], position, info != nullptr};
    gpuopt_status status = GPUOPT_OK;
    if (alpha) {
        status = fetch(where, alpha, &pivot.alpha);
        pivot.largest = nullptr;
        if (status) return status;
    }
    const int before = before_, earlier = earlier_;
    told_ = info != nullptr;
    b_.backwards = !b_.backwards;
    switch (head.technique) {
    case GPUOPT_TECHNIQUE_DEFERRED:
        /* A kernel of a library may let the next kernel start early, so the first update after it must not overlap. */
        queue_.launch({blocks(m(), DEFERRED_LANES), DEFERRED_THREADS, 0, slot_ ? behind_ : LAUNCH_PLAIN},
                      update_deferred, b_, pivot, slot_, slot_ ? before_ : -1, slot_ > 1 ? earlier_ : -1);
        earlier_ = before_;
        before_ = position;
        break;
    case GPUOPT_TECHNIQUE_PFI: update_pfi(pivot); break;
    case GPUOPT_TECHNIQUE_MPFI: update_mpfi(pivot); break;
    case GPUOPT_TECHNIQUE_COLUMN: update_by_columns(pivot); break;
    case GPUOPT_TECHNIQUE_ELEMENT:
        prepare(pivot, 1, BASIS_PREPARE, 0);
        queue_.launch({element_grid(), BASIS_THREADS}, update_elements, b_, pivot, b_.matrix + position * b_.pitch,
                      b_.second);
        queue_.launch({element_grid(), BASIS_THREADS}, copy_back, b_);
        break;
    case GPUOPT_TECHNIQUE_ELEMENT_MODIFIED:
        prepare(pivot, prepare_blocks(), BASIS_PREPARE, PREPARE_ROW);
        queue_.launch({element_grid(), BASIS_THREADS, 0, behind_}, update_elements, b_, pivot, b_.row, b_.matrix);
        break;
    case GPUOPT_TECHNIQUE_ELEMENT_PROPOSED:
        prepare(pivot, prepare_blocks(), BASIS_PREPARE, PREPARE_OMEGA | PREPARE_ROW | PREPARE_ZERO);
        queue_.launch({element_grid(), BASIS_THREADS, 0, behind_}, update_elements_proposed, b_, position);
        break;
    }
    status = queue_.launched("an update");
    if (status) return status;
    if (info) {
        status = queue_.wait("an update");
        if (status) return status;
        if (!b_.report->accepted) {
            before_ = before; /* the slot stays free: the next update follows the previous one */
            earlier_ = earlier;
            gpuopt__log(context(), 0, GPUOPT__BASIS_SMALL_PIVOT, position);
            return GPUOPT_ERROR_NUMERIC;
        }
    }
    if (deferred() && ++slot_ == head.most) apply(slot_); /* an enqueued update takes its slot even if it is refused */
    return info ? get_info(info) : queue_.launched("applying updates");
}

/* ---- Reports ---- */

gpuopt_status CudaBasis::get_info(gpuopt_basis_info *info) {
    if (!told_) queue_.launch({1, 1}, report_state, b_);
    told_ = true;
    gpuopt_status status = queue_.wait("waiting for updates");
    if (status) return status;
    info->updates = static_cast<int64_t>(b_.report->updates);
    info->deferred_updates = deferred() ? head.most : 0;
    info->pending = slot_ ? b_.report->pending : 0;
    info->refused_position = b_.report->refused;
    return GPUOPT_OK;
}

gpuopt_status CudaBasis::get_drift(const gpuopt_matrix *columns, const double *rhs, int exact,
                                   gpuopt_basis_drift *drift) {
    if (m() == 0) {
        drift->norm = exact ? 0 : -1;
        return GPUOPT_OK;
    }
    Target target = {b_.output, nullptr, &b_.state->drift[0], nullptr, -2};
    GPUOPT_CUDA(context(), cudaMemsetAsync(b_.state->drift, 0, sizeof b_.state->drift, stream()));
    gpuopt_status status = queue_.copy(b_.input, rhs, sizeof(double) * static_cast<size_t>(m()));
    if (status) return status;
    solve(b_.input, target);
    target.largest = &b_.state->drift[1];
    for (int j = 0; exact && j < m() && !status; j++) {
        int64_t start = columns->start[j];
        target.unit = j;
        status = solve_sparse(static_cast<int>(columns->start[j + 1] - start), columns->index + start,
                              columns->value + start, target);
    }
    if (!status) queue_.launch({1, 1}, report_drift, b_);
    if (!status) status = queue_.launched("measuring drift");
    if (!status) status = queue_.wait("measuring drift");
    if (status) return status;
    drift->estimate = b_.report->drift[0];
    if (exact) drift->norm = b_.report->drift[1];
    return GPUOPT_OK;
}

gpuopt_status CudaBasis::get_inverse(gpuopt_memory_space where, double *inverse) {
    gpuopt_status status = GPUOPT_OK;
    size_t line = sizeof(double) * static_cast<size_t>(m());
    if (m() == 0) return GPUOPT_OK;
    if (deferred()) {
        double *rows = where == GPUOPT_DEVICE ? inverse : b_.second;
        auto tile = static_cast<unsigned>(tiles());
        apply(slot_);
        queue_.launch({dim3(tile, tile), BASIS_THREADS}, transpose_lines, b_, rows);
        status = queue_.launched("reading the inverse");
        if (!status && where == GPUOPT_HOST) status = queue_.copy(inverse, rows, line * static_cast<size_t>(m()));
    } else {
        GPUOPT_CUDA(context(),
                    cudaMemcpy2DAsync(inverse, line, b_.matrix, sizeof(double) * static_cast<size_t>(b_.pitch), line,
                                      static_cast<size_t>(m()), cudaMemcpyDefault, stream()));
    }
    return status || where == GPUOPT_DEVICE ? status : queue_.wait("reading the inverse");
}

/* ---- The table ---- */

gpuopt_status cuda_basis_update(gpuopt_basis *basis, gpuopt_memory_space where, int32_t position, const double *alpha,
                                gpuopt_basis_info *info) {
    DeviceScope scope(basis->context);
    return basis_object(basis)->update(where, position, alpha, info);
}

gpuopt_status cuda_basis_get_info(gpuopt_basis *basis, gpuopt_basis_info *info) {
    DeviceScope scope(basis->context);
    return basis_object(basis)->get_info(info);
}

gpuopt_status cuda_basis_load(gpuopt_basis *basis, const gpuopt_matrix *columns) {
    DeviceScope scope(basis->context);
    return basis_object(basis)->load(columns);
}

gpuopt_status cuda_basis_ftran(gpuopt_basis *basis, gpuopt_memory_space where, const double *rhs, double *x) {
    DeviceScope scope(basis->context);
    return basis_object(basis)->ftran(where, rhs, x);
}

gpuopt_status cuda_basis_ftran_sparse(gpuopt_basis *basis, gpuopt_memory_space where, int32_t count, const int32_t *row,
                                      const double *val, double *x) {
    DeviceScope scope(basis->context);
    return basis_object(basis)->ftran_sparse(where, count, row, val, x);
}

gpuopt_status cuda_basis_btran(gpuopt_basis *basis, gpuopt_memory_space where, const double *c, double *y) {
    DeviceScope scope(basis->context);
    return basis_object(basis)->btran(where, c, y);
}

gpuopt_status cuda_basis_btran_unit(gpuopt_basis *basis, gpuopt_memory_space where, int32_t position, double *y) {
    DeviceScope scope(basis->context);
    return basis_object(basis)->btran_unit(where, position, y);
}

gpuopt_status cuda_basis_get_drift(gpuopt_basis *basis, const gpuopt_matrix *columns, const double *rhs, int exact,
                                   gpuopt_basis_drift *drift) {
    DeviceScope scope(basis->context);
    return basis_object(basis)->get_drift(columns, rhs, exact, drift);
}

gpuopt_status cuda_basis_get_inverse(gpuopt_basis *basis, gpuopt_memory_space where, double *inverse) {
    DeviceScope scope(basis->context);
    return basis_object(basis)->get_inverse(where, inverse);
}

} // namespace

/* For tests: makes a context use no cuSOLVER and, with `blas`, no cuBLAS either. No handle may have searched for them
 * in it yet. */
#if defined(__GNUC__)
#pragma GCC visibility push(hidden)
#endif
extern "C" {
void gpuopt__cuda_basis_without_libraries(const gpuopt_context *context, int blas);
}
#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

void gpuopt__cuda_basis_without_libraries(const gpuopt_context *context, int blas) {
    cuda_of(context)->libraries.solver.tried = true;
    cuda_of(context)->libraries.blas.tried = blas != 0;
}

const gpuopt__basis_backend gpuopt__cuda_basis = {
    cuda_basis_plan,     cuda_basis_create,     cuda_basis_destroy,   cuda_basis_update,
    cuda_basis_get_info, cuda_basis_load,       cuda_basis_ftran,     cuda_basis_ftran_sparse,
    cuda_basis_btran,    cuda_basis_btran_unit, cuda_basis_get_drift, cuda_basis_get_inverse};
