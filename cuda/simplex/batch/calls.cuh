/* SPDX-License-Identifier: MIT
 *
 * Batches of small linear programs on the GPU.
 *
 * gpuopt_impl/simplex/batch/calls.h checks a call's arguments; then this file does the work:
 *
 *     batch_load  copies the numbers to the device and launches check_many, which checks them all
 *     batch_run   launches solve_many: each block takes one program after the other, from its data to its verdict
 *
 * The method is gpuopt_impl/simplex/batch/solve.h, as on the CPU, with the loops and barriers of team.cuh. A
 * block's tableau and vectors are in shared memory if they fit, else in device memory.
 */
#ifndef GPUOPT_CUDA_SIMPLEX_BATCH_CALLS_CUH
#define GPUOPT_CUDA_SIMPLEX_BATCH_CALLS_CUH

#include <algorithm>

#include "../../common/ptx.cuh"
#include "../../common/queue.cuh"
#include "../../common/tables.cuh"
#include "team.cuh"

#include "../../../gpuopt_impl/simplex/batch/backend.h"
#include "../../../gpuopt_impl/simplex/batch/solve.h"

namespace {

enum { MANY_THREADS = 32 * MANY_WARPS, MANY_CHECK_THREADS = 256 };

/* The working memory of the blocks: block b's part of these arrays. Null: shared memory instead. */
struct BatchScratch {
    char *vectors;
    double *tables;
    int64_t vector_bytes, table_entries; /* per block */
    int *next;                           /* the first program not yet taken */
};

__global__ void __launch_bounds__(MANY_THREADS)
    solve_many(const __grid_constant__ gpuopt__simplex_batch_set set, const __grid_constant__ BatchScratch scratch) {
    GPUOPT_DYNAMIC_SHARED(double, batch_memory);
    __shared__ BatchExchange exchange;
    __shared__ gpuopt__simplex_batch_work work; /* in each thread's own memory it would fill the L1 cache */
    __shared__ int next;
    if (threadIdx.x == 0) {
        const int64_t block = blockIdx.x;
        uint64_t used = 0;
        char *vectors =
            scratch.vectors ? scratch.vectors + block * scratch.vector_bytes : reinterpret_cast<char *>(batch_memory);
        gpuopt__simplex_batch_cut_vectors(vectors, &used, set.rows, set.cols, &work);
        work.table =
            scratch.tables ? scratch.tables + block * scratch.table_entries : batch_memory + scratch.vector_bytes / 8;
        work.exchange = &exchange;
    }
    for (;;) {
        if (threadIdx.x == 0) next = atomicAdd(scratch.next, 1);
        __syncthreads();
        const int k = next;
        __syncthreads();
        if (k >= set.count) return;
        if (set.progress[k].outcome == GPUOPT_MORE) gpuopt__simplex_batch_solve(&set, &work, k);
    }
}

/* Lowers *bad to the least place of a number that is not allowed. */
__global__ void __launch_bounds__(MANY_CHECK_THREADS)
    check_many(const __grid_constant__ gpuopt__simplex_batch_set set, unsigned long long *bad) {
    const int64_t first = int64_t{blockIdx.x} * blockDim.x + threadIdx.x, step = int64_t{gridDim.x} * blockDim.x;
    auto found = [&](int array, int64_t index) {
        atomicMin(bad, static_cast<unsigned long long>(gpuopt__simplex_batch_place(array, index)));
    };
    for (int array = 0; array < GPUOPT__SIMPLEX_BATCH_ARRAYS; array++) {
        const double *const number = set.number[array];
        const int64_t count =
            set.given[array] ? set.length[array] * (set.stride[array] == 0 ? 1 : int64_t{set.count}) : 0;
        for (int64_t e = first; e < count; e += step)
            if (gpuopt__simplex_batch_number_bad(&set, array, number[e])) found(array, e);
    }
    for (int64_t e = first; e < int64_t{set.count} * set.rows; e += step)
        if (gpuopt__simplex_batch_sides_cross(&set, e)) found(GPUOPT__SIMPLEX_BATCH_ARRAYS, e);
}

/* ---- Memory ---- */

struct CudaBatch : Queue {
    explicit CudaBatch(gpuopt_context *context) : Queue(context) {}

