/* SPDX-License-Identifier: MIT
 *
 * Knapsack on the GPU: the contents of a handle, and its memory.
 */
#ifndef GPUOPT_CUDA_KNAPSACK_HANDLE_CUH
#define GPUOPT_CUDA_KNAPSACK_HANDLE_CUH

#include <algorithm>

#include "../../gpuopt_impl/knapsack/model/handle.h"
#include "../common/peers.cuh"
#include "../common/queue.cuh"
#include "kernel.cuh"

namespace {

constexpr int64_t knapsack_short = 1024; /* the CPU expands a list of this length in about the time of a launch */
constexpr int64_t knapsack_blocks = 3;   /* per multiprocessor */
constexpr int64_t knapsack_gather_blocks = 4096;
constexpr int64_t knapsack_at_once = 65536; /* nodes copied between host and device before a wait */

struct CudaKnapsack {
    gpuopt_knapsack head;
    Queue queue;
    gpuopt__knapsack_pool pool;      /* device */
    gpuopt__knapsack_pool host_pool; /* short lists of both searches; with HYBRID the whole pool */
    gpuopt__knapsack_items table;    /* device */
    KnapsackShared shared;
    gpuopt__knapsack_pool window; /* [head.chunk] nodes on their way to or from the device, in locked pages */
    char *pages;                  /* the locked pages; NULL: nodes are only in host memory */
    bool locked;
    uint64_t *mark, *host_mark; /* HYBRID: a bit for each child of a step */
    void *device;
    uint64_t cleared; /* bytes from shared.tile on that begin as 0 */
    bool all_on_host; /* HYBRID, or a pool hardly larger than a short list needs */
    bool open;        /* the gate that other ranks enter to copy nodes */
    PeerKey gate;
    unsigned long long epoch;

