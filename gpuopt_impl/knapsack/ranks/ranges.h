/* SPDX-License-Identifier: MIT
 *
 * Knapsack, by the ranks of a group: the division of a step's children, and the transfer of nodes.
 *
 * Lists       A short list is the same on all ranks, and each makes all steps on it without exchanges. The children of
 *             a long list are shared: each rank keeps a range of them, lower ranks the children with more residual
 *             capacity. A rank's range of a list that is sorted by residual capacity is a range of weights.
 * Ranges      A step's children are the merge of the unchanged and the flipped ones, each in the order of their parents
 *             (cpu/merge.h). Every step cuts the merge again between residual capacities, into a part of about equal
 *             length for each rank: no rank runs dry, and no border has to be moved. Samples of the residual capacities
 *             on all ranks determine the cuts. The ranks then count how many of their nodes have children before each
 *             cut.
 * Dominance   Within both of the merged sequences profits rise. So the last node before the range, in either sequence,
 *             has the greatest profit of all lower ranks. With these two nodes of others a rank drops the same children
 *             as one rank alone would.
 * Window      The parents of a rank's children are one range of the parents, wider than its own by as much as the item
 *             moves them. The rank receives the missing parents from other ranks, and puts them behind its own during
 *             the step.
 * Peers       If backends see the pools of all ranks, none of that is needed. Each rank makes an equal share of the
 *             merge and reads parents from any pool, so it finds the start of its share alone
 *             (cuda/knapsack/peers.cuh). Parents change only after all have sent the results of their parts.
 *
 * All ranks have all counts, so each finds the senders and receivers, and the owners of nodes, alone.
 */
#ifndef GPUOPT_IMPL_KNAPSACK_RANKS_RANGES_H
#define GPUOPT_IMPL_KNAPSACK_RANKS_RANGES_H

#include "../../common/ranks.h"
#include "../model/prepare.h"

/* Nodes of a job: begin .. end - 1. */
typedef struct gpuopt__knapsack_range {
    int64_t begin, end;
} gpuopt__knapsack_range;

static int64_t gpuopt__knapsack_clip(int64_t node, int64_t count) { return node < 0 ? 0 : node < count ? node : count; }

/* A rank's nodes in its pool, on one side. */
static int64_t gpuopt__knapsack_held(const gpuopt__knapsack_search *s, int32_t rank, int side) {
    int64_t held = 0;
    int32_t j;
    for (j = 0; j < s->depth; j++) {
        const int64_t *part = s->part + (int64_t)j * s->ranks, count = s->list[j].count;
        if (s->list[j].side != side) continue;
        held += !s->list[j].shared ? count : (rank + 1 < s->ranks ? part[rank + 1] : count) - part[rank];
    }
    return held;
}

/* A rank's nodes of a job. */
static gpuopt__knapsack_range gpuopt__knapsack_has(const gpuopt__knapsack_search *s, const gpuopt__knapsack_job *job,
                                                   int32_t rank) {
    const gpuopt__knapsack_list *top = &s->list[s->depth - 1];
    const int64_t *part = s->part + (int64_t)(s->depth - 1) * s->ranks, skipped = top->count - job->count;
    gpuopt__knapsack_range range = {0, job->count};
    if (!top->shared) return range;
    range.begin = gpuopt__knapsack_clip(part[rank] - skipped, job->count);
    if (rank + 1 < s->ranks) range.end = gpuopt__knapsack_clip(part[rank + 1] - skipped, job->count);
    return range;
}

/* The nodes that a rank needs. */
static gpuopt__knapsack_range gpuopt__knapsack_needs(const gpuopt_knapsack *k, const gpuopt__knapsack_search *s,
                                                     const gpuopt__knapsack_job *job, int32_t rank) {
    const int64_t *same = k->ranks.same + rank, *flipped = k->ranks.flipped + rank;
    gpuopt__knapsack_range range = {0, job->count};
    if (!k->ranks.spread) return range;
    range.begin = same[0] < flipped[0] ? same[0] : flipped[0];
    range.end = same[1] > flipped[1] ? same[1] : flipped[1];
    if (same[0] == same[1] && flipped[0] == flipped[1]) range.begin = range.end;
    else if (range.begin > 0 && s->dominance) range.begin--;
    return range;
}

