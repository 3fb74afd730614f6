/* SPDX-License-Identifier: MIT
 *
 * Probing, on any backend: binaries are set to 0 and to 1 by the nodes of a batch, and this compares what changed. A
 * batch has room for some binaries at a time; their results are merged before the next ones.
 */
#ifndef GPUOPT_IMPL_PROPAGATE_PROBE_H
#define GPUOPT_IMPL_PROPAGATE_PROBE_H

#include "backend.h"

/* Columns and bounds: a part of what a run has found. */
typedef struct gpuopt__propagator_bound_list {
    int32_t *col;
    double *lb, *ub;
} gpuopt__propagator_bound_list;

struct gpuopt_propagator_probe {
    gpuopt_propagator *base;
    gpuopt_propagator_batch *batch;
    int32_t nodes; /* even */
    int64_t changes, implications, equivalences;
    int ran;     /* whether there are results */
    int stopped; /* the host has asked to stop */
    gpuopt_propagator_probe_info info;
    uint8_t *kind;             /* [cols]: bits of the backend's, GPUOPT__PROPAGATOR_INTEGER and others */
    double *base_lb, *base_ub; /* [cols] */
    /* Of the run. */
    double *lb, *ub; /* [cols]: what holds in every solution */
    int32_t *binary; /* [cols] */
    int32_t *outcome;
    int64_t *start;
    gpuopt__propagator_bound_list implied; /* [implications] */
    int32_t *equal, *other;                /* [equivalences] */
    uint8_t *opposite;                     /* likewise */
    /* Of the binaries that are being probed. */
    int64_t *node_start; /* [nodes + 1] */
    int32_t *node_col;   /* [nodes] */
    double *node_bound;  /* [nodes] */
    int32_t *node_rounds;
    int64_t *from;                         /* [nodes + 1] */
    gpuopt__propagator_bound_list changed; /* [changes] */
};

/* Binaries that are probed first, to see how many columns change. */
enum { GPUOPT__PROPAGATOR_PROBE_FIRST = 1024 };

/* Cuts the arrays of a probe, whose sizes are known. */
static inline void gpuopt__propagator_probe_cut(gpuopt_propagator_probe *probe, int32_t cols, gpuopt__arena *arena) {
    gpuopt__cut(arena, 1, sizeof *probe);
#define GPUOPT__PROPAGATOR_TAKE(array, type, count) (array) = (type *)gpuopt__cut(arena, (count), sizeof(type))
    GPUOPT__PROPAGATOR_TAKE(probe->base_lb, double, cols);
    GPUOPT__PROPAGATOR_TAKE(probe->base_ub, double, cols);
    GPUOPT__PROPAGATOR_TAKE(probe->lb, double, cols);
    GPUOPT__PROPAGATOR_TAKE(probe->ub, double, cols);
    GPUOPT__PROPAGATOR_TAKE(probe->start, int64_t, 2 * (int64_t)cols + 1);
    GPUOPT__PROPAGATOR_TAKE(probe->outcome, int32_t, 2 * (int64_t)cols);
    GPUOPT__PROPAGATOR_TAKE(probe->binary, int32_t, cols);
    GPUOPT__PROPAGATOR_TAKE(probe->kind, uint8_t, cols);
    GPUOPT__PROPAGATOR_TAKE(probe->implied.col, int32_t, probe->implications);
    GPUOPT__PROPAGATOR_TAKE(probe->implied.lb, double, probe->implications);
    GPUOPT__PROPAGATOR_TAKE(probe->implied.ub, double, probe->implications);
    GPUOPT__PROPAGATOR_TAKE(probe->equal, int32_t, probe->equivalences);
    GPUOPT__PROPAGATOR_TAKE(probe->other, int32_t, probe->equivalences);
    GPUOPT__PROPAGATOR_TAKE(probe->opposite, uint8_t, probe->equivalences);
    GPUOPT__PROPAGATOR_TAKE(probe->node_start, int64_t, probe->nodes + 1);
    GPUOPT__PROPAGATOR_TAKE(probe->node_col, int32_t, probe->nodes);
    GPUOPT__PROPAGATOR_TAKE(probe->node_bound, double, probe->nodes);
    GPUOPT__PROPAGATOR_TAKE(probe->node_rounds, int32_t, probe->nodes);
    GPUOPT__PROPAGATOR_TAKE(probe->from, int64_t, probe->nodes + 1);
    GPUOPT__PROPAGATOR_TAKE(probe->changed.col, int32_t, probe->changes);
    GPUOPT__PROPAGATOR_TAKE(probe->changed.lb, double, probe->changes);
    GPUOPT__PROPAGATOR_TAKE(probe->changed.ub, double, probe->changes);
#undef GPUOPT__PROPAGATOR_TAKE
}

