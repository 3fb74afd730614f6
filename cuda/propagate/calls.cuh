/* SPDX-License-Identifier: MIT
 *
 * Propagation on the GPU: the backend's table.
 */
#ifndef GPUOPT_CUDA_PROPAGATE_CALLS_CUH
#define GPUOPT_CUDA_PROPAGATE_CALLS_CUH

#include <algorithm>

#include "build.cuh"
#include "kernels.cuh"

namespace {

/* What a handle does, whatever its storage types. */
class CudaPropagator {
  public:
    virtual ~CudaPropagator() = default;
    virtual gpuopt_status round(int32_t rounds, gpuopt_propagator_info *info) = 0;
    virtual gpuopt_status get_info(gpuopt_propagator_info *info) = 0;
    virtual gpuopt_status get_bounds(gpuopt_memory where, int64_t count, const int32_t *col, double *lb,
                                     double *ub) = 0;
    virtual gpuopt_status set_bounds(gpuopt_memory where, int64_t count, const int32_t *col, const double *lb,
                                     const double *ub) = 0;
    virtual gpuopt_status set_sides(int64_t count, const int32_t *row, const double *lhs, const double *rhs) = 0;
    virtual gpuopt_status get_rows(gpuopt_memory where, const gpuopt_propagator_row_report &report) = 0;
    virtual gpuopt_status device_view(gpuopt_device_view *view) = 0;
};

struct CudaHandle {
    gpuopt_propagator head; /* first: the public handle points to it */
    CudaPropagator *object;
};

template <class Val, class Bound>
class TypedPropagator final : public CudaPropagator {
  public:
    static void plan(const PropagatorShape &shape, gpuopt_memory_plan *plan);
    static gpuopt_status create(gpuopt_context *context, const gpuopt__propagator_model &model,
                                const PropagatorShape &shape, gpuopt_propagator **propagator);
    ~TypedPropagator() override;
    gpuopt_status round(int32_t rounds, gpuopt_propagator_info *info) override;
    gpuopt_status get_info(gpuopt_propagator_info *info) override;
    gpuopt_status get_bounds(gpuopt_memory where, int64_t count, const int32_t *col, double *lb, double *ub) override;
    gpuopt_status set_bounds(gpuopt_memory where, int64_t count, const int32_t *col, const double *lb,
                             const double *ub) override;
    gpuopt_status set_sides(int64_t count, const int32_t *row, const double *lhs, const double *rhs) override;
    gpuopt_status get_rows(gpuopt_memory where, const gpuopt_propagator_row_report &report) override;
    gpuopt_status device_view(gpuopt_device_view *view) override;

  private:
    using View = Propagator<Val, Bound>;
    enum { DEVICE_PIECE = 1 << 30 }; /* of arrays on the device in one launch, whose index is an int */

    TypedPropagator(gpuopt_context *context, const PropagatorShape &shape) : context_(context), shape_(shape) {}
    gpuopt_status open(const gpuopt__propagator_model &model);
    gpuopt_status load_kernels();
    gpuopt_status upload(const gpuopt__propagator_model &model);
    auto resident_kernel() const {
        return shape_.split_rows ? run_rounds<RESIDENT_SPLIT, Val, Bound> : run_rounds<RESIDENT, Val, Bound>;
    }
    template <class Kernel>
    gpuopt_status fit(Kernel kernel, int *grid);
    gpuopt_status choose_driver(gpuopt_propagator_driver wanted);
    gpuopt_status choose_resident();
    gpuopt_status build_graph();
    void enqueue_round(cudaStream_t stream);

