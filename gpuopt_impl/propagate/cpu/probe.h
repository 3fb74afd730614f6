/* SPDX-License-Identifier: MIT
 *
 * Probing on the CPU: the results of the nodes of a batch, merged binary by binary.
 */
#ifndef GPUOPT_IMPL_PROPAGATE_CPU_PROBE_H
#define GPUOPT_IMPL_PROPAGATE_CPU_PROBE_H

#include "../arith/probe_pair.h"
#include "nodes.h"

/* Columns and bounds: a part of a run's results. */
typedef struct gpuopt__propagator_bound_list {
    int32_t *col;
    double *lb, *ub;
} gpuopt__propagator_bound_list;

typedef struct gpuopt__propagator_cpu_probe {
    /* Of the whole run. */
    int32_t *outcome;                      /* [2 cols] */
    int64_t *start;                        /* [2 cols + 1] */
    gpuopt__propagator_bound_list implied; /* [implications] */
    int32_t *equal, *other;                /* [equivalences] */
    uint8_t *opposite;                     /* likewise */
    /* Of the binaries being probed. */
    int64_t *node_start; /* [nodes + 1] */
    int32_t *node_col;   /* [nodes] */
    double *node_bound;  /* [nodes] */
    int32_t *node_rounds;
    int64_t *from;                         /* [nodes + 1] */
    gpuopt__propagator_bound_list changed; /* [changes] */
} gpuopt__propagator_cpu_probe;

static gpuopt__propagator_cpu_probe *gpuopt__propagator_cpu_probe_of(const gpuopt_propagator_probe *probe) {
    return (gpuopt__propagator_cpu_probe *)probe->found;
}

/* ---- Memory ---- */

static void gpuopt__propagator_cpu_probe_cut(const gpuopt_propagator_probe *probe, gpuopt__propagator_cpu_probe *own,
                                             gpuopt__arena *arena) {
    const int64_t cols = probe->base->cols;
    gpuopt__cut(arena, 1, sizeof *own);
#define GPUOPT__PROPAGATOR_TAKE(array, type, count) (array) = (type *)gpuopt__cut(arena, (count), sizeof(type))
    GPUOPT__PROPAGATOR_TAKE(own->start, int64_t, 2 * cols + 1);
    GPUOPT__PROPAGATOR_TAKE(own->outcome, int32_t, 2 * cols);
    GPUOPT__PROPAGATOR_TAKE(own->implied.col, int32_t, probe->implications);
    GPUOPT__PROPAGATOR_TAKE(own->implied.lb, double, probe->implications);
    GPUOPT__PROPAGATOR_TAKE(own->implied.ub, double, probe->implications);
    GPUOPT__PROPAGATOR_TAKE(own->equal, int32_t, probe->equivalences);
    GPUOPT__PROPAGATOR_TAKE(own->other, int32_t, probe->equivalences);
    GPUOPT__PROPAGATOR_TAKE(own->opposite, uint8_t, probe->equivalences);
    GPUOPT__PROPAGATOR_TAKE(own->node_start, int64_t, probe->nodes + 1);
    GPUOPT__PROPAGATOR_TAKE(own->node_col, int32_t, probe->nodes);
    GPUOPT__PROPAGATOR_TAKE(own->node_bound, double, probe->nodes);
    GPUOPT__PROPAGATOR_TAKE(own->node_rounds, int32_t, probe->nodes);
    GPUOPT__PROPAGATOR_TAKE(own->from, int64_t, probe->nodes + 1);
    GPUOPT__PROPAGATOR_TAKE(own->changed.col, int32_t, probe->changes);
    GPUOPT__PROPAGATOR_TAKE(own->changed.lb, double, probe->changes);
    GPUOPT__PROPAGATOR_TAKE(own->changed.ub, double, probe->changes);
#undef GPUOPT__PROPAGATOR_TAKE
}

static gpuopt_status gpuopt__propagator_cpu_probe_plan(const gpuopt_propagator_probe *probe, gpuopt_memory_plan *plan) {
    gpuopt__propagator_cpu_probe own;
    gpuopt__arena arena = {NULL, 0};
    gpuopt__propagator_cpu_probe_cut(probe, &own, &arena);
    plan->host_bytes += arena.used;
    return GPUOPT_OK;
}

