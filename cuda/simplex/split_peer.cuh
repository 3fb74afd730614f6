/* SPDX-License-Identifier: MIT
 *
 * A tableau split over ranks whose kernels write to one another's memory: many iterations in one cooperative launch on
 * each rank, as on one GPU (run.cuh), but for two messages an iteration, by the mailboxes of common/peers.cuh.
 *
 *     each rank                                            what is sent
 *     price() among the rank's own blocks
 *     block 0: the rank's bid to all ranks ............... letters[n % 2][rank], a bid of 8 words
 *     block 0: waits for the others' bids, takes the best, and tells the rank's own blocks: letters[2 * ranks]
 *     the rank that has the slot: column() ............... each block its rows, into s.alpha of all, and flags[block]
 *     the others: each block waits for its own flag, and reads its rows
 *     go(): as on one GPU
 *
 * n is the number of the iteration, counted from _create on, the same on all ranks.
 *
 * Why nothing is overwritten that somebody still reads
 * ----------------------------------------------------
 * - Bids. A rank writes its bid n + 2 where its bid n was. It has then got all bids n + 1, and a rank sends that after
 *   the exchange among its blocks in price() n + 1, to which its block 0 comes after it has read the bids n.
 * - The best bid. Block 0 writes that of n + 1 after the same exchange, to which every block comes after it has read n.
 * - Columns. The owner of column n + 1 writes it after it has got all bids n + 1, so after all blocks of all ranks have
 *   come to price() n + 1: they have read column n, and, with immediate pivots, have done with all of s.alpha.
 * - Blocks are equally many on all ranks, with the same rows; one without rows waits for no column.
 * Each exchange and message is a release pattern and an acquire, so that each "after" is causality order.
 *
 * Giving up. What block 0 waits for in vain ends the run: it tells so instead of the best bid. Another block that waits
 * for its column in vain goes on with zeros, since the others may be in the same iteration and will wait for its cells;
 * it sets the `lost` words of all ranks, so block 0 gives up at the next bid. What that leaves on the device is nothing
 * that anybody may read: the group is broken.
 */
#ifndef GPUOPT_CUDA_SIMPLEX_SPLIT_PEER_CUH
#define GPUOPT_CUDA_SIMPLEX_SPLIT_PEER_CUH

#include "../common/peers.cuh"
#include "split.cuh"

namespace {

enum { BID_WORDS = 8, SPLIT_LOST = SIMPLEX_BLOCKS /* the place in flags */ };
static_assert(sizeof(gpuopt__simplex_bid) == BID_WORDS * sizeof(double), "a bid is 8 words");

struct PeerShared {
    gpuopt__simplex_bid bid[PEER_MOST]; /* of all ranks */
    gpuopt__simplex_bid best;
    int lost; /* a rank is lost */
};

template <bool DEFERRED>
class PeerBlock : SplitBlock<DEFERRED> {
  public:
    using Base = SplitBlock<DEFERRED>;

    __device__ PeerBlock(const SimplexView &view, const gpuopt__simplex_run &request, const PeerMap &peers, int pending,
                         unsigned char *memory, PeerShared &shared)
        : Base(view, request, pending, 0, memory), peers(peers), shared(shared), message(peers.number) {
        if (thread() == 0) shared.lost = 0;
    }

    __device__ void iterate() {
        this->load();
        while (step() && report.pivots + report.flips < run.most && (!DEFERRED || this->pending < s.most)) continue;
        /* Only now may rows be cleared that other blocks were reading. */
        const int without = exchange<Counts>(s, sh.board, number, Counts::make(0, thread() == 0 && missed)).index;
        this->clear_pending_row();
        this->clear_dead();
        report.entering = entered;
        if (blockIdx.x == 0 && thread() == 0) {
            peers.news->number = message;
            peers.news->lost = without > 0 || shared.lost;
        }
        this->store();
    }

  private:
    using Base::number, Base::report, Base::rows, Base::run, Base::s, Base::sh, Base::thread;

    const PeerMap &peers;
    PeerShared &shared;
    unsigned long long message; /* number of the last one */
    int entered = -1;           /* the entering slot, of all slots */
    bool missed = false;        /* a column has not come */

    __device__ PeerPatience patience() const {
        return {peers.nanoseconds, peers.flags[peers.rank] + SPLIT_LOST, &peers.news->stop};
    }

    /* As that of one GPU (SimplexBlock), with what comes from other ranks. */
    __device__ bool step() {
        const bool given = !gpuopt__simplex_chooses(run.part);
        report.flip = 0;
        report.leaving = report.entering = entered = -1;
        if (!given && run.phase == 1 && this->infeasible == 0) return this->end(GPUOPT__SIMPLEX_END_FEASIBLE);
        agree(this->price());
        if (shared.lost) return false;
        const gpuopt__simplex_bid best = shared.best;
        report.score = given ? 0 : best.score;
        if (best.slot < 0) return this->end(GPUOPT__SIMPLEX_END_NO_ENTERING);
        const int line = static_cast<int>(best.slot) - s.first;
        const bool own = line >= 0 && line < s.lines;
        entered = static_cast<int>(best.slot);
        this->accept(best, own ? line : s.lines);
        report.reduced_cost = best.d;
        if (run.part == GPUOPT__SIMPLEX_RUN_PRICE) return false;
        if (own) send_column();
        else receive_column();
        return this->go();
    }

    /* ---- Bids ---- */

