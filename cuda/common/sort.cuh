/* SPDX-License-Identifier: MIT
 *
 * CUB's stable sort on a handle's stream, apart from cub.cuh because its kernels take long to compile.
 */
#ifndef GPUOPT_CUDA_SORT_CUH
#define GPUOPT_CUDA_SORT_CUH

#include "cub.cuh"

#include <cub/device/device_radix_sort.cuh>

namespace {

/* Pairs of a key and an item, and as much memory again; the pairs are in key[current], item[current]. */
struct Pairs {
    unsigned *key[2];
    int *item[2];
    int current;
};

/* Sorts by the lowest `bits` (at least 1) bits of the key; pairs with equal bits keep their order. */
gpuopt_status sort_pairs(const Queue &queue, Scratch scratch, Pairs &pairs, int64_t count, int bits) {
    cub::DoubleBuffer<unsigned> keys(pairs.key[pairs.current], pairs.key[!pairs.current]);
    cub::DoubleBuffer<int> items(pairs.item[pairs.current], pairs.item[!pairs.current]);
    gpuopt_status status = enqueue_cub(queue, "sorting", [&] {
        return cub::DeviceRadixSort::SortPairs(scratch.memory, scratch.bytes, keys, items, count, 0, bits,
                                               queue.stream());
    });
    if (keys.selector) pairs.current = !pairs.current;
    return status;
}
gpuopt_status sort_scratch(const Queue &queue, int64_t count, int bits, size_t *bytes) {
    cub::DoubleBuffer<unsigned> keys;
    cub::DoubleBuffer<int> items;
    return enqueue_cub(queue, "planning a sort", [&] {
        return cub::DeviceRadixSort::SortPairs(nullptr, *bytes, keys, items, count, 0, bits, queue.stream());
    });
}

/* The bits of numbers below `end`, at least 1. */
inline int bits_below(int64_t end) {
    int bits = 1;
    while (bits < 32 && int64_t{1} << bits < end) bits++;
    return bits;
}

} // namespace

#endif /* GPUOPT_CUDA_SORT_CUH */
