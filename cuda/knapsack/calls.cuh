/* SPDX-License-Identifier: MIT
 *
 * Knapsack on the GPU: what a handle holds, its memory, and the loop of steps. Each step is a launch, and the host,
 * which decides what the next one takes, waits for what it found. While a search holds no more than a short list, its
 * nodes are in host memory and the CPU expands them: that is quicker than a launch.
 */
#ifndef GPUOPT_CUDA_KNAPSACK_CALLS_CUH
#define GPUOPT_CUDA_KNAPSACK_CALLS_CUH

#include <algorithm>

#include "../../gpuopt_impl/knapsack/backend.h"
#include "../../gpuopt_impl/knapsack/cpu_step.h"
#include "../common/context.cuh"
#include "kernel.cuh"

namespace {

constexpr int64_t knapsack_short = 1024; /* nodes of a list that the CPU expands in about the time of a launch */
constexpr int64_t knapsack_blocks = 3;   /* a multiprocessor */

struct CudaKnapsack {
    gpuopt_knapsack head;
    gpuopt__knapsack_pool pool, host_pool; /* the second: both searches' short lists, or (HYBRID) everything */
    gpuopt__knapsack_items table;          /* device */
    KnapsackShared shared;
    uint64_t *mark, *host_mark; /* HYBRID: a bit for each child of a step */
    void *device;
    bool all_on_host; /* HYBRID, or a pool that is hardly more than a short list needs */
    unsigned tickets; /* handed out so far */
    unsigned long long epoch;

    cudaStream_t stream() const { return cuda_of(head.context)->stream; }
    bool hybrid() const { return head.kind == GPUOPT_SEARCH_HYBRID; }
    gpuopt_status check(cudaError_t error, const char *what) const { return cuda_status(head.context, error, what); }
    gpuopt_status copy(void *to, const void *from, size_t bytes) const {
        return check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream()), "copying knapsack nodes");
    }
    gpuopt_status wait() const { return check(cudaStreamSynchronize(stream()), "waiting for a knapsack search"); }
};

CudaKnapsack *cuda_knapsack(gpuopt_knapsack *k) { return reinterpret_cast<CudaKnapsack *>(k); }

/* ---- Memory ---- */

/* Nodes that a search may keep in host memory: a short list's children, and as much free as any search needs. */
int64_t knapsack_host_room(const gpuopt_knapsack_desc &d) {
    return d.search == GPUOPT_SEARCH_HYBRID ? d.pool : std::min(d.pool, 4 * knapsack_short + 2 * int64_t{d.items} + 16);
}

int64_t knapsack_host_nodes(const gpuopt_knapsack_desc &d) {
    int64_t room = knapsack_host_room(d);
    return room < d.pool ? 2 * room : room; /* a pool that is this small is in host memory altogether */
}

/* Whether some of the steps are the device's. */
bool knapsack_needs_device(const gpuopt_knapsack_desc &d) {
    return d.search == GPUOPT_SEARCH_HYBRID ? d.pool > d.hybrid_threshold : knapsack_host_room(d) < d.pool;
}

int64_t knapsack_tiles(int64_t pool) { return (pool + KNAPSACK_TILE - 1) / KNAPSACK_TILE + 1; }

void cut_knapsack_pool(gpuopt__arena *arena, int64_t nodes, gpuopt__knapsack_pool *pool) {
    pool->room = static_cast<int64_t *>(gpuopt__cut(arena, nodes, sizeof(int64_t)));
    pool->profit = static_cast<uint64_t *>(gpuopt__cut(arena, nodes, sizeof(uint64_t)));
    pool->decisions = static_cast<uint32_t *>(gpuopt__cut(arena, nodes, sizeof(uint32_t)));
}

