/* SPDX-License-Identifier: MIT
 *
 * A tableau split over ranks with kernels that write to each other's memory. Each rank does many iterations in one
 * cooperative launch, as on one GPU (iterations/run.cuh). Per iteration the ranks send two messages, by the mailboxes
 * of common/peers.cuh.
 *
 *     each rank                                            messages, in cells of 16 bytes
 *     price() among the rank's own blocks
 *     block 0: the rank's candidate to all ranks ......... candidates[n % 2][rank]
 *     block 0: waits for the others' candidates, takes the best, and sends it to its own blocks: agreed
 *     the rank with the slot: column() ................... each block its rows, into columns of all others
 *     the others: each block waits for the cells of its rows
 *     go(): as on one GPU
 *
 * n is the number of the iteration, counted from _create on, the same on all ranks.
 *
 * Why nothing is overwritten while it is read:
 * - Candidates. A rank writes its candidate n + 2 to the place of its candidate n. By then it has received all
 *   candidates n + 1. A rank sends candidate n + 1 after the exchange among its blocks in price() n + 1. Its block 0
 *   reaches that exchange after it has read the candidates n.
 * - The best candidate. Block 0 writes the best candidate n + 1 after the same exchange. Every block reaches that
 *   exchange after it has read the best candidate n.
 * - Columns. The owner of column n + 1 writes it after it has received all candidates n + 1. By then all blocks of all
 *   ranks have reached price() n + 1, so they have read column n.
 * - s.alpha, which immediate pivots read as a whole, belongs to the rank: each block writes its rows, as on one GPU.
 * - All ranks have equally many blocks, with the same rows.
 *
 * Exchanges, candidates and the messages of block 0 are each a release pattern and an acquire. So each "after" is
 * causality order. A cell of a column orders only itself.
 *
 * Giving up. If a wait of block 0 times out, the run ends: block 0 sends this instead of the best candidate. If another
 * block waits for its column in vain, it continues with zeros, because the other ranks may be in the same iteration and
 * will wait for its cells. It sets the `lost` words of all ranks, so block 0 gives up at the next candidate. The data
 * that this leaves on the device must not be read: the group is broken.
 */
#ifndef GPUOPT_CUDA_SIMPLEX_SPLIT_PEER_CUH
#define GPUOPT_CUDA_SIMPLEX_SPLIT_PEER_CUH

#include "../../common/peers.cuh"
#include "step.cuh"

namespace {

struct PeerShared {
    gpuopt__simplex_pivot_candidate candidate[PEER_MOST]; /* of all ranks */
    gpuopt__simplex_pivot_candidate best;
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
        /* Only now is it safe to clear rows that other blocks were reading. */
        const int without = exchange<Counts>(s, sh.board, number, Counts::make(0, thread() == 0 && missed)).index;
        this->clear_pending_row();
        this->clear_dead();
        report.entering = entered;
        if (blockIdx.x == 0 && thread() == 0) {
            peers.status->number = message;
            peers.status->lost = without > 0 || shared.lost;
        }
        this->store();
    }

  private:
    using Base::number, Base::report, Base::rows, Base::run, Base::s, Base::sh, Base::thread;

    const PeerMap &peers;
    PeerShared &shared;
    unsigned long long message; /* number of the last message */
    int entered = -1;           /* the entering slot, among all slots */
    bool missed = false;        /* a column did not arrive */

    __device__ PeerPatience patience() const {
        return {peers.nanoseconds, peers.lost[peers.rank], &peers.status->stop};
    }

