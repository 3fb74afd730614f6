/* SPDX-License-Identifier: MIT
 *
 * Probing on the GPU: nodes are made, run and compared on the device. Only bounds, counts and results that the caller
 * requests are copied back.
 */
#ifndef GPUOPT_CUDA_PROPAGATE_PROBE_HANDLE_CUH
#define GPUOPT_CUDA_PROPAGATE_PROBE_HANDLE_CUH

#include "../../../gpuopt_impl/propagate/arith/probe_pair.h"
#include "../batch/run.cuh"

namespace {

/* The results of a piece, besides bounds. */
struct ProbeReport {
    int done;       /* binaries */
    int hopeless;   /* the first binary that can be neither 0 nor 1; INT_MAX: none */
    int infeasible; /* number of infeasible probes */
    int unfinished;
    unsigned long long implied_binaries;
    long long implications, equivalences;
};

/* The data of the kernels. Nodes 2 k and 2 k + 1 of a piece set its binary k to 0 and to 1. */
struct ProbeView {
    unsigned char *is_binary; /* [cols] */
    double *lb, *ub;          /* [cols]: bounds that hold in every solution */
    int *binary;              /* [cols] */
    int *outcome;             /* [2 cols] */
    long long *start;         /* [2 cols + 1]: of the implications */
    ChangeBuffer implied;
    int *equal, *other; /* [equivalences] */
    unsigned char *opposite;
    long long *node_start; /* [nodes + 1] */
    int *node_col;         /* [nodes] */
    double *node_bound;    /* [nodes] */
    long long *node_at;    /* [nodes + 1]: the begin of its implications among the piece's */
    long long *pair_at;    /* [nodes / 2 + 1]: likewise equivalences */
    ProbeReport *report;
    long long equivalences; /* capacity */
};

/* A piece: binaries `first` to first + count - 1, after the implications and equivalences found before. */
struct ProbePiece {
    const NodeRecord *record;
    ChangeBuffer changed;
    int first, count;
    long long implications, equivalences;
};

__global__ void set_probes(ProbeView v, ProbePiece piece) {
    for (int k = grid_thread(); k <= 2 * piece.count; k += grid_threads()) {
        v.node_start[k] = k;
        if (k == 2 * piece.count) break;
        v.node_col[k] = v.binary[piece.first + k / 2];
        v.node_bound[k] = k % 2;
    }
    if (grid_thread() == 0) *v.report = {piece.count, INT_MAX, 0, 0, 0, 0, 0};
}

/* Counts the binaries before the first node that was not run because of a stop. */
__global__ void count_probed(ProbeView v, ProbePiece piece) {
    for (int k = grid_thread(); k < 2 * piece.count; k += grid_threads())
        if (piece.record[k].outcome == GPUOPT_MORE && piece.record[k].rounds == 0) atomicMin(&v.report->done, k / 2);
}

__device__ gpuopt__propagator_probe_pair pair_of(const ProbeView &v, const ProbePiece &piece, int k) {
    gpuopt__propagator_probe_pair pair = {};
    for (int s = 0; s < 2; s++) {
        const NodeRecord &one = piece.record[2 * k + s];
        pair.side[s] = {piece.changed.col + one.at, piece.changed.lb + one.at, piece.changed.ub + one.at, one.columns,
                        one.outcome == GPUOPT_INFEASIBLE};
    }
    pair.binary = v.binary[piece.first + k];
    pair.is_binary = v.is_binary;
    return pair;
}

/* Tightens bounds, and counts: a thread takes a binary. */
__global__ void __launch_bounds__(THREADS) merge_probes(ProbeView v, ProbePiece piece) {
    const int done = v.report->done;
    for (int k = grid_thread(); k <= piece.count; k += grid_threads()) {
        long long equivalences = 0;
        if (k == piece.count) v.node_at[2 * k] = 0;
        for (int s = 0; s < 2 && k < piece.count; s++) {
            const NodeRecord &one = piece.record[2 * k + s];
            v.node_at[2 * k + s] = k < done && one.columns ? one.columns - 1 : 0; /* without the binary itself */
            if (k >= done || one.outcome == GPUOPT_CONVERGED) continue;
            atomicAdd(one.outcome == GPUOPT_INFEASIBLE ? &v.report->infeasible : &v.report->unfinished, 1);
        }
        if (k < done) {
            gpuopt__propagator_probe_pair pair = pair_of(v, piece, k);
            gpuopt__propagator_probe_fact fact;
            if (pair.side[0].infeasible && pair.side[1].infeasible) atomicMin(&v.report->hopeless, k);
            while (gpuopt__propagator_probe_next_fact(&pair, &fact)) {
                move_side(&v.lb[fact.col], false, fact.lb);
                move_side(&v.ub[fact.col], true, fact.ub);
                equivalences += fact.equivalent;
            }
        }
        v.pair_at[k] = equivalences;
    }
}

/* Copies implications, as far as they fit: a warp takes a node. */
__global__ void __launch_bounds__(THREADS) gather_implied(ProbeView v, ProbePiece piece) {
    const int done = v.report->done, lane = static_cast<int>(threadIdx.x % WARP);
    if (grid_thread() == 0) {
        v.report->implications = v.node_at[2 * piece.count];
        v.report->equivalences = v.pair_at[piece.count];
    }
    for (int node = grid_warp(); node < 2 * done; node += grid_warps()) {
        const NodeRecord one = piece.record[node];
        const int binary = v.node_col[node];
        const long long at = piece.implications + v.node_at[node];
        unsigned long long binaries = 0;
        if (lane == 0) v.start[2LL * piece.first + node + 1] = piece.implications + v.node_at[node + 1];
        for (int k = lane; k < one.columns; k += WARP) {
            const int col = piece.changed.col[one.at + k];
            const long long to = at + k - (col > binary); /* in ascending order */
            if (col == binary) continue;
            binaries += v.is_binary[col];
            if (to >= static_cast<long long>(v.implied.capacity)) continue;
            v.implied.col[to] = col;
            v.implied.lb[to] = piece.changed.lb[one.at + k];
            v.implied.ub[to] = piece.changed.ub[one.at + k];
        }
        if (binaries) atomicAdd(&v.report->implied_binaries, binaries);
    }
}

__global__ void __launch_bounds__(THREADS) list_equivalences(ProbeView v, ProbePiece piece) {
    for (int k = grid_thread(); k < v.report->done; k += grid_threads()) {
        long long at = piece.equivalences + v.pair_at[k];
        if (v.pair_at[k] == v.pair_at[k + 1]) continue;
        gpuopt__propagator_probe_pair pair = pair_of(v, piece, k);
        gpuopt__propagator_probe_fact fact;
        while (gpuopt__propagator_probe_next_fact(&pair, &fact)) {
            if (!fact.equivalent || at >= v.equivalences) continue;
            v.equal[at] = pair.binary;
            v.other[at] = fact.col;
            v.opposite[at] = static_cast<unsigned char>(fact.opposite);
            at++;
        }
    }
}

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
