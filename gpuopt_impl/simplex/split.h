/* SPDX-License-Identifier: MIT
 *
 * A tableau whose columns are split over the ranks of a group (Meyer, Albuquerque and Chopard 2011). Each rank has a
 * block of successive slots, and all vectors of the rows; what the ranks tell one another while they iterate is all
 * here. Every rank makes the same decisions from the same numbers, so all stay at the same basis.
 *
 * An iteration has two exchanges: each rank's best candidate, and the pivot column, from the rank that has it. The
 * ratio test and the update of the rows each rank does for itself; the pivot row, reduced costs and weights of its slots
 * it has. After a run all ranks get all reduced costs and weights.
 *
 * The result has the bits of one rank: candidates are compared in the order of slots, and sums over columns go on from
 * one rank to the next. The interleaved parts of such a sum (gpuopt__dot) keep their places, since every block begins at
 * a multiple of 8.
 *
 * An exchange that fails leaves its status in `status`, and the engine's call ends with it.
 */
#ifndef GPUOPT_IMPL_SIMPLEX_SPLIT_H
#define GPUOPT_IMPL_SIMPLEX_SPLIT_H

#include "../common/ranks.h"
#include "backend.h"

/* The best slot of a rank, and what all ranks must know of it. */
typedef struct gpuopt__simplex_bid {
    double score, d, weight;
    int64_t slot; /* -1: none */
} gpuopt__simplex_bid;

typedef struct gpuopt__simplex_split {
    gpuopt_group *group; /* NULL: all slots are here */
    int32_t rank, ranks;
    int32_t cols, first, end; /* of all slots, this rank's are first .. end - 1 */
    int32_t most;             /* slots of a rank */
    gpuopt_status status;
    gpuopt__simplex_bid *bids; /* [ranks] */
    double *send, *receive;    /* [2 * most], [ranks][2 * most] */
} gpuopt__simplex_split;

/* The first slot of a rank. */
static int32_t gpuopt__simplex_split_first(int32_t cols, int32_t ranks, int32_t rank) {
    const int64_t blocks = ((int64_t)cols + 7) / 8, first = 8 * (blocks * rank / ranks);
    return first < cols ? (int32_t)first : cols;
}

/* Sets the ranges, and cuts the arrays, which a group of one rank does not need. */
static void gpuopt__simplex_split_cut(gpuopt__arena *arena, const gpuopt__simplex_shape *shape,
                                      gpuopt__simplex_split *s) {
    const int64_t blocks = ((int64_t)shape->cols + 7) / 8, most = 8 * ((blocks + shape->ranks - 1) / shape->ranks);
    const int32_t ranks = shape->ranks > 1 ? shape->ranks : 0;
    s->rank = shape->rank;
    s->ranks = shape->ranks;
    s->cols = shape->cols;
    s->first = gpuopt__simplex_split_first(s->cols, s->ranks, s->rank);
    s->end = gpuopt__simplex_split_first(s->cols, s->ranks, s->rank + 1);
    s->most = (int32_t)(most < s->cols ? most : s->cols);
    s->status = GPUOPT_OK;
    s->bids = (gpuopt__simplex_bid *)gpuopt__cut(arena, ranks, sizeof *s->bids);
    s->send = (double *)gpuopt__cut(arena, ranks ? 2 * (int64_t)s->most : 0, sizeof *s->send);
    s->receive = (double *)gpuopt__cut(arena, 2 * (int64_t)ranks * s->most, sizeof *s->receive);
}

static int gpuopt__simplex_split_has(const gpuopt__simplex_split *s, int32_t slot) {
    return slot >= s->first && slot < s->end;
}

/* Keeps the status of an exchange. Ranks that disagree, or one that failed, in the midst of a call cannot go on. */
static void gpuopt__simplex_split_ended(gpuopt__simplex_split *s, gpuopt_status status) {
    if (!status) return;
    s->status = GPUOPT_ERROR_PEER;
    gpuopt_group_abort(s->group);
}