/* The nodes that a rank needs but lacks, before (0) or behind (1) its own. */
static gpuopt__knapsack_range gpuopt__knapsack_lacks(const gpuopt_knapsack *k, const gpuopt__knapsack_search *s,
                                                     const gpuopt__knapsack_job *job, int32_t rank, int behind) {
    const gpuopt__knapsack_range has = gpuopt__knapsack_has(s, job, rank);
    gpuopt__knapsack_range needs = gpuopt__knapsack_needs(k, s, job, rank);
    if (behind && needs.begin < has.end) needs.begin = has.end;
    if (!behind && needs.end > has.begin) needs.end = has.begin;
    if (has.begin == has.end && !behind) needs.end = needs.begin; /* with none of its own, all are behind */
    else if (has.begin == has.end) needs = gpuopt__knapsack_needs(k, s, job, rank);
    if (needs.end < needs.begin) needs.end = needs.begin;
    return needs;
}

static int64_t gpuopt__knapsack_length(gpuopt__knapsack_range range) { return range.end - range.begin; }

/* The most nodes that a rank receives from others. */
static int64_t gpuopt__knapsack_most_lacking(const gpuopt_knapsack *k, const gpuopt__knapsack_search *s,
                                             const gpuopt__knapsack_job *job) {
    int64_t most = 0, sum;
    int32_t r;
    for (r = 0; r < s->ranks; r++) {
        sum = gpuopt__knapsack_length(gpuopt__knapsack_lacks(k, s, job, r, 0)) +
              gpuopt__knapsack_length(gpuopt__knapsack_lacks(k, s, job, r, 1));
        if (sum > most) most = sum;
    }
    return most;
}

/* ---- The parts of a step ---- */

/* The state of a walk along the samples of all ranks, and the node of the next sample. */
typedef struct gpuopt__knapsack_walk {
    int32_t rank;
    int64_t sample;
    gpuopt__knapsack_range range; /* of the rank */
    int64_t stride, count;        /* of its samples */
} gpuopt__knapsack_walk;

static int64_t gpuopt__knapsack_sample_stride(gpuopt__knapsack_range range) {
    const int64_t nodes = gpuopt__knapsack_length(range);
    return nodes > 0 ? (nodes + GPUOPT__KNAPSACK_SAMPLES - 1) / GPUOPT__KNAPSACK_SAMPLES : 1;
}

static void gpuopt__knapsack_walk_to(const gpuopt__knapsack_search *s, const gpuopt__knapsack_job *job, int32_t ranks,
                                     gpuopt__knapsack_walk *walk) {
    while (walk->rank < ranks) {
        walk->range = gpuopt__knapsack_has(s, job, walk->rank);
        walk->stride = gpuopt__knapsack_sample_stride(walk->range);
        walk->count = (gpuopt__knapsack_length(walk->range) + walk->stride - 1) / walk->stride;
        if (walk->sample < walk->count) return;
        walk->rank++;
        walk->sample = 0;
    }
}

/* The node of the next sample; the number of nodes at the end. */
static int64_t gpuopt__knapsack_walk_node(const gpuopt__knapsack_job *job, int32_t ranks,
                                          const gpuopt__knapsack_walk *walk) {
    return walk->rank < ranks ? walk->range.begin + walk->sample * walk->stride : job->count;
}

/* The sample's residual capacity. */
static int64_t gpuopt__knapsack_walk_residual(const gpuopt_knapsack *k, const gpuopt__knapsack_walk *walk) {
    return k->ranks.residual[(int64_t)walk->rank * GPUOPT__KNAPSACK_SAMPLES + walk->sample];
}

/* Chooses the cuts: residual capacities of children of sampled nodes, with about equally many nodes between two cuts.
 * ranks: the number of ranks with samples. */
