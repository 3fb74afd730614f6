/* SPDX-License-Identifier: MIT
 *
 * Knapsack, by the ranks of a group: common steps, exchanges and agreements. ranges.h describes which rank makes which
 * children.
 *
 * All ranks choose the same step, since all have the counts of all. After it each sends its results, and all apply
 * their sum, taken in the order of the ranks. So the best solution is the same as one rank alone would have found
 * first.
 */
#ifndef GPUOPT_IMPL_KNAPSACK_RANKS_STEPS_H
#define GPUOPT_IMPL_KNAPSACK_RANKS_STEPS_H

#include "../model/incumbent.h"
#include "ranges.h"

/* A shared list stays shared until it is this many times shorter than the shortest list to become shared. */
enum { GPUOPT__KNAPSACK_STAY = 4 };

enum { GPUOPT__KNAPSACK_ALONE_STEPS = 64 }; /* steps of each rank between two exchanges of the stop hooks' answers */

/* ---- What ranks exchange ---- */

/* Exchanges the ranks' reports. A failure of any rank is returned on all. */
static gpuopt_status gpuopt__knapsack_exchange(gpuopt_knapsack *k, gpuopt_status status,
                                               gpuopt__knapsack_fingerprint *own) {
    gpuopt__knapsack_fingerprint *reports = k->ranks.reports;
    int32_t r;
    if (status == GPUOPT_ERROR_DEVICE) return gpuopt__ranks_give_up(k->ranks.group, status);
    own->status = status;
    own->stops = k->stopped;
    status = gpuopt_group_all_gather(k->ranks.group, GPUOPT_HOST, own, sizeof *own, reports,
                                     sizeof *own * (uint64_t)k->search.ranks, NULL);
    for (r = 0; r < k->search.ranks && !status; r++) {
        status = (gpuopt_status)reports[r].status;
        if (reports[r].stops) k->stopped = 1;
    }
    return status;
}

static gpuopt__knapsack_fingerprint gpuopt__knapsack_no_report(void) {
    gpuopt__knapsack_fingerprint reports;
    memset(&reports, 0, sizeof reports);
    return reports;
}

/* With a group: whether all ranks have reached this point of `call` with the same arguments and without an error. */
static gpuopt_status gpuopt__knapsack_agree(const gpuopt_knapsack *k, const char *call, gpuopt_status status,
                                            uint64_t hash) {
    if (k->search.ranks < 2) return status;
    return gpuopt__ranks_agree(k->context, k->ranks.group, call, status, hash);
}

/* The same for a solution; taken [items]: its pieces, or NULL. */
static gpuopt_status gpuopt__knapsack_agree_solution(const gpuopt_knapsack *k, const char *call, gpuopt_status status,
                                                     int64_t profit, const uint8_t *taken) {
    uint64_t hash = gpuopt__hash_number(GPUOPT__HASH_START, (uint64_t)profit);
    if (k->search.ranks < 2) return status;
    if (!status && taken) hash = gpuopt__hash(hash, taken, (uint64_t)k->items);
    return gpuopt__knapsack_agree(k, call, status, hash);
}

/* Ends a step with this status that may fail on one rank alone. */
static gpuopt_status gpuopt__knapsack_all_could(const gpuopt_knapsack *k, gpuopt_status status) {
    return status && k->ranks.group ? gpuopt__ranks_give_up(k->ranks.group, status) : status;
}

/* Gives all ranks the bytes that rank r has packed with this status. */
static gpuopt_status gpuopt__knapsack_send_packed(const gpuopt_knapsack *k, int32_t r, gpuopt_status status, void *at,
                                                  uint64_t bytes) {
    if (status) return gpuopt__ranks_give_up(k->ranks.group, status);
    return gpuopt_group_broadcast(k->ranks.group, GPUOPT_HOST, r, at, bytes);
}

static gpuopt_status gpuopt__knapsack_refuse_ranks(const gpuopt_knapsack *k, const char *call) {
    if (k->search.ranks < 2) return GPUOPT_OK;
    return gpuopt__refuse(k->context, GPUOPT_ERROR_UNSUPPORTED, call, "not available with a group of several ranks");
}

/* ---- Capacity ---- */

/* After the lists have changed: how much more this rank has free than the rank with the least. */
static void gpuopt__knapsack_weigh(gpuopt_knapsack *k, gpuopt__knapsack_search *s) {
    int64_t most = 0;
    int32_t r;
    if (s->ranks < 2) return;
    for (r = 0; r < s->ranks; r++) {
        const int64_t held = gpuopt__knapsack_held(s, r, 0) + gpuopt__knapsack_held(s, r, 1);
        if (held > most) most = held;
    }
    s->uneven = most - s->used[0] - s->used[1] + s->own_capacity - k->ranks.pool;
}

