/* SPDX-License-Identifier: MIT
 *
 * The public headers: the core and all layers, whatever the caller includes.
 */
#ifndef GPUOPT_IMPL_API_H
#define GPUOPT_IMPL_API_H

#include "../../gpuopt.h"
#include "../../gpuopt/batch.h"
#include "../../gpuopt/group.h"
#include "../../gpuopt/inference.h"
#include "../../gpuopt/knapsack_variants.h"
#include "../../gpuopt/search.h"

#endif /* GPUOPT_IMPL_API_H */
