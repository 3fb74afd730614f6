/* SPDX-License-Identifier: MIT
 *
 * A batch with nodes dealt to the ranks of a group (batch.h): a run, and its results.
 */
#ifndef GPUOPT_IMPL_PROPAGATE_RANKS_BATCH_RUN_H
#define GPUOPT_IMPL_PROPAGATE_RANKS_BATCH_RUN_H

#include "batch.h"

/* ---- A run ---- */

static gpuopt__propagator_reports gpuopt__propagator_reports_of(const gpuopt_propagator_node_report *report) {
    gpuopt__propagator_reports r;
    r.narrow[0] = report->outcome;
    r.narrow[1] = report->rounds;
    r.narrow[2] = report->infeasible_row;
    r.narrow[3] = report->infeasible_col;
    r.narrow[GPUOPT__PROPAGATOR_COLUMNS] = report->columns;
    r.wide[0] = report->changed;
    r.wide[1] = report->nonzeros;
    return r;
}

/* s->bound holds `count` lower bounds, as many upper bounds, and then their columns. */
static int32_t *gpuopt__propagator_share_cols(const struct gpuopt__propagator_share *s, int64_t count) {
    return (int32_t *)(void *)(s->bound + 2 * count);
}

/* Takes this rank's own nodes of a call, after a check of the starts; copies them if they fit. */
static gpuopt_status gpuopt__propagator_share_take(const gpuopt_propagator_batch *batch, const char *call,
                                                   const gpuopt_propagator_nodes *nodes, gpuopt_propagator_nodes *own) {
    const struct gpuopt__propagator_share *s = batch->share;
    const gpuopt__dealt_part part = gpuopt__dealt_part_of(&s->dealt, s->dealt.rank);
    const int32_t *node = part.item;
    double *lb = s->bound, *ub = s->bound + batch->changes;
    int32_t *col = gpuopt__propagator_share_cols(s, batch->changes), k;
    int64_t at = 0;
    *own = *nodes;
    own->count = part.count;
    s->start[0] = 0;
    for (k = 0; k < own->count; k++) at = s->start[k + 1] = at + nodes->start[node[k] + 1] - nodes->start[node[k]];
    own->start = s->start;
    if (nodes->col) own->col = col;
    if (nodes->lb) own->lb = lb;
    if (nodes->ub) own->ub = ub;
    for (k = 0; k < own->count && nodes->col && at <= batch->changes; k++) {
        const int64_t from = nodes->start[node[k]], to = s->start[k], count = s->start[k + 1] - to;
        int64_t e; /* usually few */
        for (e = 0; e < count; e++) col[to + e] = nodes->col[from + e];
        for (e = 0; e < count && nodes->lb; e++) lb[to + e] = nodes->lb[from + e];
        for (e = 0; e < count && nodes->ub; e++) ub[to + e] = nodes->ub[from + e];
    }
    return gpuopt__propagator_check_entries(batch, call, own, 1);
}

/* Copies the results to the caller's report, and notes the start of each node's columns. */
static void gpuopt__propagator_share_report(struct gpuopt__propagator_share *s,
                                            const gpuopt__propagator_reports *wanted, int32_t *ran_by) {
    const size_t count = (size_t)s->dealt.count;
    int32_t r, i, k;
    for (k = 0; k < GPUOPT__PROPAGATOR_WIDE; k++)
        if (wanted->wide[k]) memcpy(wanted->wide[k], s->found.wide[k], sizeof(int64_t) * count);
    for (k = 0; k < GPUOPT__PROPAGATOR_NARROW; k++)
        if (wanted->narrow[k]) memcpy(wanted->narrow[k], s->found.narrow[k], sizeof(int32_t) * count);
    for (r = 0; ran_by && r < s->dealt.ranks; r++) {
        const gpuopt__dealt_part part = gpuopt__dealt_part_of(&s->dealt, r);
        for (i = 0; i < part.count; i++) ran_by[part.item[i]] = r;
    }
    s->place[0] = 0;
    for (k = 0; k < s->dealt.count; k++) s->place[k + 1] = s->place[k] + s->found.narrow[GPUOPT__PROPAGATOR_COLUMNS][k];
}

