/* SPDX-License-Identifier: MIT
 *
 * Probing: one pass over the binaries, the same on any backend. The nodes of a batch set binaries to 0 and to 1. A
 * batch holds some binaries at a time; the backend compares their changes (arith/probe_pair.h) before the next
 * binaries.
 */
#ifndef GPUOPT_IMPL_PROPAGATE_API_PROBE_PASS_H
#define GPUOPT_IMPL_PROPAGATE_API_PROBE_PASS_H

#include "../backend.h"

/* Binaries probed first, to see how many columns change. */
enum { GPUOPT__PROPAGATOR_PROBE_FIRST = 4096 };

/* Cuts the arrays of a probe of known sizes. */
static inline void gpuopt__propagator_probe_cut(gpuopt_propagator_probe *probe, int32_t cols, gpuopt__arena *arena) {
    gpuopt__cut(arena, 1, sizeof *probe);
    probe->base_lb = (double *)gpuopt__cut(arena, cols, sizeof *probe->base_lb);
    probe->base_ub = (double *)gpuopt__cut(arena, cols, sizeof *probe->base_ub);
    probe->lb = (double *)gpuopt__cut(arena, cols, sizeof *probe->lb);
    probe->ub = (double *)gpuopt__cut(arena, cols, sizeof *probe->ub);
    probe->binary = (int32_t *)gpuopt__cut(arena, cols, sizeof *probe->binary);
    probe->is_binary = (uint8_t *)gpuopt__cut(arena, cols, sizeof *probe->is_binary);
}

/* Finds the binaries to probe: of `count` columns, or all of them. Returns their number. */
static inline int32_t gpuopt__propagator_probe_choose(gpuopt_propagator_probe *probe, int32_t count,
                                                      const int32_t *col) {
    int32_t chosen = 0, k;
    for (k = 0; k < (col ? count : probe->base->cols); k++) {
        int32_t j = col ? col[k] : k;
        if (probe->is_binary[j]) probe->binary[chosen++] = j;
    }
    return chosen;
}

/* How many binaries to probe next, after `last` at a time: as many as fit if the same number of columns changes. At
 * least one fits. */
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

/* Summarises the results in this info. */
static inline void gpuopt__propagator_probe_sum_up(gpuopt_propagator_probe *probe, gpuopt_propagator_probe_info *info) {
    const gpuopt__propagator_rules *rules = &probe->base->rules;
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

/* Begins a pass with checked arguments: *chosen binaries are to be probed. */
static inline gpuopt_status gpuopt__propagator_probe_begin_pass(gpuopt_propagator_probe *probe, int32_t count,
                                                                const int32_t *col, int32_t *chosen) {
    gpuopt_propagator *base = probe->base;
    const gpuopt__propagator_backend *table = base->context->desc.backend->propagator;
    const size_t bytes = sizeof(double) * (size_t)base->cols;
    int32_t j;
    gpuopt_status status = table->get_kinds(base, probe->is_binary);
    if (!status) status = table->get_bounds(base, GPUOPT_HOST, base->cols, NULL, probe->base_lb, probe->base_ub);
    if (status) return status;
    for (j = 0; j < base->cols; j++)
        probe->is_binary[j] =
            probe->is_binary[j] & GPUOPT__PROPAGATOR_INTEGER && probe->base_lb[j] == 0 && probe->base_ub[j] == 1;
    memcpy(probe->lb, probe->base_lb, bytes);
    memcpy(probe->ub, probe->base_ub, bytes);
    memset(&probe->info, 0, sizeof probe->info);
    probe->info.infeasible_col = -1;
    probe->stopped = 0;
    *chosen = gpuopt__propagator_probe_choose(probe, count, col);
    return GPUOPT_OK;
}

/* Probes `chosen` binaries. */
static inline gpuopt_status gpuopt__propagator_probe_pass(gpuopt_propagator_probe *probe, int32_t chosen,
                                                          int32_t rounds) {
    const gpuopt_context *context = probe->base->context;
    const gpuopt__propagator_backend *table = context->desc.backend->propagator;
    int32_t most = probe->nodes / 2, done;
    gpuopt_status status;
    if (most > GPUOPT__PROPAGATOR_PROBE_FIRST) most = GPUOPT__PROPAGATOR_PROBE_FIRST;
    status = table->probe_begin(probe, chosen);
    while (!status && probe->info.probed < chosen && !probe->stopped) {
        const int32_t left = chosen - probe->info.probed, now = left < most ? left : most;
        probe->stopped = probe->info.probed > 0 && gpuopt__asked_to_stop(context);
        if (probe->stopped) break;
        status = table->probe_piece(probe, now, rounds, &done);
        probe->stopped = done >= 0 && done < now;
        most = gpuopt__propagator_probe_next(probe, now);
    }
    return status ? status : table->probe_end(probe);
}

#endif /* GPUOPT_IMPL_PROPAGATE_API_PROBE_PASS_H */