/* ---- What follows ---- */

static inline int gpuopt__propagator_is_binary(const gpuopt_propagator_probe *probe, int32_t col) {
    return probe->kind[col] & GPUOPT__PROPAGATOR_INTEGER && probe->base_lb[col] == 0 && probe->base_ub[col] == 1;
}

/* Bounds of a column that hold in every solution. */
static inline void gpuopt__propagator_probe_tighten(gpuopt_propagator_probe *probe, int32_t col, double lb, double ub) {
    if (lb > probe->lb[col]) probe->lb[col] = lb;
    if (ub < probe->ub[col]) probe->ub[col] = ub;
}

/* Adds what a feasible probe of a binary implies to the implications. */
static inline void gpuopt__propagator_probe_imply(gpuopt_propagator_probe *probe, int32_t binary, int64_t first,
                                                  int64_t end) {
    const gpuopt__propagator_bound_list *from = &probe->changed, *to = &probe->implied;
    int64_t k;
    for (k = first; k < end; k++) {
        int64_t at = probe->info.implications;
        if (from->col[k] == binary) continue;
        probe->info.implications++;
        probe->info.implied_binaries += gpuopt__propagator_is_binary(probe, from->col[k]);
        if (at >= probe->implications) continue;
        to->col[at] = from->col[k];
        to->lb[at] = from->lb[k];
        to->ub[at] = from->ub[k];
    }
}

/* Two binaries that are equal, or opposite. */
static inline void gpuopt__propagator_probe_equate(gpuopt_propagator_probe *probe, int32_t binary, int32_t other,
                                                   int opposite) {
    int64_t at = probe->info.equivalences++;
    if (at >= probe->equivalences) return;
    probe->equal[at] = binary;
    probe->other[at] = other;
    probe->opposite[at] = (uint8_t)opposite;
}

/* A binary can be both 0 and 1: what both imply holds, and where they fix another binary differently, it is equivalent.
 * zero, one: where the changes of either begin. */
static inline void gpuopt__propagator_probe_unite(gpuopt_propagator_probe *probe, int32_t binary, int64_t zero,
                                                  int64_t zero_end, int64_t one, int64_t one_end) {
    const gpuopt__propagator_bound_list *c = &probe->changed;
    while (zero < zero_end && one < one_end) {
        int32_t col = c->col[zero];
        if (col != c->col[one]) {
            if (col < c->col[one]) zero++;
            else one++;
            continue;
        }
        gpuopt__propagator_probe_tighten(probe, col, gpuopt__min(c->lb[zero], c->lb[one]),
                                         gpuopt__max(c->ub[zero], c->ub[one]));
        if (col != binary && gpuopt__propagator_is_binary(probe, col) && c->lb[zero] != c->lb[one])
            gpuopt__propagator_probe_equate(probe, binary, col, c->lb[zero] == 1);
        zero++;
        one++;
    }
}