/* A hash of the arguments that must be equal on all ranks. */
static uint64_t gpuopt__propagator_share_hash_nodes(const gpuopt_propagator_nodes *nodes, int32_t rounds,
                                                    const gpuopt__propagator_reports *wanted) {
    uint64_t hash =
        gpuopt__hash_number(gpuopt__hash_number(GPUOPT__HASH_START, (uint32_t)nodes->count), (uint32_t)rounds);
    int32_t k;
    for (k = 0; k < GPUOPT__PROPAGATOR_NARROW; k++) hash = gpuopt__hash_number(hash, wanted->narrow[k] != NULL);
    for (k = 0; k < GPUOPT__PROPAGATOR_WIDE; k++) hash = gpuopt__hash_number(hash, wanted->wide[k] != NULL);
    return nodes->count > 0 ? gpuopt__hash_numbers(hash, nodes->start, (int64_t)nodes->count + 1) : hash;
}

/* Runs this rank's nodes, and gathers the results of all ranks. `status` is the result of checking the arguments,
 * except the entries of nodes. */
static gpuopt_status gpuopt__propagator_share_run(gpuopt_propagator_batch *batch, const char *call,
                                                  gpuopt_status status, gpuopt_memory_space where,
                                                  const gpuopt_propagator_nodes *nodes, int32_t rounds,
                                                  const gpuopt_propagator_node_report *report) {
    struct gpuopt__propagator_share *s = batch->share;
    const gpuopt_context *context = batch->base->context;
    const gpuopt__propagator_reports wanted = gpuopt__propagator_reports_of(report);
    gpuopt__propagator_reports to = s->found;
    gpuopt__dealt_array found[GPUOPT__PROPAGATOR_NARROW + GPUOPT__PROPAGATOR_WIDE];
    gpuopt_propagator_nodes own;
    uint64_t hash = 0;
    int k, count = 0;
    if (gpuopt__ranks_lost(s->dealt.group)) return gpuopt_group_agree(s->dealt.group, NULL, 0); /* which reports it */
    for (k = 0; k < GPUOPT__PROPAGATOR_WIDE; k++) {
        if (!wanted.wide[k]) to.wide[k] = NULL;
        else found[count].at = to.wide[k], found[count++].size = sizeof(int64_t);
    }
    for (k = 0; k < GPUOPT__PROPAGATOR_NARROW; k++) {
        if (!wanted.narrow[k] && k != GPUOPT__PROPAGATOR_COLUMNS) to.narrow[k] = NULL;
        else found[count].at = to.narrow[k], found[count++].size = sizeof(int32_t);
    }
    memset(&own, 0, sizeof own);
    if (!status) {
        s->dealt.count = nodes->count;
        status = gpuopt__propagator_share_take(batch, call, nodes, &own);
    }
    if (!status) {
        gpuopt_propagator_node_report mine;
        memset(&mine, 0, sizeof mine);
        mine.outcome = to.narrow[0];
        mine.rounds = to.narrow[1];
        mine.infeasible_row = to.narrow[2];
        mine.infeasible_col = to.narrow[3];
        mine.columns = to.narrow[GPUOPT__PROPAGATOR_COLUMNS];
        mine.changed = to.wide[0];
        mine.nonzeros = to.wide[1];
        hash = gpuopt__propagator_share_hash_nodes(nodes, rounds, &wanted);
        if (own.count > 0) status = context->desc.backend->propagator->batch_run(batch, where, &own, rounds, &mine);
    }
    status = gpuopt__dealt_exchange(&s->dealt, context, call, status, hash, 0, s->dealt.count, found, count);
    if (status) return status;
    gpuopt__propagator_share_report(s, &wanted, report->rank);
    batch->ran = own.count;
    batch->all = s->dealt.count;
    batch->version = batch->base->version;
    return GPUOPT_OK;
}

/* ---- Changes ---- */

/* Of this rank's own nodes; the nodes of others count as unchanged. */
static gpuopt_status gpuopt__propagator_share_own_changes(gpuopt_propagator_batch *batch,
                                                          gpuopt_propagator_node_changes *changes) {
    const struct gpuopt__propagator_share *s = batch->share;
    const int32_t *node = gpuopt__dealt_part_of(&s->dealt, s->dealt.rank).item;
    gpuopt_propagator_node_changes own = *changes;
    gpuopt_status status;
    int32_t k, mine = 0;
    own.start = s->start;
    status = batch->base->context->desc.backend->propagator->batch_get_changes(batch, GPUOPT_HOST, &own);
    changes->count = own.count;
    for (k = 0; changes->start && !status && k <= s->dealt.count; k++) {
        changes->start[k] = s->start[mine];
        mine += mine < batch->ran && node[mine] == k;
    }
    return status;
}

