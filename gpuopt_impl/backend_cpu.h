/* SPDX-License-Identifier: MIT
 *
 * The CPU backend's table.
 */
#ifndef GPUOPT_IMPL_BACKEND_CPU_H
#define GPUOPT_IMPL_BACKEND_CPU_H

#include "common/context.h"
#include "basis/cpu.h"
#include "elimination/cpu.h"
#include "knapsack/cpu.h"
#include "propagate/cpu_table.h"
#include "simplex/cpu_batch.h"

GPUOPT_API const gpuopt_backend *gpuopt_backend_cpu(void) {
    static const gpuopt_backend cpu = {"cpu",
                                       gpuopt__cpu_open,
                                       gpuopt__cpu_close,
                                       gpuopt__cpu_wait,
                                       NULL, /* no device memory */
                                       &gpuopt__propagator_cpu_table,
                                       &gpuopt__basis_cpu_table,
                                       &gpuopt__simplex_cpu_table,
                                       &gpuopt__elimination_cpu_table,
                                       &gpuopt__knapsack_cpu_table};
    return &cpu;
}

#endif /* GPUOPT_IMPL_BACKEND_CPU_H */
