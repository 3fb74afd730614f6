/* SPDX-License-Identifier: MIT
 *
 * cub::DeviceRadixSort, as the library uses it.
 */
#ifndef EMULATED_CUB_DEVICE_RADIX_SORT
#define EMULATED_CUB_DEVICE_RADIX_SORT

#include <vector>

#include "../../emulated/launch.h"

namespace cub {

template <class T>
struct DoubleBuffer {
    T *d_buffers[2] = {nullptr, nullptr};
    int selector = 0;
    DoubleBuffer() = default;
    DoubleBuffer(T *current, T *alternate) : d_buffers{current, alternate} {}
    T *Current() { return d_buffers[selector]; }
    T *Alternate() { return d_buffers[selector ^ 1]; }
};

struct DeviceRadixSort {
    template <class Key, class Value, class Count>
    static cudaError_t SortPairs(void *scratch, size_t &bytes, DoubleBuffer<Key> &keys, DoubleBuffer<Value> &values,
                                 Count count, int begin = 0, int end = sizeof(Key) * 8, cudaStream_t stream = nullptr) {
        const size_t needed = 4096 + static_cast<size_t>(count) / 16;
        if (!scratch) {
            bytes = needed;
            return cudaSuccess;
        }
        Key *from_key = keys.Current(), *to_key = keys.Alternate();
        Value *from = values.Current(), *to = values.Alternate();
        /* CUB ends in either buffer, depending on the number of its passes. */
        const bool back = (end - begin + 7) / 8 % 2 == 0;
        if (!back) keys.selector ^= 1, values.selector ^= 1;
        return emulated::algorithm("cub::DeviceRadixSort", scratch, bytes, needed, stream, [=] {
            const Key mask = end - begin >= static_cast<int>(sizeof(Key) * 8)
                                 ? ~Key{0}
                                 : static_cast<Key>(((Key{1} << (end - begin)) - 1) << begin);
            std::vector<Count> order(static_cast<size_t>(count));
            for (Count k = 0; k < count; k++) order[static_cast<size_t>(k)] = k;
            std::stable_sort(order.begin(), order.end(),
                             [=](Count a, Count b) { return (from_key[a] & mask) < (from_key[b] & mask); });
            for (Count k = 0; k < count; k++) {
                to_key[k] = from_key[order[static_cast<size_t>(k)]];
                to[k] = from[order[static_cast<size_t>(k)]];
            }
            for (Count k = 0; back && k < count; k++) from_key[k] = to_key[k], from[k] = to[k];
        });
    }
};

} // namespace cub

#endif /* EMULATED_CUB_DEVICE_RADIX_SORT */
