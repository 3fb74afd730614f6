/* SPDX-License-Identifier: MIT
 *
 * Elimination on the CPU: the table of the backend.
 */
#ifndef GPUOPT_IMPL_ELIMINATION_CPU_TABLE_H
#define GPUOPT_IMPL_ELIMINATION_CPU_TABLE_H

#include "../../common/table.h"
#include "handle.h"

/* Functions are written to their `place`, so there is no load. There is no device memory, hence no STREAM, and no
 * messages there to scan, unpack or pack. */
#define GPUOPT__ELIMINATION_CPU_TABLE(SET)              \
    SET(plan, gpuopt__elimination_cpu_plan)             \
    SET(create, gpuopt__elimination_cpu_create)         \
    SET(destroy, gpuopt__elimination_cpu_destroy)       \
    SET(run, gpuopt__elimination_cpu_run)               \
    SET(finish, gpuopt__elimination_cpu_finish)         \
    SET(total, gpuopt__elimination_cpu_total)           \
    SET(loaded, gpuopt__elimination_cpu_loaded)         \
    SET(condition, gpuopt__elimination_cpu_condition)   \
    SET(assign, gpuopt__elimination_cpu_assign)         \
    SET(bounds, gpuopt__elimination_cpu_bounds)         \
    SET(read, gpuopt__elimination_cpu_read)             \
    SET(view, gpuopt__elimination_cpu_view)             \
    SET(free_bytes, gpuopt__elimination_cpu_free_bytes) \
    SET(place, gpuopt__elimination_cpu_place)

static GPUOPT__TABLE(struct gpuopt__elimination_backend, gpuopt__elimination_cpu_table, GPUOPT__ELIMINATION_CPU_TABLE);

#endif /* GPUOPT_IMPL_ELIMINATION_CPU_TABLE_H */
