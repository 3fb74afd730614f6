/* SPDX-License-Identifier: MIT
 *
 * Probing: the joint implications of the two probes of a binary, written once for both backends.
 */
#ifndef GPUOPT_IMPL_PROPAGATE_ARITH_PROBE_PAIR_H
#define GPUOPT_IMPL_PROPAGATE_ARITH_PROBE_PAIR_H

#include "row.h"

/* The columns that one probe has changed, ascending, and their bounds. */
typedef struct gpuopt__propagator_probe_side {
    const int32_t *col;
    const double *lb, *ub;
    int64_t count;
    int infeasible; /* then there are no columns */
} gpuopt__propagator_probe_side;

/* A binary, set to 0 by the first probe and to 1 by the second. next: position in each probe's columns. */
typedef struct gpuopt__propagator_probe_pair {
    gpuopt__propagator_probe_side side[2];
    int64_t next[2];
    int32_t binary;
    const uint8_t *is_binary; /* [cols] */
} gpuopt__propagator_probe_pair;

/* Bounds of a column that hold for either value of the binary. */
typedef struct gpuopt__propagator_probe_fact {
    int32_t col;
    double lb, ub;
    int equivalent; /* whether the two values fix this other binary, differently */
    int opposite;   /* then: whether the other binary is 1 where the first is 0 */
} gpuopt__propagator_probe_fact;

/* Finds the next fact: bounds that both probes imply or, if one of them is infeasible, the other. Returns 0 if none is
 * left. */
GPUOPT_HD int gpuopt__propagator_probe_next_fact(gpuopt__propagator_probe_pair *pair,
                                                 gpuopt__propagator_probe_fact *fact) {
    const gpuopt__propagator_probe_side *zero = &pair->side[0], *one = &pair->side[1];
    fact->equivalent = fact->opposite = 0;
    if (zero->infeasible || one->infeasible) {
        const gpuopt__propagator_probe_side *only = zero->infeasible ? one : zero;
        const int64_t k = pair->next[0]++;
        if (only->infeasible || k >= only->count) return 0;
        fact->col = only->col[k], fact->lb = only->lb[k], fact->ub = only->ub[k];
        return 1;
    }
    while (pair->next[0] < zero->count && pair->next[1] < one->count) {
        const int64_t k = pair->next[0], l = pair->next[1];
        const int32_t col = zero->col[k], other = one->col[l];
        pair->next[0] += col <= other;
        pair->next[1] += other <= col;
        if (col != other) continue;
        fact->col = col;
        fact->lb = gpuopt__min(zero->lb[k], one->lb[l]);
        fact->ub = gpuopt__max(zero->ub[k], one->ub[l]);
        fact->equivalent = col != pair->binary && pair->is_binary[col] && zero->lb[k] != one->lb[l];
        fact->opposite = zero->lb[k] == 1;
        return 1;
    }
    return 0;
}

#endif /* GPUOPT_IMPL_PROPAGATE_ARITH_PROBE_PAIR_H */