static void gpuopt__knapsack_cut_evenly(gpuopt_knapsack *k, const gpuopt__knapsack_search *s,
                                        const gpuopt__knapsack_job *job, int32_t ranks) {
    gpuopt__knapsack_walk same, flipped;
    int32_t next = 1;
    memset(&same, 0, sizeof same);
    memset(&flipped, 0, sizeof flipped);
    while (next < s->ranks) {
        int64_t cut, done;
        int unchanged, turned;
        gpuopt__knapsack_walk_to(s, job, ranks, &same);
        gpuopt__knapsack_walk_to(s, job, ranks, &flipped);
        unchanged = same.rank < ranks;
        turned =
            flipped.rank < ranks && gpuopt__knapsack_walk_residual(k, &flipped) >= job->least; /* else none follows */
        if (!unchanged && !turned) break;
        done = gpuopt__knapsack_walk_node(job, ranks, &same) +
               (turned ? gpuopt__knapsack_walk_node(job, ranks, &flipped) : k->ranks.light);
        if (unchanged && turned)
            unchanged =
                gpuopt__knapsack_walk_residual(k, &same) >= gpuopt__knapsack_walk_residual(k, &flipped) + job->residual;
        cut = unchanged ? gpuopt__knapsack_walk_residual(k, &same)
                        : gpuopt__knapsack_walk_residual(k, &flipped) + job->residual;
        while (next < s->ranks && done >= (job->count + k->ranks.light) / s->ranks * next) k->ranks.cut[next++] = cut;
        if (unchanged) same.sample++;
        else flipped.sample++;
    }
    for (; next < s->ranks; next++) k->ranks.cut[next] = INT64_MIN;
}

/* The samples of all ranks, if the list is shared; else one set from this rank. Also estimates how many nodes have
 * flipped children. */
static gpuopt_status gpuopt__knapsack_sample(gpuopt_knapsack *k, const gpuopt__knapsack_search *s,
                                             const gpuopt__knapsack_job *job, int32_t ranks) {
    const gpuopt__knapsack_range has = gpuopt__knapsack_has(s, job, s->rank);
    const int64_t stride = gpuopt__knapsack_sample_stride(has),
                  samples = (gpuopt__knapsack_length(has) + stride - 1) / stride;
    const uint64_t bytes = GPUOPT__KNAPSACK_SAMPLES * sizeof(int64_t);
    int64_t own[GPUOPT__KNAPSACK_SAMPLES];
    gpuopt__knapsack_walk walk;
    gpuopt_status status = GPUOPT_OK;
    memset(own, 0, sizeof own);
    memset(&walk, 0, sizeof walk);
    if (samples > 0)
        status = gpuopt__knapsack_of(k)->residuals(k, s, job->from + has.begin * job->from_step,
                                                   stride * job->from_step, samples, own);
    if (status) return gpuopt__ranks_give_up(k->ranks.group, status);
    if (ranks == 1) memcpy(k->ranks.residual, own, sizeof own);
    else
        status = gpuopt_group_all_gather(k->ranks.group, GPUOPT_HOST, own, bytes, k->ranks.residual,
                                         bytes * (uint64_t)ranks, NULL);
    for (gpuopt__knapsack_walk_to(s, job, ranks, &walk); walk.rank < ranks && !status; walk.sample++) {
        gpuopt__knapsack_walk_to(s, job, ranks, &walk);
        if (walk.rank == ranks || gpuopt__knapsack_walk_residual(k, &walk) < job->least) break;
    }
    k->ranks.light = gpuopt__knapsack_walk_node(job, ranks, &walk);
    return status;
}

/* Divides a step's children: fills same[] and flipped[]. */
static gpuopt_status gpuopt__knapsack_divide_step(gpuopt_knapsack *k, const gpuopt__knapsack_search *s,
                                                  const gpuopt__knapsack_job *job) {
    const int shared = s->list[s->depth - 1].shared;
    const gpuopt__knapsack_range has = gpuopt__knapsack_has(s, job, s->rank);
    int64_t *same = k->ranks.same, *flipped = k->ranks.flipped;
    gpuopt_status status = GPUOPT_OK;
    int32_t r;
    for (r = 0; r <= s->ranks; r++) same[r] = flipped[r] = r < s->ranks ? job->count / s->ranks * r : job->count;
    if (!s->dominance || !k->ranks.spread) return GPUOPT_OK;
    status = gpuopt__knapsack_sample(k, s, job, shared ? s->ranks : 1);
    if (status) return status;
    gpuopt__knapsack_cut_evenly(k, s, job, shared ? s->ranks : 1);
    status = gpuopt__knapsack_of(k)->before(k, s, job, has.begin, gpuopt__knapsack_length(has), k->ranks.cut,
                                            s->ranks - 1, same, flipped);
    if (status) return gpuopt__ranks_give_up(k->ranks.group, status);
    if (!shared) return GPUOPT_OK;
    /* Both arrays form one, and their first and last members are known. */
    status = gpuopt_group_all_reduce(k->ranks.group, GPUOPT_REDUCE_SUM, 2 * ((int64_t)s->ranks + 1), same, NULL);
    same[0] = flipped[0] = 0;
    same[s->ranks] = flipped[s->ranks] = job->count;
    return status;
}

