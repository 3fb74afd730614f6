/* SPDX-License-Identifier: MIT
 *
 * Batches of small knapsacks on the GPU: a thread searches one as the CPU does (gpuopt_impl/knapsack/batch/small.h),
 * with its items in a separate piece of device memory. One launch checks the arguments, and one solves.
 */
#ifndef GPUOPT_CUDA_KNAPSACK_BATCH_CUH
#define GPUOPT_CUDA_KNAPSACK_BATCH_CUH

#include <algorithm>

#include "../../gpuopt_impl/knapsack/batch/handle.h"
#include "../common/queue.cuh"

namespace {

/* Small blocks: a block ends when its longest search does. */
enum { SMALL_THREADS = 64, SMALL_BLOCKS = 16 /* per multiprocessor */ };

struct CudaKnapsackBatch {
    explicit CudaKnapsackBatch(const gpuopt_context *context) : queue(context) {}

    Queue queue;
    void *device = nullptr;
    /* For arrays in host memory, [count][items] or [count]. */
    int64_t *weight = nullptr, *profit = nullptr, *capacity = nullptr;
    int32_t *upper = nullptr;
    gpuopt__knapsack_wanted found = {};
    gpuopt__knapsack_small_item *item = nullptr; /* [threads][items] */
    unsigned long long *fault = nullptr;
    int64_t threads = 0; /* running at the same time */
};

CudaKnapsackBatch *cuda_knapsack_batch(const gpuopt_knapsack_batch *b) {
    return static_cast<CudaKnapsackBatch *>(b->engine);
}

/* ---- Kernels ---- */

__global__ void knapsack_check_batch(gpuopt__knapsack_given given, int64_t count, unsigned long long *fault) {
    const int64_t threads = int64_t{gridDim.x} * blockDim.x;
    unsigned long long first = GPUOPT__KNAPSACK_SMALL_NO_FAULT;
    for (int64_t k = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; k < count; k += threads) {
        const unsigned long long word = gpuopt__knapsack_small_fault(&given, k);
        if (word < first) first = word;
    }
    if (first != GPUOPT__KNAPSACK_SMALL_NO_FAULT) atomicMin(fault, first);
}

/* Only one of each `apart` threads, a power of two, works. With few knapsacks, fewer of them share a warp, where
 * threads wait for one another. */
__global__ void __launch_bounds__(SMALL_THREADS, SMALL_BLOCKS)
    knapsack_solve_batch(gpuopt__knapsack_given given, gpuopt__knapsack_wanted wanted, int64_t count, int64_t limit,
                         int apart, gpuopt__knapsack_small_item *item) {
    const int64_t thread = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (thread % apart) return;
    const int64_t first = thread / apart, workers = int64_t{gridDim.x} * blockDim.x / apart;
    for (int64_t k = first; k < count; k += workers) {
        gpuopt__knapsack_small_search s;
        gpuopt__knapsack_small_solve(&given, k, limit, item + first * given.items, &s, &wanted);
    }
}

/* ---- Life ---- */

uint64_t cut_knapsack_batch(const gpuopt_context *context, const gpuopt_knapsack_batch_desc &d, void *base,
                            CudaKnapsackBatch *c) {
    gpuopt__arena arena = {static_cast<char *>(base), 0};
    const int64_t count = d.count, numbers = count * d.items;
    auto cut = [&arena](auto **array, int64_t length) {
        *array = static_cast<std::remove_pointer_t<decltype(array)>>(gpuopt__cut(&arena, length, sizeof **array));
    };
    c->threads = std::min(count, int64_t{SMALL_THREADS} * SMALL_BLOCKS * cuda_of(context)->multiprocessors);
    cut(&c->weight, numbers);
    cut(&c->profit, numbers);
    cut(&c->upper, numbers);
    cut(&c->found.taken, numbers);
    cut(&c->capacity, count);
    cut(&c->found.lower, count);
    cut(&c->found.upper, count);
    cut(&c->found.nodes, count);
    cut(&c->found.outcome, count);
    cut(&c->item, c->threads * d.items);
    cut(&c->fault, 1);
    return arena.used;
}

void cuda_knapsack_batch_plan(const gpuopt_context *context, const gpuopt_knapsack_batch_desc *desc,
                              gpuopt_memory_plan *plan) {
    CudaKnapsackBatch draft(nullptr);
    plan->host_bytes += sizeof draft;
    plan->device_bytes += cut_knapsack_batch(context, *desc, nullptr, &draft);
}

void cuda_knapsack_batch_destroy(gpuopt_knapsack_batch *b) {
    DeviceScope scope(b->context);
    gpuopt__release(b->context, GPUOPT_DEVICE, cuda_knapsack_batch(b)->device);
    gpuopt__release(b->context, GPUOPT_HOST, b->engine);
}

gpuopt_status cuda_knapsack_batch_create(gpuopt_knapsack_batch *b) {
    DeviceScope scope(b->context);
    void *memory;
    gpuopt_status status = gpuopt__allocate(b->context, GPUOPT_HOST, sizeof(CudaKnapsackBatch), &memory);
    if (status) return status;
    auto *c = new (memory) CudaKnapsackBatch(b->context);
    b->engine = c;
    status =
        gpuopt__allocate(b->context, GPUOPT_DEVICE, cut_knapsack_batch(b->context, b->desc, nullptr, c), &c->device);
    if (!status) {
        cut_knapsack_batch(b->context, b->desc, c->device, c);
        status = load_kernels(b->context, knapsack_check_batch, knapsack_solve_batch);
    }
    if (status) cuda_knapsack_batch_destroy(b);
    return status;
}

/* ---- Runs ---- */

/* Copies the arrays of the knapsacks, `width` numbers each, to the device, one knapsack's after the other's. */
template <class Number>
gpuopt_status knapsack_upload(const CudaKnapsackBatch *c, Number *to, int64_t width, int64_t count,
                              const Number **array, int64_t *stride) {
    if (!*array) return GPUOPT_OK;
    const size_t bytes = sizeof(Number) * static_cast<size_t>(width);
    const Number *from = std::exchange(*array, to);
    if (*stride == 0 || *stride == width)
        return c->queue.copy(to, from, *stride == 0 ? bytes : bytes * static_cast<size_t>(count), "copying knapsacks");
    const size_t pitch = sizeof(Number) * static_cast<size_t>(*stride);
    *stride = width;
    return c->queue.copy_lines(to, bytes, from, pitch, bytes, static_cast<size_t>(count), "copying knapsacks");
}

/* Copies the arguments to the device. */
gpuopt_status knapsack_upload_all(const CudaKnapsackBatch *c, int64_t count, gpuopt__knapsack_given *g) {
    gpuopt_status status = knapsack_upload(c, c->weight, g->items, count, &g->weight, &g->weight_stride);
    if (!status) status = knapsack_upload(c, c->profit, g->items, count, &g->profit, &g->profit_stride);
    if (!status) status = knapsack_upload(c, c->upper, g->items, count, &g->upper, &g->upper_stride);
    if (!status) status = knapsack_upload(c, c->capacity, 1, count, &g->capacity, &g->capacity_stride);
    return status;
}

gpuopt_status cuda_knapsack_batch_run(gpuopt_knapsack_batch *b) {
    CudaKnapsackBatch *c = cuda_knapsack_batch(b);
    DeviceScope scope(b->context);
    gpuopt__knapsack_batch_job &job = b->job;
    gpuopt__knapsack_given given = job.given;
    const bool here = job.where == GPUOPT_HOST;
    const int64_t count = job.count,
                  most = int64_t{SMALL_THREADS} * SMALL_BLOCKS * cuda_of(b->context)->multiprocessors;
    int apart = 1;
    while (apart < 32 && 2 * apart * count <= most) apart *= 2;
    const int64_t threads = std::min(most, apart * count), blocks = (threads + SMALL_THREADS - 1) / SMALL_THREADS;
    gpuopt_status status = here ? knapsack_upload_all(c, count, &given) : GPUOPT_OK;
    if (!status) status = c->queue.clear(c->fault, 0xff, sizeof *c->fault);
    if (status) return status;
    c->queue.launch({blocks, SMALL_THREADS}, knapsack_check_batch, given, count, c->fault);
    status = c->queue.launched("checking knapsacks");
    if (!status) status = c->queue.copy(&job.fault, c->fault, sizeof job.fault, "checking knapsacks");
    if (!status) status = c->queue.wait("checking knapsacks");
    if (status || job.fault != GPUOPT__KNAPSACK_SMALL_NO_FAULT) return status;
    gpuopt__knapsack_wanted wanted = job.wanted;
    auto place = [here](auto *&there, auto *staging) {
        if (here && there) there = staging;
    };
    place(wanted.outcome, c->found.outcome);
    place(wanted.lower, c->found.lower);
    place(wanted.upper, c->found.upper);
    place(wanted.nodes, c->found.nodes);
    place(wanted.taken, c->found.taken);
    c->queue.launch({blocks, SMALL_THREADS}, knapsack_solve_batch, given, wanted, count, job.node_limit, apart,
                    c->item);
    status = c->queue.launched("solving knapsacks");
    auto fetch = [&](auto *to, const auto *from, int64_t numbers) {
        if (!status && here && to)
            status = c->queue.copy(to, from, sizeof *to * static_cast<size_t>(numbers), "copying the solutions");
    };
    fetch(job.wanted.outcome, wanted.outcome, count);
    fetch(job.wanted.lower, wanted.lower, count);
    fetch(job.wanted.upper, wanted.upper, count);
    fetch(job.wanted.nodes, wanted.nodes, count);
    fetch(job.wanted.taken, wanted.taken, count * given.items);
    return status ? status : c->queue.wait("solving knapsacks");
}

} // namespace

#endif /* GPUOPT_CUDA_KNAPSACK_BATCH_CUH */
