/* SPDX-License-Identifier: MIT
 *
 * The simplex method on the CPU: the tables of the backend.
 */
#ifndef GPUOPT_IMPL_SIMPLEX_CPU_TABLE_H
#define GPUOPT_IMPL_SIMPLEX_CPU_TABLE_H

#include "../../common/table.h"
#include "batch.h"
#include "children.h"
#include "products.h"

#define GPUOPT__SIMPLEX_BATCH_CPU_TABLE(SET)        \
    SET(plan, gpuopt__simplex_batch_cpu_plan)       \
    SET(create, gpuopt__simplex_batch_cpu_create)   \
    SET(destroy, gpuopt__simplex_batch_cpu_destroy) \
    SET(load, gpuopt__simplex_batch_cpu_load)       \
    SET(run, gpuopt__simplex_batch_cpu_run)         \
    SET(get, gpuopt__simplex_batch_cpu_get)

static GPUOPT__TABLE(struct gpuopt__simplex_batch_backend, gpuopt__simplex_batch_cpu_table,
                     GPUOPT__SIMPLEX_BATCH_CPU_TABLE);

/* Vectors are in host memory only, so push and pull do nothing. Ranks exchange columns by the group, so there is no
 * connect. The public call checks the entries of a matrix, so there is no checks_entries. */
#define GPUOPT__SIMPLEX_CPU_TABLE(SET)                       \
    SET(plan, gpuopt__simplex_cpu_plan)                      \
    SET(create, gpuopt__simplex_cpu_create)                  \
    SET(scale, gpuopt__simplex_cpu_scale)                    \
    SET(pattern, gpuopt__simplex_cpu_pattern)                \
    SET(destroy, gpuopt__simplex_cpu_destroy)                \
    SET(run, gpuopt__simplex_cpu_run)                        \
    SET(dual_run, gpuopt__simplex_cpu_dual_run)              \
    SET(reset, gpuopt__simplex_cpu_reset)                    \
    SET(enter, gpuopt__simplex_cpu_enter)                    \
    SET(exchange, gpuopt__simplex_cpu_exchange_some)         \
    SET(column, gpuopt__simplex_cpu_get_column)              \
    SET(kept_bytes, gpuopt__simplex_cpu_kept_bytes)          \
    SET(keep, gpuopt__simplex_cpu_keep)                      \
    SET(restore, gpuopt__simplex_cpu_restore)                \
    SET(push, gpuopt__simplex_cpu_nothing)                   \
    SET(pull, gpuopt__simplex_cpu_nothing)                   \
    SET(ftran, gpuopt__simplex_cpu_ftran)                    \
    SET(btran, gpuopt__simplex_cpu_btran)                    \
    SET(residual, gpuopt__simplex_cpu_residual)              \
    SET(reduce, gpuopt__simplex_cpu_reduce)                  \
    SET(sizes, gpuopt__simplex_cpu_sizes)                    \
    SET(children_plan, gpuopt__simplex_cpu_batch_plan)       \
    SET(children_create, gpuopt__simplex_cpu_batch_create)   \
    SET(children_destroy, gpuopt__simplex_cpu_batch_destroy) \
    SET(children_run, gpuopt__simplex_cpu_batch_run)         \
    SET(children_set_roots, gpuopt__simplex_cpu_set_roots)   \
    SET(offer, gpuopt__simplex_cpu_offer)                    \
    SET(accept, gpuopt__simplex_cpu_accept)                  \
    SET(drop, gpuopt__simplex_cpu_drop)                      \
    SET(tableau_from, 0.1)                                   \
    SET(many, &gpuopt__simplex_batch_cpu_table)

static GPUOPT__TABLE(struct gpuopt__simplex_backend, gpuopt__simplex_cpu_table, GPUOPT__SIMPLEX_CPU_TABLE);

#endif /* GPUOPT_IMPL_SIMPLEX_CPU_TABLE_H */
