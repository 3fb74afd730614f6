/* SPDX-License-Identifier: MIT
 *
 * Ranks of one process that share a tableau: finds out whether their kernels can write to each other's memory, and is
 * the CPU side of such iterations (split/peer.cuh). If they cannot, split_run.cuh goes through host memory.
 *
 * Launches. All ranks synchronise before each launch, by the group. So no kernel waits for a rank that still loads
 * code, takes memory or applies pivots, since these may wait for the device. Ranks on one device share its
 * multiprocessors equally, so that all their blocks are resident at once. A trial at _create shows whether that works.
 * Other work may occupy the device later; a wait beyond the group's time limit then gives up.
 */
#ifndef GPUOPT_CUDA_SIMPLEX_HANDLE_SPLIT_CONNECT_CUH
#define GPUOPT_CUDA_SIMPLEX_HANDLE_SPLIT_CONNECT_CUH

#include "create.cuh"

namespace {

/* The data that the ranks exchange. */
struct SplitOffer {
    PeerHandle handle;
    PeerCell *candidates, *columns;
    unsigned long long *lost;
    int blocks, multiprocessors;
};

/* The number of blocks, equal for each rank. At most the number for which this handle has memory. */
int split_choose_blocks(const SplitOffer *offers, int ranks) {
    int blocks = SIMPLEX_BLOCKS;
    for (int r = 0; r < ranks; r++) {
        int here = 0;
        for (int k = 0; k < ranks; k++) here += offers[k].handle.device == offers[r].handle.device;
        if (offers[r].blocks < blocks) blocks = offers[r].blocks;
        if (offers[r].multiprocessors / here < blocks) blocks = offers[r].multiprocessors / here;
    }
    return blocks;
}

/* Makes the view for `blocks` blocks. False: a block would need too much shared memory. */
bool split_fit(const CudaSimplex &s, int blocks, SimplexView *view) {
    const auto most = static_cast<size_t>(cuda_of(s.context())->block_memory);
    auto fits = [&] {
        const size_t bytes = simplex_shared_bytes(*view);
        int resident = 0;
        return bytes + sizeof(PeerShared) <= most && enter_shared_bytes(*view) <= most &&
               cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, split_peers_kernel(s), SIMPLEX_THREADS,
                                                             bytes) == cudaSuccess &&
               resident > 0;
    };
    view->blocks = blocks;
    simplex_divide(view, view->lines);
    bool &extra = s.deferred ? view->resident : view->whole;
    extra = true;
    if (fits()) return true;
    extra = false;
    return fits();
}

/* Returns why this rank cannot take part, or null. view: for the number of blocks of all ranks. */
const char *split_join(CudaSimplex *s, const SplitOffer *offers, SimplexView *view) {
    const int ranks = s->split.ranks;
    for (int r = 0; r < ranks; r++) {
        const char *why =
            r == s->split.rank ? nullptr : peer_map(s->context(), offers[s->split.rank].handle, offers[r].handle);
        if (why) return why;
    }
    const int blocks = split_choose_blocks(offers, ranks);
    if (blocks < 1) return "a device has fewer multiprocessors than ranks";
    return split_fit(*s, blocks, view) ? nullptr : "a block's part of the rows and columns is too large";
}

/* ---- Launches ---- */

/* f(handle) for each other rank. */
template <class F>
void split_for_others(const CudaSimplex *s, F f) {
    for (int r = 0; r < s->split.ranks; r++)
        if (r != s->split.rank) f(s->peers.handle[r]);
}

/* Keeps all other ranks' mailboxes accessible during its lifetime. */
class SplitAccess {
  public:
    explicit SplitAccess(const CudaSimplex *s) {
        split_for_others(s, [&](const PeerHandle &handle) {
            if (PeerGate::enter(handle.key)) inside_[count_++] = handle.key;
        });
        everywhere_ = count_ == s->split.ranks - 1;
    }
    ~SplitAccess() {
        while (count_ > 0) PeerGate::leave(inside_[--count_]);
    }
    SplitAccess(const SplitAccess &) = delete;
    SplitAccess &operator=(const SplitAccess &) = delete;
    bool everywhere() const { return everywhere_; }

  private:
    PeerKey inside_[PEER_MOST];
    int count_ = 0;
    bool everywhere_ = false;
};

/* Calls launch() while the other ranks' mailboxes are accessible. *lost: a message did not arrive. */
template <class Launch>
gpuopt_status split_launch_with_access(CudaSimplex *s, bool *lost, Launch launch) {
    SplitPeers &p = s->peers;
    const SplitAccess visit(s);
    if (!visit.everywhere()) {
        gpuopt__log(s->context(), 0, "simplex: rank %d finds another's handle gone", static_cast<int>(s->split.rank));
        return GPUOPT_ERROR_PEER;
    }
    gpuopt_status status = launch();
    if (status) return status;
    p.map.number = p.status->number;
    *lost = p.status->lost != 0;
    return GPUOPT_OK;
}

