/* SPDX-License-Identifier: MIT
 *
 * Knapsack on the GPU, by the ranks of a group: nodes copied from another rank's pool to this one's, device to device,
 * and how many nodes have their children before the cuts between ranks (gpuopt_impl/knapsack/ranges.h).
 */
#ifndef GPUOPT_CUDA_KNAPSACK_PEERS_CUH
#define GPUOPT_CUDA_KNAPSACK_PEERS_CUH

#include <cstring>

#include "nodes.cuh"

namespace {

/* ---- Nodes of other ranks ---- */

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
    for (int32_t r = 0; r < s.ranks; r++)
        if (r != s.rank && peer_admit(knapsack->context, knapsack_card(k, s.rank).peer, knapsack_card(k, r).peer))
            return 0;
    return 1;
}

/* Waits, so that the other rank's pool is there until the copy has been made. */
gpuopt_status cuda_knapsack_pull(gpuopt_knapsack *knapsack, int32_t rank, int64_t before, int64_t to, int step,
                                 int64_t count) {
    const CudaKnapsack *k = cuda_knapsack(knapsack);
    const KnapsackCard card = knapsack_card(k, rank);
    DeviceScope scope(knapsack->context);
    if (!PeerDoor::enter(card.peer.key)) {
        gpuopt__log(knapsack->context, 0, "knapsack: rank %d's handle is gone", static_cast<int>(rank));
        return GPUOPT_ERROR_PEER;
    }
    gpuopt_status status =
        knapsack_copy(k, k->pool, to, card.pool, step < 0 ? card.nodes - 1 - before : before, step, count);
    if (!status) status = k->queue.wait("copying another rank's knapsack nodes");
    PeerDoor::leave(card.peer.key);
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

} // namespace

#endif /* GPUOPT_CUDA_KNAPSACK_PEERS_CUH */
