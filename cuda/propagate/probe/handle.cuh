/* SPDX-License-Identifier: MIT
 *
 * Probing on the GPU: the handle, its memory, and the calls. Nodes are made, run and compared on the device. Only
 * bounds, counts and results that the caller requests are copied back.
 */
#ifndef GPUOPT_CUDA_PROPAGATE_PROBE_HANDLE_CUH
#define GPUOPT_CUDA_PROPAGATE_PROBE_HANDLE_CUH

#include "kernels.cuh"

namespace {

/* ---- Memory ---- */

class CudaProbe {
  public:
    explicit CudaProbe(const gpuopt_propagator_probe *probe) : queue_(probe->base->context) {}
    static gpuopt_status plan(const gpuopt_propagator_probe *probe, gpuopt_memory_plan *plan);
    static gpuopt_status create(gpuopt_propagator_probe *probe);
    ~CudaProbe() { gpuopt__release(queue_.context(), GPUOPT_DEVICE, device_); }
    gpuopt_status begin(const gpuopt_propagator_probe *probe, int32_t chosen);
    gpuopt_status piece(gpuopt_propagator_probe *probe, int32_t count, int32_t rounds, int32_t *done);
    gpuopt_status end(const gpuopt_propagator_probe *probe);
    gpuopt_status read(const gpuopt_propagator_probe *probe, int64_t count,
                       const gpuopt_propagator_probe_implications &to);
    gpuopt_status read(int64_t count, const gpuopt_propagator_probe_equivalences &to);

  private:
    gpuopt_status cut(const gpuopt_propagator_probe *probe, gpuopt__arena &device);
    gpuopt_status merge(const ProbePiece &piece);