/* Makes this rank's best candidate the best of all: the highest score, the lowest slot among equal ones. All ranks then
 * have its reduced cost and weight in d and weight. */
static void gpuopt__simplex_split_choose(gpuopt__simplex_split *s, gpuopt__simplex_run_report *report, double *d,
                                         double *weight) {
    const int32_t q = report->entering;
    gpuopt__simplex_bid own = {report->score, q < 0 ? 0 : d[q], q < 0 ? 0 : weight[q], q};
    int32_t r;
    report->entering = -1;
    report->score = 0;
    if (s->status) return;
    gpuopt__simplex_split_ended(
        s, gpuopt_group_all_gather(s->group, &own, sizeof own, s->bids, sizeof own * (uint64_t)s->ranks, NULL));
    for (r = 0; r < s->ranks && !s->status; r++) {
        if (!(s->bids[r].score > report->score)) continue;
        report->score = s->bids[r].score;
        report->entering = (int32_t)s->bids[r].slot;
        d[report->entering] = s->bids[r].d;
        weight[report->entering] = s->bids[r].weight;
    }
}

/* The column of a slot, x [rows], goes from the rank that has it to the others. */
static void gpuopt__simplex_split_share(gpuopt__simplex_split *s, int32_t slot, int32_t rows, double *x) {
    int32_t owner = 0;
    if (s->ranks == 1 || s->status) return;
    while (gpuopt__simplex_split_first(s->cols, s->ranks, owner + 1) <= slot) owner++;
    gpuopt__simplex_split_ended(s, gpuopt_group_broadcast(s->group, owner, x, sizeof(double) * (uint64_t)rows));
}

/* All ranks get all of a [cols] and b [cols], of which each has its own slots'. b may be NULL. */
static void gpuopt__simplex_split_gather(gpuopt__simplex_split *s, double *a, double *b) {
    const size_t stride = (size_t)s->most * (b ? 2 : 1), own = sizeof(double) * (size_t)(s->end - s->first);
    const uint64_t bytes = sizeof(double) * (uint64_t)stride;
    int32_t r;
    if (s->ranks == 1 || s->status) return;
    memset(s->send, 0, (size_t)bytes);
    memcpy(s->send, a + s->first, own);
    if (b) memcpy(s->send + s->most, b + s->first, own);
    gpuopt__simplex_split_ended(
        s, gpuopt_group_all_gather(s->group, s->send, bytes, s->receive, bytes * (uint64_t)s->ranks, NULL));
    for (r = 0; r < s->ranks && !s->status; r++) {
        const int32_t first = gpuopt__simplex_split_first(s->cols, s->ranks, r);
        const size_t size = sizeof(double) * (size_t)(gpuopt__simplex_split_first(s->cols, s->ranks, r + 1) - first);
        memcpy(a + first, s->receive + (size_t)r * stride, size);
        if (b) memcpy(b + first, s->receive + (size_t)r * stride + s->most, size);
    }
}

/* A sum that each rank adds its slots' part to, sum [count]: waits for that of the ranks before this one ... */
static void gpuopt__simplex_split_wait_for(gpuopt__simplex_split *s, int64_t count, double *sum) {
    if (s->rank > 0 && !s->status)
        gpuopt__simplex_split_ended(s,
                                    gpuopt_group_receive(s->group, s->rank - 1, sum, sizeof(double) * (uint64_t)count));
}

/* ... and passes it on. The last rank's is then everybody's. */
static void gpuopt__simplex_split_pass_on(gpuopt__simplex_split *s, int64_t count, double *sum) {
    const uint64_t bytes = sizeof(double) * (uint64_t)count;
    if (s->ranks == 1 || s->status) return;
    if (s->rank < s->ranks - 1) gpuopt__simplex_split_ended(s, gpuopt_group_send(s->group, s->rank + 1, sum, bytes));
    if (!s->status) gpuopt__simplex_split_ended(s, gpuopt_group_broadcast(s->group, s->ranks - 1, sum, bytes));
}

#endif /* GPUOPT_IMPL_SIMPLEX_SPLIT_H */
