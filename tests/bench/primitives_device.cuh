/* SPDX-License-Identifier: MIT
 *
 * primitives_bench: selecting and merging long lists in device memory.
 */
#ifndef TESTS_BENCH_PRIMITIVES_DEVICE_CUH
#define TESTS_BENCH_PRIMITIVES_DEVICE_CUH

#include <cub/cub.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include "cuda/knapsack/kernel.cuh"
#include "tests/bench/primitives_common.cuh"

namespace {

using Node = gpuopt__knapsack_node;
using Pool = gpuopt__knapsack_pool;

Pool new_pool(int64_t nodes) {
    return {on_device<int64_t>(nodes), on_device<uint64_t>(nodes), on_device<uint32_t>(nodes)};
}

/* A search for a knapsack of `items` items, as after `level` decisions of a search without dominance. Its nodes are
 * drawn, and `lower` is such that some children stay and some do not. */
struct Search {
    enum { items = 200, level = 24 };
    KnapsackStep step;
    Search(int64_t nodes, int multiprocessors);
};

__global__ void draw_nodes(KnapsackStep p, int64_t capacity) {
    for (int64_t k = blockIdx.x * int64_t{threads} + threadIdx.x; k < p.job.count; k += int64_t{gridDim.x} * threads) {
        const uint32_t taken = drawn(static_cast<uint64_t>(k)) | drawn(static_cast<uint64_t>(~k)); /* three of four */
        int64_t weight = 0, profit = 0;
        for (int j = 0; j < Search::level; j++)
            if (taken >> j & 1) weight += p.view.table.weight[j], profit += p.view.table.profit[j];
        p.pool.residual[k] = capacity - weight;
        p.pool.profit[k] = static_cast<uint64_t>(profit);
        p.pool.decisions[k] = taken;
    }
}

/* Nodes by decreasing residual capacity, their profits not sorted. */
__global__ void draw_sorted(KnapsackStep p) {
    for (int64_t k = blockIdx.x * int64_t{threads} + threadIdx.x; k < p.job.count; k += int64_t{gridDim.x} * threads) {
        p.pool.residual[k] = 16 * (p.job.count - k) + (drawn(static_cast<uint64_t>(k)) & 15);
        p.pool.profit[k] = static_cast<uint64_t>(16 * k) + (drawn(static_cast<uint64_t>(~k)) & 15);
        p.pool.decisions[k] = static_cast<uint32_t>(k);
    }
}

Search::Search(int64_t nodes, int multiprocessors) : step() {
    std::vector<int64_t> weight, profit;
    std::vector<uint64_t> weight_sum = {0}, profit_sum = {0};
    std::vector<int32_t> reach;
    int64_t capacity = 0;
    for (int j = 0; j < items; j++) { /* profits per weight fall */
        weight.push_back(1000 + drawn(static_cast<uint64_t>(j)) % 1000);
        profit.push_back(weight.back() * (3000 - j) / 1000);
        weight_sum.push_back(weight_sum.back() + static_cast<uint64_t>(weight.back()));
        profit_sum.push_back(profit_sum.back() + static_cast<uint64_t>(profit.back()));
        capacity += weight.back();
    }
    capacity /= 2;
    for (int j = 0, to = 0; j <= items; j++) {
        while (to < items && static_cast<int64_t>(weight_sum[static_cast<size_t>(to) + 1] -
                                                  weight_sum[static_cast<size_t>(j)]) <= capacity)
            to++;
        reach.push_back(to);
    }
    step.view.table = {to_device(weight_sum), to_device(profit_sum), to_device(weight), to_device(profit),
                       to_device(reach)};
    step.view.first = 0;
    step.view.last = items;
    step.view.at = reach[0];
    step.view.capacity = capacity;
    const size_t at = static_cast<size_t>(reach[0]);
    /* Dantzig's bound less about the cost of leaving six of the first items out. */
    step.job.lower = static_cast<int64_t>(profit_sum[at]) - 720 +
                     (capacity - static_cast<int64_t>(weight_sum[at])) * profit[at] / weight[at];
    step.job.level = level;
    step.job.core = {0, level + 1};
    step.job.count = nodes;
    step.job.from = 0;
    step.job.to = nodes;
    step.job.same_end = step.job.flipped_end = nodes;
    step.job.limit = 2 * nodes;
    step.job.from_step = step.job.to_step = 1;
    step.job.least = weight[level];
    step.job.residual = -weight[level];
    step.job.profit = static_cast<uint64_t>(profit[level]);
    step.ratio = static_cast<double>(profit[at]) / static_cast<double>(weight[at]);
    step.pool = new_pool(3 * nodes);
    const int64_t tiles = (2 * nodes + KNAPSACK_TILE - 1) / KNAPSACK_TILE;
    step.shared.tile = on_device<unsigned long long>(tiles);
    step.shared.ticket = on_device<unsigned>(2);
    step.shared.done = step.shared.ticket + 1;
    step.shared.block = on_device<KnapsackBlockFound>(3 * multiprocessors);
    CHECK(cudaMemset(step.shared.tile, 0, sizeof(uint64_t) * static_cast<size_t>(tiles)));
    CHECK(cudaMemset(step.shared.ticket, 0, 2 * sizeof(unsigned)));
    CHECK(cudaMallocHost(&step.shared.found, sizeof *step.shared.found));
    draw_nodes<<<1024, threads>>>(step, capacity);
}

/* Child k of the search: of two neighbours the first is unchanged. */
struct ChildOf {
    KnapsackStep p;
    __device__ Node operator()(int64_t k) const {
        const int64_t at = k / 2;
        const bool flipped = k & 1;
        const int64_t residual = p.pool.residual[at];
        const uint64_t profit = p.pool.profit[at];
        return {flipped ? knapsack_flipped_residual(p.job, residual) : residual,
                flipped ? profit + p.job.profit : profit, p.pool.decisions[at] << 1 | static_cast<uint32_t>(flipped)};
    }
};
struct Stays {
    KnapsackStep p;
    __device__ bool operator()(const Node &n) const {
        gpuopt__knapsack_filled f;
        return n.residual != knapsack_too_heavy &&
               gpuopt__knapsack_fill(&p.view, p.job.core, n.residual, n.profit, p.view.at, &f) &&
               gpuopt__knapsack_beats(&p.view, &f, p.job.lower);
    }
};
struct NodeOf {
    Pool pool;
    __device__ Node operator()(int64_t k) const { return {pool.residual[k], pool.profit[k], pool.decisions[k]}; }
};
struct Some {
    __host__ __device__ bool operator()(const Node &n) const { return n.decisions & 1; }
};

/* Writes nodes to three arrays. */
struct NodeWriter {
    using iterator_category = std::random_access_iterator_tag;
    using value_type = Node;
    using difference_type = int64_t;
    using pointer = void;
    struct reference {
        Pool pool;
        int64_t at;
        __device__ const reference &operator=(const Node &n) const {
            pool.residual[at] = n.residual;
            pool.profit[at] = n.profit;
            pool.decisions[at] = n.decisions;
            return *this;
        }
    };
    Pool pool;
    int64_t at;
    __host__ __device__ reference operator[](int64_t k) const { return {pool, at + k}; }
    __host__ __device__ reference operator*() const { return {pool, at}; }
    __host__ __device__ NodeWriter operator+(int64_t k) const { return {pool, at + k}; }
};

/* The library's selection alone: knapsack_expand without branching and bounds. */
__global__ void __launch_bounds__(threads, 3) select_nodes(const __grid_constant__ KnapsackStep p, int64_t nodes) {
    __shared__ unsigned ticket;
    __shared__ int stay[warps];
    __shared__ int64_t before;
    const int lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);
    for (;;) {
        __syncthreads();
        if (threadIdx.x == 0) ticket = atomicAdd(p.shared.ticket, 1);
        __syncthreads();
        const int64_t tile = ticket, first = tile * KNAPSACK_TILE;
        if (first >= nodes) break;
        Node own[KNAPSACK_ROWS];
        unsigned mask[KNAPSACK_ROWS];
        int count = 0;
#pragma unroll
        for (int row = 0; row < KNAPSACK_ROWS; row++) {
            const int64_t k = first + (warp * KNAPSACK_ROWS + row) * 32 + lane;
            if (k < nodes) own[row] = NodeOf{p.pool}(k);
            mask[row] = __ballot_sync(~0u, k < nodes && Some()(own[row]));
            count += __popc(mask[row]);
        }
        if (lane == 0) stay[warp] = count;
        __syncthreads();
        int behind = 0, total = 0;
        for (int k = 0; k < warps; k++) {
            behind += k < warp ? stay[k] : 0;
            total += stay[k];
        }
        if (warp == 0) {
            const int64_t earlier = knapsack_look_back(p, tile, total);
            if (lane == 0) before = earlier;
        }
        __syncthreads();
        int64_t to = p.job.to + before + behind;
#pragma unroll
        for (int row = 0; row < KNAPSACK_ROWS; row++) {
            if (mask[row] >> lane & 1) NodeWriter{p.pool, to}[__popc(mask[row] & ((1u << lane) - 1))] = own[row];
            to += __popc(mask[row]);
        }
    }
}

