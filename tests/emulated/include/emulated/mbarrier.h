/* SPDX-License-Identifier: MIT
 *
 * In place of cuda/common/mbarrier.cuh.
 */
#ifndef EMULATED_MBARRIER_H
#define EMULATED_MBARRIER_H

#include "here.h"

using MemoryBarrier = uint64_t;
using emulated::barrier_arrive;
using emulated::barrier_begin;
using emulated::barrier_expect;
using emulated::barrier_wait;
using emulated::copy_bulk;
inline void copy_begin() {}

#endif /* EMULATED_MBARRIER_H */
