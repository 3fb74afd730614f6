/* SPDX-License-Identifier: MIT
 *
 * A tableau with columns split over the ranks of a group (Meyer, Albuquerque and Chopard 2011). Each rank has a block
 * of successive slots, and all vectors of the rows. This file has all exchanges of the ranks while they iterate. Every
 * rank makes the same decisions from the same numbers, so all stay at the same basis.
 *
 * An iteration has two exchanges: each rank's best candidate, and the pivot column, from the rank that stores it. Each
 * rank does the ratio test and updates the rows by itself. It also updates the pivot row, reduced costs and weights of
 * its own slots. The control needs all slots. On the CPU all ranks get all reduced costs and weights after a run; they
 * already have the other vectors. On the GPU they get the whole state of all slots when the control reads it.
 *
 * The result has the same bits as with one rank: candidates are compared in the order of slots, and sums over columns
 * continue from one rank to the next. The interleaved parts of such a sum (gpuopt__dot) keep their places, since every
 * block begins at a multiple of 8.
 *
 * A failed exchange leaves its status in `status`, and the engine's call returns that status. The group's calls are
 * passed in the shape, so that a separately compiled backend needs no symbol of the library.
 */
#ifndef GPUOPT_IMPL_SIMPLEX_RANKS_COLUMN_SPLIT_H
#define GPUOPT_IMPL_SIMPLEX_RANKS_COLUMN_SPLIT_H

#include "../backend.h"

/* The group's public calls that the exchanges use. */
typedef struct gpuopt__simplex_exchanges {
    gpuopt_status (*all_gather)(gpuopt_group *, gpuopt_memory_space, const void *, uint64_t, void *, uint64_t,
                                uint64_t *);
    gpuopt_status (*broadcast)(gpuopt_group *, gpuopt_memory_space, int32_t, void *, uint64_t);
    gpuopt_status (*send)(gpuopt_group *, gpuopt_memory_space, int32_t, const void *, uint64_t);
    gpuopt_status (*receive)(gpuopt_group *, gpuopt_memory_space, int32_t, void *, uint64_t);
    gpuopt_status (*all_reduce)(gpuopt_group *, gpuopt_group_reduction, int64_t, int64_t *, double *);
    gpuopt_status (*give_up)(gpuopt_group *);
} gpuopt__simplex_exchanges;

/* A rank's best slot, and what all ranks must know about it. */
typedef struct gpuopt__simplex_pivot_candidate {
    double score, d, weight;
    int64_t slot;           /* -1: none */
    double x, lower, upper; /* of its variable, for engines that store only their own slots; else 0 */
    int64_t variable;
} gpuopt__simplex_pivot_candidate;

/* An array by slots; each rank has its own part. */
typedef struct gpuopt__simplex_by_slot {
    void *at;
    size_t size; /* of an element */
} gpuopt__simplex_by_slot;

typedef struct gpuopt__simplex_split {
    gpuopt_group *group; /* NULL: all slots are on this rank */
    const gpuopt__simplex_exchanges *calls;
    int32_t rank, ranks;
    int32_t cols, first, end;    /* all slots are 0 .. cols - 1, this rank's first .. end - 1 */
    int32_t most;                /* most slots of a rank */
    gpuopt_memory_space columns; /* memory of the exchanged pivot columns */
    gpuopt_status status;
    gpuopt__simplex_pivot_candidate *candidates; /* [ranks] */
    char *send, *receive;                        /* [most * width], [ranks][most * width] bytes */
} gpuopt__simplex_split;

/* The first slot of a rank. */
static int32_t gpuopt__simplex_split_first(int32_t cols, int32_t ranks, int32_t rank) {
    const int64_t blocks = ((int64_t)cols + 7) / 8, first = 8 * (blocks * rank / ranks);
    return first < cols ? (int32_t)first : cols;
}

/* Sets the ranges and cuts the arrays. A group of one rank needs no arrays. width: bytes per slot gathered at once. */
static void gpuopt__simplex_split_cut(gpuopt__arena *arena, const gpuopt__simplex_shape *shape, size_t width,
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
    s->calls = shape->exchanges;
    s->columns = shape->columns;
    s->candidates = (gpuopt__simplex_pivot_candidate *)gpuopt__cut(arena, ranks, sizeof *s->candidates);
    s->send = (char *)gpuopt__cut(arena, ranks ? s->most : 0, width);
    s->receive = (char *)gpuopt__cut(arena, (int64_t)ranks * s->most, width);
}

static int gpuopt__simplex_split_has(const gpuopt__simplex_split *s, int32_t slot) {
    return slot >= s->first && slot < s->end;
}