/* The library's merge alone, which also marks dominated nodes and does not write them. */
__global__ void __launch_bounds__(threads, 3) merge_nodes(const __grid_constant__ KnapsackStep p) {
    __shared__ KnapsackTile t;
    const KnapsackShare all = {0, p.job.count, 0, p.job.count};
    for (int64_t first = int64_t{blockIdx.x} * KNAPSACK_TILE; first < all.children();
         first += int64_t{gridDim.x} * KNAPSACK_TILE) {
        const int children = static_cast<int>(min(all.children() - first, int64_t{KNAPSACK_TILE}));
        knapsack_build<true>(p, KnapsackHere(), all, t, first, children);
        for (int k = threadIdx.x; k < children; k += threads) {
            const int child = t.order[k];
            if (child < KNAPSACK_TILE)
                NodeWriter{p.pool, p.job.to}[first + k] = {t.residual[child], t.profit[child], t.decisions[child]};
        }
        __syncthreads();
    }
}

/* Appends the numbers of flagged elements to a list in any order, as cuda/propagate/rounds/steps.cuh does. */
__global__ void __launch_bounds__(threads)
    append_flagged(const uint8_t *flag, int64_t count, unsigned *found, int *list) {
    const unsigned lane = threadIdx.x % 32;
    for (int64_t base = (blockIdx.x * int64_t{threads} + threadIdx.x) / 32 * 32; base < count;
         base += int64_t{gridDim.x} * threads) {
        const int64_t k = base + lane;
        const unsigned mask = __ballot_sync(~0u, k < count && flag[k]);
        unsigned at = 0;
        if (mask == 0) continue;
        if (lane == 0) at = atomicAdd(found, static_cast<unsigned>(__popc(mask)));
        at = __shfl_sync(~0u, at, 0) + static_cast<unsigned>(__popc(mask & ((1u << lane) - 1)));
        if (mask >> lane & 1) list[at] = static_cast<int>(k);
    }
}

