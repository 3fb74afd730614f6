/* SPDX-License-Identifier: MIT
 *
 * Probing on the GPU: the kernels. They make the nodes of a piece, merge the bounds of each binary's two nodes, and
 * list implications and equivalences.
 */
#ifndef GPUOPT_CUDA_PROPAGATE_PROBE_KERNELS_CUH
#define GPUOPT_CUDA_PROPAGATE_PROBE_KERNELS_CUH

#include "../../../gpuopt_impl/propagate/arith/probe_pair.h"
#include "../batch/run.cuh"

namespace {

/* The results of a piece, besides bounds. */
struct ProbeReport {
    int done;       /* binaries */
    int hopeless;   /* the first binary that can be neither 0 nor 1; INT_MAX: none */
    int infeasible; /* number of infeasible probes */
    int unfinished;
    unsigned long long implied_binaries;
    long long implications, equivalences;
};

/* The data of the kernels. Nodes 2 k and 2 k + 1 of a piece set its binary k to 0 and to 1. */
struct ProbeView {
    unsigned char *is_binary; /* [cols] */
    double *lb, *ub;          /* [cols]: bounds that hold in every solution */
    int *binary;              /* [cols] */
    int *outcome;             /* [2 cols] */
    long long *start;         /* [2 cols + 1]: of the implications */
    ChangeBuffer implied;
    int *equal, *other; /* [equivalences] */
    unsigned char *opposite;
    long long *node_start; /* [nodes + 1] */
    int *node_col;         /* [nodes] */
    double *node_bound;    /* [nodes] */
    long long *node_at;    /* [nodes + 1]: the start of its implications among the piece's */
    long long *pair_at;    /* [nodes / 2 + 1]: likewise equivalences */
    ProbeReport *report;
    long long equivalences; /* capacity */
};

/* A piece: binaries `first` to first + count - 1, after the implications and equivalences found before. */
struct ProbePiece {
    const NodeRecord *record;
    ChangeBuffer changed;
    int first, count;
    long long implications, equivalences;
};

__global__ void set_probes(ProbeView v, ProbePiece piece) {
    for (int k = grid_thread(); k <= 2 * piece.count; k += grid_threads()) {
        v.node_start[k] = k;
        if (k == 2 * piece.count) break;
        v.node_col[k] = v.binary[piece.first + k / 2];
        v.node_bound[k] = k % 2;
    }
    if (grid_thread() == 0) *v.report = {piece.count, INT_MAX, 0, 0, 0, 0, 0};
}

/* Counts the binaries before the first node that was not run because of a stop. */
__global__ void count_probed(ProbeView v, ProbePiece piece) {
    for (int k = grid_thread(); k < 2 * piece.count; k += grid_threads())
        if (piece.record[k].outcome == GPUOPT_MORE && piece.record[k].rounds == 0) atomicMin(&v.report->done, k / 2);
}

__device__ gpuopt__propagator_probe_pair pair_of(const ProbeView &v, const ProbePiece &piece, int k) {
    gpuopt__propagator_probe_pair pair = {};
    for (int s = 0; s < 2; s++) {
        const NodeRecord &one = piece.record[2 * k + s];
        pair.side[s] = {piece.changed.col + one.at, piece.changed.lb + one.at, piece.changed.ub + one.at, one.columns,
                        one.outcome == GPUOPT_INFEASIBLE};
    }
    pair.binary = v.binary[piece.first + k];
    pair.is_binary = v.is_binary;
    return pair;
}

/* Tightens bounds, and counts: a thread takes a binary. */
__global__ void __launch_bounds__(THREADS) merge_probes(ProbeView v, ProbePiece piece) {
    const int done = v.report->done;
    for (int k = grid_thread(); k <= piece.count; k += grid_threads()) {
        long long equivalences = 0;
        if (k == piece.count) v.node_at[2 * k] = 0;
        for (int s = 0; s < 2 && k < piece.count; s++) {
            const NodeRecord &one = piece.record[2 * k + s];
            v.node_at[2 * k + s] = k < done && one.columns ? one.columns - 1 : 0; /* without the binary itself */
            if (k >= done || one.outcome == GPUOPT_CONVERGED) continue;
            atomicAdd(one.outcome == GPUOPT_INFEASIBLE ? &v.report->infeasible : &v.report->unfinished, 1);
        }
        if (k < done) {
            gpuopt__propagator_probe_pair pair = pair_of(v, piece, k);
            gpuopt__propagator_probe_fact fact;
            if (pair.side[0].infeasible && pair.side[1].infeasible) atomicMin(&v.report->hopeless, k);
            while (gpuopt__propagator_probe_next_fact(&pair, &fact)) {
                move_side(&v.lb[fact.col], false, fact.lb);
                move_side(&v.ub[fact.col], true, fact.ub);
                equivalences += fact.equivalent;
            }
        }
        v.pair_at[k] = equivalences;
    }
}

/* Copies implications, as far as they fit: a warp takes a node. */
__global__ void __launch_bounds__(THREADS) gather_implied(ProbeView v, ProbePiece piece) {
    const int done = v.report->done, lane = static_cast<int>(threadIdx.x % WARP);
    if (grid_thread() == 0) {
        v.report->implications = v.node_at[2 * piece.count];
        v.report->equivalences = v.pair_at[piece.count];
    }
    for (int node = grid_warp(); node < 2 * done; node += grid_warps()) {
        const NodeRecord one = piece.record[node];
        const int binary = v.node_col[node];
        const long long at = piece.implications + v.node_at[node];
        unsigned long long binaries = 0;
        if (lane == 0) v.start[2LL * piece.first + node + 1] = piece.implications + v.node_at[node + 1];
        for (int k = lane; k < one.columns; k += WARP) {
            const int col = piece.changed.col[one.at + k];
            const long long to = at + k - (col > binary); /* in ascending order */
            if (col == binary) continue;
            binaries += v.is_binary[col];
            if (to >= static_cast<long long>(v.implied.capacity)) continue;
            v.implied.col[to] = col;
            v.implied.lb[to] = piece.changed.lb[one.at + k];
            v.implied.ub[to] = piece.changed.ub[one.at + k];
        }
        if (binaries) atomicAdd(&v.report->implied_binaries, binaries);
    }
}

__global__ void __launch_bounds__(THREADS) list_equivalences(ProbeView v, ProbePiece piece) {
    for (int k = grid_thread(); k < v.report->done; k += grid_threads()) {
        long long at = piece.equivalences + v.pair_at[k];
        if (v.pair_at[k] == v.pair_at[k + 1]) continue;
        gpuopt__propagator_probe_pair pair = pair_of(v, piece, k);
        gpuopt__propagator_probe_fact fact;
        while (gpuopt__propagator_probe_next_fact(&pair, &fact)) {
            if (!fact.equivalent || at >= v.equivalences) continue;
            v.equal[at] = pair.binary;
            v.other[at] = fact.col;
            v.opposite[at] = static_cast<unsigned char>(fact.opposite);
            at++;
        }
    }
}

} // namespace

#endif /* GPUOPT_CUDA_PROPAGATE_PROBE_KERNELS_CUH */
