/* SPDX-License-Identifier: MIT
 *
 * cub::WarpScan, as the library uses it: all 32 lanes, sums over the lanes up to this one.
 */
#ifndef EMULATED_CUB_WARP_SCAN
#define EMULATED_CUB_WARP_SCAN

#include "../../emulated/kernel.h"

namespace cub {

template <class T>
class WarpScan {
  public:
    struct TempStorage {};
    explicit WarpScan(TempStorage &) {}

    void InclusiveSum(T mine, T &sum) {
        sum = mine;
        for (unsigned by = 1; by < 32; by *= 2) {
            const T lower = __shfl_up_sync(~0u, sum, by);
            if (threadIdx.x % 32 >= by) sum += lower;
        }
    }
};

} // namespace cub

#endif /* EMULATED_CUB_WARP_SCAN */