    /* All ranks' bids, of which the best is then in `shared`. */
    __device__ void agree(bool any) {
        PeerLetter *told = peers.letters[peers.rank] + 2 * peers.ranks;
        message++;
        if (simplex_warp() == 0) {
            const int lane = simplex_lane();
            if (blockIdx.x == 0) {
                if (lane == 0) shared.bid[peers.rank] = this->own_bid(any);
                __syncwarp();
                exchange_bids();
                if (lane < BID_WORDS) told->word[lane] = reinterpret_cast<const double *>(&shared.best)[lane];
                if (lane == BID_WORDS) told->word[lane] = shared.lost;
                __syncwarp();
                if (lane == 0) peer_announce(&told->number, message);
            } else {
                if (lane == 0)
                    while (!peer_has(&told->number, message)) continue;
                __syncwarp();
                if (lane < BID_WORDS) reinterpret_cast<double *>(&shared.best)[lane] = fresh(told->word + lane);
                if (lane == BID_WORDS) shared.lost = fresh(told->word + lane) != 0;
            }
        }
        __syncthreads();
    }

    /* By one warp of block 0; shared.best and lost are visible to it afterwards. */
    __device__ void exchange_bids() {
        const int lane = simplex_lane(), set = static_cast<int>(message & 1) * peers.ranks;
        const bool other = lane < peers.ranks && lane != peers.rank;
        for (int to = lane / BID_WORDS; to < peers.ranks; to += 32 / BID_WORDS)
            if (to != peers.rank)
                peers.letters[to][set + peers.rank].word[lane % BID_WORDS] =
                    reinterpret_cast<const double *>(&shared.bid[peers.rank])[lane % BID_WORDS];
        __syncwarp();
        if (other) peer_announce(&peers.letters[lane][set + peers.rank].number, message);
        PeerLetter *letter = peers.letters[peers.rank] + set + lane;
        const bool heard = !other || peer_wait(&letter->number, message, patience());
        if (other)
            for (int k = 0; k < BID_WORDS; k++)
                reinterpret_cast<double *>(&shared.bid[lane])[k] = fresh(letter->word + k);
        const bool all = __all_sync(~0u, heard);
        __syncwarp();
        if (lane == 0) {
            gpuopt__simplex_bid best = {0, 0, 0, -1, 0, 0, 0, 0};
            gpuopt__simplex_split_best(shared.bid, peers.ranks, &best);
            shared.best = best;
            shared.lost = !all || PeerFlag(*patience().lost).load(cuda::memory_order_relaxed) != 0;
            if (!all) tell_all();
        }
        __syncwarp();
    }

    /* All ranks are to give up. */
    __device__ void tell_all() const {
        for (int to = 0; to < peers.ranks; to++)
            PeerFlag(peers.flags[to][SPLIT_LOST]).store(1, cuda::memory_order_relaxed);
    }

    /* ---- Columns ---- */

    __device__ void send_column() {
        this->column();
        for (int to = 0; to < peers.ranks; to++)
            for (int i = thread(); to != peers.rank && i < rows; i += SIMPLEX_THREADS)
                peers.alpha[to][this->first_row + i] = sh.alpha[i];
        __syncthreads();
        if (rows > 0 && thread() < peers.ranks && thread() != peers.rank)
            peer_announce(peers.flags[thread()] + blockIdx.x, message);
    }

    __device__ void receive_column() {
        this->clear_pending_row();
        const bool waits = rows > 0 && thread() == 0;
        if (__syncthreads_or(waits && !peer_wait(peers.flags[peers.rank] + blockIdx.x, message, patience()))) {
            if (thread() == 0 && !missed) tell_all();
            missed = true;
            for (int i = thread(); i < rows; i += SIMPLEX_THREADS) s.alpha[this->first_row + i] = 0;
        }
        this->read_column();
    }
};

template <bool DEFERRED>
__global__ void __launch_bounds__(SIMPLEX_THREADS, 1)
    split_peers(const __grid_constant__ SimplexView s, const __grid_constant__ gpuopt__simplex_run run,
                const __grid_constant__ PeerMap peers, int pending) {
    GPUOPT_DYNAMIC_SHARED(SimplexShared, split_state);
    __shared__ PeerShared shared;
    PeerBlock<DEFERRED>(s, run, peers, pending, reinterpret_cast<unsigned char *>(split_state), shared).iterate();
}

/* A message from each rank to all, for which every block waits, with as much of the device as an iteration takes:
 * whether these launches run at once, and messages arrive. */
__global__ void __launch_bounds__(SIMPLEX_THREADS, 1) split_greet(const __grid_constant__ PeerMap peers) {
    const int lane = static_cast<int>(threadIdx.x);
    if (lane >= 32) return;
    const unsigned long long message = peers.number + 1;
    const int set = static_cast<int>(message & 1) * peers.ranks;
    const bool other = lane < peers.ranks && lane != peers.rank;
    if (other && blockIdx.x == 0) peer_announce(&peers.letters[lane][set + peers.rank].number, message);
    const PeerPatience patience = {peers.nanoseconds, peers.flags[peers.rank] + SPLIT_LOST, &peers.news->stop};
    const bool heard =
        __all_sync(~0u, !other || peer_wait(&peers.letters[peers.rank][set + lane].number, message, patience));
    if (blockIdx.x > 0 || lane > 0) return;
    peers.news->number = message;
    peers.news->lost = !heard;
}

} // namespace

#endif /* GPUOPT_CUDA_SIMPLEX_SPLIT_PEER_CUH */
