/* SPDX-License-Identifier: MIT
 *
 * A batch whose nodes are dealt to the ranks of a group (batch_share.h): a run, and what it found.
 */
#ifndef GPUOPT_IMPL_PROPAGATE_BATCH_GATHER_H
#define GPUOPT_IMPL_PROPAGATE_BATCH_GATHER_H

#include "batch_share.h"

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

/* Where the reports of `own` nodes are in a message, of those that are wanted. Returns its bytes, a multiple of 8. */
static uint64_t gpuopt__propagator_message_cut(char *message, const gpuopt__propagator_reports *wanted, int32_t own,
                                               gpuopt__propagator_reports *r) {
    uint64_t at = sizeof(gpuopt__propagator_said);
    int k;
    for (k = 0; k < GPUOPT__PROPAGATOR_WIDE; k++) {
        r->wide[k] = wanted->wide[k] ? (int64_t *)(message + at) : NULL;
        if (wanted->wide[k]) at += sizeof(int64_t) * (uint64_t)own;
    }
    for (k = 0; k < GPUOPT__PROPAGATOR_NARROW; k++) {
        r->narrow[k] = wanted->narrow[k] ? (int32_t *)(message + at) : NULL;
        if (wanted->narrow[k]) at += sizeof(int32_t) * (uint64_t)own;
    }
    return (at + 7) & ~(uint64_t)7;
}

/* s->bound holds `count` lower bounds, as many upper ones, and then their columns. */
static int32_t *gpuopt__propagator_share_cols(const struct gpuopt__propagator_share *s, int64_t count) {
    return (int32_t *)(void *)(s->bound + 2 * count);
}

/* This rank's own nodes of a call, whose starts have been checked; copied, if they are given no more than there is room
 * for. */
static gpuopt_status gpuopt__propagator_share_take(const gpuopt_propagator_batch *batch, const char *call,
                                                   const gpuopt_propagator_nodes *nodes, gpuopt_propagator_nodes *own) {
    const struct gpuopt__propagator_share *s = batch->share;
    const int32_t *node = s->order + (int64_t)s->rank * s->own;
    double *lb = s->bound, *ub = s->bound + batch->changes;
    int32_t *col = gpuopt__propagator_share_cols(s, batch->changes), k;
    int64_t at = 0;
    *own = *nodes;
    own->count = gpuopt__propagator_dealt(s, s->rank, nodes->count);
    s->start[0] = 0;
    for (k = 0; k < own->count; k++) at = s->start[k + 1] = at + nodes->start[node[k] + 1] - nodes->start[node[k]];
    own->start = s->start;
    if (nodes->col) own->col = col;
    if (nodes->lb) own->lb = lb;
    if (nodes->ub) own->ub = ub;
    for (k = 0; k < own->count && nodes->col && at <= batch->changes; k++) {
        const int64_t from = nodes->start[node[k]], to = s->start[k], count = s->start[k + 1] - to;
        if (count == 0) continue;
        memcpy(col + to, nodes->col + from, sizeof *col * (size_t)count);
        if (nodes->lb) memcpy(lb + to, nodes->lb + from, sizeof *lb * (size_t)count);
        if (nodes->ub) memcpy(ub + to, nodes->ub + from, sizeof *ub * (size_t)count);
    }
    return gpuopt__propagator_check_entries(batch, call, own, 1);
}

/* Copies what each rank has found to the host's report, and notes the columns and where they begin. */
static void gpuopt__propagator_share_report(struct gpuopt__propagator_share *s,
                                            const gpuopt__propagator_reports *wanted, int32_t *ran_by,
                                            const gpuopt__propagator_reports *gathered) {
    char *message = s->receive;
    int32_t r, i, k;
    for (r = 0; r < s->ranks; message += s->bytes[r++]) {
        const int32_t *node = s->order + (int64_t)r * s->own, own = gpuopt__propagator_dealt(s, r, s->count);
        gpuopt__propagator_reports from;
        gpuopt__propagator_message_cut(message, gathered, (s->count + s->ranks - 1) / s->ranks, &from);
        for (k = 0; k < GPUOPT__PROPAGATOR_WIDE; k++)
            for (i = 0; wanted->wide[k] && i < own; i++) wanted->wide[k][node[i]] = from.wide[k][i];
        for (k = 0; k < GPUOPT__PROPAGATOR_NARROW; k++)
            for (i = 0; wanted->narrow[k] && i < own; i++) wanted->narrow[k][node[i]] = from.narrow[k][i];
        for (i = 0; i < own; i++) s->columns[node[i]] = from.narrow[GPUOPT__PROPAGATOR_COLUMNS][i];
        for (i = 0; ran_by && i < own; i++) ran_by[node[i]] = r;
    }
    s->place[0] = 0;
    for (k = 0; k < s->count; k++) s->place[k + 1] = s->place[k] + s->columns[k];
}

