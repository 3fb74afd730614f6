/* SPDX-License-Identifier: MIT
 *
 * cub::DeviceScan: running sums by one thread, in the stream's order.
 */
#ifndef EMULATED_CUB_DEVICE_SCAN
#define EMULATED_CUB_DEVICE_SCAN

#include <cuda_runtime.h>

#include <cstdint>

namespace cub {
namespace emulated {

template <class Number>
void exclusive_sum(const Number *from, Number *to, int64_t count) {
    Number sum = 0;
    for (int64_t k = 0; k < count; k++) {
        Number number = from[k];
        to[k] = sum;
        sum += number;
    }
}

} // namespace emulated

struct DeviceScan {
    template <class Number>
    static cudaError_t ExclusiveSum(void *scratch, size_t &bytes, Number *from, Number *to, int64_t count,
                                    cudaStream_t stream) {
        if (!scratch) {
            bytes = 1;
            return cudaSuccess;
        }
        if (bytes < 1) return cudaErrorInvalidValue;
        cudaFuncAttributes loads;
        cudaError_t error = cudaFuncGetAttributes(&loads, emulated::exclusive_sum<Number>);
        cudaLaunchConfig_t config = {};
        config.gridDim = dim3(1), config.blockDim = dim3(1), config.stream = stream;
        return error ? error : cudaLaunchKernelEx(&config, emulated::exclusive_sum<Number>, from, to, count);
    }
};

} // namespace cub

#endif /* EMULATED_CUB_DEVICE_SCAN */
