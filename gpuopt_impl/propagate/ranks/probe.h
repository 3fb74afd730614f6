/* SPDX-License-Identifier: MIT
 *
 * Probing shared by the ranks of a group: each has a block of the binaries, in the order of the probes. So the results
 * of the ranks, one after the other, are the results of one rank; bounds are merged in that order, too.
 */
#ifndef GPUOPT_IMPL_PROPAGATE_RANKS_PROBE_H
#define GPUOPT_IMPL_PROPAGATE_RANKS_PROBE_H

#include "../backend.h"
#include "batch.h"

/* A rank's report of its pass. */
typedef struct gpuopt__propagator_probe_part {
    int32_t probed, infeasible, unfinished, infeasible_col, stopped;
    int32_t tightened; /* whether it has found bounds */
    int64_t implications, implied_binaries, equivalences;
} gpuopt__propagator_probe_part;

/* What the calls on a probe do after the checks, whose result is `status`. A group's ranks need that status, too. */
struct gpuopt__propagator_probe_table {
    /* Begins a run of *chosen binaries; then *chosen are this rank's. */
    gpuopt_status (*begin)(gpuopt_propagator_probe *, const char *call, gpuopt_status status, int32_t rounds,
                           int32_t *chosen);
    /* Ends it: fills in probe->all, and the bounds of all ranks. */
    gpuopt_status (*end)(gpuopt_propagator_probe *, const char *call, gpuopt_status status);
    /* Begins a call that reads results. */
    gpuopt_status (*agree)(const gpuopt_propagator_probe *, const char *call, gpuopt_status status, int64_t capacity,
                           int64_t which);
    /* As the backend's probe_read_... */
    gpuopt_status (*read_implications)(const gpuopt_propagator_probe *, int64_t most,
                                       const gpuopt_propagator_probe_implications *);
    gpuopt_status (*read_equivalences)(const gpuopt_propagator_probe *, int64_t most,
                                       const gpuopt_propagator_probe_equivalences *);
};

struct gpuopt__propagator_probe_share {
    gpuopt_group *group;
    int32_t rank, ranks;
    gpuopt__propagator_probe_part *part; /* [ranks]; parts behind a stopped rank are empty */
    int32_t *binary;                     /* [cols] of all ranks */
    double *own, *other;                 /* [2 cols] bounds of this rank, and of another */
};

/* ---- Memory ---- */

static void gpuopt__propagator_probe_share_cut(gpuopt__arena *arena, int32_t cols, int32_t ranks,
                                               struct gpuopt__propagator_probe_share *s) {
    gpuopt__cut(arena, 1, sizeof *s);
    s->part = (gpuopt__propagator_probe_part *)gpuopt__cut(arena, ranks, sizeof *s->part);
    s->binary = (int32_t *)gpuopt__cut(arena, cols, sizeof *s->binary);
    s->own = (double *)gpuopt__cut(arena, 2 * (int64_t)cols, sizeof *s->own);
    s->other = (double *)gpuopt__cut(arena, 2 * (int64_t)cols, sizeof *s->other);
}

static uint64_t gpuopt__propagator_probe_share_plan(const gpuopt_group *group, int32_t cols, int32_t ranks) {
    struct gpuopt__propagator_probe_share measure;
    gpuopt__arena arena = {NULL, 0};
    if (!group) return 0;
    gpuopt__propagator_probe_share_cut(&arena, cols, ranks, &measure);
    return arena.used;
}

/* ---- A run ---- */

/* Whether all ranks probe the same binaries at the same bounds. Then reduces *chosen and the list to this rank's
 * binaries. */
static gpuopt_status gpuopt__propagator_probe_share_begin(gpuopt_propagator_probe *probe, const char *call,
                                                          gpuopt_status status, int32_t rounds, int32_t *chosen) {
    struct gpuopt__propagator_probe_share *s = probe->share;
    uint64_t hash = gpuopt__hash_number(GPUOPT__HASH_START, (uint64_t)rounds);
    int32_t k, first;
    if (!status) {
        hash = gpuopt__hash_numbers(hash, probe->base_lb, probe->base->cols);
        hash = gpuopt__hash_numbers(hash, probe->base_ub, probe->base->cols);
        for (k = 0; k < *chosen; k++) hash = gpuopt__hash_number(hash, (uint64_t)probe->binary[k]);
    }
    status = gpuopt__ranks_agree(probe->base->context, s->group, call, status, hash);
    if (status) return status;
    memcpy(s->binary, probe->binary, sizeof *s->binary * (size_t)*chosen);
    probe->all_binary = s->binary;
    first = (int32_t)((int64_t)*chosen * s->rank / s->ranks);
    *chosen = (int32_t)((int64_t)*chosen * (s->rank + 1) / s->ranks) - first;
    memcpy(probe->binary, s->binary + first, sizeof *s->binary * (size_t)*chosen);
    return GPUOPT_OK;
}

