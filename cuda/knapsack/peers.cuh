/* SPDX-License-Identifier: MIT
 *
 * Knapsack on the GPU, by the ranks of a group: a step whose parents are in the pools of several devices; or, if those
 * do not see one another's memory, how many nodes have their children before the cuts between ranks
 * (gpuopt_impl/knapsack/ranges.h).
 *
 * A rank's launch makes an equal share of the merge of all children (kernel.cuh), of which every tile finds its parents
 * by itself, wherever they are. So the hosts exchange nothing but what the step has found, once, and no node is copied:
 * those that others have are read where they are.
 *
 * Why a launch finds the parents as they are (PTX ISA 9.0, "Memory Consistency Model"). They were written by a launch,
 * or a copy, of their own rank, whose host has waited for its stream before it told the others what came of it; all
 * hosts have heard that before they launch. So the writes happen before the launch: the end of the stream's work, the
 * exchange and the launch are synchronizations of the API ("Causality order"), and nothing is cached beyond the end of
 * a launch. Nobody writes to them before all have told what their launches found, which each does when its own is over:
 * until then children only go to the other side of each pool, where no parent is.
 */
#ifndef GPUOPT_CUDA_KNAPSACK_PEERS_CUH
#define GPUOPT_CUDA_KNAPSACK_PEERS_CUH

#include <cstring>

#include "steps.cuh"

namespace {

/* ---- Finding the others' pools ---- */

/* What is in a gpuopt__knapsack_card. */
struct KnapsackCard {
    PeerCard peer;
    gpuopt__knapsack_pool pool;
    int64_t nodes; /* of the pool */
};
static_assert(sizeof(KnapsackCard) <= sizeof(gpuopt__knapsack_card), "a card has room");

KnapsackCard knapsack_card(const CudaKnapsack *k, int32_t rank) {
    KnapsackCard card;
    std::memcpy(&card, k->head.ranks.card + rank, sizeof card);
    return card;
}

void cuda_knapsack_show(gpuopt_knapsack *knapsack, gpuopt__knapsack_card *to) {
    const CudaKnapsack *k = cuda_knapsack(knapsack);
    const bool able = k->open && !k->all_on_host;
    const KnapsackCard card = {peer_card(knapsack->context, k->door, able, nullptr), k->pool, knapsack->pool};
    std::memcpy(to, &card, sizeof card);
}

int cuda_knapsack_admit(gpuopt_knapsack *knapsack) {
    const CudaKnapsack *k = cuda_knapsack(knapsack);
    const gpuopt__knapsack_search &s = knapsack->search;
    DeviceScope scope(knapsack->context);
    if (s.ranks > PEER_MOST) return 0;
    for (int32_t r = 0; r < s.ranks; r++)
        if (r != s.rank && peer_admit(knapsack->context, knapsack_card(k, s.rank).peer, knapsack_card(k, r).peer))
            return 0;
    return 1;
}

/* Parents in one rank's pool: those below number `end` that are in no source before. `from`: where the step's first one
 * would be. */
struct KnapsackSource {
    gpuopt__knapsack_pool pool;
    int64_t from, end;
};

/* All parents of a step, of which this rank makes one of so many equal shares. */
struct KnapsackAmong {
    KnapsackSource source[PEER_MOST];
    int64_t share, shares;

