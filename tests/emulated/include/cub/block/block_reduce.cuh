/* SPDX-License-Identifier: MIT
 *
 * cub::BlockReduce, as the library uses it: one dimension, the result in thread 0.
 */
#ifndef EMULATED_CUB_BLOCK_REDUCE
#define EMULATED_CUB_BLOCK_REDUCE

#include "../../emulated/kernel.h"

namespace cub {

enum BlockReduceAlgorithm { BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY, BLOCK_REDUCE_RAKING, BLOCK_REDUCE_WARP_REDUCTIONS };

template <class T, int THREADS, BlockReduceAlgorithm ALGORITHM = BLOCK_REDUCE_WARP_REDUCTIONS>
class BlockReduce {
  public:
    struct TempStorage {
        alignas(T) unsigned char bytes[THREADS][sizeof(T)];
    };
    explicit BlockReduce(TempStorage &storage) : storage_(storage) {}

    /* As in CUB, the caller's barrier is needed before the storage is used again. */
    template <class Op>
    T Reduce(T mine, Op op, EMULATED_FROM) {
        if (blockDim.x != THREADS) emulated::fatal("cub::BlockReduce at %s:%d: not a block of %d", file, line, THREADS);
        memcpy(storage_.bytes[threadIdx.x], &mine, sizeof mine);
        emulated::sync_threads({"cub::BlockReduce", file, line});
        for (int k = 1; threadIdx.x == 0 && k < THREADS; k++) {
            T other;
            memcpy(&other, storage_.bytes[k], sizeof other);
            mine = op(mine, other);
        }
        return mine;
    }
    T Sum(T mine, EMULATED_FROM) {
        return Reduce(
            mine, [](const T &a, const T &b) { return a + b; }, file, line);
    }

  private:
    TempStorage &storage_;
};

} // namespace cub

#endif /* EMULATED_CUB_BLOCK_REDUCE */
