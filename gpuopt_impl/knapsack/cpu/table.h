/* SPDX-License-Identifier: MIT
 *
 * Knapsack on the CPU: the table of the backend.
 */
#ifndef GPUOPT_IMPL_KNAPSACK_CPU_TABLE_H
#define GPUOPT_IMPL_KNAPSACK_CPU_TABLE_H

#include "../../common/table.h"
#include "batch.h"
#include "multidimensional.h"
#include "multiple_choice.h"
#include "pool.h"

/* Ranks do not see one another's pools: there are no show, map_peers and step_by_peers. */
#define GPUOPT__KNAPSACK_CPU_TABLE(SET)                      \
    SET(plan, gpuopt__knapsack_cpu_plan)                     \
    SET(create, gpuopt__knapsack_cpu_create)                 \
    SET(destroy, gpuopt__knapsack_cpu_destroy)               \
    SET(grow, gpuopt__knapsack_cpu_grow)                     \
    SET(run, gpuopt__knapsack_cpu_run)                       \
    SET(step, gpuopt__knapsack_cpu_step_alone)               \
    SET(complete, gpuopt__knapsack_cpu_complete)             \
    SET(residuals, gpuopt__knapsack_cpu_residuals)           \
    SET(before, gpuopt__knapsack_cpu_before)                 \
    SET(load, gpuopt__knapsack_cpu_load)                     \
    SET(get, gpuopt__knapsack_cpu_get)                       \
    SET(put, gpuopt__knapsack_cpu_put)                       \
    SET(pick, gpuopt__knapsack_cpu_pick)                     \
    SET(batch_plan, gpuopt__knapsack_cpu_batch_plan)         \
    SET(batch_create, gpuopt__knapsack_cpu_batch_create)     \
    SET(batch_destroy, gpuopt__knapsack_cpu_batch_destroy)   \
    SET(batch_run, gpuopt__knapsack_cpu_batch_run)           \
    SET(multi_plan, gpuopt__knapsack_multi_cpu_plan)         \
    SET(multi_create, gpuopt__knapsack_multi_cpu_create)     \
    SET(multi_destroy, gpuopt__knapsack_multi_cpu_destroy)   \
    SET(multi_round, gpuopt__knapsack_multi_cpu_round)       \
    SET(multi_found, gpuopt__knapsack_multi_cpu_found)       \
    SET(choice_plan, gpuopt__knapsack_choice_cpu_plan)       \
    SET(choice_create, gpuopt__knapsack_choice_cpu_create)   \
    SET(choice_destroy, gpuopt__knapsack_choice_cpu_destroy) \
    SET(choice_grow, gpuopt__knapsack_choice_cpu_grow)       \
    SET(choice_step, gpuopt__knapsack_choice_cpu_step)       \
    SET(share_from, 1 << 18)                                 \
    SET(share_by_peers, 1 << 18)

static GPUOPT__TABLE(struct gpuopt__knapsack_backend, gpuopt__knapsack_cpu_table, GPUOPT__KNAPSACK_CPU_TABLE);

#endif /* GPUOPT_IMPL_KNAPSACK_CPU_TABLE_H */