    /* Like step() of one GPU (SimplexBlock), with data from other ranks. */
    __device__ bool step() {
        const bool given = !gpuopt__simplex_chooses(run.part);
        report.flip = 0;
        report.leaving = report.entering = entered = -1;
        if (!given && run.phase == 1 && this->infeasible == 0) return this->end(GPUOPT__SIMPLEX_END_FEASIBLE);
        agree(this->price());
        if (shared.lost) return false;
        const gpuopt__simplex_pivot_candidate best = shared.best;
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

    /* ---- Candidates ---- */

    /* Gathers all ranks' candidates. `shared` then has the best. */
    __device__ void agree(bool any) {
        message++;
        if (simplex_warp() == 0) {
            const int lane = simplex_lane();
            if (blockIdx.x == 0) {
                if (lane == 0) shared.candidate[peers.rank] = this->own_candidate(any);
                __syncwarp();
                exchange_candidates();
                const double *best = reinterpret_cast<const double *>(&shared.best);
                if (lane <= CANDIDATE_WORDS) {
                    const double word = lane < CANDIDATE_WORDS ? best[lane] : shared.lost;
                    ptx_fence();
                    ptx_store_16(s.agreed + lane, __double_as_longlong(word), static_cast<long long>(message));
                }
            } else if (lane <= CANDIDATE_WORDS) {
                long long low, number;
                do ptx_load_16(s.agreed + lane, &low, &number);
                while (static_cast<unsigned long long>(number) != message);
                const double word = __longlong_as_double(low);
                if (lane < CANDIDATE_WORDS) reinterpret_cast<double *>(&shared.best)[lane] = word;
                else shared.lost = word != 0;
            }
        }
        __syncthreads();
    }

    /* Called by one warp of block 0, which then sees shared.best and lost. */
    __device__ void exchange_candidates() {
        const int lane = simplex_lane(), set = static_cast<int>(message & 1) * peers.ranks * CANDIDATE_WORDS;
        const double *own = reinterpret_cast<const double *>(&shared.candidate[peers.rank]);
        bool all = true;
        ptx_fence_system();
        for (int at = lane; at < peers.ranks * CANDIDATE_WORDS; at += 32)
            if (at / CANDIDATE_WORDS != peers.rank)
                peer_send(peers.candidates[at / CANDIDATE_WORDS] + set + peers.rank * CANDIDATE_WORDS +
                              at % CANDIDATE_WORDS,
                          own[at % CANDIDATE_WORDS], message);
        for (int at = lane; at < peers.ranks * CANDIDATE_WORDS; at += 32)
            if (at / CANDIDATE_WORDS != peers.rank)
                all = peer_receive(peers.candidates[peers.rank] + set + at, message, patience(),
                                   reinterpret_cast<double *>(shared.candidate) + at) &&
                      all;
        all = __all_sync(~0u, all);
        __syncwarp();
        if (lane == 0) {
            gpuopt__simplex_pivot_candidate best = {0, 0, 0, -1, 0, 0, 0, 0};
            gpuopt__simplex_split_best(shared.candidate, peers.ranks, &best);
            shared.best = best;
            shared.lost = !all || PeerWord(*patience().lost).load(cuda::memory_order_relaxed) != 0;
            if (!all) abort_all();
        }
        __syncwarp();
    }

    /* Makes all ranks give up. */
    __device__ void abort_all() const {
        for (int to = 0; to < peers.ranks; to++) PeerWord(*peers.lost[to]).store(1, cuda::memory_order_relaxed);
    }

    /* ---- Columns ---- */

    __device__ void send_column() {
        this->column();
        for (int to = 0; to < peers.ranks; to++)
            for (int i = thread(); to != peers.rank && i < rows; i += SIMPLEX_THREADS)
                peer_send(peers.columns[to] + this->first_row + i, sh.alpha[i], message);
    }

    /* Like column(), but from the rank with the slot. */
    __device__ void receive_column() {
        this->clear_pending_row();
        bool all = true;
        for (int i = thread(); i < rows; i += SIMPLEX_THREADS) {
            double value;
            if (!peer_receive(s.columns + this->first_row + i, message, patience(), &value)) value = 0, all = false;
            sh.alpha[i] = value;
            if (!DEFERRED) s.alpha[this->first_row + i] = value;
        }
        if (!__syncthreads_or(!all)) return;
        if (thread() == 0 && !missed) abort_all();
        missed = true;
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

/* A trial of these launches: whether they run at once, and whether messages arrive. Each rank sends a message to all
 * ranks, and every block waits for it. Uses as much of the device as an iteration. */
__global__ void __launch_bounds__(SIMPLEX_THREADS, 1) split_trial(const __grid_constant__ PeerMap peers) {
    const int lane = static_cast<int>(threadIdx.x);
    if (lane >= 32) return;
    const unsigned long long message = peers.number + 1;
    const int set = static_cast<int>(message & 1) * peers.ranks;
    const bool other = lane < peers.ranks && lane != peers.rank;
    if (other && blockIdx.x == 0) peer_send(peers.candidates[lane] + (set + peers.rank) * CANDIDATE_WORDS, 0, message);
    const PeerPatience patience = {peers.nanoseconds, peers.lost[peers.rank], &peers.status->stop};
    double nothing;
    const bool arrived =
        __all_sync(~0u, !other || peer_receive(peers.candidates[peers.rank] + (set + lane) * CANDIDATE_WORDS, message,
                                               patience, &nothing));
    if (blockIdx.x > 0 || lane > 0) return;
    peers.status->number = message;
    peers.status->lost = !arrived;
}

} // namespace

#endif /* GPUOPT_CUDA_SIMPLEX_SPLIT_PEER_CUH */