    cudaStream_t stream() const { return cuda_of(context_)->stream; }
    gpuopt_status check(cudaError_t error, const char *what) const { return cuda_status(context_, error, what); }
    gpuopt_status wait(const char *what) const { return check(cudaStreamSynchronize(stream()), what); }
    gpuopt_status launched(const char *what) const { return check(cudaGetLastError(), what); }
    /* Blocks for a kernel with a thread for each of so many things, or for fewer threads that then take several. */
    static int blocks(int64_t things) {
        int64_t needed = (things + THREADS - 1) / THREADS;
        return static_cast<int>(needed < 1 ? 1 : needed > 4096 ? 4096 : needed);
    }
    static int fitted(int64_t blocks, int64_t most) {
        return static_cast<int>(blocks < 1 ? 1 : blocks < most ? blocks : most);
    }
    gpuopt_status copy(void *to, const void *from, size_t bytes) {
        return check(bytes ? cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream()) : cudaSuccess,
                     "copying between host and device");
    }
    /* Before a call returns that took host arrays: copies from pinned ones may still be under way, others were
     * staged. */
    gpuopt_status release_host(const void *array, const void *other, const void *index) {
        const void *const arrays[] = {array, other, index};
        for (const void *one : arrays) {
            cudaPointerAttributes attributes = {};
            if (!one || cudaPointerGetAttributes(&attributes, one) != cudaSuccess) continue;
            if (attributes.type != cudaMemoryTypeUnregistered) return wait("copying from host memory");
        }
        return GPUOPT_OK;
    }
    /* The staging area as columns: two of doubles and one of indices, or a row report. */
    double *staged(int which) { return reinterpret_cast<double *>(staging_) + which * staging_count(shape_); }
    int *staged_index() { return reinterpret_cast<int *>(staged(2)); }

    gpuopt_context *context_;
    PropagatorShape shape_;
    gpuopt_propagator_driver driver_ = GPUOPT_DRIVER_HOST;
    int grid_ = 1, filter_grid_ = 1, tighten_grid_ = 1; /* blocks of the kernels that run rounds */
    int resident_items_ = 0, resident_entries_ = 0;     /* of a warp; 0: the model does not fit into shared memory */
    void *device_ = nullptr;
    int *slot_of_ = nullptr;
    char *staging_ = nullptr;
    cudaGraph_t graph_ = nullptr;
    cudaGraphExec_t graph_exec_ = nullptr;
    View p_ = {};
};

/* ---- Rounds ---- */

template <class Val, class Bound>
void TypedPropagator<Val, Bound>::enqueue_round(cudaStream_t stream) {
    if (shape_.marking) mark_rows<<<tighten_grid_, THREADS, 0, stream>>>(p_);
    filter_rows<<<filter_grid_, THREADS, 0, stream>>>(p_);
    if (shape_.split_rows) sum_segments<<<tighten_grid_, THREADS, 0, stream>>>(p_);
    tighten_rows<<<tighten_grid_, THREADS, 0, stream>>>(p_);
}

template <class Val, class Bound>
gpuopt_status TypedPropagator<Val, Bound>::round(int32_t rounds, gpuopt_propagator_info *info) {
    gpuopt_status status = GPUOPT_OK;
    if (driver_ == GPUOPT_DRIVER_COOPERATIVE) {
        int most = rounds;
        void *arguments[] = {&p_, &most, &resident_items_, &resident_entries_};
        auto kernel = resident_items_ ? resident_kernel() : run_rounds<IN_MEMORY, Val, Bound>;
        status = check(cudaLaunchCooperativeKernel(reinterpret_cast<const void *>(kernel), grid_, THREADS, arguments,
                                                   resident_bytes<Val>(resident_items_, resident_entries_), stream()),
                       "launching rounds");
    } else {
        rounds = std::min(rounds, p_.round_limit);
        begin_call<<<1, 1, 0, stream()>>>(p_, rounds);
        if (driver_ == GPUOPT_DRIVER_GRAPH)
            status = check(cudaGraphLaunch(graph_exec_, stream()), "launching the graph of rounds");
        for (int32_t r = 0; driver_ == GPUOPT_DRIVER_HOST && r < rounds; r++) {
            enqueue_round(stream());
            end_round<<<1, 1, 0, stream()>>>(p_);
            if (!info) continue;
            status = wait("waiting for a round");
            if (status || p_.report->done) break;
        }
        end_call<<<tighten_grid_, THREADS, 0, stream()>>>(p_);
        if (!status) status = launched("launching rounds");
    }
    return status || !info ? status : get_info(info);
}

