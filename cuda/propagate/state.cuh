/* SPDX-License-Identifier: MIT
 *
 * Propagation on the GPU: bounds, sides and reports of rows, from host memory or device memory and back, in pieces that
 * the handle's staging memory holds.
 */
#ifndef GPUOPT_CUDA_PROPAGATE_STATE_CUH
#define GPUOPT_CUDA_PROPAGATE_STATE_CUH

#include <algorithm>

#include "../../gpuopt_impl/common/checks.h"
#include "tree/handle.cuh"

namespace {

/* Refuses faulty bounds or sides in device memory, as the public calls do for host arrays, before any change. */
template <class Val, class Bound>
gpuopt_status TypedPropagator<Val, Bound>::check_device_arrays(bool sides, int64_t count, const int32_t *index,
                                                               const double *low, const double *high,
                                                               const char *call) {
    int bad = 0;
    gpuopt_status status = queue_.clear(&p_.state->bad, 0, sizeof bad);
    if (sides)
        queue_.launch({blocks(count), THREADS}, check_sides, p_.state, count, index, low, high,
                      tree_ ? tree_->rows() : p_.rows, p_.rules.infinity);
    else
        queue_.launch({blocks(count), THREADS}, check_arguments, p_.state, count, index, low, high, p_.cols,
                      p_.rules.infinity);
    if (sides && tree_)
        queue_.launch({blocks(count), THREADS}, check_added<Bound>, p_.state, tree_->view(), count, index, p_.rows);
    if (!status) status = queue_.launched(call);
    if (!status) status = queue_.copy(&bad, &p_.state->bad, sizeof bad);
    if (!status) status = queue_.wait(call);
    if (status || !bad) return status;
    return gpuopt__refuse(queue_.context(), GPUOPT_ERROR_ARGUMENT, call,
                          sides ? "a row index or a side in device memory is out of range, or lhs exceeds rhs"
                                : "a column index or a bound in device memory is out of range");
}

template <class Val, class Bound>
gpuopt_status TypedPropagator<Val, Bound>::get_bounds(gpuopt_memory_space where, int64_t count, const int32_t *col,
                                                      double *lb, double *ub) {
    gpuopt_status status = GPUOPT_OK;
    int64_t piece = where == GPUOPT_HOST ? staging_count(shape_) : DEVICE_PIECE;
    for (int64_t k = 0; k < count && !status; k += piece) {
        int n = static_cast<int>(count - k < piece ? count - k : piece);
        const int32_t *some = col ? col + k : nullptr;
        double *to_lb = lb ? lb + k : nullptr, *to_ub = ub ? ub + k : nullptr;
        if (where == GPUOPT_HOST) {
            if (some) status = queue_.copy(staged_index(), some, sizeof(int) * n), some = staged_index();
            to_lb = lb ? staged(0) : nullptr, to_ub = ub ? staged(1) : nullptr;
        }
        queue_.launch({blocks(n), THREADS}, ::get_bounds<Val, Bound>, p_, static_cast<int>(col ? 0 : k), n, some, to_lb,
                      to_ub);
        if (where == GPUOPT_HOST && lb && !status) status = queue_.copy(lb + k, to_lb, sizeof(double) * n);
        if (where == GPUOPT_HOST && ub && !status) status = queue_.copy(ub + k, to_ub, sizeof(double) * n);
    }
    if (!status) status = queue_.launched("reading bounds");
    return status || where == GPUOPT_DEVICE ? status : queue_.wait("reading bounds");
}

template <class Val, class Bound>
gpuopt_status TypedPropagator<Val, Bound>::set_bounds(gpuopt_memory_space where, int64_t count, const int32_t *col,
                                                      const double *lb, const double *ub) {
    gpuopt_status status = GPUOPT_OK;
    if (where == GPUOPT_DEVICE) status = check_device_arrays(false, count, col, lb, ub, "gpuopt_propagator_set_bounds");
    if (status) return status;
    if (tree_ && tree_->has_trail()) return tree_->set_bounds(where, count, col, lb, ub);
    queue_.launch({1, 1}, begin_set, p_.state, col == nullptr);
    int64_t piece = where == GPUOPT_HOST ? staging_count(shape_) : DEVICE_PIECE;
    for (int64_t k = 0; k < count && !status; k += piece) {
        int n = static_cast<int>(count - k < piece ? count - k : piece), first = static_cast<int>(col ? 0 : k);
        const int32_t *some = col ? col + k : nullptr;
        const double *from_lb = lb ? lb + k : nullptr, *from_ub = ub ? ub + k : nullptr;
        if (where == GPUOPT_HOST) {
            if (some) status = queue_.copy(staged_index(), some, sizeof(int) * n), some = staged_index();
            if (lb && !status) status = queue_.copy(staged(0), from_lb, sizeof(double) * n), from_lb = staged(0);
            if (ub && !status) status = queue_.copy(staged(1), from_ub, sizeof(double) * n), from_ub = staged(1);
        }
        queue_.launch({blocks(n), THREADS}, ::set_bounds<Val, Bound>, p_, first, n, some, from_lb, from_ub);
        queue_.launch({blocks(n), THREADS}, settle_set<Val, Bound>, p_, first, n, some);
    }
    queue_.launch({blocks(p_.cols), THREADS}, recheck_crossing<Val, Bound>, p_);
    if (!status) status = queue_.launched("setting bounds");
    return status || where == GPUOPT_DEVICE ? status : queue_.release_host(lb, ub, col);
}

template <class Val, class Bound>
gpuopt_status TypedPropagator<Val, Bound>::set_sides(gpuopt_memory_space where, int64_t count, const int32_t *row,
                                                     const double *lhs, const double *rhs) {
    gpuopt_status status = GPUOPT_OK;
    if (where == GPUOPT_DEVICE) status = check_device_arrays(true, count, row, lhs, rhs, "gpuopt_propagator_set_sides");
    if (status) return status;
    queue_.launch({1, 1}, begin_set, p_.state, 0);
    int64_t piece = where == GPUOPT_HOST ? staging_count(shape_) : DEVICE_PIECE;
    for (int64_t k = 0; k < count && !status; k += piece) {
        int n = static_cast<int>(count - k < piece ? count - k : piece);
        const int32_t *some = row + k;
        const double *from_lhs = lhs ? lhs + k : nullptr, *from_rhs = rhs ? rhs + k : nullptr; /* null: no sides */
        if (where == GPUOPT_HOST) {
            status = queue_.copy(staged_index(), some, sizeof(int) * n), some = staged_index();
            if (lhs && !status) status = queue_.copy(staged(0), from_lhs, sizeof(double) * n), from_lhs = staged(0);
            if (rhs && !status) status = queue_.copy(staged(1), from_rhs, sizeof(double) * n), from_rhs = staged(1);
        }
        if (tree_) tree_->altering(n, some);
        queue_.launch({blocks(n), THREADS}, ::set_sides<Val, Bound>, p_, slot_of_, n, some, from_lhs, from_rhs);
    }
    queue_.launch({blocks(p_.cols), THREADS}, recheck_crossing<Val, Bound>, p_);
    if (!status) status = queue_.launched("setting sides");
    if (tree_) tree_->altered();
    return status || where == GPUOPT_DEVICE ? status : queue_.release_host(lhs, rhs, row);
}

template <class Val, class Bound>
gpuopt_status TypedPropagator<Val, Bound>::get_rows(gpuopt_memory_space where,
                                                    const gpuopt_propagator_row_report &report) {
    gpuopt_status status = GPUOPT_OK;
    int64_t rows = shape_.rows, count = rows + shape_.spare_rows,
            piece = where == GPUOPT_HOST ? staging_count(shape_) : DEVICE_PIECE;
    for (int64_t k = 0; k < count && !status; k += piece) {
        int n = static_cast<int>(count - k < piece ? count - k : piece);
        RowReport to = {report.min_activity, report.max_activity, report.min_infinite, report.max_infinite,
                        report.status};
        if (where == GPUOPT_HOST) {
            int *infinite = staged_index();
            to = {staged(0), staged(1), infinite, infinite + n, reinterpret_cast<unsigned char *>(infinite + 2 * n)};
        }
        const int of_matrix = static_cast<int>(std::min(std::max(rows - k, int64_t{0}), int64_t{n}));
        if (of_matrix)
            queue_.launch({blocks(int64_t{of_matrix} * WARP), THREADS}, report_rows<Val, Bound>, p_, slot_of_,
                          static_cast<int>(k), of_matrix, to);
        if (of_matrix < n)
            queue_.launch({blocks(int64_t{n - of_matrix} * WARP), THREADS}, report_added<Val, Bound>, p_, tree_->view(),
                          static_cast<int>(std::max(k - rows, int64_t{0})), n - of_matrix, to.from(of_matrix));
        if (where == GPUOPT_DEVICE) continue;
        if (report.min_activity) status = queue_.copy(report.min_activity + k, to.min_activity, sizeof(double) * n);
        if (report.max_activity && !status)
            status = queue_.copy(report.max_activity + k, to.max_activity, sizeof(double) * n);
        if (report.min_infinite && !status)
            status = queue_.copy(report.min_infinite + k, to.min_infinite, sizeof(int) * n);
        if (report.max_infinite && !status)
            status = queue_.copy(report.max_infinite + k, to.max_infinite, sizeof(int) * n);
        if (report.status && !status) status = queue_.copy(report.status + k, to.status, static_cast<size_t>(n));
    }
    if (!status) status = queue_.launched("reading rows");
    return status || where == GPUOPT_DEVICE ? status : queue_.wait("reading rows");
}

template <class Val, class Bound>
gpuopt_status TypedPropagator<Val, Bound>::device_view(gpuopt_device_view *view) {
    view->data = p_.bounds[0];
    view->count = 2 * int64_t{shape_.cols};
    view->type = sizeof(Bound) == sizeof(float) ? GPUOPT_TYPE_FP32 : GPUOPT_TYPE_FP64;
    return GPUOPT_OK;
}

} // namespace

#endif /* GPUOPT_CUDA_PROPAGATE_STATE_CUH */