/* Whether the pass has found bounds. */
static int32_t gpuopt__propagator_probe_tightened(const gpuopt_propagator_probe *probe) {
    int32_t j;
    for (j = 0; j < probe->base->cols; j++)
        if (probe->lb[j] > probe->base_lb[j] || probe->ub[j] < probe->base_ub[j]) return 1;
    return 0;
}

/* Merges the bounds of the ranks that have found some, in their order. Of equal bounds each rank keeps the first. */
static gpuopt_status gpuopt__propagator_probe_share_bounds(gpuopt_propagator_probe *probe) {
    struct gpuopt__propagator_probe_share *s = probe->share;
    const int32_t cols = probe->base->cols;
    const size_t bytes = sizeof(double) * (size_t)cols;
    gpuopt_status status = GPUOPT_OK;
    int32_t r, j;
    memcpy(s->own, probe->lb, bytes);
    memcpy(s->own + cols, probe->ub, bytes);
    memcpy(probe->lb, probe->base_lb, bytes);
    memcpy(probe->ub, probe->base_ub, bytes);
    for (r = 0; r < s->ranks && !status; r++) {
        double *from = r == s->rank ? s->own : s->other;
        if (!s->part[r].tightened) continue;
        status = gpuopt_group_broadcast(s->group, GPUOPT_HOST, r, from, 2 * bytes);
        for (j = 0; j < cols && !status; j++) {
            if (from[j] > probe->lb[j]) probe->lb[j] = from[j];
            if (from[cols + j] < probe->ub[j]) probe->ub[j] = from[cols + j];
        }
    }
    return status;
}

/* Ends a pass with this status on this rank: sums up the ranks' results, up to the first stopped rank. */
static gpuopt_status gpuopt__propagator_probe_share_end(gpuopt_propagator_probe *probe, const char *call,
                                                        gpuopt_status status) {
    struct gpuopt__propagator_probe_share *s = probe->share;
    const gpuopt_propagator_probe_info *info = &probe->info;
    const int32_t tightened = !status && gpuopt__propagator_probe_tightened(probe);
    const gpuopt__propagator_probe_part own = {info->probed,         info->infeasible,       info->unfinished,
                                               info->infeasible_col, probe->stopped,         tightened,
                                               info->implications,   info->implied_binaries, info->equivalences};
    int32_t r;
    status = gpuopt__ranks_agree(probe->base->context, s->group, call, status, 0);
    if (!status)
        status = gpuopt_group_all_gather(s->group, GPUOPT_HOST, &own, sizeof own, s->part,
                                         sizeof own * (uint64_t)s->ranks, NULL);
    if (status) return status;
    memset(&probe->all, 0, sizeof probe->all);
    probe->all.infeasible_col = -1;
    probe->stopped = 0;
    for (r = 0; r < s->ranks; r++) {
        const gpuopt__propagator_probe_part *p = &s->part[r];
        if (probe->stopped) memset(&s->part[r], 0, sizeof *s->part);
        else if (probe->all.infeasible_col < 0) probe->all.infeasible_col = p->infeasible_col;
        probe->stopped = probe->stopped || p->stopped;
        probe->all.probed += p->probed;
        probe->all.infeasible += p->infeasible;
        probe->all.unfinished += p->unfinished;
        probe->all.implications += p->implications;
        probe->all.implied_binaries += p->implied_binaries;
        probe->all.equivalences += p->equivalences;
    }
    return gpuopt__propagator_probe_share_bounds(probe);
}

/* ---- Results ---- */