template <class Val, class Bound>
gpuopt_status TypedPropagator<Val, Bound>::get_info(gpuopt_propagator_info *info) {
    gpuopt_status status = wait("waiting for rounds");
    if (status) return status;
    const CallReport &report = *p_.report;
    info->outcome = static_cast<gpuopt_outcome>(report.outcome);
    info->rounds = report.rounds;
    info->changed = static_cast<int64_t>(report.changed);
    info->nonzeros = static_cast<int64_t>(report.nonzeros);
    info->infeasible_row = report.infeasible_row;
    info->infeasible_col = report.infeasible_col;
    return GPUOPT_OK;
}

/* ---- State in and out ---- */

template <class Val, class Bound>
gpuopt_status TypedPropagator<Val, Bound>::get_bounds(gpuopt_memory where, int64_t count, const int32_t *col,
                                                      double *lb, double *ub) {
    gpuopt_status status = GPUOPT_OK;
    int64_t piece = where == GPUOPT_HOST ? staging_count(shape_) : DEVICE_PIECE;
    for (int64_t k = 0; k < count && !status; k += piece) {
        int n = static_cast<int>(count - k < piece ? count - k : piece);
        const int32_t *some = col ? col + k : nullptr;
        double *to_lb = lb ? lb + k : nullptr, *to_ub = ub ? ub + k : nullptr;
        if (where == GPUOPT_HOST) {
            if (some) status = copy(staged_index(), some, sizeof(int) * n), some = staged_index();
            to_lb = lb ? staged(0) : nullptr, to_ub = ub ? staged(1) : nullptr;
        }
        ::get_bounds<<<blocks(n), THREADS, 0, stream()>>>(p_, static_cast<int>(col ? 0 : k), n, some, to_lb, to_ub);
        if (where == GPUOPT_HOST && lb && !status) status = copy(lb + k, to_lb, sizeof(double) * n);
        if (where == GPUOPT_HOST && ub && !status) status = copy(ub + k, to_ub, sizeof(double) * n);
    }
    if (!status) status = launched("reading bounds");
    return status || where == GPUOPT_DEVICE ? status : wait("reading bounds");
}

template <class Val, class Bound>
gpuopt_status TypedPropagator<Val, Bound>::set_bounds(gpuopt_memory where, int64_t count, const int32_t *col,
                                                      const double *lb, const double *ub) {
    gpuopt_status status = GPUOPT_OK;
    if (where == GPUOPT_DEVICE) {
        int bad = 0;
        status = check(cudaMemsetAsync(&p_.state->bad, 0, sizeof(int), stream()), "checking bounds");
        check_arguments<<<blocks(count), THREADS, 0, stream()>>>(p_.state, count, col, lb, ub, p_.cols,
                                                                 p_.rules.infinity);
        if (!status) status = copy(&bad, &p_.state->bad, sizeof bad);
        if (!status) status = wait("checking bounds");
        if (!status && bad) {
            gpuopt__log(context_, 0, "set bounds: an index or a bound in device memory is out of range");
            status = GPUOPT_ERROR_ARGUMENT;
        }
        if (status) return status;
    }
    begin_set<<<1, 1, 0, stream()>>>(p_.state, col == nullptr);
    int64_t piece = where == GPUOPT_HOST ? staging_count(shape_) : DEVICE_PIECE;
    for (int64_t k = 0; k < count && !status; k += piece) {
        int n = static_cast<int>(count - k < piece ? count - k : piece), first = static_cast<int>(col ? 0 : k);
        const int32_t *some = col ? col + k : nullptr;
        const double *from_lb = lb ? lb + k : nullptr, *from_ub = ub ? ub + k : nullptr;
        if (where == GPUOPT_HOST) {
            if (some) status = copy(staged_index(), some, sizeof(int) * n), some = staged_index();
            if (lb && !status) status = copy(staged(0), from_lb, sizeof(double) * n), from_lb = staged(0);
            if (ub && !status) status = copy(staged(1), from_ub, sizeof(double) * n), from_ub = staged(1);
        }
        ::set_bounds<<<blocks(n), THREADS, 0, stream()>>>(p_, first, n, some, from_lb, from_ub);
        settle_set<<<blocks(n), THREADS, 0, stream()>>>(p_, first, n, some);
    }
    recheck_crossing<<<blocks(p_.cols), THREADS, 0, stream()>>>(p_);
    if (!status) status = launched("setting bounds");
    return status || where == GPUOPT_DEVICE ? status : release_host(lb, ub, col);
}