/* Records a failed exchange and gives up the group: its ranks cannot continue after a disagreement during a call. */
static void gpuopt__simplex_split_ended(gpuopt__simplex_split *s, gpuopt_status status) {
    if (!status) return;
    s->status = GPUOPT_ERROR_PEER;
    s->calls->give_up(s->group);
}

/* The best candidate of all ranks: the highest score, then the lowest slot. *best must be empty before. */
GPUOPT_HD void gpuopt__simplex_split_best(const gpuopt__simplex_pivot_candidate *candidates, int32_t ranks,
                                          gpuopt__simplex_pivot_candidate *best) {
    int32_t r;
    for (r = 0; r < ranks; r++)
        if (candidates[r].slot >= 0 && candidates[r].score > best->score) *best = candidates[r];
}

/* Exchanges each rank's candidate for the best of all ranks. */
static void gpuopt__simplex_split_choose(gpuopt__simplex_split *s, const gpuopt__simplex_pivot_candidate *own,
                                         gpuopt__simplex_pivot_candidate *best) {
    const uint64_t bytes = sizeof *own;
    memset(best, 0, sizeof *best);
    best->slot = -1;
    if (s->status) return;
    gpuopt__simplex_split_ended(
        s, s->calls->all_gather(s->group, GPUOPT_HOST, own, bytes, s->candidates, bytes * (uint64_t)s->ranks, NULL));
    if (!s->status) gpuopt__simplex_split_best(s->candidates, s->ranks, best);
}

/* Sends the column of a slot, x [rows] in s->columns, from its rank to the other ranks. */
static void gpuopt__simplex_split_share(gpuopt__simplex_split *s, int32_t slot, int32_t rows, double *x) {
    int32_t owner = 0;
    if (s->ranks == 1 || s->status) return;
    while (gpuopt__simplex_split_first(s->cols, s->ranks, owner + 1) <= slot) owner++;
    gpuopt__simplex_split_ended(s,
                                s->calls->broadcast(s->group, s->columns, owner, x, sizeof(double) * (uint64_t)rows));
}

/* Gathers arrays [cols] on all ranks. Each rank contributes the part of its own slots. */
static void gpuopt__simplex_split_gather(gpuopt__simplex_split *s, int32_t count,
                                         const gpuopt__simplex_by_slot *array) {
    const size_t most = (size_t)s->most;
    size_t bytes = 0, at = 0;
    int32_t r, k;
    if (s->ranks == 1 || s->status) return;
    for (k = 0; k < count; k++) bytes += most * array[k].size;
    memset(s->send, 0, bytes);
    for (k = 0; k < count; at += most * array[k++].size)
        memcpy(s->send + at, (const char *)array[k].at + (size_t)s->first * array[k].size,
               (size_t)(s->end - s->first) * array[k].size);
    gpuopt__simplex_split_ended(s, s->calls->all_gather(s->group, GPUOPT_HOST, s->send, bytes, s->receive,
                                                        (uint64_t)bytes * (uint64_t)s->ranks, NULL));
    for (r = 0, at = 0; r < s->ranks && !s->status; r++) {
        const int32_t first = gpuopt__simplex_split_first(s->cols, s->ranks, r);
        const size_t slots = (size_t)(gpuopt__simplex_split_first(s->cols, s->ranks, r + 1) - first);
        for (k = 0; k < count; at += most * array[k++].size)
            memcpy((char *)array[k].at + (size_t)first * array[k].size, s->receive + at, slots * array[k].size);
    }
}

/* Starts a sum [count] to which each rank adds the part of its slots: waits for the sum of the previous ranks. */
static void gpuopt__simplex_split_wait_for(gpuopt__simplex_split *s, int64_t count, double *sum) {
    if (s->rank > 0 && !s->status)
        gpuopt__simplex_split_ended(
            s, s->calls->receive(s->group, GPUOPT_HOST, s->rank - 1, sum, sizeof(double) * (uint64_t)count));
}

/* Passes the sum on to the next rank. All ranks get the last rank's sum. */
static void gpuopt__simplex_split_pass_on(gpuopt__simplex_split *s, int64_t count, double *sum) {
    const uint64_t bytes = sizeof(double) * (uint64_t)count;
    if (s->ranks == 1 || s->status) return;
    if (s->rank < s->ranks - 1)
        gpuopt__simplex_split_ended(s, s->calls->send(s->group, GPUOPT_HOST, s->rank + 1, sum, bytes));
    if (!s->status)
        gpuopt__simplex_split_ended(s, s->calls->broadcast(s->group, GPUOPT_HOST, s->ranks - 1, sum, bytes));
}

#endif /* GPUOPT_IMPL_SIMPLEX_RANKS_COLUMN_SPLIT_H */