static gpuopt_status gpuopt__propagator_cpu_probe_open(gpuopt_propagator_probe *probe) {
    gpuopt__propagator_cpu_probe own;
    gpuopt__arena arena = {NULL, 0};
    gpuopt_status status;
    gpuopt__propagator_cpu_probe_cut(probe, &own, &arena);
    status = gpuopt__take_block(probe->base->context, GPUOPT_HOST, &arena);
    if (status) return status;
    gpuopt__propagator_cpu_probe_cut(probe, &own, &arena);
    probe->found = arena.base;
    *gpuopt__propagator_cpu_probe_of(probe) = own;
    return GPUOPT_OK;
}

static void gpuopt__propagator_cpu_probe_close(gpuopt_propagator_probe *probe) {
    gpuopt__release(probe->base->context, GPUOPT_HOST, probe->found);
}

/* ---- Implications ---- */

/* Adds the bounds that a feasible probe of a binary implies to the implications. */
static void gpuopt__propagator_cpu_probe_imply(gpuopt_propagator_probe *probe, int32_t binary, int64_t first,
                                               int64_t end) {
    const gpuopt__propagator_cpu_probe *own = gpuopt__propagator_cpu_probe_of(probe);
    const gpuopt__propagator_bound_list *from = &own->changed, *to = &own->implied;
    int64_t k;
    for (k = first; k < end; k++) {
        int64_t at = probe->info.implications;
        if (from->col[k] == binary) continue;
        probe->info.implications++;
        probe->info.implied_binaries += probe->is_binary[from->col[k]];
        if (at >= probe->implications) continue;
        to->col[at] = from->col[k];
        to->lb[at] = from->lb[k];
        to->ub[at] = from->ub[k];
    }
}

/* Two binaries that are equal, or opposite. */
static void gpuopt__propagator_cpu_probe_equate(gpuopt_propagator_probe *probe, int32_t binary,
                                                const gpuopt__propagator_probe_fact *fact) {
    const gpuopt__propagator_cpu_probe *own = gpuopt__propagator_cpu_probe_of(probe);
    const int64_t at = probe->info.equivalences++;
    if (at >= probe->equivalences) return;
    own->equal[at] = binary;
    own->other[at] = fact->col;
    own->opposite[at] = (uint8_t)fact->opposite;
}

/* Adopts the results of the two nodes of a binary: node `node` of the batch set it to 0, the next one to 1. */
static void gpuopt__propagator_cpu_probe_merge(gpuopt_propagator_probe *probe, int32_t node) {
    const gpuopt__propagator_cpu_probe *own = gpuopt__propagator_cpu_probe_of(probe);
    gpuopt_propagator_probe_info *info = &probe->info;
    const gpuopt__propagator_bound_list *c = &own->changed;
    const int32_t at = info->probed++, *outcome = own->outcome + 2 * (int64_t)at;
    const int64_t *from = own->from + node;
    gpuopt__propagator_probe_pair pair;
    gpuopt__propagator_probe_fact fact;
    int s;
    memset(&pair, 0, sizeof pair);
    pair.binary = probe->binary[at];
    pair.is_binary = probe->is_binary;
    for (s = 0; s < 2; s++) {
        gpuopt__propagator_probe_side *side = &pair.side[s];
        side->col = c->col + from[s], side->lb = c->lb + from[s], side->ub = c->ub + from[s];
        side->count = from[s + 1] - from[s];
        side->infeasible = outcome[s] == GPUOPT_INFEASIBLE;
        info->infeasible += side->infeasible;
        info->unfinished += !side->infeasible && outcome[s] != GPUOPT_CONVERGED;
        own->start[2 * (int64_t)at + s] = info->implications;
        gpuopt__propagator_cpu_probe_imply(probe, pair.binary, from[s], from[s + 1]);
    }
    own->start[2 * (int64_t)at + 2] = info->implications;
    if (pair.side[0].infeasible && pair.side[1].infeasible && info->infeasible_col < 0)
        info->infeasible_col = pair.binary;
    while (gpuopt__propagator_probe_next_fact(&pair, &fact)) {
        if (fact.lb > probe->lb[fact.col]) probe->lb[fact.col] = fact.lb;
        if (fact.ub < probe->ub[fact.col]) probe->ub[fact.col] = fact.ub;
        if (fact.equivalent) gpuopt__propagator_cpu_probe_equate(probe, pair.binary, &fact);
    }
}

/* ---- A run ---- */

static gpuopt_status gpuopt__propagator_cpu_probe_begin(gpuopt_propagator_probe *probe, int32_t chosen) {
    (void)chosen;
    gpuopt__propagator_cpu_probe_of(probe)->start[0] = 0;
    return GPUOPT_OK;
}