uint64_t cut_knapsack_device(const gpuopt_context *context, const gpuopt_knapsack_desc &d, void *base,
                             CudaKnapsack *k) {
    gpuopt__arena arena = {static_cast<char *>(base), 0};
    const int64_t n = d.items;
    cut_knapsack_pool(&arena, d.pool, &k->pool);
    k->table.weight_sum = static_cast<uint64_t *>(gpuopt__cut(&arena, n + 1, sizeof(uint64_t)));
    k->table.profit_sum = static_cast<uint64_t *>(gpuopt__cut(&arena, n + 1, sizeof(uint64_t)));
    k->table.weight = static_cast<int64_t *>(gpuopt__cut(&arena, n, sizeof(int64_t)));
    k->table.profit = static_cast<int64_t *>(gpuopt__cut(&arena, n, sizeof(int64_t)));
    k->table.reach = static_cast<int32_t *>(gpuopt__cut(&arena, n + 1, sizeof(int32_t)));
    k->shared.block = static_cast<KnapsackBlockFound *>(
        gpuopt__cut(&arena, knapsack_blocks * cuda_of(context)->multiprocessors, sizeof(KnapsackBlockFound)));
    k->shared.tile = static_cast<unsigned long long *>(gpuopt__cut(&arena, knapsack_tiles(d.pool), sizeof(uint64_t)));
    k->shared.ticket = static_cast<unsigned *>(gpuopt__cut(&arena, 2, sizeof(unsigned)));
    k->shared.done = k->shared.ticket + 1;
    k->mark = static_cast<uint64_t *>(gpuopt__cut(&arena, d.search == GPUOPT_SEARCH_HYBRID ? d.pool / 32 + 1 : 0, 8));
    return arena.used;
}

uint64_t cut_knapsack_host(const gpuopt_knapsack_desc &d, void *base, CudaKnapsack *k) {
    gpuopt__arena arena = {static_cast<char *>(base), 0};
    gpuopt__cut(&arena, 1, sizeof *k);
    cut_knapsack_pool(&arena, knapsack_host_nodes(d), &k->host_pool);
    k->host_mark =
        static_cast<uint64_t *>(gpuopt__cut(&arena, d.search == GPUOPT_SEARCH_HYBRID ? d.pool / 32 + 1 : 0, 8));
    return arena.used;
}

void cuda_knapsack_size(const gpuopt_context *context, const gpuopt_knapsack_desc *desc, gpuopt_memory_plan *plan) {
    CudaKnapsack k;
    plan->host_bytes += cut_knapsack_host(*desc, nullptr, &k);
    if (knapsack_needs_device(*desc)) plan->device_bytes += cut_knapsack_device(context, *desc, nullptr, &k);
}

void cuda_knapsack_destroy(gpuopt_knapsack *knapsack) {
    CudaKnapsack *k = cuda_knapsack(knapsack);
    const gpuopt_context *context = knapsack->context;
    DeviceScope scope(context);
    cudaStreamSynchronize(k->stream());
    if (k->shared.found) cudaFreeHost(k->shared.found);
    gpuopt__release(context, GPUOPT_DEVICE, k->device);
    gpuopt__release(context, GPUOPT_HOST, k);
}

gpuopt_status knapsack_allocate(CudaKnapsack *k, const gpuopt_knapsack_desc &d) {
    const gpuopt_context *context = k->head.context;
    if (!knapsack_needs_device(d)) return GPUOPT_OK;
    uint64_t bytes = cut_knapsack_device(context, d, nullptr, k);
    gpuopt_status status = gpuopt__allocate(context, GPUOPT_DEVICE, bytes, &k->device);
    if (status) return status;
    cut_knapsack_device(context, d, k->device, k);
    status = k->check(cudaHostAlloc(reinterpret_cast<void **>(&k->shared.found), sizeof *k->shared.found,
                                    cudaHostAllocMapped | cudaHostAllocPortable),
                      "pinned host memory");
    if (status) return status;
    status = k->check(
        cudaMemsetAsync(k->shared.tile, 0, sizeof(uint64_t) * static_cast<size_t>(knapsack_tiles(d.pool)), k->stream()),
        "clearing a knapsack's tiles");
    return status ? status
                  : k->check(cudaMemsetAsync(k->shared.ticket, 0, 2 * sizeof(unsigned), k->stream()),
                             "clearing a knapsack's counters");
}

gpuopt_status cuda_knapsack_create(gpuopt_context *context, const gpuopt_knapsack_desc *desc,
                                   gpuopt_knapsack **knapsack) {
    DeviceScope scope(context);
    CudaKnapsack draft;
    void *memory;
    gpuopt_status status = gpuopt__allocate(context, GPUOPT_HOST, cut_knapsack_host(*desc, nullptr, &draft), &memory);
    if (status) return status;
    CudaKnapsack *k = new (memory) CudaKnapsack();
    cut_knapsack_host(*desc, memory, k);
    k->head.context = context;
    k->all_on_host = knapsack_host_room(*desc) == desc->pool;
    k->head.host_room = k->all_on_host ? 0 : knapsack_host_room(*desc);
    status = knapsack_allocate(k, *desc);
    if (status) cuda_knapsack_destroy(&k->head);
    else *knapsack = &k->head;
    return status;
}