/* Whether all ranks make the call, for the same results. */
static gpuopt_status gpuopt__propagator_probe_share_agree(const gpuopt_propagator_probe *probe, const char *call,
                                                          gpuopt_status status, int64_t capacity, int64_t which) {
    const int64_t hashed[] = {capacity, which};
    return gpuopt__ranks_agree(probe->base->context, probe->share->group, call, status,
                               gpuopt__hash_numbers(GPUOPT__HASH_START, hashed, 2));
}

/* Sends items first to first + count - 1 of an array from the rank that has them to the others. */
static gpuopt_status gpuopt__propagator_probe_share_send(const struct gpuopt__propagator_probe_share *s, int32_t rank,
                                                         void *array, size_t size, int64_t first, int64_t count) {
    if (!array || count == 0) return GPUOPT_OK;
    return gpuopt_group_broadcast(s->group, GPUOPT_HOST, rank, (char *)array + size * (size_t)first,
                                  size * (uint64_t)count);
}

/* How many of a rank's items are among the first `most`, if `before` items precede them. */
static int64_t gpuopt__propagator_probe_share_shown(int64_t items, int64_t before, int64_t most) {
    return before >= most ? 0 : items < most - before ? items : most - before;
}

/* Fills in all but count and binary: at most `most` implications. Fails alike on all ranks, or the group is broken. */
static gpuopt_status gpuopt__propagator_probe_share_implications(const gpuopt_propagator_probe *probe, int64_t most,
                                                                 const gpuopt_propagator_probe_implications *to) {
    const struct gpuopt__propagator_probe_share *s = probe->share;
    gpuopt_status status = GPUOPT_OK;
    int64_t probes = 0, before = 0, k;
    int32_t r;
    for (r = 0; r < s->ranks && !status; r++) {
        const int64_t mine = 2 * (int64_t)s->part[r].probed,
                      shown = gpuopt__propagator_probe_share_shown(s->part[r].implications, before, most);
        if (r == s->rank && mine > 0) {
            gpuopt_propagator_probe_implications own = *to;
            if (to->outcome) own.outcome += probes;
            if (to->start) own.start += probes;
            if (to->col) own.col += before;
            if (to->lb) own.lb += before;
            if (to->ub) own.ub += before;
            status = probe->base->context->desc.backend->propagator->probe_read_implications(probe, shown, &own);
            if (status) return gpuopt__ranks_give_up(s->group, status);
            for (k = 0; to->start && k <= mine; k++) own.start[k] += before;
        }
        status = gpuopt__propagator_probe_share_send(s, r, to->outcome, sizeof *to->outcome, probes, mine);
        if (!status) status = gpuopt__propagator_probe_share_send(s, r, to->start, sizeof *to->start, probes, mine);
        if (!status) status = gpuopt__propagator_probe_share_send(s, r, to->col, sizeof *to->col, before, shown);
        if (!status) status = gpuopt__propagator_probe_share_send(s, r, to->lb, sizeof *to->lb, before, shown);
        if (!status) status = gpuopt__propagator_probe_share_send(s, r, to->ub, sizeof *to->ub, before, shown);
        probes += mine;
        before += s->part[r].implications;
    }
    if (to->start) to->start[probes] = before;
    return status;
}

/* Fills in at most `most` equivalences. Fails likewise. */
static gpuopt_status gpuopt__propagator_probe_share_equivalences(const gpuopt_propagator_probe *probe, int64_t most,
                                                                 const gpuopt_propagator_probe_equivalences *to) {
    const struct gpuopt__propagator_probe_share *s = probe->share;
    gpuopt_status status = GPUOPT_OK;
    int64_t before = 0;
    int32_t r;
    for (r = 0; r < s->ranks && !status; r++) {
        const int64_t shown = gpuopt__propagator_probe_share_shown(s->part[r].equivalences, before, most);
        if (r == s->rank && shown > 0) {
            gpuopt_propagator_probe_equivalences own = *to;
            if (to->col) own.col += before;
            if (to->other) own.other += before;
            if (to->opposite) own.opposite += before;
            status = probe->base->context->desc.backend->propagator->probe_read_equivalences(probe, shown, &own);
            if (status) return gpuopt__ranks_give_up(s->group, status);
        }
        status = gpuopt__propagator_probe_share_send(s, r, to->col, sizeof *to->col, before, shown);
        if (!status) status = gpuopt__propagator_probe_share_send(s, r, to->other, sizeof *to->other, before, shown);
        if (!status)
            status = gpuopt__propagator_probe_share_send(s, r, to->opposite, sizeof *to->opposite, before, shown);
        before += s->part[r].equivalences;
    }
    return status;
}