/* Several iterations of all ranks, each in one launch. Every rank must reach this point, or the group is broken. */
gpuopt_status split_peer_launch(CudaSimplex *s, const gpuopt__simplex_run &run) {
    gpuopt_status met = s->split.calls->all_gather(s->split.group, GPUOPT_HOST, nullptr, 0, nullptr, 0, nullptr);
    if (met) return met;
    bool lost = false;
    gpuopt_status status = split_launch_with_access(s, &lost, [&] {
        return simplex_launch(s, split_peers_kernel(*s), simplex_shared_bytes(s->view), split_view(s->view), run,
                              s->peers.map, s->pending);
    });
    if (lost) {
        gpuopt__log(s->context(), 0, "simplex: rank %d has waited in vain for another's message",
                    static_cast<int>(s->split.rank));
        status = GPUOPT_ERROR_PEER;
    }
    if (status) split_for_others(s, peer_stop);
    return status;
}

/* ---- Finding one another ---- */

/* Whether all ranks can take part. *why: this rank's reason not to, or null. Afterwards it is null only if all can. */
gpuopt_status split_all_join(CudaSimplex *s, const char **why) {
    int64_t joins = !*why;
    gpuopt_status status = s->split.calls->all_reduce(s->split.group, GPUOPT_REDUCE_MIN, 1, &joins, nullptr);
    if (!status && !joins && !*why) *why = "another rank cannot do otherwise";
    return status;
}

/* A trial with a short time limit. */
gpuopt_status split_trial_all(CudaSimplex *s, const char **why) {
    constexpr unsigned long long limit = 5000000000; /* nanoseconds */
    bool lost = false;
    gpuopt_status status = split_launch_with_access(s, &lost, [&] {
        PeerMap map = s->peers.map;
        if (map.nanoseconds > limit) map.nanoseconds = limit;
        return simplex_launch(s, split_trial, simplex_shared_bytes(s->view), map);
    });
    if (status) split_for_others(s, peer_stop); /* the other ranks wait for this rank's messages */
    if (lost) *why = "their kernels do not run at once, or do not see one another's memory";
    return split_status(s, status);
}

/* Called before the first launch. Logs the kind of exchange. */
gpuopt_status split_find_peers(void *engine) {
    CudaSimplex *s = cuda_simplex(engine);
    DeviceScope scope(s->context());
    SplitPeers &p = s->peers;
    const int ranks = s->split.ranks;
    if (ranks > PEER_MOST) {
        gpuopt__log(s->context(), 2, "simplex: ranks exchange through host memory: there are more than %d",
                    static_cast<int>(PEER_MOST));
        return GPUOPT_OK;
    }
    SplitOffer own = {}, offers[PEER_MOST] = {};
    SimplexView view = s->view;
    gpuopt_status status = split_status(s, s->wait("clearing a mailbox"));
    if (status) return status;
    p.open = PeerGate::open(&p.key);
    own.handle = peer_handle(s->context(), p.key, p.open, p.status);
    own.candidates = view.candidates;
    own.columns = view.columns;
    own.lost = view.lost;
    own.blocks = view.blocks;
    own.multiprocessors = cuda_of(s->context())->multiprocessors;
    status = s->split.calls->all_gather(s->split.group, GPUOPT_HOST, &own, sizeof own, offers,
                                        sizeof own * static_cast<size_t>(ranks), nullptr);
    if (status) return status;
    for (int r = 0; r < ranks; r++) {
        p.handle[r] = offers[r].handle;
        p.map.candidates[r] = offers[r].candidates;
        p.map.columns[r] = offers[r].columns;
        p.map.lost[r] = offers[r].lost;
    }
    p.map.rank = s->split.rank;
    p.map.ranks = ranks;
    p.map.status = p.status;
    const char *why = split_join(s, offers, &view);
    status = split_all_join(s, &why);
    if (!status && !why) {
        const SimplexView before = s->view;
        s->view = view;
        status = split_trial_all(s, &why);
        if (!status) status = split_all_join(s, &why);
        if (status || why) s->view = before;
    }
    if (status) return status;
    p.joined = !why;
    if (why) gpuopt__log(s->context(), 2, "simplex: ranks exchange through host memory: %s", why);
    else gpuopt__log(s->context(), 2, "simplex: ranks exchange through peer memory, %d blocks each", view.blocks);
    return GPUOPT_OK;
}

/* Frees the mailbox, after the last write to it. Stops kernels of other ranks only if this rank failed. If it did not,
 * they already have all of its messages, but may still wait for another rank's. */
void split_forget_peers(CudaSimplex *s) {
    if (!s->peers.open) return;
    PeerGate::shut(s->peers.key);
    if (s->peers.joined && s->split.status) split_for_others(s, peer_stop);
    PeerGate::close(s->peers.key);
}

} // namespace

#endif /* GPUOPT_CUDA_SIMPLEX_HANDLE_SPLIT_CONNECT_CUH */