/* Lets all pools grow to at least `pool` nodes. If one cannot, all use only as much as the smallest, and none tries
 * again. */
static gpuopt_status gpuopt__knapsack_grow_all(gpuopt_knapsack *k, int64_t pool) {
    gpuopt__knapsack_fingerprint own = gpuopt__knapsack_no_report();
    gpuopt_status status = GPUOPT_OK;
    int32_t r;
    if (pool > k->pool) status = gpuopt__knapsack_enlarge(k, pool);
    k->ranks.met = 0; /* on all ranks, whether or not their own pools have changed */
    own.pool = k->pool;
    status = gpuopt__knapsack_exchange(k, status == GPUOPT_ERROR_MEMORY ? GPUOPT_OK : status, &own);
    if (status) return status;
    k->ranks.pool = k->pool;
    for (r = 0; r < k->search.ranks; r++)
        if (k->ranks.reports[r].pool < k->ranks.pool) k->ranks.pool = k->ranks.reports[r].pool;
    if (k->ranks.pool < pool) k->pool_limit = k->ranks.pool;
    gpuopt__knapsack_weigh(k, &k->search);
    return GPUOPT_OK;
}

/* After a step with too many children on some rank. Items are recovered in the free part. */
static gpuopt_status gpuopt__knapsack_grow_or_slice_all(gpuopt_knapsack *k, gpuopt__knapsack_search *s) {
    const int64_t before = k->ranks.pool;
    gpuopt_status status = GPUOPT_OK;
    if (s->which != 0) return GPUOPT_OK;
    if (before < k->pool_limit) status = gpuopt__knapsack_grow_all(k, gpuopt__knapsack_doubled(k, before));
    s->tight = k->ranks.pool == before;
    if (status || !s->tight) return status;
    gpuopt__knapsack_log_slices(k, s);
    return GPUOPT_OK;
}

/* Enlarges the pools of all ranks for the rank that needs the most: the last one. */
static gpuopt_status gpuopt__knapsack_reach_all(gpuopt_knapsack *k, const char *call, int64_t needed) {
    int64_t pool = k->ranks.pool;
    gpuopt_status status = GPUOPT_OK;
    while (pool < needed && pool < k->pool_limit) pool = gpuopt__knapsack_doubled(k, pool);
    if (pool >= needed && pool > k->ranks.pool) status = gpuopt__knapsack_grow_all(k, pool);
    if (status || k->ranks.pool >= needed) return status;
    return gpuopt__refuse(k->context, GPUOPT_ERROR_UNSUPPORTED, call, "the nodes do not fit the pool");
}

/* Lets the pool grow to the necessary size, if it may and must. */
static gpuopt_status gpuopt__knapsack_reach(gpuopt_knapsack *k, const char *call, int64_t needed) {
    int64_t pool = k->pool;
    gpuopt_status status = GPUOPT_OK;
    if (k->ranks.group) return gpuopt__knapsack_reach_all(k, call, needed);
    while (pool < needed && pool < k->pool_limit) pool = gpuopt__knapsack_doubled(k, pool);
    if (pool >= needed && pool > k->pool) status = gpuopt__knapsack_enlarge(k, pool);
    if (status && status != GPUOPT_ERROR_MEMORY) return status;
    if (k->pool >= needed) return GPUOPT_OK;
    return gpuopt__refuse(k->context, GPUOPT_ERROR_UNSUPPORTED, call, "the nodes do not fit the pool");
}

/* ---- A step ---- */

/* Adds up the ranks' results; their children are numbered one rank after the other. */
static gpuopt__knapsack_found gpuopt__knapsack_all_found(const gpuopt_knapsack *k, int64_t lower) {
    gpuopt__knapsack_found sum = gpuopt__knapsack_nothing(lower);
    int32_t r;
    for (r = 0; r < k->search.ranks; r++) gpuopt__knapsack_join(&sum, &k->ranks.reports[r].found);
    return sum;
}

/* Completes the deepest list if it is time, see search/state.h. Of equally good items the first one counts, as in a
 * search by one rank. Of the nodes, the node with the least residual capacity counts; it has the most profit. */