/* ---- Alone ---- */

static gpuopt_status gpuopt__propagator_probe_alone_begin(gpuopt_propagator_probe *probe, const char *call,
                                                          gpuopt_status status, int32_t rounds, int32_t *chosen) {
    (void)call, (void)rounds, (void)chosen;
    probe->all_binary = probe->binary;
    return status;
}

static gpuopt_status gpuopt__propagator_probe_alone_end(gpuopt_propagator_probe *probe, const char *call,
                                                        gpuopt_status status) {
    (void)call;
    probe->all = probe->info;
    return status;
}

static gpuopt_status gpuopt__propagator_probe_alone_agree(const gpuopt_propagator_probe *probe, const char *call,
                                                          gpuopt_status status, int64_t capacity, int64_t which) {
    (void)probe, (void)call, (void)capacity, (void)which;
    return status;
}

static gpuopt_status gpuopt__propagator_probe_alone_implications(const gpuopt_propagator_probe *probe, int64_t most,
                                                                 const gpuopt_propagator_probe_implications *to) {
    return probe->base->context->desc.backend->propagator->probe_read_implications(probe, most, to);
}

static gpuopt_status gpuopt__propagator_probe_alone_equivalences(const gpuopt_propagator_probe *probe, int64_t most,
                                                                 const gpuopt_propagator_probe_equivalences *to) {
    return probe->base->context->desc.backend->propagator->probe_read_equivalences(probe, most, to);
}

static const struct gpuopt__propagator_probe_table gpuopt__propagator_probe_alone = {
    gpuopt__propagator_probe_alone_begin, gpuopt__propagator_probe_alone_end, gpuopt__propagator_probe_alone_agree,
    gpuopt__propagator_probe_alone_implications, gpuopt__propagator_probe_alone_equivalences};
static const struct gpuopt__propagator_probe_table gpuopt__propagator_probe_shared = {
    gpuopt__propagator_probe_share_begin, gpuopt__propagator_probe_share_end, gpuopt__propagator_probe_share_agree,
    gpuopt__propagator_probe_share_implications, gpuopt__propagator_probe_share_equivalences};

/* ---- Life ---- */

static gpuopt_status gpuopt__propagator_probe_share_create(gpuopt_group *group, const gpuopt_group_info *info,
                                                           gpuopt_propagator_probe *probe) {
    const int32_t cols = probe->base->cols;
    gpuopt__arena arena = {NULL, 0};
    struct gpuopt__propagator_probe_share *s;
    void *memory;
    gpuopt_status status;
    probe->table = group ? &gpuopt__propagator_probe_shared : &gpuopt__propagator_probe_alone;
    if (!group) return GPUOPT_OK;
    status = gpuopt__allocate(probe->base->context, GPUOPT_HOST,
                              gpuopt__propagator_probe_share_plan(group, cols, info->count), &memory);
    if (status) return status;
    s = (struct gpuopt__propagator_probe_share *)memory;
    memset(s, 0, sizeof *s);
    arena.base = (char *)memory;
    gpuopt__propagator_probe_share_cut(&arena, cols, info->count, s);
    s->group = group;
    s->rank = info->rank;
    s->ranks = info->count;
    probe->share = s;
    return GPUOPT_OK;
}

/* Ends the creation of a probe, which had this status on this rank. Returns the same status on all ranks. */
static gpuopt_status gpuopt__propagator_probe_share_made(gpuopt_propagator *base, const char *call,
                                                         gpuopt_status status, gpuopt_group *group,
                                                         const gpuopt_propagator_batch_desc *batch,
                                                         const gpuopt_propagator_probe *head) {
    uint64_t hash;
    if (!group) return status;
    hash = gpuopt__propagator_share_hash(base, batch, batch->nodes);
    hash = gpuopt__hash_number(hash, (uint64_t)head->implications);
    hash = gpuopt__hash_number(hash, (uint64_t)head->equivalences);
    return gpuopt__ranks_agree(base->context, group, call, status, hash);
}

#endif /* GPUOPT_IMPL_PROPAGATE_RANKS_PROBE_H */