/* Copies another rank's changes to their places in the caller's arrays, as far as these reach. */
static void gpuopt__propagator_share_place(const struct gpuopt__propagator_share *s, int32_t rank, int64_t used,
                                           const gpuopt_propagator_node_changes *to) {
    const double *lb = s->bound, *ub = lb + used;
    const int32_t *col = gpuopt__propagator_share_cols(s, used);
    const gpuopt__dealt_part part = gpuopt__dealt_part_of(&s->dealt, rank);
    const int32_t *node = part.item, *columns = s->found.narrow[GPUOPT__PROPAGATOR_COLUMNS];
    int32_t i;
    int64_t from = 0;
    for (i = 0; i < part.count; from += columns[node[i++]]) {
        const int64_t at = s->place[node[i]], spare = to->capacity - at;
        const size_t count = (size_t)(spare < 0 ? 0 : spare < columns[node[i]] ? spare : columns[node[i]]);
        if (count == 0) continue;
        if (to->col) memcpy(to->col + at, col + from, sizeof *col * count);
        if (to->lb) memcpy(to->lb + at, lb + from, sizeof *lb * count);
        if (to->ub) memcpy(to->ub + at, ub + from, sizeof *ub * count);
    }
}

/* The number of columns changed by a rank's nodes. */
static int64_t gpuopt__propagator_share_used(const struct gpuopt__propagator_share *s, int32_t rank) {
    const gpuopt__dealt_part part = gpuopt__dealt_part_of(&s->dealt, rank);
    const int32_t *node = part.item, *columns = s->found.narrow[GPUOPT__PROPAGATOR_COLUMNS];
    int32_t i;
    int64_t used = 0;
    for (i = 0; i < part.count; i++) used += columns[node[i]];
    return used;
}

/* Of all nodes, on all ranks. The arguments have been checked. */
static gpuopt_status gpuopt__propagator_share_all_changes(gpuopt_propagator_batch *batch, const char *call,
                                                          gpuopt_propagator_node_changes *changes) {
    struct gpuopt__propagator_share *s = batch->share;
    const size_t each = 2 * sizeof(double) + sizeof(int32_t);
    gpuopt_status status = GPUOPT_OK;
    int32_t r;
    changes->count = s->place[s->dealt.count];
    for (r = 0; r < s->dealt.ranks; r++)
        if (gpuopt__propagator_share_used(s, r) > batch->changes)
            return gpuopt__propagator_batch_too_many(batch, call, gpuopt__propagator_share_used(s, r));
    if (changes->start) memcpy(changes->start, s->place, sizeof *s->place * (size_t)(s->dealt.count + 1));
    for (r = 0; r < s->dealt.ranks && !status; r++) {
        gpuopt_propagator_node_changes own;
        int64_t used = gpuopt__propagator_share_used(s, r);
        memset(&own, 0, sizeof own);
        own.capacity = used;
        own.lb = s->bound;
        own.ub = own.lb + used;
        own.col = gpuopt__propagator_share_cols(s, used);
        if (r == s->dealt.rank && used > 0)
            status = batch->base->context->desc.backend->propagator->batch_get_changes(batch, GPUOPT_HOST, &own);
        if (status) return gpuopt__ranks_give_up(s->dealt.group, status);
        status = gpuopt_group_broadcast(s->dealt.group, GPUOPT_HOST, r, s->bound, each * (uint64_t)used);
        if (!status) gpuopt__propagator_share_place(s, r, used, changes);
    }
    return status;
}

static gpuopt_status gpuopt__propagator_share_changes(gpuopt_propagator_batch *batch, const char *call,
                                                      gpuopt_status status, gpuopt_memory_space where,
                                                      gpuopt_propagator_node_changes *changes) {
    (void)where;
    if (!changes->own) status = gpuopt__ranks_agree(batch->base->context, batch->share->dealt.group, call, status, 0);
    if (status) return status;
    return changes->own ? gpuopt__propagator_share_own_changes(batch, changes)
                        : gpuopt__propagator_share_all_changes(batch, call, changes);
}