    gpuopt__simplex_batch_set set = {}; /* all in device memory */
    BatchScratch scratch = {};
    void *device = nullptr;
    int32_t *lines[6] = {};
    unsigned long long *bad = nullptr;
    uint64_t result_bytes = 0; /* bytes from set.objective on */
    int blocks = 0, threads = 0;
    size_t shared = 0; /* bytes per block */
};

CudaBatch *cuda_many(const gpuopt_simplex_batch *m) { return static_cast<CudaBatch *>(m->engine); }

/* Chooses the number of blocks, their threads and the contents of shared memory. Depends only on the shape, the number
 * of programs and the device. */
void batch_set_shape(const gpuopt_simplex_batch *m, CudaBatch *c) {
    const CudaContext *cuda = cuda_of(m->context);
    const int32_t rows = m->set.rows, cols = m->set.cols;
    const int64_t most_bytes = int64_t{16} << 30; /* of all blocks' scratch arrays together */
    const auto limit = static_cast<uint64_t>(std::max(
        0, cuda->block_memory - static_cast<int>(sizeof(BatchExchange) + sizeof(gpuopt__simplex_batch_work) + 64)));
    gpuopt__simplex_batch_work measure;
    uint64_t vectors = 0;
    gpuopt__simplex_batch_cut_vectors(nullptr, &vectors, rows, cols, &measure);
    c->scratch.vector_bytes = static_cast<int64_t>((vectors + 255) / 256 * 256);
    c->scratch.table_entries = int64_t{rows} * measure.pitch;
    const auto table = static_cast<uint64_t>(c->scratch.table_entries) * sizeof(double);
    const auto line = static_cast<uint64_t>(c->scratch.vector_bytes);
    const bool vectors_fit = line <= limit, table_fits = line + table <= limit;
    c->shared = static_cast<size_t>((vectors_fit ? line : 0) + (table_fits ? table : 0));
    const int64_t entries = int64_t{rows} * cols;
    c->threads = !table_fits ? +MANY_THREADS : entries <= 1024 ? 64 : entries <= 8192 ? 128 : 256;
    int64_t resident = MANY_THREADS / c->threads; /* a block of MANY_THREADS takes all registers of a multiprocessor */
    resident = std::min<int64_t>(resident, cuda->block_memory / static_cast<int64_t>(c->shared + 2048));
    const int64_t bytes = static_cast<int64_t>((vectors_fit ? 0 : line) + (table_fits ? 0 : table));
    int64_t blocks = std::max<int64_t>(resident, 1) * cuda->multiprocessors;
    if (bytes > 0) blocks = std::min(blocks, std::max<int64_t>(1, most_bytes / bytes));
    c->blocks = static_cast<int>(std::min<int64_t>(blocks, m->desc.batch_size));
    c->scratch.vectors = nullptr;
    c->scratch.tables = nullptr;
}

/* Cuts the device's block; with base null it only measures. */
void batch_cut_device(gpuopt__arena *arena, const gpuopt_simplex_batch *m, CudaBatch *c) {
    gpuopt__simplex_batch_set *s = &c->set;
    const gpuopt__simplex_batch_set &host = m->set;
    const int32_t *const pattern[] = {host.row_start, host.row_col, host.row_at,
                                      host.col_start, host.col_row, host.col_at};
    const int64_t lengths[] = {int64_t{host.rows} + 1, host.nonzeros, host.nonzeros,
                               int64_t{host.cols} + 1, host.nonzeros, host.nonzeros};
    static_assert(sizeof pattern / sizeof *pattern == 6, "three arrays in either direction");
    *s = host;
    for (int k = 0; k < 6; k++) c->lines[k] = static_cast<int32_t *>(gpuopt__cut(arena, lengths[k], sizeof(int32_t)));
    s->row_start = c->lines[0], s->row_col = c->lines[1], s->row_at = c->lines[2];
    s->col_start = c->lines[3], s->col_row = c->lines[4], s->col_at = c->lines[5];
    s->progress = static_cast<gpuopt__simplex_batch_progress *>(
        gpuopt__cut(arena, m->desc.batch_size, sizeof(gpuopt__simplex_batch_progress)));
    c->scratch.next = static_cast<int *>(gpuopt__cut(arena, 1, sizeof(int)));
    c->bad = static_cast<unsigned long long *>(gpuopt__cut(arena, 1, sizeof(unsigned long long)));
    const bool vectors_fit = c->shared > 0 || c->scratch.vector_bytes == 0;
    const bool table_fits = c->shared >= static_cast<size_t>(c->scratch.vector_bytes) +
                                             sizeof(double) * static_cast<size_t>(c->scratch.table_entries);
    if (!vectors_fit)
        c->scratch.vectors = static_cast<char *>(gpuopt__cut(arena, c->blocks * c->scratch.vector_bytes, 1));
    if (!table_fits)
        c->scratch.tables =
            static_cast<double *>(gpuopt__cut(arena, c->blocks * c->scratch.table_entries, sizeof(double)));
    gpuopt__simplex_batch_cut_set(arena, m->desc.batch_size, s);
    c->result_bytes = arena->used - static_cast<uint64_t>(reinterpret_cast<char *>(s->objective) - arena->base);
}

gpuopt_status cuda_many_plan(const gpuopt_simplex_batch *m, gpuopt_memory_plan *plan) {
    gpuopt__arena device = {nullptr, 0}, host = {nullptr, 0};
    CudaBatch draft(m->context);
    batch_set_shape(m, &draft);
    batch_cut_device(&device, m, &draft);
    gpuopt__cut(&host, 1, sizeof(CudaBatch));
    plan->device_bytes += device.used;
    plan->host_bytes += host.used;
    return GPUOPT_OK;
}

void cuda_many_destroy(gpuopt_simplex_batch *m) {
    CudaBatch *c = cuda_many(m);
    DeviceScope scope(m->context);
    cudaStreamSynchronize(c->stream());
    gpuopt__release(m->context, GPUOPT_DEVICE, c->device);
    gpuopt__release(m->context, GPUOPT_HOST, c);
}

gpuopt_status batch_open(gpuopt_simplex_batch *m, CudaBatch *c) {
    gpuopt__arena arena = {nullptr, 0};
    gpuopt_status status = load_kernels(m->context, solve_many, check_many);
    if (status) return status;
    batch_set_shape(m, c);
    batch_cut_device(&arena, m, c);
    status = gpuopt__take_block(m->context, GPUOPT_DEVICE, &arena);
    if (status) return status;
    c->device = arena.base;
    batch_cut_device(&arena, m, c);
    const gpuopt__simplex_batch_set &host = m->set;
    const int32_t *const pattern[] = {host.row_start, host.row_col, host.row_at,
                                      host.col_start, host.col_row, host.col_at};
    const int64_t lengths[] = {int64_t{host.rows} + 1, host.nonzeros, host.nonzeros,
                               int64_t{host.cols} + 1, host.nonzeros, host.nonzeros};
    for (int k = 0; k < 6 && !status; k++)
        status = c->copy(c->lines[k], pattern[k], sizeof(int32_t) * static_cast<size_t>(lengths[k]));
    return status;
}

gpuopt_status cuda_many_create(gpuopt_simplex_batch *m) {
    DeviceScope scope(m->context);
    gpuopt__arena arena = {nullptr, 0};
    void *memory;
    gpuopt__cut(&arena, 1, sizeof(CudaBatch));
    gpuopt_status status = gpuopt__allocate(m->context, GPUOPT_HOST, arena.used, &memory);
    if (status) return status;
    m->engine = new (memory) CudaBatch(m->context);
    status = batch_open(m, cuda_many(m));
    if (status) cuda_many_destroy(m);
    return status;
}

/* ---- Programs ---- */

gpuopt_status cuda_many_load(gpuopt_simplex_batch *m, gpuopt_memory_space, const double *const *from, int64_t *bad) {
    CudaBatch *c = cuda_many(m);
    DeviceScope scope(m->context);
    gpuopt__simplex_batch_set &s = c->set;
    unsigned long long found = 0;
    gpuopt_status status = GPUOPT_OK;
    int64_t most = int64_t{m->set.count} * s.rows;
    s.count = m->set.count;
    for (int k = 0; k < GPUOPT__SIMPLEX_BATCH_ARRAYS && !status; k++) {
        s.given[k] = m->set.given[k];
        const int64_t count = gpuopt__simplex_batch_loaded(&s, k);
        most = std::max(most, count);
        status = c->copy(s.number[k], from[k], sizeof(double) * static_cast<size_t>(count));
    }
    if (!status) status = c->clear(s.progress, 0, sizeof *s.progress * static_cast<size_t>(s.count));
    if (!status) status = c->clear(s.objective, 0, static_cast<size_t>(c->result_bytes));
    if (!status) status = c->clear(c->bad, 0xff, sizeof *c->bad);
    if (status) return status;
    const int64_t blocks = (most + MANY_CHECK_THREADS - 1) / MANY_CHECK_THREADS;
    c->launch(
        {std::max<int64_t>(1, std::min<int64_t>(blocks, 8 * cuda_of(m->context)->multiprocessors)), MANY_CHECK_THREADS},
        check_many, s, c->bad);
    status = c->launched("checking programs");
    if (!status) status = c->copy(&found, c->bad, sizeof found);
    if (!status) status = c->wait("checking programs");
    *bad = status || found == ~0ull ? -1 : static_cast<int64_t>(found);
    return status;
}

gpuopt_status cuda_many_run(gpuopt_simplex_batch *m) {
    CudaBatch *c = cuda_many(m);
    DeviceScope scope(m->context);
    gpuopt__simplex_batch_set &s = c->set;
    s.most = m->set.most;
    gpuopt_status status = c->clear(c->scratch.next, 0, sizeof *c->scratch.next);
    if (status) return status;
    c->launch({std::min(c->blocks, s.count), c->threads, c->shared}, solve_many, s, c->scratch);
    status = c->launched("solving programs");
    if (!status) status = c->copy(m->set.progress, s.progress, sizeof *s.progress * static_cast<size_t>(s.count));
    return status ? status : c->wait("solving programs");
}

gpuopt_status cuda_many_get(gpuopt_simplex_batch *m, const gpuopt__simplex_batch_wanted *wanted) {
    CudaBatch *c = cuda_many(m);
    DeviceScope scope(m->context);
    const gpuopt__simplex_batch_set &s = c->set;
    const gpuopt_simplex_batch_report &r = wanted->report;
    gpuopt_status status = GPUOPT_OK;
    auto give = [&](auto *to, const auto *from, int64_t length) {
        if (!status && to)
            status =
                c->copy(to, from + wanted->first * length, sizeof *from * static_cast<size_t>(wanted->count * length));
    };
    give(r.objective, s.objective, 1);
    give(r.x, s.x, s.cols), give(r.ray, s.ray, s.cols), give(r.ray_low, s.ray_low, s.cols);
    give(r.dual, s.dual_y, s.rows), give(r.farkas, s.farkas, s.rows), give(r.farkas_low, s.farkas_low, s.rows);
    give(r.basis, s.status, int64_t{s.rows} + s.cols);
    return status ? status : c->wait("reading results");
}

#define GPUOPT__SIMPLEX_BATCH_CUDA_TABLE(SET) \
    SET(plan, cuda_many_plan)                 \
    SET(create, cuda_many_create)             \
    SET(destroy, cuda_many_destroy)           \
    SET(load, cuda_many_load)                 \
    SET(run, cuda_many_run)                   \
    SET(get, cuda_many_get)

GPUOPT__TABLE(gpuopt__simplex_batch_backend, batch_table, GPUOPT__SIMPLEX_BATCH_CUDA_TABLE);

} // namespace

#endif /* GPUOPT_CUDA_SIMPLEX_BATCH_CALLS_CUH */
