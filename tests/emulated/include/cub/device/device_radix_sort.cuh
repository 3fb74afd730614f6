/* SPDX-License-Identifier: MIT
 *
 * cub::DeviceRadixSort: a stable sort by one thread, in the stream's order. Its scratch memory is used so that a caller
 * who plans too little of it is noticed.
 */
#ifndef EMULATED_CUB_DEVICE_RADIX_SORT
#define EMULATED_CUB_DEVICE_RADIX_SORT

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace cub {

template <class T>
struct DoubleBuffer {
    T *d_buffers[2] = {nullptr, nullptr};
    int selector = 0;

    DoubleBuffer() = default;
    DoubleBuffer(T *current, T *alternate) : d_buffers{current, alternate} {}
    T *Current() const { return d_buffers[selector]; }
    T *Alternate() const { return d_buffers[selector ^ 1]; }
};

namespace emulated {

/* The order of the keys is made in `scratch`; what was in the current buffers is garbage afterwards, as CUB may leave
 * it. */
template <class Key, class Value>
void sort_pairs(int64_t *scratch, Key *key, Value *value, Key *sorted_key, Value *sorted_value, int64_t count,
                int begin, int end) {
    const Key mask =
        static_cast<Key>(end - begin < static_cast<int>(8 * sizeof(Key)) ? (Key{1} << (end - begin)) - 1 : ~Key{0});
    for (int64_t k = 0; k < count; k++) scratch[k] = k;
    std::stable_sort(scratch, scratch + count,
                     [=](int64_t a, int64_t b) { return (key[a] >> begin & mask) < (key[b] >> begin & mask); });
    for (int64_t k = 0; k < count; k++) sorted_key[k] = key[scratch[k]], sorted_value[k] = value[scratch[k]];
    std::memset(static_cast<void *>(key), 0xCD, sizeof(Key) * static_cast<size_t>(count));
    std::memset(static_cast<void *>(value), 0xCD, sizeof(Value) * static_cast<size_t>(count));
}

} // namespace emulated

struct DeviceRadixSort {
    template <class Key, class Value>
    static cudaError_t SortPairs(void *scratch, size_t &bytes, DoubleBuffer<Key> &keys, DoubleBuffer<Value> &values,
                                 int64_t count, int begin, int end, cudaStream_t stream) {
        const size_t needed = sizeof(int64_t) * static_cast<size_t>(std::max<int64_t>(count, 1));
        if (!scratch) {
            bytes = needed;
            return cudaSuccess;
        }
        if (bytes < needed) return cudaErrorInvalidValue;
        cudaFuncAttributes loads;
        cudaError_t error = cudaFuncGetAttributes(&loads, emulated::sort_pairs<Key, Value>);
        cudaLaunchConfig_t config = {};
        config.gridDim = dim3(1), config.blockDim = dim3(1), config.stream = stream;
        if (!error)
            error = cudaLaunchKernelEx(&config, emulated::sort_pairs<Key, Value>, static_cast<int64_t *>(scratch),
                                       keys.Current(), values.Current(), keys.Alternate(), values.Alternate(), count,
                                       begin, end);
        keys.selector ^= 1;
        values.selector ^= 1;
        return error;
    }
};

} // namespace cub

#endif /* EMULATED_CUB_DEVICE_RADIX_SORT */
