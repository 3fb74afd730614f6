/* SPDX-License-Identifier: MIT
 *
 * Propagation on the CPU: the table of the backend.
 */
#ifndef GPUOPT_IMPL_PROPAGATE_CPU_TABLE_H
#define GPUOPT_IMPL_PROPAGATE_CPU_TABLE_H

#include "probe.h"

static const gpuopt__propagator_backend gpuopt__propagator_cpu_table = {
    gpuopt__propagator_cpu_plan,
    gpuopt__propagator_cpu_create,
    gpuopt__propagator_cpu_destroy,
    gpuopt__propagator_cpu_round,
    gpuopt__propagator_cpu_get_info,
    gpuopt__propagator_cpu_get_bounds,
    gpuopt__propagator_cpu_set_bounds,
    gpuopt__propagator_cpu_set_sides,
    gpuopt__propagator_cpu_get_rows,
    NULL, /* device_view: there is no device memory, and the public call refuses it */
    gpuopt__propagator_cpu_push,
    gpuopt__propagator_cpu_pop,
    gpuopt__propagator_cpu_keep,
    gpuopt__propagator_cpu_get_trail,
    gpuopt__propagator_cpu_get_changes,
    gpuopt__propagator_cpu_explain,
    gpuopt__propagator_cpu_add_rows,
    gpuopt__propagator_cpu_remove_rows,
    gpuopt__propagator_cpu_has_row,
    gpuopt__propagator_cpu_plan_fork,
    gpuopt__propagator_cpu_fork,
    NULL,
    gpuopt__propagator_cpu_batch_plan,
    gpuopt__propagator_cpu_batch_create,
    gpuopt__propagator_cpu_batch_destroy,
    gpuopt__propagator_cpu_batch_run,
    gpuopt__propagator_cpu_batch_get_changes,
    gpuopt__propagator_cpu_batch_get_bounds,
    gpuopt__propagator_cpu_batch_used,
    gpuopt__propagator_cpu_get_kinds,
    gpuopt__propagator_cpu_probe_plan,
    gpuopt__propagator_cpu_probe_open,
    gpuopt__propagator_cpu_probe_close,
    gpuopt__propagator_cpu_probe_begin,
    gpuopt__propagator_cpu_probe_piece,
    gpuopt__propagator_cpu_probe_end,
    gpuopt__propagator_cpu_probe_read_implications,
    gpuopt__propagator_cpu_probe_read_equivalences,
};

#endif /* GPUOPT_IMPL_PROPAGATE_CPU_TABLE_H */
