/* SPDX-License-Identifier: MIT
 *
 * cub::BlockScan, as the library uses it: one dimension, sums over the preceding threads.
 */
#ifndef EMULATED_CUB_BLOCK_SCAN
#define EMULATED_CUB_BLOCK_SCAN

#include "../../emulated/kernel.h"

namespace cub {

enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };

template <class T, int THREADS, BlockScanAlgorithm ALGORITHM = BLOCK_SCAN_RAKING>
class BlockScan {
  public:
    struct TempStorage {
        T of[THREADS];
    };
    explicit BlockScan(TempStorage &storage) : storage_(storage) {}

    /* As in CUB, the caller's barrier is needed before the storage is used again. */
    void ExclusiveSum(T mine, T &before, EMULATED_FROM) {
        if (blockDim.x != THREADS) emulated::fatal("cub::BlockScan at %s:%d: not a block of %d", file, line, THREADS);
        storage_.of[threadIdx.x] = mine;
        emulated::sync_threads({"cub::BlockScan", file, line});
        before = 0;
        for (unsigned k = 0; k < threadIdx.x; k++) before += storage_.of[k];
    }

  private:
    TempStorage &storage_;
};

} // namespace cub

#endif /* EMULATED_CUB_BLOCK_SCAN */