/* ---- The window ---- */

/* Reads nodes of this rank, or stores nodes of others at their places, as many at a time as the backend can handle. */
static gpuopt_status gpuopt__knapsack_handle_nodes(gpuopt_knapsack *k, const gpuopt__knapsack_search *s,
                                                   const gpuopt__knapsack_job *job, int64_t begin, int64_t count,
                                                   int put) {
    gpuopt__knapsack_node *node = k->ranks.node;
    gpuopt_status status = GPUOPT_OK;
    int64_t part, done;
    for (done = 0; done < count && !status; done += part) {
        const int64_t at = gpuopt__knapsack_parent(job, begin + done);
        part = count - done < k->chunk ? count - done : k->chunk;
        status = put ? gpuopt__knapsack_of(k)->put(k, s, at, (int)job->from_step, part, node + done)
                     : gpuopt__knapsack_of(k)->get(k, s, at, (int)job->from_step, part, node + done);
    }
    return status ? gpuopt__ranks_give_up(k->ranks.group, status) : GPUOPT_OK;
}

/* Sends nodes of this rank, or receives nodes of others: `begin` .. `end` - 1 of the job. */
static gpuopt_status gpuopt__knapsack_carry(gpuopt_knapsack *k, const gpuopt__knapsack_search *s,
                                            const gpuopt__knapsack_job *job, int32_t from, int32_t to, int64_t begin,
                                            int64_t end) {
    const int64_t most = GPUOPT__KNAPSACK_CARRIED;
    gpuopt__knapsack_node *node = k->ranks.node;
    gpuopt_status status = GPUOPT_OK;
    int64_t part;
    for (; begin < end && !status; begin += part) {
        part = end - begin < most ? end - begin : most;
        if (s->rank == from) {
            status = gpuopt__knapsack_handle_nodes(k, s, job, begin, part, 0);
            if (!status)
                status = gpuopt_group_send(k->ranks.group, GPUOPT_HOST, to, node, (uint64_t)part * sizeof *node);
        } else {
            status = gpuopt_group_receive(k->ranks.group, GPUOPT_HOST, from, node, (uint64_t)part * sizeof *node);
            if (!status) status = gpuopt__knapsack_handle_nodes(k, s, job, begin, part, 1);
        }
    }
    return status;
}

/* Sets the places of this rank's nodes of the job, and of the nodes from others. */
static void gpuopt__knapsack_locate(const gpuopt_knapsack *k, const gpuopt__knapsack_search *s,
                                    gpuopt__knapsack_job *job) {
    const int side = s->list[s->depth - 1].side;
    const gpuopt__knapsack_range has = gpuopt__knapsack_has(s, job, s->rank);
    const gpuopt__knapsack_range low = gpuopt__knapsack_lacks(k, s, job, s->rank, 0),
                                 high = gpuopt__knapsack_lacks(k, s, job, s->rank, 1);
    const int64_t own = gpuopt__knapsack_length(has), behind = gpuopt__knapsack_length(high);
    job->from = gpuopt__knapsack_place(s, side, s->used[side] - own, 0) - has.begin * job->from_step;
    job->before = has.begin;
    if (behind > 0 && high.begin != has.end) { /* only nodes behind are needed, and not the next ones */
        job->from = gpuopt__knapsack_place(s, side, s->used[side], 0) - high.begin * job->from_step;
        job->before = 0;
    }
    job->low = gpuopt__knapsack_place(s, side, s->used[side] + behind, 0) - low.begin * job->from_step;
}

/* A rank's nodes that another rank lacks, before (0) or behind (1) that rank's own. */
static gpuopt__knapsack_range gpuopt__knapsack_between(const gpuopt_knapsack *k, const gpuopt__knapsack_search *s,
                                                       const gpuopt__knapsack_job *sent, int32_t from, int32_t to,
                                                       int behind) {
    const gpuopt__knapsack_range has = gpuopt__knapsack_has(s, sent, from);
    gpuopt__knapsack_range lacks = gpuopt__knapsack_lacks(k, s, sent, to, behind);
    if (lacks.begin < has.begin) lacks.begin = has.begin;
    if (lacks.end > has.end) lacks.end = has.end;
    return lacks;
}