/* Takes over what the two nodes of a binary have found: node `node` of the batch set it to 0, the next one to 1. */
static inline void gpuopt__propagator_probe_merge(gpuopt_propagator_probe *probe, int32_t node) {
    gpuopt_propagator_probe_info *info = &probe->info;
    const gpuopt__propagator_bound_list *c = &probe->changed;
    const int32_t at = info->probed++, binary = probe->binary[at], *outcome = probe->outcome + 2 * (int64_t)at;
    const int64_t *from = probe->from + node;
    int side, infeasible[2];
    int64_t k;
    for (side = 0; side < 2; side++) {
        infeasible[side] = outcome[side] == GPUOPT_INFEASIBLE;
        info->infeasible += infeasible[side];
        info->unfinished += !infeasible[side] && outcome[side] != GPUOPT_CONVERGED;
        probe->start[2 * (int64_t)at + side] = info->implications;
        gpuopt__propagator_probe_imply(probe, binary, from[side], from[side + 1]);
    }
    probe->start[2 * (int64_t)at + 2] = info->implications;
    if (infeasible[0] && infeasible[1]) {
        if (info->infeasible_col < 0) info->infeasible_col = binary;
    } else if (infeasible[0] || infeasible[1]) {
        for (k = from[0]; k < from[2]; k++) gpuopt__propagator_probe_tighten(probe, c->col[k], c->lb[k], c->ub[k]);
    } else {
        gpuopt__propagator_probe_unite(probe, binary, from[0], from[1], from[1], from[2]);
    }
}

/* ---- A run ---- */

/* Finds the binaries to be probed: of `count` columns, or all of them. Returns their number. */
static inline int32_t gpuopt__propagator_probe_choose(gpuopt_propagator_probe *probe, int32_t count,
                                                      const int32_t *col) {
    int32_t chosen = 0, k;
    for (k = 0; k < (col ? count : probe->base->cols); k++) {
        int32_t j = col ? col[k] : k;
        if (gpuopt__propagator_is_binary(probe, j)) probe->binary[chosen++] = j;
    }
    return chosen;
}

/* Runs the nodes of `count` binaries from the first that has not been probed. *done: how many of them have been run,
 * fewer if the host asks to stop; -1 if more columns have changed than there is room for. */
static inline gpuopt_status gpuopt__propagator_probe_nodes(gpuopt_propagator_probe *probe, int32_t count,
                                                           int32_t rounds, int32_t *done) {
    const gpuopt__propagator_backend *table = probe->base->context->desc.backend->propagator;
    gpuopt_propagator_nodes nodes;
    gpuopt_propagator_node_report report;
    gpuopt_propagator_node_changes changes;
    int32_t k, first = probe->info.probed;
    int64_t used;
    gpuopt_status status;
    memset(&nodes, 0, sizeof nodes);
    memset(&report, 0, sizeof report);
    memset(&changes, 0, sizeof changes);
    for (k = 0; k < 2 * count; k++) {
        probe->node_start[k] = k;
        probe->node_col[k] = probe->binary[first + k / 2];
        probe->node_bound[k] = k % 2;
    }
    probe->node_start[2 * count] = 2 * (int64_t)count;
    nodes.count = 2 * count;
    nodes.start = probe->node_start;
    nodes.col = probe->node_col;
    nodes.lb = nodes.ub = probe->node_bound;
    report.outcome = probe->outcome + 2 * (int64_t)first;
    report.rounds = probe->node_rounds;
    changes.capacity = probe->changes;
    changes.start = probe->from;
    changes.col = probe->changed.col;
    changes.lb = probe->changed.lb;
    changes.ub = probe->changed.ub;
    *done = 0;
    status = table->batch_run(probe->batch, GPUOPT_HOST, &nodes, rounds, &report);
    if (status) return status;
    probe->batch->ran = nodes.count;
    used = table->batch_used(probe->batch);
    if (used > probe->changes) *done = -1;
    if (*done < 0) return GPUOPT_OK;
    status = table->batch_get_changes(probe->batch, GPUOPT_HOST, &changes);
    if (status) return status;
    for (k = 0; k < nodes.count && (report.outcome[k] != GPUOPT_MORE || report.rounds[k] > 0); k++) continue;
    *done = k / 2;
    probe->stopped = *done < count;
    return GPUOPT_OK;
}

