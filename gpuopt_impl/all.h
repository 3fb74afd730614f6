/* SPDX-License-Identifier: MIT
 *
 * The implementation, family by family; each file includes those that it needs. Included once, by gpuopt.h under
 * GPUOPT_IMPLEMENTATION. GPUOPT_WITHOUT_<FAMILY> leaves a family out, with its calls; what families share comes first.
 */
#ifndef GPUOPT_IMPLEMENTATION_ONCE
#define GPUOPT_IMPLEMENTATION_ONCE

#include "common/api.h"

#if defined(__cplusplus) && __cplusplus < 201703L && (!defined(_MSVC_LANG) || _MSVC_LANG < 201703L)
#error "gpuopt: as C++, the implementation needs C++17 or later (-std=c++17)"
#endif

/* A program that defines GPUOPT_API, as static for example, need not call every public function; and what families
 * share may be of no use to those that are left. */
#if !defined(GPUOPT__API_EXTERN) || defined(GPUOPT_WITHOUT_PROPAGATE) || defined(GPUOPT_WITHOUT_BASIS) || \
    defined(GPUOPT_WITHOUT_SIMPLEX) || defined(GPUOPT_WITHOUT_ELIMINATION) || defined(GPUOPT_WITHOUT_KNAPSACK)
#define GPUOPT__SOME_UNUSED
#endif
#if defined(__GNUC__) && defined(GPUOPT__SOME_UNUSED)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#endif

/* a * b + c is rounded twice, on every machine and at every -march, so that the CPU and the GPU give the same bits. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC push_options
#pragma GCC optimize("fp-contract=off")
#elif defined(_MSC_VER)
#pragma fp_contract(off)
#endif

#ifdef __cplusplus
extern "C" {
#endif

#include "common/api.h"
#include "common/backend.h"
#include "common/bytes.h"
#include "common/checks.h"
#include "common/context.h"
#include "common/cuda_load.h"
#include "common/dealt.h"
#include "common/debug.h"
#include "common/deferred.h"
#include "common/environment.h"
#include "common/items.h"
#include "common/matrix.h"
#include "common/numerics.h"
#include "common/ranks.h"
#include "common/selftest.h"
#include "common/tidy_matrix.h"
#include "group/calls.h"
#ifndef GPUOPT_WITHOUT_PROPAGATE
#include "propagate/calls.h"
#include "propagate/tree_calls.h"
#include "propagate/batch_calls.h"
#include "propagate/probe_calls.h"
#include "propagate/cpu_table.h"
#endif
#ifndef GPUOPT_WITHOUT_BASIS
#include "basis/calls.h"
#include "basis/cpu.h"
#endif
#ifndef GPUOPT_WITHOUT_SIMPLEX
#include "simplex/calls.h"
#include "simplex/basis_and_solution.h"
#include "simplex/change.h"
#include "simplex/certify.h"
#include "simplex/basis_solves.h"
#include "simplex/dual_steps.h"
#include "simplex/add_and_remove.h"
#include "simplex/primal_steps.h"
#include "simplex/children.h"
#include "simplex/cpu.h"
#include "simplex/cpu_sums.h"
#include "simplex/cpu_memory.h"
#include "simplex/cpu_save_inverse.h"
#include "simplex/cpu_run.h"
#include "simplex/cpu_dual.h"
#include "simplex/cpu_add_and_remove.h"
#include "simplex/batch.h"
#include "simplex/cpu_batch.h"
#include "simplex/cpu_children.h"
#endif
#ifndef GPUOPT_WITHOUT_ELIMINATION
#include "elimination/calls.h"
#include "elimination/values.h"
#include "elimination/message.h"
#include "elimination/relax.h"
#include "elimination/reduce.h"
#include "elimination/cpu.h"
#endif
#ifndef GPUOPT_WITHOUT_KNAPSACK
#include "knapsack/calls.h"
#include "knapsack/batch.h"
#include "knapsack/multi.h"
#include "knapsack/choice.h"
#include "knapsack/cpu.h"
#endif
#include "backend_cpu.h"

#ifdef __cplusplus
}
#endif

#if defined(__clang__)
#pragma STDC FP_CONTRACT DEFAULT
#elif defined(__GNUC__)
#pragma GCC pop_options
#endif

#if defined(__GNUC__) && defined(GPUOPT__SOME_UNUSED)
#pragma GCC diagnostic pop
#endif

#endif /* GPUOPT_IMPLEMENTATION_ONCE */