__global__ void draw_flags(uint8_t *flag, int64_t count, unsigned of_1024) {
    for (int64_t k = blockIdx.x * int64_t{threads} + threadIdx.x; k < count; k += int64_t{gridDim.x} * threads)
        flag[k] = drawn(static_cast<uint64_t>(k)) % 1024 < of_1024;
}

void device_row(const char *what, const char *whose, int64_t elements, double taken) {
    std::printf("| %s | %s | %.1f |\n", what, whose, static_cast<double>(elements) / taken / 1e6);
}

/* Whether `count` nodes from `to` on are unchanged; *sum: the expected sum, or -1 to set it. */
void check_nodes(Machine *m, const char *what, const Pool &pool, int64_t to, int64_t count, uint64_t *sum, bool first) {
    const int64_t part = std::min<int64_t>(count, 1 << 20); /* of the beginning and of the end */
    uint64_t found = static_cast<uint64_t>(count);
    for (int64_t from : {to, to + count - part}) {
        const auto residual = to_host(pool.residual + from, part);
        const auto profit = to_host(pool.profit + from, part);
        const auto decisions = to_host(pool.decisions + from, part);
        for (size_t k = 0; k < residual.size(); k++)
            found = found * 31 + static_cast<uint64_t>(residual[k]) * 7 + profit[k] * 3 + decisions[k];
    }
    if (first) *sum = found;
    if (found == *sum) return;
    std::fprintf(stderr, "primitives_bench: %s: another result\n", what);
    m->good = false;
}

void breadth_rows(Machine *m, Search *search, const unsigned *blocks) {
    KnapsackStep &p = search->step;
    const int64_t children = 2 * p.job.count;
    int64_t *count = on_device<int64_t>(1);
    uint64_t sum = 0;
    int64_t kept = 0;
    p.epoch = 0;
    const double ours = milliseconds([&] {
        p.epoch += 1ull << KNAPSACK_EPOCH;
        knapsack_expand<false, false><<<*blocks, threads>>>(p);
    });
    CHECK(cudaDeviceSynchronize());
    kept = p.shared.found->found.children;
    check_nodes(m, "breadth", p.pool, p.job.to, kept, &sum, true);
    std::printf("| breadth-first step, %.0f%% stay (children) | ours | %.1f |\n", 100. * kept / children,
                children / ours / 1e6);
    auto from = thrust::make_transform_iterator(thrust::counting_iterator<int64_t>(0), ChildOf{p});
    const double other = cub_milliseconds([&](void *scratch, size_t &bytes) {
        return cub::DeviceSelect::If(scratch, bytes, from, NodeWriter{p.pool, p.job.to}, count, children, Stays{p});
    });
    device_row("", "CUB DeviceSelect::If, without what the search needs of the sums", children, other);
    check_nodes(m, "breadth, CUB", p.pool, p.job.to, to_host(count, 1)[0], &sum, false);
    const double plain = milliseconds([&] {
        p.epoch += 1ull << KNAPSACK_EPOCH;
        cudaMemsetAsync(p.shared.ticket, 0, sizeof(unsigned));
        select_nodes<<<*blocks, threads>>>(p, p.job.count);
    });
    check_nodes(m, "select", p.pool, p.job.to, p.job.count / 4, &sum, true);
    device_row("half of the nodes, in their order (nodes)", "ours", p.job.count, plain);
    auto node = thrust::make_transform_iterator(thrust::counting_iterator<int64_t>(0), NodeOf{p.pool});
    const double select = cub_milliseconds([&](void *scratch, size_t &bytes) {
        return cub::DeviceSelect::If(scratch, bytes, node, NodeWriter{p.pool, p.job.to}, count, p.job.count, Some());
    });
    device_row("", "CUB DeviceSelect::If", p.job.count, select);
    check_nodes(m, "select, CUB", p.pool, p.job.to, p.job.count / 4, &sum, false);
}

