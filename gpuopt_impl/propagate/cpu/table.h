/* SPDX-License-Identifier: MIT
 *
 * Propagation on the CPU: the table of the backend.
 */
#ifndef GPUOPT_IMPL_PROPAGATE_CPU_TABLE_H
#define GPUOPT_IMPL_PROPAGATE_CPU_TABLE_H

#include "../../common/table.h"
#include "probe.h"

/* There is no device memory, so no device_view; the public call refuses it. _create leaves the checks of numbers to the
 * public calls, so there is no checks_numbers. */
#define GPUOPT__PROPAGATOR_CPU_TABLE(SET)                                        \
    SET(plan, gpuopt__propagator_cpu_plan)                                       \
    SET(create, gpuopt__propagator_cpu_create)                                   \
    SET(destroy, gpuopt__propagator_cpu_destroy)                                 \
    SET(round, gpuopt__propagator_cpu_round)                                     \
    SET(get_info, gpuopt__propagator_cpu_get_info)                               \
    SET(get_bounds, gpuopt__propagator_cpu_get_bounds)                           \
    SET(set_bounds, gpuopt__propagator_cpu_set_bounds)                           \
    SET(set_sides, gpuopt__propagator_cpu_set_sides)                             \
    SET(get_rows, gpuopt__propagator_cpu_get_rows)                               \
    SET(push, gpuopt__propagator_cpu_push)                                       \
    SET(pop, gpuopt__propagator_cpu_pop)                                         \
    SET(keep, gpuopt__propagator_cpu_keep)                                       \
    SET(get_trail, gpuopt__propagator_cpu_get_trail)                             \
    SET(get_changes, gpuopt__propagator_cpu_get_changes)                         \
    SET(explain, gpuopt__propagator_cpu_explain)                                 \
    SET(add_rows, gpuopt__propagator_cpu_add_rows)                               \
    SET(remove_rows, gpuopt__propagator_cpu_remove_rows)                         \
    SET(has_row, gpuopt__propagator_cpu_has_row)                                 \
    SET(plan_fork, gpuopt__propagator_cpu_plan_fork)                             \
    SET(fork, gpuopt__propagator_cpu_fork)                                       \
    SET(batch_plan, gpuopt__propagator_cpu_batch_plan)                           \
    SET(batch_create, gpuopt__propagator_cpu_batch_create)                       \
    SET(batch_destroy, gpuopt__propagator_cpu_batch_destroy)                     \
    SET(batch_run, gpuopt__propagator_cpu_batch_run)                             \
    SET(batch_get_changes, gpuopt__propagator_cpu_batch_get_changes)             \
    SET(batch_get_bounds, gpuopt__propagator_cpu_batch_get_bounds)               \
    SET(batch_used, gpuopt__propagator_cpu_batch_used)                           \
    SET(get_kinds, gpuopt__propagator_cpu_get_kinds)                             \
    SET(probe_plan, gpuopt__propagator_cpu_probe_plan)                           \
    SET(probe_open, gpuopt__propagator_cpu_probe_open)                           \
    SET(probe_close, gpuopt__propagator_cpu_probe_close)                         \
    SET(probe_begin, gpuopt__propagator_cpu_probe_begin)                         \
    SET(probe_piece, gpuopt__propagator_cpu_probe_piece)                         \
    SET(probe_end, gpuopt__propagator_cpu_probe_end)                             \
    SET(probe_read_implications, gpuopt__propagator_cpu_probe_read_implications) \
    SET(probe_read_equivalences, gpuopt__propagator_cpu_probe_read_equivalences)

static GPUOPT__TABLE(gpuopt__propagator_backend, gpuopt__propagator_cpu_table, GPUOPT__PROPAGATOR_CPU_TABLE);

#endif /* GPUOPT_IMPL_PROPAGATE_CPU_TABLE_H */
