/* SPDX-License-Identifier: MIT
 *
 * Knapsack on the GPU, by the ranks of a group: a step with parents in the pools of several devices. If the devices do
 * not see one another's memory, this file only counts the nodes with children before the cuts between ranks
 * (gpuopt_impl/knapsack/ranks/ranges.h).
 *
 * A rank's launch makes an equal share of the merge of all children (kernel.cuh), and finds the ends of its share by
 * itself. So the ranks exchange only the results of the step, once. No node is copied: nodes of other ranks are read in
 * place. The launch's tiles search for their parents between the parents at the ends. These are on this device, except
 * for the distance that the item's weight moves them.
 *
 * Why a launch sees the parents' final state (PTX ISA 9.0, "Memory Consistency Model"). A launch, or a copy, of their
 * own rank wrote them. That rank waited for its stream before it sent the result to the others, and all ranks received
 * the result before they launch. So the writes happen before the launch: the end of the stream's work, the exchange and
 * the launch are synchronizations of the API ("Causality order"). No data stay cached beyond the end of a launch.
 * Parents are not overwritten before all ranks have sent the results of their launches, which each does after its
 * launch has ended. Until then children only go to the other side of each pool, where no parent is.
 */
#ifndef GPUOPT_CUDA_KNAPSACK_PEERS_CUH
#define GPUOPT_CUDA_KNAPSACK_PEERS_CUH

#include <cstring>

#include "../../gpuopt_impl/knapsack/search/cut.h"
#include "steps.cuh"

namespace {

/* ---- Finding the pools of other ranks ---- */

/* The contents of a gpuopt__knapsack_peer_handle. */
struct KnapsackHandle {
    PeerHandle peer;
    gpuopt__knapsack_pool pool;
    int64_t nodes; /* of the pool */
};
static_assert(sizeof(KnapsackHandle) <= sizeof(gpuopt__knapsack_peer_handle), "a handle fits");

KnapsackHandle knapsack_peer_handle(const CudaKnapsack *k, int32_t rank) {
    KnapsackHandle handle;
    std::memcpy(&handle, k->head.ranks.handle + rank, sizeof handle);
    return handle;
}

void cuda_knapsack_show(gpuopt_knapsack *knapsack, gpuopt__knapsack_peer_handle *to) {
    const CudaKnapsack *k = cuda_knapsack(knapsack);
    const bool able = k->open && !k->all_on_host;
    const KnapsackHandle handle = {peer_handle(knapsack->context, k->gate, able, nullptr), k->pool, knapsack->pool};
    std::memcpy(to, &handle, sizeof handle);
}

int cuda_knapsack_map_peers(gpuopt_knapsack *knapsack) {
    const CudaKnapsack *k = cuda_knapsack(knapsack);
    const gpuopt__knapsack_search &s = knapsack->search;
    DeviceScope scope(knapsack->context);
    if (s.ranks > PEER_MOST) return 0;
    for (int32_t r = 0; r < s.ranks; r++)
        if (r != s.rank &&
            peer_map(knapsack->context, knapsack_peer_handle(k, s.rank).peer, knapsack_peer_handle(k, r).peer))
            return 0;
    return 1;
}

/* Parents in one rank's pool: the parents below number `end` that no source before has. `from`: the place that the
 * step's first parent would have. */
struct KnapsackSource {
    gpuopt__knapsack_pool pool;
    int64_t from, end;
};

/* All parents of a step; this rank expands one of several equal shares of them. */
struct KnapsackAmong {
    KnapsackSource source[PEER_MOST];
    int32_t sources;
    int64_t share, shares;
    int64_t border[2]; /* parents of the ranks before this one, then including this one; -1: each rank has all */

    __device__ int which(int64_t k) const {
        int r = 0;
        while (r + 1 < sources && k >= source[r].end) r++;
        return r;
    }
    __device__ KnapsackPlace at(const KnapsackStep &p, int r, int64_t k) const {
        return {source[r].pool, source[r].from + k * p.job.from_step};
    }
    __device__ KnapsackPlace find(const KnapsackStep &p, int64_t k) const { return at(p, which(k), k); }

    /* Whether `count` parents from number k on are all in source r. */
    __device__ bool is_whole(int r, int64_t k, int count) const { return count == 0 || k + count <= source[r].end; }