    bool hybrid() const { return head.kind == GPUOPT_SEARCH_HYBRID; }
};

CudaKnapsack *cuda_knapsack(gpuopt_knapsack *k) { return reinterpret_cast<CudaKnapsack *>(k); }

/* ---- Sizes ---- */

/* Nodes that one search may keep in host memory: the children of a short list, and the reserve that any search
 * needs. */
int64_t knapsack_host_capacity(const gpuopt_knapsack_desc &d) {
    return d.search == GPUOPT_SEARCH_HYBRID ? d.pool : std::min(d.pool, 4 * knapsack_short + 2 * int64_t{d.items} + 16);
}

int64_t knapsack_host_nodes(const gpuopt_knapsack_desc &d) {
    int64_t nodes = knapsack_host_capacity(d);
    return nodes < d.pool ? 2 * nodes : nodes; /* a pool this small stays in host memory entirely */
}

/* Whether some steps run on the device. */
bool knapsack_needs_device(const gpuopt_knapsack_desc &d) {
    return d.search == GPUOPT_SEARCH_HYBRID ? d.pool > d.hybrid_threshold : knapsack_host_capacity(d) < d.pool;
}

/* Of the children of all nodes. */
int64_t knapsack_tiles(int64_t pool) { return (2 * pool + KNAPSACK_TILE - 1) / KNAPSACK_TILE + 1; }

/* ---- Memory ---- */

void cut_knapsack_pool(gpuopt__arena *arena, int64_t nodes, gpuopt__knapsack_pool *pool) {
    pool->residual = static_cast<int64_t *>(gpuopt__cut(arena, nodes, sizeof(int64_t)));
    pool->profit = static_cast<uint64_t *>(gpuopt__cut(arena, nodes, sizeof(uint64_t)));
    pool->decisions = static_cast<uint32_t *>(gpuopt__cut(arena, nodes, sizeof(uint32_t)));
}

uint64_t cut_knapsack_device(const gpuopt_context *context, const gpuopt_knapsack_desc &d, void *base,
                             CudaKnapsack *k) {
    gpuopt__arena arena = {static_cast<char *>(base), 0};
    const int64_t n = d.items;
    /* In the order of the tables in host memory, so that one copy sends all: see gpuopt__knapsack_cut(). */
    k->table.weight = static_cast<int64_t *>(gpuopt__cut(&arena, n, sizeof(int64_t)));
    k->table.profit = static_cast<int64_t *>(gpuopt__cut(&arena, n, sizeof(int64_t)));
    k->table.weight_sum = static_cast<uint64_t *>(gpuopt__cut(&arena, n + 1, sizeof(uint64_t)));
    k->table.profit_sum = static_cast<uint64_t *>(gpuopt__cut(&arena, n + 1, sizeof(uint64_t)));
    k->table.reach = static_cast<int32_t *>(gpuopt__cut(&arena, n + 1, sizeof(int32_t)));
    /* These begin as 0. */
    const uint64_t first = arena.used;
    k->shared.tile = static_cast<unsigned long long *>(gpuopt__cut(&arena, knapsack_tiles(d.pool), sizeof(uint64_t)));
    k->shared.ticket = static_cast<unsigned *>(gpuopt__cut(&arena, 2, sizeof(unsigned)));
    k->shared.done = k->shared.ticket + 1;
    k->shared.block = static_cast<KnapsackBlockFound *>(
        gpuopt__cut(&arena, knapsack_blocks * cuda_of(context)->multiprocessors, sizeof(KnapsackBlockFound)));
    k->cleared = arena.used - first;
    cut_knapsack_pool(&arena, d.pool, &k->pool);
    k->mark = static_cast<uint64_t *>(gpuopt__cut(&arena, d.search == GPUOPT_SEARCH_HYBRID ? d.pool / 32 + 1 : 0, 8));
    return arena.used;
}

/* Bytes of the window. */
size_t knapsack_window(const CudaKnapsack *k) {
    gpuopt__arena arena = {nullptr, 0};
    gpuopt__knapsack_pool window;
    cut_knapsack_pool(&arena, k->head.chunk, &window);
    return static_cast<size_t>(arena.used);
}

uint64_t cut_knapsack_host(const gpuopt_knapsack_desc &d, void *base, CudaKnapsack *k) {
    gpuopt__arena arena = {static_cast<char *>(base), 0};
    gpuopt__cut(&arena, 1, sizeof *k);
    const bool both = knapsack_host_capacity(d) < d.pool; /* nodes may be on either side */
    k->head.chunk = both ? std::min(d.pool, knapsack_at_once) : GPUOPT__KNAPSACK_CHUNK;
    k->head.staging = static_cast<gpuopt__knapsack_node *>(gpuopt__cut(&arena, k->head.chunk, sizeof *k->head.staging));
    k->pages = nullptr;
    if (both) k->pages = static_cast<char *>(gpuopt__cut(&arena, 1, bytes_for_pages(knapsack_window(k))));
    cut_knapsack_pool(&arena, knapsack_host_nodes(d), &k->host_pool);
    k->host_mark =
        static_cast<uint64_t *>(gpuopt__cut(&arena, d.search == GPUOPT_SEARCH_HYBRID ? d.pool / 32 + 1 : 0, 8));
    return arena.used;
}

/* Loads the kernels that the handle may launch. The search that recovers items has dominance; with HYBRID it runs on
 * the CPU. */
gpuopt_status knapsack_load_kernels(const gpuopt_context *context, const gpuopt_knapsack_desc &d) {
    if (d.search == GPUOPT_SEARCH_HYBRID) return load_kernels(context, knapsack_expand<false, true>);
    gpuopt_status status = load_kernels(context, knapsack_expand<true, false>, knapsack_complete, knapsack_gather);
    return status || d.search == GPUOPT_SEARCH_DOMINANCE ? status
                                                         : load_kernels(context, knapsack_expand<false, false>);
}

/* Allocates the device memory and clears the parts that the kernels expect to be 0. */
gpuopt_status knapsack_allocate(CudaKnapsack *k, const gpuopt_knapsack_desc &d) {
    const gpuopt_context *context = k->head.context;
    if (!knapsack_needs_device(d)) return GPUOPT_OK;
    uint64_t bytes = cut_knapsack_device(context, d, nullptr, k);
    gpuopt_status status = gpuopt__allocate(context, GPUOPT_DEVICE, bytes, &k->device);
    if (status) return status;
    cut_knapsack_device(context, d, k->device, k);
    if (k->pages) {
        k->pages = first_page(k->pages);
        gpuopt__arena window = {k->pages, 0};
        cut_knapsack_pool(&window, k->head.chunk, &k->window);
        status = lock_pages(context, k->pages, whole_pages(knapsack_window(k)), &k->locked);
    }
    if (!status) status = take_pinned(context, &k->shared.found);
    if (!status) status = knapsack_load_kernels(context, d);
    return status ? status : k->queue.clear(k->shared.tile, 0, k->cleared);
}

} // namespace

#endif /* GPUOPT_CUDA_KNAPSACK_HANDLE_CUH */
