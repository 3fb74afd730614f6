/* SPDX-License-Identifier: MIT
 *
 * Multiple-choice knapsacks on the GPU: a long step is copied to the device and divided into parts, one for each thread
 * (gpuopt_impl/knapsack/multiple_choice/merge.h). All parts are made twice: first they count their states, then they
 * write them behind the states of the preceding parts. Short steps are made on the CPU, which takes less time than the
 * launches.
 */
#ifndef GPUOPT_CUDA_KNAPSACK_CHOICE_CUH
#define GPUOPT_CUDA_KNAPSACK_CHOICE_CUH

#include <cub/block/block_reduce.cuh>

#include <algorithm>

#include "../../gpuopt_impl/knapsack/multiple_choice/handle.h"
#include "../common/cub.cuh"
#include "../common/queue.cuh"

namespace {

enum { CHOICE_THREADS = 128, CHOICE_WIDE = 1024 /* for the single block that compares all parts */ };
constexpr int64_t choice_long = 1 << 18;    /* new states from which on the device is faster than the CPU */
constexpr int64_t choice_parts = 1 << 15;   /* most parts of a step */
constexpr int64_t choice_part = 64;         /* new states of a part, unless there are too few */
constexpr int64_t choice_few = 256;         /* parts up to which the device is not faster */
constexpr size_t choice_scratch = 1 << 16;  /* bytes, more than CUB needs to add up so many parts */
constexpr int64_t choice_cursors = 1 << 23; /* most cursors of all parts' heaps; less in a handle with short lists */

struct CudaKnapsackChoice {
    explicit CudaKnapsackChoice(const gpuopt_context *context) : queue(context) {}