/* The tables, as the host has them now. */
gpuopt_status cuda_knapsack_loaded(gpuopt_knapsack *knapsack) {
    CudaKnapsack *k = cuda_knapsack(knapsack);
    if (!k->device) return GPUOPT_OK;
    DeviceScope scope(knapsack->context);
    const gpuopt__knapsack_view &v = knapsack->search.view;
    const size_t n = static_cast<size_t>(v.last);
    const struct {
        const void *to, *from;
        size_t bytes;
    } copies[] = {{k->table.weight_sum, v.table.weight_sum, (n + 1) * sizeof(uint64_t)},
                  {k->table.profit_sum, v.table.profit_sum, (n + 1) * sizeof(uint64_t)},
                  {k->table.weight, v.table.weight, n * sizeof(int64_t)},
                  {k->table.profit, v.table.profit, n * sizeof(int64_t)},
                  {k->table.reach, v.table.reach, (n + 1) * sizeof(int32_t)}};
    for (const auto &c : copies) {
        gpuopt_status status = c.bytes ? k->copy(const_cast<void *>(c.to), c.from, c.bytes) : GPUOPT_OK;
        if (status) return status;
    }
    return k->wait();
}

/* ---- Where nodes are ---- */

/* `count` nodes between the host's and the device's arrays; places fall by one from `to` on where step is -1. */
gpuopt_status knapsack_copy(const CudaKnapsack *k, const gpuopt__knapsack_pool &to, int64_t to_place,
                            const gpuopt__knapsack_pool &from, int64_t from_place, int64_t step, int64_t count) {
    const size_t nodes = static_cast<size_t>(count);
    if (count == 0) return GPUOPT_OK;
    if (step < 0) {
        to_place -= count - 1;
        from_place -= count - 1;
    }
    gpuopt_status status = k->copy(to.room + to_place, from.room + from_place, nodes * sizeof(int64_t));
    if (!status) status = k->copy(to.profit + to_place, from.profit + from_place, nodes * sizeof(uint64_t));
    if (!status) status = k->copy(to.decisions + to_place, from.decisions + from_place, nodes * sizeof(uint32_t));
    return status;
}

/* Moves a search's only list between the device and the host. */
gpuopt_status knapsack_move(CudaKnapsack *k, gpuopt__knapsack_search *s, bool to_host) {
    const int side = s->list[0].side, step = side ? -1 : 1;
    const int64_t from = gpuopt__knapsack_place(s, side, 0, 0);
    if (to_host) gpuopt__knapsack_go_to_host(&k->head, s);
    else gpuopt__knapsack_go_home(s);
    gpuopt_status status = knapsack_copy(k, to_host ? k->host_pool : k->pool, gpuopt__knapsack_place(s, side, 0, 0),
                                         to_host ? k->pool : k->host_pool, from, step, s->list[0].count);
    return status ? status : k->wait();
}

/* Puts the nodes where the next step is quicker. */
gpuopt_status knapsack_settle(CudaKnapsack *k, gpuopt__knapsack_search *s) {
    if (s->depth != 1 || k->all_on_host) return GPUOPT_OK;
    if (s->on_host) return s->list[0].count > knapsack_short ? knapsack_move(k, s, false) : GPUOPT_OK;
    return s->list[0].count <= knapsack_short / 2 && s->home_room >= k->head.host_room ? knapsack_move(k, s, true)
                                                                                       : GPUOPT_OK;
}

constexpr int64_t knapsack_chunk = 512;

