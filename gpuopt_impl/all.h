/* SPDX-License-Identifier: MIT
 *
 * The implementation, family by family; each file includes the files it needs. gpuopt.h includes this file once, under
 * GPUOPT_IMPLEMENTATION. GPUOPT_WITHOUT_<FAMILY> omits a family and its calls. Shared code comes first.
 */
#ifndef GPUOPT_IMPLEMENTATION_ONCE
#define GPUOPT_IMPLEMENTATION_ONCE

#include "common/api.h"

#if defined(__cplusplus) && __cplusplus < 201703L && (!defined(_MSVC_LANG) || _MSVC_LANG < 201703L)
#error "gpuopt: as C++, the implementation needs C++17 or later (-std=c++17)"
#endif

/* A program that defines GPUOPT_API, for example as static, need not call every public function; and code that families
 * share may be unused if some are omitted. */
#if !defined(GPUOPT__API_EXTERN) || defined(GPUOPT_WITHOUT_PROPAGATE) || defined(GPUOPT_WITHOUT_BASIS) || \
    defined(GPUOPT_WITHOUT_SIMPLEX) || defined(GPUOPT_WITHOUT_ELIMINATION) || defined(GPUOPT_WITHOUT_KNAPSACK)
#define GPUOPT__SOME_UNUSED
#endif
#if defined(__GNUC__) && defined(GPUOPT__SOME_UNUSED)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#endif

/* Rounds a * b + c twice, on every machine and at every -march, so that the CPU and the GPU give the same bits. */
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
#include "common/table.h"
#include "common/tidy_matrix.h"
#include "group/calls.h"
#ifndef GPUOPT_WITHOUT_PROPAGATE
#include "propagate/api/handle.h"
#include "propagate/api/tree.h"
#include "propagate/api/batch.h"
#include "propagate/api/probe.h"
#include "propagate/cpu/table.h"
#endif
#ifndef GPUOPT_WITHOUT_BASIS
#include "basis/calls.h"
#include "basis/cpu.h"
#endif
#ifndef GPUOPT_WITHOUT_SIMPLEX
#include "simplex/api/handle.h"
#include "simplex/api/basis_and_solution.h"
#include "simplex/api/change.h"
#include "simplex/api/certify.h"
#include "simplex/api/basis_solves.h"
#include "simplex/api/dual_steps.h"
#include "simplex/api/add_and_remove.h"
#include "simplex/api/primal_steps.h"
#include "simplex/children/calls.h"
#include "simplex/batch/calls.h"
#include "simplex/cpu/table.h"
#endif
#ifndef GPUOPT_WITHOUT_ELIMINATION
#include "elimination/api/create.h"
#include "elimination/api/values.h"
#include "elimination/api/message.h"
#include "elimination/relax/calls.h"
#include "elimination/reduce/calls.h"
#include "elimination/cpu/table.h"
#endif
#ifndef GPUOPT_WITHOUT_KNAPSACK
#include "knapsack/api/calls.h"
#include "knapsack/batch/calls.h"
#include "knapsack/multidimensional/calls.h"
#include "knapsack/multiple_choice/calls.h"
#include "knapsack/cpu/table.h"
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