    Queue queue;
    gpuopt__knapsack_choice_cursor *host_heap = nullptr; /* [most of a class] */
    void *device = nullptr;                              /* NULL: all steps are made on the CPU */
    int64_t limit = 0;                                   /* states that fit the following lists: */
    gpuopt__knapsack_choice_list from = {}, to = {};
    gpuopt__knapsack_choice_option *option = nullptr;
    gpuopt__knapsack_choice_cursor *heap = nullptr;
    int64_t cursors = 0;
    int64_t *begin = nullptr, *place = nullptr; /* [parts + 1] */
    Scratch scratch = {nullptr, choice_scratch};
    gpuopt__knapsack_choice_found *found = nullptr;
};

CudaKnapsackChoice *cuda_knapsack_choice(const gpuopt_knapsack_multiple_choice *k) {
    return static_cast<CudaKnapsackChoice *>(k->engine);
}

/* ---- Kernels ---- */

/* Finds the start of each part: a warp for each, with lanes that count the states of different options. */
__global__ void knapsack_choice_divide(const __grid_constant__ gpuopt__knapsack_choice_merge m, int parts,
                                       int64_t *begin) {
    const int p = static_cast<int>((blockIdx.x * blockDim.x + threadIdx.x) / 32), lane = threadIdx.x % 32;
    if (p > parts) return;
    gpuopt__knapsack_choice_range r = gpuopt__knapsack_choice_range_of(&m, p, parts);
    while (r.low < r.high) {
        const int64_t middle = gpuopt__knapsack_choice_range_middle(&r);
        unsigned long long lighter = 0;
        for (int j = lane; j < m.options; j += 32)
            lighter += static_cast<unsigned long long>(gpuopt__knapsack_choice_lighter_states(&m, j, middle));
        for (int half = 16; half > 0; half /= 2) lighter += __shfl_xor_sync(~0u, lighter, half);
        gpuopt__knapsack_choice_range_halve(&r, static_cast<int64_t>(lighter));
    }
    if (lane == 0) begin[p] = r.low;
}

/* All parts: counts their states, in `place`, or writes them to the places that follow from these numbers. */
__global__ void __launch_bounds__(CHOICE_THREADS)
    knapsack_choice_merge(const __grid_constant__ gpuopt__knapsack_choice_merge m, int parts,
                          gpuopt__knapsack_choice_cursor *heap, const int64_t *begin, int64_t *place,
                          gpuopt__knapsack_choice_found *found, bool writes) {
    const int p = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (p >= parts) return;
    found[p] = gpuopt__knapsack_choice_part(&m, heap + int64_t{p} * m.options, begin[p], begin[p + 1],
                                            writes ? place[p] : int64_t{0}, writes ? found[p].kept : int64_t{0});
    if (!writes) place[p] = found[p].kept;
}

/* A part, and the profit of its best completion. */
struct KnapsackChoiceBest {
    int64_t profit;
    int part;
};
struct KnapsackChoiceBetter {
    __device__ KnapsackChoiceBest operator()(const KnapsackChoiceBest &a, const KnapsackChoiceBest &b) const {
        return b.profit > a.profit || (b.profit == a.profit && b.part < a.part) ? b : a;
    }
};

/* Puts the results of the best part, of equal ones the first, in found[0]. By one block. */
__global__ void __launch_bounds__(CHOICE_WIDE) knapsack_choice_join(gpuopt__knapsack_choice_found *found, int parts) {
    using Reduce = cub::BlockReduce<KnapsackChoiceBest, CHOICE_WIDE, cub::BLOCK_REDUCE_WARP_REDUCTIONS>;
    __shared__ typename Reduce::TempStorage reduce;
    const KnapsackChoiceBetter better;
    KnapsackChoiceBest best = {INT64_MIN, 0};
    for (int p = static_cast<int>(threadIdx.x); p < parts; p += CHOICE_WIDE) best = better(best, {found[p].best, p});
    best = Reduce(reduce).Reduce(best, better);
    if (threadIdx.x == 0) found[0] = found[best.part];
}

/* ---- Life ---- */

uint64_t cut_knapsack_choice_host(int64_t most, void *base, CudaKnapsackChoice *c) {
    gpuopt__arena arena = {static_cast<char *>(base), 0};
    gpuopt__cut(&arena, 1, sizeof *c);
    c->host_heap = static_cast<gpuopt__knapsack_choice_cursor *>(gpuopt__cut(&arena, most, sizeof *c->host_heap));
    return arena.used;
}

/* Whether steps from lists of this many states may be long. */
bool knapsack_choice_needs_device(int64_t limit, int64_t most) { return limit >= choice_long / most; }

uint64_t cut_knapsack_choice_device(int64_t limit, int64_t most, void *base, CudaKnapsackChoice *c) {
    gpuopt__arena arena = {static_cast<char *>(base), 0};
    for (gpuopt__knapsack_choice_list *list : {&c->from, &c->to}) {
        list->weight = static_cast<int64_t *>(gpuopt__cut(&arena, limit, sizeof(int64_t)));
        list->profit = static_cast<int64_t *>(gpuopt__cut(&arena, limit, sizeof(int64_t)));
        list->word = static_cast<uint64_t *>(gpuopt__cut(&arena, limit, sizeof(uint64_t)));
    }
    c->limit = limit;
    c->cursors =
        std::max(choice_few * std::min(most, choice_cursors / choice_few), std::min(16 * limit, choice_cursors));
    c->option = static_cast<gpuopt__knapsack_choice_option *>(gpuopt__cut(&arena, most, sizeof *c->option));
    c->heap = static_cast<gpuopt__knapsack_choice_cursor *>(gpuopt__cut(&arena, c->cursors, sizeof *c->heap));
    c->begin = static_cast<int64_t *>(gpuopt__cut(&arena, choice_parts + 1, sizeof(int64_t)));
    c->place = static_cast<int64_t *>(gpuopt__cut(&arena, choice_parts + 1, sizeof(int64_t)));
    c->found = static_cast<gpuopt__knapsack_choice_found *>(gpuopt__cut(&arena, choice_parts, sizeof *c->found));
    c->scratch.memory = gpuopt__cut(&arena, choice_scratch, 1);
    return arena.used;
}

void cuda_knapsack_choice_plan(const gpuopt_context *, int64_t limit, int64_t most, gpuopt_memory_plan *plan) {
    CudaKnapsackChoice draft(nullptr);
    plan->host_bytes += cut_knapsack_choice_host(most, nullptr, &draft);
    if (knapsack_choice_needs_device(limit, most))
        plan->device_bytes += cut_knapsack_choice_device(limit, most, nullptr, &draft);
}

void cuda_knapsack_choice_destroy(gpuopt_knapsack_multiple_choice *k) {
    DeviceScope scope(k->context);
    gpuopt__release(k->context, GPUOPT_DEVICE, cuda_knapsack_choice(k)->device);
    gpuopt__release(k->context, GPUOPT_HOST, k->engine);
    k->engine = nullptr;
}

/* Cuts device memory into the lists for `limit` states. Adds up zeros, since CUB's kernels are loaded by a launch. */
gpuopt_status knapsack_choice_take(gpuopt_knapsack_multiple_choice *k, void *device, int64_t limit) {
    CudaKnapsackChoice *c = cuda_knapsack_choice(k);
    c->device = device;
    cut_knapsack_choice_device(limit, k->most, device, c);
    c->queue.zero(c->place, sizeof *c->place * (choice_parts + 1));
    gpuopt_status status = c->queue.launched("the memory of a knapsack");
    return status ? status : sum_before(c->queue, c->scratch, c->place, choice_parts + 1);
}

gpuopt_status cuda_knapsack_choice_create(gpuopt_knapsack_multiple_choice *k) {
    DeviceScope scope(k->context);
    CudaKnapsackChoice draft(nullptr);
    void *memory;
    gpuopt_status status =
        gpuopt__allocate(k->context, GPUOPT_HOST, cut_knapsack_choice_host(k->most, nullptr, &draft), &memory);
    if (status) return status;
    auto *c = new (memory) CudaKnapsackChoice(k->context);
    cut_knapsack_choice_host(k->most, memory, c);
    k->engine = c;
    if (knapsack_choice_needs_device(k->grows_to, k->most))
        status = load_kernels(k->context, knapsack_choice_divide, knapsack_choice_merge, knapsack_choice_join);
    if (status || !knapsack_choice_needs_device(k->limit, k->most)) return status;
    const uint64_t bytes = cut_knapsack_choice_device(k->limit, k->most, nullptr, &draft);
    status = gpuopt__allocate(k->context, GPUOPT_DEVICE, bytes, &memory);
    return status ? status : knapsack_choice_take(k, memory, k->limit);
}

/* If device memory is missing, steps that do not fit the present memory are made on the CPU. */
void cuda_knapsack_choice_grow(gpuopt_knapsack_multiple_choice *k, int64_t limit) {
    CudaKnapsackChoice *c = cuda_knapsack_choice(k), draft(nullptr);
    DeviceScope scope(k->context);
    if (!knapsack_choice_needs_device(limit, k->most)) return;
    void *device =
        gpuopt__try_allocate(k->context, GPUOPT_DEVICE, cut_knapsack_choice_device(limit, k->most, nullptr, &draft));
    if (!device) return;
    gpuopt__release(k->context, GPUOPT_DEVICE, c->device);
    knapsack_choice_take(k, device, limit); /* a failure returns in the next step */
}

/* ---- Steps ---- */

gpuopt_status knapsack_choice_copy(const Queue &queue, const gpuopt__knapsack_choice_list &to,
                                   const gpuopt__knapsack_choice_list &from, int64_t count) {
    const size_t bytes = sizeof(int64_t) * static_cast<size_t>(count);
    const char *what = "copying a knapsack's states";
    gpuopt_status status = queue.copy(to.weight, from.weight, bytes, what);
    if (!status) status = queue.copy(to.profit, from.profit, bytes, what);
    return status ? status : queue.copy(to.word, from.word, bytes, what);
}

/* A step in `parts` parts. found: if the states do not fit, only their number is filled in. */
gpuopt_status knapsack_choice_device_step(const gpuopt_knapsack_multiple_choice *k, gpuopt__knapsack_choice_job *job,
                                          int parts) {
    const CudaKnapsackChoice *c = cuda_knapsack_choice(k);
    const char *what = "a step of a knapsack";
    const Grid grid = {(parts + CHOICE_THREADS - 1) / CHOICE_THREADS, CHOICE_THREADS};
    gpuopt__knapsack_choice_merge m = job->merge;
    m.from = c->from;
    m.to = c->to;
    m.option = c->option;
    gpuopt_status status = knapsack_choice_copy(c->queue, c->from, job->merge.from, m.count);
    if (!status)
        status = c->queue.copy(c->option, job->merge.option, sizeof *c->option * static_cast<size_t>(m.options), what);
    if (status) return status;
    c->queue.launch({parts / (CHOICE_THREADS / 32) + 1, CHOICE_THREADS}, knapsack_choice_divide, m, parts, c->begin);
    c->queue.launch(grid, knapsack_choice_merge, m, parts, c->heap, c->begin, c->place, c->found, false);
    c->queue.zero(c->place + parts, sizeof *c->place);
    status = c->queue.launched(what);
    if (!status) status = sum_before(c->queue, c->scratch, c->place, parts + 1);
    if (!status) status = c->queue.copy(&job->found.kept, c->place + parts, sizeof job->found.kept, what);
    if (!status) status = c->queue.wait(what);
    if (status || job->found.kept > std::min(c->limit, k->limit)) return status;
    const int64_t kept = job->found.kept;
    c->queue.launch(grid, knapsack_choice_merge, m, parts, c->heap, c->begin, c->place, c->found, true);
    c->queue.launch({1, CHOICE_WIDE}, knapsack_choice_join, c->found, parts);
    status = c->queue.launched(what);
    if (!status) status = c->queue.copy(&job->found, c->found, sizeof job->found, what);
    if (!status) status = knapsack_choice_copy(c->queue, job->merge.to, c->to, kept);
    if (!status) status = c->queue.wait(what);
    job->found.kept = kept;
    return status;
}

gpuopt_status cuda_knapsack_choice_step(gpuopt_knapsack_multiple_choice *k, gpuopt__knapsack_choice_job *job) {
    CudaKnapsackChoice *c = cuda_knapsack_choice(k);
    const gpuopt__knapsack_choice_merge &m = job->merge;
    const int64_t made = m.count * m.options,
                  parts = std::min(std::min(choice_parts, made / choice_part), c->cursors / m.options);
    if (c->device && m.count <= c->limit && made >= choice_long && parts >= choice_few) {
        DeviceScope scope(k->context);
        gpuopt_status status = knapsack_choice_device_step(k, job, static_cast<int>(parts));
        if (status || job->found.kept <= c->limit || job->found.kept > k->limit) return status;
    }
    job->found = gpuopt__knapsack_choice_part(&m, c->host_heap, INT64_MIN, INT64_MAX, 0, k->limit);
    return GPUOPT_OK;
}

} // namespace

#endif /* GPUOPT_CUDA_KNAPSACK_CHOICE_CUH */