/* The two lists of children, as CUB takes them: keys and values. */
struct RoomOf {
    KnapsackStep p;
    bool flipped;
    __device__ int64_t operator()(int64_t k) const {
        return flipped ? knapsack_flipped_residual(p.job, p.pool.residual[k]) : p.pool.residual[k];
    }
};
struct Rest {
    uint64_t profit;
    uint32_t decisions;
};
struct RestOf {
    KnapsackStep p;
    bool flipped;
    __device__ Rest operator()(int64_t k) const {
        return {flipped ? p.pool.profit[k] + p.job.profit : p.pool.profit[k],
                p.pool.decisions[k] << 1 | static_cast<uint32_t>(flipped)};
    }
};
struct More {
    __device__ bool operator()(int64_t a, int64_t b) const { return a > b; }
};

void merge_rows(Search *search, const unsigned *blocks) {
    KnapsackStep &p = search->step;
    const int64_t nodes = p.job.count, children = 2 * nodes;
    p.job.residual = -100000;
    p.job.least = 100000;
    p.job.profit = 70000;
    draw_sorted<<<1024, threads>>>(p);
    device_row("merge of two lists of nodes (nodes)", "ours, which also drops dominated nodes", children,
               milliseconds([&] { merge_nodes<<<*blocks, threads>>>(p); }));
    Rest *rest = on_device<Rest>(children);
    thrust::counting_iterator<int64_t> zero(0);
    const double taken = cub_milliseconds([&](void *scratch, size_t &bytes) {
        return cub::DeviceMerge::MergePairs(scratch, bytes, thrust::make_transform_iterator(zero, RoomOf{p, false}),
                                            thrust::make_transform_iterator(zero, RestOf{p, false}), nodes,
                                            thrust::make_transform_iterator(zero, RoomOf{p, true}),
                                            thrust::make_transform_iterator(zero, RestOf{p, true}), nodes,
                                            p.pool.residual + nodes, rest, More());
    });
    device_row("", "CUB DeviceMerge::MergePairs", children, taken);
    CHECK(cudaFree(rest));
}

void append_rows(Machine *m, int64_t count) {
    uint8_t *flag = on_device<uint8_t>(count);
    unsigned *found = on_device<unsigned>(1);
    int *list = on_device<int>(count);
    int64_t *selected = on_device<int64_t>(1);
    for (unsigned share : {8u, 512u}) {
        char what[64];
        std::snprintf(what, sizeof what, "numbers of the %.1f%% flagged (elements)", share / 10.24);
        draw_flags<<<1024, threads>>>(flag, count, share);
        const unsigned blocks = static_cast<unsigned>(8 * m->multiprocessors);
        device_row(what, "ours, in any order", count, milliseconds([&] {
                       cudaMemsetAsync(found, 0, sizeof *found);
                       append_flagged<<<blocks, threads>>>(flag, count, found, list);
                   }));
        device_row("", "CUB DeviceSelect::Flagged, in their order", count,
                   cub_milliseconds([&](void *scratch, size_t &bytes) {
                       return cub::DeviceSelect::Flagged(scratch, bytes, thrust::counting_iterator<int>(0), flag, list,
                                                         selected, count);
                   }));
        if (to_host(found, 1)[0] != to_host(selected, 1)[0]) {
            std::fprintf(stderr, "primitives_bench: flagged: another result\n");
            m->good = false;
        }
    }
}

} // namespace

#endif /* TESTS_BENCH_PRIMITIVES_DEVICE_CUH */