static gpuopt_status gpuopt__propagator_cpu_probe_piece(gpuopt_propagator_probe *probe, int32_t count, int32_t rounds,
                                                        int32_t *done) {
    const gpuopt__propagator_cpu_probe *own = gpuopt__propagator_cpu_probe_of(probe);
    gpuopt_propagator_nodes nodes;
    gpuopt_propagator_node_report report;
    gpuopt_propagator_node_changes changes;
    const int32_t first = probe->info.probed;
    int32_t k;
    gpuopt_status status;
    memset(&nodes, 0, sizeof nodes);
    memset(&report, 0, sizeof report);
    memset(&changes, 0, sizeof changes);
    for (k = 0; k < 2 * count; k++) {
        own->node_start[k] = k;
        own->node_col[k] = probe->binary[first + k / 2];
        own->node_bound[k] = k % 2;
    }
    own->node_start[2 * count] = 2 * (int64_t)count;
    nodes.count = 2 * count;
    nodes.start = own->node_start;
    nodes.col = own->node_col;
    nodes.lb = nodes.ub = own->node_bound;
    report.outcome = own->outcome + 2 * (int64_t)first;
    report.rounds = own->node_rounds;
    changes.capacity = probe->changes;
    changes.start = own->from;
    changes.col = own->changed.col;
    changes.lb = own->changed.lb;
    changes.ub = own->changed.ub;
    *done = -1;
    status = gpuopt__propagator_cpu_batch_run(probe->batch, GPUOPT_HOST, &nodes, rounds, &report);
    if (status) return status;
    probe->batch->ran = nodes.count;
    if (gpuopt__propagator_cpu_batch_used(probe->batch) > probe->changes) return GPUOPT_OK;
    status = gpuopt__propagator_cpu_batch_get_changes(probe->batch, GPUOPT_HOST, &changes);
    if (status) return status;
    for (k = 0; k < nodes.count && (report.outcome[k] != GPUOPT_MORE || report.rounds[k] > 0); k++) continue;
    *done = k / 2;
    for (k = 0; k < *done; k++) gpuopt__propagator_cpu_probe_merge(probe, 2 * k);
    return GPUOPT_OK;
}

static gpuopt_status gpuopt__propagator_cpu_probe_end(gpuopt_propagator_probe *probe) {
    (void)probe;
    return GPUOPT_OK;
}

/* ---- Results ---- */

/* Copies the first of `count` items to the caller's array, which may be NULL. */
static void gpuopt__propagator_cpu_probe_give(void *to, const void *from, int64_t count, size_t size) {
    if (to && count > 0) memcpy(to, from, size * (size_t)count);
}

static gpuopt_status gpuopt__propagator_cpu_probe_read_implications(const gpuopt_propagator_probe *probe, int64_t count,
                                                                    const gpuopt_propagator_probe_implications *to) {
    const gpuopt__propagator_cpu_probe *own = gpuopt__propagator_cpu_probe_of(probe);
    const int64_t probes = 2 * (int64_t)probe->info.probed;
    gpuopt__propagator_cpu_probe_give(to->outcome, own->outcome, probes, sizeof *own->outcome);
    gpuopt__propagator_cpu_probe_give(to->start, own->start, probes + 1, sizeof *own->start);
    gpuopt__propagator_cpu_probe_give(to->col, own->implied.col, count, sizeof *to->col);
    gpuopt__propagator_cpu_probe_give(to->lb, own->implied.lb, count, sizeof *to->lb);
    gpuopt__propagator_cpu_probe_give(to->ub, own->implied.ub, count, sizeof *to->ub);
    return GPUOPT_OK;
}

static gpuopt_status gpuopt__propagator_cpu_probe_read_equivalences(const gpuopt_propagator_probe *probe, int64_t count,
                                                                    const gpuopt_propagator_probe_equivalences *to) {
    const gpuopt__propagator_cpu_probe *own = gpuopt__propagator_cpu_probe_of(probe);
    gpuopt__propagator_cpu_probe_give(to->col, own->equal, count, sizeof *to->col);
    gpuopt__propagator_cpu_probe_give(to->other, own->other, count, sizeof *to->other);
    gpuopt__propagator_cpu_probe_give(to->opposite, own->opposite, count, sizeof *to->opposite);
    return GPUOPT_OK;
}

#endif /* GPUOPT_IMPL_PROPAGATE_CPU_PROBE_H */