/* What the ranks have said, in the order of ranks: the same status on all. */
static gpuopt_status gpuopt__propagator_share_heard(const gpuopt_context *context, const char *call,
                                                    const struct gpuopt__propagator_share *s) {
    gpuopt__propagator_said first, said;
    const char *message = s->receive;
    int32_t r;
    memcpy(&first, message, sizeof first);
    for (r = 0; r < s->ranks; message += s->bytes[r++]) {
        memcpy(&said, message, sizeof said);
        if (!said.status) continue;
        if (r != s->rank)
            gpuopt__log(context, 0, "%s: on rank %d: %s", call, (int)r,
                        gpuopt_status_string((gpuopt_status)said.status));
        return (gpuopt_status)said.status;
    }
    for (r = 0, message = s->receive; r < s->ranks; message += s->bytes[r++]) {
        memcpy(&said, message, sizeof said);
        if (said.hash == first.hash) continue;
        gpuopt__log(context, 0, "%s: rank %d has another count, start, rounds or report than rank 0", call, (int)r);
        return GPUOPT_ERROR_ARGUMENT;
    }
    return GPUOPT_OK;
}

/* Runs this rank's own nodes, and gets what the others find. status: of this rank's arguments; if it is not OK, the
 * nodes are not looked at. */
static gpuopt_status gpuopt__propagator_share_run(gpuopt_propagator_batch *batch, const char *call,
                                                  const gpuopt_propagator_nodes *nodes, int32_t rounds,
                                                  const gpuopt_propagator_node_report *report, gpuopt_status status) {
    struct gpuopt__propagator_share *s = batch->share;
    const gpuopt_context *context = batch->base->context;
    const gpuopt__propagator_backend *backend = context->desc.backend->propagator;
    const uint64_t most = gpuopt__propagator_said_bytes(s->own) * (uint64_t)s->ranks;
    gpuopt__propagator_reports wanted = gpuopt__propagator_reports_of(report), gathered = wanted, to;
    gpuopt__propagator_said said = {0, 0};
    gpuopt_propagator_nodes own;
    uint64_t bytes = sizeof said;
    int32_t k;
    if (gpuopt__ranks_lost(s->group)) return gpuopt_group_agree(s->group, NULL, 0); /* which says so */
    gathered.narrow[GPUOPT__PROPAGATOR_COLUMNS] = s->columns;                       /* in any case */
    memset(&own, 0, sizeof own);
    if (!status) status = gpuopt__propagator_share_take(batch, call, nodes, &own);
    if (!status) {
        gpuopt_propagator_node_report mine;
        memset(&mine, 0, sizeof mine);
        bytes = gpuopt__propagator_message_cut(s->send, &gathered, (nodes->count + s->ranks - 1) / s->ranks, &to);
        memset(s->send, 0, (size_t)bytes);
        mine.outcome = to.narrow[0];
        mine.rounds = to.narrow[1];
        mine.infeasible_row = to.narrow[2];
        mine.infeasible_col = to.narrow[3];
        mine.columns = to.narrow[GPUOPT__PROPAGATOR_COLUMNS];
        mine.changed = to.wide[0];
        mine.nonzeros = to.wide[1];
        said.hash =
            gpuopt__hash_number(gpuopt__hash_number(GPUOPT__HASH_START, (uint32_t)nodes->count), (uint32_t)rounds);
        for (k = 0; k < GPUOPT__PROPAGATOR_NARROW; k++)
            said.hash = gpuopt__hash_number(said.hash, wanted.narrow[k] != NULL);
        for (k = 0; k < GPUOPT__PROPAGATOR_WIDE; k++)
            said.hash = gpuopt__hash_number(said.hash, wanted.wide[k] != NULL);
        for (k = 0; nodes->count > 0 && k <= nodes->count; k++)
            said.hash = gpuopt__hash_number(said.hash, (uint64_t)nodes->start[k]);
        if (own.count > 0) status = backend->batch_run(batch, GPUOPT_HOST, &own, rounds, &mine);
    }
    if (status == GPUOPT_ERROR_DEVICE) return gpuopt__ranks_give_up(s->group, status);
    if (status) bytes = sizeof said;
    said.status = status;
    memcpy(s->send, &said, sizeof said);
    status = gpuopt_group_all_gather(s->group, s->send, bytes, s->receive, most, s->bytes);
    if (!status) status = gpuopt__propagator_share_heard(context, call, s);
    if (status) return status;
    s->count = nodes->count;
    gpuopt__propagator_share_report(s, &wanted, report->rank, &gathered);
    batch->ran = own.count;
    batch->version = batch->base->version;
    return GPUOPT_OK;
}

/* ---- Changes ---- */