/* How many binaries to probe at a time, after so many: as many as there is room for if as many columns change. One
 * always fits. */
static inline int32_t gpuopt__propagator_probe_next(const gpuopt_propagator_probe *probe, int32_t last) {
    const double used = (double)probe->base->context->desc.backend->propagator->batch_used(probe->batch),
                 fit = 0.75 * last * (double)probe->changes / (used + 1);
    if (fit >= probe->nodes / 2) return probe->nodes / 2;
    return fit < 1 ? 1 : (int32_t)fit;
}

/* Whether bounds have been found for a column. */
static inline int gpuopt__propagator_probe_found(const gpuopt_propagator_probe *probe, int32_t col) {
    return probe->lb[col] != probe->base_lb[col] || probe->ub[col] != probe->base_ub[col];
}

/* Sums up what has been found. */
static inline void gpuopt__propagator_probe_sum_up(gpuopt_propagator_probe *probe) {
    const gpuopt__propagator_rules *rules = &probe->base->rules;
    gpuopt_propagator_probe_info *info = &probe->info;
    int32_t j;
    for (j = 0; j < probe->base->cols; j++) {
        if (!gpuopt__propagator_probe_found(probe, j)) continue;
        info->bounds++;
        if (!gpuopt__propagator_crossed(rules, probe->lb[j], probe->ub[j])) {
            info->fixings += probe->lb[j] >= probe->ub[j];
            probe->lb[j] = gpuopt__propagator_shown_lb(rules, 0, probe->lb[j], probe->ub[j]);
        } else if (info->infeasible_col < 0) {
            info->infeasible_col = j;
        }
    }
    info->outcome = info->infeasible_col >= 0 ? GPUOPT_INFEASIBLE : probe->stopped ? GPUOPT_MORE : GPUOPT_CONVERGED;
}

/* Probes; the arguments have been checked. */
static inline gpuopt_status gpuopt__propagator_probe_pass(gpuopt_propagator_probe *probe, int32_t count,
                                                          const int32_t *col, int32_t rounds) {
    gpuopt_propagator *base = probe->base;
    const gpuopt__propagator_backend *table = base->context->desc.backend->propagator;
    const size_t bytes = sizeof(double) * (size_t)base->cols;
    int32_t chosen, most = probe->nodes / 2, done, k;
    gpuopt_status status = table->get_kinds(base, probe->kind);
    if (!status) status = table->get_bounds(base, GPUOPT_HOST, base->cols, NULL, probe->base_lb, probe->base_ub);
    if (status) return status;
    memcpy(probe->lb, probe->base_lb, bytes);
    memcpy(probe->ub, probe->base_ub, bytes);
    memset(&probe->info, 0, sizeof probe->info);
    probe->info.infeasible_col = -1;
    probe->start[0] = probe->stopped = 0;
    chosen = gpuopt__propagator_probe_choose(probe, count, col);
    if (most > GPUOPT__PROPAGATOR_PROBE_FIRST) most = GPUOPT__PROPAGATOR_PROBE_FIRST;
    while (probe->info.probed < chosen && !probe->stopped) {
        const int32_t left = chosen - probe->info.probed, now = left < most ? left : most;
        probe->stopped = probe->info.probed > 0 && gpuopt__asked_to_stop(base->context);
        if (probe->stopped) break;
        status = gpuopt__propagator_probe_nodes(probe, now, rounds, &done);
        if (status) return status;
        most = gpuopt__propagator_probe_next(probe, now);
        for (k = 0; k < done; k++) gpuopt__propagator_probe_merge(probe, 2 * k);
    }
    gpuopt__propagator_probe_sum_up(probe);
    return GPUOPT_OK;
}

#endif /* GPUOPT_IMPL_PROPAGATE_PROBE_H */
