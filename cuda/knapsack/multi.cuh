/* SPDX-License-Identifier: MIT
 *
 * Multidimensional knapsacks on the GPU: a thread is a worker and searches as the CPU's workers do
 * (gpuopt_impl/knapsack/multidimensional/search.h). A round is a launch for each distance at which workers share, and
 * one for the search; the CPU waits for the results.
 */
#ifndef GPUOPT_CUDA_KNAPSACK_MULTI_CUH
#define GPUOPT_CUDA_KNAPSACK_MULTI_CUH

#include "../../gpuopt_impl/knapsack/multidimensional/handle.h"
#include "../common/queue.cuh"
#include "../common/warp.cuh"

namespace {

enum { MULTI_THREADS = 128 };

/* The results of the workers in a round. */
struct MultiReport {
    unsigned long long best, nodes, busy, finder;
};

struct CudaKnapsackMulti {
    explicit CudaKnapsackMulti(const gpuopt_context *context) : queue(context) {}

    Queue queue;
    void *device = nullptr;
    gpuopt__knapsack_multi_tables table = {};
    gpuopt__knapsack_multi_workers workers = {};
    MultiReport *report = nullptr;
};

CudaKnapsackMulti *cuda_knapsack_multi(const gpuopt_knapsack_multidimensional *k) {
    return static_cast<CudaKnapsackMulti *>(k->engine);
}

/* ---- Kernels ---- */

__global__ void knapsack_multi_share(gpuopt__knapsack_multi_tables table, gpuopt__knapsack_multi_workers workers,
                                     int64_t active, int64_t stride) {
    const int64_t w = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (w < active && !(w & stride)) gpuopt__knapsack_multi_share(&table, &workers, w, w | stride);
}

template <int WIDTH>
__global__ void __launch_bounds__(MULTI_THREADS)
    knapsack_multi_round(gpuopt__knapsack_multi_tables table, gpuopt__knapsack_multi_workers workers, int64_t active,
                         int64_t lower, MultiReport *report) {
    const int64_t w = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    gpuopt__knapsack_multi_found found = {lower, 0, 0};
    if (w < active)
        found = gpuopt__knapsack_multi_round(&table, &workers, w, lower, GPUOPT__KNAPSACK_MULTI_BUDGET, WIDTH);
    const unsigned nodes = warp_count(static_cast<unsigned>(found.nodes)),
                   busy = warp_count(static_cast<unsigned>(found.busy));
    if (found.lower > lower) atomicMax(&report->best, static_cast<unsigned long long>(found.lower));
    if (threadIdx.x % 32 != 0 || nodes == 0) return;
    atomicAdd(&report->nodes, static_cast<unsigned long long>(nodes));
    atomicAdd(&report->busy, static_cast<unsigned long long>(busy));
}

/* The first worker that has found the best solution. */
__global__ void knapsack_multi_finder(gpuopt__knapsack_multi_workers workers, int64_t active, int64_t best,
                                      MultiReport *report) {
    const int64_t w = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (w < active && workers.lower[w] == best) atomicMin(&report->finder, static_cast<unsigned long long>(w));
}

/* ---- Life ---- */

uint64_t cut_knapsack_multi(const gpuopt_knapsack_multidimensional_desc &d, void *base, CudaKnapsackMulti *c) {
    gpuopt__arena arena = {static_cast<char *>(base), 0};
    gpuopt__knapsack_multi_cut_tables(&arena, &d, &c->table);
    gpuopt__knapsack_multi_cut_workers(&arena, &d, &c->workers);
    c->workers.apart = d.workers;
    c->report = static_cast<MultiReport *>(gpuopt__cut(&arena, 1, sizeof(MultiReport)));
    return arena.used;
}

void cuda_knapsack_multi_plan(const gpuopt_context *, const gpuopt_knapsack_multidimensional_desc *desc,
                              gpuopt_memory_plan *plan) {
    CudaKnapsackMulti draft(nullptr);
    plan->host_bytes += sizeof draft;
    plan->device_bytes += cut_knapsack_multi(*desc, nullptr, &draft);
}

void cuda_knapsack_multi_destroy(gpuopt_knapsack_multidimensional *k) {
    DeviceScope scope(k->context);
    gpuopt__release(k->context, GPUOPT_DEVICE, cuda_knapsack_multi(k)->device);
    gpuopt__release(k->context, GPUOPT_HOST, k->engine);
    k->engine = nullptr;
}

/* Copies the tables in one piece, and gives worker 0 the root. */
gpuopt_status knapsack_multi_load(const gpuopt_knapsack_multidimensional *k, CudaKnapsackMulti *c) {
    const gpuopt__knapsack_multi_tables &t = k->table;
    const gpuopt__knapsack_multi_workers &ws = c->workers;
    const size_t number = sizeof(int64_t), lines = static_cast<size_t>(t.width), words = static_cast<size_t>(t.words),
                 apart = number * static_cast<size_t>(ws.apart);
    const int32_t first = 0;
    c->table.levels = t.levels;
    gpuopt_status status =
        c->queue.copy(c->table.path, t.path, static_cast<size_t>(t.scale + t.width - t.path) * number, "a knapsack");
    if (!status) status = c->queue.clear(ws.level, 0xff, sizeof first * static_cast<size_t>(ws.count));
    if (!status) status = c->queue.clear(ws.lower, 0xff, apart);
    if (!status) status = c->queue.copy_lines(ws.value, apart, k->root, number, number, lines, "copying a root");
    if (!status) status = c->queue.copy(ws.lower, &k->lower, number, "copying a root");
    if (!status) status = c->queue.copy(ws.level, &first, sizeof first, "copying a root");
    if (!status) status = c->queue.clear(ws.open, 0, apart * words);
    if (!status) status = c->queue.clear(ws.deviates, 0, apart * words);
    return status ? status : c->queue.wait("copying a knapsack");
}

gpuopt_status cuda_knapsack_multi_create(gpuopt_knapsack_multidimensional *k) {
    DeviceScope scope(k->context);
    void *memory;
    gpuopt_status status = gpuopt__allocate(k->context, GPUOPT_HOST, sizeof(CudaKnapsackMulti), &memory);
    if (status) return status;
    auto *c = new (memory) CudaKnapsackMulti(k->context);
    k->engine = c;
    status = gpuopt__allocate(k->context, GPUOPT_DEVICE, cut_knapsack_multi(k->desc, nullptr, c), &c->device);
    if (status) return status;
    cut_knapsack_multi(k->desc, c->device, c);
    status = load_kernels(k->context, knapsack_multi_share, knapsack_multi_finder);
    if (!status && k->table.width == 16) status = load_kernels(k->context, knapsack_multi_round<16>);
    if (!status && k->table.width == 32) status = load_kernels(k->context, knapsack_multi_round<32>);
    if (!status && k->table.width > 32)
        status = load_kernels(k->context, knapsack_multi_round<GPUOPT__KNAPSACK_MULTI_WIDTH>);
    return status ? status : knapsack_multi_load(k, c);
}

/* ---- Rounds ---- */

/* Waits for the round, and reads its results. */
gpuopt_status knapsack_multi_await(const CudaKnapsackMulti *c, MultiReport *found) {
    gpuopt_status status = c->queue.launched("a round of a knapsack");
    if (!status) status = c->queue.copy(found, c->report, sizeof *found, "a round of a knapsack");
    return status ? status : c->queue.wait("a round of a knapsack");
}

gpuopt_status cuda_knapsack_multi_round(gpuopt_knapsack_multidimensional *k, gpuopt__knapsack_multi_job *job) {
    const CudaKnapsackMulti *c = cuda_knapsack_multi(k);
    DeviceScope scope(k->context);
    const int64_t blocks = (job->active + MULTI_THREADS - 1) / MULTI_THREADS;
    const Grid grid = {blocks, job->active < MULTI_THREADS ? 32 * ((job->active + 31) / 32) : MULTI_THREADS};
    MultiReport found;
    gpuopt_status status = c->queue.clear(c->report, 0, sizeof *c->report);
    if (!status) status = c->queue.clear(&c->report->finder, 0xff, sizeof c->report->finder);
    if (status) return status;
    for (int s = 0; s < job->strides; s++)
        c->queue.launch(grid, knapsack_multi_share, c->table, c->workers, job->active, job->stride[s]);
    auto round = k->table.width == 16   ? knapsack_multi_round<16>
                 : k->table.width == 32 ? knapsack_multi_round<32>
                                        : knapsack_multi_round<GPUOPT__KNAPSACK_MULTI_WIDTH>;
    c->queue.launch(grid, round, c->table, c->workers, job->active, job->lower, c->report);
    status = knapsack_multi_await(c, &found);
    if (status) return status;
    job->nodes = static_cast<int64_t>(found.nodes);
    job->busy = static_cast<int64_t>(found.busy);
    if (static_cast<int64_t>(found.best) <= job->lower) return GPUOPT_OK;
    job->best = static_cast<int64_t>(found.best);
    c->queue.launch(grid, knapsack_multi_finder, c->workers, job->active, job->best, c->report);
    status = knapsack_multi_await(c, &found);
    job->finder = static_cast<int64_t>(found.finder);
    return status;
}

gpuopt_status cuda_knapsack_multi_found(gpuopt_knapsack_multidimensional *k, int64_t worker, uint64_t *deviates) {
    const CudaKnapsackMulti *c = cuda_knapsack_multi(k);
    DeviceScope scope(k->context);
    const size_t word = sizeof *deviates;
    gpuopt_status status =
        c->queue.copy_lines(deviates, word, c->workers.found + worker, word * static_cast<size_t>(c->workers.apart),
                            word, static_cast<size_t>(k->table.words), "a knapsack's solution");
    return status ? status : c->queue.wait("a knapsack's solution");
}

} // namespace

#endif /* GPUOPT_CUDA_KNAPSACK_MULTI_CUH */