/* Of this rank's own nodes; the others' have none. */
static gpuopt_status gpuopt__propagator_share_own_changes(gpuopt_propagator_batch *batch,
                                                          gpuopt_propagator_node_changes *changes) {
    const struct gpuopt__propagator_share *s = batch->share;
    const int32_t *node = s->order + (int64_t)s->rank * s->own;
    gpuopt_propagator_node_changes own = *changes;
    gpuopt_status status;
    int32_t k, mine = 0;
    own.start = s->start;
    status = batch->base->context->desc.backend->propagator->batch_get_changes(batch, GPUOPT_HOST, &own);
    changes->count = own.count;
    for (k = 0; changes->start && !status && k <= s->count; k++) {
        changes->start[k] = s->start[mine];
        mine += mine < batch->ran && node[mine] == k;
    }
    return status;
}

/* Copies another rank's changes to their places in the host's arrays, as far as these go. */
static void gpuopt__propagator_share_place(const struct gpuopt__propagator_share *s, int32_t rank, int64_t used,
                                           const gpuopt_propagator_node_changes *to) {
    const double *lb = s->bound, *ub = lb + used;
    const int32_t *col = gpuopt__propagator_share_cols(s, used), *node = s->order + (int64_t)rank * s->own;
    int32_t i, own = gpuopt__propagator_dealt(s, rank, s->count);
    int64_t from = 0;
    for (i = 0; i < own; from += s->columns[node[i++]]) {
        const int64_t at = s->place[node[i]], room = to->capacity - at;
        const size_t count = (size_t)(room < 0 ? 0 : room < s->columns[node[i]] ? room : s->columns[node[i]]);
        if (count == 0) continue;
        if (to->col) memcpy(to->col + at, col + from, sizeof *col * count);
        if (to->lb) memcpy(to->lb + at, lb + from, sizeof *lb * count);
        if (to->ub) memcpy(to->ub + at, ub + from, sizeof *ub * count);
    }
}

/* How many columns a rank's nodes have changed. */
static int64_t gpuopt__propagator_share_used(const struct gpuopt__propagator_share *s, int32_t rank) {
    const int32_t *node = s->order + (int64_t)rank * s->own;
    int32_t i, own = gpuopt__propagator_dealt(s, rank, s->count);
    int64_t used = 0;
    for (i = 0; i < own; i++) used += s->columns[node[i]];
    return used;
}

/* Of all nodes, on all ranks. The arguments have been checked. */
static gpuopt_status gpuopt__propagator_share_all_changes(gpuopt_propagator_batch *batch, const char *call,
                                                          gpuopt_propagator_node_changes *changes) {
    struct gpuopt__propagator_share *s = batch->share;
    const size_t each = 2 * sizeof(double) + sizeof(int32_t);
    gpuopt_status status = GPUOPT_OK;
    int32_t r;
    changes->count = s->place[s->count];
    for (r = 0; r < s->ranks; r++)
        if (gpuopt__propagator_share_used(s, r) > batch->changes)
            return gpuopt__propagator_batch_no_room(batch, call, gpuopt__propagator_share_used(s, r));
    if (changes->start) memcpy(changes->start, s->place, sizeof *s->place * (size_t)(s->count + 1));
    for (r = 0; r < s->ranks && !status; r++) {
        gpuopt_propagator_node_changes own;
        int64_t used = gpuopt__propagator_share_used(s, r);
        memset(&own, 0, sizeof own);
        own.capacity = used;
        own.lb = s->bound;
        own.ub = own.lb + used;
        own.col = gpuopt__propagator_share_cols(s, used);
        if (r == s->rank && used > 0)
            status = batch->base->context->desc.backend->propagator->batch_get_changes(batch, GPUOPT_HOST, &own);
        if (status) return gpuopt__ranks_give_up(s->group, status);
        status = gpuopt_group_broadcast(s->group, r, s->bound, each * (uint64_t)used);
        if (!status) gpuopt__propagator_share_place(s, r, used, changes);
    }
    return status;
}

/* ---- Bounds ---- */

/* Of this rank's own nodes. */
static gpuopt_status gpuopt__propagator_share_bounds(gpuopt_propagator_batch *batch, const char *call, int64_t count,
                                                     const int32_t *node, double *lb, double *ub) {
    const struct gpuopt__propagator_share *s = batch->share;
    const gpuopt_context *context = batch->base->context;
    const int32_t *own = s->order + (int64_t)s->rank * s->own;
    const int64_t cols = batch->base->cols;
    gpuopt_status status = GPUOPT_OK;
    int64_t i;
    for (i = 0; node && i < count; i++)
        if (own[node[i] / s->ranks] != node[i]) {
            gpuopt__log(context, 0, "%s: node %d is another rank's", call, (int)node[i]);
            return GPUOPT_ERROR_ARGUMENT;
        }
    for (i = 0; i < count && !status; i++) {
        const int32_t at = node ? node[i] / s->ranks : (int32_t)i;
        status = context->desc.backend->propagator->batch_get_bounds(
            batch, GPUOPT_HOST, 1, &at, lb ? lb + i * cols : NULL, ub ? ub + i * cols : NULL);
    }
    return status;
}

#endif /* GPUOPT_IMPL_PROPAGATE_BATCH_GATHER_H */