/* Nodes on the device, through arrays on the stack. */
template <class Visit>
gpuopt_status knapsack_chunks(CudaKnapsack *k, int64_t at, int step, int64_t count, bool put, Visit visit) {
    int64_t room[knapsack_chunk];
    uint64_t profit[knapsack_chunk];
    uint32_t decisions[knapsack_chunk];
    const gpuopt__knapsack_pool chunk = {room, profit, decisions};
    gpuopt_status status = GPUOPT_OK;
    for (int64_t done = 0; done < count && !status; done += knapsack_chunk) {
        const int64_t part = std::min(count - done, knapsack_chunk), low = at + done * step - (step < 0 ? part - 1 : 0);
        if (put) visit(chunk, done, part);
        status =
            put ? knapsack_copy(k, k->pool, low, chunk, 0, 1, part) : knapsack_copy(k, chunk, 0, k->pool, low, 1, part);
        if (!status) status = k->wait();
        if (!put && !status) visit(chunk, done, part);
    }
    return status;
}

bool knapsack_is_on_host(const CudaKnapsack *k, const gpuopt__knapsack_search *s) {
    return k->all_on_host || s->on_host;
}

gpuopt_status cuda_knapsack_get(gpuopt_knapsack *knapsack, const gpuopt__knapsack_search *s, int64_t at, int step,
                                int64_t count, gpuopt__knapsack_node *node) {
    CudaKnapsack *k = cuda_knapsack(knapsack);
    DeviceScope scope(knapsack->context);
    if (knapsack_is_on_host(k, s)) {
        gpuopt__knapsack_read(&k->host_pool, at, step, count, node);
        return GPUOPT_OK;
    }
    return knapsack_chunks(k, at, step, count, false,
                           [=](const gpuopt__knapsack_pool &chunk, int64_t done, int64_t part) {
                               gpuopt__knapsack_read(&chunk, step < 0 ? part - 1 : 0, step, part, node + done);
                           });
}

gpuopt_status cuda_knapsack_put(gpuopt_knapsack *knapsack, const gpuopt__knapsack_search *s, int64_t at, int step,
                                int64_t count, const gpuopt__knapsack_node *node) {
    CudaKnapsack *k = cuda_knapsack(knapsack);
    DeviceScope scope(knapsack->context);
    if (knapsack_is_on_host(k, s)) {
        gpuopt__knapsack_store(&k->host_pool, at, step, count, node);
        return GPUOPT_OK;
    }
    return knapsack_chunks(k, at, step, count, true,
                           [=](const gpuopt__knapsack_pool &chunk, int64_t done, int64_t part) {
                               gpuopt__knapsack_store(&chunk, step < 0 ? part - 1 : 0, step, part, node + done);
                           });
}

/* ---- Steps ---- */

gpuopt_status knapsack_launched(const CudaKnapsack *k) {
    return k->check(cudaGetLastError(), "launching a knapsack's step");
}

gpuopt_status knapsack_await(const CudaKnapsack *k, gpuopt__knapsack_found *found) {
    gpuopt_status status = k->wait();
    if (!status) *found = k->shared.found->found;
    return status;
}

unsigned knapsack_grid(const CudaKnapsack *k, int64_t needed) {
    return static_cast<unsigned>(std::min(needed, knapsack_blocks * cuda_of(k->head.context)->multiprocessors));
}

/* A step on the device. mark: only which children stay. */
gpuopt_status knapsack_device_step(CudaKnapsack *k, const gpuopt__knapsack_search *s, const gpuopt__knapsack_job &job,
                                   bool mark, gpuopt__knapsack_found *found) {
    KnapsackStep p;
    p.view = s->view;
    p.view.table = k->table;
    p.job = job;
    p.pool = k->pool;
    p.shared = k->shared;
    p.ratio = s->ratio;
    p.tiles = (2 * job.count + KNAPSACK_TILE - 1) / KNAPSACK_TILE;
    p.mark = reinterpret_cast<unsigned *>(k->mark);
    p.first_ticket = k->tickets;
    k->epoch = (k->epoch + 1) % KNAPSACK_EPOCHS;
    if (k->epoch == 0) { /* words of the first epochs are still there */
        gpuopt_status status =
            k->check(cudaMemsetAsync(k->shared.tile, 0,
                                     sizeof(uint64_t) * static_cast<size_t>(knapsack_tiles(k->head.pool)), k->stream()),
                     "clearing a knapsack's tiles");
        if (status) return status;
        k->epoch = 1;
    }
    p.epoch = k->epoch << 40;
    const unsigned grid = knapsack_grid(k, p.tiles);
    if (mark) knapsack_expand<false, true><<<grid, KNAPSACK_THREADS, 0, k->stream()>>>(p);
    else if (s->dominance) knapsack_expand<true, false><<<grid, KNAPSACK_THREADS, 0, k->stream()>>>(p);
    else knapsack_expand<false, false><<<grid, KNAPSACK_THREADS, 0, k->stream()>>>(p);
    const gpuopt_status status = knapsack_launched(k);
    if (status) return status;
    k->tickets += static_cast<unsigned>(p.tiles) + grid; /* each block draws one that there is no tile for */
    return knapsack_await(k, found);
}

