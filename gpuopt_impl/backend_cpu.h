/* SPDX-License-Identifier: MIT
 *
 * The CPU backend's table, with NULL for an omitted family.
 */
#ifndef GPUOPT_IMPL_BACKEND_CPU_H
#define GPUOPT_IMPL_BACKEND_CPU_H

#include "common/context.h"

#ifndef GPUOPT_WITHOUT_PROPAGATE
#include "propagate/cpu/table.h"
#define GPUOPT__CPU_PROPAGATOR &gpuopt__propagator_cpu_table
#else
#define GPUOPT__CPU_PROPAGATOR NULL
#endif
#ifndef GPUOPT_WITHOUT_BASIS
#include "basis/cpu.h"
#define GPUOPT__CPU_BASIS &gpuopt__basis_cpu_table
#else
#define GPUOPT__CPU_BASIS NULL
#endif
#ifndef GPUOPT_WITHOUT_SIMPLEX
#include "simplex/cpu/table.h"
#define GPUOPT__CPU_SIMPLEX &gpuopt__simplex_cpu_table
#else
#define GPUOPT__CPU_SIMPLEX NULL
#endif
#ifndef GPUOPT_WITHOUT_ELIMINATION
#include "elimination/cpu/table.h"
#define GPUOPT__CPU_ELIMINATION &gpuopt__elimination_cpu_table
#else
#define GPUOPT__CPU_ELIMINATION NULL
#endif
#ifndef GPUOPT_WITHOUT_KNAPSACK
#include "knapsack/cpu/table.h"
#define GPUOPT__CPU_KNAPSACK &gpuopt__knapsack_cpu_table
#else
#define GPUOPT__CPU_KNAPSACK NULL
#endif

GPUOPT_API const gpuopt_backend *gpuopt_backend_cpu(void) {
    static const gpuopt_backend cpu = {"cpu",
                                       gpuopt__cpu_open,
                                       gpuopt__cpu_close,
                                       gpuopt__cpu_wait,
                                       NULL, /* no device memory */
                                       GPUOPT__CPU_PROPAGATOR,
                                       GPUOPT__CPU_BASIS,
                                       GPUOPT__CPU_SIMPLEX,
                                       GPUOPT__CPU_ELIMINATION,
                                       GPUOPT__CPU_KNAPSACK};
    return &cpu;
}

#endif /* GPUOPT_IMPL_BACKEND_CPU_H */