/* Sends each rank the nodes that it lacks, in messages, in an order that all ranks can compute: from each rank to each
 * other. */
static gpuopt_status gpuopt__knapsack_fetch(gpuopt_knapsack *k, const gpuopt__knapsack_search *s,
                                            const gpuopt__knapsack_job *sent, const gpuopt__knapsack_job *received) {
    gpuopt_status status = GPUOPT_OK;
    int32_t from, to;
    int behind;
    for (from = 0; from < s->ranks; from++)
        for (to = 0; to < s->ranks; to++)
            for (behind = 0; behind < 2 && !status; behind++) {
                gpuopt__knapsack_range range;
                if (from == to || (s->rank != from && s->rank != to)) continue;
                range = gpuopt__knapsack_between(k, s, sent, from, to, behind);
                if (range.begin < range.end)
                    status = gpuopt__knapsack_carry(k, s, s->rank == from ? sent : received, from, to, range.begin,
                                                    range.end);
            }
    return status;
}

/* ---- Ranks that see one another's pools ---- */

/* Finds out whether all ranks see one another's pools. */
static gpuopt_status gpuopt__knapsack_exchange_handles(gpuopt_knapsack *k) {
    gpuopt__knapsack_peer_handle own;
    int64_t all;
    gpuopt_status status;
    memset(&own, 0, sizeof own);
    if (gpuopt__knapsack_of(k)->show) gpuopt__knapsack_of(k)->show(k, &own);
    status = gpuopt_group_all_gather(k->ranks.group, GPUOPT_HOST, &own, sizeof own, k->ranks.handle,
                                     sizeof own * (uint64_t)k->search.ranks, NULL);
    if (status) return status;
    all = gpuopt__knapsack_of(k)->map_peers && gpuopt__knapsack_of(k)->map_peers(k);
    status = gpuopt_group_all_reduce(k->ranks.group, GPUOPT_REDUCE_MIN, 1, &all, NULL);
    if (status) return status;
    k->ranks.peers = (int)all;
    k->ranks.met = 1;
    gpuopt__log(k->context, 2, "knapsack: ranks get nodes through %s memory", all ? "peer" : "host");
    return GPUOPT_OK;
}

/* Finds the places of a job's nodes. */
static void gpuopt__knapsack_find_sources(gpuopt_knapsack *k, const gpuopt__knapsack_search *s,
                                          const gpuopt__knapsack_job *job) {
    const gpuopt__knapsack_list *top = &s->list[s->depth - 1];
    int32_t r;
    k->ranks.sources = 0;
    for (r = 0; r < s->ranks; r++) {
        const gpuopt__knapsack_range has = gpuopt__knapsack_has(s, job, r);
        gpuopt__knapsack_source *source = &k->ranks.source[k->ranks.sources];
        if (has.begin == has.end || (!top->shared && r != s->rank))
            continue; /* each reads nodes common to all from its own pool */
        source->rank = r;
        source->end = has.end;
        source->before = gpuopt__knapsack_held(s, r, top->side) - gpuopt__knapsack_length(has);
        k->ranks.sources++;
    }
}

/* This rank's part of a step, on the nodes of all ranks. */
static gpuopt_status gpuopt__knapsack_step_by_peers(gpuopt_knapsack *k, const gpuopt__knapsack_search *s,
                                                    const gpuopt__knapsack_job *job, gpuopt__knapsack_found *found) {
    gpuopt_status status;
    *found = gpuopt__knapsack_nothing(job->lower);
    found->children = INT64_MAX;
    if (!k->ranks.spread && job->count > k->pool) return GPUOPT_OK; /* a step has at most the size of a pool */
    gpuopt__knapsack_find_sources(k, s, job);
    status = gpuopt__knapsack_of(k)->step_by_peers(k, s, job, found);
    return status ? gpuopt__ranks_give_up(k->ranks.group, status) : GPUOPT_OK;
}

#endif /* GPUOPT_IMPL_KNAPSACK_RANKS_RANGES_H */