/* The paper's step for a long list: it goes to the device, which branches and computes bounds; what stays is picked out
 * on the host. */
gpuopt_status knapsack_hybrid_step(CudaKnapsack *k, const gpuopt__knapsack_search *s, const gpuopt__knapsack_job &job,
                                   gpuopt__knapsack_found *found) {
    gpuopt_status status = knapsack_copy(k, k->pool, job.from, k->host_pool, job.from, job.from_step, job.count);
    if (!status) status = knapsack_device_step(k, s, job, true, found);
    if (!status) status = k->copy(k->host_mark, k->mark, static_cast<size_t>(2 * job.count + 63) / 64 * 8);
    if (!status) status = k->wait();
    if (!status)
        gpuopt__knapsack_part(s, &job, &k->host_pool, job.count, 0, 2 * job.count, GPUOPT__KNAPSACK_COPY, k->host_mark,
                              job.to);
    return status;
}

gpuopt_status knapsack_step(CudaKnapsack *k, const gpuopt__knapsack_search *s, const gpuopt__knapsack_job &job,
                            gpuopt__knapsack_found *found) {
    if (!knapsack_is_on_host(k, s)) return knapsack_device_step(k, s, job, false, found);
    if (k->hybrid() && !s->dominance && job.count > k->head.hybrid_threshold)
        return knapsack_hybrid_step(k, s, job, found);
    *found = gpuopt__knapsack_step(s, &job, &k->host_pool);
    return GPUOPT_OK;
}

/* Completes the deepest list. */
gpuopt_status knapsack_complete_list(CudaKnapsack *k, gpuopt__knapsack_search *s) {
    if (knapsack_is_on_host(k, s)) {
        gpuopt__knapsack_complete(s, &k->host_pool);
        return GPUOPT_OK;
    }
    KnapsackCompletion p;
    gpuopt__knapsack_found found;
    p.search = *s;
    p.search.view.table = k->table;
    p.completion = gpuopt__knapsack_completion_of(s);
    p.pool = k->pool;
    p.shared = k->shared;
    const unsigned grid = knapsack_grid(k, (s->levels + KNAPSACK_THREADS - 1) / KNAPSACK_THREADS);
    knapsack_complete<<<grid, KNAPSACK_THREADS, 0, k->stream()>>>(p);
    gpuopt_status status = knapsack_launched(k);
    if (!status) status = knapsack_await(k, &found);
    if (status || found.most <= s->lower) return status;
    gpuopt__knapsack_improve(s, p.completion.list.level, p.completion.list.decided,
                             static_cast<int32_t>(k->shared.found->rank), &found.best, found.most);
    return GPUOPT_OK;
}

gpuopt_status cuda_knapsack_run(gpuopt_knapsack *knapsack, gpuopt__knapsack_search *s, int64_t expanded,
                                int64_t steps) {
    CudaKnapsack *k = cuda_knapsack(knapsack);
    DeviceScope scope(knapsack->context);
    gpuopt_status status = GPUOPT_OK;
    while (!status && s->expanded < expanded && s->steps < steps) {
        gpuopt__knapsack_job job;
        gpuopt__knapsack_found found;
        status = knapsack_settle(k, s);
        if (status || !gpuopt__knapsack_next(s, &job)) break;
        status = knapsack_step(k, s, job, &found);
        if (status) break;
        gpuopt__knapsack_apply(s, &job, &found);
        if (found.children > 0 && gpuopt__knapsack_completes(s)) status = knapsack_complete_list(k, s);
    }
    return status;
}

const gpuopt__knapsack_backend cuda_knapsack_table = {cuda_knapsack_size,   cuda_knapsack_create, cuda_knapsack_destroy,
                                                      cuda_knapsack_loaded, cuda_knapsack_run,    cuda_knapsack_get,
                                                      cuda_knapsack_put};

} // namespace

#endif /* GPUOPT_CUDA_KNAPSACK_CALLS_CUH */
