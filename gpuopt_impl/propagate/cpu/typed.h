/* SPDX-License-Identifier: MIT
 *
 * Propagation on the CPU: code that is compiled twice, for handles that store double and single precision.
 */
#ifndef GPUOPT_IMPL_PROPAGATE_CPU_TYPED_H
#define GPUOPT_IMPL_PROPAGATE_CPU_TYPED_H

#include "../../common/matrix.h"
#include "kept_rows.h"

/* ---- Recording changes ---- */

/* Enters a change into the trail, if there is one. Returns whether it fit. */
static inline int gpuopt__propagator_cpu_record(gpuopt__propagator_cpu *p, uint32_t side, double old_bound,
                                                double new_bound, int32_t row, int32_t seen) {
    gpuopt__propagator_change *change;
    if (!p->trail) return 1;
    if (p->changes == p->head.trail_capacity) {
        p->full = 1;
        return 0;
    }
    change = &p->trail[p->changes];
    change->old_bound = old_bound;
    change->new_bound = new_bound;
    change->side = side;
    change->row = row;
    change->previous = p->last[side];
    change->seen = seen;
    if (row >= 0 && p->altered[row] > p->changes) p->altered[row] = p->changes;
    p->last[side] = p->changes++;
    return 1;
}

/* ---- Sums ---- */

/* Merges the lanes by halves. Lanes from `used` on are empty and are left out: merging them would change nothing. */
static gpuopt__propagator_activities gpuopt__propagator_cpu_merge_lanes(gpuopt__propagator_activities *lane, int lanes,
                                                                        int used) {
    int half, i;
    if (used == 0) return gpuopt__propagator_activities_start();
    for (half = lanes / 2; half > 0; half /= 2)
        for (i = 0; i < half && i + half < used; i++) gpuopt__propagator_activities_merge(&lane[i], &lane[i + half]);
    return lane[0];
}

/* The same for pairs; unused lanes are 0. */
static gpuopt__pair gpuopt__propagator_cpu_merge_pairs(gpuopt__pair *lane) {
    int half, i;
    for (half = GPUOPT__PROPAGATOR_LANES / 2; half > 0; half /= 2)
        for (i = 0; i < half; i++) lane[i] = gpuopt__pair_add(lane[i], lane[i + half]);
    return lane[0];
}

/* Whether a column is continuous and its bounds are stored in single precision. */
#define GPUOPT__PROPAGATOR_ROUNDED(column) \
    (sizeof(GPUOPT__PROPAGATOR_REAL) == sizeof(float) && !(p->kind[column] & GPUOPT__PROPAGATOR_INTEGER))

#define GPUOPT__PROPAGATOR_REAL double
#define GPUOPT__PROPAGATOR_NAME(x) gpuopt__propagator_cpu_##x##_double
#include "row_sums.h"
#include "moves.h"
#include "tighten.h"
#undef GPUOPT__PROPAGATOR_REAL
#undef GPUOPT__PROPAGATOR_NAME
#define GPUOPT__PROPAGATOR_REAL float
#define GPUOPT__PROPAGATOR_NAME(x) gpuopt__propagator_cpu_##x##_float
#include "row_sums.h"
#include "moves.h"
#include "tighten.h"
#undef GPUOPT__PROPAGATOR_REAL
#undef GPUOPT__PROPAGATOR_NAME
#undef GPUOPT__PROPAGATOR_ROUNDED

/* Calls the function gpuopt__propagator_cpu_<name> for this handle's storage type. */
#define GPUOPT__PROPAGATOR_TYPED(p, name, arguments)                          \
    ((p)->head.rules.single ? gpuopt__propagator_cpu_##name##_float arguments \
                            : gpuopt__propagator_cpu_##name##_double arguments)

#endif /* GPUOPT_IMPL_PROPAGATE_CPU_TYPED_H */