static gpuopt_status gpuopt__knapsack_complete_all(gpuopt_knapsack *k, gpuopt__knapsack_search *s) {
    const gpuopt__knapsack_list *top = s->list + s->depth - 1;
    const int64_t lower = s->lower;
    gpuopt__knapsack_fingerprint own = gpuopt__knapsack_no_report();
    const gpuopt__knapsack_fingerprint *best = NULL;
    gpuopt_status status;
    int32_t r;
    if (!gpuopt__knapsack_completes(s)) return GPUOPT_OK;
    status = top->own > 0 ? gpuopt__knapsack_of(k)->complete(k, s) : GPUOPT_OK;
    if (!top->shared && !status) return GPUOPT_OK;
    own.found.most = s->lower;
    own.found.best = s->best.node;
    own.flip = s->best.flip;
    status = gpuopt__knapsack_exchange(k, status, &own);
    for (r = 0; r < s->ranks && !status; r++) {
        const gpuopt__knapsack_fingerprint *reports = &k->ranks.reports[r];
        if (reports->found.most <= lower) continue;
        if (!best || reports->found.most > best->found.most ||
            (reports->found.most == best->found.most && reports->flip < best->flip))
            best = reports;
    }
    if (best)
        gpuopt__knapsack_improve(s, top->level, top->decided, (int32_t)best->flip, &best->found.best, best->found.most);
    return status;
}

/* The children that the ranks have made become a list. */
static void gpuopt__knapsack_apply_all(gpuopt_knapsack *k, gpuopt__knapsack_search *s, const gpuopt__knapsack_job *job,
                                       const gpuopt__knapsack_found *found, int64_t own) {
    int64_t *part, sum = 0;
    int32_t r;
    gpuopt__knapsack_apply(s, job, found, own);
    if (!k->ranks.spread || found->children == 0) return;
    s->list[s->depth - 1].shared = 1;
    part = s->part + (int64_t)(s->depth - 1) * s->ranks;
    for (r = 0; r < s->ranks; r++) {
        part[r] = sum;
        sum += k->ranks.reports[r].found.children;
    }
}

/* This rank's part of a step. */
static gpuopt_status gpuopt__knapsack_step_own(gpuopt_knapsack *k, gpuopt__knapsack_search *s,
                                               gpuopt__knapsack_job *job, gpuopt__knapsack_found *found) {
    gpuopt__knapsack_job held = *job;
    gpuopt_status status = k->ranks.met ? GPUOPT_OK : gpuopt__knapsack_exchange_handles(k);
    if (status) return status;
    if (k->ranks.peers) return gpuopt__knapsack_step_by_peers(k, s, job, found);
    held.from = gpuopt__knapsack_place(
        s, s->list[s->depth - 1].side,
        s->used[s->list[s->depth - 1].side] - gpuopt__knapsack_length(gpuopt__knapsack_has(s, job, s->rank)), 0);
    held.from -= gpuopt__knapsack_has(s, job, s->rank).begin * job->from_step;
    status = gpuopt__knapsack_divide_step(k, s, &held);
    if (status) return status;
    found->children = INT64_MAX;
    if (job->limit < INT64_MAX) {
        if (gpuopt__knapsack_most_lacking(k, s, job) > job->limit) return GPUOPT_OK; /* on all ranks */
        job->limit -= gpuopt__knapsack_length(gpuopt__knapsack_lacks(k, s, job, s->rank, 0)) +
                      gpuopt__knapsack_length(gpuopt__knapsack_lacks(k, s, job, s->rank, 1));
    }
    gpuopt__knapsack_locate(k, s, job);
    if (s->list[s->depth - 1].shared) status = gpuopt__knapsack_fetch(k, s, &held, job);
    if (status) return status;
    if (k->ranks.spread) {
        job->same = k->ranks.same[s->rank];
        job->same_end = k->ranks.same[s->rank + 1];
        job->flipped = k->ranks.flipped[s->rank];
        job->flipped_end = k->ranks.flipped[s->rank + 1];
    }
    *found = gpuopt__knapsack_nothing(job->lower);
    if (gpuopt__knapsack_children(job) == 0) return GPUOPT_OK;
    status = gpuopt__knapsack_of(k)->step(k, s, job, found);
    return status ? gpuopt__ranks_give_up(k->ranks.group, status) : GPUOPT_OK;
}

/* A step by all ranks. May only drop a list in which all items are decided. */
static gpuopt_status gpuopt__knapsack_step_all(gpuopt_knapsack *k, gpuopt__knapsack_search *s) {
    gpuopt__knapsack_fingerprint own = gpuopt__knapsack_no_report();
    gpuopt__knapsack_found found;
    gpuopt__knapsack_job job;
    gpuopt_status status = gpuopt__knapsack_move_to_own_pool(k, s);
    int64_t kept;
    int32_t r;
    int chosen;
    if (status) return gpuopt__ranks_give_up(k->ranks.group, status);
    s->together = 1;
    chosen = gpuopt__knapsack_next(s, &job);
    s->together = 0;
    if (!chosen) return GPUOPT_OK;
    k->ranks.spread =
        job.count >= (s->list[s->depth - 1].shared ? s->share_from / GPUOPT__KNAPSACK_STAY : s->share_from);
    status = gpuopt__knapsack_step_own(k, s, &job, &own.found);
    if (status) return status;
    kept = own.found.children;
    own.overflows = kept > job.limit || kept == INT64_MAX;
    gpuopt__knapsack_stops(k, s);
    status = gpuopt__knapsack_exchange(k, GPUOPT_OK, &own);
    for (r = 0; r < s->ranks && !status; r++) s->tight |= (int)k->ranks.reports[r].overflows;
    if (status || s->tight) return status;
    found = k->ranks.spread ? gpuopt__knapsack_all_found(k, job.lower) : own.found;
    gpuopt__knapsack_apply_all(k, s, &job, &found, kept);
    return found.children > 0 ? gpuopt__knapsack_complete_all(k, s) : GPUOPT_OK;
}