template <class Val, class Bound>
gpuopt_status TypedPropagator<Val, Bound>::set_sides(int64_t count, const int32_t *row, const double *lhs,
                                                     const double *rhs) {
    gpuopt_status status = GPUOPT_OK;
    int64_t piece = staging_count(shape_);
    begin_set<<<1, 1, 0, stream()>>>(p_.state, 0);
    for (int64_t k = 0; k < count && !status; k += piece) {
        int n = static_cast<int>(count - k < piece ? count - k : piece);
        status = copy(staged_index(), row + k, sizeof(int) * n);
        if (!status) status = copy(staged(0), lhs + k, sizeof(double) * n);
        if (!status) status = copy(staged(1), rhs + k, sizeof(double) * n);
        ::set_sides<<<blocks(n), THREADS, 0, stream()>>>(p_, slot_of_, n, staged_index(), staged(0), staged(1));
    }
    recheck_crossing<<<blocks(p_.cols), THREADS, 0, stream()>>>(p_);
    if (!status) status = launched("setting sides");
    return status ? status : release_host(lhs, rhs, row);
}

template <class Val, class Bound>
gpuopt_status TypedPropagator<Val, Bound>::get_rows(gpuopt_memory where, const gpuopt_propagator_row_report &report) {
    gpuopt_status status = GPUOPT_OK;
    int64_t count = shape_.rows, piece = where == GPUOPT_HOST ? staging_count(shape_) : DEVICE_PIECE;
    for (int64_t k = 0; k < count && !status; k += piece) {
        int n = static_cast<int>(count - k < piece ? count - k : piece);
        RowReport to = {report.min_activity, report.max_activity, report.min_infinite, report.max_infinite,
                        report.status};
        if (where == GPUOPT_HOST) {
            int *infinite = staged_index();
            to = {staged(0), staged(1), infinite, infinite + n, reinterpret_cast<unsigned char *>(infinite + 2 * n)};
        }
        report_rows<<<blocks(int64_t{n} * WARP), THREADS, 0, stream()>>>(p_, slot_of_, static_cast<int>(k), n, to);
        if (where == GPUOPT_DEVICE) continue;
        if (report.min_activity) status = copy(report.min_activity + k, to.min_activity, sizeof(double) * n);
        if (report.max_activity && !status) status = copy(report.max_activity + k, to.max_activity, sizeof(double) * n);
        if (report.min_infinite && !status) status = copy(report.min_infinite + k, to.min_infinite, sizeof(int) * n);
        if (report.max_infinite && !status) status = copy(report.max_infinite + k, to.max_infinite, sizeof(int) * n);
        if (report.status && !status) status = copy(report.status + k, to.status, static_cast<size_t>(n));
    }
    if (!status) status = launched("reading rows");
    return status || where == GPUOPT_DEVICE ? status : wait("reading rows");
}

template <class Val, class Bound>
gpuopt_status TypedPropagator<Val, Bound>::device_view(gpuopt_device_view *view) {
    view->data = p_.bounds[0];
    view->count = 2 * int64_t{shape_.cols};
    view->type = sizeof(Bound) == sizeof(float) ? GPUOPT_NUMBER_FP32 : GPUOPT_NUMBER_FP64;
    return GPUOPT_OK;
}

} // namespace

#include "create.cuh"

#endif /* GPUOPT_CUDA_PROPAGATE_CALLS_CUH */
