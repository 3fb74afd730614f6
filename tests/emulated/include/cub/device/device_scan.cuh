/* SPDX-License-Identifier: MIT
 *
 * cub::DeviceScan, as the library uses it.
 */
#ifndef EMULATED_CUB_DEVICE_SCAN
#define EMULATED_CUB_DEVICE_SCAN

#include "../../emulated/launch.h"

namespace cub {

struct DeviceScan {
    template <class In, class Out, class Count>
    static cudaError_t ExclusiveSum(void *scratch, size_t &bytes, const In *from, Out *to, Count count,
                                    cudaStream_t stream = nullptr) {
        const size_t needed = 1024 + static_cast<size_t>(count) / 64;
        if (!scratch) {
            bytes = needed;
            return cudaSuccess;
        }
        return emulated::algorithm("cub::DeviceScan", scratch, bytes, needed, stream, [=] {
            Out sum = 0;
            for (Count k = 0; k < count; k++) {
                const Out one = static_cast<Out>(from[k]);
                to[k] = sum;
                sum += one;
            }
        });
    }
};

} // namespace cub

#endif /* EMULATED_CUB_DEVICE_SCAN */