/* ---- A run ---- */

/* Steps of this rank on lists common to all ranks, until one is long. */
static gpuopt_status gpuopt__knapsack_run_alone(gpuopt_knapsack *k, gpuopt__knapsack_search *s, int64_t expanded,
                                                int64_t steps) {
    gpuopt__knapsack_fingerprint own = gpuopt__knapsack_no_report();
    const int64_t some = s->steps + GPUOPT__KNAPSACK_ALONE_STEPS;
    const gpuopt_status status = gpuopt__knapsack_of(k)->run(k, s, expanded, steps < some ? steps : some);
    return gpuopt__knapsack_exchange(k, status, &own);
}

/* As the backend's `run`, by all ranks. */
static gpuopt_status gpuopt__knapsack_run_all(gpuopt_knapsack *k, gpuopt__knapsack_search *s, int64_t expanded,
                                              int64_t steps) {
    gpuopt_status status = GPUOPT_OK;
    s->full = 0;
    while (!status && !(k->stopped && s->which == 0) && !s->full && s->expanded < expanded && s->steps < steps &&
           s->depth > 0 && s->lower < s->goal) {
        gpuopt__knapsack_weigh(k, s);
        if (gpuopt__knapsack_is_common(s, &s->list[s->depth - 1])) status = gpuopt__knapsack_step_all(k, s);
        else status = gpuopt__knapsack_run_alone(k, s, expanded, steps);
        if (!status && s->tight) status = gpuopt__knapsack_grow_or_slice_all(k, s);
    }
    gpuopt__knapsack_weigh(k, s);
    return status;
}

/* As the backend's `run`, by this rank alone or with the others. */
static gpuopt_status gpuopt__knapsack_run_steps(gpuopt_knapsack *k, gpuopt__knapsack_search *s, int64_t expanded,
                                                int64_t steps) {
    return gpuopt__knapsack_has_ranks(s) ? gpuopt__knapsack_run_all(k, s, expanded, steps)
                                         : gpuopt__knapsack_of(k)->run(k, s, expanded, steps);
}

/* ---- After bounds of the whole problem ---- */

/* Ranks have found the same bounds and solutions, unless one had no memory for them: then all continue with the
 * best. */
static gpuopt_status gpuopt__knapsack_level(gpuopt_knapsack *k) {
    gpuopt__knapsack_search *s = &k->search;
    gpuopt__knapsack_fingerprint own = gpuopt__knapsack_no_report();
    const gpuopt__knapsack_fingerprint *reports = k->ranks.reports;
    int64_t goal;
    int32_t best = 0, r;
    gpuopt_status status;
    if (!k->ranks.group) return GPUOPT_OK;
    own.found.most = s->lower;
    own.pool = s->goal;
    status = gpuopt__knapsack_exchange(k, GPUOPT_OK, &own);
    if (status) return status;
    goal = reports[0].pool;
    for (r = 1; r < s->ranks; r++) {
        if (reports[r].found.most > reports[best].found.most) best = r;
        if (reports[r].pool < goal) goal = reports[r].pool;
    }
    s->goal = goal;
    for (r = 0; r < s->ranks && reports[r].found.most == reports[best].found.most; r++) continue;
    if (r == s->ranks) return GPUOPT_OK;
    if (s->rank == best) memcpy(k->trial, k->taken, (size_t)k->items);
    own.pool = k->incumbent;
    status = gpuopt_group_broadcast(k->ranks.group, GPUOPT_HOST, best, k->trial, (uint64_t)k->items);
    if (!status) status = gpuopt_group_broadcast(k->ranks.group, GPUOPT_HOST, best, &own.pool, sizeof own.pool);
    if (!status && s->rank != best) gpuopt__knapsack_adopt(k, own.pool, k->trial);
    return status;
}

#endif /* GPUOPT_IMPL_KNAPSACK_RANKS_STEPS_H */