    __device__ KnapsackPlace find(const KnapsackStep &p, int64_t k) const {
        int r = 0;
        while (k >= source[r].end) r++;
        return {source[r].pool, source[r].from + k * p.job.from_step};
    }
};

/* How many parents have flipped children: the first ones, since rooms fall. By one warp. */
__device__ int64_t knapsack_light(const KnapsackStep &p, const KnapsackAmong &among) {
    const int lane = static_cast<int>(threadIdx.x % 32);
    int64_t low = p.job.least == INT64_MIN ? p.job.count : 0, high = p.job.count;
    while (low < high) { /* the answer is in low .. high */
        const int64_t width = (high - low + 31) / 32, k = low + lane * width;
        bool has = false;
        if (k < high) {
            const KnapsackPlace node = among.find(p, k);
            has = node.pool.room[node.at] >= p.job.least;
        }
        const int yes = __popc(__ballot_sync(~0u, has));
        if (yes == 0) return low;
        high = min(high, low + yes * width);
        low += (yes - 1) * width + 1;
    }
    return low;
}

/* A rank's share of a step. */
template <bool DOMINANCE>
__global__ void __launch_bounds__(KNAPSACK_THREADS, 3)
    knapsack_expand_share(const __grid_constant__ KnapsackStep p, const __grid_constant__ KnapsackAmong among) {
    __shared__ KnapsackShare share;
    if (threadIdx.x < 32) {
        const int64_t flipped = DOMINANCE ? knapsack_light(p, among) : 0;
        if (threadIdx.x == 0) {
            const int64_t each = DOMINANCE ? 1 : 2, all = DOMINANCE ? p.job.count + flipped : p.job.count;
            share.before = all * among.share / among.shares * each;
            share.children = all * (among.share + 1) / among.shares * each - share.before;
            share.flipped_end = flipped;
        }
    }
    __syncthreads();
    knapsack_make<DOMINANCE, false>(p, among, share);
}

/* Lets go of the pools of the first `sources`. */
void knapsack_leave(const CudaKnapsack *k, int32_t sources) {
    for (int32_t n = 0; n < sources; n++) {
        const int32_t rank = k->head.ranks.source[n].rank;
        if (rank != k->head.search.rank) PeerDoor::leave(knapsack_card(k, rank).peer.key);
    }
}

/* Finds the parents, and sees to it that those pools stay until knapsack_leave(). */
gpuopt_status knapsack_enter(const CudaKnapsack *k, const gpuopt__knapsack_search *s, const gpuopt__knapsack_job &job,
                             KnapsackAmong *among) {
    const gpuopt__knapsack_ranks &ranks = k->head.ranks;
    int64_t begin = 0;
    for (int32_t n = 0; n < ranks.sources; n++) {
        const gpuopt__knapsack_source &source = ranks.source[n];
        const KnapsackCard card = knapsack_card(k, source.rank);
        if (source.rank != s->rank && !PeerDoor::enter(card.peer.key)) {
            gpuopt__log(k->head.context, 0, "knapsack: rank %d's handle is gone", static_cast<int>(source.rank));
            knapsack_leave(k, n);
            return GPUOPT_ERROR_PEER;
        }
        const int64_t room = s->which == 0 ? card.nodes : s->home_room; /* both begin at place 0 */
        const int64_t first = job.from_step < 0 ? room - 1 - source.before : source.before;
        among->source[n] = {card.pool, first - begin * job.from_step, source.end};
        begin = source.end;
    }
    among->share = ranks.spread ? s->rank : 0;
    among->shares = ranks.spread ? s->ranks : 1;
    return GPUOPT_OK;
}

/* Waits within the visit, so that the other ranks' pools are there as long as the launch reads them. */
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

/* Thread 2 c + f counts what is before cut[c], unchanged (f = 0) or flipped, and puts it into found[2 c + f]. */
__global__ void knapsack_count(gpuopt__knapsack_pool pool, const __grid_constant__ gpuopt__knapsack_job job,
                               int64_t first, int64_t count, const int64_t *cut, int cuts, uint64_t *found) {
    const int t = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (t < 2 * cuts)
        found[t] = static_cast<uint64_t>(gpuopt__knapsack_count_before(&pool, &job, first, count, t % 2, cut[t / 2]));
}

/* Cuts and counts lie in the window, whose pages the device reads and writes. */
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
        std::copy_n(cut + done, some, k->window.room);
        k->queue.launch({(2 * some + KNAPSACK_THREADS - 1) / KNAPSACK_THREADS, KNAPSACK_THREADS}, knapsack_count,
                        k->pool, *job, first, count, k->window.room, some, k->window.profit);
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