    Queue queue_;
    void *device_ = nullptr;
    ProbeView v_ = {};
    Scratch scratch_ = {};
};

CudaProbe *probe_of(const gpuopt_propagator_probe *probe) { return static_cast<CudaProbe *>(probe->found); }

gpuopt_status CudaProbe::cut(const gpuopt_propagator_probe *probe, gpuopt__arena &device) {
    auto take = [&](auto *&pointer, int64_t count) {
        using T = typename std::remove_reference<decltype(*pointer)>::type;
        pointer = static_cast<T *>(gpuopt__cut(&device, count, sizeof(T)));
    };
    const int64_t cols = probe->base->cols, nodes = probe->nodes;
    gpuopt_status status = sum_scratch<long long>(queue_, nodes + 1, &scratch_.bytes);
    take(v_.lb, cols);
    take(v_.ub, cols);
    take(v_.start, 2 * cols + 1);
    take(v_.outcome, 2 * cols);
    take(v_.binary, cols);
    take(v_.is_binary, cols);
    take(v_.implied.lb, probe->implications);
    take(v_.implied.ub, probe->implications);
    take(v_.implied.col, probe->implications);
    take(v_.equal, probe->equivalences);
    take(v_.other, probe->equivalences);
    take(v_.opposite, probe->equivalences);
    take(v_.node_start, nodes + 1);
    take(v_.node_bound, nodes);
    take(v_.node_at, nodes + 1);
    take(v_.pair_at, nodes / 2 + 1);
    take(v_.node_col, nodes);
    take(v_.report, 1);
    char *memory;
    take(memory, static_cast<int64_t>(scratch_.bytes));
    scratch_.memory = memory;
    v_.implied.capacity = static_cast<unsigned long long>(probe->implications);
    v_.equivalences = probe->equivalences;
    return status;
}

gpuopt_status CudaProbe::plan(const gpuopt_propagator_probe *probe, gpuopt_memory_plan *plan) {
    CudaProbe draft(probe);
    gpuopt__arena device = {nullptr, 0};
    gpuopt_status status = draft.cut(probe, device);
    plan->host_bytes += sizeof(CudaProbe);
    plan->device_bytes += device.used;
    return status;
}

gpuopt_status CudaProbe::create(gpuopt_propagator_probe *probe) {
    const gpuopt_context *context = probe->base->context;
    gpuopt__arena device = {nullptr, 0};
    void *memory;
    gpuopt_status status = gpuopt__allocate(context, GPUOPT_HOST, sizeof(CudaProbe), &memory);
    if (status) return status;
    auto *own = new (memory) CudaProbe(probe);
    status = own->cut(probe, device);
    if (!status) status = gpuopt__allocate(context, GPUOPT_DEVICE, device.used, &own->device_);
    if (!status) {
        device = {static_cast<char *>(own->device_), 0};
        status = own->cut(probe, device);
    }
    if (!status)
        status = load_kernels(context, set_probes, count_probed, merge_probes, gather_implied, list_equivalences);
    if (!status) {
        probe->found = own;
        return GPUOPT_OK;
    }
    own->~CudaProbe();
    gpuopt__release(context, GPUOPT_HOST, memory);
    return status;
}

/* ---- A run ---- */

gpuopt_status CudaProbe::begin(const gpuopt_propagator_probe *probe, int32_t chosen) {
    const auto cols = static_cast<size_t>(probe->base->cols);
    gpuopt_status status = queue_.copy(v_.binary, probe->binary, sizeof(int) * static_cast<size_t>(chosen));
    if (!status) status = queue_.copy(v_.is_binary, probe->is_binary, cols);
    if (!status) status = queue_.copy(v_.lb, probe->lb, sizeof(double) * cols);
    if (!status) status = queue_.copy(v_.ub, probe->ub, sizeof(double) * cols);
    return status ? status : queue_.clear(v_.start, 0, sizeof *v_.start);
}

/* Enqueues: merges the results of a piece with earlier results. */
gpuopt_status CudaProbe::merge(const ProbePiece &piece) {
    queue_.launch({blocks_for(2 * piece.count), THREADS}, count_probed, v_, piece);
    queue_.launch({blocks_for(piece.count + 1), THREADS}, merge_probes, v_, piece);
    gpuopt_status status = sum_before(queue_, scratch_, v_.node_at, 2 * int64_t{piece.count} + 1);
    if (!status) status = sum_before(queue_, scratch_, v_.pair_at, int64_t{piece.count} + 1);
    queue_.launch({blocks_for(2 * int64_t{piece.count} * WARP), THREADS}, gather_implied, v_, piece);
    if (v_.equivalences) queue_.launch({blocks_for(piece.count), THREADS}, list_equivalences, v_, piece);
    return status ? status : queue_.launched("comparing probes");
}

gpuopt_status CudaProbe::piece(gpuopt_propagator_probe *probe, int32_t count, int32_t rounds, int32_t *done) {
    gpuopt_propagator_probe_info &info = probe->info;
    CudaBatch *batch = batch_of(probe->batch);
    gpuopt_propagator_nodes nodes = {};
    gpuopt_propagator_node_report report = {};
    ProbePiece piece = {};
    ProbeReport found;
    piece.first = info.probed, piece.count = count;
    piece.implications = info.implications, piece.equivalences = info.equivalences;
    queue_.launch({blocks_for(2 * count + 1), THREADS}, set_probes, v_, piece);
    gpuopt_status status = queue_.launched("making probes");
    nodes.count = 2 * count;
    nodes.start = reinterpret_cast<const int64_t *>(v_.node_start);
    nodes.col = v_.node_col;
    nodes.lb = nodes.ub = v_.node_bound;
    report.outcome = v_.outcome + 2 * int64_t{piece.first};
    *done = -1;
    if (!status) status = batch->run(GPUOPT_DEVICE, nodes, rounds, report);
    if (status) return status;
    probe->batch->ran = nodes.count;
    if (batch->used() > probe->changes) return GPUOPT_OK;
    piece.record = batch->results().record;
    piece.changed = batch->results().buffer;
    status = merge(piece);
    if (!status) status = queue_.copy(&found, v_.report, sizeof found);
    if (!status) status = queue_.wait("comparing probes");
    if (status) return status;
    if (found.hopeless < INT_MAX && info.infeasible_col < 0)
        info.infeasible_col = probe->binary[piece.first + found.hopeless];
    info.infeasible += found.infeasible;
    info.unfinished += found.unfinished;
    info.implications += found.implications;
    info.implied_binaries += static_cast<int64_t>(found.implied_binaries);
    info.equivalences += found.equivalences;
    info.probed += found.done;
    *done = found.done;
    return GPUOPT_OK;
}

gpuopt_status CudaProbe::end(const gpuopt_propagator_probe *probe) {
    const size_t bytes = sizeof(double) * static_cast<size_t>(probe->base->cols);
    gpuopt_status status = queue_.copy(probe->lb, v_.lb, bytes);
    if (!status) status = queue_.copy(probe->ub, v_.ub, bytes);
    return status ? status : queue_.wait("reading bounds");
}

/* ---- Results ---- */

gpuopt_status CudaProbe::read(const gpuopt_propagator_probe *probe, int64_t count,
                              const gpuopt_propagator_probe_implications &to) {
    const size_t probes = 2 * static_cast<size_t>(probe->info.probed), items = static_cast<size_t>(count);
    gpuopt_status status = GPUOPT_OK;
    if (to.outcome) status = queue_.copy(to.outcome, v_.outcome, sizeof(int) * probes);
    if (to.start && !status) status = queue_.copy(to.start, v_.start, sizeof(long long) * (probes + 1));
    if (to.col && !status) status = queue_.copy(to.col, v_.implied.col, sizeof(int) * items);
    if (to.lb && !status) status = queue_.copy(to.lb, v_.implied.lb, sizeof(double) * items);
    if (to.ub && !status) status = queue_.copy(to.ub, v_.implied.ub, sizeof(double) * items);
    return status ? status : queue_.wait("reading implications");
}

gpuopt_status CudaProbe::read(int64_t count, const gpuopt_propagator_probe_equivalences &to) {
    const auto items = static_cast<size_t>(count);
    gpuopt_status status = GPUOPT_OK;
    if (to.col) status = queue_.copy(to.col, v_.equal, sizeof(int) * items);
    if (to.other && !status) status = queue_.copy(to.other, v_.other, sizeof(int) * items);
    if (to.opposite && !status) status = queue_.copy(to.opposite, v_.opposite, items);
    return status ? status : queue_.wait("reading equivalences");
}

/* ---- The backend's functions ---- */

gpuopt_status cuda_propagator_probe_plan(const gpuopt_propagator_probe *probe, gpuopt_memory_plan *plan) {
    DeviceScope scope(probe->base->context);
    return CudaProbe::plan(probe, plan);
}

gpuopt_status cuda_propagator_probe_open(gpuopt_propagator_probe *probe) {
    DeviceScope scope(probe->base->context);
    return CudaProbe::create(probe);
}

void cuda_propagator_probe_close(gpuopt_propagator_probe *probe) {
    DeviceScope scope(probe->base->context);
    probe_of(probe)->~CudaProbe();
    gpuopt__release(probe->base->context, GPUOPT_HOST, probe->found);
}

gpuopt_status cuda_propagator_probe_begin(gpuopt_propagator_probe *probe, int32_t chosen) {
    DeviceScope scope(probe->base->context);
    return probe_of(probe)->begin(probe, chosen);
}

gpuopt_status cuda_propagator_probe_piece(gpuopt_propagator_probe *probe, int32_t count, int32_t rounds,
                                          int32_t *done) {
    DeviceScope scope(probe->base->context);
    return probe_of(probe)->piece(probe, count, rounds, done);
}

gpuopt_status cuda_propagator_probe_end(gpuopt_propagator_probe *probe) {
    DeviceScope scope(probe->base->context);
    return probe_of(probe)->end(probe);
}

gpuopt_status cuda_propagator_probe_read_implications(const gpuopt_propagator_probe *probe, int64_t count,
                                                      const gpuopt_propagator_probe_implications *to) {
    DeviceScope scope(probe->base->context);
    return probe_of(probe)->read(probe, count, *to);
}

gpuopt_status cuda_propagator_probe_read_equivalences(const gpuopt_propagator_probe *probe, int64_t count,
                                                      const gpuopt_propagator_probe_equivalences *to) {
    DeviceScope scope(probe->base->context);
    return probe_of(probe)->read(count, *to);
}

} // namespace

#endif /* GPUOPT_CUDA_PROPAGATE_PROBE_HANDLE_CUH */