    /* Nearly always the parents of a tile's unchanged children are in one source, and so are the parents of its flipped
     * children. Then no look-up comes between two loads, so that many loads are under way at a time. */
    __device__ void load_pairs(const KnapsackStep &p, KnapsackTile &t, int64_t i, int count) const {
        const int r = which(i);
        if (is_whole(r, i, count)) knapsack_load_pairs(p, t, i, count, [&](int64_t k) { return at(p, r, k); });
        else knapsack_load_pairs(p, t, i, count, [&](int64_t k) { return find(p, k); });
    }
    __device__ void load_lists(const KnapsackStep &p, KnapsackTile &t, int64_t i, int64_t j, int same,
                               int children) const {
        const int q = which(i), r = which(j);
        const bool whole = is_whole(q, i, same) && is_whole(r, j, children - same);
        if (whole && q == r) {
            knapsack_load_lists(p, t, i, j, same, children, [&](int64_t k, bool) { return at(p, r, k); });
        } else if (whole) {
            const KnapsackPlace a = at(p, q, 0), b = at(p, r, 0);
            knapsack_load_lists(p, t, i, j, same, children, [&](int64_t k, bool flipped) {
                KnapsackPlace place = flipped ? b : a;
                place.at += k * p.job.from_step;
                return place;
            });
        } else {
            knapsack_load_lists(p, t, i, j, same, children, [&](int64_t k, bool) { return find(p, k); });
        }
    }
};

/* How many parents have flipped children: the first ones, since residual capacities decrease. By all threads. */
__device__ int64_t knapsack_light(const KnapsackStep &p, const KnapsackAmong &among) {
    const auto has = [&](int64_t k) {
        const KnapsackPlace node = among.find(p, k);
        return node.pool.residual[node.at] >= p.job.least;
    };
    if (p.job.least == INT64_MIN || has(p.job.count - 1)) return p.job.count;
    return knapsack_seek<KnapsackBlock>(0, p.job.count, has);
}

/* The start of a share of the children, or the end of the last share: how many unchanged and flipped children are
 * before it. */
struct KnapsackCorner {
    int64_t same, flipped;
};

/* The corner of share number `share`; ranks before it have `border` parents; -1: each rank has all. Shares have equally
 * many children, a parent on another device counted as one more. By all threads. */
__device__ KnapsackCorner knapsack_corner(const KnapsackStep &p, const KnapsackAmong &among, const KnapsackShare &whole,
                                          int64_t share, int64_t border) {
    int64_t rank = whole.children() * share / among.shares;
    const int64_t i = knapsack_split<KnapsackBlock>(p, among, whole, rank), j = rank - i;
    if (share == 0 || share == among.shares || border < 0) return {i, j};
    const int64_t turned = min(border, whole.flipped_end), most = whole.children() / among.shares / 4;
    const int64_t before = max(i - border, int64_t{0}) + max(j - turned, int64_t{0}), /* far from the share before */
        behind = max(border - i, int64_t{0}) + max(turned - j, int64_t{0});
    /* One child more here, and one fewer there, weigh 2 to 3. */
    const int64_t shift = max(min((behind - before) / 3, most), -most), far = max(shift, -shift);
    const KnapsackShare near = {max(i - far, int64_t{0}), min(i + far, whole.same_end), max(j - far, int64_t{0}),
                                min(j + far, whole.flipped_end)};
    rank += shift;
    const int64_t same = knapsack_split<KnapsackBlock>(p, among, near, rank);
    return {same, rank - same};
}

/* The part of the children that this rank makes. By all threads. */
template <bool DOMINANCE>
__device__ KnapsackShare knapsack_share(const KnapsackStep &p, const KnapsackAmong &among) {
    if (!DOMINANCE) {
        const int64_t begin = p.job.count * among.share / among.shares,
                      end = p.job.count * (among.share + 1) / among.shares;
        return {begin, end, begin, end};
    }
    const KnapsackShare whole = {0, p.job.count, 0, knapsack_light(p, among)};
    const KnapsackCorner begin = knapsack_corner(p, among, whole, among.share, among.border[0]),
                         end = knapsack_corner(p, among, whole, among.share + 1, among.border[1]);
    return {begin.same, end.same, begin.flipped, end.flipped};
}

/* A rank's share of a step. */
template <bool DOMINANCE>
__global__ void __launch_bounds__(KNAPSACK_THREADS, 3)
    knapsack_expand_share(const __grid_constant__ KnapsackStep p, const __grid_constant__ KnapsackAmong among) {
    __shared__ KnapsackShare share; /* to save registers */
    const KnapsackShare mine = knapsack_share<DOMINANCE>(p, among);
    if (threadIdx.x == 0) share = mine;
    __syncthreads();
    knapsack_make<DOMINANCE, false>(p, among, share);
}

/* Releases the pools of the first `sources`. */
void knapsack_leave(const CudaKnapsack *k, int32_t sources) {
    for (int32_t n = 0; n < sources; n++) {
        const int32_t rank = k->head.ranks.source[n].rank;
        if (rank != k->head.search.rank) PeerGate::leave(knapsack_peer_handle(k, rank).peer.key);
    }
}

/* Finds the parents, and keeps their pools alive until knapsack_leave(). */
gpuopt_status knapsack_enter(const CudaKnapsack *k, const gpuopt__knapsack_search *s, const gpuopt__knapsack_job &job,
                             KnapsackAmong *among) {
    const gpuopt__knapsack_ranks &ranks = k->head.ranks;
    int64_t begin = 0;
    among->border[0] = among->border[1] = s->list[s->depth - 1].shared ? 0 : -1;
    for (int32_t n = 0; n < ranks.sources; n++) {
        const gpuopt__knapsack_source &source = ranks.source[n];
        const KnapsackHandle handle = knapsack_peer_handle(k, source.rank);
        if (source.rank != s->rank && !PeerGate::enter(handle.peer.key)) {
            gpuopt__log(k->head.context, 0, "knapsack: rank %d's handle is gone", static_cast<int>(source.rank));
            knapsack_leave(k, n);
            return GPUOPT_ERROR_PEER;
        }
        const int64_t capacity = s->which == 0 ? handle.nodes : s->own_capacity; /* both begin at place 0 */
        const int64_t first = job.from_step < 0 ? capacity - 1 - source.before : source.before;
        among->source[n] = {handle.pool, first - begin * job.from_step, source.end};
        begin = source.end;
        for (int end = 0; end < 2 && among->border[0] >= 0; end++)
            if (source.rank < s->rank + end) among->border[end] = begin;
    }
    among->sources = ranks.sources;
    among->share = ranks.spread ? s->rank : 0;
    among->shares = ranks.spread ? s->ranks : 1;
    return GPUOPT_OK;
}

/* Waits before it leaves the pools, so that the other ranks' pools exist as long as the launch reads them. */
gpuopt_status cuda_knapsack_step_by_peers(gpuopt_knapsack *knapsack, const gpuopt__knapsack_search *s,
                                          const gpuopt__knapsack_job *job, gpuopt__knapsack_found *found) {
    CudaKnapsack *k = cuda_knapsack(knapsack);
    KnapsackStep p;
    KnapsackAmong among = {};
    DeviceScope scope(knapsack->context);
    gpuopt_status status = knapsack_prepare(k, s, *job, &p);
    if (!status) status = knapsack_enter(k, s, *job, &among);
    if (status) return status;
    const Grid grid = knapsack_grid_of(k, 2 * (job->count / among.shares + 1));
    if (s->dominance) k->queue.launch(grid, knapsack_expand_share<true>, p, among);
    else k->queue.launch(grid, knapsack_expand_share<false>, p, among);
    status = knapsack_await(k, found);
    knapsack_leave(k, knapsack->ranks.sources);
    return status;
}

/* ---- Cuts ---- */

/* Thread 2 c + f counts the nodes with children before cut[c], unchanged (f = 0) or flipped, into found[2 c + f]. */
__global__ void knapsack_count(gpuopt__knapsack_pool pool, const __grid_constant__ gpuopt__knapsack_job job,
                               int64_t first, int64_t count, const int64_t *cut, int cuts, uint64_t *found) {
    const int t = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (t < 2 * cuts)
        found[t] = static_cast<uint64_t>(gpuopt__knapsack_count_before(&pool, &job, first, count, t % 2, cut[t / 2]));
}

/* Cuts and counts lie in the window; the device reads and writes its pages. */
gpuopt_status cuda_knapsack_before(gpuopt_knapsack *knapsack, const gpuopt__knapsack_search *s,
                                   const gpuopt__knapsack_job *job, int64_t first, int64_t count, const int64_t *cut,
                                   int32_t cuts, int64_t *same, int64_t *flipped) {
    const CudaKnapsack *k = cuda_knapsack(knapsack);
    DeviceScope scope(knapsack->context);
    if (knapsack_is_on_host(k, s)) {
        gpuopt__knapsack_count_all(&k->host_pool, job, first, count, cut, cuts, same, flipped);
        return GPUOPT_OK;
    }
    const int most = static_cast<int>(knapsack->chunk / 2);
    gpuopt_status status = GPUOPT_OK;
    for (int32_t done = 1, some = 0; done <= cuts && !status; done += some) {
        some = std::min(most, cuts + 1 - done);
        std::copy_n(cut + done, some, k->window.residual);
        k->queue.launch({(2 * some + KNAPSACK_THREADS - 1) / KNAPSACK_THREADS, KNAPSACK_THREADS}, knapsack_count,
                        k->pool, *job, first, count, k->window.residual, some, k->window.profit);
        status = k->queue.launched("counting knapsack nodes");
        if (!status) status = k->queue.wait("counting knapsack nodes");
        for (int32_t c = 0; c < some && !status; c++) {
            same[done + c] = static_cast<int64_t>(k->window.profit[2 * c]);
            flipped[done + c] = static_cast<int64_t>(k->window.profit[2 * c + 1]);
        }
    }
    return status;
}

/* Loads the kernels that a handle with a group may launch. */
gpuopt_status knapsack_load_peers(const gpuopt_context *context, const gpuopt_knapsack_desc &d) {
    gpuopt_status status = load_kernels(context, knapsack_count, knapsack_expand_share<true>);
    return status || d.search == GPUOPT_SEARCH_DOMINANCE ? status : load_kernels(context, knapsack_expand_share<false>);
}

} // namespace

#endif /* GPUOPT_CUDA_KNAPSACK_PEERS_CUH */
