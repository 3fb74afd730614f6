/* SPDX-License-Identifier: MIT
 *
 * In place of CUB's header: what our kernels use of it, with the same contract.
 */
#ifndef EMULATED_CUB_BLOCK_REDUCE_H
#define EMULATED_CUB_BLOCK_REDUCE_H

#include <cuda_runtime.h>

namespace cub {

enum BlockReduceAlgorithm { BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY, BLOCK_REDUCE_RAKING, BLOCK_REDUCE_WARP_REDUCTIONS };

template <class T, int Threads, BlockReduceAlgorithm = BLOCK_REDUCE_WARP_REDUCTIONS>
class BlockReduce {
  public:
    struct TempStorage {
        alignas(T) unsigned char of[Threads * sizeof(T)];
    };

    __device__ explicit BlockReduce(TempStorage &storage) : term_(reinterpret_cast<T *>(storage.of)) {}

    /* The result is thread 0's alone. The storage may be used again after a __syncthreads(). */
    template <class Operation>
    __device__ T Reduce(const T &mine, Operation operation) {
        T sum = mine;
        term_[threadIdx.x] = mine;
        __syncthreads();
        if (threadIdx.x == 0)
            for (int k = 1; k < Threads; k++) sum = operation(sum, term_[k]);
        return sum;
    }

  private:
    T *term_;
};

} // namespace cub

#endif /* EMULATED_CUB_BLOCK_REDUCE_H */