/* ---- Bounds ---- */

/* Of this rank's own nodes. */
static gpuopt_status gpuopt__propagator_share_bounds(gpuopt_propagator_batch *batch, const char *call,
                                                     gpuopt_memory_space where, int64_t count, const int32_t *node,
                                                     double *lb, double *ub) {
    const struct gpuopt__propagator_share *s = batch->share;
    const gpuopt_context *context = batch->base->context;
    const int32_t *own = gpuopt__dealt_part_of(&s->dealt, s->dealt.rank).item;
    const int64_t cols = batch->base->cols;
    gpuopt_status status = GPUOPT_OK;
    int64_t i;
    for (i = 0; node && i < count; i++)
        if (own[node[i] / s->dealt.ranks] != node[i]) {
            gpuopt__log(context, 0, "%s: node %d is another rank's", call, (int)node[i]);
            return GPUOPT_ERROR_ARGUMENT;
        }
    for (i = 0; i < count && !status; i++) {
        const int32_t at = node ? node[i] / s->dealt.ranks : (int32_t)i;
        status = context->desc.backend->propagator->batch_get_bounds(batch, where, 1, &at, lb ? lb + i * cols : NULL,
                                                                     ub ? ub + i * cols : NULL);
    }
    return status;
}

/* ---- Alone ---- */

static gpuopt_status gpuopt__propagator_alone_run(gpuopt_propagator_batch *batch, const char *call,
                                                  gpuopt_status status, gpuopt_memory_space where,
                                                  const gpuopt_propagator_nodes *nodes, int32_t rounds,
                                                  const gpuopt_propagator_node_report *report) {
    if (!status && where == GPUOPT_HOST) status = gpuopt__propagator_check_entries(batch, call, nodes, 0);
    if (!status && nodes->count > 0)
        status = batch->base->context->desc.backend->propagator->batch_run(batch, where, nodes, rounds, report);
    if (status) return status;
    batch->ran = batch->all = nodes->count;
    batch->version = batch->base->version;
    return GPUOPT_OK;
}

static gpuopt_status gpuopt__propagator_alone_changes(gpuopt_propagator_batch *batch, const char *call,
                                                      gpuopt_status status, gpuopt_memory_space where,
                                                      gpuopt_propagator_node_changes *changes) {
    (void)call;
    return status ? status : batch->base->context->desc.backend->propagator->batch_get_changes(batch, where, changes);
}

static gpuopt_status gpuopt__propagator_alone_bounds(gpuopt_propagator_batch *batch, const char *call,
                                                     gpuopt_memory_space where, int64_t count, const int32_t *node,
                                                     double *lb, double *ub) {
    (void)call;
    return batch->base->context->desc.backend->propagator->batch_get_bounds(batch, where, count, node, lb, ub);
}

/* Ends the creation of a batch of this rank's nodes, which had this status on this rank: `nodes` of all ranks. Returns
 * the same status on all ranks. */
static gpuopt_status gpuopt__propagator_share_begin(gpuopt_propagator *base, const char *call, gpuopt_status status,
                                                    const gpuopt_group_info *info,
                                                    const gpuopt_propagator_batch_desc *own, int32_t nodes,
                                                    gpuopt_propagator_batch *batch) {
    static const struct gpuopt__propagator_batch_table alone = {0, gpuopt__propagator_alone_run,
                                                                gpuopt__propagator_alone_changes,
                                                                gpuopt__propagator_alone_bounds},
                                                       shared = {1, gpuopt__propagator_share_run,
                                                                 gpuopt__propagator_share_changes,
                                                                 gpuopt__propagator_share_bounds};
    if (!status) {
        batch->table = own->group ? &shared : &alone;
        batch->most = nodes;
    }
    if (!own->group) return status;
    if (!status) status = gpuopt__propagator_share_create(info, own, nodes, batch);
    return gpuopt__ranks_agree(base->context, own->group, call, status,
                               gpuopt__propagator_share_hash(base, own, nodes));
}

#endif /* GPUOPT_IMPL_PROPAGATE_RANKS_BATCH_RUN_H */
